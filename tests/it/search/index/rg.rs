//! `rg` as the second oracle: its results in the same tree, cut to the requested page.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
    process::{Command, Stdio},
};

use serde_json::{Map, Value};

use crate::search::oracle;

/// The result of a comparison.
pub(super) enum Verdict {
    Same,
    /// rg has no such query, or means something else by it.
    NotComparable,
    Differs {
        ours: String,
        theirs: String,
    },
}

/// Whether rg is installed.
pub(super) fn is_there() -> bool {
    Command::new("rg").arg("--version").stdout(Stdio::null()).status().is_ok()
}

/// Compares an answer (as data) to `tool` with what rg says of the tree at `root`.
pub(super) fn compare(root: &Path, tool: &str, arguments: &Map<String, Value>, data: &Value) -> Verdict {
    let asked = Asked { root, arguments };
    let expected = if tool == "glob" { asked.paths() } else { asked.matches(data) };
    let Some(expected) = expected else { return Verdict::NotComparable };
    let found = match tool {
        "glob" => texts(&data["paths"], |path| path.as_str().unwrap().to_owned()),
        _ if asked.text("output_mode") == "content" => lines(data),
        mode => {
            assert_eq!(mode, "grep");
            let counts = asked.text("output_mode") == "count";
            texts(&data["results"], |file| {
                let path = file["path"].as_str().unwrap();
                if counts { format!("{path}:{}", file["matches"]) } else { path.to_owned() }
            })
        }
    };
    // A link to a file is a name here; rg lists none.
    let is_link = |path: &String| fs::symlink_metadata(root.join(path)).is_ok_and(|meta| meta.is_symlink());
    let found: Vec<String> = found.into_iter().filter(|path| tool != "glob" || !is_link(path)).collect();
    // Files in other encodings are decoded here, and bytes for rg: skipped if no page is cut.
    let is_foreign = |line: &String| {
        let path = line.split(':').next().unwrap_or_default();
        (tool == "grep") && oracle_differs(root, path, &asked, line)
    };
    let cut = data["truncated"] != Value::Bool(false) || asked.pages();
    // rg does not order by modification time, so its first ones are others.
    if cut && asked.text("sort") == "modified" {
        return Verdict::NotComparable;
    }
    if cut && tool == "glob" && has_links(root) {
        return Verdict::NotComparable;
    }
    if cut && expected.iter().chain(&found).any(is_foreign) {
        return Verdict::NotComparable;
    }
    let expected: Vec<String> = expected.into_iter().filter(|line| !is_foreign(line)).collect();
    let found: Vec<String> = found.into_iter().filter(|line| !is_foreign(line)).collect();
    let page = asked.page(expected);
    let same = if asked.text("sort") == "modified" {
        page.iter().collect::<BTreeSet<_>>() == found.iter().collect::<BTreeSet<_>>()
    } else {
        page == found
    };
    // Files before the page that rg does not take for text move it: which ones these are, no answer says.
    let moves = |path: &String| oracle_differs(root, path, &asked, "\u{e9}");
    match same {
        true => Verdict::Same,
        false if cut && tool == "grep" && asked.files().iter().any(moves) => Verdict::NotComparable,
        false => Verdict::Differs { ours: found.join("\n"), theirs: page.join("\n") },
    }
}

/// What matches, or does not, next to a byte that rg takes for no character and we for one of another encoding.
const KINDS: [&str; 7] = ["\\b", "\\B", "\\w", "\\W", "\\S", "\\D", "[^"];

/// Whether the file of a result is neither UTF-8 nor marked, and that can show: in a line of it beyond ASCII, in
/// what such a pattern finds, where a pattern asks what kind of character is next to a word, or at all where rg takes it
/// for binary.
fn oracle_differs(root: &Path, path: &str, asked: &Asked<'_>, line: &str) -> bool {
    let bytes = fs::read(root.join(path)).unwrap_or_default();
    if [&b"\xFF\xFE"[..], b"\xFE\xFF", b"\xEF\xBB\xBF"].iter().any(|mark| bytes.starts_with(mark)) {
        return false;
    }
    let pattern = asked.text("pattern");
    let asks_kind = asked.flag("word") || KINDS.iter().any(|kind| pattern.contains(kind));
    bytes.contains(&0) || std::str::from_utf8(&bytes).is_err() && (asks_kind || !pattern.is_ascii() || !line.is_ascii())
}

/// One query.
struct Asked<'a> {
    root: &'a Path,
    arguments: &'a Map<String, Value>,
}

