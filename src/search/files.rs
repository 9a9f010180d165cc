//! Which names a search is about: the `glob` pattern, and grep's `glob` and `type` filters.
//!
//! Pure matching of paths relative to where a search starts, on ripgrep's own matchers. Filters
//! only narrow: unlike `rg -g`, a glob never brings back what the ignore rules leave out.

use std::{
    cmp::Reverse,
    collections::BinaryHeap,
    fmt,
    path::{Path, PathBuf},
    time::SystemTime,
};

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use ignore::{
    overrides::{Override, OverrideBuilder},
    types::{FileTypeDef, Types, TypesBuilder},
};

use crate::text::nearest_name::{ONE_OF_FEW, nearest_names};

use super::{literal, wide::Coding};

/// Why a glob cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GlobError {
    /// Nothing was given.
    Empty,
    /// Longer than the limit, in bytes.
    TooLong {
        /// Bytes given.
        length: usize,
        /// Bytes allowed.
        limit: usize,
    },
    /// It has a `..` component.
    LeavesRoot,
    /// Not a glob, or too big when compiled.
    Syntax(String),
}

impl fmt::Display for GlobError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("it is empty"),
            Self::TooLong { length, limit } => write!(f, "it has {length} bytes, more than {limit}"),
            Self::LeavesRoot => f.write_str("`..` leaves the root"),
            Self::Syntax(reason) => f.write_str(reason),
        }
    }
}

/// Why a filter cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FilterError {
    /// One of the globs.
    Glob {
        /// As it was given.
        glob: String,
        /// What is wrong with it.
        error: GlobError,
    },
    /// A file type that ripgrep does not know.
    Type {
        /// As it was given.
        name: String,
        /// The most similar known types, the best first.
        nearest: Vec<String>,
    },
}

/// The pattern of the glob tool.
#[derive(Clone, Debug)]
pub struct NameGlob {
    matcher: Matcher,
}

#[derive(Clone, Debug)]
enum Matcher {
    /// `**/*` and these bytes, none of which means anything but itself: any path that ends in them.
    /// By far the commonest pattern, and the compiled glob would look for the name in each path first.
    Ending(String),
    Any {
        set: GlobSet,
        /// For names beyond ASCII, where they need it.
        wide: Option<(Coding, GlobSet)>,
    },
}

impl NameGlob {
    /// Compiles `pattern`: globset syntax, `*` stops at `/`, a pattern without `/` matches at any depth.
    /// A leading `./` or `/` is dropped; a trailing `/` stands for everything below. What is the name of a
    /// file as well finds it, too. `longest` is in bytes: braces become alternations, which are never
    /// expanded, so it bounds the compiled size too.
    ///
    /// # Errors
    /// When it is empty, too long, leaves the root or is not a glob.
    pub fn compile(pattern: &str, case_sensitive: bool, longest: usize) -> Result<Self, GlobError> {
        bounded(pattern, longest)?;
        let pattern = without_root(pattern)?;
        let anchored = anchored(pattern);
        if let Some(ending) = anchored.strip_prefix("**/*").filter(|_| case_sensitive)
            && !ending.is_empty()
            && !ending.contains(['*', '?', '[', ']', '{', '}', ',', '!', '\\', '/'])
        {
            return Ok(Self { matcher: Matcher::Ending(ending.to_owned()) });
        }
        glob_set([anchored.as_str()], case_sensitive)?;
        Self::of(&anchored, literal::readings(pattern).iter().map(|reading| self::anchored(reading)), case_sensitive)
    }

    /// As [`Self::compile`], for a pattern that is a name and nothing else.
    ///
    /// # Errors
    /// As there.
    pub fn literal(name: &str, case_sensitive: bool, longest: usize) -> Result<Self, GlobError> {
        bounded(name, longest)?;
        let anchored = anchored(&literal::escaped(without_root(name)?));
        Self::of(&anchored, [anchored.clone()].into_iter(), case_sensitive)
    }

