//! The report on edits of several files: a line for each, and of the diffs as much as there is room for.

use std::{fmt::Write as _, time::Duration};

use serde::Serialize;
use text_edit::{Diff, TruncatedDiff};
use text_file::Document;

use confined_fs::{Base, Revision};

use super::{
    super::{
        Answer, AnswerBudget, CallContext, ReadBeforeWrite,
        answer::{count, noted},
        answer_budget::fair_share,
        commit::Rewrite as _,
        fence::fenced,
        fitted::fitted,
        introduced_problems::{ChangedText, IntroducedProblems},
        shown_diff::{self, ShownDiff},
    },
    output::{Facts, FileOutput, Output, Totals},
    planned_file::PlannedFile,
    within_words::WithinWords,
};

/// Files whose lines are shown where there is no room for all.
const FEW: usize = 10;
/// How long language servers may check all files together. What they have not said by then is left out.
const DIAGNOSTICS: Duration = Duration::from_secs(10);
/// Files that the note on cut diffs names.
const NAMED: usize = 5;

/// What is said of several files.
pub(super) struct FilesReport<'p> {
    pub(super) files: &'p [PlannedFile],
    /// What there is to know of the searches for files, and of the history.
    pub(super) notes: Vec<String>,
    /// The revision of each file once it is written; none for a dry run.
    pub(super) written: Option<Vec<Option<Revision>>>,
}

/// What is said of one file.
struct FileReport<'p> {
    file: &'p PlannedFile,
    /// The line without its notes.
    line: String,
    notes: Vec<String>,
    diff: Diff,
    revision: Revision,
    introduced: IntroducedProblems,
}

/// The numbers for programs.
#[derive(Serialize)]
struct FilesFacts {
    files: Vec<FileFacts>,
    #[serde(flatten)]
    totals: Totals,
}

#[derive(Serialize)]
struct FileFacts {
    path: String,
    #[serde(flatten)]
    facts: Facts,
}

