//! Links inside the roots are followed, links out of them are refused, and policy sees real names.

use super::*;

const OUT: Result<&str, AccessErrorKind> = Err(AccessErrorKind::Denied);

fn check(workspace: &Workspace, text: &str, expected: Result<&str, AccessErrorKind>) {
    assert_eq!(read(workspace, text), expected.map(String::from), "{text}");
}

#[test]
fn links_inside_a_root_are_followed() {
    Fixture::both(|fixture| {
        fixture.file("ws/real/deep/file", "x");
        fixture.link("real/deep/file", "ws/file");
        fixture.link("real", "ws/dir");
        fixture.link("dir", "ws/chain");
        fixture.link(fixture.host("ws/real"), "ws/absolute");
        fixture.link("../../file", "ws/real/deep/back");
        fixture.link("../out/../ws/real", "ws/around");
        let workspace = fixture.open();
        for text in [
            "file",
            "dir/deep/file",
            "chain/deep/file",
            "absolute/deep/file",
            "real/deep/back",
            "around/deep/file",
            "chain/deep/back",
        ] {
            check(&workspace, text, Ok("x"));
            let path = workspace.resolve(text).unwrap();
            assert_eq!(workspace.canonical(&path).unwrap().to_string(), "real/deep/file");
            assert_eq!(workspace.open_file(&path).unwrap().real_path().to_string(), "real/deep/file");
            assert_eq!(workspace.stat(&path).unwrap().kind, FileKind::File);
        }
        let missing = workspace.resolve("chain/new/file").unwrap();
        assert_eq!(workspace.canonical(&missing).unwrap().to_string(), "real/new/file");
    });
}

#[test]
fn link_out_of_the_roots_is_denied_whether_or_not_its_target_exists() {
    Fixture::both(|fixture| {
        fixture.link(fixture.host("out/secret.txt"), "ws/file");
        fixture.link(fixture.host("out/none"), "ws/dangling");
        fixture.link("../out", "ws/dir");
        fixture.link("dir", "ws/chain");
        fixture.link("/", "ws/slash");
        fixture.link("/proc/self/root", "ws/proc");
        fixture.link("..", "ws/up");
        let workspace = fixture.open();
        for text in [
            "file",
            "dangling",
            "dir/secret.txt",
            "dir/none",
            "chain/secret.txt",
            "slash/etc/passwd",
            "proc/etc/passwd",
            "up/out/secret.txt",
            "up",
        ] {
            check(&workspace, text, OUT);
            let path = workspace.resolve(text).unwrap();
            let error = workspace.stat(&path).unwrap_err();
            assert_eq!(error.kind, AccessErrorKind::Denied, "{text}");
            let said = error.to_string();
            assert!(said.contains(text) && !said.contains(fixture.temp.path().to_str().unwrap()), "{said}");
            assert!(workspace.writable(&path).is_err(), "{text}");
            assert!(workspace.canonical(&path).is_err(), "{text}");
        }
        check(&workspace, "up/ws/dangling", OUT);
    });
}

#[test]
fn link_loops_and_dangling_links_are_errors() {
    Fixture::both(|fixture| {
        fixture.link("b", "ws/a");
        fixture.link("a", "ws/b");
        fixture.link("self/x", "ws/self");
        fixture.link("none/file", "ws/dangling");
        fixture.file("ws/file", "x");
        let workspace = fixture.open();
        check(&workspace, "a", Err(AccessErrorKind::TooManyLinks));
        check(&workspace, "self", Err(AccessErrorKind::TooManyLinks));
        check(&workspace, "dangling", Err(AccessErrorKind::NotFound));
        check(&workspace, "none", Err(AccessErrorKind::NotFound));
        check(&workspace, "file/x", Err(AccessErrorKind::NotADirectory));
        check(&workspace, ".", Err(AccessErrorKind::IsDirectory));
    });
}

#[test]
fn link_into_another_root_has_that_roots_rights() {
    Fixture::both(|mut fixture| {
        fixture.root(Some("ro"), "ro", Access::ReadOnly);
        fixture.file("ro/file", "x");
        fixture.link("../ro", "ws/other");
        let workspace = fixture.open();
        check(&workspace, "ws/other/file", Ok("x"));
        let path = workspace.resolve("ws/other/file").unwrap();
        assert_eq!(workspace.canonical(&path).unwrap().to_string(), "ro/file");
        assert_eq!(write_error(&workspace, "ws/other/file").unwrap().kind, AccessErrorKind::ReadOnly);
    });
}

