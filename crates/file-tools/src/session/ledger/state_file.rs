//! The lines of a state file: which caller of which process saw which file, when, at which revision, and which lines of it.

use std::{
    collections::HashSet,
    sync::Arc,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use change_set::{StateDir, state::StateFile};
use confined_fs::Revision;

use super::shown_lines::ALL_LINES_MARK;

/// Bytes of a state file after which it is rewritten without what has expired or been superseded.
pub(super) const COMPACT_AT: u64 = 512 << 10;
/// Lines kept then: half of that, at 110 bytes a line, so that rewriting stays rare.
const MAX_LINES: usize = (256 << 10) / 110;
const STATE_FILE_PREFIX: &str = "seen-";
pub(super) const MAX_STATE_BYTES: u64 = 8 << 20;
/// A read record is valid for a day, across processes.
pub(super) const RECORD_LIFETIME: Duration = Duration::from_secs(24 * 60 * 60);
/// How the name of the folder begins that a process has locked while it lives.
pub(super) const LIVING_PREFIX: &str = "living-";

pub(super) struct LedgerLine<'a> {
    pub(super) time: u64,
    pub(super) path: &'a str,
    pub(super) revision: Revision,
    pub(super) process: &'a str,
    pub(super) caller: &'a str,
    pub(super) lines: &'a str,
}

/// The caller without a name, in a line.
pub(super) const UNNAMED_MARK: &str = "-";

/// A caller in a line: a hash, as it may be anything.
pub(super) fn caller_name(by: Option<&Arc<str>>) -> String {
    by.map_or_else(|| UNNAMED_MARK.to_owned(), |by| Revision::of(by.as_bytes()).short())
}

/// Appends `line`, and keeps the file within its bound, alone: what another process appended while the file is
/// rewritten would be lost.
pub(super) fn keep(state: &StateDir, file: &str, line: &str, now: SystemTime) -> std::io::Result<()> {
    // Also where the file is not rewritten: another process may be about to.
    let _lock = state.lock();
    state.append(file, line.as_bytes())?;
    if state.size(file)? > COMPACT_AT {
        let bytes = state.read(file, MAX_STATE_BYTES)?;
        state.replace(file, compacted(&String::from_utf8_lossy(&bytes), now).as_bytes())?;
    }
    Ok(())
}

pub(super) fn sweep(state: &StateDir, now: SystemTime) {
    if let Err(error) = state.sweep() {
        tracing::debug!(%error, "temporary files of an earlier process stay");
    }
    let files = state.files().unwrap_or_default();
    let old = |file: &StateFile| now.duration_since(file.modified).is_ok_and(|age| age > RECORD_LIFETIME);
    for file in files.iter().filter(|file| file.name.starts_with(STATE_FILE_PREFIX) && old(file)) {
        if let Err(error) = state.discard(file) {
            tracing::debug!(%error, "what has expired could not be removed");
        }
    }
    if let Err(error) = state.sweep_held(LIVING_PREFIX) {
        tracing::debug!(%error, "the marks of killed processes stay");
    }
}

pub(super) fn file_name(root: &str) -> String {
    format!("{STATE_FILE_PREFIX}{root}")
}

pub(super) fn seconds(time: SystemTime) -> u64 {
    time.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

pub(super) fn parse(line: &str) -> Option<LedgerLine<'_>> {
    let mut fields = line.split(' ');
    let time = fields.next()?.parse().ok()?;
    let path = fields.next()?;
    let revision = fields.next()?.parse().ok()?;
    let (process, caller, lines) = (fields.next()?, fields.next()?, fields.next()?);
    // A line that a kill has torn has the next one after it, and so more fields.
    fields.next().is_none().then_some(LedgerLine { time, path, revision, process, caller, lines })
}

pub(super) fn fresh(time: u64, now: SystemTime) -> bool {
    // A time ahead of the clock, which may have been set back, counts as fresh.
    seconds(now).saturating_sub(time) < RECORD_LIFETIME.as_secs()
}

/// The newest fresh lines of each path and caller, with all lines and with some, oldest first; at most [`MAX_LINES`] of
/// them.
pub(super) fn compacted(text: &str, now: SystemTime) -> String {
    let mut known = HashSet::new();
    let is_newest = |entry: &LedgerLine<'_>, known: &mut HashSet<_>| {
        known.insert((entry.path.to_owned(), entry.caller.to_owned(), entry.lines == ALL_LINES_MARK))
    };
    let is_kept =
        |line: &&str| parse(line).is_some_and(|entry| fresh(entry.time, now) && is_newest(&entry, &mut known));
    let newest: Vec<&str> = text.lines().rev().filter(is_kept).take(MAX_LINES).collect();
    newest.iter().rev().flat_map(|line| [line, "\n"]).collect()
}

/// Removes the lines about files that are meant, by the key of the root and the hash of the path, and those that cannot be
/// read.
pub(crate) fn purge_seen(state: &StateDir, is_meant: impl Fn(&str, &str) -> bool) -> std::io::Result<()> {
    let _lock = state.lock();
    for file in state.files()? {
        let Some(root) = file.name.strip_prefix(STATE_FILE_PREFIX) else { continue };
        let text = String::from_utf8_lossy(&state.read(&file.name, u64::MAX)?).into_owned();
        let is_kept = |line: &&str| parse(line.trim_end()).is_some_and(|line| !is_meant(root, line.path));
        let kept: String = text.split_inclusive('\n').filter(is_kept).collect();
        if kept.len() < text.len() {
            state.replace(&file.name, kept.as_bytes())?;
        }
    }
    Ok(())
}

/// How many processes with this folder live that have seen something.
pub(crate) fn living(state: &StateDir) -> std::io::Result<usize> {
    let is_living = |name: &&String| name.starts_with(LIVING_PREFIX) && state.is_held(name);
    Ok(state.folders()?.iter().filter(is_living).count())
}
