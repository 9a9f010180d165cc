//! Arguments as models send them → arguments as a tool's schema has them.
//!
//! Driven by the schema: spellings from other tools are renamed, scalars are read leniently, `null`
//! means the default, and an unknown name is refused with the nearest known one. Nothing is ignored
//! silently.

use std::sync::LazyLock;

use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::{Map, Number, Value, json};
use text_file::{EncodingLabel, LabelError, nearest_name::did_you_mean, shorten};
use tree_search::name_glob::join_globs;

use super::{
    super::read::selection::names_part,
    error::ToolError,
    tool::{Alias, FlagValue, Spec},
    unknown_argument::unknown,
};

const MAX_ARGUMENTS: usize = 50;
/// Lists and objects within one another in the arguments of one call.
const MAX_NESTING: usize = 8;

/// Brings `arguments` into the schema's own names and types.
///
/// # Errors
/// `invalid_input`, naming the argument and the value, for what cannot be read.
pub(crate) fn normalise(
    arguments: Map<String, Value>,
    schema: &Map<String, Value>,
    spec: &Spec,
) -> Result<Map<String, Value>, ToolError> {
    let none = Map::new();
    let properties = schema.get("properties").and_then(Value::as_object).unwrap_or(&none);
    let mut typed = Map::new();
    if arguments.is_empty()
        && let Some(error) = no_arguments(spec, properties)
    {
        return Err(error);
    }
    for (name, value) in renamed(arguments, properties, spec)? {
        let property = properties.get(&name).and_then(Value::as_object);
        let value = match property {
            Some(property) => read(&name, value, property, spec)?,
            None => Some(value),
        };
        if let Some(value) = value {
            typed.insert(name, value);
        }
    }
    let required = schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    let absent = required.into_iter().find(|name| !typed.contains_key(*name));
    absent.map_or(Ok(typed), |name| Err(missing(name, spec)))
}

fn renamed(
    arguments: Map<String, Value>,
    properties: &Map<String, Value>,
    spec: &Spec,
) -> Result<Map<String, Value>, ToolError> {
    let mut out = Map::new();
    for (given, value) in arguments {
        if properties.contains_key(&given) {
            insert(&mut out, &given, value)?;
            continue;
        }
        // The objects inside a list have properties of their own: `edits[0]` has no `path`.
        let known = |alias: &&Alias| alias.name.is_none_or(|name| properties.contains_key(name));
        match spec.aliases().filter(known).find(|alias| alias.given.contains(&given.as_str())) {
            Some(Alias { name: Some(name), flag: None, .. }) => insert(&mut out, name, value)?,
            Some(Alias { name: Some(name), flag: Some(meaning), .. }) => match (lenient_bool(&value), meaning) {
                (Some(true), FlagValue::Text(word)) => insert(&mut out, name, (*word).into())?,
                (Some(false), FlagValue::Text(_)) => {}
                (Some(truth), FlagValue::Bool(meant)) => insert(&mut out, name, (truth == *meant).into())?,
                (None, _) if value.is_null() => {}
                (None, _) => return Err(wrong_type(&given, "true or false", &value, spec)),
            },
            Some(Alias { name: None, .. }) => {}
            // DeerFlow's own tools teach models to send a description first.
            None if given == "description" => {}
            None => return Err(unknown(&given, properties, spec)),
        }
    }
    Ok(out)
}

/// Refuses what no honest call holds before anything looks at it closely.
///
/// # Errors
/// `invalid_input`, for too many arguments and for lists or objects too deep in one another.
pub(crate) fn bounded(arguments: &Map<String, Value>) -> Result<(), ToolError> {
    let count = arguments.len();
    if count > MAX_ARGUMENTS {
        return Err(ToolError::invalid(format!("{count} arguments were sent; a call takes at most {MAX_ARGUMENTS}"))
            .hint("send only what the tool's schema names"));
    }
    let Some((name, _)) = arguments.iter().find(|(_, value)| is_deeper(value, MAX_NESTING)) else { return Ok(()) };
    let sentence = format!("`{}` has lists or objects nested more than {MAX_NESTING} levels deep", clip(name));
    Err(ToolError::invalid(sentence).hint("send it as the tool's schema describes it"))
}

