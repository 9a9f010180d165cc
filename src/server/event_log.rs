//! `--events`: one JSON line for each change that this server makes, for interfaces and plug-ins.
//!
//! A call only queues its lines; a thread, which begins with the first one, writes them. What does not fit, because the
//! disk is slow or nobody reads a FIFO, is dropped and counted: the next line that can be written says how many. The
//! schema is in docs/resources.md.

use std::{
    fmt, io,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, AtomicUsize, Ordering},
        mpsc::{Receiver, SyncSender, TrySendError, sync_channel},
    },
    thread,
    time::{Duration, SystemTime},
};

use confined_fs::EventSink;
use serde_json::{Map, Value, json};

use crate::session::{ChangeKind, ChangeListener, CommittedChange, EntryKind};

/// Lines that wait to be written, and bytes of them.
const MAX_LINES: usize = 4096;
const MOST_BYTES: usize = 4 << 20;

/// Where the lines go.
pub struct EventLog {
    /// What the configuration calls this server, in each line.
    label: Option<String>,
    queue: SyncSender<Queued>,
    /// What the thread begins with; nothing once it has begun.
    idle: Mutex<Option<(EventSink, Receiver<Queued>)>>,
    counts: Arc<Counts>,
}

#[derive(Default)]
struct Counts {
    bytes: AtomicUsize,
    /// Lines that were dropped and of which no line says so yet.
    dropped: AtomicU64,
}

enum Queued {
    Line(String),
    Flush(SyncSender<()>),
}

impl EventLog {
    /// A log to `sink`, with `label` in each line.
    pub fn new(sink: EventSink, label: Option<String>) -> Self {
        let (queue, queued) = sync_channel(MAX_LINES);
        Self { label, queue, idle: Mutex::new(Some((sink, queued))), counts: Arc::default() }
    }

    /// Waits until what was queued is written, at most `limit`.
    pub fn flush(&self, limit: Duration) {
        let (done, written) = sync_channel(1);
        let has_begun = self.idle.lock().unwrap_or_else(PoisonError::into_inner).is_none();
        if has_begun && self.queue.try_send(Queued::Flush(done)).is_ok() {
            let _ = written.recv_timeout(limit);
        }
    }

    fn queue(&self, line: String) {
        let bytes = line.len();
        if self.counts.bytes.fetch_add(bytes, Ordering::Relaxed) + bytes <= MOST_BYTES {
            match self.queue.try_send(Queued::Line(line)) {
                Ok(()) => return,
                Err(TrySendError::Full(_) | TrySendError::Disconnected(_)) => {}
            }
        }
        self.counts.bytes.fetch_sub(bytes, Ordering::Relaxed);
        self.counts.dropped.fetch_add(1, Ordering::Relaxed);
    }

    /// Starts the thread, if it has not begun. Where the system has none, lines wait for a later one.
    fn begin(&self) {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.is_none() {
            return;
        }
        // The thread takes both out only once it runs, so that a failed start loses nothing.
        let (hand_over, taken) = sync_channel(1);
        let (counts, label) = (Arc::clone(&self.counts), self.label.clone());
        let run = move || {
            if let Ok((sink, queued)) = taken.recv() {
                write_all(sink, &queued, &counts, label.as_deref());
            }
        };
        match thread::Builder::new().name("events".to_owned()).spawn(run) {
            Ok(_) => {
                if let Some(both) = idle.take() {
                    let _ = hand_over.send(both);
                }
            }
            Err(error) => tracing::warn!(%error, "no thread for --events; its lines wait"),
        }
    }
}

impl ChangeListener for EventLog {
    fn changed(&self, changes: &[CommittedChange]) {
        for change in changes {
            self.queue(line_of(change, self.label.as_deref()));
        }
        self.begin();
    }
}

impl fmt::Debug for EventLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EventLog").field("label", &self.label).finish_non_exhaustive()
    }
}

fn write_all(mut sink: EventSink, queued: &Receiver<Queued>, counts: &Counts, label: Option<&str>) {
    let mut has_failed = false;
    while let Ok(next) = queued.recv() {
        let line = match next {
            Queued::Line(line) => line,
            Queued::Flush(done) => {
                note_dropped(&mut sink, counts, label);
                let _ = done.try_send(());
                continue;
            }
        };
        note_dropped(&mut sink, counts, label);
        let written = sink.write(line.as_bytes());
        counts.bytes.fetch_sub(line.len(), Ordering::Relaxed);
        if !is_written(written, &mut has_failed) {
            counts.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// Writes how many lines were dropped, if any were and there is room again.
fn note_dropped(sink: &mut EventSink, counts: &Counts, label: Option<&str>) {
    let dropped = counts.dropped.swap(0, Ordering::Relaxed);
    if dropped == 0 {
        return;
    }
    let mut line = head("events.dropped", label);
    line.insert("count".into(), dropped.into());
    if !is_written(sink.write(ended(line).as_bytes()), &mut true) {
        counts.dropped.fetch_add(dropped, Ordering::Relaxed);
    }
}

/// Whether a line was written; the first failure is logged.
fn is_written(written: io::Result<bool>, has_failed: &mut bool) -> bool {
    match written {
        Ok(written) => written,
        Err(error) => {
            if !std::mem::replace(has_failed, true) {
                tracing::warn!(%error, "the events cannot be written and are dropped");
            }
            false
        }
    }
}

fn line_of(change: &CommittedChange, label: Option<&str>) -> String {
    let entry = match change.entry {
        EntryKind::File => "file",
        EntryKind::Directory => "directory",
        EntryKind::Link => "link",
    };
    let kind = match change.kind {
        ChangeKind::Created => "created",
        ChangeKind::Written => "written",
        ChangeKind::Moved => "moved",
        ChangeKind::Deleted => "deleted",
    };
    let mut line = head(&format!("{entry}.{kind}"), label);
    line.insert("tool".into(), change.tool.into());
    line.insert("path".into(), change.path.to_string().into());
    line.insert("uri".into(), change.path.resource_uri().into());
    if let Some(from) = &change.from {
        line.insert("from".into(), from.to_string().into());
        line.insert("from_uri".into(), from.resource_uri().into());
    }
    if let Some(revision) = change.revision {
        line.insert("revision".into(), revision.to_string().into());
    }
    ended(line)
}

/// What each line begins with.
fn head(event: &str, label: Option<&str>) -> Map<String, Value> {
    let mut line = Map::new();
    line.insert("event".into(), event.into());
    line.insert("time".into(), json!(humantime::format_rfc3339_millis(SystemTime::now()).to_string()));
    if let Some(label) = label {
        line.insert("label".into(), label.into());
    }
    line
}

fn ended(line: Map<String, Value>) -> String {
    let mut text = Value::Object(line).to_string();
    text.push('\n');
    text
}
