//! A line taken apart: indentation, content and white space at its end; and where one sequence of hashed lines occurs
//! in another.
//!
//! White space is spaces and tabs here, as in indentation; `typography` knows the other spaces of Unicode.

use std::hash::{DefaultHasher, Hash, Hasher};

/// Widths of a tab that people use, in columns.
pub(super) const TAB_WIDTHS: [usize; 4] = [4, 8, 2, 3];

/// A line without spaces and tabs at its end.
pub(super) fn without_trailing_whitespace(line: &str) -> &str {
    line.trim_end_matches([' ', '\t'])
}

/// Indentation, content, and white space at the end. A blank line is all end.
pub(super) fn parts(line: &str) -> (&str, &str, &str) {
    let (body, trailing) = line.split_at(without_trailing_whitespace(line).len());
    let content = body.trim_start_matches([' ', '\t']);
    (&body[..body.len() - content.len()], content, trailing)
}

/// A line without white space at either end.
pub(super) fn content(line: &str) -> &str {
    parts(line).1
}

/// Columns of an indentation with tab stops every `tab` columns.
pub(super) fn width(indent: &str, tab: usize) -> usize {
    indent.chars().fold(0, |column, character| if character == '\t' { (column / tab + 1) * tab } else { column + 1 })
}

/// Whether the first of `lines`, put behind `indent`, would open a block while the next one, which has its whole
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