    /// Any of `readings`; `anchored` is the first of them.
    fn of(anchored: &str, readings: impl Iterator<Item = String>, case_sensitive: bool) -> Result<Self, GlobError> {
        let readings: Vec<String> = readings.filter(|glob| glob_set([glob.as_str()], case_sensitive).is_ok()).collect();
        let set = glob_set(readings.iter().map(String::as_str), case_sensitive)?;
        let wide = Coding::of(anchored, !case_sensitive).and_then(|coding| {
            // What is a range of characters and none of bytes (`[a-é]`) stays one of bytes.
            let coded: Vec<String> = readings.iter().map(|glob| coding.pattern(glob)).collect();
            let set = glob_set(coded.iter().map(String::as_str), case_sensitive).ok()?;
            Some((coding, set))
        });
        Ok(Self { matcher: Matcher::Any { set, wide } })
    }

    /// Whether a path relative to the start matches.
    pub fn matches(&self, relative: &Path) -> bool {
        match &self.matcher {
            Matcher::Ending(ending) => relative.as_os_str().as_encoded_bytes().ends_with(ending.as_bytes()),
            Matcher::Any { set, wide } => {
                match wide.as_ref().and_then(|(coding, set)| Some((coding.path(relative)?, set))) {
                    Some((path, set)) => set.is_match(path),
                    None => set.is_match(relative),
                }
            }
        }
    }
}

/// The pattern below the root, which a leading `/` or `./` stands for.
fn without_root(pattern: &str) -> Result<&str, GlobError> {
    let mut pattern = pattern.trim();
    while let Some(rest) = pattern.strip_prefix("./").or_else(|| pattern.strip_prefix('/')) {
        pattern = rest;
    }
    if pattern.is_empty() || pattern == "." { Err(GlobError::Empty) } else { Ok(pattern) }
}

/// The glob for whole paths: a bare name is one at any depth, a folder stands for what it holds.
fn anchored(pattern: &str) -> String {
    match pattern.strip_suffix('/') {
        Some(folder) => format!("{}/**", folder.trim_end_matches('/')),
        None if pattern.contains('/') => pattern.to_owned(),
        None => format!("**/{pattern}"),
    }
}

fn glob_set<'g>(globs: impl IntoIterator<Item = &'g str>, case_sensitive: bool) -> Result<GlobSet, GlobError> {
    let mut set = GlobSetBuilder::new();
    for glob in globs {
        let glob = GlobBuilder::new(glob)
            .literal_separator(true)
            .backslash_escape(true)
            .empty_alternates(true)
            .case_insensitive(!case_sensitive)
            .build()
            .map_err(|error| GlobError::Syntax(error.kind().to_string()))?;
        set.add(glob);
    }
    let set = set.build();
    set.map_err(|_| GlobError::Syntax("it is too large when compiled".to_owned()))
}

/// The directory that a pattern names before its first metacharacter, and the pattern below it:
/// `/mnt/ws/src/**/*.rs` → (`/mnt/ws/src`, `**/*.rs`). `None` where the first component already
/// is a pattern or there is only one.
pub fn literal_prefix(pattern: &str) -> Option<(&str, &str)> {
    let special = pattern.find(['*', '?', '[', '{', '\\']).unwrap_or(pattern.len());
    let cut = pattern[..special].rfind('/')?;
    (cut > 0).then(|| (&pattern[..cut], &pattern[cut + 1..]))
}

fn bounded(glob: &str, longest: usize) -> Result<(), GlobError> {
    if glob.len() > longest {
        return Err(GlobError::TooLong { length: glob.len(), limit: longest });
    }
    // Braces may hide a component: `{..,a}/x`.
    if glob.split(['/', '{', '}', ',']).any(|part| part == "..") {
        return Err(GlobError::LeavesRoot);
    }
    Ok(())
}

/// grep's `glob` and `type`: which files are searched.
#[derive(Clone, Debug, Default)]
pub struct FileFilter {
    globs: Option<Override>,
    /// For names beyond ASCII, where they need it.
    wide: Option<(Coding, Override)>,
    types: Option<Types>,
    /// The last parent asked about and whether a `!` glob excludes it: names come in path order.
    last: Option<(PathBuf, bool)>,
}

