//! The walking thread of a search: walks from each start, counts the files whose result the path index
//! knows, and hands the rest over in chunks; it searches a chunk itself when no helper is free.
//!
//! The search of a file is in `worker`, the order of results in `pool`.

use std::ffi::OsStr;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::{PoisonError, atomic::Ordering};
use std::time::{Duration, Instant};

use confined_fs::walk::{EntryOrigin, Ignored, IgnoredEntries, WalkOptions, WalkReport};
use confined_fs::{AccessError, FileKind, StatFacts, WorkspacePath, path::split_path};
use crossbeam_channel::{Sender, TrySendError};

use super::known_result::{Expected, SearchItem, StoredResults, UnmatchedFiles, known_result};
use super::pool::{Chunk, MAX_WAIT, SearchPool};
use super::worker::Worker;
use crate::path_index::{walk_ignored_entries, walk_snapshot};
use crate::{
    Candidates, FileFilter, IndexedPath, MayMatch, MetLinks, PathSource, PathSummary, SEGMENT_BYTES, Scope,
    SearchEntry, SearchMode, SearchProgress, Skipped, SkippedPaths, Tally, Visit, file_text::PROGRESS_INTERVAL,
};

/// Files in the first chunk, so that a capped search of a common word ends at once; so many later ones have
/// twice as many as the one before, so that handing over costs little.
const FIRST_CHUNK: usize = 8;
const DOUBLED_CHUNKS: usize = 3;
/// Files that only need a stat take about as long as one that is read.
const STATS_FOR_ONE: usize = 8;
/// Bytes of results that may wait for an earlier chunk before the walk waits too.
const MAX_HELD: usize = 8 << 20;
/// Names that are settled without a look into a file between two looks at the clock.
const NAMES_PER_CHECK: usize = 1024;
/// How many of them take as long as one that comes from the disk.
const WALKED_NAME: usize = 64;
/// Chunks that the walking thread searches itself before it lets others help: most searches end with
/// the first or soon after. Of what the filter leaves, more of them while no more than this time has
/// passed, as all of it often takes less than starting a thread.
const CHUNKS_ALONE: usize = 1;
const ALONE_INDEXED: usize = 3;
const SHORT_TIME: Duration = Duration::from_millis(1);

pub(super) struct Producer<'a> {
    pool: &'a SearchPool<'a>,
    worker: Worker<'a>,
    scope: &'a Scope,
    filter: &'a mut FileFilter,
    sender: Sender<Chunk>,
    /// Starts another thread that helps; false where none can be made.
    start_helper: &'a dyn Fn() -> bool,
    /// Threads that help, and how many may.
    helping: usize,
    helpers: usize,
    chunk: Chunk,
    unmatched: usize,
    /// Files that were handed over by their paths to be counted as left out.
    named: usize,
    began: Instant,
    reported: Instant,
    steps: usize,
    /// Whether every file is searched, so that names do not matter.
    admits_all: bool,
    start: &'a WorkspacePath,
    files: usize,
    /// The files that the n-gram filter leaves, where names come from the path index that it is about.
    candidates: Option<Candidates>,
    /// Results from the stored index, where the filter of the path index says nothing.
    stored: Option<StoredResults>,
    links: MetLinks,
}

impl<'a> Producer<'a> {
    /// One that takes in the files of `scope` that `filter` admits, and lets `worker` search what nobody else takes.
    pub(super) fn new(
        pool: &'a SearchPool<'a>,
        worker: Worker<'a>,
        (scope, start): (&'a Scope, &'a WorkspacePath),
        filter: &'a mut FileFilter,
        sender: Sender<Chunk>,
        start_helper: &'a dyn Fn() -> bool,
    ) -> Self {
        Self {
            admits_all: filter.admits_all() && scope.starts().len() == 1,
            helpers: pool.query.threads.saturating_sub(1),
            pool,
            worker,
            scope,
            filter,
            sender,
            start_helper,
            helping: 0,
            chunk: Chunk::default(),
            unmatched: 0,
            named: 0,
            began: Instant::now(),
            reported: Instant::now(),
            steps: 0,
            start,
            files: 0,
            candidates: None,
            stored: None,
            links: MetLinks::default(),
        }
    }

