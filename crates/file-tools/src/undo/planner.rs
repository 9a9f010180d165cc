//! Walking changes back, newest first, on the tree as it would be.
//!
//! A path that is not what a change left was changed by somebody else since: it is left alone, unless asked otherwise,
//! and so is one whose former content is no longer kept. That is known only when the walk comes there, so the walk begins
//! again without what it found: no file stays in a state in between.

use std::collections::{BTreeMap, HashMap, HashSet};

use change_set::{EntryState, FileState, Rights, narrower};
use confined_fs::{FileKind, Revision, WorkspacePath};

use super::{
    super::{answer::count, commit::ChangedPart},
    virtual_tree::{DiskOfCall, VirtualNode, VirtualTree},
};
use crate::session::history::{EntryChange, PURGED, UndoableChange};

pub(super) struct UndoPlanner<'p> {
    view: DiskOfCall<'p>,
    /// Whether changes of others are taken back as well.
    includes_changed: bool,
    /// Whether one entry alone is taken back: it may get a name again that differs from its own in case.
    pub(super) is_alone: bool,
    pub(super) tree: VirtualTree,
    /// Paths that stay as the disk has them, with all in them, as an earlier walk has found.
    pinned: BTreeMap<WorkspacePath, Reason>,
    /// Where that was, as the walk goes back through moves.
    former: BTreeMap<WorkspacePath, Reason>,
    /// Paths that this walk has found to stay.
    found: BTreeMap<WorkspacePath, Reason>,
    /// Directories that stay, as they hold something else.
    not_empty: Vec<SkippedPath>,
    /// Where what is left alone is, as the walk goes back through moves.
    frozen: Vec<WorkspacePath>,
    /// Former entries of the change that is taken back which do not come back.
    lost: Vec<SkippedPath>,
    /// Of contents that were worked out from what the disk has, the revision of that.
    pub(super) bases: HashMap<(WorkspacePath, Revision), Revision>,
    /// Of these contents those that are none that a change has left.
    pub(super) worked_out: HashSet<Revision>,
    /// For each change that was taken back, what it moved: where from, where to. Without a second path: what was there
    /// before is another entry than what was there from then on.
    moved: Vec<Vec<(WorkspacePath, Option<WorkspacePath>)>>,
}

impl<'p> UndoPlanner<'p> {
    pub(super) fn new(view: DiskOfCall<'p>, includes_changed: bool, pinned: BTreeMap<WorkspacePath, Reason>) -> Self {
        Self {
            view,
            includes_changed,
            is_alone: false,
            tree: VirtualTree::default(),
            pinned,
            former: BTreeMap::new(),
            found: BTreeMap::new(),
            not_empty: Vec::new(),
            frozen: Vec::new(),
            lost: Vec::new(),
            bases: HashMap::new(),
            worked_out: HashSet::new(),
            moved: Vec::new(),
        }
    }

    /// The walk is at its end, before which `lost` were changed in ways that nobody remembers. Returns what has to stay,
    /// where that is more than it was begun with: it has to be done again.
    pub(super) fn ended(&mut self, lost: &[WorkspacePath]) -> Option<BTreeMap<WorkspacePath, Reason>> {
        let lost = lost.iter().filter(|path| !self.is_frozen(path));
        let lost: Vec<WorkspacePath> = lost.map(|path| self.now(path)).collect();
        self.found.extend(lost.into_iter().map(|path| (path, Reason::NotKept)));
        self.found.retain(|path, _| !self.pinned.contains_key(path));
        // Begun again without them: what was laid on the tree so far may rest on their former state.
        let mut pinned = std::mem::take(&mut self.found);
        (!pinned.is_empty()).then(|| {
            pinned.append(&mut self.pinned);
            pinned
        })
    }

    /// The skipped paths: where each is, and where it was then.
    pub(super) fn skipped(self) -> Vec<SkippedPath> {
        let mut left = self.former;
        left.extend(self.pinned);
        left.into_iter().map(|(path, reason)| SkippedPath { path, reason }).chain(self.not_empty).collect()
    }

