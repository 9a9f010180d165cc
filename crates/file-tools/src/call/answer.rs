//! Answers: text for the model, facts for programs, data for clients that asked for it.

use std::convert::Infallible;
use std::time::{SystemTime, UNIX_EPOCH};

use confined_fs::WorkspacePath;
use serde::Serialize;
use serde_json::{Map, Value, json};
use text_edit::Location;

use crate::session::UnsavedRead;

use super::{
    answer_budget::AnswerBudget,
    context::{CallContext, PathReference},
    fence::{FENCE_BYTES, fenced},
};

#[derive(Clone, Debug)]
pub enum Content {
    Text(String),
    Image {
        bytes: Vec<u8>,
        /// Its media type, from its magic bytes.
        mime: &'static str,
    },
    /// A file that the client shows to the person; its content is not sent.
    Link(Box<FileLink>),
}

#[derive(Clone, Debug)]
pub struct FileLink {
    pub uri: String,
    pub name: String,
    pub title: Option<String>,
    pub description: Option<String>,
    pub mime: &'static str,
    pub size: u64,
}

impl FileLink {
    pub fn length(&self) -> usize {
        let texts = [&self.title, &self.description].into_iter().flatten().map(String::len);
        self.uri.len() + self.name.len() + self.mime.len() + texts.sum::<usize>()
    }
}

#[derive(Clone, Debug, Default)]
pub struct Answer {
    pub content: Vec<Content>,
    /// Numbers for programs: the result's `_meta` under `rootbound/result`.
    pub facts: Map<String, Value>,
    /// The complete result as data; built only when structured output is on.
    pub data: Option<Value>,
    /// A read that is recorded in memory alone: it is saved before the answer is sent.
    pub sighting: Option<Box<UnsavedRead>>,
}

impl Answer {
    /// An answer of one text block. `facts` must serialise to an object.
    pub fn text(text: impl Into<String>, facts: &impl Serialize) -> Self {
        let facts = match serde_json::to_value(facts) {
            Ok(Value::Object(facts)) => facts,
            _ => Map::new(),
        };
        Self { content: vec![Content::Text(text.into())], facts, ..Self::default() }
    }

    pub(crate) fn of(cx: &CallContext, text: impl Into<String>, data: &impl Serialize, texts: &[&str]) -> Self {
        let mut answer = Self::text(text, data);
        answer.data = cx.settings.structured_output.then(|| Value::Object(answer.facts.clone()));
        answer.facts.retain(|name, _| !texts.contains(&name.as_str()));
        answer
    }

    /// As [`Self::data`], for what costs something to put together.
    #[must_use]
    pub fn data_of<D: Serialize>(mut self, cx: &CallContext, data: impl FnOnce() -> D) -> Self {
        self.data = cx.settings.structured_output.then(|| serde_json::to_value(data()).ok()).flatten();
        self
    }

    #[must_use]
    pub fn data(self, cx: &CallContext, data: &impl Serialize) -> Self {
        self.data_of(cx, || data)
    }
}

/// `text` with the notes on it, each after a semicolon. The data of an answer has the same notes.
pub(crate) fn noted(text: String, notes: &[String]) -> String {
    notes.iter().fold(text, |text, note| text + "; " + note)
}

pub(crate) fn lines(places: &[Location]) -> String {
    const NAMED_FILES: usize = 20;
    let shown = places.iter().take(NAMED_FILES).map(|place| place.line.to_string());
    shown.chain((places.len() > NAMED_FILES).then(|| "…".to_owned())).collect::<Vec<_>>().join(", ")
}

/// `1 file`, `2 files`: a number with its noun.
pub fn count(n: usize, noun: &str) -> String {
    match (n, noun.strip_suffix('y')) {
        (1, _) => format!("1 {noun}"),
        (n, Some(stem)) => format!("{n} {stem}ies"),
        (n, None) if noun.ends_with("ch") => format!("{n} {noun}es"),
        (n, None) => format!("{n} {noun}s"),
    }
}

/// `2026-11-22T09:46:37Z`; `None` before 1970 and after 9999. Anyone can set such a time with `touch`, and humantime's
/// `Display` fails on it, at which `to_string` panics.
pub fn utc(time: SystemTime) -> Option<String> {
    let seconds = time.duration_since(UNIX_EPOCH).ok()?.as_secs();
    (seconds < 253_402_300_800).then(|| humantime::format_rfc3339_seconds(time).to_string())
}

const MAX_RENDERINGS: usize = 8;
/// Units that a shorter list may add around itself: digits, a note that it was cut.
const SLACK_UNITS: usize = 64;

