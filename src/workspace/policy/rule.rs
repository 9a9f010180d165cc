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
    Tail(&'static str),
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
    pub(super) fn matches(self, path: &Folded) -> bool {
        let name = path.file_name();
        match self {
            Self::Name(text) => name == text,
            Self::Prefix(text) => name.starts_with(text),
            Self::Suffix(text) => name.ends_with(text),
            Self::Within(text, end) => name.ends_with(end) && name.contains(text),
            Self::Around(text, end) => name.strip_prefix(text).is_some_and(|rest| rest.ends_with(end)),
            Self::Tail(text) => {
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
            Self::Name(text) | Self::Tail(text) | Self::Tree(text) | Self::Top(text) => vec![text.to_owned()],
        }
    }

    /// The first name of what it matches at the top of a root, where there is just one.
    pub(super) fn first_name(self) -> Option<&'static str> {
        match self {
            Self::Name(text) | Self::Tail(text) | Self::Tree(text) | Self::Top(text) => text.split('/').next(),
            _ => None,
        }
    }

    /// What the rule is about below a directory at `path`, where that is not all of it: `tasks.json` below
    /// `.vscode`.
    pub(super) fn rest_below(self, path: &Folded) -> Option<&'static str> {
        match self {
            Self::Tree(text) | Self::Tail(text) => {
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
            Self::Name(text) | Self::Tail(text) => write!(f, "`{text}`"),
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
