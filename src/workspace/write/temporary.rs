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
            let name = random_name();
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

/// A name in `dir` that nobody can guess and nothing has.
pub(in crate::workspace) fn free_name(dir: &Dir) -> io::Result<OsString> {
    for _ in 0..8 {
        let name = random_name();
        match dir.child_stat(&name) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(name),
            Err(error) => return Err(error),
            Ok(_) => {}
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

/// Whether a name is one of those that temporary files have: `.rootbound-`, 16 hexadecimal digits, `.tmp`.
pub(in crate::workspace) fn is_reserved(name: &OsStr) -> bool {
    let random = name.as_encoded_bytes().strip_prefix(PREFIX).and_then(|rest| rest.strip_suffix(SUFFIX));
    random.is_some_and(|random| random.len() == 16 && random.iter().all(u8::is_ascii_hexdigit))
}

const PREFIX: &[u8] = b".rootbound-";
const SUFFIX: &[u8] = b".tmp";

fn random_name() -> OsString {
    // RandomState is keyed by the system's random source.
    let random = RandomState::new().hash_one(0);
    OsString::from(format!(".rootbound-{random:016x}.tmp"))
}

impl Drop for Temporary<'_> {
    fn drop(&mut self) {
        if self.armed {
            let _ = self.dir.remove(&self.name);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_names_of_temporary_files_are_reserved() {
        assert!(is_reserved(&random_name()));
        assert_ne!(random_name(), random_name());
        for name in ["", ".rootbound-.tmp", ".rootbound-0123456789abcdef", ".rootbound-0123456789abcdeg.tmp", "x.tmp"] {
            assert!(!is_reserved(OsStr::new(name)), "{name}");
        }
    }
}
