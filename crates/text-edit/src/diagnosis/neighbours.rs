//! Which neighbouring lines make each of several places the only one.

use std::{fmt::Write as _, ops::Range};

use text_file::Line;

use super::{differences::range, excerpt};
use crate::Place;

/// Lines that are put around a place at most.
const AROUND: usize = 8;

/// Places that are shown.
const SHOWN: usize = 20;

/// Lines of a place that are shown; of a longer one only those next to its new neighbours.
const WHOLE: usize = 6;

/// Bytes that are shown at most.
const BYTES: usize = 6 << 10;

/// For each of the `places` of `old` in `text` the lines before or behind it that no other place has, numbered as
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
pub fn neighbours(text: &str, old: &str, places: &[Place]) -> String {
    let old = text_file::with_lf(old);
    let old = old.strip_suffix('\n').unwrap_or(&old);
    let neighbourhood =
        Neighbourhood { text, lines: text_file::lines(text).collect(), places, count: old.split('\n').count() };
    let mut listed = String::new();
    for (index, place) in places.iter().enumerate() {
        if index > 0 && places[index - 1].line == place.line {
            continue;
        }
        let shown = neighbourhood.shown(place);
        // Of a very long line only the place is named.
        let shown = if shown.len() > BYTES / 3 { format!("line {}: {}\n", place.line, place.text) } else { shown };
        if index == SHOWN || listed.len() + shown.len() > BYTES {
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
    places: &'t [Place],
    /// Lines of a place.
    count: usize,
}

impl Neighbourhood<'_> {
    fn shown(&self, place: &Place) -> String {
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
        let lines = if block.len() <= WHOLE || above > 0 && below > 0 {
            start..end
        } else if above > 0 {
            start..block.start + 1
        } else {
            block.end - 1..end
        };
        format!("line {}, unique with {unique_with}:\n{}", place.line, self.numbered(lines))
    }

    /// The fewest lines before and behind the place that no other place has.
    fn unique(&self, place: &Place) -> Option<(usize, usize)> {
        let splits = |total: usize| (0..=total).map(move |below| (total - below, below));
        let plain = |(above, below): &(usize, usize)| *above > 0 && *below > 0;
        (1..=AROUND).find_map(|total| {
            let mut splits: Vec<(usize, usize)> = splits(total).collect();
            // On one side where that is enough.
            splits.sort_by_key(plain);
            splits.into_iter().find(|(above, below)| self.is_unique(place, *above, *below))
        })
    }

    fn is_unique(&self, place: &Place, above: usize, below: usize) -> bool {
        let Some(own) = self.around(place, above, below) else { return false };
        self.places.iter().filter(|other| other.line != place.line).all(|other| {
            self.around(other, above, below)
                .is_none_or(|others| own.iter().zip(&others).any(|(own, other)| own != other))
        })
    }

    /// The lines around a place, trimmed: the request may differ in white space.
    fn around(&self, place: &Place, above: usize, below: usize) -> Option<Vec<&str>> {
        let (start, end) = (place.line - 1, place.line - 1 + self.count);
        let before = self.lines.get(start.checked_sub(above)?..start)?;
        let behind = self.lines.get(end..end + below)?;
        Some(before.iter().chain(behind).map(|line| line.content(self.text).trim()).collect())
    }

    fn numbered(&self, lines: Range<usize>) -> String {
        excerpt::numbered(self.text, &self.lines[lines.clone()], lines.start)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::assert_ambiguous;

    fn listed(text: &str, old: &str) -> String {
        let places: Vec<Place> =
            assert_ambiguous(text, old, "other").into_iter().map(|line| Place { line, text: String::new() }).collect();
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
    fn lines_behind_and_on_both_sides_are_tried_as_well() {
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
}
