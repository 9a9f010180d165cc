//! The part of the file that is nearest to a request that was not found.
//!
//! Looked for by whole lines, by the text without its white space, and by pieces of it, in this order.
//!
//! A line that differs in its paths alone is a version of the same line: `DeerFlow` shows the paths of its sandbox in the
//! place of the host's, also within file content; an `old_string` that repeats such a path is in no file, however often
//! it is copied.

use std::{borrow::Cow, ops::Range};

use super::{
    align::{self, Alignment, Pair},
    approximate, differences,
    excerpt::Part,
    line_key,
    plain_request::PlainRequest,
};
use crate::{Prepared, similarity};

/// Differences that are described.
const DESCRIBED: usize = 6;

/// Differing lines that are shown first where not everything fits.
const FOCUS: usize = 40;

/// Blocks less alike than this are not worth showing.
const LEAST: f64 = 0.3;

/// Texts of one line less alike than this are looked for as a part of a line as well.
const SURE: f64 = 0.7;

/// The part of the file that is nearest to the request.
#[derive(Default)]
pub(super) struct Nearest {
    /// Lines, counted from 0.
    block: Range<usize>,
    /// The same with what is around it.
    pub(super) shown: Range<usize>,
    alike: f64,
    /// Line, counted from 1, of the same text in another casing.
    pub(super) other_case: Option<usize>,
    /// What differs.
    pub(super) clauses: Vec<String>,
    /// What of the block matters most.
    pub(super) focus: Vec<Range<usize>>,
    pub(super) parts: Vec<Part>,
    /// Whether nothing but absolute paths differs in some line.
    pub(super) is_rewritten: bool,
    /// Whether the lines are broken otherwise than in the request.
    is_broken: bool,
}

impl Nearest {
    pub(super) fn of(prepared: &Prepared<'_>, request: &PlainRequest<'_>) -> Option<Self> {
        let old = request.lines();
        let other_case = in_other_case(prepared, request);
        let path = line_with_other_path(prepared, &old);
        let mut guess: Vec<(usize, usize)> = path.map(|(old, file)| (file, old)).into_iter().collect();
        guess.extend(other_case.map(|line| (line - 1, 0)));
        let alignment =
            align::nearest(prepared, &old, &guess).filter(|alignment| alignment.alike >= SURE).or_else(|| {
                guess.extend(similarity::line_like_longest(prepared, &old));
                align::nearest(prepared, &old, &guess)
            });
        let by_lines = alignment
            .filter(|alignment| alignment.alike >= LEAST || alignment.same > old.len() / 5 || path.is_some())
            .map(|alignment| Self::by_lines(prepared, request, &alignment));
        let by_lines = match Self::by_unspaced_text(prepared, request) {
            Some(near) if !by_lines.as_ref().is_some_and(|other| near.is_said_by(other)) => Some(near),
            _ => by_lines,
        };
        let near = match by_lines {
            Some(near) if near.alike >= SURE || old.len() > 1 => Some(near),
            other => Self::by_pieces(prepared, request).filter(|_| path.is_none()).or(other),
        };
        let near = near.or_else(|| other_case.map(|line| Self::at(line - 1..line)));
        near.map(|near| Self { other_case, ..near })
    }

    fn at(block: Range<usize>) -> Self {
        Self { shown: block.clone(), block, ..Self::default() }
    }

