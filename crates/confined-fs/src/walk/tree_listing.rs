//! The names that a walk over a whole root met, in a form that can be kept on the disk, with what shows later whether a
//! walk would meet the same.
//!
//! A directory has the same names as long as its facts are the same: adding, removing or renaming an entry changes the
//! times of the directory, and no program can set its change time (inode(7)). What ignore rules leave out follows from
//! names and from the content of the files of rules, of which a digest is kept.
//!
//! # Comparing with the disk
//! A stat of each directory takes the place of reading and sorting its names and matching them with ignore rules. What has
//! changed is listed again, one directory at a time; below a directory whose rules have changed nothing of the listing is
//! used. A directory that is replaced while this goes on may show its old names or its new ones, as in a walk.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};
use std::{ffi::OsStr, ops::ControlFlow, sync::Arc};

use beneath::{Dir, DirectoryStack, FileKind, OpenFor, Stat, StatFacts};

use crate::shared::{Shared, Workspace};
use crate::walk::ignores::{EXCLUDE_FILE, GITIGNORE_FILE, IGNORE_FILE, LocatedDir, RuleSource, holds_marker};
use crate::walk::visit::{Visitor, WalkOptions};
use crate::walk::{entry::Entry, walker::walk};
use crate::{disk_rules::worktree::GIT_ENTRY, error::AccessError, path::WorkspacePath, revision::Revision, root::Root};

