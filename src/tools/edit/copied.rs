//! What entries copy from files with `new_from`: where that may go, and what the answer says of it.

use text_edit::Strategy;
use text_file::LineEnding;

use confined_fs::{WorkspacePath, WritablePath};

use super::{
    super::{Kind, ToolError, read::TextSource},
    entry::EditEntry,
    places::Places,
};

fn all(edits: &[EditEntry]) -> impl Iterator<Item = &TextSource> {
    edits.iter().filter_map(|one| one.copied.as_ref())
}

/// Refuses text from a masked file for another one, which would have the sentinels as its text.
pub(super) fn check(edits: &[EditEntry], target: &WritablePath) -> Result<(), ToolError> {
    for one in edits {
        if let Some(source) = one.copied.as_ref().filter(|source| source.is_masked && source.real != *target.path()) {
            let sentence =
                format!("the values of `{}` are masked, so it cannot be copied to another file", source.named);
            return Err(one.label(
                ToolError::new(Kind::Denied, sentence)
                    .hint("ask the user to copy it, or write what belongs there as new_string"),
            ));
        }
    }
    Ok(())
}

/// The files that text was copied from.
pub(super) fn sources(edits: &[EditEntry]) -> Vec<WorkspacePath> {
    all(edits).map(|source| source.real.clone()).collect()
}

/// What was copied, and the revision of the file that it is from.
pub(super) fn notes(edits: &[EditEntry]) -> Vec<String> {
    all(edits).map(|source| format!("copied {} at rev {}", source.named, source.revision.short())).collect()
}

/// That a copied text has other line endings than its file, which has `of_file`.
pub(super) fn other_ending(edits: &[EditEntry], of_file: LineEnding) -> Option<String> {
    let other =
        all(edits).map(|source| source.line_ending).find(|ending| ![of_file, LineEnding::None].contains(ending))?;
    let name = |ending: LineEnding| ending.as_str().to_uppercase();
    Some(format!("line endings are mixed now: the copied text has {}, the file has {}", name(other), name(of_file)))
}

/// The places with the text that was copied as it is.
///
/// # Errors
/// `no_match` where `old_string` is not there as it was given: the new text would have to be adapted as well.
pub(super) fn verbatim(places: Places, new: &str) -> Result<Places, ToolError> {
    // A cell takes it as JSON.
    if !places.cells.is_empty() {
        return Ok(places);
    }
    if !places.strategy.iter().all(|one| matches!(one, Strategy::Exact | Strategy::LineEndings)) {
        return Err(ToolError::new(
            Kind::NoMatch,
            format!("old_string is there, but not exactly: other {}", places.strategy),
        )
        .hint("what new_from copies is not adapted; copy old_string exactly, or name its lines with lines and rev"));
    }
    let spans = places.spans.into_iter().map(|(span, _)| (span, new.to_owned())).collect();
    Ok(Places { spans, ..places })
}
