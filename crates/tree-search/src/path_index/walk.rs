//! A walk over paths, or over the names of single directories ([`DirectoryNames`]): from the path index where there is one,
//! else over the disk.
//!
//! Both give the same names in the same order with the same report. What is given from the index is all of one moment.

use std::{ops::ControlFlow, path::Path, sync::Arc, time::SystemTime};

use confined_fs::walk::{Entry, Ignored, WalkOptions, WalkReport};
use confined_fs::{AccessError, AccessErrorKind, FileKind, Workspace, WorkspacePath};

use super::{IndexSnapshot, IndexedPath, PathIndex, PathRun, PathSummary};

pub trait Visit {
    fn visit(&mut self, met: SearchEntry<'_>) -> ControlFlow<()>;

    /// How many of the next items need no visit, by what is known of them. Asked before each visit of
    /// a listed name.
    #[expect(private_interfaces, reason = "of interest to the search of content alone")]
    fn pass(&mut self, _briefs: &[PathSummary]) -> ControlFlow<(), usize> {
        ControlFlow::Continue(0)
    }
}

impl<F: FnMut(SearchEntry<'_>) -> ControlFlow<()>> Visit for F {
    fn visit(&mut self, met: SearchEntry<'_>) -> ControlFlow<()> {
        self(met)
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PathSource {
    Index,
    #[default]
    Walk,
}

#[derive(Debug)]
pub enum SearchEntry<'a> {
    Walked(Entry),
    #[expect(private_interfaces, reason = "only read through the methods")]
    Indexed(IndexedPath<'a>),
}

impl SearchEntry<'_> {
    /// Its path. Of a name in the list it is made by the first call; most names are not asked for theirs.
    pub fn path(&self) -> &WorkspacePath {
        match self {
            Self::Walked(entry) => entry.path(),
            Self::Indexed(item) => item.path(),
        }
    }

    pub fn relative_to(&self, start: &WorkspacePath) -> &Path {
        match self {
            Self::Walked(entry) => entry.path().relative_to(start),
            Self::Indexed(item) => start.rest_of(item.relative),
        }
    }

    pub fn kind(&self) -> FileKind {
        match self {
            Self::Walked(entry) => entry.kind(),
            Self::Indexed(item) => item.kind,
        }
    }

    pub fn modified(&self) -> Option<SystemTime> {
        match self {
            Self::Walked(entry) => entry.stat().ok().and_then(|stat| stat.modified),
            Self::Indexed(item) => item.modified(),
        }
    }

    pub fn is_secret(&self) -> bool {
        match self {
            Self::Walked(entry) => entry.is_secret(),
            Self::Indexed(item) => item.entry().is_secret(),
        }
    }

    pub fn into_path(self) -> WorkspacePath {
        match self {
            Self::Walked(entry) => entry.into_path(),
            Self::Indexed(item) => item.into_path(),
        }
    }

    pub fn into_entry(self) -> Entry {
        match self {
            Self::Walked(entry) => entry,
            Self::Indexed(item) => item.entry(),
        }
    }
}

impl PathIndex {
    /// As [`Workspace::walk`] over the whole depth, from the list where there is one.
    ///
    /// # Errors
    /// As that walk's.
    pub fn walk(
        self: &Arc<Self>,
        workspace: &Workspace,
        start: &WorkspacePath,
        options: &WalkOptions,
        visit: &mut dyn Visit,
    ) -> Result<(WalkReport, PathSource), AccessError> {
        let _in_progress = self.search_in_progress();
        let snapshot = if options.max_depth.is_none() { self.snapshot(workspace, start, None) } else { None };
        let mut files = 0;
        let result = walk_snapshot(workspace, snapshot.as_ref(), start, options, &mut |met: SearchEntry<'_>| {
            files += usize::from(met.kind() == FileKind::File);
            visit.visit(met)
        });
        if options.ignored == Ignored::Skip
            && let Ok((report, _)) = &result
        {
            self.after_search(workspace, start, files, report.stopped);
        }
        result
    }
}

/// The names of `snapshot`, or without one those of a walk from `start`.
///
/// # Errors
/// As that walk's.
pub(crate) fn walk_snapshot(
    workspace: &Workspace,
    snapshot: Option<&IndexSnapshot>,
    start: &WorkspacePath,
    options: &WalkOptions,
    visit: &mut dyn Visit,
) -> Result<(WalkReport, PathSource), AccessError> {
    if let Some(snapshot) = snapshot {
        let mut walk = ListWalk { workspace, options, visit, report: WalkReport::default() };
        walk.report.stopped = snapshot.runs().any(|run| walk.run(&run).is_break());
        return Ok((walk.report, PathSource::Index));
    }
    let walked = workspace.walk(start, options, &mut |entry| visit.visit(SearchEntry::Walked(entry)));
    walked.map(|report| (report, PathSource::Walk))
}

/// Visits as a walk from `start` with [`Ignored::Only`] would, from the entries that an earlier walk left out.
pub fn walk_ignored_entries(
    workspace: &Workspace,
    start: &WorkspacePath,
    entries: &[Entry],
    options: &WalkOptions,
    visit: &mut dyn Visit,
) -> WalkReport {
    let mut walk = ListWalk { workspace, options, visit, report: WalkReport::default() };
    for entry in entries.iter().filter(|entry| entry.path().root().key() == start.root().key()) {
        if options.visits(entry.kind()) && walk.visit.visit(SearchEntry::Walked(entry.clone())).is_break() {
            walk.report.stopped = true;
            break;
        }
        if entry.kind() == FileKind::Directory && walk.below(entry.path()).is_break() {
            break;
        }
    }
    walk.report
}

struct ListWalk<'w> {
    workspace: &'w Workspace,
    options: &'w WalkOptions,
    visit: &'w mut dyn Visit,
    report: WalkReport,
}

