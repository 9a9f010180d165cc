//! Changing text: where an `old_string` is, what takes its place, and what to say when it is not there.
//!
//! Pure functions on strings with spans. [`locate`] climbs a ladder of steps from strict to tolerant over one
//! `Prepared` request; the first step that finds a place decides, and the reasons of those that refuse one go into the
//! [`Diagnosis`]. A tolerant step works on whole lines, looks through several damages at once and keeps the file's own
//! bytes wherever the request does not change them. Nothing here knows files or encodings.
//!
//! Limits: a file of more than 8 million lines is searched for the exact text alone, one request makes at most 100,000
//! replacements and 128 MiB of new text, and every search among near matches has its own budget, after which there
//! is no match.
//!
//! ```
//! use text_edit::{Request, locate};
//!
//! let request = Request { old: "a - 1", new: "a + 1", replace_all: false, expected_replacements: None };
//! let located = locate("let b = a - 1;", &request).expect("one place");
//! assert_eq!(located.replacements[0].span, 8..13);
//! ```
//!
//! # Map
//! [`locate`] is the front door, and has an example. `ladder` lists the steps, each in a file of its own name below it.
//! `request` is what they are asked, in all of its `readings`; `prepared` is what they share, `outcome` what they answer
//! and `strategy` what they looked through.
//! [`EditError`] says why there is no place: `diagnosis` looks for the `nearest` block and words the `differences`.
//! [`patch`] reads patches in two dialects, and `hunks` finds their places ([`locate_hunks`]). `diff` shows what has
//! changed ([`unified_diff`]); `line_place` and `moved_offsets` follow lines and offsets through a change. The other
//! files measure lines and characters for all of these: `line_parts`, `indent_shift`, `similarity`, `typography`,
//! `words`, `placeholder` and `keep_line_endings`.
//!
//! A part of Rootbound, published with it: its interface changes without notice.

mod diagnosis;
mod diff;
mod hunks;
mod indent_shift;
mod keep_line_endings;
mod ladder;
mod line_parts;
mod line_place;
mod moved_offsets;
mod outcome;
pub mod patch;
mod placeholder;
mod prepared;
mod readings;
mod request;
mod similarity;
mod strategy;
mod typography;
mod words;

#[cfg(test)]
mod properties;
#[cfg(test)]
mod testing;

use outcome::{Found, Outcome, Refusal, RefusedPlaces};
use prepared::{Prepared, Site};
use request::{Hunk, LineEdit, LineReading, Reading};

pub use diagnosis::neighbours;
pub use diff::{Diff, DiffExtent, TruncatedDiff, unified_diff};
pub use hunks::{ContextNote, HunkError, LocatedHunk, locate_hunks};
pub use line_place::{AnchorError, LinePlace, anchored};
pub use moved_offsets::MovedOffsets;
pub use outcome::{Diagnosis, EditError, Located, MAX_PLACES, Next, Place};
pub use request::{Replacement, Request};
pub use strategy::{Strategies, Strategy};
pub use words::longer_word;

/// Finds the place or places of `request.old` in `text`.
///
/// # Errors
/// [`EditError`] when there is no place, or not the wanted number of them. The cost of that answer is bounded,
/// whatever the texts hold.
///
/// # Examples
/// ```
/// use text_edit::{Request, Strategy, locate};
///
/// // The model lost the indentation and sends LF; the file has tabs and CR LF.
/// let file = "fn f() {\r\n\tone();\r\n\ttwo();\r\n}\r\n";
/// let request = Request {
///     old: "one();\ntwo();\n",
///     new: "one();\nthree();\n",
///     replace_all: false,
///     expected_replacements: None,
/// };
/// let located = locate(file, &request).expect("one place");
/// assert!(located.strategy.has(Strategy::Indentation));
/// assert_eq!(located.replacements[0].text, "\tone();\r\n\tthree();");
/// ```
pub fn locate(text: &str, request: &Request<'_>) -> Result<Located, EditError> {
    located(text, request, false)
}

/// As [`locate`], where a place within a longer word ([`longer_word`]) is none.
///
/// # Errors
/// As [`locate`].
pub fn locate_words(text: &str, request: &Request<'_>) -> Result<Located, EditError> {
    located(text, request, true)
}

