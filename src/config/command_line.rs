//! The command line: spelling only.
//!
//! clap takes every value as text, so that a wrong one does not hide the next; `validate` reads the texts.

use std::{ffi::OsString, path::PathBuf};

use clap::{ArgMatches, Command};
use clap_complete::Shell;

use super::{
    Action, Document, EarlierState, EarlierTime, Environment, ExecRequest, GUIDE_CLIENTS, GuideRequest, HistoryRequest,
    IndexRequest, OTHER, RawArgs, RawValue, SetupRequest, Source, StatsRequest,
    arguments::{directories, flags},
    exec_request::exec_request,
    options::options,
    plain_arguments,
    subcommands::SUBCOMMANDS,
};

/// What a command line asks for.
pub(super) enum CommandLine {
    /// A document, with exit code 0 whatever is configured.
    Print(Document),
    /// To set up a client; paths are as typed.
    SetUp(SetupRequest),
    /// To become a command of the host.
    Execute(ExecRequest),
    /// A start that offers these directories, besides those of `--root`.
    Start { action: Action, directories: Vec<OsString> },
}

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
  rootbound restore src/main.rs                   restore what it held before
  rootbound checkpoint before                     name the state as it is now
  rootbound restore --to before                   go back to it
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
    if let Some(plain) = plain_arguments::read(arguments.get(1..).unwrap_or_default()) {
        for option in options() {
            let own = plain.values.iter().filter(|(flag, _)| *flag == option.flag);
            own.for_each(|(_, text)| raw.push(option, text.clone(), Source::CommandLine));
        }
        return Ok(CommandLine::Start { action: Action::Serve, directories: plain.directories });
    }
    let matches = command().try_get_matches_from(arguments)?;
    let mut directories: Vec<OsString> = matches.get_many("dir").into_iter().flatten().cloned().collect();
    collect(&matches, raw, problems);
    let Some((name, inner)) = matches.subcommand() else {
        return Ok(CommandLine::Start { action: Action::Serve, directories });
    };
    let word = |id: &str| inner.get_one::<String>(id).cloned();
    let words = |id: &str| inner.get_many::<String>(id).into_iter().flatten().cloned().collect();
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
            return Ok(CommandLine::SetUp(setup(inner)));
        }
        "exec" => {
            let before = raw.values.iter().map(RawValue::origin);
            for word in before.chain(directories.iter().map(|directory| directory.display().to_string())) {
                problems.push(format!("{word} is before `exec`: give options after it, and directories with --root"));
            }
            return Ok(CommandLine::Execute(exec_request(inner, environment, problems)));
        }
        // Alone it shows what can be called.
        "call" if inner.get_one::<OsString>("tool").is_none() => Action::Tools { json: false },
        "call" => Action::Call {
            tool: inner.get_one::<OsString>("tool").map(|name| name.display().to_string()).unwrap_or_default(),
            arguments: inner.get_many("arguments").into_iter().flatten().cloned().collect(),
        },
        "checkpoint" => Action::Checkpoint { name: word("name").unwrap_or_default() },
        "history" => {
            Action::History(HistoryRequest { path: word("path"), session: word("session"), since: word("since") })
        }
        "restore" => restore(inner, problems),
        "diff" => Action::Diff(earlier_state(inner, "name", &["paths"])),
        "apply" => Action::Apply { paths: words("paths"), skip_conflicts: inner.get_flag("skip-conflicts") },
        "discard" => Action::Discard { paths: words("paths") },
        "guide" => Action::Guide(guide(inner)),
        "stats" => Action::Stats(StatsRequest {
            file: inner.get_one("file").cloned(),
            since: inner.get_one("since").copied(),
            json: inner.get_flag("json"),
        }),
        "index" => {
            directories.extend(inner.get_many("dir").into_iter().flatten().cloned());
            let named = !directories.is_empty() || inner.contains_id("root") || matches.contains_id("root");
            let request = match word("what").as_deref() {
                Some("clear") if named => IndexRequest::Clear,
                Some("clear") => IndexRequest::ClearAll,
                Some("build") => IndexRequest::Build,
                _ => IndexRequest::Status,
            };
            Action::Index { request, json: inner.get_flag("json") }
        }
        "doctor" => {
            directories.extend(inner.get_many("dir").into_iter().flatten().cloned());
            Action::Doctor
        }
        _ => Action::Tools { json: inner.get_flag("json") },
    };
    collect(inner, raw, problems);
    Ok(CommandLine::Start { action, directories })
}

/// The command line that is understood, for clap; also what the manual page is made from.
pub(crate) fn command() -> Command {
    command_without_directories().arg(directories())
}

