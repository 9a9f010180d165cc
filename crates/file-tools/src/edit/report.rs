//! The answer to edits that were made, or would be: on one file, or a line for each of several and of the diffs as much as
//! there is room for. And the same as data.

use std::{fmt::Write as _, time::Duration};

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use text_edit::{Diff, Strategy, TruncatedDiff, changed_lines};
use text_file::{Document, LineEnding};

use change_set::Base;
use confined_fs::Revision;

use crate::session::Shown;

use super::{
    super::{
        Answer, AnswerBudget, CallContext, ReadBeforeWrite,
        answer::{count, fitted, noted},
        answer_budget::fair_share,
        commit::Rewrite as _,
        fence::fenced,
        introduced_problems::{ChangedText, IntroducedProblems, Problem},
        match_words::{endings, kept, other_encoding},
        shown_diff::{self, ShownDiff, hunk_lines},
    },
    cells,
    file_edit::PlannedEdit,
};

/// The complete result as data: of one file, or of each of several.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub(crate) struct Output {
    #[serde(flatten)]
    pub(super) file: Option<FileOutput>,
    /// One for each file, where the entries of `edits` name several or a glob does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) files: Option<Vec<FileOutput>>,
    #[serde(flatten)]
    pub(super) totals: Option<Totals>,
}

/// One file.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(super) struct FileOutput {
    /// The file, as paths are printed.
    pub(super) path: String,
    /// Unified diff of the file's change, cut to 60 lines; a long line is cut to what changed in it.
    pub(super) diff: String,
    /// Notes on it.
    pub(super) notes: Vec<String>,
    /// Replacements made.
    pub(super) replacements: usize,
    /// How each edit was matched, in order; exact unless it had to be more tolerant.
    pub(super) strategies: Vec<String>,
    /// Lines added.
    pub(super) added: usize,
    /// Lines removed.
    pub(super) removed: usize,
    /// Lines of the diff that are not shown.
    pub(super) diff_cut_lines: usize,
    /// Revision of the file now (or as it would be, for a dry run).
    pub(super) revision: String,
    /// Whether the file was created.
    pub(super) created: bool,
    /// Whether nothing was written.
    pub(super) dry_run: bool,
    /// Problems that the change has introduced, such as syntax errors.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) problems: Vec<Problem>,
}

/// Sentences about several files together.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(super) struct Totals {
    /// Replacements in all files.
    pub(super) total_replacements: usize,
    /// Files that the search of a glob left out, and contents that are not in the history.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) general_notes: Vec<String>,
}

/// Files whose lines are shown where there is no room for all.
const MAX_FILES_WITH_LINES: usize = 10;
/// How long language servers may check all files together. What they have not reported by then is left out.
const DIAGNOSTICS_TIME: Duration = Duration::from_secs(10);
const NAMED_FILES: usize = 5;

impl PlannedEdit {
    /// The answer, with as much of the diff as fits. `made`: the revision of an edit that was made and
    /// what there is to say about it; none for a dry run.
    pub(super) fn answer(self, cx: &CallContext, made: Option<(Revision, Vec<String>)>) -> Answer {
        let real = self.real();
        let (revision, kept) = made.unzip();
        let report = FileReport::of(cx, &self, revision, revision.is_none(), |index| format!("edits[{index}]"));
        let cx = &report.introduced.leave_room(cx);
        let diff = &report.diff;
        let shown = ShownDiff::of(cx, self.fenced_by(cx), &diff.text, diff.cut_lines);
        cx.session.ledger.record_numbers(real, cx.by.as_ref(), None, hunk_lines(&shown.text));
        let mut notes = report.notes.clone();
        notes.extend(kept.unwrap_or_default());
        let done = match (report.is_dry_run, self.is_new()) {
            (true, _) => "Dry run, nothing was written",
            (false, true) => "Created",
            (false, false) => "Edited",
        };
        let mut text = noted(format!("{done}: {}{}", self.amount(), report.rev()), &notes);
        let _ = write!(text, "\n\n{}{}", shown.block, report.introduced.text);
        notes.extend(shown.hidden);
        let file = report.output(shown.text, shown.cut_lines, notes);
        Answer::of(cx, text, &Output { file: Some(file), ..Output::default() }, &["path", "diff", "notes"])
    }

    /// The bytes of a new file, else the replacements.
    fn amount(&self) -> String {
        if self.is_new() { count(self.bytes().len(), "byte") } else { count(self.replacements(), "replacement") }
    }

    fn notes(&self, name: impl Fn(usize) -> String) -> Vec<String> {
        let found = self.made.strategies.iter().enumerate();
        let assumed = found.filter_map(|(index, strategies)| {
            let which = if self.made.strategies.len() == 1 { String::new() } else { name(index) + " " };
            Some(format!("{which}not exactly as given: {}", kept(*strategies)?))
        });
        let mut notes: Vec<String> = assumed.collect();
        notes.extend(self.made.notes.iter().cloned());
        notes.extend(self.given_layout());
        if let Some(cells) = &self.cells {
            let numbers: Vec<usize> = cells.numbers.iter().copied().collect();
            notes.insert(0, format!("in {}", cells::cells(&numbers)));
        } else if self.breaks_notebook() {
            notes.push("its JSON is no longer that of a notebook".to_owned());
        }
        notes
    }

