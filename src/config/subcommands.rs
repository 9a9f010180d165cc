//! The subcommands: their names, their help and their own arguments.

use std::{ffi::OsString, path::PathBuf};

use clap::{
    Arg, ArgAction, Command, ValueHint,
    builder::{PossibleValue, PossibleValuesParser, ValueParser},
    value_parser,
};
use clap_complete::Shell;

use super::{
    GUIDE_CLIENTS, GuidePart, SETUP_CLIENTS,
    arguments::{Known, directories, flags, switch},
    exec_arguments::exec,
    stats_request,
};

/// The name of a subcommand, its help, and what adds its arguments.
pub(super) type Subcommand = (&'static str, &'static str, fn(Command) -> Command);

/// The subcommands; their arguments are added later, so that a server does not spend its start on them.
pub(super) const SUBCOMMANDS: &[Subcommand] = &[
    ("call", "Run one tool through the server and print its text; exit 1 when the tool answers with an error", call),
    ("history", "List the recorded changes, newest first, with the revisions that can be restored", history),
    ("restore", "Restore the content of a file before a recorded change, or a deleted file or directory", restore),
    ("checkpoint", "Name the state as it is now, for `restore --to`, `diff` and the tool undo", checkpoint),
    ("diff", "Show how an earlier state differs from now, or with --stage what is staged, as a diff", diff),
    ("apply", "Make the changes on the disk that are staged with --stage, all or none", apply),
    ("discard", "Drop changes that are staged with --stage", discard),
    ("index", "Show, build or remove what is stored in the state folder so that the first search is fast, too", index),
    (
        "doctor",
        "Show what protects a run with these options; exit 1 when something is not as configured, 2 when it cannot \
         start with them",
        doctor,
    ),
    ("tools", "List the tools that a client would be offered", tools),
    (
        "setup",
        "Print what a client's configuration file needs, or with --write put it there; without CLIENT list the clients",
        setup,
    ),
    ("guide", "Print what to paste for the model: a paragraph about these tools, and a skill file for DeerFlow", guide),
    ("stats", "Add up a recorded audit: calls, errors, bytes and times of each tool and each client", stats),
    ("exec", "Run a command behind the walls of the server: these directories, no network, no secrets of yours", exec),
    ("completions", "Print the completion script of a shell", completions),
    ("man", "Print the manual page, in roff", man),
];

fn call(command: Command) -> Command {
    command
        .override_usage("rootbound call [OPTIONS] TOOL [JSON | KEY=VALUE]...")
        .after_help(if cfg!(windows) {
            "Examples:\n  rootbound call grep pattern=main \"glob=*.rs\"\n  \
                 rootbound C:\\code\\app call read path=README.md limit=20\n\n\
                 cmd and PowerShell remove the double quotes of JSON: write KEY=VALUE there."
        } else {
            "Examples:\n  rootbound call grep pattern=main glob='*.rs'\n  \
                 rootbound ~/code/app call read '{\"path\":\"README.md\",\"limit\":20}'"
        })
        .arg(
            Arg::new("tool")
                .value_name("TOOL")
                .value_parser(ValueParser::new(Known::Tools))
                .hide_possible_values(true)
                .help("Name of the tool, as `rootbound tools` lists it, and `rootbound call` alone"),
        )
        .arg(
            Arg::new("arguments")
                .value_name("JSON | KEY=VALUE")
                .action(ArgAction::Append)
                .num_args(0..)
                .help("One JSON object, or arguments as words: pattern=main max_results=5"),
        )
        .args(flags())
}

fn checkpoint(command: Command) -> Command {
    command
        .after_help("Examples:\n  rootbound checkpoint before-agent\n  rootbound restore --to before-agent --dry-run")
        .arg(
            Arg::new("name")
                .value_name("NAME")
                .required(true)
                .value_hint(ValueHint::Other)
                .help("A short name; one that exists already is moved"),
        )
        .args(flags())
}

/// An option of a subcommand that says which changes are meant.
fn which(name: &'static str, value: &'static str) -> Arg {
    Arg::new(name).long(name).value_name(value).action(ArgAction::Set).value_hint(ValueHint::Other)
}

fn session() -> Arg {
    which("session", "ID")
        .help("Only the changes of the session with these first digits, as `rootbound history` lists it")
}

fn history(command: Command) -> Command {
    command
        .after_help("Examples:\n  rootbound history src/main.rs\n  rootbound history --since before-agent")
        .arg(path().help("Only changes of this file, or below this directory"))
        .arg(session())
        .arg(which("since", "NAME").help("Only changes since the checkpoint of this name"))
        .args(flags())
}

