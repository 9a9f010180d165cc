//! A window of lines over a stream of decoded text: what is shown is kept, the rest is only counted.

use std::fmt::Write as _;

use crate::{
    text::{
        LineEnding,
        hidden::{self, Hidden},
    },
    tools::answer_budget::{AnswerBudget, Gauge},
};

/// Hidden characters that are pointed out one by one; more are counted.
const HIDDEN_SHOWN: usize = 10;

/// Bytes of the line that points them out.
const HIDDEN_NOTE: usize = 400;

/// Characters of one line that are shown; the rest is counted.
pub(super) const LINE_CHARS: usize = 2000;

/// Characters that are left of the first line at least, however small the budget is.
const SHORTEST_CUT: usize = 40;

/// Which lines to keep: `[skip, skip + take)`, numbered from 0.
#[derive(Clone, Copy, Debug)]
pub(super) struct WindowBounds {
    pub(super) skip: usize,
    pub(super) take: usize,
    /// What the numbered lines may take; at least one line is kept.
    pub(super) budget: AnswerBudget,
}

/// Takes text in pieces and keeps the numbered lines of its range.
#[derive(Debug)]
pub(super) struct Window {
    pub(super) range: WindowBounds,
    /// The numbered lines kept.
    pub(super) text: String,
    /// How many lines were kept.
    pub(super) kept: usize,
    /// The first hidden characters in the lines kept, each with its line number.
    pub(super) hidden: Vec<(usize, Hidden)>,
    /// How many hidden characters there are in the lines kept.
    pub(super) hidden_count: usize,
    full: bool,
    gauge: Gauge,
    /// Complete lines so far.
    lines: usize,
    current: PartialLine,
    lf: usize,
    crlf: usize,
    last_was_cr: bool,
    /// Whether the first line has a CR in it or at its end.
    first_has_cr: bool,
}

#[derive(Debug, Default)]
struct PartialLine {
    shown: String,
    chars: usize,
    started: bool,
}

/// How the text ends and how its lines end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Totals {
    pub(super) lines: usize,
    pub(super) final_newline: bool,
    lf: usize,
    crlf: usize,
    /// Whether there are lone CRs and no LF.
    only_cr: bool,
}

impl Totals {
    /// How the lines end. A lone CR counts only where there is no LF: next to LF and CR LF it is content.
    pub(super) fn line_ending(self) -> LineEnding {
        match (self.lf, self.crlf) {
            (0, 0) if self.only_cr => LineEnding::Cr,
            (0, 0) => LineEnding::None,
            (_, 0) => LineEnding::Lf,
            (0, _) => LineEnding::CrLf,
            _ => LineEnding::Mixed,
        }
    }
}

impl Window {
    pub(super) fn new(range: WindowBounds) -> Self {
        Self {
            range,
            text: String::new(),
            kept: 0,
            hidden: Vec::new(),
            hidden_count: 0,
            full: false,
            gauge: range.budget.gauge(),
            lines: 0,
            current: PartialLine::default(),
            lf: 0,
            crlf: 0,
            last_was_cr: false,
            first_has_cr: false,
        }
    }

