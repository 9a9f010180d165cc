//! Arguments as models send them → arguments as a tool's schema has them.
//!
//! Driven by the schema: spellings from other tools are renamed, scalars are read leniently, `null`
//! means the default, and an unknown name is refused with the nearest known one. Nothing is ignored
//! silently.

mod foreign;
mod spelled;

use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::{Map, Number, Value};

use crate::text::{
    nearest_name::{ONE_OF_FEW, did_you_mean, nearest_names},
    shorten,
};

use super::{Kind, Settings, Spec, ToolError};

pub use spelled::{parse as parse_spelled, quote_numbers};

/// Another spelling of an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Alias {
    /// `given` means the argument `name`.
    Name {
        /// What a model may send.
        given: &'static str,
        /// What the schema calls it.
        name: &'static str,
    },
    /// `given: true` means `name: value`; `given: false` means the opposite truth value, or the default
    /// of `name` where the value is a word.
    Flag {
        /// What a model may send.
        given: &'static str,
        /// What the schema calls it.
        name: &'static str,
        /// The value that a true flag stands for.
        value: FlagValue,
    },
    /// Accepted and without effect: it asks for what the tool does anyway.
    Ignored {
        /// What a model may send.
        given: &'static str,
    },
}

/// What a true flag stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlagValue {
    /// A truth value.
    Bool(bool),
    /// A word.
    Text(&'static str),
}

impl Alias {
    /// `given` is another name of `name`.
    pub const fn name(given: &'static str, name: &'static str) -> Self {
        Self::Name { given, name }
    }

    fn given(&self) -> &'static str {
        match self {
            Self::Name { given, .. } | Self::Flag { given, .. } | Self::Ignored { given } => given,
        }
    }

    /// The argument it stands for, if any.
    fn name_of(&self) -> Option<&'static str> {
        match self {
            Self::Name { name, .. } | Self::Flag { name, .. } => Some(name),
            Self::Ignored { .. } => None,
        }
    }
}

impl Spec {
    /// What the schema calls the argument that a model sends as `given`; none where that is no spelling of one.
    pub fn renamed(&self, given: &str) -> Option<&'static str> {
        self.aliases.iter().find_map(|alias| match alias {
            Alias::Name { given: spelling, name } if *spelling == given => Some(*name),
            _ => None,
        })
    }
}

/// Spellings of `path`, for every tool that has one.
pub const PATH_ALIASES: [Alias; 6] = [
    Alias::name("file_path", "path"),
    Alias::name("filePath", "path"),
    Alias::name("filename", "path"),
    Alias::name("file", "path"),
    Alias::name("directory", "path"),
    Alias::name("dir", "path"),
];

/// Spellings of what glob, grep and ls have in common; one of an argument that a tool lacks has no effect there.
pub const LISTING_ALIASES: [Alias; 5] = [
    Alias::name("head_limit", "max_results"),
    Alias::name("limit", "max_results"),
    Alias::name("maxResults", "max_results"),
    Alias::name("noIgnore", "no_ignore"),
    Alias::name("caseSensitive", "case_sensitive"),
];

/// Spellings of a path with a range of its lines.
pub(super) const READ_ALIASES: [Alias; 8] =
    joined(&[&PATH_ALIASES, &[Alias::name("startLine", "start_line"), Alias::name("endLine", "end_line")]]);

/// Several lists of aliases as one; `N` is how many there are in all, or this does not compile.
pub(super) const fn joined<const N: usize>(lists: &[&[Alias]]) -> [Alias; N] {
    let mut all = [Alias::Ignored { given: "" }; N];
    let (mut filled, mut list) = (0, 0);
    while list < lists.len() {
        let mut one = 0;
        while one < lists[list].len() {
            all[filled] = lists[list][one];
            filled += 1;
            one += 1;
        }
        list += 1;
    }
    assert!(filled == N, "N is not the number of aliases");
    all
}

