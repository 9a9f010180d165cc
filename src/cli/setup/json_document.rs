//! Edits of a JSON document with comments, at the places that the parser gives: all that is not edited keeps its bytes.
//! One pass over the text for each edit, whatever the document holds: some clients' files have megabytes.

use std::ops::Range;

use jsonc_parser::{
    CollectOptions, ParseOptions,
    ast::{ObjectProp, Value as Node},
    common::Ranged as _,
    errors::ParseError,
    parse_to_ast,
};
use serde_json::{Value, json};

use super::error::{Result, SetupError};

pub(super) fn value_at(text: &str, path: &[&str]) -> Result<Option<Value>> {
    let root = parse(text)?;
    let found = members(root.as_ref(), path);
    let node = found.last().map_or(root.as_ref(), |member| Some(&member.value));
    Ok(node.filter(|_| found.len() == path.len()).cloned().map(Value::from))
}

/// Gives the member at the end of a path this value, or adds it as the last one. Returns how many objects had to be made
/// for it, the document's own among them.
pub(super) fn set(text: &str, path: &[&str], value: &Value) -> Result<(String, usize)> {
    let root = parse(text)?;
    let found = members(root.as_ref(), path);
    let Some((key, below)) = path[found.len()..].split_first() else {
        let Some(member) = found.last() else { return Ok((text.to_owned(), 0)) };
        let style = Style::of(text, root.as_ref());
        let place = places(member.value.range());
        // What is on one line stays there.
        let indent = style.indent_at(member.range.start);
        let indent = Some(indent).filter(|indent| text[..member.range.start].ends_with(&format!("\n{indent}")));
        let mut edited = text.to_owned();
        edited.replace_range(place, &style.written(value, indent));
        return Ok((edited, 0));
    };
    let Some(root) = &root else {
        let head = text.trim_end();
        let (object, made) = set("{}", path, value)?;
        return Ok((format!("{head}{}{object}\n", if head.is_empty() { "" } else { "\n" }), made + 1));
    };
    let container = found.last().map_or(root, |member| &member.value);
    if container.as_object().is_none() {
        return Err(wrong_kind(text, root, &found, path, "an object"));
    }
    let value = below.iter().rev().fold(value.clone(), |inner, key| json!({ *key: inner }));
    let style = Style::of(text, Some(root));
    Ok((append(&style, text, container, Some(key), &[value]), below.len()))
}

/// Adds elements to the array at the end of a path. Returns how many containers had to be made for them.
pub(super) fn add(text: &str, path: &[&str], elements: &[Value]) -> Result<(String, usize)> {
    let root = parse(text)?;
    let found = members(root.as_ref(), path);
    let (Some(root), Some(member), true) = (&root, found.last(), found.len() == path.len()) else {
        return set(text, path, &Value::from(elements)).map(|(text, made)| (text, made + 1));
    };
    if member.value.as_array().is_none() {
        return Err(wrong_kind(text, root, &found, path, "an array"));
    }
    Ok((append(&Style::of(text, Some(root)), text, &member.value, None, elements), 0))
}

