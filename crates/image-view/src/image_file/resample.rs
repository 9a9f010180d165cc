//! Scaling an image down while its rows arrive.
//!
//! Lanczos resampling over the pixels that each new pixel covers, first along the row, then down the columns: only the
//! few rows that are being summed up are in memory. Colours are weighted by their alpha, so that what is transparent
//! leaves no fringe.

use std::{collections::VecDeque, f32::consts::PI};

/// Bytes of a pixel in a row: red, green, blue and alpha.
pub(super) const RGBA_BYTES: usize = 4;
/// How far the filter reaches, in pixels of the smaller image.
const FILTER_LOBES: f32 = 3.0;

type Pixel = [f32; RGBA_BYTES];

struct Taps {
    start: usize,
    weights: Vec<f32>,
}

impl Taps {
    fn end(&self) -> usize {
        self.start + self.weights.len()
    }
}

pub(super) struct Resampler {
    columns: Vec<Taps>,
    rows: Vec<Taps>,
    pushed: usize,
    finished: usize,
    sums: VecDeque<Vec<Pixel>>,
    wide: Vec<Pixel>,
    pixels: Vec<u8>,
}

impl Resampler {
    pub(super) fn new(from: (u32, u32), to: (u32, u32)) -> Self {
        Self {
            columns: taps(from.0, to.0),
            rows: taps(from.1, to.1),
            pushed: 0,
            finished: 0,
            sums: VecDeque::new(),
            wide: Vec::with_capacity(from.0 as usize),
            pixels: Vec::with_capacity(to.0 as usize * to.1 as usize * RGBA_BYTES),
        }
    }

    pub(super) fn push(&mut self, row: &[u8]) {
        self.wide.clear();
        self.wide.extend(row.as_chunks::<RGBA_BYTES>().0.iter().map(|pixel| premultiplied(*pixel)));
        let begun = self.finished + self.sums.len();
        let beginning = self.rows[begun..].iter().take_while(|taps| taps.start <= self.pushed).count();
        self.sums.extend((0..beginning).map(|_| vec![[0.0; RGBA_BYTES]; self.columns.len()]));
        for (column, taps) in self.columns.iter().enumerate() {
            let covered = &self.wide[taps.start..taps.end()];
            let mut sum = [0.0; RGBA_BYTES];
            for (pixel, weight) in covered.iter().zip(&taps.weights) {
                add(&mut sum, pixel, *weight);
            }
            for (sums, taps) in self.sums.iter_mut().zip(&self.rows[self.finished..]) {
                // A row that has begun ends after this one.
                add(&mut sums[column], &sum, taps.weights[self.pushed - taps.start]);
            }
        }
        self.pushed += 1;
        while self.rows.get(self.finished).is_some_and(|taps| taps.end() <= self.pushed) {
            let sums = self.sums.pop_front().unwrap_or_default();
            self.pixels.extend(sums.iter().flat_map(straight));
            self.finished += 1;
        }
    }

    pub(super) fn into_pixels(self) -> Vec<u8> {
        self.pixels
    }
}

fn add(sum: &mut Pixel, pixel: &Pixel, weight: f32) {
    for (sum, value) in sum.iter_mut().zip(pixel) {
        *sum += value * weight;
    }
}

fn premultiplied([red, green, blue, alpha]: [u8; RGBA_BYTES]) -> Pixel {
    let pixel = [red, green, blue].map(f32::from);
    let share = if alpha == u8::MAX { 1.0 } else { f32::from(alpha) / 255.0 };
    [pixel[0] * share, pixel[1] * share, pixel[2] * share, f32::from(alpha)]
}

fn straight(&[red, green, blue, alpha]: &Pixel) -> [u8; RGBA_BYTES] {
    // The filter may leave an alpha below 0, as its outer lobes are negative: it counts as nearly none.
    let share = if alpha >= 254.5 { 1.0 } else { 255.0 / alpha.max(0.5) };
    [red * share, green * share, blue * share, alpha].map(byte)
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a float becomes the nearest byte")]
fn byte(value: f32) -> u8 {
    (value + 0.5) as u8
}

#[expect(clippy::cast_precision_loss, reason = "sides have far fewer than 24 bits")]
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to the side before")]
fn taps(from: u32, to: u32) -> Vec<Taps> {
    let (side, ratio) = (from as f32, from as f32 / to as f32);
    let stretch = ratio.max(1.0);
    (0..to)
        .map(|index| {
            let centre = (index as f32 + 0.5) * ratio;
            let start = (centre - FILTER_LOBES * stretch).floor().clamp(0.0, side - 1.0);
            let end = (centre + FILTER_LOBES * stretch).ceil().clamp(start + 1.0, side);
            let start = start as usize;
            let distance = |pixel: usize| (pixel as f32 + 0.5 - centre) / stretch;
            let mut weights: Vec<f32> = (start..end as usize).map(|pixel| lanczos(distance(pixel))).collect();
            let total: f32 = weights.iter().sum();
            for weight in &mut weights {
                *weight /= total;
            }
            Taps { start, weights }
        })
        .collect()
}

fn lanczos(x: f32) -> f32 {
    if x.abs() < 1e-4 {
        return 1.0;
    }
    if x.abs() >= FILTER_LOBES {
        return 0.0;
    }
    let angle = PI * x;
    FILTER_LOBES * angle.sin() * (angle / FILTER_LOBES).sin() / (angle * angle)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scaled(pixel: impl Fn(u32, u32) -> [u8; RGBA_BYTES], from: (u32, u32), to: (u32, u32)) -> Vec<[u8; RGBA_BYTES]> {
        let mut resampler = Resampler::new(from, to);
        for y in 0..from.1 {
            let row: Vec<u8> = (0..from.0).flat_map(|x| pixel(x, y)).collect();
            resampler.push(&row);
        }
        let pixels = resampler.into_pixels();
        assert_eq!(pixels.len(), to.0 as usize * to.1 as usize * RGBA_BYTES);
        pixels.as_chunks().0.to_vec()
    }

    #[test]
    fn one_colour_stays_that_colour_at_every_size() {
        for (from, to) in [((100, 70), (9, 7)), ((3, 3), (1, 1)), ((1, 200), (1, 15)), ((64, 64), (63, 64))] {
            let pixels = scaled(|_, _| [10, 200, 90, 255], from, to);
            assert!(pixels.iter().all(|pixel| *pixel == [10, 200, 90, 255]), "{from:?} {to:?}");
        }
    }

    #[test]
    fn each_new_pixel_is_about_the_mean_of_what_it_covers() {
        let pixels = scaled(|x, y| if (x + y) % 2 == 0 { [255; 4] } else { [0, 0, 0, 255] }, (120, 120), (12, 12));
        assert!(pixels.iter().all(|pixel| pixel[0].abs_diff(128) <= 3), "{pixels:?}");
        let halves = scaled(|x, _| if x < 50 { [255, 0, 0, 255] } else { [0, 0, 255, 255] }, (100, 10), (10, 1));
        assert_eq!((halves[1], halves[8]), ([255, 0, 0, 255], [0, 0, 255, 255]));
    }

    #[test]
    fn what_is_transparent_leaves_no_fringe() {
        let pixels = scaled(|x, _| if x % 4 == 0 { [200, 100, 50, 255] } else { [0, 255, 0, 0] }, (80, 80), (10, 10));
        for pixel in pixels {
            assert!(pixel[0].abs_diff(200) <= 2 && pixel[1].abs_diff(100) <= 2, "{pixel:?}");
            assert!(pixel[3].abs_diff(64) <= 10, "{pixel:?}");
        }
    }
}
