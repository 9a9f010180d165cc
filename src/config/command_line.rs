//! The command line: spelling only.
//!
//! clap takes every value as text, so that a wrong one does not hide the next; `validate` reads the texts.

use std::{ffi::OsString, ops::ControlFlow, path::PathBuf};

use clap::{ArgMatches, Command, FromArgMatches as _};
use clap_complete::Shell;

use super::{
    Action, Config, Document, Environment, ExecRequest, RawArgs, RawValue, SetupRequest, Source,
    commands::{COMMANDS, action, directories, flags},
    exec::ExecArguments,
    options::options,
};

/// The request of a command line.
#[derive(Debug)]
pub enum Invocation {
    /// To print a document about the program, with exit code 0 whatever is configured.
    Print(Document),
    /// To set up a client.
    SetUp(SetupRequest),
    /// To become a command of the host.
    Execute(ExecRequest),
    /// To start with a valid configuration.
    Start(Box<Config>),
}

/// An invocation without a configuration, or a start that offers these directories besides those of `--root`.
pub(super) type CommandLine = ControlFlow<Invocation, (Action, Vec<OsString>)>;

/// The options that `-h` shows; `--help` shows all.
const COMMON: [&str; 10] =
    ["root", "read-only", "tools", "allow", "confirm", "deny", "protect", "secrets", "stage", "config"];

const MORE: &str = "All options and examples: rootbound --help. One command: rootbound COMMAND --help";

const EXAMPLES: &str = "\
Examples:
  rootbound ~/code/app                            serve one directory
  rootbound --read-only ~/code/app ~/code/lib     serve two, change nothing
  rootbound --root docs=/srv/docs:ro --root app=. serve them under names
  rootbound --root /mnt/user-data/workspace=.     under the path the model knows
  rootbound call grep pattern=main glob='*.rs'    run one tool
  rootbound call edit '{\"path\":\"a.txt\",\"old_string\":\"x\",\"new_string\":\"y\"}'
  rootbound tools                                 list the tools
  rootbound doctor ~/code/app                     show what protects a run
  rootbound history src/main.rs                   list the changes of a file
  rootbound history restore src/main.rs           restore what it held before
  rootbound history checkpoint before             name the state as it is now
  rootbound history restore --to before           go back to it
  rootbound stage apply                           make staged changes on the disk
  rootbound setup claude-code --write             add it to a client
  rootbound guide claude-code                     print a text for CLAUDE.md
  rootbound index build ~/code/app                store what searches need
  rootbound stats --since 2d audit.jsonl          add up two days of calls
  rootbound exec --root . -- npm test             run a command behind the same walls
  rootbound completions bash                      print a completion script

Without a directory the current one is served, unless it is / or the home
directory. Every option is also an environment variable and a key of the
--config file: --max-output is ROOTBOUND_MAX_OUTPUT and max_output. The command
line overrides the environment, the environment overrides the file; patterns
from all three are combined. A list in the environment is a JSON array, or one
value per line.";

