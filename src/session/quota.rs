//! What one session may spend: files made, bytes written, and bytes in all beneath a root.
//!
//! A change says what it will cost before it is made; what was not made after all is given back.

use std::{
    collections::HashMap,
    ops::ControlFlow,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use crate::workspace::{FileKind, Ignored, Root, WalkOptions, Workspace};

/// Entries of a root that are counted; what is beyond is not known, and so not held against a write.
const COUNTED: usize = 500_000;
/// How long a count of a root is valid; changes of this session are added to it meanwhile.
const VALID_FOR: Duration = Duration::from_secs(60);
/// How long counting may take.
const COUNTING: Duration = Duration::from_secs(5);

/// The bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QuotaLimits {
    /// Files that one session may make.
    pub files: u64,
    /// Bytes that one session may write.
    pub bytes: u64,
    /// Bytes that the files beneath a root may have in all for a write to go ahead; none for no bound.
    pub root_bytes: Option<u64>,
}

impl Default for QuotaLimits {
    fn default() -> Self {
        Self { files: 10_000, bytes: 1 << 30, root_bytes: None }
    }
}

/// What a change would cost.
#[derive(Clone, Debug, Default)]
pub struct Cost {
    /// The root it falls on; none when it costs nothing.
    pub root: Option<Arc<Root>>,
    /// Files and directories that would be made.
    pub files: u64,
    /// Bytes that would be written.
    pub bytes: u64,
    /// Bytes that would be there more than before.
    pub growth: u64,
    /// Bytes that would be there less than before, and in which root.
    pub freed: Option<(Arc<Root>, u64)>,
}

/// Which bound a change would pass.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum QuotaError {
    /// Files made by this session.
    #[error("this call would exceed the session's limit of {limit} new files and directories")]
    Files {
        /// The bound.
        limit: u64,
    },
    /// Bytes written by this session.
    #[error("{left} of the {limit} bytes that this session may write are left; this call needs more")]
    Bytes {
        /// Bytes that are left.
        left: u64,
        /// The bound.
        limit: u64,
    },
    /// Bytes beneath a root.
    #[error("{root} has {holds} bytes; this call would exceed its limit of {limit}")]
    Root {
        /// The root as it is printed.
        root: String,
        /// Bytes there now.
        holds: u64,
        /// The bound.
        limit: u64,
    },
}

/// The accounts of one session.
#[derive(Debug, Default)]
pub struct Quota {
    limits: QuotaLimits,
    spent: Mutex<Spent>,
}

#[derive(Debug, Default)]
struct Spent {
    files: u64,
    bytes: u64,
    /// By the root's key: bytes counted, and when.
    roots: HashMap<String, (u64, Instant)>,
}

impl Quota {
    /// Accounts within these bounds.
    pub fn new(limits: QuotaLimits) -> Self {
        Self { limits, spent: Mutex::default() }
    }

    /// Takes what a change costs off what is left, all of it or nothing.
    pub fn spend(&self, workspace: &Workspace, cost: &Cost) -> Result<(), QuotaError> {
        let counted = match (self.limits.root_bytes, &cost.root) {
            (Some(limit), Some(root)) if cost.growth > 0 => Some((root, self.count(workspace, root), limit)),
            _ => None,
        };
        let mut spent = self.spent();
        let files = spent.files.saturating_add(cost.files);
        if cost.files > 0 && files > self.limits.files {
            return Err(QuotaError::Files { limit: self.limits.files });
        }
        let bytes = spent.bytes.saturating_add(cost.bytes);
        if cost.bytes > 0 && bytes > self.limits.bytes {
            return Err(QuotaError::Bytes { left: self.limits.bytes - spent.bytes, limit: self.limits.bytes });
        }
        if let Some((root, counted, limit)) = counted {
            // Another call may have counted or spent since.
            let holds = &mut spent.roots.entry(root.key().to_owned()).or_insert(counted).0;
            if holds.saturating_add(cost.growth) > limit {
                return Err(QuotaError::Root { root: root.public(), holds: *holds, limit });
            }
            *holds += cost.growth;
        }
        (spent.files, spent.bytes) = (files, bytes);
        Ok(())
    }

