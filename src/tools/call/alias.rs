//! Spellings of arguments that models bring from other tools. They are accepted and kept out of the schema.
//!
//! A tool lists its own in its [`Spec`](super::tool::Spec); the lists here are those that several tools share.

/// Other spellings of an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Alias {
    /// Names that a model may send.
    pub given: &'static [&'static str],
    /// Name in the schema; `None` for what is accepted and without effect: it asks for what the tool does anyway.
    pub name: Option<&'static str>,
    /// The value of a flag; `None` where the value is sent with the name. `given: true` means `name: value`;
    /// `given: false` means the opposite truth value, or the default of `name` where the value is a word.
    pub flag: Option<FlagValue>,
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
        Self { given, name: Some(name), flag: None }
    }

    /// Each of `given` has no effect.
    pub const fn ignored(given: &'static [&'static str]) -> Self {
        Self { given, name: None, flag: None }
    }

    /// Each of `given` is a flag for a value of `name`.
    pub const fn flags(name: &'static str, value: FlagValue, given: &'static [&'static str]) -> Self {
        Self { given, name: Some(name), flag: Some(value) }
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
