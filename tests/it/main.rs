//! The integration tests, in one binary: the server as a client sees it.
//!
//! Most run the whole server in this process ([`harness`]); what only a process shows (framing on
//! real pipes, signals, exit codes) spawns the binary ([`process`]).

#![expect(clippy::disallowed_methods, reason = "tests prepare and inspect real files")]

mod answers;
mod attacks;
mod audit;
mod budget;
#[cfg(unix)]
mod completions;
mod concurrency;
mod config;
mod confined;
mod confirm;
mod confirm_through_model;
mod content;
#[cfg(all(unix, debug_assertions))]
mod crash;
mod declared;
mod definitions;
mod doctor;
mod documents;
mod edit_files;
mod entries;
mod events;
mod exec;
mod expected;
#[cfg(unix)]
mod fuzz_corpus;
mod glob;
mod grep;
mod guide;
mod harness;
mod history;
#[cfg(unix)]
mod ignore_trees;
mod images;
#[cfg(unix)]
mod index;
#[cfg(target_os = "linux")]
mod index_command;
mod limits;
#[cfg(unix)]
mod links;
mod long_paths;
#[cfg(target_os = "linux")]
mod look_alike;
mod ls;
mod lsp;
mod manage;
mod model;
mod notebooks;
mod office;
mod optional;
mod oracle;
#[cfg(target_os = "linux")]
mod overlay;
mod packages;
mod paging;
mod patch;
mod pdf;
mod present;
mod printable;
mod process;
mod processes;
#[cfg(unix)]
mod processes_in_a_row;
mod program;
mod protocol;
mod quota;
mod race;
mod random;
mod read;
mod readme;
mod references;
mod registry;
mod repair;
mod replay;
mod resources;
mod rights;
mod roles;
mod setup;
mod shared_files;
mod spelling;
mod stdio;
mod system;
mod tidy;
mod two_callers;
mod undo_back;
mod undo_rights;
mod undo_to;
mod untrusted;
mod wait;
mod without_retyping;
mod worktrees;
mod write_encoding;
