//! What the arguments of other file tools are called here: a suggestion for each, where similarity of the words
//! would say nothing or something wrong (`start` is not `sort`, `file_pattern` is not `path`).
//!
//! Collected from the tools of Claude Code (Read, Edit, Grep, Glob, `text_editor`), Gemini CLI, Codex, Cursor,
//! Copilot, Cline and Roo, Windsurf, Zed, Serena, goose, opencode, `OpenHands` (`str_replace_editor`),
//! server-filesystem, Desktop Commander, aider and ripgrep's flags. These are suggestions: what is accepted as
//! another spelling is a tool's own list of aliases.

use serde_json::{Map, Value};

/// Names that mean one thing elsewhere.
struct Row {
    /// Without case, `_` and `-`, parted by spaces.
    given: &'static str,
    /// What to use instead: the first whose arguments the tool has.
    means: &'static [Meaning],
}

/// What to use instead.
struct Meaning {
    /// Arguments that the tool must have.
    arguments: &'static [&'static str],
    /// A clause about them; empty for "did you mean".
    words: &'static str,
}

const fn means(arguments: &'static [&'static str]) -> Meaning {
    Meaning { arguments, words: "" }
}

const fn said(arguments: &'static [&'static str], words: &'static str) -> Meaning {
    Meaning { arguments, words }
}

/// How lines are named by their numbers.
const LINES: &str = "`lines` with `rev` is for an entry of `edits`: edits=[{\"lines\": \"120-134\", \"rev\": …, \"new_string\": …}], \
                     or \"after 120\" to insert.";

