//! Median, 95th percentile and longest of many durations, in bounded memory.

use std::collections::BTreeMap;

/// Different durations that are held; beyond, they are rounded to fewer digits.
const HELD: usize = 10_000;
/// Digits that durations are rounded to at first. With three, there are at most 900 for each power of ten.
const DIGITS: u32 = 4;

/// How often each duration occurred, in microseconds. Exact until there are ten thousand different ones.
#[derive(Debug, Default)]
pub struct Durations {
    counts: BTreeMap<u64, u64>,
    total: u64,
    /// Digits that are kept; `None` for all.
    digits: Option<u32>,
    longest: u64,
}

impl Durations {
    pub(super) fn add(&mut self, micros: u64) {
        *self.counts.entry(rounded(micros, self.digits)).or_default() += 1;
        self.total += 1;
        self.longest = self.longest.max(micros);
        while self.counts.len() > HELD && self.digits != Some(DIGITS - 2) {
            let digits = self.digits.map_or(DIGITS, |digits| digits - 1);
            self.digits = Some(digits);
            for (micros, count) in std::mem::take(&mut self.counts) {
                *self.counts.entry(rounded(micros, self.digits)).or_default() += count;
            }
        }
    }

    /// The one in the middle, or the mean of both that are; none if there are none.
    pub fn median(&self) -> Option<f64> {
        let (low, high) = (self.at(self.total.checked_sub(1)? / 2)?, self.at(self.total / 2)?);
        Some(f64::midpoint(milliseconds(low), milliseconds(high)))
    }

    /// The shortest that 95 of 100 do not exceed.
    pub fn p95(&self) -> Option<f64> {
        // At least 95 %: the 19th of 20.
        let rank = (u128::from(self.total) * 95).div_ceil(100);
        self.at(u64::try_from(rank).ok()?.checked_sub(1)?).map(milliseconds)
    }

    /// The longest.
    pub fn longest(&self) -> Option<f64> {
        (self.total > 0).then(|| milliseconds(self.longest))
    }

    /// The one at this place in their order.
    fn at(&self, place: u64) -> Option<u64> {
        let mut before = 0;
        self.counts.iter().find_map(|(micros, count)| {
            before += count;
            (place < before).then_some(*micros)
        })
    }
}

#[expect(clippy::cast_precision_loss, reason = "more digits than a time has that matter")]
fn milliseconds(micros: u64) -> f64 {
    micros as f64 / 1000.0
}

fn rounded(micros: u64, digits: Option<u32>) -> u64 {
    let Some(digits) = digits else { return micros };
    let unit = 10_u64.pow(micros.checked_ilog10().unwrap_or(0).saturating_sub(digits - 1).min(19));
    (micros / unit).saturating_mul(unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn median_and_percentile_of_few_are_exact() {
        let of = |list: &[u64]| {
            let mut durations = Durations::default();
            for micros in list {
                durations.add(*micros);
            }
            [durations.median(), durations.p95(), durations.longest()]
        };
        assert_eq!(of(&[]), [None; 3]);
        assert_eq!(of(&[1500]), [Some(1.5); 3]);
        assert_eq!(of(&[3000, 1000]), [Some(2.0), Some(3.0), Some(3.0)]);
        assert_eq!(of(&(1..=100).map(|n| n * 1000).collect::<Vec<_>>()), [Some(50.5), Some(95.0), Some(100.0)]);
    }

    #[test]
    fn memory_is_bounded_and_the_error_small() {
        let mut durations = Durations::default();
        for number in 0..300_000_u64 {
            durations.add(number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (number % 64));
        }
        assert!(durations.counts.len() <= 20_000, "{}", durations.counts.len());
        let mut even = Durations::default();
        for number in 0..200_000 {
            even.add(number);
        }
        let (median, p95) = (even.median().expect("some"), even.p95().expect("some"));
        assert!((median - 100.0).abs() < 1.0 && (p95 - 190.0).abs() < 2.0, "{median} {p95}");
        assert_eq!(even.longest(), Some(199.999));
    }
}
