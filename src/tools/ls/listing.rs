//! A listed directory and its entries.

use confined_fs::{Entry, LimitsHit, Stat};

/// Names that are counted of a directory that is not opened.
pub(super) const MAX_COUNTED: usize = 10_000;

/// Ignored entries that are named, where there are no more.
pub(super) const NAMED: usize = 3;

#[derive(Default)]
pub(super) struct Listing {
    /// What is shown of it, in order. A directory has its place among the listings when it was listed too.
    pub(super) items: Vec<Item>,
    /// Entries behind these that are not shown.
    pub(super) more: usize,
    /// Entries that ignore rules leave out.
    pub(super) ignored: usize,
    /// They themselves, as many as are named at most and one more.
    pub(super) ignored_entries: Vec<Entry>,
    pub(super) limits_hit: LimitsHit,
}

/// One entry of a listed directory.
pub(super) struct Item {
    pub(super) entry: Entry,
    /// What the system says of it, where that is shown or decides the order.
    pub(super) stat: Option<Stat>,
    pub(super) state: State,
}

/// How far a shown entry was looked into.
#[derive(Clone, Copy)]
pub(super) enum State {
    /// No directory, or one that was not looked into.
    Leaf,
    /// A directory that was listed, at this place.
    Listed(usize),
    /// A directory whose entries were only counted.
    Counted(Counted),
    /// A directory that could not be listed.
    Unreadable,
}

/// The entries of a directory that was not opened.
#[derive(Clone, Copy)]
pub(super) struct Counted {
    pub(super) entries: usize,
    /// Entries that ignore rules leave out.
    pub(super) ignored: usize,
}
