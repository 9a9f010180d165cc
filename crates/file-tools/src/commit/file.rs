//! Writing a file whose former content is kept first.

use std::{cell::OnceCell, iter};

use change_set::{
    AppendedBytes, Approval, Base, Committed, Durable, EditedPart, EntryState, FileLock, FileState, HashedBytes,
    NewContent, PreviousFile, WritablePath, WriteGuard,
};
use confined_fs::{AccessError, AccessErrorKind, WorkspacePath};
use text_file::Document;

use crate::session::Writer;
use crate::session::history::{EntryChange, JournalRecord, Kept, PendingChange, Undoable, UndoableChange};

use super::{
    super::{CallContext, Kind, ToolError},
    begin, made_above, note_of, read_failed, record_entries,
};

/// How often a change is planned again because the file has changed. Under the lock, only other programs can change
/// it between the check and the commit.
const ATTEMPTS: usize = 8;

/// New bytes of a file, planned on its former content.
pub(crate) trait Rewrite {
    /// The state that must still be there.
    fn base(&self) -> Base;
    /// That content, where it was decoded.
    fn old(&self) -> Option<&Document>;
    /// The bytes that take its place.
    fn bytes(&self) -> &[u8];
    /// The end of these bytes that is appended to the file itself, and whether nothing may come before it meanwhile.
    fn tail(&self) -> Option<(&[u8], bool)> {
        None
    }
}

/// Writes the planned bytes over the content that they were planned on. If another change came first, by a call of
/// this process or by another program, `again` plans on the new content or says why it cannot; a person's yes does
/// not hold for that. The lock is kept meanwhile, so that the second attempt does not lose the race as well: `again`
/// must not take a lock.
pub(crate) fn rewrite<R: Rewrite>(
    cx: &CallContext,
    tool: &'static str,
    target: &WritablePath,
    mut planned: R,
    mut approval: Approval,
    mut again: impl FnMut(AccessError) -> Result<R, ToolError>,
) -> Result<(R, Committed, Option<String>), ToolError> {
    let mut lock = FileLock::acquire(&cx.workspace, target.clone(), &cx.wait_limit())?;
    for _ in 0..ATTEMPTS {
        // A commit that finds another file has changed nothing, and the yes is as good as before.
        let [own, rest] = approval.for_two_steps();
        approval = rest;
        let guard = match (planned.base(), planned.old()) {
            (Base::Revision(revision), Some(old)) => {
                let old = HashedBytes::hashed(old.bytes(), revision);
                match planned.tail() {
                    // A person has seen what comes before it.
                    Some((tail, is_all)) => lock.guard_to_append(old, is_all || approval.is_for_this_plan_only(), tail),
                    None => lock.guard_over(old),
                }
            }
            (base, _) => lock.guard(base),
        };
        let committed = match guard {
            Ok(guard) => commit_file(cx, guard, tool, Undoable::Yes, &NewContent::of(planned.bytes()), own)?,
            Err(error) => Err(error),
        };
        let error = match committed {
            Ok((Committed { appended: Some(AppendedBytes { count, error: Some(error), .. }), .. }, _)) => {
                let sentence = format!("{error}; the first {count} bytes of what was to be appended are at its end");
                let undo = if cx.offers_undo { "; undo takes them out" } else { "" };
                let kind = ToolError::from(error).kind();
                return Err(ToolError::new(kind, sentence)
                    .hint(format!("read the end of the file, and append the rest when that is possible{undo}")));
            }
            Ok((committed, note)) => return Ok((planned, committed, note)),
            Err(error) => error,
        };
        match error.kind {
            AccessErrorKind::Stale | AccessErrorKind::Exists => {
                if approval.is_for_this_plan_only() {
                    return Err(ToolError::changed_while_asked(target.asked()));
                }
                cx.check()?;
                planned = again(error)?;
            }
            // A directory on the way was moved or deleted meanwhile, and what is there now is locked elsewhere.
            AccessErrorKind::Changed => {
                drop(lock);
                lock = FileLock::acquire(&cx.workspace, target.clone(), &cx.wait_limit())?;
            }
            _ => return Err(error.into()),
        }
    }
    Err(ToolError::new(Kind::Stale, format!("another program changes {} again and again", target.asked()))
        .hint("nothing was written by this call; repeat it"))
}

