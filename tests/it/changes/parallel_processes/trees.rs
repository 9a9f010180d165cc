//! Directories that one process moves and deletes while others write in them.

use std::{
    collections::BTreeSet,
    fs,
    path::Path,
    sync::atomic::{AtomicUsize, Ordering},
    thread::{self, ScopedJoinHandle},
};

use confined_fs::Revision;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{harness::process::Process, harness::program::is_wine};

const WRITERS: usize = 3;

/// Changes of each writer.
fn rounds() -> usize {
    let asked = std::env::var("PROCESSES_CHANGES").ok().and_then(|text| text.parse::<usize>().ok());
    asked.map_or(30, |all| all.div_ceil(20))
}

fn server(folder: &Path, state: &str) -> Process {
    let arguments = ["--allow", "manage", "--read-before-write", "off", "--time-limit", "120", "."];
    let mut server = Process::start_remembering(&folder.join("root"), &folder.join(state), &arguments);
    server.initialize();
    server
}

fn call(server: &mut Process, tool: &str, arguments: &Value) -> Result<(), String> {
    let answer = server.ask("tools/call", &json!({ "name": tool, "arguments": arguments }));
    let result = &answer["result"];
    let kind = result["_meta"]["rootbound/error"].as_str();
    // Wine calls the handle of a directory invalid that another process removes at that moment.
    let is_that = is_wine() && answer.to_string().contains("invalid handle");
    assert!(kind != Some("internal") || is_that, "{answer}");
    if result["isError"] == true { Err(result["content"][0]["text"].to_string()) } else { Ok(()) }
}

fn place() -> TempDir {
    let folder = TempDir::new().unwrap();
    fs::create_dir_all(folder.path().join("root/tree/below")).unwrap();
    folder
}

fn litter(dir: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).unwrap().map(|entry| entry.unwrap()) {
        let name = entry.file_name().into_string().unwrap();
        if name.contains(".rootbound-") {
            found.push(name);
        } else if entry.path().is_dir() {
            found.extend(litter(&entry.path()));
        }
    }
    found
}

/// The contents of all files below a directory.
fn contents(dir: &Path, found: &mut BTreeSet<String>) {
    for entry in fs::read_dir(dir).into_iter().flatten().map(|entry| entry.unwrap().path()) {
        if entry.is_dir() {
            contents(&entry, found);
        } else {
            found.insert(fs::read_to_string(entry).unwrap());
        }
    }
}

#[test]
fn a_tree_deleted_during_writes_is_recorded_completely() {
    let folder = place();
    let deleted = AtomicUsize::new(0);
    let written: Vec<String> = thread::scope(|scope| {
        let writers: Vec<_> = (0..WRITERS)
            .map(|writer| {
                let folder = &folder;
                scope.spawn(move || {
                    let mut server = server(folder.path(), &format!("state-{writer}"));
                    let mut written = Vec::new();
                    for round in 0..rounds() {
                        let path = format!("tree/{}{writer}", ["", "below/"][round % 2]);
                        let content = format!("{round} of {writer}\n");
                        if call(&mut server, "write", &json!({ "path": path, "content": content })).is_ok() {
                            written.push(content);
                        }
                    }
                    written
                })
            })
            .collect();
        let mut server = server(folder.path(), "state");
        for round in 0_usize.. {
            let all = writers.iter().all(ScopedJoinHandle::is_finished);
            let gone = call(&mut server, "delete", &json!({ "path": "tree", "recursive": true })).is_ok();
            deleted.fetch_add(usize::from(gone), Ordering::Relaxed);
            if gone && round % 2 == 0 {
                let _ = call(&mut server, "undo", &json!({}));
            }
            if all {
                break;
            }
        }
        writers.into_iter().flat_map(|writer| writer.join().unwrap()).collect()
    });
    let mut there = BTreeSet::new();
    contents(&folder.path().join("root"), &mut there);
    let recorded = |content: &String| {
        let name = Revision::of(content.as_bytes()).to_string();
        fs::read_dir(folder.path()).unwrap().any(|state| state.unwrap().path().join("history").join(&name).is_file())
    };
    let lost: Vec<&String> = written.iter().filter(|content| !there.contains(*content) && !recorded(content)).collect();
    println!("{} writes, {} deletions, {} lost", written.len(), deleted.into_inner(), lost.len());
    assert!(lost.is_empty(), "{lost:?}");
    assert!(!written.is_empty());
    assert_eq!(litter(&folder.path().join("root")), Vec::<String>::new());
}

#[test]
fn a_tree_moved_during_writes_keeps_them() {
    let folder = place();
    let (written, moved) = thread::scope(|scope| {
        let writers: Vec<_> = (0..WRITERS)
            .map(|writer| {
                let folder = &folder;
                scope.spawn(move || {
                    let mut server = server(folder.path(), "state");
                    let mut written = Vec::new();
                    for round in 0..rounds() {
                        let content = format!("{round} of {writer}\n");
                        let path = format!("{}/{round}-{writer}", ["tree", "wood/below"][round % 2]);
                        let arguments = json!({ "path": path, "content": content, "mode": "create" });
                        if call(&mut server, "write", &arguments).is_ok() {
                            written.push(content);
                        }
                    }
                    written
                })
            })
            .collect();
        let mut server = server(folder.path(), "state");
        let mut moved = 0;
        for (from, to) in [("tree", "wood"), ("wood", "tree")].into_iter().cycle() {
            let arguments = json!({ "source": from, "destination": to });
            moved += usize::from(call(&mut server, "move", &arguments).is_ok());
            if writers.iter().all(ScopedJoinHandle::is_finished) {
                break;
            }
        }
        let written: Vec<String> = writers.into_iter().flat_map(|writer| writer.join().unwrap()).collect();
        (written, moved)
    });
    let mut there = BTreeSet::new();
    contents(&folder.path().join("root"), &mut there);
    let expected: BTreeSet<String> = written.iter().cloned().collect();
    println!("{} files written, {moved} moves", expected.len());
    assert_eq!(there, expected);
    assert_eq!(litter(&folder.path().join("root")), Vec::<String>::new());
}
