//! A tree that changes at random, and two servers that search it: one with path index and n-gram filter, one without.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::{self, Write as _},
    fs,
    ops::AddAssign,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, SystemTime},
};

use serde_json::{Map, Value, json};
use tempfile::TempDir;
use tree_search::{IndexMode, PathIndex};

use super::{
    listings,
    mapping::Mapper,
    mounts, rg,
    searchers::{Answered, InProcess, Processes, Searchers},
};

/// Words of the contents and of the patterns.
pub(super) const WORDS: &[&str] = &[
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
/// Anchors of patterns.
const ENDS: &[&str] = &[
    "^",
    "$",
    "\\A",
    "\\z",
    "\\b",
    "\\B",
    "(?-u:\\b)",
    "(?-m:^)",
    "(?-m:$)",
    "(?:\\z|$)",
    "(?:\\A|\\s)",
    "\\n?\\z",
    "\\s*\\z",
];
pub(super) const FOLDERS: &[&str] = &["", "src", "src/deep", "src/deep/er", "lib", "build", "docs", "target", "ünder"];
pub(super) const NAMES: &[&str] =
    &["a.rs", "b.rs", "c.py", "d.txt", "e.c", "Makefile", "f.h", "g.md", ".hidden", "h.log", "key.pem"];

/// How often a query is repeated whose answers differ in the counts of ignored files.
const TRIES: usize = 20;
/// What the other one takes at least for a query for which one is out of time.
const SLOW: Duration = Duration::from_secs(5);
/// How an answer says that a query was not finished.
const OUT_OF_TIME: &str = "\ntime limit of ";

/// A small generator with a seed, so that a failure can be repeated (xorshift64*).
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed * 2 + 1)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    pub(super) fn below(&mut self, limit: usize) -> usize {
        usize::try_from((self.next() >> 16) % limit as u64).unwrap()
    }

    pub(super) fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.below(from.len())]
    }

    pub(super) fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }
}

/// Counts of changes and queries.
#[derive(Default)]
pub(super) struct Tally {
    /// Effective changes, by kind.
    pub(super) changes: BTreeMap<&'static str, usize>,
    /// Queries with the same answer from both, by tool and mode.
    pub(super) queries: BTreeMap<String, usize>,
    /// Of these, answered with the index.
    pub(super) listed: usize,
    /// Of these, also compared with rg.
    pub(super) with_rg: usize,
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        for (kind, count) in other.changes {
            *self.changes.entry(kind).or_default() += count;
        }
        for (kind, count) in other.queries {
            *self.queries.entry(kind).or_default() += count;
        }
        self.listed += other.listed;
        self.with_rg += other.with_rg;
    }
}

impl Tally {
    pub(super) fn asked(&self) -> usize {
        self.queries.values().sum()
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (changes, asked): (usize, usize) = (self.changes.values().sum(), self.asked());
        write!(
            f,
            "{changes} changes, {asked} queries ({} from the list, {} compared with rg)",
            self.listed, self.with_rg
        )?;
        let list = |counts: &mut dyn Iterator<Item = (&str, &usize)>| {
            counts.map(|(kind, count)| format!("{kind} {count}")).collect::<Vec<_>>().join(", ")
        };
        write!(f, "\nchanges: {}", list(&mut self.changes.iter().map(|(kind, count)| (*kind, count))))?;
        write!(f, "\nqueries: {}", list(&mut self.queries.iter().map(|(kind, count)| (kind.as_str(), count))))
    }
}

/// Which rules apply to the tree.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Rules {
    /// The default list of what is ignored, and the list of secrets.
    Ours,
    /// Neither, as rg knows neither: answers are compared with rg's, too.
    Rgs,
}

pub(super) struct Comparison {
    pub(super) dir: TempDir,
    pub(super) random: Random,
    pub(super) log: Vec<String>,
    pub(super) mapper: Mapper,
    pub(super) tally: Tally,
    rules: Rules,
    searchers: Searchers,
}

