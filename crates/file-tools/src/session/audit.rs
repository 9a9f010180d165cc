//! The audit: one JSON line for each call, for people who want to know what a model did.
//!
//! Decides what a line holds; [`AppendLog`] writes the file. Content is never logged: for text that may be
//! content, a line has the length and the hash.
//!
//! # Limits
//! The hash is not keyed: anyone with the log and a guess of a short text can check the guess.

use std::{
    borrow::Cow,
    fmt::Write as _,
    io, mem,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, SystemTime},
};

use change_set::{Workspace, state::AppendLog};
use confined_fs::{Revision, WorkspacePath, escape::escape_controls};
use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};
use text_file::{escape::is_invisible, shorten};

/// Arguments that name a path, as the schemas call them; [`Audit::describe`] gets the other spellings.
const PATH_ARGUMENTS: &[&str] = &["path", "source", "destination"];
/// Other arguments whose text is shown as it is, up to [`MAX_TEXT`] characters. Everything else may be content.
const PLAIN_ARGUMENTS: &[&str] =
    &["pattern", "glob", "type", "mode", "sort", "encoding", "output_mode", "expected_revision", "paths", "sources"];
/// Gives the name in the schema of the argument that was sent under a name.
type Canonical<'m> = &'m dyn Fn(&str) -> Option<&'static str>;
/// Bytes of a text that is shown.
const MAX_TEXT: usize = 1024;
/// Bytes of a name (of an argument, of a tool) that is shown as it is, and of another one's beginning.
const MAX_NAME: usize = 48;
const MAX_BEGINNING: usize = 16;
/// Elements of a list, arguments of a call and changes that a line shows.
const MAX_LISTED: usize = 100;
/// Bytes of all arguments that a line shows; beyond, it has their length and hash.
const MAX_ARGUMENTS: usize = 64 << 10;
/// How deep a line follows lists and objects.
const MAX_DEPTH: usize = 4;

#[derive(Debug)]
pub struct Audit {
    log: Arc<AppendLog>,
    label: Option<String>,
    role: Option<String>,
    /// Whether a call whose line cannot be written is refused.
    pub required: bool,
}

#[derive(Debug)]
pub struct CallRecord(Map<String, Value>);

#[derive(Clone, Copy, Debug)]
pub struct AuditOutcome {
    /// `ok`, `asked` where the client was asked for a yes, `unknown_tool`, or the kind of the error.
    pub kind: &'static str,
    /// Whether the rules let it through: `allowed`, or `denied`.
    pub allowed: bool,
    /// Bytes of the answer.
    pub answered: usize,
    /// Bytes that were written to files.
    pub written: u64,
    /// How a person was asked about the change, or agreed to it; `None` where nobody was asked.
    pub confirmation: Option<&'static str>,
    pub duration: Duration,
}

impl Audit {
    pub fn new(log: AppendLog, label: Option<String>, required: bool) -> Self {
        Self { log: Arc::new(log), label, role: None, required }
    }

    #[must_use]
    pub fn of_role(&self, role: &str) -> Self {
        let (log, label) = (Arc::clone(&self.log), self.label.clone());
        Self { log, label, role: Some(role.to_owned()), required: self.required }
    }

