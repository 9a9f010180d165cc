//! The pattern of the glob tool, what makes any glob unusable, and what else a glob may mean.
//!
//! Pure matching of paths relative to where a search starts, on ripgrep's own matcher.
//!
//! Several globs are one pattern, separated by commas or `|` outside braces; `!` leaves out what a glob matches.
//!
//! Some globs are names: `app/[slug]/page.tsx` is both the name of a file and a pattern for `app/s/page.tsx`. Frameworks
//! name files so, and models pass such names as they saw them. Read both ways a glob finds what it would find as a
//! pattern, and the file of that very name.
//!
//! # Names beyond ASCII
//! `globset` compiles to a regular expression of bytes, because [paths are not always UTF-8][bytes], so `?` and
//! a class match one byte, of which `é` [has two][class]. Here every character beyond
//! ASCII becomes a control character that keeps its place among those of the pattern: equal ones stay
//! equal, and what is within a range of the pattern stays within it. Names of ASCII, nearly all, are
//! matched as they are and cost nothing.
//!
//! [bytes]: https://github.com/BurntSushi/ripgrep/issues/635
//! [class]: https://github.com/BurntSushi/ripgrep/issues/2873

use std::path::{Path, PathBuf, is_separator};

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use text_file::look_alike::folded;

/// Bytes of the longest glob. Braces become alternations, which are never expanded, so this bounds the compiled size too.
const MAX_GLOB: usize = 1 << 10;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GlobError {
    #[error("it is empty")]
    Empty,
    /// Longer than the limit, in bytes.
    #[error("it has {length} bytes, more than {limit}")]
    TooLong {
        /// Bytes of the glob.
        length: usize,
        /// Bytes that a glob may have.
        limit: usize,
    },
    #[error("`..` leaves the root")]
    LeavesRoot,
    #[error("{0}")]
    Syntax(String),
}

#[derive(Clone, Debug)]
pub struct NameGlob {
    written: Globs,
    /// Another text that it may be: with plain blanks, composed, and with slashes for the backslashes of Windows.
    other: Option<(String, Globs)>,
    folds: bool,
}

#[derive(Clone, Debug)]
struct Globs {
    matcher: Matcher,
    found: Vec<String>,
    beginnings: Vec<PathBuf>,
    case_sensitive: bool,
}

#[derive(Clone, Debug)]
enum Matcher {
    /// `**/*` and these bytes, none of which means anything but itself: any path that ends in them.
    /// By far the commonest pattern, and the compiled glob would look for the name in each path first.
    Ending(String),
    Any {
        sets: Sets,
        /// For names beyond ASCII, where they need it.
        unicode: Option<Box<(GlobEncoding, Sets)>>,
    },
}

#[derive(Clone, Debug)]
struct Sets {
    found: GlobSet,
    left_out: GlobSet,
}

impl Sets {
    fn new(found: &[String], left_out: &[String], case_sensitive: bool) -> Result<Self, GlobError> {
        let set = |globs: &[String]| glob_set(globs.iter().map(String::as_str), case_sensitive);
        Ok(Self { found: set(found)?, left_out: set(left_out)? })
    }

    fn is_match(&self, path: &Path) -> bool {
        self.found.is_match(path) && !self.left_out.is_match(path)
    }
}

impl NameGlob {
    /// Compiles `pattern`: globset syntax, `*` stops at `/`, a pattern without `/` matches at any depth.
    /// A leading `./` or `/` is dropped; a trailing `/` means everything below. A pattern that is also the name of
    /// a file matches that file too.
    ///
    /// # Errors
    /// When it is empty, too long, leaves the root or is not a glob.
    pub fn compile(pattern: &str, case_sensitive: bool) -> Result<Self, GlobError> {
        Self::compile_by(pattern, case_sensitive, anchored)
    }

