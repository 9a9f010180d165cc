//! The command line: spelling only. The commands with their names, their help and their arguments, and the table of options
//! as clap wants it.
//!
//! clap takes every value as text, so that a wrong one does not hide the next; `validate` reads the texts.

use std::{ffi::OsString, ops::ControlFlow, path::PathBuf};

use clap::{
    Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches, Subcommand, ValueHint,
    builder::{PossibleValue, PossibleValuesParser, ValueParser},
    value_parser,
};
use clap_complete::Shell;

use file_tools::Toolbox;

use super::{
    Config, Document, Environment, ExecRequest, GUIDE_CLIENTS, OPTION_SECTIONS, OptionRow, RawArgs, RawValue, Source,
    ValueKind,
    exec::ExecArguments,
    options::options,
    requests::{
        Action, CallRequest, GuideRequest, HistoryCommand, IndexRequest, KnownValues, ListRequest, SetupRequest,
    },
    validate::TOOL_GROUPS,
};

type CommandRow = (&'static str, &'static str, fn(Command) -> Command);

/// The commands; their arguments are added later, so that a server does not spend its start on them.
pub(super) const COMMAND_ROWS: &[CommandRow] = &[
    ("call", "Run one tool through the server and print its text", |command| {
        with_flags(own::<CallRequest>(command))
                .override_usage("rootbound call [OPTIONS] TOOL [JSON | KEY=VALUE]...")
                .after_help(if cfg!(windows) {
                    "Examples:\n  rootbound call grep pattern=main \"glob=*.rs\"\n  \
                 rootbound C:\\code\\app call read path=README.md limit=20\n\n\
                 cmd and PowerShell remove the double quotes of JSON: write KEY=VALUE there. The exit code is 1 if the tool \
                 answers with an error."
                } else {
                    "Examples:\n  rootbound call grep pattern=main glob='*.rs'\n  \
                 rootbound ~/code/app call read '{\"path\":\"README.md\",\"limit\":20}'\n\n\
                 The exit code is 1 if the tool answers with an error."
                })
    }),
    ("history", "List, compare, restore and purge the recorded changes, and name states to go back to", |command| {
        // `rootbound history src` lists as `rootbound history list src` does.
        let command = own_commands::<HistoryCommand>(own::<ListRequest>(command));
        with_flags(command)
            .subcommand_precedence_over_arg(true)
            .override_usage(
                "rootbound history [OPTIONS] [PATH]\n       rootbound history [OPTIONS] list | restore | diff | checkpoint | purge …",
            )
            .after_help("Examples:\n  rootbound history src/main.rs\n  rootbound history restore src/main.rs")
    }),
    ("index", "Show, build or remove what is stored so that the first search is fast, too", |command| {
        let directories = directories()
            .help("Directories, as a server is started with them [default: the current one; of `clear`: see there]");
        with_flags(own::<IndexRequest>(command).arg(directories))
            .override_usage("rootbound index [OPTIONS] status | build | clear [DIR]...")
            .after_help(
                "Examples:\n  rootbound index status ~/code/app\n  rootbound index build ~/code/app\n  rootbound index clear",
            )
    }),
    ("doctor", "Show what protects a run with these options", |command| {
        with_flags(command.arg(directories())).after_help("Examples:\n  rootbound doctor --read-only ~/code/app\n\nThe exit code is 1 if something is not as configured, and 2 if nothing can start with these options.")
    }),
    ("tools", "List the tools that a client would be offered", |command| {
        let json = Arg::new("json").long("json").action(ArgAction::SetTrue);
        with_flags(command.arg(json.help("Print the complete tools/list answer")))
            .after_help("Examples:\n  rootbound tools --allow manage")
    }),
    ("setup", "Print what a client's configuration needs, or with --write put it there", |command| {
        own::<SetupRequest>(command)
            .override_usage("rootbound setup [CLIENT] [DIR]... [OPTIONS] [-- OPTION OF THE SERVER...]")
            .after_help(
                "Examples:\n  rootbound setup claude-code --write\n  \
                     rootbound setup claude-desktop ~/code/app --write\n  \
                     rootbound setup vscode --scope project --write -- --read-only\n  rootbound setup codex --remove",
            )
    }),
    ("guide", "Print what to paste for the model: a paragraph about these tools, or a skill file", |command| {
        let clients = GUIDE_CLIENTS.iter().map(|client| PossibleValue::new(client.name).aliases(client.aliases));
        with_flags(own::<GuideRequest>(command))
            .mut_arg("client", |client| client.value_parser(PossibleValuesParser::new(clients)))
            .after_help(
                "Examples:\n  rootbound guide claude-code >> CLAUDE.md\n  \
                 rootbound guide deerflow --part skill > skills/public/rootbound-files/SKILL.md\n\n\
                 The text goes to stdout; where it belongs, and its size in tokens, to stderr.",
            )
    }),
    ("exec", "Run a command behind the walls of the server: these directories, no network", |command| {
        own::<ExecArguments>(command).override_usage("rootbound exec [OPTIONS] -- CMD [ARG]...").after_help(
            "Examples:\n  rootbound exec --root ~/code/app -- npm test\n  \
             rootbound exec --root .:ro --root ./target --read ~/.cargo/bin --read ~/.rustup -- cargo check\n  \
             rootbound exec --root . --network --env GITHUB_TOKEN -- gh pr list\n\n\
             The exit code is the command's; 126 if it cannot be executed, 127 if it is not found, 2 if a wall is \
             missing or an option is wrong. Run as root, the command can change mode and owner of ANY file of the system, \
             keys included: use another account. Variables and files with options of the server have no meaning here.",
        )
    }),
    ("completions", "Print the completion script of a shell", |command| {
        let shell = Arg::new("shell").value_name("SHELL").required(true).value_parser(value_parser!(Shell));
        command.arg(shell.help("The shell")).after_help(
            "Examples:\n  eval \"$(rootbound completions bash)\"    in ~/.bashrc\n  \
             rootbound completions zsh > ~/.zfunc/_rootbound    in a folder of fpath\n  \
             rootbound completions fish > ~/.config/fish/completions/rootbound.fish\n  \
             rootbound completions powershell >> $PROFILE",
        )
    }),
    ("man", "Print the manual page, in roff", |command| {
        command
            .after_help("Examples:\n  rootbound man | man -l -\n  rootbound man > ~/.local/share/man/man1/rootbound.1")
    }),
];

