//! One server for one client: the runtime, the transport and the handler put together.

use std::{
    io, panic,
    sync::{Arc, Mutex, mpsc},
    thread,
    time::Duration,
};

use change_set::Workspace;
use rmcp::service::{QuitReason, ServiceExt as _, serve_directly_with_ct};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    runtime::{Builder, Runtime},
    sync::oneshot,
    task::JoinError,
};
use tokio_util::sync::CancellationToken;
use tree_search::PathIndex;

use super::{
    dispatch::Dispatcher,
    handler::Handler,
    instructions,
    roles::{RoleParts, Served},
    services::Services,
    stdio::{OutputQueue, SafeStdio},
    threads::log_panics,
};

/// How long a cancelled service may take to flush its answers; clients kill a server that lingers.
const SHUTDOWN_LIMIT: Duration = Duration::from_millis(900);
/// Threads of the runtime: for stdin and stdout, if they are no pipes.
pub(super) const STREAM_THREADS: usize = 2;
/// How long such a thread stays: always, as a new one may not be had.
const STREAMS_STAY: Duration = Duration::from_secs(u32::MAX as u64);

pub struct Server {
    pub(super) dispatcher: Arc<Dispatcher>,
    /// The services of each client, in the order in which they are tried; the last are for all others.
    served: Vec<Served>,
}

impl Server {
    pub fn new(services: Services) -> Self {
        let text = || instructions::text(&services.toolbox, &services.workspace);
        let instructions = services.unconfigured().unwrap_or_else(text);
        Self::with_instructions(services, instructions)
    }

    pub(super) fn with_instructions(services: Services, instructions: String) -> Self {
        let dispatcher = Arc::new(Dispatcher::new(services));
        Self { served: vec![Served::new(None, Arc::clone(&dispatcher), instructions)], dispatcher }
    }

    #[must_use]
    pub fn with_roles(mut self, roles: Vec<RoleParts>) -> Self {
        let of_roles = roles.into_iter().map(|role| Served::of_role(role, &self.dispatcher));
        self.served.splice(..0, of_roles);
        self
    }

    pub fn kept_indexes(&self) -> KeptIndexes {
        let services = self.served.iter().map(|served| &served.dispatcher.services);
        KeptIndexes(services.map(|one| (Arc::clone(&one.path_index), Arc::clone(&one.workspace))).collect())
    }

    /// One thread reads requests and writes answers; calls have threads of their own.
    pub(super) fn runtime() -> io::Result<Runtime> {
        Builder::new_current_thread()
            .enable_all()
            .max_blocking_threads(STREAM_THREADS)
            .thread_keep_alive(STREAMS_STAY)
            .build()
    }

    /// Serves one client until its input ends or `stop` is cancelled, and flushes the answers; on a runtime of tokio
    /// with time.
    ///
    /// # Errors
    /// When the service fails.
    pub async fn serve<R, W>(self, input: R, output: W, stop: CancellationToken) -> Result<(), JoinError>
    where
        R: AsyncRead + Send + Unpin + 'static,
        W: AsyncWrite + Send + Unpin + 'static,
    {
        let queue = OutputQueue::start(output, stop.clone());
        let options = &self.dispatcher.services.options;
        let input_ended = self.dispatcher.shared.input_ended.clone();
        let transport = SafeStdio::new(input, queue.clone(), options, stop.clone(), input_ended);
        // Its futures are boxed: rmcp moves them several times on the way to a task, and they hold the largest of all requests.
        let handler = Handler::new(self.served, queue).into_dyn();
        // Without rmcp's own handshake: it ends the process on a notification that comes first, and does not let a
        // client that began with one protocol version go on with another. The handler checks each request instead.
        let service = serve_directly_with_ct(handler, transport, None, stop.clone());
        let overdue = async {
            stop.cancelled().await;
            tokio::time::sleep(SHUTDOWN_LIMIT).await;
        };
        tokio::select! {
            ended = service.waiting() => match ended {
                Ok(QuitReason::JoinError(error)) | Err(error) => Err(error),
                Ok(_) => Ok(()),
            },
            () = overdue => {
                tracing::warn!("calls were still running at shutdown and were abandoned");
                Ok(())
            }
        }
    }
}

// What searches keep, stored at the end of the process for those that follow.
//
// All calls are answered by then, so nobody waits for an answer; a signal ends the process at once.

#[derive(Debug)]
pub struct KeptIndexes(Vec<(Arc<PathIndex>, Arc<Workspace>)>);

