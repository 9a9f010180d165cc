//! What an index of a root that is kept on the disk belongs to: this directory, on this file system, under these rules.

use beneath::StableInodes;

use crate::{Dir, Revision};

use super::Root;

/// The directory of a root and the rules about content below it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RootIdentity {
    /// [`Root::key`] of the root.
    pub key: String,
    /// A digest of the rules about content.
    pub policy: Revision,
    /// The type of the file system, as `statfs(2)` gives it.
    pub file_system: u64,
    /// The id of the file system, as `statfs(2)` gives it. Of ext4, Btrfs, bcachefs and ZFS it comes from what was written
    /// when the file system was made, and so differs between two that are mounted at one place in turn. Of XFS and F2FS
    /// it is the number of the device: there [`Self::created`] differs.
    pub file_system_id: u64,
    /// The device of the directory.
    pub device: u64,
    /// The number of the directory on that device.
    pub inode: u64,
    /// When the directory was made: nanoseconds since 1970 (`stx_btime` of `statx(2)`), 0 where that is not known.
    pub created: i64,
}

/// Why nothing is kept of a root.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum IdentityError {
    /// The platform: elsewhere no stat is known to show every change.
    #[error("an index is stored on Linux only")]
    Platform,
    /// Stats of the file system do not report every change.
    #[error("the times of files on this file system do not show every change")]
    FileSystem,
    /// Changes of the root are staged: what is seen is not what the disk has.
    #[error("changes are staged")]
    Staged,
    /// The directory is missing.
    #[error("the directory is missing")]
    Absent,
    /// The system refused a stat.
    #[error("the directory cannot be opened")]
    Refused,
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

    /// Looks up the identity that an index of this root belongs to.
    ///
    /// # Errors
    /// Why nothing may be kept of it.
    pub fn identity_for_index(&self) -> Result<RootIdentity, IdentityError> {
        if self.is_staged() {
            return Err(IdentityError::Staged);
        }
        if !cfg!(target_os = "linux") {
            return Err(IdentityError::Platform);
        }
        if self.absence().is_some() {
            return Err(IdentityError::Absent);
        }
        let Ok(Dir::Plain(dir)) = self.dir.open() else { return Err(IdentityError::Refused) };
        let (file_system, created) = stable_inodes(&dir).ok_or(IdentityError::FileSystem)?;
        let (device, inode) = dir.stat().map_err(|_| IdentityError::Refused)?.device_and_inode();
        let StableInodes { kind: file_system, id: file_system_id } = file_system;
        let (key, policy) = (self.key().to_owned(), self.policy().content_digest());
        Ok(RootIdentity { key, policy, file_system, file_system_id, device, inode, created })
    }
}

/// The file system, where its stats report every change, and when the directory was made.
#[cfg(target_os = "linux")]
fn stable_inodes(dir: &beneath::Dir) -> Option<(StableInodes, i64)> {
    Some((dir.stable_inodes()?, dir.created().unwrap_or_default()))
}

#[cfg(not(target_os = "linux"))]
fn stable_inodes(_: &beneath::Dir) -> Option<(StableInodes, i64)> {
    None
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    #![expect(clippy::disallowed_methods, reason = "the test acts as another program")]

    use crate::{Access, PolicyRules, RootSpec, Workspace, WorkspaceOptions};

    #[test]
    fn directory_that_is_made_again_is_another() {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("root");
        let identity = || {
            let policy = PolicyRules::default();
            let spec = RootSpec { name: None, path: path.clone(), access: Access::ReadWrite, policy, optional: false };
            let workspace = Workspace::open(&[spec], WorkspaceOptions::default()).unwrap().workspace;
            workspace.roots()[0].identity_for_index().ok()
        };
        std::fs::create_dir(&path).unwrap();
        let Some(first) = identity() else { return };
        std::fs::write(path.join("file"), "").unwrap();
        assert_eq!(identity().as_ref(), Some(&first));
        std::fs::remove_dir_all(&path).unwrap();
        std::fs::create_dir(&path).unwrap();
        let second = identity().unwrap();
        assert_eq!(second.file_system_id, first.file_system_id);
        assert!(second.created > first.created || first.created == 0, "the inode may be the same");
    }
}