    pub(super) fn revert(&mut self, change: &UndoableChange) {
        self.moved.push(Vec::new());
        // All entries of the change are removed before any is put back: its files may have changed places.
        let mut back = Vec::new();
        // The entries of a directory before the directory itself, and what was made for others last.
        let mut entries: Vec<&EntryChange> = change.entries.iter().collect();
        entries.sort_by_key(|entry| (entry.is_parent, std::cmp::Reverse(depth(&entry.path))));
        let tops = change.tops();
        let top_paths: HashSet<&WorkspacePath> = tops.iter().map(|top| &top.path).collect();
        for entry in entries {
            self.revert_entry(entry, top_paths.contains(&entry.path), &mut back);
        }
        // Each directory before what it holds, which looks for its parent.
        back.sort_by_key(|one: &PutBack| depth(&one.path));
        for PutBack { path, node, from } in back {
            self.put_back(&path, node, from);
        }
        let moved = self.moved.last_mut().expect("a change is taken back");
        // What was there before a change that put, removed or moved an entry is another one than what was there from then
        // on.
        let is_same_file = |entry: &&EntryChange| {
            let is_file = |is: &Option<EntryState>| matches!(is, Some(EntryState::File(_)));
            entry.moved_from.is_none() && is_file(&entry.from) && is_file(&entry.to)
        };
        let parents = change.entries.iter().filter(|entry| entry.is_parent);
        let parted = tops.into_iter().chain(parents).filter(|entry| !is_same_file(entry));
        moved.extend(parted.flat_map(EntryChange::names).map(|path| (path.clone(), None)));
        // By their names before the change, which may have put something else there.
        for SkippedPath { path, reason } in std::mem::take(&mut self.lost) {
            self.skip(&path, reason);
        }
    }

    fn revert_entry(&mut self, entry: &EntryChange, is_top: bool, back: &mut Vec<PutBack>) {
        let EntryChange { path, from, to, moved_from, is_parent, identity, .. } = entry;
        match (moved_from, from, to) {
            (Some(moved_from), replaced, is) => {
                let (mut mark, mut over) = (None, None);
                if let Some(EntryState::File(file)) = is {
                    mark = Some(file.revision);
                }
                if let Some(EntryState::File(file)) = replaced {
                    over = Some(file);
                }
                self.revert_move([moved_from, path], mark, over, back);
            }
            (None, Some(EntryState::File(before)), Some(EntryState::File(after))) => {
                self.revert_write(entry, Some(before), after.revision);
            }
            // What is in a tree that was made may have been removed since: that is what is wanted.
            (None, None, Some(EntryState::File(after))) if is_top => {
                self.revert_write(entry, None, after.revision);
            }
            (None, None, Some(_)) if *is_parent => self.remove_parent(path, *identity),
            (None, None, Some(made)) => self.revert_creation(path, made, *identity),
            (None, Some(was), _) => self.revert_removal(path, was, back),
            (None, None, None) => {}
        }
    }

    fn revert_write(&mut self, change: &EntryChange, before: Option<&FileState>, after: Revision) {
        let path = &change.path;
        if self.is_frozen(path) {
            if before.is_none() {
                self.former.remove(path);
            }
            return;
        }
        // What others have appended since, or changed elsewhere in it, stays.
        let node = self.tree.node(path);
        let is_as_left = self.holds(path, after);
        let is_around = !is_as_left && !self.includes_changed;
        let kept = before.and_then(|before| match change.appended {
            Some(part) => self.view.without(&node, part),
            None if is_around => self.view.around(&node, change, before.revision, after),
            None => None,
        });
        if let Some((revision, now)) = kept {
            // Of what was worked out already, the state of the disk that it rests on; a former content rests on none.
            let is_disk = matches!(node, VirtualNode::OnDisk(_));
            let disk = if is_disk { Some(now) } else { self.bases.get(&(path.clone(), now)).copied() };
            self.bases.extend(disk.map(|disk| ((path.clone(), revision), disk)));
            self.worked_out.extend(Some(revision).filter(|_| before.is_some_and(|before| before.revision != revision)));
        }
        let revision = |before: &FileState| kept.map_or(before.revision, |(revision, _)| revision);
        let before = before.map(|before| FileState { revision: revision(before), rights: before.rights.clone() });
        let part = if before.is_some() { ChangedPart::Content } else { ChangedPart::Entry };
        // First of all: what is refused looks as if nothing were there.
        let reason = self.refusal(path, part).or_else(|| self.why_kept(before.as_ref()));
        let reason = reason.or_else(|| match self.tree.kind(self.view, path) {
            _ if kept.is_some() || is_as_left => None,
            Some(FileKind::File) => Some(differs_from(after)).filter(|_| !self.includes_changed),
            None => Some(Reason::Gone).filter(|_| !self.includes_changed),
            // A directory or a link in its place is never replaced, not even with include_others.
            Some(_) => Some(Reason::Changed),
        });
        match reason {
            Some(reason) => self.skip(path, reason),
            None => match before {
                // In place, so that the file stays the one that it is.
                Some(former) => {
                    let now = match self.tree.node(path) {
                        VirtualNode::Kept(later) => later.rights,
                        VirtualNode::OnDisk(disk) => self.view.rights(&disk),
                        _ => Rights::default(),
                    };
                    let rights = former.rights.in_place_of(&now);
                    self.tree.put(path, VirtualNode::Kept(FileState { rights, ..former }));
                }
                None => self.tree.put(path, VirtualNode::Absent),
            },
        }
    }

