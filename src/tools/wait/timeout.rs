//! The time that a call may wait, as models write it: `45`, `"45"`, `45s`, `2 min`.

use std::time::Duration;

use serde_json::Value;
use text_file::shorten;

use crate::tools::ToolError;

/// The wait without the argument.
pub(super) const DEFAULT: Duration = Duration::from_secs(45);
/// Longer than any wait.
const ENDLESS: Duration = Duration::from_secs(u32::MAX as u64);

/// Reads the argument; any time however long is one, which the caller cuts.
///
/// # Errors
/// `invalid_input` for what is no number of seconds, or a negative one.
pub(super) fn parse(given: Option<&Value>) -> Result<Duration, ToolError> {
    let wrong = |given: &Value| {
        ToolError::invalid(format!("`timeout` must be a number of seconds, not {}", shorten(&given.to_string(), 80)))
            .hint("call wait again with timeout=45, or without timeout")
    };
    let Some(given) = given else { return Ok(DEFAULT) };
    let seconds = match given {
        Value::Null => return Ok(DEFAULT),
        Value::Number(number) => number.as_f64(),
        Value::String(text) => seconds_of(text),
        _ => None,
    };
    let seconds = seconds.filter(|seconds| *seconds >= 0.0).ok_or_else(|| wrong(given))?;
    Ok(Duration::try_from_secs_f64(seconds).unwrap_or(ENDLESS).min(ENDLESS))
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
pub(super) fn shown(time: Duration) -> String {
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
            (json!(1e18), ENDLESS.as_secs_f64()),
            (json!("1e400"), ENDLESS.as_secs_f64()),
            (json!("inf"), ENDLESS.as_secs_f64()),
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
        let text = |seconds| shown(Duration::from_secs_f64(seconds));
        assert_eq!(
            [text(0.0), text(0.31), text(3.0), text(45.003), text(12.4)],
            ["0 s", "0.3 s", "3 s", "45 s", "12 s"]
        );
    }
}
