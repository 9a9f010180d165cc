//! What was read of a text file, and how it is said.

use std::fmt::Write as _;

use crate::{
    text::LineEnding,
    workspace::{Revision, WorkspacePath},
};

use super::{
    super::answer::count,
    output::Facts,
    section::Section,
    window::{Totals, Window, WindowBounds},
};

/// Bytes of output kept back for the footer.
pub(super) const FOOTER: usize = 160;

/// What was read, ready to be said.
pub(super) struct Page {
    pub(super) window: Window,
    pub(super) totals: Totals,
    pub(super) line_ending: LineEnding,
    pub(super) encoding: &'static str,
    pub(super) revision: Option<Revision>,
    pub(super) size: u64,
    pub(super) changed: bool,
    pub(super) lossy: bool,
}

impl Page {
    /// `by_number` where lines were asked for by their numbers.
    pub(super) fn section(self, path: WorkspacePath, by_number: bool) -> Section {
        let Window { range: WindowBounds { skip, .. }, mut text, kept, hidden, hidden_count, .. } = self.window;
        let total = self.totals.lines;
        let end = (skip + kept).min(total);
        let has_more = kept > 0 && end < total;
        if self.size == 0 || total == 0 {
            text.push_str("(empty file)\n");
        } else if kept == 0 {
            let asked = if by_number { format!("line {}", skip + 1) } else { format!("offset {skip}") };
            text = format!("({asked} is past the end: {path} has {})\n", count(total, "line"));
        } else if has_more {
            let _ = writeln!(text, "(lines {}-{end} of {total}; continue with offset={end})", skip + 1);
        } else if skip > 0 {
            let _ = writeln!(text, "(lines {}-{end} of {total})", skip + 1);
        }
        if hidden_count > 0 {
            let places: Vec<String> = hidden
                .iter()
                .map(|(line, one)| format!("U+{:04X} at {line}:{}", u32::from(one.character), one.column))
                .collect();
            let more = match hidden_count - places.len() {
                0 => String::new(),
                more => format!(", {more} more"),
            };
            let _ = writeln!(text, "(hidden characters: {}{more})", places.join(", "));
        }
        if self.lossy {
            let _ = writeln!(text, "(some bytes are not valid {}; they are shown as \u{fffd})", self.encoding);
        }
        if self.changed {
            text.push_str("(the file changed while it was read; read it again before an edit)\n");
        }
        text.truncate(text.trim_end_matches('\n').len());
        let facts = Facts {
            total_lines: Some(total),
            returned_lines: Some(kept),
            has_more: Some(has_more),
            next_offset: has_more.then_some(end),
            revision: self.revision.filter(|_| !self.changed).map(|revision| revision.to_string()),
            encoding: Some(self.encoding.to_owned()),
            line_ending: Some(self.line_ending.as_str().to_owned()),
            final_newline: Some(self.totals.final_newline),
            size: self.size,
            ..Facts::default()
        };
        Section { path, text, image: None, facts, sighting: None }
    }
}