    /// Describes a call, with what its paths mean before it is made. `canonical`: what the tool calls an argument
    /// that was sent under another spelling, which is the caller's to choose.
    pub fn describe(
        &self,
        caller: &Caller,
        tool: &str,
        arguments: &Map<String, Value>,
        canonical: impl Fn(&str) -> Option<&'static str>,
        workspace: &Workspace,
    ) -> CallRecord {
        let mut line = Map::new();
        line.insert("time".into(), humantime::format_rfc3339_millis(SystemTime::now()).to_string().into());
        let client = caller
            .client
            .as_ref()
            .map(|(name, version)| json!({ "name": shorten(name, MAX_TEXT), "version": shorten(version, MAX_TEXT) }));
        line.insert("client".into(), client.unwrap_or(Value::Null));
        let named = [("label", &self.label), ("role", &self.role), ("thread", &caller.thread), ("user", &caller.user)];
        for (key, name) in named {
            if let Some(name) = name {
                line.insert(key.into(), name.as_str().into());
            }
        }
        line.insert("request".into(), shorten(&caller.request, MAX_TEXT).into());
        line.insert("tool".into(), label(tool).into());
        let shown = shown_object(arguments, MAX_DEPTH, &canonical);
        let text = shown.to_string();
        line.insert("arguments".into(), if text.len() > MAX_ARGUMENTS { digest(text.as_bytes()) } else { shown });
        // Resolved before the call: afterwards a moved or deleted file is not where it was asked for.
        line.insert("paths".into(), paths(arguments, &canonical, workspace).into());
        CallRecord(line)
    }

    /// Writes that a change is about to be made. Only where the audit is required: the file may be gone
    /// by the time the change has been made, and then it is too late to refuse it.
    pub fn announce(&self, record: &CallRecord) -> io::Result<()> {
        if !self.required {
            return Ok(());
        }
        let mut line = record.0.clone();
        line.insert("event".into(), "intent".into());
        self.write(line)
    }

    pub fn conclude(&self, record: &CallRecord, outcome: &AuditOutcome, changes: &ChangeLog) -> io::Result<()> {
        let mut line = record.0.clone();
        line.insert("event".into(), "call".into());
        line.insert("decision".into(), if outcome.allowed { "allowed" } else { "denied" }.into());
        line.insert("outcome".into(), outcome.kind.into());
        line.insert("bytes".into(), outcome.answered.into());
        line.insert("written".into(), outcome.written.into());
        let changes = changes.take();
        if !changes.is_empty() {
            line.insert("changes".into(), changes.into());
        }
        if let Some(how) = outcome.confirmation {
            line.insert("confirmation".into(), how.into());
        }
        let milliseconds = outcome.duration.as_secs_f64() * 1000.0;
        // With three digits: a float may be printed with 17.
        line.insert("duration_ms".into(), json!((milliseconds * 1000.0).round() / 1000.0));
        self.write(line)
    }

    fn write(&self, line: Map<String, Value>) -> io::Result<()> {
        let mut text = String::new();
        for character in Value::Object(line).to_string().chars() {
            // What a terminal or a person would not see, or see elsewhere; JSON reads these escapes back.
            if character.is_control() || is_invisible(character) {
                for unit in character.encode_utf16(&mut [0; 2]) {
                    let _ = write!(text, "\\u{unit:04x}");
                }
            } else {
                text.push(character);
            }
        }
        // In one write, so that the lines of several processes do not mix.
        text.push('\n');
        self.log.append(text.as_bytes())
    }
}

/// The target of each path argument: as it is printed, and as the host path it leads to. Those in the objects of a list
/// come last: `edits[3].path`.
/// A name occurs once in an object, so a tool's spellings and [`MAX_LISTED`] bound how many there are.
fn paths(arguments: &Map<String, Value>, canonical: Canonical<'_>, workspace: &Workspace) -> Vec<Value> {
    let named = |object: &Map<String, Value>, place: &str| -> Vec<Value> {
        let named = object.iter().filter(|(name, _)| is_in(PATH_ARGUMENTS, name, canonical));
        named
            .filter_map(|(name, value)| Some((format!("{place}{name}"), value.as_str()?)))
            .map(|(name, text)| match workspace.printed_and_host_path(text) {
                // Lossy for names that are not UTF-8: JSON can hold nothing else.
                Some((public, real)) => {
                    json!({ "argument": name, "public": public, "resolved": real.to_string_lossy() })
                }
                None => json!({ "argument": name, "public": null, "resolved": null }),
            })
            .collect()
    };
    let mut found = named(arguments, "");
    for (name, list) in arguments.iter().filter_map(|(name, value)| Some((name, value.as_array()?))) {
        for (index, object) in list.iter().enumerate().filter_map(|(index, one)| Some((index, one.as_object()?))) {
            if found.len() >= MAX_LISTED {
                return found;
            }
            found.extend(named(object, &format!("{}[{index}].", label(name))));
        }
    }
    found
}

