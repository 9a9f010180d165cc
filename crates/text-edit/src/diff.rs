//! Unified diffs, such that `patch` turns the old text into the new one.
//!
//! Lines end at LF only, as for `diff -u`: a CR is content, shown as it is.

use std::time::{Duration, Instant};
use std::{fmt::Write as _, hash::Hash, ops::Range};

use similar::{Algorithm, ChangeTag, DiffOp, TextDiffConfig, udiff::UnifiedHunkHeader};
use text_file::shorten_around;

/// How much a diff shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DiffExtent {
    /// All of it, with three unchanged lines around each change, as `diff -u` shows.
    Full,
    /// At most this many lines of hunks, their `@@` lines counted, and one unchanged line around each change: a model
    /// pays for each line and knows the place that it asked to change.
    Brief(usize),
    /// All of it without any unchanged line, so that the `@@` lines name just those that changed.
    Lines,
}

impl DiffExtent {
    /// Unchanged lines shown around a change, and lines that are shown at most.
    fn limits(self) -> (usize, usize) {
        match self {
            Self::Full => (3, usize::MAX),
            Self::Brief(lines) => (1, lines),
            Self::Lines => (0, usize::MAX),
        }
    }
}

/// After so long the search for the shortest diff ends and a longer, equally true one is given.
const SHORTEST_DIFF_TIME: Duration = Duration::from_millis(300);
/// So few pieces of text are compared to the end, which takes milliseconds at worst.
const FEW_PIECES: usize = 1_000;

/// When the comparison of so many pieces of text, old and new, ends without the shortest diff; never for few, so that
/// what comes of a small change does not depend on how busy the machine is.
fn deadline(pieces: usize, patience: Duration) -> Option<Instant> {
    (pieces > FEW_PIECES).then(|| Instant::now() + patience)
}

/// The operations that make `new` of `old`: as few as possible, or as were found with that `patience` for many pieces.
pub(super) fn ops<T: Eq + Hash>(old: &[T], new: &[T], patience: Duration) -> Vec<DiffOp> {
    similar::capture_diff_slices_deadline(Algorithm::Myers, old, new, deadline(old.len() + new.len(), patience))
}

/// Bytes of the text, after which the rest is left out: no answer holds a tenth of that, and the lines
/// of a file may be as long as the file.
const MAX_TEXT: usize = 4 << 20;

/// A unified diff and its size.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Diff {
    /// Headers and hunks, each line ended by LF; empty for equal texts, cut at 4 MiB.
    pub text: String,
    /// Lines only the new text has, also those that were cut.
    pub added: usize,
    /// Lines only the old text has, also those that were cut.
    pub removed: usize,
    /// How many lines of hunks were left out.
    pub cut_lines: usize,
}

/// The unified diff with `--- a/path` and `+++ b/path`. `path` must be printable; it is not escaped here.
///
/// # Examples
/// ```
/// use text_edit::{DiffExtent, unified_diff};
///
/// let diff = unified_diff("a.txt", "one\ntwo\n", "one\n2\n", DiffExtent::Full);
/// assert_eq!(diff.text, "--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n");
/// assert_eq!((diff.added, diff.removed), (1, 1));
/// ```
pub fn unified_diff(path: &str, old: &str, new: &str, extent: DiffExtent) -> Diff {
    if old == new {
        return Diff::default();
    }
    let narrow = Window::of(old, new, extent).diff(path, extent);
    narrow.or_else(|| Window::whole(old, new).diff(path, extent)).unwrap_or_default()
}

/// The lines of `old` that are others in `new`, or in whose place none are, and the lines in their place; counted from 0,
/// in order.
pub fn changed_lines(old: &str, new: &str) -> Vec<[Range<usize>; 2]> {
    let (before, after) = shared_ends(old.as_bytes(), new.as_bytes());
    let start = lines_back(&old.as_bytes()[..before], 0);
    let cut = after - lines_on(&old.as_bytes()[old.len() - after..], 0);
    let middles = [&old[start..old.len() - cut], &new[start..new.len() - cut]];
    let [was, is] = middles.map(|text| text.split_inclusive('\n').collect::<Vec<&str>>());
    let above = memchr::memchr_iter(b'\n', &old.as_bytes()[..start]).count();
    let ops = ops(&was, &is, SHORTEST_DIFF_TIME);
    let changed = ops.iter().filter(|op| !matches!(op, DiffOp::Equal { .. }));
    changed.map(|op| [op.old_range(), op.new_range()].map(|at| at.start + above..at.end + above)).collect()
}

/// The rest of two texts without the lines that they share at both ends, but for those shown around a
/// change. Sorting the lines of a large file out costs far more than comparing its bytes.
struct Window<'t> {
    old: &'t str,
    new: &'t str,
    lines_before: usize,
    is_cut: bool,
}

