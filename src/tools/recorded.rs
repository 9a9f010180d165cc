//! Changes that lose nothing: what a file held is kept and written down before it is touched.
//!
//! Where it cannot be kept, a replacement goes on and says so; a removal is refused, as nothing of the
//! file would be left.

use std::{
    io::{self, Seek as _},
    sync::Arc,
};

use crate::{
    edit,
    session::history::{
        Effect, Former, FormerEntry, FormerNode, JournalRecord, Kept, PendingChange, RecordKind, UndoableChange,
    },
    text::Document,
    workspace::{
        AccessError, AccessErrorKind, Approval, Base, Committed, Durable, FileLock, HashedBytes, NewNode, Node,
        NotRemoved, OpenFile, ReplacedFile, Revision, Tree, TreeGuard, TreePosition, WorkspacePath, WritablePath,
        WriteGuard,
    },
};

use super::{
    CallContext, Kind, ToolError,
    freshness::{self, Known},
};

/// More files than that are put on the disk all at once, with whatever else there is to write.
const SYNCED_ONE_BY_ONE: usize = 16;
/// Files up to which what was seen of them counts at their new paths, too.
const SEEN_ALONG: usize = 100;
/// Lines of a diff that are shown after a whole file was replaced or brought back.
pub(super) const DIFF_LINES: usize = 60;
/// Bytes of an answer kept back for what stands around a diff.
const AROUND: usize = 400;

/// What the report of a change has to say about the former content.
#[derive(Clone, Debug, Default)]
pub(super) struct Note(Option<String>);

impl Note {
    /// Nothing to say.
    pub(super) fn none() -> Self {
        Self(None)
    }

    fn of(kept: &Kept) -> Self {
        Self(match kept {
            Kept::OnDisk | Kept::InMemory(None) => None,
            Kept::InMemory(Some(why)) => {
                Some(format!("what it held before is kept only until the server ends, as {why}"))
            }
            Kept::Nowhere(why) => Some(format!("what it held before could not be kept, as {why}")),
        })
    }

    /// The note, nothing when all is well.
    pub(super) fn text(&self) -> Option<String> {
        self.0.clone()
    }
}

/// Whether a change goes on the list of what can be undone; undoing itself does not.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Undoable {
    Yes,
    No,
}

/// How often a change is worked out again because the file had become another one. Under the lock that only
/// other programs can do that, between the look and the commit.
const ATTEMPTS: usize = 8;

/// New bytes of a file, worked out on what was there.
pub(super) trait Rewrite {
    /// What must be there still.
    fn base(&self) -> Base;
    /// That content, where it was decoded.
    fn old(&self) -> Option<&Document>;
    /// What is to be there.
    fn bytes(&self) -> &[u8];
}

/// Writes what was worked out over what it was worked out on. Where another change came first, by a call of this
/// process or by anybody else, `again` says what it comes to on what is there now, or why it cannot be; a person's
/// yes does not hold for that. The lock is kept meanwhile, so that the second try does not lose the race as well:
/// `again` must not ask for a lock.
pub(super) fn rewrite<R: Rewrite>(
    cx: &CallContext,
    tool: &'static str,
    target: &WritablePath,
    mut planned: R,
    mut approval: Approval,
    mut again: impl FnMut(AccessError) -> Result<R, ToolError>,
) -> Result<(R, Committed, Note), ToolError> {
    let mut lock = FileLock::acquire(&cx.workspace, target.clone(), &cx.wait_limit())?;
    for _ in 0..ATTEMPTS {
        // A commit that finds another file has changed nothing, and the yes is as good as before.
        let [own, rest] = approval.for_two_steps();
        approval = rest;
        let guard = match (planned.base(), planned.old()) {
            (Base::Revision(revision), Some(old)) => lock.guard_over(HashedBytes::hashed(old.bytes(), revision)),
            (base, _) => lock.guard(base),
        };
        let lost = match guard {
            Err(error) => Failed::from(error),
            Ok(guard) => match try_commit(cx, guard, tool, Undoable::Yes, planned.bytes(), own) {
                Ok((committed, note)) => return Ok((planned, committed, note)),
                Err(failed) => failed,
            },
        };
        match lost {
            Failed::Access(error) if matches!(error.kind, AccessErrorKind::Stale | AccessErrorKind::Exists) => {
                if approval.is_for_this_plan_only() {
                    return Err(ToolError::changed_while_asked(target.asked()));
                }
                cx.check()?;
                planned = again(error)?;
            }
            // A directory on the way was moved or deleted meanwhile, and what is there now is locked elsewhere.
            Failed::Access(error) if error.kind == AccessErrorKind::Changed => {
                drop(lock);
                lock = FileLock::acquire(&cx.workspace, target.clone(), &cx.wait_limit())?;
            }
            failed => return Err(failed.into()),
        }
    }
    Err(ToolError::new(Kind::Stale, format!("another program changes {} again and again", target.asked()))
        .hint("nothing was written by this call; repeat it"))
}

