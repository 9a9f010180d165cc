//! The client's own file tools, turned off and on.

use std::{ops::Range, path::PathBuf};

use serde_json::Value;

use super::{
    clients::{Client, EntryScope, Folders, OwnTools, ToolList, place_of},
    error::{Result, SetupError},
    json_document,
    records::{Created, ToolsOff},
};

/// The file that lists them.
///
/// # Errors
/// If no file does, what a person can do instead.
pub(super) fn file(client: &Client, scope: EntryScope, folders: &Folders<'_>) -> Result<PathBuf> {
    let refused =
        |why: &str| SetupError::from(format!("--replace cannot turn off the file tools of {}{why}", client.title));
    let own = client.own_tools.as_ref().map_err(|how| refused(&format!(": {how}")))?;
    match (place_of(own.files, scope), own.list) {
        (Some(place), _) => folders.path(place),
        (None, ToolList::Policy) => Err(refused(" in one project, whose policies it does not apply: use --scope user")),
        (None, _) => Err(refused(&format!(" for --scope {}", scope.name()))),
    }
}

/// Turns them off in `text`; what `earlier` says was turned off before counts, too.
pub(super) fn off(own: &OwnTools, text: &str, file: Created, earlier: &ToolsOff) -> Result<(String, ToolsOff)> {
    match own.list {
        ToolList::Json(path) => {
            let there = texts(text, path)?;
            let (found, missing): (Vec<&str>, Vec<&str>) =
                own.names.iter().copied().partition(|name| there.iter().any(|one| one == name));
            let is_earlier = |name: &str| earlier.names.iter().any(|earlier| earlier == name);
            let mut made = if found.iter().any(|name| is_earlier(name)) { earlier.made.clone() } else { file };
            let mut text = text.to_owned();
            if !missing.is_empty() {
                let elements: Vec<Value> = missing.iter().map(|name| Value::from(*name)).collect();
                let (edited, containers) = json_document::add(&text, path, &elements)?;
                made.containers += containers;
                text = edited;
            }
            let is_turned = |name: &&&str| missing.contains(name) || is_earlier(name);
            let names = own.names.iter().filter(is_turned).map(|name| (*name).to_owned()).collect();
            Ok((text, ToolsOff { names, made }))
        }
        ToolList::Policy => {
            let rule = rule(own.names);
            if text.contains(&rule) {
                return Ok((text.to_owned(), earlier.clone()));
            }
            let gap = if text.is_empty() { "" } else { "\n" };
            let names = own.names.iter().map(|name| (*name).to_owned()).collect();
            Ok((format!("{text}{gap}{rule}"), ToolsOff { names, made: file }))
        }
        ToolList::Yaml(key) => {
            let (text, mut names) = items_off(text, key, own.names)?;
            names.extend(earlier.names.iter().cloned());
            Ok((text, ToolsOff { names, made: Created::default() }))
        }
    }
}

pub(super) fn on(own: &OwnTools, text: &str, turned: &ToolsOff) -> Result<String> {
    match own.list {
        ToolList::Json(path) => {
            let names = turned.names.iter().filter(|name| own.names.contains(&name.as_str()));
            names.into_iter().try_fold(text.to_owned(), |text, name| {
                json_document::remove(&text, path, Some(&Value::from(name.as_str())), turned.made.containers)
            })
        }
        ToolList::Policy => {
            let rule = rule(own.names);
            let before = text.strip_prefix(&rule).map(str::to_owned);
            Ok(before.unwrap_or_else(|| text.replacen(&format!("\n{rule}"), "", 1)))
        }
        ToolList::Yaml(_) => Ok(items_on(text)),
    }
}

/// Those that are off in `text`, whoever turned them off. In a list of YAML they are marked, and turned on by their marks.
pub(super) fn still_off(own: &OwnTools, text: &str) -> Vec<&'static str> {
    let there = match own.list {
        ToolList::Json(path) => texts(text, path).unwrap_or_default(),
        ToolList::Policy | ToolList::Yaml(_) => Vec::new(),
    };
    let is_off = |name: &&&str| match own.list {
        ToolList::Json(_) => there.iter().any(|one| one == **name),
        ToolList::Policy => text.contains(&format!("\"{name}\"")),
        ToolList::Yaml(_) => false,
    };
    own.names.iter().filter(is_off).copied().collect()
}

/// A rule for the policy engine of Gemini CLI. The largest priority: a person's approval of a tool has a smaller one.
fn rule(names: &[&str]) -> String {
    let names: Vec<String> = names.iter().map(|name| format!("\"{name}\"")).collect();
    format!("[[rule]]\ntoolName = [{}]\ndecision = \"deny\"\npriority = 999\n", names.join(", "))
}

