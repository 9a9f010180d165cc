//! Why a new content with sentinels for masked values is refused.

use std::fmt;

use structured_text::mask::MaskedText;

/// What is wrong with a sentinel in a new content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PlaceholderError {
    /// The file has no value with this sentinel.
    Unknown(String),
    /// It is not a whole value, or in another kind of place than its value.
    Misplaced(String),
    /// The file could grow beyond the largest that is masked.
    TooManyValues,
    /// It is in a file that is not masked.
    Elsewhere(String),
    /// The new content is no file of its format, or cannot be masked with certainty.
    Unmaskable,
}

impl PlaceholderError {
    /// What is wrong with the new content of the file at `path`.
    pub(super) fn sentence(&self, path: &impl fmt::Display, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown(name) => write!(f, "`<secret:{name}>` is not the mask of a value in {path}"),
            Self::Misplaced(name) => {
                write!(
                    f,
                    "`<secret:{name}>` must be a whole value of {path}, and is only a part of one, a name or in another kind of place"
                )
            }
            Self::Elsewhere(name) => {
                write!(f, "`<secret:{name}>` is the mask of a secret value, and would be written into {path} as text")
            }
            Self::TooManyValues => {
                let (values, total) = (MaskedText::LARGEST_VALUE >> 10, MaskedText::LARGEST >> 20);
                write!(
                    f,
                    "{path} would have too many masked values: each counts as {values} KiB of at most {total} MiB"
                )
            }
            Self::Unmaskable => write!(f, "{path} could no longer be shown with its values masked after this change"),
        }
    }

    /// What a caller can do about it.
    pub fn next_step(&self) -> &'static str {
        match self {
            Self::Unknown(_) => {
                "nothing was written; repeat a sentinel exactly as read shows it in this file, or write a new value"
            }
            Self::Misplaced(_) => {
                "nothing was written; write it as read shows it, with nothing else in the value, as in KEY=<secret:KEY>, and a \
                 comment's only in a comment"
            }
            Self::Elsewhere(_) => {
                "nothing was written; a value cannot be copied into another file: let the program read it from there"
            }
            Self::TooManyValues => {
                "nothing was written; leave out comments and values that nothing needs, or ask the user"
            }
            Self::Unmaskable => {
                "nothing was written; check the syntax of the new text: quotes, brackets and indentation"
            }
        }
    }
}
