//! Completes what a person types of a path: the best files of one root, ranked by name, path and recent use.
//!
//! Names come from the path index where there is one, else from a short walk. A tree that takes longer is listed in the
//! background for the next keystroke, and an index is begun. What is returned was there at the moment it was looked at,
//! and is nothing that policy hides or denies.
//!
//! [`PathQuery`] is compared with names without regard to case and Unicode normal form.
//!
//! # Order
//! How a name fits decides first ([`Fit`]). Within one kind of fit, files come before directories where a name was
//! typed, then what was used last, then the better score of the fuzzy matcher. Scores take time, so they are computed
//! only for the best kinds of fit, and there for the shortest paths.

use std::time::{Duration, Instant};
use std::{borrow::Cow, cmp::Reverse, collections::HashMap, sync::Arc};

use code_fuzzy_match::FuzzyMatcher;
use confined_fs::{FileKind, Visibility, Workspace, WorkspacePath, stop::StopSignal};
use percent_encoding::percent_decode_str;
use unicode_normalization::{UnicodeNormalization as _, is_nfc};

use crate::{IndexedPath, Listing, Newest, PathIndex};

/// How long the modification times of files may be asked for, for an answer to no text at all.
const STAT_TIME: Duration = Duration::from_millis(8);
/// Files between two looks at the clock.
const CHECK_EVERY: usize = 64;
/// Candidates that are looked at beyond those that are returned, in the place of those that are gone.
const SPARE: usize = 100;

/// A typed path to complete, and its bounds.
#[derive(Clone, Copy, Debug)]
pub struct CompletionRequest<'a> {
    /// The workspace whose files are offered.
    pub workspace: &'a Workspace,
    /// The root that the paths are below.
    pub root: &'a WorkspacePath,
    /// The text as it was typed.
    pub text: &'a str,
    /// Real paths of the files used last, newest first.
    pub recent: &'a [WorkspacePath],
    /// Paths to return at most.
    pub limit: usize,
    /// Ends the search early, with what was found.
    pub stop: &'a StopSignal,
}

/// The best paths for a typed text.
#[derive(Debug, Default)]
pub struct Completions {
    /// Whether each is a directory; the best first.
    pub paths: Vec<(WorkspacePath, bool)>,
    /// All that fit, as far as the tree was listed.
    pub total: usize,
    /// Whether there are, or may be, more than are returned.
    pub has_more: bool,
}

impl PathIndex {
    /// The paths below a root that `request` may mean.
    pub fn complete(self: &Arc<Self>, request: &CompletionRequest<'_>) -> Completions {
        let Some(query) = PathQuery::parse(request.text) else { return Completions::default() };
        let names = tree_names(self, request.workspace, request.root, request.stop);
        let in_root = request.recent.iter().filter(|path| path.root().key() == request.root.root().key());
        let recent: HashMap<&WorkspacePath, usize> = in_root.enumerate().map(|(at, path)| (path, at)).collect();
        let wanted = request.limit + SPARE;
        let rank = |query: &PathQuery| ranked(&names, query, &recent, wanted, request.stop);
        let found = if query.is_empty() {
            newest(&names, &recent, wanted)
        } else {
            let found = rank(&query);
            // What was typed may be a mention, `@src/a`, or a part of a URI.
            let other_readings = query.other_readings().into_iter().filter(|_| found.total == 0);
            other_readings.map(|query| rank(&query)).find(|found| found.total > 0).unwrap_or(found)
        };
        present(request, found, names.is_complete)
    }
}

/// The files used last, then those modified last.
fn newest(names: &Listing, recent: &HashMap<&WorkspacePath, usize>, wanted: usize) -> RankedPaths {
    let mut used: Vec<_> = recent.iter().map(|(path, at)| (*at, *path)).collect();
    used.sort_unstable_by_key(|(at, _)| *at);
    let mut paths: Vec<_> = used.into_iter().map(|(_, path)| path.clone()).collect();
    let started = Instant::now();
    let (mut total, mut may_ask) = (paths.len(), true);
    let mut newest = Newest::new(wanted);
    for (at, name) in names.iter().enumerate() {
        if is_directory(&name) || recent.contains_key(name.path()) {
            continue;
        }
        total += 1;
        may_ask = may_ask && (at % CHECK_EVERY != 0 || started.elapsed() < STAT_TIME);
        let modified = if may_ask { name.modified() } else { name.known_modified() };
        newest.push_next(modified, || at, name);
    }
    paths.extend(newest.into_sorted().map(|(_, name)| name.path().clone()));
    RankedPaths { paths, total }
}

