//! What a row of the option table is made of: its spellings, its help, its kind and the field of [`Config`] that it sets.

use std::{borrow::Cow, ops::RangeInclusive, time::Duration};

use text_file::exact_size;

use super::Config;

/// No upper limit: the largest size that file systems can express (`off_t`).
pub(super) const UNBOUNDED: u64 = i64::MAX as u64;

/// The beginning of the name of each environment variable.
pub(super) const PREFIX: &str = "ROOTBOUND_";

#[derive(Debug)]
pub(super) struct OptionRow {
    /// The flag without its dashes; key and variable are derived from it.
    pub(super) flag: &'static str,
    /// Without the default of a number, which is read from the field.
    pub(super) help: &'static str,
    pub(super) kind: ValueKind,
}

/// The kind of value that an option takes, and the field that it sets. The text is the name of the value in the help.
#[derive(Debug)]
pub(super) enum ValueKind {
    /// True or false; the bare flag means true.
    Switch(fn(&mut Config) -> &mut bool),
    /// One of these names, upper and lower case alike.
    Choice(&'static str, &'static [NamedChoice]),
    Count(RangeInclusive<u64>, fn(&mut Config) -> NumberField<'_>),
    /// Bytes, or a number with a unit.
    Size(RangeInclusive<u64>, fn(&mut Config) -> NumberField<'_>),
    /// Seconds above 0, up to this many.
    Seconds(f64, fn(&mut Config) -> &mut Duration),
    /// One text, which `validate` reads by the option's name.
    Text(&'static str),
    /// Any number of texts, which `validate` reads by the option's name.
    List(&'static str),
}

/// The name of a choice, and what choosing it does.
pub(super) type NamedChoice = (&'static str, fn(&mut Config));

/// The field that a number is for.
#[derive(Debug)]
pub(super) enum NumberField<'c> {
    U64(&'c mut u64),
    OptU64(&'c mut Option<u64>),
    OptUsize(&'c mut Option<usize>),
}

impl NumberField<'_> {
    pub(super) fn set(self, value: u64) {
        let size = usize::try_from(value).unwrap_or(usize::MAX);
        match self {
            Self::U64(field) => *field = value,
            Self::OptU64(field) => *field = Some(value),
            Self::OptUsize(field) => *field = Some(size),
        }
    }

    fn value(self) -> Option<u64> {
        match self {
            Self::U64(field) => Some(*field),
            Self::OptU64(field) => *field,
            Self::OptUsize(field) => field.map(|value| value as u64),
        }
    }
}

impl OptionRow {
    /// The key in the configuration file: `max_output`.
    pub(super) fn key(&self) -> String {
        self.flag.replace('-', "_")
    }

    /// The environment variable: `ROOTBOUND_MAX_OUTPUT`.
    pub(super) fn variable(&self) -> String {
        format!("{PREFIX}{}", self.key().to_uppercase())
    }

    /// The name of its value in the help.
    pub(super) fn value_name(&self) -> &'static str {
        match self.kind {
            ValueKind::Switch(_) => "BOOL",
            ValueKind::Count(..) => "N",
            ValueKind::Size(..) => "BYTES",
            ValueKind::Seconds(..) => "SECONDS",
            ValueKind::Choice(name, _) | ValueKind::Text(name) | ValueKind::List(name) => name,
        }
    }

    /// Whether the next word of a command line is its value.
    pub(super) fn takes_a_word(&self) -> bool {
        !matches!(self.kind, ValueKind::Switch(_))
    }

    /// Whether it takes any number of values.
    pub(super) fn is_list(&self) -> bool {
        matches!(self.kind, ValueKind::List(_))
    }

    /// The first clause of the help, unless that explains a value.
    pub(super) fn short_help(&self) -> &'static str {
        let end = [". ", ": ", "; "].iter().filter_map(|mark| self.help.find(mark)).min();
        end.filter(|end| *end > 20 && !self.help.starts_with('`')).map_or(self.help, |end| &self.help[..end])
    }

    /// The help with the default of a number.
    pub(super) fn full_help(&self) -> Cow<'static, str> {
        let default = match &self.kind {
            ValueKind::Size(..) => self.default_number().map(|bytes| exact_size(bytes).replace(' ', "")),
            ValueKind::Count(..) => self.default_number().map(|count| count.to_string()),
            ValueKind::Seconds(_, field) => Some(field(&mut Config::default()).as_secs_f64().to_string()),
            _ => None,
        };
        default.map_or(Cow::Borrowed(self.help), |default| format!("{} [default: {default}]", self.help).into())
    }

    /// The default of a number; `None` if it is computed later.
    pub(super) fn default_number(&self) -> Option<u64> {
        match &self.kind {
            ValueKind::Size(_, field) | ValueKind::Count(_, field) => field(&mut Config::default()).value(),
            _ => None,
        }
    }

    /// The row of a table in the documentation.
    #[cfg(test)]
    pub(super) fn markdown_row(&self) -> String {
        let value =
            if matches!(self.kind, ValueKind::Switch(_)) { String::new() } else { format!(" {}", self.value_name()) };
        let many = if self.is_list() { " (repeatable)" } else { "" };
        format!("| `--{}{value}`{many} | {} |", self.flag, self.full_help())
    }
}
