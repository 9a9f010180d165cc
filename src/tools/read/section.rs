//! What is said of one file.

use crate::{
    session::PendingSighting,
    workspace::{RevisionPrefix, WorkspacePath},
};

use super::{
    super::{Answer, CallContext, Content, answer::count},
    output::{Facts, Output},
};

/// The answer for one file with one selection, or a part of the answer for several.
#[derive(Debug)]
pub(super) struct Section {
    pub(super) path: WorkspacePath,
    /// For the model, without a line break at its end.
    pub(super) text: String,
    pub(super) image: Option<ShownImage>,
    pub(super) facts: Facts,
    /// To be saved before the answer is sent.
    pub(super) sighting: Option<PendingSighting>,
}

/// An image for the model.
#[derive(Debug)]
pub(super) struct ShownImage {
    pub(super) bytes: Vec<u8>,
    pub(super) mime: &'static str,
}

impl Section {
    /// The same file for a caller that has its content.
    pub(super) fn unchanged(self, since: RevisionPrefix) -> Self {
        let mut facts = self.facts;
        let size = match facts.total_lines {
            Some(lines) => count(lines, "line"),
            None => format!("{} bytes", facts.size),
        };
        let text = format!("unchanged since {since} ({size})");
        facts.returned_lines = facts.returned_lines.map(|_| 0);
        facts.has_more = facts.has_more.map(|_| false);
        facts.next_offset = None;
        facts.since = Some("unchanged");
        Self { text, image: None, facts, ..self }
    }

    /// With the outcome of a comparison: for programs, and as a sentence in front of the last line.
    pub(super) fn changed(mut self, since: &'static str, sentence: &str) -> Self {
        self.facts.since = Some(since);
        let last = self.text.rfind('\n').map_or(0, |end| end + 1);
        self.text.insert_str(last, &format!("({sentence})\n"));
        self
    }

    pub(super) fn answer(self, cx: &CallContext) -> Answer {
        let Self { path, text, image, facts, sighting } = self;
        let shown = cx.settings.structured_output.then(|| text.clone());
        let mut answer = Answer::text(text, &facts).data_of(cx, || Output {
            path: path.to_string(),
            text: shown.filter(|_| image.is_none()),
            mime_type: image.as_ref().map(|image| image.mime.to_owned()),
            facts,
        });
        answer.sighting = sighting.map(Box::new);
        answer.content.extend(image.map(|ShownImage { bytes, mime }| Content::Image { bytes, mime }));
        answer
    }
}
