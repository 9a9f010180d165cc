//! Strings of JSON, written as a file writes its own.

use std::fmt::Write as _;

/// How a file spells characters that may be escaped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum JsonStyle {
    /// As they are.
    Plain,
    /// All beyond ASCII as `\u00e9`, as Python's `json` does by default.
    Ascii,
    /// The same as `\u00E9`.
    UpperAscii,
}

impl JsonStyle {
    /// The style of a file. By default characters are written unescaped, as Jupyter does.
    pub(super) fn of(text: &str) -> Self {
        if !text.is_ascii() {
            return Self::Plain;
        }
        let (mut at, mut style) = (0, Self::Plain);
        while let Some(found) = memchr::memchr(b'\\', &text.as_bytes()[at..]) {
            let escape = at + found + 1;
            // A backslash that is escaped begins no escape.
            at = (escape + 1).min(text.len());
            let digits = text[escape..].strip_prefix('u').and_then(|rest| rest.get(..4)).unwrap_or_default();
            if u32::from_str_radix(digits, 16).is_ok_and(|code| code >= 0x80) {
                style = Self::Ascii;
                if digits.bytes().any(|digit| digit.is_ascii_alphabetic()) {
                    let is_upper = digits.bytes().any(|digit| digit.is_ascii_uppercase());
                    return if is_upper { Self::UpperAscii } else { Self::Ascii };
                }
            }
        }
        style
    }

    /// `text` as the content of a string, without its quotation marks.
    pub(super) fn escaped(self, text: &str) -> String {
        let mut json = String::with_capacity(text.len() + 16);
        for character in text.chars() {
            match character {
                '"' => json.push_str("\\\""),
                '\\' => json.push_str("\\\\"),
                '\n' => json.push_str("\\n"),
                '\r' => json.push_str("\\r"),
                '\t' => json.push_str("\\t"),
                '\u{8}' => json.push_str("\\b"),
                '\u{c}' => json.push_str("\\f"),
                '\0'..='\u{1f}' => self.push_unit(&mut json, u16::try_from(u32::from(character)).unwrap_or_default()),
                _ if character.is_ascii() || self == Self::Plain => json.push(character),
                _ => character.encode_utf16(&mut [0; 2]).iter().for_each(|unit| self.push_unit(&mut json, *unit)),
            }
        }
        json
    }

    fn push_unit(self, json: &mut String, unit: u16) {
        // Writing to a string cannot fail.
        let _ = if self == Self::UpperAscii { write!(json, "\\u{unit:04X}") } else { write!(json, "\\u{unit:04x}") };
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn style_is_that_of_the_escapes_in_a_file() {
        for (text, style) in [
            ("plain", JsonStyle::Plain),
            ("é and \\u00e9", JsonStyle::Plain),
            ("a \\u001b", JsonStyle::Plain),
            ("a \\\\u00e9", JsonStyle::Plain),
            ("a \\u0085", JsonStyle::Ascii),
            ("a \\u0085 \\u00E9", JsonStyle::UpperAscii),
            ("a \\u00e9", JsonStyle::Ascii),
            ("\\", JsonStyle::Plain),
            ("\\u00", JsonStyle::Plain),
        ] {
            assert_eq!(JsonStyle::of(text), style, "{text}");
        }
    }

    #[test]
    fn characters_are_escaped_as_json_demands_and_the_style_wants() {
        let text = "\"\\\t\u{1b}é😀\u{2028}/";
        assert_eq!(JsonStyle::Plain.escaped(text), "\\\"\\\\\\t\\u001bé😀\u{2028}/");
        assert_eq!(JsonStyle::Ascii.escaped(text), "\\\"\\\\\\t\\u001b\\u00e9\\ud83d\\ude00\\u2028/");
        assert!(JsonStyle::UpperAscii.escaped(text).contains("\\u001B\\u00E9\\uD83D"));
    }

    proptest! {
        #[test]
        fn escaped_text_reads_back(text in any::<String>()) {
            for style in [JsonStyle::Plain, JsonStyle::Ascii, JsonStyle::UpperAscii] {
                let json = format!("\"{}\"", style.escaped(&text));
                prop_assert_eq!(&serde_json::from_str::<String>(&json).unwrap(), &text);
                prop_assert!(style == JsonStyle::Plain || json.is_ascii());
            }
        }
    }
}
