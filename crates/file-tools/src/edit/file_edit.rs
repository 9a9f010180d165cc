//! The edits of one file: asked for, and worked out on the file as it is now: read, check, locate, splice.
//!
//! Nothing is written before the commit. They are worked out again when the file turns out to be another one by then.

use std::{collections::BTreeSet, iter, sync::Arc};

use text_edit::{Diff, DiffExtent, MovedOffsets, Strategies};
use text_file::{Document, LineEnding};

use change_set::{Approval, Base, Rights, WritablePath};
use confined_fs::{AccessErrorKind, Revision, RevisionPrefix, Snapshot, WorkspacePath};

use crate::session::{Cost, Writer};

use super::{
    super::{
        Answer, CallContext, Change, Fingerprint, Kind, Preview, ToolError,
        answer::count,
        commit::{self, ChangeStep, Rewrite},
        read_before_write::{self, StartFrom},
        shown_diff,
    },
    cells,
    entry::{self, EditEntry, EntryChange, LinesEdit, TextEdit},
    glob_files,
    lines::{self, FileNow, NowLines},
    places::{Places, WithinWords},
    search,
};

pub(super) struct FileEdit {
    pub(super) path: WorkspacePath,
    pub(super) target: WritablePath,
    pub(super) edits: Vec<EditEntry>,
    pub(super) expected: Option<usize>,
    pub(super) expected_revision: Option<RevisionPrefix>,
    /// Whether it is one of several files, which errors name with the entry.
    pub(super) is_one_of_several: bool,
}

/// A file and its edits as worked out on it as it is now, alone or one of several.
pub(super) struct PlannedEdit {
    pub(super) edit: Arc<FileEdit>,
    pub(super) base: Base,
    /// The content that is there now; none for a new file.
    pub(super) old: Option<Document>,
    new: Document,
    pub(super) made: MadeEdits,
    pub(super) cells: Option<ChangedCells>,
}

#[derive(Default)]
pub(super) struct MadeEdits {
    /// None if nothing is replaced.
    document: Option<Document>,
    pub(super) strategies: Vec<Strategies>,
    pub(super) counts: Vec<usize>,
    cells: Vec<Vec<usize>>,
    pub(super) within: WithinWords,
    pub(super) notes: Vec<String>,
}

/// Bytes of the diff of a notebook after which no other cell is begun.
const MAX_CELLS_DIFF_BYTES: usize = 4 << 20;

/// The cells of a notebook in which edits were made, and the sources of those that differ, before and after.
pub(super) struct ChangedCells {
    pub(super) numbers: BTreeSet<usize>,
    sources: Vec<(usize, [String; 2])>,
}

impl FileEdit {
    pub(super) fn new(path: WorkspacePath, target: WritablePath, edits: Vec<EditEntry>) -> Self {
        Self { path, target, edits, expected: None, expected_revision: None, is_one_of_several: false }
    }

    /// Finds every place on the file as it is now; writes nothing.
    pub(super) fn work_out(self: &Arc<Self>, cx: &CallContext) -> Result<PlannedEdit, ToolError> {
        let planned = self.worked_out(cx, |now| self.check_seen(cx, now)).map_err(|error| self.why(cx, error))?;
        self.check_lines(cx, planned, false)
    }

    /// The error, where somebody has changed the text that is not there: that.
    fn why(&self, cx: &CallContext, error: ToolError) -> ToolError {
        let may_be_late = matches!(error.kind(), Kind::NoMatch | Kind::Ambiguous | Kind::InvalidInput);
        if self.expected_revision.is_some() || !may_be_late {
            return error;
        }
        let has_numbers = |one: &EditEntry| matches!(&one.change, EntryChange::Lines(LinesEdit { rev: None, .. }));
        let (path, real) = (&self.path, self.target.path());
        let was_there = |was: &Document| {
            let now = FileNow { path, real, document: was, revision: Revision::of(was.bytes()) };
            self.edits.iter().any(has_numbers) || self.apply(cx, now, self.edits.iter().zip(iter::repeat(None))).is_ok()
        };
        read_before_write::not_as_shown(cx, path, &self.target, was_there).map_or(error, |changed| self.label(changed))
    }

