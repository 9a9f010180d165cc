//! Making an entry with everything below it: built under a name nobody uses, then put in its place.
//!
//! Whoever looks sees all of it or nothing. Content is hashed on its way, so that it can be compared.

use std::ffi::{OsStr, OsString};
use std::io::{self, Read, Write as _};
use std::path::{Path, PathBuf};

use super::super::error::{AccessError, AccessErrorKind};
use super::super::handle::Stat;
use super::super::links;
use super::super::path::WorkspacePath;
use super::super::revision::Revision;
use super::super::sys::{self, Dir};
use super::super::write::{Approval, Patience, WritablePath, free_name, refusal, still};
use super::remove::{beneath, wipe};
use super::{Node, Tree, TreeEntry, TreeGuard};

/// One entry to be made. Modes are permission bits; 0 leaves them to the umask.
pub enum Part {
    /// A directory.
    Directory {
        /// Permission bits, set once everything is in it.
        mode: u32,
    },
    /// A file.
    File {
        /// Permission bits.
        mode: u32,
        /// What it will hold.
        content: Box<dyn Read>,
    },
    /// A link that says this.
    Link(OsString),
}

impl std::fmt::Debug for Part {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Directory { mode } => write!(f, "Directory({mode:o})"),
            Self::File { mode, .. } => write!(f, "File({mode:o})"),
            Self::Link(target) => write!(f, "Link({})", target.display()),
        }
    }
}

/// What was made.
#[derive(Clone, Debug, Default)]
pub struct Planted {
    /// The content of each part, in order; none for what is no file.
    pub revisions: Vec<Option<Revision>>,
    /// Bytes in its files.
    pub bytes: u64,
    /// Links that were left out because they would have led outside of the roots.
    pub links_left_out: Vec<WorkspacePath>,
}

/// Entries to be made, each directory before what it holds, the top (below "") first.
pub(super) type Parts<'p> = &'p mut dyn Iterator<Item = Result<(PathBuf, Part), AccessError>>;

impl TreeGuard {
    /// Makes an entry from its parts, each directory before what it holds, the top (at "") first.
    /// Missing directories above it are made.
    ///
    /// # Errors
    /// `Exists` when the name is taken; nothing is left behind then.
    pub fn plant(&self, to: &WritablePath, parts: Parts<'_>, _: Approval) -> Result<Planted, AccessError> {
        self.put(to, None, parts)
    }

    /// Makes the like of `tree` at a place where nothing is. Permission bits are kept; a link is
    /// copied as a link where its target is inside the roots, and left out otherwise.
    pub fn copy(&self, tree: &Tree, to: &WritablePath, _: Approval) -> Result<Planted, AccessError> {
        let leads_out = |entry: &TreeEntry| match &entry.node {
            Node::Link(target) => {
                let place = to.path().child(&entry.below);
                !links::stays_inside(&self.shared.roots, &place, Path::new(target))
            }
            _ => false,
        };
        let left_out: Vec<WorkspacePath> =
            tree.entries().iter().filter(|entry| leads_out(entry)).map(|entry| tree.path(entry)).collect();
        if tree.entries().len() == left_out.len() {
            return Err(AccessError::new(AccessErrorKind::Denied, tree.top()));
        }
        let mut parts = tree.entries().iter().filter(|entry| !leads_out(entry)).map(|entry| part(tree, entry));
        let planted = self.put(to, None, &mut parts)?;
        Ok(Planted { links_left_out: left_out, ..planted })
    }

    /// Builds, then puts in place: where nothing is, or over the file that `over` describes.
    pub(super) fn put(
        &self,
        to: &WritablePath,
        over: Option<(&Stat, Revision)>,
        parts: Parts<'_>,
    ) -> Result<Planted, AccessError> {
        let asked = to.asked();
        let failed = |error| AccessError::from_io(error, asked);
        let (dir, name, new) = self.new_place(to)?;
        if over.is_none() && dir.child_stat(&name).is_ok() {
            return Err(AccessError::new(AccessErrorKind::Exists, asked));
        }
        let aside = free_name(&dir).map_err(failed)?;
        let result = build(&dir, &aside, parts, asked, &self.patience).and_then(|planted| {
            match over {
                None => dir.move_new(&aside, &dir, &name).map_err(failed)?,
                Some((stat, revision)) => exchange(&dir, &aside, &name, stat, revision, asked)?,
            }
            Ok(planted)
        });
        if result.is_err() || over.is_some() {
            // What was built in vain, or what was replaced.
            let _ = wipe(&dir, &aside);
        }
        if result.is_ok() {
            new.keep();
        }
        let _ = dir.sync();
        result
    }
}

