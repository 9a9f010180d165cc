//! What a wait knows from its first poll on.

use std::{
    collections::{BTreeMap, VecDeque},
    fmt::Write as _,
    ops::ControlFlow,
    time::Instant,
};

use confined_fs::walk::{Ignored, WalkOptions};
use confined_fs::{AccessError, AccessErrorKind, FileKind, OpenFile, RootGone, Stat, WorkspacePath, watch::PathWatch};
use text_file::file_size;
use tree_search::Pattern;

use super::{
    super::{AnswerBudget, CallContext, ToolError, hidden_note::HiddenNote},
    file_tail::FileTail,
    request::{NewFrom, Until, WaitRequest},
};

pub(super) struct PendingWait {
    pub(super) request: WaitRequest,
    pub(super) until: Until,
    pub(super) before: Entry,
    pub(super) tail: FileTail,
    pub(super) is_text: bool,
    pub(super) new: NewLines,
    pub(super) matched: Option<usize>,
    pub(super) was_there: bool,
    pub(super) ends_at: Option<usize>,
    /// Changes of the names in a directory, a line for each, and how many entries it has.
    pub(super) names: Vec<String>,
    pub(super) entries: Option<usize>,
    /// The length of the unfinished last line at the last poll, since when it has that, and whether it was compared with
    /// the pattern.
    pub(super) unfinished: (u64, Instant, bool),
    pub(super) notes: Vec<String>,
    pub(super) watch: Option<PathWatch>,
}

/// The entry at the path of a wait, under the rules of `read`. Special files are never opened.
#[derive(Debug)]
pub(super) enum Entry {
    Missing,
    File(Stat),
    Directory(DirectoryNames),
    Special(Stat),
}

impl Entry {
    /// What is at the path now, with the opened file; `until` as far as it is known. `None` where it changed meanwhile.
    ///
    /// # Errors
    /// Those of the path, as `read` has them; a missing one is no error.
    pub(super) fn observe(
        cx: &CallContext,
        request: &WaitRequest,
        until: Option<Until>,
    ) -> Result<Option<(Self, Option<OpenFile>)>, ToolError> {
        let path = &request.path;
        let observed = cx.workspace.check_readable(path).and_then(|()| {
            if until == Some(Until::Gone) {
                return Ok(Some((Self::Special(cx.workspace.stat(path)?), None)));
            }
            match cx.workspace.open_file(path) {
                Ok(file) => Ok(Some((Self::File(file.stat().clone()), Some(file)))),
                Err(error) if matches!(error.kind, AccessErrorKind::IsDirectory) => {
                    Ok(Some((Self::Directory(DirectoryNames::of(cx, path)?), None)))
                }
                Err(error) if matches!(error.kind, AccessErrorKind::Special(_)) => {
                    let stat = cx.workspace.stat(path)?;
                    // Otherwise another kind of entry took its place between the two system calls.
                    Ok((stat.kind == FileKind::Other).then_some((Self::Special(stat), None)))
                }
                Err(error) => Err(error),
            }
        });
        observed.or_else(|error| match error.kind {
            AccessErrorKind::NotFound | AccessErrorKind::RootGone(RootGone::NotYet | RootGone::NoDirectory) => {
                Ok(Some((Self::Missing, None)))
            }
            AccessErrorKind::Changed | AccessErrorKind::InUse => Ok(None),
            _ => Err(error.into()),
        })
    }

    /// Refuses arguments that do not go with what is there.
    ///
    /// # Errors
    /// `invalid_input`.
    pub(super) fn check(&self, request: &WaitRequest, until: Until) -> Result<(), ToolError> {
        let path = &request.path;
        let (why, hint) = match self {
            Self::Directory(_) if request.new_from != NewFrom::Now => (
                format!("`offset` and `since` are about lines, and {path} is a directory"),
                "leave them out to wait for new names in it",
            ),
            Self::Special(stat) if until == Until::Line => (
                format!("{path} is a {}, and has no lines to wait for", stat.special()),
                "only regular files and directories have lines or names; until=changes or until=gone work",
            ),
            _ => return Ok(()),
        };
        Err(ToolError::invalid(why).hint(hint))
    }
}

const MAX_NAMES: usize = 10_000;

/// The entries of a directory at one moment: its own, not those below them, and at most [`MAX_NAMES`].
#[derive(Clone, Debug, Default)]
pub(super) struct DirectoryNames {
    entries: BTreeMap<WorkspacePath, NamedEntry>,
    pub(super) more: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct NamedEntry {
    is_directory: bool,
    size: u64,
    state: u64,
}

impl DirectoryNames {
    /// The entries of the directory at `path` that policy shows.
    pub(super) fn of(cx: &CallContext, path: &WorkspacePath) -> Result<Self, AccessError> {
        let options = WalkOptions { ignored: Ignored::Include, max_depth: Some(1), directories: true, symlinks: true };
        let mut names = Self::default();
        cx.workspace.walk(path, &options, &mut |entry| {
            if names.entries.len() == MAX_NAMES || cx.stop.stopped().is_some() {
                names.more = true;
                return ControlFlow::Break(());
            }
            let is_directory = entry.kind() == FileKind::Directory;
            let (size, state) = entry.stat().map_or((0, 0), |stat| (stat.size, stat.fingerprint()));
            names.entries.insert(entry.into_path(), NamedEntry { is_directory, size, state });
            ControlFlow::Continue(())
        })?;
        Ok(names)
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// The differences of `now`, a line for each name. With a pattern, only names that came or changed and match it
    /// count; the others are shown if one does.
    pub(super) fn changes(&self, now: &Self, pattern: Option<&Pattern>) -> Vec<String> {
        let line = |word: &str, path: &WorkspacePath, entry: &NamedEntry| {
            let what = if entry.is_directory { "/".to_owned() } else { format!(" ({})", file_size(entry.size)) };
            format!("{word}: {path}{what}\n")
        };
        let mut is_met = pattern.is_none();
        let mut lines = Vec::new();
        for (path, entry) in &now.entries {
            let word = match self.entries.get(path) {
                None => "new",
                Some(before) if before != entry => "changed",
                Some(_) => continue,
            };
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            is_met = is_met || pattern.is_none_or(|pattern| pattern.is_in_line(name.as_bytes()));
            lines.push(line(word, path, entry));
        }
        // Beyond the names that are compared nothing is known to be gone.
        if !now.more {
            let gone = self.entries.iter().filter(|(path, _)| !now.entries.contains_key(*path));
            lines.extend(gone.map(|(path, _)| format!("gone: {path}\n")));
        }
        if is_met { lines } else { Vec::new() }
    }
}

const LINE_CHARS: usize = 2000;

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
    pub(super) count: usize,
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

    pub(super) fn text(&self) -> String {
        self.shown.iter().map(|(_, text)| text.as_str()).collect()
    }

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
