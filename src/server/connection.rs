//! One server for one client: the runtime, the transport and the handler put together.

use std::{io, sync::Arc, time::Duration};

use rmcp::service::{QuitReason, serve_directly_with_ct};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    runtime::{Builder, Runtime},
};
use tokio_util::sync::CancellationToken;

use super::{
    dispatch::Dispatcher,
    handler::Handler,
    instructions,
    kept_indexes::KeptIndexes,
    listen_service::ListenService,
    roles::{RoleParts, Served},
    services::Services,
    stdio::{OutputQueue, SafeStdio},
};

/// How long a cancelled service may take to flush its answers; clients kill a server that lingers.
const SHUTDOWN: Duration = Duration::from_millis(900);
/// Threads of the runtime: for stdin and stdout, if they are no pipes.
pub(super) const STREAMS: usize = 2;
/// How long such a thread stays: always, as a new one may not be had.
const STREAMS_STAY: Duration = Duration::from_secs(u32::MAX as u64);

/// A server that is not connected yet.
pub struct Server {
    pub(super) dispatcher: Arc<Dispatcher>,
    instructions: String,
    /// What the clients of roles have, in the order in which they are tried.
    roles: Vec<RoleParts>,
}

impl Server {
    /// A server of `services`.
    pub fn new(services: Services) -> Self {
        let roots = instructions::roots(&services.workspace);
        let text = || instructions::text(&services.toolbox, &roots);
        let instructions = services.options.unconfigured.clone().unwrap_or_else(text);
        Self::with_instructions(services, instructions)
    }

    pub(super) fn with_instructions(services: Services, instructions: String) -> Self {
        Self { dispatcher: Arc::new(Dispatcher::new(services)), instructions, roles: Vec::new() }
    }

    /// The server with `roles` for clients by their names, the first that fits.
    #[must_use]
    pub fn with_roles(self, roles: Vec<RoleParts>) -> Self {
        Self { roles, ..self }
    }

    /// What its searches keep.
    pub fn kept_indexes(&self) -> KeptIndexes {
        let services = self.roles.iter().map(|role| &role.services).chain([&*self.dispatcher.services]);
        KeptIndexes::new(
            services.map(|services| (Arc::clone(&services.path_index), Arc::clone(&services.workspace))).collect(),
        )
    }

    /// One thread reads requests and writes answers; calls have threads of their own.
    pub(super) fn runtime() -> io::Result<Runtime> {
        Builder::new_current_thread().enable_all().max_blocking_threads(STREAMS).thread_keep_alive(STREAMS_STAY).build()
    }

    /// Serves one client until its input ends or `stop` is cancelled, and flushes the answers.
    pub(super) async fn serve<R, W>(self, input: R, output: W, stop: CancellationToken) -> Result<(), String>
    where
        R: AsyncRead + Send + Unpin + 'static,
        W: AsyncWrite + Send + Unpin + 'static,
    {
        let queue = OutputQueue::start(output, stop.clone());
        let input_ended = self.dispatcher.waits.input_ended.clone();
        let options = &self.dispatcher.services.options;
        let transport = SafeStdio::new(input, queue.clone(), options, stop.clone(), input_ended.clone());
        let mut served: Vec<Served> =
            self.roles.into_iter().map(|role| Served::of_role(role, &self.dispatcher)).collect();
        served.push(Served::new(None, self.dispatcher, self.instructions));
        let handler = ListenService::new(Handler::new(served, queue, [input_ended, stop.clone()]));
        // Without rmcp's own handshake: it ends the process on a notification that comes first, and does not let a
        // client that began with one protocol version go on with another. The handler checks each request instead.
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
