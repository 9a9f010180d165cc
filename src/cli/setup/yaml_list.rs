//! Items of a list at the top of a YAML file, turned into comments and back, line by line.
//!
//! Knows only lists with one item below the other, as DeerFlow's `config.yaml` has them; it is no YAML parser.

/// What a line of an item that is off begins with.
const OFF: &str = "# rootbound off: ";

/// What stands in for a list without any item, as an empty one is not a list.
const EMPTY: &str = "[]  # rootbound off";

/// Turns the items of these names off. Returns the names that were on.
///
/// # Errors
/// If the list is written in another way.
pub(super) fn off(text: &str, key: &str, names: &[&str]) -> Result<(String, Vec<String>), String> {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let heading = format!("{key}:");
    let is_heading =
        |line: &&str| line.strip_prefix(&heading).is_some_and(|rest| !rest.starts_with(|c: char| !c.is_whitespace()));
    let Some(first) = lines.iter().position(is_heading) else { return Ok((text.to_owned(), Vec::new())) };
    let rest = lines[first][heading.len()..].trim();
    if !rest.is_empty() && !rest.starts_with('#') {
        return Err(format!("line {}: {key} is not a list with one item below the other", first + 1));
    }
    let items = items(&lines, first);
    let is_wanted = |item: &YamlItem| item.name.as_deref().is_some_and(|name| names.contains(&name));
    let wanted: Vec<&YamlItem> = items.iter().filter(|item| is_wanted(item)).collect();
    let found: Vec<String> = wanted.iter().filter_map(|item| item.name.clone()).collect();
    if found.is_empty() {
        return Ok((text.to_owned(), found));
    }
    let all = wanted.len() == items.len();
    let mut out = String::new();
    for (index, line) in lines.iter().enumerate() {
        let is_off = wanted.iter().any(|item| item.lines.contains(&index)) || all && index == first;
        if all && index == first {
            let end = if line.ends_with("\r\n") { "\r\n" } else { "\n" };
            out.extend([&heading, " ", EMPTY, end]);
        }
        if is_off {
            out.push_str(OFF);
        }
        out.push_str(line);
    }
    Ok((out, found))
}

/// Turns all items on that [`off`] turned off.
pub(super) fn on(text: &str) -> String {
    let is_stand_in = |line: &&str| !line.starts_with('#') && line.trim_end().ends_with(EMPTY);
    let lines = text.split_inclusive('\n').filter(|line| !is_stand_in(line));
    lines.map(|line| line.strip_prefix(OFF).unwrap_or(line)).collect()
}

struct YamlItem {
    name: Option<String>,
    lines: std::ops::Range<usize>,
}

/// The items below the line `heading`; comments and empty lines behind an item are not part of it.
fn items(lines: &[&str], heading: usize) -> Vec<YamlItem> {
    let mut items: Vec<YamlItem> = Vec::new();
    let mut indentation = None;
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
            items.push(YamlItem { name: name(content[1..].trim_start()), lines: index..index + 1 });
        } else if let Some(last) = items.last_mut() {
            // Also the comments between the lines of an item.
            last.lines.end = index + 1;
            last.name = last.name.take().or_else(|| name(content));
        }
    }
    items
}

/// The value of `name: value`.
fn name(content: &str) -> Option<String> {
    let value = content.strip_prefix("name:")?.split(" #").next()?.trim();
    Some(value.trim_matches(['"', '\'']).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: &[&str] = &["ls", "glob"];

    #[test]
    fn only_named_items_become_comments_and_come_back() {
        let text = "a: 1\ntools:\n  # first\n  - name: web\n    use: x\n\n  - name: ls # it\n    # inner\n    use: y\n  # - name: glob\n  - use: z\n    name: \"glob\"\nnext:\n  - name: ls\n";
        let (edited, names) = off(text, "tools", NAMES).expect("a list");
        assert_eq!(names, ["ls", "glob"]);
        assert!(edited.contains("\n# rootbound off:   - name: ls # it\n# rootbound off:     # inner\n"), "{edited}");
        assert!(edited.contains("\n  - name: web\n") && edited.ends_with("next:\n  - name: ls\n"), "{edited}");
        assert_eq!(on(&edited), text);
        assert_eq!(off(&edited, "tools", NAMES).expect("a list"), (edited.clone(), Vec::new()));
    }

    #[test]
    fn list_without_items_that_are_on_stays_a_list() {
        for end in ["\n", "\r\n"] {
            let text = ["tools:", "- name: ls", "- name: glob", "x: 1", ""].join(end);
            let (edited, _) = off(&text, "tools", NAMES).expect("a list");
            assert!(edited.starts_with("tools: []  # rootbound off"), "{edited}");
            assert_eq!(on(&edited), text);
        }
    }

    #[test]
    fn list_on_one_line_is_refused_with_its_line() {
        assert!(off("a: 1\ntools: [x]\n", "tools", NAMES).is_err_and(|why| why.starts_with("line 2: ")));
        assert_eq!(off("a: 1\n", "tools", NAMES), Ok(("a: 1\n".into(), Vec::new())));
    }
}
