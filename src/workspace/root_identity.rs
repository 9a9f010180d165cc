//! What an index of a root that is kept on the disk belongs to: this directory, on this file system, under these rules.

use std::fmt;

use super::{Dir, Revision, Root, sys};

/// The directory of a root and the rules about content below it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RootIdentity {
    /// [`Root::key`].
    pub key: String,
    /// A digest of the rules about content.
    pub policy: Revision,
    /// The type of the file system, as `statfs(2)` gives it.
    pub file_system: u64,
    /// The device of the directory.
    pub device: u64,
    /// Its number there.
    pub inode: u64,
}

/// Why nothing is kept of a root.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotStorable {
    /// The platform.
    Platform,
    /// Stats of the file system do not report every change.
    FileSystem,
    /// Changes of the root are staged: what is seen is not what the disk has.
    Staged,
    /// The directory is missing.
    Absent,
    /// The system refused a stat.
    Refused,
}

impl fmt::Display for NotStorable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Platform => "an index is stored on Linux only",
            Self::FileSystem => "the times of files on this file system do not show every change",
            Self::Staged => "changes are staged",
            Self::Absent => "the directory is missing",
            Self::Refused => "the directory cannot be opened",
        })
    }
}

impl Root {
    /// Has all of the file system of this root written to the disk, so that no page of a file stays dirty; false where
    /// that cannot be asked for. An overlay that is mounted `volatile` would do nothing and say nothing.
    pub fn write_back(&self) -> bool {
        #[cfg(target_os = "linux")]
        if let Ok(Dir::Plain(dir)) = self.dir.open() {
            return !dir.is_overlay() && dir.sync_file_system().unwrap_or(false);
        }
        false
    }

    /// What an index of this root belongs to, looked up now.
    ///
    /// # Errors
    /// Why nothing may be kept of it.
    pub fn identity_for_index(&self) -> Result<RootIdentity, NotStorable> {
        if self.is_staged() {
            return Err(NotStorable::Staged);
        }
        if !cfg!(target_os = "linux") {
            return Err(NotStorable::Platform);
        }
        if self.absence().is_some() {
            return Err(NotStorable::Absent);
        }
        let Ok(Dir::Plain(dir)) = self.dir.open() else { return Err(NotStorable::Refused) };
        let file_system = promising_file_system(&dir).ok_or(NotStorable::FileSystem)?;
        let (device, inode) = dir.stat().map_err(|_| NotStorable::Refused)?.device_and_inode();
        let policy = self.policy().content_digest();
        Ok(RootIdentity { key: self.key().to_owned(), policy, file_system, device, inode })
    }
}

/// The type of the file system, if its stat reports every change to a file.
#[cfg(target_os = "linux")]
fn promising_file_system(dir: &sys::Dir) -> Option<u64> {
    dir.promising_file_system()
}

#[cfg(not(target_os = "linux"))]
fn promising_file_system(_: &sys::Dir) -> Option<u64> {
    None
}