/// Why a commit failed.
enum Failed {
    /// As the workspace says it.
    Access(AccessError),
    /// For another reason.
    Tool(ToolError),
}

impl From<AccessError> for Failed {
    fn from(error: AccessError) -> Self {
        Self::Access(error)
    }
}

impl From<ToolError> for Failed {
    fn from(error: ToolError) -> Self {
        Self::Tool(error)
    }
}

impl From<Failed> for ToolError {
    fn from(failed: Failed) -> Self {
        match failed {
            Failed::Access(error) => error.into(),
            Failed::Tool(error) => error,
        }
    }
}

/// Makes `bytes` the content of the file that `guard` holds, and counts it as seen.
pub(super) fn commit(
    cx: &CallContext,
    guard: WriteGuard<'_>,
    tool: &'static str,
    undoable: Undoable,
    bytes: &[u8],
    approval: Approval,
) -> Result<(Committed, Note), ToolError> {
    Ok(try_commit(cx, guard, tool, undoable, bytes, approval)?)
}

fn try_commit(
    cx: &CallContext,
    mut guard: WriteGuard<'_>,
    tool: &'static str,
    undoable: Undoable,
    bytes: &[u8],
    approval: Approval,
) -> Result<(Committed, Note), Failed> {
    let history = &cx.session.history;
    let content = HashedBytes::of(bytes);
    let after = content.revision();
    let path = guard.path().clone();
    let (before, note) = match guard.previous() {
        Some(former) if former.revision != after => {
            let (found, kept) = match former.known {
                Some(content) => {
                    let revision = content.revision();
                    let held = cx.session.ledger.content_of(&path, revision);
                    (Some(revision), history.keep_content(content, held))
                }
                None => history
                    .keep(former.content, former.size, Some(former.revision), Durable::Now)
                    .map_err(|error| unreadable(&path, error))?,
            };
            // Something else than what was checked: the commit finds that out, too.
            let usable = found == Some(former.revision) && !matches!(kept, Kept::Nowhere(_));
            (Some((former.revision, former.mode, usable)), Note::of(&kept))
        }
        Some(former) => (Some((former.revision, former.mode, false)), Note(None)),
        None => (None, Note(None)),
    };
    let changes = before.is_none_or(|(revision, ..)| revision != after);
    let (pending, note) = if changes {
        let old = before.filter(|(.., usable)| *usable);
        let record = JournalRecord::new(tool, &path)
            .old(old.map(|(revision, ..)| revision), before.map_or(0, |(_, mode, _)| mode))
            .new_content(after);
        begin(cx, vec![record], note)
    } else {
        (history.unrecorded(), note)
    };
    let note_down = |committed: &Committed| {
        let former = before.map(|(revision, mode, usable)| (Former { revision, mode }, usable));
        if undoable == Undoable::Yes && changes && former.is_none_or(|(_, usable)| usable) {
            let before = former.map(|(former, _)| former);
            let effect = Effect::Wrote { path, before, after };
            history.done(&pending, UndoableChange { tool, effect, made: committed.made.clone() });
        }
        cx.session.ledger.saw(&committed.path, committed.revision, Some(bytes));
    };
    match guard.commit_noting(content, approval, note_down) {
        Ok(committed) => Ok((committed, note)),
        Err(error) => {
            history.void(&pending);
            Err(error.into())
        }
    }
}

