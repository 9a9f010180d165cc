//! The arguments of a page of results, as glob, grep and ls take them.

use super::ToolError;

/// Results that can be passed over: beyond it the search should be narrowed.
const MAX_OFFSET: usize = 100_000;

/// Most results to return: `null`, zero and negative numbers mean the default.
pub(super) fn max_results(given: Option<i64>, default: usize, most: usize) -> usize {
    given.and_then(|given| usize::try_from(given).ok()).filter(|given| *given > 0).unwrap_or(default).min(most)
}

/// A count that cannot be negative, at most `most`.
pub(super) fn limited(name: &str, given: Option<i64>, most: usize) -> Result<Option<usize>, ToolError> {
    let read = |given: i64| {
        usize::try_from(given).map(|given| given.min(most)).map_err(|_| {
            ToolError::invalid(format!("`{name}` must be 0 or more, not {given}"))
                .hint(format!("pass {name}=0 or more, or leave it out"))
        })
    };
    given.map(read).transpose()
}

/// How many results to pass over.
pub(super) fn offset(given: Option<i64>) -> Result<usize, ToolError> {
    let offset = limited("offset", given, usize::MAX)?.unwrap_or(0);
    if offset > MAX_OFFSET {
        return Err(ToolError::invalid(format!("`offset` {offset} is over {MAX_OFFSET}"))
            .hint("narrow the pattern or the path instead of paging that far"));
    }
    Ok(offset)
}

/// `first 100`, or `101-200` on a later page.
pub(super) fn shown_range(skip: usize, shown: usize) -> String {
    if skip == 0 { format!("first {shown}") } else { format!("{}-{}", skip + 1, skip + shown) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn max_results_of_zero_or_less_means_the_default() {
        assert_eq!(max_results(None, 100, 500), 100);
        assert_eq!((max_results(Some(0), 100, 500), max_results(Some(-3), 100, 500)), (100, 100));
        assert_eq!((max_results(Some(7), 100, 500), max_results(Some(9000), 100, 500)), (7, 500));
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