    fn check_lines(&self, cx: &CallContext, planned: PlannedEdit, is_locked: bool) -> Result<PlannedEdit, ToolError> {
        if let (Base::Revision(revision), Some(old), None) = (planned.base, &planned.old, self.expected_revision)
            && !self.names_rev(revision)
        {
            let (file, new) = ((&self.path, &self.target), (planned.file_text(), self.is_anchored()));
            let checked = read_before_write::check_lines(cx, file, (old, revision), new, is_locked);
            checked.map_err(|error| self.label(error))?;
        }
        Ok(planned)
    }

    /// As [`Self::work_out`], on a file that need not have been seen: nothing is changed before it is.
    pub(super) fn work_out_unseen(self: &Arc<Self>, cx: &CallContext) -> Result<PlannedEdit, ToolError> {
        self.worked_out(cx, Ok)
    }

    pub(super) fn work_out_again(self: &Arc<Self>, cx: &CallContext) -> Result<PlannedEdit, ToolError> {
        let check = |now| read_before_write::check_again(cx, &self.path, now, self.expected_revision);
        let planned = self.worked_out(cx, check)?;
        self.check_lines(cx, planned, true)
    }

    fn check_seen(&self, cx: &CallContext, now: Snapshot) -> Result<Snapshot, ToolError> {
        // An empty file holds nothing that could be lost unseen, and who names a rev has seen the file.
        let is_named = self.expected_revision.is_none() && self.is_anchored();
        if now.bytes.is_empty() && self.expected_revision.is_none() || is_named || self.names_rev(now.revision) {
            return Ok(now);
        }
        read_before_write::check(cx, &self.path, &self.target, now, self.expected_revision, StartFrom::AnySeen)
    }

    fn is_anchored(&self) -> bool {
        let has_rev = |one: &EditEntry| matches!(&one.change, EntryChange::Lines(LinesEdit { rev: Some(_), .. }));
        self.edits.iter().all(has_rev)
    }

    /// Whether the `rev` of lines says that the caller has seen the file as it is.
    fn names_rev(&self, now: Revision) -> bool {
        let is_now = |one: &EditEntry| matches!(&one.change, EntryChange::Lines(edit) if edit.rev.is_some_and(|rev| rev.fits(now)));
        self.expected_revision.is_none() && self.edits.iter().any(is_now)
    }

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

    fn worked_out(
        self: &Arc<Self>,
        cx: &CallContext,
        checked: impl FnOnce(Snapshot) -> Result<Snapshot, ToolError>,
    ) -> Result<PlannedEdit, ToolError> {
        let limit = cx.settings.max_file_size;
        let now = match cx.read_to_change(&self.path) {
            Ok(now) => now,
            Err(error) if error.kind == AccessErrorKind::NotFound => return self.create(cx),
            Err(error) => return Err(self.label(error.into())),
        };
        let now = checked(now).map_err(|error| self.label(error))?;
        let planned = self.splice(cx, now)?;
        if planned.bytes().len() as u64 > limit {
            let error = ToolError::would_grow(&self.path, planned.bytes().len() as u64, limit);
            return Err(self.label(error));
        }
        Ok(planned)
    }

    fn create(self: &Arc<Self>, cx: &CallContext) -> Result<PlannedEdit, ToolError> {
        let (new, rest) = match self.edits.as_slice() {
            [first @ EditEntry { change: EntryChange::Text(text), .. }, rest @ ..]
                if text.old.is_empty() && rest.iter().all(|one| matches!(one.change, EntryChange::Text(_))) =>
            {
                (first.encoded(Document::created(text.new.clone()), &self.path)?, rest)
            }
            _ => return Err(self.label(ToolError::not_found(&cx.workspace, &self.path))),
        };
        if let Some(expected) = self.expected_revision {
            return Err(read_before_write::absent(&self.path, expected));
        }
        let (mut new, mut made) = (new, MadeEdits::default());
        if !rest.is_empty() {
            new = Document::decode(new.into_bytes(), None).map_err(|error| {
                let what = format!("{} would not be text but {}, so it cannot be edited", self.path, error.kind);
                self.label(ToolError::invalid(what).hint("create it with its final text"))
            })?;
            let (path, real) = (&self.path, self.target.path());
            let now = FileNow { path, real, document: &new, revision: Revision::of(new.bytes()) };
            made = self.apply(cx, now, rest.iter().map(|one| (one, None)))?;
            new = made.document.take().unwrap_or(new);
        }
        made.strategies.insert(0, Strategies::default());
        made.counts.insert(0, 1);
        self.planned(cx, Base::Absent, None, new, made)
    }

