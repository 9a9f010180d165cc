//! Follows a file as others append to it, replace it, cut it and write it again.
//!
//! The file is opened again for each poll, under the rules of `read`, and compared with the one before: a log that was
//! rotated is read to its end first. A poll reads a bounded part, so gigabytes take several of them.

use std::{
    io::{self, BufRead as _, Read as _, Seek as _, SeekFrom},
    ops::ControlFlow,
};

use confined_fs::{
    AccessError, FileStart, OpenFile, Revision, RevisionHasher, RevisionPrefix, Stat, WorkspacePath, stop::StopReason,
};
use encoding_rs::Decoder;

use super::super::{CallContext, Kind, ToolError};

const CHUNK_BYTES: usize = 256 << 10;
const MAX_POLL_BYTES: u64 = 64 << 20;
/// Bytes by which the encoding is recognised.
const HEAD_BYTES: u64 = 64 << 10;
/// Bytes of a line that are kept; the rest is counted, and not matched.
const MAX_LINE_BYTES: usize = 1 << 20;

pub(super) type EachLine<'e> = dyn FnMut(TailLine<'_>) -> ControlFlow<()> + 'e;

#[derive(Clone, Copy, Debug)]
pub(super) struct TailLine<'t> {
    pub(super) number: usize,
    pub(super) text: &'t str,
    pub(super) is_cut: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Advance {
    End,
    More,
    /// To the line at which the caller broke off; those that were read with it are only counted.
    BrokenOff,
}

#[derive(Default)]
pub(super) struct FileTail {
    file: Option<OpenFile>,
    /// Whether that is the file at the path, and not one that was there before.
    pub(super) is_at_path: bool,
    /// `None` until there is something to recognise the encoding by.
    decoder: Option<Decoder>,
    pub(super) lines: usize,
    pub(super) skip: usize,
    /// The line at the end without a line break, as far as it is kept, its length, and how much of that is not new.
    unfinished: String,
    pub(super) unfinished_length: u64,
    pub(super) known: u64,
    pub(super) read_to: u64,
    pub(super) stop_at: Option<u64>,
    /// Of the bytes up to `read_to`; `None` beyond the size that is hashed.
    hasher: Option<RevisionHasher>,
    start: Option<FileStart>,
    pub(super) restarts: usize,
}

impl FileTail {
    /// A tail of a file that does not exist yet, or of which all is new.
    pub(super) fn new() -> Self {
        Self { hasher: Some(Revision::hasher()), ..Self::default() }
    }

    fn restart(&mut self) {
        *self = Self { restarts: self.restarts + 1, ..Self::new() };
    }

    pub(super) fn stat(&self) -> Option<&Stat> {
        self.file.as_ref().map(OpenFile::stat)
    }

    pub(super) fn restat(&self) -> Option<Stat> {
        self.file.as_ref()?.restat().ok()
    }

    pub(super) fn real_path(&self) -> Option<&WorkspacePath> {
        self.file.as_ref().map(OpenFile::real_path)
    }

    pub(super) fn revision(&self) -> Option<Revision> {
        self.hasher.clone().map(RevisionHasher::finish)
    }

    /// Whether the line at the end without a line break is new, or longer than it was.
    pub(super) fn is_end_new(&self) -> bool {
        self.unfinished_length > self.known
    }