fn is_in(list: &[&str], given: &str, canonical: Canonical<'_>) -> bool {
    list.contains(&canonical(given).unwrap_or(given))
}

fn shown_object(object: &Map<String, Value>, depth: usize, canonical: Canonical<'_>) -> Value {
    let mut lines = Map::new();
    for (name, value) in object.iter().take(MAX_LISTED) {
        lines.insert(label(name), shown_value(name, value, depth, canonical));
    }
    if object.len() > MAX_LISTED {
        lines.insert("…".into(), json!({ "more": object.len() - MAX_LISTED }));
    }
    Value::Object(lines)
}

fn shown_value(name: &str, value: &Value, depth: usize, canonical: Canonical<'_>) -> Value {
    match value {
        Value::String(text) if is_in(PATH_ARGUMENTS, name, canonical) || is_in(PLAIN_ARGUMENTS, name, canonical) => {
            shorten(text, MAX_TEXT).into()
        }
        Value::String(text) => digest(text.as_bytes()),
        Value::Object(_) | Value::Array(_) if depth == 0 => digest(value.to_string().as_bytes()),
        Value::Object(object) => shown_object(object, depth - 1, canonical),
        Value::Array(list) => {
            let mut out: Vec<Value> =
                list.iter().take(MAX_LISTED).map(|one| shown_value(name, one, depth - 1, canonical)).collect();
            if list.len() > MAX_LISTED {
                out.push(json!({ "more": list.len() - MAX_LISTED }));
            }
            Value::Array(out)
        }
        // A number can have as many digits as a line has bytes.
        Value::Number(number) if number.to_string().len() > 40 => digest(number.to_string().as_bytes()),
        other => other.clone(),
    }
}

fn digest(bytes: &[u8]) -> Value {
    json!({ "bytes": bytes.len(), "sha256": sha256(bytes) })
}

fn sha256(bytes: &[u8]) -> String {
    let mut hash = String::with_capacity(64);
    for byte in Sha256::digest(bytes) {
        // Writing to a String does not fail.
        let _ = write!(hash, "{byte:02x}");
    }
    hash
}

/// A name as a line shows it: unchanged where it looks like one, else its beginning, length and hash, because a
/// caller can put anything there.
fn label(name: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-' | '.');
    if name.len() <= MAX_NAME && name.chars().all(is_plain) {
        return name.to_owned();
    }
    let beginning: String = name.chars().take_while(|letter| is_plain(*letter)).take(MAX_BEGINNING).collect();
    let hash = sha256(name.as_bytes());
    format!("{beginning}… ({} bytes, sha256 {})", name.len(), &hash[..16])
}

/// Characters of a thread's or user's name that a line shows.
const MAX_CALLER_NAME: usize = 128;

/// How clients spell the thread and the user in a request's `_meta`, the first that is there counting.
const THREAD_KEYS: &[&str] = &["thread_id", "threadId", "thread", "rootbound/thread"];
const USER_KEYS: &[&str] = &["user_id", "userId", "user", "rootbound/user"];
/// The same as headers, in upper or lower case: an interceptor of `deerflow` sets headers, which a stdio server gets as
/// `_meta.headers`
/// (<https://github.com/bytedance/deer-flow/blob/main/backend/docs/MCP_SERVER.md#custom-tool-interceptors>).
const THREAD_HEADERS: &[&str] = &["x-thread-id", "x-deerflow-thread-id", "thread-id", "thread_id"];
const USER_HEADERS: &[&str] = &["x-user-id", "x-deerflow-user-id", "x-deerflow-owner-user-id", "user-id", "user_id"];

