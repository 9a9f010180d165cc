//! The walking thread of a search: takes paths from the walk, counts those whose result the path index
//! knows, and hands the rest over in chunks; it searches a chunk itself when no helper is free.
//!
//! The search of a file is in `worker`, the order of results in `pool`.

use std::{
    ffi::OsStr,
    ops::ControlFlow,
    path::Path,
    sync::{PoisonError, atomic::Ordering},
    time::{Duration, Instant},
};

use confined_fs::{EntryOrigin, FileKind, StatFacts, Workspace, WorkspacePath, split_path};
use crossbeam_channel::{Sender, TrySendError};

use super::{
    known_result::{Expected, SearchItem, StoredResults, UnmatchedFiles, known_result},
    pool::{Chunk, SearchPool, WAIT},
    worker::Worker,
};
use crate::{
    Candidates, FileFilter, IndexedPath, MayMatch, PathSummary, SEGMENT, Scope, SearchEntry, SearchProgress, Skipped,
    SkippedPaths, Tally, Visit, file_text::PROGRESS_INTERVAL,
};

/// Files in the first chunk, so that a capped search of a common word ends at once; later ones
/// double up to [`LARGEST_CHUNK`], so that handing over costs little.
const FIRST_CHUNK: usize = 8;
const LARGEST_CHUNK: usize = 64;
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
const ALONE: usize = 1;
const ALONE_INDEXED: usize = 3;
const SHORT: Duration = Duration::from_millis(1);

/// Fills chunks and hands them over.
pub(super) struct Producer<'a> {
    pool: &'a SearchPool<'a>,
    sender: Sender<Chunk>,
    worker: Worker<'a>,
    chunk: Vec<SearchItem>,
    index: usize,
    size: usize,
    began: Instant,
    reported: Instant,
    /// Starts another thread that helps; false where none can be made.
    start_helper: &'a dyn Fn() -> bool,
    helpers: usize,
    helping: usize,
    /// Files that were handed over by their paths to be counted as left out.
    named: usize,
    /// Files in the chunk that only need a stat.
    unmatched: usize,
}

impl<'a> Producer<'a> {
    /// One that can have as many as `helpers` started.
    pub(super) fn new(
        workspace: &'a Workspace,
        pool: &'a SearchPool<'a>,
        sender: Sender<Chunk>,
        helpers: usize,
        start_helper: &'a dyn Fn() -> bool,
    ) -> Self {
        Self {
            pool,
            sender,
            worker: Worker::new(workspace, pool.query),
            chunk: Vec::new(),
            index: 0,
            size: FIRST_CHUNK,
            began: Instant::now(),
            reported: Instant::now(),
            start_helper,
            helpers,
            helping: 0,
            named: 0,
            unmatched: 0,
        }
    }

