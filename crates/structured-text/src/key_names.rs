//! The names in a file that is a list of names with values: for files whose values are secret.
//!
//! A file is such a list from its first byte to its last, or no name of it is given. A name that holds names, a line that is
//! none, and a value that a shell or a library may take for one of several lines make it none: such a line may look like a
//! name and be a part of a secret.
//!
//! Limits: whether a file is a list depends on its syntax, and so on the quotes and backslashes in its values.

use std::{collections::HashSet, fmt};

use saphyr_parser::{Event, Parser};
use serde::{
    Deserializer as _,
    de::{Error as _, MapAccess, Visitor},
};
use serde_json::value::RawValue;
use toml::de::{DeTable, DeValue};

/// How the names and values of a file are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NamesFormat {
    /// `NAME=value` in lines, as in `.env`, INI and properties; a section holds names, so there is none.
    Lines,
    /// A JSON object.
    Json,
    /// A TOML table.
    Toml,
    /// A YAML mapping, alone in its stream and without anchors, aliases and tags.
    Yaml,
}

/// Bytes of the largest file that is read.
pub const MAX_BYTES: usize = 1 << 20;
/// Bytes of the longest name.
const MAX_NAME: usize = 64;

/// The names in a file, each once, in their order. `None` where it is not a list of names and nothing else, or has none.
///
/// # Examples
/// ```
/// use structured_text::key_names::{NamesFormat, names};
///
/// let found = names(NamesFormat::Lines, b"# local\nPORT=80\nexport KEY='a b'\n");
/// assert_eq!(found, Some(vec!["PORT".to_owned(), "KEY".to_owned()]));
/// assert_eq!(names(NamesFormat::Lines, b"KEY='a\nB=c'\n"), None);
/// ```
pub fn names(format: NamesFormat, bytes: &[u8]) -> Option<Vec<String>> {
    let text = str::from_utf8(bytes).ok().filter(|text| text.len() <= MAX_BYTES)?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    // Readers differ in which of these end a line.
    if text.replace("\r\n", "\n").contains(|one: char| one.is_ascii_control() && !matches!(one, '\t' | '\n')) {
        return None;
    }
    let mut names = match format {
        NamesFormat::Lines => of_lines(text),
        NamesFormat::Json => of_json(text),
        NamesFormat::Toml => of_toml(text),
        NamesFormat::Yaml => of_yaml(text),
    }?;
    let mut seen = HashSet::new();
    names.retain(|name| seen.insert(name.clone()));
    (!names.is_empty() && names.iter().all(|name| is_name(name))).then_some(names)
}

fn is_name(name: &str) -> bool {
    let is_inner = |one: char| one.is_ascii_alphanumeric() || "_.-".contains(one);
    name.len() <= MAX_NAME
        && name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && name.chars().all(is_inner)
}

/// Characters of the shortest line that programs break base64 into; usual are 64 and 76.
const SHORTEST_LINE: usize = 40;

fn of_lines(text: &str) -> Option<Vec<String>> {
    const BLANK_CHARS: [char; 2] = [' ', '\t'];
    let (mut names, mut is_after_line) = (Vec::new(), false);
    for line in text.lines() {
        // systemd continues a comment, too; an editor may have left a blank after the sign.
        if line.trim_end().ends_with('\\') {
            return None;
        }
        if line.trim_matches(BLANK_CHARS).is_empty() || line.starts_with(['#', ';']) {
            continue;
        }
        // An indented line is one that continues a value of INI: its name begins with a blank, and so is none.
        let (name, value) = line.split_once('=')?;
        if !ends_with_its_line(value) {
            return None;
        }
        let exported = name.strip_prefix("export").and_then(|rest| rest.strip_prefix(BLANK_CHARS));
        let name = exported.map_or(name, |rest| rest.trim_start_matches(BLANK_CHARS)).trim_end_matches(BLANK_CHARS);
        // The end of a value in base64 that was broken into lines looks like a name without a value.
        let has = |is_kind: fn(&u8) -> bool| name.as_bytes().iter().any(is_kind);
        let is_mixed = has(u8::is_ascii_lowercase) && has(u8::is_ascii_uppercase)
            || has(u8::is_ascii_digit) && name.bytes().all(|one| one.is_ascii_alphanumeric());
        // One sign pads a group of four, of which three are letters or digits.
        let is_tail = is_after_line && name.len() % 4 == 3 && name.bytes().all(|one| one.is_ascii_alphanumeric());
        let is_empty = value.trim_matches(BLANK_CHARS).is_empty();
        if value.starts_with('=') || is_empty && (is_mixed || is_tail) {
            return None;
        }
        let is_base64 = |one: u8| one.is_ascii_alphanumeric() || matches!(one, b'+' | b'/');
        is_after_line = value.len() >= SHORTEST_LINE && value.bytes().all(is_base64);
        names.push(name.to_owned());
    }
    Some(names)
}

