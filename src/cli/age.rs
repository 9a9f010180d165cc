//! How long ago something was, in one word.

/// `12 s`, `3 min`, `5 h` or `2 d`.
pub(super) fn age(seconds: u64) -> String {
    match seconds {
        0..120 => format!("{seconds} s"),
        120..7_200 => format!("{} min", seconds / 60),
        7_200..172_800 => format!("{} h", seconds / 3_600),
        _ => format!("{} d", seconds / 86_400),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_are_in_the_largest_unit_that_fits() {
        assert_eq!([119, 120, 7_199, 7_200, 172_800].map(age), ["119 s", "2 min", "119 min", "2 h", "2 d"]);
    }
}
