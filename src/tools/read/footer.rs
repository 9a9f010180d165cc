//! The last line of what is said of a text file: how much of it was shown, what is not plain about it, its revision.

use crate::{text::LineEnding, workspace::Revision};

use super::super::answer::count;

/// Bytes of the longest footer.
pub(super) const FOOTER: usize = 240;

/// What the footer says of the content, whatever was shown of it.
#[derive(Clone, Debug)]
pub(in crate::tools) struct Properties {
    pub(in crate::tools) encoding: &'static str,
    pub(in crate::tools) bom: bool,
    /// Whether some bytes are invalid in the encoding.
    pub(in crate::tools) lossy: bool,
    pub(in crate::tools) line_ending: LineEnding,
    pub(in crate::tools) final_newline: bool,
    /// None where the content was not hashed, or changed while it was read.
    pub(in crate::tools) revision: Option<Revision>,
}

/// `lines`, counted and with what is not plain.
pub(super) fn footer(lines: &str, total: usize, properties: &Properties, next: Option<&str>) -> String {
    let mut items = vec![lines.to_owned()];
    items.extend(properties.unusual(total));
    items.extend(properties.revision.map(|revision| format!("rev {}", revision.short())));
    let next = next.map(|next| format!("; continue with {next}")).unwrap_or_default();
    format!("({}{next})", items.join(", "))
}

/// `212 lines`, or `lines 1-100 of 212` where not all are shown.
pub(super) fn shown_lines(skip: usize, end: usize, total: usize) -> String {
    if skip == 0 && end == total { count(total, "line") } else { format!("lines {}-{end} of {total}", skip + 1) }
}

impl Properties {
    fn unusual(&self, total: usize) -> impl Iterator<Item = String> {
        let encoding = match (self.encoding, self.lossy) {
            (name, true) => Some(format!("{name} with invalid bytes shown as \u{fffd}")),
            ("UTF-8", false) => None,
            (name, false) => Some(name.to_owned()),
        };
        let ending = match self.line_ending {
            LineEnding::CrLf => Some("CRLF"),
            LineEnding::Cr => Some("CR"),
            LineEnding::Mixed => Some("mixed line endings"),
            LineEnding::Lf | LineEnding::None => None,
        };
        let unfinished = (total > 0 && !self.final_newline).then_some("no final newline");
        let words = [self.bom.then_some("BOM"), ending, unfinished];
        encoding.into_iter().chain(words.into_iter().flatten().map(str::to_owned))
    }
}
