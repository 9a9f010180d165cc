//! A change of one tree by one rename, which is whole by itself: an entry with everything in it is made, moved or removed.
//! Every content that goes is kept first.

use std::{collections::HashMap, io, sync::Arc};

use change_set::{
    Approval, ChangeSet, CreatedTree, Durable, EntryState, MovedTree, NewNode, Node, Purpose, RemoveError, Tree,
    TreeEntry, TreePosition, WritablePath,
};
use confined_fs::{AccessError, AccessErrorKind, Revision, WorkspacePath};

use crate::session::history::{EntryChange, JournalRecord, Kept, Undoable, UndoableChange};

use super::{
    super::{CallContext, Kind, ToolError, read_before_write},
    begin, changed, durable, made_above, read_failed, record_entries, record_moved, state_now,
    step::{ChangeStep, CommittedFiles, kind_of},
};

/// Whether these steps are one change of a tree, whose contents are read one after the other.
pub(crate) fn is_one_tree(steps: &[ChangeStep]) -> bool {
    WholeTree::of(steps).is_some()
}

/// Steps that are one change of a tree: the removal of an entry with everything in it, the making of one, a move.
pub(super) struct WholeTree<'c> {
    /// The top first, each directory before what it holds.
    pub(super) steps: Vec<&'c ChangeStep>,
}

impl<'c> WholeTree<'c> {
    /// By the names on the way: what is in a directory comes after it, and before what is in another one.
    pub(super) fn sorted(mut steps: Vec<&'c ChangeStep>) -> Self {
        steps.sort_by(|one, other| one.target.path().relative().cmp(other.target.path().relative()));
        Self { steps }
    }

    pub(super) fn of(steps: &'c [ChangeStep]) -> Option<Self> {
        let Self { steps } = Self::sorted(steps.iter().collect());
        let (top, inside) = steps.split_first()?;
        let is_whole = if top.source.is_some() {
            // Directories that are made for it take an intent, but that of a special file is none.
            let is_special = top.tree.as_ref().is_some_and(|tree| matches!(tree.node(), Node::Other(_)));
            inside.is_empty() && (is_special || top.target.missing_above() == 0)
        } else if top.removes() {
            inside.iter().all(|step| step.removes())
        } else {
            top.creates() && top.content.is_none() && inside.iter().all(|step| step.creates() && step.like.is_none())
        };
        let is_in_top = |step: &&ChangeStep| step.target.path().is_in(top.target.path());
        (is_whole && inside.iter().all(is_in_top)).then_some(Self { steps })
    }

    pub(super) fn commit(
        self,
        cx: &CallContext,
        tool: &'static str,
        undoable: Undoable,
        approval: Approval,
    ) -> Result<CommittedFiles, ToolError> {
        let top = self.steps[0];
        let paths: Vec<&WritablePath> = top.paths().collect();
        let set = ChangeSet::acquire(&cx.workspace, &paths, &[], cx.wait_limit())?;
        let mut change = TreeChange { cx, set, by: (tool, undoable), note: None };
        let done = CommittedFiles { is_durable: true, ..CommittedFiles::default() };
        let done = match &top.source {
            Some(source) => {
                let tree = unchanged(cx, source, top, Purpose::Move(&top.target))?;
                let MovedTree { copied, made } = change.move_tree((source, &tree, &top.target), approval)?;
                CommittedFiles { copied, created: CreatedTree { made, ..CreatedTree::default() }, ..done }
            }
            None if top.removes() => {
                let tree = unchanged(cx, &top.target, top, Purpose::Remove)?;
                CommittedFiles { is_durable: change.remove(top, &tree, self.bases(top).as_ref(), approval)?, ..done }
            }
            None => CommittedFiles { created: change.create(&self, approval)?, ..done },
        };
        Ok(CommittedFiles { notes: change.note.into_iter().collect(), ..done })
    }

    /// The change of each path that goes; `None` where the step has a listing, which is compared as a whole.
    fn bases(&self, top: &ChangeStep) -> Option<HashMap<&'c WorkspacePath, &'c EntryChange>> {
        let base = |step: &&'c ChangeStep| (step.target.path(), &step.change);
        top.tree.is_none().then(|| self.steps.iter().map(base).collect())
    }

