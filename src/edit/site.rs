//! A place of whole lines in the file.

use super::{LineEdit, Prepared};

/// A place of whole lines.
#[derive(Clone, Copy)]
pub(super) struct Site {
    /// Index of the first line.
    pub(super) line: usize,
    /// Whether `old` starts after the indentation of that line.
    pub(super) after_indent: bool,
}

impl Site {
    /// The file's lines here, the first one without its indentation where the site starts after it.
    pub(super) fn file_lines<'a>(self, prepared: &Prepared<'a>, edit: &LineEdit<'_>) -> Vec<&'a str> {
        let mut file: Vec<&str> = (self.line..self.line + edit.old.len()).map(|line| prepared.line(line)).collect();
        if self.after_indent {
            file[0] = file[0].trim_start_matches([' ', '\t']);
        }
        file
    }
}
