//! Removing a tree where it is, for a directory that the system does not rename.
//!
//! overlayfs answers the rename of a directory that a lower layer holds with EXDEV (without `redirect_dir`, which
//! the kernel has off by default: Documentation/filesystems/overlayfs.rst, "Renaming directories"), so in a
//! container no directory of its image could be put aside. Here each entry is looked at just before it goes, the
//! innermost ones first, and nothing goes that is not what was recorded. The directory keeps its name meanwhile,
//! so that other processes find it: none of them changes a directory while it is emptied.

use std::ffi::OsStr;
use std::io;
use std::thread;
use std::time::{Duration, Instant};

use beneath::{LockAttempt, OpenFor};

use crate::{Dir, DirectoryStack, Limit};

use super::{Node, Tree, TreeEntry, TreePosition};

/// How long another process may take to end a change in a directory that is being removed.
const OTHERS_END: Duration = Duration::from_secs(1);

/// Why it stopped, and how much was gone by then.
#[derive(Debug)]
pub(super) struct RemovalStopped {
    pub(super) error: io::Error,
    /// The entries of the tree from here on are gone.
    pub(super) gone_from: usize,
}

/// Removes the tree called `name` in `dir`.
pub(super) fn remove_in_place(dir: &Dir, name: &OsStr, tree: &Tree) -> Result<(), RemovalStopped> {
    let entries = tree.entries();
    let mut chain = Chain { stack: DirectoryStack::new(dir, OpenFor::List), open: Vec::new() };
    let holders = holders(entries);
    // The directory that is being emptied, and its lock; the guard has that of the one above the top.
    let mut alone: Option<(usize, Option<Dir>)> = None;
    // Backwards in a listing that has each directory before what it holds, everything comes before what holds it.
    for (index, entry) in entries.iter().enumerate().rev() {
        let own = if entry.position.depth == 0 { name } else { entry.position.name.as_os_str() };
        chain
            .holder(name, entries, &holders, index)
            .and_then(|holder| {
                let in_it = holders[index];
                if entry.position.depth > 0 && alone.as_ref().is_none_or(|(locked, _)| *locked != in_it) {
                    alone = None;
                    alone = Some((in_it, lock_out_others(holder)?));
                }
                if cfg!(windows) && entry.position.depth == 0 {
                    // An open directory is not removed there, and the lock has a handle of it.
                    alone = None;
                }
                remove_one(holder, own, entry)
            })
            .map_err(|error| RemovalStopped { error, gone_from: index + 1 })?;
    }
    Ok(())
}

/// For each entry the index of the directory that holds it; of the top, its own.
fn holders(entries: &[TreeEntry]) -> Vec<usize> {
    let mut above: Vec<usize> = Vec::new();
    let holder = |(index, entry): (usize, &TreeEntry)| {
        above.truncate(entry.position.depth);
        let holder = above.last().copied().unwrap_or(index);
        above.push(index);
        holder
    };
    entries.iter().enumerate().map(holder).collect()
}

/// The open directories down to the one that holds an entry.
struct Chain<'d> {
    stack: DirectoryStack<&'d Dir>,
    /// Which entries they are.
    open: Vec<usize>,
}

impl Chain<'_> {
    /// The directory that holds the entry with this index.
    fn holder(&mut self, top: &OsStr, entries: &[TreeEntry], holders: &[usize], index: usize) -> io::Result<&Dir> {
        let depth = entries[index].position.depth;
        // Up as far as needed, then down again.
        let mut missing = Vec::new();
        let mut wanted = index;
        for level in (0..depth).rev() {
            wanted = holders[wanted];
            if self.open.get(level) == Some(&wanted) {
                break;
            }
            missing.push(wanted);
        }
        self.open.truncate(depth - missing.len());
        self.stack.leave_to(self.open.len());
        for at in missing.into_iter().rev() {
            let TreePosition { depth, name } = &entries[at].position;
            self.stack.enter(if *depth == 0 { top } else { name })?;
            self.open.push(at);
        }
        Ok(self.stack.dir()?)
    }
}

/// Removes one entry that is still what was recorded; a directory if it is empty by now.
fn remove_one(holder: &Dir, name: &OsStr, entry: &TreeEntry) -> io::Result<()> {
    let changed = || io::Error::from(io::ErrorKind::StaleNetworkFileHandle);
    match &entry.node {
        Node::Directory(_) => holder.remove_dir(name),
        Node::Link(target) if holder.child_link(name).is_ok_and(|now| now == *target) => holder.remove(name),
        Node::File(seen) if holder.child_stat(name)?.same_size_and_time(seen) => holder.remove(name),
        Node::File(_) | Node::Link(_) | Node::Other(_) => Err(changed()),
    }
}

/// Waits until no other process is in the middle of a change in this directory. None begins one as long as the
/// handle that is returned lives; `None` where there are no such locks.
///
/// # Errors
/// `WouldBlock` where another process does not end; the system's where too many files are open.
pub(super) fn lock_out_others(inside: &Dir) -> io::Result<Option<Dir>> {
    let began = Instant::now();
    let handle = match inside.reopen(OpenFor::List) {
        Ok(handle) => handle,
        Err(error) if Limit::of_open_files(&error).is_some() => return Err(error),
        Err(_) => return Ok(None),
    };
    loop {
        match handle.try_lock() {
            LockAttempt::Acquired => return Ok(Some(handle)),
            LockAttempt::Unsupported => return Ok(None),
            LockAttempt::HeldElsewhere => {}
        }
        // It may itself be waiting for the directory that we hold.
        if began.elapsed() > OTHERS_END {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        thread::sleep(Duration::from_millis(1));
    }
}

#[cfg(all(test, unix))]
mod tests {
    #![expect(clippy::disallowed_methods, reason = "the test acts as another process")]

    use std::fs;

    use super::super::super::{Access, Workspace};
    use super::super::Purpose;
    use super::*;

    #[test]
    fn directory_locked_by_another_process_is_not_emptied() {
        let temp = tempfile::tempdir().unwrap();
        fs::create_dir_all(temp.path().join("d/sub")).unwrap();
        fs::write(temp.path().join("d/sub/f"), "f").unwrap();
        let workspace = Workspace::of_directory(temp.path(), Access::ReadWrite);
        let target = workspace.writable_entry(&workspace.resolve("d").unwrap()).unwrap();
        let tree = workspace.tree(&target, Purpose::Remove).unwrap();
        let dir = Dir::open_ambient(temp.path(), false).unwrap();

        let other = Dir::open_ambient(&temp.path().join("d/sub"), false).unwrap().reopen(OpenFor::List).unwrap();
        assert_eq!(other.try_lock(), LockAttempt::Acquired);
        let stopped = remove_in_place(&dir, OsStr::new("d"), &tree).unwrap_err();
        assert_eq!((stopped.error.kind(), stopped.gone_from), (io::ErrorKind::WouldBlock, 3));
        assert_eq!(fs::read_to_string(temp.path().join("d/sub/f")).unwrap(), "f");

        drop(other);
        remove_in_place(&dir, OsStr::new("d"), &tree).unwrap();
        assert!(!temp.path().join("d").exists());
    }
}
