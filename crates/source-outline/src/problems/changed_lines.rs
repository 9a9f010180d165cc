//! Which lines a change has touched, and which problems it has introduced.

use std::{collections::HashMap, ops::Range};

use super::{Problem, Severity};

/// The lines that differ between two texts: all lines before and after them are the same.
///
/// # Examples
/// ```
/// use source_outline::problems::ChangedLines;
///
/// let changed = ChangedLines::between("a\nb\nc\n", "a\nx\ny\nc\n");
/// assert_eq!((changed.old.clone(), changed.new.clone()), (2..3, 2..4));
/// assert_eq!(changed.now_at(3), Some(4));
/// assert_eq!(changed.now_at(2), None);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedLines {
    /// In the old text, from 1.
    pub old: Range<usize>,
    /// In the new text, from 1.
    pub new: Range<usize>,
}

impl ChangedLines {
    /// The lines in which the texts differ.
    pub fn between(old: &str, new: &str) -> Self {
        let (old, new) = (old.as_bytes(), new.as_bytes());
        let same = old.iter().zip(new).take_while(|(old, new)| old == new).count();
        let is_all = same == old.len() && same == new.len();
        let start =
            if is_all { same } else { old[..same].iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1) };
        let (old_rest, new_rest) = (&old[start..], &new[start..]);
        let same = old_rest.iter().rev().zip(new_rest.iter().rev()).take_while(|(old, new)| old == new).count();
        // Only whole lines: what is after a line break that both have.
        let tail = &old_rest[old_rest.len() - same..];
        let is_line_start = |rest: &[u8]| rest.len() == same || rest[rest.len() - same - 1] == b'\n';
        let kept = if is_line_start(old_rest) && is_line_start(new_rest) {
            same
        } else {
            memchr::memchr(b'\n', tail).map_or(0, |at| tail.len() - at - 1)
        };
        let first = line_breaks(&old[..start]) + 1;
        let lines = |rest: &[u8]| {
            let changed = &rest[..rest.len() - kept];
            first + line_breaks(changed) + usize::from(changed.last().is_some_and(|byte| *byte != b'\n'))
        };
        Self { old: first..lines(old_rest), new: first..lines(new_rest) }
    }

    /// The number of an old line in the new text; `None` for a line that was changed.
    pub fn now_at(&self, old: usize) -> Option<usize> {
        if old < self.old.start {
            Some(old)
        } else if old >= self.old.end {
            Some(old - self.old.end + self.new.end)
        } else {
            None
        }
    }
}

fn line_breaks(bytes: &[u8]) -> usize {
    memchr::memchr_iter(b'\n', bytes).count()
}

/// Those of the problems `after` a change that were not there `before` it, the worst first. A problem that moved with
/// its line is not new, and neither is one that the changed lines had before.
///
/// # Examples
/// ```
/// use source_outline::problems::{ChangedLines, Problem, Severity, new_problems};
///
/// let problem = |line| Problem { line, ..Problem::at("", 0, Severity::Error, "JSON", "no".to_owned()) };
/// let changed = ChangedLines::between("a\nb\n", "new\na\nb\n");
/// assert_eq!(new_problems(&[problem(2)], vec![problem(1), problem(3)], &changed), [problem(1)]);
/// ```
pub fn new_problems(before: &[Problem], after: Vec<Problem>, changed: &ChangedLines) -> Vec<Problem> {
    let mut known: HashMap<Key<'_>, usize> = HashMap::new();
    for problem in before {
        *known.entry(key(problem, changed.now_at(problem.line))).or_default() += 1;
    }
    let mut is_new = Vec::with_capacity(after.len());
    for problem in &after {
        let line = (!changed.new.contains(&problem.line)).then_some(problem.line);
        let left = known.get_mut(&key(problem, line)).filter(|left| **left > 0);
        is_new.push(left.is_none());
        if let Some(left) = left {
            *left -= 1;
        }
    }
    let mut new: Vec<Problem> =
        after.into_iter().zip(is_new).filter_map(|(one, is_new)| is_new.then_some(one)).collect();
    new.sort_by_key(|problem| (problem.severity, problem.line, problem.column));
    new
}

/// The identity of a problem: the line, where that did not change, how bad it is, who found it, and the message.
type Key<'p> = (Option<usize>, Severity, &'p str, &'p str);

fn key(problem: &Problem, line: Option<usize>) -> Key<'_> {
    (line, problem.severity, problem.source.as_ref(), problem.message.as_str())
}
