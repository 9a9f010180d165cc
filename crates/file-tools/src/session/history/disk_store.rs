//! The history on the disk: objects and one journal a day, in a folder of the state folder.
//!
//! Files are dropped oldest first, when they are older than the age limit or all of them together
//! are larger than the size limit. Several processes may use one folder at a time.

use std::{
    collections::{HashMap, HashSet},
    io::{self, Read},
    sync::{Mutex, PoisonError},
    time::{Duration, SystemTime},
};

use change_set::{Durable, HashedBytes, StateDir};
use confined_fs::{Revision, WorkspacePath};

use super::journal::{JournalRecord, RecordKind, now};

/// The folder below the state folder.
pub(super) const FOLDER: &str = "history";
/// Prefix of a journal's name; its day since 1970 follows.
const JOURNAL: &str = "changes-";
/// Holds when the folder was swept, and a line for each addition since, with its bytes.
const SWEPT: &str = "swept";
const MAX_MARKER_BYTES: u64 = 64 << 10;
/// About what a change adds to the journal.
const LINE: u64 = 400;
/// The folder is looked through at least this often while it is used.
const SWEEP_EVERY: Duration = Duration::from_secs(60 * 60);
/// An eighth of the size limit may be added between two sweeps, which leave seven eighths.
const EIGHTH: u64 = 8;
const DAY: u64 = 24 * 60 * 60;
/// Bytes of one day's journal that are read.
const MAX_JOURNAL_BYTES: u64 = 64 << 20;

/// Bounds of the history on the disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HistoryLimits {
    /// Whether anything is kept on the disk at all.
    pub on_disk: bool,
    /// Bytes in all. No single content may have more than half of it.
    pub bytes: u64,
    /// How long a content is kept.
    pub age: Duration,
}

impl Default for HistoryLimits {
    fn default() -> Self {
        Self { on_disk: true, bytes: 256 << 20, age: Duration::from_secs(30 * 24 * 60 * 60) }
    }
}

/// The store; its folder is made when the first content is kept.
#[derive(Debug)]
pub(super) struct DiskStore {
    state: StateDir,
    limits: HistoryLimits,
    folder: Mutex<Option<StateDir>>,
}

impl DiskStore {
    pub(super) fn new(state: StateDir, limits: HistoryLimits) -> Self {
        Self { state, limits, folder: Mutex::default() }
    }

    /// Bytes of the largest content.
    pub(super) fn capacity(&self) -> u64 {
        self.limits.bytes / 2
    }

    pub(super) fn keep(&self, content: &mut dyn Read, durable: Durable) -> io::Result<Revision> {
        let folder = self.folder()?;
        // At most half of the bound for one content, or it would drive out all that came before.
        let (revision, size) = folder.store(content, self.capacity(), durable)?;
        self.added(&folder, size);
        Ok(revision)
    }

    /// Keeps a content whose revision is known; on the disk when it returns.
    pub(super) fn keep_content(&self, content: HashedBytes<'_>) -> io::Result<()> {
        let folder = self.folder()?;
        folder.store_content(content, self.capacity())?;
        self.added(&folder, content.bytes().len() as u64);
        Ok(())
    }

    /// Puts on the disk what was kept without waiting for it.
    pub(super) fn settle(&self) -> io::Result<()> {
        self.folder()?.sync()
    }

    /// Whether a content is kept already; if so it counts as new.
    pub(super) fn keeps(&self, revision: Revision) -> bool {
        self.folder().is_ok_and(|folder| folder.refresh(revision))
    }

    pub(super) fn content(&self, revision: Revision) -> Option<Vec<u8>> {
        self.folder().ok()?.object(revision, self.limits.bytes).ok()
    }

