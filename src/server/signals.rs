//! The signals that end the server.

use std::io;

use tokio_util::sync::CancellationToken;

/// Cancels `stop` when the process is asked to end: SIGTERM, SIGINT, SIGHUP (the terminal or the client's session is
/// gone) and SIGXCPU (the last warning of `RLIMIT_CPU`, setrlimit(2)).
#[cfg(unix)]
pub(super) fn stop_on_signal(stop: &CancellationToken) {
    use tokio::signal::unix::{SignalKind, signal};
    let processor_time = SignalKind::from_raw(signal_hook::consts::SIGXCPU);
    for kind in [SignalKind::terminate(), SignalKind::interrupt(), SignalKind::hangup(), processor_time] {
        match signal(kind) {
            Ok(mut signals) => cancel_after(stop, async move { signals.recv().await }),
            Err(error) => warn_unhandled(&error),
        }
    }
}

/// Cancels `stop` on Ctrl-C, on Ctrl-Break (which a client may send to its process group), and when the console window
/// is closed or the person logs off: Windows then waits up to five seconds, see
/// [`HandlerRoutine`](https://learn.microsoft.com/windows/console/handlerroutine).
#[cfg(windows)]
pub(super) fn stop_on_signal(stop: &CancellationToken) {
    use tokio::signal::windows::{ctrl_break, ctrl_c, ctrl_close, ctrl_logoff, ctrl_shutdown};
    macro_rules! stop_on {
        ($($signal:ident),*) => {$(match $signal() {
            Ok(mut signals) => cancel_after(stop, async move { signals.recv().await }),
            Err(error) => warn_unhandled(&error),
        })*};
    }
    stop_on!(ctrl_c, ctrl_break, ctrl_close, ctrl_logoff, ctrl_shutdown);
}

/// Cancels `stop` once a signal was received.
fn cancel_after(stop: &CancellationToken, received: impl Future<Output = Option<()>> + Send + 'static) {
    let stop = stop.clone();
    tokio::spawn(async move {
        received.await;
        stop.cancel();
    });
}

fn warn_unhandled(error: &io::Error) {
    tracing::warn!(%error, "a signal cannot be handled; it ends the process at once");
}
