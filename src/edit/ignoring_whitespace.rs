//! Where a text is whose lines are broken differently: joined, wrapped, or with other spaces between words.

use std::ops::Range;

use memchr::memmem;

/// Shorter texts are found by chance.
const SHORTEST: usize = 12;

/// The bytes of the only place where `text` is `old` when white space does not count.
pub(super) fn find(text: &str, old: &str) -> Option<Range<usize>> {
    let is_black = |byte: &u8| !byte.is_ascii_whitespace();
    let wanted: Vec<u8> = old.bytes().filter(is_black).collect();
    if wanted.len() < SHORTEST || wanted.len() > text.len() {
        return None;
    }
    let squeezed: Vec<u8> = text.bytes().filter(is_black).collect();
    let mut places = memmem::find_iter(&squeezed, &wanted);
    let (start, None) = (places.next()?, places.next()) else { return None };
    let mut black = text.bytes().enumerate().filter(|(_, byte)| is_black(byte)).map(|(at, _)| at);
    let first = black.nth(start)?;
    let last = if wanted.len() == 1 { first } else { black.nth(wanted.len() - 2)? };
    Some(first..last + 1)
}

#[cfg(test)]
mod tests {
    use super::find;

    #[test]
    fn a_text_is_found_whatever_white_space_is_in_it() {
        let text = "one(a);\n- name: check out\n  uses: it@v1\nnext: é\n";
        for old in ["- name: check out uses: it@v1", "name:  check\n\n out\nuses: it@v1\n", "uses: it@v1 next: é"] {
            let black = |text: &str| text.split_ascii_whitespace().collect::<String>();
            assert_eq!(black(&text[find(text, old).unwrap()]), black(old));
        }
        assert_eq!(find(text, "- name: check in uses: it@v1"), None);
        assert_eq!(find(&text.repeat(2), "- name: check out uses: it@v1"), None);
        assert_eq!(find(text, "one(a);"), None);
    }
}