    /// The walk from one start: over what an earlier search left out, over the path index, or over the disk.
    ///
    /// # Errors
    /// When the start itself cannot be opened.
    pub(super) fn walk(
        &mut self,
        start: &'a WorkspacePath,
        ignored: Ignored,
    ) -> Result<(WalkReport, PathSource), AccessError> {
        let (query, workspace) = (self.pool.query, self.worker.workspace);
        // Directories are visited for the stop signal alone: a tree may have few files.
        let options = WalkOptions { ignored, max_depth: None, directories: true, symlinks: true };
        (self.start, self.files, self.candidates, self.stored) = (start, 0, None, None);
        let (report, source) = if let Some(entries) = query.ignored_entries.and_then(IgnoredEntries::all) {
            (walk_ignored_entries(workspace, start, entries, &options, self), PathSource::Walk)
        } else {
            // Every file without a match is a result, with its path and its state: so none may be merely counted.
            let pattern = Some(query.pattern).filter(|_| query.mode != SearchMode::FilesWithout);
            let mut snapshot = query.path_index.and_then(|index| index.snapshot(workspace, start, pattern));
            self.candidates = snapshot.as_mut().and_then(|snapshot| snapshot.candidates.take());
            // Only without that: the filter in memory knows of later changes, and needs no stat of the files.
            if let (None, Some(index), Some(pattern)) = (&self.candidates, query.path_index, pattern) {
                self.stored = index.stored(start).and_then(|stored| StoredResults::of(&stored, pattern));
            }
            walk_snapshot(workspace, snapshot.as_ref(), start, &options, self)?
        };
        // Ignored files are in no index, so a search of them says nothing of how large the tree is.
        if let (Ignored::Skip, Some(index)) = (ignored, query.path_index) {
            if let Some(stored) = &self.stored {
                index.note_outdated(start, self.files, stored.unknown + self.pool.outdated.load(Ordering::Relaxed));
            }
            index.after_search(workspace, start, self.files, report.stopped);
        }
        Ok((report, source))
    }

    /// Searches what is left; gives back what can search on, as nothing more will come, and the links that were met.
    pub(super) fn end(mut self) -> (Worker<'a>, MetLinks) {
        if !self.pool.is_done() {
            self.hand_over(usize::MAX);
        }
        (self.worker, self.links)
    }

    fn count(&mut self, tally: Tally) {
        match self.chunk.files.last_mut() {
            Some(SearchItem::Counted(sum)) => *sum = sum.plus(tally),
            _ => self.chunk.files.push(SearchItem::Counted(tally)),
        }
    }

    /// Takes in a file that is left out, with its path as long as an answer may name it.
    fn leave(&mut self, item: &IndexedPath<'_>, why: Skipped) {
        if self.names_skipped() {
            self.named += 1;
            self.chunk.files.push(SearchItem::LeftOut(item.path().clone(), why));
        } else {
            let mut tally = Tally::default();
            tally.skip(why);
            self.count(tally);
        }
    }

    /// Takes in a file that holds no match as long as it has those facts.
    fn unmatched(&mut self, origin: &EntryOrigin, directory: &Path, name: &OsStr, facts: StatFacts) {
        self.unmatched += 1;
        if let Some(SearchItem::Unmatched(files)) = self.chunk.files.last_mut()
            && files.push(directory, name, facts)
        {
            return;
        }
        let mut files = UnmatchedFiles::new(origin, directory);
        files.push(directory, name, facts);
        self.chunk.files.push(SearchItem::Unmatched(Box::new(files)));
    }

    fn names_skipped(&self) -> bool {
        self.named < SkippedPaths::MAX_NAMED
    }

