//! What one call may use: workspace, session, settings, its stop signal and its progress sink.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError},
    time::Duration,
};

use change_set::{WaitLimit, Workspace};
use confined_fs::stop::{StopReason, StopSignal};
use confined_fs::{AccessError, Snapshot, WorkspacePath, escape::escape_difference};
use lsp_check::LanguageServers;
use text_file::{look_alike::is_blank, shorten};
use tree_search::PathIndex;

use crate::{audit::ChangeLog, session::Session};

use super::{
    answer_budget::AnswerBudget,
    error::{Kind, ToolError},
};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReadBeforeWrite {
    #[default]
    Strict,
    Off,
}

/// Bytes of the largest file that a search of a directory reads.
pub(crate) const MAX_SEARCH_FILE_SIZE: u64 = 16 << 20;

/// The longest wait that the server's option and the client allow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LongestWait {
    /// How long a call may wait for something outside of the server.
    pub limit: Duration,
    /// Whose limit that is, for the answer to a call that asked for more.
    pub by: WaitBound,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitBound {
    /// The server, where its own limit is the shorter one.
    Server,
    /// The client, which ends each call after some time. With its name, if that is known.
    Client(Option<&'static str>, Duration),
}

impl Default for LongestWait {
    /// For a client that is not known: most are built on an SDK that ends a call after 60 s.
    fn default() -> Self {
        Self { limit: Duration::from_secs(50), by: WaitBound::Client(None, Duration::from_secs(60)) }
    }
}

impl LongestWait {
    /// The same, within a limit of the server's.
    #[must_use]
    pub fn within(self, limit: Duration) -> Self {
        if limit < self.limit { Self { limit, by: WaitBound::Server } } else { self }
    }

    pub fn reason(&self) -> String {
        match self.by {
            WaitBound::Server => "the server's limit".to_owned(),
            WaitBound::Client(Some(name), after) => format!("{name} ends a call after {} s", after.as_secs()),
            WaitBound::Client(None, after) => format!("many clients end a call after {} s", after.as_secs()),
        }
    }
}

#[derive(Clone, Debug)]
pub struct Settings {
    /// Bytes of text in one answer, for every client; `None` for a size that depends on the client.
    pub max_output: Option<usize>,
    pub structured_output: bool,
    pub read_before_write: ReadBeforeWrite,
    pub diagnostics: bool,
    /// Bytes of the largest file that `edit` and `write` take.
    pub max_file_size: u64,
    /// Whether `read` shows images; else it only says what they are.
    pub images: bool,
    /// Bytes of images in one answer, whatever the client takes; larger ones are scaled or compressed. `None` for what
    /// suits the client.
    pub max_image_size: Option<usize>,
    /// Threads that one search uses; `None` for as many as there are processors, up to eight.
    pub search_threads: Option<usize>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            max_output: None,
            structured_output: false,
            read_before_write: ReadBeforeWrite::Strict,
            diagnostics: true,
            max_file_size: 64 << 20,
            images: true,
            max_image_size: None,
            search_threads: None,
        }
    }
}

impl Settings {
    /// Threads that one search uses. Counting the processors costs dozens of system calls, so that is
    /// left to the first search.
    pub fn search_threads(&self) -> usize {
        static PROCESSORS: OnceLock<usize> = OnceLock::new();
        self.search_threads.unwrap_or_else(|| {
            *PROCESSORS.get_or_init(|| std::thread::available_parallelism().map_or(2, usize::from).min(8))
        })
    }
}

#[derive(Clone, Debug)]
pub struct ProgressUpdate {
    /// How much is done; grows from update to update.
    pub done: u64,
    pub total: Option<u64>,
    pub message: String,
}

/// Where progress goes; `None` where the client did not ask.
pub type ProgressSink = Option<Arc<dyn Fn(ProgressUpdate) + Send + Sync>>;

/// Whether an attempt at a call may wait for a disk, a lock, another machine or another process, or work for long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blocking {
    /// It may: it has a thread to itself.
    Allowed,
    /// It must not: it runs on the thread that reads the client's requests. Where it would have to, it fails, and the
    /// call is planned again on a thread where it may.
    Never,
}

/// Everything a call may use; nothing is ambient.
#[derive(Clone)]
pub struct CallContext {
    pub workspace: Arc<Workspace>,
    pub session: Arc<Session>,
    pub path_index: Arc<PathIndex>,
    pub settings: Arc<Settings>,
    pub budget: AnswerBudget,
    /// How long the call may wait for something outside of the server.
    pub longest_wait: LongestWait,
    pub stop: StopSignal,
    pub progress: ProgressSink,
    /// Who called, as far as the request or the process says so: for the history, and for those whose content does not
    /// know the change. No right depends on it.
    pub by: Option<Arc<str>>,
    /// Whether `by` names one thread: else several agents of one client or user may have it.
    pub is_individual: bool,
    /// Records the changes of the call for the audit; `None` where nobody records it.
    pub changes: Option<Arc<ChangeLog>>,
    pub language_servers: Option<Arc<LanguageServers>>,
    pub references: Arc<References>,
    pub offers_undo: bool,
    pub blocking: Blocking,
    /// Called when the call is about to wait for another one's change: it gives up its place among
    /// those that run. `None` where it has none, or keeps it.
    pub yields: Option<Arc<dyn Fn() + Send + Sync>>,
}