/// What a shell or a library may take for the beginning of a value of several lines, wherever it is.
const CONTINUED_MARKS: [&str; 9] = ["`", "$(", "<(", ">(", "<<", "\\\"", "\\'", "“", "”"];

/// Whether no reader takes the text after `=` for the first of several lines.
fn ends_with_its_line(value: &str) -> bool {
    let trimmed = value.trim_matches([' ', '\t']);
    let is_bracket_open =
        |[open, close]: [char; 2]| trimmed.ends_with(open) || trimmed.starts_with(open) && !trimmed.ends_with(close);
    if CONTINUED_MARKS.iter().any(|mark| value.contains(mark))
        || value.matches("${").count() > value.matches('}').count()
        || value.rfind("${").is_some_and(|at| !value[at..].contains('}'))
        || trimmed.starts_with("-----BEGIN")
        || [['(', ')'], ['[', ']'], ['{', '}']].into_iter().any(is_bracket_open)
    {
        return false;
    }
    let (mut quote, mut before) = (None, '=');
    for one in value.chars() {
        match quote {
            None if one == '#' && before.is_ascii_whitespace() => break,
            None if matches!(one, '"' | '\'') => quote = Some(one),
            Some(open) if one == open => quote = None,
            _ => {}
        }
        before = one;
    }
    quote.is_none()
}

fn of_json(text: &str) -> Option<Vec<String>> {
    let mut json = serde_json::Deserializer::from_str(text);
    let names = json.deserialize_map(FirstLevel).ok()?;
    json.end().ok().map(|()| names)
}

/// The keys of an object that holds no other. A map would keep one of the values of a key that occurs twice.
struct FirstLevel;

impl<'de> Visitor<'de> for FirstLevel {
    type Value = Vec<String>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut names = Vec::new();
        while let Some((name, value)) = map.next_entry::<String, &RawValue>()? {
            if value.get().starts_with(['{', '[']) {
                return Err(A::Error::custom("a value that holds others"));
            }
            names.push(name);
        }
        Ok(names)
    }
}

fn of_toml(text: &str) -> Option<Vec<String>> {
    let table = DeTable::parse(text).ok()?;
    let mut entries: Vec<_> = table.get_ref().iter().collect();
    entries.sort_by_key(|(name, _)| name.span().start);
    let is_scalar = |value: &DeValue<'_>| !value.is_array() && !value.is_table();
    entries.into_iter().map(|(name, value)| is_scalar(value.get_ref()).then(|| name.get_ref().to_string())).collect()
}

