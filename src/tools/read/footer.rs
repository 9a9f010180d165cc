//! The last line of what is said of a text file: how much of it was shown, what is not plain about it, its revision.

use crate::text::LineEnding;

use super::{super::answer::count, properties::Properties};

/// Bytes of the longest footer, with a sentence before it.
pub(super) const FOOTER: usize = 400;

/// `lines`, which are counted, what is not plain about the file, and the arguments that continue.
pub(super) fn footer(lines: &str, properties: &Properties, next: Option<&str>) -> String {
    let mut items = vec![lines.to_owned()];
    items.extend(unusual(properties));
    items.extend(properties.revision.map(|revision| format!("rev {}", revision.short())));
    let next = next.map(|next| format!("; continue with {next}")).unwrap_or_default();
    format!("({}{next})", items.join(", "))
}

/// `212 lines`, or `lines 1-100 of 212` where not all are shown.
pub(super) fn shown_lines(skip: usize, end: usize, total: usize) -> String {
    if skip == 0 && end == total { count(total, "line") } else { format!("lines {}-{end} of {total}", skip + 1) }
}

fn unusual(properties: &Properties) -> impl Iterator<Item = String> {
    let encoding = match (properties.encoding, properties.lossy) {
        (name, true) => Some(format!("{name} with invalid bytes shown as \u{fffd}")),
        ("UTF-8", false) => None,
        (name, false) => Some(name.to_owned()),
    };
    let ending = match properties.line_ending {
        LineEnding::CrLf => Some("CRLF"),
        LineEnding::Cr => Some("CR"),
        LineEnding::Mixed => Some("mixed line endings"),
        LineEnding::Lf | LineEnding::None => None,
    };
    let unfinished = (properties.total > 0 && !properties.final_newline).then_some("no final newline");
    let words = [properties.bom.then_some("BOM"), ending, unfinished];
    encoding.into_iter().chain(words.into_iter().flatten().map(str::to_owned))
}
