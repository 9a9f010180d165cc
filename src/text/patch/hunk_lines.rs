//! The lines of a hunk of a unified diff: where it ends, whatever its header counts.

use super::{FinalNewline, HunkLine, PatchError, PatchHunk, hunk_header::HunkHeader};

/// Which sides of a hunk end in `\ No newline at end of file`.
#[derive(Clone, Copy, Default)]
pub(super) struct EndMarks {
    old: bool,
    new: bool,
}

impl EndMarks {
    /// A mark behind `line`.
    pub(super) fn mark(&mut self, line: Option<&HunkLine<'_>>) {
        self.old |= line.is_some_and(|line| line.old().is_some());
        self.new |= line.is_some_and(|line| line.new_line().is_some());
    }

    pub(super) fn give(self, hunk: &mut PatchHunk<'_>) {
        hunk.at_end |= self.old || self.new;
        hunk.final_newline = match (self.old, self.new) {
            (true, false) => FinalNewline::Added,
            (false, true) => FinalNewline::Removed,
            _ => FinalNewline::AsInFile,
        };
    }
}

/// How many lines the header says are still to come.
struct ExpectedLines {
    counts: Option<(usize, usize)>,
    old: usize,
    new: usize,
}

impl ExpectedLines {
    fn take(&mut self, line: HunkLine<'_>) {
        self.old += usize::from(line.old().is_some());
        self.new += usize::from(line.new_line().is_some());
    }

    /// Whether no more lines are expected; without counts that is never known.
    fn is_met(&self) -> bool {
        self.counts.is_some_and(|(old, new)| self.old >= old && self.new >= new)
    }

    /// Whether the counts say that a line on each side is the last.
    fn has_one_pair_left(&self) -> bool {
        self.counts.is_some_and(|(old, new)| self.old + 1 == old && self.new + 1 == new)
    }

    fn is_wrong(&self) -> bool {
        self.counts.is_some_and(|counts| counts != (self.old, self.new))
    }
}

/// A hunk that was read.
pub(super) struct ReadHunk<'p> {
    pub(super) hunk: PatchHunk<'p>,
    /// The index of the line behind it.
    pub(super) next: usize,
    /// Whether its header counts other lines than it has.
    pub(super) is_miscounted: bool,
}

/// Reads the hunk that begins with the header at `start`.
pub(super) fn read<'p>(lines: &[&'p str], start: usize) -> Result<ReadHunk<'p>, PatchError> {
    let header = HunkHeader::parse(lines[start]).unwrap_or_default();
    let mut expected = ExpectedLines { counts: header.counts, old: 0, new: 0 };
    let mut hunk = PatchHunk {
        line: start + 1,
        contexts: header.context.into_iter().collect(),
        heading: header.heading,
        at: header.at,
        is_insertion: header.counts.is_some_and(|(old, _)| old == 0),
        ..PatchHunk::default()
    };
    let mut marks = EndMarks::default();
    // Empty lines belong to the hunk if it goes on behind them.
    let mut blank = 0;
    let mut at = start + 1;
    while let Some(line) = lines.get(at) {
        let read = match line.as_bytes().first() {
            None => {
                (blank, at) = (blank + 1, at + 1);
                continue;
            }
            Some(b'\r') if line.len() == 1 => {
                (blank, at) = (blank + 1, at + 1);
                continue;
            }
            _ if begins_other(lines, at, &expected) => break,
            Some(b' ') => HunkLine::Kept(&line[1..]),
            Some(b'-') => HunkLine::Removed(&line[1..]),
            Some(b'+') => HunkLine::Added(&line[1..]),
            Some(b'\\') => {
                marks.mark(hunk.lines.last());
                at += 1;
                continue;
            }
            _ if expected.is_met() || blank > 0 && !lines[at..].iter().any(|line| is_header(line)) => break,
            _ => {
                return Err(PatchError::at(at + 1, "a line of a hunk does not begin with ` `, `-` or `+`")
                    .hint("put a space in front of each line that stays, `-` or `+` in front of the others"));
            }
        };
        for line in std::iter::repeat_n(HunkLine::Kept(""), blank).chain([read]) {
            expected.take(line);
            hunk.lines.push(line);
        }
        (blank, at) = (0, at + 1);
    }
    while blank > 0 && !expected.is_met() && expected.counts.is_some() {
        expected.take(HunkLine::Kept(""));
        hunk.lines.push(HunkLine::Kept(""));
        blank -= 1;
    }
    if hunk.lines.is_empty() {
        return Err(PatchError::at(start + 1, "the hunk has no lines")
            .hint("write the lines that change, with `-` and `+` in front, after the line `@@`"));
    }
    marks.give(&mut hunk);
    Ok(ReadHunk { hunk, next: at, is_miscounted: expected.is_wrong() })
}

/// Whether something else than a line of this hunk begins at `at`.
fn begins_other(lines: &[&str], at: usize, expected: &ExpectedLines) -> bool {
    let (line, next) = (lines[at], lines.get(at + 1).copied().unwrap_or_default());
    if is_header(line) {
        return true;
    }
    // A removed line `-- a` and an added one `++ b` look like the names of another file.
    let is_names = line.starts_with("--- ") && next.starts_with("+++ ");
    if is_names {
        let has_hunk = lines.get(at + 2).is_some_and(|line| line.starts_with("@@"));
        return expected.is_met() || has_hunk && !expected.has_one_pair_left();
    }
    // The signature of an e-mailed patch: two dashes, a space, and the version of git.
    let is_version = next.starts_with(|one: char| one.is_ascii_digit()) && next.contains('.');
    line == "-- " && (expected.is_met() || is_version)
}

/// Whether a line can only begin something else than a hunk's line.
pub(super) fn is_header(line: &str) -> bool {
    line.starts_with("diff --git ") || line.starts_with("```") || line.starts_with("Index: ") || line.starts_with("@@")
}
