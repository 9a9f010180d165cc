//! The paths of a list, each with a summary of what most searches ask of it.
//!
//! Paths are scattered in memory, and fetching each of a hundred thousand costs a search more than all
//! its other work. The summaries lie side by side. They are made here whenever a path is added or
//! changed, and nowhere else, so that none can differ from its path.

use std::{ops::Deref, sync::Arc};

use super::{IndexedPath, KnownContent};
use crate::{search::ngram_filter::FileSegments, workspace::FileKind};

/// What most searches ask of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::search) enum PathSummary {
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
        /// All but the last one, which follow upon each other.
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
    fn of(item: &IndexedPath) -> Self {
        let kind = item.entry.kind();
        if item.unreadable || item.unwatched {
            return Self::Ask;
        }
        if item.ignored {
            return Self::Ignored { directory: kind == FileKind::Directory };
        }
        if kind != FileKind::File {
            return Self::NoFile;
        }
        match &item.content {
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

/// Items in path order; read as a slice of them.
#[derive(Clone, Debug, Default)]
pub(in crate::search) struct PathTable {
    /// Shared with the lists of other moments: each search under way may hold one of its own, and
    /// a tree that changes all the time makes another one for each.
    items: Vec<Arc<IndexedPath>>,
    summaries: Vec<PathSummary>,
}

impl Deref for PathTable {
    type Target = [Arc<IndexedPath>];

    fn deref(&self) -> &[Arc<IndexedPath>] {
        &self.items
    }
}

impl PathTable {
    /// With room for so many.
    pub(super) fn with_capacity(items: usize) -> Self {
        Self { items: Vec::with_capacity(items), summaries: Vec::with_capacity(items) }
    }

    /// The words, one for each item.
    pub(in crate::search) fn summaries(&self) -> &[PathSummary] {
        &self.summaries
    }

    /// Adds an item behind all others.
    pub(super) fn push(&mut self, item: Arc<IndexedPath>) {
        self.summaries.push(PathSummary::of(&item));
        self.items.push(item);
    }

    pub(super) fn shrink_to_fit(&mut self) {
        self.items.shrink_to_fit();
        self.summaries.shrink_to_fit();
    }

    /// Changes the item at `at`, in this list alone.
    pub(super) fn change<T>(&mut self, at: usize, change: impl FnOnce(&mut IndexedPath) -> T) -> T {
        let item = Arc::make_mut(&mut self.items[at]);
        let result = change(item);
        self.summaries[at] = PathSummary::of(item);
        result
    }

    /// Takes all out, each with its word.
    pub(super) fn drain(&mut self) -> impl Iterator<Item = (Arc<IndexedPath>, PathSummary)> + use<> {
        let Self { items, summaries } = std::mem::take(self);
        items.into_iter().zip(summaries)
    }

    /// Adds an item that [`Self::drain`] gave behind all others.
    pub(super) fn push_back(&mut self, (item, summary): (Arc<IndexedPath>, PathSummary)) {
        self.summaries.push(summary);
        self.items.push(item);
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
