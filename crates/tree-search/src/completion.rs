//! Completes what a person types of a path: the files of one root whose name or path has the text.
//!
//! Names come from the path index where there is one, else from a short walk; where that is not enough, an index is
//! begun. What is returned was there at the moment it was looked at, and is nothing that policy hides or denies.
//!
//! [`PathQuery`] is compared with names without regard to case and Unicode normal form.
//!
//! # Order
//! Names before paths; there, texts that begin with what was typed, then those with a word that does, then all that have
//! it somewhere. Among equals, files come before directories where a name was typed, then what was used last, then the
//! shortest.

use std::{
    borrow::Cow,
    collections::HashMap,
    sync::Arc,
    time::{Duration, Instant},
};

use confined_fs::{FileKind, Workspace, WorkspacePath, stop::StopSignal};
use memchr::memmem::Finder;
use percent_encoding::percent_decode_str;
use unicode_normalization::{UnicodeNormalization as _, is_nfc};

use crate::{IndexedPath, Newest, PathIndex, PathList};

/// How long the modification times of files may be asked for, for an answer to no text at all.
const STAT_TIME: Duration = Duration::from_millis(8);
/// Files between two looks at the clock.
const CHECK_EVERY: usize = 64;
/// Candidates examined beyond those that are returned, for those that are gone.
const SPARE_CANDIDATES: usize = 100;

#[derive(Clone, Copy, Debug)]
pub struct CompletionRequest<'a> {
    pub workspace: &'a Workspace,
    pub root: &'a WorkspacePath,
    pub text: &'a str,
    pub recent: &'a [WorkspacePath],
    /// Paths to return at most.
    pub limit: usize,
    pub stop: &'a StopSignal,
}

#[derive(Debug, Default)]
pub struct Completions {
    /// Whether each is a directory; the best first.
    pub paths: Vec<(WorkspacePath, bool)>,
    pub total: usize,
    pub has_more: bool,
}

impl PathIndex {
    pub fn complete(self: &Arc<Self>, request: &CompletionRequest<'_>) -> Completions {
        let Some(query) = PathQuery::parse(request.text) else { return Completions::default() };
        let (names, is_complete) = tree_names(self, request, query.text.is_empty());
        let in_root = request.recent.iter().filter(|path| path.root().key() == request.root.root().key());
        let recent: HashMap<&WorkspacePath, usize> = in_root.enumerate().map(|(at, path)| (path, at)).collect();
        let wanted = request.limit + SPARE_CANDIDATES;
        let rank = |query: &PathQuery| ranked(&names, query, &recent, wanted, request.stop);
        let found = if query.text.is_empty() {
            newest(&names, &recent, wanted)
        } else {
            let found = rank(&query);
            // What was typed may be a mention, `@src/a`, or a part of a URI.
            let other_readings = query.other_readings().into_iter().filter(|_| found.1 == 0);
            other_readings.map(|query| rank(&query)).find(|found| found.1 > 0).unwrap_or(found)
        };
        present(request, found, is_complete)
    }
}

fn newest(names: &PathList, recent: &HashMap<&WorkspacePath, usize>, wanted: usize) -> RankedPaths {
    let mut used: Vec<_> = recent.iter().map(|(path, at)| (*at, *path)).collect();
    used.sort_unstable_by_key(|(at, _)| *at);
    let mut paths: Vec<_> = used.into_iter().map(|(_, path)| path.clone()).collect();
    let started = Instant::now();
    let (mut total, mut may_ask) = (paths.len(), true);
    let mut newest = Newest::new(wanted);
    for (at, name) in names.unignored().enumerate() {
        if name.kind == FileKind::Directory || recent.contains_key(name.path()) {
            continue;
        }
        total += 1;
        may_ask = may_ask && (at % CHECK_EVERY != 0 || started.elapsed() < STAT_TIME);
        let modified = if may_ask { name.modified() } else { name.known_modified() };
        newest.push_next(modified, || at, name);
    }
    paths.extend(newest.into_sorted().map(|(_, name)| name.path().clone()));
    (paths, total)
}

