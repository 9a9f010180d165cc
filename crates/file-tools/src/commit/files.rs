//! Changing many files, all or none: what they held is kept first, and one undo reverts all of it.

use std::{
    borrow::Cow,
    collections::{HashMap, HashSet},
    io, iter, slice,
    sync::Arc,
};

use change_set::{
    Approval, Base, CommitError, CommittedTransaction, Durable, EntryState, FileState, FormerFile, NewContent, NewNode,
    Node, Purpose, Rights, Transaction, TreeGuard, TreePosition, UnrestoredEntry, WritablePath, WriteGuard,
};
use confined_fs::{AccessError, AccessErrorKind, Revision, WorkspacePath};

use crate::session::Writer;
use crate::session::history::{EntryChange, JournalRecord, Kept, Undoable, UndoableChange};

use super::{
    super::{CallContext, Kind, ToolError, read_before_write},
    begin, changed, durable,
    file::commit_file,
    note_of, other_names, read_failed, record_directories, record_entries, record_moved, record_written, state_now,
    tree::{content_mark, create_tree, is_same, marked, move_tree, new_node, remove},
};

/// A step of a change of many files. Every path is removed or left at most once, and gets an entry at most once.
pub(crate) struct ChangeStep {
    /// Where: from [`Workspace::writable`](change_set::Workspace::writable) for a content, else from
    /// [`Workspace::writable_entry`](change_set::Workspace::writable_entry).
    pub(crate) target: WritablePath,
    pub(crate) change: NewState,
}

impl ChangeStep {
    fn moved_to(&self) -> Option<&WritablePath> {
        if let NewState::Moved { to, .. } = &self.change { Some(to) } else { None }
    }
}

/// The change of the entry at a path.
pub(crate) enum NewState {
    /// A file with this content.
    Content {
        /// Must still be there. `Absent`: nothing, or an entry that the same change removes.
        base: Base,
        content: StepContent,
        /// The rights of the file then; of a mode alone a replaced one keeps no more.
        rights: Rights,
        /// The file whose mode, owner and attributes a new file gets instead.
        like: Option<WorkspacePath>,
    },
    /// Nothing: removes the file with this content, the link with this target, or the directory, which must be empty at
    /// that moment. Modes are not compared. `is_parent`: a directory that was made for another entry of a change that is
    /// taken back.
    Removed { base: EntryState, is_parent: bool },
    /// The same entry, its inode kept, at a path that is free or that this change frees.
    Moved { to: WritablePath, base: EntryState },
    /// A directory or a link, where nothing is. Missing parent directories need no step.
    Created(EntryState),
    /// The directory that is there with these rights; of a mode alone no more.
    Rights(Rights),
}

/// The content that a file gets.
pub(crate) enum StepContent {
    /// These bytes.
    Bytes(Vec<u8>),
    /// These, and the file stays the one that programs have open, where it can.
    InPlace(Vec<u8>),
    /// What the history keeps of this revision: read when it is written.
    Kept(Revision),
}

impl StepContent {
    fn bytes(&self, cx: &CallContext, path: &WorkspacePath) -> Result<Cow<'_, [u8]>, AccessError> {
        match self {
            Self::Bytes(bytes) | Self::InPlace(bytes) => Ok(bytes.into()),
            Self::Kept(revision) => {
                cx.session.history.content(*revision).map(Cow::from).ok_or_else(|| path.not_stored())
            }
        }
    }
}

/// The result of a change of many files.
#[derive(Debug)]
pub(crate) struct CommittedFiles {
    /// For each change, in order, where it was made and the revision of a file's content now.
    pub(crate) files: Vec<(WorkspacePath, Option<Revision>)>,
    /// Notes for the answer.
    pub(crate) notes: Vec<String>,
    /// Whether files were copied and their old places emptied, as the system does not rename them.
    pub(crate) copied: bool,
    /// Whether every former content is on the disk.
    pub(crate) is_durable: bool,
}

/// The note on a change of several files without a journal.
const NOT_RECOVERABLE: &str = "without a state folder, a kill in the middle of such a change can leave a part of it";

/// The files in whose place the same change moves something: one change of both paths, which the move reports.
type MovedOver<'c> = HashMap<&'c WorkspacePath, FileState>;

