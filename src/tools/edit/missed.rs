//! Why an edit found no place, or too many: what stands there, and what to do next.

use std::ops::ControlFlow;

use crate::{
    edit::{Diagnosis, Miss, Place, Strategies},
    text::Document,
    workspace::{FileKind, Ignored, WalkOptions, WorkspacePath},
};

use super::{
    super::{CallContext, Kind, ToolError, output::count},
    job::Wanted,
};

/// Places listed where `old_string` is ambiguous.
const PLACES_SHOWN: usize = 10;

/// The error for `wanted`, which does not stand in `path` as it should.
pub(super) fn explain(cx: &CallContext, path: &WorkspacePath, wanted: &Wanted, miss: &Miss) -> ToolError {
    match miss {
        Miss::Ambiguous { strategy, places } => ToolError::new(
            Kind::Ambiguous,
            format!(
                "old_string stands at {} places in {}{}: lines {}",
                places.len(),
                path,
                tolerant(*strategy),
                lines(places)
            ),
        )
        .hint("add neighbouring lines to old_string until it is unique, or set replace_all=true")
        .details(listed(places)),
        Miss::Count { strategy, expected, places } => ToolError::new(
            if places.len() > *expected { Kind::Ambiguous } else { Kind::NoMatch },
            format!(
                "old_string stands at {} in {}{}, not at the expected {expected}: lines {}",
                count(places.len(), "place"),
                path,
                tolerant(*strategy),
                lines(places)
            ),
        )
        .hint("nothing was changed; correct expected_replacements, or make old_string match just those places")
        .details(listed(places)),
        Miss::TooMany { places } => ToolError::new(
            Kind::TooLarge,
            format!(
                "old_string stands at {places} places or more in {path}, too many to replace at once with {} each",
                count(wanted.new.len(), "byte")
            ),
        )
        .hint("nothing was changed; use a longer old_string that stands at fewer places, or write the whole file anew"),
        Miss::NotFound(Diagnosis { summary, details, already_applied }) => {
            let error = ToolError::new(Kind::NoMatch, format!("{path}: {summary}"));
            let error = if *already_applied {
                error.hint("the change may be made already; read the place before trying again")
            } else {
                error.hint("read the place again and copy old_string from it, without the line numbers")
            };
            let error = match elsewhere(cx, path, wanted) {
                Some(other) => error.hint(format!("old_string stands in {other}; is that the file you mean?")),
                None => error,
            };
            error.details(details.clone())
        }
    }
}

/// A file of the same name that does hold the text: the wrong copy is a common slip.
fn elsewhere(cx: &CallContext, path: &WorkspacePath, wanted: &Wanted) -> Option<WorkspacePath> {
    const LOOK_AT: usize = 20_000;
    const LARGEST: u64 = 1 << 20;
    // Shorter text stands in too many files to say anything.
    if wanted.old.trim().len() < 8 {
        return None;
    }
    let name = path.file_name()?;
    // Directories are visited as well, so that a tree of nothing else has an end, too.
    let options = WalkOptions { ignored: Ignored::Skip, max_depth: None, directories: true, symlinks: false };
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
                .read(entry.path(), LARGEST)
                .ok()
                .and_then(|file| Document::decode(file.bytes, None).ok())
                .is_some_and(|document| document.text().contains(&wanted.old));
            if holds {
                found = Some(entry.into_path());
                return ControlFlow::Break(());
            }
            ControlFlow::Continue(())
        })
        .ok()?;
    found
}

fn tolerant(strategies: Strategies) -> String {
    if strategies.is_exact() { String::new() } else { format!(" (not exactly: other {strategies})") }
}

fn lines(places: &[Place]) -> String {
    let mut shown: Vec<String> = places.iter().take(PLACES_SHOWN).map(|place| place.line.to_string()).collect();
    if places.len() > PLACES_SHOWN {
        shown.push("…".to_owned());
    }
    shown.join(", ")
}

fn listed(places: &[Place]) -> String {
    let mut out: Vec<String> =
        places.iter().take(PLACES_SHOWN).map(|place| format!("{:>6}\t{}", place.line, place.text)).collect();
    if places.len() > PLACES_SHOWN {
        out.push(format!("… {} more places", places.len() - PLACES_SHOWN));
    }
    out.join("\n")
}
