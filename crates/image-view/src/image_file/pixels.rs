//! The pixels of an image: what its header says of them, and the rows that a decoder gives, from the top.
//!
//! A format that is decoded in rows never has all its pixels in memory; one that is not hands out its [`Pixels`].

use image::metadata::Orientation;

use super::ImageError;

/// Bytes of a pixel in a row: red, green, blue and alpha.
pub(super) const RGBA: usize = 4;

/// The rows of an image as 8-bit RGBA.
pub(super) trait Rows {
    /// Writes the next row to `row`, which has [`RGBA`] bytes for each pixel of the image's width.
    fn next_row(&mut self, row: &mut [u8]) -> Result<(), ImageError>;

    /// Looks at what follows the last row, where that can be damaged.
    fn finish(&mut self) -> Result<(), ImageError> {
        Ok(())
    }
}

/// How the bytes of a pixel are to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Channels {
    Gray,
    GrayAlpha,
    Rgb,
    Rgba,
    /// RGB with a byte that means nothing.
    Rgbx,
    /// The amounts of four inks.
    Cmyk,
    /// 255 means no ink, as Adobe's programs write it.
    InvertedCmyk,
}

impl Channels {
    /// Bytes of a pixel.
    pub(super) fn bytes(self) -> usize {
        match self {
            Self::Gray => 1,
            Self::GrayAlpha => 2,
            Self::Rgb => 3,
            Self::Rgba | Self::Rgbx | Self::Cmyk | Self::InvertedCmyk => 4,
        }
    }

    /// Converts the pixels of a row, which has room for as many.
    pub(super) fn to_rgba(self, pixels: &[u8], row: &mut [u8]) {
        // Paper is white; each ink takes its share of the light away, and black that of all.
        let lit = |colour: u8, black: u8| {
            let product = u16::from(colour) * u16::from(black);
            u8::try_from((product + 127) / 255).unwrap_or(u8::MAX)
        };
        match self {
            Self::Gray => each(pixels, row, |[gray]| [gray, gray, gray, 255]),
            Self::GrayAlpha => each(pixels, row, |[gray, alpha]| [gray, gray, gray, alpha]),
            Self::Rgb => each(pixels, row, |[red, green, blue]| [red, green, blue, 255]),
            Self::Rgba => row.copy_from_slice(pixels),
            Self::Rgbx => each(pixels, row, |[red, green, blue, _]| [red, green, blue, 255]),
            Self::Cmyk | Self::InvertedCmyk => {
                let flip = if self == Self::Cmyk { 255 } else { 0 };
                each(pixels, row, |inks: [u8; 4]| {
                    let [cyan, magenta, yellow, black] = inks.map(|ink| ink ^ flip);
                    [lit(cyan, black), lit(magenta, black), lit(yellow, black), 255]
                });
            }
        }
    }
}

/// Converts pixels of `N` bytes, as many as there are in both.
fn each<const N: usize>(pixels: &[u8], row: &mut [u8], convert: impl Fn([u8; N]) -> [u8; RGBA]) {
    let row = row.as_chunks_mut::<RGBA>().0.iter_mut();
    row.zip(pixels.as_chunks::<N>().0).for_each(|(to, pixel)| *to = convert(*pixel));
}

/// A decoded image in memory.
pub(super) struct Pixels {
    data: Vec<u8>,
    channels: Channels,
    /// Pixels in a row.
    width: u32,
    /// The byte that the next row begins at.
    next: usize,
}

impl Pixels {
    /// All pixels of an image, from its first row on.
    pub(super) fn new(data: Vec<u8>, channels: Channels, width: u32) -> Self {
        Self { data, channels, width, next: 0 }
    }
}

impl Rows for Pixels {
    fn next_row(&mut self, row: &mut [u8]) -> Result<(), ImageError> {
        let bytes = self.width as usize * self.channels.bytes();
        let pixels = self.data.get(self.next..self.next + bytes).ok_or_else(too_few_rows)?;
        self.channels.to_rgba(pixels, row);
        self.next += bytes;
        Ok(())
    }
}

/// The error for an image with less data than its header says.
pub(super) fn too_few_rows() -> ImageError {
    ImageError::broken("it has fewer rows than its header says")
}

/// A buffer of zeros for what a header says.
pub(super) fn zeroed(bytes: u64) -> Result<Vec<u8>, ImageError> {
    let size = usize::try_from(bytes).unwrap_or(usize::MAX);
    let mut buffer = Vec::new();
    // Fails for more than `isize::MAX`, too.
    buffer.try_reserve_exact(size).map_err(|_| ImageError::TooMuchMemory(bytes))?;
    buffer.resize(size, 0);
    Ok(buffer)
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pixels_of_each_kind_become_rgba() {
        for (channels, pixel, expected) in [
            (Channels::Gray, &[7][..], [7, 7, 7, 255]),
            (Channels::GrayAlpha, &[7, 9], [7, 7, 7, 9]),
            (Channels::Rgb, &[1, 2, 3], [1, 2, 3, 255]),
            (Channels::Rgba, &[1, 2, 3, 4], [1, 2, 3, 4]),
            (Channels::Rgbx, &[1, 2, 3, 4], [1, 2, 3, 255]),
            (Channels::Cmyk, &[0, 0, 0, 0], [255, 255, 255, 255]),
            (Channels::Cmyk, &[255, 0, 0, 0], [0, 255, 255, 255]),
            (Channels::InvertedCmyk, &[255, 255, 255, 0], [0, 0, 0, 255]),
            (Channels::InvertedCmyk, &[255, 128, 0, 128], [128, 64, 0, 255]),
        ] {
            let mut row = [0; RGBA];
            channels.to_rgba(pixel, &mut row);
            assert_eq!(row, expected, "{channels:?}");
            assert_eq!(channels.bytes(), pixel.len());
        }
    }
}