/// Directories one below the other of which the names are kept.
const MAX_DEPTH: usize = 256;
/// How old the times of a directory must be: a change within the clock tick of the last one gives it no other times.
const CLOCK_TICK: Duration = Duration::from_secs(2);

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreeListing {
    pub rules: Revision,
    pub directories: Vec<DirectoryListing>,
    pub text: Vec<u8>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DirectoryListing {
    /// Its state; `None` where it may change again without another one.
    pub facts: Option<StatFacts>,
    /// Names are missing here: policy says that they are not to be written down.
    pub incomplete: bool,
    /// The files of [`RULE_FILES`] in it, each with a digest of what was read; `None` for one that cannot be read.
    pub rules: Vec<(&'static str, Option<Revision>)>,
    pub names: Vec<NameInTree>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NameInTree {
    /// Where its bytes begin, and how many they are.
    pub text: (u32, u16),
    pub kind: FileKind,
    pub ignored: bool,
    /// The index of its listing, of a directory; `None` where that is not known, and for other entries.
    pub below: Option<u32>,
}

/// The files that decide what a walk enters, as [`DirectoryListing::rules`] names them: those of ignore rules, and a `.git`
/// file, which may make its directory a linked worktree.
pub const RULE_FILES: [&str; 4] = [EXCLUDE_FILE, IGNORE_FILE, GITIGNORE_FILE, GIT_ENTRY];

impl TreeListing {
    pub fn name(&self, name: NameInTree) -> &[u8] {
        let start = name.text.0 as usize;
        &self.text[start..start + usize::from(name.text.1)]
    }

    pub(super) fn os_name(&self, name: NameInTree) -> &OsStr {
        #[cfg(unix)]
        return std::os::unix::ffi::OsStrExt::from_bytes(self.name(name));
        // Nothing is kept there.
        #[cfg(not(unix))]
        OsStr::new(str::from_utf8(self.name(name)).unwrap_or_default())
    }

    pub(super) fn find(&self, directory: &DirectoryListing, name: &OsStr) -> Option<NameInTree> {
        let at = directory.names.binary_search_by(|known| self.name(*known).cmp(name.as_encoded_bytes())).ok()?;
        Some(directory.names[at])
    }
}

impl DirectoryListing {
    pub(super) fn is_state_of(&self, stat: &Stat) -> bool {
        self.facts.is_some() && !self.incomplete && stat.facts() == self.facts
    }
}

impl Workspace {
    /// The names below a root, in a form that can be kept on the disk; `None` where the root cannot be listed, or limits
    /// kept the walk from knowing all.
    pub fn list_tree(&self, root: &WorkspacePath) -> Option<TreeListing> {
        let shared = &self.shared;
        if shared.roots.has_nested(root.root()) {
            return None;
        }
        let mut lister = ListTree::new(shared, root.root(), false);
        let report = walk(shared, root, &WalkOptions::all(None), &mut lister).ok()?;
        let is_whole = report.limits_hit.is_empty() && !report.stopped && !lister.listing.directories.is_empty();
        is_whole.then_some(lister.listing)
    }

    /// Calls `met` for the names that are below the root of `start` now, in path order, as far as they are above or below
    /// `start`: from `listing` where that is true, and from the disk where directories have changed.
    pub fn verify_listing(
        &self,
        start: &WorkspacePath,
        listing: &TreeListing,
        met: &mut dyn FnMut(VerifiedName<'_>),
    ) -> VerifiedListing {
        let (shared, root, start) = (&self.shared, start.root(), start.relative());
        if listing.rules != shared.ignores.digest(root) {
            return VerifiedListing { is_whole: false, outdated: usize::MAX };
        }
        let Ok(top) = root.dir.open().map(Arc::new) else {
            return VerifiedListing { is_whole: false, outdated: 0 };
        };
        let dirs = DirectoryStack::new(top, OpenFor::Traverse);
        let mut verify =
            Verify { shared, root, listing, start, dirs, path: PathBuf::new(), met, listed_again: 0, outdated: 0 };
        let is_whole = !shared.roots.has_nested(root) && verify.root().is_some();
        VerifiedListing { is_whole, outdated: verify.outdated }
    }
}

struct ListTree {
    listing: TreeListing,
    /// Names that policy hides are written down, too.
    keeps_hidden: bool,
    device: Option<u64>,
    open: Vec<u32>,
    opened: Option<DirectoryListing>,
    unreadable: bool,
}

impl ListTree {
    fn new(shared: &Shared, root: &Root, keeps_hidden: bool) -> Self {
        let listing = TreeListing { rules: shared.ignores.digest(root), directories: Vec::new(), text: Vec::new() };
        Self { listing, keeps_hidden, device: None, open: Vec::new(), opened: None, unreadable: false }
    }

    fn add(&mut self, entry: &Entry, ignored: bool) {
        self.open.truncate(entry.depth());
        let (opened, unreadable) = (self.opened.take(), std::mem::take(&mut self.unreadable));
        let Some(parent) = self.open.last().copied() else { return };
        let kind = entry.kind();
        let opened = opened.filter(|_| kind == FileKind::Directory && !unreadable);
        let below = opened.and_then(|directory| self.directory(directory));
        if let Some(below) = below.filter(|_| !ignored) {
            self.open.push(below);
        }
        let text = entry.path().file_name().and_then(|name| self.text(name));
        let parent = &mut self.listing.directories[parent as usize];
        match text {
            // The names of what policy hides are not written down.
            Some(text) if self.keeps_hidden || !entry.is_secret() => {
                parent.names.push(NameInTree { text, kind, ignored, below });
            }
            _ => parent.incomplete = true,
        }
    }

    fn directory(&mut self, directory: DirectoryListing) -> Option<u32> {
        let number = u32::try_from(self.listing.directories.len()).ok()?;
        self.listing.directories.push(directory);
        Some(number)
    }

    fn text(&mut self, name: &OsStr) -> Option<(u32, u16)> {
        let bytes = name.as_encoded_bytes();
        let text = (u32::try_from(self.listing.text.len()).ok()?, u16::try_from(bytes.len()).ok()?);
        self.listing.text.extend(bytes);
        Some(text)
    }
}

impl Visitor for ListTree {
    fn visit(&mut self, entry: Entry) -> ControlFlow<()> {
        self.add(&entry, false);
        ControlFlow::Continue(())
    }

    fn wants_ignored(&self) -> bool {
        true
    }

    fn ignored(&mut self, entry: Entry) {
        self.add(&entry, true);
    }

    fn opened(&mut self, dir: &Dir, _: &Path) -> bool {
        // Before it is listed: a change from then on gives it other times.
        let facts = dir.stat().ok().and_then(|stat| stat.facts());
        let device = facts.map(|facts| facts.device);
        let settled = StatFacts::moment_before(SystemTime::now(), CLOCK_TICK);
        let facts = facts.filter(|facts| settled.is_some_and(|moment| facts.is_older_than(moment)));
        let directory = DirectoryListing { facts, ..DirectoryListing::default() };
        if self.open.is_empty() {
            self.device = device;
            let root = self.directory(directory);
            self.open.extend(root);
            return true;
        }
        let is_listed = device == self.device && self.open.len() < MAX_DEPTH;
        self.opened = Some(directory).filter(|_| is_listed);
        is_listed
    }

    fn worktree(&mut self) {
        // What is below it is not listed: whether it still is one is looked at each time.
        self.opened = None;
    }

    fn rules(&mut self, _: &Path, name: &'static str, source: &RuleSource<'_>) {
        if let (RuleSource::Content(bytes), Some(here)) = (source, self.open.last()) {
            let digest = bytes.map(Revision::of);
            self.listing.directories[*here as usize].rules.push((name, digest));
        }
    }

    fn unreadable(&mut self) {
        self.unreadable = true;
    }
}

/// Directories that are listed again one by one; with more, a walk is as quick.
const MAX_LISTED_AGAIN: usize = 64;

#[derive(Clone, Copy, Debug)]
pub struct VerifiedName<'n> {
    pub relative: &'n Path,
    pub kind: FileKind,
    /// Ignore rules leave it out; below such a directory nothing is listed.
    pub ignored: bool,
    /// It is a directory that has to be walked: whether rules leave it out, and what is below it.
    pub unlisted: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VerifiedListing {
    /// All names were met; otherwise only a walk can say what is there.
    pub is_whole: bool,
    /// Directories that were found in another state than the listing knows; `usize::MAX` where other rules make it useless.
    pub outdated: usize,
}

struct Verify<'v> {
    shared: &'v Arc<Shared>,
    root: &'v Arc<Root>,
    listing: &'v TreeListing,
    start: &'v Path,
    dirs: DirectoryStack<Arc<Dir>>,
    path: PathBuf,
    met: &'v mut dyn FnMut(VerifiedName<'_>),
    listed_again: usize,
    outdated: usize,
}

impl Verify<'_> {
    /// All of it; `None` where only a walk can say what is there.
    fn root(&mut self) -> Option<()> {
        let (here, path) = (self.listing.directories.first()?, Path::new(""));
        if here.is_state_of(&self.dirs.dir().ok()?.stat().ok()?) {
            if self.has_same_rules(here, path)? {
                return self.names(here, path, true);
            }
        } else if let Ok(level) = self.list_again(here, path)?
            && level.directories.first()?.rules == here.rules
        {
            return self.level(here, path, &level);
        }
        self.outdated = usize::MAX;
        None
    }

    /// The names of a directory that is in the known state; `is_open`: it is the current one of the stack, whose parent is
    /// that otherwise. `None` as for the root.
    fn names(&mut self, here: &DirectoryListing, path: &Path, is_open: bool) -> Option<()> {
        let mut has_opened = false;
        for name in &here.names {
            let text = self.listing.os_name(*name);
            if !self.go_to(path, text) {
                continue;
            }
            let Some(below) = name.below else {
                self.meet(name.kind, name.ignored, name.kind == FileKind::Directory && !name.ignored);
                continue;
            };
            if !is_open && !has_opened {
                self.open(path)?;
                has_opened = true;
            }
            self.directory(text, name.ignored, below)?;
        }
        if has_opened {
            self.dirs.leave();
        }
        Some(())
    }

    /// The current name, which was a directory, in the current directory of the stack.
    fn directory(&mut self, name: &OsStr, ignored: bool, below: u32) -> Option<()> {
        let here = self.listing.directories.get(below as usize)?;
        // Gone since its parent was looked at, or something else.
        let stat = self.dirs.dir().ok()?.child_stat(name).ok().filter(|stat| stat.kind == FileKind::Directory)?;
        let is_same = here.is_state_of(&stat);
        if ignored {
            // A marker in it may have been the reason.
            self.meet(FileKind::Directory, is_same, !is_same);
            return Some(());
        }
        let path = self.path.clone();
        if !is_same {
            return self.changed(here, &path);
        }
        let has_rules = !here.rules.is_empty();
        if has_rules {
            self.open(&path)?;
        }
        if self.has_same_rules(here, &path)? {
            self.meet(FileKind::Directory, false, false);
            self.names(here, &path, has_rules)?;
        } else {
            self.outdated = usize::MAX;
            self.meet(FileKind::Directory, false, true);
        }
        if has_rules {
            self.dirs.leave();
        }
        Some(())
    }

    /// A directory, the current name, that is in another state than is known, or of which not all is known.
    fn changed(&mut self, here: &DirectoryListing, path: &Path) -> Option<()> {
        let level = match self.list_again(here, path)? {
            Ok(level) if level.directories.first()?.rules == here.rules => level,
            // What rules leave out below it is another matter now.
            _ => {
                self.outdated = usize::MAX;
                self.meet(FileKind::Directory, false, true);
                return Some(());
            }
        };
        self.open(path)?;
        let dir = self.dirs.dir().ok()?;
        if holds_marker(dir) {
            self.meet(FileKind::Directory, false, true);
        } else {
            self.meet(FileKind::Directory, false, false);
            self.level(here, path, &level)?;
        }
        self.dirs.leave();
        Some(())
    }

    /// The names of a directory that was listed again, which is the current one of the stack.
    fn level(&mut self, here: &DirectoryListing, path: &Path, level: &TreeListing) -> Option<()> {
        for listed in &level.directories.first()?.names {
            let (name, NameInTree { kind, ignored, .. }) = (level.os_name(*listed), *listed);
            if !self.go_to(path, name) {
                continue;
            }
            if kind != FileKind::Directory || ignored {
                self.meet(kind, ignored, false);
                continue;
            }
            let known = self.listing.find(here, name).filter(|known| known.kind == kind && !known.ignored);
            match known.and_then(|known| known.below) {
                Some(below) => self.directory(name, false, below)?,
                None => self.meet(kind, false, true),
            }
        }
        Some(())
    }

    /// Whether the files of rules in a directory, which is the current one of the stack if it has any, have the known
    /// content.
    fn has_same_rules(&mut self, here: &DirectoryListing, path: &Path) -> Option<bool> {
        for (name, known) in &here.rules {
            let dir = self.dirs.dir().ok()?;
            let located = LocatedDir { root: self.root, relative: path, dir };
            let bytes = located.read(name, &self.shared.roots, &mut |_, _| {}).ok()?;
            if bytes.as_deref().map(Revision::of) != *known {
                return Some(false);
            }
        }
        Some(true)
    }

    /// Lists one directory; the outer `None` as for the root.
    fn list_again(&mut self, here: &DirectoryListing, path: &Path) -> Option<Result<TreeListing, AccessError>> {
        // One that is always incomplete is not outdated.
        self.outdated = self.outdated.saturating_add(usize::from(!here.incomplete || here.facts.is_none()));
        self.listed_again += 1;
        if self.listed_again > MAX_LISTED_AGAIN {
            return None;
        }
        let mut level = ListTree::new(self.shared, self.root, true);
        match walk(self.shared, &WorkspacePath::new(self.root, path), &WalkOptions::all(Some(1)), &mut level) {
            Ok(report) => report.limits_hit.is_empty().then_some(Ok(level.listing)),
            Err(error) => Some(Err(error)),
        }
    }

    fn open(&mut self, path: &Path) -> Option<()> {
        let name = path.file_name()?;
        let dir = self.dirs.dir().ok()?.child_dir(name, OpenFor::Traverse).ok()?;
        self.dirs.push(name, Arc::new(dir));
        Some(())
    }

    /// Makes a name in a directory the current one; whether it is above or below the start, and policy does not hide
    /// it: that is not for the writer of the listing to decide.
    fn go_to(&mut self, directory: &Path, name: &OsStr) -> bool {
        self.path.clear();
        self.path.push(directory);
        self.path.push(name);
        let is_on_way = || self.path.starts_with(self.start) || self.start.starts_with(&self.path);
        (self.start.as_os_str().is_empty() || is_on_way()) && !self.shared.roots.hidden(self.root, &self.path)
    }

    fn meet(&mut self, kind: FileKind, ignored: bool, unlisted: bool) {
        (self.met)(VerifiedName { relative: &self.path, kind, ignored, unlisted });
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    //! After any changes, what is met is what a walk meets.

    #![expect(clippy::disallowed_methods, reason = "the tests act as another program")]

    use std::{fs, os::unix::fs::symlink, thread, time::Duration};

    use proptest::{prelude::*, test_runner::TestRunner};

    use super::*;
    use crate::{root::Access, shared::Workspace};

    /// Longer than directories must have been left alone to be trusted.
    const SETTLED_AGE: Duration = Duration::from_millis(2100);
    const SAMPLE_DIRECTORIES: [&str; 7] = ["", "a", "a/deep", "a/deep/er", "b", "b/target", "venv"];
    const SAMPLE_NAMES: [&str; 9] =
        ["one.txt", "two.o", ".gitignore", ".ignore", "Cargo.toml", "pyvenv.cfg", "key.pem", "CACHEDIR.TAG", ".hidden"];

    /// Of a worktree, of a submodule, and of none, in the same number of bytes.
    const GIT_FILES: [&str; 3] =
        ["gitdir: /r/.git/worktrees/x\n", "gitdir: /r/.git/modules/abc\n", "gitdir no/.git/worktrees/x\n"];

    /// A name that a walk meets, as text: its path, what it is, and whether it is ignored.
    type Met = (String, FileKind, bool);

    struct All(Vec<Met>);

    impl All {
        fn add(&mut self, entry: &Entry, ignored: bool) {
            self.0.push((entry.path().relative().to_str().unwrap().to_owned(), entry.kind(), ignored));
        }
    }

    impl Visitor for All {
        fn visit(&mut self, entry: Entry) -> ControlFlow<()> {
            self.add(&entry, false);
            ControlFlow::Continue(())
        }

        fn wants_ignored(&self) -> bool {
            true
        }

        fn ignored(&mut self, entry: Entry) {
            self.add(&entry, true);
        }
    }

    struct Tree {
        folder: tempfile::TempDir,
        workspace: Workspace,
        root: WorkspacePath,
    }

    impl Tree {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            for directory in SAMPLE_DIRECTORIES {
                fs::create_dir_all(folder.path().join(directory)).unwrap();
                for name in ["one.txt", "two.o"] {
                    fs::write(folder.path().join(directory).join(name), name).unwrap();
                }
            }
            fs::write(folder.path().join("a/.gitignore"), "*.o\n").unwrap();
            fs::create_dir_all(folder.path().join("b/.git/info")).unwrap();
            fs::write(folder.path().join("b/.git/info/exclude"), "two.o\n").unwrap();
            fs::create_dir(folder.path().join("env")).unwrap();
            fs::write(folder.path().join("env/pyvenv.cfg"), "").unwrap();
            symlink("one.txt", folder.path().join("a/link")).unwrap();
            let workspace = Workspace::of_directory(folder.path(), Access::ReadOnly);
            let root = workspace.root_path(&workspace.roots()[0]);
            Self { folder, workspace, root }
        }

        fn listing(&self) -> TreeListing {
            self.workspace.list_tree(&self.root).unwrap()
        }

        fn options() -> WalkOptions {
            WalkOptions::all(None)
        }

        fn walked(&self, start: &str) -> Vec<Met> {
            let mut all = All(Vec::new());
            let start = self.root.child(Path::new(start));
            walk(&self.workspace.shared, &start, &Self::options(), &mut all).unwrap();
            all.0
        }

        /// The names that are met below `start` with the listing; `None` where that is not whole.
        fn verified(&self, listing: &TreeListing, start: &str) -> Option<(Vec<Met>, VerifiedListing)> {
            let mut all = All(Vec::new());
            let met = &mut |name: VerifiedName<'_>| {
                let path = self.root.child(name.relative);
                if name.unlisted {
                    crate::walk::walker::walk_child(&self.workspace.shared, &path, &Self::options(), &mut all).unwrap();
                } else {
                    all.0.push((name.relative.to_str().unwrap().to_owned(), name.kind, name.ignored));
                }
            };
            let verified = self.workspace.verify_listing(&self.root.child(Path::new(start)), listing, met);
            let is_below = |met: &Met| Path::new(&met.0) != Path::new(start) && Path::new(&met.0).starts_with(start);
            let below = all.0.into_iter().filter(is_below).collect();
            verified.is_whole.then_some((below, verified))
        }
    }

    /// One change: what is done, in which directory, to which name, and another number.
    type Change = (u8, usize, usize, u8);

    fn change(root: &Path, (what, directory, name, number): Change) {
        if matches!(what, 4..=6) && directory == 0 {
            // The root itself stays.
            return;
        }
        let directory = root.join(SAMPLE_DIRECTORIES[directory]);
        let path = directory.join(SAMPLE_NAMES[name]);
        let other =
            root.join(SAMPLE_DIRECTORIES[usize::from(number) % SAMPLE_DIRECTORIES.len()]).join(SAMPLE_NAMES[name]);
        let _ = match what {
            0 | 1 => fs::write(&path, ["*.o\n", "*.t\n", "one*", "", "#1\n\n"][usize::from(number) % 5]),
            2 => fs::remove_file(&path),
            3 => fs::rename(&path, &other),
            4 => fs::remove_dir_all(&directory).and_then(|()| fs::create_dir(&directory)),
            5 => fs::rename(&directory, directory.with_extension("away")),
            6 => fs::rename(directory.with_extension("away"), &directory),
            7 => fs::create_dir_all(path.join("below")),
            8 => fs::remove_dir_all(&path),
            9 => symlink("one.txt", &path),
            10 => fs::create_dir_all(directory.join(".git/info")),
            11 => fs::write(directory.join(".git/info/exclude"), ["one.txt\n", "two.o\n"][usize::from(number) % 2]),
            12 => fs::remove_dir_all(directory.join(".git")).or_else(|_| fs::remove_file(directory.join(".git"))),
            13 | 14 => fs::write(directory.join(".git"), GIT_FILES[usize::from(number) % GIT_FILES.len()]),
            15 => symlink("../a/.git", directory.join(".git")),
            _ => symlink("a/.gitignore", &path),
        };
    }

    #[test]
    fn names_after_any_changes_are_those_of_a_walk() {
        let cases = std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(6);
        let changes = proptest::collection::vec(
            (0_u8..17, 0..SAMPLE_DIRECTORIES.len(), 0..SAMPLE_NAMES.len(), any::<u8>()),
            1..60,
        );
        let config =
            ProptestConfig { cases, failure_persistence: None, max_shrink_iters: 40, ..ProptestConfig::default() };
        TestRunner::new(config)
            .run(&(changes, any::<bool>()), |(changes, is_settled)| {
                let tree = Tree::new();
                if is_settled {
                    thread::sleep(SETTLED_AGE);
                }
                let listing = tree.listing();
                for (at, one) in changes.into_iter().enumerate() {
                    change(tree.folder.path(), one);
                    for start in if at % 4 == 0 { &SAMPLE_DIRECTORIES[..] } else { &[""] } {
                        if !tree.folder.path().join(start).symlink_metadata().is_ok_and(|data| data.is_dir()) {
                            continue;
                        }
                        if let Some((met, _)) = tree.verified(&listing, start) {
                            // A walk from within an ignored directory does not know that it is one.
                            let is_ignored = met.is_empty();
                            let walked = tree.walked(start);
                            prop_assert!(is_ignored || met == walked, "{one:?} {start:?}\n{met:?}\n{walked:?}");
                            prop_assert!(!is_ignored || start != &"" || walked.is_empty());
                        }
                    }
                }
                Ok(())
            })
            .unwrap();
    }

    #[test]
    fn listing_of_an_unchanged_tree_is_used_and_one_changed_directory_is_listed_again() {
        let tree = Tree::new();
        thread::sleep(SETTLED_AGE);
        let listing = tree.listing();
        let unchanged = VerifiedListing { is_whole: true, outdated: 0 };
        assert_eq!(tree.verified(&listing, ""), Some((tree.walked(""), unchanged)));
        fs::write(tree.folder.path().join("a/deep/new.txt"), "").unwrap();
        let one = VerifiedListing { is_whole: true, outdated: 1 };
        assert_eq!(tree.verified(&listing, ""), Some((tree.walked(""), one)));
        // The change time shows it alone.
        let changed = tree.folder.path().join("b/target");
        let before = fs::metadata(&changed).unwrap().modified().unwrap();
        fs::write(changed.join("new.txt"), "").unwrap();
        fs::File::open(&changed).unwrap().set_modified(before).unwrap();
        assert_eq!(fs::metadata(&changed).unwrap().modified().unwrap(), before);
        assert_eq!(tree.verified(&listing, "").unwrap().0, tree.walked(""));
        // What a marker left out, and what it leaves out from now on.
        fs::remove_file(tree.folder.path().join("env/pyvenv.cfg")).unwrap();
        fs::write(tree.folder.path().join("venv/pyvenv.cfg"), "").unwrap();
        assert_eq!(tree.verified(&listing, "").unwrap().0, tree.walked(""));
        // The same number of bytes, and the time that it had.
        let rules = tree.folder.path().join("a/.gitignore");
        let before = fs::metadata(&rules).unwrap().modified().unwrap();
        fs::write(&rules, "*.t\n").unwrap();
        fs::File::open(&rules).unwrap().set_modified(before).unwrap();
        let (met, verified) = tree.verified(&listing, "").unwrap();
        assert_eq!((met, verified.outdated), (tree.walked(""), usize::MAX));
        // A submodule that becomes a worktree, and is none again.
        let git = tree.folder.path().join("a/deep/.git");
        fs::write(&git, GIT_FILES[1]).unwrap();
        thread::sleep(SETTLED_AGE);
        let listing = tree.listing();
        let before = fs::metadata(&git).unwrap().modified().unwrap();
        for content in [GIT_FILES[0], GIT_FILES[1], GIT_FILES[0]] {
            fs::write(&git, content).unwrap();
            fs::File::options().write(true).open(&git).unwrap().set_modified(before).unwrap();
            let (met, _) = tree.verified(&listing, "").unwrap();
            assert_eq!(met, tree.walked(""));
            assert_eq!(met.iter().any(|name| name.0 == "a/deep/er"), content == GIT_FILES[1]);
        }
        let (listing, unchanged) = (tree.listing(), VerifiedListing { is_whole: true, outdated: 0 });
        thread::sleep(SETTLED_AGE);
        assert_eq!(tree.verified(&tree.listing(), ""), Some((tree.walked(""), unchanged)));
        fs::remove_file(&git).unwrap();
        assert_eq!(tree.verified(&listing, "").unwrap().0, tree.walked(""));
        let configured = TreeListing { rules: Revision::of(b"others"), ..listing };
        assert_eq!(tree.verified(&configured, ""), None);
    }

    #[test]
    fn names_that_policy_hides_are_not_in_a_listing() {
        let tree = Tree::new();
        fs::write(tree.folder.path().join("a/key.pem"), "").unwrap();
        thread::sleep(SETTLED_AGE);
        let listing = tree.listing();
        let names = listing.directories.iter().flat_map(|directory| &directory.names);
        assert!(names.clone().count() > 10 && names.clone().all(|name| listing.name(*name) != b"key.pem"));
        let (met, verified) = tree.verified(&listing, "").unwrap();
        assert_eq!((met, verified.outdated), (tree.walked(""), 0), "it is listed each time, and is not outdated");
    }
}
