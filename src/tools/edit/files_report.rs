//! The report on edits of several files: a line for each, and of the diffs as much as there is room for.

use std::fmt::Write as _;

use serde::Serialize;

use crate::{
    edit::{self, Diff, TruncatedDiff},
    text::Document,
    workspace::{Base, Revision},
};

use super::{
    super::{
        Answer, AnswerBudget, CallContext, ReadBeforeWrite,
        answer::{count, noted},
        answer_budget::fair_share,
        fence::fenced,
        fitted::fitted,
        introduced_problems::{ChangedText, IntroducedProblems},
        shown_diff::{self, ShownDiff},
        with_history::Rewrite as _,
    },
    files::{PlannedFile, PlannedFiles},
    output::{Facts, FileOutput, Output, Totals},
};

/// Files whose lines are shown where there is no room for all.
const FEW: usize = 10;
/// Files that the note on cut diffs names.
const NAMED: usize = 5;

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

impl PlannedFiles {
    /// The answer. `made`: the revision of each file now, and what there is to say of all; none for a dry run.
    ///
    /// A dry run counts as having seen the files whose diffs are shown whole.
    pub(super) fn answer(&self, cx: &CallContext, made: Option<(Vec<Option<Revision>>, Vec<String>)>) -> Answer {
        let dry_run = made.is_none();
        let (revisions, mut notes) = made.unwrap_or_default();
        notes.splice(0..0, self.notes.iter().cloned());
        let share = CallContext { budget: cx.budget.share(self.files.len()), ..cx.clone() };
        let reports: Vec<FileReport<'_>> = self
            .files
            .iter()
            .enumerate()
            .map(|(index, file)| FileReport::of(&share, file, revisions.get(index).copied().flatten(), dry_run))
            .collect();
        let mut whole = Vec::new();
        let answer = fitted(cx, |room| {
            let (answer, shown_whole) = render(cx, &reports, &notes, dry_run, room);
            whole = shown_whole;
            answer
        });
        if dry_run {
            for file in whole.into_iter().map(|index: usize| &self.files[index]) {
                if let (Base::Revision(revision), Some(old)) = (file.planned.base, &file.planned.old) {
                    cx.session.ledger.saw(file.job.target.path(), revision, Some(old.bytes()));
                }
            }
        }
        answer
    }

    /// `Edited 3 files: 5 replacements`.
    fn headline(&self, dry_run: bool) -> String {
        headline(&self.files, dry_run)
    }

    /// What a person is shown: the files, then all their diffs.
    pub(super) fn preview_diff(&self) -> String {
        let mut text = String::new();
        for PlannedFile { job, planned } in &self.files {
            let what = if planned.base == Base::Absent { "new".to_owned() } else { count(planned.replacements, "replacement") };
            let _ = writeln!(text, " {} | {what}", job.path);
        }
        for PlannedFile { job, planned } in &self.files {
            let name = shown_diff::diff_name(&job.path);
            let diff = edit::unified_diff(&name, planned.old_text(), planned.new_text(), edit::DiffExtent::Full);
            text.push('\n');
            text.push_str(&diff.text);
        }
        text
    }
}
