//! `rootbound stage`: what is staged with `--stage`, for the person who decides about it.

use std::process::ExitCode;

use crate::{config::StageCommand, server::Services, tools::staged};

use super::output::{TIME_LIMIT, report, with_bar};

/// Prints what is staged as a diff, makes it on the disk, or drops it.
pub fn stage(services: &Services, command: &StageCommand) -> ExitCode {
    report(match command {
        StageCommand::Diff => staged::diff(&services.workspace),
        StageCommand::Apply { paths, skip_conflicts } => {
            with_bar("applying", |_| staged::apply(&services.context(TIME_LIMIT), paths, *skip_conflicts))
        }
        StageCommand::Discard { paths } => staged::discard(&services.workspace, paths),
    })
}