fn texts(text: &str, path: &[&str]) -> Result<Vec<String>> {
    let list = json_document::value_at(text, path)?;
    let list = list.iter().filter_map(Value::as_array).flatten();
    Ok(list.filter_map(|one| one.as_str().map(str::to_owned)).collect())
}

/// The beginning of each line of an item that is off.
const OFF_PREFIX: &str = "# rootbound off: ";

/// Replaces a list whose items are all turned off: YAML reads a key without items as null, not as a list.
const EMPTY_LIST: &str = "[]  # rootbound off";

/// Turns the items of these names, in a list at the top of a YAML file, into comments, line by line. Returns the names that
/// were on.
///
/// Knows only lists with one item below the other, as DeerFlow's `config.yaml` has them; it is no YAML parser.
///
/// # Errors
/// If the list is written in another way.
pub(super) fn items_off(text: &str, key: &str, names: &[&str]) -> Result<(String, Vec<String>)> {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let other_form =
        |line: usize| SetupError::from(format!("line {}: {key} is not a list with one item below the other", line + 1));
    // Of several lists of one name the last counts, as for DeerFlow.
    let Some(first) = lines.iter().rposition(|line| value_of(line, key).is_some()) else {
        // A mapping in braces has no line for the key.
        return if text.trim_start().starts_with('{') { Err(other_form(0)) } else { Ok((text.to_owned(), Vec::new())) };
    };
    let rest = value_of(lines[first], key).unwrap_or_default();
    match rest.split(" #").next().unwrap_or_default().trim() {
        "[]" | "null" | "~" => return Ok((text.to_owned(), Vec::new())),
        rest if rest.is_empty() || rest.starts_with('#') => {}
        _ => return Err(other_form(first)),
    }
    let items = items(&lines, first).map_err(other_form)?;
    let (mut is_off, mut found) = (vec![false; lines.len()], Vec::new());
    for (name, lines) in items.iter().filter(|(name, _)| names.contains(&name.as_str())) {
        is_off[lines.clone()].fill(true);
        found.push(name.clone());
    }
    let all = !found.is_empty() && found.len() == items.len();
    is_off[first] = all;
    let mut out = String::new();
    for (index, line) in lines.iter().enumerate() {
        if all && index == first {
            let end = if line.ends_with("\r\n") { "\r\n" } else { "\n" };
            out.extend([key, ": ", EMPTY_LIST, end]);
        }
        if is_off[index] {
            out.push_str(OFF_PREFIX);
        }
        out.push_str(line);
    }
    Ok((out, found))
}

pub(super) fn items_on(text: &str) -> String {
    let is_stand_in = |line: &&str| !line.starts_with('#') && line.trim_end().ends_with(EMPTY_LIST);
    let lines = text.split_inclusive('\n').filter(|line| !is_stand_in(line));
    lines.map(|line| line.strip_prefix(OFF_PREFIX).unwrap_or(line)).collect()
}

/// The items below the line `heading` with their names and lines; comments and empty lines after an item are not part of it.
///
/// # Errors
/// The number of the line of an item whose name is not known: written in another way, it may be one that is meant.
fn items(lines: &[&str], heading: usize) -> Result<Vec<(String, Range<usize>)>, usize> {
    let mut items: Vec<(Option<String>, Range<usize>)> = Vec::new();
    // Where the items begin, and the keys of the last one.
    let (mut indentation, mut keys) = (None, None);
    for (index, line) in lines.iter().enumerate().skip(heading + 1) {
        let plain = line.trim_start_matches(' ');
        let depth = line.len() - plain.len();
        let content = plain.trim_end();
        if content.is_empty() || content.starts_with('#') {
            continue;
        }
        let is_item = content == "-" || content.starts_with("- ");
        if (depth == 0 && !is_item) || indentation.is_some_and(|own| depth < own) {
            break;
        }
        if is_item && indentation.is_none_or(|own| own == depth) {
            indentation = Some(depth);
            let first = content[1..].trim_start();
            // Without its anchor, an alias in another place would be an error.
            if first.starts_with('&') {
                return Err(index);
            }
            keys = (!first.is_empty()).then(|| depth + content.len() - first.len());
            items.push((name(first), index..index + 1));
        } else if let Some((own, range)) = items.last_mut() {
            // Also the comments between the lines of an item.
            range.end = index + 1;
            // What is deeper belongs to one of its values.
            if *keys.get_or_insert(depth) == depth {
                *own = own.take().or_else(|| name(content));
            }
        } else {
            return Err(index);
        }
    }
    items.into_iter().map(|(name, lines)| Ok((name.ok_or(lines.start)?, lines))).collect()
}

