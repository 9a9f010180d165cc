//! What a call changed: for each file its revision before and after, which `rootbound history` and `read` show too.

use std::sync::{Mutex, PoisonError};

use serde_json::{Value, json};

use confined_fs::{Revision, WorkspacePath};

/// Entries that a line lists, and bytes of their paths.
const LISTED: usize = 100;
const PATH_BYTES: usize = 32 << 10;

/// What a file held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordedContent {
    /// There was no file, or there is none now.
    Nothing,
    /// This content.
    Content(Revision),
    /// A content that nobody had a reason to read.
    Unknown,
}

impl RecordedContent {
    fn value(self) -> Value {
        match self {
            Self::Nothing => Value::Null,
            Self::Content(revision) => revision.to_string().into(),
            Self::Unknown => "unknown".into(),
        }
    }
}

impl From<Option<Revision>> for RecordedContent {
    fn from(revision: Option<Revision>) -> Self {
        revision.map_or(Self::Nothing, Self::Content)
    }
}

/// The changes of one call, as they are made.
#[derive(Debug, Default)]
pub struct ChangeLog(Mutex<LoggedChanges>);

#[derive(Debug, Default)]
struct LoggedChanges {
    listed: Vec<Value>,
    path_bytes: usize,
    more: usize,
}

impl ChangeLog {
    /// A file held `before` and holds `after`.
    pub fn file(&self, path: &WorkspacePath, before: impl Into<RecordedContent>, after: impl Into<RecordedContent>) {
        let (before, after) = (before.into().value(), after.into().value());
        self.push(path, |path| json!({ "path": path, "before": before, "after": after }));
    }

    /// A directory or a link was made or removed.
    pub fn other(&self, path: &WorkspacePath, kind: &'static str) {
        self.push(path, |path| json!({ "path": path, "kind": kind, "before": null, "after": null }));
    }

    /// Whether further changes are only counted.
    pub fn is_full(&self) -> bool {
        self.changes().is_full()
    }

    /// The changes for a line, with how many are left out; empty when nothing was changed.
    pub(super) fn take(&self) -> Vec<Value> {
        let mut changes = std::mem::take(&mut *self.changes());
        if changes.more > 0 {
            changes.listed.push(json!({ "more": changes.more }));
        }
        changes.listed
    }

    fn push(&self, path: &WorkspacePath, entry: impl FnOnce(String) -> Value) {
        let mut changes = self.changes();
        if changes.is_full() {
            changes.more += 1;
            return;
        }
        let path = path.to_string();
        changes.path_bytes += path.len();
        changes.listed.push(entry(path));
    }

    fn changes(&self) -> std::sync::MutexGuard<'_, LoggedChanges> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl LoggedChanges {
    fn is_full(&self) -> bool {
        self.listed.len() >= LISTED || self.path_bytes >= PATH_BYTES
    }
}
