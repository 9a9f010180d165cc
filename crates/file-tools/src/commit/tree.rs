//! Making, moving and removing a file or a directory with all in it; every content that goes is kept first.

use std::{collections::HashMap, io};

use change_set::{
    Approval, CreatedTree, Durable, EntryState, MovedTree, NewNode, Node, Purpose, RemoveError, Rights, Tree,
    TreeGuard, TreePosition, WritablePath,
};
use confined_fs::{AccessError, Revision, WorkspacePath};

use crate::session::history::{EntryChange, JournalRecord, Kept, Undoable, UndoableChange};

use super::{
    super::{CallContext, Kind, ToolError, read_before_write},
    changed, durable, journaled, parents, read_failed, record_entries, record_moved,
};

/// Makes a tree at `entry` with `create`; its undo removes it. `entries` reports what was made, and says what it is.
/// Returns a note for the answer, too.
pub(crate) fn create_tree(
    cx: &CallContext,
    by: (&'static str, Undoable),
    entry: &WritablePath,
    create: impl FnOnce() -> Result<CreatedTree, AccessError>,
    entries: impl FnOnce(&CreatedTree) -> Vec<EntryChange>,
) -> Result<(CreatedTree, Option<String>), AccessError> {
    journaled(cx, by, vec![JournalRecord::new(by.0, entry.path())], create, |created| {
        let late = entries(created).into_iter().chain(parents(&created.made));
        Some((Vec::new(), late.collect()))
    })
}

/// Moves a tree with this [`Tree::content_mark`] to where nothing is; its undo moves it back. Returns a note for the
/// answer, too.
pub(crate) fn move_tree(
    cx: &CallContext,
    by: (&'static str, Undoable),
    guard: &TreeGuard,
    (from, tree, to): (&WritablePath, &Tree, &WritablePath),
    mark: Revision,
    approval: Approval,
) -> Result<(MovedTree, Option<String>), AccessError> {
    let moved = EntryChange::moved(from.path(), to.path(), marked(tree.node(), mark), None);
    let act = || guard.move_tree(from, tree, to, approval);
    journaled(cx, by, JournalRecord::of_entry(by.0, &moved), act, |MovedTree { copied, made }| {
        record_moved(cx, by.0, tree, to.path(), None, made);
        read_before_write::carry_seen(cx, tree, to.path());
        // Other files by now, so another mark.
        let mark = if *copied { content_mark(cx, to, from) } else { Some(mark) };
        let is = mark.map(|mark| marked(tree.node(), mark).0);
        Some((vec![EntryChange { to: is, mark, ..moved.clone() }], parents(made).collect()))
    })
}

/// The state of a moved entry: of a file with the mark in the place of its revision, as the journal has it.
pub(crate) fn marked(node: &Node, mark: Revision) -> (EntryState, Revision) {
    let is = match node {
        Node::Directory(_) => EntryState::Directory { rights: Rights::default() },
        Node::Link(target) => EntryState::Link(target.clone()),
        Node::File(_) | Node::Other(_) => mark.into(),
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

/// Removes a tree whose every content has been kept, if it is what `bases` say, where there are any, with whether each is a
/// directory that was made for another entry; whether it can be
/// brought back after the server has ended.
///
/// # Errors
/// When a content cannot be kept, with nothing removed; `stale` when something in it has changed.
pub(crate) fn remove(
    cx: &CallContext,
    guard: &TreeGuard,
    target: &WritablePath,
    tree: &Tree,
    bases: Option<&HashMap<&WorkspacePath, (&EntryState, bool)>>,
    (tool, undoable): (&'static str, Undoable),
    approval: Approval,
) -> Result<bool, ToolError> {
    let history = &cx.session.history;
    let shown = target.asked();
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
        if base.is_some_and(|base| base.is_none_or(|(base, _)| !is_same(base, &node))) {
            return Err(changed(&path));
        }
        let is_parent = base.flatten().is_some_and(|(_, is_parent)| *is_parent);
        former.push(EntryChange { is_parent, ..EntryChange::new(&path, Some(node), None) });
        revisions.push(revision);
    }
    if bases.is_some_and(|bases| bases.len() != former.len()) {
        return Err(changed(shown));
    }
    // The contents have to be on the disk before their files are removed.
    let settled = if durable_when == Durable::Soon { history.settle() } else { Ok(()) };
    let records = former.iter().flat_map(|one| JournalRecord::of_entry(tool, one));
    let pending = settled
        .and_then(|()| history.begin(records, cx.by.as_ref()))
        .map_err(|error| refuse(shown, &format!("the history could not be written: {}", error.kind())).source(error))?;
    let [first, second] = approval.for_two_steps();
    let left = match guard.remove(target, tree, &revisions, first) {
        Ok(()) => None,
        Err(RemoveError { error, in_part, gone_from }) => {
            // What is gone is made again from the history, so that the call has failed as a whole.
            let is_whole = || guard.complete(target, &mut missing(cx, tree, &former, gone_from), second).is_ok();
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
