//! `--confirm-through model`: the code that a refusal carries, and what it does not confirm.

use std::{fs, path::Path};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::harness::process::Process;

/// A folder with a file that has been read, and the state folder of its servers.
struct Desk {
    dir: TempDir,
    state: TempDir,
    options: Vec<&'static str>,
}

/// A server for one client.
struct Client {
    server: Process,
}

const MODE: [&str; 6] = ["--confirm", "writes", "--confirm-through", "model", "--allow", "manage"];

impl Desk {
    fn new() -> Self {
        let desk = Self {
            dir: tempfile::tempdir().expect("a folder"),
            state: tempfile::tempdir().expect("a folder"),
            options: MODE.to_vec(),
        };
        fs::write(desk.dir.path().join("a.txt"), "one\n").expect("written");
        let read = desk.open().call("read", json!({ "path": "a.txt" }));
        assert_eq!(read["isError"], false, "{read}");
        desk
    }

    /// A new process, as for each call of `DeerFlow`'s embedded client.
    fn open(&self) -> Client {
        Client::open(self.dir.path(), self.state.path(), &self.options, "mcp", &json!({}))
    }

    fn call(&self, tool: &str, arguments: Value) -> Value {
        self.open().call(tool, arguments)
    }

    /// The code of the refusal that the call gets.
    #[track_caller]
    fn code(&self, tool: &str, arguments: &Value) -> String {
        code(&self.call(tool, arguments.clone()))
    }

    fn content(&self) -> String {
        fs::read_to_string(self.dir.path().join("a.txt")).expect("it exists")
    }
}

impl Client {
    fn open(dir: &Path, state: &Path, options: &[&str], name: &str, capabilities: &Value) -> Self {
        let mut server = Process::start_remembering(dir, state, &[options, &["."]].concat());
        let client = json!({ "name": name, "version": "1" });
        let hello = json!({ "protocolVersion": "2025-11-25", "capabilities": capabilities, "clientInfo": client });
        server.ask("initialize", &hello);
        server.line(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
        Self { server }
    }

    fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let mut params = json!({ "name": tool });
        params["arguments"] = arguments;
        self.server.ask("tools/call", &params)["result"].clone()
    }
}

fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{result}"))
}

#[track_caller]
fn code(refusal: &Value) -> String {
    assert_eq!(refusal["_meta"]["rootbound/error"], "declined", "{refusal}");
    let (_, rest) = text(refusal).split_once("confirmation=\"").unwrap_or_else(|| panic!("{refusal}"));
    rest.split('"').next().expect("a code").to_owned()
}

#[track_caller]
fn fails(result: &Value, kind: &str, words: &str) {
    assert_eq!(result["_meta"]["rootbound/error"], kind, "{result}");
    assert!(text(result).contains(words), "{result}");
    assert!(text(result).find("\n\nhint: ").is_some_and(|at| at < 480), "{result}");
}

fn with(arguments: &Value, code: &str) -> Value {
    let mut arguments = arguments.clone();
    arguments["confirmation"] = code.into();
    arguments
}

fn edit() -> Value {
    json!({ "path": "a.txt", "old_string": "one", "new_string": "two" })
}

#[test]
fn repeated_call_with_the_code_of_its_refusal_is_made_once() {
    let desk = Desk::new();
    let refusal = desk.call("edit", edit());
    let said = text(&refusal);
    assert!(
        said.starts_with(
            "a person must agree to this change first (Edit a.txt: 1 replacement); nothing was changed\n\n\
             hint: show the change to the person with your tool for asking them (such as ask_clarification); if they \
             agree, repeat this call with confirmation=\""
        ),
        "{said}"
    );
    assert!(said.ends_with("\n-one\n+two"), "{said}");
    assert_eq!(desk.content(), "one\n");
    let code = code(&refusal);
    let done = desk.call("edit", with(&edit(), &code));
    assert_eq!(done["isError"], false, "{done}");
    assert_eq!(desk.content(), "two\n");
    fs::write(desk.dir.path().join("a.txt"), "one\n").expect("written");
    desk.call("read", json!({ "path": "a.txt" }));
    fails(&desk.call("edit", with(&edit(), &code)), "declined", "was used before");
    assert_eq!(desk.content(), "one\n");
}

