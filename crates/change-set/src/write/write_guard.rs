//! Replacing one file, whole: its lock, the check of what is there, and the commit.

use std::io::{self, Read as _, Seek as _};
use std::{cell::RefCell, convert::Infallible, ffi::OsStr, fs::File, sync::Arc};

use beneath::{Attributes, OpenFor, Stat};

use super::content::{ExpectedContent, has_content};
use super::writable_path::not_named;
use super::{
    Approval, Base, EntryLocks, HashedBytes, NewContent, NewDirectory, NewPlace, OpenDirectory, Replacement, Temporary,
    WaitLimit, WritablePath, entry_in_parent, may_be_in_place, may_write, not_replaced,
};
use crate::set::commit_in_place;
use crate::tree::{CreatedTree, NewNode, NewTree, Rights, TreePosition};
use crate::{workspace::Shared, workspace::Workspace};
use beneath::Dir;
use confined_fs::for_changes::IfThere as _;
use confined_fs::for_changes::regular;
use confined_fs::{AccessError, AccessErrorKind, Revision, WorkspacePath, for_changes::AtPath as _};

/// A file that was replaced or made.
#[derive(Debug)]
pub struct Committed {
    /// Whether the file is new.
    pub created: bool,
    /// The revision of its content now.
    pub revision: Revision,
    /// Where it truly is.
    pub path: WorkspacePath,
    /// Directories that were made for it, the outermost first.
    pub made: Vec<NewDirectory>,
    /// Its other names, which keep the former content, as another file has its name now.
    pub other_names: u64,
    /// What was appended.
    pub appended: Option<AppendedBytes>,
}

/// The bytes that an append has put into a file.
#[derive(Debug)]
pub struct AppendedBytes {
    /// Where they begin.
    pub at: u64,
    /// How many there are.
    pub count: usize,
    /// Why these are not all.
    pub error: Option<AccessError>,
    /// The whole content, where another program has appended at the same time.
    pub now: Option<Vec<u8>>,
}

/// One file that only the holder changes, as far as this program's processes go; what it holds has yet to
/// be looked at.
pub struct FileLock {
    shared: Arc<Shared>,
    path: WritablePath,
    held: Arc<EntryLocks>,
}

impl FileLock {
    /// Waits until no other call and no other process has the lock.
    ///
    /// # Errors
    /// `Stopped`, `TooManyWaiting` or `Locked` when it is not free within `wait_limit`.
    pub fn acquire(workspace: &Workspace, path: WritablePath, wait_limit: &WaitLimit) -> Result<Self, AccessError> {
        let shared = Arc::clone(&workspace.shared);
        let held = workspace.hold_recovered(&[path.path()], path.asked(), wait_limit)?;
        Ok(Self::of_held(shared, path, Arc::new(held)))
    }

    /// Of a path whose locks the caller holds.
    pub(crate) fn of_held(shared: Arc<Shared>, path: WritablePath, held: Arc<EntryLocks>) -> Self {
        Self { shared, path, held }
    }

