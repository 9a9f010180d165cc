//! Text of bounded length, for messages that repeat what a caller sent.
//!
//! Cuts the end. A window around a match is `search`'s excerpt, and a diff is cut by its lines.

use std::borrow::Cow;

/// The first `most` characters of `text`, and `…` where there are more.
///
/// # Examples
/// ```
/// use rootbound::text::shorten;
///
/// assert_eq!(shorten("café", 4), "café");
/// assert_eq!(shorten("cafés", 4), "café…");
/// ```
pub fn shorten(text: &str, most: usize) -> Cow<'_, str> {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]).into(),
        None => text.into(),
    }
}
