//! The first step: the text as given, anywhere, also in the middle of a line.

use super::partial_lines;
use crate::{Found, Outcome, Prepared, Refusal, RefusedPlaces, Replacement, keep_line_endings, longer_word};

/// Every place where `old` is byte for byte, without those that would cut a CR LF in two, and those where
/// the further lines of `new` would come out with too little indentation.
pub(super) fn find(prepared: &Prepared<'_>) -> Outcome {
    let (text, old) = (prepared.text, prepared.old);
    let mut found = Found::default();
    let mut refused = RefusedPlaces::default();
    let mut within = None;
    // Bytes for speed: UTF-8 matches UTF-8 at character boundaries only.
    for start in memchr::memmem::find_iter(text.as_bytes(), old) {
        let span = start..start + old.len();
        if cuts_crlf(text, span.start) || cuts_crlf(text, span.end) {
            continue;
        }
        if prepared.whole_words && longer_word(text, span.clone()).is_some() {
            within.get_or_insert(Refusal::WithinWord(start));
            continue;
        }
        if let Some(refusal) = partial_lines::refusal_at(prepared, &span) {
            refused.add(start, refusal);
            continue;
        }
        if found.is_empty() && !prepared.whole_words {
            found.overlapping = overlapping_second(text, old, start);
        }
        let text = keep_line_endings::fit(prepared, &span, old, prepared.new);
        found.replacements.push(Replacement { span, text });
        if found.replacements.len() == prepared.limit {
            break;
        }
    }
    match (found.settled(prepared.wants_all, refused).into(), within) {
        (Outcome::None, Some(within)) => Outcome::Refused(within),
        (outcome, _) => outcome,
    }
}

/// The next match after `start`, where it overlaps the one there.
pub(super) fn overlapping_second(text: &str, old: &str, start: usize) -> Option<usize> {
    let after = start + old.chars().next()?.len_utf8();
    let window = (start + 2 * old.len()).min(text.len());
    let window = (window..text.len()).find(|end| text.is_char_boundary(*end)).unwrap_or(text.len());
    text[after..window].find(old).map(|found| after + found).filter(|found| *found < start + old.len())
}

fn cuts_crlf(text: &str, offset: usize) -> bool {
    let bytes = text.as_bytes();
    offset > 0 && bytes[offset - 1] == b'\r' && bytes.get(offset) == Some(&b'\n')
}

#[cfg(test)]
mod tests {
    use crate::{
        EditError, Request,
        Strategy::{Exact, Indentation, LineEndings},
        testing::{assert_ambiguous, assert_edited, assert_missed, tried},
    };

    #[test]
    fn a_text_is_found_anywhere_also_within_a_line() {
        assert_edited("let a = 1;\n", "a = 1", "b = 2", Exact, "let b = 2;\n");
        assert_edited("a\nb\nc", "a\nb", "x", Exact, "x\nc");
        assert_edited("größe", "ö", "oe", Exact, "groeße");
    }

    #[test]
    fn several_places_are_ambiguous_and_listed() {
        assert_eq!(assert_ambiguous("x\ny\nx\n", "x", "z"), [1, 3]);
    }

    #[test]
    fn overlapping_places_are_ambiguous_too() {
        assert_eq!(assert_ambiguous("}\n}\n}\n", "}\n}\n", ""), [1, 2]);
        assert_eq!(assert_ambiguous("ééé", "éé", "e"), [1, 1]);
    }

    #[test]
    fn all_places_are_replaced_on_demand() {
        let mut request = Request { old: "a", new: "bb", replace_all: true, expected_replacements: None };
        assert_eq!(tried("aXaa", &request).unwrap().1, "bbXbbbb");
        request.expected_replacements = Some(3);
        assert!(tried("aXaa", &request).is_ok());
        request.expected_replacements = Some(2);
        assert!(
            matches!(tried("aXaa", &request), Err(EditError::Count { expected: 2, places, .. }) if places.len() == 3)
        );
    }