    pub(super) fn unfinished(&self) -> Option<TailLine<'_>> {
        (self.unfinished_length > 0).then(|| self.line(self.lines + 1))
    }

    /// What is kept of the last line, without the carriage return of a line break.
    fn line(&self, number: usize) -> TailLine<'_> {
        let is_cut = self.unfinished_length > self.unfinished.len() as u64;
        let text = self.unfinished.strip_suffix('\r').filter(|_| !is_cut).unwrap_or(&self.unfinished);
        TailLine { number, text, is_cut }
    }

    pub(super) fn advance(
        &mut self,
        cx: &CallContext,
        mut file: OpenFile,
        each: &mut EachLine<'_>,
    ) -> Result<Advance, ToolError> {
        if self.file.as_ref().is_some_and(|old| !old.stat().same_file(file.stat())) {
            // A log that was rotated: its last lines are read before those of the new file.
            match self.finish_gone(cx, each)? {
                Advance::End => {}
                other => return Ok(other),
            }
        }
        let is_shorter = self.file.is_some() && file.stat().size < self.read_to;
        let continues = self.start.map_or(Ok(true), |start| start.is_of(&mut file));
        if is_shorter || !continues.map_err(|error| failed(&file, error))? {
            self.restart();
        }
        let mut advanced = self.read(cx, &mut file, each);
        if matches!(advanced, Ok(Advance::End)) && self.lines < self.skip {
            // The caller has lines of another file.
            self.restart();
            advanced = self.read(cx, &mut file, each);
        }
        (self.file, self.is_at_path) = (Some(file), true);
        advanced
    }

    /// Reads what was still appended to a file that is no longer at the path.
    pub(super) fn finish_gone(&mut self, cx: &CallContext, each: &mut EachLine<'_>) -> Result<Advance, ToolError> {
        self.is_at_path = false;
        let Some(mut old) = self.file.take() else { return Ok(Advance::End) };
        let is_shorter = old.restat().is_ok_and(|now| now.size < self.read_to);
        let advanced = if is_shorter { Ok(Advance::End) } else { self.read(cx, &mut old, each) };
        self.file = Some(old);
        advanced
    }

    fn read(&mut self, cx: &CallContext, file: &mut OpenFile, each: &mut EachLine<'_>) -> Result<Advance, ToolError> {
        if !self.recognise(file)? {
            return Ok(Advance::End);
        }
        file.seek(SeekFrom::Start(self.read_to)).map_err(|error| failed(file, error))?;
        let (before, mut buffer, mut text) = (self.read_to, Vec::new(), String::new());
        let advance = loop {
            match cx.stop.stopped() {
                Some(StopReason::Cancelled) => return Err(ToolError::cancelled()),
                Some(StopReason::Deadline) => break Advance::More,
                None if self.read_to - before >= MAX_POLL_BYTES => break Advance::More,
                None => {}
            }
            let most =
                self.stop_at.map_or(CHUNK_BYTES as u64, |end| end.saturating_sub(self.read_to).min(CHUNK_BYTES as u64));
            buffer.clear();
            file.by_ref().take(most).read_to_end(&mut buffer).map_err(|error| failed(file, error))?;
            if buffer.is_empty() {
                break Advance::End;
            }
            self.read_to += buffer.len() as u64;
            if let Some(hasher) = &mut self.hasher {
                hasher.update(&buffer);
            }
            // A file of that size cannot be edited, so no rev of it is of use.
            if self.read_to > cx.settings.max_file_size {
                self.hasher = None;
            }
            text.clear();
            if let Some(decoder) = &mut self.decoder {
                text.reserve(decoder.max_utf8_buffer_length(buffer.len()).unwrap_or_default());
                let _ = decoder.decode_to_string(&buffer, &mut text, false);
            }
            if self.take(&text, each).is_break() {
                break Advance::BrokenOff;
            }
        };
        if self.read_to > before || self.start.is_none() {
            self.start = Some(FileStart::of(file, self.read_to).map_err(|error| failed(file, error))?);
        }
        Ok(advance)
    }

    /// Recognises the encoding, once there is something to recognise it by. Whether there is.
    fn recognise(&mut self, file: &mut OpenFile) -> Result<bool, ToolError> {
        if self.decoder.is_none() {
            let mut head = Vec::new();
            let read = file.rewind().and_then(|()| file.take(HEAD_BYTES).read_to_end(&mut head));
            read.map_err(|error| failed(file, error))?;
            // An empty log may still become text in any encoding.
            if !head.is_empty() {
                let found = text_file::encoding_of_head(&head, None).map_err(|error| {
                    ToolError::new(Kind::Binary, format!("{} is not text: {}", file.path(), error.kind))
                        .hint("wait with until=changes: it needs no lines")
                })?;
                self.decoder = Some(found.new_decoder_with_bom_removal());
            }
        }
        Ok(self.decoder.is_some())
    }

    /// Cuts what follows into lines, and hands over those that it completes until `each` breaks off. Memory stays bounded
    /// however long a line is.
    fn take(&mut self, text: &str, each: &mut EachLine<'_>) -> ControlFlow<()> {
        let (mut rest, mut flow) = (text, ControlFlow::Continue(()));
        while let Some((line, after)) = rest.split_once('\n') {
            self.keep(line);
            self.lines += 1;
            if flow.is_continue() && self.lines > self.skip {
                flow = each(self.line(self.lines));
            }
            self.unfinished.clear();
            (self.unfinished_length, self.known) = (0, 0);
            rest = after;
        }
        self.keep(rest);
        flow
    }

    fn keep(&mut self, text: &str) {
        let room = MAX_LINE_BYTES - self.unfinished.len();
        let end = if text.len() <= room {
            text.len()
        } else {
            (0..=room).rfind(|at| text.is_char_boundary(*at)).unwrap_or(0)
        };
        self.unfinished.push_str(&text[..end]);
        self.unfinished_length += text.len() as u64;
    }

    /// Reads the file to its end, to count its lines. `None` where that is too much for one poll.
    pub(super) fn count_lines(&mut self, cx: &CallContext) -> Option<usize> {
        let mut file = self.file.take()?;
        let advanced = self.read(cx, &mut file, &mut |_| ControlFlow::Continue(()));
        self.file = Some(file);
        (advanced.ok()? == Advance::End).then(|| self.lines + usize::from(self.unfinished_length > 0))
    }
}

