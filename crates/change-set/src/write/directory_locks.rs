//! One lock per directory, so that changes in it by several processes happen one after another.
//!
//! It is the kernel's advisory lock of the directory itself, flock(2): every process takes the same one whatever its
//! state folder, no lock file is made, and it is free again when its holder dies. It belongs to the open file
//! description, so calls of one process share it for a bounded time, after which other processes get their turn; locks
//! on paths ([`super::path_locks`]) keep those calls apart. Who waits asks again and again: a blocking `flock` could not
//! be cancelled.
//!
//! Limits: programs that take no such lock are not kept out. On NFS since Linux 2.6.12 `flock` becomes a byte-range
//! lock on the server, which a directory cannot have (`EBADF`): there, and on file systems without locks
//! (`EOPNOTSUPP`, `ENOLCK`), changes of several processes are only compared before they are made.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher as _, RandomState};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use beneath::{Failure, LockAttempt, OpenFor};

use super::path_locks::{MAX_WAITING, WaitLimit};
use beneath::Dir;
use confined_fs::{AccessErrorKind, Limit, WorkspacePath};

/// How long calls of this process may join one that has the lock. Eight processes that all have calls in flight
/// each get their turn in less than a second; for one alone, each turn costs the [`REST_DELAY`] and the wait for its
/// last call.
const SHARED_FOR: Duration = Duration::from_millis(100);
/// How long this process keeps away after it has shared a lock that long. Longer than [`FIRST_INTERVAL`], so that
/// a call that waits in another process asks meanwhile.
const REST_DELAY: Duration = Duration::from_millis(3);
/// How long one who waits sleeps at most between two questions, at first and after [`LONG_WAIT`].
const FIRST_INTERVAL: Duration = Duration::from_millis(2);
const LONG_WAIT_INTERVAL: Duration = Duration::from_micros(400);
/// A call that has waited longer asks more often than later ones, so that none starves.
const LONG_WAIT: Duration = Duration::from_millis(50);
/// After this the lock is not merely busy, and is asked for seldom: hundreds of calls may wait for a stopped process.
const STUCK_WAIT: Duration = Duration::from_secs(2);
const STUCK_INTERVAL: Duration = Duration::from_millis(20);
/// How long another process is waited for: a change takes milliseconds, a stopped process takes for ever.
const MAX_WAIT: Duration = Duration::from_secs(30);
/// How often a lookup that raced with a rename of the directory is tried again.
const MAX_ATTEMPTS: usize = 8;

/// The directories that this process has locked.
#[derive(Debug, Default)]
pub(crate) struct DirectoryLocks {
    table: Mutex<LockTable>,
    freed: Condvar,
}

#[derive(Debug, Default)]
struct LockTable {
    entries: HashMap<Identity, LockState>,
    waiting: usize,
}

/// What keeps a lock. On Windows not the directory, which could be neither renamed nor removed while it is open.
#[cfg(not(windows))]
type HeldLock = Dir;
#[cfg(windows)]
type HeldLock = Option<std::fs::File>;

#[derive(Debug)]
enum LockState {
    /// Locked through this handle, for so many calls.
    Held { _lock: HeldLock, path: PathBuf, calls: usize, since: Instant, shared: bool },
    /// A call of this process asks the system for the lock, or frees it. That may take long on a network file system,
    /// so nothing waits for it while the table is locked.
    InSystemCall,
    /// This process shared it for a while and now leaves it to others, until then.
    YieldedUntil(Instant),
}

/// The next action of a call that wants a directory.
enum Next {
    /// Another call of this process has the lock, and this one has it now, too.
    Joined,
    /// Ask the system; the entry is [`LockState::InSystemCall`] until then.
    Ask,
    /// Wait until it is free, or its rest is over.
    Busy,
}

#[derive(Debug)]
pub(super) struct LockedDirectories {
    _locks: Vec<DirectoryLock>,
    /// For each entry, how many directories on the way to its own were there; 0 where that is not known.
    pub(super) there: Vec<usize>,
}

/// A locked directory; dropping it frees the lock, unless another call of this process has it, too.
#[derive(Debug)]
struct DirectoryLock {
    directories: Arc<DirectoryLocks>,
    identity: Identity,
}

