//! Changing the names: an old entry gets its reserved name first; a new one is already complete under its own.
//!
//! What had a name is looked at after it has lost it, when no other program can put something else there. The caller
//! rolls back after an error.

use std::{fs::File, io, sync::Arc};

use beneath::{FileKind, OpenFor, Stat};

use super::{
    roll_back::exists,
    steps::{Step, StepAction, Steps, last_name},
};
use crate::{
    AccessError, AccessErrorKind, AtPath as _, Dir, EntryState, Revision, WaitLimit, WorkspacePath,
    tree::copy_to_move,
    write::{Exchanged, NewContent, Temporary, fill, is_unchanged, keep_aside, swap_if},
};

/// The metadata of each step's entry when it was checked; `None` for a new entry.
pub(super) type SeenEntries = [Option<Stat>];

/// Makes all steps.
///
/// # Errors
/// With some of them made.
pub(super) fn publish(steps: &Steps, seen: &SeenEntries) -> Result<(), AccessError> {
    for (index, (step, seen)) in steps.list().iter().zip(seen).enumerate() {
        let dir = steps.holder(&step.path).at(&step.path)?;
        match (&step.action, seen) {
            (StepAction::Remove { was: EntryState::Link(target) }, _) => unlink(&dir, step, target)?,
            (StepAction::Remove { was }, Some(seen)) => set_aside(steps, index, &dir, step, was, seen, true)?,
            (StepAction::Move { was, .. }, Some(seen)) => set_aside(steps, index, &dir, step, was, seen, false)?,
            (StepAction::Replace { old, .. }, Some(seen)) => replace(steps, index, &dir, step, *old, seen)?,
            (StepAction::Create { .. }, _) if steps.is_in_new(&step.path) => {}
            (StepAction::Create { .. }, _) => {
                let name = last_name(&step.path).at(&step.path)?;
                dir.rename_new(&steps.new_name(index), name).map_err(|error| taken(error, &step.path))?;
            }
            (_, None) => return Err(AccessError::new(AccessErrorKind::Stale, &step.path)),
        }
    }
    for (index, step) in steps.list().iter().enumerate() {
        let StepAction::Move { to, .. } = &step.action else { continue };
        let (from_dir, to_dir) = (steps.holder(&step.path).at(&step.path)?, steps.holder(to).at(to)?);
        let name = last_name(to).at(to)?;
        from_dir.move_new(&steps.old_name(index), &to_dir, name).map_err(|error| taken(error, to))?;
    }
    Ok(())
}

fn taken(error: io::Error, path: &WorkspacePath) -> AccessError {
    match error.kind() {
        io::ErrorKind::AlreadyExists => AccessError::new(AccessErrorKind::Exists, path),
        _ => AccessError::from_io(error, path),
    }
}

/// A link holds no content to lose, and the sandbox of some systems does not let links be renamed: it is removed now.
fn unlink(dir: &Dir, step: &Step, target: &std::ffi::OsStr) -> Result<(), AccessError> {
    let name = last_name(&step.path).at(&step.path)?;
    if !dir.child_link(name).is_ok_and(|now| now == *target) {
        return Err(AccessError::new(AccessErrorKind::Stale, &step.path));
    }
    dir.remove(name).at(&step.path)
}

