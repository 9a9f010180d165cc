//! The visitor of a survey: sets a watch on each directory before it is listed, and says of each name what a
//! list has to know.

use std::ffi::OsStr;
use std::ops::ControlFlow;
use std::path::Path;

use super::{Unwatchable, Watched, WatchedEntry, Watcher};
use crate::workspace::path::WorkspacePath;
use crate::workspace::stat::FileKind;
use crate::workspace::sys::{Dir, Use};
use crate::workspace::walk::{Entry, RuleSource, Visitor};

/// Watches, and passes on what a walk meets.
pub(super) struct WatchTree<'w> {
    watcher: &'w mut Watcher,
    met: &'w mut dyn FnMut(WatchedEntry),
    deep: bool,
    started: bool,
    /// What was said of the entry that comes next.
    unreadable: bool,
    unwatched: bool,
}

impl<'w> WatchTree<'w> {
    /// One that calls `met` for each name; what is known of rules is renewed where the survey is `deep`.
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
        // Without a watch on each directory the survey is of no use.
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
        !self.unwatched
    }

    fn repository(&mut self, dir: &Dir, path: &Path) {
        let owner = self.path(path);
        let open = |dir: &Dir, name: &str| dir.child_dir(OsStr::new(name), Use::Pass).ok();
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

    fn rules(&mut self, path: &Path, name: &'static str, origin: &RuleSource<'_>) {
        // What is known of rules is about all below their directory: only a survey of that renews it.
        if self.deep {
            let owner = self.path(path);
            self.watcher.met_rules(owner, name, origin);
        }
    }

    fn unreadable(&mut self) {
        self.unreadable = true;
    }
}
