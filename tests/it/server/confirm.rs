//! `--confirm`: the questions to a person, in both protocol versions, and the effect of each answer on the disk.

use std::{fs, path::PathBuf, thread, time::Duration};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::harness::process::Process;

/// A server that asks, on a folder with one file that has been read.
struct Desk {
    server: Process,
    dir: TempDir,
    modern: bool,
    elicitation: Option<Value>,
    last_id: u64,
    /// White space before each call.
    padding: String,
}

const OLD: &str = "one\ntwo\n";

/// Runs a test with a handshake (2025-11-25) and without (2026-07-28).
fn in_both_protocol_versions(test: impl Fn(Desk)) {
    for modern in [false, true] {
        test(Desk::open(modern, &["--confirm", "writes"]));
    }
}

impl Desk {
    fn open(modern: bool, arguments: &[&str]) -> Self {
        Self::declaring(modern, Some(json!({})), arguments)
    }

    fn declaring(modern: bool, elicitation: Option<Value>, arguments: &[&str]) -> Self {
        let dir = tempfile::tempdir().expect("a temporary folder");
        fs::write(dir.path().join("a.txt"), OLD).expect("it can be written");
        let mut server = Process::start(dir.path(), &[arguments, &["."]].concat());
        if modern {
            server.discover();
        } else {
            let mut capabilities = json!({});
            if let Some(elicitation) = &elicitation {
                capabilities["elicitation"] = elicitation.clone();
            }
            let client = json!({ "name": "test", "version": "1" });
            let hello = json!({ "protocolVersion": "2025-11-25", "capabilities": capabilities, "clientInfo": client });
            server.ask("initialize", &hello);
            server.line(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
        }
        // Distinct from the ids of the process and of the server.
        let mut desk = Self { server, dir, modern, elicitation, last_id: 1000, padding: String::new() };
        let read = desk.call("read", json!({ "path": "a.txt" }), json!({}));
        let answer = desk.answer(read);
        assert_eq!(answer["result"]["isError"], false, "{answer}");
        desk
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn content(&self) -> String {
        fs::read_to_string(self.path("a.txt")).expect("it exists")
    }

    /// Sends a call; `more` are further parameters.
    fn call(&mut self, tool: &str, arguments: Value, more: Value) -> u64 {
        let mut params = more;
        params["name"] = tool.into();
        params["arguments"] = arguments;
        if self.modern {
            params["_meta"]["io.modelcontextprotocol/protocolVersion"] = "2026-07-28".into();
            params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json!({});
            if let Some(elicitation) = &self.elicitation {
                params["_meta"]["io.modelcontextprotocol/clientCapabilities"]["elicitation"] = elicitation.clone();
            }
        }
        self.last_id += 1;
        let call = json!({ "jsonrpc": "2.0", "id": self.last_id, "method": "tools/call", "params": params });
        self.server.line(&format!("{}{call}", self.padding));
        self.last_id
    }

    fn answer(&mut self, id: u64) -> Value {
        loop {
            let message = self.server.next().expect("the server has not ended");
            if message.get("method").is_none() && message["id"] == id {
                return message;
            }
        }
    }

    /// Sends a call and returns the question that it leads to.
    fn ask(&mut self, tool: &str, arguments: Value) -> Question {
        let call = self.call(tool, arguments.clone(), json!({}));
        let tool = tool.to_owned();
        if self.modern {
            let mut answer = self.answer(call);
            assert_eq!(answer["result"]["resultType"], "input_required", "{answer}");
            let asked = answer["result"]["inputRequests"]["confirm"].take();
            assert_eq!(asked["method"], "elicitation/create");
            let state = answer["result"]["requestState"].take();
            return Question { tool, arguments, call, id: Value::Null, params: asked["params"].clone(), state };
        }
        let asked = self.server.next().expect("a question");
        assert_eq!(asked["method"], "elicitation/create", "{asked}");
        Question { tool, arguments, call, id: asked["id"].clone(), params: asked["params"].clone(), state: Value::Null }
    }

    /// Sends the person's answer and returns the answer of the call.
    fn reply(&mut self, question: &Question, answer: &Value) -> Value {
        if self.modern {
            let more = json!({ "inputResponses": { "confirm": answer }, "requestState": question.state });
            let call = self.call(&question.tool, question.arguments.clone(), more);
            return self.answer(call);
        }
        self.server.line(&json!({ "jsonrpc": "2.0", "id": question.id, "result": answer }).to_string());
        self.answer(question.call)
    }
}

#[derive(Clone)]
struct Question {
    tool: String,
    arguments: Value,
    call: u64,
    id: Value,
    params: Value,
    state: Value,
}

impl Question {
    fn message(&self) -> &str {
        self.params["message"].as_str().expect("a message")
    }
}

fn yes() -> Value {
    json!({ "action": "accept", "content": { "confirm": true } })
}

fn edit() -> Value {
    json!({ "path": "a.txt", "old_string": "two", "new_string": "2" })
}

fn text(answer: &Value) -> &str {
    answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}"))
}

#[track_caller]
fn fails(answer: &Value, kind: &str, words: &str) {
    assert_eq!(answer["result"]["_meta"]["rootbound/error"], kind, "{answer}");
    assert!(text(answer).contains(words), "{answer}");
}

#[test]
fn an_approval_makes_the_change_that_was_shown() {
    in_both_protocol_versions(|mut desk| {
        let question = desk.ask("edit", edit());
        assert_eq!(desk.content(), OLD, "nothing happens before the answer");
        assert!(question.message().contains("\nEdit a.txt: 1 replacement\n"), "{}", question.message());
        assert!(question.message().contains("\n-two\n+2\n"), "{}", question.message());
        let schema = &question.params["requestedSchema"];
        assert_eq!(schema["properties"]["confirm"]["type"], "boolean");
        assert_eq!(schema["properties"].as_object().expect("an object").len(), 1);
        let answer = desk.reply(&question, &yes());
        assert_eq!(answer["result"]["isError"], false, "{answer}");
        assert!(text(&answer).contains("+2"), "{answer}");
        assert_eq!(desk.content(), "one\n2\n");
    });
}

#[test]
fn several_paths_are_deleted_after_one_question() {
    for modern in [false, true] {
        let mut desk = Desk::open(modern, &["--allow", "manage", "--confirm", "destructive"]);
        fs::write(desk.path("b.txt"), "b").expect("a file");
        let question = desk.ask("delete", json!({ "paths": ["b.txt", "a.txt"] }));
        assert!(question.message().contains("\nDelete 2 entries with 2 files ("), "{}", question.message());
        assert!(question.message().contains("- b.txt\n- a.txt"), "{}", question.message());
        let answer = desk.reply(&question, &yes());
        assert_eq!(answer["result"]["isError"], false, "{answer}");
        assert!(!desk.path("a.txt").exists() && !desk.path("b.txt").exists());
    }
}

#[test]
fn every_answer_but_approval_changes_nothing() {
    in_both_protocol_versions(|mut desk| {
        for (no, words) in [
            (json!({ "action": "decline" }), "the user declined this change; nothing was changed"),
            (json!({ "action": "cancel" }), "the user dismissed the question"),
            (json!({ "action": "accept", "content": { "confirm": false } }), "without confirming"),
            (json!({ "action": "accept" }), "without confirming"),
        ] {
            let question = desk.ask("edit", edit());
            fails(&desk.reply(&question, &no), "declined", words);
            let question = desk.ask("write", json!({ "path": "new/b.txt", "content": "x" }));
            fails(&desk.reply(&question, &no), "declined", words);
            assert_eq!(desk.content(), OLD);
            assert!(!desk.path("new").exists(), "not even the folder");
        }
        let question = desk.ask("edit", edit());
        let answer = desk.reply(&question, &json!({ "action": "perhaps" }));
        fails(&answer, "declined", "cannot be read");
        assert_eq!(desk.content(), OLD);
    });
}

#[test]
fn a_client_that_cannot_ask_is_refused() {
    for (modern, elicitation) in
        [(false, None), (true, None), (false, Some(json!({ "url": {} }))), (true, Some(json!({ "url": {} })))]
    {
        let mut desk = Desk::declaring(modern, elicitation, &["--confirm", "writes"]);
        let call = desk.call("edit", edit(), json!({}));
        fails(&desk.answer(call), "declined", "with --confirm never");
        let call = desk.call("write", json!({ "path": "b.txt", "content": "x" }), json!({}));
        fails(&desk.answer(call), "declined", "with --confirm destructive or never");
        assert_eq!(desk.content(), OLD);
        assert!(!desk.path("b.txt").exists());
    }
}

#[test]
fn forms_are_used_if_the_client_declares_them() {
    for modern in [false, true] {
        let both = json!({ "form": {}, "url": {} });
        let mut desk = Desk::declaring(modern, Some(both), &["--confirm", "writes"]);
        let question = desk.ask("edit", edit());
        assert_eq!(desk.reply(&question, &yes())["result"]["isError"], false);
    }
}

#[test]
fn reads_are_never_asked_about_and_destructive_asks_less_than_writes() {
    for modern in [false, true] {
        let mut desk = Desk::open(modern, &["--confirm", "destructive"]);
        let mut dry = edit();
        dry["dry_run"] = true.into();
        for (tool, arguments) in [
            ("edit", dry),
            ("write", json!({ "path": "b.txt", "content": "new" })),
            ("write", json!({ "path": "a.txt", "content": "three\n", "mode": "append" })),
        ] {
            let call = desk.call(tool, arguments, json!({}));
            let answer = desk.answer(call);
            assert_eq!(answer["result"]["isError"], false, "{answer}");
        }
        assert_eq!(desk.content(), "one\ntwo\nthree\n");
        let question = desk.ask("write", json!({ "path": "a.txt", "content": "gone\n" }));
        assert!(question.message().contains("Replace a.txt"), "{}", question.message());
        desk.reply(&question, &yes());
        assert_eq!(desk.content(), "gone\n");
    }
}

#[test]
fn an_approval_is_stale_if_the_file_changed_since_the_question() {
    in_both_protocol_versions(|mut desk| {
        let question = desk.ask("edit", edit());
        fs::write(desk.path("a.txt"), "other\ntwo\n").expect("it can be written");
        fails(&desk.reply(&question, &yes()), "stale", "a.txt");
        assert_eq!(desk.content(), "other\ntwo\n");
        // The file that was to be created exists by now.
        let question = desk.ask("write", json!({ "path": "b.txt", "content": "mine" }));
        fs::write(desk.path("b.txt"), "theirs").expect("it can be written");
        let answer = desk.reply(&question, &yes());
        assert_eq!(answer["result"]["isError"], true, "{answer}");
        assert_eq!(fs::read_to_string(desk.path("b.txt")).expect("it exists"), "theirs");
    });
}

#[test]
fn an_approval_is_not_valid_after_another_change_of_the_session() {
    in_both_protocol_versions(|mut desk| {
        // Without a person the second would be retried on the result of the first.
        let first = desk.ask("edit", edit());
        let second = desk.ask("edit", json!({ "path": "a.txt", "old_string": "one", "new_string": "1" }));
        assert_eq!(desk.reply(&second, &yes())["result"]["isError"], false);
        fails(&desk.reply(&first, &yes()), "stale", "changed while a person was asked");
        assert_eq!(desk.content(), "1\ntwo\n");
    });
}

#[test]
fn a_request_state_is_valid_once_and_for_its_own_call() {
    let mut desk = Desk::open(true, &["--confirm", "writes"]);
    let question = desk.ask("write", json!({ "path": "b.txt", "content": "x" }));
    let refused = |desk: &mut Desk, question: &Question| {
        let answer = desk.reply(question, &yes());
        fails(&answer, "declined", "belongs to another call, was used before, or came after");
        assert!(!desk.path("b.txt").exists());
    };
    for (path, content) in [("b.txt", "y"), ("c.txt", "x")] {
        let arguments = json!({ "path": path, "content": content });
        refused(&mut desk, &Question { arguments, ..question.clone() });
        assert!(!desk.path(path).exists());
    }
    let state = question.state.as_str().expect("a state").to_owned();
    let mut forged = state.clone().into_bytes();
    let middle = forged.len() / 2;
    forged[middle] = if forged[middle] == b'A' { b'B' } else { b'A' };
    let forged = String::from_utf8(forged).expect("ASCII");
    for state in [json!(forged), json!("rs1.AAAA.AAAA"), json!(""), Value::Null] {
        refused(&mut desk, &Question { state, ..question.clone() });
    }
    // Another process has another key.
    let elsewhere = Desk::open(true, &["--confirm", "writes"]).ask("write", question.arguments.clone());
    refused(&mut desk, &Question { state: elsewhere.state, ..question.clone() });

    assert_eq!(desk.reply(&question, &yes())["result"]["isError"], false);
    fs::remove_file(desk.path("b.txt")).expect("it exists");
    refused(&mut desk, &question);
}

#[test]
fn a_repeated_call_without_an_answer_is_asked_about_again() {
    let mut desk = Desk::open(true, &["--confirm", "writes"]);
    let question = desk.ask("edit", edit());
    let call = desk.call("edit", edit(), json!({ "requestState": question.state }));
    let again = desk.answer(call);
    assert_eq!(again["result"]["resultType"], "input_required", "{again}");
    assert_ne!(again["result"]["requestState"], question.state);
    assert_eq!(desk.content(), OLD);
}

#[test]
fn waiting_for_a_person_does_not_count_against_the_time_limit() {
    let mut desk = Desk::open(false, &["--confirm", "writes", "--time-limit", "4"]);
    let question = desk.ask("edit", edit());
    thread::sleep(Duration::from_millis(4_200));
    assert_eq!(desk.reply(&question, &yes())["result"]["isError"], false);
    assert_eq!(desk.content(), "one\n2\n");
}

#[test]
fn a_cancelled_call_withdraws_its_question() {
    let mut desk = Desk::open(false, &["--confirm", "writes"]);
    let question = desk.ask("edit", edit());
    desk.server.line(
        &json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": question.call } })
            .to_string(),
    );
    let cancelled = desk.server.next().expect("a message");
    assert_eq!(cancelled["method"], "notifications/cancelled", "{cancelled}");
    assert_eq!(cancelled["params"]["requestId"], question.id);
    desk.server.line(&json!({ "jsonrpc": "2.0", "id": question.id, "result": yes() }).to_string());
    assert_eq!(desk.server.ask("ping", &json!({}))["result"], json!({}));
    assert_eq!(desk.content(), OLD);
}

#[test]
fn a_client_error_while_asking_refuses_the_change() {
    let mut desk = Desk::open(false, &["--confirm", "writes"]);
    for (answer, words) in [
        (json!({ "error": { "code": -32601, "message": "no form\u{1b}[2J here" } }), "could not ask: no form[2J here"),
        (json!({ "result": { "neither": 1 } }), "cannot be read"),
        (json!({ "result": null }), "could not ask"),
    ] {
        let question = desk.ask("edit", edit());
        let mut message = json!({ "jsonrpc": "2.0", "id": question.id });
        for (name, value) in answer.as_object().expect("an object") {
            message[name] = value.clone();
        }
        desk.server.line(&message.to_string());
        fails(&desk.answer(question.call), "declined", words);
        assert_eq!(desk.content(), OLD);
    }
}

#[test]
fn an_answer_to_another_question_is_ignored() {
    let mut desk = Desk::open(false, &["--confirm", "writes"]);
    let question = desk.ask("edit", edit());
    for id in [json!(4711), json!("x"), json!(question.id.to_string()), Value::Null] {
        desk.server.line(&json!({ "jsonrpc": "2.0", "id": id, "result": yes() }).to_string());
    }
    assert_eq!(desk.server.ask("ping", &json!({}))["result"], json!({}));
    assert_eq!(desk.content(), OLD);
    assert_eq!(desk.reply(&question, &yes())["result"]["isError"], false);
}

#[test]
fn other_calls_run_while_one_waits_for_an_answer() {
    let mut desk = Desk::open(false, &["--confirm", "writes"]);
    let create = |number: usize| json!({ "path": format!("{number}.txt"), "content": "x" });
    // As many as may run at the same time, and in bytes more than the server reads before it pauses: it must still
    // read the answers.
    desk.padding = " ".repeat(4_300_000);
    let questions: Vec<Question> = (0..16).map(|number| desk.ask("write", create(number))).collect();
    desk.padding.clear();
    let call = desk.call("write", create(16), json!({}));
    fails(&desk.answer(call), "quota", "16 changes already wait");
    let call = desk.call("read", json!({ "path": "a.txt" }), json!({}));
    assert!(text(&desk.answer(call)).contains("one"));
    for question in &questions {
        assert_eq!(desk.reply(question, &yes())["result"]["isError"], false);
    }
    assert_eq!((0..16).filter(|number| desk.path(&format!("{number}.txt")).exists()).count(), 16);
}

#[test]
fn a_waiting_call_reports_progress() {
    let mut desk = Desk::open(false, &["--confirm", "writes"]);
    let call = desk.call("edit", edit(), json!({ "_meta": { "progressToken": "token" } }));
    let mut messages = [desk.server.next().expect("a message"), desk.server.next().expect("a message")];
    messages.sort_by_key(|message| message.get("id").is_none());
    let [question, progress] = messages;
    assert_eq!(progress["params"]["message"], "waiting for a person to confirm the change", "{progress}");
    desk.server.line(&json!({ "jsonrpc": "2.0", "id": question["id"], "result": yes() }).to_string());
    assert_eq!(desk.answer(call)["result"]["isError"], false);
}

#[test]
fn when_the_input_ends_a_waiting_change_is_not_made() {
    let mut desk = Desk::open(false, &["--confirm", "writes"]);
    let question = desk.ask("edit", edit());
    desk.server.end_input();
    fails(&desk.answer(question.call), "declined", "could not ask: the input has ended");
    let content = desk.content();
    let (status, _) = desk.server.exit();
    assert!(status.success());
    assert_eq!(content, OLD);
}

#[cfg(unix)]
#[test]
fn shutdown_does_not_wait_for_an_answer() {
    let mut desk = Desk::open(false, &["--confirm", "writes"]);
    desk.ask("edit", edit());
    desk.server.signal(rustix::process::Signal::TERM);
    let content = desk.content();
    let (status, _) = desk.server.exit();
    assert!(status.success());
    assert_eq!(content, OLD);
}

#[test]
fn one_question_shows_all_files_of_an_edit_and_its_yes_is_for_all_of_them() {
    in_both_protocol_versions(|mut desk| {
        let call = |old: &str, new: &str, made: &str| {
            json!({ "edits": [
                { "path": "a.txt", "old_string": old, "new_string": new },
                { "path": made, "old_string": "", "new_string": "fresh\n" }] })
        };
        let question = desk.ask("edit", call("two", "2", "b.txt"));
        let message = question.message();
        for part in
            ["Edit 2 files: 1 replacement\n", " a.txt | 1 replacement\n b.txt | new\n", "\n-two\n+2\n", "\n+fresh\n"]
        {
            assert!(message.contains(part), "{part}: {message}");
        }
        let answer = desk.reply(&question, &yes());
        assert!(text(&answer).starts_with("Edited 1 file and created 1: 1 replacement\n"), "{answer}");
        assert_eq!(desk.content(), "one\n2\n");
        let question = desk.ask("edit", call("one", "1", "c.txt"));
        fs::write(desk.path("a.txt"), "one\n2\nthree\n").expect("another program writes");
        let answer = desk.reply(&question, &yes());
        assert_eq!(answer["result"]["isError"], true, "{answer}");
        assert!(!desk.path("c.txt").exists() && desk.content() == "one\n2\nthree\n");
    });
}
