//! Whole lines compared through white space, indentation and typography, one after the other and together, for
//! each way in which the request may have been meant.
//!
//! Finds the blocks of a file whose lines equal those of `old` under some folding, and rewrites such a block so that only
//! what the request changes is new: a line that `old` and `new` have in common stays the file's own, byte for byte.

use super::applied;
use super::exact::{line_loses_indent, loses_indent};
use super::spelling::{self, Spelling};
use crate::found::{Found, Refusal, StepResult};
use crate::indent_shift::{IndentShift, ShiftError, Surroundings};
use crate::interpretation::{Hunk, Interpretation, LineEdit};
use crate::keep_line_endings::{ending_after, ending_before};
use crate::line_parts::{self, content, parts};
use crate::search::{Fold, FoldedLines, Search, Site};
use crate::{Replacement, Strategies, Strategy, near_match, placeholder, typography};

/// Similarity from which two lines are versions of one line rather than two different ones.
const REWORDED_RATIO: f64 = 0.5;

/// Lines compared before a search among ever-matching blocks is given up.
const LINE_BUDGET: usize = 1_000_000;

const LINE_FOLDS: [Fold; 4] = [Fold::TrailingWhitespace, Fold::Indentation, Fold::Typography, Fold::Content];

/// The places of those interpretations that have any, at the strictest comparison; two that differ are none, since
/// nobody can tell which one was meant.
pub(super) fn find(search: &Search<'_>, is_meant: fn(&Interpretation) -> bool) -> StepResult {
    let edits: Vec<(&Interpretation, &LineEdit<'_>)> =
        search.edits(|one| is_meant(one) && may_occur(search, &one.old)).collect();
    let is_plain = search.text.is_ascii() && edits.iter().all(|(_, edit)| edit.old.iter().all(|line| line.is_ascii()));
    let mut refused = None;
    for fold in LINE_FOLDS {
        // Nothing to fold on either side.
        if edits.is_empty() || fold.ignores_typography() && is_plain {
            continue;
        }
        let folded = search.folded(fold);
        let mut found: Vec<Found> = Vec::new();
        for (meant, edit) in &edits {
            let needs_substance = fold != LINE_FOLDS[0] || !meant.by.is_exact();
            // Of little text the indentation in other characters is enough.
            let is_short = !(edit.has_substance() || fold == Fold::Indentation && meant.by.is_exact());
            if needs_substance && is_short || fold.ignores_indentation() && meant.is_doubtful {
                continue;
            }
            let mut one = under_fold(search, edit, &folded);
            one.by = one.by.with(meant.by);
            if one.by.is_exact() {
                // Nothing differs but a line ending at the end of the file.
                one.by = Strategy::TrailingWhitespace.into();
            }
            if one.is_empty() && one.refusal().is_some_and(Refusal::is_final) {
                return one.result();
            }
            refused = refused.or(one.refusal());
            found.extend(Some(one).filter(|one| !one.is_empty()));
        }
        let Some(first) = found.first() else { continue };
        let agree = found.iter().all(|other| other.replacements == first.replacements);
        return if agree { found.swap_remove(0).result() } else { Err(Refusal::Unclear) };
    }
    refused.map_or(Ok(None), Err)
}

/// Whether the text has the longest word of `old`, which no comparison looks through: most texts that are absent are
/// found to be so by this.
fn may_occur(search: &Search<'_>, old: &str) -> bool {
    let (mut longest, mut start) = ("", 0);
    for (at, one) in old.char_indices().chain([(old.len(), ' ')]) {
        if one.is_ascii_alphanumeric() {
            continue;
        }
        // A letter in front of another than ASCII may compose with it.
        let end = if one.is_ascii() { at } else { at.saturating_sub(1).max(start) };
        if end - start > longest.len() {
            longest = &old[start..end];
        }
        start = at + one.len_utf8().min(old.len() - at);
    }
    memchr::memmem::find(search.text.as_bytes(), longest.as_bytes()).is_some()
}

/// Every place where the lines of `edit.old` equal the file's under a folding, each with its replacement.
fn under_fold(search: &Search<'_>, edit: &LineEdit<'_>, folded: &FoldedLines<'_>) -> Found {
    if edit.old.len() > search.lines().len() {
        return Found::default();
    }
    let mut sites = search.sites(edit, folded, false);
    let is_short = folded.fold == Fold::Indentation && !edit.has_substance();
    sites.retain(|site| !is_short || site.is_retabbed());
    let mut found = collect(search, folded.fold, &sites);
    // A first line copied from its first character on. Nothing can be deleted from there to a line's end.
    let starts_bare = !edit.old[0].starts_with([' ', '\t']) && !edit.old[0].is_empty();
    if found.is_empty() && !found.refusal().is_some_and(Refusal::is_final) && !edit.deletes && starts_bare && !is_short
    {
        let bare = collect(search, folded.fold, &search.sites(edit, folded, true));
        found = Found { refused: bare.refused.or(found.refused), ..bare };
    }
    if !found.is_empty()
        && let Some(refusal) = refusal_of(search, edit, folded)
    {
        found = Found::default();
        found.refuse(0, refusal);
    }
    found
}

fn collect(search: &Search<'_>, fold: Fold, sites: &[Site<'_, '_>]) -> Found {
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
        // A first line without its indentation is a shift where that is looked through, not a place after it.
        let is_shift = fold.ignores_indentation() && site.after_indent;
        let replaced = if is_shift { Err(Refusal::Unclear) } else { rewritten(*site, fold) };
        if replaced.is_ok() {
            found.by = found.by.with(looked_through(*site));
        }
        match replaced {
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

/// Why an edit is not made although its lines were found under a folding: the file has its new lines already, or it
/// brings in a placeholder for code.
pub(super) fn refusal_of(search: &Search<'_>, edit: &LineEdit<'_>, folded: &FoldedLines<'_>) -> Option<Refusal> {
    let applied = applied::elsewhere(search, edit, folded).map(Refusal::AlreadyApplied);
    applied.or_else(|| placeholder::brought_in(search, edit).map(Refusal::Placeholder))
}

/// The replacement at a place that is equal in plain characters and without indentation.
pub(super) fn at(site: Site<'_, '_>) -> Result<(Replacement, Strategies), Refusal> {
    let by = looked_through(site);
    let fold = match (by.has(Strategy::Indentation), by.has(Strategy::Typography)) {
        (false, false) => Fold::TrailingWhitespace,
        (true, false) => Fold::Indentation,
        (false, true) => Fold::Typography,
        (true, true) => Fold::Content,
    };
    Ok((rewritten(site, fold)?, by))
}

/// The replacement at `site`, found under `fold`: new lines are written as the file has the old ones.
fn rewritten(site: Site<'_, '_>, fold: Fold) -> Result<Replacement, Refusal> {
    let Site { search, edit, .. } = site;
    let pasted = pasted(site);
    if fold.ignores_typography() && (spelling::is_unclear(site) || spelling::has_unusual_ends(edit)) {
        return Err(Refusal::Unclear);
    }
    let file = site.file_lines();
    let shift = if fold.ignores_indentation() { Some(indent_shift(site)?) } else { None };
    let (old, bare) = (without_indents(fold, &edit.old), without_indents(fold, &file));
    let texts = fold.ignores_typography().then(|| (typography::joined(&old), typography::joined(&bare)));
    let spelling = texts.as_ref().map(|texts| Spelling::learned((&texts.0, &old), (&texts.1, &bare), search.text));
    spliced(site, |hunk| {
        let [old, file, new] = [hunk.old, hunk.file, hunk.new].map(|lines| without_indents(fold, lines));
        let bare = Hunk { old: &old, file: &file, new: &new };
        let bodies = match &spelling {
            Some(spelling) => spelling::respelled(&bare, spelling)?,
            None => new.iter().map(|line| line_parts::without_trailing_whitespace(line).to_owned()).collect(),
        };
        let lines = bodies.into_iter().zip(hunk.new).enumerate().map(|(index, (body, new))| {
            let line = body + trailing(&bare, index, pasted);
            match &shift {
                None => Some(line),
                Some(shift) if line.trim_matches([' ', '\t']).is_empty() => shift.apply_blank(&line),
                Some(shift) => {
                    let indent = typography::plain_indent(&new[..indent_len(fold, new)]);
                    Some(format!("{}{line}", shift.apply(&indent)?))
                }
            }
        });
        lines.collect()
    })
}

/// Bytes of the indentation that a folding looks through.
fn indent_len(fold: Fold, line: &str) -> usize {
    match fold {
        Fold::Indentation => parts(line).0.len(),
        Fold::Content => typography::indent_len(line),
        Fold::AsGiven | Fold::TrailingWhitespace | Fold::Typography => 0,
    }
}

/// Lines from their first character on that is compared; blank ones as they are.
fn without_indents<'l>(fold: Fold, lines: &[&'l str]) -> Vec<&'l str> {
    let bare = |line: &&'l str| Some(&line[indent_len(fold, line)..]).filter(|bare| !bare.is_empty());
    lines.iter().map(|line| bare(line).unwrap_or(line)).collect()
}

