//! The state of one running server: what it was sent, what it has reported about which file, and whether it is busy.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher as _, BuildHasherDefault, DefaultHasher};
use std::time::{Duration, Instant};

use serde::Deserialize;
use serde_json::{Value, json, value::RawValue};

use crate::diagnostics::{Diagnostic, FileDiagnostics, published, reported};
use crate::protocol::{answer, initialize, notification, parsed};
use crate::trouble::Trouble;

const MAX_FILES: usize = 256;
/// Problems that are kept of a file that is not open: more are not shown.
const MAX_PROBLEMS_ELSEWHERE: usize = 50;
/// Tasks that a server reports as going on at once (`$/progress`).
const MAX_PROGRESS: usize = 64;
/// Requests without an answer that are remembered; one more, and all of these are forgotten.
const MAX_ASKED: usize = 256;
/// The longest time between two lists for one text that is learned from.
const MAX_GAP: Duration = Duration::from_secs(2);
/// Files that are opened as soon as it can be talked to.
const MAX_PENDING: usize = 8;
/// Files that are open at once; the least recently changed is closed for a further one.
const MAX_OPEN: usize = 32;
/// The time between two requests for the diagnostics of one text.
const PULL_AGAIN: Duration = Duration::from_millis(200);
/// The number of the first request; none has the number 0.
const INITIALIZE_ID: u64 = 1;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Phase {
    #[default]
    Starting,
    Ready,
    Ended,
}

#[derive(Deserialize)]
struct Incoming<'m> {
    #[serde(borrow)]
    id: Option<&'m RawValue>,
    #[serde(borrow)]
    method: Option<Cow<'m, str>>,
    #[serde(borrow)]
    params: Option<&'m RawValue>,
    #[serde(borrow)]
    result: Option<&'m RawValue>,
    #[serde(borrow)]
    error: Option<&'m RawValue>,
}

/// A request about the text of a file: its answer is the diagnostics of a server that is asked for them; of any other it
/// shows that the text has arrived.
#[derive(Debug)]
struct TextRequest {
    uri: String,
    version: i64,
    at: Instant,
}

#[derive(Debug)]
struct Document {
    version: i64,
    sent: Instant,
    pulled: Option<Instant>,
    is_pulling: bool,
    passed: Option<Instant>,
    text: u64,
    is_settled: bool,
    /// Whether the version before was replaced before that: its list may still come.
    follows_unsettled: bool,
}

#[derive(Debug, Default)]
struct FileProblems {
    pushed: Vec<Diagnostic>,
    pushed_version: Option<i64>,
    pushed_at: Option<Instant>,
    pulled: Vec<Diagnostic>,
}

#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) phase: Phase,
    documents: HashMap<String, Document>,
    pub(super) has_settled: bool,
    /// The diagnostics of all files before the first change that was not checked, once there is one.
    pub(super) unchecked: Option<FileDiagnostics>,
    pub(super) trouble: Trouble,
    /// Whether it runs a check of its own after each save: rust-analyzer, unless that is off.
    pub(super) checks_saves: bool,
    is_proven: bool,
    ready_at: Option<Instant>,
    /// How long after one list for a text another one came; halved with each further text.
    last_gap: Duration,
    /// Files to open once it is ready: URI, language, text.
    pending: Vec<[String; 3]>,
    files: HashMap<String, FileProblems>,
    progress: HashSet<String>,
    quiescent: Option<bool>,
    /// When it was last busy, and when it last reported something about a file.
    last_busy: Option<Instant>,
    last_heard: Option<Instant>,
    /// When a file was last saved, and when a check of saves last began.
    pub(super) last_saved: Option<Instant>,
    last_check: Option<Instant>,
    asked: HashMap<u64, TextRequest>,
    last_id: u64,
    pulls: bool,
    names_versions: bool,
    root_uri: String,
    settings: Value,
}

impl State {
    pub(super) fn new(root_uri: String, options: &Value, settings: Value) -> (Self, Value) {
        let checks_saves = options.get("checkOnSave").is_none_or(|checks| *checks != Value::Bool(false));
        let first = initialize(&root_uri, options);
        let mut state = Self { checks_saves, root_uri, settings, ..Self::default() };
        let first = state.request("initialize", &first);
        (state, first)
    }

