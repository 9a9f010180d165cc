//! The part of the file that is nearest to a request that was not found.
//!
//! Looked for by whole lines, by the text without its white space, and by pieces of it, in this order.
//!
//! A line that differs in its paths alone is a version of the same line: `DeerFlow` shows the paths of its sandbox in the
//! place of the host's, also within file content; an `old_string` that repeats such a path is in no file, however often
//! it is copied.

use std::{borrow::Cow, collections::HashMap, ops::Range};

use memchr::memmem;

use super::{differences, excerpt::Part};
use crate::interpretation::{after_delimiter, resolve_entities};
use crate::near_match::{self, Alignment, LinePair};
use crate::{diff, search::Search};

const MAX_DESCRIBED: usize = 6;

/// Differing lines that are shown first where not everything fits.
const MAX_FOCUS: usize = 40;

/// Blocks less alike than this are not worth showing.
const MIN_SIMILARITY: f64 = 0.3;

/// Texts of one line less alike than this are looked for as a part of a line as well.
const SURE_SIMILARITY: f64 = 0.7;

#[derive(Default)]
pub(super) struct Nearest {
    /// Lines, counted from 0.
    block: Range<usize>,
    pub(super) shown: Range<usize>,
    alike: f64,
    /// Line, counted from 1, of the same text in another casing.
    pub(super) other_case: Option<usize>,
    pub(super) clauses: Vec<String>,
    /// The lines of the block that matter most, the first of them first.
    pub(super) focus: Vec<Range<usize>>,
    pub(super) parts: Vec<Part>,
    pub(super) is_rewritten: bool,
    /// Whether the lines are broken otherwise than in the request.
    is_broken: bool,
}

impl Nearest {
    pub(super) fn of(search: &Search<'_>, request: &PlainRequest<'_>) -> Option<Self> {
        let old = request.lines();
        let other_case = in_other_case(search, request);
        let path = line_with_other_path(search, &old);
        let mut guess: Vec<(usize, usize)> = path.map(|(old, file)| (file, old)).into_iter().collect();
        guess.extend(other_case.map(|line| (line - 1, 0)));
        let alignment = near_match::nearest(search, &old, &guess)
            .filter(|alignment| alignment.alike >= SURE_SIMILARITY)
            .or_else(|| {
                guess.extend(near_match::line_like_longest(search, &old));
                near_match::nearest(search, &old, &guess)
            });
        let by_lines = alignment
            .filter(|alignment| alignment.alike >= MIN_SIMILARITY || alignment.same > old.len() / 5 || path.is_some())
            .map(|alignment| Self::by_lines(search, request, &alignment));
        let by_lines = match Self::by_unspaced_text(search, request) {
            Some(near) if !by_lines.as_ref().is_some_and(|other| near.is_covered_by(other)) => Some(near),
            _ => by_lines,
        };
        let near = match by_lines {
            Some(near) if near.alike >= SURE_SIMILARITY || old.len() > 1 => Some(near),
            other => Self::by_pieces(search, request).filter(|_| path.is_none()).or(other),
        };
        let near = near.or_else(|| other_case.map(|line| Self::at(line - 1..line)));
        near.map(|near| Self { other_case, ..near })
    }

    fn at(block: Range<usize>) -> Self {
        Self { shown: block.clone(), block, ..Self::default() }
    }

