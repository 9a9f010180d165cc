//! What `rootbound stats` is asked for.

use std::{path::PathBuf, time::SystemTime};

/// Which audit is added up, and how it is printed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatsRequest {
    /// The audit file; `None` for that of `--audit`.
    pub file: Option<PathBuf>,
    /// Only calls at this time or later.
    pub since: Option<SystemTime>,
    /// Whether the numbers are printed as JSON.
    pub json: bool,
}

/// Reads `2h` (ago) or a date.
pub(super) fn since(text: &str) -> Result<SystemTime, String> {
    let text = text.trim();
    if let Ok(ago) = humantime::parse_duration(text.trim_end_matches(" ago")) {
        return Ok(SystemTime::now().checked_sub(ago).unwrap_or(SystemTime::UNIX_EPOCH));
    }
    let is_date = text.len() == 10;
    let date = if is_date { format!("{text}T00:00:00Z") } else { text.to_owned() };
    humantime::parse_rfc3339_weak(&date).map_err(|_| {
        "write a time ago such as 2h or 7d, or a date such as 2026-11-22 or 2026-11-22T08:30:00Z".to_owned()
    })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn times_ago_and_dates_are_read() {
        let epoch = |seconds| Ok(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds));
        assert_eq!(since("1970-01-02"), epoch(86_400));
        assert_eq!(since("1970-01-01T00:01:00Z"), epoch(60));
        assert_eq!(since("1970-01-01 00:01:00"), epoch(60));
        for ago in ["2h", "30min", "7d", "1h 30m", "2h ago", "100000y"] {
            assert!(since(ago).expect(ago) < SystemTime::now(), "{ago}");
        }
        for wrong in ["", "2", "yesterday", "2026-13-01", "2026-1-1", "日本語日本"] {
            assert!(since(wrong).is_err(), "{wrong}");
        }
    }
}
