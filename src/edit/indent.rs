//! The fourth step: the same lines, all indented by the same amount more or less.
//!
//! New lines are shifted by that amount and written in the file's own tabs or spaces. Where the amount
//! cannot be told for certain there is no match.

use std::{borrow::Cow, collections::HashMap, ops::Range};

use super::{
    Found, Search,
    block::{self, LineEdit, Site},
    line_endings, whitespace,
};

/// Widths of a tab that people use, in columns.
const TAB_WIDTHS: [usize; 4] = [4, 8, 2, 3];

/// Every block of whole lines equal to `old` but for a uniform shift of the indentation.
pub(super) fn find(search: &Search<'_>) -> Found {
    let (old, new) = (line_endings::canonical(search.old), line_endings::canonical(search.new));
    let Some(edit) = LineEdit::new(&old, &new).filter(LineEdit::has_substance) else { return Found::default() };
    if search.bare_line.get().is_some() {
        return Found::default();
    }
    // A first line without its indentation is a shift here, not a place after it.
    block::find(search, &edit, |line| Cow::Borrowed(block::parts(line).1), &mut |site| {
        if site.after_indent {
            return None;
        }
        let shift = Shift::new(search, &edit, site)?;
        let noise = whitespace::noise(search, &edit, site);
        block::rewrite(search, &edit, site, &mut |hunk| {
            let line = |(index, new): (usize, &&str)| {
                let (indent, content, _) = block::parts(new);
                let trail = whitespace::trail(hunk, index, noise);
                if content.is_empty() {
                    Some(trail.to_owned())
                } else {
                    Some(format!("{}{content}{trail}", shift.apply(indent)?))
                }
            };
            hunk.new.iter().enumerate().map(line).collect()
        })
    })
}

impl Search<'_> {
    /// Whether the first line of the request, matched behind white space at the start of the file's line, would leave
    /// further lines of `new` with less than that. Either `old` begins with white space itself, too little of it,
    /// which the shift of indentation resolves. Or it is a whole line without its indentation: then nobody can tell
    /// whether the other lines lack theirs too or are meant to stand further left, and the request is refused.
    pub(super) fn loses_indent(&self, span: &Range<usize>) -> bool {
        let new_lines = || self.new.lines().filter(|line| !line.trim().is_empty());
        // Whole lines that go would leave the indentation of the first in front of the line after them.
        let deletes = self.old.ends_with(['\n', '\r']) && self.new.trim().is_empty();
        let has_further_lines = self.old.trim_end().contains('\n');
        if self.old.trim().is_empty() || !deletes && !has_further_lines && new_lines().nth(1).is_none() {
            return false;
        }
        let is_indented = |line: &str| line.starts_with([' ', '\t']);
        // The first of several lines with a part of its indentation: what is brought in may lack as much. One without
        // any stays in front of its own line only.
        let is_placed = || {
            let (first, new_first) = (self.old.lines().next(), self.new.lines().next());
            if !is_indented(self.old) {
                return first == new_first || self.old.lines().skip(1).all(|old| Some(old) != new_first);
            }
            let is_new = |line: &str| self.old.lines().all(|old| old != line);
            first == new_first && !new_lines().any(|line| is_indented(line) && is_new(line))
        };
        if has_further_lines && !deletes && is_placed() {
            return false;
        }
        let before = &self.text[..span.start];
        let indent = &before[before.trim_end_matches([' ', '\t']).len()..];
        let line_start = span.start - indent.len();
        let starts_line = line_start == 0 || before[..line_start].ends_with(['\n', '\r']);
        if indent.is_empty() || !starts_line {
            return false;
        }
        if deletes || has_further_lines || is_indented(self.old) {
            return true;
        }
        let after = self.text[span.end..].trim_start_matches([' ', '\t']);
        let ends_line = self.old.ends_with(['\n', '\r']) || after.is_empty() || after.starts_with(['\n', '\r']);
        let loses =
            ends_line && (new_lines().skip(1).any(|line| !line.starts_with(indent)) || hangs(new_lines(), indent));
        if loses && self.bare_line.get().is_none() {
            self.bare_line.set(Some(line_start));
        }
        loses
    }
}

