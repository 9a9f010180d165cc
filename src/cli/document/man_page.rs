//! The manual page: one for all subcommands, each with a part that has its own options.

use std::io;

use clap::{Arg, Command, builder::PossibleValue};
use clap_mangen::{
    Man,
    roff::{Roff, bold, roman},
};

use crate::config::command;

/// The last change of the text around the options. mandoc warns of a page without a date.
const DATE: &str = "2026-11-22";

pub(super) fn page() -> io::Result<String> {
    let mut command = command().disable_help_subcommand(true);
    command.build();
    let man = Man::new(command.clone());
    let mut out = Vec::new();
    let source = concat!("rootbound ", env!("CARGO_PKG_VERSION"));
    Roff::new().control("TH", ["ROOTBOUND", "1", DATE, source, "User Commands"]).to_writer(&mut out)?;
    man.render_name_section(&mut out)?;
    man.render_synopsis_section(&mut out)?;
    man.render_description_section(&mut out)?;
    man.render_options_section(&mut out)?;
    Roff::new().control("SH", ["SUBCOMMANDS"]).to_writer(&mut out)?;
    for subcommand in command.get_subcommands() {
        out.extend(part(subcommand)?);
        for inner in subcommand.get_subcommands() {
            out.extend(part(inner)?);
        }
    }
    Roff::new().control("SH", ["EXAMPLES"]).to_writer(&mut out)?;
    out.extend(literal(&command)?);
    let page = String::from_utf8(out).map_err(io::Error::other)?;
    Ok(PREAMBLE.to_owned() + &page.replace(PREAMBLE, ""))
}

/// How each piece defines the straight apostrophe; once is enough.
const PREAMBLE: &str = ".ie \\n(.g .ds Aq \\(aq\n.el .ds Aq '\n";

/// The part of a subcommand. The options of the table have a heading, its own have none.
fn part(subcommand: &Command) -> io::Result<Vec<u8>> {
    let mut out = Vec::new();
    let usage = subcommand.clone().render_usage().to_string();
    let usage = usage.trim_start_matches("Usage: ");
    let about = subcommand.get_about().map(ToString::to_string).unwrap_or_default();
    let mut roff = Roff::new();
    roff.control("SS", [subcommand.get_bin_name().unwrap_or_default()]);
    roff.text([roman(format!("{about}."))]).control("PP", []).text([bold(usage)]);
    roff.to_writer(&mut out)?;
    let is_own = |arg: &&Arg| arg.get_help_heading().is_none() && arg.get_id() != "help";
    let own = subcommand.get_arguments().filter(is_own).cloned().map(with_values);
    let mut options = Vec::new();
    Man::new(Command::new("").disable_help_flag(true).args(own)).render_options_section(&mut options)?;
    // The section is one of the page, not of the subcommand.
    let options = String::from_utf8(options).map_err(io::Error::other)?.replace(".SH OPTIONS\n", "");
    out.extend(options.into_bytes());
    if subcommand.get_arguments().any(|arg| arg.get_help_heading().is_some()) {
        let every = "All options above may be before or after its name.";
        Roff::new().control("PP", []).text([roman(every)]).to_writer(&mut out)?;
    }
    Roff::new().control("PP", []).to_writer(&mut out)?;
    out.extend(literal(subcommand)?);
    Ok(out)
}

/// The choices as in `--help`: as a list, they would fill the page.
fn with_values(arg: Arg) -> Arg {
    let values = if arg.is_hide_possible_values_set() { Vec::new() } else { arg.get_possible_values() };
    if values.is_empty() || !arg.get_action().takes_values() {
        return arg;
    }
    let names: Vec<&str> = values.iter().map(PossibleValue::get_name).collect();
    let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
    arg.help(format!("{help} [possible values: {}]", names.join(", "))).hide_possible_values(true)
}

/// The examples, line by line.
fn literal(command: &Command) -> io::Result<Vec<u8>> {
    let mut roff = Roff::new();
    roff.control("nf", []);
    let text = command.get_after_long_help().or(command.get_after_help()).map(ToString::to_string).unwrap_or_default();
    for line in text.trim_start_matches("Examples:\n").lines() {
        roff.text([roman(line)]);
    }
    let mut out = Vec::new();
    roff.control("fi", []).to_writer(&mut out)?;
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn page_has_a_part_for_each_subcommand_with_its_own_options_and_examples() {
        let page = page().expect("a page");
        let services: Vec<&str> = page.split("\n.SS ").collect();
        let mut command = command().disable_help_subcommand(true);
        command.build();
        for subcommand in command.get_subcommands() {
            let head = format!("\"rootbound {}\"\n", subcommand.get_name());
            let part = services.iter().find(|part| part.starts_with(&head)).expect(&head).replace("\\-", "-");
            for arg in subcommand.get_arguments().filter(|arg| arg.get_help_heading().is_none()) {
                let name = arg
                    .get_long()
                    .map_or_else(|| arg.get_value_names().expect("a name")[0].to_string(), |long| format!("--{long}"));
                assert!(name == "--help" || part.contains(&name), "{head} lacks {name}: {part}");
            }
            let examples = subcommand.get_after_help().map(ToString::to_string).expect("an example");
            let first =
                examples.lines().nth(1).expect("a line").split(&['\'', '"', '\\']).next().expect("a part").trim();
            assert!(part.contains(first), "{head} lacks {first}: {part}");
        }
        assert_eq!(page.matches(".ds Aq").count(), 2);
        assert!(page.contains(".SH EXAMPLES\n.nf\n  rootbound ") && page.ends_with("\n.fi\n"), "{page}");
    }
}