    fn splice(self: &Arc<Self>, cx: &CallContext, now: Snapshot) -> Result<PlannedEdit, ToolError> {
        let (revision, size) = (now.revision, now.bytes.len() as u64);
        cx.session.ledger.record_write(self.target.path(), revision, Some(&now.bytes), Writer::AnotherProgram);
        let old = Document::decode(now.bytes, None)
            .map_err(|error| self.label(read_before_write::not_text(&self.path, size, revision, &error)))?;
        let now = FileNow { path: &self.path, real: self.target.path(), document: &old, revision };
        let lines = lines::find(cx, now, &self.edits)?;
        let made = self.apply(cx, now, self.edits.iter().zip(lines.iter().map(Option::as_ref)));
        // An error names places by their lines.
        let mut made = made.inspect_err(|error| {
            let named = shown_diff::numbers(&error.text());
            cx.session.ledger.record_numbers(now.real, cx.by.as_ref(), Some(revision), named);
        })?;
        let new = made.document.take().unwrap_or_else(|| old.clone());
        let moved = lines.into_iter().filter_map(|lines| lines?.moved);
        made.notes = moved.chain(made.notes).collect();
        self.planned(cx, Base::Revision(revision), Some(old), new, made)
    }

    fn planned(
        self: &Arc<Self>,
        cx: &CallContext,
        base: Base,
        old: Option<Document>,
        new: Document,
        mut made: MadeEdits,
    ) -> Result<PlannedEdit, ToolError> {
        self.check_count(made.counts.iter().sum())?;
        cx.check()?;
        made.notes.extend(entry::copied_notes(&self.edits));
        let mut planned = PlannedEdit { edit: Arc::clone(self), base, old, new, made, cells: None };
        let of_file = planned.old.as_ref().filter(|_| planned.mixes_endings()).map(Document::line_ending);
        planned.made.notes.extend(of_file.and_then(|of_file| entry::other_ending(&self.edits, of_file)));
        planned.cells = planned.changed_cells();
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
    ) -> Result<MadeEdits, ToolError> {
        let mut all = MadeEdits::default();
        let (mut moved, mut before) = (MovedOffsets::default(), Vec::<&EditEntry>::new());
        for (one, lines) in entries {
            cx.check()?;
            let document = all.document.as_ref().unwrap_or(now.document);
            let places = match (lines, before.iter().find(|other| other.is_repeated_by(one))) {
                (_, Some(other)) => Err(other.repeated()),
                (Some(lines), None) => lines.places(one, now, document, (&before, &moved)),
                (None, None) => self.searched_places(cx, one, document),
            };
            let places = places.map_err(|error| {
                let error = self.met(cx, one, now.document, (&before, &moved), error);
                let error = one.label(error);
                let is_only = self.edits.len() == 1 || self.is_one_of_several;
                if is_only { error } else { error.hint("none of the edits was applied") }
            })?;
            let spans: Vec<_> = places.spans.iter().map(|(span, new)| (span.clone(), new.as_str())).collect();
            // Several edits can multiply one another; the file's own size is checked at the end. Text takes
            // at most twice the room of its bytes in any encoding.
            let grown = spans.iter().map(|(span, new)| new.len().saturating_sub(span.len())).sum::<usize>();
            let grown = (document.text().len() + grown) as u64;
            if grown > cx.settings.max_file_size.saturating_mul(2) {
                let limit = cx.settings.max_file_size;
                return Err(one.label(ToolError::would_grow(&self.path, grown, limit)));
            }
            if let EntryChange::Text(text) = &one.change
                && let Some(other) = made_by(&before, text).filter(|_| !one.in_glob && !spans.is_empty())
                && !now.document.text().contains(&text.old)
            {
                all.notes.push(format!("{} changes text that {other} of this call put in", one.place()));
            }
            moved.push(spans.iter().map(|(span, new)| (span.clone(), new.len())));
            before.push(one);
            let made = if spans.is_empty() { None } else { Some(one.splice(document, &spans, &self.path)?) };
            all.counts.push(places.replacements);
            all.strategies.push(places.strategy);
            all.within.add(&places.within);
            all.notes.extend(places.note);
            if let Some(made) = made {
                all.cells.push(places.cells);
                all.document = Some(made);
            }
        }
        Ok(all)
    }

