//! The configuration file: TOML, one key for each option, and a `[[root]]` table for a directory with its own rules.
//!
//! Every unknown key, wrong type and syntax error is reported with its line; `validate` interprets the values.

use std::path::Path;

use serde::{Deserialize as _, de::IntoDeserializer as _};
use toml::{
    Spanned,
    de::{DeTable, DeValue},
};

use super::{
    OptionRow, PER_ROLE, PER_ROOT, RawArgs, RawTable, Source, ValueKind, findings::nearest_or_all, lsp,
    options::options,
};

/// No real one is larger; a wrong path may name a disk image.
const MAX_BYTES: u64 = 1 << 20;

pub(super) fn read(path: &Path, name: &str, raw: &mut RawArgs, problems: &mut Vec<String>) {
    match text(path) {
        Ok(text) => parse(&text, name, raw, problems),
        Err(why) => problems.push(format!("the configuration file {name} cannot be read ({why}): check --config")),
    }
}

fn parse(text: &str, name: &str, raw: &mut RawArgs, problems: &mut Vec<String>) {
    // What is valid is read all the same, so that one start reports every problem of the file.
    let (table, errors) = DeTable::parse_recoverable(text);
    // Of a line that is not valid its value is a guess: the syntax alone is reported.
    let mut invalid = Vec::new();
    for error in errors {
        let line = line_of(text, error.span().map_or(0, |span| span.start));
        invalid.push(line);
        let escapes = text.lines().nth(line - 1).filter(|line| escaped_drive(line).is_some());
        let next = if escapes.is_some() { format!("; {LITERAL_HINT}") } else { String::new() };
        problems.push(format!("{name}:{line}: not valid TOML: {}{next}", error.message().trim().replace('\n', ", ")));
    }
    for (number, line) in text.lines().enumerate() {
        // \n, \t and others are valid, and the path would silently be another.
        if escaped_drive(line).is_some_and(|letter| "btnfre".contains(letter)) {
            problems.push(format!("{name}:{}: {LITERAL_HINT}", number + 1));
        }
    }
    let mut reader = Reader { text, name, invalid, problems };
    for (key, value) in table.get_ref() {
        let line = reader.line(key.span().start);
        let key: &str = key.get_ref();
        if key == "role" {
            reader.roles(value, line, raw);
            continue;
        }
        if key == "lsp" {
            let place = |offset| format!("{name}:{}", line_of(text, offset));
            raw.language_servers = lsp::tables(value, &place, reader.problems);
            continue;
        }
        match options().find(|option| option.key() == key && option.flag != "config") {
            Some(option) if option.flag == "root" => reader.roots(option, value, line, raw),
            Some(option) => reader.values(option, value, line, raw),
            None => reader.problem(line, &unknown(key)),
        }
    }
}

const LITERAL_HINT: &str =
    r"a Windows path in double quotes, where \n, \t and \U are escapes: write it in single quotes, 'C:\new'";

/// The letter after the backslash of `"C:\x` in a line that is no comment: the beginning of a Windows path in double
/// quotes, with or without a mount name before it.
fn escaped_drive(line: &str) -> Option<char> {
    // By its letters: a file that does not parse has no tree to look in.
    let line = line.split('#').next().unwrap_or(line);
    line.match_indices(":\\").find_map(|(at, _)| {
        let (before, after) = (&line[..at], line[at + 2..].chars().next()?);
        let (start, drive) = before.split_at(before.len().checked_sub(1)?);
        let is_path = drive.starts_with(|letter: char| letter.is_ascii_alphabetic()) && start.ends_with(['"', '=']);
        let is_basic = start.matches('"').count() % 2 == 1 && !start.contains('\'');
        (is_path && is_basic && after != '\\').then_some(after)
    })
}

/// The text that is read, for the line numbers in messages, and where the messages go.
struct Reader<'f> {
    text: &'f str,
    name: &'f str,
    invalid: Vec<usize>,
    problems: &'f mut Vec<String>,
}

