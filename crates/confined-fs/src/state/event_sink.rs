//! Where lines about changes go: a file, a FIFO, or a Unix socket that the host listens on.
//!
//! Opened once, before the process is confined. A FIFO or a socket is written without waiting: what does not fit is the
//! caller's to drop.

use std::io;
use std::path::{Path, PathBuf};

use super::AppendLog;

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
    Stream(stream::LineStream),
}

impl EventSink {
    /// Opens `path`: a FIFO that is there, a listening socket, or else a file, which is made and rotated at `limit`
    /// bytes.
    pub fn open(path: &Path, is_socket: bool, limit: u64) -> io::Result<Self> {
        #[cfg(unix)]
        if let Some(stream) = stream::LineStream::open(path, is_socket)? {
            return Ok(Self { to: To::Stream(stream), folder: super::append_log::folder_of(path)? });
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

#[cfg(unix)]
mod stream {
    use std::fs::File;
    use std::io::{self, Write};
    use std::os::unix::net::UnixStream;
    use std::path::Path;

    use rustix::fs::{Mode, OFlags, open};

    use beneath::FileKind;

    /// A stream of lines that is never waited for.
    #[derive(Debug)]
    pub(super) struct LineStream {
        to: Stream,
        /// The rest of a line that was written in part.
        rest: Vec<u8>,
    }

    #[derive(Debug)]
    enum Stream {
        Fifo(File),
        Socket(UnixStream),
    }

    impl LineStream {
        /// The stream at `path`; `None` where a file is there, or nothing.
        #[expect(clippy::disallowed_methods, reason = "once at start-up, on a trusted path, before any call is served")]
        pub(super) fn open(path: &Path, is_socket: bool) -> io::Result<Option<Self>> {
            use std::os::unix::fs::FileTypeExt as _;
            let kind = match std::fs::symlink_metadata(path) {
                Ok(found) => Some(found.file_type()),
                Err(error) if error.kind() == io::ErrorKind::NotFound && !is_socket => None,
                Err(error) => return Err(error),
            };
            let to = if is_socket || kind.is_some_and(|kind| kind.is_socket()) {
                let socket = UnixStream::connect(path)?;
                socket.set_nonblocking(true)?;
                Stream::Socket(socket)
            } else if kind.is_some_and(|kind| kind.is_fifo()) {
                // For reading as well: it needs no reader then, and a reader that goes ends nothing (fifo(7)).
                let flags = OFlags::RDWR | OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::NOCTTY | OFlags::CLOEXEC;
                let fifo = File::from(open(path, flags, Mode::empty())?);
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
        pub(super) fn write(&mut self, line: &[u8]) -> io::Result<bool> {
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
}
