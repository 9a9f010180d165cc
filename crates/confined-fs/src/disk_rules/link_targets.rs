//! Finds the targets of links with a protected name: `.husky -> scripts` makes `scripts` a folder of hooks.
//!
//! Looks once, at start: at the top of each root and of each worktree with its own rules, which may have another branch's
//! links, and there in the directories that the default lists name (`.vscode`, `.claude`, `.git/hooks` …).
//!
//! Limits: deeper links and later ones are judged only where a path leads through them.

use std::path::{Path, PathBuf};
use std::{ffi::OsStr, sync::Arc};

use beneath::{FileKind, Listed, OpenFor};

use crate::policy::{Policy, Verdict};
use crate::roots::{Roots, links};
use crate::{path::WorkspacePath, root::Root};

/// Entries that are looked at below one root: a start must not wait for a large directory.
const MAX_ENTRIES: usize = 4_000;
/// Directories one below the other that are searched, the top among them.
const MAX_DEPTH: usize = 4;
/// Directories that are never searched: thousands of files that no program runs.
const SKIPPED_DIRECTORIES: &[&str] =
    &["objects", "refs", "logs", "lfs", "worktrees", "modules", "node_modules", "cache"];

#[derive(Debug)]
pub(super) struct LinkTarget {
    pub(super) path: WorkspacePath,
    pub(super) why: String,
    /// Whether it is refused to be read, and not only to be written.
    pub(super) secret: bool,
}

pub(super) fn targets(roots: &Roots) -> Vec<LinkTarget> {
    let mut found = Vec::new();
    for root in roots.list() {
        let worktrees = root.checkouts.get().into_iter().flat_map(|found| &found.judged_alone);
        for top in std::iter::once(Path::new("")).chain(worktrees.map(PathBuf::as_path)) {
            LinkSearch { roots, root, top, left: MAX_ENTRIES, found: &mut found }.directory(top, 1);
        }
    }
    found
}

struct LinkSearch<'r> {
    roots: &'r Roots,
    root: &'r Arc<Root>,
    /// Where it begins, and what names are judged from: below an agent's folder every name would be protected.
    top: &'r Path,
    left: usize,
    found: &'r mut Vec<LinkTarget>,
}

impl LinkSearch<'_> {
    fn directory(&mut self, below: &Path, depth: usize) {
        let Ok(dir) = self.root.dir.dir_beneath(below, OpenFor::List) else { return };
        let Ok(mut names) = dir.list_at_most(self.left) else { return };
        if names.len() == self.left && depth == 1 {
            // Too many to look at: only the names on the lists.
            names = Policy::first_names()
                .filter_map(|name| Some(Listed { kind: dir.child_stat(name.as_ref()).ok()?.kind, name: name.into() }))
                .collect();
        }
        // The names on the lists may be more than the entries that are left.
        self.left -= names.len().min(self.left);
        for listed in names {
            let path = below.join(&listed.name);
            match listed.kind {
                FileKind::Symlink => self.link(&path),
                FileKind::Directory if depth < MAX_DEPTH && may_hold(self.below_top(&path), &listed.name) => {
                    self.directory(&path, depth + 1);
                }
                _ => {}
            }
        }
    }

    fn link(&mut self, path: &Path) {
        let policy = self.root.policy();
        let secret = policy.content(path) != Verdict::Allowed;
        let whole = secret || policy.write(self.below_top(path), false) != Verdict::Allowed;
        // `.vscode -> plain` makes `plain/tasks.json` one that runs later, and leaves the rest of `plain` as it is.
        let protected = if whole { vec![("", secret)] } else { Policy::rests_below(self.below_top(path)) };
        if protected.is_empty() {
            return;
        }
        let link = WorkspacePath::new(self.root, path);
        let Ok(way) = links::follow(self.roots, &link) else { return };
        for (below, secret) in protected {
            self.add(&link, &way.real.child(Path::new(below)), secret);
        }
    }

    fn below_top<'p>(&self, path: &'p Path) -> &'p Path {
        path.strip_prefix(self.top).unwrap_or(path)
    }

    fn add(&mut self, link: &WorkspacePath, target: &WorkspacePath, secret: bool) {
        // An example stays readable, even where a link gives it the name of a secret, and instructions for agents
        // (`.claude/CLAUDE.md -> ../CLAUDE.md`) stay writable: people edit them every day.
        let is_text = target.file_name().is_some_and(|name| name.to_string_lossy().to_lowercase().ends_with(".md"));
        let is_public = if secret { Policy::is_public(target.relative()) } else { is_text };
        if !target.is_root() && !is_public {
            let path = self.roots.deepest(target);
            self.found.push(LinkTarget { path, why: format!("the target of the link {link}"), secret });
        }
    }
}

fn may_hold(path: &Path, name: &OsStr) -> bool {
    !SKIPPED_DIRECTORIES.iter().any(|skipped| *skipped == name) && Policy::leads_to_protected(path)
}
