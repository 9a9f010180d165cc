//! What is known of one running server: what it has said of which file, and whether it is done with a change.

mod known;
mod settled;

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
    trouble::Trouble,
};

/// Files whose problems are kept.
const MOST_FILES: usize = 256;
/// Problems that are kept of a file that is not open: more are not shown.
const MAX_OF_OTHERS: usize = 50;
/// Works that a server says it does at once.
const MAX_PROGRESS: usize = 64;
/// Requests that are not answered; a server that answers none is waited for in vain.
const MOST_ASKED: usize = 256;
/// The longest time between two lists for one text that is learned from.
const LONGEST_GAP: Duration = Duration::from_secs(2);
/// Files that are opened as soon as it can be talked to.
const MAX_PENDING: usize = 8;
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
    /// What it said of all files before the first change that was not checked, once there is one.
    pub(super) unchecked: Option<HashMap<String, Vec<Diagnostic>>>,
    /// What is wrong with it.
    pub(super) trouble: Trouble,
    /// Whether it runs a check of its own after each save: rust-analyzer, unless that is off.
    pub(super) checks_saves: bool,
    /// Whether its first answer was an error.
    is_refused: bool,
    /// Whether it has shown that it finds problems, or that it is loaded.
    is_proven: bool,
    ready_at: Option<Instant>,
    /// How long after one list for a text another one came; halved with each further text.
    last_gap: Duration,
    /// Files to open once it is ready: URI, language, text.
    pending: Vec<[String; 3]>,
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
            unchecked: None,
            trouble: Trouble::default(),
            checks_saves: options.get("checkOnSave").is_none_or(|checks| *checks != Value::Bool(false)),
            is_refused: false,
            is_proven: false,
            ready_at: None,
            last_gap: Duration::ZERO,
            pending: Vec::new(),
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

    /// Takes note of one message. What is to be sent because of it; `None` if it is no message, or refuses to begin.
    pub(super) fn receive(&mut self, body: &[u8], now: Instant) -> Option<Vec<Value>> {
        let was_busy = self.is_busy();
        let mut replies = self.received(Incoming::read(body)?, now);
        if was_busy && !self.is_busy() && self.pulls {
            // What it said while it was loading is not the last word.
            let open: Vec<String> = self.documents.uris().map(str::to_owned).collect();
            replies.extend(open.iter().filter_map(|uri| self.ask_again(uri, now)));
        }
        (!self.is_refused).then_some(replies)
    }

    fn received(&mut self, message: Incoming<'_>, now: Instant) -> Vec<Value> {
        match message {
            Incoming::Response { id, result, error } => self.answered(id, result, error, now),
            Incoming::Request { id, method, params } => {
                if method == "workspace/diagnostic/refresh" {
                    self.documents.values_mut().for_each(|document| document.pulled = None);
                }
                vec![requests::answer(id, &method, params, &self.root_uri, &self.settings)]
            }
            Incoming::Notification { method, params } => {
                if let Some(params) = params {
                    self.notified(&method, params, now);
                }
                Vec::new()
            }
        }
    }

    fn answered(&mut self, id: u64, result: Option<&RawValue>, error: Option<&RawValue>, now: Instant) -> Vec<Value> {
        match self.asked.remove(&id) {
            Some(Asked::Initialize) => {
                if let Some(result) = result {
                    return self.initialized(result, now);
                }
                if let Some(error) = error {
                    self.trouble.message(error);
                }
                self.is_refused = true;
            }
            Some(Asked::Pull { uri, version, at }) => {
                if let Some(document) = self.documents.get_mut(&uri) {
                    document.pulling = None;
                    // An error: the text has changed, or the project is not loaded. It is asked again.
                    if let Some(result) = result.filter(|_| document.version == version) {
                        document.pulled = Some(at);
                        if let Some(diagnostics) = reported(result.get()) {
                            self.is_proven |= !diagnostics.is_empty();
                            self.files.entry(uri).or_default().pulled = diagnostics;
                        }
                    }
                }
            }
            Some(Asked::Barrier { uri, version }) => {
                if let Some(document) = self.documents.get_mut(&uri).filter(|document| document.version == version) {
                    document.passed = Some(now);
                }
            }
            None => {}
        }
        Vec::new()
    }

    fn initialized(&mut self, result: &RawValue, now: Instant) -> Vec<Value> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Initialized {
            capabilities: Capabilities,
            server_info: Option<ServerInfo>,
        }
        #[derive(Deserialize)]
        struct ServerInfo {
            name: String,
        }
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Capabilities {
            diagnostic_provider: Option<Value>,
        }
        let provider = serde_json::from_str::<Initialized>(result.get()).ok();
        let says_when_loaded = provider
            .as_ref()
            .and_then(|found| found.server_info.as_ref())
            .is_some_and(|server| server.name.contains("rust-analyzer"));
        if says_when_loaded {
            // It answers with empty lists until it says that it is loaded, and says first that it is not a moment later.
            self.quiescent = self.quiescent.or(Some(false));
        }
        self.checks_saves &= says_when_loaded;
        self.pulls = provider.and_then(|found| found.capabilities.diagnostic_provider).is_some();
        (self.phase, self.ready_at) = (Phase::Ready, Some(now));
        let mut messages = vec![notification("initialized", &json!({}))];
        if self.settings.as_object().is_some_and(|settings| !settings.is_empty()) {
            let settings = json!({ "settings": self.settings });
            messages.push(notification("workspace/didChangeConfiguration", &settings));
        }
        for [uri, language, text] in std::mem::take(&mut self.pending) {
            messages.extend(self.put(&uri, &language, &text, now));
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
                    health: Option<String>,
                    message: Option<String>,
                }
                let Some(status) = serde_json::from_str::<Status>(params.get()).ok() else { return };
                self.trouble.status(status.health.as_deref(), status.message.as_deref());
                self.is_proven |= status.quiescent == Some(true);
                if self.quiescent == Some(false) || status.quiescent == Some(false) {
                    self.last_busy = Some(now);
                }
                self.quiescent = status.quiescent.or(self.quiescent);
            }
            "window/showMessage" | "window/logMessage" => self.trouble.message(params),
            _ => {}
        }
    }

    fn published(&mut self, params: &RawValue, now: Instant) {
        let Some(Published { uri, version, mut diagnostics }) = Published::read(params.get()) else { return };
        self.last_heard = Some(now);
        self.names_versions |= version.is_some();
        let sent = self.documents.get(&uri).map(|document| document.sent);
        let is_new = sent.is_none() && !self.files.contains_key(&uri);
        if is_new && (diagnostics.is_empty() || self.files.len() >= MOST_FILES) {
            return;
        }
        if sent.is_none() {
            diagnostics.truncate(MAX_OF_OTHERS);
        }
        self.is_proven |= !diagnostics.is_empty();
        let file = self.files.entry(uri).or_default();
        if let Some(earlier) =
            file.pushed_at.filter(|at| self.quiescent.is_none() && sent.is_some_and(|sent| *at >= sent))
        {
            let gap = now.duration_since(earlier).min(LONGEST_GAP);
            self.last_gap = self.last_gap.max(gap);
        }
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
            "begin" if self.progress.len() < MAX_PROGRESS => {
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

    /// The messages by which it learns of a file that may be changed soon; kept until it can be talked to.
    pub(super) fn open(&mut self, uri: &str, language: &str, text: &str, now: Instant) -> Vec<Value> {
        match self.phase {
            Phase::Ready if self.documents.get(uri).is_none() => self.put(uri, language, text, now),
            Phase::Starting if self.pending.len() < MAX_PENDING => {
                self.pending.push([uri, language, text].map(str::to_owned));
                Vec::new()
            }
            _ => Vec::new(),
        }
    }

    /// The messages by which it learns that a file has a new content.
    pub(super) fn put(&mut self, uri: &str, language: &str, text: &str, now: Instant) -> Vec<Value> {
        let mut messages = self.documents.put(uri, language, text, now);
        if !messages.is_empty() {
            self.last_gap /= 2;
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

    fn started(info: &str, options: &Value) -> State {
        let (mut state, _) = State::new("file:///r".to_owned(), options, Value::Null);
        let result = json!({ "capabilities": {}, "serverInfo": { "name": info } });
        let body = json!({ "jsonrpc": "2.0", "id": 1, "result": result }).to_string();
        state.receive(body.as_bytes(), Instant::now()).unwrap();
        state
    }

    const FILE: &str = "file:///r/a.rs";

    fn tell(state: &mut State, method: &str, params: &Value, now: Instant) {
        state.receive(notification(method, params).to_string().as_bytes(), now).unwrap();
    }

    /// The answer to the request that follows a text.
    fn pass(state: &mut State, number: u64, now: Instant) {
        state.receive(json!({ "jsonrpc": "2.0", "id": number, "result": [] }).to_string().as_bytes(), now).unwrap();
    }

    fn push(state: &mut State, messages: &[&str], now: Instant) {
        let place = json!({ "line": 0, "character": 0 });
        let one = |text: &&str| json!({ "range": { "start": place, "end": place }, "message": text });
        let list: Vec<Value> = messages.iter().map(one).collect();
        tell(state, "textDocument/publishDiagnostics", &json!({ "uri": FILE, "diagnostics": list }), now);
    }

    #[test]
    fn empty_list_of_a_server_that_loads_is_no_answer() {
        let start = Instant::now();
        let at = |milliseconds| start + Duration::from_millis(milliseconds);
        let mut state = started("rust-analyzer", &json!({ "checkOnSave": false }));
        state.put(FILE, "rust", "1", at(0));
        pass(&mut state, 2, at(1));
        push(&mut state, &[], at(1));
        assert!(!state.is_settled(FILE, at(60_000)), "it has not said that it is loaded");
        assert!(state.is_loading());
        for (quiescent, milliseconds) in [(false, 10), (true, 9000)] {
            let status = json!({ "health": "ok", "quiescent": quiescent });
            tell(&mut state, "experimental/serverStatus", &status, at(milliseconds));
            assert_eq!(state.is_settled(FILE, at(milliseconds + 5000)), quiescent);
        }
    }

    #[test]
    fn empty_list_is_believed_after_a_long_silence_until_the_server_is_known() {
        let start = Instant::now();
        let at = |milliseconds| start + Duration::from_millis(milliseconds);
        let mut state = started("any", &json!({}));
        state.put(FILE, "rust", "1", at(0));
        assert!(!state.is_settled(FILE, at(60_000)), "it has never said anything");
        pass(&mut state, 2, at(50));
        push(&mut state, &[], at(100));
        assert!(!state.is_settled(FILE, at(4900)) && state.is_settled(FILE, at(60_000)));
        push(&mut state, &["broken"], at(1000));
        assert!(!state.is_settled(FILE, at(3600)), "it sends a second list after 0.9 s");
        assert!(state.is_settled(FILE, at(3800)));
        state.put(FILE, "rust", "2", at(5000));
        push(&mut state, &[], at(5001));
        assert!(!state.is_settled(FILE, at(60_000)), "that may be about the text before");
        pass(&mut state, 3, at(5005));
        push(&mut state, &[], at(5010));
        assert!(!state.is_settled(FILE, at(6200)) && state.is_settled(FILE, at(6500)));
    }

    #[test]
    fn check_that_follows_each_save_is_part_of_the_answer() {
        let start = Instant::now();
        let at = |milliseconds| start + Duration::from_millis(milliseconds);
        let mut state = started("rust-analyzer", &json!({ "checkOnSave": true }));
        tell(&mut state, "experimental/serverStatus", &json!({ "quiescent": true, "health": "ok" }), at(0));
        state.put(FILE, "rust", "1", at(0));
        state.saved(at(0));
        pass(&mut state, 2, at(5));
        push(&mut state, &[], at(10));
        assert!(!state.is_settled(FILE, at(60_000)), "no check has begun");
        let check = |kind: &str| json!({ "token": "rust-analyzer/flycheck/0", "value": { "kind": kind } });
        tell(&mut state, "$/progress", &check("begin"), at(60_000));
        assert!(!state.is_settled(FILE, at(90_000)), "it runs");
        tell(&mut state, "$/progress", &check("end"), at(90_000));
        assert!(!state.is_settled(FILE, at(90_900)), "the save may have ended an earlier one, and its own begins");
        tell(&mut state, "$/progress", &check("begin"), at(90_950));
        tell(&mut state, "$/progress", &check("end"), at(95_000));
        push(&mut state, &["broken"], at(95_001));
        assert!(state.is_settled(FILE, at(96_001)));
    }

    #[test]
    fn check_of_a_save_is_waited_for_until_it_begins_and_ends() {
        let start = Instant::now();
        let at = |milliseconds| start + Duration::from_millis(milliseconds);
        let mut state = started("any", &Value::Null);
        state.is_proven = true;
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
        pass(&mut state, 2, at(1));
        push(&mut state, 1);
        assert!(state.is_settled("file:///r/a.rs", at(500)), "one that never checked a save is not waited for");
        progress(&mut state, "begin", 600);
        progress(&mut state, "end", 700);
        state.put("file:///r/a.rs", "rust", "2", at(2000));
        state.saved(at(2000));
        pass(&mut state, 3, at(2001));
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
