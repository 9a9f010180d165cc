//! One running server: a thread that reads what it sends, and one that writes what it gets.
//!
//! A call never writes to a server itself: one that reads nothing would hold it up.

use std::{
    io,
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering},
        mpsc::{Receiver, Sender, channel},
    },
    thread,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use confined_fs::escape_controls;
use self_sandbox::{Broker, ProgramInput, ProgramOutput, StartedProgram};

use super::{
    documents::notification,
    frame::{FrameReader, framed},
    state::{Phase, State},
};

/// Bytes that wait to be read by a server; one that lets more pile up is ended.
const MOST_WAITING: usize = 16 << 20;
/// Bytes that a server may send at once, and in a second over a longer time.
const BURST: usize = 64 << 20;
const BYTES_PER_SECOND: usize = 8 << 20;

/// One running server, shared by the calls that use it.
#[derive(Debug)]
pub(super) struct Instance {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    name: String,
    number: u8,
    broker: Arc<Broker>,
    is_stopped: AtomicBool,
    state: Mutex<State>,
    changed: Condvar,
    outgoing: Sender<Vec<u8>>,
    /// Bytes in `outgoing`.
    waiting: AtomicUsize,
}

impl Instance {
    /// Talks to a program that was started.
    ///
    /// # Errors
    /// The system's, if it starts no more threads; the program is ended then.
    pub(super) fn new(
        name: &str,
        broker: &Arc<Broker>,
        program: StartedProgram,
        (state, first): (State, Value),
    ) -> io::Result<Self> {
        let StartedProgram { number, input, output } = program;
        let (outgoing, messages) = channel();
        let shared = Arc::new(Shared {
            name: name.to_owned(),
            number,
            broker: Arc::clone(broker),
            is_stopped: AtomicBool::new(false),
            state: Mutex::new(state),
            changed: Condvar::new(),
            outgoing,
            waiting: AtomicUsize::new(0),
        });
        let instance = Self { shared: Arc::clone(&shared) };
        let reader = Arc::clone(&shared);
        let started =
            thread::Builder::new().name("lsp-read".to_owned()).spawn(move || read(&reader, output)).and_then(|_| {
                thread::Builder::new().name("lsp-write".to_owned()).spawn(move || write(&shared, input, &messages))
            });
        if let Err(error) = started {
            instance.end("no thread can be started for it");
            return Err(error);
        }
        instance.send(&[first]);
        Ok(instance)
    }

    /// What is known of it.
    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.shared.state()
    }

    /// Unlocks `state` until something changes, for `limit` at most, and locks it again.
    pub(super) fn wait<'s>(&'s self, state: MutexGuard<'s, State>, limit: Duration) -> MutexGuard<'s, State> {
        self.shared.changed.wait_timeout(state, limit).unwrap_or_else(PoisonError::into_inner).0
    }

    /// Sends messages, in this order.
    pub(super) fn send(&self, messages: &[Value]) {
        self.shared.send(messages);
    }

    /// Whether it runs no more.
    pub(super) fn has_ended(&self) -> bool {
        self.state().phase == Phase::Ended
    }

    /// Ends it.
    pub(super) fn end(&self, why: &str) {
        self.shared.end(why);
    }

    /// Asks it to end by itself.
    pub(super) fn shut_down(&self) {
        let shutdown = json!({ "jsonrpc": "2.0", "id": "shutdown", "method": "shutdown" });
        self.send(&[shutdown, notification("exit", &Value::Null)]);
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        self.end("it is not used any more");
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn send(&self, messages: &[Value]) {
        for message in messages {
            let frame = framed(message);
            if self.waiting.fetch_add(frame.len(), Ordering::Relaxed) > MOST_WAITING {
                return self.stop("it does not read what it is sent");
            }
            // An error: the thread that writes has ended, as the server has.
            let _ = self.outgoing.send(frame);
        }
    }

    /// Ends the program. What is known of it says so as soon as its stdout is closed.
    fn stop(&self, why: &str) {
        if !self.is_stopped.swap(true, Ordering::AcqRel) {
            tracing::info!(server = self.name, why, "a language server is ended");
            self.broker.stop(self.number);
        }
    }

    fn end(&self, why: &str) {
        self.stop(why);
        self.state().phase = Phase::Ended;
        self.changed.notify_all();
    }
}

fn write(shared: &Shared, mut input: ProgramInput, messages: &Receiver<Vec<u8>>) {
    // A moment's wait now and then, to see that the server has ended.
    while !shared.is_stopped.load(Ordering::Acquire) {
        let Ok(frame) = messages.recv_timeout(Duration::from_millis(500)) else { continue };
        shared.waiting.fetch_sub(frame.len(), Ordering::Relaxed);
        if input.write_all(&frame).is_err() {
            return;
        }
    }
}

fn read(shared: &Shared, mut output: ProgramOutput) {
    let why = match read_messages(shared, &mut output) {
        Ok(()) => "it closed its output".to_owned(),
        Err(why) => why,
    };
    let said: String = output.last_errors().chars().rev().take(500).collect();
    let said: String = said.chars().rev().collect();
    shared.state().trouble.last_words(&output.last_errors());
    if !shared.is_stopped.load(Ordering::Acquire) {
        tracing::warn!(server = shared.name, why, errors = %escape_controls(&said), "a language server ended");
    }
    shared.end(&why);
}

/// Reads until the server closes its output, or sends what it must not.
fn read_messages(shared: &Shared, output: &mut ProgramOutput) -> Result<(), String> {
    let mut frames = FrameReader::default();
    let mut buffer = vec![0; 64 << 10];
    let (mut left, mut since) = (BURST, Instant::now());
    loop {
        let read = output.read(&mut buffer).map_err(|error| error.to_string())?;
        if read == 0 {
            return Ok(());
        }
        let milliseconds = usize::try_from(since.elapsed().as_millis()).unwrap_or(usize::MAX);
        let earned = milliseconds.saturating_mul(BYTES_PER_SECOND / 1000);
        if earned > 0 {
            (left, since) = (left.saturating_add(earned).min(BURST), Instant::now());
        }
        left = left.checked_sub(read).ok_or("it sends too much")?;
        frames.push(buffer.get(..read).unwrap_or_default());
        while let Some(body) = frames.next_body().map_err(|error| format!("it sent no frame: {error:?}"))? {
            let replies = shared.state().receive(&body, Instant::now()).ok_or("it sent no usable message")?;
            shared.send(&replies);
        }
        shared.changed.notify_all();
    }
}
