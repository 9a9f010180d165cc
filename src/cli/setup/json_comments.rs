//! Where the comments and commas between the members of a JSON document are.

/// Where the comma is between `from` and `to`, with comments skipped.
pub(super) fn comma_after(text: &str, from: usize, to: usize) -> Option<usize> {
    let mut at = from;
    while at < to {
        let rest = &text[at..to];
        if rest.starts_with(',') {
            return Some(at);
        }
        at += comment_length(rest).unwrap_or_else(|| rest.chars().next().map_or(1, char::len_utf8));
    }
    None
}

/// Whether the text up to `to` ends in a comment that ends with its line; from `from` on there is no other value.
pub(super) fn ends_in_line_comment(text: &str, from: usize, to: usize) -> bool {
    let mut at = from;
    while at < to {
        let rest = &text[at..to];
        match comment_length(rest) {
            Some(length) if at + length >= to => return rest.starts_with("//"),
            Some(length) => at += length,
            None => at += rest.chars().next().map_or(1, char::len_utf8),
        }
    }
    false
}

/// Where the comments end that begin on the line of `from`, behind it.
pub(super) fn end_of_line_comments(text: &str, from: usize, to: usize) -> usize {
    let (mut at, mut end) = (from, from);
    while at < to {
        let rest = &text[at..to];
        if let Some(length) = comment_length(rest) {
            at += length;
            end = at;
        } else if rest.starts_with([' ', '\t']) {
            at += 1;
        } else {
            break;
        }
    }
    end
}

/// The bytes of the comment that `rest` begins with, without the end of its line.
fn comment_length(rest: &str) -> Option<usize> {
    if rest.starts_with("//") {
        return Some(rest.find(['\n', '\r']).unwrap_or(rest.len()));
    }
    rest.starts_with("/*").then(|| rest.find("*/").map_or(rest.len(), |end| end + 2))
}