    fn by_lines(prepared: &Prepared<'_>, request: &PlainRequest<'_>, alignment: &Alignment) -> Self {
        let old = request.lines();
        let content = |file: usize| prepared.line(file);
        let (changed, new) = request.changed();
        let is_other = |pair: &&Pair| match pair {
            Pair::Both { old: at, file } => old[*at] != content(*file),
            _ => true,
        };
        let differ = alignment.pairs.iter().filter(is_other).map(|pair| match pair {
            Pair::Both { file, .. } | Pair::FileOnly(file) => *file..file + 1,
            Pair::OldOnly(at) => alignment.place_of(*at..at + 1),
        });
        let is_changed = |pair: &&Pair| matches!(pair, Pair::Both { old: at, .. } if changed.contains(at));
        let mut focus = vec![alignment.place_of(changed.clone())];
        focus.extend(differ.take(FOCUS));
        let pairs = || alignment.pairs.iter();
        let part = |pair: &Pair| {
            let Pair::Both { old: at, file } = pair else { return None };
            let wish = new.get(at.checked_sub(changed.start)?).filter(|_| changed.contains(at));
            let (line, start) = (content(*file), prepared.lines()[*file].start);
            let bytes = changed_bytes(old[*at], wish.copied(), line);
            let differs = changed_bytes(old[*at], None, line);
            let in_text = |bytes: Range<usize>| start + bytes.start..start + bytes.end;
            Some(Part { line: *file, bytes: in_text(bytes), differs: in_text(differs) })
        };
        // Lines of the request that the file lacks may still be meant as those next to the block; and one line more
        // shows where an edge of it is not what it seems.
        let lost = |pair: &&Pair| matches!(pair, Pair::OldOnly(_));
        let (before, after) = (pairs().take_while(lost).count(), pairs().rev().take_while(lost).count());
        let block = alignment.block();
        let filled = |line: usize| usize::from(line < prepared.lines().len() && !content(line).trim().is_empty());
        let (start, end) = (block.start.saturating_sub(before), (block.end + after).min(prepared.lines().len()));
        // The line behind a blank one shows where that is.
        let ends_blank = end < prepared.lines().len() && content(end).trim().is_empty();
        let end = if ends_blank { end + 1 } else { end };
        let shown = start - start.checked_sub(1).map_or(0, filled)..end + filled(end);
        let is_rewritten = pairs()
            .any(|pair| matches!(pair, Pair::Both { old: at, file } if differs_in_paths(old[*at], content(*file))));
        Self {
            alike: alignment.alike,
            clauses: differences::described(prepared, &old, alignment, DESCRIBED),
            focus,
            parts: pairs().filter(is_changed).chain(pairs().filter(is_other)).filter_map(part).take(FOCUS).collect(),
            is_rewritten,
            shown,
            ..Self::at(block)
        }
    }

    /// Lines that are the request but for the white space in and between them.
    fn by_unspaced_text(prepared: &Prepared<'_>, request: &PlainRequest<'_>) -> Option<Self> {
        let lines = prepared.lines();
        let bytes = approximate::ignoring_whitespace(prepared.text, &request.old)?;
        let first = lines.partition_point(|line| line.next <= bytes.start);
        let end = lines.partition_point(|line| line.start < bytes.end);
        let count = |lines: &mut dyn Iterator<Item = &str>| lines.filter(|line| !line.trim().is_empty()).count();
        let there = count(&mut lines[first..end].iter().map(|line| line.content(prepared.text)));
        let given = count(&mut request.old.lines());
        let lines_of = |count: usize| if count == 1 { "1 line".to_owned() } else { format!("{count} lines") };
        let is_broken = there != given;
        let clause = format!("old_string has {} for the file's {}", lines_of(given), lines_of(there));
        (first < end && prepared.lines().len() >= end).then(|| Self {
            alike: 1.0,
            clauses: is_broken.then_some(clause).into_iter().collect(),
            shown: first.saturating_sub(1)..(end + 1).min(lines.len()),
            is_broken,
            ..Self::at(first..end)
        })
    }

    /// Whether `other` has the same lines and says more about them.
    fn is_said_by(&self, other: &Self) -> bool {
        let covers = other.block.start <= self.block.start && self.block.end <= other.block.end;
        covers && !self.is_broken
    }

    /// A part of a line, or of several.
    fn by_pieces(prepared: &Prepared<'_>, request: &PlainRequest<'_>) -> Option<Self> {
        let bytes = approximate::substring(prepared.text, &request.old)?;
        let lines = prepared.lines();
        let first = lines.partition_point(|line| line.next <= bytes.start);
        let end = lines.partition_point(|line| line.start < bytes.end).max(first + 1);
        let found = prepared.text[bytes.clone()].trim();
        let wanted = request.old.trim();
        let alike = similarity::of_lines(wanted, found, &mut similarity::Budget::default())
            .0
            .max(line_key::ends_shared(wanted, found));
        let clause = differences::difference(wanted, found).map(|what| format!("line {}: {what}", first + 1));
        let part = (end == first + 1).then(|| {
            let (before, after) =
                line_key::shared_ends(request.old.trim_end_matches('\n'), &prepared.text[bytes.clone()]);
            Part { line: first, differs: bytes.start + before..bytes.end - after, bytes }
        });
        (alike >= LEAST && end <= lines.len()).then(|| Self {
            alike,
            clauses: clause.into_iter().collect(),
            parts: part.into_iter().collect(),
            ..Self::at(first..end)
        })
    }

    /// Never 100 %: something differs, if only white space.
    pub(super) fn named(&self) -> String {
        let range = differences::range(self.block.start, self.block.len());
        format!("; the nearest block is at {range} ({:.0}% alike)", (self.alike * 100.0).floor().min(99.0))
    }
}

