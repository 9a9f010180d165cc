//! A window of lines over a stream of decoded text: what is shown is kept, the rest is only counted.

use std::{fmt::Write as _, ops::Range};

use text_file::{
    LineEnding,
    hidden::{self, Hidden},
};

use super::super::{
    answer_budget::{AnswerBudget, Gauge},
    hidden_note::HiddenNote,
};

/// Characters of a first line that is shown whole, however small the budget is.
const SHORTEST_CUT: usize = 40;

/// Bytes of the line that points them out.
const HIDDEN_NOTE: usize = 400;

/// Which lines to keep, and which characters of each; none by default.
#[derive(Clone, Debug, Default)]
pub(super) struct WindowBounds {
    /// Lines, numbered from 0: disjoint and ascending.
    pub(super) ranges: Vec<Range<usize>>,
    /// Characters of each line, numbered from 0; `None` for the first ones of every line.
    pub(super) columns: Option<Range<usize>>,
    /// The budget of the numbered lines; at least one line is kept, in part if need be.
    pub(super) budget: AnswerBudget,
}

#[derive(Debug, Default)]
pub(super) struct Window {
    bounds: WindowBounds,
    at: usize,
    pub(super) text: String,
    pub(super) kept: usize,
    /// The lines kept, numbered from 0, as ranges.
    pub(super) shown: Vec<Range<usize>>,
    /// Characters of the longest line in the ranges, as far as they were looked at.
    pub(super) longest: usize,
    pub(super) nuls: usize,
    crs: usize,
    pub(super) hidden: HiddenNote,
    pub(super) full: bool,
    gauge: Gauge,
    lines: usize,
    current: PartialLine,
    ends: [usize; 2],
    last_was_cr: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LineTotals {
    pub(super) lines: usize,
    pub(super) final_newline: bool,
    pub(super) line_ending: LineEnding,
    pub(super) lone_crs: usize,
}

impl Window {
    pub(super) fn new(bounds: WindowBounds) -> Self {
        Self { gauge: bounds.budget.gauge(), bounds, ..Self::default() }
    }

    /// Takes the next piece of text. NULs are counted and no part of a line.
    pub(super) fn push(&mut self, mut piece: &str) {
        self.crs += memchr::memchr_iter(b'\r', piece.as_bytes()).count();
        while let Some(at) = memchr::memchr(0, piece.as_bytes()) {
            let (before, from) = piece.split_at(at);
            piece = from.trim_start_matches('\0');
            self.nuls += from.len() - piece.len();
            self.push_lines(before);
        }
        self.push_lines(piece);
    }

    fn push_lines(&mut self, mut piece: &str) {
        while !piece.is_empty() {
            if !self.wanted() {
                // Nothing of this line is shown: only its ends are of interest.
                piece = self.skip(piece);
                continue;
            }
            let (line, rest, ended) = match memchr::memchr(b'\n', piece.as_bytes()) {
                Some(end) => (&piece[..end], &piece[end + 1..], true),
                None => (piece, "", false),
            };
            // Most lines come whole and have fewer bytes than characters are shown.
            if ended && !self.current.started && line.len() <= LINE_CHARS && self.is_shown_whole(line) {
                self.keep_whole(line);
                piece = rest;
                continue;
            }
            let columns = self.columns();
            self.current.push(line, &columns);
            if let Some(last) = line.as_bytes().last() {
                self.last_was_cr = *last == b'\r';
            }
            if ended {
                self.end_line(true);
            }
            piece = rest;
        }
    }

    pub(super) fn finish(&mut self) -> LineTotals {
        let is_ended = !self.current.started;
        if !is_ended {
            self.end_line(false);
        }
        let final_newline = is_ended && self.lines > 0;
        // A CR alone is content.
        let line_ending = match self.ends {
            [0, 0] => LineEnding::None,
            [_, 0] => LineEnding::Lf,
            [0, _] => LineEnding::CrLf,
            _ => LineEnding::Mixed,
        };
        LineTotals { lines: self.lines, final_newline, line_ending, lone_crs: self.crs - self.ends[1] }
    }

