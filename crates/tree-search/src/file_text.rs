//! The text of one opened file: read whole into a buffer that is used again, or in pieces, as `read` would show it.
//!
//! [`ProgressReader`] is the one reader around a file: it reports a few times a second, and ends with the call.
//! [`FileContent`] tells whether the bytes that have been read are text, and in which encoding. The encoding is
//! determined for few files only: those with a NUL byte, and those that are not UTF-8 where it matters. Looks at no
//! more of a file than `read` does.

use std::borrow::Cow;
use std::io::{self, Read, Seek as _, SeekFrom};
use std::time::{Duration, Instant};

use confined_fs::{OpenFile, read_some, stop::StopSignal};
use encoding_rs::Encoding;
use source_outline::{Definition, OutlineBuilder, may_have_definitions};
use text_file::{DecodeError, Document};

/// Bytes decoded at a time.
const PIECE_BYTES: usize = 256 << 10;

/// NULs at the beginning of a file, outside of holes, that are read to find what it begins with after them.
const MAX_LEADING_NULS: u64 = 64 << 20;

/// The encoding of a file that is larger than its first bytes, `head`, as [`text_file::encoding_of_head`] has it: of what
/// comes after the NULs with which the file begins. A file that is mostly holes is no text.
///
/// # Errors
/// Those of reading.
pub fn encoding_of_file(
    file: &mut OpenFile,
    head: &[u8],
    encoding: Option<&'static Encoding>,
) -> io::Result<Result<&'static Encoding, DecodeError>> {
    if file.is_mostly_holes() {
        let kind = text_file::binary_kind(head).unwrap_or_else(|| "binary data".to_owned());
        return Ok(Err(DecodeError { kind }));
    }
    let (mut piece, mut at, mut passed) = (head.to_vec(), 0, 0);
    while piece.iter().all(|byte| *byte == 0) && !piece.is_empty() && passed < MAX_LEADING_NULS {
        passed += piece.len() as u64;
        at = file.next_data(at + piece.len() as u64);
        file.seek(SeekFrom::Start(at))?;
        piece.clear();
        file.take(text_file::HEAD_BYTES as u64).read_to_end(&mut piece)?;
    }
    Ok(text_file::encoding_of_head(&piece, encoding))
}

/// Hands the text of the file to `take`, whole where it is small; `encoding` is detected where it is not given.
///
/// # Errors
/// Those of reading, and one of the kind `InvalidData` where the file is not text.
pub(super) fn read_decoded(
    file: &mut OpenFile,
    encoding: Option<&'static Encoding>,
    stop: &StopSignal,
    mut take: impl FnMut(&str),
) -> io::Result<()> {
    let not_text = |_| io::Error::from(io::ErrorKind::InvalidData);
    file.rewind()?;
    let size = file.stat().size;
    let mut bytes = Vec::new();
    // Not past the size at the start: a file that grows as fast as it is read has an end here.
    file.take(size.min(text_file::HEAD_BYTES as u64 + 1)).read_to_end(&mut bytes)?;
    if bytes.len() <= text_file::HEAD_BYTES {
        take(&text_file::view(&bytes, encoding).map_err(not_text)?);
        return Ok(());
    }
    let encoding = encoding_of_file(file, &bytes[..text_file::HEAD_BYTES], encoding)?.map_err(not_text)?;
    let mut decoder = encoding.new_decoder_with_bom_removal();
    file.seek(SeekFrom::Start(bytes.len() as u64))?;
    let mut reader = ProgressReader::new(file.take(size - bytes.len() as u64), size, stop, None);
    let mut text = String::new();
    loop {
        for piece in bytes.chunks(PIECE_BYTES) {
            text.clear();
            text.reserve(decoder.max_utf8_buffer_length(piece.len()).unwrap_or(PIECE_BYTES * 3));
            // There is room for all of it, and what is invalid becomes U+FFFD: no result is of interest.
            let _ = decoder.decode_to_string(piece, &mut text, false);
            take(&text);
        }
        bytes.clear();
        if reader.by_ref().take(PIECE_BYTES as u64).read_to_end(&mut bytes)? == 0 {
            return Ok(());
        }
    }
}