    /// Line endings and encoding of the file, which the new text was given, where they are not the usual ones or the
    /// request has others.
    fn given_layout(&self) -> Option<String> {
        // Text that is put into the JSON of a notebook has no line endings.
        let file = self.old.as_ref().filter(|file| !file.text().is_empty() && self.cells.is_none())?;
        let has_others = self.made.strategies.iter().any(|strategies| strategies.has(Strategy::LineEndings));
        let ending = match file.line_ending() {
            _ if self.mixes_endings() => None,
            LineEnding::Lf | LineEnding::None if !has_others => None,
            ending => Some(endings(ending)),
        };
        let parts: Vec<&str> = ending.into_iter().chain(other_encoding(file)).collect();
        (!parts.is_empty()).then(|| format!("{} kept", parts.join(" and ")))
    }
}

pub(super) struct FilesReport<'p> {
    pub(super) files: &'p [PlannedEdit],
    pub(super) notes: Vec<String>,
    /// The revision of each file once it is written; none for a dry run.
    pub(super) written: Option<Vec<Option<Revision>>>,
}

struct FileReport<'p> {
    file: &'p PlannedEdit,
    notes: Vec<String>,
    diff: Diff,
    revision: Revision,
    introduced: IntroducedProblems,
    is_dry_run: bool,
}

impl<'p> FilesReport<'p> {
    fn is_dry_run(&self) -> bool {
        self.written.is_none()
    }

    /// The answer. A dry run counts as having seen the files whose diffs are shown whole.
    pub(super) fn answer(&self, cx: &CallContext) -> Answer {
        let stop = cx.stop.with_earlier_deadline(DIAGNOSTICS_TIME);
        let share = CallContext { budget: cx.budget.share(self.files.len()), stop, ..cx.clone() };
        let report = |(index, file): (usize, &'p PlannedEdit)| {
            let written = self.written.as_ref().and_then(|all| all.get(index).copied().flatten());
            let name = |index: usize| file.edit.edits[index].place().to_owned();
            FileReport::of(&share, file, written, self.is_dry_run(), name)
        };
        let reports: Vec<FileReport<'_>> = self.files.iter().enumerate().map(report).collect();
        let mut whole = Vec::new();
        let answer = fitted(cx, |room| {
            let (answer, shown_whole) = self.render(cx, &reports, room);
            whole = shown_whole;
            answer
        });
        if self.is_dry_run() {
            for file in whole.into_iter().map(|index: usize| &self.files[index]) {
                if let (Base::Revision(revision), Some(old)) = (file.base, &file.old) {
                    let shown: Vec<_> =
                        changed_lines(old.text(), file.file_text()).into_iter().map(|[was, _]| was).collect();
                    let (bytes, shown) = (Some(old.bytes()), Shown::Lines(&shown));
                    cx.session.ledger.record_read(file.real(), revision, bytes, cx.by.as_ref(), shown);
                }
            }
        }
        answer
    }

