//! Paths that a client has put the name of a root before: `DeerFlow` does so in what it shows of a file, where the file
//! has a path relative to that root. An `old_string` with such a path is in no file, however often it is copied.

use crate::{
    edit::{Miss, Place, Request},
    text::Document,
};

use super::{
    super::{CallContext, Kind, ToolError},
    entry::TextEdit,
};

/// What came of a text without the names of roots in it.
pub(super) enum WithoutRoots {
    /// Just so it is in the file, once: the edit to be made, and what there is to say of it.
    Found(TextEdit, String),
    /// It is there, but not in a single place.
    Unclear(String, Vec<Place>),
}

/// Looks for the text of `one`, which `document` does not have, without the names of roots before relative paths.
pub(super) fn find(cx: &CallContext, document: &Document, one: &TextEdit) -> Option<WithoutRoots> {
    let roots = cx.workspace.roots().iter().map(|root| cx.workspace.root_path(root).to_string());
    roots.filter(|root| root.starts_with('/') && root.len() > 1).find_map(|root| {
        ["", "./"].into_iter().find_map(|instead| {
            let other = TextEdit {
                old: without_root(&one.old, &root, instead)?,
                new: without_root(&one.new, &root, instead).unwrap_or_else(|| one.new.clone()),
                ..one.clone()
            };
            let request = Request { old: &other.old, new: &other.new, replace_all: false, expected_replacements: None };
            match other.locate(document.text(), &request) {
                Ok(located) if other.old != other.new && located.strategy.is_as_given() => {
                    let note = format!("`{root}/` before relative paths taken off, as the file has them");
                    Some(WithoutRoots::Found(other, note))
                }
                Err(Miss::Ambiguous { places, strategy }) if strategy.is_as_given() => {
                    Some(WithoutRoots::Unclear(root.clone(), places))
                }
                _ => None,
            }
        })
    })
}

/// The error for a text that is in several places without the name of a root.
pub(super) fn unclear(path: &str, root: &str, places: &[Place]) -> ToolError {
    let lines: Vec<String> = places.iter().take(5).map(|place| place.line.to_string()).collect();
    ToolError::new(
        Kind::NoMatch,
        format!(
            "{path}: old_string has `{root}/` before a path that the file has without it, at lines {}",
            lines.join(", ")
        ),
    )
    .hint("the client may put it before paths that it shows; send a longer old_string, or one without the path")
}

/// `text` with `instead` for each `root/` that begins a path; `None` where there is none.
fn without_root(text: &str, root: &str, instead: &str) -> Option<String> {
    let is_part = |one: char| one.is_alphanumeric() || "/._-~".contains(one);
    let (mut result, mut rest) = (String::new(), text);
    while let Some(at) = rest.find(root) {
        let (before, behind) = (&rest[..at], &rest[at + root.len()..]);
        let begins = !(before.ends_with(is_part) || before.is_empty() && result.ends_with(is_part));
        let path = behind.strip_prefix('/').filter(|path| begins && path.starts_with(|one| one != '/' && is_part(one)));
        result.push_str(before);
        result.push_str(if path.is_some() { instead } else { root });
        rest = path.unwrap_or(behind);
    }
    result.push_str(rest);
    (result != text).then_some(result)
}

#[cfg(test)]
mod tests {
    use super::without_root;

    #[test]
    fn the_name_of_a_root_goes_where_a_path_begins() {
        let without = |text| without_root(text, "/mnt/work", "");
        assert_eq!(without("open('/mnt/work/a.py', \"/mnt/work/b/c\")").as_deref(), Some("open('a.py', \"b/c\")"));
        for text in ["open('/mnt/work')", "x/mnt/work/a", "/mnt/workshop/a", "/mnt/work//a", "a.py"] {
            assert_eq!(without(text), None, "{text}");
        }
        assert_eq!(without_root("cd /mnt/work/x", "/mnt/work", "./").as_deref(), Some("cd ./x"));
    }
}
