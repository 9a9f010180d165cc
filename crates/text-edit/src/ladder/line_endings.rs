//! The second step: LF and CR LF taken for the same.

use super::{exact, partial_lines};
use crate::{Found, Outcome, Prepared, RefusedPlaces, Replacement, Strategy, keep_line_endings::fit, longer_word};

/// Every place where `old` is if all line endings are read as LF.
pub(super) fn find(prepared: &Prepared<'_>) -> Outcome {
    if !prepared.text.contains('\r') && !prepared.old.contains('\r') {
        return Outcome::None;
    }
    let text = prepared.canonical_text();
    let (old, new) = (prepared.canonical_old.as_ref(), prepared.canonical_new.as_ref());
    // Where the canonical text lacks a CR: offsets of the LF of each CR LF.
    let collapsed: Vec<usize> =
        prepared.text.match_indices("\r\n").enumerate().map(|(earlier, (offset, _))| offset - earlier).collect();
    let real = |offset: usize| offset + collapsed.partition_point(|collapse| *collapse < offset);
    let mut found = Found { by: Strategy::LineEndings.into(), ..Found::default() };
    let mut refused = RefusedPlaces::default();
    for (start, matched) in text.match_indices(old) {
        if found.is_empty() {
            found.overlapping = exact::overlapping_second(text, old, start).map(real);
        }
        let span = real(start)..real(start + matched.len());
        if prepared.whole_words && longer_word(prepared.text, span.clone()).is_some() {
            continue;
        }
        if let Some(refusal) = partial_lines::refusal_at(prepared, &span) {
            refused.add(span.start, refusal);
            continue;
        }
        let text = if old == new { prepared.new.to_owned() } else { fit(prepared, &span, old, new) };
        if text != prepared.text[span.clone()] {
            found.replacements.push(Replacement { span, text });
        }
        if found.replacements.len() == prepared.limit {
            break;
        }
    }
    found.settled(prepared.wants_all, refused).into()
}

#[cfg(test)]
mod tests {
    use crate::{
        Strategy::{Exact, LineEndings},
        testing::{assert_ambiguous, assert_edited, assert_missed},
    };

    #[test]
    fn endings_of_any_kind_match_and_the_files_own_are_written() {
        assert_edited("a\r\nb\r\nc\r\n", "a\nb\n", "a\nx\n", LineEndings, "a\r\nx\r\nc\r\n");
        assert_edited("a\nb\nc\n", "a\r\nb\r\n", "a\r\nx\r\n", LineEndings, "a\nx\nc\n");
    }

    #[test]
    fn a_match_may_begin_and_end_within_lines() {
        assert_edited("f(1,\r\n  2)\r\n", "1,\n  2", "3,\n  4", LineEndings, "f(3,\r\n  4)\r\n");
    }

    #[test]
    fn in_mixed_files_unchanged_lines_keep_their_own_ending() {
        assert_edited("a\r\nb\nc\r\nd\n", "a\nb\nc\n", "a\nB\nn\nc\n", LineEndings, "a\r\nB\nn\nc\r\nd\n");
    }

    #[test]
    fn in_mixed_files_a_reindented_line_and_the_last_one_keep_their_own_ending() {
        assert_edited("a\nb\r\nc\nd\n", "a\nb\nc", "if x\n  a\n  b\n  c", LineEndings, "if x\n  a\n  b\r\n  c\nd\n");
        assert_edited("a\r\nb\nc\n", "a\nb", "a\nb\n\nn", LineEndings, "a\r\nb\n\nn\nc\n");
    }

    #[test]
    fn in_mixed_files_the_line_that_goes_takes_its_own_ending_along() {
        assert_edited("  }\n }\r\nx\nend\n", "  }\n }\nx", " }\nx", LineEndings, " }\r\nx\nend\n");
    }

    #[test]
    fn places_are_counted_over_all_endings() {
        assert_eq!(assert_ambiguous("a\r\nb\r\n\r\na\r\nb\r\n", "a\nb", "x"), [1, 4]);
    }

    #[test]
    fn half_a_crlf_is_no_part_of_a_line_ending() {
        for text in ["one\r\ntwo\r\nthree\r\n", "one\ntwo\nthree\n"] {
            for new in ["X", "X\r", "", "two"] {
                assert_missed(text, "two\r", new);
            }
        }
    }

    #[test]
    fn a_cr_alone_is_a_character() {
        assert_edited("one\rtwo\rthree\r", "two\r", "X", Exact, "one\rXthree\r");
        assert_edited("10%\r20%\r\ndone\r\n", "20%\ndone\n", "30%\nend\n", LineEndings, "10%\r30%\r\nend\r\n");
        assert_missed("a\rb\rc", "a\nb", "x\ny");
        assert_missed("a\nb\nc", "a\rb", "x\ry");
    }

    #[test]
    fn text_that_is_there_in_other_endings_already_is_no_change() {
        assert_missed("a\r\nb\r\n", "a\nb\n", "a\r\nb\r\n");
    }
}
