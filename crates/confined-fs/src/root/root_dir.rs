//! How the directory of a root is reached: through its own handle, or through that of a directory above it.
//!
//! A root that may be missing has no handle of its own. Each open goes from the handle of a directory above it, held
//! since the start, down by exactly its names, and no link is followed (`openat2` with `RESOLVE_BENEATH` and
//! `RESOLVE_NO_SYMLINKS`, else `O_NOFOLLOW` per name). So it is served as soon as it exists, a directory made again in
//! its place as well, and there is nothing to swap between a look and an open.
//!
//! Limits: nothing here creates the directory. What is at its path may be anything: see [`RootDir::stat_beneath`].

use std::path::{Path, PathBuf};
use std::{borrow::Cow, fs::File, io, sync::Arc};

use beneath::{Failure, FileKind, OpenFor, Stat};

use crate::Dir;
use crate::stage::{Layer, StagedDir};

/// The directory of one root.
#[derive(Debug)]
pub(crate) struct RootDir {
    /// The directory itself, or one above it.
    held: beneath::Dir,
    /// The path from there to the directory: "" for itself.
    below: PathBuf,
    /// The layer over it, and where it is in that.
    staged: Option<(Arc<Layer>, PathBuf)>,
}

impl RootDir {
    /// A directory that is there, by its own handle.
    pub(crate) fn existing(dir: beneath::Dir) -> Self {
        Self { held: dir, below: PathBuf::new(), staged: None }
    }

    /// A directory that may be missing, `below` the one that is `held`.
    pub(crate) fn beneath(held: beneath::Dir, below: PathBuf) -> Self {
        Self { held, below, staged: None }
    }

    /// From now on everything below it is seen with this layer, which has the directory at `path`.
    pub(crate) fn stage(&mut self, layer: &Arc<Layer>, path: PathBuf) {
        self.staged = Some((Arc::clone(layer), path));
    }

    /// Whether changes of it go to a layer.
    pub(crate) fn is_staged(&self) -> bool {
        self.staged.is_some()
    }

    /// The handle that every open starts from: the directory itself, or one above it.
    pub(crate) fn held(&self) -> &beneath::Dir {
        &self.held
    }

    /// Whether the kernel confines paths beneath it.
    pub(crate) fn is_confined(&self) -> bool {
        self.held.is_confined()
    }

    /// The directory itself, open.
    pub(crate) fn open(&self) -> Result<Dir, Failure> {
        self.dir_beneath(Path::new(""), OpenFor::Traverse)
    }

    /// As [`Dir::dir_beneath`]; "" is the root itself.
    pub(crate) fn dir_beneath(&self, relative: &Path, purpose: OpenFor) -> Result<Dir, Failure> {
        if let Some((layer, top)) = &self.staged {
            let dir = StagedDir::open(layer, &joined(top, relative), &self.held, &self.path(relative), purpose)?;
            return Ok(Dir::Staged(Box::new(dir)));
        }
        self.held.dir_beneath(&self.path(relative), purpose).map(Dir::Plain)
    }

    /// As `file_beneath` of a directory; the root itself is never opened as a file, whatever is at its path.
    pub(crate) fn file_beneath(&self, relative: &Path) -> Result<File, Failure> {
        if relative.as_os_str().is_empty() {
            return Err(Failure::Io(io::ErrorKind::IsADirectory.into()));
        }
        match &self.staged {
            None => self.held.file_beneath(&self.path(relative)),
            Some((layer, top)) => StagedDir::open_file(layer, &joined(top, relative), &self.held, &self.path(relative)),
        }
    }

    /// As [`Dir::stat_beneath`]; what is at the path of the root itself, and is no directory, is an error.
    pub(crate) fn stat_beneath(&self, relative: &Path) -> Result<Stat, Failure> {
        let stat = match &self.staged {
            None => self.held.stat_beneath(&self.path(relative))?,
            Some((layer, top)) => StagedDir::stat_of(layer, &joined(top, relative), &self.held, &self.path(relative))?,
        };
        match stat.kind {
            FileKind::Directory => Ok(stat),
            _ if !relative.as_os_str().is_empty() => Ok(stat),
            FileKind::Symlink => Err(Failure::Link),
            FileKind::File | FileKind::Other => Err(Failure::Io(io::ErrorKind::NotADirectory.into())),
        }
    }

    /// As `read_cached` of a directory.
    pub(crate) fn read_cached(&self, relative: &Path, limit: usize) -> Option<(File, Stat, Vec<u8>)> {
        if relative.as_os_str().is_empty() || self.is_staged() {
            return None;
        }
        self.held.read_cached(&self.path(relative), limit)
    }

    fn path<'p>(&'p self, relative: &'p Path) -> Cow<'p, Path> {
        joined(&self.below, relative)
    }
}

fn joined<'p>(top: &'p Path, relative: &'p Path) -> Cow<'p, Path> {
    match (top.as_os_str().is_empty(), relative.as_os_str().is_empty()) {
        (true, _) => Cow::Borrowed(relative),
        // `join` with "" would end in a slash, which follows a link.
        (false, true) => Cow::Borrowed(top),
        (false, false) => Cow::Owned(top.join(relative)),
    }
}