    /// A step as a part of a new tree.
    fn node(&self, cx: &CallContext, step: &ChangeStep) -> Result<(TreePosition, NewNode), AccessError> {
        let (top, path) = (self.steps[0].target.path(), step.target.path());
        let position = match path.relative().iter().count() - top.relative().iter().count() {
            0 => TreePosition::top(),
            depth => TreePosition { depth, name: path.file_name().unwrap_or_default().to_owned() },
        };
        let node = match (step.new_content(cx)?, &step.change.to) {
            (Some(content), _) => {
                let bytes = io::Cursor::new(Arc::unwrap_or_clone(content).into_bytes());
                NewNode::File { rights: step.rights(), content: Box::new(bytes) }
            }
            (None, Some(is)) => new_node(cx, path, is)?,
            (None, None) => return Err(AccessError::new(AccessErrorKind::Io, path)),
        };
        Ok((position, node))
    }
}

/// The entry that is moved or goes, if it is what the step says.
pub(super) fn unchanged(
    cx: &CallContext,
    entry: &WritablePath,
    step: &ChangeStep,
    purpose: Purpose<'_>,
) -> Result<Tree, ToolError> {
    // First the lock, then the listing: what goes is what was just compared. That of the plan may be old, as a person may
    // have been asked since.
    let tree = cx.workspace.tree(entry, purpose)?;
    let is_same = match (&step.tree, &step.change.to) {
        (Some(planned), _) => tree.mark() == planned.mark(),
        (None, Some(is)) => state_now(cx, entry)?.is_some_and(|now| is_same(&now, is)),
        // Each entry is compared with its own step.
        (None, None) => true,
    };
    if is_same { Ok(tree) } else { Err(changed(entry.asked())) }
}

/// A change of one tree, under the locks of its paths.
struct TreeChange<'c> {
    cx: &'c CallContext,
    set: ChangeSet<'static>,
    by: (&'static str, Undoable),
    /// For the answer.
    note: Option<String>,
}

