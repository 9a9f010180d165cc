//! Why a hunk has no place: what is there, and what to do next.

use crate::{
    edit::{self, Diagnosis, HunkMiss, Next, Place},
    text::patch::PatchHunk,
    workspace::WorkspacePath,
};

use super::super::{CallContext, Kind, ToolError, fence::fenced};

/// Places whose line is named.
const PLACES_NAMED: usize = 20;

/// The error of the hunk with this `number` in its section, which has no place in `text`, the content at `real`.
pub(super) fn explain(
    cx: &CallContext,
    (path, real): (&WorkspacePath, &WorkspacePath),
    text: &str,
    (number, hunk): (usize, &PatchHunk<'_>),
    miss: &HunkMiss,
) -> ToolError {
    let named = format!("{path}, hunk {number} (line {} of the patch)", hunk.line);
    let no_match = |words: String| ToolError::new(Kind::NoMatch, format!("{named}: {words}"));
    match miss {
        HunkMiss::NotFound(Diagnosis { summary, details, next }) => no_match(summary.clone())
            .hint(match next {
                Next::Look => "the change may already be made; read that part of the file before you try again",
                Next::Copy | Next::LeaveOutPath => {
                    "write the lines of the hunk as they are below, without the line numbers"
                }
                Next::Read => "read that part of the file again and write the lines of the hunk as they are there",
            })
            .details(fenced(&cx.workspace, [real], details.as_str())),
        HunkMiss::Ambiguous { strategy, places } => {
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
                .details(fenced(&cx.workspace, [real], edit::neighbours(text, &old, places)))
        }
        HunkMiss::Applied { line } => no_match(format!(
            "this hunk is applied already: its new lines are at line {line}, and its old ones are not in the file"
        ))
        .hint("leave it out if that is the change you mean; else read that part of the file again"),
        HunkMiss::NotAtEnd { line } => no_match(format!(
            "its lines are at line {line}, but the patch says that the file ends with them, and more lines follow"
        ))
        .hint("leave `*** End of File` or `\\ No newline at end of file` out if that is the place you mean"),
        HunkMiss::NoContext(context) => {
            let shown: String = context.chars().take(80).collect();
            no_match(format!("it only adds lines, below `{shown}`, which is not in the file"))
                .hint("add a line that is in the file, with a space in front, above or below the new ones")
        }
        HunkMiss::NoPlace => no_match("it only adds lines, without a place in the file".to_owned())
            .hint("add a line that is in the file, with a space in front, above or below the new ones"),
        HunkMiss::BeyondEnd { at, lines } => {
            no_match(format!("it adds lines after line {at}, and the file has {lines} lines"))
                .hint("add a line that is in the file, with a space in front, above or below the new ones")
        }
        HunkMiss::Overlaps(other) => {
            ToolError::invalid(format!("{named}: it changes lines that hunk {} changes as well", other + 1))
                .hint("join both into one hunk")
        }
        HunkMiss::Stopped => ToolError::new(Kind::TimedOut, format!("{named}: the time was too short to look for it"))
            .hint("nothing was changed; send the patch in several calls"),
    }
}

fn lines(places: &[Place]) -> String {
    let mut shown: Vec<String> = places.iter().take(PLACES_NAMED).map(|place| place.line.to_string()).collect();
    if places.len() > PLACES_NAMED {
        shown.push("…".to_owned());
    }
    shown.join(", ")
}