    /// Takes the next piece of text.
    pub(super) fn push(&mut self, mut piece: &str) {
        if self.lines == 0 && !self.first_has_cr {
            let first = &piece.as_bytes()[..memchr::memchr(b'\n', piece.as_bytes()).unwrap_or(piece.len())];
            self.first_has_cr = memchr::memchr(b'\r', first).is_some();
        }
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
            if ended && !self.current.started && line.len() <= LINE_CHARS {
                self.keep_whole(line);
                piece = rest;
                continue;
            }
            self.current.push(line);
            if let Some(last) = line.as_bytes().last() {
                self.last_was_cr = *last == b'\r';
            }
            if ended {
                self.end_line(true);
            }
            piece = rest;
        }
    }

    /// Ends the text.
    pub(super) fn finish(&mut self) -> Totals {
        let only_cr = self.first_has_cr && self.lf + self.crlf == 0;
        let mut final_newline = true;
        if self.current.started {
            final_newline = only_cr && self.last_was_cr;
            self.end_line(false);
        }
        let final_newline = final_newline && self.lines > 0;
        Totals { lines: self.lines, final_newline, lf: self.lf, crlf: self.crlf, only_cr }
    }

    fn wanted(&self) -> bool {
        !self.full && self.lines >= self.range.skip && self.lines - self.range.skip < self.range.take
    }

    /// Passes over the rest of an unwanted line, and over as many more as are unwanted.
    fn skip<'a>(&mut self, piece: &'a str) -> &'a str {
        let bytes = piece.as_bytes();
        let mut from = 0;
        while let Some(end) = memchr::memchr(b'\n', &bytes[from..]).map(|end| from + end) {
            let cr = if end > from { bytes[end - 1] == b'\r' } else { self.current.started && self.last_was_cr };
            self.count_end(cr);
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

    fn count_end(&mut self, cr: bool) {
        if cr {
            self.crlf += 1;
        } else {
            self.lf += 1;
        }
    }

    /// A wanted line, with the CR of its end, that is shown unchanged.
    fn keep_whole(&mut self, line: &str) {
        let shown = line.strip_suffix('\r').unwrap_or(line);
        self.count_end(shown.len() < line.len());
        let before = self.text.len();
        push_number(&mut self.text, self.lines + 1);
        self.text.push_str(shown);
        self.text.push('\n');
        self.keep_within_budget(before, shown, None);
        self.lines += 1;
    }

    /// Takes the current line, which shows `line` and was added to the text after its first `before` bytes, away again
    /// where it goes beyond the budget. The first line stays, cut to what fits. `chars` is how many characters the whole
    /// line has, where it has been counted.
    fn keep_within_budget(&mut self, before: usize, line: &str, chars: Option<usize>) {
        let hidden = if line.is_ascii() { Vec::new() } else { hidden::in_line(line).collect() };
        if self.hidden_count == 0 && !hidden.is_empty() {
            self.gauge = self.range.budget.reduced(HIDDEN_NOTE).gauge();
        }
        if !self.gauge.fits(&self.text) {
            let chars = chars.unwrap_or_else(|| line.chars().count());
            if self.kept > 0 {
                self.text.truncate(before);
                self.full = true;
                return;
            }
            if chars > SHORTEST_CUT {
                self.text.truncate(before);
                self.cut_first_line(line, chars);
            }
        }
        self.kept += 1;
        self.hidden_count += hidden.len();
        let room = HIDDEN_SHOWN - self.hidden.len();
        self.hidden.extend(hidden.into_iter().take(room).map(|one| (self.lines + 1, one)));
    }

    /// Adds the first line, of which fewer characters fit into the budget than are shown of any line.
    fn cut_first_line(&mut self, line: &str, chars: usize) {
        let mut shown = chars.min(LINE_CHARS);
        loop {
            shown -= shown.div_ceil(8);
            let mut text = String::new();
            push_number(&mut text, self.lines + 1);
            text.extend(line.chars().take(shown));
            push_cut_mark(&mut text, chars, shown);
            text.push('\n');
            if shown < SHORTEST_CUT || self.range.budget.fits(&text) {
                self.text.push_str(&text);
                return;
            }
        }
    }

    fn end_line(&mut self, newline: bool) {
        let mut line = std::mem::take(&mut self.current);
        if newline {
            let cr = line.started && self.last_was_cr;
            self.count_end(cr);
            if cr {
                line.drop_cr();
            }
        }
        self.last_was_cr = false;
        if self.wanted() {
            let before = self.text.len();
            self.text.push_str(&line.numbered(self.lines + 1));
            self.keep_within_budget(before, &line.shown, Some(line.chars));
        }
        self.lines += 1;
    }
}

impl PartialLine {
    fn push(&mut self, piece: &str) {
        self.started |= !piece.is_empty();
        // Memory stays bounded however long the line is: one character more than is shown, for the `\r`.
        for (at, _) in piece.char_indices().take((LINE_CHARS + 1).saturating_sub(self.chars)) {
            let character = piece[at..].chars().next().unwrap_or_default();
            self.shown.push(character);
        }
        self.chars += piece.chars().count();
    }

    /// The carriage return before a line feed belongs to the line ending.
    fn drop_cr(&mut self) {
        if self.chars <= LINE_CHARS + 1 && self.shown.ends_with('\r') {
            self.shown.pop();
        }
        self.chars -= 1;
    }

    fn numbered(&self, number: usize) -> String {
        let mut text = String::with_capacity(self.shown.len() + 64);
        push_number(&mut text, number);
        if self.chars <= LINE_CHARS {
            text.push_str(&self.shown);
        } else {
            let end = self.shown.char_indices().nth(LINE_CHARS).map_or(self.shown.len(), |(at, _)| at);
            text.push_str(&self.shown[..end]);
            push_cut_mark(&mut text, self.chars, LINE_CHARS);
        }
        text.push('\n');
        text
    }
}

