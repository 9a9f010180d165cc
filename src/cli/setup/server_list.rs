//! The list of servers in a client's file, in JSON or TOML. Of TOML, entries are tables with headings, edited at the places
//! that the parser gives: all that is not ours keeps its bytes.

use std::{fmt::Write as _, ops::Range};

use serde_json::Value;
use toml::{
    Spanned,
    de::{DeTable, DeValue, Error},
};

use super::{
    clients::Format,
    entry::{ServerEntry, is_ours},
    error::{Result, SetupError},
    json_document,
};

/// Where the list is: the names above the entries, and the format.
#[derive(Clone, Debug)]
pub(super) struct ServerList {
    pub(super) is_toml: bool,
    path: Vec<String>,
}

impl ServerList {
    /// The list of a client; `above` is what a JSON list is nested in.
    pub(super) fn of(format: Format, above: Vec<String>) -> Self {
        let (is_toml, own) = match &format {
            Format::Json(path) => (false, *path),
            // That in YAML is only printed.
            Format::Toml(table) | Format::Yaml(table) => (true, std::slice::from_ref(table)),
        };
        Self { is_toml, path: above.into_iter().chain(own.iter().map(|&key| key.to_owned())).collect() }
    }

    /// Where it is in its file, as a text that no other list of the file has.
    pub(super) fn name(&self) -> String {
        self.path.join(" ")
    }

    pub(super) fn existing(&self, text: &str, name: &str) -> Result<Option<Value>> {
        self.value_at(text, &[name])
    }

    pub(super) fn ours(&self, text: &str) -> Result<Vec<String>> {
        let servers = self.value_at(text, &[])?;
        let servers = servers.iter().filter_map(Value::as_object).flatten();
        Ok(servers.filter(|(_, entry)| is_ours(entry)).map(|(name, _)| name.clone()).collect())
    }

    /// Adds an entry; returns how many containers were made for it.
    pub(super) fn add(&self, text: &str, entry: &ServerEntry) -> Result<(String, usize)> {
        self.set(text, &[&entry.name], &Value::Object(entry.value.clone()))
    }

    /// Gives an entry of ours the command and arguments of `entry`, and what else it lacks; what a person added to it or
    /// changed in it stays.
    pub(super) fn update(&self, text: &str, entry: &ServerEntry) -> Result<String> {
        let mut text = text.to_owned();
        let found = self.existing(&text, &entry.name)?.unwrap_or_default();
        for (key, value) in &entry.value {
            let is_start = matches!(key.as_str(), "command" | "args");
            if found.get(key).is_none_or(|old| is_start && old != value) {
                text = self.set(&text, &[&entry.name, key], value)?.0;
            }
        }
        Ok(text)
    }

    /// Takes the entries of ours of one name out, and up to `made` containers above that hold nothing else.
    pub(super) fn remove(&self, text: &str, name: &str, made: usize) -> Result<String> {
        let mut text = text.to_owned();
        // A JSON file may have one name several times.
        while self.existing(&text, name)?.is_some_and(|found| is_ours(&found)) {
            text = if self.is_toml {
                remove_from_toml(&text, &self.path(&[name]))?
            } else {
                json_document::remove(&text, &self.path(&[name]), None, made)?
            };
        }
        Ok(text)
    }

    fn value_at(&self, text: &str, rest: &[&str]) -> Result<Option<Value>> {
        let path = self.path(rest);
        if self.is_toml { Ok(at(&toml_value(text)?, &path).cloned()) } else { json_document::value_at(text, &path) }
    }

    fn set(&self, text: &str, rest: &[&str], value: &Value) -> Result<(String, usize)> {
        let path = self.path(rest);
        if self.is_toml { set_in_toml(text, &path, value) } else { json_document::set(text, &path, value) }
    }

    fn path<'p>(&'p self, rest: &[&'p str]) -> Vec<&'p str> {
        self.path.iter().map(String::as_str).chain(rest.iter().copied()).collect()
    }
}

fn toml_value(text: &str) -> Result<Value> {
    toml::from_str(text).map_err(|error| failed(text, &error))
}

fn at<'v>(value: &'v Value, path: &[&str]) -> Option<&'v Value> {
    path.iter().try_fold(value, |value, key| value.get(key))
}