fn present(request: &CompletionRequest<'_>, (paths, mut total): RankedPaths, is_complete: bool) -> Completions {
    let mut shown = Vec::new();
    for path in paths {
        if shown.len() == request.limit || request.stop.stopped().is_some() {
            break;
        }
        let is_shown = || request.workspace.is_secret(&path).is_ok_and(|is_secret| !is_secret);
        match request.workspace.stat(&path).map(|stat| stat.kind) {
            Ok(FileKind::Directory) => shown.push((path, true)),
            Ok(FileKind::File) if is_shown() => shown.push((path, false)),
            _ => total = total.saturating_sub(1),
        }
    }
    Completions { has_more: !is_complete || total > shown.len(), paths: shown, total }
}

/// How long a walk may take before an answer is given with what it has found.
const WALK_TIME: Duration = Duration::from_millis(12);
/// Names that are listed however long that takes: a small tree is listed whole on a busy machine, too.
const MIN_NAMES: usize = 2048;

/// The names below the root, or as many as an answer can wait for; and whether that is all. `with_times`: those of files
/// are wanted, too.
fn tree_names(index: &Arc<PathIndex>, request: &CompletionRequest<'_>, with_times: bool) -> (Arc<PathList>, bool) {
    let CompletionRequest { workspace, root, stop, .. } = *request;
    let empty = || Arc::new(PathList::empty(root, workspace.entry_origin(root)));
    if root.root().is_absent() {
        return (empty(), true);
    }
    if let Some(snapshot) = index.live_snapshot(root, None) {
        // Brings the rest of the index up to date in the background, where that is due.
        index.after_search(workspace, root, usize::MAX, false);
        return (snapshot.list, true);
    }
    let started = Instant::now();
    let is_over = |names: usize| {
        names.is_multiple_of(CHECK_EVERY)
            && (stop.stopped().is_some() || names > MIN_NAMES && started.elapsed() >= WALK_TIME)
    };
    let Ok((names, is_complete)) = PathList::walk(workspace, root, with_times, is_over) else {
        return (empty(), false);
    };
    if !is_complete {
        index.after_search(workspace, root, names.unignored().count(), true);
    }
    (Arc::new(names), is_complete)
}

/// Bytes of the longest text that is completed: a person types less, and the work grows with it.
const MAX_TYPED: usize = 512;

#[derive(Debug)]
struct PathQuery {
    text: String,
    finder: Finder<'static>,
}

impl PathQuery {
    /// `None` for what leaves the root, and for what is too long or no path: nothing fits it.
    fn parse(text: &str) -> Option<Self> {
        if text.len() > MAX_TYPED || text.contains('\0') {
            return None;
        }
        let mut names: Vec<&str> = Vec::new();
        for name in text.split('/') {
            match name {
                "" | "." => {}
                ".." => {
                    names.pop()?;
                }
                _ => names.push(name),
            }
        }
        let text = names.join("/") + if text.ends_with('/') && !names.is_empty() { "/" } else { "" };
        Some(Self { finder: Finder::new(folded(&text).as_bytes()).into_owned(), text })
    }

    /// Other meanings, for when nothing fits it: without the `@` of a mention, and percent-decoded.
    fn other_readings(&self) -> Vec<Self> {
        let mention = self.text.strip_prefix('@').and_then(Self::parse);
        let decoded = || percent_decode_str(&self.text).decode_utf8().ok().filter(|decoded| *decoded != self.text);
        let decoded = decoded().and_then(|decoded| Self::parse(&decoded));
        [mention, decoded].into_iter().flatten().filter(|query| !query.text.is_empty()).collect()
    }
}

/// `text` as names are compared: composed, as macOS stores names decomposed, and in lower case.
fn folded(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        let has_upper = text.bytes().any(|byte| byte.is_ascii_uppercase());
        return if has_upper { Cow::Owned(text.to_ascii_lowercase()) } else { Cow::Borrowed(text) };
    }
    let lower = text.to_lowercase();
    Cow::Owned(if is_nfc(&lower) { lower } else { lower.nfc().collect() })
}

/// Names between two looks at the stop signal.
const RANKED_PER_CHECK: usize = 256;

/// The best ones, and how many there are.
type RankedPaths = (Vec<WorkspacePath>, usize);

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Position {
    Beginning,
    WordStart,
    Inside,
}