impl<'t> Window<'t> {
    fn of(old: &'t str, new: &'t str, extent: DiffExtent) -> Self {
        let (was, (context, _)) = (old.as_bytes(), extent.limits());
        let (before, after) = shared_ends(was, new.as_bytes());
        let start = lines_back(&was[..before], context);
        let cut = after - lines_on(&was[was.len() - after..], context);
        Self {
            old: &old[start..old.len() - cut],
            new: &new[start..new.len() - cut],
            lines_before: memchr::memchr_iter(b'\n', &was[..start]).count(),
            is_cut: cut > 0,
        }
    }

    fn whole(old: &'t str, new: &'t str) -> Self {
        Self { old, new, lines_before: 0, is_cut: false }
    }

    /// The diff of the texts; `None` where a change came out too near an edge of the window, as one among
    /// equal lines does, to be shown as it would be without one.
    fn diff(&self, path: &str, extent: DiffExtent) -> Option<Diff> {
        let old_lines: Vec<&str> = self.old.split_inclusive('\n').collect();
        let new_lines: Vec<&str> = self.new.split_inclusive('\n').collect();
        let mut config = TextDiffConfig::default();
        config.algorithm(Algorithm::Myers);
        if let Some(deadline) = deadline(old_lines.len() + new_lines.len(), SHORTEST_DIFF_TIME) {
            config.deadline(deadline);
        }
        let changes = config.diff_slices(&old_lines, &new_lines);
        let (context, mut left) = extent.limits();
        let is_context = |op: Option<&DiffOp>| matches!(op, Some(DiffOp::Equal { len, .. }) if *len >= context);
        if (self.lines_before > 0 && !is_context(changes.ops().first()))
            || (self.is_cut && !is_context(changes.ops().last()))
        {
            return None;
        }
        let mut diff = Diff { text: format!("--- a/{path}\n+++ b/{path}\n"), ..Diff::default() };
        for ops in changes.grouped_ops(context).iter().filter(|ops| !ops.is_empty()) {
            diff.push(&mut left, &header(ops, self.lines_before), "\n");
            for change in ops.iter().flat_map(|op| changes.iter_changes(op)) {
                let sign = match change.tag() {
                    ChangeTag::Equal => " ",
                    ChangeTag::Delete => "-",
                    ChangeTag::Insert => "+",
                };
                diff.added += usize::from(change.tag() == ChangeTag::Insert);
                diff.removed += usize::from(change.tag() == ChangeTag::Delete);
                diff.push(&mut left, sign, change.value());
            }
        }
        Some(diff)
    }
}

/// Bytes or lines compared at once: a whole piece is compared much faster than each byte on its own.
const PIECE_LENGTH: usize = 4096;

/// How many items, such as bytes or lines, two lists have in common at their beginning, and the rests at their end.
pub(super) fn shared_ends<T: PartialEq>(a: &[T], b: &[T]) -> (usize, usize) {
    let pieces = a.chunks_exact(PIECE_LENGTH).zip(b.chunks_exact(PIECE_LENGTH)).take_while(|(a, b)| a == b).count()
        * PIECE_LENGTH;
    let before = pieces + a[pieces..].iter().zip(&b[pieces..]).take_while(|(a, b)| a == b).count();
    // The end is looked for after the shared beginning, so that the two never overlap.
    let (a, b) = (&a[before..], &b[before..]);
    let pieces = a.rchunks_exact(PIECE_LENGTH).zip(b.rchunks_exact(PIECE_LENGTH)).take_while(|(a, b)| a == b).count()
        * PIECE_LENGTH;
    let rest = a[..a.len() - pieces].iter().rev().zip(b[..b.len() - pieces].iter().rev());
    (before, pieces + rest.take_while(|(a, b)| a == b).count())
}

/// Where the last `lines` whole lines of `text` begin; what follows its last LF is left over.
fn lines_back(text: &[u8], lines: usize) -> usize {
    memchr::memrchr_iter(b'\n', text).nth(lines).map_or(0, |end| end + 1)
}

/// Where the first `lines` whole lines of `text` end, after what may be the rest of a line.
fn lines_on(text: &[u8], lines: usize) -> usize {
    memchr::memchr_iter(b'\n', text).nth(lines).map_or(text.len(), |end| end + 1)
}

/// The line that begins a hunk of `ops`, which are so many lines further down in both texts.
fn header(ops: &[DiffOp], lines_before: usize) -> String {
    let range = |range: fn(&DiffOp) -> Range<usize>| range(&ops[0]).start..range(&ops[ops.len() - 1]).end;
    let (old, new) = (range(DiffOp::old_range), range(DiffOp::new_range));
    let (old_index, new_index) = (old.start + lines_before, new.start + lines_before);
    UnifiedHunkHeader::new(&[DiffOp::Replace { old_index, old_len: old.len(), new_index, new_len: new.len() }])
        .to_string()
}

