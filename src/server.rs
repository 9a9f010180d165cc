//! The protocol: JSON-RPC over stdio, all protocol versions of MCP, and the calls that run behind it.
//!
//! The only layer that names rmcp and tokio. A request arrives as a line (`stdio`), the `handler` answers it, and a
//! tool call goes through `dispatch`: admit, plan, approve, commit. `convert` makes the result of what a tool returns.
//! Nothing here touches a file or knows what a tool does.

mod answer_guard;
mod audited_call;
mod backpressure;
mod blocking;
mod call;
mod client_budget;
mod commits;
mod concurrency;
mod confirm;
mod connection;
mod convert;
mod disk_changes;
mod dispatch;
mod event_log;
mod handler;
mod in_process;
mod inline;
mod instructions;
mod kept_indexes;
mod listen_service;
mod overdue;
mod panics;
mod pools;
mod progress;
mod recover;
mod resources;
mod roles;
mod run;
mod services;
mod signals;
mod stdio;
mod subscribe;
mod subscriptions;
#[cfg(test)]
mod testing;
mod thread_pool;
mod wait_events;
mod waiting;

pub(crate) use client_budget::{CLIENTS, ClientRow};
pub use confirm::{Confirm, ConfirmThrough};
pub use connection::Server;
pub use event_log::EventLog;
pub use in_process::{Block, CallOutcome, InProcessClient, call_once, finish_indexes, list_once};
pub use kept_indexes::KeptIndexes;
pub use roles::RoleParts;
pub use run::run_stdio;
pub use services::{ServerOptions, Services};
#[cfg(all(any(test, fuzzing), unix))]
pub(crate) use stdio::for_fuzzing;
