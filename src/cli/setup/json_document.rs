//! Edits of a JSON document with comments: the comments, the order and all other members stay; white space is as
//! jsonc-parser writes it.

use jsonc_parser::{
    CollectOptions, ParseOptions,
    cst::{CstInputValue, CstNode, CstObjectProp, CstRootNode},
    errors::ParseError,
    parse_to_ast,
};
use serde_json::Value;

/// The value of the document; null if it holds none.
pub(super) fn value(text: &str) -> Result<Value, String> {
    // A tree that can be edited takes ten times as long, and some clients' files have megabytes.
    let parsed = parse_to_ast(text, &CollectOptions::default(), &OPTIONS).map_err(|error| failed(&error))?;
    Ok(parsed.value.map(Value::from).unwrap_or_default())
}

/// The value at the end of a path.
pub(super) fn at<'v>(value: &'v Value, path: &[&str]) -> Option<&'v Value> {
    path.iter().try_fold(value, |value, key| value.get(key))
}

/// Gives the member at the end of a path this value, or adds it as the last one. Returns how many objects had to be made
/// for it, the document's own among them.
pub(super) fn set(text: &str, path: &[&str], value: &Value) -> Result<(String, usize), String> {
    let root = parse(text)?;
    let found = members(&root, path);
    let Some((key, below)) = path[found.len()..].split_first() else {
        if let Some(member) = found.last() {
            member.set_value(input(value));
        }
        return Ok((root.to_string(), 0));
    };
    let made = below.len() + usize::from(root.value().is_none());
    let object = match found.last() {
        Some(member) => member.object_value(),
        None => root.object_value_or_create(),
    };
    let object = object.ok_or_else(|| wrong_kind(&root, &found, path, "an object"))?;
    let wrapped = |inner, key: &&str| CstInputValue::Object(vec![((*key).to_owned(), inner)]);
    object.append(key, below.iter().rev().fold(input(value), wrapped));
    Ok((root.to_string(), made))
}

/// Adds an element to the array at the end of a path. Returns how many containers had to be made for it.
pub(super) fn add(text: &str, path: &[&str], element: &Value) -> Result<(String, usize), String> {
    let root = parse(text)?;
    let found = members(&root, path);
    if found.len() < path.len() {
        return set(text, path, &Value::from(vec![element.clone()])).map(|(text, made)| (text, made + 1));
    }
    let array = found.last().and_then(CstObjectProp::array_value);
    array.ok_or_else(|| wrong_kind(&root, &found, path, "an array"))?.append(input(element));
    Ok((root.to_string(), 0))
}

/// Takes the member at the end of a path out, or only `element` of the array there; and up to `made` containers
/// above it that hold nothing else.
pub(super) fn remove(text: &str, path: &[&str], element: Option<&Value>, mut made: usize) -> Result<String, String> {
    let root = parse(text)?;
    let found = members(&root, path);
    if found.len() < path.len() {
        return Ok(text.to_owned());
    }
    let mut nodes: Vec<CstNode> = root.value().into_iter().chain(found.into_iter().map(CstNode::from)).collect();
    if let Some(element) = element {
        let array = nodes.last().and_then(container).map(|array| array.children()).unwrap_or_default();
        let is_it = |node: &CstNode| node.to_serde_value().is_some_and(|value| value == *element);
        // Of two that are equal, the last is the one that was added: `add` puts it at the end.
        let Some(found) = array.into_iter().rfind(is_it) else { return Ok(text.to_owned()) };
        nodes.push(found);
    }
    while let Some(member) = nodes.pop() {
        erase(&member);
        let Some(above) = nodes.last().and_then(container) else { break };
        if !above.to_string()[1..].trim_end_matches(['}', ']']).trim().is_empty() {
            break;
        }
        if made == 0 {
            above.children().into_iter().filter(is_blank).for_each(CstNode::remove);
            break;
        }
        made -= 1;
    }
    Ok(root.to_string())
}

/// Takes a member, an element or the whole document out, with its comma and the white space before it. The library's own
/// removal would take the comments of the line with it.
fn erase(node: &CstNode) {
    let before: Vec<CstNode> = node.previous_siblings().collect();
    let comma = node.trailing_comma().map(CstNode::from).or_else(|| before.iter().find(|one| one.is_comma()).cloned());
    comma.into_iter().for_each(CstNode::remove);
    let blanks = before.iter().take_while(|one| is_blank(one)).count();
    let ends_comment = before.get(blanks).and_then(CstNode::as_comment).is_some_and(|one| one.is_line_comment());
    let ends_line = node.next_siblings().find(|one| !one.is_whitespace()).is_some_and(|next| next.is_newline());
    // What follows must not become part of the comment.
    if !ends_comment || ends_line {
        before[..blanks].iter().cloned().for_each(CstNode::remove);
    }
    match node.as_string_lit() {
        Some(text) => text.set_raw_value(String::new()),
        // A member cannot be removed from its object like this: it stays as a node without text.
        None => node.children().into_iter().for_each(|one| match one.as_object_prop() {
            Some(member) => member.children().into_iter().for_each(CstNode::remove),
            None => one.remove(),
        }),
    }
}

fn is_blank(node: &CstNode) -> bool {
    node.is_whitespace() || node.is_newline()
}

/// The object or array that a node is, or is a member with.
fn container(node: &CstNode) -> Option<CstNode> {
    node.as_object_prop().map_or(Some(node.clone()), |member| member.value())
}

/// The members along a path, as far as there are any. Of several members of one name the last, as clients read them.
fn members(root: &CstRootNode, path: &[&str]) -> Vec<CstObjectProp> {
    let mut object = root.object_value();
    let mut next = |key: &&str| {
        let is_it = |member: &CstObjectProp| member.decoded_name().is_some_and(|name| name == *key);
        let member = object.as_ref()?.properties().into_iter().rfind(is_it)?;
        object = member.object_value();
        Some(member)
    };
    path.iter().map_while(&mut next).collect()
}

fn wrong_kind(root: &CstRootNode, found: &[CstObjectProp], path: &[&str], wanted: &str) -> String {
    let name = found.len().checked_sub(1).map_or("the document".to_owned(), |last| format!("\"{}\"", path[last]));
    let value = found.last().map_or_else(|| root.value(), CstObjectProp::value);
    let above = value.iter().flat_map(|value| value.ancestors().map(CstNode::from)).chain(value.clone());
    let before = above.flat_map(|node| node.previous_siblings().collect::<Vec<_>>());
    let line = 1 + before.map(|node| node.to_string().matches('\n').count()).sum::<usize>();
    format!("line {line}: {name} is not {wanted}")
}

fn input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(value) => (*value).into(),
        Value::Number(number) => CstInputValue::Number(number.to_string()),
        Value::String(text) => text.as_str().into(),
        Value::Array(list) => CstInputValue::Array(list.iter().map(input).collect()),
        Value::Object(members) => {
            CstInputValue::Object(members.iter().map(|(key, value)| (key.clone(), input(value))).collect())
        }
    }
}

const OPTIONS: ParseOptions = ParseOptions {
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

fn parse(text: &str) -> Result<CstRootNode, String> {
    CstRootNode::parse(text, &OPTIONS).map_err(|error| failed(&error))
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
        assert_eq!(why(&["b", "c"]), "line 4: \"b\" is not an object");
        assert_eq!(add("{\n\"b\": {}}", &["b"], &"c".into()).expect_err("refused"), "line 2: \"b\" is not an array");
        assert_eq!(
            set("// a\n[]", &["b"], &Value::Null).expect_err("refused"),
            "line 2: the document is not an object"
        );
    }
}
