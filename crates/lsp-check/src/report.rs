//! A server's report as the caller sees it: without what it shows of the host and of files that the caller may not read.
//!
//! A server knows host paths and writes them into its messages ("file not found in /home/me/app/src"). Those below a root
//! are shown as the tools print them; of all others only the last name is left.

use std::path::Path;

use confined_fs::{Workspace, WorkspacePath, escape::escape_controls};
use source_outline::problems::{ChangedLines, MAX_SHOWN, Problem, new_problems};
use text_file::shorten;

use super::{Checked, FileChange, MAX_TEXT, check::ServerReport, diagnostics::Diagnostic};

/// Whether the caller may read a file that is there. Of a secret one a server reads the values, and may quote them.
pub(super) fn is_open(workspace: &Workspace, path: &WorkspacePath) -> bool {
    workspace.is_secret(path).is_ok_and(|is_secret| !is_secret)
}

/// A file that the caller may read, by the URI that a server gave.
fn readable(workspace: &Workspace, uri: &str) -> Option<(WorkspacePath, String)> {
    // `resolve` takes plain paths as well: a URI of another scheme would be the name of a file.
    let path = workspace.resolve(uri).ok().filter(|_| uri.starts_with("file://"))?;
    if !is_open(workspace, &path) {
        return None;
    }
    let text = workspace.read(&path, MAX_TEXT as u64).ok()?;
    Some((path, String::from_utf8_lossy(&text.bytes).into_owned()))
}

/// The problems of a server's report that the change introduced. `name` is how a person calls the server.
pub(super) fn introduced(
    scrubber: &Scrubber,
    workspace: &Workspace,
    name: &str,
    change: FileChange<'_>,
    report: ServerReport,
) -> Checked {
    let problems = |text: &str, found: &[Diagnostic]| -> Vec<Problem> {
        let lines: Vec<&str> = text.split('\n').collect();
        found.iter().map(|one| one.problem(&lines, name, |text| scrubber.clean(text))).collect()
    };
    let before = change.before.unwrap_or_default();
    let lines = ChangedLines::between(before, change.after);
    let found = new_problems(&problems(before, &report.before), problems(change.after, &report.after), &lines);
    let mut elsewhere = Vec::new();
    for (uri, diagnostics) in report.elsewhere {
        // Before the file is read: a server may name hundreds of them.
        if elsewhere.len() >= MAX_SHOWN {
            break;
        }
        // Files that the caller may not see are not named.
        let Some((path, text)) = readable(workspace, &uri) else { continue };
        elsewhere.extend(problems(&text, &diagnostics).into_iter().map(|one| (path.clone(), one)));
    }
    Checked { problems: found, elsewhere, note: None }
}

/// The roots, by the path of each on the host and how it is printed.
#[derive(Clone, Debug, Default)]
pub(super) struct Scrubber {
    roots: Vec<(String, String)>,
    home: Option<String>,
}

impl Scrubber {
    pub(super) fn of(workspace: &Workspace, home: Option<&Path>) -> Self {
        let printed = |public: String| if public == "." { String::new() } else { public };
        let roots = workspace.roots().iter().map(|root| (root.host().display().to_string(), printed(root.public())));
        Self::new(roots.collect(), home)
    }

    fn new(mut roots: Vec<(String, String)>, home: Option<&Path>) -> Self {
        // The longest first: a root may be inside another.
        roots.sort_by_key(|(host, _)| std::cmp::Reverse(host.len()));
        Self { roots, home: home.and_then(Path::to_str).map(str::to_owned) }
    }

    /// The start of a text that is shown in a note: at most 200 characters of [`Self::clean`].
    pub(super) fn brief(&self, text: &str) -> String {
        shorten(&self.clean(text), 200).into_owned()
    }

    /// `text` in one line, without host paths, control characters and what hides text.
    ///
    /// An absolute path begins at a slash, or several, that no letter, digit or dot is before, and has two names or more,
    /// or is the home directory: `a/b`, `//` and `/x` are none. In quotes it goes on to their end, else over blanks and
    /// brackets as long as slashes follow.
    pub(super) fn clean(&self, text: &str) -> String {
        let text = without_file_scheme(text);
        let mut out = String::with_capacity(text.len());
        let mut rest = text.as_str();
        let mut before = ' ';
        while let Some(first) = rest.chars().next() {
            let slashes = rest.bytes().take_while(|byte| *byte == b'/').count();
            let is_inside = before.is_alphanumeric() || "./_-~)".contains(before) || (before == ':' && slashes > 1);
            let path = &rest[slashes.saturating_sub(1)..];
            // A root is cut wherever its path is: `//home/me/app` and `a/home/me/app` are the same directory to a reader.
            let starts = slashes > 0 && (!is_inside || self.is_in_root(path));
            let found = if starts { self.path(path, before) } else { None };
            let (shown, length) = found
                .map_or_else(|| (first.to_string(), first.len_utf8()), |(shown, length)| (shown, length + slashes - 1));
            before = if length > first.len_utf8() { 'x' } else { first };
            out.push_str(&shown);
            rest = &rest[length..];
        }
        let lines = out.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
        escape_controls(&lines.filter(|line| !line.is_empty()).collect::<Vec<_>>().join("; ")).to_string()
    }

