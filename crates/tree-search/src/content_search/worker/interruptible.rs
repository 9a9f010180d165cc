//! A matcher that checks the stop signal while it works.
//!
//! A regex engine cannot be interrupted, and some patterns need a millisecond for a byte. Where no
//! match spans lines, a buffer is searched piece by piece, each piece whole lines: the
//! answer is the same, and a slow pattern stops after the current piece.
//!
//! # Limits
//! A multiline pattern, and one line however long, is searched in one piece.

use std::{
    cell::Cell,
    io,
    time::{Duration, Instant},
};

use confined_fs::stop::StopSignal;
use grep_matcher::{ByteSet, LineMatchKind, LineTerminator, Match, Matcher, NoCaptures};
use grep_regex::RegexMatcher;

use crate::progress::stopped_error;

/// Bytes of the first piece, and bounds of later ones.
const FIRST: usize = 4 << 10;
const SMALLEST: usize = 256;
const LARGEST: usize = 256 << 10;
/// A piece that took less is followed by a larger one, one that took more by a smaller one.
const QUICK: Duration = Duration::from_micros(200);
const SLOW: Duration = Duration::from_millis(5);

/// How many bytes are searched between two looks at the clock; learnt while a worker works.
#[derive(Debug)]
pub(super) struct PieceSize(Cell<usize>);

impl Default for PieceSize {
    fn default() -> Self {
        Self(Cell::new(FIRST))
    }
}

impl PieceSize {
    fn learn(&self, took: Duration) {
        let step = self.0.get();
        if took < QUICK {
            self.0.set(step.saturating_mul(4).min(LARGEST));
        } else if took > SLOW {
            self.0.set((step / 4).max(SMALLEST));
        }
    }
}

/// A matcher that fails once the call should stop.
#[derive(Debug)]
pub(super) struct InterruptibleMatcher<'a> {
    pub(super) inner: &'a RegexMatcher,
    pub(super) stop: &'a StopSignal,
    pub(super) piece_size: &'a PieceSize,
}

impl InterruptibleMatcher<'_> {
    fn check(&self) -> io::Result<()> {
        self.stop.stopped().map_or(Ok(()), |_| Err(stopped_error()))
    }
}

/// What the inner matcher never fails with.
fn infallible<T>(result: Result<T, grep_matcher::NoError>) -> io::Result<T> {
    result.map_err(|_| stopped_error())
}

impl Matcher for InterruptibleMatcher<'_> {
    type Captures = NoCaptures;
    type Error = io::Error;

    fn find_at(&self, haystack: &[u8], at: usize) -> io::Result<Option<Match>> {
        self.check()?;
        infallible(self.inner.find_at(haystack, at))
    }

    fn new_captures(&self) -> io::Result<NoCaptures> {
        Ok(NoCaptures::new())
    }

    fn shortest_match_at(&self, haystack: &[u8], at: usize) -> io::Result<Option<usize>> {
        self.check()?;
        infallible(self.inner.shortest_match_at(haystack, at))
    }

    fn is_match_at(&self, haystack: &[u8], at: usize) -> io::Result<bool> {
        infallible(self.inner.is_match_at(haystack, at))
    }

    fn non_matching_bytes(&self) -> Option<&ByteSet> {
        self.inner.non_matching_bytes()
    }

    fn line_terminator(&self) -> Option<LineTerminator> {
        self.inner.line_terminator()
    }

    fn find_candidate_line(&self, haystack: &[u8]) -> io::Result<Option<LineMatchKind>> {
        // Without a line terminator the pattern may be anchored to where the haystack begins.
        if self.inner.line_terminator().is_none() || haystack.is_empty() {
            return infallible(self.inner.find_candidate_line(haystack));
        }
        let mut start = 0;
        while start < haystack.len() {
            self.check()?;
            let end = end_of_piece(haystack, start, self.piece_size.0.get());
            let began = Instant::now();
            let found = infallible(self.inner.find_candidate_line(&haystack[start..end]))?;
            self.piece_size.learn(began.elapsed());
            // An empty match behind the last line break of a piece is about the line that begins
            // there, which the next piece decides.
            let Some(LineMatchKind::Confirmed(at) | LineMatchKind::Candidate(at)) = found else {
                start = end;
                continue;
            };
            if start + at == end && end < haystack.len() {
                start = end;
                continue;
            }
            return Ok(found.map(|kind| match kind {
                LineMatchKind::Confirmed(at) => LineMatchKind::Confirmed(start + at),
                LineMatchKind::Candidate(at) => LineMatchKind::Candidate(start + at),
            }));
        }
        Ok(None)
    }
}

/// The end of the last line that ends within `step` bytes from `start`, else of the first line.
fn end_of_piece(haystack: &[u8], start: usize, step: usize) -> usize {
    let reach = start.saturating_add(step);
    if reach >= haystack.len() {
        return haystack.len();
    }
    let back = haystack[start..reach].iter().rposition(|byte| *byte == b'\n');
    let forward = || haystack[reach..].iter().position(|byte| *byte == b'\n').map(|at| at + (reach - start));
    back.or_else(forward).map_or(haystack.len(), |at| start + at + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Pattern, PatternOptions};

    fn candidates(pattern: &str, text: &[u8], size: usize) -> Vec<usize> {
        let pattern = Pattern::compile(pattern, PatternOptions::default()).unwrap();
        let stop = StopSignal::after(Duration::from_secs(3600));
        let (mut at, mut lines) = (0, Vec::new());
        while at < text.len() {
            // A new piece_size for each, as it grows.
            let piece_size = PieceSize(Cell::new(size));
            let matcher = InterruptibleMatcher { inner: &pattern.matcher, stop: &stop, piece_size: &piece_size };
            let found = matcher.find_candidate_line(&text[at..]).unwrap();
            let Some(LineMatchKind::Confirmed(offset) | LineMatchKind::Candidate(offset)) = found else { break };
            let start = text[..at + offset].iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
            let end =
                text[at + offset..].iter().position(|byte| *byte == b'\n').map_or(text.len(), |n| at + offset + n + 1);
            lines.push(start);
            at = end;
        }
        lines
    }

    #[test]
    fn piecewise_search_finds_the_same_lines() {
        let text = "a\n\nbb\n\n\nccc x\nx\n".repeat(50);
        for pattern in ["^$", "x", "^x$", "c+ x", "\\bbb\\b", "[^a]$"] {
            let whole = candidates(pattern, text.as_bytes(), usize::MAX);
            for step in [1, 2, 3, 5, 17] {
                let pieces = candidates(pattern, text.as_bytes(), step);
                assert_eq!(pieces, whole, "{pattern} in pieces from {step}");
            }
            assert!(!whole.is_empty());
        }
    }

    #[test]
    fn stopped_call_fails_the_matcher() {
        let pattern = Pattern::compile("x", PatternOptions::default()).unwrap();
        let stop = StopSignal::after(Duration::from_secs(3600));
        stop.cancel();
        let matcher = InterruptibleMatcher { inner: &pattern.matcher, stop: &stop, piece_size: &PieceSize::default() };
        assert!(matcher.find_candidate_line(b"abc\n").is_err());
    }
}
