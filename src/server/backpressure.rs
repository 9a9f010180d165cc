//! The budget for large answers: how many bytes of them may be lines that the client has not read yet.
//!
//! A large answer becomes a line only when the budget has room for it, and holds its permit until the line is written.
//! A call that waits for room keeps its concurrency permit, so the answers that wait are bounded, too. Small answers
//! need no budget: the number of calls in flight bounds them.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::tools::{Answer, Content};

/// Bytes of large answers that are lines, or soon will be: a few images of the largest size.
const BUDGET: usize = 16 << 20;
/// Bytes of an answer that needs no budget.
const SMALL: usize = 128 << 10;
/// Bytes that one permit of the semaphore counts for.
const UNIT: usize = 1 << 10;

/// What is left for large answers; cheap to clone.
#[derive(Clone, Debug)]
pub(super) struct ResponseBudget {
    free: Arc<Semaphore>,
    waiting: Arc<AtomicUsize>,
    /// How many answers had to wait so far.
    waits: Arc<AtomicUsize>,
}

/// What one answer takes of the budget, until it is dropped.
pub(super) type ResponsePermit = OwnedSemaphorePermit;

impl Default for ResponseBudget {
    fn default() -> Self {
        Self { free: Arc::new(Semaphore::new(BUDGET / UNIT)), waiting: Arc::default(), waits: Arc::default() }
    }
}

impl ResponseBudget {
    /// Waits until there is room for `answer`; a small one takes none.
    pub(super) async fn reserve(&self, answer: &Answer) -> Option<ResponsePermit> {
        let bytes = on_the_wire(answer);
        if bytes < SMALL {
            return None;
        }
        let units = u32::try_from(bytes.min(BUDGET).div_ceil(UNIT)).unwrap_or(u32::MAX);
        if let Ok(permit) = Arc::clone(&self.free).try_acquire_many_owned(units) {
            return Some(permit);
        }
        self.waits.fetch_add(1, Ordering::Relaxed);
        let _waiting = WaitingCount::new(&self.waiting);
        Arc::clone(&self.free).acquire_many_owned(units).await.ok()
    }

    /// Whether an answer waits for the client to read earlier ones, or had to since [`Self::waits`] returned `waits`,
    /// which is updated.
    pub(super) fn was_short_since(&self, waits: &mut usize) -> bool {
        let before = std::mem::replace(waits, self.waits());
        self.waiting.load(Ordering::Relaxed) > 0 || before != *waits
    }

    /// How many answers had to wait so far.
    pub(super) fn waits(&self) -> usize {
        self.waits.load(Ordering::Relaxed)
    }
}

/// Counts an answer that waits, until the wait ends or the call is dropped.
struct WaitingCount<'a>(&'a AtomicUsize);

impl<'a> WaitingCount<'a> {
    fn new(count: &'a AtomicUsize) -> Self {
        count.fetch_add(1, Ordering::Relaxed);
        Self(count)
    }
}

impl Drop for WaitingCount<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
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
        let large = image(BUDGET / 4);
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
        let all = now(budget.reserve(&image(2 * BUDGET))).expect("one that is larger than all of it has all of it");
        assert!(all.is_some() && now(budget.reserve(&large)).is_none());
    }
}
