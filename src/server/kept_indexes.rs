//! What searches keep, stored at the end of the process for those that follow.
//!
//! All calls are answered by then, so nobody waits for an answer; a signal ends the process at once.

use std::{sync::Arc, thread};

use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use confined_fs::Workspace;
use tree_search::PathIndex;

/// The indexes of a server, of all roles.
#[derive(Debug)]
pub struct KeptIndexes(Vec<(Arc<PathIndex>, Arc<Workspace>)>);

impl KeptIndexes {
    pub(super) fn new(indexes: Vec<(Arc<PathIndex>, Arc<Workspace>)>) -> Self {
        Self(indexes)
    }

    /// Goes on with what is being read for an index, for about a second or until `stop` is cancelled, and stores it.
    pub(super) async fn finish_unless(self, stop: &CancellationToken) {
        if stop.is_cancelled() || !self.is_unfinished() {
            return;
        }
        let (sender, finished) = oneshot::channel();
        let spawned = thread::Builder::new().name("store".to_owned()).spawn(move || {
            for (index, workspace) in &self.0 {
                index.finish(workspace);
            }
            let _ = sender.send(());
        });
        if spawned.is_ok() {
            tokio::select! {
                _ = finished => {}
                () = stop.cancelled() => {}
            }
        }
    }

    pub(super) fn is_unfinished(&self) -> bool {
        self.0.iter().any(|(index, workspace)| index.is_unfinished(workspace))
    }
}
