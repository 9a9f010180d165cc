//! What a patch did: one line for each file, and diffs only of those that were found otherwise than the patch has them.

use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::Serialize;
use source_outline::problems::Problem;
use text_edit::{DiffExtent, Strategy};

use confined_fs::Revision;

use super::{
    super::{
        Answer, CallContext,
        answer::{MASKED_CHANGE, count, noted},
        introduced_problems::{ChangedText, IntroducedProblems},
        match_words::{kept, layout},
        shown_diff::{BRIEF, ShownDiff},
    },
    net_change::{NetChange, NetChanges, NetKind},
};

/// Files whose new problems are looked for: each look can ask a language server.
const CHECKED: usize = 20;
/// Notes on the hunks of one file.
const NOTED: usize = 5;

/// The complete result as data.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Output {
    /// The files, in the order of the patch.
    files: Vec<FileOutput>,
    /// What else there is to know of it.
    notes: Vec<String>,
    /// Diffs of the files in which hunks were found otherwise than the patch has them.
    diff: String,
    /// Problems that the change has introduced, such as syntax errors.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    problems: Vec<Problem>,
}

/// What became of one file.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct FileOutput {
    /// `added`, `modified`, `deleted`, `renamed` or `copied`.
    change: String,
    /// The file, as paths are printed.
    path: String,
    /// Its path before.
    #[serde(skip_serializing_if = "Option::is_none")]
    from: Option<String>,
    /// Its revision now.
    #[serde(skip_serializing_if = "Option::is_none")]
    revision: Option<String>,
    /// Lines added.
    added: usize,
    /// Lines removed.
    removed: usize,
    /// How its hunks were found that are not exactly as given.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
}

#[derive(Serialize)]
struct Facts<'f> {
    files: &'f [FileOutput],
    #[serde(skip_serializing_if = "<[Problem]>::is_empty")]
    problems: &'f [Problem],
}

/// The answer. `revisions` are those of the steps, in their order.
pub(super) fn answer(
    cx: &CallContext,
    changes: &NetChanges,
    revisions: &[(confined_fs::WorkspacePath, Option<Revision>)],
    notes: Vec<String>,
) -> Answer {
    let revision =
        |change: &NetChange| revisions.iter().find(|(path, _)| *path == change.real).and_then(|(_, one)| *one);
    let (mut problems, mut problem_text) = (Vec::new(), String::new());
    for change in changes.files.iter().filter(|change| change.kind != NetKind::Deleted).take(CHECKED) {
        let Some(new) = &change.new else { continue };
        let old = change.old.as_ref().map(text_file::Document::text);
        let text_change = ChangedText { path: &change.path, real: &change.real, old, new: new.text() };
        let introduced = IntroducedProblems::by(cx, &text_change);
        problem_text.push_str(&introduced.text);
        problems.extend(introduced.problems);
    }
    let mut text = noted(format!("Applied to {}", count(changes.files.len(), "file")), &notes);
    let mut files = Vec::new();
    for change in &changes.files {
        let revision = revision(change);
        let diff = change.diff(DiffExtent::Brief(0));
        let file = FileOutput {
            change: change.kind.name().to_owned(),
            path: change.path.to_string(),
            from: change.from.as_ref().map(ToString::to_string),
            revision: revision.map(|revision| revision.to_string()),
            added: diff.added,
            removed: diff.removed,
            notes: hunk_notes(change),
        };
        let from = file.from.as_ref().map(|from| format!("{from} -> ")).unwrap_or_default();
        let rev = revision.map(|revision| format!(", rev {}", revision.short())).unwrap_or_default();
        let line = noted(format!("{} {from}{}{rev}", change.kind.letter(), file.path), &file.notes);
        let _ = write!(text, "\n{line}");
        files.push(file);
    }
    let room = CallContext { budget: cx.budget.less(&text).less(&problem_text), ..cx.clone() };
    let mut diffs = String::new();
    for change in changes.files.iter().filter(|change| !change.hunks.is_empty()) {
        let diff = change.diff(BRIEF);
        let room = CallContext { budget: room.budget.less(&diffs), ..room.clone() };
        let shown = ShownDiff::of(&room, &change.real, &diff.text, diff.cut_lines);
        if !shown.block.is_empty() {
            let _ = write!(text, "\n\n{}", shown.block);
            diffs.push_str(&shown.text);
        }
    }
    text.push_str(&problem_text);
    let answer = Answer::text(text, &Facts { files: &files, problems: &problems });
    answer.data_of(cx, || Output { files, notes, diff: diffs, problems })
}

/// What there is to say of the hunks of a file.
fn hunk_notes(change: &NetChange) -> Vec<String> {
    let mut notes: Vec<String> = change
        .hunks
        .iter()
        .take(NOTED)
        .map(|hunk| {
            let mut parts = Vec::new();
            parts.extend(kept(hunk.strategy).map(|kept| format!("not exactly as given: {kept}")));
            if hunk.strategy.has(Strategy::LineEndings) {
                parts.push(layout(change.old.as_ref()));
            }
            parts.extend(hunk.elsewhere.map(|(at, said)| format!("at line {at}, not {said}")));
            parts.extend(hunk.note.clone());
            format!("hunk {} {}", hunk.number, parts.join(", "))
        })
        .collect();
    if change.hunks.len() > NOTED {
        notes.push(format!("and {} more hunks found otherwise", change.hunks.len() - NOTED));
    }
    notes.extend(change.is_masked.then(|| MASKED_CHANGE.to_owned()));
    notes
}