impl TreeChange<'_> {
    /// `records` are in the journal before `act`, and void if that fails; what it `did` is recorded and on the list when this
    /// returns, the entries that were `late` to be known with their records.
    fn journaled<T>(
        &mut self,
        records: Vec<JournalRecord>,
        act: impl FnOnce(&ChangeSet<'_>) -> Result<T, AccessError>,
        did: impl FnOnce(&T) -> (Vec<EntryChange>, Vec<EntryChange>),
    ) -> Result<T, AccessError> {
        let (history, (tool, undoable)) = (&self.cx.session.history, self.by);
        let (pending, note) = begin(self.cx, records);
        self.note = note;
        // The journal is only appended to: a change that failed is marked, not taken out.
        let done = act(&self.set).inspect_err(|_| history.void(&pending))?;
        let (mut entries, late) = did(&done);
        let records: Vec<JournalRecord> = late.iter().flat_map(|one| JournalRecord::of_entry(tool, one)).collect();
        entries.extend(late);
        history.made(&pending, UndoableChange { tool, entries: entries.into() }, records, undoable);
        Ok(done)
    }

    /// Makes the tree of these steps, or a copy of one.
    fn create(&mut self, steps: &WholeTree<'_>, approval: Approval) -> Result<CreatedTree, ToolError> {
        let (cx, (tool, _), top) = (self.cx, self.by, steps.steps[0]);
        let act = |set: &ChangeSet<'_>| match &top.tree {
            Some(source) => set.copy(source, &top.target, approval),
            None => set.create_tree(&top.target, &mut steps.steps.iter().map(|step| steps.node(cx, step)), approval),
        };
        let did = |created: &CreatedTree| {
            let entries = match &top.tree {
                Some(source) => copied(source, &top.target, created),
                None => steps.steps.iter().zip(&created.revisions).filter_map(made_by).collect(),
            };
            record_entries(cx, tool, &entries, &created.made);
            if let Some(source) = &top.tree {
                read_before_write::carry_seen(cx, source, top.target.path());
            }
            (Vec::new(), entries.into_iter().chain(made_above(&created.made)).collect())
        };
        // Which directories were missing is known once they are made.
        Ok(self.journaled(vec![JournalRecord::new(tool, top.target.path())], act, did)?)
    }

    /// Moves a tree to where nothing is.
    fn move_tree(
        &mut self,
        (from, tree, to): (&WritablePath, &Tree, &WritablePath),
        approval: Approval,
    ) -> Result<MovedTree, ToolError> {
        let (cx, (tool, _), mark) = (self.cx, self.by, tree.content_mark());
        let moved = EntryChange::moved(from.path(), to.path(), marked(tree.node(), mark), None);
        let act = |set: &ChangeSet<'_>| set.move_tree(from, tree, to, approval);
        Ok(self.journaled(JournalRecord::of_entry(tool, &moved), act, |MovedTree { copied, made }| {
            record_moved(cx, tool, tree, to.path(), None, made);
            read_before_write::carry_seen(cx, tree, to.path());
            // Other files by now, so another mark.
            let mark = if *copied { content_mark(cx, to, from) } else { Some(mark) };
            let is = mark.map(|mark| marked(tree.node(), mark).0);
            (vec![EntryChange { to: is, mark, ..moved.clone() }], made_above(made).collect())
        })?)
    }

    /// Removes a tree whose every content has been kept, if it is what `bases` say, where there are any; whether it can be
    /// brought back after the server has ended.
    ///
    /// # Errors
    /// When a content cannot be kept, with nothing removed; `stale` when something in it has changed.
    fn remove(
        &mut self,
        top: &ChangeStep,
        tree: &Tree,
        bases: Option<&HashMap<&WorkspacePath, &EntryChange>>,
        approval: Approval,
    ) -> Result<bool, ToolError> {
        let (cx, (tool, undoable), target) = (self.cx, self.by, &top.target);
        let (history, shown) = (&cx.session.history, target.asked());
        let refuse = |path: &WorkspacePath, why: &str| not_deleted(shown, path, why);
        // Before anything is kept.
        check_capacity(cx, shown, tree.bytes())?;
        let (mut former, mut revisions) = (Vec::new(), Vec::new());
        let mut is_durable = true;
        let durable_when = durable(tree.files());
        for (path, entry) in tree.paths() {
            cx.check()?;
            let revision = match &entry.node {
                Node::File(_) => {
                    let (revision, kept) = keep_file(cx, &path, durable_when)?;
                    if let Kept::Nowhere(why) = &kept {
                        return Err(refuse(&path, why));
                    }
                    is_durable &= kept == Kept::OnDisk;
                    revision
                }
                _ => None,
            };
            let node =
                entry.node.state(&path, tree.top(), revision).ok_or_else(|| refuse(&path, "it is a special file"))?;
            let base = bases.map(|bases| bases.get(&path));
            let is_base = |base: &EntryChange| base.from.as_ref().is_some_and(|was| is_same(was, &node));
            if base.is_some_and(|base| !base.is_some_and(|base| is_base(base))) || is_other(top, &path, &node) {
                return Err(changed(&path));
            }
            let is_parent = base.flatten().is_some_and(|base| base.is_parent);
            former.push(EntryChange { is_parent, ..EntryChange::new(&path, Some(node), None) });
            revisions.push(revision);
        }
        if bases.is_some_and(|bases| bases.len() != former.len()) {
            return Err(changed(shown));
        }
        // The contents have to be on the disk before their files are removed.
        let settled = if durable_when == Durable::Soon { history.settle() } else { Ok(()) };
        let records = former.iter().flat_map(|one| JournalRecord::of_entry(tool, one));
        let pending = settled.and_then(|()| history.begin(records, cx.by.as_ref())).map_err(|error| {
            refuse(shown, &format!("the history could not be written: {}", error.kind())).source(error)
        })?;
        let [first, second] = approval.for_two_steps();
        let left = match self.set.remove_tree(target, tree, &revisions, first) {
            Ok(()) => None,
            Err(RemoveError { error, in_part, gone_from }) => {
                // What is gone is made again from the history, so that the call has failed as a whole.
                let is_whole = || self.set.complete(target, &mut missing(cx, tree, &former, gone_from), second).is_ok();
                if !in_part || is_whole() {
                    history.void(&pending);
                    return Err(error.into());
                }
                Some(error)
            }
        };
        record_entries(cx, tool, &former, &[]);
        // What is gone must be found again, by whoever looks for it.
        let undoable = if left.is_some() { Undoable::Yes } else { undoable };
        history.made(&pending, UndoableChange { tool, entries: former.into() }, [], undoable);
        let Some(error) = left else { return Ok(is_durable) };
        let sentence = format!("{shown} was deleted only in part: {error}");
        Err(ToolError::new(ToolError::from(error).kind(), sentence)
            .hint(format!("ask the user to move what is left of {shown} away; undo then brings back all of it")))
    }
}

/// Whether a file that goes with a listed tree holds something else than it was checked for.
pub(super) fn is_other(top: &ChangeStep, path: &WorkspacePath, is: &EntryState) -> bool {
    let is_known = |was: &EntryState| *was != EntryState::from(Revision::of(b""));
    let checked = top.change.from.as_ref().filter(|was| top.tree.is_some() && is_known(was));
    path == top.target.path() && checked.is_some_and(|was| !is_same(was, is))
}

/// What a step has made, of a file with its content.
fn made_by((step, revision): (&&ChangeStep, &Option<Revision>)) -> Option<EntryChange> {
    let is = match (&step.content, &step.change.to) {
        (None, Some(is)) => is.clone(),
        _ => EntryState::from((*revision)?),
    };
    Some(EntryChange::new(step.target.path(), None, Some(is)))
}

