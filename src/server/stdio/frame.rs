//! Cuts the input into lines of bounded length.
//!
//! Knows no JSON; a line that is too long to keep goes through [`IdScanner`], so that the error can name its id.

use std::ops::Range;

use rmcp::model::RequestId;
use tokio::io::{AsyncRead, AsyncReadExt};

use super::id_scanner::IdScanner;

/// Bytes asked for at once.
pub(super) const CHUNK: usize = 16 << 10;
/// Bytes asked for at once in a longer line: the capacity of a pipe on Linux (pipe(7)).
const PIPE: usize = 64 << 10;
/// A buffer that grew beyond this for one line is freed.
const KEEP: usize = 1 << 20;
/// The byte-order mark with which some programs begin their output.
const BOM: &[u8] = b"\xEF\xBB\xBF";

/// One step of the input.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Frame<'a> {
    /// A line that is not blank, without its end.
    Line(&'a [u8]),
    /// A line over the limit; its bytes are gone.
    TooLong {
        /// The id in it.
        id: Option<RequestId>,
        /// The limit, in bytes.
        limit: usize,
    },
    /// The input has ended, or failed.
    End,
}

/// Reads lines. All state is in `self`, so a `next` future that is dropped loses nothing.
#[derive(Debug)]
pub(super) struct FrameReader<R> {
    input: R,
    limit: usize,
    buffer: Vec<u8>,
    /// Where the current line begins in the buffer.
    start: usize,
    /// How far the buffer was searched for a line end.
    searched: usize,
    /// Set while the current line is too long: it is scanned for its id and dropped.
    skipping: Option<IdScanner>,
    at_beginning: bool,
    ended: bool,
}

enum Step {
    Line { from: usize, to: usize },
    TooLong(Option<RequestId>),
    NeedMore,
}

impl<R: AsyncRead + Unpin> FrameReader<R> {
    /// Reads lines of at most `limit` bytes from `input`.
    pub(super) fn new(input: R, limit: usize) -> Self {
        Self {
            input,
            limit,
            buffer: Vec::new(),
            start: 0,
            searched: 0,
            skipping: None,
            at_beginning: true,
            ended: false,
        }
    }

    /// Bytes of memory that are held, used or not.
    #[cfg(all(any(test, fuzzing), unix))]
    pub(super) fn held(&self) -> usize {
        self.buffer.capacity()
    }

    pub(super) async fn next(&mut self) -> Frame<'_> {
        loop {
            match self.step() {
                Step::Line { from, to } => return Frame::Line(&self.buffer[from..to]),
                Step::TooLong(id) => return Frame::TooLong { id, limit: self.limit },
                Step::NeedMore if self.ended => return Frame::End,
                Step::NeedMore => {}
            }
            // A long line is read in pieces as large as a pipe gives, within the limit for lines.
            self.buffer.reserve(if self.buffer.is_empty() { CHUNK } else { self.limit.clamp(CHUNK, PIPE) });
            match self.input.read_buf(&mut self.buffer).await {
                Ok(0) => self.ended = true,
                Ok(_) => {}
                Err(error) => {
                    tracing::warn!(%error, "the input failed; taken as its end");
                    self.ended = true;
                }
            }
        }
    }

    /// The next line that the buffer holds.
    fn step(&mut self) -> Step {
        loop {
            let found = memchr::memchr(b'\n', &self.buffer[self.searched..]);
            let end = match found {
                Some(at) => self.searched + at,
                // A last line may lack its end.
                None if self.ended && (self.start < self.buffer.len() || self.skipping.is_some()) => self.buffer.len(),
                None => {
                    self.compact();
                    return Step::NeedMore;
                }
            };
            let from = self.start;
            self.start = (end + 1).min(self.buffer.len());
            self.searched = self.start;
            if let Some(mut scanner) = self.skipping.take() {
                scanner.feed(&self.buffer[from..end]);
                return Step::TooLong(scanner.finish());
            }
            let Range { start: from, end: to } = self.trimmed(from, end);
            self.at_beginning = false;
            if to - from > self.limit {
                let mut scanner = IdScanner::default();
                scanner.feed(&self.buffer[from..to]);
                return Step::TooLong(scanner.finish());
            }
            if self.buffer[from..to].iter().any(|byte| !byte.is_ascii_whitespace()) {
                return Step::Line { from, to };
            }
        }
    }

    /// Drops the lines that were returned, and the bytes of a line beyond the limit.
    fn compact(&mut self) {
        self.buffer.drain(..self.start);
        self.start = 0;
        if self.skipping.is_none() && self.trimmed(0, self.buffer.len()).len() > self.limit {
            self.skipping = Some(IdScanner::default());
            self.at_beginning = false;
        }
        if let Some(scanner) = &mut self.skipping {
            scanner.feed(&self.buffer);
            self.buffer.clear();
        }
        self.searched = self.buffer.len();
        if self.buffer.is_empty() && self.buffer.capacity() > KEEP {
            self.buffer = Vec::new();
        }
    }

    /// The part of a line, or of its start, that counts against the limit: without the byte-order mark and the CR of its
    /// end, however the input is cut.
    fn trimmed(&self, from: usize, to: usize) -> Range<usize> {
        let line = &self.buffer[from..to];
        let front = if self.at_beginning && line.starts_with(BOM) { BOM.len() } else { 0 };
        let back = usize::from(line.ends_with(b"\r"));
        from + front..to - back
    }
}
