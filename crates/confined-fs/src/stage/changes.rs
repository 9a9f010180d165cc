//! Changes in the merged view: each goes to the layer alone, in steps of which one shows (see [`super`]).

use std::{ffi::OsStr, fs::File, io, sync::Arc};

use beneath::{FileKind, OpenFor, Stat};

use super::staged_dir::{Side, StagedDir};
use super::{NodeSummary, layer::LayerLock, record::RecordLine};
use crate::write::{is_reserved, is_temporary};
use crate::{Revision, limits::IfThere as _};

/// How often a file of the disk that changes while it is copied is copied again.
const MAX_ATTEMPTS: usize = 4;

impl StagedDir {
    pub(crate) fn make_dir(&self, name: &OsStr, private: bool) -> io::Result<()> {
        let lock = self.begin()?;
        self.new_entry(&lock, name)?.make_dir(name, private)
    }

    pub(crate) fn create(&self, name: &OsStr, private: bool) -> io::Result<File> {
        let lock = self.begin()?;
        self.layer.check_room()?;
        self.new_entry(&lock, name)?.create(name, private)
    }

    pub(crate) fn create_like(&self, name: &OsStr, old: &Stat) -> io::Result<File> {
        let lock = self.begin()?;
        self.layer.check_room()?;
        self.new_entry(&lock, name)?.create_like(name, old)
    }

    pub(crate) fn make_link(&self, target: &OsStr, name: &OsStr) -> io::Result<()> {
        let lock = self.begin()?;
        self.new_entry(&lock, name)?.make_link(target, name)
    }

    pub(crate) fn append(&self, name: &OsStr) -> io::Result<File> {
        let lock = self.begin()?;
        self.layer.check_room()?;
        match self.place(name)? {
            Side::Nowhere => return self.new_entry(&lock, name)?.append(name),
            Side::Upper(_) => {}
            Side::Lower(stat) => self.copy_up(&lock, name, &stat)?,
        }
        self.upper_dir()?.append(name)
    }

