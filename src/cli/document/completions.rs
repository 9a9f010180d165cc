//! The completion scripts: those of `clap_complete`, and what they lack.
//!
//! It takes the word after `--read-only` for its value; in bash it offers options in place of directories, in fish no
//! arguments without a flag, in zsh no subcommand after a directory.

use std::{fmt::Write as _, io};

use clap::{Arg, ArgAction, Command, ValueHint};
use clap_complete::Shell;

use crate::config::command_without_directories;

pub(super) fn script(shell: Shell) -> io::Result<String> {
    let mut command = completed(shell);
    let mut out = Vec::new();
    clap_complete::generate(shell, &mut command, "rootbound", &mut out);
    let script = String::from_utf8(out).map_err(io::Error::other)?;
    Ok(match shell {
        Shell::Bash => script.replace("complete -F _rootbound ", "complete -F _rootbound_words ") + BASH,
        Shell::Fish => script.replace(FISH_PARSE, FISH_PARSE_UNFINISHED) + &fish_arguments(&command),
        Shell::Zsh => zsh(&script),
        _ => script,
    })
}

/// The command with switches that take no value; where the values are completed as well, with short descriptions.
fn completed(shell: Shell) -> Command {
    let mut command = command_without_directories();
    command.build();
    if matches!(shell, Shell::Bash | Shell::Fish | Shell::Zsh) {
        each_argument(command, for_scripts)
    } else {
        // They complete no values, so that the whole help has to name them.
        each_argument(command, |arg| match arg.get_long_help().cloned() {
            Some(help) => for_scripts(arg.help(help)),
            None => for_scripts(arg),
        })
    }
}

fn each_argument(command: Command, change: fn(Arg) -> Arg) -> Command {
    let command = command.mut_args(change);
    let names: Vec<String> = command.get_subcommands().map(|inner| inner.get_name().to_owned()).collect();
    names.iter().fold(command, |command, name| command.mut_subcommand(name, |inner| each_argument(inner, change)))
}

fn for_scripts(arg: Arg) -> Arg {
    if arg.is_require_equals_set() {
        arg.num_args(0).require_equals(false).action(ArgAction::SetTrue)
    } else if arg.get_id() == "root" {
        // zsh takes what follows a colon in the name of a value for another value.
        arg.value_name("[NAME=]PATH")
    } else {
        arg
    }
}

/// Words that are no options are preferred: directories, or the values of an argument that was not given yet.
const BASH: &str = r#"
_rootbound_words() {
    local cur="$2" prev="$3" word all given kept=() is_value=1
    if [[ "$prev" == "=" && $COMP_CWORD -ge 2 ]]; then
        prev="${COMP_WORDS[COMP_CWORD-2]}"
    elif [[ "${COMP_WORDS[COMP_CWORD]}" == "=" ]]; then
        cur=""
        prev="${COMP_WORDS[COMP_CWORD-1]}"
    fi
    _rootbound "$1" "" "$prev"
    all=" ${COMPREPLY[*]} "
    _rootbound "$1" "$cur" "$prev"
    [[ "$cur" == -* ]] && return 0
    [[ "$all" == *" -"* ]] && is_value=""
    [[ -n "$is_value" ]] && return 0
    for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
        # The subcommand itself is among the words, but not among those that may follow it.
        [[ "$all" == *" $word "* && "$word" != -* ]] && given=1
    done
    for word in "${COMPREPLY[@]}"; do
        [[ "$word" == -* || -n "$given" ]] || kept+=("$word")
    done
    COMPREPLY=("${kept[@]}")
    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
        compopt -o plusdirs 2>/dev/null
    fi
    return 0
}
"#;

const FISH_PARSE: &str = "    argparse -s (__fish_rootbound_global_optspecs) -- $cmd 2>/dev/null\n    or return\n";

/// `argparse` refuses an option whose value is being completed.
const FISH_PARSE_UNFINISHED: &str = "    if not argparse -s (__fish_rootbound_global_optspecs) -- $cmd 2>/dev/null
        set -e cmd[-1]
        argparse -s (__fish_rootbound_global_optspecs) -- $cmd 2>/dev/null
        or return
    end
";

/// The arguments without a flag, which `clap_complete` leaves out for fish.
fn fish_arguments(command: &Command) -> String {
    let directories = "(__fish_complete_directories)";
    let mut out = format!("complete -c rootbound -n \"__fish_rootbound_needs_command\" -f -a \"{directories}\"\n");
    for subcommand in command.get_subcommands().filter(|subcommand| subcommand.get_name() != "help") {
        let mut condition = format!("__fish_rootbound_using_subcommand {}", subcommand.get_name());
        for positional in subcommand.get_positionals().filter(|positional| !positional.is_last_set()) {
            let values = positional.get_possible_values();
            let names: Vec<&str> = values.iter().map(clap::builder::PossibleValue::get_name).collect();
            let names = names.join(" ");
            if !names.is_empty() {
                let _ = writeln!(
                    out,
                    "complete -c rootbound -n \"{condition}; and not __fish_seen_subcommand_from {names}\" -f -a \"{names}\""
                );
                let _ = write!(condition, "; and __fish_seen_subcommand_from {names}");
            } else if positional.get_value_hint() == ValueHint::DirPath {
                let _ = writeln!(out, "complete -c rootbound -n \"{condition}\" -f -a \"{directories}\"");
            }
        }
    }
    out
}

/// The first word is a subcommand or a directory, and a directory may be followed by either.
fn zsh(script: &str) -> String {
    const CHOICE: &str = "_alternative 'commands:command:_rootbound_commands' 'directories:directory:_files -/'";
    script.replace("\":: :_rootbound_commands\"", &format!("\":: :{{{CHOICE}}}\"")).replacen(
        ZSH_CASES,
        &format!("{ZSH_CASES}(*/*|.|..)\n{CHOICE} && ret=0\n;;\n"),
        1,
    )
}

const ZSH_CASES: &str = "        case $line[1] in\n";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_mended_place_is_in_the_script_of_clap() {
        let of = |shell| script(shell).expect("a script");
        assert!(of(Shell::Bash).matches("complete -F _rootbound_words -o").count() == 2);
        assert!(of(Shell::Fish).contains(FISH_PARSE_UNFINISHED));
        assert!(of(Shell::Zsh).matches("_alternative").count() == 2);
        assert!(of(Shell::Zsh).contains("]:[NAME=]PATH:_files -/'"));
    }

    #[test]
    fn switches_take_no_value_and_descriptions_end_with_the_first_clause() {
        let command = completed(Shell::Zsh);
        for command in command.get_subcommands().chain([&command]) {
            assert!(command.get_arguments().all(|arg| !arg.is_require_equals_set()), "{}", command.get_name());
        }
        let help = |name| command.get_arguments().find(|arg| arg.get_id() == name)?.get_help().map(ToString::to_string);
        assert_eq!(help("root").as_deref(), Some("Offer a directory, under NAME if one is given"));
        assert!(help("images").is_some_and(|help| help.starts_with("`on` (default): read")));
    }
}