fn located(text: &str, request: &Request<'_>, whole_words: bool) -> Result<Located, EditError> {
    if request.old.is_empty() {
        let summary = "old_string is empty: it describes no place".to_owned();
        return Err(EditError::NotFound(Diagnosis::without_place(summary)));
    }
    ladder::climb(text, &prepared::TextFacts::default(), request, ladder::LADDER, whole_words)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{Strategy as Generator, any, prop, prop_assert, prop_assert_eq, proptest};

    use super::*;
    use text_file::with_lf;

    /// Text over a small alphabet, so that near misses of every kind are common.
    fn text() -> impl Generator<Value = String> {
        let piece = prop::sample::select(&[
            "foo", "bar1", "}", "“", "\"", "'", "’", " ", "  ", "\t", "\n", "\n", "\r\n", "\r", "\\n", "\\t", "\\\"",
            "1\t", "2\t", "12: ", "é", "e\u{301}", "\u{a0}", "…", "...", "-", "–", "// note", "日本",
        ]);
        proptest::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
    }

    /// A part of `text` by two of its boundaries, damaged in one of the ways models damage text.
    fn damaged(text: &str, from: prop::sample::Index, to: prop::sample::Index, how: usize) -> String {
        let boundaries: Vec<usize> = (0..=text.len()).filter(|at| text.is_char_boundary(*at)).collect();
        let (a, b) = (boundaries[from.index(boundaries.len())], boundaries[to.index(boundaries.len())]);
        let part = &text[a.min(b)..a.max(b)];
        let each_line = |change: fn(&str) -> String| part.split('\n').map(change).collect::<Vec<_>>().join("\n");
        match how {
            0 => part.replace("\r\n", "\n"),
            1 => each_line(|line| line.trim_end().to_owned()),
            2 => each_line(|line| format!("    {line}")),
            3 => part.replace(['“', '”'], "\"").replace('\u{a0}', " "),
            4 => part.replace('\n', "\\n"),
            5 => part.replace("foo", "fo"),
            _ => part.to_owned(),
        }
    }

    proptest! {
        #[test]
        fn spans_are_ascending_disjoint_and_never_cover_more_lines_than_old(
            text in text(), new in text(), how in 0_usize..7,
            from in any::<prop::sample::Index>(), to in any::<prop::sample::Index>(),
            replace_all in any::<bool>(),
        ) {
            let old = damaged(&text, from, to, how);
            let request = Request { old: &old, new: &new, replace_all, expected_replacements: None };
            let Ok(located) = locate(&text, &request) else { return Ok(()) };
            prop_assert!(replace_all || located.replacements.len() == 1);
            let mut end = 0;
            for Replacement { span, .. } in &located.replacements {
                prop_assert!(end <= span.start && span.start <= span.end);
                // Panics off a character boundary.
                let covered = &text[span.clone()];
                end = span.end;
                if !located.strategy.is_exact() && !located.strategy.has(Strategy::Escapes) {
                    let terminators = |text: &str| with_lf(text).matches('\n').count();
                    prop_assert!(terminators(covered) <= terminators(&old));
                }
            }
        }

        #[test]
        fn locate_answers_for_any_strings(text in any::<String>(), old in any::<String>(), new in any::<String>()) {
            let request = Request { old: &old, new: &new, replace_all: false, expected_replacements: None };
            if let Err(EditError::NotFound(diagnosis)) = locate(&text, &request) {
                prop_assert!(diagnosis.summary.chars().count() <= 300);
            }
        }

        #[test]
        fn a_unique_text_is_replaced_and_the_reverse_restores_it(
            before in "[a-z \n]{0,20}", old in "[A-Z]{1,4}(\n[A-Z]{1,4})?", new in "[0-9]{1,4}(\n[0-9]{1,4})?", after in "[a-z \n]{0,20}",
            crlf in any::<bool>(),
        ) {
            let ending = |text: &str| if crlf { text.replace('\n', "\r\n") } else { text.to_owned() };
            // Without any line ending in the file, those of the request would count; without the full stop, some
            // lines would lack their indentation.
            let text = ending(&format!("\n{before}.{old}{after}"));
            let apply = |text: &str, old: &str, new: &str| testing::edited(text, old, new).map(|(_, text)| text);
            let changed = apply(&text, &old, &new).unwrap();
            prop_assert_eq!(&changed, &ending(&format!("\n{before}.{new}{after}")));
            prop_assert_eq!(apply(&changed, &new, &old).unwrap(), text);
        }
    }

    /// Bounded by the budgets of each step: without them these would run for hours.
    #[test]
    fn hostile_requests_on_five_megabytes_are_answered() {
        let line = "    a_name = another_name + third_name(x);\n";
        let text = line.repeat(5_000_000 / line.len());
        let olds =
            [line.trim_start().repeat(5000) + "y", line.repeat(5000) + "y", line.replace("= ", "= “").repeat(3000)];
        for old in olds {
            let request = Request { old: &old, new: "z\nz", replace_all: false, expected_replacements: None };
            assert!(locate(&text, &request).is_err());
        }
        // Slips, blank lines and escapes at every place.
        let slipped = line.replace("another", "anohter");
        for old in [
            format!("{line}{slipped}{line}"),
            format!("{slipped}\n{line}{line}").repeat(2000),
            format!("\t{}\\n\\t\\\"", slipped.trim_end()).repeat(300),
            line.replace("    ", "12: ").repeat(3000),
        ] {
            let new = format!("{old}x1 = 1;\n");
            let request = Request { old: &old, new: &new, replace_all: false, expected_replacements: None };
            assert!(locate(&text, &request).is_err());
        }
    }

    #[test]
    fn a_file_of_too_many_lines_takes_exact_texts_only() {
        let text = format!("one\n{}two \n", "\n".repeat(prepared::MAX_LINES));
        let of = |old| Request { old, new: "x\n", replace_all: false, expected_replacements: None };
        assert!(locate(&text, &of("one\n")).is_ok());
        let Err(EditError::NotFound(diagnosis)) = locate(&text, &of("two\n")) else { panic!("found") };
        assert!(diagnosis.summary.contains("more than 8000000 lines") && diagnosis.next == Next::Read, "{diagnosis:?}");
    }

    #[test]
    fn an_empty_old_text_is_answered() {
        let request = Request { old: "", new: "x", replace_all: false, expected_replacements: None };
        assert!(matches!(locate("a", &request), Err(EditError::NotFound(_))));
    }

    #[test]
    fn the_stricter_step_decides() {
        let text = "foo(1)\n  foo(1) \n";
        let (strategy, result) = testing::edited(text, "  foo(1)", "  bar(1)").unwrap();
        assert_eq!((strategy.is_exact(), result.as_str()), (true, "foo(1)\n  bar(1) \n"));
    }

    #[test]
    fn places_are_bounded_and_shown_cut() {
        let text = "x".repeat(5000);
        let request = Request { old: "x", new: "y", replace_all: false, expected_replacements: None };
        let Err(EditError::Ambiguous { places, .. }) = locate(&text, &request) else { panic!("not ambiguous") };
        assert_eq!(places.len(), MAX_PLACES);
        assert!(places[0].text.chars().count() < 200);
    }
}
