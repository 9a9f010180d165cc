//! Names that look the same: they differ in their Unicode normal form, or in which blank they have.
//!
//! macOS puts U+202F before AM and PM in the names of screenshots and often writes accents decomposed, web pages are full of
//! U+00A0, and what a model writes is composed, with plain blanks.

use std::borrow::Cow;

use unicode_normalization::{UnicodeNormalization as _, char::is_combining_mark, is_nfc};

/// Whether it is a blank beyond ASCII, of whatever width.
pub fn is_blank(letter: char) -> bool {
    matches!(letter, '\u{a0}' | '\u{1680}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}')
}

/// The form that all names have in common that look like this one: NFC, with plain blanks.
///
/// ```
/// use text_file::look_alike::folded;
///
/// assert_eq!(folded("Cafe\u{301} 10\u{202f}AM"), "Café 10 AM");
/// ```
pub fn folded(name: &str) -> Cow<'_, str> {
    if name.is_ascii() {
        return Cow::Borrowed(name);
    }
    Cow::Owned(name.nfc().map(|letter| if is_blank(letter) { ' ' } else { letter }).collect())
}

/// Whether two names are different and look the same.
pub fn look_alike(one: &str, other: &str) -> bool {
    one != other && !(one.is_ascii() && other.is_ascii()) && folded(one) == folded(other)
}

/// Whether a character of `name` is what a look-alike may have otherwise: a blank, or what NFC composes or replaces.
pub(crate) fn shows_difference(name: &str) -> impl Fn(char) -> bool {
    let composes = !is_nfc(name);
    let is_part = |letter| is_combining_mark(letter) || matches!(letter, '\u{1100}'..='\u{11ff}');
    move |letter| is_blank(letter) || composes && (is_part(letter) || !is_nfc(letter.encode_utf8(&mut [0; 4])))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_blank_and_each_normal_form_look_alike() {
        let blanks = ('\u{80}'..=char::MAX).filter(|letter| letter.is_whitespace() && !letter.is_control());
        for blank in blanks.filter(|letter| !matches!(letter, '\u{2028}' | '\u{2029}')) {
            assert!(is_blank(blank) && look_alike(&format!("a{blank}b"), "a b"), "{blank:?}");
        }
        for (one, other) in [("e\u{301}", "é"), ("\u{1112}\u{1161}\u{11ab}", "\u{d55c}"), ("\u{212b}", "A\u{30a}")] {
            assert!(look_alike(one, other) && !look_alike(one, one), "{one}");
        }
        for (one, other) in [("a", "A"), ("a b", "a_b"), ("ﬁ", "fi"), ("a", "а"), ("a b", "a  b"), ("a\u{200b}", "a")]
        {
            assert!(!look_alike(one, other), "{one} {other}");
        }
    }

    #[test]
    fn what_may_differ_is_shown() {
        let shown = |name: &str| name.chars().filter(|letter| shows_difference(name)(*letter)).collect::<String>();
        assert_eq!(shown("a é\u{a0}b\u{202f}한"), "\u{a0}\u{202f}");
        assert_eq!(shown("é e\u{301} \u{1112}\u{1161} \u{212b}"), "\u{301}\u{1112}\u{1161}\u{212b}");
    }
}