fn failed(file: &OpenFile, error: io::Error) -> ToolError {
    AccessError::from_io(error, file.path()).into()
}

/// Where in `file` the content with the revision `since` ends: after `length` bytes, or without that at the end of a line
/// or of the file. `None` if the file does not begin with it, or is too large.
pub(super) fn end_of_revision(
    cx: &CallContext,
    file: &mut OpenFile,
    since: RevisionPrefix,
    length: Option<u64>,
) -> Option<u64> {
    if file.stat().size > cx.settings.max_file_size || length.is_some_and(|length| length > file.stat().size) {
        return None;
    }
    file.rewind().ok()?;
    if let Some(length) = length {
        return since.fits(Revision::of_reader(&mut file.take(length)).ok()?).then_some(length);
    }
    let mut reader = io::BufReader::with_capacity(CHUNK_BYTES, file);
    let (mut hasher, mut end, mut line) = (Revision::hasher(), 0, Vec::new());
    while !since.fits(hasher.clone().finish()) {
        line.clear();
        cx.stop.stopped().is_none().then_some(())?;
        let read = reader.read_until(b'\n', &mut line).ok().filter(|read| *read > 0)?;
        hasher.update(&line);
        end += read as u64;
    }
    Some(end)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn lines(pieces: &[&str]) -> (Vec<String>, FileTail) {
        let (mut tail, mut found) = (FileTail::new(), Vec::new());
        for piece in pieces {
            let _ = tail.take(piece, &mut |line| {
                found.push(line.text.to_owned());
                ControlFlow::Continue(())
            });
        }
        (found, tail)
    }

    proptest! {
        #[test]
        fn pieces_have_the_lines_of_the_whole(text in "[ab\n]{0,40}", cut in 0_usize..40) {
            let (before, after) = text.split_at(cut.min(text.len()));
            let ((whole, of_whole), (pieces, of_pieces)) = (lines(&[&text]), lines(&[before, after]));
            prop_assert_eq!(&whole, &pieces);
            prop_assert_eq!(of_whole.unfinished_length, of_pieces.unfinished_length);
            let expected: Vec<&str> = text.split_inclusive('\n').filter_map(|line| line.strip_suffix('\n')).collect();
            prop_assert_eq!(whole, expected);
        }
    }

    #[test]
    fn line_of_megabytes_is_cut_and_counted() {
        let piece = "x".repeat(MAX_LINE_BYTES / 2 + 1);
        let (mut tail, mut lengths) = (FileTail::new(), Vec::new());
        for piece in [&*piece, &piece, &piece, "y\nz"] {
            let _ = tail.take(piece, &mut |line| {
                lengths.push((line.text.len(), line.is_cut));
                ControlFlow::Continue(())
            });
        }
        assert_eq!(lengths, [(MAX_LINE_BYTES, true)]);
        assert_eq!((tail.lines, tail.unfinished_length), (1, 1));
        assert_eq!(lines(&["x", &"é".repeat(MAX_LINE_BYTES)]).1.unfinished.len(), MAX_LINE_BYTES - 1);
    }

    #[test]
    fn lines_that_the_caller_has_are_not_handed_over() {
        let (mut tail, mut found) = (FileTail { skip: 1, known: 5, ..FileTail::new() }, Vec::new());
        let _ = tail.take("a\nb\r\nc", &mut |line| {
            found.push((line.number, line.text.to_owned()));
            ControlFlow::Continue(())
        });
        assert_eq!(found, [(2, "b".to_owned())]);
        assert!(tail.is_end_new(), "what was known was of the line before");
    }
}
