//! Memory for decoding images, which all calls share: many at the same time take no more of it than the largest one.

use std::{
    collections::VecDeque,
    sync::{Condvar, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use confined_fs::stop::StopSignal;
use image_view::DECODE_MEMORY;

use super::{context::CallContext, error::ToolError};

/// How long a call waits before it looks whether it was stopped.
const CHECK_INTERVAL: Duration = Duration::from_millis(20);

static STATE: Mutex<WaitState> = Mutex::new(WaitState { used: 0, last: 0, waiting: VecDeque::new() });
static FREED: Condvar = Condvar::new();

/// The memory in use, and the calls that wait for some.
struct WaitState {
    /// Bytes that calls have.
    used: u64,
    last: u64,
    /// Tickets, the longest waiting one first: a call that needs much is not overtaken for ever.
    waiting: VecDeque<u64>,
}

fn state() -> MutexGuard<'static, WaitState> {
    // Nothing between two changes of it can panic, so that the numbers of a poisoned one are true.
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

#[derive(Debug)]
pub(crate) struct DecodeMemory {
    bytes: u64,
}

impl DecodeMemory {
    /// Waits for `bytes`, at most [`DECODE_MEMORY`] of them.
    ///
    /// # Errors
    /// When the call is stopped first.
    pub(crate) fn reserve(cx: &CallContext, bytes: u64) -> Result<Self, ToolError> {
        if let Some(reserved) = Self::reserve_until(&cx.stop, bytes) {
            return Ok(reserved);
        }
        cx.check()?;
        Err(ToolError::cancelled())
    }

    /// As [`Self::reserve`]; `None` when the work is stopped first.
    pub(crate) fn reserve_until(stop: &StopSignal, bytes: u64) -> Option<Self> {
        // An image that needs more than there is would wait for ever.
        let bytes = bytes.min(DECODE_MEMORY);
        let mut state = state();
        state.last += 1;
        let ticket = state.last;
        state.waiting.push_back(ticket);
        loop {
            if state.waiting.front() == Some(&ticket) && state.used + bytes <= DECODE_MEMORY {
                state.waiting.pop_front();
                state.used += bytes;
                // The next one may need little enough to begin as well.
                FREED.notify_all();
                return Some(Self { bytes });
            }
            if stop.stopped_while_waiting().is_some() {
                state.waiting.retain(|waiting| *waiting != ticket);
                FREED.notify_all();
                return None;
            }
            (state, _) = FREED.wait_timeout(state, CHECK_INTERVAL).unwrap_or_else(PoisonError::into_inner);
        }
    }

    pub(crate) fn shrink_to(&mut self, bytes: u64) {
        let more = self.bytes.saturating_sub(bytes);
        self.bytes -= more;
        state().used -= more;
        FREED.notify_all();
    }
}

impl Drop for DecodeMemory {
    fn drop(&mut self) {
        self.shrink_to(0);
    }
}