impl FilesReport<'_> {
    fn is_dry_run(&self) -> bool {
        self.written.is_none()
    }

    /// The answer. A dry run counts as having seen the files whose diffs are shown whole.
    pub(super) fn answer(&self, cx: &CallContext) -> Answer {
        let stop = cx.stop.with_earlier_deadline(DIAGNOSTICS);
        let share = CallContext { budget: cx.budget.share(self.files.len()), stop, ..cx.clone() };
        let reports: Vec<FileReport<'_>> = self
            .files
            .iter()
            .enumerate()
            .map(|(index, file)| {
                let written = self.written.as_ref().and_then(|all| all.get(index).copied().flatten());
                FileReport::of(&share, file, written, self.is_dry_run())
            })
            .collect();
        let mut whole = Vec::new();
        let answer = fitted(cx, |room| {
            let (answer, shown_whole) = self.render(cx, &reports, room);
            whole = shown_whole;
            answer
        });
        if self.is_dry_run() {
            for PlannedFile { job, planned } in whole.into_iter().map(|index: usize| &self.files[index]) {
                if let (Base::Revision(revision), Some(old)) = (planned.base, &planned.old) {
                    cx.session.ledger.saw(job.target.path(), revision, Some(old.bytes()));
                }
            }
        }
        answer
    }

    /// The answer within `room`, and the files whose diffs are shown whole.
    fn render(&self, cx: &CallContext, reports: &[FileReport<'_>], room: AnswerBudget) -> (Answer, Vec<usize>) {
        let lines = |one: &FileReport<'_>| noted(one.line.clone(), &one.notes).len() + one.introduced.text.len() + 2;
        let around: usize = reports.iter().map(lines).sum();
        let sizes: Vec<usize> = reports.iter().map(|one| one.diff.text.len()).collect();
        let share = fair_share(&sizes, room.text_bytes().saturating_sub(around));
        let pieces: Vec<(String, FileOutput)> =
            reports.iter().map(|one| one.piece(cx, share, self.is_dry_run())).collect();
        let shown = if room.limit == 0 { FEW.min(pieces.len()) } else { pieces.len() };
        let mut body: Vec<&str> = pieces[..shown].iter().map(|(text, _)| text.as_str()).collect();
        let more = format!("… {}", count(pieces.len() - shown, "more file"));
        body.extend((shown < pieces.len()).then_some(more.as_str()));
        let reals = self.files.iter().map(|file| file.planned.fenced_by(cx, file.job.target.path()));
        let mut text = format!("{}\n\n{}", self.headline(), fenced(&cx.workspace, reals, body.join("\n\n")));
        for report in &reports[..shown] {
            text.push_str(&report.introduced.text);
        }
        let (whole, cut): (Vec<usize>, Vec<usize>) =
            (0..pieces.len()).partition(|index| *index < shown && pieces[*index].1.facts.diff_cut_lines == 0);
        let mut notes = self.notes.clone();
        notes.extend(self.within_words(cx));
        notes.extend(self.not_seen(cx, &cut));
        if !notes.is_empty() {
            let _ = write!(text, "\n\n{}", notes.join("\n"));
        }
        let files: Vec<FileOutput> = pieces.into_iter().map(|(_, output)| output).collect();
        let totals = Totals { total_replacements: replacements(self.files), general_notes: notes };
        let facts = files.iter().map(|file| FileFacts { path: file.path.clone(), facts: file.facts.clone() }).collect();
        let answer = Answer::text(text, &FilesFacts { files: facts, totals: totals.clone() }).data_of(cx, || Output {
            file: None,
            files: Some(files),
            totals: Some(totals),
        });
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

    /// How many places of all files were within longer words.
    fn within_words(&self, cx: &CallContext) -> Option<String> {
        let mut within = WithinWords::default();
        for PlannedFile { job, planned } in self.files {
            within.add(&planned.within, Some(&job.path.to_string()));
        }
        within.note(!self.files.iter().any(|file| cx.workspace.is_untrusted(file.job.target.path())))
    }

    /// The note on files that a dry run does not show whole and that were not seen otherwise.
    fn not_seen(&self, cx: &CallContext, cut: &[usize]) -> Option<String> {
        if !self.is_dry_run() || cx.settings.read_before_write != ReadBeforeWrite::Strict {
            return None;
        }
        let is_seen = |file: &PlannedFile| match file.planned.base {
            Base::Absent => true,
            Base::Revision(revision) => {
                cx.session.ledger.seen(file.job.target.path()).is_some_and(|seen| seen.revision == revision)
            }
        };
        let files: Vec<&PlannedFile> =
            cut.iter().map(|index| &self.files[*index]).filter(|file| !is_seen(file)).collect();
        let names: Vec<String> = files.iter().take(NAMED).map(|file| file.job.path.to_string()).collect();
        let is_untrusted = files.iter().any(|file| cx.workspace.is_untrusted(file.job.target.path()));
        let which = match files.len() {
            0 => return None,
            several if is_untrusted => count(several, "file"),
            several if several > NAMED => format!("{} and {} more", names.join(", "), several - NAMED),
            _ => names.join(", "),
        };
        Some(format!(
            "(not counted as read, because the diff is cut: {which}; read it, or grep for old_string with literal=true)"
        ))
    }
}

/// Replacements in files that were there.
pub(super) fn replacements(files: &[PlannedFile]) -> usize {
    files.iter().filter(|file| !file.is_new()).map(|file| file.planned.replacements).sum()
}

impl<'p> FileReport<'p> {
    /// `written`: the revision of the file once it is written.
    fn of(cx: &CallContext, file: &'p PlannedFile, written: Option<Revision>, dry_run: bool) -> Self {
        let PlannedFile { job, planned } = file;
        let (path, real) = (&job.path, job.target.path());
        let old = planned.old.as_ref().map(Document::text);
        let introduced = if dry_run {
            IntroducedProblems::default()
        } else {
            IntroducedProblems::by(cx, &ChangedText { path, real, old, new: planned.file_text() })
        };
        let revision = written.unwrap_or_else(|| Revision::of(planned.shown_bytes()));
        let done = match planned.base {
            Base::Absent => format!("created, {}", count(planned.bytes().len(), "byte")),
            Base::Revision(_) => count(planned.replacements, "replacement"),
        };
        let rev = if dry_run { String::new() } else { format!(", rev {}", revision.short()) };
        let name = shown_diff::diff_name(path);
        let diff = text_edit::unified_diff(&name, planned.old_text(), planned.new_text(), shown_diff::BRIEF);
        let notes = planned.notes(real, |index| job.edits[index].place().to_owned());
        let line = format!("{path}: {done}{rev}");
        Self { file, line, notes, diff, revision, introduced }
    }

    /// The line and as much of the diff as fits into `room` bytes.
    fn piece(&self, cx: &CallContext, room: usize, dry_run: bool) -> (String, FileOutput) {
        let PlannedFile { job, planned } = self.file;
        let shown = ShownDiff::within(cx, job.target.path(), &self.diff.text, self.diff.cut_lines, room);
        let mut facts = planned.facts((&self.diff, shown.cut_lines), self.revision, dry_run);
        facts.problems.clone_from(&self.introduced.problems);
        let mut notes = self.notes.clone();
        let mut text = noted(self.line.clone(), &notes);
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
        (text, FileOutput { path: job.path.to_string(), diff: diff.text, notes, facts })
    }
}
