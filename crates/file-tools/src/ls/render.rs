//! The words of `ls`'s answer: the tree, two spaces a level, and what it leaves out; and the listing as data.

use std::{fmt::Write as _, time::UNIX_EPOCH};

use confined_fs::{FileKind, Root, Stat, WorkspacePath, stop::StopReason, walk::Entry};
use schemars::JsonSchema;
use serde::Serialize;
use serde_with::skip_serializing_none;
use text_file::file_size;
use tree_search::Tally;

use super::{
    super::{
        Answer, AnswerBudget, CallContext,
        answer::{count, fitted, utc},
        answer_budget::Gauge,
        fence::fence,
        omissions::{self, is_zero, with_notes},
    },
    tree::{Counted, Item, ListRequest, Listing, MAX_COUNTED, MAX_NAMED, MAX_RESULTS, State, Total, Tree},
};

impl Tree {
    pub(super) fn answer(&self, cx: &CallContext, request: &ListRequest) -> Answer {
        // A link may lead into an untrusted root.
        let is_untrusted = |path: &WorkspacePath| cx.workspace.is_untrusted(path);
        let is_untrusted = cx.workspace.canonical(&self.start).is_ok_and(|real| is_untrusted(&real))
            || self.listings.iter().flat_map(|listing| &listing.items).any(|item| is_untrusted(item.entry.path()));
        fitted(cx, |room| self.rendered(cx, request, is_untrusted, room))
    }

    /// The answer with a tree that takes no more than `room`; `is_untrusted` where it has names of an untrusted root.
    fn rendered(&self, cx: &CallContext, request: &ListRequest, is_untrusted: bool, room: AnswerBudget) -> Answer {
        let (top, totals) = (&self.listings[0], self.totals.as_ref());
        let Printer { text: body, entries, top: top_shown, .. } = Printer::print(room, self);
        let cut = top_shown < top.items.len();
        let below: usize = self.listings.iter().skip(1).map(|listing| listing.more).sum();
        let top_more = top.more + top.items.len() - top_shown;
        let of_kind = |kind: &str| entries.iter().filter(|entry| entry.kind == kind).count();
        let out_of_files = self.limits_hit.directories;
        let facts = ListingFacts {
            shown: entries.len(),
            files: of_kind("file"),
            directories: of_kind("directory"),
            bytes: entries.iter().filter_map(|entry| entry.size).sum(),
            next_offset: (top_more > 0 && top_shown > 0).then_some(request.offset + top_shown),
            total: totals.and_then(|totals| totals.of(&self.start)).copied(),
            file: None,
            more: top_more + below,
            unlisted: self.unlisted,
            ignored: self.listings.iter().map(|listing| listing.ignored).sum(),
            unreadable: self.unreadable,
            // A walk to the bottom meets those that are shown, too.
            worktrees: totals.map_or(0, |totals| totals.worktrees).max(self.worktrees),
            out_of_files,
            truncated: cut || self.timed_out || top.more + below + self.unlisted + out_of_files > 0,
            checkout: if self.start.is_root() { checkout(cx, self.start.root()) } else { None },
            timed_out: self.timed_out,
        };
        let notes = self.notes(cx, request, &facts, top_shown);
        let mut text = format!("{}/", self.start);
        if let Some(checkout) = &facts.checkout {
            let _ = write!(text, " ({checkout})");
        }
        if let Some(total) = &facts.total {
            let _ = write!(text, "\ttotal, {}", total.text());
        }
        text.push_str(&nothing_in(top, request.offset));
        if is_untrusted && !body.is_empty() {
            text.push('\n');
            text.push_str(&fence(&body));
        } else {
            text.push_str(&body);
        }
        let text = with_notes(text, &notes);
        Answer::text(text, &facts).data(cx, &Output { path: Some(self.start.to_string()), entries, facts, notes })
    }

    /// `: target/, notes.tmp`, where they are few and all of them are known.
    fn ignored_names(&self, cx: &CallContext, ignored: usize) -> Option<String> {
        let entries: Vec<&Entry> = self.listings.iter().flat_map(|listing| &listing.ignored_entries).collect();
        // Notes are outside the fence, and names in an untrusted root are not the server's words.
        if ignored > MAX_NAMED || entries.len() != ignored || cx.workspace.is_untrusted(&self.start) {
            return None;
        }
        let name = |entry: &&Entry| {
            let slash = if entry.kind() == FileKind::Directory { "/" } else { "" };
            format!("{}{slash}", entry.path())
        };
        Some(format!(": {}", entries.iter().map(name).collect::<Vec<_>>().join(", ")))
    }

