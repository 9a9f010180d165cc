//! Changing entries, all or none: what they held is kept first, and one undo reverts all of it.

use std::{
    collections::{HashMap, HashSet},
    io,
    sync::Arc,
};

use change_set::{
    Approval, Base, ChangeSet, CommitError, CommittedSet, CreatedTree, Durable, EntryState, FileState, FormerFile,
    NewContent, Node, Purpose, Tree, UnrestoredEntry, WritablePath, WriteGuard,
};
use confined_fs::{AccessError, Revision, WorkspacePath};

use crate::session::Writer;
use crate::session::history::{EntryChange, JournalRecord, Kept, Undoable, UndoableChange};

use super::{
    super::{CallContext, Kind, ToolError, read_before_write},
    begin, changed, durable,
    file::commit_file,
    made_above, note_of, other_names, read_failed, record_directories, record_entries, record_moved, state_now,
    step::{ChangeStep, CommittedFiles},
    tree::{WholeTree, check_capacity, content_mark, is_other, marked, unchanged},
};

/// The note on a change of several files without a journal.
const NOT_RECOVERABLE: &str = "without a state folder, a kill in the middle of such a change can leave a part of it";

/// Makes all of these changes, or none.
///
/// # Errors
/// `stale` where a file is not what the plan saw, which the sentence names: the caller may plan again. After any error
/// everything is as it was, but for what the sentence says.
pub(crate) fn commit_files(
    cx: &CallContext,
    tool: &'static str,
    steps: &[ChangeStep],
    undoable: Undoable,
    approval: Approval,
) -> Result<CommittedFiles, ToolError> {
    // One rename is whole by itself, without an intent that is written and synced first.
    if let [step @ ChangeStep { like: None, .. }] = steps
        && let Some(content) = step.new_content(cx)?
    {
        return commit_content(cx, (tool, undoable), step, &content, approval);
    }
    if let Some(tree) = WholeTree::of(steps) {
        return tree.commit(cx, tool, undoable, approval);
    }
    let split_up = steps.iter().map(|step| of_entries(cx, step)).collect::<Result<Vec<_>, _>>()?;
    let entries = by_entries(steps.iter(), &split_up);
    let [first, second] = approval.for_two_steps();
    match commit_steps(cx, tool, &entries, undoable, (first, MovesBy::Name)) {
        // EXDEV of rename(2), at another device and at another mount of the same one: known only by trying.
        Err(error) if crosses_devices(&error) => {
            if let Some(alone) = LoneMove::of(&entries) {
                return alone.commit(cx, tool, undoable, second);
            }
            let split_up = entries.iter().map(|step| of_moved(cx, step)).collect::<Result<Vec<_>, _>>()?;
            let entries = by_entries(entries.into_iter(), &split_up);
            commit_steps(cx, tool, &entries, undoable, (second, MovesBy::Copy))
        }
        answer => answer,
    }
}

/// Each step, or in its place those of its entries.
fn by_entries<'s>(steps: impl Iterator<Item = &'s ChangeStep>, split_up: &'s [Vec<ChangeStep>]) -> Vec<&'s ChangeStep> {
    let each = steps.zip(split_up);
    each.flat_map(|(step, inside)| if inside.is_empty() { vec![step] } else { inside.iter().collect() }).collect()
}

