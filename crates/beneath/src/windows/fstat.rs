//! What an open file or directory is, and what a replacement inherits.

use std::fs::{File, OpenOptions};
use std::os::windows::fs::OpenOptionsExt as _;
use std::time::{Duration, SystemTime};
use std::{io, path::Path};

use crate::{Attributes, FileIdentity, FileKind, Stat};

/// `FILE_FLAG_BACKUP_SEMANTICS`: directories can be opened.
pub(super) const BACKUP_SEMANTICS: u32 = 0x0200_0000;
/// `FILE_FLAG_OPEN_REPARSE_POINT`: a link itself is opened.
pub(super) const OPEN_REPARSE_POINT: u32 = 0x0020_0000;
/// `FILE_ATTRIBUTE_REPARSE_POINT`: a link, or a file that a filter fills in (`OneDrive`, deduplication).
pub(super) const REPARSE_POINT: u32 = 0x400;
/// `FILE_ATTRIBUTE_DIRECTORY`.
const DIRECTORY_ATTRIBUTE: u32 = 0x10;
/// `FILE_ATTRIBUTE_HIDDEN`, `_SYSTEM`, `_ARCHIVE`, `_NOT_CONTENT_INDEXED`: what a new file can be given.
const KEPT_ATTRIBUTES: u32 = 0x2 | 0x4 | 0x20 | 0x2000;

pub fn file_stat(file: &File) -> io::Result<Stat> {
    // Asked once, as each answer names the volume, which is slow to find out on some systems.
    let information = winapi_util::file::information(file)?;
    let attributes = u32::try_from(information.file_attributes()).unwrap_or_default();
    let is_other_place = || file.metadata().map(|metadata| metadata.file_type().is_symlink());
    // A junction and a mount point are links for the standard library, too: reparse points that name another place.
    let kind = if attributes & REPARSE_POINT != 0 && is_other_place()? {
        FileKind::Symlink
    } else if attributes & DIRECTORY_ATTRIBUTE != 0 {
        FileKind::Directory
    } else {
        FileKind::File
    };
    let modified = time(information.last_write_time());
    let since_1970 = |time: Option<SystemTime>| {
        let age = time?.duration_since(SystemTime::UNIX_EPOCH).ok()?;
        Some((i64::try_from(age.as_secs()).ok()?, age.subsec_nanos()))
    };
    Ok(Stat {
        kind,
        size: information.file_size(),
        modified,
        identity: FileIdentity {
            device: information.volume_serial_number(),
            // 64 bits, stable while the file exists on NTFS. ReFS has 128 and documents that these may repeat; on FAT
            // it is the place of the entry, which a move changes: both only cost a comparison of the content.
            // https://learn.microsoft.com/windows/win32/api/fileapi/ns-fileapi-by_handle_file_information
            inode: information.file_index(),
            links: information.number_of_links(),
            modified: since_1970(modified).unwrap_or_default(),
            // The time of the last change to metadata is not in this structure.
            changed: since_1970(time(information.creation_time())).unwrap_or_default(),
            attributes,
            ..FileIdentity::default()
        },
    })
}

/// The time that a `FILETIME` says: units of 100 ns since 1601.
fn time(ticks: Option<u64>) -> Option<SystemTime> {
    const PER_SECOND: u64 = 10_000_000;
    const FROM_1601_TO_1970: Duration = Duration::from_secs(11_644_473_600);
    let since_1601 = Duration::from_secs(ticks? / PER_SECOND) + Duration::from_nanos(ticks? % PER_SECOND * 100);
    SystemTime::UNIX_EPOCH.checked_sub(FROM_1601_TO_1970)?.checked_add(since_1601)
}

pub fn next_data(_: &File, at: u64, _: u64) -> u64 {
    at
}

/// As [`next_data`]: the end, as if there were no hole.
pub fn next_hole(_: &File, _: u64, size: u64) -> u64 {
    size
}

pub(super) fn kept_attributes(old: &Stat) -> u32 {
    old.identity.attributes & KEPT_ATTRIBUTES
}

/// Volume and file number of what a host path leads to.
pub fn identity(path: &Path) -> io::Result<(u64, u64)> {
    let file = OpenOptions::new().access_mode(0).custom_flags(BACKUP_SEMANTICS).open(path)?;
    Ok(file_stat(&file)?.device_and_inode())
}

/// The attributes are given when the file is made, and rights are inherited from the directory.
impl Attributes {
    /// There are none here.
    pub fn of(_file: &File, _stat: &Stat) -> Self {
        Self::default()
    }

    /// There are none here.
    #[expect(clippy::unnecessary_wraps, clippy::unused_self, reason = "the same signature as elsewhere")]
    pub fn give(&self, _file: &File) -> io::Result<()> {
        Ok(())
    }
}

/// Rights are inherited here.
#[expect(clippy::unnecessary_wraps, reason = "the same signature as elsewhere")]
pub fn set_mode(_file: &File, _mode: u32) -> io::Result<()> {
    Ok(())
}
