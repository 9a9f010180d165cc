//! `rootbound completions` and `rootbound man`: made from the table of options when they are asked for.

use std::{fmt::Write as _, io, process::ExitCode};

use clap::{Arg, ArgAction, Command, ValueHint, builder::PossibleValue};
use clap_complete::Shell;
use clap_mangen::{
    Man,
    roff::{Roff, bold, roman},
};

use crate::config::{Document, command, command_without_directories};

use super::{fail, print};

/// Prints the document; the exit code is 1 if it cannot be made.
pub fn document(document: Document) -> ExitCode {
    match text(document) {
        Ok(text) => print(&text),
        Err(error) => fail(&error.to_string(), 1),
    }
}

fn text(document: Document) -> io::Result<String> {
    match document {
        Document::Completions(shell) => script(shell),
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

/// The completion scripts: those of `clap_complete`, and what they lack.
///
/// It takes the word after `--read-only` for its value; in bash it offers options in place of directories, in fish no
/// arguments without a flag, in zsh no subcommand after a directory.
fn script(shell: Shell) -> io::Result<String> {
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
