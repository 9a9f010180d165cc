//! Stats of many entries in path order: each directory is opened once for all that is asked of it in a row.
//! [`ShownStats`] are those that tools show.

use std::path::Path;

use beneath::{FileKind, OpenFor, Stat};

use crate::{AccessError, AtPath as _, Dir, DirectoryStack, Visibility, Workspace};

use super::Entry;

/// The directories down to the last entry, and the index of the root that they are in. A stat through them takes a
/// third of what a path from the root takes.
#[derive(Debug, Default)]
pub struct StatCache(Option<(usize, DirectoryStack<Box<Dir>>)>);

impl StatCache {
    /// As [`Entry::stat`].
    pub fn stat(&mut self, entry: &Entry) -> Result<Stat, AccessError> {
        let real = entry.real();
        let (Some(parent), Some(name)) = (real.parent(), real.file_name()) else { return entry.stat() };
        let root = parent.root();
        if self.0.as_ref().is_none_or(|(index, _)| *index != root.index) {
            let top = root.dir.dir_beneath(Path::new(""), OpenFor::Traverse).at(entry.path())?;
            self.0 = Some((root.index, DirectoryStack::new(Box::new(top), OpenFor::Traverse)));
        }
        let Some((_, stack)) = &mut self.0 else { return entry.stat() };
        let same = stack.names().zip(parent.relative()).take_while(|(one, other)| one == other).count();
        stack.leave_to(same);
        for name in parent.relative().iter().skip(same) {
            stack.enter(name).at(entry.path())?;
        }
        stack.dir().at(entry.path())?.child_stat(name).at(entry.path())
    }
}

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
