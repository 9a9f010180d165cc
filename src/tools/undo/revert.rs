//! Reverting one change: whether it can be, and doing it.
//!
//! The check is for the plan and its diff; what counts is made sure of again under the locks.

use crate::{
    session::history::{Change, Effect, Former, FormerEntry, FormerNode, Record},
    workspace::{
        AccessError, AccessErrorKind, Approval, Base, Part, Purpose, Revision, TreeGuard, WorkspacePath, WritablePath,
        WriteGuard,
    },
};

use super::super::{CallContext, Kind, ToolError, recorded, recorded::Undoable};

/// Whether the change can be reverted now; the diff of doing so.
pub(super) fn check(cx: &CallContext, change: &Change) -> Result<String, ToolError> {
    match &change.effect {
        Effect::Wrote { path, before, after } => {
            let now = unchanged(cx, path, *after)?;
            let old = before.map(|former| content(cx, path, former.revision)).transpose()?;
            Ok(recorded::diff(path, Some(now), old))
        }
        Effect::Removed { path, entries } => {
            free(cx, path)?;
            for former in files(entries) {
                content(cx, path, former.revision)?;
            }
            match entries.as_slice() {
                [FormerEntry { node: FormerNode::File(former), .. }] => {
                    Ok(recorded::diff(path, None, Some(content(cx, path, former.revision)?)))
                }
                _ => Ok(String::new()),
            }
        }
        Effect::Moved { from, to, mark, replaced } => {
            free(cx, from)?;
            let entry = cx.workspace.writable_entry(to)?;
            marked(cx, &entry, &cx.workspace.writable_entry(from)?, *mark)?;
            match replaced {
                Some(former) => Ok(recorded::diff(to, None, Some(content(cx, to, former.revision)?))),
                None => Ok(String::new()),
            }
        }
        Effect::Copied { to, mark } => {
            let entry = cx.workspace.writable_entry(to)?;
            let tree = cx.workspace.tree(&entry, Purpose::Remove).map_err(|error| gone(to, error))?;
            if tree.content_mark() == *mark { Ok(String::new()) } else { Err(changed(to)) }
        }
        Effect::Made { directories } => {
            let Some(outermost) = directories.first() else { return Ok(String::new()) };
            let entry = cx.workspace.writable_entry(outermost)?;
            let tree = cx.workspace.tree(&entry, Purpose::Remove).map_err(|error| gone(outermost, error))?;
            if tree.entries().len() == directories.len() { Ok(String::new()) } else { Err(changed(outermost)) }
        }
    }
}

/// Reverts the change.
pub(super) fn revert(cx: &CallContext, change: &Change, approval: Approval) -> Result<(), ToolError> {
    match &change.effect {
        Effect::Wrote { path, before: Some(former), after } => {
            let bytes = content(cx, path, former.revision)?;
            let target = cx.workspace.writable(path)?;
            let guard = WriteGuard::acquire_within(&cx.workspace, target, Base::Revision(*after), &cx.patience())
                .map_err(|error| gone(path, error))?;
            recorded::commit(cx, guard, "undo", Undoable::No, &bytes, approval)?;
            Ok(())
        }
        Effect::Wrote { path, before: None, after } => {
            let entry = cx.workspace.writable_entry(path)?;
            let guard = TreeGuard::acquire_within(&cx.workspace, &[&entry], cx.patience())?;
            unchanged(cx, path, *after)?;
            remove(cx, &guard, &entry, None, approval)
        }
        Effect::Removed { path, entries } => bring_back(cx, path, entries, approval),
        Effect::Moved { from, to, mark, replaced } => move_back(cx, from, to, *mark, *replaced, approval),
        Effect::Copied { to, mark } => {
            let entry = cx.workspace.writable_entry(to)?;
            let guard = TreeGuard::acquire_within(&cx.workspace, &[&entry], cx.patience())?;
            remove(cx, &guard, &entry, Some(*mark), approval)
        }
        Effect::Made { directories } => {
            let innermost_first: Result<Vec<WritablePath>, AccessError> =
                directories.iter().rev().map(|path| cx.workspace.writable_entry(path)).collect();
            let entries = innermost_first?;
            let locked: Vec<&WritablePath> = entries.iter().collect();
            let guard = TreeGuard::acquire_within(&cx.workspace, &locked, cx.patience())?;
            guard.remove_empty(&entries, approval)?;
            Ok(())
        }
    }
}

/// Removes what a change made, recording it all the same.
fn remove(
    cx: &CallContext,
    guard: &TreeGuard,
    entry: &WritablePath,
    mark: Option<Revision>,
    approval: Approval,
) -> Result<(), ToolError> {
    let tree = cx.workspace.tree(entry, Purpose::Remove).map_err(|error| gone(entry.path(), error))?;
    if mark.is_some_and(|mark| mark != tree.content_mark()) {
        return Err(changed(entry.path()));
    }
    recorded::remove(cx, guard, entry, &tree, "undo", approval)?;
    Ok(())
}

