//! One path of the index: the knowledge of it ([`PathState`]), and the path as a reader sees it ([`IndexedPath`]).

use std::time::{Duration, SystemTime, UNIX_EPOCH};
use std::{cell::OnceCell, ops::Deref, path::Path, sync::OnceLock};

use confined_fs::walk::{Entry, EntryOrigin, StatCache, VerifiedName};
use confined_fs::{FileKind, Stat, WorkspacePath, watch::WatchedEntry};

use crate::ngram_filter::FileSegments;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum KnownContent {
    /// Not read since it last changed: it has to be searched.
    #[default]
    Unread,
    /// Read, but the filter cannot answer for it: it has to be searched.
    AlwaysSearch,
    /// A NUL byte within what every search looks at first: binary, whatever the pattern. With its size in bytes.
    Binary(u32),
    /// Policy denies it: only its name may be told.
    Secret,
    /// In the filter; its length in bytes, and whether it is UTF-8.
    Filtered(FileSegments, u32, bool),
}

/// The stat of a file that has no other name and has not changed since.
///
/// Numbers are arrays of bytes here, so that a path takes no space for their alignment.
#[derive(Clone, Debug)]
pub(super) struct KnownStat {
    /// Nanoseconds since 1970, or one of the values below.
    modified: [u8; 8],
    fingerprint: [u8; 8],
    /// The lower half of the inode's number: rarely that of another file.
    pub(super) inode: u32,
    /// It was asked for while a search was under way, when another file may have been mounted there for
    /// a moment.
    pub(super) asked: bool,
    /// Its content was read when no change that came later could have left this stat as it is: see
    /// [`SettledTimes`](super::root_index::SettledTimes).
    pub(super) is_settled: bool,
}

/// The system does not say.
const NO_TIME: i64 = i64::MIN;
/// Before 1678 or after 2261.
const OTHER_TIME: i64 = i64::MAX;

impl KnownStat {
    /// Packs `stat`; `None` where another name can change the file.
    pub(super) fn of(stat: &Stat, is_settled: bool) -> Option<Self> {
        // A write through another name causes no event here.
        (stat.links() == 1).then(|| Self {
            modified: stat.modified.map_or(NO_TIME, nanoseconds).to_ne_bytes(),
            fingerprint: stat.fingerprint().to_ne_bytes(),
            inode: short_inode(stat.inode()),
            asked: false,
            is_settled,
        })
    }

    /// When it was last modified; the outer `None` where the system has to be asked.
    #[expect(clippy::option_option, reason = "unknown, and known to be nothing")]
    pub(super) fn modified(&self) -> Option<Option<SystemTime>> {
        match i64::from_ne_bytes(self.modified) {
            NO_TIME => Some(None),
            OTHER_TIME => None,
            time => {
                let distance = Duration::from_nanos(time.unsigned_abs());
                Some(if time < 0 { UNIX_EPOCH.checked_sub(distance) } else { UNIX_EPOCH.checked_add(distance) })
            }
        }
    }

    pub(super) fn fingerprint(&self) -> u64 {
        u64::from_ne_bytes(self.fingerprint)
    }
}

#[expect(clippy::cast_possible_truncation, reason = "the lower half")]
pub(super) fn short_inode(inode: u64) -> u32 {
    inode as u32
}

fn nanoseconds(time: SystemTime) -> i64 {
    let since = match time.duration_since(UNIX_EPOCH) {
        Ok(after) => i64::try_from(after.as_nanos()),
        Err(before) => i64::try_from(before.duration().as_nanos()).map(i64::wrapping_neg),
    };
    since.unwrap_or(OTHER_TIME)
}

#[derive(Clone, Debug)]
pub(crate) struct PathState {
    pub(crate) content: KnownContent,
    pub(super) known: OnceLock<KnownStat>,
    /// Another one for each state of a file; comes round after four billion.
    pub(super) id: u32,
    pub(crate) kind: FileKind,
    /// Ignore rules leave it out. What is below such a directory is not listed.
    pub(crate) ignored: bool,
    pub(crate) unreadable: bool,
    /// A directory that is not watched: it and all below it is walked each time.
    pub(crate) unwatched: bool,
    /// Something is mounted there: events of a file go to its other parent, so nothing is kept of it.
    pub(super) mounted: bool,
    /// The list is used for more than one answer, so what the system was asked for is kept.
    pub(crate) is_kept: bool,
}

