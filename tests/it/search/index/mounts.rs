//! File systems that are mounted and unmounted below an indexed root.
//!
//! Needs the right to mount. Each test runs again as a child in a separate mount namespace (`unshare` of util-linux), so
//! that its mounts end with it and no other process sees them; without that right the test is skipped with a message.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use tree_search::IndexMode;

use super::{
    comparison::{Comparison, Rules},
    listed, old_file, settled,
};
use crate::harness::process::{Process, may_mount, run_again};

/// Set for the child.
const INSIDE: &str = "ROOTBOUND_TEST_NAMESPACE";

/// Whether this process is in a separate mount namespace.
pub(super) fn is_inside() -> bool {
    std::env::var_os(INSIDE).is_some()
}

/// Runs the test of that name again in a separate mount namespace; whether it ran and passed.
pub(super) fn ran_inside(test: &str) -> bool {
    let unshare = || {
        let mut command = Command::new("unshare");
        command.args(["--mount", "--propagation", "private"]);
        command
    };
    let possible = may_mount() && unshare().arg("true").stderr(Stdio::null()).status().is_ok_and(|end| end.success());
    if !possible {
        let expected = may_mount() && std::env::var_os("CI").is_some();
        assert!(!expected, "CI is set and this process may mount, but `unshare --mount` fails");
        eprintln!("SKIPPED: no right to mount, or no `unshare`");
        return false;
    }
    let program = std::env::current_exe().unwrap();
    let mut command = unshare();
    command.arg(program).env(INSIDE, "1");
    run_again(command, test);
    true
}

/// `mount` of util-linux; whether it succeeded.
pub(super) fn mount(arguments: &[&str], target: &Path) -> bool {
    ran("mount", arguments, target)
}

/// `umount` of util-linux; whether it succeeded.
pub(super) fn unmount(arguments: &[&str], target: &Path) -> bool {
    ran("umount", arguments, target)
}

fn ran(program: &str, arguments: &[&str], target: &Path) -> bool {
    let mut command = Command::new(program);
    command.args(arguments).arg(target).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|end| end.success())
}

/// The mount points below `folder`, the last one first.
pub(super) fn mounted_below(folder: &Path) -> Vec<PathBuf> {
    let table = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    let places = table.lines().filter_map(|line| line.split(' ').nth(4)).map(|place| PathBuf::from(unescaped(place)));
    let mut places: Vec<_> = places.filter(|place| place.starts_with(folder) && place != folder).collect();
    places.reverse();
    places
}

fn unescaped(place: &str) -> String {
    place.replace("\\040", " ").replace("\\134", "\\")
}

/// An indexed comparison in a separate namespace; `None` if the test runs in a child instead, or cannot.
fn comparison(test: &str) -> Option<Comparison> {
    if !is_inside() {
        ran_inside(test);
        return None;
    }
    let comparison = Comparison::new(1, IndexMode::Eager, Rules::Ours);
    for folder in ["src/deep", "lib", "aside"] {
        fs::create_dir_all(comparison.path(folder)).unwrap();
    }
    old_file(&comparison, "src/a.txt", "needle under the mount\n");
    old_file(&comparison, "src/deep/b.txt", "needle under the mount\n");
    old_file(&comparison, "lib/c.txt", "needle in lib\n");
    comparison.settle();
    listed(&comparison.report()).then_some(comparison)
}

/// Both servers on everything that a mount can change.
fn compare(comparison: &mut Comparison) {
    for (tool, arguments) in [
        ("grep", json!({ "pattern": "needle" })),
        ("grep", json!({ "pattern": "needle", "output_mode": "count", "no_ignore": true })),
        ("glob", json!({ "pattern": "**/*", "include_dirs": true, "sort": "modified" })),
        ("glob", json!({ "pattern": "**/*", "no_ignore": true, "sort": "path" })),
        ("grep", json!({ "pattern": "needle", "path": "src" })),
    ] {
        comparison.compare(tool, arguments.as_object().unwrap());
    }
}

