//! An image file: what its header says, and how it is shown to a model.
//!
//! An API refuses a request with an image that it cannot decode or that is too large, and the conversation with it. So
//! a file is passed on as it is only when it is small, usual and whole; every other one is decoded, scaled and encoded
//! again.
//!
//! # Limits
//! A decoder does not ask whether it should stop: some seconds for the largest images.

mod encode;
mod gif;
mod header;
mod jpeg;
mod png;
mod resample;
mod webp;

use std::{
    borrow::Cow,
    error::Error as _,
    io::Cursor,
    panic::{self, AssertUnwindSafe},
};

use image::{
    DynamicImage, GenericImageView as _, ImageDecoder as _, ImageFormat, ImageReader, Limits, RgbaImage,
    metadata::Orientation,
};

use crate::{DECODE_MEMORY, EncodedImage, ImageError, ImageInfo, ImageView, LONGEST_SIDE, MAX_PIXELS, Region};
use encode::encode;
use header::{ImageHeader, area};
use resample::Resampler;

/// Pixels along the long side of an image that is shown: a model sees no more of it
/// (<https://docs.claude.com/en/docs/build-with-claude/vision#evaluate-image-size>).
const LONGEST_SHOWN: u32 = 1568;
/// Pixels along the short side: some APIs refuse sides of 10 or fewer (QwenLM/qwen-code#2505).
const SHORTEST_SHOWN: u32 = 11;

/// An image file whose header was read.
#[derive(Debug)]
pub struct ImageFile<'b> {
    bytes: &'b [u8],
    format: ImageFormat,
    header: ImageHeader,
}

impl<'b> ImageFile<'b> {
    /// Reads the header of the file that `info` was recognised in.
    ///
    /// # Errors
    /// What is wrong with it, as far as the header says.
    pub fn open(bytes: &'b [u8], info: &ImageInfo) -> Result<Self, ImageError> {
        let format =
            ImageFormat::from_mime_type(info.mime).ok_or_else(|| ImageError::broken("its format is not known"))?;
        let header = match format {
            ImageFormat::Png => png::header(bytes),
            ImageFormat::Jpeg => jpeg::header(bytes),
            ImageFormat::Gif => gif::header(bytes),
            _ => webp::header(bytes),
        };
        let header = header.ok_or_else(|| ImageError::broken("its header is damaged"))?;
        let (width, height) = (header.width, header.height);
        if width == 0 || height == 0 {
            return Err(ImageError::broken("it has no pixels"));
        }
        if width.max(height) > LONGEST_SIDE || area(width, height) > MAX_PIXELS {
            return Err(ImageError::TooManyPixels);
        }
        let flaw = header.flaw;
        let file = Self { bytes, format, header };
        let memory = file.memory();
        if memory > DECODE_MEMORY {
            return Err(ImageError::TooMuchMemory(memory));
        }
        flaw.map_or(Ok(file), |flaw| Err(ImageError::broken(flaw)))
    }

    /// Bytes that decoding takes, the file included.
    pub fn memory(&self) -> u64 {
        // What is shown grows while the image is decoded, and is in memory a few times when it is encoded.
        let shown = u64::from(LONGEST_SHOWN.min(self.header.width)) * u64::from(LONGEST_SHOWN.min(self.header.height));
        self.bytes.len() as u64 + (self.header.pixels.saturating_add(self.header.other + shown * 4)).max(shown * 16)
    }

    /// Bytes of the file.
    pub fn file_size(&self) -> u64 {
        self.bytes.len() as u64
    }

    /// Width and height in pixels, when it is upright.
    pub fn size(&self) -> (u32, u32) {
        let ImageHeader { width, height, orientation, .. } = self.header;
        if swaps_sides(orientation) { (height, width) } else { (width, height) }
    }

    /// How many pictures there are; the first is shown.
    pub fn frames(&self) -> u32 {
        self.header.frames
    }

    /// Whether the stored image is turned or mirrored to be shown.
    pub fn is_turned(&self) -> bool {
        self.header.orientation != Orientation::NoTransforms
    }

