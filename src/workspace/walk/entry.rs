//! One visited name, with the authority to look at it and to open it.

use std::path::Path;
use std::sync::{Arc, Weak};

use crate::workspace::access::{readable, regular};
use crate::workspace::error::{AccessError, AccessErrorKind};
use crate::workspace::links::{self, Location};
use crate::workspace::open_file::OpenFile;
use crate::workspace::path::WorkspacePath;
use crate::workspace::shared::Shared;
use crate::workspace::stat::{FileKind, Stat};
use crate::workspace::sys::{self, Dir, Failure, Use};

use super::OPEN_AT_ONCE;

/// Where a walk began: as asked, and where that truly is.
#[derive(Debug)]
pub(super) struct Base {
    pub(super) asked: WorkspacePath,
    pub(super) real: WorkspacePath,
    /// Its other names (see `links::Location`).
    pub(super) aliases: Vec<WorkspacePath>,
    pub(super) shared: Arc<Shared>,
}

impl Base {
    /// Whether paths below the start are real as they are.
    pub(super) fn is_direct(&self) -> bool {
        self.asked == self.real
    }

    /// Whether a name on the way to the start makes policy treat a path below it as not there.
    pub(super) fn hides(&self, below: &Path) -> bool {
        self.aliases.iter().any(|alias| alias.child(below).hidden())
    }
}

/// A name that a walk visits. Holds no descriptor, so any number can be kept.
#[derive(Clone, Debug)]
pub struct Entry {
    base: Arc<Base>,
    path: WorkspacePath,
    kind: FileKind,
    depth: usize,
    /// The directory it lies in, while the walk still has it open.
    dir: Weak<Dir>,
}

impl Entry {
    pub(super) fn new(base: &Arc<Base>, path: WorkspacePath, kind: FileKind, depth: usize, dir: Weak<Dir>) -> Self {
        Self { base: Arc::clone(base), path, kind, depth, dir }
    }

    /// A walk that started at a file.
    pub(super) fn start(base: &Arc<Base>, kind: FileKind) -> Self {
        Self::new(base, base.asked.clone(), kind, 0, Weak::new())
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

    /// What the system says about the entry itself, links not followed.
    pub fn stat(&self) -> Result<Stat, AccessError> {
        let real = self.real();
        let answer = match (self.dir.upgrade(), real.file_name()) {
            (Some(dir), Some(name)) => dir.child_stat(name).map_err(Failure::Io),
            _ => real.root().dir().stat_beneath(real.relative()),
        };
        answer.map_err(|failure| self.refusal(failure))
    }

    /// Opens it for reading: a regular file, beneath its root, no link on the way, its content not
    /// denied by policy.
    pub fn open(&self) -> Result<OpenFile, AccessError> {
        let real = self.real();
        // Before the open: with many secrets about, a search should not touch one.
        readable(&real, &self.path)?;
        self.aliases().try_for_each(|alias| readable(&alias, &self.path))?;
        let open = || {
            // From the root, not from the directory's handle: a directory that was moved out of the
            // root meanwhile must not be read any more.
            let file = real.root().dir().file_beneath(real.relative())?;
            let stat = sys::file_stat(&file)?;
            Ok((file, stat))
        };
        let (file, stat) = open().map_err(|failure| self.refusal(failure))?;
        regular(&stat, &self.path)?;
        Ok(OpenFile { file, asked: self.path.clone(), real, stat })
    }

    /// What a link leads to, when that is inside a root.
    pub fn link_target(&self) -> Option<WorkspacePath> {
        if self.kind != FileKind::Symlink {
            return None;
        }
        let target = self.target()?;
        (!target.hidden()).then_some(target.real)
    }

    /// Whether policy denies its content, or that of what it links to.
    pub fn is_secret(&self) -> bool {
        let by_target = || self.kind == FileKind::Symlink && self.target().is_some_and(|target| target.secret());
        self.real().secret() || self.aliases().any(|alias| alias.secret()) || by_target()
    }

    /// Where a link leads, by the names that the walk was started with.
    fn target(&self) -> Option<Location> {
        links::follow(&self.base.shared.roots, &self.path).ok()
    }

    /// Its other names, where links led to the start of the walk.
    fn aliases(&self) -> impl Iterator<Item = WorkspacePath> {
        let below = if self.depth == 0 { Path::new("") } else { self.path.relative_to(&self.base.asked) };
        self.base.aliases.iter().map(move |alias| self.base.shared.roots.deepest(&alias.child(below)))
    }

    fn real(&self) -> WorkspacePath {
        let path = if self.base.is_direct() {
            self.path.clone()
        } else if self.depth == 0 {
            self.base.real.clone()
        } else {
            let below: &Path = self.path.relative_to(&self.base.asked);
            self.base.real.child(below)
        };
        self.base.shared.roots.deepest(&path)
    }

    fn refusal(&self, failure: Failure) -> AccessError {
        match failure {
            Failure::Link => AccessError::new(AccessErrorKind::Changed, &self.path),
            Failure::Io(error) => AccessError::from_io(error, &self.path),
        }
    }
}

/// Stats of many entries in path order. Opens a directory once for all that is asked of it in a row, which
/// takes a third of what a path from the root takes for each.
#[derive(Debug, Default)]
pub struct StatCache {
    /// The directories on the way to the last entry, the root first.
    branch: Vec<(WorkspacePath, Dir)>,
}

impl StatCache {
    /// As [`Entry::stat`].
    pub fn stat(&mut self, entry: &Entry) -> Result<Stat, AccessError> {
        let real = entry.real();
        let (Some(parent), Some(name)) = (real.parent(), real.file_name()) else { return entry.stat() };
        while let Some((last, _)) = self.branch.last() {
            if last.root().index() == parent.root().index() && parent.relative().starts_with(last.relative()) {
                break;
            }
            self.branch.pop();
        }
        if self.branch.last().is_none_or(|(last, _)| last.relative() != parent.relative()) {
            if self.branch.len() == OPEN_AT_ONCE {
                self.branch.clear();
            }
            let dir = parent.root().dir().dir_beneath(parent.relative(), Use::Pass);
            self.branch.push((parent, dir.map_err(|failure| entry.refusal(failure))?));
        }
        match self.branch.last() {
            Some((_, dir)) => dir.child_stat(name).map_err(|error| entry.refusal(Failure::Io(error))),
            None => entry.stat(),
        }
    }
}
