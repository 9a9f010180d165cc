//! Moving, copying and deleting whole entries: all or nothing, inside or not at all.

use std::os::unix::fs::MetadataExt as _;
use std::time::Duration;

use super::super::{tree::NewTree, write::remove_made};
use super::*;

pub(super) fn entry(workspace: &Workspace, text: &str) -> WritablePath {
    workspace.writable_entry(&workspace.resolve(text).unwrap()).unwrap()
}

pub(super) fn revisions(workspace: &Workspace, tree: &Tree) -> Vec<Option<Revision>> {
    let file = |entry: &TreeEntry| matches!(entry.node, Node::File(_));
    tree.paths().map(|(path, one)| file(one).then(|| workspace.read(&path, 1 << 20).unwrap().revision)).collect()
}

pub(super) fn yes() -> Approval {
    Approval::by_policy()
}

pub(super) fn names(path: &Path) -> Vec<String> {
    let mut names: Vec<_> =
        fs::read_dir(path).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// Changes of another process between the look and the removal.
type Meddle = fn(&Fixture);

#[test]
fn changed_tree_is_not_removed_and_goes_back() {
    let meddling: [Meddle; 5] = [
        |fixture| fixture.file("ws/d/a", "changed"),
        |fixture| fixture.file("ws/d/new", "new"),
        |fixture| fs::remove_file(fixture.host("ws/d/sub/b")).unwrap(),
        |fixture| {
            // The same length and content state but for the bytes, within the clock's grain.
            fs::write(fixture.host("ws/d/sub/b"), "B").unwrap();
        },
        |fixture| {
            fs::remove_dir_all(fixture.host("ws/d/sub")).unwrap();
            fixture.link("../../out", "ws/d/sub");
        },
    ];
    for meddle in meddling {
        Fixture::both(|fixture| {
            fixture.file("ws/d/a", "a");
            fixture.file("ws/d/sub/b", "b");
            let workspace = fixture.open();
            let target = entry(&workspace, "d");
            let guard = ChangeSet::acquire(&workspace, &[&target], &[], WaitLimit::default()).unwrap();
            let tree = workspace.tree(&target, Purpose::Remove).unwrap();
            let recorded = revisions(&workspace, &tree);
            meddle(&fixture);
            let before = names(&fixture.host("ws/d"));
            let error = guard.remove_tree(&target, &tree, &recorded, yes()).unwrap_err();
            assert_eq!(error.error.kind, AccessErrorKind::Stale);
            assert_eq!(names(&fixture.host("ws")), ["d"]);
            assert_eq!(names(&fixture.host("ws/d")), before);
            assert_eq!(fixture.content("out/secret.txt"), "outside");
        });
    }
}

#[test]
fn remove_follows_no_link() {
    Fixture::both(|fixture| {
        fixture.file("ws/d/a", "a");
        fixture.link("../../out", "ws/d/link");
        fs::create_dir_all(fixture.host("ws/d/e/f/g")).unwrap();
        let workspace = fixture.open();
        let target = entry(&workspace, "d");
        let guard = ChangeSet::acquire(&workspace, &[&target], &[], WaitLimit::default()).unwrap();
        let tree = workspace.tree(&target, Purpose::Remove).unwrap();
        guard.remove_tree(&target, &tree, &revisions(&workspace, &tree), yes()).unwrap();
        assert!(names(&fixture.host("ws")).is_empty());
        assert_eq!(names(&fixture.host("out")), ["secret.txt"]);
    });
}

#[test]
fn deep_tree_is_created_listed_and_removed() {
    const DEEP: usize = 300;
    Fixture::both(|fixture| {
        let workspace = fixture.open();
        let target = entry(&workspace, "d");
        let guard = ChangeSet::acquire(&workspace, &[&target], &[], WaitLimit::default()).unwrap();
        let mut parts = (0..DEEP).map(|depth| {
            let name = if depth == 0 { "" } else { "d" }.into();
            Ok((TreePosition { depth, name }, NewNode::Directory { rights: Rights::of_mode(0o755) }))
        });
        guard.create_tree(&target, &mut parts, yes()).unwrap();
        let tree = workspace.tree(&target, Purpose::Remove).unwrap();
        assert_eq!(tree.entries().len(), DEEP);
        guard.remove_tree(&target, &tree, &revisions(&workspace, &tree), yes()).unwrap();
        assert!(names(&fixture.host("ws")).is_empty());
    });
}

#[test]
fn deep_tree_is_created_and_copied_with_files_on_the_way_back() {
    // Deeper than directories are kept open, with something to do in each on the way down and back.
    const DEEP: usize = 200;
    Fixture::both(|fixture| {
        let workspace = fixture.open();
        let (one, other) = (entry(&workspace, "one"), entry(&workspace, "other"));
        let guard = ChangeSet::acquire(&workspace, &[&one, &other], &[], WaitLimit::default()).unwrap();
        let file = |depth: usize, name: &str| {
            let text = format!("{name} at {depth}");
            let content: Box<dyn std::io::Read> = Box::new(std::io::Cursor::new(text));
            Ok((TreePosition { depth, name: name.into() }, NewNode::File { rights: Rights::of_mode(0o644), content }))
        };
        let down = (0..DEEP).flat_map(|depth| {
            let name = if depth == 0 { "" } else { "d" }.into();
            [
                Ok((TreePosition { depth, name }, NewNode::Directory { rights: Rights::of_mode(0o755) })),
                file(depth + 1, "a"),
            ]
        });
        let back = (1..=DEEP).rev().map(|depth| file(depth, "z"));
        guard.create_tree(&one, &mut down.chain(back), yes()).unwrap();
        for depth in [1, 2, 100, 136, 137, DEEP] {
            let place = format!("ws/one/{}", "d/".repeat(depth - 1));
            assert_eq!(fixture.content(&format!("{place}a")), format!("a at {depth}"));
            assert_eq!(fixture.content(&format!("{place}z")), format!("z at {depth}"));
        }
        let tree = workspace.tree(&one, Purpose::Copy(&other)).unwrap();
        guard.copy(&tree, &other, yes()).unwrap();
        let copied = workspace.tree(&other, Purpose::Remove).unwrap();
        assert_eq!(copied.entries().len(), 3 * DEEP);
        assert_eq!(copied.content_mark(), tree.content_mark());
        guard.remove_tree(&other, &copied, &revisions(&workspace, &copied), yes()).unwrap();
        assert_eq!(names(&fixture.host("ws")), ["one"]);
    });
}

#[test]
fn create_tree_fails_when_a_directory_becomes_a_link() {
    // The directory near the top is no longer open when the parts come back to it.
    const DEEP: usize = 100;
    Fixture::both(|fixture| {
        let workspace = fixture.open();
        let target = entry(&workspace, "t");
        let guard = ChangeSet::acquire(&workspace, &[&target], &[], WaitLimit::default()).unwrap();
        let down = (0..DEEP).map(|depth| {
            let name = if depth == 0 { "" } else { "d" }.into();
            Ok((TreePosition { depth, name }, NewNode::Directory { rights: Rights::of_mode(0o755) }))
        });
        let (ws, out) = (fixture.host("ws"), fixture.host("out"));
        let back = std::iter::once(()).map(|()| {
            let aside = ws.join(&names(&ws)[0]);
            fs::rename(aside.join("d"), ws.join("taken")).unwrap();
            std::os::unix::fs::symlink(&out, aside.join("d")).unwrap();
            let content: Box<dyn std::io::Read> = Box::new(std::io::Cursor::new("created"));
            Ok((
                TreePosition { depth: 2, name: "created".into() },
                NewNode::File { rights: Rights::of_mode(0o644), content },
            ))
        });
        guard.create_tree(&target, &mut down.chain(back), yes()).unwrap_err();
        assert_eq!(names(&out), ["secret.txt"]);
        assert!(!names(&ws).contains(&"t".to_owned()));
    });
}

/// Moves the first file over the second one, in the way of `add`, if they have these contents.
fn move_over(
    workspace: &Workspace,
    [from, to]: [&WritablePath; 2],
    contents: [&str; 2],
    add: fn(&mut ChangeSet<'static>, &WritablePath, &WritablePath, EntryState) -> Result<(), AccessError>,
) -> Result<(), AccessError> {
    let [moved, over] = contents.map(|content| EntryState::from(Revision::of(content.as_bytes())));
    let mut transaction = ChangeSet::acquire(workspace, &[from, to], &[from, to], WaitLimit::default())?;
    add(&mut transaction, from, to, moved)?;
    transaction.remove(to, over)?;
    transaction.commit(yes(), |_| {}).map(drop).map_err(|error| error.error)
}

#[test]
fn move_over_a_changed_file_changes_nothing() {
    Fixture::both(|fixture| {
        fixture.file("ws/a", "a");
        fixture.file("ws/b", "b");
        let workspace = fixture.open();
        let (from, to) = (entry(&workspace, "a"), entry(&workspace, "b"));
        let guard = ChangeSet::acquire(&workspace, &[&from, &to], &[], WaitLimit::default()).unwrap();
        let tree = workspace.tree(&from, Purpose::Move(&to)).unwrap();
        fixture.file("ws/b", "theirs");
        let error = guard.move_tree(&from, &tree, &to, yes()).unwrap_err();
        assert_eq!(error.kind, AccessErrorKind::Exists);
        drop(guard);
        let error = move_over(&workspace, [&from, &to], ["a", "b"], ChangeSet::move_to).unwrap_err();
        assert_eq!(error.kind, AccessErrorKind::Stale);
        assert_eq!((fixture.content("ws/a"), fixture.content("ws/b")), ("a".into(), "theirs".into()));
        assert_eq!(names(&fixture.host("ws")), ["a", "b"]);
    });
}

#[test]
fn entry_that_changed_after_the_plan_is_not_moved() {
    let meddling: [Meddle; 4] = [
        |fixture| fixture.file("ws/file", "theirs"),
        |fixture| {
            fs::remove_file(fixture.host("ws/link")).unwrap();
            fixture.link("../out", "ws/link");
        },
        |fixture| {
            fs::rename(fixture.host("ws/d"), fixture.host("ws/other")).unwrap();
            fixture.link("../out", "ws/d");
        },
        |fixture| fs::remove_file(fixture.host("ws/gone")).unwrap(),
    ];
    for (name, meddle) in ["file", "link", "d", "gone"].into_iter().zip(meddling) {
        Fixture::both(|fixture| {
            fixture.file("ws/file", "ours");
            fixture.file("ws/gone", "ours");
            fixture.file("ws/d/a", "a");
            fixture.link("file", "ws/link");
            let workspace = fixture.open();
            let (from, to) = (entry(&workspace, name), entry(&workspace, "new/place"));
            let guard = ChangeSet::acquire(&workspace, &[&from, &to], &[], WaitLimit::default()).unwrap();
            let tree = workspace.tree(&from, Purpose::Move(&to)).unwrap();
            meddle(&fixture);
            let before = names(&fixture.host("ws"));
            let error = guard.move_tree(&from, &tree, &to, yes()).unwrap_err();
            assert_eq!(error.kind, AccessErrorKind::Stale, "{name}");
            assert_eq!(names(&fixture.host("ws")), before, "{name}");
            assert_eq!(names(&fixture.host("out")), ["secret.txt"]);
        });
    }
}

#[cfg(target_os = "linux")]
#[test]
fn move_to_another_device_copies_and_removes() {
    let Ok(other) = tempfile::tempdir_in("/dev/shm") else { return };
    Fixture::both(|mut fixture| {
        let path = other.path().to_path_buf();
        assert_ne!(fs::metadata(&path).unwrap().dev(), fs::metadata(fixture.host("ws")).unwrap().dev());
        fixture.specs.push(RootSpec {
            name: Some("other".into()),
            path,
            access: Access::ReadWrite,
            policy: super::PolicyRules::default(),
            optional: false,
        });
        fixture.file("ws/d/a", "a");
        fixture.file("ws/d/sub/b", "b");
        fixture.link("a", "ws/d/link");
        fixture.file("ws/over", "new");
        fs::write(other.path().join("file"), "old").unwrap();
        let workspace = fixture.open();

        let (from, to) = (entry(&workspace, "ws/d"), entry(&workspace, "other/x/d"));
        let guard = ChangeSet::acquire(&workspace, &[&from, &to], &[], WaitLimit::default()).unwrap();
        let tree = workspace.tree(&from, Purpose::Move(&to)).unwrap();
        assert!(guard.move_tree(&from, &tree, &to, yes()).unwrap().copied);
        assert_eq!(names(&fixture.host("ws")), ["over"]);
        assert_eq!(names(&other.path().join("x/d")), ["a", "link", "sub"]);
        assert_eq!(fs::read(other.path().join("x/d/sub/b")).unwrap(), b"b");
        drop(guard);

        let (from, to) = (entry(&workspace, "ws/over"), entry(&workspace, "other/file"));
        let modified = fs::metadata(fixture.host("ws/over")).unwrap().modified().unwrap();
        let error = move_over(&workspace, [&from, &to], ["new", "old"], ChangeSet::move_to).unwrap_err();
        assert_eq!(error.source.unwrap().kind(), std::io::ErrorKind::CrossesDevices);
        assert_eq!(
            (names(&fixture.host("ws")), fs::read(other.path().join("file")).unwrap()),
            (vec!["over".into()], b"old".into())
        );
        move_over(&workspace, [&from, &to], ["new", "old"], ChangeSet::move_by_copy).unwrap();
        assert_eq!(names(&fixture.host("ws")), [""; 0]);
        assert_eq!(fs::metadata(other.path().join("file")).unwrap().modified().unwrap(), modified);
        assert_eq!(fs::read(other.path().join("file")).unwrap(), b"new");
        assert_eq!(names(other.path()), ["file", "x"]);
        fs::remove_dir_all(other.path().join("x")).unwrap();
    });
}

#[test]
fn stale_temporaries_are_removed_and_recent_ones_are_not() {
    let stale = ".rootbound-0123456789abcdef.tmp";
    let tree = ".rootbound-0123456789abcde0.tmp";
    for (after, left) in [
        (StaleAfter(Duration::ZERO), vec![".rootbound-mine.tmp", "new"]),
        (StaleAfter::default(), vec![tree, stale, ".rootbound-mine.tmp", "new"]),
    ] {
        Fixture::both(|fixture| {
            fixture.file(&format!("ws/{stale}"), "half");
            fixture.file(&format!("ws/{tree}/a/b"), "half");
            fixture.link("../../out", &format!("ws/{tree}/link"));
            fixture.file("ws/.rootbound-mine.tmp", "a file of somebody's");
            let options = WorkspaceOptions { force_fallback: fixture.force_fallback, ..WorkspaceOptions::default() };
            let workspace = Workspace::open_sweeping(&fixture.specs, options, after).unwrap().workspace;
            let path = workspace.writable(&workspace.resolve("new").unwrap()).unwrap();
            let guard = WriteGuard::acquire(&workspace, path, Base::Absent).unwrap();
            guard.commit(b"x", yes()).unwrap();
            assert_eq!(names(&fixture.host("ws")), left);
            assert_eq!(fixture.content("out/secret.txt"), "outside");
        });
    }
}

#[test]
fn failed_change_removes_only_the_directories_it_made() {
    Fixture::both(|fixture| {
        let workspace = fixture.open();
        let to = workspace.writable_entry(&workspace.resolve("a/b/c/new").unwrap()).unwrap();
        let set = ChangeSet::acquire(&workspace, &[&to], &[], WaitLimit::default()).unwrap();
        let new = || NewTree::build((&set.shared, &set.locks), &to, &mut std::iter::empty(), &set.wait_limit).unwrap();
        let make = || new().publish().unwrap().made;

        drop(new());
        assert_eq!(names(&fixture.host("ws")), Vec::<String>::new());
        assert_eq!(remove_made(&make()), 3);
        assert_eq!(names(&fixture.host("ws")), Vec::<String>::new());

        // Somebody puts an empty directory of theirs in the place of one.
        let new = make();
        fs::rename(fixture.host("ws/a/b"), fixture.host("ws/other")).unwrap();
        fs::create_dir_all(fixture.host("ws/a/b/c")).unwrap();
        let theirs = fs::metadata(fixture.host("ws/a/b/c")).unwrap().ino();
        remove_made(&new);
        assert_eq!(fs::metadata(fixture.host("ws/a/b/c")).unwrap().ino(), theirs);
        assert_eq!(names(&fixture.host("ws/other")), ["c"], "nor is what was moved away looked for");
    });
}

#[cfg(any(target_os = "linux", target_vendor = "apple"))]
mod raced {
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::time::Instant;

    use rustix::fs::{CWD, RenameFlags, renameat_with};

    use super::super::race::{Done, LONGEST, RUN};
    use super::*;

    /// Moves, copies, makes and deletes below a directory that is swapped for a link to the outside
    /// all the while.
    #[test]
    fn tree_changes_stay_inside_while_a_directory_is_swapped_for_a_link() {
        Fixture::both(|fixture| {
            fixture.file("ws/dir/kept", "inside");
            fixture.link("../out", "ws/link");
            fixture.file("ws/stock", "stock");
            let workspace = fixture.open();
            let (one, other) = (fixture.host("ws/dir"), fixture.host("ws/link"));
            let done = AtomicBool::new(false);
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    while !done.load(Ordering::Relaxed) {
                        renameat_with(CWD, &one, CWD, &other, RenameFlags::EXCHANGE).unwrap();
                    }
                });
                let end = Done(&done);
                let start = Instant::now();
                let mut made = 0;
                while start.elapsed() < if made > 0 { RUN } else { LONGEST } {
                    made += usize::from(copy(&workspace, "stock", "dir/copy").is_ok());
                    let _ = move_tree(&workspace, "dir/copy", "moved");
                    let _ = move_tree(&workspace, "dir/secret.txt", "stolen");
                    let _ = remove(&workspace, "dir/secret.txt");
                    let _ = remove(&workspace, "moved");
                    let _ = remove(&workspace, "dir/copy");
                    if let Ok(target) = workspace.writable_entry(&workspace.resolve("dir/made/deeper").unwrap()) {
                        let node = NewNode::Directory { rights: Rights::default() };
                        let _ = ChangeSet::acquire(&workspace, &[&target], &[], WaitLimit::default())
                            .unwrap()
                            .create_tree(&target, &mut [Ok((TreePosition::top(), node))].into_iter(), yes());
                    }
                    let _ = remove(&workspace, "dir/made");
                }
                drop(end);
                assert!(made > 0);
            });
            assert_eq!(names(&fixture.host("out")), ["secret.txt"]);
            assert_eq!(fixture.content("out/secret.txt"), "outside");
            assert!(!fixture.host("ws/stolen").exists());
        });
    }

    fn copy(workspace: &Workspace, from: &str, to: &str) -> Result<CreatedTree, AccessError> {
        let to = workspace.writable_entry(&workspace.resolve(to).unwrap())?;
        let tree = workspace.tree_to_copy(&workspace.resolve(from).unwrap(), &to)?;
        ChangeSet::acquire(workspace, &[&to], &[], WaitLimit::default()).unwrap().copy(&tree, &to, yes())
    }

    fn move_tree(workspace: &Workspace, from: &str, to: &str) -> Result<bool, AccessError> {
        let from = workspace.writable_entry(&workspace.resolve(from).unwrap())?;
        let to = workspace.writable_entry(&workspace.resolve(to).unwrap())?;
        let tree = workspace.tree(&from, Purpose::Move(&to))?;
        ChangeSet::acquire(workspace, &[&from, &to], &[], WaitLimit::default())
            .unwrap()
            .move_tree(&from, &tree, &to, yes())
            .map(|moved| moved.copied)
    }

    fn remove(workspace: &Workspace, text: &str) -> Result<(), AccessError> {
        let target = workspace.writable_entry(&workspace.resolve(text).unwrap())?;
        let guard = ChangeSet::acquire(workspace, &[&target], &[], WaitLimit::default()).unwrap();
        let tree = workspace.tree(&target, Purpose::Remove)?;
        let revision = |path: &WorkspacePath| workspace.read(path, 1 << 20).ok().map(|snapshot| snapshot.revision);
        let revisions: Vec<Option<Revision>> = tree.paths().map(|(path, _)| revision(&path)).collect();
        Ok(guard.remove_tree(&target, &tree, &revisions, yes())?)
    }
}