    pub(crate) fn remove(&self, name: &OsStr) -> io::Result<()> {
        let lock = self.begin()?;
        let (stat, is_upper) = self.existing(name)?;
        if stat.kind == FileKind::Directory {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        self.take_name(&lock, name)?;
        // After the name is hidden: else that of the disk would show meanwhile, and after a kill for good.
        if is_upper { self.upper_dir()?.remove(name) } else { Ok(()) }
    }

    pub(crate) fn remove_dir(&self, name: &OsStr) -> io::Result<()> {
        let lock = self.begin()?;
        let (stat, _) = self.existing(name)?;
        if stat.kind != FileKind::Directory {
            return Err(io::ErrorKind::NotADirectory.into());
        }
        if !self.child_dir(name, OpenFor::List)?.list()?.is_empty() {
            return Err(io::ErrorKind::DirectoryNotEmpty.into());
        }
        self.take_name(&lock, name)?;
        let is_in_upper = self.layer.upper_stat(&self.path.join(name))?.is_some();
        if is_in_upper { self.upper_dir()?.remove_dir(name) } else { Ok(()) }
    }

    pub(crate) fn rename_new(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        self.relocate(from, self, to, false)
    }

    pub(crate) fn move_new(&self, from: &OsStr, to_dir: &Self, to: &OsStr) -> io::Result<()> {
        self.relocate(from, to_dir, to, false)
    }

    pub(crate) fn move_over(&self, from: &OsStr, to_dir: &Self, to: &OsStr) -> io::Result<()> {
        self.relocate(from, to_dir, to, true)
    }

    /// A directory of the disk, empty in the merged view, can be set aside under a reserved name: it is hidden, and one of
    /// the layer moves. Where that is rolled back, the directory of the layer stays over the hidden one.
    fn relocate(&self, from: &OsStr, to_dir: &Self, to: &OsStr, replaces: bool) -> io::Result<()> {
        self.same_layer(to_dir)?;
        let lock = self.begin()?;
        to_dir.check()?;
        let (source, _) = self.existing(from)?;
        let is_directory = source.kind == FileKind::Directory;
        match to_dir.place(to)? {
            Side::Nowhere => {}
            Side::Upper(_) | Side::Lower(_) if !replaces => return Err(io::ErrorKind::AlreadyExists.into()),
            Side::Upper(target) | Side::Lower(target) => {
                let is_itself = target.same_file(&source);
                match (is_directory, target.kind == FileKind::Directory) {
                    (false, true) => return Err(io::ErrorKind::IsADirectory.into()),
                    (true, false) => return Err(io::ErrorKind::NotADirectory.into()),
                    (true, true) if !is_itself => return Err(io::ErrorKind::DirectoryNotEmpty.into()),
                    _ => {}
                }
            }
        }
        if is_directory && is_reserved(to) && !is_temporary(to) && self.shows_nothing_of_lower(from)? {
            self.make_upper(from)?;
        } else {
            self.movable(&lock, from, &source)?;
        }
        to_dir.note_bases(&lock, &[to])?;
        self.take_name(&lock, from)?;
        self.upper_dir()?.move_over(from, &to_dir.upper_parent()?, to)
    }

    pub(crate) fn swap(&self, one: &OsStr, other_dir: &Self, other: &OsStr) -> io::Result<()> {
        if cfg!(windows) {
            return Err(io::ErrorKind::Unsupported.into());
        }
        self.same_layer(other_dir)?;
        let lock = self.begin()?;
        other_dir.check()?;
        let sides = [(self, one), (other_dir, other)];
        for (dir, name) in sides {
            let (stat, _) = dir.existing(name)?;
            dir.movable(&lock, name, &stat)?;
            dir.note_bases(&lock, &[name])?;
        }
        self.upper_dir()?.swap(one, &other_dir.upper_dir()?, other)
    }

    /// A directory of the disk is neither: what is below it would still show, or not move along.
    fn movable(&self, lock: &LayerLock<'_>, name: &OsStr, stat: &Stat) -> io::Result<()> {
        if !self.shows_lower(name)? {
            return Ok(());
        }
        if matches!(stat.kind, FileKind::Directory | FileKind::Other) {
            return Err(io::ErrorKind::CrossesDevices.into());
        }
        match self.place(name)? {
            Side::Lower(stat) => self.copy_up(lock, name, &stat),
            Side::Upper(_) | Side::Nowhere => Ok(()),
        }
    }

    pub(crate) fn set_mode(&self, mode: u32) -> io::Result<()> {
        // That of a directory of the disk is not staged.
        if self.lower()?.is_some() { Ok(()) } else { self.upper_dir()?.set_mode(mode) }
    }

    pub(crate) fn set_owner_of(&self, stat: &Stat) {
        if let (Ok(None), Ok(upper)) = (self.lower(), self.upper_dir()) {
            upper.set_owner_of(stat);
        }
    }

    pub(crate) fn sync(&self) -> io::Result<()> {
        self.layer.sync_record()?;
        self.upper_dir().if_there()?.map_or(Ok(()), |dir| dir.sync())
    }

    pub(crate) fn sync_file_system(&self) -> io::Result<bool> {
        self.layer.upper.sync_file_system()
    }

    /// The turn to change something in this directory, which is still there, and may be changed on the disk as well.
    fn begin(&self) -> io::Result<LayerLock<'_>> {
        let lock = self.layer.lock()?;
        self.check()?;
        Ok(lock)
    }

    fn check(&self) -> io::Result<()> {
        let is_there = self.lower()?.is_some() || self.path.as_os_str().is_empty() || {
            self.layer.upper_stat(&self.path)?.is_some_and(|stat| stat.kind == FileKind::Directory)
        };
        if is_there { self.may_remove_names() } else { Err(io::ErrorKind::NotFound.into()) }
    }

    fn same_layer(&self, other: &Self) -> io::Result<()> {
        if Arc::ptr_eq(&self.layer, &other.layer) { Ok(()) } else { Err(io::ErrorKind::CrossesDevices.into()) }
    }

    /// The entry of a name, and whether the layer has it.
    fn existing(&self, name: &OsStr) -> io::Result<(Stat, bool)> {
        match self.place(name)? {
            Side::Upper(stat) => Ok((stat, true)),
            Side::Lower(stat) => Ok((stat, false)),
            Side::Nowhere => Err(io::ErrorKind::NotFound.into()),
        }
    }

    /// Whether the disk has an entry of this name that is not hidden, whether or not the layer has one over it.
    fn shows_lower(&self, name: &OsStr) -> io::Result<bool> {
        let Some(lower) = self.lower_of(&self.path.join(name))? else { return Ok(false) };
        Ok(lower.child_stat(name).if_there()?.is_some())
    }

    /// The directory in the layer for an entry that is made in it, with a free name.
    fn new_entry(&self, lock: &LayerLock<'_>, name: &OsStr) -> io::Result<beneath::Dir> {
        match self.place(name)? {
            Side::Nowhere => {}
            Side::Upper(_) | Side::Lower(_) => return Err(io::ErrorKind::AlreadyExists.into()),
        }
        self.note_bases(lock, &[name])?;
        self.upper_parent()
    }

