//! The log on stderr, which perhaps nobody reads.
//!
//! A caller never waits: one thread writes, from a bounded queue; lines that do not fit into the queue are dropped
//! and counted. A pipe that nobody reads holds 64 KiB on Linux ([pipe(7)]); a write beyond that would block the
//! caller for ever. `O_NONBLOCK` is no way out: it is set for every process that shares the pipe ([fcntl(2)]).
//!
//! [pipe(7)]: https://man7.org/linux/man-pages/man7/pipe.7.html
//! [fcntl(2)]: https://man7.org/linux/man-pages/man2/fcntl.2.html

use std::{
    collections::VecDeque,
    io::{self, Write as _},
    sync::{Condvar, LazyLock, Mutex, MutexGuard, PoisonError},
    thread,
    time::{Duration, Instant},
};

use tracing::{
    Event, Metadata, Subscriber,
    level_filters::LevelFilter,
    span::{Attributes, Id, Record},
    subscriber::set_global_default,
};
use tracing_subscriber::{filter::Targets, layer::SubscriberExt as _, util::SubscriberInitExt as _};

/// Bytes that wait to be written at most.
const CAPACITY: usize = 256 << 10;
/// Pause before the next attempt when a non-blocking stderr is full (`EAGAIN`).
const PAUSE: Duration = Duration::from_millis(20);

static LOG: Log = Log::new();

/// Enqueues whole lines for stderr; never blocks.
#[derive(Clone, Copy, Debug, Default)]
pub struct Lines;

impl io::Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        LOG.push(bytes.to_vec());
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Sends the messages of `tracing` to stderr, for the life of the process.
pub fn init(level: LevelFilter) {
    // rmcp's warnings repeat what clients are answered, such as the name of an unknown tool.
    let rmcp = if level == LevelFilter::WARN { LevelFilter::ERROR } else { level };
    let filter = Targets::new().with_default(level).with_target("rmcp", rmcp);
    // Messages of these levels are rare, and no span has one of them.
    let is_quiet = level <= LevelFilter::WARN;
    let format = move || tracing_subscriber::fmt().with_max_level(level).with_writer(|| Lines).finish();
    if is_quiet {
        let _ = set_global_default(RareMessages {
            level,
            filter,
            formatter: LazyLock::new(Box::new(move || Box::new(format()))),
        });
    } else {
        format().with(filter).init();
    }
}

/// Makes what formats messages with the first of them: its tables take 32 KiB, which most servers never need.
struct RareMessages {
    level: LevelFilter,
    filter: Targets,
    formatter: LazyLock<Formatter, Box<dyn FnOnce() -> Formatter + Send>>,
}

type Formatter = Box<dyn Subscriber + Send + Sync>;

impl Subscriber for RareMessages {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        self.filter.would_enable(metadata.target(), metadata.level())
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(self.level)
    }

    fn event(&self, event: &Event<'_>) {
        self.formatter.event(event);
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        self.formatter.new_span(span)
    }

    fn record(&self, span: &Id, values: &Record<'_>) {
        self.formatter.record(span, values);
    }

    fn record_follows_from(&self, span: &Id, follows: &Id) {
        self.formatter.record_follows_from(span, follows);
    }

    fn enter(&self, span: &Id) {
        self.formatter.enter(span);
    }

    fn exit(&self, span: &Id) {
        self.formatter.exit(span);
    }

    fn clone_span(&self, id: &Id) -> Id {
        self.formatter.clone_span(id)
    }

    fn try_close(&self, id: Id) -> bool {
        self.formatter.try_close(id)
    }
}

/// Starts to write. Until then lines wait: Landlock and seccomp bind the thread that installs them and the threads
/// that it starts later, so the thread that writes must not be older.
pub fn start() {
    LOG.open();
}

/// Waits until all lines are written, at most for `limit`, before the process ends.
pub fn flush(limit: Duration) {
    LOG.open();
    LOG.wait(limit);
}

#[derive(Debug)]
struct Log {
    state: Mutex<LogState>,
    /// There is something to write.
    filled: Condvar,
    empty: Condvar,
}

#[derive(Debug)]
struct LogState {
    lines: VecDeque<Vec<u8>>,
    bytes: usize,
    /// Lines dropped since the last one that fitted.
    dropped: u64,
    /// Whether threads may be started.
    open: bool,
    /// Whether there is a thread that writes.
    running: bool,
    /// Whether that thread writes a line that it has taken from the queue.
    writing: bool,
}

