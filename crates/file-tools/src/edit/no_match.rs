//! Why an edit found no place, or too many: what is there, and what to do next.

use std::ops::ControlFlow;

use text_edit::{Diagnosis, EditError, Location, Next, Strategies};
use text_file::Document;

use change_set::WritablePath;
use confined_fs::walk::{Ignored, WalkOptions};
use confined_fs::{FileKind, WorkspacePath};

use super::{
    super::{
        CallContext, Kind, ToolError,
        answer::{count, lines},
        hidden_note::excerpt,
    },
    entry::TextEdit,
};

/// The error for `given`, which is not in `target` as it should be; `text` is what is there.
pub(super) fn explain(
    cx: &CallContext,
    target: &WritablePath,
    text: &str,
    given: &TextEdit,
    miss: &EditError,
) -> ToolError {
    let (path, real) = (target.asked(), target.path());
    let at_places = |kind: Kind, strategy: Strategies, but: &str, places: &[Location]| {
        let tolerant = if strategy.is_exact() { String::new() } else { format!(" (not exactly: other {strategy})") };
        let (at, lines) = (count(places.len(), "place"), lines(places));
        ToolError::new(kind, format!("old_string occurs at {at} in {path}{tolerant}{but}: lines {lines}"))
            .details(excerpt(&cx.workspace, real, &text_edit::neighbours(text, &given.old, places)))
    };
    match miss {
        EditError::Ambiguous { strategy, places } => at_places(Kind::Ambiguous, *strategy, "", places).hint(
            "add to old_string the neighbouring lines shown for the place you mean, set replace_all=true for all of \
             them, or send several as `edits` in one call",
        ),
        EditError::Count { strategy, expected, places } => {
            let kind = if places.len() > *expected { Kind::Ambiguous } else { Kind::NoMatch };
            at_places(kind, *strategy, &format!(", not at the expected {expected}"), places)
                .hint("nothing was changed; correct expected_replacements, or make old_string match just those places")
        }
        EditError::TooMany { places } => ToolError::new(
            Kind::TooLarge,
            format!(
                "old_string occurs at {places} places or more in {path}, too many to replace at once with {} each",
                count(given.new.len(), "byte")
            ),
        )
        .hint("nothing was changed; use a longer old_string that occurs at fewer places, or write the whole file"),
        EditError::NotFound(Diagnosis { summary, details, next, .. }) => {
            let error = ToolError::new(Kind::NoMatch, format!("{path}: {summary}")).hint(match next {
                Next::Copy => "copy old_string from the lines below, without the line numbers",
                Next::Read => "read that part of the file again and copy old_string from it, without the line numbers",
                Next::Look => "the change may already be made; read that part of the file before you try again",
                Next::LeaveOutWord => "leave word out to change those as well, or copy the whole word",
                Next::LeaveOutPath => {
                    "the client may rewrite paths that it shows; use a shorter old_string that leaves the path out"
                }
            });
            let error = match elsewhere(cx, path, given) {
                // The names of directories in an untrusted root are not for a sentence of the server.
                Some(other) if cx.workspace.is_untrusted(&other) => error.hint(
                    "old_string occurs in another file of that name; find it with glob, if that is the file you mean",
                ),
                Some(other) => error.hint(format!("old_string occurs in {other}; is that the file you mean?")),
                None => error,
            };
            error.details(excerpt(&cx.workspace, real, details))
        }
    }
}

/// A file of the same name that does hold the text: the wrong copy is a common slip.
fn elsewhere(cx: &CallContext, path: &WorkspacePath, given: &TextEdit) -> Option<WorkspacePath> {
    const LOOK_AT: usize = 20_000;
    const MAX_FILE_BYTES: u64 = 1 << 20;
    // Shorter text is in too many files to say anything.
    if given.old.trim().len() < 8 {
        return None;
    }
    let name = path.file_name()?;
    // Directories are visited as well, so that a tree of nothing else has an end, too.
    let options = WalkOptions { ignored: Ignored::Skip, max_depth: None, directories: true, symlinks: false };
    // Only for a hint: where the walk fails or takes too long, the error goes without one.
    let mut found = None;
    let mut looked = 0;
    let root = cx.workspace.root_path(path.root());
    cx.workspace
        .walk(&root, &options, &mut |entry| {
            looked += 1;
            if looked > LOOK_AT || cx.check().is_err() {
                return ControlFlow::Break(());
            }
            if entry.path() == path || entry.kind() != FileKind::File || entry.path().file_name() != Some(name) {
                return ControlFlow::Continue(());
            }
            let holds = cx
                .workspace
                .read(entry.path(), MAX_FILE_BYTES)
                .ok()
                .and_then(|file| Document::decode(file.bytes, None).ok())
                .is_some_and(|document| document.text().contains(&given.old));
            if holds {
                found = Some(entry.into_path());
                return ControlFlow::Break(());
            }
            ControlFlow::Continue(())
        })
        .ok()?;
    found
}
