//! Transformations of the plane, as PDF writes them.

/// `[a b c d e f]`: x' = a·x + c·y + e, y' = b·x + d·y + f.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Matrix(pub(super) [f64; 6]);

impl Matrix {
    pub(super) const IDENTITY: Self = Self([1.0, 0.0, 0.0, 1.0, 0.0, 0.0]);

    /// This one first, then `after`.
    pub(super) fn then(&self, after: &Self) -> Self {
        let (own, after) = (&self.0, &after.0);
        let cell = |row: usize, column: usize| {
            let offset = if row == 2 { after[4 + column] } else { 0.0 };
            own[2 * row] * after[column] + own[2 * row + 1] * after[2 + column] + offset
        };
        Self([cell(0, 0), cell(0, 1), cell(1, 0), cell(1, 1), cell(2, 0), cell(2, 1)])
    }

    /// Where a point is moved to.
    pub(super) fn point(&self, x: f64, y: f64) -> (f64, f64) {
        let own = &self.0;
        (own[0] * x + own[2] * y + own[4], own[1] * x + own[3] * y + own[5])
    }

    /// Moved by a vector before it is applied.
    pub(super) fn moved(&self, x: f64, y: f64) -> Self {
        Self([1.0, 0.0, 0.0, 1.0, x, y]).then(self)
    }
}
