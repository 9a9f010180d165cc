//! Changing the names: an old entry gets its reserved name first; a new one is already complete under its own.
//!
//! What had a name is looked at after it has lost it, when no other program can put something else there. The caller
//! rolls back after an error.

use std::{ffi::OsStr, fs::File, io};

use beneath::{Attributes, FileKind, OpenFor, Stat};

use super::in_place;
use super::steps::{NewFile, Place, Step, Steps, last_name};
use crate::tree::copy_file;
use crate::write::{
    Exchanged, NewPlace, Replacement, is_unchanged, keep_aside, may_go_on_as, not_named, not_replaced, swap_if,
};
use crate::{tree::EntryChange, tree::EntryState, write::WaitLimit};
use beneath::Dir;
use confined_fs::for_changes::IfThere as _;
use confined_fs::{AccessError, AccessErrorKind, Revision, WorkspacePath, for_changes::AtPath as _};

/// Makes all steps in their order, the new names of moved entries last.
///
/// # Errors
/// With some of them made.
pub(super) fn publish(steps: &Steps<'_>) -> Result<(), AccessError> {
    for (index, step) in steps.list.iter().enumerate() {
        let path = &step.path;
        if step.made().is_some() && steps.is_in_new(path) {
            // It gets its place with its directory.
            continue;
        }
        let at = steps.place(index).at(path)?;
        let EntryChange { from, to, moved_from, .. } = &step.change;
        match (moved_from, from, to, &step.seen) {
            (None, Some(EntryState::Link(target)), None, _) => unlink(&at, path, target)?,
            (None, Some(was), None, Some(seen)) => set_aside(steps, &at, path, was, seen, true)?,
            (Some(_), _, Some(was), Some(seen)) => set_aside(steps, &at, path, was, seen, false)?,
            (None, Some(EntryState::File(old)), _, Some(seen)) if in_place::is_kept(steps, index) => {
                in_place::write(steps, index, &at, (old.revision, seen))?;
            }
            (None, Some(EntryState::File(old)), _, Some(seen)) => replace(&at, path, old.revision, seen)?,
            (None, None, ..) => at.dir.rename_new(&at.new, at.name).map_err(|error| not_named(error, path))?,
            _ => return Err(AccessError::new(AccessErrorKind::Stale, path)),
        }
    }
    for (index, step) in steps.list.iter().enumerate() {
        // Last: the path may be one that another move or a removal has just freed.
        let Some((to, _)) = step.moved() else { continue };
        let (from, to_dir) = (steps.place(index).at(&step.path)?, steps.holder(to).at(to)?);
        from.dir.move_new(&from.old, &to_dir, last_name(to).at(to)?).map_err(|error| not_named(error, to))?;
    }
    Ok(())
}

/// A link holds no content to lose, and the sandbox of some systems does not let links be renamed: it is removed now.
fn unlink(Place { dir, name, .. }: &Place<'_>, path: &WorkspacePath, target: &OsStr) -> Result<(), AccessError> {
    if !dir.child_link(name).is_ok_and(|now| now == *target) {
        return Err(AccessError::new(AccessErrorKind::Stale, path));
    }
    dir.remove(name).at(path)
}

/// Gives an entry its reserved name, if it is what was checked.
fn set_aside(
    steps: &Steps<'_>,
    Place { dir, name, old: aside, .. }: &Place<'_>,
    path: &WorkspacePath,
    was: &EntryState,
    seen: &Stat,
    goes: bool,
) -> Result<(), AccessError> {
    let stale = || AccessError::new(AccessErrorKind::Stale, path);
    dir.rename_new(name, aside).if_there().at(path)?.ok_or_else(stale)?;
    let same = match was {
        EntryState::File(file) => is_unchanged(dir, aside, seen, file.revision),
        EntryState::Link(_) => was.is_at(dir, aside),
        EntryState::Directory { .. } => dir.child_stat(aside).and_then(|now| {
            let is_same = now.kind == FileKind::Directory && now.same_file(seen);
            Ok(is_same && (!goes || holds_only_own(steps, &dir.child_dir(aside, OpenFor::List)?)?))
        }),
    };
    if same.as_ref().is_ok_and(|same| *same) {
        return Ok(());
    }
    if dir.rename_new(aside, name).is_err() {
        keep_aside(dir, aside, name);
    }
    same.at(path)?;
    Err(stale())
}

