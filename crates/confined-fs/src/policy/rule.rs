//! One default rule: which paths it matches, and how it is reported.

use std::fmt;

use super::Folded;

/// One rule on a folded path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rule {
    /// The last name is exactly this.
    Name(&'static str),
    /// The last name begins so.
    Prefix(&'static str),
    /// The last name ends so.
    Suffix(&'static str),
    /// The last name holds the first text and ends with the second.
    Within(&'static str, &'static str),
    /// The last name begins with the first text and ends with the second.
    Around(&'static str, &'static str),
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

impl Rule {
    /// The rules of a text, with spaces between them, each as it is shown.
    pub(super) fn all(text: &'static str) -> impl Iterator<Item = Self> {
        text.split_ascii_whitespace().map(Self::parse)
    }

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
            Some(("", rest)) => rest.split_once('*').map_or(Self::Suffix(rest), |(text, end)| Self::Within(text, end)),
            Some((start, "")) => Self::Prefix(start),
            Some((start, end)) => Self::Around(start, end),
        }
    }

    pub(super) fn matches(self, path: &Folded) -> bool {
        let name = path.file_name();
        match self {
            Self::Name(text) => name == text,
            Self::Prefix(text) => name.starts_with(text),
            Self::Suffix(text) => name.ends_with(text),
            Self::Within(text, end) => name.ends_with(end) && name.contains(text),
            Self::Around(text, end) => name.strip_prefix(text).is_some_and(|rest| rest.ends_with(end)),
            Self::PathSuffix(text) => {
                path.as_str().strip_suffix(text).is_some_and(|before| before.is_empty() || before.ends_with('/'))
            }
            Self::Tree(text) => path
                .tails()
                .any(|tail| tail.strip_prefix(text).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))),
            Self::Below(text, end) => name.ends_with(end) && Self::Tree(text).matches(path),
            Self::Top(text) => path.as_str() == text,
            Self::TopSuffix(text) => name.ends_with(text) && !path.as_str().contains('/'),
        }
    }

    /// Paths that it matches.
    #[cfg(test)]
    pub(super) fn examples(self) -> Vec<String> {
        match self {
            Self::Within(text, end) | Self::Around(text, end) => vec![format!("{text}{end}"), format!("{text}b{end}")],
            Self::Below(text, end) => vec![format!("{text}/a{end}"), format!("{text}/b/c{end}")],
            Self::Prefix(text) => vec![text.to_owned(), format!("{text}x")],
            Self::Suffix(text) | Self::TopSuffix(text) => vec![text.to_owned(), format!("x{text}")],
            Self::Name(text) | Self::PathSuffix(text) | Self::Tree(text) | Self::Top(text) => vec![text.to_owned()],
        }
    }

    /// The first name of what it matches at the top of a root, where there is just one.
    pub(super) fn first_name(self) -> Option<&'static str> {
        match self {
            Self::Name(text) | Self::PathSuffix(text) | Self::Tree(text) | Self::Top(text) => text.split('/').next(),
            _ => None,
        }
    }

    /// What the rule is about below a directory at `path`, where that is not all of it: `tasks.json` below
    /// `.vscode`.
    pub(super) fn rest_below(self, path: &Folded) -> Option<&'static str> {
        match self {
            Self::Tree(text) | Self::PathSuffix(text) => {
                path.tails().find_map(|tail| text.strip_prefix(tail)?.strip_prefix('/'))
            }
            _ => None,
        }
    }

    /// Whether the rule is about a directory with all its content.
    pub(super) fn covers_directory(self) -> bool {
        matches!(self, Self::Tree(_))
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(text) | Self::PathSuffix(text) => write!(f, "`{text}`"),
            Self::Prefix(text) => write!(f, "`{text}*`"),
            Self::Suffix(text) => write!(f, "`*{text}`"),
            Self::Within(text, end) => write!(f, "`*{text}*{end}`"),
            Self::Around(text, end) => write!(f, "`{text}*{end}`"),
            Self::Tree(text) => write!(f, "`{text}/`"),
            Self::Below(text, end) => write!(f, "`{text}/**/*{end}`"),
            Self::Top(text) => write!(f, "`/{text}`"),
            Self::TopSuffix(text) => write!(f, "`/*{text}`"),
        }
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
            Rule::Name("name"),
            Rule::PathSuffix("a/tail"),
            Rule::Tree("tree"),
            Rule::Tree("a/tree"),
            Rule::Top("top"),
            Rule::TopSuffix(".top"),
            Rule::Prefix("start"),
            Rule::Suffix(".end"),
            Rule::Within("mid", ".end"),
            Rule::Around("start", ".end"),
            Rule::Below("a", ".end"),
        ];
        assert_eq!(rules, expected);
        let shown: Vec<String> = rules.iter().map(|rule| rule.to_string().replace('`', "")).collect();
        assert_eq!(shown.join(" "), texts);
    }
}