    /// Writes lines to today's journal, all in one piece; on the disk when it returns, if any of them
    /// is about something that is going to be lost. False when there is nothing to write.
    pub(super) fn write_down(&self, records: impl IntoIterator<Item = JournalRecord>) -> io::Result<bool> {
        let (mut lines, mut loss) = (String::new(), false);
        for record in records {
            loss |= record.is_of_loss();
            lines.push_str(&record.line());
        }
        if lines.is_empty() {
            return Ok(false);
        }
        // The last line may be that of a process which was killed in the middle of it.
        lines.insert(0, '\n');
        let folder = self.folder()?;
        let journal = file_of_day(now() / DAY);
        if loss {
            folder.append_synced(&journal, lines.as_bytes())?;
        } else {
            folder.append(&journal, lines.as_bytes())?;
        }
        Ok(true)
    }

    /// Every record of these roots, oldest first, without changes of which a line of a kind in `gone` says that they are.
    pub(super) fn records(&self, roots: &[&str], gone: &[RecordKind]) -> io::Result<Vec<JournalRecord>> {
        let folder = self.folder()?;
        let mut records = Vec::new();
        for day in days(&folder)? {
            records.extend(records_of_day(&folder, day)?);
        }
        Ok(without(gone, records, roots))
    }

    /// The newest checkpoint of this name of those with the lowest `rank`, 0 being the first, and the changes that were begun
    /// after the state that it names, oldest first. None without one that has a rank. Looks at no more days than it takes.
    pub(super) fn since_checkpoint(
        &self,
        roots: &[&str],
        name: &str,
        rank: impl Fn(&JournalRecord) -> Option<u8>,
    ) -> io::Result<Option<(JournalRecord, Vec<JournalRecord>)>> {
        let rank = |record: &JournalRecord| {
            let is_named = record.kind == RecordKind::Checkpoint && record.shown == name;
            rank(record).filter(|_| is_named && roots.contains(&record.root.as_str()))
        };
        let folder = self.folder()?;
        let mut days = days(&folder)?.into_iter().rev();
        let (mut all, mut best) = (Vec::new(), None);
        while best.as_ref().is_none_or(|(rank, _)| *rank > 0)
            && let Some(day) = days.next()
        {
            let mut records = records_of_day(&folder, day)?;
            let ranked = records.iter().rev().filter_map(|record| Some((rank(record)?, record)));
            let found = ranked.min_by_key(|(rank, _)| *rank).map(|(rank, record)| (rank, record.clone()));
            // Of an equal rank the one of the later day, which is there already.
            best = best.into_iter().chain(found).min_by_key(|(rank, _)| *rank);
            records.append(&mut all);
            all = records;
        }
        let Some((first_rank, checkpoint)) = best else { return Ok(None) };
        // The lines of the call that made it come before its own, maybe on the day before.
        if let Some(day) = days.next().filter(|_| checkpoint.change > 0) {
            all.splice(..0, records_of_day(&folder, day)?);
        }
        all = without(&[RecordKind::Void], all, roots);
        let line = all.iter().rposition(|record| rank(record) == Some(first_rank)).unwrap_or(0);
        let is_of_call = |record: &JournalRecord| {
            record.is_of_entry() && record.session == checkpoint.session && record.change >= checkpoint.change
        };
        let first = all.iter().position(is_of_call).filter(|_| checkpoint.change > 0);
        let since = all.split_off(first.map_or(line, |first| first.min(line)));
        let earlier: HashSet<(&str, u64)> = all.iter().map(JournalRecord::key).collect();
        let is_later = |record: &JournalRecord| record.is_of_entry() && !earlier.contains(&record.key());
        Ok(Some((checkpoint, since.into_iter().filter(is_later).collect())))
    }

