//! The note on an overwrite that leaves little of a file: its content may have been cut on the way.

use text_file::Document;

use super::{super::answer::count, content::line_count};

/// Lines and bytes that a file has to lose before it is said, and then more than half of its text.
const LOSS: (usize, usize) = (10, 400);

/// What the file `old` loses with the text `new`, where that is most of it.
pub(super) fn lost_text(old: &Document, new: &str) -> Option<String> {
    let text = old.text();
    // Lines are counted only where the lengths leave it open.
    if new.len() * 2 >= text.len() {
        return None;
    }
    let lines = line_count(text);
    let is_much = text.len() >= new.len() + LOSS.1 || lines >= line_count(new) + LOSS.0;
    is_much.then(|| {
        format!("most of the file is gone: it had {}, {}", count(old.bytes().len(), "byte"), count(lines, "line"))
    })
}
