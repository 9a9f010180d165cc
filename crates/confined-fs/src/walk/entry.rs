//! One visited name, with the authority to look at it and to open it.

mod sibling_cache;
mod stat_cache;

use std::borrow::Cow;
use std::ffi::OsStr;
use std::path::Path;
use std::sync::{Arc, Weak};

use beneath::{Failure, FileKind, Stat};

use crate::open::{Visibility, mask_or_open, regular, visibility};
use crate::{AccessError, AtPath as _, Dir, Location, OpenFile, Root, Shared, WorkspacePath, links};

pub use sibling_cache::SiblingCache;
pub use stat_cache::{ShownStats, StatCache};

/// Where a walk began: as asked, and where that truly is.
#[derive(Debug)]
pub(super) struct WalkStart {
    pub(super) asked: WorkspacePath,
    pub(super) real: WorkspacePath,
    /// Its other names (see `links::Location`).
    pub(super) aliases: Vec<WorkspacePath>,
    pub(super) shared: Arc<Shared>,
    /// Whether paths below the start are real as they are.
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
    /// That of the walks of `root`, to which no link leads.
    pub(crate) fn of_root(shared: &Arc<Shared>, root: &WorkspacePath) -> Self {
        Self(Arc::new(WalkStart::new(root, Location::direct(root.clone()), shared)))
    }

    /// The root.
    pub fn root(&self) -> &Arc<Root> {
        self.0.real.root()
    }

    /// The path below the root, which was listed.
    pub fn path(&self, relative: &Path) -> WorkspacePath {
        WorkspacePath::new(self.root(), relative)
    }

    /// What has that name in `directory`, the path below the root of a directory from which more than one name is asked for;
    /// `None` where that cannot be told.
    pub fn stat(&self, directory: &Path, name: &OsStr, siblings: &mut SiblingCache) -> Option<Stat> {
        siblings.stat(self.root(), directory, name)
    }

    /// The entry of that path, as a walk meets it.
    pub fn entry(&self, relative: &Path, kind: FileKind) -> Entry {
        Entry::new(&self.0, self.path(relative), kind, relative.components().count(), Weak::new())
    }
}

/// A name that a walk visits. Holds no descriptor, so any number can be kept.
#[derive(Clone, Debug)]
pub struct Entry {
    start: Arc<WalkStart>,
    path: WorkspacePath,
    kind: FileKind,
    depth: usize,
    /// The directory that holds it, while the walk still has it open.
    dir: Weak<Dir>,
}

impl Entry {
    pub(super) fn new(
        start: &Arc<WalkStart>,
        path: WorkspacePath,
        kind: FileKind,
        depth: usize,
        dir: Weak<Dir>,
    ) -> Self {
        Self { start: Arc::clone(start), path, kind, depth, dir }
    }

    /// A walk that started at a file.
    pub(super) fn of_file(start: &Arc<WalkStart>, kind: FileKind) -> Self {
        Self::new(start, start.asked.clone(), kind, 0, Weak::new())
    }

    /// Its path, below the start as that was asked for.
    pub fn path(&self) -> &WorkspacePath {
        &self.path
    }

    /// Its path, without the rest.
    pub fn into_path(self) -> WorkspacePath {
        self.path
    }

    /// What it is; a link is a link.
    pub fn kind(&self) -> FileKind {
        self.kind
    }

    /// How far below the start: 1 for its children, 0 for a file that is the start itself.
    pub fn depth(&self) -> usize {
        self.depth
    }

    /// What the system says about the entry itself, links not followed. A masked file is as long as what is shown.
    pub fn stat(&self) -> Result<Stat, AccessError> {
        let real = self.real();
        if self.kind == FileKind::File
            && real.root().policy().masks
            && self.visibility() == Visibility::Masked
            && let Ok(file) = self.open()
        {
            return Ok(file.stat().clone());
        }
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

    /// As [`Self::open`], of one of many in path order.
    pub fn open_among(self, siblings: &mut SiblingCache) -> Result<OpenFile, AccessError> {
        let real = self.real();
        // Before the open: with many secrets about, a search should not touch one.
        let aliases: Vec<_> = self.aliases().collect();
        let mask = mask_or_open(std::iter::once(&*real).chain(&aliases), &self.path)?;
        // From the root, not from the directory that the walk has open: one that was moved out of the root meanwhile
        // must not be read any more.
        let known = siblings.parent(&real).and_then(|(dir, name)| dir.child_file(name).ok());
        // Only the path from the root says why not.
        let file = known.map_or_else(|| real.root().dir.file_beneath(real.relative()), Ok).at(&self.path)?;
        let stat = beneath::file_stat(&file).at(&self.path)?;
        regular(&stat, &self.path)?;
        let real = if let Cow::Owned(real) = real { Some(real) } else { None };
        OpenFile::new(file, self.path, real, stat, mask)
    }

    /// What a file that is opened now would be, without opening it; `None` where only [`Self::open`] can say.
    pub fn stat_to_read(&self, siblings: &mut SiblingCache) -> Option<Stat> {
        let real = self.real();
        let aliases: Vec<_> = self.aliases().collect();
        if self.kind != FileKind::File || visibility(std::iter::once(&*real).chain(&aliases)) != Visibility::Open {
            return None;
        }
        let known = siblings.parent(&real).and_then(|(dir, name)| dir.child_stat(name).ok());
        let stat = known.or_else(|| real.root().dir.stat_beneath(real.relative()).ok());
        stat.filter(|stat| stat.kind == FileKind::File)
    }

    /// What a link leads to, when that is inside a root.
    pub fn link_target(&self) -> Option<WorkspacePath> {
        if self.kind != FileKind::Symlink {
            return None;
        }
        let target = self.target()?;
        (!target.hidden()).then_some(target.real)
    }

    /// What tools see of its content, or of that of what it links to.
    pub fn visibility(&self) -> Visibility {
        let mut names = vec![self.real().into_owned()];
        names.extend(self.aliases());
        if self.kind == FileKind::Symlink {
            names.extend(self.target().iter().flat_map(Location::names).cloned());
        }
        visibility(&names)
    }

    /// Where a link leads, by the names that the walk was started with.
    fn target(&self) -> Option<Location> {
        links::follow(&self.start.shared.roots, &self.path).ok()
    }

    /// Its other names, where links led to the start of the walk.
    fn aliases(&self) -> impl Iterator<Item = WorkspacePath> {
        let below = if self.depth == 0 { Path::new("") } else { self.path.relative_to(&self.start.asked) };
        self.start.aliases.iter().map(move |alias| self.start.shared.roots.deepest(&alias.child(below)))
    }

    /// Its path without links, in the deepest root that holds it.
    pub(super) fn real(&self) -> Cow<'_, WorkspacePath> {
        let roots = &self.start.shared.roots;
        if self.start.is_direct {
            return roots.in_nested(&self.path).map_or(Cow::Borrowed(&self.path), Cow::Owned);
        }
        let real = if self.depth == 0 {
            self.start.real.clone()
        } else {
            let below: &Path = self.path.relative_to(&self.start.asked);
            self.start.real.child(below)
        };
        Cow::Owned(roots.in_nested(&real).unwrap_or(real))
    }
}
