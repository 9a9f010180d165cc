//! What the system says about a file: its kind, size, times and identity.

use std::hash::{Hash, Hasher};
use std::time::SystemTime;

/// What an entry is, links not followed unless said otherwise.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FileKind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link.
    Symlink,
    /// A FIFO, socket or device.
    Other,
}

/// What the system says about a file at one moment.
#[derive(Clone, Debug)]
pub struct Stat {
    /// What it is.
    pub kind: FileKind,
    /// Its length in bytes.
    pub size: u64,
    /// When its content last changed, where the system knows.
    pub modified: Option<SystemTime>,
    pub(crate) identity: FileIdentity,
}

/// The numbers that identify a file and one state of it (`stat(2)`). All zero where the system has none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct FileIdentity {
    pub(crate) device: u64,
    pub(crate) inode: u64,
    pub(crate) links: u64,
    pub(crate) mode: u32,
    pub(crate) uid: u32,
    pub(crate) gid: u32,
    /// Seconds and nanoseconds since 1970.
    pub(crate) modified: (i64, u32),
    pub(crate) changed: (i64, u32),
    /// `FILE_ATTRIBUTE_…`.
    #[cfg(windows)]
    pub(crate) attributes: u32,
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
    #[cfg_attr(not(windows), expect(clippy::unused_self, reason = "no other system has it"))]
    pub(crate) fn is_marked_read_only(&self) -> bool {
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
}
