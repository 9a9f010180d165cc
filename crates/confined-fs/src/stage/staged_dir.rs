//! A directory in the merged view: how a name in it is found.

use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use beneath::{Failure, FileKind, Listed, LockAttempt, OpenFor, Stat};

use super::Layer;
use super::record::folded;

/// How often a look that raced with a change is repeated.
const ATTEMPTS: usize = 8;

#[derive(Debug)]
pub(crate) struct StagedDir {
    pub(super) layer: Arc<Layer>,
    /// Below the root of the layer.
    pub(super) path: PathBuf,
    /// The directory on the disk, where it showed when this was opened.
    lower: Option<beneath::Dir>,
    /// That of the layer, where there is only that.
    upper: Option<beneath::Dir>,
}

/// Where a name of the merged view is.
pub(super) enum Place {
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
        let lower = || from.dir_beneath(relative, purpose);
        let of = |lower, upper| Self { layer: Arc::clone(layer), path: path.to_owned(), lower, upper };
        match if path.as_os_str().is_empty() { None } else { layer.upper_stat(path)? } {
            Some(stat) if stat.kind == FileKind::Directory => {
                let lower =
                    if layer.hides(path)? { None } else { directory_below(layer, path, from, relative, lower())? };
                let upper = if lower.is_some() { None } else { Some(layer.upper.dir_beneath(path, purpose)?) };
                Ok(of(lower, upper))
            }
            Some(stat) if stat.kind == FileKind::Symlink => Err(Failure::Link),
            Some(_) => Err(Failure::Io(io::ErrorKind::NotADirectory.into())),
            None if layer.hides(path)? => match layer.upper_stat(path)? {
                // It was copied up, and then hidden, between the two looks.
                Some(stat) if stat.kind == FileKind::Directory => {
                    Ok(of(None, Some(layer.upper.dir_beneath(path, purpose)?)))
                }
                _ => Err(missing().into()),
            },
            None => match directory_below(layer, path, from, relative, lower())? {
                Some(lower) => Ok(of(Some(lower), None)),
                None => Err(missing().into()),
            },
        }
    }

    /// As [`beneath::Dir::file_beneath`], in the merged view.
    pub(crate) fn open_file(layer: &Layer, path: &Path, from: &beneath::Dir, relative: &Path) -> Result<File, Failure> {
        match layer.upper.file_beneath(path) {
            Err(failure) if failure.is_missing() => {}
            answer => return answer,
        }
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
        match &self.lower {
            Some(lower) if !self.layer.hides(&self.path)? => Self::open(&self.layer, &path, lower, relative, purpose),
            _ => {
                let upper = self.layer.upper.dir_beneath(&path, purpose)?;
                Ok(Self { layer: Arc::clone(&self.layer), path, lower: None, upper: Some(upper) })
            }
        }
    }

    pub(crate) fn stat_beneath(&self, relative: &Path) -> Result<Stat, Failure> {
        let Some(name) = relative.file_name() else { return Ok(self.stat()?) };
        let parent = self.dir_beneath(relative.parent().unwrap_or(Path::new("")), OpenFor::Traverse)?;
        Ok(parent.child_stat(name)?)
    }

    pub(crate) fn try_clone(&self) -> io::Result<Self> {
        let clone = |dir: &Option<beneath::Dir>| dir.as_ref().map(beneath::Dir::try_clone).transpose();
        Ok(Self {
            layer: Arc::clone(&self.layer),
            path: self.path.clone(),
            lower: clone(&self.lower)?,
            upper: clone(&self.upper)?,
        })
    }

    pub(crate) fn reopen(&self, purpose: OpenFor) -> io::Result<Self> {
        let again = |dir: &Option<beneath::Dir>| dir.as_ref().map(|dir| dir.reopen(purpose)).transpose();
        Ok(Self {
            layer: Arc::clone(&self.layer),
            path: self.path.clone(),
            lower: again(&self.lower)?,
            upper: again(&self.upper)?,
        })
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
        match self.lower()? {
            Some(lower) if !self.layer.hides(&path)? => lower.child_file(name),
            _ => Ok(self.layer.upper.file_beneath(&path)?),
        }
    }

    pub(crate) fn child_stat(&self, name: &OsStr) -> io::Result<Stat> {
        match self.place(name)? {
            Place::Upper(stat) | Place::Lower(stat) => Ok(stat),
            Place::Nowhere => Err(missing()),
        }
    }

    /// Where a name is. A directory that both have is described as that of the disk, whose identity stays.
    pub(super) fn place(&self, name: &OsStr) -> io::Result<Place> {
        let path = self.path.join(name);
        let upper = self.layer.upper_stat(&path)?;
        let lower = match self.lower()? {
            Some(lower) if !self.layer.hides(&path)? => match lower.child_stat(name) {
                Ok(stat) => Some(stat),
                Err(error) if error.kind() == io::ErrorKind::NotFound => None,
                Err(error) if upper.is_none() => return Err(error),
                Err(_) => None,
            },
            _ => None,
        };
        Ok(match (upper, lower) {
            (Some(upper), Some(lower)) if upper.kind == FileKind::Directory && lower.kind == FileKind::Directory => {
                Place::Upper(lower)
            }
            (Some(upper), _) => Place::Upper(upper),
            (None, Some(lower)) => Place::Lower(lower),
            // It may have been copied up, and then hidden, between the two looks.
            (None, None) => self.layer.upper_stat(&path)?.map_or(Place::Nowhere, Place::Upper),
        })
    }

    pub(crate) fn child_link(&self, name: &OsStr) -> io::Result<OsString> {
        match self.place(name)? {
            Place::Upper(_) => self.upper_dir()?.child_link(name),
            Place::Lower(_) => self.lower()?.ok_or_else(missing)?.child_link(name),
            Place::Nowhere => Err(missing()),
        }
    }

    pub(crate) fn spelling(&self, name: &OsStr) -> Option<OsString> {
        match self.place(name).ok()? {
            Place::Upper(_) => self.upper_dir().ok()?.spelling(name),
            Place::Lower(_) => self.lower().ok()??.spelling(name),
            Place::Nowhere => None,
        }
    }

    pub(crate) fn stat(&self) -> io::Result<Stat> {
        match (&self.lower, &self.upper) {
            (Some(dir), _) | (None, Some(dir)) => dir.stat(),
            (None, None) => Err(missing()),
        }
    }

    pub(crate) fn try_lock(&self) -> LockAttempt {
        match (&self.lower, &self.upper) {
            (Some(dir), _) | (None, Some(dir)) => dir.try_lock(),
            (None, None) => LockAttempt::Unsupported,
        }
    }

    /// The directory whose lock [`Self::try_lock`] takes.
    #[cfg(windows)]
    pub(crate) fn into_locked(self) -> Option<beneath::Dir> {
        self.lower.or(self.upper)
    }

    pub(crate) fn list(&self) -> io::Result<Vec<Listed>> {
        let generation = || self.layer.with_record(|record| record.generation);
        let mut attempts = 0;
        loop {
            let before = generation()?;
            let names = self.merged()?;
            attempts += 1;
            // Else a name that moved meanwhile could be missing under both of its names.
            if attempts == ATTEMPTS || generation()? == before {
                return Ok(names);
            }
        }
    }

    pub(crate) fn list_at_most(&self, most: usize) -> io::Result<Vec<Listed>> {
        let mut names = self.list()?;
        names.truncate(most);
        Ok(names)
    }

    fn merged(&self) -> io::Result<Vec<Listed>> {
        let upper = match self.upper_dir() {
            Ok(dir) => dir.reopen(OpenFor::List)?.list()?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            Err(error) => return Err(error),
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
        match &self.lower {
            Some(lower) if !self.layer.hides(&self.path)? => Ok(Some(lower)),
            _ => Ok(None),
        }
    }

    /// The directory in the layer.
    pub(super) fn upper_dir(&self) -> io::Result<beneath::Dir> {
        Ok(self.layer.upper.dir_beneath(&self.path, OpenFor::Traverse)?)
    }
}

#[cfg(unix)]
impl std::os::fd::AsFd for StagedDir {
    fn as_fd(&self) -> std::os::fd::BorrowedFd<'_> {
        self.lower.as_ref().or(self.upper.as_ref()).unwrap_or(&self.layer.upper).as_fd()
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
    match &answer {
        Err(Failure::Link) => {}
        Err(Failure::Io(error)) if error.kind() == io::ErrorKind::NotADirectory => {}
        _ => return answer,
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
        Ok(dir) => Ok(Some(dir)),
        Err(failure) if failure.is_missing() && is_staged => Ok(None),
        Err(Failure::Link) if is_staged => Ok(None),
        Err(Failure::Io(error)) if is_staged && error.kind() == io::ErrorKind::NotADirectory => Ok(None),
        Err(failure) => Err(failure),
    }
}
