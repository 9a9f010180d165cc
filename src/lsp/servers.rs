//! All configured servers: which one is for a file, which of them run, and which have failed.

use std::{
    collections::HashMap,
    path::Path,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Instant,
};

use crate::{
    stop::StopSignal,
    text::problems::{ChangedLines, MOST_SHOWN, Problem, new_problems},
    workspace::{Broker, MAX_RUNNING, Root, Visibility, Workspace, WorkspacePath},
};

use super::{
    LanguageServer,
    backoff::Backoff,
    check::{DiskChange, DocumentChange, NoServerReport, ServerReport, WaitLimit, check, notify, on_disk},
    defaults::{initialization_options, language_id},
    instance::Instance,
    scrub::Scrubber,
    state::State,
    uri::file_uri,
};

/// Bytes of the largest text that is sent.
const LARGEST_TEXT: usize = 1 << 20;
/// Timeouts in a row after which a server is not waited for, for a while: it may load a large project.
const FREE_TIMEOUTS: u32 = 1;

/// A change of one file that was made.
#[derive(Clone, Copy, Debug)]
pub struct FileChange<'c> {
    /// The file, by its real path.
    pub path: &'c WorkspacePath,
    /// Its text before; `None` where there was no file.
    pub before: Option<&'c str>,
    /// Its text now.
    pub after: &'c str,
}

/// What the server for a file says of a change.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Checked {
    /// The problems in the file that the change introduced, the worst first.
    pub problems: Vec<Problem>,
    /// Errors that it introduced in other files.
    pub elsewhere: Vec<(WorkspacePath, Problem)>,
    /// Why there may be more: a sentence.
    pub note: Option<String>,
}

/// The language servers of all roots.
#[derive(Debug)]
pub struct LanguageServers {
    servers: Vec<LanguageServer>,
    broker: Arc<Broker>,
    /// By the server's number and its directory.
    slots: Mutex<HashMap<(usize, String), Slot>>,
}

/// One server in one directory.
#[derive(Debug)]
struct Slot {
    instance: Option<Arc<Instance>>,
    /// Of starts.
    starts: Backoff,
    /// Of answers that came too late.
    answers: Backoff,
    used: Instant,
}

impl LanguageServers {
    /// None of them runs yet.
    pub fn new(servers: Vec<LanguageServer>, broker: Broker) -> Self {
        Self { servers, broker: Arc::new(broker), slots: Mutex::default() }
    }

    /// What the server for a file says of a change, where there is one. Starts it if it does not run. Waits at most as
    /// long as its configuration says, and not while it keeps failing.
    pub fn check(&self, workspace: &Workspace, change: FileChange<'_>, stop: &StopSignal) -> Option<Checked> {
        let (number, extension) = self.server_for(change.path)?;
        let server = &self.servers[number];
        if !is_open(workspace, change.path) {
            return None;
        }
        if change.after.len() > LARGEST_TEXT || change.before.is_some_and(|text| text.len() > LARGEST_TEXT) {
            return None;
        }
        let started = Instant::now();
        let directory = project(workspace, change.path, &server.root_markers);
        let key = (number, file_uri(&workspace.host_path(&directory)));
        let name = program_name(server);
        let instance = match self.running(&key, &directory, name) {
            Ok(instance) => instance,
            Err(why) => return why.map(|why| Checked { note: Some(why), ..Checked::default() }),
        };
        let uri = file_uri(&workspace.host_path(change.path));
        let edit =
            DocumentChange { uri: &uri, language: language_id(&extension), before: change.before, after: change.after };
        if self.slots().get(&key).is_some_and(|slot| slot.answers.is_waiting(started)) {
            notify(&instance, &mut instance.state(), &edit);
            return None;
        }
        let limit = WaitLimit { deadline: started + server.timeout, stop };
        let verdict = check(&instance, &edit, &limit);
        drop(instance);
        let mut slots = self.slots();
        let slot = slots.get_mut(&key)?;
        match verdict {
            Ok(verdict) => {
                slot.answers.worked();
                slot.starts.worked();
                drop(slots);
                Some(shown(workspace, name, change, verdict))
            }
            Err(NoServerReport::Cancelled) => None,
            Err(NoServerReport::TimedOut) => {
                slot.answers.failed(Instant::now(), FREE_TIMEOUTS);
                let limit = server.timeout.as_secs_f64();
                let note = format!("diagnostics: {name} has not answered within {limit} s");
                Some(Checked { note: Some(note), ..Checked::default() })
            }
            Err(NoServerReport::Ended) => {
                slot.instance = None;
                slot.starts.failed(Instant::now(), 0);
                let note = format!("diagnostics: none, as {name} ended unexpectedly");
                Some(Checked { note: Some(note), ..Checked::default() })
            }
        }
    }

    /// Whether a file is one that a server is for.
    pub fn are_for(&self, path: &WorkspacePath) -> bool {
        self.server_for(path).is_some()
    }

    /// Lets the servers that run know of a change of the file or directory with this path on the host.
    pub fn changed_on_disk(&self, host: &Path, kind: DiskChange) {
        let uri = file_uri(host);
        let slots = self.slots();
        for ((_, directory), slot) in &*slots {
            let is_below = uri.strip_prefix(directory.as_str()).is_some_and(|rest| rest.starts_with('/'));
            if let Some(instance) = slot.instance.as_ref().filter(|_| is_below) {
                let mut messages = Vec::new();
                if kind == DiskChange::Deleted {
                    messages.extend(instance.state().forget(&uri));
                }
                messages.push(on_disk(&uri, kind));
                instance.send(&messages);
            }
        }
    }

