//! Pictures for models: PNG, JPEG, WebP and GIF, recognised by their first bytes, scaled to what a model can take, cut
//! to a [`Region`] where more of it is wanted.
//!
//! A file is hostile until it has been read: decoding is bounded in memory ([`DECODE_MEMORY`]) and pixels
//! ([`MAX_PIXELS`]), and damage is an error, never half a picture.
//!
//! ```
//! let gif = b"GIF89a\x20\x00\x10\x00\x00\x00\x00";
//! let info = image_view::image_info(gif).expect("a header");
//! assert_eq!((info.mime, info.width, info.height), ("image/gif", 32, 16));
//! ```
//!
//! # Map
//! [`image_info`] recognises a picture; `image_file` shows one, with a module for the headers of each format below it
//! (`png`, `jpeg`, `webp`, `gif`), `resample` to scale it and `encode` to write the result. A build without the feature
//! `decode` recognises pictures and opens none.
//!
//! A part of Rootbound, published with it: its interface changes without notice.

#[cfg(feature = "decode")]
mod image_file;

use imagesize::ImageType;
use text_file::file_size;

#[cfg(feature = "decode")]
pub use image_file::ImageFile;

#[cfg(all(doctest, feature = "decode"))]
#[doc = include_str!("../README.md")]
struct ReadmeExamples;

/// Pixels of the largest image that is decoded.
pub const MAX_PIXELS: u64 = 200_000_000;
/// Pixels along one side of the largest image that is decoded: what JPEG and GIF can express.
pub const LONGEST_SIDE: u32 = 65_535;
/// Bytes that decoding may take, the file included.
pub const DECODE_MEMORY: u64 = 400 << 20;

/// Bytes of a JPEG that may come before its dimensions.
const LONG_HEADER: usize = 1 << 20;

/// How an image is to be shown.
#[derive(Clone, Copy, Debug)]
pub struct ImageView {
    /// A part of it, inside of the image; all of it by default.
    pub region: Option<Region>,
    /// The most bytes that a shown image may have.
    pub max_bytes: usize,
}

/// An image as it is sent to a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EncodedImage {
    /// The content of a file in its format.
    pub bytes: Vec<u8>,
    /// The format: `image/png` or `image/jpeg`.
    pub mime: &'static str,
    /// Its width in pixels.
    pub width: u32,
    /// Its height in pixels.
    pub height: u32,
    /// Whether white was put behind what was transparent.
    pub is_flattened: bool,
}

/// An image that clients can show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImageInfo {
    /// `image/png`, `image/jpeg`, `image/webp` or `image/gif`.
    pub mime: &'static str,
    /// Its width in pixels, as stored.
    pub width: usize,
    /// Its height in pixels, as stored.
    pub height: usize,
}

impl ImageInfo {
    /// The name of the format, for texts: `PNG`, `JPEG`, `WebP` or `GIF`.
    pub fn format_name(&self) -> &'static str {
        match self.mime {
            "image/png" => "PNG",
            "image/jpeg" => "JPEG",
            "image/webp" => "WebP",
            _ => "GIF",
        }
    }
}

/// Why an image is not shown.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ImageError {
    /// More pixels, or longer sides, than are decoded.
    #[error("at most {} megapixels and {LONGEST_SIDE} pixels on a side are decoded", MAX_PIXELS / 1_000_000)]
    TooManyPixels,
    /// So many bytes of memory would be needed.
    #[error("decoding it needs {} of memory, and the limit is {}", file_size(*.0), file_size(DECODE_MEMORY))]
    TooMuchMemory(u64),
    /// Not even its smallest form has as few bytes.
    #[error("it cannot be made small enough for the limit of {0} bytes")]
    TooFewBytes(usize),
    /// Not decodable; the reason as the end of a sentence.
    #[error("it cannot be decoded: {0}")]
    Broken(String),
    /// The call was stopped meanwhile.
    #[error("the call was stopped")]
    Stopped,
    /// The program was built without decoders.
    #[error("this program was built without images")]
    NotBuilt,
}

impl ImageError {
    #[cfg(feature = "decode")]
    pub(crate) fn broken(reason: impl std::fmt::Display) -> Self {
        const SHOWN_CHARS: usize = 120;
        let text = reason.to_string();
        Self::Broken(text_file::shorten(text.lines().next().unwrap_or_default(), SHOWN_CHARS).into_owned())
    }
}

/// A rectangle of pixels; `x` and `y` count from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Region {
    /// Pixels to the left of it.
    pub x: u32,
    /// Pixels of the image above it.
    pub y: u32,
    /// Its width in pixels.
    pub width: u32,
    /// Its height in pixels.
    pub height: u32,
}

impl Region {
    /// The part of it that is inside of an image of this size; `None` if there is none.
    #[must_use]
    pub fn clipped(self, width: u32, height: u32) -> Option<Self> {
        let right = self.x.saturating_add(self.width).min(width);
        let bottom = self.y.saturating_add(self.height).min(height);
        let inside = Self { width: right.checked_sub(self.x)?, height: bottom.checked_sub(self.y)?, ..self };
        (inside.width > 0 && inside.height > 0).then_some(inside)
    }
}

