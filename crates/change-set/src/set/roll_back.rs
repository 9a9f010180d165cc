//! Rolling a transaction back from any moment of it, by looking at the entry that each name has now.
//!
//! The process itself calls it after an error, and another process after a crash. Every look and every rename may be the
//! last one before the next crash, so that what has been put back once is found to be in its place. Nothing is
//! overwritten, and nothing is removed but what this transaction has made: an entry that another program has
//! changed since stays as it is, and an entry that cannot return to its place because of that gets a name next to it.

use std::{ffi::OsStr, fmt, io};

use beneath::{FileKind, OpenFor};

use super::in_place;
use super::steps::{Place, Step, Steps, last_name};
use crate::tree::{EntryChange, EntryState, Rights};
use crate::write::{Exchanged, keep_aside, swap_if};
use beneath::Dir;
use confined_fs::{
    WorkspacePath,
    for_changes::{IfThere as _, remove_all},
};

/// An entry that is neither as before the transaction nor as after it.
#[derive(Clone, Debug)]
pub struct UnrestoredEntry {
    /// The path that the transaction had for it.
    pub path: WorkspacePath,
    /// How it is, as the rest of a sentence.
    pub how: Unreverted,
}

/// How an entry is left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unreverted {
    /// Another program has changed it since; it was left as it is.
    ChangedSince,
    /// As [`Self::ChangedSince`]; what it was before is next to it, under a name that ends in `.rootbound-kept`.
    KeptNextToIt,
    /// The system did not let it be put back.
    NotPutBack,
}

impl fmt::Display for Unreverted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ChangedSince => "was changed by another program and was left as it is",
            Self::KeptNextToIt => {
                "was changed by another program; its earlier content is next to it, under a name that ends in \
                 .rootbound-kept"
            }
            Self::NotPutBack => "could not be put back yet",
        })
    }
}

/// Any directory: its rights are not compared.
const DIRECTORY: EntryState = EntryState::Directory { rights: Rights::of_mode(0) };

/// The result of one step: `None` where everything is as it was.
type Undone = io::Result<Option<Unreverted>>;

/// Undoes every change of a name that the transaction has made. New entries have their reserved names again.
///
/// # Errors
/// With what could not be put back, where the system refuses something.
pub(super) fn roll_back(steps: &Steps<'_>) -> RolledBack {
    let mut rolled = RolledBack::default();
    // What came last goes first: each move arrives after all other steps.
    for (index, step) in steps.list.iter().enumerate() {
        if let Some((to, was)) = step.moved() {
            // In whatever order: each goes to a reserved name of its own.
            rolled.note(to, revert_move(steps, index, to, was, step.change.identity));
        }
    }
    for (index, step) in steps.list.iter().enumerate().rev() {
        let is_with_directory = step.made().is_some() && steps.is_in_new(&step.path);
        if !is_with_directory {
            rolled.note(&step.path, revert(steps, index, step));
        }
    }
    rolled
}

fn revert(steps: &Steps<'_>, index: usize, step: &Step<'_>) -> Undone {
    let Some(at) = there(steps.place(index))? else { return Ok(None) };
    let EntryChange { from, to, moved_from, .. } = &step.change;
    match (moved_from, from, to) {
        (None, Some(EntryState::Link(target)), None) => restore_link(&at, target),
        (Some(_), _, Some(was)) | (_, Some(was), None) => restore_removed(&at, was),
        (None, Some(EntryState::File(old)), Some(EntryState::File(new))) if in_place::is_kept(steps, index) => {
            let is_back = in_place::restore(steps, &at, (old.revision, new.revision))?;
            Ok((!is_back).then_some(Unreverted::ChangedSince))
        }
        (None, Some(old), Some(new)) => revert_replace(&at, old, new),
        (_, None, Some(EntryState::Directory { .. })) => revert_create_directory(steps, &at, step),
        (_, None, Some(is)) => revert_create(&at, is),
        (_, None, None) => Ok(None),
    }
}

#[derive(Debug, Default)]
pub(super) struct RolledBack {
    /// Entries that are not as they were.
    pub(super) not_restored: Vec<UnrestoredEntry>,
    /// The first answer of the system that kept something from being put back; it may be tried again.
    pub(super) error: Option<io::Error>,
}

impl RolledBack {
    fn note(&mut self, path: &WorkspacePath, undone: Undone) {
        let how = match undone {
            Ok(None) => return,
            Ok(Some(how)) => how,
            Err(error) => {
                self.error.get_or_insert(error);
                Unreverted::NotPutBack
            }
        };
        if !self.not_restored.iter().any(|left| left.path == *path) {
            self.not_restored.push(UnrestoredEntry { path: path.clone(), how });
        }
    }
}

/// Takes a directory that is gone, and with it whatever was in it, for `None`.
fn there<T>(opened: io::Result<T>) -> io::Result<Option<T>> {
    match opened {
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => Ok(None),
        answer => answer.if_there(),
    }
}

