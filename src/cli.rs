//! The commands of the command line: `exec` is here with what all of them print through, `call` has `tools`
//! as well, and `document` the manual page and the completions.
//!
//! They print human-readable text and return the exit code. The work is done by the layers below.

mod call;
mod doctor;
mod document;
mod guide;
mod history;
mod index;
mod setup;

use std::{
    io::{self, IsTerminal as _, Write as _},
    process::ExitCode,
    time::Duration,
};

use confined_fs::escape::escape_controls;
use indicatif::{ProgressBar, ProgressFinish};

use crate::config::ExecRequest;
use file_tools::ToolError;

pub use call::{call, tools};
pub use doctor::{StartReport, doctor};
pub use document::document;
pub use guide::guide;
pub use history::history;
pub use index::{build_indexes, clear_indexes, index_status};
pub use setup::setup;

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

/// A person waits for a command and can press Ctrl-C.
const TIME_LIMIT: Duration = Duration::from_secs(24 * 60 * 60);

/// Prints `text` and one line end to stdout; the exit code is 0, or 1 if it could not be written, as on a full disk.
fn print(text: &str) -> ExitCode {
    let mut stdout = io::stdout().lock();
    // A text that ends with a line end gets no blank line.
    let text = text.strip_suffix('\n').unwrap_or(text);
    match writeln!(stdout, "{text}").and_then(|()| stdout.flush()) {
        // A closed pipe, as after `| head`, is not an error.
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            fail(&format!("rootbound: the output could not be written: {error}"), 1)
        }
        _ => ExitCode::SUCCESS,
    }
}

fn remark(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{text}");
}

/// Prints `text` to stderr; the exit code is `code`.
fn fail(text: &str, code: u8) -> ExitCode {
    remark(text);
    ExitCode::from(code)
}

/// Prints what was done, or the error; the exit code is 0 or 1.
fn report(done: Result<String, ToolError>) -> ExitCode {
    done.map_or_else(|error| fail(&error.text(), 1), |text| print(text.trim_end()))
}

/// Asks a person on the terminal. `None` if there is no terminal.
fn asked(question: &str) -> Option<bool> {
    if !io::stdin().is_terminal() {
        return None;
    }
    let mut stderr = io::stderr().lock();
    let _ = write!(stderr, "{question} [y/N] ").and_then(|()| stderr.flush());
    let mut answer = String::new();
    let read = io::stdin().read_line(&mut answer).is_ok();
    Some(read && matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
}

/// Does `work` while a line on the terminal shows that it goes on. Where stderr is no terminal, nothing is shown.
fn with_bar<T>(what: &'static str, work: impl FnOnce(&ProgressBar) -> T) -> T {
    let bar = ProgressBar::new_spinner().with_message(what).with_finish(ProgressFinish::AndClear);
    bar.enable_steady_tick(Duration::from_millis(200));
    work(&bar)
}

/// How long ago something was: `12 s`, `3 min`, `5 h` or `2 d`.
fn age(seconds: u64) -> String {
    match seconds {
        0..120 => format!("{seconds} s"),
        120..7_200 => format!("{} min", seconds / 60),
        7_200..172_800 => format!("{} h", seconds / 3_600),
        _ => format!("{} d", seconds / 86_400),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_are_in_the_largest_unit_that_fits() {
        assert_eq!([119, 120, 7_199, 7_200, 172_800].map(age), ["119 s", "2 min", "119 min", "2 h", "2 d"]);
    }
}