impl Asked<'_> {
    fn text(&self, name: &str) -> &str {
        self.arguments.get(name).and_then(Value::as_str).unwrap_or_default()
    }

    fn flag(&self, name: &str) -> bool {
        self.arguments.get(name).and_then(Value::as_bool).unwrap_or(false)
    }

    fn number(&self, name: &str) -> Option<usize> {
        self.arguments.get(name).and_then(Value::as_u64).and_then(|number| usize::try_from(number).ok())
    }

    /// The requested part of all results.
    fn page(&self, all: Vec<String>) -> Vec<String> {
        if self.flag("multiline") && self.text("output_mode") == "content" {
            // Complete, as `matches` made sure; a page would count matches and not lines.
            return all;
        }
        let default = if self.arguments.contains_key("include_dirs") { 200 } else { 100 };
        let take = self.number("max_results").unwrap_or(default);
        all.into_iter().skip(self.number("offset").unwrap_or(0)).take(take).collect()
    }

    fn pages(&self) -> bool {
        self.arguments.contains_key("max_results")
    }

    /// The files that are not ignored, or all.
    fn files(&self) -> BTreeSet<String> {
        let mut flags = vec!["--files"];
        if self.flag("no_ignore") {
            flags.push("--no-ignore");
        }
        paths(&rg(self.root, &flags), "").collect()
    }

    /// Below the path of the call; `None` if that path is ignored: rg then searches nothing, while here a named path is
    /// searched.
    fn files_below(&self) -> Option<BTreeSet<String>> {
        let start = self.text("path");
        let all = self.files();
        if start.is_empty() {
            return Some(all);
        }
        let below: BTreeSet<String> = all.into_iter().filter(|path| is_below(path, start)).collect();
        (!below.is_empty()).then_some(below)
    }

    /// glob: files by name. rg lists no directories, and knows no order by time within a page.
    fn paths(&self) -> Option<Vec<String>> {
        if self.flag("include_dirs") || (self.pages() && self.text("sort") != "path") {
            return None;
        }
        let mut known = self.files_below()?;
        let start = self.text("path");
        // Here a pattern that leads into a linked worktree searches that, which is left out of what rg sees.
        let leads_to = self.text("pattern").split_once("/**").map_or("", |(directory, _)| directory);
        let is_led_away = !leads_to.is_empty() && is_worktree(&self.root.join(start).join(leads_to));
        if !self.root.join(start).is_dir() || is_led_away {
            return None;
        }
        let matching = rg(&self.root.join(start), &["--files", "--no-ignore", "-g", self.text("pattern")]);
        let matching: BTreeSet<String> = paths(&matching, start).collect();
        known.retain(|path| matching.contains(path));
        Some(sorted(known))
    }

    /// grep: the lines, the files or the counts, in order. `None` for what rg counts otherwise.
    fn matches(&self, data: &Value) -> Option<Vec<String>> {
        let pattern = self.text("pattern");
        let multiline = self.flag("multiline");
        let word = self.flag("word");
        // Releases of rg differ in what -w means for a pattern that does not begin and end in a word.
        if word && !pattern.chars().all(|character| character.is_alphanumeric() || character == '_') {
            return None;
        }
        // rg 13 finds no empty line with this.
        if !self.flag("literal") && pattern.contains("$^") {
            return None;
        }
        // rg 13 loses lines with this: `printf 'a;\n;\ny\n' | rg '(?-u:\b)^'` shows the first alone.
        if !self.flag("literal") && pattern.contains("\\b") && pattern.contains('^') {
            return None;
        }
        // rg 13 sees one next to invalid UTF-8.
        if !self.flag("literal") && pattern.contains("\\B") {
            return None;
        }
        // Releases of rg anchor these to the file, the line or a buffer.
        let holds_to = |anchors: &[&str]| anchors.iter().any(|anchor| pattern.contains(anchor));
        let to_the_file = holds_to(&["\\A", "(?-m:^"]) || !multiline && holds_to(&["\\z", "(?-m:"]);
        if !self.flag("literal") && to_the_file {
            return None;
        }
        let mode = self.text("output_mode");
        // A match of several lines is one here and several in rg.
        if multiline && (mode == "count" || mode == "content" && data["truncated"] != Value::Bool(false)) {
            return None;
        }
        if multiline && mode == "content" && (self.pages() || data.to_string().contains("more lines of this match")) {
            return None;
        }
        let start = self.text("path");
        let globbed = self.arguments.contains_key("glob");
        let mut known = self.files_below()?;
        let mut flags = vec!["-0", "-n", "--no-heading", "--with-filename", "--max-filesize=16M"];
        // A glob of rg includes ignored files; here it only filters.
        if globbed {
            flags.extend(["-g", self.text("glob"), "--no-ignore"]);
        } else if self.flag("no_ignore") {
            flags.push("--no-ignore");
        }
        if self.arguments.contains_key("type") {
            // A named file is searched whatever its type, also by rg if it is named there.
            if self.root.join(start).is_file() {
                return None;
            }
            // It also includes files of other types.
            let typed: BTreeSet<String> =
                paths(&rg(self.root, &["--files", "--no-ignore", "-t", self.text("type")]), "").collect();
            known.retain(|path| typed.contains(path));
        }
        for (name, on) in [
            ("-F", self.flag("literal")),
            ("-i", !self.flag("case_sensitive")),
            ("-w", word),
            ("-U", multiline),
            ("--multiline-dotall", multiline),
        ] {
            if on {
                flags.push(name);
            }
        }
        flags.extend(["-e", pattern]);
        // A glob is relative to where the search starts.
        let from = if globbed { start } else { "" };
        if !self.root.join(from).is_dir() {
            return None;
        }
        let mut found: BTreeMap<Vec<String>, (String, Vec<String>)> = BTreeMap::new();
        for (path, number, text, _) in oracle::parse(&rg(&self.root.join(from), &flags)) {
            let path = joined(from, &path);
            if known.contains(&path) && !is_binary(&self.root.join(&path)) {
                found
                    .entry(key(&path))
                    .or_insert_with(|| (path, Vec::new()))
                    .1
                    .push(format!("{number}:{}", shown(&text)));
            }
        }
        Some(match mode {
            "content" => found
                .into_values()
                .flat_map(|(path, lines)| lines.into_iter().map(move |line| format!("{path}:{line}")))
                .collect(),
            "count" => found.into_values().map(|(path, lines)| format!("{path}:{}", lines.len())).collect(),
            _ => found.into_values().map(|(path, _)| path).collect(),
        })
    }
}