    fn request(&mut self, method: &str, params: &Value) -> Value {
        self.last_id += 1;
        json!({ "jsonrpc": "2.0", "id": self.last_id, "method": method, "params": params })
    }

    /// Takes note of one message. Returns the messages that are to be sent because of it; `None` if it is no message, or
    /// the server refuses to begin.
    pub(super) fn receive(&mut self, body: &[u8], now: Instant) -> Option<Vec<Value>> {
        let was_busy = self.is_busy();
        let Incoming { id, method, params, result, error } = serde_json::from_slice(body).ok()?;
        let mut replies = match (id, method) {
            (Some(id), Some(method)) => {
                if method == "workspace/diagnostic/refresh" {
                    self.documents.values_mut().for_each(|document| document.pulled = None);
                }
                vec![answer(id, &method, params, &self.root_uri, &self.settings)]
            }
            // An id that is not a number is not ours.
            (Some(id), None) => self.answered(id.get().parse().unwrap_or_default(), result, error, now)?,
            (None, Some(method)) => {
                if let Some(params) = params {
                    self.notified(&method, params, now);
                }
                Vec::new()
            }
            (None, None) => return None,
        };
        if was_busy && !self.is_busy() && self.pulls {
            // What it reported while it was loading is not final.
            let open: Vec<String> = self.documents.keys().cloned().collect();
            replies.extend(open.iter().filter_map(|uri| self.ask_again(uri, now)));
        }
        Some(replies)
    }

    fn answered(
        &mut self,
        id: u64,
        result: Option<&RawValue>,
        error: Option<&RawValue>,
        now: Instant,
    ) -> Option<Vec<Value>> {
        let result = result.filter(|_| error.is_none());
        // Once: a second answer with this number must not begin the conversation again.
        if id == INITIALIZE_ID && self.phase == Phase::Starting {
            if let Some(error) = error {
                self.trouble.message(error);
            }
            return Some(self.initialized(result?, now));
        }
        // An answer to nothing that is known is no offence: requests are forgotten for others (`MAX_ASKED`).
        let Some(TextRequest { uri, version, at }) = self.asked.remove(&id) else { return Some(Vec::new()) };
        // It may be closed meanwhile: it is gone, or others were opened.
        let Some(document) = self.documents.get_mut(&uri) else { return Some(Vec::new()) };
        document.is_pulling = false;
        if document.version == version && !self.pulls {
            document.passed = Some(now);
        } else if document.version == version
            // An error: the text has changed, or the project is not loaded. It is asked again.
            && let Some(result) = result
        {
            document.pulled = Some(at);
            if let Some(diagnostics) = reported(result) {
                self.is_proven |= !diagnostics.is_empty();
                self.files.entry(uri).or_default().pulled = diagnostics;
            }
        }
        Some(Vec::new())
    }

