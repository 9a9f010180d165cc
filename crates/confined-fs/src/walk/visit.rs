//! The options of a walk, the visitor that it calls for each entry, and its report.

use std::{ops::ControlFlow, path::Path};

use beneath::{Dir, FileKind};

use super::{LimitsHit, entry::Entry, ignores::RuleSource};
use crate::path::WorkspacePath;

const NAMED_DIRECTORIES: usize = 5;
/// Ignored entries that are remembered. Few trees have more, since those below an ignored directory are not
/// met.
const MAX_IGNORED: usize = 4096;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ignored {
    Skip,
    Include,
    /// Visit just what `Skip` leaves out: ignored files, and everything below ignored directories.
    Only,
}

#[derive(Clone, Debug)]
pub struct WalkOptions {
    /// Ignored entries: skipped, included, or nothing else.
    pub ignored: Ignored,
    /// How deep, 1 being the direct children; none for all.
    pub max_depth: Option<usize>,
    pub directories: bool,
    /// Visit links and special files as entries, too; links are never followed below the start.
    pub symlinks: bool,
}

impl WalkOptions {
    /// Every entry that ignore rules do not leave out, as deep as that.
    pub(crate) fn all(max_depth: Option<usize>) -> Self {
        Self { ignored: Ignored::Skip, max_depth, directories: true, symlinks: true }
    }

    /// Whether an entry of that kind is visited, unless ignore rules decide.
    pub fn visits(&self, kind: FileKind) -> bool {
        match kind {
            FileKind::Directory => self.directories,
            FileKind::File => true,
            FileKind::Symlink | FileKind::Other => self.symlinks,
        }
    }
}

#[derive(Clone, Debug, Default)]
pub struct WalkReport {
    /// The first 5 directories that could not be listed.
    pub unreadable: Vec<WorkspacePath>,
    pub unreadable_count: usize,
    /// Files left out by ignore rules, as met: those below an ignored directory are not counted.
    pub ignored_files: usize,
    pub ignored_dirs: usize,
    /// Entries that ignore rules left out of a walk over all depths, for a look into them without that walk.
    pub ignored_entries: IgnoredEntries,
    /// Linked worktrees that were not entered, as met: those in an ignored directory count where it is entered. A search
    /// that ended with a full page counts none.
    pub worktrees: usize,
    /// Limits that kept it from knowing all.
    pub limits_hit: LimitsHit,
    pub stopped: bool,
}

impl WalkReport {
    /// Counts a directory that could not be listed, and names it if it is one of the first.
    pub fn add_unreadable(&mut self, directory: WorkspacePath) {
        self.unreadable_count += 1;
        if self.unreadable.len() < NAMED_DIRECTORIES {
            self.unreadable.push(directory);
        }
    }

    pub fn add(&mut self, one: Self) {
        self.unreadable.extend(one.unreadable);
        self.unreadable.truncate(NAMED_DIRECTORIES);
        self.unreadable_count += one.unreadable_count;
        self.ignored_files += one.ignored_files;
        self.ignored_dirs += one.ignored_dirs;
        self.ignored_entries.append(one.ignored_entries);
        self.worktrees += one.worktrees;
        self.limits_hit.add(one.limits_hit);
        self.stopped |= one.stopped;
    }
}

/// The entries that ignore rules left out of a walk, in path order, so that a second look need not walk again: files,
/// and directories, without what is below them.
#[derive(Clone, Debug, Default)]
pub struct IgnoredEntries {
    entries: Vec<Entry>,
    more: bool,
}

impl IgnoredEntries {
    /// All of them; `None` where there were too many to remember.
    pub fn all(&self) -> Option<&[Entry]> {
        (!self.more).then_some(&self.entries)
    }

    pub fn append(&mut self, mut later: Self) {
        self.entries.append(&mut later.entries);
        self.more |= later.more;
    }

    pub fn forget(&mut self) {
        *self = Self { entries: Vec::new(), more: true };
    }

    pub fn push(&mut self, entry: Entry) {
        if self.entries.len() >= MAX_IGNORED {
            self.forget();
        } else if !self.more {
            self.entries.push(entry);
        }
    }
}

/// The receiver of a walk. All but the visits are for the path index.
pub(crate) trait Visitor {
    fn visit(&mut self, entry: Entry) -> ControlFlow<()>;
    fn wants_ignored(&self) -> bool {
        false
    }
    fn ignored(&mut self, _entry: Entry) {}
    /// A directory was opened and has not been listed yet; whether to go into it and look for marks in it.
    /// `path` is real and below the root.
    fn opened(&mut self, _dir: &Dir, _path: &Path) -> bool {
        true
    }
    /// A directory is the top of a linked worktree, and is not entered; called before it is visited.
    fn worktree(&mut self) {}
    /// A repository begins in this directory; its exclude file has not been read yet.
    fn repository(&mut self, _dir: &Dir, _path: &Path) {}
    /// Rules were found in the directory at `path`, in the file `name` below it. A file has not been read yet.
    fn rules(&mut self, _path: &Path, _name: &'static str, _source: &RuleSource<'_>) {}
    /// A directory cannot be listed; called before it is visited.
    fn unreadable(&mut self) {}
}

impl<F: FnMut(Entry) -> ControlFlow<()>> Visitor for F {
    fn visit(&mut self, entry: Entry) -> ControlFlow<()> {
        self(entry)
    }
}
