//! The configuration file: TOML, flat, one key for each option.
//!
//! Every unknown key, wrong type and syntax error is reported with its line; what the values mean is
//! `validate`'s matter.

use std::path::Path;

use toml::{
    Spanned,
    de::{DeTable, DeValue},
};

use super::options::{OPTIONS, Opt, Shape, Source, Typed, nearest};

/// Larger than any real one; a wrong path may name a disk image.
const MAX_BYTES: u64 = 1 << 20;

/// Reads the file at `path`, which messages call `name`.
pub(super) fn read(path: &Path, name: &str, typed: &mut Typed, problems: &mut Vec<String>) {
    match text(path) {
        Ok(text) => parse(&text, name, typed, problems),
        Err(why) => problems.push(format!("the configuration file {name} cannot be read ({why}): check --config")),
    }
}

/// Reads the content of a file called `name`.
fn parse(text: &str, name: &str, typed: &mut Typed, problems: &mut Vec<String>) {
    let (table, errors) = DeTable::parse_recoverable(text);
    for error in errors {
        let line = line_of(text, error.span().map_or(0, |span| span.start));
        problems.push(format!("{name}:{line}: not valid TOML: {}", error.message().trim().replace('\n', ", ")));
    }
    for (key, value) in table.get_ref() {
        let line = line_of(text, key.span().start);
        let key: &str = key.get_ref();
        let Some(option) = OPTIONS.iter().find(|option| option.key() == key && option.flag != "config") else {
            problems.push(format!("{name}:{line}: {}", unknown(key)));
            continue;
        };
        let values = match (option.shape, value.get_ref()) {
            (Shape::List, DeValue::Array(values)) => values.iter().collect(),
            // `tools = ["read", "grep"]` is as clear as "read,grep".
            (Shape::One, DeValue::Array(values)) if option.flag == "tools" => values.iter().collect(),
            _ => vec![value],
        };
        let texts: Option<Vec<(String, usize)>> =
            values.into_iter().map(|value| Some((scalar(option, value)?, line_of(text, value.span().start)))).collect();
        match texts {
            Some(texts) if option.flag == "tools" => {
                let names: Vec<String> = texts.into_iter().map(|(text, _)| text).collect();
                typed.push(option, names.join(","), Source::File { name: name.to_owned(), line });
            }
            Some(texts) => {
                for (text, line) in texts {
                    typed.push(option, text, Source::File { name: name.to_owned(), line });
                }
            }
            None => problems.push(format!(
                "{name}:{line}: {key} is {}, but takes {}",
                value.get_ref().type_str(),
                match option.shape {
                    Shape::Switch => "true or false",
                    Shape::One => "a text or a number",
                    Shape::List => "a text or a list of texts: [\"first\", \"second\"]",
                }
            )),
        }
    }
}

fn unknown(key: &str) -> String {
    if key == "config" {
        return "a configuration file cannot name another: remove config".to_owned();
    }
    let names: Vec<String> = OPTIONS.iter().map(Opt::key).filter(|name| name != "config").collect();
    match nearest(key, names.iter().map(String::as_str)) {
        Some(near) => format!("unknown key {key:?}: did you mean {near}?"),
        None => format!("unknown key {key:?}: the keys are {}", names.join(", ")),
    }
}

/// The value as it would be typed on a command line; `None` when it is of a wrong type.
fn scalar(option: &Opt, value: &Spanned<DeValue<'_>>) -> Option<String> {
    match (option.shape, value.get_ref()) {
        (_, DeValue::String(text)) if option.shape != Shape::Switch => Some(text.clone().into_owned()),
        (Shape::Switch, DeValue::Boolean(truth)) => Some(truth.to_string()),
        (Shape::One, DeValue::Integer(number)) if number.radix() == 10 => Some(number.as_str().to_owned()),
        (Shape::One, DeValue::Float(number)) => Some(number.as_str().to_owned()),
        _ => None,
    }
}

