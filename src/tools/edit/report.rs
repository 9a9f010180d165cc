//! The report on an edit that was made, or would be.

use std::fmt::Write as _;

use text_edit::{Diff, Strategy};
use text_file::{Document, LineEnding};

use confined_fs::{Base, Revision, WorkspacePath};

use super::{
    super::{
        Answer, CallContext,
        answer::{MASKED_CHANGE, count, noted},
        commit::Rewrite as _,
        introduced_problems::{ChangedText, IntroducedProblems},
        match_words::{endings, kept, other_encoding},
        shown_diff::{self, ShownDiff, hunk_lines},
    },
    cells,
    output::{Facts, FileOutput, Output},
    planned::Planned,
};

impl Planned {
    /// The answer, with as much of the diff as fits. `made`: the revision of an edit that was made and
    /// what there is to say about it; none for a dry run.
    pub(super) fn answer(
        self,
        cx: &CallContext,
        path: &WorkspacePath,
        real: &WorkspacePath,
        made: Option<(Revision, Option<String>)>,
    ) -> Answer {
        let dry_run = made.is_none();
        let introduced = if dry_run {
            IntroducedProblems::default()
        } else {
            let old = self.old.as_ref().map(Document::text);
            IntroducedProblems::by(cx, &ChangedText { path, real, old, new: self.file_text() })
        };
        let cx = &introduced.leave_room(cx);
        let name = shown_diff::diff_name(path);
        let diff = text_edit::unified_diff(&name, self.old_text(), self.new_text(), shown_diff::BRIEF);
        let shown = ShownDiff::of(cx, self.fenced_by(cx, real), &diff.text, diff.cut_lines);
        cx.session.ledger.showed(real, None, hunk_lines(&shown.text));
        let mut notes = self.notes(real, |index| format!("edits[{index}]"));
        notes.extend(self.within.note(!cx.workspace.is_untrusted(real)));
        let revision = made.map_or_else(
            || Revision::of(self.shown_bytes()),
            |(revision, kept)| {
                notes.extend(kept);
                revision
            },
        );
        let created = self.base == Base::Absent;
        let mut facts = self.facts((&diff, shown.cut_lines), revision, dry_run);
        facts.problems = introduced.problems;
        let done = match (dry_run, created) {
            (true, _) => "Dry run, nothing was written",
            (false, true) => "Created",
            (false, false) => "Edited",
        };
        let how_much =
            if created { count(self.bytes().len(), "byte") } else { count(self.replacements, "replacement") };
        let rev = if dry_run { String::new() } else { format!(", rev {}", revision.short()) };
        let mut text = noted(format!("{done}: {how_much}{rev}"), &notes);
        let _ = write!(text, "\n\n{}{}", shown.block, introduced.text);
        notes.extend(shown.hidden);
        let file = FileOutput { path: path.to_string(), diff: shown.text, notes, facts: facts.clone() };
        Answer::text(text, &facts).data(cx, &Output { file: Some(file), ..Output::default() })
    }

    /// The numbers of the change, of whose diff so many lines are not shown.
    pub(super) fn facts(&self, (diff, cut_lines): (&Diff, usize), revision: Revision, dry_run: bool) -> Facts {
        Facts {
            replacements: self.replacements,
            strategies: self.strategies.iter().map(ToString::to_string).collect(),
            added: diff.added,
            removed: diff.removed,
            diff_cut_lines: cut_lines,
            revision: revision.to_string(),
            created: self.base == Base::Absent,
            dry_run,
            problems: Vec::new(),
        }
    }

    /// What there is to say of the change of the file that is truly at `real`, with the entries called by `name`.
    pub(super) fn notes(&self, real: &WorkspacePath, name: impl Fn(usize) -> String) -> Vec<String> {
        let mut notes: Vec<String> = self
            .strategies
            .iter()
            .enumerate()
            .filter_map(|(index, strategies)| Some((index, kept(*strategies)?)))
            .map(|(index, kept)| {
                let which = if self.strategies.len() == 1 { String::new() } else { name(index) + " " };
                format!("{which}not exactly as given: {kept}")
            })
            .collect();
        notes.extend(self.notes.iter().cloned());
        notes.extend(self.given_layout());
        notes.extend(self.is_masked().then(|| MASKED_CHANGE.to_owned()));
        if let Some(cells) = &self.cells {
            let numbers: Vec<usize> = cells.numbers.iter().copied().collect();
            notes.insert(0, format!("in {}", cells::cells(&numbers)));
        } else if self.breaks_notebook(real) {
            notes.push("its JSON is no longer that of a notebook".to_owned());
        }
        notes
    }

    /// Line endings and encoding of the file, which the new text was given, where they are not the usual ones or the
    /// request has others.
    fn given_layout(&self) -> Option<String> {
        // Text that is put into the JSON of a notebook has no line endings.
        let file = self.old.as_ref().filter(|file| !file.text().is_empty() && self.cells.is_none())?;
        let has_others = self.strategies.iter().any(|strategies| strategies.has(Strategy::LineEndings));
        let ending = match file.line_ending() {
            _ if self.mixes_endings() => None,
            LineEnding::Lf | LineEnding::None if !has_others => None,
            ending => Some(endings(ending)),
        };
        let parts: Vec<&str> = ending.into_iter().chain(other_encoding(file)).collect();
        (!parts.is_empty()).then(|| format!("{} kept", parts.join(" and ")))
    }
}
