//! Text of bounded length, for messages that repeat what a caller sent.
//!
//! Cuts the end, or both ends around what matters. A diff is cut by its lines, in `edit`.

use std::borrow::Cow;

/// The first `most` characters of `text`, and `…` where there are more.
///
/// # Examples
/// ```
/// use text_file::shorten;
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

/// `line`, or where it has more than `width` characters those around its `focus`th one, counted from 0, of which
/// `before` are in front of it, with `…` at the cut ends.
///
/// # Examples
/// ```
/// use text_file::shorten_around;
///
/// assert_eq!(shorten_around("short", 0, 0, 10), "short");
/// assert_eq!(shorten_around("a long line", 0, 0, 6), "a long…");
/// assert_eq!(shorten_around("a long line", 7, 2, 4), "…g li…");
/// ```
pub fn shorten_around(line: &str, focus: usize, before: usize, width: usize) -> String {
    // Bytes first: most lines need not be counted.
    if line.len() <= width || line.chars().nth(width).is_none() {
        return line.to_owned();
    }
    let start = focus.saturating_sub(before).min(line.chars().count() - width);
    let mut rest = line.chars().skip(start);
    let shown: String = rest.by_ref().take(width).collect();
    let (cut_before, cut_after) = (start > 0, rest.next().is_some());
    format!("{}{shown}{}", if cut_before { "…" } else { "" }, if cut_after { "…" } else { "" })
}
