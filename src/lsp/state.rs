//! What is known of one running server: what it has said of which file, and whether it is done with a change.

use std::{
    collections::{HashMap, HashSet},
    time::{Duration, Instant},
};

use serde::Deserialize;
use serde_json::{Value, json, value::RawValue};

use super::{
    diagnostics::{Diagnostic, Published, reported},
    documents::{Documents, notification},
    message::Incoming,
    requests,
};

/// Files whose problems are kept.
const MOST_FILES: usize = 256;
/// Problems that are kept of a file that is not open: more are not shown.
const MOST_OF_OTHERS: usize = 50;
/// Works that a server says it does at once.
const MOST_PROGRESS: usize = 64;
/// Requests that are not answered; a server that answers none is waited for in vain.
const MOST_ASKED: usize = 256;
/// How long a server must have said nothing more, once it has answered: checks of a save may begin a moment later.
const QUIET: Duration = Duration::from_millis(150);
/// The same for a server that sends what it finds bit by bit.
const QUIET_PUSHED: Duration = Duration::from_millis(300);
/// How long after it has taken note of a change a server that names no versions may be silent: some send nothing if
/// nothing has changed.
const SILENCE: Duration = Duration::from_secs(1);
/// How long after a save the check of a server that checks saves may begin: on a busy machine its compiler starts late.
const CHECK_BEGINS: Duration = Duration::from_secs(3);
/// How often diagnostics are asked for again.
const PULL_AGAIN: Duration = Duration::from_millis(200);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    Starting,
    Ready,
    Ended,
}

/// What was asked, and is not answered.
#[derive(Debug)]
enum Asked {
    Initialize,
    Pull { uri: String, version: i64, at: Instant },
    Barrier { uri: String, version: i64 },
}

/// The problems of one file.
#[derive(Debug, Default)]
struct FileProblems {
    pushed: Vec<Diagnostic>,
    pushed_version: Option<i64>,
    pushed_at: Option<Instant>,
    pulled: Vec<Diagnostic>,
}

/// The state of one server, changed by the messages in both directions.
#[derive(Debug)]
pub(super) struct State {
    pub(super) phase: Phase,
    pub(super) documents: Documents,
    /// Whether it was done with a change once.
    pub(super) has_settled: bool,
    files: HashMap<String, FileProblems>,
    progress: HashSet<String>,
    /// Whether it has loaded the project, where it says so.
    quiescent: Option<bool>,
    /// When it was last busy, and when it last said something about a file.
    last_busy: Option<Instant>,
    last_heard: Option<Instant>,
    /// When a file was last saved, and when a check of saves last began.
    last_saved: Option<Instant>,
    last_check: Option<Instant>,
    asked: HashMap<u64, Asked>,
    next_id: u64,
    pulls: bool,
    names_versions: bool,
    root_uri: String,
    settings: Value,
}

impl State {
    /// Before anything was sent. Also returns the first message.
    pub(super) fn new(root_uri: String, options: &Value, settings: Value) -> (Self, Value) {
        let first = requests::initialize(&root_uri, options);
        let mut state = Self {
            phase: Phase::Starting,
            documents: Documents::default(),
            has_settled: false,
            files: HashMap::new(),
            progress: HashSet::new(),
            quiescent: None,
            last_busy: None,
            last_heard: None,
            last_saved: None,
            last_check: None,
            asked: HashMap::new(),
            next_id: 1,
            pulls: false,
            names_versions: false,
            root_uri,
            settings,
        };
        let first = state.request("initialize", &first, Asked::Initialize);
        (state, first)
    }

    fn request(&mut self, method: &str, params: &Value, asked: Asked) -> Value {
        let id = self.next_id;
        self.next_id += 1;
        if self.asked.len() >= MOST_ASKED {
            self.asked.clear();
        }
        self.asked.insert(id, asked);
        json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
    }

    /// Takes note of one message. What is to be sent because of it; `None` if it is no message.
    pub(super) fn receive(&mut self, body: &[u8], now: Instant) -> Option<Vec<Value>> {
        match Incoming::read(body)? {
            Incoming::Response { id, result } => Some(self.answered(id, result)),
            Incoming::Request { id, method, params } => {
                if method == "workspace/diagnostic/refresh" {
                    self.documents.values_mut().for_each(|document| document.pulled = None);
                }
                Some(vec![requests::answer(id, &method, params, &self.root_uri, &self.settings)])
            }
            Incoming::Notification { method, params } => {
                if let Some(params) = params {
                    self.notified(&method, params, now);
                }
                Some(Vec::new())
            }
        }
    }

