//! The line that begins a hunk: `@@ -1,3 +1,4 @@ fn f()`, `@@ class A`, `@@`.

/// What the line says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct HunkHeader<'p> {
    /// The first old line, from 1.
    pub(super) at: Option<usize>,
    /// The first new line, from 1.
    pub(super) new_at: Option<usize>,
    /// How many lines there are before and after.
    pub(super) counts: Option<(usize, usize)>,
    /// A line above the place.
    pub(super) context: Option<&'p str>,
    /// What is behind line numbers: usually a line above the place.
    pub(super) heading: Option<&'p str>,
}

impl<'p> HunkHeader<'p> {
    /// `None` where the line begins no hunk.
    pub(super) fn parse(line: &'p str) -> Option<Self> {
        let rest = line.trim_end().strip_prefix("@@")?;
        if rest.is_empty() {
            return Some(Self::default());
        }
        let rest = rest.strip_prefix(' ')?;
        let said = |text: &'p str| Some(text.trim()).filter(|text| !text.is_empty());
        let (within, behind) = match rest.split_once("@@") {
            Some((within, behind)) => (within.trim(), behind),
            None => (rest.trim(), ""),
        };
        if let Some(LineNumbers { at, new_at, counts }) = numbers(within) {
            return Some(Self { at, new_at, counts, heading: said(behind), context: None });
        }
        // `@@ ... @@ fn f()`: nothing but dots where the numbers would be.
        if within.chars().all(|one| matches!(one, '.' | '…' | ' ' | '-' | '+')) && rest.contains("@@") {
            return Some(Self { heading: said(behind), ..Self::default() });
        }
        Some(Self { context: said(rest.trim_end().strip_suffix("@@").unwrap_or(rest)), ..Self::default() })
    }
}

/// The numbers of a header, as far as they are said.
struct LineNumbers {
    at: Option<usize>,
    new_at: Option<usize>,
    counts: Option<(usize, usize)>,
}

/// `-12,3 +12,4`, with the counts and with `...` for what is left out.
fn numbers(text: &str) -> Option<LineNumbers> {
    let mut words = text.split_whitespace();
    let (old, new) = (words.next()?.strip_prefix('-')?, words.next()?.strip_prefix('+')?);
    if words.next().is_some() {
        return None;
    }
    let range = |text: &str| {
        let (start, count) = text.split_once(',').unwrap_or((text, "1"));
        let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let parsed = |text: &str| is_number(text).then(|| text.parse().unwrap_or(usize::MAX));
        let is_unknown = |text: &str| text.bytes().all(|byte| matches!(byte, b'.' | b'?' | b'X' | b'x' | b'N'));
        (is_number(start) || is_unknown(start)).then(|| (parsed(start), parsed(count)))
    };
    let ((at, old_count), (new_at, new_count)) = (range(old)?, range(new)?);
    Some(LineNumbers { at, new_at, counts: at.and(old_count.zip(new_count)) })
}

#[cfg(test)]
mod tests {
    use super::HunkHeader;

    #[test]
    fn headers_of_both_forms_are_read() {
        let of = |line| HunkHeader::parse(line).map(|one| (one.at, one.counts, one.context, one.heading));
        assert_eq!(of("@@"), Some((None, None, None, None)));
        assert_eq!(of("@@ class A:"), Some((None, None, Some("class A:"), None)));
        assert_eq!(of("@@ -1,3 +1,4 @@ fn f()"), Some((Some(1), Some((3, 4)), None, Some("fn f()"))));
        assert_eq!(of("@@ -7 +7 @@"), Some((Some(7), Some((1, 1)), None, None)));
        assert_eq!(of("@@ -0,0 +1,9 @@"), Some((Some(0), Some((0, 9)), None, None)));
        assert_eq!(of("@@ ... @@"), Some((None, None, None, None)));
        assert_eq!(of("@@ @@"), Some((None, None, None, None)));
        assert_eq!(of("@@ -1,3 +1,4"), Some((Some(1), Some((3, 4)), None, None)));
        assert_eq!(of("@@ -99999999999999999999,1 +1 @@").unwrap().0, Some(usize::MAX));
        assert_eq!(of("@@@ -1 -1 +1 @@@"), None);
        assert_eq!(of("@decorator"), None);
    }
}