    /// The error of an entry that names which one before it is in its way: it replaced the text, or put it in once more.
    fn met(
        &self,
        cx: &CallContext,
        one: &EditEntry,
        first: &Document,
        (before, moved): (&[&EditEntry], &MovedOffsets),
        error: ToolError,
    ) -> ToolError {
        let EntryChange::Text(text) = &one.change else { return error };
        if before.is_empty() || !matches!(error.kind(), Kind::NoMatch | Kind::Ambiguous) {
            return error;
        }
        let Ok(Places { spans, .. }) = self.searched_places(cx, one, first) else { return error };
        if let Some((span, other)) = spans.iter().find_map(|(span, _)| Some((span, moved.changed_by(span)?))) {
            let other = before[other].place();
            let sentence = format!(
                "{other} of this call replaces line {}: join both",
                first.text()[..span.start].matches('\n').count() + 1
            );
            return ToolError::new(error.kind(), format!("{}: {sentence}", self.path))
                .hint("make one entry of both: each entry is looked for in what those before it leave");
        }
        match made_by(before, text) {
            Some(other) => error.followed_by(&format!("; {other} of this call puts it in once more")),
            None => error,
        }
    }

    fn searched_places(&self, cx: &CallContext, one: &EditEntry, document: &Document) -> Result<Places, ToolError> {
        let EntryChange::Text(text) = &one.change else { return Ok(Places::default()) };
        if !text.old.is_empty() {
            // With a single edit its own count is checked, so that the error can list the places.
            let each = self.expected.filter(|_| self.edits.len() == 1);
            let find = || {
                let places = search::find(cx, &self.target, document, text, each)?;
                if one.copied.is_some() { entry::verbatim(places, &text.new) } else { Ok(places) }
            };
            if !one.in_glob {
                return find();
            }
            // Nobody claims that the text is in this file: where it is not, but for white space at the start and the end
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

/// The last of the entries `before` whose new text has the old one of `text`.
fn made_by<'e>(before: &[&'e EditEntry], text: &TextEdit) -> Option<&'e str> {
    let has_it = |other: &&&EditEntry| !text.old.is_empty() && other.change.new_text().contains(&text.old);
    before.iter().rev().find(has_it).map(|other| other.place())
}

impl PlannedEdit {
    /// How many bytes are there now, and how many will be.
    pub(super) fn sizes(&self) -> (u64, u64) {
        (self.old.as_ref().map_or(0, |old| old.bytes().len() as u64), self.bytes().len() as u64)
    }

    pub(super) fn replacements(&self) -> usize {
        self.made.counts.iter().sum()
    }

    pub(super) fn is_new(&self) -> bool {
        self.base == Base::Absent
    }

    pub(super) fn file_text(&self) -> &str {
        self.new.text()
    }

    pub(super) fn mixes_endings(&self) -> bool {
        let was = self.old.as_ref().map_or(LineEnding::None, Document::line_ending);
        ![LineEnding::Mixed, LineEnding::None].contains(&was) && self.new.line_ending() == LineEnding::Mixed
    }

