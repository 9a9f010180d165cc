//! Why a stored index is not used.

use std::{fmt, io};

use confined_fs::IdentityError;

/// Why a stored index is not used, for people.
#[derive(Debug)]
pub enum Unusable {
    /// Nothing is kept of this root.
    Root(IdentityError),
    /// There is none.
    Missing,
    /// The file or its folder cannot be opened, or others may write to it.
    Refused(io::Error),
    /// It was cut off or changed.
    Damaged,
    /// Another version of the program wrote it.
    OtherVersion,
    /// It is about another directory than the one that is there now, or one on another file system.
    OtherDirectory,
    /// The rules about content are others now.
    OtherRules,
    /// By the clock it was written in the future, or the clock was set back since.
    Clock,
    /// It has more bytes than all may have together.
    TooLarge,
}

impl fmt::Display for Unusable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self {
            Self::Root(why) => return why.fmt(f),
            Self::Refused(error) => return write!(f, "it cannot be used: {error}"),
            Self::Missing => "nothing is stored",
            Self::Damaged => "it is damaged",
            Self::OtherVersion => "another version of rootbound wrote it",
            Self::OtherDirectory => "the directory has been replaced, or its file system has changed",
            Self::OtherRules => "the rules about secret content have changed",
            Self::Clock => "the clock was set back after it was written",
            Self::TooLarge => "it is larger than --index-size allows",
        };
        f.write_str(text)
    }
}
