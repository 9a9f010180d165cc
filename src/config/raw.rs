//! What was typed: the values of each option as text, with where each was given; read by the kind of the option alone.

use std::{collections::BTreeMap, time::Duration};

use serde::Deserialize;
use serde_json::{Map, Value};
use text_file::exact_size;

use super::{Config, OptionRow, UNBOUNDED, ValueKind, options::options};

#[derive(Clone, Debug)]
pub(super) struct RawValue {
    pub(super) option: &'static OptionRow,
    pub(super) text: String,
    pub(super) source: Source,
    /// The keys that a `[[root]]` table of the file has besides its path, which is the text.
    pub(super) table: Option<RawTable>,
}

impl RawValue {
    /// Names the option the way the person gave it: `--log`, `ROOTBOUND_LOG`, `rootbound.toml:3: log`.
    pub(super) fn origin(&self) -> String {
        match &self.source {
            Source::CommandLine => format!("--{}", self.option.flag),
            Source::Environment => self.option.variable(),
            Source::File { name, line } => format!("{name}:{line}: {}", self.option.key()),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Source {
    File { name: String, line: usize },
    Environment,
    CommandLine,
}

/// A `[[root]]` or `[[role]]` table as it was written. Of its keys a root has `path`, `name` and `optional`.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct RawTable {
    /// Prefix of its messages: file and line, as `rootbound.toml:3`.
    #[serde(skip)]
    pub(super) place: String,
    pub(super) path: Option<String>,
    pub(super) name: Option<String>,
    pub(super) label: Option<String>,
    pub(super) client: Option<String>,
    #[serde(default)]
    pub(super) optional: bool,
    pub(super) roots: Option<Names>,
    #[serde(skip)]
    pub(super) own: RawArgs,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(untagged, expecting = "roots must be a list of texts")]
pub(super) enum Names {
    One(String),
    Many(Vec<String>),
}

impl Names {
    pub(super) fn as_slice(&self) -> &[String] {
        match self {
            Self::One(name) => std::slice::from_ref(name),
            Self::Many(names) => names,
        }
    }
}

#[derive(Clone, Debug, Default)]
pub(super) struct LspTable {
    pub(super) name: String,
    /// Prefix of its messages: file and line, as `rootbound.toml:3`.
    pub(super) place: String,
    pub(super) values: BTreeMap<String, (Value, String)>,
}

impl LspTable {
    pub(super) fn value(&self, key: &str) -> Option<&Value> {
        self.values.get(key).map(|(value, _)| value)
    }

    pub(super) fn text(&self, key: &str) -> Option<&str> {
        self.value(key).and_then(Value::as_str)
    }

    /// The texts of a list; none if it is missing.
    pub(super) fn texts(&self, key: &str) -> Vec<&str> {
        self.value(key).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect()
    }

    /// Where a key is; where the table is, if it has none.
    pub(super) fn place_of(&self, key: &str) -> &str {
        self.values.get(key).map_or(&self.place, |(_, place)| place)
    }

    pub(super) fn is_on(&self, key: &str) -> bool {
        self.value(key) == Some(&Value::Bool(true))
    }

    /// A table of settings; an empty one if it is missing.
    pub(super) fn table(&self, key: &str) -> Value {
        self.value(key).cloned().unwrap_or_else(|| Value::Object(Map::new()))
    }
}

#[derive(Clone, Debug, Default)]
pub(super) struct RawArgs {
    pub(super) values: Vec<RawValue>,
    pub(super) roles: Vec<RawTable>,
    pub(super) language_servers: Vec<LspTable>,
}

impl RawArgs {
    pub(super) fn push(&mut self, option: &'static OptionRow, text: String, source: Source) {
        self.values.push(RawValue { option, text, source, table: None });
    }

    pub(super) fn push_root(&mut self, option: &'static OptionRow, path: String, source: Source, table: RawTable) {
        self.values.push(RawValue { option, text: path, source, table: Some(table) });
    }

    /// The value of the highest source, the last one where it was given twice there.
    pub(super) fn effective(&self, flag: &str) -> Option<&RawValue> {
        // `max_by_key` takes the last of several that are equal.
        self.of(flag).max_by_key(|value| rank(&value.source))
    }

    pub(super) fn of_highest_source(&self, flag: &str) -> Vec<&RawValue> {
        let top = self.of(flag).map(|value| rank(&value.source)).max();
        self.of(flag).filter(|value| Some(rank(&value.source)) == top).collect()
    }

    /// The values of every source: the file's, then the environment's, then the command line's.
    pub(super) fn of_all_sources(&self, flag: &str) -> Vec<&RawValue> {
        let mut all: Vec<_> = self.of(flag).collect();
        // Stable: the order within a source stays.
        all.sort_by_key(|value| rank(&value.source));
        all
    }

    pub(super) fn texts(&self, flag: &str) -> Vec<String> {
        self.of_all_sources(flag).into_iter().map(|value| value.text.clone()).collect()
    }

    /// Reads the value that was given for an option, if any, into its field. A wrong one is a problem and leaves the
    /// default in place, so that one start reports all of them.
    pub(super) fn apply(&self, option: &OptionRow, config: &mut Config, problems: &mut Vec<String>) {
        let Some(given) = self.effective(option.flag) else { return };
        let text = given.text.trim();
        let wrong = match &option.kind {
            ValueKind::Switch(field) => match text.to_ascii_lowercase().as_str() {
                "true" | "1" => return *field(config) = true,
                "false" | "0" => return *field(config) = false,
                _ => format!("{:?} is neither true nor false: write true, false, 1 or 0", given.text),
            },
            ValueKind::Choice(_, choices) if choices.choose(text, config) => return,
            ValueKind::Choice(_, choices) => {
                format!("{:?} is unknown: choose one of {}", given.text, choices.names().join(", "))
            }
            ValueKind::Count(range, field) => match text.parse::<u64>() {
                Ok(number) if range.contains(&number) => return field(config).set(number),
                _ => {
                    let bounds = match (range.start(), *range.end()) {
                        (least, UNBOUNDED) => format!("of at least {least}"),
                        (least, most) => format!("from {least} to {most}"),
                    };
                    format!("{:?} is not a count: write a whole number {bounds}", given.text)
                }
            },
            ValueKind::Size(range, field) => match bytes(text) {
                Some(bytes) if range.contains(&bytes) => return field(config).set(bytes),
                Some(bytes) => {
                    let bounds = match (*range.start(), *range.end()) {
                        (least, UNBOUNDED) => format!("at least {}", exact_size(least)),
                        (least, most) => format!("{} to {}", exact_size(least), exact_size(most)),
                    };
                    format!("of {bytes} bytes is out of range: choose {bounds}")
                }
                None => {
                    format!(
                        "{:?} is not a size: write bytes, or a number with KiB, MiB or GiB, such as 50KiB",
                        given.text
                    )
                }
            },
            ValueKind::Seconds(longest, field) => match text.trim_end_matches('s').parse::<f64>() {
                // Neither NaN nor infinity passes both, for which `from_secs_f64` would panic.
                Ok(seconds) if seconds > 0.0 && seconds <= *longest => {
                    return *field(config) = Duration::from_secs_f64(seconds);
                }
                _ => format!(
                    "{:?} is not a time: write seconds, above 0 and up to {longest}, such as {}",
                    given.text,
                    field(config).as_secs()
                ),
            },
            ValueKind::Text(_) | ValueKind::List(_) => return,
        };
        problems.push(format!("{} {wrong}", given.origin()));
    }

    fn of(&self, flag: &str) -> impl Iterator<Item = &RawValue> {
        debug_assert!(options().any(|option| option.flag == flag), "no option is called {flag}");
        self.values.iter().filter(move |value| value.option.flag == flag)
    }
}

/// The command line overrides the environment, the environment overrides the file.
fn rank(source: &Source) -> u8 {
    match source {
        Source::File { .. } => 0,
        Source::Environment => 1,
        Source::CommandLine => 2,
    }
}

/// Reads `4096`, `50KiB`, `1.5 MiB`. KB and K mean KiB, as in most tools that take either.
fn bytes(text: &str) -> Option<u64> {
    let text = text.trim();
    let split = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let shift = match unit.to_ascii_lowercase().as_str() {
        "" | "b" => 0,
        "k" | "kb" | "kib" => 10,
        "m" | "mb" | "mib" => 20,
        "g" | "gb" | "gib" => 30,
        _ => return None,
    };
    let number = number.trim();
    if let Ok(whole) = number.parse::<u64>() {
        return whole.checked_mul(1 << shift);
    }
    // There are no parts of a byte, so that a fraction needs a unit.
    let value = number.parse::<f64>().ok().filter(|value| shift > 0 && *value >= 0.0)? * f64::from(1_u32 << shift);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked to be in the range of u64")]
    // Far below `u64::MAX`, where the cast would saturate, and above any disk.
    (value < 1e18).then_some(value as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn higher_source_wins_and_last_value_within_one() {
        let option = options().find(|option| option.flag == "log").expect("in the table");
        let mut raw = RawArgs::default();
        raw.push(option, "debug".into(), Source::CommandLine);
        raw.push(option, "trace".into(), Source::CommandLine);
        raw.push(option, "info".into(), Source::Environment);
        raw.push(option, "warn".into(), Source::File { name: "f".into(), line: 1 });
        assert_eq!(raw.effective("log").expect("given").text, "trace");
        assert_eq!(raw.of_highest_source("log").len(), 2);
    }

    #[test]
    fn sizes_are_bytes_or_have_a_unit() {
        assert_eq!(bytes("11000"), Some(11_000));
        assert_eq!(bytes("50KiB"), Some(51_200));
        assert_eq!(bytes(" 1.5 MiB "), Some(1_572_864));
        assert_eq!(bytes("2g"), Some(2 << 30));
        for wrong in ["", "lots", "-1", "1.5", "5 KiBs", "99999999999G", "nanK"] {
            assert_eq!(bytes(wrong), None, "{wrong:?}");
        }
    }
}
