//! The change that goes back to an earlier state, with its answer.

use std::{collections::BTreeSet, fmt::Write as _};

use confined_fs::{Approval, Base};

use crate::session::Cost;

use super::{
    super::{
        Answer, CallContext, Change, Fingerprint, Plan, Preview, ToolError,
        answer::{count, noted},
        fence::fenced,
        shown_diff::ShownDiff,
        with_history::{self, NewState, Undoable},
    },
    left_alone,
    output::{LeftAlonePath, Output},
    plan::UndoPlan,
};

/// Steps, and paths that are left alone, which an answer names one by one.
const NAMED: usize = 60;

/// The way back to an earlier state, and the words for the answer.
pub(super) struct PlannedWayBack {
    pub(super) way: UndoPlan,
    /// What is done, in the imperative: "Go back to the checkpoint x".
    pub(super) order: String,
    /// The same in the past.
    pub(super) done: String,
    /// The tool whose change is taken back; `undo` where there are several.
    pub(super) reverted: String,
    /// What other sessions changed since.
    pub(super) others: BTreeSet<String>,
    /// What else there is to know.
    pub(super) notes: Vec<String>,
    pub(super) undoable: Undoable,
    /// The session and the number of the one change that is taken back.
    pub(super) takes_back: Option<(String, u64)>,
}

impl PlannedWayBack {
    pub(super) fn plan(self, cx: &CallContext, dry_run: Option<bool>) -> Plan {
        if self.way.changes.is_empty() {
            return Plan::Answer(self.nothing(cx));
        }
        if dry_run.unwrap_or(false) { Plan::Answer(self.dry_run(cx)) } else { Plan::Change(Box::new(self)) }
    }

    /// What would be done.
    pub(super) fn dry_run(&self, cx: &CallContext) -> Answer {
        self.answer(cx, &format!("Would do: {} (dry run, nothing was changed)", self.order), &self.notes)
    }

    /// That there is nothing to be done.
    pub(super) fn nothing(&self, cx: &CallContext) -> Answer {
        let none = self.way.left_alone.is_empty() && self.others.is_empty();
        let why = if none { "there is nothing to take back" } else { "what could be taken back is left alone" };
        self.answer(cx, &format!("Nothing was changed: {why}"), &self.notes)
    }

    fn answer(&self, cx: &CallContext, what: &str, notes: &[String]) -> Answer {
        let steps = self.way.changes.len();
        let what = if steps == 0 { what.to_owned() } else { format!("{what}: {}", count(steps, "step")) };
        let left = self.way.left_alone.len() + self.others.len();
        let left = (steps > 0 && left > 0).then(|| left_alone::headline(left));
        let mut text = noted(what, &[notes, left.as_slice()].concat());
        let mut list = String::new();
        for line in self.way.lines.iter().take(NAMED) {
            let _ = write!(list, "\n{line}");
        }
        if self.way.lines.len() > NAMED {
            let _ = write!(list, "\n… and {} more", count(self.way.lines.len() - NAMED, "step"));
        }
        for left in self.way.left_alone.iter().take(NAMED) {
            let _ = write!(list, "\nleft alone: {} ({})", left.path, left.reason);
        }
        if self.way.left_alone.len() > NAMED {
            let _ = write!(list, "\n… and {} more left alone", count(self.way.left_alone.len() - NAMED, "path"));
        }
        for path in self.others.iter().take(NAMED) {
            let _ = write!(list, "\nleft alone: {path} (changed by another session)");
        }
        if self.others.len() > NAMED {
            let _ = write!(list, "\n… and {} more of other sessions", count(self.others.len() - NAMED, "path"));
        }
        if !self.way.left_alone.is_empty() || !self.others.is_empty() {
            list.push_str("\npass include_others=true to take back what others changed as well; it is kept first");
        }
        let paths: Vec<_> = self.way.paths.iter().chain(self.way.left_alone.iter().map(|left| &left.path)).collect();
        text.push_str(&fenced(&cx.workspace, paths.iter().copied(), list));
        let mut shown_text = String::new();
        let (mut cut_lines, mut hidden) = (0, None);
        if let Some(first) = self.way.paths.first() {
            let room = cx.budget.text_bytes().saturating_sub(text.len() + 700);
            let shown = ShownDiff::within(cx, first, &self.way.diff, 0, room);
            if !shown.block.is_empty() {
                let _ = write!(text, "\n\n{}", shown.block);
            }
            (shown_text, cut_lines, hidden) = (shown.text, shown.cut_lines, shown.hidden);
        }
        let output =
            Output {
                path: self.way.paths.first().map(ToString::to_string).unwrap_or_default(),
                reverted: self.reverted.clone(),
                diff: shown_text,
                diff_cut_lines: cut_lines,
                notes: notes.iter().cloned().chain(hidden).collect(),
                problems: Vec::new(),
                steps: self.way.lines.clone(),
                left_alone: (self.way.left_alone.iter())
                    .map(|left| LeftAlonePath { path: left.path.to_string(), reason: left.reason.to_string() })
                    .chain(self.others.iter().map(|path| LeftAlonePath {
                        path: path.clone(),
                        reason: "changed by another session".to_owned(),
                    }))
                    .collect(),
            };
        Answer::text(text, &output).data(cx, &output)
    }
}

impl Change for PlannedWayBack {
    fn fingerprint(&self) -> Fingerprint {
        let each: Vec<Fingerprint> = (self.way.paths.iter())
            .map(|path| Fingerprint { path: path.to_string(), base: Base::Revision(self.way.effect()), content: None })
            .collect();
        Fingerprint::of_several(&each)
    }

    fn preview(&self) -> Preview {
        let mut diff = String::new();
        for line in &self.way.lines {
            let _ = writeln!(diff, "# {line}");
        }
        diff.push_str(&self.way.diff);
        let summary = format!("{}: {}", self.order, count(self.way.changes.len(), "step"));
        Preview { summary, diff, destructive: self.way.is_destructive }
    }

    fn cost(&self) -> Cost {
        self.way.cost.clone()
    }

    fn commit(self: Box<Self>, cx: &CallContext, approval: Approval) -> Result<Answer, ToolError> {
        let committed = with_history::commit_files(cx, "undo", &self.way.changes, self.undoable, approval)?;
        for step in &self.way.changes {
            if matches!(step.change, NewState::Directory { .. }) {
                cx.session.history.brought_back(step.target.path());
            }
        }
        if let Some((session, number)) = &self.takes_back {
            cx.session.history.take_back(session, *number);
        }
        let mut notes = self.notes.clone();
        notes.extend(committed.notes);
        Ok(self.answer(cx, &self.done, &notes))
    }
}
