//! The log on stderr, which perhaps nobody reads, and the queue of lines that it shares with `--events`.
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
    mem,
    sync::{Condvar, Mutex, MutexGuard, PoisonError},
    thread,
    time::{Duration, Instant},
};

use tracing::level_filters::LevelFilter;
use tracing_subscriber::{filter::Targets, layer::SubscriberExt as _, util::SubscriberInitExt as _};

/// Bytes that wait to be written at most.
const MAX_BYTES: usize = 256 << 10;
/// Pause before the next attempt when a non-blocking stderr is full (`EAGAIN`).
const RETRY_INTERVAL: Duration = Duration::from_millis(20);

// Landlock and seccomp bind the thread that installs them and the threads that it starts later, so the thread that writes
// must not be older: lines wait until [`start`].
static LOG: LineQueue<Stderr> = LineQueue::new("log", Stderr, usize::MAX, MAX_BYTES, false);

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

pub fn init(level: LevelFilter) {
    // rmcp's warnings repeat what clients are answered, such as the name of an unknown tool.
    let rmcp = if level == LevelFilter::WARN { LevelFilter::ERROR } else { level };
    let filter = Targets::new().with_default(level).with_target("rmcp", rmcp);
    let format = tracing_subscriber::fmt().with_max_level(level).with_writer(|| Lines).finish();
    // Fails only where there is one already, whose messages then go where they did before.
    let _ = format.with(filter).try_init();
}

/// Starts the thread that writes, also for the lines that wait already.
pub fn start() {
    LOG.open();
}

/// Waits until all lines are written, at most for `limit`, before the process ends.
pub fn flush(limit: Duration) {
    LOG.flush(limit);
}

pub trait LineSink: Send + 'static {
    /// Writes a line; may wait for room, no longer than `limit`. False where there is none, and nothing was written.
    fn write(&mut self, line: &[u8], limit: Option<Duration>) -> bool;
    fn dropped(&self, count: u64) -> Vec<u8>;
}

/// Lines that wait for the one thread that writes them, which begins with the first.
#[derive(Debug)]
pub struct LineQueue<S> {
    thread: &'static str,
    max_lines: usize,
    max_bytes: usize,
    state: Mutex<QueueState<S>>,
    filled: Condvar,
    empty: Condvar,
}

#[derive(Debug)]
struct QueueState<S> {
    /// `None` while a line is written.
    sink: Option<S>,
    lines: VecDeque<Vec<u8>>,
    bytes: usize,
    dropped: u64,
    /// Lines for which the sink had no room, and of which none says so yet.
    refused: u64,
    is_open: bool,
    /// Whether there is a thread that writes.
    is_running: bool,
}

impl<S> QueueState<S> {
    fn is_idle(&self) -> bool {
        self.lines.is_empty() && self.dropped == 0 && self.sink.is_some()
    }
}

impl<S: LineSink> LineQueue<S> {
    /// A queue of at most this many lines and bytes; nothing is written before it is open.
    pub const fn new(thread: &'static str, sink: S, max_lines: usize, max_bytes: usize, is_open: bool) -> Self {
        Self {
            thread,
            max_lines,
            max_bytes,
            state: Mutex::new(QueueState {
                sink: Some(sink),
                lines: VecDeque::new(),
                bytes: 0,
                dropped: 0,
                refused: 0,
                is_open,
                is_running: false,
            }),
            filled: Condvar::new(),
            empty: Condvar::new(),
        }
    }

