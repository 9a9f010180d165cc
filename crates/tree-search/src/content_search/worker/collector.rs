//! The sink of one file: takes what the searcher finds and keeps what can still be shown.
//!
//! One match is one line, or in a multiline search the lines that it (and matches sharing a line
//! with it) spans. Never holds more than the limits it was given.

use std::{fmt::Write as _, io, ops::Range};

use confined_fs::stop::{StopReason, StopSignal};
use encoding_rs::Encoding;
use grep_matcher::Matcher;
use grep_regex::RegexMatcher;
use grep_searcher::{Searcher, Sink, SinkContext, SinkFinish, SinkMatch};

use crate::{HitLine, SearchMode};

use super::excerpt::{Excerpt, excerpt};

/// Lines kept of one match that spans many.
const MATCH_LINES: usize = 50;
/// Bytes, about, that an answer needs for a line in addition to its text: its number and a mark.
const LINE: usize = 12;
/// Matches between two looks at the stop signal.
const CHECK_EVERY: usize = 64;

/// What may still be kept of a file.
#[derive(Clone, Copy, Debug)]
pub(in crate::content_search) struct FileLimits {
    /// Matches that another page has shown: counted, their text is not kept.
    pub(in crate::content_search) skip: usize,
    /// Stop when this many matches were found, the skipped ones included.
    pub(in crate::content_search) matches: usize,
    /// Stop when this many bytes of text are kept.
    pub(in crate::content_search) text: usize,
    /// Bytes up to which the content of the file is handed on with its hits.
    pub(in crate::content_search) content: usize,
}

/// What was found in one file so far.
#[derive(Debug, Default)]
pub(super) struct FileMatches {
    /// Lines kept so far.
    pub(super) lines: Vec<HitLine>,
    /// Bytes of text kept so far.
    pub(super) bytes: usize,
    /// Matches found so far.
    pub(super) matches: usize,
    /// How often the pattern is in their lines, where those are one each.
    pub(super) occurrences: usize,
    /// A NUL byte was met: the file is binary and its matches do not count.
    pub(super) binary: bool,
    /// A limit was reached before the end.
    pub(super) cut: bool,
    /// The call was stopped.
    pub(super) stopped: Option<StopReason>,
    /// A line that matches or is kept is not ASCII.
    pub(super) foreign: bool,
    /// The file is not UTF-8, and in no encoding that is recognised.
    pub(super) undecoded: bool,
}

impl FileMatches {
    /// Without lines where no match is to be shown.
    pub(super) fn shown(self, limits: FileLimits) -> Self {
        if self.matches > limits.skip { self } else { Self { lines: Vec::new(), bytes: 0, ..self } }
    }
}

/// The sink of one file.
#[derive(Debug)]
pub(super) struct Collector<'a> {
    matcher: &'a RegexMatcher,
    mode: SearchMode,
    limits: FileLimits,
    stop: &'a StopSignal,
    /// The whole content, where it is in memory and not transcoded, to look for NUL bytes in.
    whole: Option<&'a [u8]>,
    pub(super) found: FileMatches,
    /// What such lines are shown in, where the file is not UTF-8: an encoding in which ASCII is itself.
    encoding: Option<&'static Encoding>,
}

impl<'a> Collector<'a> {
    pub(super) fn new(
        matcher: &'a RegexMatcher,
        mode: SearchMode,
        limits: FileLimits,
        stop: &'a StopSignal,
        whole: Option<&'a [u8]>,
        encoding: Option<&'static Encoding>,
    ) -> Self {
        Self { matcher, mode, limits, stop, whole, found: FileMatches::default(), encoding }
    }

    /// What is shown of a line, around `hit`.
    fn excerpt(&mut self, line: &[u8], hit: impl FnOnce(&[u8]) -> Option<Range<usize>>) -> Excerpt {
        if line.is_ascii() {
            return excerpt(line, hit);
        }
        self.found.foreign = true;
        let Some(encoding) = self.encoding else { return excerpt(line, hit) };
        let decoded = |bytes| encoding.decode_without_bom_handling(bytes).0;
        let hit = hit(line).map(|hit| {
            let start = decoded(&line[..hit.start.min(line.len())]).len();
            start..start + decoded(&line[hit.start.min(line.len())..hit.end.min(line.len())]).len()
        });
        excerpt(decoded(line).as_bytes(), |_| hit)
    }

