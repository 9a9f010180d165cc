//! 3-grams, 4-grams and letters beyond ASCII of folded content: what the filter counts, and how text becomes it.
//!
//! Content and patterns are folded alike, so that one column answers for every case of a letter.
//! Nothing here decides what is searched.
//!
//! Both lengths share the columns. A 4-gram is rarer, so it refuses more; a 3-gram serves literals of three
//! bytes, and in a longer literal it is more independent bits: each column is more often set than with
//! 4-grams alone, but a literal asks for more of them.
//!
//! A 3-gram that is not frequent has three columns, as words of a Bloom filter have several bits: a
//! segment of 32 KiB of the Linux sources sets 0.39 of the columns on average (0.12 to 0.61 without the lowest and the
//! highest tenth), so that all three are set by chance in one of ten. With four, 0.43 of them are set, and more files are
//! left for every other query. A frequent one has a single column: its text is in so many segments that more would refuse
//! little.
//!
//! A letter of two bytes of UTF-8 is a gram of its own, with six columns, as a pattern may have nothing but `é` or `ß`:
//! without one it reads every file, with one column four of ten. So are the letters from U+1000 to U+2FFF, among which
//! are other cases of those (`ẞ`, the sign for Ångström) and signs such as `→`. A text has few different ones, which is
//! not so of Chinese.
//!
//! # Frequent pairs
//! A 3-gram counts as frequent where both of its pairs of bytes are ones that most texts have often: the 256 pairs of
//! folded text with which most 3-grams of a segment begin or end, on average over C, Rust, Python and web pages. A
//! filter that was built with other pairs is another filter: see [`FILTER_VERSION`](crate::ngram_filter::FILTER_VERSION).

/// Bytes that have to be known before a byte to name its grams.
pub(super) const CONTEXT_BYTES: u8 = 3;
pub(crate) const COLUMN_COUNT: usize = 1 << COLUMN_BITS;
const COLUMN_BITS: u32 = 14;
/// Columns of a 3-gram that is not frequent.
const RARE_COLUMNS: usize = 3;
const LETTER_COLUMNS: usize = 6;
/// Room for 4-grams of one text that were met, by the bits of their hash.
const MET_BITS: u32 = 13;
/// Raw bytes beyond a cut that complete every gram which begins before it: three folded bytes come
/// of at most nine raw ones, the last of which may need two more to be recognised.
pub(super) const OVERLAP_BYTES: usize = 12;

/// The last folded bytes of a text since its last line break, as far as grams reach back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Context {
    /// The last one lowest; zero beyond `length`.
    bytes: u32,
    length: u8,
}

impl Context {
    /// Adds a folded byte: the new context, and the columns of the grams that end there.
    pub(super) fn then(self, folded: u8) -> (Self, GramColumns) {
        let mut columns = GramColumns::default();
        if folded == b'\n' {
            return (Self::default(), columns);
        }
        let bytes = self.bytes << 8 | u32::from(folded);
        if let Some(letter) = letter_at_end(bytes) {
            for column in columns_of::<LETTER_COLUMNS>(letter, u16::MAX) {
                columns.push(column);
            }
        }
        if self.length >= CONTEXT_BYTES - 1 {
            let [first, others @ ..] = columns_of_three(bytes);
            columns.push(first);
            others.into_iter().filter(|other| *other != first).for_each(|other| columns.push(other));
        }
        if self.length >= CONTEXT_BYTES {
            columns.push(column_of_four(bytes));
        }
        let next = Self { bytes: bytes & 0xFF_FFFF, length: (self.length + 1).min(CONTEXT_BYTES) };
        (next, columns)
    }

    /// It, with no more than the last `length` bytes.
    pub(super) fn shortened(self, length: u8) -> Self {
        let length = length.min(self.length);
        Self { bytes: self.bytes & ((1 << (8 * u32::from(length))) - 1), length }
    }
}

/// The columns of the letter, the 3-gram and the 4-gram that end at a byte.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct GramColumns {
    columns: [u16; RARE_COLUMNS + LETTER_COLUMNS + 1],
    /// How many of them there are; the others are zero.
    count: u8,
}

impl GramColumns {
    fn push(&mut self, column: u16) {
        self.columns[usize::from(self.count)] = column;
        self.count += 1;
    }