/// What completions are made from: their scripts take any word before a subcommand for the first directory.
pub(crate) fn command_without_directories() -> Command {
    Command::new("rootbound")
        .version(env!("CARGO_PKG_VERSION"))
        .about("A sandboxed MCP file server on stdio: glob, grep, ls, read, write and edit for AI agents")
        .after_help(EXAMPLES)
        .override_usage(
            "rootbound [OPTIONS] [DIR]...\n       rootbound [OPTIONS] call TOOL [JSON | KEY=VALUE]...\n       \
             rootbound [OPTIONS] tools [--json]\n       rootbound [OPTIONS] history [PATH]\n       \
             rootbound [OPTIONS] restore PATH [REVISION]\n       rootbound [OPTIONS] checkpoint NAME\n       \
             rootbound [OPTIONS] restore --to NAME [PATH]...\n       \
             rootbound [OPTIONS] diff [NAME] [PATH]...\n       rootbound [OPTIONS] apply [PATH]...\n       \
             rootbound [OPTIONS] discard [PATH]...\n       \
             rootbound [OPTIONS] index status | build | clear [DIR]...\n       \
             rootbound [OPTIONS] doctor [DIR]...\n       \
             rootbound setup [CLIENT] [DIR]... [--write | --remove]\n       rootbound guide [CLIENT]\n       \
             rootbound stats [FILE]\n       rootbound exec [--root DIR]... -- CMD [ARG]...\n       \
             rootbound completions SHELL\n       rootbound man",
        )
        // `rootbound ~/app call grep …`: a directory of that name is written ./call
        .subcommand_precedence_over_arg(true)
        .args(flags())
        .subcommands(SUBCOMMANDS.iter().map(|(name, about, rest)| Command::new(*name).about(*about).defer(*rest)))
}

fn setup(inner: &ArgMatches) -> SetupRequest {
    let text = |name: &str| inner.get_one::<String>(name).cloned();
    SetupRequest {
        client: text("client"),
        directories: inner.get_many::<OsString>("dir").into_iter().flatten().map(PathBuf::from).collect(),
        scope: text("scope"),
        name: text("name"),
        file: inner.get_one::<OsString>("file").map(PathBuf::from),
        read_only: inner.get_flag("read-only"),
        write: inner.get_flag("write"),
        remove: inner.get_flag("remove"),
        replace: inner.get_flag("replace"),
        split: inner.get_flag("split"),
        yes: inner.get_flag("yes"),
        options: inner.get_many("options").into_iter().flatten().cloned().collect(),
    }
}

fn restore(inner: &ArgMatches, problems: &mut Vec<String>) -> Action {
    let word = |id: &str| inner.get_one::<String>(id).cloned();
    match earlier_state(inner, "to", &["path", "revision", "more"]) {
        None => {
            if inner.contains_id("more") || inner.get_flag("include-others") || inner.get_flag("dry-run") {
                problems.push(
                    "more than PATH and REVISION is for an earlier state: give --to NAME or --session ID as well"
                        .to_owned(),
                );
            }
            Action::Restore { path: word("path").unwrap_or_default(), revision: word("revision") }
        }
        Some(state) => Action::RestoreState {
            state,
            include_others: inner.get_flag("include-others"),
            dry_run: inner.get_flag("dry-run"),
        },
    }
}

/// The state with the name in `name`, or before a session, and the paths in `paths`.
fn earlier_state(inner: &ArgMatches, name: &str, paths: &[&str]) -> Option<EarlierState> {
    let words = |id: &&str| inner.get_many::<String>(id).into_iter().flatten().cloned().collect::<Vec<String>>();
    let mut paths: Vec<String> = paths.iter().flat_map(words).collect();
    let name = inner.get_one::<String>(name).cloned();
    let when = match (inner.get_one::<String>("session").cloned(), name) {
        (Some(session), name) => {
            // No name is asked for then: the word is the first path.
            paths.splice(0..0, name);
            EarlierTime::Session(session)
        }
        (None, Some(name)) => EarlierTime::Checkpoint(name),
        (None, None) => return None,
    };
    Some(EarlierState { when, paths })
}

fn guide(inner: &ArgMatches) -> GuideRequest {
    let name = inner.get_one::<String>("client");
    let client = name.and_then(|name| GUIDE_CLIENTS.iter().find(|client| client.is_called(name)));
    GuideRequest {
        client: client.unwrap_or(&OTHER),
        part: inner.get_one("part").copied(),
        prefix: inner.get_one("prefix").cloned(),
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
