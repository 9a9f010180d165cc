//! Bytes of a picture that every model's API can decode, within a limit.

use std::collections::HashMap;

use image::{ExtendedColorType, codecs::jpeg::JpegEncoder};
use png::{BitDepth, ColorType, Compression, Encoder};

use super::{EncodedImage, ImageError, resample::Resampler, rows::RGBA};

/// Qualities of JPEG, from one at which text is clean down to one at which shapes are still clear; then the picture is
/// made smaller.
const QUALITIES: [u8; 4] = [90, 80, 65, 45];
/// Colours of a palette.
const COLOURS: usize = 256;
/// Pixels of at most so many bytes are always encoded without loss.
const SMALL: usize = 256 * 256 * RGBA;

/// Pixels in memory.
pub(super) struct Picture {
    pub(super) width: u32,
    pub(super) height: u32,
    /// As RGBA.
    pub(super) pixels: Vec<u8>,
}

/// Encodes `picture` in at most `limit` bytes, smaller if need be: as PNG where it has few colours, transparency
/// or few pixels, else as JPEG.
pub(super) fn encode(
    mut picture: Picture,
    limit: usize,
    stopped: &dyn Fn() -> bool,
) -> Result<EncodedImage, ImageError> {
    let has_alpha = picture.pixels.as_chunks::<RGBA>().0.iter().any(|pixel| pixel[3] != u8::MAX);
    let done = |picture: &Picture, bytes, mime, is_flattened| EncodedImage {
        bytes,
        mime,
        width: picture.width,
        height: picture.height,
        is_flattened,
    };
    if let Some(bytes) = png(&picture, has_alpha).filter(|bytes| bytes.len() <= limit) {
        return Ok(done(&picture, bytes, "image/png", false));
    }
    loop {
        let opaque = on_white(&picture);
        for quality in QUALITIES {
            if stopped() {
                return Err(ImageError::Stopped);
            }
            let mut bytes = Vec::new();
            JpegEncoder::new_with_quality(&mut bytes, quality)
                .encode(&opaque, picture.width, picture.height, ExtendedColorType::Rgb8)
                .map_err(|error| ImageError::broken(&error))?;
            if bytes.len() <= limit {
                return Ok(done(&picture, bytes, "image/jpeg", has_alpha));
            }
        }
        let smaller = |side: u32| (side * 3 / 4).max(1);
        let size = (smaller(picture.width), smaller(picture.height));
        if size == (picture.width, picture.height) {
            return Err(ImageError::TooFewBytes(limit));
        }
        let mut resampler = Resampler::new((picture.width, picture.height), size);
        picture.pixels.chunks_exact(picture.width as usize * RGBA).for_each(|row| resampler.push(row));
        picture = Picture { width: size.0, height: size.1, pixels: resampler.into_pixels() };
    }
}

/// As PNG, where that is worth it: few colours, or some that are transparent, or few pixels.
fn png(picture: &Picture, has_alpha: bool) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut encoder = Encoder::new(&mut bytes, picture.width, picture.height);
    encoder.set_depth(BitDepth::Eight);
    encoder.set_compression(if picture.pixels.len() > SMALL { Compression::Fast } else { Compression::Balanced });
    let palette = palette(picture);
    if let Some((indices, colours)) = &palette {
        encoder.set_color(ColorType::Indexed);
        encoder
            .set_palette(colours.iter().flat_map(|[red, green, blue, _]| [*red, *green, *blue]).collect::<Vec<u8>>());
        if has_alpha {
            encoder.set_trns(colours.iter().map(|colour| colour[3]).collect::<Vec<u8>>());
        }
        encoder.write_header().ok()?.write_image_data(indices).ok()?;
    } else if has_alpha {
        encoder.set_color(ColorType::Rgba);
        encoder.write_header().ok()?.write_image_data(&picture.pixels).ok()?;
    } else if picture.pixels.len() <= SMALL {
        encoder.set_color(ColorType::Rgb);
        encoder.write_header().ok()?.write_image_data(&on_white(picture)).ok()?;
    } else {
        return None;
    }
    Some(bytes)
}

/// The pixels as indices, and the colours, if a palette can hold them.
fn palette(picture: &Picture) -> Option<(Vec<u8>, Vec<[u8; RGBA]>)> {
    let mut known: HashMap<[u8; RGBA], u8> = HashMap::with_capacity(COLOURS);
    let mut colours = Vec::new();
    let mut indices = Vec::with_capacity(picture.pixels.len() / RGBA);
    for pixel in picture.pixels.as_chunks::<RGBA>().0 {
        if let Some(index) = known.get(pixel) {
            indices.push(*index);
            continue;
        }
        let index = u8::try_from(colours.len()).ok()?;
        colours.push(*pixel);
        known.insert(*pixel, index);
        indices.push(index);
    }
    Some((indices, colours))
}

/// The pixels as RGB, white behind what is transparent.
fn on_white(picture: &Picture) -> Vec<u8> {
    let mixed = |[red, green, blue, alpha]: &[u8; RGBA]| {
        [*red, *green, *blue].map(|colour| {
            let mixed = u32::from(colour) * u32::from(*alpha) + 255 * (255 - u32::from(*alpha));
            u8::try_from((mixed + 127) / 255).unwrap_or(u8::MAX)
        })
    };
    picture.pixels.as_chunks::<RGBA>().0.iter().flat_map(mixed).collect()
}