fn commit_content(
    cx: &CallContext,
    (tool, undoable): (&'static str, Undoable),
    step: &ChangeStep,
    content: &NewContent<'_>,
    approval: Approval,
) -> Result<CommittedFiles, ToolError> {
    let target = step.target.clone();
    let guard = WriteGuard::acquire_within(&cx.workspace, target, base_of(step), &cx.wait_limit())?;
    let guard = guard.with_rights(step.rights());
    let guard = if step.stays { guard.staying() } else { guard };
    let (committed, note) = commit_file(cx, guard, tool, undoable, content, approval)??;
    Ok(CommittedFiles {
        files: vec![(committed.path, Some(committed.revision))],
        notes: note.into_iter().chain(other_names("this file", committed.other_names)).collect(),
        created: CreatedTree { made: committed.made, ..CreatedTree::default() },
        is_durable: cx.session.history.on_disk(),
        ..CommittedFiles::default()
    })
}

fn base_of(step: &ChangeStep) -> Base {
    match &step.change.from {
        Some(EntryState::File(file)) => Base::Revision(file.revision),
        _ => Base::Absent,
    }
}

/// The steps of the entries of a tree that goes or is moved with other steps; none of any other step.
fn of_entries(cx: &CallContext, step: &ChangeStep) -> Result<Vec<ChangeStep>, ToolError> {
    if step.tree.is_none() || step.copies().is_some() {
        return Ok(Vec::new());
    }
    // Without a lock: the set compares each entry once more under its own.
    let state = |target: &WritablePath| state_or_special(cx, target, "deleted");
    if let Some(source) = &step.source {
        unchanged(cx, source, step, Purpose::Move(&step.target))?;
        let is = state_or_special(cx, source, "moved")?;
        return Ok(vec![ChangeStep::move_to(source.clone(), step.target.clone(), is)]);
    }
    let tree = unchanged(cx, &step.target, step, Purpose::Remove)?;
    check_capacity(cx, step.target.asked(), tree.bytes())?;
    let mut paths: Vec<WorkspacePath> = tree.paths().map(|(path, _)| path).collect();
    // The innermost first.
    paths.reverse();
    let removal = |path: &WorkspacePath| {
        cx.check()?;
        let target = cx.workspace.writable_entry(path)?;
        let was = state(&target)?;
        if is_other(step, path, &was) {
            return Err(changed(step.target.asked()));
        }
        Ok(ChangeStep::remove(target, was, false))
    };
    paths.iter().map(removal).collect()
}

fn state_or_special(cx: &CallContext, entry: &WritablePath, verb: &str) -> Result<EntryState, ToolError> {
    let path = entry.asked();
    let special = || {
        ToolError::invalid(format!("{path} is a special file, which is not {verb} together with other entries"))
            .hint("leave it out, or name it alone")
    };
    state_now(cx, entry)?.ok_or_else(special)
}

/// The steps of the entries of a directory that the system does not move; none of any other step.
fn of_moved(cx: &CallContext, step: &ChangeStep) -> Result<Vec<ChangeStep>, ToolError> {
    let Some(source) = step.source.as_ref().filter(|_| matches!(step.change.to, Some(EntryState::Directory { .. })))
    else {
        return Ok(Vec::new());
    };
    let tree = cx.workspace.tree(source, Purpose::Move(&step.target))?;
    let mut steps = Vec::new();
    for ((from, _), (to, _)) in tree.paths().zip(tree.paths_at(step.target.path())) {
        cx.check()?;
        let (from, to) = (cx.workspace.writable_entry(&from)?, cx.workspace.writable_entry(&to)?);
        match state_or_special(cx, &from, "moved")? {
            is @ EntryState::Directory { .. } => {
                steps.extend([ChangeStep::create(to, is.clone()), ChangeStep::remove(from, is, false)]);
            }
            is => steps.push(ChangeStep::move_to(from, to, is)),
        }
    }
    Ok(steps)
}

/// How files and links get to another path.
#[derive(Clone, Copy, PartialEq, Eq)]
enum MovesBy {
    Name,
    Copy,
}

/// A step that is checked and in the set.
struct CheckedStep<'c> {
    step: &'c ChangeStep,
    /// The change as the history has it; none of what another record tells, and where nothing changes.
    change: Option<EntryChange>,
    /// The changes of a copy, the top first.
    copies: Vec<EntryChange>,
    /// What is moved.
    tree: Option<Tree>,
    content: Option<Arc<NewContent<'static>>>,
    is_copied: bool,
    /// Links that are not copied.
    left_out: Vec<WorkspacePath>,
}

