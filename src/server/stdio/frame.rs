//! Cuts the input into lines of bounded length.
//!
//! Knows no JSON; a line that is too long to keep goes through [`IdScanner`], so that the error can name its id.

use std::ops::Range;

use rmcp::model::RequestId;
use tokio::io::{AsyncRead, AsyncReadExt};

/// Bytes asked for at once.
const CHUNK_BYTES: usize = 16 << 10;
/// Bytes asked for at once in a longer line: the capacity of a pipe on Linux (pipe(7)).
const PIPE_BYTES: usize = 64 << 10;
/// A buffer that grew beyond this for one line is freed.
const MAX_KEPT: usize = 1 << 20;
/// The byte-order mark with which some programs begin their output.
const BOM: &[u8] = b"\xEF\xBB\xBF";

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Frame<'a> {
    Line(&'a [u8]),
    /// A line over the limit; its bytes are gone.
    TooLong {
        id: Option<RequestId>,
        limit: usize,
    },
    End,
}

/// Reads lines. All state is in `self`, so a `next` future that is dropped loses nothing.
#[derive(Debug)]
pub(super) struct FrameReader<R> {
    input: R,
    limit: usize,
    buffer: Vec<u8>,
    start: usize,
    searched: usize,
    /// Set while the current line is too long: it is scanned for its id and dropped.
    skipping: Option<IdScanner>,
    at_beginning: bool,
    ended: bool,
}

enum FrameStep {
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

