//! What leads from now to an earlier state: the steps on the disk, as text, as a diff, and what they cost.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    fmt::Write as _,
};

use change_set::{Approval, Base, EntryChange, EntryState, FileState, Rights};
use confined_fs::{FileKind, Revision, WorkspacePath};
use schemars::JsonSchema;
use serde::Serialize;
use text_file::Document;

use super::{
    super::{
        Answer, CallContext, Change, Fingerprint, Kind, Plan, Preview, ToolError,
        answer::{count, noted},
        commit::{self, ChangeStep, ChangedPart, Undoable},
        fence::fenced,
        introduced_problems::{self, ChangedText, IntroducedProblems, Problem},
        shown_diff::{self, ShownDiff},
    },
    planner::{SkippedPath, UndoPlanner, skipped_headline},
    since::ChangesSince,
    virtual_tree::DiskOfCall,
};
use crate::session::{Cost, RootBytes};

/// Bytes of former contents that one call brings back.
const MOST_BYTES: u64 = 256 << 20;
/// Bytes of contents that are compared for the diff.
const MAX_DIFFED: u64 = 8 << 20;

/// From which state to which other a diff is.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum DiffDirection {
    /// From now to the earlier state.
    #[default]
    Back,
    /// From the earlier state to now.
    Forward,
}

/// The plan from now to an earlier state.
#[derive(Default)]
pub(crate) struct UndoPlan {
    pub(crate) changes: Vec<ChangeStep>,
    /// For each change a line such as `restore src/a.rs`, the first word a verb: see [`Self::done`] and [`Self::planned`].
    pub(crate) lines: Vec<String>,
    /// The paths of the changes as they are printed now or then.
    pub(crate) paths: Vec<WorkspacePath>,
    /// The diffs of all files, one after the other.
    pub(crate) diff: String,
    /// Of these those of contents that were worked out from what others have changed.
    around: String,
    /// How many lines of a file change, as text.
    counts: HashMap<WorkspacePath, String>,
    pub(crate) cost: Cost,
    pub(crate) skipped: Vec<SkippedPath>,
    /// Whether an existing entry is replaced or removed.
    pub(crate) is_destructive: bool,
    /// Everything that an approval is bound to, as text.
    effect: String,
    direction: DiffDirection,
    /// Whether a file that is restored stays the one that programs have open: others may append to it.
    stays: bool,
    /// Directories that the changes made for other entries.
    parents: HashSet<WorkspacePath>,
    /// Of contents that were worked out from what the disk has, the revision of that.
    bases: HashMap<(WorkspacePath, Revision), Revision>,
    /// Of these the contents that no change has left.
    worked_out: HashSet<Revision>,
    /// Bytes that were compared for the diff so far.
    diffed: u64,
}

impl UndoPlan {
    /// Takes the changes back. `includes_changed`: also where somebody else has changed a file since.
    /// `within`: only what is at or below one of these paths, where there are any.
    ///
    /// # Errors
    /// Also where too many files are open: a directory that cannot be listed now would stay without a word.
    pub(crate) fn of(
        cx: &CallContext,
        since: &ChangesSince,
        includes_changed: bool,
        within: &[WorkspacePath],
        direction: DiffDirection,
    ) -> Result<Self, ToolError> {
        let work = || Self::of_view(cx, since, includes_changed, within, direction);
        match since.changes.first().and_then(|change| change.names().first().copied()) {
            Some(changed) => changed.unless_out_of_files(work)?,
            None => work(),
        }
    }