impl Comparison {
    /// Both in this process.
    pub(super) fn new(seed: u64, mode: IndexMode, rules: Rules) -> Self {
        let dir = folders();
        let searchers = Searchers::InProcess(Box::new(InProcess::new(dir.path(), mode, rules)));
        Self::with(dir, seed, rules, searchers)
    }

    /// Processes, with a state folder that outlives them.
    pub(super) fn of_processes(seed: u64, rules: Rules) -> Self {
        let dir = folders();
        let searchers = Searchers::Processes(Box::new(Processes::new(dir.path(), seed, rules)));
        Self::with(dir, seed, rules, searchers)
    }

    /// With another time between two comparisons of the index with the disk.
    pub(super) fn compared_each(mut self, time: Duration) -> Self {
        if let Searchers::InProcess(pair) = &mut self.searchers {
            pair.with.path_index = Arc::new(PathIndex::new(IndexMode::Eager).with_comparisons_each(time));
        }
        self
    }

    fn with(dir: TempDir, seed: u64, rules: Rules, searchers: Searchers) -> Self {
        let (random, mapper) = (Random::new(seed), Mapper::start());
        Self { dir, random, log: Vec::new(), mapper, tally: Tally::default(), rules, searchers }
    }

    fn in_process(&self) -> &InProcess {
        match &self.searchers {
            Searchers::InProcess(pair) => pair,
            Searchers::Processes(_) => panic!("they are in other processes"),
        }
    }

    pub(super) fn processes(&self) -> &Processes {
        match &self.searchers {
            Searchers::InProcess(_) => panic!("they are in this process"),
            Searchers::Processes(processes) => processes,
        }
    }

    /// A tree of some files, indexed.
    pub(super) fn begin(&mut self) {
        for _ in 0..60 {
            let file = self.file();
            self.write(&file);
        }
        self.settle();
    }

    /// Some changes, then some queries.
    pub(super) fn round(&mut self) {
        for _ in 0..=self.random.below(4) {
            self.mutate();
        }
        // The filter may or may not know the changes.
        if self.random.chance(60) {
            self.settle();
        }
        for _ in 0..=self.random.below(5) {
            self.query();
        }
    }

    /// Whether a link of that name makes its target a secret for processes that start later, and not for those that run:
    /// each is right, by the links that it found.
    pub(super) fn is_secret_later(&self, link: &Path) -> bool {
        matches!(self.searchers, Searchers::Processes(_)) && link.extension().is_some_and(|name| name == "pem")
    }

    /// Whether the rules are ours alone.
    pub(super) fn is_ours(&self) -> bool {
        self.rules == Rules::Ours
    }

    pub(super) fn path(&self, relative: &str) -> PathBuf {
        self.dir.path().join("root").join(relative)
    }

    /// Waits for the background work, or does it. Processes do theirs meanwhile, or later.
    pub(super) fn settle(&self) {
        if let Searchers::InProcess(pair) = &self.searchers {
            pair.with.path_index.settle(&pair.with.workspace);
        }
    }

    /// Compares the index with the disk, as the background work does from time to time.
    pub(super) fn verify(&self) {
        let with = &self.in_process().with;
        with.path_index.verify(&with.workspace);
    }