fn is_deeper(value: &Value, limit: usize) -> bool {
    match value {
        Value::Array(list) => limit == 0 || list.iter().any(|inner| is_deeper(inner, limit - 1)),
        Value::Object(object) => limit == 0 || object.values().any(|inner| is_deeper(inner, limit - 1)),
        _ => false,
    }
}

pub(crate) fn decode<T: DeserializeOwned>(arguments: Map<String, Value>) -> Result<T, ToolError> {
    serde_json::from_value(Value::Object(arguments))
        .map_err(|error| ToolError::invalid(format!("unusable arguments: {error}")).hint("correct it and call again"))
}

/// Two spellings of one argument must agree; `null` never competes.
fn insert(out: &mut Map<String, Value>, name: &str, value: Value) -> Result<(), ToolError> {
    match out.get(name).filter(|other| !other.is_null()) {
        None => drop(out.insert(name.to_owned(), value)),
        Some(other) if value.is_null() || same(other, &value) => {}
        Some(other) => {
            let values = format!("{} and {}", value_text(other), value_text(&value));
            let sentence = format!("`{name}` was given under two spellings with different values ({values})");
            return Err(ToolError::invalid(sentence).hint(format!("send only {name}")));
        }
    }
    Ok(())
}

/// Equal up to lenient spelling: `5` and `"5"` are one value.
fn same(a: &Value, b: &Value) -> bool {
    let plain = |value: &Value| match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    a == b || plain(a) == plain(b)
}

/// Reads `value` as the property's type; `None` means "use the default".
///
/// # Errors
/// `invalid_input`, naming the argument, the value and what is expected.
fn read(name: &str, value: Value, property: &Map<String, Value>, spec: &Spec) -> Result<Option<Value>, ToolError> {
    let wrong = |wanted, value: &Value| wrong_type(name, wanted, value, spec);
    Ok(Some(match property.get("type").and_then(Value::as_str) {
        _ if value.is_null() => return Ok(None),
        Some("array") => list(name, value, property, spec)?,
        Some("integer") => Value::Number(lenient_integer(&value).ok_or_else(|| wrong("a whole number", &value))?),
        Some("boolean") => Value::Bool(lenient_bool(&value).ok_or_else(|| wrong("true or false", &value))?),
        Some("string") => {
            let text = match value {
                Value::Array(_) | Value::String(_) if spec.globs.contains(&name) && is_list(&value) => {
                    let parts = list(name, value, &LIST_OF_TEXTS, spec)?;
                    let parts = parts.as_array().into_iter().flatten().filter_map(Value::as_str);
                    join_globs(parts)
                }
                Value::String(text) => text,
                // A number or truth value where text is asked for: `pattern: 404`.
                Value::Number(number) => number.to_string(),
                Value::Bool(truth) => truth.to_string(),
                other => return Err(wrong("a text", &other)),
            };
            Value::String(one_of(name, text, property, spec)?)
        }
        _ => value,
    }))
}

/// The schema of a list of which the items are texts.
static LIST_OF_TEXTS: LazyLock<Map<String, Value>> =
    LazyLock::new(|| Map::from_iter([("items".to_owned(), serde_json::json!({ "type": "string" }))]));

fn is_list(value: &Value) -> bool {
    let is_json = |text: &str| text.trim_start().starts_with('[') && serde_json::from_str::<Vec<String>>(text).is_ok();
    value.is_array() || value.as_str().is_some_and(is_json)
}

