//! `move` and `copy` alike: entries, one or several, that get another path, as one change.

mod destination;
mod sources;

use std::{
    collections::{HashMap, HashSet},
    fmt::Write as _,
    path::Path,
};

use change_set::{Approval, EntryState, Node, Purpose, Rights, Tree, WritablePath};
use confined_fs::{Revision, WorkspacePath};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::session::{Cost, RootBytes};

use super::{
    Answer, CallContext, Change, Fingerprint, Kind, Plan, Preview, ToolError,
    answer::{count, noted},
    commit::{self, ChangeStep, CommittedFiles, Undoable},
    fence::fenced,
};
pub(crate) use destination::MOVE_ALIASES;
use destination::{Destination, Occupant, Place};

/// Arguments of `move` and `copy`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    /// The file, link or directory.
    source: Option<String>,
    /// Several instead, all or none: paths and globs ("inbox/*.pdf", "**/*.jpg").
    sources: Option<Vec<String>>,
    /// Its new path, name included; with a / at its end, as for `sources`, the directory that it comes into. Missing
    /// directories are made.
    destination: String,
    /// Replace files there, which must have been read. Default: false.
    overwrite: Option<bool>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verb {
    Move,
    Copy,
}

impl Verb {
    /// Its tool, the order and what was done.
    const fn words(self) -> [&'static str; 3] {
        match self {
            Self::Move => ["move", "Move", "Moved"],
            Self::Copy => ["copy", "Copy", "Copied"],
        }
    }
}

/// The complete result as data.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub(crate) struct Output {
    /// Where it was, as paths are printed; the first of several.
    source: String,
    /// Where it is, or its copy; of several the directory that they came into.
    destination: String,
    /// Each of several.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    entries: Vec<OutputEntry>,
    /// Files in all.
    files: usize,
    /// Bytes in them.
    bytes: u64,
    /// Whether a file was replaced.
    replaced: bool,
    /// Directories that were made for it, the first ones.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    directories: Vec<String>,
    /// Links that were left out because they lead outside of the workspace.
    links_left_out: usize,
    /// Notes on it.
    notes: Vec<String>,
}

/// One of several entries.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct OutputEntry {
    /// Where it was.
    source: String,
    /// Where it is, or its copy.
    destination: String,
}

/// Bytes that are copied in one call.
const MOST_BYTES: u64 = 1 << 30;
/// Entries that an answer names one by one.
const NAMED: usize = 20;

pub(crate) fn plan(cx: &CallContext, args: &Args, verb: Verb) -> Result<Plan, ToolError> {
    let into = destination::directory(cx, &args.destination)?;
    let sources =
        sources::of(cx, (args.source.as_deref(), args.sources.as_deref()), (&args.destination, into.as_ref()))?;
    let (overwrite, number) = (args.overwrite.unwrap_or(false), sources.paths.len());
    let planned = |source: WorkspacePath| {
        cx.check()?;
        let place = match (&into, source.file_name()) {
            (None, _) => Place::Given(&args.destination),
            (Some(directory), Some(name)) => Place::Named(directory.child(Path::new(name))),
            (Some(_), None) => {
                let sentence = format!("{source} is a root, which has no name to keep");
                return Err(ToolError::invalid(sentence).hint("name what is in it"));
            }
        };
        Transfer::of(cx, verb, source, &place, overwrite)
    };
    let entries = sources.paths.into_iter().map(planned).collect::<Result<Vec<_>, _>>();
    let entries = entries.and_then(|entries| apart(entries, verb)).and_then(|entries| match verb {
        Verb::Copy => bounded(cx, entries),
        Verb::Move => Ok(entries),
    });
    let entries = entries.map_err(|error| commit::none_changed(number, error))?;
    Ok(Plan::Change(Box::new(PlannedTransfer { verb, entries, into, notes: sources.notes })))
}

