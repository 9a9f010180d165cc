//! Long lines cut to what can be shown.

/// `line`, or where it has more than `width` characters those around its `focus`th one, counted from 0, of which
/// `before` are in front of it, with `…` at the cut ends.
///
/// # Examples
/// ```
/// use rootbound::text::truncated;
///
/// assert_eq!(truncated("short", 0, 0, 10), "short");
/// assert_eq!(truncated("a long line", 0, 0, 6), "a long…");
/// assert_eq!(truncated("a long line", 7, 2, 4), "…g li…");
/// ```
pub fn truncated(line: &str, focus: usize, before: usize, width: usize) -> String {
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
