//! Opens of many entries in path order: those of one directory go through its descriptor.
//!
//! An open from the root resolves each name on the way, and all threads of a search count the references of the root
//! while they do. One name from its directory's descriptor, links refused (`O_NOFOLLOW`), saves both.
//!
//! # Limits
//! The directory is reached from the root for each run of entries, and is held for that run alone. One that is moved out
//! of the root meanwhile is read on until the run ends, as by a walk that is in it; Landlock refuses that where it is in
//! force.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use crate::workspace::{Dir, OpenFor, WorkspacePath};

/// The directory of the last entry.
#[derive(Debug, Default)]
pub struct SiblingCache {
    /// The index of its root, and its path below it.
    directory: Option<(usize, PathBuf)>,
    /// Open from the second entry in a row: for one alone, it costs more than it saves.
    dir: Option<Dir>,
}

impl SiblingCache {
    /// The directory that holds a real path, with the name in it; `None` where the path is to be taken from the root.
    pub(super) fn parent<'c, 'p>(&'c mut self, real: &'p WorkspacePath) -> Option<(&'c Dir, &'p OsStr)> {
        // Windows lets nobody rename a directory while it is open, and a staged file may be in either half of its
        // directory.
        if cfg!(windows) || real.root().is_staged() {
            return None;
        }
        let (parent, name) = split(real.relative())?;
        let root = real.root();
        if !self.directory.as_ref().is_some_and(|(index, path)| *index == root.index && same(path, parent)) {
            self.dir = None;
            let mut path = self.directory.take().map(|(_, path)| path).unwrap_or_default();
            path.clear();
            path.push(parent);
            self.directory = Some((root.index, path));
            return None;
        }
        if self.dir.is_none() {
            self.dir = root.dir.dir_beneath(parent, OpenFor::Traverse).ok();
        }
        Some((self.dir.as_ref()?, name))
    }

    /// Closes the directory.
    pub fn clear(&mut self) {
        self.directory = None;
        self.dir = None;
    }
}

/// A path without its last name, and that name.
fn split(path: &Path) -> Option<(&Path, &OsStr)> {
    #[cfg(unix)]
    {
        use std::os::unix::ffi::OsStrExt as _;
        // `Path::parent` and `file_name` each parse the path from its end.
        let bytes = path.as_os_str().as_bytes();
        let slash = memchr::memrchr(b'/', bytes);
        let (parent, name) = slash.map_or((&bytes[..0], bytes), |at| (&bytes[..at], &bytes[at + 1..]));
        (!name.is_empty()).then(|| (Path::new(OsStr::from_bytes(parent)), OsStr::from_bytes(name)))
    }
    #[cfg(not(unix))]
    {
        Some((path.parent()?, path.file_name()?))
    }
}

/// Whether both are spelled the same.
fn same(one: &Path, other: &Path) -> bool {
    one.as_os_str() == other.as_os_str()
}
