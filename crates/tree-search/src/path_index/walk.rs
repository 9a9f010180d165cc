//! A walk over paths, from the path index where there is one, else over the disk.
//!
//! Both give the same paths in the same order with the same report.

use std::{ops::ControlFlow, path::Path, sync::Arc, time::SystemTime};

use confined_fs::{
    AccessError, AccessErrorKind, Entry, FileKind, Ignored, Visibility, WalkOptions, WalkReport, Workspace,
    WorkspacePath,
};

use super::{IndexSnapshot, IndexedPath, PathIndex, PathRun, PathSummary};

/// What is called with the paths.
pub trait Visit {
    /// A name.
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

/// Where the names of a search came from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PathSource {
    /// From the path index.
    #[serde(rename = "list")]
    Index,
    /// From a walk over the disk.
    #[default]
    Walk,
}

/// A name that a walk met.
#[derive(Debug)]
pub enum SearchEntry<'a> {
    /// On the disk.
    Walked(Entry),
    /// In the list.
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

    /// Its path below `start`, which is above it.
    pub fn relative_to(&self, start: &WorkspacePath) -> &Path {
        match self {
            Self::Walked(entry) => entry.path().relative_to(start),
            Self::Indexed(item) => start.rest_of(item.relative()),
        }
    }

    /// What it is.
    pub fn kind(&self) -> FileKind {
        match self {
            Self::Walked(entry) => entry.kind(),
            Self::Indexed(item) => item.kind(),
        }
    }

    /// When it was last modified, where the system says.
    pub fn modified(&self) -> Option<SystemTime> {
        match self {
            Self::Walked(entry) => entry.stat().ok().and_then(|stat| stat.modified),
            Self::Indexed(item) => item.modified(),
        }
    }

    /// What tools see of its content.
    pub fn visibility(&self) -> Visibility {
        match self {
            Self::Walked(entry) => entry.visibility(),
            Self::Indexed(item) => item.entry().visibility(),
        }
    }

    /// Its path alone.
    pub fn into_path(self) -> WorkspacePath {
        match self {
            Self::Walked(entry) => entry.into_path(),
            Self::Indexed(item) => item.into_path(),
        }
    }

    /// The name with the authority to open it.
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
        return Ok((over(workspace, snapshot, options, visit), PathSource::Index));
    }
    let walked = workspace.walk(start, options, &mut |entry| visit.visit(SearchEntry::Walked(entry)));
    walked.map(|report| (report, PathSource::Walk))
}

/// The walk over a snapshot. Most of it is decided by the summaries alone.
fn over(workspace: &Workspace, snapshot: &IndexSnapshot, options: &WalkOptions, visit: &mut dyn Visit) -> WalkReport {
    let mut report = WalkReport::default();
    for run in snapshot.runs() {
        if over_run(workspace, &run, options, &mut report, visit).is_break() {
            report.stopped = true;
            break;
        }
    }
    report
}

fn over_run(
    workspace: &Workspace,
    run: &PathRun<'_>,
    options: &WalkOptions,
    report: &mut WalkReport,
    visit: &mut dyn Visit,
) -> ControlFlow<()> {
    let summaries = run.summaries();
    let mut at = 0;
    while at < summaries.len() {
        match (summaries[at], options.ignored) {
            (PathSummary::Ignored { directory }, Ignored::Skip) => {
                leave_out(report, &run.get(at), directory);
                at += 1;
                continue;
            }
            (PathSummary::Ask | PathSummary::Ignored { .. }, _) => {}
            (_, Ignored::Only) => {
                at += 1;
                continue;
            }
            _ => match visit.pass(&summaries[at..])? {
                0 => {}
                passed => {
                    at += passed;
                    continue;
                }
            },
        }
        look(workspace, &run.get(at), options, report, visit)?;
        at += 1;
    }
    ControlFlow::Continue(())
}

/// Counts an ignored entry.
fn leave_out(report: &mut WalkReport, item: &IndexedPath<'_>, directory: bool) {
    *if directory { &mut report.ignored_dirs } else { &mut report.ignored_files } += 1;
    if item.is_kept() {
        // What is known of their content is in the list alone.
        report.ignored_entries.forget();
    } else {
        report.ignored_entries.push(item.entry());
    }
}

/// Deals with one item by asking it.
fn look(
    workspace: &Workspace,
    item: &IndexedPath<'_>,
    options: &WalkOptions,
    report: &mut WalkReport,
    visit: &mut dyn Visit,
) -> ControlFlow<()> {
    let kind = item.kind();
    if item.unreadable {
        report.add_unreadable(item.path().clone());
    }
    let directory = kind == FileKind::Directory;
    if item.unwatched {
        return joined(
            workspace.walk_child(item.path(), options, &mut |entry| visit.visit(SearchEntry::Walked(entry))),
            report,
        );
    }
    if item.ignored && options.ignored == Ignored::Skip {
        leave_out(report, item, directory);
        return ControlFlow::Continue(());
    }
    let wanted = match options.ignored {
        Ignored::Only => item.ignored,
        Ignored::Skip | Ignored::Include => true,
    };
    let shown = if directory { options.directories } else { kind == FileKind::File || options.symlinks };
    if wanted && shown {
        visit.visit(SearchEntry::Indexed(item.clone()))?;
    }
    // Below ignored directories nothing is listed.
    if item.ignored && directory {
        return below(workspace, item.path(), options, report, visit);
    }
    ControlFlow::Continue(())
}

/// What a walk from `start` with [`Ignored::Only`] would meet, from the entries that an earlier walk left out.
pub fn walk_ignored_entries(
    workspace: &Workspace,
    start: &WorkspacePath,
    entries: &[Entry],
    options: &WalkOptions,
    visit: &mut dyn Visit,
) -> WalkReport {
    let mut report = WalkReport::default();
    for entry in entries.iter().filter(|entry| entry.path().root().key() == start.root().key()) {
        let directory = entry.kind() == FileKind::Directory;
        let shown = if directory { options.directories } else { entry.kind() == FileKind::File || options.symlinks };
        if shown && visit.visit(SearchEntry::Walked(entry.clone())).is_break() {
            report.stopped = true;
            return report;
        }
        if directory && below(workspace, entry.path(), options, &mut report, visit).is_break() {
            return report;
        }
    }
    report
}

/// Walks all below an ignored directory.
fn below(
    workspace: &Workspace,
    directory: &WorkspacePath,
    options: &WalkOptions,
    report: &mut WalkReport,
    visit: &mut dyn Visit,
) -> ControlFlow<()> {
    let options = WalkOptions { ignored: Ignored::Include, ..options.clone() };
    joined(workspace.walk(directory, &options, &mut |entry| visit.visit(SearchEntry::Walked(entry))), report)
}

/// Adds what a walk over a part that is not listed met.
fn joined(walked: Result<WalkReport, AccessError>, report: &mut WalkReport) -> ControlFlow<()> {
    match walked {
        Ok(walked) => report.add(walked),
        Err(error) => match error.kind {
            // It is gone by now: as for a walk, there is nothing to list.
            AccessErrorKind::NotFound => {}
            AccessErrorKind::Limit(limit) if limit.is_open_files() => report.limits_hit.directory(limit),
            _ => report.unreadable_count += 1,
        },
    }
    if report.stopped { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
}
