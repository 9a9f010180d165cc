//! `rootbound index`: what is stored so that the first search of a process is fast, for people.

use std::{
    io,
    process::ExitCode,
    sync::{
        Arc,
        mpsc::{RecvTimeoutError, channel},
    },
    thread,
    time::{Duration, SystemTime},
};

use serde_json::{Value, json};

use crate::{
    config::Config,
    search::{Saved, StoredIndexes, StoredStatus, Unusable},
    server::Parts,
    text::byte_size::file_size,
    tools::answer::count,
    workspace::{Root, StateDir},
};

use super::{
    age::age,
    output::{fail, print, remark},
};

/// How often the progress of a build is printed.
const PROGRESS_EVERY: Duration = Duration::from_secs(1);

/// Removes the stored indexes of all directories, whatever the other options are.
pub fn clear_all_indexes(config: &Config) -> ExitCode {
    let stored = match all_stored(config) {
        Ok(Some(stored)) => stored,
        Ok(None) => return print("nothing is stored: no state folder is used (--state-dir)"),
        Err(why) => return fail(&why, 1),
    };
    match stored.clear_all() {
        Ok((0, _)) => print("nothing was stored"),
        Ok((removed, bytes)) => print(&format!("removed {} ({})", indexes(removed), file_size(bytes))),
        Err(error) => fail(&cannot("remove the stored indexes", &error), 1),
    }
}

/// Removes the stored indexes of the roots.
pub fn clear_indexes(config: &Config, parts: &Parts) -> ExitCode {
    let stored = match all_stored(config) {
        Ok(Some(stored)) => stored,
        Ok(None) => return print("nothing is stored: no state folder is used (--state-dir)"),
        Err(why) => return fail(&why, 1),
    };
    let mut lines = Vec::new();
    for root in parts.workspace.roots() {
        match stored.clear(&parts.workspace.root_path(root)) {
            Ok(Some(bytes)) => lines.push(format!("{}  removed ({})", shown(root), file_size(bytes))),
            Ok(None) => lines.push(format!("{}  nothing was stored", shown(root))),
            Err(error) => return fail(&cannot(&format!("remove the stored index of {}", shown(root)), &error), 1),
        }
    }
    print(&lines.join("\n"))
}

/// Lists and reads the roots, with progress on stderr, and stores what is found.
pub fn build_indexes(config: &Config, parts: &Parts) -> ExitCode {
    if let Some(why) = off(config, parts) {
        return fail(&format!("rootbound: nothing can be stored: {why}"), 1);
    }
    if let Err(error) = parts.path_index.stored_indexes().probe() {
        return fail(&cannot("write to the folder of the stored indexes", &error), 1);
    }
    let (done, progress) = channel::<()>();
    let saved = thread::scope(|scope| {
        scope.spawn(move || {
            // Ends when the work is done, even by a panic, which drops the sender.
            while progress.recv_timeout(PROGRESS_EVERY) == Err(RecvTimeoutError::Timeout) {
                for (root, state) in parts.path_index.report() {
                    remark(&format!("{root}  {state}"));
                }
            }
        });
        let done = done;
        let saved = Arc::clone(&parts.path_index).store(&parts.workspace);
        drop(done);
        saved
    });
    let failures: Vec<_> = saved.iter().filter_map(|(root, saved)| Some((root, not_stored(saved)?))).collect();
    for (root, why) in &failures {
        remark(&format!("rootbound: the index of {} was not stored: {why}", shown(root.root())));
    }
    let statuses = statuses(parts);
    let is_missing = |status: &StoredStatus| matches!(status.unusable, Some(Unusable::Missing));
    if failures.is_empty() && statuses.iter().any(|(_, status)| is_missing(status)) {
        remark("rootbound: an index was not stored: there is no file whose content may be kept");
    }
    let printed = print(&lines(&statuses));
    let is_done = failures.is_empty() && statuses.iter().all(|(_, status)| status.unusable.is_none());
    if is_done { printed } else { ExitCode::FAILURE }
}

