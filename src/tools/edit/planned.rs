//! The result of the edits of a file: its new content, and how each edit was matched.

use std::collections::BTreeSet;

use text_edit::Strategies;
use text_file::{Document, LineEnding};

use confined_fs::{Base, WorkspacePath};

use super::{
    super::{CallContext, commit::Rewrite},
    cells, copied,
    entry::EditEntry,
    search,
    within_words::WithinWords,
};

/// The result on the file as it is now.
pub(super) struct Planned {
    pub(super) base: Base,
    /// What is there now, unless that is nothing.
    pub(super) old: Option<Document>,
    pub(super) new: New,
    /// What is shown of the new content of a masked file.
    pub(super) shown: Option<Document>,
    pub(super) strategies: Vec<Strategies>,
    /// Replacements of each entry.
    pub(super) counts: Vec<usize>,
    pub(super) replacements: usize,
    /// The changed cells of a notebook, whose other text is as it was.
    pub(super) cells: Option<ChangedCells>,
    /// The places of the edits that were for all of them.
    pub(super) within: WithinWords,
    /// What else there is to say of the edits.
    pub(super) notes: Vec<String>,
    /// The files that text was copied from.
    pub(super) sources: Vec<WorkspacePath>,
}

/// What an edit makes of cells of a notebook.
pub(super) struct ChangedCells {
    pub(super) numbers: BTreeSet<usize>,
    old: String,
    new: String,
}

/// What will be there: a new file's text is taken as it is, whatever it would be read as.
pub(super) enum New {
    Text(String),
    Document(Document),
}

impl Planned {
    /// The text as it is now, "" where there is no file; of a notebook the sources that change.
    pub(super) fn old_text(&self) -> &str {
        let whole = || self.old.as_ref().map_or("", Document::text);
        self.cells.as_ref().map_or_else(whole, |cells| &cells.old)
    }

    /// Bytes that will be there.
    pub(super) fn new_bytes(&self) -> u64 {
        self.bytes().len() as u64
    }

    /// Bytes that are there now.
    pub(super) fn old_bytes(&self) -> u64 {
        self.old.as_ref().map_or(0, |old| old.bytes().len()) as u64
    }

    /// The text as it will be; of a notebook the sources that change.
    pub(super) fn new_text(&self) -> &str {
        self.cells.as_ref().map_or_else(|| self.file_text(), |cells| &cells.new)
    }

    /// The text of the whole file as it will be shown.
    pub(super) fn file_text(&self) -> &str {
        if let Some(shown) = &self.shown {
            return shown.text();
        }
        match &self.new {
            New::Text(text) => text,
            New::Document(document) => document.text(),
        }
    }

    /// Whether the values of the file are masked.
    pub(super) fn is_masked(&self) -> bool {
        self.shown.is_some()
    }

    /// The bytes that will be there, as far as they are shown.
    pub(super) fn shown_bytes(&self) -> &[u8] {
        self.shown.as_ref().map_or_else(|| self.bytes(), Document::bytes)
    }

    /// Whether its line endings are mixed, and were not before.
    pub(super) fn mixes_endings(&self) -> bool {
        let (Some(old), New::Document(new)) = (&self.old, &self.new) else { return false };
        ![LineEnding::Mixed, LineEnding::None].contains(&old.line_ending()) && new.line_ending() == LineEnding::Mixed
    }

    /// That lines which were copied end otherwise than those of the file.
    pub(super) fn mixed_endings_note(&self, edits: &[EditEntry]) -> Option<String> {
        let of_file = self.old.as_ref().filter(|_| self.mixes_endings())?.line_ending();
        copied::other_ending(edits, of_file)
    }

    /// The path by which the change is fenced: that of an untrusted file whose text was copied, else of the file itself,
    /// which is truly at `real`.
    pub(super) fn fenced_by<'p>(&'p self, cx: &CallContext, real: &'p WorkspacePath) -> &'p WorkspacePath {
        self.sources.iter().find(|source| cx.workspace.is_untrusted(source)).unwrap_or(real)
    }

    /// Whether a notebook is none afterwards.
    pub(super) fn breaks_notebook(&self, path: &WorkspacePath) -> bool {
        let (Some(old), New::Document(new)) = (&self.old, &self.new) else { return false };
        search::notebook(path, old).is_some() && search::notebook(path, new).is_none()
    }

    /// The cells that change, where each edit was made in `cells` and none in the JSON of a notebook.
    pub(super) fn changed_cells(&self, path: &WorkspacePath, cells: Vec<Vec<usize>>) -> Option<ChangedCells> {
        let (Some(old), New::Document(new)) = (&self.old, &self.new) else { return None };
        if cells.iter().any(Vec::is_empty) {
            return None;
        }
        let (old, new) = cells::changed_sources(&search::notebook(path, old)?, &search::notebook(path, new)?);
        Some(ChangedCells { numbers: cells.into_iter().flatten().collect(), old, new })
    }
}

impl Rewrite for Planned {
    fn base(&self) -> Base {
        self.base
    }

    fn old(&self) -> Option<&Document> {
        self.old.as_ref()
    }

    fn bytes(&self) -> &[u8] {
        match &self.new {
            New::Text(text) => text.as_bytes(),
            New::Document(document) => document.bytes(),
        }
    }
}
