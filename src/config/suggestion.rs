//! What to type in place of a command line that leaves out `call` or the names of a tool's arguments, or that names a
//! command that does not exist, which clap takes for a directory.

use std::{
    ffi::{OsStr, OsString},
    fmt::Write as _,
    path::Path,
};

use clap::error::{ContextKind, ContextValue, ErrorKind};
use serde_json::{Map, Value};
use text_file::nearest_name::{ONE_OF_FEW, nearest_names};

use file_tools::{Selection, Toolbox};

use super::{commands::COMMAND_ROWS, environment, validate::TOOL_GROUPS};

/// After the required ones, the arguments that a word without a name may be the value of.
const USUAL_ARGUMENTS: [&str; 3] = ["path", "old_string", "new_string"];

fn every_tool() -> Toolbox {
    let groups = TOOL_GROUPS.iter().map(|(_, group)| *group).collect();
    Toolbox::new(&Selection { groups, ..Selection::default() })
}

fn tool(word: &str) -> Option<(&'static str, String)> {
    let name = Toolbox::known().into_iter().find(|name| name.eq_ignore_ascii_case(word))?;
    let group = every_tool().get(name)?.spec.group;
    let allow = TOOL_GROUPS.iter().find(|(_, of)| *of == group).map(|(group, _)| format!("--allow {group} "));
    Some((name, allow.unwrap_or_default()))
}

/// The problem with a command line that has a tool instead of a directory: `rootbound grep x`. `None` if the word
/// is not a tool, or names an existing directory.
pub(super) fn for_missing_call(words: &[OsString], directory: &Path) -> Option<String> {
    let (name, line) = call(words)?;
    if is_there(directory, words.first()?) {
        return None;
    }
    Some(format!("{name} is a tool, not a directory: to run it, type: {line}"))
}

/// Whether a word is the name of something that exists, which can perhaps be served, and no typing error.
fn is_there(directory: &Path, word: &OsStr) -> bool {
    environment::is_directory(&directory.join(word)).is_some()
}

pub(super) fn for_help(words: &[OsString]) -> Option<String> {
    let (name, line) = call(words)?;
    Some(format!(
        "{name} is a tool, not a command: `rootbound tools --json` prints its arguments; to run it, type: {line}"
    ))
}

/// The tool that the first word names, and the line that calls it with the others.
fn call(words: &[OsString]) -> Option<(&'static str, String)> {
    let (first, rest) = words.split_first()?;
    let (name, allow) = tool(first.to_str()?)?;
    let rest: Vec<String> = rest.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let arguments = with_names(name, &rest);
    Some((name, format!("rootbound {allow}call {name}{arguments}")))
}

/// The words as arguments of the tool, each after a space. A word without a name gets the most likely one; if there is
/// none, it is omitted.
pub(crate) fn with_names(name: &str, words: &[String]) -> String {
    let every = every_tool();
    let Some(entry) = every.get(name) else { return " KEY=VALUE…".to_owned() };
    let schema = entry.input_schema();
    let words: Vec<String> = words.iter().flat_map(|word| members(word)).collect();
    let given: Vec<&str> = words.iter().filter_map(|word| named_word(word, schema)).collect();
    let mut free = names(schema).filter(|name| !given.contains(name));
    let mut out = String::new();
    for word in words.iter().filter(|word| !word.starts_with('-')) {
        let argument = match named_word(word, schema) {
            Some(_) => word.clone(),
            None => match free.next() {
                Some(name) => format!("{name}={word}"),
                None => continue,
            },
        };
        out.push(' ');
        out.push_str(&quoted(&argument));
    }
    let missing: Vec<&str> = required(schema).filter(|name| !out.contains(&format!("{name}="))).collect();
    for name in missing {
        let _ = write!(out, " {name}=…");
    }
    out
}

/// The members of a JSON object as arguments; any other word as it is.
fn members(word: &str) -> Vec<String> {
    let Ok(object) = serde_json::from_str::<Map<String, Value>>(word) else { return vec![word.to_owned()] };
    let member = |(name, value): (String, Value)| match value {
        Value::String(text) => format!("{name}={text}"),
        value => format!("{name}={value}"),
    };
    object.into_iter().map(member).collect()
}

fn named_word<'w>(word: &'w str, schema: &Map<String, Value>) -> Option<&'w str> {
    let (name, _) = word.split_once('=')?;
    schema.get("properties")?.get(name).map(|_| name)
}

fn names(schema: &Map<String, Value>) -> impl Iterator<Item = &str> {
    let has = |name: &&str| schema.get("properties").is_some_and(|known| known.get(*name).is_some());
    let usual = USUAL_ARGUMENTS.into_iter().filter(has).filter(|name| !required(schema).any(|other| other == *name));
    // Of the two names of a move the first.
    Some("source").into_iter().filter(has).chain(required(schema)).chain(usual)
}

fn required(schema: &Map<String, Value>) -> impl Iterator<Item = &str> {
    schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
}

/// `word` in single quotes where a shell needs them; in double quotes on Windows, where cmd knows no others.
pub(crate) fn quoted(word: &str) -> String {
    if cfg!(windows) { quoted_for_windows(word) } else { quoted_for_unix(word) }
}

/// `word` in single quotes where a shell of Unix needs them.
pub(crate) fn quoted_for_unix(word: &str) -> String {
    let is_plain = |letter: char| letter.is_alphanumeric() || "_-./=:,@%+".contains(letter);
    let is_plain = !word.is_empty() && word.chars().all(is_plain);
    if is_plain { word.to_owned() } else { format!("'{}'", word.replace('\'', "'\\''")) }
}

