//! The commands of the command line: each file is one subcommand, run on a server that is not serving a client.
//!
//! They print for people, and return the exit code. What they do is the business of the layers below.

mod call;
mod doctor;
mod history;
mod output;
mod restore;
mod tools;

pub use call::call;
pub use doctor::{StartReport, doctor};
pub use history::history;
pub use restore::restore;
pub use tools::tools;
