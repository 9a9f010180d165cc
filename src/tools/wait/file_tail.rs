//! Follows a file as others append to it, replace it, cut it and write it again.
//!
//! The file is opened again for each look, under the rules of `read`, and compared with the one before: a log that was
//! rotated is read to its end first. Reads a bounded part at a time, so a look at gigabytes takes several.

use std::{
    io::{self, Read as _, Seek as _, SeekFrom},
    ops::ControlFlow,
};

use encoding_rs::Encoding;

use confined_fs::{
    AccessError, FileStart, OpenFile, Revision, RevisionHasher, RevisionPrefix, Stat, WorkspacePath, read_some,
    stop::StopReason,
};

use super::{
    super::{CallContext, Kind, ToolError},
    appended_lines::AppendedLines,
    decoded_line::{LineUnit, RawLine},
};

/// Bytes read at a time.
const CHUNK: usize = 256 << 10;
/// Bytes that one look reads.
const LOOK: u64 = 64 << 20;
/// Bytes by which the encoding is recognised.
const HEAD: u64 = 64 << 10;

/// What is handed each complete line.
pub(super) type EachLine<'e> = dyn FnMut(RawLine<'_>, &'static Encoding) -> ControlFlow<()> + 'e;

/// How far a look came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Advance {
    /// To the end of the file.
    End,
    /// As far as one look reads.
    More,
    /// To the line at which the caller broke off.
    BrokenOff,
}

/// A file, up to the place where it has been read.
#[derive(Debug, Default)]
pub(super) struct FileTail {
    file: Option<OpenFile>,
    encoding: Option<&'static Encoding>,
    pub(super) lines: AppendedLines,
    read_to: u64,
    /// Of the bytes up to there; `None` beyond the size that is hashed.
    hasher: Option<RevisionHasher>,
    start: Option<FileStart>,
    /// How often it began again from the first line.
    pub(super) restarts: usize,
}

/// The whole file, where it is small enough to be looked at to its end.
#[derive(Clone, Copy, Debug)]
pub(super) struct TailTotals {
    pub(super) lines: usize,
    pub(super) revision: Option<Revision>,
}

impl FileTail {
    /// A tail of a file that does not exist yet, or of which all is new.
    pub(super) fn new() -> Self {
        Self { hasher: Some(Revision::hasher()), ..Self::default() }
    }

    /// A tail that begins again from the first line, for the time with this number.
    pub(super) fn restarted(restarts: usize) -> Self {
        Self { restarts, ..Self::new() }
    }

    /// What the file was when it was opened for the last look.
    pub(super) fn stat(&self) -> Option<&Stat> {
        self.file.as_ref().map(OpenFile::stat)
    }

    /// What the file of the last look is now.
    pub(super) fn restat(&self) -> Option<Stat> {
        self.file.as_ref()?.restat().ok()
    }

    /// The file of the last look, its real path.
    pub(super) fn real_path(&self) -> Option<&WorkspacePath> {
        self.file.as_ref().map(OpenFile::real_path)
    }

    pub(super) fn start(&self) -> Option<FileStart> {
        self.start
    }

    /// The line at the end without a line break.
    pub(super) fn unfinished(&self) -> Option<(RawLine<'_>, &'static Encoding)> {
        self.lines.unfinished().zip(self.encoding)
    }

    /// Reads on in `file`, which is what is at the path by now.
    pub(super) fn advance(
        &mut self,
        cx: &CallContext,
        path: &WorkspacePath,
        mut file: OpenFile,
        each: &mut EachLine<'_>,
    ) -> Result<Advance, ToolError> {
        let failed = |error| ToolError::from(AccessError::from_io(error, path));
        if let Some(mut old) = self.file.take() {
            let is_same = old.stat().same_file(file.stat());
            if !is_same {
                match self.finish(cx, path, &mut old, each)? {
                    Advance::End => {}
                    other => {
                        self.file = Some(old);
                        return Ok(other);
                    }
                }
            }
            let is_shorter = file.stat().size < self.read_to;
            if is_shorter || !self.continues_in(&mut file).map_err(failed)? {
                *self = Self::restarted(self.restarts + 1);
            }
        }
        let advanced = self.read(cx, path, &mut file, each);
        self.file = Some(file);
        advanced
    }

    /// Reads what was still appended to a file that is no longer at the path.
    pub(super) fn finish_gone(
        &mut self,
        cx: &CallContext,
        path: &WorkspacePath,
        each: &mut EachLine<'_>,
    ) -> Result<Advance, ToolError> {
        let Some(mut old) = self.file.take() else { return Ok(Advance::End) };
        let advanced = self.finish(cx, path, &mut old, each);
        self.file = Some(old);
        advanced
    }

    fn finish(
        &mut self,
        cx: &CallContext,
        path: &WorkspacePath,
        old: &mut OpenFile,
        each: &mut EachLine<'_>,
    ) -> Result<Advance, ToolError> {
        let is_shorter = old.restat().is_ok_and(|now| now.size < self.read_to);
        if is_shorter { Ok(Advance::End) } else { self.read(cx, path, old, each) }
    }