    pub(super) fn is_empty(&self) -> bool {
        self.count == 0
    }

    pub(super) fn as_slice(&self) -> &[u16] {
        &self.columns[..usize::from(self.count)]
    }
}

/// Multiplicative hashing with 2^32 / φ, which spreads consecutive values (Knuth, TAOCP vol. 3, 6.4).
fn spread(bytes: u32) -> u32 {
    bytes.wrapping_mul(0x9E37_79B1)
}

fn column_of_four(bytes: u32) -> u16 {
    u16::try_from(spread(bytes) >> (32 - COLUMN_BITS)).unwrap_or_default()
}

/// The letter of two bytes, or of three from U+1000 to U+2FFF, at the end of `bytes`, if there is one.
fn letter_at_end(bytes: u32) -> Option<u32> {
    match bytes {
        _ if bytes & 0xE0C0 == 0xC080 => Some(bytes & 0xFFFF),
        _ if bytes & 0xC0C0 == 0x8080 && matches!(bytes >> 16 & 0xFF, 0xE1 | 0xE2) => Some(bytes & 0xFF_FFFF),
        _ => None,
    }
}

/// The columns of the 3-gram at the end of `bytes`. A frequent one has the same one each time: which gram is frequent
/// cannot be predicted, and a branch would take longer.
fn columns_of_three(bytes: u32) -> [u16; RARE_COLUMNS] {
    columns_of(bytes & 0xFF_FFFF, u16::from(is_frequent(bytes)).wrapping_sub(1))
}

/// The columns of a 3-gram or a letter: the first one by another odd constant than that of 4-grams, as a 3-gram should not
/// share it with the 4-grams that begin with a certain byte; the others in steps from there, of those bits that `steps` has
/// (Kirsch and Mitzenmacher, "Less Hashing, Same Performance", 2006).
fn columns_of<const COUNT: usize>(gram: u32, steps: u16) -> [u16; COUNT] {
    let hash = u64::from(gram).wrapping_mul(0xC2B2_AE3D_27D4_EB4F);
    let first = low_bits(hash >> (64 - COLUMN_BITS));
    // Odd, so that no column comes twice.
    let step = (low_bits(hash >> (64 - 2 * COLUMN_BITS)) | 1) & steps;
    let mut column = u64::from(first);
    [(); COUNT].map(|()| {
        let this = low_bits(column);
        column += u64::from(step);
        this
    })
}

#[expect(clippy::cast_possible_truncation, reason = "the lower bits")]
fn low_bits(bits: u64) -> u16 {
    bits as u16 & (COLUMN_COUNT - 1) as u16
}

/// Calls `found` with the columns of every gram of `bytes`, some more than once.
#[expect(clippy::large_stack_arrays, reason = "32 KiB, which every thread has")]
pub(super) fn each(bytes: &[u8], mut found: impl FnMut(u16)) {
    // The 4-grams that were met, by hash: a text repeats most of them. No gram is this value, a line break.
    let mut met = [u32::from(b'\n'); 1 << MET_BITS];
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
        if length >= 4 {
            let met = &mut met[(spread(gram) >> (32 - MET_BITS)) as usize];
            if *met == gram {
                continue;
            }
            *met = gram;
            found(column_of_four(gram));
        }
        if length >= 3 {
            columns_of_three(gram).into_iter().for_each(&mut found);
        }
        if let Some(letter) = letter_at_end(gram).filter(|_| length >= 2) {
            columns_of::<LETTER_COLUMNS>(letter, u16::MAX).into_iter().for_each(&mut found);
        }
    }
}

/// Folds all of `bytes`, as [`fold_at`] does one character.
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

