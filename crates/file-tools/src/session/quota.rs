//! What one session may spend: files made, bytes written, and bytes in all beneath a root.
//!
//! A change says what it will cost before it is made; what was not made after all is given back.

use std::{
    collections::HashMap,
    iter::Sum,
    ops::ControlFlow,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use change_set::{Workspace, WritablePath};
use confined_fs::walk::{Ignored, WalkOptions};
use confined_fs::{FileKind, Root};

/// Entries of a root that are counted; what is beyond is not known, and so not held against a write.
const MAX_COUNTED: usize = 500_000;
/// How long a count of a root is valid; changes of this session are added to it meanwhile.
const VALID_FOR: Duration = Duration::from_secs(60);
const MAX_COUNT_TIME: Duration = Duration::from_secs(5);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QuotaLimits {
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

/// The cost of a change. Those of several changes that are made together add up.
#[derive(Clone, Debug, Default)]
pub struct Cost {
    pub files: u64,
    /// Bytes that would be written.
    pub bytes: u64,
    /// How many bytes more or fewer would be there than before, by root.
    pub change: RootBytes,
}

impl Cost {
    /// The cost of `new` bytes that are written beneath a root instead of `old` ones.
    pub fn of_bytes(root: &Arc<Root>, old: u64, new: u64) -> Self {
        Self { files: 0, bytes: new, change: RootBytes::of(root, old, new) }
    }

    /// The cost of a file that has `old` bytes now (or is made, with `is_new`) and will have `new`.
    pub fn of_file(target: &WritablePath, is_new: bool, old: u64, new: u64) -> Self {
        let files = if is_new { 1 + target.missing_above() } else { 0 };
        Self { files, ..Self::of_bytes(target.path().root(), old, new) }
    }
}

/// Differences in bytes, each beneath another root; negative where bytes are freed.
#[derive(Clone, Debug, Default)]
pub struct RootBytes(Vec<(Arc<Root>, i128)>);

impl RootBytes {
    /// `new` bytes beneath a root instead of `old` ones.
    pub fn of(root: &Arc<Root>, old: u64, new: u64) -> Self {
        Self(vec![(Arc::clone(root), i128::from(new) - i128::from(old))])
    }

    /// Both together: what one of them frees beneath a root, the other one may take.
    #[must_use]
    pub fn and(mut self, other: Self) -> Self {
        for (root, bytes) in other.0 {
            match self.0.iter_mut().find(|(known, _)| known.key() == root.key()) {
                Some((_, sum)) => *sum += bytes,
                None => self.0.push((root, bytes)),
            }
        }
        self
    }

    fn grown(&self) -> impl Iterator<Item = (&Arc<Root>, u64)> {
        let bytes = |bytes: i128| u64::try_from(bytes).ok().filter(|bytes| *bytes > 0);
        self.0.iter().filter_map(move |(root, change)| Some((root, bytes(*change)?)))
    }

    fn freed(&self) -> impl Iterator<Item = (&Arc<Root>, u64)> {
        self.0.iter().filter_map(|(root, change)| Some((root, u64::try_from(-change).ok()?)))
    }
}

impl Sum for Cost {
    fn sum<I: Iterator<Item = Self>>(costs: I) -> Self {
        let mut all = Self::default();
        for cost in costs {
            all.files = all.files.saturating_add(cost.files);
            all.bytes = all.bytes.saturating_add(cost.bytes);
            all.change = all.change.and(cost.change);
        }
        all
    }
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum QuotaError {
    #[error("this call would exceed the session's limit of {limit} new files and directories")]
    Files { limit: u64 },
    /// Bytes written by this session.
    #[error("{left} of the {limit} bytes that this session may write are left; this call needs more")]
    Bytes {
        /// Bytes that are left.
        left: u64,
        /// Bytes that one session may write.
        limit: u64,
    },
    /// Bytes beneath a root.
    #[error("{root} has {holds} bytes; this call would exceed its limit of {limit}")]
    Root {
        root: String,
        /// Bytes beneath it now.
        holds: u64,
        /// Bytes that it may hold.
        limit: u64,
    },
}

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

impl Spent {
    fn shrink<'c>(&mut self, by: impl Iterator<Item = (&'c Arc<Root>, u64)>) {
        for (root, bytes) in by {
            if let Some((holds, _)) = self.roots.get_mut(root.key()) {
                *holds = holds.saturating_sub(bytes);
            }
        }
    }
}

impl Quota {
    pub fn new(limits: QuotaLimits) -> Self {
        Self { limits, spent: Mutex::default() }
    }

    /// Takes what a change costs off what is left, all of it or nothing.
    pub fn spend(&self, workspace: &Workspace, cost: &Cost) -> Result<(), QuotaError> {
        let limit = self.limits.root_bytes;
        // Without a bound nothing is counted: it walks all of a root.
        let grown: Vec<_> = cost.change.grown().filter(|_| limit.is_some()).collect();
        // Before the lock: to count a large root takes seconds.
        let counts: Vec<_> = grown.iter().map(|(root, _)| self.count(workspace, root)).collect();
        let mut spent = self.spent();
        let files = spent.files.saturating_add(cost.files);
        // A call that makes nothing passes at the limit, so that what is there can still be edited and deleted.
        if cost.files > 0 && files > self.limits.files {
            return Err(QuotaError::Files { limit: self.limits.files });
        }
        let bytes = spent.bytes.saturating_add(cost.bytes);
        if cost.bytes > 0 && bytes > self.limits.bytes {
            // Never below zero: nothing is spent beyond the limit.
            return Err(QuotaError::Bytes { left: self.limits.bytes - spent.bytes, limit: self.limits.bytes });
        }
        for ((root, growth), counted) in grown.iter().zip(counts) {
            // Another call may have counted or spent since.
            let holds = spent.roots.entry(root.key().to_owned()).or_insert(counted).0;
            if let Some(limit) = limit.filter(|limit| holds.saturating_add(*growth) > *limit) {
                return Err(QuotaError::Root { root: root.public(), holds, limit });
            }
        }
        for (root, growth) in grown {
            if let Some((holds, _)) = spent.roots.get_mut(root.key()) {
                *holds += growth;
            }
        }
        (spent.files, spent.bytes) = (files, bytes);
        Ok(())
    }

    pub fn refund(&self, cost: &Cost) {
        let mut spent = self.spent();
        spent.files = spent.files.saturating_sub(cost.files);
        spent.bytes = spent.bytes.saturating_sub(cost.bytes);
        spent.shrink(cost.change.grown());
    }

    /// Takes what a change that was made has freed off what its root is known to hold, so that it can be
    /// reverted before the root is counted again.
    pub fn free(&self, cost: &Cost) {
        self.spent().shrink(cost.change.freed());
    }

    fn spent(&self) -> MutexGuard<'_, Spent> {
        self.spent.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Bytes beneath a root: a count that is still valid, or a new one.
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
        // What cannot be walked is not known, and so not held against a write.
        let _ = workspace.walk(&workspace.root_path(root), &options, &mut |entry| {
            entries += 1;
            if entry.kind() == FileKind::File {
                bytes = bytes.saturating_add(entry.stat().map_or(0, |stat| stat.size));
            }
            if entries < MAX_COUNTED && started.elapsed() < MAX_COUNT_TIME {
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
    use confined_fs::Access;

    fn workspace(size: usize) -> (tempfile::TempDir, Workspace) {
        let temp = tempfile::tempdir().unwrap();
        std::fs::write(temp.path().join("a"), vec![0; size]).unwrap();
        let workspace = Workspace::of_directory(temp.path(), Access::ReadWrite);
        (temp, workspace)
    }

    fn cost(workspace: &Workspace, files: u64, bytes: u64) -> Cost {
        Cost { files, ..Cost::of_bytes(&workspace.roots()[0], 0, bytes) }
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
        let shrinking = Cost { change: RootBytes::default(), ..cost(&workspace, 0, 50) };
        assert_eq!(quota.spend(&workspace, &shrinking), Ok(()));
    }

    #[test]
    fn costs_of_one_root_cancel_out_and_those_of_others_do_not() {
        let ((_one, first), (_two, second)) = (workspace(90), workspace(95));
        let quota = Quota::new(QuotaLimits { root_bytes: Some(100), ..QuotaLimits::default() });
        let freed = |workspace: &Workspace, bytes| Cost::of_bytes(&workspace.roots()[0], bytes, 0);
        let both = || [cost(&first, 1, 20), freed(&first, 15), cost(&second, 0, 3)];
        let all: Cost = both().into_iter().sum();
        assert_eq!((all.files, all.bytes), (1, 23));
        assert_eq!(quota.spend(&first, &all), Ok(()));
        let refused = quota.spend(&first, &cost(&second, 0, 3));
        assert_eq!(refused, Err(QuotaError::Root { root: ".".into(), holds: 98, limit: 100 }));
        let one_is_full: Cost = both().into_iter().sum();
        assert!(quota.spend(&first, &one_is_full).is_err());
        quota.refund(&all);
        assert_eq!(quota.spend(&first, &one_is_full), Ok(()), "a refused cost takes nothing from any root");
    }
}
