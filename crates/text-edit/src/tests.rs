//! Tests of the ladder as a whole.

mod damages;
mod properties;

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
    let olds = [line.trim_start().repeat(5000) + "y", line.repeat(5000) + "y", line.replace("= ", "= “").repeat(3000)];
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
    let text = format!("one\n{}two \n", "\n".repeat(search::MAX_LINES));
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
