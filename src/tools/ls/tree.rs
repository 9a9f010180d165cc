//! Lists directories level by level, so that a limit cuts the deepest names first.

use std::{collections::VecDeque, ops::ControlFlow};

use crate::{
    stop::StopReason,
    workspace::{AccessError, AccessErrorKind, Entry, FileKind, Ignored, LimitsHit, WalkOptions, WorkspacePath},
};

use super::super::{CallContext, ToolError};

/// Entries at most.
pub(super) const MAX_RESULTS: usize = 2000;
/// Entries shown of a nested directory.
const NESTED: usize = 100;
/// Names between two looks at the clock.
const CHECK_EVERY: usize = 256;

/// How much is listed.
pub(super) struct ListRequest {
    pub(super) depth: usize,
    pub(super) ignored: Ignored,
    pub(super) limit: usize,
}

/// The directories that were listed, the start first.
pub(super) struct Tree {
    pub(super) listings: Vec<Listing>,
    /// Directories within the depth that were not listed, the limit being reached.
    pub(super) unlisted: usize,
    /// Directories that could not be listed.
    pub(super) unreadable: usize,
    pub(super) timed_out: bool,
    pub(super) limits_hit: LimitsHit,
}

/// One directory, listed.
#[derive(Default)]
pub(super) struct Listing {
    /// What is shown of it: directories, then the rest. A directory has its place among the
    /// listings when it was listed too.
    pub(super) entries: Vec<(Entry, State)>,
    /// Entries that are not shown.
    pub(super) more: usize,
    /// Entries that ignore rules leave out.
    pub(super) ignored: usize,
    pub(super) limits_hit: LimitsHit,
}

/// How far a shown entry was looked into.
#[derive(Clone, Copy)]
pub(super) enum State {
    /// A file, or a directory at the last level.
    Leaf,
    /// A directory that was listed, at this place.
    Listed(usize),
    /// A directory within the depth, but the limit was reached.
    Unlisted,
    /// A directory that could not be listed.
    Unreadable,
}

impl ListRequest {
    /// The tree below `start`.
    ///
    /// # Errors
    /// When `start` cannot be listed, or the call was cancelled.
    pub(super) fn tree(&self, cx: &CallContext, start: &WorkspacePath) -> Result<Tree, ToolError> {
        let top = self.list(cx, start, self.limit).map_err(|error| ToolError::access(&cx.workspace, error))?;
        let mut left = self.limit - top.entries.len();
        let mut tree = Tree {
            listings: vec![top],
            unlisted: 0,
            unreadable: 0,
            timed_out: false,
            limits_hit: LimitsHit::default(),
        };
        let mut queue = VecDeque::from([(0, 1)]);
        while let Some((at, depth)) = queue.pop_front() {
            if depth == self.depth {
                continue;
            }
            for place in 0..tree.listings[at].entries.len() {
                let entry = &tree.listings[at].entries[place].0;
                if entry.kind() != FileKind::Directory {
                    continue;
                }
                let directory = entry.path().clone();
                tree.timed_out |= out_of_time(cx)?;
                let state = self.directory(cx, &directory, &mut left, &mut tree);
                if let State::Listed(listed) = state {
                    queue.push_back((listed, depth + 1));
                }
                tree.listings[at].entries[place].1 = state;
            }
        }
        tree.timed_out |= out_of_time(cx)?;
        for listing in &tree.listings {
            tree.limits_hit.add(listing.limits_hit.clone());
        }
        Ok(tree)
    }

    /// Lists one directory of the tree, with at most `left` entries.
    fn directory(&self, cx: &CallContext, directory: &WorkspacePath, left: &mut usize, tree: &mut Tree) -> State {
        if *left == 0 || tree.timed_out {
            tree.unlisted += 1;
            return State::Unlisted;
        }
        match self.list(cx, directory, NESTED.min(*left)) {
            Ok(listing) => {
                *left -= listing.entries.len();
                tree.listings.push(listing);
                State::Listed(tree.listings.len() - 1)
            }
            Err(AccessError { kind: AccessErrorKind::Limit(limit), .. }) => {
                tree.limits_hit.directory(limit);
                State::Unreadable
            }
            Err(_) => {
                tree.unreadable += 1;
                State::Unreadable
            }
        }
    }

    /// The first `most` entries of a directory, directories before the rest.
    fn list(&self, cx: &CallContext, directory: &WorkspacePath, most: usize) -> Result<Listing, AccessError> {
        let options = WalkOptions { ignored: self.ignored, max_depth: Some(1), directories: true, symlinks: true };
        let (mut directories, mut others, mut met) = (Vec::new(), Vec::new(), 0);
        let report = cx.workspace.walk(directory, &options, &mut |entry| {
            met += 1;
            let list = if entry.kind() == FileKind::Directory { &mut directories } else { &mut others };
            if list.len() < most {
                list.push((entry, State::Leaf));
            }
            if met % CHECK_EVERY == 0 && cx.stop.stopped().is_some() {
                return ControlFlow::Break(());
            }
            ControlFlow::Continue(())
        })?;
        let mut entries = directories;
        entries.append(&mut others);
        entries.truncate(most);
        Ok(Listing {
            more: met - entries.len(),
            entries,
            ignored: report.ignored_files + report.ignored_dirs,
            limits_hit: report.limits_hit,
        })
    }
}

/// Whether the call has used up its time; a cancelled one is an error.
fn out_of_time(cx: &CallContext) -> Result<bool, ToolError> {
    match cx.stop.stopped() {
        None => Ok(false),
        Some(StopReason::Deadline) => Ok(true),
        Some(StopReason::Cancelled) => Err(ToolError::cancelled()),
    }
}
