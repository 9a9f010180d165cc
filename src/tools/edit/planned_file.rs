//! A file with its edits worked out, alone or one of several: its change on the disk, what it is and what it costs.

use confined_fs::{Approval, Base, Revision};
use text_edit::DiffExtent;

use crate::session::{Cost, RootBytes};

use super::{
    super::{
        Answer, CallContext, Change, Fingerprint, Preview, ToolError,
        answer::count,
        commit::{self, ChangeStep, NewState, Rewrite as _},
        shown_diff,
    },
    job::Job,
    planned::Planned,
};

pub(super) struct PlannedFile {
    pub(super) job: Job,
    pub(super) planned: Planned,
}

impl PlannedFile {
    /// Whether the file does not exist yet.
    pub(super) fn is_new(&self) -> bool {
        self.planned.base == Base::Absent
    }

    /// Its change on the disk.
    pub(super) fn change(&self) -> ChangeStep {
        let (base, bytes) = (self.planned.base, self.planned.bytes().to_vec());
        let change = NewState::Content { base, bytes, mode: 0, like: None, former: None };
        ChangeStep { target: self.job.target.clone(), change }
    }
}

impl Change for PlannedFile {
    fn preview(&self) -> Preview {
        let diff = text_edit::unified_diff(
            &shown_diff::diff_name(&self.job.path),
            self.planned.old_text(),
            self.planned.new_text(),
            DiffExtent::Full,
        );
        Preview {
            summary: format!("Edit {}: {}", self.job.path, count(self.planned.replacements, "replacement")),
            diff: diff.text,
            destructive: self.planned.base != Base::Absent,
        }
    }

    fn fingerprint(&self) -> Fingerprint {
        Fingerprint {
            path: self.job.target.path().to_string(),
            base: self.planned.base,
            content: Some(Revision::of(self.planned.bytes())),
        }
    }

    fn cost(&self) -> Cost {
        let root = self.job.target.path().root();
        let (old, new) = (self.planned.old_bytes(), self.planned.bytes().len() as u64);
        Cost {
            files: if self.is_new() { 1 + self.job.target.missing_above() } else { 0 },
            bytes: new,
            growth: RootBytes::of(root, new.saturating_sub(old)),
            freed: RootBytes::of(root, old.saturating_sub(new)),
        }
    }

    fn commit(self: Box<Self>, cx: &CallContext, approval: Approval) -> Result<Answer, ToolError> {
        let Self { job, planned } = *self;
        // The file was as it had been seen when the call began. Whoever changed it since: what the edit replaces
        // still has to be in it, just once.
        let (planned, committed, kept) =
            commit::rewrite(cx, "edit", &job.target, planned, approval, |_| job.work_out_again(cx))?;
        Ok(planned.answer(cx, &job.path, job.target.path(), Some((committed.revision, kept))))
    }
}
