//! What a patch says about one file.

use super::PatchError;

/// Files that one patch may hold.
pub const MOST_FILES: usize = 1000;
/// Hunks that one patch may hold.
pub const MAX_HUNKS: usize = 10_000;

/// What a patch does to one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilePatch<'p> {
    /// The line of the patch where it begins, from 1.
    pub line: usize,
    /// What is done.
    pub action: FileAction<'p>,
}

/// What is done to a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileAction<'p> {
    /// The file is made.
    Add {
        /// Where.
        path: PatchPath,
        /// Its lines.
        lines: Vec<&'p str>,
        /// Whether the last of them is ended.
        final_newline: bool,
        /// Whether git's mode of it is that of a program.
        executable: bool,
    },
    /// The file is removed.
    Delete {
        /// Which.
        path: PatchPath,
        /// Its content, where the patch repeats it.
        hunks: Vec<PatchHunk<'p>>,
    },
    /// The file gets another content, another path, or both.
    Update {
        /// Which.
        path: PatchPath,
        /// Its new path.
        to: Option<PatchPath>,
        /// Empty where the file only gets another path.
        hunks: Vec<PatchHunk<'p>>,
    },
    /// Another file is made that begins as a copy of it.
    Copy {
        /// Which.
        path: PatchPath,
        /// Where the copy goes.
        to: PatchPath,
        /// What differs in the copy.
        hunks: Vec<PatchHunk<'p>>,
    },
}

/// A path as a patch has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PatchPath {
    /// What it may mean, at least one: the first is meant unless only another one is there. `a/x` of a git diff is `x`,
    /// and in a tree with a directory `a` it can be just that.
    pub choices: Vec<String>,
}

impl PatchPath {
    pub(super) fn plain(text: impl Into<String>) -> Self {
        Self { choices: vec![text.into()] }
    }

    /// The path as it is most likely meant.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.choices[0]
    }

    /// The path below `directory`, unless it is absolute.
    pub(super) fn below(&mut self, directory: &str) {
        for choice in self.choices.iter_mut().filter(|choice| !choice.starts_with(['/', '~']) && !choice.contains(':'))
        {
            *choice = format!("{}/{choice}", directory.trim_end_matches('/'));
        }
    }
}

/// One place of a file, and how it changes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PatchHunk<'p> {
    /// The line of the patch where it begins, from 1.
    pub line: usize,
    /// Lines of the file somewhere above the place, each below the one before: `@@ class A`, `@@ def f`.
    pub contexts: Vec<&'p str>,
    /// What a unified diff says behind the line numbers: usually a line above the place.
    pub heading: Option<&'p str>,
    /// The line of the file where it begins, from 1; for a hunk without old lines the line after which it goes.
    pub at: Option<usize>,
    /// The line where it begins afterwards, from 1.
    pub new_at: Option<usize>,
    /// Whether the header says that there are no old lines.
    pub is_insertion: bool,
    /// The place with its changes.
    pub lines: Vec<HunkLine<'p>>,
    /// The same lines as they were sent, each with its sign; a line that stays may have been sent without its blank.
    pub sent: Vec<&'p str>,
    /// Whether the file ends with the place.
    pub at_end: bool,
    /// What becomes of the end of the file's last line.
    pub final_newline: FinalNewline,
    /// How many of its last lines are not in the patch, which ends there: empty ones, if white space was taken off its
    /// end, or the patch was cut.
    pub assumed: usize,
    /// Whether the patch, by git, ends with it, and the line end behind its last line is missing.
    pub is_open: bool,
}

impl<'p> PatchHunk<'p> {
    /// The lines that must be there.
    #[must_use]
    pub fn old(&self) -> Vec<&'p str> {
        self.lines.iter().filter_map(|line| line.old()).collect()
    }

    /// Adds a line that was sent so.
    pub(super) fn push(&mut self, sent: &'p str) {
        self.lines.push(HunkLine::of(sent));
        self.sent.push(sent);
    }

    /// Whether a line that stays was sent without the blank in front.
    #[must_use]
    pub fn lacks_blanks(&self) -> bool {
        self.lines.iter().zip(&self.sent).any(|(line, sent)| *line == HunkLine::Kept(sent) && !sent.is_empty())
    }

    /// The lines that will be there.
    #[must_use]
    pub fn new_lines(&self) -> Vec<&'p str> {
        self.lines.iter().filter_map(|line| line.new_line()).collect()
    }
}

/// A line of a hunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HunkLine<'p> {
    /// The line stays.
    Kept(&'p str),
    /// The line is removed.
    Removed(&'p str),
    /// The line is added.
    Added(&'p str),
}

impl<'p> HunkLine<'p> {
    /// The line.
    #[must_use]
    pub fn text(self) -> &'p str {
        match self {
            Self::Kept(line) | Self::Removed(line) | Self::Added(line) => line,
        }
    }

    /// The line that was sent so; one without a sign is a whole line that stays.
    pub(super) fn of(sent: &'p str) -> Self {
        match sent.as_bytes().first() {
            Some(b' ') => Self::Kept(&sent[1..]),
            Some(b'-') => Self::Removed(&sent[1..]),
            Some(b'+') => Self::Added(&sent[1..]),
            _ => Self::Kept(sent),
        }
    }

    /// The line, where the file has it before.
    #[must_use]
    pub fn old(self) -> Option<&'p str> {
        match self {
            Self::Kept(line) | Self::Removed(line) => Some(line),
            Self::Added(_) => None,
        }
    }

    /// The line, where the file has it afterwards.
    #[must_use]
    pub fn new_line(self) -> Option<&'p str> {
        match self {
            Self::Kept(line) | Self::Added(line) => Some(line),
            Self::Removed(_) => None,
        }
    }
}

/// What becomes of the end of a file's last line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FinalNewline {
    /// It stays as it is in the file.
    #[default]
    AsInFile,
    /// There was none, and there will be one.
    Added,
    /// There was one, and there will be none.
    Removed,
}

/// The sections of a patch, with what was not used of its text.
pub(super) struct Sections<'p> {
    pub(super) files: Vec<FilePatch<'p>>,
    pub(super) notes: Vec<String>,
}

/// Counts what a patch holds.
#[derive(Default)]
pub(super) struct PatchSize {
    files: usize,
    hunks: usize,
}

impl PatchSize {
    pub(super) fn file(&mut self, line: usize) -> Result<(), PatchError> {
        self.files += 1;
        if self.files > MOST_FILES { Err(PatchError::too_many(line, MOST_FILES, "files")) } else { Ok(()) }
    }

    pub(super) fn hunk(&mut self, line: usize) -> Result<(), PatchError> {
        self.hunks += 1;
        if self.hunks > MAX_HUNKS { Err(PatchError::too_many(line, MAX_HUNKS, "hunks")) } else { Ok(()) }
    }
}
