//! A role: what some callers may do less than the command line allows.
//!
//! It is chosen by the label of the process (`--audit-label`), which the person who starts it sets, or by the name that the
//! client sends, which is a claim. The first role that matches counts; one without `label` and `client` matches everybody.

use confined_fs::RootSpec;
use text_file::wildcard::matches;

use crate::{session::QuotaLimits, tools::Selection};

/// What some callers may do less than the command line allows.
#[derive(Clone, Debug)]
pub struct Role {
    /// Its name.
    pub name: String,
    /// The label of the processes that it is for, with `*` for any text; `None` for any label.
    pub label: Option<String>,
    /// The name of the clients that it is for, likewise.
    pub client: Option<String>,
    /// The directories that it has.
    pub roots: Vec<RootSpec>,
    /// The tools that it has.
    pub selection: Selection,
    /// What a session of it may spend.
    pub quota: QuotaLimits,
}

impl Role {
    /// Those of `roles` that a process with `label` may need, in order, up to the first that needs no client's name to
    /// be chosen.
    pub fn candidates<'r>(roles: &'r [Self], label: Option<&str>) -> Vec<&'r Self> {
        let fits = |role: &&Self| {
            role.label.as_deref().is_none_or(|pattern| label.is_some_and(|label| matches(pattern, label)))
        };
        let mut found = Vec::new();
        for role in roles.iter().filter(fits) {
            found.push(role);
            if role.client.is_none() {
                break;
            }
        }
        found
    }

    /// Who it is for, in words.
    pub fn who(&self) -> String {
        match (&self.label, &self.client) {
            (None, None) => "everybody else".to_owned(),
            (Some(label), None) => format!("label {label:?}"),
            (None, Some(client)) => format!("client {client:?}"),
            (Some(label), Some(client)) => format!("label {label:?} and client {client:?}"),
        }
    }
}
