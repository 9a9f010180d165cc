//! Many paths, one behind the other in one piece of memory.

use std::path::Path;
#[cfg(not(unix))]
use std::path::PathBuf;
#[cfg(unix)]
use std::{ffi::OsStr, os::unix::ffi::OsStrExt};

/// Paths below one root.
#[cfg(unix)]
#[derive(Clone, Debug, Default)]
pub(crate) struct PathText {
    bytes: Vec<u8>,
    /// Where each ends.
    ends: Vec<u32>,
}

#[cfg(unix)]
impl PathText {
    /// Adds a path behind the others.
    pub(crate) fn push(&mut self, path: &Path) {
        self.bytes.extend_from_slice(path.as_os_str().as_bytes());
        self.ends.push(u32::try_from(self.bytes.len()).unwrap_or(u32::MAX));
    }

    /// Whether no path should be added: the ends are to fit their type by far.
    pub(crate) fn is_full(&self) -> bool {
        self.bytes.len() >= 1 << 20
    }

    pub(crate) fn get(&self, at: usize) -> &Path {
        let start = at.checked_sub(1).map_or(0, |before| self.ends[before] as usize);
        Path::new(OsStr::from_bytes(&self.bytes[start..self.ends[at] as usize]))
    }

    pub(crate) fn shrink_to_fit(&mut self) {
        self.bytes.shrink_to_fit();
        self.ends.shrink_to_fit();
    }

    /// Memory held, in bytes.
    pub(crate) fn memory(&self) -> usize {
        self.bytes.capacity() + self.ends.capacity() * size_of::<u32>()
    }
}

/// Paths below one root, each by itself: nothing is indexed on these systems.
#[cfg(not(unix))]
#[derive(Clone, Debug, Default)]
pub(crate) struct PathText(Vec<PathBuf>);

#[cfg(not(unix))]
impl PathText {
    /// Adds a path behind the others.
    pub(crate) fn push(&mut self, path: &Path) {
        self.0.push(path.to_owned());
    }

    /// Whether no path should be added.
    pub(crate) fn is_full(&self) -> bool {
        false
    }

    pub(crate) fn get(&self, at: usize) -> &Path {
        &self.0[at]
    }

    pub(crate) fn shrink_to_fit(&mut self) {
        self.0.shrink_to_fit();
    }

    /// Memory held, in bytes.
    pub(crate) fn memory(&self) -> usize {
        self.0.iter().map(PathBuf::capacity).sum::<usize>() + self.0.capacity() * size_of::<PathBuf>()
    }
}
