//! Patterns as callers write them: with `*` for any text, for names that no file has, and globs with `\`, for those on
//! Windows (`src\**\*.rs`).

use std::{borrow::Cow, path::is_separator};

/// Bytes of the longest text that is compared: the names of programs and users are shorter.
const MAX_TEXT: usize = 1024;

/// Whether `text` is as `pattern` says: ASCII letters in either case, `*` for any text. A lookalike of a letter is another
/// letter, and a text of more than 1 KiB matches nothing.
///
/// # Examples
/// ```
/// use text_file::wildcard::matches;
///
/// assert!(matches("claude-*", "Claude-Code"));
/// assert!(!matches("claude-*", "clаude-code"), "with a Cyrillic а");
/// ```
pub fn matches(pattern: &str, text: &str) -> bool {
    if text.len() > MAX_TEXT {
        return false;
    }
    let Some((first, others)) = pattern.split_once('*') else { return text.eq_ignore_ascii_case(pattern) };
    let (between, last) = others.rsplit_once('*').unwrap_or(("", others));
    let Some(mut rest) = after(text, first) else { return false };
    // The first place of each part leaves the most room for those after it.
    for part in between.split('*') {
        match (0..=rest.len()).filter(|at| rest.is_char_boundary(*at)).find_map(|at| after(&rest[at..], part)) {
            Some(found) => rest = found,
            None => return false,
        }
    }
    let end = rest.len().checked_sub(last.len()).and_then(|at| rest.split_at_checked(at));
    end.is_some_and(|(_, end)| end.eq_ignore_ascii_case(last))
}

fn after<'t>(text: &'t str, beginning: &str) -> Option<&'t str> {
    let (start, rest) = text.split_at_checked(beginning.len())?;
    start.eq_ignore_ascii_case(beginning).then_some(rest)
}

/// A glob from a caller with `/` between names.
///
/// Where `\` separates names, every `\` does, and none escapes the next character: nobody there writes `\*` for a star,
/// since no name can hold one, and a bracket or brace is taken by its letter in a class (`[[]`). Elsewhere `\` escapes.
///
/// ```
/// use text_file::with_slashes;
///
/// let expected = if cfg!(windows) { "src/**/*.rs" } else { r"src\**\*.rs" };
/// assert_eq!(with_slashes(r"src\**\*.rs"), expected);
/// ```
pub fn with_slashes(glob: &str) -> Cow<'_, str> {
    if is_separator('\\') && glob.contains('\\') { Cow::Owned(glob.replace('\\', "/")) } else { Cow::Borrowed(glob) }
}

/// The remark, in an answer without results, on a glob that may have been meant for Windows.
pub fn backslash_note(glob: &str) -> Option<String> {
    let escapes = !is_separator('\\') && glob.contains('\\');
    escapes.then(|| r"(`\` is an escape here; write / between directories)".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn star_is_any_text() {
        for (pattern, text, expected) in [
            ("a", "A", true),
            ("a", "ab", false),
            ("*", "", true),
            ("*", "x", true),
            ("a*c", "abc", true),
            ("a*c", "ac", true),
            ("a*bc*d", "aXbcbcYd", true),
            ("a*a", "a", false),
            ("*é", "caf\u{e9}", true),
            ("*b*", "xby", true),
            ("", "", true),
            ("", "a", false),
        ] {
            assert_eq!(matches(pattern, text), expected, "{pattern:?} {text:?}");
        }
        assert!(!matches("*", &"a".repeat(MAX_TEXT + 1)));
    }
}
