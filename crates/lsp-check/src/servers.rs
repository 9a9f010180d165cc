//! All configured servers: which one is for a file, which of them run, and which have failed.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use confined_fs::{Workspace, WorkspacePath, escape::escape_controls, stop::StopSignal};
use self_sandbox::{Broker, MAX_RUNNING, find_program};
use text_file::shorten;

use crate::check::{DocumentChange, NoServerReport, WaitLimit, answers, check, notify, on_disk};
use crate::protocol::{file_uri, initialization_options, language_id};
use crate::report::{Scrubber, introduced, is_open};
use crate::state::{Phase, State};
use crate::{Checked, DiskChange, FileChange, LanguageServer, MAX_TEXT, instance::Instance};

/// Timeouts in a row after which a server is not waited for, for a while: it may load a large project.
const FREE_TIMEOUTS: u32 = 1;
/// Files of a server whose former text is kept because a change of them was not checked.
const MAX_UNCHECKED: usize = 32;
/// Files that were opened, of which it is known.
const MAX_OPENED: usize = 4096;
/// How long `doctor` waits for a server.
const PROBE_TIMEOUT: Duration = Duration::from_secs(10);
/// How long a change waits for a server whose table has no `timeout`, and for one that was just started: pyright takes
/// 6 to 9 s until its first report.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(5);
const STARTUP_TIMEOUT: Duration = Duration::from_secs(15);
/// The delay after the first failure that is not free, and the longest one.
const FIRST_DELAY: Duration = Duration::from_secs(2);
const MAX_DELAY: Duration = Duration::from_secs(300);

#[derive(Debug)]
pub struct LanguageServers {
    servers: Vec<LanguageServer>,
    /// `None` where it could not be started.
    broker: Option<Arc<Broker>>,
    home: Option<PathBuf>,
    slots: Mutex<HashMap<(usize, String), Slot>>,
    /// Files that were opened because they were read.
    opened: Mutex<HashSet<WorkspacePath>>,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{why}")]
pub struct ProbeError {
    /// The end of a sentence about it, for a person: it has paths of the host.
    pub why: String,
}

#[derive(Debug, Default)]
struct Slot {
    instance: Option<Arc<Instance>>,
    starts: Backoff,
    answers: Backoff,
    why: Option<String>,
    noted: Option<String>,
    unchecked: HashMap<String, Option<String>>,
    used: Option<Instant>,
}

/// Failures in a row, and until when the server is left alone because of them.
#[derive(Debug, Default)]
struct Backoff {
    failures: u32,
    until: Option<Instant>,
}

impl Backoff {
    fn is_waiting(&self, now: Instant) -> bool {
        self.until.is_some_and(|until| now < until)
    }

    /// It failed; the first `free` failures in a row cost nothing.
    fn failed(&mut self, now: Instant, free: u32) {
        self.failures = self.failures.saturating_add(1);
        let Some(over) = self.failures.checked_sub(free + 1) else { return };
        // 2 s · 2⁸ is above the longest delay already, and a larger shift might overflow.
        let delay = FIRST_DELAY.saturating_mul(1 << over.min(8)).min(MAX_DELAY);
        self.until = Some(now + delay);
    }
}

struct CheckedFile<'s> {
    server: &'s LanguageServer,
    key: (usize, String),
    directory: WorkspacePath,
    uri: String,
    extension: String,
    name: &'s str,
}

impl LanguageServers {
    pub fn new(servers: Vec<LanguageServer>, broker: Option<Broker>) -> Self {
        let home = std::env::var_os("HOME").map(PathBuf::from);
        Self { servers, broker: broker.map(Arc::new), home, slots: Mutex::default(), opened: Mutex::default() }
    }