    /// As [`Self::of`], with what cannot be looked at left alone.
    fn of_view(
        cx: &CallContext,
        since: &ChangesSince,
        includes_changed: bool,
        within: &[WorkspacePath],
        direction: DiffDirection,
    ) -> Result<Self, ToolError> {
        let ChangesSince { changes, lost, .. } = since;
        let view = DiskOfCall(cx);
        let mut walk = UndoPlanner::new(view, includes_changed, BTreeMap::new());
        loop {
            walk.is_alone = matches!(&**changes, [change] if change.entries.len() == 1);
            for change in changes {
                cx.check()?;
                walk.revert(change);
            }
            // Each round leaves at least one path more alone, so this ends.
            let Some(pinned) = walk.ended(lost) else { break };
            walk = UndoPlanner::new(view, includes_changed, pinned);
        }
        let is_meant = |path: &WorkspacePath| within.is_empty() || within.iter().any(|top| path.is_in(top));
        let entries = || changes.iter().flat_map(|change| &*change.entries);
        let stays = entries().any(|entry| entry.appended.is_some());
        let parents = entries().filter(|entry| entry.is_parent).map(|entry| entry.path.clone()).collect();
        let bases = std::mem::take(&mut walk.bases);
        let worked_out = std::mem::take(&mut walk.worked_out);
        let mut plan = Self { direction, stays, parents, bases, worked_out, ..Self::default() };
        for net in walk.tree.net_changes(view) {
            if net.names().any(is_meant) {
                cx.check()?;
                plan.add(cx, &net)?;
            }
        }
        if plan.cost.bytes > MOST_BYTES && !commit::is_one_tree(&plan.changes) {
            return Err(too_many_bytes());
        }
        plan.sort();
        plan.skipped = walk.skipped();
        plan.skipped.retain(|left| is_meant(&left.path));
        Ok(plan)
    }

    /// Identifies what an approval is bound to: every step with the present state.
    pub(crate) fn effect(&self) -> Revision {
        Revision::of(self.effect.as_bytes())
    }

    /// In an order that a reader follows: a directory is there before something comes into it, and goes after all has left.
    fn sort(&mut self) {
        let rank = |step: &ChangeStep| {
            let depth = step.target.path().relative().iter().count();
            let is_directory = |is: &Option<EntryState>| matches!(is, Some(EntryState::Directory { .. }));
            match &step.change {
                EntryChange { moved_from: Some(_), .. } => (2, 0),
                EntryChange { from: None, to, .. } if is_directory(to) => (0, depth),
                EntryChange { from, to: None, .. } if is_directory(from) => (4, usize::MAX - depth),
                // Something may move to where it was.
                EntryChange { to: None, .. } => (1, 0),
                _ => (3, 0),
            }
        };
        let changes = std::mem::take(&mut self.changes).into_iter();
        let mut all: Vec<_> = changes.zip(self.lines.drain(..)).zip(self.paths.drain(..)).collect();
        all.sort_by_key(|((step, _), _)| rank(step));
        if self.direction == DiffDirection::Forward {
            all.reverse();
        }
        for ((step, line), path) in all {
            self.changes.push(step);
            self.lines.push(line);
            self.paths.push(path);
        }
    }

    /// The lines of what was done.
    pub(crate) fn done(&self) -> impl Iterator<Item = String> {
        const VERBS: [[&str; 2]; 7] = [
            ["restore", "restored"],
            ["move", "moved"],
            ["delete", "deleted"],
            ["bring", "brought"],
            ["make", "made"],
            ["remove", "removed"],
            ["narrow", "narrowed"],
        ];
        self.lines.iter().map(|line| {
            let known = VERBS.iter().find_map(|[now, past]| Some((past, line.strip_prefix(now)?)));
            known.map_or_else(|| line.clone(), |(past, rest)| format!("{past}{rest}"))
        })
    }

    /// The lines of what would be done.
    pub(crate) fn planned(&self) -> impl Iterator<Item = String> {
        self.lines.iter().map(|line| format!("would {line}"))
    }