/// By first byte, which bytes follow it often.
const FREQUENT_FOLLOWERS: [(u8, &[u8]); 36] = [
    (b' ', b" \"'(*-012<=`abcdefghilmnoprstuvw{"),
    (b'"', b" )>"),
    (b'\'', b" "),
    (b'(', b"\")s"),
    (b')', b" ).;"),
    (b',', b" "),
    (b'.', b" "),
    (b'/', b" "),
    (b'0', b"0"),
    (b'1', b"06"),
    (b'3', b"2"),
    (b':', b" :"),
    (b'<', b"/"),
    (b'=', b" \""),
    (b'>', b" "),
    (b'_', b"_abcdefilmnprst"),
    (b'a', b" bcdilmnprst"),
    (b'b', b"aelou"),
    (b'c', b" _aehklort"),
    (b'd', b" _aeio"),
    (b'e', b" (),.:_acdeflmnprstvx"),
    (b'f', b" aefio"),
    (b'g', b" e"),
    (b'h', b" aeio"),
    (b'i', b"cdefglmnoprst"),
    (b'k', b" e"),
    (b'l', b" _adeilosty"),
    (b'm', b" aeiop"),
    (b'n', b" _acdegiost"),
    (b'o', b" cdlmnprstuw"),
    (b'p', b" _aeilort"),
    (b'r', b" (_aceinorstuy"),
    (b's', b" ._acehiopstu"),
    (b't', b" (._aehiorstuy"),
    (b'u', b"elmnprst"),
    (b'v', b"aei"),
];

/// A bit for each pair; all pairs with a byte beyond ASCII are among them, as a text in another script would fill the
/// filter otherwise.
static FREQUENT: [u64; 1 << 10] = frequent();

const fn frequent() -> [u64; 1 << 10] {
    let mut pairs = [0; 1 << 10];
    let mut pair = 0;
    while pair < 1 << 16 {
        if pair & 0x8080 != 0 {
            pairs[pair >> 6] |= 1 << (pair & 63);
        }
        pair += 1;
    }
    let mut row = 0;
    while row < FREQUENT_FOLLOWERS.len() {
        let (first, followers) = FREQUENT_FOLLOWERS[row];
        let mut at = 0;
        while at < followers.len() {
            let pair = (first as usize) << 8 | followers[at] as usize;
            pairs[pair >> 6] |= 1 << (pair & 63);
            at += 1;
        }
        row += 1;
    }
    pairs
}

/// Whether the last three of `bytes`, folded, are two frequent pairs.
fn is_frequent(bytes: u32) -> bool {
    // Both, as it costs less than to foresee what the first one says.
    is_pair(bytes >> 8) & is_pair(bytes)
}

fn is_pair(bytes: u32) -> bool {
    FREQUENT[(bytes as usize & 0xFFFF) >> 6] & 1 << (bytes & 63) != 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn columns(bytes: &[u8]) -> Vec<u16> {
        let mut all = Vec::new();
        each(bytes, |column| all.push(column));
        all.sort_unstable();
        all.dedup();
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
        assert_eq!(columns(b"ring\ntion").len(), 2 * (2 + 1));
        assert_eq!(columns(b"xjqz\nqzxj").len(), 2 * (2 * RARE_COLUMNS + 1));
    }

    #[test]
    fn columns_of_a_rare_gram_are_different_ones() {
        for first in 0..=127 {
            for second in [b'0', b'j', b'q', b'\t'] {
                let columns = columns(&[first, second, b'q']);
                assert_eq!(columns.len(), if first == b'\n' { 0 } else { RARE_COLUMNS }, "{first} {second}");
            }
        }
    }

    #[test]
    fn context_names_the_columns_that_content_has() {
        for text in ["kernel_init", "ab\ncdef", "Straße", "é\nßé", "ſK", "abcdabcdxbcd\nbcd", "\0\0\0\0xdp\0\0\0\0\0"]
        {
            let (mut context, mut named) = (Context::default(), Vec::new());
            for byte in folded(text.as_bytes()) {
                let (next, columns) = context.then(byte);
                named.extend_from_slice(columns.as_slice());
                context = next;
            }
            named.sort_unstable();
            named.dedup();
            assert_eq!(named, columns(text.as_bytes()), "{text}");
        }
    }
}

#[cfg(test)]
mod frequent_pairs_tests {
    use super::*;

    #[test]
    fn words_are_frequent_and_abbreviations_are_not() {
        let is_frequent = |gram: &[u8; 3]| is_frequent(u32::from_be_bytes([b'x', gram[0], gram[1], gram[2]]));
        for gram in [b"int", b"ret", b"ing", b"con", b" st"] {
            assert!(is_frequent(gram), "{gram:?}");
        }
        for gram in [b"xdp", b"jfs", b"gfp", b"0x1", b"i2c"] {
            assert!(!is_frequent(gram), "{gram:?}");
        }
        assert!(is_frequent(&[0xE3, 0x81, 0x82]), "beyond ASCII");
    }
}
