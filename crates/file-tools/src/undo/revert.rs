//! Reverting one change: whether it can be, and doing it.
//!
//! The check is for the plan and its diff; what counts is made sure of again under the locks.

use std::sync::Arc;

use change_set::{
    Approval, Base, CreatedTree, EntryState, FileState, NewDirectory, Purpose, Tree, TreeGuard, TreePosition,
    WritablePath, WriteGuard,
};
use confined_fs::{AccessError, AccessErrorKind, Revision, WorkspacePath};

use crate::session::{
    Cost, RootBytes, Shown,
    history::{AppendedPart, Effect, FormerEntry, JournalRecord, PendingChange, UndoableChange},
};

use super::{
    super::{
        CallContext, Kind, ToolError,
        commit::{self, ChangeStep, EntriesAre, NewState, Undoable},
        read_before_write, shown_diff,
    },
    virtual_tree::DiskOfCall,
};

/// The effect of reverting a change.
pub(super) struct RevertPlan {
    /// The diff of it.
    pub(super) diff: String,
    /// Its share of the session's quotas: bringing something back writes it.
    pub(super) cost: Cost,
}

/// Whether the change can be reverted now, and what that would do.
pub(super) fn check(cx: &CallContext, effect: &Effect) -> Result<RevertPlan, ToolError> {
    let mut cost = Cost::default();
    let diff = match effect {
        Effect::Several(_) => return Err(of_several()),
        Effect::Wrote { path, before, after, appended } => {
            let (now, old) = written_file(cx, path, (*before, *after), *appended)?;
            let size = old.as_ref().map_or(0, Vec::len) as u64;
            cost = Cost::of_bytes(path.root(), now.len() as u64, size);
            shown_diff::diff(path, Some(now), old)
        }
        Effect::Removed { path, entries } => {
            check_free(cx, path)?;
            let mut bytes = 0;
            for former in entries.iter() {
                if let EntryState::File(former) = &former.node {
                    bytes += kept_content(cx, path, former.revision)?.len() as u64;
                }
            }
            cost = Cost { files: entries.len() as u64, ..Cost::of_bytes(path.root(), 0, bytes) };
            match entries.as_slice() {
                [FormerEntry { node: EntryState::File(former), .. }] => {
                    shown_diff::diff(path, None, Some(kept_content(cx, path, former.revision)?))
                }
                _ => String::new(),
            }
        }
        Effect::Moved { from, to, mark, replaced } => {
            let entry = cx.workspace.writable_entry(to)?;
            let old = old_place(cx, from, &entry)?;
            let tree = unchanged_tree(cx, &entry, &old, *mark)?;
            let replaced = replaced.map(|former| kept_content(cx, to, former.revision)).transpose()?;
            let back = replaced.as_ref().map_or(0, |bytes| bytes.len() as u64);
            let change = RootBytes::of(to.root(), tree.bytes(), back);
            let change = change.and(RootBytes::of(from.root(), 0, tree.bytes()));
            cost = Cost { files: u64::from(replaced.is_some()), bytes: back, change };
            replaced.map_or_else(String::new, |bytes| shown_diff::diff(to, None, Some(bytes)))
        }
        Effect::Copied { to, mark, .. } => {
            let entry = cx.workspace.writable_entry(to)?;
            let tree = cx.workspace.tree(&entry, Purpose::Remove).map_err(|error| not_as_left(to, error))?;
            check_mark(to, &tree, Some(*mark))?;
            cost = Cost::of_bytes(to.root(), tree.bytes(), 0);
            String::new()
        }
        Effect::Made { directories } => {
            if let Some(outermost) = directories.first() {
                let outermost = outermost.path();
                let entry = cx.workspace.writable_entry(outermost)?;
                let tree = cx.workspace.tree(&entry, Purpose::Remove).map_err(|error| not_as_left(outermost, error))?;
                if tree.entries().len() != directories.len() {
                    return Err(changed_since(outermost, ""));
                }
            }
            String::new()
        }
    };
    Ok(RevertPlan { diff, cost })
}

