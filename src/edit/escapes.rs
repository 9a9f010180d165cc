//! `\n`, `\t` and quotes spelled out with a backslash, as after escaping once too often.
//!
//! A kind of escape counts only when `old` has no such character as it is. Which kinds were escaped too often
//! is found by trying; more than one reading that fits is no match.

use super::{Reading, Strategy};

/// Escapes and what they mean. The backslash itself comes last: it decides how the others are read.
const KINDS: [(char, char); 5] = [('n', '\n'), ('t', '\t'), ('"', '"'), ('\'', '\''), ('\\', '\\')];

/// The request with its escapes resolved, in each way that is possible.
pub(super) fn readings(request: &Reading) -> Vec<Reading> {
    let Some(new) = resolve_brought_in(&request.old, &request.new) else { return Vec::new() };
    let present: Vec<usize> = (0..KINDS.len()).filter(|kind| is_over_escaped(&request.old, KINDS[*kind])).collect();
    // All escapes of the text are the likeliest reading, but every other is tried too.
    let readings = (1_u32..1 << present.len()).rev().filter_map(|reading| {
        let chosen = present.iter().enumerate().filter(|(bit, _)| reading >> bit & 1 == 1);
        let kinds: Vec<(char, char)> = chosen.map(|(_, kind)| KINDS[*kind]).collect();
        // A resolved backslash alone changes too little to tell one reading from another.
        if kinds == [('\\', '\\')] {
            return None;
        }
        let is_doubtful = kinds.len() < present.len();
        let (old, new) = (resolve(&request.old, &kinds), resolve_new(&new, &kinds)?);
        Some(Reading { old, new, by: request.by.with(Strategy::Escapes), is_doubtful })
    });
    readings.collect()
}

/// The letters behind a backslash in `text`.
fn escapes(text: &str) -> Vec<char> {
    let mut characters = text.chars();
    let mut found = Vec::new();
    while let Some(one) = characters.next() {
        if one == '\\' {
            found.extend(characters.next());
        }
    }
    found
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
        new = resolve(&new, &[('"', '"')]);
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
    let mut result = String::with_capacity(text.len());
    let mut rest = text;
    let mut indents = true;
    while let Some(one) = rest.chars().next() {
        let (len, written) = match one {
            '\\' if rest.starts_with("\\t") && indents => (2, "\t"),
            '\\' => {
                indents = rest.starts_with("\\n");
                let len = 1 + rest[1..].chars().next().map_or(0, char::len_utf8);
                (len, &rest[..len])
            }
            _ => {
                indents = one == '\n' || indents && one.is_whitespace();
                (one.len_utf8(), &rest[..one.len_utf8()])
            }
        };
        result.push_str(written);
        rest = &rest[len..];
    }
    result
}

/// Whether `text` has an escape of this kind and not a single such character as it is.
fn is_over_escaped(text: &str, (letter, character): (char, char)) -> bool {
    let mut has_escape = false;
    let mut has_plain = false;
    let mut characters = text.strip_suffix('\n').unwrap_or(text).chars();
    while let Some(one) = characters.next() {
        if one == '\\' {
            has_escape |= characters.next() == Some(letter);
        } else {
            has_plain |= one == character;
        }
    }
    has_escape && !has_plain
}

/// `text` with the escapes of `kinds` resolved and all others left.
fn resolve(text: &str, kinds: &[(char, char)]) -> String {
    let mut result = String::with_capacity(text.len());
    let mut characters = text.chars();
    while let Some(one) = characters.next() {
        if one != '\\' {
            result.push(one);
            continue;
        }
        let Some(letter) = characters.next() else {
            result.push('\\');
            break;
        };
        match kinds.iter().find(|(known, _)| *known == letter) {
            Some((_, character)) => result.push(*character),
            None => result.extend(['\\', letter]),
        }
    }
    result
}

/// New text is resolved likewise where it was escaped likewise; where it has such a character both ways, nobody
/// knows which is meant.
fn resolve_new(text: &str, kinds: &[(char, char)]) -> Option<String> {
    let mut over_escaped = Vec::new();
    for kind in kinds {
        let is_escaped = text.contains(&format!("\\{}", kind.0));
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
    use crate::edit::{
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
