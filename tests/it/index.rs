//! The live list and the filter against the engine without them: after any change that has
//! returned, both must give the same answer.
//!
//! `ROOTBOUND_INDEX_ROUNDS` sets how many rounds of mutations and queries are played (default 40),
//! `ROOTBOUND_INDEX_SEED` which ones.

#![expect(clippy::disallowed_types, reason = "the test changes files behind the server's back")]
#![expect(clippy::print_stderr, reason = "a check says what it skipped and how much it did")]

use std::{
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, SystemTime},
};

use rootbound::{
    search::IndexMode,
    session::{Session, StopSignal},
    tools::{CallContext, Content, Plan, Selection, Settings, Toolbox},
    workspace::{Access, Options, PolicyRules, RootSpec, Workspace},
};
use serde_json::{Map, Value, json};
use tempfile::TempDir;

/// Words of the contents and of the patterns.
const WORDS: &[&str] = &[
    "kernel",
    "driver",
    "Kiss",
    "SKI",
    "needle",
    "module_init",
    "straße",
    "STRASSE",
    "é",
    "É",
    "привет",
    "ПРИВЕТ",
    "\u{212A}elvin",
    "\u{17F}ix",
    "return",
    "0x1f",
    "a",
    "ab",
    "TODO",
    "_x_",
    "日本語",
    "fn main()",
];
const FOLDERS: &[&str] = &["", "src", "src/deep", "src/deep/er", "lib", "build", "docs", "target", "ünder"];
const NAMES: &[&str] =
    &["a.rs", "b.rs", "c.py", "d.txt", "e.c", "Makefile", "f.h", "g.md", ".hidden", "h.log", "key.pem"];

/// How often an answer is asked for again that differs in what ignored files hold.
const TRIES: usize = 20;

/// A small generator with a seed, so that a failure can be played again (xorshift64*).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    fn below(&mut self, limit: usize) -> usize {
        usize::try_from((self.next() >> 16) % limit as u64).unwrap()
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.below(from.len())]
    }

    fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }
}

struct Game {
    dir: TempDir,
    with: CallContext,
    without: CallContext,
    toolbox: Toolbox,
    random: Random,
    log: Vec<String>,
    /// Answers that came from the list.
    listed: usize,
}

