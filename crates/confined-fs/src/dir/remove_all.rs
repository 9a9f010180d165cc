//! Removing an entry with everything below it, whatever it is by now: for what this program has made itself.
//!
//! `std::fs::remove_dir_all` opens by path at its start; this begins at a name in an open directory, so that nothing
//! outside of it can be reached (the race of [CVE-2022-21658]). Nothing is compared: what a person may have changed is
//! removed by `tree/remove.rs` instead.
//!
//! [CVE-2022-21658]: https://blog.rust-lang.org/2022/01/20/cve-2022-21658/

use std::ffi::{OsStr, OsString};
use std::io;

use beneath::{FileKind, OpenFor};

use super::{Dir, DirectoryStack};

/// Removes the entry called `name`, following no link.
pub(crate) fn remove_all(dir: &Dir, name: &OsStr) -> io::Result<()> {
    if dir.child_stat(name)?.kind != FileKind::Directory {
        return dir.remove(name);
    }
    let mut stack = DirectoryStack::new(dir, OpenFor::List);
    stack.enter(name)?;
    let mut left = vec![remove_files(stack.dir()?)?];
    while let Some(directories) = left.last_mut() {
        if let Some(next) = directories.pop() {
            stack.enter(&next)?;
            left.push(remove_files(stack.dir()?)?);
            continue;
        }
        left.pop();
        if let Some(own) = stack.leave() {
            stack.dir()?.remove_dir(&own)?;
        }
    }
    Ok(())
}

/// Removes all but the directories and returns their names.
fn remove_files(dir: &Dir) -> io::Result<Vec<OsString>> {
    let mut directories = Vec::new();
    for listed in dir.list()? {
        if listed.kind == FileKind::Directory {
            directories.push(listed.name);
        } else {
            dir.remove(&listed.name)?;
        }
    }
    Ok(directories)
}
