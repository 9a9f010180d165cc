//! What came of a wait, as a model reads it.

use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::Serialize;
use serde_with::skip_serializing_none;

use super::{
    super::{Answer, CallContext, EndReason, answer::count, fence::fence},
    file_tail::TailTotals,
    request::{Until, WaitRequest, duration_text},
    state::{Before, PendingWait},
};

/// The end of a wait.
#[derive(Clone, Debug, Default)]
pub(super) struct WaitResult {
    pub(super) outcome: Outcome,
    pub(super) matched: Option<usize>,
    /// Whether that line was there when the call began.
    pub(super) was_there: bool,
    /// The first line that has no room in the answer.
    pub(super) full: Option<usize>,
    /// Lines about the names in a directory, and how many entries it has.
    pub(super) names: Vec<String>,
    pub(super) entries: Option<usize>,
    pub(super) given_up: Option<EndReason>,
}

/// All that an answer is made of.
pub(super) struct WaitReport<'r> {
    pub(super) wait: &'r PendingWait,
    /// The `offset` of the next call, where there are lines.
    pub(super) next: Option<usize>,
    pub(super) totals: Option<TailTotals>,
    pub(super) news: WaitResult,
}

impl WaitReport<'_> {
    pub(super) fn answer(self, cx: &CallContext) -> Answer {
        let PendingWait { request, new, tail, notes, .. } = self.wait;
        let content = if self.news.names.is_empty() { new.text() } else { self.names(cx) };
        let facts = self.facts();
        let is_untrusted = cx.workspace.is_untrusted(tail.real_path().unwrap_or(&request.path));
        let mut text = if is_untrusted && !content.is_empty() { fence(&content) + "\n" } else { content.clone() };
        for note in new.left_out().iter().chain(&new.hidden()).chain(notes) {
            let _ = writeln!(text, "{note}");
        }
        text.push_str(&self.closing());
        let path = request.path.to_string();
        Answer::text(text, &facts).data_of(cx, || Output { path, text: content, facts })
    }

    /// The names that fit.
    fn names(&self, cx: &CallContext) -> String {
        let mut gauge = cx.budget.list().gauge();
        let mut text = String::new();
        for (at, name) in self.news.names.iter().enumerate() {
            let end = text.len();
            text.push_str(name);
            if !gauge.fits(&text) {
                text.truncate(end);
                let _ = writeln!(text, "… {} more names; ls shows them", self.news.names.len() - at);
                break;
            }
        }
        text
    }

    fn facts(&self) -> WaitFacts {
        WaitFacts {
            outcome: self.news.outcome,
            waited_ms: u64::try_from(self.wait.request.started.elapsed().as_millis()).unwrap_or(u64::MAX),
            new: self.wait.new.count + self.news.names.len(),
            matched_line: self.news.matched,
            next_offset: self.next,
            total_lines: self.totals.map(|totals| totals.lines),
            revision: self.totals.and_then(|totals| totals.revision).map(|revision| revision.to_string()),
            size: self.wait.tail.stat().map(|stat| stat.size),
            restarted: self.wait.tail.restarts > 0,
            asked_seconds: self.wait.request.asked.map(|asked| asked.as_secs()),
        }
    }

    /// Whether something was there when the call began.
    fn was_there(&self) -> bool {
        !matches!(self.wait.before, Before::Missing)
    }

    /// The last line, or two.
    fn closing(&self) -> String {
        let path = &self.wait.request.path;
        let waited = duration_text(self.wait.request.started.elapsed());
        let new = count(self.wait.new.count, "new line");
        let mut about = self.about_file();
        let what = match self.news.outcome {
            Outcome::Line => match self.news.matched {
                Some(number) if self.news.was_there => format!("line {number} is there already"),
                Some(number) => format!("line {number} matched after {waited}"),
                None => format!("{new} after {waited}"),
            },
            Outcome::Appeared if self.was_there() => format!("{path} is there already"),
            Outcome::Appeared => format!("{path} appeared after {waited}"),
            Outcome::Changed => match (self.news.names.len(), self.wait.new.count) {
                (0, 0) if self.next.is_some() => format!("{path} changed after {waited}: written, without new lines"),
                (0, 0) => format!("{path} changed after {waited}"),
                (0, _) => format!("{path} changed after {waited}: {new}"),
                (names, _) => format!("{path} changed after {waited}: {}", count(names, "name")),
            },
            Outcome::Gone if !self.was_there() => format!("nothing is at {path}"),
            Outcome::Gone => format!("{path} is gone after {waited}"),
            Outcome::NothingNew => return self.nothing_new(&waited, &new, about),
        };
        about.insert(0, what);
        let next = self.next.filter(|_| self.news.outcome != Outcome::Gone);
        about.extend(next.map(|next| format!("call wait again with offset={next}")));
        format!("({})", about.join("; "))
    }

    /// Lines, revision and what else is to be known of the file.
    fn about_file(&self) -> Vec<String> {
        let mut about = Vec::new();
        if self.wait.tail.restarts > 0 {
            about.push("it was replaced, cut or written again: all its lines count as new".to_owned());
        }
        if let Some(TailTotals { lines, revision }) = self.totals {
            let revision = revision.map(|revision| format!(", rev {}", revision.short())).unwrap_or_default();
            about.push(format!("{}{revision}", count(lines, "line")));
        }
        about.extend(self.news.entries.map(|entries| format!("a directory with {}", count(entries, "entry"))));
        about
    }

    fn nothing_new(&self, waited: &str, new: &str, mut about: Vec<String>) -> String {
        let WaitRequest { path, asked, cap, .. } = &self.wait.request;
        let ended =
            if self.news.given_up == Some(EndReason::InputEnded) { ", as the client closed its input" } else { "" };
        let again = match self.next {
            Some(next) => format!("call wait again with offset={next}"),
            // The next call may be another process's, which would wait for a change of what has come meanwhile.
            None if !self.was_there() && self.wait.until != Until::Line => {
                "call wait again with until=appears".to_owned()
            }
            None => "call wait again".to_owned(),
        };
        let what = if self.wait.new.count > 0 {
            format!("no line matched after {waited}: {new}")
        } else {
            format!("nothing new after {waited}")
        };
        let mut text = format!("{what}{ended}; {again}");
        match (self.wait.until, self.next) {
            (Until::Gone, _) => about.insert(0, format!("{path} is still there")),
            (_, None) if !self.was_there() => about.insert(0, format!("{path} does not exist yet")),
            _ => {}
        }
        about.extend(asked.map(|asked| format!("{} were asked for, but {cap}", duration_text(asked))));
        if !about.is_empty() {
            let _ = write!(text, "\n({})", about.join("; "));
        }
        text
    }
}

/// The complete result as data.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Output {
    /// The path, as paths are printed.
    pub(super) path: String,
    /// The new lines, numbered as in the text, or the names in a directory.
    pub(super) text: String,
    #[serde(flatten)]
    pub(super) facts: WaitFacts,
}

/// What came of a wait.
#[derive(Clone, Copy, Debug, Default, Serialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub(super) enum Outcome {
    /// A line that was waited for.
    Line,
    /// Something is there now.
    Appeared,
    /// It is not what it was.
    Changed,
    /// Nothing is there any more.
    Gone,
    /// What was waited for did not happen.
    #[default]
    NothingNew,
}

/// The numbers for programs.
#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(super) struct WaitFacts {
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