/// The answer that `render` makes with as much of the call's budget as leaves room for what it adds to the list.
///
/// `render` is given what the list may take; it shows at least one item, or what says that there is none.
pub(crate) fn fitted(cx: &CallContext, mut render: impl FnMut(AnswerBudget) -> Answer) -> Answer {
    let Ok(answer) = try_fitted::<Infallible>(cx, cx.budget.list(), |room| Ok(render(room)));
    answer
}

/// As [`fitted`], with a list that takes `room` at first, and an error of `render` returned.
pub(crate) fn try_fitted<E>(
    cx: &CallContext,
    mut room: AnswerBudget,
    mut render: impl FnMut(AnswerBudget) -> Result<Answer, E>,
) -> Result<Answer, E> {
    for _ in 1..MAX_RENDERINGS {
        let answer = render(room)?;
        let budget = ReferenceNote::of(cx).map_or(cx.budget, |note| note.rest_of_call(cx).budget);
        match smaller(&budget, room, &answer) {
            None => return Ok(answer),
            // Rendered again and not cut, so that what it says of its own end (`next_offset`) stays true.
            Some(less) => room = less,
        }
    }
    // The shortest answer there is. If that is too long as well, the server cuts the text itself.
    render(AnswerBudget { limit: 0, ..room })
}

/// The room for the next try, where the answer with a list of `room` is over `budget`.
fn smaller(budget: &AnswerBudget, room: AnswerBudget, answer: &Answer) -> Option<AnswerBudget> {
    let mut limit = room.limit;
    let texts = answer.content.iter().map(|block| if let Content::Text(text) = block { budget.cost(text) } else { 0 });
    let used: usize = texts.sum();
    let over = used.saturating_sub(budget.limit);
    if over > 0 {
        limit = room.limit.saturating_sub(over + SLACK_UNITS);
    }
    // A client that is sent the data shows that instead of the text.
    if let Some(data) = &answer.data {
        let size = budget.of_json().cost(&data.to_string());
        if size > budget.limit {
            // Of the text that it has: a list may be far shorter than its room, and its data longer.
            limit = limit.min((used.min(room.limit) * budget.limit / size).saturating_sub(SLACK_UNITS));
        }
    }
    (limit < room.limit).then_some(AnswerBudget { limit, ..room })
}

/// The first line of an answer to a call that gave a path by its end: which file was meant.
#[derive(Clone, Debug)]
pub(crate) struct ReferenceNote {
    text: String,
    resolved: Vec<Value>,
}

impl ReferenceNote {
    /// The lines that the answer begins with, and the paths as data; `None` where each path was given whole.
    pub(crate) fn of(cx: &CallContext) -> Option<Self> {
        let list = cx.references.list();
        if list.is_empty() {
            return None;
        }
        let sentences: Vec<String> = list.iter().map(PathReference::sentence).collect();
        let paths: Vec<WorkspacePath> = list.iter().filter_map(|one| cx.workspace.canonical(&one.path).ok()).collect();
        let resolved = list.iter().filter(|one| one.given.is_some());
        let resolved = resolved.map(|one| json!({ "given": one.given, "path": one.path.to_string() })).collect();
        Some(Self { text: fenced(&cx.workspace, &paths, sentences.join("\n")), resolved })
    }

    pub(crate) fn rest_of_call(&self, cx: &CallContext) -> CallContext {
        CallContext { budget: cx.budget.less(&self.text).reduced(FENCE_BYTES), ..cx.clone() }
    }

    pub(crate) fn before(self, mut answer: Answer) -> Answer {
        match answer.content.first_mut() {
            Some(Content::Text(text)) => *text = format!("{}\n{text}", self.text),
            Some(Content::Image { .. } | Content::Link(_)) | None => answer.content.insert(0, Content::Text(self.text)),
        }
        if !self.resolved.is_empty() {
            let resolved = Value::Array(self.resolved);
            if let Some(Value::Object(data)) = &mut answer.data {
                data.insert("resolved".to_owned(), resolved.clone());
            }
            answer.facts.insert("resolved".to_owned(), resolved);
        }
        answer
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_time_has_a_text_from_1970_to_9999() {
        let at = |seconds| UNIX_EPOCH + Duration::from_secs(seconds);
        assert_eq!(utc(at(253_402_300_799)).as_deref(), Some("9999-12-31T23:59:59Z"));
        assert_eq!(utc(UNIX_EPOCH).as_deref(), Some("1970-01-01T00:00:00Z"));
        // The latest and the smallest step that Windows has, too: 100 ns from 1601 on.
        for none in [at(253_402_300_800), at(900_000_000_000), UNIX_EPOCH - Duration::from_nanos(100)] {
            assert_eq!(utc(none), None);
        }
    }
}