    /// Asks the server for a file, where there is one, for the problems that a change introduced; else notes why it says
    /// nothing. Starts it if it does not run. Waits at most as long as its configuration says, and not while it keeps
    /// failing.
    pub fn check(&self, workspace: &Workspace, change: FileChange<'_>, stop: &StopSignal) -> Option<Checked> {
        let place = self.place(workspace, change.path)?;
        let note = |note: String| Some(Checked { note: Some(note), ..Checked::default() });
        if !is_open(workspace, change.path) {
            return note("diagnostics: none, as no language server is sent a secret file".to_owned());
        }
        if change.after.len() > MAX_TEXT || change.before.is_some_and(|text| text.len() > MAX_TEXT) {
            return note("diagnostics: none, as language servers are sent no file of more than 1 MiB".to_owned());
        }
        let checked = self.checked(workspace, &place, change, stop);
        if checked.is_err() {
            let mut slots = self.slots();
            let slot = slots.entry(place.key.clone()).or_default();
            if slot.unchecked.len() >= MAX_UNCHECKED {
                // The next change of each is then compared with the text just before it.
                slot.unchecked.clear();
            }
            slot.unchecked.entry(place.uri).or_insert_with(|| change.before.map(str::to_owned));
        }
        checked.map_or_else(note, Some)
    }

    /// The problems that a change introduced. Else the line that says why it was not checked.
    fn checked(
        &self,
        workspace: &Workspace,
        place: &CheckedFile<'_>,
        change: FileChange<'_>,
        stop: &StopSignal,
    ) -> Result<Checked, String> {
        let (started, name) = (Instant::now(), place.name);
        let unchecked = |why: String| format!("diagnostics: none, as {name} {why}");
        let not_ready =
            |why: String| format!("diagnostics: not ready: {why}; what this change breaks is named with the next one");
        let instance = self.running(place).map_err(unchecked)?;
        let language = language_id(&place.extension);
        let edit = DocumentChange { uri: &place.uri, language, before: change.before, after: change.after };
        let slots = self.slots();
        let slot = slots.get(&place.key);
        let base = slot.and_then(|slot| slot.unchecked.get(&place.uri)).cloned();
        let is_waiting = slot.is_some_and(|slot| slot.answers.is_waiting(started));
        drop(slots);
        if is_waiting && !instance.state().is_ready_again() {
            notify(&instance, &mut instance.state(), &edit);
            return Err(not_ready(format!(
                "{name} has not answered in time twice or more, so this change was sent without waiting"
            )));
        }
        let limit = WaitLimit { deadline: deadline(place.server.timeout, started, instance.started), stop };
        let base = base.as_ref().map_or(change.before, |base| base.as_deref());
        let result = check(&instance, &edit, base, &limit);
        let state = instance.state();
        let scrubber = Scrubber::of(workspace, self.home.as_deref());
        let health = state.trouble.health().map(|words| scrubber.brief(words));
        let words = state.trouble.why().map_or_else(String::new, |words| format!(" ({})", scrubber.brief(words)));
        let remedy = state.trouble.remedy(workspace, place.server, self.home.as_deref(), false);
        let refusal = state.trouble.refusal().map(|words| scrubber.brief(words));
        let loading = if state.is_loading() { ": it is still loading" } else { "" };
        // Before the slots are locked: others lock these first and a state then, and two orders would deadlock.
        drop(state);
        let mut slots = self.slots();
        let slot = slots.entry(place.key.clone()).or_default();
        match result {
            Ok(report) => {
                (slot.answers, slot.starts) = Default::default();
                slot.unchecked.remove(&place.uri);
                // Once: a model that reads the same sentence after each change learns nothing from it.
                let note = health.filter(|health| slot.noted.replace(health.clone()).as_ref() != Some(health));
                drop(slots);
                let note = note.map(|health| format!("diagnostics: incomplete, {name} says: {health}{remedy}"));
                Ok(Checked { note, ..introduced(&scrubber, workspace, name, change, report) })
            }
            Err(NoServerReport::Cancelled) => Err(not_ready(format!("the call ended before {name} has answered"))),
            Err(NoServerReport::Broken) => Err(unchecked(format!("cannot check{words}{remedy}"))),
            Err(NoServerReport::TimedOut) => {
                slot.answers.failed(Instant::now(), FREE_TIMEOUTS);
                let waited = limit.deadline.saturating_duration_since(started).as_secs_f64();
                let waited = (waited * 10.0).round() / 10.0;
                Err(not_ready(format!("{name} has not answered within {waited} s{loading}{remedy}")))
            }
            Err(NoServerReport::Ended) => {
                slot.instance = None;
                slot.starts.failed(Instant::now(), 0);
                let why = slot.why.insert(match refusal {
                    // Its walls cannot be built as the table has them, so it was not started.
                    Some(why) => format!("is refused as [lsp.{}] has it: {why}", place.server.name),
                    None => format!("ended unexpectedly{words}{remedy}"),
                });
                Err(unchecked(why.clone()))
            }
        }
    }