/// Writes records down. A journal that cannot be written is worth a note, not a failure.
pub(super) fn begin(cx: &CallContext, records: Vec<JournalRecord>, note: Note) -> (PendingChange, Note) {
    let history = &cx.session.history;
    match history.begin(records) {
        Ok(pending) => (pending, note),
        Err(error) => {
            let why = format!("the history could not be written: {}", error.kind());
            (history.unrecorded(), Note(note.0.or(Some(format!("this change is not in the history, as {why}")))))
        }
    }
}

/// Removes a tree whose every content has been kept. Returns what it held, for undoing.
///
/// # Errors
/// When a content cannot be kept, with nothing removed; `stale` when something in it has changed.
pub(super) fn remove(
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
            .hint("delete less at a time, or ask the person to delete it")
    };
    if tree.bytes() > history.room() {
        let why = format!("{} bytes are more than the history may take at once ({})", tree.bytes(), history.room());
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
                (FormerNode::File(Former { revision, mode: stat.permissions() }), Some(revision))
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
        FormerNode::File(Former { revision, mode }) => JournalRecord::new(tool, &path).old(Some(*revision), *mode),
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
        .and_then(|()| history.begin(records))
        .map_err(|error| refuse(shown, &format!("the history could not be written: {}", error.kind())).source(error))?;
    let entries = Arc::new(former);
    let [first, second] = approval.for_two_steps();
    match guard.remove(target, tree, &revisions, first) {
        Ok(()) => Ok(Removed { entries, pending, durable }),
        Err(NotRemoved { error, in_part: true, gone_from })
            if guard.complete(target, &mut missing(cx, target.path(), &entries, gone_from), second).is_ok() =>
        {
            history.void(&pending);
            Err(error.into())
        }
        Err(NotRemoved { error, in_part: true, .. }) => {
            // What is gone must be found again, by whoever looks for it.
            let effect = Effect::Removed { path: target.path().clone(), entries };
            history.done(&pending, UndoableChange { tool, effect, made: Vec::new() });
            let sentence = format!("{shown} was deleted only in part: {error}");
            Err(ToolError::new(ToolError::from(error).kind(), sentence)
                .hint(format!("ask the person to move what is left of {shown} away; undo then brings back all of it")))
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
            FormerNode::Directory { .. } if is_there => Some(Ok((entry.position.clone(), NewNode::There))),
            _ if is_there => None,
            _ => Some(entry.part(cx, path)),
        }
    })
}

impl FormerEntry {
    /// As a part to be made again below `top`, with its content from the history.
    pub(super) fn part(&self, cx: &CallContext, top: &WorkspacePath) -> Result<(TreePosition, NewNode), AccessError> {
        let part = match &self.node {
            FormerNode::Directory { mode } => NewNode::Directory { mode: *mode },
            FormerNode::Link(says) => NewNode::Link(says.clone()),
            FormerNode::File(former) => {
                let bytes = cx.session.history.content(former.revision).ok_or_else(|| top.not_kept())?;
                NewNode::File { mode: former.mode, content: Box::new(io::Cursor::new(bytes)) }
            }
        };
        Ok((self.position.clone(), part))
    }
}

/// What was removed.
pub(super) struct Removed {
    pub(super) entries: Arc<Vec<FormerEntry>>,
    pub(super) pending: PendingChange,
    /// Whether it can be brought back after the server has ended.
    pub(super) durable: bool,
}

/// Keeps the file that is going to be moved over.
pub(super) fn keep_replaced(
    cx: &CallContext,
    path: &WorkspacePath,
    expected: Option<Revision>,
) -> Result<(ReplacedFile, Note, bool), ToolError> {
    let stat = cx.workspace.open_file(path)?.stat().clone();
    let (revision, kept) = keep_file(cx, path, expected, Durable::Now)?;
    if expected.is_some_and(|expected| expected != revision) {
        return Err(changed(path));
    }
    let usable = !matches!(kept, Kept::Nowhere(_));
    Ok((ReplacedFile { stat, revision }, Note::of(&kept), usable))
}

