//! The state of an entry (a file, a link, a directory), and its change from one to another, as every change compares it,
//! keeps it and writes it into the journal.

use std::ffi::{OsStr, OsString};
use std::{fs::File, io, sync::Arc};

use beneath::{Attributes, FileKind, OpenFor, Stat};

use crate::write::NewDirectory;
use beneath::Dir;
use confined_fs::{Revision, WorkspacePath, for_changes::IfThere as _};

/// An entry as a change finds or leaves it. Rights are not compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EntryState {
    /// A regular file, with its content.
    File(FileState),
    /// A link with this target.
    Link(OsString),
    /// A directory. Its entries are not compared.
    Directory {
        /// Of those of its mode the lower nine bits, and the sticky bit.
        rights: Rights,
    },
}

/// A regular file as a change finds or leaves it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileState {
    /// The hash of the content on the disk.
    pub revision: Revision,
    /// Who may do what with it.
    pub rights: Rights,
}

/// Who may do what with an entry, and what else the system keeps of it, as far as that is known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rights {
    /// Permission bits that give nobody more rights when the entry is made again: all that is known where `attributes` is
    /// none. 0 where they are not known, or left to the umask.
    pub mode: u32,
    /// Owner, group, the whole mode, ACLs and attributes of users.
    pub attributes: Option<Arc<Attributes>>,
}

/// Bytes of attributes that a state has; with more it has the ACLs alone.
const MAX_ATTRIBUTES: usize = 16 << 10;

impl Rights {
    /// A mode alone; 0 leaves it to the umask.
    pub const fn of_mode(mode: u32) -> Self {
        Self { mode, attributes: None }
    }

    /// Those of the entry at a real path, which is `stat`. `gone`: the path above it that is made again as well, if any.
    pub fn of(path: &WorkspacePath, stat: &Stat, gone: Option<&WorkspacePath>) -> Self {
        let file = path.root().dir().file_beneath(path.relative()).ok();
        let mode = mode_when_recreated(path, (file.as_ref(), stat), gone);
        Self { mode, attributes: file.and_then(|file| kept(Attributes::of(&file, stat))) }
    }

    /// Those of a copy of the entry at a real path, which is `stat`: permission bits alone.
    pub(crate) fn of_copy(path: &WorkspacePath, stat: &Stat) -> Self {
        let file = path.root().dir().file_beneath(path.relative()).ok();
        Self::of_mode(mode_when_recreated(path, (file.as_ref(), stat), None))
    }

    /// What an entry with the rights `now` gets when it becomes again one that had these: its own, where somebody has taken
    /// some away since.
    #[must_use]
    pub fn in_place_of(&self, now: &Self) -> Self {
        let attributes = match (&self.attributes, &now.attributes) {
            (Some(former), Some(now)) => Some(Arc::new(former.in_place_of(now))),
            (attributes, _) => attributes.clone(),
        };
        Self { mode: narrower(self.mode, now.mode), attributes }
    }

    /// Whether an entry that has the rights `now` would get other ones.
    pub fn changes(&self, now: &Self) -> bool {
        match (&self.attributes, &now.attributes) {
            (Some(wanted), Some(now)) => wanted != now,
            _ => self.mode != 0 && now.mode & !self.mode != 0,
        }
    }

    /// What is given to the file that takes the place of the open `file` at a real path, which is `stat`: these, as far as
    /// they are known, else its own, and no more than the mode.
    pub(crate) fn of_replacement(&self, path: &WorkspacePath, (file, stat): (&File, &Stat)) -> Attributes {
        let now = Attributes::of(file, stat);
        match &self.attributes {
            Some(wanted) => (**wanted).clone(),
            None if self.mode != 0 && mode_when_recreated(path, (Some(file), stat), None) & !self.mode != 0 => {
                Attributes { mode: now.mode & (!0o777 | self.mode), ..now }
            }
            None => now,
        }
    }

    pub(crate) fn give(&self, file: &File) -> io::Result<()> {
        match &self.attributes {
            Some(attributes) => attributes.give(file),
            None if self.mode != 0 => beneath::set_mode(file, self.mode),
            None => Ok(()),
        }
    }