/// The definitions of the file, whose language its name says; `encoding` is detected where it is not given.
///
/// # Errors
/// Those of reading, where the file is not text, and where the call is stopped.
pub fn outline_of_file(
    file: &mut OpenFile,
    name: &str,
    encoding: Option<&'static Encoding>,
    stop: &StopSignal,
) -> io::Result<Vec<Definition>> {
    let mut outline = OutlineBuilder::new(name);
    if may_have_definitions(name) {
        read_decoded(file, encoding, stop, |piece| outline.push(piece))?;
    }
    Ok(outline.finish())
}

pub(super) const PROGRESS_INTERVAL: Duration = Duration::from_millis(250);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SearchProgress {
    Files(usize),
    Bytes {
        done: u64,
        /// Bytes in the file; it may be growing.
        total: u64,
    },
}

/// The error that ends a search which should stop; the searcher passes it on.
pub(super) fn stopped_error() -> io::Error {
    io::Error::other("the search was stopped")
}

/// A reader that reports how much has passed, and ends with an error once the call should stop, so that a large
/// file without a match does not outlive its call.
pub(super) struct ProgressReader<'a, R> {
    inner: R,
    stop: &'a StopSignal,
    report: Option<&'a (dyn Fn(SearchProgress) + Sync)>,
    done: u64,
    total: u64,
    reported: Instant,
    /// Whether all bytes that have passed were ASCII.
    pub(super) is_ascii: bool,
    /// How many NULs were left out; `None` where they pass: at the beginning or the end of a text they are no part of its
    /// lines.
    pub(super) nuls: Option<u64>,
}

impl<'a, R: Read> ProgressReader<'a, R> {
    /// Reports how far the reading of `inner`, which holds `total` bytes, is.
    pub(super) fn new(
        inner: R,
        total: u64,
        stop: &'a StopSignal,
        report: Option<&'a (dyn Fn(SearchProgress) + Sync)>,
    ) -> Self {
        Self { inner, stop, report, done: 0, total, reported: Instant::now(), is_ascii: true, nuls: None }
    }

    fn read_piece(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.stop.stopped().is_some() {
            return Err(stopped_error());
        }
        let read = self.inner.read(buffer)?;
        self.is_ascii = self.is_ascii && buffer[..read].is_ascii();
        if let Some(report) = self.report {
            self.done += read as u64;
            if self.reported.elapsed() >= PROGRESS_INTERVAL {
                self.reported = Instant::now();
                report(SearchProgress::Bytes { done: self.done, total: self.total.max(self.done) });
            }
        }
        Ok(read)
    }
}

impl<R: Read> Read for ProgressReader<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let read = self.read_piece(buffer)?;
            let Some(nuls) = &mut self.nuls else { return Ok(read) };
            let (mut kept, mut at) = (0, 0);
            while at < read {
                let run = buffer[at..read].iter().position(|byte| *byte != 0).unwrap_or(read - at);
                *nuls += run as u64;
                let start = at + run;
                at = memchr::memchr(0, &buffer[start..read]).map_or(read, |length| start + length);
                buffer.copy_within(start..at, kept);
                kept += at - start;
            }
            if kept > 0 || read == 0 {
                return Ok(kept);
            }
        }
    }
}

/// Bytes up to which a file is read whole before it is searched.
pub(super) const MAX_SMALL: usize = 1 << 20;
/// Bytes of the buffer for the first of them.
const LEAST_BUFFER: usize = 64 << 10;
/// Bytes of a larger file by which it is decided whether it is one long line.
const LINE_SAMPLE: usize = 256 << 10;

