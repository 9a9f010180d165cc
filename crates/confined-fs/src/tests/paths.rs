//! Resolving: which texts are which paths.

use proptest::prelude::*;

use super::*;

fn shown(workspace: &Workspace, text: &str) -> Option<String> {
    workspace.resolve(text).ok().map(|path| path.to_string())
}

#[test]
fn single_unnamed_root_prints_plain_paths() {
    let fixture = Fixture::new(false);
    let workspace = fixture.open();
    for (text, path) in [
        ("", "."),
        (".", "."),
        ("./", "."),
        ("a", "a"),
        ("a//b/", "a/b"),
        ("./a/./b", "a/b"),
        ("a/../b", "b"),
        ("../ws", "."),
        ("../ws/a", "a"),
        ("a/../../ws/./b", "b"),
        ("../ws/../ws/a", "a"),
        ("../x/../ws/a", "a"),
        ("a%20b", "a%20b"),
        ("./~", "./~"),
        ("~notes.txt", "./~notes.txt"),
        ("./~other/x", "./~other/x"),
        ("\"a b\"", "a b"),
        ("'a'", "a"),
        ("./\"a\"", "./\"a\""),
        ("@\"a b\"", "a b"),
        ("#file:a/b", "a/b"),
        ("#a", "#a"),
        ("@a", "a"),
    ] {
        assert_eq!(shown(&workspace, text).as_deref(), Some(path), "{text}");
    }
    for text in [
        "..",
        "a/../..",
        "../ws/..",
        "../ws-evil/a",
        "../../ws/a",
        "/",
        "/etc/passwd",
        "//etc",
        "~/x",
        "~root",
        "~root/x",
        "@~root/x",
        "\"../a\"",
        "#file:/etc/passwd",
        "file:///etc/passwd",
    ] {
        assert!(matches!(workspace.resolve(text), Err(PathError::Denied { .. })), "{text}");
    }
}

#[test]
fn host_paths_and_file_uris_resolve_below_a_root() {
    let mut fixture = Fixture::new(false);
    fixture.link("ws", "alias");
    fixture.specs[0].path = fixture.host("alias");
    fixture.specs[0].name = Some("/mnt/data".into());
    let workspace = fixture.open();
    for (text, path) in [
        (fixture.host("ws/a b").display().to_string(), "/mnt/data/a b"),
        (fixture.host("alias/a").display().to_string(), "/mnt/data/a"),
        (fixture.host("out/../ws/x").display().to_string(), "/mnt/data/x"),
        (format!("file://{}", fixture.host("ws/a%20b").display()), "/mnt/data/a b"),
        (format!("file://localhost{}", fixture.host("ws/%E2%82%AC").display()), "/mnt/data/€"),
        ("file:///mnt/data/a%20b".into(), "/mnt/data/a b"),
        ("/mnt/data".into(), "/mnt/data"),
        ("//mnt//data/x".into(), "/mnt/data/x"),
        ("/mnt/other/../data/x".into(), "/mnt/data/x"),
        ("/mnt/data/../data/x".into(), "/mnt/data/x"),
        ("/mnt/data/a/../../../mnt/./data/x".into(), "/mnt/data/x"),
        (fixture.host("ws/../ws/x").display().to_string(), "/mnt/data/x"),
        (format!("file://{}/%2e%2e/ws/x", fixture.host("ws").display()), "/mnt/data/x"),
        ("file:///mnt/data/%2e%2e/data/x".into(), "/mnt/data/x"),
        ("x".into(), "/mnt/data/x"),
        ("../data/x".into(), "/mnt/data/x"),
        ("a/../../../mnt/data/x".into(), "/mnt/data/x"),
        ("@/mnt/data/x".into(), "/mnt/data/x"),
    ] {
        assert_eq!(shown(&workspace, &text).as_deref(), Some(path), "{text}");
    }
    for text in [
        fixture.host("ws-evil").display().to_string(),
        fixture.host("ws/../out").display().to_string(),
        format!("file://host{}", fixture.host("ws/a").display()),
        format!("file://{}/%2e%2e/out", fixture.host("ws").display()),
        "file:///mnt/data/%2e%2e/x".into(),
        "/mnt/data/../x".into(),
        "/mnt/data/../../data/x".into(),
        "/mnt/data/../../etc/passwd".into(),
        "../data-evil/x".into(),
        "../../data/x".into(),
        "../ws/x".into(),
        "/mnt/database".into(),
        "/mnt".into(),
    ] {
        let denied = workspace.resolve(&text).unwrap_err().to_string();
        assert_eq!(denied, format!("access denied: {text} is outside the workspace roots"));
    }
}

