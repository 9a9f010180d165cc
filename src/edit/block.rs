//! Whole lines: what the tolerant steps share.
//!
//! Finds the blocks of a file whose lines equal those of `old` under some folding, and rewrites such a block
//! so that only what the request changes is new: a line that `old` and `new` have in common stays the
//! file's own, byte for byte. What a changed line looks like is the step's business ([`Adapt`]).

use std::{
    borrow::Cow,
    hash::{DefaultHasher, Hash, Hasher},
    ops::Range,
    time::Duration,
};

use similar::{Algorithm, DiffOp};

use super::{Found, Refusal, Replacement, Search, diff, exact, indent, line_endings};

/// How two lines are compared: they are equal when their foldings are.
pub(super) type Fold = fn(&str) -> Cow<'_, str>;

/// Turns the new lines of a hunk into those to be written; `None` refuses the place.
pub(super) type Adapt<'a> = dyn FnMut(&Hunk<'_>) -> Option<Vec<String>> + 'a;

/// Turns a place into a replacement, or says why it cannot be one.
pub(super) type Rewrite<'a> = dyn FnMut(Site) -> Result<Replacement, Refusal> + 'a;

/// Lines compared before a search among ever-matching blocks is given up.
const LINE_BUDGET: usize = 1_000_000;

/// Time for the diff of old against new lines; beyond it the diff is coarser, which only keeps fewer lines.
const DIFF_TIME: Duration = Duration::from_millis(100);

/// A request as whole lines, without their terminators.
pub(super) struct LineEdit<'r> {
    pub(super) old: Vec<&'r str>,
    pub(super) new: Vec<&'r str>,
    ops: Vec<DiffOp>,
    /// The lines go altogether, terminators included.
    pub(super) deletes: bool,
}

/// Changed lines: what `old` said, what the file has there, what `new` wants.
pub(super) struct Hunk<'h> {
    pub(super) old: &'h [&'h str],
    pub(super) file: &'h [&'h str],
    pub(super) new: &'h [&'h str],
}

/// A place of whole lines.
#[derive(Clone, Copy)]
pub(super) struct Site {
    /// Index of the first line.
    pub(super) line: usize,
    /// Whether `old` starts after the indentation of that line.
    pub(super) after_indent: bool,
}

impl<'r> LineEdit<'r> {
    /// Splits `old` and `new`, which end lines with LF only.
    ///
    /// `None` where they cannot be taken as lines: nothing but white space, or a final newline in only one of
    /// them, which would join two lines or part them by an empty one; that is meant so rarely, and slipped in so
    /// often, that only an exact match does it.
    pub(super) fn new(old: &'r str, new: &'r str) -> Option<Self> {
        if old.trim().is_empty() {
            return None;
        }
        let deletes = old.ends_with('\n') && new.is_empty();
        let (old, new) = match (old.strip_suffix('\n'), new.strip_suffix('\n')) {
            (Some(old), Some(new)) => (old, new),
            (Some(old), None) if deletes => (old, new),
            (None, None) => (old, new),
            (Some(_), None) | (None, Some(_)) => return None,
        };
        let old: Vec<&str> = old.split('\n').collect();
        let new: Vec<&str> = if deletes { Vec::new() } else { new.split('\n').collect() };
        Some(Self::of_lines(old, new, deletes))
    }

    /// The request of these lines; `deletes`: they go altogether.
    pub(super) fn of_lines(old: Vec<&'r str>, new: Vec<&'r str>, deletes: bool) -> Self {
        let deadline = diff::deadline(old.len() + new.len(), DIFF_TIME);
        let ops = similar::capture_diff_slices_deadline(Algorithm::Myers, &old, &new, deadline);
        Self { old, new, ops, deletes }
    }

    /// Whether there is enough to recognise: a lone brace is no description of a place.
    pub(super) fn has_substance(&self) -> bool {
        self.old.iter().flat_map(|line| line.chars()).filter(|character| character.is_alphanumeric()).nth(2).is_some()
    }

    /// Runs of lines that `old` and `new` share and those that differ, as ranges into both.
    pub(super) fn changes(&self) -> impl Iterator<Item = (bool, Range<usize>, Range<usize>)> + '_ {
        self.ops.iter().map(|op| (matches!(op, DiffOp::Equal { .. }), op.old_range(), op.new_range()))
    }
}

