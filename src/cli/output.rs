//! What a command prints, and its exit code.

use std::{
    io::{self, Write as _},
    process::ExitCode,
};

/// Prints `text` and one line end to stdout; the exit code is 0, or 1 if it could not be written, as on a full disk.
pub(super) fn print(text: &str) -> ExitCode {
    let mut stdout = io::stdout().lock();
    let text = text.strip_suffix('\n').unwrap_or(text);
    match writeln!(stdout, "{text}").and_then(|()| stdout.flush()) {
        // A closed pipe, as after `| head`, is not an error.
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            fail(&format!("rootbound: the output could not be written: {error}"), 1)
        }
        _ => ExitCode::SUCCESS,
    }
}

/// Prints a remark to stderr, for whoever sends stdout to a file.
pub(super) fn remark(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{text}");
}

/// Prints `text` to stderr; the exit code is `code`.
pub(super) fn fail(text: &str, code: u8) -> ExitCode {
    remark(text);
    ExitCode::from(code)
}