/// What a copy of `source` to `to` has made.
fn copied(source: &Tree, to: &WritablePath, created: &CreatedTree) -> Vec<EntryChange> {
    let mut left_out = created.links_left_out.iter().peekable();
    let mut is_made = |path: &WorkspacePath| left_out.next_if(|link| *link == path).is_none();
    let made = source.paths().filter(|(path, _)| is_made(path)).zip(&created.revisions);
    let entry = |((path, entry), revision): ((WorkspacePath, &TreeEntry), &Option<Revision>)| {
        let is = revision.map_or_else(|| kind_of(&entry.node), EntryState::from);
        EntryChange::new(&to.path().child(path.relative_to(source.top())), None, Some(is))
    };
    made.map(entry).collect()
}

/// The state of a moved entry: of a file with the mark in the place of its revision, as the journal has it.
pub(crate) fn marked(node: &Node, mark: Revision) -> (EntryState, Revision) {
    let is = match node {
        Node::File(_) | Node::Other(_) => mark.into(),
        Node::Directory(_) | Node::Link(_) => kind_of(node),
    };
    (is, mark)
}

/// The mark of what was copied from `from` to `to`.
pub(super) fn content_mark(cx: &CallContext, to: &WritablePath, from: &WritablePath) -> Option<Revision> {
    cx.workspace.tree(to, Purpose::Move(from)).map(|tree| tree.content_mark()).ok()
}

pub(crate) fn not_deleted(shown: &WorkspacePath, path: &WorkspacePath, why: &str) -> ToolError {
    ToolError::new(Kind::TooLarge, format!("{shown} was not deleted: {path} could not be brought back, as {why}"))
        .hint("delete less at a time, or ask the user to delete it")
}

/// Refuses to keep so many bytes: that would drive out what earlier changes need, and be refused in the end.
pub(crate) fn check_capacity(cx: &CallContext, shown: &WorkspacePath, bytes: u64) -> Result<(), ToolError> {
    let most = cx.session.history.capacity();
    if bytes <= most {
        return Ok(());
    }
    Err(not_deleted(shown, shown, &format!("{bytes} bytes are more than the history may take at once ({most})")))
}

/// Whether an entry is what it was, whatever its rights.
pub(super) fn is_same(one: &EntryState, other: &EntryState) -> bool {
    match (one, other) {
        (EntryState::File(one), EntryState::File(other)) => one.revision == other.revision,
        (EntryState::Directory { .. }, EntryState::Directory { .. }) => true,
        (one, other) => one == other,
    }
}

/// Keeps a file as it is now; its revision is `None` only where its content is kept nowhere.
fn keep_file(cx: &CallContext, path: &WorkspacePath, durable: Durable) -> Result<(Option<Revision>, Kept), ToolError> {
    let mut open = cx.workspace.open_file(path)?;
    let size = open.stat().size;
    let kept = cx.session.history.keep(&mut open, size, None, durable).map_err(|error| read_failed(path, error))?;
    // A file that changed while it was read may have had this content at no time.
    let is_same = open.restat().is_ok_and(|now| now.same_file_state(open.stat()));
    if is_same { Ok(kept) } else { Err(changed(path)) }
}

/// The missing entries of a tree that was removed only from the entry with the number `gone_from` on.
fn missing(
    cx: &CallContext,
    tree: &Tree,
    former: &[EntryChange],
    gone_from: usize,
) -> impl Iterator<Item = Result<(TreePosition, NewNode), AccessError>> {
    tree.entries().iter().zip(former).enumerate().filter_map(move |(index, (entry, former))| {
        let is_there = index < gone_from;
        let node = match former.from.as_ref()? {
            EntryState::Directory { .. } if is_there => Ok(NewNode::ExistingDirectory),
            _ if is_there => return None,
            state => new_node(cx, tree.top(), state),
        };
        Some(node.map(|node| (entry.position.clone(), node)))
    })
}

/// An entry that is made again in this state, with its content from the history; `top` is for errors.
pub(crate) fn new_node(cx: &CallContext, top: &WorkspacePath, state: &EntryState) -> Result<NewNode, AccessError> {
    Ok(match state {
        EntryState::Directory { rights } => NewNode::Directory { rights: rights.clone() },
        EntryState::Link(says) => NewNode::Link(says.clone()),
        EntryState::File(former) => {
            let bytes = cx.session.history.content(former.revision).ok_or_else(|| top.not_stored())?;
            NewNode::File { rights: former.rights.clone(), content: Box::new(io::Cursor::new(bytes)) }
        }
    })
}