    fn before(&self) -> usize {
        match self.mode {
            SearchMode::Lines { before, .. } => before,
            _ => 0,
        }
    }

    /// Whether the text of match `index`, or of context after it, can still be shown: the last
    /// skipped matches may be in the context of the first that is not.
    fn keeps(&self, index: usize) -> bool {
        matches!(self.mode, SearchMode::Lines { .. }) && index + self.before() >= self.limits.skip
    }

    fn keep(&mut self, number: u64, shown: Excerpt, hit: Option<usize>) {
        let Excerpt { text, cut_at } = shown;
        self.found.bytes += text.len() + LINE;
        self.found.lines.push(HitLine { number, text, hit, cut_at, scope: None });
    }

    /// Drops lines of skipped matches that the context of the next match, from line `number`, does not reach: they must
    /// not use up the text that may be kept.
    fn drop_skipped(&mut self, number: u64) {
        if self.found.matches > self.limits.skip.saturating_add(1) {
            return;
        }
        let first = number.saturating_sub(self.before() as u64);
        let unreached = self.found.lines.partition_point(|line| line.number < first);
        self.found.bytes -= self.found.lines.drain(..unreached).map(|line| line.text.len() + LINE).sum::<usize>();
    }

    fn full(&mut self) -> bool {
        self.found.cut = self.found.matches >= self.limits.matches || self.found.bytes >= self.limits.text;
        self.found.cut
    }

    /// Splits a block of adjacent lines into its matches and calls `each` with the lines of one.
    fn split(&self, found: &SinkMatch<'_>, mut each: impl FnMut(Range<usize>, Range<usize>) -> bool) {
        let buffer = found.buffer();
        let block = found.bytes_range_in_buffer();
        let mut at = block.start;
        let mut current: Option<(Range<usize>, Range<usize>)> = None;
        while at <= block.end {
            let Ok(Some(next)) = self.matcher.find_at(buffer, at) else { break };
            if next.start() >= block.end {
                break;
            }
            at = if next.is_empty() { next.end() + 1 } else { next.end() };
            let lines = lines_of(buffer, next.start()..next.end(), &block);
            match &mut current {
                Some((known, _)) if lines.start < known.end => known.end = known.end.max(lines.end),
                _ => {
                    if let Some((lines, hit)) = current.replace((lines, next.start()..next.end()))
                        && !each(lines, hit)
                    {
                        return;
                    }
                }
            }
        }
        // The searcher saw a match here; if looking again from another place does not, the block is it.
        let (lines, hit) = current.unwrap_or((block.clone(), block.start..block.start));
        each(lines, hit);
    }

    fn take_spanning(&mut self, found: &SinkMatch<'_>) {
        let mut blocks = Vec::new();
        let room = self.limits.matches.saturating_sub(self.found.matches);
        let counting = matches!(self.mode, SearchMode::Counts);
        let mut count = 0;
        self.split(found, |lines, hit| {
            count += 1;
            if !counting {
                blocks.push((lines, hit));
            }
            count < room
        });
        if counting {
            self.found.matches += count;
            return;
        }
        let buffer = found.buffer();
        let mut number = found.line_number().unwrap_or(1);
        let mut at = found.bytes_range_in_buffer().start;
        for (lines, hit) in blocks {
            let index = self.found.matches;
            self.found.matches += 1;
            if !self.keeps(index) {
                continue;
            }
            number += breaks(&buffer[at..lines.start]);
            at = lines.start;
            self.drop_skipped(number);
            let mut more = 0;
            for (place, line) in buffer[lines.clone()].split_inclusive(|byte| *byte == b'\n').enumerate() {
                if place < MATCH_LINES {
                    // Only the first line of a match is cut around it; the others begin within it.
                    let local = (place == 0).then(|| hit.start - lines.start..(hit.end - lines.start).min(line.len()));
                    let text = self.excerpt(line, |_| local);
                    self.keep(number + place as u64, text, Some(index));
                } else {
                    more += 1;
                }
            }
            if more > 0
                && let Some(last) = self.found.lines.last_mut()
            {
                let _ = write!(last.text, " (… {more} more lines of this match)");
            }
            if self.found.bytes >= self.limits.text {
                return;
            }
        }
    }
}

