//! glob: files by name, as a client sees them.

use std::time::{Duration, SystemTime};

use confined_fs::Access;
use serde_json::json;

use crate::harness::{Harness, Setup, mcp_test};

#[expect(clippy::disallowed_types, reason = "tests age real files")]
fn aged(h: &Harness, files: &[(&str, u64)]) {
    for (name, age) in files {
        h.write(name, "x\n");
        let file = std::fs::File::options().write(true).open(h.path(name)).unwrap();
        file.set_modified(SystemTime::now() - Duration::from_secs(*age)).unwrap();
    }
}

mcp_test!(the_newest_come_first_and_ties_go_by_path, |h| {
    aged(
        &h,
        &[("backend/app.py", 1), ("backend/tests/test_app.py", 20), ("backend/scripts/build.py", 300), ("x.py", 5)],
    );
    assert_eq!(
        h.call("glob", json!({"pattern": "**/*.py", "path": "backend"})).ok(),
        "Found 3 paths under backend\n1. backend/app.py\n2. backend/tests/test_app.py\n3. backend/scripts/build.py"
    );
    let sorted = h.call("glob", json!({"pattern": "*.py", "sort": "path"})).ok();
    assert_eq!(
        sorted,
        "Found 4 paths under .\n1. backend/app.py\n2. backend/scripts/build.py\n3. backend/tests/test_app.py\n4. x.py"
    );
});

mcp_test!(results_are_sorted_before_the_limit_and_numbered_across_pages, |h| {
    let names: Vec<String> = (0..30).map(|n| format!("f{n:02}.txt")).collect();
    aged(&h, &names.iter().enumerate().map(|(n, name)| (name.as_str(), 1000 - n as u64)).collect::<Vec<_>>());
    let first = h.call("glob", json!({"pattern": "*.txt", "max_results": 2}));
    assert_eq!(
        first.ok(),
        "Found 30 paths under ., showing first 2. Narrow the pattern or path, or continue with offset=2.\n\
         1. f29.txt\n2. f28.txt"
    );
    assert_eq!(first.facts()["next_offset"], json!(2));
    let next = h.call("glob", json!({"pattern": "*.txt", "limit": 2, "offset": 2})).ok();
    assert!(next.ends_with("\n3. f27.txt\n4. f26.txt"), "{next}");
    let by_path = h.call("glob", json!({"pattern": "*.txt", "sort": "path", "max_results": 2})).ok();
    assert_eq!(
        by_path,
        "Found more than 2 paths, showing first 2. Narrow the pattern or path, or continue with offset=2.\n\
         1. f00.txt\n2. f01.txt"
    );
});

mcp_test!(hidden_files_are_found_and_git_is_not, |h| {
    h.write(".github/ci.yml", "x");
    h.write(".git/config", "x");
    h.write(".env", "x");
    let found = h.call("glob", json!({"pattern": "**/*", "sort": "path"})).ok();
    assert_eq!(found, "Found 2 paths under .\n1. .env\n2. .github/ci.yml");
});

mcp_test!(ignored_files_are_counted_and_found_on_request, |h| {
    h.write(".gitignore", "*.log\n");
    h.write("a.log", "x");
    h.write("node_modules/b.log", "x");
    assert_eq!(
        h.call("glob", json!({"pattern": "*.log"})).ok(),
        "No files matched\n2 more in ignored files; pass no_ignore"
    );
    let all = h.call("glob", json!({"pattern": "*.log", "no_ignore": true, "sort": "path"})).ok();
    assert_eq!(all, "Found 2 paths under .\n1. a.log\n2. node_modules/b.log");
});

mcp_test!(directories_are_listed_only_on_request, |h| {
    h.write("src/tests/a.rs", "x");
    assert_eq!(
        h.call("glob", json!({"pattern": "tests"})).ok(),
        "No files matched\n1 directory matches; pass include_dirs"
    );
    let found = h.call("glob", json!({"pattern": "tests", "include_dirs": true})).ok();
    assert_eq!(found, "Found 1 path under .\n1. src/tests/");
});

