//! Rectangles of an image, and where they are when the image is stored turned or mirrored.

use image::metadata::Orientation;

/// A rectangle of pixels; `x` and `y` count from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Region {
    /// Pixels to the left of it.
    pub x: u32,
    /// Pixels above it.
    pub y: u32,
    /// In pixels.
    pub width: u32,
    /// In pixels.
    pub height: u32,
}

impl Region {
    /// All of an image.
    pub(super) fn whole(width: u32, height: u32) -> Self {
        Self { x: 0, y: 0, width, height }
    }

    /// The part of it that is inside of an image of this size; `None` if there is none.
    #[must_use]
    pub fn clipped(self, width: u32, height: u32) -> Option<Self> {
        let right = self.x.saturating_add(self.width).min(width);
        let bottom = self.y.saturating_add(self.height).min(height);
        let inside = Self { width: right.checked_sub(self.x)?, height: bottom.checked_sub(self.y)?, ..self };
        (inside.width > 0 && inside.height > 0).then_some(inside)
    }

    /// Where the pixels of this part of the upright image are in the file, whose image is `width` by `height`.
    pub(super) fn as_stored(self, orientation: Orientation, width: u32, height: u32) -> Self {
        let Self { x, y, width: across, height: down } = self;
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
        Self { x, y, width, height }
    }
}

/// Whether the upright image is as wide as the stored one is high.
pub(super) fn swaps_sides(orientation: Orientation) -> bool {
    use Orientation::{Rotate90, Rotate90FlipH, Rotate270, Rotate270FlipH};
    matches!(orientation, Rotate90 | Rotate90FlipH | Rotate270 | Rotate270FlipH)
}

#[cfg(test)]
mod tests {
    use image::{DynamicImage, RgbImage};

    use super::*;

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
                let at = region.as_stored(orientation, 5, 3);
                let mut part = stored.crop_imm(at.x, at.y, at.width, at.height);
                part.apply_orientation(orientation);
                assert_eq!(part, upright.crop_imm(x, y, 2, 1), "{orientation:?} {x},{y}");
            }
        }
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