    /// The newest record of today or yesterday that made the file at the real path `path` what it is at each of
    /// `revisions`. Lines without one are not parsed, and a day is read only for what the later one has not.
    pub(super) fn newest(&self, path: &WorkspacePath, revisions: &[Revision]) -> HashMap<Revision, JournalRecord> {
        let (today, mut found) = (now() / DAY, HashMap::new());
        let digits: Vec<String> = revisions.iter().map(ToString::to_string).collect();
        for day in [today, today.saturating_sub(1)] {
            let read = |folder: StateDir| folder.read(&file_of_day(day), MAX_JOURNAL_BYTES);
            let bytes =
                if found.len() < digits.len() { self.folder().and_then(read).unwrap_or_default() } else { break };
            let text = String::from_utf8_lossy(&bytes);
            let lines = text.lines().rev().filter(|line| digits.iter().any(|one| line.contains(one)));
            for record in lines.filter_map(JournalRecord::read).filter(|record| record.is_of(path)) {
                if let Some(revision) = record.new_revision().filter(|revision| revisions.contains(revision)) {
                    found.entry(revision).or_insert(record);
                }
            }
        }
        found
    }

    fn folder(&self) -> io::Result<StateDir> {
        let mut folder = self.folder.lock().unwrap_or_else(PoisonError::into_inner);
        // A handle of its own for each caller, so that none waits for the disk of another one.
        if let Some(folder) = &*folder {
            return folder.try_clone();
        }
        let opened = self.state.folder(FOLDER)?;
        folder.insert(opened).try_clone()
    }

    /// Counts what was added, across processes, and sweeps when it is time. Failing to is no reason
    /// to fail a change.
    fn added(&self, folder: &StateDir, bytes: u64) {
        let marker = folder.read(SWEPT, MAX_MARKER_BYTES).unwrap_or_default();
        let marker = String::from_utf8_lossy(&marker);
        let mut numbers = marker.lines().map(|line| line.parse::<u64>().unwrap_or(0));
        // A damaged marker is one of a folder that was never swept.
        let swept = numbers.next().unwrap_or(0);
        let added: u64 = numbers.sum::<u64>() + bytes + LINE;
        let due = now().saturating_sub(swept) > SWEEP_EVERY.as_secs()
            || added > self.limits.bytes / EIGHTH
            || marker.len() as u64 == MAX_MARKER_BYTES;
        // After the sweep the marker begins again; a kill in between costs one more sweep.
        let noted = if due {
            if let Err(error) = self.sweep(folder) {
                tracing::debug!(%error, "the history could not be swept");
            }
            folder.replace(SWEPT, format!("{}\n", now()).as_bytes())
        } else {
            // Appended, as replacing a file costs as much as writing the object.
            folder.append(SWEPT, format!("{}\n", bytes + LINE).as_bytes())
        };
        if let Err(error) = noted {
            tracing::debug!(%error, "the next process will sweep the history once more");
        }
    }

    fn sweep(&self, folder: &StateDir) -> io::Result<()> {
        folder.sweep()?;
        let mut files = folder.files()?;
        // By the time of use: a content that is kept once more is touched ([`Self::keeps`]).
        files.sort_unstable_by_key(|file| file.modified);
        let mut total: u64 = files.iter().map(|file| file.size).sum();
        let most = self.limits.bytes - self.limits.bytes / EIGHTH;
        let now = SystemTime::now();
        let last = files.len().saturating_sub(1);
        for (index, file) in files.iter().enumerate() {
            let expired = now.duration_since(file.modified).is_ok_and(|age| age > self.limits.age);
            // What was kept last is what the next change counts on, however large it is.
            if !expired && (total <= most || index == last) {
                break;
            }
            if folder.discard(file).is_ok() {
                total -= file.size;
            }
        }
        Ok(())
    }
}

/// The days of the journals, the oldest first.
pub(super) fn days(folder: &StateDir) -> io::Result<Vec<u64>> {
    let day = |name: &str| name.strip_prefix(JOURNAL)?.parse::<u64>().ok();
    let mut days: Vec<u64> = folder.files()?.iter().filter_map(|file| day(&file.name)).collect();
    days.sort_unstable();
    Ok(days)
}

pub(super) fn file_of_day(day: u64) -> String {
    format!("{JOURNAL}{day}")
}

fn records_of_day(folder: &StateDir, day: u64) -> io::Result<Vec<JournalRecord>> {
    let bytes = folder.read(&file_of_day(day), MAX_JOURNAL_BYTES)?;
    // The torn line of a process that was killed costs that line alone.
    Ok(String::from_utf8_lossy(&bytes).lines().filter_map(JournalRecord::read).collect())
}

