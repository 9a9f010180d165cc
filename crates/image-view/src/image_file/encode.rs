//! Bytes of a picture that every model's API can decode, within a limit.

use std::collections::HashMap;

use image::{ExtendedColorType, RgbaImage, codecs::jpeg::JpegEncoder};
use png::{BitDepth, ColorType, Compression, Encoder};

use super::{
    EncodedImage, ImageError,
    resample::{RGBA_BYTES, Resampler},
};

/// Qualities of JPEG, from one at which text is clean down to one at which shapes are still clear; then the picture is
/// made smaller.
const JPEG_QUALITIES: [u8; 4] = [90, 80, 65, 45];
const MAX_COLOURS: usize = 256;
/// Bytes of pixels up to which an image is encoded without loss.
const MAX_LOSSLESS_BYTES: usize = 256 * 256 * RGBA_BYTES;

/// Encodes `picture` in at most `limit` bytes, smaller if need be: as PNG where it has few colours, transparency
/// or few pixels, else as JPEG.
pub(super) fn encode(
    mut picture: RgbaImage,
    limit: usize,
    stopped: &dyn Fn() -> bool,
) -> Result<EncodedImage, ImageError> {
    let has_alpha = picture.pixels().any(|pixel| pixel[3] != u8::MAX);
    let done = |(width, height): (u32, u32), bytes, mime, is_flattened| {
        Ok(EncodedImage { bytes, mime, width, height, is_flattened })
    };
    if let Some(bytes) = png(&picture, has_alpha).filter(|bytes| bytes.len() <= limit) {
        return done(picture.dimensions(), bytes, "image/png", false);
    }
    loop {
        let (size, opaque) = (picture.dimensions(), on_white(&picture));
        for quality in JPEG_QUALITIES {
            if stopped() {
                return Err(ImageError::Stopped);
            }
            let mut bytes = Vec::new();
            JpegEncoder::new_with_quality(&mut bytes, quality)
                .encode(&opaque, size.0, size.1, ExtendedColorType::Rgb8)
                .map_err(ImageError::broken)?;
            if bytes.len() <= limit {
                return done(size, bytes, "image/jpeg", has_alpha);
            }
        }
        let smaller = |side: u32| (side * 3 / 4).max(1);
        let (width, height) = (smaller(size.0), smaller(size.1));
        let mut resampler = Resampler::new(size, (width, height));
        picture.chunks_exact(size.0 as usize * RGBA_BYTES).for_each(|row| resampler.push(row));
        let scaled = RgbaImage::from_raw(width, height, resampler.into_pixels());
        // One pixel cannot be made smaller: that is the error.
        picture = scaled.filter(|_| (width, height) != size).ok_or(ImageError::TooFewBytes(limit))?;
    }
}

/// As PNG, where that is worth it: few colours, or some that are transparent, or few pixels.
fn png(picture: &RgbaImage, has_alpha: bool) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut encoder = Encoder::new(&mut bytes, picture.width(), picture.height());
    encoder.set_depth(BitDepth::Eight);
    encoder.set_compression(if picture.len() > MAX_LOSSLESS_BYTES { Compression::Fast } else { Compression::Balanced });
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
        encoder.write_header().ok()?.write_image_data(picture).ok()?;
    } else if picture.len() <= MAX_LOSSLESS_BYTES {
        encoder.set_color(ColorType::Rgb);
        encoder.write_header().ok()?.write_image_data(&on_white(picture)).ok()?;
    } else {
        return None;
    }
    Some(bytes)
}

fn palette(picture: &RgbaImage) -> Option<(Vec<u8>, Vec<[u8; RGBA_BYTES]>)> {
    let mut known: HashMap<[u8; RGBA_BYTES], u8> = HashMap::with_capacity(MAX_COLOURS);
    let mut colours = Vec::new();
    let mut indices = Vec::with_capacity(picture.len() / RGBA_BYTES);
    for pixel in picture.as_chunks::<RGBA_BYTES>().0 {
        let index = if let Some(index) = known.get(pixel) {
            *index
        } else {
            // The 257th colour ends it.
            let index = u8::try_from(colours.len()).ok()?;
            colours.push(*pixel);
            *known.entry(*pixel).or_insert(index)
        };
        indices.push(index);
    }
    Some((indices, colours))
}

fn on_white(picture: &RgbaImage) -> Vec<u8> {
    let mixed = |[red, green, blue, alpha]: &[u8; RGBA_BYTES]| {
        [*red, *green, *blue].map(|colour| {
            let mixed = u32::from(colour) * u32::from(*alpha) + 255 * (255 - u32::from(*alpha));
            u8::try_from((mixed + 127) / 255).unwrap_or(u8::MAX)
        })
    };
    picture.as_chunks::<RGBA_BYTES>().0.iter().flat_map(mixed).collect()
}