    fn initialized(&mut self, result: &RawValue, now: Instant) -> Vec<Value> {
        let result = parsed(result);
        let says_when_loaded =
            result["serverInfo"]["name"].as_str().is_some_and(|server| server.contains("rust-analyzer"));
        if says_when_loaded {
            // It answers with empty lists until it says that it is loaded, and says first that it is not a moment later.
            self.quiescent = self.quiescent.or(Some(false));
        }
        self.checks_saves &= says_when_loaded;
        self.pulls = !result["capabilities"]["diagnosticProvider"].is_null();
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
            "$/progress" => self.progressed(&parsed(params), now),
            "experimental/serverStatus" => {
                let status = parsed(params);
                let quiescent = status["quiescent"].as_bool();
                self.trouble.status(status["health"].as_str(), status["message"].as_str());
                self.is_proven |= quiescent == Some(true);
                if self.quiescent == Some(false) || quiescent == Some(false) {
                    self.last_busy = Some(now);
                }
                self.quiescent = quiescent.or(self.quiescent);
            }
            "window/showMessage" | "window/logMessage" => self.trouble.message(params),
            _ => {}
        }
    }

    fn published(&mut self, params: &RawValue, now: Instant) {
        let Some((uri, version, mut diagnostics)) = published(params) else { return };
        self.last_heard = Some(now);
        self.names_versions |= version.is_some();
        let sent = self.documents.get(&uri).map(|document| document.sent);
        let is_new = sent.is_none() && !self.files.contains_key(&uri);
        if is_new && (diagnostics.is_empty() || self.files.len() >= MAX_FILES) {
            return;
        }
        if sent.is_none() {
            diagnostics.truncate(MAX_PROBLEMS_ELSEWHERE);
        }
        self.is_proven |= !diagnostics.is_empty();
        let file = self.files.entry(uri).or_default();
        let counts = |at: &Instant| self.quiescent.is_none() && sent.is_some_and(|sent| *at >= sent);
        if let Some(earlier) = file.pushed_at.filter(counts) {
            let gap = now.duration_since(earlier).min(MAX_GAP);
            self.last_gap = self.last_gap.max(gap);
        }
        (file.pushed, file.pushed_version, file.pushed_at) = (diagnostics, version, Some(now));
    }

    fn progressed(&mut self, progress: &Value, now: Instant) {
        let Some(kind) = progress["value"]["kind"].as_str() else { return };
        // Cut, as the server chooses it and up to `MAX_PROGRESS` of them are kept.
        let token: String = progress["token"].to_string().chars().take(100).collect();
        if kind == "begin" && self.progress.len() < MAX_PROGRESS {
            if is_check(&token) {
                self.last_check = Some(now);
            }
            self.progress.insert(token);
        } else if kind == "end" {
            self.progress.remove(&token);
        }
        (self.last_busy, self.last_heard) = (Some(now), Some(now));
    }

    /// The messages by which it learns of a file that may be changed soon; kept until it can be talked to.
    pub(super) fn open(&mut self, uri: &str, language: &str, text: &str, now: Instant) -> Vec<Value> {
        match self.phase {
            Phase::Ready if !self.documents.contains_key(uri) => self.put(uri, language, text, now),
            Phase::Starting if self.pending.len() < MAX_PENDING => {
                self.pending.push([uri, language, text].map(str::to_owned));
                Vec::new()
            }
            _ => Vec::new(),
        }
    }

    /// The messages by which it learns that a file has a new content; none if it has it already.
    pub(super) fn put(&mut self, uri: &str, language: &str, text: &str, now: Instant) -> Vec<Value> {
        let hash = BuildHasherDefault::<DefaultHasher>::new().hash_one(text);
        let mut messages = Vec::new();
        let before = self.documents.get(uri);
        if before.is_some_and(|document| document.text == hash) {
            return messages;
        }
        let version = before.map_or(1, |document| document.version + 1);
        let follows_unsettled = before.is_some_and(|document| !document.is_settled);
        if version > 1 {
            // A change without a range is the whole text, which every server takes.
            let file = json!({ "uri": uri, "version": version });
            let params = json!({ "textDocument": file, "contentChanges": [{ "text": text }] });
            messages.push(notification("textDocument/didChange", &params));
        } else {
            if self.documents.len() >= MAX_OPEN
                && let Some(oldest) = self.documents.iter().min_by_key(|(_, document)| document.sent)
            {
                let oldest = oldest.0.clone();
                messages.extend(self.close(&oldest));
            }
            let file = json!({ "uri": uri, "languageId": language, "version": version, "text": text });
            messages.push(notification("textDocument/didOpen", &json!({ "textDocument": file })));
        }
        let document = Document {
            version,
            sent: now,
            pulled: None,
            is_pulling: false,
            passed: None,
            text: hash,
            is_settled: false,
            follows_unsettled,
        };
        self.documents.insert(uri.to_owned(), document);
        self.last_gap /= 2;
        messages.extend(self.ask(uri, now));
        messages
    }

    fn ask(&mut self, uri: &str, now: Instant) -> Option<Value> {
        let document = self.documents.get_mut(uri)?;
        document.is_pulling = self.pulls;
        let asked = TextRequest { uri: uri.to_owned(), version: document.version, at: now };
        let method = if self.pulls { "textDocument/diagnostic" } else { "textDocument/documentSymbol" };
        let request = self.request(method, &json!({ "textDocument": { "uri": uri } }));
        if self.asked.len() >= MAX_ASKED {
            self.asked.clear();
        }
        self.asked.insert(self.last_id, asked);
        Some(request)
    }

    /// The request for the diagnostics of a file, where those that there are may not be the last.
    pub(super) fn ask_again(&mut self, uri: &str, now: Instant) -> Option<Value> {
        let document = self.documents.get(uri).filter(|_| self.pulls && !self.is_busy())?;
        let is_due = now.duration_since(document.sent) >= PULL_AGAIN && !document.is_pulling && !self.is_pulled(uri);
        if is_due { self.ask(uri, now) } else { None }
    }

    /// A file is gone. Returns the message that closes it, if it is open.
    pub(super) fn forget(&mut self, uri: &str) -> Option<Value> {
        self.files.remove(uri);
        self.close(uri)
    }

    fn close(&mut self, uri: &str) -> Option<Value> {
        self.documents.remove(uri)?;
        Some(notification("textDocument/didClose", &json!({ "textDocument": { "uri": uri } })))
    }

    pub(super) fn diagnostics(&self, uri: &str) -> Vec<Diagnostic> {
        let Some(file) = self.files.get(uri) else { return Vec::new() };
        let pulled = file.pulled.iter().filter(|one| !file.pushed.iter().any(|other| one.is_said_by(other)));
        pulled.chain(&file.pushed).cloned().collect()
    }

    /// A change is not checked: the next one is compared with what was known before it. What a check of saves says is
    /// about the disk, and so about this change already; where nothing was known before it, all of that is new.
    pub(super) fn leave_unchecked(&mut self) {
        if self.unchecked.is_none() && (self.has_settled || self.checks_saves) {
            self.unchecked = Some(if self.has_settled { self.all() } else { FileDiagnostics::new() });
        }
    }

    /// The diagnostics of a file, where a check of saves has not seen changes that were not checked.
    pub(super) fn known(&self, uri: &str) -> Vec<Diagnostic> {
        let (Some(unchecked), true) = (&self.unchecked, self.checks_saves) else { return self.diagnostics(uri) };
        let pulled = self.files.get(uri).map_or(&[][..], |file| &file.pulled);
        pulled.iter().chain(unchecked.get(uri).into_iter().flatten()).cloned().collect()
    }

    pub(super) fn all(&self) -> FileDiagnostics {
        self.files.keys().map(|uri| (uri.clone(), self.diagnostics(uri))).collect()
    }
}

