//! When something was written to the disk, so that a later process notices a clock that went back since.

use std::time::{SystemTime, UNIX_EPOCH};

/// Steps of the clock that do not matter: a leap second. Facts of files are kept only where their times are older than
/// that by then.
const TOLERANCE: i64 = 1_500_000_000;

/// The time of the wall clock, and when by that clock the machine was started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoredMoment {
    /// Nanoseconds since 1970.
    pub wall: i64,
    /// When the machine was started. Changes only when the clock is set, and with the next start: it never gets smaller
    /// unless the clock went back (`CLOCK_BOOTTIME` of `clock_gettime(2)`).
    pub started: i64,
}

impl StoredMoment {
    /// Now; `None` where the system does not say how long it has been up.
    pub fn now() -> Option<Self> {
        let wall = SystemTime::now().duration_since(UNIX_EPOCH).ok()?;
        let wall = i64::try_from(wall.as_nanos()).ok()?;
        Some(Self { wall, started: wall.checked_sub(uptime()?)? })
    }

    /// Whether the clock has only gone forward from this moment to `now`.
    pub fn is_before(&self, now: &Self) -> bool {
        self.wall <= now.wall && self.started.saturating_sub(now.started) <= TOLERANCE
    }
}

/// Nanoseconds that the machine has been up, those of sleep included.
#[cfg(target_os = "linux")]
fn uptime() -> Option<i64> {
    let up = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
    up.tv_sec.checked_mul(1_000_000_000)?.checked_add(up.tv_nsec)
}

#[cfg(not(target_os = "linux"))]
fn uptime() -> Option<i64> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clock_that_went_back_is_noticed() {
        const SECOND: i64 = 1_000_000_000;
        let then = StoredMoment { wall: 1000 * SECOND, started: 400 * SECOND };
        let later = |wall: i64, started: i64| StoredMoment { wall: wall * SECOND, started: started * SECOND };
        assert!(then.is_before(&then));
        assert!(then.is_before(&later(1060, 400)));
        assert!(then.is_before(&later(5000, 4000)), "another start of the machine");
        assert!(!then.is_before(&later(999, 399)), "written in the future");
        assert!(!then.is_before(&later(1060, 390)), "the clock was set back by ten seconds meanwhile");
        assert!(then.is_before(&later(1060, 399)), "a leap second");
        assert!(!then.is_before(&later(1060, -8000)));
    }
}