impl DirectoryLocks {
    /// Locks the directories that hold these entries; where one is missing, the nearest above that is there.
    /// A directory that may not be listed, or whose file system has no such locks, goes without.
    ///
    /// # Errors
    /// `Stopped` when the wait limit ends first, `Locked` when another process does not free it, sooner where too many
    /// calls wait already, `Limit` where too many files are open: to go without is for good reasons.
    pub(super) fn lock_holding(
        this: &Arc<Self>,
        entries: &[&WorkspacePath],
        wait_limit: &WaitLimit,
    ) -> Result<LockedDirectories, AccessErrorKind> {
        let mut attempts = 0;
        loop {
            let mut wanted: Vec<ExistingDirectory> = Vec::new();
            let there = each_directory(entries, |directory| wanted.push(directory))?;
            wanted.sort_unstable_by_key(|directory| directory.identity);
            let before: Vec<Identity> = wanted.iter().map(|directory| directory.identity).collect();
            let mut locks = Vec::with_capacity(wanted.len());
            for directory in wanted {
                locks.extend(Self::lock(this, directory, wait_limit)?);
            }
            attempts += 1;
            // One may have been moved, or made, while it was waited for. One that never keeps its place is moved by
            // a program that takes no lock anyway.
            if attempts == MAX_ATTEMPTS || identities(entries)? == before {
                return Ok(LockedDirectories { _locks: locks, there });
            }
        }
    }

    /// `None` where there are no such locks.
    fn lock(
        this: &Arc<Self>,
        ExistingDirectory { identity, path, dir }: ExistingDirectory,
        wait_limit: &WaitLimit,
    ) -> Result<Option<DirectoryLock>, AccessErrorKind> {
        let lock = || Some(DirectoryLock { directories: Arc::clone(this), identity });
        let mut wait: Option<Wait<'_>> = None;
        loop {
            let mut table = this.table();
            if wait.is_none() {
                // Most often the system answers within microseconds: that is not worth a wait that is counted.
                let is_asked =
                    |table: &mut LockTable| matches!(table.entries.get(&identity), Some(LockState::InSystemCall));
                let waited = this.freed.wait_timeout_while(table, FIRST_INTERVAL, is_asked);
                table = waited.unwrap_or_else(PoisonError::into_inner).0;
            }
            let mut is_elsewhere = false;
            match table.turn(identity, &path) {
                Next::Joined => return Ok(lock()),
                Next::Busy => {}
                Next::Ask => {
                    drop(table);
                    let answer = dir.try_lock();
                    table = this.table();
                    table.entries.remove(&identity);
                    this.freed.notify_all();
                    match answer {
                        LockAttempt::Acquired => {
                            #[cfg(windows)]
                            let dir = dir.into_lock();
                            let held =
                                LockState::Held { _lock: dir, path, calls: 1, since: Instant::now(), shared: false };
                            table.entries.insert(identity, held);
                            return Ok(lock());
                        }
                        LockAttempt::Unsupported => return Ok(None),
                        LockAttempt::HeldElsewhere => is_elsewhere = true,
                    }
                }
            }
            let wait = wait.get_or_insert_with(|| Wait { directories: this, began: Instant::now(), has_place: false });
            if !wait.has_place && table.waiting < MAX_WAITING {
                table.waiting += 1;
                wait.has_place = true;
                drop(table);
                wait_limit.before_waiting();
            } else {
                // Without a place it waits for its turn, too, and gives nothing back meanwhile: no more calls start then.
                wait.sleep(table, wait_limit, is_elsewhere)?;
            }
        }
    }

    fn table(&self) -> MutexGuard<'_, LockTable> {
        // A panic while the table was borrowed cannot leave it half-changed.
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl LockTable {
    /// Joins another call of this process where that is fair, and where locks on paths keep the two apart: a bind
    /// mount gives one directory two paths.
    fn turn(&mut self, identity: Identity, path: &Path) -> Next {
        match self.entries.get_mut(&identity) {
            Some(LockState::Held { path: held, calls, since, shared, .. })
                if held == path && since.elapsed() < SHARED_FOR =>
            {
                (*calls, *shared) = (*calls + 1, true);
                return Next::Joined;
            }
            Some(LockState::YieldedUntil(until)) if *until <= Instant::now() => {}
            Some(LockState::Held { .. } | LockState::InSystemCall | LockState::YieldedUntil(_)) => return Next::Busy,
            None => {}
        }
        self.entries.insert(identity, LockState::InSystemCall);
        Next::Ask
    }

    /// Forgets directories that are not locked and whose rest is over.
    fn tidy(&mut self) {
        let now = Instant::now();
        self.entries.retain(|_, entry| !matches!(entry, LockState::YieldedUntil(until) if *until <= now));
    }
}

/// A call that waits; counted as long as it does, once there is a place.
struct Wait<'d> {
    directories: &'d DirectoryLocks,
    began: Instant,
    has_place: bool,
}

