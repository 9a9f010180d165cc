//! WebP: the chunks around the pixels.

use image::metadata::Orientation;

use super::header::{INCOMPLETE_FLAW, ImageHeader, area};

/// Where the first chunk's data begins, after the header of the file and its own.
const FIRST_DATA_OFFSET: usize = 20;
/// In the flags of `VP8X`.
const ALPHA_FLAG: u8 = 0x10;

/// Reads the chunks (RFC 9649); `None` without one of pixels.
pub(super) fn header(bytes: &[u8]) -> Option<ImageHeader> {
    let size = u32::from_le_bytes(*bytes.get(4..)?.first_chunk()?) as usize;
    let first = bytes.get(12..16)?;
    let data = bytes.get(FIRST_DATA_OFFSET..)?;
    let flags = if first == b"VP8X" { *data.first()? } else { 0 };
    let (width, height) = match first {
        // The format has each side less one, as no image is empty (RFC 9649).
        b"VP8X" => (1 + number(data.get(4..7)?), 1 + number(data.get(7..10)?)),
        _ => sides(first, data)?,
    };
    let (mut frames, mut exif, mut is_lossless, mut fits) = (0, None, false, true);
    for (kind, data) in chunks(bytes.get(12..)?) {
        match kind {
            b"ANMF" => {
                frames += 1;
                let [across, down] = [6, 9].map(|at| data.get(at..at + 3).map(|side| 1 + number(side)));
                let frame = across.zip(down).filter(|frame| frame.0 <= width && frame.1 <= height);
                let mut pictures = chunks(data.get(16..).unwrap_or_default());
                fits &= pictures.all(|(kind, data)| !is_picture(kind) || sides(kind, data) == frame);
            }
            b"VP8L" | b"VP8 " => {
                is_lossless |= kind == b"VP8L";
                fits &= sides(kind, data) == Some((width, height));
            }
            b"EXIF" => exif = exif.or(Some(data)),
            _ => {}
        }
    }
    // The decoder makes room for the picture and then compares: a small canvas may be around a picture of a gigabyte.
    if !fits {
        return None;
    }
    // Some writers keep the prefix that the segment has in a JPEG.
    let exif = exif.map(|exif| exif.strip_prefix(b"Exif\0\0").unwrap_or(exif));
    let is_animated = flags & 0x02 != 0;
    // Measured in the decoder: of each pixel 4 bytes decoded from a lossless image, and 3 without its alpha; 3 or 4 and
    // 1.5 before the conversion of the colours from a lossy one, 5 more for its alpha; an animation has a canvas besides
    // its frame.
    let pixel_halves = match (is_animated, is_lossless, flags & ALPHA_FLAG != 0) {
        (true, ..) => 37,
        (_, true, _) => 14,
        (_, _, true) => 21,
        (..) => 9,
    };
    Some(ImageHeader {
        orientation: exif.and_then(Orientation::from_exif_chunk).unwrap_or(Orientation::NoTransforms),
        frames: if is_animated { frames.max(1) } else { 1 },
        // Cannot underflow: `FIRST_DATA_OFFSET` bytes are there.
        flaw: INCOMPLETE_FLAW.filter(|_| size > bytes.len() - 8),
        ..ImageHeader::new((width, height), area(width, height) * pixel_halves / 2, 1 << 20)
    })
}

fn is_picture(kind: &[u8]) -> bool {
    matches!(kind, b"VP8L" | b"VP8 ")
}

/// The sides of a picture, by the header of its own; `None` for another kind of chunk and a header that is cut.
fn sides(kind: &[u8], data: &[u8]) -> Option<(u32, u32)> {
    match kind {
        b"VP8L" => {
            let packed = number(data.get(1..5)?);
            Some((1 + (packed & 0x3FFF), 1 + ((packed >> 14) & 0x3FFF)))
        }
        // The two bits above the 14 of a side are a scale for the viewer (RFC 6386, 9.1).
        b"VP8 " => Some((number(data.get(6..8)?) & 0x3FFF, number(data.get(8..10)?) & 0x3FFF)),
        _ => None,
    }
}

fn chunks(mut rest: &[u8]) -> impl Iterator<Item = (&[u8], &[u8])> {
    std::iter::from_fn(move || {
        let (head, data) = rest.split_at_checked(8)?;
        let length = number(&head[4..]) as usize;
        // A chunk of an odd length has a byte of padding.
        rest = data.get(length.saturating_add(length % 2)..).unwrap_or_default();
        Some((&head[..4], &data[..length.min(data.len())]))
    })
}

fn number(bytes: &[u8]) -> u32 {
    bytes.iter().rev().fold(0, |number, byte| number << 8 | u32::from(*byte))
}
