//! One visited name, with the authority to look at it and to open it.
//!
//! Of many entries in path order, [`SiblingCache`] opens those of one directory through its descriptor. An open from the
//! root resolves each name on the way, and all threads of a search count the references of the root while they do. One name
//! from its directory's descriptor, links refused (`O_NOFOLLOW`), saves both. [`StatCache`] opens each directory once for
//! all stats in a row.
//!
//! # Limits
//! The directory is reached from the root for each run of entries, and is held for that run alone. One that is moved out
//! of the root meanwhile is read on until the run ends, as by a walk that is in it; Landlock refuses that where it is in
//! force.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};
use std::{borrow::Cow, ffi::OsStr};

use beneath::{Dir, DirectoryStack, Failure, FileKind, OpenFor, Stat};

use crate::error::{AccessError, AtPath as _};
use crate::open::{OpenFile, readable, regular};
use crate::path::{WorkspacePath, split_path};
use crate::roots::links::{self, Location};
use crate::{root::Root, shared::Shared};

/// Where a walk began: as asked, and where that truly is.
#[derive(Debug)]
pub(super) struct WalkStart {
    pub(super) asked: WorkspacePath,
    pub(super) real: WorkspacePath,
    pub(super) aliases: Vec<WorkspacePath>,
    pub(super) shared: Arc<Shared>,
    pub(super) is_direct: bool,
}

impl WalkStart {
    pub(super) fn new(asked: &WorkspacePath, way: Location, shared: &Arc<Shared>) -> Self {
        let is_direct = *asked == way.real;
        Self { asked: asked.clone(), real: way.real, aliases: way.aliases, shared: Arc::clone(shared), is_direct }
    }

    /// Whether a name on the way to the start makes policy treat a path below it as not there.
    pub(super) fn hides(&self, below: &Path) -> bool {
        self.aliases.iter().any(|alias| alias.child(below).hidden())
    }
}

/// Where a walk of a whole root begins: makes entries of names that are kept without one.
#[derive(Clone, Debug)]
pub struct EntryOrigin(Arc<WalkStart>);

impl EntryOrigin {
    pub(crate) fn of_root(shared: &Arc<Shared>, root: &WorkspacePath) -> Self {
        Self(Arc::new(WalkStart::new(root, Location::direct(root.clone()), shared)))
    }

    pub fn root(&self) -> &Arc<Root> {
        self.0.real.root()
    }

    pub fn path(&self, relative: &Path) -> WorkspacePath {
        WorkspacePath::new(self.root(), relative)
    }

    /// Stats that name in `directory`, the path below the root of a directory from which more than one name is asked for;
    /// `None` where that is not known.
    pub fn stat(&self, directory: &Path, name: &OsStr, siblings: &mut SiblingCache) -> Option<Stat> {
        siblings.go_to(self.root(), directory)?;
        siblings.open(self.root())?.child_stat(name).ok()
    }

    pub fn entry(&self, relative: &Path, kind: FileKind) -> Entry {
        let (start, depth) = (Arc::clone(&self.0), relative.components().count());
        Entry { start, path: self.path(relative), kind, depth, dir: Weak::new() }
    }
}

/// A name that a walk visits. Holds no descriptor, so any number can be kept.
#[derive(Clone, Debug)]
pub struct Entry {
    pub(super) start: Arc<WalkStart>,
    pub(super) path: WorkspacePath,
    pub(super) kind: FileKind,
    pub(super) depth: usize,
    pub(super) dir: Weak<Dir>,
}

impl Entry {
    pub fn path(&self) -> &WorkspacePath {
        &self.path
    }

    pub fn into_path(self) -> WorkspacePath {
        self.path
    }

    /// The kind of entry; a link is a link.
    pub fn kind(&self) -> FileKind {
        self.kind
    }

    /// How far below the start: 1 for its children, 0 for a file that is the start itself.
    pub fn depth(&self) -> usize {
        self.depth
    }

    /// Stats the entry itself, links not followed.
    pub fn stat(&self) -> Result<Stat, AccessError> {
        let real = self.real();
        let answer = match (self.dir.upgrade(), real.file_name()) {
            (Some(dir), Some(name)) => dir.child_stat(name).map_err(Failure::Io),
            _ => real.root().dir.stat_beneath(real.relative()),
        };
        answer.at(&self.path)
    }

    /// Opens it for reading: a regular file, beneath its root, no link on the way, its content not
    /// denied by policy.
    pub fn open(&self) -> Result<OpenFile, AccessError> {
        self.clone().open_among(&mut SiblingCache::default())
    }

    pub fn open_among(self, siblings: &mut SiblingCache) -> Result<OpenFile, AccessError> {
        let real = self.real();
        // Before the open: with many secrets about, a search should not touch one.
        let aliases: Vec<_> = self.aliases().collect();
        std::iter::once(&*real).chain(&aliases).try_for_each(|name| readable(name, &self.path))?;
        // From the root, not from the directory that the walk has open: one that was moved out of the root meanwhile
        // must not be read any more.
        let known = siblings.parent(&real).and_then(|(dir, name)| dir.child_file(name).ok());
        // Only the path from the root says why not.
        let file = known.map_or_else(|| real.root().dir.file_beneath(real.relative()), Ok).at(&self.path)?;
        let stat = beneath::file_stat(&file).at(&self.path)?;
        regular(&stat, &self.path)?;
        let real = if let Cow::Owned(real) = real { Some(real) } else { None };
        Ok(OpenFile::new(file, self.path, real, stat))
    }