/// Reads a file into `buffer`, up to a little more than [`MAX_SMALL`]: how many bytes there are, and
/// whether they are all.
pub(super) fn read_small(file: &mut impl Read, size: u64, buffer: &mut Vec<u8>) -> io::Result<(usize, bool)> {
    let size = usize::try_from(size).unwrap_or(usize::MAX);
    // One byte more than the file has, so that a full read of it is a short one. No more: dozens of
    // searches at once hold two of these each.
    buffer.resize(buffer.len().clamp(size.clamp(LEAST_BUFFER, MAX_SMALL) + 1, MAX_SMALL + 1), 0);
    let mut length = 0;
    while length <= MAX_SMALL {
        if length == buffer.len() {
            // It has grown, or reports no size.
            buffer.resize(MAX_SMALL + 1, 0);
        }
        match read_some(file, &mut buffer[length..])? {
            0 => return Ok((length, true)),
            read => length += read,
        }
        // A read that stops short where the file ended when it was opened has met the end; asking
        // once more would be a fifth of what a small file costs. Files without a size are read on.
        if length == size && size > 0 && length < buffer.len() {
            return Ok((length, true));
        }
    }
    Ok((length, false))
}

/// Reads the beginning of a larger file into `buffer`, and all of it where no line ends there: how many
/// bytes there are, and whether they are all. One long line takes its size here; the searcher's own
/// buffer grows by doubling, and holds the old one meanwhile.
pub(super) fn read_long_line(file: &mut impl Read, size: u64, buffer: &mut Vec<u8>) -> io::Result<(usize, bool)> {
    buffer.resize(buffer.len().max(LINE_SAMPLE), 0);
    let (mut length, mut end) = (0, LINE_SAMPLE);
    loop {
        match read_some(file, &mut buffer[length..end])? {
            0 => return Ok((length, true)),
            read => length += read,
        }
        if length < end {
            continue;
        }
        // Full for the second time, it has grown.
        if end > LINE_SAMPLE || memchr::memchr(b'\n', &buffer[..length]).is_some() {
            return Ok((length, false));
        }
        end = usize::try_from(size).unwrap_or(usize::MAX).max(LINE_SAMPLE) + 1;
        buffer.reserve_exact(end.saturating_sub(buffer.len()));
        buffer.resize(end.max(buffer.len()), 0);
    }
}

#[derive(Clone, Copy)]
pub(super) struct FileContent<'c> {
    pub(super) bytes: &'c [u8],
    pub(super) whole: bool,
}

impl<'c> FileContent<'c> {
    /// Whether it is UTF-8 without a byte-order mark or a carriage return.
    pub(super) fn is_plain(&self) -> bool {
        text_file::is_plain(self.bytes)
            && memchr::memchr(b'\r', self.bytes).is_none()
            && Encoding::for_bom(self.bytes).is_none()
    }

    /// The encoding that it is shown in; `None` where it is binary.
    pub(super) fn encoding(&self, file: &mut OpenFile) -> io::Result<Option<&'static Encoding>> {
        let (head, is_all) = self.head(file)?;
        let encoding = if is_all {
            Document::decode(head.into_owned(), None).map(|document| document.encoding())
        } else {
            encoding_of_file(file, &head, None)?
        };
        Ok(encoding.ok())
    }

    /// Whether the beginning of it is UTF-8, and shown as that.
    pub(super) fn is_utf8(&self, file: &mut OpenFile) -> io::Result<bool> {
        let (head, is_all) = self.head(file)?;
        Ok(text_file::is_utf8(&head, is_all))
    }

    /// Whether a file with a NUL byte may still be text: UTF-16 without a mark, or one whose NULs are at its beginning, at
    /// its end, or farther back than `read` looks.
    pub(super) fn may_be_text(&self, file: &mut OpenFile) -> io::Result<bool> {
        if self.whole && self.bytes.len() <= text_file::HEAD_BYTES {
            return Ok(text_file::looks_like_utf16(self.bytes) || text_file::is_padded(self.bytes));
        }
        Ok(self.encoding(file)?.is_some())
    }

    /// The bytes by which `read` recognises the encoding, and whether they are all of the file.
    fn head(&self, file: &mut OpenFile) -> io::Result<(Cow<'c, [u8]>, bool)> {
        let most = text_file::HEAD_BYTES;
        if self.whole {
            return Ok((Cow::Borrowed(&self.bytes[..self.bytes.len().min(most)]), self.bytes.len() <= most));
        }
        let mut head = Vec::new();
        file.rewind()?;
        file.take(most as u64 + 1).read_to_end(&mut head)?;
        let is_all = head.len() <= most;
        head.truncate(most);
        Ok((Cow::Owned(head), is_all))
    }
}

