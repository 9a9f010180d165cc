//! The text of glyphs by their numbers (CIDs) in Adobe's character collections, for fonts that name such a collection and
//! give no text of their own (ISO 32000-1, 9.10.2).
//!
//! The tables (`cid/LICENSE.txt`) have 94 KB in the program. Each is inflated when it is first wanted, and kept: some
//! 100 KB.

use std::{io::Read as _, sync::OnceLock};

use flate2::read::ZlibDecoder;

use super::cmap::CMap;
use crate::budget::{PdfBudget, PdfError};

/// Values from here on are numbers of texts of several characters.
const FIRST_TEXT_NUMBER: u32 = 0x11_0000;

/// The codes of CNS-EUC, which is the only predefined encoding that `encoding_rs` does not know.
static CNS_EUC: &[u8] = include_bytes!("cid/cns-euc-h.z");

static COLLECTIONS: [Collection; 5] = [
    Collection::new(b"Japan1", include_bytes!("cid/japan1.z")),
    Collection::new(b"GB1", include_bytes!("cid/gb1.z")),
    Collection::new(b"CNS1", include_bytes!("cid/cns1.z")),
    Collection::new(b"Korea1", include_bytes!("cid/korea1.z")),
    Collection::new(b"KR", include_bytes!("cid/kr.z")),
];

#[derive(Debug)]
pub(super) struct Collection {
    ordering: &'static [u8],
    packed: &'static [u8],
    /// The value of each CID, and the texts of several characters.
    table: OnceLock<(Vec<u32>, Vec<String>)>,
}

impl Collection {
    const fn new(ordering: &'static [u8], packed: &'static [u8]) -> Self {
        Self { ordering, packed, table: OnceLock::new() }
    }

    pub(super) fn of(ordering: &[u8]) -> Option<&'static Self> {
        COLLECTIONS.iter().find(|collection| collection.ordering == ordering)
    }

    pub(super) fn push_text(&self, cid: u32, to: &mut String) {
        let (values, texts) = self.table.get_or_init(|| unpacked(self.packed));
        let value = usize::try_from(cid).ok().and_then(|cid| values.get(cid)).copied().unwrap_or_default();
        match (char::from_u32(value).filter(|_| value > 0), value.checked_sub(FIRST_TEXT_NUMBER)) {
            (Some(character), _) => to.push(character),
            (None, Some(number)) => to.push_str(texts.get(number as usize).map_or("", String::as_str)),
            (None, None) => {}
        }
    }
}

/// The codes of CNS-EUC as a map to CIDs of `CNS1`.
pub(super) fn cns_euc(budget: &PdfBudget<'_>) -> Result<CMap, PdfError> {
    CMap::parse(&inflated(CNS_EUC), budget)
}

fn unpacked(packed: &[u8]) -> (Vec<u32>, Vec<String>) {
    let bytes = inflated(packed);
    let mut rest = bytes.as_slice();
    let mut next = || {
        let mut number = 0;
        for shift in (0..32).step_by(7) {
            let Some((byte, after)) = rest.split_first() else { break };
            rest = after;
            number |= u32::from(byte & 0x7F) << shift;
            if *byte < 0x80 {
                break;
            }
        }
        number
    };
    let (count, mut value) = (next(), u32::MAX);
    let values = (0..count).map(|_| {
        let step = next();
        let step = if step.is_multiple_of(2) { step >> 1 } else { !(step >> 1) };
        value = value.wrapping_add(1).wrapping_add(step);
        value
    });
    let values = values.collect();
    (values, String::from_utf8_lossy(rest).lines().map(str::to_owned).collect())
}

fn inflated(packed: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    // A test reads each of them whole.
    let _ = ZlibDecoder::new(packed).read_to_end(&mut bytes);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_collection_has_its_texts() {
        for (ordering, count, samples) in [
            (
                "Japan1",
                23_060,
                &[(1, " "), (34, "A"), (843, "あ"), (1200, "一"), (231, "\u{2002}"), (0, ""), (99_999, "")][..],
            ),
            ("GB1", 30_284, &[(34, "A"), (1100, "便")]),
            ("CNS1", 19_179, &[(34, "A"), (595, "一"), (17_601, "€")]),
            ("Korea1", 18_352, &[(34, "A"), (1086, "가"), (8207, "((")]),
            ("KR", 22_897, &[(34, "A"), (3057, "⸺")]),
        ] {
            let collection = Collection::of(ordering.as_bytes()).expect(ordering);
            for (cid, text) in samples {
                let mut found = String::new();
                collection.push_text(*cid, &mut found);
                assert_eq!(found, *text, "{ordering} {cid}");
            }
            let (values, texts) = collection.table.get().expect("unpacked");
            assert_eq!(values.len(), count, "{ordering}");
            let long = values.iter().filter_map(|value| value.checked_sub(FIRST_TEXT_NUMBER)).max();
            assert_eq!(long.map_or(0, |last| last as usize + 1), texts.len(), "{ordering}");
            assert!(
                values.iter().all(|value| *value >= FIRST_TEXT_NUMBER || char::from_u32(*value).is_some()),
                "{ordering}"
            );
        }
        assert!(Collection::of(b"Identity").is_none());
        let map = cns_euc(&PdfBudget::new(&|| false)).unwrap();
        assert_eq!((map.next_code(b"\xC4\xA1a"), map.glyph(0xC4A1)), ((0xC4A1, 2), Some(595)));
        assert_eq!(map.next_code(b"\x8E\xA2\xA1\xA1"), (0x8EA2_A1A1, 4));
    }
}