/// Gives an entry its reserved name, if it is what was checked.
fn set_aside(
    steps: &Steps,
    index: usize,
    dir: &Dir,
    step: &Step,
    was: &EntryState,
    seen: &Stat,
    goes: bool,
) -> Result<(), AccessError> {
    let path = &step.path;
    let (name, aside) = (last_name(path).at(path)?, steps.old_name(index));
    dir.rename_new(name, &aside).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => AccessError::new(AccessErrorKind::Stale, path),
        _ => AccessError::from_io(error, path),
    })?;
    let same = match was {
        EntryState::File(file) => is_unchanged(dir, &aside, seen, file.revision),
        EntryState::Link(_) => was.is_at(dir, &aside),
        EntryState::Directory { .. } => dir.child_stat(&aside).and_then(|now| {
            let is_same = now.kind == FileKind::Directory && (now.same_file(seen) || goes && !dir.keeps_identities());
            Ok(is_same && (!goes || holds_only_own(steps, &dir.child_dir(&aside, OpenFor::List)?)?))
        }),
    };
    if same.as_ref().is_ok_and(|same| *same) {
        return Ok(());
    }
    if dir.rename_new(&aside, name).is_err() {
        keep_aside(dir, &aside, name);
    }
    same.at(path)?;
    Err(AccessError::new(AccessErrorKind::Stale, path))
}

/// Whether all that a directory holds are entries that this transaction has set aside.
fn holds_only_own(steps: &Steps, dir: &Dir) -> io::Result<bool> {
    let own: Vec<_> = dir.list()?;
    Ok(own.iter().all(|listed| steps.is_own_name(&listed.name)))
}

/// Puts the new content of a file in the place of the one that was checked, which stays under a reserved name.
fn replace(steps: &Steps, index: usize, dir: &Dir, step: &Step, old: Revision, seen: &Stat) -> Result<(), AccessError> {
    let path = &step.path;
    let stale = || AccessError::new(AccessErrorKind::Stale, path);
    let (name, new) = (last_name(path).at(path)?, steps.new_name(index));
    // Most often this is enough, and then nothing that is refused can be seen for a moment.
    if !dir.child_stat(name).is_ok_and(|now| now.same_size_and_time(seen)) {
        return Err(stale());
    }
    match swap_if(dir, &new, name, |dir, name| is_unchanged(dir, name, seen, old)) {
        Ok(Exchanged::Yes) => Ok(()),
        Ok(Exchanged::No | Exchanged::NoneLeft { .. }) => Err(stale()),
        Err(error) if error.kind() == io::ErrorKind::Unsupported => {
            let aside = steps.old_name(index);
            // A second name where there are hard links, so that the file is never missing; else its only one.
            let second = dir.add_name(name, &aside).is_ok();
            if !second {
                dir.rename_new(name, &aside).at(path)?;
            }
            if !is_unchanged(dir, &aside, seen, old).at(path)? {
                // Without the base there is nothing to roll back here.
                if second {
                    dir.remove(&aside).at(path)?;
                } else if dir.rename_new(&aside, name).is_err() {
                    keep_aside(dir, &aside, name);
                }
                return Err(stale());
            }
            if second { dir.move_over(&new, dir, name).at(path) } else { dir.rename_new(&new, name).at(path) }
        }
        Err(error) => Err(AccessError::from_io(error, path)),
    }
}

/// Syncs every directory in which a name has changed.
pub(super) fn sync(steps: &Steps) -> Result<(), AccessError> {
    let mut synced: Vec<WorkspacePath> = Vec::new();
    for step in steps.list().iter().filter(|step| !steps.is_in_new(&step.path)) {
        let to = match &step.action {
            StepAction::Move { to, .. } => Some(to),
            _ => None,
        };
        for path in [Some(&step.path), to].into_iter().flatten() {
            let Some(parent) = path.parent().filter(|parent| !synced.contains(parent)) else { continue };
            steps.directory(&parent).and_then(|dir| dir.sync()).at(path)?;
            synced.push(parent);
        }
    }
    Ok(())
}

/// Whether the name of a new entry is free, or its present entry is removed.
pub(super) fn is_free(path: &WorkspacePath, goes: bool) -> Result<bool, AccessError> {
    if goes {
        return Ok(true);
    }
    let parent = path.parent().unwrap_or_else(|| path.clone());
    match path.root().dir.dir_beneath(parent.relative(), OpenFor::Traverse) {
        Ok(dir) => Ok(!exists(&dir, last_name(path).at(path)?).at(path)?),
        Err(failure) if failure.is_missing() => Ok(true),
        Err(failure) => Err(AccessError::from_failure(failure, path)),
    }
}

