//! The protocol: JSON-RPC over stdio, both lifecycles, and the calls that run behind it.
//!
//! The only layer that names rmcp and tokio. A request arrives as a line (`stdio`), is answered by the
//! `handler`, and a tool call goes through `dispatch`, which owns its permit, its clock, its
//! cancellation and its panics. What a tool returns becomes a result in `convert`. Nothing here
//! touches a file or knows what a tool does.

mod audited;
mod backpressure;
mod confirm;
mod convert;
mod dispatch;
mod gates;
mod handler;
mod in_process;
mod inline;
mod instructions;
mod pools;
mod progress;
mod stdio;
#[cfg(test)]
mod testing;
mod threads;

use std::{
    panic,
    sync::{Arc, mpsc},
    time::Duration,
};

use rmcp::service::{QuitReason, serve_directly_with_ct};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    runtime::{Builder, Runtime},
};
use tokio_util::sync::CancellationToken;

pub use confirm::Confirm;
pub use in_process::{Block, CallOutcome, InProcessClient, call_once, list_once};
#[cfg(all(any(test, fuzzing), unix))]
pub(crate) use stdio::probe;

use crate::{
    audit::Audit,
    search::PathIndex,
    session::Session,
    tools::{CallContext, Settings, Toolbox},
    workspace::Workspace,
};

use self::{
    confirm::Confirmation,
    gates::Gates,
    handler::Handler,
    stdio::{Outbox, SafeStdio},
};

/// The name of the threads that calls run on.
const CALL_THREAD: &str = "call";
/// How long a cancelled service may take to flush its answers; clients kill a server that lingers.
const SHUTDOWN: Duration = Duration::from_millis(900);

/// How long a change that has begun may take beyond that: without it, its temporary file stays.
const FINISH: Duration = Duration::from_secs(2);

/// Threads for stdin and stdout, which stay, and how long they may take to start.
const STREAMS: usize = 2;
const STREAMS_STAY: Duration = Duration::from_secs(u32::MAX as u64);
const STREAMS_START: Duration = Duration::from_secs(20);

/// How the server runs its calls.
#[derive(Clone, Debug)]
pub struct Options {
    /// Heavy calls (searches) that run at once; `None` for twice the processors, at least four. Light
    /// calls have a bound of their own, so that a read never waits behind searches.
    pub max_concurrent: Option<usize>,
    /// How long one call may plan; a commit that has begun is never cut short.
    pub deadline: Duration,
    /// Bytes of the longest message that is read.
    pub max_line: usize,
    /// How long calls that are running when the input ends may take to answer.
    pub grace: Duration,
    /// Which changes a person is asked about before they are made.
    pub confirm: Confirm,
    /// How long a person may take to answer; `deadline` does not run meanwhile.
    pub confirm_limit: Duration,
    /// Where calls are recorded, if anywhere.
    pub audit: Option<Arc<Audit>>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            max_concurrent: None,
            deadline: Duration::from_secs(30),
            max_line: 16 << 20,
            grace: Duration::from_secs(5),
            confirm: Confirm::Never,
            confirm_limit: Duration::from_secs(300),
            audit: None,
        }
    }
}

impl Options {
    /// Heavy calls that run at once.
    pub fn heavy_calls(&self) -> usize {
        heavy_calls(self.max_concurrent)
    }
}

/// The bound on heavy calls: `limit`, or twice the processors and at least four.
fn heavy_calls(limit: Option<usize>) -> usize {
    let twice = || (2 * std::thread::available_parallelism().map_or(2, usize::from)).max(4);
    limit.unwrap_or_else(twice).max(1)
}

/// What a server is made of.
#[derive(Debug)]
pub struct Parts {
    /// The sandbox.
    pub workspace: Arc<Workspace>,
    /// What the session has seen.
    pub session: Arc<Session>,
    /// What searches keep between calls.
    pub path_index: Arc<PathIndex>,
    /// The tools that are offered.
    pub toolbox: Toolbox,
    /// The tools' configuration.
    pub settings: Arc<Settings>,
    /// How calls are run.
    pub options: Options,
}

impl Parts {
    /// What a call that starts now and may take `limit` may use.
    pub fn context(&self, limit: Duration) -> CallContext {
        let Self { workspace, session, path_index, settings, .. } = self;
        CallContext::new(workspace.clone(), session.clone(), path_index.clone(), settings.clone(), limit)
    }
}

/// A server that has not been connected yet.
#[derive(Debug)]
pub struct Server {
    parts: Arc<Parts>,
    gates: Arc<Gates>,
    confirmation: Arc<Confirmation>,
    instructions: String,
}

impl Server {
    /// A server of `parts`.
    pub fn new(parts: Parts) -> Self {
        let roots = instructions::roots(&parts.workspace);
        let instructions = instructions::text(&parts.toolbox, &roots);
        Self::with_instructions(parts, instructions)
    }

    fn with_instructions(parts: Parts, instructions: String) -> Self {
        let gates = Arc::new(Gates::new(parts.options.max_concurrent));
        let confirmation = Arc::new(Confirmation::new(parts.options.confirm, parts.options.confirm_limit));
        Self { parts: Arc::new(parts), gates, confirmation, instructions }
    }

