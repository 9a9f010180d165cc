//! grep and glob compared with `rg`: random queries over real sources, answers compared line by line.
//!
//! The sources are those of the dependencies of this crate, which every build has. Needs `rg`; without it the test is
//! skipped with a message, and fails if `CI` is set. `ORACLE_QUERIES` sets the number of queries, `ORACLE_SEED` the seed.

use std::{
    collections::HashMap,
    env, fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use confined_fs::Access;
use serde_json::{Value, json};

use crate::{
    harness::process::run_again,
    harness::program::{CHECK_OPENS, is_wine},
    harness::seeded_random::Random,
    harness::{Harness, Setup},
};

/// Maximum number of pages compared; the order is compared as well.
const PAGES: usize = 3;
const PAGE: usize = 500;

/// The folder of unpacked dependencies.
fn sources() -> Option<PathBuf> {
    let cargo = env::var_os("CARGO_HOME").map(PathBuf::from).or_else(|| Some(env::home_dir()?.join(".cargo")))?;
    let registries = fs::read_dir(cargo.join("registry/src")).ok()?;
    registries.flatten().map(|entry| entry.path()).find(|path| path.is_dir())
}

fn files_below(dir: &Path, out: &mut Vec<PathBuf>) {
    let mut entries: Vec<_> = fs::read_dir(dir).into_iter().flatten().flatten().collect();
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => files_below(&entry.path(), out),
            Ok(kind) if kind.is_file() => out.push(entry.path()),
            _ => {}
        }
    }
}

/// What to query: the folder of a crate and words that occur in it.
struct SearchItem {
    folder: String,
    words: Vec<String>,
}

fn haystack(random: &mut Random, root: &Path, crates: &[String]) -> SearchItem {
    loop {
        let folder = random.pick(crates).clone();
        let mut files = Vec::new();
        files_below(&root.join(&folder), &mut files);
        let mut words = Vec::new();
        for _ in 0..4 {
            let Some(file) = files.get(random.below(files.len())) else { break };
            let Ok(text) = fs::read_to_string(file) else { continue };
            let all: Vec<&str> = text
                .split(|character: char| !(character.is_alphanumeric() || character == '_'))
                .filter(|word| (3..20).contains(&word.len()))
                .collect();
            if !all.is_empty() {
                words.push((*random.pick(&all)).to_owned());
                words.push((*random.pick(&all)).to_owned());
            }
        }
        if words.len() >= 4 {
            return SearchItem { folder, words };
        }
    }
}

/// A pattern, and whether it is plain text.
fn pattern(random: &mut Random, words: &[String], multiline: bool) -> (String, bool) {
    let one = random.pick(words).clone();
    let two = random.pick(words).clone();
    if multiline {
        let shapes = [
            format!("{one}[^;]{{0,60}}\\n[^;]{{0,60}}{two}"),
            format!("{one}.{{0,80}}?{two}"),
            format!("^\\s*{one}\\b.{{0,40}}$"),
            format!("{one}.{{0,45}}\\z"),
            format!("\\b{one}[^a]{{0,45}}(?-m:$)"),
            format!("(?-s:{one}.*\\n.*{two})"),
            one,
        ];
        return (random.pick(&shapes).clone(), false);
    }
    let cut = one.char_indices().nth(2).map_or(0, |(at, _)| at);
    let (head, tail) = one.split_at(cut);
    let tail_rest: String = tail.chars().skip(1).collect();
    let shapes = [
        one.clone(),
        format!("{one}|{two}"),
        format!("\\b{one}"),
        format!("{head}[a-z_]+"),
        format!("{head}.{tail_rest}"),
        format!("^\\s*(pub |let )?{one}"),
        format!("{one}\\s*[(<{{]"),
        format!("\\w+{one}\\w*"),
        format!("{one}$"),
        format!("(?i:{head}){tail}"),
        format!("{one}.*{two}"),
        format!("[^\\s]{{2}}{one}"),
        format!("{one}\\W+\\w+"),
        format!("(?s:{one}.{{0,30}}{two})"),
        format!("\\b{one}\\b|\\b{two}$"),
        "^$".to_owned(),
        "é|ß|→|\\u{2019}".to_owned(),
        "\\d{4}-\\d{2}".to_owned(),
    ];
    if random.one_in(5) {
        let plain = [format!("{one}("), format!("&{one}"), one, format!("{two}."), "[..]".to_owned(), "::<".to_owned()];
        return (random.pick(&plain).clone(), true);
    }
    (random.pick(&shapes).clone(), false)
}

