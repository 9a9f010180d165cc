//! A server's texts, without what they show of the host.
//!
//! A server knows host paths and writes them into its messages ("file not found in /home/me/app/src"). Those below a root
//! are shown as the tools print them; of all others only the last name is left.

use crate::workspace::escape_controls;

/// The roots: the path of each on the host, and how it is printed.
#[derive(Clone, Debug, Default)]
pub(super) struct Scrubber {
    roots: Vec<(String, String)>,
}

impl Scrubber {
    pub(super) fn new(mut roots: Vec<(String, String)>) -> Self {
        // The longest first: a root may be inside another.
        roots.sort_by_key(|(host, _)| std::cmp::Reverse(host.len()));
        Self { roots }
    }

    /// `text` in one line, without host paths, control characters and what hides text.
    ///
    /// An absolute path begins at a slash that no letter, digit or dot is before, and has two names or more: `a/b`, `//`
    /// and `/x` are none.
    pub(super) fn clean(&self, text: &str) -> String {
        let text = text.replace("file:///", "/");
        let mut out = String::with_capacity(text.len());
        let mut rest = text.as_str();
        let mut before = ' ';
        while let Some(first) = rest.chars().next() {
            let is_inside = before.is_alphanumeric() || "./_-~)".contains(before) || rest.starts_with("//");
            // A root is cut wherever its path is: `//home/me/app` and `a/home/me/app` are the same directory to a reader.
            let starts = first == '/' && (!is_inside || self.is_in_root(rest));
            let (shown, length) = if starts { self.path(rest) } else { None }.unwrap_or_else(|| {
                before = first;
                (first.to_string(), first.len_utf8())
            });
            if length > first.len_utf8() {
                before = 'x';
            }
            out.push_str(&shown);
            rest = &rest[length..];
        }
        let lines = out.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
        escape_controls(&lines.filter(|line| !line.is_empty()).collect::<Vec<_>>().join("; ")).to_string()
    }

    /// Whether `text` begins with the path of a root.
    fn is_in_root(&self, text: &str) -> bool {
        let is_whole = |rest: &str| !rest.starts_with(is_name);
        self.roots.iter().any(|(host, _)| host.len() > 1 && text.strip_prefix(host.as_str()).is_some_and(is_whole))
    }

    /// What is shown of the path at the start of `text`, and how long that is; `None` if there is none.
    fn path(&self, text: &str) -> Option<(String, usize)> {
        let ends = |rest: &str| !rest.starts_with(is_name);
        for (host, public) in &self.roots {
            if let Some(rest) = text.strip_prefix(host.as_str()) {
                if let Some(below) = rest.strip_prefix('/') {
                    let is_below = below.starts_with(is_name);
                    let printed = match public.as_str() {
                        "" if is_below => String::new(),
                        "" => "./".to_owned(),
                        public => format!("{public}/"),
                    };
                    return Some((printed, text.len() - below.len()));
                }
                if ends(rest) {
                    return Some((if public.is_empty() { ".".to_owned() } else { public.clone() }, host.len()));
                }
            }
        }
        let length = text.find(|character| !is_name(character) && character != '/').unwrap_or(text.len());
        let path = &text[..length];
        let names: Vec<&str> = path.split('/').filter(|name| !name.is_empty()).collect();
        if names.len() < 2 || path.starts_with("//") {
            return None;
        }
        Some((format!("…/{}", names.last()?), length))
    }
}

/// Whether a character is part of a name in a path; a space ends it.
fn is_name(character: char) -> bool {
    character.is_alphanumeric() || "._-+@~%#$".contains(character)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn host_paths_are_printed_as_tools_do_or_cut_to_their_last_name() {
        let scrubber = Scrubber::new(vec![
            ("/home/me/app".to_owned(), String::new()),
            ("/home/me/app/lib".to_owned(), "lib".to_owned()),
        ]);
        for (text, expected) in [
            ("in /home/me/app/src/a.rs:3", "in src/a.rs:3"),
            ("`file:///home/me/app/src/a.rs`", "`src/a.rs`"),
            ("(/home/me/app)", "(.)"),
            ("/home/me/app/lib/x.rs and /home/me/app/lib", "lib/x.rs and lib"),
            ("/home/me/app-other/secret/x.rs", "…/x.rs"),
            ("'/opt/toolchain/lib.rs'", "'…/lib.rs'"),
            ("path=/etc/passwd:/usr/lib/x", "path=…/passwd:…/x"),
            ("expected `/`, found // or a/b or 1/2", "expected `/`, found // or a/b or 1/2"),
            (
                "see https://doc.rust-lang.org/error_codes/E0308.html",
                "see https://doc.rust-lang.org/error_codes/E0308.html",
            ),
            ("two\nlines\t\u{1b}[31m\u{202e}", "two; lines \\u{1b}[31m\\u{202e}"),
            (
                "//home/me/app/a.rs, file://host/home/me/app and //home/me/apple",
                "/a.rs, file://host. and //home/me/apple",
            ),
            ("", ""),
        ] {
            assert_eq!(scrubber.clean(text), expected, "{text}");
        }
    }
}