/// The first of `found` that are there and may be read.
fn present(request: &CompletionRequest<'_>, found: RankedPaths, is_complete: bool) -> Completions {
    let RankedPaths { paths, mut total } = found;
    let mut shown = Vec::new();
    for path in paths {
        if shown.len() == request.limit || request.stop.stopped().is_some() {
            break;
        }
        let is_shown = || request.workspace.visibility(&path).is_ok_and(|seen| seen != Visibility::Denied);
        // A kept listing may be some seconds old.
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
/// Looks at the clock, one for 64 names, before that counts: a small tree is listed whole on a busy machine, too.
const FEW_LOOKS: usize = 32;

/// The names below `root`, or as many as an answer can wait for.
fn tree_names(index: &Arc<PathIndex>, workspace: &Workspace, root: &WorkspacePath, stop: &StopSignal) -> Listing {
    // A missing directory holds nothing: kept as an unfinished listing, it would hide what appears in it.
    if root.root().is_absent() {
        index.kept_names.forget(root);
        return Listing::empty(workspace, root);
    }
    if let Some(snapshot) = index.live_snapshot(root, None) {
        index.kept_names.forget(root);
        // Brings the rest of the index up to date in the background, where that is due.
        index.after_search(workspace, root, usize::MAX, false);
        return Listing { list: snapshot.list, is_complete: true };
    }
    if let Some(listing) = index.kept_names.get(root) {
        return listing;
    }
    let started = Instant::now();
    let mut looks = 0;
    let names = Listing::read(workspace, root, || {
        looks += 1;
        stop.stopped().is_some() || (looks > FEW_LOOKS && started.elapsed() >= WALK_TIME)
    });
    if !names.is_complete {
        index.after_search(workspace, root, names.iter().count(), true);
        index.kept_names.keep(workspace, root);
    }
    names
}

fn is_directory(name: &IndexedPath<'_>) -> bool {
    name.kind == FileKind::Directory
}

/// Bytes of the longest text that is completed: a person types less, and the work grows with it.
const MAX_TYPED: usize = 512;

/// A typed beginning, part or abbreviation of a path below a root.
#[derive(Debug)]
struct PathQuery {
    /// Without `.`, `..` and leading slashes.
    pub(super) text: String,
    /// The same, composed and in lower case.
    pub(super) folded: String,
}

impl PathQuery {
    /// `None` for what leaves the root, and for what is too long or no path: nothing fits it.
    pub(super) fn parse(text: &str) -> Option<Self> {
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
        let mut text = names.join("/") + if text.ends_with('/') && !names.is_empty() { "/" } else { "" };
        text.shrink_to_fit();
        Some(Self { folded: folded(&text).into_owned(), text })
    }

    pub(super) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// Whether more than a name was typed.
    fn is_path(&self) -> bool {
        self.text.contains('/')
    }

    /// Other meanings, for when nothing fits it: without the `@` of a mention, and percent-decoded.
    fn other_readings(&self) -> Vec<Self> {
        let mention = self.text.strip_prefix('@').and_then(Self::parse);
        let decoded = || percent_decode_str(&self.text).decode_utf8().ok().filter(|decoded| *decoded != self.text);
        let decoded = decoded().and_then(|decoded| Self::parse(&decoded));
        [mention, decoded].into_iter().flatten().filter(|query| !query.is_empty()).collect()
    }
}

/// `text` as names are compared: composed, as macOS stores names decomposed, and in lower case.
pub(super) fn folded(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        let has_upper = text.bytes().any(|byte| byte.is_ascii_uppercase());
        return if has_upper { Cow::Owned(text.to_ascii_lowercase()) } else { Cow::Borrowed(text) };
    }
    let lower = text.to_lowercase();
    Cow::Owned(if is_nfc(&lower) { lower } else { lower.nfc().collect() })
}

/// Whether the characters of `needle` are in `text`, in that order.
fn has_in_order(text: &str, needle: &str) -> bool {
    if text.is_ascii() && needle.is_ascii() {
        let mut rest = text.bytes();
        return needle.bytes().all(|wanted| rest.any(|one| one == wanted));
    }
    let mut rest = text.chars();
    needle.chars().all(|wanted| rest.any(|one| one == wanted))
}

/// Names that are scored at most.
const MAX_SCORED: usize = 1000;
/// Bytes of the longest path that is scored: the time grows with it.
const MAX_SCORED_BYTES: usize = 1024;
/// Names between two looks at the stop signal.
const RANKED_PER_CHECK: usize = 256;

/// Paths in the order of an answer.
#[derive(Debug, Default)]
struct RankedPaths {
    pub(super) paths: Vec<WorkspacePath>,
    /// How many names fit.
    pub(super) total: usize,
}

/// How a name or a path fits what was typed, the best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Fit {
    /// The whole name, with or without its ending; or the whole path.
    Whole,
    /// The beginning of the name, or of the path.
    Beginning,
    /// A part of the name; for a path, whole names in it.
    Part,
    /// Letters of the name in order; for a path, a part of it.
    Letters,
    /// Where a name was typed, a part of the path.
    PathPart,
    /// Letters of the path in order.
    PathLetters,
}

