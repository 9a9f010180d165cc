//! Pictures for models: PNG, JPEG, WebP and GIF, recognised by their first bytes, scaled to what a model can take, cut
//! to a [`Region`] where more of it is wanted.
//!
//! A file is hostile until it has been read: decoding is bounded in memory ([`DECODE_MEMORY`]) and pixels
//! ([`MAX_PIXELS`]), row by row where the format allows it, and damage is an error, never half a picture.
//!
//! ```
//! let gif = b"GIF89a\x20\x00\x10\x00\x00\x00\x00";
//! let info = image_view::image_info(gif).expect("a header");
//! assert_eq!((info.mime, info.width, info.height), ("image/gif", 32, 16));
//! ```
//!
//! # Map
//! [`image_info`] recognises a picture; `image_file` shows one, with a decoder for each format below it (`png`, `jpeg`,
//! `webp`, `gif`) that gives `rows`, `resample` to scale them and `encode` to write the result. A build without the
//! feature `decode` recognises pictures and has `absent` in their place.
//!
//! A part of Rootbound, published with it: its interface changes without notice.

#[cfg(not(feature = "decode"))]
mod absent;
mod error;
#[cfg(feature = "decode")]
mod image_file;
mod region;

use imagesize::ImageType;

#[cfg(not(feature = "decode"))]
pub use absent::ImageFile;
pub use error::ImageError;
#[cfg(feature = "decode")]
pub use image_file::ImageFile;
pub use region::Region;

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

/// An image file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EncodedImage {
    /// Its content.
    pub bytes: Vec<u8>,
    /// `image/png` or `image/jpeg`.
    pub mime: &'static str,
    /// In pixels.
    pub width: u32,
    /// In pixels.
    pub height: u32,
    /// Whether white was put behind what was transparent.
    pub is_flattened: bool,
}

/// An image that clients can show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImageInfo {
    /// `image/png`, `image/jpeg`, `image/webp` or `image/gif`.
    pub mime: &'static str,
    /// In pixels.
    pub width: usize,
    /// In pixels.
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

/// Recognises PNG, JPEG, WebP and GIF by magic bytes and reads the dimensions from the header.
///
/// `None` for everything else, and for a header too short or too damaged to hold dimensions. Those of a JPEG are
/// 0 where a mebibyte of other data, such as a map of depth, comes before them.
pub fn image_info(bytes: &[u8]) -> Option<ImageInfo> {
    let mime = match imagesize::image_type(bytes).ok()? {
        ImageType::Png => "image/png",
        ImageType::Jpeg => "image/jpeg",
        ImageType::Webp => "image/webp",
        ImageType::Gif => "image/gif",
        _ => return None,
    };
    match imagesize::blob_size(bytes) {
        Ok(size) => Some(ImageInfo { mime, width: size.width, height: size.height }),
        Err(_) if mime == "image/jpeg" && bytes.len() >= LONG_HEADER => Some(ImageInfo { mime, width: 0, height: 0 }),
        Err(_) => None,
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
}
