//! PNG: the chunks around the pixels.

use std::{borrow::Cow, iter};

use flate2::{Crc, Decompress, FlushDecompress, Status};
use image::metadata::Orientation;

use super::header::{INCOMPLETE_FLAW, ImageHeader, area};

/// Bytes that the decoder may allocate besides rows and texts: for the profile in a file.
const OTHER_BYTES: u64 = 4 << 20;
/// Bytes that the decoder keeps of a text besides the text (measured: 150 of each of millions).
const TEXT_OVERHEAD_BYTES: u64 = 300;
/// Bytes before the first chunk.
const SIGNATURE_BYTES: usize = 8;
/// Bytes of a chunk without data: the length, the kind and the checksum.
const EMPTY_CHUNK: usize = 12;
/// Bytes of all texts of a usual file.
const MOST_TEXT: usize = 4 << 10;
/// The chunks of a usual file, each with the fewest and the most bytes of its data.
const USUAL_CHUNKS: [(&[u8; 4], usize, usize); 14] = [
    (b"IHDR", 13, 13),
    (b"PLTE", 3, 768),
    (b"tRNS", 1, 256),
    (b"IDAT", 0, usize::MAX),
    (b"IEND", 0, 0),
    (b"gAMA", 4, 4),
    (b"cHRM", 32, 32),
    (b"sRGB", 1, 1),
    (b"pHYs", 9, 9),
    (b"sBIT", 1, 4),
    (b"bKGD", 1, 6),
    (b"hIST", 2, 512),
    (b"tIME", 7, 7),
    (b"tEXt", 2, MOST_TEXT),
];

/// Reads the chunks (<https://www.w3.org/TR/png-3/#5Chunk-layout>); `None` where the first one is not a header.
pub(super) fn header(bytes: &[u8]) -> Option<ImageHeader> {
    let mut header: Option<ImageHeader> = None;
    let mut seen = Chunks::default();
    for (at, kind, data) in chunks(bytes) {
        let is_usual = data.is_some_and(|data| seen.is_usual(kind, data));
        if header.is_none() && kind == b"IHDR" {
            header = Some(of_ihdr(data?)?);
        }
        let header = header.as_mut()?;
        header.is_unusual |= !is_usual;
        // The decoder passes over a chunk it does not need whose checksum is wrong, which is an error for others.
        if let Some((data, stored)) = data.zip(bytes.get(at + EMPTY_CHUNK - 4 + data.map_or(0, <[u8]>::len)..)) {
            let mut checksum = Crc::new();
            checksum.update(kind);
            checksum.update(data);
            if stored.first_chunk().is_some_and(|stored| u32::from_be_bytes(*stored) != checksum.sum()) {
                header.flaw = Some("a checksum is wrong");
            }
        }
        match (kind, data) {
            (b"acTL", Some([frames @ .., _, _, _, _])) => {
                header.frames = u32::from_be_bytes(frames.try_into().ok()?).max(1);
                header.is_animated = true;
                // A copy without its frames is decoded.
                header.other += bytes.len() as u64;
            }
            (b"eXIf", Some(data)) => {
                header.orientation = Orientation::from_exif_chunk(data).unwrap_or(header.orientation);
            }
            // Kept by the decoder with its fields, after it was read into a buffer of up to twice its size.
            (b"tEXt" | b"zTXt" | b"iTXt", Some(data)) => header.other += data.len() as u64 * 3 + TEXT_OVERHEAD_BYTES,
            (b"IEND", Some(data)) => {
                let end = at + EMPTY_CHUNK + data.len();
                header.flaw = header.flaw.filter(|flaw| Some(*flaw) != INCOMPLETE_FLAW || bytes.len() < end);
                header.is_unusual |= bytes.len() != end;
                break;
            }
            _ => {}
        }
    }
    header
}

/// The file as its first picture alone: decoders that read the order of all frames refuse a file where that is wrong.
pub(super) fn without_frames<'b>(bytes: &'b [u8], header: &ImageHeader) -> Cow<'b, [u8]> {
    if !header.is_animated {
        return Cow::Borrowed(bytes);
    }
    let kept = chunks(bytes).filter(|(_, kind, _)| !matches!(*kind, b"acTL" | b"fcTL" | b"fdAT"));
    let kept = kept.filter_map(|(at, _, data)| bytes.get(at..at + EMPTY_CHUNK + data?.len()));
    Cow::Owned(iter::once(&bytes[..SIGNATURE_BYTES]).chain(kept).flatten().copied().collect())
}