/// The client of this process itself, such as `rootbound call`: its name says nothing about who made a change.
pub const IN_PROCESS: &str = "in-process";

/// Who called, and what, as far as the client says so. Anybody can say anything: no right depends on it.
#[derive(Clone, Debug, Default)]
pub struct Caller {
    pub client: Option<(String, String)>,
    pub request: String,
    pub thread: Option<String>,
    /// The person, as the request's `_meta` says.
    pub user: Option<String>,
}

impl Caller {
    pub fn new(client: Option<(String, String)>, request: String, meta: &Map<String, Value>) -> Self {
        let headers = meta.get("headers").and_then(Value::as_object);
        let find = |keys: &[&str], in_headers: &[&str]| {
            let own = keys.iter().find_map(|key| name(meta.get(*key)?));
            own.or_else(|| {
                let headers = headers?;
                let is_it = |given: &str, key: &str| given.eq_ignore_ascii_case(key);
                in_headers.iter().find_map(|key| name(headers.iter().find(|(given, _)| is_it(given, key))?.1))
            })
        };
        Self { thread: find(THREAD_KEYS, THREAD_HEADERS), user: find(USER_KEYS, USER_HEADERS), client, request }
    }

    /// The client, as it names itself; `None` for one of this process.
    pub fn client_name(&self) -> Option<String> {
        let (client, _) = self.client.as_ref().filter(|(client, _)| client != IN_PROCESS)?;
        name(&client.as_str().into())
    }

    /// Who made a change, in one line of a sentence: the thread or the user of the request and the `label` of the server,
    /// whichever are known, else the name of the client. `None` for a client of this process without any of them.
    pub fn named(&self, label: Option<&str>) -> Option<String> {
        let thread = self.thread.as_ref().map(|thread| format!("thread {thread}"));
        let individual = thread.or_else(|| self.user.as_ref().map(|user| format!("user {user}")));
        let named = match (individual, label) {
            (Some(individual), Some(label)) => format!("{individual} ({label})"),
            (individual, label) => individual.or_else(|| label.map(str::to_owned)).or_else(|| self.client_name())?,
        };
        Some(named.replace(['\n', '\t'], " "))
    }
}

/// A name in one line of bounded length; none for what is no name.
fn name(value: &Value) -> Option<String> {
    let text: Cow<'_, str> = match value {
        Value::String(text) => text.trim().into(),
        Value::Number(number) => number.to_string().into(),
        _ => return None,
    };
    (!text.is_empty()).then(|| escape_controls(&shorten(&text, MAX_CALLER_NAME)).into_owned())
}

/// Bytes of the paths of changes that a line lists.
const MAX_PATH_BYTES: usize = 32 << 10;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordedContent {
    /// There was no file, or there is none now.
    Nothing,
    Content(Revision),
    Unknown,
}

impl RecordedContent {
    fn value(self) -> Value {
        match self {
            Self::Nothing => Value::Null,
            Self::Content(revision) => revision.to_string().into(),
            Self::Unknown => "unknown".into(),
        }
    }
}

impl From<Option<Revision>> for RecordedContent {
    fn from(revision: Option<Revision>) -> Self {
        revision.map_or(Self::Nothing, Self::Content)
    }
}

/// The changes of one call, as they are made: for each file its revision before and after, which `rootbound history` and
/// `read` show too.
#[derive(Debug, Default)]
pub struct ChangeLog(Mutex<LoggedChanges>);

#[derive(Debug, Default)]
struct LoggedChanges {
    listed: Vec<Value>,
    path_bytes: usize,
    more: usize,
}

impl ChangeLog {
    pub fn file(&self, path: &WorkspacePath, before: impl Into<RecordedContent>, after: impl Into<RecordedContent>) {
        let (before, after) = (before.into().value(), after.into().value());
        self.push(path, |path| json!({ "path": path, "before": before, "after": after }));
    }

