//! Typographic characters taken for their plain forms, in whole lines.
//!
//! Models type a plain quote for a curly one and the reverse without meaning it
//! (<https://github.com/anthropics/claude-code/issues/26141>, <https://github.com/anthropics/claude-code/issues/31863>).
//! Curly quotes, dashes, unusual spaces and the ellipsis count as what a keyboard has, and letters count as
//! equal whatever their Unicode normal form. What a request leaves alone within a changed line keeps the
//! file's characters.

use std::borrow::Cow;

use unicode_normalization::UnicodeNormalization;

use super::line_parts::without_trailing_whitespace;

/// A line with plain characters in the composed normal form, without white space at its end.
pub(super) fn fold(line: &str) -> Cow<'_, str> {
    if line.is_ascii() {
        return Cow::Borrowed(without_trailing_whitespace(line));
    }
    let mut folded = folded(line);
    folded.truncate(without_trailing_whitespace(&folded).len());
    Cow::Owned(folded)
}

pub(super) fn folded(text: &str) -> String {
    replaced(text.len(), text.nfc(), plain)
}

/// About `length` bytes of characters, with what `plain` has for some of them in their place.
pub(super) fn replaced(
    length: usize,
    text: impl Iterator<Item = char>,
    plain: impl Fn(char) -> Option<&'static str>,
) -> String {
    text.fold(String::with_capacity(length), |mut text, character| {
        match plain(character) {
            Some(plain) => text.push_str(plain),
            None => text.push(character),
        }
        text
    })
}

/// The keys of a keyboard for a typographic character. Fewer than the confusables of UTS #39
/// (<https://www.unicode.org/reports/tr39/#Confusable_Detection>): letters that look alike are different names.
pub(super) fn plain(character: char) -> Option<&'static str> {
    match character {
        '\u{2018}'..='\u{201B}' | '\u{2032}' => Some("'"),
        '\u{201C}'..='\u{201F}' | '\u{2033}' => Some("\""),
        '\u{2010}'..='\u{2015}' | '\u{2212}' => Some("-"),
        '\u{2026}' => Some("..."),
        '\u{A0}' | '\u{2000}'..='\u{200A}' | '\u{202F}' | '\u{205F}' | '\u{3000}' => Some(" "),
        _ => None,
    }
}

/// A line's indentation, unusual spaces taken for usual ones, and what follows without spaces at its end.
pub(super) fn indented(line: &str) -> (Cow<'_, str>, &str) {
    let body = without_trailing_whitespace(line);
    let (indent, content) = body.split_at(indent_len(body));
    (plain_indent(indent), content)
}

pub(super) fn plain_indent(indent: &str) -> Cow<'_, str> {
    if indent.is_ascii() {
        return Cow::Borrowed(indent);
    }
    Cow::Owned(indent.chars().map(|one| if one == '\t' { '\t' } else { ' ' }).collect())
}

/// How long the indentation of a line is, unusual spaces included, in bytes; all of a blank line.
pub(super) fn indent_len(line: &str) -> usize {
    line.len() - line.trim_start_matches(|one: char| matches!(one, ' ' | '\t') || plain(one) == Some(" ")).len()
}

/// A line in plain characters without white space at either end.
pub(super) fn content(line: &str) -> Cow<'_, str> {
    match fold(line) {
        Cow::Borrowed(line) => Cow::Borrowed(line.trim_start_matches([' ', '\t'])),
        Cow::Owned(line) => Cow::Owned(line.trim_start_matches([' ', '\t']).to_owned()),
    }
}