    /// Whether the current line is in one of the ranges and may still fit.
    fn wanted(&mut self) -> bool {
        while self.bounds.ranges.get(self.at).is_some_and(|range| range.end <= self.lines) {
            self.at += 1;
        }
        !self.full && self.bounds.ranges.get(self.at).is_some_and(|range| range.start <= self.lines)
    }

    /// Whether a line of few characters needs no cut.
    fn is_shown_whole(&self, line: &str) -> bool {
        const NUMBER_BYTES: usize = 24;
        let is_short =
            self.kept > 0 || line.len() <= SHORTEST_CUT || self.bounds.budget.reduced(NUMBER_BYTES).fits(line);
        self.bounds.columns.is_none() && is_short
    }

    pub(super) fn end(&self) -> usize {
        self.bounds.ranges.last().map_or(0, |range| range.end)
    }

    fn columns(&self) -> Range<usize> {
        self.bounds.columns.clone().unwrap_or(0..LINE_CHARS)
    }

    /// Begins a shown line with its number, and with a mark before it where lines between it and the last one are left out.
    fn begin_line(&mut self) {
        if self.shown.last().is_some_and(|last| last.end < self.lines) && self.bounds.columns.is_none() {
            self.text.push_str("--\n");
        }
        push_number(&mut self.text, self.lines + 1);
    }

    /// Skips the rest of an unwanted line, and as many more as are unwanted.
    fn skip<'a>(&mut self, piece: &'a str) -> &'a str {
        let bytes = piece.as_bytes();
        let mut from = 0;
        while let Some(end) = memchr::memchr(b'\n', &bytes[from..]).map(|end| from + end) {
            let cr = if end > from { bytes[end - 1] == b'\r' } else { self.current.started && self.last_was_cr };
            self.ends[usize::from(cr)] += 1;
            self.lines += 1;
            self.current.started = false;
            self.last_was_cr = false;
            from = end + 1;
            if self.wanted() {
                self.current = PartialLine::default();
                return &piece[from..];
            }
        }
        if from < bytes.len() {
            self.current.started = true;
            self.last_was_cr = bytes[bytes.len() - 1] == b'\r';
        }
        ""
    }

    fn keep_whole(&mut self, line: &str) {
        let shown = line.strip_suffix('\r').unwrap_or(line);
        self.ends[usize::from(shown.len() < line.len())] += 1;
        let before = self.text.len();
        self.begin_line();
        self.text.push_str(shown);
        self.text.push('\n');
        self.keep_within_budget(before, shown, 0);
        self.lines += 1;
    }

    /// Takes the current line, which shows `line` from its character `from` on and was added to the text after its first
    /// `before` bytes, away again where it goes beyond the budget.
    fn keep_within_budget(&mut self, before: usize, line: &str, from: usize) {
        let hidden: Vec<Hidden> = hidden::in_line(line).collect();
        if self.hidden.is_empty() && !hidden.is_empty() {
            // Only from here on: most files have no such characters, and get the whole budget.
            self.gauge = self.bounds.budget.reduced(HIDDEN_NOTE).gauge();
        }
        if !self.gauge.fits(&self.text) {
            self.full = true;
            // A first line is shown in any case; one that was cut fits here.
            if self.kept > 0 {
                self.text.truncate(before);
                return;
            }
        }
        self.kept += 1;
        match self.shown.last_mut().filter(|last| last.end == self.lines) {
            Some(last) => last.end += 1,
            None => self.shown.push(self.lines..self.lines + 1),
        }
        for Hidden { character, column } in hidden {
            self.hidden.add(character, format_args!("at {}:{}", self.lines + 1, column + from));
        }
    }

    fn end_line(&mut self, newline: bool) {
        let mut line = std::mem::take(&mut self.current);
        if newline {
            let cr = line.started && self.last_was_cr;
            self.ends[usize::from(cr)] += 1;
            if cr {
                line.drop_cr(&self.columns());
            }
        }
        self.last_was_cr = false;
        if self.wanted() {
            self.longest = self.longest.max(line.chars());
            let columns = self.columns();
            let before = self.text.len();
            // Of a line without such columns there is nothing to show.
            if self.bounds.columns.is_none() || line.chars() > columns.start {
                self.begin_line();
                let start = self.text.len();
                let mut shown = line.excerpt(&columns, self.lines + 1, usize::MAX);
                if self.kept == 0
                    && line.chars() > SHORTEST_CUT
                    && !self.gauge.fits(&[&self.text, &shown.text, "\n"].concat())
                {
                    shown = self.fitting(&line, &columns);
                }
                self.text.push_str(&shown.text);
                self.text.push('\n');
                let content = self.text[start..start + shown.content].to_owned();
                self.keep_within_budget(before, &content, columns.start);
            }
        }
        self.lines += 1;
    }

    fn fitting(&mut self, line: &PartialLine, columns: &Range<usize>) -> ShownLine {
        let room = self.bounds.budget.reduced(HIDDEN_NOTE);
        // One character at least, whatever the budget: the next page begins after it, so that paging comes to an end.
        let (mut fits, mut too_many) = (1, columns.len().max(2));
        while too_many - fits > 1 {
            let middle = fits.midpoint(too_many);
            let shown = line.excerpt(columns, self.lines + 1, middle);
            if room.fits(&[&self.text, &shown.text, "\n"].concat()) { fits = middle } else { too_many = middle }
        }
        // A gauge follows one text that grows; what was tried above is not in this one.
        self.gauge = self.bounds.budget.gauge();
        line.excerpt(columns, self.lines + 1, fits)
    }
}