/// Whether the first of `lines`, put behind `indent`, would open a block that the next one, which has its whole
/// indentation, does not stand in.
pub(super) fn hangs<'l>(lines: impl Iterator<Item = &'l str>, indent: &str) -> bool {
    let mut filled = lines.filter(|line| !line.trim().is_empty());
    let (Some(first), Some(next)) = (filled.next(), filled.next()) else { return false };
    let (next_indent, next, _) = block::parts(next);
    first.trim_end().ends_with([':', '{', '(', '['])
        && !next.starts_with(['}', ')', ']'])
        && width(next_indent, TAB_WIDTHS[0]) <= width(indent, TAB_WIDTHS[0])
}

/// How indentation in the request becomes indentation in the file.
pub(super) struct Shift {
    known: HashMap<String, String>,
    rest: Rest,
}

/// What happens to an indentation that `old` does not show.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Rest {
    /// The file has so much more in front.
    Prefixed(String),
    /// The file lacks so much in front.
    Stripped(String),
    /// Tabs of this width on one side, spaces on the other, and so many columns more (or less) in the file.
    Columns { tab: usize, shift: isize, to_tabs: bool },
    /// Not known; such an indentation refuses the match.
    Unknown,
}

impl Shift {
    /// The shift from `edit.old` to the file's lines at `site`; `None` if it is not uniform, or if it does not
    /// tell what becomes of an indentation in `edit.new`.
    pub(super) fn new(search: &Search<'_>, edit: &LineEdit<'_>, site: Site) -> Option<Self> {
        let file = block::file_lines(search, edit, site);
        let pairs = edit.old.iter().zip(&file).map(|(old, file)| (block::parts(old), block::parts(file)));
        let pairs: Vec<(&str, &str)> = pairs
            .filter(|(old, file)| old.1 == file.1 && !old.1.is_empty())
            .map(|(old, file)| (old.0, file.0))
            .collect();
        // Lines that do not change need no indentation.
        let changed = edit.changes().filter(|(is_kept, ..)| !is_kept).flat_map(|(.., new)| &edit.new[new]);
        let wanted: Vec<&str> = changed
            .map(|line| block::parts(line))
            .filter(|(_, content, _)| !content.is_empty())
            .map(|(indent, ..)| indent)
            .collect();
        Self::of(&pairs, &wanted, || *search.habit.get_or_init(|| Habit::of(search)))
    }

    /// The shift shown by `pairs` of indentations (in `old`, in the file), able to place all of `wanted`.
    fn of(pairs: &[(&str, &str)], wanted: &[&str], habit: impl Fn() -> Habit) -> Option<Self> {
        let mut known = HashMap::new();
        for (old, file) in pairs {
            if known.insert((*old).to_owned(), (*file).to_owned()).is_some_and(|earlier| earlier != **file) {
                return None;
            }
        }
        let request = Style::of(pairs.iter().map(|(old, _)| *old).chain(wanted.iter().copied()));
        // A single space, as in front of the stars of a comment, aligns and is no choice of spaces over tabs.
        let mut file = Style::of(pairs.iter().map(|(_, file)| *file).filter(|indent| *indent != " "));
        if file == Style::None {
            file = if habit().prefers_tabs { Style::Tabs } else { Style::Spaces };
        }
        let has_tabs = |style| matches!(style, Style::Tabs | Style::Mixed);
        // Where nothing is shifted, nothing is converted either: the file may use both.
        let is_shifted = pairs.iter().any(|(old, file)| old != file);
        let converts = is_shifted
            && ((has_tabs(request) && file == Style::Spaces) || (request == Style::Spaces && has_tabs(file)));
        let rest = if converts {
            columns(pairs, wanted, &known, has_tabs(file), &habit)?
        } else {
            let rest = prefix(pairs)?;
            if request == Style::Mixed && is_shifted { Rest::Unknown } else { rest }
        };
        let shift = Self { known, rest };
        if !converts && file == Style::Spaces && !shift.is_plausible(wanted, &habit) {
            return None;
        }
        wanted.iter().all(|indent| shift.apply(indent).is_some()).then_some(shift)
    }

