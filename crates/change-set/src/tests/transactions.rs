//! Transactions whose process ends at each system call that changes the disk, and what recovery makes of it.
//!
//! The test program starts itself again for that, with a fault (`faults` of the crate `beneath`). The tree has every
//! kind of step.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use super::super::set::{ChangeSet, CommitError};
use super::super::{EntryState, Rights};
use confined_fs::{Access, Revision};

use super::super::{Approval, Base, NewContent, StateDir, WaitLimit, Workspace, WritablePath};

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
fn change(workspace: &Workspace) -> Result<(), CommitError> {
    let file = |path: &str| workspace.writable(&workspace.resolve(path).unwrap()).unwrap();
    let entry = |path: &str| workspace.writable_entry(&workspace.resolve(path).unwrap()).unwrap();
    let is = |content: &str| EntryState::from(Revision::of(content.as_bytes()));
    let written = [file("a"), file("d/b"), file("new/deep/f"), file("new/g"), file("kind"), file("n")];
    let bases = [Some("1"), Some("2"), None, None, None, None];
    let moved = [(entry("m"), entry("new/m"), "4"), (entry("x"), entry("y"), "5"), (entry("y"), entry("x"), "6")];
    let removed = [
        (entry("gone/sub/f"), is("3")),
        (entry("gone/sub"), EntryState::Directory { rights: Rights::default() }),
        (entry("gone"), EntryState::Directory { rights: Rights::default() }),
        (entry("kind/f"), is("7")),
        (entry("kind"), EntryState::Directory { rights: Rights::default() }),
        (entry("link"), EntryState::Link("a".into())),
    ];
    let leaving: Vec<&WritablePath> =
        moved.iter().map(|(from, ..)| from).chain(removed.iter().map(|(path, _)| path)).collect();
    let coming = moved.iter().map(|(_, to, _)| to).chain(&written);
    let entries: Vec<&WritablePath> = leaving.iter().copied().chain(coming).collect();
    let contents: Vec<String> = (0..written.len()).map(|number| format!("new {number}")).collect();
    let mut transaction = ChangeSet::acquire(workspace, &entries, &leaving, WaitLimit::default())?;
    for ((path, base), content) in written.iter().zip(bases).zip(&contents) {
        let base = base.map_or(Base::Absent, |old| Base::Revision(Revision::of(old.as_bytes())));
        let guard = transaction.guard(path, base)?;
        transaction.write(guard, NewContent::of(content.as_bytes()).into(), None);
    }
    for (from, to, content) in &moved {
        transaction.move_to(from, to, is(content))?;
    }
    for (path, was) in removed {
        transaction.remove(&path, was)?;
    }
    transaction.create(&entry("other"), EntryState::Link("d".into()))?;
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
    command.args(["--exact", "tests::transactions::started_again", "--quiet"]);
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

#[test]
fn recovery_killed_at_any_call_is_repeated() {
    let new = changed();
    let mut points = 0;
    // In the middle of the names, at their end, and after the commit.
    for number in [40, 50, 58, 64] {
        for kill in 1.. {
            let temp = tempfile::tempdir().unwrap();
            let root = temp.path().join("root");
            populate(temp.path());
            let old = tree(&root);
            assert!(!run(temp.path(), "change", &format!("kill-before:{number}")));
            let ended = run(temp.path(), "recover", &format!("kill-after:{kill}"));
            let workspace = open(temp.path());
            workspace.recover(&WaitLimit::default());
            let now = tree(&root);
            assert!(now == new || now == old, "{number} {kill}: {now:#?}");
            assert!(tree(&temp.path().join("state").join("transactions")).is_empty());
            if ended {
                break;
            }
            points += 1;
        }
    }
    assert!(points > 30, "{points}");
}

/// A folder whose change was killed once `a` had its new content.
fn killed_after_the_first_replacement() -> tempfile::TempDir {
    for number in 30.. {
        let temp = tempfile::tempdir().unwrap();
        populate(temp.path());
        assert!(!run(temp.path(), "change", &format!("kill-before:{number}")), "the change came to its end");
        if fs::read_to_string(temp.path().join("root/a")).unwrap() != "1" {
            return temp;
        }
    }
    unreachable!()
}

#[test]
fn file_that_another_program_has_changed_since_is_left_to_it() {
    let temp = killed_after_the_first_replacement();
    let root = temp.path().join("root");
    let read = |path: &str| fs::read_to_string(root.join(path)).unwrap();
    assert!(!root.join("m").exists() && !root.join("gone").exists());
    fs::write(root.join("a"), "theirs").unwrap();
    fs::write(root.join("m"), "theirs, too").unwrap();
    let workspace = open(temp.path());
    assert!(workspace.may_need_recovery());
    workspace.recover(&WaitLimit::default());
    assert_eq!((read("a"), read("a.rootbound-kept")), ("theirs".to_owned(), "1".to_owned()));
    assert_eq!((read("m"), read("m.rootbound-kept")), ("theirs, too".to_owned(), "4".to_owned()));
    assert_eq!((read("d/b"), read("gone/sub/f"), read("x")), ("2".to_owned(), "3".to_owned(), "5".to_owned()));
    let notes = workspace.take_recovery_notes();
    let [note] = notes.as_slice() else { panic!("{notes:?}") };
    assert!(note.contains("was rolled back, but") && note.contains("a was changed by another program"), "{note}");
    assert!(tree(&temp.path().join("state/transactions")).is_empty());
}

#[test]
fn intent_of_a_living_process_is_left_alone() {
    let temp = killed_after_the_first_replacement();
    let folder = temp.path().join("state/transactions");
    let name = fs::read_dir(&folder).unwrap().next().unwrap().unwrap().file_name();
    let dir = beneath::Dir::open_ambient(&folder, false).unwrap();
    let owner = dir.open_locked(&name).unwrap();
    let before = tree(&temp.path().join("root"));
    let workspace = open(temp.path());
    assert!(workspace.may_need_recovery());
    workspace.recover(&WaitLimit::default());
    assert_eq!(tree(&temp.path().join("root")), before);
    drop(owner);
    workspace.recover(&WaitLimit::default());
    assert_eq!(fs::read_to_string(temp.path().join("root/a")).unwrap(), "1");
}

/// The text of an intent with these steps.
fn intent(id: u64, steps: &[String]) -> String {
    let mut text = format!("{{\"rootbound\":1,\"id\":\"{id:016x}\",\"steps\":{}}}\n", steps.len());
    for step in steps {
        text.push_str(step);
        text.push('\n');
    }
    format!("{text}{{\"sum\":\"{}\"}}\n", Revision::of(text.as_bytes()))
}

#[test]
fn forged_intent_reaches_nothing_outside_or_protected() {
    let temp = tempfile::tempdir().unwrap();
    let (root, out) = (temp.path().join("root"), temp.path().join("out"));
    populate(temp.path());
    let id = 0x0123_4567_89ab_cdef_u64;
    let planted = format!(".rootbound-{id:016x}-0.txn");
    for directory in [&out, &root, &root.join(".git/hooks")] {
        fs::create_dir_all(directory).unwrap();
        fs::write(directory.join(&planted), "planted").unwrap();
    }
    fs::write(out.join("f"), "new").unwrap();
    fs::write(root.join(".git/hooks/pre-commit"), "new").unwrap();
    symlink(&out, root.join("way")).unwrap();
    let before = || (tree(&out), fs::read_to_string(root.join(".git/hooks/pre-commit")).unwrap());
    let unharmed = before();
    let key = open(temp.path()).roots()[0].key().to_owned();
    let (new, old) = (Revision::of(b"new"), Revision::of(b"planted"));
    let step = |root: &str, path: &str| {
        let path = serde_json::to_string(path).unwrap();
        format!(
            "{{\"root\":{{\"disk\":\"{root}\"}},\"path\":{path},\"replace\":{{\"old\":\"{old}\",\"new\":\"{new}\"}}}}"
        )
    };
    let folder = temp.path().join("state/transactions");
    fs::create_dir_all(&folder).unwrap();
    let host = out.join("f").display().to_string();
    let paths = ["../out/f", &host, "d/../../out/f", "", ".", "d//b", "d/b/", "way/f", ".git/hooks/pre-commit", "d\0"];
    for path in paths.into_iter().chain([planted.as_str()]) {
        for stage in ["ready", "begun", "done", "back"] {
            fs::write(folder.join(format!("{id:016x}.{stage}")), intent(id, &[step(&key, path)])).unwrap();
            let workspace = open(temp.path());
            workspace.recover(&WaitLimit::default());
            assert_eq!(before(), unharmed, "{path:?} {stage}");
            for left in fs::read_dir(&folder).unwrap() {
                fs::remove_file(left.unwrap().path()).unwrap();
            }
        }
    }
    // Of another root: it stays for a process that serves that, and costs nothing from then on. The second is of a layer
    // over this root, as an earlier version changed them.
    for step in [step(&"0".repeat(32), "a"), step(&key, "a").replace("disk", "staged")] {
        fs::write(folder.join(format!("{id:016x}.ready")), intent(id, &[step])).unwrap();
        let workspace = open(temp.path());
        assert!(workspace.may_need_recovery());
        workspace.recover(&WaitLimit::default());
        assert!(!workspace.may_need_recovery() && folder.join(format!("{id:016x}.ready")).exists());
        assert_eq!(workspace.take_recovery_notes(), Vec::<String>::new());
    }
}

#[test]
fn damaged_intent_is_set_aside_and_touches_nothing() {
    let temp = killed_after_the_first_replacement();
    let folder = temp.path().join("state/transactions");
    let name = fs::read_dir(&folder).unwrap().next().unwrap().unwrap().path();
    let whole = fs::read(&name).unwrap();
    let before = tree(&temp.path().join("root"));
    let mut random = 7_u64;
    for round in 0..200_usize {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let mut damaged = whole.clone();
        let at = usize::try_from(random >> 33).unwrap() % damaged.len();
        match round % 3 {
            0 => damaged.truncate(at),
            1 => damaged[at] ^= 1 << (round % 8),
            _ => drop(damaged.splice(at..at, *b"\n\"{\xff")),
        }
        fs::write(&name, &damaged).unwrap();
        let workspace = open(temp.path());
        workspace.recover(&WaitLimit::default());
        assert_eq!(tree(&temp.path().join("root")), before, "round {round}");
        let notes = workspace.take_recovery_notes();
        assert!(notes.len() == 1 && notes[0].contains("damaged"), "round {round}: {notes:?}");
        assert!(!workspace.may_need_recovery());
        fs::remove_file(format!("{}.damaged", name.display())).unwrap();
    }
    fs::write(&name, whole).unwrap();
    open(temp.path()).recover(&WaitLimit::default());
    assert_eq!(fs::read_to_string(temp.path().join("root/a")).unwrap(), "1");
}
