//! What one session has seen, changed and spent.

pub mod history;
mod ledger;
mod quota;

pub use history::{History, HistoryLimits};
pub use ledger::{ALL_LINES, KnownStates, Ledger, PendingReadRecord, Seen};
pub use quota::{Cost, Quota, QuotaError, QuotaLimits, RootBytes};

use std::{
    collections::VecDeque,
    fmt, io,
    sync::{Arc, Mutex, PoisonError, Weak},
    time::{Duration, SystemTime},
};

use confined_fs::{FileStart, Revision, StateDir, WorkspacePath};

/// State shared by the calls of one session.
#[derive(Debug)]
pub struct Session {
    /// Which files were seen, and at which revision.
    pub ledger: Ledger,
    /// Former contents, and the changes that can be undone.
    pub history: History,
    /// The quota that is left.
    pub quota: Quota,
    /// Where the last waits ended.
    pub waits: WaitMarks,
    /// Where each committed change is reported.
    pub changes: ChangeFeed,
}

impl Session {
    /// A session that remembers in `state` what was seen and replaced, or in memory alone without it.
    pub fn new(state: Option<StateDir>) -> Self {
        Self::with_history(state, &HistoryLimits::default())
    }

    /// As [`Session::new`], with these bounds of the history.
    pub fn with_history(state: Option<StateDir>, limits: &HistoryLimits) -> Self {
        let history = History::new(state.as_ref(), limits);
        Self::of(state, history)
    }

    /// As [`Session::with_history`], where what was seen counts for the calls of one role alone.
    pub fn of_role(state: Option<StateDir>, limits: &HistoryLimits, role: &str) -> Self {
        let history = History::new(state.as_ref(), limits);
        let name = Revision::of(role.as_bytes()).to_string();
        let own = state.and_then(|state| state.folder(&format!("role-{name}")).ok());
        Self::of(own, history)
    }

    fn of(seen: Option<StateDir>, history: History) -> Self {
        let (quota, waits, changes) = (Quota::default(), WaitMarks::default(), ChangeFeed::default());
        Self { ledger: Ledger::new(seen), history, quota, waits, changes }
    }

    /// The codes by which changes are confirmed; `None` without a state folder.
    pub fn confirm_codes(&self) -> Option<io::Result<ConfirmCodes>> {
        self.ledger.state().map(ConfirmCodes::of)
    }

    /// The session with other bounds on what it may spend.
    #[must_use]
    pub fn within(mut self, limits: QuotaLimits) -> Self {
        self.quota = Quota::new(limits);
        self
    }
}

/// Marks that are kept.
const MAX_WAIT_MARKS: usize = 64;

/// Where a wait ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaitMark {
    /// Complete lines before it.
    pub lines: usize,
    /// Bytes after them, of a line that had no line break yet.
    pub unfinished: u64,
    /// The file up to there.
    pub start: FileStart,
}

/// The marks by path, the newest last.
///
/// Kept so that the next waits know what a number of lines leaves open: whether the file is still the same one, and how
/// much of its last line was shown. In memory alone: without a mark, a wait counts lines.
#[derive(Debug, Default)]
pub struct WaitMarks {
    marks: Mutex<VecDeque<(WorkspacePath, WaitMark)>>,
    /// Paths at which a wait ended with nothing there.
    missing: Mutex<VecDeque<WorkspacePath>>,
}

/// Puts `one` at the end, in the place of those that are the same; the oldest gives way.
fn keep_newest<T>(list: &Mutex<VecDeque<T>>, one: T, is_same: impl Fn(&T) -> bool) {
    let mut list = list.lock().unwrap_or_else(PoisonError::into_inner);
    list.retain(|known| !is_same(known));
    if list.len() >= MAX_WAIT_MARKS {
        list.pop_front();
    }
    list.push_back(one);
}

impl WaitMarks {
    /// Keeps `mark` for `path`.
    pub fn keep(&self, path: &WorkspacePath, mark: WaitMark) {
        let is_same = |(known, other): &(WorkspacePath, WaitMark)| known == path && other.lines == mark.lines;
        keep_newest(&self.marks, (path.clone(), mark), is_same);
    }

    /// Keeps that nothing was at `path` when a wait for it ended.
    pub fn keep_missing(&self, path: &WorkspacePath) {
        keep_newest(&self.missing, path.clone(), |known| known == path);
    }