    #[test]
    fn no_more_than_a_hundred_thousand_places_are_replaced_at_once() {
        let mut request = Request { old: "a", new: "b", replace_all: true, expected_replacements: None };
        assert!(tried(&"a\n".repeat(100_000), &request).is_ok());
        assert!(matches!(tried(&"a\n".repeat(100_001), &request), Err(EditError::TooMany { places: 100_001 })));
        request.expected_replacements = Some(200_000);
        assert!(matches!(tried(&"a\n".repeat(200_000), &request), Err(EditError::TooMany { .. })));
    }

    #[test]
    fn white_space_behind_the_last_line_is_not_left_as_a_line_of_its_own() {
        assert_missed("a1 b2\nc3 d4 \ne\n", "a1 b2\nc3 d4", "a1 b2\n");
        assert_missed("a1 b2\r\nc3 d4 \r\ne\r\n", "a1 b2\nc3 d4", "a1 b2\n");
        assert_edited("a1 b2\nc3 d4 \ne\n", "a1 b2\nc3 d4", "a1 b2", Exact, "a1 b2 \ne\n");
    }

    #[test]
    fn an_expected_number_that_is_met_replaces_all() {
        let mut request = Request { old: "a", new: "b", replace_all: false, expected_replacements: Some(2) };
        assert_eq!(tried("a a", &request).unwrap().1, "b b");
        assert!(matches!(tried("a", &request), Err(EditError::Count { .. })));
        request.expected_replacements = Some(1);
        assert!(matches!(tried("a a", &request), Err(EditError::Ambiguous { .. })));
        assert_eq!(tried("a", &request).unwrap().1, "b");
    }

    #[test]
    fn inserted_lines_take_the_endings_around_them() {
        assert_edited("a\r\nb\r\n", "a", "a\nz", Exact, "a\r\nz\r\nb\r\n");
        assert_edited("a\nb\n", "a", "a\r\nz", Exact, "a\nz\nb\n");
        assert_edited("a\rb\r", "a", "a\nz", Exact, "a\nz\rb\r");
        assert_edited("a\nb\r\nc\n", "b", "b\nz", Exact, "a\nb\r\nz\r\nc\n");
        assert_edited("a\nb\r\nc", "c", "c\nz", Exact, "a\nb\r\nc\r\nz");
    }

    #[test]
    fn a_change_of_nothing_but_line_endings_is_made_as_asked() {
        assert_edited("a\nb\n", "a\nb\n", "a\r\nb\r\n", Exact, "a\r\nb\r\n");
        assert_edited("a\r\nb\n", "a\r\n", "a\n", Exact, "a\nb\n");
    }

    #[test]
    fn a_match_never_cuts_a_crlf_in_two() {
        assert_edited("a\r\nb\r\n", "\nb", "\nc", LineEndings, "a\r\nc\r\n");
        assert_missed("a\r\nb", "a\r", "c\r");
    }

    #[test]
    fn further_lines_are_indented_when_the_line_given_is_indented_deeper_in_the_file() {
        assert_edited(
            "if x:\n        foo()\n",
            "    foo()\n",
            "    foo()\n    bar()\n",
            Indentation,
            "if x:\n        foo()\n        bar()\n",
        );
        assert_edited("        foo()\n", "    foo()\n", "    bar()\n", Exact, "        bar()\n");
        assert_missed("        foo(1)\n", "    foo(", "    a()\n    foo(");
    }

    #[test]
    fn a_whole_line_given_without_its_indentation_is_refused_with_further_lines_that_lack_it() {
        let text = "if x:\n    foo()\n";
        let diagnosis = assert_missed(text, "foo()\n", "foo()\nbar()\n");
        assert!(diagnosis.summary.contains("repeat both with the full indentation of line 2"), "{diagnosis:?}");
        assert_edited(text, "foo()", "foo()\n    bar()", Exact, "if x:\n    foo()\n    bar()\n");
        assert_edited(text, "foo()", "bar()", Exact, "if x:\n    bar()\n");
        assert_eq!(assert_ambiguous("foo()\n  foo()\n", "foo()", "foo()\nbar()"), [1, 2]);
        assert_edited(text, "foo", "a\nb", Exact, "if x:\n    a\nb()\n");
    }
}
