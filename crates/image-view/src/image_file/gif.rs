//! GIF: its blocks, and the pixels of its first frame.

use std::num::NonZeroU64;

use gif::{ColorOutput, DecodeOptions, MemoryLimit};

use super::ImageError;
use super::pixels::{ImageHeader, RGBA, Rows, area, too_few_rows, zeroed};

/// Reads the blocks (<https://www.w3.org/Graphics/GIF/spec-gif89a.txt>, appendix A); only the trailer may be missing.
pub(super) fn header(bytes: &[u8]) -> Option<ImageHeader> {
    let number = |at: usize| Some(u32::from(u16::from_le_bytes([*bytes.get(at)?, *bytes.get(at + 1)?])));
    let table = |packed: u8| if packed & 0x80 == 0 { 0 } else { 3 << ((packed & 7) + 1) };
    let (width, height) = (number(6)?, number(8)?);
    let mut header = ImageHeader { frames: 0, is_complete: false, ..ImageHeader::new((width, height), 0) };
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
                    header.memory = area(across, down) + (1 << 20);
                }
                at += 11 + table(*packed);
                header.frames += 1;
            }
            Some(0x3B) => break,
            None => {
                header.is_complete = header.frames > 0 && at == bytes.len();
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
    header.is_complete = header.frames > 0;
    Some(header)
}

/// Decodes the first frame.
pub(super) fn rows(bytes: &[u8], header: &ImageHeader) -> Result<Box<dyn Rows>, ImageError> {
    let mut options = DecodeOptions::new();
    options.set_color_output(ColorOutput::Indexed);
    options.set_memory_limit(NonZeroU64::new(header.memory).map_or(MemoryLimit::Unlimited, MemoryLimit::Bytes));
    let mut decoder = options.read_info(bytes).map_err(ImageError::broken)?;
    let frame = decoder.next_frame_info().map_err(ImageError::broken)?.ok_or_else(too_few_rows)?;
    let (left, top, across) = (usize::from(frame.left), usize::from(frame.top), usize::from(frame.width));
    let transparent = frame.transparent;
    let mut indices = zeroed(area(u32::from(frame.width), u32::from(frame.height)))?;
    decoder.read_into_buffer(&mut indices).map_err(ImageError::broken)?;
    let mut palette = [[0, 0, 0, 255]; 256];
    let colours = decoder.palette().map_err(ImageError::broken)?.as_chunks::<3>().0;
    palette.iter_mut().zip(colours).for_each(|(entry, [red, green, blue])| *entry = [*red, *green, *blue, 255]);
    if let Some(index) = transparent {
        palette[usize::from(index)] = [0; RGBA];
    }
    Ok(Box::new(GifRows { indices, palette, left, across, row: 0, top }))
}

/// The screen with its first frame on it; the rest of it is transparent.
struct GifRows {
    indices: Vec<u8>,
    palette: [[u8; RGBA]; 256],
    left: usize,
    top: usize,
    /// Pixels in a row of the frame.
    across: usize,
    /// The next row of the screen.
    row: usize,
}

impl Rows for GifRows {
    fn next_row(&mut self, row: &mut [u8]) -> Result<(), ImageError> {
        let drawn = self.row.checked_sub(self.top).and_then(|row| {
            let start = row.checked_mul(self.across)?;
            self.indices.get(start..start.checked_add(self.across)?)
        });
        self.row += 1;
        row.fill(0);
        let pixels = row.as_chunks_mut::<RGBA>().0.iter_mut().skip(self.left);
        pixels.zip(drawn.unwrap_or_default()).for_each(|(pixel, index)| *pixel = self.palette[usize::from(*index)]);
        Ok(())
    }
}