    /// Whether a wait for `path` ended with nothing there, once.
    pub fn was_missing(&self, path: &WorkspacePath) -> bool {
        let mut missing = self.missing.lock().unwrap_or_else(PoisonError::into_inner);
        missing.iter().position(|known| known == path).is_some_and(|at| missing.remove(at).is_some())
    }

    /// The mark of `path` after so many lines.
    pub fn after(&self, path: &WorkspacePath, lines: usize) -> Option<WaitMark> {
        let marks = self.marks.lock().unwrap_or_else(PoisonError::into_inner);
        marks.iter().find(|(known, mark)| known == path && mark.lines == lines).map(|(_, mark)| *mark)
    }
}

/// Bytes of the key.
pub const KEY: usize = 32;
/// The folder in the state folder.
const CODES_FOLDER: &str = "confirm";
const KEY_FILE: &str = "key";
/// Bytes of one file of used codes that are read: some 20,000 codes.
const MAX_USED_BYTES: u64 = 1 << 20;
/// Used codes are kept in one file for each stretch of this many seconds in which they expire.
const CODE_STRETCH: u64 = 3600;

/// The key and the used codes, in the state folder.
///
/// The part of confirmation codes that outlives a process: the key that signs them, and which ones were used.
/// `DeerFlow`'s embedded client starts a process for each call, so the refusal that carries a code and the call that
/// uses it are answered by two processes.
#[derive(Debug)]
pub struct ConfirmCodes {
    folder: StateDir,
}

impl ConfirmCodes {
    fn of(state: &StateDir) -> io::Result<Self> {
        Ok(Self { folder: state.folder(CODES_FOLDER)? })
    }

    /// The key of all processes with this state folder; `fresh` becomes it where there is none.
    pub fn key(&self, fresh: [u8; KEY]) -> io::Result<[u8; KEY]> {
        let read = || self.folder.read(KEY_FILE, KEY as u64).ok().and_then(|bytes| <[u8; KEY]>::try_from(bytes).ok());
        if let Some(key) = read() {
            return Ok(key);
        }
        // Of two processes that find none, the second takes the key of the first.
        let _lock = self.folder.lock();
        if let Some(key) = read() {
            return Ok(key);
        }
        self.folder.replace(KEY_FILE, &fresh)?;
        // Read again and not taken as written: without a lock another process may have put its own key there.
        read().ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    /// Uses a code up: whether this call, which `nonce` identifies, is the first to do so.
    ///
    /// Each process appends a line in one write, and the first line of a code decides. No lock is needed that a stopped
    /// process might hold.
    pub fn use_up(&self, code: &str, expires: u64, nonce: u64) -> io::Result<bool> {
        let (stretch, mine) = (expires / CODE_STRETCH, format!("{nonce:016x}"));
        let file = format!("used-{stretch:08x}");
        self.folder.append_synced(&file, format!("{code} {mine}\n").as_bytes())?;
        let used = self.folder.read(&file, MAX_USED_BYTES)?;
        // The code may be in what was not read.
        if used.len() as u64 == MAX_USED_BYTES {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.sweep();
        let used = String::from_utf8_lossy(&used);
        Ok(used.lines().find_map(|line| line.strip_prefix(code)?.strip_prefix(' ')) == Some(&mine))
    }

    /// Removes the files of codes that expired long ago.
    fn sweep(&self) {
        let Some(old) = SystemTime::now().checked_sub(Duration::from_secs(3 * CODE_STRETCH)) else { return };
        for file in self.folder.files().unwrap_or_default() {
            if file.name.starts_with("used-") && file.modified < old {
                let _ = self.folder.discard(&file);
            }
        }
    }
}

/// A way to change an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeKind {
    /// There was nothing before.
    Created,
    /// A file has other content.
    Written,
    /// The entry had another path before; what was at the new path is gone.
    Moved,
    /// There is nothing any more.
    Deleted,
}

/// The kind of an entry, now or before it was deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryKind {
    /// A regular file, or a special one that was moved.
    File,
    /// A directory, with everything below it.
    Directory,
    /// A symbolic link, whatever it leads to.
    Link,
}

/// A change that is on the disk.
#[derive(Clone, Debug)]
pub struct CommittedChange {
    /// The tool that made it.
    pub tool: &'static str,
    /// Whether the entry came, went, moved or changed.
    pub kind: ChangeKind,
    /// The kind of the entry at `path`.
    pub entry: EntryKind,
    /// The real path, the new one of what was moved.
    pub path: WorkspacePath,
    /// The former real path of what was moved.
    pub from: Option<WorkspacePath>,
    /// The content of the file now, where that is known.
    pub revision: Option<Revision>,
    /// Who made it, as far as that is known.
    pub by: Option<Arc<str>>,
    /// Names the session in the history.
    pub session: Arc<str>,
}

