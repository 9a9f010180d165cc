//! One change, put to one server: the problems before it, the problems after it.

use std::sync::MutexGuard;
use std::time::{Duration, Instant};

use confined_fs::stop::StopSignal;
use serde_json::json;

use crate::diagnostics::{Diagnostic, FileDiagnostics};
use crate::state::{Phase, State};
use crate::{DiskChange, instance::Instance, protocol::notification};

/// How often a wait looks whether its call was cancelled.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

pub(super) struct DocumentChange<'e> {
    pub(super) uri: &'e str,
    pub(super) language: &'e str,
    /// `None` where there was no file.
    pub(super) before: Option<&'e str>,
    pub(super) after: &'e str,
}

#[derive(Debug, Default)]
pub(super) struct ServerReport {
    pub(super) before: Vec<Diagnostic>,
    pub(super) after: Vec<Diagnostic>,
    /// Errors in other files that were not there before.
    pub(super) elsewhere: FileDiagnostics,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NoServerReport {
    TimedOut,
    Ended,
    Cancelled,
    Broken,
}

pub(super) struct WaitLimit<'s> {
    pub(super) deadline: Instant,
    pub(super) stop: &'s StopSignal,
}

/// Lets the server know of a change, and waits for what it says of it. `base` is the text before the changes that were not
/// checked, this one included.
pub(super) fn check(
    instance: &Instance,
    edit: &DocumentChange<'_>,
    base: Option<&str>,
    limit: &WaitLimit<'_>,
) -> Result<ServerReport, NoServerReport> {
    let mut state = instance.state();
    if state.checks_saves && !state.has_settled {
        // The change is on the disk already: a check of saves that ends from now on has seen it, and is no baseline.
        if state.is_settled(edit.uri, Instant::now()) {
            state.has_settled = true;
        } else {
            state.leave_unchecked();
        }
    }
    let mut state = match wait(instance, state, limit, |state, _| state.phase == Phase::Ready) {
        Ok(state) => state,
        Err(why) => {
            notify(instance, &mut instance.state(), edit);
            return Err(why);
        }
    };
    let settled = |state: &mut State, now: Instant| {
        let again = state.ask_again(edit.uri, now);
        instance.send(again.as_slice());
        state.settles(edit.uri, now)
    };
    if let Some(base) = base {
        let last_text = if state.owes_a_list(edit.uri) { wait(instance, state, limit, settled) } else { Ok(state) };
        let ready = last_text.and_then(|mut ready| {
            instance.send(&ready.put(edit.uri, edit.language, base, Instant::now()));
            wait(instance, ready, limit, settled)
        });
        match ready {
            Ok(ready) => {
                state = ready;
                state.has_settled = true;
            }
            // The change is sent all the same, so that it is worked on until the next one.
            Err(why) => {
                let mut state = instance.state();
                state.leave_unchecked();
                notify(instance, &mut state, edit);
                return Err(why);
            }
        }
    }
    let before = if base.is_some() { state.known(edit.uri) } else { Vec::new() };
    // Before it was done once, what is known of other files is not complete: each of their errors would look new.
    let others = if state.has_settled { Some(state.unchecked.clone().unwrap_or_else(|| state.all())) } else { None };
    notify(instance, &mut state, edit);
    let mut state = match wait(instance, state, limit, settled) {
        Ok(state) => state,
        Err(why) => {
            let mut state = instance.state();
            if state.unchecked.is_none() {
                state.unchecked = others;
            }
            return Err(why);
        }
    };
    if state.trouble.is_broken() {
        state.leave_unchecked();
        return Err(NoServerReport::Broken);
    }
    (state.has_settled, state.unchecked) = (true, None);
    let mut now = state.all();
    now.remove(edit.uri);
    let elsewhere = others.map(|others| new_errors(&others, now)).unwrap_or_default();
    Ok(ServerReport { before, after: state.diagnostics(edit.uri), elsewhere })
}

/// Waits until the server can be talked to.
pub(super) fn answers(instance: &Instance, limit: &WaitLimit<'_>) -> Result<(), NoServerReport> {
    wait(instance, instance.state(), limit, |state, _| state.phase == Phase::Ready).map(drop)
}

/// Lets the server know of a change without waiting.
pub(super) fn notify(instance: &Instance, state: &mut State, edit: &DocumentChange<'_>) {
    if state.phase != Phase::Ready {
        instance.send(&state.open(edit.uri, edit.language, edit.after, Instant::now()));
        return;
    }
    let mut messages = state.put(edit.uri, edit.language, edit.after, Instant::now());
    // It is on the disk: some servers check what was saved, and others what their watcher of files sees.
    let kind = if edit.before.is_some() { DiskChange::Changed } else { DiskChange::Created };
    messages.push(notification("textDocument/didSave", &json!({ "textDocument": { "uri": edit.uri } })));
    messages.push(on_disk(edit.uri, kind));
    state.last_saved = Some(Instant::now());
    instance.send(&messages);
}

pub(super) fn on_disk(uri: &str, kind: DiskChange) -> serde_json::Value {
    let changes = json!({ "changes": [{ "uri": uri, "type": kind as u8 }] });
    notification("workspace/didChangeWatchedFiles", &changes)
}

fn wait<'i>(
    instance: &'i Instance,
    mut state: MutexGuard<'i, State>,
    limit: &WaitLimit<'_>,
    mut done: impl FnMut(&mut State, Instant) -> bool,
) -> Result<MutexGuard<'i, State>, NoServerReport> {
    loop {
        let now = Instant::now();
        if state.phase == Phase::Ended {
            return Err(NoServerReport::Ended);
        }
        // Looked at before the limits: what has already arrived counts, also where the call has just been stopped.
        if done(&mut state, now) {
            return Ok(state);
        }
        if limit.stop.stopped().is_some() {
            return Err(NoServerReport::Cancelled);
        }
        let left = limit.deadline.saturating_duration_since(now);
        if left.is_zero() {
            return Err(NoServerReport::TimedOut);
        }
        // Nothing wakes a wait whose call is cancelled.
        state = instance.wait(state, left.min(POLL_INTERVAL));
    }
}

/// The errors that were not there before, whatever their line: other files have not changed, but what they use has.
fn new_errors(before: &FileDiagnostics, mut after: FileDiagnostics) -> FileDiagnostics {
    after.retain(|uri, diagnostics| {
        let known = before.get(uri).map_or(&[][..], Vec::as_slice);
        diagnostics.retain(|one| one.is_error() && !known.iter().any(|other| one.is_said_by(other)));
        !diagnostics.is_empty()
    });
    after
}