impl CallContext {
    /// A call of an unknown client that starts now, may take `limit` and may block, without progress.
    pub fn new(
        workspace: Arc<Workspace>,
        session: Arc<Session>,
        path_index: Arc<PathIndex>,
        settings: Arc<Settings>,
        limit: Duration,
    ) -> Self {
        Self {
            workspace,
            session,
            path_index,
            budget: AnswerBudget {
                image_bytes: settings.max_image_size.unwrap_or(AnswerBudget::IMAGE_BYTES),
                ..settings.max_output.map_or(AnswerBudget::UNKNOWN_CLIENT, AnswerBudget::bytes)
            },
            settings,
            longest_wait: LongestWait::default(),
            stop: StopSignal::after(limit),
            progress: None,
            by: None,
            is_individual: false,
            changes: None,
            language_servers: None,
            references: Arc::default(),
            offers_undo: false,
            blocking: Blocking::Allowed,
            yields: None,
        }
    }

    /// A call on `workspace` with default settings and a session of its own that remembers nothing on the disk; it has
    /// an hour. [`Self::next_call`] gives those of the calls after it.
    pub fn on(workspace: Workspace) -> Self {
        let limit = Duration::from_secs(3600);
        Self::new(Arc::new(workspace), Arc::new(Session::new(None)), Arc::default(), Arc::default(), limit)
    }

    /// The context of another call of the same caller, which starts now and may take as long.
    #[must_use]
    pub fn next_call(&self) -> Self {
        Self { stop: StopSignal::after(self.stop.limit()), references: Arc::default(), ..self.clone() }
    }

    /// Fails when the call was cancelled or has used up its time; cheap enough for inner loops.
    pub fn check(&self) -> Result<(), ToolError> {
        match self.stop.stopped() {
            None => Ok(()),
            Some(StopReason::Cancelled) => Err(ToolError::cancelled()),
            Some(StopReason::Deadline) => Err(ToolError::new(
                Kind::TimedOut,
                format!("the time limit of {:.0?} was reached before anything was changed", self.stop.limit()),
            )
            .hint("ask for less: a narrower path, a smaller range or a more exact pattern")),
        }
    }

    /// The file, of at most as many bytes as may be changed; what is still as it was last seen is not hashed
    /// again.
    pub fn read_to_change(&self, path: &WorkspacePath) -> Result<Snapshot, AccessError> {
        self.read_known(path, false)
    }

    pub fn read_to_append(&self, path: &WorkspacePath) -> Result<Snapshot, AccessError> {
        self.read_known(path, true)
    }

    fn read_known(&self, path: &WorkspacePath, may_grow: bool) -> Result<Snapshot, AccessError> {
        let known = |real: &WorkspacePath, bytes: &[u8]| self.session.ledger.revision_of(real, bytes);
        self.workspace.read_known(path, self.settings.max_file_size, may_grow, known)
    }

    /// How long a change of this call waits for others: until the call is cancelled or out of time.
    pub fn wait_limit(&self) -> WaitLimit {
        let (stop, yields) = (self.stop.clone(), self.yields.clone());
        WaitLimit::until(
            move || stop.stopped().is_some(),
            move || {
                if let Some(yields) = &yields {
                    yields();
                }
            },
        )
    }

    pub fn report(&self, done: u64, total: Option<u64>, message: impl Into<String>) {
        if let Some(sink) = &self.progress {
            sink(ProgressUpdate { done, total, message: message.into() });
        }
    }
}

/// Characters that are shown of what was given.
const MAX_SHOWN: usize = 200;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PathReference {
    /// The end of it that was given; `None` for a file with the name of one that is created.
    pub(crate) given: Option<String>,
    pub(crate) path: WorkspacePath,
}

impl PathReference {
    pub(crate) fn sentence(&self) -> String {
        match self {
            Self { given: Some(given), path } => {
                let name = path.relative().to_string_lossy();
                let blanks: BTreeSet<char> = name.chars().filter(|letter| is_blank(*letter)).collect();
                let blanks = blanks.into_iter().map(|blank| format!("U+{:04X}", u32::from(blank)));
                let blanks = blanks.collect::<Vec<_>>().join(", ");
                let with = if blanks.is_empty() { String::new() } else { format!(", with {blanks}") };
                format!("({} is {path:#}{with})", echo(given))
            }
            Self { given: None, path } => format!("({path:#} has the same name and was not changed)"),
        }
    }
}

#[derive(Debug, Default)]
pub struct References(Mutex<Vec<PathReference>>);

impl References {
    pub(crate) fn list(&self) -> MutexGuard<'_, Vec<PathReference>> {
        // Each change is a single push.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn resolved(&self, text: &str) -> Option<WorkspacePath> {
        self.list().iter().find(|one| one.given.as_deref() == Some(text)).map(|one| one.path.clone())
    }

    pub(crate) fn add(&self, one: PathReference) {
        let mut list = self.list();
        if !list.contains(&one) {
            list.push(one);
        }
    }
}

/// A path as it was given, on one line and of at most 200 characters.
pub(crate) fn echo(given: &str) -> String {
    escape_difference(shorten(given, MAX_SHOWN).as_ref().as_ref()).into_owned()
}
