//! A private folder of the user for what outlives the process, such as what a session has seen.
//!
//! Opened once; files in it are reached by bare names through its handle, never through a link, so that a link put
//! there by another process is neither read nor written through.

mod append_log;
mod event_sink;
mod objects;
mod private_file;
mod stored_moment;

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use super::write::{Temporary, is_reserved};
use super::{Dir, StaleAfter};

pub use append_log::AppendLog;
use beneath::{FileKind, LockAttempt, OpenFor};
pub use event_sink::EventSink;
pub use objects::{Durable, StateFile};
pub use private_file::{NewPrivateFile, PrivateFile};
pub use stored_moment::StoredMoment;

/// How long [`StateDir::lock`] tries.
const LOCK_WITHIN: Duration = Duration::from_millis(100);

/// The lock of [`StateDir::lock`], until it is dropped.
#[derive(Debug)]
pub struct FolderLock {
    _handle: Option<Dir>,
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
            match Dir::open_ambient(base, false) {
                Ok(dir) => break dir,
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    let (Some(parent), Some(name)) = (base.parent(), base.file_name()) else {
                        return Err(error);
                    };
                    missing.push(name);
                    base = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
                }
                Err(error) => return Err(error),
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

    /// Its handle.
    pub(super) fn dir(&self) -> &Dir {
        &self.dir
    }

    /// The folder of that name in this one, made (mode 0700) when it is missing.
    fn child(&self, name: &OsStr) -> io::Result<Self> {
        match self.dir.make_dir(name, true) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
            _ => Ok(Self { dir: self.dir.child_dir(name, OpenFor::Traverse)? }),
        }
    }

    /// The same folder through another handle.
    pub fn try_clone(&self) -> io::Result<Self> {
        Ok(Self { dir: self.dir.try_clone()? })
    }

    /// Takes the advisory lock of this folder, against other processes and other calls. Goes on without it after 0.1 s,
    /// as the process that has it may have been stopped.
    pub fn lock(&self) -> FolderLock {
        let began = Instant::now();
        let handle = self.dir.reopen(OpenFor::List).ok();
        if let Some(handle) = &handle {
            while handle.try_lock() == LockAttempt::HeldElsewhere && began.elapsed() < LOCK_WITHIN {
                thread::sleep(Duration::from_micros(200));
            }
        }
        FolderLock { _handle: handle }
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
