//! Tests of this layer on the wire: the whole server on an in-memory pipe, with tools that misbehave.
//!
//! Every wait has a generous end, so that a server that hangs fails its test instead of stopping it.

mod calls;
mod late_answers;
mod lines;
mod protocol_versions;
mod session_end;
mod tools;

use std::time::Duration;

use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, duplex},
    task::{JoinError, JoinHandle},
    time::timeout,
};
use tokio_util::sync::CancellationToken;

use file_tools::Settings;

use super::{Server, services::ServerOptions};

/// Longer than any call takes, even on a busy machine.
const TEST_LIMIT: Duration = Duration::from_secs(120);
/// Milliseconds of a call that never ends by itself.
const FOREVER: u64 = 600_000;

/// A client of a server of the test tools.
struct Wire {
    input: BufReader<DuplexStream>,
    output: DuplexStream,
    service: JoinHandle<Result<(), JoinError>>,
    stop: CancellationToken,
}

impl Wire {
    /// A client that has not said anything yet.
    fn raw() -> Self {
        Self::with(ServerOptions::default(), Settings::default())
    }

    fn with(options: ServerOptions, settings: Settings) -> Self {
        Self::of(tools::server(options, settings))
    }

    fn of(server: Server) -> Self {
        let (output, server_input) = duplex(64 << 10);
        let (server_output, input) = duplex(64 << 10);
        let stop = CancellationToken::new();
        let service = tokio::spawn(server.serve(server_input, server_output, stop.clone()));
        Self { input: BufReader::new(input), output, service, stop }
    }

    /// A client after the handshake.
    async fn open() -> Self {
        Self::raw().greet().await
    }

    async fn greet(mut self) -> Self {
        let answer = self.ask("hello", "initialize", initialize("2025-11-25")).await;
        assert_eq!(answer["result"]["protocolVersion"], "2025-11-25", "{answer}");
        self.line(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#).await;
        self
    }

    async fn bytes(&mut self, bytes: &[u8]) {
        timeout(TEST_LIMIT, self.output.write_all(bytes)).await.expect("the server reads").expect("the pipe is open");
    }

    async fn line(&mut self, line: &str) {
        self.bytes(format!("{line}\n").as_bytes()).await;
    }

    async fn request(&mut self, id: impl Into<Value>, method: &str, params: Value) {
        let message = json!({ "jsonrpc": "2.0", "id": id.into(), "method": method, "params": params });
        self.line(&message.to_string()).await;
    }

    async fn call(&mut self, id: impl Into<Value>, tool: &str, arguments: Value) {
        self.request(id, "tools/call", json!({ "name": tool, "arguments": arguments })).await;
    }

    async fn notify(&mut self, method: &str, params: Value) {
        self.line(&json!({ "jsonrpc": "2.0", "method": method, "params": params }).to_string()).await;
    }

    /// The next message of the server; `None` when it has ended.
    async fn next(&mut self) -> Option<Value> {
        let mut line = String::new();
        let read = timeout(TEST_LIMIT, self.input.read_line(&mut line)).await.expect("the server answers");
        (read.expect("UTF-8") > 0).then(|| serde_json::from_str(&line).expect("a line of JSON"))
    }

    async fn answer(&mut self) -> Value {
        self.next().await.expect("the server has not ended")
    }

    /// A request and its answer, which must be the next message.
    async fn ask(&mut self, id: impl Into<Value>, method: &str, params: Value) -> Value {
        let id = id.into();
        self.request(id.clone(), method, params).await;
        let answer = self.answer().await;
        assert_eq!(answer["id"], id, "{answer}");
        answer
    }

    /// Sends a line as it is and returns code and id of the error that answers it.
    async fn refused(&mut self, line: &[u8]) -> (i64, Value) {
        self.bytes(line).await;
        self.bytes(b"\n").await;
        let answer = self.answer().await;
        assert_eq!(answer["jsonrpc"], "2.0");
        assert!(answer.as_object().is_some_and(|answer| answer.contains_key("id")), "{answer}");
        (answer["error"]["code"].as_i64().unwrap_or_else(|| panic!("{answer}")), answer["id"].clone())
    }

    /// The session goes on.
    async fn alive(&mut self) {
        self.call("alive?", "echo", json!({ "text": "yes" })).await;
        let answer = self.answer().await;
        assert_eq!(text(&answer), "yes", "{answer}");
    }

    async fn end_input(&mut self) {
        self.output.shutdown().await.expect("the pipe is open");
    }

    /// Waits for the end of the service; whatever it still sent is returned.
    async fn ended(mut self) -> Vec<Value> {
        let mut rest = Vec::new();
        while let Some(message) = self.next().await {
            rest.push(message);
        }
        timeout(TEST_LIMIT, self.service).await.expect("the service ends").expect("no panic").expect("no failure");
        rest
    }
}

fn initialize(version: &str) -> Value {
    json!({ "protocolVersion": version, "capabilities": {}, "clientInfo": { "name": "test", "version": "1" } })
}

/// `params` of a request without a handshake (2026-07-28).
fn modern(mut params: Value) -> Value {
    params["_meta"]["io.modelcontextprotocol/protocolVersion"] = "2026-07-28".into();
    params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json!({});
    params
}

fn text(answer: &Value) -> &str {
    answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}"))
}

fn error_kind(answer: &Value) -> &str {
    assert_eq!(answer["result"]["isError"], true, "{answer}");
    answer["result"]["_meta"]["rootbound/error"].as_str().unwrap_or_else(|| panic!("{answer}"))
}
