//! What came of a wait, as a model reads it.

use std::fmt::Write as _;

use super::{
    super::{Answer, CallContext, EndReason, answer::count, fence::fence},
    args::Until,
    file_tail::TailTotals,
    new_lines::NewLines,
    output::{Facts, Outcome, Output},
    request::WaitRequest,
    timeout::shown,
};

#[derive(Clone, Debug)]
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

impl WaitResult {
    pub(super) fn of(outcome: Outcome) -> Self {
        Self { outcome, matched: None, was_there: false, full: None, names: Vec::new(), entries: None, given_up: None }
    }
}

/// All that is said.
pub(super) struct Report<'r> {
    pub(super) request: &'r WaitRequest,
    pub(super) until: Until,
    pub(super) is_untrusted: bool,
    pub(super) was_there: bool,
    pub(super) new: &'r NewLines,
    pub(super) notes: Vec<String>,
    /// The `offset` of the next call, where there are lines.
    pub(super) next: Option<usize>,
    pub(super) restarted: bool,
    pub(super) size: Option<u64>,
    pub(super) totals: Option<TailTotals>,
    pub(super) news: WaitResult,
}

impl Report<'_> {
    pub(super) fn answer(self, cx: &CallContext) -> Answer {
        let content = if self.news.names.is_empty() { self.new.text() } else { self.names(cx) };
        let facts = self.facts();
        let mut text = if self.is_untrusted && !content.is_empty() { fence(&content) + "\n" } else { content.clone() };
        let notes = [self.new.left_out(), self.new.hidden()].into_iter().flatten().chain(self.notes.iter().cloned());
        for note in notes {
            let _ = writeln!(text, "{note}");
        }
        text.push_str(&self.closing());
        let path = self.request.path.to_string();
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

    fn facts(&self) -> Facts {
        Facts {
            outcome: self.news.outcome,
            waited_ms: u64::try_from(self.request.started.elapsed().as_millis()).unwrap_or(u64::MAX),
            new: self.new.count + self.news.names.len(),
            matched_line: self.news.matched,
            next_offset: self.next,
            total_lines: self.totals.map(|totals| totals.lines),
            revision: self.totals.and_then(|totals| totals.revision).map(|revision| revision.to_string()),
            size: self.size,
            restarted: self.restarted,
            asked_seconds: self.request.asked.map(|asked| asked.as_secs()),
        }
    }

    /// The last line, or two.
    fn closing(&self) -> String {
        let path = &self.request.path;
        let waited = shown(self.request.started.elapsed());
        let new = count(self.new.count, "new line");
        let mut about = self.about_file();
        match self.news.outcome {
            Outcome::Line => {
                let what = match self.news.matched {
                    Some(number) if self.news.was_there => format!("line {number} is there already"),
                    Some(number) => format!("line {number} matched after {waited}"),
                    None => format!("{new} after {waited}"),
                };
                about.insert(0, what);
            }
            Outcome::Appeared if self.was_there => about.insert(0, format!("{path} is there already")),
            Outcome::Appeared => about.insert(0, format!("{path} appeared after {waited}")),
            Outcome::Changed => {
                let what = match (self.news.names.len(), self.new.count) {
                    (0, 0) if self.next.is_some() => ": written, without new lines".to_owned(),
                    (0, 0) => String::new(),
                    (0, _) => format!(": {new}"),
                    (names, _) => format!(": {}", count(names, "name")),
                };
                about.insert(0, format!("{path} changed after {waited}{what}"));
            }
            Outcome::Gone if !self.was_there => about.insert(0, format!("nothing is at {path}")),
            Outcome::Gone => about.insert(0, format!("{path} is gone after {waited}")),
            Outcome::NothingNew => return self.nothing_new(&waited, &new, about),
        }
        let again = match (self.next, self.news.outcome) {
            (_, Outcome::Gone) => None,
            (next, _) => next.map(|next| format!("call wait again with offset={next}")),
        };
        about.extend(again);
        format!("({})", about.join("; "))
    }

    /// Lines, revision and what else is to be known of the file.
    fn about_file(&self) -> Vec<String> {
        let mut about = Vec::new();
        if self.restarted {
            about.push("it was replaced, cut or written again: all its lines count as new".to_owned());
        }
        if let Some(TailTotals { lines, revision }) = self.totals {
            let revision = revision.map(|revision| format!(", rev {}", revision.short())).unwrap_or_default();
            about.push(format!("{}{revision}", count(lines, "line")));
        }
        about.extend(self.news.entries.map(|entries| format!("a directory with {}", count(entries, "entry"))));
        about
    }

    fn nothing_new(&self, waited: &str, new: &str, about: Vec<String>) -> String {
        let path = &self.request.path;
        let ended =
            if self.news.given_up == Some(EndReason::InputEnded) { ", as the client closed its input" } else { "" };
        let again = match self.next {
            Some(next) => format!("call wait again with offset={next}"),
            // The next call may be another process's, which would wait for a change of what has come meanwhile.
            None if !self.was_there && self.until != Until::Line => "call wait again with until=appears".to_owned(),
            None => "call wait again".to_owned(),
        };
        let what = if self.new.count > 0 {
            format!("no line matched after {waited}: {new}")
        } else {
            format!("nothing new after {waited}")
        };
        let mut text = format!("{what}{ended}; {again}");
        let mut about = about;
        match (self.until, self.next) {
            (Until::Gone, _) => about.insert(0, format!("{path} is still there")),
            (_, None) if !self.was_there => about.insert(0, format!("{path} does not exist yet")),
            _ => {}
        }
        if let Some(asked) = self.request.asked {
            about.push(format!("{} were asked for, but {}", shown(asked), self.request.cap));
        }
        if !about.is_empty() {
            let _ = write!(text, "\n({})", about.join("; "));
        }
        text
    }
}