/// The linked worktrees strictly below a folder, which rg does not know.
fn worktrees(folder: &Path, below: &str, found: &mut Vec<String>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let (path, below) = (entry.path(), format!("{below}/{}", entry.file_name().to_string_lossy()));
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            if is_worktree(&path) {
                found.push(format!("!{below}"));
            } else {
                worktrees(&path, &below, found);
            }
        }
    }
}

fn has_links(folder: &Path) -> bool {
    fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .any(|entry| entry.file_type().is_ok_and(|kind| kind.is_symlink() || kind.is_dir() && has_links(&entry.path())))
}

fn is_worktree(folder: &Path) -> bool {
    let git = folder.join(".git");
    let is_linked = |text: String| text.contains(".git/worktrees/") && !text.contains("/modules/");
    fs::symlink_metadata(&git).is_ok_and(|meta| meta.is_file()) && fs::read_to_string(&git).is_ok_and(is_linked)
}

fn rg(folder: &Path, flags: &[&str]) -> Vec<u8> {
    let mut left_out = Vec::new();
    worktrees(folder, "", &mut left_out);
    let output = Command::new("rg")
        .args(["--no-config", "--hidden", "--no-require-git", "--no-ignore-parent", "--no-ignore-global"])
        .args(["--no-messages", "--color=never"])
        .args(flags)
        .args(left_out.iter().flat_map(|place| ["-g", place]))
        .args(["-g", "!.git/", "./"])
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()
        .expect("rg starts");
    // 2 without a message is a file that could not be opened.
    let fine = output.status.code().is_some_and(|code| code < 2) || output.stderr.is_empty();
    assert!(fine, "rg {flags:?}: {}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

fn paths(output: &[u8], start: &str) -> impl Iterator<Item = String> {
    let text = String::from_utf8_lossy(output).into_owned();
    let paths: Vec<String> = text.lines().map(|path| joined(start, path.trim_start_matches("./"))).collect();
    paths.into_iter()
}

fn joined(start: &str, path: &str) -> String {
    if start.is_empty() { path.to_owned() } else { format!("{start}/{path}") }
}

fn is_below(path: &str, start: &str) -> bool {
    path.strip_prefix(start).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// The order of answers: name by name.
fn key(path: &str) -> Vec<String> {
    path.split('/').map(str::to_owned).collect()
}

fn sorted(paths: BTreeSet<String>) -> Vec<String> {
    let mut paths: Vec<String> = paths.into_iter().collect();
    paths.sort_by_key(|path| key(path));
    paths
}

/// rg shows matches before the first NUL byte of a file; here such a file has no matches.
fn is_binary(path: &Path) -> bool {
    let bytes = fs::read(path).unwrap_or_default();
    let utf16 = bytes.starts_with(&[0xFF, 0xFE]) || bytes.starts_with(&[0xFE, 0xFF]);
    !utf16 && bytes.contains(&0)
}

fn texts(list: &Value, text: impl Fn(&Value) -> String) -> Vec<String> {
    list.as_array().unwrap().iter().map(text).collect()
}

/// The matching lines of an answer.
fn lines(data: &Value) -> Vec<String> {
    let mut out = Vec::new();
    for file in data["results"].as_array().unwrap() {
        for line in file["lines"].as_array().unwrap().iter().filter(|line| line["context"] == Value::Bool(false)) {
            let (path, text) = (file["path"].as_str().unwrap(), line["text"].as_str().unwrap());
            out.push(format!("{path}:{}:{}", line["line"], shown(text)));
        }
    }
    out
}

/// A long line is shown in part, around its first match: compared by its number alone.
fn shown(text: &str) -> &str {
    if text.chars().count() >= 200 || text.contains('…') { "(long)" } else { text }
}
