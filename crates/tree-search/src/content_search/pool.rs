//! The state that the threads of one search share: chunks of files, what is left of the page, and when to end.
//!
//! `Merge` puts the hits of the workers back into path order, counts them, and tells when they are enough. The answer
//! depends only on the order of the files, never on which thread was faster: a chunk counts once everything before it has
//! come.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::{collections::BTreeMap, ops::ControlFlow, thread, time::Duration};

use confined_fs::{AccessError, Workspace, WorkspacePath, stop::StopReason, walk::Entry};
use crossbeam_channel::Receiver;

use super::known_result::{Expected, SearchItem};
use super::worker::{FileLimits, FileResult, Worker};
use crate::documents::MetDocument;
use crate::{ContentHits, FileHits, Keep, Newest, Query, SearchMode, Skipped, SkippedPaths, Tally};

/// How long fetching the lines of a page may take when counting its matches took until the deadline.
const TO_FINISH: Duration = Duration::from_millis(200);
/// Upper bound of one wait: the stop signal is checked in between.
pub(super) const MAX_WAIT: Duration = Duration::from_millis(20);
/// Files between two looks at the clock: the search of a file that takes long looks at it itself.
const FILES_PER_CHECK: usize = 4;
/// The same for files of which only the state is checked.
const STATS_PER_CHECK: usize = 64;

#[derive(Default)]
pub(super) struct Chunk {
    pub(super) index: usize,
    pub(super) files: Vec<SearchItem>,
}

/// State that the threads of one search share.
pub(super) struct SearchPool<'a> {
    pub(super) query: &'a Query<'a>,
    counts_first: bool,
    merge: Mutex<Merge>,
    pub(super) merged: Condvar,
    done: AtomicBool,
    pub(super) searched: AtomicUsize,
    /// Files that were in another state than the stored index knows, and those that it answered for.
    pub(super) outdated: AtomicUsize,
    pub(super) answered: AtomicUsize,
}

impl<'a> SearchPool<'a> {
    pub(super) fn new(query: &'a Query<'a>, counts_first: bool) -> Self {
        Self {
            query,
            counts_first,
            merge: Mutex::new(Merge::new(query.keep, query.mode.is_of_lines())),
            merged: Condvar::new(),
            done: AtomicBool::new(false),
            searched: AtomicUsize::new(0),
            outdated: AtomicUsize::new(0),
            answered: AtomicUsize::new(0),
        }
    }

    pub(super) fn is_done(&self) -> bool {
        self.done.load(Ordering::Relaxed)
    }