    fn add(&mut self, cx: &CallContext, net: &EntryChange) -> Result<(), ToolError> {
        let entry = |path: &WorkspacePath| commit::writable(cx, path, ChangedPart::Entry);
        let size = |path: &WorkspacePath| {
            let stat = DiskOfCall(cx).stat(path).filter(|stat| stat.kind == FileKind::File);
            stat.map_or(0, |stat| stat.size)
        };
        let path = &net.path;
        let (step, line) = match (&net.moved_from, &net.from, &net.to) {
            (None, _, None) => {
                let base = self.former(cx, path)?;
                let word = if matches!(base, EntryState::Directory { .. }) { "remove the directory" } else { "delete" };
                let size = size(path);
                let mut counts = "";
                if let EntryState::File(_) = base {
                    self.is_destructive = true;
                    if self.may_compare(size) {
                        let now = cx.read_to_change(path).ok().map(|now| now.bytes);
                        counts = self.compare(cx, path, (now, None), false);
                    }
                }
                let line = format!("{word} {path}{counts}");
                self.pay(Cost::of_bytes(path.root(), size, 0));
                let is_parent = self.parents.contains(path);
                (ChangeStep::remove(entry(path)?, base, is_parent), line)
            }
            (Some(from), ..) => {
                let base = self.former(cx, from)?;
                let bytes = size(from);
                let moved = RootBytes::of(from.root(), bytes, 0).and(RootBytes::of(path.root(), 0, bytes));
                self.pay(Cost { change: moved, ..Cost::default() });
                let to = DiskOfCall(cx).respelled(from, path).map_or_else(|| entry(path), Ok)?;
                (ChangeStep::move_to(entry(from)?, to, base), format!("move {from} back to {path}"))
            }
            (None, over, Some(EntryState::File(former))) => {
                let Some(restored) = self.restore(cx, path, former, over.is_some())? else {
                    return Ok(());
                };
                restored
            }
            (None, Some(EntryState::Directory { rights: now }), Some(EntryState::Directory { rights })) => {
                let word = if is_narrower(rights, now) { "narrow" } else { "restore" };
                (ChangeStep::give(entry(path)?, rights.clone()), format!("{word} the rights of the directory {path}"))
            }
            (None, _, Some(is)) => {
                self.pay(Cost { files: 1, ..Cost::default() });
                let is_link = matches!(is, EntryState::Link(_));
                let word = if is_link { "bring back the link" } else { "make the directory" };
                (ChangeStep::create(entry(path)?, is.clone()), format!("{word} {path}"))
            }
        };
        let _ = writeln!(self.effect, "{net:?}");
        self.paths.push(path.clone());
        self.changes.push(step);
        self.lines.push(if self.direction == DiffDirection::Forward { forward(net, &line) } else { line });
        Ok(())
    }

    /// Brings a former content back, `over` the file that is there. `None` where it is there already.
    fn restore(
        &mut self,
        cx: &CallContext,
        path: &WorkspacePath,
        former: &FileState,
        over: bool,
    ) -> Result<Option<(ChangeStep, String)>, ToolError> {
        if over
            && let Some(EntryState::File(now)) = commit::state_now(cx, &cx.workspace.writable_entry(path)?)?
            && now.revision == former.revision
            && !former.rights.changes(&now.rights)
        {
            return Ok(None);
        }
        // Before anything is shown: a file may have become a secret.
        let target = commit::writable(cx, path, ChangedPart::Content)?;
        let bytes = cx.session.history.content(former.revision).ok_or_else(|| path.not_stored())?;
        let (base, now) = if over {
            let now = cx.read_to_change(path)?;
            if self.bases.get(&(path.clone(), former.revision)).is_some_and(|base| *base != now.revision) {
                return Err(commit::changed(path));
            }
            self.is_destructive = true;
            let _ = writeln!(self.effect, "over {}", now.revision);
            (Base::Revision(now.revision), Some(now.bytes))
        } else {
            (Base::Absent, None)
        };
        let [held, size] = [now.as_ref().map_or(0, Vec::len), bytes.len()].map(|size| size as u64);
        self.pay(Cost { files: u64::from(!over), ..Cost::of_bytes(path.root(), held, size) });
        if over && self.cost.bytes > MOST_BYTES {
            return Err(too_many_bytes());
        }
        let is_around = self.worked_out.contains(&former.revision);
        let mut counts = String::new();
        if self.may_compare(held + size) {
            counts.push_str(self.compare(cx, path, (now, Some(bytes.clone())), is_around));
        }
        let step = if over {
            ChangeStep::write(target, base, bytes, former.rights.clone()).staying(self.stays)
        } else {
            ChangeStep::bring_back(target, former.clone())
        };
        let word = if over { "restore" } else { "bring back" };
        let others = if is_around { ", around what others changed" } else { "" };
        Ok(Some((step, format!("{word} {path}, rev {}{counts}{others}", former.revision.short()))))
    }

