//! What came of a wait, as a model reads it.

use std::fmt::Write as _;

use confined_fs::Revision;
use schemars::JsonSchema;
use serde::Serialize;
use serde_with::skip_serializing_none;

use super::{
    super::{Answer, CallContext, EndReason, answer::count, fence::fence},
    request::{Until, WaitRequest, duration_text},
    state::{Entry, PendingWait},
};

impl PendingWait {
    /// The answer at the end; `given_up` where nothing happened.
    pub(super) fn answer(&mut self, cx: &CallContext, outcome: Outcome, given_up: Option<EndReason>) -> Answer {
        let has_lines = self.is_text && self.tail.stat().is_some();
        let next_offset = match self.until {
            // All lines of what comes are new.
            Until::Line if !self.tail.is_at_path && self.entries.is_none() => Some(0),
            _ => has_lines.then(|| if self.tail.is_at_path { self.ends_at.unwrap_or(self.tail.lines) } else { 0 }),
        };
        let continuation = next_offset.map(|next| self.continuation(next));
        let total_lines = if has_lines { self.tail.count_lines(cx) } else { None };
        let revision = total_lines.and_then(|_| self.tail.revision());
        let content = if self.names.is_empty() { self.new.text() } else { self.shown_names(cx) };
        let is_untrusted = cx.workspace.is_untrusted(self.tail.real_path().unwrap_or(&self.request.path));
        let mut text = if is_untrusted && !content.is_empty() { fence(&content) + "\n" } else { content.clone() };
        let output = Output {
            path: self.request.path.to_string(),
            text: content,
            outcome,
            waited_ms: u64::try_from(self.request.started.elapsed().as_millis()).unwrap_or(u64::MAX),
            new: self.new.count + self.names.len(),
            matched_line: self.matched,
            next_offset,
            total_lines,
            revision: revision.map(|revision| revision.to_string()),
            size: self.tail.stat().map(|stat| stat.size),
            restarted: self.tail.restarts > 0,
            asked_seconds: self.request.asked.map(|asked| asked.as_secs()),
        };
        for note in self.new.left_out().iter().chain(&self.new.hidden()).chain(&self.notes) {
            let _ = writeln!(text, "{note}");
        }
        text.push_str(&self.closing(
            outcome,
            given_up,
            continuation.as_deref(),
            self.about_file(outcome, total_lines, revision),
        ));
        Answer::of(cx, text, &output, &["path", "text"])
    }

    /// The argument with which the next call goes on: the number of lines, or the rev where the last line was not finished
    /// and would be new again.
    fn continuation(&self, next: usize) -> String {
        let tail = &self.tail;
        let is_end_known = self.ends_at.is_none() && tail.is_at_path && tail.known > 0 && !tail.is_end_new();
        match tail.revision().filter(|_| is_end_known) {
            Some(revision) => format!("since={}:{}", revision.short(), tail.read_to),
            None => format!("offset={next}"),
        }
    }

    fn shown_names(&self, cx: &CallContext) -> String {
        let mut gauge = cx.budget.list().gauge();
        let mut text = String::new();
        for (at, name) in self.names.iter().enumerate() {
            if !gauge.push(&mut text, name, false) {
                let _ = writeln!(text, "… {} more names; ls shows them", self.names.len() - at);
                break;
            }
        }
        text
    }

    fn about_file(&self, outcome: Outcome, lines: Option<usize>, revision: Option<Revision>) -> Vec<String> {
        let mut about = Vec::new();
        if self.tail.restarts > 0 {
            about.push("it was replaced, cut or written again: all its lines count as new".to_owned());
        }
        let revision = revision.map(|revision| format!(", rev {}", revision.short())).unwrap_or_default();
        about.extend(lines.map(|lines| count(lines, "line") + &revision));
        let entries = self.entries.filter(|_| outcome != Outcome::NothingNew);
        about.extend(entries.map(|entries| format!("a directory with {}", count(entries, "entry"))));
        about
    }