pub(super) fn joined(lines: &[&str]) -> String {
    lines.iter().map(|line| without_trailing_whitespace(line)).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use crate::{
        Strategy::Typography,
        testing::{assert_ambiguous, assert_edited, assert_missed},
    };

    #[test]
    fn plain_text_matches_typographic_lines_which_keep_what_does_not_change() {
        assert_edited(
            "He said “hello” – it’s fine…\nend\n",
            "He said \"hello\" - it's fine...\nend\n",
            "He said \"hello\" - it's good...\nend\n",
            Typography,
            "He said “hello” – it’s good…\nend\n",
        );
        assert_edited("key:\u{a0}value one\n", "key: value one", "key: value two", Typography, "key:\u{a0}value two\n");
    }

    #[test]
    fn typographic_text_matches_plain_lines_which_stay_plain() {
        assert_edited("say(\"hi\", 'x')\n", "say(“hi”, ‘x’)\n", "say(“ho”, ‘x’)\n", Typography, "say(\"ho\", 'x')\n");
    }

    #[test]
    fn the_normal_form_of_letters_does_not_matter_and_stays_the_files() {
        assert_edited("cafe\u{301} noir\n", "caf\u{e9} noir\n", "caf\u{e9} blanc\n", Typography, "cafe\u{301} blanc\n");
        assert_edited("caf\u{e9} noir\n", "cafe\u{301} noir\n", "cafe\u{301} vert\n", Typography, "caf\u{e9} vert\n");
    }

    #[test]
    fn lines_that_do_not_change_keep_every_byte() {
        assert_edited(
            "a “b” c\nplain 1\n",
            "a \"b\" c\nplain 1\n",
            "a \"b\" c\nplain 2\nx\n",
            Typography,
            "a “b” c\nplain 2\nx\n",
        );
    }

    #[test]
    fn the_request_may_change_the_typography_itself() {
        assert_edited("it’s “so”\n", "it's \"so\"\n", "it's “so”, really\n", Typography, "it’s “so”, really\n");
    }

    #[test]
    fn a_fragment_is_not_widened_and_two_places_are_ambiguous() {
        assert_missed("say “hello there” now\n", "\"hello there\"", "x");
        assert_eq!(assert_ambiguous("a “bcd”\na “bcd”\n", "a \"bcd\"\n", "x\n"), [1, 2]);
    }

    #[test]
    fn moving_one_of_two_lines_with_different_spellings_is_refused() {
        let (text, old) = ("  f(a,\u{a0}b)\nif c:\n    f(a, b)\n", "  f(a, b)\nif c:\n    f(a, b)\n");
        assert_missed(text, old, "x:\n    f(a, b)\n  if c:\n      f(a, b)\n");
        assert_edited(text, old, &old.replace("if c", "if d"), Typography, &text.replace("if c", "if d"));
    }

    #[test]
    fn new_characters_are_spelled_as_the_file_spells_such_ones() {
        assert_edited("a b c\n", "a\u{a0}b\u{a0}c\n", "a\u{a0}b\u{a0}c\n\u{a0}d\u{a0}e\n", Typography, "a b c\n d e\n");
        assert_edited(
            "say “yes” now\n",
            "say \"yes\" now\n",
            "say \"yes\" or \"no\" now\n",
            Typography,
            "say “yes” or “no” now\n",
        );
        assert_edited("one – two\n", "one - two\n", "one - two x-ray\n", Typography, "one – two x-ray\n");
    }

    #[test]
    fn lines_that_are_only_reindented_keep_every_character() {
        assert_edited(
            "a\u{a0}b c\nx\u{a0}y\n",
            "a b c\nx y\n",
            "if q:\n  a b c\n  x y\n",
            Typography,
            "if q:\n  a\u{a0}b c\n  x\u{a0}y\n",
        );
    }

    #[test]
    fn three_dots_are_never_cut_apart() {
        assert_edited(
            "1, 2, 3, …, 0*x, 1*x\n2*x, 3*x, …\n",
            "1, 2, 3, ..., 0*x, 1*x\n2*x, 3*x, ...\n",
            "1, 2, 3, ..., 0*some.thing, 1*some.thing\n2*some.thing, 3*some.thing, ...\n",
            Typography,
            "1, 2, 3, …, 0*some.thing, 1*some.thing\n2*some.thing, 3*some.thing, …\n",
        );
    }

    #[test]
    fn a_space_before_what_is_put_in_stays() {
        assert_edited("foo1\n)\u{a0}{\n", "foo1\n) {\n", "foo1\n) { // so\n", Typography, "foo1\n)\u{a0}{ // so\n");
    }

    #[test]
    fn lines_that_read_alike_do_not_mislead_to_another_line() {
        assert_edited(
            "a1\n#\nb\u{a0}c\n  d\n  #\n",
            "a1\n#\nb c\n  d\n  #\n",
            "if:\n  a1\n  #\n  b c\n    d\n    #\n",
            Typography,
            "if:\n  a1\n  #\n  b\u{a0}c\n    d\n    #\n",
        );
    }

    #[test]
    fn typographic_characters_in_new_text_are_plain_where_those_of_old_text_are() {
        assert_edited(
            "say(\"hi\")\nend1()\n",
            "say(“hi”)\nend1()\n",
            "say(“hi”)\nlog(‘it’, “x”)\nend1()\n",
            Typography,
            "say(\"hi\")\nlog('it', \"x\")\nend1()\n",
        );
        assert_edited(
            "a1 = f(b, c)\n",
            "a1 = f(b,\u{a0}c)\n",
            "a1 = f(b,\u{a0}“c”)\n",
            Typography,
            "a1 = f(b, \"c\")\n",
        );
        assert_missed("say(\"hi\")\n", "say(“hi”)\n", "say(“hi”) # one — two\n");
        assert_missed("say(\"hi\")\n# “so”\n", "say(“hi”)\n# “so”\n", "say(‘hi’)\n# “so”\n");
    }

    #[test]
    fn indentation_by_no_break_spaces_is_indentation() {
        assert_edited(
            "    foo1 {\n",
            "\u{a0}\u{a0}\u{a0}\u{a0}foo1\u{a0}{\n",
            "when:\n\t\u{a0}\u{a0}\u{a0}\u{a0}foo1\u{a0}{\n",
            Typography,
            "when:\n\t    foo1 {\n",
        );
    }

    #[test]
    fn a_rewritten_line_takes_no_space_from_the_one_it_replaces() {
        assert_edited("return\u{a0}Err(x)\n", "return Err(x)\n", "done = go(1)\n", Typography, "done = go(1)\n");
        assert_edited("a\u{a0}= [first]\n", "a = [first]\n", "b = go(1)\n", Typography, "b = go(1)\n");
        assert_edited(
            "const\u{a0}N: u8 = 3;\n",
            "const N: u8 = 3;\n",
            "replacement = go(1)\n",
            Typography,
            "replacement = go(1)\n",
        );
    }

    #[test]
    fn a_quote_of_unclear_form_refuses_the_match() {
        assert_missed("say “yes” now\n", "say \"yes\" now\n", "say \"yes\" now \" \n");
    }
}
