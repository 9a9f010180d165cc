//! What messages repeat: sizes as text, and texts that a caller sent, of bounded length.
//!
//! Cuts the end of a text, or both ends around what matters. A diff is cut by its lines, in `text_edit`.

use std::borrow::Cow;

/// A limit or an option, exactly: in the largest unit that it is a whole number of.
///
/// # Examples
/// ```
/// use text_file::exact_size;
///
/// assert_eq!(exact_size(16 << 20), "16 MiB");
/// assert_eq!(exact_size(1000), "1000 bytes");
/// ```
pub fn exact_size(bytes: u64) -> String {
    for (unit, shift) in [("GiB", 30), ("MiB", 20), ("KiB", 10)] {
        if bytes > 0 && bytes.trailing_zeros() >= shift {
            return format!("{} {unit}", bytes >> shift);
        }
    }
    if bytes == 1 { "1 byte".to_owned() } else { format!("{bytes} bytes") }
}

/// The size of a file, to one decimal place and in units of 1024, as `ls -lh` has it.
///
/// # Examples
/// ```
/// use text_file::file_size;
///
/// assert_eq!(file_size(812), "812 B");
/// assert_eq!(file_size(12_595), "12.3 KB");
/// ```
pub fn file_size(bytes: u64) -> String {
    // Tenths of the largest u64 need more bits than it has.
    let (bytes, mut unit, mut scale) = (u128::from(bytes), "B", 1);
    for larger in ["KB", "MB", "GB"] {
        // 1023.95 KB would be printed as 1024.0 KB.
        if bytes * 20 < scale * 1024 * 20 - scale {
            break;
        }
        (unit, scale) = (larger, scale * 1024);
    }
    if scale == 1 {
        return format!("{bytes} B");
    }
    let tenths = (bytes * 10 + scale / 2) / scale;
    format!("{}.{} {unit}", tenths / 10, tenths % 10)
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exact_size_never_rounds() {
        for (bytes, expected) in
            [(0, "0 bytes"), (1, "1 byte"), (1536, "1536 bytes"), (2048, "2 KiB"), (3 << 30, "3 GiB")]
        {
            assert_eq!(exact_size(bytes), expected);
        }
    }

    #[test]
    fn file_size_has_one_decimal_place() {
        for (bytes, expected) in [
            (1023, "1023 B"),
            (1024, "1.0 KB"),
            (1_048_575, "1.0 MB"),
            (4 << 20, "4.0 MB"),
            (5 << 40, "5120.0 GB"),
            (u64::MAX, "17179869184.0 GB"),
        ] {
            assert_eq!(file_size(bytes), expected);
        }
    }
}