/// Takes the member at the end of a path out, or only `element` of the array there; and up to `made` containers
/// above it that hold nothing else.
pub(super) fn remove(text: &str, path: &[&str], element: Option<&Value>, mut made: usize) -> Result<String> {
    let root = parse(text)?;
    let found = members(root.as_ref(), path);
    let (Some(root), true) = (&root, found.len() == path.len()) else { return Ok(text.to_owned()) };
    let containers: Vec<&Node<'_>> = std::iter::once(root).chain(found.iter().map(|member| &member.value)).collect();
    let mut nodes = vec![places(root.range())];
    nodes.extend(found.iter().map(|member| places(member.range)));
    if let Some(element) = element {
        // Of two that are equal, the last is the one that was added: `add` puts it at the end.
        let is_it = |node: &&Node<'_>| Value::from((*node).clone()) == *element;
        let array = containers.last().and_then(|node| node.as_array());
        let Some(found) = array.and_then(|array| array.elements.iter().rfind(is_it)) else {
            return Ok(text.to_owned());
        };
        nodes.push(places(found.range()));
    }
    while let Some(node) = nodes.pop() {
        let Some(above) = nodes.len().checked_sub(1).map(|above| containers[above]) else {
            return Ok(erased(text, 0, node, text.len()));
        };
        let (siblings, inner) = (children(above), inner(above));
        let is_nothing = |gap: &str| gap.chars().all(|one| one == ',' || one.is_whitespace());
        let gaps = (&text[inner.start..node.start], &text[node.end..inner.end]);
        if siblings.len() > 1 || !is_nothing(gaps.0) || !is_nothing(gaps.1) {
            let index = siblings.partition_point(|one| one.start < node.start);
            let before = index.checked_sub(1).map_or(inner.start, |index| siblings[index].end);
            let after = siblings.get(index + 1).map_or(inner.end, |next| next.start);
            return Ok(erased(text, before, node, after));
        }
        if made == 0 {
            return Ok([&text[..inner.start], &text[inner.end..]].concat());
        }
        made -= 1;
    }
    Ok(text.to_owned())
}

fn children(container: &Node<'_>) -> Vec<Range<usize>> {
    match container {
        Node::Array(array) => array.elements.iter().map(|element| places(element.range())).collect(),
        Node::Object(object) => object.properties.iter().map(|member| places(member.range)).collect(),
        _ => Vec::new(),
    }
}

fn inner(container: &Node<'_>) -> Range<usize> {
    container.start() + 1..container.end() - 1
}

/// The text without a member, an element or the whole document, with its comma and the white space before it. Comments in
/// the gaps to what is at `before` and `after` stay.
fn erased(text: &str, before: usize, node: Range<usize>, after: usize) -> String {
    let (mut head, mut tail) = (text[before..node.start].to_owned(), text[node.end..after].to_owned());
    if let Some(comma) = Gap::of(&tail).comma {
        tail.remove(comma);
    } else if let Some(comma) = Gap::of(&head).comma {
        head.remove(comma);
    }
    let ends_line = tail.trim_start_matches([' ', '\t']).starts_with(['\r', '\n']);
    // What follows must not become part of the comment.
    if !Gap::of(&head).ends_with_line_comment || ends_line {
        head.truncate(head.trim_end().len());
    }
    [&text[..before], &head, &tail, &text[after..]].concat()
}

/// What is between two parts of a document: white space, comments and perhaps a comma.
#[derive(Default)]
struct Gap {
    comma: Option<usize>,
    ends_with_line_comment: bool,
    /// Where the line of the beginning, or of the comma, ends: after its comments, before the white space that follows.
    line: usize,
}

impl Gap {
    fn of(text: &str) -> Self {
        let (mut gap, mut at, mut is_same_line) = (Self::default(), 0, true);
        while let Some(next) = text[at..].chars().next() {
            let rest = &text[at..];
            let length = if rest.starts_with("//") {
                rest.find(['\r', '\n']).unwrap_or(rest.len())
            } else {
                let block = rest.strip_prefix("/*");
                block.map_or(next.len_utf8(), |inner| inner.find("*/").map_or(rest.len(), |end| end + 4))
            };
            if next == '/' {
                gap.ends_with_line_comment = rest.starts_with("//");
            } else if next == ',' {
                (gap.comma, is_same_line) = (Some(at), true);
            } else if matches!(next, '\r' | '\n') {
                is_same_line = false;
            }
            at += length;
            if is_same_line && !next.is_whitespace() {
                gap.line = at;
            }
        }
        gap
    }
}

