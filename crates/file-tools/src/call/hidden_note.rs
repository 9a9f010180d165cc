//! The note on characters in shown lines that a person does not see.

use std::fmt::{Display, Write as _};

use change_set::Workspace;
use confined_fs::WorkspacePath;
use text_file::hidden::{self, Hidden};

use super::fence::fenced;

/// Characters that are pointed out one by one; more are counted.
const MAX_NAMED: usize = 5;

/// The hidden characters in the lines of one answer.
#[derive(Clone, Debug, Default)]
pub(crate) struct HiddenNote {
    places: String,
    found: usize,
}

impl HiddenNote {
    /// Looks at a line as it is shown. `place` names it, as in `src/a.rs:12`.
    pub(crate) fn look(&mut self, place: impl Display, line: &str) {
        for Hidden { character, column } in hidden::in_line(line) {
            self.add(character, format_args!("at {place}:{column}"));
        }
    }

    /// Looks at a part of a line: its columns are not known.
    pub(crate) fn look_at_part(&mut self, place: impl Display, part: &str) {
        for Hidden { character, .. } in hidden::in_line(part) {
            self.add(character, format_args!("at {place}"));
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.found == 0
    }

    /// Adds one; `place` is as in `at 12:9`.
    pub(crate) fn add(&mut self, character: char, place: impl Display) {
        self.found += 1;
        if self.found <= MAX_NAMED {
            let comma = if self.found == 1 { "" } else { ", " };
            let _ = write!(self.places, "{comma}U+{:04X} {place}", u32::from(character));
        }
    }

    /// `(hidden characters: U+202E at 12:9, U+200B at 14:3, 2 more)`
    pub(crate) fn text(&self) -> Option<String> {
        let more = self.found.saturating_sub(MAX_NAMED);
        let more = if more == 0 { String::new() } else { format!(", {more} more") };
        (self.found > 0).then(|| format!("(hidden characters: {}{more})", self.places))
    }
}

/// Lines of the file that is truly at `real`, numbered as `read` does, for the details of an error: as they are, so that
/// they can be copied, with a note in front on what a person does not see in them.
pub(crate) fn excerpt(workspace: &Workspace, real: &WorkspacePath, lines: &str) -> String {
    let mut note = HiddenNote::default();
    for line in lines.lines() {
        match line.split_once('\t').filter(|(number, _)| number.bytes().all(|byte| byte.is_ascii_digit())) {
            Some((number, line)) => note.look(number, line),
            None => note.look_at_part("the lines below", line),
        }
    }
    note.text().map(|note| note + "\n").unwrap_or_default() + &fenced(workspace, [real], lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_places_are_named_and_the_rest_counted() {
        let mut note = HiddenNote::default();
        assert_eq!(note.text(), None);
        note.look(3, "plain");
        note.look("a.rs:12", "if admin\u{202e} {");
        note.look(14, &"\u{200b}".repeat(6));
        let places = "U+202E at a.rs:12:9, U+200B at 14:1, U+200B at 14:2, U+200B at 14:3, U+200B at 14:4";
        assert_eq!(note.text().unwrap(), format!("(hidden characters: {places}, 2 more)"));
    }
}