/// Who follows the changes.
pub trait ChangeListener: Send + Sync {
    /// The changes of one step of a call are on the disk, such as a file with the directories that were made for it.
    /// Must return at once.
    fn changed(&self, changes: &[CommittedChange]);
}

/// The listeners of one session.
///
/// Followed by subscriptions, `--events` and language servers. The tools report here once the change is on the disk,
/// whether or not there is an audit. A change of a directory is one report, for everything below it.
///
/// # Limits
/// A listener runs on the thread that made the change, so it must not wait for anything.
#[derive(Default)]
pub struct ChangeFeed(Mutex<Vec<Weak<dyn ChangeListener>>>);

impl ChangeFeed {
    /// Reports all changes from now on to `listener`, until it is dropped.
    pub fn follow(&self, listener: Weak<dyn ChangeListener>) {
        let mut listeners = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Here, where the list grows: a listener that is dropped does not say so.
        listeners.retain(|known| known.strong_count() > 0);
        listeners.push(listener);
    }

    /// Whether anybody follows the changes.
    pub fn is_followed(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).iter().any(|listener| listener.strong_count() > 0)
    }

    /// Passes the changes of one step on.
    pub fn report(&self, changes: &[CommittedChange]) {
        if changes.is_empty() {
            return;
        }
        // Not under the lock: a listener may take its own locks.
        let listeners: Vec<Arc<dyn ChangeListener>> = {
            let listeners = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            listeners.iter().filter_map(Weak::upgrade).collect()
        };
        for listener in listeners {
            listener.changed(changes);
        }
    }
}

impl fmt::Debug for ChangeFeed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChangeFeed").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use confined_fs::{Access, Workspace};

    use super::*;

    fn codes(folder: &tempfile::TempDir) -> ConfirmCodes {
        ConfirmCodes::of(&StateDir::open(folder.path()).expect("opens")).expect("a folder in it")
    }

    #[test]
    fn processes_share_the_first_key() {
        let folder = tempfile::tempdir().expect("a folder");
        assert_eq!(codes(&folder).key([1; KEY]).expect("a key"), [1; KEY]);
        assert_eq!(codes(&folder).key([2; KEY]).expect("a key"), [1; KEY]);
        codes(&folder).folder.replace(KEY_FILE, b"short").expect("replaced");
        assert_eq!(codes(&folder).key([3; KEY]).expect("a damaged key is replaced"), [3; KEY]);
    }

    #[test]
    fn of_many_uses_of_a_code_one_is_the_first() {
        let folder = tempfile::tempdir().expect("a folder");
        let first = |nonce| codes(&folder).use_up("abc", 7200, nonce).expect("recorded");
        let firsts = thread::scope(|scope| {
            let uses: Vec<_> = (0..16).map(|nonce| scope.spawn(move || first(nonce))).collect();
            uses.into_iter().map(|used| used.join().expect("no panic")).filter(|first| *first).count()
        });
        assert_eq!(firsts, 1);
        assert!(codes(&folder).use_up("abcd", 7200, 1).expect("recorded"), "another code");
    }

    #[derive(Default)]
    struct Heard(Mutex<Vec<String>>);

    impl ChangeListener for Heard {
        fn changed(&self, changes: &[CommittedChange]) {
            self.0.lock().unwrap().extend(changes.iter().map(|change| format!("{:?} {}", change.kind, change.path)));
        }
    }

    #[test]
    fn dropped_listener_hears_no_more() {
        let temp = tempfile::tempdir().unwrap();
        let path = Workspace::of_directory(temp.path(), Access::ReadOnly).resolve("a").unwrap();
        let kind = ChangeKind::Created;
        let (from, revision, by, session) = (None, None, None, "".into());
        let change = CommittedChange { tool: "write", kind, entry: EntryKind::File, path, from, revision, by, session };
        let feed = ChangeFeed::default();
        feed.report(std::slice::from_ref(&change));
        let heard = Arc::new(Heard::default());
        let listener: Arc<dyn ChangeListener> = heard.clone();
        feed.follow(Arc::downgrade(&listener));
        feed.report(std::slice::from_ref(&change));
        assert!(feed.is_followed());
        assert_eq!(*heard.0.lock().unwrap(), ["Created a"]);
        drop((listener, heard));
        feed.report(std::slice::from_ref(&change));
        assert!(!feed.is_followed());
    }
}
