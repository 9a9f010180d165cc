//! Lines of the file as an error shows them: to be copied, so whole, in the form of `read`, and bounded. And the
//! neighbouring lines that make each of several places the only one.

use std::{collections::BTreeSet, fmt::Write as _, ops::Range};

use memchr::memmem;
use text_file::Line;

use super::differences::range;
use crate::{Location, search::Search};

const MAX_LINES: usize = 80;

/// Bytes of lines that are shown at most: about 2,000 tokens, less than a second `read` of a file costs.
const MAX_BLOCK_BYTES: usize = 8 << 10;

/// Bytes of a line beyond which it is shown in part where not everything fits.
const LONG_LINE: usize = 1 << 10;

/// Bytes of a part of a line, at most.
const MAX_PART: usize = 2 << 10;

/// Lines around a change that are shown where not everything fits.
const CONTEXT_LINES: usize = 3;

/// Lines put in front of a block and after it where it occurs more than once in the file.
const MAX_WIDENED: usize = 6;

/// The part of a long line that is to be copied where the line is not.
pub(super) struct Part {
    /// The line, counted from 0.
    pub(super) line: usize,
    /// Bytes of the text.
    pub(super) bytes: Range<usize>,
    pub(super) differs: Range<usize>,
}

/// Shows the lines `block` of the file, and where that is too much those around `focus`, the most important first,
/// and the `parts` of lines that are too long.
pub(super) fn show(search: &Search<'_>, block: &Range<usize>, focus: &[Range<usize>], parts: &[Part]) -> String {
    let count = search.lines().len();
    let block = widened(search, block.start.min(count)..block.end.min(count));
    let bytes: usize = search.lines()[block.clone()].iter().map(|line| line.end - line.start + 1).sum();
    if block.len() <= MAX_LINES && bytes <= MAX_BLOCK_BYTES {
        return numbered(search.text, &search.lines()[block.clone()], block.start);
    }
    let chosen = chosen(search, &block, focus);
    let mut shown = String::new();
    let mut next = block.start;
    for line in chosen.iter().copied().chain([block.end]) {
        if line > next {
            let count = line - next;
            let is_are = if count == 1 { "is" } else { "are" };
            let _ = writeln!(shown, "({} {is_are} not shown)", range(next, count));
        }
        if line < block.end {
            shown.push_str(&numbered(search.text, &search.lines()[line..=line], line));
        }
        next = line + 1;
    }
    let mut seen = BTreeSet::new();
    for part in parts.iter().filter(|part| !chosen.contains(&part.line)) {
        if shown.len() < MAX_BLOCK_BYTES + MAX_PART && seen.insert(part.line) {
            shown.push_str(&self::part(search, part).unwrap_or_default());
        }
    }
    shown
}

/// Lines of `text` as `read` shows them, the number, a tab, the line as it is; `first` is that of the first, from 0.
pub(super) fn numbered(text: &str, lines: &[Line], first: usize) -> String {
    lines.iter().zip(first + 1..).fold(String::new(), |mut shown, (line, number)| {
        let _ = writeln!(shown, "{number}\t{}", line.content(text));
        shown
    })
}

fn chosen(search: &Search<'_>, block: &Range<usize>, focus: &[Range<usize>]) -> BTreeSet<usize> {
    let near = |focus: &Range<usize>| focus.start.saturating_sub(CONTEXT_LINES)..focus.end + CONTEXT_LINES;
    let wanted = focus.iter().map(near).chain([block.clone()]).flatten().filter(|line| block.contains(line));
    let mut chosen = BTreeSet::new();
    let mut bytes = 0;
    for line in wanted {
        let length = search.lines()[line].end - search.lines()[line].start + 1;
        if chosen.len() == MAX_LINES {
            break;
        }
        if length <= LONG_LINE && bytes + length <= MAX_BLOCK_BYTES && chosen.insert(line) {
            bytes += length;
        }
    }
    chosen
}

fn part(search: &Search<'_>, part: &Part) -> Option<String> {
    let line = search.lines()[part.line];
    // Where the change takes more than can be shown, the first of what differs is shown.
    let shown = unique(search.text, &(line.start..line.end), part.bytes.clone(), MAX_PART)
        .or_else(|| unique(search.text, &(line.start..line.end), part.differs.clone(), MAX_PART))?;
    let columns = |bytes: Range<usize>| search.text[bytes].chars().count();
    let before = columns(line.start..shown.start);
    Some(format!(
        "line {} is {} characters long; characters {}-{} of it occur once in the file and can be old_string alone:\n\
         {}\t{}\n",
        part.line + 1,
        columns(line.start..line.end),
        before + 1,
        before + columns(shown.clone()),
        part.line + 1,
        &search.text[shown]
    ))
}

