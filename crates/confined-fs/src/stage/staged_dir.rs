//! A directory in the merged view: how a name in it is found.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::{collections::HashSet, fs::File, io, sync::Arc};

use beneath::{Failure, FileKind, Listed, LockAttempt, OpenFor, Stat};

use super::{Layer, record::folded};
use crate::limits::IfThere as _;

/// How often a look that raced with a change is repeated.
const MAX_ATTEMPTS: usize = 8;

#[derive(Debug)]
pub(crate) struct StagedDir {
    pub(super) layer: Arc<Layer>,
    /// Below the root of the layer.
    pub(super) path: PathBuf,
    /// The directory on the disk, where it showed when this was opened; else that of the layer.
    dir: beneath::Dir,
    is_lower: bool,
}

/// Where a name of the merged view is.
pub(super) enum Side {
    Upper(Stat),
    Lower(Stat),
    Nowhere,
}

fn missing() -> io::Error {
    io::ErrorKind::NotFound.into()
}

impl StagedDir {
    /// The directory at `path` of the layer; `relative` is its path below `from`, a directory of the disk.
    pub(crate) fn open(
        layer: &Arc<Layer>,
        path: &Path,
        from: &beneath::Dir,
        relative: &Path,
        purpose: OpenFor,
    ) -> Result<Self, Failure> {
        let of = |dir, is_lower| Self { layer: Arc::clone(layer), path: path.to_owned(), dir, is_lower };
        let lower = || {
            let lower = directory_below(layer, path, from, relative, from.dir_beneath(relative, purpose))?;
            Ok::<_, Failure>(lower.map(|dir| of(dir, true)))
        };
        let upper = || Ok(of(layer.upper.dir_beneath(path, purpose)?, false));
        match if path.as_os_str().is_empty() { None } else { layer.upper_stat(path)? } {
            Some(stat) if stat.kind == FileKind::Directory => {
                let lower = if layer.hides(path)? { None } else { lower()? };
                lower.map_or_else(upper, Ok)
            }
            Some(stat) if stat.kind == FileKind::Symlink => Err(Failure::Link),
            Some(_) => Err(Failure::Io(io::ErrorKind::NotADirectory.into())),
            None if layer.hides(path)? => match layer.upper_stat(path)? {
                // It was copied up, and then hidden, between the two looks.
                Some(stat) if stat.kind == FileKind::Directory => upper(),
                _ => Err(missing().into()),
            },
            None => lower()?.ok_or_else(|| missing().into()),
        }
    }

    /// As [`beneath::Dir::file_beneath`], in the merged view.
    pub(crate) fn open_file(layer: &Layer, path: &Path, from: &beneath::Dir, relative: &Path) -> Result<File, Failure> {
        match layer.upper.file_beneath(path) {
            Err(failure) if failure.is_missing() => {}
            answer => return answer,
        }
        // The layer once more: it may have been copied up, and then hidden, since the first look.
        if layer.hides(path)? {
            return layer.upper.file_beneath(path);
        }
        shadowed(layer, path, from, relative, from.file_beneath(relative))
    }

    /// As [`beneath::Dir::stat_beneath`], in the merged view.
    pub(crate) fn stat_of(layer: &Layer, path: &Path, from: &beneath::Dir, relative: &Path) -> Result<Stat, Failure> {
        if path.as_os_str().is_empty() {
            return from.stat_beneath(relative);
        }
        let upper = layer.upper_stat(path)?;
        let is_hidden = layer.hides(path)?;
        match upper {
            Some(stat) if stat.kind != FileKind::Directory || is_hidden => Ok(stat),
            Some(stat) => Ok(match shadowed(layer, path, from, relative, from.stat_beneath(relative)) {
                Ok(lower) if lower.kind == FileKind::Directory => lower,
                _ => stat,
            }),
            None if is_hidden => layer.upper.stat_beneath(path),
            None => shadowed(layer, path, from, relative, from.stat_beneath(relative)),
        }
    }

    pub(crate) fn dir_beneath(&self, relative: &Path, purpose: OpenFor) -> Result<Self, Failure> {
        if relative.as_os_str().is_empty() {
            return Ok(self.reopen(purpose)?);
        }
        let path = self.path.join(relative);
        if let Some(lower) = self.lower()? {
            return Self::open(&self.layer, &path, lower, relative, purpose);
        }
        let dir = self.layer.upper.dir_beneath(&path, purpose)?;
        Ok(Self { layer: Arc::clone(&self.layer), path, dir, is_lower: false })
    }