    /// Searches what is left; gives back what can search on, as nothing more will come.
    pub(super) fn end(mut self) -> Worker<'a> {
        if !self.pool.is_done() {
            self.hand_over(usize::MAX);
        }
        self.worker
    }

    /// Takes in files that need not be opened.
    fn count(&mut self, tally: Tally) {
        match self.chunk.last_mut() {
            Some(SearchItem::Counted(sum)) => *sum = sum.plus(tally),
            _ => self.chunk.push(SearchItem::Counted(tally)),
        }
    }

    /// Takes in a file that is left out, with its path as long as an answer may name it.
    fn leave(&mut self, item: &IndexedPath<'_>, why: Skipped) {
        if self.names_skipped() {
            self.named += 1;
            self.chunk.push(SearchItem::Left(item.path().clone(), why));
        } else {
            let mut tally = Tally::default();
            tally.skip(why);
            self.count(tally);
        }
    }

    /// Takes in a file that holds no match as long as it has those facts.
    fn unmatched(&mut self, origin: &EntryOrigin, directory: &Path, name: &OsStr, facts: StatFacts) {
        self.unmatched += 1;
        let last = if let Some(SearchItem::Unmatched(files)) = self.chunk.last_mut() { Some(files) } else { None };
        if last.is_some_and(|files| files.push(directory, name, facts)) {
            return;
        }
        let mut files = UnmatchedFiles::new(origin, directory);
        files.push(directory, name, facts);
        self.chunk.push(SearchItem::Unmatched(Box::new(files)));
    }

    /// Whether the chunk is to be handed over.
    fn is_chunk_full(&self) -> bool {
        self.chunk.len() + self.unmatched / STATS_FOR_ONE >= self.size
    }

    /// Whether the answer may still name a file that is left out.
    fn names_skipped(&self) -> bool {
        self.named < SkippedPaths::NAMED
    }

    /// Hands the chunk over, or searches it: while it is among the first `alone` ones, and when
    /// no helper is free.
    fn hand_over(&mut self, alone: usize) {
        let chunk = Chunk { index: self.index, files: std::mem::take(&mut self.chunk) };
        if self.index >= alone && self.helping < self.helpers {
            if (self.start_helper)() {
                self.helping += 1;
            } else {
                self.helpers = self.helping;
            }
        }
        self.index += 1;
        self.unmatched = 0;
        self.size = (self.size * 2).min(LARGEST_CHUNK);
        if self.reported.elapsed() >= PROGRESS_INTERVAL {
            self.reported = Instant::now();
            (self.pool.query.progress)(SearchProgress::Files(self.pool.searched.load(Ordering::Relaxed)));
        }
        if self.helping == 0 {
            self.pool.search(&mut self.worker, chunk);
            return;
        }
        // One slow file must not let the results of everything after it pile up.
        let mut merge = self.pool.merge();
        while merge.held > MAX_HELD && self.pool.wait_on() {
            let waited = self.pool.merged.wait_timeout(merge, WAIT);
            merge = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        drop(merge);
        if let Err(TrySendError::Full(chunk) | TrySendError::Disconnected(chunk)) = self.sender.try_send(chunk) {
            self.pool.search(&mut self.worker, chunk);
        }
    }
}

/// The walk from one start.
pub(super) struct StartVisitor<'f, 'a> {
    producer: &'f mut Producer<'a>,
    workspace: &'f Workspace,
    scope: &'f Scope,
    start: &'f WorkspacePath,
    filter: &'f mut FileFilter,
    /// The files that the n-gram filter leaves, where names come from the path index that it is about.
    pub(super) candidates: Option<Candidates>,
    /// Results from the stored index, where names come from a walk.
    pub(super) stored: Option<StoredResults>,
    /// Whether every file is searched, so that names do not matter.
    admits_all: bool,
    /// Whether the pattern is searched in what files that are not UTF-8 decode to.
    searches_decoded: bool,
    steps: usize,
    /// Files met so far.
    pub(super) files: usize,
}

impl<'f, 'a> StartVisitor<'f, 'a> {
    /// Takes in the files of `scope` below `start` that `filter` admits.
    pub(super) fn new(
        producer: &'f mut Producer<'a>,
        workspace: &'f Workspace,
        (scope, start): (&'f Scope, &'f WorkspacePath),
        filter: &'f mut FileFilter,
    ) -> Self {
        let admits_all = filter.admits_all() && scope.starts().len() == 1;
        let searches_decoded = producer.pool.query.pattern.beyond_ascii().searches_decoded();
        Self {
            producer,
            workspace,
            scope,
            start,
            filter,
            candidates: None,
            stored: None,
            admits_all,
            searches_decoded,
            steps: 0,
            files: 0,
        }
    }

    /// The result that the stored index knows of a file, by its path below the root.
    fn stored_result(&mut self, relative: &Path) -> Option<(Result<MayMatch, Skipped>, StatFacts)> {
        let max_file_size = self.producer.pool.query.max_file_size;
        self.stored.as_mut()?.of_file(relative, max_file_size, self.searches_decoded)
    }

    /// Whether to continue after so many names were settled.
    fn settled(&mut self, names: usize) -> ControlFlow<()> {
        self.steps += names;
        if self.steps < NAMES_PER_CHECK {
            return ControlFlow::Continue(());
        }
        self.steps = 0;
        self.producer.pool.go_on()
    }
}

