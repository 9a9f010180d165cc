//! `\n`, `\t` and quotes spelled out with a backslash, as after escaping once too often.
//!
//! A kind of escape counts only when `old` has no such character as it is. Which kinds were escaped too often
//! is found by trying; more than one that fits is no match.

use crate::typography;

/// Escapes and what they mean. The backslash itself comes last: it decides how the others are read.
const KINDS: [(char, &str); 5] = [('n', "\n"), ('t', "\t"), ('"', "\""), ('\'', "'"), ('\\', "\\")];

/// The texts with their escapes resolved, in each way that is possible.
pub(super) fn taken_off(old: &str, new: &str) -> Vec<(String, String, bool)> {
    let Some(new) = resolve_brought_in(old, new) else { return Vec::new() };
    let present: Vec<usize> = (0..KINDS.len()).filter(|kind| is_over_escaped(old, KINDS[*kind])).collect();
    // All escapes of the text are the likeliest interpretation, but every other is tried too.
    let all = (1_u32..1 << present.len()).rev().filter_map(|bits| {
        let chosen = present.iter().enumerate().filter(|(bit, _)| bits >> bit & 1 == 1);
        let kinds: Vec<(char, &str)> = chosen.map(|(_, kind)| KINDS[*kind]).collect();
        // A resolved backslash alone changes too little to tell one interpretation from another.
        if kinds == [('\\', "\\")] {
            return None;
        }
        Some((resolve(old, &kinds), resolve_new(&new, &kinds)?, kinds.len() < present.len()))
    });
    all.collect()
}

/// Whether `new` has double quotes, all of them escaped, of which the lines of `old` say nothing: where those are damaged
/// otherwise, the quotes may be, too.
pub(crate) fn brings_in_quotes(old: &str, new: &str) -> bool {
    let has_none = |text: &str| !text.contains('"') && !escapes(text).contains(&'"');
    has_none(old) && is_over_escaped(new, ('"', "\""))
}

/// The characters of `text`, a backslash together with the one after it.
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let count = if rest.starts_with('\\') { 2 } else { 1 };
        let piece;
        (piece, rest) = rest.split_at(rest.chars().take(count).map(char::len_utf8).sum());
        (!piece.is_empty()).then_some(piece)
    })
}

/// The letter of a piece that is an escape; a plain quote for a curly one.
fn escape(piece: &str) -> Option<char> {
    let letter = piece.strip_prefix('\\')?.chars().next()?;
    let quote = typography::plain(letter).filter(|plain| matches!(*plain, "\"" | "'"));
    Some(quote.and_then(|plain| plain.chars().next()).unwrap_or(letter))
}

/// The letters after a backslash in `text`.
fn escapes(text: &str) -> Vec<char> {
    pieces(text).filter_map(escape).collect()
}

/// `new` with those escapes resolved that `old` has none of, so that it says nothing about them; `None` where nobody
/// can tell. Only tabs that indent a line and double quotes outside of quotes are sure.
fn resolve_brought_in(old: &str, new: &str) -> Option<String> {
    let seen = escapes(old);
    let brought_in: Vec<char> = escapes(new).into_iter().filter(|letter| !seen.contains(letter)).collect();
    let mut new = new.to_owned();
    if brought_in.contains(&'"') {
        if new.replace("\\\"", "").contains(['"', '\'', '`']) {
            return None;
        }
        new = resolve(&new, &[('"', "\"")]);
    }
    if brought_in.contains(&'t') {
        new = with_indenting_tabs(&new);
        if escapes(&new).contains(&'t') {
            return None;
        }
    }
    // One that the file's own text has as well may be meant literally.
    if brought_in.iter().any(|letter| matches!(letter, 'n' | '\'' | '\\')) { None } else { Some(new) }
}

/// `text` with each `\t` resolved that has only white space before it in its line.
fn with_indenting_tabs(text: &str) -> String {
    let mut indents = true;
    let resolved = pieces(text).map(|piece| {
        let is_tab = indents && piece == "\\t";
        indents = is_tab || matches!(piece, "\n" | "\\n") || indents && piece.trim().is_empty();
        if is_tab { "\t" } else { piece }
    });
    resolved.collect()
}

