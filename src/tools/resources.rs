//! Files as resources of the protocol: what a person attaches to a conversation.
//!
//! The work behind `resources/list`, `resources/read` and `completion/complete`. It runs as calls of tools do, with
//! their limits, policy and audit, but a model cannot call it.

use super::Spec;

mod complete;
mod list;
mod read;

pub(super) use complete::CompletePath;
pub(super) use list::ListResources;
pub(super) use read::ReadResource;

/// The name under which `completion/complete` runs.
pub const COMPLETE: &str = "completion_complete";
/// The name under which `resources/list` runs.
pub const LIST_RESOURCES: &str = "resources_list";
/// The name under which `resources/read` runs.
pub const READ_RESOURCE: &str = "resources_read";

/// What is declared of the work behind a request: no client lists it, so only the name and its limits matter.
const fn request_spec(name: &'static str, title: &'static str, purpose: &'static str) -> Spec {
    Spec { name, title, purpose, description: purpose, ..Spec::READS }
}
