//! A private folder of the user for what outlives the process, such as what a session has seen.
//!
//! Opened once; files in it are reached by bare names through its handle, never through a link, so that a link put
//! there by another process is neither read nor written through.

use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use std::{ffi::OsStr, fs::File, path::Path, thread};

use beneath::{FileKind, LockAttempt, OpenFor};

use crate::write::StaleAfter;
use crate::write::Temporary;
use beneath::Dir;
use confined_fs::for_changes::is_reserved;

mod append_log;
mod objects;
mod private_file;
mod unapplied_layers;

pub use append_log::{AppendLog, EventSink};
pub use objects::{Durable, StateFile};
pub use private_file::{NewPrivateFile, PrivateFile};

/// How long [`StateDir::lock`] tries.
const LOCK_WITHIN: Duration = Duration::from_millis(100);

/// The lock of [`StateDir::lock`], until it is dropped.
#[derive(Debug)]
pub struct FolderLock {
    _handle: Option<Dir>,
}

/// Takes the advisory lock of a directory. Goes on without it after `within`, and where there are no such locks; `None`
/// where the directory cannot be opened once more.
pub(crate) fn lock_within(dir: &Dir, within: Duration, ask_again: Duration) -> Option<Dir> {
    let began = Instant::now();
    let handle = dir.reopen(OpenFor::List).ok()?;
    while handle.try_lock() == LockAttempt::HeldElsewhere && began.elapsed() < within {
        thread::sleep(ask_again);
    }
    Some(handle)
}

/// The folder, open. Its files are readable by their owner only.
#[derive(Debug)]
pub struct StateDir {
    dir: Dir,
}

impl StateDir {
    /// Opens the folder, and makes it (mode 0700) with what is missing above it.
    pub fn open(path: &Path) -> io::Result<Self> {
        let mut missing = Vec::new();
        let mut base = path;
        let dir = loop {
            match (Dir::open_ambient(base, false), base.parent(), base.file_name()) {
                (Err(error), Some(parent), Some(name)) if error.kind() == io::ErrorKind::NotFound => {
                    missing.push(name);
                    base = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
                }
                (opened, ..) => break opened?,
            }
        };
        let mut folder = Self { dir };
        for name in missing.into_iter().rev() {
            folder = folder.child(name)?;
        }
        Ok(folder)
    }

    /// Opens the folder, and makes nothing.
    ///
    /// # Errors
    /// `NotFound` where there is none; those of the system.
    pub fn existing(path: &Path) -> io::Result<Self> {
        Ok(Self { dir: Dir::open_ambient(path, false)? })
    }

    /// The handle through which its files are opened by their names.
    pub(super) fn dir(&self) -> &Dir {
        &self.dir
    }

    /// The folder of that name in this one, made (mode 0700) when it is missing.
    fn child(&self, name: &OsStr) -> io::Result<Self> {
        self.make(name)?;
        Ok(Self { dir: self.dir.child_dir(name, OpenFor::Traverse)? })
    }

    /// Makes a folder of that name (mode 0700) where there is none.
    fn make(&self, name: &OsStr) -> io::Result<()> {
        match self.dir.make_dir(name, true) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            answer => answer,
        }
    }

    /// The same folder through another handle.
    pub fn try_clone(&self) -> io::Result<Self> {
        Ok(Self { dir: self.dir.try_clone()? })
    }

    /// Takes the advisory lock of this folder, against other processes and other calls. Goes on without it after 0.1 s,
    /// as the process that has it may have been stopped.
    pub fn lock(&self) -> FolderLock {
        FolderLock { _handle: lock_within(&self.dir, LOCK_WITHIN, Duration::from_micros(200)) }
    }

    /// Removes temporary files that a killed process left behind.
    pub fn sweep(&self) -> io::Result<()> {
        for listed in self.dir.reopen(OpenFor::List)?.list()?.iter().filter(|listed| is_reserved(&listed.name)) {
            // Another process may remove it at this moment.
            let Ok(stat) = self.dir.child_stat(&listed.name) else { continue };
            let age = stat.modified.and_then(|modified| SystemTime::now().duration_since(modified).ok());
            if age.is_some_and(|age| age >= StaleAfter::default().0) {
                let _ = self.dir.remove(&listed.name);
            }
        }
        Ok(())
    }

    /// Appends `line` as it is, in one write, so that lines of several processes do not mix.
    pub fn append(&self, file: &str, line: &[u8]) -> io::Result<()> {
        self.append_to(file, line).map(drop)
    }

    fn append_to(&self, file: &str, line: &[u8]) -> io::Result<File> {
        let open = regular(self.dir.append(bare(file)?)?)?;
        beneath::write_all(&open, line)?;
        Ok(open)
    }

    /// How many bytes a file has.
    pub fn size(&self, file: &str) -> io::Result<u64> {
        self.dir.child_stat(bare(file)?).map(|stat| stat.size)
    }

    /// The content of a file, at most its first `max` bytes.
    pub fn read(&self, file: &str, max: u64) -> io::Result<Vec<u8>> {
        let open = regular(self.dir.child_file(bare(file)?)?)?;
        let mut bytes = Vec::new();
        open.take(max).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    /// Writes `bytes` over what is at `offset` of a file; what others append meanwhile stays.
    pub fn overwrite(&self, file: &str, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let mut open = regular(self.dir.child_to_overwrite(bare(file)?)?)?;
        open.seek(SeekFrom::Start(offset))?;
        beneath::write_all(&open, bytes)
    }

    /// The names of the folders in it.
    pub fn folders(&self) -> io::Result<Vec<String>> {
        let listed = self.dir.reopen(OpenFor::List)?.list()?.into_iter();
        Ok(listed.filter(|one| one.kind == FileKind::Directory).filter_map(|one| one.name.into_string().ok()).collect())
    }

    /// Replaces a file, or makes it, atomically.
    pub fn replace(&self, file: &str, bytes: &[u8]) -> io::Result<()> {
        let name = bare(file)?;
        let mut temporary = Temporary::create(&self.dir, true)?;
        beneath::write_all(temporary.file(), bytes)?;
        temporary.replace_any(name)
    }
}