    fn notes(&self, cx: &CallContext, request: &ListRequest, facts: &ListingFacts, top_shown: usize) -> Vec<String> {
        let mut notes = omissions::limit_notes(&Tally::default(), &self.limits_hit);
        if facts.timed_out {
            let (shown, next) = (facts.shown, "narrow the path, or ask for less depth");
            notes.extend(omissions::stopped_note(&cx.stop, Some(StopReason::Deadline), shown, "entry", next));
        } else if let Some(next) = facts.next_offset {
            let all = request.offset + self.listings[0].items.len() + self.listings[0].more;
            let (first, last) = (request.offset + 1, request.offset + top_shown);
            notes.push(format!("showing {first}-{last} of {}; continue with offset={next}", count(all, "entry")));
        }
        if facts.unlisted > 0 && !facts.timed_out {
            notes.push(format!(
                "{} not listed, because {} are shown; narrow the path, or raise max_results (at most {MAX_RESULTS})",
                count(facts.unlisted, "directory"),
                count(facts.shown, "entry")
            ));
        }
        if self.totals.as_ref().is_some_and(|totals| totals.stopped) {
            notes.push("the time limit for exact totals was reached; narrow the path for the rest".to_owned());
        }
        let (ignored, what) =
            self.totals.as_ref().map_or((facts.ignored, "hidden"), |totals| (totals.ignored, "not counted"));
        if ignored > 0 {
            let entries = if ignored == 1 { "entry" } else { "entries" };
            let named = self.ignored_names(cx, ignored).unwrap_or_default();
            notes.push(format!("({ignored} ignored {entries} {what}{named}; pass no_ignore)"));
        }
        notes.extend(omissions::worktrees_note(facts.worktrees, "listed"));
        notes.extend((facts.unreadable > 0).then(|| format!("({} unreadable)", count(facts.unreadable, "directory"))));
        if notes.is_empty() && facts.more == 0 && facts.shown > 0 {
            notes.push(self.nothing_left_out(request, facts));
        }
        notes.extend(request.over_maximum.iter().cloned());
        notes
    }

    /// `(nothing left out to depth 2)`, where there is more below that.
    fn nothing_left_out(&self, request: &ListRequest, facts: &ListingFacts) -> String {
        let is_unopened = |item: &Item| match item.state {
            State::Counted(Counted { entries, ignored }) => entries + ignored > 0,
            State::Leaf => item.entry.kind() == FileKind::Directory,
            _ => false,
        };
        let has_more_below = self.listings.iter().flat_map(|listing| &listing.items).any(is_unopened);
        // Which no listing shows.
        let git = if facts.checkout.is_some() { " but .git" } else { "" };
        let depth = if has_more_below { format!(" to depth {}", request.depth) } else { String::new() };
        let from = if request.offset > 0 { format!(" after entry {}", request.offset) } else { String::new() };
        format!("(nothing{git} left out{depth}{from})")
    }
}

/// The checkout of a root as text; nothing of an untrusted one, where names of branches are the words of others.
pub(super) fn checkout(cx: &CallContext, root: &Root) -> Option<String> {
    cx.workspace.checkout(root).filter(|_| !root.is_untrusted())
}

fn nothing_in(listing: &Listing, offset: usize) -> String {
    match listing {
        Listing { items, .. } if !items.is_empty() => String::new(),
        _ if offset > 0 => format!(" (offset={offset} is past the last entry)"),
        Listing { more: 1.., .. } => String::new(),
        Listing { ignored: 0, .. } => " (empty)".to_owned(),
        _ => " (only ignored entries)".to_owned(),
    }
}

/// Writes the tree, two spaces a level, an entry of the start with all below it or not at all.
struct Printer<'a> {
    tree: &'a Tree,
    budget: AnswerBudget,
    gauge: Gauge,
    text: String,
    entries: Vec<ListedEntry>,
    top: usize,
}

impl<'a> Printer<'a> {
    fn print(budget: AnswerBudget, tree: &'a Tree) -> Self {
        let (text, entries) = (String::new(), Vec::new());
        let mut this = Printer { tree, budget, gauge: budget.gauge(), text, entries, top: 0 };
        for item in &tree.listings[0].items {
            let start = (this.text.len(), this.entries.len());
            if !this.item(item, 1, true) {
                this.back_to(start);
                // The first one is shown in any case: a page must have something.
                if this.top > 0 {
                    break;
                }
                this.item(item, 1, false);
            }
            this.top += 1;
        }
        this
    }

    fn back_to(&mut self, (text, entries): (usize, usize)) {
        self.text.truncate(text);
        self.entries.truncate(entries);
        // A gauge follows one text that grows: what was measured is gone.
        self.gauge = self.budget.gauge();
    }

