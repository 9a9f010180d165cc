//! The changes of this session that can be undone, newest last, within a bound.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    ffi::OsString,
    fmt,
    str::FromStr,
    sync::Arc,
};

use confined_fs::{NewDirectory, Revision, TreePosition, WorkspacePath};

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
        /// What it became: its content, or the mark of its state where it is masked.
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
        /// The mark of its state just after, where that is known.
        mark: Option<Revision>,
        /// The file that it replaced.
        replaced: Option<Former>,
    },
    /// Made the like of an entry.
    Copied {
        /// The new one.
        to: WorkspacePath,
        /// The mark of its state just after.
        mark: Revision,
        /// What it held then, each directory before what it held.
        entries: Arc<Vec<FormerEntry>>,
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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Former {
    /// The content.
    pub revision: Revision,
    /// Permission bits; 0 where the system has none.
    pub mode: u32,
    /// What the `after` of the change that left it is: of a masked file, the mark of its state.
    pub state: Revision,
}

impl Former {
    /// A content of a file that is not masked.
    pub fn new(revision: Revision, mode: u32) -> Self {
        Self { revision, mode, state: revision }
    }
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
    pub fn names(&self) -> Vec<&WorkspacePath> {
        match self {
            Self::Wrote { path, .. } | Self::Removed { path, .. } | Self::Copied { to: path, .. } => vec![path],
            Self::Moved { from, to, .. } => vec![from, to],
            Self::Made { directories } => directories.iter().map(NewDirectory::path).collect(),
            Self::Several(effects) => effects.iter().flat_map(Self::names).collect(),
        }
    }

    fn entries(&self) -> usize {
        match self {
            Self::Removed { entries, .. } | Self::Copied { entries, .. } => entries.len(),
            Self::Several(effects) => effects.iter().map(Self::entries).sum(),
            _ => 1,
        }
    }
}

/// One change of the list.
#[derive(Clone, Debug)]
struct Listed {
    number: u64,
    change: UndoableChange,
    /// Who made it, as far as that is known.
    by: Option<Arc<str>>,
    /// Whether a plain `undo` made it.
    is_undo: bool,
    /// Whether a later one has taken it back.
    is_taken_back: bool,
}

/// The bounded list of changes. A change that was taken back stays on it, and so does what took it back: together
/// they lead to every earlier state.
#[derive(Debug, Default)]
pub(super) struct UndoList {
    changes: VecDeque<Listed>,
    /// The paths of changes that were dropped for the bounds, each with the number of the newest of them.
    dropped: BTreeMap<WorkspacePath, u64>,
}

impl UndoList {
    pub(super) fn push(&mut self, number: u64, change: UndoableChange, by: Option<Arc<str>>) {
        self.insert(Listed { number, change, by, is_undo: false, is_taken_back: false });
    }

    /// `change` took another one back.
    pub(super) fn push_undo(&mut self, number: u64, change: UndoableChange) {
        self.insert(Listed { number, change, by: None, is_undo: true, is_taken_back: false });
    }

    fn insert(&mut self, listed: Listed) {
        // Numbers are given while the locks are held, so they give the order even where two calls
        // come here the other way round.
        let at = self.changes.partition_point(|other| other.number < listed.number);
        self.changes.insert(at, listed);
        let mut entries: usize = self.changes.iter().map(|listed| listed.change.effect.entries()).sum();
        while self.changes.len() > CHANGES || (entries > ENTRIES && self.changes.len() > 1) {
            let Some(oldest) = self.changes.pop_front() else { break };
            entries -= oldest.change.effect.entries();
            let names = oldest.change.effect.names().into_iter().cloned();
            self.dropped.extend(names.map(|path| (path, oldest.number)));
        }
    }

    /// The last change that counts, to `path` or below it: neither taken back nor itself a plain undo.
    pub(super) fn last(&self, path: Option<&WorkspacePath>) -> Option<(u64, UndoableChange, Option<Arc<str>>)> {
        let is_meant =
            |path: &WorkspacePath, change: &UndoableChange| change.effect.names().iter().any(|name| name.is_in(path));
        let found = |change: &UndoableChange| path.is_none_or(|path| is_meant(path, change));
        let counts = |listed: &&Listed| !listed.is_taken_back && !listed.is_undo && found(&listed.change);
        let last = self.changes.iter().rev().find(counts);
        last.map(|listed| (listed.number, listed.change.clone(), listed.by.clone()))
    }

    /// The last plain undo that was not taken back itself.
    pub(super) fn last_undo(&self) -> Option<(u64, UndoableChange)> {
        let counts = |listed: &&Listed| !listed.is_taken_back && listed.is_undo;
        self.changes.iter().rev().find(counts).map(|listed| (listed.number, listed.change.clone()))
    }

    /// The changes from the one with this number on, the oldest first, and what those changed that were dropped.
    pub(super) fn since(&self, number: u64) -> (Vec<(u64, UndoableChange)>, Vec<WorkspacePath>) {
        let from = self.changes.partition_point(|listed| listed.number < number);
        let since = self.changes.range(from..).map(|listed| (listed.number, listed.change.clone()));
        let lost = self.dropped.iter().filter(|(_, dropped)| **dropped >= number);
        (since.collect(), lost.map(|(path, _)| path.clone()).collect())
    }

    pub(super) fn paths(&self, is_meant: impl Fn(&WorkspacePath) -> bool) -> BTreeSet<WorkspacePath> {
        let counting = self.changes.iter().filter(|listed| !listed.is_taken_back && !listed.is_undo);
        let names = counting.flat_map(|listed| listed.change.effect.names());
        names.filter(|path| is_meant(path)).cloned().collect()
    }

    /// What was deleted at `path` was brought back, with all in it.
    pub(super) fn brought_back(&mut self, path: &WorkspacePath) {
        for UndoableChange { effect, made, .. } in self.changes.iter_mut().map(|listed| &mut listed.change) {
            let directories = if let Effect::Made { directories } = effect { directories } else { made };
            directories.iter_mut().filter(|one| one.path().is_in(path)).for_each(NewDirectory::brought_back);
        }
    }

    /// The masked file that was at `state` is the same again, at `now`.
    pub(super) fn restored(&mut self, file: &WorkspacePath, state: Revision, now: Revision) {
        let mut effects: Vec<&mut Effect> = self.changes.iter_mut().map(|one| &mut one.change.effect).collect();
        while let Some(effect) = effects.pop() {
            match effect {
                Effect::Several(parts) => effects.extend(parts),
                Effect::Wrote { path, before, after } if path == file => {
                    let marks = before.iter_mut().map(|former| &mut former.state).chain([after]);
                    marks.filter(|mark| **mark == state).for_each(|mark| *mark = now);
                }
                _ => {}
            }
        }
    }

    /// The change with this number was taken back.
    pub(super) fn take_back(&mut self, number: u64) {
        let found = self.changes.iter_mut().find(|listed| listed.number == number);
        if let Some(listed) = found {
            listed.is_taken_back = true;
        }
    }
}

// Named states: which change of this session was the first after each.

/// Checkpoints remembered; the oldest goes first.
const REMEMBERED: usize = 200;
/// Characters of the longest name.
const LONGEST: usize = 64;
/// What `undo` takes for something else.
const RESERVED: &[&str] = &["session", "redo"];

/// The name of a checkpoint: a short line of visible characters.
///
/// # Examples
/// ```
/// use rootbound::session::history::CheckpointName;
///
/// assert_eq!(" before the rename ".parse::<CheckpointName>().unwrap().as_str(), "before the rename");
/// assert!("session".parse::<CheckpointName>().is_err());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckpointName(String);

impl CheckpointName {
    /// The name as it was given.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for CheckpointName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for CheckpointName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let name = text.trim();
        if name.is_empty() {
            return Err("the name of a checkpoint is empty".to_owned());
        }
        if name.chars().count() > LONGEST {
            return Err(format!("the name of a checkpoint has more than {LONGEST} characters"));
        }
        if name.chars().any(char::is_control) || text_file::hidden::in_line(name).next().is_some() {
            return Err(format!("the name of a checkpoint holds characters that are not visible: {name:?}"));
        }
        if RESERVED.iter().any(|reserved| name.eq_ignore_ascii_case(reserved)) {
            return Err(format!("{name:?} cannot be the name of a checkpoint: undo takes it for something else"));
        }
        Ok(Self(name.to_owned()))
    }
}