fn finds(comparison: &Comparison, word: &str) -> bool {
    let answer = comparison.listed("grep", &json!({ "pattern": word }));
    assert_eq!(answer.source, Some(json!("list")), "the rest keeps its list");
    !answer.text.starts_with("No matches found")
}

#[test]
fn mount_and_unmount_over_a_folder_are_noticed_at_once() {
    let Some(mut comparison) = comparison("search::index::mounts::mount_and_unmount_over_a_folder_are_noticed_at_once")
    else {
        return;
    };
    compare(&mut comparison);
    for lazily in [false, true] {
        let src = comparison.path("src");
        assert!(mount(&["-t", "tmpfs", "none"], &src));
        assert!(!finds(&comparison, "under the mount"));
        fs::write(src.join("new.txt"), "needle on the tmpfs\n").unwrap();
        assert!(finds(&comparison, "on the tmpfs"));
        compare(&mut comparison);
        comparison.settle();
        fs::write(src.join("new.txt"), "needle, the second\n").unwrap();
        compare(&mut comparison);
        assert!(unmount(if lazily { &["--lazy"] } else { &[] }, &src));
        assert!(finds(&comparison, "under the mount") && !finds(&comparison, "the second"));
        compare(&mut comparison);
        comparison.settle();
        compare(&mut comparison);
    }
}

#[test]
fn a_mount_with_a_reused_id_is_noticed() {
    let Some(mut comparison) = comparison("search::index::mounts::a_mount_with_a_reused_id_is_noticed") else { return };
    let src = comparison.path("src");
    for word in ["first", "second", "third"] {
        assert!(mount(&["-t", "tmpfs", "none"], &src));
        old_file(&comparison, "src/same.txt", &format!("needle {word}\n"));
        compare(&mut comparison);
        comparison.settle();
        assert!(finds(&comparison, word));
        // The kernel reuses the numbers of a mount and its device.
        assert!(unmount(&[], &src));
        assert!(mount(&["-t", "tmpfs", "none"], &src));
        old_file(&comparison, "src/same.txt", "needle of another\n");
        assert!(!finds(&comparison, word) && finds(&comparison, "of another"));
        compare(&mut comparison);
        assert!(unmount(&[], &src));
    }
}

#[test]
fn a_mount_that_moves_or_covers_another_is_noticed() {
    let Some(mut comparison) = comparison("search::index::mounts::a_mount_that_moves_or_covers_another_is_noticed")
    else {
        return;
    };
    let (src, lib) = (comparison.path("src"), comparison.path("lib"));
    assert!(mount(&["-t", "tmpfs", "none"], &src));
    fs::create_dir(src.join("inner")).unwrap();
    fs::write(src.join("moving.txt"), "needle that moves\n").unwrap();
    assert!(mount(&["-t", "tmpfs", "none"], &src.join("inner")));
    fs::write(src.join("inner/deep.txt"), "needle in the inner\n").unwrap();
    compare(&mut comparison);
    assert!(mount(&["--move", src.to_str().unwrap()], &lib));
    compare(&mut comparison);
    assert!(finds(&comparison, "that moves") && finds(&comparison, "under the mount") && !finds(&comparison, "in lib"));
    assert!(mount(&["-t", "tmpfs", "none"], &lib));
    compare(&mut comparison);
    assert!(!finds(&comparison, "that moves"));
    assert!(unmount(&[], &lib));
    compare(&mut comparison);
    // The folder with the mount is moved: that changes no mount, and the next change finds it there.
    fs::create_dir_all(comparison.path("top/inner")).unwrap();
    assert!(mount(&["-t", "tmpfs", "none"], &comparison.path("top/inner")));
    fs::write(comparison.path("top/inner/moved.txt"), "needle that was taken along\n").unwrap();
    compare(&mut comparison);
    fs::rename(comparison.path("top"), comparison.path("src/moved")).unwrap();
    compare(&mut comparison);
    assert!(unmount(&["--lazy"], &comparison.path("src/moved/inner")));
    compare(&mut comparison);
    assert!(!finds(&comparison, "taken along"));
}

