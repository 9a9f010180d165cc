//! The sink of one file: takes what the searcher finds and keeps what can still be shown.
//!
//! One match is one line, or in a multiline search the lines that it (and matches sharing a line
//! with it) spans. Never holds more than the limits it was given.
//!
//! Of each line an [`excerpt`] is kept: at most [`LINE_CHARS`] characters, around the match. Of a long line only the characters
//! before the match are counted, for its column.

use std::{borrow::Cow, fmt::Write as _, io, ops::Range};

use confined_fs::stop::{StopReason, StopSignal};
use encoding_rs::Encoding;
use grep_matcher::Matcher as _;
use grep_regex::RegexMatcher;
use grep_searcher::{Searcher, Sink, SinkContext, SinkFinish, SinkMatch};

use crate::{HitLine, LeftOut, SearchMode};

const MATCH_LINES: usize = 50;
/// Bytes, about, that an answer needs for a line in addition to its text: its number and a mark.
const LINE_OVERHEAD: usize = 12;
/// Matches between two looks at the stop signal.
pub(super) const CHECK_EVERY: usize = 64;

#[derive(Clone, Copy, Debug)]
pub(in crate::content_search) struct FileLimits {
    /// Matches that another page has shown: counted, their text is not kept.
    pub(in crate::content_search) skip: usize,
    pub(in crate::content_search) matches: usize,
    /// Stop when this many bytes of text are kept.
    pub(in crate::content_search) text: usize,
    /// Bytes up to which the content of the file is handed on with its hits.
    pub(in crate::content_search) content: usize,
}

impl FileLimits {
    /// Those of a search that only asks whether there is a match.
    pub(in crate::content_search) fn first_match() -> Self {
        Self { skip: usize::MAX, matches: 1, text: usize::MAX, content: 0 }
    }
}

#[derive(Debug, Default)]
pub(super) struct FileMatches {
    pub(super) lines: Vec<HitLine>,
    /// Bytes of text kept so far.
    pub(super) bytes: usize,
    pub(super) matches: usize,
    pub(super) occurrences: usize,
    /// A NUL byte was met: the file is binary and its matches do not count.
    pub(super) binary: bool,
    /// A limit was reached before the end.
    pub(super) cut: bool,
    pub(super) stopped: Option<StopReason>,
    /// A line that matches or is kept is not ASCII.
    pub(super) foreign: bool,
    /// The file is not UTF-8, and in no encoding that is recognised.
    pub(super) undecoded: bool,
    pub(super) left_out: LeftOut,
}

#[derive(Debug)]
pub(super) struct Collector<'a> {
    pub(super) matcher: &'a RegexMatcher,
    pub(super) mode: SearchMode,
    pub(super) limits: FileLimits,
    pub(super) stop: &'a StopSignal,
    /// The whole content, where it is in memory and not transcoded, to look for NUL bytes in.
    pub(super) whole: Option<&'a [u8]>,
    pub(super) found: FileMatches,
    /// The encoding in which such lines are shown, where the file is not UTF-8; ASCII is itself in it.
    pub(super) encoding: Option<&'static Encoding>,
    /// Lines that are no uses, ascending, where they are known.
    pub(super) no_uses: Option<&'a [u64]>,
}

