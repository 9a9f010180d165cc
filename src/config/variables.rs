//! The environment variables that begin with `ROOTBOUND_`: spelling only, as in `command_line`.

use std::ffi::OsString;

use text_file::nearest_name::{ONE_OF_FEW, did_you_mean, nearest_names};

use super::{OptionRow, PREFIX, RawArgs, Source, options::options};

/// Not options: the first is set by a launcher that starts the program, such as npm's; the second is a note of
/// `rootbound setup` in the entry of a client.
const OTHER_VARIABLES: &[&str] = &["ROOTBOUND_LAUNCHER", "ROOTBOUND_SETUP"];

/// Reads the variables that begin with `ROOTBOUND_`. An empty one counts as not set: clients pass
/// `""` for what their own configuration leaves out.
pub(super) fn read(
    variables: impl IntoIterator<Item = (OsString, OsString)>,
    raw: &mut RawArgs,
    problems: &mut Vec<String>,
) {
    for (name, value) in variables {
        let is_option = |name: &&str| name.starts_with(PREFIX) && !OTHER_VARIABLES.contains(name);
        let Some(name) = name.to_str().filter(is_option) else { continue };
        let Some(option) = options().find(|option| option.variable() == name) else {
            let names: Vec<String> = options().map(OptionRow::variable).collect();
            // Without the prefix, which alone would make any two names alike.
            let words = names.iter().map(|name| &name[PREFIX.len()..]);
            let near = nearest_names(&name[PREFIX.len()..], words, ONE_OF_FEW);
            let next = did_you_mean(near.first().map(|near| format!("{PREFIX}{near}")))
                .unwrap_or_else(|| "unset it; `rootbound --help` lists the options".to_owned());
            problems.push(format!("{name} is not a variable of rootbound: {next}"));
            continue;
        };
        let Ok(text) = value.into_string() else {
            problems.push(format!("{name} is not UTF-8: set it to UTF-8 text, or unset it"));
            continue;
        };
        if text.is_empty() {
            continue;
        }
        if !option.is_list() {
            raw.push(option, text, Source::Environment);
        } else if text.trim_start().starts_with("[\"") {
            match serde_json::from_str::<Vec<String>>(&text) {
                Ok(values) => values.into_iter().for_each(|value| raw.push(option, value, Source::Environment)),
                Err(error) => problems.push(format!(
                    "{name} begins like a JSON array but is not valid ({error}): write [\"first\", \"second\"], or one value per line"
                )),
            }
        } else {
            for line in text.lines().filter(|line| !line.is_empty()) {
                raw.push(option, line.to_owned(), Source::Environment);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_in_the_environment_is_lines_or_a_json_array() {
        let read = |text: &str| {
            let (mut raw, mut problems) = (RawArgs::default(), Vec::new());
            super::read([("ROOTBOUND_DENY".into(), text.into())], &mut raw, &mut problems);
            (raw.list("deny"), problems)
        };
        assert_eq!(read("*.a\n{b,c}\n").0, ["*.a", "{b,c}"]);
        assert_eq!(read("[\"*.a\", \"x y\"]").0, ["*.a", "x y"]);
        assert_eq!(read("[Mm]akefile").0, ["[Mm]akefile"]);
        assert_eq!(read("[\"a\", b]").1.len(), 1);
    }
    #[test]
    fn the_variable_of_a_launcher_is_not_an_option() {
        let (mut raw, mut problems) = (RawArgs::default(), Vec::new());
        let given = [("ROOTBOUND_LAUNCHER", "npx"), ("ROOTBOUND_LAUNCH", "npx")];
        super::read(given.map(|(name, value)| (name.into(), value.into())), &mut raw, &mut problems);
        assert_eq!(problems.len(), 1);
        assert!(problems[0].starts_with("ROOTBOUND_LAUNCH is not a variable of rootbound"), "{problems:?}");
    }
}