/// Whether all that a directory holds are entries that this transaction has set aside.
fn holds_only_own(steps: &Steps<'_>, dir: &Dir) -> io::Result<bool> {
    Ok(dir.list()?.iter().all(|listed| steps.is_own_name(&listed.name)))
}

/// Puts the new content of a file in the place of the one that was checked, which stays under a reserved name.
fn replace(
    Place { dir, name, new, old: aside }: &Place<'_>,
    path: &WorkspacePath,
    old: Revision,
    seen: &Stat,
) -> Result<(), AccessError> {
    let stale = || AccessError::new(AccessErrorKind::Stale, path);
    // Most often this is enough, and then nothing that is refused can be seen for a moment.
    if !dir.child_stat(name).is_ok_and(|now| now.same_size_and_time(seen)) {
        return Err(stale());
    }
    match swap_if(dir, new, name, |dir, name| is_unchanged(dir, name, seen, old)) {
        Ok(Exchanged::Yes) => Ok(()),
        Ok(Exchanged::No | Exchanged::NoneLeft) => Err(stale()),
        Err(error) if error.kind() == io::ErrorKind::Unsupported => {
            // A second name where there are hard links, so that the file is never missing; else its only one.
            let second = dir.add_name(name, aside).is_ok();
            if !second {
                dir.rename_new(name, aside).map_err(|error| not_replaced(error, path, seen))?;
            }
            if !is_unchanged(dir, aside, seen, old).at(path)? {
                // Without the base there is nothing to roll back here.
                if second {
                    dir.remove(aside).at(path)?;
                } else if dir.rename_new(aside, name).is_err() {
                    keep_aside(dir, aside, name);
                }
                return Err(stale());
            }
            let renamed = if second { dir.move_over(new, dir, name) } else { dir.rename_new(new, name) };
            renamed.map_err(|error| not_replaced(error, path, seen))
        }
        Err(error) => Err(not_replaced(error, path, seen)),
    }
}

/// Syncs every directory in which a name has changed.
pub(super) fn sync(steps: &Steps<'_>) -> Result<(), AccessError> {
    let mut synced: Vec<WorkspacePath> = Vec::new();
    // What is in a new directory was synced with that when it was made.
    let steps_shown = steps.list.iter().filter(|step| !steps.is_in_new(&step.path));
    for path in steps_shown.flat_map(Step::paths) {
        let Some(parent) = path.parent().filter(|parent| !synced.contains(parent)) else { continue };
        steps.directory(&parent).and_then(|dir| dir.sync()).at(path)?;
        synced.push(parent);
    }
    Ok(())
}

// Making new entries, complete and synced, under reserved names, which no tool shows.

/// Directories that are kept open for [`Prepared::remove_in_opened`].
const MAX_OPENED: usize = 64;

/// The directories in which new entries were made, by their paths then: another program may have moved one since.
#[derive(Default)]
pub(super) struct Prepared(Vec<(WorkspacePath, Dir)>);

impl Prepared {
    /// Removes new entries from directories that may have other paths by now.
    pub(super) fn remove_in_opened(&self, steps: &Steps<'_>) {
        for (path, dir) in &self.0 {
            let inside = steps.list.iter().enumerate().filter(|(_, step)| step.path.parent().as_ref() == Some(path));
            for new in inside.map(|(index, _)| steps.new_name(index)) {
                if dir.child_stat(&new).is_ok() {
                    let _ = beneath::remove_all(dir, &new);
                }
            }
        }
    }
}