impl PathState {
    pub(super) fn new(listed: &WatchedEntry, id: u32) -> Self {
        let WatchedEntry { ref entry, ignored, unreadable, unwatched, mounted } = *listed;
        let (content, known, kind) = (KnownContent::Unread, OnceLock::new(), entry.kind());
        Self { content, known, id, kind, ignored, unreadable, unwatched, mounted, is_kept: true }
    }

    pub(super) fn verified(name: &VerifiedName<'_>, id: u32) -> Self {
        let VerifiedName { kind, ignored, unlisted, .. } = *name;
        let (content, known) = (KnownContent::Unread, OnceLock::new());
        let (unreadable, unwatched, mounted, is_kept) = (false, unlisted, false, false);
        Self { content, known, id, kind, ignored, unreadable, unwatched, mounted, is_kept }
    }

    /// Memory held outside of it, in bytes.
    pub(super) fn memory(&self) -> usize {
        if let KnownContent::Filtered(segments, ..) = &self.content { segments.memory() } else { 0 }
    }

    pub(super) fn is_file(&self) -> bool {
        self.kind == FileKind::File
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

#[derive(Clone, Debug)]
pub(crate) struct IndexedPath<'l> {
    pub(crate) relative: &'l Path,
    state: &'l PathState,
    pub(crate) origin: &'l EntryOrigin,
    /// Made when it is asked for: most searches look at names alone.
    path: OnceCell<WorkspacePath>,
}

impl Deref for IndexedPath<'_> {
    type Target = PathState;

    fn deref(&self) -> &PathState {
        self.state
    }
}

impl<'l> IndexedPath<'l> {
    pub(super) fn new(relative: &'l Path, state: &'l PathState, origin: &'l EntryOrigin) -> Self {
        Self { relative, state, origin, path: OnceCell::new() }
    }

    pub(crate) fn path(&self) -> &WorkspacePath {
        self.path.get_or_init(|| self.origin.path(self.relative))
    }

    pub(crate) fn into_path(self) -> WorkspacePath {
        self.path.into_inner().unwrap_or_else(|| self.origin.path(self.relative))
    }

    pub(crate) fn entry(&self) -> Entry {
        self.origin.entry(self.relative, self.state.kind)
    }

    /// When it was last modified. Asked of the system once, where only this name can change it.
    pub(crate) fn modified(&self) -> Option<SystemTime> {
        if let Some(modified) = self.known.get().and_then(KnownStat::modified) {
            return modified;
        }
        let stat = self.entry().stat().ok()?;
        if self.is_file()
            && !self.mounted
            && let Some(mut known) = KnownStat::of(&stat, false)
        {
            known.asked = true;
            // Another thread may have set what it found at the same time.
            let _ = self.known.set(known);
        }
        stat.modified
    }

    pub(crate) fn known_modified(&self) -> Option<SystemTime> {
        self.known.get().and_then(KnownStat::modified).flatten()
    }

    /// Whether a stat of now says the same as what is known; true where nothing is.
    pub(super) fn is_unchanged(&self, stats: &mut StatCache) -> bool {
        let is_same =
            |known: &KnownStat| stats.stat(&self.entry()).is_ok_and(|stat| stat.fingerprint() == known.fingerprint());
        self.known.get().is_none_or(is_same)
    }

    pub(crate) fn state(&self) -> Option<u64> {
        self.known.get().map(KnownStat::fingerprint)
    }

    /// Whether a stat that says the same proves that the content is the same.
    pub(super) fn is_settled(&self) -> bool {
        self.known.get().is_some_and(|known| known.is_settled)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn path_state_has_72_bytes() {
        assert_eq!(size_of::<PathState>(), 72);
    }

    #[test]
    fn packed_times_are_those_of_the_stat() {
        for seconds in [0_u64, 1, 1_700_000_000, 9_000_000_000] {
            let after = UNIX_EPOCH + Duration::new(seconds, 123_456_789);
            let before = UNIX_EPOCH - Duration::new(seconds, 123_456_789);
            for time in [after, before] {
                assert_eq!(nanoseconds(time), nanoseconds(time).clamp(NO_TIME + 1, OTHER_TIME - 1));
                let modified = nanoseconds(time).to_ne_bytes();
                let known = KnownStat { modified, fingerprint: [0; 8], inode: 0, asked: false, is_settled: false };
                assert_eq!(known.modified(), Some(Some(time)));
            }
        }
        assert_eq!(nanoseconds(UNIX_EPOCH + Duration::from_secs(10_000_000_000)), OTHER_TIME);
    }
}
