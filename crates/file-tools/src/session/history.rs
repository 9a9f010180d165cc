//! Nothing is lost: former contents, a journal of changes, and what this session can still undo.
//!
//! Before a file is replaced, moved over or deleted, its content is kept: in the state folder, where
//! it outlives the server, or else in memory. Content is kept once, however many changes it had;
//! the oldest goes first when a bound is reached. How a change is made or reverted is decided above.

use std::{
    collections::{HashMap, VecDeque},
    hash::{BuildHasher as _, RandomState},
    io::{self, Read},
    sync::{
        Arc, Mutex, OnceLock, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

pub use change_set::{AppendedPart, EntryChange};
use change_set::{Durable, HashedBytes, StateDir};
use confined_fs::{Revision, WorkspacePath};

use disk_store::DiskStore;

mod disk_store;
mod journal;
mod purge;
mod undo;

pub use disk_store::HistoryLimits;
pub(crate) use journal::PURGED;
pub use journal::{JournalRecord, RecordKind, now};
pub(crate) use purge::{JournalLine, KeptContents};
pub use undo::{CheckpointName, CheckpointNameError, Checkpoints, MadeChange, UndoList, Undoable, UndoableChange};

/// Why a content is kept nowhere, where there is no state folder.
const TOO_LARGE: &str = "it is too large to be kept in memory";

/// Where a content is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kept {
    /// In the state folder.
    OnDisk,
    /// In memory, until the server ends or newer contents need the room; with the reason, where the
    /// state folder should have taken it.
    InMemory(Option<String>),
    /// Nowhere, for this reason.
    Nowhere(String),
}

/// Who asks for a checkpoint by its name. Those that the command made are the person's: no call of a model moves one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckpointAsker<'a> {
    /// The person at the command line, whose own come first.
    Person,
    /// A caller with this name, as far as it is known: its own come first, then the person's.
    Model(Option<&'a str>),
}

/// The history of changes; shared by all calls of a session.
#[derive(Debug)]
pub struct History {
    store: Option<DiskStore>,
    memory: Mutex<MemoryStore>,
    /// Names this process in the journal.
    session: Arc<str>,
    /// The client of this process, once that is known.
    client: OnceLock<String>,
    next: AtomicU64,
    undoable: Mutex<UndoList>,
}

/// A change that is in the journal and is about to be made.
#[derive(Debug)]
#[must_use = "a change is either done or void"]
pub struct PendingChange {
    number: u64,
    recorded: bool,
    /// Who makes it, as far as that is known.
    by: Option<Arc<str>>,
}

impl History {
    /// A history that keeps contents in `state`, as far as `limits` allow, and otherwise in memory.
    /// Nothing is made in the folder before there is something to keep.
    pub fn new(state: Option<&StateDir>, limits: &HistoryLimits) -> Self {
        let store = state.filter(|_| limits.on_disk).and_then(|state| {
            let failed = |error: &io::Error| tracing::warn!(%error, "former contents are kept in memory only");
            state.try_clone().inspect_err(failed).ok().map(|state| DiskStore::new(state, limits.clone()))
        });
        Self {
            store,
            memory: Mutex::default(),
            // Random enough to tell processes apart; it protects nothing.
            session: format!("{:016x}", RandomState::new().hash_one(0)).into(),
            client: OnceLock::new(),
            next: AtomicU64::new(1),
            undoable: Mutex::default(),
        }
    }

    /// Whether contents are kept on the disk.
    pub fn on_disk(&self) -> bool {
        self.store.is_some()
    }

    /// Bytes of the largest set of contents that one change may count on being kept.
    pub fn capacity(&self) -> u64 {
        self.store.as_ref().map_or(MEMORY_EACH as u64, DiskStore::capacity)
    }

    /// Keeps a content of about `size` bytes, which is believed to be at `known`, and says what it
    /// truly was.
    ///
    /// # Errors
    /// When the content cannot be read. That it cannot be kept is an answer.
    pub fn keep(
        &self,
        content: &mut dyn Read,
        size: u64,
        known: Option<Revision>,
        durable: Durable,
    ) -> io::Result<(Option<Revision>, Kept)> {
        if let (Some(store), Some(known)) = (&self.store, known)
            && store.keeps(known)
        {
            return Ok((Some(known), Kept::OnDisk));
        }
        if size > MEMORY_EACH as u64 {
            let Some(store) = &self.store else {
                return Ok((None, Kept::Nowhere(TOO_LARGE.to_owned())));
            };
            return Ok(match store.keep(content, durable) {
                Ok(revision) => (Some(revision), Kept::OnDisk),
                Err(error) => (None, Kept::Nowhere(reason(&error))),
            });
        }
        let mut bytes = Vec::new();
        // It may have grown since its size was read; twice as much is the most that is held.
        content.take(2 * MEMORY_EACH as u64).read_to_end(&mut bytes)?;
        let revision = Revision::of(&bytes);
        let kept = match &self.store {
            None => self.remember(revision, bytes.into(), None),
            Some(store) => match store.keep(&mut bytes.as_slice(), durable) {
                Ok(_) => Kept::OnDisk,
                Err(error) => self.remember(revision, bytes.into(), Some(reason(&error))),
            },
        };
        Ok((Some(revision), kept))
    }

    /// Keeps a content whose revision is known; on the disk, where it is kept there, when it returns.
    /// `held` is the same content where somebody holds it already, so that memory has it once.
    pub fn keep_content(&self, content: HashedBytes<'_>, held: Option<Arc<[u8]>>) -> Kept {
        let (bytes, revision) = (content.bytes(), content.revision());
        let why = match &self.store {
            None => None,
            Some(store) if store.keeps(revision) => return Kept::OnDisk,
            Some(store) => match store.keep_content(content) {
                Ok(()) => return Kept::OnDisk,
                Err(error) => Some(reason(&error)),
            },
        };
        if bytes.len() > MEMORY_EACH {
            return Kept::Nowhere(why.unwrap_or_else(|| TOO_LARGE.to_owned()));
        }
        self.remember(revision, held.unwrap_or_else(|| Arc::from(bytes)), why)
    }

    /// Puts on the disk what was kept [`Durable::Soon`]; to be called before anything is removed.
    pub fn settle(&self) -> io::Result<()> {
        self.store.as_ref().map_or(Ok(()), DiskStore::settle)
    }

    fn remember(&self, revision: Revision, bytes: Arc<[u8]>, why: Option<String>) -> Kept {
        if self.memory().insert(revision, bytes) {
            Kept::InMemory(why)
        } else {
            Kept::Nowhere(why.unwrap_or_else(|| TOO_LARGE.to_owned()))
        }
    }

    /// A kept content, if it is still there.
    pub fn content(&self, revision: Revision) -> Option<Vec<u8>> {
        // Memory first: that takes no system call.
        let remembered = self.memory().content(revision);
        remembered.or_else(|| self.store.as_ref()?.content(revision))
    }

    /// Keeps the bytes that an append puts into a file, for its undo.
    pub fn keep_appended(&self, at: u64, bytes: &[u8]) -> AppendedPart {
        let bytes = HashedBytes::of(bytes);
        // Without them the file goes back whole, if it is what the append left.
        let _ = self.keep_content(bytes, None);
        AppendedPart { at, tail: bytes.revision() }
    }

    /// The content `now` of a file without the bytes that an append has put into it; `None` where it is not known which
    /// those are.
    pub fn without(&self, now: &[u8], AppendedPart { at, tail }: AppendedPart) -> Option<Vec<u8>> {
        let (tail, from) = (self.content(tail)?, usize::try_from(at).ok()?);
        let rest = now.get(from..)?;
        // Elsewhere where another program appended at the same moment.
        let mut places = memchr::memmem::find_iter(rest, &tail);
        let place = places.next().filter(|place| *place == 0 || places.next().is_none())?;
        Some([&now[..from + place], &rest[place + tail.len()..]].concat())
    }

    /// Writes down what `by` is about to do; on the disk when it returns.
    ///
    /// # Errors
    /// When the journal cannot be written; nothing is pending then.
    pub fn begin(
        &self,
        records: impl IntoIterator<Item = JournalRecord>,
        by: Option<&Arc<str>>,
    ) -> io::Result<PendingChange> {
        let mut pending = self.unrecorded(by);
        if let Some(store) = &self.store {
            pending.recorded = store.write_down(self.lines(records, &pending))?;
        }
        Ok(pending)
    }

    fn lines(
        &self,
        records: impl IntoIterator<Item = JournalRecord>,
        pending: &PendingChange,
    ) -> impl Iterator<Item = JournalRecord> {
        let by = pending.by.as_deref().map(str::to_owned);
        let line = move |record| JournalRecord { by: by.clone(), client: self.client.get().cloned(), ..record };
        records.into_iter().map(move |record| line(record).of(&self.session, pending.number))
    }

    /// A change by `by` that is made without a line in the journal, as that could not be written.
    pub fn unrecorded(&self, by: Option<&Arc<str>>) -> PendingChange {
        // With a number all the same: it gives the place on the list.
        PendingChange { number: self.next.fetch_add(1, Ordering::Relaxed), recorded: false, by: by.cloned() }
    }

    /// The change was made: writes down the records of what was `late` to be known, and puts it on the list as `undoable`
    /// says.
    pub fn made(
        &self,
        pending: &PendingChange,
        change: UndoableChange,
        late: impl IntoIterator<Item = JournalRecord>,
        undoable: Undoable,
    ) {
        self.write_late(self.lines(late, pending), "the journal does not have all that a change made");
        let is_undo = undoable == Undoable::AsUndo;
        if is_undo {
            self.take_back(&self.session, pending.number);
        }
        if undoable != Undoable::No {
            self.undo_list().push(pending.number, change, pending.by.clone(), undoable);
        }
    }

    /// The state just before the change with the number `first`, or now for 0, which a person asks for, has this name
    /// from now on, for all sessions of the roots with these keys. Whether `by` had given it to another state before.
    ///
    /// # Errors
    /// When the journal cannot be written: only this session knows the name then.
    pub fn set_checkpoint(
        &self,
        name: &CheckpointName,
        first: u64,
        roots: &[&str],
        by: Option<&Arc<str>>,
    ) -> io::Result<bool> {
        let mut is_moved = self.undo_list().checkpoints.set(name.clone(), first);
        if let Some(store) = &self.store {
            let is_same = |other: &JournalRecord| {
                let is_same = (other.change == 0) == (first == 0) && other.by.as_deref() == by.map(|by| &**by);
                is_same.then_some(0)
            };
            is_moved |= store.since_checkpoint(roots, name.as_str(), is_same).is_ok_and(|found| found.is_some());
            let pending = PendingChange { number: first, recorded: false, by: by.cloned() };
            store.write_down(self.lines(roots.iter().map(|root| JournalRecord::checkpoint(root, name)), &pending))?;
        }
        Ok(is_moved)
    }

    /// This process serves the client of this name.
    pub fn set_client(&self, name: String) {
        self.client.get_or_init(|| name);
    }

    /// The record of the newest checkpoint of this name that comes first for `asker`, and the records of what was changed
    /// since the state that it names, by whichever session, oldest first: each change where its first line is, which was
    /// written under its locks.
    pub fn since_checkpoint(
        &self,
        name: &str,
        roots: &[&str],
        asker: CheckpointAsker<'_>,
    ) -> io::Result<Option<(JournalRecord, Vec<JournalRecord>)>> {
        let rank = |record: &JournalRecord| match (asker, record.change) {
            (CheckpointAsker::Person, 0) => Some(0),
            (CheckpointAsker::Model(by), 1..) if record.by.as_deref() == by => Some(0),
            (_, 0) => Some(1),
            _ => Some(2),
        };
        self.store.as_ref().map_or(Ok(None), |store| store.since_checkpoint(roots, name, rank))
    }

    /// The process, and who it acted for, that made the file at the real path `path` what it is at each of `revisions`, if
    /// the journal has it since yesterday and it was another one.
    pub fn other_makers(&self, path: &WorkspacePath, revisions: &[Revision]) -> HashMap<Revision, String> {
        let newest = self.store.iter().flat_map(|store| store.newest(path, revisions));
        let others = newest.filter(|(_, record)| *record.session != *self.session);
        others.map(|(revision, record)| (revision, record.maker())).collect()
    }

    /// Whether a content is still kept.
    pub fn has_content(&self, revision: Revision) -> bool {
        self.memory().content(revision).is_some() || self.store.as_ref().is_some_and(|store| store.keeps(revision))
    }

    /// The change was not made after all.
    pub fn void(&self, pending: &PendingChange) {
        if pending.recorded {
            let record = JournalRecord::gone(RecordKind::Void, &self.session, pending.number);
            self.write_late([record], "the journal holds a change that was not made");
        }
    }

    /// The change with this number of `session` was taken back by a plain undo, or is one: none takes it back again.
    pub fn take_back(&self, session: &str, number: u64) {
        if session == &*self.session {
            self.undo_list().take_back(number);
        }
        let record = JournalRecord::gone(RecordKind::Undone, session, number);
        self.write_late([record], "another process may take a change back once more");
    }

    /// Writes lines down once a change is made, or is not: an error is no reason to say otherwise.
    fn write_late(&self, records: impl IntoIterator<Item = JournalRecord>, without: &'static str) {
        if let Some(store) = &self.store
            && let Err(error) = store.write_down(records)
        {
            tracing::debug!(%error, "{without}");
        }
    }

    /// The number that the next change gets.
    pub fn position(&self) -> u64 {
        self.next.load(Ordering::Relaxed)
    }

    /// Names this process in the journal.
    pub fn session(&self) -> &Arc<str> {
        &self.session
    }

    /// The recorded changes below the roots with these keys, oldest first, without those of which a line of a kind in `gone`
    /// says that they were never made, or were taken back. Reads the whole journal.
    pub fn records(&self, roots: &[&str], gone: &[RecordKind]) -> io::Result<Vec<JournalRecord>> {
        self.store.as_ref().map_or_else(|| Ok(Vec::new()), |store| store.records(roots, gone))
    }

    /// Forgets all contents that are in memory.
    pub(super) fn forget(&self) {
        *self.memory() = MemoryStore::default();
        self.undo_list().forget_contents();
    }

    fn memory(&self) -> std::sync::MutexGuard<'_, MemoryStore> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The changes of this session, locked: not to be held while another method of the history is called.
    pub fn undo_list(&self) -> std::sync::MutexGuard<'_, UndoList> {
        self.undoable.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Why a content could not be kept, as the end of a sentence.
fn reason(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::FileTooLarge => "it is larger than half of the history's size limit".to_owned(),
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => "the disk with the history is full".to_owned(),
        kind => format!("the history could not be written: {kind}"),
    }
}

// Contents kept in memory: the newest that fit.

/// Bytes kept in all.
const MEMORY_TOTAL: usize = 16 << 20;
/// Bytes of the largest content.
const MEMORY_EACH: usize = 4 << 20;

/// A bounded set of contents; the oldest gives way.
#[derive(Debug, Default)]
struct MemoryStore {
    contents: HashMap<Revision, Arc<[u8]>>,
    order: VecDeque<Revision>,
    total: usize,
}

impl MemoryStore {
    /// Keeps a content as the newest; false when it is too large.
    fn insert(&mut self, revision: Revision, bytes: Arc<[u8]>) -> bool {
        if bytes.len() > MEMORY_EACH {
            return false;
        }
        // What is kept once more is the newest again.
        self.order.retain(|other| *other != revision);
        self.order.push_back(revision);
        if !self.contents.contains_key(&revision) {
            self.total += bytes.len();
            self.contents.insert(revision, bytes);
        }
        while self.total > MEMORY_TOTAL {
            let Some(oldest) = self.order.pop_front() else { break };
            self.total -= self.contents.remove(&oldest).map_or(0, |bytes| bytes.len());
        }
        true
    }

    /// The content, if it is still kept.
    fn content(&self, revision: Revision) -> Option<Vec<u8>> {
        self.contents.get(&revision).map(|bytes| bytes.to_vec())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn oldest_content_is_evicted_and_renewed_one_kept() {
        let mut memory = MemoryStore::default();
        let revision = |n: u8| Revision::of(&[n]);
        for n in 0..4 {
            assert!(memory.insert(revision(n), vec![n; MEMORY_EACH].into()));
        }
        assert!(memory.insert(revision(0), vec![0; MEMORY_EACH].into()));
        assert!(memory.insert(revision(4), vec![4; MEMORY_EACH].into()));
        assert!(memory.content(revision(1)).is_none());
        for n in [0, 2, 3, 4] {
            assert_eq!(memory.content(revision(n)).unwrap()[0], n);
        }
        assert!(memory.total <= MEMORY_TOTAL);
        assert!(!memory.insert(revision(9), vec![0; MEMORY_EACH + 1].into()));
    }
}