#[test]
fn every_name_comes_back_from_its_uri() {
    use std::os::unix::ffi::OsStrExt as _;
    let mut with_mounts = Fixture::new(false);
    with_mounts.specs[0].name = Some("my project {1}".into());
    with_mounts.root(Some("/mnt/data"), "data", Access::ReadOnly);
    let names: [&[u8]; 10] = [
        "a b/ü 中.txt".as_bytes(),
        b"100%.txt",
        b"100%25.txt",
        b"%2e%2e/x",
        b"~",
        b"@scope/[slug]/{id}?x#y",
        b"file:/x",
        b"back\\slash",
        b"new\nline",
        b"\xff\xfe",
    ];
    for fixture in [with_mounts, Fixture::new(false)] {
        let workspace = fixture.open();
        for root in workspace.roots() {
            let root = workspace.root_path(root);
            assert_eq!(workspace.resolve_uri(&root.resource_uri()).unwrap(), root);
            for name in names {
                let path = root.child(Path::new(std::ffi::OsStr::from_bytes(name)));
                fs::create_dir_all(path.host().parent().unwrap()).unwrap();
                fs::write(path.host(), "").unwrap();
                let uri = path.resource_uri();
                assert!(uri.is_ascii() && uri.starts_with("file:///"), "{uri}");
                assert_eq!(workspace.resolve_uri(&uri).unwrap(), path, "{uri}");
                assert_eq!(workspace.resolve(&uri).unwrap(), path, "{uri}");
            }
        }
    }
}

#[test]
fn uri_without_mount_name_is_a_printed_path_or_that_of_the_host() {
    let fixture = Fixture::new(false);
    fixture.file("ws/src/a.rs", "");
    fixture.file("ws/a%25b", "");
    fixture.link("/etc", "ws/etc");
    let host = fixture.host("ws/src/a.rs").display().to_string();
    // A copy of the whole host path below the root: the printed form comes first.
    let copied = fixture.host("ws/src/copied.rs").display().to_string();
    fixture.file(&format!("ws{copied}"), "");
    let workspace = fixture.open();
    for (uri, path) in [
        ("file:///src/a.rs", "src/a.rs"),
        ("FILE://localhost/src//./missing/../a.rs", "src/a.rs"),
        ("file:///src/missing.rs", "src/missing.rs"),
        ("file:///", "."),
        ("file:///a%25b", "a%25b"),
        (&format!("file://{host}"), "src/a.rs"),
        (&format!("file://{copied}"), copied.trim_start_matches('/')),
    ] {
        assert_eq!(workspace.resolve_uri(uri).unwrap().to_string(), path, "{uri}");
    }
    for uri in [
        "file:///etc/passwd",
        "file:///etc",
        "file:///var/no/file",
        "file:///missing.rs",
        "file:///nowhere/at/all",
        "file:///../src/a.rs",
        "file:///src/../../a",
        "file://",
    ] {
        let denied = workspace.resolve_uri(uri).unwrap_err().to_string();
        assert_eq!(denied, format!("access denied: {uri} is outside the workspace roots"));
    }
    for uri in ["src/a.rs", "http://example.com/a", "", "file:///a%00b", "@file:///src/a.rs"] {
        assert!(matches!(workspace.resolve_uri(uri), Err(PathError::Invalid { .. })), "{uri}");
    }
    assert!(workspace.resolve_lexically("file:///src/a.rs").is_none(), "the disk would have to be asked");
}

