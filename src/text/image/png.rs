//! PNG: the chunks around the pixels, and the pixels themselves.
//!
//! Decoded row by row, unless it is interlaced: a picture of any size takes no more memory than some rows of it.

use std::io::Cursor;

use image::metadata::Orientation;
use png::{ColorType, DecodeOptions, Decoder, Limits, Reader, Transformations};

use super::{
    ImageFlaw,
    header::{ImageHeader, area},
    rows::{Channels, Pixels, RGBA, Rows, too_few_rows, zeroed},
};

/// Bytes that the decoder may allocate besides rows: for the texts and profiles in a file.
const OTHER: usize = 4 << 20;

/// What the chunks say (<https://www.w3.org/TR/png-3/#5Chunk-layout>); `None` where the first one is not a header.
pub(super) fn header(bytes: &[u8]) -> Option<ImageHeader> {
    const SIGNATURE: usize = 8;
    let mut header: Option<ImageHeader> = None;
    let mut at = SIGNATURE;
    while let Some([length, kind]) = bytes.get(at..at + 8).map(|head| [&head[..4], &head[4..]]) {
        let length = u32::from_be_bytes(length.try_into().ok()?) as usize;
        let data = bytes.get(at + 8..at + 8 + length);
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
                break;
            }
            _ => {}
        }
        // The data, the length, the kind and the checksum.
        at = at.checked_add(length)?.checked_add(12)?;
    }
    header
}

fn of_ihdr(data: &[u8]) -> Option<ImageHeader> {
    let [width, height] =
        [data.get(..4)?, data.get(4..8)?].map(|side| u32::from_be_bytes(side.try_into().unwrap_or_default()));
    let (depth, interlaced) = (*data.get(8)?, *data.get(12)? != 0);
    let pixels = if interlaced { area(width, height) * RGBA as u64 } else { 0 };
    Some(ImageHeader {
        width,
        height,
        orientation: Orientation::NoTransforms,
        frames: 1,
        is_complete: false,
        is_unusual: depth > 8,
        memory: pixels + u64::from(width) * 32 + OTHER as u64,
    })
}

/// Begins to decode.
pub(super) fn rows<'b>(bytes: &'b [u8], header: &ImageHeader) -> Result<Box<dyn Rows + 'b>, ImageFlaw> {
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
        ColorType::Indexed => return Err(ImageFlaw::broken(&"its palette is missing")),
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
fn flaw(error: &png::DecodingError) -> ImageFlaw {
    let text = error.to_string();
    if text.starts_with("CRC error") { ImageFlaw::broken(&"a checksum is wrong") } else { ImageFlaw::broken(&text) }
}

struct PngRows<'b> {
    reader: Reader<Cursor<&'b [u8]>>,
    channels: Channels,
}

impl Rows for PngRows<'_> {
    fn next_row(&mut self, row: &mut [u8]) -> Result<(), ImageFlaw> {
        let pixels = self.reader.next_row().map_err(|error| flaw(&error))?.ok_or_else(too_few_rows)?;
        self.channels.to_rgba(pixels.data(), row);
        Ok(())
    }

    fn finish(&mut self) -> Result<(), ImageFlaw> {
        self.reader.finish().map_err(|error| flaw(&error))
    }
}
