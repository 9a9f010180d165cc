//! Transactions whose process ends at each system call that changes the disk, and what recovery makes of it.
//!
//! The test program starts itself again for that, with a fault (`sys/faults`). The tree has every kind of step.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::{MetadataExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use super::super::transaction::{EntryState, NotCommitted, Transaction};
use super::super::{Access, Approval, Base, Revision, StateDir, WaitLimit, Workspace, WritablePath};

/// Says to a started test what to do, and where.
const DO: &str = "_ROOTBOUND_TRANSACTION_TEST";

fn open(folder: &Path) -> Workspace {
    let workspace = Workspace::of_directory(folder.join("root"), Access::ReadWrite);
    workspace.keep_intents(&StateDir::open(&folder.join("state")).unwrap());
    workspace
}

fn populate(folder: &Path) {
    let root = folder.join("root");
    for (path, content) in [
        ("a", "1"),
        ("d/b", "2"),
        ("gone/sub/f", "3"),
        ("m", "4"),
        ("x", "5"),
        ("y", "6"),
        ("kind/f", "7"),
        ("keep", "8"),
    ] {
        fs::create_dir_all(root.join(path).parent().unwrap()).unwrap();
        fs::write(root.join(path), content).unwrap();
    }
    symlink("a", root.join("link")).unwrap();
    fs::create_dir_all(folder.join("state")).unwrap();
}

/// Every kind of step: replaced, created in new directories, moved into one, exchanged, removed with its directories,
/// a directory that becomes a file, a link.
fn change(workspace: &Workspace) -> Result<(), NotCommitted> {
    let file = |path: &str| workspace.writable(&workspace.resolve(path).unwrap()).unwrap();
    let entry = |path: &str| workspace.writable_entry(&workspace.resolve(path).unwrap()).unwrap();
    let is = |content: &str| EntryState::File(Revision::of(content.as_bytes()));
    let written = [file("a"), file("d/b"), file("new/deep/f"), file("new/g"), file("kind"), file("n")];
    let bases = [Some("1"), Some("2"), None, None, None, None];
    let moved = [(entry("m"), entry("new/m"), "4"), (entry("x"), entry("y"), "5"), (entry("y"), entry("x"), "6")];
    let removed = [
        (entry("gone/sub/f"), is("3")),
        (entry("gone/sub"), EntryState::Directory),
        (entry("gone"), EntryState::Directory),
        (entry("kind/f"), is("7")),
        (entry("kind"), EntryState::Directory),
        (entry("link"), EntryState::Link("a".into())),
    ];
    let leaving: Vec<&WritablePath> =
        moved.iter().map(|(from, ..)| from).chain(removed.iter().map(|(path, _)| path)).collect();
    let coming = moved.iter().map(|(_, to, _)| to).chain(&written);
    let entries: Vec<&WritablePath> = leaving.iter().copied().chain(coming).collect();
    let contents: Vec<String> = (0..written.len()).map(|number| format!("new {number}")).collect();
    let mut transaction = Transaction::acquire(workspace, &entries, &leaving, WaitLimit::default())?;
    for ((path, base), content) in written.iter().zip(bases).zip(&contents) {
        let base = base.map_or(Base::Absent, |old| Base::Revision(Revision::of(old.as_bytes())));
        let mut guard = transaction.guard(path, base)?;
        let content = guard.new_content(content.as_bytes())?.into();
        transaction.write(guard, content, None);
    }
    for (from, to, content) in &moved {
        transaction.move_to(from, to, is(content))?;
    }
    for (path, was) in removed {
        transaction.remove(&path, was)?;
    }
    transaction.make_link(&entry("other"), OsString::from("d"))?;
    transaction.commit(Approval::by_policy(), |_| {}).map(drop)
}

/// What is below a directory.
fn tree(root: &Path) -> BTreeMap<PathBuf, String> {
    let mut found = BTreeMap::new();
    let mut left = vec![root.to_path_buf()];
    while let Some(dir) = left.pop() {
        for entry in fs::read_dir(dir).into_iter().flatten() {
            let path = entry.unwrap().path();
            let kind = fs::symlink_metadata(&path).unwrap();
            let shown = path.strip_prefix(root).unwrap().to_path_buf();
            if kind.is_dir() {
                left.push(path);
                found.insert(shown, "directory".to_owned());
            } else if kind.is_symlink() {
                found.insert(shown, format!("-> {}", fs::read_link(&path).unwrap().display()));
            } else {
                found.insert(shown, fs::read_to_string(&path).unwrap());
            }
        }
    }
    found
}

/// Inodes of what a roll back brings back, and the times of the files.
fn marks(root: &Path) -> Vec<(u64, i64)> {
    let mark = |path: &str| {
        let stat = fs::metadata(root.join(path)).unwrap();
        (stat.ino(), if stat.is_file() { stat.mtime_nsec() } else { 0 })
    };
    ["a", "d/b", "m", "x", "y", "gone/sub/f", "kind/f", "gone", "gone/sub", "kind"].map(mark).to_vec()
}

/// What the change makes of the tree.
fn changed() -> BTreeMap<PathBuf, String> {
    let temp = tempfile::tempdir().unwrap();
    populate(temp.path());
    change(&open(temp.path())).unwrap();
    tree(&temp.path().join("root"))
}

/// Runs [`started_again`] in another process with a fault; whether it came to its end.
fn run(folder: &Path, what: &str, fault: &str) -> bool {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "workspace::tests::transactions::started_again", "--quiet"]);
    command.env(DO, format!("{what} {}", folder.display())).env("_ROOTBOUND_FAULT", fault);
    let output = command.output().unwrap();
    output.status.success()
}

/// The part of a test that another process plays; alone it does nothing.
#[test]
fn started_again() {
    let Ok(order) = std::env::var(DO) else { return };
    let (what, folder) = order.split_once(' ').unwrap();
    let workspace = open(Path::new(folder));
    match what {
        "change" => change(&workspace).unwrap(),
        "recover" => workspace.recover(&WaitLimit::default()),
        _ => panic!("{what}"),
    }
}

#[test]
fn process_killed_at_any_call_leaves_all_or_nothing() {
    let new = changed();
    let (mut points, mut rolled_back) = (0, 0);
    for no_exchange in ["", ",no-exchange"] {
        for number in 1.. {
            let temp = tempfile::tempdir().unwrap();
            let root = temp.path().join("root");
            populate(temp.path());
            let (old, before) = (tree(&root), marks(&root));
            let fault = if number % 2 == 0 { "kill-within" } else { "kill-before" };
            let ended = run(temp.path(), "change", &format!("{fault}:{number}{no_exchange}"));
            let workspace = open(temp.path());
            workspace.recover(&WaitLimit::default());
            let now = tree(&root);
            let notes = workspace.take_recovery_notes();
            assert!(now == new || now == old, "{fault}:{number}{no_exchange}: {now:#?} {notes:?}");
            if now == old {
                rolled_back += 1;
                assert!(!ended, "an acknowledged change was rolled back");
                assert_eq!(marks(&root), before, "{fault}:{number}{no_exchange}");
            }
            let left = tree(&temp.path().join("state").join("transactions"));
            assert!(left.is_empty(), "{fault}:{number}{no_exchange}: {left:?}");
            assert!(notes.iter().all(|note| note.ends_with("was rolled back")), "{notes:?}");
            if ended {
                break;
            }
            points += 1;
        }
    }
    assert!(points > 80 && rolled_back > 60, "{points} {rolled_back}");
}
