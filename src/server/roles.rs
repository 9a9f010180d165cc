//! What one caller of a server has: everything, or what a role leaves it.
//!
//! Each role has a workspace, a session, an index and a toolbox of its own, so nothing that one has seen, cached or
//! changed reaches another. Limits on threads and concurrent calls are shared.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, OnceLock, PoisonError},
};

use rmcp::model::Tool;
use text_file::wildcard::matches;
use tokio_util::sync::CancellationToken;

use super::{client_budget::ClientBudgets, dispatch::Dispatcher, instructions, results, services::Services};

const MAX_COMPLETIONS: usize = 8;

#[derive(Debug)]
pub struct RoleParts {
    pub client: String,
    pub services: Services,
}

pub(super) struct Served {
    /// The name of the clients; `None` for all others.
    client: Option<String>,
    pub(super) dispatcher: Arc<Dispatcher>,
    pub(super) instructions: String,
    pub(super) budgets: ClientBudgets,
    listing: OnceLock<Vec<Tool>>,
    completions: Mutex<VecDeque<CancellationToken>>,
}

impl Served {
    pub(super) fn new(client: Option<String>, dispatcher: Arc<Dispatcher>, instructions: String) -> Self {
        let services = &dispatcher.services;
        let mounts = services.workspace.roots().iter().filter_map(|root| root.name().map(str::to_owned)).collect();
        let budgets = ClientBudgets::new(mounts, &services.settings);
        Self { client, dispatcher, instructions, budgets, listing: OnceLock::new(), completions: Mutex::default() }
    }

    /// Serves a role, with the limits of `base`.
    pub(super) fn of_role(role: RoleParts, base: &Dispatcher) -> Self {
        let text = || instructions::text(&role.services.toolbox, &role.services.workspace);
        let text = role.services.unconfigured().unwrap_or_else(text);
        Self::new(Some(role.client), Arc::new(base.of_role(role.services)), text)
    }

    pub(super) fn is_for(&self, client: Option<&str>) -> bool {
        self.client.as_deref().is_none_or(|pattern| client.is_some_and(|client| matches(pattern, client)))
    }

    pub(super) fn listing(&self) -> &[Tool] {
        let services = &self.dispatcher.services;
        self.listing
            .get_or_init(|| results::listing(&services.toolbox, &services.settings, services.options.takes_codes()))
    }

    /// Counts a completion as under way, and cancels the oldest one beyond [`MAX_COMPLETIONS`]: a person who types on does
    /// not look at it any more.
    pub(super) fn begin_completion(&self, cancelled: &CancellationToken) {
        let mut running = self.completions.lock().unwrap_or_else(PoisonError::into_inner);
        running.push_back(cancelled.clone());
        if running.len() > MAX_COMPLETIONS
            && let Some(oldest) = running.pop_front()
        {
            oldest.cancel();
        }
    }
}