/// Whether the progress with this token is a check of saves, by its name in rust-analyzer.
fn is_check(token: &str) -> bool {
    token.contains("flycheck")
}

/// How long a server must have reported nothing more, once it has answered: checks of a save may begin a moment later.
const IDLE_AFTER_ANSWER: Duration = Duration::from_millis(150);
/// The same for a server that sends what it finds bit by bit.
const QUIET_PUSHED: Duration = Duration::from_millis(300);
/// How long after it has taken note of a change a server that names no versions may be silent: some send nothing if
/// nothing has changed.
const IDLE_WITHOUT_VERSION: Duration = Duration::from_secs(1);
/// How long after a save the check of a server that checks saves may begin: on a busy machine its compiler starts late.
const CHECK_BEGINS: Duration = Duration::from_secs(3);
/// How long a server must be silent before it is believed that a text has no problems, as long as it has not shown that
/// it is loaded: some send an empty list first. Shortly after its start that is not believed at all.
const QUIET_COLD: Duration = Duration::from_secs(2);
const STARTUP_GRACE: Duration = Duration::from_secs(5);
/// How long a server that checks saves must be silent: a save ends the check that runs, which is no answer, and the
/// next begins a moment later, on a busy machine much later.
const QUIET_CHECKED: Duration = Duration::from_secs(1);

/// Whether a server is done with a change: what it has reported since, and for how long it has been quiet.
impl State {
    /// Whether the check of the last save has not begun yet. One that is sure to come is waited for as long as a change
    /// may wait: without it the answer is not the last one. So is the first one, by which saves are compared.
    fn will_check(&self, now: Instant) -> bool {
        // No check at all is before any save.
        let is_due = self.last_check < self.last_saved;
        let may_begin =
            |since: Option<Instant>| since.is_none_or(|at| now.saturating_duration_since(at) < CHECK_BEGINS);
        match (self.checks_saves, self.last_check) {
            (true, None) if self.last_saved.is_none() => may_begin(self.last_busy),
            (false, Some(_)) => is_due && may_begin(self.last_saved),
            (checks_saves, _) => is_due && checks_saves,
        }
    }

    fn is_busy(&self) -> bool {
        match self.quiescent {
            // It indexes while it can answer. Checks of a save are what has to be waited for.
            Some(true) => self.progress.iter().any(|token| is_check(token)),
            Some(false) => true,
            None => !self.progress.is_empty(),
        }
    }

