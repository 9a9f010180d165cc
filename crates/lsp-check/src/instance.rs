//! One running server: a thread that reads what it sends, and one that writes what it gets.
//!
//! A call never writes to a server itself: one that reads nothing would hold it up. The frames are headers, an empty line
//! and a body:
//! <https://microsoft.github.io/language-server-protocol/specifications/lsp/3.17/specification/#baseProtocol>.

use std::error::Error;
use std::io::{self, PipeWriter, Write as _};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use std::{ops::Deref, thread};

use confined_fs::escape::escape_controls;
use self_sandbox::{Broker, ProgramOutput, StartedProgram};
use serde_json::{Value, json};

use crate::protocol::notification;
use crate::state::{Phase, State};

/// Bytes that wait to be read by a server; one that lets more pile up is ended.
const MAX_WAITING: usize = 16 << 20;
/// Bytes that a server may send at once, and in a second over a longer time.
const BURST_BYTES: usize = 64 << 20;
const BYTES_PER_SECOND: usize = 8 << 20;
/// Bytes of the longest headers: two short lines are usual.
const MAX_HEADERS: usize = 4096;
/// Bytes of the longest body; the diagnostics of a file with thousands of errors have less than one.
const MAX_BODY: usize = 4 << 20;

/// One running server, for the calls that use it; the program ends when the last of them drops it.
#[derive(Debug)]
pub(super) struct Instance(Arc<Shared>);

/// The part of a server that its two threads keep as well.
#[derive(Debug)]
pub(super) struct Shared {
    name: String,
    pub(super) started: Instant,
    number: u8,
    broker: Arc<Broker>,
    is_stopped: AtomicBool,
    state: Mutex<State>,
    changed: Condvar,
    outgoing: Sender<Vec<u8>>,
    /// Bytes in `outgoing`, at most about [`MAX_WAITING`].
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
            started: Instant::now(),
            number,
            broker: Arc::clone(broker),
            is_stopped: AtomicBool::new(false),
            state: Mutex::new(state),
            changed: Condvar::new(),
            outgoing,
            waiting: AtomicUsize::new(0),
        });
        let instance = Self(Arc::clone(&shared));
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

    /// Unlocks `state` until something changes, for `limit` at most, and locks it again.
    pub(super) fn wait<'s>(&'s self, state: MutexGuard<'s, State>, limit: Duration) -> MutexGuard<'s, State> {
        self.changed.wait_timeout(state, limit).unwrap_or_else(PoisonError::into_inner).0
    }

    pub(super) fn shut_down(&self) {
        let shutdown = json!({ "jsonrpc": "2.0", "id": "shutdown", "method": "shutdown" });
        self.send(&[shutdown, notification("exit", &Value::Null)]);
    }
}

impl Deref for Instance {
    type Target = Shared;

    fn deref(&self) -> &Shared {
        &self.0
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        self.end("it is not used any more");
    }
}

