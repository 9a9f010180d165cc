//! The subcommand that a misspelled one most likely means: clap takes it for a directory.

use std::{ffi::OsString, path::Path};

use clap::error::{ContextKind, ContextValue, ErrorKind};

use text_file::nearest_name::{ONE_OF_FEW, nearest_names};

use super::subcommands::SUBCOMMANDS;

/// What people type who know other programs, and what does that here.
const OF_OTHER_PROGRAMS: &[(&[&str], &str)] = &[
    (&["serve", "server", "start", "run", "stdio", "mcp"], "`rootbound DIR` starts the server"),
    (&["version"], "`rootbound --version` prints it"),
];

/// The problem with an option of other programs.
pub(super) fn unknown_option(error: &clap::Error) -> Option<String> {
    let Some(ContextValue::String(option)) = error.get(ContextKind::InvalidArg) else { return None };
    let is_known = error.kind() == ErrorKind::UnknownArgument && matches!(option.as_str(), "-v" | "--verbose");
    is_known.then(|| {
        format!(
            "there is no option {option}: `rootbound --version` prints the version, and `--log info` logs what is done"
        )
    })
}

/// The problem with a command line that begins with a misspelled subcommand. `None` if it is not near one, or names an
/// existing directory.
pub(super) fn problem(words: &[OsString], directory: &Path) -> Option<String> {
    let first = words.first()?.to_str()?;
    let names = || SUBCOMMANDS.iter().map(|(name, ..)| *name).chain(["help"]);
    if first.starts_with('-') || names().any(|name| name == first) {
        return None;
    }
    #[expect(
        clippy::disallowed_methods,
        reason = "only distinguishes a directory that can be served from a typing error"
    )]
    if directory.join(first).exists() {
        return None;
    }
    let here = OF_OTHER_PROGRAMS.iter().find(|(words, _)| words.contains(&first)).map(|(_, here)| (*here).to_owned());
    let near = || Some(format!("did you mean `rootbound {}`?", nearest_names(first, names(), ONE_OF_FEW).first()?));
    Some(format!("{first} is neither a command nor an existing directory; {}", here.or_else(near)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn misspelled_subcommand_is_named_unless_it_is_a_directory() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        #[expect(clippy::disallowed_methods, reason = "prepares a real directory")]
        std::fs::create_dir(dir.path().join("tool")).expect("a folder");
        let nearest = |word: &str| {
            let problem = problem(&[word.into()], dir.path())?;
            problem.split('`').nth(1).map(str::to_owned)
        };
        for (word, expected) in [
            ("hlep", Some("rootbound help")),
            ("staats", Some("rootbound stats")),
            ("comletions", Some("rootbound completions")),
            ("Setup", Some("rootbound setup")),
            ("serve", Some("rootbound DIR")),
            ("start", Some("rootbound DIR")),
            ("mcp", Some("rootbound DIR")),
            ("version", Some("rootbound --version")),
            ("setup", None),
            ("tool", None),
            ("src", None),
            ("--shell", None),
            ("~/code/app", None),
            ("", None),
        ] {
            assert_eq!(nearest(word).as_deref(), expected, "{word}");
        }
    }
}
