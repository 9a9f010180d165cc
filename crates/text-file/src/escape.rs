//! Escapes names that cannot be shown as they are, and reads them back exactly.
//!
//! `\\` means a backslash, `\xNN` a byte that is not UTF-8, `\u{…}` a control or invisible character: a name with a
//! newline would forge a line of an answer, one with escape sequences would drive a terminal, and one with invisible
//! characters would hide instructions from a person. A name is escaped only when it must be, so `a\b` stays `a\b`.

use std::ffi::{OsStr, OsString};
use std::{borrow::Cow, fmt::Write as _};

use crate::{look_alike::shows_difference, shorten};

/// How many characters of a refused text are shown.
const SHOWN_CHARS: usize = 200;

/// A single name as it is printed for a model: one line, nothing invisible, and resolvable.
pub fn escape_name(name: &OsStr) -> Cow<'_, str> {
    let bytes = name.as_encoded_bytes();
    let plain_ascii = |byte: &u8| (0x20..0x7f).contains(byte) && *byte != b'\\';
    match std::str::from_utf8(bytes) {
        Ok(text) if bytes.iter().all(plain_ascii) => Cow::Borrowed(text),
        Ok(text) if !text.chars().any(needs_escape) && !holds_escape(text) => Cow::Borrowed(text),
        _ => Cow::Owned(escaped(bytes, needs_escape)),
    }
}

/// As [`escape_name`], with all escaped in which the name may differ from one that looks the same.
pub fn escape_difference(name: &OsStr) -> Cow<'_, str> {
    let is_other = name.to_str().filter(|text| !text.is_ascii()).map(shows_difference);
    match is_other.filter(|is_other| name.to_str().is_some_and(|text| text.contains(is_other))) {
        Some(is_other) => {
            Cow::Owned(escaped(name.as_encoded_bytes(), |letter| needs_escape(letter) || is_other(letter)))
        }
        None => escape_name(name),
    }
}

/// The name that a printed component means; `None` when an escape in it means a separator, a NUL or a dot name.
pub fn unescape_name(text: &str) -> Option<OsString> {
    // Where a backslash separates names there is none in a name, and so no escape.
    let escapes = !std::path::is_separator('\\') && text.contains('\\');
    let Some(bytes) = escapes.then(|| unescaped(text)).flatten() else {
        return Some(text.into());
    };
    let forbidden = bytes.iter().any(|byte| matches!(byte, b'/' | 0));
    let dots = matches!(bytes.as_slice(), b"." | b".." | b"");
    if forbidden || dots { None } else { name_of(bytes) }
}

/// The name of these bytes; `None` where the system has no such names.
pub fn name_of(bytes: Vec<u8>) -> Option<OsString> {
    #[cfg(unix)]
    return Some(std::os::unix::ffi::OsStringExt::from_vec(bytes));
    #[cfg(not(unix))]
    String::from_utf8(bytes).ok().map(OsString::from)
}

/// Text from a caller for one line of an answer, cut to 200 characters.
pub fn escape_text(text: &str) -> String {
    with_escapes(&shorten(text, SHOWN_CHARS), needs_escape)
}

/// Text of several lines that may repeat what a caller sent: control and invisible characters
/// escaped, line breaks and tabs kept, so that no terminal is driven by it.
pub fn escape_controls(text: &str) -> Cow<'_, str> {
    let drives = |character: char| !matches!(character, '\n' | '\t') && needs_escape(character);
    if text.contains(drives) { Cow::Owned(with_escapes(text, drives)) } else { Cow::Borrowed(text) }
}

fn with_escapes(text: &str, needs_escape: impl Fn(char) -> bool) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        if needs_escape(character) { push_escape(&mut out, character) } else { out.push(character) }
    }
    out
}

/// Characters that take no room, or turn the text around them: what hides one name in another.
/// Default-ignorable code points and bidirectional controls of Unicode 16, plus the fillers.
pub fn is_invisible(character: char) -> bool {
    matches!(character,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}'
        | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{e0fff}')
}

fn needs_escape(character: char) -> bool {
    // U+FE0F only asks for the coloured form of an emoji, which honest names have.
    character.is_control() || (is_invisible(character) && character != '\u{fe0f}')
}

pub(crate) fn push_escape(out: &mut String, character: char) {
    // Writing to a String does not fail.
    let _ = write!(out, "\\u{{{:x}}}", u32::from(character));
}

fn escaped(bytes: &[u8], needs_escape: impl Fn(char) -> bool) -> String {
    let mut out = String::with_capacity(bytes.len() + 16);
    for chunk in bytes.utf8_chunks() {
        for character in chunk.valid().chars() {
            match character {
                '\\' => out.push_str("\\\\"),
                _ if needs_escape(character) => push_escape(&mut out, character),
                _ => out.push(character),
            }
        }
        for byte in chunk.invalid() {
            let _ = write!(out, "\\x{byte:02x}");
        }
    }
    out
}

