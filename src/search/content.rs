//! Ordered parallel content search with early stop.
//!
//! The walk hands out names in path order, in chunks; whoever is free searches a chunk, the walking
//! thread included; results are merged in order, and once the page that was asked for is complete
//! everything else stops. Holds no more than a few chunks beyond what is shown.

use std::{
    ops::ControlFlow,
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread,
    time::Duration,
};

use crossbeam_channel::{Receiver, bounded};

use crate::{
    stop::{StopReason, StopSignal},
    workspace::{AccessError, Ignored, IgnoredEntries, Revision, WalkOptions, WalkReport, Workspace},
};

use super::{
    feed::{Feeder, Feeding},
    files::FileFilter,
    merge::{ChunkHits, FileHits, Keep, Merge, Tally},
    path_index::{PathIndex, PathSource},
    pattern::Pattern,
    progress::Progress,
    scope::Scope,
    sink::{Limits, Mode},
    worker::{Haystack, Searched, Worker, revision_of},
};

/// How long the lines of a page are fetched whose files were counted until the deadline.
const TO_FINISH: Duration = Duration::from_millis(200);
/// Upper bound of one wait: the stop signal is looked at in between.
pub(super) const WAIT: Duration = Duration::from_millis(20);

/// What is searched for, and how much of it is wanted.
#[derive(Clone, Copy)]
pub struct Query<'a> {
    /// What a line must match.
    pub pattern: &'a Pattern,
    /// What is wanted of a match.
    pub mode: Mode,
    /// Which results are wanted.
    pub keep: Keep,
    /// Bytes of text that can be shown at most; each chunk keeps no more.
    pub text_budget: usize,
    /// Bytes of the largest file that is searched unless it is named.
    pub max_file_size: u64,
    /// Threads, the calling one included.
    pub threads: usize,
    /// Cancellation and deadline.
    pub stop: &'a StopSignal,
    /// Told now and then how far the search is.
    pub progress: &'a (dyn Fn(Progress) + Sync),
    /// What is kept between calls, where anything is.
    pub path_index: Option<&'a Arc<PathIndex>>,
    /// For a search of ignored files alone: what an earlier one left out.
    pub ignored_entries: Option<&'a IgnoredEntries>,
}

impl std::fmt::Debug for Query<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Query").field("mode", &self.mode).field("keep", &self.keep).finish_non_exhaustive()
    }
}

/// What a search found.
#[derive(Debug)]
pub struct Found {
    /// The files of the page, each with the number of results before it.
    pub files: Vec<(usize, Box<FileHits>)>,
    /// Matches in all, or up to where the search ended.
    pub matches: usize,
    /// Files with matches in all, or up to where the search ended.
    pub matching_files: usize,
    /// There is more than was asked for.
    pub capped: bool,
    /// The call was told to stop before the end.
    pub stopped: Option<StopReason>,
    /// What became of the files.
    pub tally: Tally,
    /// What the walk left out.
    pub walk: WalkReport,
    /// Where the names came from.
    pub source: PathSource,
}

impl Found {
    /// Whether every file was looked into.
    pub fn complete(&self) -> bool {
        !self.capped && self.stopped.is_none() && self.tally.out_of_files == 0 && self.walk.limits_hit.is_empty()
    }
}

impl FileHits {
    /// The revision that the hits were seen in; reads a file again that was streamed, up to
    /// `limit` bytes.
    pub fn revision(&self, workspace: &Workspace, limit: u64, stop: &StopSignal) -> Option<Revision> {
        match &self.seen {
            Some(seen) => Some(seen.revision),
            None => revision_of(workspace, &self.real, &self.stat, limit, stop),
        }
    }
}

/// Searches the files of `scope` that `filter` admits.
///
/// # Errors
/// When the start itself cannot be opened; whatever else cannot be read is counted.
///
/// # Panics
/// When a worker panicked: the panic is the call's.
pub fn search(
    workspace: &Workspace,
    scope: &Scope,
    filter: &mut FileFilter,
    ignored: Ignored,
    query: &Query<'_>,
) -> Result<Found, AccessError> {
    let by_lines = matches!(query.mode, Mode::Lines { .. });
    let counts_first = counts_first(query) && scope.file().is_none();
    let shared = Shared {
        query,
        counts_first,
        merge: Mutex::new(Merge::new(query.keep, by_lines)),
        merged: Condvar::new(),
        done: AtomicBool::new(false),
        searched: AtomicUsize::new(0),
    };
    let (mut walk, mut source) = (WalkReport::default(), PathSource::Walk);
    if let Some(file) = scope.file() {
        let chunk = Chunk { index: 0, files: vec![Haystack::Named(file.clone())] };
        shared.search(&mut Worker::new(workspace, query), chunk)?;
    } else {
        (walk, source) = search_directories(workspace, scope, filter, ignored, &shared)?;
    }
    if counts_first {
        shared.fetch_lines(workspace);
    }
    let mut merge = shared.merge.into_inner().unwrap_or_else(PoisonError::into_inner);
    if !merge.capped && merge.stopped.is_none() && walk.stopped {
        merge.stopped = query.stop.stopped();
    }
    if merge.stopped.is_some() {
        merge.flush();
    }
    Ok(Found {
        matches: merge.matches,
        matching_files: merge.files,
        capped: merge.capped,
        stopped: if merge.capped { None } else { merge.stopped },
        tally: merge.tally,
        walk,
        source,
        files: merge.into_kept(),
    })
}

