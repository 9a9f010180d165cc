//! The help and the arguments of `rootbound exec`.

use std::ffi::OsString;

use clap::{Arg, ArgAction, Command, ValueHint, builder::ValueParser, value_parser};

use super::arguments::{Known, switch};

pub(super) fn exec(command: Command) -> Command {
    let list = |name: &'static str, value: &'static str, hint: ValueHint| {
        let arg = Arg::new(name).long(name).value_name(value).action(ArgAction::Append);
        arg.value_parser(value_parser!(OsString)).value_hint(hint)
    };
    command
        .override_usage("rootbound exec [OPTIONS] -- CMD [ARG]...")
        .after_help(
            "Examples:\n  rootbound exec --root ~/code/app -- npm test\n  \
             rootbound exec --root .:ro --root ./target --read ~/.cargo/bin --read ~/.rustup -- cargo check\n  \
             rootbound exec --root . --network --env GITHUB_TOKEN -- gh pr list\n\n\
             The exit code is the command's; 126 if it cannot be executed, 127 if it is not found, 2 if a wall is \
             missing or an option is wrong. Run as root, the command can change mode and owner of ANY file of the system, \
             keys included: use another account. Variables and files with options of the server have no meaning here.",
        )
        .arg(list("root", "DIR[:ro]", ValueHint::DirPath).help(
            "A directory to read, change and execute files in, or with :ro only to read and execute; the command runs in \
             the first one [default: the current directory]",
        ))
        .arg(
            list("read", "PATH", ValueHint::AnyPath)
                .help("A file or directory to read and execute, such as a toolchain in your home directory"),
        )
        .arg(
            Arg::new("cwd")
                .long("cwd")
                .value_name("DIR")
                .value_parser(value_parser!(OsString))
                .value_hint(ValueHint::DirPath)
                .help("Run the command in this directory of the first root"),
        )
        .arg(switch("network", "Allow the internet; local sockets of other programs stay closed"))
        .arg(
            list("env", "NAME[=VALUE]", ValueHint::Other)
                .help("Also pass this variable, or set it; of the rest the command gets only PATH, HOME and the language"),
        )
        .arg(
            Arg::new("confine")
                .long("confine")
                .value_name("MODE")
                .value_parser(ValueParser::new(Known::Words(&["required", "auto", "off"])))
                .hide_possible_values(true)
                .help("required: all walls, or nothing runs; auto: those that this system has; off: none [default: required]"),
        )
        .arg(switch("die-with-parent", "Kill the command when the process that started it ends (Linux)"))
        .arg(
            Arg::new("command")
                .value_name("CMD [ARG]")
                .last(true)
                .num_args(0..)
                .value_parser(value_parser!(OsString))
                .value_hint(ValueHint::CommandWithArguments)
                .help("The command, which no shell reads; a path with / is relative to the directory that it runs in"),
        )
}