    /// The path by which the change is fenced: that of an untrusted file whose text was copied, else of the file itself.
    pub(super) fn fenced_by(&self, cx: &CallContext) -> &WorkspacePath {
        let mut sources = self.edit.edits.iter().filter_map(|one| Some(&one.copied.as_ref()?.real));
        sources.find(|source| cx.workspace.is_untrusted(source)).unwrap_or_else(|| self.real())
    }

    pub(super) fn real(&self) -> &WorkspacePath {
        self.edit.target.path()
    }

    pub(super) fn breaks_notebook(&self) -> bool {
        let was = self.old.as_ref().is_some_and(|old| cells::notebook(self.real(), old).is_some());
        was && cells::notebook(self.real(), &self.new).is_none()
    }

    /// The cells that change, where each edit was made in cells and none in the JSON of a notebook.
    fn changed_cells(&self) -> Option<ChangedCells> {
        let (cells, real) = (&self.made.cells, self.real());
        let old = self.old.as_ref().filter(|_| !cells.iter().any(Vec::is_empty))?;
        let sources = cells::changed_sources(&cells::notebook(real, old)?, &cells::notebook(real, &self.new)?);
        Some(ChangedCells { numbers: cells.iter().flatten().copied().collect(), sources })
    }

    /// The change of the text; of a notebook that of the sources of cells, whose lines are counted in each.
    pub(super) fn diff(&self, extent: DiffExtent) -> Diff {
        let name = shown_diff::diff_name(&self.edit.path);
        let Some(cells) = &self.cells else {
            let old = self.old.as_ref().map_or("", Document::text);
            return text_edit::unified_diff(&name, old, self.file_text(), extent);
        };
        let (mut all, mut left) = (Diff::default(), extent);
        for (number, [old, new]) in &cells.sources {
            let one = text_edit::unified_diff(&format!("{name}:cell {number}"), old, new, left);
            all.added += one.added;
            all.removed += one.removed;
            all.cut_lines += one.cut_lines;
            // A notebook may have as many cells as bytes.
            if left != DiffExtent::Brief(0) && all.text.len() < MAX_CELLS_DIFF_BYTES {
                all.text.push_str(&one.text);
            }
            if let DiffExtent::Brief(most) = &mut left {
                *most = most.saturating_sub(one.text.lines().count());
            }
        }
        all
    }

    pub(super) fn full_diff(&self) -> String {
        self.diff(DiffExtent::Full).text
    }

    pub(super) fn change(&self) -> ChangeStep {
        ChangeStep::write(self.edit.target.clone(), self.base, self.bytes().to_vec(), Rights::default())
    }
}

impl Rewrite for PlannedEdit {
    fn base(&self) -> Base {
        self.base
    }

    fn old(&self) -> Option<&Document> {
        self.old.as_ref()
    }

    fn bytes(&self) -> &[u8] {
        self.new.bytes()
    }
}

impl Change for PlannedEdit {
    fn preview(&self) -> Preview {
        Preview {
            summary: format!("Edit {}: {}", self.edit.path, count(self.replacements(), "replacement")),
            diff: self.full_diff(),
            destructive: !self.is_new(),
        }
    }

    fn fingerprint(&self) -> Fingerprint {
        let content = Some(Revision::of(self.bytes()));
        Fingerprint { path: self.real().to_string(), base: self.base, content }
    }

    fn cost(&self) -> Cost {
        let (old, new) = self.sizes();
        Cost::of_file(&self.edit.target, self.is_new(), old, new)
    }

    fn commit(self: Box<Self>, cx: &CallContext, approval: Approval) -> Result<Answer, ToolError> {
        let edit = Arc::clone(&self.edit);
        // The file was as it had been seen when the call began. Whoever changed it since: what the edit replaces
        // still has to be in it, just once.
        let (planned, committed, kept) =
            commit::rewrite(cx, "edit", &edit.target, *self, approval, |_| edit.work_out_again(cx))?;
        let notes = kept.into_iter().chain(commit::other_names("this file", committed.other_names)).collect();
        Ok(planned.answer(cx, Some((committed.revision, notes))))
    }
}
