//! Listing a directory through its handle.

use std::ffi::OsString;
use std::io;
use std::ops::ControlFlow;
use std::os::unix::ffi::OsStringExt as _;

use rustix::fs::FileType;

use crate::workspace::FileKind;

use super::{Dir, Listed};

impl Dir {
    /// The names in this directory, in no order. Needs [`OpenFor::List`].
    pub(crate) fn list(&self) -> io::Result<Vec<Listed>> {
        self.list_at_most(usize::MAX)
    }

    /// As [`Self::list`], of the first so many names alone. Needs [`OpenFor::List`].
    pub(crate) fn list_at_most(&self, most: usize) -> io::Result<Vec<Listed>> {
        let mut names = Vec::new();
        self.each_name(|name, kind| {
            if names.len() >= most {
                return ControlFlow::Break(());
            }
            if name == b"." || name == b".." {
                return ControlFlow::Continue(());
            }
            let name = OsString::from_vec(name.to_vec());
            let kind = match kind {
                FileType::RegularFile => FileKind::File,
                FileType::Directory => FileKind::Directory,
                FileType::Symlink => FileKind::Symlink,
                // Some file systems do not say (DT_UNKNOWN); a name that is gone by now is skipped.
                FileType::Unknown => match self.child_stat(&name) {
                    Ok(stat) => stat.kind,
                    Err(_) => return ControlFlow::Continue(()),
                },
                _ => FileKind::Other,
            };
            names.push(Listed { name, kind });
            ControlFlow::Continue(())
        })?;
        Ok(names)
    }

    #[cfg(target_os = "linux")]
    fn each_name(&self, mut visit: impl FnMut(&[u8], FileType) -> ControlFlow<()>) -> io::Result<()> {
        let mut buffer = Vec::with_capacity(32 * 1024);
        let mut entries = rustix::fs::RawDir::new(self, buffer.spare_capacity_mut());
        while let Some(entry) = entries.next() {
            let entry = entry?;
            if visit(entry.file_name().to_bytes(), entry.file_type()).is_break() {
                break;
            }
        }
        Ok(())
    }

    #[cfg(not(target_os = "linux"))]
    fn each_name(&self, mut visit: impl FnMut(&[u8], FileType) -> ControlFlow<()>) -> io::Result<()> {
        for entry in rustix::fs::Dir::read_from(self)? {
            let entry = entry?;
            if visit(entry.file_name().to_bytes(), entry.file_type()).is_break() {
                break;
            }
        }
        Ok(())
    }
}