    pub(super) fn go_on(&self) -> ControlFlow<()> {
        if self.is_done() || self.query.stop.stopped().is_some() {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }

    pub(super) fn merge(&self) -> MutexGuard<'_, Merge> {
        // A worker that panicked while it merged ends the call anyway.
        self.merge.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends the search; `stopped` says why the walk ended early, where it did.
    pub(super) fn into_hits(self, stopped: Option<StopReason>) -> ContentHits {
        self.merge.into_inner().unwrap_or_else(PoisonError::into_inner).into_hits(stopped)
    }

    pub(super) fn help(&self, workspace: &Workspace, receiver: &Receiver<Chunk>) {
        // Without this, the walk would wait for the chunk of a worker that panicked.
        let _guard = EndOnPanic(self);
        let mut worker = Worker::new(workspace, self.query);
        for chunk in receiver {
            if !self.is_done() {
                self.search(&mut worker, chunk);
            }
        }
    }

    pub(super) fn search(&self, worker: &mut Worker<'_>, chunk: Chunk) {
        let mut search = ChunkSearch::new(self);
        // It ends early where nothing more can be shown, which the hits say.
        let _ = chunk.files.into_iter().try_for_each(|item| search.item(worker, item));
        self.add(worker, chunk.index, search.hits);
    }

    /// Searches the file that the call names, and nothing else.
    ///
    /// # Errors
    /// When it cannot be opened: the caller asked about this one.
    pub(super) fn search_named(&self, worker: &mut Worker<'_>, path: &WorkspacePath) -> Result<(), AccessError> {
        let mut search = ChunkSearch::new(self);
        if search.goes_on().is_continue() {
            let searched = worker.search_path(path, search.left.limits(self.query.mode), true)?;
            // There is no other file to go on with.
            let _ = search.take(searched);
        }
        self.add(worker, 0, search.hits);
        Ok(())
    }

    fn add(&self, worker: &mut Worker<'_>, index: usize, hits: ChunkHits) {
        worker.siblings.clear();
        self.searched.fetch_add(hits.tally.searched, Ordering::Relaxed);
        self.outdated.fetch_add(std::mem::take(&mut worker.outdated), Ordering::Relaxed);
        self.answered.fetch_add(std::mem::take(&mut worker.answered), Ordering::Relaxed);
        let mut merge = self.merge();
        merge.add(index, hits);
        if merge.done() {
            // Only a hint to stop: what counts is decided under the lock.
            self.done.store(true, Ordering::Relaxed);
        }
        // Before the others are woken, who want the lock at once.
        drop(merge);
        self.merged.notify_all();
    }

    /// How many results a chunk may have before nothing more of it can be shown, and how many of the first
    /// are not shown.
    fn wanted(&self) -> (usize, usize) {
        match (self.query.keep, self.query.mode.is_of_lines()) {
            (Keep::Page { skip, take }, true) if self.counts_first => (past_page(skip, take), usize::MAX),
            (Keep::Page { skip, take }, true) => {
                // Exact on one thread, and on several nothing is skipped.
                let skip = skip.saturating_sub(if skip > 0 { self.merge().results } else { 0 });
                (past_page(skip, take), skip)
            }
            (Keep::Page { skip, take }, false) => (past_page(skip, take), 0),
            (Keep::Newest { .. }, _) => (usize::MAX, 0),
            (Keep::Nothing, _) => (usize::MAX, usize::MAX),
        }
    }

    /// Searches the files of the page once more, in order, for the lines that are on it. One that
    /// has changed meanwhile shows what it holds now.
    pub(super) fn fetch_lines(&self, workspace: &Workspace) {
        let Keep::Page { skip, take } = self.query.keep else { return };
        let mut merge = self.merge();
        // Where counting took all the time there is, a page without lines would be of no use.
        let stop = self.query.stop.to_finish(TO_FINISH);
        let query = Query { stop: &stop, ..*self.query };
        let mut worker = Worker::new(workspace, &query);
        let mut left = Remaining::new(&query, 0, 0);
        for (before, counted) in std::mem::take(&mut merge.found.files) {
            (left.results, left.skip) = (past_page(skip, take).saturating_sub(before), skip.saturating_sub(before));
            let searched = worker.search_path(&counted.path, left.limits(query.mode), false);
            let Ok(FileResult::Done { hits, stopped, .. }) = searched else { continue };
            merge.found.stopped = merge.found.stopped.or(stopped);
            let Some(hits) = hits else { continue };
            left.take(&hits, 0);
            merge.found.files.push((before, hits));
            if left.text == 0 {
                merge.found.capped = true;
                break;
            }
        }
    }
}

struct ChunkSearch<'s, 'a> {
    pool: &'s SearchPool<'a>,
    left: Remaining,
    hits: ChunkHits,
    looked_at: usize,
}

impl<'s, 'a> ChunkSearch<'s, 'a> {
    fn new(pool: &'s SearchPool<'a>) -> Self {
        let (results, skip) = pool.wanted();
        Self { pool, left: Remaining::new(pool.query, results, skip), hits: ChunkHits::default(), looked_at: 0 }
    }

    /// Deals with one file, or several where only their state is to be checked; whether to go on.
    fn item(&mut self, worker: &mut Worker<'_>, item: SearchItem) -> ControlFlow<()> {
        if self.pool.is_done() {
            return ControlFlow::Break(());
        }
        match item {
            SearchItem::File(entry, expected) => return self.file(worker, entry, &expected),
            SearchItem::Unmatched(files) => {
                for at in 0..files.len() {
                    if !worker.is_unmatched(&files, at) {
                        self.file(worker, files.entry(at), &Expected::Unknown)?;
                        continue;
                    }
                    self.hits.tally.searched += 1;
                    // Each is a small part of a file's time.
                    if at.is_multiple_of(STATS_PER_CHECK) {
                        self.goes_on()?;
                    }
                }
            }
            SearchItem::Counted(tally) => self.hits.tally = self.hits.tally.plus(tally),
            SearchItem::LeftOut(path, why) => self.skip(path, why),
        }
        ControlFlow::Continue(())
    }

