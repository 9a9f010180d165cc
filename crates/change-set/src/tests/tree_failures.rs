//! Trees that are refused or fail in the middle: nothing changes, or what is left can be completed.

use std::io::{self, Read};
use std::os::unix::fs::PermissionsExt as _;

use super::trees::{entry, names, revisions, yes};
use super::*;

fn directory(depth: usize, name: &str) -> (TreePosition, NewNode) {
    (TreePosition { depth, name: name.into() }, NewNode::Directory { rights: Rights::of_mode(0o755) })
}

fn file(depth: usize, name: &str, content: impl Read + 'static) -> (TreePosition, NewNode) {
    (
        TreePosition { depth, name: name.into() },
        NewNode::File { rights: Rights::of_mode(0o644), content: Box::new(content) },
    )
}

/// A disk that fails after its first bytes.
struct Broken(bool);

impl Read for Broken {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if std::mem::replace(&mut self.0, true) {
            return Err(io::Error::other("broken"));
        }
        buffer[0] = b'x';
        Ok(1)
    }
}

#[test]
fn create_tree_that_fails_in_the_middle_leaves_nothing() {
    Fixture::both(|fixture| {
        let workspace = fixture.open();
        let to = entry(&workspace, "a/b/t");
        let guard = ChangeSet::acquire(&workspace, &[&to], &[], WaitLimit::default()).unwrap();
        let nodes = [directory(0, ""), directory(1, "d"), file(2, "whole", &b"x"[..]), file(1, "f", Broken(false))];
        let error = guard.create_tree(&to, &mut nodes.into_iter().map(Ok), yes()).unwrap_err();
        assert_eq!(error.kind, AccessErrorKind::Io);
        assert!(names(&fixture.host("ws")).is_empty(), "nor are the directories above it");
    });
}

#[test]
fn create_tree_over_an_existing_name_changes_nothing() {
    Fixture::both(|fixture| {
        fixture.file("ws/t", "theirs");
        let workspace = fixture.open();
        let to = entry(&workspace, "t");
        let guard = ChangeSet::acquire(&workspace, &[&to], &[], WaitLimit::default()).unwrap();
        let error = guard.create_tree(&to, &mut [Ok(directory(0, ""))].into_iter(), yes()).unwrap_err();
        assert_eq!(error.kind, AccessErrorKind::Exists);
        assert_eq!((names(&fixture.host("ws")), fixture.content("ws/t")), (vec!["t".into()], "theirs".into()));
    });
}

#[test]
fn copy_keeps_links_inside_and_rights_and_leaves_out_links_to_the_outside() {
    Fixture::both(|fixture| {
        fixture.file("ws/d/locked/run", "x");
        fixture.link("locked/run", "ws/d/inside");
        fixture.link("../../out", "ws/d/outside");
        let mode =
            |path: &str, mode| fs::set_permissions(fixture.host(path), fs::Permissions::from_mode(mode)).unwrap();
        mode("ws/d/locked/run", 0o750);
        mode("ws/d/locked", 0o555);
        let workspace = fixture.open();
        let to = entry(&workspace, "e");
        let tree = workspace.tree_to_copy(&workspace.resolve("d").unwrap(), &to).unwrap();
        let copied =
            ChangeSet::acquire(&workspace, &[&to], &[], WaitLimit::default()).unwrap().copy(&tree, &to, yes()).unwrap();
        assert_eq!(copied.links_left_out.iter().map(ToString::to_string).collect::<Vec<_>>(), ["d/outside"]);
        assert_eq!(names(&fixture.host("ws/e")), ["inside", "locked"]);
        assert_eq!(fs::read_link(fixture.host("ws/e/inside")).unwrap(), Path::new("locked/run"));
        let mode_of = |path: &str| fs::metadata(fixture.host(path)).unwrap().permissions().mode() & 0o7777;
        assert_eq!((mode_of("ws/e/locked"), mode_of("ws/e/locked/run")), (0o555, 0o750));
        // So that the temporary folder can be removed.
        mode("ws/d/locked", 0o755);
        mode("ws/e/locked", 0o755);
    });
}