    fn state(&self) -> MutexGuard<'_, QueueState<S>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Enqueues a whole line, or counts it where there is no room. Never blocks.
    pub fn push(&'static self, line: Vec<u8>) {
        let mut state = self.state();
        let is_full = state.lines.len() >= self.max_lines || state.bytes + line.len() > self.max_bytes;
        // After one was dropped, all are until that is written, so that the order stays true.
        if state.dropped > 0 || is_full {
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
        state.is_open = true;
        self.ensure_thread(&mut state);
    }

    /// Starts the thread that writes, if there is something to write. A failure is tried again with the next line.
    fn ensure_thread(&'static self, state: &mut QueueState<S>) {
        if state.is_open && !state.is_running && !state.is_idle() {
            state.is_running = thread::Builder::new().name(self.thread.to_owned()).spawn(|| self.write()).is_ok();
        }
    }

    /// Waits until all lines are written, at most for `limit`.
    pub fn flush(&'static self, limit: Duration) {
        let mut state = self.state();
        if state.lines.is_empty() {
            // Else the next line tries to say so, before itself.
            state.dropped += mem::take(&mut state.refused);
        }
        state.is_open = true;
        self.ensure_thread(&mut state);
        if state.is_running {
            self.filled.notify_one();
            drop(self.empty.wait_timeout_while(state, limit, |state| !state.is_idle()));
        } else {
            // No thread could be started: write here, and wait.
            drop(state);
            while self.write_next(Some(limit)) {}
        }
    }

    fn write(&self) {
        loop {
            if !self.write_next(None) {
                drop(self.filled.wait_while(self.state(), |state| state.is_idle()));
            }
        }
    }

    /// Writes the next line; where lines were dropped, a line with their number. False where there is nothing to write.
    fn write_next(&self, limit: Option<Duration>) -> bool {
        let mut state = self.state();
        if state.is_idle() {
            return false;
        }
        let Some(mut sink) = state.sink.take() else { return false };
        let line = state.lines.pop_front();
        state.bytes -= line.as_ref().map_or(0, Vec::len);
        let mut missing = mem::take(&mut state.refused);
        if line.is_none() {
            missing += mem::take(&mut state.dropped);
        }
        drop(state);
        let mut refused = 0;
        if missing > 0 {
            let note = sink.dropped(missing);
            refused = if sink.write(&note, limit) { 0 } else { missing };
        }
        if let Some(line) = line {
            refused += u64::from(!sink.write(&line, limit));
        }
        let mut state = self.state();
        state.refused += refused;
        state.sink = Some(sink);
        if state.is_idle() {
            self.empty.notify_all();
        }
        true
    }
}

#[derive(Debug)]
struct Stderr;

impl LineSink for Stderr {
    /// A line that stderr refuses for good is lost.
    fn write(&mut self, mut bytes: &[u8], limit: Option<Duration>) -> bool {
        let began = Instant::now();
        let mut stderr = io::stderr();
        while !bytes.is_empty() {
            match stderr.write(bytes) {
                // It takes nothing, and would take nothing the next time: the loop would not end.
                Ok(0) => return true,
                Ok(written) => bytes = &bytes[written..],
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error)
                    if error.kind() == io::ErrorKind::WouldBlock
                        && limit.is_none_or(|limit| began.elapsed() < limit) =>
                {
                    thread::sleep(RETRY_INTERVAL);
                }
                // A closed stderr stays closed, and there is no other place where that could be reported.
                Err(_) => return true,
            }
        }
        true
    }

    fn dropped(&self, count: u64) -> Vec<u8> {
        let were =
            if count == 1 { "1 line of the log was".to_owned() } else { format!("{count} lines of the log were") };
        format!("rootbound: {were} dropped here, because stderr was not read\n").into_bytes()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    struct Limited(mpsc::Sender<Vec<u8>>, usize);

    impl LineSink for Limited {
        fn write(&mut self, line: &[u8], _: Option<Duration>) -> bool {
            let has_room = self.1 > 0;
            if has_room {
                self.1 -= 1;
                self.0.send(line.to_vec()).unwrap();
            }
            has_room
        }

        fn dropped(&self, count: u64) -> Vec<u8> {
            format!("{count} dropped").into_bytes()
        }
    }

    fn queue(room: usize) -> (&'static LineQueue<Limited>, mpsc::Receiver<Vec<u8>>) {
        let (written, lines) = mpsc::channel();
        let queue = LineQueue::new("test", Limited(written, room), 100, 100, false);
        (Box::leak(Box::new(queue)), lines)
    }

    #[test]
    fn full_queue_drops_and_counts_lines_in_their_place() {
        let (queue, lines) = queue(usize::MAX);
        let line = vec![b'x'; 25];
        for _ in 0..7 {
            queue.push(line.clone());
        }
        let state = queue.state();
        assert_eq!((state.lines.len(), state.dropped, state.is_running), (4, 3, false));
        drop(state);
        queue.flush(Duration::from_secs(60));
        let state = queue.state();
        assert!(state.is_idle() && state.bytes == 0);
        drop(state);
        queue.push(line.clone());
        queue.flush(Duration::from_secs(60));
        let mut expected = vec![line; 6];
        expected[4] = b"3 dropped".to_vec();
        assert_eq!(lines.try_iter().collect::<Vec<_>>(), expected);
    }

    #[test]
    fn lines_that_the_sink_has_no_room_for_are_counted_before_the_next() {
        let (queue, lines) = queue(1);
        for line in ["a", "b", "c"] {
            queue.push(line.into());
        }
        queue.flush(Duration::from_secs(60));
        assert_eq!(queue.state().refused, 2);
        queue.state().sink.as_mut().unwrap().1 = 2;
        queue.push("d".into());
        queue.flush(Duration::from_secs(60));
        assert_eq!(lines.try_iter().collect::<Vec<_>>(), [&b"a"[..], b"2 dropped", b"d"]);
    }
}