mcp_test!(a_pattern_that_ends_in_a_slash_finds_directories_alone, |h| {
    for file in ["a.rs", "src/a.rs", "src/tests/deep/b.rs", "tests.d/c.rs", "node_modules/x/d.js", "src/out.log/e"] {
        h.write(file, "x");
    }
    h.write(".gitignore", "*.log\n");
    for (pattern, expected) in [
        ("**/", "src/ src/tests/ src/tests/deep/ tests.d/"),
        ("*/", "src/ tests.d/"),
        ("src/**/", "src/tests/ src/tests/deep/"),
        ("**/test*/", "src/tests/ tests.d/"),
        ("src/", "src/"),
        ("src/tests//", "src/tests/"),
        ("**/,!src/", "tests.d/"),
        ("*.rs,*/", "a.rs src/ src/a.rs src/tests/deep/b.rs tests.d/ tests.d/c.rs"),
        ("a.rs/", ""),
    ] {
        let found = h.call("glob", json!({"pattern": pattern, "sort": "path"})).ok();
        let paths: Vec<_> = found.lines().filter_map(|line| Some(line.split_once(". ")?.1)).collect();
        assert_eq!(paths.join(" "), expected, "{pattern}: {found}");
    }
    let root = h.path("").display().to_string().replace('\\', "/");
    let below = h.call("glob", json!({"pattern": format!("{root}/src/*/")})).ok();
    assert!(below.contains("\n1. src/tests/"), "{below}");
    let itself = h.call("glob", json!({"pattern": format!("{root}/src/")})).ok();
    assert!(itself.contains("\n1. src/"), "{itself}");
    let all = h.call("glob", json!({"pattern": "**/", "no_ignore": true})).ok();
    assert!(all.contains("node_modules/x/") && all.contains("src/out.log/"), "{all}");
    let none = h.call("glob", json!({"pattern": "nowhere/"})).ok();
    assert!(none.starts_with("No directories matched"), "{none}");
});

mcp_test!(a_pattern_that_leaves_the_root_is_an_error, |h| {
    h.write_outside("secret.txt", "x");
    for pattern in ["../*.txt", "a/../../*.txt", "{..,a}/*.txt"] {
        let error = h.call("glob", json!({"pattern": pattern}));
        assert_eq!(error.error_kind(), Some("invalid_input"), "{pattern}");
        assert!(error.text().contains("leaves the root"), "{}", error.text());
    }
});

mcp_test!(a_leading_slash_or_dot_is_dropped, |h| {
    h.write("src/a.rs", "x");
    for pattern in ["/src/*.rs", "./src/*.rs", "src/*.rs"] {
        assert_eq!(h.call("glob", json!({"pattern": pattern})).ok(), "Found 1 path under .\n1. src/a.rs", "{pattern}");
    }
});

mcp_test!(a_pattern_with_the_path_of_the_host_matches_as_one_below_the_root, |h| {
    for file in ["src/a.rs", "src/b.rs", "src/sub/c.rs"] {
        h.write(file, "x = 1\n");
    }
    let root = h.path("").display().to_string().replace('\\', "/");
    for pattern in ["src/*.rs", "src/a.rs", "src/**", "src/**/*.rs", "src/{a,sub/c}.rs", "src/s*/*"] {
        let below = h.call("glob", json!({"pattern": pattern, "sort": "path"})).ok();
        let whole = format!("{}/{pattern}", root.trim_end_matches('/'));
        let text = h.call("glob", json!({"pattern": whole, "sort": "path"})).ok();
        let paths = |text: &str| text.lines().skip(1).map(str::to_owned).collect::<Vec<_>>();
        assert!(!paths(&below).is_empty(), "{below}");
        assert_eq!(paths(&text), paths(&below), "{whole}");
    }
    let whole = format!("{}/src/*.rs", root.trim_end_matches('/'));
    let edits = json!([{"glob": whole, "old_string": "x = 1", "new_string": "x = 2", "replace_all": true}]);
    h.call("edit", json!({"edits": edits, "dry_run": true})).ok();
    h.call("edit", json!({"edits": edits})).ok();
    assert_eq!((&*h.bytes("src/a.rs"), &*h.bytes("src/sub/c.rs")), (&b"x = 2\n"[..], &b"x = 1\n"[..]));
});