    fn closing(
        &self,
        outcome: Outcome,
        given_up: Option<EndReason>,
        next: Option<&str>,
        mut about: Vec<String>,
    ) -> String {
        let WaitRequest { path, asked, cap, started, .. } = &self.request;
        let waited = duration_text(started.elapsed());
        let new = count(self.new.count, "new line");
        let was_missing = matches!(self.before, Entry::Missing);
        let what = match outcome {
            Outcome::Line => match self.matched {
                Some(number) if self.was_there => format!("line {number} is there already"),
                Some(number) => format!("line {number} matched after {waited}"),
                None => format!("{new} after {waited}"),
            },
            Outcome::Appeared if was_missing => format!("{path} appeared after {waited}"),
            Outcome::Appeared => format!("{path} is there already"),
            Outcome::Changed => match (self.names.len(), self.new.count) {
                (0, 0) if next.is_some() => format!("{path} changed after {waited}: written, without new lines"),
                (0, 0) => format!("{path} changed after {waited}"),
                (0, _) => format!("{path} changed after {waited}: {new}"),
                (names, _) => format!("{path} changed after {waited}: {}", count(names, "name")),
            },
            Outcome::Gone if was_missing => format!("nothing is at {path}"),
            Outcome::Gone => format!("{path} is gone after {waited}"),
            Outcome::NothingNew => {
                let is_missing = was_missing && self.tail.stat().is_none();
                let what = if self.new.count > 0 {
                    format!("no line matched after {waited}: {new}")
                } else {
                    format!("nothing new after {waited}")
                };
                let is_cut = given_up == Some(EndReason::InputEnded);
                let ended = if is_cut { ", as the client closed its input" } else { "" };
                // What comes before the next call is there already, and would be no change then.
                let next = next.or(is_missing.then_some("until=appears"));
                let next = next.map(|next| format!(" with {next}")).unwrap_or_default();
                if self.until == Until::Gone {
                    about.insert(0, format!("{path} is still there"));
                } else if is_missing {
                    about.insert(0, format!("{path} does not exist yet"));
                }
                about.extend(asked.map(|asked| format!("{} were asked for, but {cap}", duration_text(asked))));
                let about = if about.is_empty() { String::new() } else { format!("\n({})", about.join("; ")) };
                return format!("{what}{ended}; call wait again{next}{about}");
            }
        };
        about.insert(0, what);
        let next = next.filter(|_| outcome != Outcome::Gone);
        about.extend(next.map(|next| format!("call wait again with {next}")));
        format!("({})", about.join("; "))
    }
}

#[derive(Clone, Copy, Debug, Default, Serialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub(super) enum Outcome {
    Line,
    Appeared,
    Changed,
    Gone,
    /// What was waited for did not happen.
    #[default]
    NothingNew,
}

#[skip_serializing_none]
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Output {
    /// The path, as paths are printed.
    pub(super) path: String,
    /// The new lines, numbered as in the text, or the names in a directory.
    pub(super) text: String,
    /// What came of it: line, appeared, changed, gone or `nothing_new`.
    pub(super) outcome: Outcome,
    /// Milliseconds that the call waited.
    pub(super) waited_ms: u64,
    /// New lines, or names that came, changed or are gone.
    pub(super) new: usize,
    /// The line that matched.
    pub(super) matched_line: Option<usize>,
    /// The `offset` of the next call.
    pub(super) next_offset: Option<usize>,
    /// Lines in the file.
    pub(super) total_lines: Option<usize>,
    /// Revision of the whole file.
    pub(super) revision: Option<String>,
    /// Bytes in the file.
    pub(super) size: Option<u64>,
    /// Whether the file was replaced, cut or written again, so that its lines count from the first one.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) restarted: bool,
    /// Seconds that the call asked for, where it could not wait so long.
    pub(super) asked_seconds: Option<u64>,
}