/// The chunks of a file: where each begins, its kind, and its data if there is all of it.
fn chunks(bytes: &[u8]) -> impl Iterator<Item = (usize, &[u8], Option<&[u8]>)> {
    let mut next = SIGNATURE_BYTES;
    iter::from_fn(move || {
        let (at, head) = (next, bytes.get(next..next.checked_add(8)?)?);
        let length = u32::from_be_bytes([head[0], head[1], head[2], head[3]]) as usize;
        next = at.checked_add(EMPTY_CHUNK)?.checked_add(length)?;
        Some((at, &head[4..], bytes.get(at + 8..next - 4)))
    })
}

/// Finds chunks that other decoders may stumble over: those that inflate to any size (`iTXt`, `zTXt`, `iCCP`), and
/// those of a wrong length or in a wrong place, for which libpng or Pillow refuse what others accept.
#[derive(Default)]
struct Chunks<'b> {
    seen: Vec<&'b [u8]>,
    last: &'b [u8],
    texts: usize,
    colour: u8,
}

impl<'b> Chunks<'b> {
    fn is_usual(&mut self, kind: &'b [u8], data: &'b [u8]) -> bool {
        let is_known = USUAL_CHUNKS
            .iter()
            .any(|(usual, shortest, longest)| usual[..] == *kind && (*shortest..=*longest).contains(&data.len()));
        if !is_known {
            return false;
        }
        let is_after_pixels = self.seen.contains(&&b"IDAT"[..]);
        let is_first = !self.seen.contains(&kind);
        let fits = match kind {
            b"tEXt" => {
                self.texts += data.len() + EMPTY_CHUNK;
                self.texts <= MOST_TEXT
            }
            b"IDAT" => is_first || self.last == kind,
            b"IEND" | b"tIME" => is_first,
            b"PLTE" => is_first && !is_after_pixels && data.len().is_multiple_of(3),
            b"tRNS" => is_first && !is_after_pixels && matches!((self.colour, data.len()), (0, 2) | (2, 6) | (3, _)),
            _ => is_first && !is_after_pixels,
        };
        if kind == b"IHDR" {
            // It has 13 bytes: one of another length was refused above.
            self.colour = data[9];
        }
        if is_first && kind != b"tEXt" {
            self.seen.push(kind);
        }
        self.last = kind;
        fits
    }
}

fn of_ihdr(data: &[u8]) -> Option<ImageHeader> {
    let [width, height] =
        [data.get(..4)?, data.get(4..8)?].map(|side| u32::from_be_bytes(side.try_into().unwrap_or_default()));
    let (depth, colour, interlaced) = (*data.get(8)?, *data.get(9)?, *data.get(12)? != 0);
    // With the alpha that a `tRNS` may add; colours of a palette are looked up.
    let channels = if matches!(colour, 0 | 4) { 2 } else { 4 };
    let pixels = area(width, height).saturating_mul(channels * if depth > 8 { 2 } else { 1 });
    let header = ImageHeader::new((width, height), pixels, u64::from(width) * 32 + OTHER_BYTES);
    Some(ImageHeader { flaw: INCOMPLETE_FLAW, is_unusual: depth > 8 || interlaced, ..header })
}

/// Whether the compressed pixels of a usual file are exactly as many as there should be, with the right checksum and
/// nothing after it. The decoder ignores all of that; Pillow does not.
pub(super) fn is_strict(bytes: &[u8], header: &ImageHeader) -> bool {
    let Some([depth, colour]) = bytes.get(24..26).map(|ihdr| [ihdr[0], ihdr[1]]) else { return false };
    let channels = match colour {
        2 => 3,
        4 => 2,
        6 => 4,
        _ => 1,
    };
    // A byte for the filter, then the pixels.
    let row = 1 + (header.width as usize * channels * usize::from(depth)).div_ceil(8);
    let size = row * header.height as usize;
    let pixels = chunks(bytes).filter(|(_, kind, _)| *kind == b"IDAT");
    let compressed: Vec<u8> = pixels.flat_map(|(.., data)| data.unwrap_or_default()).copied().collect();
    let mut stream = Decompress::new(true);
    // With room for one byte too many, which shows that there is more than there should be.
    let status = stream.decompress(&compressed, &mut vec![0; size + 1], FlushDecompress::Finish);
    let counts = (stream.total_in(), stream.total_out());
    matches!(status, Ok(Status::StreamEnd)) && counts == (compressed.len() as u64, size as u64)
}
