//! What of the results is in one answer.

use super::output::MatchLine;

/// The results of an answer.
#[derive(Debug, Default)]
pub(super) struct Page {
    /// Each with a line break before it.
    pub(super) text: String,
    /// Results in them: matches in content mode, else files.
    pub(super) shown: usize,
    /// The files shown, as places in what was found, and in content mode their lines.
    pub(super) files: Vec<(usize, Vec<MatchLine>)>,
    /// Lines shown around each match, where more were asked for and do not fit.
    pub(super) less_context: Option<(u64, u64)>,
}
