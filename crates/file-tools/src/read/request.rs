//! What a call of `read` asks for: files, and lines or another part of each.

use std::{fmt::Write as _, iter, ops::Range};

use confined_fs::{RevisionPrefix, WorkspacePath};
use encoding_rs::Encoding;
use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    super::{AnswerBudget, ToolError, args, read_before_write::parse_rev},
    selection::{Part, Selection},
    window::WindowBounds,
};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    /// The file, or one with its lines or part as below.
    pub(super) path: Option<String>,
    /// Up to 50 files instead, each as `src/a.rs`, `src/a.rs:120-180,300-340`, `src/a.rs:def NAME` or `a.pdf:page 1`.
    pub(super) paths: Option<Vec<String>>,
    /// Lines to skip; negative: from the end. Default: 0.
    pub(super) offset: Option<i64>,
    /// Lines to return. Default: 2000.
    pub(super) limit: Option<i64>,
    /// First line, from 1. Not with offset or limit.
    pub(super) start_line: Option<i64>,
    /// Last line, inclusive.
    pub(super) end_line: Option<i64>,
    /// A WHATWG label such as `shift_jis`. Default: detected.
    pub(super) encoding: Option<String>,
    /// A rev you have: returns only what changed since.
    pub(super) since: Option<String>,
    /// Instead of lines: `def NAME`, `pages 3-5` (PDF), `cells 2-4` (notebook), `region X,Y,WIDTH,HEIGHT` (image),
    /// `columns 2001-4000` (long lines), `paragraphs 20-60`, `section HEADING` (Word), `sheet NAME rows 1-200 columns A-F [formulas]` (Excel),
    /// `slides 3-5`, `image 2`.
    pub(super) part: Option<String>,
}

impl Args {
    pub(super) fn has_lines(&self) -> bool {
        [self.offset, self.limit, self.start_line, self.end_line].iter().any(Option::is_some)
    }

    pub(super) fn encoding(&self) -> Result<Option<&'static Encoding>, ToolError> {
        let label = self.encoding.as_deref().map(args::encoding).transpose()?;
        Ok(label.map(|label| label.encoding))
    }
}

#[derive(Clone, Debug)]
pub(super) struct FileRequest {
    pub(super) path: String,
    pub(super) lines: LineRange,
    pub(super) part: Option<Part>,
    pub(super) since: Option<RevisionPrefix>,
    pub(super) encoding: Option<&'static Encoding>,
    pub(super) budget: AnswerBudget,
    /// The first lines of what is directly above definitions, counted from 1, where they are in the lines.
    pub(super) leads: Vec<usize>,
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
        Ok(Self { path, lines, part, since, encoding, budget, leads: Vec::new() })
    }

    pub(super) fn of_entry(path: String, encoding: Option<&'static Encoding>, budget: AnswerBudget) -> Self {
        Self { path, lines: LineRange::ALL, part: None, since: None, encoding, budget, leads: Vec::new() }
    }

    /// The same file without the selection after its path; `None` if there is no selection.
    ///
    /// # Errors
    /// `invalid_input` for a selection that names nothing, or next to another one.
    pub(super) fn without_selection(&self) -> Option<Result<Self, ToolError>> {
        let (path, selection) = Selection::split(&self.path)?;
        if !self.lines.is_default() || self.part.is_some() {
            return Some(Err(ToolError::invalid(format!(
                "`{}` names a part of the file, and other arguments name another",
                self.path
            ))
            .hint(format!("use path={path:?} with the other arguments, or the path alone"))));
        }
        Some(selection.map(|selection| {
            let (lines, part) = match selection {
                Selection::Lines(ranges) => (LineRange::Ranges(ranges), None),
                Selection::Part(part) => (LineRange::ALL, Some(part)),
            };
            Self { path: path.to_owned(), lines, part, ..self.clone() }
        }))
    }

    pub(super) fn is_whole(&self) -> bool {
        self.lines.is_default() && self.part.is_none() && self.since.is_none()
    }

    /// The lines and characters that are wanted, within the budget reduced by `kept_back` units; `total` counts the lines
    /// of the file, where that matters.
    pub(super) fn bounds(
        &self,
        kept_back: usize,
        total: impl FnOnce() -> Result<usize, ToolError>,
    ) -> Result<WindowBounds, ToolError> {
        let budget = self.budget.reduced(kept_back);
        Ok(WindowBounds { ranges: self.lines.ranges(total)?, columns: self.columns(), budget })
    }

    /// The characters of each line that are wanted, numbered from 0, and as many as may fit into the answer; none for the
    /// first ones.
    pub(super) fn columns(&self) -> Option<Range<usize>> {
        match self.part {
            Some(Part::Columns((first, last))) => {
                // A character takes at least one byte, so that no more of them than that can be shown.
                let most = self.budget.most_bytes().max(1);
                Some(first - 1..last.min((first - 1).saturating_add(most)))
            }
            _ => None,
        }
    }
}

/// Lines shown without a limit.
const DEFAULT_LIMIT: usize = 2000;

