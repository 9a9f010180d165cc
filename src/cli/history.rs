//! `rootbound history`: the recorded changes, human-readable: listed, compared and restored, and states that get a name.

use std::{
    collections::HashSet,
    fmt::Write as _,
    process::ExitCode,
    time::{Duration, UNIX_EPOCH},
};

use confined_fs::escape::escape_controls;

use crate::{
    config::{DiffRequest, HistoryCommand, ListRequest, RestoreRequest},
    server::Services,
};
use file_tools::{
    Kind, ToolError,
    session::history::{CheckpointAsker, CheckpointName, JournalRecord, RecordKind, now},
    undo::purge::purge,
    undo::restore::{self as bring_back, HistoryPoint, diff_from, restore_to},
    utc,
};

use super::{TIME_LIMIT, age, asked, report, with_bar};

/// Digits of a revision that are shown; `restore` accepts any unique prefix.
const SHOWN_DIGITS: usize = 12;
/// Digits of a session that are shown; `--session` accepts any unique prefix.
const SESSION_DIGITS: usize = 8;
/// Digits of a thread's UUID that are shown.
const THREAD_DIGITS: usize = 8;
const NOTHING_KEPT: &str = "no history is kept: --history or --state-dir is off, or the state folder cannot be used";

pub fn history(services: &Services, command: &HistoryCommand) -> ExitCode {
    report(match command {
        HistoryCommand::List(request) => listing(services, request),
        HistoryCommand::Restore(request) => with_bar("restoring", |_| restore(services, request)),
        HistoryCommand::Diff(request) => with_bar("comparing", |_| diff(services, request)),
        HistoryCommand::Checkpoint { name } => checkpoint(services, name),
        HistoryCommand::Purge { path, yes, .. } => {
            let ask = |question: &str| if *yes { Some(true) } else { asked(&escape_controls(question)) };
            purge(&services.workspace, &services.session, path.as_deref(), ask)
        }
    })
}

/// The recorded changes, newest first: time, tool, revision of the former content, which change of which session it was,
/// and path. The files of one change follow one another; a checkpoint is a line.
fn listing(services: &Services, request: &ListRequest) -> Result<String, ToolError> {
    if !services.session.history.on_disk() {
        return Ok(NOTHING_KEPT.to_owned());
    }
    let mut records = bring_back::records(&services.workspace, &services.session, request.path.as_deref())?;
    if let Some(name) = &request.since {
        let (checkpoint, since) = since_checkpoint(services, name)?;
        let since: HashSet<(&str, u64)> = since.iter().map(JournalRecord::key).collect();
        let line = records.iter().rposition(|record| *record == checkpoint).unwrap_or(0);
        let is_since = |(at, record): &(usize, JournalRecord)| {
            if record.is_of_entry() { since.contains(&record.key()) } else { *at >= line }
        };
        records = records.into_iter().enumerate().filter(is_since).map(|(_, record)| record).collect();
    }
    if let Some(session) = &request.session {
        records.retain(|record| record.session.starts_with(session.as_str()));
    }
    Ok(if records.is_empty() { "no recorded changes".to_owned() } else { table(&records, now()) })
}

fn since_checkpoint(services: &Services, name: &str) -> Result<(JournalRecord, Vec<JournalRecord>), ToolError> {
    let roots: Vec<&str> = services.workspace.roots().iter().map(|root| root.key()).collect();
    services.session.history.since_checkpoint(name, &roots, CheckpointAsker::Person).ok().flatten().ok_or_else(|| {
        ToolError::new(Kind::NotFound, format!("there is no checkpoint called {name:?}"))
            .hint("`rootbound history` lists the checkpoints, `rootbound history checkpoint NAME` makes one")
    })
}

fn table(records: &[JournalRecord], now: u64) -> String {
    let mut text = row(["TIME (UTC)", "AGO", "TOOL", "BEFORE", "CHANGE", "PATH"]);
    let is_one = |one: &JournalRecord, other: &JournalRecord| {
        let is_checkpoint = one.kind == RecordKind::Checkpoint || other.kind == RecordKind::Checkpoint;
        !is_checkpoint && (&one.session, one.change) == (&other.session, other.change)
    };
    let groups: Vec<&[JournalRecord]> = records.chunk_by(is_one).collect();
    let mut last_checkpoint = None;
    // The records are in the order of time; the newest is listed first.
    for group in groups.into_iter().rev() {
        let first = &group[0];
        if first.kind == RecordKind::Checkpoint {
            // One line for each root has been recorded.
            let this = (&first.session, first.time, &first.shown);
            if last_checkpoint.replace(this) != Some(this) {
                let (time, ago) = (time(first.time), age(now.saturating_sub(first.time)));
                let by = if first.change == 0 { "the command".to_owned() } else { maker(first) };
                let _ = writeln!(text, "{time}  {ago:>7}  checkpoint {}  (by {by})", escape_controls(&first.shown));
            }
            continue;
        }
        for record in group {
            text.push_str(&line(record, now));
        }
    }
    text
}

fn line(record: &JournalRecord, now: u64) -> String {
    let before = match (&record.old, record.kind) {
        _ if record.is_purged() => "purged",
        (Some(revision), _) => revision.get(..SHOWN_DIGITS).unwrap_or(revision),
        (None, RecordKind::Directory) => "directory",
        (None, RecordKind::Made) => "made",
        (None, RecordKind::Link) => "link",
        (None, _) => "-",
    };
    let to = record.to.as_ref().map_or_else(String::new, |to| format!(" -> {to}"));
    let by = record.by.as_ref().map_or_else(String::new, |_| format!("  (by {})", maker(record)));
    let session = record.session.get(..SESSION_DIGITS).unwrap_or(&record.session);
    let change = format!("{session}.{}", record.change);
    let path = format!("{}{to}{by}", record.shown);
    row([&time(record.time), &age(now.saturating_sub(record.time)), &record.tool, before, &change, &path])
}