impl FileFilter {
    /// Reads `glob` (as `rg -g`; several by commas, `!` excludes; at most `longest` bytes) and `kind`
    /// (as `rg -t`).
    ///
    /// # Errors
    /// Naming the glob or type that cannot be used.
    pub fn new(glob: Option<&str>, kind: Option<&str>, longest: usize) -> Result<Self, FilterError> {
        let globs = glob.map(|glob| overrides(glob, longest)).transpose()?.filter(|globs| !globs.is_empty());
        let types = kind.map(file_types).transpose()?.filter(|types| !types.is_empty());
        let wide = glob.and_then(|glob| {
            let coding = Coding::of(glob, false)?;
            let globs = overrides(&coding.pattern(glob), longest).ok()?;
            Some((coding, globs))
        });
        Ok(Self { globs, wide, types, last: None })
    }

    /// As [`Self::new`], for a glob that is the name of a file and nothing else.
    ///
    /// # Errors
    /// As there.
    pub fn literal(name: &str, kind: Option<&str>, longest: usize) -> Result<Self, FilterError> {
        Self::new(Some(&literal::escaped(name.trim())), kind, longest)
    }

    /// Whether every file is searched.
    pub fn admits_all(&self) -> bool {
        self.types.is_none() && self.globs.is_none()
    }

    /// Whether the file at `relative` (to the start of the search) is searched.
    pub fn admits(&mut self, relative: &Path) -> bool {
        if self.types.as_ref().is_some_and(|types| types.matched(relative, false).is_ignore()) {
            return false;
        }
        let Some(globs) = &self.globs else { return true };
        let coded = self.wide.as_ref().and_then(|(coding, globs)| Some((coding.path(relative)?, globs)));
        let (relative, globs) = coded.as_ref().map_or((relative, globs), |(path, globs)| (path.as_path(), *globs));
        if globs.matched(relative, false).is_ignore() {
            return false;
        }
        if globs.num_ignores() == 0 {
            return true;
        }
        // `!vendor` leaves out everything below a folder of that name, as ripgrep never enters it.
        let Some(parent) = relative.parent() else { return true };
        if let Some((known, excluded)) = &self.last
            && known == parent
        {
            return !excluded;
        }
        let excluded = parent
            .ancestors()
            .filter(|folder| !folder.as_os_str().is_empty())
            .any(|folder| globs.matched(folder, true).is_ignore());
        self.last = Some((parent.to_owned(), excluded));
        !excluded
    }
}

fn overrides(glob: &str, longest: usize) -> Result<Override, FilterError> {
    let wrong = |one: &str, error| FilterError::Glob { glob: one.to_owned(), error };
    bounded(glob, longest).map_err(|error| wrong(glob, error))?;
    let mut builder = OverrideBuilder::new(".");
    for one in split_globs(glob) {
        let (not, mut plain) = one.strip_prefix('!').map_or(("", one), |rest| ("!", rest));
        while let Some(rest) = plain.strip_prefix("./") {
            plain = rest;
        }
        for (index, reading) in literal::readings(plain).iter().enumerate() {
            match builder.add(&format!("{not}{reading}")) {
                Err(error) if index == 0 => return Err(wrong(one, GlobError::Syntax(reason(&error)))),
                _ => {}
            }
        }
    }
    // A name may hold what several globs are split at.
    if glob.contains(',') && !glob.starts_with('!') {
        let _ = builder.add(&literal::escaped(glob.trim_start_matches("./")));
    }
    builder.build().map_err(|error| wrong(glob, GlobError::Syntax(reason(&error))))
}

/// The part of an `ignore` error that is about the glob.
fn reason(error: &ignore::Error) -> String {
    match error {
        ignore::Error::Glob { err, .. } => err.clone(),
        ignore::Error::WithPath { err, .. }
        | ignore::Error::WithLineNumber { err, .. }
        | ignore::Error::WithDepth { err, .. } => reason(err),
        other => other.to_string(),
    }
}