/// A step that is checked and in the transaction: its row of [`CommittedFiles::files`], its record in the journal, and what
/// is done once it is made. Without a record: a file that already has the new content, and what is recorded once it is made.
type CheckedStep<'c> = ((WorkspacePath, Option<Revision>), Vec<JournalRecord>, StepReport<'c>);

/// Reports a step that was made to the ledger, the audit and the listeners. Returns how it is undone.
type StepReport<'c> = Box<dyn FnOnce() -> Option<EntryChange> + 'c>;

/// Makes all of these changes, or none.
///
/// # Errors
/// `stale` where a file is not what the plan saw, which the sentence names: the caller may plan again. After any error
/// everything is as it was, but for what the sentence says.
pub(crate) fn commit_files(
    cx: &CallContext,
    tool: &'static str,
    changes: &[ChangeStep],
    undoable: Undoable,
    approval: Approval,
) -> Result<CommittedFiles, ToolError> {
    // One rename is whole by itself, without an intent that is written and synced first.
    if let [ChangeStep { target, change: NewState::Content { base, content, rights, like: None } }] = changes {
        let bytes = content.bytes(cx, target.path())?;
        let guard = WriteGuard::acquire_within(&cx.workspace, target.clone(), *base, &cx.wait_limit())?
            .with_rights(rights.clone());
        let guard = if matches!(content, StepContent::InPlace(_)) { guard.staying() } else { guard };
        let (committed, note) = commit_file(cx, guard, tool, undoable, &bytes, approval)??;
        return Ok(CommittedFiles {
            files: vec![(committed.path, Some(committed.revision))],
            notes: note.into_iter().chain(other_names("this file", committed.other_names)).collect(),
            copied: false,
            is_durable: cx.session.history.on_disk(),
        });
    }
    if let Some(tree) = TreeOfSteps::of(changes) {
        return tree.commit(cx, tool, undoable, approval);
    }
    let moves_files = |step: &ChangeStep| {
        matches!(step.change, NewState::Moved { base: EntryState::File(_) | EntryState::Link(_), .. })
    };
    let [first, second] = approval.for_two_steps();
    match commit_steps(cx, tool, changes, undoable, (first, MovesBy::Name)) {
        Err(error) if crosses_devices(&error) && LoneMove::of(changes).is_some() => {
            LoneMove::of(changes).map_or(Err(error), |alone| alone.commit(cx, tool, undoable, second))
        }
        // EXDEV of rename(2), at another device and at another mount of the same one: known only by trying.
        Err(error) if crosses_devices(&error) && changes.iter().any(moves_files) => {
            commit_steps(cx, tool, changes, undoable, (second, MovesBy::Copy))
        }
        answer => answer,
    }
}

/// How files and links get to another path.
#[derive(Clone, Copy, PartialEq, Eq)]
enum MovesBy {
    Name,
    Copy,
}