    fn revert_removal(&mut self, path: &WorkspacePath, was: &EntryState, back: &mut Vec<PutBack>) {
        if self.is_frozen(path) {
            return;
        }
        let former = if let EntryState::File(former) = was { Some(former) } else { None };
        match self.why_kept(former).or_else(|| self.refusal(path, ChangedPart::Entry)) {
            Some(reason) => self.lost.push(SkippedPath { path: path.clone(), reason }),
            None => back.push(PutBack { path: path.clone(), node: VirtualNode::from(was), from: None }),
        }
    }

    fn revert_move(
        &mut self,
        [from, to]: [&WorkspacePath; 2],
        mark: Option<Revision>,
        replaced: Option<&FileState>,
        back: &mut Vec<PutBack>,
    ) {
        if let Some(reason) = self.why_frozen(to) {
            self.former.remove(to);
            self.stays_at(from.clone(), reason);
            return;
        }
        if self.is_frozen(from) {
            self.skip(to, Reason::Occupied);
            return;
        }
        let reason = match (self.tree.kind(self.view, to), self.tree.node(to)) {
            (None, _) => Some(Reason::Gone),
            (Some(FileKind::File), VirtualNode::OnDisk(now)) if !self.includes_changed && mark.is_some() => {
                mark.map(differs_from).filter(|_| self.view.content_mark(&now) != mark)
            }
            _ => None,
        };
        let is_respelled = self.is_alone
            && matches!(self.tree.node(to), VirtualNode::OnDisk(now) if self.view.respelled(&now, from).is_some());
        let refusal = Some(from).filter(|_| !is_respelled).and_then(|from| self.refusal(from, ChangedPart::Entry));
        let refusal = refusal.or_else(|| self.refusal(to, ChangedPart::Entry));
        if let Some(reason) = refusal.or(reason) {
            self.skip(to, reason);
            // It stays at its new path, so nothing earlier may touch its old one.
            self.frozen.push(from.clone());
            return;
        }
        // What is in it and stays. Where it is a file, what stays was in something else that had its name.
        let is_directory = self.tree.kind(self.view, to) == Some(FileKind::Directory);
        let stays: Vec<(WorkspacePath, Reason)> = self
            .pinned
            .range(to.clone()..)
            .take_while(|(path, _)| is_directory && path.is_in(to))
            .filter(|(path, _)| self.now(path) == **path)
            .map(|(path, reason)| (path.clone(), reason.clone()))
            .collect();
        for (path, _) in &stays {
            self.tree.put(path, VirtualNode::Absent);
        }
        let node = self.tree.take(to);
        for (path, reason) in stays {
            self.stays_at(from.child(path.relative_to(to)), reason);
            if self.view.kind(&path).is_some() {
                self.tree.put(&path, VirtualNode::OnDisk(path.clone()));
            }
        }
        back.push(PutBack { path: from.clone(), node, from: Some(to.clone()) });
        match (replaced, self.why_kept(replaced)) {
            (Some(_), Some(reason)) => self.skip(to, reason),
            (Some(former), None) => {
                back.push(PutBack { path: to.clone(), node: VirtualNode::Kept(former.clone()), from: None });
            }
            (None, _) => {}
        }
    }

