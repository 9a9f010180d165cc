//! One entry of `edits`, checked, and how it is spliced into a document.

use std::ops::Range;

use crate::{
    text::{Document, SpliceError},
    workspace::WorkspacePath,
};

use super::{
    super::{Kind, ToolError, read::TextSource},
    numbered_lines::NumberedLines,
};

/// One edit, checked.
#[derive(Clone, Debug)]
pub(super) struct EditEntry {
    /// Where it is in the arguments, for errors; empty for a single edit.
    pub(super) name: String,
    pub(super) change: EntryChange,
    /// Where the new text was copied from; `None` for a text of the call.
    pub(super) copied: Option<TextSource>,
}

/// What is replaced, and by what.
#[derive(Clone, Debug)]
pub(super) enum EntryChange {
    Text(TextEdit),
    Lines(LinesEdit),
}

/// The replacement of a text wherever it is.
#[derive(Clone, Debug)]
pub(super) struct TextEdit {
    pub(super) old: String,
    pub(super) new: String,
    pub(super) replace_all: bool,
}

/// The replacement of whole lines, or an insertion between two of them.
#[derive(Clone, Debug)]
pub(super) struct LinesEdit {
    pub(super) lines: NumberedLines,
    /// Empty to delete the lines.
    pub(super) new: String,
}

impl EntryChange {
    /// The text that is put in.
    pub(super) fn new_text(&self) -> &str {
        match self {
            Self::Text(text) => &text.new,
            Self::Lines(lines) => &lines.new,
        }
    }
}

impl EditEntry {
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
        let what = if self.copied.is_some() { "the copied text" } else { "new_string" };
        document.splice(spans).map_err(|error| {
            self.label(match error {
                SpliceError::Unrepresentable { character, encoding } => ToolError::invalid(format!(
                    "{what} has {character:?} (U+{:04X}), which {path}, a file in {encoding}, cannot represent",
                    u32::from(character)
                ))
                .hint("write it another way, or convert the whole file with write"),
                SpliceError::Unstable { encoding } => ToolError::new(
                    Kind::Binary,
                    format!("{path} is in {encoding}, where a part cannot be changed without touching the rest"),
                )
                .hint("replace the whole file with write"),
            })
        })
    }
}
