//! Races: threads exchange directories, files and links while calls run.
//!
//! Short as part of the suite; `RACE_SECONDS=30` runs each race that long with each barrier. Prints how often
//! names were exchanged and how the calls ended. Linux only, like the barriers.

#![cfg(target_os = "linux")]
#![expect(clippy::print_stdout, reason = "prints how often names were exchanged")]

use std::{
    collections::BTreeMap,
    fs,
    os::{
        fd::OwnedFd,
        unix::fs::{MetadataExt as _, symlink},
    },
    path::Path,
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
    thread,
    time::{Duration, Instant},
};

use rustix::{
    fs::{AtFlags, CWD, Mode, OFlags, RenameFlags, mkdirat, openat, renameat, renameat_with, symlinkat, unlinkat},
    io::Errno,
};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{harness::process::Process, sandbox::attacks::Barrier};

const CANARY: &str = "CANARY-of-the-outside";
/// Concurrent requests.
const PIPELINE: usize = 12;
/// How long to wait for the attackers.
const PATIENCE: Duration = Duration::from_secs(60);
/// What the attackers swap, as a model names it.
const PATHS: &[&str] = &["dir/a.txt", "file.txt", "far/mid/a.txt", "made.txt", "moved/a.txt", "dir/deep/a.txt"];

/// How long one race runs with one barrier.
fn run_time() -> Duration {
    let seconds = std::env::var("RACE_SECONDS").ok().and_then(|text| text.parse().ok()).unwrap_or(0.7);
    Duration::from_secs_f64(seconds)
}

/// A root whose entries have counterparts that lead outside.
fn arena() -> TempDir {
    let dir = tempfile::Builder::new().prefix("rootbound-race-").tempdir().expect("a temporary folder");
    let write = |path: &str, content: &str| {
        let path = dir.path().join(path);
        fs::create_dir_all(path.parent().expect("below the folder")).expect("a folder");
        fs::write(path, content).expect("a file");
    };
    for path in ["dir/a.txt", "dir/deep/a.txt", "file.txt", "far/mid/a.txt", "moved/a.txt", "still.txt"] {
        write(&format!("root/{path}"), "inside e\n");
    }
    for path in ["a.txt", "deep/a.txt", "mid/a.txt"] {
        write(&format!("outside/{path}"), &format!("{CANARY} e\n"));
    }
    fs::create_dir(dir.path().join("parked")).expect("a folder");
    for (target, link) in
        [("../outside", "dir-double"), ("../outside/a.txt", "file-double"), ("../outside", "far-double")]
    {
        symlink(target, dir.path().join("root").join(link)).expect("a link");
    }
    dir
}

/// Everything outside: names, content, inodes and times.
fn outside(dir: &Path) -> BTreeMap<String, String> {
    let mut picture = BTreeMap::new();
    let mut todo = vec![dir.join("outside")];
    while let Some(here) = todo.pop() {
        for entry in fs::read_dir(&here).expect("it can be listed").flatten() {
            let stat = fs::symlink_metadata(entry.path()).expect("nobody else removes it");
            let content = if stat.is_file() { fs::read(entry.path()).expect("a file") } else { Vec::new() };
            if stat.is_dir() {
                todo.push(entry.path());
            }
            let shown = format!("{} {:o} {} {} {content:?}", stat.ino(), stat.mode(), stat.mtime(), stat.mtime_nsec());
            picture.insert(entry.path().display().to_string(), shown);
        }
    }
    picture
}

/// Exchanges names as fast as the system can.
fn swap(root: &OwnedFd, done: &AtomicBool, swaps: &AtomicU64) {
    while !done.load(Ordering::Relaxed) {
        for (name, double) in [("dir", "dir-double"), ("file.txt", "file-double"), ("far", "far-double")] {
            if renameat_with(root, name, root, double, RenameFlags::EXCHANGE).is_ok() {
                swaps.fetch_add(1, Ordering::Relaxed);
            }
        }
    }
}

/// Makes links where a file is about to be created, removes them, and exchanges the name of the root.
fn plant(root: &OwnedFd, host: &Path, done: &AtomicBool, swaps: &AtomicU64) {
    let targets = ["../outside/a.txt", "../outside/created.txt", "dir-double/created.txt"];
    symlink("outside", host.join("root-double")).expect("a link");
    let swap_root = || renameat_with(CWD, host.join("root"), CWD, host.join("root-double"), RenameFlags::EXCHANGE);
    let mut swapped = false;
    for round in 0_usize.. {
        if done.load(Ordering::Relaxed) {
            break;
        }
        let _ = unlinkat(root, "made.txt", AtFlags::empty());
        let _ = symlinkat(targets[round % targets.len()], root, "made.txt");
        // Only for a moment: while another directory has its name, calls end with an error that says so.
        if round % 16 < 2 && swap_root().is_ok() {
            swapped = !swapped;
        }
        swaps.fetch_add(1, Ordering::Relaxed);
    }
    if swapped {
        swap_root().expect("the root gets its name back");
    }
}