const GLOBS: &[&str] =
    &["*.rs", "!*.rs", "*.{toml,md}", "src/**", "**/tests/*.rs", "!tests", "[A-Z]*", "src/*.rs", "*_*"];
const TYPES: &[&str] = &["rust", "toml", "py", "html"];

fn rg(dir: &Path, arguments: &[String]) -> Vec<u8> {
    let output = Command::new("rg")
        .args(["--no-config", "--hidden", "--no-require-git", "--no-messages", "--color=never", "--sort=path"])
        .args(arguments)
        .current_dir(dir)
        .stdin(Stdio::null())
        .output()
        .expect("rg starts");
    assert!(
        output.status.code().is_some_and(|code| code < 2),
        "rg {arguments:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    output.stdout
}

/// `path NUL number mark text` lines → (path, number, text, is context).
pub(crate) fn parse(output: &[u8]) -> Vec<(String, u64, String, bool)> {
    let mut lines = Vec::new();
    for line in output.split(|byte| *byte == b'\n') {
        // Others divide groups of lines, or are notes of rg about binary files.
        let is_numbered = |at: &usize| line.get(at + 1).is_some_and(u8::is_ascii_digit);
        let Some(at) = line.iter().position(|byte| *byte == 0).filter(is_numbered) else { continue };
        let path = String::from_utf8(line[..at].to_vec()).unwrap();
        let digits = line[at + 1..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        let number = std::str::from_utf8(&line[at + 1..at + 1 + digits]).unwrap().parse().unwrap();
        let context = line[at + 1 + digits] == b'-';
        let text = String::from_utf8_lossy(&line[at + 2 + digits..]).trim_end_matches('\r').to_owned();
        lines.push((path.trim_start_matches("./").to_owned(), number, text, context));
    }
    lines
}

/// rg shows matches before the first NUL byte of a file; here such a file has no matches.
struct Binary {
    root: PathBuf,
    known: HashMap<String, bool>,
}

impl Binary {
    fn is(&mut self, path: &str) -> bool {
        let root = &self.root;
        *self.known.entry(path.to_owned()).or_insert_with(|| {
            let bytes = fs::read(root.join(path)).unwrap_or_default();
            let utf16 = bytes.starts_with(&[0xFF, 0xFE]) || bytes.starts_with(&[0xFE, 0xFF]);
            !utf16 && bytes.contains(&0)
        })
    }
}

/// A line longer than what is shown is equal when what is shown is a part of it.
fn same_text(shown: &str, line: &str) -> bool {
    shown == line || (line.chars().count() > 200 && line.contains(shown.trim_matches('…')))
}

fn grep(random: &mut Random, h: &Harness, root: &Path, crates: &[String], binary: &mut Binary) {
    let SearchItem { folder, words } = haystack(random, root, crates);
    let multiline = random.one_in(6);
    let (pattern, literal) = pattern(random, &words, multiline);
    let mut ours = json!({"pattern": pattern, "path": folder, "max_results": PAGE});
    let mut theirs: Vec<String> =
        ["-0", "-n", "--no-heading", "--with-filename", "--max-filesize=16M"].map(String::from).to_vec();
    let mut both = |name: &str, value: Value, flags: &[String]| {
        ours[name] = value;
        theirs.extend(flags.iter().cloned());
    };
    if literal {
        both("literal", json!(true), &["-F".into()]);
    }
    if random.one_in(3) {
        both("case_sensitive", json!(true), &[]);
    } else {
        both("case_sensitive", json!(false), &["-i".into()]);
    }
    // Releases of rg differ in what -w means for a pattern that does not begin and end in a word.
    if pattern.chars().all(|character| character.is_alphanumeric() || character == '_') && random.one_in(2) {
        both("word", json!(true), &["-w".into()]);
    }
    if multiline {
        both("multiline", json!(true), &["-U".into(), "--multiline-dotall".into()]);
    }
    if random.one_in(3) {
        let glob = *random.pick(GLOBS);
        // A glob of rg includes ignored files; here it only filters.
        both("glob", json!(glob), &["-g".into(), glob.into(), "--no-ignore".into()]);
        both("no_ignore", json!(true), &[]);
    } else if random.one_in(4) {
        let kind = *random.pick(TYPES);
        both("type", json!(kind), &["-t".into(), kind.into()]);
    }
    let context = if random.one_in(3) { (random.below(4), random.below(4)) } else { (0, 0) };
    both("before", json!(context.0), &[format!("-B{}", context.0)]);
    both("after", json!(context.1), &[format!("-A{}", context.1)]);
    theirs.extend(["-e".to_owned(), pattern.clone(), "./".to_owned()]);

    let mut expected = parse(&rg(&root.join(&folder), &theirs));
    expected.retain(|(path, ..)| !binary.is(&format!("{folder}/{path}")));
    let mut found = Vec::new();
    let mut complete = false;
    for page in 0..PAGES {
        ours["offset"] = json!(page * PAGE);
        let answer = h.call("grep", ours.clone());
        answer.ok();
        let data = answer.structured();
        for file in data["results"].as_array().unwrap() {
            let path = file["path"].as_str().unwrap().strip_prefix(&format!("{folder}/")).unwrap().to_owned();
            for line in file["lines"].as_array().into_iter().flatten() {
                let text = line["text"].as_str().unwrap().to_owned();
                found.push((path.clone(), line["line"].as_u64().unwrap(), text, line["context"].as_bool().unwrap()));
            }
        }
        complete = data["truncated"] == json!(false);
        // Context at the border of two pages is on both.
        if complete || context != (0, 0) {
            break;
        }
        assert!(data["next_offset"] == json!((page + 1) * PAGE) || multiline, "{ours}: {}", answer.text());
    }
    let shown = if complete { expected.len() } else { matching_prefix(&found, &expected) };
    assert_eq!(found.len().min(shown), shown, "grep {ours} in {folder}: found {} of {}", found.len(), expected.len());
    if complete {
        assert_eq!(found.len(), expected.len(), "grep {ours} in {folder}");
    }
    for (one, other) in found.iter().zip(&expected).take(shown) {
        let same = (&one.0, one.1, one.3) == (&other.0, other.1, other.3) && same_text(&one.2, &other.2);
        assert!(same, "grep {ours} in {folder}:\nhere {one:?}\nrg   {other:?}");
    }
}

/// How much of a cut answer must agree: up to its last match, because the context after it may be cut.
fn matching_prefix(found: &[(String, u64, String, bool)], expected: &[(String, u64, String, bool)]) -> usize {
    let last = found.iter().rposition(|line| !line.3).map_or(0, |at| at + 1);
    last.min(expected.len())
}

fn files_or_counts(random: &mut Random, h: &Harness, root: &Path, crates: &[String], binary: &mut Binary) {
    let SearchItem { folder, words } = haystack(random, root, crates);
    let (pattern, literal) = pattern(random, &words, false);
    let counts = random.one_in(2);
    let mode = if counts { "count" } else { "files_with_matches" };
    let ours =
        json!({"pattern": pattern, "path": folder, "literal": literal, "output_mode": mode, "max_results": PAGE});
    let mut theirs: Vec<String> = ["-i", "-0", "--with-filename", "--max-filesize=16M"].map(String::from).to_vec();
    theirs.push(if counts { "-c" } else { "-l" }.to_owned());
    if literal {
        theirs.push("-F".to_owned());
    }
    theirs.extend(["-e".to_owned(), pattern.clone(), "./".to_owned()]);
    let output = rg(&root.join(&folder), &theirs);
    let output = String::from_utf8(output).unwrap();
    // `path NUL count newline` for counts, `path NUL` for files.
    let mut expected: Vec<(String, Option<u64>)> = if counts {
        output
            .lines()
            .map(|line| line.split_once('\0').unwrap())
            .map(|(path, n)| (path.to_owned(), n.parse().ok()))
            .collect()
    } else {
        output.split('\0').filter(|path| !path.is_empty()).map(|path| (path.to_owned(), None)).collect()
    };
    for (path, _) in &mut expected {
        *path = format!("{folder}/{}", path.trim_start_matches("./"));
    }
    expected.retain(|(path, _)| !binary.is(path));
    let answer = h.call("grep", ours.clone());
    answer.ok();
    let found: Vec<(String, Option<u64>)> = answer.structured()["results"]
        .as_array()
        .unwrap()
        .iter()
        .map(|file| (file["path"].as_str().unwrap().to_owned(), file["matches"].as_u64().filter(|_| counts)))
        .collect();
    expected.truncate(PAGE);
    assert_eq!(found, expected, "grep {ours} against rg {theirs:?}");
}

fn glob(random: &mut Random, h: &Harness, root: &Path, crates: &[String]) {
    let SearchItem { folder, words } = haystack(random, root, crates);
    let word = random.pick(&words).clone();
    let shapes = [
        "*.rs".to_owned(),
        "**/*.rs".to_owned(),
        "src/*.rs".to_owned(),
        "src/**/*.rs".to_owned(),
        "*.{rs,toml}".to_owned(),
        "[a-m]*.rs".to_owned(),
        "**/tests/**".to_owned(),
        format!("*{}*", word.chars().take(2).collect::<String>()),
        "Cargo.toml".to_owned(),
        "?????.rs".to_owned(),
        "*/*".to_owned(),
        "**".to_owned(),
        ".*".to_owned(),
    ];
    let pattern = random.pick(&shapes).clone();
    let insensitive = random.one_in(3);
    let ours = json!({
        "pattern": pattern, "path": folder, "sort": "path", "max_results": 1000, "no_ignore": true,
        "case_sensitive": !insensitive,
    });
    let flag = if insensitive { "--iglob" } else { "-g" };
    let theirs: Vec<String> = ["--files", "--no-ignore", flag, &pattern, "./"].map(String::from).to_vec();
    let output = String::from_utf8(rg(&root.join(&folder), &theirs)).unwrap();
    let expected: Vec<String> =
        output.lines().map(|path| format!("{folder}/{}", path.trim_start_matches("./"))).take(1000).collect();
    let answer = h.call("glob", ours.clone());
    answer.ok();
    let found: Vec<String> =
        answer.structured()["paths"].as_array().unwrap().iter().map(|path| path.as_str().unwrap().to_owned()).collect();
    assert_eq!(found, expected, "glob {ours} against rg {theirs:?}");
}

#[test]
fn random_queries_agree_with_rg() {
    if Command::new("rg").arg("--version").stdout(Stdio::null()).status().is_err() {
        assert!(env::var_os("CI").is_none() || is_wine(), "rg is not installed, and CI is set: install ripgrep");
        say("SKIPPED: rg is not installed");
        return;
    }
    let Some(root) = sources() else {
        assert!(env::var_os("CI").is_none(), "no unpacked crates below CARGO_HOME, and CI is set");
        say("SKIPPED: no unpacked crates below CARGO_HOME");
        return;
    };
    if env::var_os(CHECK_OPENS.0).is_none() {
        // The server is in this process, and other tests are not to be slower for it.
        let mut own = Command::new(env::current_exe().unwrap());
        own.envs([CHECK_OPENS]);
        run_again(own, "search::oracle::random_queries_agree_with_rg");
        return;
    }
    let number = |name: &str, default: u64| env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default);
    let queries = number("ORACLE_QUERIES", 200);
    let mut random = Random(number("ORACLE_SEED", 14));

    let mut crates: Vec<String> =
        fs::read_dir(&root).unwrap().flatten().filter_map(|entry| entry.file_name().into_string().ok()).collect();
    crates.sort();
    crates.retain(|name| root.join(name).is_dir());
    let folder: &'static str = Box::leak(root.to_str().unwrap().to_owned().into_boxed_str());
    let mut setup = Setup { roots: vec![(None, folder, Access::ReadOnly)], ..Setup::default() };
    setup.settings.structured_output = true;
    setup.settings.max_output = Some(1 << 20);
    // rg knows neither secrets nor a default ignore list.
    setup.workspace.policy.allow_secret = vec!["**".to_owned()];
    setup.workspace.ignore.no_default = true;
    let h = setup.open();
    let mut binary = Binary { root: root.clone(), known: HashMap::new() };
    for _ in 0..queries {
        match random.below(10) {
            0..=5 => grep(&mut random, &h, &root, &crates, &mut binary),
            6 | 7 => files_or_counts(&mut random, &h, &root, &crates, &mut binary),
            _ => glob(&mut random, &h, &root, &crates),
        }
    }
}

#[expect(clippy::print_stderr, reason = "a skipped test has to say so")]
pub(crate) fn say(text: &str) {
    eprintln!("{text}");
}
