//! ls: a directory as a short tree.
//!
//! Lists level by level, so that a limit cuts the deepest names first; never opens a file.

use std::{collections::VecDeque, fmt::Write as _, ops::ControlFlow};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    search::{Scope, Tally},
    stop::StopReason,
    text::byte_size::file_size,
    workspace::{
        Access, AccessError, AccessErrorKind, Entry, FileKind, Ignored, LimitsHit, WalkOptions, Workspace,
        WorkspacePath,
    },
};

use super::{
    Answer, CallContext, Group, Plan, Spec, Tool, ToolError,
    alias::{LISTING_ALIASES, PATH_ALIASES},
    answer::count,
    omissions::{self, is_zero, with_notes},
    paging,
};

/// Entries when the call does not say, and at most.
const DEFAULT_RESULTS: usize = 500;
const MAX_RESULTS: usize = 2000;
/// Entries shown of a nested directory.
const NESTED: usize = 100;
/// Levels when the call does not say, and at most.
const DEFAULT_DEPTH: i64 = 2;
const MAX_DEPTH: usize = 5;
/// Bytes kept free for header and footer.
const RESERVED: usize = 1024;
/// Names between two looks at the clock.
const CHECK_EVERY: usize = 256;

/// What to list.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// Directory to list. Default: the root, or the list of roots.
    path: Option<String>,
    /// How many levels to show, at most 5. Default: 2.
    depth: Option<i64>,
    /// Show entries that ignore rules leave out too. Default: false.
    no_ignore: Option<bool>,
    /// Most entries to show, at most 2000. Default: 500.
    max_results: Option<i64>,
}

/// ls's result as data.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Output {
    /// The directory listed, where it is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<String>,
    /// What was shown, in the order shown.
    entries: Vec<ListedEntry>,
    /// The numbers.
    #[serde(flatten)]
    facts: Facts,
    /// What the answer leaves out, in words.
    notes: Vec<String>,
}

/// One entry shown.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ListedEntry {
    /// Its path, as it can be passed back.
    path: String,
    /// `file`, `directory`, `symlink`, `other` or `root`.
    kind: &'static str,
    /// Its size in bytes, where it is a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    size: Option<u64>,
    /// What a link leads to, where that is inside a root.
    #[serde(skip_serializing_if = "Option::is_none")]
    target: Option<String>,
    /// Whether policy denies its content.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    protected: bool,
    /// For a root, whether files in it may be changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    writable: Option<bool>,
}

/// The numbers for programs.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct Facts {
    /// Entries shown.
    shown: usize,
    /// Entries of listed directories that are not shown.
    more: usize,
    /// Directories within the depth that were not listed, the limit being reached.
    unlisted: usize,
    /// Entries that ignore rules leave out.
    ignored: usize,
    /// Directories that could not be listed.
    unreadable: usize,
    /// Directories that could not be opened, because too many files were open.
    #[serde(skip_serializing_if = "is_zero")]
    out_of_files: usize,
    /// Whether there is more than is shown.
    truncated: bool,
    /// Whether the time limit ended the listing.
    timed_out: bool,
}

/// The ls tool.
#[derive(Debug)]
pub struct Ls;

impl Tool for Ls {
    type Args = Args;
    type Output = Output;
    const SPEC: Spec = Spec {
        name: "ls",
        title: "List a directory",
        purpose: "shows a directory",
        description: "List a directory as a tree with file sizes: directories first, then names. Respects .gitignore. \
                      Without a path it lists the root, or the roots with their rights.",
        group: Group::Core,
        aliases: &[PATH_ALIASES, LISTING_ALIASES],
        read_only: true,
        destructive: false,
        idempotent: true,
        heavy: false,
    };

    fn plan(cx: &CallContext, args: Args) -> Result<Plan, ToolError> {
        let scope =
            Scope::of(&cx.workspace, args.path.as_deref()).map_err(|error| ToolError::scope(&cx.workspace, error))?;
        let depth = args.depth.filter(|depth| *depth > 0).unwrap_or(DEFAULT_DEPTH);
        let request = Request {
            depth: usize::try_from(depth).unwrap_or(MAX_DEPTH).min(MAX_DEPTH),
            ignored: if args.no_ignore.unwrap_or(false) { Ignored::Include } else { Ignored::Skip },
            limit: paging::max_results(args.max_results, DEFAULT_RESULTS, MAX_RESULTS),
        };
        let answer = match scope.starts() {
            [start] if scope.file().is_some() => file(cx, start)?,
            [start] => request.tree(cx, start)?,
            _ => roots(cx),
        };
        Ok(Plan::Answer(answer))
    }
}

