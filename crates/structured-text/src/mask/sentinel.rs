//! What is shown instead of a value: `<secret:NAME>`, in ASCII, so that every encoding has it.

use std::{borrow::Cow, collections::HashSet, ops::Range};

/// How a sentinel begins.
pub(super) const OPENER: &str = "<secret:";
/// Characters of a name that are shown.
const MAX_NAME: usize = 48;

/// Whether a part of a text looks like a sentinel, in any case of letters.
pub(super) fn holds_opener(text: &[u8]) -> bool {
    candidates(text).next().is_some()
}

/// All that looks like a sentinel, in any case of letters: where it begins, its name, and whether it ends after that.
fn candidates(text: &[u8]) -> impl Iterator<Item = (usize, Range<usize>, bool)> {
    memchr::memchr_iter(b'<', text).filter_map(|start| {
        let name = start + OPENER.len();
        text.get(start..name).filter(|found| found.eq_ignore_ascii_case(OPENER.as_bytes()))?;
        let end = name + text[name..].iter().take_while(|byte| is_name(**byte)).count();
        Some((start, name..end, end > name && text.get(end) == Some(&b'>')))
    })
}

fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-')
}

/// Every sentinel of a text, with its name.
///
/// # Errors
/// The beginning of what looks like a sentinel and is none.
pub(super) fn sentinels(text: &[u8]) -> Result<Vec<(Range<usize>, String)>, String> {
    let sentinel = |(start, name, is_closed): (usize, Range<usize>, bool)| {
        let shown = String::from_utf8_lossy(&text[name.clone()]).into_owned();
        let is_whole = is_closed && text[start..name.start] == *OPENER.as_bytes();
        if is_whole { Ok((start..name.end + 1, shown)) } else { Err(shown) }
    };
    candidates(text).map(sentinel).collect()
}

/// A name for the sentinel of a value, different from those in `taken`.
pub(super) fn unique_name(taken: &mut HashSet<String>, wanted: &str) -> String {
    let base: String =
        wanted.chars().map(|one| if one.is_ascii() && is_name(one as u8) { one } else { '_' }).take(MAX_NAME).collect();
    let base = if base.is_empty() { "value".to_owned() } else { base };
    let mut name = base.clone();
    for number in 2.. {
        if taken.insert(name.clone()) {
            break;
        }
        name = format!("{base}.{number}");
    }
    name
}

/// Whether a change of `span` would cut a sentinel of the text in two.
///
/// # Examples
/// ```
/// use structured_text::mask::cuts_sentinel;
///
/// assert!(cuts_sentinel("A=<secret:A>", &(2..5)) && !cuts_sentinel("A=<secret:A>", &(0..12)));
/// ```
pub fn cuts_sentinel(text: &str, span: &Range<usize>) -> bool {
    let bytes = text.as_bytes();
    [span.start, span.end].into_iter().any(|at| {
        let opener = memchr::memrchr(b'<', &bytes[..at]);
        opener.is_some_and(|start| {
            let rest = &bytes[start..];
            rest.starts_with(OPENER.as_bytes()) && {
                let name = rest[OPENER.len()..].iter().take_while(|byte| is_name(**byte)).count();
                let end = start + OPENER.len() + name;
                bytes.get(end) == Some(&b'>') && at <= end
            }
        })
    })
}

/// The first sentinel of `new` that `old` has not, in whichever Unicode encoding: what a file with an ordinary name
/// would get from a masked one.
pub fn new_sentinel(old: &[u8], new: &[u8]) -> Option<String> {
    let of = |bytes: &[u8]| -> HashSet<String> {
        // UTF-16 and UTF-32 put zeros between the characters of a sentinel.
        let text: Cow<'_, [u8]> = match memchr::memchr(0, bytes) {
            Some(_) => bytes.iter().copied().filter(|byte| *byte != 0).collect(),
            None => bytes.into(),
        };
        let name = |name: Range<usize>| String::from_utf8_lossy(&text[name]).into_owned();
        candidates(&text).filter(|(.., is_closed)| *is_closed).map(|(_, found, _)| name(found)).collect()
    };
    let found = of(new);
    if found.is_empty() {
        return None;
    }
    let had = of(old);
    found.into_iter().filter(|name| !had.contains(name)).min()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentinel_in_another_file_is_found_in_any_encoding() {
        assert_eq!(new_sentinel(b"", b"x = '<secret:A>'"), Some("A".into()));
        assert_eq!(new_sentinel(b"<secret:A>", b"<secret:A> <secret:A>"), None);
        assert_eq!(new_sentinel(b"<secret:A>", b"<secret:A> <secret:B>"), Some("B".into()));
        assert_eq!(new_sentinel(b"", b"<secret:> <secret: x> <secret"), None);
        let wide: Vec<u8> = "<secret:A>".encode_utf16().flat_map(u16::to_be_bytes).collect();
        assert_eq!(new_sentinel(b"", &wide), Some("A".into()));
    }
}
