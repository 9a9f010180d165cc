//! Puts what the workers found back into path order, counts it, and says when it is enough.
//!
//! The answer depends only on the order of the files, never on which thread was faster: a chunk
//! counts once everything before it has come.

use std::{cmp::Ordering, collections::BTreeMap};

use crate::{
    stop::StopReason,
    workspace::{Stat, WorkspacePath},
};

use super::{files::Newest, sink::HitLine, worker::SeenContent};

/// Bytes, about, that a file's hits take beside their text.
const FILE_WEIGHT: usize = 400;

/// Which results are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// `take` results after the first `skip`, in path order; the search ends when they and one
    /// more are complete. Results are matches where lines are shown, files otherwise.
    Page {
        /// Results that earlier pages have shown.
        skip: usize,
        /// Results on this page.
        take: usize,
    },
    /// The `limit` most recently modified files.
    Newest {
        /// How many files.
        limit: usize,
    },
    /// None: only the counts matter.
    Nothing,
}

/// Why a file was not searched, or its matches do not count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Skipped {
    /// It holds a NUL byte.
    Binary,
    /// Over the size limit of directory searches.
    TooLarge,
    /// Policy denies its content.
    Secret,
    /// The operating system refused.
    Unreadable,
    /// Too many files were open for it to be opened.
    OutOfFiles,
}

/// Files by what became of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Looked into.
    pub searched: usize,
    /// Left out as binary.
    pub binary: usize,
    /// Left out as too large.
    pub too_large: usize,
    /// Left out by policy.
    pub secret: usize,
    /// Left out because they cannot be read.
    pub unreadable: usize,
    /// Left out because too many files were open for them to be opened.
    pub out_of_files: usize,
    /// Looked into without a match, and not UTF-8; counted for patterns beyond ASCII only.
    pub not_utf8: usize,
}

impl Tally {
    pub(super) fn skip(&mut self, why: Skipped) {
        match why {
            Skipped::Binary => self.binary += 1,
            Skipped::TooLarge => self.too_large += 1,
            Skipped::Secret => self.secret += 1,
            Skipped::Unreadable => self.unreadable += 1,
            Skipped::OutOfFiles => self.out_of_files += 1,
        }
    }

    pub(super) fn plus(self, other: Self) -> Self {
        Self {
            searched: self.searched + other.searched,
            binary: self.binary + other.binary,
            too_large: self.too_large + other.too_large,
            secret: self.secret + other.secret,
            unreadable: self.unreadable + other.unreadable,
            out_of_files: self.out_of_files + other.out_of_files,
            not_utf8: self.not_utf8 + other.not_utf8,
        }
    }
}

/// The hits of one file.
#[derive(Clone, Debug)]
pub struct FileHits {
    /// As the walk met it or the caller named it.
    pub path: WorkspacePath,
    /// Its real name, after links.
    pub real: WorkspacePath,
    /// Its state when it was opened.
    pub stat: Stat,
    /// Matches found in it, to the limit of the search.
    pub matches: usize,
    /// The lines kept of it, ascending.
    pub lines: Vec<HitLine>,
    /// What was seen, where it was read whole and lines are kept.
    pub seen: Option<SeenContent>,
    pub(super) bytes: usize,
    /// Whether the search ended within the file.
    pub(super) cut: bool,
}

/// What one worker made of one chunk of files.
#[derive(Debug, Default)]
pub(super) struct ChunkHits {
    /// Files with hits, each with the chunk's tally when it was done.
    pub(super) files: Vec<(Tally, Box<FileHits>)>,
    /// The whole chunk's tally.
    pub(super) tally: Tally,
    /// The worker left the chunk before its end, having enough.
    pub(super) cut: bool,
    /// The call was told to stop.
    pub(super) stopped: Option<StopReason>,
}

impl ChunkHits {
    fn weight(&self) -> usize {
        let content = |hits: &FileHits| hits.seen.as_ref().and_then(|seen| seen.bytes.as_ref()).map_or(0, Vec::len);
        let files: usize = self.files.iter().map(|(_, hits)| FILE_WEIGHT + hits.bytes + content(hits)).sum();
        FILE_WEIGHT + files
    }
}

/// The results so far.
#[derive(Debug)]
pub(super) struct Merge {
    keep: Keep,
    by_lines: bool,
    next: usize,
    held: usize,
    waiting: BTreeMap<usize, ChunkHits>,
    /// Files kept, each with the number of results before it.
    pub(super) kept: Vec<(usize, Box<FileHits>)>,
    newest: Option<Newest<ByPath>>,
    /// Results in path order so far: matches where lines are shown, else files.
    pub(super) results: usize,
    pub(super) matches: usize,
    pub(super) files: usize,
    pub(super) tally: Tally,
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
        Self {
            keep,
            by_lines,
            next: 0,
            held: 0,
            waiting: BTreeMap::new(),
            kept: Vec::new(),
            newest,
            results: 0,
            matches: 0,
            files: 0,
            tally: Tally::default(),
            capped: false,
            stopped: None,
        }
    }

    /// Whether nothing that comes later can change the answer.
    pub(super) fn done(&self) -> bool {
        self.capped || self.stopped.is_some()
    }

    /// Bytes, about, of the results that came before their turn.
    pub(super) fn held(&self) -> usize {
        self.held
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
            Some(newest) => newest.into_sorted().into_iter().enumerate().map(|(at, hits)| (at, hits.0)).collect(),
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
                return;
            }
        }
        self.tally = base.plus(chunk.tally);
        self.capped |= chunk.cut;
        self.stopped = self.stopped.or(chunk.stopped);
    }

    fn take_file(&mut self, hits: Box<FileHits>) {
        let before = self.results;
        self.files += 1;
        self.matches += hits.matches;
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
                    newest.push(hits.stat.modified, ByPath(hits));
                }
            }
            Keep::Nothing => {}
        }
    }
}

/// Orders files of one time by path.
#[derive(Debug)]
struct ByPath(Box<FileHits>);

impl PartialEq for ByPath {
    fn eq(&self, other: &Self) -> bool {
        self.0.path == other.0.path
    }
}

impl Eq for ByPath {}

impl PartialOrd for ByPath {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for ByPath {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.path.cmp(&other.0.path)
    }
}