    fn revert_creation(&mut self, path: &WorkspacePath, made: &EntryState, identity: Option<(u64, u64)>) {
        if self.is_frozen(path) {
            self.former.remove(path);
            return;
        }
        let reason = match (made, self.tree.kind(self.view, path)) {
            // Somebody has removed it before: that is what is wanted.
            (_, None) => return,
            (EntryState::File(former), _) if self.holds(path, former.revision) => None,
            (EntryState::File(_), Some(FileKind::File)) if self.includes_changed => None,
            (EntryState::Link(target), _) if self.says(path, target) => None,
            (EntryState::Directory { .. }, _) if self.is_as_made(path, identity) => None,
            // It holds what somebody has put there since.
            (EntryState::Directory { .. }, Some(FileKind::Directory)) => Some(Reason::NotEmpty),
            _ => Some(Reason::Changed),
        };
        match reason.or_else(|| self.refusal(path, ChangedPart::Entry)) {
            Some(reason) => self.skip(path, reason),
            None => self.tree.put(path, VirtualNode::Absent),
        }
    }

    /// Removes a directory that was made for an entry, if it would be empty. Without a reason where it stays: nobody asked for
    /// it, and one that holds something is no loss.
    fn remove_parent(&mut self, path: &WorkspacePath, identity: Option<(u64, u64)>) {
        let goes = !self.is_frozen(path)
            && self.is_as_made(path, identity)
            && self.refusal(path, ChangedPart::Entry).is_none();
        if goes {
            self.tree.put(path, VirtualNode::Absent);
        }
    }

    /// Whether a directory would be empty, and is the one that was made.
    fn is_as_made(&self, path: &WorkspacePath, identity: Option<(u64, u64)>) -> bool {
        let disk = match self.tree.node(path) {
            VirtualNode::OnDisk(disk) => Some(disk),
            VirtualNode::Directory(directory) => directory.disk,
            _ => None,
        };
        disk.is_none_or(|disk| self.view.is_made(&disk, identity)) && self.tree.is_empty_directory(self.view, path)
    }

    fn put_back(&mut self, path: &WorkspacePath, mut node: VirtualNode, from: Option<WorkspacePath>) {
        if let VirtualNode::Kept(former) = &mut node
            && from.as_ref().is_some_and(|from| from.parent() != path.parent())
        {
            // Its rights are those for the directory that it was removed from, and this one may give it another group.
            former.rights.mode = narrower(former.rights.mode, former.rights.mode << 3 | 0o707);
        }
        let occupant = self.tree.kind(self.view, path);
        let parent = path.parent().map(|parent| self.tree.kind(self.view, &parent));
        let is_below_a_file = matches!(parent, Some(Some(FileKind::File | FileKind::Symlink | FileKind::Other)));
        let replaces = self.includes_changed
            && occupant == Some(FileKind::File)
            && matches!(node, VirtualNode::Kept(_))
            && self.refusal(path, ChangedPart::Entry).is_none();
        if self.is_frozen(path) {
            return;
        }
        if let VirtualNode::Directory(former) = &node
            && from.is_none()
            && occupant == Some(FileKind::Directory)
        {
            return self.tree.give(path, former.rights.clone());
        }
        if (occupant.is_none() || replaces) && !is_below_a_file {
            if let Some(from) = &from {
                self.follow(from, path);
            }
            self.tree.put(path, node);
            return;
        }
        // The old place is taken: the entry stays where it is.
        if let Some(from) = from {
            self.tree.put(&from, node);
            self.frozen.push(from);
        }
        self.skip(path, Reason::Occupied);
    }

    /// Skipped paths below `from` are below `to` from here on.
    fn follow(&mut self, from: &WorkspacePath, to: &WorkspacePath) {
        self.moved.last_mut().expect("a change is taken back").push((to.clone(), Some(from.clone())));
        // What is left alone has moved with its directory, so its earlier path is another one.
        let followers: Vec<WorkspacePath> = self.former.keys().filter(|path| path.is_in(from)).cloned().collect();
        for path in followers {
            let reason = self.former.remove(&path).expect("it is there");
            self.former.insert(to.child(path.relative_to(from)), reason);
        }
        for path in self.frozen.iter_mut().filter(|path| path.is_in(from)) {
            *path = to.child(path.relative_to(from));
        }
    }

    fn skip(&mut self, path: &WorkspacePath, reason: Reason) {
        self.frozen.push(path.clone());
        if reason == Reason::NotEmpty {
            self.not_empty.push(SkippedPath { path: path.clone(), reason });
        } else {
            self.found.entry(self.now(path)).or_insert(reason);
        }
    }

