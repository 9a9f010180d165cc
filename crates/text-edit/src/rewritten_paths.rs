//! Paths that a client may have rewritten in what it showed.
//!
//! `DeerFlow` shows the paths of its sandbox in the place of the host's, also within file content; an `old_string`
//! that repeats such a path is in no file, however often it is copied.

use std::borrow::Cow;

use super::Prepared;

/// The first line of `old` that the file has with another absolute path: both counted from 0.
pub(super) fn find(prepared: &Prepared<'_>, old: &[&str]) -> Option<(usize, usize)> {
    let (at, wanted) = old.iter().enumerate().find_map(|(at, line)| match without_paths(line) {
        Cow::Owned(line) => Some((at, line)),
        Cow::Borrowed(_) => None,
    })?;
    let is_version = |line: &str| line != old[at] && line.contains('/') && without_paths(line) == wanted;
    let found = prepared.contents().position(|line| is_version(line.trim()));
    Some((at, found?))
}

/// Whether the two lines are the same but for the absolute paths in them.
pub(super) fn is_version(old: &str, file: &str) -> bool {
    old != file && matches!(without_paths(old), Cow::Owned(plain) if plain == without_paths(file))
}

/// The line, trimmed, with a mark for each absolute path of two names or more.
fn without_paths(line: &str) -> Cow<'_, str> {
    const MARK: char = '\u{FFFC}';
    let line = line.trim();
    if !line.contains('/') {
        return Cow::Borrowed(line);
    }
    let is_part = |one: char| one.is_alphanumeric() || "/._-~@+:".contains(one);
    let mut plain = String::new();
    let mut rest = line;
    let mut has_path = false;
    while !rest.is_empty() {
        let word = &rest[..rest.find(|one| !is_part(one)).unwrap_or(rest.len())];
        let names = word.split('/').filter(|name| name.contains(char::is_alphanumeric)).count();
        if word.starts_with('/') && names >= 2 && !word.contains("//") {
            has_path = true;
            plain.push(MARK);
        } else {
            plain.push_str(word);
        }
        let after = rest[word.len()..].chars().next().map_or(0, char::len_utf8);
        plain.push_str(&rest[word.len()..word.len() + after]);
        rest = &rest[word.len() + after..];
    }
    if has_path { Cow::Owned(plain) } else { Cow::Borrowed(line) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_differ_in_absolute_paths_alone_are_versions_of_one_another() {
        assert!(is_version("root = \"/mnt/user-data/data\"", "  root = \"/home/me/data\""));
        assert!(!is_version("root = \"/mnt/user-data/data\"", "base = \"/home/me/data\""));
        assert!(!is_version("import a/b/c", "import a/b/d"));
        assert!(!is_version("see https://host/a/b", "see https://host/a/c"));
        assert!(!is_version("x = a / b / c", "x = a / b / d"));
    }
}
