//! Whole lines: finds and rewrites them for the tolerant steps.
//!
//! Finds the blocks of a file whose lines equal those of `old` under some folding, and rewrites such a block
//! so that only what the request changes is new: a line that `old` and `new` have in common stays the
//! file's own, byte for byte. The look of a changed line is the step's business ([`Adapt`]).

use std::borrow::Cow;

use super::partial_lines;
use crate::{
    Replacement,
    found::{Found, Refusal},
    interpretation::{Hunk, LineEdit},
    keep_line_endings,
    line_parts::{content, hash, sequences},
    search::{Fold, FoldedLines, Search, Site},
};

/// Turns the new lines of a hunk into those to be written; `None` refuses the place.
pub(super) type Adapt<'a> = dyn FnMut(&Hunk<'_>) -> Option<Vec<String>> + 'a;

/// Turns a place into a replacement, or says why it cannot be one.
pub(super) type Rewrite<'a> = dyn FnMut(Site<'_, '_>) -> Result<Replacement, Refusal> + 'a;

/// Lines compared before a search among ever-matching blocks is given up.
const LINE_BUDGET: usize = 1_000_000;

/// Every place where the lines of `edit.old` equal the file's under a folding, each turned into a replacement by
/// `rewrite`.
pub(super) fn find(
    search: &Search<'_>,
    edit: &LineEdit<'_>,
    folded: &FoldedLines<'_>,
    rewrite: &mut Rewrite<'_>,
) -> Found {
    if edit.old.len() > search.lines().len() {
        return Found::default();
    }
    let found = collect(search, folded.fold, &sites(search, edit, folded, false), rewrite);
    // A first line copied from its first character on. Nothing can be deleted from there to a line's end.
    let starts_bare = !edit.old[0].starts_with([' ', '\t']) && !edit.old[0].is_empty();
    if !found.is_empty() || found.refusal().is_some_and(Refusal::is_final) || edit.deletes || !starts_bare {
        return found;
    }
    let found_bare = collect(search, folded.fold, &sites(search, edit, folded, true), rewrite);
    Found { refused: found_bare.refused.or(found.refused), ..found_bare }
}

/// The replacement at `site`, lines that do not change keeping the file's bytes.
pub(super) fn rewrite(site: Site<'_, '_>, adapt: &mut Adapt<'_>) -> Result<Replacement, Refusal> {
    let Site { search, edit, .. } = site;
    let text = search.text;
    let matched = &search.lines()[site.line..site.line + edit.old.len()];
    let file = site.file_lines();
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
            let replaced =
                if old.is_empty() { old.start.checked_sub(1) } else { Some((old.start + index).min(old.end - 1)) };
            let terminator = replaced.map_or("", |replaced| matched[replaced].terminator(text));
            written.push((Cow::Owned(line), terminator));
        }
    }
    let around = keep_line_endings::ending_around(search, matched[0].start);
    let mut result = String::new();
    let count = written.len();
    for (index, (line, terminator)) in written.into_iter().enumerate() {
        result.push_str(&line);
        if index + 1 < count {
            result.push_str(if terminator.is_empty() { around } else { terminator });
        }
    }
    if site.after_indent
        && let Some(refusal) = partial_lines::refusal_at_site(site, &span)
    {
        return Err(refusal);
    }
    let replacement = Replacement { span, text: result };
    if is_applied(site, &replacement) {
        return Err(Refusal::AlreadyApplied(matched[0].start));
    }
    Ok(replacement)
}

/// Whether the file already has at `site` what the replacement would make: a request sent twice must not be
/// applied twice just because its old text still resembles its new one.
fn is_applied(site: Site<'_, '_>, replacement: &Replacement) -> bool {
    let Site { search, edit, .. } = site;
    let (text, span, new) = (search.text, &replacement.span, replacement.text.as_str());
    if text[span.clone()] == *new {
        return true;
    }
    if edit.new.len() < edit.old.len() {
        return false;
    }
    let after = text[span.start..].strip_prefix(new);
    let before = text[..span.end].strip_suffix(new);
    if after.is_some_and(|rest| rest.is_empty() || rest.starts_with('\n') || rest.starts_with("\r\n"))
        || before.is_some_and(|rest| rest.is_empty() || rest.ends_with('\n'))
    {
        return true;
    }
    let lines = search.lines();
    let end = site.line + edit.old.len();
    // White space that the search looks through says nothing here either, unless it is all that changes.
    let is_white = edit.old.len() == edit.new.len()
        && edit.old.iter().zip(&edit.new).all(|(old, new)| content(old) == content(new));
    let is_new = |first: usize| {
        let here = lines.get(first..first + edit.new.len());
        here.is_some_and(|here| {
            let mut pairs = here.iter().map(|line| line.content(text)).zip(&edit.new);
            pairs.all(|(line, new)| line == *new || !is_white && content(line) == content(new))
        })
    };
    is_new(site.line) || end.checked_sub(edit.new.len()).is_some_and(is_new)
}

/// Turns sites into disjoint replacements.
fn collect(search: &Search<'_>, fold: Fold, sites: &[Site<'_, '_>], rewrite: &mut Rewrite<'_>) -> Found {
    let mut found = Found::default();
    let mut free_from = 0;
    let mut budget = LINE_BUDGET;
    for site in sites {
        let overlaps = site.line < free_from;
        if overlaps && found.is_ambiguous() {
            continue;
        }
        let Some(left) = budget.checked_sub(site.edit.old.len() + site.edit.new.len()) else {
            // Two places are as ambiguous as all of them; but where all or a single one are wanted, what was
            // found so far is no answer.
            let is_ambiguous = !search.wants_all && found.is_ambiguous();
            return if is_ambiguous { Found { refused: None, ..found } } else { Found::default() };
        };
        budget = left;
        if !site.is_equal(fold) {
            continue;
        }
        match rewrite(*site) {
            // A place that matches but cannot take the new text is still one that may have been meant.
            Err(refusal) => found.refuse(site.start(), refusal),
            Ok(replacement) if overlaps => found.overlapping = Some(replacement.span.start),
            Ok(replacement) => {
                free_from = site.line + site.edit.old.len();
                found.replacements.push(replacement);
                if found.replacements.len() == search.limit {
                    break;
                }
            }
        }
    }
    found.settled(search.wants_all)
}

/// Where the lines of `edit.old` may be, overlapping places too, in linear time: Knuth, Morris and Pratt's search over
/// the hashes of the file's lines under the same folding.
pub(super) fn sites<'s, 'a>(
    search: &'s Search<'a>,
    edit: &'s LineEdit<'_>,
    FoldedLines { fold, hashes }: &FoldedLines<'_>,
    after_indent: bool,
) -> Vec<Site<'s, 'a>> {
    let old = &edit.old;
    let pattern: Vec<u64> = old[usize::from(after_indent)..].iter().map(|line| hash(&fold.of(line))).collect();
    let first = fold.of(old[0]);
    let is_first = |line: usize| {
        let content = search.line(line);
        let content = if after_indent { content.trim_start_matches([' ', '\t']) } else { content };
        fold.of(content) == first
    };
    let ends = sequences(hashes.iter().copied(), &pattern);
    ends.filter_map(|end| end.checked_sub(old.len()))
        .filter(|start| is_first(*start))
        .map(|line| Site { search, edit, line, after_indent })
        .collect()
}
