//! `mkdir`, `move`, `copy`, `delete` and `undo` as a model calls them.

use std::fs;

use confined_fs::{Access, PolicyRules};
use file_tools::{Group, Selection};
use serde_json::{Value, json};

use crate::harness::{Harness, Setup};

fn setup() -> Setup {
    let selection = Selection { groups: vec![Group::Manage], ..Selection::default() };
    Setup { selection, state: true, ..Setup::default() }
}

fn open() -> Harness {
    setup().open()
}

fn read(h: &Harness, path: &str) {
    h.call("read", json!({ "path": path })).ok();
}

/// Every entry below the first root, links with their targets.
fn entries(h: &Harness) -> Vec<String> {
    fn collect(dir: &std::path::Path, below: &str, out: &mut Vec<String>) {
        let mut names: Vec<_> = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap()).collect();
        names.sort_by_key(fs::DirEntry::file_name);
        for entry in names {
            let name = format!("{below}{}", entry.file_name().to_str().unwrap());
            let kind = entry.file_type().unwrap();
            if kind.is_dir() {
                out.push(format!("{name}/"));
                collect(&entry.path(), &format!("{name}/"), out);
            } else if kind.is_symlink() {
                out.push(format!("{name} -> {}", fs::read_link(entry.path()).unwrap().display()));
            } else {
                out.push(name);
            }
        }
    }
    let mut out = Vec::new();
    collect(&h.path(""), "", &mut out);
    out
}