impl KeptIndexes {
    /// Goes on with what is being read for an index, for about a second or until `stop` is cancelled, and stores it.
    pub(super) async fn finish_unless(self, stop: &CancellationToken) {
        if stop.is_cancelled() || !self.is_unfinished() {
            return;
        }
        let (sender, finished) = oneshot::channel();
        // Not on the thread of the runtime, which has to see a signal meanwhile.
        let spawned = thread::Builder::new().name("store".to_owned()).spawn(move || {
            for (index, workspace) in &self.0 {
                index.finish(workspace);
            }
            let _ = sender.send(());
        });
        // Where no thread can be had nothing is stored: later searches walk, and find the same.
        if spawned.is_ok() {
            tokio::select! {
                _ = finished => {}
                () = stop.cancelled() => {}
            }
        }
    }

    pub(super) fn is_unfinished(&self) -> bool {
        self.0.iter().any(|(index, workspace)| index.is_unfinished(workspace))
    }
}

// Serving stdin and stdout until the client or a signal ends the process.

/// How long the threads for stdin and stdout may take to start.
const STREAMS_LIMIT: Duration = Duration::from_secs(20);
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
    let shared = Arc::clone(&server.dispatcher.shared);
    let indexes = server.kept_indexes();
    let stop = CancellationToken::new();
    // The socket of the signals needs the reactor.
    let entered = runtime.enter();
    // Before the first request is read: the TypeScript client 2.x sends `server/discover` to a process that it ends
    // with SIGTERM, and starts another one. That must be a plain end.
    if let Err(error) = stop_on_signal(&stop) {
        return without_files(&error);
    }
    drop(entered);
    let ended: io::Result<_> = runtime.block_on(async {
        let (input, output) = rmcp::transport::io::stdio_pipes();
        // Only the debug form says whether they are pipes, which need no threads.
        if !format!("{input:?}").contains("Pipe(") {
            reserve_threads().await?;
        }
        // A child, as the service cancels its token at its end.
        Ok(server.serve(input, output, stop.child_token()).await)
    });
    if !shared.commits.finish() {
        tracing::warn!("a change in progress at the end was left incomplete");
    }
    if matches!(ended, Ok(Ok(()))) {
        runtime.block_on(indexes.finish_unless(&stop));
    }
    // Dropped as usual it would wait for a thread that hangs in a read of stdin.
    runtime.shutdown_background();
    match ended {
        Ok(Ok(())) => 0,
        Ok(Err(error)) => {
            tracing::error!(error = format!("the service failed: {error}"), "the server ended");
            1
        }
        Err(error) => {
            tracing::error!(error = error.to_string(), "the server cannot start");
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
async fn reserve_threads() -> io::Result<()> {
    const NO_THREADS: &str = "the system does not let it start threads for stdin and stdout (ulimit -u, or a container's \
                        limit of processes)";
    // If only one can be had, tokio queues the second job behind the first and says nothing.
    if !can_start_both() {
        return Err(io::Error::other(NO_THREADS));
    }
    let reserve = || {
        let (second, first) = mpsc::channel();
        let pair = tokio::task::spawn_blocking(move || first.recv_timeout(STREAMS_LIMIT).is_ok());
        drop(tokio::task::spawn_blocking(move || second.send(())));
        pair
    };
    // tokio panics if it gets no thread at all.
    let both = match panic::catch_unwind(reserve) {
        Ok(pair) => pair.await.unwrap_or(false),
        Err(_) => false,
    };
    if both { Ok(()) } else { Err(io::Error::other(NO_THREADS)) }
}

/// Whether the system starts as many threads at the same time as the standard streams need.
fn can_start_both() -> bool {
    let hold = Arc::new(Mutex::new(()));
    let closed = hold.lock();
    let start = |_| {
        let hold = Arc::clone(&hold);
        thread::Builder::new().name("check".to_owned()).spawn(move || drop(hold.lock())).ok()
    };
    let started: Vec<_> = (0..STREAM_THREADS).filter_map(start).collect();
    drop(closed);
    let both = started.len() == STREAM_THREADS;
    // One that has not ended yet would count against the limit a moment later.
    for thread in started {
        let _ = thread.join();
    }
    both
}

// The signals that end the server.

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
    // As tokio demands of `from_std`: a blocking read would stop the only thread.
    reader.set_nonblocking(true)?;
    let received = tokio::net::UnixStream::from_std(reader.try_clone()?)?;
    let none: [i32; 0] = [];
    let delivery = SignalDelivery::with_pipe(reader, writer, SignalOnly, none)?;
    // One by one: a signal that cannot be handled must not cost the others.
    for signal in [SIGTERM, SIGINT, SIGHUP, SIGXCPU] {
        if let Err(error) = delivery.handle().add_signal(signal) {
            warn_unhandled(&error);
        }
    }
    cancel_after(stop, async move {
        // Its drop would take the handlers of the signals away.
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
