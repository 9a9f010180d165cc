//! What to say when nothing matched: the nearest block, and what differs, made visible.

use std::{borrow::Cow, ops::Range};

use super::{
    Diagnosis, Next, Search,
    align::{self, Alignment, Pair},
    applied,
    block::LineEdit,
    differences::{self, LEAVES_OUT},
    elision,
    excerpt::{self, Part},
    fragment, likeness, line_endings, line_key, rewritten, squeezed,
};

/// Longest summary, in characters: with the tool's own words it must stay within what clients keep of an error.
const SUMMARY: usize = 300;

/// Differences that are described.
const DESCRIBED: usize = 6;

/// Differing lines that are shown first where not everything fits.
const FOCUS: usize = 40;

/// Blocks less alike than this are not worth showing.
const LEAST: f64 = 0.3;

/// Texts of one line less alike than this are looked for as a part of a line as well.
const SURE: f64 = 0.7;

/// Explains why `old` was not found.
pub(super) fn diagnose(search: &Search<'_>) -> Diagnosis {
    if search.old.is_empty() {
        return said("old_string is empty: it describes no place".to_owned());
    }
    let request = Wanted::of(search);
    let near = Near::of(search, &request);
    let applied_at = applied_at(search, &request);
    let already_applied = applied_at.is_some();
    let mut summary = "old_string was not found".to_owned();
    let mut add = |clause: &str| {
        let fits = summary.chars().count() + clause.chars().count() <= SUMMARY;
        if fits {
            summary.push_str(clause);
        }
        fits
    };
    if let Some(line) = applied_at {
        add(&format!("; new_string is already there, at line {line}"));
    }
    let is_named = near.as_ref().is_some_and(|near| near.clauses.iter().any(|clause| clause.contains(LEAVES_OUT)));
    if let Some(line) = elision::line_of_old(search).filter(|_| !already_applied && !is_named) {
        add(&format!(
            "; line {line} of old_string seems to stand for code that was left out: write that code out, or send a \
             smaller part without it"
        ));
    }
    let Some(near) = near else {
        if !already_applied {
            add(" and nothing in the file resembles it");
        }
        let next = if already_applied { Next::Look } else { Next::Read };
        return Diagnosis { summary, details: String::new(), already_applied, next };
    };
    match near.other_case.filter(|_| !already_applied) {
        Some(line) => _ = add(&format!("; the same text in another casing is at line {line}")),
        None => _ = add(&near.named()),
    }
    let mut clauses: Vec<&str> = request.note.into_iter().collect();
    clauses.extend(near.clauses.iter().map(String::as_str));
    let told = clauses.iter().take_while(|clause| !already_applied && add(&format!("; {clause}"))).count();
    let mut details: String = clauses.iter().skip(told).flat_map(|clause| [*clause, "\n"]).collect();
    if !details.is_empty() {
        details.push('\n');
    }
    details.push_str(&excerpt::show(search, &near.shown, &near.focus, &near.parts));
    let next = match (already_applied, near.is_rewritten) {
        (true, _) => Next::Look,
        (false, true) => Next::LeaveOutPath,
        (false, false) => Next::Copy,
    };
    Diagnosis { summary, details, already_applied, next }
}

/// What is said of a file with more than `most` lines.
pub(super) fn unlooked_for(most: usize) -> Diagnosis {
    said(format!("old_string was not found exactly, and a file of more than {most} lines is not searched for the like"))
}

fn said(summary: String) -> Diagnosis {
    Diagnosis { summary, details: String::new(), already_applied: false, next: Next::Read }
}

/// The request as lines, without what a client or a model put around the file's text.
struct Wanted<'s> {
    old: Cow<'s, str>,
    new: Cow<'s, str>,
    /// What was taken off.
    note: Option<&'static str>,
}

