//! Spellings of arguments that models bring from other tools. They are accepted and kept out of the schema.
//!
//! A tool lists its own in its [`Spec`](super::Spec); the lists here are those that several tools share.

/// Another spelling of an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Alias {
    /// `given` means the argument `name`.
    Name {
        /// What a model may send.
        given: &'static str,
        /// What the schema calls it.
        name: &'static str,
    },
    /// `given: true` means `name: value`; `given: false` means the opposite truth value, or the default
    /// of `name` where the value is a word.
    Flag {
        /// What a model may send.
        given: &'static str,
        /// What the schema calls it.
        name: &'static str,
        /// The value that a true flag means.
        value: FlagValue,
    },
    /// Accepted and without effect: it asks for what the tool does anyway.
    Ignored {
        /// What a model may send.
        given: &'static str,
    },
}

/// The value that a true flag means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlagValue {
    /// A truth value.
    Bool(bool),
    /// A word.
    Text(&'static str),
}

impl Alias {
    /// `given` is another name of `name`.
    pub const fn name(given: &'static str, name: &'static str) -> Self {
        Self::Name { given, name }
    }

    pub(super) fn given(&self) -> &'static str {
        match self {
            Self::Name { given, .. } | Self::Flag { given, .. } | Self::Ignored { given } => given,
        }
    }

    /// The argument that it means, if any.
    pub(super) fn name_of(&self) -> Option<&'static str> {
        match self {
            Self::Name { name, .. } | Self::Flag { name, .. } => Some(name),
            Self::Ignored { .. } => None,
        }
    }
}

/// Spellings of `path`, for every tool that has one.
pub(super) const PATH_ALIASES: &[Alias] = &[
    Alias::name("file_path", "path"),
    Alias::name("filePath", "path"),
    Alias::name("filename", "path"),
    Alias::name("file", "path"),
    Alias::name("directory", "path"),
    Alias::name("dir", "path"),
];

/// Spellings of what glob, grep and ls have in common.
pub(super) const LISTING_ALIASES: &[Alias] = &[
    Alias::name("head_limit", "max_results"),
    Alias::name("limit", "max_results"),
    Alias::name("maxResults", "max_results"),
    Alias::name("noIgnore", "no_ignore"),
];

/// Spellings of a range of lines.
pub(super) const LINE_ALIASES: &[Alias] = &[Alias::name("startLine", "start_line"), Alias::name("endLine", "end_line")];