    /// Stats the file that an open would open now; `None` where only [`Self::open`] can say.
    pub fn stat_to_read(&self, siblings: &mut SiblingCache) -> Option<Stat> {
        let real = self.real();
        if self.kind != FileKind::File || self.is_secret() {
            return None;
        }
        let known = siblings.parent(&real).and_then(|(dir, name)| dir.child_stat(name).ok());
        let stat = known.or_else(|| real.root().dir.stat_beneath(real.relative()).ok());
        stat.filter(|stat| stat.kind == FileKind::File)
    }

    pub fn link_target(&self) -> Option<WorkspacePath> {
        self.target().filter(|target| !target.hidden()).map(|target| target.real)
    }

    /// Whether policy denies its content, or that of its target.
    pub fn is_secret(&self) -> bool {
        self.real().secret()
            || self.aliases().any(|alias| alias.secret())
            || self.target().is_some_and(|target| target.secret())
    }

    /// Where it leads, of a link.
    fn target(&self) -> Option<Location> {
        let is_link = self.kind == FileKind::Symlink;
        is_link.then(|| links::follow(&self.start.shared.roots, &self.path).ok()).flatten()
    }

    fn below_start(&self) -> &Path {
        if self.depth == 0 { Path::new("") } else { self.path.relative_to(&self.start.asked) }
    }

    fn aliases(&self) -> impl Iterator<Item = WorkspacePath> {
        let below = self.below_start();
        self.start.aliases.iter().map(move |alias| self.start.shared.roots.deepest(&alias.child(below)))
    }

    pub(super) fn real(&self) -> Cow<'_, WorkspacePath> {
        let roots = &self.start.shared.roots;
        if self.start.is_direct {
            return roots.in_nested(&self.path).map_or(Cow::Borrowed(&self.path), Cow::Owned);
        }
        let real = self.start.real.child(self.below_start());
        Cow::Owned(roots.in_nested(&real).unwrap_or(real))
    }
}

#[derive(Debug, Default)]
pub struct SiblingCache {
    directory: Option<(usize, PathBuf)>,
    /// Open from the second entry in a row: for one alone, it costs more than it saves.
    dir: Option<Dir>,
}

impl SiblingCache {
    /// The directory that holds a real path, with the name in it; `None` where the path is to be taken from the root.
    pub(super) fn parent<'c, 'p>(&'c mut self, real: &'p WorkspacePath) -> Option<(&'c Dir, &'p OsStr)> {
        let (parent, name) = split_path(real.relative())?;
        let is_other = self.go_to(real.root(), parent)?;
        if is_other { None } else { Some((self.open(real.root())?, name)) }
    }

    /// Makes a directory the current one; whether it was another one. `None` where directories are not kept open.
    fn go_to(&mut self, root: &Root, directory: &Path) -> Option<bool> {
        // Windows lets nobody rename a directory while it is open.
        if cfg!(windows) {
            return None;
        }
        // By their bytes: a comparison of paths takes each apart into its names, for every entry of a search.
        let is_current =
            |(index, path): &(usize, PathBuf)| *index == root.index && path.as_os_str() == directory.as_os_str();
        if self.directory.as_ref().is_some_and(is_current) {
            return Some(false);
        }
        self.dir = None;
        let mut path = self.directory.take().map(|(_, path)| path).unwrap_or_default();
        path.clear();
        path.push(directory);
        self.directory = Some((root.index, path));
        Some(true)
    }

    /// Opens the current directory, unless it is open.
    fn open(&mut self, root: &Root) -> Option<&Dir> {
        if self.dir.is_none() {
            self.dir = root.dir.dir_beneath(&self.directory.as_ref()?.1, OpenFor::Traverse).ok();
        }
        self.dir.as_ref()
    }

    pub fn clear(&mut self) {
        *self = Self::default();
    }
}

/// The directories down to the last entry, and the index of the root that they are in. A stat through them takes a
/// third of what a path from the root takes.
#[derive(Debug, Default)]
pub struct StatCache(Option<(usize, DirectoryStack<Box<Dir>>)>);

impl StatCache {
    pub fn stat(&mut self, entry: &Entry) -> Result<Stat, AccessError> {
        let real = entry.real();
        let (Some(parent), Some(name)) = (real.parent(), real.file_name()) else { return entry.stat() };
        let root = parent.root();
        if self.0.as_ref().is_none_or(|(index, _)| *index != root.index) {
            let top = root.dir.dir_beneath(Path::new(""), OpenFor::Traverse).at(entry.path())?;
            self.0 = Some((root.index, DirectoryStack::new(Box::new(top), OpenFor::Traverse)));
        }
        let Some((_, stack)) = &mut self.0 else { return entry.stat() };
        let same = stack.names().zip(parent.relative()).take_while(|(one, other)| one == other).count();
        stack.leave_to(same);
        for name in parent.relative().iter().skip(same) {
            stack.enter(name).at(entry.path())?;
        }
        stack.dir().at(entry.path())?.child_stat(name).at(entry.path())
    }
}