/// Reverts the change; returns how many of the parent directories that it made were removed with it.
pub(super) fn revert(
    cx: &CallContext,
    change: &UndoableChange,
    undoable: Undoable,
    approval: Approval,
) -> Result<usize, ToolError> {
    // The directories go in a step of their own, under locks of their own.
    let [first, second] = approval.for_two_steps();
    revert_effect(cx, &change.effect, undoable, first)?;
    // One whose rights somebody has changed since would be made again with others.
    let is_as_made = |one: &&NewDirectory| DiskOfCall(cx).stat(one.path()).is_some_and(|now| one.has_own_mode(&now));
    let unchanged = change.made.iter().rev().take_while(is_as_made).count();
    // The change itself is reverted by now: what stays of its directories is no reason to say otherwise.
    let made = &change.made[change.made.len() - unchanged..];
    let Ok((removed, pending)) = remove_made(cx, made, second) else { return Ok(0) };
    cx.session.history.made_undo(&pending);
    Ok(removed.len())
}

/// Directories that were removed, each with what it was.
type FormerDirectories<'m> = Vec<(&'m WorkspacePath, EntryState)>;

/// Removes the directories that a change made, those that hold nothing else by now. Returns what they were.
fn remove_made<'m>(
    cx: &CallContext,
    made: &'m [NewDirectory],
    approval: Approval,
) -> Result<(FormerDirectories<'m>, PendingChange), ToolError> {
    let Some(outermost) = made.first() else { return Ok((Vec::new(), cx.session.history.unrecorded(cx.by.as_ref()))) };
    let state = |path| (path, EntryState::Directory { mode: DiskOfCall(cx).mode(path) });
    let mut states: Vec<_> = made.iter().map(NewDirectory::path).map(state).collect();
    let entry = cx.workspace.writable_entry(outermost.path())?;
    let guard = TreeGuard::acquire_within(&cx.workspace, &[&entry], cx.wait_limit())?;
    let removed = guard.remove_made(made, approval)?;
    commit::record_unmade(cx, "undo", made, removed);
    let gone = states.split_off(states.len() - removed);
    let records = gone.iter().map(|(path, state)| JournalRecord::new("undo", path).before(state)).collect();
    Ok((gone, commit::begin(cx, records).0))
}

/// Reverts one effect, which goes on the list of changes as `undoable` says.
fn revert_effect(cx: &CallContext, effect: &Effect, undoable: Undoable, approval: Approval) -> Result<(), ToolError> {
    match effect {
        Effect::Several(_) => Err(of_several()),
        Effect::Wrote { path, before: Some(former), after, appended } => {
            let (now, old) = written_file(cx, path, (Some(*former), *after), *appended)?;
            let (bytes, base) = (old.unwrap_or_default(), Base::Revision(Revision::of(&now)));
            let target = cx.workspace.writable(path)?;
            let guard = WriteGuard::acquire_within(&cx.workspace, target, base, &cx.wait_limit())
                .map_err(|error| not_as_left(path, error))?;
            let guard = guard.with_mode(former.mode);
            let guard = if appended.is_some() { guard.staying() } else { guard };
            commit::commit_file(cx, guard, "undo", undoable, &bytes, approval)??;
            Ok(())
        }
        Effect::Wrote { path, before: None, after, .. } => {
            // Again under the lock: another call may have written it since the plan.
            remove(cx, path, |_| unchanged_file(cx, path, *after).map(drop), undoable, approval)
        }
        Effect::Removed { path, entries } => bring_back(cx, path, entries, undoable, approval),
        Effect::Moved { from, to, mark, replaced } => move_back(cx, [from, to], *mark, *replaced, undoable, approval),
        Effect::Copied { to, mark, .. } => remove(cx, to, |tree| check_mark(to, tree, Some(*mark)), undoable, approval),
        Effect::Made { directories } => match (remove_made(cx, directories, approval)?, directories.first()) {
            ((removed, _), Some(outermost)) if removed.is_empty() => Err(changed_since(outermost.path(), "")),
            ((removed, pending), _) => {
                list_unmade(cx, removed, &pending, undoable);
                Ok(())
            }
        },
    }
}

/// A change of several files goes back as one: see [`UndoPlan`](super::plan::UndoPlan).
fn of_several() -> ToolError {
    ToolError::new(Kind::Internal, "a change of several files cannot be reverted file by file")
}

