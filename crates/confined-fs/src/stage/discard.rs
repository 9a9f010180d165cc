//! Dropping staged changes: the disk shows again.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use beneath::{FileKind, OpenFor};

use crate::dir::remove_all;
use crate::{AccessError, AccessErrorKind, Dir, Workspace, WorkspacePath};

use super::layer::LayerLock;
use super::record::{RecordLine, folded};
use super::review::{StagedChange, parent};
use super::{Layer, NodeSummary};

impl Workspace {
    /// Drops what is staged at `path` and below it; everything where it is the outermost root.
    ///
    /// # Errors
    /// `Stale` where the path is in a directory that was deleted or replaced as a whole: that is to be named.
    pub fn discard_staged(&self, path: &WorkspacePath) -> Result<(), AccessError> {
        let failed = |error| AccessError::from_io(error, path);
        let Some((layer, below)) = self.layer_of(path) else {
            return Err(AccessError::new(AccessErrorKind::ReadOnly, path));
        };
        let lock = layer.lock().map_err(failed)?;
        if layer.with_record(|record| record.hides_above(&below)).map_err(failed)? {
            return Err(AccessError::new(AccessErrorKind::Stale, path));
        }
        drop_tree(&lock, &below).map_err(failed)
    }

    /// Forgets changes that the disk has by now, deepest first. What others stage meanwhile stays.
    pub fn forget_staged(&self, applied: &[StagedChange]) -> io::Result<()> {
        for change in applied.iter().rev() {
            let lock = change.layer.lock()?;
            let name = change.below.as_path();
            let now = match parent(&change.layer.upper, name) {
                Ok((dir, own)) => NodeSummary::of(&dir, own)?,
                Err(_) => NodeSummary::Absent,
            };
            if now != change.staged {
                continue;
            }
            if now == NodeSummary::Directory {
                if goes_with_above(&lock, name)? || !holds_only(&lock, name, applied)? {
                    continue;
                }
                drop_tree(&lock, name)?;
            } else {
                lock.add(&[RecordLine::Forget(name.to_owned())])?;
                if now != NodeSummary::Absent {
                    let (dir, own) = parent(&change.layer.upper, name)?;
                    dir.remove(own)?;
                }
            }
            drop_empty_above(&lock, name)?;
        }
        for (_, layer) in self.shared.roots.layers() {
            layer.lock()?.drop_empty_record()?;
        }
        Ok(())
    }

    fn layer_of(&self, path: &WorkspacePath) -> Option<(&Arc<Layer>, PathBuf)> {
        let host = path.root().host().join(path.relative());
        let layers = self.shared.roots.layers();
        layers
            .filter_map(|(root, layer)| Some((layer, host.strip_prefix(root.host()).ok()?.to_owned())))
            .min_by_key(|(_, below)| below.components().count())
    }
}

/// Whether a directory above is hidden: what the disk has at `below` would not show without the layer.
fn goes_with_above(lock: &LayerLock<'_>, below: &Path) -> io::Result<bool> {
    lock.layer.with_record(|record| record.hides_above(below))
}

/// Whether all that a directory of the layer holds or hides are directories that were applied.
fn holds_only(lock: &LayerLock<'_>, directory: &Path, applied: &[StagedChange]) -> io::Result<bool> {
    let is_own = |change: &&StagedChange| {
        std::ptr::eq(Arc::as_ptr(&change.layer), lock.layer) && change.staged == NodeSummary::Directory
    };
    let applied: HashSet<PathBuf> = applied.iter().filter(is_own).map(|change| folded(&change.below)).collect();
    if !lock.layer.with_record(|record| record.hidden_below(directory).all(|hidden| applied.contains(hidden)))? {
        return Ok(false);
    }
    let mut todo = vec![directory.to_owned()];
    while let Some(path) = todo.pop() {
        for listed in lock.layer.upper.dir_beneath(&path, OpenFor::List)?.list()? {
            let own = path.join(&listed.name);
            if listed.kind != FileKind::Directory || !applied.contains(&folded(&own)) {
                return Ok(false);
            }
            todo.push(own);
        }
    }
    Ok(true)
}

/// First from the record, so that an entry of the disk is never hidden without one of the layer in its place.
fn drop_tree(lock: &LayerLock<'_>, below: &Path) -> io::Result<()> {
    lock.add(&[RecordLine::Forget(below.to_owned())])?;
    let upper = &lock.layer.upper;
    if below.as_os_str().is_empty() {
        let dir = Dir::Plain(upper.reopen(OpenFor::List)?);
        for listed in dir.list()? {
            remove_staged(&dir, &listed.name)?;
        }
    } else if let Ok((dir, name)) = parent(upper, below) {
        let dir = Dir::Plain(dir);
        match remove_staged(&dir, name) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        drop_empty_above(lock, below)?;
    }
    lock.drop_empty_record()
}

/// Also where a directory may not be changed by its mode.
fn remove_staged(dir: &Dir, name: &OsStr) -> io::Result<()> {
    match remove_all(dir, name) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {}
        answer => return answer,
    }
    let mut todo = vec![PathBuf::from(name)];
    while let Some(path) = todo.pop() {
        let here = dir.dir_beneath(&path, OpenFor::Traverse)?;
        here.set_mode(0o700)?;
        let listed = here.reopen(OpenFor::List)?.list()?;
        todo.extend(
            listed.into_iter().filter(|listed| listed.kind == FileKind::Directory).map(|listed| path.join(listed.name)),
        );
    }
    remove_all(dir, name)
}

/// Removes the directories above that only held what is gone.
fn drop_empty_above(lock: &LayerLock<'_>, below: &Path) -> io::Result<()> {
    for above in below.ancestors().skip(1).filter(|above| !above.as_os_str().is_empty()) {
        let is_own = lock.layer.with_record(|record| record.has_base(above) || record.hides(above))?;
        let Ok((dir, name)) = parent(&lock.layer.upper, above) else { break };
        if is_own || dir.remove_dir(name).is_err() {
            break;
        }
    }
    Ok(())
}
