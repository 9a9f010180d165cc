//! Edits of several files that are worked out: shown to a person together, and made together or not at all.

use std::fmt::Write as _;

use confined_fs::Approval;
use text_edit::DiffExtent;

use crate::session::Cost;

use super::{
    super::{
        Answer, CallContext, Change, Fingerprint, Kind, Preview, ToolError,
        answer::count,
        commit::{self, ChangeStep, CommittedFiles, Undoable},
        shown_diff,
    },
    files_report::{FilesReport, replacements},
    planned_file::PlannedFile,
    total_size::TotalSize,
};

/// How often the files are planned again because another call or program has changed one of them.
const ATTEMPTS: usize = 8;

pub(super) struct PlannedFiles {
    pub(super) files: Vec<PlannedFile>,
    /// What there is to know of the searches for files.
    pub(super) notes: Vec<String>,
    /// How many replacements there must be.
    pub(super) expected: Option<usize>,
}

impl PlannedFiles {
    /// As planned before, on the files as they are now.
    fn work_out_again(self, cx: &CallContext) -> Result<Self, ToolError> {
        let mut size = TotalSize::default();
        let mut files = Vec::with_capacity(self.files.len());
        for PlannedFile { job, .. } in self.files {
            cx.check()?;
            let planned = job.work_out_again(cx)?;
            size.add(cx, &planned)?;
            files.push(PlannedFile { job, planned });
        }
        Self { files, ..self }.counted()
    }

    /// These, if they make as many replacements as were expected.
    ///
    /// # Errors
    /// Otherwise.
    pub(super) fn counted(self) -> Result<Self, ToolError> {
        let made: usize = self.files.iter().map(|file| file.planned.replacements).sum();
        let Some(expected) = self.expected.filter(|expected| *expected != made) else { return Ok(self) };
        let (made_words, files) = (count(made, "replacement"), count(self.files.len(), "file"));
        Err(ToolError::new(
            if made > expected { Kind::Ambiguous } else { Kind::NoMatch },
            format!("the edits make {made_words} in {files}, not the expected {expected}"),
        )
        .hint("nothing was changed; correct expected_replacements or the edits"))
    }

    /// The answer of a call that changes nothing.
    pub(super) fn dry_run(&self, cx: &CallContext) -> Answer {
        FilesReport { files: &self.files, notes: self.notes.clone(), written: None }.answer(cx)
    }

    /// Makes all edits, or none. If another call or program changed a file first, all are planned again.
    fn write(mut self, cx: &CallContext, mut approval: Approval) -> Result<(Self, CommittedFiles), ToolError> {
        let mut attempt = 1;
        loop {
            // A commit that finds another file has changed nothing, and the approval is still valid.
            let [own, rest] = approval.for_two_steps();
            approval = rest;
            let changes: Vec<ChangeStep> = self.files.iter().map(PlannedFile::change).collect();
            match commit::commit_files(cx, "edit", &changes, Undoable::Yes, own) {
                Ok(committed) => return Ok((self, committed)),
                Err(error) if error.kind() == Kind::Stale && approval.is_for_this_plan_only() => {
                    return Err(ToolError::changed_while_asked(self.fingerprint().path).source(error));
                }
                Err(error) if error.kind() == Kind::Stale && attempt < ATTEMPTS => {}
                Err(error) => return Err(error),
            }
            attempt += 1;
            cx.check()?;
            self = self.work_out_again(cx)?;
        }
    }
}

impl Change for PlannedFiles {
    fn preview(&self) -> Preview {
        let mut diff = String::new();
        // All names come first: a diff of many files is cut.
        for file in &self.files {
            let replaced =
                if file.is_new() { "new".to_owned() } else { count(file.planned.replacements, "replacement") };
            let _ = writeln!(diff, " {} | {replaced}", file.job.path);
        }
        for PlannedFile { job, planned } in &self.files {
            let name = shown_diff::diff_name(&job.path);
            diff.push('\n');
            diff.push_str(
                &text_edit::unified_diff(&name, planned.old_text(), planned.new_text(), DiffExtent::Full).text,
            );
        }
        let (files, replaced) = (count(self.files.len(), "file"), count(replacements(&self.files), "replacement"));
        let destructive = self.files.iter().any(|file| !file.is_new());
        Preview { summary: format!("Edit {files}: {replaced}"), diff, destructive }
    }

    fn fingerprint(&self) -> Fingerprint {
        let all: Vec<Fingerprint> = self.files.iter().map(PlannedFile::fingerprint).collect();
        Fingerprint::of_several(&all)
    }

    fn cost(&self) -> Cost {
        self.files.iter().map(PlannedFile::cost).sum()
    }

    fn commit(self: Box<Self>, cx: &CallContext, approval: Approval) -> Result<Answer, ToolError> {
        let (planned, committed) = self.write(cx, approval)?;
        let revisions = committed.files.into_iter().map(|(_, revision)| revision).collect();
        let notes = [planned.notes, committed.notes].concat();
        Ok(FilesReport { files: &planned.files, notes, written: Some(revisions) }.answer(cx))
    }
}