/// The block with as many lines around it as make it occur once in the file.
fn widened(search: &Search<'_>, block: Range<usize>) -> Range<usize> {
    let lines = search.lines();
    if block.len() > MAX_LINES {
        return block;
    }
    let mut wide = block.clone();
    for turn in 0..=2 * MAX_WIDENED {
        let (Some(first), Some(last)) = (lines.get(wide.start), wide.end.checked_sub(1).and_then(|end| lines.get(end)))
        else {
            return block;
        };
        let text = &search.text[first.start..last.end.max(first.start)];
        if text.len() > MAX_BLOCK_BYTES
            || memmem::find_iter(search.text.as_bytes(), text).nth(1).is_none() && !text.is_empty()
        {
            return wide;
        }
        if turn % 2 == 0 && wide.start > 0 {
            wide.start -= 1;
        } else {
            wide.end = (wide.end + 1).min(lines.len());
        }
    }
    block
}

/// The bytes `part` of the line at `line` in `text`, widened until they occur once in the text and, where there is
/// room, show what is around them; `None` where at most `most` bytes do not suffice.
fn unique(text: &str, line: &Range<usize>, part: Range<usize>, most: usize) -> Option<Range<usize>> {
    const CONTEXT_LINES: usize = 40;
    let mut around = CONTEXT_LINES;
    loop {
        let start = part.start.saturating_sub(around).max(line.start);
        let end = (part.end + around).min(line.end);
        let start = (line.start..=start).rev().find(|at| text.is_char_boundary(*at))?;
        let end = (end..=line.end).find(|at| text.is_char_boundary(*at))?;
        if end - start > most {
            return None;
        }
        let mut found = memmem::find_iter(text.as_bytes(), &text.as_bytes()[start..end]);
        if start < end && found.next() == Some(start) && found.next().is_none() {
            return Some(start..end);
        }
        if start == line.start && end == line.end {
            return None;
        }
        // Doubled, as each try searches the whole text.
        around *= 2;
    }
}

/// Lines that are put around a place at most.
const MAX_NEIGHBOURS: usize = 8;

const MAX_SHOWN: usize = 20;

/// Lines of a place that are shown; of a longer one only those next to its new neighbours.
const MAX_WHOLE: usize = 6;

const MAX_BYTES: usize = 6 << 10;

/// For each of the `places` of `old` in `text` the lines before or after it that no other place has, numbered as
/// `read` does; bounded in places and bytes.
///
/// # Examples
/// ```
/// use text_edit::{EditError, Request, locate, neighbours};
///
/// let text = "fn a() {\n    go();\n}\nfn b() {\n    go();\n}\n";
/// let request = Request { old: "go();", new: "stop();", replace_all: false, expected_replacements: None };
/// let Err(EditError::Ambiguous { places, .. }) = locate(text, &request) else { panic!("two places") };
/// let shown = neighbours(text, "go();", &places);
/// assert!(shown.starts_with("line 2, unique with line 1 before it:\n1\tfn a() {\n"), "{shown}");
/// ```
pub fn neighbours(text: &str, old: &str, places: &[Location]) -> String {
    let old = text_file::with_lf(old);
    let old = old.strip_suffix('\n').unwrap_or(&old);
    let neighbourhood =
        Neighbourhood { text, lines: text_file::lines(text).collect(), places, count: old.split('\n').count() };
    let mut listed = String::new();
    for (index, place) in places.iter().enumerate() {
        if index > 0 && places[index - 1].line == place.line {
            continue;
        }
        let shown = neighbourhood.render(place);
        // Of a very long line only the place is named.
        let shown = if shown.len() > MAX_BYTES / 3 { format!("line {}: {}\n", place.line, place.text) } else { shown };
        if index == MAX_SHOWN || listed.len() + shown.len() > MAX_BYTES {
            let _ = writeln!(listed, "({} more places are not shown)", places.len() - index);
            break;
        }
        listed.push_str(&shown);
    }
    listed
}

struct Neighbourhood<'t> {
    text: &'t str,
    lines: Vec<Line>,
    places: &'t [Location],
    count: usize,
}