/// Keeps a file as it is now. Its revision is exact even where its content could not be kept.
fn keep_file(
    cx: &CallContext,
    path: &WorkspacePath,
    known: Option<Revision>,
    durable: Durable,
) -> Result<(Revision, Kept), ToolError> {
    let mut open = cx.workspace.open_file(path)?;
    let size = open.stat().size;
    let (revision, kept) =
        cx.session.history.keep(&mut open, size, known, durable).map_err(|error| unreadable(path, error))?;
    let same = |open: &OpenFile| open.restat().is_ok_and(|now| now.same_file_state(open.stat()));
    if !same(&open) {
        return Err(changed(path));
    }
    match (revision, known) {
        (Some(revision), _) => Ok((revision, kept)),
        (None, Some(known)) => Ok((known, kept)),
        (None, None) => Ok((hash(open).map_err(|error| unreadable(path, error))?, kept)),
    }
}

fn hash(mut file: OpenFile) -> io::Result<Revision> {
    file.rewind()?;
    Revision::of_reader(&mut file)
}

/// The sentence for what is something else now.
pub(super) fn changed(path: &WorkspacePath) -> ToolError {
    ToolError::new(Kind::Stale, format!("{path} has changed during the call, and nothing was done"))
        .hint("look at what is there now, then repeat the call")
}

fn unreadable(path: &WorkspacePath, error: io::Error) -> ToolError {
    AccessError::from_io(error, path).into()
}

/// The whole diff between two contents, where both are text; none of them stands for a file that is not there.
pub(super) fn diff(path: &WorkspacePath, old: Option<Vec<u8>>, new: Option<Vec<u8>>) -> String {
    let text = |bytes: Option<Vec<u8>>| match bytes {
        None => Some(String::new()),
        Some(bytes) => Document::decode(bytes, None).ok().map(|document| document.text().to_owned()),
    };
    let (Some(old), Some(new)) = (text(old), text(new)) else { return String::new() };
    edit::unified_diff(&freshness::diff_name(path), &old, &new, None).text
}

/// Bytes of a diff that an answer about `path` has room for.
pub(super) fn room(cx: &CallContext, path: &WorkspacePath) -> usize {
    cx.settings.max_output.saturating_sub(AROUND + path.to_string().len())
}

/// The seen-and-unchanged check for a file that is going to be deleted or replaced as a whole.
/// What is no text, or is too large to be shown whole, cannot have been read and is let pass: its
/// content is kept. Returns its revision.
pub(super) fn check_seen(
    cx: &CallContext,
    path: &WorkspacePath,
    target: &WritablePath,
) -> Result<Option<Revision>, ToolError> {
    let mut snapshot = match cx.workspace.read(path, cx.settings.max_file_size) {
        Ok(snapshot) => snapshot,
        Err(AccessError { kind: AccessErrorKind::TooLarge { .. }, .. }) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let is_text = Document::decode(snapshot.bytes.clone(), None).is_ok();
    if is_text && !snapshot.bytes.is_empty() {
        snapshot = freshness::settled(cx, path, target, snapshot, None, Known::LastSeen)?;
    }
    Ok(Some(snapshot.revision))
}

/// As [`check_seen`] for a file that is going to be deleted: one that was never seen may be, text or not, as a
/// directory may with all that it holds, since it can be brought back. One that was seen must still be that.
pub(super) fn check_not_stale(
    cx: &CallContext,
    path: &WorkspacePath,
    target: &WritablePath,
) -> Result<Option<Revision>, ToolError> {
    if cx.session.ledger.seen(target.path()).is_some() {
        return check_seen(cx, path, target);
    }
    match cx.workspace.read(path, cx.settings.max_file_size) {
        Ok(snapshot) => Ok(Some(snapshot.revision)),
        Err(AccessError { kind: AccessErrorKind::TooLarge { .. }, .. }) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// What was read counts where it is now.
pub(super) fn seen_along(cx: &CallContext, tree: &Tree, to: &WorkspacePath) {
    if tree.files() > SEEN_ALONG {
        return;
    }
    for ((old, entry), (new, _)) in tree.paths().zip(tree.paths_at(to)) {
        if matches!(entry.node, Node::File(_))
            && let Some(seen) = cx.session.ledger.seen(&old)
        {
            cx.session.ledger.saw(&new, seen.revision, seen.content.as_deref());
        }
    }
}
