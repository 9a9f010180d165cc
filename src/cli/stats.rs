//! `rootbound stats`: what an audit adds up to, as a human-readable table or as JSON: calls, errors, bytes and times for each tool
//! and each client.
//!
//! Reads the lines one after another. Memory is bounded whatever the files hold, by the number of rows and by the length
//! of a line. A line that is not one of this program, or that was damaged, is counted and left out.

use std::{
    borrow::Cow,
    collections::BTreeMap,
    fmt::Write as _,
    io::{self, BufRead, BufReader, Read as _},
    path::Path,
    process::ExitCode,
    time::SystemTime,
};

use confined_fs::{AppendLog, escape_controls};
use serde::Deserialize;
use serde_json::{Value, json};
use text_file::{file_size, shorten};

use crate::config::{BAD_CONFIGURATION, Config, StatsRequest};

use super::{fail, print};

/// Bytes that are read from a file at once.
const BUFFER: usize = 256 << 10;
/// Characters of a name in a table.
const MAX_NAME: usize = 40;

/// Prints the sums of the audit that `request` or the configuration names.
pub fn stats(config: &Config, request: &StatsRequest) -> ExitCode {
    let Some(file) = request.file.as_deref().or(config.audit.file.as_deref()) else {
        return fail(
            &format!("rootbound: no audit file was named\n\nhint: rootbound stats FILE; {}", recording("FILE")),
            BAD_CONFIGURATION,
        );
    };
    let shown = file.display().to_string();
    match add_up(file, request) {
        Ok((0, _)) => {
            let why = format!("rootbound: the audit file {shown} does not exist\n\nhint: {}", recording(&shown));
            fail(&why, 1)
        }
        Ok((files, stats)) if request.json => print(&format!("{:#}", data(files, &stats))),
        Ok((files, stats)) => print(&text(&shown, files, &stats)),
        Err(error) => {
            let why = match error.kind() {
                io::ErrorKind::InvalidInput => "it is not a file".to_owned(),
                _ => error.to_string(),
            };
            fail(
                &format!("rootbound: the audit file {shown} cannot be read: {why}\n\nhint: name the file of --audit"),
                1,
            )
        }
    }
}

/// How calls come into a file.
fn recording(file: &str) -> String {
    format!("to record calls, start the server with --audit {file}")
}

/// How many files there are, and what they add up to.
fn add_up(file: &Path, request: &StatsRequest) -> io::Result<(usize, AuditStats)> {
    let mut stats = AuditStats::default();
    let files = AppendLog::read_back(file)?;
    let count = files.len();
    // Each is read to its end before the next: only one line is in memory.
    for file in files {
        stats.read(BufReader::with_capacity(BUFFER, file), request.since)?;
    }
    Ok((count, stats))
}

fn text(file: &str, files: usize, stats: &AuditStats) -> String {
    let mut out = String::new();
    if let Some((first, last)) = &stats.span {
        let files = if files == 1 { String::new() } else { format!(" in {files} files") };
        let calls = if stats.all.calls == 1 { "1 call".to_owned() } else { format!("{} calls", stats.all.calls) };
        let _ = writeln!(out, "{calls}{files}, {first} to {last}\n");
        // A client chooses its name itself, and could drive the terminal with it.
        let name = |name: &str| shorten(&escape_controls(name).replace(['\n', '\t'], " "), MAX_NAME).into_owned();
        let tools = stats.tools.iter().map(|(tool, row)| (name(tool), row));
        let total = (stats.tools.len() > 1).then(|| ("all".to_owned(), &stats.all));
        out.push_str(&table("tool", tools.chain(total)));
        if stats.clients.len() > 1 {
            let client = |client: &str, label: &str| match (client, label) {
                ("", "") => "(unknown)".to_owned(),
                ("", label) => label.to_owned(),
                (client, "") => client.to_owned(),
                (client, label) => format!("{client} · {label}"),
            };
            let rows = stats.clients.iter().map(|((own, label), row)| (name(&client(own, label)), row));
            let _ = write!(out, "\n{}", table("client", rows));
        }
    } else if stats.earlier > 0 {
        let _ = writeln!(out, "no calls since then; {} were before: choose an earlier --since", stats.earlier);
    } else {
        let _ = writeln!(out, "no calls are recorded in {file}; {}", recording(file));
    }
    for (count, what) in [(stats.damaged, "damaged, so that it is not JSON"), (stats.foreign, "not of an audit")] {
        if count > 0 {
            let lines = if count == 1 { "1 line was".to_owned() } else { format!("{count} lines were") };
            let _ = writeln!(out, "\n{lines} left out: {what}");
        }
    }
    out
}

