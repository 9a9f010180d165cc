//! What one caller of a server has: everything, or what a role leaves it.
//!
//! Each role has a workspace, a session, an index and a toolbox of its own, so nothing that one has seen, cached or
//! changed reaches another. Limits on threads and concurrent calls are shared.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use rmcp::model::Tool;

use crate::{session::ChangeListener, text::wildcard::matches, tools::ToolError, workspace::Workspace};

use super::{
    client_budget::ClientBudgets, convert, dispatch::Dispatcher, instructions, parts::Parts, stdio::OutputQueue,
    subscriptions::Subscriptions,
};

/// What the clients of one name have.
#[derive(Debug)]
pub struct RoleParts {
    /// The role's name, for the log.
    pub name: String,
    /// The name of the clients, with `*` for any text.
    pub client: String,
    /// What they have.
    pub parts: Parts,
}

/// What one caller is served with.
pub(super) struct Served {
    /// The name of the clients; `None` for all others.
    client: Option<String>,
    pub(super) dispatcher: Arc<Dispatcher>,
    pub(super) instructions: String,
    pub(super) budgets: ClientBudgets,
    listing: OnceLock<Vec<Tool>>,
    subscriptions: Mutex<Option<Arc<Subscriptions>>>,
}

impl Served {
    /// What `dispatcher` serves to clients whose name is `client`.
    pub(super) fn new(client: Option<String>, dispatcher: Arc<Dispatcher>, instructions: String) -> Self {
        let parts = &dispatcher.parts;
        let mounts = parts.workspace.roots().iter().filter_map(|root| root.name().map(str::to_owned)).collect();
        let budgets = ClientBudgets::new(mounts, &parts.settings);
        Self { client, dispatcher, instructions, budgets, listing: OnceLock::new(), subscriptions: Mutex::default() }
    }

    /// What a role serves, with the limits of `base`.
    pub(super) fn of_role(role: RoleParts, base: &Dispatcher) -> Self {
        let text = instructions::text(&role.parts.toolbox, &instructions::roots(&role.parts.workspace));
        Self::new(Some(role.client), Arc::new(base.of_role(role.parts)), text)
    }

    /// The one for the client that calls itself `client`: the first that fits. The last fits all.
    pub(super) fn choose<'s>(all: &'s [Self], client: Option<&str>) -> &'s Self {
        let fits = |served: &&Self| {
            served.client.as_deref().is_none_or(|pattern| client.is_some_and(|client| matches(pattern, client)))
        };
        all.iter().find(fits).unwrap_or_else(|| &all[all.len() - 1])
    }

    /// Whether its clients may subscribe to files: where they may read them.
    pub(super) fn has_subscriptions(&self) -> bool {
        self.dispatcher.parts.toolbox.get("read").is_some()
    }

    /// What its clients have subscribed to; begins with the first request about it.
    pub(super) fn subscriptions(&self, output: &OutputQueue) -> Result<Arc<Subscriptions>, ToolError> {
        let mut subscriptions = self.subscriptions.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = &*subscriptions {
            return Ok(Arc::clone(known));
        }
        let Parts { workspace, session, path_index, .. } = &*self.dispatcher.parts;
        let new = Subscriptions::new(Workspace::clone(workspace), output.clone(), path_index.is_kept())?;
        let new = subscriptions.insert(Arc::new(new));
        let listener: Arc<dyn ChangeListener> = Arc::clone(new) as _;
        session.changes.follow(Arc::downgrade(&listener));
        Ok(Arc::clone(new))
    }

    /// Its tools.
    pub(super) fn listing(&self) -> &[Tool] {
        let parts = &self.dispatcher.parts;
        self.listing.get_or_init(|| convert::listing(&parts.toolbox, &parts.settings, parts.options.takes_codes()))
    }
}
