//! What the system says about a file: its kind, size, times and identity.

use std::hash::{Hash, Hasher};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The kinds of entries, links not followed unless stated otherwise.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FileKind {
    /// A regular file, whatever its content.
    File,
    /// A directory, also one that is a mount point (Unix).
    Directory,
    /// A symbolic link; on Windows also a junction or a mount point.
    Symlink,
    /// A FIFO, socket or device.
    Other,
}

/// A file's kind, size, times and identity at one moment.
#[derive(Clone, Debug)]
pub struct Stat {
    /// Its kind, that of a link where it is one.
    pub kind: FileKind,
    /// Its length in bytes.
    pub size: u64,
    /// When its content last changed, where the system knows.
    pub modified: Option<SystemTime>,
    /// Which file it is, and in which state.
    pub identity: FileIdentity,
}

/// The numbers that identify a file and one state of it (`stat(2)`). All zero where the system has none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FileIdentity {
    /// The number of its file system.
    pub device: u64,
    /// The number that its names share.
    pub inode: u64,
    /// How many names it has (hard links).
    pub links: u64,
    /// Kind and permission bits, as `st_mode` has them.
    pub mode: u32,
    /// The number of the user who owns it.
    pub uid: u32,
    /// The number of the group that owns it.
    pub gid: u32,
    /// Seconds and nanoseconds since 1970.
    pub modified: (i64, u32),
    /// The last change of content or of what is known of it, as `modified`.
    pub changed: (i64, u32),
    /// The bits `FILE_ATTRIBUTE_…` of Windows.
    #[cfg(windows)]
    pub attributes: u32,
}

impl Stat {
    /// Whether both describe one file in one state: same device and inode, size, and times of the
    /// last change to content and to metadata, to the nanosecond.
    pub fn same_file_state(&self, other: &Self) -> bool {
        self.same_content_state(other) && self.identity.changed == other.identity.changed
    }

    /// How many names (hard links) the file has; 0 where the system does not say.
    pub fn links(&self) -> u64 {
        self.identity.links
    }

    /// The permission bits with those for set-user-ID, set-group-ID and sticky; 0 where the system has none.
    pub fn mode(&self) -> u32 {
        self.identity.mode & 0o7777
    }

    /// The permission bits; 0 where the system has none.
    pub fn permissions(&self) -> u32 {
        self.identity.mode & 0o777
    }

    /// Device and inode; zero where the system does not say.
    pub fn device_and_inode(&self) -> (u64, u64) {
        (self.identity.device, self.identity.inode)
    }

    /// As [`Self::same_file_state`], blind to the inode's change time, which a rename touches.
    pub fn same_content_state(&self, other: &Self) -> bool {
        self.same_file(other) && self.same_size_and_time(other)
    }

    /// Whether both have one size and one time of the last change to the content. A file of a lower layer of an
    /// overlayfs keeps these when it is copied up, as a rename has it, but with several names it then becomes
    /// another inode (Documentation/filesystems/overlayfs.rst, "Non-standard behavior").
    pub fn same_size_and_time(&self, other: &Self) -> bool {
        self.size == other.size && self.modified == other.modified
    }

    /// A number that is another one for nearly every other state of the file, its names counted.
    pub fn fingerprint(&self) -> u64 {
        let FileIdentity { device, inode, links, modified, changed, .. } = self.identity;
        let mut hasher = std::hash::DefaultHasher::new();
        (device, inode, links, self.size, modified, changed).hash(&mut hasher);
        hasher.finish()
    }

    /// The number that its other names share; 0 where the system does not say.
    pub fn inode(&self) -> u64 {
        self.identity.inode
    }

    /// Whether both are the same inode on the same device.
    pub fn same_file(&self, other: &Self) -> bool {
        (self.identity.device, self.identity.inode) == (other.identity.device, other.identity.inode)
    }

    /// Whether it has the read-only attribute of Windows, which forbids every program to change the file.
    pub fn is_marked_read_only(&self) -> bool {
        #[cfg(windows)]
        return self.identity.attributes & 1 != 0;
        #[cfg(not(windows))]
        false
    }

    /// The word for a special file, by its mode.
    pub fn special(&self) -> &'static str {
        match self.identity.mode & 0o170_000 {
            0o010_000 => "FIFO",
            0o140_000 => "socket",
            0o020_000 | 0o060_000 => "device",
            _ => "special file",
        }
    }

    /// The numbers that identify the file and its state; `None` where the system says too little.
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

/// Device, inode, size and times of one state of a file or directory (`stat(2)`).
///
/// Writing to a file or giving it another name changes its change time, which no program can set
/// (inode(7)). Two states with equal facts are one state unless both began within one tick of the file system's clock:
/// see [`StatFacts::is_older_than`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StatFacts {
    /// The number of its file system.
    pub device: u64,
    /// The number of the file on its device.
    pub inode: u64,
    /// Its length in bytes.
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
