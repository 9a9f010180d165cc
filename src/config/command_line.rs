//! The command line: spelling only.
//!
//! clap takes every value as text, so that a wrong one does not hide the next; `validate` reads the texts.

use std::{
    ffi::{OsStr, OsString},
    path::PathBuf,
};

use clap::{
    Arg, ArgAction, ArgMatches, Command, ValueHint,
    builder::{PossibleValue, TypedValueParser, ValueParser},
    value_parser,
};
use clap_complete::Shell;

use super::{
    Action, Document, NamedChoice, OptionRow, RawArgs, SECTIONS, SetupRequest, Source, ValueKind, options::options,
};

/// What a command line asks for.
pub(super) enum CommandLine {
    /// A document, with exit code 0 whatever is configured.
    Print(Document),
    /// To set up a client; paths are as typed.
    SetUp(SetupRequest),
    /// A start that offers these directories, besides those of `--root`.
    Start { action: Action, directories: Vec<OsString> },
}

const EXAMPLES: &str = "\
Examples:
  rootbound ~/code/app                            serve one directory to an MCP client
  rootbound --read-only ~/code/app ~/code/lib     serve two directories, change nothing
  rootbound --root docs=/srv/docs:ro --root app=. serve them under names, one of them read-only
  rootbound --root /mnt/user-data/workspace=.     the current directory under the path that the model knows
  rootbound call grep pattern=main glob='*.rs'    run one tool here and print what a model would read
  rootbound call edit '{\"path\":\"a.txt\",\"old_string\":\"x\",\"new_string\":\"y\"}'
  rootbound tools                                 list the tools that a client would be offered
  rootbound doctor ~/code/app                     show what protects a run with these options
  rootbound history src/main.rs                   list the recorded changes of a file
  rootbound restore src/main.rs                   restore its content before the last change
  rootbound setup claude-code                     show what the file of a client needs; --write puts it there
  rootbound completions bash                      print the completion script of a shell

Without a directory the current one is served, unless it is / or the home directory.
Every option is also an environment variable and a key of the --config file: --max-output is
ROOTBOUND_MAX_OUTPUT and max_output. The command line overrides the environment, the environment
overrides the file; patterns from all three are combined. A list in the environment is a JSON array,
or one value per line.";

/// Reads the command line; clap answers `--help`, `--version` and misspelled flags by itself.
pub(super) fn parse(
    arguments: impl IntoIterator<Item = OsString>,
    raw: &mut RawArgs,
    problems: &mut Vec<String>,
) -> Result<CommandLine, clap::Error> {
    let matches = command().try_get_matches_from(arguments)?;
    let mut directories: Vec<OsString> = matches.get_many("dir").into_iter().flatten().cloned().collect();
    collect(&matches, raw, problems);
    let Some((name, inner)) = matches.subcommand() else {
        return Ok(CommandLine::Start { action: Action::Serve, directories });
    };
    let word = |id: &str| inner.get_one::<String>(id).cloned();
    let action = match name {
        "completions" => {
            let shell = inner.get_one("shell").copied().unwrap_or(Shell::Bash);
            return Ok(CommandLine::Print(Document::Completions(shell)));
        }
        "man" => return Ok(CommandLine::Print(Document::Man)),
        "setup" => {
            if let Some(value) = raw.values.first() {
                problems.push(format!("{} is before `setup`: give options of the server after --", value.origin()));
            } else if let Some(directory) = directories.first() {
                problems.push(format!("{} is before `setup`: give directories after the client", directory.display()));
            }
            return Ok(CommandLine::SetUp(setup_request(inner)));
        }
        "call" => Action::Call {
            tool: word("tool").unwrap_or_default(),
            arguments: inner.get_many("arguments").into_iter().flatten().cloned().collect(),
        },
        "history" => Action::History { path: word("path") },
        "restore" => Action::Restore { path: word("path").unwrap_or_default(), revision: word("revision") },
        "doctor" => {
            directories.extend(inner.get_many("dir").into_iter().flatten().cloned());
            Action::Doctor
        }
        _ => Action::Tools { json: inner.get_flag("json") },
    };
    collect(inner, raw, problems);
    Ok(CommandLine::Start { action, directories })
}

/// The command line that is understood, for clap; also what completions and the manual page are made from.
pub(crate) fn command() -> Command {
    Command::new("rootbound")
        .version(env!("CARGO_PKG_VERSION"))
        .about("A sandboxed MCP file server on stdio: glob, grep, ls, read, write and edit for AI agents")
        .after_help(EXAMPLES)
        .override_usage(
            "rootbound [OPTIONS] [DIR]...\n       rootbound [OPTIONS] call TOOL [JSON | KEY=VALUE]...\n       \
             rootbound [OPTIONS] tools [--json]\n       rootbound [OPTIONS] history [PATH]\n       \
             rootbound [OPTIONS] restore PATH [REVISION]\n       rootbound [OPTIONS] doctor [DIR]...\n       \
             rootbound setup [CLIENT] [DIR]... [--write | --remove]\n       \
             rootbound completions SHELL\n       rootbound man",
        )
        // `rootbound ~/app call grep …`: a directory of that name is written ./call
        .subcommand_precedence_over_arg(true)
        .arg(directories())
        .args(flags())
        .subcommands(SUBCOMMANDS.iter().map(|(name, about, rest)| Command::new(*name).about(*about).defer(*rest)))
        .subcommand(Command::new("man").about("Print the manual page, in roff"))
}