    /// A file was read: its server starts, and gets its text, so that a change can be compared with it. Nothing waits.
    pub fn opened(self: &Arc<Self>, workspace: &Workspace, path: &WorkspacePath) {
        if self.broker.is_none() || !self.are_for(path) {
            return;
        }
        let mut opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        if opened.len() >= MAX_OPENED {
            // Costs a second read of a file: a server that has it open is sent nothing.
            opened.clear();
        }
        if !opened.insert(path.clone()) {
            return;
        }
        let (servers, workspace, path) = (Arc::clone(self), workspace.clone(), path.clone());
        // Where there is no thread, the first change starts it.
        let _ = thread::Builder::new().name("lsp-open".to_owned()).spawn(move || servers.open(&workspace, &path));
    }

    fn open(&self, workspace: &Workspace, path: &WorkspacePath) {
        let Some(place) = self.place(workspace, path).filter(|_| is_open(workspace, path)) else { return };
        let Ok(found) = workspace.read(path, MAX_TEXT as u64) else { return };
        let Ok(text) = String::from_utf8(found.bytes.clone()) else { return };
        if let Ok(instance) = self.running(&place) {
            let mut state = instance.state();
            instance.send(&state.open(&place.uri, language_id(&place.extension), &text, Instant::now()));
        }
    }

    /// Starts each server in the first root. Returns how long it took, or why it does not run, for a person.
    pub fn probe(&self, workspace: &Workspace) -> Vec<Result<Duration, ProbeError>> {
        let probe = |(number, server): (usize, &LanguageServer)| -> Result<Duration, String> {
            let directory = workspace.root_path(workspace.roots().iter().next().ok_or("there is no directory")?);
            let started = Instant::now();
            let instance = self.running(&self.place_in(workspace, number, directory))?;
            let limit = WaitLimit { deadline: started + PROBE_TIMEOUT, stop: &StopSignal::after(PROBE_TIMEOUT) };
            let is_up = answers(&instance, &limit);
            let state = instance.state();
            let remedy = state.trouble.remedy(workspace, server, self.home.as_deref(), true);
            match is_up {
                Ok(()) => Ok(started.elapsed()),
                Err(NoServerReport::Ended) => {
                    let words = state.trouble.why().unwrap_or("it wrote nothing");
                    Err(format!("ended ({}){remedy}", escape_controls(&shorten(words, 200))))
                }
                Err(_) => Err(format!("has not answered within {} s{remedy}", PROBE_TIMEOUT.as_secs())),
            }
        };
        self.servers.iter().enumerate().map(|one| probe(one).map_err(|why| ProbeError { why })).collect()
    }