/// As the program takes its command line apart: a backslash counts only before a quote. See
/// <https://learn.microsoft.com/cpp/c-language/parsing-c-command-line-arguments>.
fn quoted_for_windows(word: &str) -> String {
    // PowerShell makes a list of `a,b`, and cmd a variable's value of `%a%`.
    let is_plain = |letter: char| letter.is_alphanumeric() || r"_-./=:+\".contains(letter);
    if word.chars().all(is_plain) {
        return word.to_owned();
    }
    let mut quoted = String::from('"');
    for part in word.split_inclusive('"') {
        let text = part.strip_suffix('"').unwrap_or(part);
        quoted.push_str(text);
        if text.len() < part.len() {
            quoted.push_str(&r"\".repeat(trailing_backslashes(text)));
            quoted.push_str("\\\"");
        }
    }
    quoted.push_str(&r"\".repeat(trailing_backslashes(word)));
    quoted + "\""
}

fn trailing_backslashes(text: &str) -> usize {
    text.len() - text.trim_end_matches('\\').len()
}

/// Words of other programs, and the command that does that here.
const OF_OTHER_PROGRAMS: &[(&[&str], &str)] = &[
    (&["serve", "server", "start", "run", "stdio", "mcp"], "`rootbound DIR` starts the server"),
    (&["version"], "`rootbound --version` prints it"),
];

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
pub(super) fn for_misspelled_command(words: &[OsString], directory: &Path) -> Option<String> {
    let first = words.first()?.to_str()?;
    let names = || COMMAND_ROWS.iter().map(|(name, ..)| *name).chain(["help"]);
    if first.starts_with('-') || names().any(|name| name == first) || is_there(directory, first.as_ref()) {
        return None;
    }
    let here = OF_OTHER_PROGRAMS.iter().find(|(words, _)| words.contains(&first)).map(|(_, here)| (*here).to_owned());
    let near = || Some(format!("did you mean `rootbound {}`?", nearest_names(first, names(), ONE_OF_FEW).first()?));
    Some(format!("{first} is neither a command nor an existing directory; {}", here.or_else(near)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(line: &[&str]) -> Option<String> {
        let words: Vec<OsString> = line.iter().map(OsString::from).collect();
        let dir = tempfile::tempdir().expect("a temporary folder");
        let message = for_missing_call(&words, dir.path())?;
        message.split_once("type: rootbound ").map(|(_, typed)| typed.to_owned())
    }

    #[test]
    fn a_tool_in_place_of_a_directory_suggests_the_call() {
        for (line, expected) in [
            (&["grep", "x"][..], "call grep pattern=x"),
            (&["grep", "two words", "src"], "call grep {'}pattern=two words{'} path=src"),
            (&["grep", "path=src", "x"], "call grep path=src pattern=x"),
            (&["grep", "a=b"], "call grep pattern=a=b"),
            (&["grep", "{\"pattern\": \"x\", \"context\": 2}", "path=src"], "call grep pattern=x context=2 path=src"),
            (&["grep"], "call grep pattern=…"),
            (
                &["Grep", "it's"],
                if cfg!(windows) { "call grep \"pattern=it's\"" } else { r"call grep 'pattern=it'\''s'" },
            ),
            (&["glob", "*.rs"], "call glob {'}pattern=*.rs{'}"),
            (&["ls"], "call ls"),
            (&["ls", "src"], "call ls path=src"),
            (&["read", "a.txt"], "call read path=a.txt"),
            (&["write", "a", "b"], "call write path=a content=b"),
            (&["edit", "a", "b", "c"], "call edit path=a old_string=b new_string=c"),
            (&["move", "a", "b"], "--allow manage call move source=a destination=b"),
            (&["copy", "a"], "--allow manage call copy source=a destination=…"),
            (&["delete", "a"], "--allow manage call delete path=a"),
            (&["mkdir", "a"], "--allow manage call mkdir path=a"),
            (&["undo"], "--allow manage call undo"),
        ] {
            let expected = expected.replace("{'}", if cfg!(windows) { "\"" } else { "'" });
            assert_eq!(typed(line).as_deref(), Some(expected.as_str()), "{line:?}");
        }
        assert!(Toolbox::known().iter().all(|name| typed(&[name]).is_some()));
        assert_eq!(typed(&["src"]), None);
    }

    #[test]
    fn a_directory_with_the_name_of_a_tool_is_served() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        #[expect(clippy::disallowed_methods, reason = "prepares a real directory")]
        std::fs::create_dir(dir.path().join("grep")).expect("a folder");
        assert_eq!(for_missing_call(&["grep".into()], dir.path()), None);
    }

    #[test]
    fn words_for_windows_are_in_double_quotes() {
        for (word, expected) in [
            (r"path=src\a.rs", r"path=src\a.rs"),
            ("two words", r#""two words""#),
            (r#"say "x""#, r#""say \"x\"""#),
            (r"two words\", r#""two words\\""#),
            (r#"a b\"c"#, r#""a b\\\"c""#),
            ("a,b", r#""a,b""#),
        ] {
            assert_eq!(quoted_for_windows(word), expected, "{word}");
        }
    }

    #[test]
    fn misspelled_subcommand_is_named_unless_it_is_a_directory() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        #[expect(clippy::disallowed_methods, reason = "prepares a real directory")]
        std::fs::create_dir(dir.path().join("tool")).expect("a folder");
        let nearest = |word: &str| {
            let problem = for_misspelled_command(&[word.into()], dir.path())?;
            problem.split('`').nth(1).map(str::to_owned)
        };
        for (word, expected) in [
            ("hlep", Some("rootbound help")),
            ("docter", Some("rootbound doctor")),
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