impl LogState {
    fn is_idle(&self) -> bool {
        self.lines.is_empty() && self.dropped == 0 && !self.writing
    }

    /// The next bytes to write; where lines were dropped, a line with their number.
    fn next(&mut self) -> Option<Vec<u8>> {
        if let Some(line) = self.lines.pop_front() {
            self.bytes -= line.len();
            return Some(line);
        }
        match std::mem::take(&mut self.dropped) {
            0 => None,
            1 => Some(b"rootbound: 1 line of the log was dropped here, because stderr was not read\n".to_vec()),
            n => Some(
                format!("rootbound: {n} lines of the log were dropped here, because stderr was not read\n")
                    .into_bytes(),
            ),
        }
    }
}

impl Log {
    const fn new() -> Self {
        let state =
            LogState { lines: VecDeque::new(), bytes: 0, dropped: 0, open: false, running: false, writing: false };
        Self { state: Mutex::new(state), filled: Condvar::new(), empty: Condvar::new() }
    }

    fn state(&self) -> MutexGuard<'_, LogState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn push(&'static self, line: Vec<u8>) {
        let mut state = self.state();
        // After one was dropped, all are until that is written, so that the order stays true.
        if state.dropped > 0 || state.bytes + line.len() > CAPACITY {
            state.dropped += 1;
        } else {
            state.bytes += line.len();
            state.lines.push_back(line);
        }
        self.ensure_thread(&mut state);
        drop(state);
        self.filled.notify_one();
    }

    fn open(&'static self) {
        let mut state = self.state();
        state.open = true;
        self.ensure_thread(&mut state);
    }

    /// Starts the thread that writes, if there is something to write. A failure is tried again with the next line.
    fn ensure_thread(&'static self, state: &mut LogState) {
        if state.open && !state.running && !state.is_idle() {
            state.running = thread::Builder::new().name("log".to_owned()).spawn(|| self.write()).is_ok();
        }
    }

    fn wait(&self, limit: Duration) {
        let state = self.state();
        if state.running {
            let _ = self.empty.wait_timeout_while(state, limit, |state| !state.is_idle());
        } else {
            // No thread could be started: write here, and wait.
            drop(state);
            while let Some(bytes) = { self.state().next() } {
                put(&bytes, Some(limit));
            }
        }
    }

    fn write(&self) {
        loop {
            let mut state = self.state();
            let bytes = loop {
                if let Some(bytes) = state.next() {
                    break bytes;
                }
                state = self.filled.wait(state).unwrap_or_else(PoisonError::into_inner);
            };
            state.writing = true;
            drop(state);
            put(&bytes, None);
            let mut state = self.state();
            state.writing = false;
            if state.is_idle() {
                self.empty.notify_all();
            }
        }
    }
}

/// Writes to stderr; what it refuses for good is lost.
fn put(mut bytes: &[u8], limit: Option<Duration>) {
    let began = Instant::now();
    let mut stderr = io::stderr();
    while !bytes.is_empty() {
        match stderr.write(bytes) {
            Ok(0) => return,
            Ok(written) => bytes = &bytes[written..],
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error)
                if error.kind() == io::ErrorKind::WouldBlock && limit.is_none_or(|limit| began.elapsed() < limit) =>
            {
                thread::sleep(PAUSE);
            }
            Err(_) => return,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn full_queue_drops_and_counts_lines_in_their_place() {
        let log: &'static Log = Box::leak(Box::new(Log::new()));
        let line = vec![b'x'; CAPACITY / 4];
        for _ in 0..7 {
            log.push(line.clone());
        }
        let mut state = log.state();
        assert_eq!((state.lines.len(), state.dropped, state.running), (4, 3, false));
        for _ in 0..4 {
            assert_eq!(state.next().as_ref(), Some(&line));
        }
        let message = String::from_utf8(state.next().unwrap()).unwrap();
        assert!(message.contains("3 lines of the log were dropped here"), "{message}");
        assert!(state.is_idle() && state.bytes == 0);
        drop(state);
        log.push(line.clone());
        assert_eq!(log.state().lines.len(), 1);
    }
}
