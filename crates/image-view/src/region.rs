//! A rectangle of an image.

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
    /// The part of it that is inside of an image of this size; `None` if there is none.
    #[must_use]
    pub fn clipped(self, width: u32, height: u32) -> Option<Self> {
        let right = self.x.saturating_add(self.width).min(width);
        let bottom = self.y.saturating_add(self.height).min(height);
        let inside = Self { width: right.checked_sub(self.x)?, height: bottom.checked_sub(self.y)?, ..self };
        (inside.width > 0 && inside.height > 0).then_some(inside)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn region_is_clipped_to_the_image() {
        let region = |x, y, width, height| Region { x, y, width, height };
        assert_eq!(region(8, 0, 5, 5).clipped(10, 4), Some(region(8, 0, 2, 4)));
        assert_eq!(region(0, 0, u32::MAX, u32::MAX).clipped(10, 4), Some(region(0, 0, 10, 4)));
        assert_eq!(region(10, 0, 5, 5).clipped(10, 4), None);
        assert_eq!(region(u32::MAX, 0, u32::MAX, 5).clipped(10, 4), None);
    }
}