#[test]
fn copy_leaves_out_temporary_files_of_running_writes() {
    Fixture::both(|fixture| {
        fixture.file("ws/d/a", "a");
        fixture.file("ws/d/.rootbound-0123456789abcdef.tmp", "half of it");
        fixture.file("ws/d/.rootbound-fedcba9876543210.tmp/b", "half of a tree");
        let workspace = fixture.open();
        let to = entry(&workspace, "e");
        let tree = workspace.tree_to_copy(&workspace.resolve("d").unwrap(), &to).unwrap();
        ChangeSet::acquire(&workspace, &[&to], &[], WaitLimit::default()).unwrap().copy(&tree, &to, yes()).unwrap();
        assert_eq!(names(&fixture.host("ws/e")), ["a"]);
    });
}

#[test]
fn one_protected_entry_refuses_the_whole_tree() {
    let refused = |arrange: &dyn Fn(&mut Fixture), kind: AccessErrorKind| {
        let mut fixture = Fixture::new(false);
        fixture.file("ws/d/a", "a");
        arrange(&mut fixture);
        let workspace = fixture.open();
        let path =
            |text: &str| workspace.resolve(&format!("{}{text}", if fixture.specs.len() > 1 { "ws/" } else { "" }));
        let target = workspace.writable_entry(&path("d").unwrap()).unwrap();
        let to = workspace.writable_entry(&path("e").unwrap()).unwrap();
        for purpose in [Purpose::Remove, Purpose::Move(&to), Purpose::Copy(&to)] {
            assert_eq!(workspace.tree(&target, purpose).unwrap_err().kind, kind, "{purpose:?}");
        }
    };
    refused(&|fixture| fixture.file("ws/d/sub/.env", "secret"), AccessErrorKind::Secret);
    refused(
        &|fixture| {
            fixture.policy.hide = vec!["private".into()];
            fixture.file("ws/d/sub/private", "");
        },
        AccessErrorKind::ProtectedWrite,
    );
    refused(
        &|fixture| {
            fixture.specs[0].name = Some("ws".into());
            fixture.root(Some("inner"), "ws/d/inner", Access::ReadOnly);
        },
        AccessErrorKind::IsRoot,
    );
}

#[test]
fn special_file_is_moved_but_not_copied_or_removed() {
    let fixture = Fixture::new(false);
    fixture.file("ws/d/a", "a");
    let made = std::process::Command::new("mkfifo").arg(fixture.host("ws/d/pipe")).status().unwrap();
    assert!(made.success());
    let workspace = fixture.open();
    let (from, to) = (entry(&workspace, "d"), entry(&workspace, "new/e"));
    for purpose in [Purpose::Remove, Purpose::Copy(&to)] {
        let error = workspace.tree(&from, purpose).unwrap_err();
        assert!(matches!(error.kind, AccessErrorKind::Special(_)), "{error}");
    }
    let tree = workspace.tree(&from, Purpose::Move(&to)).unwrap();
    let moved = ChangeSet::acquire(&workspace, &[&from, &to], &[], WaitLimit::default()).unwrap().move_tree(
        &from,
        &tree,
        &to,
        yes(),
    );
    let MovedTree { copied, made } = moved.unwrap();
    assert_eq!((copied, made.len()), (false, 1));
    assert_eq!(names(&fixture.host("ws/new/e")), ["a", "pipe"]);
}

#[test]
fn moved_and_removed_link_leaves_its_target() {
    Fixture::both(|fixture| {
        fixture.file("ws/d/a", "a");
        fixture.link("d", "ws/link");
        let workspace = fixture.open();
        let (from, to) = (entry(&workspace, "link"), entry(&workspace, "other"));
        let guard = ChangeSet::acquire(&workspace, &[&from, &to], &[], WaitLimit::default()).unwrap();
        let tree = workspace.tree(&from, Purpose::Move(&to)).unwrap();
        guard.move_tree(&from, &tree, &to, yes()).unwrap();
        assert_eq!(names(&fixture.host("ws")), ["d", "other"]);
        let tree = workspace.tree(&to, Purpose::Remove).unwrap();
        assert_eq!((tree.files(), tree.entries().len()), (0, 1));
        guard.remove_tree(&to, &tree, &[None], yes()).unwrap();
        assert_eq!((names(&fixture.host("ws")), fixture.content("ws/d/a")), (vec!["d".into()], "a".into()));
    });
}