    /// Whether it can be shown: decodes it, and encodes nothing.
    ///
    /// # Errors
    /// As [`Self::show`].
    pub fn check(&self) -> Result<(), ImageError> {
        guarded(|| self.decode().map(drop))
    }

    /// Decodes it and encodes what is shown of it; `None` where the file itself can be shown, which was decoded too.
    ///
    /// # Errors
    /// [`ImageError::Stopped`] soon after `stopped` says so, or what is wrong with the pixels.
    pub fn show(&self, view: &ImageView, stopped: &dyn Fn() -> bool) -> Result<Option<EncodedImage>, ImageError> {
        guarded(|| {
            if self.is_showable(view) && self.is_clean()? {
                return Ok(None);
            }
            let picture = self.picture(view.region, stopped)?;
            encode(picture, view.max_bytes, stopped).map(Some)
        })
    }

    fn is_showable(&self, view: &ImageView) -> bool {
        let ImageHeader { width, height, frames, is_unusual, .. } = self.header;
        let is_small = width.max(height) <= LONGEST_SHOWN && self.bytes.len() <= view.max_bytes;
        let is_usual = !is_unusual && frames == 1 && !self.is_turned() && width.min(height) >= SHORTEST_SHOWN;
        view.region.is_none() && is_small && is_usual
    }

    /// Whether a strict decoder accepts all of it. A JPEG or PNG that only lenient decoders accept is not an error.
    fn is_clean(&self) -> Result<bool, ImageError> {
        match self.format {
            ImageFormat::Jpeg => Ok(jpeg::decode(self.bytes, &self.header, true).is_ok()),
            ImageFormat::Png if !png::is_strict(self.bytes, &self.header) => Ok(false),
            _ => self.decode().map(|_| true),
        }
    }

    fn decode(&self) -> Result<DynamicImage, ImageError> {
        let bytes = match self.format {
            ImageFormat::Jpeg => return jpeg::decode(self.bytes, &self.header, false),
            ImageFormat::Gif => gif::with_size(self.bytes, &self.header),
            ImageFormat::Png => png::without_frames(self.bytes, &self.header),
            _ => Cow::Borrowed(self.bytes),
        };
        let flawed = |error: image::ImageError| match error.source() {
            // Without the name of the format, which the message has.
            Some(reason) => ImageError::broken(reason),
            None => ImageError::broken(error),
        };
        let mut limits = Limits::no_limits();
        limits.max_alloc = Some(self.header.other);
        let mut reader = ImageReader::with_format(Cursor::new(&*bytes), self.format);
        reader.limits(limits);
        let decoder = reader.into_decoder().map_err(flawed)?;
        if decoder.dimensions() != (self.header.width, self.header.height) {
            return Err(ImageError::broken("it has two headers that contradict each other"));
        }
        DynamicImage::from_decoder(decoder).map_err(flawed)
    }

    fn picture(&self, region: Option<Region>, stopped: &dyn Fn() -> bool) -> Result<RgbaImage, ImageError> {
        let ImageHeader { width, height, orientation, .. } = self.header;
        let whole = Region { x: 0, y: 0, width, height };
        let Region { x, y, width, height } =
            region.map_or(whole, |region| as_stored(region, orientation, width, height));
        let (image, to) = (self.decode()?, shown_size(width, height));
        let mut picture = if to != (width, height) {
            let mut resampler = Resampler::new((width, height), to);
            let mut row = Vec::new();
            for y in y..y + height {
                if stopped() {
                    return Err(ImageError::Stopped);
                }
                row.clear();
                row.extend((x..x + width).flat_map(|x| image.get_pixel(x, y).0));
                resampler.push(&row);
            }
            let picture = RgbaImage::from_raw(to.0, to.1, resampler.into_pixels());
            picture.ok_or_else(|| ImageError::broken("it has too few pixels"))?.into()
        } else if region.is_some() {
            image.crop_imm(x, y, width, height)
        } else {
            image
        };
        picture.apply_orientation(orientation);
        Ok(enlarged(picture.into_rgba8()))
    }
}

