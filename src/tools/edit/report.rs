//! What is said of an edit that was made, or would be.

use std::fmt::Write as _;

use crate::{
    edit::{self, Brief, Strategy},
    workspace::{Base, Revision, WorkspacePath},
};

use super::{
    super::{
        Answer, CallContext, freshness,
        output::{count, noted},
        recorded,
    },
    Facts, Output,
    job::Planned,
};

impl Planned {
    /// The answer, with as much of the diff as fits. `made`: the revision of an edit that was made and
    /// what there is to say about it; none for a dry run.
    pub(super) fn answer(
        self,
        cx: &CallContext,
        path: &WorkspacePath,
        made: Option<(Revision, recorded::Note)>,
    ) -> Answer {
        let dry_run = made.is_none();
        let name = freshness::diff_name(path);
        let room = recorded::room(cx, path);
        let diff = edit::unified_diff(&name, self.old_text(), self.new_text(), Some(recorded::DIFF_LINES));
        let brief = Brief::of(&diff.text, diff.cut_lines, recorded::DIFF_LINES, room);
        let mut notes: Vec<String> = self
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
        let revision = made.map_or_else(
            || Revision::of(self.bytes()),
            |(revision, kept)| {
                notes.extend(kept.text());
                revision
            },
        );
        let created = self.base == Base::Absent;
        let facts = Facts {
            replacements: self.replacements,
            strategies: self.strategies.iter().map(ToString::to_string).collect(),
            added: diff.added,
            removed: diff.removed,
            diff_cut_lines: brief.cut_lines,
            revision: revision.to_string(),
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
        let mut text = noted(format!("{done} {path}: {how_much}"), &notes);
        let _ = write!(text, "\n\n{}", brief.told());
        let data = Output { path: path.to_string(), diff: brief.text, notes, facts: facts.clone() };
        Answer::text(text, &facts).data(cx, &data)
    }
}