#[test]
fn several_roots_are_distinguished_by_mount_name() {
    let mut fixture = Fixture::new(false);
    fixture.root(None, "other/ws", Access::ReadOnly);
    fixture.root(Some("docs"), "d", Access::ReadOnly);
    let workspace = fixture.open();
    let names: Vec<_> = workspace.roots().iter().map(|root| root.public()).collect();
    assert_eq!(names, ["ws", "ws-2", "docs"]);
    assert_eq!(shown(&workspace, "docs/x").as_deref(), Some("docs/x"));
    assert_eq!(shown(&workspace, "x").as_deref(), Some("ws/x"));
    assert_eq!(shown(&workspace, "ws-2").as_deref(), Some("ws-2"));
    assert!(workspace.resolve("docs/../ws/x").is_err());
    assert!(workspace.resolve("docs").unwrap() > workspace.resolve("ws-2/z").unwrap());
}

#[test]
fn mount_name_is_optional_for_the_first_root() {
    let mut fixture = Fixture::new(false);
    fixture.specs[0].name = Some("ws".into());
    let workspace = fixture.open();
    for text in ["ws/a", "a", "./a"] {
        assert_eq!(shown(&workspace, text).as_deref(), Some("ws/a"), "{text}");
    }
    assert_eq!(shown(&workspace, "ws/ws").as_deref(), Some("ws/ws"));
    assert_eq!(shown(&workspace, "wsx").as_deref(), Some("ws/wsx"));
}

#[test]
fn overlapping_names_are_an_error_and_a_missing_root_stays_in_the_list() {
    let mut fixture = Fixture::new(false);
    fixture.root(Some("/mnt"), "a", Access::ReadOnly);
    fixture.root(Some("/mnt/b"), "b", Access::ReadOnly);
    assert!(Workspace::open(&fixture.specs, WorkspaceOptions::default()).is_err());
    let missing = RootSpec {
        name: None,
        path: fixture.host("none"),
        access: Access::ReadOnly,
        policy: super::PolicyRules::default(),
        optional: false,
    };
    let alone = Workspace::open(std::slice::from_ref(&missing), WorkspaceOptions::default()).unwrap();
    assert!(alone.workspace.unusable().is_some_and(|why| why.contains("none did not exist")));
    let opened = Workspace::open(&[missing, fixture.specs[0].clone()], WorkspaceOptions::default()).unwrap();
    assert!(opened.warnings[0].contains("none"), "{:?}", opened.warnings);
    assert_eq!(opened.workspace.unusable(), None);
    let unusable: Vec<bool> = opened.workspace.roots().iter().map(|root| root.is_unusable()).collect();
    assert_eq!(unusable, [true, false]);
}

#[test]
fn leading_at_sign_is_kept_when_such_a_file_exists() {
    let fixture = Fixture::new(false);
    fixture.file("ws/@scope/x", "1");
    let workspace = fixture.open();
    assert_eq!(shown(&workspace, "@scope/x").as_deref(), Some("./@scope/x"));
    assert_eq!(shown(&workspace, "./@scope/x").as_deref(), Some("./@scope/x"));
    assert_eq!(shown(&workspace, "@other/x").as_deref(), Some("other/x"));
}

#[test]
fn nul_and_overlong_texts_are_invalid() {
    let workspace = Fixture::new(false).open();
    for text in ["a\0b", "a/\\x2e\\x2e/b", "\\x2f"] {
        assert!(matches!(workspace.resolve(text), Err(PathError::Invalid { .. })), "{text:.20}");
    }
    assert!(matches!(workspace.resolve(&"x".repeat(4097)), Err(PathError::TooLong { limit: 4096, .. })));
}

#[test]
fn paths_are_ordered_by_components() {
    let workspace = Fixture::new(false).open();
    let mut paths: Vec<_> =
        ["a.txt", "a/b", "a", "a-b", "a/b/c", "b", ""].iter().map(|text| workspace.resolve(text).unwrap()).collect();
    paths.sort();
    let printed: Vec<_> = paths.iter().map(ToString::to_string).collect();
    assert_eq!(printed, [".", "a", "a/b", "a/b/c", "a-b", "a.txt", "b"]);
}