impl Game {
    fn new(seed: u64, mode: IndexMode) -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("root")).unwrap();
        fs::create_dir(dir.path().join("aside")).unwrap();
        let spec = RootSpec {
            name: None,
            path: dir.path().join("root"),
            access: Access::ReadWrite,
            policy: PolicyRules::default(),
        };
        let workspace = Arc::new(Workspace::open(&[spec], Options::default()).unwrap().workspace);
        let settings = Arc::new(Settings { search_threads: Some(2), ..Settings::default() });
        let context = |mode| CallContext {
            workspace: Arc::clone(&workspace),
            session: Arc::new(Session::new(None).index(mode)),
            settings: Arc::clone(&settings),
            stop: StopSignal::after(Duration::from_secs(24 * 3600)),
            progress: None,
        };
        let (with, without) = (context(mode), context(IndexMode::Off));
        let toolbox = Toolbox::new(&Selection::default());
        Self { dir, with, without, toolbox, random: Random(seed * 2 + 1), log: Vec::new(), listed: 0 }
    }

    fn path(&self, relative: &str) -> PathBuf {
        self.dir.path().join("root").join(relative)
    }

    fn settle(&self) {
        self.with.session.live.settle(&self.with.workspace);
    }

    fn content(&mut self) -> Vec<u8> {
        let mut text = Vec::new();
        let lines = match self.random.below(20) {
            0 => 0,
            1 => 3000,
            2..5 => 300,
            _ => 12,
        };
        for _ in 0..self.random.below(lines + 1) {
            for _ in 0..self.random.below(6) {
                let word = self.random.pick(WORDS);
                text.extend_from_slice(word.as_bytes());
                text.extend_from_slice(self.random.pick(&[" ", "", "\t", ";"]).as_bytes());
            }
            text.extend_from_slice(self.random.pick(&["\n", "\n", "\n", "\r\n", ""]).as_bytes());
        }
        match self.random.below(24) {
            0 => text.push(0),
            1 => text.extend([0xFF, 0xC5, b'x']),
            2 => text = "\u{FEFF}needle in UTF-16\nkernel\n".encode_utf16().flat_map(u16::to_le_bytes).collect(),
            3 => text.splice(0..0, *b"\xEF\xBB\xBF").for_each(drop),
            4 => text.extend_from_slice(&vec![b'='; 70_000]),
            _ => {}
        }
        text
    }

    /// A file that is there, or a place for one.
    fn file(&mut self) -> PathBuf {
        let folder = self.random.pick(FOLDERS);
        let name = self.random.pick(NAMES);
        self.path(folder).join(name)
    }

    fn age(&mut self, path: &Path) {
        // The filter leaves files alone that were modified just now.
        if self.random.chance(70) {
            let then = SystemTime::now() - Duration::from_secs(3600 + self.random.below(100_000) as u64);
            if let Ok(file) = fs::File::options().write(true).open(path) {
                let _ = file.set_modified(then);
            }
        }
    }

    fn write(&mut self, path: &Path) {
        let content = self.content();
        if path.parent().is_some_and(|parent| fs::create_dir_all(parent).is_ok()) && fs::write(path, content).is_ok() {
            self.age(path);
        }
    }

    /// One change; it may come to nothing.
    fn mutate(&mut self) {
        let (file, other) = (self.file(), self.file());
        let folder = self.random.pick(&FOLDERS[1..]);
        let folder = self.path(folder);
        let kind = self.random.below(24);
        self.log.push(format!("change {kind} {} {} {}", file.display(), other.display(), folder.display()));
        match kind {
            0..5 => self.write(&file),
            5 => {
                use std::io::Write as _;
                if let Ok(mut open) = fs::File::options().append(true).open(&file) {
                    open.write_all(b"\nneedle appended kernel\n").unwrap();
                    self.age(&file);
                }
            }
            6 => {
                if let Ok(open) = fs::File::options().write(true).open(&file) {
                    let length = open.metadata().unwrap().len();
                    open.set_len(length / 2).unwrap();
                    self.age(&file);
                }
            }
            7 => {
                // The same size and the same time of modification.
                if let (Ok(bytes), Ok(meta)) = (fs::read(&file), fs::metadata(&file)) {
                    let other: Vec<u8> = bytes.iter().map(|byte| if *byte == b'e' { b'i' } else { *byte }).collect();
                    fs::write(&file, other).unwrap();
                    let open = fs::File::options().write(true).open(&file).unwrap();
                    open.set_modified(meta.modified().unwrap()).unwrap();
                }
            }
            8 => drop(fs::rename(&file, &other)),
            9 => {
                let target = self.random.pick(&["moved", "lib/moved", "src/moved", "docs"]);
                let _ = fs::rename(&folder, self.path(target));
            }
            10 => drop(fs::remove_file(&file)),
            11 => drop(fs::remove_dir_all(&folder)),
            12 => {
                let moved = self.path("moved");
                let _ = fs::rename(moved, &folder);
            }
            13 => self.age(&file),
            14 => {
                // Another name beside it, and a write through that. (Where the other name is in no
                // folder that is looked at, nothing tells of it: see `workspace::watch`.)
                let other = file.with_extension("link");
                let _ = fs::hard_link(&file, &other);
                if let Ok(open) = fs::File::options().write(true).open(&other) {
                    use std::os::unix::fs::FileExt as _;
                    let _ = open.write_at(b"needle KERNEL ", 3);
                }
            }
            15 => {
                let rules = self.random.pick(&["*.rs\n", "deep\n", "/src\n", "!*.log\n*.txt\n", "", "a.*\n!a.rs\n"]);
                let name = self.random.pick(&[".gitignore", ".ignore"]);
                let place = if self.random.chance(50) { self.path("") } else { folder };
                let _ = fs::write(place.join(name), rules);
            }
            16 => {
                let name = self.random.pick(&[".gitignore", ".ignore", "CACHEDIR.TAG", "Cargo.toml", "package.json"]);
                let place = if self.random.chance(50) { self.path("") } else { folder };
                let _ = fs::remove_file(place.join(name));
            }
            17 => {
                let name = self.random.pick(&["CACHEDIR.TAG", "Cargo.toml", "package.json"]);
                let place = if self.random.chance(50) { self.path("") } else { folder };
                let _ = fs::write(place.join(name), "x");
            }
            18 => {
                use std::os::unix::fs::PermissionsExt as _;
                let mode = if self.random.chance(50) { 0o000 } else { 0o755 };
                let what = if self.random.chance(50) { file } else { folder };
                let _ = fs::set_permissions(what, fs::Permissions::from_mode(mode));
            }
            19 => {
                // Replaced at once, as editors do.
                let temporary = file.with_extension("tmp");
                self.write(&temporary);
                let _ = fs::rename(&temporary, &file);
            }
            20 => {
                let _ = fs::remove_file(&file);
                let _ = std::os::unix::fs::symlink(&other, &file);
            }
            21 => {
                // A folder swapped for another one.
                let (aside, kept) = (self.dir.path().join("aside/folder"), self.dir.path().join("aside/kept"));
                fs::create_dir_all(&aside).unwrap();
                let content = self.content();
                fs::write(aside.join(self.random.pick(NAMES)), content).unwrap();
                if fs::rename(&folder, &kept).is_ok() {
                    let _ = fs::rename(&aside, &folder);
                    let _ = fs::remove_dir_all(&kept);
                }
            }
            22 => {
                let place = if self.random.chance(50) { self.path("") } else { folder };
                let rules = self.random.pick(&["*.py\n", "lib\n", ""]);
                if self.random.chance(70) {
                    let _ = fs::create_dir_all(place.join(".git/info"));
                    let _ = fs::write(place.join(".git/info/exclude"), rules);
                } else {
                    let _ = fs::remove_dir_all(place.join(".git"));
                }
            }
            _ => {
                // Open for writing, and still open when the next query comes: closed after it.
                if let Ok(open) = fs::File::options().write(true).open(&file) {
                    use std::os::unix::fs::FileExt as _;
                    let _ = open.write_at("É module_init".as_bytes(), 1);
                    self.query();
                    let _ = open.write_at(b"needle", 0);
                }
            }
        }
    }

    fn pattern(&mut self) -> String {
        let mut pattern = String::new();
        for _ in 0..=self.random.below(3) {
            match self.random.below(12) {
                0 => {
                    pattern.push_str(self.random.pick(&[
                        "[kK]",
                        "\\w+",
                        "[a-f]{2,3}",
                        ".",
                        ".*",
                        "\\s",
                        "\\d",
                        "[^x]",
                    ]));
                }
                1 => {
                    let (one, other) = (self.random.pick(WORDS), self.random.pick(WORDS));
                    let _ = write!(pattern, "({}|{})", regex(one), regex(other));
                }
                2 => pattern.push_str(self.random.pick(&["^", "$", "\\b", "(?:)", "\\n", "(?-i:K)", "(?i)ß"])),
                3 => {
                    let word = regex(self.random.pick(WORDS));
                    let _ = write!(pattern, "(?:{word}){}", self.random.pick(&["?", "+", "*", "{2}", "{1,3}"]));
                }
                _ => pattern.push_str(&regex(self.random.pick(WORDS))),
            }
        }
        pattern
    }

    fn query(&mut self) {
        let mut arguments = Map::new();
        let mut put = |key: &str, value: Value| {
            arguments.insert(key.to_owned(), value);
        };
        let glob = self.random.chance(25);
        if glob {
            put(
                "pattern",
                json!(self.random.pick(&["**/*", "*.rs", "src/**", "**/[a-d]*", "*.{py,txt}", ".*", "deep"])),
            );
            put("include_dirs", json!(self.random.chance(30)));
            put("sort", json!(self.random.pick(&["path", "modified"])));
        } else {
            let literal = self.random.chance(30);
            let pattern = if literal { self.random.pick(WORDS).to_owned() } else { self.pattern() };
            put("pattern", json!(pattern));
            put("literal", json!(literal));
            put("case_sensitive", json!(self.random.chance(30)));
            put("word", json!(self.random.chance(10)));
            put("multiline", json!(self.random.chance(15) || (!literal && pattern.contains("\\n"))));
            put("output_mode", json!(self.random.pick(&["content", "files_with_matches", "count"])));
            if self.random.chance(15) {
                put("glob", json!(self.random.pick(&["*.rs", "!*.rs", "src/**", "*.{c,h}", "!src"])));
            }
            if self.random.chance(10) {
                put("type", json!(self.random.pick(&["rust", "py", "c", "md"])));
            }
            if self.random.chance(10) {
                put("context", json!(2));
            }
        }
        if self.random.chance(20) {
            put("path", json!(self.random.pick(&["src", "src/deep", "lib", "build", "nowhere", "src/a.rs"])));
        }
        if self.random.chance(15) {
            put("no_ignore", json!(true));
        }
        if self.random.chance(20) {
            put("max_results", json!(self.random.below(8) + 1));
            put("offset", json!(self.random.below(5)));
        }
        let tool = if glob { "glob" } else { "grep" };
        self.compare(tool, &arguments);
    }

    /// Both engines on one call.
    fn compare(&mut self, tool: &str, arguments: &Map<String, Value>) {
        self.log.push(format!("{tool} {}", Value::Object(arguments.clone())));
        let mut tries = 0;
        let (with, without) = loop {
            let (with, source) = self.answer(&self.with, tool, arguments);
            let (without, _) = self.answer(&self.without, tool, arguments);
            self.listed += usize::from(tries == 0 && source == Some(json!("list")));
            // A look into ignored files may be cut short by its clock, on a busy machine.
            tries += 1;
            if with == without || tries == TRIES || shown(&with) != shown(&without) {
                break (with, without);
            }
        };
        if with != without {
            let log = self.log.iter().rev().take(200).rev().cloned().collect::<Vec<_>>().join("\n");
            panic!("the list and the walk disagree\n{log}\n--- with\n{with}\n--- without\n{without}");
        }
    }

    /// Text and facts of an answer, and where its names came from.
    fn answer(&self, cx: &CallContext, tool: &str, arguments: &Map<String, Value>) -> (String, Option<Value>) {
        let entry = self.toolbox.entries().iter().find(|entry| entry.spec.name == tool).unwrap();
        let answer = match entry.plan(cx, arguments.clone()) {
            Ok(Plan::Answer(answer)) => answer,
            Ok(Plan::Change(_)) => panic!("{tool} changes nothing"),
            Err(error) => return (format!("error: {error:?}"), None),
        };
        let text = answer.content.into_iter().map(|content| match content {
            Content::Text(text) => text,
            Content::Image { .. } => String::new(),
        });
        let mut facts = answer.facts;
        facts.remove("elapsed_ms");
        let source = facts.remove("source");
        if facts.get("complete") == Some(&json!(false)) {
            // Counted as far as the search went, which is a little beyond what is shown.
            facts.remove("matches");
        }
        (format!("{}\n{}", text.collect::<String>(), Value::Object(facts)), source)
    }

    fn report(&self) -> String {
        self.with.session.live.report().into_iter().map(|(_, words)| words).collect()
    }
}

