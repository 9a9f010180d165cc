//! What came of a wait, as a model reads it.

use std::{collections::VecDeque, fmt::Write as _};

use schemars::JsonSchema;
use serde::Serialize;
use serde_with::skip_serializing_none;

use super::{
    super::{Answer, AnswerBudget, CallContext, EndReason, answer::count, fence::fence, hidden_note::HiddenNote},
    file_tail::TailTotals,
    request::{Until, WaitRequest, shown},
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

// The new lines that an answer shows: the first ones or the last ones, as far as there is room.

/// Characters of a line that are shown.
const LINE_CHARS: usize = 2000;

/// Which lines are kept where there is no room for all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum KeepLines {
    /// Those at the beginning; the wait ends when there is no more room, and the next one goes on behind them.
    First,
    /// Those at the end, before the line that was waited for.
    Last,
}

/// Lines with their numbers.
#[derive(Clone, Debug)]
pub(super) struct NewLines {
    room: AnswerBudget,
    keep: KeepLines,
    shown: VecDeque<(usize, String)>,
    cost: usize,
    /// New lines, with those that are not shown.
    pub(super) count: usize,
    /// The number of the first new line.
    first: usize,
}

impl NewLines {
    pub(super) fn new(room: AnswerBudget, keep: KeepLines) -> Self {
        Self { room, keep, shown: VecDeque::new(), cost: 0, count: 0, first: 0 }
    }

    /// Adds a line. False where there is no room for it, and it was not added.
    pub(super) fn push(&mut self, number: usize, line: &str, is_cut: bool) -> bool {
        let text = shown_line(number, line, is_cut);
        let cost = self.room.cost(&text);
        // One line is shown in any case; the last guard of the answer's size cuts it.
        if self.keep == KeepLines::First && self.cost + cost > self.room.limit && !self.shown.is_empty() {
            return false;
        }
        if self.count == 0 {
            self.first = number;
        }
        self.count += 1;
        self.cost += cost;
        self.shown.push_back((number, text));
        while self.cost > self.room.limit && self.shown.len() > 1 {
            let left_out = self.shown.pop_front();
            self.cost -= left_out.map_or(0, |(_, text)| self.room.cost(&text));
        }
        true
    }

    /// The lines as `read` numbers them.
    pub(super) fn text(&self) -> String {
        self.shown.iter().map(|(_, text)| text.as_str()).collect()
    }

    /// The note on lines before those that are shown, if there are any.
    pub(super) fn left_out(&self) -> Option<String> {
        let (first, _) = self.shown.front()?;
        let more = self.count - self.shown.len();
        (more > 0).then(|| {
            format!(
                "({more} new lines before line {first} are not shown; read shows them with offset={})",
                self.first - 1
            )
        })
    }

    /// The note on characters that a person does not see.
    pub(super) fn hidden(&self) -> Option<String> {
        let mut note = HiddenNote::default();
        for (number, text) in self.shown.iter().filter(|(_, text)| !text.is_ascii()) {
            note.look(number, text.split_once('\t').map_or("", |(_, line)| line).trim_end_matches('\n'));
        }
        note.text()
    }
}

/// The result of new lines.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Found {
    /// The line that matches.
    pub(super) matched: Option<usize>,
    /// The first line without room.
    pub(super) full: Option<usize>,
}

fn shown_line(number: usize, line: &str, is_cut: bool) -> String {
    let cut = line.char_indices().nth(LINE_CHARS).map(|(at, _)| at);
    let mut text = format!("{number}\t{}", &line[..cut.unwrap_or(line.len())]);
    if cut.is_some() || is_cut {
        let least = if is_cut { "more than " } else { "" };
        let _ = write!(text, "… [line of {least}{} characters, cut; read shows the rest]", line.chars().count());
    }
    text.push('\n');
    text
}

// What `wait` returns as data.

/// The complete result as data.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Output {
    /// The path, as paths are printed.
    pub(super) path: String,
    /// The new lines, numbered as in the text, or the names in a directory.
    pub(super) text: String,
    #[serde(flatten)]
    pub(super) facts: Facts,
}

/// What came of a wait.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema, PartialEq, Eq)]
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
    NothingNew,
}

/// The numbers for programs.
#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(super) struct Facts {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_or_last_lines_are_kept() {
        let mut first = NewLines::new(AnswerBudget::bytes(8), KeepLines::First);
        let mut last = NewLines::new(AnswerBudget::bytes(8), KeepLines::Last);
        assert_eq!([5, 6, 7].map(|number| first.push(number, "a", false)), [true, true, false]);
        assert_eq!([5, 6, 7].map(|number| last.push(number, "a", false)), [true; 3]);
        assert_eq!((first.text(), first.left_out()), ("5\ta\n6\ta\n".to_owned(), None));
        assert_eq!(last.text(), "6\ta\n7\ta\n");
        assert_eq!(
            last.left_out().unwrap(),
            "(1 new lines before line 6 are not shown; read shows them with offset=4)"
        );
    }

    #[test]
    fn long_line_is_cut_and_counted() {
        let text = shown_line(3, &"é".repeat(5000), false);
        assert!(text.starts_with("3\té") && text.ends_with("é… [line of 5000 characters, cut; read shows the rest]\n"));
    }
}
