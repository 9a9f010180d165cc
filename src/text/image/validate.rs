//! Whether an image is whole: decoded once, under bounds of memory, before it is passed on.
//!
//! A model's API refuses a request with an image that it cannot decode, and the conversation with it. Decoders are
//! lenient with data that ends too early (browsers show the upper half), so the end is looked for as well.

use std::io::Cursor;
use std::panic::{self, AssertUnwindSafe};
use std::sync::{Mutex, PoisonError};

use image::{ImageDecoder, ImageError, ImageFormat, ImageReader, Limits};
use memchr::memmem;

use super::super::shorten;
use super::ImageInfo;

/// Pixels along one side of the largest image that is decoded; no model takes a tenth of it.
pub const LONGEST_SIDE: u32 = 16_384;

/// Bytes of decoded pixels of the largest image, and of all that a decoder may allocate besides: 64 megapixels with
/// transparency.
const DECODED: u64 = 256 << 20;

/// One image is decoded at a time, so that several calls together hold no more memory than one.
static DECODING: Mutex<()> = Mutex::new(());

/// Why an image is not passed on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ImageFlaw {
    /// More pixels than are decoded.
    TooLarge,
    /// Not decodable; the reason as the end of a sentence.
    Broken(String),
}

/// Decodes the image that `info` describes.
///
/// # Errors
/// What is wrong with it.
pub fn check_image(bytes: &[u8], info: &ImageInfo) -> Result<(), ImageFlaw> {
    let (width, height) = (info.width as u64, info.height as u64);
    if width == 0 || height == 0 {
        return Err(broken("it has no pixels"));
    }
    let side = u64::from(LONGEST_SIDE);
    if width > side || height > side || width.saturating_mul(height).saturating_mul(4) > DECODED {
        return Err(ImageFlaw::TooLarge);
    }
    let format = ImageFormat::from_mime_type(info.mime).ok_or_else(|| broken("its format is not known"))?;
    if !is_complete(bytes, format) {
        return Err(broken("its data ends too early"));
    }
    let _alone = DECODING.lock().unwrap_or_else(PoisonError::into_inner);
    // A decoder that panics has met what its authors did not think of.
    match panic::catch_unwind(AssertUnwindSafe(|| decode(bytes, format))) {
        Ok(Ok(())) => Ok(()),
        Ok(Err(ImageError::Limits(_))) => Err(ImageFlaw::TooLarge),
        Ok(Err(error)) => Err(broken(&reason(&error))),
        Err(_) => Err(broken("its data makes no sense")),
    }
}

fn decode(bytes: &[u8], format: ImageFormat) -> Result<(), ImageError> {
    let mut limits = Limits::default();
    limits.max_image_width = Some(LONGEST_SIDE);
    limits.max_image_height = Some(LONGEST_SIDE);
    limits.max_alloc = Some(DECODED);
    let mut reader = ImageReader::with_format(Cursor::new(bytes), format);
    reader.limits(limits.clone());
    let decoder = reader.into_decoder()?;
    let size = decoder.total_bytes();
    limits.reserve(size)?;
    let mut pixels = Vec::new();
    let size = usize::try_from(size).unwrap_or(usize::MAX);
    let no_memory =
        |_| ImageError::Limits(image::error::LimitError::from_kind(image::error::LimitErrorKind::InsufficientMemory));
    pixels.try_reserve_exact(size).map_err(no_memory)?;
    pixels.resize(size, 0);
    decoder.read_image(&mut pixels)
}

fn broken(reason: &str) -> ImageFlaw {
    ImageFlaw::Broken(reason.to_owned())
}

/// A decoder's complaint, short and on one line.
fn reason(error: &ImageError) -> String {
    const SHOWN: usize = 120;
    let text = error.to_string();
    let line = text.lines().next().unwrap_or_default();
    shorten(line, SHOWN).into_owned()
}

/// Whether the data goes on to its end.
fn is_complete(bytes: &[u8], format: ImageFormat) -> bool {
    match format {
        ImageFormat::Png => memmem::rfind(bytes, b"IEND").is_some(),
        ImageFormat::Jpeg => jpeg_ends(bytes),
        ImageFormat::Gif => gif_ends(bytes),
        ImageFormat::WebP => riff_ends(bytes),
        _ => true,
    }
}

/// Whether the markers of a JPEG lead to its end (ITU-T T.81, B.1.1): a thumbnail inside has its own end.
fn jpeg_ends(bytes: &[u8]) -> bool {
    let mut at = 2;
    loop {
        // To the next marker: in the data of a scan FF is followed by 00, a restart (D0 to D7) or filling.
        let Some(found) = bytes.get(at..).and_then(|rest| memchr::memchr(0xFF, rest)) else { return false };
        at += found + 1;
        match bytes.get(at) {
            None => return false,
            Some(0xD9) => return true,
            Some(0x00 | 0x01 | 0xD0..=0xD8) => at += 1,
            Some(0xFF) => {}
            Some(_) => match bytes.get(at + 1..at + 3) {
                Some(length) => at += 1 + usize::from(u16::from_be_bytes([length[0], length[1]])),
                None => return false,
            },
        }
    }
}

