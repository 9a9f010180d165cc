//! Puts what the workers found back into path order, counts it, and says when it is enough.
//!
//! The answer depends only on the order of the files, never on which thread was faster: a chunk
//! counts once everything before it has come.

use std::collections::BTreeMap;

use confined_fs::{WorkspacePath, stop::StopReason};

use crate::{FileHits, Keep, Newest, SkippedPaths, Tally};

/// Bytes, about, that a file's hits take in addition to their text.
const FILE_WEIGHT: usize = 400;

/// What one worker made of one chunk of files.
#[derive(Debug, Default)]
pub(super) struct ChunkHits {
    /// Files with hits, each with the chunk's tally when it was done.
    pub(super) files: Vec<(Tally, Box<FileHits>)>,
    /// The whole chunk's tally.
    pub(super) tally: Tally,
    /// The first files that were left out.
    pub(super) skipped: SkippedPaths,
    /// The worker left the chunk before its end, having enough.
    pub(super) cut: bool,
    /// The call was stopped.
    pub(super) stopped: Option<StopReason>,
}

impl ChunkHits {
    fn weight(&self) -> usize {
        let files: usize = self.files.iter().map(|(_, hits)| FILE_WEIGHT + hits.bytes + hits.content()).sum();
        FILE_WEIGHT + files
    }
}

/// The results so far.
#[derive(Debug, Default)]
pub(super) struct Merge {
    keep: Keep,
    by_lines: bool,
    next: usize,
    /// Bytes, about, of the results that came before their turn.
    pub(super) held: usize,
    waiting: BTreeMap<usize, ChunkHits>,
    /// Files kept, each with the number of results before it.
    pub(super) kept: Vec<(usize, Box<FileHits>)>,
    newest: Option<Newest<WorkspacePath, Box<FileHits>>>,
    /// Results in path order so far: matches where lines are shown, else files.
    pub(super) results: usize,
    pub(super) matches: usize,
    pub(super) occurrences: usize,
    pub(super) files: usize,
    pub(super) tally: Tally,
    pub(super) skipped: SkippedPaths,
    /// There are more results than were asked for.
    pub(super) capped: bool,
    pub(super) stopped: Option<StopReason>,
}

impl Merge {
    pub(super) fn new(keep: Keep, by_lines: bool) -> Self {
        let newest = match keep {
            Keep::Newest { limit } => Some(Newest::new(limit)),
            _ => None,
        };
        Self { keep, by_lines, newest, ..Self::default() }
    }

    /// Whether nothing that comes later can change the answer.
    pub(super) fn done(&self) -> bool {
        self.capped || self.stopped.is_some()
    }

    pub(super) fn add(&mut self, index: usize, chunk: ChunkHits) {
        self.held += chunk.weight();
        self.waiting.insert(index, chunk);
        while let Some(chunk) = self.waiting.remove(&self.next) {
            self.next += 1;
            self.held -= chunk.weight();
            self.take(chunk);
        }
    }

    /// After a stop: what came before its turn counts too, though something before it is missing.
    pub(super) fn flush(&mut self) {
        for chunk in std::mem::take(&mut self.waiting).into_values() {
            self.take(chunk);
        }
    }

    /// The kept files, in path order or the newest first.
    pub(super) fn into_kept(self) -> Vec<(usize, Box<FileHits>)> {
        match self.newest {
            Some(newest) => newest.into_sorted().enumerate().map(|(at, (_, hits))| (at, hits)).collect(),
            None => self.kept,
        }
    }

    fn take(&mut self, chunk: ChunkHits) {
        if self.capped {
            return;
        }
        let base = self.tally;
        for (tally, hits) in chunk.files {
            let cut = hits.cut;
            self.take_file(hits);
            if self.capped || (cut && matches!(self.keep, Keep::Page { .. })) {
                self.capped = true;
                self.tally = base.plus(tally);
                self.skipped.add(chunk.skipped, tally.skipped());
                return;
            }
        }
        self.tally = base.plus(chunk.tally);
        self.skipped.add(chunk.skipped, SkippedPaths::NAMED);
        self.capped |= chunk.cut;
        self.stopped = self.stopped.or(chunk.stopped);
    }

    fn take_file(&mut self, hits: Box<FileHits>) {
        let before = self.results;
        self.files += 1;
        self.matches += hits.matches;
        self.occurrences += hits.occurrences;
        self.results += if self.by_lines { hits.matches } else { 1 };
        match self.keep {
            Keep::Page { skip, take } => {
                if self.results > skip && before < skip.saturating_add(take) {
                    self.kept.push((before, hits));
                }
                self.capped = self.results > skip.saturating_add(take);
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