    pub(crate) fn give_to_directory(&self, dir: &Dir) -> io::Result<()> {
        match &self.attributes {
            Some(attributes) => dir.give(attributes),
            // Looked at first, which costs less than to open it for being changed.
            None if self.mode != 0 && dir.stat()?.mode() != self.mode & 0o1777 => dir.set_mode(self.mode),
            None => Ok(()),
        }
    }

    /// Whether nothing is known of them.
    pub(crate) fn are_unknown(&self) -> bool {
        self.mode == 0 && self.attributes.is_none()
    }
}

/// Attributes as a state has them; `None` on a system without them.
fn kept(mut attributes: Attributes) -> Option<Arc<Attributes>> {
    let size: usize = attributes.extended.iter().map(|(name, value)| name.len() + value.len()).sum();
    if size > MAX_ATTRIBUTES {
        attributes.extended.retain(|name, _| name.starts_with(b"system."));
    }
    cfg!(unix).then(|| Arc::new(attributes))
}

/// The permission bits that both have; 0 is an unknown mode.
pub fn narrower(one: u32, other: u32) -> u32 {
    match one & other {
        _ if one == 0 || other == 0 => one | other,
        0 => NO_RIGHTS,
        both => both,
    }
}

/// The permission bits that the entry at a real path, which is `stat` and open as `file` where it can be read, may have when
/// it is made again, so that nobody has more rights than now. `gone`: the path above it that is made again as well, if any.
fn mode_when_recreated(
    path: &WorkspacePath,
    (file, stat): (Option<&File>, &Stat),
    gone: Option<&WorkspacePath>,
) -> u32 {
    let look = || {
        let parent = gone.unwrap_or(path).parent()?;
        let parent = path.root().dir().dir_beneath(parent.relative(), OpenFor::Traverse).ok()?;
        parent.mode_when_recreated(file?, stat).ok()
    };
    let own = stat.permissions() & 0o700;
    // What cannot be looked at may have an ACL.
    let mode = if own == stat.permissions() { own } else { look().unwrap_or(own) };
    let sticky = if stat.kind == FileKind::Directory { stat.mode() & 0o1000 } else { 0 };
    if mode == 0 && cfg!(unix) { NO_RIGHTS | sticky } else { mode | sticky }
}

/// Permission bits in place of 0, which are rights that are not known: a bit that no permission has.
const NO_RIGHTS: u32 = 0o10000;

impl From<Revision> for EntryState {
    /// A file with this content, whatever its rights.
    fn from(revision: Revision) -> Self {
        Self::File(FileState { revision, rights: Rights::default() })
    }
}

impl EntryState {
    /// Whether the entry of this name is in this state; false where there is none.
    pub(crate) fn is_at(&self, dir: &Dir, name: &OsStr) -> io::Result<bool> {
        let Some(stat) = dir.child_stat(name).if_there()? else { return Ok(false) };
        match (self, stat.kind) {
            (Self::File(file), FileKind::File) => Ok(Revision::of_reader(&mut dir.child_file(name)?)? == file.revision),
            (Self::Link(target), FileKind::Symlink) => Ok(dir.child_link(name)? == *target),
            (Self::Directory { .. }, FileKind::Directory) => Ok(true),
            _ => Ok(false),
        }
    }
}

/// The change of one entry. Paths are real ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntryChange {
    /// The path of the entry, after the change.
    pub path: WorkspacePath,
    /// What was there before, of a directory itself without what it held; `None` where nothing was.
    pub from: Option<EntryState>,
    /// What is there since; `None` where nothing is. A file that was moved has its mark in the place of a revision.
    pub to: Option<EntryState>,
    /// Where the entry was before, with all in it; its path is free since, unless something replaces it.
    pub moved_from: Option<WorkspacePath>,
    /// The bytes that alone were put into the file.
    pub appended: Option<AppendedPart>,
    /// What alone differs in the content of the file, where that is short.
    pub edited: Option<EditedPart>,
    /// Whether it is a directory that was made for another entry of the change: it goes without a word, or stays.
    pub is_parent: bool,
    /// Device and inode of a directory that was made, where they are known: another one that has its place stays.
    pub identity: Option<(u64, u64)>,
    /// [`Tree::content_mark`](super::Tree::content_mark) of what was moved, where it is known.
    pub mark: Option<Revision>,
}

