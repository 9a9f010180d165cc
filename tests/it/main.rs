//! The integration tests, in one binary: the server as a client sees it.
//!
//! Most run the whole server in this process ([`harness`]); what only a process shows (framing on
//! real pipes, signals, exit codes) spawns the binary ([`harness::process`]).

#![expect(clippy::disallowed_methods, reason = "tests prepare and inspect real files")]

mod changes;
mod cli;
mod core;
mod formats;
mod harness;
mod rules;
mod sandbox;
mod search;
mod server;
mod tidy;
