//! Comparison of names without regard to case and Unicode normal form.

use std::borrow::Cow;

use unicode_normalization::{UnicodeNormalization as _, is_nfc};

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