    fn goes_on(&mut self) -> ControlFlow<()> {
        if self.pool.is_done() {
            return ControlFlow::Break(());
        }
        self.hits.stopped = self.pool.query.stop.stopped();
        if self.hits.stopped.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    fn skip(&mut self, path: WorkspacePath, why: Skipped) {
        self.hits.tally.skip(why);
        self.hits.skipped.push(path, why);
    }

    fn file(&mut self, worker: &mut Worker<'_>, entry: Entry, expected: &Expected) -> ControlFlow<()> {
        if self.looked_at.is_multiple_of(FILES_PER_CHECK) {
            self.goes_on()?;
        }
        self.looked_at += 1;
        let searched = worker.search(entry, expected, self.left.limits(self.pool.query.mode));
        self.take(searched)
    }

    /// Counts what became of a file; whether to go on.
    fn take(&mut self, searched: FileResult) -> ControlFlow<()> {
        let (found, stopped) = match searched {
            FileResult::Done { hits, stopped, tally } => {
                self.hits.tally = self.hits.tally.plus(tally);
                (hits, stopped)
            }
            FileResult::Skipped(path, why) => {
                self.skip(path, why);
                return ControlFlow::Continue(());
            }
            FileResult::Document(met) => {
                self.hits.tally.skip(Skipped::Document);
                self.hits.documents.push(*met);
                return ControlFlow::Continue(());
            }
            FileResult::Gone => return ControlFlow::Continue(()),
        };
        self.hits.stopped = stopped;
        if let Some(found) = found {
            self.left.take(&found, if self.pool.query.mode.is_of_lines() { found.matches } else { 1 });
            self.hits.files.push((self.hits.tally, found));
            // Nothing after this can be shown.
            self.hits.cut = self.left.results == 0 || self.left.text == 0;
        }
        // A file that was left early ends the chunk.
        if self.hits.cut || self.hits.stopped.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

/// Results up to the end of the page, and one that shows that there are more.
fn past_page(skip: usize, take: usize) -> usize {
    skip.saturating_add(take).saturating_add(1)
}

/// The results and bytes that may still be kept of the files that come.
struct Remaining {
    results: usize,
    /// How many of the first results are not shown; `usize::MAX` where none is, as they are counted only.
    skip: usize,
    /// Bytes of lines, and of content that is handed on: each at most [`Query::text_budget`].
    text: usize,
    content: usize,
}

impl Remaining {
    fn new(query: &Query<'_>, results: usize, skip: usize) -> Self {
        Self { results, skip, text: query.text_budget, content: query.text_budget }
    }

    fn take(&mut self, found: &FileHits, results: usize) {
        self.results = self.results.saturating_sub(results);
        if self.skip < usize::MAX {
            self.skip = self.skip.saturating_sub(results);
        }
        self.text = self.text.saturating_sub(found.bytes);
        self.content = self.content.saturating_sub(found.content());
    }

    /// A file ends when the page and one result more are complete, with the lines after the page's
    /// last match, each of which may be a match itself.
    fn limits(&self, mode: SearchMode) -> FileLimits {
        let Self { results, skip, text, content } = *self;
        match mode {
            SearchMode::Lines { after, .. } | SearchMode::Uses { after, .. } => {
                FileLimits { skip, matches: results.saturating_add(after), text, content }
            }
            SearchMode::Definitions { .. } => FileLimits { skip, matches: results, text, content },
            _ => FileLimits { skip: 0, matches: usize::MAX, text: usize::MAX, content },
        }
    }
}

/// Ends the search when its thread unwinds.
struct EndOnPanic<'a>(&'a SearchPool<'a>);

impl Drop for EndOnPanic<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.done.store(true, Ordering::Relaxed);
            // Without the lock: who begins to wait just now misses this, and looks again after `MAX_WAIT`.
            self.0.merged.notify_all();
        }
    }
}

/// Bytes, about, that a file's hits take in addition to their text.
const FILE_WEIGHT: usize = 400;

#[derive(Debug, Default)]
struct ChunkHits {
    pub(super) files: Vec<(Tally, Box<FileHits>)>,
    pub(super) tally: Tally,
    pub(super) documents: Vec<MetDocument>,
    pub(super) skipped: SkippedPaths,
    pub(super) cut: bool,
    pub(super) stopped: Option<StopReason>,
}

impl ChunkHits {
    fn weight(&self) -> usize {
        let files: usize = self.files.iter().map(|(_, hits)| FILE_WEIGHT + hits.bytes + hits.content()).sum();
        FILE_WEIGHT * (1 + self.documents.len()) + files
    }
}

#[derive(Debug, Default)]
pub(super) struct Merge {
    keep: Keep,
    by_lines: bool,
    next: usize,
    /// Bytes, about, of the results that came before their turn.
    pub(super) held: usize,
    waiting: BTreeMap<usize, ChunkHits>,
    newest: Option<Newest<WorkspacePath, Box<FileHits>>>,
    /// Results in path order so far: matches where lines are shown, else files.
    results: usize,
    found: ContentHits,
}

impl Merge {
    pub(super) fn new(keep: Keep, by_lines: bool) -> Self {
        let newest = if let Keep::Newest { limit } = keep { Some(Newest::new(limit)) } else { None };
        Self { keep, by_lines, newest, ..Self::default() }
    }