/// Says that of a line of `chars` characters only the first `shown` are above.
fn push_cut_mark(text: &mut String, chars: usize, shown: usize) {
    let _ = write!(text, "… [line of {chars} characters, cut after {shown}]");
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

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: WindowBounds = WindowBounds { skip: 0, take: usize::MAX, budget: AnswerBudget::bytes(usize::MAX) };

    /// The same text in one piece and cut everywhere must give the same window.
    fn window(text: &str, range: WindowBounds) -> (String, Totals) {
        let mut whole = Window::new(range);
        whole.push(text);
        let totals = whole.finish();
        let mut cut = Window::new(range);
        for character in text.chars() {
            cut.push(character.encode_utf8(&mut [0; 4]));
        }
        assert_eq!(cut.finish(), totals);
        assert_eq!(cut.text, whole.text);
        (whole.text, totals)
    }

    #[test]
    fn lines_are_numbered_flush_left() {
        let (text, totals) = window("a\n\nb", ALL);
        assert_eq!(text, "1\ta\n2\t\n3\tb\n");
        assert_eq!(totals, Totals { lines: 3, final_newline: false, lf: 2, crlf: 0, only_cr: false });
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
        let (text, totals) = window("a\r\nb\rc\r\n\r\n", ALL);
        assert_eq!(text, "1\ta\n2\tb\rc\n3\t\n");
        assert_eq!(totals, Totals { lines: 3, final_newline: true, lf: 0, crlf: 3, only_cr: false });
    }

    #[test]
    fn lone_carriage_returns_end_lines_where_nothing_else_does() {
        for (text, ending, final_newline) in [
            ("a\rb\r", "cr", true),
            ("a\rb", "cr", false),
            ("a\rb\n", "lf", true),
            ("a\r\nb\r\n", "crlf", true),
            ("a\r\nb\n", "mixed", true),
            ("a", "none", false),
        ] {
            let (_, totals) = window(text, ALL);
            assert_eq!((totals.line_ending().as_str(), totals.final_newline), (ending, final_newline), "{text:?}");
        }
    }

    #[test]
    fn only_the_range_is_kept_and_everything_is_counted() {
        let (text, totals) =
            window("1\n2\r\n3\n4\r\n5\n", WindowBounds { skip: 2, take: 2, budget: AnswerBudget::bytes(usize::MAX) });
        assert_eq!(text, "3\t3\n4\t4\n");
        assert_eq!(totals, Totals { lines: 5, final_newline: true, lf: 3, crlf: 2, only_cr: false });
    }

    #[test]
    fn the_budget_cuts_at_a_whole_line_and_keeps_at_least_one() {
        let (text, totals) =
            window("aaaa\nbbbb\ncccc\n", WindowBounds { skip: 0, take: 9, budget: AnswerBudget::bytes(14) });
        assert_eq!(text, "1\taaaa\n2\tbbbb\n");
        assert_eq!(totals.lines, 3);
        assert_eq!(window("aaaa\n", WindowBounds { skip: 0, take: 9, budget: AnswerBudget::bytes(1) }).0, "1\taaaa\n");
    }

    #[test]
    fn a_long_line_is_cut_marked_and_counted() {
        let (text, _) = window(&"é".repeat(5000), ALL);
        assert!(text.ends_with("é… [line of 5000 characters, cut after 2000]\n"), "{}", &text[text.len() - 80..]);
        let (text, _) = window(&format!("{}\r\n", "x".repeat(2000)), ALL);
        assert!(text.ends_with("x\n") && !text.contains('\r'));
    }

    #[test]
    fn hidden_characters_are_pointed_out_by_line_and_column() {
        let mut window = Window::new(ALL);
        window.push("plain\nx = 1 \u{202e}// y\n");
        window.finish();
        assert_eq!(window.hidden_count, 1);
        assert_eq!((window.hidden[0].0, window.hidden[0].1.column), (2, 7));
    }

    #[test]
    fn empty_text_has_no_lines() {
        assert_eq!(
            window("", ALL),
            (String::new(), Totals { lines: 0, final_newline: false, lf: 0, crlf: 0, only_cr: false })
        );
    }
}
