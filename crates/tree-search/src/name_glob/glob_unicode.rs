//! Names beyond ASCII for matchers of bytes: each character of a path and of a pattern as one byte.
//!
//! `globset` compiles to a regular expression of bytes, because [paths are not always UTF-8][bytes], so `?` and
//! a class match one byte, of which `é` [has two][class]. Here every character beyond
//! ASCII becomes a control character that keeps its place among those of the pattern: equal ones stay
//! equal, and what is within a range of the pattern stays within it. Names of ASCII, nearly all, are
//! matched as they are and cost nothing.
//!
//! [bytes]: https://github.com/BurntSushi/ripgrep/issues/635
//! [class]: https://github.com/BurntSushi/ripgrep/issues/2873

use std::path::{Path, PathBuf};

/// Control characters that replace others, in order: not those that are white space, which is trimmed.
const CODES: [(u8, u8); 2] = [(0x01, 0x08), (0x0e, 0x1f)];

/// How the characters of one pattern, or of several, are written.
#[derive(Clone, Debug)]
pub(crate) struct GlobEncoding {
    /// Those of the pattern beyond ASCII, in order.
    known: Vec<char>,
    /// Whether upper and lower case are one.
    folded: bool,
}

impl GlobEncoding {
    /// The encoding for `pattern`; none if it matches bytes as it would characters, and where it has too
    /// many different characters or holds control characters.
    pub(crate) fn of(pattern: &str, folded: bool) -> Option<Self> {
        let needed = pattern.contains(['?', '[']) || (folded && !pattern.is_ascii());
        if !needed || pattern.contains(|letter: char| letter.is_ascii_control()) {
            return None;
        }
        let mut known: Vec<char> = pattern.chars().filter(|letter| !letter.is_ascii()).collect();
        if folded {
            for letter in &mut known {
                *letter = lower(*letter);
            }
        }
        known.sort_unstable();
        known.dedup();
        // Each, and what is before, between and behind them.
        code(2 * known.len()).map(|_| Self { known, folded })
    }

    /// The pattern for paths that are written so.
    pub(crate) fn encode_pattern(&self, pattern: &str) -> String {
        pattern.chars().map(|letter| self.code(letter)).collect()
    }

    /// The path as it is compared; none if it is compared as it is: it is ASCII, or no text, or has
    /// control characters itself.
    pub(crate) fn encode_path(&self, path: &Path) -> Option<PathBuf> {
        let text = path
            .to_str()
            .filter(|text| !text.is_ascii() && !text.contains(|letter: char| letter.is_ascii_control()))?;
        Some(text.chars().map(|letter| self.code(letter)).collect::<String>().into())
    }

    fn code(&self, letter: char) -> char {
        if letter.is_ascii() {
            return letter;
        }
        let letter = if self.folded { lower(letter) } else { letter };
        let place = match self.known.binary_search(&letter) {
            Ok(at) => 2 * at + 1,
            Err(at) => 2 * at,
        };
        code(place).unwrap_or(letter)
    }
}

/// The control character with this number.
fn code(number: usize) -> Option<char> {
    CODES.into_iter().flat_map(|(first, last)| first..=last).nth(number).map(char::from)
}

/// The lower case where it is one character.
fn lower(letter: char) -> char {
    let mut all = letter.to_lowercase();
    match (all.next(), all.next()) {
        (Some(one), None) => one,
        _ => letter,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encoding_keeps_the_order_of_characters() {
        let encoding = GlobEncoding::of("[à-ü]日?", false).unwrap();
        assert_eq!(encoding.encode_pattern("a[à-ü]日"), "a[\u{2}-\u{4}]\u{6}");
        let path = |text: &str| encoding.encode_path(Path::new(text)).map(|path| path.to_str().unwrap().to_owned());
        assert_eq!(path("x/ÀàéüŐ日\u{1f600}").unwrap(), "x/\u{1}\u{2}\u{3}\u{4}\u{5}\u{6}\u{7}");
        assert_eq!((path("ascii"), path("é\u{2}")), (None, None));
    }

    #[test]
    fn pattern_without_need_has_no_encoding() {
        for pattern in ["*.rs", "é*", "é\u{3}?", &('а'..='я').chain(['?']).collect::<String>()] {
            assert!(GlobEncoding::of(pattern, false).is_none(), "{pattern:?}");
        }
        assert!(GlobEncoding::of("É*", true).is_some());
    }
}