/// The value of `name: value`, also as the only or first member of a mapping in braces.
fn name(content: &str) -> Option<String> {
    let inner = content.strip_prefix('{').map(str::trim_start);
    let value = value_of(inner.unwrap_or(content), "name")?;
    let value = if inner.is_some() { value.split([',', '}']).next()? } else { value };
    let value = value.split(" #").next()?.trim();
    let is_plain = |text: &str| !text.is_empty() && !text.starts_with(['!', '&', '*', '|', '>', '#', '[', '{']);
    is_plain(value).then(|| value.trim_matches(['"', '\'']).to_owned())
}

/// The text after `key:` at the start of a line; the key may be in quotes.
fn value_of<'l>(line: &'l str, key: &str) -> Option<&'l str> {
    let rest =
        ["\"", "'", ""].iter().find_map(|quote| line.strip_prefix(quote)?.strip_prefix(key)?.strip_prefix(quote))?;
    let value = rest.trim_start_matches([' ', '\t']).strip_prefix(':')?;
    (value.is_empty() || value.starts_with(char::is_whitespace)).then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEST_NAMES: &[&str] = &["ls", "glob"];

    #[test]
    fn only_named_items_become_comments_and_come_back() {
        let text = "a: 1\ntools:\n  # first\n  - name: web\n    use: x\n\n  - name: ls # it\n    # inner\n    use: y\n  # - name: glob\n  - use: z\n    name: \"glob\"\nnext:\n  - name: ls\n";
        let (edited, names) = items_off(text, "tools", TEST_NAMES).expect("a list");
        assert_eq!(names, ["ls", "glob"]);
        assert!(edited.contains("\n# rootbound off:   - name: ls # it\n# rootbound off:     # inner\n"), "{edited}");
        assert!(edited.contains("\n  - name: web\n") && edited.ends_with("next:\n  - name: ls\n"), "{edited}");
        assert_eq!(items_on(&edited), text);
        assert_eq!(items_off(&edited, "tools", TEST_NAMES).expect("a list"), (edited.clone(), Vec::new()));
    }

    #[test]
    fn list_without_items_that_are_on_stays_a_list() {
        for end in ["\n", "\r\n"] {
            let text = ["tools:", "- name: ls", "- name: glob", "x: 1", ""].join(end);
            let (edited, _) = items_off(&text, "tools", TEST_NAMES).expect("a list");
            assert!(edited.starts_with("tools: []  # rootbound off"), "{edited}");
            assert_eq!(items_on(&edited), text);
        }
    }

    #[test]
    fn list_on_one_line_is_refused_with_its_line() {
        assert!(
            items_off("a: 1\ntools: [x]\n", "tools", TEST_NAMES).is_err_and(|why| why.message.starts_with("line 2: "))
        );
        assert_eq!(items_off("a: 1\n", "tools", TEST_NAMES), Ok(("a: 1\n".into(), Vec::new())));
        assert_eq!(items_off("tools: [] # none\n", "tools", TEST_NAMES), Ok(("tools: [] # none\n".into(), Vec::new())));
    }

    #[test]
    fn name_inside_of_a_value_of_an_item_is_not_its_name() {
        for text in [
            "tools:\n  - use: x\n    config:\n      name: ls\n    name: web\n",
            "tools:\n  - note: |\n      name: ls\n    name: web\n",
            "tools:\n  -\n    note: |\n      name: ls\n    name: web\n",
        ] {
            assert_eq!(items_off(text, "tools", TEST_NAMES), Ok((text.to_owned(), Vec::new())));
        }
    }

    #[test]
    fn other_spellings_of_an_item_are_found_or_refused_with_their_line() {
        for item in ["{name: ls, use: x}", "{ \"name\": 'ls' }", "'name': ls", "name : ls # it", "\n    name: ls"] {
            let text = format!("'tools' :\n  - {item}\n  - name: web\n");
            let (edited, names) = items_off(&text, "tools", TEST_NAMES).expect("a list");
            assert_eq!((names, items_on(&edited)), (vec!["ls".to_owned()], text.clone()), "{text}");
        }
        for item in [
            "{use: x, name: ls}",
            "&a\n    name: ls",
            "name: !!str ls",
            "<<: *a",
            "name: |\n      ls",
            "ls",
            "name:\n      ls",
        ] {
            let text = format!("tools:\n  - name: web\n  - {item}\n");
            assert!(
                items_off(&text, "tools", TEST_NAMES).is_err_and(|why| why.message.starts_with("line 3: ")),
                "{text}"
            );
        }
        for text in ["tools:\n  [{name: ls}]\n", "{tools: [{name: ls}]}\n"] {
            assert!(items_off(text, "tools", TEST_NAMES).is_err(), "{text}");
        }
        let last = "tools:\n- name: web\ntools:\n- name: glob\n- name: x\n";
        assert_eq!(items_off(last, "tools", TEST_NAMES).expect("a list").1, ["glob"]);
    }
}