impl Sink for Collector<'_> {
    type Error = io::Error;

    fn matched(&mut self, searcher: &Searcher, found: &SinkMatch<'_>) -> Result<bool, io::Error> {
        // The searcher itself looks for NUL only in the first 64 KiB and in matching lines.
        if self.whole.take().is_some_and(|bytes| bytes.contains(&0)) {
            self.found.binary = true;
            return Ok(false);
        }
        if self.found.matches % CHECK_EVERY == CHECK_EVERY - 1 {
            self.found.stopped = self.stop.stopped();
            if self.found.stopped.is_some() {
                return Ok(false);
            }
        }
        self.found.foreign |= !found.bytes().is_ascii();
        if matches!(self.mode, SearchMode::Files | SearchMode::FilesWithout | SearchMode::Definitions { .. }) {
            self.found.matches = 1;
            return Ok(false);
        }
        if searcher.multi_line_with_matcher(self.matcher) {
            self.take_spanning(found);
        } else {
            let index = self.found.matches;
            self.found.matches += 1;
            let mut here = 0;
            let _ = self.matcher.find_iter(found.bytes(), |one| {
                here += usize::from(!one.is_empty());
                true
            });
            self.found.occurrences += here.max(1);
            if self.keeps(index) {
                self.drop_skipped(found.line_number().unwrap_or(0));
                let matcher = self.matcher;
                let text = self.excerpt(found.bytes(), |line| {
                    let found = matcher.find(line).ok().flatten()?;
                    Some(found.start()..found.end())
                });
                self.keep(found.line_number().unwrap_or(0), text, Some(index));
            }
        }
        Ok(!self.full())
    }

    fn context(&mut self, _: &Searcher, context: &SinkContext<'_>) -> Result<bool, io::Error> {
        if self.keeps(self.found.matches) {
            let text = self.excerpt(context.bytes(), |_| None);
            self.keep(context.line_number().unwrap_or(0), text, None);
        }
        Ok(self.found.bytes < self.limits.text || !self.full())
    }

    fn binary_data(&mut self, _: &Searcher, _: u64) -> Result<bool, io::Error> {
        self.found.binary = true;
        Ok(false)
    }

    fn finish(&mut self, _: &Searcher, finish: &SinkFinish) -> Result<(), io::Error> {
        self.found.binary |= finish.binary_byte_offset().is_some();
        Ok(())
    }
}

/// The whole lines that `hit` touches, within `block`. A hit that ends with a line break does not
/// touch the next line.
fn lines_of(buffer: &[u8], hit: Range<usize>, block: &Range<usize>) -> Range<usize> {
    let start = buffer[block.start..hit.start].iter().rposition(|byte| *byte == b'\n');
    let start = start.map_or(block.start, |at| block.start + at + 1);
    if hit.end > start && buffer.get(hit.end - 1) == Some(&b'\n') {
        return start..hit.end.min(block.end);
    }
    let rest = buffer.get(hit.end..block.end).unwrap_or_default();
    let end = rest.iter().position(|byte| *byte == b'\n').map_or(block.end, |at| hit.end + at + 1);
    start..end
}

