//! GIF: its blocks.

use std::borrow::Cow;

use super::header::{INCOMPLETE_FLAW, ImageHeader, area};

/// Reads the blocks (<https://www.w3.org/Graphics/GIF/spec-gif89a.txt>, appendix A); only the trailer may be missing.
pub(super) fn header(bytes: &[u8]) -> Option<ImageHeader> {
    let number = |at: usize| Some(u32::from(u16::from_le_bytes([*bytes.get(at)?, *bytes.get(at + 1)?])));
    let table = |packed: u8| if packed & 0x80 == 0 { 0 } else { 3 << ((packed & 7) + 1) };
    let (width, height) = (number(6)?, number(8)?);
    // Besides the frame, the decoder keeps profiles of the file, and `with_size` may copy it.
    let other = bytes.len() as u64 * 2 + (1 << 20);
    let mut header = ImageHeader { frames: 0, flaw: INCOMPLETE_FLAW, ..ImageHeader::new((width, height), 0, other) };
    let mut at = 13 + table(*bytes.get(10)?);
    loop {
        match bytes.get(at) {
            Some(0x21) => at += 2,
            Some(0x2C) => {
                let Some(packed) = bytes.get(at + 9) else { return Some(header) };
                if header.frames == 0 {
                    let (left, top) = (number(at + 1)?, number(at + 3)?);
                    let (across, down) = (number(at + 5)?, number(at + 7)?);
                    // Some files leave the size of the screen out; what is drawn is as large as the frame.
                    if width == 0 || height == 0 {
                        (header.width, header.height) = (left + across, top + down);
                    }
                    header.is_unusual = (left, top, across, down) != (0, 0, width, height);
                    header.pixels = area(header.width, header.height) * 4;
                    // One that is not as large as the screen is decoded elsewhere, and then copied.
                    header.other += area(across, down) * if header.is_unusual { 5 } else { 1 };
                }
                at += 11 + table(*packed);
                header.frames += 1;
            }
            Some(0x3B) => break,
            None => {
                header.flaw = INCOMPLETE_FLAW.filter(|_| header.frames == 0 || at != bytes.len());
                return Some(header);
            }
            // Filling between blocks.
            Some(_) => {
                at += 1;
                continue;
            }
        }
        loop {
            match bytes.get(at) {
                None => return Some(header),
                Some(0) => break,
                Some(length) => at += 1 + usize::from(*length),
            }
        }
        at += 1;
    }
    header.flaw = INCOMPLETE_FLAW.filter(|_| header.frames == 0);
    Some(header)
}

/// The file with the size of its screen in it: the decoder draws nothing on one of no size.
pub(super) fn with_size<'b>(bytes: &'b [u8], header: &ImageHeader) -> Cow<'b, [u8]> {
    let sides = [header.width, header.height].map(|side| u16::try_from(side).unwrap_or(u16::MAX).to_le_bytes());
    let mut bytes = Cow::Borrowed(bytes);
    if bytes[6..10] != *sides.as_flattened() {
        bytes.to_mut()[6..10].copy_from_slice(sides.as_flattened());
    }
    bytes
}
