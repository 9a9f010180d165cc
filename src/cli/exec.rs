//! `rootbound exec`: runs a command of the host behind walls as the server has them.

use std::process::ExitCode;

use confined_fs::escape_controls;

use crate::config::ExecRequest;

use super::output::{fail, remark};

/// Becomes the command; returns the exit code where that is impossible.
pub fn exec(request: ExecRequest) -> ExitCode {
    let said = |text: &str| format!("rootbound: {}", escape_controls(text));
    for warning in &request.warnings {
        remark(&said(warning));
    }
    match request.command.start(&|text| remark(&said(text))) {
        Ok(code) => ExitCode::from(code),
        Err(failure) => fail(&said(&failure.reason), failure.code),
    }
}