    fn server_for(&self, path: &WorkspacePath) -> Option<(usize, String)> {
        let extension = path.relative().extension()?.to_str()?.to_lowercase();
        let number = self.servers.iter().position(|server| server.extensions.contains(&extension))?;
        Some((number, extension))
    }

    fn slots(&self) -> MutexGuard<'_, HashMap<(usize, String), Slot>> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The server in a directory, started if it does not run. Else what is said of that, if anything.
    fn running(
        &self,
        key: &(usize, String),
        directory: &WorkspacePath,
        name: &str,
    ) -> Result<Arc<Instance>, Option<String>> {
        let (server, now) = (&self.servers[key.0], Instant::now());
        let mut slots = self.slots();
        if !slots.contains_key(key) {
            make_room(&mut slots);
        }
        let slot = slots.entry(key.clone()).or_insert_with(|| Slot {
            instance: None,
            starts: Backoff::default(),
            answers: Backoff::default(),
            used: now,
        });
        slot.used = now;
        if let Some(instance) = &slot.instance {
            if !instance.has_ended() {
                return Ok(Arc::clone(instance));
            }
            slot.instance = None;
            slot.starts.failed(now, 0);
        }
        if slot.starts.is_waiting(now) {
            return Err(None);
        }
        let program = server.program.program.file_name().unwrap_or_default().to_string_lossy();
        let options = initialization_options(&program, &server.initialization_options);
        let state = State::new(key.1.clone(), &options, server.settings.clone());
        let started = self.broker.start(key.0, directory);
        match started.and_then(|program| Instance::new(&server.name, &self.broker, program, state)) {
            Ok(instance) => Ok(Arc::clone(slot.instance.insert(Arc::new(instance)))),
            Err(error) => {
                tracing::warn!(server = server.name, %error, "a language server cannot be started");
                slot.starts.failed(now, 0);
                Err(Some(format!("diagnostics: none, as {name} cannot be started")))
            }
        }
    }
}

impl Drop for LanguageServers {
    fn drop(&mut self) {
        for slot in self.slots().values() {
            if let Some(instance) = &slot.instance {
                instance.shut_down();
            }
        }
    }
}

/// Ends the server that was not used for the longest time, where as many run as may.
fn make_room(slots: &mut HashMap<(usize, String), Slot>) {
    while slots.len() >= MAX_RUNNING {
        let oldest = slots.iter().min_by_key(|(_, slot)| slot.used).map(|(key, _)| key.clone());
        let Some(slot) = oldest.and_then(|key| slots.remove(&key)) else { return };
        if let Some(instance) = slot.instance {
            instance.end("others are needed");
        }
    }
}

/// What a person calls a server: its program.
fn program_name(server: &LanguageServer) -> &str {
    server.program.program.file_stem().and_then(|name| name.to_str()).unwrap_or(&server.name)
}

/// The directory that a server for a file works in: the highest with a marker, else the root.
fn project(workspace: &Workspace, path: &WorkspacePath, markers: &[String]) -> WorkspacePath {
    let root = workspace.root_path(path.root());
    let mut found = None;
    let mut above = path.parent();
    while let Some(directory) = above {
        let has_marker = |marker: &String| directory.join(marker).is_ok_and(|marker| workspace.stat(&marker).is_ok());
        if markers.iter().any(has_marker) {
            found = Some(directory.clone());
        }
        above = directory.parent();
    }
    found.unwrap_or(root)
}

/// Whether all of a file is shown to the caller. Of a secret one a server reads the values, and may quote them.
fn is_open(workspace: &Workspace, path: &WorkspacePath) -> bool {
    workspace.visibility(path).is_ok_and(|seen| seen == Visibility::Open)
}

/// A file that the caller may read without a mask, by the URI that a server gave.
fn readable(workspace: &Workspace, uri: &str) -> Option<(WorkspacePath, String)> {
    let path = workspace.resolve(uri).ok().filter(|_| uri.starts_with("file://"))?;
    if !is_open(workspace, &path) {
        return None;
    }
    let text = workspace.read(&path, LARGEST_TEXT as u64).ok()?;
    Some((path, String::from_utf8_lossy(&text.bytes).into_owned()))
}

/// What the caller sees of a verdict.
fn shown(workspace: &Workspace, name: &str, change: FileChange<'_>, verdict: ServerReport) -> Checked {
    let public = |root: &Root| Some(root.public()).filter(|public| public != ".").unwrap_or_default();
    let roots = workspace.roots().iter().map(|root| (root.host().display().to_string(), public(root)));
    let scrubber = Scrubber::new(roots.collect());
    let problems = |text: &str, found: &[super::diagnostics::Diagnostic]| -> Vec<Problem> {
        let lines: Vec<&str> = text.split('\n').collect();
        found.iter().map(|one| one.problem(&lines, name, |text| scrubber.clean(text))).collect()
    };
    let before = change.before.unwrap_or_default();
    let lines = ChangedLines::between(before, change.after);
    let found = new_problems(&problems(before, &verdict.before), problems(change.after, &verdict.after), &lines);
    let mut elsewhere = Vec::new();
    for (uri, diagnostics) in verdict.elsewhere {
        if elsewhere.len() >= MOST_SHOWN {
            break;
        }
        // Files that the caller may not see are not named.
        let Some((path, text)) = readable(workspace, &uri) else { continue };
        elsewhere.extend(problems(&text, &diagnostics).into_iter().map(|one| (path.clone(), one)));
    }
    Checked { problems: found, elsewhere, note: None }
}