/// Those of these roots, without the changes of which a line of a kind in `gone` says that they are.
fn without(gone: &[RecordKind], mut records: Vec<JournalRecord>, roots: &[&str]) -> Vec<JournalRecord> {
    let gone = records.iter().filter(|record| gone.contains(&record.kind));
    let gone: HashSet<(String, u64)> = gone.map(|record| (record.session.clone(), record.change)).collect();
    records.retain(|record| {
        roots.contains(&record.root.as_str())
            && (record.kind == RecordKind::Checkpoint || !gone.contains(&(record.session.clone(), record.change)))
    });
    records
}

#[cfg(test)]
mod tests {
    #![expect(clippy::disallowed_methods, reason = "the test looks from outside and ages files")]

    use super::*;

    fn store(bytes: u64) -> (tempfile::TempDir, DiskStore) {
        let temp = tempfile::tempdir().unwrap();
        let state = StateDir::open(temp.path()).unwrap();
        let limits = HistoryLimits { bytes, ..HistoryLimits::default() };
        (temp, DiskStore::new(state, limits))
    }

    fn kept(store: &DiskStore, content: &[u8]) -> Revision {
        store.keep(&mut &*content, Durable::Now).unwrap()
    }

    #[test]
    fn history_folder_is_made_on_first_use() {
        let (temp, store) = store(1 << 20);
        assert_eq!(std::fs::read_dir(temp.path()).unwrap().count(), 0);
        kept(&store, b"x");
        assert!(temp.path().join("history").is_dir());
    }

    #[test]
    fn history_size_is_bounded_and_keeps_the_newest() {
        const LIMIT: u64 = 64 << 10;
        let (temp, store) = store(LIMIT);
        let mut newest = None;
        for n in 0..100_u8 {
            newest = Some(kept(&store, &vec![n; 4 << 10]));
            let size: u64 = std::fs::read_dir(temp.path().join("history"))
                .unwrap()
                .map(|file| file.unwrap().metadata().unwrap().len())
                .sum();
            assert!(size <= LIMIT, "{size} after {n}");
        }
        assert!(store.content(newest.unwrap()).is_some());
        assert!(store.content(Revision::of(&vec![0; 4 << 10])).is_none());
        assert_eq!(
            store.keep(&mut &vec![0; 33 << 10][..], Durable::Now).unwrap_err().kind(),
            io::ErrorKind::FileTooLarge
        );
    }

    #[test]
    fn expired_content_is_dropped_and_use_renews_it() {
        let (temp, store) = store(1 << 20);
        let (old, used) = (kept(&store, b"old"), kept(&store, b"used"));
        let long_ago = SystemTime::now() - Duration::from_secs(31 * DAY);
        for revision in [old, used] {
            let path = temp.path().join("history").join(revision.to_string());
            #[expect(clippy::disallowed_types, reason = "sets a time, which no other handle can")]
            std::fs::OpenOptions::new().append(true).open(path).unwrap().set_modified(long_ago).unwrap();
        }
        assert!(store.keeps(used));
        store.sweep(&store.folder().unwrap()).unwrap();
        assert!(!store.keeps(old) && store.keeps(used));
    }

    #[test]
    fn records_skip_other_roots_and_void_changes() {
        let (_temp, store) = store(1 << 20);
        let record = |root: &str, n| {
            JournalRecord { root: root.into(), tool: "edit".into(), ..JournalRecord::default() }.of("s", n)
        };
        store.write_down([record("a", 1), record("b", 2), record("a", 3)]).unwrap();
        store.write_down([JournalRecord::gone(RecordKind::Void, "s", 1)]).unwrap();
        let records = store.records(&["a"], &[RecordKind::Void]).unwrap();
        assert_eq!(records.iter().map(|record| record.change).collect::<Vec<_>>(), [3]);
    }
}