/// The name of a subcommand, its help, and what adds its arguments.
type Subcommand = (&'static str, &'static str, fn(Command) -> Command);

/// The subcommands with arguments; these are added later, so that a server does not spend its start on them.
const SUBCOMMANDS: &[Subcommand] = &[
    ("call", "Run one tool through the server and print its text; exit 1 when the tool answers with an error", call),
    ("history", "List the recorded changes, newest first, with the revisions that can be restored", history),
    ("restore", "Restore the content of a file before a recorded change, or a deleted file or directory", restore),
    (
        "doctor",
        "Show what protects a run with these options; exit 1 when something is not as configured, 2 when it cannot \
         start with them",
        |command| command.arg(directories()).args(flags()),
    ),
    ("tools", "List the tools that a client would be offered", tools),
    (
        "setup",
        "Print what a client's configuration file needs, or with --write put it there; without CLIENT list the clients",
        setup,
    ),
    ("completions", "Print the completion script of a shell", completions),
];

fn call(command: Command) -> Command {
    command
        .override_usage("rootbound call [OPTIONS] TOOL [JSON | KEY=VALUE]...")
        .arg(Arg::new("tool").value_name("TOOL").required(true).help("Name of the tool, as `rootbound tools` lists it"))
        .arg(
            Arg::new("arguments")
                .value_name("JSON | KEY=VALUE")
                .action(ArgAction::Append)
                .num_args(0..)
                .help("One JSON object, or arguments as words: pattern=main max_results=5"),
        )
        .args(flags())
}

fn history(command: Command) -> Command {
    command
        .arg(Arg::new("path").value_name("PATH").help("Only changes of this file, or below this directory"))
        .args(flags())
}

fn restore(command: Command) -> Command {
    command
        .arg(Arg::new("path").value_name("PATH").required(true).help("The file or the deleted directory"))
        .arg(
            Arg::new("revision")
                .value_name("REVISION")
                .help("Its first digits, as `rootbound history` lists it [default: the newest that differs]"),
        )
        .args(flags())
}

fn tools(command: Command) -> Command {
    command
        .arg(Arg::new("json").long("json").action(ArgAction::SetTrue).help("Print the complete tools/list answer"))
        .args(flags())
}

fn setup(command: Command) -> Command {
    let text = |name: &'static str, value: &'static str, help: &'static str| {
        Arg::new(name).long(name).value_name(value).action(ArgAction::Set).help(help)
    };
    let switch =
        |name: &'static str, help: &'static str| Arg::new(name).long(name).action(ArgAction::SetTrue).help(help);
    command
        .override_usage("rootbound setup [CLIENT] [DIR]... [OPTIONS] [-- OPTION OF THE SERVER...]")
        .arg(Arg::new("client").value_name("CLIENT").help("The client, as `rootbound setup` lists it"))
        .arg(directories().help("Directories to offer"))
        .arg(switch("write", "Change the client's file: shows the change and asks").conflicts_with("remove"))
        .arg(switch("remove", "Take the entry out again, and turn the client's own file tools on"))
        .arg(switch("replace", "Also turn the client's own file tools off").conflicts_with("remove"))
        .arg(switch("yes", "Do not ask").short('y'))
        .arg(text(
            "scope",
            "SCOPE",
            "user (default), project (a file that is shared), or local (Claude Code: you, here)",
        ))
        .arg(text("name", "NAME", "Name of the entry [default: files]"))
        .arg(
            text("file", "FILE", "The client's file, if it is not where it usually is")
                .value_parser(value_parser!(OsString)),
        )
        .arg(switch("read-only", "Offer only the tools that change nothing"))
        .arg(switch("split", "DeerFlow: two entries, one for reading and one for writing"))
        .arg(
            Arg::new("options")
                .value_name("OPTION OF THE SERVER")
                .last(true)
                .num_args(0..)
                .help("As in --max-output 20000"),
        )
}

fn setup_request(matches: &ArgMatches) -> SetupRequest {
    let text = |name: &str| matches.get_one::<String>(name).cloned();
    SetupRequest {
        client: text("client"),
        directories: matches.get_many::<OsString>("dir").into_iter().flatten().map(PathBuf::from).collect(),
        scope: text("scope"),
        name: text("name"),
        file: matches.get_one::<OsString>("file").map(PathBuf::from),
        read_only: matches.get_flag("read-only"),
        write: matches.get_flag("write"),
        remove: matches.get_flag("remove"),
        replace: matches.get_flag("replace"),
        split: matches.get_flag("split"),
        yes: matches.get_flag("yes"),
        options: matches.get_many("options").into_iter().flatten().cloned().collect(),
    }
}

fn completions(command: Command) -> Command {
    command
        .arg(Arg::new("shell").value_name("SHELL").required(true).value_parser(value_parser!(Shell)).help("The shell"))
}

fn directories() -> Arg {
    Arg::new("dir")
        .value_name("DIR")
        .action(ArgAction::Append)
        .num_args(0..)
        .value_parser(value_parser!(OsString))
        .value_hint(ValueHint::DirPath)
        .help("Directories to offer, taken literally; the same as --root without a name")
}

fn flags() -> impl Iterator<Item = Arg> {
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

/// Reads the options of one level. clap's global arguments would let the values after the subcommand replace those
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
}