fn commit_steps(
    cx: &CallContext,
    tool: &'static str,
    steps: &[&ChangeStep],
    undoable: Undoable,
    (approval, by): (Approval, MovesBy),
) -> Result<CommittedFiles, ToolError> {
    check_once(steps)?;
    let entries: Vec<_> = steps.iter().flat_map(|step| step.paths()).collect();
    let leaving: Vec<_> = steps.iter().filter_map(|step| step.leaves()).collect();
    let over = moved_over(steps);
    let files = steps.len() - over.len();
    let unchanged = |error: AccessError| none_changed(files, error.into());
    let mut set = ChangeSet::acquire(&cx.workspace, &entries, &leaving, cx.wait_limit()).map_err(unchanged)?;
    let (mut checked, mut names) = (Vec::new(), 0);
    for step in steps {
        cx.check()?;
        checked.push(add(cx, &mut set, step, by, &over, &mut names).map_err(unchanged)?);
    }
    // Before the journal, whose records name these contents.
    let (is_kept, is_durable, mut notes) = keep_all(cx, &set)?;
    // A directory that is made is recorded with those that were missing above it.
    let is_late =
        |change: &&EntryChange| change.from.is_none() && matches!(change.to, Some(EntryState::Directory { .. }));
    let left_out: Vec<WorkspacePath> = checked.iter_mut().flat_map(|one| std::mem::take(&mut one.left_out)).collect();
    let changes = checked.iter().flat_map(|one| one.change.iter().chain(&one.copies));
    let early = changes.filter(|change| change.moved_from.is_some() || !is_late(change));
    let (pending, note) = begin(cx, early.flat_map(|change| JournalRecord::of_entry(tool, change)).collect());
    notes.extend(note);
    notes.extend(other_names("these files", names));
    let done = checked.iter().map(CheckedStep::row).collect();
    let is_asked = |made: &WorkspacePath| {
        let names = |step: &&ChangeStep| {
            step.target.path() == made || step.copies().is_some() && made.is_in(step.target.path())
        };
        steps.iter().any(names)
    };
    let record = |committed: &CommittedSet| {
        record_directories(cx, tool, &committed.made);
        let mut entries: Vec<EntryChange> = checked.into_iter().flat_map(|one| one.record(cx, tool)).collect();
        let made = made_above(&committed.made).map(|made| EntryChange { is_parent: !is_asked(&made.path), ..made });
        let made: Vec<EntryChange> = made.collect();
        let late: Vec<JournalRecord> = made.iter().flat_map(|one| JournalRecord::of_entry(tool, one)).collect();
        entries.extend(made);
        if !entries.is_empty() {
            // An undo could not bring back what is kept nowhere.
            let undoable = if is_kept { undoable } else { Undoable::No };
            cx.session.history.made(&pending, UndoableChange { tool, entries: entries.into() }, late, undoable);
        }
    };
    match set.commit(approval, record) {
        Ok(CommittedSet { survives_a_kill, mut made }) => {
            // The name of one file changes at once.
            if files > 1 && !survives_a_kill {
                notes.push(NOT_RECOVERABLE.to_owned());
            }
            let copied = by == MovesBy::Copy;
            made.retain(|one| !is_asked(one.path()));
            let created = CreatedTree { links_left_out: left_out, made, ..CreatedTree::default() };
            Ok(CommittedFiles { files: done, notes, copied, is_durable, created })
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
    fn of(steps: &[&'c ChangeStep]) -> Option<Self> {
        let is_removal =
            |step: &&ChangeStep| step.removes() && matches!(step.change.from, Some(EntryState::Directory { .. }));
        let (removed, others): (Vec<_>, Vec<_>) = steps.iter().copied().partition(is_removal);
        let [moved] = others[..] else { return None };
        let is_directory = moved.source.is_some() && matches!(moved.change.to, Some(EntryState::Directory { .. }));
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
        let done = WholeTree { steps: vec![self.moved] }.commit(cx, tool, undoable, first)?;
        // What was moved is in its place: a directory that stays is no reason to say otherwise.
        if !self.removed.is_empty() {
            let _ = WholeTree::sorted(self.removed).commit(cx, tool, Undoable::No, second);
        }
        Ok(done)
    }
}

/// Refuses a path that occurs twice: the caller has not netted its steps.
fn check_once(steps: &[&ChangeStep]) -> Result<(), ToolError> {
    let (mut going, mut coming) = (HashSet::new(), HashSet::new());
    for step in steps {
        let is_new = step.leaves().is_none_or(|path| going.insert(path.path()))
            && (step.removes() || coming.insert(step.target.path()));
        if !is_new {
            return Err(ToolError::invalid(format!("{} occurs more than once in this change", step.target.asked()))
                .hint("nothing was changed; name each file once"));
        }
    }
    Ok(())
}

/// The files in whose place the same change moves something: one change of both paths, which the move reports.
type MovedOver<'c> = HashMap<&'c WorkspacePath, &'c FileState>;

fn moved_over<'c>(steps: &[&'c ChangeStep]) -> MovedOver<'c> {
    let destinations = steps.iter().filter(|step| step.source.is_some()).map(|step| step.target.path());
    let destinations: HashSet<&WorkspacePath> = destinations.collect();
    let over = steps.iter().filter(|step| step.removes()).filter_map(|step| match &step.change.from {
        Some(EntryState::File(former)) => Some((step.target.path(), former)),
        _ => None,
    });
    over.filter(|(path, _)| destinations.contains(path)).collect()
}

