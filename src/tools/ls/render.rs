//! The words of `ls`'s answer: the tree, two spaces a level, and what it leaves out.

use std::fmt::Write as _;

use crate::{
    search::Tally,
    stop::StopReason,
    text::byte_size::file_size,
    workspace::{Entry, FileKind, WorkspacePath},
};

use super::{
    super::{
        Answer, AnswerBudget, CallContext,
        answer::count,
        answer_budget::Gauge,
        fitted::fitted,
        omissions::{self, with_notes},
    },
    output::{Facts, ListedEntry, Output},
    tree::{Listing, MAX_RESULTS, State, Tree},
};

/// The answer about the directory `start`.
pub(super) fn answer(cx: &CallContext, start: &WorkspacePath, tree: &Tree) -> Answer {
    fitted(cx, |room| rendered(cx, start, tree, room))
}

/// The answer with a tree that takes no more than `room`.
fn rendered(cx: &CallContext, start: &WorkspacePath, tree: &Tree, room: AnswerBudget) -> Answer {
    let gauge = room.gauge();
    let mut printer =
        Printer { listings: &tree.listings, text: format!("{start}/"), entries: Vec::new(), gauge, cut: false };
    printer.note(&tree.listings[0]);
    printer.print(&tree.listings[0], 1);
    let Printer { text, entries, cut, .. } = printer;
    let more = tree.listings.iter().map(|listing| listing.more).sum();
    let out_of_files = tree.limits_hit.directories;
    let facts = Facts {
        shown: entries.len(),
        more,
        unlisted: tree.unlisted,
        ignored: tree.listings.iter().map(|listing| listing.ignored).sum(),
        unreadable: tree.unreadable,
        out_of_files,
        truncated: cut || tree.timed_out || more + tree.unlisted + out_of_files > 0,
        timed_out: tree.timed_out,
    };
    let notes = notes(cx, tree, &facts, cut);
    let text = with_notes(text, &notes);
    Answer::text(text, &facts).data(cx, &Output { path: Some(start.to_string()), entries, facts, notes })
}

fn notes(cx: &CallContext, tree: &Tree, facts: &Facts, cut: bool) -> Vec<String> {
    let mut notes = omissions::limit_notes(&Tally::default(), &tree.limits_hit);
    if facts.timed_out {
        let (shown, next) = (facts.shown, "narrow the path, or ask for less depth");
        notes.extend(omissions::stopped_note(&cx.stop, Some(StopReason::Deadline), shown, "entry", next));
    } else if cut {
        notes.push("the text limit is reached; narrow the path, or ask for less depth".to_owned());
    } else if facts.unlisted > 0 || tree.listings[0].more > 0 {
        let unlisted = match facts.unlisted {
            0 => String::new(),
            unlisted => format!(", {} not listed", count(unlisted, "directory")),
        };
        notes.push(format!(
            "showing the first {}{unlisted}; narrow the path, or raise max_results (at most {MAX_RESULTS})",
            count(facts.shown, "entry")
        ));
    }
    if facts.ignored > 0 {
        let entries = if facts.ignored == 1 { "entry" } else { "entries" };
        notes.push(format!("({} ignored {entries} hidden; pass no_ignore)", facts.ignored));
    }
    notes
}

/// Writes the tree, two spaces a level.
struct Printer<'a> {
    listings: &'a [Listing],
    text: String,
    entries: Vec<ListedEntry>,
    gauge: Gauge,
    cut: bool,
}

impl Printer<'_> {
    fn print(&mut self, listing: &Listing, level: usize) {
        for (entry, state) in &listing.entries {
            if self.cut {
                return;
            }
            let (listed, end) = (listed_entry(entry), self.text.len());
            self.line(level);
            self.text.push_str(&line_of(entry, &listed));
            if !self.gauge.fits(&self.text) && !self.entries.is_empty() {
                self.text.truncate(end);
                self.cut = true;
                return;
            }
            self.entries.push(listed);
            match state {
                State::Leaf => {}
                State::Unlisted => self.text.push_str(" …"),
                State::Unreadable => self.text.push_str(" (unreadable)"),
                State::Listed(at) => {
                    let below = &self.listings[*at];
                    self.note(below);
                    self.print(below, level + 1);
                }
            }
        }
        if listing.more > 0 && !self.cut {
            self.line(level);
            let noun = if listing.more == 1 { "entry" } else { "entries" };
            let _ = write!(self.text, "… {} more {noun}", listing.more);
        }
    }

    fn line(&mut self, level: usize) {
        self.text.push('\n');
        self.text.extend(std::iter::repeat_n("  ", level));
    }

    /// Behind the name of a directory without entries to show.
    fn note(&mut self, listing: &Listing) {
        if listing.entries.is_empty() && listing.more == 0 {
            self.text.push_str(if listing.ignored == 0 { " (empty)" } else { " (only ignored entries)" });
        }
    }
}

fn listed_entry(entry: &Entry) -> ListedEntry {
    let kind = match entry.kind() {
        FileKind::File => "file",
        FileKind::Directory => "directory",
        FileKind::Symlink => "symlink",
        FileKind::Other => "other",
    };
    ListedEntry {
        path: entry.path().to_string(),
        kind,
        size: (entry.kind() == FileKind::File).then(|| entry.stat().ok()).flatten().map(|stat| stat.size),
        target: entry.link_target().map(|target| target.to_string()),
        protected: entry.kind() != FileKind::Directory && entry.is_secret(),
        writable: None,
    }
}

fn line_of(entry: &Entry, listed: &ListedEntry) -> String {
    let mut line = entry.path().display_name();
    match (entry.kind(), &listed.target, listed.size) {
        (FileKind::Directory, ..) => line.push('/'),
        (FileKind::Symlink, Some(target), _) => drop(write!(line, " -> {target}")),
        (FileKind::Symlink, None, _) => line.push_str(" (link to nothing in the workspace)"),
        (FileKind::File, _, Some(size)) => drop(write!(line, "\t{}", file_size(size))),
        (FileKind::File, _, None) => {}
        (FileKind::Other, ..) => line.push_str(" (special file)"),
    }
    if listed.protected {
        line.push_str(" [protected]");
    }
    line
}