fn own<A: Args>(command: Command) -> Command {
    with_its_about(command, A::augment_args)
}

fn own_commands<S: Subcommand>(command: Command) -> Command {
    with_its_about(command, S::augment_subcommands).mut_subcommands(with_flags)
}

/// clap makes a description of the documentation of the type, in place of that in the table.
fn with_its_about(command: Command, add: fn(Command) -> Command) -> Command {
    let about = command.get_about().cloned().unwrap_or_default();
    add(command).about(about).long_about(None)
}

/// The request of the matched command `name`.
///
/// # Errors
/// Those of clap, which has checked the arguments already.
pub(super) fn action(name: &str, matches: &ArgMatches, names_directories: bool) -> Result<Action, clap::Error> {
    Ok(match name {
        "call" => match CallRequest::from_arg_matches(matches)? {
            // Alone it shows what can be called.
            CallRequest { tool: None, .. } => Action::Tools { json: false },
            request => Action::Call(request),
        },
        "history" if matches.subcommand().is_none() => {
            Action::History(HistoryCommand::List(ListRequest::from_arg_matches(matches)?))
        }
        "history" => Action::History(HistoryCommand::from_arg_matches(matches)?),
        "index" => Action::Index(IndexRequest { names_directories, ..IndexRequest::from_arg_matches(matches)? }),
        "doctor" => Action::Doctor,
        "guide" => Action::Guide(GuideRequest::from_arg_matches(matches)?),
        _ => Action::Tools { json: matches.get_flag("json") },
    })
}

pub(super) fn directories() -> Arg {
    Arg::new("dir")
        .value_name("DIR")
        .action(ArgAction::Append)
        .num_args(0..)
        .value_parser(value_parser!(OsString))
        .value_hint(ValueHint::DirPath)
        .help("Directories to offer, taken literally; the same as --root without a name")
}

pub(super) fn with_flags(command: Command) -> Command {
    command.args(flags(&[]))
}