    pub fn other(&self, path: &WorkspacePath, kind: &'static str) {
        self.push(path, |path| json!({ "path": path, "kind": kind, "before": null, "after": null }));
    }

    pub fn is_full(&self) -> bool {
        self.changes().is_full()
    }

    /// The changes for a line, with how many are left out; empty when nothing was changed.
    pub(super) fn take(&self) -> Vec<Value> {
        let mut changes = mem::take(&mut *self.changes());
        if changes.more > 0 {
            changes.listed.push(json!({ "more": changes.more }));
        }
        changes.listed
    }

    fn push(&self, path: &WorkspacePath, entry: impl FnOnce(String) -> Value) {
        let mut changes = self.changes();
        if changes.is_full() {
            changes.more += 1;
            return;
        }
        let path = path.to_string();
        changes.path_bytes += path.len();
        changes.listed.push(entry(path));
    }

    fn changes(&self) -> MutexGuard<'_, LoggedChanges> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl LoggedChanges {
    fn is_full(&self) -> bool {
        self.listed.len() >= MAX_LISTED || self.path_bytes >= MAX_PATH_BYTES
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::disallowed_methods, reason = "the tests look at real files")]

    use super::*;
    use confined_fs::{Access, PolicyRules, RootSpec, WorkspaceOptions};

    fn line(arguments: &Value) -> Value {
        let temp = tempfile::tempdir().unwrap();
        let spec = RootSpec {
            name: Some("app".into()),
            path: temp.path().to_owned(),
            access: Access::ReadWrite,
            policy: PolicyRules::default(),
            optional: false,
        };
        let workspace = Workspace::open(&[spec], WorkspaceOptions::default()).unwrap().workspace;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("audit");
        let audit = Audit::new(AppendLog::open(&path, 1 << 20).unwrap(), Some("here".into()), true).of_role("reviewer");
        let caller = Caller { client: Some(("c".into(), "1".into())), request: "7".into(), ..Caller::default() };
        let record = audit.describe(&caller, "write", arguments.as_object().unwrap(), |_| None, &workspace);
        audit.announce(&record).unwrap();
        let outcome = AuditOutcome {
            kind: "ok",
            allowed: true,
            answered: 3,
            written: 5,
            confirmation: None,
            duration: Duration::from_micros(1500),
        };
        audit.conclude(&record, &outcome, &ChangeLog::default()).unwrap();
        let text = std::fs::read_to_string(path).unwrap();
        assert!(!text.contains(|letter: char| letter != '\n' && letter.is_control() || is_invisible(letter)), "{text}");
        let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!((lines.len(), &lines[0]["event"], &lines[1]["event"]), (2, &json!("intent"), &json!("call")));
        lines[1].clone()
    }

    #[test]
    fn content_is_logged_by_length_and_hash() {
        let line = line(&json!({
            "path": "app/a.txt", "content": "abc", "pattern": "a\u{202e}\u{9b}1m\u{e0041}",
            "edits": [{ "old_string": "abc", "replace_all": true }, { "path": "app/b.txt" }],
        }));
        // NIST's test vector for SHA-256("abc").
        let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        let shown = json!({ "bytes": 3, "sha256": abc });
        assert_eq!((&line["label"], line.get("thread"), line.get("changes")), (&json!("here"), None, None));
        assert_eq!(line["role"], "reviewer");
        assert_eq!(line["arguments"]["content"], shown);
        assert_eq!(line["arguments"]["pattern"], "a\u{202e}\u{9b}1m\u{e0041}");
        let edits = json!([{ "old_string": shown, "replace_all": true }, { "path": "app/b.txt" }]);
        assert_eq!(line["arguments"]["edits"], edits);
        let other = &line["paths"][1];
        assert_eq!((&other["argument"], &other["public"]), (&json!("edits[1].path"), &json!("app/b.txt")));
        assert_eq!(line["arguments"]["path"], "app/a.txt");
        assert_eq!(line["paths"][0]["public"], "app/a.txt");
        assert!(
            line["paths"][0]["resolved"].as_str().unwrap().ends_with(["/a.txt", "\\a.txt"][usize::from(cfg!(windows))])
        );
        assert_eq!((&line["bytes"], &line["written"], &line["duration_ms"]), (&json!(3), &json!(5), &json!(1.5)));
    }

    #[test]
    fn path_outside_is_logged_unresolved() {
        let line = line(&json!({ "path": "/etc/passwd" }));
        assert_eq!(line["arguments"]["path"], "/etc/passwd");
        assert_eq!(line["paths"][0]["resolved"], Value::Null);
    }

    #[test]
    fn content_in_argument_names_is_hashed_too() {
        let long = "secret words ".repeat(50);
        let line =
            line(&json!({ &long: 1, "two\nlines": { "inner name": 2 }, "old_string": "x", "ignore-case": true }));
        let text = line.to_string();
        assert!(!text.contains("secret words") && !text.contains("lines") && !text.contains("inner name"), "{text}");
        assert_eq!(line["arguments"]["ignore-case"], true);
        let hash = sha256(long.as_bytes());
        let name = format!("secret… (650 bytes, sha256 {})", &hash[..16]);
        assert_eq!(line["arguments"][&name], 1, "{text}");
    }

    #[test]
    fn audit_line_size_is_bounded() {
        let many: Map<String, Value> = (0..20_000).map(|n| (format!("k{n}"), json!("x".repeat(50)))).collect();
        let deep = (0..100).fold(json!(1), |inner, _| json!([inner]));
        let line = line(&json!({ "path": "p".repeat(1 << 20), "many": many, "deep": deep, "unknown": "secret words" }));
        let text = line.to_string();
        assert!(text.len() < 80 << 10, "{}", text.len());
        assert!(!text.contains("secret words"));
    }
}

