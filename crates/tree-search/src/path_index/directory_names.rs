//! The names of single directories: from the path index where it holds them, else from the disk.
//!
//! Both give the same names in the same order with the same report. What is given from the index is all of one moment.

use std::ops::ControlFlow;

use confined_fs::{AccessError, FileKind, Ignored, WalkOptions, WalkReport, Workspace, WorkspacePath};

use super::{IndexSnapshot, PathIndex, PathSource, SearchEntry, walk_snapshot};

/// The directories below a start.
#[derive(Debug)]
pub struct DirectoryNames<'w> {
    workspace: &'w Workspace,
    start: WorkspacePath,
    /// `None` where there is no index.
    snapshot: Option<IndexSnapshot>,
}

impl PathIndex {
    /// The directories at and below `start`, as they are now.
    pub fn directory_names<'w>(&self, workspace: &'w Workspace, start: &WorkspacePath) -> DirectoryNames<'w> {
        DirectoryNames { workspace, start: start.clone(), snapshot: self.snapshot(workspace, start, None) }
    }
}

impl DirectoryNames<'_> {
    /// As [`Workspace::walk`] over the names of `directory` alone, of every kind.
    ///
    /// # Errors
    /// As that walk's.
    pub fn walk(
        &self,
        directory: &WorkspacePath,
        ignored: Ignored,
        visit: &mut dyn FnMut(SearchEntry<'_>) -> ControlFlow<()>,
    ) -> Result<(WalkReport, PathSource), AccessError> {
        if let Some((snapshot, children)) = self.listed(directory) {
            return Ok((over(snapshot, &children, ignored, visit), PathSource::Index));
        }
        let options = WalkOptions { ignored, max_depth: Some(1), directories: true, symlinks: true };
        let report = self.workspace.walk(directory, &options, &mut |entry| visit(SearchEntry::Walked(entry)))?;
        Ok((report, PathSource::Walk))
    }

    /// As [`Workspace::walk`] from the start over the whole depth.
    ///
    /// # Errors
    /// As that walk's.
    pub fn walk_all(
        &self,
        options: &WalkOptions,
        visit: &mut dyn FnMut(SearchEntry<'_>) -> ControlFlow<()>,
    ) -> Result<WalkReport, AccessError> {
        let visit = &mut |name: SearchEntry<'_>| visit(name);
        walk_snapshot(self.workspace, self.snapshot.as_ref(), &self.start, options, visit).map(|(report, _)| report)
    }

    /// The positions of the names of a directory in the list; `None` where a walk of it could say something else.
    fn listed(&self, directory: &WorkspacePath) -> Option<(&IndexSnapshot, Vec<usize>)> {
        let snapshot = self.snapshot.as_ref()?;
        // A root in another one has ignore rules of its own.
        if self.workspace.in_nested_root(directory) {
            return None;
        }
        let (list, mut children) = (&snapshot.list, Vec::new());
        let below = list.below(directory)?;
        let mut at = below.start;
        while at < below.end {
            let item = list.items.get(at);
            // The list does not know what a walk that looks at the names alone says of them.
            if item.unwatched || item.unreadable || item.mounted {
                return None;
            }
            children.push(at);
            at = if item.kind() == FileKind::Directory { list.end_of(at) } else { at + 1 };
        }
        Some((snapshot, children))
    }
}

fn over(
    snapshot: &IndexSnapshot,
    children: &[usize],
    ignored: Ignored,
    visit: &mut dyn FnMut(SearchEntry<'_>) -> ControlFlow<()>,
) -> WalkReport {
    let mut report = WalkReport::default();
    for at in children {
        let item = snapshot.list.items.get(*at);
        match (ignored, item.ignored) {
            (Ignored::Skip, true) if item.kind() == FileKind::Directory => report.ignored_dirs += 1,
            (Ignored::Skip, true) => report.ignored_files += 1,
            (Ignored::Only, false) => {}
            _ => {
                if visit(SearchEntry::Indexed(item)).is_break() {
                    report.stopped = true;
                    break;
                }
            }
        }
    }
    report
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::IndexMode;
    use confined_fs::Access;

    #[test]
    fn listed_names_are_those_of_a_walk() {
        let workspace = Workspace::of_directory(concat!(env!("CARGO_MANIFEST_DIR"), "/src"), Access::ReadOnly);
        let root = workspace.root_path(&workspace.roots()[0]);
        let index = Arc::new(PathIndex::new(IndexMode::Eager));
        index.settle(&workspace);
        let is_listed = index.report().iter().all(|(_, words)| words.starts_with("listed"));
        let (listed, walked) = (index.directory_names(&workspace, &root), PathIndex::default());
        let walked = walked.directory_names(&workspace, &root);
        let names = |from: &DirectoryNames<'_>, directory: &WorkspacePath| {
            let mut names = Vec::new();
            let (report, source) = from
                .walk(directory, Ignored::Skip, &mut |name| {
                    names.push((name.path().clone(), name.kind()));
                    ControlFlow::Continue(())
                })
                .unwrap();
            (names, (report.ignored_files, report.ignored_dirs), source)
        };
        let mut directories = vec![root];
        while let Some(directory) = directories.pop() {
            let (one, other) = (names(&listed, &directory), names(&walked, &directory));
            assert_eq!((&one.0, one.1), (&other.0, other.1), "{directory}");
            assert_eq!(one.2, if is_listed { PathSource::Index } else { PathSource::Walk }, "{directory}");
            assert_eq!(other.2, PathSource::Walk);
            directories.extend(one.0.into_iter().filter(|name| name.1 == FileKind::Directory).map(|name| name.0));
        }
    }
}
