//! The protocol: JSON-RPC over stdio, all protocol versions of MCP, and the calls that run behind it.
//!
//! The only layer that names rmcp and tokio. A request arrives as a line (`stdio`), the `handler` answers it, and a
//! tool call goes through `dispatch`: admit, plan, approve, commit. `results` makes the result of what a tool returns.
//! Nothing here touches a file or knows what a tool does.

mod call;
mod client_budget;
mod concurrency;
mod confirm;
mod connection;
mod disk_events;
mod dispatch;
mod event_log;
mod handler;
mod in_process;
mod instructions;
mod results;
mod roles;
mod services;
mod stdio;
#[cfg(test)]
mod testing;
mod threads;
mod waiting;

pub use confirm::{Confirm, ConfirmThrough};
pub use connection::{KeptIndexes, Server, run_stdio};
pub use event_log::EventLog;
pub use in_process::{Block, CallOutcome, InProcessClient, RequestError, call_once, finish_indexes, list_once};
pub use roles::RoleParts;
pub use services::{ServerOptions, Services};