    /// Looks at a path for the state that must still be there at the commit.
    fn former(&mut self, cx: &CallContext, path: &WorkspacePath) -> Result<EntryState, ToolError> {
        let entry = cx.workspace.writable_entry(path)?;
        let node = commit::state_now(cx, &entry)?.ok_or_else(|| commit::changed(path))?;
        let _ = writeln!(self.effect, "{path} is {node:?}");
        Ok(node)
    }

    fn pay(&mut self, cost: Cost) {
        self.cost = [std::mem::take(&mut self.cost), cost].into_iter().sum();
    }

    /// Whether a file of this many bytes, before and after, is in the diff; the steps are listed all the same.
    fn may_compare(&mut self, size: u64) -> bool {
        self.diffed = self.diffed.saturating_add(size);
        self.diffed <= MAX_DIFFED
    }

    /// Adds the diff of a file from `now` to `then`. Returns how many lines that are, as text.
    fn compare(
        &mut self,
        cx: &CallContext,
        path: &WorkspacePath,
        (now, then): (Option<Vec<u8>>, Option<Vec<u8>>),
        is_around: bool,
    ) -> &str {
        if cx.check().is_err() {
            return "";
        }
        let (old, new) = if self.direction == DiffDirection::Back { (now, then) } else { (then, now) };
        let diff = shown_diff::diff(path, old, new);
        self.diff.push_str(&diff);
        if is_around {
            self.around.push_str(&diff);
        }
        let lines = |sign| diff.lines().skip(2).filter(|line| line.starts_with(sign)).count();
        let counts = match (lines('+'), lines('-')) {
            (0, 0) => String::new(),
            (added, 0) => format!(" (+{})", count(added, "line")),
            (0, removed) => format!(" (-{})", count(removed, "line")),
            (added, removed) => format!(" (+{added} -{removed} lines)"),
        };
        self.counts.entry(path.clone()).or_insert(counts)
    }
}

fn too_many_bytes() -> ToolError {
    let message = format!("more than {MOST_BYTES} bytes would be brought back in one call");
    ToolError::new(Kind::TooLarge, message).hint("go back in parts: pass path as well")
}

/// Whether a directory would lose a right.
fn is_narrower(then: &Rights, now: &Rights) -> bool {
    let mode = |of: &Rights| of.attributes.as_ref().map_or(of.mode, |all| all.mode);
    0o777 & mode(now) & !mode(then) != 0
}

/// Describes the change since, where `line` is the order to revert it.
fn forward(EntryChange { path, from, to, moved_from, .. }: &EntryChange, line: &str) -> String {
    match (moved_from, from, to) {
        (Some(from), ..) => format!("moved {path} to {from}"),
        (None, _, None) if line.starts_with("remove") => format!("made the directory {path}"),
        (None, _, None) => format!("created {path}"),
        (None, Some(_), Some(EntryState::File(_))) => format!("changed {path}"),
        (None, Some(_), Some(_)) if line.starts_with("narrow") => format!("widened the rights of the directory {path}"),
        (None, Some(_), Some(_)) => format!("changed the rights of the directory {path}"),
        (None, None, Some(EntryState::Directory { .. })) => format!("removed the directory {path}"),
        (None, None, Some(EntryState::Link(_))) => format!("deleted the link {path}"),
        (None, None, Some(EntryState::File(_))) => format!("deleted {path}"),
    }
}