fn list(name: &str, value: Value, property: &Map<String, Value>, spec: &Spec) -> Result<Value, ToolError> {
    let schema = property.get("items").and_then(Value::as_object);
    let is = |kind: &str| schema.and_then(|schema| schema.get("type")).is_some_and(|of| of == kind);
    let items = match value {
        Value::Array(items) => items,
        // Some providers send nested arguments as JSON text.
        Value::String(ref text) => match parse_exact(text) {
            Ok(Value::Array(items)) => items,
            Ok(Value::Object(item)) => vec![Value::Object(item)],
            // One text where a list of texts is asked for.
            _ if is("string") => vec![value],
            _ if is_cut_json(text) => return Err(cut_text(name)),
            _ => return Err(wrong_type(name, "a list", &value, spec)),
        },
        Value::Object(item) => vec![Value::Object(item)],
        other => return Err(wrong_type(name, "a list", &other, spec)),
    };
    let Some(schema) = schema else { return Ok(Value::Array(items)) };
    let mut read_items = Vec::with_capacity(items.len());
    for (index, item) in items.into_iter().enumerate() {
        let place = format!("{name}[{index}]");
        // One by one as JSON text.
        let item = match item {
            Value::String(text) if text.trim_start().starts_with('{') => match parse_exact(&text) {
                Ok(Value::Object(item)) => Value::Object(item),
                _ if is("object") && is_cut_json(&text) => return Err(cut_text(&place)),
                _ => Value::String(text),
            },
            other => other,
        };
        match item {
            Value::Object(item) if is("string") => {
                read_items.push(selected_path(item, spec).map_err(|error| error.within(&place))?);
            }
            Value::Object(item) => {
                let item = normalise(item, schema, spec).map_err(|error| error.within(&place))?;
                read_items.push(Value::Object(item));
            }
            other if is("object") => {
                return Err(wrong_type(&place, "an object", &other, spec));
            }
            other => read_items.extend(read(&place, other, schema, spec)?),
        }
    }
    Ok(Value::Array(read_items))
}

/// The path with its selection, as `src/a.rs:120-180`, for an object that names both.
fn selected_path(item: Map<String, Value>, spec: &Spec) -> Result<Value, ToolError> {
    let known = json!({ "properties": {
        "path": { "type": "string" }, "part": { "type": "string" }, "ranges": {}, "offset": { "type": "integer" },
        "limit": { "type": "integer" }, "start_line": { "type": "integer" }, "end_line": { "type": "integer" },
    }, "required": ["path"] });
    let mut renamed = Map::new();
    for (name, value) in item {
        let is_ranges = ["line_ranges", "lines", "line_range", "range", "lineRanges"].contains(&name.as_str());
        insert(&mut renamed, if is_ranges { "ranges" } else { &name }, value)?;
    }
    let item = normalise(renamed, known.as_object().unwrap_or(&Map::new()), spec)?;
    let number = |name: &str| item.get(name).and_then(Value::as_i64);
    let text = |name: &str| item.get(name).and_then(Value::as_str).filter(|text| !text.trim().is_empty());
    let range =
        |first: i64, last: Option<i64>| format!("{first}-{}", last.map(|last| last.to_string()).unwrap_or_default());
    let limit = number("limit").filter(|limit| *limit > 0);
    let named = [
        // After a path only what begins with the word for it is a part: the name alone of a heading or a sheet is not.
        text("part").map(|part| if names_part(part) { part.to_owned() } else { format!("section {part}") }),
        item.get("ranges").and_then(range_text),
        number("start_line")
            .or(number("end_line"))
            .map(|_| range(number("start_line").unwrap_or(1), number("end_line"))),
        number("offset").filter(|offset| *offset != 0).or(limit).map(|_| {
            let offset = number("offset").unwrap_or(0);
            range(offset + 1, limit.map(|limit| offset.saturating_add(limit)))
        }),
    ];
    let path = text("path").unwrap_or_default();
    let several = "it names the lines or the part in several ways";
    match named.into_iter().flatten().collect::<Vec<_>>().as_slice() {
        [] => Ok(path.into()),
        [_] if number("offset").is_some_and(|offset| offset < 0) => {
            Err(ToolError::invalid("a negative `offset` is for one file").hint("read it alone, with path and offset"))
        }
        [one] => Ok(format!("{path}:{one}").into()),
        _ => Err(ToolError::invalid(several).hint("name them once, as in src/a.rs:120-180")),
    }
}