/// All options; `-h` shows those of `common`.
pub(super) fn flags(common: &'static [&str]) -> impl Iterator<Item = Arg> {
    let flag = |(heading, option): (&'static str, &'static OptionRow)| {
        flag(option).help_heading(heading).hide_short_help(!common.contains(&option.flag))
    };
    OPTION_SECTIONS.iter().flat_map(|(heading, options)| options.iter().map(|option| (*heading, option))).map(flag)
}

fn flag(option: &'static OptionRow) -> Arg {
    let arg = Arg::new(option.flag)
        .long(option.flag)
        .value_name(option.value_name())
        .value_parser(value_parser!(OsString))
        .value_hint(value_hint(option))
        .help(option.short_help())
        .long_help(option.full_help())
        .hide_possible_values(true);
    match option.kind {
        ValueKind::List("GROUP") => arg
            .action(ArgAction::Append)
            .value_parser(ValueParser::new(KnownValues(TOOL_GROUPS.iter().map(|(name, _)| *name).collect()))),
        ValueKind::List(_) => arg.action(ArgAction::Append),
        // `--read-only` and `--read-only=false`, never `--read-only false`, which would take a DIR.
        ValueKind::Switch(_) => {
            arg.action(ArgAction::Set).num_args(0..=1).require_equals(true).default_missing_value("true")
        }
        ValueKind::Choice(_, choices) => {
            arg.action(ArgAction::Set).value_parser(ValueParser::new(KnownValues(choices.names())))
        }
        ValueKind::Text("LIST") => {
            arg.action(ArgAction::Set).value_parser(ValueParser::new(KnownValues(Toolbox::known())))
        }
        _ => arg.action(ArgAction::Set),
    }
}

fn value_hint(option: &OptionRow) -> ValueHint {
    match option.kind {
        ValueKind::Text("FILE") => ValueHint::FilePath,
        ValueKind::Text("DIR") | ValueKind::List("[NAME=]PATH") => ValueHint::DirPath,
        ValueKind::List("GLOB" | "PATTERN") => ValueHint::AnyPath,
        _ => ValueHint::Other,
    }
}

#[derive(Debug)]
pub enum Invocation {
    /// To print a document about the program, with exit code 0 whatever is configured.
    Print(Document),
    SetUp(SetupRequest),
    /// To become a command of the host.
    Execute(ExecRequest),
    Start(Box<Config>),
}

/// An invocation without a configuration, or a start that offers these directories besides those of `--root`.
pub(super) type CommandLine = ControlFlow<Invocation, (Action, Vec<OsString>)>;

/// The options that `-h` shows; `--help` shows all.
const COMMON_OPTIONS: [&str; 9] =
    ["root", "read-only", "tools", "allow", "confirm", "deny", "protect", "secrets", "config"];

const MORE_HELP: &str = "All options and examples: rootbound --help. One command: rootbound COMMAND --help";

const HELP_EXAMPLES: &str = "\
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
  rootbound setup claude-code --write             add it to a client
  rootbound guide claude-code                     print a text for CLAUDE.md
  rootbound index build ~/code/app                store what searches need
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
        .after_help(MORE_HELP)
        .after_long_help(HELP_EXAMPLES)
        .override_usage("rootbound [OPTIONS] [DIR]...\n       rootbound [OPTIONS] COMMAND ...")
        // `rootbound ~/app call grep …`: a directory of that name is written ./call
        .subcommand_precedence_over_arg(true)
        .args(flags(&COMMON_OPTIONS))
        .subcommands(COMMAND_ROWS.iter().map(|(name, about, rest)| Command::new(*name).about(*about).defer(*rest)))
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
        assert!(COMMON_OPTIONS.iter().all(|flag| short.contains(&format!("--{flag}"))), "{short}");
        let long = command().render_long_help().to_string();
        assert!(options().all(|option| long.contains(&format!("--{}", option.flag))), "{long}");
        for (name, ..) in COMMAND_ROWS {
            let mut command = command();
            command.build();
            let short = command.find_subcommand_mut(name).expect("in the table").render_help().to_string();
            assert!(short.lines().count() <= 50, "{name}: {} lines: {short}", short.lines().count());
        }
    }
}
