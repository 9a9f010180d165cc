//! Raised and lowered text in a line: `10^6` and `H_2O`, where without a mark another number or name would be read.
//!
//! A mark is set where there are digits or signs; letters, as in 1st, stay as they are. A raised digit after a word is marked
//! like every other: whether it counts a note or a power is for the reader, and `km2` or `1,2343` would be neither.

use std::{borrow::Cow, mem};

/// Bytes of the longest raised text that gets a mark: a longer one is a text of its own.
const MAX_MARKED: usize = 48;

/// Signs that have a meaning where they are raised or lowered.
const MEANINGFUL_SIGNS: &str = "+-−–±∓=<>≤≥×·/";

#[derive(Debug, Default)]
pub(crate) struct Scripts {
    /// The sign of what comes: `^` for raised text, `_` for lowered text.
    sign: Option<char>,
    /// Such text that may go on in the next run, without what was too long to be marked; and its sign.
    open: Option<(char, String)>,
    is_long: bool,
}

impl Scripts {
    /// Says what comes; a space is text that is neither.
    pub(crate) fn set(&mut self, sign: Option<char>) {
        self.sign = sign.filter(|sign| *sign != ' ');
    }

    /// What is to be added to the text, where the author's text goes on with `text`.
    pub(crate) fn add<'t>(&mut self, text: &'t str) -> Cow<'t, str> {
        match (self.sign, &mut self.open) {
            (None, None) => Cow::Borrowed(text),
            _ if text.is_empty() => Cow::Borrowed(text),
            (Some(sign), Some((open, _))) if *open == sign && self.is_long => Cow::Borrowed(text),
            (Some(sign), Some((open, all))) if *open == sign => {
                all.push_str(text);
                self.is_long = all.len() > MAX_MARKED;
                Cow::Owned(if self.is_long { mem::take(all) } else { String::new() })
            }
            (sign, _) => {
                let before = self.end(text.chars().next().filter(|_| sign.is_none()));
                let Some(sign) = sign else { return Cow::Owned(before + text) };
                self.open = Some((sign, String::new()));
                Cow::Owned(before + &self.add(text))
            }
        }
    }

    /// The open text with its mark; `next` is the character after it.
    pub(crate) fn end(&mut self, next: Option<char>) -> String {
        self.is_long = false;
        self.open.take().map(|(sign, text)| shown(sign, &text, next)).unwrap_or_default()
    }

    pub(crate) fn is_open(&self) -> bool {
        self.open.is_some()
    }
}

fn shown(mark: char, text: &str, next: Option<char>) -> String {
    let inner = text.trim();
    let (has_sign, has_digit) =
        (inner.contains(|sign| MEANINGFUL_SIGNS.contains(sign)), inner.contains(|sign: char| sign.is_ascii_digit()));
    // What is in brackets of its own is a reference, and words with spaces are text.
    let is_text = inner.starts_with('[') || inner.contains(char::is_whitespace) && !has_sign;
    if !(has_sign || has_digit) || is_text {
        return text.to_owned();
    }
    let (before, after) = text.split_once(inner).unwrap_or_default();
    // A digit after it would be taken for one of its own.
    let is_open = after.is_empty() && next.is_some_and(|next| next.is_ascii_digit());
    let marked = if is_open { format!("{mark}{{{inner}}}") } else { marked(mark, inner) };
    [before, &marked, after].concat()
}

/// `^6`, `^-3` or `^{n+1}`; nothing for an empty text.
pub(crate) fn marked(mark: char, text: &str) -> String {
    let digits = text.strip_prefix(['+', '-', '−', '–', '±']).unwrap_or(text);
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    match text.chars().count() {
        0 => String::new(),
        1 => format!("{mark}{text}"),
        _ if is_number => format!("{mark}{text}"),
        _ => format!("{mark}{{{text}}}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_signs_get_a_mark_and_letters_none() {
        for (text, next, shown) in [
            ("6", None, "^6"),
            ("-3", Some(' '), "^-3"),
            ("−12", None, "^−12"),
            ("6", Some('5'), "^{6}"),
            ("n+1", None, "^{n+1}"),
            ("2+", None, "^{2+}"),
            ("+", None, "^+"),
            ("1,2", None, "^{1,2}"),
            ("0.5", None, "^{0.5}"),
            (" 2 ", Some('5'), " ^2 "),
            ("n + 1", None, "^{n + 1}"),
            ("st", None, "st"),
            ("n", None, "n"),
            ("TM", None, "TM"),
            ("*", None, "*"),
            ("[12]", None, "[12]"),
            ("see 5 there", None, "see 5 there"),
            ("", None, ""),
            (" ", None, " "),
        ] {
            assert_eq!(super::shown('^', text, next), shown, "{text}");
        }
    }

    #[test]
    fn runs_of_one_text_have_one_mark() {
        let texts = |runs: &[(Option<char>, &str)]| {
            let (mut scripts, mut all) = (Scripts::default(), String::new());
            for (sign, text) in runs {
                scripts.set(*sign);
                all.push_str(&scripts.add(text));
            }
            all + &scripts.end(None)
        };
        let (up, down) = (Some('^'), Some('_'));
        assert_eq!(texts(&[(None, "x"), (up, "-"), (up, "1"), (up, ""), (up, "2"), (None, " m")]), "x^-12 m");
        assert_eq!(texts(&[(None, "SO"), (down, "4"), (up, "2"), (up, "−"), (None, "")]), "SO_4^{2−}");
        assert_eq!(texts(&[(None, "1"), (up, "6"), (None, "5")]), "1^{6}5");
        let long = "1".repeat(MAX_MARKED);
        assert_eq!(texts(&[(up, &long), (up, "2"), (up, "3"), (None, "x")]), format!("{long}23x"));
    }
}