fn of_yaml(text: &str) -> Option<Vec<String>> {
    let mut parser = Parser::new_from_str(text);
    let mut next = || parser.next_event()?.ok();
    let mut names = Vec::new();
    let is_document = matches!(next()?.0, Event::StreamStart) && matches!(next()?.0, Event::DocumentStart(_));
    let (Event::MappingStart(0, None), start) = next().filter(|_| is_document)? else { return None };
    // In braces a comma ends a value, and what follows it is a key without one: part of a password.
    if text.chars().nth(start.start.index()) == Some('{') {
        return of_json(text);
    }
    let mut next = || next().map(|(event, _)| event);
    loop {
        match next()? {
            Event::Scalar(name, _, 0, None) if matches!(next()?, Event::Scalar(_, _, 0, None)) => {
                names.push(name.into_owned());
            }
            Event::MappingEnd => {
                let is_all = matches!(next()?, Event::DocumentEnd) && matches!(next()?, Event::StreamEnd);
                return is_all.then_some(names);
            }
            _ => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{
        NamesFormat::{self, Json, Lines, Toml, Yaml},
        names,
    };

    #[track_caller]
    fn assert_names(format: NamesFormat, text: &str, expected: &str) {
        assert_eq!(names(format, text.as_bytes()).map(|found| found.join(" ")).as_deref(), Some(expected), "{text}");
    }

    #[test]
    fn names_are_given_once_in_their_order() {
        for text in [
            "B=1\nA=2\nB=3\n",
            "\u{feff}B=\nA=",
            "B = 1\r\n\r\n; C=1\r\nA\t=\t2\r\n",
            "# C=1\nexport B=1\n \t\nexport  A=2 # it's \"one\n",
            "B='a \"b\\n #'\nA=\"it's\" # no's\n",
            "B=a=b==\nA=${HOST}:${PORT}/#x\n",
            "B={\"C\": [1]}\nA=C:\\dir\n",
            "B=postgres://user:password@database.example.org:5432/app\nA=\n",
            "B=0123456789abcdef0123456789abcdef0123456789abcdef\nA=\n",
            "B=\"-----BEGIN KEY-----\\nMC4=\\n-----END KEY-----\"\nA=x'y'z\n",
        ] {
            assert_names(Lines, text, "B A");
        }
        let json = r#"{ "B": "\ud800{", "A": 1e999, "\u0042": null, "a-b.c_1": true }"#;
        assert_names(Json, &format!("\u{feff}{}", json.replace(' ', "\r\n\t")), "B A a-b.c_1");
        assert_names(Toml, "B = \"\"\"\nA = 1\nC = 2\"\"\" # x\n\"A\" = 1979-05-27\n_c = 0x1F\n", "B A _c");
        assert_names(Yaml, "%YAML 1.2\n---\nB: |\n  A: 1\n  C: 2\n'A': \"x\n  D: 1\"\nB: ~\nE:\n", "B A E");
        assert_names(Yaml, "{\"B\": 1, \"A\": \"x\"}", "B A");
    }

    #[test]
    fn file_that_is_more_than_a_list_of_names_gives_none() {
        for text in [
            "",
            "\n",
            "# A=1\n",
            "A",
            "A=1\0\n",
            "A=1\rB=2\n",
            "A=\u{1b}[m\n",
            "=1\n",
            "1A=1\n",
            "A B=1\n",
            "é=1\n",
            "A: 1\n",
            "A 1\n",
            "export A\n",
            "export =1\n",
            "[s]\nA=1\n",
            "A=1\n B=2\n",
            "A=1\n\tB=2\n",
            "A[]=1\n",
            "! A\nB=1\n",
            "\u{a0}A=1\n",
            "A+=1\n",
            "A=1\n---\n",
            "//host/:_authToken=1\n",
            "\u{feff}\u{feff}A=1\n",
            "-----BEGIN KEY-----\nMC4CAQAwBQYDK2VwBCIEIA==\n-----END KEY-----\n",
            "MC4CAQAwBQYDK2VwBCIEIA==\n",
            "A=\nc2VjcmV0=\n",
            "A=1\nq8Xk2hPq0uB3nJ7s5dTq8w==\n",
            "A=0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\nabcdefg=\n",
            "A=}${X:-\nB=1\n",
            "A=<(x\nB=1\n",
            "A=x=(\nB=1\n",
            "A=x\\ \nB=1\n",
            "A=“x\nB=1”\n",
            "A=MC4CAQAwBQYDK2VwBCIEIAMC4CAQAwBQYDK2VwBCIEIAMC4CAQAwBQYDK2VwBCIEIA\nYDK2Vw=\n",
        ] {
            assert_eq!(names(Lines, text.as_bytes()), None, "{text:?}");
        }
        let (long, large) = (format!("A{}=1\n", "b".repeat(64)), format!("A={}\n", "b".repeat(super::MAX_BYTES)));
        let wide: Vec<u8> = "\u{feff}A=1\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
        for bytes in [long.as_bytes(), large.as_bytes(), &wide, b"A=caf\xe9\n"] {
            assert_eq!(names(Lines, bytes), None);
        }
    }

    #[test]
    fn text_with_more_than_one_level_gives_none() {
        for text in [
            "",
            "{}",
            "[]",
            "1",
            "\"A\"",
            r#"{"A": {}}"#,
            r#"{"A": []}"#,
            r#"{"A": {"B": 1}, "A": 1}"#,
            r#"{"A": 1,}"#,
            r#"{"A": 1} {}"#,
            r#"{"A b": 1}"#,
            r#"{"": 1}"#,
            "{\"A\": 1 // x\n}",
            "{A: 1}",
            r#"{"A": 'x'}"#,
            r#"{"A": 1"#,
            r#"{"A\n": 1}"#,
        ] {
            assert_eq!(names(Json, text.as_bytes()), None, "{text:?}");
        }
        for text in [
            "",
            "# A\n",
            "[t]\n",
            "[[t]]\n",
            "A = {}\n",
            "A = []\n",
            "A.b = 1\n",
            "A = 1\n[t]\nB = 1\n",
            "A = x\n",
            "A = 1\nA = 2\n",
            "A = \"x\nB = 1\"\n",
            "\"A b\" = 1\n",
            "A = 1\nB\n",
            "A = \"\"\"\nB = 1\n",
        ] {
            assert_eq!(names(Toml, text.as_bytes()), None, "{text:?}");
        }
        for text in [
            "",
            "---\n",
            "A",
            "- A: 1\n",
            "A:\n  B: 1\n",
            "A: [1]\n",
            "A: {}\n",
            "A: &a 1\n",
            "A: &a 1\nB: *a\n",
            "&a A: 1\n",
            "A: !!str 1\n",
            "!t A: 1\n",
            "&a\nA: 1\n",
            "!!map\nA: 1\n",
            "A: 1\n---\nB: 2\n",
            "<<: x\n",
            "A: 1\n...\n---\nB: 2\n",
            ":A: 1\n",
            "? [A]\n: 1\n",
            "? {A: 1}\n: 1\n",
            "A: 1\n B: 2\n",
            "A: b: c\n",
            "A: \"x\n",
            "1: A\n",
            "A: 1\n]\n",
            "A b: 1\n",
            "*a : 1\n",
            "? |\n  A\n: 1\n",
        ] {
            assert_eq!(names(Yaml, text.as_bytes()), None, "{text:?}");
        }
    }

    /// Each line that looks like a name is a part of a value for one reader or another.
    #[test]
    fn value_that_may_go_on_in_the_next_line_gives_none() {
        for text in [
            "A=\"x\nB=1\"\n",
            "A='x\nB=1'\n",
            "A=x'y\nB=1'\n",
            "A=\"x\" \"y\nB=1\"\n",
            "A=`x\nB=1`\n",
            "A=#'x\nB=1'\n",
            "A=\"\"\"x\nB=1\"\"\"\n",
            "A='''\nB=1\n'''\n",
            "A=x\\\nB=1\n",
            "A=\"x\\\nB=1\"\n",
            "A=\"x\\\"\nB=1\"\n",
            "A='x\\'\nB=1'\n",
            "# x\\\nB=1\n",
            "A=$(x\nB=1)\n",
            "A=\"$(x\"\nB=1)\n",
            "A=\"x`\"\nB=1`\n",
            "A=${X:-\nB=1}\n",
            "A=(x\nB=1)\n",
            "A=[\nB=1]\n",
            "A={\nB=1}\n",
            "A=x <<E\nB=1\nE\n",
            "A=<<E=\nB=1\nE=\n",
            "A<<E\nB=1\nE\n",
            "A=-----BEGIN KEY-----\nMC4CAQAwBQYDK2VwBCIEIA==\n",
            "A= \"x\r\nB=1\"\r\n",
        ] {
            assert_eq!(names(Lines, text.as_bytes()), None, "{text:?}");
        }
    }

    #[test]
    fn hostile_texts_end_soon() {
        for piece in ["[", "{", "{\"A\":", "A: ", "- ", "? ", "&a ", "A=", "A = [", "\"", "'\n", "%", "!!", "|\n"] {
            let text = piece.repeat((64 << 10) / piece.len());
            for format in [Lines, Json, Toml, Yaml] {
                names(format, text.as_bytes());
            }
        }
    }

    proptest! {
        /// Whatever the values are, no name comes of them; in quotes they decide about nothing.
        #[test]
        fn no_value_becomes_a_name(
            values in prop::array::uniform2("[BQ=:#'\"`\\\\${}()\\[\\]<>|&*!, \t-]{0,8}"),
            format in prop::sample::select(vec![Lines, Json, Toml, Yaml]),
        ) {
            let [one, two] = &values;
            let text = match format {
                Lines => format!("K1={one}\nK2={two}\n"),
                Json => format!("{{\"K1\": {one:?}, \"K2\": {two:?}}}"),
                Toml => format!("K1 = {one:?}\nK2 = {two:?}\n"),
                Yaml => format!("K1: {one:?}\nK2: {two:?}\n"),
            };
            let found = names(format, text.as_bytes());
            let is_expected = found.as_ref().is_none_or(|found| *found == ["K1", "K2"]);
            prop_assert!(is_expected && (format == Lines || found.is_some()), "{text}\n{found:?}");
        }

        #[test]
        fn any_text_gives_names_that_are_in_it(text in "(B=|\n|[=:#'\"{}\\[\\], ]|A|- |k: ){0,20}") {
            for format in [Lines, Json, Toml, Yaml] {
                for name in names(format, text.as_bytes()).unwrap_or_default() {
                    prop_assert!(super::is_name(&name) && text.contains(&name), "{text}");
                }
            }
        }
    }
}