struct Request {
    depth: usize,
    ignored: Ignored,
    limit: usize,
}

/// One directory, listed.
#[derive(Default)]
struct Listing {
    /// What is shown of it: directories, then the rest. A directory has its place among the
    /// listings when it was listed too.
    entries: Vec<(Entry, State)>,
    /// Entries that are not shown.
    more: usize,
    /// Entries that ignore rules leave out.
    ignored: usize,
    limits_hit: LimitsHit,
}

/// How far a shown entry was looked into.
#[derive(Clone, Copy)]
enum State {
    /// A file, or a directory at the last level.
    Leaf,
    /// A directory that was listed, at this place.
    Listed(usize),
    /// A directory within the depth, but the limit was reached.
    Unlisted,
    /// A directory that could not be listed.
    Unreadable,
}

impl Request {
    fn tree(&self, cx: &CallContext, start: &WorkspacePath) -> Result<Answer, ToolError> {
        let access = |error| ToolError::access(&cx.workspace, error);
        let mut listings = vec![self.list(cx, start, self.limit).map_err(access)?];
        let mut left = self.limit - listings[0].entries.len();
        let (mut facts, mut limits_hit) = (Facts::default(), LimitsHit::default());
        let mut queue = VecDeque::from([(0, 1)]);
        while let Some((at, depth)) = queue.pop_front() {
            if depth == self.depth {
                continue;
            }
            for place in 0..listings[at].entries.len() {
                let entry = &listings[at].entries[place].0;
                if entry.kind() != FileKind::Directory {
                    continue;
                }
                facts.timed_out |= out_of_time(cx)?;
                let state = if left == 0 || facts.timed_out {
                    facts.unlisted += 1;
                    State::Unlisted
                } else {
                    match self.list(cx, &entry.path().clone(), NESTED.min(left)) {
                        Ok(listing) => {
                            left -= listing.entries.len();
                            listings.push(listing);
                            queue.push_back((listings.len() - 1, depth + 1));
                            State::Listed(listings.len() - 1)
                        }
                        Err(AccessError { kind: AccessErrorKind::Limit(limit), .. }) => {
                            limits_hit.directory(limit);
                            State::Unreadable
                        }
                        Err(_) => {
                            facts.unreadable += 1;
                            State::Unreadable
                        }
                    }
                };
                listings[at].entries[place].1 = state;
            }
        }
        facts.timed_out |= out_of_time(cx)?;
        facts.more = listings.iter().map(|listing| listing.more).sum();
        facts.ignored = listings.iter().map(|listing| listing.ignored).sum();

        let budget = cx.settings.max_output.saturating_sub(RESERVED).max(RESERVED / 2);
        let mut printer =
            Printer { listings: &listings, text: format!("{start}/"), entries: Vec::new(), budget, cut: false };
        printer.note(&listings[0]);
        printer.print(&listings[0], 1);
        let Printer { text, entries, cut, .. } = printer;
        facts.shown = entries.len();
        for listing in &listings {
            limits_hit.add(listing.limits_hit.clone());
        }
        facts.out_of_files = limits_hit.directories;
        facts.truncated = cut || facts.timed_out || facts.more + facts.unlisted + facts.out_of_files > 0;

        let mut notes = omissions::limit_notes(&Tally::default(), &limits_hit);
        if facts.timed_out {
            let (shown, next) = (facts.shown, "narrow the path, or ask for less depth");
            notes.extend(omissions::stopped_note(&cx.stop, Some(StopReason::Deadline), shown, "entry", next));
        } else if cut {
            notes.push("the text limit is reached; narrow the path, or ask for less depth".to_owned());
        } else if facts.unlisted > 0 || listings[0].more > 0 {
            let unlisted = if facts.unlisted > 0 {
                format!(", {} not listed", count(facts.unlisted, "directory"))
            } else {
                String::new()
            };
            notes.push(format!(
                "showing the first {}{unlisted}; narrow the path, or raise max_results (at most {MAX_RESULTS})",
                count(facts.shown, "entry")
            ));
        }
        if facts.ignored > 0 {
            let hidden =
                if facts.ignored == 1 { "1 ignored entry" } else { &format!("{} ignored entries", facts.ignored) };
            notes.push(format!("({hidden} hidden; pass no_ignore)"));
        }
        let text = with_notes(text, &notes);
        Ok(Answer::text(text, &facts).data(cx, &Output { path: Some(start.to_string()), entries, facts, notes }))
    }