    pub(super) async fn next(&mut self) -> Frame<'_> {
        loop {
            match self.step() {
                FrameStep::Line { from, to } => return Frame::Line(&self.buffer[from..to]),
                FrameStep::TooLong(id) => return Frame::TooLong { id, limit: self.limit },
                FrameStep::NeedMore if self.ended => return Frame::End,
                FrameStep::NeedMore => {}
            }
            // A long line is read in pieces as large as a pipe gives, within the limit for lines.
            self.buffer.reserve(if self.buffer.is_empty() {
                CHUNK_BYTES
            } else {
                self.limit.clamp(CHUNK_BYTES, PIPE_BYTES)
            });
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

    fn step(&mut self) -> FrameStep {
        loop {
            let found = memchr::memchr(b'\n', &self.buffer[self.searched..]);
            let end = match found {
                Some(at) => self.searched + at,
                // A last line may lack its end.
                None if self.ended && (self.start < self.buffer.len() || self.skipping.is_some()) => self.buffer.len(),
                None => {
                    self.compact();
                    return FrameStep::NeedMore;
                }
            };
            let from = self.start;
            // A last line has no line end to skip.
            self.start = (end + 1).min(self.buffer.len());
            self.searched = self.start;
            if let Some(mut scanner) = self.skipping.take() {
                scanner.feed(&self.buffer[from..end]);
                return FrameStep::TooLong(scanner.finish());
            }
            let Range { start: from, end: to } = self.trimmed(from, end);
            self.at_beginning = false;
            if to - from > self.limit {
                let mut scanner = IdScanner::default();
                scanner.feed(&self.buffer[from..to]);
                return FrameStep::TooLong(scanner.finish());
            }
            if self.buffer[from..to].iter().any(|byte| !byte.is_ascii_whitespace()) {
                return FrameStep::Line { from, to };
            }
        }
    }

    /// Drops the lines that were returned, and the bytes of a line beyond the limit.
    fn compact(&mut self) {
        // Once for each read and not for each line: the rest of the buffer is moved.
        self.buffer.drain(..self.start);
        self.start = 0;
        // A byte-order mark may have come in part.
        let may_be_mark = self.at_beginning && self.buffer.len() < BOM.len();
        if self.skipping.is_none() && !may_be_mark && self.trimmed(0, self.buffer.len()).len() > self.limit {
            self.skipping = Some(IdScanner::default());
            self.at_beginning = false;
        }
        if let Some(scanner) = &mut self.skipping {
            scanner.feed(&self.buffer);
            self.buffer.clear();
        }
        self.searched = self.buffer.len();
        if self.buffer.is_empty() && self.buffer.capacity() > MAX_KEPT {
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

// Finds the id of a message that cannot be parsed: broken, or too long to keep.
//
// A byte-wise scan for the member `id` of the outermost object, bounded in memory. In broken input it finds an id that
// is there as a whole, or nothing.

/// The longest id that is recovered, in bytes as written.
const MAX_ID: usize = 256;

/// A scan over the bytes of one line, in pieces of any size.
#[derive(Debug, Default)]
pub(super) struct IdScanner {
    depth: usize,
    in_string: bool,
    escaped: bool,
    /// Whether the next scalar of the outermost object is a value, not a key.
    at_value: bool,
    key_is_id: bool,
    token: Vec<u8>,
    overlong: bool,
    found: Option<RequestId>,
}

impl IdScanner {
    pub(super) fn feed(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.byte(byte);
        }
    }

    pub(super) fn finish(self) -> Option<RequestId> {
        self.found
    }

    fn byte(&mut self, byte: u8) {
        if self.in_string {
            self.keep(byte);
            match byte {
                _ if self.escaped => self.escaped = false,
                b'\\' => self.escaped = true,
                b'"' => self.in_string = false,
                _ => {}
            }
            return;
        }
        match byte {
            b'"' => {
                self.in_string = true;
                self.keep(byte);
            }
            b'{' | b'[' => {
                // An object or list is no id.
                self.overlong |= self.depth == 1;
                self.depth += 1;
            }
            b'}' | b']' => {
                if self.depth == 1 {
                    self.member_ends();
                }
                // Broken input may close more than it has opened.
                self.depth = self.depth.saturating_sub(1);
            }
            b':' if self.depth == 1 && !self.at_value => {
                // As written: a key spelled with escapes is not found, which costs this error its id and nothing else.
                self.key_is_id = !self.overlong && self.token == b"\"id\"";
                self.at_value = true;
                self.token.clear();
                self.overlong = false;
            }
            b',' if self.depth == 1 => self.member_ends(),
            byte if byte.is_ascii_whitespace() => {}
            byte => self.keep(byte),
        }
    }

    fn keep(&mut self, byte: u8) {
        if self.depth != 1 || (self.at_value && !self.key_is_id) {
            return;
        }
        if self.token.len() < MAX_ID {
            self.token.push(byte);
        } else {
            self.overlong = true;
        }
    }

    fn member_ends(&mut self) {
        if self.at_value && self.key_is_id && !self.overlong {
            // The last one counts, as with parsers.
            self.found = serde_json::from_slice(&self.token).ok();
        }
        self.at_value = false;
        self.key_is_id = false;
        self.overlong = false;
        self.token.clear();
    }
}

#[cfg(test)]
mod tests {
    use std::{
        pin::{Pin, pin},
        task::{Context, Poll, Waker},
    };

    use proptest::prelude::*;
    use tokio::io::ReadBuf;

    use super::*;

    /// An input that arrives in pieces of `sizes`, in turn; at 0 its reader waits, and is given up there.
    struct Pieces<'a> {
        input: &'a [u8],
        sizes: &'a [usize],
        turn: usize,
    }

    impl AsyncRead for Pieces<'_> {
        fn poll_read(
            mut self: Pin<&mut Self>,
            _: &mut Context<'_>,
            buffer: &mut ReadBuf<'_>,
        ) -> Poll<std::io::Result<()>> {
            let size = self.sizes[self.turn % self.sizes.len()];
            self.turn += 1;
            if size == 0 {
                return Poll::Pending;
            }
            let (piece, rest) = self.input.split_at(size.min(self.input.len()).min(buffer.remaining()));
            buffer.put_slice(piece);
            self.input = rest;
            Poll::Ready(Ok(()))
        }
    }

    /// The lines of an input, and for one over the limit the id found in it. The memory held on the way is bounded.
    fn cut(input: &[u8], sizes: &[usize], limit: usize) -> Vec<Result<Vec<u8>, Option<RequestId>>> {
        let mut reader = FrameReader::new(Pieces { input, sizes, turn: 0 }, limit);
        let mut lines = Vec::new();
        loop {
            match pin!(reader.next()).poll(&mut Context::from_waker(Waker::noop())) {
                Poll::Ready(Frame::Line(line)) => lines.push(Ok(line.to_vec())),
                Poll::Ready(Frame::TooLong { id, .. }) => lines.push(Err(id)),
                Poll::Ready(Frame::End) => return lines,
                // The future is dropped where it waits, as the service does.
                Poll::Pending => {}
            }
            // A buffer doubles when it grows.
            let held = reader.buffer.capacity();
            assert!(held <= 2 * (limit + CHUNK_BYTES), "{held} bytes for lines of {limit} in pieces of {sizes:?}");
        }
    }

    #[test]
    fn mark_that_comes_byte_by_byte_does_not_count() {
        let input = "\u{feff}{}\n".as_bytes();
        assert_eq!(cut(input, &[1], 2), cut(input, &[usize::MAX], 2));
    }

    proptest! {
        #[test]
        fn lines_are_cut_alike_however_they_arrive(
            lines in proptest::collection::vec("(\u{feff}|\\{\"id\": ?[0-9]{1,3}|[ a\"}\r])(\\{|,|}|\"id\":|[a-c\"\\\\ \r]|\\PC){0,40}", 0..8),
            limit in 1_usize..60,
            sizes in proptest::collection::vec(0_usize..40, 1..4),
        ) {
            let input = lines.join("\n").into_bytes();
            let whole = cut(&input, &[usize::MAX], limit);
            prop_assert!(whole.iter().flatten().all(|line| line.len() <= limit));
            let largest = sizes.iter().copied().max().unwrap_or_default();
            let sizes = if largest == 0 { vec![1] } else { sizes };
            for sizes in [&sizes[..], &[1], &[0, 7]] {
                prop_assert_eq!(&cut(&input, sizes, limit), &whole, "in pieces of {:?}", sizes);
            }
        }

        #[test]
        fn an_id_found_is_that_of_the_parser(
            before in "(\"[a-z]{1,3}\":(\\{\"id\":1}|\\[\"id\"]|\"[a-c:,]*\"|(0|[1-9][0-9]{0,2})),){0,3}",
            id in "(0|[1-9][0-9]{0,8})|\"[a-z,:{}]{0,9}\"",
            after in "(,\"[a-z]{3}\":(\\{}|null|\"id\"))?",
        ) {
            let text = format!("{{{before}\"id\":{id}{after}}}");
            let value: serde_json::Value = serde_json::from_str(&text).expect("JSON");
            prop_assert_eq!(scan(&text).map(RequestId::into_json_value), Some(value["id"].clone()), "{}", text);
        }
    }

    fn scan(text: &str) -> Option<RequestId> {
        let mut whole = IdScanner::default();
        whole.feed(text.as_bytes());
        let mut bytewise = IdScanner::default();
        text.bytes().for_each(|byte| bytewise.feed(&[byte]));
        let found = whole.finish();
        assert_eq!(found, bytewise.finish(), "pieces must not matter");
        found
    }

    #[test]
    fn outermost_id_is_found_at_any_position() {
        assert_eq!(scan(r#"{"id":7,"method":"#), Some(RequestId::Number(7)));
        assert_eq!(scan(r#"{"method":"x","params":{"id":3,"a":[{"id":4}]},"id": 9 }"#), Some(RequestId::Number(9)));
        assert_eq!(scan(r#"{"id" : "a\"b,}" , "x": nonsense"#), Some(RequestId::String("a\"b,}".into())));
    }

    #[test]
    fn nested_broken_and_overlong_ids_are_not_found() {
        assert_eq!(scan(r#"{"method":"id","params":"\"id\":5,"}"#), None);
        assert_eq!(scan(r#"{"id":{"id":5},"x":1}"#), None);
        assert_eq!(scan(r#"{"id":null}"#), None);
        assert_eq!(scan(r#"{"id":12"#), None, "more digits may have followed");
        assert_eq!(scan(r#"hello "id": 5, }"#), None);
        assert_eq!(scan(&format!(r#"{{"id":"{}","x":1}}"#, "a".repeat(MAX_ID))), None);
    }
}