#[test]
fn join_stays_in_the_root() {
    let workspace = Fixture::new(false).open();
    let base = workspace.resolve("a/b").unwrap();
    assert_eq!(base.join("../c").unwrap().to_string(), "a/c");
    assert!(base.join("../../../c").is_err());
    assert!(base.join("/etc").is_err());
    assert_eq!(base.relative_to(&workspace.resolve("a").unwrap()), Path::new("b"));
    assert_eq!(base.relative_to(&base), Path::new(""));
    assert_eq!(base.parent().unwrap().to_string(), "a");
    assert_eq!(workspace.resolve("").unwrap().parent(), None);
}

/// What a path means, one component after another: names below the root, or out.
fn oracle(text: &str) -> Option<Vec<&str>> {
    let mut names = Vec::new();
    for part in text.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                names.pop()?;
            }
            name => names.push(name),
        }
    }
    Some(names)
}

#[test]
fn resolve_agrees_with_an_oracle_by_components() {
    let workspace = Fixture::new(false).open();
    let part =
        prop_oneof![Just("a"), Just(".."), Just("."), Just("/"), Just("//"), Just("~"), Just("b/"), Just("../"),];
    proptest!(|(parts in proptest::collection::vec(part, 0..10))| {
        let text = parts.concat();
        // Absolute and home paths mean something else; they are outside here.
        let answer = workspace.resolve(&text);
        let home = text.strip_prefix('~').and_then(|rest| rest.split('/').next());
        if text.starts_with('/') || home.is_some_and(|user| user.chars().all(char::is_alphabetic)) {
            prop_assert!(answer.is_err(), "{}", text);
        } else {
            let names = answer.ok().map(|path| path.relative().to_str().unwrap().to_owned());
            prop_assert_eq!(names, oracle(&text).map(|names| names.join("/")), "{}", text);
        }
    });
}

#[test]
fn printed_path_resolves_to_itself() {
    use std::os::unix::ffi::OsStrExt as _;
    let fixture = Fixture::new(false);
    let odd: [&[u8]; 12] = [
        b"~",
        b"@x",
        b"\"q\"",
        b"#file:a",
        b"~root",
        b"a\nb",
        b"\xff",
        b"\\x41",
        b"a\\b",
        b"file:",
        b" ",
        "\u{202e}txt".as_bytes(),
    ];
    for name in odd {
        fs::create_dir(fixture.host("ws").join(std::ffi::OsStr::from_bytes(name))).unwrap();
    }
    let workspace = fixture.open();
    let options = WalkOptions { ignored: Ignored::Skip, max_depth: None, directories: true, symlinks: true };
    let mut seen = 0;
    let root = workspace.resolve(".").unwrap();
    let report = workspace.walk(&root, &options, &mut |entry| {
        seen += 1;
        let printed = entry.path().to_string();
        assert!(!printed.contains(char::is_control), "{printed:?}");
        assert_eq!(&workspace.resolve(&printed).unwrap(), entry.path(), "{printed}");
        ControlFlow::Continue(())
    });
    assert!(report.is_ok() && seen == odd.len());
}

#[test]
fn length_limit_applies_to_the_path_not_to_its_printed_form() {
    let mut fixture = Fixture::new(false);
    fixture.specs[0].name = Some("/mnt/data".into());
    let workspace = fixture.open();
    for text in ["\u{1f}".repeat(4096), "x".repeat(4096), format!("/mnt/data/{}", "\u{7f}/".repeat(2048))] {
        let path = workspace.resolve(&text).unwrap();
        let printed = path.to_string();
        assert!(printed.len() > 4096);
        assert_eq!(workspace.resolve(&printed).unwrap(), path);
        let longer = format!("{printed}/{}", "y".repeat(4096));
        let refused = workspace.resolve(&longer).unwrap_err().to_string();
        // The limit is named at the end of a short sentence.
        assert!(refused.ends_with("is longer than the 4096 bytes that a path may have below its root"), "{refused}");
        assert!(refused.contains(&format!("({} bytes)", longer.len())) && refused.len() < 600, "{refused}");
        assert!(path.join(&"y".repeat(4096)).is_err());
    }
    assert!(matches!(workspace.resolve(&"./".repeat(20_000)), Err(PathError::TooLong { .. })));
}

