//! Moving an entry: one rename where the system can, otherwise a copy, compared, and a removal.

use std::io;

use super::super::error::{AccessError, AccessErrorKind};
use super::super::handle::Stat;
use super::super::revision::Revision;
use super::super::sys::Dir;
use super::super::write::{Approval, WritablePath, still};
use super::plant::part;
use super::{Node, Tree, TreeGuard};

/// The file that a move or a copy replaces, as it was when its content was recorded.
#[derive(Clone, Debug)]
pub struct Replaced {
    /// What the system said of it.
    pub stat: Stat,
    /// Its content.
    pub revision: Revision,
}

impl TreeGuard {
    /// Moves `tree` from `from` to `to`, where nothing may be but the file `over` describes.
    /// Missing directories are made. True when it had to be copied to another device.
    ///
    /// # Errors
    /// `Exists` when the place is taken, `Stale` when the source or the replaced file is not what it
    /// was; everything is in its place then.
    pub fn transfer(
        &self,
        from: &WritablePath,
        tree: &Tree,
        to: &WritablePath,
        over: Option<&Replaced>,
        _: Approval,
    ) -> Result<bool, AccessError> {
        let failed = |error| AccessError::from_io(error, to.asked());
        let (from_dir, from_name) = self.place(from)?;
        let (to_dir, to_name, new) = self.new_place(to)?;
        if !is_top_of(&from_dir, &from_name, tree).unwrap_or(false) {
            return Err(AccessError::new(AccessErrorKind::Stale, from.asked()));
        }
        if over.is_some_and(|over| !to_dir.child_stat(&to_name).is_ok_and(|now| now.same_content_state(&over.stat))) {
            return Err(AccessError::new(AccessErrorKind::Stale, to.asked()));
        }
        let renamed = match over {
            None => from_dir.move_new(&from_name, &to_dir, &to_name),
            Some(Replaced { stat, revision }) => match from_dir.swap(&from_name, &to_dir, &to_name) {
                Ok(()) if still(&from_dir, &from_name, stat, *revision).unwrap_or(false) => {
                    // The replaced file has the old name now.
                    from_dir.remove(&from_name)
                }
                Ok(()) => {
                    from_dir.swap(&from_name, &to_dir, &to_name).map_err(failed)?;
                    return Err(AccessError::new(AccessErrorKind::Stale, to.asked()));
                }
                Err(error) if error.kind() == io::ErrorKind::Unsupported => {
                    if !still(&to_dir, &to_name, stat, *revision).map_err(failed)? {
                        return Err(AccessError::new(AccessErrorKind::Stale, to.asked()));
                    }
                    from_dir.move_over(&from_name, &to_dir, &to_name)
                }
                Err(error) => Err(error),
            },
        };
        let copied = match renamed {
            Ok(()) => false,
            Err(error) if error.kind() == io::ErrorKind::CrossesDevices => {
                let mut parts = tree.paths().map(|(path, entry)| part(&path, entry));
                let over = over.map(|over| (&over.stat, over.revision));
                let planted = self.put(to, over, &mut parts)?;
                self.remove_recorded(from, tree, &planted.revisions)?;
                true
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                return Err(AccessError::new(AccessErrorKind::Exists, to.asked()));
            }
            Err(error) => return Err(failed(error)),
        };
        new.keep();
        let _ = to_dir.sync();
        let _ = from_dir.sync();
        Ok(copied)
    }
}

/// Whether the name still stands for the entry that was listed.
fn is_top_of(dir: &Dir, name: &std::ffi::OsStr, tree: &Tree) -> io::Result<bool> {
    Ok(match tree.node() {
        Node::Link(target) => dir.child_link(name).is_ok_and(|now| now == *target),
        Node::File(seen) => dir.child_stat(name)?.same_content_state(seen),
        Node::Directory(seen) | Node::Other(seen) => dir.child_stat(name)?.same_file(seen),
    })
}
