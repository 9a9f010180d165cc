//! How the kernel confines the running server, as `/proc` shows it.

#![cfg(target_os = "linux")]

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use serde_json::json;
use tempfile::TempDir;

use crate::harness::process::Process;

/// The status of each thread of a process, as fields.
fn threads(process: &Path) -> Vec<BTreeMap<String, String>> {
    let fields = |text: String| {
        text.lines()
            .filter_map(|line| line.split_once(':'))
            .map(|(name, value)| (name.to_owned(), value.trim().to_owned()))
            .collect()
    };
    let tasks = fs::read_dir(process.join("task")).expect("the process exists");
    // A thread may end meanwhile.
    tasks.flatten().filter_map(|task| fs::read_to_string(task.path().join("status")).ok()).map(fields).collect()
}

/// Starts a server and makes calls; it ends with the folder.
fn served(arguments: &[&str]) -> (Process, TempDir) {
    let dir = tempfile::tempdir().expect("a folder");
    for number in 0..50 {
        fs::write(dir.path().join(format!("{number}.txt")), "text\n").expect("written");
    }
    let mut process = Process::start(dir.path(), arguments);
    process.initialize();
    for _ in 0..3 {
        let answer = process.ask("tools/call", &json!({ "name": "grep", "arguments": { "pattern": "text" } }));
        assert!(
            answer["result"]["content"][0]["text"].as_str().is_some_and(|text| text.contains("50 files")),
            "{answer}"
        );
    }
    (process, dir)
}

fn folder(process: &Process) -> PathBuf {
    Path::new("/proc").join(process.pid().as_raw_pid().to_string())
}

/// As [`served`], and returns the status of its threads.
fn server(arguments: &[&str]) -> Vec<BTreeMap<String, String>> {
    let (process, _dir) = served(arguments);
    threads(&folder(&process))
}

/// Also where no wall keeps it from having one.
#[test]
fn server_holds_no_socket_of_a_network() {
    let (process, _dir) = served(&["--confine", "off", "."]);
    let local = fs::read_to_string(folder(&process).join("net/unix")).expect("a table of local sockets");
    let local: Vec<&str> = local.lines().filter_map(|line| line.split_whitespace().nth(6)).collect();
    let descriptors = fs::read_dir(folder(&process).join("fd")).expect("the process exists");
    let open: Vec<String> = descriptors
        .filter_map(|entry| Some(fs::read_link(entry.ok()?.path()).ok()?.to_string_lossy().into_owned()))
        .collect();
    let sockets = open.iter().filter_map(|target| target.strip_prefix("socket:[")?.strip_suffix(']'));
    let other: Vec<&str> = sockets.filter(|inode| !local.contains(inode)).collect();
    assert!(other.is_empty() && open.len() > 3, "{other:?} of {open:?}");
}

/// How many filters this process has itself, as in a container, which its children inherit.
fn own_filters() -> u32 {
    let own = threads(Path::new("/proc/self"));
    own[0].get("Seccomp_filters").and_then(|count| count.parse().ok()).unwrap_or_default()
}

#[test]
fn every_thread_of_the_server_has_the_seccomp_filter() {
    let threads = server(&["--confine", "required", "."]);
    assert!(threads.len() > 1, "a search has threads");
    for thread in threads {
        assert_eq!((thread["Seccomp"].as_str(), thread["NoNewPrivs"].as_str()), ("2", "1"), "{}", thread["Name"]);
        let filters = thread.get("Seccomp_filters").and_then(|count| count.parse().ok());
        assert!(filters.is_none_or(|filters: u32| filters == own_filters() + 1), "{thread:?}");
    }
}

#[test]
fn without_confinement_there_is_no_filter() {
    for thread in server(&["--confine", "off", "."]) {
        let filters = thread.get("Seccomp_filters").and_then(|count| count.parse().ok());
        assert!(filters.is_none_or(|filters: u32| filters == own_filters()), "{thread:?}");
    }
}