    pub(crate) fn is_loading(&self) -> bool {
        self.phase == Phase::Starting || self.quiescent == Some(false) || (self.quiescent.is_none() && self.is_busy())
    }

    /// Whether a change may wait for it again, after others have waited in vain: it is loaded, or has answered for all
    /// that it was sent.
    pub(crate) fn is_ready_again(&self) -> bool {
        let has_answered = !self.documents.is_empty() && self.documents.keys().all(|uri| self.has_answered(uri));
        self.phase == Phase::Ready && (self.quiescent == Some(true) || (!self.is_busy() && has_answered))
    }

    fn has_answered(&self, uri: &str) -> bool {
        let (Some(document), file) = (self.documents.get(uri), self.files.get(uri)) else { return false };
        if self.pulls {
            return self.is_pulled(uri);
        }
        file.is_some_and(|file| match file.pushed_version {
            Some(version) => version >= document.version,
            // A list without a version may be about the text before, until the server has shown that it knows this one.
            None => file.pushed_at.zip(document.passed).is_some_and(|(at, passed)| at >= passed),
        })
    }

    fn is_pulled(&self, uri: &str) -> bool {
        let asked = self.documents.get(uri).and_then(|document| document.pulled);
        asked.is_some_and(|asked| self.last_busy.is_none_or(|busy| busy <= asked || self.quiescent.is_none()))
    }

    /// Whether a file is to settle before it gets another text. Where lists name no version, one that is due for the text
    /// that the server has would pass for that of the next: a problem of both would be taken for an old one.
    pub(crate) fn owes_a_list(&self, uri: &str) -> bool {
        let is_open = self.documents.get(uri).is_some_and(|document| !document.is_settled);
        is_open && !self.pulls && !self.names_versions
    }

    /// Whether all that it will say of the content of a file has arrived; keeps that it has.
    pub(crate) fn settles(&mut self, uri: &str, now: Instant) -> bool {
        let is_settled = self.is_settled(uri, now);
        if let Some(document) = self.documents.get_mut(uri) {
            document.is_settled |= is_settled;
        }
        is_settled
    }

    /// Whether all that it will say of the content of a file has arrived.
    pub(crate) fn is_settled(&self, uri: &str, now: Instant) -> bool {
        // Closed for other files meanwhile: nobody knows.
        let Some(document) = self.documents.get(uri) else { return false };
        let is_young = self.ready_at.is_none_or(|at| now.saturating_duration_since(at) < STARTUP_GRACE);
        if self.is_busy() || self.will_check(now) || (is_young && !self.is_proven) {
            return false;
        }
        let last = [Some(document.sent), self.last_heard, self.last_busy].into_iter().flatten().max();
        let quiet = last.map_or(Duration::ZERO, |last| now.saturating_duration_since(last));
        // Nothing that is known of it says whether an empty list is its answer, or its greeting.
        let cold = match (self.is_proven, self.checks_saves) {
            (false, _) => QUIET_COLD,
            (true, true) => QUIET_CHECKED,
            (true, false) => Duration::ZERO,
        };
        let has_answered = self.has_answered(uri);
        if self.pulls {
            return has_answered && quiet >= IDLE_AFTER_ANSWER.max(cold);
        }
        let pushed_at = self.files.get(uri).and_then(|file| file.pushed_at);
        let is_silent = (self.is_proven || pushed_at.is_some_and(|at| at >= document.sent))
            && !self.names_versions
            && document.passed.is_some_and(|at| now.saturating_duration_since(at) >= IDLE_WITHOUT_VERSION);
        // The first list may be about a text before this one: as long as a silent server is waited for.
        let late =
            if document.follows_unsettled && !self.names_versions { IDLE_WITHOUT_VERSION } else { Duration::ZERO };
        let more = cold.max(3 * self.last_gap).max(late);
        (has_answered && quiet >= QUIET_PUSHED.max(more)) || (is_silent && quiet >= IDLE_WITHOUT_VERSION.max(more))
    }
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

    const FILE_URI: &str = "file:///r/a.rs";

    fn tell(state: &mut State, method: &str, params: &Value, now: Instant) {
        state.receive(notification(method, params).to_string().as_bytes(), now).unwrap();
    }