fn restore(command: Command) -> Command {
    command
        .override_usage(
            "rootbound restore [OPTIONS] PATH [REVISION]\n       \
             rootbound restore [OPTIONS] --to NAME [PATH]...\n       rootbound restore [OPTIONS] --session ID [PATH]...",
        )
        .after_help(
            "Examples:\n  rootbound restore src/main.rs\n  rootbound restore src/main.rs 3f9a1c0b22d4\n  \
             rootbound restore --to before-agent --dry-run\n  rootbound restore --session 3f9a1c0b src\n\n\
             `rootbound history` lists revisions, checkpoints and sessions.",
        )
        .arg(
            path()
                .required_unless_present_any(["to", "session"])
                .help("The file or the deleted directory; with --to or --session, what goes back [default there: all]"),
        )
        .arg(
            Arg::new("revision").value_name("REVISION").value_hint(ValueHint::Other).help(
                "First digits of the revision, as `rootbound history` lists it [default: the newest that differs]",
            ),
        )
        .arg(
            Arg::new("more")
                .value_name("PATH")
                .action(ArgAction::Append)
                .num_args(0..)
                .value_hint(ValueHint::AnyPath)
                .help("More paths, with --to or --session"),
        )
        .arg(which("to", "NAME").conflicts_with("session").help("Go back to the checkpoint of this name"))
        .arg(session())
        .arg(
            switch("include-others", "Also where somebody else has changed a file since; that is kept first"),
        )
        .arg(switch("dry-run", "Only show what would be done"))
        .args(flags())
}

fn diff(command: Command) -> Command {
    command
        .after_help(
            "Examples:\n  rootbound diff\n  rootbound diff before-agent\n  rootbound diff --session 3f9a1c0b src",
        )
        .arg(
            Arg::new("name")
                .value_name("NAME")
                .value_hint(ValueHint::Other)
                .help("The checkpoint [default: the disk, with --stage]"),
        )
        .arg(paths().help("Only these files, and what is below these directories"))
        .arg(session())
        .args(flags())
}

fn apply(command: Command) -> Command {
    command
        .after_help(
            "Examples:\n  rootbound apply\n  rootbound apply src/main.rs tests\n\n\
             Stop a server that stages changes first, or wait until it is idle. Where somebody has changed a file on the \
             disk since it was staged, nothing is applied, and the files are listed.",
        )
        .arg(paths().help("Only these files, and what is below these directories"))
        .arg(
            Arg::new("skip-conflicts")
                .long("skip-conflicts")
                .action(ArgAction::SetTrue)
                .help("Apply the rest if some files were also changed on the disk; these stay staged"),
        )
        .args(flags())
}

fn discard(command: Command) -> Command {
    command
        .after_help("Examples:\n  rootbound discard src/main.rs\n  rootbound discard")
        .arg(paths().help("Only these files, and what is below these directories [default: everything]"))
        .args(flags())
}

fn index(command: Command) -> Command {
    let possible = [
        PossibleValue::new("status").help("One line for each directory: what is stored, and whether it is used"),
        PossibleValue::new("build").help("List and read the directories now, and store what searches need"),
        PossibleValue::new("clear").help(
            "Remove what is stored of each DIR and --root, also of one that is gone; without them, of every directory \
             that this state folder has an index of",
        ),
    ];
    command
        .override_usage("rootbound index [OPTIONS] status | build | clear [DIR]...")
        .after_help(
            "Examples:\n  rootbound index status ~/code/app\n  rootbound index build ~/code/app\n  rootbound index clear",
        )
        .arg(
            Arg::new("what")
                .value_name("status | build | clear")
                .required(true)
                .value_parser(PossibleValuesParser::new(possible))
                .help("What to do"),
        )
        .arg(directories().help(
            "Directories, as a server is started with them [default: the current one; of `clear`: see there]",
        ))
        .arg(Arg::new("json").long("json").action(ArgAction::SetTrue).help("Print the result as JSON"))
        .args(flags())
}

fn doctor(command: Command) -> Command {
    command.after_help("Examples:\n  rootbound doctor --read-only ~/code/app").arg(directories()).args(flags())
}

fn tools(command: Command) -> Command {
    command
        .after_help("Examples:\n  rootbound tools --allow manage")
        .arg(Arg::new("json").long("json").action(ArgAction::SetTrue).help("Print the complete tools/list answer"))
        .args(flags())
}

