//! `--events`: one JSON line for each change that this server makes, for interfaces and plug-ins.
//!
//! A call only queues its lines; a thread, which begins with the first one, writes them. What does not fit, because the
//! disk is slow or nobody reads a FIFO, is dropped and counted: the next line that can be written says how many. The
//! schema is in docs/resources.md.

use std::time::{Duration, SystemTime};

use change_set::state::EventSink;
use confined_fs::WorkspacePath;
use serde_json::{Value, json};

use crate::log::{LineQueue, LineSink};
use file_tools::session::{ChangeListener, CommittedChange};

/// Lines that wait to be written, and bytes of them.
const MAX_LINES: usize = 4096;
const MAX_BYTES: usize = 4 << 20;

#[derive(Debug)]
pub struct EventLog {
    label: Option<String>,
    lines: &'static LineQueue<EventWriter>,
}

#[derive(Debug)]
struct EventWriter {
    sink: EventSink,
    label: Option<String>,
    has_failed: bool,
}

impl EventLog {
    pub fn new(sink: EventSink, label: Option<String>) -> Self {
        let writer = EventWriter { sink, label: label.clone(), has_failed: false };
        // Never freed: the thread that writes lives as long as the process.
        Self { label, lines: Box::leak(Box::new(LineQueue::new("events", writer, MAX_LINES, MAX_BYTES, true))) }
    }

    /// Waits until what was queued is written, at most `limit`.
    pub fn flush(&self, limit: Duration) {
        self.lines.flush(limit);
    }
}

impl ChangeListener for EventLog {
    fn changed(&self, changes: &[CommittedChange]) {
        for change in changes {
            self.lines.push(line_of(change, self.label.as_deref()));
        }
    }
}

impl LineSink for EventWriter {
    fn write(&mut self, line: &[u8], _: Option<Duration>) -> bool {
        self.sink.write(line).unwrap_or_else(|error| {
            // Once: on a full disk each change would write a line to the log.
            if !std::mem::replace(&mut self.has_failed, true) {
                tracing::warn!(%error, "the events cannot be written and are dropped");
            }
            false
        })
    }

    fn dropped(&self, count: u64) -> Vec<u8> {
        line("events.dropped", self.label.as_deref(), json!({ "count": count }))
    }
}

fn line_of(change: &CommittedChange, label: Option<&str>) -> Vec<u8> {
    line(
        &format!("{:?}.{:?}", change.entry, change.kind).to_lowercase(),
        label,
        json!({
            "tool": change.tool,
            "path": change.path.to_string(),
            "uri": change.path.resource_uri(),
            "from": change.from.as_ref().map(ToString::to_string),
            "from_uri": change.from.as_ref().map(WorkspacePath::resource_uri),
            "revision": change.revision.map(|revision| revision.to_string()),
            "by": change.by.as_deref(),
            "session": &*change.session,
        }),
    )
}

/// A line with what each begins with, and those of the members that are known.
fn line(event: &str, label: Option<&str>, mut members: Value) -> Vec<u8> {
    members["event"] = event.into();
    members["time"] = humantime::format_rfc3339_millis(SystemTime::now()).to_string().into();
    members["label"] = label.into();
    if let Value::Object(members) = &mut members {
        members.retain(|_, value| !value.is_null());
    }
    format!("{members}\n").into_bytes()
}
