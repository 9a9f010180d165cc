//! Links that a search met and did not enter, and which of them lead to what it did not search.
//!
//! A link is not entered: nothing is found twice, and no loop goes on for ever. Most lead to what the same search comes to
//! by its own name. Of the others an answer says where they lead, as far as that is inside the roots and policy shows it.

use std::{iter::successors, ops::ControlFlow, path::Path};

use confined_fs::walk::{Ignored, WalkOptions};
use confined_fs::{FileKind, Workspace, WorkspacePath, stop::StopSignal};

use crate::Scope;

#[derive(Clone, Debug, Default)]
pub struct MetLinks {
    paths: Vec<WorkspacePath>,
    more: bool,
}

/// Links that are kept, and how many of them are followed after a search that found something.
const MAX_LINKS: usize = 1000;
const MAX_FOLLOWED: usize = 100;

#[derive(Clone, Debug, Default)]
pub struct LinksNotFollowed {
    pub named: Vec<(WorkspacePath, WorkspacePath)>,
    pub count: usize,
    pub more: bool,
}

impl LinksNotFollowed {
    const MAX_NAMED: usize = 3;
}

impl MetLinks {
    /// Adds a link, unless there are enough.
    pub fn push(&mut self, link: &WorkspacePath) {
        if self.paths.len() < MAX_LINKS {
            self.paths.push(link.clone());
        } else {
            self.more = true;
        }
    }

    /// Those that lead to something which a search of `scope` did not come to. `is_more` says, of a file or directory,
    /// whether the search would find something by the path of the link below its start that it does not find by the other
    /// path, where it came to that.
    pub fn not_followed(
        &self,
        workspace: &Workspace,
        scope: &Scope,
        (ignored, found_any): (Ignored, bool),
        stop: &StopSignal,
        is_more: &mut dyn FnMut(FileKind, &Path, Option<&Path>) -> bool,
    ) -> LinksNotFollowed {
        let most = if found_any { MAX_FOLLOWED } else { MAX_LINKS };
        let mut found = LinksNotFollowed { more: self.more || self.paths.len() > most, ..Default::default() };
        let real = |start: &WorkspacePath| Some((start.clone(), workspace.canonical(start).ok()?));
        if self.paths.is_empty() {
            return found;
        }
        let starts: Vec<_> = scope.starts().iter().filter_map(real).collect();
        for link in self.paths.iter().take(most) {
            if stop.stopped().is_some() {
                found.more = true;
                break;
            }
            let Some((target, kind)) = workspace.link_target(link) else { continue };
            let Some((start, _)) = starts.iter().find(|(start, _)| link.is_in(start)) else { continue };
            let searched = starts.iter().map(|(_, real)| real);
            let searched = searched.filter(|real| target.is_in(real) && is_walked(workspace, real, &target, ignored));
            let by_target = searched.map(|real| target.relative_to(real)).next();
            if is_more(kind, link.relative_to(start), by_target) {
                found.count += 1;
                if found.named.len() < LinksNotFollowed::MAX_NAMED {
                    found.named.push((link.clone(), target));
                }
            }
        }
        found
    }
}

/// Whether a walk from `start` comes to the real path `target` below it: no rule leaves out a directory on the way.
fn is_walked(workspace: &Workspace, start: &WorkspacePath, target: &WorkspacePath, ignored: Ignored) -> bool {
    // What a linked worktree is shows in its names.
    let options = WalkOptions { ignored, max_depth: Some(2), directories: true, symlinks: false };
    let above = successors(Some(target.clone()), WorkspacePath::parent).take_while(|path| path != start);
    let way: Vec<WorkspacePath> = above.collect();
    way.iter().rev().all(|path| {
        let mut is_met = false;
        let walked = workspace.walk_child(path, &options, &mut |entry| {
            is_met = entry.path() == path;
            ControlFlow::Break(())
        });
        is_met && walked.is_ok_and(|report| report.worktrees == 0)
    })
}