    pub(super) fn done(&self) -> bool {
        self.found.capped || self.found.stopped.is_some()
    }

    fn add(&mut self, index: usize, chunk: ChunkHits) {
        self.held += chunk.weight();
        self.waiting.insert(index, chunk);
        while let Some(chunk) = self.waiting.remove(&self.next) {
            self.next += 1;
            self.held -= chunk.weight();
            self.take(chunk);
        }
    }

    /// The result. After a stop what came before its turn counts too, though something before it is missing.
    fn into_hits(mut self, stopped: Option<StopReason>) -> ContentHits {
        if !self.done() {
            self.found.stopped = stopped;
        }
        if self.found.stopped.is_some() {
            for chunk in std::mem::take(&mut self.waiting).into_values() {
                self.take(chunk);
            }
        }
        if self.found.capped {
            self.found.stopped = None;
        }
        if let Some(newest) = self.newest {
            self.found.files = newest.into_sorted().enumerate().map(|(at, (_, hits))| (at, hits)).collect();
        }
        self.found
    }

    fn take(&mut self, chunk: ChunkHits) {
        if self.found.capped {
            return;
        }
        let base = self.found.tally;
        // Where the page ends before them, nobody looks at them.
        self.found.documents.extend(chunk.documents);
        for (tally, hits) in chunk.files {
            let cut = hits.cut;
            self.take_file(hits);
            if self.found.capped || (cut && matches!(self.keep, Keep::Page { .. })) {
                self.found.capped = true;
                self.found.tally = base.plus(tally);
                self.found.skipped.add(chunk.skipped, tally.skipped());
                return;
            }
        }
        self.found.tally = base.plus(chunk.tally);
        self.found.skipped.add(chunk.skipped, SkippedPaths::MAX_NAMED);
        self.found.capped |= chunk.cut;
        self.found.stopped = self.found.stopped.or(chunk.stopped);
    }

    fn take_file(&mut self, hits: Box<FileHits>) {
        let before = self.results;
        self.found.matching_files += 1;
        self.found.matches += hits.matches;
        self.found.occurrences += hits.occurrences;
        self.results += if self.by_lines { hits.matches } else { 1 };
        match self.keep {
            Keep::Page { skip, take } => {
                if self.results > skip && before < skip.saturating_add(take) {
                    self.found.files.push((before, hits));
                }
                self.found.capped = self.results > skip.saturating_add(take);
            }
            Keep::Newest { .. } => {
                if let Some(newest) = &mut self.newest {
                    newest.push(hits.stat.modified, hits.path.clone(), hits);
                }
            }
            Keep::Nothing => {}
        }
    }
}
