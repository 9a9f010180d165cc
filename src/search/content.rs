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
    time::{Duration, Instant},
};

use crossbeam_channel::{Receiver, Sender, TrySendError, bounded};

use crate::{
    session::{StopReason, StopSignal},
    workspace::{AccessError, FileKind, Ignored, LeftOut, Revision, WalkOptions, WalkReport, Workspace},
};

use super::{
    files::FileFilter,
    index::{Admitted, Candidates},
    list::{Content, Item, Live, Met, Source},
    merge::{ChunkHits, FileHits, Keep, Merge, Skipped, Tally},
    pattern::Pattern,
    progress::{self, Progress},
    scope::Scope,
    sink::{Limits, Mode},
    worker::{Haystack, Searched, Worker, revision_of},
};

/// Files in the first chunk, so that a capped search of a common word ends at once; later ones
/// double up to [`LARGEST_CHUNK`], so that handing over costs little.
const FIRST_CHUNK: usize = 8;
const LARGEST_CHUNK: usize = 64;
/// Bytes of results that may wait for an earlier chunk before the walk waits too.
const MAX_HELD: usize = 8 << 20;
/// Files that the filter answers for between two looks at the clock.
const STEPS: usize = 1024;
/// Upper bound of one wait: the stop signal is looked at in between.
const WAIT: Duration = Duration::from_millis(20);

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
    pub live: Option<&'a Arc<Live>>,
    /// For a search of ignored files alone: what an earlier one left out.
    pub left_out: Option<&'a LeftOut>,
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
    pub source: Source,
}

