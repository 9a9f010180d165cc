//! What glob, grep and ls share: the arguments of a page, and the honest words about what an answer
//! leaves out.

use schemars::JsonSchema;
use serde::Serialize;

use crate::{
    search::{Scope, Tally},
    stop::{StopReason, StopSignal},
    text::byte_size::exact_size,
    workspace::{Limit, LimitsHit, WalkReport},
};

use super::{CallContext, ToolError, output::count};

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
            ToolError::invalid(format!("`{name}` must not be negative, not {given}"))
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

/// Files left out, by reason.
#[derive(Clone, Copy, Debug, Default, Serialize, JsonSchema)]
pub struct SkippedFiles {
    /// They hold NUL bytes.
    binary: usize,
    /// Over the size limit of directory searches.
    too_large: usize,
    /// Policy denies their content.
    protected: usize,
    /// Files and folders that the operating system refuses.
    unreadable: usize,
    /// Files and folders that could not be opened, because too many files were open.
    #[serde(skip_serializing_if = "is_zero")]
    out_of_files: usize,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
pub(super) fn is_zero(number: &usize) -> bool {
    *number == 0
}

impl SkippedFiles {
    pub(super) fn of(tally: &Tally, walk: &WalkReport) -> Self {
        Self {
            binary: tally.binary,
            too_large: tally.too_large,
            protected: tally.secret,
            unreadable: tally.unreadable + walk.unreadable_count,
            out_of_files: tally.out_of_files + walk.limits_hit.directories,
        }
    }

    /// `(skipped 3 binary, 1 over 16 MiB, 2 secret files)`; `limit` is in bytes.
    pub(super) fn note(self, limit: u64) -> Option<String> {
        let parts: Vec<String> = [
            (self.binary, "binary".to_owned()),
            (self.too_large, format!("over {}", exact_size(limit))),
            (self.protected, "secret".to_owned()),
            (self.unreadable, "unreadable".to_owned()),
        ]
        .into_iter()
        .filter(|(n, _)| *n > 0)
        .map(|(n, what)| format!("{n} {what}"))
        .collect();
        let total = self.binary + self.too_large + self.protected + self.unreadable;
        (total > 0).then(|| format!("(skipped {} file{})", parts.join(", "), if total == 1 { "" } else { "s" }))
    }
}

/// What limits of the system or of the ignore rules made of a search, a sentence each.
pub(super) fn limit_notes(tally: &Tally, limits_hit: &LimitsHit) -> Vec<String> {
    let mut notes = Vec::new();
    let left_out = [(tally.out_of_files, "file"), (limits_hit.directories, "directory")];
    let left_out: Vec<String> = left_out.into_iter().filter(|(n, _)| *n > 0).map(|(n, noun)| count(n, noun)).collect();
    if !left_out.is_empty() {
        let limit = limits_hit.limit.unwrap_or_else(Limit::open_files);
        notes.push(format!(
            "incomplete: {} could not be opened, as {limit}; call again when the answers of other calls are there, or \
             search a part of it",
            left_out.join(" and ")
        ));
    }
    if limits_hit.lacks_rules() {
        notes.push(format!("{limits_hit}: they are too many, so ignored files may be among these"));
    }
    notes
}

/// Results in what the ignore rules leave out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct InIgnored {
    /// How many were found there.
    pub(super) count: usize,
    /// Whether all of it was looked into.
    pub(super) exact: bool,
}

impl InIgnored {
    /// `14 more in ignored files; pass no_ignore`.
    pub(super) fn note(self) -> String {
        match (self.count, self.exact) {
            (0, _) => "there may be more in ignored files; pass no_ignore".to_owned(),
            (n, true) => format!("{n} more in ignored files; pass no_ignore"),
            (n, false) => format!("at least {n} more in ignored files; pass no_ignore"),
        }
    }
}

/// What is said when the time limit ended the work after `n` of `noun`; `next` is what to do.
pub(super) fn stopped_note(
    stop: &StopSignal,
    reason: Option<StopReason>,
    n: usize,
    noun: &str,
    next: &str,
) -> Option<String> {
    reason.map(|_| format!("time limit of {:.0?} reached after {}; {next}", stop.limit(), count(n, noun)))
}

/// Why no list of the names is kept where a search looked, if that cannot be.
pub(super) fn walked_because(cx: &CallContext, scope: &Scope) -> Option<String> {
    scope.starts().iter().find_map(|start| cx.path_index.unwatchable(start)).map(|why| why.to_string())
}

/// Joins an answer's lines and what is said below them.
pub(super) fn with_notes(mut text: String, notes: &[String]) -> String {
    if !notes.is_empty() {
        // Reasons for nothing stand right below the sentence; below a list they are set apart.
        text.push_str(if text.contains('\n') { "\n\n" } else { "\n" });
        text.push_str(&notes.join("\n"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zero_and_less_mean_the_default_and_more_the_most() {
        assert_eq!(max_results(None, 100, 500), 100);
        assert_eq!((max_results(Some(0), 100, 500), max_results(Some(-3), 100, 500)), (100, 100));
        assert_eq!((max_results(Some(7), 100, 500), max_results(Some(9000), 100, 500)), (7, 500));
    }

    #[test]
    fn a_negative_offset_is_an_error() {
        assert!(offset(Some(-1)).unwrap_err().text().contains("`offset` must not be negative, not -1"));
        assert!(offset(Some(1_000_000)).is_err());
        assert_eq!(offset(None).unwrap(), 0);
    }

    #[test]
    fn only_what_was_skipped_is_mentioned() {
        let skipped = SkippedFiles { binary: 3, too_large: 1, protected: 2, ..SkippedFiles::default() };
        assert_eq!(skipped.note(16 << 20).unwrap(), "(skipped 3 binary, 1 over 16 MiB, 2 secret files)");
        assert_eq!(SkippedFiles { binary: 1, ..Default::default() }.note(0).unwrap(), "(skipped 1 binary file)");
        assert_eq!(SkippedFiles::default().note(0), None);
    }

    #[test]
    fn what_ignored_files_hold_is_exact_or_a_lower_bound() {
        assert_eq!(InIgnored { count: 14, exact: true }.note(), "14 more in ignored files; pass no_ignore");
        assert_eq!(InIgnored { count: 14, exact: false }.note(), "at least 14 more in ignored files; pass no_ignore");
    }

    #[test]
    fn a_page_names_what_it_shows() {
        assert_eq!((shown_range(0, 100), shown_range(100, 50)), ("first 100".to_owned(), "101-150".to_owned()));
    }
}
