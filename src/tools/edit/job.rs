//! What an edit comes to on the file as it is now: read, check, locate, splice.
//!
//! Writes nothing; it is worked out again when the file turned out to be another one at the commit.

use std::collections::BTreeSet;

use crate::{
    edit::{MovedOffsets, Strategies},
    text::{Document, LineEnding, mask::cuts_sentinel},
    workspace::{AccessErrorKind, Base, Revision, RevisionPrefix, Snapshot, Visibility, WorkspacePath, WritablePath},
};

use super::{
    super::{
        CallContext, Kind, ToolError,
        answer::count,
        read_before_write::{self, StartFrom},
        with_history::Rewrite,
    },
    cells, copied,
    entry::{EditEntry, EntryChange},
    now_lines::{self, FileNow},
    places::Places,
    search,
};

/// What was asked for.
pub(super) struct Job {
    pub(super) path: WorkspacePath,
    pub(super) target: WritablePath,
    pub(super) edits: Vec<EditEntry>,
    pub(super) expected: Option<usize>,
    pub(super) expected_revision: Option<RevisionPrefix>,
}

/// What it comes to on the file as it is now.
pub(super) struct Planned {
    pub(super) base: Base,
    /// What is there now, unless that is nothing.
    pub(super) old: Option<Document>,
    new: New,
    /// What is shown of the new content of a masked file.
    shown: Option<Document>,
    pub(super) strategies: Vec<Strategies>,
    pub(super) replacements: usize,
    /// The changed cells of a notebook, whose other text is as it was.
    pub(super) cells: Option<ChangedCells>,
    /// What else there is to say of the edits.
    pub(super) notes: Vec<String>,
    /// The files that text was copied from.
    pub(super) sources: Vec<WorkspacePath>,
}

/// What an edit makes of cells of a notebook.
pub(super) struct ChangedCells {
    /// Counted from 1.
    pub(super) numbers: BTreeSet<usize>,
    /// Their sources.
    old: String,
    new: String,
}

/// What will be there: a new file's text is taken as it is, whatever it would be read as.
enum New {
    Text(String),
    Document(Document),
}