    /// Prints an entry, with what is below it where that was listed; whether all of it fits.
    fn item(&mut self, item: &Item, level: usize, opened: bool) -> bool {
        let mut listed = self.listed_entry(item);
        self.line(level);
        self.text.push_str(&name_of(item, &listed));
        let mut below = None;
        match item.state {
            State::Counted(counted) => {
                listed.entries = Some(counted.entries);
                // A total has them.
                if counted.entries == 0 || listed.total.is_none() {
                    self.text.push_str(&counted_text(counted));
                }
            }
            State::Unreadable => self.text.push_str(" (unreadable)"),
            State::Worktree => self.text.push_str(" (worktree)"),
            State::Leaf if item.entry.kind() == FileKind::Directory => self.text.push_str(" …"),
            State::Leaf => {}
            State::Listed(at) if opened => {
                below = Some(&self.tree.listings[at]);
                self.text.push_str(&nothing_in(&self.tree.listings[at], 0));
            }
            State::Listed(at) => {
                let Listing { items, more, ignored, .. } = &self.tree.listings[at];
                let entries = items.len() + more;
                listed.entries = Some(entries);
                self.text.push_str(&counted_text(Counted { entries, ignored: *ignored }));
            }
        }
        self.columns(item, &listed);
        // A directory has no content that policy could hide.
        listed.protected = item.entry.kind() != FileKind::Directory && item.entry.is_secret();
        self.text.push_str(mark(listed.protected));
        self.entries.push(listed);
        if !self.gauge.fits(&self.text) {
            return false;
        }
        let Some(below) = below else { return true };
        if !below.items.iter().all(|item| self.item(item, level + 1, true)) {
            return false;
        }
        if below.more > 0 {
            self.line(level + 1);
            let noun = if below.more == 1 { "entry" } else { "entries" };
            let (path, shown) = (item.entry.path(), below.items.len());
            let _ = write!(self.text, "… {} more {noun} (path={path} offset={shown})", below.more);
        }
        self.gauge.fits(&self.text)
    }

    fn line(&mut self, level: usize) {
        self.text.push('\n');
        self.text.extend(std::iter::repeat_n("  ", level));
    }

    /// Sizes; and in a long listing totals, times and modes, each after a tab.
    fn columns(&mut self, item: &Item, listed: &ListedEntry) {
        if self.tree.totals.is_none() {
            if let Some(size) = listed.size {
                let _ = write!(self.text, "\t{}", file_size(size));
            }
            return;
        }
        if let Some(size) = listed.size {
            let _ = write!(self.text, "\t{size} B");
        }
        if let Some(total) =
            listed.total.filter(|total| *total != Total::default() && !matches!(item.state, State::Unreadable))
        {
            let _ = write!(self.text, "\t{}", total.text());
        }
        for column in [&listed.modified, &listed.mode].into_iter().flatten() {
            let _ = write!(self.text, "\t{column}");
        }
    }

    fn listed_entry(&self, item: &Item) -> ListedEntry {
        let Item { entry, stat, .. } = item;
        let long_stat = stat.as_ref().filter(|_| self.tree.totals.is_some());
        let is_file = entry.kind() == FileKind::File;
        ListedEntry {
            path: entry.path().to_string(),
            kind: match entry.kind() {
                FileKind::File => "file",
                FileKind::Directory => "directory",
                FileKind::Symlink => "symlink",
                FileKind::Other => "other",
            },
            size: stat.as_ref().filter(|_| is_file).map(|stat| stat.size),
            target: entry.link_target().map(|target| target.to_string()),
            modified: long_stat.and_then(modified),
            mode: long_stat.and_then(mode),
            total: self.tree.totals.as_ref().and_then(|totals| totals.of(entry.path())).copied(),
            worktree: matches!(item.state, State::Worktree),
            ..ListedEntry::default()
        }
    }
}

fn counted_text(counted: Counted) -> String {
    match counted {
        Counted { entries: 0, ignored: 0 } => " (empty)".to_owned(),
        Counted { entries: 0, .. } => " (only ignored entries)".to_owned(),
        Counted { entries: MAX_COUNTED.., .. } => format!(" ({MAX_COUNTED} entries or more)"),
        Counted { entries, .. } => format!(" ({})", count(entries, "entry")),
    }
}