    fn pass(state: &mut State, number: u64, now: Instant) {
        state.receive(json!({ "jsonrpc": "2.0", "id": number, "result": [] }).to_string().as_bytes(), now).unwrap();
    }

    fn push(state: &mut State, messages: &[&str], now: Instant) {
        let place = json!({ "line": 0, "character": 0 });
        let one = |text: &&str| json!({ "range": { "start": place, "end": place }, "message": text });
        let list: Vec<Value> = messages.iter().map(one).collect();
        tell(state, "textDocument/publishDiagnostics", &json!({ "uri": FILE_URI, "diagnostics": list }), now);
    }

    #[test]
    fn empty_list_of_a_server_that_loads_is_no_answer() {
        let start = Instant::now();
        let at = |milliseconds| start + Duration::from_millis(milliseconds);
        let mut state = started("rust-analyzer", &json!({ "checkOnSave": false }));
        state.put(FILE_URI, "rust", "1", at(0));
        pass(&mut state, 2, at(1));
        push(&mut state, &[], at(1));
        assert!(!state.is_settled(FILE_URI, at(60_000)), "it has not said that it is loaded");
        assert!(state.is_loading());
        for (quiescent, milliseconds) in [(false, 10), (true, 9000)] {
            let status = json!({ "health": "ok", "quiescent": quiescent });
            tell(&mut state, "experimental/serverStatus", &status, at(milliseconds));
            assert_eq!(state.is_settled(FILE_URI, at(milliseconds + 5000)), quiescent);
        }
    }

    #[test]
    fn empty_list_is_believed_after_a_long_silence_until_the_server_is_known() {
        let start = Instant::now();
        let at = |milliseconds| start + Duration::from_millis(milliseconds);
        let mut state = started("any", &json!({}));
        state.put(FILE_URI, "rust", "1", at(0));
        assert!(!state.is_settled(FILE_URI, at(60_000)), "it has never said anything");
        pass(&mut state, 2, at(50));
        push(&mut state, &[], at(100));
        assert!(!state.is_settled(FILE_URI, at(4900)) && state.is_settled(FILE_URI, at(60_000)));
        push(&mut state, &["broken"], at(1000));
        assert!(!state.is_settled(FILE_URI, at(3600)), "it sends a second list after 0.9 s");
        assert!(state.is_settled(FILE_URI, at(3800)));
        state.put(FILE_URI, "rust", "2", at(5000));
        push(&mut state, &[], at(5001));
        assert!(!state.is_settled(FILE_URI, at(60_000)), "that may be about the text before");
        pass(&mut state, 3, at(5005));
        push(&mut state, &[], at(5010));
        assert!(!state.is_settled(FILE_URI, at(6200)) && state.is_settled(FILE_URI, at(6500)));
    }

    #[test]
    fn list_of_a_text_that_was_replaced_too_early_is_waited_for() {
        let start = Instant::now();
        let at = |milliseconds| start + Duration::from_millis(milliseconds);
        let mut state = started("any", &json!({}));
        state.is_proven = true;
        state.put(FILE_URI, "rust", "1", at(0));
        pass(&mut state, 2, at(5));
        assert!(state.owes_a_list(FILE_URI), "its list has not come");
        state.put(FILE_URI, "rust", "2", at(100));
        pass(&mut state, 3, at(105));
        push(&mut state, &["broken"], at(150));
        assert!(
            !state.settles(FILE_URI, at(1100)) && state.owes_a_list(FILE_URI),
            "this may be the list of the first text"
        );
        push(&mut state, &[], at(1101));
        assert!(!state.settles(FILE_URI, at(3800)), "lists are 951 ms apart");
        assert!(state.settles(FILE_URI, at(4000)) && !state.owes_a_list(FILE_URI));
        state.put(FILE_URI, "rust", "3", at(5000));
        pass(&mut state, 4, at(5005));
        push(&mut state, &["broken"], at(5010));
        assert!(state.settles(FILE_URI, at(6500)), "nothing is due for the text before");
    }

