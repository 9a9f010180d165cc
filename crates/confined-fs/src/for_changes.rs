//! What the crate `change-set` changes files with: handles of directories, and rules by name. A test of the project
//! (`CONFINED` in `tidy.rs`) lets no other crate name it, so that every other one reaches files by checked paths alone.

use std::{path::Path, sync::Arc};

use crate::{error::AccessError, path::WorkspacePath, root::Root, roots::links, shared::Workspace};

pub use beneath::{DirectoryStack, IfThere, remove_all};

pub use crate::disk_rules::repository;
pub use crate::error::AtPath;
pub use crate::open::{changeable, readable, regular};
pub use crate::policy::Verdict;
pub use crate::policy::reserved_names::{is_reserved, is_temporary, transaction_name};
pub use crate::roots::links::Location;

/// A path below a root; `relative` must hold normal components only.
pub fn path_below(root: &Arc<Root>, relative: &Path) -> WorkspacePath {
    WorkspacePath::new(root, relative)
}

impl Workspace {
    /// Where a path leads, after links inside the roots.
    #[doc(hidden)]
    pub fn locate(&self, path: &WorkspacePath) -> Result<Location, AccessError> {
        self.shared.locate(path)
    }

    #[doc(hidden)]
    pub fn deepest(&self, path: &WorkspacePath) -> WorkspacePath {
        self.shared.roots.deepest(path)
    }

    /// A path below a place whose names come from a listing, each as the deepest root has it.
    #[doc(hidden)]
    pub fn location_below(&self, place: &Location, relative: &Path) -> Location {
        place.child(&self.shared.roots, relative)
    }

    /// Whether a link at `link` that says `target` leads to a place inside the roots.
    #[doc(hidden)]
    pub fn stays_inside(&self, link: &WorkspacePath, target: &Path) -> bool {
        links::stays_inside(&self.shared.roots, link, target)
    }
}