/// An entry of the tree on the disk as a part to be made.
pub(super) fn part(tree: &Tree, entry: &TreeEntry) -> Result<(PathBuf, Part), AccessError> {
    let path = tree.path(entry);
    let part = match &entry.node {
        Node::Directory(stat) => Part::Directory { mode: stat.permissions() },
        Node::Link(target) => Part::Link(target.clone()),
        Node::Other(stat) => return Err(AccessError::new(AccessErrorKind::Special(stat.special()), &path)),
        Node::File(seen) => {
            let opened = path.root().dir().file_beneath(path.relative());
            let file = opened.map_err(|failure| refusal(failure, &path))?;
            let stat = sys::file_stat(&file).map_err(|error| AccessError::from_io(error, &path))?;
            if !stat.same_content_state(seen) {
                return Err(AccessError::new(AccessErrorKind::Stale, &path));
            }
            // One byte more than there was shows that it grew.
            Part::File { mode: seen.permissions(), content: Box::new(file.take(seen.size.saturating_add(1))) }
        }
    };
    Ok((entry.below.clone(), part))
}

fn build(
    dir: &Dir,
    aside: &OsStr,
    parts: Parts<'_>,
    asked: &WorkspacePath,
    patience: &Patience,
) -> Result<Planted, AccessError> {
    let mut planted = Planted::default();
    let mut directories = Vec::new();
    let failed = |error| AccessError::from_io(error, asked);
    // The temporary name shows nothing yet, and is wiped by the caller.
    let heed = || if patience.ended() { Err(AccessError::new(AccessErrorKind::Stopped, asked)) } else { Ok(()) };
    for part in parts {
        heed()?;
        let (below, part) = part?;
        let opened;
        let (holder, own) = match (below.parent(), below.file_name()) {
            (Some(parent), Some(own)) => {
                opened = beneath(dir, aside, parent).map_err(failed)?;
                (&opened, own)
            }
            _ => (dir, aside),
        };
        let revision = match part {
            Part::Directory { mode } => {
                holder.make_dir(own, false).map_err(failed)?;
                directories.push((below, mode));
                None
            }
            Part::Link(target) => {
                holder.make_link(&target, own).map_err(failed)?;
                None
            }
            Part::File { mode, content } => {
                let (revision, bytes) = file(holder, own, mode, content, patience).map_err(|error| {
                    // What ended in the middle of a file ended for that reason.
                    if error.kind() == io::ErrorKind::Interrupted {
                        AccessError::new(AccessErrorKind::Stopped, asked)
                    } else {
                        failed(error)
                    }
                })?;
                planted.bytes += bytes;
                Some(revision)
            }
        };
        planted.revisions.push(revision);
    }
    // From the innermost: a directory without the right to write takes nothing any more.
    for (below, mode) in directories.iter().rev() {
        heed()?;
        let made = beneath(dir, aside, below).map_err(failed)?;
        let _ = made.sync();
        if *mode != 0 {
            made.set_mode(*mode).map_err(failed)?;
        }
    }
    Ok(planted)
}

/// `Interrupted` when the patience ends first.
fn file(
    holder: &Dir,
    name: &OsStr,
    mode: u32,
    mut content: Box<dyn Read>,
    patience: &Patience,
) -> io::Result<(Revision, u64)> {
    let mut file = holder.create(name, false)?;
    let mut hasher = Revision::hasher();
    let mut buffer = vec![0; 128 * 1024];
    let mut bytes = 0;
    loop {
        let count = match content.read(&mut buffer) {
            Ok(0) => break,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            answer => answer?,
        };
        if patience.ended() {
            return Err(io::ErrorKind::Interrupted.into());
        }
        hasher.update(&buffer[..count]);
        file.write_all(&buffer[..count])?;
        bytes += count as u64;
    }
    if mode != 0 {
        sys::set_mode(&file, mode)?;
    }
    file.sync_data()?;
    Ok((hasher.finish(), bytes))
}

/// Swaps what was built with the file it replaces, if that is still the one that was recorded.
fn exchange(
    dir: &Dir,
    aside: &OsStr,
    name: &OsStr,
    stat: &Stat,
    revision: Revision,
    asked: &WorkspacePath,
) -> Result<(), AccessError> {
    let failed = |error| AccessError::from_io(error, asked);
    let stale = || AccessError::new(AccessErrorKind::Stale, asked);
    match dir.exchange(aside, name) {
        Ok(()) if still(dir, aside, stat, revision).unwrap_or(false) => Ok(()),
        Ok(()) => {
            dir.exchange(aside, name).map_err(failed)?;
            Err(stale())
        }
        Err(error) if error.kind() == io::ErrorKind::Unsupported => {
            if !still(dir, name, stat, revision).map_err(failed)? {
                return Err(stale());
            }
            dir.rename(aside, name).map_err(failed)
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Err(stale()),
        Err(error) => Err(failed(error)),
    }
}
