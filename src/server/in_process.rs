//! A client in the same process: the whole server over an in-memory pipe.
//!
//! Serves `rootbound call`, `rootbound tools` and the tests, so that all of them see what a client
//! would see. It speaks plain JSON and knows no tool.

use std::{io, sync::Arc};

use serde_json::{Map, Value, json};
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, ReadHalf, WriteHalf, duplex, split},
    runtime::Runtime,
};
use tokio_util::sync::CancellationToken;

use super::{connection::Server, panics::log_panics, signals::stop_on_signal};

/// Bytes that each direction of the pipe holds.
const PIPE: usize = 1 << 20;
/// The last protocol revision that opens with a handshake.
const REVISION: &str = "2025-11-25";

/// One block of an outcome.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Block {
    /// Text for the model.
    Text(String),
    /// An image.
    Image {
        /// Its media type.
        mime: String,
        /// Its bytes in base64.
        data: String,
    },
}

/// What a call came to.
#[derive(Clone, Debug)]
pub struct CallOutcome {
    /// The blocks, in order.
    pub content: Vec<Block>,
    /// Whether the tool reports an error.
    pub is_error: bool,
    /// The result's `_meta`: facts under `rootbound/result`, or the kind of error under `rootbound/error`.
    pub meta: Map<String, Value>,
    /// The complete result as data, where structured output is on.
    pub structured: Option<Value>,
}

impl CallOutcome {
    /// The text blocks, joined by line breaks.
    pub fn text(&self) -> String {
        let texts: Vec<&str> = self
            .content
            .iter()
            .filter_map(|block| match block {
                Block::Text(text) => Some(text.as_str()),
                Block::Image { .. } => None,
            })
            .collect();
        texts.join("\n")
    }

    fn of(result: &Value) -> Self {
        let word = |block: &Value, key: &str| block[key].as_str().unwrap_or_default().to_owned();
        let content = result["content"].as_array().map_or(&[][..], Vec::as_slice).iter().map(|block| {
            if block["type"] == "image" {
                Block::Image { mime: word(block, "mimeType"), data: word(block, "data") }
            } else {
                Block::Text(word(block, "text"))
            }
        });
        Self {
            content: content.collect(),
            is_error: result["isError"] == true,
            meta: result["_meta"].as_object().cloned().unwrap_or_default(),
            structured: result.get("structuredContent").cloned(),
        }
    }
}

/// A connected client; the server ends with it.
#[derive(Debug)]
pub struct InProcessClient {
    runtime: Option<Runtime>,
    input: BufReader<ReadHalf<DuplexStream>>,
    output: WriteHalf<DuplexStream>,
    stop: CancellationToken,
    last_id: u64,
}

