//! What was read of a text file, and how it is said.

use std::fmt::Write as _;

use crate::workspace::WorkspacePath;

use super::{
    super::answer::count,
    footer::{footer, shown_lines},
    line_range::LineRange,
    properties::Properties,
    section::Section,
    window::{Window, WindowBounds},
};

/// What was read, ready to be said.
pub(super) struct Page {
    pub(super) window: Window,
    pub(super) properties: Properties,
    /// Whether the file changed while it was read.
    pub(super) changed: bool,
}

impl Page {
    /// `asked` is what the call asked for.
    pub(super) fn section(self, path: WorkspacePath, asked: LineRange) -> Section {
        let Self { window, properties, changed } = self;
        let total = properties.total;
        let hidden = hidden_note(&window);
        let Window { range: WindowBounds { skip, .. }, text, kept, .. } = window;
        let end = (skip + kept).min(total);
        let has_more = kept > 0 && end < total;
        let next = (has_more && !asked.is_just(kept)).then(|| asked.continued(end));
        let mut closing = hidden;
        let lines = if total == 0 {
            closing.push_str("(empty file)\n");
            count(0, "line")
        } else if kept == 0 {
            format!("{} is past the end: {path} has {}", asked.first(skip), count(total, "line"))
        } else {
            shown_lines(skip, end, total)
        };
        if changed {
            closing.push_str("(the file changed while it was read; read it again before an edit)\n");
        }
        closing.push_str(&footer(&lines, &properties, next.as_deref()));
        Section { closing, ..Section::of(path, text, properties.facts(kept, has_more.then_some(end))) }
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