impl EntryChange {
    /// A change of what is at `path`.
    pub fn new(path: &WorkspacePath, from: Option<EntryState>, to: Option<EntryState>) -> Self {
        Self {
            path: path.clone(),
            from,
            to,
            moved_from: None,
            appended: None,
            edited: None,
            is_parent: false,
            identity: None,
            mark: None,
        }
    }

    /// An entry with this mark that was moved from `from`.
    pub fn moved(
        from: &WorkspacePath,
        to: &WorkspacePath,
        (is, mark): (EntryState, Revision),
        replaced: Option<EntryState>,
    ) -> Self {
        Self { moved_from: Some(from.clone()), mark: Some(mark), ..Self::new(to, replaced, Some(is)) }
    }

    /// A directory that was made for another entry.
    pub fn parent(made: &NewDirectory) -> Self {
        let is = EntryState::Directory { rights: Rights::default() };
        Self { is_parent: true, identity: made.identity(), ..Self::new(made.path(), None, Some(is)) }
    }

    /// The paths that name it: it is the last change "to" each of them.
    pub fn names(&self) -> impl Iterator<Item = &WorkspacePath> {
        self.moved_from.iter().chain([&self.path])
    }
}

/// The bytes that an append has put into a file: others may have appended since.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AppendedPart {
    /// Where they began.
    pub at: u64,
    /// The revision of these bytes, which are kept as a content.
    pub tail: Revision,
}

/// How a content differs from the one before: between its first and its last bytes, which both have, it has another middle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EditedPart {
    /// Bytes at the beginning of both.
    pub head: usize,
    /// Bytes at the end of both.
    pub tail: usize,
    /// What the later one has in between.
    pub middle: String,
}

/// Bytes of the longest middle that is kept.
const MAX_MIDDLE: usize = 1_000;
/// Bytes of the longest content that is compared: 256 KiB take 0.2 ms.
const MAX_COMPARED: usize = 256 << 10;

impl EditedPart {
    /// The difference of two contents of at most 256 KiB; `None` where it is longer than 1,000 bytes, or no UTF-8.
    pub fn of(old: &[u8], new: &[u8]) -> Option<Self> {
        if old.len().max(new.len()) > MAX_COMPARED {
            return None;
        }
        let is_inside = |bytes: &[u8], at: usize| bytes.get(at).is_some_and(|byte| byte & 0xc0 == 0x80);
        let mut head = old.iter().zip(new).take_while(|(one, other)| one == other).count();
        while head > 0 && is_inside(new, head) {
            head -= 1;
        }
        let ends = old[head..].iter().rev().zip(new[head..].iter().rev());
        let mut tail = ends.take_while(|(one, other)| one == other).count();
        while tail > 0 && is_inside(new, new.len() - tail) {
            tail -= 1;
        }
        let middle =
            std::str::from_utf8(&new[head..new.len() - tail]).ok().filter(|middle| middle.len() <= MAX_MIDDLE)?;
        Some(Self { head, tail, middle: middle.into() })
    }

    /// The later content, where the earlier one is `old`.
    pub fn content(&self, old: &[u8]) -> Option<Vec<u8>> {
        let (head, tail) = (old.get(..self.head)?, old.get(old.len().checked_sub(self.tail)?..)?);
        Some([head, self.middle.as_bytes(), tail].concat())
    }
}

#[cfg(test)]
mod tests {
    use super::EditedPart;

    #[test]
    fn an_edited_part_leads_from_the_one_content_to_the_other() {
        for (old, new) in [
            (&b"one\ntwo\n"[..], &b"one\n2\n"[..]),
            (b"", b"new"),
            (b"gone", b""),
            ("caf\u{e9}".as_bytes(), "caf\u{e8}".as_bytes()),
            ("\u{e9}".as_bytes(), "\u{f9}\u{e9}".as_bytes()),
            (b"aaa", b"aa"),
        ] {
            let part = EditedPart::of(old, new).unwrap();
            assert_eq!(part.content(old).unwrap(), new, "{part:?}");
        }
        // No UTF-8, from its first byte on.
        assert_eq!(EditedPart::of(b"a", &[0x80, 0x81]), None);
        assert_eq!(EditedPart::of(b"a", &[b'b'; 1_001]), None);
    }
}