/// Whether `text` has an escape of this kind and not a single such character as it is.
fn is_over_escaped(text: &str, (letter, character): (char, &str)) -> bool {
    let body = text.strip_suffix('\n').unwrap_or(text);
    let has_plain = || pieces(body).any(|piece| !piece.starts_with('\\') && piece == character);
    pieces(body).any(|piece| escape(piece) == Some(letter)) && !has_plain()
}

/// `text` with the escapes of `kinds` resolved and all others left.
fn resolve(text: &str, kinds: &[(char, &str)]) -> String {
    let meant = |piece| kinds.iter().find(|(letter, _)| escape(piece) == Some(*letter));
    // A curly quote stays one.
    let character = |piece| match meant(piece) {
        None => piece,
        Some(('"' | '\'', _)) => &piece[1..],
        Some((_, character)) => character,
    };
    pieces(text).map(character).collect()
}

/// New text is resolved likewise where it was escaped likewise; where it has such a character both ways, nobody
/// knows which is meant.
fn resolve_new(text: &str, kinds: &[(char, &str)]) -> Option<String> {
    let mut over_escaped = Vec::new();
    for kind in kinds {
        let is_escaped = text.contains(&format!("\\{}", kind.0)) || escapes(text).contains(&kind.0);
        let is_plain = kind.0 != '\\' && text.strip_suffix('\n').unwrap_or(text).contains(kind.1);
        if is_escaped && !is_over_escaped(text, *kind) && is_plain {
            return None;
        }
        if is_escaped {
            over_escaped.push(*kind);
        }
    }
    Some(resolve(text, &over_escaped))
}

#[cfg(test)]
mod tests {
    use crate::{
        Strategy::Escapes,
        testing::{assert_edited, assert_missed},
    };

    #[test]
    fn escapes_are_resolved_in_old_and_new() {
        assert_edited(
            "fn f() {\n\trun();\n}\n",
            r"fn f() {\n\trun();\n}",
            r"fn f() {\n\tgo();\n}",
            Escapes,
            "fn f() {\n\tgo();\n}\n",
        );
        assert_edited(
            "    say(\"hello\");\n",
            r#"say(\"hello\");"#,
            r#"say(\"bye\");"#,
            Escapes,
            "    say(\"bye\");\n",
        );
        assert_edited(
            "    say(\"hello\");\n",
            r#"    say(\"hello\");"#,
            "    say(\"bye\");",
            Escapes,
            "    say(\"bye\");\n",
        );
    }

    #[test]
    fn escapes_that_the_file_has_are_kept() {
        assert_edited(
            "print(\"one\\n\")\n",
            r#"print(\"one\n\")"#,
            r#"print(\"two\n\")"#,
            Escapes,
            "print(\"two\\n\")\n",
        );
        assert_edited(
            "print(\"one\\n\")\n",
            r#"print(\"one\\n\")"#,
            r#"print(\"two\\n\")"#,
            Escapes,
            "print(\"two\\n\")\n",
        );
    }

    #[test]
    fn new_text_with_such_a_character_both_ways_is_refused() {
        assert_missed("say(\"hello\");\n", r#"say(\"hello\");"#, r#"say("a \"b\"");"#);
    }

    #[test]
    fn old_text_with_such_a_character_both_ways_is_not_over_escaped() {
        assert_missed("say(\"hello\");\n", r#"say("hello\");"#, "x");
    }

    #[test]
    fn escapes_of_a_kind_that_old_text_lacks_are_resolved_only_where_they_are_sure() {
        let edited = |new, expected| assert_edited("a(1);\nb(2);\n", r"a(1);\nb(2);", new, Escapes, expected);
        edited(r"a(1);\n\tc();\nb(2);", "a(1);\n\tc();\nb(2);\n");
        edited(r#"a(1);\nb(\"2\");"#, "a(1);\nb(\"2\");\n");
        assert_missed("a(1);\nb(2);\n", r"a(1);\nb(2);", r"a(1);\nb('x\ty');");
        assert_missed("a(1);\nb(2);\n", r"a(1);\nb(2);", r#"a(1);\nb("x\"y");"#);
        assert_missed("say(\"hello\");\n", r#"say(\"hello\");"#, r#"say(\"bye\n\");"#);
    }

    #[test]
    fn a_fragment_is_not_widened() {
        assert_missed("x = say(\"hello\");\n", r#"say(\"hello\");"#, "y");
    }
}
