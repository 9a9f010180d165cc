//! The integration tests, in one binary: the server as a client sees it.
//!
//! Most run the whole server in this process ([`harness`]); what only a process shows (framing on
//! real pipes, signals, exit codes) spawns the binary ([`process`]).

#![expect(clippy::disallowed_methods, clippy::disallowed_types, reason = "tests prepare and inspect real files")]

mod attacks;
mod audit;
mod concurrency;
mod config;
mod doctor;
mod fixtures;
mod glob;
mod grep;
mod harness;
mod history;
mod ls;
mod manage;
mod oracle;
mod process;
mod protocol;
mod quota;
mod race;
mod stdio;
mod tidy;
