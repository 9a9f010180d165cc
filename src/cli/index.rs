//! `rootbound index`: what is stored so that the first search of a process is fast, human-readable.

use std::{
    fmt::Display,
    io,
    path::Path,
    process::ExitCode,
    sync::{
        Arc,
        mpsc::{RecvTimeoutError, channel},
    },
    thread,
    time::{Duration, SystemTime},
};

use change_set::StateDir;
use confined_fs::{Root, WorkspacePath};
use indicatif::ProgressStyle;
use serde_json::{Value, json};
use text_file::file_size;
use tree_search::{Saved, StoredIndexes, StoredStatus, Unusable};

use crate::{
    config::{Config, IndexRequest},
    server::Services,
};
use file_tools::count;

use super::{age, fail, print, remark, with_bar};

/// How often the bar of a build grows.
const PROGRESS_INTERVAL: Duration = Duration::from_millis(200);

const NO_STATE_FOLDER: &str = "no state folder is used (--state-dir)";

/// Removes the stored indexes of the directories that were named, also of those that are gone; if none was, of all.
pub fn clear_indexes(config: &Config, request: &IndexRequest) -> ExitCode {
    clear(config, request).map_or_else(|why| fail(&why, 1), |text| print(&text))
}

fn clear(config: &Config, request: &IndexRequest) -> Result<String, String> {
    let (indexes, off) = stored(config)?;
    let data = |removed: usize, bytes: u64, roots: &[Value]| {
        let mut value = totals(off.as_deref(), &indexes, config, roots);
        value["removed"] = removed.into();
        value["removed_bytes"] = bytes.into();
        format!("{value:#}")
    };
    if !request.names_directories {
        let (removed, bytes) = indexes.clear_all().map_err(|error| cannot("remove the stored indexes", &error))?;
        return Ok(match removed {
            _ if request.json => data(removed, bytes, &[]),
            0 => off.as_ref().map_or_else(|| "nothing was stored".to_owned(), nothing),
            1 => format!("removed 1 stored index ({})", file_size(bytes)),
            _ => format!("removed {removed} stored indexes ({})", file_size(bytes)),
        });
    }
    let (mut lines, mut roots, mut removed) = (Vec::new(), Vec::new(), Vec::new());
    for spec in &config.roots {
        // One that is gone has no canonical path: its name is what was given.
        let path = Root::canonical_path(&spec.path).unwrap_or_else(|_| spec.path.clone());
        let shown = path.display();
        let bytes = indexes.clear(&Root::key_of(&path));
        let bytes = bytes.map_err(|error| cannot(&format!("remove the stored index of {shown}"), &error))?;
        lines.push(match bytes {
            Some(bytes) => format!("{shown}  removed ({})", file_size(bytes)),
            None => format!("{shown}  nothing was stored"),
        });
        roots.push(json!({ "path": shown.to_string(), "removed_bytes": bytes }));
        removed.extend(bytes);
    }
    Ok(match &off {
        _ if request.json => data(removed.len(), removed.iter().sum(), &roots),
        Some(why) => nothing(why),
        None => lines.join("\n"),
    })
}

/// Lists and reads the roots, with progress on stderr, and stores what is found.
pub fn build_indexes(config: &Config, services: &Services, json: bool) -> ExitCode {
    if let Some(why) = off(config, services) {
        return fail(&format!("rootbound: nothing can be stored: {why}"), 1);
    }
    if let Err(error) = services.path_index.stored_indexes().probe() {
        return fail(&cannot("write to the folder of the stored indexes", &error), 1);
    }
    let (done, progress) = channel::<()>();
    let saved = with_bar("listing", |bar| {
        thread::scope(|scope| {
            scope.spawn(move || {
                // Ends when the work is done, even by a panic, which drops the sender.
                while progress.recv_timeout(PROGRESS_INTERVAL) == Err(RecvTimeoutError::Timeout) {
                    let (read, all) = services.path_index.storing();
                    if all > 0 {
                        bar.set_style(ProgressStyle::default_bar());
                        bar.set_length(all as u64);
                        bar.set_position(read as u64);
                    }
                }
            });
            // Owned here, so that a panic drops it as well.
            let done = done;
            let waiting = |root: &WorkspacePath| {
                let root = host(root.root());
                remark(&format!(
                    "rootbound: files in {root} were changed less than 2 s ago; waits until they can be kept"
                ));
            };
            let saved = Arc::clone(&services.path_index).store(&services.workspace, &waiting);
            drop(done);
            saved
        })
    });
    let (statuses, mut roots, mut is_all) = (statuses(services), Vec::new(), true);
    for (root, status) in &statuses {
        let saved = saved.iter().find(|(path, _)| path.root().key() == root.key()).map(|(_, saved)| saved);
        let not_stored = not_stored(saved, status);
        if let Some(why) = &not_stored {
            remark(&format!("rootbound: the index of {} was not stored: {why}", host(root)));
        } else if matches!(saved, Some(Ok(Saved::WithoutFilter(_)))) {
            let root = host(root);
            remark(&format!("rootbound: the filter of {root} was not stored: it needs more than --index-size allows"));
        }
        is_all &= not_stored.is_none();
        let mut value = data(root, status);
        value["not_stored"] = not_stored.into();
        roots.push(value);
    }
    let printed = if json {
        print(&format!("{:#}", totals(None, services.path_index.stored_indexes(), config, &roots)))
    } else {
        print(&lines(&statuses))
    };
    if is_all { printed } else { ExitCode::FAILURE }
}