fn bring_back(
    cx: &CallContext,
    path: &WorkspacePath,
    entries: &[FormerEntry],
    approval: Approval,
) -> Result<(), ToolError> {
    let entry = cx.workspace.writable_entry(path)?;
    let guard = TreeGuard::acquire_within(&cx.workspace, &[&entry], cx.patience())?;
    let mut parts = entries.iter().map(|one| {
        let part = match &one.node {
            FormerNode::Directory { mode } => Part::Directory { mode: *mode },
            FormerNode::Link(says) => Part::Link(says.clone()),
            FormerNode::File(former) => {
                let bytes = cx.session.history.content(former.revision).ok_or_else(|| path.not_kept())?;
                Part::File { mode: former.mode, content: Box::new(std::io::Cursor::new(bytes)) }
            }
        };
        Ok((one.place.clone(), part))
    });
    let note = recorded::Note::none();
    let (pending, _) = recorded::begin(cx, vec![Record::new("undo", entry.path())], note);
    match guard.plant(&entry, &mut parts, approval) {
        Ok(planted) => {
            if let [Some(revision)] = planted.revisions.as_slice() {
                cx.session.ledger.saw(entry.path(), *revision, None);
            }
            Ok(())
        }
        Err(error) => {
            cx.session.history.void(&pending);
            Err(taken(path, error))
        }
    }
}

fn move_back(
    cx: &CallContext,
    from: &WorkspacePath,
    to: &WorkspacePath,
    mark: Revision,
    replaced: Option<Former>,
    approval: Approval,
) -> Result<(), ToolError> {
    let (old, new) = (cx.workspace.writable_entry(from)?, cx.workspace.writable_entry(to)?);
    // Before anything is moved, so that it is done whole or not at all.
    let restored = replaced.map(|former| content(cx, to, former.revision)).transpose()?;
    let [first, second] = approval.for_two_steps();
    {
        let guard = TreeGuard::acquire_within(&cx.workspace, &[&old, &new], cx.patience())?;
        let tree = marked(cx, &new, &old, mark)?;
        let record = Record { to: Some(from.to_string()), ..Record::new("undo", to) };
        let (pending, _) = recorded::begin(cx, vec![record], recorded::Note::none());
        if let Err(error) = guard.transfer(&new, &tree, &old, None, first) {
            cx.session.history.void(&pending);
            return Err(taken(from, error));
        }
        super::super::move_path::seen_along(cx, &tree, old.path());
    }
    if let (Some(former), Some(bytes)) = (replaced, restored) {
        let guard = WriteGuard::acquire(&cx.workspace, new, Base::Absent)?.with_mode(former.mode);
        let committed = guard.commit(&bytes, second)?;
        cx.session.ledger.saw(&committed.path, committed.revision, Some(&bytes));
    }
    Ok(())
}

fn files(entries: &[FormerEntry]) -> impl Iterator<Item = &Former> {
    entries.iter().filter_map(|entry| match &entry.node {
        FormerNode::File(former) => Some(former),
        _ => None,
    })
}

/// The file's bytes, if they are what the change left.
fn unchanged(cx: &CallContext, path: &WorkspacePath, after: Revision) -> Result<Vec<u8>, ToolError> {
    let now = cx.workspace.read(path, cx.settings.max_file_size).map_err(|error| gone(path, error))?;
    if now.revision == after { Ok(now.bytes) } else { Err(changed(path)) }
}

fn marked(
    cx: &CallContext,
    entry: &WritablePath,
    to: &WritablePath,
    mark: Revision,
) -> Result<crate::workspace::Tree, ToolError> {
    let tree = cx.workspace.tree(entry, Purpose::Move(to)).map_err(|error| gone(entry.path(), error))?;
    if tree.content_mark() == mark { Ok(tree) } else { Err(changed(entry.path())) }
}

/// A kept content.
fn content(cx: &CallContext, path: &WorkspacePath, revision: Revision) -> Result<Vec<u8>, ToolError> {
    cx.session.history.content(revision).ok_or_else(|| lost(path))
}

fn lost(path: &WorkspacePath) -> ToolError {
    ToolError::new(
        Kind::NotFound,
        format!("what {path} held before is no longer in the history, which keeps a limited amount"),
    )
    .hint("write it anew")
}

fn free(cx: &CallContext, path: &WorkspacePath) -> Result<(), ToolError> {
    let entry = cx.workspace.writable_entry(path)?;
    match cx.workspace.entry_stat(&entry)? {
        None => Ok(()),
        Some(_) => Err(occupied(path)),
    }
}

fn occupied(path: &WorkspacePath) -> ToolError {
    ToolError::new(Kind::Stale, format!("something else is at {path} by now, and undo never replaces it"))
        .hint(format!("move {path} out of the way, then undo again"))
}

fn changed(path: &WorkspacePath) -> ToolError {
    ToolError::new(Kind::Stale, format!("{path} has changed since, and undoing would lose that"))
        .hint(format!("read {path} and edit it instead"))
}

fn gone(path: &WorkspacePath, error: AccessError) -> ToolError {
    match error.kind {
        AccessErrorKind::NotFound | AccessErrorKind::Stale | AccessErrorKind::NotADirectory => {
            ToolError::new(Kind::Stale, format!("{path} is not what the change left there, so it is not undone"))
                .hint("look at what is there now with ls")
        }
        _ => error.into(),
    }
}

fn taken(path: &WorkspacePath, error: AccessError) -> ToolError {
    match error.kind {
        AccessErrorKind::Exists => occupied(path),
        AccessErrorKind::NotKept => lost(path),
        _ => error.into(),
    }
}