/// Each entry once, none in another one, and each with a name of its own.
fn apart(mut entries: Vec<Transfer>, verb: Verb) -> Result<Vec<Transfer>, ToolError> {
    let mut tops = HashSet::new();
    entries.retain(|one| tops.insert(one.tree.top().clone()));
    let mut names: HashMap<&WorkspacePath, &Transfer> = HashMap::new();
    for one in &entries {
        if let Some(other) = names.insert(one.to.target.path(), one) {
            let sentence = format!("{} and {} would both be {}", other.source, one.source, one.to.path);
            return Err(ToolError::invalid(sentence).hint("give one of them another name first, or leave it out"));
        }
        let mut above = std::iter::successors(one.tree.top().parent(), WorkspacePath::parent);
        if let Some(outer) = above.find(|path| tops.contains(path)) {
            let done = verb.words()[2].to_lowercase();
            let sentence = format!("{} is in {outer}, which is {done} with everything in it", one.source);
            return Err(ToolError::invalid(sentence).hint("name one of the two"));
        }
    }
    Ok(entries)
}

/// Refuses to copy too many bytes. What a replacement writes is held in memory.
fn bounded(cx: &CallContext, entries: Vec<Transfer>) -> Result<Vec<Transfer>, ToolError> {
    let bytes = |of: &dyn Fn(&&Transfer) -> bool| entries.iter().filter(of).map(|one| one.tree.bytes()).sum::<u64>();
    let over = bytes(&|one| entries.len() > 1 && one.to.occupant != Occupant::Nothing);
    let too_large =
        [(bytes(&|_| true), MOST_BYTES, "copied"), (over, cx.settings.max_file_size, "written over others")];
    match too_large.into_iter().find(|(bytes, most, _)| bytes > most) {
        None => Ok(entries),
        Some((bytes, most, what)) => {
            let of = if let [one] = &entries[..] { one.source.to_string() } else { count(entries.len(), "entry") };
            let sentence = format!("{of}: {bytes} bytes would be {what}; at most {most} are in one call");
            Err(ToolError::new(Kind::TooLarge, sentence).hint("copy less at a time"))
        }
    }
}

/// An entry, and where it goes.
struct Transfer {
    source: WorkspacePath,
    /// Where it is taken away; none of a copy.
    from: Option<WritablePath>,
    tree: Tree,
    to: Destination,
}

impl Transfer {
    fn of(
        cx: &CallContext,
        verb: Verb,
        source: WorkspacePath,
        place: &Place<'_>,
        overwrite: bool,
    ) -> Result<Self, ToolError> {
        let (from, tree, to) = if verb == Verb::Move {
            let from = cx.workspace.writable_entry(&source)?;
            if cx.workspace.entry_stat(&from)?.is_none() {
                return Err(ToolError::not_found(&cx.workspace, &source));
            }
            let to = match destination::respelled(cx, &from, place)? {
                Some(to) => to,
                None => destination::resolve(cx, &source, place, overwrite)?,
            };
            destination::check_apart(from.path(), to.target.path())?;
            let tree = cx.workspace.tree(&from, Purpose::Move(&to.target))?;
            (Some(from), tree, to)
        } else {
            if let Err(error) = cx.workspace.stat(&source) {
                return Err(ToolError::access(&cx.workspace, error));
            }
            let to = destination::resolve(cx, &source, place, overwrite)?;
            let tree = cx.workspace.tree_to_copy(&source, &to.target)?;
            destination::check_apart(tree.top(), to.target.path())?;
            (None, tree, to)
        };
        to.check_replaces(&tree)?;
        Ok(Self { source, from, tree, to })
    }

    fn steps(&self, cx: &CallContext) -> Result<Vec<ChangeStep>, ToolError> {
        let (tree, to) = (self.tree.clone(), self.to.target.clone());
        let Some(from) = self.from.clone() else {
            return Ok(vec![match self.to.occupant {
                Occupant::Nothing => ChangeStep::copy_tree(tree, to),
                Occupant::File(old) => self.rewrite(cx, old)?,
            }]);
        };
        let mut steps = vec![ChangeStep::move_tree(from, to.clone(), tree)];
        if let Occupant::File(expected) = self.to.occupant {
            if matches!(self.tree.node(), Node::Other(_)) {
                let sentence = format!("{} is a special file, which does not replace a file", self.source);
                return Err(ToolError::invalid(sentence).hint("choose another destination, or delete the file first"));
            }
            let replaced = match commit::state_now(cx, &to)? {
                Some(EntryState::File(now)) if expected.is_none_or(|expected| expected == now.revision) => now,
                _ => return Err(commit::changed(&self.to.path)),
            };
            steps.push(ChangeStep::remove(to, EntryState::File(replaced), false));
        }
        Ok(steps)
    }

