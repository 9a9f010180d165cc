//! A command line that only starts a server, read without clap.
//!
//! Most starts have a few options and directories. clap makes every option with its help before it reads the first word,
//! which is half of the processor time of such a start. Whatever is not plain (a subcommand, `--help`, an unknown or a
//! repeated option, a missing or an empty value) is left to clap, which also words each error.

use std::ffi::OsString;

use super::{OptionRow, ValueKind, options::options, subcommands::SUBCOMMANDS};

/// The options with their values, and the directories, each in the order in which they were given.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct PlainArguments {
    pub(super) values: Vec<(&'static str, String)>,
    pub(super) directories: Vec<OsString>,
}

/// Reads the words after the program's name; `None` if clap has to.
pub(super) fn read(words: &[OsString]) -> Option<PlainArguments> {
    let mut plain = PlainArguments::default();
    let mut words = words.iter().map(|word| word.to_str());
    while let Some(word) = words.next() {
        let word = word?;
        let Some(flag) = word.strip_prefix("--") else {
            plain.directories.push(value(word)?.into());
            continue;
        };
        let (flag, attached) = flag.split_once('=').map_or((flag, None), |(flag, text)| (flag, Some(text)));
        let option = options().find(|option| option.flag == flag)?;
        let is_repeated = plain.values.iter().any(|(given, _)| *given == flag);
        if is_repeated && !option.is_list() {
            return None;
        }
        let text = match (attached, is_switch(option)) {
            (Some(text), _) => Some(text).filter(|text| !text.is_empty())?,
            (None, true) => "true",
            (None, false) => value(words.next()??)?,
        };
        plain.values.push((option.flag, text.to_owned()));
    }
    Some(plain)
}

fn is_switch(option: &OptionRow) -> bool {
    matches!(option.kind, ValueKind::Switch(_))
}

/// A word that is a value: clap takes the name of a subcommand for that subcommand, even behind an option.
fn value(word: &str) -> Option<&str> {
    let is_command = word == "help" || SUBCOMMANDS.iter().any(|(name, ..)| *name == word);
    Some(word).filter(|word| !word.is_empty() && !word.starts_with('-') && !is_command)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{super::command_line::command, *};

    /// What clap makes of the same words; `None` for a subcommand and an error.
    fn by_clap(words: &[OsString]) -> Option<PlainArguments> {
        let arguments = std::iter::once(OsString::from("rootbound")).chain(words.iter().cloned());
        let matches = command().try_get_matches_from(arguments).ok().filter(|found| found.subcommand().is_none())?;
        let texts = |flag: &str| matches.get_many::<OsString>(flag).into_iter().flatten().cloned().collect::<Vec<_>>();
        let values = options().flat_map(|option| texts(option.flag).into_iter().map(|text| (option.flag, text)));
        let values = values.map(|(flag, text)| (flag, text.into_string().expect("the words are UTF-8"))).collect();
        Some(PlainArguments { values, directories: texts("dir") })
    }

    /// In the order of the table, as clap's values are.
    fn sorted(mut plain: PlainArguments) -> PlainArguments {
        plain.values.sort_by_key(|(flag, _)| options().position(|option| option.flag == *flag));
        plain
    }

    fn words(list: &[&str]) -> Vec<OsString> {
        list.iter().map(OsString::from).collect()
    }

    #[test]
    fn options_and_directories_are_read_as_clap_reads_them() {
        for list in [
            &[][..],
            &["/code/app"],
            &["--state-dir=off", "/code/app", "lib"],
            &["--state-dir", "off", "--read-only", ".", "--deny", "*.key", "--deny=a b"],
            &["--read-only=false", "--root", "docs=/srv/docs:ro", "--root=app=."],
        ] {
            let list = words(list);
            assert_eq!(read(&list).map(sorted), by_clap(&list), "{list:?}");
            assert!(read(&list).is_some(), "{list:?}");
        }
    }

    #[test]
    fn what_is_not_plain_is_left_to_clap() {
        for list in [
            &["--help"][..],
            &["-h"],
            &["--version"],
            &["doctor"],
            &["help"],
            &["--root", "call"],
            &["/code/app", "call", "grep"],
            &["--nonsense"],
            &["--log"],
            &["--log="],
            &["--log", "--read-only"],
            &["--log=warn", "--log=info"],
            &[""],
            &["--", "/code/app"],
        ] {
            assert_eq!(read(&words(list)), None, "{list:?}");
        }
    }

    proptest! {
        #[test]
        fn random_words_are_read_as_clap_reads_them_or_not_at_all(list in prop::collection::vec(word(), 0..6)) {
            let list: Vec<OsString> = list.into_iter().map(OsString::from).collect();
            if let Some(plain) = read(&list) {
                prop_assert_eq!(Some(sorted(plain)), by_clap(&list));
            }
        }
    }

    /// Words of a command line: flags with and without values, directories, subcommands, and what is none of these.
    fn word() -> impl Strategy<Value = String> {
        let flags: Vec<&str> = options().map(|option| option.flag).collect();
        let text = prop::sample::select(vec![
            "",
            "-",
            "--",
            "-h",
            "-1",
            "=",
            "a=b",
            ".",
            "~",
            "off",
            "true",
            "call",
            "help",
            "man",
            "/a b",
            "*.rs",
            "--help",
            "--roo",
            "--root=",
            "--read-only=",
            "ünï",
            "a,b",
            "doctor",
            "0",
        ]);
        (prop::sample::select(flags), text, 0..4_u8).prop_map(|(flag, text, form)| match form {
            0 => format!("--{flag}"),
            1 => format!("--{flag}={text}"),
            _ => text.to_owned(),
        })
    }
}
