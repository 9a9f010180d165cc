//! What takes the place of a file: another one, which gets its name, or its own new content in place.
//!
//! Rights bind, though the rename that replaces a file asks for those of its directory alone: what this user may not write
//! is refused. And a file belongs to others, too: where another file could not stay theirs, it is written itself, if it has
//! one name; a second one may be outside the roots.

use std::{ffi::OsStr, fs::File, io, thread};

use beneath::{Attributes, OpenFor, Stat};

use super::{NewContent, Temporary};
use crate::tree::Rights;
use beneath::Dir;
use confined_fs::{AccessError, AccessErrorKind, WorkspacePath, for_changes::AtPath as _};

/// What takes the place of a file.
pub(crate) enum Replacement<'d> {
    /// A file that is complete, on the disk, with the attributes of the former one.
    File(Temporary<'d>),
    /// Its own new content, for this reason.
    InPlace(&'static str),
}

const MOUNTED: &str = "it is a mount of its own, which nothing replaces";
const NO_NEW_FILE: &str = "no file can be made next to it";
const NOT_THEIRS: &str = "a file in its place could not keep its owner and group";

/// A new file to be made in `dir`.
pub(crate) struct NewPlace<'d, 'p> {
    pub(crate) dir: &'d Dir,
    /// The name that it is made under, where that is not any free one.
    pub(crate) named: Option<&'p OsStr>,
    /// Its path, for errors.
    pub(crate) path: &'p WorkspacePath,
}

impl<'d> NewPlace<'d, '_> {
    /// A file with this content for the place of `old`, which is at the real path `path` and not touched, with the rights
    /// that it has then.
    pub(crate) fn replacement(
        &self,
        content: &NewContent<'_>,
        (path, old, stat): (&WorkspacePath, &File, &Stat),
        rights: &Rights,
    ) -> Result<Replacement<'d>, AccessError> {
        if self.dir.is_mounted(old) {
            return Ok(Replacement::InPlace(MOUNTED));
        }
        if self.dir.may_remove_names().is_err() {
            return Ok(Replacement::InPlace(NO_NEW_FILE));
        }
        let kept = rights.of_replacement(path, (old, stat));
        let mut temporary = self.filled(content, Some((&kept, stat)), &Rights::default())?;
        let new = beneath::file_stat(temporary.file()).at(self.path)?.identity;
        let is_theirs = [(kept.uid, kept.gid), (stat.identity.uid, stat.identity.gid)].contains(&(new.uid, new.gid));
        Ok(if is_theirs { Replacement::File(temporary) } else { Replacement::InPlace(NOT_THEIRS) })
    }

    /// A file with this content, on the disk, with the attributes of the file `like` or else these rights.
    pub(crate) fn filled(
        &self,
        content: &NewContent<'_>,
        like: Option<(&Attributes, &Stat)>,
        rights: &Rights,
    ) -> Result<Temporary<'d>, AccessError> {
        let stat = like.map(|(_, stat)| stat);
        let created = Temporary::create_like(self.dir, self.named, stat, !rights.are_unknown());
        let mut temporary = created.at(self.path)?;
        let filled = thread::scope(|scope| {
            if content.bytes().len() >= HASHED_ASIDE {
                // Where there is no thread for it, the content is hashed when the revision is asked for.
                let _ = thread::Builder::new().spawn_scoped(scope, || content.revision());
            }
            beneath::write_all(temporary.file(), content.bytes())?;
            match like {
                Some((attributes, _)) => attributes.give(temporary.file())?,
                None => rights.give(temporary.file())?,
            }
            beneath::sync_data(temporary.file())
        });
        filled.at(self.path)?;
        Ok(temporary)
    }
}

/// Bytes of new content from which on it is hashed beside its way to the disk: 1 MB takes 0.45 ms, a thread 0.03.
const HASHED_ASIDE: usize = 256 << 10;

/// Refuses what this user may not write: the file at the real path `path`, which is `asked` in errors.
///
/// # Errors
/// `NotWritable`, with whose it is.
pub(crate) fn may_write(path: &WorkspacePath, stat: &Stat, asked: &WorkspacePath) -> Result<(), AccessError> {
    let Some((parent, name)) = path.parent().zip(path.file_name()) else { return Ok(()) };
    let dir = parent.root().dir().dir_beneath(parent.relative(), OpenFor::Traverse).at(asked)?;
    match dir.may_write(name) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            Err(not_writable(asked, stat, "which the user of this server may not write"))
        }
        Err(error) => Err(error).at(asked),
    }
}

/// Refuses a changed file at another path, `new`, for the file at `from`, where that is not this user's to write, or `new`
/// is not its owner's and group's.
///
/// # Errors
/// `NotWritable`, with whose it is.
pub(crate) fn may_go_on_as(new: &File, from: &WorkspacePath, stat: &Stat) -> Result<(), AccessError> {
    may_write(from, stat, from)?;
    let new = beneath::file_stat(new).at(from)?.identity;
    if (new.uid, new.gid) == (stat.identity.uid, stat.identity.gid) {
        return Ok(());
    }
    Err(not_writable(from, stat, "its owner and group would be lost: rename it first, then change it there"))
}

/// Refuses to write a file in place that has more than one name, or that nobody would recover.
///
/// # Errors
/// `NotWritable`, with the reason for which it is not replaced.
pub(crate) fn may_be_in_place(
    path: &WorkspacePath,
    stat: &Stat,
    is_recovered: bool,
    why: &str,
) -> Result<(), AccessError> {
    let but = match stat.links() {
        1 if is_recovered && Dir::CHANGES_FILES => return Ok(()),
        1 => "there is no state folder that an interrupted write would be recovered from".to_owned(),
        names => format!("it has {names} names"),
    };
    Err(not_writable(path, stat, &format!("{why}, and it is not written in place, as {but}")))
}

/// The error of a file that the system does not let be replaced, as one with the attribute `a` (chattr(1)).
pub(crate) fn not_replaced(error: io::Error, path: &WorkspacePath, stat: &Stat) -> AccessError {
    match error.kind() {
        io::ErrorKind::PermissionDenied => not_writable(path, stat, "which the system does not let be replaced"),
        _ => AccessError::from_io(error, path),
    }
}

/// The refusal to change a file, with its rights.
fn not_writable(path: &WorkspacePath, stat: &Stat, why: &str) -> AccessError {
    let user = |id: u32| if id == 0 { "root".to_owned() } else { format!("uid {id}") };
    let (owner, gid) = (user(stat.identity.uid), stat.identity.gid);
    let why = format!("mode {:04o}, owner {owner}, group gid {gid}; {why}", stat.mode());
    AccessError { source: Some(io::Error::other(why)), ..AccessError::new(AccessErrorKind::NotWritable, path) }
}