/// The bytes of the file's line where the change from `old` to `new` is to be made; where the two differ if there is
/// none.
fn changed_bytes(old: &str, new: Option<&str>, file: &str) -> Range<usize> {
    let (before, after) = line_key::shared_ends(old, file);
    let differs = before..file.len() - after;
    let Some(new) = new else { return differs };
    let (kept_before, kept_after) = line_key::shared_ends(old, new);
    let in_file = |at: usize| {
        if at <= before { Some(at) } else { (old.len() - at <= after).then(|| file.len() - (old.len() - at)) }
    };
    let core = kept_before..old.len() - kept_after;
    match (in_file(core.start), in_file(core.end)) {
        (Some(start), Some(end)) => start.min(end)..end.max(start),
        _ => between(old, &core, file).unwrap_or(differs),
    }
}

/// Where the file's line has what is between the texts around `core` in the old one.
fn between(old: &str, core: &Range<usize>, file: &str) -> Option<Range<usize>> {
    const BESIDE: usize = 40;
    let start = (0..=core.start.saturating_sub(BESIDE)).rev().find(|at| old.is_char_boundary(*at))?;
    let end = ((core.end + BESIDE).min(old.len())..=old.len()).find(|at| old.is_char_boundary(*at))?;
    let (before, after) = (&old[start..core.start], &old[core.end..end]);
    let ended = |at: usize| {
        let rest = &file[at + before.len()..];
        let length = rest.find(after).filter(|length| *length <= 2 * core.len() + BESIDE)?;
        Some(at + before.len()..at + before.len() + length)
    };
    file.match_indices(before).take(BESIDE).find_map(|(at, _)| ended(at))
}

/// Line of `old` when letters are compared without their case.
fn in_other_case(prepared: &Prepared<'_>, request: &PlainRequest<'_>) -> Option<usize> {
    let text = prepared.canonical_text();
    // What is there in the same casing was not found for another reason.
    if text.contains(request.old.as_ref()) {
        return None;
    }
    let text = text.to_lowercase();
    let wanted = Some(request.old.to_lowercase()).filter(|wanted| !wanted.trim().is_empty())?;
    text.find(&wanted).map(|at| line_of(&text, at))
}

/// The line of an offset, counted from 1.
pub(super) fn line_of(text: &str, offset: usize) -> usize {
    text[..offset].matches('\n').count() + 1
}

/// The first line of `old` that the file has with another absolute path: both counted from 0.
fn line_with_other_path(prepared: &Prepared<'_>, old: &[&str]) -> Option<(usize, usize)> {
    let (at, wanted) = old.iter().enumerate().find_map(|(at, line)| match without_paths(line) {
        Cow::Owned(line) => Some((at, line)),
        Cow::Borrowed(_) => None,
    })?;
    let is_version = |line: &str| line != old[at] && line.contains('/') && without_paths(line) == wanted;
    let found = prepared.contents().position(|line| is_version(line.trim()));
    Some((at, found?))
}

/// Whether the two lines are the same but for the absolute paths in them.
fn differs_in_paths(old: &str, file: &str) -> bool {
    old != file && matches!(without_paths(old), Cow::Owned(plain) if plain == without_paths(file))
}

/// The line, trimmed, with a mark for each absolute path of two names or more.
fn without_paths(line: &str) -> Cow<'_, str> {
    const MARK: char = '\u{FFFC}';
    let line = line.trim();
    if !line.contains('/') {
        return Cow::Borrowed(line);
    }
    let is_part = |one: char| one.is_alphanumeric() || "/._-~@+:".contains(one);
    let mut plain = String::new();
    let mut rest = line;
    let mut has_path = false;
    while !rest.is_empty() {
        let word = &rest[..rest.find(|one| !is_part(one)).unwrap_or(rest.len())];
        let names = word.split('/').filter(|name| name.contains(char::is_alphanumeric)).count();
        if word.starts_with('/') && names >= 2 && !word.contains("//") {
            has_path = true;
            plain.push(MARK);
        } else {
            plain.push_str(word);
        }
        let after = rest[word.len()..].chars().next().map_or(0, char::len_utf8);
        plain.push_str(&rest[word.len()..word.len() + after]);
        rest = &rest[word.len() + after..];
    }
    if has_path { Cow::Owned(plain) } else { Cow::Borrowed(line) }
}

#[cfg(test)]
mod tests;
