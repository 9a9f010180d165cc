//! Staged changes, for the person at the command line: shown, applied to the disk, or discarded. A model has no tool
//! for this.
//!
//! What is made goes through the same checks as any other change, in one transaction, and can be taken back with
//! `rootbound history restore`.

use std::{fmt::Write as _, path::PathBuf};

use confined_fs::{
    AccessError, AccessErrorKind, Approval, Base, EntryState, FileState, NodeSummary, StagedChange, Workspace,
    WorkspacePath, escape_name,
};

use super::{
    CallContext, Kind, ToolError,
    answer::{count, noted},
    commit::{self, ChangeStep, ChangedPart, NewState, Undoable},
    shown_diff,
};

/// The staged changes of all roots as a diff. Contents that policy denies are not shown.
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

/// Makes the staged changes of these paths and below them on the disk; without paths, all staged changes. If another
/// program has changed one of them on the disk since, nothing is made. With `skip_conflicts` those stay staged, and the
/// rest is made.
pub(crate) fn apply(cx: &CallContext, paths: &[String], skip_conflicts: bool) -> Result<String, ToolError> {
    let selected = Selected::of(&cx.workspace, paths)?;
    let staged = changes(&cx.workspace)?;
    // The directories that the selected paths need as well.
    let is_needed = |change: &StagedChange| {
        let holds_selected = || selected.0.iter().any(|top| host(top).starts_with(host(&change.path)));
        selected.holds(&change.path) || change.staged == NodeSummary::Directory && holds_selected()
    };
    let chosen: Vec<StagedChange> = staged.into_iter().filter(is_needed).collect();
    let conflicts: Vec<WorkspacePath> =
        chosen.iter().filter(|change| change.is_conflict()).map(|change| change.path.clone()).collect();
    if !conflicts.is_empty() && !skip_conflicts {
        return Err(ToolError::new(
            Kind::Stale,
            format!(
                "nothing was applied: {} changed on the disk since the change was staged: {}",
                count(conflicts.len(), "path"),
                named(&conflicts)
            ),
        )
        .hint("look at `rootbound stage`; apply the rest with --skip-conflicts, or discard these"));
    }
    let is_blocked = |change: &StagedChange| {
        let (own, blocks) = (host(&change.path), |conflict: &WorkspacePath| {
            host(&change.path).starts_with(host(conflict)) && change.staged != NodeSummary::Absent
                || host(conflict).starts_with(host(&change.path)) && change.staged != NodeSummary::Directory
        });
        conflicts.iter().any(|conflict| own == host(conflict) || blocks(conflict))
    };
    let (done, rest): (Vec<_>, Vec<_>) = chosen.into_iter().partition(StagedChange::is_done);
    let (left, todo): (Vec<_>, Vec<_>) = rest.into_iter().partition(is_blocked);
    let made = todo.len();
    let mut notes = Vec::new();
    let mut applied = done;
    if !todo.is_empty() {
        let steps = steps(cx, &todo)?;
        notes = commit::commit_files(cx, "apply", &steps, Undoable::No, Approval::by_policy())?.notes;
        applied.extend(todo);
    }
    // In one order again: each directory before what is in it.
    applied.sort_by(|one, other| one.path.cmp(&other.path));
    // Only now: before the disk had it, the layer was the only copy.
    if let Err(error) = cx.workspace.forget_staged(&applied) {
        notes.push(format!("the layer could not be emptied: {}; the next apply does it", error.kind()));
    }
    if made == 0 && left.is_empty() {
        return Ok("nothing is staged".to_owned());
    }
    let mut text = noted(format!("Applied {}", count(made, "staged change")), &notes);
    if !left.is_empty() {
        let left: Vec<WorkspacePath> = left.into_iter().map(|change| change.path).collect();
        let _ = write!(text, "\nLeft staged, as the disk has changed: {}", named(&left));
    }
    Ok(text)
}

/// How many paths a sentence names.
const NAMED: usize = 20;

fn named(paths: &[WorkspacePath]) -> String {
    let listed: Vec<String> = paths.iter().take(NAMED).map(WorkspacePath::to_string).collect();
    let more = paths.len().saturating_sub(NAMED);
    listed.join(", ") + &if more > 0 { format!(" and {more} more") } else { String::new() }
}

fn host(path: &WorkspacePath) -> PathBuf {
    path.root().host().join(path.relative())
}