struct Candidate<'n> {
    name: IndexedPath<'n>,
    text: Cow<'n, str>,
    /// Whether only the path fits where a name was typed, and the length of what fits.
    is_path: bool,
    position: Position,
    length: usize,
    is_late_directory: bool,
    recent: usize,
}

impl Candidate<'_> {
    /// The best is least.
    fn order(&self) -> impl Ord {
        let fit = (self.is_path, self.position, self.is_late_directory, self.recent, self.length);
        // The text at the end, so that the unstable sort has one result only.
        (fit, self.text.len(), &*self.text)
    }
}

fn ranked(
    names: &PathList,
    query: &PathQuery,
    recent: &HashMap<&WorkspacePath, usize>,
    wanted: usize,
    stop: &StopSignal,
) -> RankedPaths {
    let mut candidates = Vec::new();
    for (at, name) in names.unignored().enumerate() {
        if at % RANKED_PER_CHECK == 0 && stop.stopped().is_some() {
            break;
        }
        // Nobody types what is not Unicode.
        let Some(text) = name.relative.to_str() else { continue };
        let text = if cfg!(windows) { Cow::Owned(text.replace('\\', "/")) } else { Cow::Borrowed(text) };
        // Most do not fit at all. A name that does is a part of a path that does.
        if query.finder.find(folded(&text).as_bytes()).is_none() {
            continue;
        }
        let in_name =
            if query.text.contains('/') { None } else { position(name_of(&text), query).map(|at| (false, at)) };
        let Some((is_path, position)) = in_name.or_else(|| position(&text, query).map(|at| (true, at))) else {
            continue;
        };
        // Its path is made only where it is compared.
        let recent = if recent.is_empty() { None } else { recent.get(name.path()).copied() };
        candidates.push(Candidate {
            length: if is_path { text.len() } else { name_of(&text).len() },
            is_late_directory: name.kind == FileKind::Directory && !query.text.contains('/'),
            recent: recent.unwrap_or(usize::MAX),
            is_path,
            position,
            name,
            text,
        });
    }
    let total = candidates.len();
    if total > wanted {
        candidates.select_nth_unstable_by(wanted, |one, other| one.order().cmp(&other.order()));
        candidates.truncate(wanted);
    }
    candidates.sort_unstable_by(|one, other| one.order().cmp(&other.order()));
    (candidates.into_iter().map(|one| one.name.into_path()).collect(), total)
}

fn name_of(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |(_, name)| name)
}

/// Where a name or a path has what was typed, if it has it.
fn position(text: &str, query: &PathQuery) -> Option<Position> {
    let folded = folded(text);
    let begins_word = |at: usize| {
        let before = folded[..at].chars().next_back();
        // Folded, only ASCII has its characters at the same places.
        let is_hump = text.is_ascii() && text[..=at].ends_with(|one: char| one.is_ascii_uppercase());
        !before.is_some_and(char::is_alphanumeric)
            || is_hump && text[..at].ends_with(|one: char| one.is_ascii_lowercase())
    };
    let mut found = query.finder.find_iter(folded.as_bytes());
    let first = found.next()?;
    Some(if first == 0 {
        Position::Beginning
    } else if begins_word(first) || found.any(begins_word) {
        Position::WordStart
    } else {
        Position::Inside
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn beginning_comes_before_the_start_of_a_word_and_that_before_the_inside() {
        use Position::{Beginning, Inside, WordStart};
        for (text, typed, expected) in [
            ("index.ts", "IND", Some(Beginning)),
            ("my_index.ts", "ind", Some(WordStart)),
            ("my index.ts", "index.", Some(WordStart)),
            ("getUserName", "name", Some(WordStart)),
            ("GETUSERNAME", "name", Some(Inside)),
            ("window.rs", "ind", Some(Inside)),
            ("windows/index.rs", "ind", Some(WordStart)),
            ("src/windows/index.rs", "windows/i", Some(WordStart)),
            ("u\u{308}ber.md", "\u{fc}b", Some(Beginning)),
            ("a-\u{dc}ber.md", "\u{fc}", Some(WordStart)),
            ("index.ts", "idx", None),
        ] {
            let query = PathQuery::parse(typed).expect("a path");
            assert_eq!(position(text, &query), expected, "{text} {typed}");
        }
    }
}
