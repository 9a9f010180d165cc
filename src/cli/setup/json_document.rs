//! Edits of a JSON document by its text: comments, order, indentation, line endings and everything else stay as they are.
//!
//! Each edit inserts or takes out one member. What an insertion had to add around the member is returned as [`Added`],
//! with which the removal restores the document byte for byte.

use std::{borrow::Cow, ops::Range};

use jsonc_parser::{
    CollectOptions, ParseOptions,
    ast::{Array, Object, Value},
    common::Ranged as _,
    parse_to_ast,
};

use super::{
    json_comments::{comma_after, end_of_line_comments, ends_in_line_comment},
    json_text::{Style, indentation_at, print},
};

/// What an insertion added around a member.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Added {
    /// How many objects and arrays above it.
    pub(super) containers: usize,
    /// Bytes of white space behind it, before the closing bracket.
    pub(super) padding: usize,
    /// The whole document, behind so many bytes of white space.
    pub(super) document: Option<usize>,
}

/// A step to a member: a key of an object, or a text of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum JsonStep<'k> {
    Key(&'k str),
    /// The element of an array that is this text.
    Text(&'k str),
}

/// The value at the end of a path, and its text in the document.
pub(super) fn find<'t>(text: &'t str, path: &[JsonStep<'_>]) -> Result<Option<(serde_json::Value, &'t str)>, String> {
    let root = parse(text)?;
    let found = root.as_ref().and_then(|root| locate(root, path));
    Ok(found.map(|value| (serde_json::Value::from(value.clone()), &text[span(value)])))
}

/// The keys of the object at the end of a path.
pub(super) fn keys(text: &str, path: &[JsonStep<'_>]) -> Result<Vec<String>, String> {
    let root = parse(text)?;
    let found = root.as_ref().and_then(|root| locate(root, path)).and_then(Value::as_object);
    Ok(found.into_iter().flat_map(|object| &object.properties).map(|one| one.name.as_str().to_owned()).collect())
}

/// Gives the member at the end of a path this value: replaces its value, or adds it as the last one.
pub(super) fn set(text: &str, path: &[JsonStep<'_>], value: &serde_json::Value) -> Result<(String, Added), String> {
    let style = Style::of(text);
    let Some(root) = parse(text)? else {
        let mut nested = value.clone();
        for step in path.iter().rev() {
            nested = wrapped(*step, nested);
        }
        let line_start = if text.is_empty() || text.ends_with('\n') { "" } else { style.line_end };
        let whole = format!("{text}{line_start}{}{}", print(&nested, &style, ""), style.line_end);
        return Ok((whole, Added { document: Some(line_start.len()), ..Added::default() }));
    };
    if let Some(old) = locate(&root, path) {
        let inner = indentation_at(text, old.range().start).to_owned();
        return Ok((spliced(text, &[(span(old), &print(value, &style, &inner))]), Added::default()));
    }
    // The deepest container that is there, and what is missing below it.
    let depth = (0..path.len()).rev().find(|depth| locate(&root, &path[..*depth]).is_some()).unwrap_or(0);
    let container = locate(&root, &path[..depth]).unwrap_or(&root);
    let mut nested = value.clone();
    for step in path[depth + 1..].iter().rev() {
        nested = wrapped(*step, nested);
    }
    let kind = match (path[depth], container) {
        (JsonStep::Key(_), Value::Object(_)) | (JsonStep::Text(_), Value::Array(_)) => Container::of(container),
        (JsonStep::Key(_), _) => return Err(wrong_kind(text, container, path, depth, "an object")),
        (JsonStep::Text(_), _) => return Err(wrong_kind(text, container, path, depth, "an array")),
    };
    let key = match path[depth] {
        JsonStep::Key(key) => Some(key),
        JsonStep::Text(_) => None,
    };
    let (edited, padding) = insert(text, &kind, key, &nested, &style);
    Ok((edited, Added { containers: path.len() - 1 - depth, padding, document: None }))
}

/// Takes a member out, and what `added` says was added for it as far as nothing else is in it now. `None` if it is not
/// there.
pub(super) fn remove(text: &str, path: &[JsonStep<'_>], added: Added) -> Result<Option<String>, String> {
    let Some(root) = parse(text)? else { return Ok(None) };
    let mut path = path;
    if locate(&root, path).is_none() {
        return Ok(None);
    }
    let mut left = added.containers;
    // A container that was added for it and holds nothing else goes as a whole.
    while path.len() > 1 && (left > 0 || added.document.is_some()) {
        let Some(above) = locate(&root, &path[..path.len() - 1]) else { break };
        if !holds_one_alone(text, &Container::of(above)) {
            break;
        }
        path = &path[..path.len() - 1];
        left = left.saturating_sub(1);
    }
    let (Some(container), Some(step)) = (locate(&root, &path[..path.len() - 1]), path.last()) else { return Ok(None) };
    let container = Container::of(container);
    if let (Some(before), 1) = (added.document, path.len())
        && holds_one_alone(text, &container)
    {
        return Ok(Some(without_document(text, root.range().start, root.range().end, before)));
    }
    let Some(index) = container.index_of(*step) else { return Ok(None) };
    let padding = if left == 0 { added.padding } else { 0 };
    Ok(Some(take_out(text, &container, index, padding)))
}

/// The text around a document that holds nothing, which had `before` bytes added before it.
pub(super) fn without_empty_document(text: String, before: usize) -> Result<String, String> {
    let Some(root) = parse(&text)? else { return Ok(text) };
    let range = root.range();
    if !text[range.start + 1..range.end.saturating_sub(1)].trim().is_empty() {
        return Ok(text);
    }
    Ok(without_document(&text, range.start, range.end, before))
}

/// Takes the document out, the bytes before it that were added, and the end of its line.
fn without_document(text: &str, start: usize, end: usize, before: usize) -> String {
    let behind = text[end..].trim_start_matches(['\r', '\n']);
    // What a person changed to another number cuts no more than that line end.
    let kept = match (before, text[..start].strip_suffix('\n')) {
        (0, _) | (_, None) => &text[..start],
        (1, Some(kept)) => kept,
        (_, Some(kept)) => kept.strip_suffix('\r').unwrap_or(kept),
    };
    format!("{kept}{behind}")
}

fn wrapped(step: JsonStep<'_>, value: serde_json::Value) -> serde_json::Value {
    match step {
        JsonStep::Key(key) => serde_json::Value::Object([(key.to_owned(), value)].into_iter().collect()),
        JsonStep::Text(_) => serde_json::Value::Array(vec![value]),
    }
}

fn wrong_kind(text: &str, container: &Value<'_>, path: &[JsonStep<'_>], depth: usize, wanted: &str) -> String {
    let name = match depth.checked_sub(1).map(|above| path[above]) {
        Some(JsonStep::Key(key)) => format!("\"{key}\""),
        _ => "the document".to_owned(),
    };
    let line = text[..container.range().start].matches('\n').count() + 1;
    format!("line {line}: {name} is not {wanted}")
}

/// The document; `None` if it holds no value.
fn parse(text: &str) -> Result<Option<Value<'_>>, String> {
    let options = ParseOptions {
        allow_comments: true,
        allow_trailing_commas: true,
        allow_missing_commas: false,
        allow_loose_object_property_names: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    };
    parse_to_ast(text, &CollectOptions::default(), &options).map(|parsed| parsed.value).map_err(|error| {
        format!(
            "line {}, column {}: {}",
            error.line_display(),
            error.column_display(),
            lower(&error.kind().to_string())
        )
    })
}

fn lower(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_lowercase().chain(letters).collect())
}

fn span(value: &Value<'_>) -> Range<usize> {
    value.range().start..value.range().end
}

/// Of several members of one name the last, as clients read them.
fn locate<'v, 't>(root: &'v Value<'t>, path: &[JsonStep<'_>]) -> Option<&'v Value<'t>> {
    path.iter().try_fold(root, |value, step| match (step, value) {
        (JsonStep::Key(key), Value::Object(object)) => {
            property(object, key).map(|index| &object.properties[index].value)
        }
        (JsonStep::Text(text), Value::Array(array)) => element(array, text).map(|index| &array.elements[index]),
        _ => None,
    })
}

fn property(object: &Object<'_>, key: &str) -> Option<usize> {
    object.properties.iter().rposition(|one| one.name.as_str() == key)
}

fn element(array: &Array<'_>, text: &str) -> Option<usize> {
    array.elements.iter().rposition(|one| one.as_string_lit().is_some_and(|one| one.value == Cow::Borrowed(text)))
}

/// An object or an array by the places of its brackets and members.
struct Container<'v, 't> {
    value: &'v Value<'t>,
    /// Where the opening bracket is.
    open: usize,
    /// Where the closing bracket is.
    close: usize,
    members: Vec<Range<usize>>,
}

impl<'v, 't> Container<'v, 't> {
    fn of(value: &'v Value<'t>) -> Self {
        let members = match value {
            Value::Object(object) => object.properties.iter().map(|one| one.range.start..one.range.end).collect(),
            Value::Array(array) => array.elements.iter().map(span).collect(),
            _ => Vec::new(),
        };
        Self { value, open: value.range().start, close: value.range().end.saturating_sub(1), members }
    }

    fn index_of(&self, step: JsonStep<'_>) -> Option<usize> {
        match (step, self.value) {
            (JsonStep::Key(key), Value::Object(object)) => property(object, key),
            (JsonStep::Text(text), Value::Array(array)) => element(array, text),
            _ => None,
        }
    }
}

/// Whether there is one member, and no comment.
fn holds_one_alone(text: &str, container: &Container<'_, '_>) -> bool {
    let [member] = container.members.as_slice() else { return false };
    let blank = |part: &str| part.chars().all(|character| character.is_whitespace() || character == ',');
    blank(&text[container.open + 1..member.start]) && blank(&text[member.end..container.close])
}

/// Adds a member at the end of a container. Also returns the bytes of white space that were added behind it.
fn insert(
    text: &str,
    container: &Container<'_, '_>,
    key: Option<&str>,
    value: &serde_json::Value,
    style: &Style,
) -> (String, usize) {
    let inner = &text[container.open + 1..container.close];
    let member = |style: &Style, indentation: &str| match key {
        Some(key) => {
            let colon = if style.dense { ":" } else { ": " };
            format!("{}{colon}{}", serde_json::Value::from(key), print(value, style, indentation))
        }
        None => print(value, style, indentation),
    };
    let base = indentation_at(text, container.open);
    let Some(last) = container.members.last() else {
        if style.one_line {
            let at = container.open + 1;
            return (spliced(text, &[(at..at, &member(style, ""))]), 0);
        }
        // After the comments, if there are any.
        let at = container.open + 1 + inner.trim_end().len();
        let deeper = format!("{base}{}", style.unit);
        let line = format!("{}{deeper}{}", style.line_end, member(style, &deeper));
        if text[at..container.close].contains('\n') {
            return (spliced(text, &[(at..at, &line)]), 0);
        }
        let padding = format!("{}{base}", style.line_end);
        return (spliced(text, &[(at..at, &format!("{line}{padding}"))]), padding.len());
    };
    let comma = comma_after(text, last.end, container.close);
    let first = container.members[0].start;
    if !text[container.open..first].contains('\n') {
        let flat = Style { one_line: true, ..style.clone() };
        let gap = if style.dense { "" } else { " " };
        let edited = match comma {
            Some(at) => spliced(text, &[(at + 1..at + 1, &format!("{gap}{},", member(&flat, "")))]),
            None => spliced(text, &[(last.end..last.end, &format!(",{gap}{}", member(&flat, "")))]),
        };
        return (edited, 0);
    }
    let indentation = indentation_at(text, last.start);
    let line = format!("{}{indentation}{}", style.line_end, member(style, indentation));
    let edited = if let Some(comma) = comma {
        let at = end_of_line_comments(text, comma + 1, container.close);
        spliced(text, &[(at..at, &format!("{line},"))])
    } else {
        let at = end_of_line_comments(text, last.end, container.close);
        spliced(text, &[(last.end..last.end, ","), (at..at, &line)])
    };
    (edited, 0)
}

/// Takes one member out with its comma and the white space before it.
fn take_out(text: &str, container: &Container<'_, '_>, index: usize, padding: usize) -> String {
    let member = &container.members[index];
    let from = index.checked_sub(1).map_or(container.open + 1, |before| container.members[before].end);
    let mut start = from + text[from..member.start].trim_end().len();
    if ends_in_line_comment(text, from, start)
        && !text[member.end..].trim_start_matches([' ', '\t', ',']).starts_with(['\r', '\n'])
    {
        // What follows would become part of the comment.
        start = member.start;
    }
    let next = container.members.get(index + 1).map_or(container.close, |next| next.start);
    let own_comma = comma_after(text, member.end, next);
    if let Some(comma) = own_comma {
        // A comment between them stays.
        return spliced(text, &[(start..member.end, ""), (comma..comma + 1, "")]);
    }
    if index > 0 {
        let before = comma_after(text, container.members[index - 1].end, member.start);
        let mut edits = vec![(start..member.end, "")];
        if let Some(comma) = before {
            // The comma may be the last character before the white space.
            if comma + 1 == start {
                edits[0].0.start = comma;
            } else {
                edits.insert(0, (comma..comma + 1, ""));
            }
        }
        return spliced(text, &edits);
    }
    let behind = &text[member.end..container.close];
    let blank = behind.len() - behind.trim_start().len();
    let end = member.end + if text.is_char_boundary(member.end + padding.min(blank)) { padding.min(blank) } else { 0 };
    spliced(text, &[(start..end, "")])
}

/// The text with parts replaced; they are in order and do not overlap.
fn spliced(text: &str, edits: &[(Range<usize>, &str)]) -> String {
    let mut out = String::with_capacity(text.len() + edits.iter().map(|(_, new)| new.len()).sum::<usize>());
    let mut at = 0;
    for (range, new) in edits {
        out.push_str(&text[at..range.start]);
        out.push_str(new);
        at = range.end;
    }
    out.push_str(&text[at..]);
    out
}
