//! The commands of the command line, one file each; `exec` and `stage` are here, `document` has the manual page and,
//! below it, the completions.
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
mod stats;
mod tools;

use std::process::ExitCode;

use confined_fs::escape_controls;

use crate::{
    config::{ExecRequest, StageCommand},
    server::Services,
    tools::staged,
};

pub use call::call;
pub use doctor::{StartReport, doctor};
pub use document::document;
pub use guide::guide;
pub use history::history;
pub use index::{build_indexes, clear_indexes, index_status};
use output::{TIME_LIMIT, fail, remark, report, with_bar};
pub use setup::setup;
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

/// Prints what is staged with `--stage` as a diff, makes it on the disk, or drops it.
pub fn stage(services: &Services, command: &StageCommand) -> ExitCode {
    report(match command {
        StageCommand::Diff => staged::diff(&services.workspace),
        StageCommand::Apply { paths, skip_conflicts } => {
            with_bar("applying", |_| staged::apply(&services.context(TIME_LIMIT), paths, *skip_conflicts))
        }
        StageCommand::Discard { paths } => staged::discard(&services.workspace, paths),
    })
}
