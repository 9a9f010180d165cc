//! The error for an argument that a tool does not have: what may have been meant, and all that it takes.

use serde_json::{Map, Value};
use text_file::{
    nearest_name::{ONE_OF_FEW, did_you_mean, nearest_names},
    shorten,
};

use super::{
    error::{Kind, ToolError},
    tool::{Alias, Spec},
};

/// The error for the argument `given`, which is neither one of `properties` nor another spelling of one.
pub(super) fn unknown(given: &str, properties: &Map<String, Value>, spec: &Spec) -> ToolError {
    let error =
        ToolError::new(Kind::InvalidInput, format!("unknown argument `{}` for {}", shorten(given, 80), spec.name));
    let names: Vec<&str> = properties.keys().map(String::as_str).collect();
    let is_name = |alias: &&Alias| alias.flag.is_none() && alias.name.is_some_and(|name| names.contains(&name));
    let through_alias = spec.aliases().filter(is_name).flat_map(|alias| alias.given);
    let takes = format!("{} takes: {}", spec.name, names.join(", "));
    if let Some(words) = suggestion(given, properties) {
        return error.hint(format!("{words} {takes}"));
    }
    let spellings = names.iter().chain(through_alias).copied();
    let near = nearest_names(given, spellings, ONE_OF_FEW);
    let meant = near.first().map(|near| spec.renamed(near).unwrap_or(near));
    match did_you_mean(meant.map(|name| format!("`{name}`"))) {
        Some(question) => error.hint(format!("{question} {takes}")),
        None if names.is_empty() => error.hint(format!("{} takes no arguments", spec.name)),
        None => error.hint(takes),
    }
}

/// Arguments of other file tools and their names here, where similarity of the words would say nothing or something
/// wrong (`start` is not `sort`, `file_pattern` is not `path`): names without case, `_` and `-`, then what to use
/// instead, of which the first counts whose arguments (`a+b`) the tool has. The text after a colon takes the place of
/// "did you mean".
///
/// Collected from the tools of Claude Code (Read, Edit, Grep, Glob, `text_editor`), Gemini CLI, Codex, Cursor, Copilot,
/// Cline and Roo, Windsurf, Zed, Serena, goose, opencode, `OpenHands` (`str_replace_editor`), server-filesystem, Desktop
/// Commander, aider and ripgrep's flags. These are suggestions: what is accepted as another spelling is a tool's own list
/// of aliases.
const OTHER_NAMES: &str = r#"
start begin beginline firstline from fromline linestart startat startingline startlinenumber startlineoneindexed
startlinenumberbasezero startposition line linenumber lineno anchorline = start_line | lines
= old_string: edit finds its place by the text: pass the line itself as old_string.
= offset
end endat endingline lastline lineend endlinenumber endlineoneindexed endlineoneindexedinclusive
endlinenumberbasezero stop toline until = end_line | max_results
viewrange linerange range lines linenumbers ranges = lines
= edits: `lines` with `rev` is for an entry of `edits`: edits=[{"lines": "120-134", "rev": …, "new_string": …}], or "after 120" to insert.
= start_line+end_line: did you mean `start_line` and `end_line`? Both count from 1.
head length maxlines numlines nlines nooflines numberoflines linecount linelimit maxlinestoread take size
= limit | max_results
tail last lastlines fromend = offset+limit: a negative `offset` counts from the end: offset=-20.
shouldreadentirefile entirefile full readall whole
= limit: leave it out: a file is read from its beginning, 2000 lines at a time.
filepattern filepatterns fileglob fileglobs filemask filefilter filter filters globpattern globpatterns globs
includepattern includepatterns includes includeglob pathsincludeglob pathpattern namepattern extension extensions
ext fileextension fileextensions suffix files include = glob | pattern
= path: did you mean `path`? It names one file; make a call for each.
exclude excludes excludepattern excludepatterns excludeglob pathsexcludeglob ignore ignores ignorepattern
ignorepatterns skipfiles = glob: did you mean `glob` with a `!`? glob="!vendor/**" leaves files out.
= no_ignore: files that .gitignore and .ignore name are left out already; there is no other exclusion.
regexpattern regexppattern needle searchpattern searchquery searchterm searchstring searchtext substringpattern
substring term terms keyword keywords expression expr string text find match name filename search patterns regexp q
= pattern | old_string | content | path
isregex isregexp useregex regexmode fixedstrings fixedstring fixed literalsearch isliteral plaintext plain f
= literal: did you mean `literal`? literal=true searches the pattern as plain text.
caseinsensitive ignorecase nocase matchcase caseinsensitivesearch smartcase i = case_sensitive
wholeword wholewords wordregexp matchwholeword wordmatch w = word
dotall multilinemode u = multiline
contextlines linesofcontext numcontextlines contextsize surroundinglines c = context
contextlinesbefore beforecontext contextbefore linesbefore b = before
contextlinesafter aftercontext contextafter linesafter a = after
filetype filetypes lang language languages types = type
outputformat format mode filesonly fileswithmatches namesonly nameonly listfiles filenamesonly countonly searchtype
matchperline l = output_mode
count = expected_replacements
= output_mode: did you mean output_mode="count"?
= limit | max_results
respectgitignore respectignore usegitignore gitignore filefilteringoptions respectgeminiignore usedefaultexcludes
includeignored showignored = no_ignore
hidden includehidden showhidden all dotfiles includedotfiles = replace_all
= no_ignore: hidden files are included already; no_ignore=true includes ignored ones.
maxmatches totalmaxmatches maxcount maxfiles maxentries maxitems maxhits max topk topn numresults resultlimit
limitresults pagesize perpage maxmatchesperfile m = max_results | limit
skip page cursor startindex pagetoken skiplines lineoffset byteoffset = offset
recursive recurse r = depth: did you mean `depth`? It says how many levels are shown, 1 to 5.
= glob: leave it out: directories are searched with all below them.
= pattern: leave it out: `**` in the pattern matches any directories.
= source: leave it out: a directory goes with everything in it.
maxdepth depthlimit levels level maxlevels = depth
= glob: there is no limit of depth; narrow the search with path or glob.
= pattern: write it in the pattern: "*/*.rs" is one level down.
sortby order orderby sortorder sorting = sort
newcontent newcontents filecontent filecontents data body code codecontent codeedit newfilecontent value newsource
source inserttext input newvalue payload = content | new_string | path
overwrite force replaceexisting emptyfile writemode append isappend = overwrite
= content+mode: did you mean `mode`? It is overwrite, append or create.
createdirs createdirectories createparents makedirs mkdirs parents existok
= content: leave it out: missing directories are made.
= path: leave it out: missing parents are made.
= destination: leave it out: missing directories are made.
old oldcontent oldcode oldvalue oldsource original originaltext originalcontent target targetcontent matchtext
findtext before = old_string
new newcode updated updatedtext replacement replacementtext replacementcontent replacewith replacetext repl after to
= new_string
replacements changes operations multiedits replacementchunks hunks blocks modifications
= edits: did you mean `edits`? A list of objects with old_string and new_string.
allowmultiple allowmultipleoccurrences multiple global replaceallmatches replacealloccurrences alloccurrences g
= replace_all
expectedcount expectedmatches occurrences expectedoccurrences times maxreplacements = expected_replacements
preview dry simulate checkonly whatif = dry_run
diff patch udiff unifieddiff
= old_string: no diff is taken: pass the old text as old_string and the new as new_string.
= content: no diff is taken: pass the whole text as content, or change a part with edit.
insertline insertafter afterline insertat position atline = lines: to insert, pass lines="after 120" with rev.
= edits: `lines` with `rev` is for an entry of `edits`: edits=[{"lines": "120-134", "rev": …, "new_string": …}], or "after 120" to insert.
= old_string: to insert, pass the line before as old_string, and that line with the new ones as new_string.
revision rev expectedrev hash expectedhash checksum etag version sha ifmatch = expected_revision | rev
newfrom copyfrom fromfile contentfrom newfile sourcefile sourcelines = new_from
= edits: `new_from` is an argument of an entry of `edits`.
absolutepath targetfile targetpath relativepath relativeworkspacepath dirpath directorypath directoryname folder
folderpath uri url isurl notebookpath searchdirectory searchpath searchdir root rootdir rootpath cwd base basepath
basedir workdir workingdirectory targetdirectory pathname fullpath location document in paths filepaths filenames
targetdirectories directories dirs = path | source
charset encode fileencoding codec = encoding
newname rename output outputpath destinationdirectory targetname into = destination
explanation instruction instructions thought thoughts reason reasoning rationale securityrisk displaydescription
comment summary title timeout timeoutms command background toolsummary toolaction earlytermination backup atomic
encodingerrors = : leave it out; no argument here does that.
"#;