// The change that goes back to an earlier state, with its answer.

/// Steps, and paths that are left alone, which an answer names one by one.
const NAMED: usize = 60;

/// The plan back to an earlier state, and the words for the answer.
pub(super) struct PlannedReturn {
    pub(super) plan: UndoPlan,
    /// The change in the imperative: "Go back to the checkpoint x".
    pub(super) order: String,
    pub(super) done: String,
    /// The tool whose change is taken back; `undo` where there are several.
    pub(super) reverted: String,
    /// Paths that others changed since, with what to say of each.
    pub(super) others: BTreeMap<String, String>,
    /// The note on changes that another caller may have made.
    pub(super) whose: Option<String>,
    pub(super) undoable: Undoable,
    /// Whether what others changed is taken back as well.
    pub(super) is_of_others: bool,
    /// The session and the number of the one change that is taken back.
    pub(super) takes_back: Option<(String, u64)>,
    /// What the answer tells of the one entry, or tree, that the change was of.
    pub(super) single: Option<SingleChange>,
}

/// The one entry, or tree, of a change that is taken back.
pub(super) struct SingleChange {
    pub(super) path: WorkspacePath,
    /// Whether something that was there comes back at that path.
    pub(super) comes_back: bool,
    /// Whether something is taken away or replaced.
    pub(super) is_destructive: bool,
    /// The former content of a file that was written.
    pub(super) former: Option<Revision>,
    /// The directories that were made for it.
    pub(super) parents: Vec<WorkspacePath>,
}

impl SingleChange {
    /// The text of a file whose former content comes back: what it holds now, and what it will.
    fn texts(&self, cx: &CallContext) -> Option<(Document, Document)> {
        let former = self.former.filter(|_| introduced_problems::may_have_problems(cx, &self.path))?;
        let text = |bytes| Document::decode(bytes, None).ok();
        let now = text(cx.read_to_change(&self.path).ok()?.bytes)?;
        Some((now, text(cx.session.history.content(former)?)?))
    }

    /// What follows the words of the answer, once it is done.
    fn outcome(&self, cx: &CallContext, plan: &UndoPlan) -> String {
        let mut text = String::new();
        // What came back counts as seen.
        if let Some(now) = cx.session.ledger.seen(&self.path).filter(|_| self.comes_back) {
            let _ = write!(text, ", rev {}", now.revision.short());
            text.extend(plan.counts.get(&self.path).map(String::as_str));
        }
        if !plan.around.is_empty() {
            text.push_str("; what others changed stays");
        }
        let is_parent = |step: &&ChangeStep| step.removes() && self.parents.contains(step.target.path());
        let removed = plan.changes.iter().filter(is_parent).count();
        if removed > 0 {
            let _ = write!(text, "; removed {} made for it", count(removed, "directory"));
        }
        text
    }

    /// `text` with the diff, and the problems that came back with a former content.
    fn answer(
        &self,
        cx: &CallContext,
        planned: &PlannedReturn,
        (mut text, diff): (String, &str),
        introduced: IntroducedProblems,
    ) -> Answer {
        let diff = if self.is_tree(&planned.plan) { "" } else { diff };
        let shown = ShownDiff::of(&introduced.leave_room(cx), &self.path, diff, 0);
        text.extend(planned.whose.iter().map(|whose| format!("\n{whose}")));
        if !shown.block.is_empty() {
            let _ = write!(text, "\n\n{}", shown.block);
        }
        text.push_str(&introduced.text);
        let output = Output {
            path: self.path.to_string(),
            reverted: planned.reverted.clone(),
            diff: shown.text,
            diff_cut_lines: shown.cut_lines,
            notes: planned.whose.iter().cloned().chain(shown.hidden).collect(),
            problems: introduced.problems,
            ..Output::default()
        };
        Answer::text(text, &output).data(cx, &output)
    }

