//! What is below a directory that can only be polled.

use std::{
    collections::HashMap,
    hash::{DefaultHasher, Hash as _, Hasher as _},
    ops::ControlFlow,
};

use confined_fs::{FileKind, Ignored, Stat, WalkOptions, Workspace, WorkspacePath};

/// Entries that are compared; what comes behind them in path order is not.
const MOST: usize = 200_000;
/// Paths that a comparison names; more are not looked at one by one.
const NAMED: usize = 256;

/// What is known of the entries below a directory: a number for each path and one for the state of the entry.
pub(super) type Listing = HashMap<u64, u64>;

/// How a directory differs from its listing.
#[derive(Debug, Default)]
pub(super) struct Difference {
    /// Entries that are new or different, up to [`NAMED`].
    pub(super) changed: Vec<(WorkspacePath, Option<Stat>)>,
    /// There are more of those.
    pub(super) has_more: bool,
    /// Numbers of paths that are gone.
    pub(super) gone: Vec<u64>,
}

/// Lists `directory` and compares it with `before`.
pub(super) fn list(
    workspace: &Workspace,
    directory: &WorkspacePath,
    before: Option<&Listing>,
) -> (Listing, Difference) {
    let (mut listing, mut difference) = (HashMap::new(), Difference::default());
    let options = WalkOptions { ignored: Ignored::Skip, max_depth: None, directories: true, symlinks: true };
    let walked = workspace.walk(directory, &options, &mut |entry| {
        let stat = entry.stat().ok();
        let path = number_of(entry.path());
        let state = stat.as_ref().map_or(0, state_of);
        listing.insert(path, state);
        if before.is_some_and(|before| before.get(&path) != Some(&state)) {
            if difference.changed.len() < NAMED {
                difference.changed.push((entry.path().clone(), stat));
            } else {
                difference.has_more = true;
            }
        }
        if listing.len() < MOST { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    let is_whole = walked.is_ok_and(|report| !report.stopped);
    if let Some(before) = before.filter(|_| is_whole) {
        difference.gone = before.keys().filter(|path| !listing.contains_key(path)).copied().collect();
    }
    (listing, difference)
}

/// The number of a path in a listing.
pub(super) fn number_of(path: &WorkspacePath) -> u64 {
    let mut hasher = DefaultHasher::new();
    path.hash(&mut hasher);
    hasher.finish()
}

fn state_of(stat: &Stat) -> u64 {
    let mut hasher = DefaultHasher::new();
    stat.device_and_inode().hash(&mut hasher);
    // The time of a directory changes with what is in it, which is listed itself.
    if stat.kind != FileKind::Directory {
        (stat.size, stat.modified).hash(&mut hasher);
    }
    hasher.finish()
}