    pub(super) fn content(&mut self) -> Vec<u8> {
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
        let foreign = self.rules == Rules::Ours;
        match self.random.below(24) {
            0 => text.push(0),
            // For rg it is damaged UTF-8.
            1 => text.extend(b"\xC3\xA9".repeat(6).into_iter().chain([0xFF, 0xC5, b'x'])),
            // rg does not treat these as text, or shows them differently.
            5 if foreign => text.extend(b"\nd\xe9j\xe0 vu, the needle of stra\xdfe \xc9\n"),
            6 if foreign => text = b"\x93\xfa\x96\x7b\x8c\xea needle \x82\xb1\x82\xea\x82\xcd kernel\n".repeat(3),
            7 | 8 if foreign => {
                let unit = if self.random.chance(50) { u16::to_le_bytes } else { u16::to_be_bytes };
                let lines =
                    "needle without a mark, \u{e9}t\u{e9}\nkernel\n\u{43f}\u{440}\u{438}\u{432}\u{435}\u{442} TODO\n"
                        .repeat(4);
                text = lines.encode_utf16().flat_map(unit).collect();
            }
            2 => text = "\u{FEFF}needle in UTF-16\nkernel\n".encode_utf16().flat_map(u16::to_le_bytes).collect(),
            3 => text.splice(0..0, *b"\xEF\xBB\xBF").for_each(drop),
            4 => text.extend_from_slice(&vec![b'='; 70_000]),
            _ => {}
        }
        text
    }

    /// The path of a file, which may not exist.
    pub(super) fn file(&mut self) -> PathBuf {
        let folder = self.random.pick(FOLDERS);
        let name = self.random.pick(NAMES);
        self.path(folder).join(name)
    }

    /// Usually sets the time back: the filter skips files that were modified just now.
    pub(super) fn age(&mut self, path: &Path) -> bool {
        let then = SystemTime::now() - Duration::from_secs(3600 + self.random.below(100_000) as u64);
        self.random.chance(70)
            && fs::File::options().write(true).open(path).is_ok_and(|file| file.set_modified(then).is_ok())
    }