fn commit_steps(
    cx: &CallContext,
    tool: &'static str,
    changes: &[ChangeStep],
    undoable: Undoable,
    (approval, by): (Approval, MovesBy),
) -> Result<CommittedFiles, ToolError> {
    let entries: Vec<_> = changes.iter().flat_map(|step| iter::once(&step.target).chain(step.moved_to())).collect();
    let leaving =
        changes.iter().filter(|step| matches!(step.change, NewState::Moved { .. } | NewState::Removed { .. }));
    let leaving: Vec<_> = leaving.map(|step| &step.target).collect();
    check_once(changes)?;
    let over = moved_over(changes);
    let files = changes.len() - over.len();
    let unchanged = |error: AccessError| none_changed(files, error.into());
    let mut transaction =
        Transaction::acquire(&cx.workspace, &entries, &leaving, cx.wait_limit()).map_err(unchanged)?;
    let (mut done, mut records, mut reports, mut names) = (Vec::new(), Vec::new(), Vec::new(), 0);
    for change in changes {
        cx.check()?;
        let (row, record, report) =
            add((cx, tool), &mut transaction, change, by, &over, &mut names).map_err(unchanged)?;
        done.push(row);
        records.extend(record);
        reports.push(report);
    }
    // Before the journal, whose records name these contents.
    let (is_kept, is_durable, mut notes) = keep_all(cx, &transaction)?;
    let (pending, note) = begin(cx, records);
    notes.extend(note);
    notes.extend(other_names("these files", names));
    let record = |committed: &CommittedTransaction| {
        record_directories(cx, tool, &committed.made);
        let mut entries: Vec<EntryChange> = reports.into_iter().filter_map(|report| report()).collect();
        let asked = |made: &WorkspacePath| changes.iter().any(|step| step.target.path() == made);
        let made = committed
            .made
            .iter()
            .map(|made| EntryChange { is_parent: !asked(made.path()), ..EntryChange::parent(made) });
        let made: Vec<EntryChange> = made.collect();
        let late: Vec<JournalRecord> = made.iter().flat_map(|one| JournalRecord::of_entry(tool, one)).collect();
        entries.extend(made);
        if !entries.is_empty() {
            // An undo could not bring back what is kept nowhere.
            let undoable = if is_kept { undoable } else { Undoable::No };
            cx.session.history.made(&pending, UndoableChange { tool, entries: entries.into() }, late, undoable);
        }
    };
    match transaction.commit(approval, record) {
        Ok(CommittedTransaction { survives_a_kill, .. }) => {
            // The name of one file changes at once.
            if files > 1 && !survives_a_kill {
                notes.push(NOT_RECOVERABLE.to_owned());
            }
            Ok(CommittedFiles { files: done, notes, copied: by == MovesBy::Copy, is_durable })
        }
        Err(CommitError { error, not_restored }) => {
            cx.session.history.void(&pending);
            if not_restored.is_empty() { Err(unchanged(error)) } else { Err(changed_in_part(error, &not_restored)) }
        }
    }
}

/// The move of a directory, beside directories that are removed once it is gone from them: across devices it is copied, and
/// the rest follows.
struct LoneMove<'c> {
    moved: &'c ChangeStep,
    removed: Vec<&'c ChangeStep>,
}

impl<'c> LoneMove<'c> {
    fn of(changes: &'c [ChangeStep]) -> Option<Self> {
        let is_removal =
            |step: &&ChangeStep| matches!(step.change, NewState::Removed { base: EntryState::Directory { .. }, .. });
        let (removed, others): (Vec<_>, Vec<_>) = changes.iter().partition(is_removal);
        let [moved] = others[..] else { return None };
        let is_directory = matches!(moved.change, NewState::Moved { base: EntryState::Directory { .. }, .. });
        is_directory.then_some(Self { moved, removed })
    }

    fn commit(
        self,
        cx: &CallContext,
        tool: &'static str,
        undoable: Undoable,
        approval: Approval,
    ) -> Result<CommittedFiles, ToolError> {
        let [first, second] = approval.for_two_steps();
        let done = TreeOfSteps { steps: vec![self.moved] }.commit(cx, tool, undoable, first)?;
        // What was moved is in its place: a directory that stays is no reason to say otherwise.
        let mut removed = self.removed;
        removed.sort_by(|one, other| one.target.path().relative().cmp(other.target.path().relative()));
        let _ = TreeOfSteps { steps: removed }.commit(cx, tool, Undoable::No, second);
        Ok(done)
    }
}

/// Whether these steps are one change of a tree, whose contents are read one after the other.
pub(crate) fn is_one_tree(changes: &[ChangeStep]) -> bool {
    TreeOfSteps::of(changes).is_some()
}

/// Steps that are one change of a tree by one rename, which is whole by itself: the removal of an entry with everything in
/// it, the making of one, a move.
struct TreeOfSteps<'c> {
    /// The top first, each directory before what it holds.
    steps: Vec<&'c ChangeStep>,
}

impl<'c> TreeOfSteps<'c> {
    fn of(changes: &'c [ChangeStep]) -> Option<Self> {
        let mut steps: Vec<&ChangeStep> = changes.iter().collect();
        // By the names on the way: what is in a directory comes after it, and before what is in another one.
        steps.sort_by(|one, other| one.target.path().relative().cmp(other.target.path().relative()));
        let (top, inside) = steps.split_first()?;
        let is_whole = match &top.change {
            NewState::Moved { .. } => inside.is_empty(),
            NewState::Removed { .. } => inside.iter().all(|step| matches!(step.change, NewState::Removed { .. })),
            NewState::Created(_) => inside.iter().all(|step| {
                matches!(step.change, NewState::Created(_) | NewState::Content { base: Base::Absent, like: None, .. })
            }),
            NewState::Content { .. } | NewState::Rights(_) => false,
        };
        let is_in_top = |step: &&ChangeStep| step.target.path().is_in(top.target.path());
        (is_whole && inside.iter().all(is_in_top)).then_some(Self { steps })
    }