    fn answered(&mut self, id: u64, result: Option<&RawValue>) -> Vec<Value> {
        match self.asked.remove(&id) {
            Some(Asked::Initialize) => match result {
                Some(result) => return self.initialized(result),
                None => self.phase = Phase::Ended,
            },
            Some(Asked::Pull { uri, version, at }) => {
                if let Some(document) = self.documents.get_mut(&uri) {
                    document.pulling = None;
                    // An error: the text has changed, or the project is not loaded. It is asked again.
                    if let Some(result) = result.filter(|_| document.version == version) {
                        document.pulled = Some(at);
                        if let Some(diagnostics) = reported(result.get()) {
                            self.files.entry(uri).or_default().pulled = diagnostics;
                        }
                    }
                }
            }
            Some(Asked::Barrier { uri, version }) => {
                if let Some(document) = self.documents.get_mut(&uri).filter(|document| document.version == version) {
                    document.passed = Some(Instant::now());
                }
            }
            None => {}
        }
        Vec::new()
    }

    fn initialized(&mut self, result: &RawValue) -> Vec<Value> {
        #[derive(Deserialize)]
        struct Initialized {
            capabilities: Capabilities,
        }
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Capabilities {
            diagnostic_provider: Option<Value>,
        }
        let provider = serde_json::from_str::<Initialized>(result.get()).ok();
        self.pulls = provider.and_then(|found| found.capabilities.diagnostic_provider).is_some();
        self.phase = Phase::Ready;
        let mut messages = vec![notification("initialized", &json!({}))];
        if self.settings.as_object().is_some_and(|settings| !settings.is_empty()) {
            let settings = json!({ "settings": self.settings });
            messages.push(notification("workspace/didChangeConfiguration", &settings));
        }
        messages
    }

    fn notified(&mut self, method: &str, params: &RawValue, now: Instant) {
        match method {
            "textDocument/publishDiagnostics" => self.published(params, now),
            "$/progress" => self.progressed(params, now),
            "experimental/serverStatus" => {
                #[derive(Deserialize)]
                struct Status {
                    quiescent: Option<bool>,
                }
                let Some(status) = serde_json::from_str::<Status>(params.get()).ok() else { return };
                if self.quiescent == Some(false) || status.quiescent == Some(false) {
                    self.last_busy = Some(now);
                }
                self.quiescent = status.quiescent.or(self.quiescent);
            }
            _ => {}
        }
    }

    fn published(&mut self, params: &RawValue, now: Instant) {
        let Some(Published { uri, version, mut diagnostics }) = Published::read(params.get()) else { return };
        self.last_heard = Some(now);
        self.names_versions |= version.is_some();
        if diagnostics.is_empty() && !self.files.contains_key(&uri) && self.documents.get(&uri).is_none() {
            return;
        }
        if self.files.len() >= MOST_FILES && !self.files.contains_key(&uri) && self.documents.get(&uri).is_none() {
            return;
        }
        if self.documents.get(&uri).is_none() {
            diagnostics.truncate(MOST_OF_OTHERS);
        }
        let file = self.files.entry(uri).or_default();
        (file.pushed, file.pushed_version, file.pushed_at) = (diagnostics, version, Some(now));
    }

    fn progressed(&mut self, params: &RawValue, now: Instant) {
        #[derive(Deserialize)]
        struct Progress {
            token: Value,
            value: Kind,
        }
        #[derive(Deserialize)]
        struct Kind {
            kind: String,
        }
        let Ok(Progress { token, value }) = serde_json::from_str::<Progress>(params.get()) else { return };
        let token: String = token.to_string().chars().take(100).collect();
        match value.kind.as_str() {
            "begin" if self.progress.len() < MOST_PROGRESS => {
                if is_check(&token) {
                    self.last_check = Some(now);
                }
                self.progress.insert(token);
            }
            "end" => {
                self.progress.remove(&token);
            }
            _ => {}
        }
        (self.last_busy, self.last_heard) = (Some(now), Some(now));
    }

    /// Whether it is loading or checking something.
    fn is_busy(&self) -> bool {
        match self.quiescent {
            // It indexes while it can answer. Checks of a save are what has to be waited for.
            Some(true) => self.progress.iter().any(|token| is_check(token)),
            Some(false) => true,
            None => !self.progress.is_empty(),
        }
    }

    /// Takes note that the message of a save is sent.
    pub(super) fn saved(&mut self, now: Instant) {
        self.last_saved = Some(now);
    }

    /// Whether the check of the last save has not begun yet, by a server that has checked something before.
    fn will_check(&self, now: Instant) -> bool {
        self.last_check
            .zip(self.last_saved)
            .is_some_and(|(check, saved)| check < saved && now.saturating_duration_since(saved) < CHECK_BEGINS)
    }

    /// The messages by which it learns that a file has a new content.
    pub(super) fn put(&mut self, uri: &str, language: &str, text: &str, now: Instant) -> Vec<Value> {
        let mut messages = self.documents.put(uri, language, text, now);
        if !messages.is_empty() {
            messages.extend(self.ask(uri, now));
        }
        messages
    }

