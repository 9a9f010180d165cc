//! The lines that a call asks for, from its two ways of saying a range.

use std::ops::Range;

use super::{
    super::{AnswerBudget, ToolError},
    args::Args,
    window::WindowBounds,
};

/// Lines shown without a limit.
const DEFAULT_LIMIT: usize = 2000;

/// The lines that were asked for.
#[derive(Clone, Copy, Debug)]
pub(super) struct LineRange {
    start: Start,
    /// How many; none where the call does not say.
    take: Option<usize>,
    /// Whether lines were asked for by their numbers.
    by_number: bool,
}

/// Where a range begins.
#[derive(Clone, Copy, Debug)]
enum Start {
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
            return Ok(Self { start: Start::Skip(skip), take, by_number: true });
        }
        let take = args.limit.filter(|limit| *limit > 0).map(size);
        let start = match args.offset.unwrap_or(0) {
            back if back < 0 => Start::Back(size(back.saturating_neg())),
            skip => Start::Skip(size(skip)),
        };
        Ok(Self { start, take, by_number: false })
    }

    /// The range, once the number of lines is known.
    pub(super) fn bounds(
        self,
        total: impl FnOnce() -> Result<usize, ToolError>,
        budget: AnswerBudget,
    ) -> Result<WindowBounds, ToolError> {
        let skip = match self.start {
            Start::Skip(skip) => skip,
            Start::Back(back) => total()?.saturating_sub(back),
        };
        Ok(WindowBounds { skip, take: self.take.unwrap_or(DEFAULT_LIMIT), budget })
    }

    /// The lines that the call names, numbered from 0, of so many; none where it names none.
    pub(super) fn named(self, total: usize) -> Option<Range<usize>> {
        let skip = match self.start {
            Start::Skip(0) if self.take.is_none() => return None,
            Start::Skip(skip) => skip,
            Start::Back(back) => total.saturating_sub(back),
        };
        Some(skip..self.take.map_or(total.max(skip), |take| skip.saturating_add(take)))
    }

    /// How many lines to skip, and to take where the call says it; `None` for numbered lines, or the last ones.
    pub(super) fn without_numbers(self) -> Option<(usize, Option<usize>)> {
        match self.start {
            Start::Skip(skip) if !self.by_number => Some((skip, self.take)),
            Start::Skip(_) | Start::Back(_) => None,
        }
    }

    /// Whether the call asked for lines at all.
    pub(super) fn is_given(self) -> bool {
        self.by_number || self.take.is_some() || !matches!(self.start, Start::Skip(0))
    }

    /// Whether the call asked for just so many lines.
    pub(super) fn is_just(self, lines: usize) -> bool {
        self.take == Some(lines)
    }

    /// The arguments that go on after the first `end` lines, in the terms that the call used.
    pub(super) fn continued(self, end: usize) -> String {
        if self.by_number { format!("start_line={}", end + 1) } else { format!("offset={end}") }
    }

    /// The line after the first `skip` ones, in the terms that the call used.
    pub(super) fn first(self, skip: usize) -> String {
        if self.by_number { format!("line {}", skip + 1) } else { format!("offset {skip}") }
    }
}

fn size(n: i64) -> usize {
    usize::try_from(n).unwrap_or(0)
}