#[test]
fn the_manage_group_is_offered_only_with_allow() {
    let names = |h: &Harness| -> Vec<String> {
        let list = h.request("tools/list", json!({})).unwrap();
        list["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(names(&Harness::new()), ["edit", "glob", "grep", "ls", "read", "write"]);
    let all = ["copy", "delete", "edit", "glob", "grep", "ls", "mkdir", "move", "read", "undo", "write"];
    assert_eq!(names(&open()), all);
    let read_only = Selection { groups: vec![Group::Manage], read_only: true, ..Selection::default() };
    let h = Setup { selection: read_only, ..Setup::default() }.open();
    assert_eq!(names(&h), ["glob", "grep", "ls", "read"]);
}

#[test]
fn annotations_mark_destructive_and_idempotent_tools() {
    let list = open().request("tools/list", json!({})).unwrap();
    let hints = |name: &str| {
        let tools = list["tools"].as_array().unwrap();
        let hints = &tools.iter().find(|tool| tool["name"] == name).unwrap()["annotations"];
        (hints["readOnlyHint"] == true, hints["destructiveHint"] == true, hints["idempotentHint"] == true)
    };
    assert_eq!(hints("mkdir"), (false, false, true));
    for name in ["move", "copy", "delete", "undo"] {
        assert_eq!(hints(name), (false, true, false), "{name}");
    }
}

#[test]
fn mkdir_makes_parents_and_accepts_an_existing_directory() {
    let h = open();
    assert_eq!(h.call("mkdir", json!({ "path": "a/b/c" })).ok(), "Created a/b/c and 2 directories above it");
    assert_eq!(entries(&h), ["a/", "a/b/", "a/b/c/"]);
    assert_eq!(h.call("mkdir", json!({ "path": "a/b" })).facts()["created"], 0);
    h.write("file", "x");
    h.call("mkdir", json!({ "path": "file" })).fails("invalid_input");
    h.call("mkdir", json!({ "path": "file/below" })).fails("invalid_input");
    h.call("mkdir", json!({ "path": "../outside" })).denied();
    h.call("mkdir", json!({ "path": ".git/hooks" })).denied();
    assert_eq!(entries(&h), ["a/", "a/b/", "a/b/c/", "file"]);
}

#[test]
fn a_moved_file_counts_as_read_at_its_new_path() {
    let h = open();
    h.write("a.txt", "one\n");
    read(&h, "a.txt");
    let answer = h.call("move", json!({ "source": "a.txt", "destination": "new/b.txt" }));
    assert_eq!(answer.ok(), "Moved a.txt to new/b.txt; created folder new/");
    assert_eq!(entries(&h), ["new/", "new/b.txt"]);
    h.call("edit", json!({ "path": "new/b.txt", "old_string": "one", "new_string": "two" })).ok();
    assert_eq!(h.bytes("new/b.txt"), b"two\n");
}

#[test]
fn argument_names_of_other_tools_are_accepted() {
    let h = open();
    h.write("a", "x");
    h.call("move", json!({ "from": "a", "to": "b" })).ok();
    h.call("move", json!({ "old_path": "b", "new_path": "c" })).ok();
    h.call("copy", json!({ "src": "c", "dest": "d" })).ok();
    h.call("copy", json!({ "path": "d", "target": "e", "overwrite": "false" })).ok();
    assert_eq!(entries(&h), ["c", "d", "e"]);
}

#[test]
fn nothing_is_replaced_without_overwrite() {
    let h = open();
    h.write("a", "a");
    h.write("b", "b");
    h.mkdir("dir/inner");
    for tool in ["move", "copy"] {
        let text = h.call(tool, json!({ "source": "a", "destination": "b" })).fails("invalid_input");
        assert!(text.contains("overwrite=true"), "{text}");
        let text = h.call(tool, json!({ "source": "a", "destination": "dir" })).fails("invalid_input");
        assert!(text.contains("destination=dir/a"), "{text}");
        h.call(tool, json!({ "source": "a", "destination": "dir", "overwrite": true })).fails("invalid_input");
        h.call(tool, json!({ "source": "dir", "destination": "b", "overwrite": true })).fails("not_read");
        h.call(tool, json!({ "source": "dir", "destination": "dir/inner/deeper" })).fails("invalid_input");
        h.call(tool, json!({ "source": "a", "destination": "a" })).fails("invalid_input");
        h.call(tool, json!({ "source": "none", "destination": "c" })).fails("not_found");
    }
    read(&h, "b");
    h.call("move", json!({ "source": "dir", "destination": "b", "overwrite": true })).fails("invalid_input");
    assert_eq!(entries(&h), ["a", "b", "dir/", "dir/inner/"]);
    assert_eq!((h.bytes("a"), h.bytes("b")), (b"a".to_vec(), b"b".to_vec()));
}

#[test]
fn a_replaced_file_must_have_been_read_and_undo_restores_it() {
    for tool in ["move", "copy"] {
        let h = open();
        h.write("a", "new\n");
        h.write("b", "old\n");
        let arguments = json!({ "source": "a", "destination": "b", "overwrite": true });
        h.call(tool, arguments.clone()).fails("not_read");
        read(&h, "b");
        h.write("b", "old, changed\n");
        h.call(tool, arguments.clone()).fails("stale");
        read(&h, "b");
        assert!(h.call(tool, arguments).ok().contains("replacing the file there"));
        assert_eq!(h.bytes("b"), b"new\n");
        assert_eq!(h.exists("a"), tool == "copy");
        h.call("undo", json!({})).ok();
        assert_eq!((h.bytes("a"), h.bytes("b")), (b"new\n".to_vec(), b"old, changed\n".to_vec()), "{tool}");
    }
}

#[test]
fn a_directory_is_moved_copied_and_deleted_with_its_content() {
    let h = open();
    h.write("d/one", "1");
    h.write("d/sub/two", "22");
    h.mkdir("d/empty");
    assert_eq!(h.call("copy", json!({ "source": "d", "destination": "e/f" })).facts()["files"], 2);
    h.call("move", json!({ "source": "d", "destination": "g" })).ok();
    let copied = ["e/", "e/f/", "e/f/empty/", "e/f/one", "e/f/sub/", "e/f/sub/two"];
    let moved = ["g/", "g/empty/", "g/one", "g/sub/", "g/sub/two"];
    assert_eq!(entries(&h), [copied.as_slice(), &moved].concat());
    let text = h.call("delete", json!({ "path": "g" })).fails("invalid_input");
    assert!(text.contains("4 entries") && text.contains("recursive=true"), "{text}");
    assert_eq!(h.call("delete", json!({ "path": "g", "recursive": true })).facts()["bytes"], 3);
    assert_eq!(entries(&h), copied);
    h.call("undo", json!({ "path": "g" })).ok();
    assert_eq!(entries(&h), [copied.as_slice(), &moved].concat());
    assert_eq!(h.bytes("g/sub/two"), b"22");
}

#[test]
fn an_empty_directory_is_deleted_without_recursive() {
    let h = open();
    h.mkdir("d/empty");
    let text = h.call("delete", json!({ "path": "d" })).fails("invalid_input");
    assert!(text.starts_with("d is a directory and not empty (1 entry)"), "{text}");
    assert!(h.call("delete", json!({ "path": "d/empty" })).ok().starts_with("Deleted the empty directory d/empty;"));
    h.call("delete", json!({ "path": "d" })).ok();
    assert_eq!(entries(&h), Vec::<String>::new());
    h.call("undo", json!({})).ok();
    assert_eq!(entries(&h), ["d/"]);
    h.write("d/.hidden", "");
    h.call("delete", json!({ "path": "d" })).fails("invalid_input");
}

/// All that several paths are deleted of: files, an empty directory and one with entries.
fn open_to_delete_several() -> Harness {
    let h = open();
    for (name, content) in [("a.txt", "a"), ("d/x", "x"), ("d/in/y", "y"), ("z/stays", "z")] {
        h.write(name, content);
    }
    h.mkdir("d/void");
    h.mkdir("empty");
    h
}

#[test]
fn several_paths_are_deleted_as_one_change_and_come_back_with_one_undo() {
    let h = open_to_delete_several();
    let before = entries(&h);
    // In any order, twice, and in one another: each goes once, and what is in a directory goes with it.
    for paths in [
        json!(["a.txt", "d", "empty"]),
        json!(["d/in/y", "d", "d/x", "a.txt", "empty", "d", "./a.txt"]),
        json!(["empty", "d/void", "d/in", "d", "a.txt"]),
    ] {
        let answer = h.call("delete", json!({ "paths": paths, "recursive": true }));
        let text = answer.ok();
        assert!(text.starts_with("Deleted 3 entries; undo brings them back\n"), "{text}");
        assert!(text.contains("\nd with 2 files") && text.contains("\nthe empty directory empty"), "{text}");
        let facts = answer.facts();
        assert_eq!((&facts["files"], &facts["bytes"], &facts["kept_on_disk"]), (&json!(3), &json!(3), &json!(true)));
        assert_eq!(facts["paths"].as_array().unwrap().len(), 3);
        assert_eq!(entries(&h), ["z/", "z/stays"]);
        h.call("undo", json!({})).ok();
        assert_eq!(entries(&h), before);
        assert_eq!((h.bytes("d/in/y"), h.bytes("a.txt")), (b"y".to_vec(), b"a".to_vec()));
        h.call("undo", json!({ "to": "redo" })).ok();
        assert_eq!(entries(&h), ["z/", "z/stays"]);
        h.call("undo", json!({})).ok();
        assert_eq!(entries(&h), before);
    }
    // One that remains is as one that was given alone.
    let text = h.call("delete", json!({ "paths": ["d/x", "d"], "recursive": true })).ok();
    assert!(text.starts_with("Deleted d with 2 files; undo brings it back"), "{text}");
}

#[test]
fn several_paths_are_deleted_all_or_none() {
    let h = open_to_delete_several();
    h.write("read.txt", "read");
    read(&h, "read.txt");
    h.write("read.txt", "changed since");
    h.write("z/.env", "SECRET=1");
    let before = entries(&h);
    for (last, kind) in [("none", "not_found"), ("d", "invalid_input"), ("read.txt", "stale"), (".", "denied")] {
        let text = h.call("delete", json!({ "paths": ["a.txt", last] })).fails(kind);
        assert!(text.contains("; none of the files of this call was changed"), "{last}: {text}");
        assert_eq!(entries(&h), before);
    }
    for path in ["z", "z/.env"] {
        h.call("delete", json!({ "paths": ["a.txt", path], "recursive": true })).denied();
        assert_eq!(entries(&h), before);
    }
    let many: Vec<String> = (0..51).map(|n| format!("n{n}")).collect();
    for arguments in
        [json!({}), json!({ "paths": [] }), json!({ "path": "a.txt", "paths": ["d"] }), json!({ "paths": many })]
    {
        h.call("delete", arguments).fails("invalid_input");
    }
    assert_eq!(entries(&h), before);
}

#[test]
fn delete_accepts_unread_files_but_not_changed_ones() {
    let h = open();
    for (name, content) in [("unread.txt", &b"text"[..]), ("binary", &[0, 159, 146, 150, 0, 1]), ("dir/f", b"text")] {
        h.write(name, content);
        let path = name.split('/').next();
        h.call("delete", json!({ "path": path, "recursive": true })).ok();
        assert!(!h.exists(name));
        h.call("undo", json!({})).ok();
        assert_eq!(h.bytes(name), content);
        h.call("delete", json!({ "path": path, "recursive": true })).ok();
    }
    h.write("a.txt", "text");
    read(&h, "a.txt");
    h.write("a.txt", "changed");
    h.call("delete", json!({ "path": "a.txt" })).fails("stale");
    assert_eq!(h.bytes("a.txt"), b"changed");
    h.call("delete", json!({ "path": "none" })).fails("not_found");
    // To replace a file it must still have been read.
    h.write("b.txt", "text");
    for tool in ["move", "copy"] {
        let onto = json!({ "source": "a.txt", "destination": "b.txt", "overwrite": true });
        h.call(tool, onto).fails("not_read");
    }
}

#[test]
fn undo_removes_only_the_empty_directories_that_the_change_made() {
    let h = open();
    h.write("src", "x");
    h.mkdir("own");
    let undone = |h: &Harness| h.call("undo", json!({})).ok();
    for (tool, arguments) in [
        ("write", json!({ "path": "own/a/b/f", "content": "x" })),
        ("edit", json!({ "path": "own/a/b/f", "old_string": "", "new_string": "x" })),
        ("copy", json!({ "source": "src", "destination": "own/a/b/f" })),
        ("move", json!({ "source": "src", "destination": "own/a/b/f" })),
        ("mkdir", json!({ "path": "own/a/b/f" })),
    ] {
        h.call(tool, arguments.clone()).ok();
        let text = undone(&h);
        assert!(tool == "mkdir" || text.contains("; removed 2 directories made for it"), "{tool}: {text}");
        assert_eq!(entries(&h), ["own/", "src"], "{tool}");
        // A directory that contains something else by now stays, and so does one that replaced it.
        h.call(tool, arguments).ok();
        if tool == "mkdir" {
            undone(&h);
            continue;
        }
        h.write("own/a/other", "y");
        assert!(undone(&h).contains("; removed 1 directory made for it"));
        assert_eq!(entries(&h), ["own/", "own/a/", "own/a/other", "src"], "{tool}");
        fs::remove_dir_all(h.path("own/a")).unwrap();
    }
    h.call("write", json!({ "path": "own/a/f", "content": "x" })).ok();
    fs::rename(h.path("own/a"), h.path("own/old")).unwrap();
    h.mkdir("own/a");
    fs::rename(h.path("own/old/f"), h.path("own/a/f")).unwrap();
    undone(&h);
    assert_eq!(entries(&h), ["own/", "own/a/", "own/old/", "src"]);
}

#[test]
fn roots_and_their_parents_are_never_moved_or_deleted() {
    let roots = vec![(None, "root", Access::ReadWrite), (Some("inner"), "root/a/inner", Access::ReadOnly)];
    let h = Setup { roots, ..setup() }.open();
    h.write("a/inner/x", "x");
    for path in [".", "a", "a/inner", "inner"] {
        let path = if path == "inner" { path.to_owned() } else { format!("root/{path}") };
        h.call("delete", json!({ "path": path, "recursive": true })).denied();
        h.call("move", json!({ "source": path, "destination": "root/z" })).denied();
    }
    h.call("delete", json!({ "path": "inner/x" })).fails("read_only");
    h.call("move", json!({ "source": "inner/x", "destination": "root/x" })).fails("read_only");
    h.call("copy", json!({ "source": "inner/x", "destination": "root/x" })).ok();
    assert!(h.exists("a/inner/x") && h.exists("x"));
}

#[test]
fn protected_files_are_not_moved_copied_or_deleted_even_inside_a_directory() {
    let h = open();
    h.write(".env", "SECRET=1");
    h.write("project/.env", "SECRET=1");
    h.write("repository/.git/config", "[core]");
    h.write("plain", "x");
    for (tool, arguments) in [
        ("delete", json!({ "path": ".env" })),
        ("delete", json!({ "path": "project", "recursive": true })),
        ("delete", json!({ "path": "repository", "recursive": true })),
        ("delete", json!({ "path": "repository/.git", "recursive": true })),
        ("move", json!({ "source": ".env", "destination": "plain.txt" })),
        ("move", json!({ "source": "project", "destination": "other" })),
        ("move", json!({ "source": "repository/.git", "destination": "git" })),
        ("move", json!({ "source": "plain", "destination": ".git/hooks/pre-commit" })),
        ("move", json!({ "source": "plain", "destination": ".envrc" })),
        ("copy", json!({ "source": ".env", "destination": "plain.txt" })),
        ("copy", json!({ "source": "project", "destination": "other" })),
        ("copy", json!({ "source": "plain", "destination": ".mcp.json" })),
        ("copy", json!({ "source": "repository", "destination": "other" })),
        ("move", json!({ "source": "plain", "destination": ".rootbound-0123456789abcdef.tmp" })),
        ("write", json!({ "path": ".rootbound-0123456789abcdef.tmp", "content": "x" })),
    ] {
        h.call(tool, arguments).denied();
    }
    assert_eq!(
        entries(&h),
        [".env", "plain", "project/", "project/.env", "repository/", "repository/.git/", "repository/.git/config"]
    );
}

#[test]
fn a_rename_that_would_make_a_file_run_later_is_refused() {
    let h = open();
    h.write("staging/hooks/pre-commit", "#!/bin/sh\n");
    h.write("vs/tasks.json", "{}");
    h.call("move", json!({ "source": "staging", "destination": ".git" })).denied();
    h.call("move", json!({ "source": "vs", "destination": ".vscode" })).denied();
    h.call("copy", json!({ "source": "vs", "destination": ".vscode" })).denied();
    assert!(!h.exists(".git") && !h.exists(".vscode"));
}

#[test]
fn a_directory_with_hidden_names_is_not_deleted_and_does_not_show_them() {
    let policy = PolicyRules { hide: vec!["private".into()], ..PolicyRules::default() };
    let mut setup = setup();
    setup.workspace.policy = policy;
    let h = setup.open();
    h.write("d/private", "x");
    h.write("e", "x");
    let text = h.call("delete", json!({ "path": "d", "recursive": true })).denied();
    assert!(!text.contains("private"), "{text}");
    h.call("delete", json!({ "path": "d/private" })).denied();
    h.call("move", json!({ "source": "e", "destination": "private" })).denied();
    assert!(h.exists("d/private"));
}

#[cfg(unix)]
mod links {
    use super::*;

    #[test]
    fn delete_and_move_of_a_link_do_not_touch_its_target() {
        let h = open();
        h.write("real/file", "kept");
        h.symlink("real/file", "link");
        h.symlink("real", "dir");
        h.call("move", json!({ "source": "link", "destination": "renamed" })).ok();
        assert_eq!(entries(&h), ["dir -> real", "real/", "real/file", "renamed -> real/file"]);
        h.call("delete", json!({ "path": "dir" })).ok();
        h.call("delete", json!({ "path": "renamed" })).ok();
        assert_eq!(entries(&h), ["real/", "real/file"]);
        h.call("undo", json!({})).ok();
        assert_eq!(entries(&h), ["real/", "real/file", "renamed -> real/file"]);
    }

    #[test]
    fn a_move_never_makes_a_link_lead_out_of_its_root() {
        let h = open();
        h.write_outside("secret", "outside");
        h.symlink("../../top", "a/b/link");
        h.symlink("../../../secret", "x/y/z/link");
        h.call("move", json!({ "source": "a/b/link", "destination": "link" })).denied();
        h.call("move", json!({ "source": "x/y/z", "destination": "z" })).denied();
        h.call("move", json!({ "source": "a/b", "destination": "a/c" })).ok();
        assert!(h.exists("a/c/link") && h.exists("x/y/z/link"));
    }

    #[test]
    fn a_copy_keeps_links_inside_and_omits_links_outside() {
        let h = open();
        h.write_outside("secret", "outside");
        h.write("d/file", "x");
        h.symlink("file", "d/near");
        h.symlink("../../secret", "d/out");
        h.symlink(h.outside("secret"), "d/absolute");
        let answer = h.call("copy", json!({ "source": "d", "destination": "e" }));
        assert_eq!(answer.facts()["links_left_out"], 2);
        assert!(answer.text().contains("d/out"), "{}", answer.text());
        assert_eq!(entries(&h)[5..], ["e/", "e/file", "e/near -> file"]);
    }

    #[test]
    fn a_link_to_an_outside_directory_is_not_followed() {
        let h = open();
        h.write_outside("out/file", "outside");
        h.symlink("../out", "link");
        h.write("a", "a");
        h.call("delete", json!({ "path": "link/file" })).denied();
        h.call("move", json!({ "source": "a", "destination": "link/a" })).denied();
        h.call("move", json!({ "source": "link/file", "destination": "b" })).denied();
        h.call("copy", json!({ "source": "link/file", "destination": "b" })).denied();
        h.call("copy", json!({ "source": "link", "destination": "b" })).denied();
        h.call("mkdir", json!({ "path": "link/new" })).denied();
        assert_eq!(fs::read_dir(h.outside("out")).unwrap().count(), 1);
    }

    #[test]
    fn permission_bits_survive_copy_and_undelete_without_set_id_bits() {
        use std::os::unix::fs::PermissionsExt as _;
        let h = open();
        let mode = |path: &str| fs::metadata(h.path(path)).unwrap().permissions().mode() & 0o7777;
        h.write("d/tool", "#!/bin/sh\n");
        fs::set_permissions(h.path("d/tool"), fs::Permissions::from_mode(0o4750)).unwrap();
        fs::set_permissions(h.path("d"), fs::Permissions::from_mode(0o700)).unwrap();
        h.call("copy", json!({ "source": "d", "destination": "e" })).ok();
        assert_eq!((mode("e/tool"), mode("e")), (0o750, 0o700));
        h.call("delete", json!({ "path": "d", "recursive": true })).ok();
        h.call("undo", json!({})).ok();
        assert_eq!((mode("d/tool"), mode("d")), (0o750, 0o700));
    }

    #[test]
    fn a_special_file_can_be_renamed_but_not_copied_or_deleted() {
        let h = open();
        h.mkdir("d");
        let made = std::process::Command::new("mkfifo").arg(h.path("d/fifo")).status().unwrap();
        assert!(made.success());
        h.call("copy", json!({ "source": "d", "destination": "e" })).fails("invalid_input");
        h.call("delete", json!({ "path": "d", "recursive": true })).fails("invalid_input");
        h.call("move", json!({ "source": "d", "destination": "e" })).ok();
        assert_eq!(entries(&h), ["e/", "e/fifo"]);
    }
}

#[test]
fn undo_reverts_step_by_step_and_shows_how_many_lines_differ() {
    let h = open();
    h.call("write", json!({ "path": "a.txt", "content": "one\n" })).ok();
    h.call("edit", json!({ "path": "a.txt", "old_string": "one", "new_string": "two" })).ok();
    h.call("write", json!({ "path": "a.txt", "content": "three\n" })).ok();
    h.call("mkdir", json!({ "path": "p/q" })).ok();
    h.call("move", json!({ "source": "a.txt", "destination": "p/q/b.txt" })).ok();
    h.call("delete", json!({ "path": "p/q/b.txt" })).ok();
    let undo = || h.call("undo", json!({})).ok();
    let text = undo();
    assert!(text.starts_with("Brought back p/q/b.txt, rev ") && text.ends_with(" (+1 line)"), "{text}");
    assert_eq!(undo(), "Moved p/q/b.txt back to a.txt");
    assert_eq!(undo(), "Removed the directory p/q");
    assert_eq!(entries(&h), ["a.txt"]);
    let text = undo();
    assert!(text.starts_with("Reverted the last write of a.txt, rev ") && text.ends_with(" (+1 -1 lines)"), "{text}");
    let text = h.call("undo", json!({ "dry_run": true })).ok();
    assert!(text.contains("-two\n+one"), "{text}");
    assert!(!undo().contains("-two"));
    assert!(undo().starts_with("Deleted a.txt, which had been created"));
    assert_eq!(entries(&h), Vec::<String>::new());
    h.call("undo", json!({})).fails("not_found");
}

#[test]
fn undo_of_one_path_does_not_change_others() {
    let h = open();
    h.call("write", json!({ "path": "a", "content": "a1" })).ok();
    h.call("write", json!({ "path": "b", "content": "b1" })).ok();
    h.call("write", json!({ "path": "a", "content": "a2" })).ok();
    h.call("write", json!({ "path": "b", "content": "b2" })).ok();
    h.call("undo", json!({ "path": "a" })).ok();
    assert_eq!((h.bytes("a"), h.bytes("b")), (b"a1".to_vec(), b"b2".to_vec()));
    // Content that undo wrote counts as read.
    h.call("edit", json!({ "path": "a", "old_string": "a1", "new_string": "a3" })).ok();
    h.call("undo", json!({ "path": "none" })).fails("not_found");
}

#[test]
fn undo_is_refused_if_somebody_else_changed_the_file_since() {
    let h = open();
    h.call("write", json!({ "path": "a", "content": "one" })).ok();
    h.call("write", json!({ "path": "a", "content": "two" })).ok();
    h.write("a", "theirs");
    let text = h.call("undo", json!({})).fails("stale");
    assert!(text.contains("changed since"), "{text}");
    assert_eq!(h.bytes("a"), b"theirs");
    h.write("a", "two");
    h.call("undo", json!({})).ok();
    assert_eq!(h.bytes("a"), b"one");

    h.write("gone", "x");
    read(&h, "gone");
    h.call("delete", json!({ "path": "gone" })).ok();
    h.write("gone", "theirs");
    h.call("undo", json!({})).fails("stale");
    assert_eq!(h.bytes("gone"), b"theirs");

    h.write("d/x", "x");
    h.call("copy", json!({ "source": "d", "destination": "e" })).ok();
    h.write("e/y", "theirs");
    h.call("undo", json!({})).fails("stale");
    assert!(h.exists("e/y"));
}

#[test]
fn a_directory_that_was_deleted_and_brought_back_goes_with_the_undo_of_what_made_it() {
    let h = open();
    for (change, top) in [
        (("mkdir", json!({ "path": "d/e/f" })), "d"),
        (("write", json!({ "path": "w/x/file", "content": "new\n" })), "w"),
    ] {
        h.call(change.0, change.1).ok();
        h.call("delete", json!({ "path": top, "recursive": true })).ok();
        h.call("undo", json!({})).ok();
        assert!(h.exists(top));
        h.call("undo", json!({})).ok();
        assert!(!h.exists(top), "{top}");
    }
}

#[test]
fn undo_of_a_path_goes_on_where_another_process_ended() {
    let h = open();
    h.call("write", json!({ "path": "d/a", "content": "one\n" })).ok();
    h.restart();
    h.call("edit", json!({ "path": "d/a", "old_string": "one", "new_string": "two" })).ok();
    h.call("write", json!({ "path": "e/b", "content": "b\n" })).ok();
    h.restart();
    h.call("undo", json!({})).fails("not_found");
    let shown = h.call("undo", json!({ "path": "d", "dry_run": true })).ok();
    assert!(shown.starts_with("Would do: Revert the last edit of d/a by session "), "{shown}");
    let text = h.call("undo", json!({ "path": "d" })).ok();
    assert!(
        text.starts_with("Reverted the last edit of d/a by session ")
            && text.contains("\nrestored d/a, rev ")
            && text.contains("-two\n+one"),
        "{text}"
    );
    assert_eq!(h.bytes("d/a"), b"one\n");
    // A plain undo of another process is not taken back, nor is what it took back.
    h.restart();
    let text = h.call("undo", json!({ "path": "d/a" })).ok();
    assert!(text.contains("\ndeleted d/a (-1 line)"), "{text}");
    assert!(!h.exists("d") && h.exists("e/b"));
    h.restart();
    h.call("undo", json!({ "path": "d" })).fails("not_found");
    // What has changed since stays.
    h.write("e/b", "by an editor\n");
    h.call("undo", json!({ "path": "e" })).fails("stale");
    assert_eq!(h.bytes("e/b"), b"by an editor\n");
}

#[test]
fn the_answer_of_an_undo_has_the_rev_of_what_came_back() {
    let h = open();
    h.write("a", "one\n");
    let rev = |text: &str| text.split(", rev ").nth(1).unwrap()[..6].to_owned();
    let read = h.call("read", json!({ "path": "a" })).ok();
    h.call("edit", json!({ "path": "a", "old_string": "one", "new_string": "two" })).ok();
    let text = h.call("undo", json!({})).ok();
    assert!(text.starts_with("Reverted the last edit of a, rev ") && rev(&text) == rev(&read), "{text}");
    h.call("delete", json!({ "path": "a" })).ok();
    let text = h.call("undo", json!({})).ok();
    assert!(text.starts_with("Brought back a, rev ") && rev(&text) == rev(&read), "{text}");
}

#[test]
fn without_a_state_folder_large_files_are_not_deleted() {
    let h = Setup { state: false, ..setup() }.open();
    h.write("small", "x\n");
    h.write("large", vec![0; 5 << 20]);
    read(&h, "small");
    let answer = h.call("delete", json!({ "path": "small" }));
    assert!(answer.ok().contains("until the server ends"), "{}", answer.text());
    assert_eq!(answer.facts()["kept_on_disk"], Value::Bool(false));
    h.call("undo", json!({})).ok();
    assert_eq!(h.bytes("small"), b"x\n");
    h.call("delete", json!({ "path": "large" })).fails("too_large");
    assert_eq!(h.bytes("large").len(), 5 << 20);
}

#[test]
fn a_change_that_was_not_asked_for_leaves_no_temporary_file() {
    let h = open();
    h.write("a", "a\n");
    h.write("d/b", "b\n");
    read(&h, "a");
    h.call("edit", json!({ "path": "a", "old_string": "a", "new_string": "c" })).ok();
    h.call("copy", json!({ "source": "d", "destination": "e" })).ok();
    h.call("delete", json!({ "path": "d", "recursive": true })).ok();
    h.call("undo", json!({})).ok();
    assert_eq!(entries(&h), ["a", "d/", "d/b", "e/", "e/b"]);
}
