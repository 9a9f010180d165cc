//! The steps of one transaction in the order in which they are made, and where their entries are at any moment.
//!
//! A removed directory has a reserved name from some moment on, and a new one has one until it is complete. So paths below
//! them are opened name by name: first by the reserved name, then by the own one.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::{collections::HashMap, io, sync::Arc};

use beneath::{OpenFor, Stat};

use crate::tree::{EntryChange, EntryState, Rights};
use crate::write::NewContent;
use beneath::Dir;
use confined_fs::for_changes::{is_reserved, transaction_name};
use confined_fs::{Revision, WorkspacePath, for_changes::IfThere as _};

/// Most steps of one transaction, those of missing directories above its entries included.
pub(super) const MAX_STEPS: usize = 5_000;

/// The steps, and the names that they use besides those of the entries.
pub(super) struct Steps<'n> {
    pub(super) id: u64,
    pub(super) list: Vec<Step<'n>>,
    /// Removed directories, by root and path, and the reserved names that they get.
    going: HashMap<(usize, PathBuf), OsString>,
    /// The outermost new directories, and the reserved names that they are made under.
    coming: HashMap<(usize, PathBuf), OsString>,
    /// The folder of their intent, for the contents of files that are written in place.
    pub(super) journal: Option<Dir>,
}

/// Where one step is made: the directory that holds its entry, and the names that the entry has in it at some moment.
pub(super) struct Place<'s> {
    pub(super) dir: Dir,
    /// The name that its path ends in.
    pub(super) name: &'s OsStr,
    /// The reserved name of a new entry before it gets its own, and of a replaced one afterwards.
    pub(super) new: OsString,
    /// The reserved name of a removed entry until the transaction is over.
    pub(super) old: OsString,
}

impl<'n> Steps<'n> {
    pub(super) fn new(id: u64, mut list: Vec<Step<'n>>) -> Self {
        // Stable, and an intent has the steps in this order: recovery gets the same indices, and so the same names.
        list.sort_by_key(order);
        let mut steps = Self { id, list, going: HashMap::new(), coming: HashMap::new(), journal: None };
        for index in 0..steps.list.len() {
            let step = &steps.list[index];
            if let Some(EntryState::Directory { .. }) = step.removed() {
                steps.going.insert(key(&step.path), steps.old_name(index));
            } else if matches!(step.made(), Some(EntryState::Directory { .. })) && !steps.is_in_new(&step.path) {
                steps.coming.insert(key(&step.path), steps.new_name(index));
            }
        }
        steps
    }

    pub(super) fn paths(&self) -> impl Iterator<Item = &WorkspacePath> {
        self.list.iter().flat_map(Step::paths)
    }

    /// Opens the directory that holds the entry of the step with this index.
    pub(super) fn place(&self, index: usize) -> io::Result<Place<'_>> {
        let path = &self.list[index].path;
        Ok(Place {
            dir: self.holder(path)?,
            name: last_name(path)?,
            new: self.new_name(index),
            old: self.old_name(index),
        })
    }

    pub(super) fn new_name(&self, index: usize) -> OsString {
        transaction_name(self.id, 2 * index)
    }

    pub(super) fn old_name(&self, index: usize) -> OsString {
        transaction_name(self.id, 2 * index + 1)
    }

    /// Whether a name is one that this transaction gives.
    pub(super) fn is_own_name(&self, name: &OsStr) -> bool {
        let own = format!(".rootbound-{:016x}-", self.id);
        is_reserved(name) && name.to_str().is_some_and(|name| name.starts_with(&own))
    }

    /// Whether a path is in a directory that the transaction makes: it is made and rolled back with that directory.
    pub(super) fn is_in_new(&self, path: &WorkspacePath) -> bool {
        !self.coming.is_empty()
            && std::iter::successors(path.parent(), WorkspacePath::parent)
                .any(|above| self.coming.contains_key(&key(&above)))
    }

    fn other_name(&self, directory: &(usize, PathBuf)) -> Option<&OsString> {
        self.going.get(directory).or_else(|| self.coming.get(directory))
    }

    /// The directory that holds the entry at `path`, under whatever name it has now.
    pub(super) fn holder(&self, path: &WorkspacePath) -> io::Result<Dir> {
        let parent = path.parent().unwrap_or_else(|| path.clone());
        self.directory(&parent)
    }

    /// The directory at `path`, under whatever name it has now.
    pub(super) fn directory(&self, path: &WorkspacePath) -> io::Result<Dir> {
        let root = &path.root().dir();
        let is_renamed = |above: WorkspacePath| self.other_name(&key(&above)).is_some();
        // One open does where no directory on the way has another name.
        let none = self.going.is_empty() && self.coming.is_empty();
        if none || !std::iter::successors(Some(path.clone()), WorkspacePath::parent).any(is_renamed) {
            return Ok(root.dir_beneath(path.relative(), OpenFor::Traverse)?);
        }
        let mut here = root.dir_beneath(Path::new(""), OpenFor::Traverse)?;
        let mut below = PathBuf::new();
        for name in path.relative() {
            below.push(name);
            here = match self.other_name(&(path.root().index(), below.clone())) {
                None => here.child_dir(name, OpenFor::Traverse)?,
                // The reserved name first: another program may have made a directory under the own one since.
                Some(other) => match here.child_dir(other, OpenFor::Traverse).if_there()? {
                    Some(renamed) => renamed,
                    None => here.child_dir(name, OpenFor::Traverse)?,
                },
            };
        }
        Ok(here)
    }
}