const ROWS: &[Row] = &[
    Row {
        given: "start begin beginline firstline from fromline linestart startat startingline startlinenumber \
                startlineoneindexed startlinenumberbasezero startposition line linenumber lineno anchorline",
        means: &[
            means(&["start_line"]),
            means(&["lines"]),
            said(&["old_string"], "edit finds its place by the text: pass the line itself as old_string."),
            means(&["offset"]),
        ],
    },
    Row {
        given: "end endat endingline lastline lineend endlinenumber endlineoneindexed \
                endlineoneindexedinclusive endlinenumberbasezero stop toline until",
        means: &[means(&["end_line"]), means(&["max_results"])],
    },
    Row {
        given: "viewrange linerange range lines linenumbers ranges",
        means: &[
            means(&["lines"]),
            said(&["edits"], LINES),
            said(&["start_line", "end_line"], "did you mean `start_line` and `end_line`? Both count from 1."),
        ],
    },
    Row {
        given: "head length maxlines numlines nlines nooflines numberoflines linecount linelimit maxlinestoread \
                take size",
        means: &[means(&["limit"]), means(&["max_results"])],
    },
    Row {
        given: "tail last lastlines fromend",
        means: &[said(&["offset", "limit"], "a negative `offset` counts from the end: offset=-20.")],
    },
    Row {
        given: "shouldreadentirefile entirefile full readall whole",
        means: &[said(&["limit"], "leave it out: a file is read from its beginning, 2000 lines at a time.")],
    },
    Row {
        given: "filepattern filepatterns fileglob fileglobs filemask filefilter filter filters globpattern \
                globpatterns globs includepattern includepatterns includes includeglob pathsincludeglob \
                pathpattern namepattern extension extensions ext fileextension fileextensions suffix files \
                include",
        means: &[
            means(&["glob"]),
            means(&["pattern"]),
            said(&["path"], "did you mean `path`? It names one file; make a call for each."),
        ],
    },
    Row {
        given: "exclude excludes excludepattern excludepatterns excludeglob pathsexcludeglob ignore ignores \
                ignorepattern ignorepatterns skipfiles",
        means: &[
            said(&["glob"], "did you mean `glob` with a `!`? glob=\"!vendor/**\" leaves files out."),
            said(
                &["no_ignore"],
                "files that .gitignore and .ignore name are left out already; there is no other exclusion.",
            ),
        ],
    },
    Row {
        given: "regexpattern regexppattern needle searchpattern searchquery searchterm searchstring searchtext \
                substringpattern substring term terms keyword keywords expression expr string text find match \
                name filename search patterns regexp q",
        means: &[means(&["pattern"]), means(&["old_string"]), means(&["content"]), means(&["path"])],
    },
    Row {
        given: "isregex isregexp useregex regexmode fixedstrings fixedstring fixed literalsearch isliteral \
                plaintext plain f",
        means: &[said(&["literal"], "did you mean `literal`? literal=true searches the pattern as plain text.")],
    },
    Row {
        given: "caseinsensitive ignorecase nocase matchcase caseinsensitivesearch smartcase i",
        means: &[means(&["case_sensitive"])],
    },
    Row { given: "wholeword wholewords wordregexp matchwholeword wordmatch w", means: &[means(&["word"])] },
    Row { given: "dotall multilinemode u", means: &[means(&["multiline"])] },
    Row {
        given: "contextlines linesofcontext numcontextlines contextsize surroundinglines c",
        means: &[means(&["context"])],
    },
    Row { given: "contextlinesbefore beforecontext contextbefore linesbefore b", means: &[means(&["before"])] },
    Row { given: "contextlinesafter aftercontext contextafter linesafter a", means: &[means(&["after"])] },
    Row { given: "filetype filetypes lang language languages types", means: &[means(&["type"])] },
    Row {
        given: "outputformat format mode filesonly fileswithmatches namesonly nameonly listfiles filenamesonly \
                countonly searchtype matchperline l",
        means: &[means(&["output_mode"])],
    },
    Row {
        given: "count",
        means: &[
            means(&["expected_replacements"]),
            said(&["output_mode"], "did you mean output_mode=\"count\"?"),
            means(&["limit"]),
            means(&["max_results"]),
        ],
    },
    Row {
        given: "respectgitignore respectignore usegitignore gitignore filefilteringoptions respectgeminiignore \
                usedefaultexcludes includeignored showignored",
        means: &[means(&["no_ignore"])],
    },
    Row {
        given: "hidden includehidden showhidden all dotfiles includedotfiles",
        means: &[
            means(&["replace_all"]),
            said(&["no_ignore"], "hidden files are included already; no_ignore=true includes ignored ones."),
        ],
    },
    Row {
        given: "maxmatches totalmaxmatches maxcount maxfiles maxentries maxitems maxhits max topk topn \
                numresults resultlimit limitresults pagesize perpage maxmatchesperfile m",
        means: &[means(&["max_results"]), means(&["limit"])],
    },
    Row {
        given: "skip page cursor startindex pagetoken skiplines lineoffset byteoffset",
        means: &[means(&["offset"])],
    },
    Row {
        given: "recursive recurse r",
        means: &[
            said(&["depth"], "did you mean `depth`? It says how many levels are shown, 1 to 5."),
            said(&["glob"], "leave it out: directories are searched with all below them."),
            said(&["pattern"], "leave it out: `**` in the pattern matches any directories."),
            said(&["source"], "leave it out: a directory goes with everything in it."),
        ],
    },
    Row {
        given: "maxdepth depthlimit levels level maxlevels",
        means: &[
            means(&["depth"]),
            said(&["glob"], "there is no limit of depth; narrow the search with path or glob."),
            said(&["pattern"], "write it in the pattern: \"*/*.rs\" is one level down."),
        ],
    },
    Row { given: "sortby order orderby sortorder sorting", means: &[means(&["sort"])] },
    Row {
        given: "newcontent newcontents filecontent filecontents data body code codecontent codeedit \
                newfilecontent value newsource source inserttext input newvalue payload",
        means: &[means(&["content"]), means(&["new_string"]), means(&["path"])],
    },
    Row {
        given: "overwrite force replaceexisting emptyfile writemode append isappend",
        means: &[
            means(&["overwrite"]),
            said(&["content", "mode"], "did you mean `mode`? It is overwrite, append or create."),
        ],
    },
    Row {
        given: "createdirs createdirectories createparents makedirs mkdirs parents existok",
        means: &[
            said(&["content"], "leave it out: missing directories are made."),
            said(&["path"], "leave it out: missing parents are made."),
            said(&["destination"], "leave it out: missing directories are made."),
        ],
    },
    Row {
        given: "old oldcontent oldcode oldvalue oldsource original originaltext originalcontent target \
                targetcontent matchtext findtext before",
        means: &[means(&["old_string"])],
    },
    Row {
        given: "new newcode updated updatedtext replacement replacementtext replacementcontent replacewith \
                replacetext repl after to",
        means: &[means(&["new_string"])],
    },
    Row {
        given: "replacements changes operations multiedits replacementchunks hunks blocks modifications",
        means: &[said(&["edits"], "did you mean `edits`? A list of objects with old_string and new_string.")],
    },
    Row {
        given: "allowmultiple allowmultipleoccurrences multiple global replaceallmatches replacealloccurrences \
                alloccurrences g",
        means: &[means(&["replace_all"])],
    },
    Row {
        given: "expectedcount expectedmatches occurrences expectedoccurrences times maxreplacements",
        means: &[means(&["expected_replacements"])],
    },
    Row { given: "preview dry simulate checkonly whatif", means: &[means(&["dry_run"])] },
    Row {
        given: "diff patch udiff unifieddiff",
        means: &[
            said(&["old_string"], "no diff is taken: pass the old text as old_string and the new as new_string."),
            said(&["content"], "no diff is taken: pass the whole text as content, or change a part with edit."),
        ],
    },
    Row {
        given: "insertline insertafter afterline insertat position atline",
        means: &[
            said(&["lines"], "to insert, pass lines=\"after 120\" with rev."),
            said(&["edits"], LINES),
            said(
                &["old_string"],
                "to insert, pass the line before as old_string, and that line with the new ones as new_string.",
            ),
        ],
    },
    Row {
        given: "revision rev expectedrev hash expectedhash checksum etag version sha ifmatch",
        means: &[means(&["expected_revision"]), means(&["rev"])],
    },
    Row {
        given: "newfrom copyfrom fromfile contentfrom newfile sourcefile sourcelines",
        means: &[means(&["new_from"]), said(&["edits"], "`new_from` is an argument of an entry of `edits`.")],
    },
    Row {
        given: "absolutepath targetfile targetpath relativepath relativeworkspacepath dirpath directorypath \
                directoryname folder folderpath uri url isurl notebookpath searchdirectory searchpath searchdir \
                root rootdir rootpath cwd base basepath basedir workdir workingdirectory targetdirectory \
                pathname fullpath location document in paths filepaths filenames targetdirectories directories \
                dirs",
        means: &[means(&["path"]), means(&["source"])],
    },
    Row { given: "charset encode fileencoding codec", means: &[means(&["encoding"])] },
    Row {
        given: "newname rename output outputpath destinationdirectory targetname into",
        means: &[means(&["destination"])],
    },
    Row {
        given: "explanation instruction instructions thought thoughts reason reasoning rationale securityrisk \
                displaydescription comment summary title timeout timeoutms command background toolsummary \
                toolaction earlytermination backup atomic encodingerrors",
        means: &[said(&[], "leave it out; no argument here does that.")],
    },
];

