//! A line taken apart: indentation, content and white space at its end; and where one sequence of hashed lines occurs
//! in another.
//!
//! White space is spaces and tabs here, as in indentation; `typography` knows the other spaces of Unicode.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;

/// Widths of a tab that people use, in columns.
pub(super) const TAB_WIDTHS: [usize; 4] = [4, 8, 2, 3];

pub(super) fn without_trailing_whitespace(line: &str) -> &str {
    line.trim_end_matches([' ', '\t'])
}

/// Indentation, content, and white space at the end. A blank line is all end.
pub(super) fn parts(line: &str) -> (&str, &str, &str) {
    let (body, trailing) = line.split_at(without_trailing_whitespace(line).len());
    let content = body.trim_start_matches([' ', '\t']);
    (&body[..body.len() - content.len()], content, trailing)
}

pub(super) fn content(line: &str) -> &str {
    parts(line).1
}

pub(super) fn contents(lines: &[&str]) -> Vec<String> {
    lines.iter().map(|line| content(line).to_owned()).collect()
}

/// Whether a text, given in parts, has at least `least` letters and digits.
pub(super) fn has_letters<'t>(text: impl IntoIterator<Item = &'t str>, least: usize) -> bool {
    text.into_iter().flat_map(str::chars).filter(|one| one.is_alphanumeric()).nth(least - 1).is_some()
}

/// Columns of an indentation with tab stops every `tab` columns.
pub(super) fn width(indent: &str, tab: usize) -> usize {
    indent.chars().fold(0, |column, character| if character == '\t' { (column / tab + 1) * tab } else { column + 1 })
}

/// Whether the first of `lines`, put after `indent`, would open a block while the next one, which has its whole
/// indentation, is not inside that block.
pub(super) fn opens_block_without_body<'l>(lines: impl Iterator<Item = &'l str>, indent: &str) -> bool {
    let mut filled = lines.filter(|line| !line.trim().is_empty());
    let (Some(first), Some(next)) = (filled.next(), filled.next()) else { return false };
    let (next_indent, next, _) = parts(next);
    first.trim_end().ends_with([':', '{', '(', '['])
        && !next.starts_with(['}', ')', ']'])
        && width(next_indent, TAB_WIDTHS[0]) <= width(indent, TAB_WIDTHS[0])
}

/// A hash by which lines are compared first; equal hashes are no proof.
pub(super) fn hash(line: &str) -> u64 {
    // Not by `RandomState`, whose keys differ from one to the next: hashes made at different times are compared.
    let mut hasher = DefaultHasher::new();
    line.hash(&mut hasher);
    hasher.finish()
}

/// How many of `items` there are up to each place where `pattern` ends, in linear time. An empty pattern ends at each.
pub(super) fn sequences(items: impl Iterator<Item = u64>, pattern: &[u64]) -> impl Iterator<Item = usize> {
    let border = borders(pattern);
    let mut reached = 0;
    items.enumerate().filter_map(move |(index, here)| {
        if !pattern.is_empty() {
            while reached > 0 && (reached == pattern.len() || pattern[reached] != here) {
                reached = border[reached - 1];
            }
            if pattern[reached] == here {
                reached += 1;
            }
        }
        (reached == pattern.len()).then_some(index + 1)
    })
}

/// For each prefix of `pattern` the length of its longest proper border.
fn borders(pattern: &[u64]) -> Vec<usize> {
    let mut borders = vec![0; pattern.len()];
    let mut len = 0;
    for index in 1..pattern.len() {
        while len > 0 && pattern[len] != pattern[index] {
            len = borders[len - 1];
        }
        if pattern[len] == pattern[index] {
            len += 1;
        }
        borders[index] = len;
    }
    borders
}

/// Whether a character is a part of a word, as in a regular expression's `\\b`.
fn is_part(character: char) -> bool {
    regex_syntax::is_word_character(character)
}

/// The longer word or words that the text at `span` is within; `None` where words begin and end with it.
///
/// # Examples
/// ```
/// use text_edit::longer_word;
///
/// assert_eq!(longer_word("x = load_config(f)", 4..8), Some("load_config"));
/// assert_eq!(longer_word("x = load(f)", 4..8), None);
/// ```
pub fn longer_word(text: &str, span: Range<usize>) -> Option<&str> {
    let inner = &text[span.clone()];
    let before = if inner.starts_with(is_part) { &text[..span.start] } else { "" };
    let after = if inner.ends_with(is_part) { &text[span.end..] } else { "" };
    let start = before.len() - before.trim_end_matches(is_part).len();
    let end = after.len() - after.trim_start_matches(is_part).len();
    (start + end > 0).then(|| &text[span.start - start..span.end + end])
}

#[cfg(test)]
mod tests {
    use crate::{
        EditError, Next, Request, locate_words, longer_word,
        testing::{apply, tried},
    };

    const SAMPLE_FILE: &str = "load(a)\r\nreload(b); load_config(c)\r\nload = größeload + load\r\n";

    fn request<'r>(old: &'r str, new: &'r str) -> Request<'r> {
        Request { old, new, replace_all: true, expected_replacements: None }
    }

    #[test]
    fn whole_words_are_replaced_and_longer_ones_left() {
        let located = locate_words(SAMPLE_FILE, &request("load", "read")).expect("places");
        let wanted = "read(a)\r\nreload(b); load_config(c)\r\nread = größeload + read\r\n";
        assert_eq!(apply(SAMPLE_FILE, &located), wanted);
        assert_eq!(
            tried(SAMPLE_FILE, &request("load", "read")).expect("places").1,
            SAMPLE_FILE.replace("load", "read")
        );
        let single = Request { replace_all: false, ..request("load_config", "x") };
        assert!(locate_words(SAMPLE_FILE, &single).is_ok());
        let counted = Request { expected_replacements: Some(6), ..request("load", "read") };
        assert!(
            matches!(locate_words(SAMPLE_FILE, &counted), Err(EditError::Count { places, .. }) if places.len() == 3)
        );
    }

    #[test]
    fn edges_that_are_no_letters_are_no_bounds_and_lines_may_be_several() {
        let located = locate_words("a.load(x); b.reload(x)", &request(".load(", ".read(")).expect("places");
        assert_eq!(apply("a.load(x); b.reload(x)", &located), "a.read(x); b.reload(x)");
        let located = locate_words("x\r\ny\r\nax\r\nyb\r\n", &request("x\ny", "z")).expect("places");
        assert_eq!(apply("x\r\ny\r\nax\r\nyb\r\n", &located), "z\r\nax\r\nyb\r\n");
    }

    #[test]
    fn a_text_within_longer_words_alone_is_refused_with_one_of_them() {
        let Err(EditError::NotFound(diagnosis)) = locate_words("x\nreload(b)\n", &request("load", "read")) else {
            panic!("found")
        };
        assert!(diagnosis.summary.contains("only within longer words, such as `reload` at line 2"), "{diagnosis:?}");
        assert_eq!(diagnosis.next, Next::LeaveOutWord);
    }

    #[test]
    fn words_around_are_whole() {
        assert_eq!(longer_word("ab", 0..1), Some("ab"));
        assert_eq!(longer_word("é_a-b", 3..4), Some("é_a"));
        assert_eq!(longer_word("e\u{301}lan", 3..6), Some("e\u{301}lan"));
        assert_eq!(longer_word("a b", 1..2), None);
        assert_eq!(longer_word("ab.cd", 1..4), Some("ab.cd"));
    }
}
