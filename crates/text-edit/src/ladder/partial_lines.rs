//! Places that begin or end within the white space of a line, where new lines may come out wrong.

use std::ops::Range;

use crate::{
    found::Refusal,
    line_parts::{opens_block_without_body, parts},
    search::{Search, Site},
};

/// Whether the first line of the request, matched after white space at the start of the file's line, would leave
/// further lines of `new` with less than that. Either `old` begins with white space itself, too little of it,
/// which the shift of indentation resolves. Or it is a whole line without its indentation: then nobody can tell
/// whether the other lines lack theirs too or are meant to be further left, and the request is refused.
pub(super) fn loses_indent(search: &Search<'_>, span: &Range<usize>) -> Option<Refusal> {
    let new_lines = || search.new.lines().filter(|line| !line.trim().is_empty());
    // Whole lines that go would leave the indentation of the first in front of the line after them.
    let deletes = search.old.ends_with('\n') && search.new.trim().is_empty();
    let has_further_lines = search.old.trim_end().contains('\n');
    if search.old.trim().is_empty() || !deletes && !has_further_lines && new_lines().nth(1).is_none() {
        return None;
    }
    let is_indented = |line: &str| line.starts_with([' ', '\t']);
    // The first of several lines with a part of its indentation: what is brought in may lack as much. One without
    // any stays in front of its own line only.
    let is_placed = || {
        let (first, new_first) = (search.old.lines().next(), search.new.lines().next());
        if !is_indented(search.old) {
            // Further down in the new text, it would lack what is in front of it now.
            let is_moved = search.new.lines().skip(1).any(|new| Some(new) == first && !new.trim().is_empty());
            return first == new_first || !is_moved && search.old.lines().skip(1).all(|old| Some(old) != new_first);
        }
        let is_new = |line: &str| search.old.lines().all(|old| old != line);
        first == new_first && !new_lines().any(|line| is_indented(line) && is_new(line))
    };
    if has_further_lines && !deletes && is_placed() {
        return None;
    }
    let before = &search.text[..span.start];
    let indent = &before[before.trim_end_matches([' ', '\t']).len()..];
    let line_start = span.start - indent.len();
    let starts_line = line_start == 0 || before[..line_start].ends_with('\n');
    if indent.is_empty() || !starts_line {
        return None;
    }
    if deletes || has_further_lines || is_indented(search.old) {
        return Some(Refusal::Unclear);
    }
    let after = search.text[span.end..].trim_start_matches([' ', '\t']);
    let is_end = |rest: &str| rest.is_empty() || rest.starts_with('\n') || rest.starts_with("\r\n");
    let ends_line = search.old.ends_with('\n') || is_end(after);
    let loses = ends_line
        && (new_lines().skip(1).any(|line| !line.starts_with(indent)) || opens_block_without_body(new_lines(), indent));
    loses.then_some(Refusal::BareLine(line_start))
}

/// Whether white space that ends the last line would be left as a separate line, after a new text that ends with a
/// line ending where the old one does not.
pub(super) fn leaves_trailing_space(search: &Search<'_>, span: &Range<usize>) -> Option<Refusal> {
    // Asked first, as the rest of a long line is long for each of its places.
    if !search.new.ends_with('\n') || search.old.ends_with('\n') {
        return None;
    }
    let rest = search.text[span.end..].split('\n').next().unwrap_or_default();
    let rest = rest.strip_suffix('\r').unwrap_or(rest);
    let leaves = !rest.is_empty() && rest.trim().is_empty();
    leaves.then_some(Refusal::TrailingSpace(span.end))
}

/// Whether a single line found at `site`, without its indentation, is to be followed by lines that may lack theirs too,
/// or is to go and would leave its indentation.
pub(super) fn line_loses_indent(site: Site<'_, '_>) -> Option<Refusal> {
    let edit = site.edit;
    let (indent, ..) = parts(site.search.line(site.line));
    let filled = |line: &&&str| !line.trim().is_empty();
    if edit.new.first().is_none_or(|first| first.trim().is_empty()) {
        return Some(Refusal::Unclear);
    }
    let moves = edit.changes().any(|(is_kept, old, new)| is_kept && old.start == 0 && new.start > 0);
    let loses = moves
        || edit.old.iter().filter(filled).count() == 1
            && (edit.new.iter().skip(1).filter(filled).any(|line| !line.starts_with(indent))
                || opens_block_without_body(edit.new.iter().copied(), indent));
    loses.then_some(Refusal::Unclear)
}
