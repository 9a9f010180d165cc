//! Writing a file itself, where no other file may take its place.
//!
//! Its former and its new content are in the folder of intents first, under the reserved names that its step has. A kill
//! leaves a mix of both: each byte is that of one of them. Recovery restores the former content of such a mix alone: what
//! another program has written since stays, and the history has the former content.
//!
//! Limits: a program that reads the file meanwhile sees a part of the change.

use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::{ffi::OsStr, fs::File};

use beneath::{Attributes, FileKind, Stat};

use super::steps::{NewFile, Place, Steps};
use crate::write::{NewContent, is_unchanged, may_be_in_place};
use confined_fs::for_changes::IfThere as _;
use confined_fs::{AccessError, AccessErrorKind, Revision, for_changes::AtPath as _};

/// Keeps both contents of the file of a step, on the disk when it returns.
///
/// # Errors
/// `NotWritable` where the file may not be written in place, with the reason `why` it is not replaced.
pub(super) fn keep(
    steps: &Steps<'_>,
    index: usize,
    Place { dir, name, new, old: aside }: &Place<'_>,
    (old, content): (Revision, &NewContent<'_>),
    why: &str,
) -> Result<(), AccessError> {
    let path = &steps.list[index].path;
    let mut file = dir.child_file(name).at(path)?;
    may_be_in_place(path, &beneath::file_stat(&file).at(path)?, steps.journal.is_some(), why)?;
    let stale = || AccessError::new(AccessErrorKind::Stale, path);
    let journal = steps.journal.as_ref().ok_or_else(stale)?;
    let mut former = Vec::new();
    file.read_to_end(&mut former).at(path)?;
    if Revision::of(&former) != old {
        return Err(stale());
    }
    for (name, bytes) in [(new, content.bytes()), (aside, &former)] {
        let kept = journal.create(name, true).at(path)?;
        beneath::write_all(&kept, bytes).and_then(|()| beneath::sync_all(&kept)).at(path)?;
    }
    journal.sync().at(path)
}

/// Whether [`keep`] has begun for a step.
pub(super) fn is_kept(steps: &Steps<'_>, index: usize) -> bool {
    steps.journal.as_ref().is_some_and(|journal| journal.child_stat(&steps.new_name(index)).is_ok())
}

/// Writes the new content over the one that was checked.
pub(super) fn write(
    steps: &Steps<'_>,
    index: usize,
    Place { dir, name, old: aside, .. }: &Place<'_>,
    (old, seen): (Revision, &Stat),
) -> Result<(), AccessError> {
    let step = &steps.list[index];
    let stale = || AccessError::new(AccessErrorKind::Stale, &step.path);
    let Some(NewFile::Content { content, rights, .. }) = &step.file else {
        return Err(stale());
    };
    let former = kept(steps, aside, old).at(&step.path)?.ok_or_else(stale)?;
    let file = dir.child_to_change(name, false).at(&step.path)?;
    // By the handle: another program may have exchanged the name, or added one, which may be outside.
    let now = beneath::file_stat(&file).at(&step.path)?;
    let is_it = now.kind == FileKind::File && now.same_file(seen) && now.links() == 1;
    if !is_it || !is_unchanged(dir, name, seen, old).at(&step.path)? {
        return Err(stale());
    }
    let kept = rights.of_replacement(&step.path, (&file, &now));
    if !rights.are_unknown() && kept != Attributes::of(&file, &now) {
        kept.give(&file).at(&step.path)?;
    }
    overwrite(file, &former, content.bytes()).at(&step.path)
}

/// The former content comes back, where the file is a mix of both; false where it was changed since.
pub(super) fn restore(
    steps: &Steps<'_>,
    Place { dir, name, new: next, old: aside }: &Place<'_>,
    (old, new): (Revision, Revision),
) -> io::Result<bool> {
    // Where one is not whole, nothing was written yet.
    let (Some(new), Some(old)) = (kept(steps, next, new)?, kept(steps, aside, old)?) else { return Ok(true) };
    let Some(mut file) = dir.child_file(name).if_there()? else { return Ok(false) };
    let mut now = Vec::new();
    file.read_to_end(&mut now)?;
    if now == old {
        return Ok(true);
    }
    let is_of_one = |(at, byte): (usize, &u8)| old.get(at) == Some(byte) || new.get(at) == Some(byte);
    let is_mix = now.len() >= old.len().min(new.len()) && now.iter().enumerate().all(is_of_one);
    let writable = dir.child_to_change(name, false)?;
    let (stat, read) = (beneath::file_stat(&writable)?, beneath::file_stat(&file)?);
    if !is_mix || !stat.same_file(&read) || stat.links() != 1 {
        return Ok(false);
    }
    overwrite(writable, &now, &old).map(|()| true)
}

/// Removes what [`keep`] has kept.
pub(super) fn forget(steps: &Steps<'_>, index: usize) -> io::Result<()> {
    let Some(journal) = &steps.journal else { return Ok(()) };
    for name in [steps.old_name(index), steps.new_name(index)] {
        if journal.child_stat(&name).if_there()?.is_some() {
            journal.remove(&name)?;
        }
    }
    Ok(())
}

fn kept(steps: &Steps<'_>, name: &OsStr, revision: Revision) -> io::Result<Option<Vec<u8>>> {
    let Some(journal) = &steps.journal else { return Ok(None) };
    let Some(mut file) = journal.child_file(name).if_there()? else { return Ok(None) };
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(Some(bytes).filter(|bytes| Revision::of(bytes) == revision))
}

/// Makes `bytes` the content of a file that holds `now`.
fn overwrite(mut file: File, now: &[u8], bytes: &[u8]) -> io::Result<()> {
    let same = now.iter().zip(bytes).take_while(|(one, other)| one == other).count();
    let (head, more) = bytes.split_at(bytes.len().min(now.len()));
    // First what takes more room: where there is none, the rest is still what it was.
    for (at, part) in [(now.len(), more), (same, &head[same..])].into_iter().filter(|(_, part)| !part.is_empty()) {
        file.seek(SeekFrom::Start(at as u64))?;
        beneath::write_all(&file, part)?;
    }
    let (mut end, mut moved) = (bytes.len() as u64, now.len() as u64);
    // What a program that has it open has appended meanwhile stays at the end.
    while bytes.len() < now.len() && beneath::file_stat(&file)?.size > moved {
        let mut more = Vec::new();
        file.seek(SeekFrom::Start(moved))?;
        file.read_to_end(&mut more)?;
        file.seek(SeekFrom::Start(end))?;
        beneath::write_all(&file, &more)?;
        (end, moved) = (end + more.len() as u64, moved + more.len() as u64);
    }
    if bytes.len() < now.len() {
        beneath::set_length(&file, end)?;
    }
    beneath::sync_data(&file)
}
