//! What an audit adds up to: calls, errors, bytes and times for each tool and each client.
//!
//! Reads the lines one after another. Memory is bounded whatever the files hold, by the number of rows and by the length
//! of a line. A line that is not one of this program, or that was damaged, is counted and left out.

use std::{
    borrow::Cow,
    collections::BTreeMap,
    io::{self, BufRead},
    time::SystemTime,
};

use serde::Deserialize;
use text_file::shorten;

use super::durations::Durations;

/// The longest line that is read: no line of an audit is nearly as long.
const LONGEST: usize = 4 << 20;
/// Rows of each table; what comes later is added to the row with this name.
const ROWS: usize = 100;
const OTHERS: &str = "(others)";
/// Bytes of a name of a row: of a tool, a client, a label or a kind of error.
const KEY: usize = 200;
/// Kinds of errors in a row.
const KINDS: usize = 50;

/// The sums of some calls.
#[derive(Debug, Default)]
pub struct CallTotals {
    /// How many there were.
    pub calls: u64,
    /// How many ended with an error, by its kind.
    pub errors: BTreeMap<String, u64>,
    /// Bytes of their answers.
    pub bytes: u64,
    /// Bytes that they wrote to files.
    pub written: u64,
    /// How long they took.
    pub durations: Durations,
}

impl CallTotals {
    /// How many ended with an error.
    pub fn failed(&self) -> u64 {
        self.errors.values().sum()
    }

    fn add(&mut self, line: &AuditLine<'_>) {
        self.calls += 1;
        self.bytes = self.bytes.saturating_add(line.bytes);
        self.written = self.written.saturating_add(line.written);
        if !matches!(&*line.outcome, "ok" | "asked") {
            *entry(&mut self.errors, KINDS, &shorten(&line.outcome, KEY)) += 1;
        }
        if let Some(milliseconds) = line.duration_ms {
            self.durations.add(micros(milliseconds));
        }
    }
}

/// The name and the label of a client.
pub type ClientKey = (String, String);

/// What one or several files add up to.
#[derive(Debug, Default)]
pub struct AuditStats {
    /// By tool.
    pub tools: BTreeMap<String, CallTotals>,
    /// By client and label.
    pub clients: BTreeMap<ClientKey, CallTotals>,
    /// All calls.
    pub all: CallTotals,
    /// The times of the first and the last call, as the lines have them.
    pub span: Option<(String, String)>,
    /// Lines that are no JSON object, or too long.
    pub damaged: u64,
    /// JSON objects that are not of an audit.
    pub foreign: u64,
    /// Calls before the time that was asked for.
    pub earlier: u64,
}

/// A line, as far as it is added up.
#[derive(Deserialize)]
struct AuditLine<'l> {
    #[serde(borrow)]
    event: Cow<'l, str>,
    #[serde(borrow)]
    time: Cow<'l, str>,
    #[serde(borrow)]
    tool: Cow<'l, str>,
    #[serde(borrow, default)]
    outcome: Cow<'l, str>,
    #[serde(default)]
    bytes: u64,
    #[serde(default)]
    written: u64,
    #[serde(default)]
    duration_ms: Option<f64>,
    #[serde(default)]
    client: Option<ClientName>,
    #[serde(default)]
    label: Option<String>,
}

#[derive(Deserialize)]
struct ClientName {
    name: String,
}

impl AuditStats {
    /// Adds the lines of a file, those of calls at `since` or later.
    pub fn read(&mut self, mut file: impl BufRead, since: Option<SystemTime>) -> io::Result<()> {
        let mut bytes = Vec::new();
        loop {
            bytes.clear();
            let has_line_end = read_line(&mut file, &mut bytes)?;
            match has_line_end {
                None => return Ok(()),
                Some(_) if bytes.iter().all(u8::is_ascii_whitespace) => {}
                Some(is_whole) => {
                    if is_whole {
                        self.add(&bytes, since);
                    } else {
                        self.damaged += 1;
                    }
                }
            }
        }
    }

    fn add(&mut self, bytes: &[u8], since: Option<SystemTime>) {
        let Ok(line) = serde_json::from_slice::<AuditLine<'_>>(bytes) else {
            let is_object = serde_json::from_slice::<serde::de::IgnoredAny>(bytes).is_ok();
            *(if is_object { &mut self.foreign } else { &mut self.damaged }) += 1;
            return;
        };
        let time = humantime::parse_rfc3339(&line.time);
        let (Ok(time), true) = (time, matches!(&*line.event, "call" | "intent")) else {
            self.foreign += 1;
            return;
        };
        // An intent is followed by the line of the same call.
        if line.event == "intent" {
            return;
        }
        if since.is_some_and(|since| time < since) {
            self.earlier += 1;
            return;
        }
        // The text of a time sorts as the time does.
        match &mut self.span {
            None => self.span = Some((line.time.to_string(), line.time.to_string())),
            Some((first, _)) if *line.time < **first => *first = line.time.to_string(),
            Some((_, last)) if *line.time > **last => *last = line.time.to_string(),
            Some(_) => {}
        }
        self.all.add(&line);
        row(&mut self.tools, shorten(&line.tool, KEY).into_owned(), || OTHERS.to_owned()).add(&line);
        let client = line.client.as_ref().map_or("", |client| &client.name);
        let label = line.label.as_deref().unwrap_or_default();
        let key = (shorten(client, KEY).into_owned(), shorten(label, KEY).into_owned());
        row(&mut self.clients, key, || (OTHERS.to_owned(), String::new())).add(&line);
    }
}

/// The row of `key`, or the one of the others when there are enough.
fn row<K: Ord>(rows: &mut BTreeMap<K, CallTotals>, key: K, others: impl FnOnce() -> K) -> &mut CallTotals {
    let key = if rows.len() < ROWS || rows.contains_key(&key) { key } else { others() };
    rows.entry(key).or_default()
}

fn entry<'c>(counts: &'c mut BTreeMap<String, u64>, most: usize, key: &str) -> &'c mut u64 {
    let key = if counts.len() < most || counts.contains_key(key) { key } else { OTHERS };
    counts.entry(key.to_owned()).or_default()
}

/// Reads a line, and drops one that is too long. `None` at the end, else whether `bytes` has all of it.
fn read_line(file: &mut impl BufRead, bytes: &mut Vec<u8>) -> io::Result<Option<bool>> {
    let (mut has_any, mut is_whole) = (false, true);
    loop {
        let held = match file.fill_buf() {
            Ok(held) => held,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        if held.is_empty() {
            return Ok(has_any.then_some(is_whole));
        }
        has_any = true;
        let end = memchr::memchr(b'\n', held);
        let part = &held[..end.unwrap_or(held.len())];
        is_whole &= bytes.len() + part.len() <= LONGEST;
        if is_whole {
            bytes.extend_from_slice(part);
        }
        let used = end.map_or(held.len(), |end| end + 1);
        file.consume(used);
        if end.is_some() {
            return Ok(Some(is_whole));
        }
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the cast saturates")]
fn micros(milliseconds: f64) -> u64 {
    (milliseconds * 1000.0).round() as u64
}
