//! Follows a file as others append to it, replace it, cut it and write it again.
//!
//! The file is opened again for each look, under the rules of `read`, and compared with the one before: a log that was
//! rotated is read to its end first. Reads a bounded part at a time, so a look at gigabytes takes several.

use std::{
    borrow::Cow,
    io::{self, Read as _, Seek as _, SeekFrom},
    ops::ControlFlow,
};

use confined_fs::{
    AccessError, FileStart, OpenFile, Revision, RevisionHasher, RevisionPrefix, Stat, WorkspacePath, read_some,
    stop::StopReason,
};
use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE};

use super::super::{CallContext, Kind, ToolError};

/// Bytes read at a time.
const CHUNK: usize = 256 << 10;
/// Bytes that one look reads.
const MAX_LOOK: u64 = 64 << 20;
/// Bytes by which the encoding is recognised.
const HEAD_BYTES: u64 = 64 << 10;

/// Called with each complete line.
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

type AdvanceResult = Result<Advance, ToolError>;

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

    /// The stat of the file when it was opened for the last look.
    pub(super) fn stat(&self) -> Option<&Stat> {
        self.file.as_ref().map(OpenFile::stat)
    }

    /// The stat of the file of the last look by now.
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
    pub(super) fn advance(&mut self, cx: &CallContext, file: OpenFile, each: &mut EachLine<'_>) -> AdvanceResult {
        let mut file = file;
        if self.file.as_ref().is_some_and(|old| !old.stat().same_file(file.stat())) {
            // A log that was rotated: its last lines are read before those of the new file.
            match self.finish_gone(cx, each)? {
                Advance::End => {}
                other => return Ok(other),
            }
        }
        let is_known = self.file.is_some();
        let is_shorter = is_known && file.stat().size < self.read_to;
        if is_shorter || is_known && !self.continues_in(&mut file).map_err(|error| failed(&file, error))? {
            *self = Self::restarted(self.restarts + 1);
        }
        let advanced = self.read(cx, &mut file, each);
        self.file = Some(file);
        advanced
    }

    /// Reads what was still appended to a file that is no longer at the path.
    pub(super) fn finish_gone(&mut self, cx: &CallContext, each: &mut EachLine<'_>) -> AdvanceResult {
        let Some(mut old) = self.file.take() else { return Ok(Advance::End) };
        let is_shorter = old.restat().is_ok_and(|now| now.size < self.read_to);
        let advanced = if is_shorter { Ok(Advance::End) } else { self.read(cx, &mut old, each) };
        self.file = Some(old);
        advanced
    }

    /// Whether `file` begins with what was read so far.
    fn continues_in(&self, file: &mut OpenFile) -> io::Result<bool> {
        self.start.map_or(Ok(true), |start| start.is_of(file))
    }

    fn read(&mut self, cx: &CallContext, file: &mut OpenFile, each: &mut EachLine<'_>) -> AdvanceResult {
        let Some(encoding) = self.encoding_of(file)? else { return Ok(Advance::End) };
        let unit = LineUnit::of(encoding);
        file.seek(SeekFrom::Start(self.read_to)).map_err(|error| failed(file, error))?;
        let mut buffer = vec![0; CHUNK];
        let before = self.read_to;
        let advance = loop {
            match cx.stop.stopped() {
                Some(StopReason::Cancelled) => return Err(ToolError::cancelled()),
                Some(StopReason::Deadline) => break Advance::More,
                None if self.read_to - before >= MAX_LOOK => break Advance::More,
                None => {}
            }
            // Half a unit of UTF-16 at the end stays for the next look.
            let length = fill(file, &mut buffer).map_err(|error| failed(file, error))? / unit.width() * unit.width();
            if length == 0 {
                break Advance::End;
            }
            let (taken, flow) = self.lines.take(unit, &buffer[..length], &mut |line| each(line, encoding));
            self.read_to += taken as u64;
            if let Some(hasher) = &mut self.hasher {
                hasher.update(&buffer[..taken]);
            }
            // A file of that size cannot be edited, so no rev of it is of use.
            if self.read_to > cx.settings.max_file_size {
                self.hasher = None;
            }
            if flow.is_break() {
                break Advance::BrokenOff;
            }
        };
        if self.read_to > before || self.start.is_none() {
            self.start = Some(FileStart::of(file, self.read_to).map_err(|error| failed(file, error))?);
        }
        Ok(advance)
    }

    /// The encoding, once there is something to recognise it by.
    fn encoding_of(&mut self, file: &mut OpenFile) -> Result<Option<&'static Encoding>, ToolError> {
        if self.encoding.is_none() {
            let mut head = Vec::new();
            let read = file.rewind().and_then(|()| file.take(HEAD_BYTES).read_to_end(&mut head));
            read.map_err(|error| failed(file, error))?;
            // An empty log may still become text in any encoding.
            if !head.is_empty() {
                let found = text_file::encoding_of_head(&head, None);
                self.encoding = Some(found.map_err(|error| {
                    ToolError::new(Kind::Binary, format!("{} is not text: {}", file.path(), error.kind))
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
        let mut left = MAX_LOOK;
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

fn failed(file: &OpenFile, error: io::Error) -> ToolError {
    AccessError::from_io(error, file.path()).into()
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

/// Cuts what is appended to a file into lines, piece by piece: the state after the bytes that were taken so far. Memory
/// stays bounded however long a line is.
#[derive(Clone, Debug, Default)]
pub(super) struct AppendedLines {
    pub(super) lines: usize,
    /// The kept bytes of the line that is not complete.
    unfinished: Vec<u8>,
    pub(super) unfinished_bytes: u64,
}

impl AppendedLines {
    /// Takes the next bytes, whole units, and hands over each line that they complete. Returns how many bytes were taken:
    /// all, or those up to the line with which `each` broke off.
    pub(super) fn take(
        &mut self,
        unit: LineUnit,
        bytes: &[u8],
        each: &mut dyn FnMut(RawLine<'_>) -> ControlFlow<()>,
    ) -> (usize, ControlFlow<()>) {
        let mut from = 0;
        while let Some(end) = unit.find(&bytes[from..]).map(|end| from + end) {
            self.lines += 1;
            let number = self.lines;
            let flow = if self.unfinished_bytes == 0 {
                let line = &bytes[from..end];
                let kept = &line[..line.len().min(MAX_LINE)];
                each(RawLine { bytes: kept, is_cut: kept.len() < line.len(), number })
            } else {
                self.keep(&bytes[from..end]);
                let is_cut = self.unfinished_bytes > self.unfinished.len() as u64;
                let flow = each(RawLine { bytes: &self.unfinished, is_cut, number });
                self.unfinished.clear();
                self.unfinished_bytes = 0;
                flow
            };
            from = end + unit.width();
            if flow.is_break() {
                return (from, flow);
            }
        }
        self.keep(&bytes[from..]);
        (bytes.len(), ControlFlow::Continue(()))
    }

    fn keep(&mut self, bytes: &[u8]) {
        let room = MAX_LINE - self.unfinished.len();
        self.unfinished.extend_from_slice(&bytes[..bytes.len().min(room)]);
        self.unfinished_bytes += bytes.len() as u64;
    }

    /// The line at the end that has no line break yet.
    pub(super) fn unfinished(&self) -> Option<RawLine<'_>> {
        let is_cut = self.unfinished_bytes > self.unfinished.len() as u64;
        (self.unfinished_bytes > 0).then(|| RawLine { bytes: &self.unfinished, is_cut, number: self.lines + 1 })
    }
}

// One line of a file as bytes, and as the text that it means.

/// Bytes of a line that are kept; the rest is counted, and not matched.
pub(super) const MAX_LINE: usize = 1 << 20;

/// Where lines end in the bytes of an encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LineUnit {
    /// At a byte LF. In no legacy encoding of the WHATWG standard is it a part of another character.
    Byte,
    Utf16Le,
    Utf16Be,
}

impl LineUnit {
    pub(super) fn of(encoding: &'static Encoding) -> Self {
        if encoding == UTF_16LE {
            Self::Utf16Le
        } else if encoding == UTF_16BE {
            Self::Utf16Be
        } else {
            Self::Byte
        }
    }

    /// Bytes of a unit: lines begin and end at multiples of it.
    pub(super) fn width(self) -> usize {
        if self == Self::Byte { 1 } else { 2 }
    }

    /// Where the first line break of `bytes`, which begin at a unit, begins.
    pub(super) fn find(self, bytes: &[u8]) -> Option<usize> {
        let (lf, other) = match self {
            Self::Byte => return memchr::memchr(b'\n', bytes),
            Self::Utf16Le => (0, 1),
            Self::Utf16Be => (1, 0),
        };
        memchr::memchr_iter(b'\n', bytes)
            .filter(|at| at % 2 == lf)
            .map(|at| at - lf)
            .find(|at| bytes.get(at + other) == Some(&0))
    }
}

/// A line without its line break, as far as it is kept.
#[derive(Clone, Copy, Debug)]
pub(super) struct RawLine<'b> {
    pub(super) bytes: &'b [u8],
    /// Whether it has more bytes than are kept.
    pub(super) is_cut: bool,
    pub(super) number: usize,
}

impl<'b> RawLine<'b> {
    /// Its text, without the byte-order mark of a first line and the carriage return of a line break.
    pub(super) fn text(&self, encoding: &'static Encoding) -> Cow<'b, str> {
        let mark = Encoding::for_bom(self.bytes).filter(|(marked, _)| self.number == 1 && *marked == encoding);
        let bytes = &self.bytes[mark.map_or(0, |(_, length)| length)..];
        let mut text = match encoding {
            utf8 if utf8 == UTF_8 => String::from_utf8_lossy(bytes),
            other => other.decode_without_bom_handling(bytes).0,
        };
        if !self.is_cut && text.ends_with('\r') {
            match &mut text {
                Cow::Borrowed(text) => *text = &text[..text.len() - 1],
                Cow::Owned(text) => drop(text.pop()),
            }
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn lines(pieces: &[&[u8]]) -> (Vec<Vec<u8>>, AppendedLines) {
        let (mut state, mut found) = (AppendedLines::default(), Vec::new());
        for piece in pieces {
            let taken = state.take(LineUnit::Byte, piece, &mut |line| {
                found.push(line.bytes.to_vec());
                ControlFlow::Continue(())
            });
            assert_eq!(taken.0, piece.len());
        }
        (found, state)
    }

    proptest! {
        #[test]
        fn pieces_have_the_lines_of_the_whole(text in "[ab\n]{0,40}", cut in 0_usize..40) {
            let cut = cut.min(text.len());
            let (whole, after) = lines(&[text.as_bytes()]);
            let (pieces, after_pieces) = lines(&[&text.as_bytes()[..cut], &text.as_bytes()[cut..]]);
            prop_assert_eq!(&whole, &pieces);
            prop_assert_eq!(after.unfinished_bytes, after_pieces.unfinished_bytes);
            let expected: Vec<Vec<u8>> = text.split_inclusive('\n').filter_map(|line| line.strip_suffix('\n')).map(|line| line.as_bytes().to_vec()).collect();
            prop_assert_eq!(whole, expected);
        }
    }

    #[test]
    fn line_of_megabytes_is_cut_and_counted() {
        let piece = vec![b'x'; MAX_LINE / 2 + 1];
        let (mut state, mut lengths) = (AppendedLines::default(), Vec::new());
        for piece in [&piece[..], &piece, &piece, b"y\nz"] {
            let _ = state.take(LineUnit::Byte, piece, &mut |line| {
                lengths.push((line.bytes.len(), line.is_cut));
                ControlFlow::Continue(())
            });
        }
        assert_eq!(lengths, [(MAX_LINE, true)]);
        assert_eq!((state.lines, state.unfinished_bytes), (1, 1));
    }
}

#[cfg(test)]
mod decoded_line_tests {
    use super::*;

    #[test]
    fn utf16_lines_end_at_whole_units() {
        // U+0A00 and U+000A: only the second is a line break.
        assert_eq!(LineUnit::Utf16Le.find(&[0x00, 0x0A, 0x0A, 0x00]), Some(2));
        assert_eq!(LineUnit::Utf16Be.find(&[0x0A, 0x00, 0x00, 0x0A]), Some(2));
        assert_eq!(LineUnit::Utf16Le.find(&[0x0A]), None);
        assert_eq!(LineUnit::Byte.find(b"ab\n"), Some(2));
    }

    #[test]
    fn text_has_neither_mark_nor_carriage_return() {
        let text = |bytes, number, encoding| RawLine { bytes, is_cut: false, number }.text(encoding).into_owned();
        assert_eq!(text(b"\xef\xbb\xbfa\r", 1, UTF_8), "a");
        assert_eq!(text(b"\xff\xfea\0\r\0", 1, UTF_16LE), "a");
        assert_eq!(text(b"caf\xe9", 2, encoding_rs::WINDOWS_1252), "caf\u{e9}");
    }
}
