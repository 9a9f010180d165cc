//! Listing a tree with a watch on each directory before it is listed, so that no change falls between the two.

use std::ffi::{OsStr, OsString};
use std::{collections::BTreeSet, ops::ControlFlow, path::Path, sync::Arc};

use beneath::{Dir, FileKind, OpenFor};

use super::{Unwatchable, Watcher, watcher::Watched};
use crate::error::{AccessError, AccessErrorKind};
use crate::walk::visit::{Visitor, WalkOptions, WalkReport};
use crate::walk::walker::{walk, walk_names};
use crate::walk::{entry::Entry, ignores::RuleSource};
use crate::{disk_rules::worktree::is_left_out, path::WorkspacePath};

#[derive(Debug)]
pub struct WatchedEntry {
    pub entry: Entry,
    /// Ignore rules leave it out; below such a directory nothing is listed.
    pub ignored: bool,
    pub unreadable: bool,
    /// It is a directory that cannot be watched, or a linked worktree: what is below it, and whether a marker in it makes it
    /// an ignored one, has to be looked at each time. Nothing below it is listed.
    pub unwatched: bool,
    /// Something is mounted there, so that a file has a parent elsewhere.
    pub mounted: bool,
}

impl WatchedEntry {
    pub fn of_unwatched(entry: Entry) -> Self {
        Self { entry, ignored: false, unreadable: false, unwatched: false, mounted: false }
    }
}

impl Watcher {
    /// Lists `start` in path order: all that is below it when `deep`, else its own names only;
    /// what is listed was watched before.
    ///
    /// # Errors
    /// When `start` cannot be listed. Whether all could be watched is [`Self::failure`]'s to say.
    pub fn watch_tree(
        &mut self,
        start: &WorkspacePath,
        deep: bool,
        met: &mut dyn FnMut(WatchedEntry),
    ) -> Result<(), AccessError> {
        let shared = Arc::clone(&self.shared);
        let options = WalkOptions::all((!deep).then_some(1));
        if deep {
            self.ignore_files.forget(start, &self.queue);
        }
        let mut visitor = WatchTree::new(self, met, deep);
        let walked = walk(&shared, start, &options, &mut visitor);
        self.listed(start, walked)
    }

    /// As [`Self::watch_tree`] for the names of `directory` that are among `names`, and files of ignore rules; false
    /// where all of it has to be listed.
    ///
    /// # Errors
    /// As there.
    pub fn watch_names(
        &mut self,
        directory: &WorkspacePath,
        names: &BTreeSet<OsString>,
        met: &mut dyn FnMut(WatchedEntry),
    ) -> Result<bool, AccessError> {
        let shared = Arc::clone(&self.shared);
        let mut visitor = WatchTree::new(self, met, false);
        match walk_names(&shared, directory, names, &mut visitor)? {
            None => Ok(false),
            Some(report) => self.listed(directory, Ok(report)).map(|()| true),
        }
    }

    fn listed(&mut self, start: &WorkspacePath, walked: Result<WalkReport, AccessError>) -> Result<(), AccessError> {
        // A list of it would leave out what limits kept from this one, and would not say so.
        match &walked {
            Ok(report) if report.limits_hit.hides_names() => self.fail(Unwatchable::Refused),
            Ok(report) if report.limits_hit.lacks_rules() => self.fail(Unwatchable::Rules),
            Err(AccessError { kind: AccessErrorKind::Limit(_), .. }) => self.fail(Unwatchable::Refused),
            _ => {}
        }
        match walked {
            Ok(report) if !report.stopped => Ok(()),
            // `visit` ends a walk early, where a watch has failed.
            Ok(_) => Err(AccessError::new(AccessErrorKind::Changed, start)),
            Err(error) => Err(error),
        }
    }
}

pub(super) struct WatchTree<'w> {
    watcher: &'w mut Watcher,
    met: &'w mut dyn FnMut(WatchedEntry),
    deep: bool,
    started: bool,
    unreadable: bool,
    unwatched: bool,
}

impl<'w> WatchTree<'w> {
    /// One that calls `met` for each name; what is known of rules is renewed where `deep`.
    pub(super) fn new(watcher: &'w mut Watcher, met: &'w mut dyn FnMut(WatchedEntry), deep: bool) -> Self {
        Self { watcher, met, deep, started: false, unreadable: false, unwatched: false }
    }

    fn path(&self, path: &Path) -> WorkspacePath {
        WorkspacePath::new(self.watcher.root.root(), path)
    }

