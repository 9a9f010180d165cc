//! How the directory of a root is reached: through its own handle, or through that of a directory above it.
//!
//! A root that may be missing has no handle of its own. Each open goes from the handle of a directory above it, held
//! since the start, down by exactly its names, and no link is followed (`openat2` with `RESOLVE_BENEATH` and
//! `RESOLVE_NO_SYMLINKS`, else `O_NOFOLLOW` per name). So it is served as soon as it exists, a directory made again in
//! its place as well, and there is nothing to swap between a look and an open.
//!
//! Limits: nothing here creates the directory. What is at its path may be anything: see [`RootDir::stat_beneath`].

use std::path::{Path, PathBuf};
use std::{borrow::Cow, fs::File, io};

use beneath::{Dir, Failure, FileKind, OpenFor, Stat};

#[derive(Debug)]
pub struct RootDir {
    /// The directory itself, or one above it; `None` of one that could not be opened at the start: nothing is in it.
    held: Option<Dir>,
    /// The path from there to the directory: "" for itself.
    below: PathBuf,
}

impl RootDir {
    pub(crate) fn existing(dir: Dir) -> Self {
        Self { held: Some(dir), below: PathBuf::new() }
    }

    pub(crate) fn beneath(held: Dir, below: PathBuf) -> Self {
        Self { held: Some(held), below }
    }

    /// One that could not be opened at the start, and is not looked at again.
    pub(crate) fn unusable() -> Self {
        Self { held: None, below: PathBuf::new() }
    }

    /// The handle that every open starts from: the directory itself, or one above it.
    pub(crate) fn held(&self) -> io::Result<&Dir> {
        self.held.as_ref().ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    /// Looks up a name in the directory, which shows whether it may be used and whether its file system answers. One that
    /// is missing is no error.
    pub(crate) fn probe(&self) -> io::Result<()> {
        match self.stat_beneath(Path::new(".rootbound")) {
            Err(Failure::Io(error)) if !beneath::is_nothing(&error) => Err(error),
            _ => Ok(()),
        }
    }

    /// Whether the kernel confines paths beneath it.
    pub(crate) fn is_confined(&self) -> bool {
        self.held.as_ref().is_none_or(Dir::is_confined)
    }

    pub(crate) fn open(&self) -> Result<Dir, Failure> {
        self.dir_beneath(Path::new(""), OpenFor::Traverse)
    }

    /// As [`Dir::dir_beneath`]; "" is the root itself.
    pub fn dir_beneath(&self, relative: &Path, purpose: OpenFor) -> Result<Dir, Failure> {
        self.held()?.dir_beneath(&self.path(relative), purpose)
    }

    /// As `file_beneath` of a directory; the root itself is never opened as a file, whatever is at its path.
    pub fn file_beneath(&self, relative: &Path) -> Result<File, Failure> {
        if relative.as_os_str().is_empty() {
            return Err(Failure::Io(io::ErrorKind::IsADirectory.into()));
        }
        self.held()?.file_beneath(&self.path(relative))
    }

    /// As [`Dir::stat_beneath`]; what is at the path of the root itself, and is no directory, is an error.
    pub fn stat_beneath(&self, relative: &Path) -> Result<Stat, Failure> {
        let stat = self.held()?.stat_beneath(&self.path(relative))?;
        match stat.kind {
            FileKind::Directory => Ok(stat),
            _ if !relative.as_os_str().is_empty() => Ok(stat),
            FileKind::Symlink => Err(Failure::Link),
            FileKind::File | FileKind::Other => Err(Failure::Io(io::ErrorKind::NotADirectory.into())),
        }
    }

    pub(crate) fn read_cached(&self, relative: &Path, limit: usize) -> Option<(File, Stat, Vec<u8>)> {
        if relative.as_os_str().is_empty() {
            return None;
        }
        self.held.as_ref()?.read_cached(&self.path(relative), limit)
    }

    fn path<'p>(&'p self, relative: &'p Path) -> Cow<'p, Path> {
        match (self.below.as_os_str().is_empty(), relative.as_os_str().is_empty()) {
            (true, _) => Cow::Borrowed(relative),
            // `join` with "" would end in a slash, which follows a link.
            (false, true) => Cow::Borrowed(&self.below),
            (false, false) => Cow::Owned(self.below.join(relative)),
        }
    }
}