fn setup(command: Command) -> Command {
    let value = |name: &'static str, value: &'static str| {
        Arg::new(name).long(name).value_name(value).action(ArgAction::Set).value_hint(ValueHint::Other)
    };
    let client =
        Arg::new("client").value_name("CLIENT").value_parser(PossibleValuesParser::new(SETUP_CLIENTS.split(' ')));
    let scopes = PossibleValuesParser::new(["user", "project", "local"]);
    command
        .override_usage("rootbound setup [CLIENT] [DIR]... [OPTIONS] [-- OPTION OF THE SERVER...]")
        .after_help(
            "Examples:\n  rootbound setup claude-code --write\n  rootbound setup claude-desktop ~/code/app --write\n  \
             rootbound setup vscode --scope project --write -- --read-only\n  rootbound setup codex --remove",
        )
        .arg(client.help("The client; without it, the clients are listed"))
        .arg(directories().help("Directories to offer [default: the open project, where the client has one]"))
        .arg(switch("write", "Change the client's file: shows the change and asks").conflicts_with("remove"))
        .arg(switch("remove", "Take the entry out, and turn the client's own file tools on again"))
        .arg(switch("replace", "Also turn the client's own file tools off").conflicts_with("remove"))
        .arg(switch("yes", "Do not ask before the change").short('y'))
        .arg(value("scope", "SCOPE").value_parser(scopes).help(
            "user: for you in every project; project: for everyone who has the project; local: for you in this project",
        ))
        .arg(value("name", "NAME").help("Name of the server in the client's file [default: files]"))
        .arg(
            value("file", "FILE")
                .value_parser(value_parser!(OsString))
                .value_hint(ValueHint::FilePath)
                .help("The client's file, if it is elsewhere than usual"),
        )
        .arg(switch("read-only", "Offer only the tools that change nothing"))
        .arg(switch("split", "DeerFlow: two entries, one to read and one to write").conflicts_with("read-only"))
        .arg(
            Arg::new("options")
                .value_name("OPTION OF THE SERVER")
                .last(true)
                .num_args(0..)
                .help("Options with which the client starts the server, such as --max-output 20000"),
        )
}

fn guide(command: Command) -> Command {
    let clients = GUIDE_CLIENTS.iter().map(|client| PossibleValue::new(client.name).aliases(client.aliases));
    command
        .after_help(
            "Examples:\n  rootbound guide claude-code >> CLAUDE.md\n  \
             rootbound guide deerflow --part skill > skills/public/rootbound-files/SKILL.md\n\n\
             The text goes to stdout; where it belongs, and its size in tokens, to stderr.",
        )
        .arg(
            Arg::new("client")
                .value_name("CLIENT")
                .ignore_case(true)
                .value_parser(PossibleValuesParser::new(clients))
                .help("The client whose model reads it [default: names of tools without a prefix]"),
        )
        .arg(
            Arg::new("part")
                .long("part")
                .value_name("PART")
                .value_parser(value_parser!(GuidePart))
                .help("Print only the skill file or only the paragraph"),
        )
        .arg(
            Arg::new("prefix")
                .long("prefix")
                .value_name("TEXT")
                .value_parser(prefix)
                .value_hint(ValueHint::Other)
                .help(
                    "What the client puts before the name of a tool, such as mcp__files__ or files_ [default: by client]",
                ),
        )
        .args(flags())
}

/// The longest prefix that is accepted: the names of tools have at most 64 characters in several clients.
const LONGEST_PREFIX: usize = 56;

fn prefix(text: &str) -> Result<String, String> {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "_-.:/".contains(letter);
    if text.len() > LONGEST_PREFIX || !text.chars().all(is_plain) {
        return Err(format!("a prefix has at most {LONGEST_PREFIX} letters, digits and _ - . : /"));
    }
    Ok(text.to_owned())
}

fn stats(command: Command) -> Command {
    command
        .after_help(
            "Examples:\n  rootbound stats --since 2h /var/log/rootbound/calls.jsonl\n  \
             rootbound stats --config rootbound.toml --json\n\n\
             Rotated files (FILE.1 to FILE.5) are included. The median and the 95th percentile (p95) are of the time \
             from the arrival of a call to its answer.",
        )
        .arg(
            Arg::new("file")
                .value_name("FILE")
                .value_parser(value_parser!(PathBuf))
                .value_hint(ValueHint::FilePath)
                .help("The audit file [default: that of --audit]"),
        )
        .arg(
            Arg::new("since")
                .long("since")
                .value_name("TIME")
                .value_parser(stats_request::since)
                .value_hint(ValueHint::Other)
                .help(
                    "Only calls since then: 30min, 2h, 7d, or a date in UTC such as 2026-11-22 or 2026-11-22T08:30:00Z",
                ),
        )
        .arg(Arg::new("json").long("json").action(ArgAction::SetTrue).help("Print the numbers as JSON"))
        .args(flags())
}

fn completions(command: Command) -> Command {
    command
        .after_help(
            "Examples:\n  eval \"$(rootbound completions bash)\"    in ~/.bashrc\n  \
             rootbound completions zsh > ~/.zfunc/_rootbound    in a folder of fpath\n  \
             rootbound completions fish > ~/.config/fish/completions/rootbound.fish\n  \
             rootbound completions powershell >> $PROFILE",
        )
        .arg(Arg::new("shell").value_name("SHELL").required(true).value_parser(value_parser!(Shell)).help("The shell"))
}

fn man(command: Command) -> Command {
    command.after_help("Examples:\n  rootbound man | man -l -\n  rootbound man > ~/.local/share/man/man1/rootbound.1")
}

fn paths() -> Arg {
    Arg::new("paths").value_name("PATH").action(ArgAction::Append).num_args(0..).value_hint(ValueHint::AnyPath)
}

/// An argument that is a path below a root, which often is one of the current directory as well.
fn path() -> Arg {
    Arg::new("path").value_name("PATH").value_hint(ValueHint::AnyPath)
}