#[test]
fn unmount_below_a_renamed_folder_is_noticed() {
    let Some(mut comparison) = comparison("search::index::mounts::unmount_below_a_renamed_folder_is_noticed") else {
        return;
    };
    let outside = comparison.dir.path().join("aside/over");
    fs::create_dir(&outside).unwrap();
    fs::create_dir_all(comparison.path("src/inner")).unwrap();
    fs::write(comparison.path("src/inner/own.txt"), "needle of its own\n").unwrap();
    compare(&mut comparison);
    assert!(mount(&["--bind", outside.to_str().unwrap()], &comparison.path("src/inner")));
    compare(&mut comparison);
    fs::rename(comparison.path("src"), comparison.path("elsewhere")).unwrap();
    compare(&mut comparison);
    assert!(unmount(&[], &comparison.path("elsewhere/inner")));
    assert!(finds(&comparison, "of its own"));
    compare(&mut comparison);
}

#[test]
fn a_folder_mounted_twice_is_indexed_once_and_walked_once() {
    let Some(mut comparison) =
        comparison("search::index::mounts::a_folder_mounted_twice_is_indexed_once_and_walked_once")
    else {
        return;
    };
    let (src, aside) = (comparison.path("src"), comparison.path("aside"));
    assert!(mount(&["--bind", src.to_str().unwrap()], &aside));
    compare(&mut comparison);
    comparison.settle();
    for place in ["src/a.txt", "aside/a.txt", "aside/deep/new.txt", "src/deep/b.txt"] {
        fs::write(comparison.path(place), format!("needle by {place}\n")).unwrap();
        compare(&mut comparison);
        assert!(finds(&comparison, &format!("by {place}")));
    }
    fs::write(comparison.path("aside/.gitignore"), "deep\n").unwrap();
    compare(&mut comparison);
    fs::write(comparison.path("aside/CACHEDIR.TAG"), "").unwrap();
    compare(&mut comparison);
    assert!(unmount(&[], &aside));
    compare(&mut comparison);
}

#[test]
fn a_bind_mount_of_a_removed_folder_fails_as_in_a_walk() {
    let Some(mut comparison) = comparison("search::index::mounts::a_bind_mount_of_a_removed_folder_fails_as_in_a_walk")
    else {
        return;
    };
    let outside = comparison.dir.path().join("aside/gone");
    fs::create_dir(&outside).unwrap();
    assert!(mount(&["--bind", outside.to_str().unwrap()], &comparison.path("src")));
    compare(&mut comparison);
    fs::remove_dir(&outside).unwrap();
    compare(&mut comparison);
    comparison.settle();
    compare(&mut comparison);
}

#[test]
fn a_bind_mounted_file_is_searched_each_time() {
    let Some(mut comparison) = comparison("search::index::mounts::a_bind_mounted_file_is_searched_each_time") else {
        return;
    };
    let outside = comparison.dir.path().join("aside/outside.txt");
    fs::write(&outside, "needle outside\n").unwrap();
    let open = fs::File::options().write(true).open(&outside).unwrap();
    open.set_modified(std::time::SystemTime::now() - Duration::from_secs(3600)).unwrap();
    let file = comparison.path("src/a.txt");
    assert!(mount(&["--bind", outside.to_str().unwrap()], &file));
    compare(&mut comparison);
    comparison.settle();
    // Its events are those of the folder outside.
    fs::write(&outside, "needle changed out there\n").unwrap();
    assert!(finds(&comparison, "changed out there"));
    compare(&mut comparison);
    let rules = comparison.dir.path().join("aside/rules");
    fs::write(&rules, "*.log\n").unwrap();
    fs::write(comparison.path(".gitignore"), "").unwrap();
    compare(&mut comparison);
    assert!(mount(&["--bind", rules.to_str().unwrap()], &comparison.path(".gitignore")));
    compare(&mut comparison);
    fs::write(&rules, "deep\n").unwrap();
    compare(&mut comparison);
    assert!(unmount(&[], &comparison.path(".gitignore")));
    compare(&mut comparison);
    assert!(unmount(&[], &file));
    assert!(finds(&comparison, "under the mount"));
    compare(&mut comparison);
}

