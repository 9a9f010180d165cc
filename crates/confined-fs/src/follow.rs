//! The names of a path whose changes are followed, whether or not anything is there yet.

use super::access::{readable, visible};
use super::{AccessError, AccessErrorKind, Workspace, WorkspacePath};

impl Workspace {
    /// Each real name on the way to what a path leads to, the path of its content first: a change of any of them may be
    /// a change of what is read through the path. Nothing need be there.
    ///
    /// # Errors
    /// Where its content may not be read, as for a path that leads outside.
    pub fn names_to_follow(&self, path: &WorkspacePath) -> Result<Vec<WorkspacePath>, AccessError> {
        let way = match self.shared.locate(path) {
            Ok(way) => way,
            // It is followed until the root is there.
            Err(AccessError { kind: AccessErrorKind::RootGone(_), .. })
                if path.root().is_absent() && !path.hidden() =>
            {
                readable(path, path)?;
                return Ok(vec![path.clone()]);
            }
            Err(error) => return Err(error),
        };
        if !way.real.root().is_absent() {
            visible(&way, path)?;
        }
        way.names().try_for_each(|name| readable(name, path))?;
        Ok(way.names().cloned().collect())
    }
}