/// A table with a line for each row, numbers to the right.
fn table<'r>(head: &str, rows: impl Iterator<Item = (String, &'r CallTotals)>) -> String {
    let mut lines = vec![(
        [head, "calls", "errors", "answered", "written", "median", "p95", "longest"].map(str::to_owned),
        String::new(),
    )];
    lines.extend(rows.map(|(name, row)| {
        let kinds: Vec<_> =
            row.errors.iter().map(|(kind, count)| format!("{} {count}", escape_controls(kind))).collect();
        let times = &row.durations;
        let cells = [
            name,
            row.calls.to_string(),
            row.failed().to_string(),
            file_size(row.bytes),
            file_size(row.written),
            time(times.median()),
            time(times.p95()),
            time(times.longest()),
        ];
        (cells, kinds.join(", "))
    }));
    // In characters: the mark between a client and its label has two bytes.
    let width = |column: usize| lines.iter().map(|(cells, _)| cells[column].chars().count()).max().unwrap_or_default();
    let widths: [usize; 8] = std::array::from_fn(width);
    let mut out = String::new();
    for (cells, kinds) in &lines {
        let mut line = format!("{:<width$}", cells[0], width = widths[0]);
        for (cell, width) in cells.iter().zip(widths).skip(1) {
            let _ = write!(line, "  {cell:>width$}");
        }
        let _ = write!(line, "  {kinds}");
        let _ = writeln!(out, "{}", line.trim_end());
    }
    out
}

/// Milliseconds with three digits, as seconds where there are many.
fn time(milliseconds: Option<f64>) -> String {
    match milliseconds {
        None => "-".to_owned(),
        Some(ms) if ms < 9.995 => format!("{ms:.2} ms"),
        Some(ms) if ms < 99.95 => format!("{ms:.1} ms"),
        Some(ms) if ms < 999.5 => format!("{ms:.0} ms"),
        Some(ms) if ms < 9_995.0 => format!("{:.2} s", ms / 1000.0),
        Some(ms) => format!("{:.1} s", ms / 1000.0),
    }
}

fn data(files: usize, stats: &AuditStats) -> Value {
    let tools: Vec<_> = stats.tools.iter().map(|(tool, row)| with(json!({ "tool": tool }), row)).collect();
    let named = |name: &str| if name.is_empty() { Value::Null } else { name.into() };
    let clients = stats.clients.iter();
    let clients =
        clients.map(|((client, label), row)| with(json!({ "client": named(client), "label": named(label) }), row));
    let (first, last) = stats.span.clone().unzip();
    let head = json!({
        "files": files, "first": first, "last": last, "damaged": stats.damaged, "foreign": stats.foreign,
        "earlier": stats.earlier,
    });
    let mut data = with(head, &stats.all);
    data["tools"] = tools.into();
    data["clients"] = clients.collect();
    data
}

/// `names` with the numbers of `row`.
fn with(mut names: Value, row: &CallTotals) -> Value {
    let times = &row.durations;
    let numbers = json!({
        "calls": row.calls, "failed": row.failed(), "errors": row.errors, "bytes": row.bytes, "written": row.written,
        "median_ms": times.median(), "p95_ms": times.p95(), "max_ms": times.longest(),
    });
    if let (Value::Object(names), Value::Object(numbers)) = (&mut names, numbers) {
        names.extend(numbers);
    }
    names
}