/// Checks one step, and adds it to the set; to `names` how many other names a replaced file has.
fn add<'c>(
    cx: &CallContext,
    set: &mut ChangeSet<'static>,
    step: &'c ChangeStep,
    by: MovesBy,
    over: &MovedOver<'_>,
    names: &mut u64,
) -> Result<CheckedStep<'c>, AccessError> {
    let target = &step.target;
    let mut checked = CheckedStep {
        step,
        change: None,
        copies: Vec::new(),
        tree: None,
        content: None,
        is_copied: false,
        left_out: Vec::new(),
    };
    if let Some(tree) = step.copies() {
        (checked.copies, checked.left_out) = set.add_copy(tree, target)?;
        return Ok(checked);
    }
    if let Some(content) = step.new_content(cx)? {
        let mut guard = set.guard(target, base_of(step))?.with_rights(step.rights());
        let before =
            guard.previous().map(|old| (FileState { revision: old.revision, rights: old.rights }, old.other_names));
        set.write(guard, Arc::clone(&content), step.like.clone());
        let revision = content.revision();
        checked.content = Some(content);
        if before.as_ref().is_none_or(|(before, _)| before.revision != revision) {
            *names += before.as_ref().map_or(0, |(_, names)| *names);
            let was = before.map(|(before, _)| EntryState::File(before));
            checked.change = Some(EntryChange::new(target.path(), was, Some(revision.into())));
        }
        return Ok(checked);
    }
    match (&step.source, &step.change.from, &step.change.to) {
        (Some(source), _, Some(is)) => {
            let tree = cx.workspace.tree(source, Purpose::Move(target))?;
            // A directory is never copied here: its rename fails as before, and the call with it.
            checked.is_copied = by == MovesBy::Copy && !matches!(is, EntryState::Directory { .. });
            if checked.is_copied {
                set.move_by_copy(source, target, is.clone())?;
            } else {
                set.move_to(source, target, is.clone())?;
            }
            let replaced = over.get(target.path()).map(|former| EntryState::File((*former).clone()));
            let (is, mark) = marked(tree.node(), tree.content_mark());
            checked.change =
                Some(EntryChange { from: replaced, to: Some(is), mark: Some(mark), ..step.change.clone() });
            checked.tree = Some(tree);
        }
        (None, Some(base), None) => {
            // For its refusals alone: policy may protect the entry.
            let tree = cx.workspace.tree(target, Purpose::Remove)?;
            let links = if let Node::File(stat) = tree.node() { stat.links() } else { 0 };
            let was = set.remove(target, base.clone())?;
            if over.contains_key(target.path()) {
                *names += links.saturating_sub(1);
            } else {
                checked.change = Some(EntryChange { from: Some(was), ..step.change.clone() });
            }
        }
        (None, Some(_), Some(_)) => set.give(target, step.rights())?,
        (_, _, Some(is)) => {
            set.create(target, is.clone())?;
            checked.change = Some(step.change.clone());
        }
        (.., None) => {}
    }
    Ok(checked)
}

impl CheckedStep<'_> {
    fn row(&self) -> (WorkspacePath, Option<Revision>) {
        (self.step.target.path().clone(), self.content.as_ref().map(|content| content.revision()))
    }

    /// Reports a step that was made to the ledger, the audit and the listeners. Returns how it is undone.
    fn record(self, cx: &CallContext, tool: &'static str) -> Vec<EntryChange> {
        let Some(source) = self.step.copies() else { return self.record_one(cx, tool).into_iter().collect() };
        read_before_write::carry_seen(cx, source, self.step.target.path());
        let mut made = self.copies;
        // A directory is reported and undone with those that were missing above it.
        made.retain(|entry| !matches!(entry.to, Some(EntryState::Directory { .. })));
        for entry in &made {
            record_entries(cx, tool, std::slice::from_ref(entry), &[]);
        }
        made
    }

    fn record_one(self, cx: &CallContext, tool: &'static str) -> Option<EntryChange> {
        let Self { step, change, tree, content, is_copied, .. } = self;
        let path = step.target.path();
        if let Some(content) = &content {
            let was = match change.as_ref().map_or(&step.change.from, |change| &change.from) {
                Some(EntryState::File(file)) => Some(file.revision),
                _ => None,
            };
            let writer = Writer::Call(cx.by.as_ref(), was);
            cx.session.ledger.record_write(path, content.revision(), Some(content.bytes()), writer);
        }
        let change = change?;
        if let Some((tree, source)) = tree.zip(step.source.as_ref()) {
            // Another file by now, so another mark.
            let mark = if is_copied { content_mark(cx, &step.target, source) } else { change.mark };
            let replaced = match &change.from {
                Some(EntryState::File(former)) => Some(former.revision),
                _ => None,
            };
            record_moved(cx, tool, &tree, path, replaced, &[]);
            read_before_write::carry_seen(cx, &tree, path);
            return Some(EntryChange { to: mark.map(|mark| marked(tree.node(), mark).0), mark, ..change });
        }
        // A directory is reported and undone with those that were missing above it.
        if change.from.is_none() && matches!(change.to, Some(EntryState::Directory { .. })) {
            return None;
        }
        record_entries(cx, tool, std::slice::from_ref(&change), &[]);
        Some(change)
    }
}