impl Shared {
    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn send(&self, messages: &[Value]) {
        for message in messages {
            let body = message.to_string();
            let frame = format!("Content-Length: {}\r\n\r\n{body}", body.len()).into_bytes();
            // Relaxed: the frames themselves go through the channel.
            if self.waiting.fetch_add(frame.len(), Ordering::Relaxed) > MAX_WAITING {
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

    /// Ends the program, and lets the calls that wait for it know.
    pub(super) fn end(&self, why: &str) {
        self.stop(why);
        self.state().phase = Phase::Ended;
        self.changed.notify_all();
    }
}

fn write(shared: &Shared, mut input: PipeWriter, messages: &Receiver<Vec<u8>>) {
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
    let ended = read_messages(shared, &mut output);
    let why = ended.map_or_else(|error| error.to_string(), |()| "it closed its output".to_owned());
    let errors = output.last_errors();
    let last_errors = &errors[errors.char_indices().rev().nth(499).map_or(0, |(at, _)| at)..];
    // Before `end`: a call that sees the end takes the reason from these words.
    shared.state().trouble.last_words(&errors);
    if !shared.is_stopped.load(Ordering::Acquire) {
        tracing::warn!(server = shared.name, why, errors = %escape_controls(last_errors), "a language server ended");
    }
    shared.end(&why);
}

fn read_messages(shared: &Shared, output: &mut ProgramOutput) -> Result<(), Box<dyn Error>> {
    let (mut frames, mut buffer) = (Vec::new(), vec![0; 64 << 10]);
    let (mut left, mut since) = (BURST_BYTES, Instant::now());
    loop {
        let read = output.read(&mut buffer)?;
        if read == 0 {
            return Ok(());
        }
        let milliseconds = usize::try_from(since.elapsed().as_millis()).unwrap_or(usize::MAX);
        let earned = milliseconds.saturating_mul(BYTES_PER_SECOND / 1000);
        // `since` stays for reads less than a millisecond apart: if it moved, they would never earn anything.
        if earned > 0 {
            (left, since) = (left.saturating_add(earned).min(BURST_BYTES), Instant::now());
        }
        left = left.checked_sub(read).ok_or("it sends too much")?;
        frames.extend_from_slice(buffer.get(..read).unwrap_or_default());
        while let Some(body) = next_body(&mut frames)? {
            let replies = shared.state().receive(&body, Instant::now()).ok_or("it sent no usable message")?;
            shared.send(&replies);
        }
        shared.changed.notify_all();
    }
}

/// Takes the next body out of what was read, if it is complete.
///
/// # Errors
/// Why what the server sent is no frame.
fn next_body(buffer: &mut Vec<u8>) -> Result<Option<Vec<u8>>, &'static str> {
    const NO_LENGTH: &str = "it sent no header with a length";
    let Some(end) = memchr::memmem::find(buffer, b"\r\n\r\n") else {
        return if buffer.len() > MAX_HEADERS { Err(NO_LENGTH) } else { Ok(None) };
    };
    let headers = std::str::from_utf8(&buffer[..end]).ok().filter(|_| end <= MAX_HEADERS).ok_or(NO_LENGTH)?;
    let length = headers.split("\r\n").find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.trim().eq_ignore_ascii_case("content-length").then(|| value.trim().parse::<usize>().ok())?
    });
    let length = length.ok_or(NO_LENGTH)?;
    if length > MAX_BODY {
        return Err("it sent a body that is too long");
    }
    // No sum overflows: `end` and `length` are bounded above.
    let body = end + 4;
    if buffer.len() < body + length {
        return Ok(None);
    }
    let rest = buffer.split_off(body + length);
    let mut frame = std::mem::replace(buffer, rest);
    frame.drain(..body);
    Ok(Some(frame))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn bodies(pieces: &[&[u8]]) -> Result<Vec<Vec<u8>>, &'static str> {
        let (mut read, mut found) = (Vec::new(), Vec::new());
        for piece in pieces {
            read.extend_from_slice(piece);
            while let Some(body) = next_body(&mut read)? {
                found.push(body);
            }
        }
        Ok(found)
    }

    #[test]
    fn frames_come_out_whole_however_they_are_cut() {
        let sent = b"Content-Length: 2\r\n\r\n{}content-type: x\r\nCONTENT-LENGTH:  3 \r\n\r\n[1]";
        let each: Vec<&[u8]> = sent.chunks(1).collect();
        let expected = Ok(vec![b"{}".to_vec(), b"[1]".to_vec()]);
        assert_eq!(bodies(&[sent]), expected);
        assert_eq!(bodies(&each), expected);
    }

    #[test]
    fn what_is_no_frame_or_too_long_is_refused() {
        for sent in ["{}\r\n\r\n", "Content-Length: -1\r\n\r\n", "Content-Length: x\r\n\r\n", ": 2\r\n\r\n{}"] {
            assert_eq!(bodies(&[sent.as_bytes()]), Err("it sent no header with a length"), "{sent:?}");
        }
        assert_eq!(bodies(&[&[b'x'; MAX_HEADERS + 1]]), Err("it sent no header with a length"));
        assert_eq!(bodies(&[b"Content-Length: 99999999999\r\n\r\n"]), Err("it sent a body that is too long"));
    }

    proptest! {
        #[test]
        fn any_bytes_are_frames_or_refused(pieces in proptest::collection::vec(
            prop_oneof![
                proptest::collection::vec(any::<u8>(), 0..40),
                Just(b"Content-Length: ".to_vec()), Just(b"\r\n\r\n".to_vec()), Just(b"12".to_vec()),
            ], 0..12)) {
            let pieces: Vec<&[u8]> = pieces.iter().map(Vec::as_slice).collect();
            let _ = bodies(&pieces);
        }
    }
}