/// Brings `arguments` into the schema's own names and types.
///
/// # Errors
/// `invalid_input`, naming the argument and the value, for what cannot be read.
pub fn normalise(
    arguments: Map<String, Value>,
    schema: &Map<String, Value>,
    spec: &Spec,
) -> Result<Map<String, Value>, ToolError> {
    let properties = properties(schema);
    let mut out = Map::new();
    for (given, value) in arguments {
        if has(properties, &given) {
            insert(&mut out, &given, value)?;
            continue;
        }
        // The objects inside a list have properties of their own: `edits[0]` has no `path`.
        let known = |alias: &&Alias| alias.name_of().is_none_or(|name| has(properties, name));
        match spec.aliases.iter().filter(known).find(|alias| alias.given() == given) {
            Some(Alias::Name { name, .. }) => insert(&mut out, name, value)?,
            Some(Alias::Flag { name, value: meaning, .. }) => match (lenient_bool(&value), meaning) {
                (Some(true), FlagValue::Text(word)) => insert(&mut out, name, (*word).into())?,
                (Some(false), FlagValue::Text(_)) => {}
                (Some(truth), FlagValue::Bool(meant)) => insert(&mut out, name, (truth == *meant).into())?,
                (None, _) if value.is_null() => {}
                (None, _) => return Err(wrong_type(&given, "true or false", &value, spec)),
            },
            Some(Alias::Ignored { .. }) => {}
            // DeerFlow's own tools teach models to send a description first.
            None if given == "description" => {}
            None => return Err(unknown(&given, properties, spec)),
        }
    }
    let mut typed = Map::new();
    for (name, value) in out {
        let property = properties.and_then(|known| known.get(&name)).and_then(Value::as_object);
        let value = match property {
            Some(property) => read(&name, value, property, spec)?,
            None => Some(value),
        };
        if let Some(value) = value {
            typed.insert(name, value);
        }
    }
    if let Some(required) = schema.get("required").and_then(Value::as_array) {
        for name in required.iter().filter_map(Value::as_str) {
            if !typed.contains_key(name) {
                if (spec.name, name) == ("write", "content") {
                    // A client that reaches its limit of output sends what it has of the arguments.
                    return Err(ToolError::invalid("the argument `content` is missing; the request may have been cut")
                        .hint(
                            "if it is long, write its first part with mode=overwrite and the others with mode=append",
                        ));
                }
                return Err(ToolError::invalid(format!("the argument `{name}` is missing"))
                    .hint(format!("call {} again with {name}", spec.name)));
            }
        }
    }
    Ok(typed)
}

/// Refuses what no honest call holds before anything looks at it closely.
///
/// # Errors
/// `invalid_input`, for too many arguments and for lists or objects too deep in one another.
pub fn bounded(arguments: &Map<String, Value>, settings: &Settings) -> Result<(), ToolError> {
    let (count, most) = (arguments.len(), settings.max_arguments);
    if count > most {
        return Err(ToolError::invalid(format!("{count} arguments were sent; a call takes at most {most}"))
            .hint("send only what the tool's schema names"));
    }
    let limit = settings.max_nesting;
    match arguments.iter().find(|(_, value)| is_deeper(value, limit)) {
        Some((name, _)) => Err(ToolError::invalid(format!(
            "`{}` holds lists or objects more than {limit} deep in one another",
            clip(name)
        ))
        .hint("send it as the tool's schema describes it")),
        None => Ok(()),
    }
}

/// Bytes of the longest unknown name that is compared with known ones: the time grows with its length.
const COMPARED: usize = 64;

fn is_deeper(value: &Value, limit: usize) -> bool {
    match value {
        Value::Array(list) => limit == 0 || list.iter().any(|inner| is_deeper(inner, limit - 1)),
        Value::Object(object) => limit == 0 || object.values().any(|inner| is_deeper(inner, limit - 1)),
        _ => false,
    }
}

/// Decodes normalised arguments.
pub fn decode<T: DeserializeOwned>(arguments: Map<String, Value>) -> Result<T, ToolError> {
    serde_json::from_value(Value::Object(arguments))
        .map_err(|error| ToolError::invalid(format!("unusable arguments: {error}")).hint("correct it and call again"))
}

fn properties(schema: &Map<String, Value>) -> Option<&Map<String, Value>> {
    schema.get("properties").and_then(Value::as_object)
}

fn has(properties: Option<&Map<String, Value>>, name: &str) -> bool {
    properties.is_some_and(|known| known.contains_key(name))
}

/// Two spellings of one argument must agree; `null` never competes.
fn insert(out: &mut Map<String, Value>, name: &str, value: Value) -> Result<(), ToolError> {
    match out.get(name) {
        Some(other) if !other.is_null() && !value.is_null() && !same(other, &value) => {
            Err(ToolError::invalid(format!(
                "`{name}` was given under two spellings with different values ({} and {})",
                shown(other),
                shown(&value)
            ))
            .hint(format!("send only {name}")))
        }
        Some(other) if !other.is_null() => Ok(()),
        _ => {
            out.insert(name.to_owned(), value);
            Ok(())
        }
    }
}

