//! The numbers that say which file a stat was about and in which state it was, in a form that can be kept on the disk.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::{FileIdentity, FileKind, Stat};

/// Device, inode, size and times of one state of a file or directory (`stat(2)`).
///
/// Whoever writes to a file or gives it another name changes its change time, which no program can set
/// (inode(7)). Two states with equal facts are one state unless both began within one tick of the file system's clock:
/// see [`StatFacts::is_older_than`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StatFacts {
    /// The device.
    pub device: u64,
    /// The number of the file on its device.
    pub inode: u64,
    /// Bytes.
    pub size: u64,
    /// When the content last changed: seconds and nanoseconds since 1970.
    pub modified: (i64, u32),
    /// When anything about it last changed.
    pub changed: (i64, u32),
}

impl StatFacts {
    /// So long before `moment`, as [`Self::is_older_than`] takes it; `None` for a time before 1970.
    pub fn moment_before(moment: SystemTime, time: Duration) -> Option<(i64, u32)> {
        let since = moment.duration_since(UNIX_EPOCH).ok()?.checked_sub(time)?;
        Some((i64::try_from(since.as_secs()).ok()?, since.subsec_nanos()))
    }

    /// Whether both times lie before `moment`, seconds and nanoseconds since 1970.
    pub fn is_older_than(&self, moment: (i64, u32)) -> bool {
        self.modified < moment && self.changed < moment
    }

    /// [`Stat::fingerprint`] of a file with these facts and one name.
    pub fn fingerprint(&self) -> u64 {
        let Self { device, inode, size, modified, changed } = *self;
        let identity = FileIdentity { device, inode, links: 1, modified, changed, ..FileIdentity::default() };
        Stat { kind: FileKind::File, size, modified: None, identity }.fingerprint()
    }
}

impl Stat {
    /// What identifies the file and its state; `None` where the system says too little.
    pub fn facts(&self) -> Option<StatFacts> {
        let identity = &self.identity;
        let known = identity.inode != 0 && identity.changed != (0, 0);
        known.then_some(StatFacts {
            device: identity.device,
            inode: identity.inode,
            size: self.size,
            modified: identity.modified,
            changed: identity.changed,
        })
    }
}