/// When a step is made: removals the innermost first, creations the outermost first.
fn order(step: &Step<'_>) -> (u8, usize) {
    // What leaves a directory goes before it: a removed one may hold only what was set aside (`holds_only_own`).
    let depth = step.path.relative().iter().count();
    match (&step.change.moved_from, &step.change.from, &step.change.to) {
        (Some(_), ..) => (0, 0),
        (None, Some(EntryState::Directory { .. }), None) => (2, usize::MAX - depth),
        (None, Some(_), None) => (1, 0),
        (None, Some(_), Some(_)) => (3, 0),
        (None, None, Some(EntryState::Directory { .. })) => (4, depth),
        (None, None, _) => (5, 0),
    }
}

fn key(path: &WorkspacePath) -> (usize, PathBuf) {
    (path.root().index(), path.relative().to_path_buf())
}

/// The last name of a step's path; a root is no step.
pub(super) fn last_name(path: &WorkspacePath) -> io::Result<&OsStr> {
    path.file_name().ok_or_else(|| io::ErrorKind::InvalidInput.into())
}

// The steps of a set are all that rolling back needs: they are what its intent holds.

/// The material of a new or replaced file.
pub(super) enum NewFile<'n> {
    /// A content, with the rights of a new or replaced file, or else the attributes of the file `like`, which with `true` is
    /// this one at its old path. A replaced one is written itself where it `stays`.
    Content { content: Arc<NewContent<'n>>, rights: Rights, like: Option<(bool, WorkspacePath)>, stays: bool },
    /// A copy of a file: with these rights, or of another file system, and it takes the place of that one.
    CopyOf { from: WorkspacePath, seen: Stat, rights: Option<Rights> },
}

/// One step. Its index in the list of all gives it two reserved names: see [`Place`].
pub(super) struct Step<'n> {
    /// Where its entry is before, or comes to: of a move the old path.
    pub(super) path: WorkspacePath,
    /// From one state to another: a file to another content, an entry to nothing, nothing to an entry, or an entry, with its
    /// device and inode, to another path.
    pub(super) change: EntryChange,
    /// The entry when it was checked; `None` for a new one, and after a crash.
    pub(super) seen: Option<Stat>,
    /// The material of a new or replaced file; `None` after a crash.
    pub(super) file: Option<NewFile<'n>>,
}

impl From<EntryChange> for Step<'_> {
    /// A step as its intent has it.
    fn from(change: EntryChange) -> Self {
        Self { path: change.moved_from.as_ref().unwrap_or(&change.path).clone(), change, seen: None, file: None }
    }
}

impl Step<'_> {
    /// Its path, and the one that it moves its entry to.
    pub(super) fn paths(&self) -> impl Iterator<Item = &WorkspacePath> {
        self.change.names()
    }

    /// The new path of a moved entry, and the entry.
    pub(super) fn moved(&self) -> Option<(&WorkspacePath, &EntryState)> {
        self.change.moved_from.as_ref().and(self.change.to.as_ref()).map(|is| (&self.change.path, is))
    }

    /// The entry that is made, where there is none, or where the same set removes it.
    pub(super) fn made(&self) -> Option<&EntryState> {
        let EntryChange { from, to, moved_from, .. } = &self.change;
        to.as_ref().filter(|_| from.is_none() && moved_from.is_none())
    }

    pub(super) fn removed(&self) -> Option<&EntryState> {
        self.change.from.as_ref().filter(|_| self.change.to.is_none())
    }

    /// The contents of a file that gets another one.
    pub(super) fn replaced(&self) -> Option<(Revision, Revision)> {
        match (&self.change.moved_from, &self.change.from, &self.change.to) {
            (None, Some(EntryState::File(old)), Some(EntryState::File(new))) => Some((old.revision, new.revision)),
            _ => None,
        }
    }
}
