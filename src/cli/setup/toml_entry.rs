//! The entry of a server in a TOML file of a client: a table with a heading.
//!
//! The text is edited by lines and values, so that everything else stays as it is.

use std::ops::Range;

use serde_json::{Map, Value};
use toml::de::{DeTable, DeValue};

use super::{
    entry::{FoundEntry, is_rootbound},
    json_document::Added,
    toml_lines::{LineKind, TomlLine, lines},
};

/// The entry of that name in the table `above`.
pub(super) fn existing(text: &str, above: &str, name: &str) -> Result<Option<FoundEntry>, String> {
    let document = parse(text)?;
    let Some(entry) = document.get(above).and_then(|servers| servers.get(name)) else { return Ok(None) };
    let value = serde_json::to_value(entry).unwrap_or_default();
    Ok(Some(FoundEntry { ours: is_rootbound(&value), value }))
}

/// The names of all entries that start this program.
pub(super) fn ours(text: &str, above: &str) -> Result<Vec<String>, String> {
    let document = parse(text)?;
    let servers = document.get(above).and_then(toml::Value::as_table).into_iter().flatten();
    let is_ours = |value: &toml::Value| serde_json::to_value(value).is_ok_and(|value| is_rootbound(&value));
    Ok(servers.filter(|(_, value)| is_ours(value)).map(|(name, _)| name.clone()).collect())
}

/// Adds the entry at the end; returns what was added with it. Without a line end there it has none there either, and one
/// more line end before.
pub(super) fn add(text: &str, above: &str, name: &str, entry: &Map<String, Value>) -> Result<(String, Added), String> {
    parse(text)?;
    let end = line_end(text);
    let mut added = Added::default();
    let block = plain(above, name, entry).replace('\n', end);
    let edited = if text.is_empty() {
        added.document = Some(0);
        block
    } else if text.ends_with('\n') {
        format!("{text}{end}{block}")
    } else {
        added.padding = 1;
        format!("{text}{end}{end}{}", block.trim_end_matches(['\r', '\n']))
    };
    Ok((checked(edited, above, name)?, added))
}

/// Gives an entry of ours the command and arguments of `entry`, and what else it lacks; what a person added to it or
/// changed in it stays.
pub(super) fn update(text: &str, above: &str, name: &str, entry: &Map<String, Value>) -> Result<String, String> {
    let mut text = text.to_owned();
    for (key, value) in entry {
        let wanted = toml_value(value);
        let document = parse(&text)?;
        let old = document.get(above).and_then(|servers| servers.get(name)?.get(key));
        if old.is_some_and(|old| *old == wanted || !matches!(key.as_str(), "command" | "args")) {
            continue;
        }
        if let Some(span) = value_span(&text, &[above, name, key])? {
            text.replace_range(span, &wanted.to_string());
        } else {
            let heading = heading_end(&text, &found_region(&text, above, name)?);
            text.insert_str(heading, &format!("{key} = {wanted}{}", line_end(&text)));
        }
    }
    checked(text, above, name)
}

/// Takes the entry out with the line before it.
pub(super) fn remove(text: &str, above: &str, name: &str, added: Added) -> Result<String, String> {
    let mut text = text.to_owned();
    let mut is_first = true;
    while let Some(region) = region(&text, above, name) {
        let mut start = region.start;
        if is_first && added.document.is_none() {
            start = without_line_end(&text[..start], true).len();
            if added.padding > 0 && region.end == text.len() {
                start = without_line_end(&text[..start], false).len();
            }
        }
        text.replace_range(start..region.end, "");
        is_first = false;
    }
    if parse(&text)?.get(above).and_then(|servers| servers.get(name)).is_some() {
        return Err(no_heading(&text, above, name));
    }
    Ok(text)
}

/// The text without the empty line at its end, or without the end of its last line.
fn without_line_end(text: &str, only_empty: bool) -> &str {
    let Some(cut) = text.strip_suffix("\r\n").or_else(|| text.strip_suffix('\n')) else { return text };
    if only_empty && !cut.is_empty() && !cut.ends_with('\n') { text } else { cut }
}

fn parse(text: &str) -> Result<toml::Table, String> {
    text.parse().map_err(|error: toml::de::Error| {
        let line = error.span().map_or(1, |span| text[..span.start.min(text.len())].matches('\n').count() + 1);
        format!("line {line}: {}", error.message().trim())
    })
}

/// The text, if it has the entry.
fn checked(text: String, above: &str, name: &str) -> Result<String, String> {
    match parse(&text) {
        Ok(document) if document.get(above).and_then(|servers| servers.get(name)).is_some() => Ok(text),
        _ => Err(no_heading(&text, above, name)),
    }
}

fn no_heading(text: &str, above: &str, name: &str) -> String {
    let line = text.lines().position(|line| line.trim_start().starts_with(above)).map_or(1, |index| index + 1);
    format!("line {line}: {above} is not written as tables with headings such as [{above}.{name}]")
}

fn found_region(text: &str, above: &str, name: &str) -> Result<Range<usize>, String> {
    region(text, above, name).ok_or_else(|| no_heading(text, above, name))
}

/// From the first heading of the entry to its last value.
fn region(text: &str, above: &str, name: &str) -> Option<Range<usize>> {
    let lines = lines(text);
    let is_own = |line: &TomlLine| matches!(&line.kind, LineKind::Heading(names) if names.len() > 1 && names[0] == above && names[1] == name);
    let first = lines.iter().position(is_own)?;
    let mut last = first;
    for (index, line) in lines.iter().enumerate().skip(first + 1) {
        match line.kind {
            LineKind::Heading(_) if !is_own(line) => break,
            LineKind::Heading(_) | LineKind::Value => last = index,
            LineKind::Blank | LineKind::Comment => {}
        }
    }
    Some(lines[first].start..lines[last].end)
}

fn heading_end(text: &str, region: &Range<usize>) -> usize {
    let mut end = region.start;
    for line in text[region.clone()].split_inclusive('\n') {
        end += line.len();
        if line.trim_start().starts_with('[') {
            break;
        }
    }
    end
}

/// The table of an entry.
pub(super) fn plain(above: &str, name: &str, entry: &Map<String, Value>) -> String {
    entry
        .iter()
        .fold(format!("[{above}.{name}]\n"), |text, (key, value)| format!("{text}{key} = {}\n", toml_value(value)))
}

fn line_end(text: &str) -> &'static str {
    if text.find('\n').is_some_and(|at| text[..at].ends_with('\r')) { "\r\n" } else { "\n" }
}

fn toml_value(value: &Value) -> toml::Value {
    match value {
        Value::Array(list) => toml::Value::Array(list.iter().map(toml_value).collect()),
        Value::Bool(value) => toml::Value::Boolean(*value),
        Value::Number(number) => toml::Value::Integer(number.as_i64().unwrap_or_default()),
        Value::String(text) => toml::Value::String(text.clone()),
        other => toml::Value::String(other.to_string()),
    }
}

/// Where the value at the end of a path is in the text.
fn value_span(text: &str, path: &[&str]) -> Result<Option<Range<usize>>, String> {
    let document = DeTable::parse(text).map_err(|error| error.message().to_owned())?;
    let mut table = document.get_ref();
    for (index, key) in path.iter().enumerate() {
        let Some(value) = table.get(*key) else { return Ok(None) };
        if index + 1 == path.len() {
            return Ok(Some(value.span()));
        }
        match value.get_ref() {
            DeValue::Table(below) => table = below,
            _ => return Ok(None),
        }
    }
    Ok(None)
}
