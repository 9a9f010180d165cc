//! A line that comes in pieces and may be longer than anything that is shown of it.

use std::{fmt::Write as _, ops::Range};

/// Characters of one line that are shown where the call names no columns; the rest is counted.
pub(super) const LINE_CHARS: usize = 2000;

/// A line, of which the columns that are shown are kept and the others counted.
#[derive(Debug, Default)]
pub(super) struct PartialLine {
    /// The characters from the first column on, and one more than are shown, for the `\r` of a line ending.
    kept: String,
    kept_chars: usize,
    chars: usize,
    /// Whether any of it came.
    pub(super) started: bool,
}

/// What is shown of a line.
pub(super) struct ShownLine {
    /// Its characters, and what was left out.
    pub(super) text: String,
    /// Bytes of its characters.
    pub(super) content: usize,
}

impl PartialLine {
    /// Takes the next piece. Memory stays bounded however long the line is.
    pub(super) fn push(&mut self, piece: &str, columns: &Range<usize>) {
        self.started |= !piece.is_empty();
        let count = piece.chars().count();
        let end = columns.end.saturating_add(1);
        if self.chars < end && self.chars + count > columns.start {
            let skip = columns.start.saturating_sub(self.chars);
            let take = end - self.chars.max(columns.start);
            let rest = &piece[byte_of(piece, skip)..];
            let taken = &rest[..byte_of(rest, take)];
            self.kept.push_str(taken);
            self.kept_chars += (count - skip).min(take);
        }
        self.chars += count;
    }

    /// The carriage return before a line feed belongs to the line ending.
    pub(super) fn drop_cr(&mut self, columns: &Range<usize>) {
        if self.chars <= columns.start + self.kept_chars && self.kept.ends_with('\r') {
            self.kept.pop();
            self.kept_chars -= 1;
        }
        self.chars -= 1;
    }

    pub(super) fn chars(&self) -> usize {
        self.chars
    }

    /// At most `most` of its characters in `columns`, with a mark where others are left out; `number` is its own.
    pub(super) fn shown(&self, columns: &Range<usize>, number: usize, most: usize) -> ShownLine {
        let width = columns.len().min(most);
        let mut text = self.kept[..byte_of(&self.kept, width)].to_owned();
        let content = text.len();
        let end = columns.start + self.kept_chars.min(width);
        let rest = self.chars - end;
        if columns.start == 0 && rest == 0 && self.chars <= LINE_CHARS && columns.end == LINE_CHARS {
            return ShownLine { text, content };
        }
        text.push_str(if rest > 0 { "… [" } else { " [" });
        if columns.start == 0 && columns.end == LINE_CHARS {
            let _ = write!(text, "line of {} characters, cut after {end}", self.chars);
        } else {
            let _ = write!(text, "columns {}-{end} of {}", columns.start + 1, self.chars);
        }
        if rest > 0 {
            let last = (end + columns.len().min(LINE_CHARS.max(width))).min(self.chars);
            let _ = write!(
                text,
                "; continue with part=\"columns {}-{last}\", start_line={number}, end_line={number}",
                end + 1
            );
        }
        text.push(']');
        ShownLine { text, content }
    }
}

/// Where the character `index` of `text` begins, or its end.
fn byte_of(text: &str, index: usize) -> usize {
    if index >= text.len() {
        return text.len();
    }
    text.char_indices().nth(index).map_or(text.len(), |(at, _)| at)
}