impl<'s> Wanted<'s> {
    fn of(search: &Search<'s>) -> Self {
        let (old, new) = (line_endings::canonical(search.old), line_endings::canonical(search.new));
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

    fn lines(&self) -> Vec<&str> {
        self.old.strip_suffix('\n').unwrap_or(&self.old).split('\n').collect()
    }

    /// The lines of the old text that change, and the new lines in their place.
    fn changed(&self) -> (Range<usize>, Vec<&str>) {
        let (old, new) = (self.lines(), self.new.strip_suffix('\n').unwrap_or(&self.new));
        let new: Vec<&str> = new.split('\n').collect();
        let most = old.len().min(new.len());
        let before = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
        let pairs = old.iter().rev().zip(new.iter().rev());
        let after = pairs.take_while(|(old, new)| old == new).count().min(most - before);
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
        let after = ["\t", "→", ": ", ":", " | ", "| ", "|"].iter().find_map(|mark| rest.strip_prefix(mark));
        if line.is_empty() { Some(String::new()) } else { after.filter(|_| is_numbered).map(str::to_owned) }
    };
    // A single line may well begin with a number and a colon.
    let body = text.trim_end_matches('\n');
    let has_text = !body.is_empty() && (body.contains('\n') || body.contains(['\t', '→']));
    text.split('\n').map(plain).collect::<Option<Vec<String>>>().filter(|_| has_text).map(|lines| lines.join("\n"))
}

/// The text with the entities of HTML resolved, where it has some.
fn without_entities(text: &str) -> Option<String> {
    let plain = text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&#39;", "'");
    let plain = plain.replace("&amp;", "&");
    (plain != text).then_some(plain)
}

/// The part of the file that is nearest to the request.
struct Near {
    /// Lines, counted from 0.
    block: Range<usize>,
    /// The same with what is around it.
    shown: Range<usize>,
    alike: f64,
    /// Line, counted from 1, of the same text in another casing.
    other_case: Option<usize>,
    /// What differs.
    clauses: Vec<String>,
    /// What of the block matters most.
    focus: Vec<Range<usize>>,
    parts: Vec<Part>,
    /// Whether nothing but absolute paths differs in some line.
    is_rewritten: bool,
    /// Whether the lines are broken otherwise than in the request.
    is_broken: bool,
}

impl Near {
    fn of(search: &Search<'_>, request: &Wanted<'_>) -> Option<Self> {
        let old = request.lines();
        let other_case = in_other_case(search, request);
        let path = rewritten::find(search, &old);
        let mut guess: Vec<(usize, usize)> = path.map(|(old, file)| (file, old)).into_iter().collect();
        guess.extend(other_case.map(|line| (line - 1, 0)));
        let alignment =
            align::nearest(search, &old, &guess).filter(|alignment| alignment.alike >= SURE).or_else(|| {
                guess.extend(likeness::line_like_longest(search, &old));
                align::nearest(search, &old, &guess)
            });
        let by_lines = alignment
            .filter(|alignment| alignment.alike >= LEAST || alignment.same > old.len() / 5 || path.is_some())
            .map(|alignment| Self::by_lines(search, request, &alignment));
        let by_lines = match Self::by_letters(search, request) {
            Some(near) if !by_lines.as_ref().is_some_and(|other| near.is_said_by(other)) => Some(near),
            _ => by_lines,
        };
        let near = match by_lines {
            Some(near) if near.alike >= SURE || old.len() > 1 => Some(near),
            other => Self::by_pieces(search, request).filter(|_| path.is_none()).or(other),
        };
        let near = near.or_else(|| other_case.map(|line| Self::at(line - 1..line)));
        near.map(|near| Self { other_case, ..near })
    }

    fn at(block: Range<usize>) -> Self {
        Self {
            shown: block.clone(),
            block,
            alike: 0.0,
            other_case: None,
            clauses: Vec::new(),
            focus: Vec::new(),
            parts: Vec::new(),
            is_rewritten: false,
            is_broken: false,
        }
    }