    /// A single level tells a shift from another step between levels (two columns for the file's four) only by
    /// where the result comes to stand: on the file's levels.
    fn is_plausible(&self, wanted: &[&str], habit: impl Fn() -> Habit) -> bool {
        let mut unknown = wanted.iter().filter(|indent| !self.known.contains_key(**indent)).peekable();
        let mut known = self.known.iter();
        let (Some((old, file)), None, Some(_)) = (known.next(), known.next(), unknown.peek()) else { return true };
        let Some(step) = habit().step.filter(|step| file.len().is_multiple_of(*step)) else { return true };
        let stands = |indent: &&str| self.apply(indent).is_some_and(|new| new.len().is_multiple_of(step));
        old.len().abs_diff(file.len()).is_multiple_of(step) && unknown.all(stands)
    }

    /// The file's form of an indentation of the request.
    pub(super) fn apply(&self, indent: &str) -> Option<String> {
        if let Some(known) = self.known.get(indent) {
            return Some(known.clone());
        }
        match &self.rest {
            Rest::Prefixed(more) => Some(format!("{more}{indent}")),
            Rest::Stripped(less) => indent.strip_prefix(less.as_str()).map(str::to_owned),
            Rest::Columns { tab, shift, to_tabs } => {
                let columns = width(indent, *tab).checked_add_signed(*shift)?;
                if !to_tabs {
                    return Some(" ".repeat(columns));
                }
                columns.is_multiple_of(*tab).then(|| "\t".repeat(columns / tab))
            }
            Rest::Unknown => None,
        }
    }
}

/// What indentations are made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Style {
    None,
    Tabs,
    Spaces,
    Mixed,
}

impl Style {
    fn of<'a>(indents: impl Iterator<Item = &'a str>) -> Self {
        let (mut tabs, mut spaces) = (false, false);
        for indent in indents {
            tabs |= indent.contains('\t');
            spaces |= indent.contains(' ');
        }
        match (tabs, spaces) {
            (false, false) => Self::None,
            (true, false) => Self::Tabs,
            (false, true) => Self::Spaces,
            (true, true) => Self::Mixed,
        }
    }
}

/// A constant piece of indentation in front of every line, on one side.
fn prefix(pairs: &[(&str, &str)]) -> Option<Rest> {
    let (old, file) = pairs.first()?;
    if let Some(more) = file.strip_suffix(old) {
        let holds = pairs.iter().all(|(old, file)| file.strip_prefix(more) == Some(old));
        return holds.then(|| Rest::Prefixed(more.to_owned()));
    }
    let less = old.strip_suffix(file)?;
    let holds = pairs.iter().all(|(old, file)| old.strip_prefix(less) == Some(file));
    holds.then(|| Rest::Stripped(less.to_owned()))
}

