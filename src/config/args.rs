//! The command line and the environment: spelling only.
//!
//! clap takes every value as text, so that a wrong one does not hide the next; what the texts mean
//! is `validate`'s matter.

use std::ffi::OsString;

use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};

use crate::text::nearest_name::{ONE_OF_FEW, did_you_mean, nearest_names};

use super::{
    kind::{Kind, Opt, PREFIX},
    options::OPTIONS,
    raw::{RawArgs, Source},
};

/// What is to be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Serve a client on stdin and stdout.
    Serve,
    /// Run one tool and print its text.
    Call {
        /// The tool's name.
        tool: String,
        /// A JSON object, or `key=value` words.
        arguments: Vec<String>,
    },
    /// Print the recorded changes.
    History {
        /// Only those of this file, or below this directory.
        path: Option<String>,
    },
    /// Put a recorded content back.
    Restore {
        /// The file or deleted directory.
        path: String,
        /// The content, by the first digits of its revision; none for the newest that differs.
        revision: Option<String>,
    },
    /// Print what protects a run with these options.
    Doctor,
    /// Print what a client would be offered.
    Tools {
        /// The whole `tools/list` answer instead of a summary.
        json: bool,
    },
}

const EXAMPLES: &str = "\
Examples:
  rootbound ~/code/app                            serve one directory to an MCP client
  rootbound --read-only ~/code/app ~/code/lib     serve two, changing nothing
  rootbound --root docs=/srv/docs:ro --root app=. serve them under names, one of them read-only
  rootbound --root /mnt/user-data/workspace=.     the current directory under the path that the model knows
  rootbound call grep pattern=main glob='*.rs'    run one tool here and print what a model would read
  rootbound call edit '{\"path\":\"a.txt\",\"old_string\":\"x\",\"new_string\":\"y\"}'
  rootbound tools                                 what a client would be offered
  rootbound doctor ~/code/app                     what protects a run with these options
  rootbound history src/main.rs                   what was changed, and which contents are kept
  rootbound restore src/main.rs                   put back what it held before the last change

Without a directory the current one is served, unless it is / or the home directory.
Every option is also an environment variable and a key of the --config file: --max-output is
ROOTBOUND_MAX_OUTPUT and max_output. The command line wins over the environment, the environment over
the file; patterns from all three add up. A list in the environment is a JSON array, or one value a line.";

/// Reads the command line; clap answers `--help`, `--version` and misspelled flags by itself.
pub(super) fn command_line(
    arguments: impl IntoIterator<Item = OsString>,
    raw: &mut RawArgs,
    problems: &mut Vec<String>,
) -> Result<(Action, Vec<OsString>), clap::Error> {
    let matches = command().try_get_matches_from(arguments)?;
    let mut directories: Vec<OsString> = matches.get_many("dir").into_iter().flatten().cloned().collect();
    collect(&matches, raw, problems);
    let action = match matches.subcommand() {
        Some(("call", inner)) => {
            collect(inner, raw, problems);
            let words = |id: &str| inner.get_many::<String>(id).into_iter().flatten().cloned().collect::<Vec<_>>();
            Action::Call { tool: words("tool").concat(), arguments: words("arguments") }
        }
        Some(("history", inner)) => {
            collect(inner, raw, problems);
            Action::History { path: inner.get_one::<String>("path").cloned() }
        }
        Some(("restore", inner)) => {
            collect(inner, raw, problems);
            let word = |id: &str| inner.get_one::<String>(id).cloned();
            Action::Restore { path: word("path").unwrap_or_default(), revision: word("revision") }
        }
        Some(("doctor", inner)) => {
            collect(inner, raw, problems);
            directories.extend(inner.get_many("dir").into_iter().flatten().cloned());
            Action::Doctor
        }
        Some((_, inner)) => {
            collect(inner, raw, problems);
            Action::Tools { json: inner.get_flag("json") }
        }
        None => Action::Serve,
    };
    Ok((action, directories))
}

/// Reads the variables that begin with `ROOTBOUND_`. An empty one counts as not set: clients pass
/// `""` for what their own configuration leaves out.
pub(super) fn environment(
    variables: impl IntoIterator<Item = (OsString, OsString)>,
    raw: &mut RawArgs,
    problems: &mut Vec<String>,
) {
    for (name, value) in variables {
        let Some(name) = name.to_str().filter(|name| name.starts_with(PREFIX)) else { continue };
        let Some(option) = OPTIONS.iter().find(|option| option.variable() == name) else {
            let names: Vec<String> = OPTIONS.iter().map(Opt::variable).collect();
            // Without the prefix, which alone would make any two names alike.
            let words = names.iter().map(|name| &name[PREFIX.len()..]);
            let near = nearest_names(&name[PREFIX.len()..], words, ONE_OF_FEW);
            let next = did_you_mean(near.first().map(|near| format!("{PREFIX}{near}")))
                .unwrap_or_else(|| "unset it; `rootbound --help` lists the options".to_owned());
            problems.push(format!("{name} is no variable of rootbound: {next}"));
            continue;
        };
        let Ok(text) = value.into_string() else {
            problems.push(format!("{name} is not UTF-8: set it to UTF-8 text, or unset it"));
            continue;
        };
        if text.is_empty() {
            continue;
        }
        if !option.is_list() {
            raw.push(option, text, Source::Environment);
        } else if text.trim_start().starts_with("[\"") {
            match serde_json::from_str::<Vec<String>>(&text) {
                Ok(values) => values.into_iter().for_each(|value| raw.push(option, value, Source::Environment)),
                Err(error) => problems.push(format!(
                    "{name} begins like a JSON array but is none ({error}): write [\"first\", \"second\"], or one value a \
                     line"
                )),
            }
        } else {
            for line in text.lines().filter(|line| !line.is_empty()) {
                raw.push(option, line.to_owned(), Source::Environment);
            }
        }
    }
}