/// Why an index was not stored, if so.
fn not_stored(saved: &io::Result<Saved>) -> Option<String> {
    match saved {
        Ok(Saved::Whole(_) | Saved::WithoutFilter(_)) => None,
        Ok(Saved::Busy) => Some("another process is writing one; try again".to_owned()),
        Ok(Saved::Nothing) => Some("it needs more than --index-size allows".to_owned()),
        Err(error) => Some(error.to_string()),
    }
}

/// Prints what is stored of each root, and whether it is used.
pub fn index_status(config: &Config, parts: &Parts, json: bool) -> ExitCode {
    let off = off(config, parts);
    let statuses = statuses(parts);
    if json {
        let roots: Vec<Value> = statuses.iter().map(|(root, status)| data(root, status)).collect();
        let stored = parts.path_index.stored_indexes();
        let value = json!({ "off": off, "bytes": stored.bytes(), "most_bytes": config.index_size, "roots": roots });
        return print(&format!("{value:#}"));
    }
    match off {
        Some(why) => print(&format!("nothing is stored: {why}")),
        None => print(&lines(&statuses)),
    }
}

/// In a few words for one root: when it was stored, how much, and why it is not used, if so.
pub(super) fn words(status: &StoredStatus) -> String {
    let about = match (seconds_ago(status), status.files, status.bytes) {
        (Some(seconds), Some(files), Some(bytes)) => {
            let files = count(usize::try_from(files).unwrap_or(usize::MAX), "file");
            Some(format!("stored {} ago, {files}, {}", age(seconds), file_size(bytes)))
        }
        (_, _, Some(bytes)) => Some(file_size(bytes)),
        _ => None,
    };
    match (about, &status.unusable) {
        (Some(about), None) => about,
        (Some(about), Some(why)) => format!("{about}, not used: {why}"),
        (None, Some(why)) => why.to_string(),
        (None, None) => "nothing is stored".to_owned(),
    }
}

/// Why nothing is stored at all, if so.
pub(super) fn off(config: &Config, parts: &Parts) -> Option<String> {
    if parts.path_index.stored_indexes().is_kept() {
        return None;
    }
    Some(match config.state {
        None => "no state folder is used (--state-dir)".to_owned(),
        Some(_) if !config.index.stores() => format!("--index is {:?}", config.index).to_lowercase(),
        Some(_) if config.index_size == 0 => "--index-size is 0".to_owned(),
        Some(_) => "the state folder cannot be used".to_owned(),
    })
}

/// The stored indexes, to remove them: also where none would be stored now.
fn all_stored(config: &Config) -> Result<Option<StoredIndexes>, String> {
    let Some(path) = &config.state else { return Ok(None) };
    let state = StateDir::open(path).map_err(|error| cannot(&format!("use {}", path.display()), &error))?;
    Ok(Some(StoredIndexes::new(state, u64::MAX)))
}

fn statuses(parts: &Parts) -> Vec<(&Root, StoredStatus)> {
    let stored = parts.path_index.stored_indexes();
    let status = |root| stored.status(&parts.workspace.root_path(root));
    parts.workspace.roots().iter().map(|root| (&**root, status(root))).collect()
}

fn lines(statuses: &[(&Root, StoredStatus)]) -> String {
    let line = |(root, status): &(&Root, StoredStatus)| format!("{}  {}", shown(root), words(status));
    statuses.iter().map(line).collect::<Vec<_>>().join("\n")
}

fn data(root: &Root, status: &StoredStatus) -> Value {
    json!({
        "root": root.public(),
        "path": root.host().display().to_string(),
        "age_seconds": seconds_ago(status),
        "files": status.files,
        "bytes": status.bytes,
        "used": status.unusable.is_none(),
        "reason": status.unusable.as_ref().map(ToString::to_string),
    })
}

fn seconds_ago(status: &StoredStatus) -> Option<u64> {
    status.written.map(|written| SystemTime::now().duration_since(written).unwrap_or_default().as_secs())
}

fn shown(root: &Root) -> String {
    root.host().display().to_string()
}

fn indexes(count: usize) -> String {
    if count == 1 { "1 stored index".to_owned() } else { format!("{count} stored indexes") }
}

fn cannot(what: &str, error: &io::Error) -> String {
    format!("rootbound: cannot {what}: {error}\n\nhint: check the folder `index` in the state folder (--state-dir)")
}
