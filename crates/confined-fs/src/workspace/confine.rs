//! The roots and folders that the kernel's sandbox grants to the process.

use std::path::Path;

use self_sandbox::{Confine, ConfineError, ConfineReport, GrantedDirectory};

use crate::root::{Access, OptionalRoot};
use crate::shared::Workspace;

impl Workspace {
    /// Confines the process to the roots, with their rights, and to `folders` (for state and audit): see
    /// [`self_sandbox::confine`]. Call it before any other thread starts, and once those folders exist.
    ///
    /// # Errors
    /// As that function's.
    pub fn confine(&self, how: Confine, folders: &[&Path]) -> Result<ConfineReport, ConfineError> {
        let roots = self.shared.roots.list();
        let granted = roots.iter().filter_map(|root| {
            Some(GrantedDirectory { dir: root.sandboxed_dir()?, may_write: root.access() == Access::ReadWrite })
        });
        let report = self_sandbox::confine(&granted.collect::<Vec<_>>(), how, folders)?;
        if report.enforced {
            roots.iter().filter_map(|root| root.optional.as_ref()).for_each(OptionalRoot::sandboxed);
        }
        Ok(report)
    }
}
