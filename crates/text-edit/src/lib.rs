//! Changing text: where an `old_string` is, what takes its place, and what to say when it is not there.
//!
//! Pure functions on strings with spans. [`locate`] climbs a ladder of steps from strict to tolerant over one
//! request; the first step that finds a place decides, and the reasons of those that refuse one go into the
//! [`Diagnosis`]. A tolerant step works on whole lines, looks through several damages at once and keeps the file's own
//! bytes wherever the request does not change them. Nothing here knows files or encodings.
//!
//! Limits: a file of more than 8 million lines is searched for the exact text alone, one request makes at most 100,000
//! replacements and 128 MiB of new text, and every search among near matches has its own budget, after which there
//! is no match.
//!
//! ```
//! use text_edit::{Request, locate};
//!
//! let request = Request { old: "a - 1", new: "a + 1", replace_all: false, expected_replacements: None };
//! let located = locate("let b = a - 1;", &request).expect("one place");
//! assert_eq!(located.replacements[0].span, 8..13);
//! ```
//!
//! # Map
//! [`locate`] is the front door, and has an example. `ladder` lists the steps, each in a file of its own name below it.
//! `request` is the question and the answer; a step is asked by a `search`, which has all of the request's
//! `interpretation`s, and answers with what it `found`; `strategy` names the differences that it looked through.
//! [`EditError`] says why there is no place: `diagnosis` shows the nearest block, as `near_match` finds it, and words the
//! differences. [`patch`] reads patches in two dialects, and `hunks` finds their places ([`locate_hunks`]). `diff` shows
//! a change ([`unified_diff`]); `line_place` follows lines and offsets through one. The other files measure lines and
//! characters for all of these: `line_parts`, `indent_shift`, `typography`, `placeholder` and `keep_line_endings`.
//!
//! A part of Rootbound, published with it: its interface changes without notice.

mod diagnosis;
mod diff;
mod found;
mod hunks;
mod indent_shift;
mod interpretation;
mod keep_line_endings;
mod ladder;
mod line_parts;
mod line_place;
mod near_match;
pub mod patch;
mod placeholder;
mod request;
mod search;
mod strategy;
mod typography;

#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;

pub use diagnosis::neighbours;
pub use diff::{Diff, DiffExtent, TruncatedDiff, changed_lines, unified_diff};
pub use hunks::{ContextNote, HunkError, LocatedHunk, locate_hunks};
pub use line_parts::longer_word;
pub use line_place::{AnchorError, LinePlace, MovedOffsets, anchored};
pub use request::{Diagnosis, EditError, Located, Location, MAX_PLACES, Next, Replacement, Request};
pub use strategy::{Strategies, Strategy};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmeExamples;

/// Finds the place or places of `request.old` in `text`.
///
/// # Errors
/// [`EditError`] when there is no place, or not the wanted number of them. The cost of that answer is bounded,
/// whatever the texts hold.
///
/// # Examples
/// ```
/// use text_edit::{Request, Strategy, locate};
///
/// // The model lost the indentation and sends LF; the file has tabs and CR LF.
/// let file = "fn f() {\r\n\tone();\r\n\ttwo();\r\n}\r\n";
/// let request = Request {
///     old: "one();\ntwo();\n",
///     new: "one();\nthree();\n",
///     replace_all: false,
///     expected_replacements: None,
/// };
/// let located = locate(file, &request).expect("one place");
/// assert!(located.strategy.has(Strategy::Indentation));
/// assert_eq!(located.replacements[0].text, "\tone();\r\n\tthree();");
/// ```
pub fn locate(text: &str, request: &Request<'_>) -> Result<Located, EditError> {
    located(text, request, false)
}

/// As [`locate`], where a place within a longer word ([`longer_word`]) does not count.
///
/// # Errors
/// As [`locate`].
pub fn locate_words(text: &str, request: &Request<'_>) -> Result<Located, EditError> {
    located(text, request, true)
}

fn located(text: &str, request: &Request<'_>, whole_words: bool) -> Result<Located, EditError> {
    if request.old.is_empty() {
        let summary = "old_string is empty: it describes no place".to_owned();
        return Err(EditError::NotFound(Diagnosis::without_place(summary)));
    }
    ladder::try_steps(text, &search::TextFacts::default(), request, ladder::LADDER_STEPS, whole_words)
}