    fn by_lines(search: &Search<'_>, request: &PlainRequest<'_>, alignment: &Alignment) -> Self {
        let old = request.lines();
        let content = |file: usize| search.line(file);
        let (changed, new) = request.changed();
        let is_other = |pair: &&LinePair| pair.both().is_none_or(|(at, file)| old[at] != content(file));
        let differ = alignment.pairs.iter().filter(is_other).filter_map(|pair| {
            let of_file = pair.file.map(|file| file..file + 1);
            of_file.or_else(|| pair.old.map(|at| alignment.place_of(at..at + 1)))
        });
        let is_changed = |pair: &&LinePair| pair.both().is_some_and(|(at, _)| changed.contains(&at));
        let mut focus = vec![alignment.place_of(changed.clone())];
        focus.extend(differ.take(MAX_FOCUS));
        let pairs = || alignment.pairs.iter();
        let part = |pair: &LinePair| {
            let (at, file) = pair.both()?;
            let wish = new.get(at.checked_sub(changed.start)?).filter(|_| changed.contains(&at));
            let (line, start) = (content(file), search.lines()[file].start);
            let bytes = changed_bytes(old[at], wish.copied(), line);
            let differs = changed_bytes(old[at], None, line);
            let in_text = |bytes: Range<usize>| start + bytes.start..start + bytes.end;
            Some(Part { line: file, bytes: in_text(bytes), differs: in_text(differs) })
        };
        // Lines of the request that the file lacks may still be meant as those next to the block; and one line more
        // shows where an edge of it is not what it seems.
        let lost = |pair: &&LinePair| pair.file.is_none();
        let (before, after) = (pairs().take_while(lost).count(), pairs().rev().take_while(lost).count());
        let block = alignment.block();
        let filled = |line: usize| usize::from(line < search.lines().len() && !content(line).trim().is_empty());
        let (start, end) = (block.start.saturating_sub(before), (block.end + after).min(search.lines().len()));
        // The line after a blank one shows where that is.
        let ends_blank = end < search.lines().len() && content(end).trim().is_empty();
        let end = if ends_blank { end + 1 } else { end };
        let shown = start - start.checked_sub(1).map_or(0, filled)..end + filled(end);
        let is_rewritten =
            pairs().filter_map(LinePair::both).any(|(at, file)| differs_in_paths(old[at], content(file)));
        Self {
            alike: alignment.alike,
            clauses: differences::described(search, &old, alignment, MAX_DESCRIBED),
            focus,
            parts: pairs()
                .filter(is_changed)
                .chain(pairs().filter(is_other))
                .filter_map(part)
                .take(MAX_FOCUS)
                .collect(),
            is_rewritten,
            shown,
            ..Self::at(block)
        }
    }

    /// Lines that are the request but for the white space in and between them.
    fn by_unspaced_text(search: &Search<'_>, request: &PlainRequest<'_>) -> Option<Self> {
        let lines = search.lines();
        let bytes = ignoring_whitespace(search.text, &request.old)?;
        let first = lines.partition_point(|line| line.next <= bytes.start);
        let end = lines.partition_point(|line| line.start < bytes.end);
        let count = |lines: &mut dyn Iterator<Item = &str>| lines.filter(|line| !line.trim().is_empty()).count();
        let there = count(&mut lines[first..end].iter().map(|line| line.content(search.text)));
        let given = count(&mut request.old.lines());
        let lines_of = |count: usize| if count == 1 { "1 line".to_owned() } else { format!("{count} lines") };
        let is_broken = there != given;
        let clause = format!("old_string has {} for the file's {}", lines_of(given), lines_of(there));
        (first < end && search.lines().len() >= end).then(|| Self {
            alike: 1.0,
            clauses: is_broken.then_some(clause).into_iter().collect(),
            shown: first.saturating_sub(1)..(end + 1).min(lines.len()),
            is_broken,
            ..Self::at(first..end)
        })
    }

    fn is_covered_by(&self, other: &Self) -> bool {
        let covers = other.block.start <= self.block.start && self.block.end <= other.block.end;
        covers && !self.is_broken
    }