#[test]
fn cancelled_copy_leaves_nothing_behind() {
    use std::sync::atomic::{AtomicUsize, Ordering};
    Fixture::both(|fixture| {
        for n in 0..5 {
            fixture.file(&format!("ws/d/{n}"), "content");
        }
        let workspace = fixture.open();
        let to = entry(&workspace, "new/e");
        let tree = workspace.tree_to_copy(&workspace.resolve("d").unwrap(), &to).unwrap();
        // Every moment at which it may end: between entries, within a file, before the last step. It is also asked for
        // each wait for the lock, which a program that another test starts holds until it has closed its copies.
        for moment in (0..17).chain([usize::MAX]) {
            let asked = AtomicUsize::new(0);
            let wait_limit = WaitLimit::until(move || asked.fetch_add(1, Ordering::Relaxed) >= moment, || {});
            let made = ChangeSet::acquire(&workspace, &[&to], &[], wait_limit)
                .map_err(|error| error.kind)
                .and_then(|guard| guard.copy(&tree, &to, yes()).map_err(|error| error.kind));
            match made {
                Err(kind) => assert_eq!(kind, AccessErrorKind::Stopped),
                Ok(created) => {
                    assert!(moment > 6, "it was asked {moment} times");
                    assert_eq!(created.revisions.iter().flatten().count(), 5);
                    return;
                }
            }
            assert_eq!(names(&fixture.host("ws")), ["d"]);
        }
        panic!("with enough time it is made");
    });
}

#[test]
fn copy_of_a_growing_file_is_stale() {
    use std::io::Write as _;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    Fixture::both(|fixture| {
        fixture.file("ws/log", "one\n");
        let workspace = fixture.open();
        let to = entry(&workspace, "new");
        let tree = workspace.tree_to_copy(&workspace.resolve("log").unwrap(), &to).unwrap();
        let (asked, log) = (Arc::new(AtomicUsize::new(0)), fixture.host("ws/log"));
        let counted = Arc::clone(&asked);
        let wait_limit = WaitLimit::until(
            move || {
                // When its content has been read, and its end has not.
                if counted.fetch_add(1, Ordering::Relaxed) == 1 {
                    fs::File::options().append(true).open(&log).unwrap().write_all(b"two\n").unwrap();
                }
                false
            },
            || {},
        );
        let guard = ChangeSet::acquire(&workspace, &[&to], &[], wait_limit).unwrap();
        asked.store(0, Ordering::Relaxed); // it was asked for each wait for the lock, too
        assert_eq!(guard.copy(&tree, &to, yes()).unwrap_err().kind, AccessErrorKind::Stale);
        assert_eq!(names(&fixture.host("ws")), ["log"]);
    });
}
