//! Staged changes, for the person at the command line: shown, made on the disk, or dropped. No tool of a model's.
//!
//! What is made goes through the same checks as any other change, in one transaction, and can be taken back with
//! `rootbound restore`.

use std::fmt::Write as _;

use crate::workspace::{NodeSummary, StagedChange, Workspace, WorkspacePath};

use super::{CallContext, Kind, ToolError, answer::count, shown_diff};

/// The staged changes of all roots as a diff. Contents that policy denies are not shown, and values of secrets are masked.
pub(crate) fn diff(workspace: &Workspace) -> Result<String, ToolError> {
    let mut text = String::new();
    for change in changes(workspace)?.iter().filter(|change| !change.is_done()) {
        let _ = write!(text, "{}", one(workspace, change)?);
    }
    if text.is_empty() {
        text.push_str("nothing is staged\n");
    }
    Ok(text)
}

/// TODO
pub(crate) fn apply(_cx: &CallContext, _paths: &[String], _skip_conflicts: bool) -> Result<String, ToolError> {
    Err(ToolError::new(Kind::Internal, "not yet"))
}

/// Drops what is staged at these paths and below them, or everything.
pub(crate) fn discard(workspace: &Workspace, paths: &[String]) -> Result<String, ToolError> {
    let staged = changes(workspace)?;
    let selected = Selected::of(workspace, paths)?;
    let dropped = staged.iter().filter(|change| !change.is_done() && selected.holds(&change.path)).count();
    let tops: Vec<WorkspacePath> = if paths.is_empty() {
        workspace.roots().iter().map(|root| workspace.root_path(root)).collect()
    } else {
        selected.0
    };
    for top in &tops {
        match workspace.discard_staged(top) {
            // Nothing is staged over a root that is only read.
            Err(error) if paths.is_empty() && error.kind == crate::workspace::AccessErrorKind::ReadOnly => {}
            Err(error) if error.kind == crate::workspace::AccessErrorKind::Stale => {
                return Err(ToolError::invalid(format!(
                    "{top} is in a directory that was deleted or replaced as a whole"
                ))
                .hint("discard that directory: `rootbound diff` shows it"));
            }
            answer => answer?,
        }
    }
    Ok(format!("Discarded {}", count(dropped, "staged change")))
}

fn changes(workspace: &Workspace) -> Result<Vec<StagedChange>, ToolError> {
    if workspace.layer_sizes().is_empty() {
        return Err(ToolError::new(
            Kind::NotFound,
            "there is no layer of staged changes: no state folder can be used, or every directory is read-only",
        )
        .hint("see what is in force with `rootbound doctor --stage`"));
    }
    workspace.staged_changes().map_err(|(path, error)| {
        ToolError::new(Kind::Internal, format!("the staged change of {path} could not be read: {}", error.kind()))
            .hint("look at the permissions of the file and of the state folder")
            .source(error)
    })
}

/// The paths that a person named.
struct Selected(Vec<WorkspacePath>);

impl Selected {
    fn of(workspace: &Workspace, paths: &[String]) -> Result<Self, ToolError> {
        Ok(Self(paths.iter().map(|text| workspace.resolve(text)).collect::<Result<_, _>>()?))
    }

    fn holds(&self, path: &WorkspacePath) -> bool {
        let host = |path: &WorkspacePath| path.root().host().join(path.relative());
        self.0.is_empty() || self.0.iter().any(|top| host(path).starts_with(host(top)))
    }
}

/// One change: a note on what is no text, and a diff.
fn one(workspace: &Workspace, change: &StagedChange) -> Result<String, ToolError> {
    let path = &change.path;
    let conflict = if change.is_conflict() { " (changed on the disk meanwhile)" } else { "" };
    let words = |node: NodeSummary| match node {
        NodeSummary::Absent => "nothing",
        NodeSummary::File(..) => "file",
        NodeSummary::Link(_) => "link",
        NodeSummary::Directory => "directory",
        NodeSummary::Other => "special file",
    };
    let mut text = match (change.disk, change.staged) {
        (NodeSummary::Absent, now) => format!("new {} {path}{conflict}\n", words(now)),
        (was, NodeSummary::Absent) => format!("deleted {} {path}{conflict}\n", words(was)),
        (NodeSummary::File(one, was), NodeSummary::File(other, now)) if one == other => {
            return Ok(format!("mode of {path}: {was:o} to {now:o}{conflict}\n"));
        }
        (was, now) if words(was) == words(now) => format!("changed {} {path}{conflict}\n", words(now)),
        (was, now) => format!("{} {path} becomes a {}{conflict}\n", words(was), words(now)),
    };
    let failed = |error: std::io::Error| ToolError::from(crate::workspace::AccessError::from_io(error, path));
    if let NodeSummary::Link(_) = change.staged {
        let target = crate::workspace::escape_name(&change.target().map_err(failed)?).to_string();
        let _ = writeln!(text, "  to {target}");
    }
    let is_file = |node| matches!(node, NodeSummary::File(..));
    if !is_file(change.disk) && !is_file(change.staged) {
        return Ok(text);
    }
    // `None` is no file, `Some(None)` one that may not be shown.
    let old = is_file(change.disk).then(|| {
        let bytes = workspace.read(path, u64::MAX).ok().map(|now| now.bytes);
        bytes.and_then(|bytes| workspace.shown(path, bytes))
    });
    let new =
        if is_file(change.staged) { Some(workspace.shown(path, change.content().map_err(failed)?)) } else { None };
    if old == Some(None) || new == Some(None) {
        text.push_str("  its content is not shown: it is a secret\n");
        return Ok(text);
    }
    let shown = shown_diff::diff(path, old.flatten(), new.flatten());
    if shown.is_empty() {
        text.push_str("  no text, or nothing that is shown differs\n");
    }
    text.push_str(&shown);
    Ok(text)
}