    /// A copy over a file: as a write of the other's content, which keeps the mode and owner it has.
    fn rewrite(&self, cx: &CallContext, old: Option<Revision>) -> Result<ChangeStep, ToolError> {
        let (Some(_), Node::File(seen)) = (old, self.tree.node()) else {
            return Err(ToolError::new(Kind::TooLarge, format!("{} is too large to be replaced", self.to.path))
                .hint("choose another destination, or delete it first"));
        };
        let snapshot = cx.workspace.read(&self.source, cx.settings.max_file_size)?;
        // A person agreed to what was there then.
        if !snapshot.stat.same_content_state(seen) {
            return Err(commit::changed(&self.source));
        }
        let base = self.to.occupant.base();
        Ok(ChangeStep::write(self.to.target.clone(), base, snapshot.bytes, Rights::default()))
    }

    /// ` with 3 files`, of a directory.
    fn held(&self) -> String {
        if self.tree.is_directory() { format!(" with {}", count(self.tree.files(), "file")) } else { String::new() }
    }
}

struct PlannedTransfer {
    verb: Verb,
    entries: Vec<Transfer>,
    /// The directory that they come into under their own names.
    into: Option<WorkspacePath>,
    notes: Vec<String>,
}

impl PlannedTransfer {
    fn files(&self) -> usize {
        self.entries.iter().map(|one| one.tree.files()).sum()
    }

    fn bytes(&self) -> u64 {
        self.entries.iter().map(|one| one.tree.bytes()).sum()
    }

    /// After the verb: what goes where, and what that replaces.
    fn what(&self) -> String {
        if let [one] = &self.entries[..] {
            let Transfer { source, to, .. } = one;
            return match self.verb {
                Verb::Move => format!("{source} to {}{}{}", to.path, one.held(), to.replacing()),
                Verb::Copy => {
                    let files =
                        if one.tree.is_directory() { count(self.files(), "file") + ", " } else { String::new() };
                    format!("{source} to {}: {files}{} bytes{}", to.path, self.bytes(), to.replacing())
                }
            };
        }
        let has_directory = self.entries.iter().any(|one| one.tree.is_directory());
        let noun = if has_directory { "entry" } else { "file" };
        let mut what = count(self.entries.len(), noun);
        what.extend(self.into.iter().map(|directory| format!(" into {directory}/")));
        if has_directory {
            let _ = write!(what, " with {}", count(self.files(), "file"));
        }
        if self.verb == Verb::Copy {
            let _ = write!(what, ": {} bytes", self.bytes());
        }
        match self.entries.iter().filter(|one| one.to.occupant != Occupant::Nothing).count() {
            0 => what,
            over => format!("{what}, replacing {} there", count(over, "file")),
        }
    }

