//! The changes of this session that can be undone, newest last, within a bound.

use std::{
    collections::{BTreeSet, VecDeque},
    ffi::OsString,
    sync::Arc,
};

use crate::workspace::{NewDirectory, Revision, TreePosition, WorkspacePath};

/// Changes remembered.
const CHANGES: usize = 500;
/// Entries of deleted trees remembered in all.
const ENTRIES: usize = 60_000;

/// One change, as it would have to be reverted.
#[derive(Clone, Debug)]
pub struct UndoableChange {
    /// The tool that made it.
    pub tool: &'static str,
    /// What it did.
    pub effect: Effect,
    /// The directories that it made above what it put somewhere, the outermost first.
    pub made: Vec<NewDirectory>,
}

/// What a change did. Paths are real ones.
#[derive(Clone, Debug)]
pub enum Effect {
    /// Created a file or replaced its content.
    Wrote {
        /// The file.
        path: WorkspacePath,
        /// What it was; none for a new file.
        before: Option<Former>,
        /// What it became.
        after: Revision,
    },
    /// Deleted an entry with everything below it.
    Removed {
        /// The entry.
        path: WorkspacePath,
        /// What it was, each directory before what it held.
        entries: Arc<Vec<FormerEntry>>,
    },
    /// Moved an entry.
    Moved {
        /// Where it was.
        from: WorkspacePath,
        /// Where it is.
        to: WorkspacePath,
        /// The mark of its state just after.
        mark: Revision,
        /// The file that it replaced.
        replaced: Option<Former>,
    },
    /// Made the like of an entry.
    Copied {
        /// The new one.
        to: WorkspacePath,
        /// The mark of its state just after.
        mark: Revision,
    },
    /// Made directories, the outermost first.
    Made {
        /// All that were missing.
        directories: Vec<NewDirectory>,
    },
    /// All of these, in one change of several files. Each path is in one of them at most.
    Several(Vec<Effect>),
}

/// A content that was kept.
#[derive(Clone, Copy, Debug)]
pub struct Former {
    /// The content.
    pub revision: Revision,
    /// Permission bits; 0 where the system has none.
    pub mode: u32,
}

/// One entry of what was deleted.
#[derive(Clone, Debug)]
pub struct FormerEntry {
    /// Its position in what was deleted.
    pub position: TreePosition,
    /// What it was.
    pub node: FormerNode,
}

/// What a deleted entry was.
#[derive(Clone, Debug)]
pub enum FormerNode {
    /// A file.
    File(Former),
    /// A directory with these permission bits.
    Directory {
        /// Permission bits.
        mode: u32,
    },
    /// A link that said this.
    Link(OsString),
}

impl Effect {
    /// The paths that name this change: it is the last change "to" each of them.
    fn names(&self) -> Vec<&WorkspacePath> {
        match self {
            Self::Wrote { path, .. } | Self::Removed { path, .. } | Self::Copied { to: path, .. } => vec![path],
            Self::Moved { from, to, .. } => vec![from, to],
            Self::Made { directories } => directories.iter().map(NewDirectory::path).collect(),
            Self::Several(effects) => effects.iter().flat_map(Self::names).collect(),
        }
    }

    fn entries(&self) -> usize {
        match self {
            Self::Removed { entries, .. } => entries.len(),
            Self::Several(effects) => effects.iter().map(Self::entries).sum(),
            _ => 1,
        }
    }
}

/// The bounded list of changes.
#[derive(Debug, Default)]
pub(super) struct UndoList {
    changes: VecDeque<(u64, UndoableChange)>,
}

impl UndoList {
    pub(super) fn push(&mut self, number: u64, change: UndoableChange) {
        // Numbers are given while the locks are held, so they give the order even where two calls
        // come here the other way round.
        let at = self.changes.partition_point(|(other, _)| *other < number);
        self.changes.insert(at, (number, change));
        let mut entries: usize = self.changes.iter().map(|(_, change)| change.effect.entries()).sum();
        while self.changes.len() > CHANGES || (entries > ENTRIES && self.changes.len() > 1) {
            let Some((_, oldest)) = self.changes.pop_front() else { break };
            entries -= oldest.effect.entries();
        }
    }

    pub(super) fn last(&self, path: Option<&WorkspacePath>) -> Option<(u64, UndoableChange)> {
        let found = |change: &UndoableChange| path.is_none_or(|path| change.effect.names().contains(&path));
        self.changes.iter().rev().find(|(_, change)| found(change)).cloned()
    }

    pub(super) fn paths(&self, is_meant: impl Fn(&WorkspacePath) -> bool) -> BTreeSet<WorkspacePath> {
        let names = self.changes.iter().flat_map(|(_, change)| change.effect.names());
        names.filter(|path| is_meant(path)).cloned().collect()
    }

    pub(super) fn forget(&mut self, number: u64) -> bool {
        let before = self.changes.len();
        self.changes.retain(|(other, _)| *other != number);
        self.changes.len() < before
    }
}
