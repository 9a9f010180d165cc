//! The note on an overwrite that leaves little of a file: its content may have been cut on the way.

use crate::text::Document;

use super::{super::answer::count, content::line_count};

/// Lines and bytes that a file has to lose before it is said, and then more than half of its text.
const LOSS: (usize, usize) = (10, 400);

/// What the file `old` loses with the text `new`, where that is most of it.
pub(super) fn lost_text(old: &Document, new: &str) -> Option<String> {
    let (text, lines) = (old.text(), line_count(old.text()));
    let is_much = lines >= line_count(new) + LOSS.0 || text.len() >= new.len() + LOSS.1;
    let is_most = new.len() * 2 < text.len();
    (is_much && is_most).then(|| {
        format!("most of the file is gone: it had {}, {}", count(old.bytes().len(), "byte"), count(lines, "line"))
    })
}