    /// A skipped entry was at `place`. One that came there since stays as well: without the move, that place would be in
    /// a state in between.
    fn stays_at(&mut self, place: WorkspacePath, reason: Reason) {
        let is_changed = !matches!(self.tree.node(&place), VirtualNode::OnDisk(_));
        let holds = || self.tree.kind(self.view, &place).or_else(|| self.view.kind(&self.now(&place)));
        if is_changed && holds().is_some() {
            self.skip(&place, reason.clone());
        }
        self.former.insert(place, reason);
    }

    fn is_frozen(&self, path: &WorkspacePath) -> bool {
        self.why_frozen(path).is_some()
    }

    /// Why a path is left alone, or what it is in.
    fn why_frozen(&self, path: &WorkspacePath) -> Option<Reason> {
        let mut above = std::iter::successors(Some(path.clone()), WorkspacePath::parent);
        let pinned =
            |path: &WorkspacePath| if self.pinned.is_empty() { None } else { self.pinned.get(&self.now(path)) };
        let found = above.find_map(|above| pinned(&above).or(self.former.get(&above)).cloned());
        found.or_else(|| self.frozen.contains(path).then_some(Reason::Gone))
    }

    /// Where the disk has what would be at a path.
    fn now(&self, path: &WorkspacePath) -> WorkspacePath {
        let mut path = path.clone();
        for moves in self.moved.iter().rev() {
            let holding = moves.iter().filter(|(from, _)| path.is_in(from));
            // Of nested moves of one change the innermost has the entry.
            match holding.max_by_key(|(from, to)| (depth(from), to.is_some())) {
                Some((from, Some(to))) => path = to.child(path.relative_to(from)),
                Some((_, None)) => break,
                None => {}
            }
        }
        path
    }

    fn refusal(&self, path: &WorkspacePath, part: ChangedPart) -> Option<Reason> {
        self.view.refusal(path, part).map(Reason::Refused)
    }

    fn why_kept(&self, former: Option<&FileState>) -> Option<Reason> {
        former.filter(|former| !self.view.is_kept(former.revision)).map(|_| Reason::NotKept)
    }

    /// Whether the file that would be there would be what a change left.
    fn holds(&self, path: &WorkspacePath, revision: Revision) -> bool {
        match self.tree.node(path) {
            VirtualNode::Kept(former) => former.revision == revision,
            VirtualNode::OnDisk(path) => self.view.holds(&path, revision),
            _ => false,
        }
    }

    fn says(&self, path: &WorkspacePath, target: &std::ffi::OsStr) -> bool {
        match self.tree.node(path) {
            VirtualNode::Link(own) => own == target,
            VirtualNode::OnDisk(path) => self.view.target(&path).is_some_and(|own| own == target),
            _ => false,
        }
    }
}

struct PutBack {
    path: WorkspacePath,
    node: VirtualNode,
    /// Where it was taken from, if the change moved it.
    from: Option<WorkspacePath>,
}

/// Why something is not what a change left: of a content that was purged, nobody can say that it is.
fn differs_from(left: Revision) -> Reason {
    if left == PURGED { Reason::NotKept } else { Reason::Changed }
}

fn depth(path: &WorkspacePath) -> usize {
    path.relative().iter().count()
}

// What is left as it is where changes are taken back, and why.

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Reason {
    /// It is not what the change left.
    #[error("changed since")]
    Changed,
    /// The entry that was moved or made is no longer there.
    #[error("no longer there")]
    Gone,
    /// Something else is where a former entry was.
    #[error("something else is there now")]
    Occupied,
    /// Its former content is no longer kept.
    #[error("its earlier content is no longer kept")]
    NotKept,
    /// The directory that was made holds something else.
    #[error("not empty")]
    NotEmpty,
    /// It may not be changed.
    #[error("{0}")]
    Refused(String),
}

/// A path that is left as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SkippedPath {
    pub(crate) path: WorkspacePath,
    pub(crate) reason: Reason,
}

impl SkippedPath {
    /// Its path for a model: a rule may have hidden it since.
    pub(super) fn shown(&self) -> String {
        if self.path.hidden() { "a hidden path".to_owned() } else { self.path.to_string() }
    }
}

/// How much was not brought back, for the headline.
pub(crate) fn skipped_headline(paths: usize) -> String {
    let were = if paths == 1 { "was" } else { "were" };
    format!("{} {were} left alone and not brought back", count(paths, "path"))
}