    /// As [`Self::compile`], but a trailing `/` means the directory itself.
    ///
    /// # Errors
    /// As there.
    pub fn compile_entries(pattern: &str, case_sensitive: bool) -> Result<Self, GlobError> {
        Self::compile_by(pattern, case_sensitive, |part| match part.strip_suffix('/') {
            Some(directory) => directory.trim_end_matches('/').to_owned(),
            None => anchored(part),
        })
    }

    fn compile_by(pattern: &str, case_sensitive: bool, anchored: fn(&str) -> String) -> Result<Self, GlobError> {
        let text = windows_glob(pattern);
        let text = folded(text.as_deref().unwrap_or(pattern));
        let other = Some(&*text).filter(|text| *text != pattern);
        Ok(Self {
            written: Globs::compile(pattern, case_sensitive, anchored)?,
            other: other.and_then(|text| Some((text.to_owned(), Globs::compile(text, case_sensitive, anchored).ok()?))),
            folds: !pattern.is_ascii() || pattern.contains([' ', '?', '[']),
        })
    }

    /// As [`Self::compile`], for a pattern that is a name and nothing else.
    ///
    /// # Errors
    /// As there.
    pub fn literal(name: &str, case_sensitive: bool) -> Result<Self, GlobError> {
        check_bounds(name)?;
        let written = Globs::of(vec![anchored(&escape_glob(without_root(name)?))], &[], case_sensitive)?;
        Ok(Self { written, other: None, folds: false })
    }

    pub fn matches(&self, relative: &Path) -> bool {
        let may_fold = || self.folds && !relative.as_os_str().is_ascii();
        self.written.matches(relative)
            || (self.other.is_some() || may_fold())
                && relative.to_str().is_some_and(|text| {
                    let matcher = self.other.as_ref().map_or(&self.written, |(_, matcher)| matcher);
                    matcher.matches(Path::new(&*folded(text)))
                })
    }

    /// Whether a link at that path below the start is entered, as the pattern names it before its first wildcard.
    pub fn enters(&self, link: &Path) -> bool {
        self.readings().any(|globs| globs.enters(link))
    }

    pub fn reach(&self) -> GlobReach {
        let globs = self.readings().flat_map(|globs| &globs.found);
        GlobReach::of(globs.map(String::as_str), self.written.case_sensitive)
    }

    fn readings(&self) -> impl Iterator<Item = &Globs> {
        [&self.written].into_iter().chain(self.other.as_ref().map(|(_, globs)| globs))
    }

    /// As [`Self::matches`], but not by the very characters of the pattern.
    pub fn matches_alike(&self, relative: &Path) -> bool {
        !self.written.matches(relative) && self.matches(relative)
    }

    pub fn other_text(&self) -> Option<&str> {
        self.other.as_ref().map(|(text, _)| text.as_str())
    }
}

/// A pattern as Windows writes it, with slashes; `None` where a backslash is before a sign that it may escape.
pub(super) fn windows_glob(pattern: &str) -> Option<String> {
    let is_escape = |rest: &str| rest.is_empty() || rest.starts_with(|letter| "[]{}?!,|\\ ".contains(letter));
    let is_windows = !is_separator('\\') && pattern.contains('\\');
    (is_windows && !pattern.split('\\').skip(1).any(is_escape)).then(|| pattern.replace('\\', "/"))
}