mcp_test!(case_matters_by_default, |h| {
    h.write("README.md", "x");
    assert_eq!(h.call("glob", json!({"pattern": "readme*"})).ok(), "No files matched\nnearest names: README.md");
    assert!(h.call("glob", json!({"pattern": "readme*", "case_sensitive": false})).ok().contains("README.md"));
});

mcp_test!(a_path_that_is_missing_or_a_file_is_an_error, |h| {
    h.write("a.txt", "x");
    assert_eq!(h.call("glob", json!({"pattern": "*", "path": "nope"})).error_kind(), Some("not_found"));
    assert!(h.call("glob", json!({"pattern": "*", "path": "a.txt"})).text().starts_with("a.txt is not a directory"));
});

mcp_test!(an_invalid_pattern_is_an_error, |h| {
    let error = h.call("glob", json!({"pattern": "a[b"}));
    assert_eq!(error.error_kind(), Some("invalid_input"));
    let error = h.call("glob", json!({"pattern": "{a,b}".repeat(300)}));
    assert!(error.text().contains("more than 1024"), "{}", error.text());
});

#[test]
fn the_folder_may_be_part_of_the_pattern() {
    let setup = Setup {
        roots: vec![(Some("/mnt/user/ws"), "one", Access::ReadWrite), (Some("docs"), "two", Access::ReadOnly)],
        ..Setup::default()
    };
    let h = setup.open();
    h.write("src/deep/a.rs", "x");
    h.write_outside("two/src/b.rs", "x");
    let found = |arguments| h.call("glob", arguments).ok();
    assert_eq!(
        found(json!({"pattern": "/mnt/user/ws/src/**/*.rs"})),
        "Found 1 path under /mnt/user/ws/src\n1. /mnt/user/ws/src/deep/a.rs"
    );
    assert_eq!(found(json!({"pattern": "docs/src/*.rs"})), "Found 1 path under docs/src\n1. docs/src/b.rs");
    assert_eq!(
        found(json!({"pattern": "**/*.rs", "sort": "path"})),
        "Found 2 paths\n1. /mnt/user/ws/src/deep/a.rs\n2. docs/src/b.rs"
    );
    let error = h.call("glob", json!({"pattern": "/mnt/user/ws/src/*.rs", "path": "docs"}));
    assert!(error.text().contains("is outside path docs"), "{}", error.text());
    let missing = h.call("glob", json!({"pattern": "/mnt/user/ws/nope/*.rs"}));
    assert_eq!(missing.error_kind(), Some("not_found"));
}

