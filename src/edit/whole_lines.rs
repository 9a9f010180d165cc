//! Whole lines compared through white space, indentation and typography, one after the other and together, for
//! each way in which the request may have been meant.

use std::borrow::Cow;

use super::{
    Found, Outcome, Refusal, Replacement, Search, applied,
    block::{self, Fold, LineEdit, Site},
    elision, entities, escapes, gutter, indent,
    strategy::{Strategies, Strategy},
    typography, whitespace,
};

/// A way in which the request may have been meant, as texts that end lines with LF only.
pub(super) struct Reading<'r> {
    pub(super) old: Cow<'r, str>,
    pub(super) new: Cow<'r, str>,
    /// What had to be assumed.
    pub(super) by: Strategies,
    /// Whether only a place with the same indentation shows that it was meant so.
    pub(super) is_doubtful: bool,
}

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

    fn fold(self) -> Fold {
        match (self.indentation, self.typography) {
            (false, false) => |line| Cow::Borrowed(block::without_trail(line)),
            (true, false) => |line| Cow::Borrowed(block::parts(line).1),
            (false, true) => typography::fold,
            (true, true) => typography::content,
        }
    }
}

/// The request as it is.
pub(super) fn as_given(search: &Search<'_>) -> Outcome {
    find(search, &[given(search)])
}

/// Without a line-number gutter.
pub(super) fn without_gutter(search: &Search<'_>) -> Outcome {
    find(search, &gutter::readings(&given(search)))
}

/// With escapes resolved.
pub(super) fn unescaped(search: &Search<'_>) -> Outcome {
    find(search, &escapes::readings(&given(search)))
}

/// With HTML entities resolved, in text with a gutter, too.
pub(super) fn without_entities(search: &Search<'_>) -> Outcome {
    let given = given(search);
    let numbered = gutter::readings(&given);
    let readings: Vec<Reading<'_>> = std::iter::once(&given).chain(&numbered).filter_map(entities::reading).collect();
    find(search, &readings)
}

/// Every way in which the request may have been meant, for the steps that look for what is nearly the same.
pub(super) fn readings<'a>(search: &Search<'a>) -> Vec<Reading<'a>> {
    let given = given(search);
    let mut all: Vec<Reading<'a>> = Vec::new();
    let owned = |reading: Reading<'_>| Reading {
        old: Cow::Owned(reading.old.into_owned()),
        new: Cow::Owned(reading.new.into_owned()),
        by: reading.by,
        is_doubtful: reading.is_doubtful,
    };
    let numbered = gutter::readings(&given).into_iter().filter(|reading| !reading.is_doubtful);
    let others = numbered.chain(entities::reading(&given)).map(owned);
    all.extend(others);
    all.insert(0, given);
    all
}

fn given<'a>(search: &Search<'a>) -> Reading<'a> {
    Reading { old: search.canonical_old(), new: search.canonical_new(), by: Strategies::default(), is_doubtful: false }
}

