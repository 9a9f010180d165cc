//! What a command prints, and its exit code.

use std::{
    io::{self, Write as _},
    process::ExitCode,
};

/// Prints `text` and one line end to stdout; the exit code is 0.
pub(super) fn print(text: &str) -> ExitCode {
    // A closed pipe, as after `| head`, is not an error.
    let _ = writeln!(io::stdout().lock(), "{}", text.strip_suffix('\n').unwrap_or(text));
    ExitCode::SUCCESS
}

/// Prints `text` to stderr; the exit code is `code`.
pub(super) fn fail(text: &str, code: u8) -> ExitCode {
    let _ = writeln!(io::stderr().lock(), "{text}");
    ExitCode::from(code)
}