/// Splits at commas outside braces and brackets: `*.ts,*.{js,jsx}` is two globs.
fn split_globs(globs: &str) -> Vec<&str> {
    let (mut parts, mut start, mut braces, mut class, mut escaped) = (Vec::new(), 0, 0_usize, false, false);
    for (at, byte) in globs.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'[' if !class => class = true,
            b']' => class = false,
            b'{' if !class => braces += 1,
            b'}' if !class => braces = braces.saturating_sub(1),
            b',' if braces == 0 && !class => {
                parts.push(&globs[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&globs[start..]);
    parts.into_iter().map(str::trim).filter(|part| !part.is_empty()).collect()
}

fn file_types(names: &str) -> Result<Types, FilterError> {
    let mut builder = TypesBuilder::new();
    builder.add_defaults();
    for name in names.split(',').map(|name| name.trim().trim_start_matches('.')).filter(|name| !name.is_empty()) {
        let definitions = builder.definitions();
        let known = |wanted: &str| definitions.iter().any(|known| known.name() == wanted);
        let lower = name.to_lowercase();
        // ripgrep reads `all` as every type, which is what it searches when a type is known.
        if !known(&lower) && lower != "all" {
            return Err(unknown_type(name, &lower, &definitions));
        }
        builder.select(&lower);
    }
    builder.build().map_err(|_| FilterError::Type { name: names.to_owned(), nearest: Vec::new() })
}

fn unknown_type(name: &str, lower: &str, definitions: &[FileTypeDef]) -> FilterError {
    // A file extension is the commonest slip: `rs` for `rust`.
    let extension = format!("*.{lower}");
    let of_extension = definitions.iter().filter(|known| known.globs().contains(&extension)).map(FileTypeDef::name);
    let similar = nearest_names(lower, definitions.iter().map(FileTypeDef::name), ONE_OF_FEW);
    let mut nearest: Vec<String> = Vec::new();
    for known in of_extension.chain(similar) {
        if nearest.len() < 3 && !nearest.iter().any(|other| other == known) {
            nearest.push(known.to_owned());
        }
    }
    FilterError::Type { name: name.to_owned(), nearest }
}

/// The `limit` newest of what is pushed, ties by the item's own order; holds no more than that.
#[derive(Debug)]
pub struct Newest<T: Ord> {
    heap: BinaryHeap<(Reverse<Option<SystemTime>>, T)>,
    limit: usize,
    seen: usize,
}

impl<T: Ord> Newest<T> {
    /// Keeps at most `limit` items.
    pub fn new(limit: usize) -> Self {
        Self { heap: BinaryHeap::new(), limit, seen: 0 }
    }

    /// Offers an item.
    pub fn push(&mut self, modified: Option<SystemTime>, item: T) {
        self.seen += 1;
        self.heap.push((Reverse(modified), item));
        if self.heap.len() > self.limit {
            self.heap.pop();
        }
    }

    /// Offers an item that comes after all others in their own order: made only when it is kept.
    pub fn push_next(&mut self, modified: Option<SystemTime>, item: impl FnOnce() -> T) {
        let kept =
            self.heap.len() < self.limit || self.heap.peek().is_some_and(|(Reverse(oldest), _)| modified > *oldest);
        if kept {
            self.push(modified, item());
        } else {
            self.seen += 1;
        }
    }

    /// How many items were offered.
    pub fn seen(&self) -> usize {
        self.seen
    }

    /// What was kept, the newest first.
    pub fn into_sorted(self) -> Vec<T> {
        self.heap.into_sorted_vec().into_iter().map(|(_, item)| item).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const LONGEST: usize = 1 << 10;

    fn globs(pattern: &str, path: &str) -> bool {
        NameGlob::compile(pattern, true, LONGEST).unwrap().matches(Path::new(path))
    }

    fn admits(glob: Option<&str>, kind: Option<&str>, path: &str) -> bool {
        FileFilter::new(glob, kind, LONGEST).unwrap().admits(Path::new(path))
    }

    #[test]
    fn a_pattern_without_a_slash_matches_at_any_depth() {
        assert!(globs("*.rs", "a.rs") && globs("*.rs", "src/deep/a.rs") && globs("Makefile", "sub/Makefile"));
        assert!(!globs("*.rs", "a.rs.bak"));
    }

    #[test]
    fn a_pattern_with_a_slash_is_anchored_and_a_star_stops_at_slashes() {
        assert!(globs("src/*.rs", "src/a.rs") && !globs("src/*.rs", "src/b/a.rs") && !globs("src/*.rs", "x/src/a.rs"));
        assert!(globs("src/**/*.rs", "src/a.rs") && globs("src/**/*.rs", "src/b/c/a.rs"));
        assert!(globs("**/*.{ts,tsx}", "a/b.tsx") && globs("[ab].txt", "x/b.txt") && globs("x{,y}", "x"));
    }

    #[test]
    fn a_question_mark_and_a_class_stand_for_one_character_of_any_script() {
        for (pattern, path, expected) in [
            ("?.txt", "é.txt", true),
            ("?.txt", "日.txt", true),
            ("?.txt", "\u{1f600}.txt", true),
            ("?.txt", "a.txt", true),
            ("?.txt", "éé.txt", false),
            ("?.txt", "é\u{b7}.txt", false),
            ("??.txt", "é.txt", false),
            ("[é日].txt", "日.txt", true),
            ("[é日].txt", "本.txt", false),
            ("[!é].txt", "ü.txt", true),
            ("[!é].txt", "é.txt", false),
            ("[à-ü]x", "éx", true),
            ("[à-ü]x", "őx", false),
            ("größe?/*.[ch]", "größe1/ä.c", true),
            ("größe?/*.[ch]", "grüße1/ä.c", false),
            ("{?,日本}.md", "語.md", true),
            ("{?,日本}.md", "日本.md", true),
        ] {
            assert_eq!(globs(pattern, path), expected, "{pattern} {path}");
            assert_eq!(admits(Some(pattern), None, path), expected, "grep {pattern} {path}");
        }
        assert!(!admits(Some("!?"), None, "é/ab") && admits(Some("!?"), None, "éé/ab"));
        let loose =
            |pattern: &str, path: &str| NameGlob::compile(pattern, false, LONGEST).unwrap().matches(Path::new(path));
        assert!(loose("ÉCOLE*", "école.txt") && loose("?COLE", "École") && !loose("ÉCOLE*", "ecole"));
        #[cfg(unix)]
        {
            let name = <std::ffi::OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(b"\xff.txt");
            assert!(
                NameGlob::compile("?.txt", true, LONGEST).unwrap().matches(Path::new(name)),
                "a byte that is no text"
            );
        }
    }

    #[test]
    fn leading_dots_and_slashes_are_dropped_and_a_trailing_slash_means_below() {
        assert!(globs("./src/*.rs", "src/a.rs") && globs("/src/*.rs", "src/a.rs") && globs("src/", "src/a/b"));
    }

    #[test]
    fn case_matters_unless_told_otherwise() {
        assert!(!globs("readme*", "README.md"));
        assert!(NameGlob::compile("readme*", false, LONGEST).unwrap().matches(Path::new("README.md")));
    }

    #[test]
    fn patterns_that_leave_the_root_or_mean_nothing_are_errors() {
        let wrong = |pattern: &str| NameGlob::compile(pattern, true, LONGEST).unwrap_err();
        assert_eq!(wrong("../*.rs"), GlobError::LeavesRoot);
        assert_eq!(wrong("a/../../b"), GlobError::LeavesRoot);
        assert_eq!(wrong("{..,a}/b"), GlobError::LeavesRoot);
        assert_eq!(wrong(" "), GlobError::Empty);
        assert!(matches!(wrong("a[b"), GlobError::Syntax(_)));
        assert!(matches!(wrong(&"{a,b}".repeat(500)), GlobError::TooLong { .. }));
        assert!(globs("a..b", "a..b"));
    }

    #[test]
    fn the_literal_prefix_ends_before_the_first_metacharacter() {
        assert_eq!(literal_prefix("/mnt/ws/src/**/*.rs"), Some(("/mnt/ws/src", "**/*.rs")));
        assert_eq!(literal_prefix("code/a{b,c}/d"), Some(("code", "a{b,c}/d")));
        assert_eq!(literal_prefix("/mnt/ws/a.rs"), Some(("/mnt/ws", "a.rs")));
        assert_eq!(literal_prefix("*.rs"), None);
        assert_eq!(literal_prefix("/*.rs"), None);
    }

    #[test]
    fn a_filter_takes_several_globs_and_exclusions() {
        assert!(admits(Some("*.ts, *.{js,jsx}"), None, "a/b.jsx") && !admits(Some("*.ts,*.js"), None, "a.rs"));
        assert!(admits(Some("!*.min.js"), None, "a.js") && !admits(Some("!*.min.js"), None, "a.min.js"));
        assert!(!admits(Some("*.js,!vendor"), None, "src/vendor/deep/a.js"));
        assert!(admits(Some("src/**"), None, "src/a/b") && !admits(Some("src/**"), None, "lib/a"));
    }

    #[test]
    fn an_excluded_folder_is_remembered_per_parent() {
        let mut filter = FileFilter::new(Some("!out"), None, LONGEST).unwrap();
        assert!(!filter.admits(Path::new("out/a")));
        assert!(!filter.admits(Path::new("out/b")));
        assert!(filter.admits(Path::new("src/a")));
    }

    #[test]
    fn types_are_ripgreps() {
        assert!(admits(None, Some("rust"), "a/b.rs") && !admits(None, Some("rust"), "a.py"));
        assert!(admits(None, Some("py,js"), "a.js"));
    }

    #[test]
    fn an_unknown_type_names_the_nearest() {
        let FilterError::Type { nearest, .. } = FileFilter::new(None, Some("rs"), LONGEST).unwrap_err() else {
            panic!("not a type error")
        };
        assert_eq!(nearest.first().map(String::as_str), Some("rust"));
        let FilterError::Type { nearest, .. } = FileFilter::new(None, Some("pythn"), LONGEST).unwrap_err() else {
            panic!("not a type error")
        };
        assert_eq!(nearest.first().map(String::as_str), Some("python"));
    }

    #[test]
    fn a_broken_filter_glob_is_named() {
        assert!(matches!(
            FileFilter::new(Some("*.rs,a[b"), None, LONGEST),
            Err(FilterError::Glob { glob, .. }) if glob.contains("a[b")
        ));
    }

    #[test]
    fn newest_keeps_the_latest_in_order_and_counts_all() {
        let at = |seconds| Some(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds));
        let mut newest = Newest::new(3);
        for (time, name) in [(1, "old"), (9, "b"), (9, "a"), (5, "mid"), (2, "older")] {
            newest.push(at(time), name);
        }
        assert_eq!(newest.seen(), 5);
        assert_eq!(newest.into_sorted(), ["a", "b", "mid"]);
    }

    #[test]
    fn newest_of_what_comes_in_order_is_the_newest_of_all() {
        let times = [3, 9, 9, 1, 9, 4, 9, 3, 0, 10];
        for limit in 0..=times.len() {
            let (mut all, mut in_order) = (Newest::new(limit), Newest::new(limit));
            for (at, time) in times.into_iter().enumerate() {
                let modified = (time > 0).then(|| SystemTime::UNIX_EPOCH + Duration::from_secs(time));
                all.push(modified, at);
                in_order.push_next(modified, || at);
            }
            assert_eq!(in_order.seen(), times.len());
            assert_eq!(in_order.into_sorted(), all.into_sorted(), "{limit}");
        }
    }

    #[test]
    fn an_ending_matches_what_the_compiled_glob_does() {
        let paths = ["a.c", "x/y.c", ".c", "x/.c", "a.cc", "c", "x.c/y", "x/y.C", "a.b.c", "\u{e9}.c", "a,b.c"];
        for (pattern, ending) in [("*.c", true), ("**/*.c", true), ("*c", true), ("**/*.[c]", false), ("*.{c}", false)]
        {
            let glob = NameGlob::compile(pattern, true, LONGEST).unwrap();
            assert_eq!(matches!(glob.matcher, Matcher::Ending(_)), ending, "{pattern}");
            let anchored = if pattern.contains('/') { pattern.to_owned() } else { format!("**/{pattern}") };
            let compiled = GlobBuilder::new(&anchored).literal_separator(true).build().unwrap().compile_matcher();
            for path in paths {
                assert_eq!(glob.matches(Path::new(path)), compiled.is_match(path), "{pattern} {path}");
            }
        }
        assert!(NameGlob::compile("*.c", false, LONGEST).unwrap().matches(Path::new("x.C")));
    }
}
