//! Scalars as models send them, read as the type that the schema asks for: `"20"` and 20.0 are 20.

use serde::de::IgnoredAny;
use serde_json::{Map, Number, Value};

use text_file::shorten;

use super::super::{Spec, ToolError};

/// Reads `value` as the property's type.
///
/// # Errors
/// `invalid_input`, naming the argument, the value and what is expected.
pub(super) fn scalar(name: &str, value: Value, property: &Map<String, Value>, spec: &Spec) -> Result<Value, ToolError> {
    Ok(match property.get("type").and_then(Value::as_str) {
        Some("integer") => {
            Value::Number(lenient_integer(&value).ok_or_else(|| wrong_type(name, "a whole number", &value, spec))?)
        }
        Some("boolean") => {
            Value::Bool(lenient_bool(&value).ok_or_else(|| wrong_type(name, "true or false", &value, spec))?)
        }
        Some("string") => {
            let text = match value {
                Value::String(text) => text,
                // A number or truth value where text is asked for: `pattern: 404`.
                Value::Number(number) => number.to_string(),
                Value::Bool(truth) => truth.to_string(),
                other => return Err(wrong_type(name, "a text", &other, spec)),
            };
            Value::String(one_of(name, text, property, spec)?)
        }
        _ => value,
    })
}

/// Checks an enumeration, forgiving case and surrounding white space.
fn one_of(name: &str, text: String, property: &Map<String, Value>, spec: &Spec) -> Result<String, ToolError> {
    let Some(choices) = property.get("enum").and_then(Value::as_array) else { return Ok(text) };
    let choices: Vec<&str> = choices.iter().filter_map(Value::as_str).collect();
    let wanted = text.trim();
    choices.iter().find(|choice| choice.eq_ignore_ascii_case(wanted)).map(|choice| (*choice).to_owned()).ok_or_else(
        || {
            let said = format!("`{name}` must be one of {}, not {:?}", choices.join(", "), clip(wanted));
            ToolError::invalid(said).hint(format!("call {} again with one of them, or without {name}", spec.name))
        },
    )
}

fn lenient_integer(value: &Value) -> Option<Number> {
    // 2^53: beyond it a double no longer holds every whole number.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    let from_float = |float: f64| {
        #[expect(clippy::cast_possible_truncation, reason = "checked to be whole and within ±2^53")]
        (float.fract() == 0.0 && float.abs() <= EXACT).then(|| Number::from(float as i64))
    };
    match value {
        Value::Number(number) if number.is_i64() => Some(number.clone()),
        // Larger than any length or count there can be: as far as it goes.
        Value::Number(number) if number.is_u64() => Some(Number::from(i64::MAX)),
        Value::Number(number) => from_float(number.as_f64()?),
        Value::String(text) => {
            let text = text.trim();
            text.parse::<i64>().map(Number::from).ok().or_else(|| from_float(text.parse().ok()?))
        }
        _ => None,
    }
}

pub(super) fn lenient_bool(value: &Value) -> Option<bool> {
    match value {
        Value::Bool(truth) => Some(*truth),
        Value::String(text) => match text.trim().to_ascii_lowercase().as_str() {
            "true" | "yes" => Some(true),
            "false" | "no" | "" => Some(false),
            number => number.parse().ok().and_then(truth),
        },
        Value::Number(number) => truth(number.as_f64()?),
        _ => None,
    }
}

fn truth(number: f64) -> Option<bool> {
    match number {
        0.0 => Some(false),
        1.0 => Some(true),
        _ => None,
    }
}

pub(super) fn wrong_type(name: &str, wanted: &str, value: &Value, spec: &Spec) -> ToolError {
    // A number may have come as the text of its spelling.
    let number = value
        .as_str()
        .filter(|text| serde_json::from_str::<IgnoredAny>(text).is_ok())
        .filter(|text| text.starts_with(|first: char| first == '-' || first.is_ascii_digit()));
    let shown = number.map_or_else(|| shown(value), clip);
    ToolError::invalid(format!("`{name}` must be {wanted}, not {shown}"))
        .hint(format!("call {} again with {name} as {wanted}", spec.name))
}

pub(super) fn shown(value: &Value) -> String {
    clip(&value.to_string())
}

/// What is repeated of an argument in an error.
pub(super) fn clip(text: &str) -> String {
    shorten(text, 80).into_owned()
}