/// What to use instead of the argument `given`, as the beginning of a hint.
pub(super) fn suggestion(given: &str, properties: Option<&Map<String, Value>>) -> Option<String> {
    let plain: String = given.chars().filter(|letter| !matches!(letter, '_' | '-' | ' ')).collect();
    let plain = plain.to_lowercase();
    let has = |argument: &&'static str| properties.is_some_and(|known| known.contains_key(*argument));
    let mut rows = ROWS.iter().filter(|row| row.given.split(' ').any(|name| name == plain));
    let meaning = rows.find_map(|row| row.means.iter().find(|meaning| meaning.arguments.iter().all(has)))?;
    Some(match (meaning.words, meaning.arguments) {
        ("", arguments) => {
            let names: Vec<String> = arguments.iter().map(|name| format!("`{name}`")).collect();
            format!("did you mean {}?", names.join(" and "))
        }
        (words, _) => words.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::{Group, Selection, Toolbox};

    fn suggested(tool: &str, given: &str) -> Option<String> {
        let toolbox = Toolbox::new(&Selection {
            groups: vec![Group::Manage, Group::Patch, Group::Watch, Group::Present],
            ..Selection::default()
        });
        let schema = toolbox.get(tool).unwrap().input_schema();
        suggestion(given, schema["properties"].as_object())
    }

    #[test]
    fn arguments_of_other_tools_get_the_right_suggestion() {
        for (tool, given, wanted) in [
            ("read", "start", "`start_line`"),
            ("read", "start_line_one_indexed", "`start_line`"),
            ("read", "line_end", "`end_line`"),
            ("read", "view_range", "`start_line` and `end_line`"),
            ("read", "lines", "`start_line` and `end_line`"),
            ("read", "max_lines", "`limit`"),
            ("read", "numLines", "`limit`"),
            ("read", "head", "`limit`"),
            ("read", "tail", "offset=-20"),
            ("read", "target_file", "`path`"),
            ("read", "AbsolutePath", "`path`"),
            ("read", "explanation", "leave it out"),
            ("grep", "start", "`offset`"),
            ("grep", "file_pattern", "`glob`"),
            ("grep", "includePattern", "`glob`"),
            ("grep", "exclude", "glob=\"!"),
            ("grep", "regex_pattern", "`pattern`"),
            ("grep", "case_insensitive", "`case_sensitive`"),
            ("grep", "isRegexp", "`literal`"),
            ("grep", "contextLines", "`context`"),
            ("grep", "recursive", "leave it out"),
            ("grep", "max_matches", "`max_results`"),
            ("grep", "searchPath", "`path`"),
            ("glob", "file_pattern", "`pattern`"),
            ("glob", "name", "`pattern`"),
            ("glob", "recursive", "`**`"),
            ("ls", "recursive", "`depth`"),
            ("ls", "max_depth", "`depth`"),
            ("ls", "ignore", "left out already"),
            ("write", "new_content", "`content`"),
            ("write", "data", "`content`"),
            ("write", "overwrite", "`mode`"),
            ("write", "create_dirs", "leave it out"),
            ("edit", "new_content", "`new_string`"),
            ("edit", "original", "`old_string`"),
            ("edit", "replacement", "`new_string`"),
            ("edit", "find", "`old_string`"),
            ("edit", "changes", "`edits`"),
            ("edit", "global", "`replace_all`"),
            ("edit", "diff", "no diff"),
            ("edit", "insert_line", "to insert"),
            ("edit", "lines", "an entry of `edits`"),
            ("edit", "new_from", "an entry of `edits`"),
            ("edit", "line", "old_string"),
            ("move", "new_name", "`destination`"),
            ("copy", "recursive", "leave it out"),
            ("delete", "target_file", "`path`"),
            ("mkdir", "parents", "leave it out"),
        ] {
            let found = suggested(tool, given);
            assert!(found.as_ref().is_some_and(|words| words.contains(wanted)), "{tool} {given}: {found:?}");
        }
        assert_eq!(suggested("read", "zzz"), None);
    }

    #[test]
    fn each_row_is_written_as_it_is_looked_up_and_names_real_arguments() {
        let toolbox = Toolbox::new(&Selection {
            groups: vec![Group::Manage, Group::Patch, Group::Watch, Group::Present],
            ..Selection::default()
        });
        let known = |name: &str| {
            toolbox.tools().iter().any(|entry| {
                let properties = &entry.input_schema()["properties"];
                properties.get(name).or(properties["edits"]["items"]["properties"].get(name)).is_some()
            })
        };
        for row in ROWS {
            for given in row.given.split(' ') {
                assert!(given.chars().all(|letter| letter.is_ascii_lowercase()), "{given}");
            }
            for name in row.means.iter().flat_map(|meaning| meaning.arguments) {
                assert!(known(name), "{name}");
            }
        }
    }
}
