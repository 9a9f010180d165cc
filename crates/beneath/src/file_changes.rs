//! Reading and changing an open file, again after a signal: its bytes, its time, and that both are on the disk.

use std::io::{self, Read, Seek as _, Write};
use std::{fs::File, time::SystemTime};

#[cfg(unix)]
use super::testing::faults::changing_in_part;

/// Reads once, again if a signal interrupts it (`EINTR`).
pub fn read_some(source: &mut (impl Read + ?Sized), buffer: &mut [u8]) -> io::Result<usize> {
    loop {
        match source.read(buffer) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            answer => return answer,
        }
    }
}

/// The first bytes of a regular file, at most `most`; `None` for anything else, of which nothing is read.
///
/// # Errors
/// Those of the system.
pub fn read_regular(file: &File, most: u64) -> io::Result<Option<Vec<u8>>> {
    if crate::file_stat(file)?.kind != crate::FileKind::File {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    Read::take(file, most).read_to_end(&mut bytes)?;
    Ok(Some(bytes))
}

/// Writes all of `bytes` where the file is at.
pub fn write_all(file: &File, bytes: &[u8]) -> io::Result<()> {
    Writes(file).write_all(bytes)
}

/// Writes as much of `bytes` as the system takes at the end of a file that was opened to append. Returns where they begin,
/// how many are there, and why not all are.
pub fn append(mut file: &File, bytes: &[u8]) -> io::Result<(u64, usize, Option<io::Error>)> {
    // The end is only known once something was written: other programs append, too.
    let before = file.metadata()?.len();
    let (mut at, mut count, mut failed) = (None, 0, None);
    while count < bytes.len() && failed.is_none() {
        match Writes(file).write(&bytes[count..]) {
            Ok(0) => failed = Some(io::ErrorKind::WriteZero.into()),
            Ok(written) => {
                count += written;
                if at.is_none() {
                    at = Some(file.stream_position()?.saturating_sub(written as u64));
                }
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => failed = Some(error),
        }
    }
    let at = at.unwrap_or(before);
    if failed.is_some() {
        // A call that failed may have written a part.
        let more = file.stream_position()?.saturating_sub(at);
        count = count.max(usize::try_from(more).unwrap_or(0).min(bytes.len()));
    }
    Ok((at, count, failed))
}

/// Cuts a file to a length.
pub fn set_length(file: &File, length: u64) -> io::Result<()> {
    change("ftruncate", || file.set_len(length))
}

/// Puts the content of a file on the disk, with its length (fdatasync(2)).
pub fn sync_data(file: &File) -> io::Result<()> {
    change("fdatasync", || file.sync_data())
}

/// As [`sync_data`], with its rights and times (fsync(2)).
pub fn sync_all(file: &File) -> io::Result<()> {
    change("fsync", || file.sync_all())
}

/// Sets when a file was last written.
pub fn set_modified(file: &File, to: SystemTime) -> io::Result<()> {
    change("futimens", || file.set_modified(to))
}

struct Writes<'f>(&'f File);

impl Write for Writes<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        changing_in_part("write", |in_part| self.0.write(if in_part { &bytes[..bytes.len() / 2] } else { bytes }))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Makes a call, again if a signal interrupts it (`EINTR`), as the standard library does.
fn change(name: &str, call: impl Fn() -> io::Result<()>) -> io::Result<()> {
    loop {
        match changing_in_part(name, |_| call()) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            answer => return answer,
        }
    }
}

#[cfg(not(unix))]
fn changing_in_part<T>(_: &str, call: impl FnOnce(bool) -> io::Result<T>) -> io::Result<T> {
    call(false)
}