mcp_test!(several_patterns_are_one_search, |h| {
    for file in ["a.ts", "src/b.tsx", "src/c.rs", "docs/d.md", "src/e.test.ts"] {
        h.write(file, "x\n");
    }
    let found = |pattern: serde_json::Value| {
        let text = h.call("glob", json!({ "pattern": pattern, "sort": "path" })).ok();
        text.lines().skip(1).map(|line| line.split_once(". ").unwrap().1.to_owned()).collect::<Vec<_>>().join(" ")
    };
    let both = "a.ts src/b.tsx src/e.test.ts";
    for pattern in [
        json!("*.ts,*.tsx"),
        json!("*.ts, *.tsx"),
        json!("*.ts|*.tsx"),
        json!("*.{ts,tsx}"),
        json!(["*.ts", "*.tsx"]),
        json!(r#"["*.ts", "*.tsx"]"#),
        json!(["*.ts,*.tsx"]),
    ] {
        // A text of a list is one glob; the others have two.
        let expected = if pattern == json!(["*.ts,*.tsx"]) { "" } else { both };
        if expected.is_empty() {
            assert_eq!(h.call("glob", json!({ "pattern": pattern })).ok(), "No files matched", "{pattern}");
        } else {
            assert_eq!(found(pattern.clone()), expected, "{pattern}");
        }
        let args = json!({ "pattern": "x", "glob": pattern, "output_mode": "files_with_matches" });
        let hits = h.call("grep", args).ok();
        let hits = hits.lines().skip(1).filter(|line| !line.starts_with("no file matches"));
        assert_eq!(hits.collect::<Vec<_>>().join(" "), expected, "grep {pattern}");
    }
    assert_eq!(found(json!("*.{ts,tsx},docs/*.md,!*.test.ts")), "a.ts docs/d.md src/b.tsx");
    assert_eq!(found(json!("!src")), "a.ts docs/d.md");
    let host = |path: &str| h.path(path).to_str().unwrap().to_owned();
    assert_eq!(found(json!([host("src/*.rs"), host("docs/**")])), "docs/d.md src/c.rs");
    let mixed = h.call("glob", json!({ "pattern": [host("src/*.rs"), "*.md"] })).fails("invalid_input");
    assert!(mixed.contains("give all of them relative to path"), "{mixed}");
    let name = if cfg!(windows) { "a.ts,b.ts" } else { "a.ts,b|c.ts" };
    h.write(name, "x\n");
    assert_eq!(found(json!(name)), name, "a name that is there is that one");
    let named = h.call("grep", json!({ "pattern": "x", "glob": name, "output_mode": "count" })).ok();
    assert_eq!(named, format!("Found 1 match in 1 file under .\n{name}:1"));
});

#[test]
fn a_pattern_that_is_the_name_of_a_file_finds_it() {
    let h = Harness::new();
    let names = [
        "app/[slug]/page.tsx",
        "app/[...all]/[[...rest]]/route.ts",
        "app/{x}/y.ts",
        "we[ird.txt",
        "un{closed.txt",
        "a,b.txt",
        "ü[é].txt",
        #[cfg(unix)]
        "b\\s.txt",
        #[cfg(unix)]
        "q?*.txt",
    ];
    for name in names {
        h.write(name, "hit\n");
    }
    h.write("app/s/page.tsx", "hit\n");
    for name in names {
        for pattern in [name.to_owned(), format!("./{name}"), format!("/{name}"), format!(" {name}")] {
            let found = h.call("glob", json!({ "pattern": pattern })).ok();
            assert!(found.contains(&format!(". {name}")), "{pattern}: {found}");
        }
        let found = h.call("grep", json!({ "pattern": "hit", "glob": name })).ok();
        assert!(found.contains(&format!("{name}:1: hit")), "{name}: {found}");
    }
    let below = h.call("glob", json!({ "pattern": "[slug]/page.tsx", "path": "app" })).ok();
    assert!(below.contains("app/[slug]/page.tsx") && below.contains("app/s/page.tsx"), "{below}");
    let in_folder = h.call("glob", json!({ "pattern": "app/[slug]/*.tsx" })).ok();
    assert!(in_folder.contains("app/[slug]/page.tsx"), "{in_folder}");
    let in_folder = h.call("glob", json!({ "pattern": "app/[...all]/" })).ok();
    assert_eq!(in_folder, "Found 1 path under .\n1. app/[...all]/");
    let others = json!({ "pattern": "hit", "glob": "!./app/[slug]/page.tsx", "output_mode": "files_with_matches" });
    assert!(!h.call("grep", others).ok().contains("[slug]"));
    for pattern in ["../x", "app/../../x", "{..,app}/x"] {
        h.call("glob", json!({ "pattern": pattern })).fails("invalid_input");
        h.call("grep", json!({ "pattern": "hit", "glob": pattern })).fails("invalid_input");
    }
    for pattern in ["bad[", "bad{"] {
        h.call("glob", json!({ "pattern": pattern })).fails("invalid_input");
        h.call("grep", json!({ "pattern": "hit", "glob": pattern })).fails("invalid_input");
    }
}