    pub(super) fn write(&mut self, path: &Path) -> bool {
        let content = self.content();
        let wrote =
            path.parent().is_some_and(|parent| fs::create_dir_all(parent).is_ok()) && fs::write(path, content).is_ok();
        if wrote {
            self.age(path);
        }
        wrote
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
                4 => pattern.push_str(self.random.pick(ENDS)),
                3 => {
                    let word = regex(self.random.pick(WORDS));
                    let _ = write!(pattern, "(?:{word}){}", self.random.pick(&["?", "+", "*", "{2}", "{1,3}"]));
                }
                _ => pattern.push_str(&regex(self.random.pick(WORDS))),
            }
        }
        self.bounded(pattern)
    }

    /// Sometimes anchored to a line, a word or the file, or across lines.
    fn bounded(&mut self, pattern: String) -> String {
        match self.random.below(16) {
            0 => format!("{}{pattern}", self.random.pick(ENDS)),
            1 | 2 => format!("{pattern}{}", self.random.pick(ENDS)),
            3 => format!("(?-m:^{pattern})"),
            4 => format!("(?-m:{pattern}$)"),
            5 => format!("(?s:{pattern}.{{0,3}}{})", regex(self.random.pick(WORDS))),
            6 => format!("(?:{pattern}|{}{})", regex(self.random.pick(WORDS)), self.random.pick(ENDS)),
            _ => pattern,
        }
    }

    /// One random query.
    pub(super) fn query(&mut self) {
        if self.random.chance(15) {
            let arguments = listings::arguments(&mut self.random);
            self.compare("ls", &arguments);
            return;
        }
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

    /// One call to both servers, and rg.
    pub(super) fn compare(&mut self, tool: &str, arguments: &Map<String, Value>) {
        self.log.push(format!("{tool} {}", Value::Object(arguments.clone())));
        let mut tries = 0;
        let (with, without) = loop {
            let (with, without) = self.searchers.answers(tool, arguments);
            self.tally.listed += usize::from(tries == 0 && with.source == Some(json!("list")));
            // The search of ignored files has a time limit, which a busy machine may reach.
            tries += 1;
            if with.text == without.text || tries == TRIES || shown(&with.text) != shown(&without.text) {
                break (with, without);
            }
        };
        // A pattern that matches the empty string takes that long on a line of 70,000 characters.
        let is_out_of_time = |answer: &Answered| answer.text.contains(OUT_OF_TIME);
        if is_out_of_time(&with) || is_out_of_time(&without) {
            let shorter = with.took.min(without.took);
            assert!(
                shorter > SLOW,
                "only one was out of time: {tool} {}, {shorter:?}",
                Value::Object(arguments.clone())
            );
            *self.tally.queries.entry("not finished".to_owned()).or_default() += 1;
            return;
        }
        // The answer says that the count of ignored files is not exact, where the time was not enough for all.
        let is_inexact = [&with, &without].iter().any(|answer| answer.text.contains("\"exact\":false"));
        if with.text != without.text && (!is_inexact || shown(&with.text) != shown(&without.text)) {
            self.differ("the list and the walk disagree", &[("with", &with.text), ("without", &without.text)]);
        }
        if self.rules == Rules::Rgs && tool != "ls" && !with.text.starts_with("error:") {
            match rg::compare(&self.path(""), tool, arguments, &with.data) {
                rg::Verdict::Same => self.tally.with_rg += 1,
                rg::Verdict::NotComparable => {}
                rg::Verdict::Differs { ours, theirs } => {
                    self.differ("the answer and rg's disagree", &[("here", &ours), ("rg", &theirs)]);
                }
            }
        }
        let mode = arguments.get("output_mode").and_then(Value::as_str).unwrap_or_default();
        *self.tally.queries.entry(format!("{tool} {mode}").trim_end().to_owned()).or_default() += 1;
    }

    /// The texts of the answers to one call, with an index and without.
    pub(super) fn answers(&self, tool: &str, arguments: &Map<String, Value>) -> (String, String) {
        let (with, without) = self.searchers.answers(tool, arguments);
        (with.text, without.text)
    }

    fn differ(&self, what: &str, answers: &[(&str, &str)]) -> ! {
        let log = self.log.iter().rev().take(200).rev().cloned().collect::<Vec<_>>().join("\n");
        let mut out = format!("{what}\n{log}\n");
        for (name, text) in answers {
            let _ = writeln!(out, "--- {name}\n{text}");
        }
        // How the files begin that only one of them has.
        let [one, other] = [0, 1].map(|at| answers[at].1.lines().collect::<BTreeSet<_>>());
        for line in one.symmetric_difference(&other).take(20) {
            let path = self.path(line.split(':').next().unwrap_or_default());
            // A FIFO would have no end.
            if path.is_file()
                && let Ok(bytes) = fs::read(path)
            {
                let _ = writeln!(out, "{line} has {} bytes: {:.300}", bytes.len(), bytes.escape_ascii().to_string());
            }
        }
        panic!("{out}");
    }

    /// The counts that the index gives, which are not promised to be exact.
    pub(super) fn listed(&self, tool: &str, arguments: &Value) -> Answered {
        let pair = self.in_process();
        pair.answer(&pair.with, tool, arguments.as_object().unwrap())
    }

    pub(super) fn report(&self) -> String {
        self.in_process().with.path_index.report().into_iter().map(|(_, words)| words).collect()
    }
}

impl Drop for Comparison {
    fn drop(&mut self) {
        // Else the folder could not be removed.
        for place in mounts::mounted_below(self.dir.path()) {
            mounts::unmount(&["--lazy"], &place);
        }
    }
}

/// A folder with the root, and one outside of it.
fn folders() -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join("root")).unwrap();
    fs::create_dir(dir.path().join("aside")).unwrap();
    dir
}

/// An answer without its notes about ignored files, and about worktrees, which may be in ignored directories.
fn shown(answer: &str) -> String {
    let is_note = |line: &str| line.contains("in ignored files") || line.contains("below not searched");
    let lines = answer.lines().filter(|line| !is_note(line) && !line.starts_with('{'));
    lines.collect::<Vec<_>>().join("\n").trim_end().to_owned()
}

fn regex(word: &str) -> String {
    word.replace('(', "\\(").replace(')', "\\)")
}