/// Where the pixels of this part of the upright image are in the file, whose image is `width` by `height`.
fn as_stored(region: Region, orientation: Orientation, width: u32, height: u32) -> Region {
    let Region { x, y, width: across, height: down } = region;
    // From the far edge, for an axis that is stored the other way round.
    let from_right = |x: u32, length: u32| width - x - length;
    let from_bottom = |y: u32, length: u32| height - y - length;
    let (x, y, width, height) = match orientation {
        Orientation::NoTransforms => (x, y, across, down),
        Orientation::FlipHorizontal => (from_right(x, across), y, across, down),
        Orientation::Rotate180 => (from_right(x, across), from_bottom(y, down), across, down),
        Orientation::FlipVertical => (x, from_bottom(y, down), across, down),
        // The rows of the upright image are the columns of the file.
        Orientation::Rotate90FlipH => (y, x, down, across),
        Orientation::Rotate90 => (y, from_bottom(x, across), down, across),
        Orientation::Rotate270FlipH => (from_right(y, down), from_bottom(x, across), down, across),
        Orientation::Rotate270 => (from_right(y, down), x, down, across),
    };
    Region { x, y, width, height }
}

fn swaps_sides(orientation: Orientation) -> bool {
    use Orientation::{Rotate90, Rotate90FlipH, Rotate270, Rotate270FlipH};
    matches!(orientation, Rotate90 | Rotate90FlipH | Rotate270 | Rotate270FlipH)
}

/// The result of `decode`. A decoder that panics has met what its authors did not think of.
fn guarded<T>(decode: impl FnOnce() -> Result<T, ImageError>) -> Result<T, ImageError> {
    let decoded = panic::catch_unwind(AssertUnwindSafe(decode));
    decoded.unwrap_or_else(|_| Err(ImageError::broken("its data is invalid")))
}

/// The size at which so many pixels are shown. A side that is short already is not made shorter.
fn shown_size(width: u32, height: u32) -> (u32, u32) {
    let longest = width.max(height);
    if longest <= LONGEST_SHOWN {
        return (width, height);
    }
    let scaled = |side: u32| {
        let scaled = (u64::from(side) * u64::from(LONGEST_SHOWN) + u64::from(longest / 2)) / u64::from(longest);
        u32::try_from(scaled).unwrap_or(LONGEST_SHOWN).max(side.min(SHORTEST_SHOWN))
    };
    (scaled(width), scaled(height))
}

