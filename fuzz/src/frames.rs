//! Frames: whatever bytes arrive in whatever pieces, each line is answered as its meaning demands, each request with
//! its id, and the session goes on.

use std::{
    collections::{BTreeMap, HashMap},
    io,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use file_tools::{Selection, Settings, Toolbox, session::Session};
use rootbound::server::{Server, ServerOptions, Services};
use serde::de::IgnoredAny;
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncReadExt as _, ReadBuf, duplex};
use tokio_util::sync::CancellationToken;

use super::World;

/// The request that follows every input.
const LAST: &str = "the last request";
/// Characters of an error's message, whatever it repeats.
const LONGEST_MESSAGE: usize = 500;
/// Bytes of answers that the server may be ahead of their reader.
const OUTPUT_BYTES: usize = 1 << 20;

/// What an input demands of the answers.
#[derive(Debug, Default)]
struct Demands {
    /// Lines that are not blank.
    lines: usize,
    too_long: usize,
    /// Lines that are no object, which are refused.
    no_objects: usize,
    /// The requests, by the JSON of their ids.
    requests: HashMap<String, usize>,
}

/// Reads `input`: a limit for lines, three sizes of pieces, and what arrives.
///
/// # Panics
/// Where a property does not hold.
pub fn check(world: &World, input: &[u8]) {
    let Some((&[limit, one, two, three], bytes)) = input.split_first_chunk() else { return };
    let limit = if limit == u8::MAX { 1 << 16 } else { 8 + usize::from(limit) };
    let sizes = [one, two, three].map(usize::from);

    let last = json!({ "jsonrpc": "2.0", "id": LAST, "method": "ping" }).to_string();
    let limit = limit.max(last.len());
    let conversation = [bytes, b"\n", last.as_bytes(), b"\n"].concat();
    let demands = demands(&conversation, limit);
    let whole = answered(world, &conversation, limit, &[], &demands);
    for sizes in [&sizes[..], &[0, 7]] {
        let pieces = answered(world, &conversation, limit, sizes, &demands);
        assert!(cancels(bytes) || pieces == whole, "in pieces of {sizes:?} {pieces:?}, as a whole {whole:?}");
    }
}

/// What is cancelled in time is not answered.
fn cancels(bytes: &[u8]) -> bool {
    bytes.windows(9).any(|window| window == b"cancelled")
}

/// An independent reading of an input.
fn demands(conversation: &[u8], limit: usize) -> Demands {
    let mut demands = Demands::default();
    let conversation = conversation.strip_prefix(b"\xef\xbb\xbf").unwrap_or(conversation);
    for line in conversation.split(|byte| *byte == b'\n') {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if line.len() > limit {
            demands.too_long += 1;
        } else if line.iter().any(|byte| !byte.is_ascii_whitespace()) {
            one_line(line, &mut demands);
        } else {
            continue;
        }
        demands.lines += 1;
    }
    demands
}

/// What a line demands, read as JSON.
fn one_line(line: &[u8], demands: &mut Demands) {
    let value = match serde_json::from_slice::<Value>(line) {
        Ok(value @ Value::Object(_)) => value,
        // What nobody looks at may hold bytes that are no text, or numbers beyond all.
        Err(_) if serde_json::from_slice::<IgnoredAny>(line).is_ok() => return,
        _ => {
            demands.no_objects += 1;
            return;
        }
    };
    let is_id = value["id"].is_string() || value["id"].is_i64();
    if is_id && value["jsonrpc"] == "2.0" && value["method"].is_string() {
        *demands.requests.entry(value["id"].to_string()).or_default() += 1;
    }
}

/// Gives a server the bytes in pieces of `sizes`; the answers, counted by their ids.
fn answered(
    world: &World,
    conversation: &[u8],
    limit: usize,
    sizes: &[usize],
    demands: &Demands,
) -> BTreeMap<String, usize> {
    let input = Pieces { input: conversation.to_vec(), at: 0, sizes: sizes.to_vec(), turn: 0 };
    let answers = served(server(world, limit), input);
    // What the client itself sent may be repeated to it.
    let is_sent = String::from_utf8_lossy(conversation).contains(world.host());
    let (mut by_id, mut too_long, mut refused) = (BTreeMap::<String, usize>::new(), 0, 0);
    for answer in &answers {
        let printed = answer.to_string();
        assert!(is_sent || !printed.contains(world.host()), "{printed} shows a host path");
        assert_eq!(answer["jsonrpc"], "2.0", "{printed}");
        assert!(answer["result"].is_object() != answer["error"].is_object(), "{printed}");
        *by_id.entry(answer["id"].to_string()).or_default() += 1;
        if let Some(message) = answer["error"]["message"].as_str() {
            assert!(message.chars().count() < LONGEST_MESSAGE, "{message}");
            assert!(!message.contains("expected struct Head"), "{message}");
            too_long += usize::from(message.starts_with(&format!("a message may have at most {limit} bytes")));
            refused += 1;
        }
    }
    assert!(by_id.contains_key(&Value::from(LAST).to_string()), "the last request of {answers:?}");
    assert!(answers.len() <= demands.lines, "{} answers to {} lines", answers.len(), demands.lines);
    assert_eq!(too_long, demands.too_long, "lines of more than {limit} bytes: {answers:?}");
    assert!(refused >= too_long + demands.no_objects, "{refused} errors for {demands:?}: {answers:?}");
    if !cancels(conversation) {
        for (id, count) in &demands.requests {
            assert!(by_id.get(id) >= Some(count), "{count} requests with the id {id}: {by_id:?}");
        }
    }
    by_id
}

/// Everything that a server answers until its input ends.
fn served(server: Server, input: Pieces) -> Vec<Value> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let answers = runtime.block_on(async {
        let (mut client, output) = duplex(OUTPUT_BYTES);
        let service = tokio::spawn(server.serve(input, output, CancellationToken::new()));
        let mut answers = Vec::new();
        client.read_to_end(&mut answers).await.expect("answers");
        service.await.expect("no panic").unwrap_or_else(|error| panic!("the session ended: {error}"));
        answers
    });
    runtime.shutdown_background();
    answers
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty())
        .map(|line| serde_json::from_slice(line).unwrap_or_else(|error| panic!("{error}: {}", line.escape_ascii())))
        .collect()
}

fn server(world: &World, limit: usize) -> Server {
    let selection = Selection { only: Some(vec!["read".to_owned()]), read_only: true, ..Selection::default() };
    Server::new(Services {
        workspace: Arc::clone(world.tree()),
        session: Arc::new(Session::new(None)),
        path_index: Arc::default(),
        toolbox: Toolbox::new(&selection),
        settings: Arc::new(Settings::default()),
        language_servers: None,
        options: ServerOptions { max_line: limit, ..ServerOptions::default() },
    })
}

/// An input that arrives in pieces of `sizes`, in turn; at 0 its reader has to wait. Without sizes, as a whole.
#[derive(Debug)]
struct Pieces {
    input: Vec<u8>,
    at: usize,
    sizes: Vec<usize>,
    turn: usize,
}

impl AsyncRead for Pieces {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let size = self.sizes.get(self.turn % self.sizes.len().max(1)).copied().unwrap_or(usize::MAX);
        self.turn += 1;
        if size == 0 && self.sizes.iter().any(|size| *size > 0) {
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        let length = size.max(1).min(self.input.len() - self.at).min(buffer.remaining());
        buffer.put_slice(&self.input[self.at..self.at + length]);
        self.at += length;
        Poll::Ready(Ok(()))
    }
}