/// Whether the blocks of a GIF are whole (`GIF89a`, appendix A); only the trailer may be missing.
fn gif_ends(bytes: &[u8]) -> bool {
    let table = |packed: u8| if packed & 0x80 == 0 { 0 } else { 3 << ((packed & 7) + 1) };
    let Some(packed) = bytes.get(10) else { return false };
    let (mut at, mut images) = (13 + table(*packed), 0);
    loop {
        match bytes.get(at) {
            Some(0x21) => at += 2,
            Some(0x2C) => {
                let Some(packed) = bytes.get(at + 9) else { return false };
                at += 11 + table(*packed);
                images += 1;
            }
            Some(0x3B) => return images > 0,
            None => return images > 0 && at == bytes.len(),
            // Filling between blocks.
            Some(_) => {
                at += 1;
                continue;
            }
        }
        loop {
            match bytes.get(at) {
                None => return false,
                Some(0) => break,
                Some(length) => at += 1 + usize::from(*length),
            }
        }
        at += 1;
    }
}

/// Whether a RIFF file has as many bytes as it says.
fn riff_ends(bytes: &[u8]) -> bool {
    let size = bytes.get(4..).and_then(|rest| rest.first_chunk());
    size.is_some_and(|size| u32::from_le_bytes(*size) as usize <= bytes.len() - 8)
}

#[cfg(test)]
mod tests {
    use image::{DynamicImage, RgbImage};

    use super::*;
    use crate::text::image_info;

    /// An image of a pattern that does not compress to nothing.
    fn sample(format: ImageFormat) -> Vec<u8> {
        let noise = |x: u32, y: u32| (x * 7919 + y * 104_729 + x * y * 31).to_le_bytes();
        let picture = RgbImage::from_fn(64, 48, |x, y| image::Rgb([noise(x, y)[0], noise(y, x)[1], noise(x, y)[2]]));
        let mut bytes = Cursor::new(Vec::new());
        DynamicImage::ImageRgb8(picture).write_to(&mut bytes, format).unwrap();
        bytes.into_inner()
    }

    fn check(bytes: &[u8]) -> Result<(), ImageFlaw> {
        check_image(bytes, &image_info(bytes).expect("a header"))
    }

    const FORMATS: [ImageFormat; 4] = [ImageFormat::Png, ImageFormat::Jpeg, ImageFormat::Gif, ImageFormat::WebP];

    #[test]
    fn whole_images_are_valid() {
        for format in FORMATS {
            assert_eq!(check(&sample(format)), Ok(()), "{format:?}");
        }
    }

    #[test]
    fn an_image_that_ends_too_early_is_broken() {
        for format in FORMATS {
            let whole = sample(format);
            // The last bytes of a PNG are a checksum of nothing, and a GIF may do without its trailer.
            let last = whole.len() - if format == ImageFormat::Png { 8 } else { 2 };
            for length in (30..last).step_by(17).chain([last]) {
                let cut = &whole[..length];
                let is_valid = image_info(cut).is_some_and(|info| check_image(cut, &info).is_ok());
                assert!(!is_valid, "{format:?} of {length} bytes of {}", whole.len());
            }
        }
    }

    #[test]
    fn damaged_pixels_are_broken_where_the_format_has_checks() {
        let mut png = sample(ImageFormat::Png);
        let middle = png.len() / 2;
        for byte in &mut png[middle..middle + 16] {
            *byte ^= 0x55;
        }
        assert!(matches!(check(&png), Err(ImageFlaw::Broken(_))));
        for (format, keep) in [(ImageFormat::Jpeg, 200), (ImageFormat::Gif, 900), (ImageFormat::WebP, 60)] {
            let mut bytes = sample(format);
            let end = bytes.len() - 2;
            bytes[keep.min(end)..end].fill(0);
            // Whatever a decoder makes of it, it answers.
            let _ = image_info(&bytes).map(|info| check_image(&bytes, &info));
        }
    }

    #[test]
    fn too_many_pixels_are_refused() {
        let mut png = sample(ImageFormat::Png);
        for (width, height) in [(16_385_u32, 1_u32), (1, 16_385), (16_384, 16_384), (u32::MAX, u32::MAX)] {
            png[16..20].copy_from_slice(&width.to_be_bytes());
            png[20..24].copy_from_slice(&height.to_be_bytes());
            assert_eq!(check(&png), Err(ImageFlaw::TooLarge), "{width}×{height}");
        }
    }

    #[test]
    fn a_thumbnail_does_not_end_a_jpeg() {
        let whole = sample(ImageFormat::Jpeg);
        let mut thumbnail = b"\xFF\xE1\x01\x02Exif\0\0".to_vec();
        thumbnail.extend(&sample(ImageFormat::Jpeg)[..0x0102 - 10]);
        thumbnail.extend(b"\xFF\xD9");
        let with = [&whole[..2], &thumbnail, &whole[2..]].concat();
        assert!(jpeg_ends(&with) && !jpeg_ends(&with[..with.len() - 200]));
    }
}