/// Tabs on one side and spaces on the other: the tab width and the shift that explain every pair and give every
/// wanted indentation one form.
fn columns(
    pairs: &[(&str, &str)],
    wanted: &[&str],
    known: &HashMap<String, String>,
    to_tabs: bool,
    habit: impl Fn() -> Habit,
) -> Option<Rest> {
    let explanations: Vec<(Rest, Vec<String>)> = TAB_WIDTHS
        .into_iter()
        .filter_map(|tab| {
            let difference =
                |(old, file): &(&str, &str)| width(file, tab).cast_signed() - width(old, tab).cast_signed();
            let shift = difference(pairs.first()?);
            let is_uniform = pairs.iter().all(|pair| difference(pair) == shift);
            // A shift is one by whole levels.
            if !is_uniform || !shift.unsigned_abs().is_multiple_of(tab) {
                return None;
            }
            let rest = Rest::Columns { tab, shift, to_tabs };
            let candidate = Shift { known: known.clone(), rest: rest.clone() };
            let written = wanted.iter().map(|indent| candidate.apply(indent)).collect::<Option<Vec<String>>>()?;
            Some((rest, written))
        })
        .collect();
    let (first, written) = explanations.first()?;
    if explanations.iter().all(|(_, other)| other == written) {
        return Some(first.clone());
    }
    // The step from level to level tells how wide a tab is meant to be.
    let step = if to_tabs {
        smallest_step(pairs.iter().map(|(old, _)| *old).chain(wanted.iter().copied()))
    } else {
        habit().step
    };
    let is_step = |rest: &Rest| matches!(rest, Rest::Columns { tab, .. } if Some(*tab) == step);
    explanations.into_iter().map(|(rest, _)| rest).find(is_step)
}

/// The smallest difference between two levels of indentation by spaces.
fn smallest_step<'a>(indents: impl Iterator<Item = &'a str>) -> Option<usize> {
    let mut widths: Vec<usize> = indents.map(str::len).collect();
    widths.sort_unstable();
    widths.dedup();
    widths.windows(2).map(|pair| pair[1] - pair[0]).min()
}

/// Columns of an indentation with tab stops every `tab` columns.
fn width(indent: &str, tab: usize) -> usize {
    indent.chars().fold(0, |column, character| if character == '\t' { (column / tab + 1) * tab } else { column + 1 })
}

/// How a file is indented as a whole.
#[derive(Clone, Copy, Debug)]
pub(super) struct Habit {
    /// More lines start with a tab than with a space.
    prefers_tabs: bool,
    /// The commonest step between neighbouring lines indented by spaces, in columns.
    step: Option<usize>,
}

impl Habit {
    fn of(search: &Search<'_>) -> Self {
        let lines = || search.lines().iter().map(|line| block::parts(line.content(search.text)));
        let starts = |with: char| lines().filter(|(indent, ..)| indent.starts_with(with)).count();
        let widths = lines().filter(|(indent, content, _)| !content.is_empty() && !indent.contains('\t'));
        let mut steps = [0_usize; 9];
        let mut before = None;
        for width in widths.map(|(indent, ..)| indent.len()) {
            let step = width.abs_diff(before.unwrap_or(width));
            before = Some(width);
            if let Some(count) = steps.get_mut(step) {
                *count += 1;
            }
        }
        let step = (1..steps.len()).max_by_key(|step| steps[*step]).filter(|step| steps[*step] > 0);
        Self { prefers_tabs: starts('\t') > starts(' '), step }
    }
}

#[cfg(test)]
mod tests {
    use super::{Habit, Rest, Shift};
    use crate::edit::{
        Request,
        Strategy::{Exact, Indentation},
        trial::{assert_ambiguous, assert_edited, assert_missed, tried},
    };

    #[test]
    fn new_lines_are_shifted_as_the_old_ones_are() {
        assert_edited(
            "class A:\n    def f(self):\n        return 1\n",
            "def f(self):\n    return 1\n",
            "def f(self):\n    if x:\n        return 2\n    return 1\n",
            Indentation,
            "class A:\n    def f(self):\n        if x:\n            return 2\n        return 1\n",
        );
        assert_edited(
            "if a:\n  foo\n",
            "    if a:\n      foo\n",
            "    if b:\n      foo\n",
            Indentation,
            "if b:\n  foo\n",
        );
    }

