//! The problems that a committed change has introduced, after the text of its answer and in its data.
//!
//! The change is made by then: a check that fails or panics adds nothing, and takes nothing back.

use std::borrow::Cow;
use std::panic::{self, AssertUnwindSafe};

use confined_fs::WorkspacePath;
use lsp_check::{Checked, FileChange};
use schemars::JsonSchema;
use serde::Serialize;
use source_outline::{
    problems::{self, MAX_SHOWN, ShownProblems},
    syntax,
};

use super::{context::CallContext, fence::fenced};

#[derive(Clone, Copy)]
pub(crate) struct ChangedText<'c> {
    pub(crate) path: &'c WorkspacePath,
    pub(crate) real: &'c WorkspacePath,
    /// The text before; `None` if there was no file, or no text in it.
    pub(crate) old: Option<&'c str>,
    pub(crate) new: &'c str,
}

/// Whether a change of the file with the real path `real` is checked; if not, its text need not be read for that.
pub(crate) fn may_have_problems(cx: &CallContext, real: &WorkspacePath) -> bool {
    let has_server = || cx.language_servers.as_ref().is_some_and(|servers| servers.are_for(real));
    cx.settings.diagnostics && (syntax::is_checked(&real.to_string()) || has_server())
}

/// How bad a problem is; the worst first.
#[derive(Serialize, JsonSchema)]
#[serde(remote = "problems::Severity", rename_all = "lowercase")]
enum Severity {
    Error,
    /// The file may not do what it looks like.
    Warning,
}

/// One problem at a place of a text.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct Problem {
    /// Its line, from 1.
    line: usize,
    /// Its column, in characters from 1.
    column: usize,
    /// How bad it is.
    #[serde(with = "Severity")]
    severity: problems::Severity,
    /// What is wrong, in one line.
    message: String,
    /// The language or the program that found it.
    source: Cow<'static, str>,
}

impl From<problems::Problem> for Problem {
    fn from(problems::Problem { line, column, severity, message, source }: problems::Problem) -> Self {
        Self { line, column, severity, message, source }
    }
}

#[derive(Debug, Default)]
pub(crate) struct IntroducedProblems {
    /// Those that the answer shows, the worst first; for its data.
    pub(crate) problems: Vec<Problem>,
    /// The lines for the answer, with the space before them; empty without a problem.
    pub(crate) text: String,
}

/// Checks `change` with a language server. The call releases its concurrency permit first: it waits for
/// another program.
fn checked(cx: &CallContext, change: &ChangedText<'_>) -> Option<Checked> {
    let servers = cx.language_servers.as_ref().filter(|servers| servers.are_for(change.real))?;
    if let Some(yields) = &cx.yields {
        yields();
    }
    let change = FileChange { path: change.real, before: change.old, after: change.new };
    servers.check(&cx.workspace, change, &cx.stop)
}

impl IntroducedProblems {
    /// The problems that `change` has introduced, once it is committed and its locks are released.
    pub(crate) fn by(cx: &CallContext, change: &ChangedText<'_>) -> Self {
        if !may_have_problems(cx, change.real) {
            return Self::default();
        }
        let name = change.real.to_string();
        let check = || syntax::new_problems(&name, change.old, change.new);
        // A library may panic on hostile bytes, and the change is already made.
        let mut problems = panic::catch_unwind(AssertUnwindSafe(check)).unwrap_or_default();
        let none = |_| {
            Some(Checked { note: Some("diagnostics: not ready: the check failed".to_owned()), ..Checked::default() })
        };
        let checked =
            panic::catch_unwind(AssertUnwindSafe(|| checked(cx, change))).unwrap_or_else(none).unwrap_or_default();
        problems.extend(checked.problems);
        problems.sort_by_key(|problem| problem.severity);
        let shown = ShownProblems::of(&change.path.to_string(), problems, cx.budget.text_bytes() / 4);
        let mut blocks = vec![shown.text];
        let room = MAX_SHOWN.saturating_sub(shown.problems.len());
        for (path, problem) in checked.elsewhere.into_iter().take(room) {
            blocks.push(ShownProblems::of(&path.to_string(), vec![problem], 0).text);
        }
        blocks.extend(checked.note);
        blocks.retain(|block| !block.is_empty());
        if blocks.is_empty() {
            return Self::default();
        }
        let text = fenced(&cx.workspace, [change.real], blocks.join("\n"));
        Self { problems: shown.problems.into_iter().map(Problem::from).collect(), text: format!("\n\n{text}") }
    }

    /// The call with what is left of its budget for the rest of the answer.
    pub(crate) fn leave_room(&self, cx: &CallContext) -> CallContext {
        let mut budget = cx.budget.less(&self.text);
        if cx.settings.structured_output && !self.problems.is_empty() {
            budget = budget.less(&serde_json::json!(self.problems).to_string());
        }
        CallContext { budget, ..cx.clone() }
    }
}