    fn by_lines(search: &Search<'_>, request: &Wanted<'_>, alignment: &Alignment) -> Self {
        let old = request.lines();
        let content = |file: usize| search.lines()[file].content(search.text);
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
            let (line, start) = (content(*file), search.lines()[*file].start);
            let bytes = changed_bytes(old[*at], wish.copied(), line);
            let differs = changed_bytes(old[*at], None, line);
            let in_text = |bytes: Range<usize>| start + bytes.start..start + bytes.end;
            Some(Part { line: *file, bytes: in_text(bytes), differs: in_text(differs) })
        };
        // Lines of the request that the file lacks may still be meant as those beside the block; and one line more
        // shows where an edge of it is not what it seems.
        let lost = |pair: &&Pair| matches!(pair, Pair::OldOnly(_));
        let (before, after) = (pairs().take_while(lost).count(), pairs().rev().take_while(lost).count());
        let block = alignment.block();
        let filled = |line: usize| usize::from(line < search.lines().len() && !content(line).trim().is_empty());
        let (start, end) = (block.start.saturating_sub(before), (block.end + after).min(search.lines().len()));
        // What is behind a blank line tells where it is.
        let ends_blank = end < search.lines().len() && content(end).trim().is_empty();
        let end = if ends_blank { end + 1 } else { end };
        let shown = start - start.checked_sub(1).map_or(0, filled)..end + filled(end);
        let is_rewritten = pairs().any(
            |pair| matches!(pair, Pair::Both { old: at, file } if rewritten::is_version(old[*at], content(*file))),
        );
        Self {
            alike: alignment.alike,
            clauses: differences::described(search, &old, alignment, DESCRIBED),
            focus,
            parts: pairs().filter(is_changed).chain(pairs().filter(is_other)).filter_map(part).take(FOCUS).collect(),
            is_rewritten,
            shown,
            ..Self::at(block)
        }
    }

    /// Lines that are the request but for the white space in and between them.
    fn by_letters(search: &Search<'_>, request: &Wanted<'_>) -> Option<Self> {
        let lines = search.lines();
        let bytes = squeezed::find(search.text, &request.old)?;
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

    /// Whether `other` has the same lines and says more about them.
    fn is_said_by(&self, other: &Self) -> bool {
        let covers = other.block.start <= self.block.start && self.block.end <= other.block.end;
        covers && !self.is_broken
    }

    /// A part of a line, or of several.
    fn by_pieces(search: &Search<'_>, request: &Wanted<'_>) -> Option<Self> {
        let bytes = fragment::find(search.text, &request.old)?;
        let lines = search.lines();
        let first = lines.partition_point(|line| line.next <= bytes.start);
        let end = lines.partition_point(|line| line.start < bytes.end).max(first + 1);
        let found = search.text[bytes.clone()].trim();
        let wanted = request.old.trim();
        let alike = likeness::of_lines(wanted, found, &mut likeness::Budget::default())
            .0
            .max(line_key::ends_shared(wanted, found));
        let clause = differences::difference(wanted, found).map(|what| format!("line {}: {what}", first + 1));
        let part = (end == first + 1).then(|| {
            let (before, after) =
                line_key::shared_ends(request.old.trim_end_matches('\n'), &search.text[bytes.clone()]);
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
    fn named(&self) -> String {
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

/// Where the file's line has what is between the texts beside `core` in the old one.
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

/// Line of the new text, where that is long enough to be no accident and not a part of the old one.
fn applied_at(search: &Search<'_>, request: &Wanted<'_>) -> Option<usize> {
    let (new, old) = (&request.new, &request.old);
    let edit = LineEdit::new(old, new);
    if edit.is_some_and(|edit| applied::is_held(&edit, &applied::contents(&edit.old))) {
        return None;
    }
    let new = new.trim_matches('\n');
    if new.trim().len() < 8 || new.chars().filter(|one| one.is_alphanumeric()).count() < 4 || old.contains(new) {
        return None;
    }
    let text = line_endings::canonical(search.text);
    text.find(new).map(|at| line_of(&text, at))
}

/// Line of `old` when letters are compared without their case.
fn in_other_case(search: &Search<'_>, request: &Wanted<'_>) -> Option<usize> {
    let text = line_endings::canonical(search.text).to_lowercase();
    text.find(&request.old.to_lowercase()).map(|at| line_of(&text, at)).filter(|line| {
        // A lone CR ends a line of the canonical text, and not always one of the file.
        !request.old.trim().is_empty() && *line <= search.lines().len()
    })
}

fn line_of(text: &str, offset: usize) -> usize {
    text[..offset].matches('\n').count() + 1
}
#[cfg(test)]
mod tests;
