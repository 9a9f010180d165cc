//! The items of a list, each with one word that says what most searches ask of it.
//!
//! An item lies somewhere in memory, and with a hundred thousand of them fetching each costs a search
//! more than all its other work. The words stand in a row. They are made here whenever an item is
//! made or changed, and nowhere else, so that none can say what its item does not.

use std::{ops::Deref, sync::Arc};

use super::item::{Content, Item};
use crate::{search::ngram_filter::Placement, workspace::FileKind};

/// What most searches ask of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::search) enum Brief {
    /// Only the item tells.
    Ask,
    /// Neither a file nor ignored: nothing that a search of content is about.
    NoFile,
    /// Ignore rules leave it out.
    Ignored {
        /// It is a directory.
        directory: bool,
    },
    /// [`Content::Secret`].
    Secret,
    /// [`Content::Binary`].
    Binary(u32),
    /// [`Content::Placed`] in one row, which is to say of no more bytes than a row stands for.
    Row {
        /// The row.
        row: u32,
        /// Whether the content is UTF-8.
        utf8: bool,
    },
    /// [`Content::Placed`] in several rows, each of whole lines.
    Rows {
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

impl Brief {
    fn of(item: &Item) -> Self {
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
            Content::Secret => Self::Secret,
            Content::Binary(bytes) => Self::Binary(*bytes),
            Content::Placed(Placement::One(row), _, utf8) => Self::Row { row: *row, utf8: *utf8 },
            Content::Placed(many, _, utf8) => match many.in_a_row() {
                Some((rows, last)) => match u16::try_from(rows.len()) {
                    Ok(count) => Self::Rows { first: rows.start, count, last, utf8: *utf8 },
                    Err(_) => Self::Ask,
                },
                None => Self::Ask,
            },
            Content::Unread | Content::Loose => Self::Ask,
        }
    }
}

/// Items in path order; read as a slice of them.
#[derive(Clone, Debug, Default)]
pub(in crate::search) struct Names {
    /// Shared with the lists of other moments: each search under way may hold one of its own, and
    /// a tree that changes all the time makes another one for each.
    items: Vec<Arc<Item>>,
    briefs: Vec<Brief>,
}

impl Deref for Names {
    type Target = [Arc<Item>];

    fn deref(&self) -> &[Arc<Item>] {
        &self.items
    }
}

impl Names {
    /// With room for so many.
    pub(super) fn with_capacity(items: usize) -> Self {
        Self { items: Vec::with_capacity(items), briefs: Vec::with_capacity(items) }
    }

    /// The words, one for each item.
    pub(in crate::search) fn briefs(&self) -> &[Brief] {
        &self.briefs
    }

    /// Adds an item behind all others.
    pub(super) fn push(&mut self, item: Arc<Item>) {
        self.briefs.push(Brief::of(&item));
        self.items.push(item);
    }

    pub(super) fn shrink_to_fit(&mut self) {
        self.items.shrink_to_fit();
        self.briefs.shrink_to_fit();
    }

    /// Changes the item at `at`, in this list alone.
    pub(super) fn change<T>(&mut self, at: usize, change: impl FnOnce(&mut Item) -> T) -> T {
        let item = Arc::make_mut(&mut self.items[at]);
        let result = change(item);
        self.briefs[at] = Brief::of(item);
        result
    }

    /// Takes all out, each with its word.
    pub(super) fn drain(&mut self) -> impl Iterator<Item = (Arc<Item>, Brief)> + use<> {
        let Self { items, briefs } = std::mem::take(self);
        items.into_iter().zip(briefs)
    }

    /// Adds an item that [`Self::drain`] gave behind all others.
    pub(super) fn push_back(&mut self, (item, brief): (Arc<Item>, Brief)) {
        self.briefs.push(brief);
        self.items.push(item);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_small() {
        assert_eq!(size_of::<Brief>(), 12);
    }
}
