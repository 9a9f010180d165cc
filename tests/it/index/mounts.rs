//! File systems that are mounted and unmounted below a root while it is listed.
//!
//! Needs the right to mount. Each test runs again as a child in a mount namespace of its own (`unshare`
//! of util-linux), so that nothing is left behind and nothing else sees it; where that right is missing,
//! the test says so.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use rootbound::search::IndexMode;
use serde_json::{Value, json};

use super::{
    game::{Game, Rules},
    listed, old_file, settled,
};
use crate::process::{Process, may_mount};

/// Set for the child.
const INSIDE: &str = "ROOTBOUND_TEST_NAMESPACE";

/// Whether this process is in a mount namespace of its own.
pub(super) fn is_inside() -> bool {
    std::env::var_os(INSIDE).is_some()
}

/// Runs the test of that name again in a mount namespace of its own: whether that was done, and went well.
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
    let end = command.arg(program).args([test, "--exact", "--nocapture"]).env(INSIDE, "1").status().unwrap();
    assert!(end.success(), "in a mount namespace of its own: {end}");
    true
}

/// `mount` of util-linux; whether it did it.
pub(super) fn mount(arguments: &[&str], target: &Path) -> bool {
    ran("mount", arguments, target)
}

/// `umount` of util-linux; whether it did it.
pub(super) fn unmount(arguments: &[&str], target: &Path) -> bool {
    ran("umount", arguments, target)
}

fn ran(program: &str, arguments: &[&str], target: &Path) -> bool {
    let mut command = Command::new(program);
    command.args(arguments).arg(target).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|end| end.success())
}

/// The places below `folder` where something is mounted, the last one first.
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

/// A game in a namespace of its own, listed; none where the test goes on in a child, or cannot.
fn game(test: &str) -> Option<Game> {
    if !is_inside() {
        ran_inside(test);
        return None;
    }
    let game = Game::new(1, IndexMode::Eager, Rules::Ours);
    for folder in ["src/deep", "lib", "aside"] {
        fs::create_dir_all(game.path(folder)).unwrap();
    }
    old_file(&game, "src/a.txt", "needle under the mount\n");
    old_file(&game, "src/deep/b.txt", "needle under the mount\n");
    old_file(&game, "lib/c.txt", "needle in lib\n");
    game.settle();
    listed(&game.report()).then_some(game)
}

/// Both engines on everything that a mount can change.
fn compare(game: &mut Game) {
    for (tool, arguments) in [
        ("grep", json!({ "pattern": "needle" })),
        ("grep", json!({ "pattern": "needle", "output_mode": "count", "no_ignore": true })),
        ("glob", json!({ "pattern": "**/*", "include_dirs": true, "sort": "modified" })),
        ("glob", json!({ "pattern": "**/*", "no_ignore": true, "sort": "path" })),
        ("grep", json!({ "pattern": "needle", "path": "src" })),
    ] {
        game.compare(tool, arguments.as_object().unwrap());
    }
}

fn finds(game: &Game, word: &str) -> bool {
    let answer = game.listed("grep", &json!({ "pattern": word }));
    assert_eq!(answer.source, Some(json!("list")), "the rest keeps its list");
    !answer.text.starts_with("No matches found")
}

#[test]
fn a_mount_over_a_folder_is_seen_at_once_and_so_is_its_end() {
    let Some(mut game) = game("index::mounts::a_mount_over_a_folder_is_seen_at_once_and_so_is_its_end") else { return };
    compare(&mut game);
    for lazily in [false, true] {
        let src = game.path("src");
        assert!(mount(&["-t", "tmpfs", "none"], &src));
        assert!(!finds(&game, "under the mount"));
        fs::write(src.join("new.txt"), "needle on the tmpfs\n").unwrap();
        assert!(finds(&game, "on the tmpfs"));
        compare(&mut game);
        game.settle();
        fs::write(src.join("new.txt"), "needle, the second\n").unwrap();
        compare(&mut game);
        assert!(unmount(if lazily { &["--lazy"] } else { &[] }, &src));
        assert!(finds(&game, "under the mount") && !finds(&game, "the second"));
        compare(&mut game);
        game.settle();
        compare(&mut game);
    }
}