fn breaks(bytes: &[u8]) -> u64 {
    bytes.split(|byte| *byte == b'\n').count() as u64 - 1
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use grep_searcher::{BinaryDetection, SearcherBuilder};

    use super::*;
    use crate::{Pattern, PatternOptions};

    const ALL: FileLimits = FileLimits { skip: 0, matches: usize::MAX, text: usize::MAX, content: 0 };

    struct Seen {
        lines: Vec<(u64, String, Option<usize>)>,
        matches: usize,
        binary: bool,
        cut: bool,
    }

    fn search(pattern: &str, multiline: bool, text: &[u8], mode: SearchMode, limits: FileLimits) -> Seen {
        let pattern = Pattern::compile(pattern, PatternOptions { multiline, ..Default::default() }).unwrap();
        let (before, after) = match mode {
            SearchMode::Lines { before, after } => (before, after),
            _ => (0, 0),
        };
        let mut searcher = SearcherBuilder::new()
            .multi_line(multiline)
            .before_context(before)
            .after_context(after)
            .binary_detection(BinaryDetection::quit(0))
            .build();
        let stop = StopSignal::after(Duration::from_secs(3600));
        let mut sink = Collector::new(&pattern.matcher, mode, limits, &stop, Some(text), None);
        searcher.search_slice(&pattern.matcher, text, &mut sink).unwrap();
        Seen {
            lines: sink.found.lines.into_iter().map(|line| (line.number, line.text, line.hit)).collect(),
            matches: sink.found.matches,
            binary: sink.found.binary,
            cut: sink.found.cut,
        }
    }

    fn lines(before: usize, after: usize) -> SearchMode {
        SearchMode::Lines { before, after }
    }

    fn shown(seen: &Seen) -> Vec<(u64, &str, Option<usize>)> {
        seen.lines.iter().map(|(number, text, hit)| (*number, text.as_str(), *hit)).collect()
    }

    #[test]
    fn line_with_two_matches_is_one_hit() {
        let seen = search("a", false, b"aa\nb\nca\n", lines(0, 0), ALL);
        assert_eq!(shown(&seen), [(1, "aa", Some(0)), (3, "ca", Some(1))]);
    }

    #[test]
    fn context_lines_belong_to_no_hit() {
        let seen = search("x", false, b"1\n2\nx\n4\n5\n", lines(1, 1), ALL);
        assert_eq!(shown(&seen), [(2, "2", None), (3, "x", Some(0)), (4, "4", None)]);
    }

    #[test]
    fn multiline_match_has_all_its_lines_and_counts_once() {
        let seen = search("b.*d", true, b"a\nb\nc\nd\ne\n", lines(0, 0), ALL);
        assert_eq!(shown(&seen), [(2, "b", Some(0)), (3, "c", Some(0)), (4, "d", Some(0))]);
        assert_eq!(seen.matches, 1);
    }

    #[test]
    fn adjacent_multiline_matches_are_counted_separately() {
        let text = b"a\nb\na\nb\nz\n";
        let seen = search("a\\nb", true, text, lines(0, 0), ALL);
        assert_eq!(shown(&seen), [(1, "a", Some(0)), (2, "b", Some(0)), (3, "a", Some(1)), (4, "b", Some(1))]);
        assert_eq!(search("a\\nb", true, text, SearchMode::Counts, ALL).matches, 2);
    }

    #[test]
    fn multiline_matches_that_share_a_line_are_one() {
        let seen = search("a\\nb", true, b"a\nb a\nb\n", lines(0, 0), ALL);
        assert_eq!((seen.matches, seen.lines.len()), (1, 3));
    }

    #[test]
    fn match_of_many_lines_is_cut_with_a_note() {
        let text = "x\n".repeat(500);
        let seen = search("x.*x", true, text.as_bytes(), lines(0, 0), ALL);
        assert_eq!((seen.matches, seen.lines.len()), (1, MATCH_LINES));
        assert!(seen.lines.last().unwrap().1.contains("450 more lines"));
    }

    #[test]
    fn nul_byte_anywhere_makes_a_file_binary() {
        let mut text = b"hit\n".repeat(40_000);
        text.push(0);
        assert!(search("hit", false, &text, lines(0, 0), ALL).binary);
        assert!(search("hit", false, b"a\0b hit\n", SearchMode::Files, ALL).binary);
    }

    #[test]
    fn file_limits_stop_the_search() {
        let text = b"hit\n".repeat(1000);
        let seen = search("hit", false, &text, lines(0, 0), FileLimits { matches: 10, ..ALL });
        assert_eq!((seen.matches, seen.lines.len(), seen.cut), (10, 10, true));
        let seen = search("hit", false, &text, lines(0, 0), FileLimits { text: 100, ..ALL });
        assert!(seen.cut && seen.lines.len() < 10);
    }

    #[test]
    fn skipped_matches_are_counted_without_their_text() {
        let text = b"hit\n".repeat(10);
        let seen = search("hit", false, &text, lines(0, 0), FileLimits { skip: 8, ..ALL });
        assert_eq!(shown(&seen), [(9, "hit", Some(8)), (10, "hit", Some(9))]);
    }

    #[test]
    fn utf16_is_decoded() {
        let text: Vec<u8> = "\u{FEFF}eins\nzwei ä\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
        let pattern = Pattern::compile("zwei", PatternOptions::default()).unwrap();
        let stop = StopSignal::after(Duration::from_secs(3600));
        let mut sink = Collector::new(&pattern.matcher, lines(0, 0), ALL, &stop, None, None);
        SearcherBuilder::new()
            .binary_detection(BinaryDetection::quit(0))
            .build()
            .search_slice(&pattern.matcher, &text, &mut sink)
            .unwrap();
        assert_eq!(
            (sink.found.lines[0].number, sink.found.lines[0].text.as_str(), sink.found.binary),
            (2, "zwei ä", false)
        );
    }
}
