//! `rootbound history`: the recorded changes, for people.

use std::{fmt::Write as _, process::ExitCode};

use crate::{
    server::Parts,
    session::history::{JournalRecord, RecordKind, now},
    tools::{ToolError, restore as bring_back},
};

use super::output::{fail, print};

/// Digits of a revision that are shown; `restore` accepts any unique prefix.
const DIGITS: usize = 12;

/// Prints the recorded changes, newest first: age, revision of the former content, tool and path.
pub fn history(parts: &Parts, path: Option<&str>) -> ExitCode {
    match listing(parts, path) {
        Ok(text) => print(&text),
        Err(error) => fail(&error.text(), 1),
    }
}

fn listing(parts: &Parts, path: Option<&str>) -> Result<String, ToolError> {
    if !parts.session.history.on_disk() {
        return Ok(
            "no history is kept: --history or --state-dir is off, or the state folder cannot be used\n".to_owned()
        );
    }
    let records = bring_back::records(&parts.workspace, &parts.session, path)?;
    if records.is_empty() {
        return Ok("no recorded changes\n".to_owned());
    }
    let now = now();
    let mut text = String::new();
    for record in records.iter().rev() {
        let _ = writeln!(text, "{}", line(record, now));
    }
    Ok(text)
}

fn line(record: &JournalRecord, now: u64) -> String {
    let before = match (&record.old, record.kind) {
        (Some(revision), _) => revision.get(..DIGITS).unwrap_or(revision),
        (None, RecordKind::Directory) => "directory",
        (None, RecordKind::Link) => "link",
        (None, _) => "-",
    };
    let to = record.to.as_ref().map_or_else(String::new, |to| format!(" -> {to}"));
    format!("{:>8}  {:<7}  {before:<DIGITS$}  {}{to}", age(now.saturating_sub(record.time)), record.tool, record.shown)
}

/// `12 s`, `3 min`, `5 h` or `2 d`.
fn age(seconds: u64) -> String {
    match seconds {
        0..120 => format!("{seconds} s"),
        120..7_200 => format!("{} min", seconds / 60),
        7_200..172_800 => format!("{} h", seconds / 3_600),
        _ => format!("{} d", seconds / 86_400),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_age_tool_revision_and_path() {
        let record = JournalRecord {
            time: 1_000,
            tool: "edit".into(),
            shown: "src/a.rs".into(),
            old: Some("0123456789abcdef0123456789abcdef".into()),
            ..JournalRecord::default()
        };
        assert_eq!(line(&record, 1_300), "   5 min  edit     0123456789ab  src/a.rs");
        let moved = JournalRecord { old: None, to: Some("b".into()), tool: "move".into(), ..record };
        assert_eq!(line(&moved, 1_000), "     0 s  move     -             src/a.rs -> b");
    }

    #[test]
    fn ages_are_in_the_largest_unit_that_fits() {
        assert_eq!([119, 120, 7_199, 7_200, 172_800].map(age), ["119 s", "2 min", "119 min", "2 h", "2 d"]);
    }
}
