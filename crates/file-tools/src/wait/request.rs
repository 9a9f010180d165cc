//! The arguments of `wait`, checked and compiled.

use std::time::{Duration, Instant};

use confined_fs::{RevisionError, RevisionPrefix, WorkspacePath};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use text_file::shorten;
use tree_search::{Pattern, PatternError, PatternOptions};

use super::super::{CallContext, ToolError, grep::pattern_error};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NewFrom {
    Now,
    Offset(usize),
    /// After the content with this revision, with its length in bytes where that is known.
    Since(RevisionPrefix, Option<u64>),
}

#[derive(Debug)]
pub(super) struct WaitRequest {
    pub(super) path: WorkspacePath,
    /// `None` where it depends on what is at the path.
    pub(super) until: Option<Until>,
    pub(super) pattern: Option<Pattern>,
    pub(super) new_from: NewFrom,
    pub(super) limit: Duration,
    pub(super) asked: Option<Duration>,
    pub(super) cap: String,
    pub(super) started: Instant,
}

impl WaitRequest {
    /// Reads the arguments of one call.
    ///
    /// # Errors
    /// `invalid_input` for what cannot be used, and for arguments that contradict each other.
    pub(super) fn read(cx: &CallContext, args: Args) -> Result<Self, ToolError> {
        // What is to appear is not there yet, and what is to go may have gone, whatever else has its name.
        let path = match args.until {
            Some(Until::Appears | Until::Gone) => cx.workspace.resolve(&args.path)?,
            _ => cx.awaited(&args.path)?,
        };
        let asked = parse(args.timeout.as_ref())?;
        let limit = asked.min(cx.longest_wait.limit);
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
            (None, Some(since)) => {
                let with_length =
                    since.split_once(':').and_then(|(rev, length)| Some((rev, length.trim().parse().ok()?)));
                let (rev, length) = with_length.map_or((since, None), |(rev, length)| (rev, Some(length)));
                let rev = rev.parse().map_err(|error: RevisionError| {
                    ToolError::invalid(format!("`since` is no rev: {error}"))
                        .hint("copy a rev from an answer of read or wait, or use offset")
                })?;
                NewFrom::Since(rev, length)
            }
            (None, None) => NewFrom::Now,
        };
        let pattern = args.pattern.filter(|pattern| !pattern.is_empty());
        // As the schema has it.
        let name = |until: Until| format!("{until:?}").to_ascii_lowercase();
        match args.until {
            Some(until @ (Until::Appears | Until::Gone)) if new_from != NewFrom::Now => {
                let why = format!("`offset` and `since` are about new lines, and until={} waits for none", name(until));
                return Err(ToolError::invalid(why).hint("leave them out, or use until=line"));
            }
            Some(until) if until != Until::Line && pattern.is_some() => {
                let why = format!("`pattern` is about new lines, and until={} waits for something else", name(until));
                return Err(ToolError::invalid(why).hint("leave until out to wait for a line that matches pattern"));
            }
            _ => {}
        }
        let options = PatternOptions {
            literal: args.literal.unwrap_or(false),
            case_sensitive: args.case_sensitive.unwrap_or(false),
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

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    /// File or directory to wait for. It need not exist yet.
    pub(super) path: String,
    /// What to wait for: a new line (matching pattern), that path appears, changes in any way, or is gone. Default: line
    /// with pattern; else appears if nothing is there, else changes.
    pub(super) until: Option<Until>,
    /// Regular expression (Rust syntax) for a new line; in a directory, for the name of a new or changed entry.
    pub(super) pattern: Option<String>,
    /// Take pattern as plain text, not as a regular expression. Default: false.
    pub(super) literal: Option<bool>,
    /// Match upper and lower case exactly. Default: false.
    pub(super) case_sensitive: Option<bool>,
    /// Seconds to wait at most. Default: 45.
    #[schemars(with = "Option<f64>")]
    pub(super) timeout: Option<Value>,
    /// Lines that you have: later ones count as new, also those that are there already. Take it from the last line of the
    /// answer before. Default: all lines that are there.
    pub(super) offset: Option<i64>,
    /// A rev of the file that you have, instead of offset.
    pub(super) since: Option<String>,
}

#[derive(Clone, Copy, Debug, Deserialize, Serialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Until {
    /// A new line.
    Line,
    /// Something is there.
    Appears,
    /// It is not what it was.
    Changes,
    /// Nothing is there.
    Gone,
}