impl Globs {
    fn compile(pattern: &str, case_sensitive: bool, anchor: fn(&str) -> String) -> Result<Self, GlobError> {
        check_bounds(pattern)?;
        let parts = split_globs(pattern);
        let (mut globs, mut left_out) = (Vec::new(), Vec::new());
        for part in &parts {
            let excluded = part.strip_prefix('!');
            let part = without_root(excluded.unwrap_or(part))?;
            let anchored = anchor(part);
            // An error is about the pattern as it was given: what else it may mean is only tried.
            glob_set([anchored.as_str()], case_sensitive)?;
            if excluded.is_some() {
                // With all that is below it, as grep leaves it out.
                left_out.extend([format!("{anchored}/**"), anchored]);
            } else {
                globs.extend(interpretations(part).iter().map(|one| anchor(one)));
            }
        }
        match (parts.len(), globs.is_empty()) {
            (0, _) => return Err(GlobError::Empty),
            (_, true) => globs.push("**".to_owned()),
            (1, _) => {}
            // A name may hold what several globs are split at.
            _ => globs.push(anchor(&escape_glob(without_root(pattern)?))),
        }
        if let ([one], []) = (&globs[..], &left_out[..])
            && let Some(ending) = one.strip_prefix("**/*").filter(|_| case_sensitive)
            && !ending.is_empty()
            && !ending.contains(['*', '?', '[', ']', '{', '}', ',', '!', '\\', '/'])
        {
            let matcher = Matcher::Ending(ending.to_owned());
            return Ok(Self { matcher, found: globs, beginnings: Vec::new(), case_sensitive });
        }
        Self::of(globs, &left_out, case_sensitive)
    }

    fn of(mut globs: Vec<String>, left_out: &[String], case_sensitive: bool) -> Result<Self, GlobError> {
        globs.retain(|glob| glob_set([glob.as_str()], case_sensitive).is_ok());
        let sets = Sets::new(&globs, left_out, case_sensitive)?;
        let unicode = GlobEncoding::of(&(globs.concat() + &left_out.concat()), !case_sensitive).and_then(|encoding| {
            // What is a range of characters and none of bytes (`[a-é]`) stays one of bytes.
            let encoded = |globs: &[String]| globs.iter().map(|glob| encoding.encode_pattern(glob)).collect::<Vec<_>>();
            let sets = Sets::new(&encoded(&globs), &encoded(left_out), case_sensitive).ok()?;
            Some(Box::new((encoding, sets)))
        });
        let beginning = |glob: &String| in_case(&beginning(glob), case_sensitive);
        let beginnings = globs.iter().map(beginning).filter(|names| !names.as_os_str().is_empty()).collect();
        Ok(Self { matcher: Matcher::Any { sets, unicode }, found: globs, beginnings, case_sensitive })
    }

    fn enters(&self, link: &Path) -> bool {
        let link = in_case(link, self.case_sensitive);
        self.beginnings.iter().any(|names| names.starts_with(&link))
    }

    fn matches(&self, relative: &Path) -> bool {
        match &self.matcher {
            Matcher::Ending(ending) => relative.as_os_str().as_encoded_bytes().ends_with(ending.as_bytes()),
            Matcher::Any { sets, unicode } => {
                match unicode.as_deref().and_then(|(encoding, sets)| Some((encoding.encode_path(relative)?, sets))) {
                    Some((path, sets)) => sets.is_match(&path),
                    None => sets.is_match(relative),
                }
            }
        }
    }
}

/// The pattern below the root, without a leading `/` or `./`.
fn without_root(pattern: &str) -> Result<&str, GlobError> {
    let mut pattern = pattern.trim();
    while let Some(rest) = pattern.strip_prefix("./").or_else(|| pattern.strip_prefix('/')) {
        pattern = rest;
    }
    if pattern.is_empty() || pattern == "." { Err(GlobError::Empty) } else { Ok(pattern) }
}

fn in_case(path: &Path, case_sensitive: bool) -> PathBuf {
    if case_sensitive { path.to_owned() } else { path.to_string_lossy().to_lowercase().into() }
}

fn beginning(glob: &str) -> PathBuf {
    let names = split_outside(glob, b"/");
    names[..names.len() - 1].iter().map_while(|name| literal_name(name)).collect()
}

/// The name that a part of a glob is, without its escapes; `None` where it has wildcards.
fn literal_name(part: &str) -> Option<String> {
    let (mut name, mut letters) = (String::new(), part.chars());
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => name.push(letters.next()?),
            '*' | '?' | '[' | ']' | '{' | '}' => return None,
            _ => name.push(letter),
        }
    }
    Some(name)
}

