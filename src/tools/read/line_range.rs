//! The lines that a call asks for, from its two ways of saying a range.

use super::{
    super::{AnswerBudget, ToolError},
    args::Args,
    window::WindowBounds,
};

/// Lines shown without a limit.
const DEFAULT_LIMIT: usize = 2000;

/// The lines that were asked for.
#[derive(Clone, Copy, Debug)]
pub(super) enum LineRange {
    From {
        skip: usize,
        take: usize,
    },
    /// The last `back` lines, of which `take` are shown.
    Tail {
        back: usize,
        take: usize,
    },
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
                None => DEFAULT_LIMIT,
                Some(end) if end < start => {
                    return Err(ToolError::invalid(format!("`end_line` {end} is before `start_line` {start}"))
                        .hint("both count from 1 and are inclusive; leave end_line out to read on from start_line"));
                }
                Some(end) => size(end) - skip,
            };
            return Ok(Self::From { skip, take });
        }
        let take = args.limit.filter(|limit| *limit > 0).map_or(DEFAULT_LIMIT, size);
        Ok(match args.offset.unwrap_or(0) {
            back if back < 0 => Self::Tail { back: size(back.saturating_neg()), take },
            skip => Self::From { skip: size(skip), take },
        })
    }

    /// The range, once the number of lines is known.
    pub(super) fn bounds(
        self,
        total: impl FnOnce() -> Result<usize, ToolError>,
        budget: AnswerBudget,
    ) -> Result<WindowBounds, ToolError> {
        Ok(match self {
            Self::From { skip, take } => WindowBounds { skip, take, budget },
            Self::Tail { back, take } => WindowBounds { skip: total()?.saturating_sub(back), take, budget },
        })
    }
}

fn size(n: i64) -> usize {
    usize::try_from(n).unwrap_or(0)
}
