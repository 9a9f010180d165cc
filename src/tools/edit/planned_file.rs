//! One file of several with its edits worked out: its change on the disk, what it is and what it costs.

use crate::{
    session::{Cost, RootBytes},
    workspace::{Base, Revision},
};

use super::{
    super::{
        Fingerprint,
        with_history::{ChangeStep, NewState, Rewrite as _},
    },
    job::Job,
    planned::Planned,
};

/// See the module.
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
        let change = NewState::Content { base, bytes, mode: 0, like: None, verbatim: false };
        ChangeStep { target: self.job.target.clone(), change }
    }

    /// See [`Change::fingerprint`](super::super::Change::fingerprint).
    pub(super) fn fingerprint(&self) -> Fingerprint {
        Fingerprint {
            path: self.job.target.path().to_string(),
            base: self.planned.base,
            content: Some(Revision::of(self.planned.bytes())),
        }
    }

    /// See [`Change::cost`](super::super::Change::cost).
    pub(super) fn cost(&self) -> Cost {
        let root = self.job.target.path().root();
        let (old, new) = (self.planned.old_bytes(), self.planned.bytes().len() as u64);
        Cost {
            files: if self.is_new() { 1 + self.job.target.missing_above() } else { 0 },
            bytes: new,
            growth: RootBytes::of(root, new.saturating_sub(old)),
            freed: RootBytes::of(root, old.saturating_sub(new)),
        }
    }
}