/// The number as `cat -n` has it, without the padding, and a tab. By hand, as formatting was a good part of what a
/// small read costs.
fn push_number(text: &mut String, mut number: usize) {
    // The longest number has 20 digits.
    let mut shown = *b"                    \t";
    let mut from = shown.len() - 1;
    while number > 0 || from == shown.len() - 1 {
        from -= 1;
        shown[from] = b"0123456789"[number % 10];
        number /= 10;
    }
    text.push_str(str::from_utf8(&shown[from..]).unwrap_or_default());
}

/// Characters of one line that are shown where the call names no columns; the rest is counted.
pub(super) const LINE_CHARS: usize = 2000;

/// A line, of which the columns that are shown are kept and the others counted.
#[derive(Debug, Default)]
pub(super) struct PartialLine {
    /// The characters from the first column on, and one more than are shown, for the `\r` of a line ending.
    kept: String,
    kept_chars: usize,
    chars: usize,
    pub(super) started: bool,
}

pub(super) struct ShownLine {
    /// Its characters, and what was left out.
    pub(super) text: String,
    pub(super) content: usize,
}

impl PartialLine {
    /// Takes the next piece. Memory stays bounded however long the line is.
    pub(super) fn push(&mut self, piece: &str, columns: &Range<usize>) {
        self.started |= !piece.is_empty();
        let count = piece.chars().count();
        let end = columns.end.saturating_add(1);
        if self.chars < end && self.chars + count > columns.start {
            let skip = columns.start.saturating_sub(self.chars);
            let take = end - self.chars.max(columns.start);
            let rest = &piece[byte_of(piece, skip)..];
            let taken = &rest[..byte_of(rest, take)];
            self.kept.push_str(taken);
            self.kept_chars += (count - skip).min(take);
        }
        self.chars += count;
    }

    /// The carriage return before a line feed belongs to the line ending.
    pub(super) fn drop_cr(&mut self, columns: &Range<usize>) {
        if self.chars <= columns.start + self.kept_chars && self.kept.ends_with('\r') {
            self.kept.pop();
            self.kept_chars -= 1;
        }
        self.chars -= 1;
    }

    pub(super) fn chars(&self) -> usize {
        self.chars
    }