/// An answer without what it says of ignored files.
fn shown(answer: &str) -> String {
    let lines = answer.lines().filter(|line| !line.contains("in ignored files") && !line.starts_with('{'));
    lines.collect::<Vec<_>>().join("\n").trim_end().to_owned()
}

fn regex(word: &str) -> String {
    word.replace('(', "\\(").replace(')', "\\)")
}

/// Whether lists can be had where the temporary folders are.
fn listed(report: &str) -> bool {
    if report.starts_with("listed") {
        return true;
    }
    assert!(report.contains("does not tell of every change"), "no list: {report}");
    eprintln!("SKIPPED: {report}");
    false
}

fn number(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(otherwise)
}

#[test]
fn the_list_and_the_filter_never_change_an_answer() {
    let rounds = number("ROOTBOUND_INDEX_ROUNDS", 40);
    let seed = number("ROOTBOUND_INDEX_SEED", 0x5EED_0001);
    let mut game = Game::new(seed, IndexMode::Eager);
    for _ in 0..60 {
        let file = game.file();
        game.write(&file);
    }
    game.settle();
    if !listed(&game.report()) {
        return;
    }
    let (mut changes, mut queries) = (0, 0);
    for _ in 0..rounds {
        for _ in 0..=game.random.below(4) {
            game.mutate();
            changes += 1;
        }
        // Sometimes the filter has seen the changes, sometimes not.
        if game.random.chance(60) {
            game.settle();
        }
        for _ in 0..=game.random.below(5) {
            game.query();
            queries += 1;
        }
    }
    eprintln!("{changes} changes, {queries} queries, {} from the list; {}", game.listed, game.report());
    assert!(game.listed * 2 > queries, "only {} of {queries} queries used the list", game.listed);
}