#[test]
fn what_takes_the_place_and_the_number_of_a_mount_is_seen() {
    let Some(mut game) = game("index::mounts::what_takes_the_place_and_the_number_of_a_mount_is_seen") else { return };
    let src = game.path("src");
    for word in ["first", "second", "third"] {
        assert!(mount(&["-t", "tmpfs", "none"], &src));
        old_file(&game, "src/same.txt", &format!("needle {word}\n"));
        compare(&mut game);
        game.settle();
        assert!(finds(&game, word));
        // The kernel gives the numbers of a mount and its device out again.
        assert!(unmount(&[], &src));
        assert!(mount(&["-t", "tmpfs", "none"], &src));
        old_file(&game, "src/same.txt", "needle of another\n");
        assert!(!finds(&game, word) && finds(&game, "of another"));
        compare(&mut game);
        assert!(unmount(&[], &src));
    }
}

#[test]
fn a_mount_that_moves_or_covers_another_is_seen() {
    let Some(mut game) = game("index::mounts::a_mount_that_moves_or_covers_another_is_seen") else { return };
    let (src, lib) = (game.path("src"), game.path("lib"));
    assert!(mount(&["-t", "tmpfs", "none"], &src));
    fs::create_dir(src.join("inner")).unwrap();
    fs::write(src.join("moving.txt"), "needle that moves\n").unwrap();
    assert!(mount(&["-t", "tmpfs", "none"], &src.join("inner")));
    fs::write(src.join("inner/deep.txt"), "needle in the inner\n").unwrap();
    compare(&mut game);
    assert!(mount(&["--move", src.to_str().unwrap()], &lib));
    compare(&mut game);
    assert!(finds(&game, "that moves") && finds(&game, "under the mount") && !finds(&game, "in lib"));
    assert!(mount(&["-t", "tmpfs", "none"], &lib));
    compare(&mut game);
    assert!(!finds(&game, "that moves"));
    assert!(unmount(&[], &lib));
    compare(&mut game);
    // The folder that holds one is moved: no mount changes by that, and the next change finds it there.
    fs::create_dir_all(game.path("top/inner")).unwrap();
    assert!(mount(&["-t", "tmpfs", "none"], &game.path("top/inner")));
    fs::write(game.path("top/inner/moved.txt"), "needle that was taken along\n").unwrap();
    compare(&mut game);
    fs::rename(game.path("top"), game.path("src/moved")).unwrap();
    compare(&mut game);
    assert!(unmount(&["--lazy"], &game.path("src/moved/inner")));
    compare(&mut game);
    assert!(!finds(&game, "taken along"));
}

#[test]
fn the_end_of_a_mount_is_seen_although_a_folder_above_it_was_renamed() {
    let Some(mut game) = game("index::mounts::the_end_of_a_mount_is_seen_although_a_folder_above_it_was_renamed")
    else {
        return;
    };
    let outside = game.dir.path().join("aside/over");
    fs::create_dir(&outside).unwrap();
    fs::create_dir_all(game.path("src/inner")).unwrap();
    fs::write(game.path("src/inner/own.txt"), "needle of its own\n").unwrap();
    compare(&mut game);
    assert!(mount(&["--bind", outside.to_str().unwrap()], &game.path("src/inner")));
    compare(&mut game);
    fs::rename(game.path("src"), game.path("elsewhere")).unwrap();
    compare(&mut game);
    assert!(unmount(&[], &game.path("elsewhere/inner")));
    assert!(finds(&game, "of its own"));
    compare(&mut game);
}

#[test]
fn a_folder_in_two_places_is_listed_in_one_and_walked_in_the_other() {
    let Some(mut game) = game("index::mounts::a_folder_in_two_places_is_listed_in_one_and_walked_in_the_other") else {
        return;
    };
    let (src, aside) = (game.path("src"), game.path("aside"));
    assert!(mount(&["--bind", src.to_str().unwrap()], &aside));
    compare(&mut game);
    game.settle();
    for place in ["src/a.txt", "aside/a.txt", "aside/deep/new.txt", "src/deep/b.txt"] {
        fs::write(game.path(place), format!("needle by {place}\n")).unwrap();
        compare(&mut game);
        assert!(finds(&game, &format!("by {place}")));
    }
    fs::write(game.path("aside/.gitignore"), "deep\n").unwrap();
    compare(&mut game);
    fs::write(game.path("aside/CACHEDIR.TAG"), "").unwrap();
    compare(&mut game);
    assert!(unmount(&[], &aside));
    compare(&mut game);
}