#[test]
fn code_is_for_its_call_alone() {
    let desk = Desk::new();
    fs::write(desk.dir.path().join("b.txt"), "one\n").expect("written");
    desk.call("read", json!({ "path": "b.txt" }));
    let code = desk.code("edit", &edit());
    let not_that = "not that of this call with these arguments";
    for (tool, arguments) in [
        ("edit", json!({ "path": "b.txt", "old_string": "one", "new_string": "two" })),
        ("edit", json!({ "path": "a.txt", "old_string": "one", "new_string": "three" })),
        ("edit", json!({ "path": "a.txt", "old_string": "one", "new_string": "two", "replace_all": true })),
        ("write", json!({ "path": "a.txt", "content": "two\n" })),
        ("delete", json!({ "path": "a.txt" })),
    ] {
        fails(&desk.call(tool, with(&arguments, &code)), "declined", not_that);
    }
    let upper = if code.to_uppercase() == code { code.replace('0', "1") } else { code.to_uppercase() };
    let reversed: String = code.chars().rev().collect();
    for forged in ["", "yes", "true", &code[1..], &code[..code.len() - 1], &upper, &reversed, &"f".repeat(1 << 20)] {
        let answer = desk.call("edit", with(&edit(), forged));
        assert_eq!(answer["_meta"]["rootbound/error"], "declined", "{forged:.50}: {answer}");
    }
    for odd in [json!(true), json!(17), json!([code]), json!({ "code": code })] {
        let mut arguments = edit();
        arguments["confirmation"] = odd;
        fails(&desk.call("edit", arguments), "declined", not_that);
    }
    let mut other = Client::open(desk.dir.path(), desk.state.path(), &MODE, "other", &json!({}));
    fails(&other.call("edit", with(&edit(), &code)), "declined", not_that);
    let elsewhere = tempfile::tempdir().expect("a folder");
    fs::write(elsewhere.path().join("a.txt"), "one\n").expect("written");
    let mut elsewhere = Client::open(elsewhere.path(), desk.state.path(), &MODE, "mcp", &json!({}));
    elsewhere.call("read", json!({ "path": "a.txt" }));
    fails(&elsewhere.call("edit", with(&edit(), &code)), "declined", not_that);
    assert_eq!(desk.content(), "one\n");
    // Another spelling of the same call is the same call.
    let same =
        json!({ "description": "why", "file_path": "a.txt", "old_str": "one", "new_str": "two", "replace_all": null });
    let same = with(&same, &code);
    let done = desk.call("edit", same);
    assert_eq!(done["isError"], false, "{done}");
}

#[test]
fn code_is_void_once_the_file_has_changed() {
    let desk = Desk::new();
    let append = json!({ "path": "a.txt", "content": "more\n", "mode": "append" });
    let code = desk.code("write", &append);
    fs::write(desk.dir.path().join("a.txt"), "one\nraced\n").expect("written");
    fails(&desk.call("write", with(&append, &code)), "stale", "changed while a person was asked");
    assert_eq!(desk.content(), "one\nraced\n");
    let create = json!({ "path": "new.txt", "content": "x" });
    let code = desk.code("write", &create);
    fs::write(desk.dir.path().join("new.txt"), "theirs").expect("written");
    let answer = desk.call("write", with(&create, &code));
    assert_eq!(answer["isError"], true, "{answer}");
    assert_eq!(fs::read_to_string(desk.dir.path().join("new.txt")).expect("read"), "theirs");
}

#[test]
fn of_two_calls_with_one_code_at_most_one_is_made() {
    let desk = Desk::new();
    let append = json!({ "path": "a.txt", "content": "more\n", "mode": "append" });
    let code = desk.code("write", &append);
    let mut clients: Vec<Client> = (0..4).map(|_| desk.open()).collect();
    let mut params = json!({ "name": "write" });
    params["arguments"] = with(&append, &code);
    for client in &mut clients {
        client.server.send("tools/call", &params);
        client.server.send("tools/call", &params);
    }
    let mut done = 0;
    for client in &mut clients {
        for _ in 0..2 {
            let answer = client.server.next().expect("an answer");
            done += usize::from(answer["result"]["isError"] == false);
        }
    }
    assert_eq!((done, desk.content().as_str()), (1, "one\nmore\n"));
}

