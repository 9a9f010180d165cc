//! The last line of an answer about a text file: how much was shown, what is unusual about the file, its revision.

use std::ops::Range;

use text_file::Layout;

use super::{super::answer::count, properties::Properties};

/// Bytes of the longest footer, with a sentence before it.
pub(super) const FOOTER: usize = 400;

/// `lines` (as counted), what is unusual about the file, and the arguments that continue.
pub(super) fn footer(lines: &str, properties: &Properties, next: Option<&str>) -> String {
    let mut items = vec![lines.to_owned()];
    items.extend(unusual(properties));
    items.extend(properties.revision.map(|revision| format!("rev {}", revision.short())));
    let next = next.map(|next| format!("; continue with {next}")).unwrap_or_default();
    format!("({}{next})", items.join(", "))
}

/// Ranges of lines that are named; of more the first and the last line.
const RANGES: usize = 8;

/// `212 lines`, or `lines 1-100 of 212` where not all are shown.
pub(super) fn shown_lines(shown: &[Range<usize>], total: usize) -> String {
    let name = |range: &Range<usize>| format!("{}-{}", range.start + 1, range.end);
    match shown {
        [all] if all.start == 0 && all.end == total => count(total, "line"),
        [first, .., last] if shown.len() > RANGES => {
            let lines = shown.iter().map(Range::len).sum();
            format!("{} between {} and {} of {total}", count(lines, "line"), first.start + 1, last.end)
        }
        _ => format!("lines {} of {total}", shown.iter().map(name).collect::<Vec<_>>().join(", ")),
    }
}

/// What is unusual about the file: encoding, line ending, missing final newline.
fn unusual(properties: &Properties) -> impl Iterator<Item = String> + use<> {
    let Properties { encoding, bom, lossy, nuls, line_ending, total, final_newline, .. } = *properties;
    let padding = (nuls > 0).then(|| format!("{} not shown", count(nuls, "NUL")));
    let unfinished = (total > 0 && !final_newline).then(|| "no final newline".to_owned());
    Layout { encoding, bom, lossy, line_ending }.unusual().into_iter().chain(padding).chain(unfinished)
}