/// Where the files can be that some globs match: a set of directories, by how far each glob has come there.
#[derive(Clone, Debug)]
pub struct GlobReach(GlobSet);

impl GlobReach {
    pub(super) fn of<'g>(globs: impl Iterator<Item = &'g str>, case_sensitive: bool) -> Self {
        let mut states: Vec<String> = globs.flat_map(states).collect();
        states.retain(|state| glob_set([state.as_str()], case_sensitive).is_ok());
        Self(glob_set(states.iter().map(String::as_str), case_sensitive).unwrap_or_default())
    }

    /// Whether something below the directory `link` can be found that is not found below `target`, which is the same
    /// directory; `None` where the search does not come to that.
    pub fn is_more(&self, link: &Path, target: Option<&Path>) -> bool {
        let at_target = target.map(|target| self.0.matches(target)).unwrap_or_default();
        self.0.matches(link).iter().any(|state| !at_target.contains(state))
    }
}

/// For each directory part of a glob the glob of those directories below which the rest after it has to match.
fn states(glob: &str) -> Vec<String> {
    let mut parts = split_outside(glob, b"/");
    if parts.last() == Some(&"**") {
        parts.push("*");
    }
    let (mut states, mut above) = (Vec::new(), String::new());
    for (at, part) in parts[..parts.len() - 1].iter().enumerate() {
        let is_any = *part == "**";
        let state = match (above.as_str(), is_any) {
            ("", _) => (*part).to_owned(),
            (above, true) => format!("{above}{{,/**}}"),
            (above, false) => format!("{above}/{part}"),
        };
        above = if above.is_empty() { (*part).to_owned() } else { format!("{above}/{part}") };
        // Where `**` comes next, its own state is that of this directory as well.
        if is_any || parts[at + 1] != "**" || at + 2 == parts.len() {
            states.push(state);
        }
    }
    states
}

/// Splits at commas and `|` outside braces and brackets: `*.ts,*.{js,jsx}` is two globs.
pub fn split_globs(globs: &str) -> Vec<&str> {
    split_outside(globs, b",|").into_iter().map(str::trim).filter(|part| !part.is_empty()).collect()
}

pub fn join_globs<'g>(globs: impl Iterator<Item = &'g str>) -> String {
    let whole = |glob: &str| match split_globs(glob).len() {
        0 | 1 => glob.to_owned(),
        _ => glob.replace(',', "[,]").replace('|', "[|]"),
    };
    globs.map(whole).collect::<Vec<_>>().join(",")
}