fn command() -> Command {
    Command::new("rootbound")
        .version(env!("CARGO_PKG_VERSION"))
        .about("A sandboxed MCP file server on stdio: glob, grep, ls, read, write and edit for AI agents")
        .after_help(EXAMPLES)
        .override_usage(
            "rootbound [OPTIONS] [DIR]...\n       rootbound [OPTIONS] call TOOL [JSON | KEY=VALUE]...\n       \
             rootbound [OPTIONS] tools [--json]\n       rootbound [OPTIONS] history [PATH]\n       \
             rootbound [OPTIONS] restore PATH [REVISION]\n       rootbound [OPTIONS] doctor [DIR]...",
        )
        // `rootbound ~/app call grep …`: a directory of that name is written ./call
        .subcommand_precedence_over_arg(true)
        .disable_help_subcommand(true)
        .arg(directories())
        .args(OPTIONS.iter().map(flag))
        // Deferred, so that a server does not spend its start on subcommands.
        .subcommand(
            Command::new("call")
                .about("Run one tool through the server and print its text; exit 1 when the tool answers with an error")
                .defer(call),
        )
        .subcommand(
            Command::new("history")
                .about("Print the recorded changes, the newest first, with the revisions that can be restored")
                .defer(history),
        )
        .subcommand(
            Command::new("restore")
                .about("Put back what a file held before a recorded change, or a deleted file or directory")
                .defer(restore),
        )
        .subcommand(
            Command::new("doctor")
                .about("Print what protects a run with these options; exit 1 when anything is not as configured, 2 when it \
                     could not start with them")
                .defer(doctor),
        )
        .subcommand(Command::new("tools").about("Print what a client would be offered").defer(tools))
}

fn call(command: Command) -> Command {
    command
        .override_usage("rootbound call [OPTIONS] TOOL [JSON | KEY=VALUE]...")
        .arg(Arg::new("tool").value_name("TOOL").required(true).help("Its name, as `rootbound tools` lists it"))
        .arg(
            Arg::new("arguments")
                .value_name("JSON | KEY=VALUE")
                .action(ArgAction::Append)
                .num_args(0..)
                .help("One JSON object, or arguments as words: pattern=main max_results=5"),
        )
        .args(OPTIONS.iter().map(flag))
}

fn history(command: Command) -> Command {
    command
        .arg(Arg::new("path").value_name("PATH").help("Only this file, or what lies below this directory"))
        .args(OPTIONS.iter().map(flag))
}

fn restore(command: Command) -> Command {
    command
        .arg(Arg::new("path").value_name("PATH").required(true).help("The file or the deleted directory"))
        .arg(
            Arg::new("revision")
                .value_name("REVISION")
                .help("Its first digits, as `rootbound history` lists it [default: the newest that differs]"),
        )
        .args(OPTIONS.iter().map(flag))
}

fn doctor(command: Command) -> Command {
    command.arg(directories()).args(OPTIONS.iter().map(flag))
}

fn tools(command: Command) -> Command {
    command
        .arg(Arg::new("json").long("json").action(ArgAction::SetTrue).help("The whole tools/list answer"))
        .args(OPTIONS.iter().map(flag))
}

fn directories() -> Arg {
    Arg::new("dir")
        .value_name("DIR")
        .action(ArgAction::Append)
        .num_args(0..)
        .value_parser(value_parser!(OsString))
        .help("Directories to offer, taken literally; the same as --root without a name")
}

fn flag(option: &'static Opt) -> Arg {
    let arg = Arg::new(option.flag)
        .long(option.flag)
        .value_name(option.value)
        .value_parser(value_parser!(OsString))
        .help(option.full_help())
        .help_heading(option.heading);
    match option.kind {
        Kind::List => arg.action(ArgAction::Append),
        // `--read-only` and `--read-only=false`, never `--read-only false`, which would take a DIR.
        Kind::Switch(_) => arg
            .action(ArgAction::Set)
            .num_args(0..=1)
            .require_equals(true)
            .default_missing_value("true")
            .hide_possible_values(true),
        _ => arg.action(ArgAction::Set),
    }
}

/// Each level is read by itself: clap's own global arguments would let the values after the
/// subcommand replace those before it, where a list must hold both.
fn collect(matches: &ArgMatches, raw: &mut RawArgs, problems: &mut Vec<String>) {
    for option in OPTIONS {
        for value in matches.get_many::<OsString>(option.flag).into_iter().flatten() {
            match value.to_str() {
                Some(text) => raw.push(option, text.to_owned(), Source::CommandLine),
                None => problems.push(format!(
                    "--{} {} is not UTF-8: a directory of such a name can be given as a plain DIR argument",
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
    fn the_table_makes_a_command_that_clap_accepts() {
        let mut command = command();
        command.build();
        command.debug_assert();
    }

    #[test]
    fn a_list_in_the_environment_is_lines_or_a_json_array() {
        let read = |text: &str| {
            let (mut raw, mut problems) = (RawArgs::default(), Vec::new());
            environment([("ROOTBOUND_DENY".into(), text.into())], &mut raw, &mut problems);
            (raw.list("deny"), problems)
        };
        assert_eq!(read("*.a\n{b,c}\n").0, ["*.a", "{b,c}"]);
        assert_eq!(read("[\"*.a\", \"x y\"]").0, ["*.a", "x y"]);
        assert_eq!(read("[Mm]akefile").0, ["[Mm]akefile"]);
        assert_eq!(read("[\"a\", b]").1.len(), 1);
    }
}