/// Makes all new entries. The caller removes them if this fails.
pub(super) fn prepare(steps: &Steps<'_>, wait_limit: &WaitLimit, prepared: &mut Prepared) -> Result<(), AccessError> {
    for (index, step) in steps.list.iter().enumerate() {
        let path = &step.path;
        if wait_limit.ended() {
            return Err(AccessError::new(AccessErrorKind::Stopped, path));
        }
        let (made, replaced) = (step.made(), step.replaced());
        if made.is_none() && replaced.is_none() {
            continue;
        }
        let at = steps.place(index).at(path)?;
        let (dir, name) = (&at.dir, if made.is_some() && steps.is_in_new(path) { at.name } else { &at.new });
        match (replaced, made, &step.file) {
            (Some((old, _)), _, Some(NewFile::Content { content, stays: true, .. })) => {
                in_place::keep(steps, index, &at, (old, &**content), "programs may have it open")?;
            }
            (Some((old, _)), _, Some(NewFile::Content { content, rights, .. })) => {
                // Not kept open since the check: a change of many files has more of them than may be open.
                let seen = step.seen.as_ref().ok_or_else(|| AccessError::new(AccessErrorKind::Stale, path))?;
                let (file, stat) = unchanged(&at, path, seen)?;
                match (NewPlace { dir, named: Some(name), path }).replacement(content, (path, &file, &stat), rights)? {
                    Replacement::File(temporary) => temporary.keep(),
                    Replacement::InPlace(why) => in_place::keep(steps, index, &at, (old, &**content), why)?,
                }
            }
            (None, _, Some(NewFile::Content { content, rights, like, .. })) => {
                let old = like.as_ref().map(|(_, like)| attributes_of(like)).transpose()?;
                let attributes = old.as_ref().map(|(attributes, stat)| (attributes, stat));
                let mut new = NewPlace { dir, named: Some(name), path }.filled(content, attributes, rights)?;
                if let Some(((true, from), (_, stat))) = like.as_ref().zip(attributes) {
                    may_go_on_as(new.file(), from, stat)?;
                }
                new.keep();
            }
            (_, Some(EntryState::File(file)), Some(NewFile::CopyOf { from, seen, rights })) => {
                let copied = copy_file((from, seen), (dir, name), rights.as_ref(), wait_limit)?;
                // The file may have been written to while it was copied.
                if copied != file.revision {
                    return Err(AccessError::new(AccessErrorKind::Stale, from));
                }
            }
            (_, Some(EntryState::Directory { rights }), _) => {
                dir.make_dir(name, !rights.are_unknown()).at(path)?;
            }
            (_, Some(EntryState::Link(target)), _) => dir.make_link(target, name).at(path)?,
            _ => {}
        }
        let parent = path.parent().filter(|parent| prepared.0.last().is_none_or(|(last, _)| last != parent));
        // Windows renames no directory that is open, nor one above it.
        if let Some(parent) = parent.filter(|_| cfg!(unix) && prepared.0.len() < MAX_OPENED) {
            prepared.0.push((parent, at.dir));
        }
    }
    // Rights once everything is in them, the innermost first.
    for step in steps.list.iter().rev() {
        let Some(EntryState::Directory { rights }) = step.made() else { continue };
        let dir = steps.directory(&step.path).at(&step.path)?;
        rights.give_to_directory(&dir).at(&step.path)?;
        dir.sync().at(&step.path)?;
    }
    Ok(())
}

fn attributes_of(like: &WorkspacePath) -> Result<(Attributes, Stat), AccessError> {
    let file = like.root().dir().file_beneath(like.relative()).at(like)?;
    let stat = beneath::file_stat(&file).at(like)?;
    Ok((Attributes::of(&file, &stat), stat))
}

/// The file that is to be replaced, open, if it still looks as it was when it was checked.
fn unchanged(at: &Place<'_>, path: &WorkspacePath, seen: &Stat) -> Result<(File, Stat), AccessError> {
    let file = at.dir.child_file(at.name).at(path)?;
    let stat = beneath::file_stat(&file).at(path)?;
    if !stat.same_size_and_time(seen) {
        return Err(AccessError::new(AccessErrorKind::Stale, path));
    }
    Ok((file, stat))
}