/// Every place where the lines of `edit.old` equal the file's under `fold`, each turned into a replacement by
/// `rewrite`.
pub(super) fn find(
    search: &Search<'_>,
    edit: &LineEdit<'_>,
    (fold, hashes): (Fold, &[u64]),
    rewrite: &mut Rewrite<'_>,
) -> Found {
    if edit.old.len() > search.lines().len() {
        return Found::default();
    }
    let whole = sites(search, &edit.old, (fold, hashes), false);
    let found = collect(search, edit, fold, &whole, rewrite);
    // A first line copied from its first character on. Nothing can be deleted from there to a line's end.
    let starts_bare = !edit.old[0].starts_with([' ', '\t']) && !edit.old[0].is_empty();
    if !found.is_empty() || found.refusal.is_some_and(Refusal::is_final) || edit.deletes || !starts_bare {
        return found;
    }
    let bare = sites(search, &edit.old, (fold, hashes), true);
    let found_bare = collect(search, edit, fold, &bare, rewrite);
    Found { refusal: found_bare.refusal.or(found.refusal), ..found_bare }
}

/// The replacement at `site`, lines that do not change keeping the file's bytes.
pub(super) fn rewrite(
    search: &Search<'_>,
    edit: &LineEdit<'_>,
    site: Site,
    adapt: &mut Adapt<'_>,
) -> Result<Replacement, Refusal> {
    let text = search.text;
    let all = search.lines();
    let matched = &all[site.line..site.line + edit.old.len()];
    let file = file_lines(search, edit, site);
    let last = matched.len() - 1;
    let start = matched[0].end - file[0].len();
    let span = start..if edit.deletes { matched[last].next } else { matched[last].end };
    let mut written: Vec<(Cow<'_, str>, &str)> = Vec::with_capacity(edit.new.len());
    for (is_kept, old, new) in edit.changes() {
        if is_kept {
            let kept = old.map(|index| (Cow::Borrowed(file[index]), matched[index].terminator(text)));
            written.extend(kept);
            continue;
        }
        let hunk = Hunk { old: &edit.old[old.clone()], file: &file[old.clone()], new: &edit.new[new] };
        for (index, line) in adapt(&hunk).ok_or(Refusal::Unclear)?.into_iter().enumerate() {
            // The ending of the line it replaces, else of the one before it.
            let beside =
                if old.is_empty() { old.start.checked_sub(1) } else { Some((old.start + index).min(old.end - 1)) };
            let terminator = beside.map_or("", |beside| matched[beside].terminator(text));
            written.push((Cow::Owned(line), terminator));
        }
    }
    let around = line_endings::ending_around(search, matched[0].start);
    let mut result = String::new();
    let count = written.len();
    for (index, (line, terminator)) in written.into_iter().enumerate() {
        result.push_str(&line);
        if index + 1 < count {
            result.push_str(if terminator.is_empty() { around } else { terminator });
        }
    }
    if site.after_indent
        && let Some(refusal) = search.loses_indent(&span).or_else(|| loses_indent(search, edit, site))
    {
        return Err(refusal);
    }
    let replacement = Replacement { span, text: result };
    if is_applied(search, edit, site, &replacement) {
        return Err(Refusal::AlreadyApplied(matched[0].start));
    }
    Ok(replacement)
}

/// The file's lines at `site`, the first one without its indentation where the site starts after it.
pub(super) fn file_lines<'a>(search: &Search<'a>, edit: &LineEdit<'_>, site: Site) -> Vec<&'a str> {
    let matched = &search.lines()[site.line..site.line + edit.old.len()];
    let mut file: Vec<&str> = matched.iter().map(|line| line.content(search.text)).collect();
    if site.after_indent {
        file[0] = file[0].trim_start_matches([' ', '\t']);
    }
    file
}

/// Whether a single line without its indentation is to be followed by lines that may lack theirs too, or is to go and
/// would leave it behind.
fn loses_indent(search: &Search<'_>, edit: &LineEdit<'_>, site: Site) -> Option<Refusal> {
    let (indent, ..) = parts(search.lines()[site.line].content(search.text));
    let filled = |line: &&&str| !line.trim().is_empty();
    if edit.new.first().is_none_or(|first| first.trim().is_empty()) {
        return Some(Refusal::Unclear);
    }
    let moves = edit.changes().any(|(is_kept, old, new)| is_kept && old.start == 0 && new.start > 0);
    let loses = moves
        || edit.old.iter().filter(filled).count() == 1
            && (edit.new.iter().skip(1).filter(filled).any(|line| !line.starts_with(indent))
                || indent::hangs(edit.new.iter().copied(), indent));
    loses.then_some(Refusal::Unclear)
}

/// A line without spaces and tabs at its end.
pub(super) fn without_trail(line: &str) -> &str {
    line.trim_end_matches([' ', '\t'])
}

/// Indentation, content, and white space at the end. A blank line is all end.
pub(super) fn parts(line: &str) -> (&str, &str, &str) {
    let (body, trail) = line.split_at(without_trail(line).len());
    let content = body.trim_start_matches([' ', '\t']);
    (&body[..body.len() - content.len()], content, trail)
}

/// Whether the file already has at `site` what the replacement would make: a request sent twice must not be
/// applied twice just because its old text still resembles its new one.
fn is_applied(search: &Search<'_>, edit: &LineEdit<'_>, site: Site, replacement: &Replacement) -> bool {
    let (text, span, new) = (search.text, &replacement.span, replacement.text.as_str());
    if text[span.clone()] == *new {
        return true;
    }
    if edit.new.len() < edit.old.len() {
        return false;
    }
    let after = text[span.start..].strip_prefix(new);
    let before = text[..span.end].strip_suffix(new);
    if after.is_some_and(|rest| rest.is_empty() || rest.starts_with(['\n', '\r']))
        || before.is_some_and(|rest| rest.is_empty() || rest.ends_with(['\n', '\r']))
    {
        return true;
    }
    let lines = search.lines();
    let end = site.line + edit.old.len();
    // White space that the search looks through says nothing here either, unless it is all that changes.
    let is_white = edit.old.len() == edit.new.len()
        && edit.old.iter().zip(&edit.new).all(|(old, new)| parts(old).1 == parts(new).1);
    let is_new = |first: usize| {
        let here = lines.get(first..first + edit.new.len());
        here.is_some_and(|here| {
            let mut pairs = here.iter().map(|line| line.content(text)).zip(&edit.new);
            pairs.all(|(line, new)| line == *new || !is_white && parts(line).1 == parts(new).1)
        })
    };
    is_new(site.line) || end.checked_sub(edit.new.len()).is_some_and(is_new)
}

/// Turns sites into disjoint replacements.
fn collect(search: &Search<'_>, edit: &LineEdit<'_>, fold: Fold, sites: &[Site], rewrite: &mut Rewrite<'_>) -> Found {
    let mut found = Found::default();
    // A place that matches but cannot take the new text is still one that may have been meant.
    let mut refused = None;
    let mut free_from = 0;
    let mut budget = LINE_BUDGET;
    for site in sites {
        let overlaps = site.line < free_from;
        if overlaps && found.is_ambiguous() {
            continue;
        }
        let Some(left) = budget.checked_sub(edit.old.len() + edit.new.len()) else {
            // Two places are as ambiguous as all of them; but where all or a single one are wanted, what was
            // found so far is no answer.
            let is_ambiguous = !search.wants_all && found.is_ambiguous();
            return if is_ambiguous { found } else { Found::default() };
        };
        budget = left;
        if !is_equal(search, edit, fold, *site) {
            continue;
        }
        let replacement = match rewrite(*site) {
            Ok(replacement) => replacement,
            Err(refusal) => {
                // Of several places the first is named.
                let start = refused.map_or(search.lines()[site.line].start, |(start, _)| start);
                refused = Some(exact::first(refused, start, refusal));
                continue;
            }
        };
        if overlaps {
            found.overlapping = Some(replacement.span.start);
            continue;
        }
        free_from = site.line + edit.old.len();
        found.replacements.push(replacement);
        if found.replacements.len() == search.limit {
            break;
        }
    }
    found.settled(search, refused)
}

/// The hash of each line of the file, folded.
pub(super) fn hashes(search: &Search<'_>, fold: Fold) -> Vec<u64> {
    search.lines().iter().map(|line| hash(&fold(line.content(search.text)))).collect()
}

/// Where the lines of `old` may be, overlapping places too, in linear time: Knuth, Morris and Pratt's search over the
/// hashes of the file's lines under the same folding. Equal hashes are no proof yet.
pub(super) fn sites(
    search: &Search<'_>,
    old: &[&str],
    (fold, hashes): (Fold, &[u64]),
    after_indent: bool,
) -> Vec<Site> {
    let text = search.text;
    let lines = search.lines();
    let pattern: Vec<u64> = old[usize::from(after_indent)..].iter().map(|line| hash(&fold(line))).collect();
    let first = fold(old[0]);
    let is_first = |line: usize| {
        let content = lines[line].content(text);
        let content = if after_indent { content.trim_start_matches([' ', '\t']) } else { content };
        fold(content) == first
    };
    let ends = sequences(hashes.iter().copied(), &pattern);
    ends.filter_map(|end| end.checked_sub(old.len()))
        .filter(|start| is_first(*start))
        .map(|line| Site { line, after_indent })
        .collect()
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

pub(super) fn is_equal(search: &Search<'_>, edit: &LineEdit<'_>, fold: Fold, site: Site) -> bool {
    file_lines(search, edit, site).iter().zip(&edit.old).all(|(file, old)| fold(file) == fold(old))
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

pub(super) fn hash(line: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    line.hash(&mut hasher);
    hasher.finish()
}
