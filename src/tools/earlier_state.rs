//! Earlier states for the person at the command line: going back to one, and comparing it with now.
//!
//! All recorded changes count, whichever session made them: it is the person's tree.

use std::fmt::Write as _;

use confined_fs::{Approval, WorkspacePath};

use super::{
    CallContext, ToolError,
    answer::{count, noted},
    undo::{DiffDirection, UndoPlan, changes_since, left_alone_headline},
    with_history::{self, Undoable},
};

pub(crate) use super::undo::HistoryPoint;

/// Goes back to an earlier state, and says what was done.
pub(crate) fn restore(
    cx: &CallContext,
    earlier: HistoryPoint<'_>,
    paths: &[String],
    include_others: bool,
    dry_run: bool,
) -> Result<String, ToolError> {
    let way = way_to(cx, earlier, paths, include_others, DiffDirection::Back)?;
    let left = way.left_alone.len();
    let mut notes: Vec<String> = (left > 0).then(|| left_alone_headline(left)).into_iter().collect();
    let steps = count(way.changes.len(), "step");
    let mut text = if dry_run {
        noted(format!("Would restore in {steps}"), &notes)
    } else {
        if !way.changes.is_empty() {
            let approval = Approval::by_policy();
            let done = with_history::commit_files(cx, "restore", &way.changes, Undoable::No, approval)?;
            notes.extend(done.notes);
        }
        noted(format!("Restored in {steps}"), &notes)
    };
    for line in &way.lines {
        let _ = write!(text, "\n{line}");
    }
    for left in &way.left_alone {
        let _ = write!(text, "\nleft alone: {} ({})", left.path, left.reason);
    }
    if !way.left_alone.is_empty() {
        text.push_str("\n--include-others restores what others changed as well; their content is kept first");
    }
    if dry_run {
        let _ = write!(text, "\n\n{}", way.diff);
    }
    Ok(text)
}

/// How an earlier state differs from now: what is no text in one line, then the unified diffs.
pub(crate) fn diff(cx: &CallContext, earlier: HistoryPoint<'_>, paths: &[String]) -> Result<String, ToolError> {
    let way = way_to(cx, earlier, paths, true, DiffDirection::Forward)?;
    if way.changes.is_empty() {
        return Ok("no difference".to_owned());
    }
    let mut text = String::new();
    for line in &way.lines {
        let _ = writeln!(text, "# {line}");
    }
    for left in &way.left_alone {
        let _ = writeln!(text, "# not compared: {} ({})", left.path, left.reason);
    }
    text.push_str(&way.diff);
    Ok(text)
}

fn way_to(
    cx: &CallContext,
    earlier: HistoryPoint<'_>,
    paths: &[String],
    include_others: bool,
    diff: DiffDirection,
) -> Result<UndoPlan, ToolError> {
    let real = |text: &String| -> Result<WorkspacePath, ToolError> {
        let path = cx.workspace.resolve(text)?;
        Ok(cx.workspace.canonical(&path).unwrap_or(path))
    };
    let within = paths.iter().map(real).collect::<Result<Vec<_>, _>>()?;
    UndoPlan::of(cx, &changes_since(cx, earlier, true)?, include_others, &within, diff)
}
