//! Where the last waits for new lines ended, so that the next ones know what a number of lines leaves open: whether the
//! file is still the same one, and how much of its last line was shown.
//!
//! Kept in memory alone: without a mark, a wait counts lines.

use std::{
    collections::VecDeque,
    sync::{Mutex, PoisonError},
};

use confined_fs::{FileStart, WorkspacePath};

/// Marks that are kept.
const MAX_MARKS: usize = 64;

/// Where a wait ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaitMark {
    /// Complete lines before it.
    pub lines: usize,
    /// Bytes after them, of a line that had no line break yet.
    pub unfinished: u64,
    /// The file up to there.
    pub start: FileStart,
}

/// The marks by path, the newest last.
#[derive(Debug, Default)]
pub struct WaitMarks {
    marks: Mutex<VecDeque<(WorkspacePath, WaitMark)>>,
    /// Paths at which a wait ended with nothing there.
    missing: Mutex<VecDeque<WorkspacePath>>,
}

/// Puts `one` at the end, in the place of those that are the same; the oldest gives way.
fn keep_newest<T>(list: &Mutex<VecDeque<T>>, one: T, is_same: impl Fn(&T) -> bool) {
    let mut list = list.lock().unwrap_or_else(PoisonError::into_inner);
    list.retain(|known| !is_same(known));
    if list.len() >= MAX_MARKS {
        list.pop_front();
    }
    list.push_back(one);
}

impl WaitMarks {
    /// Keeps `mark` for `path`.
    pub fn keep(&self, path: &WorkspacePath, mark: WaitMark) {
        let is_same = |(known, other): &(WorkspacePath, WaitMark)| known == path && other.lines == mark.lines;
        keep_newest(&self.marks, (path.clone(), mark), is_same);
    }

    /// Keeps that nothing was at `path` when a wait for it ended.
    pub fn keep_missing(&self, path: &WorkspacePath) {
        keep_newest(&self.missing, path.clone(), |known| known == path);
    }

    /// Whether a wait for `path` ended with nothing there, once.
    pub fn was_missing(&self, path: &WorkspacePath) -> bool {
        let mut missing = self.missing.lock().unwrap_or_else(PoisonError::into_inner);
        missing.iter().position(|known| known == path).is_some_and(|at| missing.remove(at).is_some())
    }

    /// The mark of `path` after so many lines.
    pub fn after(&self, path: &WorkspacePath, lines: usize) -> Option<WaitMark> {
        let marks = self.marks.lock().unwrap_or_else(PoisonError::into_inner);
        marks.iter().find(|(known, mark)| known == path && mark.lines == lines).map(|(_, mark)| *mark)
    }
}
