//! Spellings of arguments that models bring from other tools. They are accepted and kept out of the schema.
//!
//! A tool lists its own in its [`Spec`](super::tool::Spec); the lists here are those that several tools share.

/// Another spelling of an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Alias {
    /// Each of `given` means the argument `name`.
    Names {
        /// Name that a model may send.
        given: &'static [&'static str],
        /// Name in the schema.
        name: &'static str,
    },
    /// `given: true` means `name: value`; `given: false` means the opposite truth value, or the default
    /// of `name` where the value is a word.
    Flag {
        /// Name that a model may send.
        given: &'static str,
        /// Name in the schema.
        name: &'static str,
        /// The value that a true flag means.
        value: FlagValue,
    },
    /// Accepted and without effect: it asks for what the tool does anyway.
    Ignored {
        /// Name that a model may send.
        given: &'static str,
    },
}

/// The value that a true flag means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlagValue {
    /// The truth value of a switch.
    Bool(bool),
    /// A word of an enumeration.
    Text(&'static str),
}

impl Alias {
    /// Each of `given` is another name of `name`.
    pub const fn names(name: &'static str, given: &'static [&'static str]) -> Self {
        Self::Names { given, name }
    }

    /// Whether a model means it by `sent`.
    pub(crate) fn is_given_as(&self, sent: &str) -> bool {
        match self {
            Self::Names { given, .. } => given.contains(&sent),
            Self::Flag { given, .. } | Self::Ignored { given } => *given == sent,
        }
    }

    /// The argument that it means, if any.
    pub(crate) fn name_of(&self) -> Option<&'static str> {
        match self {
            Self::Names { name, .. } | Self::Flag { name, .. } => Some(name),
            Self::Ignored { .. } => None,
        }
    }
}

/// Spellings of `path`, for every tool that has one.
pub(crate) const PATH_ALIASES: &[Alias] =
    &[Alias::names("path", &["file_path", "filePath", "filename", "file", "directory", "dir"])];

/// Spellings of what glob, grep and ls have in common.
pub(crate) const LISTING_ALIASES: &[Alias] =
    &[Alias::names("max_results", &["head_limit", "limit", "maxResults"]), Alias::names("no_ignore", &["noIgnore"])];

/// Spellings of a range of lines.
pub(crate) const LINE_ALIASES: &[Alias] =
    &[Alias::names("start_line", &["startLine"]), Alias::names("end_line", &["endLine"])];
