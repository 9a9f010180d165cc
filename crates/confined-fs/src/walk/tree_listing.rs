//! What a walk over a whole root met, in a form that can be kept on the disk, with what shows later whether a walk would
//! meet the same.
//!
//! A directory has the same names as long as its facts are the same: whoever adds, removes or renames an entry changes the
//! times of the directory, and no program can set its change time (inode(7)). What ignore rules leave out follows from
//! names and from the content of the files of rules, of which a digest is kept.

mod verify_listing;

use std::{
    ffi::OsStr,
    ops::ControlFlow,
    path::Path,
    sync::Arc,
    time::{Duration, SystemTime},
};

use beneath::{FileKind, Stat};

use crate::{Dir, Entry, Ignored, Revision, Shared, StatFacts, Visibility, WalkOptions, WorkspacePath};

use super::ignores::{EXCLUDE, GITIGNORE, IGNORE};
use super::{RuleSource, Visitor, walk};

pub(crate) use verify_listing::verify_listing;
pub use verify_listing::{VerifiedListing, VerifiedName};

/// Directories one below the other of which the names are kept.
const DEEPEST: usize = 256;
/// How old the times of a directory must be: a change within the clock tick of the last one gives it no other times.
const TICK: Duration = Duration::from_secs(2);

/// The names below a root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreeListing {
    /// A digest of the configured ignore rules.
    pub rules: Revision,
    /// The root is the first one.
    pub directories: Vec<DirectoryListing>,
    /// The bytes of all names.
    pub text: Vec<u8>,
}

/// What is known of one directory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DirectoryListing {
    /// Its state; `None` where it may change again without another one.
    pub facts: Option<StatFacts>,
    /// Names are missing here: policy says that they are not to be written down.
    pub incomplete: bool,
    /// The files of ignore rules in it, each with a digest of what was read; `None` for one that cannot be read.
    pub rules: Vec<(&'static str, Option<Revision>)>,
    /// In byte order.
    pub names: Vec<NameInTree>,
}

/// One name in a directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NameInTree {
    /// Where its bytes begin, and how many they are.
    pub text: (u32, u16),
    /// What is there.
    pub kind: FileKind,
    /// Ignore rules leave it out.
    pub ignored: bool,
    /// Which directory it is; `None` where that is not known, and for what is none.
    pub below: Option<u32>,
}

/// The files that hold ignore rules, as [`DirectoryListing::rules`] names them.
pub const RULE_FILES: [&str; 3] = [EXCLUDE, IGNORE, GITIGNORE];

impl TreeListing {
    /// The bytes of a name.
    pub fn name(&self, name: NameInTree) -> &[u8] {
        let start = name.text.0 as usize;
        &self.text[start..start + usize::from(name.text.1)]
    }

    /// A name, as the system takes it.
    pub(super) fn os_name(&self, name: NameInTree) -> &OsStr {
        #[cfg(unix)]
        return std::os::unix::ffi::OsStrExt::from_bytes(self.name(name));
        // Nothing is kept there.
        #[cfg(not(unix))]
        OsStr::new(str::from_utf8(self.name(name)).unwrap_or_default())
    }

    /// What is known of a name in a directory.
    pub(super) fn find(&self, directory: &DirectoryListing, name: &OsStr) -> Option<NameInTree> {
        let at = directory.names.binary_search_by(|known| self.name(*known).cmp(name.as_encoded_bytes())).ok()?;
        Some(directory.names[at])
    }
}

impl DirectoryListing {
    /// Whether a directory with that stat has just these names.
    pub(super) fn is_state_of(&self, stat: &Stat) -> bool {
        self.facts.is_some() && !self.incomplete && stat.facts() == self.facts
    }
}

/// Lists everything below a root. `None` where the root cannot be listed, or limits kept the walk from knowing all.
pub(crate) fn list_tree(shared: &Arc<Shared>, root: &WorkspacePath) -> Option<TreeListing> {
    if root.root().is_staged() || shared.roots.has_nested(root.root()) {
        return None;
    }
    let options = WalkOptions { ignored: Ignored::Skip, max_depth: None, directories: true, symlinks: true };
    let listing = TreeListing { rules: shared.ignores.digest, directories: Vec::new(), text: Vec::new() };
    let mut lister = ListTree { listing, device: None, open: Vec::new(), opened: None, unreadable: false };
    let report = walk(shared, root, &options, &mut lister).ok()?;
    let is_whole = report.limits_hit.is_empty() && !report.stopped && !lister.listing.directories.is_empty();
    is_whole.then_some(lister.listing)
}

/// Writes down what a walk meets.
struct ListTree {
    listing: TreeListing,
    /// That of the root.
    device: Option<u64>,
    /// The directories from the root down to the one whose names come.
    open: Vec<u32>,
    /// What was opened and comes next.
    opened: Option<DirectoryListing>,
    unreadable: bool,
}

impl ListTree {
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
            Some(text) if entry.visibility() == Visibility::Open => {
                parent.names.push(NameInTree { text, kind, ignored, below });
            }
            _ => parent.incomplete = true,
        }
    }

    /// Adds a directory; its number.
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
        let settled = StatFacts::moment_before(SystemTime::now(), TICK);
        let facts = facts.filter(|facts| settled.is_some_and(|moment| facts.is_older_than(moment)));
        let directory = DirectoryListing { facts, ..DirectoryListing::default() };
        if self.open.is_empty() {
            self.device = device;
            let root = self.directory(directory);
            self.open.extend(root);
            return true;
        }
        let is_listed = device == self.device && self.open.len() < DEEPEST;
        self.opened = Some(directory).filter(|_| is_listed);
        is_listed
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
