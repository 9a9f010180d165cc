//! The signals that end the server.

use tokio_util::sync::CancellationToken;

/// Cancels `stop` when the process is asked to end: SIGTERM, SIGINT, SIGHUP (the terminal or the client's session is
/// gone) and SIGXCPU (the last warning of `RLIMIT_CPU`, setrlimit(2)).
#[cfg(unix)]
pub(super) fn stop_on_signal(stop: &CancellationToken) {
    use tokio::signal::unix::{SignalKind, signal};
    let processor_time = SignalKind::from_raw(signal_hook::consts::SIGXCPU);
    for kind in [SignalKind::terminate(), SignalKind::interrupt(), SignalKind::hangup(), processor_time] {
        match signal(kind) {
            Ok(mut signals) => {
                let stop = stop.clone();
                tokio::spawn(async move {
                    signals.recv().await;
                    stop.cancel();
                });
            }
            Err(error) => tracing::warn!(%error, "a signal cannot be handled; it ends the process at once"),
        }
    }
}

/// Cancels `stop` on Ctrl-C.
#[cfg(not(unix))]
pub(super) fn stop_on_signal(stop: &CancellationToken) {
    let stop = stop.clone();
    tokio::spawn(async move {
        if tokio::signal::ctrl_c().await.is_ok() {
            stop.cancel();
        }
    });
}