/// Reads the command line, with the program's name first; clap answers `--help`, `--version` and misspelled flags by
/// itself.
pub(super) fn parse(
    arguments: Vec<OsString>,
    environment: &Environment,
    raw: &mut RawArgs,
    problems: &mut Vec<String>,
) -> Result<CommandLine, clap::Error> {
    let matches = command().try_get_matches_from(arguments)?;
    let mut named: Vec<OsString> = matches.get_many("dir").into_iter().flatten().cloned().collect();
    collect(&matches, raw, problems);
    let Some((name, inner)) = matches.subcommand() else {
        return Ok(ControlFlow::Continue((Action::Serve, named)));
    };
    match name {
        "completions" => {
            let shell = inner.get_one("shell").copied().unwrap_or(Shell::Bash);
            return Ok(ControlFlow::Break(Invocation::Print(Document::Completions(shell))));
        }
        "man" => return Ok(ControlFlow::Break(Invocation::Print(Document::Man))),
        "setup" => {
            if let Some(value) = raw.values.first() {
                problems.push(format!("{} is before `setup`: give options of the server after --", value.origin()));
            } else if let Some(directory) = named.first() {
                problems.push(format!("{} is before `setup`: give directories after the client", directory.display()));
            }
            let mut request = SetupRequest::from_arg_matches(inner)?;
            // Now, as a client that starts the entry does so in another directory.
            let absolute = |path: &mut PathBuf| *path = environment.absolute(path, &environment.directory);
            request.directories.iter_mut().chain(&mut request.file).for_each(absolute);
            return Ok(ControlFlow::Break(Invocation::SetUp(request)));
        }
        "exec" => {
            let before = raw.values.iter().map(RawValue::origin);
            for word in before.chain(named.iter().map(|directory| directory.display().to_string())) {
                problems.push(format!("{word} is before `exec`: give options after it, and directories with --root"));
            }
            let given = ExecArguments::from_arg_matches(inner)?;
            return Ok(ControlFlow::Break(Invocation::Execute(given.checked(environment, problems))));
        }
        _ => {}
    }
    // `get_many` panics for a command that takes no directories.
    named.extend(inner.try_get_many("dir").ok().flatten().into_iter().flatten().cloned());
    let names_directories = !named.is_empty() || inner.contains_id("root") || matches.contains_id("root");
    let action = action(name, inner, names_directories)?;
    let mut level = Some(inner);
    while let Some(matches) = level {
        collect(matches, raw, problems);
        level = matches.subcommand().map(|(_, deeper)| deeper);
    }
    Ok(ControlFlow::Continue((action, named)))
}

/// The command line that is understood, for clap; also what the manual page is made from.
pub(crate) fn command() -> Command {
    command_without_directories().arg(directories())
}

/// The command that completions are made from: their scripts take any word before a command for the first directory.
pub(crate) fn command_without_directories() -> Command {
    Command::new("rootbound")
        .version(env!("CARGO_PKG_VERSION"))
        .about("A sandboxed MCP file server on stdio: glob, grep, ls, read, write and edit for AI agents")
        .after_help(MORE)
        .after_long_help(EXAMPLES)
        .override_usage("rootbound [OPTIONS] [DIR]...\n       rootbound [OPTIONS] COMMAND ...")
        // `rootbound ~/app call grep …`: a directory of that name is written ./call
        .subcommand_precedence_over_arg(true)
        .args(flags(&COMMON))
        .subcommands(COMMANDS.iter().map(|(name, about, rest)| Command::new(*name).about(*about).defer(*rest)))
}

/// Reads the options of one level. clap's global arguments would let the values after the command replace those
/// before it, and a list must hold both.
fn collect(matches: &ArgMatches, raw: &mut RawArgs, problems: &mut Vec<String>) {
    for option in options() {
        for value in matches.get_many::<OsString>(option.flag).into_iter().flatten() {
            match value.to_str() {
                Some(text) => raw.push(option, text.to_owned(), Source::CommandLine),
                None => problems.push(format!(
                    "--{} {} is not UTF-8: give a directory with such a name as a plain DIR argument",
                    option.flag,
                    value.display()
                )),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clap_accepts_the_command_made_of_the_option_table() {
        let mut command = command();
        command.build();
        command.debug_assert();
    }

    #[test]
    fn short_help_fits_two_screens_and_the_long_one_has_every_option() {
        let short = command().render_help().to_string();
        assert!(short.lines().count() <= 50, "{} lines: {short}", short.lines().count());
        assert!(COMMON.iter().all(|flag| short.contains(&format!("--{flag}"))), "{short}");
        let long = command().render_long_help().to_string();
        assert!(options().all(|option| long.contains(&format!("--{}", option.flag))), "{long}");
        for (name, ..) in COMMANDS {
            let mut command = command();
            command.build();
            let short = command.find_subcommand_mut(name).expect("in the table").render_help().to_string();
            assert!(short.lines().count() <= 50, "{name}: {} lines: {short}", short.lines().count());
        }
    }
}