// The time that a call may wait, as models write it: `45`, `"45"`, `45s`, `2 min`.

// Below the 60 s after which most clients end a call.
pub(super) const DEFAULT_TIMEOUT: Duration = Duration::from_secs(45);
/// Longer than any wait.
// Not `Duration::MAX`: added to an `Instant` that panics.
const ENDLESS_TIMEOUT: Duration = Duration::from_secs(u32::MAX as u64);

/// Reads the argument; any time however long is one, which the caller cuts.
///
/// # Errors
/// `invalid_input` for what is no number of seconds, or a negative one.
pub(super) fn parse(given: Option<&Value>) -> Result<Duration, ToolError> {
    let wrong = |given: &Value| {
        ToolError::invalid(format!("`timeout` must be a number of seconds, not {}", shorten(&given.to_string(), 80)))
            .hint("call wait again with timeout=45, or without timeout")
    };
    let Some(given) = given else { return Ok(DEFAULT_TIMEOUT) };
    let seconds = match given {
        Value::Null => return Ok(DEFAULT_TIMEOUT),
        Value::Number(number) => number.as_f64(),
        Value::String(text) => seconds_of(text),
        _ => None,
    };
    let seconds = seconds.filter(|seconds| *seconds >= 0.0).ok_or_else(|| wrong(given))?;
    Ok(Duration::try_from_secs_f64(seconds).unwrap_or(ENDLESS_TIMEOUT).min(ENDLESS_TIMEOUT))
}

/// A number with or without a unit; a NaN is none.
fn seconds_of(text: &str) -> Option<f64> {
    let text = text.trim().to_ascii_lowercase();
    if let Ok(seconds) = text.parse::<f64>() {
        return Some(seconds).filter(|seconds| !seconds.is_nan());
    }
    let unit = text.find(|character: char| character.is_ascii_alphabetic())?;
    let number: f64 = text[..unit].trim_end().parse().ok()?;
    let scale = match &text[unit..] {
        "ms" | "millis" | "milliseconds" => 0.001,
        "s" | "sec" | "secs" | "second" | "seconds" => 1.0,
        "m" | "min" | "mins" | "minute" | "minutes" => 60.0,
        "h" | "hour" | "hours" => 3600.0,
        _ => return None,
    };
    Some(number * scale)
}

/// A time as the answer has it: to a tenth of a second where it is short.
pub(super) fn duration_text(time: Duration) -> String {
    let seconds = time.as_secs_f64();
    if seconds < 10.0 && (seconds.fract() > 0.05) { format!("{seconds:.1} s") } else { format!("{seconds:.0} s") }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn times_are_read_as_models_write_them() {
        for (given, seconds) in [
            (json!(45), 45.0),
            (json!("45"), 45.0),
            (json!("45s"), 45.0),
            (json!(" 1.5 sec "), 1.5),
            (json!("200ms"), 0.2),
            (json!("2 min"), 120.0),
            (json!(0), 0.0),
            (json!(null), 45.0),
            (json!(1e18), ENDLESS_TIMEOUT.as_secs_f64()),
            (json!("1e400"), ENDLESS_TIMEOUT.as_secs_f64()),
            (json!("inf"), ENDLESS_TIMEOUT.as_secs_f64()),
        ] {
            let read = parse(Some(&given)).unwrap().as_secs_f64();
            assert!((read - seconds).abs() < 1e-6, "{given}: {read}");
        }
        for given in
            [json!(-1), json!("NaN"), json!("-0.5s"), json!("soon"), json!("45 lines"), json!([45]), json!(true)]
        {
            assert!(parse(Some(&given)).unwrap_err().text().contains("a number of seconds"), "{given}");
        }
    }

    #[test]
    fn shown_times_are_short() {
        let text = |seconds| duration_text(Duration::from_secs_f64(seconds));
        assert_eq!(
            [text(0.0), text(0.31), text(3.0), text(45.003), text(12.4)],
            ["0 s", "0.3 s", "3 s", "45 s", "12 s"]
        );
    }
}
