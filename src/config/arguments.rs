//! The directories and the table of options, as clap wants its arguments.

use std::ffi::{OsStr, OsString};

use clap::{
    Arg, ArgAction, Command, ValueHint,
    builder::{PossibleValue, TypedValueParser, ValueParser},
    value_parser,
};

use crate::tools::Toolbox;

use super::{NamedChoice, OptionRow, SECTIONS, ValueKind, validate::GROUPS};

pub(super) fn directories() -> Arg {
    Arg::new("dir")
        .value_name("DIR")
        .action(ArgAction::Append)
        .num_args(0..)
        .value_parser(value_parser!(OsString))
        .value_hint(ValueHint::DirPath)
        .help("Directories to offer, taken literally; the same as --root without a name")
}

/// A flag of a subcommand that has no value.
pub(super) fn switch(name: &'static str, help: &'static str) -> Arg {
    Arg::new(name).long(name).action(ArgAction::SetTrue).help(help)
}

pub(super) fn flags() -> impl Iterator<Item = Arg> {
    SECTIONS.iter().flat_map(|(heading, options)| options.iter().map(|option| flag(option).help_heading(*heading)))
}

fn flag(option: &'static OptionRow) -> Arg {
    let arg = Arg::new(option.flag)
        .long(option.flag)
        .value_name(option.value_name())
        .value_parser(value_parser!(OsString))
        .value_hint(value_hint(option))
        .help(option.full_help())
        .hide_possible_values(true);
    match option.kind {
        ValueKind::List("GROUP") => arg.action(ArgAction::Append).value_parser(ValueParser::new(Known::Groups)),
        ValueKind::List(_) => arg.action(ArgAction::Append),
        // `--read-only` and `--read-only=false`, never `--read-only false`, which would take a DIR.
        ValueKind::Switch(_) => {
            arg.action(ArgAction::Set).num_args(0..=1).require_equals(true).default_missing_value("true")
        }
        ValueKind::Choice(_, choices) => {
            arg.action(ArgAction::Set).value_parser(ValueParser::new(Known::Choices(choices)))
        }
        ValueKind::Text("LIST") => arg.action(ArgAction::Set).value_parser(ValueParser::new(Known::Tools)),
        _ => arg.action(ArgAction::Set),
    }
}

/// What a shell completes where there are no choices.
fn value_hint(option: &OptionRow) -> ValueHint {
    match option.kind {
        ValueKind::Text("FILE") => ValueHint::FilePath,
        ValueKind::Text("DIR") | ValueKind::List("[NAME=]PATH[:ro][:untrusted][:optional]") => ValueHint::DirPath,
        ValueKind::List("GLOB" | "PATTERN") => ValueHint::AnyPath,
        _ => ValueHint::Other,
    }
}

/// Any text, with names for completion: whether it is one of them, `parse_value` and `validate` decide.
#[derive(Clone)]
pub(super) enum Known {
    Choices(&'static [NamedChoice]),
    Groups,
    Tools,
    Words(&'static [&'static str]),
}

impl TypedValueParser for Known {
    type Value = OsString;

    fn parse_ref(&self, _: &Command, _: Option<&Arg>, value: &OsStr) -> Result<OsString, clap::Error> {
        Ok(value.to_owned())
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(match self {
            Self::Choices(choices) => Box::new(choices.iter().map(|(name, _)| PossibleValue::new(*name))),
            Self::Groups => Box::new(GROUPS.iter().map(|(name, _)| PossibleValue::new(*name))),
            Self::Words(words) => Box::new(words.iter().map(|word| PossibleValue::new(*word))),
            Self::Tools => Box::new(Toolbox::known().into_iter().map(PossibleValue::new)),
        })
    }
}
