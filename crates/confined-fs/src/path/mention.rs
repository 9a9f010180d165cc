//! What people and clients put around a path in a conversation: `@` or `#file:` before it, quotes around it, backslashes
//! before its spaces.
//!
//! Claude Code writes `@"my file.txt"`, Gemini CLI `@my\ file.txt`, VS Code `#file:a.ts`. Each of these may as well be a
//! part of a name, so whoever peels them off asks first whether there is a file of the longer name.

/// Most signs that are peeled off one text.
const MOST: usize = 5;

/// The text, and what is left of it when one sign after the other is peeled off, the longest first.
pub fn peeled(text: &str) -> Vec<&str> {
    let mut all = vec![text];
    while let Some(rest) = all.last().and_then(|text| peel(text)).filter(|_| all.len() <= MOST) {
        all.push(rest);
        // `file://` is a URI, and resolved as one.
        if let Some(path) = rest.strip_prefix("file:").filter(|path| !path.starts_with("//")) {
            all.push(path);
        }
    }
    all
}

/// The text without its outermost sign; `None` if it has none.
pub(crate) fn peel(text: &str) -> Option<&str> {
    let quoted = |quote: char| text.strip_prefix(quote)?.strip_suffix(quote).filter(|inner| !inner.is_empty());
    text.strip_prefix('@')
        .or_else(|| text.strip_prefix("#file:"))
        .or_else(|| ['"', '\'', '`'].into_iter().find_map(quoted))
}

/// Whether a person or a client mentions a file that exists: it has an `@` or `#file:`.
pub(super) fn is_mention(text: &str) -> bool {
    peeled(text).iter().any(|text| text.starts_with('@') || text.starts_with("#file:"))
}

/// The text without the backslashes that a shell needs before spaces and its own signs; `None` if it has none.
pub(super) fn without_shell_escapes(text: &str) -> Option<String> {
    if std::path::is_separator('\\') || !text.contains('\\') {
        return None;
    }
    let mut out = String::with_capacity(text.len());
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match letters.next_if(|next| letter == '\\' && " \t()[]{};&|*?$'\"`#!~<>,".contains(*next)) {
            Some(escaped) => out.push(escaped),
            None => out.push(letter),
        }
    }
    (out != text).then_some(out)
}

/// Whether a shell would take it for a path in the home directory of some user: `~root/x`. `~/x` is another matter, and
/// `~notes.txt` is a name.
pub(super) fn names_home_of_user(text: &str) -> bool {
    let Some(user) = text.strip_prefix('~').and_then(|rest| rest.split(std::path::is_separator).next()) else {
        return false;
    };
    user.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && user.chars().all(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signs_are_peeled_off_one_after_the_other() {
        for (text, expected) in [
            ("a.ts", &["a.ts"][..]),
            ("@a.ts", &["@a.ts", "a.ts"]),
            ("@\"a b.ts\"", &["@\"a b.ts\"", "\"a b.ts\"", "a b.ts"]),
            ("'@a'", &["'@a'", "@a", "a"]),
            ("#file:a.ts", &["#file:a.ts", "a.ts"]),
            ("@file:a.ts", &["@file:a.ts", "file:a.ts", "a.ts"]),
            ("@file:///a", &["@file:///a", "file:///a"]),
            ("\"\"", &["\"\""]),
            ("'a\"", &["'a\""]),
            ("#a", &["#a"]),
            ("@", &["@", ""]),
        ] {
            assert_eq!(peeled(text), expected, "{text}");
        }
        assert!(peeled(&"@".repeat(10_000)).len() < 10);
    }

    #[test]
    fn at_and_file_make_a_mention_and_quotes_do_not() {
        for (text, expected) in [("@a", true), ("\"@a\"", true), ("#file:a", true), ("\"a\"", false), ("a@b", false)] {
            assert_eq!(is_mention(text), expected, "{text}");
        }
    }

    #[test]
    #[cfg(unix)]
    fn backslashes_of_a_shell_are_dropped_and_others_kept() {
        assert_eq!(without_shell_escapes(r"my\ file\(1\).txt").as_deref(), Some("my file(1).txt"));
        assert_eq!(without_shell_escapes(r"a\b\x41\\"), None);
        assert_eq!(without_shell_escapes("plain"), None);
    }

    #[test]
    fn home_of_a_user_is_no_name() {
        for (text, expected) in [
            ("~root/.ssh/id_rsa", true),
            ("~root", true),
            ("~_x-1/a", true),
            ("~", false),
            ("~/a", false),
            ("~notes.txt", false),
            ("~$letter.docx", false),
            ("a~root", false),
        ] {
            assert_eq!(names_home_of_user(text), expected, "{text}");
        }
    }
}