/// Why an index was not stored, or cannot be used, if so. `saved` is `None` where there was nothing to store.
fn not_stored(saved: Option<&io::Result<Saved>>, status: &StoredStatus) -> Option<String> {
    match (saved, &status.unusable) {
        (Some(Err(error)), _) => Some(error.to_string()),
        (Some(Ok(Saved::Busy)), _) => Some("another process is writing one; try again".to_owned()),
        (_, Some(Unusable::Root(why))) => Some(why.to_string()),
        (Some(Ok(Saved::Nothing)), _) => Some("it needs more than --index-size allows".to_owned()),
        (None, Some(Unusable::Missing)) => Some("there is no file whose content may be kept".to_owned()),
        (_, why) => why.as_ref().map(ToString::to_string),
    }
}

pub fn index_status(config: &Config, services: &Services, json: bool) -> ExitCode {
    let off = off(config, services);
    let statuses = statuses(services);
    if json {
        let roots: Vec<Value> = statuses.iter().map(|(root, status)| data(root, status)).collect();
        return print(&format!("{:#}", totals(off.as_deref(), services.path_index.stored_indexes(), config, &roots)));
    }
    print(&off.map_or_else(|| lines(&statuses), nothing))
}

fn totals(off: Option<&str>, stored: &StoredIndexes, config: &Config, roots: &[Value]) -> Value {
    json!({ "off": off, "bytes": stored.bytes(), "most_bytes": config.index_size, "roots": roots })
}

/// In a few words for one root: when it was stored, how much, and why it is not used, if so.
pub(super) fn text(status: &StoredStatus) -> String {
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

pub(super) fn off(config: &Config, services: &Services) -> Option<String> {
    if services.path_index.stored_indexes().is_kept() {
        return None;
    }
    Some(match &config.state {
        None => NO_STATE_FOLDER.to_owned(),
        Some(_) if !config.index.stores() => "--index is off".to_owned(),
        Some(_) if config.index_size == 0 => "--index-size is 0".to_owned(),
        Some(path) if is_missing(path) => missing(path),
        Some(_) => "the state folder cannot be used".to_owned(),
    })
}

/// All that is stored, to remove it: also where nothing would be stored now; and why there can be nothing, if so.
fn stored(config: &Config) -> Result<(StoredIndexes, Option<String>), String> {
    let off = |why| Ok((StoredIndexes::default(), Some(why)));
    let Some(path) = &config.state else { return off(NO_STATE_FOLDER.to_owned()) };
    match StateDir::existing(path) {
        // Without a limit of size: these are to be removed, none is to be made.
        Ok(state) => Ok((StoredIndexes::new(state, u64::MAX), None)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => off(missing(path)),
        Err(error) => Err(cannot(&format!("use {}", path.display()), &error)),
    }
}

fn is_missing(state: &Path) -> bool {
    StateDir::existing(state).is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
}

fn missing(state: &Path) -> String {
    format!("the state folder {} does not exist", state.display())
}

fn nothing(why: impl Display) -> String {
    format!("nothing is stored: {why}")
}

fn statuses(services: &Services) -> Vec<(&Root, StoredStatus)> {
    let stored = services.path_index.stored_indexes();
    let status = |root| stored.status(&services.workspace.root_path(root));
    services.workspace.roots().iter().map(|root| (&**root, status(root))).collect()
}

fn lines(statuses: &[(&Root, StoredStatus)]) -> String {
    statuses.iter().map(|(root, status)| format!("{}  {}", host(root), text(status))).collect::<Vec<_>>().join("\n")
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

fn host(root: &Root) -> String {
    root.host().display().to_string()
}

fn cannot(what: &str, error: &io::Error) -> String {
    format!("rootbound: cannot {what}: {error}\n\nhint: check the folder `index` in the state folder (--state-dir)")
}
