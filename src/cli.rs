//! The commands of the command line, one file each; `exec` is here, `document` has `completions` and `man`.
//!
//! They print for people and return the exit code. The work is done by the layers below.

mod call;
mod doctor;
mod document;
mod guide;
mod history;
mod index;
mod output;
mod setup;
mod stage;
mod stats;
mod tools;

use std::process::ExitCode;

use confined_fs::escape_controls;

use crate::config::ExecRequest;

pub use call::call;
pub use doctor::{StartReport, doctor};
pub use document::document;
pub use guide::guide;
pub use history::history;
pub use index::{build_indexes, clear_indexes, index_status};
use output::{fail, remark};
pub use setup::setup;
pub use stage::stage;
pub use stats::stats;
pub use tools::tools;

/// Becomes a command of the host behind walls as the server has them; returns the exit code where that is impossible.
pub fn exec(request: ExecRequest) -> ExitCode {
    let line = |text: &str| format!("rootbound: {}", escape_controls(text));
    for warning in &request.warnings {
        remark(&line(warning));
    }
    match request.command.start(&|text| remark(&line(text))) {
        Ok(code) => ExitCode::from(code),
        Err(failure) => fail(&line(&failure.reason), failure.code),
    }
}