/// A name that fits.
struct Candidate<'n> {
    name: IndexedPath<'n>,
    text: Cow<'n, str>,
    group: (Fit, bool),
    recent: usize,
    /// Those of the name and of the path; 0 until they are computed.
    scores: (usize, usize),
}

impl Candidate<'_> {
    /// The best is least.
    fn order(&self) -> impl Ord {
        // The text at the end, so that the unstable sort has one result only.
        (self.group, self.recent, Reverse(self.scores), self.text.len(), &*self.text)
    }
}

/// The `wanted` best of `names`.
fn ranked(
    names: &Listing,
    query: &PathQuery,
    recent: &HashMap<&WorkspacePath, usize>,
    wanted: usize,
    stop: &StopSignal,
) -> RankedPaths {
    let mut candidates = Vec::new();
    for (at, name) in names.iter().enumerate() {
        if at % RANKED_PER_CHECK == 0 && stop.stopped().is_some() {
            break;
        }
        // Nobody types what is not Unicode.
        let Some(text) = name.relative.to_str() else { continue };
        let text = if cfg!(windows) { Cow::Owned(text.replace('\\', "/")) } else { Cow::Borrowed(text) };
        if let Some(fit) = fit(&text, query) {
            // Its path is made only where it is compared.
            let recent = if recent.is_empty() { None } else { recent.get(name.path()).copied() };
            let group = (fit, is_directory(&name) && !query.is_path());
            let recent = recent.unwrap_or(usize::MAX);
            candidates.push(Candidate { name, text, group, recent, scores: (0, 0) });
        }
    }
    let total = candidates.len();
    // Leaves those that can be the best: of all groups in their order, and of the last one of these what was used last
    // and is shortest.
    if total > MAX_SCORED {
        candidates.select_nth_unstable_by(MAX_SCORED, |one, other| one.order().cmp(&other.order()));
        candidates.truncate(MAX_SCORED);
    }
    let mut matcher = FuzzyMatcher::new();
    for candidate in &mut candidates {
        candidate.scores = scores(&mut matcher, &candidate.text, query);
    }
    candidates.sort_unstable_by(|one, other| one.order().cmp(&other.order()));
    RankedPaths { paths: candidates.into_iter().take(wanted).map(|one| one.name.into_path()).collect(), total }
}

/// How well the name and the path fit.
fn scores(matcher: &mut FuzzyMatcher, path: &str, query: &PathQuery) -> (usize, usize) {
    if path.len() > MAX_SCORED_BYTES {
        return (0, 0);
    }
    let mut score = |text: &str| matcher.fuzzy_match(text, &query.text).unwrap_or(0);
    let name = if query.is_path() { 0 } else { score(name_of(path)) };
    (name, score(path))
}

fn name_of(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |(_, name)| name)
}

fn fit(path: &str, query: &PathQuery) -> Option<Fit> {
    let wanted = query.folded.as_str();
    // Most do not fit at all, which is seen at once; of a mention, `@src/a`, its first character.
    if wanted.starts_with('@') && !path.contains('@') {
        return None;
    }
    let path = folded(path);
    if !has_in_order(&path, wanted) {
        return None;
    }
    if query.is_path() {
        return Some(if path == wanted {
            Fit::Whole
        } else if path.starts_with(wanted) {
            Fit::Beginning
        } else {
            match path.find(wanted) {
                // Never at 0, which is a beginning.
                Some(at) if path.as_bytes()[at - 1] == b'/' => Fit::Part,
                Some(_) => Fit::Letters,
                None => Fit::PathLetters,
            }
        });
    }
    let name = name_of(&path);
    let stem = name.split_once('.').map_or(name, |(stem, _)| stem);
    Some(if name == wanted || stem == wanted {
        Fit::Whole
    } else if name.starts_with(wanted) {
        Fit::Beginning
    } else if name.contains(wanted) {
        Fit::Part
    } else if has_in_order(name, wanted) {
        Fit::Letters
    } else if path.contains(wanted) {
        Fit::PathPart
    } else {
        Fit::PathLetters
    })
}
