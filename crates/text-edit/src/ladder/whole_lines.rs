//! Whole lines compared through white space, indentation and typography, one after the other and together, for
//! each way in which the request may have been meant.

mod indent;
mod respell;
mod whitespace;

use std::borrow::Cow;

use super::{
    applied,
    block::{self, Fold},
    spelling::Spelling,
};
use crate::{
    Found, Hunk, LineEdit, Outcome, Prepared, Reading, Refusal, Replacement, Site, Strategies, Strategy,
    line_parts::{self, without_trailing_whitespace},
    placeholder, typography,
};

/// What a comparison looks through besides white space at line ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tolerance {
    indentation: bool,
    typography: bool,
}

impl Tolerance {
    /// From strict to tolerant.
    const ALL: [Self; 4] = [
        Self { indentation: false, typography: false },
        Self { indentation: true, typography: false },
        Self { indentation: false, typography: true },
        Self::FULL,
    ];
    /// Both at once.
    const FULL: Self = Self { indentation: true, typography: true };

    fn number(self) -> usize {
        usize::from(self.indentation) + 2 * usize::from(self.typography)
    }

    fn fold(self) -> Fold {
        match (self.indentation, self.typography) {
            (false, false) => |line| Cow::Borrowed(without_trailing_whitespace(line)),
            (true, false) => |line| Cow::Borrowed(line_parts::content(line)),
            (false, true) => typography::fold,
            (true, true) => typography::content,
        }
    }
}

/// The request as it was given.
pub(super) fn as_given(prepared: &Prepared<'_>) -> Outcome {
    find(prepared, |reading| reading.by.is_exact())
}

/// Without a line-number gutter.
pub(super) fn without_gutter(prepared: &Prepared<'_>) -> Outcome {
    find(prepared, |reading| reading.by == Strategy::LineNumbers)
}

/// With escapes resolved, in text with a gutter, too.
pub(super) fn unescaped(prepared: &Prepared<'_>) -> Outcome {
    find(prepared, |reading| reading.by.has(Strategy::Escapes) && !reading.by.has(Strategy::Entities))
}

/// With HTML entities resolved, in text with a gutter or escapes, too.
pub(super) fn without_entities(prepared: &Prepared<'_>) -> Outcome {
    find(prepared, |reading| reading.by.has(Strategy::Entities))
}

