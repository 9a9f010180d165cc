//! Panics as lines of the log.

use std::{any::Any, panic};

/// Logs each panic in one line; the dispatcher answers the call that it was in.
pub(super) fn log_panics() {
    // Not the default hook: it writes to stderr itself and would wait for whoever reads it.
    panic::set_hook(Box::new(|panic| {
        let place = panic.location().map(ToString::to_string).unwrap_or_default();
        tracing::error!(place, reason = panic_text(panic.payload()), "panicked");
    }));
}

/// The message of a panic.
pub(super) fn panic_text(payload: &(dyn Any + Send)) -> &str {
    let text = payload.downcast_ref::<&str>().copied();
    text.or_else(|| payload.downcast_ref::<String>().map(String::as_str)).unwrap_or("without a message")
}
