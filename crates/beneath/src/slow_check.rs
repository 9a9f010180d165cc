//! Each open that the kernel confines, compared with a walk by names: in programs with debug assertions, so in all tests.
//!
//! cap-std does the same with its feature `racy_asserts`:
//! <https://github.com/bytecodealliance/cap-std/blob/main/cap-primitives/src/fs/open.rs>.

use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::time::Duration;

use rustix::fs::{Mode, OFlags, Stat, fstat, openat};
use rustix::io::Errno;

/// Looks again this often where both differ: another process may rename between the two.
const MAX_RACES: u64 = 100;

/// Panics where `relative` beneath `dir` is another file by its names than `opened`, which `open` opened.
pub(super) fn assert_same(dir: impl AsFd, relative: &Path, opened: &OwnedFd, open: impl Fn() -> Option<OwnedFd>) {
    let mut again = None;
    for attempt in 0..MAX_RACES {
        let Ok(found) = fstat(again.as_ref().unwrap_or(opened)) else { return };
        match walk(&dir, relative) {
            Ok(walked) if (walked.st_dev, walked.st_ino) == (found.st_dev, found.st_ino) => return,
            // A link on the way (`O_DIRECTORY | O_NOFOLLOW`), or another file.
            Ok(_) | Err(Errno::NOTDIR | Errno::LOOP) => {
                // A process that renames all the time is in step with two lookups: the kernel repeats one that met a rename.
                std::thread::sleep(Duration::from_micros(attempt));
                again = open();
            }
            // It is gone by now, or this process may open no more.
            Err(_) => return,
        }
        if again.is_none() {
            return;
        }
    }
    panic!("openat2 opens another file than a walk by names: {}", relative.display());
}

/// What is at `relative`, opened name by name without following a link.
fn walk(dir: impl AsFd, relative: &Path) -> rustix::io::Result<Stat> {
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut names = relative.iter().peekable();
    let mut here: Option<OwnedFd> = None;
    while let Some(name) = names.next() {
        let flags = if names.peek().is_some() { flags | OFlags::DIRECTORY } else { flags };
        let from = here.as_ref().map_or(dir.as_fd(), AsFd::as_fd);
        here = Some(openat(from, name, flags, Mode::empty())?);
    }
    here.as_ref().map_or_else(|| fstat(&dir), fstat)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::disallowed_methods, reason = "the test arranges the files")]

    use std::fs::{self, File};

    use super::*;

    #[test]
    #[should_panic(expected = "another file than a walk by names: dir/file")]
    fn a_file_that_a_link_leads_to_is_found_out() {
        let temp = tempfile::tempdir().unwrap();
        fs::create_dir(temp.path().join("real")).unwrap();
        fs::write(temp.path().join("real/file"), "").unwrap();
        std::os::unix::fs::symlink("real", temp.path().join("dir")).unwrap();
        let open = || File::open(temp.path().join("dir/file")).ok().map(OwnedFd::from);
        assert_same(File::open(temp.path()).unwrap(), Path::new("dir/file"), &open().unwrap(), open);
    }

    #[test]
    fn a_file_that_is_gone_is_nobodys_mistake() {
        let temp = tempfile::tempdir().unwrap();
        fs::write(temp.path().join("file"), "").unwrap();
        let opened = File::open(temp.path().join("file")).unwrap().into();
        fs::remove_file(temp.path().join("file")).unwrap();
        assert_same(File::open(temp.path()).unwrap(), Path::new("file"), &opened, || None);
    }
}
