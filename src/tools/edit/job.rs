//! What an edit comes to on the file as it is now: read, check, locate, splice.
//!
//! Writes nothing; it is worked out again when the file turned out to be another one at the commit.

use std::mem;

use structured_text::mask::cuts_sentinel;
use text_edit::{MovedOffsets, Strategies};
use text_file::Document;

use confined_fs::{AccessErrorKind, Base, Revision, RevisionPrefix, Snapshot, Visibility, WorkspacePath, WritablePath};

use super::{
    super::{
        CallContext, Kind, ToolError,
        answer::count,
        commit::Rewrite as _,
        read_before_write::{self, StartFrom},
        shown_diff,
    },
    copied,
    entry::{EditEntry, EntryChange},
    glob_files,
    now_lines::{self, FileNow, NowLines},
    places::Places,
    planned::{New, Planned},
    search,
    within_words::WithinWords,
};

/// What was asked for.
pub(super) struct Job {
    pub(super) path: WorkspacePath,
    pub(super) target: WritablePath,
    pub(super) edits: Vec<EditEntry>,
    pub(super) expected: Option<usize>,
    pub(super) expected_revision: Option<RevisionPrefix>,
    /// Whether it is one of several files, which errors name with the entry.
    pub(super) is_one_of_several: bool,
}

/// A document with edits made.
#[derive(Default)]
struct Spliced {
    /// None if nothing is replaced.
    made: Option<Document>,
    strategies: Vec<Strategies>,
    counts: Vec<usize>,
    cells: Vec<Vec<usize>>,
    within: WithinWords,
    notes: Vec<String>,
}

impl Job {
    /// Finds every place on the file as it is now; writes nothing.
    pub(super) fn work_out(&self, cx: &CallContext) -> Result<Planned, ToolError> {
        let was = cx.session.ledger.seen(self.target.path()).and_then(|seen| seen.content);
        self.work_out_as_seen(cx).or_else(|error| {
            let was = was.filter(|_| error.kind() == Kind::Stale && self.expected_revision.is_none());
            was.and_then(|was| self.work_out_elsewhere(cx, &was)).ok_or(error)
        })
    }

    /// As [`Self::work_out`], on a file that was `was` when it was seen, where all changes are elsewhere.
    fn work_out_elsewhere(&self, cx: &CallContext, was: &[u8]) -> Option<Planned> {
        let planned = self.worked_out(cx, Ok).ok()?;
        let old = planned.old.as_ref()?;
        if !read_before_write::is_elsewhere(was, old.text(), planned.file_text()) {
            return None;
        }
        cx.session.ledger.found(self.target.path(), Revision::of(old.bytes()), old.bytes());
        Some(planned)
    }

