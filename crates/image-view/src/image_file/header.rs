//! The header of an image file, in any format.

use image::metadata::Orientation;

/// The headers of a file, as far as they are about its pixels.
#[derive(Clone, Debug)]
pub(super) struct ImageHeader {
    /// Its width in pixels, as stored.
    pub(super) width: u32,
    /// Its height in pixels, as stored.
    pub(super) height: u32,
    /// How the stored image is to be turned or mirrored to be upright.
    pub(super) orientation: Orientation,
    /// 1, or more for an animation.
    pub(super) frames: u32,
    /// Whether the data is complete up to its end mark. Decoders are lenient with data that ends too early, and
    /// browsers show the upper half; a model's API may refuse it.
    pub(super) is_complete: bool,
    /// Whether it has something that a decoder may not know: CMYK, 16 bits, several images in one file,
    /// rare chunks, data after the end mark.
    pub(super) is_unusual: bool,
    /// Bytes that its decoder allocates, the decoded pixels included.
    pub(super) memory: u64,
}

impl ImageHeader {
    /// Of a usual and whole file with one picture, which is stored upright.
    pub(super) fn new((width, height): (u32, u32), memory: u64) -> Self {
        let orientation = Orientation::NoTransforms;
        Self { width, height, orientation, frames: 1, is_complete: true, is_unusual: false, memory }
    }
}

/// How many pixels an image of these sides has; they cannot overflow.
pub(super) fn area(width: u32, height: u32) -> u64 {
    u64::from(width) * u64::from(height)
}