impl Found {
    /// Whether every file was looked into.
    pub fn complete(&self) -> bool {
        !self.capped && self.stopped.is_none()
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
    let shared = Shared {
        query,
        merge: Mutex::new(Merge::new(query.keep, by_lines)),
        merged: Condvar::new(),
        done: AtomicBool::new(false),
        searched: AtomicUsize::new(0),
    };
    let (mut walk, mut source) = (WalkReport::default(), Source::Walk);
    if let Some(file) = scope.file() {
        let chunk = Chunk { index: 0, files: vec![Haystack::Named(file.clone())] };
        shared.search(&mut Worker::new(workspace, query), chunk)?;
    } else {
        (walk, source) = search_directories(workspace, scope, filter, ignored, &shared)?;
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

fn search_directories(
    workspace: &Workspace,
    scope: &Scope,
    filter: &mut FileFilter,
    ignored: Ignored,
    shared: &Shared<'_>,
) -> Result<(WalkReport, Source), AccessError> {
    let query = shared.query;
    // A later page needs the number of matches before a file to know which lines to keep; in order,
    // on one thread, it is known.
    let paged = matches!((query.mode, query.keep), (Mode::Lines { .. }, Keep::Page { skip: 1.., .. }));
    let helpers = if paged { 0 } else { query.threads.saturating_sub(1) };
    // Directories are visited for the stop signal alone: a tree may have few files.
    let options = WalkOptions { ignored, max_depth: None, directories: true, symlinks: false };
    let nothing_kept = Arc::default();
    let live = query.live.unwrap_or(&nothing_kept);
    let _call = live.call();
    thread::scope(|threads| {
        let (sender, receiver) = bounded::<Chunk>(helpers.max(1) * 2);
        let mut feeder = Feeder {
            shared,
            sender,
            worker: Worker::new(workspace, query),
            chunk: Vec::new(),
            index: 0,
            size: FIRST_CHUNK,
            reported: Instant::now(),
        };
        let mut spawned = 0;
        let (mut report, mut source) = (WalkReport::default(), Source::List);
        for start in scope.starts() {
            let mut failed = None;
            let mut files = 0;
            let left_out = query.left_out.filter(|left_out| left_out.all().is_some());
            let mut snapshot = match (left_out, query.live) {
                (None, Some(live)) => live.snapshot(start, Some(query.pattern)),
                _ => None,
            };
            let mut candidates = snapshot.as_mut().and_then(|snapshot| snapshot.candidates.take());
            let mut visit = |met: Met<'_>| {
                if met.kind() != FileKind::File || scope.is_anothers(workspace, met.path()) {
                    return shared.go_on();
                }
                files += 1;
                let admitted = filter.admits(met.path().relative_to(start));
                match (&met, &mut candidates) {
                    (Met::Listed(_), _) if !admitted => return shared.go_on_often(files),
                    (Met::Walked(_), _) if !admitted => return shared.go_on(),
                    (Met::Listed(item), Some(candidates)) => match haystack(item, candidates, query) {
                        Haystack::Answered(tally) => {
                            feeder.count(tally);
                            return shared.go_on_often(files);
                        }
                        to_open => feeder.chunk.push(to_open),
                    },
                    _ => feeder.chunk.push(Haystack::Met(met.into_entry())),
                }
                if feeder.chunk.len() < feeder.size {
                    return shared.go_on();
                }
                // The first chunk is searched here: most searches end with it or soon after.
                if feeder.index > 0 && spawned < helpers {
                    spawned += 1;
                    let receiver = receiver.clone();
                    threads.spawn(move || shared.help(workspace, &receiver));
                }
                match feeder.hand_over(spawned > 0) {
                    Ok(()) => shared.go_on(),
                    Err(error) => {
                        failed = Some(error);
                        ControlFlow::Break(())
                    }
                }
            };
            let (one, from) = match left_out {
                Some(left_out) => live.walk_left_out(workspace, start, left_out, &options, &mut visit),
                None => live.walk_with(workspace, snapshot.as_ref(), start, &options, &mut visit),
            }?;
            if let Some(error) = failed {
                return Err(error);
            }
            if from == Source::Walk {
                source = Source::Walk;
            }
            if let (Ignored::Skip, Some(live)) = (ignored, query.live) {
                live.after(workspace, start, files, one.stopped);
            }
            report.add(one);
            if report.stopped {
                break;
            }
        }
        if !shared.done.load(Ordering::Relaxed) {
            feeder.hand_over(false)?;
        }
        let Feeder { sender, mut worker, .. } = feeder;
        drop(sender);
        for chunk in receiver.try_iter() {
            shared.search(&mut worker, chunk)?;
        }
        Ok((report, source))
    })
}

/// What has to be searched of a listed file, or what that would come to where it is known.
fn haystack(item: &Item, candidates: &mut Candidates, query: &Query<'_>) -> Haystack {
    let max_file_size = query.max_file_size;
    let mut tally = Tally::default();
    match &item.content {
        Content::Protected => tally.skip(Skipped::Protected),
        Content::Binary(bytes) if u64::from(*bytes) <= max_file_size => tally.skip(Skipped::Binary),
        Content::Placed(placement, bytes, utf8) if u64::from(*bytes) <= max_file_size => {
            let not_utf8 = !utf8 && query.pattern.beyond_ascii();
            match (candidates.admit(placement), item.state()) {
                (Admitted::Nothing, _) => {
                    tally.searched = 1;
                    tally.not_utf8 = usize::from(not_utf8);
                }
                (Admitted::Within(lines), Some(state)) if !not_utf8 => {
                    return Haystack::Within(item.entry.clone(), lines, state);
                }
                _ => return Haystack::Met(item.entry.clone()),
            }
        }
        _ => return Haystack::Met(item.entry.clone()),
    }
    Haystack::Answered(tally)
}

/// Consecutive files of the walk.
struct Chunk {
    index: usize,
    files: Vec<Haystack>,
}

/// What the threads of one search share.
struct Shared<'a> {
    query: &'a Query<'a>,
    merge: Mutex<Merge>,
    merged: Condvar,
    done: AtomicBool,
    searched: AtomicUsize,
}

impl Shared<'_> {
    fn go_on(&self) -> ControlFlow<()> {
        if self.done.load(Ordering::Relaxed) || self.query.stop.stopped().is_some() {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }

    /// The same for steps that take some nanoseconds each: the clock costs more.
    fn go_on_often(&self, step: usize) -> ControlFlow<()> {
        if step.is_multiple_of(STEPS) { self.go_on() } else { ControlFlow::Continue(()) }
    }

    fn merge(&self) -> MutexGuard<'_, Merge> {
        // A worker that panicked while it merged ends the call anyway.
        self.merge.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn help(&self, workspace: &Workspace, receiver: &Receiver<Chunk>) {
        // Without this, the walk would wait for the chunk of a worker that panicked.
        let _guard = EndOnPanic(self);
        let mut worker = Worker::new(workspace, self.query);
        for chunk in receiver {
            if !self.done.load(Ordering::Relaxed) {
                // Only a named file's error is returned, and none is named in a walk.
                let _ = self.search(&mut worker, chunk);
            }
        }
    }

    /// Searches a chunk and merges it.
    fn search(&self, worker: &mut Worker<'_>, chunk: Chunk) -> Result<(), AccessError> {
        let Chunk { index, files } = chunk;
        let (mut room, mut skip) = match (self.query.keep, self.query.mode) {
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
            if self.done.load(Ordering::Relaxed) {
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
            skip = skip.saturating_sub(results);
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

/// The walking thread: fills chunks, hands them over, and searches when nobody is free.
struct Feeder<'a> {
    shared: &'a Shared<'a>,
    sender: Sender<Chunk>,
    worker: Worker<'a>,
    chunk: Vec<Haystack>,
    index: usize,
    size: usize,
    reported: Instant,
}

impl Feeder<'_> {
    /// Takes in a file that need not be opened.
    fn count(&mut self, tally: Tally) {
        match self.chunk.last_mut() {
            Some(Haystack::Answered(sum)) => *sum = sum.plus(tally),
            _ => self.chunk.push(Haystack::Answered(tally)),
        }
    }

    fn hand_over(&mut self, helped: bool) -> Result<(), AccessError> {
        let chunk = Chunk { index: self.index, files: std::mem::take(&mut self.chunk) };
        self.index += 1;
        self.size = (self.size * 2).min(LARGEST_CHUNK);
        if self.reported.elapsed() >= progress::EVERY {
            self.reported = Instant::now();
            (self.shared.query.progress)(Progress::Files(self.shared.searched.load(Ordering::Relaxed)));
        }
        if !helped {
            return self.shared.search(&mut self.worker, chunk);
        }
        // One slow file must not let the results of everything behind it pile up.
        let mut merge = self.shared.merge();
        while merge.held() > MAX_HELD && self.shared.go_on().is_continue() {
            let waited = self.shared.merged.wait_timeout(merge, WAIT);
            merge = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        drop(merge);
        match self.sender.try_send(chunk) {
            Ok(()) => Ok(()),
            Err(TrySendError::Full(chunk) | TrySendError::Disconnected(chunk)) => {
                self.shared.search(&mut self.worker, chunk)
            }
        }
    }
}
