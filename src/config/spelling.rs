//! Which known name a misspelled one most likely means.

/// The name in `known` that `given` most likely means, if any is near.
pub(super) fn nearest<'a>(given: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // Two slips in a word of six; below that a proposal misleads more than it helps.
    const NEAR: f64 = 0.6;
    let plain = |text: &str| text.to_lowercase().replace(['-', '_'], "");
    let given = plain(given);
    known
        .into_iter()
        .map(|name| (rapidfuzz::distance::osa::normalized_similarity(given.chars(), plain(name).chars()), name))
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .filter(|(alike, _)| *alike >= NEAR)
        .map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_is_recognised_and_a_stranger_is_not() {
        let names = ["max_output", "log", "read_only"];
        assert_eq!(nearest("maxOutput", names), Some("max_output"));
        assert_eq!(nearest("read-onyl", names), Some("read_only"));
        assert_eq!(nearest("colour", names), None);
    }
}
