//! The lines of a TOML document that is known to be valid: which are headings of tables, and which are empty.

/// One line with its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TomlLine {
    pub(super) start: usize,
    /// Behind the end of the line.
    pub(super) end: usize,
    pub(super) kind: LineKind,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum LineKind {
    /// `[a.b]` or `[[a.b]]`.
    Heading(Vec<String>),
    Blank,
    Comment,
    /// A key with its value, or a line of a value.
    Value,
}

/// What the scanner is inside of at the end of a line.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Inside {
    Nothing,
    /// A string of several lines, with its quotes.
    Text(&'static str),
}

/// The lines of `text`.
pub(super) fn lines(text: &str) -> Vec<TomlLine> {
    let (mut out, mut start, mut inside, mut depth) = (Vec::new(), 0, Inside::Nothing, 0_usize);
    for line in text.split_inclusive('\n') {
        let end = start + line.len();
        let free = inside == Inside::Nothing && depth == 0;
        let plain = line.trim();
        let kind = match plain.chars().next() {
            _ if !free => LineKind::Value,
            None => LineKind::Blank,
            Some('#') => LineKind::Comment,
            Some('[') => LineKind::Heading(heading(plain)),
            Some(_) => LineKind::Value,
        };
        if !matches!(kind, LineKind::Heading(_)) {
            scan(line, &mut inside, &mut depth);
        }
        out.push(TomlLine { start, end, kind });
        start = end;
    }
    out
}

/// The names of a heading.
fn heading(line: &str) -> Vec<String> {
    let mut names = Vec::new();
    let Ok(table) = line.parse::<toml::Table>() else { return names };
    let mut next = Some(toml::Value::Table(table));
    while let Some(value) = next {
        let table = match value {
            toml::Value::Array(list) => list.into_iter().next().and_then(|one| one.as_table().cloned()),
            toml::Value::Table(table) => Some(table),
            _ => None,
        };
        next = table.and_then(|table| table.into_iter().next()).map(|(name, value)| {
            names.push(name);
            value
        });
    }
    names
}

/// Goes over one line of keys and values.
fn scan(line: &str, inside: &mut Inside, depth: &mut usize) {
    let mut rest = line;
    while let Some(first) = rest.chars().next() {
        if let Inside::Text(quotes) = *inside {
            if rest.starts_with('\\') && quotes == "\"\"\"" {
                rest = rest[1..].strip_prefix(|_: char| true).unwrap_or_default();
            } else if let Some(behind) = rest.strip_prefix(quotes) {
                *inside = Inside::Nothing;
                // Up to two more quotes are part of the text.
                rest = behind.trim_start_matches(&quotes[..1]);
            } else {
                rest = &rest[first.len_utf8()..];
            }
            continue;
        }
        if let Some(quotes) = ["\"\"\"", "'''"].into_iter().find(|quotes| rest.starts_with(quotes)) {
            *inside = Inside::Text(quotes);
            rest = &rest[quotes.len()..];
            continue;
        }
        match first {
            '#' => return,
            '"' | '\'' => rest = behind_string(rest, first),
            '[' | '{' => {
                *depth += 1;
                rest = &rest[1..];
            }
            ']' | '}' => {
                *depth = depth.saturating_sub(1);
                rest = &rest[1..];
            }
            _ => rest = &rest[first.len_utf8()..],
        }
    }
}

/// What follows a string of one line.
fn behind_string(rest: &str, quote: char) -> &str {
    let mut escaped = false;
    for (at, character) in rest.char_indices().skip(1) {
        match character {
            _ if escaped => escaped = false,
            '\\' if quote == '"' => escaped = true,
            _ if character == quote => return &rest[at + 1..],
            _ => {}
        }
    }
    ""
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brackets_in_strings_arrays_and_comments_are_no_headings() {
        let text = "a = [\n [1], # [x]\n]\nb = \"\"\"\n[b] \\\"\"\n\"\"\"\n  [c . \"d.e\"] # [f]\nc = '[' # [g]\n[[h]]\n\n# [i]\n";
        assert!(text.parse::<toml::Table>().is_ok(), "{:?}", text.parse::<toml::Table>());
        let found = lines(text);
        let headings: Vec<_> = found
            .iter()
            .filter_map(|line| match &line.kind {
                LineKind::Heading(names) => Some(names.join("/")),
                _ => None,
            })
            .collect();
        assert_eq!(headings, ["c/d.e", "h"]);
        assert_eq!(found.last().map(|line| (line.end, line.kind.clone())), Some((text.len(), LineKind::Comment)));
    }
}
