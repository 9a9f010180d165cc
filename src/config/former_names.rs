//! Names that options, values and commands had, each with what to do now: a start with one is refused, nothing is ignored.

/// `--option`, `--option value`, or a command, and the next step.
pub(super) const FORMER: &[(&str, &str)] = &[
    ("--audit-size", "remove it: the audit file is renamed to FILE.1 at 10 MiB"),
    ("--confirm-time-limit", "remove it: a person has five minutes to answer"),
    ("--deny-extension", "give deny a pattern such as '*.exe'"),
    ("--events-size", "remove it: the events file is renamed to FILE.1 at 10 MiB"),
    ("--max-arguments", "remove it: a call takes up to 50 arguments"),
    ("--max-concurrent", "remove it: twice as many searches run at once as there are processors, at least 4"),
    ("--max-glob", "remove it: a glob has up to 1 KiB"),
    ("--max-message", "remove it: a message has up to 16 MiB"),
    ("--max-nesting", "remove it: arguments have up to 8 levels of lists and objects"),
    ("--max-regex", "remove it: a pattern of grep has up to 8 KiB"),
    ("--max-regex-repeats", "remove it: counted repetitions expand to up to 3000 positions"),
    ("--max-regex-size", "remove it: a compiled pattern has up to 10 MiB"),
    ("--max-search-file-size", "remove it: a search of a directory reads files of up to 16 MiB"),
    ("--wait-limit", "remove it: a call of wait takes up to 300 s, or its `timeout`"),
    ("--wait-polling", "remove it: wait polls by itself where events are not reported"),
    ("--index memory", "choose off, or auto with an index-size of 0, which stores nothing"),
    ("--read-before-write changed-only", "choose strict or off"),
    ("apply", "type rootbound stage apply"),
    ("checkpoint", "type rootbound history checkpoint NAME"),
    ("diff", "type rootbound history diff NAME, or rootbound stage diff"),
    ("discard", "type rootbound stage discard"),
    ("restore", "type rootbound history restore"),
];

/// The next step in place of the option `flag`, without its dashes.
pub(super) fn option(flag: &str) -> Option<String> {
    next(&format!("--{flag}")).map(|next| format!("is no longer an option: {next}"))
}

/// The next step in place of a value of an option.
pub(super) fn value(flag: &str, text: &str) -> Option<String> {
    let next = next(&format!("--{flag} {}", text.to_ascii_lowercase()))?;
    Some(format!("{text:?} is no longer a value: {next}"))
}

/// The next step in place of a command.
pub(super) fn command(word: &str) -> Option<String> {
    let next = next(word).filter(|_| !word.starts_with('-'))?;
    Some(format!("`rootbound {word}` is no longer a command: {next}; a directory is written ./{word}"))
}

fn next(name: &str) -> Option<&'static str> {
    FORMER.iter().find(|(former, _)| *former == name).map(|(_, next)| *next)
}

#[cfg(test)]
mod tests {
    use super::{
        super::{commands::COMMANDS, options::options},
        *,
    };

    #[test]
    fn former_names_are_those_of_no_option() {
        for (name, _) in FORMER {
            assert!(COMMANDS.iter().all(|(known, ..)| known != name), "{name}");
            let flag = name.trim_start_matches('-').split(' ').next();
            assert_eq!(options().any(|option| Some(option.flag) == flag), name.contains(' '), "{name}");
        }
    }
}