    /// Whether more than one entry changes, whose diffs nobody asked for.
    fn is_tree(&self, plan: &UndoPlan) -> bool {
        let others = plan.changes.iter().filter(|step| !self.parents.contains(step.target.path()));
        others.count() > 1 && self.former.is_none() && plan.changes.iter().all(|step| step.source.is_none())
    }
}

impl PlannedReturn {
    /// The change; or an answer, where nothing is to be done, or it is only to be shown.
    pub(super) fn plan(self, cx: &CallContext, dry_run: Option<bool>) -> Plan {
        let what = if self.plan.changes.is_empty() {
            let none = self.plan.skipped.is_empty() && self.others.is_empty();
            let why = if none { "there is nothing to take back" } else { "what could be taken back is left alone" };
            format!("Nothing was changed: {why}")
        } else if dry_run.unwrap_or(false) {
            format!("Would do: {} (dry run, nothing was changed)", self.order)
        } else {
            return Plan::Change(Box::new(self));
        };
        match &self.single {
            Some(single) => {
                let text = (what, self.plan.diff.as_str());
                Plan::Answer(single.answer(cx, &self, text, IntroducedProblems::default()))
            }
            None => Plan::Answer(self.answer(cx, what, None)),
        }
    }

    /// What an answer shows of the diff, once it is done: a state that is known needs none.
    fn news(&self) -> &str {
        if self.is_of_others { &self.plan.diff } else { &self.plan.around }
    }

    /// `done`: the notes on what was done.
    fn answer(&self, cx: &CallContext, what: String, done: Option<&[String]>) -> Answer {
        let steps = self.plan.changes.len();
        let lines: Vec<String> =
            if done.is_some() { self.plan.done().collect() } else { self.plan.planned().collect() };
        let (diff, notes) = done.map_or((self.plan.diff.as_str(), &[][..]), |notes| (self.news(), notes));
        let left = self.plan.skipped.len() + self.others.len();
        let left = (steps > 0 && left > 0).then(|| skipped_headline(left));
        let mut text = noted(what, &[notes, left.as_slice()].concat());
        let whose = self.whose.as_ref().filter(|_| steps > 0);
        text.extend(whose.iter().map(|whose| format!("\n{whose}")));
        let skipped = self.plan.skipped.iter().map(|left| (left.shown(), left.reason.to_string()));
        let left_alone = skipped.chain(self.others.clone()).map(|(path, reason)| LeftAlonePath { path, reason });
        let left_alone: Vec<LeftAlonePath> = left_alone.collect();
        let left_lines = left_alone.iter().map(|left| format!("left alone: {} ({})", left.path, left.reason));
        let mut skipped: Vec<String> = left_lines.collect();
        let others = skipped.split_off(self.plan.skipped.len());
        let mut list = String::new();
        for (lines, noun, end) in
            [(&lines, "change", ""), (&skipped, "path", " left alone"), (&others, "path", " of others")]
        {
            for line in lines.iter().take(NAMED) {
                let _ = write!(list, "\n{line}");
            }
            if lines.len() > NAMED {
                let _ = write!(list, "\n… and {} more{end}", count(lines.len() - NAMED, noun));
            }
        }
        if !left_alone.is_empty() {
            list.push_str("\npass include_others=true to take back what others changed as well; it is kept first");
        }
        let paths: Vec<_> = self.plan.paths.iter().chain(self.plan.skipped.iter().map(|left| &left.path)).collect();
        text.push_str(&fenced(&cx.workspace, paths.iter().copied(), list));
        let mut shown_text = String::new();
        let (mut cut_lines, mut hidden) = (0, None);
        if let Some(first) = self.plan.paths.first() {
            // The same reserve as around a diff alone, after the list.
            let room = cx.budget.text_bytes().saturating_sub(text.len() + 700);
            let shown = ShownDiff::within(cx, first, diff, 0, room);
            if !shown.block.is_empty() {
                let _ = write!(text, "\n\n{}", shown.block);
            }
            (shown_text, cut_lines, hidden) = (shown.text, shown.cut_lines, shown.hidden);
        }
        let output = Output {
            path: self.plan.paths.first().map(ToString::to_string).unwrap_or_default(),
            reverted: self.reverted.clone(),
            diff: shown_text,
            diff_cut_lines: cut_lines,
            notes: notes.iter().chain(whose).cloned().chain(hidden).collect(),
            problems: Vec::new(),
            steps: lines,
            left_alone,
        };
        Answer::text(text, &output).data(cx, &output)
    }
}

