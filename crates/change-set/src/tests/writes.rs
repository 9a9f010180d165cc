//! Replacing files: whole, in place, and only what was read.

use std::os::unix::fs::PermissionsExt as _;

use super::*;

fn write(workspace: &Workspace, text: &str, base: Base, bytes: &[u8]) -> Result<Committed, AccessErrorKind> {
    let path = workspace.resolve(text).unwrap();
    workspace
        .writable(&path)
        .and_then(|writable| WriteGuard::acquire(workspace, writable, base))
        .and_then(|guard| guard.commit(bytes, Approval::by_policy()))
        .map_err(|error| error.kind)
}

fn base(content: &str) -> Base {
    Base::Revision(Revision::of(content.as_bytes()))
}

fn names(path: &Path) -> Vec<String> {
    let mut names: Vec<_> =
        fs::read_dir(path).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn error_below_a_hidden_name_does_not_show_whether_it_exists() {
    Fixture::both(|mut fixture| {
        fixture.policy.hide = vec!["hidden*".into(), "vault".into()];
        fixture.file("ws/hidden", "s");
        fixture.file("ws/vault/key", "s");
        fixture.link("vault", "ws/plain");
        let workspace = fixture.open();
        for text in ["hidden/x", "hidden-not/x", "plain/key/x", "plain/not/x"] {
            let error = workspace.writable(&workspace.resolve(text).unwrap()).unwrap_err();
            assert_eq!(error.kind, AccessErrorKind::ProtectedWrite, "{text}");
            assert!(error.to_string().ends_with("(matches a name that is reserved)"), "{error}");
        }
    });
}

#[test]
fn new_file_gets_its_missing_directories() {
    Fixture::both(|fixture| {
        let workspace = fixture.open();
        let committed = write(&workspace, "a/b/new", Base::Absent, b"x").unwrap();
        assert!(committed.created && committed.revision == Revision::of(b"x"));
        assert_eq!(fixture.content("ws/a/b/new"), "x");
        assert_eq!(names(&fixture.host("ws/a/b")), ["new"]);
        assert_eq!(write(&workspace, "a/b/new", Base::Absent, b"y").unwrap_err(), AccessErrorKind::Exists);
        assert_eq!(write(&workspace, "a/b", Base::Absent, b"y").unwrap_err(), AccessErrorKind::IsDirectory);
        assert_eq!(write(&workspace, "a/b/new/x", Base::Absent, b"y").unwrap_err(), AccessErrorKind::NotADirectory);
    });
}

#[test]
fn replaced_file_keeps_its_mode_without_set_id_bits() {
    Fixture::both(|fixture| {
        fixture.file("ws/file", "old");
        fs::set_permissions(fixture.host("ws/file"), fs::Permissions::from_mode(0o6751)).unwrap();
        let workspace = fixture.open();
        let committed = write(&workspace, "file", base("old"), b"new").unwrap();
        assert!(!committed.created);
        assert_eq!(fixture.content("ws/file"), "new");
        let mode = fs::metadata(fixture.host("ws/file")).unwrap().permissions().mode();
        assert_eq!(mode & 0o7777, 0o751);
        assert_eq!(names(&fixture.host("ws")), ["file"]);
    });
}

#[test]
fn write_through_a_link_changes_the_target_and_keeps_the_link() {
    Fixture::both(|fixture| {
        fixture.file("ws/real/file", "old");
        fixture.link("real/file", "ws/link");
        fixture.link("real/made", "ws/dangling");
        let workspace = fixture.open();
        let committed = write(&workspace, "link", base("old"), b"new").unwrap();
        assert_eq!(committed.path.to_string(), "real/file");
        write(&workspace, "dangling", Base::Absent, b"made").unwrap();
        assert_eq!(fixture.content("ws/real/file"), "new");
        assert_eq!(fixture.content("ws/real/made"), "made");
        assert!(fs::symlink_metadata(fixture.host("ws/link")).unwrap().is_symlink());
    });
}

#[test]
fn changed_base_is_stale_before_and_after_the_lock() {
    Fixture::both(|fixture| {
        fixture.file("ws/file", "other");
        let workspace = fixture.open();
        assert_eq!(write(&workspace, "file", base("old"), b"new").unwrap_err(), AccessErrorKind::Stale);
        assert_eq!(write(&workspace, "none", base("old"), b"new").unwrap_err(), AccessErrorKind::Stale);

        let guard = |text: &str, base: Base| {
            let writable = workspace.writable(&workspace.resolve(text).unwrap()).unwrap();
            WriteGuard::acquire(&workspace, writable, base).unwrap()
        };
        let commit = |guard: WriteGuard<'_>| guard.commit(b"new", Approval::by_policy()).unwrap_err().kind;
        // Another process writes in place: same inode, same length, same clock tick.
        let held = guard("file", base("other"));
        fs::write(fixture.host("ws/file"), "OTHER").unwrap();
        assert_eq!(commit(held), AccessErrorKind::Stale);
        assert_eq!(fixture.content("ws/file"), "OTHER");
        // Another process replaces the file.
        let held = guard("file", base("OTHER"));
        fs::write(fixture.host("ws/temp"), "OTHER").unwrap();
        fs::rename(fixture.host("ws/temp"), fixture.host("ws/file")).unwrap();
        assert_eq!(commit(held), AccessErrorKind::Stale);
        // Another process plants a link.
        let held = guard("file", base("OTHER"));
        fs::remove_file(fixture.host("ws/file")).unwrap();
        fixture.link("../out/secret.txt", "ws/file");
        assert_eq!(commit(held), AccessErrorKind::Stale);
        assert!(fs::symlink_metadata(fixture.host("ws/file")).unwrap().is_symlink());
        fs::remove_file(fixture.host("ws/file")).unwrap();
        // Another process creates what was absent.
        let held = guard("file", Base::Absent);
        fixture.link("../out/secret.txt", "ws/file");
        assert_eq!(commit(held), AccessErrorKind::Exists);
        assert_eq!(fixture.content("out/secret.txt"), "outside");
        assert_eq!(names(&fixture.host("ws")), ["file"]);
    });
}

#[test]
fn hard_link_outside_keeps_its_content() {
    let fixture = Fixture::new(false);
    fs::hard_link(fixture.host("out/secret.txt"), fixture.host("ws/file")).unwrap();
    let workspace = fixture.open();
    write(&workspace, "file", base("outside"), b"new").unwrap();
    assert_eq!(fixture.content("out/secret.txt"), "outside");
}

#[test]
fn secrets_and_read_only_roots_are_not_written() {
    Fixture::both(|mut fixture| {
        fixture.root(Some("ro"), "ro", Access::ReadOnly);
        let workspace = fixture.open();
        for (text, kind) in [
            ("ws/.env", AccessErrorKind::Secret),
            ("ws/a/.ENV", AccessErrorKind::Secret),
            ("ws/.git/hooks/pre-commit", AccessErrorKind::ProtectedWrite),
            ("ws/.vscode/tasks.json", AccessErrorKind::ProtectedWrite),
            ("ro/file", AccessErrorKind::ReadOnly),
        ] {
            assert_eq!(write(&workspace, text, Base::Absent, b"x").unwrap_err(), kind, "{text}");
        }
        assert_eq!(names(&fixture.host("ws")), Vec::<String>::new());
        assert_eq!(names(&fixture.host("ro")), Vec::<String>::new());
    });
}

#[test]
fn writers_of_one_file_wait_for_each_other() {
    let fixture = Fixture::new(false);
    fixture.file("ws/file", "0");
    let workspace = fixture.open();
    let add = || {
        let path = workspace.resolve("file").unwrap();
        let mut done = 0;
        while done < 25 {
            let now = workspace.read(&path, 100).unwrap();
            let next = std::str::from_utf8(&now.bytes).unwrap().parse::<u32>().unwrap() + 1;
            let writable = workspace.writable(&path).unwrap();
            let committed = WriteGuard::acquire(&workspace, writable, Base::Revision(now.revision))
                .and_then(|guard| guard.commit(next.to_string().as_bytes(), Approval::by_policy()));
            match committed {
                Ok(_) => done += 1,
                Err(error) => assert_eq!(error.kind, AccessErrorKind::Stale),
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(add);
        }
    });
    assert_eq!(fixture.content("ws/file"), "100");
}

#[cfg(target_os = "linux")]
#[test]
fn user_attributes_survive_a_replacement() {
    let fixture = Fixture::new(false);
    fixture.file("ws/file", "old");
    let host = fixture.host("ws/file");
    let flags = rustix::fs::XattrFlags::empty();
    // Not every file system has them; where there are none, none can be lost.
    let kept = rustix::fs::setxattr(&host, "user.note", b"kept", flags).is_ok();
    let workspace = fixture.open();
    write(&workspace, "file", base("old"), b"new").unwrap();
    let mut value = [0_u8; 8];
    let found = rustix::fs::getxattr(&host, "user.note", &mut value).is_ok_and(|length| &value[..length] == b"kept");
    assert_eq!(found, kept);
}

#[test]
fn guard_over_known_bytes_is_stale_when_the_file_differs() {
    Fixture::both(|fixture| {
        let workspace = fixture.open();
        let long = "x".repeat(200 << 10);
        let held = |text: &'static str| {
            let writable = workspace.writable(&workspace.resolve("file").unwrap()).unwrap();
            FileLock::acquire(&workspace, writable, &WaitLimit::default())
                .unwrap()
                .guard_over(HashedBytes::of(text.as_bytes()))
        };
        for other in ["olx", "ol", "", "oldest", &long] {
            fixture.file("ws/file", other);
            assert_eq!(held("old").err().unwrap().kind, AccessErrorKind::Stale, "{}", other.len());
            assert_eq!(fixture.content("ws/file"), other);
        }
        fixture.file("ws/file", "old");
        let mut guard = held("old").unwrap();
        let previous = guard.previous().unwrap();
        assert_eq!(previous.known.map(HashedBytes::bytes), Some(&b"old"[..]));
        // Another process writes in place between the check and the commit.
        fs::write(fixture.host("ws/file"), "OLD").unwrap();
        assert_eq!(guard.commit(b"new", Approval::by_policy()).unwrap_err().kind, AccessErrorKind::Stale);
        assert_eq!(fixture.content("ws/file"), "OLD");
        fixture.file("ws/file", "old");
        held("old").unwrap().commit(b"new", Approval::by_policy()).unwrap();
        assert_eq!(fixture.content("ws/file"), "new");
    });
}