/// Keeps every content that is replaced or removed. Returns whether all are kept, whether on the disk, and notes for the answer.
///
/// # Errors
/// When the content of a removed file cannot be kept: it would be lost.
fn keep_all(cx: &CallContext, set: &ChangeSet<'_>) -> Result<(bool, bool, Vec<String>), ToolError> {
    let history = &cx.session.history;
    let durable = durable(set.former_files().count());
    let (mut is_kept, mut is_durable, mut notes) = (true, true, Vec::new());
    for (path, former) in set.former_files() {
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
    use change_set::{Rights, Workspace};
    use confined_fs::Access;

    fn context(root: &Path) -> CallContext {
        CallContext::on(Workspace::of_directory(root, Access::ReadWrite))
    }

    fn file(cx: &CallContext, path: &str, base: Option<&str>, new: &str) -> ChangeStep {
        let base = base.map_or(Base::Absent, |old| Base::Revision(Revision::of(old.as_bytes())));
        let target = cx.workspace.writable(&cx.workspace.resolve(path).unwrap()).unwrap();
        ChangeStep::write(target, base, new.as_bytes().to_vec(), Rights::default())
    }

    fn entry(cx: &CallContext, path: &str) -> WritablePath {
        cx.workspace.writable_entry(&cx.workspace.resolve(path).unwrap()).unwrap()
    }

    fn node(content: &str) -> EntryState {
        EntryState::from(Revision::of(content.as_bytes()))
    }

    fn removed(cx: &CallContext, path: &str, base: EntryState) -> ChangeStep {
        ChangeStep::remove(entry(cx, path), base, false)
    }

    fn moved(cx: &CallContext, from: &str, to: &str, content: &str) -> ChangeStep {
        ChangeStep::move_to(entry(cx, from), entry(cx, to), node(content))
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
            ChangeStep::create(entry(&cx, "dir"), EntryState::Directory { rights: Rights::of_mode(0o700) }),
            ChangeStep::create(entry(&cx, "other"), EntryState::Link("b".into())),
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
    fn what_has_changed_since_it_was_planned_is_neither_deleted_nor_moved_over_something() {
        let temp = tempfile::tempdir().unwrap();
        let root = temp.path();
        for name in ["a", "b", "over"] {
            fs::write(root.join(name), name).unwrap();
        }
        let cx = context(root);
        let listed = |path: &str| cx.workspace.tree(&entry(&cx, path), Purpose::Remove).unwrap();
        let gone = |path: &str, content| ChangeStep::remove_tree(entry(&cx, path), listed(path), content);
        let steps = [gone("a", None), gone("b", None)];
        let other_content = [gone("a", None), gone("b", Some(Revision::of(b"read before")))];
        let to = entry(&cx, "over");
        let over = [ChangeStep::move_tree(entry(&cx, "b"), to, listed("b")), removed(&cx, "over", node("over"))];
        fs::write(root.join("b"), "by a person").unwrap();
        let now = tree(root);
        for steps in [&steps, &over] {
            let error = commit(&cx, steps).unwrap_err();
            assert!(error.text().starts_with("b has changed during the call"), "{}", error.text());
            assert_eq!(tree(root), now);
        }
        fs::write(root.join("b"), "b").unwrap();
        let error = commit(&cx, &other_content).unwrap_err();
        assert!(error.text().starts_with("b has changed during the call"), "{}", error.text());
        commit(&cx, &[gone("a", None), gone("b", Some(Revision::of(b"b")))]).unwrap();
        assert!(!root.join("a").exists() && !root.join("b").exists());
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
