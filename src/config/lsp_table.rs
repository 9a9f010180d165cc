//! `[lsp.NAME]` tables of the configuration file as they are written: each key by its type, every problem with its line.

use std::collections::BTreeMap;

use serde_json::{Map, Number, Value};
use toml::{
    Spanned,
    de::{DeTable, DeValue},
};

use text_file::nearest_name::{ONE_OF_FEW, did_you_mean, nearest_names};

/// What each key takes.
const KEYS: &[(&str, Takes)] = &[
    ("command", Takes::Text),
    ("args", Takes::Texts),
    ("extensions", Takes::Texts),
    ("root_markers", Takes::Texts),
    ("timeout", Takes::Number),
    ("env", Takes::Texts),
    ("read", Takes::Texts),
    ("write", Takes::Switch),
    ("network", Takes::Switch),
    ("confine", Takes::Text),
    ("settings", Takes::Table),
    ("initialization_options", Takes::Table),
];

#[derive(Clone, Copy)]
enum Takes {
    Text,
    Texts,
    Number,
    Switch,
    Table,
}

impl Takes {
    fn words(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Texts => "a list of texts: [\"first\", \"second\"]",
            Self::Number => "a number of seconds",
            Self::Switch => "true or false",
            Self::Table => "a table",
        }
    }
}

/// One table. The values have the types that their keys take.
#[derive(Clone, Debug, Default)]
pub(super) struct LspTable {
    /// The name behind the dot.
    pub(super) name: String,
    /// Where it is, as problems begin: `rootbound.toml:3`.
    pub(super) place: String,
    values: BTreeMap<String, (Value, String)>,
}

impl LspTable {
    /// The value of a key, and its place.
    pub(super) fn value(&self, key: &str) -> Option<(&Value, &str)> {
        self.values.get(key).map(|(value, place)| (value, place.as_str()))
    }

    /// A text, and its place.
    pub(super) fn text(&self, key: &str) -> Option<(&str, &str)> {
        self.value(key).and_then(|(value, place)| Some((value.as_str()?, place)))
    }

    /// The texts of a list; none if it is missing.
    pub(super) fn texts(&self, key: &str) -> Vec<&str> {
        let list = self.value(key).and_then(|(value, _)| value.as_array());
        list.into_iter().flatten().filter_map(Value::as_str).collect()
    }

    /// Where a key is; where the table is, if it has none.
    pub(super) fn place_of(&self, key: &str) -> &str {
        self.value(key).map_or(&self.place, |(_, place)| place)
    }

    /// Whether a switch is on.
    pub(super) fn is_on(&self, key: &str) -> bool {
        self.value(key).is_some_and(|(value, _)| *value == Value::Bool(true))
    }

    /// A table of settings; an empty one if it is missing.
    pub(super) fn table(&self, key: &str) -> Value {
        self.value(key).map_or_else(|| Value::Object(Map::new()), |(value, _)| value.clone())
    }
}

/// Reads the tables below `lsp`. `place` is where an offset of the file is, as problems begin.
pub(super) fn read(
    value: &Spanned<DeValue<'_>>,
    place: &dyn Fn(usize) -> String,
    problems: &mut Vec<String>,
) -> Vec<LspTable> {
    let DeValue::Table(tables) = value.get_ref() else {
        let found = value.get_ref().type_str();
        problems.push(format!("{}: lsp is {found}, but must be tables: [lsp.rust]", place(value.span().start)));
        return Vec::new();
    };
    let mut read = Vec::new();
    for (name, value) in tables {
        let (at, name) = (place(name.span().start), name.get_ref().to_string());
        match value.get_ref() {
            DeValue::Table(table) => read.push(server(name, at, table, place, problems)),
            other => {
                problems.push(format!("{at}: lsp.{name} is {}, but must be a table: [lsp.{name}]", other.type_str()));
            }
        }
    }
    read
}

fn server(
    name: String,
    at: String,
    table: &DeTable<'_>,
    place: &dyn Fn(usize) -> String,
    problems: &mut Vec<String>,
) -> LspTable {
    let mut read = LspTable { name, place: at, ..LspTable::default() };
    for (key, value) in table {
        let (at, key): (String, &str) = (place(key.span().start), key.get_ref());
        let Some((_, takes)) = KEYS.iter().find(|(known, _)| *known == key) else {
            let known = KEYS.iter().map(|(known, _)| *known);
            let names: Vec<&str> = known.clone().collect();
            let next = did_you_mean(nearest_names(key, known, ONE_OF_FEW).first())
                .unwrap_or_else(|| format!("the keys are {}", names.join(", ")));
            problems.push(format!("{at}: unknown key of a language server {key:?}: {next}"));
            continue;
        };
        let found = json(value.get_ref());
        let fits = found.as_ref().is_some_and(|found| match takes {
            Takes::Text => found.is_string(),
            Takes::Texts => found.as_array().is_some_and(|list| list.iter().all(Value::is_string)),
            Takes::Number => found.is_number(),
            Takes::Switch => found.is_boolean(),
            Takes::Table => found.is_object(),
        });
        match found.filter(|_| fits) {
            Some(found) => {
                read.values.insert(key.to_owned(), (found, at));
            }
            None => {
                problems.push(format!("{at}: {key} is {}, but must be {}", value.get_ref().type_str(), takes.words()));
            }
        }
    }
    read
}

/// The same value in JSON; `None` for what JSON cannot say: a date, `nan`, a number that is too large.
fn json(value: &DeValue<'_>) -> Option<Value> {
    Some(match value {
        DeValue::String(text) => Value::String(text.to_string()),
        DeValue::Boolean(truth) => Value::Bool(*truth),
        DeValue::Integer(number) => {
            Value::Number(i64::from_str_radix(&number.as_str().replace('_', ""), number.radix()).ok()?.into())
        }
        DeValue::Float(number) => Value::Number(Number::from_f64(number.as_str().replace('_', "").parse().ok()?)?),
        DeValue::Array(values) => values.iter().map(|value| json(value.get_ref())).collect::<Option<_>>()?,
        DeValue::Table(table) => {
            let pairs = table.iter().map(|(key, value)| Some((key.get_ref().to_string(), json(value.get_ref())?)));
            Value::Object(pairs.collect::<Option<_>>()?)
        }
        DeValue::Datetime(_) => return None,
    })
}
