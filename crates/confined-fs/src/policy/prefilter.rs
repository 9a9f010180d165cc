//! Rules out, for nearly all paths and without folding them, that any default rule matches.
//!
//! Every file of a search is asked about, and folding its names costs more than opening it. Errs on one side only:
//! a path that is not ruled out here is folded and compared.

use std::path::{Path, is_separator};

use super::rule::{Form, Rule};

/// Beginnings and ends of the names that the rules of a table match.
#[derive(Clone, Debug)]
pub(super) struct Prefilter {
    /// By the last byte of the last name: how that name ends where a rule matches.
    ends: Vec<Vec<&'static str>>,
    /// How the last name begins where a rule looks at that.
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
    use crate::policy::{fold::fold, run_later, secrets::secrets};

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
