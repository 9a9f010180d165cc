//! The new lines of a file that an answer shows.

use std::{collections::VecDeque, fmt::Write as _};

use super::super::{AnswerBudget, hidden_note::HiddenNote};

/// Characters of a line that are shown.
const LINE_CHARS: usize = 2000;

/// Which lines are kept where there is no room for all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum KeepLines {
    /// Those at the beginning; the wait ends when there is no more room, and the next one continues after them.
    First,
    /// Those at the end, before the line that was waited for.
    Last,
}

/// The new lines that an answer shows, with their numbers: the first ones or the last ones, as far as there is room.
#[derive(Clone, Debug)]
pub(super) struct NewLines {
    room: AnswerBudget,
    keep: KeepLines,
    shown: VecDeque<(usize, String)>,
    cost: usize,
    /// New lines, with those that are not shown.
    pub(super) count: usize,
    /// The number of the first new line.
    first: usize,
}

impl NewLines {
    pub(super) fn new(room: AnswerBudget, keep: KeepLines) -> Self {
        Self { room, keep, shown: VecDeque::new(), cost: 0, count: 0, first: 0 }
    }

    /// Adds a line. False where there is no room for it, and it was not added.
    pub(super) fn push(&mut self, number: usize, line: &str, is_cut: bool) -> bool {
        let text = shown_line(number, line, is_cut);
        let cost = self.room.cost(&text);
        // One line is shown in any case; the last guard of the answer's size cuts it.
        if self.keep == KeepLines::First && self.cost + cost > self.room.limit && !self.shown.is_empty() {
            return false;
        }
        if self.count == 0 {
            self.first = number;
        }
        self.count += 1;
        self.cost += cost;
        self.shown.push_back((number, text));
        while self.cost > self.room.limit && self.shown.len() > 1 {
            let left_out = self.shown.pop_front();
            self.cost -= left_out.map_or(0, |(_, text)| self.room.cost(&text));
        }
        true
    }

    /// The lines as `read` numbers them.
    pub(super) fn text(&self) -> String {
        self.shown.iter().map(|(_, text)| text.as_str()).collect()
    }

    /// The note on lines before those that are shown, if there are any.
    pub(super) fn left_out(&self) -> Option<String> {
        let (first, _) = self.shown.front()?;
        let more = self.count - self.shown.len();
        (more > 0).then(|| {
            format!(
                "({more} new lines before line {first} are not shown; read shows them with offset={})",
                self.first - 1
            )
        })
    }

    /// The note on characters that a person does not see.
    pub(super) fn hidden(&self) -> Option<String> {
        let mut note = HiddenNote::default();
        for (number, text) in self.shown.iter().filter(|(_, text)| !text.is_ascii()) {
            note.look(number, text.split_once('\t').map_or("", |(_, line)| line).trim_end_matches('\n'));
        }
        note.text()
    }
}

fn shown_line(number: usize, line: &str, is_cut: bool) -> String {
    let cut = line.char_indices().nth(LINE_CHARS).map(|(at, _)| at);
    let mut text = format!("{number}\t{}", &line[..cut.unwrap_or(line.len())]);
    if cut.is_some() || is_cut {
        let least = if is_cut { "more than " } else { "" };
        let _ = write!(text, "… [line of {least}{} characters, cut; read shows the rest]", line.chars().count());
    }
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_or_last_lines_are_kept() {
        let mut first = NewLines::new(AnswerBudget::bytes(8), KeepLines::First);
        let mut last = NewLines::new(AnswerBudget::bytes(8), KeepLines::Last);
        assert_eq!([5, 6, 7].map(|number| first.push(number, "a", false)), [true, true, false]);
        assert_eq!([5, 6, 7].map(|number| last.push(number, "a", false)), [true; 3]);
        assert_eq!((first.text(), first.left_out()), ("5\ta\n6\ta\n".to_owned(), None));
        assert_eq!(last.text(), "6\ta\n7\ta\n");
        assert_eq!(
            last.left_out().unwrap(),
            "(1 new lines before line 6 are not shown; read shows them with offset=4)"
        );
    }

    #[test]
    fn long_line_is_cut_and_counted() {
        let text = shown_line(3, &"é".repeat(5000), false);
        assert!(text.starts_with("3\té") && text.ends_with("é… [line of 5000 characters, cut; read shows the rest]\n"));
    }
}
