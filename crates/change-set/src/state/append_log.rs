//! An append-only log of lines that is rotated at a size.
//!
//! Several processes may write to one log: a line is one `write(2)` with `O_APPEND`, which no other one is mixed with.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};

use beneath::FileKind;

use super::StateDir;
use beneath::Dir;
use confined_fs::for_changes::IfThere as _;

/// Rotated files that are kept: `FILE.1` is the newest.
const KEPT: usize = 5;

/// An append-only file in an open folder.
#[derive(Debug)]
pub struct AppendLog {
    dir: Dir,
    name: OsString,
    /// Bytes after which the file is rotated.
    limit: u64,
    folder: PathBuf,
}

impl AppendLog {
    /// Opens the log at `path`, and makes it (for its owner only) with the folders that are missing.
    /// A link or special file of that name is refused.
    pub fn open(path: &Path, limit: u64) -> io::Result<Self> {
        let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?.to_owned();
        let StateDir { dir } = StateDir::open(parent_of(path))?;
        let log = Self { dir, name, limit, folder: folder_of(path)? };
        log.append(b"")?;
        Ok(log)
    }

    /// Every file that a log at `path` may be in: the one that grows, and the rotated ones.
    pub fn names(path: &Path) -> Vec<PathBuf> {
        let rotated = (1..=KEPT).map(|number| numbered(path.as_os_str(), number).into());
        std::iter::once(path.to_owned()).chain(rotated).collect()
    }