/// Adds a member with a `key`, or elements, at the end of a container.
fn append(style: &Style<'_>, text: &str, container: &Node<'_>, key: Option<&&str>, values: &[Value]) -> String {
    let (children, inner) = (children(container), inner(container));
    let own = style.indent_at(container.start());
    let has_lines = text[inner.clone()].contains(['\n', '\r']);
    // A container on one line stays there; one that holds nothing gets lines for what needs them.
    let is_line = !has_lines && (!children.is_empty() || key.is_none() && !values.iter().any(is_long));
    let indent = match children.last().filter(|_| has_lines) {
        Some(last) => style.indent_at(last.start).to_owned(),
        None => format!("{own}{}", style.unit),
    };
    let name = key.map_or_else(String::new, |key| format!("{}: ", json!(key)));
    let item = |value| format!("{name}{}", style.written(value, Some(&*indent).filter(|_| !is_line)));
    let items: Vec<String> = values.iter().map(item).collect();
    let start = if is_line { " ".to_owned() } else { format!("{}{indent}", style.line_end) };
    let added = format!("{start}{}", items.join(&format!(",{start}")));
    if let Some(last) = children.last() {
        let gap = Gap::of(&text[last.end..inner.end]);
        let at = last.end + gap.line;
        let (comma, end) = if gap.comma.is_some() { ("", ",") } else { (",", "") };
        return [&text[..last.end], comma, &text[last.end..at], &added, end, &text[at..]].concat();
    }
    let head = text[inner.clone()].trim_end();
    let rest = &text[inner.start + head.len()..inner.end];
    let end = if is_line { String::new() } else { format!("{}{own}", style.line_end) };
    let added = if is_line && head.is_empty() { added.trim_start() } else { &added };
    let rest = if rest.contains('\n') { rest } else { &end };
    [&text[..inner.start], head, added, rest, &text[inner.end..]].concat()
}

struct Style<'t> {
    text: &'t str,
    line_end: &'static str,
    unit: &'t str,
}

impl<'t> Style<'t> {
    fn of(text: &'t str, root: Option<&Node<'_>>) -> Self {
        let line_end = if text.find('\n').is_some_and(|at| text[..at].ends_with('\r')) { "\r\n" } else { "\n" };
        let mut style = Self { text, line_end, unit: "  " };
        let first = match root {
            Some(Node::Object(object)) => object.properties.first().map(|member| member.range.start),
            Some(Node::Array(array)) => array.elements.first().map(|element| element.range().start),
            _ => None,
        };
        style.unit = first.map(|first| style.indent_at(first)).filter(|unit| !unit.is_empty()).unwrap_or(style.unit);
        style
    }

    fn indent_at(&self, place: usize) -> &'t str {
        let line = &self.text[self.text[..place].rfind('\n').map_or(0, |at| at + 1)..];
        &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
    }

    /// A value whose line has this indentation, an object and a list of lists or objects in several lines; without one, on one
    /// line.
    fn written(&self, value: &Value, indent: Option<&str>) -> String {
        let indent = indent.filter(|_| is_long(value));
        let inner = indent.map(|indent| format!("{}{indent}{}", self.line_end, self.unit));
        let below = inner.as_deref().map(|inner| &inner[self.line_end.len()..]);
        let member = |(key, value): (&String, &Value)| format!("{}: {}", json!(key), self.written(value, below));
        let (open, items, close): (_, Vec<String>, _) = match value {
            Value::Array(list) => ('[', list.iter().map(|one| self.written(one, below)).collect(), ']'),
            Value::Object(members) => ('{', members.iter().map(member).collect(), '}'),
            value => return value.to_string(),
        };
        match (indent, &inner) {
            (Some(indent), Some(inner)) => {
                let items = items.join(&format!(",{inner}"));
                format!("{open}{inner}{items}{}{indent}{close}", self.line_end)
            }
            _ => format!("{open}{}{close}", items.join(", ")),
        }
    }
}

fn is_long(value: &Value) -> bool {
    let is_filled = |value: &Value| match value {
        Value::Array(list) => !list.is_empty(),
        Value::Object(members) => !members.is_empty(),
        _ => false,
    };
    match value {
        Value::Array(list) => list.iter().any(is_filled),
        value => is_filled(value),
    }
}

