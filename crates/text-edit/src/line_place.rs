//! Lines by their numbers: where they are in a text, what takes their place, and where they are in a later text.
//!
//! Lines that only moved are found again. A block of lines that both texts have once is the same block wherever it is
//! now. Other lines, a closing brace among many, are where a comparison of both texts has them, if a comparison from the
//! ends backwards has them there too and one of their neighbours is still next to them.

use std::{collections::HashMap, ops::Range, time::Duration};

use similar::DiffOp;
use text_file::{LineEnding, lines, with_lf};

use crate::keep_line_endings::{ending_after, ending_before, with_endings};
use crate::{Replacement, diff, line_parts::has_letters};

/// Lines of a text, or a place between two, counted from 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LinePlace {
    /// These lines. Not empty.
    Range(Range<usize>),
    /// After this many lines.
    After(usize),
}

impl LinePlace {
    /// Where it is in `text`: from the start of the first line to the end of the last, without its line ending.
    ///
    /// # Errors
    /// How many lines there are, where it is beyond them.
    pub fn span(&self, text: &str) -> Result<Range<usize>, usize> {
        match self {
            Self::Range(range) => {
                let mut wanted = lines(text).skip(range.start);
                let first = wanted.next();
                let last = if range.len() == 1 { first } else { wanted.nth(range.len() - 2) };
                let (Some(first), Some(last)) = (first, last) else { return Err(lines(text).count()) };
                Ok(first.start..last.end)
            }
            Self::After(0) => Ok(0..0),
            Self::After(count) => {
                let before = lines(text).nth(count - 1).ok_or_else(|| lines(text).count())?;
                Ok(before.next..before.next)
            }
        }
    }

    /// The change that puts `new` there as whole lines; `span` is where the place is in `text`. The lines take on the
    /// line endings around them, unless they are `verbatim`. Whether `new` ends with a line ending makes no difference:
    /// the text has a final newline afterwards if it had one. An empty `new` deletes the lines.
    ///
    /// In an empty text `new` is put as it is.
    pub fn replacement(&self, text: &str, span: Range<usize>, new: &str, verbatim: bool) -> Replacement {
        let body = new.strip_suffix("\r\n").or_else(|| new.strip_suffix('\n')).unwrap_or(new);
        if text.is_empty() {
            return Replacement { span, text: new.to_owned() };
        }
        let rest = &text[span.end..];
        let after = ["\r\n", "\n"].into_iter().find(|ending| rest.starts_with(ending)).unwrap_or_default();
        match self {
            Self::Range(_) if new.is_empty() => {
                Replacement { span: span.start..span.end + after.len(), text: String::new() }
            }
            Self::Range(_) if verbatim => {
                let given = &new[body.len()..];
                let ending = if after.is_empty() || given.is_empty() { after } else { given };
                Replacement { span: span.start..span.end + after.len(), text: [body, ending].concat() }
            }
            Self::Range(_) => {
                let old = &text[span.clone()];
                let is_same = with_lf(old) == with_lf(body);
                let text =
                    if is_same { old.to_owned() } else { with_endings(text, LineEnding::of(text), &span, old, body) };
                Replacement { span, text }
            }
            Self::After(_) => {
                let around = ending_before(text, span.start).or_else(|| ending_after(text, span.start));
                let around = around.unwrap_or_else(|| LineEnding::of(new).characters());
                let given = &new[body.len()..];
                let before = &text[..span.start];
                let follows_line_end = before.is_empty() || before.ends_with('\n');
                let ending = if verbatim && !given.is_empty() { given } else { around };
                let body = if verbatim { body.to_owned() } else { with_lf(body).replace('\n', around) };
                let lines = if follows_line_end { body + ending } else { around.to_owned() + &body };
                Replacement { span, text: lines }
            }
        }
    }
}

/// Time for one comparison of many lines; what is not aligned by then counts as changed.
const DIFF_TIME: Duration = Duration::from_secs(1);
/// Letters and digits that a block has at least, to be recognised without its neighbours.
const DISTINCTIVE_CHARS: usize = 4;
/// Places at which the rarest line of a block may be; more of them say nothing.
const MAX_CANDIDATES: usize = 200;

/// Why lines cannot be found again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AnchorError {
    /// The earlier text has only this many lines.
    #[error("the earlier text has {0} lines")]
    Beyond(usize),
    /// They are not there any more as they were.
    #[error("the lines changed")]
    Changed,
    /// The same lines are there, but not surely those.
    #[error("the lines are there, but several places could be meant")]
    Uncertain,
}

/// The place in `new` that `place` was in `old`. Line endings make no difference.
///
/// # Errors
/// [`AnchorError`], where the lines changed or several places could be meant.
///
/// # Examples
/// ```
/// use text_edit::{LinePlace, anchored};
///
/// let (old, new) = ("use a;\n\nfn f() {}\n", "use a;\nuse b;\n\nfn f() {}\n");
/// assert_eq!(anchored(old, new, &LinePlace::Range(2..3)), Ok(LinePlace::Range(3..4)));
/// assert!(anchored(old, "fn g() {}\n", &LinePlace::Range(2..3)).is_err());
/// ```
pub fn anchored(old: &str, new: &str, place: &LinePlace) -> Result<LinePlace, AnchorError> {
    let contents = |text| lines(text).map(|line| line.content(text)).collect::<Vec<&str>>();
    let (old, new) = (contents(old), contents(new));
    let check = |last: usize| if last > old.len() { Err(AnchorError::Beyond(old.len())) } else { Ok(()) };
    match place {
        LinePlace::Range(range) => {
            check(range.end)?;
            block(&old, &new, range).map(LinePlace::Range)
        }
        LinePlace::After(0) => Ok(LinePlace::After(0)),
        LinePlace::After(count) => {
            check(*count)?;
            // Between two lines that are still neighbours, or after the first of them.
            let both = (*count < old.len()).then(|| block(&old, &new, &(count - 1..count + 1)).ok()).flatten();
            let before = both.map_or_else(|| block(&old, &new, &(count - 1..*count)), Ok)?;
            Ok(LinePlace::After(before.start + 1))
        }
    }
}