impl Change for PlannedReturn {
    fn fingerprint(&self) -> Fingerprint {
        let each: Vec<Fingerprint> = (self.plan.paths.iter())
            .map(|path| Fingerprint { path: path.to_string(), base: Base::Revision(self.plan.effect()), content: None })
            .collect();
        Fingerprint::of_several(&each)
    }

    fn preview(&self) -> Preview {
        let mut diff = String::new();
        for line in &self.plan.lines {
            let _ = writeln!(diff, "# {line}");
        }
        diff.push_str(&self.plan.diff);
        if let Some(single) = &self.single {
            let diff = if single.is_tree(&self.plan) { String::new() } else { self.plan.diff.clone() };
            return Preview { summary: self.order.clone(), diff, destructive: single.is_destructive };
        }
        let all = self.takes_back.is_none().then(|| format!(" ({})", count(self.plan.changes.len(), "entry")));
        let summary = format!("{}{}", self.order, all.unwrap_or_default());
        Preview { summary, diff, destructive: self.plan.is_destructive }
    }

    fn cost(&self) -> Cost {
        self.plan.cost.clone()
    }

    fn commit(self: Box<Self>, cx: &CallContext, approval: Approval) -> Result<Answer, ToolError> {
        // Read before the change, after which the file holds the former text.
        let texts = self.single.as_ref().and_then(|single| single.texts(cx));
        let committed = commit::commit_files(cx, "undo", &self.plan.changes, self.undoable, approval)?;
        let is_back =
            |step: &&ChangeStep| step.creates() && matches!(step.change.to, Some(EntryState::Directory { .. }));
        let back = self.plan.changes.iter().filter(is_back).filter_map(|step| DiskOfCall(cx).stat(step.target.path()));
        let back: Vec<(u64, u64)> = back.map(|stat| stat.device_and_inode()).collect();
        cx.session.history.undo_list().brought_back.extend(back);
        if let Some((session, number)) = &self.takes_back {
            cx.session.history.take_back(session, *number);
        }
        let Some(single) = &self.single else {
            return Ok(self.answer(cx, self.done.clone(), Some(&committed.notes)));
        };
        let introduced = texts.map_or_else(IntroducedProblems::default, |(old, new)| {
            let (path, old) = (&single.path, Some(old.text()));
            IntroducedProblems::by(cx, &ChangedText { path, real: path, old, new: new.text() })
        });
        let text = format!("{}{}", self.done, single.outcome(cx, &self.plan));
        Ok(single.answer(cx, &self, (text, self.news()), introduced))
    }
}

// The result of an undo as data.

/// The complete result as data.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub(crate) struct Output {
    /// What was reverted, as paths are printed; the first of several.
    pub(super) path: String,
    /// The tool whose change was reverted.
    pub(super) reverted: String,
    /// Unified diff of what it did, cut to 60 lines, where that is not the state before one's own change.
    pub(super) diff: String,
    /// Lines of the diff that are not shown.
    pub(super) diff_cut_lines: usize,
    /// Notes on it.
    pub(super) notes: Vec<String>,
    /// Problems that the file has again.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) problems: Vec<Problem>,
    /// What was done to each entry, where there were several.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) steps: Vec<String>,
    /// What was left as it is.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) left_alone: Vec<LeftAlonePath>,
}

/// A path that was left as it is.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct LeftAlonePath {
    /// The path as it is printed.
    pub(super) path: String,
    /// Why.
    pub(super) reason: String,
}
