//! This layer's insides as values, for the properties that hold of any input (`fuzzing`).
//!
//! Compiled for tests and fuzzing alone. Runs the reader, the parser and a whole server on bytes, and
//! judges nothing.

use std::{
    pin::{Pin, pin},
    task::{Context, Poll, Waker},
};

use rmcp::model::{JsonRpcMessage, RequestId};
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _, ReadBuf, duplex};
use tokio_util::sync::CancellationToken;

use crate::server::connection::Server;

use super::{
    frame::{CHUNK, Frame, FrameReader, IdScanner},
    incoming::{self, Incoming},
};

/// A piece that was cut out of an input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Cut {
    Line(Vec<u8>),
    /// A line over the limit, and the id found in it.
    TooLong(Option<Value>),
}

/// The meaning of a line.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ParsedLine {
    /// A request for the service.
    Request(Value),
    /// An answer or a cancellation.
    Other,
    /// An error for the client: its id, code and message.
    Refused(Value, i32, String),
    Ignored,
}

/// The lines of an input that arrives in pieces of `sizes` (in turn; 0 lets the reader wait and gives
/// it up there), and the most memory held on the way beyond what is allowed.
pub(crate) fn lines(input: &[u8], sizes: &[usize], limit: usize) -> (Vec<Cut>, Result<(), usize>) {
    let mut reader = FrameReader::new(Pieces { input, sizes, turn: 0 }, limit);
    let (mut cuts, mut held) = (Vec::new(), 0);
    loop {
        match pin!(reader.next()).poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(Frame::Line(line)) => cuts.push(Cut::Line(line.to_vec())),
            Poll::Ready(Frame::TooLong { id, .. }) => cuts.push(Cut::TooLong(id.map(RequestId::into_json_value))),
            Poll::Ready(Frame::End) => break,
            // The future is dropped where it waits, as the service does.
            Poll::Pending => {}
        }
        held = held.max(reader.held());
    }
    held = held.max(reader.held());
    // A buffer doubles when it grows.
    let allowed = 2 * (limit + CHUNK);
    (cuts, if held <= allowed { Ok(()) } else { Err(held) })
}

/// The meaning of one line.
pub(crate) fn parse(line: &[u8]) -> ParsedLine {
    match incoming::parse(line) {
        Incoming::Deliver(message) => match *message {
            JsonRpcMessage::Request(request) => ParsedLine::Request(request.id.into_json_value()),
            _ => ParsedLine::Other,
        },
        Incoming::Refuse { id, error } => ParsedLine::Refused(
            id.map_or(Value::Null, RequestId::into_json_value),
            error.code.0,
            error.message.into_owned(),
        ),
        Incoming::Ignore => ParsedLine::Ignored,
    }
}

/// The id that the scan finds in a line given in pieces of `size`.
pub(crate) fn scanned_id(line: &[u8], size: usize) -> Option<Value> {
    let mut scanner = IdScanner::default();
    line.chunks(size.max(1)).for_each(|piece| scanner.feed(piece));
    scanner.finish().map(RequestId::into_json_value)
}

/// Everything that a server answers to `input`, until it ends.
///
/// # Errors
/// When the service fails, or sends what is not JSON.
pub(crate) fn conversation(server: Server, input: &[u8]) -> Result<Vec<Value>, String> {
    let runtime = Server::runtime().map_err(|error| error.to_string())?;
    let answers = runtime.block_on(async {
        let (mut client, far) = duplex(1 << 20);
        let (server_input, server_output) = tokio::io::split(far);
        let service = tokio::spawn(server.serve(server_input, server_output, CancellationToken::new()));
        let mut answers = Vec::new();
        client.write_all(input).await.map_err(|error| error.to_string())?;
        client.shutdown().await.map_err(|error| error.to_string())?;
        client.read_to_end(&mut answers).await.map_err(|error| error.to_string())?;
        service.await.map_err(|error| error.to_string())??;
        Ok::<_, String>(answers)
    });
    runtime.shutdown_background();
    answers?
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty())
        .map(|line| serde_json::from_slice(line).map_err(|error| format!("{error}: {}", line.escape_ascii())))
        .collect()
}

/// An input that arrives in pieces.
#[derive(Debug)]
struct Pieces<'a> {
    input: &'a [u8],
    sizes: &'a [usize],
    turn: usize,
}

impl AsyncRead for Pieces<'_> {
    fn poll_read(mut self: Pin<&mut Self>, _: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<std::io::Result<()>> {
        let size = self.sizes.get(self.turn % self.sizes.len().max(1)).copied().unwrap_or(usize::MAX);
        self.turn += 1;
        if size == 0 && self.sizes.iter().any(|size| *size > 0) {
            return Poll::Pending;
        }
        let (piece, rest) = self.input.split_at(size.max(1).min(self.input.len()).min(buffer.remaining()));
        buffer.put_slice(piece);
        self.input = rest;
        Poll::Ready(Ok(()))
    }
}
