//! One file and the requested part of it.

use std::ops::Range;

use encoding_rs::Encoding;

use confined_fs::RevisionPrefix;

use super::{
    super::{AnswerBudget, ToolError, read_before_write::parse_rev},
    args::Args,
    entry::Selection,
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
    /// How much may be shown of it.
    pub(super) budget: AnswerBudget,
}

impl FileRequest {
    /// The file `path` of a call.
    ///
    /// # Errors
    /// `invalid_input` for arguments that contradict each other.
    pub(super) fn of(args: &Args, path: String, budget: AnswerBudget) -> Result<Self, ToolError> {
        let lines = LineRange::of(args)?;
        let part = args.part.as_deref().filter(|part| !part.trim().is_empty()).map(Part::parse).transpose()?;
        if let Some(part) = part.as_ref().filter(|part| !part.is_of_lines() && args.has_lines()) {
            return Err(ToolError::invalid(format!("part {part} and a range of lines were both given"))
                .hint("leave out start_line, end_line, offset and limit, or leave out part"));
        }
        let encoding = args.encoding()?;
        let since = parse_rev("since", args.since.as_deref().filter(|since| !since.trim().is_empty()))?;
        Ok(Self { path, lines, part, since, encoding, budget })
    }

    /// One of several files, which may have a selection behind its path.
    pub(super) fn of_entry(path: String, encoding: Option<&'static Encoding>, budget: AnswerBudget) -> Self {
        Self { path, lines: LineRange::All, part: None, since: None, encoding, budget }
    }

    /// The same file without the selection behind its path; `None` if there is no selection.
    ///
    /// # Errors
    /// `invalid_input` for a selection that names nothing, or next to another one.
    pub(super) fn without_selection(&self) -> Option<Result<Self, ToolError>> {
        let (path, selection) = Selection::split(&self.path)?;
        let is_whole = matches!(self.lines, LineRange::All) || self.lines.is_default();
        if !is_whole || self.part.is_some() {
            return Some(Err(ToolError::invalid(format!(
                "`{}` names a part of the file, and other arguments name another",
                self.path
            ))
            .hint(format!("use path={path:?} with the other arguments, or the path alone"))));
        }
        Some(selection.map(|selection| {
            let (lines, part) = selection.into_parts();
            Self { path: path.to_owned(), lines, part, ..self.clone() }
        }))
    }

    /// Whether nothing but the whole file is wanted.
    pub(super) fn is_whole(&self) -> bool {
        self.lines.is_default() && self.part.is_none() && self.since.is_none()
    }

    /// The characters of each line that are wanted, numbered from 0, and as many as may fit into the answer; none for the
    /// first ones.
    pub(super) fn columns(&self) -> Option<Range<usize>> {
        match self.part {
            Some(Part::Columns { first, last }) => {
                let most = self.budget.most_bytes().max(1);
                Some(first - 1..last.min((first - 1).saturating_add(most)))
            }
            _ => None,
        }
    }
}