    fn is_in_root(&self, text: &str) -> bool {
        let is_whole = |rest: &str| !rest.starts_with(is_name);
        self.roots.iter().any(|(host, _)| host.len() > 1 && text.strip_prefix(host.as_str()).is_some_and(is_whole))
    }

    /// The path at the start of `text`, which is after `before`, as it is shown, and its length in bytes; `None` if there
    /// is none.
    fn path(&self, text: &str, before: char) -> Option<(String, usize)> {
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
        let length = path_length(text, before);
        let path = text[..length].trim_end_matches('/');
        let names: Vec<&str> = path.split('/').filter(|name| !name.is_empty()).collect();
        if path == "/root" || self.home.as_deref() == Some(path) {
            return Some(("~".to_owned(), path.len()));
        }
        if names.len() < 2 { None } else { Some((format!("…/{}", names.last()?), length)) }
    }
}

fn path_length(text: &str, before: char) -> usize {
    let line = text.lines().next().unwrap_or_default();
    if "'\"`".contains(before)
        && let Some(end) = line.find(before)
    {
        return end;
    }
    let mut length = 0;
    loop {
        let rest = &line[length..];
        length += rest.find(|character| !is_name(character) && character != '/').unwrap_or(rest.len());
        // A blank or a bracket is in a name where more of the path follows.
        let mut after = line[length..].char_indices().skip(1);
        let is_in_name =
            line[length..].starts_with([' ', '(', ')', '[', ']', '{', '}', '=', ',', '!', '&', ';', '^', '\'']);
        let start = after.next().filter(|(_, first)| is_in_name && (is_name(*first) || "([{".contains(*first)));
        let Some(start) = start.map(|(at, _)| length + at) else { return length };
        let token = &line[start..];
        let token = &token[..token.find([' ', '\t', ':', '"', '`', '<', '>', '|']).unwrap_or(token.len())];
        if !token.contains('/') {
            return length;
        }
        length = start + token.len();
    }
}

/// `text` with `file:` URIs as paths, whatever host they name.
fn without_file_scheme(text: &str) -> String {
    let (mut out, mut from) = (String::with_capacity(text.len()), 0);
    // Lower case in ASCII has the same length, so that a place in it is one in `text`.
    let lower = text.to_ascii_lowercase();
    for at in memchr::memmem::find_iter(lower.as_bytes(), b"file://") {
        out.push_str(&text[from..at]);
        let start = at + "file://".len();
        let after = &text[start..];
        let host = after.find(|character: char| !character.is_ascii_alphanumeric() && !"-.".contains(character));
        let host = host.filter(|host| after[*host..].starts_with('/'));
        // What is before it must not seem to be a part of the path.
        out.push_str(if host.is_some() && out.ends_with(is_name) { " " } else { "" });
        from = start + host.unwrap_or_default();
    }
    out + &text[from..]
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
        let roots = [("/home/me/app", ""), ("/home/me/app/lib", "lib")];
        let roots = roots.map(|(host, public)| (host.to_owned(), public.to_owned())).into();
        let scrubber = Scrubber::new(roots, Some(Path::new("/srv")));
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
            ("//home/me/app/a.rs, file://host/home/me/app and //home/me/apple", "a.rs, . and …/apple"),
            ("in '/home/John Doe/my app/x.rs' (E1)", "in '…/x.rs' (E1)"),
            ("in /home/John Doe/my app/x.rs: no", "in …/x.rs: no"),
            ("/opt/a (b)/c.h, then d", "…/c.h, then d"),
            ("see file://localhost/etc/ssl/key.pem", "see …/key.pem"),
            ("see file:///etc/ssl/key.pem and FROMfile://h/etc/x/y", "see …/key.pem and FROM …/y"),
            ("FILE:///etc/ssl/a.pem file://file:///etc/x/b.pem", "…/a.pem …/b.pem"),
            ("at //etc/ssl/key.pem and ///etc/ssl", "at …/key.pem and …/ssl"),
            ("HOME is /root, /root/ or /srv; not /rooted", "HOME is ~, ~/ or ~; not /rooted"),
            ("// a comment in /etc/passwd of src/b.rs", "// a comment in …/passwd of src/b.rs"),
            ("", ""),
        ] {
            assert_eq!(scrubber.clean(text), expected, "{text}");
        }
    }
}