/// Moves a directory out of the root and back. Only Landlock still confines calls in it then, so this runs with all
/// barriers alone. Returns what changed while it was outside.
fn carry_out(root: &OwnedFd, host: &Path, done: &AtomicBool, swaps: &AtomicU64) -> Vec<String> {
    let parked = openat(CWD, host.join("parked"), OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())
        .expect("it exists");
    // A temporary file that was open before may still grow; no name may be added, removed or replaced.
    let look = || -> Vec<(String, u64)> {
        let mut names: Vec<_> = fs::read_dir(host.join("parked/moved"))
            .expect("it exists now")
            .flatten()
            .filter_map(|entry| Some((entry.file_name().to_string_lossy().into_owned(), entry.metadata().ok()?.ino())))
            .collect();
        names.sort();
        names
    };
    let mut complaints = Vec::new();
    while !done.load(Ordering::Relaxed) {
        if let Err(gone) = renameat(root, "moved", &parked, "moved") {
            // A call that fails or is undone removes the empty directories that it made: such a name may have
            // replaced this one.
            assert_eq!(gone, Errno::NOENT, "nobody else moves it");
            let _ = mkdirat(root, "moved", Mode::from_raw_mode(0o755));
            continue;
        }
        // A system call that ran during the move has ended by now.
        thread::sleep(Duration::from_millis(2));
        let before = look();
        thread::sleep(Duration::from_micros(500));
        let after = look();
        if before != after {
            complaints.push(format!("{before:?} became {after:?}"));
        }
        // Meanwhile a write may have created a directory of that name, as it may, and may remove it between two
        // of these.
        while renameat(&parked, "moved", root, "moved").is_err() {
            if renameat_with(&parked, "moved", root, "moved", RenameFlags::EXCHANGE).is_ok() {
                fs::remove_dir_all(host.join("parked/moved")).expect("nobody else removes it");
                break;
            }
        }
        swaps.fetch_add(1, Ordering::Relaxed);
        thread::sleep(Duration::from_micros(300));
    }
    complaints
}

