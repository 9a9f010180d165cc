//! What is asked of a server, and what is answered.

use source_outline::problems::Problem;

use confined_fs::WorkspacePath;

/// Bytes of the largest text that is sent.
pub(super) const LARGEST_TEXT: usize = 1 << 20;

/// A change of one file that was made.
#[derive(Clone, Copy, Debug)]
pub struct FileChange<'c> {
    /// The file, by its real path.
    pub path: &'c WorkspacePath,
    /// Its text before; `None` where there was no file.
    pub before: Option<&'c str>,
    /// Its text now.
    pub after: &'c str,
}

/// What the server for a file says of a change.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Checked {
    /// The problems in the file that the change introduced, the worst first.
    pub problems: Vec<Problem>,
    /// Errors that it introduced in other files.
    pub elsewhere: Vec<(WorkspacePath, Problem)>,
    /// Why there may be more: a sentence.
    pub note: Option<String>,
}