    fn render(&self, cx: &CallContext, reports: &[FileReport<'_>], room: AnswerBudget) -> (Answer, Vec<usize>) {
        let lines = |one: &FileReport<'_>| noted(one.line(), &one.notes).len() + one.introduced.text.len() + 2;
        let around: usize = reports.iter().map(lines).sum();
        let sizes: Vec<usize> = reports.iter().map(|one| one.diff.text.len()).collect();
        let share = fair_share(&sizes, room.text_bytes().saturating_sub(around));
        let pieces: Vec<(String, FileOutput)> = reports.iter().map(|one| one.piece(cx, share)).collect();
        let shown = if room.limit == 0 { MAX_FILES_WITH_LINES.min(pieces.len()) } else { pieces.len() };
        let mut body: Vec<&str> = pieces[..shown].iter().map(|(text, _)| text.as_str()).collect();
        let more = format!("… {}", count(pieces.len() - shown, "more file"));
        body.extend((shown < pieces.len()).then_some(more.as_str()));
        let reals = self.files.iter().map(|file| file.fenced_by(cx));
        let mut text = format!("{}\n\n{}", self.headline(), fenced(&cx.workspace, reals, body.join("\n\n")));
        for report in &reports[..shown] {
            text.push_str(&report.introduced.text);
        }
        let (whole, cut): (Vec<usize>, Vec<usize>) =
            (0..pieces.len()).partition(|index| *index < shown && pieces[*index].1.diff_cut_lines == 0);
        let mut notes = self.notes.clone();
        notes.extend(self.not_seen(cx, &cut));
        if !notes.is_empty() {
            let _ = write!(text, "\n\n{}", notes.join("\n"));
        }
        let files: Vec<FileOutput> = pieces.into_iter().map(|(_, output)| output).collect();
        let totals = Totals { total_replacements: replacements(self.files), general_notes: notes };
        let output = Output { file: None, files: Some(files), totals: Some(totals) };
        let mut answer = Answer::of(cx, text, &output, &[]);
        let files = answer.facts.get_mut("files").and_then(Value::as_array_mut);
        for file in files.into_iter().flatten().filter_map(Value::as_object_mut) {
            file.retain(|name, _| name != "diff" && name != "notes");
        }
        (answer, whole)
    }

    /// `Edited 3 files: 5 replacements`.
    fn headline(&self) -> String {
        let total = self.files.len();
        let created = self.files.iter().filter(|file| file.is_new()).count();
        let (edited, replacements) = (total - created, count(replacements(self.files), "replacement"));
        match (self.is_dry_run(), edited, created) {
            (true, ..) => format!("Dry run, nothing was written: {}, {replacements}", count(total, "file")),
            (false, 0, _) => format!("Created {}", count(created, "file")),
            (false, _, 0) => format!("Edited {}: {replacements}", count(edited, "file")),
            (false, ..) => format!("Edited {} and created {created}: {replacements}", count(edited, "file")),
        }
    }

    /// The note on files that a dry run does not show whole and that were not seen otherwise.
    fn not_seen(&self, cx: &CallContext, cut: &[usize]) -> Option<String> {
        if !self.is_dry_run() || cx.settings.read_before_write != ReadBeforeWrite::Strict {
            return None;
        }
        let seen = |file: &PlannedEdit| cx.session.ledger.seen(file.real());
        let is_unseen = |file: &&PlannedEdit| match file.base {
            Base::Absent => false,
            Base::Revision(revision) => seen(file).is_none_or(|seen| seen.revision != revision),
        };
        let files: Vec<&PlannedEdit> = cut.iter().map(|index| &self.files[*index]).filter(is_unseen).collect();
        let names: Vec<String> = files.iter().take(NAMED_FILES).map(|file| file.edit.path.to_string()).collect();
        let is_untrusted = files.iter().any(|file| cx.workspace.is_untrusted(file.real()));
        let which = match files.len() {
            0 => return None,
            several if is_untrusted => count(several, "file"),
            several if several > NAMED_FILES => format!("{} and {} more", names.join(", "), several - NAMED_FILES),
            _ => names.join(", "),
        };
        Some(format!(
            "(not counted as read, because the diff is cut: {which}; read it, or grep for old_string with literal=true)"
        ))
    }
}

pub(super) fn replacements(files: &[PlannedEdit]) -> usize {
    files.iter().filter(|file| !file.is_new()).map(PlannedEdit::replacements).sum()
}

impl<'p> FileReport<'p> {
    /// `written`: the revision of the file once it is written. Entries are called by `name` in notes.
    fn of(
        cx: &CallContext,
        file: &'p PlannedEdit,
        written: Option<Revision>,
        is_dry_run: bool,
        name: impl Fn(usize) -> String,
    ) -> Self {
        let (path, real) = (&file.edit.path, file.real());
        let change = ChangedText { path, real, old: file.old.as_ref().map(Document::text), new: file.file_text() };
        let introduced = if is_dry_run { IntroducedProblems::default() } else { IntroducedProblems::by(cx, &change) };
        let revision = written.unwrap_or_else(|| Revision::of(file.bytes()));
        let diff = file.diff(shown_diff::BRIEF_EXTENT);
        let mut notes = file.notes(name);
        notes.extend(file.made.within.notes(!cx.workspace.is_untrusted(real)));
        Self { file, notes, diff, revision, introduced, is_dry_run }
    }

    fn rev(&self) -> String {
        if self.is_dry_run { String::new() } else { format!(", rev {}", self.revision.short()) }
    }

    fn line(&self) -> String {
        let created = if self.file.is_new() { "created, " } else { "" };
        format!("{}: {created}{}{}", self.file.edit.path, self.file.amount(), self.rev())
    }

    fn output(&self, diff: String, cut_lines: usize, notes: Vec<String>) -> FileOutput {
        let planned = self.file;
        FileOutput {
            path: planned.edit.path.to_string(),
            diff,
            notes,
            replacements: planned.replacements(),
            strategies: planned.made.strategies.iter().map(ToString::to_string).collect(),
            added: self.diff.added,
            removed: self.diff.removed,
            diff_cut_lines: cut_lines,
            revision: self.revision.to_string(),
            created: planned.is_new(),
            dry_run: self.is_dry_run,
            problems: self.introduced.problems.clone(),
        }
    }

    /// The line and as much of the diff as fits into `room` bytes.
    fn piece(&self, cx: &CallContext, room: usize) -> (String, FileOutput) {
        let shown = ShownDiff::within(cx, self.file.real(), &self.diff.text, self.diff.cut_lines, room);
        let mut notes = self.notes.clone();
        let mut text = noted(self.line(), &notes);
        let diff = TruncatedDiff { text: shown.text, cut_lines: shown.cut_lines };
        // What is fenced is fenced with all of the others.
        let lines = diff.with_note();
        if !lines.is_empty() {
            let _ = write!(text, "\n{}", lines.trim_start_matches('\n'));
        }
        if let Some(hidden) = &shown.hidden {
            let _ = write!(text, "\n{hidden}");
        }
        notes.extend(shown.hidden);
        (text, self.output(diff.text, diff.cut_lines, notes))
    }
}
