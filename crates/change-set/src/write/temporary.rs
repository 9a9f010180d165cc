//! A file that is written next to its target and takes its name, or is removed.
//!
//! Where two names can be exchanged in one step, the replaced file is looked at after it has lost its name, when no
//! other program can put something else there: renameat2(2) with `RENAME_EXCHANGE`, Linux 3.15 (ext4; XFS 4.0, Btrfs
//! 4.7, others later), or `renamex_np` on APFS. Elsewhere (`EINVAL`, `ENOSYS`: NFS, many FUSE file systems) it is looked
//! at just before the rename, and a change in between is lost.

use std::ffi::{OsStr, OsString};
use std::hash::{BuildHasher as _, RandomState};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime};
use std::{collections::HashSet, fs::File, io, path::PathBuf};

use beneath::{FileKind, OpenFor, Stat};

use beneath::Dir;
use confined_fs::{
    WorkspacePath,
    for_changes::{IfThere as _, is_temporary, remove_all},
};

/// A new file in an open directory; removed when dropped before it was published.
#[derive(Debug)]
pub(crate) struct Temporary<'d> {
    dir: &'d Dir,
    name: OsString,
    file: File,
    armed: bool,
}

impl<'d> Temporary<'d> {
    /// Creates it under a name that nobody can guess (CVE-2026-46406), and never through a link.
    pub(crate) fn create(dir: &'d Dir, private: bool) -> io::Result<Self> {
        Self::create_by(dir, |name| dir.create(name, private))
    }

    /// As [`Self::create`], for the replacement of `old`, if any, and under the name `named`, which belongs to the caller,
    /// if any. One that replaces `old` is private until it gets the rights of that one.
    pub(super) fn create_like(
        dir: &'d Dir,
        named: Option<&OsStr>,
        old: Option<&Stat>,
        private: bool,
    ) -> io::Result<Self> {
        let create = |name: &OsStr| old.map_or_else(|| dir.create(name, private), |old| dir.create_like(name, old));
        match named {
            Some(name) => Ok(Self { dir, name: name.to_os_string(), file: create(name)?, armed: true }),
            None => Self::create_by(dir, create),
        }
    }

    /// It stays under the name that it has.
    pub(crate) fn keep(mut self) {
        self.armed = false;
    }

    fn create_by(dir: &'d Dir, create: impl Fn(&OsStr) -> io::Result<File>) -> io::Result<Self> {
        let mut again = 0..8;
        loop {
            let name = random_name();
            match create(&name) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists && again.next().is_some() => {}
                created => return Ok(Self { dir, file: created?, name, armed: true }),
            }
        }
    }

    /// The file, open for reading and writing.
    pub(crate) fn file(&mut self) -> &mut File {
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
        match swap_if(self.dir, &self.name, name, &is_base) {
            // `drop` removes what was replaced. If that fails, the replacement stays.
            Ok(Exchanged::Yes) => Ok(true),
            Ok(Exchanged::No) => Ok(false),
            Ok(Exchanged::NoneLeft) => {
                self.armed = false;
                Ok(false)
            }
            // Look, then rename: the best there is where names cannot be exchanged.
            Err(error) if error.kind() == io::ErrorKind::Unsupported => {
                Ok(is_base(self.dir, name)? && self.replace_any(name).map(|()| true)?)
            }
            Err(error) => Err(error),
        }
    }

    /// Replaces by its name whatever is there, for its metadata does not matter.
    pub(crate) fn replace_any(mut self, name: &OsStr) -> io::Result<()> {
        self.dir.move_over(&self.name, self.dir, name)?;
        self.armed = false;
        Ok(())
    }
}

/// The result of an exchange of two names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Exchanged {
    /// The new entry is in its place; the one it replaced has the other name and is superseded.
    Yes,
    /// Everything is as it was; the other name is that of the new entry again.
    No,
    /// The new entry is in no place: nothing has the other name any more.
    NoneLeft,
}

/// How often what came out of an exchange is put back, while other programs change the name at the same moments.
const MAX_PUT_BACK: usize = 8;

/// Gives the entry `aside` the name `name`, if `is_base` recognises what has that name; nothing that came out
/// of the exchange and is unknown is left where a caller would remove it.
///
/// # Errors
/// `Unsupported` where names cannot be exchanged; those of the system. What is called `aside` then may be removed.
pub(crate) fn swap_if(
    dir: &Dir,
    aside: &OsStr,
    name: &OsStr,
    is_base: impl Fn(&Dir, &OsStr) -> io::Result<bool>,
) -> io::Result<Exchanged> {
    let own = dir.child_stat(aside)?;
    if dir.swap(aside, dir, name).if_there()?.is_none() {
        return Ok(Exchanged::No);
    }
    // What was under `name` is under the other name now, where no other program looks for it.
    // One that cannot be looked at is not known to be the base.
    if is_base(dir, aside).unwrap_or(false) { Ok(Exchanged::Yes) } else { Ok(put_back(dir, aside, name, own)) }
}