    /// The request that shows whether it has taken note of a file's content.
    fn ask(&mut self, uri: &str, now: Instant) -> Option<Value> {
        let pulls = self.pulls;
        let document = self.documents.get_mut(uri)?;
        let version = document.version;
        let params = json!({ "textDocument": { "uri": uri } });
        if pulls {
            document.pulling = Some(now);
            let asked = Asked::Pull { uri: uri.to_owned(), version, at: now };
            return Some(self.request("textDocument/diagnostic", &params, asked));
        }
        let asked = Asked::Barrier { uri: uri.to_owned(), version };
        Some(self.request("textDocument/documentSymbol", &params, asked))
    }

    /// The request for the diagnostics of a file, where those that there are may not be the last.
    pub(super) fn ask_again(&mut self, uri: &str, now: Instant) -> Option<Value> {
        let document = self.documents.get(uri).filter(|_| self.pulls && !self.is_busy())?;
        let is_due =
            now.duration_since(document.sent) >= PULL_AGAIN && document.pulling.is_none() && !self.is_pulled(uri);
        if is_due { self.ask(uri, now) } else { None }
    }

    fn is_pulled(&self, uri: &str) -> bool {
        let asked = self.documents.get(uri).and_then(|document| document.pulled);
        asked.is_some_and(|asked| self.last_busy.is_none_or(|busy| busy <= asked || self.quiescent.is_none()))
    }

    /// Whether all that it will say of the content of a file has arrived.
    pub(super) fn is_settled(&self, uri: &str, now: Instant) -> bool {
        let Some(document) = self.documents.get(uri) else { return true };
        if self.is_busy() || self.will_check(now) {
            return false;
        }
        let last = [Some(document.sent), self.last_heard, self.last_busy].into_iter().flatten().max();
        let quiet = last.map_or(Duration::ZERO, |last| now.saturating_duration_since(last));
        if self.pulls {
            return self.is_pulled(uri) && quiet >= QUIET;
        }
        let file = self.files.get(uri);
        let has_pushed = file.is_some_and(|file| match file.pushed_version {
            Some(version) => version >= document.version,
            None => file.pushed_at.is_some_and(|at| at >= document.sent),
        });
        let is_silent =
            !self.names_versions && document.passed.is_some_and(|at| now.saturating_duration_since(at) >= SILENCE);
        (has_pushed && quiet >= QUIET_PUSHED) || (is_silent && quiet >= SILENCE)
    }

    /// What it says of a file now.
    pub(super) fn diagnostics(&self, uri: &str) -> Vec<Diagnostic> {
        let Some(file) = self.files.get(uri) else { return Vec::new() };
        let pulled = file.pulled.iter().filter(|one| !file.pushed.iter().any(|other| one.is_said_by(other)));
        pulled.chain(&file.pushed).cloned().collect()
    }

    /// What it says of all other files.
    pub(super) fn others(&self, uri: &str) -> HashMap<String, Vec<Diagnostic>> {
        let others = self.files.keys().filter(|other| *other != uri);
        others.map(|other| (other.clone(), self.diagnostics(other))).collect()
    }

    /// A file is gone.
    pub(super) fn forget(&mut self, uri: &str) -> Option<Value> {
        self.files.remove(uri);
        self.documents.close(uri)
    }
}

/// Whether the progress with this token is a check of saves, by its name in rust-analyzer.
fn is_check(token: &str) -> bool {
    token.contains("flycheck")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn check_of_a_save_is_waited_for_until_it_begins_and_ends() {
        let start = Instant::now();
        let at = |milliseconds| start + Duration::from_millis(milliseconds);
        let (mut state, _) = State::new("file:///r".to_owned(), &Value::Null, Value::Null);
        let progress = |state: &mut State, kind: &str, milliseconds| {
            let value = json!({ "token": "rustAnalyzer/flycheck/0", "value": { "kind": kind } });
            let body = notification("$/progress", &value).to_string();
            assert_eq!(state.receive(body.as_bytes(), at(milliseconds)), Some(Vec::new()));
        };
        let push = |state: &mut State, milliseconds| {
            let params = json!({ "uri": "file:///r/a.rs", "diagnostics": [] });
            let body = notification("textDocument/publishDiagnostics", &params).to_string();
            state.receive(body.as_bytes(), at(milliseconds));
        };
        state.put("file:///r/a.rs", "rust", "1", at(0));
        state.saved(at(0));
        push(&mut state, 1);
        assert!(state.is_settled("file:///r/a.rs", at(500)), "one that never checked a save is not waited for");
        progress(&mut state, "begin", 600);
        progress(&mut state, "end", 700);
        state.put("file:///r/a.rs", "rust", "2", at(2000));
        state.saved(at(2000));
        push(&mut state, 2001);
        assert!(!state.is_settled("file:///r/a.rs", at(2600)), "its check begins late");
        progress(&mut state, "begin", 2700);
        assert!(!state.is_settled("file:///r/a.rs", at(9000)), "its check runs");
        progress(&mut state, "end", 9000);
        assert!(state.is_settled("file:///r/a.rs", at(9500)));
        state.saved(at(10_000));
        assert!(!state.is_settled("file:///r/a.rs", at(12_900)));
        assert!(state.is_settled("file:///r/a.rs", at(13_100)), "no check begins");
    }
}
