//! Removing a file or a directory whose every content is kept first.

use std::{io, sync::Arc};

use confined_fs::{
    AccessError, Approval, Durable, NewNode, Node, RemoveError, Revision, Tree, TreeEntry, TreeGuard, TreePosition,
    WorkspacePath, WritablePath,
};

use crate::session::history::{
    Effect, Former, FormerEntry, FormerNode, JournalRecord, Kept, PendingChange, RecordKind, UndoableChange,
};

use super::{
    super::{CallContext, Kind, ToolError},
    keep_file,
    record::{FormerIs, record_former},
};

/// Most files that are synced one by one; more are synced together (syncfs), with all that the file system has to
/// write.
const SYNCED_ONE_BY_ONE: usize = 16;

/// Removes a tree whose every content has been kept. Returns what it held, for undoing.
///
/// # Errors
/// When a content cannot be kept, with nothing removed; `stale` when something in it has changed.
pub(in crate::tools) fn remove(
    cx: &CallContext,
    guard: &TreeGuard,
    target: &WritablePath,
    tree: &Tree,
    tool: &'static str,
    approval: Approval,
) -> Result<Removed, ToolError> {
    let history = &cx.session.history;
    let shown = target.asked();
    let refuse = |path: &WorkspacePath, why: &str| {
        ToolError::new(Kind::TooLarge, format!("{shown} was not deleted: {path} could not be brought back, as {why}"))
            .hint("delete less at a time, or ask the user to delete it")
    };
    if tree.bytes() > history.capacity() {
        let why = format!("{} bytes are more than the history may take at once ({})", tree.bytes(), history.capacity());
        return Err(refuse(shown, &why));
    }
    let (mut former, mut revisions) = (Vec::new(), Vec::new());
    let mut durable = true;
    let durable_when = if tree.files() > SYNCED_ONE_BY_ONE { Durable::Soon } else { Durable::Now };
    for (path, entry) in tree.paths() {
        cx.check()?;
        let (node, revision) = match &entry.node {
            Node::File(stat) => {
                let (revision, kept) = keep_file(cx, &path, None, durable_when)?;
                if let Kept::Nowhere(why) = &kept {
                    return Err(refuse(&path, why));
                }
                durable &= kept == Kept::OnDisk;
                (FormerNode::File(Former::new(revision, stat.permissions())), Some(revision))
            }
            Node::Directory(stat) => (FormerNode::Directory { mode: stat.permissions() }, None),
            Node::Link(says) => (FormerNode::Link(says.clone()), None),
            Node::Other(_) => return Err(refuse(&path, "it is a special file")),
        };
        former.push(FormerEntry { position: entry.position.clone(), node });
        revisions.push(revision);
    }
    let settled = if durable_when == Durable::Soon { history.settle() } else { Ok(()) };
    // One at a time: each holds a path, and a deep tree has long ones.
    let records = tree.paths().zip(&former).map(|((path, _), former)| match &former.node {
        FormerNode::File(Former { revision, mode, .. }) => JournalRecord::new(tool, &path).old(Some(*revision), *mode),
        FormerNode::Directory { mode } => {
            JournalRecord { kind: RecordKind::Directory, ..JournalRecord::new(tool, &path).old(None, *mode) }
        }
        FormerNode::Link(says) => JournalRecord {
            kind: RecordKind::Link,
            target: says.to_str().map(str::to_owned),
            ..JournalRecord::new(tool, &path)
        },
    });
    let pending = settled
        .and_then(|()| history.begin(records, cx.by.as_ref()))
        .map_err(|error| refuse(shown, &format!("the history could not be written: {}", error.kind())).source(error))?;
    let entries = Arc::new(former);
    let [first, second] = approval.for_two_steps();
    match guard.remove(target, tree, &revisions, first) {
        Ok(()) => {
            record_former(cx, tool, tree.top(), &entries, FormerIs::Gone);
            Ok(Removed { entries, pending, durable })
        }
        Err(RemoveError { error, in_part: true, gone_from })
            if guard.complete(target, &mut missing(cx, target.path(), &entries, gone_from), second).is_ok() =>
        {
            history.void(&pending);
            Err(error.into())
        }
        Err(RemoveError { error, in_part: true, .. }) => {
            record_former(cx, tool, tree.top(), &entries, FormerIs::Gone);
            // What is gone must be found again, by whoever looks for it.
            let effect = Effect::Removed { path: target.path().clone(), entries };
            history.done(&pending, UndoableChange { tool, effect, made: Vec::new() });
            let sentence = format!("{shown} was deleted only in part: {error}");
            Err(ToolError::new(ToolError::from(error).kind(), sentence)
                .hint(format!("ask the user to move what is left of {shown} away; undo then brings back all of it")))
        }
        Err(whole) => {
            history.void(&pending);
            Err(whole.error.into())
        }
    }
}

/// What is missing of a tree that was removed only from the entry with the number `gone_from` on.
fn missing(
    cx: &CallContext,
    path: &WorkspacePath,
    entries: &[FormerEntry],
    gone_from: usize,
) -> impl Iterator<Item = Result<(TreePosition, NewNode), AccessError>> {
    entries.iter().enumerate().filter_map(move |(index, entry)| {
        let is_there = index < gone_from;
        match &entry.node {
            FormerNode::Directory { .. } if is_there => Some(Ok((entry.position.clone(), NewNode::ExistingDirectory))),
            _ if is_there => None,
            _ => Some(entry.part(cx, path)),
        }
    })
}

impl FormerEntry {
    /// An entry that was made, with the content of a file. None for a special file.
    pub(in crate::tools) fn made(entry: &TreeEntry, content: Option<Revision>) -> Option<Self> {
        let node = match (&entry.node, content) {
            (Node::File(stat), Some(revision)) => FormerNode::File(Former::new(revision, stat.permissions())),
            (Node::Directory(stat), _) => FormerNode::Directory { mode: stat.permissions() },
            (Node::Link(says), _) => FormerNode::Link(says.clone()),
            _ => return None,
        };
        Some(Self { position: entry.position.clone(), node })
    }

    /// As a part to be made again below `top`, with its content from the history.
    pub(in crate::tools) fn part(
        &self,
        cx: &CallContext,
        top: &WorkspacePath,
    ) -> Result<(TreePosition, NewNode), AccessError> {
        let part = match &self.node {
            FormerNode::Directory { mode } => NewNode::Directory { mode: *mode },
            FormerNode::Link(says) => NewNode::Link(says.clone()),
            FormerNode::File(former) => {
                let bytes = cx.session.history.content(former.revision).ok_or_else(|| top.not_stored())?;
                NewNode::File { mode: former.mode, content: Box::new(io::Cursor::new(bytes)) }
            }
        };
        Ok((self.position.clone(), part))
    }
}

pub(in crate::tools) struct Removed {
    pub(in crate::tools) entries: Arc<Vec<FormerEntry>>,
    pub(in crate::tools) pending: PendingChange,
    /// Whether it can be brought back after the server has ended.
    pub(in crate::tools) durable: bool,
}