    fn pass_on(&mut self, entry: Entry, ignored: bool) {
        let directory = entry.kind() == FileKind::Directory;
        let unreadable = std::mem::take(&mut self.unreadable) && directory;
        let unwatched = std::mem::take(&mut self.unwatched) && directory && !ignored;
        let mounts_below = &self.watcher.mounts_below.mounted;
        let mounted = !mounts_below.is_empty() && mounts_below.contains(entry.path().relative());
        (self.met)(WatchedEntry { entry, ignored, unreadable, unwatched, mounted });
    }
}

impl Visitor for WatchTree<'_> {
    fn visit(&mut self, entry: Entry) -> ControlFlow<()> {
        self.pass_on(entry, false);
        // Without a watch on each directory the list is of no use.
        if self.watcher.failed.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    fn wants_ignored(&self) -> bool {
        true
    }

    fn ignored(&mut self, entry: Entry) {
        self.pass_on(entry, true);
    }

    fn opened(&mut self, dir: &Dir, path: &Path) -> bool {
        let is_start = !std::mem::replace(&mut self.started, true);
        let stacked = self.watcher.mounts_below.written_through.contains(path);
        let watched = if stacked {
            Err(Unwatchable::FileSystem)
        } else {
            self.watcher.watch(dir, &Watched::Directory(self.path(path)))
        };
        match watched {
            Ok(()) => {}
            // One that is mounted in two places has its events in the one that was met first.
            Err(Unwatchable::FileSystem | Unwatchable::Twice) if !is_start => self.unwatched = true,
            Err(why) => self.watcher.fail(why),
        }
        // Its names are not listed then. A `.git` file that comes from now on is an event.
        if !self.deep && !is_start {
            let (roots, root) = (&self.watcher.shared.roots, self.watcher.root.root());
            self.unwatched |= is_left_out(roots, root, path, dir);
        }
        !self.unwatched
    }

    fn worktree(&mut self) {
        self.unwatched = true;
    }

    fn repository(&mut self, dir: &Dir, path: &Path) {
        let owner = self.path(path);
        let open = |dir: &Dir, name: &str| dir.child_dir(OsStr::new(name), OpenFor::Traverse).ok();
        let mut watch = |dir: &Dir, name| {
            if let Err(why) = self.watcher.watch(dir, &Watched::Repository(owner.clone(), name)) {
                self.watcher.fail(why);
            }
        };
        if let Some(git) = open(dir, ".git") {
            watch(&git, "info");
            if let Some(info) = open(&git, "info") {
                watch(&info, "exclude");
            }
        }
    }

    fn rules(&mut self, path: &Path, name: &'static str, source: &RuleSource<'_>) {
        // What is known of rules is about all below their directory: only a list of all that renews it.
        if self.deep {
            let owner = self.path(path);
            let Watcher { ignore_files, queue, shared, .. } = &mut *self.watcher;
            if let Err(why) = ignore_files.add(owner, name, source, queue, &shared.roots) {
                self.watcher.fail(why);
            }
        }
    }

    fn unreadable(&mut self) {
        self.unreadable = true;
    }
}

#[cfg(all(test, target_os = "linux"))]
#[expect(clippy::disallowed_methods, reason = "a test changes the disk past the workspace")]
mod tests {
    use std::fs;

    use super::*;
    use crate::{root::Access, shared::Workspace};

    #[test]
    fn names_alone_are_looked_at_where_they_decide_about_no_other() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["other.txt", "stays.txt", "new.txt", "12", "Cargo.toml", "left.swp"] {
            fs::write(folder.path().join(name), name).unwrap();
        }
        fs::create_dir(folder.path().join("inner")).unwrap();
        let workspace = Workspace::of_directory(folder.path().to_str().unwrap(), Access::ReadOnly);
        let root = workspace.root_path(&workspace.roots()[0]);
        // Some file systems cannot be watched.
        let Ok(mut watcher) = workspace.watch(root.root()) else { return };
        let mut look = |names: &[&str]| {
            let (names, mut met) = (names.iter().map(OsString::from).collect(), Vec::new());
            let is_enough = watcher.watch_names(&root, &names, &mut |listed| {
                met.push((listed.entry.path().relative().to_str().unwrap().to_owned(), listed.ignored));
            });
            is_enough.unwrap().then_some(met)
        };
        let met =
            |names: &[(&str, bool)]| Some(names.iter().map(|(name, ignored)| ((*name).to_owned(), *ignored)).collect());
        assert_eq!(look(&["gone.txt", "new.txt", "stays.txt"]), met(&[("new.txt", false), ("stays.txt", false)]));
        assert_eq!(look(&["12", "left.swp"]), met(&[("12", false), ("left.swp", true)]));
        for all in
            [&["new.txt", "inner"][..], &["new.txt", "Cargo.toml"], &["new.txt", ".gitignore"], &["12"], &["gone.txt"]]
        {
            assert_eq!(look(all), None, "{all:?}");
        }
    }
}
