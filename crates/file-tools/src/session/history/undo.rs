//! The changes of this session that can be undone, newest last, within a bound; and the states that have names.
//!
//! An undo takes nothing off the list: it marks the change as reverted, and is a change of its own. So the list leads back
//! to every earlier state.
//!
//! ```text
//! number     7        8        9          10         11          12
//! change   write    move     edit       edit     undo of 10   undo of 9
//! counts    yes      yes    reverted   reverted      no          no
//!                     ▲                                           ▲
//!                     the next plain undo reverts it              to=redo reverts it, as change 13, which counts
//!
//! checkpoint before-move = 8, the state just before that change: to=before-move reverts 12, 11, 10, 9 and 8 on a
//! virtual tree, and makes the difference as one change, which counts
//! ```

use std::{
    collections::{BTreeMap, BTreeSet, HashSet, VecDeque},
    fmt,
    str::FromStr,
    sync::Arc,
};

use change_set::{EntryChange, EntryState};
use confined_fs::WorkspacePath;

const CHANGES: usize = 500;
/// Entries of changes remembered in all.
const ENTRIES: usize = 60_000;
/// Bytes of a path that weigh as much as one more entry.
const PATH_BYTES: usize = 1_024;

/// Whether a change goes on the list of what can be undone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Undoable {
    /// A plain undo takes it back.
    Yes,
    /// It does not: a person made it at the command line, or what it replaced is kept nowhere.
    No,
    /// As what took another change back.
    AsUndo,
    /// As `Yes`: it took an undo back.
    AsRedo,
}

/// One change, as it would have to be reverted.
#[derive(Clone, Debug)]
pub struct UndoableChange {
    /// The tool that made it.
    pub tool: &'static str,
    /// The entries that it changed. Each path is in one of them at most, and another one may move away from there.
    pub entries: Arc<[EntryChange]>,
}

impl UndoableChange {
    /// The paths that name this change, the outermost of a tree alone.
    pub fn names(&self) -> Vec<&WorkspacePath> {
        self.tops().into_iter().flat_map(EntryChange::names).collect()
    }

    /// The entries that are in no directory that the change removed or made as well, in their order; directories that were
    /// made for them are among these only where there is nothing else.
    pub fn tops(&self) -> Vec<&EntryChange> {
        let others: Vec<&EntryChange> = self.entries.iter().filter(|entry| !entry.is_parent).collect();
        if others.is_empty() {
            return self.entries.iter().collect();
        }
        let is_directory = |entry: &&&EntryChange| {
            entry.moved_from.is_none()
                && [&entry.from, &entry.to].into_iter().flatten().any(|is| matches!(is, EntryState::Directory { .. }))
        };
        let directories: HashSet<&WorkspacePath> =
            others.iter().filter(is_directory).map(|entry| &entry.path).collect();
        let is_inside = |entry: &EntryChange| {
            std::iter::successors(entry.path.parent(), WorkspacePath::parent).any(|above| directories.contains(&above))
        };
        others.into_iter().filter(|entry| entry.moved_from.is_some() || !is_inside(entry)).collect()
    }

    fn weight(&self) -> usize {
        self.entries.iter().map(weight).sum()
    }
}

/// What an entry weighs in the list: a path of a deep tree is long.
fn weight(entry: &EntryChange) -> usize {
    1 + entry.path.relative().as_os_str().len() / PATH_BYTES
}

#[derive(Clone, Debug)]
struct Listed {
    number: u64,
    change: UndoableChange,
    /// Who made it, as far as that is known.
    by: Option<Arc<str>>,
    /// Whether a plain `undo` made it.
    is_undo: bool,
    is_redo: bool,
    /// Whether a later one has taken it back.
    is_taken_back: bool,
}

/// The number of a change, what it did, and who made it, as far as that is known.
pub type MadeChange = (u64, UndoableChange, Option<Arc<str>>);

impl Listed {
    fn made(&self) -> MadeChange {
        (self.number, self.change.clone(), self.by.clone())
    }
}

/// The bounded list of changes. A change that was taken back stays on it, and so does what took it back: together
/// they lead to every earlier state.
#[derive(Debug, Default)]
pub struct UndoList {
    changes: VecDeque<Listed>,
    /// The paths of changes that were dropped for the bounds, each with the number of the newest of them.
    dropped: BTreeMap<WorkspacePath, u64>,
    /// The states that have names.
    pub checkpoints: Checkpoints,
    /// Device and inode of the directories that were brought back: each takes the place of the one that was made.
    pub brought_back: HashSet<(u64, u64)>,
}

