//! What was read of a text file, and how it is said.

use std::fmt::Write as _;

use crate::workspace::WorkspacePath;

use super::{
    super::answer::count,
    footer::{Properties, footer, shown_lines},
    line_range::LineRange,
    output::Facts,
    section::{EMPTY, Section},
    window::{Window, WindowBounds},
};

/// What was read, ready to be said.
pub(super) struct Page {
    pub(super) window: Window,
    /// Lines in the file.
    pub(super) total: usize,
    pub(super) properties: Properties,
    pub(super) size: u64,
    /// Whether the file changed while it was read.
    pub(super) changed: bool,
}

impl Page {
    /// `asked` is what the call asked for.
    pub(super) fn section(self, path: WorkspacePath, asked: LineRange) -> Section {
        let Self { window, total, mut properties, size, changed } = self;
        properties.revision = properties.revision.filter(|_| !changed);
        let hidden = hidden_note(&window);
        let Window { range: WindowBounds { skip, .. }, mut text, kept, .. } = window;
        let end = (skip + kept).min(total);
        let has_more = kept > 0 && end < total;
        let next = (has_more && !asked.is_just(kept)).then(|| asked.continued(end));
        let lines = if total == 0 {
            text = format!("{EMPTY}\n");
            count(0, "line")
        } else if kept == 0 {
            format!("{} is past the end: {path} has {}", asked.first(skip), count(total, "line"))
        } else {
            shown_lines(skip, end, total)
        };
        text.push_str(&hidden);
        if changed {
            text.push_str("(the file changed while it was read; read it again before an edit)\n");
        }
        text.push_str(&footer(&lines, total, &properties, next.as_deref()));
        let facts = Facts {
            total_lines: Some(total),
            returned_lines: Some(kept),
            has_more: Some(has_more),
            next_offset: has_more.then_some(end),
            revision: properties.revision.map(|revision| revision.to_string()),
            encoding: Some(properties.encoding.to_owned()),
            line_ending: Some(properties.line_ending.as_str().to_owned()),
            final_newline: Some(properties.final_newline),
            bom: properties.bom,
            lossy: properties.lossy,
            size,
            ..Facts::default()
        };
        Section { path, text, image: None, facts, sighting: None }
    }
}

/// The line that points out hidden characters; nothing where there are none.
fn hidden_note(window: &Window) -> String {
    if window.hidden_count == 0 {
        return String::new();
    }
    let mut places = String::new();
    for (line, one) in &window.hidden {
        let _ = write!(places, ", U+{:04X} at {line}:{}", u32::from(one.character), one.column);
    }
    let more = match window.hidden_count - window.hidden.len() {
        0 => String::new(),
        more => format!(", {more} more"),
    };
    format!("(hidden characters: {}{more})\n", &places[2..])
}