/// Recognises PNG, JPEG, WebP and GIF by magic bytes and reads the dimensions from the header.
///
/// `None` for everything else, and for a header too short or too damaged to hold dimensions. Those of a JPEG are
/// 0 where a mebibyte of other data, such as a map of depth, comes before them.
pub fn image_info(bytes: &[u8]) -> Option<ImageInfo> {
    let mime = match imagesize::image_type(bytes) {
        Ok(ImageType::Png) => "image/png",
        Ok(ImageType::Jpeg) => "image/jpeg",
        Ok(ImageType::Webp) => "image/webp",
        Ok(ImageType::Gif) => "image/gif",
        // With other bytes before its first segment.
        _ if bytes.starts_with(b"\xFF\xD8") && jpeg_size(bytes).is_some() => "image/jpeg",
        _ => return None,
    };
    let of_jpeg = || jpeg_size(bytes).or_else(|| (bytes.len() >= LONG_HEADER).then_some((0, 0)));
    let (width, height) = match imagesize::blob_size(bytes) {
        Ok(size) => (size.width, size.height),
        Err(_) => Some(mime).filter(|mime| *mime == "image/jpeg").and_then(|_| of_jpeg())?,
    };
    Some(ImageInfo { mime, width, height })
}

/// Width and height of a JPEG whose segments have filling (ITU-T T.81, B.1.1.2) or other bytes between them, which
/// `imagesize` does not take.
fn jpeg_size(bytes: &[u8]) -> Option<(usize, usize)> {
    let mut rest = bytes.get(2..)?;
    loop {
        let at = rest.windows(2).position(|pair| pair[0] == 0xFF && !matches!(pair[1], 0 | 1 | 0xD0..=0xD8 | 0xFF))?;
        let segment = &rest[at + 1..];
        let number = |at: usize| Some(usize::from(u16::from_be_bytes([*segment.get(at)?, *segment.get(at + 1)?])));
        match segment[0] {
            0xC0..=0xC3 | 0xC5..=0xC7 | 0xC9..=0xCB | 0xCD..=0xCF => return Some((number(6)?, number(4)?)),
            0xD9 | 0xDA => return None,
            _ => rest = segment.get(1 + number(1)?..)?,
        }
    }
}

/// An image file whose header was read, of which there is none: in a build without decoders no image is opened.
#[cfg(not(feature = "decode"))]
#[derive(Debug)]
pub struct ImageFile<'b>(std::convert::Infallible, std::marker::PhantomData<&'b [u8]>);

#[cfg(not(feature = "decode"))]
#[expect(missing_docs, reason = "never called, as there is no image")]
impl<'b> ImageFile<'b> {
    /// Opens nothing: fails with [`ImageError::NotBuilt`].
    pub fn open(_: &'b [u8], _: &ImageInfo) -> Result<Self, ImageError> {
        Err(ImageError::NotBuilt)
    }

    pub fn memory(&self) -> u64 {
        match self.0 {}
    }

    pub fn file_size(&self) -> u64 {
        match self.0 {}
    }

    pub fn size(&self) -> (u32, u32) {
        match self.0 {}
    }

    pub fn frames(&self) -> u32 {
        match self.0 {}
    }

    pub fn is_turned(&self) -> bool {
        match self.0 {}
    }

    pub fn check(&self) -> Result<(), ImageError> {
        match self.0 {}
    }

    pub fn show(&self, _: &ImageView, _: &dyn Fn() -> bool) -> Result<Option<EncodedImage>, ImageError> {
        match self.0 {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A PNG header: signature, then an IHDR chunk with the given size.
    fn png(width: u32, height: u32) -> Vec<u8> {
        let mut bytes = b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR".to_vec();
        bytes.extend(width.to_be_bytes());
        bytes.extend(height.to_be_bytes());
        bytes.extend([8, 6, 0, 0, 0, 0, 0, 0, 0]);
        bytes
    }

    #[test]
    fn images_are_recognised_by_magic_bytes_and_measured() {
        assert_eq!(image_info(&png(640, 480)), Some(ImageInfo { mime: "image/png", width: 640, height: 480 }));
        let gif = b"GIF89a\x20\x00\x10\x00\x00\x00\x00";
        assert_eq!(image_info(gif), Some(ImageInfo { mime: "image/gif", width: 32, height: 16 }));
    }

    #[test]
    fn truncated_images_and_bitmaps_are_not_shown() {
        assert_eq!(image_info(&png(1, 1)[..10]), None);
        assert_eq!(image_info(b"BM\x46\0\0\0\0\0\0\0\x36\0\0\0\x28\0\0\0\x02\0\0\0\x02\0\0\0\x01\0\x18\0"), None);
        assert_eq!(image_info(b"plain text"), None);
        assert_eq!(image_info(b""), None);
    }

    #[test]
    fn region_is_clipped_to_the_image() {
        let region = |x, y, width, height| Region { x, y, width, height };
        assert_eq!(region(8, 0, 5, 5).clipped(10, 4), Some(region(8, 0, 2, 4)));
        assert_eq!(region(0, 0, u32::MAX, u32::MAX).clipped(10, 4), Some(region(0, 0, 10, 4)));
        assert_eq!(region(10, 0, 5, 5).clipped(10, 4), None);
        assert_eq!(region(u32::MAX, 0, u32::MAX, 5).clipped(10, 4), None);
    }
}