/// The path in a root that is suggested for one outside, as text.
fn suggested(workspace: &Workspace, text: &str) -> Option<String> {
    match workspace.resolve(text) {
        Err(PathError::Denied { here, .. }) => here.map(|here| here.to_string()),
        answer => panic!("{text}: {answer:?}"),
    }
}

#[test]
fn path_in_another_checkout_is_denied_with_the_same_path_here() {
    let mut fixture = Fixture::new(false);
    fixture.repository("main/.git");
    for (id, at) in [("ws", "ws"), ("side", "main/wt/side"), ("gone", "gone")] {
        fixture.worktree("main/.git", id, at);
    }
    fs::remove_dir_all(fixture.host("gone")).unwrap();
    fixture.repository("other/.git");
    let workspace = fixture.open();
    let top = fixture.host("");
    let host = |below: &str| top.join(below).display().to_string();
    let uri = |below: &str| format!("file://{}", host(below));
    for (text, here) in [
        (host("main/src/x.rs"), "src/x.rs"),
        (host("main/missing/a b"), "missing/a b"),
        (host("main/wt/side/src/x.rs"), "src/x.rs"),
        (host("main/wt/sid/x"), "wt/sid/x"),
        (host("main"), "."),
        (host("main/./a/../src//x.rs"), "src/x.rs"),
        (uri("main/a%20b"), "a b"),
        (format!("@{}", host("main/x")), "x"),
        (format!("\"{}\"", host("main/x")), "x"),
        ("../main/src/x.rs".to_owned(), "src/x.rs"),
        ("src/../../main/x".to_owned(), "x"),
        (host("main/.env"), ".env"),
        (host("main/.github/x"), ".github/x"),
    ] {
        assert_eq!(suggested(&workspace, &text).as_deref(), Some(here), "{text}");
    }
    for text in [
        host("main2/src/x.rs"),
        host("mai"),
        host("main/.git"),
        host("main/.git/config"),
        host("main/.GIT/config"),
        host("main/../out/secret.txt"),
        host("gone/x"),
        host("other/x"),
        host(""),
        "/".to_owned(),
        "/etc/passwd".to_owned(),
        "../out/secret.txt".to_owned(),
        "~root/x".to_owned(),
        "file://elsewhere/main/x".to_owned(),
    ] {
        assert_eq!(suggested(&workspace, &text), None, "{text}");
    }
    assert!(workspace.resolve_uri(&uri("main/x")).is_err_and(|error| error.to_string().ends_with("workspace roots")));
    // A long path is refused as one, and not suggested.
    assert_eq!(suggested(&workspace, &host(&format!("main/{}", "x/".repeat(2100)))), None);
    // Both are roots: nothing is denied. A root that is a folder of a checkout has the part below it.
    fixture.root(Some("main"), "main", Access::ReadWrite);
    fixture.specs[0].name = Some("app".into());
    assert_eq!(shown(&fixture.open(), &host("main/x")).as_deref(), Some("main/x"));
    fixture.specs.truncate(1);
    fixture.specs[0].path = fixture.host("ws/src");
    fs::create_dir_all(fixture.host("ws/src")).unwrap();
    let workspace = fixture.open();
    assert_eq!(suggested(&workspace, &host("main/src/x.rs")).as_deref(), Some("app/x.rs"));
    assert_eq!(suggested(&workspace, &host("main/lib/x.rs")), None);
    assert_eq!(suggested(&workspace, &host("ws/lib/x.rs")), None, "it is in this checkout");
}

#[test]
fn directory_of_a_bare_repository_is_no_checkout() {
    for (bare, expected) in [("bare = true", None), ("bare = false", Some("x"))] {
        let fixture = Fixture::new(false);
        fixture.repository("proj/.git");
        fixture.file("proj/.git/config", format!("[core]\n\tfilemode = true\n\t{bare}\n"));
        fixture.worktree("proj/.git", "ws", "ws");
        let text = fixture.host("proj/x").display().to_string();
        assert_eq!(suggested(&fixture.open(), &text).as_deref(), expected);
    }
}
