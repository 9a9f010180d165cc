//! What was typed of a path, ready to be compared with names without regard to case and Unicode normal form.

use std::borrow::Cow;

use percent_encoding::percent_decode_str;
use unicode_normalization::{UnicodeNormalization as _, is_nfc};

/// Bytes of the longest text that is completed: a person types less, and the work grows with it.
const LONGEST: usize = 512;

/// A typed beginning, part or abbreviation of a path below a root.
#[derive(Debug)]
pub(super) struct PathQuery {
    /// Without `.`, `..` and leading slashes.
    pub(super) text: String,
    /// The same, folded.
    pub(super) folded: String,
}

impl PathQuery {
    /// `None` for what leaves the root, and for what is too long or no path: nothing fits it.
    pub(super) fn parse(text: &str) -> Option<Self> {
        if text.len() > LONGEST || text.contains('\0') {
            return None;
        }
        let mut names: Vec<&str> = Vec::new();
        for name in text.split('/') {
            match name {
                "" | "." => {}
                ".." => {
                    names.pop()?;
                }
                _ => names.push(name),
            }
        }
        let mut text = names.join("/") + if text.ends_with('/') && !names.is_empty() { "/" } else { "" };
        text.shrink_to_fit();
        Some(Self { folded: folded(&text).into_owned(), text })
    }

    pub(super) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// Whether more than a name was typed.
    pub(super) fn is_path(&self) -> bool {
        self.text.contains('/')
    }

    /// What else it may mean when nothing fits it: without the `@` of a mention, and percent-decoded.
    pub(super) fn other_readings(&self) -> Vec<Self> {
        let mention = self.text.strip_prefix('@').and_then(Self::parse);
        let decoded = || percent_decode_str(&self.text).decode_utf8().ok().filter(|decoded| *decoded != self.text);
        let decoded = decoded().and_then(|decoded| Self::parse(&decoded));
        [mention, decoded].into_iter().flatten().filter(|query| !query.is_empty()).collect()
    }
}

/// `text` as names are compared: composed, as macOS stores names decomposed, and in lower case.
pub(super) fn folded(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        let has_upper = text.bytes().any(|byte| byte.is_ascii_uppercase());
        return if has_upper { Cow::Owned(text.to_ascii_lowercase()) } else { Cow::Borrowed(text) };
    }
    let lower = text.to_lowercase();
    Cow::Owned(if is_nfc(&lower) { lower } else { lower.nfc().collect() })
}

/// Whether the characters of `needle` are in `text`, in that order.
pub(super) fn has_in_order(text: &str, needle: &str) -> bool {
    if text.is_ascii() && needle.is_ascii() {
        let mut rest = text.bytes();
        return needle.bytes().all(|wanted| rest.any(|one| one == wanted));
    }
    let mut rest = text.chars();
    needle.chars().all(|wanted| rest.any(|one| one == wanted))
}