    #[test]
    fn check_that_follows_each_save_is_part_of_the_answer() {
        let start = Instant::now();
        let at = |milliseconds| start + Duration::from_millis(milliseconds);
        let mut state = started("rust-analyzer", &json!({ "checkOnSave": true }));
        tell(&mut state, "experimental/serverStatus", &json!({ "quiescent": true, "health": "ok" }), at(0));
        state.put(FILE_URI, "rust", "1", at(0));
        state.last_saved = Some(at(0));
        pass(&mut state, 2, at(5));
        push(&mut state, &[], at(10));
        assert!(!state.is_settled(FILE_URI, at(60_000)), "no check has begun");
        let check = |kind: &str| json!({ "token": "rust-analyzer/flycheck/0", "value": { "kind": kind } });
        tell(&mut state, "$/progress", &check("begin"), at(60_000));
        assert!(!state.is_settled(FILE_URI, at(90_000)), "it runs");
        tell(&mut state, "$/progress", &check("end"), at(90_000));
        assert!(!state.is_settled(FILE_URI, at(90_900)), "the save may have ended an earlier one, and its own begins");
        tell(&mut state, "$/progress", &check("begin"), at(90_950));
        tell(&mut state, "$/progress", &check("end"), at(95_000));
        push(&mut state, &["broken"], at(95_001));
        assert!(state.is_settled(FILE_URI, at(96_001)));
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
        state.last_saved = Some(at(0));
        pass(&mut state, 2, at(1));
        push(&mut state, 1);
        assert!(state.settles("file:///r/a.rs", at(500)), "one that never checked a save is not waited for");
        progress(&mut state, "begin", 600);
        progress(&mut state, "end", 700);
        state.put("file:///r/a.rs", "rust", "2", at(2000));
        state.last_saved = Some(at(2000));
        pass(&mut state, 3, at(2001));
        push(&mut state, 2001);
        assert!(!state.is_settled("file:///r/a.rs", at(2600)), "its check begins late");
        progress(&mut state, "begin", 2700);
        assert!(!state.is_settled("file:///r/a.rs", at(9000)), "its check runs");
        progress(&mut state, "end", 9000);
        assert!(state.is_settled("file:///r/a.rs", at(9500)));
        state.last_saved = Some(at(10_000));
        assert!(!state.is_settled("file:///r/a.rs", at(12_900)));
        assert!(state.is_settled("file:///r/a.rs", at(13_100)), "no check begins");
    }

    #[test]
    fn what_is_no_message_is_refused() {
        let mut state = started("any", &Value::Null);
        let deep = format!("{{\"method\":\"x\",\"params\":{}", "[".repeat(100_000));
        for none in ["", "1", "{}", "[]", "{\"method\":1}", "\u{0}", &deep] {
            assert_eq!(state.receive(none.as_bytes(), Instant::now()), None, "{none:?}");
        }
        for (body, answers) in [
            (r#"{"id":3,"result":{}}"#, 0),
            (r#"{"id":"x","result":{}}"#, 0),
            (r#"{"id":3,"error":{"code":1}}"#, 0),
            (r#"{"id":"x","method":"a/b","params":[]}"#, 1),
            (r#"{"method":"a\u0062"}"#, 0),
        ] {
            let replies = state.receive(body.as_bytes(), Instant::now()).expect(body);
            assert_eq!(replies.len(), answers, "{body}");
        }
        let (mut state, _) = State::new("file:///r".to_owned(), &Value::Null, Value::Null);
        let refusal = r#"{"id":1,"error":{"code":1,"message":"no"}}"#;
        assert_eq!(state.receive(refusal.as_bytes(), Instant::now()), None);
        assert_eq!(state.trouble.why(), Some("no"));
    }

    #[test]
    fn file_is_opened_changed_and_closed_for_others() {
        let (mut state, now) = (started("any", &Value::Null), Instant::now());
        let methods = |messages: Vec<Value>| -> Vec<String> {
            let method =
                |message: &Value| message["method"].as_str()?.strip_prefix("textDocument/did").map(str::to_owned);
            messages.iter().filter_map(method).collect()
        };
        assert_eq!(methods(state.put("a", "rust", "1", now)), ["Open"]);
        assert!(state.put("a", "rust", "1", now).is_empty());
        assert_eq!(methods(state.put("a", "rust", "2", now)), ["Change"]);
        assert_eq!(state.documents["a"].version, 2);
        for number in 1..MAX_OPEN {
            assert_eq!(methods(state.put(&number.to_string(), "rust", "1", Instant::now())), ["Open"]);
        }
        assert_eq!(methods(state.put("x", "rust", "1", Instant::now())), ["Close", "Open"]);
        assert!(!state.documents.contains_key("a"));
    }
}
