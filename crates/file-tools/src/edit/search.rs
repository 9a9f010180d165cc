//! The search for an edit's places, in the way of the file's format.

use text_edit::{EditError, Request};
use text_file::Document;

use change_set::WritablePath;

use super::{
    super::{CallContext, Kind, ToolError},
    cells,
    entry::TextEdit,
    json_escapes, no_match,
    places::Places,
};

/// Finds the places of `one` in `document`.
///
/// # Errors
/// Where there is none, or not the wanted number of them.
pub(super) fn find(
    cx: &CallContext,
    target: &WritablePath,
    document: &Document,
    one: &TextEdit,
    expected: Option<usize>,
) -> Result<Places, ToolError> {
    let text = document.text();
    if let Some(notebook) = cells::notebook(target.path(), document)
        && let Some(places) = cells::find(cx, target, text, &notebook, one, expected)?
    {
        return Ok(places);
    }
    let request =
        Request { old: &one.old, new: &one.new, replace_all: one.replace_all, expected_replacements: expected };
    let located = match one.locate(text, &request) {
        Ok(located) => located,
        Err(miss) => {
            if let Some(other) = json_escapes::as_in_file(target.path(), text, one) {
                let note = "`\\u` escapes taken for their characters, and written as the file has them".to_owned();
                return Ok(Places { note: Some(note), ..find(cx, target, document, &other, expected)? });
            }
            let path = target.asked().to_string();
            let others = matches!(miss, EditError::NotFound(_)).then(|| without_root_names(cx, &path, document, one));
            let Some(other) = others.flatten() else { return Err(no_match::explain(cx, target, text, one, &miss)) };
            let (other, note) = other?;
            return Ok(Places { note: Some(note), ..find(cx, target, document, &other, expected)? });
        }
    };
    let (replacements, strategy) = (located.replacements.len(), located.strategy);
    let mut places = Places { strategy, replacements, ..Places::default() };
    if one.replace_all {
        places.within.look(text, one.word.then_some(&one.old), &located, "line ");
    }
    places.spans = located.replacements.into_iter().map(|one| (one.span, one.text)).collect();
    Ok(places)
}

/// Looks for the text of `one`, which the file `path` does not have, without the names of roots before relative paths:
/// the edit to be made if it is just so in the file, once, and a note on it. `None` where it is not there either.
///
/// `DeerFlow` puts the name of a root before paths in what it shows of a file, where the file has a path relative to that
/// root. An `old_string` with such a path is in no file, however often it is copied.
///
/// # Errors
/// Where it is there, but not in a single place, or some of the file's own paths begin so.
fn without_root_names(
    cx: &CallContext,
    path: &str,
    document: &Document,
    one: &TextEdit,
) -> Option<Result<(TextEdit, String), ToolError>> {
    let roots = cx.workspace.roots().iter().map(|root| cx.workspace.root_path(root).to_string());
    // A plain name, such as `docs`, may begin the file's own paths.
    let roots: Vec<String> = roots.filter(|root| root.starts_with('/') && root.len() > 1).collect();
    let (_, root) = next_root(&one.old, &roots)?;
    // The client rewrites `./a/b` as well as `a/b`.
    for instead in ["", "./"] {
        let other = TextEdit {
            old: without_roots(&one.old, &roots, instead)?,
            new: without_roots(&one.new, &roots, instead).unwrap_or_else(|| one.new.clone()),
            ..one.clone()
        };
        let request = Request { old: &other.old, new: &other.new, replace_all: false, expected_replacements: None };
        match other.locate(document.text(), &request) {
            Ok(located) if other.old != other.new && located.strategy.is_as_given() => {
                let note = format!("`{root}/` before relative paths taken off, as the file has them");
                return Some(Ok((other, note)));
            }
            Err(EditError::Ambiguous { places, strategy }) if strategy.is_as_given() => {
                return Some(Err(unclear(path, root, places.iter().map(|place| place.line))));
            }
            _ => {}
        }
    }
    let (text, old) = (without_roots(document.text(), &roots, "")?, without_roots(&one.old, &roots, "")?);
    let mut lines = text.match_indices(&old).map(|(at, _)| text[..at].matches('\n').count() + 1).peekable();
    lines.peek().is_some().then(|| Err(unclear(path, root, lines)))
}

const NAMED_LINES: usize = 5;

fn unclear(path: &str, root: &str, lines: impl Iterator<Item = usize>) -> ToolError {
    let lines: Vec<String> = lines.take(NAMED_LINES).map(|line| line.to_string()).collect();
    let at = if lines.len() == 1 { "line" } else { "lines" };
    let sentence = format!(
        "{path}: old_string has `{root}/` before a path that the file has without it, at {at} {}",
        lines.join(", ")
    );
    ToolError::new(Kind::NoMatch, sentence)
        .hint("the client may put it before paths that it shows; send a longer old_string, or one without the path")
}

/// The first name of a root in `text`, the longest of those that begin there.
fn next_root<'r>(text: &str, roots: &'r [String]) -> Option<(usize, &'r str)> {
    text.match_indices('/').find_map(|(at, _)| {
        let here = roots.iter().filter(|root| text[at..].starts_with(root.as_str()));
        Some((at, here.max_by_key(|root| root.len())?.as_str()))
    })
}

/// `text` with `instead` for each name of a root that begins a path; `None` where there is none.
fn without_roots(text: &str, roots: &[String], instead: &str) -> Option<String> {
    let is_part = |one: char| one.is_alphanumeric() || "/._-~".contains(one);
    let (mut result, mut rest) = (String::new(), text);
    while let Some((at, root)) = next_root(rest, roots) {
        let (before, after) = (&rest[..at], &rest[at + root.len()..]);
        let begins = !(before.ends_with(is_part) || before.is_empty() && result.ends_with(is_part));
        let path = after.strip_prefix('/').filter(|path| begins && path.starts_with(|one| one != '/' && is_part(one)));
        result.push_str(before);
        result.push_str(if path.is_some() { instead } else { root });
        rest = path.unwrap_or(after);
    }
    result.push_str(rest);
    (result != text).then_some(result)
}

#[cfg(test)]
mod tests {
    use super::without_roots;

    #[test]
    fn the_name_of_a_root_goes_where_a_path_begins() {
        let roots = ["/mnt", "/mnt/work", "/up"].map(str::to_owned);
        let without = |text| without_roots(text, &roots[1..], "");
        assert_eq!(without("open('/mnt/work/a.py', \"/mnt/work/b/c\")").as_deref(), Some("open('a.py', \"b/c\")"));
        for text in ["open('/mnt/work')", "x/mnt/work/a", "/mnt/workshop/a", "/mnt/work//a", "a.py"] {
            assert_eq!(without(text), None, "{text}");
        }
        assert_eq!(without_roots("cd /mnt/work/x /up/y", &roots, "./").as_deref(), Some("cd ./x ./y"));
    }
}
