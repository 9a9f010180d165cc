//! What a layer would change on the disk, for the person who applies or discards it.

use std::collections::{BTreeSet, HashSet};
use std::ffi::{OsStr, OsString};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use beneath::{FileKind, OpenFor};

use super::record::{Record, RecordLine, folded};
use super::{Layer, NodeSummary, layer::LayerLock};
use crate::dir::remove_all;
use crate::limits::IfThere as _;
use crate::write::{is_reserved, is_temporary};
use crate::{AccessError, AccessErrorKind, Dir, Root, Roots, Workspace, WorkspacePath};

/// One path that a layer changes.
#[derive(Debug)]
pub struct StagedChange {
    /// The path below the root, in the merged view and on the disk.
    pub path: WorkspacePath,
    /// The state of the disk before the first change in the layer; `None` where that is not known.
    pub base: Option<NodeSummary>,
    /// The state of the disk now.
    pub disk: NodeSummary,
    /// The state of the merged view.
    pub staged: NodeSummary,
    /// Something that is not staged is in the directory, which is gone in the merged view.
    pub holds_more: bool,
    pub(super) layer: Arc<Layer>,
    pub(super) below: PathBuf,
}

impl StagedChange {
    /// Whether there is nothing to be made on the disk: it has been applied, or taken back.
    pub fn is_done(&self) -> bool {
        let is_on_disk = match (self.staged, self.disk, self.base) {
            // Rights that were not staged are those of the disk.
            (NodeSummary::File(one, mode), NodeSummary::File(other, _), Some(NodeSummary::File(_, was)))
                if mode == was =>
            {
                one == other
            }
            (staged, disk, _) => staged == disk,
        };
        is_on_disk || self.base.is_some_and(|base| base == self.staged)
    }

    /// Whether the disk has something else there than when the change was made.
    pub fn is_conflict(&self) -> bool {
        !self.is_done() && (self.holds_more || self.base.is_none_or(|base| !base.same_content(self.disk)))
    }

    /// The staged content of a file.
    pub fn content(&self) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.layer.upper.file_beneath(&self.below)?.read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    /// Reads the target of a staged link.
    pub fn target(&self) -> io::Result<OsString> {
        let (dir, name) = parent(&self.layer.upper, &self.below)?;
        dir.child_link(name)
    }

    /// The permission bits of a staged directory.
    pub fn directory_mode(&self) -> io::Result<u32> {
        Ok(self.layer.upper.stat_beneath(&self.below)?.permissions())
    }
}

impl Workspace {
    /// Whether calls see the merged view, and change layers alone.
    pub fn is_staged(&self) -> bool {
        self.roots().iter().any(|root| root.is_staged())
    }

    /// Lists what the layers would change, by path, each directory before what is in it, and what they hold that is on the
    /// disk by now ([`StagedChange::is_done`]). Of a workspace that is no view.
    ///
    /// # Errors
    /// Those of the system about a layer, or about the disk, with the path.
    pub fn staged_changes(&self) -> Result<Vec<StagedChange>, (WorkspacePath, io::Error)> {
        let mut changes = Vec::new();
        for (root, layer) in self.shared.roots.layers() {
            changes_of(&self.shared.roots, root, layer, &mut changes)?;
        }
        Ok(changes)
    }

    /// Whether the layer over a root has changes, be they entries or hidden names alone.
    pub fn has_staged_changes(&self, root: &WorkspacePath) -> bool {
        let mut layers = self.shared.roots.layers();
        let layer = layers.find(|(over, _)| over.index == root.root().index);
        layer.is_some_and(|(_, layer)| !layer.with_record(Record::is_empty).unwrap_or(false))
    }

    /// How large the layers are.
    pub fn layer_sizes(&self) -> Vec<(WorkspacePath, super::LayerSize)> {
        self.shared.roots.layers().map(|(root, layer)| (self.root_path(root), layer.size())).collect()
    }
}

