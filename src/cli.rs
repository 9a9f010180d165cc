//! The subcommands of the command line, one file each; `document` has `completions` and `man`.
//!
//! They print for people and return the exit code. The work is done by the layers below.

mod age;
mod call;
mod checkpoint;
mod diff;
mod doctor;
mod document;
mod exec;
mod guide;
mod history;
mod index;
mod output;
mod restore;
mod setup;
mod stage;
mod stats;
mod tools;

pub use call::call;
pub use checkpoint::checkpoint;
pub use diff::diff;
pub use doctor::{StartReport, doctor};
pub use document::document;
pub use exec::exec;
pub use guide::guide;
pub use history::history;
pub use index::{build_indexes, clear_all_indexes, clear_indexes, index_status};
pub use restore::{restore, restore_state};
pub use setup::setup;
pub use stage::{apply_staged, discard_staged, staged_diff};
pub use stats::stats;
pub use tools::tools;