#[test]
fn tree_with_a_read_only_directory_is_removed_as_a_whole_or_not_at_all() {
    Fixture::both(|fixture| {
        fixture.file("ws/d/a", "a");
        fixture.file("ws/d/locked/b", "b");
        fs::set_permissions(fixture.host("ws/d/locked"), fs::Permissions::from_mode(0o555)).unwrap();
        let workspace = fixture.open();
        let target = entry(&workspace, "d");
        let tree = workspace.tree(&target, Purpose::Remove).unwrap();
        let guard = ChangeSet::acquire(&workspace, &[&target], &[], WaitLimit::default()).unwrap();
        let removed = guard.remove_tree(&target, &tree, &revisions(&workspace, &tree), yes());
        // Permissions do not bind root.
        if rustix::process::geteuid().is_root() {
            assert!(removed.is_ok() && names(&fixture.host("ws")).is_empty());
            return;
        }
        let RemoveError { error, in_part, .. } = removed.unwrap_err();
        assert_eq!((error.kind, in_part), (AccessErrorKind::Permission, false));
        assert_eq!(
            (names(&fixture.host("ws/d")), fixture.content("ws/d/locked/b")),
            (vec!["a".into(), "locked".into()], "b".into())
        );
        fs::set_permissions(fixture.host("ws/d/locked"), fs::Permissions::from_mode(0o755)).unwrap();
    });
}

#[test]
fn tree_with_a_directory_locked_by_another_process_goes_back() {
    Fixture::both(|fixture| {
        fixture.file("ws/d/sub/f", "f");
        let workspace = fixture.open();
        let target = entry(&workspace, "d");
        let tree = workspace.tree(&target, Purpose::Remove).unwrap();
        let recorded = revisions(&workspace, &tree);
        let guard = ChangeSet::acquire(&workspace, &[&target], &[], WaitLimit::default()).unwrap();
        let other =
            Dir::open_ambient(&fixture.host("ws/d/sub"), false).unwrap().reopen(beneath::OpenFor::List).unwrap();
        assert_eq!(other.try_lock(), beneath::LockAttempt::Acquired);
        let RemoveError { error, in_part, .. } = guard.remove_tree(&target, &tree, &recorded, yes()).unwrap_err();
        assert_eq!((error.kind, in_part), (AccessErrorKind::Locked, false));
        assert_eq!((names(&fixture.host("ws")), fixture.content("ws/d/sub/f")), (vec!["d".into()], "f".into()));
    });
}

#[test]
fn half_removed_tree_is_completed() {
    Fixture::both(|fixture| {
        fixture.file("ws/d/a", "a");
        fixture.file("ws/d/sub/b", "b");
        let workspace = fixture.open();
        let target = entry(&workspace, "d");
        let guard = ChangeSet::acquire(&workspace, &[&target], &[], WaitLimit::default()).unwrap();
        let before = workspace.tree(&target, Purpose::Remove).unwrap();
        fs::remove_dir_all(fixture.host("ws/d/sub")).unwrap();
        assert_ne!(workspace.tree(&target, Purpose::Remove).unwrap().content_mark(), before.content_mark());
        let there = (TreePosition::top(), NewNode::ExistingDirectory);
        let nodes = [there, directory(1, "sub"), file(2, "b", &b"b"[..])];
        guard.complete(&target, &mut nodes.into_iter().map(Ok), yes()).unwrap();
        let now = workspace.tree(&target, Purpose::Remove).unwrap();
        assert_eq!(now.content_mark(), before.content_mark());
        assert_ne!(now.mark(), before.mark(), "it is not the same file");
        assert_eq!(fixture.content("ws/d/a"), "a");
    });
}

#[test]
fn tree_of_too_many_entries_is_refused_before_they_are_looked_at() {
    let fixture = Fixture::new(false);
    fs::create_dir(fixture.host("ws/d")).unwrap();
    for number in 0..20_000 {
        fs::write(fixture.host(&format!("ws/d/{number}")), "").unwrap();
    }
    let workspace = fixture.open();
    let error = workspace.tree(&entry(&workspace, "d"), Purpose::Remove).unwrap_err();
    assert_eq!(error.kind, AccessErrorKind::TooMany { limit: 20_000 });
    fs::remove_file(fixture.host("ws/d/0")).unwrap();
    assert_eq!(workspace.tree(&entry(&workspace, "d"), Purpose::Remove).unwrap().entries().len(), 20_000);
}
