//! A few hundred consecutive paths of a list, in arrays.
//!
//! A search passes over the summaries alone, which are consecutive in memory. They are made here whenever a path is
//! added or changed, and nowhere else, so that none can differ from its path. The paths themselves are a [`PathText`]: one
//! behind the other in one piece of memory.

use std::path::Path;

use confined_fs::FileKind;

use crate::ngram_filter::FileSegments;

use super::{KnownContent, PathState};

#[cfg(not(unix))]
use std::path::PathBuf;
#[cfg(unix)]
use std::{ffi::OsStr, os::unix::ffi::OsStrExt};

/// Consecutive paths.
#[derive(Clone, Debug, Default)]
pub(super) struct PathPage {
    text: PathText,
    states: Vec<PathState>,
    summaries: Vec<PathSummary>,
}

impl PathPage {
    /// Paths of one page at most: a change copies one page where a search holds the list, so they should be few; a page
    /// has five allocations, so they should be many.
    pub(super) const MOST: usize = 512;

    pub(super) fn len(&self) -> usize {
        self.states.len()
    }

    pub(super) fn is_full(&self) -> bool {
        self.len() >= Self::MOST || self.text.is_full()
    }

    /// The path below the root.
    pub(super) fn relative(&self, slot: usize) -> &Path {
        self.text.get(slot)
    }

    pub(super) fn state(&self, slot: usize) -> &PathState {
        &self.states[slot]
    }

    /// The summaries, one for each path.
    pub(super) fn summaries(&self) -> &[PathSummary] {
        &self.summaries
    }

    /// Adds a path behind all others.
    pub(super) fn push(&mut self, relative: &Path, state: PathState) {
        self.text.push(relative);
        self.summaries.push(PathSummary::of(&state));
        self.states.push(state);
    }

    /// Changes what is known of a path.
    pub(super) fn change<T>(&mut self, slot: usize, change: impl FnOnce(&mut PathState) -> T) -> T {
        let state = &mut self.states[slot];
        let result = change(state);
        self.summaries[slot] = PathSummary::of(state);
        result
    }

    pub(super) fn shrink_to_fit(&mut self) {
        self.text.shrink_to_fit();
        self.states.shrink_to_fit();
        self.summaries.shrink_to_fit();
    }

    /// Memory held, in bytes.
    pub(super) fn memory(&self) -> usize {
        size_of::<Self>()
            + self.text.memory()
            + self.states.capacity() * size_of::<PathState>()
            + self.summaries.capacity() * size_of::<PathSummary>()
            + self.states.iter().map(PathState::memory).sum::<usize>()
    }
}

/// Paths below one root.
#[cfg(unix)]
#[derive(Clone, Debug, Default)]
pub(crate) struct PathText {
    bytes: Vec<u8>,
    /// Where each ends.
    ends: Vec<u32>,
}

#[cfg(unix)]
impl PathText {
    /// Adds a path behind the others.
    pub(crate) fn push(&mut self, path: &Path) {
        self.bytes.extend_from_slice(path.as_os_str().as_bytes());
        self.ends.push(u32::try_from(self.bytes.len()).unwrap_or(u32::MAX));
    }

    /// Whether no path should be added: the ends are to fit their type by far.
    pub(crate) fn is_full(&self) -> bool {
        self.bytes.len() >= 1 << 20
    }

    pub(crate) fn get(&self, at: usize) -> &Path {
        let start = at.checked_sub(1).map_or(0, |before| self.ends[before] as usize);
        Path::new(OsStr::from_bytes(&self.bytes[start..self.ends[at] as usize]))
    }

    pub(crate) fn shrink_to_fit(&mut self) {
        self.bytes.shrink_to_fit();
        self.ends.shrink_to_fit();
    }

    /// Memory held, in bytes.
    pub(crate) fn memory(&self) -> usize {
        self.bytes.capacity() + self.ends.capacity() * size_of::<u32>()
    }
}

/// Paths below one root, each by itself: nothing is indexed on these systems.
#[cfg(not(unix))]
#[derive(Clone, Debug, Default)]
pub(crate) struct PathText(Vec<PathBuf>);

#[cfg(not(unix))]
impl PathText {
    /// Adds a path behind the others.
    pub(crate) fn push(&mut self, path: &Path) {
        self.0.push(path.to_owned());
    }

    /// Whether no path should be added.
    pub(crate) fn is_full(&self) -> bool {
        false
    }

    pub(crate) fn get(&self, at: usize) -> &Path {
        &self.0[at]
    }

    pub(crate) fn shrink_to_fit(&mut self) {
        self.0.shrink_to_fit();
    }

    /// Memory held, in bytes.
    pub(crate) fn memory(&self) -> usize {
        self.0.iter().map(PathBuf::capacity).sum::<usize>() + self.0.capacity() * size_of::<PathBuf>()
    }
}

/// What most searches ask of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PathSummary {
    /// The path itself has to be asked.
    Ask,
    /// Neither a file nor ignored: nothing that a search of content is about.
    NoFile,
    /// Ignore rules leave it out.
    Ignored {
        /// It is a directory.
        directory: bool,
    },
    /// [`KnownContent::Secret`].
    Secret,
    /// [`KnownContent::Binary`].
    Binary(u32),
    /// [`KnownContent::Filtered`] in one segment, so of no more bytes than a segment covers.
    Segment {
        /// The segment.
        segment: u32,
        /// Whether the content is UTF-8.
        utf8: bool,
    },
    /// [`KnownContent::Filtered`] in several segments, each of whole lines.
    Segments {
        /// All but the last one, which are consecutive.
        first: u32,
        /// How many these are.
        count: u16,
        /// The last one.
        last: u32,
        /// Whether the content is UTF-8.
        utf8: bool,
    },
}

impl PathSummary {
    pub(super) fn of(item: &PathState) -> Self {
        let kind = item.kind;
        if item.unreadable || item.unwatched {
            return Self::Ask;
        }
        if item.ignored {
            return Self::Ignored { directory: kind == FileKind::Directory };
        }
        if kind != FileKind::File {
            return Self::NoFile;
        }
        match &*item.content() {
            KnownContent::Secret => Self::Secret,
            KnownContent::Binary(bytes) => Self::Binary(*bytes),
            KnownContent::Filtered(FileSegments::One(segment), _, utf8) => {
                Self::Segment { segment: *segment, utf8: *utf8 }
            }
            KnownContent::Filtered(many, _, utf8) => match many.consecutive() {
                Some((segments, last)) => match u16::try_from(segments.len()) {
                    Ok(count) => Self::Segments { first: segments.start, count, last, utf8: *utf8 },
                    Err(_) => Self::Ask,
                },
                None => Self::Ask,
            },
            KnownContent::Unread | KnownContent::AlwaysSearch => Self::Ask,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn path_summary_has_12_bytes() {
        assert_eq!(size_of::<PathSummary>(), 12);
    }
}
