//! The indentation of new lines where the old ones are indented differently in the file.
//!
//! Models send spaces for a file's tabs so often that edits of such files fail where a tool wants the exact text
//! (<https://github.com/anthropics/claude-code/issues/9163>, <https://github.com/anthropics/claude-code/issues/18050>).
//!
//! An explanation maps the indentation of every old line to the file's: the same piece more or less in front of each,
//! or spaces for tabs (or tabs for spaces) of one width. The piece wins over a change of characters, and no shift over
//! any; where explanations would write a new line differently, nobody can tell which is meant, and there is none.

use std::collections::HashMap;

use super::line_parts::{TAB_WIDTHS, parts, width};

#[derive(Debug)]
pub(super) struct IndentShift {
    known: HashMap<String, String>,
    rest: Unseen,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Unseen {
    Prefixed(String),
    Stripped(String),
    /// Tabs of this width on one side, spaces on the other, and so many columns more (or less) in the file.
    /// `aligns`: old lines show what becomes of columns between two tabs.
    Columns {
        tab: usize,
        shift: isize,
        to_tabs: bool,
        aligns: bool,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum ShiftError {
    #[error("nothing explains all old lines")]
    NotUniform,
    /// The old lines have explanations, but a new one would have several places, or none.
    #[error("a new line would have several places, or none")]
    Unclear,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct FileIndentation {
    pub(super) tabs: usize,
    /// Lines that start with a space. A single one, as in front of the stars of a comment, aligns and does not count.
    pub(super) spaces: usize,
    /// The commonest step between neighbouring lines indented by spaces, in columns.
    pub(super) step: Option<usize>,
}

impl FileIndentation {
    pub(super) fn of<'l>(lines: impl Iterator<Item = &'l str>) -> Self {
        let (mut tabs, mut spaces) = (0, 0);
        let mut steps = [0_usize; 9];
        let mut before = None;
        for (indent, content, _) in lines.map(parts) {
            tabs += usize::from(indent.starts_with('\t'));
            spaces += usize::from(indent.starts_with(' ') && indent != " ");
            if content.is_empty() || indent.contains('\t') {
                continue;
            }
            let step = indent.len().abs_diff(before.unwrap_or(indent.len()));
            before = Some(indent.len());
            if let Some(count) = steps.get_mut(step) {
                *count += 1;
            }
        }
        let step = (1..steps.len()).max_by_key(|step| steps[*step]).filter(|step| steps[*step] > 0);
        Self { tabs, spaces, step }
    }
}

pub(super) struct Surroundings<'f> {
    pub(super) indentation: FileIndentation,
    pub(super) occurs: &'f dyn Fn(&str) -> bool,
}

impl IndentShift {
    /// The shift shown by `pairs` of indentations (in `old`, in the file), able to place all of `wanted`.
    pub(super) fn of(pairs: &[(&str, &str)], wanted: &[&str], file: &Surroundings<'_>) -> Result<Self, ShiftError> {
        let mut known = HashMap::new();
        for (old, file) in pairs {
            if known.insert((*old).to_owned(), (*file).to_owned()).is_some_and(|earlier| earlier != **file) {
                return Err(ShiftError::NotUniform);
            }
        }
        let unseen: Vec<&str> = wanted.iter().copied().filter(|indent| !known.contains_key(*indent)).collect();
        let Some(rest) = prefix(pairs) else {
            return Ok(Self { known, rest: columns(pairs, &unseen, file)? });
        };
        let shift = Self { known, rest };
        // Where nothing is shifted, new lines keep their indentation.
        if pairs.iter().any(|(old, file)| old != file) {
            let written = unseen.iter().map(|indent| shift.apply(indent)).collect::<Option<Vec<String>>>();
            let written = written.ok_or(ShiftError::Unclear)?;
            if !shift.is_plausible(&written, file) || !speaks_alike(pairs, &written, file) {
                return Err(ShiftError::Unclear);
            }
        }
        Ok(shift)
    }

    /// With a single level, a shift differs from another step between levels (two columns for the file's four) only in
    /// the result, which is on the file's levels.
    fn is_plausible(&self, written: &[String], surroundings: &Surroundings<'_>) -> bool {
        let mut known = self.known.iter();
        let (Some((old, file)), None, false) = (known.next(), known.next(), written.is_empty()) else { return true };
        if written.iter().any(|indent| indent.contains('\t')) || file.contains('\t') || old.contains('\t') {
            return true;
        }
        let step = surroundings.indentation.step.filter(|step| file.len().is_multiple_of(*step));
        let Some(step) = step else { return true };
        old.len().abs_diff(file.len()).is_multiple_of(step)
            && written.iter().all(|indent| indent.len().is_multiple_of(step))
    }

    /// The file's form of a new line of nothing but white space; `None` where nobody can tell whether it was shifted.
    pub(super) fn apply_blank(&self, white: &str) -> Option<String> {
        let is_shifted = || self.known.iter().any(|(old, file)| old != file);
        match self.rest {
            _ if white.is_empty() => Some(String::new()),
            Unseen::Columns { .. } => self.apply(white),
            _ => (!is_shifted()).then(|| white.to_owned()),
        }
    }

    pub(super) fn apply(&self, indent: &str) -> Option<String> {
        if let Some(known) = self.known.get(indent) {
            return Some(known.clone());
        }
        match &self.rest {
            Unseen::Prefixed(more) => Some(format!("{more}{indent}")),
            Unseen::Stripped(less) => indent.strip_prefix(less.as_str()).map(str::to_owned),
            Unseen::Columns { tab, shift, to_tabs, aligns } => {
                let columns = width(indent, *tab).checked_add_signed(*shift)?;
                (!to_tabs || *aligns || columns.is_multiple_of(*tab)).then(|| in_columns(columns, *tab, *to_tabs))
            }
        }
    }
}

fn in_columns(columns: usize, tab: usize, to_tabs: bool) -> String {
    let tabs = if to_tabs { columns / tab } else { 0 };
    format!("{}{}", "\t".repeat(tabs), " ".repeat(columns - tabs * tab))
}

fn prefix(pairs: &[(&str, &str)]) -> Option<Unseen> {
    let (old, file) = pairs.first()?;
    if let Some(more) = file.strip_suffix(old) {
        let holds = pairs.iter().all(|(old, file)| file.strip_prefix(more) == Some(old));
        return holds.then(|| Unseen::Prefixed(more.to_owned()));
    }
    let less = old.strip_suffix(file)?;
    let holds = pairs.iter().all(|(old, file)| old.strip_prefix(less) == Some(file));
    holds.then(|| Unseen::Stripped(less.to_owned()))
}

/// Which characters indentations are made of: tabs, spaces.
fn kinds<'a>(indents: impl Iterator<Item = &'a str>) -> (bool, bool) {
    indents
        .fold((false, false), |(tabs, spaces), indent| (tabs || indent.contains('\t'), spaces || indent.contains(' ')))
}

const fn is_within(part: (bool, bool), whole: (bool, bool)) -> bool {
    (!part.0 || whole.0) && (!part.1 || whole.1)
}

/// Whether request and file use the same characters, as far as the old lines show it; else new lines in other ones than
/// the file's may have been meant as the file's own, and only such an indentation is sure that the file has as well.
fn speaks_alike(pairs: &[(&str, &str)], written: &[String], surroundings: &Surroundings<'_>) -> bool {
    if written.is_empty() {
        return true;
    }
    let old = kinds(pairs.iter().map(|(old, _)| *old));
    let shown = kinds(pairs.iter().map(|(_, file)| *file));
    let indentation = surroundings.indentation;
    let usual = (shown.0 || indentation.tabs >= indentation.spaces, shown.1 || indentation.spaces >= indentation.tabs);
    if old != (false, false) && is_within(old, usual) {
        return true;
    }
    written.iter().all(|indent| {
        is_within(kinds(std::iter::once(indent.as_str())), usual)
            || shown == (false, false) && (surroundings.occurs)(indent)
    })
}

/// Tabs on one side and spaces on the other: the tab width and the shift that explain every pair and give every
/// unseen indentation one form.
fn columns(pairs: &[(&str, &str)], unseen: &[&str], surroundings: &Surroundings<'_>) -> Result<Unseen, ShiftError> {
    let (old, file) = (kinds(pairs.iter().map(|(old, _)| *old)), kinds(pairs.iter().map(|(_, file)| *file)));
    let to_tabs = match (old.0, file.0) {
        (false, true) => true,
        (true, false) => false,
        _ => return Err(ShiftError::NotUniform),
    };
    let step = if to_tabs {
        smallest_step(pairs.iter().map(|(old, _)| *old).chain(unseen.iter().copied()))
    } else {
        surroundings.indentation.step
    };
    let candidates: Vec<Unseen> = TAB_WIDTHS.into_iter().filter_map(|tab| explanation(pairs, tab, to_tabs)).collect();
    if candidates.is_empty() {
        return Err(ShiftError::NotUniform);
    }
    let written = |rest: Unseen| -> Option<(Unseen, Vec<String>)> {
        let this = IndentShift { known: HashMap::new(), rest: rest.clone() };
        // Spaces after tabs that no tab width explains say nothing about other lines.
        let is_sure = unseen.is_empty() || pairs.iter().all(|(old, file)| this.apply(old).as_deref() == Some(*file));
        let written = unseen.iter().map(|indent| this.apply(indent)).collect::<Option<Vec<String>>>()?;
        is_sure.then_some((rest, written))
    };
    // Four levels of three columns may be three of four, unless the step from level to level is three.
    let is_usual = |tab: usize| tab != 3 || step == Some(3);
    let is_unshifted = |rest: &Unseen| matches!(rest, Unseen::Columns { shift: 0, tab, .. } if is_usual(*tab));
    let has_unshifted = candidates.iter().any(is_unshifted);
    let explanations: Vec<(Unseen, Vec<String>)> = candidates.into_iter().filter_map(written).collect();
    // No shift wins over any, also where it cannot place the new lines.
    let mut winners = explanations.iter().filter(|(rest, _)| is_unshifted(rest) || !has_unshifted);
    let (rest, text) = winners.next().ok_or(ShiftError::Unclear)?;
    if winners.any(|(_, other)| other != text) {
        return Err(ShiftError::Unclear);
    }
    // But where the step from level to level is that of another explanation, nobody can tell.
    let is_step = |rest: &Unseen| matches!(rest, Unseen::Columns { tab, .. } if Some(*tab) == step);
    let has_rival = !is_step(rest) && explanations.iter().any(|(other, written)| is_step(other) && written != text);
    if has_rival { Err(ShiftError::Unclear) } else { Ok(rest.clone()) }
}

/// Tabs of the width `tab` as an explanation of every pair, in columns.
fn explanation(pairs: &[(&str, &str)], tab: usize, to_tabs: bool) -> Option<Unseen> {
    let difference = |(old, file): &(&str, &str)| width(file, tab).cast_signed() - width(old, tab).cast_signed();
    let shift = difference(pairs.first()?);
    let is_uniform = pairs.iter().all(|pair| difference(pair) == shift);
    // After spaces a tab fills fewer columns than its width.
    let is_clean = |indent: &str| !indent.trim_start_matches('\t').contains('\t');
    let are_clean = pairs.iter().all(|(old, file)| is_clean(old) && is_clean(file));
    let aligns = pairs.iter().any(|(_, file)| to_tabs && file.contains(' '));
    // A shift is one by whole levels.
    let is_whole = shift.unsigned_abs().is_multiple_of(tab);
    (is_uniform && is_whole && are_clean).then_some(Unseen::Columns { tab, shift, to_tabs, aligns })
}

/// The smallest difference between two levels of indentation by spaces.
fn smallest_step<'a>(indents: impl Iterator<Item = &'a str>) -> Option<usize> {
    let mut widths: Vec<usize> = indents.map(str::len).collect();
    widths.sort_unstable();
    widths.dedup();
    widths.windows(2).map(|pair| pair[1] - pair[0]).min()
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn file(tabs: usize, spaces: usize, step: Option<usize>) -> Surroundings<'static> {
        Surroundings { indentation: FileIndentation { tabs, spaces, step }, occurs: &|_| false }
    }

    const TAB_FILE: Surroundings<'_> = file(9, 0, None);
    const SPACE_FILE: Surroundings<'_> = file(0, 9, Some(4));

    fn shifted(pairs: &[(&str, &str)], wanted: &str, file: &Surroundings<'_>) -> Result<String, ShiftError> {
        IndentShift::of(pairs, &[wanted], file).map(|shift| shift.apply(wanted).unwrap())
    }

    #[test]
    fn a_common_piece_in_front_moves_unseen_levels_alike() {
        assert_eq!(shifted(&[("", "    "), ("    ", "        ")], "        ", &SPACE_FILE).unwrap(), "            ");
        assert_eq!(shifted(&[("\t", "\t\t")], "\t\t", &TAB_FILE).unwrap(), "\t\t\t");
        assert_eq!(shifted(&[("    ", "")], "        ", &SPACE_FILE).unwrap(), "    ");
    }

    #[test]
    fn spaces_of_a_makefile_stay_spaces_where_a_piece_in_front_explains_all() {
        let makefile = Surroundings { occurs: &|indent| indent == "        ", ..file(9, 2, None) };
        assert_eq!(shifted(&[("    ", "")], "            ", &makefile).unwrap(), "        ");
        assert_eq!(shifted(&[("", "\t"), ("    ", "\t    ")], "        ", &makefile).unwrap(), "\t        ");
        assert_eq!(shifted(&[("    ", ""), ("            ", "        ")], "        ", &TAB_FILE).unwrap(), "    ");
    }

    #[test]
    fn characters_that_neither_the_old_lines_nor_the_file_show_are_unclear() {
        assert_eq!(shifted(&[("", "\t\t")], "    ", &TAB_FILE), Err(ShiftError::Unclear));
        assert_eq!(shifted(&[("    ", "")], "        ", &TAB_FILE), Err(ShiftError::Unclear));
        assert_eq!(shifted(&[("", "    ")], "\t", &SPACE_FILE), Err(ShiftError::Unclear));
        assert_eq!(shifted(&[("\t", "")], "\t\t", &SPACE_FILE), Err(ShiftError::Unclear));
    }

    #[test]
    fn the_unshifted_explanation_wins() {
        assert_eq!(shifted(&[("    ", "\t")], "        ", &TAB_FILE).unwrap(), "\t\t");
        assert_eq!(shifted(&[("        ", "\t")], "                ", &TAB_FILE).unwrap(), "\t\t");
        assert_eq!(shifted(&[("  ", "\t"), ("    ", "\t\t")], "      ", &TAB_FILE).unwrap(), "\t\t\t");
        assert_eq!(shifted(&[("\t", "    ")], "\t\t", &SPACE_FILE).unwrap(), "        ");
        assert_eq!(shifted(&[("\t\t", "        ")], "\t", &SPACE_FILE).unwrap(), "    ");
    }

    #[test]
    fn a_width_that_the_levels_contradict_is_unclear() {
        assert_eq!(shifted(&[("    ", "\t\t")], "        ", &TAB_FILE), Err(ShiftError::Unclear));
        assert_eq!(shifted(&[("\t", "        ")], "\t\t", &SPACE_FILE), Err(ShiftError::Unclear));
        assert_eq!(shifted(&[("\t", "      ")], "\t\t", &SPACE_FILE), Err(ShiftError::Unclear));
        // A tab of two columns and one level less would put it at the start of the line.
        assert_eq!(shifted(&[("    ", "\t")], "  ", &TAB_FILE), Err(ShiftError::Unclear));
        assert_eq!(shifted(&[("        ", "\t")], "            ", &TAB_FILE), Err(ShiftError::Unclear));
    }

    #[test]
    fn three_columns_are_a_tab_only_where_the_levels_show_it() {
        assert_eq!(shifted(&[("\t\t\t\t", "            ")], "\t", &file(0, 9, Some(12))), Err(ShiftError::Unclear));
        assert_eq!(shifted(&[("\t\t\t\t", "            ")], "\t", &file(0, 9, Some(3))).unwrap(), "   ");
    }

    #[test]
    fn several_levels_tell_width_and_shift() {
        assert_eq!(shifted(&[("", "\t"), ("    ", "\t\t")], "        ", &TAB_FILE).unwrap(), "\t\t\t");
        assert_eq!(shifted(&[("", "    "), ("\t", "        ")], "\t\t", &SPACE_FILE).unwrap(), "            ");
    }

    #[test]
    fn an_indentation_between_the_levels_is_unclear() {
        assert_eq!(shifted(&[("    ", "\t"), ("        ", "\t\t")], "      ", &TAB_FILE), Err(ShiftError::Unclear));
        assert_eq!(shifted(&[("    ", "\t"), ("      ", "\t  ")], "          ", &TAB_FILE).unwrap(), "\t\t  ");
    }

    #[test]
    fn a_stray_column_is_not_a_shift() {
        for (old, file) in [("     ", "\t"), ("\t", "     "), (" ", "\t"), ("       ", "\t\t")] {
            let pairs = [(old, file), (&format!("{old}{old}"), "\t\t\t\t\t")];
            assert_eq!(shifted(&pairs, "x", &TAB_FILE), Err(ShiftError::NotUniform), "{old:?} {file:?}");
        }
        assert_eq!(shifted(&[("", "  "), ("  ", "      ")], "", &SPACE_FILE), Err(ShiftError::NotUniform));
    }

    #[test]
    fn one_level_shows_no_shift_that_leaves_the_levels_of_the_file() {
        assert_eq!(shifted(&[("      ", "    ")], "          ", &SPACE_FILE), Err(ShiftError::Unclear));
    }

    #[test]
    fn white_space_alone_is_shifted_where_that_is_sure() {
        let blank = |pairs: &[(&str, &str)], white: &str, file: &Surroundings<'_>| {
            IndentShift::of(pairs, &[], file).unwrap().apply_blank(white)
        };
        assert_eq!(blank(&[("    ", "\t")], "        ", &TAB_FILE).unwrap(), "\t\t");
        assert_eq!(blank(&[("\t", "    ")], "\t", &SPACE_FILE).unwrap(), "    ");
        assert_eq!(blank(&[("", "    ")], "", &SPACE_FILE).unwrap(), "");
        assert_eq!(blank(&[("", "    ")], "  ", &SPACE_FILE), None);
        assert_eq!(blank(&[("", "")], "  ", &SPACE_FILE).unwrap(), "  ");
    }

    #[test]
    fn lines_that_are_not_shifted_stay_where_they_are() {
        assert_eq!(shifted(&[("", ""), (" ", " ")], "\t", &SPACE_FILE).unwrap(), "\t");
    }
}