#[test]
fn deepest_nested_root_gives_the_rights() {
    Fixture::both(|mut fixture| {
        fixture.root(Some("inner"), "ws/a/inner", Access::ReadOnly);
        fixture.file("ws/a/inner/x", "x");
        fixture.file("ws/a/y", "y");
        fixture.link("../y", "ws/a/inner/up");
        let workspace = fixture.open();
        let path = workspace.resolve("ws/a/inner/x").unwrap();
        assert_eq!(workspace.writable(&path).unwrap_err().kind, AccessErrorKind::ReadOnly);
        assert_eq!(workspace.canonical(&path).unwrap().to_string(), "inner/x");
        check(&workspace, "inner/up", Ok("y"));
        let host = fixture.host("ws/a/inner/x").display().to_string();
        assert_eq!(workspace.resolve(&host).unwrap().to_string(), "inner/x");
    });
}

#[test]
fn policy_applies_to_the_target_of_a_link() {
    Fixture::both(|mut fixture| {
        fixture.policy.hide = vec!["hidden".into()];
        fixture.file("ws/.env", "s");
        fixture.file("ws/.ssh/config", "s");
        fixture.file("ws/.git/config", "s");
        fixture.file("ws/hidden/x", "s");
        fixture.link(".env", "ws/notes.txt");
        fixture.link(".ssh", "ws/docs");
        fixture.link(".git", "ws/meta");
        fixture.link("hidden", "ws/plain");
        let workspace = fixture.open();
        for text in [".env", "notes.txt", "docs/config", ".ssh/config"] {
            check(&workspace, text, Err(AccessErrorKind::Secret));
        }
        check(&workspace, "meta/config", Ok("s"));
        for text in ["meta/config", "meta/hooks/new", ".git/hooks/new"] {
            let error = write_error(&workspace, text).unwrap();
            assert_eq!(error.kind, AccessErrorKind::ProtectedWrite, "{text}");
            assert!(error.to_string().ends_with("(matches `.git/`)"), "{error}");
        }
        check(&workspace, "hidden/x", Err(AccessErrorKind::NotFound));
        check(&workspace, "plain/x", Err(AccessErrorKind::NotFound));
    });
}

#[test]
fn special_files_are_refused_without_blocking() {
    Fixture::both(|fixture| {
        let fifo = fixture.host("ws/fifo");
        assert!(std::process::Command::new("mkfifo").arg(&fifo).status().unwrap().success());
        let _socket = std::os::unix::net::UnixListener::bind(fixture.host("ws/socket")).unwrap();
        let workspace = fixture.open();
        check(&workspace, "fifo", Err(AccessErrorKind::Special("FIFO")));
        check(&workspace, "socket", Err(AccessErrorKind::Special("socket")));
    });
}

#[test]
fn read_limit_is_exact() {
    let fixture = Fixture::new(false);
    fixture.file("ws/file", "12345");
    let workspace = fixture.open();
    let path = workspace.resolve("file").unwrap();
    assert_eq!(workspace.read(&path, 5).unwrap().bytes, b"12345");
    let error = workspace.read(&path, 4).unwrap_err();
    assert_eq!(error.kind, AccessErrorKind::TooLarge { size: 5, limit: 4 });
    let mut open = workspace.open_file(&path).unwrap();
    let mut bytes = Vec::new();
    assert!(!open.read_to_limit(&mut bytes, 3).unwrap());
    assert!(open.read_to_limit(&mut bytes, 3).unwrap());
    assert_eq!(bytes, b"12345");
}

#[test]
fn path_longer_than_path_max_is_opened() {
    Fixture::both(|fixture| {
        let workspace = fixture.open();
        let name = "d".repeat(200);
        let mut dir = Dir::open_ambient(&fixture.host("ws"), false).unwrap();
        let mut below = PathBuf::new();
        for _ in 0..50 {
            dir.make_dir(name.as_ref(), false).unwrap();
            dir = dir.child_dir(name.as_ref(), beneath::OpenFor::Traverse).unwrap();
            below.push(&name);
        }
        std::io::Write::write_all(&mut dir.create("file".as_ref(), false).unwrap(), b"deep").unwrap();
        let path = confined_fs::for_changes::path_below(&workspace.roots()[0], &below.join("file"));
        assert_eq!(workspace.read(&path, 10).unwrap().bytes, b"deep");
        assert!(workspace.canonical(&path).is_ok());
    });
}

