//! Each open that the kernel confines, compared with the slow way, name by name: for tests that set
//! `_ROOTBOUND_CHECK_OPENS`. cap-std does the same with its feature `racy_asserts`:
//! <https://github.com/bytecodealliance/cap-std/blob/main/cap-primitives/src/fs/open.rs>.

use std::io::{self, Write as _};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;
use std::sync::LazyLock;
use std::thread;
use std::time::Duration;

use rustix::fs::{Mode, OFlags, fstat, openat};
use rustix::io::Errno;

use crate::{Failure, contract::TRAVERSE_FLAGS};

use super::faults;

/// Looks again so often where the two differ: another process may rename in between, and go on with that.
const MAX_RACES: u64 = 100;

type Opened = Result<OwnedFd, Failure>;

/// The answer of `open`, which opens `relative` beneath `dir`. Ends the process where the slow way has another one: a panic
/// would fail one call, which a test may expect.
pub(crate) fn checked(dir: BorrowedFd<'_>, relative: &Path, flags: OFlags, open: impl Fn() -> Opened) -> Opened {
    static IS_WANTED: LazyLock<bool> = LazyLock::new(|| std::env::var_os("_ROOTBOUND_CHECK_OPENS").is_some());
    let opened = open();
    if cfg!(debug_assertions)
        && *IS_WANTED
        && let Some(both) = difference(dir, relative, flags, &opened, open)
    {
        let _ = writeln!(io::stderr(), "another answer than the slow way: {both}");
        faults::die();
    }
    opened
}

/// Both answers, where they differ again and again. `opened` is the first one of `open`.
fn difference(
    dir: BorrowedFd<'_>,
    relative: &Path,
    flags: OFlags,
    opened: &Opened,
    open: impl Fn() -> Opened,
) -> Option<String> {
    let mut again = None;
    let mut attempt = 0;
    loop {
        let fast = again.as_ref().unwrap_or(opened);
        let slow = walk(dir, relative, flags);
        if is_same(fast, &slow) {
            return None;
        }
        attempt += 1;
        if attempt == MAX_RACES {
            return Some(format!("{}: openat2 {}, a walk {}", relative.display(), shown(fast), shown(&slow)));
        }
        // A process that renames all the time is in step with two lookups: the kernel repeats one that met a rename.
        thread::sleep(Duration::from_micros(attempt));
        again = Some(open());
    }
}

/// Opens `relative` name by name without following a link.
fn walk(dir: BorrowedFd<'_>, relative: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
    let mut here: Option<OwnedFd> = None;
    for name in relative.parent().into_iter().flatten() {
        here = Some(openat(here.as_ref().map_or(dir, AsFd::as_fd), name, TRAVERSE_FLAGS, Mode::empty())?);
    }
    let name = relative.file_name().unwrap_or(relative.as_os_str());
    openat(here.as_ref().map_or(dir, AsFd::as_fd), name, flags | OFlags::NOFOLLOW, Mode::empty())
}

/// Whether both have opened the same file, or failed in the same way.
fn is_same(fast: &Opened, slow: &Result<OwnedFd, Errno>) -> bool {
    let identity = |fd: &OwnedFd| fstat(fd).map(|stat| (stat.st_dev, stat.st_ino)).ok();
    // A limit of the process, a signal, or a rename that was met too often: nothing is known of what is there.
    let says_nothing = |errno: Option<Errno>| {
        matches!(errno, Some(Errno::MFILE | Errno::NFILE | Errno::NOMEM | Errno::INTR | Errno::AGAIN))
    };
    let slow_errno = slow.as_ref().err().copied();
    match (fast, slow) {
        (Ok(fast), Ok(slow)) => identity(fast) == identity(slow),
        // A link on the way is no directory to `O_DIRECTORY | O_NOFOLLOW` (open(2)).
        (Err(Failure::Link), Err(Errno::LOOP | Errno::NOTDIR)) => true,
        (Err(Failure::Io(error)), _) => {
            let errno = Errno::from_io_error(error);
            errno == slow_errno || says_nothing(errno) || says_nothing(slow_errno)
        }
        _ => says_nothing(slow_errno),
    }
}

fn shown<E: std::fmt::Debug>(answer: &Result<OwnedFd, E>) -> String {
    match answer {
        Ok(fd) => format!("opens {:?}", fstat(fd).map(|stat| (stat.st_dev, stat.st_ino))),
        Err(error) => format!("fails with {error:?}"),
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::disallowed_methods, reason = "the test arranges the files")]

    use std::cell::Cell;
    use std::fs::{self, File};

    use super::*;
    use crate::contract::READ_FLAGS;

    /// A folder with `real/file` and a link `dir` to `real`, and what the check says of such an `open` in it.
    fn check(relative: &str, open: impl Fn(&Path) -> io::Result<File>) -> Option<String> {
        let temp = tempfile::tempdir().unwrap();
        fs::create_dir(temp.path().join("real")).unwrap();
        fs::write(temp.path().join("real/file"), "").unwrap();
        std::os::unix::fs::symlink("real", temp.path().join("dir")).unwrap();
        let top = File::open(temp.path()).unwrap();
        let open = || Ok(open(temp.path())?.into());
        difference(top.as_fd(), Path::new(relative), READ_FLAGS, &open(), open)
    }

    #[test]
    fn wrong_answer_is_found_out() {
        let through_link = check("dir/file", |top| File::open(top.join("dir/file"))).unwrap();
        assert!(through_link.starts_with("dir/file: openat2 opens Ok("), "{through_link}");
        assert!(through_link.contains("a walk fails with"), "{through_link}");
        let other = check("real/file", |top| File::open(top.join("real")));
        assert!(other.is_some_and(|both| both.contains("a walk opens Ok(")));
        let missing = check("real/file", |_| Err(io::Error::from(Errno::NOENT)));
        assert!(missing.is_some_and(|both| both.contains("NotFound")));
    }

    #[test]
    fn right_answer_and_a_race_are_none() {
        assert_eq!(check("real/file", |top| File::open(top.join("real/file"))), None);
        assert_eq!(check("real/none", |top| File::open(top.join("real/none"))), None);
        let looks = Cell::new(0);
        let late = |top: &Path| {
            looks.set(looks.get() + 1);
            File::open(top.join(if looks.get() < 5 { "real" } else { "real/file" }))
        };
        assert_eq!(check("real/file", late), None);
        assert_eq!(looks.get(), 5);
    }
}