    /// Whether `file` begins with what was read so far.
    fn continues_in(&self, file: &mut OpenFile) -> io::Result<bool> {
        self.start.map_or(Ok(true), |start| start.is_of(file))
    }

    fn read(
        &mut self,
        cx: &CallContext,
        path: &WorkspacePath,
        file: &mut OpenFile,
        each: &mut EachLine<'_>,
    ) -> Result<Advance, ToolError> {
        let failed = |error| ToolError::from(AccessError::from_io(error, path));
        let Some(encoding) = self.encoding_of(path, file)? else { return Ok(Advance::End) };
        let unit = LineUnit::of(encoding);
        file.seek(SeekFrom::Start(self.read_to)).map_err(failed)?;
        let mut buffer = vec![0; CHUNK];
        let before = self.read_to;
        let advance = loop {
            match cx.stop.stopped() {
                Some(StopReason::Cancelled) => return Err(ToolError::cancelled()),
                Some(StopReason::Deadline) => break Advance::More,
                None if self.read_to - before >= LOOK => break Advance::More,
                None => {}
            }
            let length = fill(file, &mut buffer).map_err(failed)? / unit.width() * unit.width();
            if length == 0 {
                break Advance::End;
            }
            let (taken, flow) = self.lines.take(unit, &buffer[..length], &mut |line| each(line, encoding));
            self.read_to += taken as u64;
            if let Some(hasher) = &mut self.hasher {
                hasher.update(&buffer[..taken]);
            }
            if self.read_to > cx.settings.max_file_size {
                self.hasher = None;
            }
            if flow.is_break() {
                break Advance::BrokenOff;
            }
        };
        if self.read_to > before || self.start.is_none() {
            self.start = Some(FileStart::of(file, self.read_to).map_err(failed)?);
        }
        Ok(advance)
    }

    /// The encoding, once there is something to recognise it by.
    fn encoding_of(
        &mut self,
        path: &WorkspacePath,
        file: &mut OpenFile,
    ) -> Result<Option<&'static Encoding>, ToolError> {
        if self.encoding.is_none() {
            let mut head = Vec::new();
            let read = file.rewind().and_then(|()| file.take(HEAD).read_to_end(&mut head));
            read.map_err(|error| ToolError::from(AccessError::from_io(error, path)))?;
            if !head.is_empty() {
                let found = text_file::encoding_of_head(&head, None);
                self.encoding = Some(found.map_err(|error| {
                    ToolError::new(Kind::Binary, format!("{path} is not text: {}", error.kind))
                        .hint("wait with until=changes: it needs no lines")
                })?);
            }
        }
        Ok(self.encoding)
    }

    /// The lines and the revision of the whole file, without reading on. `None` where that is too much for a look.
    pub(super) fn totals(&mut self, cx: &CallContext) -> Option<TailTotals> {
        let file = self.file.as_mut()?;
        let Some(encoding) = self.encoding else {
            return Some(TailTotals { lines: 0, revision: self.hasher.clone().map(RevisionHasher::finish) });
        };
        let (mut lines, mut hasher, mut buffer) = (self.lines.clone(), self.hasher.clone(), vec![0; CHUNK]);
        file.seek(SeekFrom::Start(self.read_to)).ok()?;
        let mut left = LOOK;
        loop {
            let length = fill(file, &mut buffer).ok()?;
            if length == 0 {
                break;
            }
            left = left.checked_sub(length as u64)?;
            cx.stop.stopped().is_none().then_some(())?;
            let _ = lines.take(LineUnit::of(encoding), &buffer[..length], &mut |_| ControlFlow::Continue(()));
            if let Some(hasher) = &mut hasher {
                hasher.update(&buffer[..length]);
            }
        }
        let lines = lines.lines + usize::from(lines.unfinished_bytes > 0);
        Some(TailTotals { lines, revision: hasher.map(RevisionHasher::finish) })
    }
}

/// How many lines of `file` are those of the content with the revision `since`: itself, or what was appended to it.
/// `None` if it is neither, or too large.
pub(super) fn lines_of_revision(cx: &CallContext, file: &mut OpenFile, since: RevisionPrefix) -> Option<(usize, u64)> {
    if file.stat().size > cx.settings.max_file_size {
        return None;
    }
    file.rewind().ok()?;
    let mut reader = io::BufReader::with_capacity(CHUNK, file);
    let (mut hasher, mut lines, mut line) = (Revision::hasher(), 0, Vec::new());
    loop {
        if since.fits(hasher.clone().finish()) {
            return Some((lines, 0));
        }
        line.clear();
        cx.stop.stopped().is_none().then_some(())?;
        let length = io::BufRead::read_until(&mut reader, b'\n', &mut line).ok()?;
        if length == 0 {
            return None;
        }
        hasher.update(&line);
        if line.ends_with(b"\n") {
            lines += 1;
        } else if since.fits(hasher.clone().finish()) {
            return Some((lines, length as u64));
        }
    }
}

/// Reads until the buffer is full or the file ends, so that whole units come.
fn fill(file: &mut OpenFile, buffer: &mut [u8]) -> io::Result<usize> {
    let mut length = 0;
    while length < buffer.len() {
        match read_some(file, &mut buffer[length..])? {
            0 => break,
            read => length += read,
        }
    }
    Ok(length)
}
