//! A hunk of a patch: the line that begins it, and the lines of one of a unified diff, which end where they end, whatever
//! the header counts.

use super::{HunkLine, PatchError, PatchHunk, envelope::is_names};

/// The line that begins a hunk: `@@ -1,3 +1,4 @@ fn f()`, `@@ class A`, `@@`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct HunkHeader<'p> {
    /// The first old line, from 1.
    pub(super) at: Option<usize>,
    /// The first new line, from 1.
    pub(super) new_at: Option<usize>,
    pub(super) counts: Option<(usize, usize)>,
    pub(super) context: Option<&'p str>,
    /// The text after the line numbers: usually a line above the place.
    pub(super) heading: Option<&'p str>,
}

impl<'p> HunkHeader<'p> {
    /// `None` where the line begins no hunk.
    pub(super) fn parse(line: &'p str) -> Option<Self> {
        let rest = line.trim_end().strip_prefix("@@")?;
        if rest.is_empty() {
            return Some(Self::default());
        }
        let rest = rest.strip_prefix(' ')?;
        let not_empty = |text: &'p str| Some(text.trim()).filter(|text| !text.is_empty());
        let (within, after) = rest.split_once("@@").unwrap_or((rest, ""));
        let within = within.trim();
        if let Some(numbers) = Self::numbers(within) {
            return Some(Self { heading: not_empty(after), ..numbers });
        }
        // `@@ ... @@ fn f()`: nothing but dots where the numbers would be.
        if within.chars().all(|one| matches!(one, '.' | '…' | ' ' | '-' | '+')) && rest.contains("@@") {
            return Some(Self { heading: not_empty(after), ..Self::default() });
        }
        Some(Self { context: not_empty(rest.trim_end().strip_suffix("@@").unwrap_or(rest)), ..Self::default() })
    }

    /// `-12,3 +12,4`, with the counts and with `...` for what is left out.
    fn numbers(text: &str) -> Option<Self> {
        let mut words = text.split_whitespace();
        let (old, new) = (words.next()?.strip_prefix('-')?, words.next()?.strip_prefix('+')?);
        if words.next().is_some() {
            return None;
        }
        let range = |text: &str| {
            let (start, count) = text.split_once(',').unwrap_or((text, "1"));
            let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
            // A number of too many digits is beyond any file, and no error: the lines of the hunk decide.
            let parsed = |text: &str| is_number(text).then(|| text.parse().unwrap_or(usize::MAX));
            let is_unknown = |text: &str| text.bytes().all(|byte| matches!(byte, b'.' | b'?' | b'X' | b'x' | b'N'));
            (is_number(start) || is_unknown(start)).then(|| (parsed(start), parsed(count)))
        };
        let ((at, old_count), (new_at, new_count)) = (range(old)?, range(new)?);
        Some(Self { at, new_at, counts: at.and(old_count.zip(new_count)), ..Self::default() })
    }
}

/// How many lines before and after the header says are still to come; negative where there are more of them.
struct ExpectedLines {
    left: Option<(isize, isize)>,
    /// Empty lines that belong to the hunk if it goes on after them, or if they are expected.
    blank: usize,
}

impl ExpectedLines {
    fn take(&mut self, line: HunkLine<'_>) {
        if let Some((old, new)) = &mut self.left {
            *old -= isize::from(line.old().is_some());
            *new -= isize::from(line.new_line().is_some());
        }
    }

    /// How many are left after the empty ones; without counts that is never known.
    fn after_blank(&self) -> Option<(isize, isize)> {
        self.left.map(|(old, new)| (old.saturating_sub_unsigned(self.blank), new.saturating_sub_unsigned(self.blank)))
    }

    fn is_met(&self) -> bool {
        self.after_blank().is_some_and(|(old, new)| old <= 0 && new <= 0)
    }
}

pub(super) struct ReadHunk<'p> {
    pub(super) hunk: PatchHunk<'p>,
    pub(super) next: usize,
    pub(super) is_miscounted: bool,
    pub(super) missing: (usize, usize),
}

