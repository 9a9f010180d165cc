//! One entry of `edits`, checked, and how it is spliced into a document. And the text that entries copy from files with
//! `new_from`: where that may go, and how the answer names it.

use std::ops::Range;

use text_edit::{EditError, LinePlace, Located, Request, Strategy};
use text_file::{Document, LineEnding, SpliceError};

use confined_fs::{RevisionPrefix, WorkspacePath};

use super::{
    super::{Kind, ToolError, read::TextSource},
    places::Places,
};

#[derive(Clone, Debug)]
pub(super) struct EditEntry {
    /// Where it is in the arguments, for errors; empty for a single edit.
    pub(super) name: String,
    pub(super) change: EntryChange,
    /// Where the new text was copied from; `None` for a text of the call.
    pub(super) copied: Option<TextSource>,
    /// Whether a glob named the file: without the text in it, nothing is changed there, and that is no error.
    pub(super) in_glob: bool,
}

#[derive(Clone, Debug)]
pub(super) enum EntryChange {
    Text(TextEdit),
    Lines(LinesEdit),
}

#[derive(Clone, Debug)]
pub(super) struct TextEdit {
    pub(super) old: String,
    pub(super) new: String,
    pub(super) replace_all: bool,
    pub(super) word: bool,
}

impl TextEdit {
    pub(super) fn locate(&self, text: &str, request: &Request<'_>) -> Result<Located, EditError> {
        if self.word { text_edit::locate_words(text, request) } else { text_edit::locate(text, request) }
    }
}

#[derive(Clone, Debug)]
pub(super) struct LinesEdit {
    pub(super) place: LinePlace,
    /// The cell of a notebook that has the lines, counted from 1.
    pub(super) cell: Option<usize>,
    /// Revision the numbers refer to; default: current.
    pub(super) rev: Option<RevisionPrefix>,
    /// Empty to delete the lines.
    pub(super) new: String,
}

impl EntryChange {
    pub(super) fn new_text(&self) -> &str {
        match self {
            Self::Text(text) => &text.new,
            Self::Lines(lines) => &lines.new,
        }
    }
}

impl EditEntry {
    pub(super) fn new(name: impl Into<String>, change: EntryChange) -> Self {
        Self { name: name.into(), change, copied: None, in_glob: false }
    }

    pub(super) fn creates(&self) -> bool {
        matches!(&self.change, EntryChange::Text(text) if text.old.is_empty())
    }

    pub(super) fn name_file(&mut self, path: &WorkspacePath) {
        self.name = format!("{} ({path})", self.name);
    }

    pub(super) fn place(&self) -> &str {
        self.name.split_once(' ').map_or(&self.name, |(place, _)| place)
    }

    pub(super) fn is_repeated_by(&self, other: &Self) -> bool {
        match (&self.change, &other.change) {
            (EntryChange::Text(one), EntryChange::Text(other)) => {
                (&one.old, &one.new, one.replace_all) == (&other.old, &other.new, false)
            }
            (EntryChange::Lines(one), EntryChange::Lines(other)) => {
                (&one.place, one.cell, &one.new) == (&other.place, other.cell, &other.new)
            }
            _ => false,
        }
    }

    pub(super) fn repeated(&self) -> ToolError {
        ToolError::invalid(format!("{} of this call makes the same change", self.place()))
            .hint("leave one of them out; for another place, add lines around it to its old_string")
    }

    /// The text that it replaces wherever it is, in any file.
    ///
    /// # Errors
    /// `invalid_input` where it is for one place, or one file.
    pub(super) fn everywhere(&self) -> Result<&TextEdit, ToolError> {
        match &self.change {
            EntryChange::Text(text) if text.replace_all && !text.old.is_empty() => Ok(text),
            EntryChange::Text(text) if !text.old.is_empty() => {
                Err(ToolError::invalid("a `glob` needs replace_all=true: it means every place in every file of it")
                    .hint("set replace_all=true, or name one file as path"))
            }
            _ => Err(ToolError::invalid("a `glob` needs old_string, the text that its files hold")
                .hint("pass old_string, or name one file as path")),
        }
    }

    /// Says in an error which of several edits it is about.
    pub(super) fn label(&self, error: ToolError) -> ToolError {
        if self.name.is_empty() { error } else { error.within(&self.name) }
    }

    /// Splices the new text into the document's bytes.
    pub(super) fn splice(
        &self,
        document: &Document,
        spans: &[(Range<usize>, &str)],
        path: &WorkspacePath,
    ) -> Result<Document, ToolError> {
        self.encoded(document.splice(spans), path)
    }

    pub(super) fn encoded(
        &self,
        document: Result<Document, SpliceError>,
        path: &WorkspacePath,
    ) -> Result<Document, ToolError> {
        let what = if self.copied.is_some() { "the copied text" } else { "new_string" };
        document.map_err(|error| {
            self.label(match error {
                SpliceError::Unrepresentable { character, encoding } => ToolError::invalid(format!(
                    "{what} has {character:?} (U+{:04X}), which {path}, a file in {encoding}, cannot represent",
                    u32::from(character)
                ))
                .hint("write it another way, or convert the whole file with write"),
                SpliceError::Unstable { encoding } => ToolError::inseparable(path, encoding),
            })
        })
    }
}

fn copied(edits: &[EditEntry]) -> impl Iterator<Item = &TextSource> {
    edits.iter().filter_map(|one| one.copied.as_ref())
}

pub(super) fn copied_notes(edits: &[EditEntry]) -> Vec<String> {
    copied(edits).map(|source| format!("copied {} at rev {}", source.named, source.revision.short())).collect()
}

/// That a copied text has other line endings than its file, which has `of_file`.
pub(super) fn other_ending(edits: &[EditEntry], of_file: LineEnding) -> Option<String> {
    let other =
        copied(edits).map(|source| source.line_ending).find(|ending| ![of_file, LineEnding::None].contains(ending))?;
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
        let sentence = format!("old_string is there, but not exactly: other {}", places.strategy);
        return Err(ToolError::new(Kind::NoMatch, sentence).hint(
            "what new_from copies is not adapted; copy old_string exactly, or name its lines with lines and rev",
        ));
    }
    let spans = places.spans.into_iter().map(|(span, _)| (span, new.to_owned())).collect();
    Ok(Places { spans, ..places })
}