#[cfg(test)]
mod tests {
    use std::{sync::Mutex, thread::sleep};

    use super::*;

    #[test]
    fn progress_reader_reports_at_intervals_and_never_beyond_the_total() {
        let reports = Mutex::new(Vec::new());
        let report = |progress| reports.lock().unwrap().push(progress);
        let stop = StopSignal::after(Duration::from_secs(3600));
        let mut reader = ProgressReader::new(&[0; 30][..], 20, &stop, Some(&report));
        let mut buffer = [0; 10];
        assert_eq!(reader.read(&mut buffer).unwrap(), 10);
        for _ in 0..2 {
            sleep(PROGRESS_INTERVAL);
            assert_eq!(reader.read(&mut buffer).unwrap(), 10);
        }
        let expected = [SearchProgress::Bytes { done: 20, total: 20 }, SearchProgress::Bytes { done: 30, total: 30 }];
        assert_eq!(*reports.lock().unwrap(), expected);
    }
}

#[cfg(test)]
mod read_buffer_tests {
    use super::*;

    #[test]
    fn small_file_gets_small_buffer_and_grown_file_is_read_to_its_end() {
        let small = vec![b'x'; 1000];
        let mut buffer = Vec::new();
        assert_eq!(read_small(&mut &small[..], 1000, &mut buffer).unwrap(), (1000, true));
        assert_eq!(buffer.len(), LEAST_BUFFER + 1);
        let grown: Vec<u8> = (0..=250).cycle().take(3 * LEAST_BUFFER).collect();
        for size in [0, 1000, LEAST_BUFFER as u64 + 1, grown.len() as u64] {
            assert_eq!(read_small(&mut &grown[..], size, &mut buffer).unwrap(), (grown.len(), true), "{size}");
            assert_eq!(buffer[..grown.len()], grown, "{size}");
        }
        let large = vec![b'x'; 2 * MAX_SMALL];
        assert_eq!(read_small(&mut &large[..], 1000, &mut buffer).unwrap(), (MAX_SMALL + 1, false));
    }

    #[test]
    fn single_long_line_is_read_whole_and_other_large_files_in_part() {
        let line = vec![b'x'; 5 * LINE_SAMPLE + 7];
        let size = line.len() as u64;
        let mut buffer = Vec::new();
        assert_eq!(read_long_line(&mut &line[..], size, &mut buffer).unwrap(), (line.len(), true));
        assert_eq!((buffer.len(), buffer.capacity()), (line.len() + 1, line.len() + 1));
        assert_eq!(&buffer[..line.len()], line);
        assert_eq!(read_long_line(&mut &line[..10], size, &mut buffer).unwrap(), (10, true), "cut meanwhile");
        assert_eq!(read_long_line(&mut &line[..], size - 9, &mut buffer).unwrap(), (line.len() - 8, false), "grown");
        let mut lines = line.clone();
        lines[LINE_SAMPLE - 1] = b'\n';
        assert_eq!(read_long_line(&mut &lines[..], size, &mut buffer).unwrap(), (LINE_SAMPLE, false));
    }
}
