//! All that is wrong with a patch, as one error.

use confined_fs::WorkspacePath;
use text_edit::{Diagnosis, HunkError, Next, patch::PatchHunk};
use text_file::SpliceError;

use super::super::{
    CallContext, Kind, ToolError,
    answer::{count, lines},
    hidden_note::excerpt,
};

/// Problems that are described; the rest are counted.
const MAX_DESCRIBED: usize = 20;
/// Lines of each where there are several.
const MAX_LINES_EACH: usize = 30;

#[derive(Default)]
pub(super) struct Problems {
    described: Vec<ToolError>,
    all: usize,
}

impl Problems {
    /// Adds a problem to those of the patch.
    ///
    /// # Errors
    /// At once, where the whole call has to end.
    pub(super) fn add(&mut self, error: ToolError) -> Result<(), ToolError> {
        if matches!(error.kind(), Kind::Cancelled | Kind::TimedOut) {
            return Err(error);
        }
        self.all += 1;
        if self.described.len() < MAX_DESCRIBED {
            self.described.push(error);
        }
        Ok(())
    }

    /// As [`Self::add`], for one that takes long to explain: only those that are described are.
    pub(super) fn add_explained(&mut self, explain: impl FnOnce() -> ToolError) -> Result<(), ToolError> {
        if self.described.len() < MAX_DESCRIBED {
            return self.add(explain());
        }
        self.all += 1;
        Ok(())
    }

    pub(super) fn count(&self) -> usize {
        self.all
    }

    pub(super) fn finish(mut self) -> Result<(), ToolError> {
        if self.all < 2 {
            return self.described.pop().map_or(Ok(()), |error| Err(error.hint("nothing of the patch was applied")));
        }
        let first = &self.described[0];
        let error = ToolError::new(
            first.kind(),
            format!("nothing of the patch was applied: {}; the first: {}", count(self.all, "problem"), first.message()),
        )
        .hint("correct all of them, as listed below, and send the whole patch again");
        let mut list: Vec<String> = self
            .described
            .iter()
            .enumerate()
            .map(|(index, one)| format!("problem {}: {}", index + 1, shortened(&one.text())))
            .collect();
        if self.all > list.len() {
            list.push(format!("and {} more", count(self.all - list.len(), "problem")));
        }
        Err(error.details(list.join("\n\n")))
    }
}

fn shortened(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    if lines.len() <= MAX_LINES_EACH {
        return text.to_owned();
    }
    // The last line may end a fence.
    let last = super::super::fence::end_of_fence(text).map(|end| format!("\n{end}")).unwrap_or_default();
    format!("{}\n… {} more lines{last}", lines[..MAX_LINES_EACH].join("\n"), lines.len() - MAX_LINES_EACH)
}

// Why a hunk has no place: what is there, and what to do next.