/// Directories that had been made were removed.
fn list_unmade(cx: &CallContext, directories: FormerDirectories<'_>, pending: &PendingChange, undoable: Undoable) {
    let Some((outermost, _)) = directories.first().cloned() else { return };
    let names = directories.into_iter().enumerate().map(|(depth, (path, node))| FormerEntry {
        position: match depth {
            0 => TreePosition::top(),
            depth => TreePosition { depth, name: path.file_name().unwrap_or_default().to_owned() },
        },
        node,
    });
    let effect = Effect::Removed { path: outermost.clone(), entries: Arc::new(names.collect()) };
    let change = UndoableChange { tool: "undo", effect, made: Vec::new() };
    cx.session.history.made(pending, change, undoable);
}

/// Removes what a change made, if it `is_as_left` under the lock, recording it all the same.
fn remove(
    cx: &CallContext,
    path: &WorkspacePath,
    is_as_left: impl FnOnce(&Tree) -> Result<(), ToolError>,
    undoable: Undoable,
    approval: Approval,
) -> Result<(), ToolError> {
    let entry = cx.workspace.writable_entry(path)?;
    let guard = TreeGuard::acquire_within(&cx.workspace, &[&entry], cx.wait_limit())?;
    let tree = cx.workspace.tree(&entry, Purpose::Remove).map_err(|error| not_as_left(path, error))?;
    is_as_left(&tree)?;
    commit::remove(cx, &guard, &entry, &tree, ("undo", undoable), approval).map(drop)
}

fn check_mark(path: &WorkspacePath, tree: &Tree, mark: Option<Revision>) -> Result<(), ToolError> {
    if mark.is_none_or(|mark| tree.content_mark() == mark) { Ok(()) } else { Err(changed_since(path, "")) }
}

fn bring_back(
    cx: &CallContext,
    path: &WorkspacePath,
    entries: &Arc<Vec<FormerEntry>>,
    undoable: Undoable,
    approval: Approval,
) -> Result<(), ToolError> {
    let entry = cx.workspace.writable_entry(path)?;
    let guard = TreeGuard::acquire_within(&cx.workspace, &[&entry], cx.wait_limit())?;
    let mut parts = entries.iter().map(|one| one.part(cx, path));
    let create = || guard.create_tree(&entry, &mut parts, approval);
    let there = |created: &CreatedTree| {
        if let [Some(revision)] = created.revisions.as_slice() {
            cx.session.ledger.record_read(entry.path(), *revision, None, cx.by.as_ref(), Shown::Change);
        }
        commit::record_entries(cx, "undo", EntriesAre::There, entry.path(), entries, &[]);
        cx.session.history.undo_list().brought_back(entry.path());
        Arc::clone(entries)
    };
    let created = commit::create_tree(cx, ("undo", undoable), &entry, create, there);
    created.map(drop).map_err(|error| not_created(path, error))
}

/// Moves an entry back; the file that it had `replaced` is brought back in the same change.
fn move_back(
    cx: &CallContext,
    [from, to]: [&WorkspacePath; 2],
    mark: Option<Revision>,
    replaced: Option<FileState>,
    undoable: Undoable,
    approval: Approval,
) -> Result<(), ToolError> {
    let new = cx.workspace.writable_entry(to)?;
    let old = old_place(cx, from, &new)?;
    if let Some(FileState { revision, mode }) = replaced {
        let bytes = kept_content(cx, to, revision)?;
        unchanged_tree(cx, &new, &old, mark)?;
        let base = commit::state_now(cx, &new)?.ok_or_else(|| changed_since(to, ""))?;
        let content = NewState::Content { base: Base::Absent, bytes, mode, like: None };
        let changes = [
            ChangeStep { target: new.clone(), change: NewState::Moved { to: old, base } },
            ChangeStep { target: new, change: content },
        ];
        return commit::commit_files(cx, "undo", &changes, undoable, approval).map(drop);
    }
    let guard = TreeGuard::acquire_within(&cx.workspace, &[&old, &new], cx.wait_limit())?;
    let tree = unchanged_tree(cx, &new, &old, mark)?;
    let mark = mark.unwrap_or_else(|| tree.content_mark());
    let moved = commit::move_tree(cx, ("undo", undoable), &guard, (&new, &tree, &old), mark, approval);
    moved.map(drop).map_err(|error| not_created(from, error))
}

