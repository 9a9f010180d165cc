//! A default rule: which paths it matches, how it is reported, and what rules out that any of a table matches.

use std::fmt;
use std::path::{Path, is_separator};

use super::Folded;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rule {
    pub(super) written: &'static str,
    pub(super) form: Form,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Name(&'static str),
    /// The last name begins with the first text, and after that holds the second and ends with the third: each may be
    /// empty, and the second and third may overlap.
    Pattern(&'static str, &'static str, &'static str),
    PathSuffix(&'static str),
    /// A name (or names) of the path, and everything below it.
    Tree(&'static str),
    /// The last name ends with the second text, somewhere below a directory with the first name.
    Below(&'static str, &'static str),
    Top(&'static str),
    /// The path is one name at the top of a root that ends so.
    TopSuffix(&'static str),
}

impl Form {
    fn parse(text: &'static str) -> Self {
        if let Some(tree) = text.strip_suffix('/') {
            return Self::Tree(tree);
        }
        if let Some(top) = text.strip_prefix('/') {
            return top.strip_prefix('*').map_or(Self::Top(top), Self::TopSuffix);
        }
        if let Some((above, end)) = text.split_once("/**/*") {
            return Self::Below(above, end);
        }
        match text.split_once('*') {
            None if text.contains('/') => Self::PathSuffix(text),
            None => Self::Name(text),
            Some((start, rest)) => {
                let (middle, end) = rest.split_once('*').unwrap_or(("", rest));
                Self::Pattern(start, middle, end)
            }
        }
    }
}

impl Rule {
    /// The rules of a text, with spaces between them, each as it is shown.
    pub(super) fn all(text: &'static str) -> impl Iterator<Item = Self> {
        text.split_ascii_whitespace().map(|written| Self { written, form: Form::parse(written) })
    }

    pub(super) fn matches(self, path: &Folded) -> bool {
        let name = path.file_name();
        match self.form {
            Form::Name(text) => name == text,
            Form::Pattern(start, middle, end) => {
                name.strip_prefix(start).is_some_and(|rest| rest.ends_with(end) && rest.contains(middle))
            }
            Form::PathSuffix(text) => {
                path.as_str().strip_suffix(text).is_some_and(|before| before.is_empty() || before.ends_with('/'))
            }
            Form::Tree(text) => is_in_tree(path, text),
            Form::Below(text, end) => name.ends_with(end) && is_in_tree(path, text),
            Form::Top(text) => path.as_str() == text,
            Form::TopSuffix(text) => name.ends_with(text) && !path.as_str().contains('/'),
        }
    }

    #[cfg(test)]
    pub(super) fn examples(self) -> Vec<String> {
        match self.form {
            Form::Pattern(start, middle, end) => {
                vec![format!("{start}{middle}{end}"), format!("{start}b{middle}b{end}")]
            }
            Form::Below(text, end) => vec![format!("{text}/a{end}"), format!("{text}/b/c{end}")],
            Form::TopSuffix(text) => vec![text.to_owned(), format!("x{text}")],
            Form::Name(text) | Form::PathSuffix(text) | Form::Tree(text) | Form::Top(text) => vec![text.to_owned()],
        }
    }

    /// The first name of what it matches at the top of a root, where there is just one.
    pub(super) fn first_name(self) -> Option<&'static str> {
        match self.form {
            Form::Name(text) | Form::PathSuffix(text) | Form::Tree(text) | Form::Top(text) => text.split('/').next(),
            _ => None,
        }
    }

    /// The part of the rule below a directory at `path`, where that is not all of it: `tasks.json` below
    /// `.vscode`.
    pub(super) fn rest_below(self, path: &Folded) -> Option<&'static str> {
        match self.form {
            Form::Tree(text) | Form::PathSuffix(text) => {
                path.tails().find_map(|tail| text.strip_prefix(tail)?.strip_prefix('/'))
            }
            _ => None,
        }
    }

    pub(super) fn covers_directory(self) -> bool {
        matches!(self.form, Form::Tree(_))
    }
}

/// Whether one of the names of a path, or some in a row, are these.
fn is_in_tree(path: &Folded, names: &str) -> bool {
    path.tails().any(|tail| tail.strip_prefix(names).is_some_and(|rest| rest.is_empty() || rest.starts_with('/')))
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`", self.written)
    }
}

/// Beginnings and ends of the names that the rules of a table match.
///
/// Rules out, for nearly all paths and without folding them, that any of them matches. Every file of a search is asked
/// about, and folding its names costs more than opening it. Errs on one side only: a path that is not ruled out here is
/// folded and compared.
#[derive(Clone, Debug)]
pub(super) struct Prefilter {
    /// By the last byte of the last name: how that name ends where a rule matches.
    ends: Vec<Vec<&'static str>>,
    begins: Vec<&'static str>,
    /// By the first byte of any name, in lower case: whether a rule is about a directory that begins so.
    trees: [bool; 256],
}

impl Prefilter {
    /// The prefilter of a table, whose texts are ASCII and not empty.
    pub(super) fn new(rules: impl Iterator<Item = Rule>) -> Self {
        let mut filter = Self { ends: vec![Vec::new(); 256], begins: Vec::new(), trees: [false; 256] };
        for rule in rules {
            let end = match rule.form {
                Form::Pattern(start, _, "") => {
                    filter.begins.push(start);
                    continue;
                }
                Form::Tree(text) => {
                    text.bytes().take(1).for_each(|first| filter.trees[usize::from(first)] = true);
                    continue;
                }
                Form::Name(text) | Form::PathSuffix(text) | Form::Top(text) | Form::TopSuffix(text) => text,
                Form::Pattern(_, _, end) | Form::Below(_, end) => end,
            };
            let end = end.rsplit('/').next().unwrap_or(end);
            if let Some(last) = end.bytes().next_back() {
                filter.ends[usize::from(last)].push(end);
            }
        }
        filter
    }

    /// Whether certainly none of the rules matches `relative`, in whatever spelling.
    pub(super) fn rules_out(&self, relative: &Path) -> bool {
        let path = relative.as_os_str().as_encoded_bytes();
        let mut start = 0;
        for (at, byte) in path.iter().enumerate() {
            if is_separator(char::from(*byte)) {
                if !self.rules_out_name(&path[start..at]) {
                    return false;
                }
                start = at + 1;
            } else if *byte == b':' || !(0x20..0x7f).contains(byte) {
                // Folding may make anything of it.
                return false;
            }
        }
        let name = &path[start..];
        let Some(last) = name.last() else { return path.is_empty() };
        let begins_so = |text: &&str| {
            name.get(..text.len()).is_some_and(|beginning| beginning.eq_ignore_ascii_case(text.as_bytes()))
        };
        if !self.rules_out_name(name) || self.begins.iter().any(begins_so) {
            return false;
        }
        let ends_so = |end: &&str| {
            let at = name.len().checked_sub(end.len());
            at.is_some_and(|at| name[at..].eq_ignore_ascii_case(end.as_bytes()))
        };
        !self.ends[usize::from(last.to_ascii_lowercase())].iter().any(ends_so)
    }

    /// Whether folding keeps the end of a name, and no rule is about a directory called like that.
    fn rules_out_name(&self, name: &[u8]) -> bool {
        let (Some(first), Some(last)) = (name.first(), name.last()) else { return false };
        !matches!(last, b'.' | b' ') && !self.trees[usize::from(first.to_ascii_lowercase())]
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{policy::fold::fold, policy::run_later, policy::secrets::secrets};

    #[test]
    fn rule_is_shown_as_it_is_written() {
        let texts = "name a/tail tree/ a/tree/ /top /*.top start* *.end *mid*.end start*.end a/**/*.end";
        let rules: Vec<Rule> = Rule::all(texts).collect();
        let expected = [
            Form::Name("name"),
            Form::PathSuffix("a/tail"),
            Form::Tree("tree"),
            Form::Tree("a/tree"),
            Form::Top("top"),
            Form::TopSuffix(".top"),
            Form::Pattern("start", "", ""),
            Form::Pattern("", "", ".end"),
            Form::Pattern("", "mid", ".end"),
            Form::Pattern("start", "", ".end"),
            Form::Below("a", ".end"),
        ];
        assert_eq!(rules.iter().map(|rule| rule.form).collect::<Vec<_>>(), expected);
        let shown: Vec<String> = rules.iter().map(|rule| rule.to_string().replace('`', "")).collect();
        assert_eq!(shown.join(" "), texts);
    }

    #[test]
    fn source_files_are_ruled_out() {
        let prefilter = Prefilter::new(secrets());
        for path in ["", "a", "src/main.rs", "Documentation/Makefile", "include/linux/key-type.h", "a/b.tar.gz"] {
            assert!(prefilter.rules_out(Path::new(path)), "{path}");
        }
    }

    #[test]
    fn names_that_may_fold_to_something_else_are_not_ruled_out() {
        let prefilter = Prefilter::new(secrets());
        for path in ["a.", "a ", "a./b", "é", "a\u{7f}b", "a\tb", "a:$DATA", ".SSH/x", "x/server.KEY", "ID_RSA"] {
            assert!(!prefilter.rules_out(Path::new(path)), "{path:?}");
        }
    }

    proptest! {
        #[test]
        fn ruled_out_path_is_matched_by_no_rule(
            parts in prop::collection::vec((0..usize::MAX, 0..7_u8, any::<bool>()), 1..5),
            secret in any::<bool>(),
        ) {
            let rules: Vec<Rule> = if secret { secrets().collect() } else { run_later::rules().collect() };
            let mut path = String::new();
            for (pick, change, separate) in parts {
                let all = rules[pick % rules.len()].examples();
                let text = &all[pick % all.len()];
                match change {
                    0 => path.push_str(&text.to_uppercase()),
                    1 => path.extend([text, "."]),
                    5 => path.extend([text, "::$DATA"]),
                    2 => path.extend(["b", text]),
                    3 => path.extend([&text[1..], "c"]),
                    4 => path.push_str("plain"),
                    _ => path.push_str(text),
                }
                if separate {
                    path.push('/');
                }
            }
            let path = Path::new(path.trim_matches('/'));
            let folded = fold(path);
            let matched = rules.iter().any(|rule| rule.matches(&folded));
            prop_assert!(!(matched && Prefilter::new(rules.iter().copied()).rules_out(path)), "{}", path.display());
        }
    }
}