    /// Gives back what a change that was not made had taken.
    pub fn refund(&self, cost: &Cost) {
        let mut spent = self.spent();
        spent.files = spent.files.saturating_sub(cost.files);
        spent.bytes = spent.bytes.saturating_sub(cost.bytes);
        if let Some((holds, _)) = cost.root.as_ref().and_then(|root| spent.roots.get_mut(root.key())) {
            *holds = holds.saturating_sub(cost.growth);
        }
    }

    /// Takes what a change that was made has freed off what its root is known to hold, so that it can be
    /// reverted before the root is counted again.
    pub fn free(&self, cost: &Cost) {
        let Some((root, bytes)) = &cost.freed else { return };
        let mut spent = self.spent();
        if let Some((holds, _)) = spent.roots.get_mut(root.key()) {
            *holds = holds.saturating_sub(*bytes);
        }
    }

    fn spent(&self) -> MutexGuard<'_, Spent> {
        self.spent.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What a root holds: a count that is still valid, or a new one.
    fn count(&self, workspace: &Workspace, root: &Arc<Root>) -> (u64, Instant) {
        {
            let mut spent = self.spent();
            match spent.roots.get(root.key()) {
                Some(known) if known.1.elapsed() < VALID_FOR => return *known,
                _ => drop(spent.roots.remove(root.key())),
            }
        }
        // Without the lock: other calls may spend while this one counts.
        // Directories are visited for the limits alone: a tree may have few files.
        let options = WalkOptions { ignored: Ignored::Include, max_depth: None, directories: true, symlinks: false };
        let (started, mut entries, mut bytes) = (Instant::now(), 0, 0_u64);
        let _ = workspace.walk(&workspace.root_path(root), &options, &mut |entry| {
            entries += 1;
            if entry.kind() == FileKind::File {
                bytes = bytes.saturating_add(entry.stat().map_or(0, |stat| stat.size));
            }
            if entries < COUNTED && started.elapsed() < COUNTING {
                ControlFlow::Continue(())
            } else {
                ControlFlow::Break(())
            }
        });
        (bytes, Instant::now())
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::disallowed_methods, reason = "the tests prepare real files")]

    use super::*;
    use crate::workspace::Access;

    fn workspace(size: usize) -> (tempfile::TempDir, Workspace) {
        let temp = tempfile::tempdir().unwrap();
        std::fs::write(temp.path().join("a"), vec![0; size]).unwrap();
        let workspace = Workspace::of_directory(temp.path(), Access::ReadWrite);
        (temp, workspace)
    }

    fn cost(workspace: &Workspace, files: u64, bytes: u64) -> Cost {
        Cost { root: Some(Arc::clone(&workspace.roots()[0])), files, bytes, growth: bytes, freed: None }
    }

    #[test]
    fn quota_is_spent_and_refunded() {
        let (_temp, workspace) = workspace(0);
        let quota = Quota::new(QuotaLimits { files: 2, bytes: 10, root_bytes: None });
        let one = cost(&workspace, 1, 6);
        assert_eq!(quota.spend(&workspace, &one), Ok(()));
        assert_eq!(quota.spend(&workspace, &one), Err(QuotaError::Bytes { left: 4, limit: 10 }));
        quota.refund(&one);
        assert_eq!(quota.spend(&workspace, &one), Ok(()));
        assert_eq!(quota.spend(&workspace, &cost(&workspace, 1, 0)), Ok(()));
        assert_eq!(quota.spend(&workspace, &cost(&workspace, 1, 0)), Err(QuotaError::Files { limit: 2 }));
        assert_eq!(quota.spend(&workspace, &cost(&workspace, 0, 4)), Ok(()));
    }

    #[test]
    fn root_size_limit_refuses_growth() {
        let (_temp, workspace) = workspace(90);
        let quota = Quota::new(QuotaLimits { root_bytes: Some(100), ..QuotaLimits::default() });
        assert_eq!(quota.spend(&workspace, &cost(&workspace, 1, 6)), Ok(()));
        let refused = quota.spend(&workspace, &cost(&workspace, 1, 6));
        assert_eq!(refused, Err(QuotaError::Root { root: ".".into(), holds: 96, limit: 100 }));
        let shrinking = Cost { growth: 0, ..cost(&workspace, 0, 50) };
        assert_eq!(quota.spend(&workspace, &shrinking), Ok(()));
    }
}