impl ListWalk<'_> {
    /// Walks over a part of a snapshot. Most of it is decided by the summaries alone.
    fn run(&mut self, run: &PathRun<'_>) -> ControlFlow<()> {
        let summaries = run.summaries();
        let mut at = 0;
        while at < summaries.len() {
            if summaries[at] != PathSummary::Ask {
                let is_wanted = self.options.ignored != Ignored::Only;
                let passed = if is_wanted { self.visit.pass(&summaries[at..])? } else { 1 };
                if passed > 0 {
                    at += passed;
                    continue;
                }
            }
            self.item(&run.get(at))?;
            at += 1;
        }
        ControlFlow::Continue(())
    }

    fn item(&mut self, item: &IndexedPath<'_>) -> ControlFlow<()> {
        let directory = item.kind == FileKind::Directory;
        if item.unreadable {
            self.report.add_unreadable(item.path().clone());
        }
        let worktree = item.unwatched && self.workspace.is_unmarked_worktree(item.path());
        if worktree {
            // As a walk through its parent would say, which reads all names and rules on the way to it.
            self.report.worktrees += usize::from(self.options.ignored != Ignored::Only);
        } else if item.unwatched {
            let visit = &mut |entry| self.visit.visit(SearchEntry::Walked(entry));
            let walked = self.workspace.walk_child(item.path(), self.options, visit);
            return self.join(walked);
        }
        if item.ignored && self.options.ignored == Ignored::Skip {
            let report = &mut self.report;
            *if directory { &mut report.ignored_dirs } else { &mut report.ignored_files } += 1;
            if item.is_kept {
                // What is known of their content is in the list alone.
                report.ignored_entries.forget();
            } else {
                report.ignored_entries.push(item.entry());
            }
            return ControlFlow::Continue(());
        }
        let wanted = item.ignored || self.options.ignored != Ignored::Only;
        if wanted && self.options.visits(item.kind) {
            self.visit.visit(SearchEntry::Indexed(item.clone()))?;
        }
        // Below ignored directories nothing is listed.
        if item.ignored && directory { self.below(item.path()) } else { ControlFlow::Continue(()) }
    }

    /// Walks all below an ignored directory, as a walk that comes to it does.
    fn below(&mut self, directory: &WorkspacePath) -> ControlFlow<()> {
        if self.workspace.is_linked_worktree(directory) {
            self.report.worktrees += 1;
            return ControlFlow::Continue(());
        }
        let options = WalkOptions { ignored: Ignored::Include, ..self.options.clone() };
        let visit = &mut |entry| self.visit.visit(SearchEntry::Walked(entry));
        let walked = self.workspace.walk(directory, &options, visit);
        self.join(walked)
    }

    fn join(&mut self, walked: Result<WalkReport, AccessError>) -> ControlFlow<()> {
        match walked {
            Ok(walked) => self.report.add(walked),
            Err(error) => match error.kind {
                // It is gone: as for a walk, there is nothing to list.
                AccessErrorKind::NotFound => {}
                AccessErrorKind::Limit(limit) if limit.is_open_files() => self.report.limits_hit.directory(limit),
                _ => self.report.unreadable_count += 1,
            },
        }
        if self.report.stopped { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

#[derive(Debug)]
pub struct DirectoryNames<'w> {
    workspace: &'w Workspace,
    start: WorkspacePath,
    /// `None` where there is no index.
    snapshot: Option<IndexSnapshot>,
}

impl PathIndex {
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
        if let Some(names) = self.listed(directory) {
            let mut report = WalkReport::default();
            for name in names {
                match (ignored, name.ignored) {
                    (Ignored::Skip, true) if name.kind == FileKind::Directory => report.ignored_dirs += 1,
                    (Ignored::Skip, true) => report.ignored_files += 1,
                    (Ignored::Only, false) => {}
                    _ if visit(SearchEntry::Indexed(name)).is_break() => {
                        report.stopped = true;
                        break;
                    }
                    _ => {}
                }
            }
            return Ok((report, PathSource::Index));
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

    /// The names of a directory in the list; `None` where a walk of it could say something else.
    fn listed(&self, directory: &WorkspacePath) -> Option<Vec<IndexedPath<'_>>> {
        let list = &self.snapshot.as_ref()?.list;
        // A root in another one has ignore rules of its own.
        if self.workspace.in_nested_root(directory) {
            return None;
        }
        let (mut names, below) = (Vec::new(), list.below(directory)?);
        let mut at = below.start;
        while at < below.end {
            let name = list.items.get(at);
            // The list does not know what a walk that looks at the names alone says of them.
            if name.unwatched || name.unreadable || name.mounted {
                return None;
            }
            at = if name.kind == FileKind::Directory { list.end_of(at) } else { at + 1 };
            names.push(name);
        }
        Some(names)
    }
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