impl Diff {
    /// Adds one line while there are lines `left`. A last line without LF gets the mark `patch` expects.
    fn push(&mut self, left: &mut usize, sign: &str, line: &str) {
        if *left == 0 {
            self.cut_lines += 1;
            return;
        }
        *left -= 1;
        self.text.push_str(sign);
        let room = MAX_TEXT.saturating_sub(self.text.len());
        if line.len() > room {
            let end = (0..=room).rev().find(|at| line.is_char_boundary(*at)).unwrap_or(0);
            self.text.push_str(&line[..end]);
            *left = 0;
            return;
        }
        self.text.push_str(line);
        if !line.ends_with('\n') {
            self.text.push_str("\n\\ No newline at end of file\n");
        }
    }
}

/// Where a diff has to be cut, the widest line of it takes this share of the room: a change with the context
/// on both its sides fits.
const LINE_SHARE: usize = 24;
/// Characters that are left of a long line at least, and at most (as `read` shows of one).
const LINE_CHARS: (usize, usize) = (80, 2000);

/// Lines that name the file; they are shown in any case.
const HEADER_LINES: usize = 2;

/// A diff, cut to the lines and bytes that there is room for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TruncatedDiff {
    /// Headers and hunks. A line that was cut says how long it is.
    pub text: String,
    /// Lines that were left out.
    pub cut_lines: usize,
}

impl TruncatedDiff {
    /// As much of `diff` as fits into `lines` lines of hunks and `room` bytes; `cut_lines` of it are gone already.
    ///
    /// # Examples
    /// ```
    /// use text_edit::TruncatedDiff;
    ///
    /// let diff = "--- a/a\n+++ b/a\n@@ -1,2 +0,0 @@\n-one\n-two\n";
    /// let shown = TruncatedDiff::of(diff, 0, 2, 1000);
    /// assert_eq!(shown.with_note(), "--- a/a\n+++ b/a\n@@ -1,2 +0,0 @@\n-one\n… 1 more line of diff");
    /// ```
    pub fn of(diff: &str, cut_lines: usize, lines: usize, room: usize) -> Self {
        let mut this = Self { text: String::new(), cut_lines };
        let all: Vec<&str> = diff.split_terminator('\n').collect();
        let fits = diff.len() <= room;
        let (width, others) = if fits {
            (usize::MAX, vec![None; all.len()])
        } else {
            ((room / LINE_SHARE).clamp(LINE_CHARS.0, LINE_CHARS.1), counterparts(&all))
        };
        for (index, line) in all.iter().enumerate() {
            let is_header = index < HEADER_LINES;
            let line = if is_header { (*line).to_owned() } else { narrowed(line, others[index], width) };
            if !is_header && (index >= lines.saturating_add(HEADER_LINES) || this.text.len() + line.len() + 1 > room) {
                this.cut_lines += all.len() - index;
                break;
            }
            this.text.push_str(&line);
            this.text.push('\n');
        }
        this
    }

    /// The text, and a last line that says how much was left out.
    pub fn with_note(&self) -> String {
        let mut text = self.text.trim_end_matches('\n').to_owned();
        if self.cut_lines > 0 {
            let lines = if self.cut_lines == 1 { "line" } else { "lines" };
            let _ = write!(text, "\n… {} more {lines} of diff", self.cut_lines);
        }
        text
    }
}

/// The line, cut to `width` characters where it is longer: those around the first that it does not share with
/// the line on the other side of the change.
fn narrowed(line: &str, other: Option<&str>, width: usize) -> String {
    // Bytes first: most lines need not be counted.
    if line.len() <= width || line.chars().nth(width).is_none() {
        return line.to_owned();
    }
    // Every line of a diff begins with a sign of one byte.
    let (sign, content) = line.split_at(1);
    let length = content.chars().count();
    let shared = other
        .map_or(0, |other| content.chars().zip(other[1..].chars()).take_while(|(mine, theirs)| mine == theirs).count());
    format!("{sign}{} [line of {length} characters]", shorten_around(content, shared, width / 4, width))
}

/// For each line of a diff the one on the other side of its change at the same depth in it.
fn counterparts<'d>(all: &[&'d str]) -> Vec<Option<&'d str>> {
    let mut others = vec![None; all.len()];
    let (mut removed, mut added) = (Vec::<usize>::new(), 0);
    for (index, line) in all.iter().enumerate().skip(HEADER_LINES) {
        match line.chars().next() {
            Some('+') => {
                if let Some(other) = removed.get(added).copied() {
                    others[index] = Some(all[other]);
                    others[other] = Some(*line);
                }
                added += 1;
            }
            // "\ No newline at end of file" belongs to the line above it.
            Some('\\') => {}
            sign => {
                if sign != Some('-') || added > 0 {
                    removed.clear();
                    added = 0;
                }
                if sign == Some('-') {
                    removed.push(index);
                }
            }
        }
    }
    others
}

#[cfg(test)]
mod tests;