    #[test]
    fn spaces_become_the_files_tabs_and_tabs_its_spaces() {
        assert_edited(
            "fn f() {\n\tif a {\n\t\tone();\n\t}\n}\n",
            "    if a {\n        one();\n    }\n",
            "    if a {\n        if b {\n            two();\n        }\n    }\n",
            Indentation,
            "fn f() {\n\tif a {\n\t\tif b {\n\t\t\ttwo();\n\t\t}\n\t}\n}\n",
        );
        assert_edited(
            "  if a {\n    one();\n  }\n",
            "\tif a {\n\t\tone();\n\t}\n",
            "\tif a {\n\t\tone();\n\t\t\ttwo();\n\t}\n",
            Indentation,
            "  if a {\n    one();\n      two();\n  }\n",
        );
    }

    #[test]
    fn tabs_with_spaces_for_alignment_are_counted_in_columns() {
        assert_edited(
            "    f(a1,\n      b1);\n    g();\n",
            "\tf(a1,\n\t  b1);\n",
            "\tf(a2,\n\t  b1);\n\th();\n",
            Indentation,
            "    f(a2,\n      b1);\n    h();\n    g();\n",
        );
    }

    #[test]
    fn a_bare_block_gets_tabs_for_its_own_spaces_in_a_file_of_tabs() {
        assert_edited(
            "x {\n\t\tfoo(a)\n\t\tbar(b)\n}\n",
            "foo(a)\nbar(b)\n",
            "foo(a)\nif c {\n    bar(b)\n}\n",
            Indentation,
            "x {\n\t\tfoo(a)\n\t\tif c {\n\t\t\tbar(b)\n\t\t}\n}\n",
        );
    }

    #[test]
    fn blank_lines_have_no_indentation() {
        assert_edited(
            "    foo1\n\n    bar\n",
            "foo1\n\nbar\n",
            "foo1\n\nnew\n\nbar\n",
            Indentation,
            "    foo1\n\n    new\n\n    bar\n",
        );
    }

    #[test]
    fn a_first_line_with_a_part_of_its_indentation_is_no_place_to_write_others() {
        let text = "    return p\n\ndef f():\n";
        assert_missed(text, "  return p\n\ndef f():\n", "  if x:\n    return p\n\n  def f():\n");
        assert_edited(
            text,
            "  return p\n\ndef f():\n",
            "  return p\n\ndef g():\n",
            Exact,
            "    return p\n\ndef g():\n",
        );
    }

    #[test]
    fn a_first_line_that_goes_does_not_leave_a_part_of_its_indentation_behind() {
        let text = "fn f() {\n    run(0);\n}\n";
        assert_missed(text, "  run(0);\n}", "}");
        assert_missed(text, "run(0);\n}", "}");
        assert_edited(text, "run(0);\n}", "run(1);\n}", Exact, "fn f() {\n    run(1);\n}\n");
    }

    #[test]
    fn a_bare_line_is_not_put_behind_one_that_opens_a_block_at_its_own_depth() {
        let text = "def f():\n    return 1\n\n\nx\n";
        assert_missed(text, "return 1\n", "if x:\n    return 1\n");
        assert_missed(text, "return 1 \n\n\n", "if x:\n    return 1\n\n");
        assert_edited(
            text,
            "return 1",
            "if x:\n        return 1",
            Exact,
            "def f():\n    if x:\n        return 1\n\n\nx\n",
        );
        assert_edited(text, "return 1", "g()\n    return 1", Exact, "def f():\n    g()\n    return 1\n\n\nx\n");
    }

    #[test]
    fn the_space_before_a_comments_star_does_not_turn_tabs_into_spaces() {
        let text = "int f(void)\n{\n\tint a;\n\tint b;\n\tint c;\n}\n/*\n * one two\n * three\n */\n";
        assert_missed(text, "\t\t * one two\n\t\t * three\n", "\t\t when:\n\t\t\t * one two\n\t\t\t * three\n");
    }

    #[test]
    fn a_place_that_cannot_take_the_new_lines_is_a_place_all_the_same() {
        let text = "  a(1)\n  b(2)\n\tc(3)\n        a(1)\n \tb(2)\n";
        assert_eq!(assert_ambiguous(text, "a(1)\nb(2)\n", "a(1)\nx()\nb(2)\n"), [1, 4]);
        let request =
            Request { old: "a(1)\nb(2)\n", new: "a(1)\nx()\nb(2)\n", replace_all: true, expected_replacements: None };
        assert!(tried(text, &request).is_err());
    }

