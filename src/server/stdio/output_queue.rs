//! The lines for the client: one task writes them in the order in which they are enqueued.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
};

use rmcp::{
    ErrorData,
    model::{JsonRpcMessage, RequestId, ServerJsonRpcMessage, ServerResult},
};
use serde_json::json;
use tokio::{
    io::{AsyncWrite, AsyncWriteExt},
    sync::{Notify, OwnedSemaphorePermit, Semaphore, mpsc, oneshot},
};
use tokio_util::sync::CancellationToken;

use file_tools::{Answer, Content};

/// Bytes that wait before progress is dropped: a client that does not read must not make the queue grow.
const PROGRESS_ROOM: usize = 256 << 10;
/// Bytes that wait before reading pauses: a client that does not read its answers gets no more.
const READING_ROOM: usize = 64 << 20;
/// Bytes of a message without its texts, and of most messages in all.
const FRAME_BYTES: usize = 512;
/// Bytes that one write gathers.
const BATCH_BYTES: usize = 64 << 10;

/// The queue; cheap to clone, never blocks.
#[derive(Clone, Debug)]
pub(in crate::server) struct OutputQueue {
    queue: mpsc::UnboundedSender<Queued>,
    backlog: Arc<Backlog>,
    budget: ResponseBudget,
    expected: Arc<Mutex<HashMap<RequestId, Expected>>>,
}

/// The permit of a large answer that is not enqueued yet. Dropping the sender ends the wait for the cancellation of its
/// call.
#[derive(Debug)]
struct Expected {
    permit: ResponsePermit,
    _arrived: oneshot::Sender<()>,
}

impl OutputQueue {
    /// Starts the task that writes; `lost` is cancelled when the client no longer reads.
    pub(in crate::server) fn start<W>(output: W, lost: CancellationToken) -> Self
    where
        W: AsyncWrite + Send + Unpin + 'static,
    {
        // Unbounded: calls in flight, the response budget and the pause in reading bound it.
        let (queue, queued) = mpsc::unbounded_channel();
        let backlog = Arc::new(Backlog::default());
        tokio::spawn(write(output, queued, Arc::clone(&backlog), lost));
        Self { queue, backlog, budget: ResponseBudget::default(), expected: Arc::default() }
    }

    pub(in crate::server) fn budget(&self) -> &ResponseBudget {
        &self.budget
    }

    /// Keeps `permit` until the answer to `id` is written, or the call is `cancelled` and gets no answer.
    pub(in crate::server) fn expect(&self, id: RequestId, permit: ResponsePermit, cancelled: CancellationToken) {
        let (sender, arrived) = oneshot::channel();
        let expected = Expected { permit, _arrived: sender };
        self.expected.lock().unwrap_or_else(PoisonError::into_inner).insert(id.clone(), expected);
        // Weak, so that this task does not keep the permits.
        let all = Arc::downgrade(&self.expected);
        tokio::spawn(async move {
            tokio::select! {
                _ = arrived => {}
                () = cancelled.cancelled() => drop(all.upgrade().and_then(|all| arrive(&all, &id))),
            }
        });
    }

    pub(in crate::server) fn message(&self, message: &ServerJsonRpcMessage) {
        let permit = match message {
            JsonRpcMessage::Response(response) => arrive(&self.expected, &response.id),
            _ => None,
        };
        let mut line = Vec::with_capacity(about(message));
        match serde_json::to_writer(&mut line, message) {
            Ok(()) => self.line(line, permit),
            Err(error) => tracing::error!(%error, "a message could not be written"),
        }
    }

    /// Enqueues an error. An unknown `id` is null (JSON-RPC 2.0, section 5: <https://www.jsonrpc.org/specification>).
    pub(super) fn refuse(&self, id: Option<&RequestId>, error: &ErrorData) {
        self.line(json!({ "jsonrpc": "2.0", "id": id, "error": error }).to_string().into_bytes(), None);
    }

    /// Whether few enough bytes wait that progress may be added.
    pub(in crate::server) fn has_room(&self) -> bool {
        // Relaxed: a number that is a moment old lets one line more or less through.
        self.backlog.bytes.load(Ordering::Relaxed) < PROGRESS_ROOM
    }

    /// Waits while the client has too much left to read.
    pub(super) async fn drained(&self) {
        while self.backlog.bytes.load(Ordering::Relaxed) >= READING_ROOM && !self.queue.is_closed() {
            // No wake-up is missed: the runtime has one thread, and nothing is awaited between the check and this await.
            self.backlog.written.notified().await;
        }
    }

    /// Waits until everything enqueued before is written, or cannot be.
    pub(super) async fn flush(&self) {
        let (done, written) = oneshot::channel();
        if self.queue.send(Queued::Flush(done)).is_ok() {
            // The writer drops the sender when the output is gone; that ends the wait as well.
            let _ = written.await;
        }
    }

