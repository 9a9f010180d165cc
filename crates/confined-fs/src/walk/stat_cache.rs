//! Stats of many entries in path order: each directory is opened once for all that is asked of it in a row.

use std::path::Path;

use beneath::{OpenFor, Stat};

use crate::{AccessError, AtPath as _, Dir, DirectoryStack};

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
