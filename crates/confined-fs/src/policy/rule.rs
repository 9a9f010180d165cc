//! One default rule: which paths it matches, and how it is reported.

use std::fmt;

use super::Folded;

/// One rule on a folded path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rule {
    /// As it is written in its table, and shown.
    pub(super) written: &'static str,
    pub(super) form: Form,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// The last name is exactly this.
    Name(&'static str),
    /// The last name begins with the first text, and after that holds the second and ends with the third: each may be
    /// empty, and the second and third may overlap.
    Pattern(&'static str, &'static str, &'static str),
    /// The path ends with these names.
    PathSuffix(&'static str),
    /// A name (or names) of the path, and everything below it.
    Tree(&'static str),
    /// The last name ends with the second text, somewhere below a directory with the first name.
    Below(&'static str, &'static str),
    /// The path is just this name, at the top of a root.
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

    /// Paths that it matches.
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

    /// Whether the rule is about a directory with all its content.
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

#[cfg(test)]
mod tests {
    use super::*;

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
}
