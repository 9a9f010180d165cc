//! Lines for stderr, which perhaps nobody reads.
//!
//! Who logs never waits: a thread of its own writes, and what does not fit into the bounded queue before it is
//! dropped and counted. A pipe that is read by nobody holds 64 KiB on Linux; a write to it beyond
//! that would stop the caller for good, and a non-blocking mode would be one of every process that shares it.

use std::{
    collections::VecDeque,
    io::{self, Write as _},
    sync::{Condvar, Mutex, MutexGuard, PoisonError},
    thread,
    time::{Duration, Instant},
};

/// Bytes that wait to be written at most.
const ROOM: usize = 256 << 10;
/// How long a stderr that takes nothing now, as it is in a non-blocking mode, is left alone.
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

/// Begins to write. Until then lines wait: the thread that writes must not be older than the sandbox, which
/// holds the thread that installs it and those that it starts.
pub fn start() {
    LOG.open();
}

/// Waits until all lines are written, at most for `limit`; the process may end then.
pub fn flush(limit: Duration) {
    LOG.open();
    LOG.wait(limit);
}

#[derive(Debug)]
struct Log {
    state: Mutex<State>,
    /// There is something to write.
    filled: Condvar,
    /// All is written.
    empty: Condvar,
}

#[derive(Debug)]
struct State {
    lines: VecDeque<Vec<u8>>,
    bytes: usize,
    /// Lines that there was no room for, since the last one that there was room for.
    dropped: u64,
    /// Whether threads may be started.
    open: bool,
    /// Whether there is a thread that writes.
    running: bool,
    /// Whether it is writing a line that is no longer in the queue.
    writing: bool,
}

impl State {
    fn is_idle(&self) -> bool {
        self.lines.is_empty() && self.dropped == 0 && !self.writing
    }

    /// The next bytes to write; how many were dropped is said where they are missing.
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
        let state = State { lines: VecDeque::new(), bytes: 0, dropped: 0, open: false, running: false, writing: false };
        Self { state: Mutex::new(state), filled: Condvar::new(), empty: Condvar::new() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn push(&'static self, line: Vec<u8>) {
        let mut state = self.state();
        // Where some were dropped, the next ones are until that is written: their order stays true.
        if state.dropped > 0 || state.bytes + line.len() > ROOM {
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

    /// Starts the thread that writes where there is something to write; one that cannot be made is tried again
    /// with the next line.
    fn ensure_thread(&'static self, state: &mut State) {
        if state.open && !state.running && !state.is_idle() {
            state.running = thread::Builder::new().name("log".to_owned()).spawn(|| self.write()).is_ok();
        }
    }

    fn wait(&self, limit: Duration) {
        let state = self.state();
        if state.running {
            let _ = self.empty.wait_timeout_while(state, limit, |state| !state.is_idle());
        } else {
            // There can be no thread: the last words are worth a wait.
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

/// Writes to stderr; what it refuses for good is lost, as there is nowhere to say so.
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
        let line = vec![b'x'; ROOM / 4];
        for _ in 0..7 {
            log.push(line.clone());
        }
        let mut state = log.state();
        assert_eq!((state.lines.len(), state.dropped, state.running), (4, 3, false));
        for _ in 0..4 {
            assert_eq!(state.next().as_ref(), Some(&line));
        }
        let said = String::from_utf8(state.next().unwrap()).unwrap();
        assert!(said.contains("3 lines of the log were dropped here"), "{said}");
        assert!(state.is_idle() && state.bytes == 0);
        drop(state);
        log.push(line.clone());
        assert_eq!(log.state().lines.len(), 1);
    }
}
