//! Serving stdin and stdout until the client or a signal ends the process.

use std::{
    io, panic,
    sync::{Arc, Mutex, mpsc},
    thread,
    time::Duration,
};

use tokio_util::sync::CancellationToken;

use super::{
    connection::{STREAMS, Server},
    panics::log_panics,
    signals::stop_on_signal,
};

/// How long the threads for stdin and stdout may take to start.
const STREAMS_START: Duration = Duration::from_secs(20);
/// Exit code of a server that could not start, as of an unusable configuration.
const NOT_STARTED: u8 = 2;

/// Serves stdin and stdout until the client closes the input or SIGTERM, SIGINT, SIGHUP or SIGXCPU arrives; returns
/// the exit code: 0 at the end, 1 for a service that failed, 2 for one that could not start. The caller should return
/// from `main` with it at once: threads that hang in a system call are left behind on purpose.
pub fn run_stdio(server: Server) -> u8 {
    log_panics();
    let runtime = match Server::runtime() {
        Ok(runtime) => runtime,
        Err(error) => return without_files(&error),
    };
    let commits = Arc::clone(&server.dispatcher.commits);
    let indexes = server.kept_indexes();
    let stop = CancellationToken::new();
    let entered = runtime.enter();
    if let Err(error) = stop_on_signal(&stop) {
        return without_files(&error);
    }
    drop(entered);
    let ended: Result<_, String> = runtime.block_on(async {
        let (input, output) = rmcp::transport::io::stdio_pipes();
        // Only the debug form says whether they are pipes, which need no threads.
        if !format!("{input:?}").contains("Pipe(") {
            reserve_threads().await?;
        }
        // A child, as the service cancels its token at its end.
        Ok(server.serve(input, output, stop.child_token()).await)
    });
    if !commits.finish() {
        tracing::warn!("a change in progress at the end was left incomplete");
    }
    if matches!(ended, Ok(Ok(()))) {
        runtime.block_on(indexes.finish_unless(&stop));
    }
    runtime.shutdown_background();
    match ended {
        Ok(Ok(())) => 0,
        Ok(Err(error)) => {
            tracing::error!(error, "the server ended");
            1
        }
        Err(error) => {
            tracing::error!(error, "the server cannot start");
            NOT_STARTED
        }
    }
}

fn without_files(error: &io::Error) -> u8 {
    tracing::error!(%error, "the server cannot start: it needs a few open files (ulimit -n) for its event loop");
    NOT_STARTED
}

/// Makes both threads for the standard streams now, while an error can still be reported: without one, tokio keeps an
/// answer waiting forever behind the read of the next request, or panics.
async fn reserve_threads() -> Result<(), String> {
    const NONE: &str = "the system does not let it start threads for stdin and stdout (ulimit -u, or a container's \
                        limit of processes)";
    // If only one can be had, tokio queues the second job behind the first and says nothing.
    if !can_start_both() {
        return Err(NONE.to_owned());
    }
    let reserve = || {
        let (second, first) = mpsc::channel();
        let pair = tokio::task::spawn_blocking(move || first.recv_timeout(STREAMS_START).is_ok());
        drop(tokio::task::spawn_blocking(move || second.send(())));
        pair
    };
    // tokio panics if it gets no thread at all.
    let both = match panic::catch_unwind(reserve) {
        Ok(pair) => pair.await.unwrap_or(false),
        Err(_) => false,
    };
    if both { Ok(()) } else { Err(NONE.to_owned()) }
}

/// Whether the system starts as many threads at the same time as the standard streams need.
fn can_start_both() -> bool {
    let hold = Arc::new(Mutex::new(()));
    let closed = hold.lock();
    let start = |_| {
        let hold = Arc::clone(&hold);
        thread::Builder::new().name("check".to_owned()).spawn(move || drop(hold.lock())).ok()
    };
    let started: Vec<_> = (0..STREAMS).filter_map(start).collect();
    drop(closed);
    let both = started.len() == STREAMS;
    // One that has not ended yet would count against the limit a moment later.
    for thread in started {
        let _ = thread.join();
    }
    both
}