    /// One thread serves the wire.
    fn runtime() -> std::io::Result<Runtime> {
        // Calls have threads of their own; two of the runtime's for the standard streams where they
        // are no pipes.
        Builder::new_current_thread().enable_all().max_blocking_threads(STREAMS).thread_keep_alive(STREAMS_STAY).build()
    }

    /// Serves one client until its input ends or `stop` is cancelled, and flushes the answers.
    async fn serve<R, W>(self, input: R, output: W, stop: CancellationToken) -> Result<(), String>
    where
        R: AsyncRead + Send + Unpin + 'static,
        W: AsyncWrite + Send + Unpin + 'static,
    {
        let options = self.parts.options.clone();
        let outbox = Outbox::start(output, stop.clone());
        let transport = SafeStdio::new(input, outbox.clone(), &options, stop.clone());
        let handler = Handler::new(self, outbox);
        // Without rmcp's own handshake: it ends the process on a notification that comes first, and
        // keeps a client that began in one era from going on in the other. The handler's `opened`
        // check takes its place.
        let service = serve_directly_with_ct(handler, transport, None, stop.clone());
        let overdue = async {
            stop.cancelled().await;
            tokio::time::sleep(SHUTDOWN).await;
        };
        tokio::select! {
            ended = service.waiting() => match ended {
                Ok(QuitReason::JoinError(error)) | Err(error) => Err(format!("the service failed: {error}")),
                Ok(_) => Ok(()),
            },
            () = overdue => {
                tracing::warn!("calls were still running at shutdown and were abandoned");
                Ok(())
            }
        }
    }
}

/// Serves stdin and stdout until the client closes the input or SIGTERM, SIGINT, SIGHUP or SIGXCPU arrives; returns
/// the exit code. The caller should return from `main` with it at once: threads that hang in a
/// system call are left behind on purpose.
pub fn run_stdio(server: Server) -> u8 {
    log_panics();
    let runtime = match Server::runtime() {
        Ok(runtime) => runtime,
        Err(error) => {
            tracing::error!(%error, "the runtime could not be started");
            return 1;
        }
    };
    let gates = Arc::clone(&server.gates);
    let ended = runtime.block_on(async {
        let stop = CancellationToken::new();
        stop_on_signal(&stop);
        let (input, output) = rmcp::transport::io::stdio_pipes();
        // What waits for nothing says so in its debug form alone.
        if !format!("{input:?}").contains("Pipe(") {
            reserve_threads().await?;
        }
        server.serve(input, output, stop).await
    });
    runtime.shutdown_background();
    if !gates.pools.commits().wait(FINISH) {
        tracing::warn!("a change was under way at the end and was left half done");
    }
    match ended {
        Ok(()) => 0,
        Err(error) => {
            tracing::error!(error, "the server ended");
            1
        }
    }
}

/// Makes both threads of the standard streams now, where it can be said that they cannot be had: tokio leaves
/// an answer for ever behind the read that waits for the next request, or panics.
async fn reserve_threads() -> Result<(), String> {
    const NONE: &str =
        "the system lets it start no threads for stdin and stdout (ulimit -u, or a container's limit of processes)";
    // Where the limit is reached already this says so at once: tokio keeps the second of its threads waiting
    // for the first without a word.
    if !can_start_both() {
        return Err(NONE.to_owned());
    }
    let reserve = || {
        let (second, first) = mpsc::channel();
        let pair = tokio::task::spawn_blocking(move || first.recv_timeout(STREAMS_START).is_ok());
        drop(tokio::task::spawn_blocking(move || second.send(())));
        pair
    };
    // It panics where there is no thread at all.
    let both = match panic::catch_unwind(reserve) {
        Ok(pair) => pair.await.unwrap_or(false),
        Err(_) => false,
    };
    if both {
        return Ok(());
    }
    Err(NONE.to_owned())
}

/// Whether the system makes as many threads at the same time as the standard streams need.
fn can_start_both() -> bool {
    let hold = Arc::new(std::sync::Mutex::new(()));
    let closed = hold.lock();
    let start = |_| {
        let hold = Arc::clone(&hold);
        std::thread::Builder::new().name("probe".to_owned()).spawn(move || drop(hold.lock())).ok()
    };
    let started: Vec<_> = (0..STREAMS).filter_map(start).collect();
    drop(closed);
    let both = started.len() == STREAMS;
    // What has not ended yet would count against the limit a moment later.
    for thread in started {
        let _ = thread.join();
    }
    both
}

/// A panic is one line of the log; the dispatcher answers the call that it was in.
fn log_panics() {
    // Not the usual hook, which would wait for a reader of stderr.
    panic::set_hook(Box::new(|panic| {
        let place = panic.location().map(ToString::to_string).unwrap_or_default();
        tracing::error!(place, reason = panic_text(panic.payload()), "panicked");
    }));
}

fn panic_text(payload: &(dyn std::any::Any + Send)) -> &str {
    payload
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| payload.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("without a text")
}

#[cfg(unix)]
fn stop_on_signal(stop: &CancellationToken) {
    use tokio::signal::unix::{SignalKind, signal};
    // SIGHUP: the terminal, or the session of the client, is gone. SIGXCPU: the last warning of RLIMIT_CPU.
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

#[cfg(not(unix))]
fn stop_on_signal(stop: &CancellationToken) {
    let stop = stop.clone();
    tokio::spawn(async move {
        if tokio::signal::ctrl_c().await.is_ok() {
            stop.cancel();
        }
    });
}