/// Gives the value at the end of a path this value: replaces it, adds it below the heading of its table, or adds a table
/// at the end. No container has to be made for that.
fn set_in_toml(text: &str, path: &[&str], new: &Value) -> Result<(String, usize)> {
    let document = parse(text)?;
    let end = if text.find('\n').is_some_and(|at| text[..at].ends_with('\r')) { "\r\n" } else { "\n" };
    let written =
        |value: &Value| toml::Value::try_from(value).map(|value| value.to_string()).map_err(|error| error.to_string());
    let mut edited = text.to_owned();
    let (key, table) = path.split_last().ok_or("no path")?;
    if let Some(old) = find(&document, path) {
        edited.replace_range(old.span(), &written(new)?);
    } else if let Value::Object(members) = new {
        let gap = if text.is_empty() { 0 } else { 2 - usize::from(text.ends_with('\n')) };
        let _ = write!(edited, "{}[{}]{end}", end.repeat(gap), path.join("."));
        for (key, value) in members {
            let _ = write!(edited, "{key} = {}{end}", written(value)?);
        }
    } else if let Some(heading) = find(&document, table) {
        edited.insert_str(lines_of(text, heading.span()).end, &format!("{key} = {}{end}", written(new)?));
    }
    // Read back: of tables that are written in another way (inline, with dots) this text would make something else.
    let is_done = toml_value(&edited).is_ok_and(|edited| at(&edited, path) == Some(new));
    if is_done { Ok((edited, 0)) } else { Err(no_heading(text, path)) }
}

/// Takes a table out, with the empty line before it.
fn remove_from_toml(text: &str, path: &[&str]) -> Result<String> {
    let document = parse(text)?;
    let Some(table) = find(&document, path) else { return Ok(text.to_owned()) };
    let mut places = Vec::new();
    collect(table, &mut places);
    places.sort_by_key(|place| place.start);
    let mut own: Vec<Range<usize>> = Vec::new();
    for place in places {
        if own.last().is_some_and(|last| place.end <= last.end) {
            continue;
        }
        let lines = lines_of(text, place);
        let is_nothing = |line: &str| line.trim().is_empty() || line.trim_start().starts_with('#');
        match own.last_mut() {
            // Comments between its values are part of it.
            Some(last) if text[last.end.min(lines.start)..lines.start].lines().all(is_nothing) => {
                last.end = last.end.max(lines.end);
            }
            _ => own.push(lines),
        }
    }
    let Some(first) = own.first_mut().filter(|first| text[first.start..].trim_start().starts_with('[')) else {
        return Err(no_heading(text, path));
    };
    let before = &text[..first.start];
    let shorter = before.strip_suffix("\r\n").or(before.strip_suffix('\n'));
    first.start = shorter.filter(|text| text.is_empty() || text.ends_with('\n')).unwrap_or(before).len();
    let (mut edited, mut end) = (String::new(), 0);
    for lines in own {
        edited += &text[end..lines.start];
        end = lines.end;
    }
    Ok(edited + &text[end..])
}

fn collect(value: &Spanned<DeValue<'_>>, places: &mut Vec<Range<usize>>) {
    places.push(value.span());
    match value.get_ref() {
        DeValue::Table(table) => table.values().for_each(|value| collect(value, places)),
        DeValue::Array(list) => list.iter().for_each(|value| collect(value, places)),
        _ => {}
    }
}

fn find<'d, 't>(document: &'d DeTable<'t>, path: &[&str]) -> Option<&'d Spanned<DeValue<'t>>> {
    let (last, above) = path.split_last()?;
    above.iter().try_fold(document, |table, key| table.get(*key)?.get_ref().as_table())?.get(*last)
}

fn lines_of(text: &str, place: Range<usize>) -> Range<usize> {
    let start = text[..place.start].rfind('\n').map_or(0, |at| at + 1);
    start..text[place.end..].find('\n').map_or(text.len(), |at| place.end + at + 1)
}

fn no_heading(text: &str, path: &[&str]) -> SetupError {
    let line = text.lines().position(|line| line.trim_start().starts_with(path[0])).map_or(1, |index| index + 1);
    format!("line {line}: {} is not written as tables with headings such as [{}.{}]", path[0], path[0], path[1]).into()
}

fn parse(text: &str) -> Result<DeTable<'_>> {
    DeTable::parse(text).map(Spanned::into_inner).map_err(|error| failed(text, &error))
}

fn failed(text: &str, error: &Error) -> SetupError {
    let line = error.span().map_or(1, |span| text[..span.start.min(text.len())].matches('\n').count() + 1);
    format!("line {line}: {}", error.message().trim()).into()
}
