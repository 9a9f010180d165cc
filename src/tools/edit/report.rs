//! What is said of an edit that was made, or would be.

use std::fmt::Write as _;

use crate::{
    edit::{self, Strategy},
    workspace::{Base, Revision, WorkspacePath},
};

use super::{
    super::{Answer, CallContext, freshness, output::count},
    Facts, Output,
    job::Planned,
};

/// Bytes of the answer kept back for what stands around the diff.
const AROUND: usize = 400;

impl Planned {
    /// The answer, with as much of the diff as fits. `made`: the revision of an edit that was made and
    /// what there is to say about it, "" for nothing; none for a dry run.
    pub(super) fn answer(self, cx: &CallContext, path: &WorkspacePath, made: Option<(Revision, &str)>) -> Answer {
        let dry_run = made.is_none();
        let name = freshness::diff_name(path);
        let room = cx.settings.max_output.saturating_sub(AROUND);
        let mut diff = edit::unified_diff(&name, self.old_text(), self.new_text(), None);
        if diff.text.len() > room {
            // Lines that fit on the average; the last resort keeps the head.
            let lines = diff.text.lines().count().max(1);
            let fit = (room / (diff.text.len() / lines).max(1)).max(4);
            diff = edit::unified_diff(&name, self.old_text(), self.new_text(), Some(fit));
            if diff.text.len() > room {
                let end = (0..=room).rev().find(|at| diff.text.is_char_boundary(*at)).unwrap_or(0);
                diff.text.truncate(end);
            }
        }
        let tolerant: Vec<String> = self
            .strategies
            .iter()
            .enumerate()
            .filter(|(_, strategy)| **strategy != Strategy::Exact)
            .map(|(index, strategy)| {
                if self.strategies.len() == 1 {
                    format!("matched by {strategy}, not exactly")
                } else {
                    format!("edits[{index}] matched by {strategy}, not exactly")
                }
            })
            .collect();
        let created = self.base == Base::Absent;
        let facts = Facts {
            replacements: self.replacements,
            strategies: self.strategies.iter().map(ToString::to_string).collect(),
            added: diff.added,
            removed: diff.removed,
            diff_cut_lines: diff.cut_lines,
            revision: made.map_or_else(|| Revision::of(self.bytes()), |(revision, _)| revision).to_string(),
            created,
            dry_run,
        };
        let done = match (dry_run, created) {
            (true, _) => "Dry run, nothing was written:",
            (false, true) => "Created",
            (false, false) => "Edited",
        };
        let how_much =
            if created { count(self.bytes().len(), "byte") } else { count(self.replacements, "replacement") };
        let mut text = format!("{done} {path}: {how_much}");
        for one in tolerant {
            text.push_str("; ");
            text.push_str(&one);
        }
        text.push_str(made.map(|(_, note)| note).unwrap_or_default());
        text.push_str("\n\n");
        text.push_str(diff.text.trim_end_matches('\n'));
        if diff.cut_lines > 0 {
            let _ = write!(text, "\n… {} more lines of diff", diff.cut_lines);
        }
        let data = Output { path: path.to_string(), diff: diff.text, facts: facts.clone() };
        Answer::text(text, &facts).data(cx, &data)
    }
}