impl Wait<'_> {
    /// Until it is worth while to ask again.
    fn sleep(
        &self,
        table: MutexGuard<'_, LockTable>,
        wait_limit: &WaitLimit,
        is_elsewhere: bool,
    ) -> Result<(), AccessErrorKind> {
        let so_far = self.began.elapsed();
        let most = match so_far {
            so_far if so_far < LONG_WAIT => FIRST_INTERVAL,
            so_far if so_far < STUCK_WAIT => LONG_WAIT_INTERVAL,
            _ => STUCK_INTERVAL,
        };
        // At random, so that those who wait do not ask in step.
        let share = RandomState::new().hash_one(0) % 8;
        let nap = most / 8 * (1 + u32::try_from(share).unwrap_or(0));
        // Woken early when this process frees one; another process wakes nobody.
        drop(self.directories.freed.wait_timeout(table, nap).unwrap_or_else(PoisonError::into_inner));
        if wait_limit.ended() {
            return Err(AccessErrorKind::Stopped);
        }
        let most = if self.has_place { MAX_WAIT } else { STUCK_WAIT };
        if is_elsewhere && so_far > most { Err(AccessErrorKind::Locked) } else { Ok(()) }
    }
}

impl Drop for Wait<'_> {
    fn drop(&mut self) {
        self.directories.table().waiting -= usize::from(self.has_place);
    }
}

impl Drop for DirectoryLock {
    fn drop(&mut self) {
        let mut table = self.directories.table();
        let Some(LockState::Held { calls, since, shared, .. }) = table.entries.get_mut(&self.identity) else { return };
        *calls -= 1;
        if *calls == 0 {
            let rests = *shared && since.elapsed() >= SHARED_FOR;
            let held = table.entries.insert(self.identity, LockState::InSystemCall);
            drop(table);
            // The handle is closed by that, and the lock is free.
            drop(held);
            table = self.directories.table();
            table.entries.remove(&self.identity);
            table.tidy();
            if rests {
                table.entries.insert(self.identity, LockState::YieldedUntil(Instant::now() + REST_DELAY));
            }
        }
        drop(table);
        self.directories.freed.notify_all();
    }
}

/// Device and inode: two processes that want the same two directories take them in this order.
type Identity = (u64, u64);

/// A directory that holds an entry, open, as a change locks it.
struct ExistingDirectory {
    identity: Identity,
    /// On the host; of several, the first.
    path: PathBuf,
    dir: Dir,
}

/// The directories that hold these entries; none of them stays open, as a change of many files has many.
fn identities(entries: &[&WorkspacePath]) -> Result<Vec<Identity>, AccessErrorKind> {
    let mut identities = Vec::new();
    each_directory(entries, |directory| identities.push(directory.identity))?;
    identities.sort_unstable();
    Ok(identities)
}

/// Opens each directory once, one after the other. Returns for each entry how many there are on the way to its own.
fn each_directory(
    entries: &[&WorkspacePath],
    mut take: impl FnMut(ExistingDirectory),
) -> Result<Vec<usize>, AccessErrorKind> {
    let mut found: HashSet<Identity> = HashSet::new();
    let mut depths: HashMap<Option<WorkspacePath>, usize> = HashMap::new();
    let mut there = Vec::with_capacity(entries.len());
    for path in entries {
        let parent = path.parent();
        if let Some(depth) = depths.get(&parent) {
            there.push(*depth);
            continue;
        }
        let nearest = nearest(path)?;
        let depth = nearest.as_ref().map_or(0, |(depth, _)| *depth);
        there.push(depth);
        depths.insert(parent, depth);
        if let Some((_, directory)) = nearest
            && found.insert(directory.identity)
        {
            take(directory);
        }
    }
    Ok(there)
}

