//! One path of the index, and what is known of it.

use std::{sync::OnceLock, time::SystemTime};

use crate::{
    search::ngram_filter::FileSegments,
    workspace::{Entry, FileKind, Stat, StatCache, WatchedEntry, WorkspacePath},
};

/// What is known of a file's content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::search) enum KnownContent {
    /// Not read since it last changed: it has to be searched.
    Unread,
    /// Read, but the filter cannot answer for it: it has to be searched.
    AlwaysSearch,
    /// A NUL byte within what every search looks at first: binary, whatever the pattern. With its size in bytes.
    Binary(u32),
    /// Policy denies it.
    Secret,
    /// In the filter, with so many bytes; whether they are UTF-8.
    Filtered(FileSegments, u32, bool),
}

/// What a stat said of a file that has no other name and has not changed since.
#[derive(Clone, Debug)]
pub(super) struct KnownStat {
    modified: Option<SystemTime>,
    pub(super) inode: u64,
    fingerprint: u64,
    /// It was asked for while a search was under way, when another file may have been mounted there for
    /// a moment.
    pub(super) asked: bool,
}

impl KnownStat {
    /// What `stat` says; nothing where another name can change it.
    pub(super) fn of(stat: &Stat) -> Option<Self> {
        (stat.links() == 1).then(|| Self {
            modified: stat.modified,
            inode: stat.inode(),
            fingerprint: stat.fingerprint(),
            asked: false,
        })
    }
}

/// One path.
#[derive(Clone, Debug)]
pub(in crate::search) struct IndexedPath {
    /// The path, with the authority to open it.
    pub(in crate::search) entry: Entry,
    /// Ignore rules leave it out. What is below such a directory is not listed.
    pub(in crate::search) ignored: bool,
    /// A directory that cannot be listed.
    pub(in crate::search) unreadable: bool,
    /// A directory that is not watched: it and all below it is walked each time.
    pub(in crate::search) unwatched: bool,
    /// Something is mounted there: events of a file go to its other parent, so nothing is kept of it.
    pub(super) mounted: bool,
    /// What is known of its content.
    pub(in crate::search) content: KnownContent,
    /// Another one for each state of a file.
    pub(super) id: u64,
    pub(super) known: OnceLock<KnownStat>,
}

impl IndexedPath {
    pub(super) fn new(watched: WatchedEntry, id: u64) -> Self {
        let WatchedEntry { entry, ignored, unreadable, unwatched, mounted } = watched;
        Self {
            entry,
            ignored,
            unreadable,
            unwatched,
            mounted,
            content: KnownContent::Unread,
            id,
            known: OnceLock::new(),
        }
    }

    pub(super) fn path(&self) -> &WorkspacePath {
        self.entry.path()
    }

    pub(super) fn is_file(&self) -> bool {
        self.entry.kind() == FileKind::File
    }

    /// When it was last modified. Asked of the system once, where only this name can change it.
    pub(in crate::search) fn modified(&self) -> Option<SystemTime> {
        if let Some(known) = self.known.get() {
            return known.modified;
        }
        let stat = self.entry.stat().ok()?;
        if self.is_file()
            && !self.mounted
            && let Some(known) = KnownStat::of(&stat)
        {
            let _ = self.known.set(KnownStat { asked: true, ..known });
        }
        stat.modified
    }

    /// When it was last modified, if that is known.
    pub(in crate::search) fn known_modified(&self) -> Option<SystemTime> {
        self.known.get().and_then(|known| known.modified)
    }

    /// Whether a stat of now says the same as what is known; true where nothing is.
    pub(super) fn is_unchanged(&self, stats: &mut StatCache) -> bool {
        let is_same =
            |known: &KnownStat| stats.stat(&self.entry).is_ok_and(|stat| stat.fingerprint() == known.fingerprint);
        self.known.get().is_none_or(is_same)
    }

    /// The fingerprint of the state that all knowledge of its content is about.
    pub(in crate::search) fn state(&self) -> Option<u64> {
        self.known.get().map(|known| known.fingerprint)
    }

    /// Whether its content is known, so that a search need not always open it.
    pub(super) fn is_known(&self) -> bool {
        !matches!(self.content, KnownContent::Unread | KnownContent::AlwaysSearch)
    }

    /// Whether it is a file that has yet to be read for the filter.
    pub(super) fn is_unread(&self) -> bool {
        self.content == KnownContent::Unread && self.is_file() && !self.mounted
    }
}
