//! A file that is written beside its target and takes its place, or vanishes.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::hash::{BuildHasher as _, RandomState};
use std::io;

use crate::workspace::sys::Dir;

/// A new file in an open directory; removed when dropped before it was published.
#[derive(Debug)]
pub(in crate::workspace) struct Temporary<'d> {
    dir: &'d Dir,
    name: OsString,
    file: File,
    armed: bool,
}

impl<'d> Temporary<'d> {
    /// Creates it under a name that nobody can guess (CVE-2026-46406), and never through a link.
    pub(in crate::workspace) fn create(dir: &'d Dir, private: bool) -> io::Result<Self> {
        let mut attempts = 0;
        loop {
            // RandomState is keyed by the system's random source.
            let random = RandomState::new().hash_one(attempts);
            let name = OsString::from(format!(".rootbound-{random:016x}.tmp"));
            match dir.create(&name, private) {
                Ok(file) => return Ok(Self { dir, name, file, armed: true }),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists && attempts < 8 => {
                    attempts += 1;
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// The file, open for reading and writing.
    pub(in crate::workspace) fn file(&mut self) -> &mut File {
        &mut self.file
    }

    /// Gives it a name that must be free.
    pub(super) fn publish_new(mut self, name: &OsStr) -> io::Result<()> {
        self.dir.rename_new(&self.name, name)?;
        self.armed = false;
        Ok(())
    }

    /// Puts it in the place of what `is_base` recognises under `name`. False, with everything as it
    /// was, when something else is there.
    pub(super) fn replace(
        mut self,
        name: &OsStr,
        is_base: impl Fn(&Dir, &OsStr) -> io::Result<bool>,
    ) -> io::Result<bool> {
        let gone = |error: &io::Error| error.kind() == io::ErrorKind::NotFound;
        match self.dir.exchange(&self.name, name) {
            Ok(()) => {}
            Err(error) if gone(&error) => return Ok(false),
            Err(error) if error.kind() == io::ErrorKind::Unsupported => {
                return self.replace_in_two_steps(name, is_base);
            }
            Err(error) => return Err(error),
        }
        // What was under `name` is under our own name now, where nobody else looks for it.
        if is_base(self.dir, &self.name).unwrap_or(false) {
            // If it cannot be removed, `drop` tries once more; the replacement stands either way.
            return Ok(true);
        }
        if let Err(error) = self.dir.exchange(&self.name, name) {
            // Removing now would remove what another process put there: leave it for a person.
            self.armed = false;
            return Err(error);
        }
        Ok(false)
    }

    /// Replaces by its name whatever is there, for its metadata does not matter.
    pub(in crate::workspace) fn replace_any(mut self, name: &OsStr) -> io::Result<()> {
        self.dir.rename(&self.name, name)?;
        self.armed = false;
        Ok(())
    }

    /// Look, then rename: the best there is where names cannot be exchanged.
    fn replace_in_two_steps(
        mut self,
        name: &OsStr,
        is_base: impl Fn(&Dir, &OsStr) -> io::Result<bool>,
    ) -> io::Result<bool> {
        if !is_base(self.dir, name)? {
            return Ok(false);
        }
        self.dir.rename(&self.name, name)?;
        self.armed = false;
        Ok(true)
    }
}

impl Drop for Temporary<'_> {
    fn drop(&mut self) {
        if self.armed {
            let _ = self.dir.remove(&self.name);
        }
    }
}
