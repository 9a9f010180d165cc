//! Pairs of bytes that most texts have often, so that a 3-gram of two such pairs is likely to be frequent, too.
//!
//! The 256 pairs of folded text with which most 3-grams of a segment begin or end, on average over C, Rust, Python and
//! web pages. A filter that was built with other pairs is another filter: see
//! [`FILTER_VERSION`](crate::ngram_filter::FILTER_VERSION).

/// By first byte, which bytes follow it often.
const FOLLOWERS: [(u8, &[u8]); 36] = [
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
    while row < FOLLOWERS.len() {
        let (first, followers) = FOLLOWERS[row];
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
pub(super) fn is_frequent(bytes: u32) -> bool {
    // Both, as it costs less than to foresee what the first one says.
    is_pair(bytes >> 8) & is_pair(bytes)
}

fn is_pair(bytes: u32) -> bool {
    FREQUENT[(bytes as usize & 0xFFFF) >> 6] & 1 << (bytes & 63) != 0
}

#[cfg(test)]
mod tests {
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
