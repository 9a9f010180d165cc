//! Listing a directory through its handle.

use std::{ffi::OsString, io, os::unix::ffi::OsStringExt as _};

use rustix::fs::FileType;

use crate::FileKind;

use super::{Dir, Listed};

impl Dir {
    /// The names in this directory, in no order. Needs `OpenFor::List`.
    pub fn list(&self) -> io::Result<Vec<Listed>> {
        self.list_at_most(usize::MAX)
    }

    /// As [`Self::list`], of the first so many names alone. Needs `OpenFor::List`.
    pub fn list_at_most(&self, most: usize) -> io::Result<Vec<Listed>> {
        let mut names = Vec::new();
        #[cfg(target_os = "linux")]
        let mut buffer = Vec::with_capacity(32 * 1024);
        #[cfg(target_os = "linux")]
        let mut entries = rustix::fs::RawDir::new(self, buffer.spare_capacity_mut());
        #[cfg(not(target_os = "linux"))]
        let mut entries = rustix::fs::Dir::read_from(self)?;
        while names.len() < most
            && let Some(entry) = entries.next()
        {
            let entry = entry?;
            let name = entry.file_name().to_bytes();
            if name == b"." || name == b".." {
                continue;
            }
            let name = OsString::from_vec(name.to_vec());
            let kind = match entry.file_type() {
                FileType::RegularFile => FileKind::File,
                FileType::Directory => FileKind::Directory,
                FileType::Symlink => FileKind::Symlink,
                // Some file systems do not say (DT_UNKNOWN); a name that is gone by now is skipped.
                FileType::Unknown => match self.child_stat(&name) {
                    Ok(stat) => stat.kind,
                    Err(_) => continue,
                },
                _ => FileKind::Other,
            };
            names.push(Listed { name, kind });
        }
        Ok(names)
    }
}
