//! The signals that end the server.

use std::io;

use tokio_util::sync::CancellationToken;

/// Cancels `stop` when the process is asked to end: SIGTERM, SIGINT, SIGHUP (the terminal or the client's session is
/// gone) and SIGXCPU (the last warning of `RLIMIT_CPU`, setrlimit(2)).
///
/// tokio's own signals would make a channel for each of the 65 signals that there are, 32 KiB at each start.
#[cfg(unix)]
pub(super) fn stop_on_signal(stop: &CancellationToken) -> io::Result<()> {
    use signal_hook::{
        consts::{SIGHUP, SIGINT, SIGTERM, SIGXCPU},
        iterator::{backend::SignalDelivery, exfiltrator::SignalOnly},
    };
    use std::os::unix::net::UnixStream;
    let (reader, writer) = UnixStream::pair()?;
    reader.set_nonblocking(true)?;
    let received = tokio::net::UnixStream::from_std(reader.try_clone()?)?;
    let none: [i32; 0] = [];
    let delivery = SignalDelivery::with_pipe(reader, writer, SignalOnly, none)?;
    for signal in [SIGTERM, SIGINT, SIGHUP, SIGXCPU] {
        if let Err(error) = delivery.handle().add_signal(signal) {
            warn_unhandled(&error);
        }
    }
    cancel_after(stop, async move {
        let _delivery = delivery;
        // What was sent is not read: one signal is enough.
        received.readable().await.ok()
    });
    Ok(())
}

/// Cancels `stop` on Ctrl-C, on Ctrl-Break (which a client may send to its process group), and when the console window
/// is closed or the person logs off: Windows then waits up to five seconds, see
/// [`HandlerRoutine`](https://learn.microsoft.com/windows/console/handlerroutine).
#[cfg(windows)]
pub(super) fn stop_on_signal(stop: &CancellationToken) -> io::Result<()> {
    use tokio::signal::windows::{ctrl_break, ctrl_c, ctrl_close, ctrl_logoff, ctrl_shutdown};
    macro_rules! stop_on {
        ($($signal:ident),*) => {$(match $signal() {
            Ok(mut signals) => cancel_after(stop, async move { signals.recv().await }),
            Err(error) => warn_unhandled(&error),
        })*};
    }
    stop_on!(ctrl_c, ctrl_break, ctrl_close, ctrl_logoff, ctrl_shutdown);
    Ok(())
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