    /// The folder of the log, without links.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Appends `line` in one write, so that lines of several processes do not mix.
    pub fn append(&self, line: &[u8]) -> io::Result<()> {
        let mut file = self.dir.append(&self.name)?;
        let stat = beneath::file_stat(&file)?;
        if stat.kind != FileKind::File {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        // Without the lock another process is rotating it; a line over the limit does no harm.
        if stat.size > 0 && stat.size + line.len() as u64 > self.limit && beneath::try_lock(&file) {
            let named = self.dir.child_stat(&self.name)?;
            // Else it was rotated between the open and the lock.
            if named.same_file(&stat) {
                self.rotate()?;
            }
            file = self.dir.append(&self.name)?;
        }
        beneath::write_all(&file, line)
    }

    /// `FILE.4` becomes `FILE.5` and so on up to `FILE`, which becomes `FILE.1`.
    fn rotate(&self) -> io::Result<()> {
        // The oldest first: a kill in between leaves a gap in the numbers, and no file in the place of another one.
        for number in (1..KEPT).rev() {
            let (from, to) = (numbered(&self.name, number), numbered(&self.name, number + 1));
            self.dir.move_over(&from, &self.dir, &to).if_there()?;
        }
        self.dir.move_over(&self.name, &self.dir, &numbered(&self.name, 1))
    }
}

fn numbered(name: &OsStr, number: usize) -> OsString {
    let mut name = name.to_owned();
    name.push(format!(".{number}"));
    name
}

/// The folder that holds `path`, without links.
#[expect(clippy::disallowed_methods, reason = "once at start-up, on a trusted path, before any call is served")]
fn folder_of(path: &Path) -> io::Result<PathBuf> {
    parent_of(path).canonicalize()
}

fn parent_of(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

// Where lines about changes go: a file, a FIFO, or a Unix socket that the host listens on.
//
// Opened once, before the process is confined. A FIFO or a socket is written without waiting: what does not fit is the
// caller's to drop.

/// Somewhere to write lines to.
#[derive(Debug)]
pub struct EventSink {
    to: To,
    folder: PathBuf,
}

#[derive(Debug)]
enum To {
    File(AppendLog),
    #[cfg(unix)]
    Stream(LineStream),
}

impl EventSink {
    /// Opens `path`: a FIFO that is there, a listening socket, or else a file, which is made and rotated at `limit`
    /// bytes.
    pub fn open(path: &Path, is_socket: bool, limit: u64) -> io::Result<Self> {
        #[cfg(unix)]
        if let Some(stream) = LineStream::open(path, is_socket)? {
            return Ok(Self { to: To::Stream(stream), folder: folder_of(path)? });
        }
        if is_socket {
            return Err(io::Error::new(io::ErrorKind::Unsupported, "there are no Unix sockets here"));
        }
        let log = AppendLog::open(path, limit)?;
        let folder = log.folder().to_owned();
        Ok(Self { to: To::File(log), folder })
    }

    /// The folder it is in, without links.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Whether it is written by its name again and again, so that the folder must stay accessible.
    pub fn needs_folder(&self) -> bool {
        matches!(self.to, To::File(_))
    }

    /// Writes `line`, which ends in a newline; whether there was room for it.
    pub fn write(&mut self, line: &[u8]) -> io::Result<bool> {
        match &mut self.to {
            To::File(log) => log.append(line).map(|()| true),
            #[cfg(unix)]
            To::Stream(stream) => stream.write(line),
        }
    }
}

/// A stream of lines that is never waited for.
#[cfg(unix)]
#[derive(Debug)]
struct LineStream {
    to: Stream,
    /// The rest of a line that was written in part.
    rest: Vec<u8>,
}

#[cfg(unix)]
#[derive(Debug)]
enum Stream {
    Fifo(std::fs::File),
    Socket(std::os::unix::net::UnixStream),
}

#[cfg(unix)]
impl LineStream {
    /// The stream at `path`; `None` where a file is there, or nothing.
    #[expect(clippy::disallowed_methods, reason = "once at start-up, on a trusted path, before any call is served")]
    fn open(path: &Path, is_socket: bool) -> io::Result<Option<Self>> {
        use std::os::unix::fs::FileTypeExt as _;

        use rustix::fs::{Mode, OFlags, open};

        let kind = match std::fs::symlink_metadata(path) {
            Ok(found) => Some(found.file_type()),
            Err(error) if error.kind() == io::ErrorKind::NotFound && !is_socket => None,
            Err(error) => return Err(error),
        };
        let to = if is_socket || kind.is_some_and(|kind| kind.is_socket()) {
            let socket = std::os::unix::net::UnixStream::connect(path)?;
            socket.set_nonblocking(true)?;
            Stream::Socket(socket)
        } else if kind.is_some_and(|kind| kind.is_fifo()) {
            // For reading as well: it needs no reader then, and a reader that goes ends nothing (fifo(7)).
            let flags = OFlags::RDWR | OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::NOCTTY | OFlags::CLOEXEC;
            let fifo = std::fs::File::from(open(path, flags, Mode::empty())?);
            if beneath::file_stat(&fifo)?.kind != FileKind::Other {
                return Err(io::ErrorKind::InvalidInput.into());
            }
            Stream::Fifo(fifo)
        } else {
            return Ok(None);
        };
        Ok(Some(Self { to, rest: Vec::new() }))
    }

    /// Writes a line, or nothing of it: whether there was room.
    fn write(&mut self, line: &[u8]) -> io::Result<bool> {
        let rest = std::mem::take(&mut self.rest);
        let written = self.write_some(&rest)?;
        self.rest = rest.get(written..).unwrap_or_default().to_vec();
        if !self.rest.is_empty() {
            return Ok(false);
        }
        let written = self.write_some(line)?;
        if written > 0 {
            self.rest = line.get(written..).unwrap_or_default().to_vec();
        }
        Ok(written > 0)
    }

    fn write_some(&mut self, mut bytes: &[u8]) -> io::Result<usize> {
        use std::io::Write as _;

        let mut all = 0;
        while !bytes.is_empty() {
            let written = match &mut self.to {
                Stream::Fifo(fifo) => fifo.write(bytes),
                Stream::Socket(socket) => socket.write(bytes),
            };
            match written {
                Ok(0) => break,
                Ok(written) => {
                    all += written;
                    bytes = &bytes[written..];
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(all)
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::disallowed_methods, reason = "the test looks from outside")]

    use super::*;

    #[test]
    fn full_log_is_rotated_and_five_old_ones_are_kept() {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("new/audit.log");
        let log = AppendLog::open(&path, 10).unwrap();
        for number in 0..9 {
            log.append(format!("line {number}\n").as_bytes()).unwrap();
        }
        let read = |name: &str| std::fs::read_to_string(temp.path().join("new").join(name)).unwrap();
        assert_eq!(read("audit.log"), "line 8\n");
        assert_eq!(read("audit.log.1"), "line 7\n");
        assert_eq!(read("audit.log.5"), "line 3\n");
        assert_eq!(std::fs::read_dir(temp.path().join("new")).unwrap().count(), 6);
    }

    #[test]
    fn line_over_the_limit_is_written_whole() {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("log");
        let log = AppendLog::open(&path, 4).unwrap();
        log.append(b"a long line\n").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"a long line\n");
    }

    #[cfg(unix)]
    #[test]
    fn link_in_the_place_of_the_log_is_refused() {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("log");
        std::os::unix::fs::symlink(temp.path().join("other"), &path).unwrap();
        assert!(AppendLog::open(&path, 100).is_err());
    }
}