fn name_of(item: &Item, listed: &ListedEntry) -> String {
    let mut name = item.entry.path().display_name();
    match (item.entry.kind(), &listed.target) {
        (FileKind::Directory, _) => name.push('/'),
        (FileKind::Symlink, Some(target)) => drop(write!(name, " -> {target}")),
        (FileKind::Symlink, None) => name.push_str(" (link to nothing in the workspace)"),
        (FileKind::Other, _) => name.push_str(" (special file)"),
        (FileKind::File, _) => {}
    }
    name
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Output {
    /// The directory listed, where it is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) path: Option<String>,
    /// What was shown, in the order shown.
    pub(super) entries: Vec<ListedEntry>,
    #[serde(flatten)]
    pub(super) facts: ListingFacts,
    /// What the answer leaves out, as text.
    pub(super) notes: Vec<String>,
}

/// One entry shown.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub(crate) struct ListedEntry {
    /// Its path, as it can be passed back.
    pub(super) path: String,
    /// `file`, `directory`, `symlink`, `other` or `root`.
    pub(super) kind: &'static str,
    /// Its size in bytes, where it is a file.
    pub(super) size: Option<u64>,
    /// What a link leads to, where that is inside a root.
    pub(super) target: Option<String>,
    /// Whether policy denies its content.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) protected: bool,
    /// Whether it is a linked worktree of git, which is not opened.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) worktree: bool,
    /// When it last changed, in UTC, where that was asked for.
    pub(super) modified: Option<String>,
    /// Its mode in octal, where that was asked for.
    pub(super) mode: Option<String>,
    /// How many entries an unopened directory has; at most 10000 are counted.
    pub(super) entries: Option<usize>,
    /// What is in a directory, to the bottom, where that was asked for.
    pub(super) total: Option<Total>,
    /// What is known of the content of a single file.
    pub(super) file: Option<FileFacts>,
    /// For a root, whether files in it may be changed.
    pub(super) writable: Option<bool>,
}

/// What is known of the content of one file.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub(crate) struct FileFacts {
    /// What it is, where that is not text: a media type, or a kind as text.
    pub(super) content: Option<String>,
    /// Lines.
    pub(super) lines: Option<usize>,
    /// Encoding of the text.
    pub(super) encoding: Option<&'static str>,
    /// Line endings: lf, crlf, mixed or none.
    pub(super) line_ending: Option<&'static str>,
    /// Whether the last line ends with a line ending.
    pub(super) final_newline: Option<bool>,
    /// Revision of the content, for `expected_revision`.
    pub(super) revision: Option<String>,
    /// Pixels across an image.
    pub(super) width: Option<usize>,
    /// Pixels down an image.
    pub(super) height: Option<usize>,
}

#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub(crate) struct ListingFacts {
    /// Entries shown.
    pub(super) shown: usize,
    /// Files among them.
    pub(super) files: usize,
    /// Directories among them.
    pub(super) directories: usize,
    /// Bytes in those files.
    pub(super) bytes: u64,
    /// The offset that continues with the next entries of the directory.
    pub(super) next_offset: Option<usize>,
    /// What is in the directory, to the bottom, where that was asked for.
    pub(super) total: Option<Total>,
    /// What is known of the content of a single file.
    pub(super) file: Option<FileFacts>,
    /// Entries of listed directories that are not shown.
    pub(super) more: usize,
    /// Directories within the depth that were not listed, the limit being reached.
    pub(super) unlisted: usize,
    /// Entries that ignore rules leave out.
    pub(super) ignored: usize,
    /// Directories that could not be listed.
    pub(super) unreadable: usize,
    /// Linked worktrees of git, which are not opened.
    #[serde(skip_serializing_if = "is_zero")]
    pub(super) worktrees: usize,
    /// Directories that could not be opened, because too many files were open.
    #[serde(skip_serializing_if = "is_zero")]
    pub(super) out_of_files: usize,
    /// Whether there is more than is shown.
    pub(super) truncated: bool,
    /// The worktree and branch of a root, as text.
    pub(super) checkout: Option<String>,
    /// Whether the time limit ended the listing.
    pub(super) timed_out: bool,
}

/// The mark after the name of a file whose content is denied.
pub(super) fn mark(protected: bool) -> &'static str {
    if protected { " [protected]" } else { "" }
}

/// When the content last changed, in UTC and without fractions: `2026-11-22T09:46:37Z`.
pub(super) fn modified(stat: &Stat) -> Option<String> {
    let modified = stat.modified?;
    let other = if modified < UNIX_EPOCH { "before 1970" } else { "after 9999" };
    Some(utc(modified).unwrap_or_else(|| other.to_owned()))
}

/// The permission bits in octal, `0644`; `None` if the system has none.
pub(super) fn mode(stat: &Stat) -> Option<String> {
    // On Unix, 0 is the mode of a file that nobody may open.
    Some(stat.mode()).filter(|mode| *mode != 0 || cfg!(unix)).map(|mode| format!("{mode:04o}"))
}