    fn line(&self, mut line: Vec<u8>, permit: Option<ResponsePermit>) {
        line.push(b'\n');
        self.backlog.bytes.fetch_add(line.len(), Ordering::Relaxed);
        // Fails only when the output is gone, which has ended the service already.
        let _ = self.queue.send(Queued::Line(line, permit));
    }
}

fn arrive(expected: &Mutex<HashMap<RequestId, Expected>>, id: &RequestId) -> Option<ResponsePermit> {
    expected.lock().unwrap_or_else(PoisonError::into_inner).remove(id).map(|expected| expected.permit)
}

/// About how many bytes a message takes: a buffer of that size is not copied again and again as it grows.
fn about(message: &ServerJsonRpcMessage) -> usize {
    let JsonRpcMessage::Response(response) = message else { return FRAME_BYTES };
    let ServerResult::CallToolResult(result) = &response.result else { return FRAME_BYTES };
    // An eighth for what is escaped.
    let texts = result.content.iter().filter_map(|block| block.as_text());
    FRAME_BYTES + texts.map(|text| text.text.len() / 8 * 9).sum::<usize>()
}

#[derive(Debug)]
enum Queued {
    Line(Vec<u8>, Option<ResponsePermit>),
    Flush(oneshot::Sender<()>),
}

#[derive(Debug, Default)]
struct Backlog {
    bytes: AtomicUsize,
    written: Notify,
}

async fn write<W>(
    mut output: W,
    mut queued: mpsc::UnboundedReceiver<Queued>,
    backlog: Arc<Backlog>,
    lost: CancellationToken,
) where
    W: AsyncWrite + Send + Unpin,
{
    while let Some(first) = queued.recv().await {
        let (mut batch, mut permits, mut waiting) = (Vec::new(), Vec::new(), Vec::new());
        let mut next = Some(first);
        while let Some(next_item) = next {
            match next_item {
                Queued::Line(line, permit) => {
                    permits.extend(permit);
                    if batch.is_empty() {
                        batch = line;
                    } else {
                        batch.extend_from_slice(&line);
                    }
                }
                Queued::Flush(done) => waiting.push(done),
            }
            // Several short answers go out in one write(2).
            next = if batch.len() < BATCH_BYTES { queued.try_recv().ok() } else { None };
        }
        let written = match output.write_all(&batch).await {
            Ok(()) => output.flush().await,
            Err(error) => Err(error),
        };
        backlog.bytes.fetch_sub(batch.len(), Ordering::Relaxed);
        // Before the next line is taken: calls wait for the permits.
        drop((batch, permits));
        if let Err(error) = written {
            tracing::warn!(%error, "the client no longer reads; ending");
            queued.close();
            backlog.written.notify_waiters();
            // Nobody can be answered any more, so what runs is cancelled.
            lost.cancel();
            return;
        }
        backlog.written.notify_waiters();
        for done in waiting {
            let _ = done.send(());
        }
    }
}

// The budget for large answers: how many bytes of them may be lines that the client has not read yet.
//
// A large answer becomes a line only when the budget has room for it, and holds its permit until the line is written.
// A call that waits for room keeps its concurrency permit, so the answers that wait are bounded, too. Small answers
// need no budget: the number of calls in flight bounds them.

/// Bytes of large answers that are lines, or soon will be: a few images of the largest size.
const MAX_LARGE: usize = 16 << 20;
/// Bytes of an answer that needs no budget.
const MAX_SMALL: usize = 128 << 10;
/// Bytes that one permit of the semaphore counts for.
const PERMIT_BYTES: usize = 1 << 10;

/// Room that is left for large answers; cheap to clone.
#[derive(Clone, Debug)]
pub(in crate::server) struct ResponseBudget(Arc<BudgetState>);

#[derive(Debug)]
struct BudgetState {
    free: Arc<Semaphore>,
    /// Each answer that waits holds a clone until its call goes on or is dropped.
    waiting: Arc<()>,
    /// How many answers had to wait so far.
    waits: AtomicUsize,
}

pub(in crate::server) type ResponsePermit = OwnedSemaphorePermit;

impl Default for ResponseBudget {
    fn default() -> Self {
        let free = Arc::new(Semaphore::new(MAX_LARGE / PERMIT_BYTES));
        Self(Arc::new(BudgetState { free, waiting: Arc::default(), waits: AtomicUsize::default() }))
    }
}

impl ResponseBudget {
    /// Waits until there is room for `answer`; a small one takes none.
    pub(in crate::server) async fn reserve(&self, answer: &Answer) -> Option<ResponsePermit> {
        let bytes = on_the_wire(answer);
        if bytes < MAX_SMALL {
            return None;
        }
        // An answer over the whole budget takes all of it: it could wait for more than there is for ever.
        let units = u32::try_from(bytes.min(MAX_LARGE).div_ceil(PERMIT_BYTES)).unwrap_or(u32::MAX);
        if let Ok(permit) = Arc::clone(&self.0.free).try_acquire_many_owned(units) {
            return Some(permit);
        }
        self.0.waits.fetch_add(1, Ordering::Relaxed);
        let _waiting = Arc::clone(&self.0.waiting);
        Arc::clone(&self.0.free).acquire_many_owned(units).await.ok()
    }