    /// The right to replace the file, if it equals `base`. The lock stays when it does not, and when the
    /// change that was begun with it fails.
    ///
    /// # Errors
    /// `Stale` when its content differs or it is gone, `Exists` when something is there that was not.
    pub fn guard(&self, base: Base) -> Result<WriteGuard<'static>, AccessError> {
        self.checked(base.expected())
    }

    /// As [`Self::guard`], of a path that will be free when the file comes: what is there now goes in the same transaction.
    pub(crate) fn guard_of_freed(&self) -> WriteGuard<'static> {
        self.guard_over_old(None)
    }

    /// As [`Self::guard`], for a file that must hold just that, which saves hashing what is there.
    pub fn guard_over<'b>(&self, now: HashedBytes<'b>) -> Result<WriteGuard<'b>, AccessError> {
        self.checked(Some(ExpectedContent::Bytes(now)))
    }

    /// The right to append `tail` to a file that begins with `known`, and holds no more where that `is_all`. Where the file
    /// has other names, or this system has no such append, the right to replace it, as [`Self::guard_over`].
    pub fn guard_to_append<'b>(
        &self,
        known: HashedBytes<'b>,
        is_all: bool,
        tail: &'b [u8],
    ) -> Result<WriteGuard<'b>, AccessError> {
        let known_now = if is_all { ExpectedContent::Bytes(known) } else { ExpectedContent::Beginning(known) };
        let guard = self.checked(Some(known_now))?;
        let guard = if guard.is_alone() { guard } else { self.guard_over(known)? };
        Ok(WriteGuard { tail: Some(tail), ..guard })
    }

    /// Looks at what is there, under the lock.
    fn checked<'b>(&self, base: Option<ExpectedContent<'b>>) -> Result<WriteGuard<'b>, AccessError> {
        let (path, asked) = (self.path.path(), self.path.asked());
        let stale = || AccessError::new(AccessErrorKind::Stale, asked);
        let Some(file) = path.root().dir().file_beneath(path.relative()).if_there().at(asked)? else {
            return if base.is_none() { Ok(self.guard_over_old(None)) } else { Err(stale()) };
        };
        let stat = beneath::file_stat(&file).at(asked)?;
        regular(&stat, asked)?;
        let Some(expected) = base else { return Err(AccessError::new(AccessErrorKind::Exists, asked)) };
        if stat.is_marked_read_only() {
            return Err(AccessError::new(AccessErrorKind::MarkedReadOnly, asked));
        }
        may_write(path, &stat, asked)?;
        if !expected.is_in(&file).at(asked)? {
            return Err(stale());
        }
        Ok(self.guard_over_old(Some((file, stat, expected))))
    }

    fn guard_over_old<'b>(&self, old: Option<(File, Stat, ExpectedContent<'b>)>) -> WriteGuard<'b> {
        let (shared, locks) = (Arc::clone(&self.shared), Arc::clone(&self.held));
        WriteGuard { shared, path: self.path.clone(), old, rights: Rights::default(), stays: false, tail: None, locks }
    }
}

/// The right to replace one file: its lock is held, and it was what the plan saw.
pub struct WriteGuard<'b> {
    shared: Arc<Shared>,
    path: WritablePath,
    /// The file to be replaced, still open, and what it was when its content was checked.
    old: Option<(File, Stat, ExpectedContent<'b>)>,
    /// Those of the file then; those that are not known are what the umask gives a new file, and what a replaced one has.
    rights: Rights,
    /// Whether the file stays the one that programs have open, if it can.
    stays: bool,
    /// What is appended to the file itself.
    tail: Option<&'b [u8]>,
    locks: Arc<EntryLocks>,
}

/// A file that is about to be replaced.
pub struct PreviousFile<'g> {
    /// Its content, from the beginning.
    pub content: &'g mut dyn io::Read,
    /// Its length in bytes, when it was checked.
    pub size: u64,
    /// Who may do what with it.
    pub rights: Rights,
    /// The revision of its content, when it was checked.
    pub revision: Revision,
    /// The content itself, where the guard was given it and found the file to hold it.
    pub known: Option<HashedBytes<'g>>,
    /// How many other names it has.
    pub other_names: u64,
}

impl WriteGuard<'static> {
    /// Waits for the file's lock, then checks that the file still equals `base`: `Stale` when its
    /// content differs or it is gone, `Exists` when something is there that was not.
    pub fn acquire(workspace: &Workspace, path: WritablePath, base: Base) -> Result<Self, AccessError> {
        Self::acquire_within(workspace, path, base, &WaitLimit::default())
    }

    /// As [`Self::acquire`]; `Stopped`, `TooManyWaiting` or `Locked` when the lock is not free within `wait_limit`.
    pub fn acquire_within(
        workspace: &Workspace,
        path: WritablePath,
        base: Base,
        wait_limit: &WaitLimit,
    ) -> Result<Self, AccessError> {
        FileLock::acquire(workspace, path, wait_limit)?.guard(base)
    }
}

