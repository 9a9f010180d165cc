//! A lint of globs: patterns that no path below a root can match, with what to write instead.
//!
//! Limits: only what is wrong whatever the roots are. Whether a pattern names an absolute path of the host depends on
//! them; the configuration checks that.

use std::path::is_separator;

use text_file::with_slashes;

use super::glob_fold::class;

/// Why `pattern` can never match, in a few words with the next step.
pub(crate) fn why_never(pattern: &str) -> Option<String> {
    let pattern = &*with_slashes(pattern);
    let mut letters = pattern.chars();
    let drive = matches!((letters.next(), letters.next(), letters.next()), (Some(letter), Some(':'), Some('/' | '\\'))
        if letter.is_ascii_alphabetic());
    if drive {
        return Some("it is an absolute path: write the path below the root, beginning with / for the root".to_owned());
    }
    if let Some(rest) = pattern.strip_prefix('!') {
        return Some(format!(
            "a leading ! does not negate a pattern: exceptions are --allow-secret and --allow-protected (write \
             **/!{rest} for a name that begins with !)"
        ));
    }
    if pattern == "~" || pattern.starts_with("~/") {
        return Some(
            "~ is not a directory here: write the path below the root (or [~] for a folder of that name)".to_owned(),
        );
    }
    if !is_separator('\\')
        && let Some(letter) = escaped_letter(pattern)
    {
        return Some(format!("\\ does not separate names, it only escapes {letter:?}: write / between names"));
    }
    let parted = pattern.strip_prefix("./").unwrap_or(pattern).trim_end_matches('/');
    let parted = parted.strip_prefix('/').unwrap_or(parted);
    parted
        .split('/')
        .find_map(|name| match name {
            ".." => Some("`..` is not a name, and nothing outside of a root is reached: write the path below the root"),
            "." => Some("`.` is not a name: leave `./` out"),
            "" => Some("a name between two slashes is missing: write one /"),
            _ => None,
        })
        .map(str::to_owned)
}

/// A letter or digit after a backslash outside of a class: nothing that would need one.
fn escaped_letter(pattern: &str) -> Option<char> {
    let mut rest = pattern.chars().peekable();
    while let Some(character) = rest.next() {
        match character {
            '[' => drop(class(&mut rest)),
            '\\' => match rest.next() {
                Some(letter) if letter.is_alphanumeric() || matches!(letter, '.' | '_') => return Some(letter),
                _ => {}
            },
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lint_names_the_pattern_to_write_instead() {
        for (pattern, words) in [
            ("../x", "`..` is not a name"),
            ("a/../x", "`..` is not a name"),
            ("/..", "`..` is not a name"),
            ("a/./b", "leave `./` out"),
            ("a//b", "write one /"),
            ("//a", "write one /"),
            ("~", "write the path below the root"),
            ("~/.ssh/**", "write the path below the root"),
            ("!*.pem", "**/!*.pem"),
            ("C:\\keys", "absolute"),
            ("c:/keys/*", "absolute"),
            #[cfg(not(windows))]
            ("dir\\keys", "write / between names"),
            #[cfg(not(windows))]
            ("**\\.env", "write / between names"),
        ] {
            let why = why_never(pattern).unwrap_or_else(|| panic!("{pattern:?} is taken"));
            assert!(why.contains(words), "{pattern:?}: {why}");
        }
    }

    #[test]
    fn lint_accepts_patterns_that_may_match() {
        for pattern in [
            "x",
            "./x",
            "/docs/*.txt",
            "a/b/",
            "a//",
            "**/!x",
            "[~]/x",
            "a~/b",
            "~x",
            "..x/y..",
            "a/...",
            "\\*literal\\[\\]",
            "[\\a]x",
            "[]\\b]x",
            "{a,b}/*.c",
            "C:",
            "12:30",
        ] {
            assert_eq!(why_never(pattern), None, "{pattern:?}");
        }
    }
}