impl Planned {
    /// The text as it is now, "" where there is no file; of a notebook the sources that change.
    pub(super) fn old_text(&self) -> &str {
        let whole = || self.old.as_ref().map_or("", Document::text);
        self.cells.as_ref().map_or_else(whole, |cells| &cells.old)
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
    fn mixed_endings_note(&self, edits: &[EditEntry]) -> Option<String> {
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
    fn changed_cells(&self, path: &WorkspacePath, cells: Vec<Vec<usize>>) -> Option<ChangedCells> {
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

impl Job {
    /// Finds every place on the file as it is now; writes nothing.
    pub(super) fn work_out(&self, cx: &CallContext) -> Result<Planned, ToolError> {
        self.worked_out(cx, |now| {
            // An empty file holds nothing that could be lost unseen.
            if now.bytes.is_empty() && self.expected_revision.is_none() || self.names_rev(now.revision) {
                return Ok(now);
            }
            read_before_write::check(cx, &self.path, &self.target, now, self.expected_revision, StartFrom::AnySeen)
        })
    }

    /// Whether the `rev` of its lines says what the caller has seen: it is that of the file, or nothing but lines changes.
    fn names_rev(&self, now: Revision) -> bool {
        let rev = |one: &EditEntry| match &one.change {
            EntryChange::Lines(edit) => Some(edit.lines.rev),
            EntryChange::Text(_) => None,
        };
        let mut revs = self.edits.iter().map(rev);
        self.expected_revision.is_none()
            && (revs.clone().all(|rev| rev.is_some()) || revs.any(|rev| rev.is_some_and(|rev| rev.fits(now))))
    }

    /// As [`Self::work_out`], once more, where another change came between that and the commit.
    pub(super) fn work_out_again(&self, cx: &CallContext) -> Result<Planned, ToolError> {
        self.worked_out(cx, |now| {
            read_before_write::check_again(cx, &self.path, &now, self.expected_revision)?;
            Ok(now)
        })
    }

    fn worked_out(
        &self,
        cx: &CallContext,
        checked: impl FnOnce(Snapshot) -> Result<Snapshot, ToolError>,
    ) -> Result<Planned, ToolError> {
        let limit = cx.settings.max_file_size;
        copied::check(&self.edits, &self.target)?;
        let now = match cx.read_to_change(&self.path) {
            Ok(now) => now,
            Err(error) if error.kind == AccessErrorKind::NotFound => return self.create(cx),
            Err(error) => return Err(error.into()),
        };
        let planned = self.masked(cx, self.splice(cx, checked(now)?)?)?;
        if planned.bytes().len() as u64 > limit {
            return Err(ToolError::would_grow(&self.path, planned.bytes().len() as u64, limit));
        }
        Ok(planned)
    }

    /// `old_string` = "" creates a missing file.
    fn create(&self, cx: &CallContext) -> Result<Planned, ToolError> {
        let new = match self.edits.as_slice() {
            [EditEntry { change: EntryChange::Text(only), .. }] if only.old.is_empty() => only.new.clone(),
            _ => return Err(ToolError::not_found(&cx.workspace, &self.path)),
        };
        if let Some(expected) = self.expected_revision {
            return Err(read_before_write::absent(&self.path, expected));
        }
        let planned = Planned {
            base: Base::Absent,
            old: None,
            new: New::Text(new),
            shown: None,
            strategies: vec![Strategies::default()],
            replacements: 1,
            cells: None,
            notes: copied::notes(&self.edits),
            sources: copied::sources(&self.edits),
        };
        self.masked(cx, planned)
    }

    /// With what will be shown of it, if the file is masked.
    fn masked(&self, cx: &CallContext, planned: Planned) -> Result<Planned, ToolError> {
        let old = planned.old.as_ref().map_or(&[][..], Document::bytes);
        let shown = cx.workspace.check_sentinels(&self.target, old, planned.bytes())?;
        let shown = shown.map(|bytes| Document::decode(bytes, None)).transpose();
        let refused = || ToolError::invalid(format!("{} would not be text after this change", self.path));
        Ok(Planned { shown: shown.map_err(|_| refused().hint("check new_string"))?, ..planned })
    }

    fn splice(&self, cx: &CallContext, now: Snapshot) -> Result<Planned, ToolError> {
        let (revision, size) = (now.revision, now.bytes.len() as u64);
        let base = Base::Revision(revision);
        let old = Document::decode(now.bytes, None)
            .map_err(|error| read_before_write::not_text(&self.path, size, revision, &error))?;
        let is_masked = cx.workspace.visibility(&self.path).is_ok_and(|seen| seen == Visibility::Masked);
        let now = FileNow { path: &self.path, real: self.target.path(), document: &old, revision };
        let lines = now_lines::find(cx, now, &self.edits)?;
        let mut made = None;
        let (mut strategies, mut cells, mut replacements) = (Vec::new(), Vec::new(), 0);
        let mut moved = MovedOffsets::default();
        for (one, lines) in self.edits.iter().zip(&lines) {
            cx.check()?;
            let document = made.as_ref().unwrap_or(&old);
            let places = match lines {
                Some(lines) => lines.places(one, now, document, &moved),
                None => self.searched_places(cx, one, document),
            };
            let places = places.map_err(|error| {
                let error = one.label(error);
                if self.edits.len() == 1 { error } else { error.hint("none of the edits was applied") }
            })?;
            let spans: Vec<_> = places.spans.iter().map(|(span, new)| (span.clone(), new.as_str())).collect();
            if is_masked && spans.iter().any(|(span, _)| cuts_sentinel(document.text(), span)) {
                return Err(one.label(
                    ToolError::invalid("old_string begins or ends within a `<secret:…>`, which is one value")
                        .hint("put the whole sentinel into old_string, or no part of it"),
                ));
            }
            // Several edits can multiply one another; the file's own size is checked at the end. Text takes
            // at most twice the room of its bytes in any encoding.
            let grown = spans.iter().map(|(span, new)| new.len().saturating_sub(span.len())).sum::<usize>();
            let grown = (document.text().len() + grown) as u64;
            if grown > cx.settings.max_file_size.saturating_mul(2) {
                let limit = cx.settings.max_file_size;
                return Err(one.label(ToolError::would_grow(&self.path, grown, limit)));
            }
            replacements += places.replacements;
            strategies.push(places.strategy);
            cells.push(places.cells);
            moved.push(spans.iter().map(|(span, new)| (span.clone(), new.len())));
            made = Some(one.splice(document, &spans, &self.path)?);
        }
        if let Some(expected) = self.expected.filter(|expected| *expected != replacements) {
            return Err(ToolError::new(
                Kind::Ambiguous,
                format!("the edits make {}, not the expected {expected}", count(replacements, "replacement")),
            )
            .hint("nothing was changed; correct expected_replacements or the edits"));
        }
        cx.check()?;
        let new = New::Document(made.unwrap_or_else(|| old.clone()));
        let mut notes: Vec<String> = lines.into_iter().filter_map(|lines| lines?.moved).collect();
        notes.extend(copied::notes(&self.edits));
        let (old, sources) = (Some(old), copied::sources(&self.edits));
        let mut planned =
            Planned { base, old, new, shown: None, strategies, replacements, cells: None, notes, sources };
        planned.notes.extend(planned.mixed_endings_note(&self.edits));
        planned.cells = planned.changed_cells(self.target.path(), cells);
        Ok(planned)
    }

    /// Where the text of an entry is.
    fn searched_places(&self, cx: &CallContext, one: &EditEntry, document: &Document) -> Result<Places, ToolError> {
        let EntryChange::Text(text) = &one.change else { return Ok(Places::default()) };
        if !text.old.is_empty() {
            // With a single edit its own count is checked, so that the error can list the places.
            let each = self.expected.filter(|_| self.edits.len() == 1);
            let places = search::find(cx, &self.target, document, text, each)?;
            return if one.copied.is_some() { copied::verbatim(places, &text.new) } else { Ok(places) };
        }
        if !document.text().is_empty() {
            return Err(ToolError::invalid(format!("old_string is empty, but {} is not", self.path))
                .hint("to change it, pass the text to replace; to replace it whole, use write"));
        }
        Ok(Places::one(0..0, text.new.clone()))
    }
}