impl<'b> WriteGuard<'b> {
    /// What a commit appends.
    pub fn tail(&self) -> Option<&'b [u8]> {
        self.tail
    }

    /// Whether the file itself may be changed, as it has no other name.
    fn is_alone(&self) -> bool {
        Dir::CHANGES_FILES && self.old.as_ref().is_some_and(|(_, stat, _)| stat.links() == 1)
    }

    /// Closes the file to be replaced, for a transaction of more files than may be open. Returns how it was when it was
    /// checked, with whether its rights change, and the rights of a new file.
    pub(crate) fn into_checked(self) -> (Option<(Stat, Revision, bool)>, Rights) {
        let Self { old, rights, path, .. } = self;
        let checked = old.map(|(file, stat, checked)| {
            let changes = || rights.of_replacement(path.path(), (&file, &stat)) != Attributes::of(&file, &stat);
            let changes = !rights.are_unknown() && changes();
            (stat, checked.revision(), changes)
        });
        (checked, rights)
    }

    /// The real path of the file.
    pub fn path(&self) -> &WorkspacePath {
        self.path.path()
    }

    /// The file that a commit will replace: its content from the beginning, and what it is; none for a new
    /// file. Read it before the commit, which may make it unreachable.
    pub fn previous(&mut self) -> Option<PreviousFile<'_>> {
        let (file, stat, checked) = self.old.as_mut()?;
        file.rewind().ok()?;
        let known = match *checked {
            ExpectedContent::Revision(_) => None,
            ExpectedContent::Bytes(content) | ExpectedContent::Beginning(content) => Some(content),
        };
        Some(PreviousFile {
            content: file,
            size: stat.size,
            rights: Rights::of(self.path.path(), stat, None),
            revision: checked.revision(),
            known,
            other_names: stat.links().saturating_sub(1),
        })
    }

    /// The file will have these rights. Of a mode alone a file that is replaced keeps no more than that.
    #[must_use]
    pub fn with_rights(mut self, rights: Rights) -> Self {
        self.rights = rights;
        self
    }

    /// The file is written in place, where that is safe, as programs may have it open.
    #[must_use]
    pub fn staying(mut self) -> Self {
        self.stays = true;
        self
    }

    /// Makes `bytes` the file's content. Missing directories are made; mode, owner, ACL and user
    /// attributes of a replaced file are kept, set-user-id and set-group-id are not. On an error
    /// nothing has changed.
    pub fn commit(self, bytes: &[u8], approval: Approval) -> Result<Committed, AccessError> {
        let content = NewContent::of(bytes);
        let committed = self.commit_noting(&content, approval, |_| Ok::<_, Infallible>(()), |_| {});
        committed.unwrap_or_else(|never| match never {})
    }

    /// As [`Self::commit`]. `before` is called when the new content is on the disk and nothing has changed yet; its
    /// error ends the commit. `note` is called while the file's lock is still held, so that what is to be remembered
    /// of the new content is remembered before another call or process looks.
    ///
    /// # Errors
    /// Those of `before`; what the commit itself fails with is inside. Of an append a part that was written stays.
    pub fn commit_noting<E>(
        mut self,
        content: &NewContent<'_>,
        _: Approval,
        before: impl FnOnce(Option<PreviousFile<'_>>) -> Result<(), E>,
        note: impl FnOnce(&Committed),
    ) -> Result<Result<Committed, AccessError>, E> {
        let path = self.path.clone();
        if path.path().is_root() {
            return Ok(Err(AccessError::new(AccessErrorKind::IsDirectory, path.asked())));
        }
        if let Some(tail) = self.tail.filter(|_| self.is_alone()) {
            // So that programs that have it open lose nothing.
            let file = match self.open_to_append(tail.len() as u64) {
                Ok(file) => file,
                Err(error) => return Ok(Err(error)),
            };
            before(self.previous())?;
            return Ok(self.append(&file, tail, content).inspect(note));
        }
        // Asks for the rights again: a guard may be old by now, and a nested root may be there.
        let (holder, name) = match OpenDirectory::holding((&self.shared, &self.locks), &path) {
            Ok(Some(holder)) => holder,
            Ok(None) => return self.create_below(content, before, note),
            Err(error) => return Ok(Err(error)),
        };
        let dir = &holder.dir;
        let replacement = match self.replacement(dir, content) {
            Ok(replacement) => replacement,
            Err(error) => return Ok(Err(error)),
        };
        // Here the caller keeps the former content: the slow part is over, and nothing is replaced that is not kept.
        before(self.previous())?;
        let other_names = self.old.as_ref().map_or(0, |(_, stat, _)| stat.links().saturating_sub(1));
        let appended = self.tail.map(|tail| {
            let at = (content.bytes().len() - tail.len()) as u64;
            AppendedBytes { at, count: tail.len(), error: None, now: None }
        });
        let note = |created| {
            let (path, made) = (path.path().clone(), Vec::new());
            let committed = Committed { created, revision: content.revision(), path, made, other_names, appended };
            note(&committed);
            committed
        };
        Ok(match replacement {
            None => self.write_in_place(content, || note(false)),
            Some(temporary) => self.publish(temporary, dir, name).map(|created| {
                // fsync(2): the entry in the directory is on the disk only after a sync of the directory. The file is
                // there for every process already, so a failure undoes nothing.
                let _ = dir.sync();
                note(created)
            }),
        })
    }

    /// Makes the file with the directories that are missing above it, all at once.
    fn create_below<E>(
        self,
        content: &NewContent<'_>,
        before: impl FnOnce(Option<PreviousFile<'_>>) -> Result<(), E>,
        note: impl FnOnce(&Committed),
    ) -> Result<Result<Committed, AccessError>, E> {
        if self.old.is_some() {
            return Ok(Err(AccessError::new(AccessErrorKind::Stale, self.path.asked())));
        }
        let bytes = Box::new(io::Cursor::new(content.bytes().to_vec()));
        let file = NewNode::File { rights: self.rights.clone(), content: bytes };
        let mut nodes = std::iter::once(Ok((TreePosition::top(), file)));
        let held = (&*self.shared, &*self.locks);
        let new = match NewTree::build(held, &self.path, &mut nodes, &WaitLimit::default()) {
            Ok(new) => new,
            Err(error) => return Ok(Err(error)),
        };
        before(None)?;
        Ok(new.publish().map(|CreatedTree { made, .. }| {
            let (path, revision) = (self.path.path().clone(), content.revision());
            let committed = Committed { created: true, revision, path, made, other_names: 0, appended: None };
            note(&committed);
            committed
        }))
    }

    /// The file, open for appending so many bytes, if it is the one that was checked and has no other name by now.
    fn open_to_append(&self, bytes: u64) -> Result<File, AccessError> {
        let asked = self.path.asked();
        // Asks for the rights again, as a commit does.
        let (parent, name) = entry_in_parent(&self.path)?;
        let dir = parent.root().dir().dir_beneath(parent.relative(), OpenFor::Traverse).at(asked)?;
        let file = dir.child_to_change(name, true).at(asked)?;
        let now = beneath::file_stat(&file).at(asked)?;
        let is_it = self.old.as_ref().is_some_and(|(_, stat, _)| now.same_file(stat) && now.links() == 1);
        if !is_it {
            return Err(AccessError::new(AccessErrorKind::Stale, asked));
        }
        // Of what does not fit (`ulimit -f`) the system would take a part.
        let fits = beneath::file_size_limit().is_none_or(|limit| now.size.saturating_add(bytes) <= limit);
        if fits { Ok(file) } else { Err(io::Error::from(io::ErrorKind::FileTooLarge)).at(asked) }
    }

    /// Appends (`O_APPEND`); `whole` is what the file then holds, unless another program appends, too.
    fn append(mut self, file: &File, tail: &[u8], whole: &NewContent<'_>) -> Result<Committed, AccessError> {
        let asked = self.path.asked().clone();
        let (at, count, failed) = beneath::append(file, tail).at(&asked)?;
        if count == 0
            && let Some(error) = failed
        {
            return Err(AccessError::from_io(error, &asked));
        }
        let error = failed.or_else(|| beneath::sync_data(file).err());
        let before = (whole.bytes().len() - tail.len()) as u64;
        let size = beneath::file_stat(file).at(&asked).map(|now| now.size);
        let is_alone = at == before && count == tail.len() && size.is_ok_and(|size| size == whole.bytes().len() as u64);
        let now = self.old.as_mut().filter(|_| !is_alone).and_then(|(file, ..)| {
            let mut bytes = Vec::new();
            file.rewind().and_then(|()| file.read_to_end(&mut bytes)).ok().map(|_| bytes)
        });
        let error = error.map(|error| AccessError::from_io(error, &asked));
        Ok(Committed {
            created: false,
            revision: now.as_deref().map_or_else(|| whole.revision(), Revision::of),
            path: self.path.path().clone(),
            made: Vec::new(),
            other_names: 0,
            appended: Some(AppendedBytes { at, count, error, now }),
        })
    }

    /// The file that takes its place; `None` where it is written itself. Nothing has changed yet.
    fn replacement<'d>(&self, dir: &'d Dir, content: &NewContent<'_>) -> Result<Option<Temporary<'d>>, AccessError> {
        let asked = self.path.asked();
        let place = NewPlace { dir, named: None, path: asked };
        let Some((file, stat, _)) = &self.old else {
            return place.filled(content, None, &self.rights).map(Some);
        };
        let is_recovered = self.shared.intents.are_kept();
        if self.stays && may_be_in_place(asked, stat, is_recovered, "").is_ok() {
            return Ok(None);
        }
        match place.replacement(content, (self.path.path(), file, stat), &self.rights)? {
            Replacement::File(temporary) => Ok(Some(temporary)),
            Replacement::InPlace(why) => may_be_in_place(asked, stat, is_recovered, why).map(|()| None),
        }
    }

    fn write_in_place<T>(&self, content: &NewContent<'_>, note: impl FnOnce() -> T) -> Result<T, AccessError> {
        let stale = || AccessError::new(AccessErrorKind::Stale, self.path.asked());
        let (_, stat, checked) = self.old.as_ref().ok_or_else(stale)?;
        commit_in_place(&self.shared, self.path.path(), (stat, checked.revision()), (content, &self.rights), note)
    }

    /// Gives the temporary file its name; whether the file is new.
    fn publish(&mut self, temporary: Temporary<'_>, dir: &Dir, name: &OsStr) -> Result<bool, AccessError> {
        let asked = self.path.asked();
        let Some((file, stat, checked)) = self.old.take() else {
            temporary.publish_new(name).map_err(|error| not_named(error, asked))?;
            return Ok(true);
        };
        // An open file is not replaced on Windows. Elsewhere the handle keeps its number from being used again.
        let file = (!cfg!(windows)).then_some(file);
        // Most often this is enough, and then nothing that is refused can be seen for a moment.
        if !dir.child_stat(name).is_ok_and(|now| now.same_size_and_time(&stat)) {
            return Err(AccessError::new(AccessErrorKind::Stale, asked));
        }
        let is_base = |dir: &Dir, name: &OsStr| has_content(dir, name, &stat, checked);
        if !temporary.replace(name, is_base).map_err(|error| not_replaced(error, asked, &stat))? {
            return Err(AccessError::new(AccessErrorKind::Stale, asked));
        }
        file.into_iter().for_each(close_late);
        Ok(false)
    }
}

// Closing a replaced file after the answer.
//
// With the last handle of a removed file its blocks and its pages in memory are freed: 0.3 ms for 1 MB on ext4, and
// more while the journal is written. Nothing that a call promises depends on it.

/// Files of one piece of work that wait to be closed.
const MAX_WAITING: usize = 16;

thread_local! {
    static WAITING: RefCell<Option<Vec<File>>> = const { RefCell::new(None) };
}

/// Does `work`, and closes the files that it has replaced when it has ended.
pub fn closing_late<T>(work: impl FnOnce() -> T) -> T {
    struct Closing;
    impl Drop for Closing {
        fn drop(&mut self) {
            let waiting = WAITING.take();
            drop(waiting);
        }
    }
    let _closing = Closing;
    WAITING.set(Some(Vec::new()));
    work()
}

/// Closes a file when the work of this thread has ended; at once where [`closing_late`] is not used, and where many
/// wait already.
fn close_late(file: File) {
    WAITING.with_borrow_mut(|waiting| match waiting {
        Some(waiting) if waiting.len() < MAX_WAITING => waiting.push(file),
        _ => drop(file),
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_wait_until_the_work_has_ended() {
        let count = || WAITING.with_borrow(|waiting| waiting.as_ref().map(Vec::len));
        let file = || tempfile::tempfile().unwrap();
        close_late(file());
        assert_eq!(count(), None);
        closing_late(|| {
            for _ in 0..=MAX_WAITING {
                close_late(file());
            }
            assert_eq!(count(), Some(MAX_WAITING));
        });
        assert_eq!(count(), None);
    }
}