    fn by_pieces(search: &Search<'_>, request: &PlainRequest<'_>) -> Option<Self> {
        let bytes = substring(search.text, &request.old)?;
        let lines = search.lines();
        let first = lines.partition_point(|line| line.next <= bytes.start);
        let end = lines.partition_point(|line| line.start < bytes.end).max(first + 1);
        let found = search.text[bytes.clone()].trim();
        let wanted = request.old.trim();
        let alike = near_match::of_lines(wanted, found, &mut near_match::Budget::default())
            .0
            .max(near_match::ends_shared(wanted, found));
        let clause = differences::difference(wanted, found).map(|what| format!("line {}: {what}", first + 1));
        let part = (end == first + 1).then(|| {
            let (before, after) =
                near_match::shared_ends(request.old.trim_end_matches('\n'), &search.text[bytes.clone()]);
            Part { line: first, differs: bytes.start + before..bytes.end - after, bytes }
        });
        (alike >= MIN_SIMILARITY && end <= lines.len()).then(|| Self {
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
    let (before, after) = near_match::shared_ends(old, file);
    let differs = before..file.len() - after;
    let Some(new) = new else { return differs };
    let (kept_before, kept_after) = near_match::shared_ends(old, new);
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
    const BESIDE_CHARS: usize = 40;
    let start = (0..=core.start.saturating_sub(BESIDE_CHARS)).rev().find(|at| old.is_char_boundary(*at))?;
    let end = ((core.end + BESIDE_CHARS).min(old.len())..=old.len()).find(|at| old.is_char_boundary(*at))?;
    let (before, after) = (&old[start..core.start], &old[core.end..end]);
    let ended = |at: usize| {
        let rest = &file[at + before.len()..];
        let length = rest.find(after).filter(|length| *length <= 2 * core.len() + BESIDE_CHARS)?;
        Some(at + before.len()..at + before.len() + length)
    };
    file.match_indices(before).take(BESIDE_CHARS).find_map(|(at, _)| ended(at))
}

fn in_other_case(search: &Search<'_>, request: &PlainRequest<'_>) -> Option<usize> {
    let text = search.canonical_text();
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
fn line_with_other_path(search: &Search<'_>, old: &[&str]) -> Option<(usize, usize)> {
    let (at, wanted) = old.iter().enumerate().find_map(|(at, line)| match without_paths(line) {
        Cow::Owned(line) => Some((at, line)),
        Cow::Borrowed(_) => None,
    })?;
    let is_version = |line: &str| line != old[at] && line.contains('/') && without_paths(line) == wanted;
    let found = search.contents().position(|line| is_version(line.trim()));
    Some((at, found?))
}

/// Whether the two lines are the same but for the absolute paths in them.
fn differs_in_paths(old: &str, file: &str) -> bool {
    old != file && matches!(without_paths(old), Cow::Owned(plain) if plain == without_paths(file))
}

/// The line, trimmed, with a mark for each absolute path of two names or more.
fn without_paths(line: &str) -> Cow<'_, str> {
    const PLACE_MARK: &str = "\u{FFFC}";
    let line = line.trim();
    if !line.contains('/') {
        return Cow::Borrowed(line);
    }
    let ends_word = |one: char| !one.is_alphanumeric() && !"/._-~@+:".contains(one);
    let (mut plain, mut has_path) = (String::new(), false);
    for piece in line.split_inclusive(ends_word) {
        let word = piece.trim_end_matches(ends_word);
        let names = word.split('/').filter(|name| name.contains(char::is_alphanumeric)).count();
        let is_path = word.starts_with('/') && names >= 2 && !word.contains("//");
        has_path |= is_path;
        plain.push_str(if is_path { PLACE_MARK } else { word });
        plain.push_str(&piece[word.len()..]);
    }
    if has_path { Cow::Owned(plain) } else { Cow::Borrowed(line) }
}

/// The request as lines, without what a client or a model put around the file's text.
pub(super) struct PlainRequest<'s> {
    pub(super) old: Cow<'s, str>,
    pub(super) new: Cow<'s, str>,
    pub(super) note: Option<&'static str>,
}

impl<'s> PlainRequest<'s> {
    pub(super) fn of(search: &Search<'s>) -> Self {
        let (old, new) = (search.canonical_old.clone(), search.canonical_new.clone());
        for (note, plain) in [
            ("old_string has line endings spelled as \\n", without_escapes as fn(&str) -> Option<String>),
            ("old_string has line numbers in front of its lines", without_numbers),
            ("old_string has HTML entities such as &lt;", without_entities),
        ] {
            if let Some(plainer) = plain(&old) {
                let new = plain(&new).map_or(new, Cow::Owned);
                return Self { old: Cow::Owned(plainer), new, note: Some(note) };
            }
        }
        Self { old, new, note: None }
    }

    pub(super) fn lines(&self) -> Vec<&str> {
        self.old.strip_suffix('\n').unwrap_or(&self.old).split('\n').collect()
    }

    /// The lines of the old text that change, and the new lines in their place.
    fn changed(&self) -> (Range<usize>, Vec<&str>) {
        let (old, new) = (self.lines(), self.new.strip_suffix('\n').unwrap_or(&self.new));
        let new: Vec<&str> = new.split('\n').collect();
        let (before, after) = diff::shared_ends(&old, &new);
        (before..old.len() - after, new[before..new.len() - after].to_vec())
    }
}

/// The text with `\n`, `\t` and quotes resolved, where it is a single line that has a `\n` spelled out.
fn without_escapes(text: &str) -> Option<String> {
    let is_one_line = !text.trim_end_matches('\n').contains('\n');
    (is_one_line && text.contains("\\n"))
        .then(|| text.replace("\\n", "\n").replace("\\t", "\t").replace("\\\"", "\"").replace("\\\\", "\\"))
}

/// The text without the numbers in front of its lines, where each has one.
fn without_numbers(text: &str) -> Option<String> {
    let plain = |line: &str| {
        let rest = line.trim_start().trim_start_matches(|one: char| one.is_ascii_digit());
        let is_numbered = line.trim_start().len() > rest.len();
        let after = after_delimiter(rest);
        if line.is_empty() { Some(String::new()) } else { after.filter(|_| is_numbered).map(str::to_owned) }
    };
    // A single line may well begin with a number and a colon.
    let body = text.trim_end_matches('\n');
    let has_text = !body.is_empty() && (body.contains('\n') || body.contains(['\t', '→']));
    text.split('\n').map(plain).collect::<Option<Vec<String>>>().filter(|_| has_text).map(|lines| lines.join("\n"))
}

fn without_entities(text: &str) -> Option<String> {
    Some(resolve_entities(text)).filter(|plain| plain != text)
}

/// Bytes of the file that are searched in all: the longer it is, the fewer pieces are looked for.
const MAX_SEARCHED: usize = 1 << 30;

/// Pieces of the text, at most and at least.
const PIECE_COUNTS: (usize, usize) = (32, 6);

/// Bytes of a piece, at least and at most.
const PIECE_BYTES: (usize, usize) = (5, 32);

const MAX_PIECE_PLACES: usize = 16;

/// Shorter texts are found everywhere and nowhere.
const MIN_TEXT: usize = 10;

/// Shorter texts are found by chance.
const MIN_UNSPACED: usize = 12;

/// The bytes of `text` that hold the most pieces of `old`, where those are a good part of it.
fn substring(text: &str, old: &str) -> Option<Range<usize>> {
    let old = old.trim();
    if old.len() < MIN_TEXT {
        return None;
    }
    let count = (MAX_SEARCHED / text.len().max(1)).clamp(PIECE_COUNTS.1, PIECE_COUNTS.0);
    let size = (old.len() / 3).clamp(PIECE_BYTES.0, PIECE_BYTES.1);
    let step = (old.len() - size).div_ceil(count).max(1);
    // Pieces count for the place of the whole text that they speak for, give or take a few letters.
    let slack = (old.len() / 4).clamp(8, 400);
    let mut votes: HashMap<usize, Vec<(usize, usize)>> = HashMap::new();
    let mut asked = 0;
    for offset in (0..=old.len() - size).step_by(step) {
        let piece = &old.as_bytes()[offset..offset + size];
        if piece.iter().filter(|byte| byte.is_ascii_alphanumeric() || !byte.is_ascii()).count() * 3 < size {
            continue;
        }
        asked += 1;
        for place in memmem::find_iter(text.as_bytes(), piece).take(MAX_PIECE_PLACES) {
            // A place before the text's own beginning is one of the first.
            let bucket = (place + slack).saturating_sub(offset) / slack;
            for bucket in [bucket, bucket + 1] {
                votes.entry(bucket).or_default().push((offset, place));
            }
        }
    }
    let distinct = |found: &Vec<(usize, usize)>| {
        let mut offsets: Vec<usize> = found.iter().map(|(offset, _)| *offset).collect();
        offsets.dedup();
        offsets.len()
    };
    let best = votes.into_iter().max_by_key(|(bucket, found)| (distinct(found), usize::MAX - bucket))?.1;
    if distinct(&best) * 3 < asked.max(2) {
        return None;
    }
    let start = best.iter().map(|(offset, place)| place.saturating_sub(*offset)).min()?;
    let end = best.iter().map(|(offset, place)| place + old.len() - offset).max()?.min(text.len());
    let start = (0..=start).rev().find(|at| text.is_char_boundary(*at))?;
    let end = (end..=text.len()).find(|at| text.is_char_boundary(*at))?;
    Some(start..end)
}

/// The bytes of the only place where `text` is `old` when white space does not count.
fn ignoring_whitespace(text: &str, old: &str) -> Option<Range<usize>> {
    let is_black = |byte: &u8| !byte.is_ascii_whitespace();
    let wanted: Vec<u8> = old.bytes().filter(is_black).collect();
    if wanted.len() < MIN_UNSPACED || wanted.len() > text.len() {
        return None;
    }
    let squeezed: Vec<u8> = text.bytes().filter(is_black).collect();
    let mut places = memmem::find_iter(&squeezed, &wanted);
    let (start, None) = (places.next()?, places.next()) else { return None };
    let mut black = text.bytes().enumerate().filter(|(_, byte)| is_black(byte)).map(|(at, _)| at);
    let first = black.nth(start)?;
    Some(first..black.nth(wanted.len() - 2)? + 1)
}

#[cfg(test)]
mod tests;
