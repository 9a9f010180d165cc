//! One entry of `edits`, checked, and how it is spliced into a document.

use std::ops::Range;

use text_edit::{EditError, Located, Request};
use text_file::{Document, SpliceError};

use confined_fs::WorkspacePath;

use super::{
    super::{Kind, ToolError, read::TextSource},
    numbered_lines::NumberedLines,
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
    /// Whether a place within a longer word is none.
    pub(super) word: bool,
}

impl TextEdit {
    /// The places of `request`, which is for this text.
    pub(super) fn locate(&self, text: &str, request: &Request<'_>) -> Result<Located, EditError> {
        if self.word { text_edit::locate_words(text, request) } else { text_edit::locate(text, request) }
    }
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
    /// One that names its file, or is for the only one.
    pub(super) fn new(name: impl Into<String>, change: EntryChange) -> Self {
        Self { name: name.into(), change, copied: None, in_glob: false }
    }

    /// Whether it makes a file.
    pub(super) fn creates(&self) -> bool {
        matches!(&self.change, EntryChange::Text(text) if text.old.is_empty())
    }

    /// Names its file in errors, too.
    pub(super) fn name_file(&mut self, path: &WorkspacePath) {
        self.name = format!("{} ({path})", self.name);
    }

    /// Where it is in the arguments, whatever its file.
    pub(super) fn place(&self) -> &str {
        self.name.split_once(' ').map_or(&self.name, |(place, _)| place)
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