/// `10-40,60-80` for ranges of lines as texts, pairs or objects; `None` where there are none.
fn range_text(value: &Value) -> Option<String> {
    match value {
        Value::Array(list) if list.len() == 2 && list.iter().all(Value::is_number) => {
            Some(format!("{}-{}", list[0], list[1]))
        }
        Value::Array(list) => {
            let ranges: Vec<String> = list.iter().filter_map(range_text).collect();
            (!ranges.is_empty()).then(|| ranges.join(","))
        }
        Value::Object(range) => {
            let end = |names: [&str; 3]| names.iter().find_map(|name| range.get(*name)).and_then(range_text);
            let (first, last) = (end(["start_line", "start", "first"]), end(["end_line", "end", "last"]));
            Some(format!("{}-{}", first.unwrap_or_else(|| "1".to_owned()), last.unwrap_or_default()))
        }
        Value::String(text) => Some(text.trim().to_owned()).filter(|text| !text.is_empty()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// Arguments that can be so long that a call is cut within them, and how such a text is sent.
const LONG_ARGUMENTS: &[(&str, &str)] = &[
    (
        "content",
        "if the text is long, write its first part with mode=overwrite, then each other part with mode=append \
         and at= the size that the answer before names",
    ),
    (
        "new_string",
        "to delete text, pass new_string=\"\"; if the new text is long, put in its first part, and the other \
         parts after it with more calls",
    ),
    ("patch", "if the patch is long, send it in several calls, a few files or hunks in each"),
];

/// The error for an argument that a call needs and does not have.
pub(crate) fn missing(name: &str, spec: &Spec) -> ToolError {
    match LONG_ARGUMENTS.iter().find(|(long, _)| *long == name) {
        Some((_, next)) => {
            ToolError::invalid(format!("the argument `{name}` is missing; the request may have been cut")).hint(*next)
        }
        None => ToolError::invalid(format!("the argument `{name}` is missing"))
            .hint(format!("call {} again with {name}", spec.name)),
    }
}

/// The error for a call without any argument, where its tool takes a long one: those that were sent are lost.
fn no_arguments(spec: &Spec, properties: &Map<String, Value>) -> Option<ToolError> {
    let (_, next) = LONG_ARGUMENTS.iter().find(|(name, _)| properties.contains_key(*name))?;
    let sentence = format!("no arguments for {} arrived; the request may have been cut", spec.name);
    Some(ToolError::invalid(sentence).hint("call it again with all its arguments").hint(*next))
}

pub fn is_cut_json(text: &str) -> bool {
    text.trim_start().starts_with(['{', '[']) && serde_json::from_str::<Value>(text).is_err_and(|error| error.is_eof())
}

/// The error for the argument `name` that was sent as JSON text and ends too early.
fn cut_text(name: &str) -> ToolError {
    ToolError::invalid(format!("`{name}` is JSON text that ends too early; the request may have been cut"))
        .hint("nothing was changed; send it again, with fewer or shorter entries in each call")
}

fn one_of(name: &str, text: String, property: &Map<String, Value>, spec: &Spec) -> Result<String, ToolError> {
    let Some(choices) = property.get("enum").and_then(Value::as_array) else { return Ok(text) };
    let choices: Vec<&str> = choices.iter().filter_map(Value::as_str).collect();
    let wanted = text.trim();
    let found = choices.iter().find(|choice| choice.eq_ignore_ascii_case(wanted));
    found.map(|choice| (*choice).to_owned()).ok_or_else(|| {
        let message = format!("`{name}` must be one of {}, not {:?}", choices.join(", "), clip(wanted));
        ToolError::invalid(message).hint(format!("call {} again with one of them, or without {name}", spec.name))
    })
}

fn lenient_integer(value: &Value) -> Option<Number> {
    // 2^53: beyond it a double no longer holds every whole number.
    const MAX_EXACT_INTEGER: f64 = 9_007_199_254_740_992.0;
    let from_float = |float: f64| {
        #[expect(clippy::cast_possible_truncation, reason = "checked to be whole and within ±2^53")]
        (float.fract() == 0.0 && float.abs() <= MAX_EXACT_INTEGER).then(|| Number::from(float as i64))
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

fn lenient_bool(value: &Value) -> Option<bool> {
    let truth = |number: f64| [0.0, 1.0].contains(&number).then_some(number > 0.0);
    match value {
        Value::Bool(truth) => Some(*truth),
        Value::String(text) => match text.trim().to_ascii_lowercase().as_str() {
            "true" | "yes" => Some(true),
            "false" | "no" | "" => Some(false),
            number => truth(number.parse().ok()?),
        },
        Value::Number(number) => truth(number.as_f64()?),
        _ => None,
    }
}

fn wrong_type(name: &str, wanted: &str, value: &Value, spec: &Spec) -> ToolError {
    // A number may have come as the text of its spelling.
    let number = value
        .as_str()
        .filter(|text| serde_json::from_str::<IgnoredAny>(text).is_ok())
        .filter(|text| text.starts_with(|first: char| first == '-' || first.is_ascii_digit()));
    let shown = number.map_or_else(|| value_text(value), clip);
    ToolError::invalid(format!("`{name}` must be {wanted}, not {shown}"))
        .hint(format!("call {} again with {name} as {wanted}", spec.name))
}

fn value_text(value: &Value) -> String {
    clip(&value.to_string())
}

/// An argument's value or name as an error repeats it: at most 80 characters.
fn clip(text: &str) -> String {
    shorten(text, 80).into_owned()
}

/// Characters of an unknown label that the error repeats.
const MAX_LABEL: usize = 64;

/// Parses the argument `encoding`.
///
/// # Errors
/// `invalid_input` with the nearest labels.
pub(crate) fn encoding(label: &str) -> Result<EncodingLabel, ToolError> {
    EncodingLabel::parse(label).map_err(|LabelError { nearest }| {
        let nearest = did_you_mean(nearest).map(|question| format!("{question} ")).unwrap_or_default();
        ToolError::invalid(format!("unknown encoding {:?}", shorten(label, MAX_LABEL))).hint(format!(
            "{nearest}use a WHATWG label such as utf-8, utf-16le, windows-1252, shift_jis or gb18030, or leave it out"
        ))
    })
}

/// Reads JSON with its numbers as [`quote_numbers`] has them.
///
/// # Errors
/// Those of the parser.
pub fn parse_exact<T: DeserializeOwned>(json: &str) -> Result<T, serde_json::Error> {
    quote_numbers(json.as_bytes()).map_or_else(|| serde_json::from_str(json), |quoted| serde_json::from_slice(&quoted))
}

/// The JSON text with each number quoted whose value would not be printed as it is spelled; `None` where
/// there is none, as in nearly every text. What is not JSON stays what it is.
///
/// A parser keeps the value of a number and forgets its spelling, so `1.10` sent as the content of a file
/// would be written as `1.1`, and `12345678901234567890123` as `1.2345678901234568e+22`. The arguments of a
/// call are therefore read with every such number as a text; scalars are read leniently after that, so that
/// nothing else changes.
pub fn quote_numbers(json: &[u8]) -> Option<Vec<u8>> {
    let mut quoted: Option<Vec<u8>> = None;
    // Up to where `json` has been copied into `quoted`.
    let (mut copied, mut at) = (0, 0);
    while at < json.len() {
        match json[at] {
            b'"' => at = end_of_string(json, at),
            b'-' | b'0'..=b'9' => {
                let is_part = |byte: &u8| matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E');
                let end = at + json[at..].iter().take_while(|byte| is_part(byte)).count();
                if changes(&json[at..end]) {
                    let out = quoted.get_or_insert_with(|| Vec::with_capacity(json.len() + 16));
                    out.extend_from_slice(&json[copied..at]);
                    out.push(b'"');
                    out.extend_from_slice(&json[at..end]);
                    out.push(b'"');
                    copied = end;
                }
                at = end;
            }
            _ => at += 1,
        }
    }
    let mut out = quoted?;
    out.extend_from_slice(&json[copied..]);
    Some(out)
}

fn end_of_string(json: &[u8], at: usize) -> usize {
    let mut here = at + 1;
    loop {
        match json.get(here..).and_then(|rest| memchr::memchr2(b'"', b'\\', rest)) {
            None => return json.len(),
            Some(found) if json[here + found] == b'"' => return here + found + 1,
            Some(found) => here += found + 2,
        }
    }
}

fn changes(token: &[u8]) -> bool {
    // An integer of the usual length, which is nearly every number.
    if token.len() < 19 && token.iter().all(u8::is_ascii_digit) {
        return false;
    }
    // The grammar alone first: 1e400 is a number that no double holds.
    serde_json::from_slice::<IgnoredAny>(token).is_ok()
        && serde_json::from_slice::<Number>(token).map_or(true, |number| number.to_string().as_bytes() != token)
}

#[cfg(test)]
mod tests {
    use crate::Group;

    use super::*;

    const SPEC: Spec = Spec {
        name: "sample",
        title: "",
        purpose: "",
        description: "",
        group: Group::Core,
        aliases: &[&[
            Alias::names("path", &["file_path"]),
            Alias::names("max_results", &["limit"]),
            Alias::flags("case_sensitive", FlagValue::Bool(false), &["-i"]),
            Alias::ignored(&["-n"]),
        ]],
        ..Spec::READS
    };

    fn normalised(arguments: Value) -> Result<Value, String> {
        let schema = json!({
            "type": "object",
            "properties": {
                "path": {"type": "string"}, "max_results": {"type": "integer"}, "case_sensitive": {"type": "boolean"},
                "mode": {"type": "string", "enum": ["one", "two"]},
                "edits": {"type": "array", "items": {"type": "object", "properties": {"max_results": {"type": "integer"}}}},
            },
            "required": ["path"],
        });
        let (Value::Object(arguments), Value::Object(schema)) = (arguments, schema) else {
            unreachable!("objects above")
        };
        normalise(arguments, &schema, &SPEC).map(Value::Object).map_err(|error| error.text())
    }

    #[test]
    fn very_long_argument_name_gets_no_suggestion() {
        let error = normalised(json!({ "path": "a", "paths".repeat(1 << 20): 1 })).unwrap_err();
        assert!(error.contains("sample takes: ") && !error.contains("did you mean"), "{error}");
    }

    #[test]
    fn scalars_are_read_leniently() {
        for n in [json!(20), json!("20"), json!(20.0), json!(" 20 "), json!("20.0")] {
            assert_eq!(
                normalised(json!({"path": "a", "max_results": n})).unwrap(),
                json!({"path": "a", "max_results": 20})
            );
        }
        for b in [json!(true), json!("true"), json!("True"), json!(1)] {
            assert_eq!(normalised(json!({"path": "a", "case_sensitive": b})).unwrap()["case_sensitive"], json!(true));
        }
        assert_eq!(normalised(json!({"path": 404, "mode": " TWO"})).unwrap(), json!({"path": "404", "mode": "two"}));
    }

    #[test]
    fn null_means_the_default() {
        assert_eq!(normalised(json!({"path": "a", "max_results": null})).unwrap(), json!({"path": "a"}));
    }

    #[test]
    fn other_spellings_are_renamed_at_every_depth() {
        assert_eq!(
            normalised(json!({"file_path": "a", "limit": "3", "-i": true, "-n": true, "description": "why", "edits": [{"limit": "4"}]})).unwrap(),
            json!({"path": "a", "max_results": 3, "case_sensitive": false, "edits": [{"max_results": 4}]})
        );
    }

    #[test]
    fn a_flag_that_is_off_means_the_opposite() {
        assert_eq!(normalised(json!({"path": "a", "-i": false})).unwrap()["case_sensitive"], json!(true));
        assert!(normalised(json!({"path": "a", "-i": true, "case_sensitive": true})).is_err());
    }

    #[test]
    fn two_spellings_with_different_values_are_an_error() {
        assert!(normalised(json!({"path": "a", "file_path": "b"})).unwrap_err().contains("different values"));
        assert!(normalised(json!({"path": "a", "file_path": "a", "max_results": 5, "limit": "5"})).is_ok());
    }

    #[test]
    fn an_unknown_argument_is_refused_with_the_nearest_name() {
        let error = normalised(json!({"path": "a", "max_result": 5})).unwrap_err();
        assert!(
            error.starts_with("unknown argument `max_result`") && error.contains("did you mean `max_results`?"),
            "{error}"
        );
        let error = normalised(json!({"path": "a", "zzz": 5})).unwrap_err();
        assert!(error.contains("takes: path, max_results"), "{error}");
    }

    #[test]
    fn what_cannot_be_read_is_named_with_its_value() {
        assert_eq!(
            normalised(json!({"path": "a", "max_results": "ten"})).unwrap_err(),
            "`max_results` must be a whole number, not \"ten\"\n\n\
             hint: call sample again with max_results as a whole number"
        );
        for (arguments, said) in [
            (json!({"path": "a", "max_results": 1.5}), "`max_results` must be a whole number, not 1.5\n"),
            (json!({"path": {}}), "`path` must be a text, not {}\n"),
            (json!({"path": "a", "mode": "three"}), "`mode` must be one of one, two, not \"three\"\n"),
            (json!({"mode": "one"}), "the argument `path` is missing\n"),
            (json!({"path": "a", "edits": [3]}), "`edits[0]` must be an object, not 3\n"),
            (
                json!({"path": "a", "edits": [{"limit": "x"}]}),
                "in edits[0]: `max_results` must be a whole number, not \"x\"\n",
            ),
            (json!({"path": "a", "edits": [{"file_path": "b"}]}), "in edits[0]: unknown argument `file_path`"),
        ] {
            let error = normalised(arguments).unwrap_err();
            assert!(error.starts_with(said) && error.contains("\n\nhint: "), "{error}");
        }
    }

    fn quoted(json: &str) -> Option<String> {
        quote_numbers(json.as_bytes()).map(|bytes| String::from_utf8(bytes).unwrap())
    }

    #[test]
    fn numbers_that_would_be_printed_otherwise_are_quoted() {
        for number in [
            "1.10",
            "1e5",
            "1E+2",
            "-0",
            "1.0e0",
            "12345678901234567890123",
            "-12345678901234567890",
            "1e400",
            "0.10",
            "0.1000000000000000055511151231257827",
            "1e-07",
            "100000000000000000000.0",
        ] {
            let json = format!(r#"{{"a":{number},"b":[{number}, "{number}"]}}"#);
            let expected = format!(r#"{{"a":"{number}","b":["{number}", "{number}"]}}"#);
            assert_eq!(quoted(&json), Some(expected));
        }
    }

    #[test]
    fn other_numbers_and_text_stay_as_they_are() {
        for json in [
            "17",
            "-17",
            "0",
            "1.5",
            "-0.0",
            "1.0",
            "18446744073709551615",
            "-9223372036854775808",
            r#"{"a":"1.10"}"#,
            r#""say \"1.10\" \\""#,
            r#"["\\",2]"#,
            "true",
            "",
            "\"1.10",
            "\"\\",
        ] {
            assert_eq!(quoted(json), None, "{json}");
        }
    }

    #[test]
    fn what_is_no_number_is_not_made_a_text() {
        for json in ["1.", "01", "-", "1.e5", "--1", "1e", "1.10.1"] {
            assert_eq!(quoted(json), None, "{json}");
        }
    }
}