pub(super) fn read<'p>(lines: &[&'p str], start: usize) -> Result<ReadHunk<'p>, PatchError> {
    let header = HunkHeader::parse(lines[start]).unwrap_or_default();
    // More lines than can be counted are as many as there can be.
    let signed = |count: usize| isize::try_from(count).unwrap_or(isize::MAX);
    let left = header.counts.map(|(old, new)| (signed(old), signed(new)));
    let mut expected = ExpectedLines { left, blank: 0 };
    let mut hunk = PatchHunk {
        line: start + 1,
        contexts: header.context.into_iter().collect(),
        heading: header.heading,
        at: header.at,
        new_at: header.new_at,
        is_insertion: header.counts.is_some_and(|(old, _)| old == 0),
        ..PatchHunk::default()
    };
    let mut marked = Vec::new();
    let mut at = start + 1;
    while let Some(line) = lines.get(at) {
        let read = match line.as_bytes().first() {
            _ if matches!(*line, "" | "\r") => {
                (expected.blank, at) = (expected.blank + 1, at + 1);
                continue;
            }
            _ if begins_other(lines, at, &expected) => break,
            Some(b' ' | b'-' | b'+') => line,
            _ if line.starts_with("\\ ") => {
                marked.extend(hunk.lines.last().copied());
                at += 1;
                continue;
            }
            _ if expected.is_met() => break,
            // A line that stays and came without its blank, unless it is a sentence after the patch.
            _ if expected.blank > 0 && expected.left.is_none() && !goes_on(lines, at, true) => break,
            _ => line,
        };
        let blank = std::mem::take(&mut expected.blank);
        for line in std::iter::repeat_n("", blank).chain([*read]) {
            expected.take(HunkLine::of(line));
            hunk.push(line);
        }
        at += 1;
    }
    let mut blank = std::mem::take(&mut expected.blank);
    while blank > 0 && !expected.is_met() && expected.left.is_some() {
        expected.take(HunkLine::Kept(""));
        hunk.push("");
        blank -= 1;
    }
    let (old, new) = expected.left.unwrap_or_default();
    let missing = (usize::try_from(old).unwrap_or(0), usize::try_from(new).unwrap_or(0));
    Ok(ReadHunk { hunk: hunk.finish(&marked)?, next: at, is_miscounted: (old, new) != (0, 0), missing })
}

fn begins_other(lines: &[&str], at: usize, expected: &ExpectedLines) -> bool {
    let line = lines[at];
    if is_header(line) {
        // A fence within a file of Markdown, sent without its blank.
        let is_within = line.starts_with("```") && !expected.is_met();
        return !is_within || !goes_on(lines, at + 1, false);
    }
    // A removed line `-- a` and an added one `++ b` look like the names of another file.
    if is_names(&lines[at..]) {
        let has_hunk = lines.get(at + 2).is_some_and(|line| line.starts_with("@@"));
        // One line is left on each side, which these can be.
        let is_last_pair = expected.after_blank() == Some((1, 1));
        return expected.is_met() || has_hunk && !is_last_pair;
    }
    // The signature of an e-mailed patch: two dashes, a space, and the version of git.
    let is_version = |next: &&str| next.starts_with(|one: char| one.is_ascii_digit()) && next.contains('.');
    line == "-- " && (expected.is_met() || lines.get(at + 1).is_some_and(is_version))
}

/// Whether lines that are removed or added follow in the same hunk, and no mere items of a list. `or_hunk`: or another
/// hunk follows, or items, which can be changes: nothing of a hunk may be lost.
fn goes_on(lines: &[&str], at: usize, or_hunk: bool) -> bool {
    /// Lines that are looked at: a sentence after a patch is shorter.
    const MAX_LOOKED_AT: usize = 200;
    let is_item = |line: &str| line.as_bytes().get(1) == Some(&b' ') && line.as_bytes().get(2) != Some(&b' ');
    let begins_other = |line: &str| ["@@", "diff --git ", "Index: ", "--- "].iter().any(|one| line.starts_with(one));
    let is_telling = |line: &&&str| begins_other(line) || line.starts_with(['+', '-']) && (or_hunk || !is_item(line));
    let telling = lines.get(at..).unwrap_or_default().iter().take(MAX_LOOKED_AT).find(is_telling);
    telling.is_some_and(|line| if begins_other(line) { or_hunk && line.starts_with("@@") } else { true })
}

pub(super) fn is_header(line: &str) -> bool {
    line.starts_with("diff --git ") || line.starts_with("```") || line.starts_with("Index: ") || line.starts_with("@@")
}

#[cfg(test)]
mod tests {
    use super::HunkHeader;

    #[test]
    fn headers_of_both_forms_are_read() {
        let of = |line| HunkHeader::parse(line).map(|one| (one.at, one.counts, one.context, one.heading));
        assert_eq!(of("@@"), Some((None, None, None, None)));
        assert_eq!(of("@@ class A:"), Some((None, None, Some("class A:"), None)));
        assert_eq!(of("@@ -1,3 +1,4 @@ fn f()"), Some((Some(1), Some((3, 4)), None, Some("fn f()"))));
        assert_eq!(of("@@ -7 +7 @@"), Some((Some(7), Some((1, 1)), None, None)));
        assert_eq!(of("@@ -0,0 +1,9 @@"), Some((Some(0), Some((0, 9)), None, None)));
        assert_eq!(of("@@ ... @@"), Some((None, None, None, None)));
        assert_eq!(of("@@ @@"), Some((None, None, None, None)));
        assert_eq!(of("@@ -1,3 +1,4"), Some((Some(1), Some((3, 4)), None, None)));
        assert_eq!(of("@@ -99999999999999999999,1 +1 @@").unwrap().0, Some(usize::MAX));
        assert_eq!(of("@@@ -1 -1 +1 @@@"), None);
        assert_eq!(of("@decorator"), None);
    }
}