    pub(crate) fn stat_beneath(&self, relative: &Path) -> Result<Stat, Failure> {
        let Some(name) = relative.file_name() else { return Ok(self.stat()?) };
        let parent = self.dir_beneath(relative.parent().unwrap_or(Path::new("")), OpenFor::Traverse)?;
        Ok(parent.child_stat(name)?)
    }

    pub(crate) fn try_clone(&self) -> io::Result<Self> {
        Ok(self.through(self.dir.try_clone()?))
    }

    pub(crate) fn reopen(&self, purpose: OpenFor) -> io::Result<Self> {
        Ok(self.through(self.dir.reopen(purpose)?))
    }

    /// The same directory through another handle.
    fn through(&self, dir: beneath::Dir) -> Self {
        Self { layer: Arc::clone(&self.layer), path: self.path.clone(), dir, is_lower: self.is_lower }
    }

    pub(crate) fn child_dir(&self, name: &OsStr, purpose: OpenFor) -> io::Result<Self> {
        Ok(self.dir_beneath(Path::new(name), purpose)?)
    }

    pub(crate) fn child_file(&self, name: &OsStr) -> io::Result<File> {
        let path = self.path.join(name);
        match self.layer.upper.file_beneath(&path) {
            Err(Failure::Io(error)) if error.kind() == io::ErrorKind::NotFound => {}
            // As an open with links refused says it.
            Err(Failure::Link) => return self.upper_dir()?.child_file(name),
            answer => return Ok(answer?),
        }
        match self.lower_of(&path)? {
            Some(lower) => lower.child_file(name),
            None => Ok(self.layer.upper.file_beneath(&path)?),
        }
    }

    pub(crate) fn child_stat(&self, name: &OsStr) -> io::Result<Stat> {
        match self.place(name)? {
            Side::Upper(stat) | Side::Lower(stat) => Ok(stat),
            Side::Nowhere => Err(missing()),
        }
    }

    /// Where a name is. A directory that both have is described as that of the disk, whose identity stays.
    pub(super) fn place(&self, name: &OsStr) -> io::Result<Side> {
        let path = self.path.join(name);
        let upper = self.layer.upper_stat(&path)?;
        let lower = match self.lower_of(&path)?.map(|lower| lower.child_stat(name).if_there()) {
            Some(Err(error)) if upper.is_none() => return Err(error),
            answer => answer.and_then(Result::ok).flatten(),
        };
        Ok(match (upper, lower) {
            (Some(upper), Some(lower)) if upper.kind == FileKind::Directory && lower.kind == FileKind::Directory => {
                Side::Upper(lower)
            }
            (Some(upper), _) => Side::Upper(upper),
            (None, Some(lower)) => Side::Lower(lower),
            // It may have been copied up, and then hidden, between the two looks.
            (None, None) => self.layer.upper_stat(&path)?.map_or(Side::Nowhere, Side::Upper),
        })
    }

    pub(crate) fn child_link(&self, name: &OsStr) -> io::Result<OsString> {
        match self.place(name)? {
            Side::Upper(_) => self.upper_dir()?.child_link(name),
            Side::Lower(_) => self.lower()?.ok_or_else(missing)?.child_link(name),
            Side::Nowhere => Err(missing()),
        }
    }

    pub(crate) fn spelling(&self, name: &OsStr) -> Option<OsString> {
        match self.place(name).ok()? {
            Side::Upper(_) => self.upper_dir().ok()?.spelling(name),
            Side::Lower(_) => self.lower().ok()??.spelling(name),
            Side::Nowhere => None,
        }
    }

    pub(crate) fn stat(&self) -> io::Result<Stat> {
        self.dir.stat()
    }

    pub(crate) fn try_lock(&self) -> LockAttempt {
        self.dir.try_lock()
    }

    /// The directory whose lock [`Self::try_lock`] takes.
    #[cfg(windows)]
    pub(crate) fn into_locked(self) -> beneath::Dir {
        self.dir
    }