impl Neighbourhood<'_> {
    fn render(&self, place: &Location) -> String {
        let block = place.line - 1..(place.line - 1 + self.count).min(self.lines.len());
        if self.places.iter().filter(|other| other.line == place.line).count() > 1 {
            let shown = self.numbered(block);
            return format!("line {} has it more than once; old_string can be the whole line:\n{shown}", place.line);
        }
        let Some((above, below)) = self.unique(place) else {
            let first = self.numbered(block.start..(block.start + 1).min(block.end));
            return format!("line {}, with the same lines around it as another place:\n{first}", place.line);
        };
        let (start, end) = (block.start - above, block.end + below);
        let unique_with = match (above, below) {
            (_, 0) => format!("{} before it", range(start, above)),
            (0, _) => format!("{} after it", range(block.end, below)),
            _ => format!("{} before it and {} after it", range(start, above), range(block.end, below)),
        };
        let lines = if block.len() <= MAX_WHOLE || above > 0 && below > 0 {
            start..end
        } else if above > 0 {
            start..block.start + 1
        } else {
            block.end - 1..end
        };
        format!("line {}, unique with {unique_with}:\n{}", place.line, self.numbered(lines))
    }

    fn unique(&self, place: &Location) -> Option<(usize, usize)> {
        let splits = |total: usize| (0..=total).map(move |below| (total - below, below));
        let plain = |(above, below): &(usize, usize)| *above > 0 && *below > 0;
        (1..=MAX_NEIGHBOURS).find_map(|total| {
            let mut splits: Vec<(usize, usize)> = splits(total).collect();
            // On one side where that is enough.
            splits.sort_by_key(plain);
            splits.into_iter().find(|(above, below)| self.is_unique(place, *above, *below))
        })
    }

    fn is_unique(&self, place: &Location, above: usize, below: usize) -> bool {
        let Some(own) = self.around(place, above, below) else { return false };
        self.places.iter().filter(|other| other.line != place.line).all(|other| {
            self.around(other, above, below)
                .is_none_or(|others| own.iter().zip(&others).any(|(own, other)| own != other))
        })
    }

    /// The lines around a place, trimmed: the request may differ in white space.
    fn around(&self, place: &Location, above: usize, below: usize) -> Option<Vec<&str>> {
        let (start, end) = (place.line - 1, place.line - 1 + self.count);
        let before = self.lines.get(start.checked_sub(above)?..start)?;
        let after = self.lines.get(end..end + below)?;
        Some(before.iter().chain(after).map(|line| line.content(self.text).trim()).collect())
    }

    fn numbered(&self, lines: Range<usize>) -> String {
        numbered(self.text, &self.lines[lines.clone()], lines.start)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::assert_ambiguous;

    fn listed(text: &str, old: &str) -> String {
        let places: Vec<Location> = assert_ambiguous(text, old, "other")
            .into_iter()
            .map(|line| Location { line, text: String::new() })
            .collect();
        neighbours(text, old, &places)
    }

    #[test]
    fn each_place_is_shown_with_the_line_that_makes_it_unique() {
        let listed =
            listed("def a():\n    x = 1\n    y = 2\ndef b():\n    x = 1\n    y = 2\n", "    x = 1\n    y = 2\n");
        let wanted = "line 2, unique with line 1 before it:\n1\tdef a():\n2\t    x = 1\n3\t    y = 2\n\
                      line 5, unique with line 4 before it:\n4\tdef b():\n5\t    x = 1\n6\t    y = 2\n";
        assert_eq!(listed, wanted);
    }

    #[test]
    fn lines_after_and_on_both_sides_are_tried_as_well() {
        let listed = listed("{\n  x\n  a\n}\n{\n  x\n  b\n}\n", "  x\n");
        assert!(listed.contains("line 2, unique with line 3 after it:\n2\t  x\n3\t  a\n"), "{listed}");
    }

    #[test]
    fn a_line_that_has_the_text_twice_is_shown_whole() {
        let listed = listed("a(1); b(1);\n", "(1)");
        assert!(
            listed.starts_with("line 1 has it more than once; old_string can be the whole line:\n1\ta(1); b(1);\n")
        );
    }

    #[test]
    fn many_places_are_bounded() {
        let mut text = String::new();
        (0..300).for_each(|line| writeln!(text, "{line}\nsame").unwrap_or_default());
        let listed = listed(&text, "same\n");
        assert!(listed.ends_with("(280 more places are not shown)\n"), "{listed}");
    }

    #[test]
    fn a_part_is_widened_until_it_occurs_once() {
        let text = "aaaaaaaaaabaaaaaaaaaa aaaaaaaaaacaaaaaaaaaa";
        let found = unique(text, &(0..text.len()), 12..14, 1000);
        assert!(found.is_some_and(|found| text.matches(&text[found]).count() == 1));
        assert_eq!(unique("aaaa", &(0..4), 1..2, 2), None);
    }
}
