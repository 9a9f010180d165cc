//! The argument `checkpoint` of each tool that changes something: a name for the state just before the call.

use std::fmt::Write as _;

use confined_fs::Approval;
use serde_json::{Map, Value};

use crate::session::history::CheckpointName;

use super::{Answer, CallContext, Change, Content, Plan, ToolError, plan};

pub(crate) const CHECKPOINT: &str = "checkpoint";

/// Takes the name out of the arguments of a call.
///
/// # Errors
/// `invalid_input` for what is no name.
pub(super) fn take(arguments: &mut Map<String, Value>) -> Result<Option<CheckpointName>, ToolError> {
    let hint = "pass a short name such as before-rename; undo with to=before-rename goes back to it";
    match arguments.remove(CHECKPOINT) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(name)) => name.parse().map(Some).map_err(|why: String| ToolError::invalid(why).hint(hint)),
        Some(other) => Err(ToolError::invalid(format!("checkpoint is a name, not {other}")).hint(hint)),
    }
}

/// `plan`, with the state before it called `name` once it was carried out. A plan that changes nothing makes no
/// checkpoint.
pub(super) fn before(plan: Plan, name: CheckpointName) -> Plan {
    match plan {
        Plan::Change(change) => plan::around(change, move |change, cx, approval| commit(change, &name, cx, approval)),
        Plan::Answer(mut answer) => {
            let note = format!("no checkpoint {name} was made, as nothing was changed");
            add_note(&mut answer, &note);
            Plan::Answer(answer)
        }
        wait @ Plan::Wait(_) => wait,
    }
}

/// Makes the change, and a checkpoint before it.
fn commit(
    change: Box<dyn Change>,
    name: &CheckpointName,
    cx: &CallContext,
    approval: Approval,
) -> Result<Answer, ToolError> {
    // Before the change, which gets this number or a later one.
    let first = cx.session.history.position();
    let mut answer = change.commit(cx, approval)?;
    let roots: Vec<&str> = cx.workspace.roots().iter().map(|root| root.key()).collect();
    let note = match cx.session.history.set_checkpoint(name, first, &roots) {
        Ok(false) => format!("checkpoint {name}: the state before this call"),
        Ok(true) => format!("checkpoint {name} was moved: it is now the state before this call"),
        Err(error) => {
            format!(
                "checkpoint {name} is lost when the server ends: the history could not be written: {}",
                error.kind()
            )
        }
    };
    add_note(&mut answer, &note);
    Ok(answer)
}

/// Adds a line to the text of an answer.
fn add_note(answer: &mut Answer, note: &str) {
    let text = answer.content.iter_mut().find_map(|content| match content {
        Content::Text(text) => Some(text),
        _ => None,
    });
    if let Some(text) = text {
        // Before a diff, which may be cut where the answer is full.
        let at = text.find('\n').unwrap_or(text.len());
        let mut line = String::new();
        let _ = write!(line, "\n({note})");
        text.insert_str(at, &line);
    }
    answer.facts.insert(CHECKPOINT.to_owned(), note.into());
    // Not every tool's output has notes.
    let notes = answer.data.as_mut().and_then(|data| data.get_mut("notes")).and_then(Value::as_array_mut);
    if let Some(notes) = notes {
        notes.push(note.into());
    }
}
