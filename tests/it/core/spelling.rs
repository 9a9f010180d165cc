//! How paths and patterns are spelled: separators, letter case, drives, and names that Windows reads as something else.
//!
//! What differs between systems is asked of the file system under the test, so that each test runs on all of them.
//! Not shown through Wine, which has none of it: junctions and mount points (reparse points), alternate streams (`a:b` is
//! refused by its letters before it is opened), short names (`PROGRA~1`), directories that tell cases apart
//! (`fsutil file setCaseSensitiveInfo`), and renames over a file that another program has open, which NTFS has had since
//! Windows 10 1809 (<https://learn.microsoft.com/windows-hardware/drivers/ddi/ntifs/ns-ntifs-_file_rename_information>).

use std::fs;

use file_tools::{Group, Selection};
use serde_json::json;

use crate::harness::{Harness, Setup, repository_with_worktrees};

fn open() -> Harness {
    let selection = Selection { groups: vec![Group::Manage], ..Selection::default() };
    Setup { selection, state: true, ..Setup::default() }.open()
}

fn names(h: &Harness, folder: &str) -> Vec<String> {
    let entries = fs::read_dir(h.path(folder)).unwrap();
    let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// Whether the file system under the temporary folder finds a name in another case.
fn folds_case() -> bool {
    let temp = tempfile::tempdir().unwrap();
    fs::write(temp.path().join("case"), "").unwrap();
    temp.path().join("CASE").symlink_metadata().is_ok()
}

#[test]
fn name_is_renamed_to_another_case_and_undo_gives_the_old_one_back() {
    let h = open();
    h.write("readme.md", "text\n");
    h.write("src/Module/a.rs", "a\n");
    h.call("read", json!({ "path": "readme.md" })).ok();
    let answer = h.call("move", json!({ "source": "readme.md", "destination": "README.md" })).ok();
    assert_eq!(answer, "Moved readme.md to README.md");
    h.call("move", json!({ "source": "src/Module", "destination": "src/module" })).ok();
    assert_eq!((names(&h, ""), names(&h, "src")), (vec!["README.md".into(), "src".into()], vec!["module".into()]));
    // It counts as read.
    h.call("edit", json!({ "path": "README.md", "old_string": "text", "new_string": "words" })).ok();
    assert_eq!((names(&h, ""), h.bytes("README.md")), (vec!["README.md".into(), "src".into()], b"words\n".to_vec()));
    h.call("undo", json!({})).ok();
    h.call("undo", json!({ "path": "src/module" })).ok();
    assert_eq!(names(&h, "src"), ["Module"]);
    h.call("undo", json!({ "path": "README.md" })).ok();
    assert_eq!((names(&h, ""), h.bytes("readme.md")), (vec!["readme.md".into(), "src".into()], b"text\n".to_vec()));
}

#[test]
fn file_found_in_another_case_keeps_its_spelling() {
    let h = open();
    h.write("Docs/README.md", "old\n");
    if folds_case() {
        h.call("write", json!({ "path": "docs/readme.md", "content": "new\n" })).fails("not_read");
        h.call("read", json!({ "path": "docs/Readme.md" })).ok();
        h.call("write", json!({ "path": "docs/readme.md", "content": "new\n" })).ok();
        h.call("edit", json!({ "path": "DOCS/README.MD", "old_string": "new", "new_string": "newer" })).ok();
        h.call("write", json!({ "path": "DOCS/other.md", "content": "x\n" })).ok();
        assert_eq!(
            (names(&h, ""), names(&h, "Docs")),
            (vec!["Docs".into()], vec!["README.md".into(), "other.md".into()])
        );
        assert_eq!(h.bytes("Docs/README.md"), b"newer\n");
        let text = h.call("copy", json!({ "source": "docs/readme.md", "destination": "docs/Readme.md" }));
        text.fails("invalid_input");
        h.call("move", json!({ "source": "docs/readme.md", "destination": "readme.txt" })).ok();
        h.call("undo", json!({})).ok();
        assert_eq!(names(&h, "Docs"), ["README.md", "other.md"]);
    } else {
        h.call("write", json!({ "path": "Docs/Readme.md", "content": "new\n" })).ok();
        assert_eq!(names(&h, "Docs"), ["README.md", "Readme.md"]);
        let text = h.call("read", json!({ "path": "docs/README.md" })).fails("not_found");
        assert!(text.contains("Docs/README.md"), "{text}");
    }
}

#[test]
fn two_hard_links_whose_names_differ_in_case_are_two_files() {
    if folds_case() {
        return;
    }
    let h = open();
    h.write("a", "x\n");
    fs::hard_link(h.path("a"), h.path("A")).unwrap();
    let answer = h.call("move", json!({ "source": "a", "destination": "A" }));
    assert_eq!(answer.error_kind(), Some("invalid_input"), "{}", answer.text());
    assert_eq!(names(&h, ""), ["A", "a"]);
}

#[test]
fn backslash_in_a_glob_separates_on_windows_and_elsewhere_where_it_escapes_nothing() {
    let h = open();
    h.write("src/deep/a.rs", "needle\n");
    h.write("src/b.rs", "needle\n");
    let note = r"(`\` is an escape here; write / between directories)";
    for pattern in [r"src\**\*.rs", r"src\deep\a.rs", r".\src\deep\*.rs", r"src\deep/a.rs"] {
        let text = h.call("glob", json!({ "pattern": pattern })).ok();
        if cfg!(windows) {
            assert!(text.contains("a.rs") && text.starts_with("Found"), "{pattern}: {text}");
        } else {
            assert!(text.contains("a.rs") && text.starts_with(&format!("({pattern} is ")), "{pattern}: {text}");
        }
    }
    let folder = h.call("glob", json!({ "pattern": r"src\deep\" }));
    if cfg!(windows) {
        assert!(folder.ok().contains("src/deep"));
    } else {
        assert!(folder.fails("invalid_input").contains(r"`\` is an escape here"));
    }
    let text = h.call("grep", json!({ "pattern": "needle", "glob": r"src\deep\*.rs" })).ok();
    assert!(text.contains("src/deep/a.rs") && !text.contains("src/b.rs"), "{text}");
    let text = h.call("grep", json!({ "pattern": "needle", "glob": r"!src\deep\**" })).ok();
    assert!(!text.contains("src/deep/a.rs") && text.contains("src/b.rs"), "{text}");
    if !cfg!(windows) {
        // It escapes, and a result needs no explanation.
        h.write("[id].rs", "needle\n");
        let text = h.call("glob", json!({ "pattern": r"\[id\].rs" })).ok();
        assert!(text.contains("[id].rs") && !text.contains(note), "{text}");
    }
}

#[cfg(windows)]
mod windows {
    use std::os::windows::fs::{MetadataExt as _, OpenOptionsExt as _};
    use std::thread;
    use std::time::Duration;

    use confined_fs::{Access, PolicyRules, WorkspaceOptions};

    use super::*;

    #[test]
    fn path_is_found_by_each_of_its_spellings_and_shown_with_slashes() {
        let h = open();
        h.write("src/main.rs", "fn main() {}\n");
        let host = h.path("src/main.rs").to_str().unwrap().replace('/', r"\");
        let (drive, rest) = host.split_at(1);
        let uri = host.replace('\\', "/");
        for path in [
            r"src\main.rs".to_owned(),
            r".\src/main.rs".to_owned(),
            r"src\.\..\src\main.rs".to_owned(),
            host.clone(),
            uri.clone(),
            format!("{}{rest}", drive.to_lowercase()),
            host.to_uppercase(),
            format!(r"\\?\{host}"),
            format!("file:///{uri}"),
            format!("file:///{}%3A{}", drive.to_lowercase(), &uri[2..]),
            format!("FILE://localhost/{uri}"),
        ] {
            let text = h.call("read", json!({ "path": path })).ok();
            assert!(text.contains("fn main"), "{path}: {text}");
        }
        let text = h.call("glob", json!({ "pattern": format!(r"{}\**\*.rs", h.path("src").display()) })).ok();
        assert!(text.contains("src/main.rs") && !text.contains('\\'), "{text}");
    }

    #[test]
    fn names_that_windows_reads_as_something_else_are_refused() {
        let h = open();
        h.write("plain.txt", "x\n");
        for path in [
            "NUL",
            "nul.txt",
            "CON",
            "com1",
            "COM¹",
            "lpt9.log",
            "aux/x",
            "CONIN$",
            "plain.txt.",
            "plain.txt ",
            "plain.txt. .",
            "plain.txt::$DATA",
            "plain.txt:stream",
            "C:plain.txt",
            "a?b",
            "a*b",
            "a|b",
            "a<b",
            "a\"b",
            "PLAIN~1.TXT",
        ] {
            for (tool, arguments) in [
                ("read", json!({ "path": path })),
                ("write", json!({ "path": path, "content": "x" })),
                ("move", json!({ "source": "plain.txt", "destination": path })),
                ("mkdir", json!({ "path": path })),
            ] {
                let kind = h.call(tool, arguments).error_kind().map(str::to_owned);
                assert!(matches!(kind.as_deref(), Some("invalid_input" | "denied")), "{tool} {path}: {kind:?}");
            }
        }
        for path in [
            r"C:\Windows\win.ini",
            r"\\?\C:\Windows\win.ini",
            r"\\.\C:",
            r"\\.\PhysicalDrive0",
            r"\\localhost\c$\x",
            r"\\?\UNC\localhost\c$\x",
            r"\\?\GLOBALROOT\Device\HarddiskVolume1\x",
            r"\Windows\win.ini",
            r"..\x",
            r"src\..\..\x",
            "file://localhost/C:/Windows/win.ini",
            "file://server/share/x",
            "file:////server/share/x",
        ] {
            h.call("read", json!({ "path": path })).denied();
            h.call("write", json!({ "path": path, "content": "x" })).denied();
        }
        assert_eq!(names(&h, ""), ["plain.txt"]);
    }

    #[test]
    fn file_that_another_program_keeps_open_is_left_alone_and_said() {
        let h = open();
        h.write("open.txt", "old\n");
        h.call("read", json!({ "path": "open.txt" })).ok();
        let held = fs::OpenOptions::new().read(true).share_mode(0).open(h.path("open.txt")).unwrap();
        for (tool, arguments) in [
            ("read", json!({ "path": "open.txt" })),
            ("write", json!({ "path": "open.txt", "content": "new\n" })),
            ("delete", json!({ "path": "open.txt" })),
        ] {
            let text = h.call(tool, arguments).fails("stale");
            assert!(text.starts_with("another program has open.txt open"), "{tool}: {text}");
        }
        drop(held);
        assert_eq!((h.bytes("open.txt"), names(&h, "")), (b"old\n".to_vec(), vec!["open.txt".to_owned()]));
    }

    #[test]
    fn replacement_waits_for_a_program_that_has_the_file_open_for_a_moment() {
        let h = open();
        h.write("scanned.txt", "old\n");
        h.call("read", json!({ "path": "scanned.txt" })).ok();
        // As a virus scanner does: it lets others read and write, and not delete.
        let held = fs::OpenOptions::new().read(true).share_mode(0x1 | 0x2).open(h.path("scanned.txt")).unwrap();
        let closes = thread::spawn(move || {
            thread::sleep(Duration::from_millis(60));
            drop(held);
        });
        h.call("write", json!({ "path": "scanned.txt", "content": "new\n" })).ok();
        closes.join().unwrap();
        assert_eq!((h.bytes("scanned.txt"), names(&h, "")), (b"new\n".to_vec(), vec!["scanned.txt".to_owned()]));
    }

    #[test]
    fn file_marked_read_only_is_not_replaced_and_hidden_stays_hidden() {
        let h = open();
        h.write("marked.txt", "old\n");
        h.write("other.txt", "other\n");
        for name in ["marked.txt", "other.txt"] {
            h.call("read", json!({ "path": name })).ok();
        }
        let mark = |read_only| {
            let mut rights = fs::metadata(h.path("marked.txt")).unwrap().permissions();
            rights.set_readonly(read_only);
            fs::set_permissions(h.path("marked.txt"), rights).unwrap();
        };
        mark(true);
        for (tool, arguments) in [
            ("write", json!({ "path": "marked.txt", "content": "new\n" })),
            ("edit", json!({ "path": "marked.txt", "old_string": "old", "new_string": "new" })),
            ("move", json!({ "source": "other.txt", "destination": "marked.txt", "overwrite": true })),
        ] {
            let text = h.call(tool, arguments).denied();
            assert!(text.contains("marked read-only") && text.contains("attrib -r"), "{tool}: {text}");
        }
        assert_eq!((h.bytes("marked.txt"), h.bytes("other.txt")), (b"old\n".to_vec(), b"other\n".to_vec()));
        mark(false);
        // FILE_ATTRIBUTE_HIDDEN and _ARCHIVE, which a file gets when it is made.
        let hidden =
            fs::OpenOptions::new().write(true).create_new(true).attributes(0x2 | 0x20).open(h.path("hidden.txt"));
        drop(hidden.unwrap());
        let attributes = || fs::metadata(h.path("hidden.txt")).unwrap().file_attributes() & 0x2;
        if attributes() != 0 {
            h.call("read", json!({ "path": "hidden.txt" })).ok();
            h.call("write", json!({ "path": "hidden.txt", "content": "new\n" })).ok();
            assert_eq!((attributes(), h.bytes("hidden.txt")), (0x2, b"new\n".to_vec()));
        }
    }

    #[test]
    fn lines_behind_a_path_are_read_and_streams_are_not() {
        let h = open();
        h.write("src/a.rs", "one\ntwo\nthree\n");
        let host = h.path("src/a.rs").to_str().unwrap().to_owned();
        for path in ["src/a.rs:2-3".to_owned(), r"src\A.RS:2-3".to_owned(), format!("{host}:2-3")] {
            let text = h.call("read", json!({ "path": path })).ok();
            assert!(text.contains("two") && text.contains("three") && !text.contains("one"), "{path}: {text}");
        }
        h.call("read", json!({ "path": "src/a.rs:Zone.Identifier" })).fails("invalid_input");
    }

    #[test]
    fn search_below_a_folder_in_another_case_shows_its_real_name() {
        let h = open();
        h.write("Src/Deep/a.rs", "needle\n");
        for path in ["src", "SRC/deep", r"src\deep\A.RS"] {
            let text =
                h.call("grep", json!({ "pattern": "needle", "path": path, "output_mode": "files_with_matches" }));
            assert!(text.ok().contains("Src/Deep/a.rs"), "{path}: {}", text.text());
        }
        assert!(h.call("glob", json!({ "pattern": "*.rs", "path": "SRC" })).ok().contains("Src/Deep/a.rs"));
    }

    #[test]
    fn nested_read_only_root_keeps_its_rights_in_every_case() {
        let roots = vec![(Some("all"), "all", Access::ReadWrite), (Some("ro"), "all/vendor", Access::ReadOnly)];
        let h = Setup { roots, ..Setup::default() }.open();
        h.write("vendor/lib.rs", "old\n");
        for path in ["all/vendor/lib.rs", "all/VENDOR/lib.rs", r"all\Vendor\LIB.RS"] {
            h.call("read", json!({ "path": path })).ok();
            h.call("write", json!({ "path": path, "content": "new\n" })).fails("read_only");
        }
        assert_eq!(h.bytes("vendor/lib.rs"), b"old\n");
    }

    #[test]
    fn rules_with_backslashes_count() {
        let policy = PolicyRules { deny: vec![r"private\**".into()], ..PolicyRules::default() };
        let workspace = WorkspaceOptions { policy, ..WorkspaceOptions::default() };
        let h = Setup { workspace, ..Setup::default() }.open();
        h.write("private/deep/key.txt", "needle\n");
        for path in ["private/deep/key.txt", r"PRIVATE\Deep\key.txt"] {
            h.call("read", json!({ "path": path })).denied();
        }
        assert!(h.call("grep", json!({ "pattern": "needle" })).ok().starts_with("No matches found"));
    }

    #[test]
    fn directory_that_another_program_has_open_is_not_moved_and_said() {
        let h = open();
        h.write("dir/file", "x\n");
        // As the working directory of a shell: others may neither move nor delete it.
        let open =
            fs::OpenOptions::new().read(true).share_mode(0x1 | 0x2).custom_flags(0x0200_0000).open(h.path("dir"));
        let held = open.unwrap();
        let text = h.call("move", json!({ "source": "dir", "destination": "moved" })).fails("stale");
        assert!(text.starts_with("another program has"), "{text}");
        let text = h.call("delete", json!({ "path": "dir", "recursive": true })).fails("stale");
        assert!(text.starts_with("another program has"), "{text}");
        assert_eq!((h.bytes("dir/file"), names(&h, "")), (b"x\n".to_vec(), vec!["dir".to_owned()]));
        drop(held);
        h.call("move", json!({ "source": "dir", "destination": "moved" })).ok();
        assert_eq!(names(&h, ""), ["moved"]);
    }
}

#[test]
fn a_path_in_another_checkout_is_denied_with_the_same_file_here() {
    let setup = Setup {
        roots: vec![(None, "side", confined_fs::Access::ReadWrite)],
        selection: Selection { groups: vec![Group::Manage], ..Selection::default() },
        ..Setup::default()
    };
    let h = setup.open();
    repository_with_worktrees(&h, &[("fix", "side"), ("two", "main/.claude/worktrees/two")]);
    h.write("src/x.rs", "here\n");
    h.write_outside("main/src/x.rs", "there\n");
    h.restart();
    let host = |path: &str| h.outside(path).to_str().expect("a plain name").to_owned();
    let main = host("main/src/x.rs");
    for (tool, arguments) in [
        ("read", json!({ "path": main })),
        ("write", json!({ "path": main, "content": "new\n" })),
        ("edit", json!({ "path": main, "old_string": "there", "new_string": "new" })),
        ("ls", json!({ "path": main })),
        ("glob", json!({ "pattern": "*", "path": main })),
        ("grep", json!({ "pattern": "there", "path": main })),
        ("delete", json!({ "path": main })),
        ("copy", json!({ "source": "src/x.rs", "destination": main })),
        ("read", json!({ "path": "../main/src/x.rs" })),
        ("read", json!({ "path": host("main/.claude/worktrees/two/src/x.rs") })),
    ] {
        let text = h.call(tool, arguments).fails("denied");
        let hint = "hint: it is in another checkout of this repository; the same file here is src/x.rs";
        assert!(text.ends_with(hint) && text.contains("is outside the workspace roots"), "{tool}: {text}");
    }
    assert_eq!(fs::read(h.outside("main/src/x.rs")).ok().as_deref(), Some(&b"there\n"[..]));
    assert_eq!(h.bytes("src/x.rs"), b"here\n");
    // The same for what is not there, nothing of what is none, and none of git's own files.
    let there = h.call("read", json!({ "path": host("main/no/such") })).fails("denied");
    assert!(there.ends_with("the same file here is no/such"), "{there}");
    for path in ["main-2/src/x.rs", "main/.git/config", "other/x"] {
        let text = h.call("read", json!({ "path": host(path) })).fails("denied");
        assert!(text.ends_with("ls without a path lists the roots"), "{text}");
    }
}