    /// The first `most` entries of a directory, directories before the rest.
    fn list(&self, cx: &CallContext, directory: &WorkspacePath, most: usize) -> Result<Listing, AccessError> {
        let options = WalkOptions { ignored: self.ignored, max_depth: Some(1), directories: true, symlinks: true };
        let (mut directories, mut others, mut met) = (Vec::new(), Vec::new(), 0);
        let report = cx.workspace.walk(directory, &options, &mut |entry| {
            met += 1;
            let list = if entry.kind() == FileKind::Directory { &mut directories } else { &mut others };
            if list.len() < most {
                list.push((entry, State::Leaf));
            }
            if met % CHECK_EVERY == 0 && cx.stop.stopped().is_some() {
                return ControlFlow::Break(());
            }
            ControlFlow::Continue(())
        })?;
        let mut entries = directories;
        entries.append(&mut others);
        entries.truncate(most);
        Ok(Listing {
            more: met - entries.len(),
            entries,
            ignored: report.ignored_files + report.ignored_dirs,
            limits_hit: report.limits_hit,
        })
    }
}

/// Whether the call has used up its time; a cancelled one is an error.
fn out_of_time(cx: &CallContext) -> Result<bool, ToolError> {
    match cx.stop.stopped() {
        None => Ok(false),
        Some(StopReason::Deadline) => Ok(true),
        Some(StopReason::Cancelled) => Err(ToolError::cancelled()),
    }
}

/// Writes the tree, two spaces a level.
struct Printer<'a> {
    listings: &'a [Listing],
    text: String,
    entries: Vec<ListedEntry>,
    budget: usize,
    cut: bool,
}

impl Printer<'_> {
    fn print(&mut self, listing: &Listing, level: usize) {
        for (entry, state) in &listing.entries {
            if self.text.len() > self.budget {
                self.cut = true;
                return;
            }
            let listed = listed_entry(entry);
            self.line(level);
            self.text.push_str(&line_of(entry, &listed));
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
        (FileKind::Symlink, None, _) => line.push_str(" (link that leads nowhere inside)"),
        (FileKind::File, _, Some(size)) => drop(write!(line, "  {}", file_size(size))),
        (FileKind::File, _, None) => {}
        (FileKind::Other, ..) => line.push_str(" (special file)"),
    }
    if listed.protected {
        line.push_str(" [protected]");
    }
    line
}

/// A path that names a file lists that file, as in a shell.
fn file(cx: &CallContext, path: &WorkspacePath) -> Result<Answer, ToolError> {
    let access = |error| ToolError::access(&cx.workspace, error);
    let stat = cx.workspace.stat(path).map_err(access)?;
    let protected = cx.workspace.is_secret(path).map_err(access)?;
    let facts = Facts { shown: 1, ..Facts::default() };
    let (kind, what) = if stat.kind == FileKind::File { ("file", "a file") } else { ("other", "a special file") };
    let entry = ListedEntry {
        path: path.to_string(),
        kind,
        size: (stat.kind == FileKind::File).then_some(stat.size),
        target: None,
        protected,
        writable: None,
    };
    let size = entry.size.map(|size| format!("  {}", file_size(size))).unwrap_or_default();
    let text = format!("{path}{size} ({what}){}", if protected { " [protected]" } else { "" });
    Ok(Answer::text(text, &facts).data(cx, &Output { path: None, entries: vec![entry], facts, notes: Vec::new() }))
}

fn roots(cx: &CallContext) -> Answer {
    let workspace: &Workspace = &cx.workspace;
    let mut text = format!("{}:", count(workspace.roots().len(), "root"));
    let mut entries = Vec::new();
    for root in workspace.roots() {
        let writable = root.access() == Access::ReadWrite;
        let path = root.public();
        let _ = write!(text, "\n  {path}/ ({})", if writable { "read-write" } else { "read-only" });
        entries.push(ListedEntry {
            path,
            kind: "root",
            size: None,
            target: None,
            protected: false,
            writable: Some(writable),
        });
    }
    let facts = Facts { shown: entries.len(), ..Facts::default() };
    Answer::text(text, &facts).data(cx, &Output { path: None, entries, facts, notes: Vec::new() })
}
