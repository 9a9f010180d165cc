//! The last line of what is said of a text file: how much of it was shown, what is not plain about it, its revision.

use crate::text::Layout;

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

/// What is not plain about the file.
fn unusual(properties: &Properties) -> impl Iterator<Item = String> + use<> {
    let Properties { encoding, bom, lossy, line_ending, total, final_newline, .. } = *properties;
    let unfinished = (total > 0 && !final_newline).then(|| "no final newline".to_owned());
    Layout { encoding, bom, lossy, line_ending }.unusual().into_iter().chain(unfinished)
}