fn holds_escape(text: &str) -> bool {
    text.match_indices('\\').any(|(at, _)| take_escape(&text[at..]).is_some())
}

/// All escapes of a text undone; None when a backslash in it begins none, for then the text is a
/// plain name that happens to hold backslashes.
fn unescaped(text: &str) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        out.extend_from_slice(&rest.as_bytes()[..at]);
        let (meant, length) = take_escape(&rest[at..])?;
        out.extend(meant);
        rest = &rest[at + length..];
    }
    out.extend_from_slice(rest.as_bytes());
    Some(out)
}

/// The bytes that the escape at the start of `text` means, and its length.
fn take_escape(text: &str) -> Option<(Vec<u8>, usize)> {
    let rest = text.strip_prefix('\\')?;
    if rest.starts_with('\\') {
        return Some((b"\\".to_vec(), 2));
    }
    if let Some(digits) = rest.strip_prefix('x') {
        // `from_str_radix` alone would take `+f`.
        let digits = digits.get(..2).filter(|two| is_hex(two))?;
        return Some((vec![u8::from_str_radix(digits, 16).ok()?], 4));
    }
    let digits = rest.strip_prefix("u{")?;
    let digits = &digits[..digits.find('}').filter(|length| (1..=6).contains(length))?];
    let code = u32::from_str_radix(Some(digits).filter(|all| is_hex(all))?, 16).ok()?;
    Some((char::from_u32(code)?.to_string().into_bytes(), digits.len() + 4))
}

fn is_hex(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::ffi::OsStrExt as _;

    use proptest::prelude::*;

    use super::*;

    fn name(bytes: &[u8]) -> &OsStr {
        OsStr::from_bytes(bytes)
    }

    #[test]
    fn ordinary_names_are_printed_unchanged() {
        for plain in ["a.txt", "größe.md", "日本.rs", "a\\b", "-", " x ", "❤\u{fe0f}.md"] {
            assert_eq!(escape_name(OsStr::new(plain)), plain);
            assert_eq!(unescape_name(plain), Some(plain.into()));
        }
    }

    #[test]
    fn odd_names_are_escaped() {
        assert_eq!(escape_name(name(b"a\nb")), "a\\u{a}b");
        assert_eq!(escape_name(name(b"a\xffb")), "a\\xffb");
        assert_eq!(escape_name(OsStr::new("x\u{202e}y")), "x\\u{202e}y");
        assert_eq!(escape_name(name(b"a\\x41")), "a\\\\x41");
    }

    #[test]
    fn what_parts_names_that_look_the_same_is_escaped() {
        for (plain, shown) in
            [("10\u{202f}AM\\", "10\\u{202f}AM\\\\"), ("e\u{301}", "e\\u{301}"), ("é b", "é b"), ("a\nb", "a\\u{a}b")]
        {
            assert_eq!(escape_difference(OsStr::new(plain)), shown);
            assert_eq!(unescape_name(shown), Some(plain.into()));
        }
    }

    #[test]
    fn escaped_separator_nul_and_dots_are_refused() {
        for hidden in ["\\x2f", "a\\u{2f}b", "\\x00", "\\x2e\\x2e", ".\\x2e", "\\u{2e}"] {
            assert_eq!(unescape_name(hidden), None, "{hidden}");
        }
    }

    #[test]
    fn refused_text_is_shown_on_one_short_line() {
        let shown = escape_text(&format!("a\nb{}", "x".repeat(500)));
        assert!(shown.starts_with("a\\u{a}b") && shown.chars().count() < 220, "{shown}");
    }

    proptest! {
        #[test]
        fn escaping_is_undone_exactly(bytes in proptest::collection::vec(
            prop_oneof![
                Just(b'\\'), Just(b'x'), Just(b'u'), Just(b'{'), Just(b'}'), Just(b'4'), Just(b'\n'),
                1_u8..=b'.', b'0'..=255,
            ], 1..12)) {
            prop_assume!(bytes != b"." && bytes != b"..");
            let printed = escape_name(name(&bytes));
            prop_assert!(!printed.contains(char::is_control));
            let back = unescape_name(&printed);
            prop_assert_eq!(back.as_deref(), Some(name(&bytes)));
        }

        #[test]
        fn different_names_print_differently(one in "[\\\\xu{}41a\n]{1,8}", other in "[\\\\xu{}41a\n]{1,8}") {
            prop_assume!(one != other);
            prop_assert_ne!(escape_name(OsStr::new(&one)), escape_name(OsStr::new(&other)));
        }
    }
}
