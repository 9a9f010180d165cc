//! Why a PDF gives no text.

use std::fmt;

/// What is wrong, as the end of a sentence that begins with the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PdfError {
    /// The structure cannot be followed; says where it ends.
    Damaged(&'static str),
    /// Only a password opens it.
    Password,
    /// Encrypted in a way that is not supported.
    Encryption(&'static str),
    /// More work or memory than one file may cost.
    TooLarge(&'static str),
    /// The caller no longer wants it, or its time is used up.
    Stopped,
}

impl fmt::Display for PdfError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Damaged(why) => write!(f, "damaged: {why}"),
            Self::Password => f.write_str("encrypted with a password"),
            Self::Encryption(how) => write!(f, "encrypted with {how}, which is not supported"),
            Self::TooLarge(what) => write!(f, "too large: {what}"),
            Self::Stopped => f.write_str("too complex to be read within the time limit"),
        }
    }
}

impl std::error::Error for PdfError {}
