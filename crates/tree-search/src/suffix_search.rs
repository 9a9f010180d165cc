//! Finds the files and directories whose path ends with given names, anywhere in the workspace.
//!
//! Looks where `glob` looks: nothing that ignore rules or policy leave out counts, and links are not followed. A file
//! whose content is denied counts only where no other fits.

use std::{ops::ControlFlow, sync::Arc, time::Duration};

use confined_fs::walk::{Ignored, WalkOptions};
use confined_fs::{FileKind, Workspace, WorkspacePath, resolve::PathSuffix, stop::StopSignal};

use crate::{PathIndex, Scope, SearchEntry};

/// How long the search may take: names found by then are offered, and none of them is the only one.
const MAX_TIME: Duration = Duration::from_secs(5);
/// Paths that are kept of each kind; the others are counted.
const MAX_KEPT: usize = 10;
/// Names between two looks at the clock.
const CHECK_EVERY: usize = 64;

#[derive(Debug, Default)]
pub struct SuffixHits {
    pub files: NearestTop,
    pub directories: NearestTop,
    pub in_other_case: NearestTop,
    pub complete: bool,
}

/// Those paths that are least deep, and how many there are.
#[derive(Debug, Default)]
pub struct NearestTop {
    /// At most 10, the least deep first, those of one depth by path.
    pub paths: Vec<WorkspacePath>,
    pub count: usize,
}

impl NearestTop {
    fn add(&mut self, path: WorkspacePath) {
        self.count += 1;
        let depth = |path: &WorkspacePath| path.relative().iter().count();
        let own = depth(&path);
        let at = self.paths.partition_point(|other| (depth(other), other) < (own, &path));
        if at < MAX_KEPT {
            self.paths.truncate(MAX_KEPT - 1);
            self.paths.insert(at, path);
        }
    }

    pub fn only(&self) -> Option<&WorkspacePath> {
        self.paths.first().filter(|_| self.count == 1)
    }
}

/// Looks for `tail` below all roots, at `most` names at most.
pub fn search_tail(
    workspace: &Workspace,
    index: &Arc<PathIndex>,
    tail: &PathSuffix,
    most: usize,
    stop: &StopSignal,
) -> SuffixHits {
    let stop = stop.with_earlier_deadline(MAX_TIME);
    let mut hits = SuffixHits::default();
    let (mut denied, mut alike) = (NearestTop::default(), SuffixHits::default());
    let Ok(scope) = Scope::of_roots(workspace) else { return hits };
    let options = WalkOptions { ignored: Ignored::Skip, max_depth: None, directories: true, symlinks: false };
    let mut visited = 0;
    for start in scope.starts() {
        let mut visit = |entry: SearchEntry<'_>| {
            visited += 1;
            if visited > most || (visited % CHECK_EVERY == 0 && stop.stopped().is_some()) {
                return ControlFlow::Break(());
            }
            let is_directory = entry.kind() == FileKind::Directory;
            let path = entry.path();
            if (tail.is_directory && !is_directory) || scope.belongs_to_other_start(workspace, &entry) {
                return ControlFlow::Continue(());
            }
            if tail.fits(path) {
                let found = match is_directory {
                    true => &mut hits.directories,
                    false if entry.is_secret() => &mut denied,
                    false => &mut hits.files,
                };
                found.add(entry.into_path());
            } else if tail.fits_look_alike(path) {
                let found = if is_directory { &mut alike.directories } else { &mut alike.files };
                found.add(entry.into_path());
            } else if tail.fits_in_other_case(path) {
                hits.in_other_case.add(entry.into_path());
            }
            ControlFlow::Continue(())
        };
        match index.walk(workspace, start, &options, &mut visit) {
            Ok((report, _)) if !report.stopped && report.limits_hit.is_empty() => {}
            // Not complete: what was found is not called the only one.
            Ok(_) | Err(_) => return hits,
        }
    }
    if hits.files.count == 0 {
        hits.files = denied;
    }
    if hits.files.count + hits.directories.count == 0 {
        (hits.files, hits.directories) = (alike.files, alike.directories);
    }
    hits.complete = true;
    hits
}