fn exists(dir: &Dir, name: &OsStr) -> io::Result<bool> {
    Ok(dir.child_stat(name).if_there()?.is_some())
}

/// Renames what was looked at under its old name; one that turns out to be something else gets that name back, or one that
/// is not removed as a stale temporary. Whether it is what it should be.
fn rename_checked(dir: &Dir, from: &OsStr, to: &OsStr, is: &EntryState) -> io::Result<bool> {
    dir.rename_new(from, to)?;
    let same = is.is_at(dir, to)?;
    if !same && dir.rename_new(to, from).is_err() {
        keep_aside(dir, to, from);
    }
    Ok(same)
}

/// Where the system has no rename that replaces nothing, a file gets its new name first and loses the old one then: it
/// has both after a crash in between. Removes `second` if it is the other name of the file called `name`; whether it was.
fn remove_second_name(dir: &Dir, name: &OsStr, second_dir: &Dir, second: &OsStr) -> io::Result<bool> {
    let (Ok(one), Ok(other)) = (dir.child_stat(name), second_dir.child_stat(second)) else { return Ok(false) };
    let is_second = one.kind == FileKind::File && one.inode() != 0 && one.same_file(&other);
    if is_second {
        second_dir.remove(second)?;
    }
    Ok(is_second)
}

/// Moves an entry from its new path to its reserved name at the old place.
fn revert_move(
    steps: &Steps<'_>,
    index: usize,
    to: &WorkspacePath,
    was: &EntryState,
    identity: Option<(u64, u64)>,
) -> Undone {
    let (Some(from), Some(to_dir)) = (there(steps.place(index))?, there(steps.holder(to))?) else { return Ok(None) };
    let name = last_name(to)?;
    if exists(&from.dir, &from.old)? {
        return remove_second_name(&from.dir, &from.old, &to_dir, name).map(|_| None);
    }
    let Some(now) = to_dir.child_stat(name).if_there()? else { return Ok(None) };
    // In a cycle the old path has another entry by now, and two files may hold the same. Where the system has no lasting
    // numbers, the old path must be free.
    let same_inode = identity.is_some_and(|(_, inode)| now.inode() == inode);
    if !same_inode && exists(&from.dir, from.name)? {
        return Ok(None);
    }
    if !was.is_at(&to_dir, name)? {
        return Ok(same_inode.then_some(Unreverted::ChangedSince));
    }
    to_dir.move_new(name, &from.dir, &from.old)?;
    let _ = to_dir.sync();
    Ok(None)
}

/// Gives a new entry its reserved name again, if nobody has changed it.
fn revert_create(Place { dir, name, new, .. }: &Place<'_>, is: &EntryState) -> Undone {
    if exists(dir, new)? {
        return remove_second_name(dir, new, dir, name).map(|_| None);
    }
    if !exists(dir, name)? {
        return Ok(None);
    }
    let is_own = is.is_at(dir, name)? && rename_checked(dir, name, new, is)?;
    Ok((!is_own).then_some(Unreverted::ChangedSince))
}

/// Removes a new directory with all of its new entries. If another program has added something to it, that stays.
fn revert_create_directory(steps: &Steps<'_>, Place { dir, name, new, .. }: &Place<'_>, step: &Step<'_>) -> Undone {
    if exists(dir, new)? || !exists(dir, name)? {
        return Ok(None);
    }
    if !DIRECTORY.is_at(dir, name)? {
        return Ok(Some(Unreverted::ChangedSince));
    }
    dir.rename_new(name, new)?;
    // Looked at once it has the reserved name, by which no other program adds to it.
    if is_as_made(steps, &dir.child_dir(new, OpenFor::List)?, &step.path)? {
        return Ok(None);
    }
    dir.rename_new(new, name)?;
    let inside = steps.list.iter().filter(|one| one.path.is_in(&step.path));
    // Files are after the directories in the list, and the innermost directories after the outer ones.
    for one in inside.rev() {
        let Some(is) = one.made() else { continue };
        let (Some(dir), name) = (there(steps.holder(&one.path))?, last_name(&one.path)?) else { continue };
        match is {
            EntryState::Directory { .. } => {
                // One that holds what another program has added stays (ENOTEMPTY).
                let _ = dir.remove_dir(name);
            }
            _ if is.is_at(&dir, name)? => dir.remove(name)?,
            _ => {}
        }
    }
    Ok(exists(dir, name)?.then_some(Unreverted::ChangedSince))
}