/// The innermost directory above `path` that is there, and how far it is below the root; `None` where it may not be
/// opened.
fn nearest(path: &WorkspacePath) -> Result<Option<(usize, ExistingDirectory)>, AccessErrorKind> {
    if !Dir::LOCKS_DIRECTORIES {
        return Ok(None);
    }
    for above in std::iter::successors(path.parent(), WorkspacePath::parent) {
        match above.root().dir().dir_beneath(above.relative(), OpenFor::List) {
            Ok(dir) => {
                let Ok(stat) = dir.stat() else { return Ok(None) };
                let directory = ExistingDirectory { identity: stat.device_and_inode(), path: above.host(), dir };
                return Ok(Some((above.relative().iter().count(), directory)));
            }
            Err(failure) if failure.is_missing() => {}
            Err(Failure::Link) => return Ok(None),
            Err(Failure::Io(error)) => {
                return Limit::of_open_files(&error).map_or(Ok(None), |limit| Err(AccessErrorKind::Limit(limit)));
            }
        }
    }
    Ok(None)
}

#[cfg(all(test, unix))]
mod tests {
    #![expect(clippy::disallowed_methods, reason = "the tests arrange from outside the sandbox")]

    use std::fs;
    use std::sync::mpsc;
    use std::thread;

    use super::*;
    use crate::workspace::Workspace;
    use beneath::Dir;
    use confined_fs::{Access, PolicyRules, RootSpec, WorkspaceOptions};

    /// The locks that one process has.
    fn process(folder: &Path) -> (Workspace, Arc<DirectoryLocks>) {
        let spec = RootSpec {
            name: None,
            path: folder.into(),
            access: Access::ReadWrite,
            policy: PolicyRules::default(),
            optional: false,
        };
        (Workspace::open(&[spec], WorkspaceOptions::default()).unwrap().workspace, Arc::default())
    }

    fn locked(
        process: &(Workspace, Arc<DirectoryLocks>),
        texts: &[&str],
    ) -> Result<LockedDirectories, AccessErrorKind> {
        let paths: Vec<WorkspacePath> = texts.iter().map(|text| process.0.resolve(text).unwrap()).collect();
        // Gives up at the first question.
        let wait_limit = WaitLimit::until(|| true, || {});
        DirectoryLocks::lock_holding(&process.1, &paths.iter().collect::<Vec<_>>(), &wait_limit)
    }

    fn count(process: &(Workspace, Arc<DirectoryLocks>)) -> usize {
        process.1.table().entries.len()
    }

    /// As [`locked`] of directories that nobody has locked; a program that another test starts has them for a moment, until
    /// it has closed its copies of this process's handles.
    fn free(process: &(Workspace, Arc<DirectoryLocks>), texts: &[&str]) -> LockedDirectories {
        let began = Instant::now();
        loop {
            match locked(process, texts) {
                Err(AccessErrorKind::Stopped) if began.elapsed() < Duration::from_secs(60) => {
                    std::thread::sleep(Duration::from_millis(1));
                }
                answer => return answer.unwrap(),
            }
        }
    }

    #[test]
    fn two_processes_lock_two_directories_but_not_the_same() {
        let temp = tempfile::tempdir().unwrap();
        fs::create_dir_all(temp.path().join("a/b")).unwrap();
        let (one, other) = (process(temp.path()), process(temp.path()));
        let held = free(&one, &["a/x"]);
        assert_eq!((count(&one), held.there.as_slice()), (1, &[1][..]));
        assert_eq!(locked(&other, &["a/x"]).unwrap_err(), AccessErrorKind::Stopped);
        assert_eq!(locked(&other, &["y", "a/z"]).unwrap_err(), AccessErrorKind::Stopped);
        // The nearest that is there holds what is missing.
        assert_eq!(locked(&other, &["a/not/there/x"]).unwrap_err(), AccessErrorKind::Stopped);
        let apart = free(&other, &["a/b/x", "y", "y2", "not/there"]);
        assert_eq!((count(&other), apart.there.as_slice()), (2, &[2, 0, 0, 0][..]));
        drop((held, apart));
        let all = free(&other, &["y", "a/z", "a/b/x", "a/x"]);
        assert_eq!(count(&other), 3);
        drop(all);
        assert_eq!((count(&one), count(&other)), (0, 0));
        assert_eq!(other.1.table().waiting, 0);
    }