/// The replacement at `site`, lines that do not change keeping the file's bytes. `adapt` makes the lines to be written of
/// the new ones of a hunk; `None` refuses the place.
fn spliced(site: Site<'_, '_>, adapt: impl Fn(&Hunk<'_>) -> Option<Vec<String>>) -> Result<Replacement, Refusal> {
    let Site { search, edit, .. } = site;
    let text = search.text;
    let matched = &search.lines()[site.line..site.line + edit.old.len()];
    let file = site.file_lines();
    let last = matched.len() - 1;
    let start = matched[0].end - file[0].len();
    let span = start..if edit.deletes { matched[last].next } else { matched[last].end };
    let first = matched[0].start;
    let around = ending_after(text, first).or_else(|| ending_before(text, first)).unwrap_or("\n");
    let (mut result, mut last_ending) = (String::new(), "");
    let mut write = |line: &str, ending: &'static str| {
        result.push_str(line);
        result.push_str(ending);
        last_ending = ending;
    };
    // A last line that nothing ends gets an ending where others follow it.
    let ending = |line: usize| match matched[line].terminator(text) {
        "" => around,
        "\n" => "\n",
        _ => "\r\n",
    };
    for (is_kept, old, new) in edit.changes() {
        if is_kept {
            old.for_each(|index| write(file[index], ending(index)));
            continue;
        }
        let hunk = Hunk { old: &edit.old[old.clone()], file: &file[old.clone()], new: &edit.new[new] };
        for (index, line) in adapt(&hunk).ok_or(Refusal::Unclear)?.iter().enumerate() {
            // The ending of the line it replaces, else of the one before it.
            let replaced =
                if old.is_empty() { old.start.checked_sub(1) } else { Some((old.start + index).min(old.end - 1)) };
            write(line, replaced.map_or(around, ending));
        }
    }
    result.truncate(result.len() - last_ending.len());
    if site.after_indent
        && let Some(refusal) = loses_indent(search, &span).or_else(|| line_loses_indent(site))
    {
        return Err(refusal);
    }
    let replacement = Replacement { span, text: result };
    if is_applied(site, &replacement) { Err(Refusal::AlreadyApplied(matched[0].start)) } else { Ok(replacement) }
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

fn looked_through(site: Site<'_, '_>) -> Strategies {
    let mut by = Strategies::default();
    for (old, file) in site.edit.old.iter().zip(site.file_lines()) {
        if *old == file {
            continue;
        }
        let (old_parts, file_parts) = (line_parts::parts(old), line_parts::parts(file));
        if old_parts.2 != file_parts.2 {
            by = by.with(Strategy::TrailingWhitespace);
        }
        if old_parts.1 != file_parts.1 {
            by = by.with(Strategy::Typography);
        }
        if !old_parts.1.is_empty() && typography::indented(old).0 != typography::indented(file).0 {
            by = by.with(Strategy::Indentation);
        }
    }
    by
}

/// The shift from `edit.old` to the file's lines at `site`, able to place all new lines.
fn indent_shift(site: Site<'_, '_>) -> Result<IndentShift, Refusal> {
    let Site { search, edit, .. } = site;
    let file = site.file_lines();
    let mut pairs = Vec::with_capacity(file.len());
    for (old, file) in edit.old.iter().zip(&file) {
        let (old_indent, old) = typography::indented(old);
        let (file_indent, file_content, _) = parts(file);
        if old.is_empty() || typography::content(old) != typography::content(file_content) {
            continue;
        }
        // Indentation by unusual spaces is none that new lines could take on.
        if !typography::indented(file_content).0.is_empty() {
            return Err(Refusal::Unclear);
        }
        pairs.push((old_indent, file_indent));
    }
    // Lines that do not change need no indentation.
    let changed = edit.changes().filter(|(is_kept, ..)| !is_kept).flat_map(|(.., new)| &edit.new[new]);
    let wanted = changed.map(|line| typography::indented(line)).filter(|(_, content)| !content.is_empty());
    let wanted: Vec<_> = wanted.map(|(indent, _)| indent).collect();
    let pairs: Vec<(&str, &str)> = pairs.iter().map(|(old, file)| (old.as_ref(), *file)).collect();
    // A single line without its indentation may be one that was copied from its first character on; then the others
    // may have theirs.
    let is_bare = matches!(pairs.as_slice(), [("", file)] if !file.is_empty());
    if is_bare && edit.new.iter().filter(|line| !line.trim().is_empty()).nth(1).is_some() {
        return Err(Refusal::Indentation(site.start()));
    }
    let wanted: Vec<&str> = wanted.iter().map(AsRef::as_ref).collect();
    let occurs =
        |indent: &str| search.contents().map(parts).any(|(own, content, _)| own == indent && !content.is_empty());
    let file = Surroundings { indentation: search.indentation(), occurs: &occurs };
    IndentShift::of(&pairs, &wanted, &file).map_err(|reason| match reason {
        ShiftError::NotUniform => Refusal::Unclear,
        ShiftError::Unclear => Refusal::Indentation(site.start()),
    })
}

/// White space at the end of the `index`th new line of a hunk: the file's, where the request leaves the end of
/// a line alone that it otherwise rewords, or only repeats white space that the file lacks; else what the request
/// says, without `pasted`.
pub(super) fn trailing<'h>(hunk: &Hunk<'h>, index: usize, pasted: Option<&str>) -> &'h str {
    let (_, content, wanted) = parts(hunk.new[index]);
    if hunk.old.len() == hunk.new.len() {
        let (_, old_content, old) = parts(hunk.old[index]);
        let (_, _, file) = parts(hunk.file[index]);
        if wanted == old && (file.is_empty() || near_match::of_starts(old_content, content) >= REWORDED_RATIO) {
            return file;
        }
    }
    pasted.and_then(|pasted| wanted.strip_suffix(pasted)).unwrap_or(wanted)
}

/// White space that every line of `old` has at its end beyond what the file has there, or instead of it: an artefact
/// of how the text was copied, which new lines should not bring in.
fn pasted<'s>(site: Site<'s, '_>) -> Option<&'s str> {
    let file = site.file_lines();
    let pairs = site.edit.old.iter().zip(&file).map(|(old, file)| (parts(old), parts(file)));
    let pairs: Vec<_> = pairs.filter(|(old, _)| !old.1.is_empty()).map(|(old, file)| (old.2, file.2)).collect();
    let same = |end: &dyn Fn(&(&'s str, &str)) -> Option<&'s str>| {
        let first = end(pairs.first()?)?;
        (!first.is_empty() && pairs.iter().all(|pair| end(pair) == Some(first))).then_some(first)
    };
    // Or in place of the file's own, where some lines have that.
    let is_alike = pairs.iter().all(|(old, file)| old == file);
    same(&|(old, file)| old.strip_prefix(*file)).or_else(|| same(&|(old, _)| Some(old)).filter(|_| !is_alike))
}

#[cfg(test)]
mod tests;