/// The members along a path, as far as there are any. Of several members of one name the last, as clients read them.
fn members<'n, 't>(root: Option<&'n Node<'t>>, path: &[&str]) -> Vec<&'n ObjectProp<'t>> {
    let mut node = root;
    let mut next = |key: &&str| {
        let member = node?.as_object()?.properties.iter().rfind(|member| member.name.as_str() == *key)?;
        node = Some(&member.value);
        Some(member)
    };
    path.iter().map_while(&mut next).collect()
}

fn wrong_kind(text: &str, root: &Node<'_>, found: &[&ObjectProp<'_>], path: &[&str], wanted: &str) -> SetupError {
    let name = found.len().checked_sub(1).map_or("the document".to_owned(), |last| format!("\"{}\"", path[last]));
    let place = found.last().map_or(root, |member| &member.value).range().start;
    format!("line {}: {name} is not {wanted}", 1 + text[..place].matches('\n').count()).into()
}

fn places(range: jsonc_parser::common::Range) -> Range<usize> {
    range.start..range.end
}

const PARSE_OPTIONS: ParseOptions = ParseOptions {
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

fn parse(text: &str) -> Result<Option<Node<'_>>> {
    let parsed = parse_to_ast(text, &CollectOptions::default(), &PARSE_OPTIONS).map_err(|error| failed(&error))?;
    Ok(parsed.value)
}

fn failed(error: &ParseError) -> String {
    let kind = error.kind().to_string();
    let (first, rest) = kind.split_at(kind.chars().next().map_or(0, char::len_utf8));
    let (line, column) = (error.line_display(), error.column_display());
    format!("line {line}, column {column}: {}{rest}", first.to_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_around_a_member_stay_and_swallow_nothing() {
        for (text, left) in [
            ("{\"x\": {\"y\": 1 /* in it */}}", "{}"),
            ("{\n  // a\n  \"x\": 1, // b\n  \"z\": 2\n}", "{\n  // a\n   // b\n  \"z\": 2\n}"),
            ("{\"a\": 1, // b\n\"x\": 2}", "{\"a\": 1 // b\n}"),
            ("{\"a\": 1, /* b */ \"x\": 2 /* c */, \"z\": 3}", "{\"a\": 1, /* b */ /* c */ \"z\": 3}"),
            ("{\"a\": 1, // b\n  \"x\": 2 // c\n}", "{\"a\": 1 // b\n   // c\n}"),
            ("{\"a\": 1, \"x\": 2, /* b */}", "{\"a\": 1, /* b */}"),
            ("{\"x\": 1, \"x\": 2}", "{\"x\": 1}"),
        ] {
            assert_eq!(remove(text, &["x"], None, 0).as_deref(), Ok(left));
        }
    }

    #[test]
    fn containers_go_as_far_as_they_were_made_and_hold_nothing() {
        let text = "// a\n{\"x\": {\"y\": [\"z\"]}}\n";
        for (made, left) in [(0, "{\"x\": {\"y\": []}}"), (1, "{\"x\": {}}"), (2, "{}"), (3, ""), (64, "")] {
            let removed = remove(text, &["x", "y"], Some(&"z".into()), made).expect("removed");
            assert_eq!(removed.trim_end(), format!("// a\n{left}").trim_end());
        }
        let noted = "{\"x\": {\"y\": 1 /* b */, /* c */}}";
        assert_eq!(remove(noted, &["x", "y"], None, 64).as_deref(), Ok("{\"x\": { /* b */ /* c */}}"));
    }

    #[test]
    fn what_is_in_the_way_is_named_with_its_line() {
        let why = |path: &[&str]| set("\n{\"a\": [1,\n2], // c\n \"b\": 5}", path, &Value::Null).expect_err("refused");
        assert_eq!(why(&["b", "c"]), "line 4: \"b\" is not an object".into());
        assert_eq!(
            add("{\n\"b\": {}}", &["b"], &["c".into()]).expect_err("refused"),
            "line 2: \"b\" is not an array".into()
        );
        assert_eq!(
            set("// a\n[]", &["b"], &Value::Null).expect_err("refused"),
            "line 2: the document is not an object".into()
        );
    }
}