/// The file, if it is a regular one.
fn regular(file: File) -> io::Result<File> {
    if beneath::file_stat(&file)?.kind == FileKind::File { Ok(file) } else { Err(io::ErrorKind::InvalidInput.into()) }
}

/// A single component, for the name of a file in the folder.
fn bare(file: &str) -> io::Result<&OsStr> {
    let odd = file.is_empty() || file == "." || file == ".." || file.contains(['/', '\\', '\0']);
    if odd { Err(io::ErrorKind::InvalidInput.into()) } else { Ok(OsStr::new(file)) }
}

// When something was written to the disk, so that a later process notices a clock that went back since.

/// Nanoseconds by which the clock may have gone back without being noticed, as by a leap second. Facts of files are kept
/// only where their times are older than that, so none of them can be of a later state than it says.
const TOLERANCE: i64 = 1_500_000_000;

/// The time of the wall clock, and when by that clock the machine was started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoredMoment {
    /// Nanoseconds since 1970 by the wall clock.
    pub wall: i64,
    /// When the machine was started. Changes only when the clock is set, and with the next start: it never gets smaller
    /// unless the clock went back (`CLOCK_BOOTTIME` of `clock_gettime(2)`).
    pub started: i64,
}

impl StoredMoment {
    /// Now; `None` where the system does not say how long it has been up.
    pub fn now() -> Option<Self> {
        let wall = SystemTime::now().duration_since(UNIX_EPOCH).ok()?;
        let wall = i64::try_from(wall.as_nanos()).ok()?;
        Some(Self { wall, started: wall.checked_sub(uptime()?)? })
    }

    /// Whether the clock has only gone forward from this moment to `now`.
    pub fn is_before(&self, now: &Self) -> bool {
        self.wall <= now.wall && self.started.saturating_sub(now.started) <= TOLERANCE
    }
}

/// Nanoseconds that the machine has been up, those of sleep included.
#[cfg(target_os = "linux")]
fn uptime() -> Option<i64> {
    let up = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
    up.tv_sec.checked_mul(1_000_000_000)?.checked_add(up.tv_nsec)
}

#[cfg(not(target_os = "linux"))]
fn uptime() -> Option<i64> {
    None
}

#[cfg(test)]
mod tests {
    #![expect(clippy::disallowed_methods, reason = "the test looks from outside")]

    use super::*;

    #[test]
    fn next_process_reads_what_was_written() {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("a/b");
        let state = StateDir::open(&path).unwrap();
        state.append("log", b"one\n").unwrap();
        state.append("log", b"two\n").unwrap();
        state.replace("seen", b"first").unwrap();
        state.replace("seen", b"second").unwrap();
        let again = StateDir::open(&path).unwrap();
        assert_eq!(again.read("log", 100).unwrap(), b"one\ntwo\n");
        assert_eq!(again.size("log").unwrap(), 8);
        assert_eq!(again.read("seen", 3).unwrap(), b"sec");
        assert_eq!(again.read("none", 3).unwrap_err().kind(), io::ErrorKind::NotFound);
        assert_eq!(std::fs::read_dir(&path).unwrap().count(), 2);
    }

    #[test]
    fn name_with_a_separator_is_refused() {
        let temp = tempfile::tempdir().unwrap();
        let state = StateDir::open(temp.path()).unwrap();
        for name in ["", ".", "..", "a/b", "/etc/passwd"] {
            assert!(state.append(name, b"x").is_err(), "{name}");
            assert!(state.read(name, 1).is_err(), "{name}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn folder_is_private_and_refuses_links() {
        use std::os::unix::fs::{PermissionsExt as _, symlink};
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("state");
        let state = StateDir::open(&path).unwrap();
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        state.append("a", b"x").unwrap();
        state.replace("b", b"x").unwrap();
        assert_eq!((mode(&path), mode(&path.join("a")), mode(&path.join("b"))), (0o700, 0o600, 0o600));

        let outside = temp.path().join("outside");
        std::fs::write(&outside, "kept").unwrap();
        symlink(&outside, path.join("link")).unwrap();
        assert!(state.append("link", b"x").is_err());
        assert!(state.read("link", 9).is_err());
        state.replace("link", b"x").unwrap();
        assert_eq!(std::fs::read(&outside).unwrap(), b"kept");
    }
}

#[cfg(test)]
mod stored_moment_tests {
    use super::*;

    #[test]
    fn clock_that_went_back_is_noticed() {
        const SECOND: i64 = 1_000_000_000;
        let then = StoredMoment { wall: 1000 * SECOND, started: 400 * SECOND };
        let later = |wall: i64, started: i64| StoredMoment { wall: wall * SECOND, started: started * SECOND };
        assert!(then.is_before(&then));
        assert!(then.is_before(&later(1060, 400)));
        assert!(then.is_before(&later(5000, 4000)), "another start of the machine");
        assert!(!then.is_before(&later(999, 399)), "written in the future");
        assert!(!then.is_before(&later(1060, 390)), "the clock was set back by ten seconds meanwhile");
        assert!(then.is_before(&later(1060, 399)), "a leap second");
        assert!(!then.is_before(&later(1060, -8000)));
    }
}
