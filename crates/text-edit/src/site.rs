//! A place of whole lines in the file.

use super::{LineEdit, Prepared};

/// Where the old lines of an edit may be.
#[derive(Clone, Copy)]
pub(super) struct Site<'s, 'a> {
    pub(super) prepared: &'s Prepared<'a>,
    pub(super) edit: &'s LineEdit<'s>,
    /// Index of the first line.
    pub(super) line: usize,
    /// Whether `old` starts after the indentation of that line.
    pub(super) after_indent: bool,
}

impl<'a> Site<'_, 'a> {
    /// Offset at which the first line starts.
    pub(super) fn start(self) -> usize {
        self.prepared.lines()[self.line].start
    }

    /// The file's lines here, the first one without its indentation where the site starts after it.
    pub(super) fn file_lines(self) -> Vec<&'a str> {
        let lines = self.line..self.line + self.edit.old.len();
        let mut file: Vec<&str> = lines.map(|line| self.prepared.line(line)).collect();
        if self.after_indent {
            file[0] = file[0].trim_start_matches([' ', '\t']);
        }
        file
    }
}
