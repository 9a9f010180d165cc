//! Stats of many entries in path order, as tools show them.

use beneath::{FileKind, Stat};

use super::{Entry, StatCache, Visibility, Workspace};

/// Stats through the directory of the last entry. A masked file is as long as what is shown.
#[derive(Debug)]
pub struct ShownStats {
    /// Whether there are masked files.
    masks: bool,
    stats: StatCache,
}

impl Workspace {
    /// For stats of its entries.
    pub fn shown_stats(&self) -> ShownStats {
        let masks = self.roots().iter().any(|root| root.policy().masks);
        ShownStats { masks, stats: StatCache::default() }
    }
}

impl ShownStats {
    /// As [`Entry::stat`]; `None` where that fails.
    pub fn stat(&mut self, entry: &Entry) -> Option<Stat> {
        let is_masked = self.masks && entry.kind() == FileKind::File && entry.visibility() == Visibility::Masked;
        // Where the directory cannot be opened for itself, as with too many open files, the path may still do.
        let known = if is_masked { None } else { self.stats.stat(entry).ok() };
        known.or_else(|| entry.stat().ok())
    }
}