    fn answer(&self, cx: &CallContext, CommittedFiles { created, copied, notes, .. }: CommittedFiles) -> Answer {
        let first = &self.entries[0];
        let is_several = self.entries.len() > 1;
        let mut all: Vec<String> = commit::made_note(&created.made).into_iter().collect();
        if copied {
            let [was, place, it] =
                if is_several { ["they were", "their old places", "them"] } else { ["it was", "its old place", "it"] };
            all.push(format!("{was} copied and {place} emptied, as the system does not rename {it}"));
        }
        let left_out = created.links_left_out.len();
        if left_out > 0 {
            let named: Vec<String> = created.links_left_out.iter().take(3).map(ToString::to_string).collect();
            let why = "left out because they lead outside of the workspace";
            all.push(format!("{} {why}: {}", count(left_out, "link"), named.join(", ")));
        }
        all.extend(notes.into_iter().chain(self.notes.iter().cloned()));
        let mut text = noted(format!("{} {}", self.verb.words()[2], self.what()), &all);
        if is_several {
            let mut list = String::new();
            for one in self.entries.iter().take(NAMED) {
                let _ = write!(list, "\n{}{}{}", one.source, one.held(), one.to.replacing());
            }
            if self.entries.len() > NAMED {
                let _ = write!(list, "\n… and {} more", self.entries.len() - NAMED);
            }
            text.push_str(&fenced(&cx.workspace, self.entries.iter().map(|one| &one.source), list));
        }
        let entry =
            |one: &Transfer| OutputEntry { source: one.source.to_string(), destination: one.to.path.to_string() };
        let output = Output {
            source: first.source.to_string(),
            destination: self.into.as_ref().filter(|_| is_several).unwrap_or(&first.to.path).to_string(),
            entries: self.entries.iter().filter(|_| is_several).map(entry).collect(),
            files: self.files(),
            bytes: self.bytes(),
            replaced: self.entries.iter().any(|one| one.to.occupant != Occupant::Nothing),
            directories: commit::made_names(&created.made),
            links_left_out: left_out,
            notes: all,
        };
        Answer::of(cx, text, &output, &["entries"])
    }
}

impl Change for PlannedTransfer {
    fn fingerprint(&self) -> Fingerprint {
        let each: Vec<Fingerprint> =
            self.entries.iter().map(|one| one.to.fingerprint(one.tree.top(), &one.tree)).collect();
        if let [one] = &each[..] { one.clone() } else { Fingerprint::of_several(&each) }
    }

    fn preview(&self) -> Preview {
        let mut diff = String::new();
        // One alone is in the summary.
        for one in self.entries.iter().filter(|_| self.entries.len() > 1) {
            let _ = writeln!(diff, "{}{} -> {}{}", one.source, one.held(), one.to.path, one.to.replacing());
        }
        let destructive = self.entries.iter().any(|one| one.to.occupant != Occupant::Nothing);
        Preview { summary: format!("{} {}", self.verb.words()[1], self.what()), diff, destructive }
    }

    fn cost(&self) -> Cost {
        let of_one = |one: &Transfer| {
            let (to, bytes) = (one.to.target.path().root(), one.tree.bytes());
            match (&one.from, one.to.occupant) {
                // Within one root a move makes nothing larger: the two cancel out.
                (Some(from), _) => {
                    let left = RootBytes::of(from.path().root(), bytes, 0);
                    Cost { change: left.and(RootBytes::of(to, one.to.bytes, bytes)), ..Cost::default() }
                }
                (None, Occupant::File(_)) => Cost::of_bytes(to, one.to.bytes, bytes),
                (None, Occupant::Nothing) => {
                    Cost { files: one.tree.entries().len() as u64, ..Cost::of_bytes(to, 0, bytes) }
                }
            }
        };
        // They come into one directory.
        let made = Cost { files: self.entries[0].to.target.missing_above(), ..Cost::default() };
        self.entries.iter().map(of_one).chain([made]).sum()
    }

    fn commit(self: Box<Self>, cx: &CallContext, approval: Approval) -> Result<Answer, ToolError> {
        let steps = self.entries.iter().map(|one| one.steps(cx)).collect::<Result<Vec<_>, _>>();
        let steps = steps.map_err(|error| commit::none_changed(self.entries.len(), error))?;
        let steps: Vec<ChangeStep> = steps.into_iter().flatten().collect();
        let done = commit::commit_files(cx, self.verb.words()[0], &steps, Undoable::Yes, approval);
        let done = done.map_err(|error| match (&self.entries[..], error.kind()) {
            // The words of `Stale` are those of a file that was read before.
            ([Transfer { source, from: None, to, .. }], Kind::Stale) if to.occupant == Occupant::Nothing => {
                commit::changed(source)
            }
            _ => error,
        })?;
        Ok(self.answer(cx, done))
    }
}