/// Who made a change: the client and the thread, whose id is cut as in the names that clients show; else the session.
fn maker(record: &JournalRecord) -> String {
    let Some(by) = &record.by else { return record.maker() };
    let is_uuid = |id: &str| id.len() == 36 && id.chars().all(|letter| letter == '-' || letter.is_ascii_hexdigit());
    let words: Vec<&str> =
        by.split(' ').map(|word| if is_uuid(word) { &word[..THREAD_DIGITS] } else { word }).collect();
    let client = record.client.iter().filter(|client| *client != by);
    let client = client.map(|client| format!("{}, ", client.strip_suffix("-mcp-client").unwrap_or(client)));
    // A client chooses its name, which makes no line of its own.
    escape_controls(&(client.collect::<String>() + &words.join(" "))).replace('\n', "\\n")
}

fn row([time, ago, tool, before, change, path]: [&str; 6]) -> String {
    format!("{time:<16}  {ago:>7}  {tool:<7}  {before:<SHOWN_DIGITS$}  {change:<11}  {path}\n")
}

/// `2026-11-26 15:08`, in UTC: the files of time zones are out of reach behind the walls.
fn time(seconds: u64) -> String {
    let text = UNIX_EPOCH.checked_add(Duration::from_secs(seconds)).and_then(utc).unwrap_or_default();
    text.replace('T', " ").chars().take(16).collect()
}

fn restore(services: &Services, request: &RestoreRequest) -> Result<String, ToolError> {
    let cx = services.context(TIME_LIMIT);
    let Some(point) = point(services, request.to.as_deref(), request.session.as_deref())? else {
        let path = request.path.as_deref().unwrap_or_default();
        return bring_back::restore(&cx, path, request.revision.as_deref());
    };
    let paths: Vec<String> = request.path.iter().chain(&request.revision).chain(&request.more).cloned().collect();
    restore_to(&cx, point, &paths, request.include_others, request.dry_run)
}

fn diff(services: &Services, request: &DiffRequest) -> Result<String, ToolError> {
    let (mut name, mut paths) = (request.name.as_deref(), request.paths.clone());
    if request.session.is_some() {
        // No name is asked for then: the word is the first path.
        paths.splice(0..0, name.take().map(str::to_owned));
    }
    match point(services, name, request.session.as_deref())? {
        Some(point) => diff_from(&services.context(TIME_LIMIT), point, &paths),
        None => Ok(String::new()),
    }
}

fn point<'r>(
    services: &Services,
    checkpoint: Option<&'r str>,
    session: Option<&'r str>,
) -> Result<Option<HistoryPoint<'r>>, ToolError> {
    if let Some(name) = checkpoint {
        since_checkpoint(services, name)?;
    }
    let named = |name| HistoryPoint::Checkpoint(name, CheckpointAsker::Person);
    Ok(session.map(HistoryPoint::RecordedSession).or_else(|| checkpoint.map(named)))
}

fn checkpoint(services: &Services, name: &str) -> Result<String, ToolError> {
    let parsed = name.parse::<CheckpointName>();
    let name =
        parsed.map_err(|why| ToolError::invalid(why.to_string()).hint("choose a short name such as before-agent"))?;
    let history = &services.session.history;
    let failed = |why: &str| ToolError::new(Kind::Internal, format!("the checkpoint {name} was not made: {why}"));
    if !history.on_disk() {
        return Err(failed(NOTHING_KEPT));
    }
    let roots: Vec<&str> = services.workspace.roots().iter().map(|root| root.key()).collect();
    match history.set_checkpoint(&name, 0, &roots, None) {
        Ok(false) => Ok(format!("Checkpoint {name} made")),
        Ok(true) => Ok(format!("Checkpoint {name} moved: it is now the state of this moment")),
        Err(error) => Err(failed(&error.kind().to_string())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_time_age_tool_revision_and_path() {
        let record = JournalRecord {
            time: 1_000,
            session: "5e55".into(),
            change: 7,
            tool: "edit".into(),
            shown: "src/a.rs".into(),
            old: Some("0123456789abcdef0123456789abcdef".into()),
            ..JournalRecord::default()
        };
        assert_eq!(line(&record, 1_300), "1970-01-01 00:16    5 min  edit     0123456789ab  5e55.7       src/a.rs\n");
        let named = JournalRecord { by: Some("thread a1".into()), ..record.clone() };
        assert!(line(&named, 1_300).ends_with("  src/a.rs  (by thread a1)\n"));
        let thread = "thread 01a222b8-3c4d-7e5f-8a9b-0c1d2e3f4a5b (blue)";
        let client = Some("codex-mcp-client".to_owned());
        let named = JournalRecord { by: Some(thread.into()), client: client.clone(), ..record.clone() };
        assert!(line(&named, 1_300).ends_with("  src/a.rs  (by codex, thread 01a222b8 (blue))\n"));
        let named = JournalRecord { by: Some("a\nb".into()), ..record.clone() };
        assert!(line(&named, 1_300).ends_with("  (by a\\nb)\n"));
        let named = JournalRecord { by: client.clone(), client, ..record.clone() };
        assert!(line(&named, 1_300).ends_with("  (by codex-mcp-client)\n"));
        let moved = JournalRecord { old: None, to: Some("b".into()), tool: "move".into(), ..record };
        assert_eq!(
            line(&moved, 1_000),
            "1970-01-01 00:16      0 s  move     -             5e55.7       src/a.rs -> b\n"
        );
        assert!(time(u64::MAX).is_empty());
    }
}
