//! A patch and the changes of each file in it; and why a text is no patch.

/// Files that one patch may hold; more are an error.
pub const MOST_FILES: usize = 1000;
/// Hunks that one patch may hold, in all of its files; more are an error.
pub const MAX_HUNKS: usize = 10_000;

/// A patch that was read.
#[derive(Clone, Debug)]
pub struct Patch<'p> {
    /// Its changes, in its order; a path may occur several times.
    pub files: Vec<FilePatch<'p>>,
    /// Names the parts of the text that were not used, or were taken for something else than they say.
    pub notes: Vec<String>,
}

/// The change of one file by a patch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilePatch<'p> {
    /// The line of the patch where it begins, from 1.
    pub line: usize,
    /// The change, with its paths and hunks.
    pub action: FileAction<'p>,
}

/// A change of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileAction<'p> {
    /// The file is made.
    Add {
        /// The path of the new file.
        path: PatchPath,
        /// Its lines without their ends.
        lines: Vec<&'p str>,
        /// Whether the last of them is ended.
        final_newline: bool,
        /// Whether git's mode of it is that of a program.
        executable: bool,
    },
    /// The file is removed.
    Delete {
        /// The file that goes.
        path: PatchPath,
        /// Its content, where the patch repeats it.
        hunks: Vec<PatchHunk<'p>>,
    },
    /// The file gets another content, another path, or both.
    Update {
        /// The file as it is called now.
        path: PatchPath,
        /// Its new path, if it gets one.
        to: Option<PatchPath>,
        /// Empty where the file only gets another path.
        hunks: Vec<PatchHunk<'p>>,
    },
    /// Another file is made that begins as a copy of it.
    Copy {
        /// The file that is copied.
        path: PatchPath,
        /// Where the copy goes.
        to: PatchPath,
        /// The differences in the copy.
        hunks: Vec<PatchHunk<'p>>,
    },
}

/// A path as a patch has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PatchPath {
    /// Its possible meanings, at least one: the first is meant unless only another one is there. `a/x` of a git diff is `x`,
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
}

/// One place of a file, and how it changes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PatchHunk<'p> {
    /// The line of the patch where it begins, from 1.
    pub line: usize,
    /// Lines of the file somewhere above the place, each below the one before: `@@ class A`, `@@ def f`.
    pub contexts: Vec<&'p str>,
    /// The text after the line numbers of a unified diff: usually a line above the place.
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
    /// Whether the end of the file's last line changes.
    pub final_newline: FinalNewline,
    /// How many of its last lines are not in the patch, which ends there: empty ones, if white space was taken off its
    /// end, or the patch was cut.
    pub assumed: usize,
    /// Whether the patch, by git, ends with it, and the line end after its last line is missing.
    pub is_open: bool,
}

impl<'p> PatchHunk<'p> {
    /// The lines that must be there.
    #[must_use]
    pub fn old(&self) -> Vec<&'p str> {
        self.lines.iter().filter_map(|line| line.old()).collect()
    }

    pub(super) fn push(&mut self, sent: &'p str) {
        self.lines.push(HunkLine::of(sent));
        self.sent.push(sent);
    }

    /// The hunk as it was read. `marked` are the lines with `\ No newline at end of file` after them.
    ///
    /// # Errors
    /// Where it has no lines.
    pub(super) fn finish(mut self, marked: &[HunkLine<'_>]) -> Result<Self, PatchError> {
        if self.lines.is_empty() {
            return Err(PatchError::at(self.line, "the hunk has no lines")
                .hint("write the lines that change, with `-` and `+` in front, after the line `@@`"));
        }
        let old = marked.iter().any(|line| line.old().is_some());
        let new = marked.iter().any(|line| line.new_line().is_some());
        self.at_end |= old || new;
        self.final_newline = match (old, new) {
            (true, false) => FinalNewline::Added,
            (false, true) => FinalNewline::Removed,
            _ => FinalNewline::AsInFile,
        };
        Ok(self)
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
    /// A line that stays.
    Kept(&'p str),
    /// A line that is removed.
    Removed(&'p str),
    /// A line that is added.
    Added(&'p str),
}

impl<'p> HunkLine<'p> {
    /// Its text without the sign.
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

/// A change at the end of a file's last line.
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

/// Why a text is no patch.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}{message}", line.map_or_else(String::new, |line| format!("line {line} of the patch: ")))]
pub struct PatchError {
    /// The line of the text, from 1; `None` where it is about all of it.
    pub line: Option<usize>,
    /// A lower-case sentence without a full stop.
    pub message: String,
    /// Advice on a text to send instead.
    pub hint: &'static str,
    /// Whether the patch is fine but too large.
    pub is_too_large: bool,
}

impl PatchError {
    pub(super) fn whole(message: impl Into<String>) -> Self {
        Self { line: None, message: message.into(), hint: "", is_too_large: false }
    }

    pub(super) fn at(line: usize, message: impl Into<String>) -> Self {
        Self { line: Some(line), ..Self::whole(message) }
    }

    /// Refuses the part of a patch at `line`, before which there are `count` of its kind.
    pub(super) fn check_count(line: usize, count: usize, most: usize, what: &str) -> Result<(), Self> {
        if count < most {
            return Ok(());
        }
        let error = Self::at(line, format!("the patch has more than {most} {what}"));
        Err(Self { is_too_large: true, ..error.hint("send it in several calls") })
    }

    #[must_use]
    pub(super) fn in_hunk(mut self, number: usize, file: &str) -> Self {
        self.message = format!("{} (hunk {number} of {file})", self.message);
        self
    }

    #[must_use]
    pub(super) fn hint(self, hint: &'static str) -> Self {
        Self { hint, ..self }
    }
}
