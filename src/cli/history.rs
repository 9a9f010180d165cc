//! `rootbound history`: the recorded changes, for people.

use std::{collections::HashSet, fmt::Write as _, process::ExitCode};

use confined_fs::escape_controls;

use crate::{
    config::HistoryRequest,
    server::Services,
    session::history::{JournalRecord, RecordKind, now},
    tools::{Kind, ToolError, restore as bring_back},
};

use super::{
    age::age,
    output::{fail, print},
};

/// Digits of a revision that are shown; `restore` accepts any unique prefix.
const DIGITS: usize = 12;

/// Digits of a session that are shown; `--session` accepts any unique prefix.
const SESSION_DIGITS: usize = 8;

/// Prints the recorded changes, newest first: age, tool, revision of the former content, which change of which session
/// it was, and path. The files of one change follow one another; a checkpoint is a line.
pub fn history(services: &Services, request: &HistoryRequest) -> ExitCode {
    match listing(services, request) {
        Ok(text) => print(&text),
        Err(error) => fail(&error.text(), 1),
    }
}

fn listing(services: &Services, request: &HistoryRequest) -> Result<String, ToolError> {
    if !services.session.history.on_disk() {
        return Ok(
            "no history is kept: --history or --state-dir is off, or the state folder cannot be used\n".to_owned()
        );
    }
    let mut records = bring_back::records(&services.workspace, &services.session, request.path.as_deref())?;
    if let Some(name) = &request.since {
        let roots: Vec<&str> = services.workspace.roots().iter().map(|root| root.key()).collect();
        let Some((checkpoint, since)) = services.session.history.since_checkpoint(name, &roots).ok().flatten() else {
            return Err(ToolError::new(Kind::NotFound, format!("there is no checkpoint called {name:?}"))
                .hint("`rootbound history` lists the checkpoints"));
        };
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
    if records.is_empty() {
        return Ok("no recorded changes\n".to_owned());
    }
    Ok(lines(&records, now()))
}

fn lines(records: &[JournalRecord], now: u64) -> String {
    let mut text = String::new();
    let is_one = |one: &JournalRecord, other: &JournalRecord| {
        let is_checkpoint = one.kind == RecordKind::Checkpoint || other.kind == RecordKind::Checkpoint;
        !is_checkpoint && (&one.session, one.change) == (&other.session, other.change)
    };
    let groups: Vec<&[JournalRecord]> = records.chunk_by(is_one).collect();
    let mut last_checkpoint = None;
    for group in groups.into_iter().rev() {
        let first = &group[0];
        if first.kind == RecordKind::Checkpoint {
            // One line for each root has been recorded.
            let this = (&first.session, first.time, &first.shown);
            if last_checkpoint.replace(this) != Some(this) {
                let name = escape_controls(&first.shown);
                let _ = writeln!(text, "{:>8}  checkpoint {name}", age(now.saturating_sub(first.time)));
            }
            continue;
        }
        for record in group {
            let _ = writeln!(text, "{}", line(record, now));
        }
    }
    text
}

fn line(record: &JournalRecord, now: u64) -> String {
    let before = match (&record.old, record.kind) {
        (Some(revision), _) => revision.get(..DIGITS).unwrap_or(revision),
        (None, RecordKind::Directory) => "directory",
        (None, RecordKind::Made) => "made",
        (None, RecordKind::Link) => "link",
        (None, _) => "-",
    };
    let to = record.to.as_ref().map_or_else(String::new, |to| format!(" -> {to}"));
    let age = age(now.saturating_sub(record.time));
    let session = record.session.get(..SESSION_DIGITS).unwrap_or(&record.session);
    let change = format!("{session}.{}", record.change);
    let by = record.by.as_ref().map_or_else(String::new, |by| format!("  (by {})", escape_controls(by)));
    format!("{age:>8}  {:<7}  {before:<DIGITS$}  {change:<11}  {}{to}{by}", record.tool, record.shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_age_tool_revision_and_path() {
        let record = JournalRecord {
            time: 1_000,
            session: "5e55".into(),
            change: 7,
            tool: "edit".into(),
            shown: "src/a.rs".into(),
            old: Some("0123456789abcdef0123456789abcdef".into()),
            ..JournalRecord::default()
        };
        assert_eq!(line(&record, 1_300), "   5 min  edit     0123456789ab  5e55.7       src/a.rs");
        let named = JournalRecord { by: Some("thread a1".into()), ..record.clone() };
        assert!(line(&named, 1_300).ends_with("  src/a.rs  (by thread a1)"));
        let moved = JournalRecord { old: None, to: Some("b".into()), tool: "move".into(), ..record };
        assert_eq!(line(&moved, 1_000), "     0 s  move     -             5e55.7       src/a.rs -> b");
    }
}
