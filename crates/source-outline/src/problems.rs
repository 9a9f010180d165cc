//! Problems of a text, such as syntax errors: what they are, which of them a change has introduced, how they are shown.
//!
//! The checks that find them are in [`syntax`](super::syntax); others may come from outside of the process.

use std::{borrow::Cow, collections::HashMap, fmt::Write as _, ops::Range};

use text_file::{hidden::printable, shorten};

/// How bad a problem is; the worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// The file does not work.
    Error,
    /// The file may not do what it looks like.
    Warning,
}

/// One problem at a place of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Its line in the text, counted from 1.
    pub line: usize,
    /// Its column in that line, in characters counted from 1.
    pub column: usize,
    /// How bad it is.
    pub severity: Severity,
    /// What is wrong, in one line.
    pub message: String,
    /// The language or the program that found it.
    pub source: Cow<'static, str>,
}

impl Problem {
    /// The problem at the byte `at` of `text`.
    pub fn at(text: &str, at: usize, severity: Severity, source: &'static str, message: String) -> Self {
        // Offset 0 is always a boundary, so one is found.
        let at = (0..=at.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or_default();
        let before = &text[..at];
        let line_start = before.rfind('\n').map_or(0, |end| end + 1);
        Self {
            line: memchr::memchr_iter(b'\n', before.as_bytes()).count() + 1,
            column: before[line_start..].chars().count() + 1,
            severity,
            message,
            source: source.into(),
        }
    }
}

/// Problems that are shown of one change.
pub const MAX_SHOWN: usize = 20;
/// Characters of a message: a compiler's may be a page.
const MAX_MESSAGE: usize = 300;

/// The problems that an answer shows.
#[derive(Clone, Debug, Default)]
pub struct ShownProblems {
    /// Those that are shown.
    pub problems: Vec<Problem>,
    /// How many are not.
    pub cut: usize,
    /// The lines for the answer; empty without a problem.
    pub text: String,
}

impl ShownProblems {
    /// The first of `problems`, which are of the file `path`, in about `room` bytes; at least one.
    ///
    /// # Examples
    /// ```
    /// use source_outline::problems::{Problem, Severity, ShownProblems};
    ///
    /// let problem = Problem::at("{,}", 1, Severity::Error, "JSON", "expected `}`".to_owned());
    /// assert_eq!(ShownProblems::of("a.json", vec![problem], 1000).text, "new problem: a.json:1:2 expected `}` (JSON)");
    /// assert_eq!(ShownProblems::of("a.json", Vec::new(), 1000).text, "");
    /// ```
    pub fn of(path: &str, mut problems: Vec<Problem>, room: usize) -> Self {
        let total = problems.len();
        problems.truncate(MAX_SHOWN);
        for problem in &mut problems {
            let words: Vec<&str> = problem.message.split_whitespace().collect();
            problem.message = printable(&shorten(&words.join(" "), MAX_MESSAGE)).into_owned();
            problem.source = printable(&problem.source).into_owned().into();
        }
        if total == 1 {
            let text = problems.first().map(|only| format!("new problem: {path}:{}", line(only))).unwrap_or_default();
            return Self { problems, cut: 0, text };
        }
        let mut text = if total == 0 { String::new() } else { format!("{total} new problems in {path}:") };
        let mut shown = 0;
        for problem in &problems {
            let line = line(problem);
            if shown > 0 && text.len() + line.len() >= room {
                break;
            }
            let _ = write!(text, "\n{line}");
            shown += 1;
        }
        problems.truncate(shown);
        let cut = total - shown;
        if cut > 0 {
            let _ = write!(text, "\n{cut} more");
        }
        Self { problems, cut, text }
    }
}

/// `14:3 expected a comma (JSON)`
fn line(problem: &Problem) -> String {
    let Problem { line, column, message, source, .. } = problem;
    let severity = if problem.severity == Severity::Warning { "warning: " } else { "" };
    format!("{line}:{column} {severity}{message} ({source})")
}

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
    /// Lines of the old text, counted from 1.
    pub old: Range<usize>,
    /// Lines of the new text, counted from 1.
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