/// The checkpoints of this session, the newest last.
#[derive(Debug, Default)]
pub(super) struct Checkpoints(Vec<(CheckpointName, u64)>);

impl Checkpoints {
    /// The state just before the change with the number `first` has this name from now on. Whether it was that of
    /// another state.
    pub(super) fn set(&mut self, name: CheckpointName, first: u64) -> bool {
        let before = self.0.len();
        self.0.retain(|(other, _)| *other != name);
        let is_moved = self.0.len() < before;
        self.0.push((name, first));
        if self.0.len() > REMEMBERED {
            self.0.remove(0);
        }
        is_moved
    }

    /// The first change after it.
    pub(super) fn get(&self, name: &str) -> Option<u64> {
        self.0.iter().find(|(other, _)| other.as_str() == name).map(|(_, first)| *first)
    }

    /// The names, the newest first.
    pub(super) fn names(&self) -> Vec<String> {
        self.0.iter().rev().map(|(name, _)| name.to_string()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_a_person_could_not_read_or_type_are_refused() {
        let long = "x".repeat(LONGEST + 1);
        for name in ["", "  ", "a\nb", "a\u{1b}[2J", "a\u{202e}b", "session", "Session", "redo", &long] {
            assert!(name.parse::<CheckpointName>().is_err(), "{name:?}");
        }
        for name in ["a", "../../etc/passwd", "before änderung", &long[1..]] {
            assert_eq!(name.parse::<CheckpointName>().unwrap().as_str(), name);
        }
    }

    #[test]
    fn same_name_again_moves_the_checkpoint() {
        let mut checkpoints = Checkpoints::default();
        assert!(!checkpoints.set("a".parse().unwrap(), 3));
        assert!(!checkpoints.set("b".parse().unwrap(), 4));
        assert!(checkpoints.set("a".parse().unwrap(), 9));
        assert_eq!((checkpoints.get("a"), checkpoints.get("c")), (Some(9), None));
        assert_eq!(checkpoints.names(), ["a", "b"]);
    }
}
