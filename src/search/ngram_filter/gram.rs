//! 4-grams of folded content: what the filter counts, and how text becomes it.
//!
//! Content and patterns are folded alike, so that one column answers for every case of a letter.
//! Nothing here decides what is searched.

/// Bytes of a gram: with three, most segments hold most of the common ones; with five, too many literals
/// are too short.
pub(super) const GRAM: usize = 4;
/// Columns of a block, a power of two: a segment of 32 KiB of source sets about a third of them.
pub(super) const COLUMNS: usize = 1 << COLUMN_BITS;
const COLUMN_BITS: u32 = 14;
/// Raw bytes beyond a cut that complete every gram which begins before it: three folded bytes come
/// of at most nine raw ones, the last of which may need two more to be recognised.
pub(super) const OVERLAP: usize = 12;

/// Four folded bytes in a row, none of them a line break.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Gram(u32);

impl Gram {
    /// The column of this gram, and of some others: multiplicative hashing with 2^32 / φ, which spreads
    /// consecutive values (Knuth, TAOCP vol. 3, 6.4).
    pub(super) fn column(self) -> u16 {
        u16::try_from(self.0.wrapping_mul(0x9E37_79B1) >> (32 - COLUMN_BITS)).unwrap_or_default()
    }
}

/// Calls `found` with every gram of `bytes`, repeated ones too.
pub(super) fn each(bytes: &[u8], mut found: impl FnMut(Gram)) {
    let (mut gram, mut length, mut at) = (0_u32, 0_usize, 0_usize);
    while let Some(first) = bytes.get(at) {
        let (folded, width) = fold_at(*first, &bytes[at + 1..]);
        at += width;
        if folded == b'\n' {
            length = 0;
            continue;
        }
        gram = gram << 8 | u32::from(folded);
        length += 1;
        if length >= GRAM {
            found(Gram(gram));
        }
    }
}

/// The grams that content certainly holds where it holds `literal`, in any case of its letters.
pub(super) fn certain(literal: &[u8]) -> Vec<Gram> {
    let mut grams = Vec::new();
    each(inner(literal), |gram| grams.push(gram));
    grams.sort_unstable();
    grams.dedup();
    grams
}

/// `bytes`, folded.
pub(super) fn folded(bytes: &[u8]) -> Vec<u8> {
    let (mut folded, mut at) = (Vec::with_capacity(bytes.len()), 0);
    while let Some(first) = bytes.get(at) {
        let (byte, width) = fold_at(*first, &bytes[at + 1..]);
        folded.push(byte);
        at += width;
    }
    folded
}

/// The folded byte at the front, and how many raw bytes it is made of. ASCII letters become lower case;
/// U+017F (long s) and U+212A (Kelvin sign), the two characters beyond ASCII whose other case is
/// in it, become `s` and `k`. All else stays: its cases are alternatives of the query.
fn fold_at(first: u8, rest: &[u8]) -> (u8, usize) {
    match (first, rest) {
        (0xC5, [0xBF, ..]) => (b's', 2),
        (0xE2, [0x84, 0xAA, ..]) => (b'k', 3),
        _ => (first.to_ascii_lowercase(), 1),
    }
}

/// `literal` without what at its ends may be part of a folded sequence in the content around it.
/// Only patterns that name single bytes have such ends.
fn inner(literal: &[u8]) -> &[u8] {
    let literal = match literal {
        [0x84, 0xAA, rest @ ..] | [0xBF | 0xAA, rest @ ..] => rest,
        all => all,
    };
    match literal {
        [rest @ .., 0xE2, 0x84] | [rest @ .., 0xC5 | 0xE2] => rest,
        all => all,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grams(bytes: &[u8]) -> Vec<Gram> {
        let mut all = Vec::new();
        each(bytes, |gram| all.push(gram));
        all
    }

    #[test]
    fn grams_ignore_case() {
        assert_eq!(grams(b"KiSs"), grams(b"kiss"));
        assert_eq!(grams("\u{212A}i\u{17F}s".as_bytes()), grams(b"kiss"));
    }

    #[test]
    fn no_gram_holds_a_line_break() {
        assert_eq!(grams(b"abc\ndef"), []);
        assert_eq!(grams(b"abcd\nefgh").len(), 2);
    }

    #[test]
    fn partial_characters_at_literal_ends_yield_no_gram() {
        for (literal, content) in [
            (&b"\xBFabcd"[..], &b"\xC5\xBFabcd"[..]),
            (b"\x84\xAAabcd", b"\xE2\x84\xAAabcd"),
            (b"\xAAabcd", b"\xE2\x84\xAAabcd"),
            (b"abcd\xC5", b"abcd\xC5\xBF"),
            (b"abcd\xE2", b"abcd\xE2\x84\xAA"),
            (b"abcd\xE2\x84", b"abcd\xE2\x84\xAA"),
        ] {
            let held = grams(content);
            assert!(certain(literal).iter().all(|gram| held.contains(gram)), "{literal:?}");
            assert!(!certain(literal).is_empty());
        }
    }
}