#[test]
fn a_file_that_the_filter_refuses_is_found_once_it_changes() {
    let mut game = Game::new(1, IndexMode::Eager);
    for number in 0..50 {
        let path = game.path(&format!("file{number}.txt"));
        fs::write(&path, "nothing of interest here\n".repeat(50)).unwrap();
        let open = fs::File::options().write(true).open(&path).unwrap();
        open.set_modified(SystemTime::now() - Duration::from_secs(3600)).unwrap();
    }
    game.settle();
    if !listed(&game.report()) {
        return;
    }
    assert!(game.report().contains("50 files, 50 in the filter"), "{}", game.report());
    let grep = json!({ "pattern": "haystack_needle" }).as_object().unwrap().clone();
    game.compare("grep", &grep);
    let path = game.path("file7.txt");
    let before = fs::metadata(&path).unwrap().modified().unwrap();
    let mut bytes = fs::read(&path).unwrap();
    bytes[..15].copy_from_slice(b"haystack_needle");
    fs::write(&path, bytes).unwrap();
    fs::File::options().write(true).open(&path).unwrap().set_modified(before).unwrap();
    game.compare("grep", &grep);
    assert_eq!(game.listed, 2);
}

#[test]
fn a_large_tree_is_listed_after_its_first_search() {
    let mut game = Game::new(1, IndexMode::Auto);
    for folder in 0..30 {
        fs::create_dir(game.path(&format!("folder{folder}"))).unwrap();
        for file in 0..70 {
            fs::write(game.path(&format!("folder{folder}/{file}.txt")), "some words\n").unwrap();
        }
    }
    let grep = json!({ "pattern": "word", "output_mode": "count" }).as_object().unwrap().clone();
    game.compare("grep", &grep);
    assert_eq!(game.listed, 0);
    // Waits for the background, or does its work.
    game.settle();
    if !listed(&game.report()) {
        return;
    }
    game.compare("grep", &grep);
    let glob = json!({ "pattern": "**/1*.txt" }).as_object().unwrap().clone();
    game.compare("glob", &glob);
    assert_eq!(game.listed, 2);
}

#[test]
fn a_small_tree_is_walked() {
    let mut game = Game::new(1, IndexMode::Auto);
    fs::write(game.path("only.txt"), "some words\n").unwrap();
    let grep = json!({ "pattern": "word" }).as_object().unwrap().clone();
    game.compare("grep", &grep);
    game.settle();
    game.compare("grep", &grep);
    assert_eq!(game.listed, 0);
}
