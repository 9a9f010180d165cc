//! Moving and removing entries by their names in open directories.

#![expect(clippy::disallowed_methods, reason = "by the path that the system gives for the open directory")]

use std::{ffi::OsStr, fs, fs::File, io};

use super::{dir::Dir, retried};
use crate::{Attributes, FileKind, Stat};

impl Dir {
    /// Makes a directory; rights are inherited.
    pub fn make_dir(&self, name: &OsStr, _private: bool) -> io::Result<()> {
        let path = self.host(name)?;
        // ERROR_ACCESS_DENIED while a directory of that name is still being deleted.
        retried(|| match fs::create_dir(&path) {
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied && self.child_stat(name).is_ok() => {
                Err(io::ErrorKind::AlreadyExists.into())
            }
            answer => answer,
        })
    }

    /// Unlinks a file, or a link: the link to a directory, and a junction, are directories here.
    pub fn remove(&self, name: &OsStr) -> io::Result<()> {
        let path = self.host(name)?;
        retried(|| match fs::remove_file(&path) {
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied && self.is_link(name) => {
                fs::remove_dir(&path)
            }
            answer => answer,
        })
    }

    pub fn remove_dir(&self, name: &OsStr) -> io::Result<()> {
        let path = self.host(name)?;
        let is_empty =
            || self.child_dir(name, super::super::OpenFor::List)?.list_at_most(1).map(|names| names.is_empty());
        retried(|| match fs::remove_dir(&path) {
            Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty && is_empty().is_ok_and(|empty| !empty) => {
                Err(io::ErrorKind::DirectoryNotEmpty.into())
            }
            answer => answer,
        })
    }

    /// Gives `from` the new name `to`, which must be free (`AlreadyExists` otherwise).
    pub fn rename_new(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        self.move_new(from, self, to)
    }

    /// Moves an entry to a new name in `to_dir`, which must be free (`AlreadyExists` otherwise).
    pub fn move_new(&self, from: &OsStr, to_dir: &Self, to: &OsStr) -> io::Result<()> {
        if self.child_stat(from)?.kind == FileKind::File {
            // A second name fails when the name is taken, and the standard library's rename never does.
            match fs::hard_link(self.host(from)?, to_dir.host(to)?) {
                Ok(()) => {
                    // A failure leaves one name: who is told of it looks for no second one.
                    return self.remove(from).inspect_err(|_| {
                        let _ = to_dir.remove(to);
                    });
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Err(error),
                // FAT and many network drives have no hard links.
                Err(_) => {}
            }
        }
        match to_dir.child_stat(to) {
            Ok(_) => Err(io::ErrorKind::AlreadyExists.into()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => self.move_over(from, to_dir, to),
            Err(error) => Err(error),
        }
    }

    /// Moves an entry to a name in `to_dir`, replacing a file there, in one call: a crash leaves the old file or the new
    /// one. A link itself is moved. The standard library asks for POSIX semantics where the target is open
    /// (<https://doc.rust-lang.org/std/fs/fn.rename.html#platform-specific-behavior>).
    pub fn move_over(&self, from: &OsStr, to_dir: &Self, to: &OsStr) -> io::Result<()> {
        let (from, to) = (self.host(from)?, to_dir.host(to)?);
        retried(|| fs::rename(&from, &to))
    }

    /// There is no exchange here.
    pub fn swap(&self, _one: &OsStr, _other_dir: &Self, _other: &OsStr) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Links take a privilege here that an ordinary user does not have.
    pub fn make_link(&self, _target: &OsStr, _name: &OsStr) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Gives a file a second name, which must be free (`AlreadyExists` otherwise).
    pub fn add_name(&self, name: &OsStr, second: &OsStr) -> io::Result<()> {
        fs::hard_link(self.host(name)?, self.host(second)?)
    }

    /// Rights are the files' own here.
    pub fn may_remove_names(&self) -> io::Result<()> {
        Ok(())
    }

    /// The read-only attribute is in the [`Stat`]; what an ACL forbids, the replacement says.
    pub fn may_write(&self, _name: &OsStr) -> io::Result<()> {
        Ok(())
    }

    /// A file is no mount here.
    pub fn is_mounted(&self, _file: &File) -> bool {
        false
    }

    /// There is no such call here.
    pub fn sync_file_system(&self) -> io::Result<bool> {
        Ok(false)
    }

    /// Rights are inherited here.
    pub fn set_mode(&self, _mode: u32) -> io::Result<()> {
        Ok(())
    }

    /// Rights are inherited here.
    pub fn mode_when_recreated(&self, _file: &File, stat: &Stat) -> io::Result<u32> {
        Ok(stat.permissions())
    }

    /// Rights are inherited here.
    pub fn give(&self, _attributes: &Attributes) -> io::Result<()> {
        Ok(())
    }

    /// There are none here.
    pub fn attributes(&self) -> io::Result<Attributes> {
        Ok(Attributes::default())
    }

    fn is_link(&self, name: &OsStr) -> bool {
        self.child_stat(name).is_ok_and(|stat| stat.kind == FileKind::Symlink)
    }
}