#[test]
fn every_changing_tool_takes_a_code() {
    let desk = Desk::new();
    // An undo knows the changes of its process alone.
    let mut client = desk.open();
    for (tool, arguments) in [
        ("mkdir", json!({ "path": "d" })),
        ("copy", json!({ "source": "a.txt", "destination": "d/b.txt" })),
        ("move", json!({ "source": "d/b.txt", "destination": "c.txt" })),
        ("delete", json!({ "path": "c.txt" })),
        ("undo", json!({})),
        ("delete", json!({ "path": "d", "recursive": true })),
        ("write", json!({ "path": "e/f.txt", "content": "x" })),
    ] {
        let code = code(&client.call(tool, arguments.clone()));
        let done = client.call(tool, with(&arguments, &code));
        assert_eq!(done["isError"], false, "{tool}: {done}");
        let again = client.call(tool, with(&arguments, &code));
        assert!(again["isError"] == true || tool == "mkdir", "{tool}: {again}");
    }
    assert!(desk.dir.path().join("c.txt").exists() && !desk.dir.path().join("d").exists());
    let dry = json!({ "path": "a.txt", "old_string": "one", "new_string": "two", "dry_run": true });
    let shown = desk.call("edit", dry);
    assert_eq!(shown["isError"], false, "a preview needs nobody: {shown}");
    let code = desk.code("edit", &edit());
    let shown = desk.call(
        "edit",
        with(&json!({ "path": "a.txt", "old_string": "one", "new_string": "two", "dry_run": true }), &code),
    );
    assert_eq!((&shown["isError"], desk.content().as_str()), (&json!(false), "one\n"));
    let done = desk.call("edit", with(&edit(), &code));
    assert_eq!(done["isError"], false, "the preview used nothing up: {done}");
}

#[test]
fn client_that_can_ask_is_asked_whatever_the_code() {
    let desk = Desk::new();
    let code = desk.code("edit", &edit());
    let mut client = Client::open(desk.dir.path(), desk.state.path(), &MODE, "mcp", &json!({ "elicitation": {} }));
    let mut params = json!({ "name": "edit" });
    params["arguments"] = with(&edit(), &code);
    client.server.send("tools/call", &params);
    let asked = client.server.next().expect("a question");
    assert_eq!(asked["method"], "elicitation/create", "{asked}");
    let no = json!({ "jsonrpc": "2.0", "id": asked["id"], "result": { "action": "decline" } });
    client.server.line(&no.to_string());
    let answer = client.server.next().expect("an answer");
    fails(&answer["result"], "declined", "the user declined this change");
    assert_eq!(desk.content(), "one\n");
}

#[test]
fn without_the_mode_or_a_state_folder_no_code_is_given() {
    let mut desk = Desk::new();
    let code = desk.code("edit", &edit());
    desk.options = vec!["--confirm", "writes"];
    fails(&desk.call("edit", with(&edit(), &code)), "declined", "does not support elicitation");
    let mut server = Process::start(desk.dir.path(), &[&MODE[..], &["."]].concat());
    server.initialize();
    server.ask("tools/call", &json!({ "name": "read", "arguments": { "path": "a.txt" } }));
    let refused = server.ask("tools/call", &json!({ "name": "edit", "arguments": edit() }));
    fails(&refused["result"], "declined", "without a state folder no confirmation can be kept");
    // Nobody has to agree: the argument has no effect.
    desk.options = vec!["--confirm", "never", "--confirm-through", "model"];
    let done = desk.call("edit", with(&edit(), "anything"));
    assert_eq!(done["isError"], false, "{done}");
    fails(&desk.call("read", json!({ "path": "a.txt", "confirmation": "x" })), "invalid_input", "unknown argument");
}

#[test]
fn argument_is_in_the_schema_only_in_this_mode() {
    let desk = Desk::new();
    let tools = |options: &[&str]| {
        let mut client = Client::open(desk.dir.path(), desk.state.path(), options, "mcp", &json!({}));
        let listed = client.server.ask("tools/list", &json!({}))["result"]["tools"].clone();
        let listed = listed.as_array().expect("a list").clone();
        let takes = |tool: &&Value| tool["inputSchema"]["properties"].get("confirmation").is_some();
        listed.iter().filter(takes).map(|tool| tool["name"].as_str().expect("a name").to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(tools(&MODE), ["copy", "delete", "edit", "mkdir", "move", "undo", "write"]);
    assert!(tools(&["--confirm", "writes"]).is_empty());
    assert!(tools(&["--confirm-through", "model"]).is_empty());
}

#[test]
fn audit_says_how_a_change_was_confirmed() {
    let mut desk = Desk::new();
    let logs = tempfile::tempdir().expect("a folder");
    let log = logs.path().join("calls.jsonl");
    let shown: &'static str = log.to_str().expect("UTF-8").to_owned().leak();
    desk.options.extend(["--audit", shown]);
    let code = desk.code("edit", &edit());
    desk.call("edit", with(&edit(), "forged"));
    desk.call("edit", with(&edit(), &code));
    let text = fs::read_to_string(&log).expect("a log");
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let how: Vec<&str> = lines.iter().map(|line| line["confirmation"].as_str().unwrap_or("none")).collect();
    assert_eq!(how, ["asked_through_model", "code_refused", "confirmed_through_model"], "{text}");
    assert!(!text.contains(&code), "a code is no business of a log");
}