    fn commit(
        self,
        cx: &CallContext,
        tool: &'static str,
        undoable: Undoable,
        approval: Approval,
    ) -> Result<CommittedFiles, ToolError> {
        let target = &self.steps[0].target;
        let by = (tool, undoable);
        let mut done = CommittedFiles { files: Vec::new(), notes: Vec::new(), copied: false, is_durable: true };
        match &self.steps[0].change {
            NewState::Moved { to, base } => {
                let guard = TreeGuard::acquire_within(&cx.workspace, &[target, to], cx.wait_limit())?;
                let tree = cx.workspace.tree(target, Purpose::Move(to))?;
                if state_now(cx, target)?.is_none_or(|now| !is_same(&now, base)) {
                    return Err(changed(target.asked()));
                }
                let mark = tree.content_mark();
                let (moved, note) = move_tree(cx, by, &guard, (target, &tree, to), mark, approval)?;
                done.copied = moved.copied;
                done.notes.extend(note);
            }
            NewState::Removed { .. } => {
                let guard = TreeGuard::acquire_within(&cx.workspace, &[target], cx.wait_limit())?;
                let tree = cx.workspace.tree(target, Purpose::Remove)?;
                let bases = self.steps.iter().filter_map(|step| match &step.change {
                    NewState::Removed { base, is_parent } => Some((step.target.path(), (base, *is_parent))),
                    _ => None,
                });
                done.is_durable = remove(cx, &guard, target, &tree, Some(&bases.collect()), by, approval)?;
            }
            _ => {
                let guard = TreeGuard::acquire_within(&cx.workspace, &[target], cx.wait_limit())?;
                let mut nodes = self.steps.iter().map(|step| self.node(cx, step));
                let create = || guard.create_tree(target, &mut nodes, approval);
                let (_, note) = create_tree(cx, by, target, create, |created| {
                    let entry = |(step, revision): (&&ChangeStep, &Option<Revision>)| {
                        let is = match &step.change {
                            NewState::Created(is) => is.clone(),
                            _ => EntryState::from((*revision)?),
                        };
                        Some(EntryChange::new(step.target.path(), None, Some(is)))
                    };
                    let entries: Vec<EntryChange> =
                        self.steps.iter().zip(&created.revisions).filter_map(entry).collect();
                    record_entries(cx, tool, &entries, &created.made);
                    entries
                })?;
                done.notes.extend(note);
            }
        }
        Ok(done)
    }

    /// A step as a part of a new tree.
    fn node(&self, cx: &CallContext, step: &ChangeStep) -> Result<(TreePosition, NewNode), AccessError> {
        let (top, path) = (self.steps[0].target.path(), step.target.path());
        let position = match path.relative().iter().count() - top.relative().iter().count() {
            0 => TreePosition::top(),
            depth => TreePosition { depth, name: path.file_name().unwrap_or_default().to_owned() },
        };
        let node = match &step.change {
            NewState::Created(is) => new_node(cx, path, is)?,
            NewState::Content { content, rights, .. } => {
                let bytes = content.bytes(cx, path)?.into_owned();
                NewNode::File { rights: rights.clone(), content: Box::new(io::Cursor::new(bytes)) }
            }
            _ => return Err(AccessError::new(AccessErrorKind::Io, path)),
        };
        Ok((position, node))
    }
}

/// Refuses a path that occurs twice: the caller has not netted its steps.
fn check_once(changes: &[ChangeStep]) -> Result<(), ToolError> {
    let (mut going, mut coming) = (HashSet::new(), HashSet::new());
    for ChangeStep { target, change } in changes {
        let is_new = match change {
            NewState::Removed { .. } => going.insert(target.path()),
            NewState::Moved { to, .. } => going.insert(target.path()) && coming.insert(to.path()),
            _ => coming.insert(target.path()),
        };
        if !is_new {
            return Err(ToolError::invalid(format!("{} occurs more than once in this change", target.asked()))
                .hint("nothing was changed; name each file once"));
        }
    }
    Ok(())
}