    fn place<'s>(&'s self, workspace: &Workspace, path: &WorkspacePath) -> Option<CheckedFile<'s>> {
        let (number, extension) = self.server_for(path)?;
        let directory = project(workspace, path, &self.servers[number].root_markers);
        let uri = file_uri(&workspace.host_path(path));
        Some(CheckedFile { uri, extension, ..self.place_in(workspace, number, directory) })
    }

    fn place_in(&self, workspace: &Workspace, number: usize, directory: WorkspacePath) -> CheckedFile<'_> {
        let server = &self.servers[number];
        // A person's name for a server is its program.
        let name =
            Path::new(&server.program.program).file_stem().and_then(|name| name.to_str()).unwrap_or(&server.name);
        let key = (number, file_uri(&workspace.host_path(&directory)));
        CheckedFile { server, key, directory, uri: String::new(), extension: String::new(), name }
    }

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

    /// The server of a place, started if it does not run. Else why it does not.
    fn running(&self, place: &CheckedFile<'_>) -> Result<Arc<Instance>, String> {
        let (server, now) = (place.server, Instant::now());
        let Some(broker) = &self.broker else {
            return Err("cannot be started: the process that starts language servers does not run".to_owned());
        };
        // Locked until it is started: two calls at once would start two servers for one place.
        let mut slots = self.slots();
        // The server that was not used for the longest time ends where as many run as may.
        while !slots.contains_key(&place.key) && slots.len() >= MAX_RUNNING {
            let oldest = slots.iter().min_by_key(|(_, slot)| slot.used).map(|(key, _)| key.clone());
            if let Some(instance) = oldest.and_then(|key| slots.remove(&key)).and_then(|slot| slot.instance) {
                instance.end("others are needed");
            }
        }
        let slot = slots.entry(place.key.clone()).or_default();
        slot.used = Some(now);
        if let Some(instance) = &slot.instance {
            if instance.state().phase != Phase::Ended {
                return Ok(Arc::clone(instance));
            }
            slot.instance = None;
            slot.starts.failed(now, 0);
        }
        if slot.starts.is_waiting(now) {
            let why = slot.why.as_deref().unwrap_or("ended unexpectedly");
            return Err(format!("{why}; it is started again later"));
        }
        let options = initialization_options(&server.program_name(), &server.initialization_options);
        let state = State::new(place.key.1.clone(), &options, server.settings.clone());
        if find_program(server.program.program.as_ref()).is_none() {
            return Err("is not installed".to_owned());
        }
        let started = broker.start(place.key.0, place.directory.root().host(), place.directory.relative());
        match started.and_then(|program| Instance::new(&server.name, broker, program, state)) {
            Ok(instance) => Ok(Arc::clone(slot.instance.insert(Arc::new(instance)))),
            Err(error) => {
                tracing::warn!(server = server.name, %error, "a language server cannot be started");
                slot.starts.failed(now, 0);
                slot.why = Some("cannot be started".to_owned());
                Err("cannot be started".to_owned())
            }
        }
    }
}

impl Drop for LanguageServers {
    fn drop(&mut self) {
        self.slots().values().filter_map(|slot| slot.instance.as_ref()).for_each(|instance| instance.shut_down());
    }
}

/// When a change that began at `now` stops waiting for a server that was started at `started`, with the limit of its table.
fn deadline(timeout: Option<Duration>, now: Instant, started: Instant) -> Instant {
    match timeout {
        Some(timeout) => now + timeout,
        None => (now + DEFAULT_TIMEOUT).max(started + STARTUP_TIMEOUT),
    }
}

/// The directory that a server for a file works in: the highest with a marker, else the root.
fn project(workspace: &Workspace, path: &WorkspacePath, markers: &[String]) -> WorkspacePath {
    let has_marker = |directory: &WorkspacePath| {
        let is_there = |marker: &String| directory.join(marker).is_ok_and(|marker| workspace.stat(&marker).is_ok());
        markers.iter().any(is_there)
    };
    let above = std::iter::successors(path.parent(), WorkspacePath::parent);
    // The highest: else each member of a Cargo workspace would get a server of its own.
    above.filter(has_marker).last().unwrap_or_else(|| workspace.root_path(path.root()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn change_waits_longer_for_a_server_that_was_just_started_unless_its_table_has_a_limit() {
        let (started, second) = (Instant::now(), Duration::from_secs(1));
        for (timeout, age, waits) in [(None, 0, 15), (None, 4, 11), (None, 10, 5), (None, 60, 5), (Some(2), 0, 2)] {
            let now = started + age * second;
            assert_eq!(
                deadline(timeout.map(Duration::from_secs), now, started),
                now + waits * second,
                "{timeout:?}, {age}"
            );
        }
    }

    #[test]
    fn delays_double_up_to_a_limit() {
        let (mut backoff, now) = (Backoff::default(), Instant::now());
        backoff.failed(now, 1);
        assert!(!backoff.is_waiting(now), "one is free");
        backoff.failed(now, 1);
        assert!(backoff.is_waiting(now + FIRST_DELAY / 2) && !backoff.is_waiting(now + FIRST_DELAY));
        for _ in 0..100 {
            backoff.failed(now, 1);
        }
        assert!(backoff.is_waiting(now + MAX_DELAY / 2) && !backoff.is_waiting(now + MAX_DELAY));
    }
}
