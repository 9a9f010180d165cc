//! `rootbound completions` and `rootbound man`: clap's own, made from the table of options when they are asked for.

use std::{io, process::ExitCode};

use clap_mangen::Man;

use crate::config::{Document, command, command_without_directories};

use super::{fail, print};

/// Prints the document; the exit code is 1 if it cannot be made.
pub fn document(document: Document) -> ExitCode {
    text(document).map_or_else(|error| fail(&error.to_string(), 1), |text| print(&text))
}

fn text(document: Document) -> io::Result<String> {
    let mut out = Vec::new();
    match document {
        Document::Completions(shell) => {
            clap_complete::generate(shell, &mut command_without_directories(), "rootbound", &mut out);
        }
        Document::Man => Man::new(command()).render(&mut out)?,
    }
    String::from_utf8(out).map_err(io::Error::other)
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
        assert!(options.len() > 30, "{options:?}");
        for (name, text) in documents() {
            // Those of PowerShell and elvish complete no values.
            let has_values = !["powershell", "elvish"].contains(&name.as_str());
            // fish names flags without dashes.
            let dashes = if name == "fish" { "-l " } else { "--" };
            for (flag, option) in &options {
                assert!(text.contains(&format!("{dashes}{flag}")), "{name} lacks --{flag}");
                for choice in option.get_possible_values().iter().filter(|_| has_values) {
                    assert!(text.contains(choice.get_name()), "{name} lacks {} of --{flag}", choice.get_name());
                }
            }
            // `help` is clap's own.
            for subcommand in command.get_subcommands().filter(|subcommand| subcommand.get_name() != "help") {
                assert!(text.contains(subcommand.get_name()), "{name} lacks `{}`", subcommand.get_name());
                // The pages and the help have only its name.
                if ["docs/options.md", "the manual page", "--help"].contains(&name.as_str()) {
                    continue;
                }
                for own in subcommand.get_arguments().filter(|arg| arg.get_help_heading().is_none()) {
                    let flag = own.get_long().map(|flag| format!("{dashes}{flag}"));
                    assert!(flag.is_none_or(|flag| text.contains(&flag)), "{name} lacks {own} of {subcommand}");
                    // Nor does that of fish for arguments without a flag.
                    let has_values = has_values && (name != "fish" || own.get_long().is_some());
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