impl InProcessClient {
    /// Connects to `server` and performs the handshake.
    ///
    /// # Errors
    /// A sentence, when the server cannot be started or refuses.
    pub fn open(server: Server) -> Result<Self, String> {
        let mut client = Self::connect(server)?;
        client.request(
            "initialize",
            json!({
                "protocolVersion": REVISION,
                "capabilities": {},
                "clientInfo": { "name": "in-process", "version": env!("CARGO_PKG_VERSION") },
            }),
        )?;
        client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }).to_string())?;
        Ok(client)
    }

    /// Connects to `server` without a handshake.
    ///
    /// # Errors
    /// A sentence, when the server cannot be started.
    pub fn connect(server: Server) -> Result<Self, String> {
        let runtime = Server::runtime().map_err(|error| broken(&error))?;
        let (near, far) = duplex(PIPE);
        let (server_input, server_output) = split(far);
        let stop = CancellationToken::new();
        runtime.spawn(server.serve(server_input, server_output, stop.clone()));
        let (input, output) = split(near);
        Ok(Self { runtime: Some(runtime), input: BufReader::new(input), output, stop, last_id: 0 })
    }

    /// Calls a tool.
    ///
    /// # Errors
    /// A protocol error in words: an unknown tool, or a server that went away. A tool's own error is
    /// an outcome.
    pub fn call(&mut self, tool: &str, arguments: Map<String, Value>) -> Result<CallOutcome, String> {
        let mut params = json!({ "name": tool });
        params["arguments"] = Value::Object(arguments);
        let result = self.request("tools/call", params)?;
        Ok(CallOutcome::of(&result))
    }

    /// Ends the server when the process is asked to end, as a server on stdin and stdout.
    fn end_on_signal(&self) {
        if let Some(runtime) = &self.runtime {
            let _inside = runtime.enter();
            stop_on_signal(&self.stop);
        }
    }

    /// Sends a request and waits for its result.
    ///
    /// # Errors
    /// The error that the server answered, in words, or that it went away.
    pub fn request(&mut self, method: &str, params: Value) -> Result<Value, String> {
        self.last_id += 1;
        let id = self.last_id;
        let mut message = json!({ "jsonrpc": "2.0", "id": id, "method": method });
        message["params"] = params;
        self.send(&message.to_string())?;
        loop {
            let mut message = self.receive()?;
            if message["id"] != id {
                continue;
            }
            if let Some(error) = message.get("error") {
                return Err(error["message"].as_str().unwrap_or("an error without a message").to_owned());
            }
            return Ok(message["result"].take());
        }
    }

    /// Sends one line as it is.
    ///
    /// # Errors
    /// When the server went away.
    pub fn send(&mut self, line: &str) -> Result<(), String> {
        let line = format!("{line}\n");
        let output = &mut self.output;
        block_on(self.runtime.as_ref(), async move { output.write_all(line.as_bytes()).await })
    }

    /// The next message of the server, whatever it is.
    ///
    /// # Errors
    /// When the server went away, or sent something that is not JSON.
    pub fn receive(&mut self) -> Result<Value, String> {
        let input = &mut self.input;
        let line = block_on(self.runtime.as_ref(), async move {
            let mut line = String::new();
            match input.read_line(&mut line).await? {
                0 => Err(io::ErrorKind::UnexpectedEof.into()),
                _ => Ok(line),
            }
        })?;
        serde_json::from_str(&line).map_err(|error| format!("the server sent what is not JSON: {error}"))
    }
}

impl Drop for InProcessClient {
    fn drop(&mut self) {
        self.stop.cancel();
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// Runs one tool through the whole server.
///
/// # Errors
/// A protocol error in words; see [`InProcessClient::call`].
pub fn call_once(server: Server, tool: &str, arguments: Map<String, Value>) -> Result<CallOutcome, String> {
    log_panics();
    let commits = Arc::clone(&server.dispatcher.commits);
    let mut client = InProcessClient::open(server)?;
    client.end_on_signal();
    let outcome = client.call(tool, arguments);
    let stopped = client.stop.is_cancelled();
    drop(client);
    // After a signal: as for a server, a change that has begun is made whole.
    let finished = commits.finish();
    match (stopped, finished) {
        (false, _) => outcome,
        (true, true) => Err("the call was ended by a signal; a change in progress was completed".to_owned()),
        (true, false) => Err("the call was ended by a signal; a change in progress was left incomplete".to_owned()),
    }
}

/// What a client would be offered: the answer to `tools/list`.
///
/// # Errors
/// A sentence, when the server cannot be started.
pub fn list_once(server: Server) -> Result<Value, String> {
    InProcessClient::open(server)?.request("tools/list", json!({}))
}

fn block_on<T>(runtime: Option<&Runtime>, work: impl Future<Output = io::Result<T>>) -> Result<T, String> {
    match runtime {
        Some(runtime) => runtime.block_on(work).map_err(|error| broken(&error)),
        None => Err("the server has ended".to_owned()),
    }
}

fn broken(error: &io::Error) -> String {
    format!("the server in this process failed: {error}")
}