/// Repeats `calls` against the attackers with each barrier.
fn race(what: &str, calls: &[(&'static str, Value)]) {
    for barrier in [Barrier::All, Barrier::Openat2, Barrier::Walk] {
        let dir = arena();
        let host = dir.path();
        let before = outside(host);
        let arguments =
            [barrier.arguments(), &["--read-before-write", "off", "--allow", "manage", "--root", "app=root"]].concat();
        let mut process = Process::start(host, &arguments);
        process.initialize();
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let root = openat(CWD, host.join("root"), flags, Mode::empty()).expect("the root exists");
        let (done, swaps) = (AtomicBool::new(false), AtomicU64::new(0));
        let mut endings: BTreeMap<String, u64> = BTreeMap::new();
        let mut carried = Vec::new();
        thread::scope(|scope| {
            scope.spawn(|| swap(&root, &done, &swaps));
            scope.spawn(|| plant(&root, host, &done, &swaps));
            let mover = (barrier == Barrier::All).then(|| scope.spawn(|| carry_out(&root, host, &done, &swaps)));
            // Ends the attackers even if an assertion below fails.
            let _end = Done(&done);
            let started = Instant::now();
            let (mut sent, mut open) = (0_usize, 0_usize);
            // On a busy machine the attackers may begin late.
            let runs = |started: &Instant| {
                let so_far = started.elapsed();
                so_far < run_time() || (so_far < PATIENCE && swaps.load(Ordering::Relaxed) == 0)
            };
            while open > 0 || runs(&started) {
                while open < PIPELINE && runs(&started) {
                    let (tool, arguments) = &calls[sent % calls.len()];
                    process.send("tools/call", &json!({ "name": tool, "arguments": arguments }));
                    sent += 1;
                    open += 1;
                }
                let answer = process.next().expect("the server lives");
                let shown = answer.to_string();
                assert!(!shown.contains("CANARY"), "{what} {barrier:?}: content from outside: {shown}");
                assert!(!shown.contains("rootbound-race-"), "{what} {barrier:?}: a host path: {shown}");
                let kind = answer["result"]["_meta"]["rootbound/error"].as_str().unwrap_or("answered").to_owned();
                assert_ne!(kind, "internal", "{what} {barrier:?}: {shown}");
                *endings.entry(kind).or_default() += 1;
                open -= 1;
            }
            done.store(true, Ordering::Relaxed);
            carried = mover.map(|mover| mover.join().expect("the mover ends")).unwrap_or_default();
        });
        println!("{what} {barrier:?}: {} swaps, {endings:?}", swaps.load(Ordering::Relaxed));
        assert_eq!(before, outside(host), "{what} {barrier:?}: the outside changed");
        assert!(carried.is_empty(), "{what} {barrier:?}: a moved directory changed outside: {carried:?}");
        assert!(endings.get("answered").is_some_and(|count| *count > 0), "{what} {barrier:?}: nothing went through");
        assert!(swaps.load(Ordering::Relaxed) > 0, "{what} {barrier:?}: the attackers are idle");
        // A short race in the suite does not guarantee that.
        let is_long = std::env::var_os("RACE_SECONDS").is_some();
        assert!(!is_long || endings.len() > 1, "{what} {barrier:?}: the attackers never met a call");
        let call = json!({ "name": "read", "arguments": { "path": "app/still.txt" } });
        assert_eq!(process.ask("tools/call", &call)["result"]["isError"], false);
    }
}

struct Done<'a>(&'a AtomicBool);

impl Drop for Done<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn on_each_path(tool: &'static str, arguments: &Value) -> Vec<(&'static str, Value)> {
    let with_path = |path: &&str| {
        let mut arguments = arguments.clone();
        arguments["path"] = json!(path);
        (tool, arguments)
    };
    PATHS.iter().map(with_path).collect()
}

#[test]
fn reads_never_see_the_outside() {
    race("read", &on_each_path("read", &json!({})));
}

#[test]
fn writes_never_change_the_outside() {
    let mut calls = on_each_path("write", &json!({ "content": "written e\n" }));
    calls.extend(on_each_path("write", &json!({ "content": "more e\n", "mode": "create" })));
    calls.extend(
        ["dir/new/a.txt", "far/mid/new/b.txt", "moved/new.txt", "moved/new/c.txt"]
            .map(|path| ("write", json!({ "path": path, "content": "e" }))),
    );
    race("write", &calls);
}

#[test]
fn edits_never_change_the_outside() {
    let change = json!({ "old_string": "e", "new_string": "e", "replace_all": true });
    let mut calls = on_each_path("edit", &json!({ "old_string": " e", "new_string": "  e" }));
    calls.extend(on_each_path("edit", &json!({ "old_string": "  e", "new_string": " e" })));
    calls.extend(on_each_path("edit", &change));
    calls.extend(on_each_path("edit", &json!({ "old_string": "", "new_string": "inside e\n" })));
    // Two of them, which do not overlap, at a time: all or none of them.
    let (old, new) = (" e", "  e");
    for pair in [["dir/a.txt", "file.txt"], ["far/mid/a.txt", "dir/deep/a.txt"], ["moved/a.txt", "still.txt"]] {
        for (old, new) in [(old, new), (new, old)] {
            let entry = |path: &str| json!({ "path": path, "old_string": old, "new_string": new });
            calls.push(("edit", json!({ "edits": pair.map(entry) })));
        }
    }
    race("edit", &calls);
}

#[test]
fn greps_never_see_the_outside() {
    let mut calls = on_each_path("grep", &json!({ "pattern": "e", "no_ignore": true }));
    calls.push(("grep", json!({ "pattern": "CANAR[Y]|inside", "no_ignore": true })));
    calls.push(("grep", json!({ "pattern": "of.the.outside", "output_mode": "count" })));
    race("grep", &calls);
}

#[test]
fn globs_and_listings_never_see_the_outside() {
    let mut calls = vec![
        ("glob", json!({ "pattern": "**/*", "no_ignore": true, "include_dirs": true })),
        ("glob", json!({ "pattern": "dir/**", "no_ignore": true })),
    ];
    for path in ["dir", "far", "far/mid", "moved", "dir/deep", "."] {
        calls.push(("ls", json!({ "path": path, "depth": 4 })));
        calls.push(("glob", json!({ "pattern": "*", "path": path })));
    }
    race("glob and ls", &calls);
}

#[test]
fn moves_copies_and_deletions_never_touch_the_outside() {
    let calls = [
        ("copy", json!({ "source": "still.txt", "destination": "dir/c.txt", "overwrite": true })),
        ("copy", json!({ "source": "dir", "destination": "copied" })),
        ("move", json!({ "source": "dir/c.txt", "destination": "far/mid/c.txt", "overwrite": true })),
        ("delete", json!({ "path": "dir/deep", "recursive": true })),
        ("write", json!({ "path": "dir/deep/a.txt", "content": "inside e\n" })),
        ("grep", json!({ "pattern": "e", "path": "copied", "no_ignore": true })),
        ("copy", json!({ "source": "file.txt", "destination": "copied/f.txt", "overwrite": true })),
        ("read", json!({ "path": "copied/f.txt" })),
        ("delete", json!({ "path": "copied", "recursive": true })),
        ("mkdir", json!({ "path": "far/mid/made" })),
        ("delete", json!({ "path": "far/mid/made" })),
        ("move", json!({ "source": "moved/a.txt", "destination": "dir/m.txt" })),
        ("move", json!({ "source": "dir/m.txt", "destination": "moved/a.txt" })),
        ("undo", json!({})),
    ];
    race("manage", &calls);
}
