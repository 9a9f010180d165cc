//! Numbers in the tables of a stored index: as LEB128, small ones in one byte, signed ones folded (zigzag).

/// Bytes that are read from front to back. `None` from every method once they end too early.
#[derive(Clone, Debug)]
pub(super) struct ByteReader<'b>(&'b [u8]);

impl<'b> ByteReader<'b> {
    pub(super) fn new(bytes: &'b [u8]) -> Self {
        Self(bytes)
    }

    /// How many are left.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn take(&mut self, count: usize) -> Option<&'b [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    pub(super) fn byte(&mut self) -> Option<u8> {
        self.take(1).map(|bytes| bytes[0])
    }

    /// Bytes of a fixed number.
    pub(super) fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.take(N)?.try_into().ok()
    }

    pub(super) fn number(&mut self) -> Option<u64> {
        let mut number = 0_u64;
        for shift in (0..u64::BITS).step_by(7) {
            let byte = self.byte()?;
            let bits = u64::from(byte & 0x7F);
            // The tenth byte has room for one bit.
            if shift == 63 && bits > 1 {
                return None;
            }
            number |= bits << shift;
            if byte & 0x80 == 0 {
                return Some(number);
            }
        }
        None
    }

    /// A number that is an index or a length here.
    pub(super) fn length(&mut self) -> Option<usize> {
        usize::try_from(self.number()?).ok()
    }

    pub(super) fn small(&mut self) -> Option<u32> {
        u32::try_from(self.number()?).ok()
    }

    pub(super) fn signed(&mut self) -> Option<i64> {
        let folded = self.number()?;
        Some((folded >> 1).cast_signed() ^ -(folded & 1).cast_signed())
    }
}

pub(super) fn put_number(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(u8::try_from(number & 0x7F).unwrap_or_default() | 0x80);
        number >>= 7;
    }
    out.push(u8::try_from(number).unwrap_or_default());
}

pub(super) fn put_signed(out: &mut Vec<u8>, number: i64) {
    put_number(out, (number << 1 ^ number >> 63).cast_unsigned());
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn numbers_are_read_as_they_were_written(number: u64, signed: i64) {
            let mut bytes = Vec::new();
            put_number(&mut bytes, number);
            put_signed(&mut bytes, signed);
            let mut reader = ByteReader::new(&bytes);
            prop_assert_eq!((reader.number(), reader.signed(), reader.len()), (Some(number), Some(signed), 0));
        }
    }

    #[test]
    fn number_that_is_too_long_or_cut_is_none() {
        for bytes in [&[0x80; 11][..], &[0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 2], &[0x80], &[]] {
            assert_eq!(ByteReader::new(bytes).number(), None, "{bytes:?}");
        }
    }
}
