//! PNG: the chunks around the pixels, and the pixels themselves.
//!
//! Decoded row by row, unless it is interlaced: a picture of any size takes no more memory than some rows of it.

use std::io::Cursor;

use flate2::{Decompress, FlushDecompress, Status};
use image::metadata::Orientation;
use png::{ColorType, DecodeOptions, Decoder, Limits, Reader, Transformations};

use super::ImageError;
use super::pixels::{Channels, ImageHeader, Pixels, RGBA, Rows, area, too_few_rows, zeroed};

/// Bytes that the decoder may allocate besides rows: for the texts and profiles in a file.
const OTHER: usize = 4 << 20;
/// Bytes before the first chunk.
const SIGNATURE: usize = 8;
/// Bytes of a chunk without data: the length, the kind and the checksum.
const EMPTY_CHUNK: usize = 12;
/// Bytes of all texts of a usual file.
const MOST_TEXT: usize = 4 << 10;
/// The chunks of a usual file, each with the fewest and the most bytes of its data.
const USUAL: [(&[u8; 4], usize, usize); 14] = [
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
    let mut chunks = Chunks::default();
    let mut at = SIGNATURE;
    while let Some([length, kind]) = bytes.get(at..at + 8).map(|head| [&head[..4], &head[4..]]) {
        let length = u32::from_be_bytes(length.try_into().ok()?) as usize;
        let data = bytes.get(at + 8..at + 8 + length);
        let is_usual = data.is_some_and(|data| chunks.is_usual(kind, data));
        match (kind, data, &mut header) {
            (b"IHDR", Some(data), None) => header = Some(of_ihdr(data)?),
            (_, _, None) => return None,
            (b"acTL", Some([frames @ .., _, _, _, _]), Some(header)) => {
                header.frames = u32::from_be_bytes(frames.try_into().ok()?).max(1);
            }
            (b"eXIf", Some(data), Some(header)) => {
                header.orientation = Orientation::from_exif_chunk(data).unwrap_or(header.orientation);
            }
            (b"IEND", _, Some(header)) => {
                header.is_complete = true;
                header.is_unusual |= !is_usual || bytes.len() != at + EMPTY_CHUNK;
                break;
            }
            _ => {}
        }
        if let Some(header) = &mut header {
            header.is_unusual |= !is_usual;
        }
        at = at.checked_add(length)?.checked_add(EMPTY_CHUNK)?;
    }
    header
}

/// Finds chunks that other decoders may stumble over: those that inflate to any size (`iTXt`, `zTXt`, `iCCP`), and
/// those of a wrong length or in a wrong place, for which libpng or Pillow refuse what others accept.
#[derive(Default)]
struct Chunks<'b> {
    /// Kinds that may come once, and `IDAT`.
    seen: Vec<&'b [u8]>,
    last: &'b [u8],
    /// Bytes of the texts.
    texts: usize,
    /// The colour type in the header.
    colour: u8,
}

impl<'b> Chunks<'b> {
    /// Whether every decoder takes this one after those before it.
    fn is_usual(&mut self, kind: &'b [u8], data: &'b [u8]) -> bool {
        let is_known = USUAL
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
    let (depth, interlaced) = (*data.get(8)?, *data.get(12)? != 0);
    let pixels = if interlaced { area(width, height) * RGBA as u64 } else { 0 };
    let memory = pixels + u64::from(width) * 32 + OTHER as u64;
    let is_unusual = depth > 8 || interlaced;
    Some(ImageHeader { is_complete: false, is_unusual, ..ImageHeader::new((width, height), memory) })
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
    let mut rest = bytes.get(SIGNATURE..).unwrap_or_default();
    let mut compressed = Vec::new();
    while let Some((head, data)) = rest.split_at_checked(8) {
        let length = u32::from_be_bytes([head[0], head[1], head[2], head[3]]) as usize;
        if &head[4..] == b"IDAT" {
            compressed.extend_from_slice(data.get(..length).unwrap_or_default());
        }
        rest = data.get(length.saturating_add(EMPTY_CHUNK - 8)..).unwrap_or_default();
    }
    let mut stream = Decompress::new(true);
    // With room for one byte too many, which shows that there is more than there should be.
    let status = stream.decompress(&compressed, &mut vec![0; size + 1], FlushDecompress::Finish);
    let counts = (stream.total_in(), stream.total_out());
    matches!(status, Ok(Status::StreamEnd)) && counts == (compressed.len() as u64, size as u64)
}

/// The pixels, of which an interlaced image has all in memory.
pub(super) fn rows<'b>(bytes: &'b [u8], header: &ImageHeader) -> Result<Box<dyn Rows + 'b>, ImageError> {
    let mut options = DecodeOptions::default();
    // A chunk whose checksum is wrong is an error for other decoders.
    options.set_skip_ancillary_crc_failures(false);
    options.set_ignore_text_chunk(true);
    options.set_ignore_iccp_chunk(true);
    let mut decoder = Decoder::new_with_options(Cursor::new(bytes), options);
    decoder.set_limits(Limits { bytes: OTHER + header.width as usize * 32 });
    decoder.set_transformations(Transformations::EXPAND | Transformations::STRIP_16);
    let mut reader = decoder.read_info().map_err(|error| flaw(&error))?;
    let channels = match reader.output_color_type().0 {
        ColorType::Grayscale => Channels::Gray,
        ColorType::GrayscaleAlpha => Channels::GrayAlpha,
        ColorType::Rgb => Channels::Rgb,
        ColorType::Rgba => Channels::Rgba,
        ColorType::Indexed => return Err(ImageError::broken("its palette is missing")),
    };
    if !reader.info().interlaced {
        return Ok(Box::new(PngRows { reader, channels }));
    }
    let mut data = zeroed(area(header.width, header.height) * channels.bytes() as u64)?;
    reader.next_frame(&mut data).map_err(|error| flaw(&error))?;
    reader.finish().map_err(|error| flaw(&error))?;
    Ok(Box::new(Pixels::new(data, channels, header.width)))
}

/// A decoder's complaint; that of a checksum is long and names types.
fn flaw(error: &png::DecodingError) -> ImageError {
    let text = error.to_string();
    if text.starts_with("CRC error") { ImageError::broken("a checksum is wrong") } else { ImageError::broken(text) }
}

struct PngRows<'b> {
    reader: Reader<Cursor<&'b [u8]>>,
    channels: Channels,
}

impl Rows for PngRows<'_> {
    fn next_row(&mut self, row: &mut [u8]) -> Result<(), ImageError> {
        let pixels = self.reader.next_row().map_err(|error| flaw(&error))?.ok_or_else(too_few_rows)?;
        self.channels.to_rgba(pixels.data(), row);
        Ok(())
    }

    fn finish(&mut self) -> Result<(), ImageError> {
        self.reader.finish().map_err(|error| flaw(&error))
    }
}