/// The error of the hunk with this `number` in its section, which has no place in `text`, the content at `real`.
pub(super) fn explain(
    cx: &CallContext,
    (path, real): (&WorkspacePath, &WorkspacePath),
    text: &str,
    (number, hunk): (usize, &PatchHunk<'_>),
    miss: &HunkError,
) -> ToolError {
    let named = named(path, (number, hunk));
    let no_match = ToolError::new(Kind::NoMatch, format!("{named}: {miss}"));
    match miss {
        HunkError::NotFound(_) if hunk.assumed > 0 => cut(path, (number, hunk)),
        HunkError::NotFound(_) if loses_characters(hunk, text) => lost_characters(&named),
        HunkError::NotFound(Diagnosis { details, next, .. }) => no_match
            .hint(match next {
                Next::Look => "the change may already be made; read that part of the file before you try again",
                Next::Copy | Next::LeaveOutPath => {
                    "write the lines of the hunk as they are below, without the line numbers"
                }
                Next::Read | Next::LeaveOutWord => {
                    "read that part of the file again and write the lines of the hunk as they are there"
                }
            })
            .details(excerpt(&cx.workspace, real, details)),
        HunkError::Ambiguous { strategy, places } => {
            let tolerant =
                if strategy.is_exact() { String::new() } else { format!(" (not exactly: other {strategy})") };
            let at =
                if places.is_empty() { "at several places".to_owned() } else { format!("at lines {}", lines(places)) };
            let old = hunk.old().join("\n");
            ToolError::new(Kind::Ambiguous, format!("{named}: its lines are {at}{tolerant}"))
                .hint(
                    "add lines around the place you mean to the hunk, or a line `@@ ` with a line above it, such as the \
                     function's",
                )
                .details(excerpt(&cx.workspace, real, &text_edit::neighbours(text, &old, places)))
        }
        HunkError::Applied(_) => {
            no_match.hint("leave it out if that is the change you mean; else read that part of the file again")
        }
        HunkError::NotAtEnd(_) => {
            no_match.hint("leave `*** End of File` or `\\ No newline at end of file` out if that is the place you mean")
        }
        HunkError::NoContext(_) | HunkError::NoPlace | HunkError::BeyondEnd { .. } => {
            no_match.hint("add a line that is in the file, with a space in front, above or below the new ones")
        }
        HunkError::OutOfOrder(_) => {
            no_match.hint("copy its lines from the file exactly, and send the hunks in the order of their places")
        }
        HunkError::NoBlanks => no_match.hint(
            "put a space in front of each line that stays, `-` or `+` in front of the others; read that part again",
        ),
        HunkError::Overlaps(_) => ToolError::invalid(format!("{named}: {miss}")).hint("join both into one hunk"),
        HunkError::Unsearched => no_match.hint("correct those first"),
        HunkError::Stopped => ToolError::new(Kind::TimedOut, format!("{named}: {miss}"))
            .hint("nothing was changed; send the patch in several calls"),
    }
}

pub(super) fn named(path: &WorkspacePath, (number, hunk): (usize, &PatchHunk<'_>)) -> String {
    format!("{path}, hunk {number} (line {} of the patch)", hunk.line)
}

/// A hunk with which the patch ends, and whose header counts more lines than it has.
pub(super) fn cut(path: &WorkspacePath, of: (usize, &PatchHunk<'_>)) -> ToolError {
    let missing = of.1.assumed;
    let words = format!("the patch ends within it: by its header {missing} more lines before and after are missing");
    ToolError::invalid(format!("{}: {words}", named(path, of)))
        .hint("send the whole patch again; if that is all of it, correct the numbers after `@@`")
}

/// Whether the hunk has U+FFFD, the mark of bytes that could not be read, and the file has none.
fn loses_characters(hunk: &PatchHunk<'_>, text: &str) -> bool {
    let is_lost = |line: &str| line.contains(char::REPLACEMENT_CHARACTER);
    hunk.old().into_iter().any(is_lost) && !is_lost(text)
}

/// `place` has U+FFFD where characters of a text were that was not UTF-8.
pub(super) fn lost_characters(place: &str) -> ToolError {
    let words = "it has U+FFFD in place of characters, as its text was not UTF-8 where it was read";
    ToolError::new(Kind::NoMatch, format!("{place}: {words}")).hint(
        "write the characters that are meant; a file keeps its encoding, and U+FFFD itself can be written with write or edit",
    )
}

pub(super) fn unwritable(path: &WorkspacePath, hunks: &[PatchHunk<'_>], error: &SpliceError) -> ToolError {
    match error {
        SpliceError::Unrepresentable { character, encoding } => {
            let adds = |hunk: &&PatchHunk<'_>| hunk.new_lines().iter().any(|line| line.contains(*character));
            let hunk = hunks.iter().position(|hunk| adds(&hunk)).unwrap_or_default();
            let sentence = format!(
                "{}: it has {character:?} (U+{:04X}), which {path}, a file in {encoding}, cannot represent",
                named(path, (hunk + 1, &hunks[hunk])),
                u32::from(*character)
            );
            ToolError::invalid(sentence)
                .hint("write the character that is meant, or another one, or convert the whole file with write")
        }
        SpliceError::Unstable { encoding } => ToolError::inseparable(path, encoding),
    }
}

pub(super) fn undeclarable(path: &WorkspacePath, error: &SpliceError) -> ToolError {
    let sentence = match error {
        SpliceError::Unrepresentable { .. } => format!("{path}: it has {error}"),
        SpliceError::Unstable { encoding } => {
            format!("{path}: its text would be changed by writing it in {encoding} and reading it back")
        }
    };
    ToolError::invalid(sentence + ", and it declares that encoding")
        .hint("change what it declares, or write the character another way")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn problems_that_are_only_counted_are_not_explained() {
        let (mut problems, mut explained) = (Problems::default(), 0);
        for number in 0..1000 {
            let explain = || {
                explained += 1;
                ToolError::invalid(format!("hunk {number}"))
            };
            problems.add_explained(explain).unwrap();
        }
        assert_eq!((explained, problems.count()), (MAX_DESCRIBED, 1000));
        let error = problems.finish().unwrap_err().text();
        assert!(error.contains("1000 problems") && error.contains("and 980 problems more"), "{error}");
    }
}