// Making new entries, complete and synced, under reserved names, which no tool shows.

/// The material of a new or replaced file.
pub(super) enum NewFile<'n> {
    /// A content, with the permission bits of a new file, none for those of the umask, or else the attributes of the file
    /// `like`.
    Content { content: Arc<NewContent<'n>>, mode: Option<u32>, like: Option<WorkspacePath> },
    /// The file of another file system that it takes the place of.
    MovedFrom { from: WorkspacePath, seen: Stat },
}

/// Makes all new entries. The caller removes them if this fails.
pub(super) fn prepare(
    steps: &Steps,
    files: &[Option<NewFile<'_>>],
    seen: &[Option<Stat>],
    wait_limit: &WaitLimit,
) -> Result<(), AccessError> {
    for (index, (step, file)) in steps.list().iter().zip(files).enumerate() {
        if wait_limit.ended() {
            return Err(AccessError::new(AccessErrorKind::Stopped, &step.path));
        }
        let path = &step.path;
        let new = steps.new_name(index);
        let is_new = matches!(step.action, StepAction::Create { .. });
        let name = if is_new && steps.is_in_new(path) { last_name(path).at(path)? } else { &new };
        match (&step.action, file) {
            (
                StepAction::Replace { .. } | StepAction::Create { .. },
                Some(NewFile::Content { content, mode, like }),
            ) => {
                let dir = steps.holder(path).at(path)?;
                let like = like.as_ref().map(open).transpose()?;
                let old = match &seen[index] {
                    Some(seen) => Some(unchanged(&dir, path, seen)?),
                    None => like,
                };
                let stat = old.as_ref().map(|(_, stat)| stat);
                let mut temporary = Temporary::create_named(&dir, name, stat).at(path)?;
                let old = old.as_ref().map(|(file, stat)| (file, stat));
                fill(&mut temporary, content, old, *mode).at(path)?;
                temporary.keep();
            }
            (StepAction::Create { is: EntryState::File(file) }, Some(NewFile::MovedFrom { from, seen })) => {
                let dir = steps.holder(path).at(path)?;
                if copy_to_move(from, seen, &dir, name, wait_limit)? != file.revision {
                    return Err(AccessError::new(AccessErrorKind::Stale, from));
                }
            }
            (StepAction::Create { is: EntryState::Directory { .. } }, _) => {
                steps.holder(path).and_then(|dir| dir.make_dir(name, false)).at(path)?;
            }
            (StepAction::Create { is: EntryState::Link(target) }, _) => {
                steps.holder(path).and_then(|dir| dir.make_link(target, name)).at(path)?;
            }
            _ => {}
        }
    }
    // Rights once everything is in them, the innermost first.
    for step in steps.list().iter().rev() {
        let StepAction::Create { is: EntryState::Directory { mode } } = step.action else { continue };
        let dir = steps.directory(&step.path).at(&step.path)?;
        if mode != 0 {
            dir.set_mode(mode).at(&step.path)?;
        }
        dir.sync().at(&step.path)?;
    }
    Ok(())
}

fn open(like: &WorkspacePath) -> Result<(File, Stat), AccessError> {
    let file = like.root().dir.file_beneath(like.relative()).at(like)?;
    let stat = beneath::file_stat(&file).at(like)?;
    Ok((file, stat))
}

/// The file that is to be replaced, open, if it still looks as it was when it was checked.
fn unchanged(dir: &Dir, path: &WorkspacePath, seen: &Stat) -> Result<(File, Stat), AccessError> {
    let file = dir.child_file(last_name(path).at(path)?).at(path)?;
    let stat = beneath::file_stat(&file).at(path)?;
    if !stat.same_size_and_time(seen) {
        return Err(AccessError::new(AccessErrorKind::Stale, path));
    }
    Ok((file, stat))
}