/// The places of those readings that have any, at the strictest comparison; two that differ are none, since nobody can
/// tell which one was meant.
fn find(prepared: &Prepared<'_>, is_meant: fn(&Reading) -> bool) -> Outcome {
    let edits: Vec<(&LineEdit<'_>, &Reading)> = prepared
        .readings()
        .iter()
        .filter(|reading| is_meant(reading.text) && may_occur(prepared, &reading.text.old))
        .filter_map(|reading| Some((reading.edit()?, reading.text)))
        .collect();
    let is_plain =
        prepared.text.is_ascii() && edits.iter().all(|(edit, _)| edit.old.iter().all(|line| line.is_ascii()));
    let mut refused = None;
    for tolerance in Tolerance::ALL {
        // Nothing to fold on either side.
        if tolerance.typography && is_plain {
            continue;
        }
        if edits.is_empty() {
            break;
        }
        let hashes = prepared.folded(tolerance.number(), tolerance.fold());
        let mut found: Vec<Found> = Vec::new();
        for (edit, reading) in &edits {
            let is_strict = tolerance == Tolerance::ALL[0];
            let needs_substance = !is_strict || !reading.by.is_exact();
            if needs_substance && !edit.has_substance() || tolerance.indentation && reading.is_doubtful {
                continue;
            }
            let mut one = at_tolerance(prepared, edit, tolerance, &hashes);
            one.by = one.by.with(reading.by);
            if one.by.is_exact() {
                // Nothing differs but a line ending at the end of the file.
                one.by = Strategy::TrailingWhitespace.into();
            }
            if one.refusal.is_some_and(Refusal::is_final) && one.is_empty() {
                return one.into();
            }
            refused = refused.or(one.refusal);
            found.extend(Some(one).filter(|one| !one.is_empty()));
        }
        let Some(first) = found.first() else { continue };
        let agree = found.iter().all(|other| other.replacements == first.replacements);
        return if agree { found.swap_remove(0).into() } else { Outcome::Refused(Refusal::Unclear) };
    }
    refused.map_or(Outcome::None, Outcome::Refused)
}

/// Whether the text has the longest word of `old`, which no comparison looks through: most texts that are absent are
/// found to be so by this.
fn may_occur(prepared: &Prepared<'_>, old: &str) -> bool {
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
    memchr::memmem::find(prepared.text.as_bytes(), longest.as_bytes()).is_some()
}

fn at_tolerance(prepared: &Prepared<'_>, edit: &LineEdit<'_>, tolerance: Tolerance, hashes: &[u64]) -> Found {
    let fold = tolerance.fold();
    let mut by = Strategies::default();
    let mut found = block::find(prepared, edit, (fold, hashes), &mut |site| {
        if site.after_indent && tolerance.indentation {
            // A first line without its indentation is a shift here, not a place after it.
            return Err(Refusal::Unclear);
        }
        let replacement = rewritten(site, tolerance)?;
        by = by.with(looked_through(site));
        Ok(replacement)
    });
    if found.is_empty() {
        return found;
    }
    if let Some(refusal) = refusal_of(prepared, edit, (fold, hashes)) {
        return Found { refusal: Some(refusal), ..Found::default() };
    }
    found.by = by;
    found
}

/// Why an edit is not made although its lines were found under a folding: the file has its new lines already, or it
/// brings in a placeholder for code.
pub(super) fn refusal_of(
    prepared: &Prepared<'_>,
    edit: &LineEdit<'_>,
    (fold, hashes): (Fold, &[u64]),
) -> Option<Refusal> {
    let applied = applied::elsewhere(prepared, edit, (fold, Some(hashes))).map(Refusal::AlreadyApplied);
    applied.or_else(|| placeholder::brought_in(prepared, edit).map(Refusal::Placeholder))
}

/// The replacement at a place that is equal in plain characters and without indentation.
pub(super) fn at(site: Site<'_, '_>) -> Result<(Replacement, Strategies), Refusal> {
    let by = looked_through(site);
    let tolerance = Tolerance { indentation: by.has(Strategy::Indentation), typography: by.has(Strategy::Typography) };
    Ok((rewritten(site, tolerance)?, by))
}

fn rewritten(site: Site<'_, '_>, tolerance: Tolerance) -> Result<Replacement, Refusal> {
    let Site { prepared, edit, .. } = site;
    let pasted = whitespace::pasted(site);
    if tolerance.typography && (respell::has_unclear_spelling(site) || respell::has_unusual_ends(edit)) {
        return Err(Refusal::Unclear);
    }
    let file = site.file_lines();
    match (tolerance.indentation, tolerance.typography) {
        (false, false) => block::rewrite(site, &mut |hunk| Some(whitespace::lines(hunk, pasted))),
        (true, false) => {
            let shift = indent::shift(site)?;
            block::rewrite(site, &mut |hunk| indent::lines(hunk, &shift, pasted))
        }
        (false, true) => {
            let texts = (typography::joined(&edit.old), typography::joined(&file));
            let spelling = Spelling::learned(&texts.0, &texts.1, prepared.text).with_lines(&edit.old, &file);
            block::rewrite(site, &mut |hunk| respell::lines(hunk, &spelling, pasted))
        }
        (true, true) => {
            let shift = indent::shift(site)?;
            let (old, bare) = (without_indents(&edit.old), without_indents(&file));
            let texts = (typography::joined(&old), typography::joined(&bare));
            let spelling = Spelling::learned(&texts.0, &texts.1, prepared.text).with_lines(&old, &bare);
            block::rewrite(site, &mut |hunk| {
                let (old, file, new) =
                    (without_indents(hunk.old), without_indents(hunk.file), without_indents(hunk.new));
                let bare = Hunk { old: &old, file: &file, new: &new };
                let contents = respell::lines(&bare, &spelling, pasted)?;
                let lines = contents.into_iter().zip(hunk.new).map(|(content, new)| {
                    if content.trim_matches([' ', '\t']).is_empty() {
                        return shift.apply_blank(&content);
                    }
                    Some(format!("{}{content}", shift.apply(&typography::indented(new).0)?))
                });
                lines.collect()
            })
        }
    }
}

/// Lines from their first character on that is no white space; blank ones as they are.
fn without_indents<'l>(lines: &[&'l str]) -> Vec<&'l str> {
    let bare = |line: &&'l str| Some(&line[typography::indent_len(line)..]).filter(|bare| !bare.is_empty());
    lines.iter().map(|line| bare(line).unwrap_or(line)).collect()
}

/// What differs between the lines of `edit.old` and the file's at `site`.
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
