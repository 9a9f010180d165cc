//! One file and what of it is wanted.

use encoding_rs::Encoding;

use crate::workspace::RevisionPrefix;

use super::{
    super::{AnswerBudget, ToolError, read_before_write::parse_rev},
    args::Args,
    line_range::LineRange,
    part::Part,
};

/// One file with one selection of its content.
#[derive(Clone, Debug)]
pub(super) struct FileRequest {
    /// As it was given.
    pub(super) path: String,
    pub(super) lines: LineRange,
    pub(super) part: Option<Part>,
    /// A revision that the caller has.
    pub(super) since: Option<RevisionPrefix>,
    pub(super) encoding: Option<&'static Encoding>,
    /// What may be said of it.
    pub(super) budget: AnswerBudget,
}

impl FileRequest {
    /// The file of a call.
    ///
    /// # Errors
    /// `invalid_input` for arguments that contradict each other.
    pub(super) fn of(args: Args, budget: AnswerBudget) -> Result<Self, ToolError> {
        let lines = LineRange::of(&args)?;
        let part = args.part.as_deref().filter(|part| !part.trim().is_empty()).map(Part::parse).transpose()?;
        if let Some(part) = part.as_ref().filter(|part| !part.is_of_lines() && args.has_lines()) {
            return Err(ToolError::invalid(format!("part {part} and a range of lines were both given"))
                .hint("leave out start_line, end_line, offset and limit, or leave out part"));
        }
        let encoding = args.encoding()?;
        let since = parse_rev("since", args.since.as_deref().filter(|since| !since.trim().is_empty()))?;
        Ok(Self { path: args.path, lines, part, since, encoding, budget })
    }
}