/// The bytes of a file that was written, and those that it goes back to: what it was, or all but what was appended.
fn written_file(
    cx: &CallContext,
    path: &WorkspacePath,
    (before, after): (Option<FileState>, Revision),
    appended: Option<AppendedPart>,
) -> Result<(Vec<u8>, Option<Vec<u8>>), ToolError> {
    if let Some(part) = appended
        && let Ok(now) = cx.workspace.read(path, cx.settings.max_file_size)
        && let Some(without) = cx.session.history.without(&now.bytes, part)
    {
        return Ok((now.bytes, Some(without)));
    }
    let now = unchanged_file(cx, path, after)?;
    Ok((now, before.map(|former| kept_content(cx, path, former.revision)).transpose()?))
}

/// The file's bytes, if it is what the change left.
fn unchanged_file(cx: &CallContext, path: &WorkspacePath, after: Revision) -> Result<Vec<u8>, ToolError> {
    let now = cx.workspace.read(path, cx.settings.max_file_size).map_err(|error| not_as_left(path, error))?;
    // The caller's own later change is not the one that would be lost.
    let by = || Some(read_before_write::by(cx, path, (None, now.revision), ",")).filter(|by| by != ", by you");
    if now.revision == after { Ok(now.bytes) } else { Err(changed_since(path, &by().unwrap_or_default())) }
}

fn unchanged_tree(
    cx: &CallContext,
    entry: &WritablePath,
    to: &WritablePath,
    mark: Option<Revision>,
) -> Result<Tree, ToolError> {
    let tree = cx.workspace.tree(entry, Purpose::Move(to)).map_err(|error| not_as_left(entry.path(), error))?;
    check_mark(entry.path(), &tree, mark).map(|()| tree)
}

fn kept_content(cx: &CallContext, path: &WorkspacePath, revision: Revision) -> Result<Vec<u8>, ToolError> {
    cx.session.history.content(revision).ok_or_else(|| not_kept(path))
}

fn not_kept(path: &WorkspacePath) -> ToolError {
    ToolError::new(
        Kind::NotFound,
        format!("the earlier content of {path} is no longer in the history, which has a size limit"),
    )
    .hint("write the content again")
}

/// Where what was moved to `now` goes back, which is free, or the same place by a name in another case.
fn old_place(cx: &CallContext, from: &WorkspacePath, now: &WritablePath) -> Result<WritablePath, ToolError> {
    if let Some(old) = cx.workspace.respelled(now, from) {
        return Ok(old);
    }
    check_free(cx, from)?;
    Ok(cx.workspace.writable_entry(from)?)
}

fn check_free(cx: &CallContext, path: &WorkspacePath) -> Result<(), ToolError> {
    let entry = cx.workspace.writable_entry(path)?;
    match cx.workspace.entry_stat(&entry)? {
        None => Ok(()),
        Some(_) => Err(occupied(path)),
    }
}

fn occupied(path: &WorkspacePath) -> ToolError {
    ToolError::new(Kind::Stale, format!("another entry is at {path} now, and undo does not replace it"))
        .hint("move it out of the way, then undo again")
}

/// `by` says who has changed it, as the end of a clause.
fn changed_since(path: &WorkspacePath, by: &str) -> ToolError {
    ToolError::new(Kind::Stale, format!("{path} has changed since{by}, and undo would lose that change"))
        .hint("read it and edit it instead")
}

fn not_as_left(path: &WorkspacePath, error: AccessError) -> ToolError {
    match error.kind {
        AccessErrorKind::NotFound | AccessErrorKind::Stale | AccessErrorKind::NotADirectory => ToolError::new(
            Kind::Stale,
            format!("{path} is no longer what the change left there, so the change is not undone"),
        )
        .hint("look at what is there now with ls"),
        _ => error.into(),
    }
}

fn not_created(path: &WorkspacePath, error: AccessError) -> ToolError {
    match error.kind {
        AccessErrorKind::Exists => occupied(path),
        AccessErrorKind::NotStored => not_kept(path),
        _ => error.into(),
    }
}
