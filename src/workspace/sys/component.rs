//! The careful walk: a path beneath a directory, opened one component at a time, no link followed.
//!
//! Used where `openat2` is missing or switched off. Each step is a single name in the directory
//! opened by the step before, so nothing can be swapped between a check and a use.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::path::Path;

use super::{Dir, Failure, Use};
use crate::workspace::stat::{FileKind, Stat};

/// The directory that holds the last component, and that component (none for the start itself).
fn descend<'p>(dir: &Dir, relative: &'p Path) -> Result<(Dir, Option<&'p OsStr>), Failure> {
    let mut here = dir.again()?;
    let mut names = relative.iter().peekable();
    while let Some(name) = names.next() {
        if names.peek().is_none() {
            return Ok((here, Some(name)));
        }
        here = step(&here, name, Use::Pass)?;
    }
    Ok((here, None))
}

/// One directory down, telling a link from other refusals. A directory that was refused and is one
/// now was a link in between: the caller looks again.
fn step(dir: &Dir, name: &OsStr, purpose: Use) -> Result<Dir, Failure> {
    dir.child_dir(name, purpose).map_err(|error| match (error.kind(), dir.child_stat(name)) {
        (_, Ok(stat)) if stat.kind == FileKind::Symlink => Failure::Link,
        (io::ErrorKind::NotADirectory, Ok(stat)) if stat.kind == FileKind::Directory => Failure::Link,
        _ => Failure::Io(error),
    })
}

/// Opens a directory beneath `dir`.
pub(super) fn dir(dir: &Dir, relative: &Path, purpose: Use) -> Result<Dir, Failure> {
    match descend(dir, relative)? {
        (parent, Some(name)) => step(&parent, name, purpose),
        (here, None) => Ok(here.reopen(purpose)?),
    }
}

/// Opens a file for reading beneath `dir`.
pub(super) fn file(dir: &Dir, relative: &Path) -> Result<File, Failure> {
    match descend(dir, relative)? {
        (parent, Some(name)) => parent.child_file(name).map_err(|error| match parent.child_stat(name) {
            Ok(stat) if stat.kind == FileKind::Symlink => Failure::Link,
            _ if super::met_a_link(&error) => Failure::Link,
            _ => Failure::Io(error),
        }),
        (_, None) => Err(Failure::Io(io::ErrorKind::IsADirectory.into())),
    }
}

/// What is at a path beneath `dir`; a link at its end is reported as a link.
pub(super) fn stat(dir: &Dir, relative: &Path) -> Result<Stat, Failure> {
    match descend(dir, relative)? {
        (parent, Some(name)) => Ok(parent.child_stat(name)?),
        (here, None) => Ok(here.stat()?),
    }
}
