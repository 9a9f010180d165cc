//! Answers of a person that come too late, in both versions of the protocol.

#![expect(clippy::disallowed_methods, reason = "looks whether a file was made")]

use std::{sync::Arc, time::Duration};

use change_set::Workspace;
use confined_fs::Access;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::server::{Confirm, Server, ServerOptions, Services};
use file_tools::{Selection, Settings, Toolbox, session::Session};

use super::{Wire, error_kind, text};

const LIMIT: Duration = Duration::from_millis(300);

/// A folder with a file, and a client of a server that asks before each change of it.
fn asking() -> (TempDir, Wire) {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let services = Services {
        workspace: Arc::new(Workspace::of_directory(dir.path(), Access::ReadWrite)),
        session: Arc::new(Session::new(None)),
        path_index: Arc::default(),
        toolbox: Toolbox::new(&Selection::default()),
        settings: Arc::new(Settings::default()),
        language_servers: None,
        options: ServerOptions { confirm: Confirm::Writes, confirm_limit: LIMIT, ..ServerOptions::default() },
    };
    (dir, Wire::of(Server::new(services)))
}

/// Ends the server before its folder is removed: Windows keeps a folder that somebody has open.
async fn end(dir: TempDir, mut wire: Wire) {
    wire.end_input().await;
    wire.ended().await;
    dir.close().expect("nothing has it open");
}

fn write() -> Value {
    json!({ "name": "write", "arguments": { "path": "a.txt", "content": "new" } })
}

fn yes() -> Value {
    json!({ "action": "accept", "content": { "confirm": true } })
}

#[track_caller]
fn declined(answer: &Value, words: &str) {
    assert_eq!(error_kind(answer), "declined");
    assert!(text(answer).contains(words), "{answer}");
}

#[tokio::test]
async fn repeated_call_with_a_late_answer_changes_nothing() {
    let (dir, mut wire) = asking();
    let modern = |mut params: Value| {
        params["_meta"]["io.modelcontextprotocol/protocolVersion"] = "2026-07-28".into();
        params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json!({ "elicitation": {} });
        params
    };
    let question = wire.ask(1, "tools/call", modern(write())).await;
    assert_eq!(question["result"]["resultType"], "input_required", "{question}");
    tokio::time::sleep(LIMIT + Duration::from_millis(100)).await;
    let mut again = modern(write());
    again["inputResponses"] = json!({ "confirm": yes() });
    again["requestState"] = question["result"]["requestState"].clone();
    declined(&wire.ask(2, "tools/call", again).await, "came after more than 300ms");
    assert!(!dir.path().join("a.txt").exists());
    end(dir, wire).await;
}

#[tokio::test]
async fn question_without_an_answer_is_cancelled_and_a_late_answer_ignored() {
    let (dir, mut wire) = asking();
    let hello = json!({
        "protocolVersion": "2025-11-25", "capabilities": { "elicitation": {} },
        "clientInfo": { "name": "test", "version": "1" }
    });
    wire.ask("hello", "initialize", hello).await;
    wire.line(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#).await;
    wire.request(1, "tools/call", write()).await;
    let question = wire.answer().await;
    assert_eq!(question["method"], "elicitation/create", "{question}");
    let mut messages = [wire.answer().await, wire.answer().await];
    messages.sort_by_key(|message| message.get("method").is_none());
    let [cancelled, answer] = messages;
    assert_eq!(cancelled["method"], "notifications/cancelled", "{cancelled}");
    assert_eq!(cancelled["params"]["requestId"], question["id"]);
    declined(&answer, "did not answer within 300ms");
    wire.line(&json!({ "jsonrpc": "2.0", "id": question["id"], "result": yes() }).to_string()).await;
    assert_eq!(wire.ask(2, "ping", json!({})).await["result"], json!({}));
    assert!(!dir.path().join("a.txt").exists());
    end(dir, wire).await;
}