    #[test]
    fn a_line_that_goes_takes_its_indentation_along() {
        let text = "if x:\n    foo()\nbar()\n";
        assert_edited(text, "foo()\n", "", Indentation, "if x:\nbar()\n");
        assert_edited(text, "  foo()\n", "", Indentation, "if x:\nbar()\n");
        assert_edited("if x:\n    foo()\n\nbar()\n", "foo()\n\n", "\n", Indentation, "if x:\n\nbar()\n");
    }

    #[test]
    fn a_shift_that_is_not_uniform_is_none() {
        assert_missed("  foo\n      bar\n", "foo\n  bar\n", "foo\n");
        assert_missed("\tfoo\n        bar\n", "foo\nbar\n", "baz\n");
    }

    #[test]
    fn lines_that_cannot_be_shifted_so_far_refuse_the_match() {
        assert_missed("foo1\nbar1\n", "    foo1\n    bar1\n", "    foo1\n  x\n    bar1\n");
    }

    #[test]
    fn the_same_lines_at_two_depths_are_ambiguous() {
        assert_eq!(assert_ambiguous("  foo(a)\n  bar\n    foo(a)\n    bar\n", "foo(a)\nbar\n", "x\n"), [1, 3]);
    }

    #[test]
    fn braces_alone_describe_no_place() {
        assert_missed("    {\n    }\n", "{\n}\n", "{ }\n");
    }

    #[test]
    fn a_change_of_indentation_is_not_made_twice() {
        assert!(assert_missed("    foo1\n    bar1\n", "  foo1\n  bar1\n", "    foo1\n    bar1\n").already_applied);
    }

    #[test]
    fn unchanged_lines_keep_the_files_white_space() {
        assert_edited("    foo1 \n    bar\n", "foo1\nbar\n", "foo1\nbaz\n", Indentation, "    foo1 \n    baz\n");
    }

    fn rest(pairs: &[(&str, &str)], wanted: &[&str]) -> Option<Rest> {
        Shift::of(pairs, wanted, || Habit { prefers_tabs: true, step: Some(4) }).map(|shift| shift.rest)
    }

    #[test]
    fn the_tab_width_follows_from_the_levels() {
        let columns = |tab, shift, to_tabs| Some(Rest::Columns { tab, shift, to_tabs });
        assert_eq!(rest(&[("  ", "\t"), ("    ", "\t\t")], &["      "]), columns(2, 0, true));
        assert_eq!(rest(&[("        ", "\t")], &["                "]), columns(8, 0, true));
        assert_eq!(rest(&[("", "\t\t")], &["    "]), columns(4, 8, true));
        assert_eq!(rest(&[("\t", "        ")], &["\t\t"]), columns(4, 4, false));
        assert_eq!(rest(&[("    ", "\t\t")], &["        "]), columns(4, 4, true));
    }

    #[test]
    fn where_nothing_is_shifted_tabs_stay_tabs() {
        assert_eq!(rest(&[("", ""), (" ", " ")], &["\t"]), Some(Rest::Prefixed(String::new())));
    }

    #[test]
    fn one_level_shows_no_shift_that_leaves_the_files_levels() {
        let file = "def f():\n    if a:\n        b1()\n    elif c:\n        d1()\n";
        assert_missed(file, "  elif c:\n    d2()\n", "x");
        assert_missed(file, "      elif c:\n", "      elif c:\n          e1()\n");
        assert_missed(file, "          b1()\n", "          b1()\n            e1()\n");
    }

    #[test]
    fn an_indentation_between_the_levels_is_not_guessed() {
        assert_eq!(rest(&[("    ", "\t"), ("        ", "\t\t")], &["      "]), None);
    }
}