/// Splits at bytes outside braces and brackets, at `|` only outside parentheses.
fn split_outside<'g>(glob: &'g str, separators: &[u8]) -> Vec<&'g str> {
    let (mut parts, mut start, mut braces, mut groups) = (Vec::new(), 0, 0_usize, 0_usize);
    let (mut class, mut escaped) = (false, false);
    for (at, byte) in glob.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b']' => class = false,
            _ if class => {}
            b'[' => class = true,
            b'{' => braces += 1,
            b'}' => braces = braces.saturating_sub(1),
            b'(' => groups += 1,
            b')' => groups = groups.saturating_sub(1),
            _ if braces == 0 && separators.contains(&byte) && (byte != b'|' || groups == 0) => {
                parts.push(&glob[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&glob[start..]);
    parts
}

/// The glob for whole paths: a bare name is one at any depth, a folder means everything below it.
pub(super) fn anchored(pattern: &str) -> String {
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
            // Off by default on Windows, and `escaped` needs it.
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

/// The directory that a pattern names before its first metacharacter, and the pattern below it, from the slash on:
/// `/mnt/ws/src/**/*.rs` → (`/mnt/ws/src`, `/**/*.rs`). `None` where the first component already
/// is a pattern or there is only one.
///
/// ```
/// use tree_search::name_glob::literal_prefix;
///
/// assert_eq!(literal_prefix("src/**/*.rs"), Some(("src", "/**/*.rs")));
/// assert_eq!(literal_prefix("a/src/"), Some(("a", "/src/")));
/// assert_eq!(literal_prefix("*.rs"), None);
/// ```
pub fn literal_prefix(pattern: &str) -> Option<(&str, &str)> {
    let special = pattern.find(['*', '?', '[', '{', '\\']).unwrap_or(pattern.trim_end_matches('/').len());
    let cut = pattern[..special].rfind('/')?;
    (cut > 0).then(|| pattern.split_at(cut))
}

pub(super) fn check_bounds(glob: &str) -> Result<(), GlobError> {
    if glob.len() > MAX_GLOB {
        return Err(GlobError::TooLong { length: glob.len(), limit: MAX_GLOB });
    }
    // Braces may hide a component: `{..,a}/x`.
    if glob.split(['/', '{', '}', ',', '|']).any(|part| part == "..") {
        return Err(GlobError::LeavesRoot);
    }
    Ok(())
}

/// Characters that mean something in a glob besides themselves.
const SPECIAL_CHARS: [char; 10] = ['*', '?', '[', ']', '{', '}', '\\', ',', '|', '!'];

/// The glob, and what else it may mean: brackets as brackets in a pattern (`app/[slug]/*.tsx`), and all of it as
/// a name.
pub(super) fn interpretations(glob: &str) -> Vec<String> {
    let mut interpretations = vec![glob.to_owned()];
    if glob.contains(['[', ']', '{', '}', '\\']) {
        for other in [with_brackets(glob), escape_glob(glob)] {
            if !interpretations.contains(&other) {
                interpretations.push(other);
            }
        }
    }
    interpretations
}

pub fn escape_glob(text: &str) -> String {
    text.chars().fold(String::with_capacity(text.len() + 8), |mut out, letter| {
        if SPECIAL_CHARS.contains(&letter) {
            out.push('\\');
        }
        out.push(letter);
        out
    })
}

fn with_brackets(glob: &str) -> String {
    let mut out = String::with_capacity(glob.len() + 8);
    let mut letters = glob.chars();
    while let Some(letter) = letters.next() {
        if letter == '[' || letter == ']' {
            out.push('\\');
        }
        out.push(letter);
        if letter == '\\' {
            out.extend(letters.next());
        }
    }
    out
}

/// Control characters that replace others, in order: not those that are white space, which is trimmed.
const CONTROL_RANGES: [(u8, u8); 2] = [(0x01, 0x08), (0x0e, 0x1f)];

/// How the characters of one pattern, or of several, are written.
#[derive(Clone, Debug)]
pub(crate) struct GlobEncoding {
    /// Those of the pattern beyond ASCII, in order.
    known: Vec<char>,
    folded: bool,
}

impl GlobEncoding {
    /// The encoding for `pattern`; none if it matches bytes as it would characters, and where it has too
    /// many different characters or holds control characters.
    pub(crate) fn of(pattern: &str, folded: bool) -> Option<Self> {
        let needed = pattern.contains(['?', '[']) || (folded && !pattern.is_ascii());
        if !needed || pattern.contains(|letter: char| letter.is_ascii_control()) {
            return None;
        }
        let mut known: Vec<char> = pattern.chars().filter(|letter| !letter.is_ascii()).collect();
        if folded {
            for letter in &mut known {
                *letter = lower(*letter);
            }
        }
        known.sort_unstable();
        known.dedup();
        // Each, and what is before, between and after them.
        code(2 * known.len()).map(|_| Self { known, folded })
    }

    pub(crate) fn encode_pattern(&self, pattern: &str) -> String {
        pattern.chars().map(|letter| self.code(letter)).collect()
    }

    /// The path as it is compared; none if it is compared as it is: it is ASCII, or no text, or has
    /// control characters itself.
    pub(crate) fn encode_path(&self, path: &Path) -> Option<PathBuf> {
        let text = path
            .to_str()
            .filter(|text| !text.is_ascii() && !text.contains(|letter: char| letter.is_ascii_control()))?;
        Some(text.chars().map(|letter| self.code(letter)).collect::<String>().into())
    }

    fn code(&self, letter: char) -> char {
        if letter.is_ascii() {
            return letter;
        }
        let letter = if self.folded { lower(letter) } else { letter };
        let place = match self.known.binary_search(&letter) {
            Ok(at) => 2 * at + 1,
            Err(at) => 2 * at,
        };
        code(place).unwrap_or(letter)
    }
}

fn code(number: usize) -> Option<char> {
    CONTROL_RANGES.into_iter().flat_map(|(first, last)| first..=last).nth(number).map(char::from)
}

fn lower(letter: char) -> char {
    let mut all = letter.to_lowercase();
    match (all.next(), all.next()) {
        (Some(one), None) => one,
        _ => letter,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn globs(pattern: &str, path: &str) -> bool {
        NameGlob::compile(pattern, true).unwrap().matches(Path::new(path))
    }

    #[test]
    fn glob_without_slash_matches_at_any_depth() {
        assert!(globs("*.rs", "a.rs") && globs("*.rs", "src/deep/a.rs") && globs("Makefile", "sub/Makefile"));
        assert!(!globs("*.rs", "a.rs.bak"));
    }

    #[test]
    fn glob_with_slash_is_anchored_and_star_stops_at_slashes() {
        assert!(globs("src/*.rs", "src/a.rs") && !globs("src/*.rs", "src/b/a.rs") && !globs("src/*.rs", "x/src/a.rs"));
        assert!(globs("src/**/*.rs", "src/a.rs") && globs("src/**/*.rs", "src/b/c/a.rs"));
        assert!(globs("**/*.{ts,tsx}", "a/b.tsx") && globs("[ab].txt", "x/b.txt") && globs("x{,y}", "x"));
    }

    #[test]
    fn leading_dot_slash_is_dropped_and_trailing_slash_means_below() {
        assert!(globs("./src/*.rs", "src/a.rs") && globs("/src/*.rs", "src/a.rs") && globs("src/", "src/a/b"));
    }

    #[test]
    fn trailing_slash_may_mean_the_directory_itself() {
        let entries = |pattern: &str, path| NameGlob::compile_entries(pattern, true).unwrap().matches(Path::new(path));
        for (pattern, path, expected) in [
            ("**/", "a", true),
            ("**/", "a/b", true),
            ("*/", "a", true),
            ("*/", "a/b", false),
            ("src/**/", "src/a/b", true),
            ("src/**/", "src", false),
            ("**/test*/", "a/tests", true),
            ("**/test*/", "a/tests/b", false),
            ("app/[slug]//", "app/[slug]", true),
            ("**/,!vendor/", "vendor/a", false),
            ("*.rs,src/", "src", true),
            ("*.rs,src/", "a/b.rs", true),
        ] {
            assert_eq!(entries(pattern, path), expected, "{pattern} {path}");
        }
    }

    #[test]
    fn glob_case_is_an_option() {
        assert!(!globs("readme*", "README.md"));
        assert!(NameGlob::compile("readme*", false).unwrap().matches(Path::new("README.md")));
    }

    #[test]
    fn globs_that_leave_the_root_or_are_empty_are_errors() {
        let wrong = |pattern: &str| NameGlob::compile(pattern, true).unwrap_err();
        assert_eq!(wrong("../*.rs"), GlobError::LeavesRoot);
        assert_eq!(wrong("a/../../b"), GlobError::LeavesRoot);
        assert_eq!(wrong("{..,a}/b"), GlobError::LeavesRoot);
        assert_eq!(wrong(" "), GlobError::Empty);
        assert!(matches!(wrong("a[b"), GlobError::Syntax(_)));
        assert!(matches!(wrong(&"{a,b}".repeat(500)), GlobError::TooLong { .. }));
        assert!(globs("a..b", "a..b"));
    }

    #[test]
    fn literal_prefix_ends_before_the_first_metacharacter() {
        assert_eq!(literal_prefix("/mnt/ws/src/**/*.rs"), Some(("/mnt/ws/src", "/**/*.rs")));
        assert_eq!(literal_prefix("code/a{b,c}/d"), Some(("code", "/a{b,c}/d")));
        assert_eq!(literal_prefix("/mnt/ws/a.rs"), Some(("/mnt/ws", "/a.rs")));
        assert_eq!(literal_prefix("*.rs"), None);
        assert_eq!(literal_prefix("/*.rs"), None);
    }

    #[test]
    fn suffix_matcher_agrees_with_compiled_glob() {
        let paths = ["a.c", "x/y.c", ".c", "x/.c", "a.cc", "c", "x.c/y", "x/y.C", "a.b.c", "\u{e9}.c", "a,b.c"];
        for (pattern, ending) in [("*.c", true), ("**/*.c", true), ("*c", true), ("**/*.[c]", false), ("*.{c}", false)]
        {
            let glob = NameGlob::compile(pattern, true).unwrap();
            assert_eq!(matches!(glob.written.matcher, Matcher::Ending(_)), ending, "{pattern}");
            let anchored = if pattern.contains('/') { pattern.to_owned() } else { format!("**/{pattern}") };
            let compiled = GlobBuilder::new(&anchored).literal_separator(true).build().unwrap().compile_matcher();
            for path in paths {
                assert_eq!(glob.matches(Path::new(path)), compiled.is_match(path), "{pattern} {path}");
            }
        }
        assert!(NameGlob::compile("*.c", false).unwrap().matches(Path::new("x.C")));
    }

    #[test]
    fn several_globs_are_separated_by_commas_or_bars_and_may_leave_out() {
        for (pattern, found, others) in [
            ("*.ts,*.tsx", &["a.ts", "b/c.tsx"][..], &["a.rs"][..]),
            ("*.ts|*.tsx", &["a.ts", "b/c.tsx"], &["a.rs"]),
            ("*.{ts,tsx}, src/*.md", &["x/a.tsx", "src/a.md"], &["a.md", "src/x/a.md"]),
            ("*.ts,!*.test.ts", &["a.ts"], &["a.test.ts", "x/b.test.ts"]),
            ("!vendor", &["a.ts"], &["vendor", "x/vendor/a.ts"]),
            ("a,b.txt", &["a", "b.txt", "x/a,b.txt"], &["b"]),
            ("*.ts|", &["a.ts"], &["|"]),
            ("*.(ts|tsx)", &["a.(ts|tsx)"], &["a.ts"]),
            ("[,|].c,x", &[",.c", "x"], &["[.c"]),
        ] {
            assert!(found.iter().all(|path| globs(pattern, path)), "{pattern}");
            assert!(!others.iter().any(|path| globs(pattern, path)), "{pattern}");
        }
        let wrong = |pattern: &str| NameGlob::compile(pattern, true).unwrap_err();
        assert_eq!(wrong(",|"), GlobError::Empty);
        assert_eq!(wrong("*.ts|../x"), GlobError::LeavesRoot);
        let joined = join_globs(["*.ts", "a,b.txt", "*.{c,h}"].into_iter());
        assert_eq!(joined, "*.ts,a[,]b.txt,*.{c,h}");
        assert!(globs(&joined, "a,b.txt") && !globs(&joined, "b.txt"));
    }

    #[test]
    fn a_link_is_entered_where_the_pattern_names_it_before_a_wildcard() {
        let enters = |pattern: &str, link: &str| NameGlob::compile(pattern, true).unwrap().enters(Path::new(link));
        for (pattern, link) in [
            ("cat/foo/**/*.md", "cat/foo"),
            ("./cat/foo/a.md", "cat"),
            ("cat/foo/", "cat/foo"),
            ("*.c,cat/*.md", "cat"),
            ("app/[slug]/*.tsx", "app/[slug]"),
        ] {
            assert!(enters(pattern, link), "{pattern} {link}");
        }
        for (pattern, link) in [("cat/foo", "cat/foo"), ("cat/*/a", "cat/foo"), ("**/foo/a", "foo"), ("*.md", "foo")] {
            assert!(!enters(pattern, link), "{pattern} {link}");
        }
        assert!(NameGlob::compile("CAT/x", false).unwrap().enters(Path::new("Cat")));
    }

    #[test]
    fn what_is_below_a_link_is_more_where_its_names_count() {
        let is_more = |pattern: &str, link: &str, target: Option<&str>| {
            NameGlob::compile(pattern, true).unwrap().reach().is_more(Path::new(link), target.map(Path::new))
        };
        for (pattern, link, target, expected) in [
            ("*.md", "cat/foo", Some("items/foo"), false),
            ("*.md", "cat/foo", None, true),
            ("**/*", "cat/foo", Some(""), false),
            ("cat/**", "cat/foo", Some("items/foo"), true),
            ("cat/**", "cat/foo", Some("cat/x/foo"), false),
            ("cat/**/*.md", "cat/foo", Some("cat/x/foo"), false),
            ("cat/**/*.md", "cat", Some("cat/x"), false),
            ("cat/*/*.md", "cat/foo", Some("cat/bar"), false),
            ("cat/*/*.md", "cat/x/foo", None, false),
            ("src/*.md", "docs/foo", None, false),
            ("src/*.md", "src/foo", None, false),
            ("**/bar/*.md", "cat/bar", Some("items/foo"), true),
            ("**/bar/*.md", "cat/other", Some("items/foo"), false),
            ("{cat,dog}/**", "dog/foo", Some("items"), true),
        ] {
            assert_eq!(is_more(pattern, link, target), expected, "{pattern} {link} {target:?}");
        }
    }

    #[test]
    fn only_globs_with_brackets_have_literal_interpretations() {
        assert_eq!(interpretations("src/*.rs"), ["src/*.rs"]);
        assert_eq!(interpretations("*.{a,b}"), ["*.{a,b}", r"\*.\{a\,b\}"]);
        assert_eq!(interpretations("[s]/*"), ["[s]/*", r"\[s\]/*", r"\[s\]/\*"]);
        assert_eq!(interpretations("[s]/x"), ["[s]/x", r"\[s\]/x"]);
        assert_eq!(interpretations(r"\[s]/x"), [r"\[s]/x", r"\[s\]/x", r"\\\[s\]/x"]);
    }
}

#[cfg(test)]
mod glob_unicode_tests {
    use super::*;

    #[test]
    fn encoding_keeps_the_order_of_characters() {
        let encoding = GlobEncoding::of("[à-ü]日?", false).unwrap();
        assert_eq!(encoding.encode_pattern("a[à-ü]日"), "a[\u{2}-\u{4}]\u{6}");
        let path = |text: &str| encoding.encode_path(Path::new(text)).map(|path| path.to_str().unwrap().to_owned());
        assert_eq!(path("x/ÀàéüŐ日\u{1f600}").unwrap(), "x/\u{1}\u{2}\u{3}\u{4}\u{5}\u{6}\u{7}");
        assert_eq!((path("ascii"), path("é\u{2}")), (None, None));
    }

    #[test]
    fn pattern_without_need_has_no_encoding() {
        for pattern in ["*.rs", "é*", "é\u{3}?", &('а'..='я').chain(['?']).collect::<String>()] {
            assert!(GlobEncoding::of(pattern, false).is_none(), "{pattern:?}");
        }
        assert!(GlobEncoding::of("É*", true).is_some());
    }
}