    /// Whether a directory can leave its name: it is one of the layer alone, or each name in that of the disk is hidden.
    fn shows_nothing_of_lower(&self, name: &OsStr) -> io::Result<bool> {
        if !self.shows_lower(name)? {
            return Ok(true);
        }
        let Some(lower) = self.lower()? else { return Ok(true) };
        let listed = lower.child_dir(name, OpenFor::List)?.list()?;
        let path = self.path.join(name);
        self.layer.with_record(|record| listed.iter().all(|listed| record.hides(&path.join(&listed.name))))
    }

    /// The directory of this name in the layer, made where only the disk has it.
    fn make_upper(&self, name: &OsStr) -> io::Result<()> {
        match self.upper_parent()?.make_dir(name, false) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
            _ => Ok(()),
        }
    }

    /// The directory in the layer, made with those above it where it is missing.
    fn upper_parent(&self) -> io::Result<beneath::Dir> {
        let mut dir = self.layer.upper.reopen(OpenFor::Traverse)?;
        for name in &self.path {
            dir = if let Some(next) = dir.child_dir(name, OpenFor::Traverse).if_there()? {
                next
            } else {
                dir.make_dir(name, false)?;
                dir.child_dir(name, OpenFor::Traverse)?
            };
        }
        Ok(dir)
    }

    /// Hides what the disk has under a name that is given up, once its base is known.
    fn take_name(&self, lock: &LayerLock<'_>, name: &OsStr) -> io::Result<()> {
        self.note_bases(lock, &[name])?;
        if !self.shows_lower(name)? {
            return Ok(());
        }
        if is_reserved(name) {
            // Left behind by a server that changes the disk, which removes it.
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        lock.add(&[RecordLine::Hide(self.path.join(name))])
    }

    /// Records what the disk has at these names, where that is not known yet.
    fn note_bases(&self, lock: &LayerLock<'_>, names: &[&OsStr]) -> io::Result<()> {
        let mut lines = Vec::new();
        for name in names {
            let path = self.path.join(name);
            // What is under such a name is on its way to another one.
            if path.iter().any(is_reserved) || self.layer.with_record(|record| record.has_base(&path))? {
                continue;
            }
            if !RecordLine::is_writable(&path) {
                return Err(io::ErrorKind::InvalidFilename.into());
            }
            let lower = self.lower_of(&path)?;
            let base = lower.map_or(Ok(NodeSummary::Absent), |lower| NodeSummary::of(lower, name))?;
            if base != NodeSummary::Absent || self.layer.with_record(|record| record.base(&path))?.is_none() {
                lines.push(RecordLine::Base(base, path));
            }
        }
        if lines.is_empty() { Ok(()) } else { lock.add(&lines) }
    }

    /// Copies a file or link of the disk to the layer, where nothing has its name: the same content, time and rights.
    fn copy_up(&self, lock: &LayerLock<'_>, name: &OsStr, stat: &Stat) -> io::Result<()> {
        let lower = self.lower()?.ok_or(io::ErrorKind::NotFound)?;
        if stat.kind == FileKind::Symlink {
            self.note_bases(lock, &[name])?;
            return self.upper_parent()?.make_link(&lower.child_link(name)?, name);
        }
        self.layer.check_room()?;
        for _ in 0..MAX_ATTEMPTS {
            let source = lower.child_file(name)?;
            let before = beneath::file_stat(&source)?;
            if before.kind != FileKind::File {
                break;
            }
            let copy = lock.new_copy()?;
            let revision = Revision::of_copied(&mut &source, |bytes| beneath::write_all(&copy, bytes))?;
            beneath::carry_attributes(&source, &before, &copy)?;
            if let Some(modified) = before.modified {
                // A file system may not keep times; the content is what counts.
                let _ = beneath::set_modified(&copy, modified);
            }
            beneath::sync_data(&copy)?;
            if !beneath::file_stat(&source)?.same_content_state(&before) {
                continue;
            }
            drop(copy);
            let path = self.path.join(name);
            if !self.layer.with_record(|record| record.has_base(&path))? {
                if !RecordLine::is_writable(&path) {
                    return Err(io::ErrorKind::InvalidFilename.into());
                }
                // Before the copy shows: a change without a known base counts as a conflict, and is never applied.
                lock.add(&[RecordLine::Base(NodeSummary::File(revision, before.permissions()), path)])?;
            }
            return lock.publish_copy(&self.upper_parent()?, name);
        }
        Err(io::ErrorKind::StaleNetworkFileHandle.into())
    }
}
