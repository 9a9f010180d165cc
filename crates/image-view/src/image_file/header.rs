//! What the headers of a file say of its pixels.

use image::metadata::Orientation;

#[derive(Clone, Debug)]
pub(super) struct ImageHeader {
    pub(super) width: u32,
    pub(super) height: u32,
    pub(super) orientation: Orientation,
    /// 1, or more for an animation.
    pub(super) frames: u32,
    pub(super) is_animated: bool,
    /// What no decoder complains of: data that ends before its end mark (browsers show the upper half, a model's API may
    /// refuse it), a wrong checksum.
    pub(super) flaw: Option<&'static str>,
    /// Whether it has something that a decoder may not know: CMYK, 16 bits, several images in one file,
    /// rare chunks, data after the end mark.
    pub(super) is_unusual: bool,
    /// Bytes of the decoded pixels.
    pub(super) pixels: u64,
    /// Bytes that its decoder allocates besides.
    pub(super) other: u64,
}

impl ImageHeader {
    pub(super) fn new((width, height): (u32, u32), pixels: u64, other: u64) -> Self {
        let orientation = Orientation::NoTransforms;
        Self { width, height, orientation, frames: 1, is_animated: false, flaw: None, is_unusual: false, pixels, other }
    }
}

pub(super) const INCOMPLETE_FLAW: Option<&str> = Some("its data ends too early");

/// How many pixels an image of these sides has; they cannot overflow.
pub(super) fn area(width: u32, height: u32) -> u64 {
    u64::from(width) * u64::from(height)
}