    /// Whether an answer waits for the client to read earlier ones, or had to since [`Self::waits`] returned `waits`,
    /// which is updated.
    pub(in crate::server) fn was_short_since(&self, waits: &mut usize) -> bool {
        let before = std::mem::replace(waits, self.waits());
        Arc::strong_count(&self.0.waiting) > 1 || before != *waits
    }

    /// How many answers had to wait so far.
    pub(in crate::server) fn waits(&self) -> usize {
        self.0.waits.load(Ordering::Relaxed)
    }
}

/// About how many bytes the line of `answer` will have. With structured output it holds a text twice.
fn on_the_wire(answer: &Answer) -> usize {
    let block = |block: &Content| match block {
        Content::Text(text) if answer.data.is_some() => 2 * text.len(),
        Content::Text(text) => text.len(),
        Content::Image { bytes, .. } => bytes.len().div_ceil(3) * 4,
        Content::Link(link) => link.length(),
    };
    answer.content.iter().map(block).sum()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use rmcp::model::{NumberOrString, ServerResult};
    use tokio::{
        io::{AsyncReadExt as _, duplex},
        time::timeout,
    };

    use file_tools::{Answer, Content};

    use super::*;

    fn answer_of_an_image() -> Answer {
        let image = Content::Image { bytes: vec![0; 11 << 20], mime: "image/png" };
        Answer { content: vec![image], ..Answer::default() }
    }

    fn answer(id: &RequestId) -> ServerJsonRpcMessage {
        ServerJsonRpcMessage::response(ServerResult::empty(()), id.clone())
    }

    #[tokio::test]
    async fn permit_is_released_when_its_answer_is_read_or_cancelled_and_not_before() {
        let (output, mut client) = duplex(8);
        let queue = OutputQueue::start(output, CancellationToken::new());
        let (large, id) = (answer_of_an_image(), NumberOrString::Number(7));
        let permit = queue.budget().reserve(&large).await.expect("it is large");
        queue.expect(id.clone(), permit, CancellationToken::new());
        queue.message(&answer(&id));
        // The writer has the line and is stuck with it, as nobody reads.
        while queue.backlog.bytes.load(Ordering::Relaxed) == 0 {
            tokio::task::yield_now().await;
        }
        assert!(timeout(Duration::from_millis(20), queue.budget().reserve(&large)).await.is_err());
        let mut read = [0; 256];
        let permit = loop {
            tokio::select! {
                count = client.read(&mut read) => assert!(count.expect("open") > 0),
                permit = queue.budget.reserve(&large) => break permit.expect("it is large"),
            }
        };

        let cancelled = CancellationToken::new();
        queue.expect(id, permit, cancelled.clone());
        assert!(timeout(Duration::from_millis(20), queue.budget().reserve(&large)).await.is_err());
        cancelled.cancel();
        let free = timeout(Duration::from_secs(120), queue.budget().reserve(&large)).await.expect("it is free");
        assert!(free.is_some(), "it is large");
    }
}

#[cfg(test)]
mod backpressure_tests {
    use std::{
        future::Future,
        pin::pin,
        task::{Context, Waker},
    };

    use super::*;

    fn image(bytes: usize) -> Answer {
        Answer { content: vec![Content::Image { bytes: vec![0; bytes], mime: "image/png" }], ..Answer::default() }
    }

    fn now<T>(future: impl Future<Output = T>) -> Option<T> {
        match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
            std::task::Poll::Ready(value) => Some(value),
            std::task::Poll::Pending => None,
        }
    }

    #[test]
    fn large_answers_wait_for_room_and_small_ones_do_not() {
        let budget = ResponseBudget::default();
        let large = image(MAX_LARGE / 4);
        let first: Vec<_> = (0..2).map(|_| now(budget.reserve(&large)).expect("there is room")).collect();
        assert!(first.iter().all(Option::is_some));
        assert!(now(budget.reserve(&large)).is_none(), "a third more on the wire than on the disk");
        let mut waits = 0;
        assert!(
            budget.was_short_since(&mut waits) && !budget.was_short_since(&mut waits),
            "an abandoned reservation does not wait"
        );
        assert!(now(budget.reserve(&image(1000))).expect("no wait").is_none());
        drop(first);
        let all = now(budget.reserve(&image(2 * MAX_LARGE))).expect("one that is larger than all of it has all of it");
        assert!(all.is_some() && now(budget.reserve(&large)).is_none());
    }
}
