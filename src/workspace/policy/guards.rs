//! What start-up found out about one root, on top of the rules: places that are refused wherever they are.
//!
//! Pure, as all of policy: what is in these lists was looked up by `own`, `linked` and `agent_files`.

use std::path::Path;

use super::agent::AgentRules;
use super::fold::{Folded, fold};

/// Paths below a root, each with all below it, compared as names are.
#[derive(Clone, Debug, Default)]
pub(in crate::workspace) struct Places(Vec<(String, String)>);

impl Places {
    /// Adds a place; `why` is what a refusal names as its rule.
    pub(in crate::workspace) fn add(&mut self, relative: &Path, why: String) {
        let path = fold(relative).as_str().to_owned();
        // The root itself is none: it is refused as a root, and everything is below it.
        if !path.is_empty() && self.0.iter().all(|(known, _)| *known != path) {
            self.0.push((path, why));
        }
    }

    /// Why the path is refused, if it is.
    pub(super) fn why(&self, path: &Folded) -> Option<&str> {
        let holds = |place: &str| {
            path.as_str().strip_prefix(place).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        self.0.iter().find(|(place, _)| holds(place)).map(|(_, why)| why.as_str())
    }

    /// Why a path that a place lies below is refused, if there is such a place.
    pub(super) fn why_above(&self, path: &Folded) -> Option<&str> {
        let lies_below = |place: &str| place.strip_prefix(path.as_str()).is_some_and(|rest| rest.starts_with('/'));
        self.0.iter().find(|(place, _)| lies_below(place)).map(|(_, why)| why.as_str())
    }

    /// Whether there are none.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// See the module.
#[derive(Clone, Debug, Default)]
pub(in crate::workspace) struct Guards {
    /// What decides about the next start: no option lets it be written.
    pub(in crate::workspace) own: Places,
    /// What links with a name of the run-later list lead to.
    pub(in crate::workspace) run_later: Places,
    /// What links with a name of a secret lead to.
    pub(in crate::workspace) secrets: Places,
    /// Rules that people wrote for agents.
    pub(in crate::workspace) agents: Vec<AgentRules>,
}

impl Guards {
    /// The agents' rule against the content at this path.
    pub(super) fn denied(&self, relative: &Path) -> Option<String> {
        self.agents.iter().find_map(|rules| rules.denied(relative))
    }

    /// The agents' rule against a write to this path.
    pub(super) fn protected(&self, relative: &Path) -> Option<String> {
        self.agents.iter().find_map(|rules| rules.protected(relative))
    }

    /// Whether nothing here is about writing.
    pub(super) fn lets_write(&self) -> bool {
        self.own.is_empty() && self.run_later.is_empty() && self.agents.is_empty()
    }

    /// Whether nothing here is about content.
    pub(super) fn lets_read(&self) -> bool {
        self.secrets.is_empty() && self.agents.is_empty()
    }
}