    #[test]
    fn calls_of_one_process_share_a_lock_until_the_last_one_ends() {
        let temp = tempfile::tempdir().unwrap();
        let (one, other) = (process(temp.path()), process(temp.path()));
        let first = free(&one, &["x"]);
        // However long ago, as a slow machine has it.
        let hold_since = |ago| {
            for entry in one.1.table().entries.values_mut() {
                let LockState::Held { since, .. } = entry else { panic!("it is held") };
                *since = Instant::now().checked_sub(ago).unwrap();
            }
        };
        hold_since(Duration::ZERO);
        let second = locked(&one, &["y"]);
        drop(first);
        if let Ok(second) = second {
            assert_eq!(locked(&other, &["x"]).unwrap_err(), AccessErrorKind::Stopped);
            // After a long share the process admits no more calls and keeps away for a moment.
            hold_since(SHARED_FOR);
            assert_eq!(locked(&one, &["z"]).unwrap_err(), AccessErrorKind::Stopped);
            drop(second);
            assert!(one.1.table().entries.values().all(|entry| matches!(entry, LockState::YieldedUntil(_))));
        }
        drop(free(&other, &["x"]));
    }

    #[test]
    fn calls_wait_for_their_turn_in_a_directory_also_where_all_places_are_taken() {
        let temp = tempfile::tempdir().unwrap();
        let one = process(temp.path());
        let held = free(&one, &["x"]);
        one.1.table().waiting = MAX_WAITING;
        for entry in one.1.table().entries.values_mut() {
            let LockState::Held { since, .. } = entry else { panic!("it is held") };
            *since = Instant::now().checked_sub(SHARED_FOR).unwrap();
        }
        assert_eq!(locked(&one, &["y"]).unwrap_err(), AccessErrorKind::Stopped);
        drop(held);
        drop(free(&one, &["y"]));
        assert_eq!(one.1.table().waiting, MAX_WAITING);
    }

    #[test]
    fn calls_through_two_paths_of_one_directory_share_no_lock() {
        let temp = tempfile::tempdir().unwrap();
        let one = process(temp.path());
        let held = free(&one, &["x"]);
        // As a bind mount does.
        for entry in one.1.table().entries.values_mut() {
            let LockState::Held { path, .. } = entry else { panic!("it is held") };
            *path = "/elsewhere".into();
        }
        assert_eq!(locked(&one, &["y"]).unwrap_err(), AccessErrorKind::Stopped);
        drop(held);
        drop(free(&one, &["y"]));
    }

    #[test]
    fn slow_flock_of_one_directory_blocks_no_other() {
        let temp = tempfile::tempdir().unwrap();
        fs::create_dir(temp.path().join("slow")).unwrap();
        let one = process(temp.path());
        let slow = Dir::open_ambient(&temp.path().join("slow"), false).unwrap().stat().unwrap().device_and_inode();
        one.1.table().entries.insert(slow, LockState::InSystemCall);
        assert_eq!(locked(&one, &["slow/x"]).unwrap_err(), AccessErrorKind::Stopped);
        drop(free(&one, &["x"]));
        one.1.table().entries.remove(&slow);
        drop(free(&one, &["slow/x"]));
        assert_eq!(count(&one), 0);
    }

    #[test]
    fn wait_for_another_process_ends_as_locked() {
        let directories = Arc::<DirectoryLocks>::default();
        directories.table().waiting = 3;
        let asked = |ago, is_elsewhere| {
            let wait =
                Wait { directories: &directories, began: Instant::now().checked_sub(ago).unwrap(), has_place: true };
            wait.sleep(directories.table(), &WaitLimit::default(), is_elsewhere)
        };
        assert_eq!(asked(Duration::ZERO, true), Ok(()));
        assert_eq!(asked(MAX_WAIT + Duration::from_secs(1), true), Err(AccessErrorKind::Locked));
        // That of a call of this process, which takes its time.
        assert_eq!(asked(MAX_WAIT + Duration::from_secs(1), false), Ok(()));
        assert_eq!(directories.table().waiting, 0);
    }

    #[test]
    fn waiting_process_gets_the_freed_directory() {
        let temp = tempfile::tempdir().unwrap();
        let (one, other) = (process(temp.path()), process(temp.path()));
        let held = free(&one, &["x"]);
        let (sender, receiver) = mpsc::channel();
        let wait_limit = WaitLimit::until(|| false, move || sender.send(()).unwrap());
        let waiting = thread::spawn(move || {
            let path = other.0.resolve("x").unwrap();
            DirectoryLocks::lock_holding(&other.1, &[&path], &wait_limit).map(|locks| locks.there)
        });
        receiver.recv_timeout(Duration::from_secs(20)).unwrap();
        drop(held);
        assert_eq!(waiting.join().unwrap(), Ok(vec![0]));
    }
}
