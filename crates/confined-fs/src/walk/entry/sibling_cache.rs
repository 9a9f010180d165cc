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

use beneath::{OpenFor, Stat};

use crate::{Dir, Root, WorkspacePath, split_path};

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
        let (parent, name) = split_path(real.relative())?;
        let is_other = self.go_to(real.root(), parent)?;
        if is_other {
            return None;
        }
        Some((self.open(real.root())?, name))
    }

    /// What has that name in `directory`, the path below its root of a directory from which more than one name is asked for;
    /// `None` where that cannot be told.
    pub(super) fn stat(&mut self, root: &Root, directory: &Path, name: &OsStr) -> Option<Stat> {
        self.go_to(root, directory)?;
        self.open(root)?.child_stat(name).ok()
    }

    /// Makes a directory the current one; whether it was another one. `None` where directories are not kept open.
    fn go_to(&mut self, root: &Root, directory: &Path) -> Option<bool> {
        // Windows lets nobody rename a directory while it is open, and a staged file may be in either half of its
        // directory.
        if cfg!(windows) || root.is_staged() {
            return None;
        }
        if self.directory.as_ref().is_some_and(|(index, path)| *index == root.index && same(path, directory)) {
            return Some(false);
        }
        self.dir = None;
        let mut path = self.directory.take().map(|(_, path)| path).unwrap_or_default();
        path.clear();
        path.push(directory);
        self.directory = Some((root.index, path));
        Some(true)
    }

    /// The current directory.
    fn open(&mut self, root: &Root) -> Option<&Dir> {
        if self.dir.is_none() {
            self.dir = root.dir.dir_beneath(&self.directory.as_ref()?.1, OpenFor::Traverse).ok();
        }
        self.dir.as_ref()
    }

    /// Closes the directory.
    pub fn clear(&mut self) {
        self.directory = None;
        self.dir = None;
    }
}

/// Whether both are spelled the same.
fn same(one: &Path, other: &Path) -> bool {
    one.as_os_str() == other.as_os_str()
}
