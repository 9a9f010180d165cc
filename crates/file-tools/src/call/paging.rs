//! The arguments of a page of results, as glob, grep and ls take them.

use super::error::ToolError;

/// Results that can be skipped: beyond it the search should be narrowed.
// The results that are skipped are held in memory, where the newest come first.
const MAX_OFFSET: usize = 100_000;

/// A number from the arguments, at most its maximum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Bounded {
    pub(crate) value: usize,
    over: Option<usize>,
}

impl Bounded {
    fn new(given: usize, most: usize) -> Self {
        Self { value: given.min(most), over: (given > most).then_some(given) }
    }

    /// `(max_results=900 is over the maximum of 500)`, where it is.
    pub(crate) fn note(self, name: &str) -> Option<String> {
        self.over.map(|given| format!("({name}={given} is over the maximum of {})", self.value))
    }
}

/// Most results to return: `null`, zero and negative numbers mean the default.
pub(crate) fn max_results(given: Option<i64>, default: usize, most: usize) -> Bounded {
    let given = given.filter(|given| *given > 0);
    Bounded::new(given.map_or(default, |given| usize::try_from(given).unwrap_or(usize::MAX)), most)
}

/// A number that cannot be negative, at most `most`.
pub(crate) fn bounded(name: &str, given: Option<i64>, most: usize) -> Result<Option<Bounded>, ToolError> {
    let read = |given: i64| match usize::try_from(given) {
        Ok(given) => Ok(Bounded::new(given, most)),
        Err(_) => Err(ToolError::invalid(format!("`{name}` must be 0 or more, not {given}"))
            .hint(format!("pass {name}=0 or more, or leave it out"))),
    };
    given.map(read).transpose()
}

pub(crate) fn offset(given: Option<i64>) -> Result<usize, ToolError> {
    let offset = bounded("offset", given, usize::MAX)?.map_or(0, |offset| offset.value);
    if offset > MAX_OFFSET {
        return Err(ToolError::invalid(format!("`offset` {offset} is over {MAX_OFFSET}"))
            .hint("narrow the pattern or the path instead of paging that far"));
    }
    Ok(offset)
}

/// `first 100`, or `101-200` on a later page.
fn shown_range(skip: usize, shown: usize) -> String {
    if skip == 0 { format!("first {shown}") } else { format!("{}-{}", skip + 1, skip + shown) }
}

/// The header `found` with the results that a page shows after the first `skip` ones; `narrow` is the advice where
/// there are more, which begin at `next`.
pub(crate) fn with_page(found: String, skip: usize, shown: usize, next: Option<usize>, narrow: &str) -> String {
    let range = shown_range(skip, shown);
    match next {
        Some(next) => format!("{found}, showing {range}. {narrow}, or continue with offset={next}."),
        None if shown == 0 => format!("{found}, but offset={skip} is past the last"),
        None if skip > 0 => format!("{found}, showing {range}"),
        None => found,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn max_results_of_zero_or_less_means_the_default() {
        for (given, expected) in [(None, 100), (Some(0), 100), (Some(-3), 100), (Some(7), 7), (Some(9000), 500)] {
            assert_eq!(max_results(given, 100, 500).value, expected, "{given:?}");
        }
    }

    #[test]
    fn number_over_its_maximum_has_a_note() {
        assert_eq!(max_results(Some(500), 100, 500).note("max_results"), None);
        let note = max_results(Some(900), 100, 500).note("max_results").unwrap();
        assert_eq!(note, "(max_results=900 is over the maximum of 500)");
        assert_eq!(bounded("context", Some(i64::MAX), 50).unwrap().unwrap().value, 50);
    }

    #[test]
    fn negative_or_huge_offset_is_an_error() {
        assert!(offset(Some(-1)).unwrap_err().text().contains("`offset` must be 0 or more, not -1"));
        assert!(offset(Some(1_000_000)).is_err());
        assert_eq!(offset(None).unwrap(), 0);
    }

    #[test]
    fn shown_range_counts_from_one() {
        assert_eq!((shown_range(0, 100), shown_range(100, 50)), ("first 100".to_owned(), "101-150".to_owned()));
    }
}