impl UndoList {
    pub(super) fn push(&mut self, number: u64, change: UndoableChange, by: Option<Arc<str>>, undoable: Undoable) {
        let (is_undo, is_redo) = (undoable == Undoable::AsUndo, undoable == Undoable::AsRedo);
        let listed = Listed { number, change, by, is_undo, is_redo, is_taken_back: false };
        // Numbers are given while the locks are held, so they give the order even where two calls
        // come here the other way round.
        let at = self.changes.partition_point(|other| other.number < listed.number);
        self.changes.insert(at, listed);
        let mut entries: usize = self.changes.iter().map(|listed| listed.change.weight()).sum();
        // However many entries it has, the newest change can be undone.
        while self.changes.len() > CHANGES || (entries > ENTRIES && self.changes.len() > 1) {
            let Some(oldest) = self.changes.pop_front() else { break };
            entries -= oldest.change.weight();
            let names = oldest.change.names().into_iter().cloned();
            // By path alone, so that a return to before it says what it cannot bring back.
            self.dropped.extend(names.map(|path| (path, oldest.number)));
        }
    }

    /// The last change that counts, by a caller for whom `is_caller` is true, to `path` or below it: neither taken back nor
    /// itself a plain undo.
    pub fn last(
        &self,
        path: Option<&WorkspacePath>,
        is_caller: impl Fn(Option<&Arc<str>>) -> bool,
    ) -> Option<MadeChange> {
        let is_meant =
            |path: &WorkspacePath, change: &UndoableChange| change.names().iter().any(|name| name.is_in(path));
        let found = |change: &UndoableChange| path.is_none_or(|path| is_meant(path, change));
        let counts = |listed: &&Listed| !listed.is_taken_back && !listed.is_undo && is_caller(listed.by.as_ref());
        self.changes.iter().rev().find(|listed| counts(listed) && found(&listed.change)).map(Listed::made)
    }

    /// The last plain undo by that caller that was not taken back itself, of those since its last other change.
    pub fn last_undo(&self, by: Option<&Arc<str>>) -> Option<MadeChange> {
        let own = self.changes.iter().rev().filter(|listed| listed.by.as_ref() == by);
        let mut since = own.take_while(|listed| listed.is_undo || listed.is_redo);
        since.find(|listed| listed.is_undo && !listed.is_taken_back).map(Listed::made)
    }

    /// The changes from the one with this number on, the oldest first, and what those changed that were dropped.
    pub fn since(&self, number: u64) -> (Vec<MadeChange>, Vec<WorkspacePath>) {
        let from = self.changes.partition_point(|listed| listed.number < number);
        let since = self.changes.range(from..).map(Listed::made);
        let lost = self.dropped.iter().filter(|(_, dropped)| **dropped >= number);
        (since.collect(), lost.map(|(path, _)| path.clone()).collect())
    }

    /// The paths of changes that can be undone.
    pub fn paths(&self, is_meant: impl Fn(&WorkspacePath) -> bool) -> BTreeSet<WorkspacePath> {
        let counting = self.changes.iter().filter(|listed| !listed.is_taken_back && !listed.is_undo);
        let names = counting.flat_map(|listed| listed.change.names());
        names.filter(|path| is_meant(path)).cloned().collect()
    }

    pub(super) fn forget_contents(&mut self) {
        for Listed { change, .. } in &mut self.changes {
            change.entries = change.entries.iter().map(|entry| EntryChange { edited: None, ..entry.clone() }).collect();
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
/// Names that `undo` takes for something else.
const RESERVED: &[&str] = &["session", "redo"];

/// The name of a checkpoint: a short line of visible characters.
///
/// # Examples
/// ```
/// use file_tools::session::history::CheckpointName;
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

/// Why a text is no name of a checkpoint.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CheckpointNameError {
    /// It has no characters.
    #[error("the name of a checkpoint is empty")]
    Empty,
    /// It has too many of them.
    #[error("the name of a checkpoint has more than {LONGEST} characters")]
    TooLong,
    /// It has characters that a person does not see.
    #[error("the name of a checkpoint holds characters that are not visible: {0:?}")]
    NotVisible(String),
    /// It means something else to undo.
    #[error("{0:?} cannot be the name of a checkpoint: undo takes it for something else")]
    Reserved(String),
}

impl FromStr for CheckpointName {
    type Err = CheckpointNameError;

    fn from_str(text: &str) -> Result<Self, CheckpointNameError> {
        let name = text.trim();
        if name.is_empty() {
            return Err(CheckpointNameError::Empty);
        }
        if name.chars().count() > LONGEST {
            return Err(CheckpointNameError::TooLong);
        }
        // A person types it, and a model repeats it from an answer.
        if name.chars().any(char::is_control) || text_file::hidden::in_line(name).next().is_some() {
            return Err(CheckpointNameError::NotVisible(name.to_owned()));
        }
        if RESERVED.iter().any(|reserved| name.eq_ignore_ascii_case(reserved)) {
            return Err(CheckpointNameError::Reserved(name.to_owned()));
        }
        Ok(Self(name.to_owned()))
    }
}

/// The checkpoints of this session, the newest last.
#[derive(Debug, Default)]
pub struct Checkpoints(Vec<(CheckpointName, u64)>);

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
    pub fn get(&self, name: &str) -> Option<u64> {
        self.0.iter().find(|(other, _)| other.as_str() == name).map(|(_, first)| *first)
    }

    /// The names, the newest first.
    pub fn names(&self) -> Vec<String> {
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