fn moved_over(changes: &[ChangeStep]) -> MovedOver<'_> {
    let destinations = changes.iter().filter_map(ChangeStep::moved_to).map(WritablePath::path);
    let destinations: HashSet<&WorkspacePath> = destinations.collect();
    let over = changes.iter().filter_map(|ChangeStep { target, change }| match change {
        NewState::Removed { base: EntryState::File(former), .. } => {
            destinations.contains(target.path()).then(|| (target.path(), former.clone()))
        }
        _ => None,
    });
    over.collect()
}

/// Checks one change, and adds it to the transaction; to `names` how many other names a replaced file has.
fn add<'c>(
    (cx, tool): (&'c CallContext, &'static str),
    transaction: &mut Transaction<'c>,
    ChangeStep { target, change }: &'c ChangeStep,
    by: MovesBy,
    over: &'c MovedOver<'c>,
    names: &mut u64,
) -> Result<CheckedStep<'c>, AccessError> {
    let path = target.path();
    let mut row = (path.clone(), None);
    let (records, report): (_, StepReport<'c>) = match change {
        NewState::Content { base, content, rights, like } => {
            let mut guard = transaction.guard(target, *base)?.with_rights(rights.clone());
            let content = Arc::new(NewContent::of(content.bytes(cx, path)?));
            let other_names = guard.previous().map_or(0, |old| old.other_names);
            let before = guard.previous().map(|old| FileState { revision: old.revision, rights: old.rights });
            transaction.write(guard, Arc::clone(&content), like.clone());
            let (was, revision) = (before.as_ref().map(|before| before.revision), content.revision());
            row.1 = Some(revision);
            let is_changed = was != Some(revision);
            *names += if is_changed { other_names } else { 0 };
            let wrote = EntryChange::new(path, before.map(EntryState::File), Some(revision.into()));
            let records = if is_changed { JournalRecord::of_entry(tool, &wrote) } else { Vec::new() };
            let report = move || {
                let writer = Writer::Call(cx.by.as_ref(), was);
                cx.session.ledger.record_write(path, revision, Some(content.bytes()), writer);
                is_changed.then(|| {
                    record_written(cx, tool, path, was, revision, &[]);
                    wrote
                })
            };
            (records, Box::new(report))
        }
        NewState::Removed { base, is_parent } => {
            // For its refusals alone: policy may protect the entry.
            let tree = cx.workspace.tree(target, Purpose::Remove)?;
            let links = if let Node::File(stat) = tree.node() { stat.links() } else { 0 };
            let is_over = over.contains_key(path);
            *names += if is_over { links.saturating_sub(1) } else { 0 };
            let was = transaction.remove(target, base.clone())?;
            let removed = EntryChange { is_parent: *is_parent, ..EntryChange::new(path, Some(was), None) };
            // The record of what is moved over is beside that of the move.
            let records = if is_over { Vec::new() } else { JournalRecord::of_entry(tool, &removed) };
            let report = move || {
                record_entries(cx, tool, slice::from_ref(&removed), &[]);
                Some(removed)
            };
            (records, if is_over { Box::new(|| None) } else { Box::new(report) })
        }
        NewState::Moved { to, base } => {
            let tree = cx.workspace.tree(target, Purpose::Move(to))?;
            let mark = tree.content_mark();
            // A directory is never copied here: its rename fails as before, and the call with it.
            let is_copied = by == MovesBy::Copy && !matches!(base, EntryState::Directory { .. });
            if is_copied {
                transaction.move_by_copy(target, to, base.clone())?;
            } else {
                transaction.move_to(target, to, base.clone())?;
            }
            let replaced = over.get(to.path()).cloned();
            let moved =
                EntryChange::moved(path, to.path(), marked(tree.node(), mark), replaced.clone().map(EntryState::File));
            row.0 = to.path().clone();
            let records = JournalRecord::of_entry(tool, &moved);
            let report = move || {
                // Another file by now, so another mark.
                let mark = if is_copied { content_mark(cx, to, target) } else { Some(mark) };
                let is = mark.map(|mark| marked(tree.node(), mark).0);
                record_moved(cx, tool, &tree, to.path(), replaced.map(|former| former.revision), &[]);
                read_before_write::carry_seen(cx, &tree, to.path());
                Some(EntryChange { to: is, mark, ..moved })
            };
            (records, Box::new(report))
        }
        NewState::Created(is) => {
            transaction.create(target, is.clone())?;
            let made = EntryChange::new(path, None, Some(is.clone()));
            // A directory is reported and recorded with those that were missing above it.
            let is_link = matches!(is, EntryState::Link(_));
            let records = if is_link { JournalRecord::of_entry(tool, &made) } else { Vec::new() };
            let report = move || {
                is_link.then(|| {
                    record_entries(cx, tool, slice::from_ref(&made), &[]);
                    made
                })
            };
            (records, Box::new(report))
        }
        NewState::Rights(rights) => {
            (transaction.give(target, rights.clone())?, (Vec::new(), Box::new(|| None) as StepReport<'c>)).1
        }
    };
    Ok((row, records, report))
}

/// Keeps every content that is replaced or removed. Returns whether all are kept, whether on the disk, and notes for the answer.
///
/// # Errors
/// When the content of a removed file cannot be kept: it would be lost.
fn keep_all(cx: &CallContext, transaction: &Transaction<'_>) -> Result<(bool, bool, Vec<String>), ToolError> {
    let history = &cx.session.history;
    let durable = durable(transaction.former_files().count());
    let (mut is_kept, mut is_durable, mut notes) = (true, true, Vec::new());
    for (path, former) in transaction.former_files() {
        cx.check()?;
        let FormerFile { mut content, size, revision, is_removed } = former.map_err(ToolError::from)?;
        let kept = history.keep(&mut content, size, Some(revision), durable);
        let (found, kept) = kept.map_err(|error| read_failed(path, error))?;
        if found.is_some_and(|found| found != revision) {
            return Err(changed(path));
        }
        if let Kept::Nowhere(why) = &kept {
            if is_removed {
                let sentence = format!("{path} was not deleted: it could not be brought back, as {why}");
                return Err(ToolError::new(Kind::TooLarge, sentence).hint("nothing was changed; ask the user"));
            }
            is_kept = false;
        }
        is_durable &= kept == Kept::OnDisk;
        if let Some(note) = note_of(&kept).filter(|note| !notes.contains(note)) {
            notes.push(note);
        }
    }
    // Before the first name changes, or a power failure could take a content and what was kept of it.
    if durable == Durable::Soon {
        history.settle().map_err(|error| {
            ToolError::new(Kind::Internal, format!("the history could not be written: {}", error.kind()))
                .hint("nothing was changed; try once more, or ask the user")
        })?;
    }
    Ok((is_kept, is_durable, notes))
}

/// An error after which everything is as it was, as its text says.
pub(crate) fn none_changed(changes: usize, error: ToolError) -> ToolError {
    if changes > 1 { error.followed_by("; none of the files of this call was changed") } else { error }
}

/// Whether nothing was changed as the system renames nothing between two of the directories.
fn crosses_devices(error: &ToolError) -> bool {
    let cause = std::error::Error::source(error).and_then(|cause| cause.downcast_ref::<io::Error>());
    cause.is_some_and(|cause| cause.kind() == io::ErrorKind::CrossesDevices)
}

/// The error of a change that was not rolled back completely.
fn changed_in_part(error: AccessError, left: &[UnrestoredEntry]) -> ToolError {
    const NAMED: usize = 10;
    let mut list: Vec<String> = left.iter().take(NAMED).map(|left| format!("{} {}", left.path, left.how)).collect();
    if left.len() > NAMED {
        list.push(format!("and {} more", left.len() - NAMED));
    }
    let sentence = format!("; every file of this call is as it was, except: {}", list.join("; "));
    ToolError::from(error).followed_by(&sentence)
}

#[cfg(all(test, unix))]
mod tests {
    #![expect(clippy::disallowed_methods, reason = "the tests look from outside and act as another program")]

    use std::{
        collections::BTreeMap,
        fs,
        os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink},
        path::Path,
    };

    use super::*;
    use change_set::Workspace;
    use confined_fs::Access;

    fn context(root: &Path) -> CallContext {
        CallContext::on(Workspace::of_directory(root, Access::ReadWrite))
    }

    fn file(cx: &CallContext, path: &str, base: Option<&str>, new: &str) -> ChangeStep {
        let base = base.map_or(Base::Absent, |old| Base::Revision(Revision::of(old.as_bytes())));
        let target = cx.workspace.writable(&cx.workspace.resolve(path).unwrap()).unwrap();
        let bytes = new.as_bytes().to_vec();
        ChangeStep {
            target,
            change: NewState::Content {
                base,
                content: StepContent::Bytes(bytes),
                rights: Rights::default(),
                like: None,
            },
        }
    }

    fn entry(cx: &CallContext, path: &str) -> WritablePath {
        cx.workspace.writable_entry(&cx.workspace.resolve(path).unwrap()).unwrap()
    }

    fn node(content: &str) -> EntryState {
        EntryState::from(Revision::of(content.as_bytes()))
    }

    fn removed(cx: &CallContext, path: &str, base: EntryState) -> ChangeStep {
        ChangeStep { target: entry(cx, path), change: NewState::Removed { base, is_parent: false } }
    }

    fn moved(cx: &CallContext, from: &str, to: &str, content: &str) -> ChangeStep {
        let change = NewState::Moved { to: entry(cx, to), base: node(content) };
        ChangeStep { target: entry(cx, from), change }
    }

    fn commit(cx: &CallContext, changes: &[ChangeStep]) -> Result<CommittedFiles, ToolError> {
        commit_files(cx, "edit", changes, Undoable::Yes, Approval::by_policy())
    }

    /// Every path below `root` with its content; a directory ends in `/`, a link says where it leads.
    fn tree(root: &Path) -> BTreeMap<String, String> {
        let mut found = BTreeMap::new();
        let mut left = vec![root.to_path_buf()];
        while let Some(dir) = left.pop() {
            for entry in fs::read_dir(dir).unwrap() {
                let path = entry.unwrap().path();
                let shown = path.strip_prefix(root).unwrap().display().to_string();
                let kind = fs::symlink_metadata(&path).unwrap();
                if kind.is_dir() {
                    found.insert(format!("{shown}/"), String::new());
                    left.push(path);
                } else if kind.is_symlink() {
                    found.insert(shown, format!("-> {}", fs::read_link(&path).unwrap().display()));
                } else {
                    found.insert(shown, fs::read_to_string(&path).unwrap());
                }
            }
        }
        found
    }

    fn of(entries: &[(&str, &str)]) -> BTreeMap<String, String> {
        entries.iter().map(|(path, content)| ((*path).to_owned(), (*content).to_owned())).collect()
    }

    #[test]
    fn all_kinds_of_changes_are_made_at_once() {
        let temp = tempfile::tempdir().unwrap();
        let root = temp.path();
        for (path, content) in [("a", "1"), ("b", "2"), ("c", "3"), ("gone/f", "4"), ("kind", "5"), ("x", "6")] {
            fs::create_dir_all(root.join(path).parent().unwrap()).unwrap();
            fs::write(root.join(path), content).unwrap();
        }
        fs::set_permissions(root.join("a"), fs::Permissions::from_mode(0o640)).unwrap();
        symlink("a", root.join("link")).unwrap();
        let inode = fs::metadata(root.join("x")).unwrap().ino();
        let cx = context(root);
        let changes = [
            file(&cx, "a", Some("1"), "one"),
            file(&cx, "new/deep/f", None, "new"),
            moved(&cx, "b", "c", "2"),
            moved(&cx, "c", "b", "3"),
            moved(&cx, "x", "new/y", "6"),
            removed(&cx, "gone/f", node("4")),
            removed(&cx, "gone", EntryState::Directory { rights: Rights::default() }),
            removed(&cx, "kind", node("5")),
            file(&cx, "gone", None, "now a file"),
            removed(&cx, "link", EntryState::Link("a".into())),
            ChangeStep {
                target: entry(&cx, "dir"),
                change: NewState::Created(EntryState::Directory { rights: Rights::of_mode(0o700) }),
            },
            ChangeStep { target: entry(&cx, "other"), change: NewState::Created(EntryState::Link("b".into())) },
        ];
        let done = commit(&cx, &changes).unwrap();
        let expected = of(&[
            ("a", "one"),
            ("b", "3"),
            ("c", "2"),
            ("dir/", ""),
            ("gone", "now a file"),
            ("new/", ""),
            ("new/deep/", ""),
            ("new/deep/f", "new"),
            ("new/y", "6"),
            ("other", "-> b"),
        ]);
        assert_eq!(tree(root), expected);
        assert_eq!(fs::metadata(root.join("new/y")).unwrap().ino(), inode);
        assert_eq!(fs::metadata(root.join("a")).unwrap().mode() & 0o777, 0o640);
        assert_eq!(fs::metadata(root.join("dir")).unwrap().mode() & 0o777, 0o700);
        assert_eq!(done.files.len(), 12);
        assert_eq!(done.notes, [NOT_RECOVERABLE]);
        assert_eq!(cx.session.history.content(Revision::of(b"4")).unwrap(), b"4");
        let (_, change, _) = cx.session.history.undo_list().last(None, |_| true).unwrap();
        // With the two directories that were made for others.
        assert_eq!(change.entries.len(), 14);
    }

    #[test]
    fn stale_file_names_itself_and_nothing_is_touched() {
        let temp = tempfile::tempdir().unwrap();
        let root = temp.path();
        fs::write(root.join("a"), "1").unwrap();
        fs::write(root.join("b"), "2").unwrap();
        let cx = context(root);
        let before = (tree(root), fs::metadata(root.join("a")).unwrap().ino());
        for last in [file(&cx, "b", Some("other"), "x"), removed(&cx, "b", node("other")), moved(&cx, "b", "d", "z")] {
            let error =
                commit(&cx, &[file(&cx, "a", Some("1"), "one"), file(&cx, "n/f", None, "n"), last]).unwrap_err();
            assert_eq!(error.kind(), Kind::Stale);
            assert!(error.text().starts_with("b has changed since it was read; none of the files"), "{}", error.text());
            assert_eq!((tree(root), fs::metadata(root.join("a")).unwrap().ino()), before);
        }
        let taken = commit(&cx, &[file(&cx, "a", Some("1"), "one"), file(&cx, "b", None, "x")]).unwrap_err();
        assert!(taken.text().starts_with("b already exists; none"), "{}", taken.text());
        let full = commit(&cx, &[moved(&cx, "a", "b", "1"), file(&cx, "c", None, "x")]).unwrap_err();
        assert!(full.text().starts_with("b already exists; none"), "{}", full.text());
        let twice = commit(&cx, &[file(&cx, "a", Some("1"), "x"), file(&cx, "a", Some("1"), "y")]).unwrap_err();
        assert!(twice.text().starts_with("a occurs more than once"), "{}", twice.text());
        assert_eq!(tree(root), before.0);
    }

    #[test]
    fn error_after_the_first_names_changed_rolls_everything_back() {
        let temp = tempfile::tempdir().unwrap();
        let root = temp.path();
        for (path, content) in [("a", "1"), ("b", "2"), ("full/f", "3"), ("full/other", "4"), ("m", "5")] {
            fs::create_dir_all(root.join(path).parent().unwrap()).unwrap();
            fs::write(root.join(path), content).unwrap();
        }
        let cx = context(root);
        let before = tree(root);
        let inodes = || ["a", "b", "m", "full"].map(|path| fs::metadata(root.join(path)).unwrap().ino());
        let inodes_before = inodes();
        // The directory is not empty when its turn comes, after moves and removals of files.
        let changes = [
            moved(&cx, "m", "n/m", "5"),
            removed(&cx, "b", node("2")),
            removed(&cx, "full/f", node("3")),
            removed(&cx, "full", EntryState::Directory { rights: Rights::default() }),
            file(&cx, "a", Some("1"), "one"),
        ];
        let error = commit(&cx, &changes).unwrap_err();
        assert!(error.text().starts_with("full has changed since it was read; none"), "{}", error.text());
        assert_eq!((tree(root), inodes()), (before, inodes_before));
    }
}
