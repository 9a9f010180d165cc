//! What was read of a text file, and how it is said.

use confined_fs::WorkspacePath;

use super::{
    super::answer::count,
    footer::{footer, shown_lines},
    properties::Properties,
    request::FileRequest,
    section::Section,
    window::Window,
};

/// What was read, ready to be said.
pub(super) struct Page {
    pub(super) window: Window,
    pub(super) properties: Properties,
    /// Whether the file changed while it was read.
    pub(super) changed: bool,
    /// The definitions in what a cut left out.
    pub(super) outline: Option<String>,
}

impl Page {
    /// `request` is what the call asked for.
    pub(super) fn section(self, path: WorkspacePath, request: &FileRequest) -> Section {
        let Self { window, properties, changed, outline } = self;
        let (total, asked) = (properties.total, &request.lines);
        let mut closing = window.hidden.text().map(|note| note + "\n").unwrap_or_default();
        let columns = request.columns();
        let last = window.shown.last().map_or(0, |last| last.end);
        // Lines without such columns are passed over.
        let end = if columns.is_some() && !window.full { window.end().min(total) } else { last };
        let has_more = window.kept > 0 && end < total;
        let next = (has_more && (window.full || !asked.is_exact())).then(|| match &request.part {
            Some(part) => format!("part=\"{part}\", {}", asked.continued(&path, end)),
            None => asked.continued(&path, end),
        });
        let mut lines = if total == 0 {
            closing.push_str("(empty file)\n");
            count(0, "line")
        } else if let Some(columns) = columns.as_ref().filter(|_| window.kept == 0 && window.longest > 0) {
            format!(
                "no column {}: the longest of these lines has {}, {}",
                columns.start + 1,
                window.longest,
                count(total, "line")
            )
        } else if window.kept == 0 {
            let skip = asked.named(total).map_or(0, |named| named.start);
            format!("{} is past the end: {path} has {}", asked.first(skip), count(total, "line"))
        } else {
            shown_lines(&window.shown, total)
        };
        if let Some(part) = request.part.as_ref().filter(|_| columns.is_some() && window.kept > 0) {
            lines = format!("{part}, {lines}");
        }
        if changed {
            closing.push_str("(the file changed while it was read; read it again before an edit)\n");
        }
        closing.push_str(&footer(&lines, &properties, next.as_deref()));
        if let Some(outline) = outline {
            closing.push('\n');
            closing.push_str(&outline);
        }
        let mut facts = properties.facts(window.kept, has_more.then_some(end));
        facts.total_columns = columns.map(|_| window.longest);
        Section { closing, ..Section::of(path, window.text, facts) }
    }
}
