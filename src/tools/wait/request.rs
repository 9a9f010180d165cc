//! The arguments of `wait`, checked and compiled.

use std::time::{Duration, Instant};

use confined_fs::{RevisionPrefix, WorkspacePath};
use tree_search::{Pattern, PatternError, PatternOptions};

use super::{
    super::{CallContext, ToolError, grep::pattern_error},
    args::{Args, Until},
    timeout,
};

/// From where on the lines of a file are new.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NewFrom {
    /// The end of the file when the call began.
    Now,
    /// After so many lines.
    Offset(usize),
    /// After the content with this revision.
    Since(RevisionPrefix),
}

#[derive(Debug)]
pub(super) struct WaitRequest {
    pub(super) path: WorkspacePath,
    /// `None` where it depends on what is at the path.
    pub(super) until: Option<Until>,
    pub(super) pattern: Option<Pattern>,
    pub(super) new_from: NewFrom,
    /// How long to wait.
    pub(super) limit: Duration,
    /// How long the call asked for, where that is longer.
    pub(super) asked: Option<Duration>,
    /// Why it waits no longer.
    pub(super) cap: String,
    pub(super) started: Instant,
}

impl WaitRequest {
    /// Reads the arguments.
    ///
    /// # Errors
    /// `invalid_input` for what cannot be used, and for arguments that contradict each other.
    pub(super) fn read(cx: &CallContext, args: Args) -> Result<Self, ToolError> {
        // What is to appear is not there yet, and what is to go may have gone, whatever else has its name.
        let path = match args.until {
            Some(Until::Appears | Until::Gone) => cx.workspace.resolve(&args.path)?,
            _ => cx.awaited(&args.path)?,
        };
        let asked = timeout::parse(args.timeout.as_ref())?;
        let limit = asked.min(cx.longest_wait.limit);
        let is_of_lines = |until: Until| matches!(until, Until::Line | Until::Changes);
        let new_from = match (args.offset, args.since.as_deref().filter(|since| !since.trim().is_empty())) {
            (Some(_), Some(_)) => {
                return Err(ToolError::invalid("`offset` and `since` were both given")
                    .hint("use one of them: both say which lines you have"));
            }
            (Some(offset), None) if offset < 0 => {
                return Err(ToolError::invalid(format!("`offset` is a number of lines, not {offset}"))
                    .hint("take it from the last line of the answer before, or leave it out"));
            }
            (Some(offset), None) => NewFrom::Offset(usize::try_from(offset).unwrap_or(usize::MAX)),
            (None, Some(since)) => NewFrom::Since(since.parse().map_err(|error: String| {
                ToolError::invalid(format!("`since` is no rev: {error}"))
                    .hint("copy a rev from an answer of read or wait, or use offset")
            })?),
            (None, None) => NewFrom::Now,
        };
        if let Some(until) = args.until.filter(|until| !is_of_lines(*until))
            && new_from != NewFrom::Now
        {
            return Err(ToolError::invalid(format!(
                "`offset` and `since` are about new lines, and until={} waits for none",
                until.as_str()
            ))
            .hint("leave them out, or use until=line"));
        }
        let pattern = args.pattern.filter(|pattern| !pattern.is_empty());
        if let Some(until) = args.until.filter(|until| *until != Until::Line)
            && pattern.is_some()
        {
            return Err(ToolError::invalid(format!(
                "`pattern` is about new lines, and until={} waits for something else",
                until.as_str()
            ))
            .hint("leave until out to wait for a line that matches pattern"));
        }
        let options = PatternOptions {
            literal: args.literal.unwrap_or(false),
            case_sensitive: args.case_sensitive.unwrap_or(false),
            limits: cx.settings.patterns,
            ..PatternOptions::default()
        };
        let pattern = pattern.map(|text| Pattern::compile(&text, options).map_err(|error| refused(error, options)));
        Ok(Self {
            path,
            until: args.until,
            pattern: pattern.transpose()?,
            new_from,
            limit,
            asked: (asked > limit).then_some(asked),
            cap: cx.longest_wait.reason(),
            started: Instant::now(),
        })
    }
}

fn refused(error: PatternError, options: PatternOptions) -> ToolError {
    if error == PatternError::LineBreak {
        return ToolError::invalid("the pattern contains a line break, but each line is matched separately")
            .hint("wait for a part within one line");
    }
    pattern_error(error, options)
}
