//! What is shown instead of a value: `<secret:NAME>`, in ASCII, so that every encoding has it.

use std::collections::HashSet;
use std::ops::Range;

/// How a sentinel begins.
pub(super) const OPENER: &str = "<secret:";
/// Characters of a name that are shown.
const LONGEST: usize = 48;

/// Whether a part of a text looks like a sentinel, in any case of letters.
pub(super) fn holds_opener(text: &[u8]) -> bool {
    next_opener(text, 0).is_some()
}

fn next_opener(text: &[u8], from: usize) -> Option<usize> {
    memchr::memchr_iter(b'<', &text[from..]).map(|found| from + found).find(|start| {
        text.get(*start..start + OPENER.len()).is_some_and(|found| found.eq_ignore_ascii_case(OPENER.as_bytes()))
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
    let (mut found, mut at) = (Vec::new(), 0);
    while let Some(start) = next_opener(text, at) {
        let name = start + OPENER.len();
        let end = name + text[name..].iter().take_while(|byte| is_name(**byte)).count();
        let shown = String::from_utf8_lossy(&text[name..end]).into_owned();
        if text[start..name] != *OPENER.as_bytes() || end == name || text.get(end) != Some(&b'>') {
            return Err(shown);
        }
        found.push((start..end + 1, shown));
        at = end + 1;
    }
    Ok(found)
}

/// A name for the sentinel of a value, different from those in `taken`.
pub(super) fn unique_name(taken: &mut HashSet<String>, wanted: &str) -> String {
    let base: String =
        wanted.chars().map(|one| if one.is_ascii() && is_name(one as u8) { one } else { '_' }).take(LONGEST).collect();
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
        let mut at = 0;
        let mut names = HashSet::new();
        let narrow: Vec<u8>;
        let text = if memchr::memchr(0, bytes).is_some() {
            narrow = bytes.iter().copied().filter(|byte| *byte != 0).collect();
            &narrow[..]
        } else {
            bytes
        };
        while let Some(start) = next_opener(text, at) {
            at = start + OPENER.len();
            let name = text[at..].iter().take_while(|byte| is_name(**byte)).count();
            if name > 0 && text.get(at + name) == Some(&b'>') {
                names.insert(String::from_utf8_lossy(&text[at..at + name]).into_owned());
            }
        }
        names
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