#[derive(Clone, Debug)]
pub(super) enum LineRange {
    From {
        start: Start,
        take: Option<usize>,
        terms: Terms,
    },
    /// Ranges after the path, numbered from 0: disjoint and ascending.
    Ranges(Vec<Range<usize>>),
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Start {
    Skip(usize),
    Back(usize),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Terms {
    Offset,
    Numbers,
    Path,
}

impl Start {
    fn skip(self, total: usize) -> usize {
        match self {
            Self::Skip(skip) => skip,
            Self::Back(back) => total.saturating_sub(back),
        }
    }
}

impl LineRange {
    pub(super) const ALL: Self = Self::From { start: Start::Skip(0), take: None, terms: Terms::Path };
    /// Those of all rows of a workbook, too.
    pub(super) const EVERY: Self = Self::From { start: Start::Skip(0), take: Some(usize::MAX), terms: Terms::Offset };

    pub(super) fn of(args: &Args) -> Result<Self, ToolError> {
        if args.start_line.is_some() || args.end_line.is_some() {
            if args.offset.is_some() || args.limit.is_some() {
                return Err(ToolError::invalid("start_line/end_line and offset/limit were both given")
                    .hint("use one pair: start_line and end_line count from 1, offset is how many lines to skip"));
            }
            let start = args.start_line.unwrap_or(1);
            if start < 1 {
                return Err(ToolError::invalid(format!("`start_line` counts from 1, got {start}"))
                    .hint("to count from the end, use a negative offset"));
            }
            let skip = size(start - 1);
            let take = match args.end_line {
                None => None,
                Some(end) if end < start => {
                    return Err(ToolError::invalid(format!("`end_line` {end} is before `start_line` {start}"))
                        .hint("both count from 1 and are inclusive; leave end_line out to read on from start_line"));
                }
                Some(end) => Some(size(end) - skip),
            };
            return Ok(Self::From { start: Start::Skip(skip), take, terms: Terms::Numbers });
        }
        // Not an error: 0 and less mean the default, as they do for `max_results` in the other tools.
        let take = args.limit.filter(|limit| *limit > 0).map(size);
        let start = match args.offset.unwrap_or(0) {
            // `i64::MIN` has no positive counterpart: `-back` would overflow.
            back if back < 0 => Start::Back(size(back.saturating_neg())),
            skip => Start::Skip(size(skip)),
        };
        Ok(Self::From { start, take, terms: Terms::Offset })
    }

    /// The ranges of lines, numbered from 0; `total` counts the lines of the file, where that matters.
    fn ranges<E>(&self, total: impl FnOnce() -> Result<usize, E>) -> Result<Vec<Range<usize>>, E> {
        Ok(match self {
            Self::Ranges(ranges) => ranges.clone(),
            Self::From { start, take, .. } => {
                let skip = start.skip(if matches!(start, Start::Back(_)) { total()? } else { 0 });
                iter::once(skip..skip.saturating_add(take.unwrap_or(DEFAULT_LIMIT))).collect()
            }
        })
    }

    /// The lines from the first to the last one that the call names, numbered from 0, in a file of `total` lines. `None`
    /// if it names no lines.
    pub(super) fn named(&self, total: usize) -> Option<Range<usize>> {
        match self {
            _ if self.is_default() => None,
            Self::Ranges(ranges) => Some(ranges.first()?.start..ranges.last()?.end),
            Self::From { start, take, .. } => {
                let skip = start.skip(total);
                Some(skip..take.map_or(total.max(skip), |take| skip.saturating_add(take)))
            }
        }
    }

    /// Lines to skip, and to take where the call limits them; `None` for numbered lines, or the last ones.
    pub(super) fn without_numbers(&self) -> Option<(usize, Option<usize>)> {
        match self {
            Self::From { start: Start::Skip(skip), take, terms: Terms::Offset | Terms::Path } => Some((*skip, *take)),
            Self::From { .. } | Self::Ranges(_) => None,
        }
    }

    pub(super) fn is_default(&self) -> bool {
        self.without_numbers() == Some((0, None))
    }

    pub(super) fn is_exact(&self) -> bool {
        matches!(self, Self::Ranges(_) | Self::From { take: Some(_), .. })
    }

    /// The arguments that continue after the first `end` lines of the file at `path`, in the terms that the call used.
    pub(super) fn continued(&self, path: &WorkspacePath, end: usize) -> String {
        match self {
            Self::From { terms: Terms::Offset, .. } => format!("offset={end}"),
            Self::From { terms: Terms::Numbers, .. } => format!("start_line={}", end + 1),
            Self::From { terms: Terms::Path, .. } => format!("path=\"{path}:{}-\"", end + 1),
            Self::Ranges(ranges) => {
                let mut text = format!("path=\"{path}:");
                for range in ranges.iter().filter(|range| range.end > end) {
                    let _ = write!(text, "{}-", range.start.max(end) + 1);
                    if range.end < usize::MAX {
                        let _ = write!(text, "{}", range.end);
                    }
                    text.push(',');
                }
                text.truncate(text.trim_end_matches(',').len());
                text + "\""
            }
        }
    }

    /// The line after the first `skip` ones, in the terms that the call used.
    pub(super) fn first(&self, skip: usize) -> String {
        match self {
            Self::From { terms: Terms::Offset | Terms::Path, .. } => format!("offset {skip}"),
            Self::From { terms: Terms::Numbers, .. } | Self::Ranges(_) => format!("line {}", skip + 1),
        }
    }
}

fn size(n: i64) -> usize {
    usize::try_from(n).unwrap_or(0)
}
