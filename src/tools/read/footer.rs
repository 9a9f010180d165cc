//! The last line of what is said of a text file: how much of it was shown, what is not plain about it, its revision.

use crate::{
    text::{Layout, LineEnding},
    workspace::Revision,
};

use super::super::answer::count;

/// Bytes of the longest footer.
pub(super) const FOOTER: usize = 240;

/// What the footer says of the content, whatever was shown of it.
#[derive(Clone, Debug)]
pub(super) struct Properties {
    pub(super) encoding: &'static str,
    pub(super) bom: bool,
    /// Whether some bytes are invalid in the encoding.
    pub(super) lossy: bool,
    pub(super) line_ending: LineEnding,
    pub(super) final_newline: bool,
    /// None where the content was not hashed, or changed while it was read.
    pub(super) revision: Option<Revision>,
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
    fn unusual(&self, total: usize) -> impl Iterator<Item = String> + use<> {
        let Self { encoding, bom, lossy, line_ending, .. } = *self;
        let unfinished = (total > 0 && !self.final_newline).then(|| "no final newline".to_owned());
        Layout { encoding, bom, lossy, line_ending }.unusual().into_iter().chain(unfinished)
    }
}
