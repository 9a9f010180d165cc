//! What a row of the option table is made of, and how its value is read into a [`Config`].
//!
//! A wrong value is noted as a problem and leaves the default in place, so that one start reports all of them.

use std::{borrow::Cow, ops::RangeInclusive, time::Duration};

use crate::text::byte_size::exact_size;

use super::{
    Config,
    raw::{Origin, RawArgs},
};

/// The end of a range that nobody chose: what the file systems' own types hold.
pub(super) const UNBOUNDED: u64 = i64::MAX as u64;

/// What the name of each environment variable begins with.
pub(super) const PREFIX: &str = "ROOTBOUND_";

/// One option.
#[derive(Debug)]
pub(super) struct Opt {
    /// Its flag without the dashes; the other two spellings derive from it.
    pub(super) flag: &'static str,
    /// What the help calls its value.
    pub(super) value: &'static str,
    /// Without the default of a number, which is added from the field that the option sets.
    pub(super) help: &'static str,
    /// Under which heading the help lists it.
    pub(super) heading: &'static str,
    pub(super) kind: Kind,
}

impl PartialEq for Opt {
    fn eq(&self, other: &Self) -> bool {
        self.flag == other.flag
    }
}

impl Eq for Opt {}

/// What an option takes, and the field that it sets.
#[derive(Debug)]
pub(super) enum Kind {
    /// True or false; the bare flag means true.
    Switch(fn(&mut Config) -> &mut bool),
    /// One of these names, upper and lower case alike.
    Choice(&'static [Named]),
    /// A whole number.
    Count(RangeInclusive<u64>, fn(&mut Config) -> Slot<'_>),
    /// Bytes, or a number with a unit.
    Size(RangeInclusive<u64>, fn(&mut Config) -> Slot<'_>),
    /// Seconds above 0, up to this many.
    Seconds(f64, fn(&mut Config) -> &mut Duration),
    /// One text, read elsewhere by the option's name.
    Text,
    /// Any number of texts, read elsewhere by the option's name.
    List,
}

/// The name of a choice, and what choosing it does.
type Named = (&'static str, fn(&mut Config));

/// The field that a number is for.
#[derive(Debug)]
pub(super) enum Slot<'c> {
    U64(&'c mut u64),
    Usize(&'c mut usize),
    OptU64(&'c mut Option<u64>),
    OptUsize(&'c mut Option<usize>),
}

impl Slot<'_> {
    fn set(self, value: u64) {
        let size = usize::try_from(value).unwrap_or(usize::MAX);
        match self {
            Self::U64(field) => *field = value,
            Self::Usize(field) => *field = size,
            Self::OptU64(field) => *field = Some(value),
            Self::OptUsize(field) => *field = Some(size),
        }
    }

    fn value(self) -> Option<u64> {
        match self {
            Self::U64(field) => Some(*field),
            Self::Usize(field) => Some(*field as u64),
            Self::OptU64(field) => *field,
            Self::OptUsize(field) => field.map(|value| value as u64),
        }
    }
}

impl Opt {
    /// The key in the configuration file: `max_output`.
    pub(super) fn key(&self) -> String {
        self.flag.replace('-', "_")
    }

    /// The environment variable: `ROOTBOUND_MAX_OUTPUT`.
    pub(super) fn variable(&self) -> String {
        format!("{PREFIX}{}", self.key().to_uppercase())
    }

    /// Whether it takes any number of values.
    pub(super) fn is_list(&self) -> bool {
        matches!(self.kind, Kind::List)
    }

    /// The help with the default of a number.
    pub(super) fn full_help(&self) -> Cow<'static, str> {
        let default = match &self.kind {
            Kind::Size(..) => self.default_number().map(|bytes| exact_size(bytes).replace(' ', "")),
            Kind::Count(..) => self.default_number().map(|count| count.to_string()),
            Kind::Seconds(_, field) => Some(field(&mut Config::default()).as_secs_f64().to_string()),
            _ => None,
        };
        default.map_or(Cow::Borrowed(self.help), |default| format!("{} [default: {default}]", self.help).into())
    }

    /// What the field of a number holds before any option is read; none if that is worked out later.
    pub(super) fn default_number(&self) -> Option<u64> {
        match &self.kind {
            Kind::Size(_, field) | Kind::Count(_, field) => field(&mut Config::default()).value(),
            _ => None,
        }
    }

    /// The row of a table in the documentation.
    #[cfg(test)]
    pub(super) fn markdown_row(&self) -> String {
        let value = if matches!(self.kind, Kind::Switch(_)) { String::new() } else { format!(" {}", self.value) };
        let many = if self.is_list() { " (repeatable)" } else { "" };
        format!("| `--{}{value}`{many} | {} |", self.flag, self.full_help())
    }

    /// Reads the value that was given for this option, if any, into its field.
    pub(super) fn apply(&self, raw: &RawArgs, config: &mut Config, problems: &mut Vec<String>) {
        let Some((option, given)) = raw.one(self.flag) else { return };
        let text = given.text.trim();
        let wrong = match &self.kind {
            Kind::Switch(field) => match text.to_ascii_lowercase().as_str() {
                "true" | "1" => return *field(config) = true,
                "false" | "0" => return *field(config) = false,
                _ => format!("{:?} is neither true nor false: write true, false, 1 or 0", given.text),
            },
            Kind::Choice(choices) => {
                if let Some((_, choose)) = choices.iter().find(|(name, _)| name.eq_ignore_ascii_case(text)) {
                    return choose(config);
                }
                let names: Vec<&str> = choices.iter().map(|(name, _)| *name).collect();
                format!("{:?} is unknown: choose one of {}", given.text, names.join(", "))
            }
            Kind::Count(range, field) => match text.parse::<u64>() {
                Ok(number) if range.contains(&number) => return field(config).set(number),
                _ => {
                    let bounds = match (range.start(), *range.end()) {
                        (least, UNBOUNDED) => format!("of at least {least}"),
                        (least, most) => format!("from {least} to {most}"),
                    };
                    format!("{:?} is no count: write a whole number {bounds}", given.text)
                }
            },
            Kind::Size(range, field) => match bytes(text) {
                Some(bytes) if range.contains(&bytes) => return field(config).set(bytes),
                Some(bytes) => {
                    let bounds = match (*range.start(), *range.end()) {
                        (least, UNBOUNDED) => format!("at least {}", exact_size(least)),
                        (least, most) => format!("{} to {}", exact_size(least), exact_size(most)),
                    };
                    format!("of {bytes} bytes is out of range: choose {bounds}")
                }
                None => format!("{:?} is no size: write bytes, or a number with KiB, MiB or GiB, as 50KiB", given.text),
            },
            Kind::Seconds(longest, field) => match text.trim_end_matches('s').parse::<f64>() {
                Ok(seconds) if seconds > 0.0 && seconds <= *longest => {
                    return *field(config) = Duration::from_secs_f64(seconds);
                }
                _ => format!(
                    "{:?} is no time: write seconds, above 0 and up to {longest}, as {}",
                    given.text,
                    field(config).as_secs()
                ),
            },
            Kind::Text | Kind::List => return,
        };
        problems.push(format!("{} {wrong}", Origin(option, &given.source)));
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
    let value = number.parse::<f64>().ok().filter(|value| shift > 0 && *value >= 0.0)? * f64::from(1_u32 << shift);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked to be in the range of u64")]
    (value < 1e18).then_some(value as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

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
