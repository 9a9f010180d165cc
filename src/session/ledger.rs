//! The ledger of files seen.
#![expect(missing_docs, unused_variables, clippy::todo, reason = "skeleton")]
use crate::workspace::{Revision, StateDir, WorkspacePath};
#[derive(Debug)]
pub struct Ledger {}
#[derive(Clone, Debug)]
pub struct Seen {
    pub revision: Revision,
}
impl Ledger {
    pub fn new(state: Option<StateDir>) -> Self {
        Self {}
    }
    /// `path` must be the real (canonical) path.
    pub fn saw(&self, path: &WorkspacePath, revision: Revision, content: Option<&[u8]>) {
        todo!()
    }
    pub fn seen(&self, path: &WorkspacePath) -> Option<Seen> {
        todo!()
    }
}