#[test]
fn a_mounted_folder_that_was_removed_elsewhere_fails_as_in_a_walk() {
    let Some(mut game) = game("index::mounts::a_mounted_folder_that_was_removed_elsewhere_fails_as_in_a_walk") else {
        return;
    };
    let outside = game.dir.path().join("aside/gone");
    fs::create_dir(&outside).unwrap();
    assert!(mount(&["--bind", outside.to_str().unwrap()], &game.path("src")));
    compare(&mut game);
    fs::remove_dir(&outside).unwrap();
    compare(&mut game);
    game.settle();
    compare(&mut game);
}

#[test]
fn a_file_that_is_mounted_over_is_searched_each_time() {
    let Some(mut game) = game("index::mounts::a_file_that_is_mounted_over_is_searched_each_time") else { return };
    let outside = game.dir.path().join("aside/outside.txt");
    fs::write(&outside, "needle outside\n").unwrap();
    let open = fs::File::options().write(true).open(&outside).unwrap();
    open.set_modified(std::time::SystemTime::now() - Duration::from_secs(3600)).unwrap();
    let file = game.path("src/a.txt");
    assert!(mount(&["--bind", outside.to_str().unwrap()], &file));
    compare(&mut game);
    game.settle();
    // Its events are those of the folder outside.
    fs::write(&outside, "needle changed out there\n").unwrap();
    assert!(finds(&game, "changed out there"));
    compare(&mut game);
    let rules = game.dir.path().join("aside/rules");
    fs::write(&rules, "*.log\n").unwrap();
    fs::write(game.path(".gitignore"), "").unwrap();
    compare(&mut game);
    assert!(mount(&["--bind", rules.to_str().unwrap()], &game.path(".gitignore")));
    compare(&mut game);
    fs::write(&rules, "deep\n").unwrap();
    compare(&mut game);
    assert!(unmount(&[], &game.path(".gitignore")));
    compare(&mut game);
    assert!(unmount(&[], &file));
    assert!(finds(&game, "under the mount"));
    compare(&mut game);
}

#[test]
fn an_overlay_below_a_root_is_walked_and_the_folder_that_it_writes_to_as_well() {
    let name = "index::mounts::an_overlay_below_a_root_is_walked_and_the_folder_that_it_writes_to_as_well";
    let Some(mut game) = game(name) else { return };
    // Overlays do not nest, so all of it lies on a file system of its own.
    let base = game.path("base");
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
    compare(&mut game);
    for (round, word) in ["first", "second"].into_iter().enumerate() {
        fs::write(base.join("merged/deep/file.txt"), format!("needle {word}\n")).unwrap();
        compare(&mut game);
        game.settle();
        assert!(finds(&game, word), "{round}");
    }
    assert!(unmount(&[], &base.join("merged")));
    compare(&mut game);
}

/// The release wall is up: the mount table is read through a descriptor that was opened before.
#[test]
fn a_confined_server_sees_a_mount_at_once() {
    if !is_inside() {
        ran_inside("index::mounts::a_confined_server_sees_a_mount_at_once");
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
fn the_filter_keeps_what_a_mount_elsewhere_does_not_concern() {
    let Some(mut game) = game("index::mounts::the_filter_keeps_what_a_mount_elsewhere_does_not_concern") else {
        return;
    };
    if !settled(&game, "3 in the filter") {
        return;
    }
    let outside = game.dir.path().join("aside/elsewhere");
    fs::create_dir_all(&outside).unwrap();
    assert!(mount(&["-t", "tmpfs", "none"], &outside));
    compare(&mut game);
    assert!(mount(&["-t", "tmpfs", "none"], &game.path("aside")));
    compare(&mut game);
    assert!(game.report().contains("3 in the filter"), "{}", game.report());
}
