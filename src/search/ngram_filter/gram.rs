//! 3-grams and 4-grams of folded content: what the filter counts, and how text becomes it.
//!
//! Content and patterns are folded alike, so that one column answers for every case of a letter.
//! Nothing here decides what is searched.
//!
//! Both lengths share the columns. A 4-gram is rarer, so it refuses more; a 3-gram serves literals of three
//! bytes, and in a longer literal it is one more independent bit: each column is more often set than with
//! 4-grams alone, but a literal asks for twice as many.

/// Bytes that have to be known before a byte to name its grams.
pub(super) const CONTEXT: u8 = 3;
/// Columns of a block: a segment of 32 KiB of source sets about a third of them.
pub(in crate::search) const COLUMNS: usize = 1 << COLUMN_BITS;
const COLUMN_BITS: u32 = 14;
/// Raw bytes beyond a cut that complete every gram which begins before it: three folded bytes come
/// of at most nine raw ones, the last of which may need two more to be recognised.
pub(super) const OVERLAP: usize = 12;

/// The last folded bytes of a text since its last line break, as far as grams reach back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Context {
    /// The last one lowest; zero beyond `length`.
    bytes: u32,
    length: u8,
}

impl Context {
    /// What a folded byte makes of it: the new context, and the columns of the grams that end there.
    pub(super) fn then(self, folded: u8) -> (Self, [Option<u16>; 2]) {
        if folded == b'\n' {
            return (Self::default(), [None, None]);
        }
        let bytes = self.bytes << 8 | u32::from(folded);
        let three = (self.length >= CONTEXT - 1).then(|| column_of_three(bytes));
        let four = (self.length >= CONTEXT).then(|| column_of_four(bytes));
        let next = Self { bytes: bytes & 0xFF_FFFF, length: (self.length + 1).min(CONTEXT) };
        (next, [four, three])
    }

    /// It, with no more than the last `length` bytes.
    pub(super) fn shortened(self, length: u8) -> Self {
        let length = length.min(self.length);
        Self { bytes: self.bytes & ((1 << (8 * u32::from(length))) - 1), length }
    }
}

/// The column of a 4-gram, and of some others: multiplicative hashing with 2^32 / φ, which spreads
/// consecutive values (Knuth, TAOCP vol. 3, 6.4).
fn column_of_four(bytes: u32) -> u16 {
    top_bits(bytes.wrapping_mul(0x9E37_79B1))
}

/// The column of the 3-gram at the end of `bytes`: the same with another odd constant, as a 3-gram should not
/// share its column with the 4-grams that begin with a certain byte.
fn column_of_three(bytes: u32) -> u16 {
    top_bits((bytes << 8).wrapping_mul(0x85EB_CA6B))
}

fn top_bits(hash: u32) -> u16 {
    u16::try_from(hash >> (32 - COLUMN_BITS)).unwrap_or_default()
}

/// Calls `found` with the column of every gram of `bytes`, repeated ones too.
pub(super) fn each(bytes: &[u8], mut found: impl FnMut(u16)) {
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
        if length >= 3 {
            found(column_of_three(gram));
            if length >= 4 {
                found(column_of_four(gram));
            }
        }
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    fn columns(bytes: &[u8]) -> Vec<u16> {
        let mut all = Vec::new();
        each(bytes, |column| all.push(column));
        all
    }

    #[test]
    fn grams_ignore_case() {
        assert_eq!(columns(b"KiSs"), columns(b"kiss"));
        assert_eq!(columns("\u{212A}i\u{17F}s".as_bytes()), columns(b"kiss"));
    }

    #[test]
    fn no_gram_holds_a_line_break() {
        assert!(columns(b"ab\ncd").is_empty());
        assert_eq!(columns(b"abcd\nefgh").len(), 2 * (2 + 1));
    }

    #[test]
    fn context_names_the_columns_that_content_has() {
        for text in ["kernel_init", "ab\ncdef", "Straße", "ſK"] {
            let (mut context, mut named) = (Context::default(), Vec::new());
            for byte in folded(text.as_bytes()) {
                let (next, columns) = context.then(byte);
                named.extend(columns.into_iter().flatten());
                context = next;
            }
            let mut held = columns(text.as_bytes());
            named.sort_unstable();
            held.sort_unstable();
            assert_eq!(named, held, "{text}");
        }
    }
}