impl Reader<'_> {
    fn values(&mut self, option: &'static OptionRow, value: &Spanned<DeValue<'_>>, line: usize, raw: &mut RawArgs) {
        if self.invalid.contains(&line) {
            return;
        }
        let values = match value.get_ref() {
            // `tools = ["read", "grep"]` means the same as "read,grep".
            DeValue::Array(values) if option.is_list() || option.flag == "tools" => values.iter().collect(),
            _ => vec![value],
        };
        let texts: Option<Vec<(String, usize)>> =
            values.into_iter().map(|value| Some((scalar(option, value)?, self.line(value.span().start)))).collect();
        match texts {
            Some(texts) if option.flag == "tools" => {
                let names: Vec<String> = texts.into_iter().map(|(text, _)| text).collect();
                raw.push(option, names.join(","), self.source(line));
            }
            Some(texts) => {
                for (text, line) in texts {
                    raw.push(option, text, self.source(line));
                }
            }
            None => self.problem(line, &wrong_type(option, &option.key(), value.get_ref())),
        }
    }

    /// The elements of an array, or the value itself, each with its line. `line`: that of the key, for `[[root]]` and
    /// the like, whose elements have no place of their own.
    fn elements<'v, 'd>(&self, value: &'v Spanned<DeValue<'d>>, line: usize) -> Vec<(&'v Spanned<DeValue<'d>>, usize)> {
        let elements = match value.get_ref() {
            DeValue::Array(values) => values.iter().collect(),
            _ => vec![value],
        };
        let line_of = |value: &Spanned<_>| if value.span().is_empty() { line } else { self.line(value.span().start) };
        elements.into_iter().map(|value| (value, line_of(value))).collect()
    }

    /// `root = ["a", "b=c:ro"]`, or tables with their own rules, or both.
    fn roots(&mut self, option: &'static OptionRow, value: &Spanned<DeValue<'_>>, line: usize, raw: &mut RawArgs) {
        for (value, line) in self.elements(value, line) {
            match value.get_ref() {
                DeValue::Table(_) => {
                    let Some(root) = self.table(value, line, "root", &["path", "name", "optional"], &PER_ROOT) else {
                        continue;
                    };
                    match root.path.clone() {
                        Some(path) => raw.push_root(option, path, self.source(line), root),
                        None => self.problem(line, "a root without a path: add path = \"/srv/docs\""),
                    }
                }
                DeValue::String(text) => raw.push(option, text.clone().into_owned(), self.source(line)),
                other => self.problem(line, &wrong_type(option, "root", other)),
            }
        }
    }

    fn roles(&mut self, value: &Spanned<DeValue<'_>>, line: usize, raw: &mut RawArgs) {
        for (value, line) in self.elements(value, line) {
            match value.get_ref() {
                DeValue::Table(_) => {
                    let keys = &["name", "label", "client", "roots"];
                    raw.roles.extend(self.table(value, line, "role", keys, &PER_ROLE));
                }
                other => self.problem(line, &format!("role is {}, but must be a table: [[role]]", other.type_str())),
            }
        }
    }

    /// Reads a table of a `kind`, which has `keys` of its own and the options called `flags`. Each unknown key is a problem,
    /// and a wrong type of one of its own keys.
    fn table(
        &mut self,
        value: &Spanned<DeValue<'_>>,
        line: usize,
        kind: &str,
        keys: &[&str],
        flags: &[&str],
    ) -> Option<RawTable> {
        let allowed = || options().filter(|option| flags.contains(&option.flag));
        let mut own = RawArgs::default();
        for (key, value) in value.get_ref().as_table().into_iter().flatten() {
            let (line, key): (usize, &str) = (self.line(key.span().start), key.get_ref());
            if let Some(option) = allowed().find(|option| option.key() == key) {
                self.values(option, value, line, &mut own);
            } else if !keys.contains(&key) {
                let known = keys.iter().map(ToString::to_string).chain(allowed().map(OptionRow::key));
                let problem = no_such_key(key, &format!("key of a {kind}"), &known.collect::<Vec<_>>());
                self.problem(line, &problem);
            }
        }
        match RawTable::deserialize(value.clone().into_deserializer()) {
            Ok(read) => Some(RawTable { place: format!("{}:{line}", self.name), own, ..read }),
            Err(error) => {
                let line = error.span().map_or(line, |span| self.line(span.start));
                self.problem(line, &format!("[[{kind}]]: {}", error.to_string().trim().replace('\n', " ")));
                None
            }
        }
    }

    fn line(&self, offset: usize) -> usize {
        line_of(self.text, offset)
    }

    fn source(&self, line: usize) -> Source {
        Source::File { name: self.name.to_owned(), line }
    }

    fn problem(&mut self, line: usize, problem: &str) {
        self.problems.push(format!("{}:{line}: {problem}", self.name));
    }
}