    pub(crate) fn list(&self) -> io::Result<Vec<Listed>> {
        let generation = || self.layer.with_record(|record| record.generation);
        let mut attempts = 0;
        loop {
            let before = generation()?;
            let names = self.merged()?;
            attempts += 1;
            // Else a name that moved meanwhile could be missing under both of its names.
            if attempts == MAX_ATTEMPTS || generation()? == before {
                return Ok(names);
            }
        }
    }

    pub(crate) fn list_at_most(&self, most: usize) -> io::Result<Vec<Listed>> {
        // Which names show is known only once both halves are listed.
        let mut names = self.list()?;
        names.truncate(most);
        Ok(names)
    }

    fn merged(&self) -> io::Result<Vec<Listed>> {
        let upper = match self.upper_dir().if_there()? {
            Some(dir) => dir.reopen(OpenFor::List)?.list()?,
            None => Vec::new(),
        };
        let Some(lower) = self.lower()? else { return Ok(upper) };
        let taken: HashSet<PathBuf> = upper.iter().map(|listed| folded(Path::new(&listed.name))).collect();
        let mut names = lower.list()?;
        self.layer.with_record(|record| {
            names.retain(|listed| {
                !taken.contains(&folded(Path::new(&listed.name))) && !record.hides(&self.path.join(&listed.name))
            });
        })?;
        names.extend(upper);
        Ok(names)
    }

    pub(crate) fn may_remove_names(&self) -> io::Result<()> {
        self.lower()?.map_or(Ok(()), beneath::Dir::may_remove_names)
    }

    /// The directory on the disk, where it shows.
    pub(super) fn lower(&self) -> io::Result<Option<&beneath::Dir>> {
        Ok(if self.is_lower && !self.layer.hides(&self.path)? { Some(&self.dir) } else { None })
    }

    /// The same, where what it has at `path`, a name in it, shows as well.
    pub(super) fn lower_of(&self, path: &Path) -> io::Result<Option<&beneath::Dir>> {
        Ok(match self.lower()? {
            Some(lower) if !self.layer.hides(path)? => Some(lower),
            _ => None,
        })
    }

    /// The directory in the layer.
    pub(super) fn upper_dir(&self) -> io::Result<beneath::Dir> {
        Ok(self.layer.upper.dir_beneath(&self.path, OpenFor::Traverse)?)
    }
}

#[cfg(unix)]
impl std::os::fd::AsFd for StagedDir {
    fn as_fd(&self) -> std::os::fd::BorrowedFd<'_> {
        self.dir.as_fd()
    }
}

/// An answer of the disk about a path that the layer does not have: where the layer has one of the directories above, and
/// the disk has something else there by now, nothing below that shows.
fn shadowed<T>(
    layer: &Layer,
    path: &Path,
    from: &beneath::Dir,
    relative: &Path,
    answer: Result<T, Failure>,
) -> Result<T, Failure> {
    if !answer.as_ref().is_err_and(passes_no_directory) {
        return answer;
    }
    let above = |path: &Path| path.ancestors().skip(1).map(Path::to_owned).collect::<Vec<_>>();
    for (above, below) in above(path).iter().zip(above(relative)) {
        if below.as_os_str().is_empty() {
            break;
        }
        if layer.upper_stat(above)?.is_some() {
            let is_directory = from.stat_beneath(&below).is_ok_and(|stat| stat.kind == FileKind::Directory);
            return if is_directory { answer } else { Err(missing().into()) };
        }
    }
    answer
}

/// The directory of the disk that shows through one of the layer; `None` where the disk has none there.
fn directory_below(
    layer: &Layer,
    path: &Path,
    from: &beneath::Dir,
    relative: &Path,
    answer: Result<beneath::Dir, Failure>,
) -> Result<Option<beneath::Dir>, Failure> {
    let is_staged = !path.as_os_str().is_empty() && layer.upper_stat(path)?.is_some();
    match shadowed(layer, path, from, relative, answer) {
        Err(failure) if is_staged && (failure.is_missing() || passes_no_directory(&failure)) => Ok(None),
        answer => answer.map(Some),
    }
}

/// Whether a path passes through a link or a file, `ENOTDIR`.
fn passes_no_directory(failure: &Failure) -> bool {
    match failure {
        Failure::Link => true,
        Failure::Io(error) => error.kind() == io::ErrorKind::NotADirectory,
    }
}
