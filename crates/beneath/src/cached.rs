//! What the kernel has in memory: no disk, no other machine and no other process is asked.
//!
//! Only Linux has such calls, and only on file systems of this machine is their promise kept. `None` says nothing
//! about what is there.

use std::{fs::File, path::Path};

use crate::Stat;

use super::Dir;
#[cfg(target_os = "linux")]
use super::{FileKind, file_stat, unix::flags::READ, unix::openat2};

impl Dir {
    /// A regular file beneath this directory, with its content of at most `limit` bytes.
    pub fn read_cached(&self, relative: &Path, limit: usize) -> Option<(File, Stat, Vec<u8>)> {
        #[cfg(target_os = "linux")]
        if self.kernel && self.local {
            let file = File::from(openat2::open_cached(self, relative, READ)?);
            let stat = file_stat(&file).ok().filter(|stat| stat.kind == FileKind::File)?;
            let mut bytes = vec![0; usize::try_from(stat.size).ok().filter(|size| *size <= limit)?];
            return openat2::read_cached(&file, &mut bytes).then_some((file, stat, bytes));
        }
        let _ = (relative, limit);
        None
    }
}

/// As [`super::identity`].
pub fn identity_cached(path: &Path) -> Option<(u64, u64)> {
    #[cfg(target_os = "linux")]
    return openat2::identity_cached(path);
    #[cfg(not(target_os = "linux"))]
    {
        let _ = path;
        None
    }
}