/// Whether a page is counted before its lines are fetched: a later page needs the number of matches
/// before a file to know which of its lines to keep, and several threads do not know it.
fn counts_first(query: &Query<'_>) -> bool {
    query.threads > 1 && matches!((query.mode, query.keep), (Mode::Lines { .. }, Keep::Page { skip: 1.., .. }))
}

fn search_directories(
    workspace: &Workspace,
    scope: &Scope,
    filter: &mut FileFilter,
    ignored: Ignored,
    shared: &Shared<'_>,
) -> Result<(WalkReport, PathSource), AccessError> {
    let query = shared.query;
    let helpers = query.threads.saturating_sub(1);
    // Directories are visited for the stop signal alone: a tree may have few files.
    let options = WalkOptions { ignored, max_depth: None, directories: true, symlinks: false };
    let nothing_kept = Arc::default();
    let path_index = query.path_index.unwrap_or(&nothing_kept);
    let _call = path_index.call();
    thread::scope(|threads| {
        let (sender, receiver) = bounded::<Chunk>(helpers.max(1) * 2);
        let start_helper = || {
            let receiver = receiver.clone();
            // As many as the system makes: without any, the walking thread searches alone.
            thread::Builder::new().spawn_scoped(threads, move || shared.help(workspace, &receiver)).is_ok()
        };
        let mut feeder = Feeder::new(workspace, shared, sender, helpers, &start_helper);
        let (mut report, mut source) = (WalkReport::default(), PathSource::Index);
        for start in scope.starts() {
            let left_out = query.ignored_entries.filter(|left_out| left_out.all().is_some());
            let mut snapshot = match (left_out, query.path_index) {
                (None, Some(path_index)) => path_index.snapshot(start, Some(query.pattern)),
                _ => None,
            };
            let candidates = snapshot.as_mut().and_then(|snapshot| snapshot.candidates.take());
            let mut feeding = Feeding::new(&mut feeder, workspace, (scope, start), filter, candidates);
            let (one, from) = match left_out {
                Some(left_out) => path_index.walk_ignored(workspace, start, left_out, &options, &mut feeding),
                None => path_index.walk_with(workspace, snapshot.as_ref(), start, &options, &mut feeding),
            }?;
            let Feeding { failed, files, .. } = feeding;
            if let Some(error) = failed {
                return Err(error);
            }
            if from == PathSource::Walk {
                source = PathSource::Walk;
            }
            if let (Ignored::Skip, Some(path_index)) = (ignored, query.path_index) {
                path_index.after(workspace, start, files, one.stopped);
            }
            report.add(one);
            if report.stopped {
                break;
            }
        }
        let mut worker = feeder.end()?;
        for chunk in receiver.try_iter() {
            shared.search(&mut worker, chunk)?;
        }
        Ok((report, source))
    })
}

/// Consecutive files of the walk.
pub(super) struct Chunk {
    pub(super) index: usize,
    pub(super) files: Vec<Haystack>,
}

/// What the threads of one search share.
pub(super) struct Shared<'a> {
    pub(super) query: &'a Query<'a>,
    /// Files are counted, and those of the page searched once more.
    counts_first: bool,
    merge: Mutex<Merge>,
    pub(super) merged: Condvar,
    done: AtomicBool,
    searched: AtomicUsize,
}