fn block(old: &[&str], new: &[&str], range: &Range<usize>) -> Result<Range<usize>, AnchorError> {
    let wanted = &old[range.clone()];
    let found = occurrences(wanted, new);
    let (Some(first), second) = (found.first(), found.get(1)) else { return Err(AnchorError::Changed) };
    let is_distinctive = || has_letters(wanted.iter().copied(), DISTINCTIVE_CHARS);
    if second.is_none() && occurrences(wanted, old).len() == 1 && is_distinctive() {
        return Ok(*first..first + range.len());
    }
    let aligned = aligned(old, new, range);
    aligned.filter(|now| has_neighbour(old, new, range, now)).ok_or(AnchorError::Uncertain)
}

/// Where `block` is in `text`, at most two places; where its lines are too frequent to look at each, where it may be.
fn occurrences(block: &[&str], text: &[&str]) -> Vec<usize> {
    let mut counts: HashMap<&str, usize> = block.iter().map(|line| (*line, 0)).collect();
    for line in text {
        if let Some(count) = counts.get_mut(line) {
            *count += 1;
        }
    }
    let rarest = block.iter().enumerate().min_by_key(|(_, line)| counts[**line]);
    let Some((at, rarest)) = rarest else { return Vec::new() };
    let is_there = |start: &usize| text.get(*start..start + block.len()) == Some(block);
    let places = text.iter().enumerate().filter(|(_, line)| *line == rarest).map(|(place, _)| place);
    if counts[rarest] > MAX_CANDIDATES {
        // Each is a place as far as anybody can say.
        return places.filter_map(|place| place.checked_sub(at)).take(2).collect();
    }
    places.filter_map(|place| place.checked_sub(at)).filter(is_there).take(2).collect()
}

/// Where both comparisons, from the first line on and from the last one back, have all lines of `range` as one block.
fn aligned(old: &[&str], new: &[&str], range: &Range<usize>) -> Option<Range<usize>> {
    let forward = shifted(&diff::ops(old, new, DIFF_TIME), range)?;
    let back: Vec<Vec<&str>> = [old, new].iter().map(|lines| lines.iter().rev().copied().collect()).collect();
    let ops = diff::ops(&back[0], &back[1], DIFF_TIME);
    let backward = shifted(&ops, &(old.len() - range.end..old.len() - range.start))?;
    (new.len() - backward.end == forward.start).then_some(forward)
}

/// The lines that `range` is by a comparison that has it within one equal part.
fn shifted(ops: &[DiffOp], range: &Range<usize>) -> Option<Range<usize>> {
    ops.iter().find_map(|op| match *op {
        DiffOp::Equal { old_index, new_index, len } if old_index <= range.start && range.end <= old_index + len => {
            let start = range.start - old_index + new_index;
            Some(start..start + range.len())
        }
        _ => None,
    })
}

/// Whether the line before, or the one after, is the same as it was; the ends of the texts are lines, too.
fn has_neighbour(old: &[&str], new: &[&str], was: &Range<usize>, now: &Range<usize>) -> bool {
    let line_before = |range: &Range<usize>| range.start.checked_sub(1);
    line_before(was).map(|at| old[at]) == line_before(now).map(|at| new[at]) || old.get(was.end) == new.get(now.end)
}

/// Replacements, in the order in which they were made: the spans of each text and the length of what took their place.
#[derive(Clone, Debug, Default)]
pub struct MovedOffsets {
    steps: Vec<Vec<(Range<usize>, usize)>>,
}

impl MovedOffsets {
    /// Adds the next replacements, in the text that came of those before; ascending and disjoint.
    pub fn push(&mut self, spans: impl IntoIterator<Item = (Range<usize>, usize)>) {
        self.steps.push(spans.into_iter().collect());
    }

    /// Where `span` of the first text is now. An empty span is after what was inserted at its place; what was inserted
    /// at the ends of another one is not in it. `None` where a replacement has one of its ends in it and not the other.
    pub fn now(&self, span: &Range<usize>) -> Option<Range<usize>> {
        let start = self.moved(span.start, true)?;
        let end = if span.is_empty() { start } else { self.moved(span.end, false)? };
        Some(start..end)
    }

    /// The first replacement that changes a part of `span` of the first text, by the order in which they were made.
    pub fn changed_by(&self, span: &Range<usize>) -> Option<usize> {
        let (mut start, mut end) = (span.start, span.end);
        for (index, step) in self.steps.iter().enumerate() {
            let is_in = |one: &Range<usize>| one.start < end && start < one.end;
            if step.iter().any(|(one, _)| is_in(one)) {
                return Some(index);
            }
            let before = || step.iter().filter(|(one, _)| one.end <= start);
            let (removed, added) = before().fold((0, 0), |(old, new), (one, length)| (old + one.len(), new + length));
            (start, end) = (start + added - removed, end + added - removed);
        }
        None
    }

    fn moved(&self, mut offset: usize, after: bool) -> Option<usize> {
        for step in &self.steps {
            let mut moved = offset;
            for (span, length) in step {
                let is_before = span.end < offset || span.end == offset && (!span.is_empty() || after);
                if is_before {
                    moved = moved - span.len() + length;
                } else if span.start < offset {
                    return None;
                }
            }
            offset = moved;
        }
        Some(offset)
    }
}

#[cfg(test)]
mod tests;