/// Makes `content` that of the file that `guard` holds, and counts it as seen. An error of the commit itself, where the
/// file may be what it was, is inside.
pub(super) fn commit_file(
    cx: &CallContext,
    guard: WriteGuard<'_>,
    tool: &'static str,
    undoable: Undoable,
    content: &NewContent<'_>,
    approval: Approval,
) -> Result<Result<(Committed, Option<String>), AccessError>, ToolError> {
    let bytes = content.bytes();
    let (path, tail) = (guard.path().clone(), guard.tail());
    let begun = OnceCell::new();
    // Asked for the new revision only now: a large content was hashed while it was written.
    // In the journal before the write, so that a kill between the two loses nothing.
    let keep = |former: Option<PreviousFile<'_>>| -> Result<(), ToolError> {
        let change = Begun::keeping(cx, tool, &path, former, (content, tail))?;
        begun.get_or_init(|| change);
        Ok(())
    };
    let record = |committed: &Committed| {
        let Some(Begun { before, edited, changes, pending, .. }) = begun.get() else { return };
        let was = before.as_ref().map(|(former, _)| former.revision);
        if *changes {
            let was = before.as_ref().map(|(former, _)| EntryState::File(former.clone()));
            let wrote = EntryChange::new(&path, was, Some(committed.revision.into()));
            record_entries(cx, tool, &[wrote], &committed.made);
        }
        if *changes && before.as_ref().is_none_or(|(_, usable)| *usable) {
            let before = before.as_ref().map(|(former, _)| former.clone());
            let part =
                |(done, tail): (&AppendedBytes, &[u8])| cx.session.history.keep_appended(done.at, &tail[..done.count]);
            let appended = committed.appended.as_ref().zip(tail).map(part);
            let wrote = EntryChange {
                appended,
                edited: edited.clone(),
                ..EntryChange::new(&path, before.map(EntryState::File), Some(committed.revision.into()))
            };
            let late: Vec<JournalRecord> =
                made_above(&committed.made).flat_map(|one| JournalRecord::of_entry(tool, &one)).collect();
            let entries = iter::once(wrote).chain(made_above(&committed.made)).collect();
            cx.session.history.made(pending, UndoableChange { tool, entries }, late, undoable);
        }
        // An append shows nothing of what was there: who knew all of it knows all of it still.
        let knows_all = || cx.session.ledger.seen_here(&path).map(|seen| seen.revision) == was;
        let (writer, bytes) = match &committed.appended {
            Some(AppendedBytes { now, .. }) if now.is_some() || !knows_all() => {
                (Writer::AnotherProgram, now.as_deref().unwrap_or(bytes))
            }
            _ => (Writer::Call(cx.by.as_ref(), was), bytes),
        };
        cx.session.ledger.record_write(&committed.path, committed.revision, Some(bytes), writer);
    };
    let committed = guard.commit_noting(content, approval, keep, record)?;
    let Some(Begun { pending, note, .. }) = begun.into_inner() else { return Ok(committed.map(|done| (done, None))) };
    if committed.is_err() {
        cx.session.history.void(&pending);
    }
    Ok(committed.map(|committed| (committed, note)))
}

/// A change of a file whose former content is kept, and which is in the journal.
struct Begun {
    /// The former file, and whether its content can be put back.
    before: Option<(FileState, bool)>,
    edited: Option<EditedPart>,
    /// Whether the new content is another one, or may be.
    changes: bool,
    pending: PendingChange,
    note: Option<String>,
}

impl Begun {
    fn keeping(
        cx: &CallContext,
        tool: &'static str,
        path: &WorkspacePath,
        former: Option<PreviousFile<'_>>,
        (content, tail): (&NewContent<'_>, Option<&[u8]>),
    ) -> Result<Self, ToolError> {
        let history = &cx.session.history;
        let after = content.revision();
        let of = |former: &PreviousFile<'_>| FileState { revision: former.revision, rights: former.rights.clone() };
        let was = former.as_ref().map(of);
        let known = former.as_ref().and_then(|former| former.known).filter(|_| tail.is_none());
        let edited = known.and_then(|old| EditedPart::of(old.bytes(), content.bytes()));
        let (usable, note) = match former {
            Some(former) if former.revision != after => {
                let (found, kept) = match former.known {
                    Some(content) => {
                        let revision = content.revision();
                        let held = cx.session.ledger.content_of(path, |seen| seen == revision);
                        (Some(revision), history.keep_content(content, held))
                    }
                    None => history
                        .keep(former.content, former.size, Some(former.revision), Durable::Now)
                        .map_err(|error| read_failed(path, error))?,
                };
                // Something else than what was checked: the commit finds that out, too.
                let usable = found == Some(former.revision) && !matches!(kept, Kept::Nowhere(_));
                (usable, note_of(&kept))
            }
            _ => (false, None),
        };
        let changes = was.as_ref().is_none_or(|former| former.revision != after);
        let (pending, note) = if changes {
            let at = |tail: &[u8]| (content.bytes().len() - tail.len()) as u64;
            let appended = tail.map(|tail| history.keep_appended(at(tail), tail));
            let change = EntryChange::new(path, was.clone().map(EntryState::File), Some(after.into()));
            let wrote = EntryChange { appended, edited: edited.clone(), ..change };
            let (pending, unwritten) = begin(cx, JournalRecord::of_entry(tool, &wrote));
            (pending, note.or(unwritten))
        } else {
            (history.unrecorded(cx.by.as_ref()), note)
        };
        Ok(Self { before: was.map(|former| (former, usable)), edited, changes, pending, note })
    }
}