/// With each pixel repeated as often as the short side needs to be accepted; along both sides where there is room.
fn enlarged(picture: RgbaImage) -> RgbaImage {
    let (width, height) = picture.dimensions();
    let times = SHORTEST_SHOWN.div_ceil(width.min(height));
    if times == 1 {
        return picture;
    }
    let fits = width.max(height) * times <= LONGEST_SHOWN;
    let factor = |side: u32| if fits || side < SHORTEST_SHOWN { times } else { 1 };
    let (across, down) = (factor(width), factor(height));
    RgbaImage::from_fn(width * across, height * down, |x, y| *picture.get_pixel(x / across, y / down))
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use image::RgbImage;
    use proptest::prelude::*;

    use super::*;
    use crate::image_info;

    const TESTED_FORMATS: [ImageFormat; 4] = [ImageFormat::Png, ImageFormat::Jpeg, ImageFormat::Gif, ImageFormat::WebP];
    const WHOLE_IMAGE: ImageView = ImageView { region: None, max_bytes: 700 << 10 };

    fn encoded(picture: impl Into<DynamicImage>, format: ImageFormat) -> Vec<u8> {
        let mut bytes = Cursor::new(Vec::new());
        picture.into().write_to(&mut bytes, format).unwrap();
        bytes.into_inner()
    }

    fn pattern(width: u32, height: u32) -> RgbImage {
        let noise = |x: u32, y: u32| (x * 7919 + y * 104_729 + x * y * 31).to_le_bytes();
        RgbImage::from_fn(width, height, |x, y| image::Rgb([noise(x, y)[0], noise(y, x)[1], noise(x, y)[2]]))
    }

    fn sample(format: ImageFormat) -> Vec<u8> {
        encoded(pattern(64, 48), format)
    }

    fn show(bytes: &[u8], view: &ImageView) -> Result<Option<EncodedImage>, ImageError> {
        ImageFile::open(bytes, &image_info(bytes).expect("a header"))?.show(view, &|| false)
    }

    fn pixels(image: &EncodedImage) -> RgbaImage {
        let pixels = image::load_from_memory(&image.bytes).unwrap().into_rgba8();
        assert_eq!(pixels.dimensions(), (image.width, image.height));
        pixels
    }

    fn with_orientation(jpeg: &[u8], orientation: u8) -> Vec<u8> {
        let exif = b"Exif\0\0II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0";
        let segment = [exif, &[orientation, 0, 0, 0, 0, 0, 0, 0][..]].concat();
        let length = u16::try_from(segment.len() + 2).unwrap().to_be_bytes();
        [&jpeg[..2], b"\xFF\xE1", &length, &segment, &jpeg[2..]].concat()
    }

    #[test]
    fn small_whole_image_is_shown_as_it_is() {
        for format in TESTED_FORMATS {
            assert_eq!(show(&sample(format), &WHOLE_IMAGE), Ok(None), "{format:?}");
        }
    }

    #[test]
    fn image_that_ends_too_early_is_broken() {
        for format in TESTED_FORMATS {
            let whole = sample(format);
            // The last bytes of a PNG are a checksum of nothing, and a GIF may do without its trailer.
            let last = whole.len() - if format == ImageFormat::Png { 8 } else { 2 };
            for length in (30..last).step_by(17).chain([last]) {
                let cut = &whole[..length];
                let is_shown = image_info(cut).is_some() && show(cut, &WHOLE_IMAGE).is_ok();
                assert!(!is_shown, "{format:?} of {length} bytes of {}", whole.len());
            }
        }
    }

    #[test]
    fn damaged_png_is_broken() {
        let mut png = sample(ImageFormat::Png);
        let middle = png.len() / 2;
        png[middle] ^= 0x55;
        assert_eq!(show(&png, &WHOLE_IMAGE), Err(ImageError::Broken("a checksum is wrong".to_owned())));
    }

    fn png_of(chunks: &[(&[u8; 4], &[u8])]) -> Vec<u8> {
        let mut bytes = b"\x89PNG\r\n\x1a\n".to_vec();
        for (kind, data) in chunks {
            let mut checksum = flate2::Crc::new();
            checksum.update(*kind);
            checksum.update(data);
            let length = u32::try_from(data.len()).unwrap().to_be_bytes();
            bytes.extend([&length, &kind[..], data, &checksum.sum().to_be_bytes()].concat());
        }
        bytes
    }

    /// The header of an RGB image of 20 by 20 pixels, and its compressed pixels.
    fn small_png() -> (Vec<u8>, Vec<u8>) {
        let header = [0, 0, 0, 20, 0, 0, 0, 20, 8, 2, 0, 0, 0].to_vec();
        let mut stream = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::default());
        std::io::Write::write_all(&mut stream, &[0; 61 * 20]).unwrap();
        (header, stream.finish().unwrap())
    }

    fn is_encoded_again(bytes: &[u8]) -> bool {
        show(bytes, &WHOLE_IMAGE).unwrap().is_some_and(|image| pixels(&image).dimensions() == (20, 20))
    }

    #[test]
    fn png_whose_stream_is_not_exact_is_encoded_again() {
        let (header, stream) = small_png();
        let png = |stream: &[u8]| png_of(&[(b"IHDR", &header), (b"IDAT", stream), (b"IEND", b"")]);
        assert_eq!(show(&png(&stream), &WHOLE_IMAGE), Ok(None));
        let (checksum, end) = (stream.len() - 4, stream.len() - 1);
        let wrong = [&stream[..end], &[stream[end] ^ 1]].concat();
        for stream in [&wrong, &stream[..end], &stream[..checksum], &[&stream[..], b"more"].concat()] {
            assert!(is_encoded_again(&png(stream)), "{stream:?}");
        }
        let parts = [&stream[..9], &stream[9..]];
        let split = png_of(&[(b"IHDR", &header), (b"IDAT", parts[0]), (b"IDAT", parts[1]), (b"IEND", b"")]);
        assert_eq!(show(&split, &WHOLE_IMAGE), Ok(None));
    }

    #[test]
    fn png_with_rare_chunks_is_encoded_again() {
        let (header, stream) = small_png();
        let png = |kind: &[u8; 4], data: &[u8]| {
            png_of(&[(b"IHDR", &header), (kind, data), (b"IDAT", &stream), (b"IEND", b"")])
        };
        for (kind, data) in
            [(b"gAMA", &[0, 0, 0xB1, 0x8F][..]), (b"sRGB", &[0]), (b"pHYs", &[0; 9]), (b"tEXt", b"Software\0any")]
        {
            assert_eq!(show(&png(kind, data), &WHOLE_IMAGE), Ok(None), "{kind:?}");
        }
        for (kind, data) in [
            (b"iTXt", &b"Comment\0\x01\0\0\0x"[..]),
            (b"zTXt", b"Comment\0\0x"),
            (b"iCCP", b"profile\0\0x"),
            (b"eXIf", b"II*\0\x08\0\0\0\0\0"),
            (b"prVt", b""),
            (b"tEXt", &[b'a'; 5000]),
            (b"sRGB", b""),
            (b"tRNS", b"\0"),
        ] {
            assert!(is_encoded_again(&png(kind, data)), "{kind:?}");
        }
    }

    #[test]
    fn jpeg_with_filling_or_other_bytes_between_its_segments_is_shown() {
        let whole = sample(ImageFormat::Jpeg);
        let expected = jpeg::decode(&whole, &jpeg::header(&whole).unwrap(), false).unwrap();
        // Before the first segment, the second, and the last marker of the header.
        let second = 4 + usize::from(u16::from_be_bytes([whole[4], whole[5]]));
        let scan = whole.windows(2).position(|pair| pair == b"\xFF\xDA").unwrap();
        for at in [2, second, scan] {
            for more in [&b"\xFF"[..], &[0xFF; 9], b"\0", b"stray", b"\0\0\xFF\xFF"] {
                let bytes = [&whole[..at], more, &whole[at..]].concat();
                let image = show(&bytes, &WHOLE_IMAGE).unwrap_or_else(|error| panic!("{more:?}: {error:?}"));
                let found = pixels(&image.expect("encoded again"));
                let far = found.pixels().zip(expected.to_rgba8().pixels()).any(|(a, b)| a[0].abs_diff(b[0]) > 24);
                assert!(!far, "{more:?} at {at}");
            }
        }
    }

    #[test]
    fn first_picture_of_an_animation_in_a_wrong_order_is_shown() {
        let (header, stream) = small_png();
        let control =
            |number: u8| [&[0, 0, 0, number, 0, 0, 0, 20, 0, 0, 0, 20][..], &[0; 8], &[0, 1, 0, 10, 0, 0]].concat();
        let frame = |number: u8| [&[0, 0, 0, number][..], &stream].concat();
        let (begin, pixels) = ((b"IHDR", &header[..]), (b"IDAT", &stream[..]));
        let (all, end) = ((b"acTL", &[0, 0, 0, 2, 0, 0, 0, 0][..]), (b"IEND", &b""[..]));
        let (first, second, data) = (control(0), control(1), frame(2));
        let (first, second, data) = ((b"fcTL", &first[..]), (b"fcTL", &second[..]), (b"fdAT", &data[..]));
        for chunks in [
            &[begin, all, first, pixels, second, data, end][..],
            &[begin, all, second, pixels, first, data, end],
            &[begin, all, first, pixels, data, second, end],
            &[begin, all, first, data, pixels, end],
            &[begin, first, pixels, all, data, end],
            &[begin, pixels, first, all, end],
            &[begin, all, first, first, first, pixels, end],
        ] {
            assert!(is_encoded_again(&png_of(chunks)), "{chunks:?}");
        }
    }

    #[test]
    fn data_after_the_end_mark_is_not_passed_on() {
        for format in [ImageFormat::Png, ImageFormat::Jpeg] {
            let bytes = [&sample(format)[..], b"<?php"].concat();
            let image = show(&bytes, &WHOLE_IMAGE).unwrap().expect("encoded again");
            assert!(pixels(&image).dimensions() == (64, 48) && !image.bytes.ends_with(b"<?php"), "{format:?}");
        }
    }

    #[test]
    fn too_many_pixels_are_refused_before_they_are_decoded() {
        let mut png = sample(ImageFormat::Png);
        for (width, height) in [(65_536_u32, 1_u32), (1, 65_536), (20_000, 10_001), (u32::MAX, u32::MAX)] {
            png[16..20].copy_from_slice(&width.to_be_bytes());
            png[20..24].copy_from_slice(&height.to_be_bytes());
            assert_eq!(show(&png, &WHOLE_IMAGE), Err(ImageError::TooManyPixels), "{width}×{height}");
        }
        // Interlaced, so that all pixels are in memory at the same time.
        png[16..24].copy_from_slice(&[0, 0, 0x30, 0, 0, 0, 0x30, 0]);
        png[28] = 1;
        assert!(
            matches!(show(&png, &WHOLE_IMAGE), Err(ImageError::TooMuchMemory(needed)) if needed > 4 * 0x3000 * 0x3000)
        );
    }

    #[test]
    fn thumbnail_does_not_end_a_jpeg() {
        let whole = sample(ImageFormat::Jpeg);
        let mut thumbnail = b"\xFF\xE1\x01\x02Exif\0\0".to_vec();
        thumbnail.extend(&sample(ImageFormat::Jpeg)[..0x0102 - 10]);
        thumbnail.extend(b"\xFF\xD9");
        let with = [&whole[..2], &thumbnail, &whole[2..]].concat();
        assert_eq!(show(&with, &WHOLE_IMAGE), Ok(None));
        assert!(show(&with[..with.len() - 200], &WHOLE_IMAGE).is_err());
    }

    #[test]
    fn long_side_is_scaled_and_a_short_one_is_kept() {
        for (size, shown) in
            [((1600, 80), (1568, 78)), ((3000, 4), (1568, 12)), ((1, 1), (11, 11)), ((5, 300), (15, 900))]
        {
            let image = show(&encoded(pattern(size.0, size.1), ImageFormat::Png), &WHOLE_IMAGE).unwrap().unwrap();
            assert_eq!(pixels(&image).dimensions(), shown, "{size:?}");
        }
        assert_eq!(shown_size(3840, 2400), (1568, 980));
        assert_eq!(shown_size(12_000, 40), (1568, 11));
        assert_eq!(shown_size(1, 20_000), (1, 1568));
    }

    #[test]
    fn large_file_is_encoded_in_fewer_bytes_and_then_pixels() {
        let png = encoded(pattern(300, 300), ImageFormat::Png);
        for max_bytes in [100_000, 20_000, 2_000] {
            let image = show(&png, &ImageView { max_bytes, ..WHOLE_IMAGE }).unwrap().unwrap();
            assert!(image.bytes.len() <= max_bytes && image.mime == "image/jpeg", "{max_bytes}");
            pixels(&image);
        }
        assert_eq!(show(&png, &ImageView { max_bytes: 100, ..WHOLE_IMAGE }), Err(ImageError::TooFewBytes(100)));
    }

    #[test]
    fn orientation_is_applied_to_the_image_and_to_its_regions() {
        let corners = RgbImage::from_fn(64, 32, |x, y| {
            image::Rgb([if x < 32 { 255 } else { 0 }, if y < 16 { 255 } else { 0 }, 0])
        });
        let jpeg = encoded(corners, ImageFormat::Jpeg);
        let stored = image::load_from_memory(&jpeg).unwrap();
        for number in 2..=8 {
            let bytes = with_orientation(&jpeg, number);
            let mut upright = stored.clone();
            upright.apply_orientation(Orientation::from_exif(number).unwrap());
            let image = show(&bytes, &WHOLE_IMAGE).unwrap().unwrap();
            assert_eq!(pixels(&image), upright.to_rgba8(), "{number}");
            let region = Region { x: 3, y: 5, width: 20, height: 14 };
            let image = show(&bytes, &ImageView { region: Some(region), ..WHOLE_IMAGE }).unwrap().unwrap();
            assert_eq!(pixels(&image), upright.crop_imm(3, 5, 20, 14).to_rgba8(), "{number}");
        }
        assert_eq!(show(&with_orientation(&jpeg, 1), &WHOLE_IMAGE), Ok(None));
    }

    #[test]
    fn region_is_shown_pixel_by_pixel() {
        let picture = DynamicImage::ImageRgb8(pattern(90, 70));
        let region = Region { x: 50, y: 41, width: 40, height: 29 };
        for format in [ImageFormat::Png, ImageFormat::WebP] {
            let bytes = encoded(picture.clone(), format);
            let image = show(&bytes, &ImageView { region: Some(region), ..WHOLE_IMAGE }).unwrap().unwrap();
            assert_eq!(pixels(&image), picture.crop_imm(50, 41, 40, 29).to_rgba8(), "{format:?}");
        }
    }

    #[test]
    fn sixteen_bits_become_eight() {
        let deep = image::ImageBuffer::from_fn(20, 20, |x, _| image::Luma([u16::try_from(x).unwrap() * 3000]));
        let image = show(&encoded(DynamicImage::ImageLuma16(deep), ImageFormat::Png), &WHOLE_IMAGE).unwrap().unwrap();
        let expected = |x: u32| u8::try_from(x * 3000 / 256).unwrap();
        for (x, _, pixel) in pixels(&image).enumerate_pixels() {
            assert!(pixel[0].abs_diff(expected(x)) <= 1 && pixel[3] == 255, "{x}: {pixel:?}");
        }
    }

    #[test]
    fn first_frame_of_an_animation_is_shown_on_its_screen() {
        let mut bytes = Vec::new();
        let mut encoder = ::gif::Encoder::new(&mut bytes, 40, 30, &[200, 0, 0, 0, 0, 200]).unwrap();
        for _ in 0..3 {
            let (width, height, left, top) = (10, 12, 5, 6);
            let buffer = vec![1; 120].into();
            encoder.write_frame(&::gif::Frame { width, height, left, top, buffer, ..::gif::Frame::default() }).unwrap();
        }
        drop(encoder);
        let file = ImageFile::open(&bytes, &image_info(&bytes).unwrap()).unwrap();
        assert_eq!((file.frames(), file.size()), (3, (40, 30)));
        let shown = pixels(&file.show(&WHOLE_IMAGE, &|| false).unwrap().unwrap());
        assert_eq!((shown.get_pixel(5, 6).0, shown.get_pixel(4, 6).0), ([0, 0, 200, 255], [0; 4]));
    }

    #[test]
    fn transparency_survives_unless_it_is_too_large() {
        let glass = RgbaImage::from_fn(300, 300, |x, y| {
            let [red, green, ..] = (x * 7919 + y * 104_729 + x * y * 31).to_le_bytes();
            image::Rgba([red, green, 0, u8::try_from(x % 256).unwrap()])
        });
        let bytes = encoded(glass, ImageFormat::Png);
        let region = Some(Region { x: 0, y: 0, width: 299, height: 299 });
        let image = show(&bytes, &ImageView { region, ..WHOLE_IMAGE }).unwrap().unwrap();
        assert_eq!((image.mime, image.is_flattened, pixels(&image).get_pixel(7, 0)[3]), ("image/png", false, 7));
        let image = show(&bytes, &ImageView { region, max_bytes: 40_000 }).unwrap().unwrap();
        assert_eq!((image.mime, image.is_flattened), ("image/jpeg", true));
        assert!(pixels(&image).get_pixel(0, 0).0.iter().all(|value| *value > 200));
    }

    #[test]
    fn decoding_stops_when_asked() {
        let bytes = encoded(pattern(1600, 20), ImageFormat::Png);
        let file = ImageFile::open(&bytes, &image_info(&bytes).unwrap()).unwrap();
        assert_eq!(file.show(&WHOLE_IMAGE, &|| true), Err(ImageError::Stopped));
    }

    proptest! {
        #[test]
        fn damaged_image_is_refused_or_shown_decodable(
            format in 0..TESTED_FORMATS.len(),
            changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
            end in any::<prop::sample::Index>(),
            is_cut in any::<bool>(),
        ) {
            let format = TESTED_FORMATS[format];
            let mut bytes = sample(format);
            for (at, value) in changes {
                let at = at.index(bytes.len());
                bytes[at] = value;
            }
            if is_cut {
                bytes.truncate(end.index(bytes.len()) + 1);
            }
            let Some(info) = image_info(&bytes) else { return Ok(()) };
            let Ok(file) = ImageFile::open(&bytes, &info) else { return Ok(()) };
            // Nothing is decoded that a test has no time for.
            prop_assume!(file.memory() < 4 << 20 && area(file.header.width, file.header.height) < 1 << 18);
            let region = Some(Region { x: 0, y: 0, width: 1, height: 1 });
            for view in [WHOLE_IMAGE, ImageView { region, ..WHOLE_IMAGE }] {
                if let Ok(Some(image)) = file.show(&view, &|| false) {
                    prop_assert!(image::load_from_memory(&image.bytes).is_ok());
                }
            }
        }
    }

    #[test]
    fn webp_whose_canvas_is_not_its_picture_is_refused_before_it_is_decoded() {
        let number = |length: usize| u32::try_from(length).expect("a short chunk").to_le_bytes();
        let chunk = |kind: &[u8], data: &[u8]| [kind, &number(data.len()), data].concat();
        // A canvas of 100 by 100, then the header of a picture of 12000 by 16383.
        let canvas = [0, 0, 0, 0, 99, 0, 0, 99, 0, 0];
        let picture = chunk(b"VP8 ", &[0x10, 0, 0, 0x9D, 1, 0x2A, 0xE0, 0x2E, 0xFF, 0x3F, 0, 0]);
        let frame = [&[0, 0, 0, 0, 0, 0, 99, 0, 0, 99, 0, 0, 0, 0, 0, 0], &picture[..]].concat();
        for (flags, part) in [(0, picture.clone()), (2, chunk(b"ANMF", &frame))] {
            let chunks = [chunk(b"VP8X", &[&[flags], &canvas[1..]].concat()), part].concat();
            let bytes = [b"RIFF", &number(chunks.len() + 4)[..], b"WEBP", &chunks].concat();
            let info = image_info(&bytes).expect("an image");
            assert!(matches!(ImageFile::open(&bytes, &info), Err(ImageError::Broken(_))), "{flags}");
        }
    }

    #[test]
    fn region_of_the_upright_image_is_found_in_the_stored_one() {
        let stored = DynamicImage::ImageRgb8(RgbImage::from_fn(5, 3, |x, y| {
            image::Rgb([u8::try_from(x).unwrap(), u8::try_from(y).unwrap(), 0])
        }));
        for orientation in (1..=8).filter_map(Orientation::from_exif) {
            let mut upright = stored.clone();
            upright.apply_orientation(orientation);
            assert_eq!(swaps_sides(orientation), upright.width() == 3);
            for (x, y) in [(0, 0), (1, 0), (0, 1), (1, 2)] {
                let region = Region { x, y, width: 2, height: 1 };
                let at = as_stored(region, orientation, 5, 3);
                let mut part = stored.crop_imm(at.x, at.y, at.width, at.height);
                part.apply_orientation(orientation);
                assert_eq!(part, upright.crop_imm(x, y, 2, 1), "{orientation:?} {x},{y}");
            }
        }
    }
}