    /// Hands the chunk over, or searches it: while it is among the first `alone` ones, and when
    /// no helper is free.
    fn hand_over(&mut self, alone: usize) {
        let next = Chunk { index: self.chunk.index + 1, files: Vec::new() };
        let chunk = std::mem::replace(&mut self.chunk, next);
        if chunk.index >= alone && self.helping < self.helpers {
            if (self.start_helper)() {
                self.helping += 1;
            } else {
                self.helpers = self.helping;
            }
        }
        self.unmatched = 0;
        if self.reported.elapsed() >= PROGRESS_INTERVAL {
            self.reported = Instant::now();
            (self.pool.query.progress)(SearchProgress::Files(self.pool.searched.load(Ordering::Relaxed)));
        }
        // Nobody would take it out of the channel.
        if self.helping == 0 {
            self.pool.search(&mut self.worker, chunk);
            return;
        }
        // One slow file must not let the results of everything after it pile up.
        let mut merge = self.pool.merge();
        let waits_on = || !self.pool.is_done() && self.pool.query.stop.stopped_while_waiting().is_none();
        while merge.held > MAX_HELD && waits_on() {
            let waited = self.pool.merged.wait_timeout(merge, MAX_WAIT);
            merge = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        drop(merge);
        if let Err(TrySendError::Full(chunk) | TrySendError::Disconnected(chunk)) = self.sender.try_send(chunk) {
            self.pool.search(&mut self.worker, chunk);
        }
    }
    fn settled(&mut self, names: usize) -> ControlFlow<()> {
        self.steps += names;
        if self.steps < NAMES_PER_CHECK {
            return ControlFlow::Continue(());
        }
        self.steps = 0;
        self.pool.go_on()
    }
}

impl Visit for Producer<'_> {
    fn pass(&mut self, summaries: &[PathSummary]) -> ControlFlow<(), usize> {
        let names_skipped = self.names_skipped();
        let Some(candidates) = self.candidates.as_mut().filter(|_| self.admits_all) else {
            return ControlFlow::Continue(0);
        };
        let (max_file_size, decodes) = (self.pool.query.max_file_size, self.worker.beyond_ascii.searches_decoded());
        let (mut passed, mut folders, mut tally) = (0, 0, Tally::default());
        for summary in summaries.iter().take(NAMES_PER_CHECK) {
            match *summary {
                PathSummary::NoFile => folders += 1,
                PathSummary::Secret | PathSummary::Binary(_) if names_skipped => break,
                PathSummary::Secret => tally.skip(Skipped::Secret),
                PathSummary::Binary(bytes) if u64::from(bytes) <= max_file_size => tally.skip(Skipped::Binary),
                // What it holds once it is decoded, the filter does not know.
                PathSummary::Filtered { utf8: false, .. } if decodes => break,
                PathSummary::Filtered { first, count, last, .. }
                    if max_file_size >= (u64::from(count) + 1) * SEGMENT_BYTES as u64
                        && candidates.none_may_match(first..first + u32::from(count), last) =>
                {
                    tally.searched += 1;
                }
                _ => break,
            }
            passed += 1;
        }
        if passed > folders {
            self.files += passed - folders;
            self.count(tally);
        }
        self.settled(passed)?;
        ControlFlow::Continue(passed)
    }

    fn visit(&mut self, met: SearchEntry<'_>) -> ControlFlow<()> {
        let is_elsewhere = self.scope.belongs_to_other_start(self.worker.workspace, &met);
        if met.kind() == FileKind::Symlink && !is_elsewhere && self.pool.query.ignored_entries.is_none() {
            self.links.push(met.path());
        }
        if met.kind() != FileKind::File || is_elsewhere {
            return self.settled(WALKED_NAME);
        }
        self.files += 1;
        if !self.filter.admits(met.relative_to(self.start)) {
            return self.settled(if let SearchEntry::Indexed(_) = met { 1 } else { WALKED_NAME });
        }
        let max_file_size = self.pool.query.max_file_size;
        let decodes = self.worker.beyond_ascii.searches_decoded();
        let mut stored = |relative: &Path| self.stored.as_mut()?.of_file(relative, max_file_size, decodes);
        let item = match (met, &mut self.candidates) {
            (SearchEntry::Indexed(item), Some(candidates)) => {
                match known_result(&item.content, candidates, max_file_size, decodes) {
                    Ok(MayMatch::Nowhere) => {
                        self.count(Tally { searched: 1, ..Tally::default() });
                        return self.settled(1);
                    }
                    Err(why) => {
                        self.leave(&item, why);
                        return self.settled(1);
                    }
                    Ok(left) => Some(SearchItem::File(item.entry(), Expected::within(left, item.state()))),
                }
            }
            (SearchEntry::Indexed(item), None) => match (stored(item.relative), split_path(item.relative)) {
                (Some((Ok(MayMatch::Nowhere), facts)), Some((directory, name))) => {
                    self.unmatched(item.origin, directory, name, facts);
                    None
                }
                (known, _) => Some(SearchItem::File(item.entry(), Expected::stored(known))),
            },
            (SearchEntry::Walked(entry), _) => {
                let known = stored(entry.path().relative());
                Some(SearchItem::File(entry, Expected::stored(known)))
            }
        };
        self.chunk.files.extend(item);
        let size = FIRST_CHUNK << self.chunk.index.min(DOUBLED_CHUNKS);
        if self.chunk.files.len() + self.unmatched / STATS_FOR_ONE < size {
            return self.settled(WALKED_NAME);
        }
        let short = self.candidates.is_some() && self.began.elapsed() < SHORT_TIME;
        let alone = if short { ALONE_INDEXED } else { CHUNKS_ALONE };
        self.hand_over(alone);
        self.pool.go_on()
    }
}