fn changes_of(
    roots: &Roots,
    root: &Arc<Root>,
    layer: &Arc<Layer>,
    changes: &mut Vec<StagedChange>,
) -> Result<(), (WorkspacePath, io::Error)> {
    let at_root = |error| (WorkspacePath::new(root, Path::new("")), error);
    let mut paths: BTreeSet<PathBuf> = upper_paths(layer).map_err(at_root)?.into_iter().collect();
    let recorded = layer.with_record(|record| record.paths().map(Path::to_owned).collect::<Vec<_>>());
    paths.extend(recorded.map_err(at_root)?);
    for below in &paths {
        let path = roots.deepest(&WorkspacePath::new(root, below));
        let failed = |error| (path.clone(), error);
        let staged = summary(&layer.upper, below).map_err(failed)?;
        let is_hidden = layer.hides(below).map_err(failed)?;
        if staged == NodeSummary::Absent && !is_hidden {
            continue;
        }
        let disk = root.dir.open().map_err(|failure| failed(failure.into()))?;
        let crate::Dir::Plain(disk_root) = &disk else { continue };
        let disk = summary(disk_root, below).map_err(failed)?;
        let holds_more = staged != NodeSummary::Directory && disk == NodeSummary::Directory && {
            !all_below(disk_root, below, |own, _| paths.contains(own)).map_err(failed)?
        };
        let base = layer.with_record(|record| record.base(below)).map_err(failed)?;
        changes.push(StagedChange {
            path,
            base,
            disk,
            staged,
            holds_more,
            layer: Arc::clone(layer),
            below: below.clone(),
        });
    }
    Ok(())
}

/// Every entry of the layer.
fn upper_paths(layer: &Layer) -> io::Result<Vec<PathBuf>> {
    let (mut paths, mut todo) = (Vec::new(), vec![PathBuf::new()]);
    while let Some(path) = todo.pop() {
        for listed in layer.upper.dir_beneath(&path, OpenFor::List)?.list()? {
            // A change that was cut, or is being made: of one file it does not show yet, of several it may in part.
            if is_reserved(&listed.name) {
                if is_temporary(&listed.name) {
                    continue;
                }
                return Err(io::Error::new(io::ErrorKind::ResourceBusy, "a change of several files is not complete"));
            }
            let own = path.join(&listed.name);
            if listed.kind == FileKind::Directory {
                todo.push(own.clone());
            }
            paths.push(own);
        }
    }
    Ok(paths)
}

/// Whether everything below a directory is so; `is` gets each path below `root`, and the kind of what is there.
fn all_below(root: &beneath::Dir, directory: &Path, is: impl Fn(&Path, FileKind) -> bool) -> io::Result<bool> {
    let mut todo = vec![directory.to_owned()];
    while let Some(path) = todo.pop() {
        for listed in root.dir_beneath(&path, OpenFor::List)?.list()? {
            let own = path.join(&listed.name);
            if !is(&own, listed.kind) {
                return Ok(false);
            }
            if listed.kind == FileKind::Directory {
                todo.push(own);
            }
        }
    }
    Ok(true)
}

/// Looks at a path; nothing is below a link or a file.
fn summary(root: &beneath::Dir, path: &Path) -> io::Result<NodeSummary> {
    match parent(root, path) {
        Ok((dir, name)) => NodeSummary::of(&dir, name),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            Ok(NodeSummary::Absent)
        }
        Err(error) => Err(error),
    }
}

pub(super) fn parent<'p>(root: &beneath::Dir, path: &'p Path) -> io::Result<(beneath::Dir, &'p OsStr)> {
    let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
    let dir = root.dir_beneath(path.parent().unwrap_or(Path::new("")), OpenFor::Traverse);
    Ok((dir?, name))
}

// Dropping staged changes: the disk shows again.

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
                // Below a hidden directory: what the disk has there would not show without the layer.
                let is_hidden = change.layer.with_record(|record| record.hides_above(name))?;
                if is_hidden || !holds_only(&lock, name, applied)? {
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

/// Whether all that a directory of the layer holds or hides are directories that were applied.
fn holds_only(lock: &LayerLock<'_>, directory: &Path, applied: &[StagedChange]) -> io::Result<bool> {
    let is_own = |change: &&StagedChange| {
        std::ptr::eq(Arc::as_ptr(&change.layer), lock.layer) && change.staged == NodeSummary::Directory
    };
    let applied: HashSet<PathBuf> = applied.iter().filter(is_own).map(|change| folded(&change.below)).collect();
    if !lock.layer.with_record(|record| record.hidden_below(directory).all(|hidden| applied.contains(hidden)))? {
        return Ok(false);
    }
    let is_applied = |own: &Path, kind| kind == FileKind::Directory && applied.contains(&folded(own));
    all_below(&lock.layer.upper, directory, is_applied)
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
        remove_staged(&Dir::Plain(dir), name).if_there()?;
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