/// `aside` came out of an exchange with `shown` and is not ours: gives it its name back, and looks what
/// comes out this time. That may again be something which a program without our lock has put there.
fn put_back(dir: &Dir, aside: &OsStr, name: &OsStr, mut shown: Stat) -> Exchanged {
    for round in 0..MAX_PUT_BACK {
        let Ok(in_hand) = dir.child_stat(aside) else { break };
        match dir.swap(aside, dir, name) {
            Ok(()) => {}
            // What was shown is gone, so the name is free, or was a moment ago.
            Err(error) if error.kind() == io::ErrorKind::NotFound => match dir.rename_new(aside, name) {
                Ok(()) => return Exchanged::NoneLeft,
                Err(_) => continue,
            },
            Err(_) => break,
        }
        let Ok(out) = dir.child_stat(aside) else { break };
        if out.same_content_state(&shown) {
            if round == 0 {
                return Exchanged::No;
            }
            // An older file of another program, superseded by what is there now, but not by us.
            break;
        }
        shown = in_hand;
    }
    keep_aside(dir, aside, name);
    Exchanged::NoneLeft
}

/// Gives an entry that must not be lost a name next to `name` that is not removed as a stale temporary.
pub(crate) fn keep_aside(dir: &Dir, aside: &OsStr, name: &OsStr) {
    let long = OsString::new();
    // The second without the name, which may be too long for a longer one.
    for stem in [name, &long] {
        for number in 1..100 {
            let mut kept = stem.to_os_string();
            kept.push(".rootbound-kept");
            if number > 1 {
                kept.push(format!("-{number}"));
            }
            match dir.rename_new(aside, &kept) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(_) => break,
                Ok(()) => return,
            }
        }
    }
}

