//! `fstat(2)` and `statat` as a [`Stat`], the same on every Unix.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use rustix::fs::{AtFlags, CWD, FileType, SeekFrom, fstat, seek, statat};
use rustix::io::Errno;

use crate::{FileIdentity, FileKind, Stat};

use super::process::retry;

/// Device and inode of what a root's host path leads to, links followed.
pub fn identity(path: &Path) -> io::Result<(u64, u64)> {
    Ok(stat_of(&retry(|| statat(CWD, path, AtFlags::empty()))?).device_and_inode())
}

/// The path without links.
#[expect(clippy::disallowed_methods, reason = "once at start-up, on trusted paths, before any call is served")]
pub fn canonical(path: &Path) -> io::Result<PathBuf> {
    path.canonicalize()
}

/// Stats an open file.
pub fn file_stat(file: &File) -> io::Result<Stat> {
    Ok(stat_of(&fstat(file)?))
}

/// Where data of a file of that size begins, at `at` or after it; its end where only a hole follows.
pub fn next_data(file: &File, at: u64, size: u64) -> u64 {
    // ENXIO: no data follows (lseek(2)). Any other error, as EINVAL of systems without `SEEK_DATA`: all may be data.
    next_extent(file, SeekFrom::Data(at)).unwrap_or_else(|error| if error == Errno::NXIO { size } else { at })
}

/// Where the next hole of a file of that size begins, after `at`; its end where none does, or nobody knows.
pub fn next_hole(file: &File, at: u64, size: u64) -> u64 {
    next_extent(file, SeekFrom::Hole(at)).ok().filter(|hole| *hole > at).unwrap_or(size)
}

/// Leaves the position of the file where it was.
fn next_extent(file: &File, to: SeekFrom) -> Result<u64, Errno> {
    let place = seek(file, SeekFrom::Current(0))?;
    let found = seek(file, to);
    seek(file, SeekFrom::Start(place))?;
    found
}

/// Field types differ between systems; every value fits, and a negative one means nothing here.
fn number<T: TryInto<u64>>(value: T) -> u64 {
    value.try_into().unwrap_or(0)
}

fn seconds<T: TryInto<i64>>(value: T) -> i64 {
    value.try_into().unwrap_or(0)
}

fn narrow<T: TryInto<u32>>(value: T) -> u32 {
    value.try_into().unwrap_or(0)
}

pub(super) fn stat_of(raw: &rustix::fs::Stat) -> Stat {
    let kind = match FileType::from_raw_mode(raw.st_mode) {
        FileType::RegularFile => FileKind::File,
        FileType::Directory => FileKind::Directory,
        FileType::Symlink => FileKind::Symlink,
        _ => FileKind::Other,
    };
    let identity = FileIdentity {
        device: number(raw.st_dev),
        inode: number(raw.st_ino),
        links: number(raw.st_nlink),
        mode: narrow(raw.st_mode),
        uid: raw.st_uid,
        gid: raw.st_gid,
        modified: (seconds(raw.st_mtime), narrow(raw.st_mtime_nsec)),
        changed: (seconds(raw.st_ctime), narrow(raw.st_ctime_nsec)),
    };
    Stat { kind, size: number(raw.st_size), modified: system_time(identity.modified), identity }
}

fn system_time((seconds, nanoseconds): (i64, u32)) -> Option<SystemTime> {
    let whole = Duration::from_secs(seconds.unsigned_abs());
    let base =
        if seconds < 0 { SystemTime::UNIX_EPOCH.checked_sub(whole) } else { SystemTime::UNIX_EPOCH.checked_add(whole) };
    base?.checked_add(Duration::from_nanos(nanoseconds.into()))
}