    fn work_out_as_seen(&self, cx: &CallContext) -> Result<Planned, ToolError> {
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
            EntryChange::Lines(edit) => edit.lines.rev,
            EntryChange::Text(_) => None,
        };
        let mut revs = self.edits.iter().map(rev);
        self.expected_revision.is_none()
            && (revs.clone().all(|rev| rev.is_some()) || revs.any(|rev| rev.is_some_and(|rev| rev.fits(now))))
    }

    /// As [`Self::work_out`], on a file that need not have been seen: nothing is changed before it is.
    pub(super) fn work_out_unseen(&self, cx: &CallContext) -> Result<Planned, ToolError> {
        self.worked_out(cx, Ok)
    }

    /// Whether globs alone name the file.
    pub(super) fn is_of_globs(&self) -> bool {
        self.edits.iter().all(|one| one.in_glob)
    }

    /// Says in an error about the file which of several it is.
    fn label(&self, error: ToolError) -> ToolError {
        match self.edits.first().filter(|_| self.is_one_of_several) {
            Some(first) => first.label(error),
            None => error,
        }
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
            Err(error) => return Err(self.label(error.into())),
        };
        let now = checked(now).map_err(|error| self.label(error))?;
        let planned = self.masked(cx, self.splice(cx, now)?)?;
        if planned.bytes().len() as u64 > limit {
            let error = ToolError::would_grow(&self.path, planned.bytes().len() as u64, limit);
            return Err(self.label(error));
        }
        Ok(planned)
    }

    /// `old_string` = "" creates a missing file, which edits after it may change.
    fn create(&self, cx: &CallContext) -> Result<Planned, ToolError> {
        let (new, rest) = match self.edits.as_slice() {
            [EditEntry { change: EntryChange::Text(first), .. }, rest @ ..]
                if first.old.is_empty() && rest.iter().all(|one| matches!(one.change, EntryChange::Text(_))) =>
            {
                (&first.new, rest)
            }
            _ => return Err(self.label(ToolError::not_found(&cx.workspace, &self.path))),
        };
        if let Some(expected) = self.expected_revision {
            return Err(read_before_write::absent(&self.path, expected));
        }
        let mut made = Spliced { strategies: vec![Strategies::default()], counts: vec![1], ..Spliced::default() };
        let new = if rest.is_empty() {
            New::Text(new.clone())
        } else {
            let document = Document::decode(new.clone().into_bytes(), None).map_err(|error| {
                let what = format!("{} would not be text but {}, so it cannot be edited", self.path, error.kind);
                self.label(ToolError::invalid(what).hint("create it with its final text"))
            })?;
            let (path, real) = (&self.path, self.target.path());
            let now = FileNow { path, real, document: &document, revision: Revision::of(document.bytes()) };
            let spliced = self.apply(cx, now, rest.iter().map(|one| (one, None)))?;
            made.strategies.extend(spliced.strategies);
            made.counts.extend(spliced.counts);
            New::Document(spliced.made.unwrap_or(document))
        };
        self.masked(cx, self.planned(Base::Absent, None, new, made)?)
    }

    /// `new` in the place of `old`, with what else is known of how it was made.
    fn planned(&self, base: Base, old: Option<Document>, new: New, made: Spliced) -> Result<Planned, ToolError> {
        let Spliced { strategies, counts, within, mut notes, .. } = made;
        let replacements = counts.iter().sum();
        self.check_count(replacements)?;
        notes.extend(copied::notes(&self.edits));
        let (shown, cells, sources) = (None, None, copied::sources(&self.edits));
        Ok(Planned { base, old, new, shown, strategies, counts, replacements, cells, within, notes, sources })
    }

    /// With what will be shown of it, if the file is masked.
    fn masked(&self, cx: &CallContext, planned: Planned) -> Result<Planned, ToolError> {
        let old = planned.old.as_ref().map_or(&[][..], Document::bytes);
        let shown = cx.workspace.check_sentinels(&self.target, old, planned.bytes());
        let shown = shown.map_err(|error| self.label(error.into()))?;
        let shown = shown.map(|bytes| Document::decode(bytes, None)).transpose();
        let refused = || ToolError::invalid(format!("{} would not be text after this change", self.path));
        let shown = shown.map_err(|_| self.label(refused().hint("check new_string")))?;
        Ok(Planned { shown, ..planned })
    }

    fn splice(&self, cx: &CallContext, now: Snapshot) -> Result<Planned, ToolError> {
        let (revision, size) = (now.revision, now.bytes.len() as u64);
        let base = Base::Revision(revision);
        let old = Document::decode(now.bytes, None)
            .map_err(|error| self.label(read_before_write::not_text(&self.path, size, revision, &error)))?;
        let now = FileNow { path: &self.path, real: self.target.path(), document: &old, revision };
        let lines = now_lines::find(cx, now, &self.edits)?;
        let spliced = self.apply(cx, now, self.edits.iter().zip(lines.iter().map(Option::as_ref)));
        // An error names places by their lines.
        let spliced = spliced.inspect_err(|error| {
            cx.session.ledger.showed(now.real, Some(revision), shown_diff::numbers(&error.text()));
        });
        let mut spliced = spliced?;
        let (made, cells) = (spliced.made.take(), mem::take(&mut spliced.cells));
        let new = New::Document(made.unwrap_or_else(|| old.clone()));
        let moved = lines.into_iter().filter_map(|lines| lines?.moved);
        spliced.notes = moved.chain(spliced.notes).collect();
        let mut planned = self.planned(base, Some(old), new, spliced)?;
        cx.check()?;
        planned.notes.extend(planned.mixed_endings_note(&self.edits));
        planned.cells = planned.changed_cells(self.target.path(), cells);
        Ok(planned)
    }

    fn check_count(&self, replacements: usize) -> Result<(), ToolError> {
        match self.expected.filter(|expected| *expected != replacements) {
            None => Ok(()),
            Some(expected) => Err(ToolError::new(
                Kind::Ambiguous,
                format!("the edits make {}, not the expected {expected}", count(replacements, "replacement")),
            )
            .hint("nothing was changed; correct expected_replacements or the edits")),
        }
    }

    /// Makes the edits of `entries` in the file `now`, one after the other, each with the lines that it names.
    fn apply<'e>(
        &self,
        cx: &CallContext,
        now: FileNow<'_>,
        entries: impl Iterator<Item = (&'e EditEntry, Option<&'e NowLines>)>,
    ) -> Result<Spliced, ToolError> {
        let is_masked = cx.workspace.visibility(&self.path).is_ok_and(|seen| seen == Visibility::Masked);
        let mut spliced = Spliced::default();
        let mut moved = MovedOffsets::default();
        for (one, lines) in entries {
            cx.check()?;
            let document = spliced.made.as_ref().unwrap_or(now.document);
            let places = match lines {
                Some(lines) => lines.places(one, now, document, &moved),
                None => self.searched_places(cx, one, document),
            };
            let places = places.map_err(|error| {
                let error = one.label(error);
                let is_only = self.edits.len() == 1 || self.is_one_of_several;
                if is_only { error } else { error.hint("none of the edits was applied") }
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
            moved.push(spans.iter().map(|(span, new)| (span.clone(), new.len())));
            let made = if spans.is_empty() { None } else { Some(one.splice(document, &spans, &self.path)?) };
            spliced.counts.push(places.replacements);
            spliced.strategies.push(places.strategy);
            spliced.within.add(&places.within, None);
            spliced.notes.extend(places.note);
            if let Some(made) = made {
                spliced.cells.push(places.cells);
                spliced.made = Some(made);
            }
        }
        Ok(spliced)
    }

    /// Where the text of an entry is.
    fn searched_places(&self, cx: &CallContext, one: &EditEntry, document: &Document) -> Result<Places, ToolError> {
        let EntryChange::Text(text) = &one.change else { return Ok(Places::default()) };
        if !text.old.is_empty() {
            // With a single edit its own count is checked, so that the error can list the places.
            let each = self.expected.filter(|_| self.edits.len() == 1);
            let find = || {
                let places = search::find(cx, &self.target, document, text, each)?;
                if one.copied.is_some() { copied::verbatim(places, &text.new) } else { Ok(places) }
            };
            if !one.in_glob {
                return find();
            }
            // Nobody said that the text is in this file: where it is not, but for white space at the start and the end
            // of lines, nothing is changed.
            let may_be_there = glob_files::holds(self.target.path(), document, &text.old);
            return match may_be_there.then(find) {
                Some(Ok(places)) if places.strategy.are_of_layout() => Ok(places),
                Some(Err(error)) if error.kind() != Kind::NoMatch => Err(error),
                _ => Ok(Places::default()),
            };
        }
        if !document.text().is_empty() {
            return Err(ToolError::invalid(format!("old_string is empty, but {} is not", self.path))
                .hint("to change it, pass the text to replace; to replace it whole, use write"));
        }
        Ok(Places::one(0..0, text.new.clone()))
    }
}
