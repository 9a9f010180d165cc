//! A new name that differs from the old one in case alone, where the file system finds the entry by both.

use std::ffi::OsStr;
use std::io;

use beneath::lexical::is_same_name;

use crate::Dir;
use crate::write::free_name;

/// Whether `to` leads to the entry called `from` and to no other: on a file system that tells cases apart, two hard
/// links may have such names.
pub(super) fn is_respelling(dir: &Dir, from: &OsStr, to: &OsStr) -> bool {
    let is_same = || dir.child_stat(from).ok()?.same_file(&dir.child_stat(to).ok()?).then_some(());
    from != to && is_same_name(from, to) && is_same().is_some() && is_listed(dir, to).is_ok_and(|listed| !listed)
}

/// Gives the entry the new name.
pub(super) fn respell(dir: &Dir, from: &OsStr, to: &OsStr) -> io::Result<()> {
    dir.move_over(from, dir, to)?;
    if is_listed(dir, to)? {
        return Ok(());
    }
    // Nothing happened: Wine takes the two for one name. By another name, then.
    let aside = free_name(dir)?;
    dir.move_over(from, dir, &aside)?;
    dir.move_over(&aside, dir, to).inspect_err(|_| {
        let _ = dir.move_over(&aside, dir, from);
    })
}

fn is_listed(dir: &Dir, name: &OsStr) -> io::Result<bool> {
    Ok(dir.list()?.iter().any(|listed| listed.name == name))
}
