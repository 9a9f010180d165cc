//! What the kernel reports of the whole machine, and no directory's events do: that file systems were
//! mounted or unmounted, and that a process can write without an event.
//!
//! Both files are opened before the process is confined, since they are outside of every root; reading an open
//! one is never refused.

use std::io::{Read as _, Seek as _};
use std::os::fd::{AsFd, AsRawFd as _};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::{fs::File, os::unix::fs::FileExt as _};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{CWD, readlinkat};

use super::MountsBelow;

/// The mounts of this process's namespace, proc(5). Since Linux 2.6.30 `poll` reports `POLLERR | POLLPRI` on it
/// once after each change, to the descriptor and not to the process (`mounts_poll` in `fs/proc_namespace.c`).
const MOUNT_TABLE: &str = "/proc/self/mountinfo";
/// How many requests all contexts of Linux AIO on this machine can hold; 0 while no process has one.
const AIO_COUNT: &str = "/proc/sys/fs/aio-nr";
/// Longest table that is read, in bytes: some 200,000 mounts, twice the kernel's limit for a namespace.
const MAX_TABLE_BYTES: u64 = 64 << 20;

/// The mount table and the number of AIO requests. Shared by all watchers of a workspace.
#[derive(Debug)]
pub(crate) struct SystemEvents {
    table: Option<Mutex<MountTable>>,
    aio: Option<File>,
}

#[derive(Debug)]
struct MountTable {
    file: File,
    generation: u64,
}

impl SystemEvents {
    /// Opens both; what cannot be opened is not known.
    #[expect(clippy::disallowed_types, reason = "files of the kernel, outside of every root")]
    pub(crate) fn open() -> Self {
        let table = File::open(MOUNT_TABLE).ok().map(|file| Mutex::new(MountTable { file, generation: 0 }));
        Self { table, aio: File::open(AIO_COUNT).ok() }
    }

    /// A number that is another one once the mounts of this namespace have changed; `None` where that
    /// cannot be known. One system call.
    pub(super) fn generation(&self) -> Option<u64> {
        let mut table = self.table()?;
        let now = Timespec { tv_sec: 0, tv_nsec: 0 };
        let mut asked = [PollFd::new(&table.file, PollFlags::PRI)];
        let changed = match poll(&mut asked, Some(&now)) {
            Ok(0) => false,
            Ok(_) => asked[0].revents().intersects(PollFlags::PRI | PollFlags::ERR),
            // Interrupted, or refused: it may have changed.
            Err(_) => true,
        };
        table.generation += u64::from(changed);
        Some(table.generation)
    }

    /// The paths below `root`, which is an open directory, that are mounted over, and those that another
    /// file system writes through to; `None` where that cannot be known.
    pub(super) fn below(&self, root: impl AsFd) -> Option<MountsBelow> {
        // Where it is now: a directory above it may have been renamed, or its mount moved.
        let link = format!("/proc/self/fd/{}", root.as_fd().as_raw_fd());
        let root = PathBuf::from(std::ffi::OsString::from_vec(readlinkat(CWD, link, Vec::new()).ok()?.into_bytes()));
        if !root.is_absolute() {
            return None;
        }
        let mut bytes = Vec::new();
        let mut table = self.table()?;
        table.file.rewind().ok()?;
        let read = (&mut table.file).take(MAX_TABLE_BYTES).read_to_end(&mut bytes).ok()?;
        // A table that fills the room may have been cut.
        (read > 0 && (read as u64) < MAX_TABLE_BYTES).then(|| MountsBelow::of(&bytes, &root))
    }

    /// Whether some process can write by Linux AIO, which causes no event.
    pub(super) fn has_aio(&self) -> bool {
        let mut digits = [0; 32];
        let read = self.aio.as_ref().and_then(|file| file.read_at(&mut digits, 0).ok());
        // Without that file the kernel has no AIO.
        read.is_some_and(|length| digits[..length].iter().any(|digit| matches!(digit, b'1'..=b'9')))
    }

    fn table(&self) -> Option<MutexGuard<'_, MountTable>> {
        // What a panic leaves is a file and a number.
        self.table.as_ref().map(|table| table.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl MountsBelow {
    /// Reads a mount table, a line for each mount: number, parent, device, root, mount point, options,
    /// optional fields, `-`, type, source, options of the file system.
    fn of(table: &[u8], root: &Path) -> Self {
        let mut mounts_below = Self::default();
        let below = |path: PathBuf| {
            let relative = path.strip_prefix(root).ok()?;
            (!relative.as_os_str().is_empty()).then(|| relative.to_path_buf())
        };
        for line in table.split(|byte| *byte == b'\n') {
            let mut fields = line.split(|byte| *byte == b' ');
            mounts_below.mounted.extend(fields.nth(4).map(unescaped).and_then(below));
            let options = fields.skip_while(|field| *field != b"-").nth(3).unwrap_or_default();
            let upper = options.split(|byte| *byte == b',').find_map(|option| option.strip_prefix(b"upperdir="));
            mounts_below.written_through.extend(upper.map(unescaped).and_then(below));
        }
        mounts_below
    }
}

/// A field of the table: white space, `\` and `#` in it are written as three octal digits.
fn unescaped(field: &[u8]) -> PathBuf {
    let mut bytes = Vec::with_capacity(field.len());
    let mut rest = field;
    let is_octal = |digit: &u8| (b'0'..=b'7').contains(digit);
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        match after.first_chunk::<3>() {
            Some(digits) if *first == b'\\' && digits.iter().all(is_octal) => {
                // The kernel writes nothing above `\377`; what is no such table must not end in an overflow.
                bytes.push(digits.iter().fold(0, |value: u8, digit| value.wrapping_mul(8).wrapping_add(digit - b'0')));
                rest = &after[3..];
            }
            _ => bytes.push(*first),
        }
    }
    PathBuf::from(std::ffi::OsStr::from_bytes(&bytes))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn mount_points_below_the_root_are_found_and_unescaped() {
        let table = b"22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n\
            30 22 0:40 / /w/tree rw - tmpfs none rw\n\
            31 30 0:41 / /w/tree/a\\040b\\134c\\012 rw shared:2 master:1 - tmpfs none rw\n\
            32 22 0:42 / /w/treetop rw - tmpfs none rw\n\
            33 22 8:1 /x/file /w/tree/deep/file rw - ext4 /dev/sda1 rw\n\
            34 22 0:43 / /m rw - overlay overlay rw,lowerdir=/l,upperdir=/w/tree/up,workdir=/w/tree/work\n";
        let mounts_below = MountsBelow::of(table, Path::new("/w/tree"));
        let paths = |paths: &[&str]| paths.iter().map(PathBuf::from).collect::<BTreeSet<_>>();
        assert_eq!(mounts_below.mounted, paths(&["a b\\c\n", "deep/file"]));
        assert_eq!(mounts_below.written_through, paths(&["up"]));
        assert_eq!(MountsBelow::of(table, Path::new("/")).mounted.len(), 5);
    }

    #[test]
    fn mount_table_can_be_polled_and_read() {
        let system_events = SystemEvents::open();
        let first = system_events.generation();
        assert!(first.is_some(), "{MOUNT_TABLE}");
        let dir = rustix::fs::openat(CWD, "/", rustix::fs::OFlags::PATH, rustix::fs::Mode::empty()).unwrap();
        assert!(system_events.below(dir).is_some());
    }
}