impl Shared<'_> {
    /// Whether nothing that is found from now on can be shown.
    pub(super) fn is_done(&self) -> bool {
        self.done.load(Ordering::Relaxed)
    }

    /// Files searched so far.
    pub(super) fn searched(&self) -> usize {
        self.searched.load(Ordering::Relaxed)
    }

    pub(super) fn go_on(&self) -> ControlFlow<()> {
        if self.is_done() || self.query.stop.stopped().is_some() {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }

    /// Whether to wait on for what other threads find.
    pub(super) fn wait_on(&self) -> bool {
        !self.is_done() && self.query.stop.stopped_while_waiting().is_none()
    }

    pub(super) fn merge(&self) -> MutexGuard<'_, Merge> {
        // A worker that panicked while it merged ends the call anyway.
        self.merge.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn help(&self, workspace: &Workspace, receiver: &Receiver<Chunk>) {
        // Without this, the walk would wait for the chunk of a worker that panicked.
        let _guard = EndOnPanic(self);
        let mut worker = Worker::new(workspace, self.query);
        for chunk in receiver {
            if !self.is_done() {
                // Only a named file's error is returned, and none is named in a walk.
                let _ = self.search(&mut worker, chunk);
            }
        }
    }

    /// Searches a chunk and merges it.
    pub(super) fn search(&self, worker: &mut Worker<'_>, chunk: Chunk) -> Result<(), AccessError> {
        let Chunk { index, files } = chunk;
        let (mut room, mut skip) = match (self.query.keep, self.query.mode) {
            (Keep::Page { skip, take }, Mode::Lines { .. }) if self.counts_first => {
                (skip.saturating_add(take).saturating_add(1), usize::MAX)
            }
            (Keep::Page { skip, take }, Mode::Lines { .. }) => {
                // Exact on one thread, and on several nothing is skipped.
                let skip = skip.saturating_sub(if skip > 0 { self.merge().results } else { 0 });
                (skip.saturating_add(take).saturating_add(1), skip)
            }
            (Keep::Page { skip, take }, _) => (skip.saturating_add(take).saturating_add(1), 0),
            (Keep::Newest { .. } | Keep::Nothing, _) => (usize::MAX, 0),
        };
        let mut hits = ChunkHits::default();
        let (mut bytes, mut content) = (0, 0);
        for haystack in files {
            if self.is_done() {
                break;
            }
            hits.stopped = self.query.stop.stopped();
            if hits.stopped.is_some() {
                break;
            }
            if let Haystack::Answered(tally) = haystack {
                hits.tally = hits.tally.plus(tally);
                continue;
            }
            let limits = self.limits(room, skip, bytes);
            let found = match worker.search(haystack, limits, self.query.text_budget.saturating_sub(content))? {
                Searched::Done(found) => found,
                Searched::NotUtf8 => {
                    hits.tally.not_utf8 += 1;
                    None
                }
                Searched::Stopped(reason, found) => {
                    hits.stopped = Some(reason);
                    found
                }
                Searched::Skipped(why) => {
                    hits.tally.skip(why);
                    continue;
                }
                Searched::Gone => continue,
            };
            hits.tally.searched += 1;
            let Some(found) = found else { continue };
            let results = match self.query.mode {
                Mode::Lines { .. } => found.matches,
                Mode::Files | Mode::Counts => 1,
            };
            room = room.saturating_sub(results);
            if !self.counts_first {
                skip = skip.saturating_sub(results);
            }
            bytes += found.bytes;
            content += found.seen.as_ref().and_then(|seen| seen.bytes.as_ref()).map_or(0, Vec::len);
            hits.files.push((hits.tally, found));
            // Nothing after this can be shown.
            if room == 0 || bytes >= self.query.text_budget {
                hits.cut = true;
                break;
            }
        }
        self.searched.fetch_add(hits.tally.searched, Ordering::Relaxed);
        let mut merge = self.merge();
        merge.add(index, hits);
        if merge.done() {
            self.done.store(true, Ordering::Relaxed);
        }
        drop(merge);
        self.merged.notify_all();
        Ok(())
    }

    /// Searches the files of the page once more, in order, for the lines that are on it. One that
    /// has changed meanwhile shows what it holds now.
    fn fetch_lines(&self, workspace: &Workspace) {
        let Keep::Page { skip, take } = self.query.keep else { return };
        let mut merge = self.merge();
        let stop = self.query.stop.to_finish(TO_FINISH);
        let query = Query { stop: &stop, ..*self.query };
        let mut worker = Worker::new(workspace, &query);
        let (mut bytes, mut content) = (0, 0);
        for (before, counted) in std::mem::take(&mut merge.kept) {
            let room = skip.saturating_add(take).saturating_add(1).saturating_sub(before);
            let limits = self.limits(room, skip.saturating_sub(before), bytes);
            let keep_content = self.query.text_budget.saturating_sub(content);
            let found = match worker.search(Haystack::Again(counted.path), limits, keep_content) {
                Ok(Searched::Done(found)) => found,
                Ok(Searched::Stopped(reason, found)) => {
                    merge.stopped = merge.stopped.or(Some(reason));
                    found
                }
                Ok(Searched::NotUtf8 | Searched::Skipped(_) | Searched::Gone) | Err(_) => None,
            };
            let Some(found) = found else { continue };
            bytes += found.bytes;
            content += found.seen.as_ref().and_then(|seen| seen.bytes.as_ref()).map_or(0, Vec::len);
            merge.kept.push((before, found));
            if bytes >= self.query.text_budget {
                merge.capped = true;
                break;
            }
        }
    }

    /// A file ends when the page and one result more are complete, with the lines after the page's
    /// last match, each of which may be a match itself.
    fn limits(&self, room: usize, skip: usize, bytes: usize) -> Limits {
        match self.query.mode {
            Mode::Lines { after, .. } => Limits {
                skip,
                matches: room.saturating_add(after),
                bytes: self.query.text_budget.saturating_sub(bytes),
            },
            Mode::Files | Mode::Counts => Limits { skip: 0, matches: usize::MAX, bytes: usize::MAX },
        }
    }
}

/// Ends the search when its thread unwinds.
struct EndOnPanic<'a>(&'a Shared<'a>);

impl Drop for EndOnPanic<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.done.store(true, Ordering::Relaxed);
            self.0.merged.notify_all();
        }
    }
}
