//! The lines that a call asks for, from its ways of saying them.

use std::{fmt::Write as _, ops::Range};

use confined_fs::WorkspacePath;

use super::{super::ToolError, args::Args};

/// Lines shown without a limit.
const DEFAULT_LIMIT: usize = 2000;

/// The lines that were asked for.
#[derive(Clone, Debug)]
pub(super) enum LineRange {
    Offset {
        start: Start,
        take: Option<usize>,
    },
    Numbers {
        skip: usize,
        take: Option<usize>,
    },
    /// All lines of one of several files.
    All,
    /// Ranges behind the path, numbered from 0: disjoint and ascending.
    Ranges(Vec<Range<usize>>),
}

/// Where a range begins.
#[derive(Clone, Copy, Debug)]
pub(super) enum Start {
    /// After so many lines.
    Skip(usize),
    /// With the last so many lines.
    Back(usize),
}

impl LineRange {
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
            return Ok(Self::Numbers { skip, take });
        }
        let take = args.limit.filter(|limit| *limit > 0).map(size);
        let start = match args.offset.unwrap_or(0) {
            back if back < 0 => Start::Back(size(back.saturating_neg())),
            skip => Start::Skip(size(skip)),
        };
        Ok(Self::Offset { start, take })
    }

    /// The ranges of lines, numbered from 0; `total` counts the lines of the file.
    pub(super) fn ranges(
        &self,
        total: impl FnOnce() -> Result<usize, ToolError>,
    ) -> Result<Vec<Range<usize>>, ToolError> {
        let (skip, take) = match self {
            Self::Ranges(ranges) => return Ok(ranges.clone()),
            Self::All => (0, None),
            Self::Numbers { skip, take } | Self::Offset { start: Start::Skip(skip), take } => (*skip, *take),
            Self::Offset { start: Start::Back(back), take } => (total()?.saturating_sub(*back), *take),
        };
        let end = skip.saturating_add(take.unwrap_or(DEFAULT_LIMIT));
        Ok(std::iter::once(skip..end).collect())
    }

    /// The lines from the first to the last one that the call names, numbered from 0, in a file of `total` lines. `None`
    /// if it names no lines.
    pub(super) fn named(&self, total: usize) -> Option<Range<usize>> {
        if self.is_default() {
            return None;
        }
        let (skip, take) = match self {
            Self::All => return None,
            Self::Ranges(ranges) => return Some(ranges.first()?.start..ranges.last()?.end),
            Self::Numbers { skip, take } | Self::Offset { start: Start::Skip(skip), take } => (*skip, *take),
            Self::Offset { start: Start::Back(back), take } => (total.saturating_sub(*back), *take),
        };
        Some(skip..take.map_or(total.max(skip), |take| skip.saturating_add(take)))
    }

    /// How many lines to skip, and to take where the call says it; `None` for numbered lines, or the last ones.
    pub(super) fn without_numbers(&self) -> Option<(usize, Option<usize>)> {
        match self {
            Self::Offset { start: Start::Skip(skip), take } => Some((*skip, *take)),
            Self::All => Some((0, None)),
            Self::Offset { start: Start::Back(_), .. } | Self::Numbers { .. } | Self::Ranges(_) => None,
        }
    }

    /// Whether the call says nothing of lines.
    pub(super) fn is_default(&self) -> bool {
        matches!(self, Self::All | Self::Offset { start: Start::Skip(0), take: None })
    }

    /// Whether the call says how many lines it wants.
    pub(super) fn is_exact(&self) -> bool {
        match self {
            Self::All => false,
            Self::Ranges(_) => true,
            Self::Offset { take, .. } | Self::Numbers { take, .. } => take.is_some(),
        }
    }

    /// The arguments that continue after the first `end` lines of the file at `path`, in the terms that the call used.
    pub(super) fn continued(&self, path: &WorkspacePath, end: usize) -> String {
        match self {
            Self::Offset { .. } => format!("offset={end}"),
            Self::Numbers { .. } => format!("start_line={}", end + 1),
            Self::All => format!("path=\"{path}:{}-\"", end + 1),
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
            Self::Offset { .. } | Self::All => format!("offset {skip}"),
            Self::Numbers { .. } | Self::Ranges(_) => format!("line {}", skip + 1),
        }
    }
}

fn size(n: i64) -> usize {
    usize::try_from(n).unwrap_or(0)
}