/// The places of those readings that have any, at the strictest comparison; two that differ are none, since nobody can
/// tell which one was meant.
fn find(search: &Search<'_>, readings: &[Reading<'_>]) -> Outcome {
    let edits: Vec<(LineEdit<'_>, &Reading<'_>)> = readings
        .iter()
        .filter(|reading| may_occur(search, &reading.old))
        .filter_map(|reading| Some((LineEdit::new(&reading.old, &reading.new)?, reading)))
        .collect();
    let is_plain = search.text.is_ascii() && edits.iter().all(|(edit, _)| edit.old.iter().all(|line| line.is_ascii()));
    let mut refused = None;
    for tolerance in Tolerance::ALL {
        // Nothing to fold on either side.
        if tolerance.typography && is_plain {
            continue;
        }
        if edits.is_empty() {
            break;
        }
        let hashes = block::hashes(search, tolerance.fold());
        let mut found: Vec<Found> = Vec::new();
        for (edit, reading) in &edits {
            let is_strict = tolerance == Tolerance::ALL[0];
            let needs_substance = !is_strict || !reading.by.is_exact();
            if needs_substance && !edit.has_substance() || tolerance.indentation && reading.is_doubtful {
                continue;
            }
            let mut one = at_tolerance(search, edit, tolerance, &hashes);
            one.by = one.by.and(reading.by);
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

fn at_tolerance(search: &Search<'_>, edit: &LineEdit<'_>, tolerance: Tolerance, hashes: &[u64]) -> Found {
    let fold = tolerance.fold();
    let mut by = Strategies::default();
    let mut found = block::find(search, edit, (fold, hashes), &mut |site| {
        if site.after_indent && tolerance.indentation {
            // A first line without its indentation is a shift here, not a place after it.
            return Err(Refusal::Unclear);
        }
        let replacement = rewritten(search, edit, site, tolerance)?;
        by = by.and(differences(search, edit, site));
        Ok(replacement)
    });
    if found.is_empty() {
        return found;
    }
    if let Some(start) = applied::elsewhere(search, edit, (fold, Some(hashes))) {
        return Found { refusal: Some(Refusal::AlreadyApplied(start)), ..Found::default() };
    }
    if let Some(line) = elision::brought_in(search, edit) {
        return Found { refusal: Some(Refusal::Elided(line)), ..Found::default() };
    }
    found.by = by;
    found
}

/// The replacement at a place that is equal in plain characters and without indentation.
pub(super) fn at(search: &Search<'_>, edit: &LineEdit<'_>, site: Site) -> Result<(Replacement, Strategies), Refusal> {
    let by = differences(search, edit, site);
    let tolerance = Tolerance { indentation: by.has(Strategy::Indentation), typography: by.has(Strategy::Typography) };
    Ok((rewritten(search, edit, site, tolerance)?, by))
}

fn rewritten(
    search: &Search<'_>,
    edit: &LineEdit<'_>,
    site: Site,
    tolerance: Tolerance,
) -> Result<Replacement, Refusal> {
    let noise = whitespace::noise(search, edit, site);
    if tolerance.typography
        && (typography::has_unclear_spelling(search, edit, site) || typography::has_unusual_ends(edit))
    {
        return Err(Refusal::Unclear);
    }
    let file = block::file_lines(search, edit, site);
    match (tolerance.indentation, tolerance.typography) {
        (false, false) => block::rewrite(search, edit, site, &mut |hunk| Some(whitespace::lines(hunk, noise))),
        (true, false) => {
            let shift = indent::shift(search, edit, site)?;
            block::rewrite(search, edit, site, &mut |hunk| indent::lines(hunk, &shift, noise))
        }
        (false, true) => {
            let texts = (typography::joined(&edit.old), typography::joined(&file));
            let spelling = typography::learned(search, (&texts.0, &texts.1), (&edit.old, &file));
            block::rewrite(search, edit, site, &mut |hunk| typography::lines(hunk, &spelling, noise))
        }
        (true, true) => {
            let shift = indent::shift(search, edit, site)?;
            let (old, bare) = (without_indents(&edit.old), without_indents(&file));
            let texts = (typography::joined(&old), typography::joined(&bare));
            let spelling = typography::learned(search, (&texts.0, &texts.1), (&old, &bare));
            block::rewrite(search, edit, site, &mut |hunk| {
                let (old, file, new) =
                    (without_indents(hunk.old), without_indents(hunk.file), without_indents(hunk.new));
                let bare = block::Hunk { old: &old, file: &file, new: &new };
                let contents = typography::lines(&bare, &spelling, noise)?;
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
fn differences(search: &Search<'_>, edit: &LineEdit<'_>, site: Site) -> Strategies {
    let mut by = Strategies::default();
    for (old, file) in edit.old.iter().zip(block::file_lines(search, edit, site)) {
        if *old == file {
            continue;
        }
        let (old_parts, file_parts) = (block::parts(old), block::parts(file));
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
