//! `rootbound completions` and `rootbound man`: made from the table of options when they are asked for.

mod completions;

use std::{io, process::ExitCode};

use clap::{Arg, Command, builder::PossibleValue};
use clap_mangen::{
    Man,
    roff::{Roff, bold, roman},
};

use crate::config::{Document, command};

use super::output::{fail, print};

/// Prints the document; the exit code is 1 if it cannot be made.
pub fn document(document: Document) -> ExitCode {
    match text(document) {
        Ok(text) => print(&text),
        Err(error) => fail(&error.to_string(), 1),
    }
}

fn text(document: Document) -> io::Result<String> {
    match document {
        Document::Completions(shell) => completions::script(shell),
        Document::Man => man_page(),
    }
}

/// The last change of the text around the options. mandoc warns of a page without a date.
const DATE: &str = "2026-11-22";

/// The manual page: one for all subcommands, each with a part that has its own options.
fn man_page() -> io::Result<String> {
    let mut command = command().disable_help_subcommand(true);
    // Before that clap has no full names of subcommands, and no `--help` of theirs.
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
    use clap_complete::Shell;

    use super::*;

    /// The documents in which a person looks an option up, by name.
    fn documents() -> Vec<(String, String)> {
        #[expect(clippy::disallowed_methods, reason = "the documentation is no file of a workspace")]
        let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/options.md")).expect("a page");
        let shells = [Shell::Bash, Shell::Elvish, Shell::Fish, Shell::PowerShell, Shell::Zsh];
        let scripts = shells.map(|shell| (shell.to_string(), text(Document::Completions(shell)).expect("a script")));
        let man = text(Document::Man).expect("a page").replace("\\-", "-");
        let help = command().render_long_help().to_string();
        let pages = [("docs/options.md", page), ("the manual page", man), ("--help", help)];
        scripts.into_iter().chain(pages.map(|(name, text)| (name.to_owned(), text))).collect()
    }

    #[test]
    fn completions_man_page_help_and_options_page_have_every_option_choice_and_subcommand() {
        let mut command = command();
        command.build();
        let options = command.get_arguments().filter_map(|option| Some((option.get_long()?, option)));
        let options: Vec<_> = options.filter(|(flag, _)| !["help", "version"].contains(flag)).collect();
        assert!(options.len() > 40, "{options:?}");
        for (name, text) in documents() {
            // fish names flags without dashes.
            let dashes = if name == "fish" { "-l " } else { "--" };
            for (flag, option) in &options {
                assert!(text.contains(&format!("{dashes}{flag}")), "{name} lacks --{flag}");
                // Their help has the choices, except for the names of tools.
                let has_choices = flag != &"tools" || !["powershell", "elvish"].contains(&name.as_str());
                for choice in option.get_possible_values().iter().filter(|_| has_choices) {
                    assert!(text.contains(choice.get_name()), "{name} lacks {} of --{flag}", choice.get_name());
                }
            }
            // `help` is clap's own.
            for subcommand in command.get_subcommands().filter(|subcommand| subcommand.get_name() != "help") {
                assert!(text.contains(subcommand.get_name()), "{name} lacks `{}`", subcommand.get_name());
                // The page and the help have only its name.
                if ["docs/options.md", "--help"].contains(&name.as_str()) {
                    continue;
                }
                for own in subcommand.get_arguments().filter(|arg| arg.get_help_heading().is_none()) {
                    let flag = own.get_long().map(|flag| format!("{dashes}{flag}"));
                    assert!(flag.is_none_or(|flag| text.contains(&flag)), "{name} lacks {own} of {subcommand}");
                    // PowerShell and elvish complete no arguments without a flag, nor values.
                    let has_values = !["powershell", "elvish"].contains(&name.as_str());
                    for choice in
                        own.get_possible_values().iter().filter(|_| has_values && own.get_action().takes_values())
                    {
                        let choice = choice.get_name();
                        assert!(text.contains(choice), "{name} lacks {choice} of {own} of {subcommand}");
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod man_page_tests {
    use super::*;

    #[test]
    fn page_has_a_part_for_each_subcommand_with_its_own_options_and_examples() {
        let page = man_page().expect("a page");
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
