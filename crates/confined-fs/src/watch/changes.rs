//! What events mean for a list of names: which parts of it have to be looked at again.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::path::Path;

use crate::WorkspacePath;
use crate::walk::{GIT, holds_rules, is_marker};

#[derive(Debug)]
pub(super) struct Event<'a> {
    /// Which watch it is for.
    pub(super) watch: i32,
    /// The name in the watched directory; none for the directory itself.
    pub(super) name: Option<&'a OsStr>,
    /// The name is a directory's.
    pub(super) directory: bool,
    /// The name came or went.
    pub(super) came_or_went: bool,
    /// The content was written to.
    pub(super) is_written: bool,
    /// The watched directory itself was moved.
    pub(super) is_moved: bool,
    /// Events before this one were lost.
    pub(super) lost: bool,
    /// The watch is no more.
    pub(super) ended: bool,
    /// The file system is no more.
    pub(super) unmounted: bool,
}

/// The parts of a list of names that may be different from the disk.
#[derive(Debug, Default)]
pub struct Changes {
    /// Events were lost: nothing is known any more.
    pub everything: bool,
    /// Below these other names may be ignored; content is the same.
    pub trees: BTreeSet<WorkspacePath>,
    /// Names in these came or went: which paths. A directory among them is a new one.
    pub directories: BTreeMap<WorkspacePath, BTreeSet<WorkspacePath>>,
    /// Files that are not what they were.
    pub files: BTreeSet<WorkspacePath>,
    /// Something was mounted or unmounted, perhaps elsewhere, perhaps no longer: what was asked of the
    /// system since the changes before these may have been said of another file.
    pub remounted: bool,
}

impl Changes {
    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        !(self.everything || self.remounted)
            && self.trees.is_empty()
            && self.directories.is_empty()
            && self.files.is_empty()
    }

    /// Something else is at `path` now.
    pub(super) fn replaced(&mut self, path: &WorkspacePath) {
        let Some(parent) = path.parent() else {
            self.everything = true;
            return;
        };
        if path.file_name().is_some_and(holds_rules) {
            self.trees.insert(parent.clone());
        }
        self.directories.entry(parent).or_default().insert(path.clone());
        let mut within = path.parent();
        while let Some(above) = within {
            within = above.parent();
            if let (Some(".git"), Some(owner)) = (above.file_name().and_then(OsStr::to_str), &within) {
                self.trees.insert(owner.clone());
            }
        }
    }

    /// Notes what an event in the directory at `path` means.
    pub(super) fn note(&mut self, path: &WorkspacePath, event: &Event<'_>) {
        let Some(name) = event.name else {
            // The directory itself was moved, removed or given other rights: the watch on its parent reports that, too.
            self.everything |= path.is_root();
            return;
        };
        if holds_rules(name) {
            self.trees.insert(path.clone());
        }
        // A `.git` file, not a folder, may make the directory a linked worktree: that is for the list of its parent to say.
        if (is_marker(name) || name == GIT && !event.directory)
            && let Some(parent) = path.parent()
        {
            self.directories.entry(parent).or_default().insert(path.clone());
        }
        let child = path.child(Path::new(name));
        // A directory whose rights changed may be listed now, or no more.
        if event.came_or_went || event.directory {
            self.directories.entry(path.clone()).or_default().insert(child.clone());
        }
        if !event.directory {
            self.files.insert(child);
        }
    }
}
