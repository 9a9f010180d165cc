//! Lines out: one writer task, fed in the order in which lines are enqueued.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use rmcp::{
    ErrorData,
    model::{JsonRpcMessage, RequestId, ServerJsonRpcMessage, ServerResult},
};
use serde_json::json;
use tokio::{
    io::{AsyncWrite, AsyncWriteExt},
    sync::{Notify, mpsc, oneshot},
};
use tokio_util::sync::CancellationToken;

/// Bytes that wait before progress is dropped: it must not grow where nobody reads.
const PROGRESS_ROOM: usize = 256 << 10;
/// Bytes that wait before reading pauses: a client that does not read its answers gets no more.
const READING_ROOM: usize = 64 << 20;
/// Bytes that a message takes beside its texts, and most messages in all.
const ROOM: usize = 512;
/// Bytes that one write gathers.
const BATCH: usize = 64 << 10;

/// Where lines for the client go; cheap to clone, never blocks.
#[derive(Clone, Debug)]
pub(in crate::server) struct Outbox {
    queue: mpsc::UnboundedSender<Item>,
    backlog: Arc<Backlog>,
}

impl Outbox {
    /// Starts the writer task; `lost` is cancelled when nothing can be written any more.
    pub(in crate::server) fn start<W>(output: W, lost: CancellationToken) -> Self
    where
        W: AsyncWrite + Send + Unpin + 'static,
    {
        let (queue, items) = mpsc::unbounded_channel();
        let backlog = Arc::new(Backlog::default());
        tokio::spawn(write(output, items, Arc::clone(&backlog), lost));
        Self { queue, backlog }
    }

    /// Enqueues a message.
    pub(in crate::server) fn message(&self, message: &ServerJsonRpcMessage) {
        let mut line = Vec::with_capacity(room(message));
        match serde_json::to_writer(&mut line, message) {
            Ok(()) => self.line(line),
            Err(error) => tracing::error!(%error, "a message could not be written"),
        }
    }

    /// Enqueues an error; `id` is null where it is unknown, as JSON-RPC has it.
    pub(super) fn refuse(&self, id: Option<&RequestId>, error: &ErrorData) {
        self.line(json!({ "jsonrpc": "2.0", "id": id, "error": error }).to_string().into_bytes());
    }

    /// Whether so little waits that progress may be added.
    pub(in crate::server) fn has_room(&self) -> bool {
        self.backlog.bytes.load(Ordering::Relaxed) < PROGRESS_ROOM
    }

    /// Waits while too much waits to be read by the client.
    pub(super) async fn drained(&self) {
        while self.backlog.bytes.load(Ordering::Relaxed) >= READING_ROOM && !self.queue.is_closed() {
            self.backlog.written.notified().await;
        }
    }

    /// Waits until everything that was enqueued before is written, or cannot be.
    pub(super) async fn flush(&self) {
        let (done, written) = oneshot::channel();
        if self.queue.send(Item::Flush(done)).is_ok() {
            // The writer drops the sender when the output is gone; that ends the wait as well.
            let _ = written.await;
        }
    }

    fn line(&self, mut line: Vec<u8>) {
        line.push(b'\n');
        self.backlog.bytes.fetch_add(line.len(), Ordering::Relaxed);
        // Fails only when the output is gone, which has ended the service already.
        let _ = self.queue.send(Item::Line(line));
    }
}

/// About how many bytes a message takes, so that its line is not copied each time it doubles.
fn room(message: &ServerJsonRpcMessage) -> usize {
    let JsonRpcMessage::Response(response) = message else { return ROOM };
    let ServerResult::CallToolResult(result) = &response.result else { return ROOM };
    // An eighth for what is escaped.
    let texts = result.content.iter().filter_map(|block| block.as_text());
    ROOM + texts.map(|text| text.text.len() / 8 * 9).sum::<usize>()
}

#[derive(Debug)]
enum Item {
    Line(Vec<u8>),
    Flush(oneshot::Sender<()>),
}

#[derive(Debug, Default)]
struct Backlog {
    bytes: AtomicUsize,
    written: Notify,
}

async fn write<W>(
    mut output: W,
    mut items: mpsc::UnboundedReceiver<Item>,
    backlog: Arc<Backlog>,
    lost: CancellationToken,
) where
    W: AsyncWrite + Send + Unpin,
{
    while let Some(first) = items.recv().await {
        let (mut batch, mut waiting) = (Vec::new(), Vec::new());
        let mut next = Some(first);
        while let Some(item) = next {
            match item {
                Item::Line(line) if batch.is_empty() => batch = line,
                Item::Line(line) => batch.extend_from_slice(&line),
                Item::Flush(done) => waiting.push(done),
            }
            next = if batch.len() < BATCH { items.try_recv().ok() } else { None };
        }
        let written = match output.write_all(&batch).await {
            Ok(()) => output.flush().await,
            Err(error) => Err(error),
        };
        backlog.bytes.fetch_sub(batch.len(), Ordering::Relaxed);
        if let Err(error) = written {
            tracing::warn!(%error, "the client no longer reads; ending");
            items.close();
            backlog.written.notify_waiters();
            lost.cancel();
            return;
        }
        backlog.written.notify_waiters();
        for done in waiting {
            let _ = done.send(());
        }
    }
}