impl Collector<'_> {
    fn excerpt(&mut self, line: &[u8], hit: impl FnOnce(&[u8]) -> Option<Range<usize>>) -> HitLine {
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
        self.mode.context().unwrap_or_default().0
    }

    /// Whether the text of match `index`, or of context after it, can still be shown: the last
    /// skipped matches may be in the context of the first that is not.
    fn keeps(&self, index: usize) -> bool {
        self.mode.context().is_some() && index + self.before() >= self.limits.skip
    }

    fn keep(&mut self, number: u64, shown: HitLine, hit: Option<usize>) {
        self.found.bytes += shown.text.len() + LINE_OVERHEAD;
        self.found.lines.push(HitLine { number, hit, ..shown });
    }

    /// Keeps a line around a match; whether to go on.
    fn keep_context(&mut self, number: Option<u64>, line: &[u8]) -> bool {
        if self.keeps(self.found.matches) {
            let text = self.excerpt(line, |_| None);
            self.keep(number.unwrap_or(0), text, None);
        }
        self.found.bytes < self.limits.text || !self.full()
    }

    /// Drops lines of skipped matches that the context of the next match, from line `number`, does not reach: they must
    /// not use up the text that may be kept.
    fn drop_skipped(&mut self, number: u64) {
        if self.found.matches > self.limits.skip.saturating_add(1) {
            return;
        }
        let first = number.saturating_sub(self.before() as u64);
        let unreached = self.found.lines.partition_point(|line| line.number < first);
        self.found.bytes -=
            self.found.lines.drain(..unreached).map(|line| line.text.len() + LINE_OVERHEAD).sum::<usize>();
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
            number += memchr::memchr_iter(b'\n', &buffer[at..lines.start]).count() as u64;
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
                // Writing to a `String` does not fail.
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
        // Once for each file, and with its first match: a file without one is not looked through for that.
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
        let is_decided = match self.mode {
            SearchMode::Files | SearchMode::FilesWithout | SearchMode::Definitions { .. } => true,
            SearchMode::Uses { .. } => self.no_uses.is_none(),
            SearchMode::Lines { .. } | SearchMode::Counts => false,
        };
        if is_decided {
            self.found.matches = 1;
            return Ok(false);
        }
        if let (Some(no_uses), Some(number)) = (self.no_uses, found.line_number())
            && no_uses.binary_search(&number).is_ok()
        {
            // It may be around a use.
            let has_context = self.mode.context() != Some((0, 0));
            return Ok(!has_context || self.keep_context(Some(number), found.bytes()));
        }
        if searcher.multi_line_with_matcher(self.matcher) {
            self.take_spanning(found);
        } else {
            let index = self.found.matches;
            self.found.matches += 1;
            // It cannot fail: the error of a regex is `NoError`.
            let mut here = 0;
            let _ = self.matcher.find_iter(found.bytes(), |one| {
                here += usize::from(!one.is_empty());
                true
            });
            // A line in which nothing but empty matches is found counts once.
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
        // After the last match of several lines the searcher goes on with context, also where it was asked to end; it
        // begins before that match then.
        if self.found.cut || self.found.stopped.is_some() {
            return Ok(false);
        }
        Ok(self.keep_context(context.line_number(), context.bytes()))
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

/// Characters of a printed line, the marks of cut ends included.
const LINE_CHARS: usize = 200;
/// Characters shown before a match that does not fit from the line's beginning.
const LEAD_CHARS: usize = 60;
/// Bytes of the longest UTF-8 character.
const MAX_CHAR_BYTES: usize = 4;

/// `line` without its line break, cut around `hit` (a range of bytes) where it is too long; from
/// its beginning where there is no hit. Invalid UTF-8 is U+FFFD. Its number is not set.
pub(super) fn excerpt(line: &[u8], hit: impl FnOnce(&[u8]) -> Option<Range<usize>>) -> HitLine {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let whole = |text: Cow<'_, str>| HitLine { text: text.into_owned(), ..HitLine::default() };
    if line.len() <= LINE_CHARS {
        return whole(String::from_utf8_lossy(line));
    }
    // No more is decoded than can be shown: a line may have megabytes.
    let head = String::from_utf8_lossy(&line[..line.len().min((LINE_CHARS + 1) * MAX_CHAR_BYTES)]);
    if line.len() <= (LINE_CHARS + 1) * MAX_CHAR_BYTES && head.chars().count() <= LINE_CHARS {
        return whole(head);
    }
    let hit = hit(line).unwrap_or(0..0);
    let hit = hit.start.min(line.len())..hit.end.min(line.len());
    // Does the match fit when the line is shown from its beginning?
    let from_start = hit.end <= LINE_CHARS * MAX_CHAR_BYTES && characters(&line[..hit.end]) < LINE_CHARS;
    let start = if from_start || hit.start == 0 { 0 } else { back(line, hit.start, lead(line, &hit)) };
    let mut text = String::new();
    let mut left = LINE_CHARS;
    if start > 0 {
        text.push('…');
        left -= 1;
    }
    let tail = &line[start..line.len().min(start + (LINE_CHARS + 1) * MAX_CHAR_BYTES)];
    let tail = String::from_utf8_lossy(tail);
    let fits = start + (LINE_CHARS + 1) * MAX_CHAR_BYTES >= line.len() && tail.chars().count() <= left;
    if fits {
        text.push_str(&tail);
    } else {
        text.extend(tail.chars().take(left - 1));
        text.push('…');
    }
    HitLine { text, cut_at: Some(characters(&line[..hit.start]) as u64 + 1), ..HitLine::default() }
}

fn characters(bytes: &[u8]) -> usize {
    bytes.utf8_chunks().map(|chunk| chunk.valid().chars().count() + usize::from(!chunk.invalid().is_empty())).sum()
}

/// Characters to show before the match: fewer when the match itself is long, more when the line
/// ends soon after it.
fn lead(line: &[u8], hit: &Range<usize>) -> usize {
    let end = hit.end.min(hit.start + LINE_CHARS * MAX_CHAR_BYTES);
    let width = characters(&line[hit.start..end]).min(LINE_CHARS);
    let after = characters(&line[end..line.len().min(end + LINE_CHARS * MAX_CHAR_BYTES)]);
    // Two characters go to the marks.
    let spare = (LINE_CHARS - 2).saturating_sub(width);
    LEAD_CHARS.min(spare / 2).max(spare.saturating_sub(after))
}

/// The start of the character `count` characters before `at`.
fn back(line: &[u8], mut at: usize, count: usize) -> usize {
    for _ in 0..count {
        if at == 0 {
            break;
        }
        at -= 1;
        // At most three continuation bytes belong to one character; more are invalid anyway.
        for _ in 1..MAX_CHAR_BYTES {
            if at > 0 && line[at] & 0xC0 == 0x80 {
                at -= 1;
            }
        }
    }
    at
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

    fn collector<'a>(
        pattern: &'a Pattern,
        mode: SearchMode,
        limits: FileLimits,
        stop: &'a StopSignal,
        whole: Option<&'a [u8]>,
    ) -> Collector<'a> {
        Collector {
            matcher: &pattern.matcher,
            mode,
            limits,
            stop,
            whole,
            found: FileMatches::default(),
            encoding: None,
            no_uses: None,
        }
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
        let mut sink = collector(&pattern, mode, limits, &stop, Some(text));
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
        let mut sink = collector(&pattern, lines(0, 0), ALL, &stop, None);
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

#[cfg(test)]
mod excerpt_tests {
    use super::*;

    fn around(line: &str, needle: &str) -> String {
        let shown = excerpt(line.as_bytes(), |line| {
            let at = line.windows(needle.len()).position(|part| part == needle.as_bytes()).unwrap();
            Some(at..at + needle.len())
        });
        let column = line[..line.find(needle).unwrap()].chars().count() as u64 + 1;
        assert_eq!(shown.cut_at, Some(column));
        shown.text
    }

    #[test]
    fn short_line_is_shown_whole_without_its_break() {
        assert_eq!(excerpt(b"abc\r\n", |_| None), HitLine { text: "abc".to_owned(), ..HitLine::default() });
        let exact = "é".repeat(LINE_CHARS);
        assert_eq!(excerpt(exact.as_bytes(), |_| None), HitLine { text: exact, ..HitLine::default() });
    }

    #[test]
    fn long_line_is_cut_around_its_match() {
        let line = format!("{}needle{}", "a".repeat(1000), "b".repeat(1000));
        let shown = around(&line, "needle");
        assert_eq!(shown.chars().count(), LINE_CHARS);
        assert!(shown.starts_with('…') && shown.ends_with('…') && shown.contains("needle"), "{shown}");
    }

    #[test]
    fn early_match_keeps_the_beginning_and_late_match_the_end() {
        let early = around(&format!("needle{}", "b".repeat(1000)), "needle");
        assert!(early.starts_with("needle") && early.ends_with('…'), "{early}");
        let late = around(&format!("{}needle", "a".repeat(1000)), "needle");
        assert!(late.starts_with('…') && late.ends_with("needle"), "{late}");
        assert_eq!(early.chars().count(), LINE_CHARS);
        assert!((LINE_CHARS - 1..=LINE_CHARS).contains(&late.chars().count()), "{late}");
    }

    #[test]
    fn excerpt_width_counts_characters() {
        let line = format!("{}needle{}", "日".repeat(500), "本".repeat(500));
        let shown = around(&line, "needle");
        assert_eq!(shown.chars().count(), LINE_CHARS);
        assert!(shown.contains("日needle本") && !shown.contains('\u{FFFD}'), "{shown}");
    }

    #[test]
    fn match_longer_than_the_width_shows_its_beginning() {
        let line = format!("{}{}", "a".repeat(300), "x".repeat(5000));
        let shown = excerpt(line.as_bytes(), |_| Some(300..5300)).text;
        assert_eq!(shown.chars().count(), LINE_CHARS);
        assert!(shown.contains("xxx") && shown.ends_with('…'), "{shown}");
    }

    #[test]
    fn invalid_utf8_is_replaced_and_keeps_the_match() {
        let mut line = vec![0xFF; 1000];
        line.extend(b"needle");
        line.extend(vec![0x80; 1000]);
        let shown = excerpt(&line, |_| Some(1000..1006)).text;
        assert!(shown.contains("\u{FFFD}needle\u{FFFD}"), "{shown}");
        assert!(shown.chars().count() <= LINE_CHARS);
    }
}
