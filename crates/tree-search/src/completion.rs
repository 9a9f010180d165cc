//! Completes what a person types of a path: the best files of one root, ranked by name, path and recent use.
//!
//! Names come from the path index where there is one, else from a short walk. A tree that takes longer is listed in the
//! background for the next keystroke, and an index is begun. What is returned was there at the moment it was looked at,
//! and is nothing that policy hides or denies.

mod names;
mod query;
mod rank;

use std::{
    collections::HashMap,
    sync::Arc,
    time::{Duration, Instant},
};

use confined_fs::{FileKind, Visibility, Workspace, WorkspacePath, stop::StopSignal};

use names::TreeNames;
use query::PathQuery;
use rank::{Ranked, ranked};

use super::{Newest, PathIndex};

/// How long the modification times of files may be asked for, for an answer to no text at all.
const STAT_TIME: Duration = Duration::from_millis(8);
/// Files between two looks at the clock.
const CHECK_EVERY: usize = 64;
/// Candidates that are looked at beyond those that are returned, in the place of those that are gone.
const SPARE: usize = 100;

/// What to complete, and for whom.
#[derive(Clone, Copy, Debug)]
pub struct CompletionRequest<'a> {
    /// Whose files.
    pub workspace: &'a Workspace,
    /// Below which root.
    pub root: &'a WorkspacePath,
    /// What was typed.
    pub text: &'a str,
    /// Real paths of the files used last, newest first.
    pub recent: &'a [WorkspacePath],
    /// Paths to return at most.
    pub limit: usize,
    /// When to stop.
    pub stop: &'a StopSignal,
}

/// The best paths.
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
        let names = TreeNames::of(self, request.workspace, request.root, request.stop);
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
        present(request, found, names.is_complete())
    }
}

/// The files used last, then those modified last.
fn newest(names: &TreeNames, recent: &HashMap<&WorkspacePath, usize>, wanted: usize) -> Ranked {
    let mut used: Vec<_> = recent.iter().map(|(path, at)| (*at, *path)).collect();
    used.sort_unstable_by_key(|(at, _)| *at);
    let mut paths: Vec<_> = used.into_iter().map(|(_, path)| path.clone()).collect();
    let started = Instant::now();
    let (mut total, mut may_ask) = (paths.len(), true);
    let mut newest = Newest::new(wanted);
    for (at, name) in names.iter().enumerate() {
        if name.is_directory() || recent.contains_key(name.path()) {
            continue;
        }
        total += 1;
        may_ask = may_ask && (at % CHECK_EVERY != 0 || started.elapsed() < STAT_TIME);
        newest.push_next(name.modified(may_ask), || at, name);
    }
    paths.extend(newest.into_sorted().map(|(_, name)| name.path().clone()));
    Ranked { paths, total }
}

/// The first of `found` that are there and may be read.
fn present(request: &CompletionRequest<'_>, found: Ranked, is_complete: bool) -> Completions {
    let Ranked { paths, mut total } = found;
    let mut shown = Vec::new();
    for path in paths {
        if shown.len() == request.limit || request.stop.stopped().is_some() {
            break;
        }
        let is_shown = || request.workspace.visibility(&path).is_ok_and(|seen| seen != Visibility::Denied);
        match request.workspace.stat(&path).map(|stat| stat.kind) {
            Ok(FileKind::Directory) => shown.push((path, true)),
            Ok(FileKind::File) if is_shown() => shown.push((path, false)),
            _ => total = total.saturating_sub(1),
        }
    }
    Completions { has_more: !is_complete || total > shown.len(), paths: shown, total }
}