#[test]
fn an_overlay_and_its_upper_folder_are_walked() {
    let name = "search::index::mounts::an_overlay_and_its_upper_folder_are_walked";
    let Some(mut comparison) = comparison(name) else { return };
    // Overlays do not nest, so all of it is on a separate file system.
    let base = comparison.path("base");
    fs::create_dir(&base).unwrap();
    assert!(mount(&["-t", "tmpfs", "none"], &base));
    for folder in ["lower/deep", "upper", "work", "merged"] {
        fs::create_dir_all(base.join(folder)).unwrap();
    }
    fs::write(base.join("lower/deep/file.txt"), "needle of the lower\n").unwrap();
    let options = format!(
        "lowerdir={},upperdir={},workdir={}",
        base.join("lower").display(),
        base.join("upper").display(),
        base.join("work").display()
    );
    if !mount(&["-t", "overlay", "overlay", "-o", &options], &base.join("merged")) {
        eprintln!("SKIPPED: this kernel has no overlayfs");
        return;
    }
    compare(&mut comparison);
    for (round, word) in ["first", "second"].into_iter().enumerate() {
        fs::write(base.join("merged/deep/file.txt"), format!("needle {word}\n")).unwrap();
        compare(&mut comparison);
        comparison.settle();
        assert!(finds(&comparison, word), "{round}");
    }
    assert!(unmount(&[], &base.join("merged")));
    compare(&mut comparison);
}

/// With Landlock the mount table is read through a descriptor that was opened before.
#[test]
fn a_confined_server_notices_a_mount_at_once() {
    if !is_inside() {
        ran_inside("search::index::mounts::a_confined_server_notices_a_mount_at_once");
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("root");
    fs::create_dir_all(root.join("sub")).unwrap();
    fs::write(root.join("sub/a.txt"), "needle below\n").unwrap();
    let mut server = Process::start(dir.path(), &["--index", "eager", "--root", "root"]);
    server.initialize();
    let mut ask = |pattern: &str| -> Value {
        let grep = json!({"name": "grep", "arguments": {"pattern": pattern, "output_mode": "files_with_matches"}});
        server.ask("tools/call", &grep)["result"].clone()
    };
    let begun = Instant::now();
    while ask("needle")["_meta"]["rootbound/result"]["source"] != "list" {
        assert!(begun.elapsed() < Duration::from_secs(180), "never listed");
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(mount(&["-t", "tmpfs", "none"], &root.join("sub")));
    let text = |answer: Value| answer["content"][0]["text"].as_str().unwrap().to_owned();
    assert!(text(ask("needle")).starts_with("No matches found"));
    fs::write(root.join("sub/b.txt"), "needle above\n").unwrap();
    let answer = ask("needle");
    assert_eq!(answer["_meta"]["rootbound/result"]["source"], "list");
    assert!(text(answer).contains("sub/b.txt"));
    assert!(unmount(&["--lazy"], &root.join("sub")));
    assert!(text(ask("needle")).contains("sub/a.txt"));
}

#[test]
fn an_unrelated_mount_does_not_reset_the_filter() {
    let Some(mut comparison) = comparison("search::index::mounts::an_unrelated_mount_does_not_reset_the_filter") else {
        return;
    };
    if !settled(&comparison, "3 in the filter") {
        return;
    }
    let outside = comparison.dir.path().join("aside/elsewhere");
    fs::create_dir_all(&outside).unwrap();
    assert!(mount(&["-t", "tmpfs", "none"], &outside));
    compare(&mut comparison);
    assert!(mount(&["-t", "tmpfs", "none"], &comparison.path("aside")));
    compare(&mut comparison);
    assert!(comparison.report().contains("3 in the filter"), "{}", comparison.report());
}
