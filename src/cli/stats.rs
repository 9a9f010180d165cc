//! `rootbound stats`: what an audit adds up to, as a table for people or as JSON.

use std::{
    fmt::Write as _,
    io::{self, BufReader},
    path::Path,
    process::ExitCode,
};

use confined_fs::{AppendLog, escape_controls};
use serde_json::{Value, json};
use text_file::{file_size, shorten};

use crate::{
    audit::stats::{AuditStats, CallTotals},
    config::{BAD_CONFIGURATION, Config, StatsRequest},
};

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