/// Bytes of the longest line that is read: no line of an audit is nearly as long.
const MAX_LINE: u64 = 4 << 20;
/// Rows of each table; what comes later is added to the row with this name.
const MAX_ROWS: usize = 100;
const OTHERS: &str = "(others)";
/// Bytes of a name of a row: of a tool, a client, a label or a kind of error.
const MAX_KEY: usize = 200;
/// Kinds of errors in a row.
const MAX_KINDS: usize = 50;

/// The sums of some calls.
#[derive(Debug, Default)]
struct CallTotals {
    /// How many there were.
    calls: u64,
    /// How many ended with an error, by its kind.
    errors: BTreeMap<String, u64>,
    /// Bytes of their answers.
    bytes: u64,
    /// Bytes that they wrote to files.
    written: u64,
    /// How long they took.
    durations: Durations,
}

impl CallTotals {
    /// How many ended with an error.
    fn failed(&self) -> u64 {
        self.errors.values().sum()
    }

    fn add(&mut self, line: &AuditLine<'_>) {
        self.calls += 1;
        self.bytes = self.bytes.saturating_add(line.bytes);
        self.written = self.written.saturating_add(line.written);
        if !matches!(&*line.outcome, "ok" | "asked") {
            *row(&mut self.errors, MAX_KINDS, shorten(&line.outcome, MAX_KEY).into_owned(), || OTHERS.to_owned()) += 1;
        }
        if let Some(milliseconds) = line.duration_ms {
            self.durations.add(micros(milliseconds));
        }
    }
}

/// The name and the label of a client.
type ClientKey = (String, String);

/// The sums of one or several files.
#[derive(Debug, Default)]
struct AuditStats {
    /// The sums of each tool, by its name.
    tools: BTreeMap<String, CallTotals>,
    /// By client and label.
    clients: BTreeMap<ClientKey, CallTotals>,
    /// The sums of all calls together.
    all: CallTotals,
    /// The times of the first and the last call, as the lines have them.
    span: Option<(String, String)>,
    /// Lines that are no JSON object, or too long.
    damaged: u64,
    /// JSON objects that are not of an audit.
    foreign: u64,
    /// Calls before the time that was asked for.
    earlier: u64,
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
    fn read(&mut self, mut file: impl BufRead, since: Option<SystemTime>) -> io::Result<()> {
        let mut bytes = Vec::new();
        loop {
            bytes.clear();
            // One byte more shows that the line is too long.
            let read = file.by_ref().take(MAX_LINE + 1).read_until(b'\n', &mut bytes)?;
            if read == 0 {
                return Ok(());
            }
            if read as u64 > MAX_LINE {
                if !bytes.ends_with(b"\n") {
                    // Not read into memory: the rest of it may be as long as the file.
                    file.skip_until(b'\n')?;
                }
                self.damaged += 1;
            } else if !bytes.iter().all(u8::is_ascii_whitespace) {
                self.add(&bytes, since);
            }
        }
    }

    fn add(&mut self, bytes: &[u8], since: Option<SystemTime>) {
        let Ok(line) = serde_json::from_slice::<AuditLine<'_>>(bytes) else {
            // Logs of other programs are JSON lines as well, and not damaged.
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
        row(&mut self.tools, MAX_ROWS, shorten(&line.tool, MAX_KEY).into_owned(), || OTHERS.to_owned()).add(&line);
        let client = line.client.as_ref().map_or("", |client| &client.name);
        let label = line.label.as_deref().unwrap_or_default();
        let key = (shorten(client, MAX_KEY).into_owned(), shorten(label, MAX_KEY).into_owned());
        row(&mut self.clients, MAX_ROWS, key, || (OTHERS.to_owned(), String::new())).add(&line);
    }
}

