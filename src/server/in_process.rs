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

/// Bytes that each direction of the pipe holds.
const PIPE: usize = 1 << 20;
/// The last protocol revision that opens with a handshake.
const REVISION: &str = "2025-11-25";

/// One block of an outcome.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum Block {
    /// Text for the model.
    Text {
        /// The lines as the tool answered them.
        text: String,
    },
    /// An image for a model that sees.
    Image {
        /// The media type, such as `image/png`.
        #[serde(rename = "mimeType")]
        mime: String,
        /// Its bytes in base64.
        data: String,
    },
    /// A file that a client shows to the person.
    #[serde(rename = "resource_link")]
    Link {
        /// The URI by which the client opens it.
        uri: String,
        /// The name that the client shows.
        name: String,
    },
}

/// The result of a call.
#[derive(Clone, Debug, Deserialize)]
pub struct CallOutcome {
    /// The blocks, in order.
    pub content: Vec<Block>,
    /// Whether the tool reports an error.
    #[serde(default, rename = "isError")]
    pub is_error: bool,
    /// The result's `_meta`: facts under `rootbound/result`, or the kind of error under `rootbound/error`.
    #[serde(default, rename = "_meta")]
    pub meta: Map<String, Value>,
    /// The complete result as data, where structured output is on.
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
    /// A sentence, when the server cannot be started or refuses.
    pub fn open(server: Server) -> Result<Self, String> {
        let mut client = Self::connect(server)?;
        client.request(
            "initialize",
            json!({
                "protocolVersion": REVISION,
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
    /// A sentence, when the server cannot be started.
    pub fn connect(server: Server) -> Result<Self, String> {
        let runtime = Server::runtime().map_err(|error| broken(&error))?;
        let (near, far) = duplex(PIPE);
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
    /// A protocol error as text: an unknown tool, or a server that went away. A tool's own error is
    /// an outcome.
    pub fn call(&mut self, tool: &str, arguments: Map<String, Value>) -> Result<CallOutcome, String> {
        let mut params = json!({ "name": tool });
        params["arguments"] = Value::Object(arguments);
        serde_json::from_value(self.request("tools/call", params)?)
            .map_err(|error| format!("the server sent what is no result of a call: {error}"))
    }

    /// Sends a request and waits for its result.
    ///
    /// # Errors
    /// The error that the server answered, as text, or that it went away.
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
        self.runtime.block_on(self.output.write_all(line.as_bytes())).map_err(|error| broken(&error))
    }

    /// The next message of the server, whatever it is.
    ///
    /// # Errors
    /// When the server went away, or sent something that is not JSON.
    pub fn receive(&mut self) -> Result<Value, String> {
        let mut line = String::new();
        match self.runtime.block_on(self.input.read_line(&mut line)) {
            Ok(0) => return Err(broken(&io::ErrorKind::UnexpectedEof.into())),
            Ok(_) => {}
            Err(error) => return Err(broken(&error)),
        }
        serde_json::from_str(&line).map_err(|error| format!("the server sent what is not JSON: {error}"))
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
/// A protocol error as text; see [`InProcessClient::call`].
pub fn call_once(server: Server, tool: &str, arguments: Map<String, Value>) -> Result<CallOutcome, String> {
    log_panics();
    let shared = Arc::clone(&server.dispatcher.shared);
    let mut client = InProcessClient::open(server)?;
    {
        // The socket of the signals needs the reactor.
        let _inside = client.runtime.enter();
        stop_on_signal(&client.stop).map_err(|error| broken(&error))?;
    }
    let outcome = client.call(tool, arguments);
    let stopped = client.stop.is_cancelled();
    // First: it ends the server, so that no further change begins.
    drop(client);
    // After a signal: as for a server, a change that has begun is made whole.
    let finished = shared.commits.finish();
    match (stopped, finished) {
        (false, _) => outcome,
        (true, true) => Err("the call was ended by a signal; a change in progress was completed".to_owned()),
        (true, false) => Err("the call was ended by a signal; a change in progress was left incomplete".to_owned()),
    }
}

/// After the last answer: goes on with what is being read for an index, for about a second, and stores it. Ends at once
/// when a signal arrives.
pub fn finish_indexes(indexes: KeptIndexes) {
    if !indexes.is_unfinished() {
        return;
    }
    // The answer is out by now; without this the next process searches without an index.
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
/// A sentence, when the server cannot be started.
pub fn list_once(server: Server) -> Result<Value, String> {
    InProcessClient::open(server)?.request("tools/list", json!({}))
}

fn broken(error: &io::Error) -> String {
    format!("the server in this process failed: {error}")
}
