//! What the server changes on the disk, passed on to the language servers: they see files that are not open only so.

use std::sync::{Arc, Weak};

use confined_fs::Workspace;
use lsp_check::{DiskChange, LanguageServers};

use crate::session::{ChangeKind, ChangeListener, CommittedChange};

use super::services::Services;

/// Passes changes on to the language servers that run.
#[derive(Debug)]
pub(super) struct DiskChanges {
    servers: Arc<LanguageServers>,
    workspace: Weak<Workspace>,
}

impl DiskChanges {
    /// Follows the changes of the session of `services` as long as it is held; none without language servers.
    pub(super) fn follow(services: &Services) -> Option<Arc<Self>> {
        let servers = Arc::clone(services.language_servers.as_ref()?);
        let own = Arc::new(Self { servers, workspace: Arc::downgrade(&services.workspace) });
        let listener: Weak<dyn ChangeListener> = Arc::downgrade(&own) as Weak<dyn ChangeListener>;
        services.session.changes.follow(listener);
        Some(own)
    }
}

impl ChangeListener for DiskChanges {
    fn changed(&self, changes: &[CommittedChange]) {
        let Some(workspace) = self.workspace.upgrade() else { return };
        for change in changes {
            if let Some(from) = &change.from {
                self.servers.changed_on_disk(&workspace.host_path(from), DiskChange::Deleted);
            }
            let kind = match change.kind {
                ChangeKind::Created | ChangeKind::Moved => DiskChange::Created,
                // The text of a file that a server is for is put to it with the check of the change.
                ChangeKind::Written if self.servers.are_for(&change.path) => continue,
                ChangeKind::Written => DiskChange::Changed,
                ChangeKind::Deleted => DiskChange::Deleted,
            };
            self.servers.changed_on_disk(&workspace.host_path(&change.path), kind);
        }
    }
}