#[cfg(test)]
mod caller_tests {
    use serde_json::json;

    use super::*;

    fn of(meta: &Value) -> (Option<String>, Option<String>) {
        let caller = Caller::new(None, "1".into(), meta.as_object().expect("an object"));
        (caller.thread, caller.user)
    }

    #[test]
    fn every_documented_spelling_is_found() {
        for key in THREAD_KEYS {
            assert_eq!(of(&json!({ *key: "t1" })), (Some("t1".into()), None), "{key}");
        }
        for key in USER_KEYS {
            assert_eq!(of(&json!({ *key: 7 })), (None, Some("7".into())), "{key}");
        }
        for key in THREAD_HEADERS {
            assert_eq!(of(&json!({ "headers": { key.to_uppercase(): "t" } })).0, Some("t".into()), "{key}");
        }
        for key in USER_HEADERS {
            assert_eq!(of(&json!({ "headers": { *key: "u" } })).1, Some("u".into()), "{key}");
        }
        let both = json!({ "user_id": "", "user": "own", "headers": { "X-User-Id": "header" } });
        assert_eq!(of(&both).1, Some("own".into()));
    }

    #[test]
    fn what_is_no_name_is_ignored_and_long_or_hidden_text_is_cut_and_escaped() {
        for wrong in [json!(null), json!([1]), json!({"a": 1}), json!(true), json!(" "), json!("")] {
            assert_eq!(of(&json!({ "thread_id": wrong, "headers": wrong })), (None, None), "{wrong}");
        }
        let hostile = of(&json!({ "thread_id": "x".repeat(1 << 20), "user_id": "a\u{202e}b\u{1b}[2J" }));
        assert_eq!(hostile.0.expect("shown").chars().count(), MAX_CALLER_NAME + 1);
        assert_eq!(hostile.1.as_deref(), Some("a\\u{202e}b\\u{1b}[2J"));
    }
}
