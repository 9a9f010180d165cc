//! `rootbound completions` and `rootbound man`: made from the table of options when they are asked for.

use std::{io, process::ExitCode};

use clap_mangen::Man;

use crate::config::{Document, command};

use super::output::{fail, print};

/// Prints the document.
pub fn document(document: Document) -> ExitCode {
    match text(document) {
        Ok(text) => print(&text),
        Err(error) => fail(&error.to_string(), 1),
    }
}

fn text(document: Document) -> io::Result<String> {
    let mut out = Vec::new();
    match document {
        Document::Completions(shell) => clap_complete::generate(shell, &mut command(), "rootbound", &mut out),
        Document::Man => Man::new(command()).render(&mut out)?,
    }
    let text = String::from_utf8(out).map_err(io::Error::other)?;
    Ok(if document == Document::Man { one_page(&text) } else { text })
}

/// `clap_mangen` refers to a page for each subcommand, which there is not, and fills the lines of the examples.
fn one_page(roff: &str) -> String {
    roff.replace("\nrootbound\\-", "\nrootbound ")
        .replace("(1)\n", "\n")
        .replace(".SH EXTRA\n", ".SH EXAMPLES\n.nf\n")
        .replace(".SH VERSION\n", ".fi\n.SH VERSION\n")
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
        let help = command().render_help().to_string();
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
                for choice in option.get_possible_values() {
                    assert!(text.contains(choice.get_name()), "{name} lacks {} of --{flag}", choice.get_name());
                }
            }
            // `help` is clap's own.
            for subcommand in command.get_subcommands().filter(|subcommand| subcommand.get_name() != "help") {
                assert!(text.contains(subcommand.get_name()), "{name} lacks `{}`", subcommand.get_name());
            }
        }
    }

    #[test]
    fn man_page_lists_subcommands_as_typed_and_keeps_the_lines_of_examples() {
        let page = text(Document::Man).expect("a page");
        assert!(page.contains("\n.TP\nrootbound completions\n") && !page.contains("completions(1)"), "{page}");
        assert!(page.contains(".SH EXAMPLES\n.nf\nExamples:") && page.contains("\n.fi\n.SH VERSION\n"), "{page}");
    }
}