/// Equal up to lenient spelling: `5` and `"5"` are one value.
fn same(a: &Value, b: &Value) -> bool {
    let plain = |value: &Value| match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    a == b || plain(a) == plain(b)
}

fn unknown(given: &str, properties: Option<&Map<String, Value>>, spec: &Spec) -> ToolError {
    let error = ToolError::new(Kind::InvalidInput, format!("unknown argument `{}` for {}", clip(given), spec.name));
    let names: Vec<&str> = properties.into_iter().flat_map(Map::keys).map(String::as_str).collect();
    let through_alias = spec.aliases.iter().filter_map(|alias| match alias {
        Alias::Name { given, name } if has(properties, name) => Some(*given),
        _ => None,
    });
    let takes = format!("{} takes: {}", spec.name, names.join(", "));
    if let Some(words) =
        Some(given).filter(|given| given.len() <= COMPARED).and_then(|given| foreign::suggestion(given, properties))
    {
        return error.hint(format!("{words} {takes}"));
    }
    let spellings = names.iter().copied().chain(through_alias);
    let near = nearest_names(given, spellings, ONE_OF_FEW);
    let meant = near.first().map(|near| spec.renamed(near).unwrap_or(near));
    match did_you_mean(meant.map(|name| format!("`{name}`"))) {
        Some(question) => error.hint(format!("{question} {takes}")),
        None if names.is_empty() => error.hint(format!("{} takes no arguments", spec.name)),
        None => error.hint(takes),
    }
}

/// Reads `value` as the property's type; `None` stands for "use the default".
fn read(name: &str, value: Value, property: &Map<String, Value>, spec: &Spec) -> Result<Option<Value>, ToolError> {
    if value.is_null() {
        return Ok(None);
    }
    let read = match property.get("type").and_then(Value::as_str) {
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
        Some("array") => {
            let items = match value {
                Value::Array(items) => items,
                // Some providers send nested arguments as JSON text.
                Value::String(ref text) => match spelled::parse(text) {
                    Ok(Value::Array(items)) => items,
                    _ => return Err(wrong_type(name, "a list", &value, spec)),
                },
                Value::Object(item) => vec![Value::Object(item)],
                other => return Err(wrong_type(name, "a list", &other, spec)),
            };
            let Some(item_schema) = property.get("items").and_then(Value::as_object) else {
                return Ok(Some(Value::Array(items)));
            };
            let mut read_items = Vec::with_capacity(items.len());
            for (index, item) in items.into_iter().enumerate() {
                read_items.push(match item {
                    Value::Object(item) => Value::Object(
                        normalise(item, item_schema, spec)
                            .map_err(|error| error.within(&format!("{name}[{index}]")))?,
                    ),
                    other if item_schema.get("type").and_then(Value::as_str) == Some("object") => {
                        return Err(wrong_type(&format!("{name}[{index}]"), "an object", &other, spec));
                    }
                    other => match read(&format!("{name}[{index}]"), other, item_schema, spec)? {
                        Some(item) => item,
                        None => continue,
                    },
                });
            }
            Value::Array(read_items)
        }
        _ => value,
    };
    Ok(Some(read))
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

fn lenient_bool(value: &Value) -> Option<bool> {
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

fn wrong_type(name: &str, wanted: &str, value: &Value, spec: &Spec) -> ToolError {
    // A number may have come as the text of its spelling.
    let number = value
        .as_str()
        .filter(|text| serde_json::from_str::<IgnoredAny>(text).is_ok())
        .filter(|text| text.starts_with(|first: char| first == '-' || first.is_ascii_digit()));
    let shown = number.map_or_else(|| shown(value), clip);
    ToolError::invalid(format!("`{name}` must be {wanted}, not {shown}"))
        .hint(format!("call {} again with {name} as {wanted}", spec.name))
}

fn shown(value: &Value) -> String {
    clip(&value.to_string())
}

/// What is repeated of an argument in an error.
fn clip(text: &str) -> String {
    shorten(text, 80).into_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::tools::Group;

    const SPEC: Spec = Spec {
        name: "sample",
        title: "",
        description: "",
        group: Group::Core,
        aliases: &[
            Alias::name("file_path", "path"),
            Alias::name("limit", "max_results"),
            Alias::Flag { given: "-i", name: "case_sensitive", value: FlagValue::Bool(false) },
            Alias::Ignored { given: "-n" },
        ],
        read_only: true,
        destructive: false,
        idempotent: true,
        heavy: false,
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
}