fn wrong_type(option: &OptionRow, key: &str, value: &DeValue<'_>) -> String {
    let expected = match option.kind {
        ValueKind::Switch(_) => "true or false",
        ValueKind::List(_) if option.flag == "root" => "text, a table, or a list of them",
        ValueKind::List(_) => "text or a list of texts: [\"first\", \"second\"]",
        _ => "text or a number",
    };
    format!("{key} is {}, but must be {expected}", value.type_str())
}

fn unknown(key: &str) -> String {
    if key == "config" {
        return "a configuration file cannot name another: remove config".to_owned();
    }
    let names: Vec<String> = options()
        .map(OptionRow::key)
        .filter(|name| name != "config")
        .chain(["role", "lsp"].map(str::to_owned))
        .collect();
    no_such_key(key, "key", &names)
}

fn no_such_key(key: &str, what: &str, names: &[String]) -> String {
    format!("unknown {what} {key:?}: {}", nearest_or_all(key, names, "keys"))
}

/// The value as text, as on a command line; `None` if its type is wrong.
fn scalar(option: &OptionRow, value: &Spanned<DeValue<'_>>) -> Option<String> {
    match (&option.kind, value.get_ref()) {
        (ValueKind::Switch(_), DeValue::Boolean(truth)) => Some(truth.to_string()),
        (ValueKind::Switch(_), _) => None,
        (_, DeValue::String(text)) => Some(text.clone().into_owned()),
        (ValueKind::List(_), _) => None,
        (_, DeValue::Integer(number)) if number.radix() == 10 => Some(number.as_str().to_owned()),
        (_, DeValue::Float(number)) => Some(number.as_str().to_owned()),
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
pub(super) fn text(path: &Path) -> Result<String, String> {
    use std::io::Read as _;

    let file = std::fs::File::open(path).map_err(|error| error.to_string())?;
    let mut bytes = Vec::new();
    // One byte more shows that the file is too large.
    file.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(format!("it is larger than {MAX_BYTES} bytes"));
    }
    if bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff") {
        return Err("it is UTF-16, as Windows PowerShell's > writes it: save it as UTF-8".to_owned());
    }
    let text = String::from_utf8(bytes).map_err(|_| "it is not UTF-8".to_owned())?;
    // Editors on Windows write a byte order mark, which TOML does not allow.
    Ok(text.strip_prefix('\u{feff}').map_or_else(|| text.clone(), str::to_owned))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_text(text: &str) -> (RawArgs, Vec<String>) {
        let (mut raw, mut problems) = (RawArgs::default(), Vec::new());
        parse(text, "r.toml", &mut raw, &mut problems);
        (raw, problems)
    }

    #[test]
    fn every_option_but_config_is_a_key() {
        let text: String = options()
            .filter(|option| option.flag != "config")
            .map(|option| match option.kind {
                ValueKind::Switch(_) => format!("{} = true\n", option.key()),
                ValueKind::List(_) => format!("{} = [\"x\", \"y\"]\n", option.key()),
                _ => format!("{} = \"x\"\n", option.key()),
            })
            .collect();
        let (raw, problems) = read_text(&text);
        assert!(problems.is_empty(), "{problems:?}");
        for option in options().filter(|option| option.flag != "config") {
            let expected = if option.is_list() { 2 } else { 1 };
            assert_eq!(raw.of_highest_source(option.flag).len(), expected, "{}", option.flag);
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
        assert!(all.contains("r.toml:6: allow is integer, but must be text or a list of texts"), "{all}");
    }

    #[test]
    fn a_root_may_be_a_table_with_its_own_rules() {
        let (raw, problems) = read_text(
            "deny = [\"*.a\"]\n\n[[root]]\npath = \"docs\"\nname = \"d\"\nread_only = true\ndeny = [\"*.b\",\n  \"*.c\"]\n\n[[root]]\npath = \"x:ro\"\n",
        );
        assert!(problems.is_empty(), "{problems:?}");
        assert_eq!(raw.texts("root"), ["docs", "x:ro"]);
        assert_eq!(raw.texts("deny"), ["*.a"]);
        let roots = raw.of_all_sources("root");
        let table = roots[0].table.as_ref().expect("a table");
        assert_eq!((table.name.as_deref(), table.own.texts("deny")), (Some("d"), vec!["*.b".into(), "*.c".into()]));
        assert_eq!(table.own.of_all_sources("deny")[1].source, Source::File { name: "r.toml".into(), line: 8 });
        assert_eq!(roots[1].source, Source::File { name: "r.toml".into(), line: 10 });
    }

    #[test]
    fn each_wrong_key_of_a_root_is_reported() {
        let (raw, problems) = read_text(
            "root = [\"a\", {path = \"b\", denny = \"x\"}, {deny = \"x\"}, {path = 3, hide = 4, max_output = 5}, 7]\n",
        );
        assert_eq!(raw.texts("root"), ["a", "b"]);
        let all = problems.join("\n");
        assert_eq!(problems.len(), 6, "{all}");
        for part in [
            "r.toml:1: unknown key of a root \"denny\": did you mean deny?",
            "a root without a path",
            "[[root]]: invalid type: integer `3`, expected a string in `path`",
            "hide is integer, but must be text or a list",
            "unknown key of a root \"max_output\": the keys are path, name, optional, read_only, untrusted, deny",
            "root is integer, but must be text, a table",
        ] {
            assert!(all.contains(part), "{part}: {all}");
        }
    }

    #[test]
    fn a_syntax_error_does_not_hide_an_unknown_key() {
        let (_, problems) = read_text("log = \nread_onyl = true\n");
        let all = problems.join("\n");
        assert!(all.contains("r.toml:1: not valid TOML"), "{all}");
        assert!(all.contains("r.toml:2: unknown key"), "{all}");
    }

    #[test]
    fn windows_path_in_double_quotes_is_reported_with_its_line() {
        for (text, told) in [
            ("root = \"C:\\new\"\n", true),
            ("log = \"warn\"\n[[root]]\npath = \"D:\\Users\\me\"\n", true),
            ("root = [\"docs=C:\\temp:ro\"]\n", true),
            ("root = 'C:\\new'\n", false),
            ("root = \"C:\\\\new\"\n", false),
            ("root = \"C:/new\"\n# \"C:\\new\"\n", false),
        ] {
            let (_, problems) = read_text(text);
            assert_eq!(
                problems.iter().any(|problem| problem.contains("write it in single quotes")),
                told,
                "{text}{problems:?}"
            );
            assert_eq!(problems.is_empty(), !told, "{text}{problems:?}");
        }
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "a file as editors on Windows write it")]
    fn byte_order_mark_is_skipped_and_utf_16_is_named() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let path = dir.path().join("r.toml");
        std::fs::write(&path, "\u{feff}log = \"info\"\r\n").expect("written");
        assert_eq!(text(&path).as_deref(), Ok("log = \"info\"\r\n"));
        let utf_16: Vec<u8> = "\u{feff}log = 1".encode_utf16().flat_map(u16::to_le_bytes).collect();
        std::fs::write(&path, utf_16).expect("written");
        assert!(text(&path).unwrap_err().contains("UTF-16"));
    }

    #[test]
    fn a_list_entry_keeps_its_own_line() {
        let (raw, _) = read_text("deny = [\n  \"a\",\n  \"b\",\n]\n");
        let lines: Vec<_> = raw.of_highest_source("deny").into_iter().map(|value| value.source.clone()).collect();
        assert_eq!(lines[1], Source::File { name: "r.toml".into(), line: 3 });
    }

    #[test]
    fn numbers_and_lists_become_the_text_of_a_command_line() {
        let (raw, problems) = read_text("max_output = 11_000\ntime_limit = 2.5\ntools = [\"read\", \"grep\"]\n");
        assert!(problems.is_empty(), "{problems:?}");
        assert_eq!(raw.effective("max-output").expect("given").text, "11000");
        assert_eq!(raw.effective("time-limit").expect("given").text, "2.5");
        assert_eq!(raw.effective("tools").expect("given").text, "read,grep");
    }
}