/// The steps of these changes: removals first, from the innermost, then new entries, from the outermost.
fn steps(cx: &CallContext, changes: &[StagedChange]) -> Result<Vec<ChangeStep>, ToolError> {
    let (mut going, mut coming) = (Vec::new(), Vec::new());
    for change in changes {
        let path = &change.path;
        let failed = |error: std::io::Error| ToolError::from(AccessError::from_io(error, path));
        let keeps_mode =
            |mode| change.base.is_some_and(|base| matches!(base, NodeSummary::File(_, was) if was == mode));
        // A file whose content alone changes keeps its owner, rights and attributes.
        let replaced = match (change.disk, change.staged) {
            (NodeSummary::File(revision, was), NodeSummary::File(_, mode)) if was == mode || keeps_mode(mode) => {
                Some(revision)
            }
            _ => None,
        };
        let is_only_content = matches!(change.staged, NodeSummary::File(..))
            && (replaced.is_some() || change.disk == NodeSummary::Absent);
        let part = if is_only_content { ChangedPart::Content } else { ChangedPart::Entry };
        let target = commit::writable(cx, path, part)?;
        if target.path() != path {
            return Err(ToolError::new(
                Kind::Stale,
                format!("nothing was applied: a directory above {path} is now a link to {}", target.path()),
            )
            .hint("look at the link, then discard the staged change or apply the other paths by name"));
        }
        if replaced.is_none() && change.disk != NodeSummary::Absent {
            going.push(ChangeStep { target: target.clone(), change: NewState::Removed { base: former(cx, change)? } });
        }
        let new = match change.staged {
            NodeSummary::Absent => continue,
            NodeSummary::File(_, mode) => NewState::Content {
                base: replaced.map_or(Base::Absent, Base::Revision),
                bytes: change.content().map_err(failed)?,
                mode,
                like: None,
            },
            NodeSummary::Directory => {
                NewState::Created(EntryState::Directory { mode: change.directory_mode().map_err(failed)? })
            }
            NodeSummary::Link(_) => NewState::Created(EntryState::Link(change.target().map_err(failed)?)),
            NodeSummary::Other => return Err(special(path)),
        };
        let is_file = matches!(change.disk, NodeSummary::Absent | NodeSummary::File(..));
        let target = match change.staged {
            NodeSummary::File(..) if is_file => commit::writable(cx, path, ChangedPart::Content)?,
            _ => target,
        };
        coming.push(ChangeStep { target, change: new });
    }
    going.reverse();
    going.extend(coming);
    Ok(going)
}

/// The state of the disk at a path whose entry goes.
fn former(cx: &CallContext, change: &StagedChange) -> Result<EntryState, ToolError> {
    let path = &change.path;
    Ok(match change.disk {
        NodeSummary::File(revision, mode) => EntryState::File(FileState { revision, mode }),
        NodeSummary::Directory | NodeSummary::Link(_) => {
            commit::state_now(cx, &cx.workspace.writable_entry(path)?)?.ok_or_else(|| special(path))?
        }
        NodeSummary::Absent | NodeSummary::Other => return Err(special(path)),
    })
}

fn special(path: &WorkspacePath) -> ToolError {
    ToolError::new(Kind::Stale, format!("nothing was applied: {path} is a special file"))
        .hint("replace it by hand, or discard the staged change")
}

/// Drops what is staged at these paths and below them, or everything.
pub(crate) fn discard(workspace: &Workspace, paths: &[String]) -> Result<String, ToolError> {
    let staged = match changes(workspace) {
        // Everything can be dropped, whatever state it is in.
        Err(_) if paths.is_empty() && !workspace.layer_sizes().is_empty() => Vec::new(),
        answer => answer?,
    };
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
            Err(error) if paths.is_empty() && error.kind == AccessErrorKind::ReadOnly => {}
            Err(error) if error.kind == AccessErrorKind::Stale => {
                return Err(ToolError::invalid(format!(
                    "{top} is in a directory that was deleted or replaced as a whole"
                ))
                .hint("discard that directory: `rootbound stage` shows it"));
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
        if error.kind() == std::io::ErrorKind::ResourceBusy {
            return ToolError::new(
                Kind::Stale,
                format!("a staged change of several files below {path} is not complete"),
            )
            .hint("wait for the server; if none runs, `rootbound --stage call ls` completes it or takes it back");
        }
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
        self.0.is_empty() || self.0.iter().any(|top| host(path).starts_with(host(top)))
    }
}

/// One change: a note on what is no text, and a diff.
fn one(workspace: &Workspace, change: &StagedChange) -> Result<String, ToolError> {
    let path = &change.path;
    let conflict = if change.is_conflict() { " (also changed on the disk)" } else { "" };
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
    let failed = |error: std::io::Error| ToolError::from(AccessError::from_io(error, path));
    if let NodeSummary::Link(_) = change.staged {
        let target = escape_name(&change.target().map_err(failed)?).to_string();
        let _ = writeln!(text, "  to {target}");
    }
    let is_file = |node| matches!(node, NodeSummary::File(..));
    if !is_file(change.disk) && !is_file(change.staged) {
        return Ok(text);
    }
    // `None` is no file, `Some(None)` one that may not be shown.
    let may_show = workspace.check_readable(path).is_ok();
    let old = is_file(change.disk).then(|| {
        let bytes = workspace.read(path, u64::MAX).ok().map(|now| now.bytes);
        bytes.filter(|_| may_show)
    });
    let new =
        if is_file(change.staged) { Some(Some(change.content().map_err(failed)?).filter(|_| may_show)) } else { None };
    if old == Some(None) || new == Some(None) {
        text.push_str("  its content is not shown: it is a secret\n");
        return Ok(text);
    }
    let shown = shown_diff::diff(path, old.flatten(), new.flatten());
    if shown.is_empty() {
        text.push_str("  not text, or the shown parts are equal\n");
    }
    text.push_str(&shown);
    Ok(text)
}