/// Rows of [`OTHER_NAMES`]: the names, and each meaning with its clause.
fn rows() -> Vec<(Vec<&'static str>, Vec<Meaning>)> {
    let (mut rows, mut is_new) = (Vec::<(Vec<_>, Vec<_>)>::new(), true);
    for line in OTHER_NAMES.trim().lines() {
        let (names, meanings) = line.split_once("= ").unwrap_or((line, ""));
        if is_new && !names.is_empty() {
            rows.push(Default::default());
        }
        is_new = !meanings.is_empty();
        let Some((row, means)) = rows.last_mut() else { continue };
        row.extend(names.split_ascii_whitespace());
        means.extend(meanings.split(" | ").filter(|meaning| !meaning.is_empty()).map(|meaning| {
            let (arguments, words) = meaning.split_once(": ").unwrap_or((meaning, ""));
            Meaning { arguments: arguments.split('+').filter(|name| !name.is_empty()).collect(), words }
        }));
    }
    rows
}

/// The arguments to use instead of one of another tool.
struct Meaning {
    arguments: Vec<&'static str>,
    /// A clause about them; empty for "did you mean".
    words: &'static str,
}

/// The beginning of a hint: the arguments to use instead of `given`.
fn suggestion(given: &str, properties: &Map<String, Value>) -> Option<String> {
    let plain: String = given.chars().filter(|letter| !matches!(letter, '_' | '-' | ' ')).collect();
    let plain = plain.to_lowercase();
    let mut rows = rows().into_iter().filter(|(names, _)| names.contains(&&*plain));
    let Meaning { arguments, words } = rows.find_map(|(_, means)| {
        means.into_iter().find(|meaning| meaning.arguments.iter().all(|name| properties.contains_key(*name)))
    })?;
    let names: Vec<String> = arguments.iter().map(|name| format!("`{name}`")).collect();
    Some(if words.is_empty() { format!("did you mean {}?", names.join(" and ")) } else { words.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Group, Selection, Toolbox};

    fn suggested(tool: &str, given: &str) -> Option<String> {
        let toolbox = Toolbox::new(&Selection {
            groups: vec![Group::Manage, Group::Patch, Group::Watch, Group::Present],
            ..Selection::default()
        });
        let schema = toolbox.get(tool).unwrap().input_schema();
        suggestion(given, schema["properties"].as_object().unwrap())
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
        for (names, means) in rows() {
            assert!(!means.is_empty(), "{names:?}");
            for given in names {
                assert!(!given.is_empty() && given.chars().all(|letter| letter.is_ascii_lowercase()), "{given}");
            }
            for name in means.iter().flat_map(|meaning| &meaning.arguments) {
                assert!(known(name), "{name}");
            }
        }
    }
}
