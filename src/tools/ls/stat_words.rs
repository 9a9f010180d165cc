//! Time and mode of a file, as `ls` prints them.

use std::time::{Duration, UNIX_EPOCH};

use confined_fs::{Stat, Visibility};

/// What is put behind the name of a file whose content is not open.
pub(super) fn mark(visibility: Visibility) -> &'static str {
    match visibility {
        Visibility::Open => "",
        Visibility::Masked => " [masked]",
        Visibility::Denied => " [protected]",
    }
}

/// When the content last changed, in UTC and without fractions: `2026-11-22T09:46:37Z`.
pub(super) fn modified(stat: &Stat) -> Option<String> {
    /// 9999-12-31T23:59:59Z, the last time with four digits for the year.
    const LAST: u64 = 253_402_300_799;
    let since = stat.modified?.duration_since(UNIX_EPOCH);
    Some(match since.map(|since| since.as_secs()) {
        Ok(seconds @ 0..=LAST) => {
            humantime::format_rfc3339_seconds(UNIX_EPOCH + Duration::from_secs(seconds)).to_string()
        }
        Ok(_) => "after 9999".to_owned(),
        Err(_) => "before 1970".to_owned(),
    })
}

/// The permission bits in octal, `0644`; `None` if the system has none.
pub(super) fn mode(stat: &Stat) -> Option<String> {
    Some(stat.mode()).filter(|mode| *mode != 0 || cfg!(unix)).map(|mode| format!("{mode:04o}"))
}
