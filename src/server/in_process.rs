//! A client in the same process: the whole server over an in-memory pipe.
//!
//! Serves `rootbound call`, `rootbound tools` and the tests, so that all of them see what a client
//! would see. It speaks plain JSON and knows no tool.

use std::{io, sync::Arc};

use serde::Deserialize;
use serde_json::{Map, Value, json};
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, ReadHalf, WriteHalf, duplex, split},
    runtime::Runtime,
};
use tokio_util::sync::CancellationToken;

use file_tools::audit::IN_PROCESS;

use super::{
    connection::{KeptIndexes, Server, stop_on_signal},
    threads::log_panics,
};

const PIPE_BYTES: usize = 1 << 20;
/// The last protocol revision that opens with a handshake.
const PROTOCOL_REVISION: &str = "2025-11-25";

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum Block {
    Text {
        text: String,
    },
    Image {
        #[serde(rename = "mimeType")]
        mime: String,
        data: String,
    },
    /// A file that a client shows to the person.
    #[serde(rename = "resource_link")]
    Link {
        uri: String,
        name: String,
    },
}

#[derive(Clone, Debug, Deserialize)]
pub struct CallOutcome {
    pub content: Vec<Block>,
    #[serde(default, rename = "isError")]
    pub is_error: bool,
    /// The result's `_meta`: facts under `rootbound/result`, or the kind of error under `rootbound/error`.
    #[serde(default, rename = "_meta")]
    pub meta: Map<String, Value>,
    #[serde(rename = "structuredContent")]
    pub structured: Option<Value>,
}

impl CallOutcome {
    /// The blocks as lines of text; an image is only named.
    pub fn text(&self) -> String {
        let texts = self.content.iter().map(|block| match block {
            Block::Text { text } => text.clone(),
            // Four characters of base64 are three bytes.
            Block::Link { uri, name } => format!("[{name}]({uri})"),
            Block::Image { mime, data } => format!("[image: {mime}, about {} KB]", data.len() * 3 / 4 / 1000 + 1),
        });
        texts.collect::<Vec<_>>().join("\n")
    }
}

#[derive(Debug, thiserror::Error)]
pub enum RequestError {
    #[error("the server in this process failed: {0}")]
    Failed(#[from] io::Error),
    #[error("the server sent what is {0}: {1}")]
    Unreadable(&'static str, #[source] serde_json::Error),
    /// The error of the protocol that it answered with.
    #[error("{0}")]
    Answered(String),
    /// A signal came first; whether a change in progress was completed.
    #[error("the call was ended by a signal; a change in progress was {}", if *.0 { "completed" } else { "left incomplete" })]
    Ended(bool),
}

/// A connected client; the server ends with it.
#[derive(Debug)]
pub struct InProcessClient {
    runtime: Runtime,
    input: BufReader<ReadHalf<DuplexStream>>,
    output: WriteHalf<DuplexStream>,
    stop: CancellationToken,
    last_id: u64,
}

impl InProcessClient {
    /// Connects to `server` and performs the handshake.
    ///
    /// # Errors
    /// When the server cannot be started or refuses.
    pub fn open(server: Server) -> Result<Self, RequestError> {
        let mut client = Self::connect(server)?;
        client.request(
            "initialize",
            json!({
                "protocolVersion": PROTOCOL_REVISION,
                "capabilities": {},
                "clientInfo": { "name": IN_PROCESS, "version": env!("CARGO_PKG_VERSION") },
            }),
        )?;
        client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }).to_string())?;
        Ok(client)
    }

    /// Connects to `server` without a handshake.
    ///
    /// # Errors
    /// When the server cannot be started.
    pub fn connect(server: Server) -> Result<Self, RequestError> {
        let runtime = Server::runtime()?;
        let (near, far) = duplex(PIPE_BYTES);
        let (server_input, server_output) = split(far);
        let stop = CancellationToken::new();
        // Its error is not asked for: the client finds the end of the pipe.
        runtime.spawn(server.serve(server_input, server_output, stop.clone()));
        let (input, output) = split(near);
        Ok(Self { runtime, input: BufReader::new(input), output, stop, last_id: 0 })
    }

    /// Calls a tool and waits for its result.
    ///
    /// # Errors
    /// A protocol error: an unknown tool, or a server that went away. A tool's own error is an outcome.
    pub fn call(&mut self, tool: &str, arguments: Map<String, Value>) -> Result<CallOutcome, RequestError> {
        let mut params = json!({ "name": tool });
        params["arguments"] = Value::Object(arguments);
        serde_json::from_value(self.request("tools/call", params)?)
            .map_err(|error| RequestError::Unreadable("no result of a call", error))
    }

    /// Sends a request and waits for its result.
    ///
    /// # Errors
    /// The error that the server answered, or that it went away.
    pub fn request(&mut self, method: &str, params: Value) -> Result<Value, RequestError> {
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
                let message = error["message"].as_str().unwrap_or("an error without a message");
                return Err(RequestError::Answered(message.to_owned()));
            }
            return Ok(message["result"].take());
        }
    }

    /// Sends one line as it is.
    ///
    /// # Errors
    /// When the server went away.
    pub fn send(&mut self, line: &str) -> Result<(), RequestError> {
        let line = format!("{line}\n");
        Ok(self.runtime.block_on(self.output.write_all(line.as_bytes()))?)
    }

    /// The next message of the server, whatever it is.
    ///
    /// # Errors
    /// When the server went away, or sent something that is not JSON.
    pub fn receive(&mut self) -> Result<Value, RequestError> {
        let mut line = String::new();
        if self.runtime.block_on(self.input.read_line(&mut line))? == 0 {
            return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into());
        }
        serde_json::from_str(&line).map_err(|error| RequestError::Unreadable("not JSON", error))
    }
}

impl Drop for InProcessClient {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

/// Runs one tool through the whole server.
///
/// # Errors
/// As [`InProcessClient::call`], or that a signal ended it.
pub fn call_once(server: Server, tool: &str, arguments: Map<String, Value>) -> Result<CallOutcome, RequestError> {
    log_panics();
    let shared = Arc::clone(&server.dispatcher.shared);
    let mut client = InProcessClient::open(server)?;
    {
        // The socket of the signals needs the reactor.
        let _inside = client.runtime.enter();
        stop_on_signal(&client.stop)?;
    }
    let outcome = client.call(tool, arguments);
    let stopped = client.stop.is_cancelled();
    // First: it ends the server, so that no further change begins.
    drop(client);
    // After a signal: as for a server, a change that has begun is made whole.
    let finished = shared.commits.finish();
    if stopped { Err(RequestError::Ended(finished)) } else { outcome }
}

/// After the last answer: goes on with what is being read for an index, for about a second, and stores it. Ends at once
/// when a signal arrives.
pub fn finish_indexes(indexes: KeptIndexes) {
    if !indexes.is_unfinished() {
        return;
    }
    // The answer has been sent; without this the next process searches without an index.
    let Ok(runtime) = Server::runtime() else { return };
    runtime.block_on(async {
        let stop = CancellationToken::new();
        if stop_on_signal(&stop).is_ok() {
            indexes.finish_unless(&stop).await;
        }
    });
    runtime.shutdown_background();
}

/// The tools that a client would be offered: the answer to `tools/list`.
///
/// # Errors
/// When the server cannot be started.
pub fn list_once(server: Server) -> Result<Value, RequestError> {
    InProcessClient::open(server)?.request("tools/list", json!({}))
}