    /// At most `most` of its characters in `columns`, with a mark where others are left out; `number` is its own.
    pub(super) fn excerpt(&self, columns: &Range<usize>, number: usize, most: usize) -> ShownLine {
        let width = columns.len().min(most);
        let mut text = self.kept[..byte_of(&self.kept, width)].to_owned();
        let content = text.len();
        let end = columns.start + self.kept_chars.min(width);
        let rest = self.chars - end;
        if columns.start == 0 && rest == 0 && self.chars <= LINE_CHARS && columns.end == LINE_CHARS {
            return ShownLine { text, content };
        }
        text.push_str(if rest > 0 { "… [" } else { " [" });
        if columns.start == 0 && columns.end == LINE_CHARS {
            let _ = write!(text, "line of {} characters, cut after {end}", self.chars);
        } else {
            let _ = write!(text, "columns {}-{end} of {}", columns.start + 1, self.chars);
        }
        if rest > 0 {
            let last = (end + columns.len().min(LINE_CHARS.max(width))).min(self.chars);
            let _ = write!(
                text,
                "; continue with part=\"columns {}-{last}\", start_line={number}, end_line={number}",
                end + 1
            );
        }
        text.push(']');
        ShownLine { text, content }
    }
}

fn byte_of(text: &str, index: usize) -> usize {
    if index >= text.len() { text.len() } else { text.char_indices().nth(index).map_or(text.len(), |(at, _)| at) }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::single_range_in_vec_init, reason = "a list of ranges may have one")]

    use super::*;

    fn lines(ranges: &[Range<usize>], budget: usize) -> WindowBounds {
        WindowBounds { ranges: ranges.to_vec(), columns: None, budget: AnswerBudget::bytes(budget) }
    }

    fn all() -> WindowBounds {
        lines(&[0..usize::MAX], usize::MAX)
    }

    /// The same text in one piece and cut everywhere must give the same window.
    fn window(text: &str, bounds: WindowBounds) -> (String, LineTotals) {
        let mut whole = Window::new(bounds.clone());
        whole.push(text);
        let totals = whole.finish();
        let mut cut = Window::new(bounds);
        for character in text.chars() {
            cut.push(character.encode_utf8(&mut [0; 4]));
        }
        assert_eq!(cut.finish(), totals);
        assert_eq!(cut.text, whole.text);
        (whole.text, totals)
    }

    #[test]
    fn lines_are_numbered_flush_left() {
        let (text, totals) = window("a\n\nb", all());
        assert_eq!(text, "1\ta\n2\t\n3\tb\n");
        assert_eq!(totals, LineTotals { lines: 3, final_newline: false, line_ending: LineEnding::Lf, lone_crs: 0 });
    }

    #[test]
    fn any_number_is_written() {
        for number in [1, 9, 10, 99_999, 999_999, 1_000_000, usize::MAX] {
            let mut text = String::new();
            push_number(&mut text, number);
            assert_eq!(text, format!("{number}\t"));
        }
    }

    #[test]
    fn carriage_returns_before_line_feeds_are_not_shown() {
        let (text, totals) = window("a\r\nb\rc\r\n\r\n", all());
        assert_eq!(text, "1\ta\n2\tb\rc\n3\t\n");
        assert_eq!(totals, LineTotals { lines: 3, final_newline: true, line_ending: LineEnding::CrLf, lone_crs: 1 });
    }

    #[test]
    fn carriage_returns_alone_end_no_lines() {
        for (text, ending, final_newline, lone_crs) in [
            ("a\rb\r", "none", false, 2),
            ("a\rb", "none", false, 1),
            ("a\rb\n", "lf", true, 1),
            ("a\r\nb\r\n", "crlf", true, 0),
            ("a\r\r\nb\r\n", "crlf", true, 1),
            ("a\r\nb\n", "mixed", true, 0),
            ("a", "none", false, 0),
        ] {
            // Those of lines that are not shown count as well.
            for bounds in [all(), lines(&[5..6], usize::MAX)] {
                let (_, totals) = window(text, bounds);
                let found = (totals.line_ending.as_str(), totals.final_newline, totals.lone_crs);
                assert_eq!(found, (ending, final_newline, lone_crs), "{text:?}");
            }
        }
    }

    #[test]
    fn only_the_range_is_kept_and_everything_is_counted() {
        let (text, totals) = window("1\n2\r\n3\n4\r\n5\n", lines(&[2..4], usize::MAX));
        assert_eq!(text, "3\t3\n4\t4\n");
        assert_eq!(totals, LineTotals { lines: 5, final_newline: true, line_ending: LineEnding::Mixed, lone_crs: 0 });
    }

    #[test]
    fn the_budget_cuts_at_a_whole_line_and_keeps_at_least_one() {
        let (text, totals) = window("aaaa\nbbbb\ncccc\n", lines(&[0..9], 14));
        assert_eq!(text, "1\taaaa\n2\tbbbb\n");
        assert_eq!(totals.lines, 3);
        assert_eq!(window("aaaa\n", lines(&[0..9], 1)).0, "1\taaaa\n");
    }

    #[test]
    fn a_long_line_is_cut_marked_and_counted() {
        let (text, _) = window(&"é".repeat(5000), all());
        let mark = "é… [line of 5000 characters, cut after 2000; \
                    continue with part=\"columns 2001-4000\", start_line=1, end_line=1]\n";
        assert!(text.ends_with(mark), "{}", &text[text.len() - 80..]);
        let (text, _) = window(&format!("{}\r\n", "x".repeat(2000)), all());
        assert!(text.ends_with("x\n") && !text.contains('\r'));
    }

    #[test]
    fn several_ranges_are_parted_and_counted() {
        let text = (1..=9).map(|n| format!("{n}\n")).collect::<Vec<_>>().concat();
        assert_eq!(window(&text, lines(&[1..3, 5..6, 7..8], usize::MAX)).0, "2\t2\n3\t3\n--\n6\t6\n--\n8\t8\n");
        let mut window = Window::new(lines(&[1..3, 5..7], 15));
        window.push(&text);
        window.finish();
        assert_eq!((window.text.as_str(), window.full), ("2\t2\n3\t3\n--\n6\t6\n", true));
        assert_eq!(window.shown, [1..3, 5..6]);
    }

    #[test]
    fn columns_are_taken_from_the_lines_that_have_them() {
        let columns =
            |text: &str, columns: Range<usize>| window(text, WindowBounds { columns: Some(columns), ..all() }).0;
        let text = "0123456789\nab\r\nü12345\r\n";
        assert_eq!(
            columns(text, 0..2),
            "1\t01… [columns 1-2 of 10; continue with part=\"columns 3-4\", start_line=1, \
                                         end_line=1]\n2\tab [columns 1-2 of 2]\n3\tü1… [columns 1-2 of 6; continue with \
                                         part=\"columns 3-4\", start_line=3, end_line=3]\n"
        );
        assert_eq!(columns(text, 4..10), "1\t456789 [columns 5-10 of 10]\n3\t45 [columns 5-6 of 6]\n");
        assert_eq!(columns(text, 10..12), "");
        assert_eq!(columns("ab", 1..usize::MAX), "1\tb [columns 2-2 of 2]\n");
    }

    #[test]
    fn first_line_that_does_not_fit_is_cut() {
        let text = "x".repeat(5000);
        for budget in [700, 1000, 2000] {
            let mut window = Window::new(lines(&[0..9], budget));
            window.push(&format!("{text}\n{text}\n"));
            window.finish();
            assert!(window.text.len() <= budget && window.text.lines().count() == 1, "{}", window.text.len());
            assert!(window.text.contains("[line of 5000 characters, cut after ") && window.full, "{}", window.text);
        }
    }

    #[test]
    fn hidden_characters_are_pointed_out_by_line_and_column() {
        let mut window = Window::new(all());
        window.push("plain\nx = 1 \u{202e}// y\nred \u{1b}[31m\n");
        window.finish();
        assert_eq!(window.hidden.text().unwrap(), "(hidden characters: U+202E at 2:7, U+001B at 3:5)");
    }

    #[test]
    fn empty_text_has_no_lines() {
        assert_eq!(
            window("", all()),
            (String::new(), LineTotals { lines: 0, final_newline: false, line_ending: LineEnding::None, lone_crs: 0 })
        );
    }
}
