//! The directories and the table of options, as clap wants its arguments.

use std::ffi::{OsStr, OsString};

use clap::{
    Arg, ArgAction, Command, ValueHint,
    builder::{PossibleValue, TypedValueParser, ValueParser},
    value_parser,
};

use super::{NamedChoice, OptionRow, SECTIONS, ValueKind};

pub(super) fn directories() -> Arg {
    Arg::new("dir")
        .value_name("DIR")
        .action(ArgAction::Append)
        .num_args(0..)
        .value_parser(value_parser!(OsString))
        .value_hint(ValueHint::DirPath)
        .help("Directories to offer, taken literally; the same as --root without a name")
}

pub(super) fn flags() -> impl Iterator<Item = Arg> {
    SECTIONS.iter().flat_map(|(heading, options)| options.iter().map(|option| flag(option).help_heading(*heading)))
}

fn flag(option: &'static OptionRow) -> Arg {
    let arg = Arg::new(option.flag)
        .long(option.flag)
        .value_name(option.value_name())
        .value_parser(value_parser!(OsString))
        .help(option.full_help())
        .hide_possible_values(true);
    match option.kind {
        ValueKind::List(_) => arg.action(ArgAction::Append),
        // `--read-only` and `--read-only=false`, never `--read-only false`, which would take a DIR.
        ValueKind::Switch(_) => {
            arg.action(ArgAction::Set).num_args(0..=1).require_equals(true).default_missing_value("true")
        }
        ValueKind::Choice(_, choices) => arg.action(ArgAction::Set).value_parser(ValueParser::new(Choices(choices))),
        ValueKind::Text("FILE") => arg.action(ArgAction::Set).value_hint(ValueHint::FilePath),
        _ => arg.action(ArgAction::Set),
    }
}

/// Any text, with the choices for completion: which of them it is, `parse_value` decides.
#[derive(Clone)]
struct Choices(&'static [NamedChoice]);

impl TypedValueParser for Choices {
    type Value = OsString;

    fn parse_ref(&self, _: &Command, _: Option<&Arg>, value: &OsStr) -> Result<OsString, clap::Error> {
        Ok(value.to_owned())
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(self.0.iter().map(|(name, _)| PossibleValue::new(*name))))
    }
}