/// A name in `dir` that nobody can guess and nothing has.
pub(crate) fn free_name(dir: &Dir) -> io::Result<OsString> {
    for _ in 0..8 {
        let name = random_name();
        if dir.child_stat(&name).if_there()?.is_none() {
            return Ok(name);
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

impl Drop for Temporary<'_> {
    fn drop(&mut self) {
        if self.armed && self.dir.remove(&self.name).is_err() {
            // Once more: network file systems refuse for a moment.
            let _ = self.dir.remove(&self.name);
        }
    }
}

// The names of these files, which `confined_fs` reserves.

/// A name for a temporary file that nobody can guess.
fn random_name() -> OsString {
    OsString::from(format!(".rootbound-{:016x}.tmp", random()))
}

/// A number that nobody can guess.
pub(crate) fn random() -> u64 {
    // RandomState is keyed by the system's random source.
    // std draws the keys once for each thread and counts one up from there; SipHash does not show that.
    RandomState::new().hash_one(0)
}

// Temporary entries that a killed process left behind: removed by the next one that writes there.
//
// The first write of a process in a directory looks for them, which costs one listing; only names of
// temporary files count, and only when nothing has happened to the entry for a while. Nothing is lost
// with one: it is a copy not yet in place, or what has been replaced or recorded already.

/// Directories that one process remembers to have looked at.
const MAX_REMEMBERED: usize = 10_000;
/// A tree that is being built is not touched at its top for longer than a file.
const TREES: u32 = 6;

/// How long a temporary file must have been left alone to count as stale: ten minutes unless
/// set otherwise, six times as long for a directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StaleAfter(pub Duration);

impl Default for StaleAfter {
    fn default() -> Self {
        Self(Duration::from_secs(600))
    }
}

/// Finds them, once in each directory.
#[derive(Debug, Default)]
pub(crate) struct StaleTemporaries {
    after: StaleAfter,
    /// The directories that were looked at.
    seen: Mutex<HashSet<PathBuf>>,
}

impl StaleTemporaries {
    pub(crate) fn new(after: StaleAfter) -> Self {
        Self { after, seen: Mutex::default() }
    }

    /// Removes them from `dir`, which is at `path`, unless this process has looked there before.
    /// What cannot be listed or removed stays.
    pub(crate) fn sweep_once(&self, path: &WorkspacePath, dir: &Dir) {
        if !self.is_first_look(path.host()) {
            return;
        }
        let Ok(names) = dir.reopen(OpenFor::List).and_then(|dir| dir.list()) else { return };
        for listed in names.iter().filter(|listed| is_temporary(&listed.name)) {
            let Ok(stat) = dir.child_stat(&listed.name) else { continue };
            let StaleAfter(quiet) = self.after;
            if left_alone(&stat, if stat.kind == FileKind::Directory { quiet * TREES } else { quiet }) {
                match remove_all(dir, &listed.name) {
                    Ok(()) => tracing::info!("removed a temporary file that an earlier process left behind"),
                    Err(error) => tracing::debug!(%error, "a temporary file of an earlier process stays"),
                }
            }
        }
    }

    fn is_first_look(&self, directory: PathBuf) -> bool {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if seen.len() >= MAX_REMEMBERED {
            // Each that is forgotten costs one more listing.
            seen.clear();
        }
        seen.insert(directory)
    }
}

/// By the time of the last change to the entry itself: a file that has just been put aside under a
/// temporary name may have been written long ago.
fn left_alone(stat: &Stat, quiet: Duration) -> bool {
    let (seconds, nanoseconds) = stat.identity.changed;
    let Ok(seconds) = u64::try_from(seconds) else { return false };
    let changed = SystemTime::UNIX_EPOCH + Duration::new(seconds, nanoseconds);
    SystemTime::now().duration_since(changed).is_ok_and(|age| age >= quiet)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::disallowed_methods, reason = "the tests act as another program")]

    use super::*;

    #[test]
    fn random_names_are_reserved_and_differ() {
        assert!(is_temporary(&random_name()));
        assert_ne!(random_name(), random_name());
    }

    /// The contents of two names after a replacement during which another program acts: `meanwhile` is run between the
    /// exchange and the look.
    #[cfg(any(target_os = "linux", target_vendor = "apple"))]
    fn replaced(base: bool, meanwhile: impl Fn(&std::path::Path)) -> (bool, Vec<(String, String)>) {
        use std::io::Write as _;

        let temp = tempfile::tempdir().unwrap();
        std::fs::write(temp.path().join("f"), "there").unwrap();
        let dir = Dir::open_ambient(temp.path(), false).unwrap();
        let mut temporary = Temporary::create(&dir, true).unwrap();
        temporary.file().write_all(b"ours").unwrap();
        let done = temporary
            .replace(OsStr::new("f"), |_, _| {
                meanwhile(temp.path());
                Ok(base)
            })
            .unwrap();
        let entries = std::fs::read_dir(temp.path()).unwrap().map(|entry| entry.unwrap());
        let mut left: Vec<(String, String)> = entries
            .map(|entry| (entry.file_name().into_string().unwrap(), std::fs::read_to_string(entry.path()).unwrap()))
            .collect();
        left.sort();
        (done, left)
    }

    #[cfg(any(target_os = "linux", target_vendor = "apple"))]
    #[test]
    fn exchanged_file_is_removed_only_when_it_was_the_base() {
        let named = |entries: &[(&str, &str)]| -> Vec<(String, String)> {
            entries.iter().map(|(name, content)| ((*name).to_owned(), (*content).to_owned())).collect()
        };
        let over = |dir: &std::path::Path| {
            std::fs::write(dir.join("new"), "theirs").unwrap();
            std::fs::rename(dir.join("new"), dir.join("f")).unwrap();
        };
        assert_eq!(replaced(true, |_| {}), (true, named(&[("f", "ours")])));
        assert_eq!(replaced(false, |_| {}), (false, named(&[("f", "there")])));
        // Another program puts its file over ours while that can be seen.
        let both = named(&[("f", "theirs"), ("f.rootbound-kept", "there")]);
        assert_eq!(replaced(false, over), (false, both));
        // Or writes into ours.
        let both = named(&[("f", "ours and theirs"), ("f.rootbound-kept", "there")]);
        assert_eq!(replaced(false, |dir| std::fs::write(dir.join("f"), "ours and theirs").unwrap()), (false, both));
        // Or removes it.
        assert_eq!(
            replaced(false, |dir| std::fs::remove_file(dir.join("f")).unwrap()),
            (false, named(&[("f", "there")]))
        );
        // After a replacement that was right it may do what it likes.
        assert_eq!(replaced(true, over), (true, named(&[("f", "theirs")])));
    }

    #[test]
    fn kept_file_gets_a_free_name() {
        let temp = tempfile::tempdir().unwrap();
        let dir = Dir::open_ambient(temp.path(), false).unwrap();
        let long = "n".repeat(250);
        for (name, kept) in [
            ("f", "f.rootbound-kept"),
            ("f", "f.rootbound-kept-2"),
            (long.as_str(), ".rootbound-kept"),
            (long.as_str(), ".rootbound-kept-2"),
        ] {
            std::fs::write(temp.path().join("aside"), name).unwrap();
            keep_aside(&dir, OsStr::new("aside"), OsStr::new(name));
            assert_eq!(std::fs::read_to_string(temp.path().join(kept)).unwrap(), name);
        }
        assert_eq!(std::fs::read_dir(temp.path()).unwrap().count(), 4);
    }
}