/// The row of `key`, or the one of the others where there are `most` rows.
fn row<K: Ord, V: Default>(rows: &mut BTreeMap<K, V>, most: usize, key: K, others: impl FnOnce() -> K) -> &mut V {
    let key = if rows.len() < most || rows.contains_key(&key) { key } else { others() };
    rows.entry(key).or_default()
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the cast saturates")]
fn micros(milliseconds: f64) -> u64 {
    (milliseconds * 1000.0).round() as u64
}

// Median, 95th percentile and longest of many durations, in bounded memory.

/// Different durations that are held; beyond, they are rounded to fewer digits.
const MAX_DURATIONS: usize = 10_000;
/// Digits that durations are rounded to at first. With three, there are at most 900 for each power of ten.
const FIRST_DIGITS: u32 = 4;

/// How often each duration occurred, in microseconds. Exact until there are ten thousand different ones.
#[derive(Debug, Default)]
struct Durations {
    counts: BTreeMap<u64, u64>,
    total: u64,
    /// Digits that are kept; `None` for all.
    digits: Option<u32>,
    longest: u64,
}

impl Durations {
    fn add(&mut self, micros: u64) {
        *self.counts.entry(rounded(micros, self.digits)).or_default() += 1;
        self.total += 1;
        self.longest = self.longest.max(micros);
        // With two digits there are at most 90 for each of the 20 powers of ten of a `u64`: fewer than are held.
        while self.counts.len() > MAX_DURATIONS && self.digits != Some(FIRST_DIGITS - 2) {
            let digits = self.digits.map_or(FIRST_DIGITS, |digits| digits - 1);
            self.digits = Some(digits);
            for (micros, count) in std::mem::take(&mut self.counts) {
                *self.counts.entry(rounded(micros, self.digits)).or_default() += count;
            }
        }
    }

    /// The one in the middle, or the mean of both that are; none if there are none.
    fn median(&self) -> Option<f64> {
        let (low, high) = (self.at(self.total.checked_sub(1)? / 2)?, self.at(self.total / 2)?);
        Some(f64::midpoint(milliseconds(low), milliseconds(high)))
    }

    /// The shortest that 95 of 100 do not exceed.
    fn p95(&self) -> Option<f64> {
        // At least 95 %: the 19th of 20.
        let rank = (u128::from(self.total) * 95).div_ceil(100);
        self.at(u64::try_from(rank).ok()?.checked_sub(1)?).map(milliseconds)
    }

    /// The longest, in milliseconds; none if there are none.
    fn longest(&self) -> Option<f64> {
        (self.total > 0).then(|| milliseconds(self.longest))
    }

    /// The one at this place in their order.
    fn at(&self, place: u64) -> Option<u64> {
        let mut before = 0;
        self.counts.iter().find_map(|(micros, count)| {
            before += count;
            (place < before).then_some(*micros)
        })
    }
}

#[expect(clippy::cast_precision_loss, reason = "more digits than a time has that matter")]
fn milliseconds(micros: u64) -> f64 {
    micros as f64 / 1000.0
}

fn rounded(micros: u64, digits: Option<u32>) -> u64 {
    let Some(digits) = digits else { return micros };
    let unit = 10_u64.pow(micros.checked_ilog10().unwrap_or(0).saturating_sub(digits - 1).min(19));
    (micros / unit).saturating_mul(unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn median_and_percentile_of_few_are_exact() {
        let of = |list: &[u64]| {
            let mut durations = Durations::default();
            for micros in list {
                durations.add(*micros);
            }
            [durations.median(), durations.p95(), durations.longest()]
        };
        assert_eq!(of(&[]), [None; 3]);
        assert_eq!(of(&[1500]), [Some(1.5); 3]);
        assert_eq!(of(&[3000, 1000]), [Some(2.0), Some(3.0), Some(3.0)]);
        assert_eq!(of(&(1..=100).map(|n| n * 1000).collect::<Vec<_>>()), [Some(50.5), Some(95.0), Some(100.0)]);
    }

    #[test]
    fn memory_is_bounded_and_the_error_small() {
        let mut durations = Durations::default();
        for number in 0..300_000_u64 {
            durations.add(number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (number % 64));
        }
        assert!(durations.counts.len() <= 20_000, "{}", durations.counts.len());
        let mut even = Durations::default();
        for number in 0..200_000 {
            even.add(number);
        }
        let (median, p95) = (even.median().expect("some"), even.p95().expect("some"));
        assert!((median - 100.0).abs() < 1.0 && (p95 - 190.0).abs() < 2.0, "{median} {p95}");
        assert_eq!(even.longest(), Some(199.999));
    }
}