#[test]
fn openat2_and_fallback_give_the_same_answers() {
    let fixture = Fixture::new(false);
    fixture.file("ws/a/f", "1");
    fixture.file("ws/b/f", "2");
    // Every short path over a few names, with links of every kind among them.
    for (target, name) in
        [("../b", "a/l"), ("../../out", "a/o"), ("l", "a/m"), ("f", "b/l"), ("none", "b/m"), ("o", "b/o")]
    {
        fixture.link(target, &format!("ws/{name}"));
    }
    let kernel = fixture.open();
    let fallback = fixture.open_with(|options| options.force_fallback = true);
    let names = ["a", "b", "f", "l", "m", "o"];
    for one in names {
        for two in names {
            for three in names {
                let text = format!("{one}/{two}/{three}");
                assert_eq!(read(&kernel, &text), read(&fallback, &text), "{text}");
                let stat = |workspace: &Workspace| {
                    let path = workspace.resolve(&text).unwrap();
                    workspace.stat(&path).map(|stat| stat.kind).map_err(|error| error.kind)
                };
                assert_eq!(stat(&kernel), stat(&fallback), "{text}");
            }
        }
    }
}

#[test]
fn rules_of_a_root_do_not_apply_in_a_nested_root() {
    Fixture::both(|mut fixture| {
        fixture.policy.deny = vec!["everywhere".into()];
        fixture.specs[0].policy.deny = vec!["*.outer".into(), "inner/x.mine".into()];
        fixture.specs[0].policy.protect = vec!["*.lock".into()];
        fixture.root(Some("inner"), "ws/inner", Access::ReadWrite);
        fixture.specs[1].policy.deny = vec!["/x.inner".into()];
        fixture.specs[1].policy.hide = vec!["ghost".into()];
        fixture.specs[1].policy.allow_secret = vec!["dev.pem".into()];
        for below in ["ws", "ws/inner"] {
            for name in ["x.outer", "x.inner", "x.mine", "ghost", "dev.pem", "everywhere"] {
                fixture.file(&format!("{below}/{name}"), "s");
            }
        }
        fixture.link("inner/x.inner", "ws/link");
        fixture.link("../x.outer", "ws/inner/link");
        let workspace = fixture.open();
        let secret = Err(AccessErrorKind::Secret);
        for (name, outer, inner) in [
            ("x.outer", secret.clone(), Ok("s")),
            ("x.inner", Ok("s"), secret.clone()),
            ("x.mine", Ok("s"), Ok("s")),
            ("ghost", Ok("s"), Err(AccessErrorKind::NotFound)),
            ("dev.pem", secret.clone(), Ok("s")),
            ("everywhere", secret.clone(), secret.clone()),
            // The rules for the target of a link apply.
            ("link", secret.clone(), secret.clone()),
        ] {
            check(&workspace, &format!("ws/{name}"), outer);
            check(&workspace, &format!("inner/{name}"), inner.clone());
            check(&workspace, &format!("ws/inner/{name}"), inner);
        }
        for refused in ["ws/new.lock", "inner/ghost"] {
            assert_eq!(write_error(&workspace, refused).unwrap().kind, AccessErrorKind::ProtectedWrite);
        }
        for allowed in ["inner/new.lock", "ws/inner/new.lock"] {
            assert!(write_error(&workspace, allowed).is_none());
        }

        let mut names = Vec::new();
        let start = workspace.resolve("ws").unwrap();
        let visit = &mut |entry: Entry| {
            names.push(entry.path().to_string());
            ControlFlow::Continue(())
        };
        workspace.walk(&start, &ALL_FILES, visit).unwrap();
        assert!(names.contains(&"ws/ghost".into()) && !names.contains(&"ws/inner/ghost".into()), "{names:?}");
    });
}

#[test]
fn read_cached_gives_only_what_open_file_would_give() {
    Fixture::both(|mut fixture| {
        fixture.policy.hide = vec!["hidden".into()];
        fixture.file("ws/dir/file", "content");
        fixture.file("ws/hidden", "x");
        fixture.file("ws/.env", "x");
        fixture.link("dir", "ws/link");
        fixture.link("dir/file", "ws/alias");
        fixture.link(fixture.host("out/secret.txt"), "ws/out");
        let workspace = fixture.open();
        let cached = |text: &str, limit| workspace.read_cached(&workspace.resolve(text).unwrap(), limit);
        for text in ["dir", "link/file", "alias", "out", "hidden", ".env", "missing", "dir/file/below"] {
            assert!(cached(text, 100).is_none(), "{text}");
        }
        assert!(cached("dir/file", 6).is_none());
        // Whether it is depends on the file system of the temporary folder.
        if let Some((open, bytes)) = cached("dir/file", 7) {
            assert_eq!((open.real_path().to_string(), open.stat().size), ("dir/file".to_owned(), 7));
            assert_eq!(bytes, b"content");
            assert!(!fixture.force_fallback);
        }
    });
}