impl Visit for StartVisitor<'_, '_> {
    fn pass(&mut self, summaries: &[PathSummary]) -> ControlFlow<(), usize> {
        let Some(candidates) = self.candidates.as_mut().filter(|_| self.admits_all) else {
            return ControlFlow::Continue(0);
        };
        let max_file_size = self.producer.pool.query.max_file_size;
        let names_skipped = self.producer.names_skipped();
        let (mut passed, mut folders, mut tally) = (0, 0, Tally::default());
        for summary in summaries.iter().take(NAMES_PER_CHECK) {
            match *summary {
                PathSummary::NoFile => folders += 1,
                PathSummary::Secret | PathSummary::Binary(_) if names_skipped => break,
                PathSummary::Secret => tally.secret += 1,
                PathSummary::Binary(bytes) if u64::from(bytes) <= max_file_size => tally.binary += 1,
                // What it holds once it is decoded, the filter does not know.
                PathSummary::Segment { utf8: false, .. } | PathSummary::Segments { utf8: false, .. }
                    if self.searches_decoded =>
                {
                    break;
                }
                PathSummary::Segment { segment, .. }
                    if max_file_size >= SEGMENT as u64 && !candidates.segment_may_match(segment) =>
                {
                    tally.searched += 1;
                }
                PathSummary::Segments { first, count, last, .. }
                    if max_file_size >= (u64::from(count) + 1) * SEGMENT as u64
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
            self.producer.count(tally);
        }
        self.settled(passed)?;
        ControlFlow::Continue(passed)
    }

    fn visit(&mut self, met: SearchEntry<'_>) -> ControlFlow<()> {
        let pool = self.producer.pool;
        if met.kind() != FileKind::File || self.scope.belongs_to_other_start(self.workspace, &met) {
            return self.settled(WALKED_NAME);
        }
        self.files += 1;
        let max_file_size = pool.query.max_file_size;
        let admitted = self.filter.admits(met.relative_to(self.start));
        let item = match (met, &mut self.candidates) {
            (SearchEntry::Indexed(_), _) if !admitted => return self.settled(1),
            (SearchEntry::Walked(_), _) if !admitted => return self.settled(WALKED_NAME),
            (SearchEntry::Indexed(item), Some(candidates)) => {
                match known_result(&item.content, candidates, max_file_size, self.searches_decoded) {
                    Ok(MayMatch::Nowhere) => {
                        self.producer.count(Tally { searched: 1, ..Tally::default() });
                        return self.settled(1);
                    }
                    Err(why) => {
                        self.producer.leave(&item, why);
                        return self.settled(1);
                    }
                    Ok(MayMatch::Within(lines)) => {
                        let expected = item.state().map_or(Expected::Unknown, |state| Expected::Within(lines, state));
                        Some(SearchItem::File(item.entry(), expected))
                    }
                    Ok(MayMatch::Anywhere) => Some(SearchItem::File(item.entry(), Expected::Unknown)),
                }
            }
            (SearchEntry::Indexed(item), None) => {
                match (self.stored_result(item.relative()), split_path(item.relative())) {
                    (Some((Ok(MayMatch::Nowhere), facts)), Some((directory, name))) => {
                        self.producer.unmatched(item.origin(), directory, name, facts);
                        None
                    }
                    (known, _) => Some(SearchItem::stored(item.entry(), known)),
                }
            }
            (SearchEntry::Walked(entry), _) => {
                let known = self.stored_result(entry.path().relative());
                Some(SearchItem::stored(entry, known))
            }
        };
        self.producer.chunk.extend(item);
        if !self.producer.is_chunk_full() {
            return self.settled(WALKED_NAME);
        }
        let short = self.candidates.is_some() && self.producer.began.elapsed() < SHORT;
        let alone = if short { ALONE_INDEXED } else { ALONE };
        self.producer.hand_over(alone);
        pool.go_on()
    }
}