fn line_of(text: &str, offset: usize) -> usize {
    text.bytes().take(offset).filter(|byte| *byte == b'\n').count() + 1
}

#[expect(
    clippy::disallowed_types,
    reason = "the configuration file is the person's own and read before any root is open"
)]
fn text(path: &Path) -> Result<String, String> {
    use std::io::Read as _;

    let file = std::fs::File::open(path).map_err(|error| error.to_string())?;
    let mut bytes = Vec::new();
    file.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(format!("it is larger than {MAX_BYTES} bytes"));
    }
    let text = String::from_utf8(bytes).map_err(|_| "it is not UTF-8".to_owned())?;
    // Editors on Windows write a byte order mark; TOML has no place for one.
    Ok(text.strip_prefix('\u{feff}').map_or_else(|| text.clone(), str::to_owned))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_text(text: &str) -> (Typed, Vec<String>) {
        let (mut typed, mut problems) = (Typed::default(), Vec::new());
        parse(text, "r.toml", &mut typed, &mut problems);
        (typed, problems)
    }

    #[test]
    fn every_option_but_config_is_a_key() {
        let text: String = OPTIONS
            .iter()
            .filter(|option| option.flag != "config")
            .map(|option| match option.shape {
                Shape::One => format!("{} = \"x\"\n", option.key()),
                Shape::Switch => format!("{} = true\n", option.key()),
                Shape::List => format!("{} = [\"x\", \"y\"]\n", option.key()),
            })
            .collect();
        let (typed, problems) = read_text(&text);
        assert!(problems.is_empty(), "{problems:?}");
        for option in OPTIONS.iter().filter(|option| option.flag != "config") {
            let expected = if option.shape == Shape::List { 2 } else { 1 };
            assert_eq!(typed.highest(option.flag).len(), expected, "{}", option.flag);
        }
    }

    #[test]
    fn each_wrong_line_is_named_with_the_nearest_key() {
        let (_, problems) = read_text("log = \"info\"\nread_onyl = true\n\nmax-output = 5\ncolour = 1\nallow = 3\n");
        assert_eq!(problems.len(), 4, "{problems:?}");
        let all = problems.join("\n");
        assert!(all.contains("r.toml:2: unknown key \"read_onyl\": did you mean read_only?"), "{all}");
        assert!(all.contains("r.toml:4: unknown key \"max-output\": did you mean max_output?"), "{all}");
        assert!(all.contains("r.toml:5: unknown key \"colour\": the keys are root, "), "{all}");
        assert!(all.contains("r.toml:6: allow is integer, but takes a text or a list of texts"), "{all}");
    }

    #[test]
    fn a_syntax_error_does_not_hide_an_unknown_key() {
        let (_, problems) = read_text("log = \nread_onyl = true\n");
        let all = problems.join("\n");
        assert!(all.contains("r.toml:1: not valid TOML"), "{all}");
        assert!(all.contains("r.toml:2: unknown key"), "{all}");
    }

    #[test]
    fn a_list_entry_keeps_its_own_line() {
        let (typed, _) = read_text("deny = [\n  \"a\",\n  \"b\",\n]\n");
        let lines: Vec<_> = typed.highest("deny").into_iter().map(|(_, given)| given.source.clone()).collect();
        assert_eq!(lines[1], Source::File { name: "r.toml".into(), line: 3 });
    }

    #[test]
    fn numbers_are_read_as_they_stand() {
        let (typed, problems) = read_text("max_output = 11_000\ntime_limit = 2.5\ntools = [\"read\", \"grep\"]\n");
        assert!(problems.is_empty(), "{problems:?}");
        assert_eq!(typed.one("max-output").expect("given").1.text, "11000");
        assert_eq!(typed.one("time-limit").expect("given").1.text, "2.5");
        assert_eq!(typed.one("tools").expect("given").1.text, "read,grep");
    }
}
