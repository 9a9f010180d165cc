//! Whole lines compared through white space, indentation and typography, one after the other and together, for
//! each way in which the request may have been meant.

use super::{
    applied, block,
    spelling::{self, Spelling},
};
use crate::{
    Replacement, Strategies, Strategy,
    found::{Found, Refusal, StepResult},
    indent_shift::{IndentShift, ShiftError, Surroundings},
    interpretation::{Hunk, Interpretation, LineEdit},
    line_parts::{self, parts},
    near_match, placeholder,
    search::{Fold, FoldedLines, Search, Site},
    typography,
};

/// Similarity from which two lines are versions of one line rather than two different ones.
const REWORDED: f64 = 0.5;

/// The differences that a comparison looks through, besides white space at line ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Tolerance {
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
            (false, false) => Fold::TrailingWhitespace,
            (true, false) => Fold::Indentation,
            (false, true) => Fold::Typography,
            (true, true) => Fold::Content,
        }
    }

    /// Bytes of the indentation that the comparison looks through.
    fn indent_len(self, line: &str) -> usize {
        match (self.indentation, self.typography) {
            (false, _) => 0,
            (true, false) => parts(line).0.len(),
            (true, true) => typography::indent_len(line),
        }
    }

    /// Lines from their first character on that is compared; blank ones as they are.
    fn without_indents<'l>(self, lines: &[&'l str]) -> Vec<&'l str> {
        let bare = |line: &&'l str| Some(&line[self.indent_len(line)..]).filter(|bare| !bare.is_empty());
        lines.iter().map(|line| bare(line).unwrap_or(line)).collect()
    }
}

/// The places of those interpretations that have any, at the strictest comparison; two that differ are none, since
/// nobody can tell which one was meant.
pub(super) fn find(search: &Search<'_>, is_meant: fn(&Interpretation) -> bool) -> StepResult {
    let edits: Vec<(&Interpretation, &LineEdit<'_>)> =
        search.edits(|one| is_meant(one) && may_occur(search, &one.old)).collect();
    let is_plain = search.text.is_ascii() && edits.iter().all(|(_, edit)| edit.old.iter().all(|line| line.is_ascii()));
    let mut refused = None;
    for tolerance in Tolerance::ALL {
        // Nothing to fold on either side.
        if edits.is_empty() || tolerance.typography && is_plain {
            continue;
        }
        let folded = search.folded(tolerance.fold());
        let mut found: Vec<Found> = Vec::new();
        for (meant, edit) in &edits {
            let needs_substance = tolerance != Tolerance::ALL[0] || !meant.by.is_exact();
            if needs_substance && !edit.has_substance() || tolerance.indentation && meant.is_doubtful {
                continue;
            }
            let mut one = at_tolerance(search, edit, tolerance, &folded);
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

fn at_tolerance(search: &Search<'_>, edit: &LineEdit<'_>, tolerance: Tolerance, folded: &FoldedLines<'_>) -> Found {
    let mut by = Strategies::default();
    let mut found = block::find(search, edit, folded, &mut |site| {
        if site.after_indent && tolerance.indentation {
            // A first line without its indentation is a shift here, not a place after it.
            return Err(Refusal::Unclear);
        }
        let replacement = rewritten(site, tolerance)?;
        by = by.with(looked_through(site));
        Ok(replacement)
    });
    if !found.is_empty() {
        found.by = by;
        if let Some(refusal) = refusal_of(search, edit, folded) {
            found = Found::default();
            found.refuse(0, refusal);
        }
    }
    found
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
    let tolerance = Tolerance { indentation: by.has(Strategy::Indentation), typography: by.has(Strategy::Typography) };
    Ok((rewritten(site, tolerance)?, by))
}

fn rewritten(site: Site<'_, '_>, tolerance: Tolerance) -> Result<Replacement, Refusal> {
    let Site { search, edit, .. } = site;
    let pasted = pasted(site);
    if tolerance.typography && (spelling::is_unclear(site) || spelling::has_unusual_ends(edit)) {
        return Err(Refusal::Unclear);
    }
    let file = site.file_lines();
    let shift = if tolerance.indentation { Some(indent_shift(site)?) } else { None };
    let (old, bare) = (tolerance.without_indents(&edit.old), tolerance.without_indents(&file));
    let texts = tolerance.typography.then(|| (typography::joined(&old), typography::joined(&bare)));
    let spelling = texts.as_ref().map(|texts| Spelling::learned((&texts.0, &old), (&texts.1, &bare), search.text));
    block::rewrite(site, &mut |hunk| {
        let [old, file, new] = [hunk.old, hunk.file, hunk.new].map(|lines| tolerance.without_indents(lines));
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
                    let indent = typography::plain_indent(&new[..tolerance.indent_len(new)]);
                    Some(format!("{}{line}", shift.apply(&indent)?))
                }
            }
        });
        lines.collect()
    })
}

/// The differences between the lines of `edit.old` and the file's at `site`.
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
        if wanted == old && (file.is_empty() || near_match::of_starts(old_content, content) >= REWORDED) {
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