/// Whether a directory holds exactly what the transaction put there. `path` is the one that it has, or had.
fn is_as_made(steps: &Steps<'_>, dir: &Dir, path: &WorkspacePath) -> io::Result<bool> {
    for listed in dir.list()? {
        let child = path.child(listed.name.as_ref());
        let made = steps.list.iter().filter(|step| step.path == child).find_map(Step::made);
        let is_directory = matches!(made, Some(EntryState::Directory { .. }));
        let same = made.map_or(Ok(false), |is| is.is_at(dir, &listed.name))?;
        if !same || is_directory && !is_as_made(steps, &dir.child_dir(&listed.name, OpenFor::List)?, &child)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The former file gets its name again, and the new one its reserved name.
fn revert_replace(at: &Place<'_>, old: &EntryState, new: &EntryState) -> Undone {
    let Place { dir, name, new: next, old: aside } = at;
    if exists(dir, aside)? {
        return revert_replace_by_renames(at, old, new);
    }
    if !exists(dir, next)? || new.is_at(dir, next)? {
        return Ok(None);
    }
    if old.is_at(dir, next)? {
        match swap_if(dir, next, name, |dir, name| new.is_at(dir, name))? {
            Exchanged::Yes => return Ok(None),
            Exchanged::No => {}
            Exchanged::NoneLeft => return Ok(Some(Unreverted::KeptNextToIt)),
        }
    }
    keep_aside(dir, next, name);
    Ok(Some(Unreverted::KeptNextToIt))
}

/// As [`revert_replace`], where names cannot be exchanged: the former file has a name `aside`.
fn revert_replace_by_renames(at: &Place<'_>, old: &EntryState, new: &EntryState) -> Undone {
    let Place { dir, name, new: next, old: aside } = at;
    remove_second_name(dir, next, dir, name)?;
    let is_renamed = !exists(dir, next)? && new.is_at(dir, name)?;
    if !is_renamed || rename_checked(dir, name, next, new)? {
        if old.is_at(dir, name)? {
            // It has both names, or has been put back already.
            dir.remove(aside)?;
            return Ok(None);
        }
        if old.is_at(dir, aside)? && !exists(dir, name)? {
            dir.rename_new(aside, name)?;
            return Ok(None);
        }
    }
    keep_aside(dir, aside, name);
    Ok(Some(Unreverted::KeptNextToIt))
}

fn restore_link(Place { dir, name, .. }: &Place<'_>, target: &OsStr) -> Undone {
    // What another program has put there stays.
    if !exists(dir, name)? {
        dir.make_link(target, name)?;
    }
    Ok(None)
}

/// Gives a removed entry its own name again.
fn restore_removed(Place { dir, name, old: aside, .. }: &Place<'_>, was: &EntryState) -> Undone {
    if !exists(dir, aside)? || remove_second_name(dir, name, dir, aside)? {
        return Ok(None);
    }
    if was.is_at(dir, aside)? {
        match dir.rename_new(aside, name) {
            // Another program has taken the name since.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            answer => return answer.map(|()| None),
        }
    }
    keep_aside(dir, aside, name);
    Ok(Some(Unreverted::KeptNextToIt))
}

/// Removes the new entries, once every name is as it was.
pub(super) fn remove_new(steps: &Steps<'_>) -> io::Result<()> {
    for (index, step) in steps.list.iter().enumerate().rev() {
        let is_own = step.replaced().is_some() || step.made().is_some();
        if !is_own || steps.is_in_new(&step.path) {
            continue;
        }
        in_place::forget(steps, index)?;
        let Some(Place { dir, new, .. }) = there(steps.place(index))? else { continue };
        if exists(&dir, &new)? {
            remove_all(&dir, &new)?;
        }
    }
    Ok(())
}

/// Removes the old entries, once the transaction counts. `is_known`: the process that has made it removes it unseen, as
/// it has just looked at it; another one only what it was, and leaves the rest under a name that can be seen.
pub(super) fn remove_old(steps: &Steps<'_>, is_known: bool) -> RolledBack {
    let mut rolled = RolledBack::default();
    for (index, step) in steps.list.iter().enumerate() {
        let is_replaced = step.replaced().is_some();
        let Some(was) = step.change.from.as_ref().filter(|_| is_replaced || step.removed().is_some()) else { continue };
        if matches!(was, EntryState::Directory { .. }) && rolled.error.is_some() {
            // It may hold what could not be removed, which is no content of others: recovery removes both.
            continue;
        }
        let removed = there(steps.place(index)).and_then(|at| {
            if is_replaced {
                in_place::forget(steps, index)?;
            }
            let Some(at) = at else { return Ok(None) };
            // What was exchanged has the reserved name of the new one.
            let exchanged = if is_replaced { remove_one_old(&at, &at.new, was, is_known)? } else { None };
            Ok(exchanged.or(remove_one_old(&at, &at.old, was, is_known)?))
        });
        rolled.note(&step.path, removed);
    }
    rolled
}

fn remove_one_old(Place { dir, name, .. }: &Place<'_>, aside: &OsStr, was: &EntryState, is_known: bool) -> Undone {
    if !exists(dir, aside)? {
        return Ok(None);
    }
    if is_known || was.is_at(dir, aside)? {
        let is_directory = matches!(was, EntryState::Directory { .. });
        match if is_directory { dir.remove_dir(aside) } else { dir.remove(aside) } {
            // Another program has put something into it.
            Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => {}
            answer => return answer.map(|()| None),
        }
    }
    keep_aside(dir, aside, name);
    Ok(Some(Unreverted::KeptNextToIt))
}
