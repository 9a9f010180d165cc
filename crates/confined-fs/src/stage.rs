//! Staged changes (`--stage`): a layer in the state folder over the roots, which stay as they are until a person applies it.
//!
//! Each root that may be written has a layer: a folder `upper` with every new or changed entry under the path that it has
//! below the root, and a record of the names of the disk that do not show any more. A name is looked up in `upper` first,
//! then on the disk, unless it is hidden. It works as overlayfs does, and without its privileges, on every platform:
//! a changed file is copied up first, and a directory of the disk is not renamed (`CrossesDevices`), so that the tree
//! operations copy it and empty its old place, as they do on overlayfs
//! ([overlayfs](https://docs.kernel.org/filesystems/overlayfs.html), "Renaming directories").
//!
//! # What a reader sees after a kill
//! `upper` wins over the disk, so the order of two steps decides: an entry is copied up before it is hidden, and hidden
//! before it leaves its name in `upper`. The rename in `upper`, or for an entry of the disk alone the line in the record, is
//! the step that shows.
//!
//! # Limits
//! - What others change on the disk below a staged root shows until the path is changed in the layer; then the layer's
//!   entry shows, and `rootbound stage apply` reports a conflict.
//! - A staged file is another inode than that of the disk, and its owner is the user who runs the server.
//! - Roots are staged together with the root that contains them: their layer is that of the outermost.

mod changes;
mod layer;
mod record;
mod review;
mod staged_dir;

pub(crate) use layer::Layer;
pub use layer::{LayerSize, StageOptions};
pub use record::NodeSummary;
pub use review::StagedChange;
pub(crate) use staged_dir::StagedDir;
