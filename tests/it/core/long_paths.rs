//! Every operation below paths of more than 260 characters, which is `MAX_PATH` of Windows.
//!
//! Through Wine this shows that each call is given a path that may be longer. Wine 8 does not show what Windows does with
//! short ones: it has no `MAX_PATH` for `NtCreateFile`, and where `GetFinalPathNameByHandleW` fails for more than 260
//! characters there, the path by which a directory was opened is used, which Windows does not need
//! (<https://learn.microsoft.com/windows/win32/fileio/maximum-file-path-limitation>).

use std::fs;

use confined_fs::Access;
use file_tools::{Group, Selection};
use serde_json::json;

use crate::harness::{Harness, Setup};

fn open(roots: Vec<(Option<&'static str>, &'static str, Access)>) -> Harness {
    let selection = Selection { groups: vec![Group::Manage], ..Selection::default() };
    Setup { roots, selection, state: true, ..Setup::default() }.open()
}

/// So many directories of 50 characters.
fn deep(count: usize) -> String {
    (0..count).map(|level| format!("{level:0>50}")).collect::<Vec<_>>().join("/")
}

/// All tools, on a file in `folder`, whose names the answers show.
fn every_tool_works_in(h: &Harness, folder: &str) {
    let at = |name: &str| format!("{folder}/{name}");
    h.call("write", json!({ "path": at("a.txt"), "content": "needle one\n" })).ok();
    assert_eq!(h.bytes(&at("a.txt")), b"needle one\n");
    assert!(h.call("read", json!({ "path": at("a.txt") })).ok().contains("needle one"));
    h.call("edit", json!({ "path": at("a.txt"), "old_string": "one", "new_string": "two" })).ok();
    h.call("write", json!({ "path": at("a.txt"), "content": "needle three\n" })).ok();
    assert_eq!(h.bytes(&at("a.txt")), b"needle three\n");
    assert!(h.call("grep", json!({ "pattern": "needle" })).ok().contains(&at("a.txt")));
    assert!(h.call("glob", json!({ "pattern": "**/a.txt" })).ok().contains(&at("a.txt")));
    assert!(h.call("ls", json!({ "path": folder })).ok().contains("a.txt"));
    h.call("mkdir", json!({ "path": at("sub/inner") })).ok();
    h.call("move", json!({ "source": at("a.txt"), "destination": at("sub/b.txt") })).ok();
    h.call("copy", json!({ "source": at("sub"), "destination": at("copy") })).ok();
    h.call("write", json!({ "path": at("over.txt"), "content": "other\n" })).ok();
    let over = json!({ "source": at("copy/b.txt"), "destination": at("over.txt"), "overwrite": true });
    h.call("move", over).ok();
    assert_eq!(h.bytes(&at("over.txt")), b"needle three\n");
    h.call("move", json!({ "source": at("sub"), "destination": at("moved") })).ok();
    h.call("delete", json!({ "path": at("moved"), "recursive": true })).ok();
    assert!(!h.exists(&at("moved")));
    h.call("undo", json!({})).ok();
    assert_eq!(h.bytes(&at("moved/b.txt")), b"needle three\n");
    let left: Vec<_> = fs::read_dir(h.path(folder)).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(left.iter().all(|name| !name.to_string_lossy().starts_with(".rootbound")), "{left:?}");
}

#[test]
fn every_tool_works_below_a_path_of_more_than_260_characters() {
    let h = open(vec![(None, "root", Access::ReadWrite)]);
    // Around the limit as well: names are put behind it.
    for count in [3, 4, 5, 20] {
        every_tool_works_in(&h, &deep(count));
    }
}

#[test]
fn tree_with_long_paths_is_moved_copied_and_deleted_from_above() {
    let h = open(vec![(None, "root", Access::ReadWrite)]);
    h.write(&format!("top/{}/file", deep(12)), "deep");
    h.call("copy", json!({ "source": "top", "destination": "second" })).ok();
    h.call("move", json!({ "source": "top", "destination": "third/moved" })).ok();
    for top in ["second", "third/moved"] {
        assert_eq!(h.bytes(&format!("{top}/{}/file", deep(12))), b"deep");
    }
    h.call("delete", json!({ "path": "second", "recursive": true })).ok();
    assert!(!h.exists("second"));
    h.call("undo", json!({})).ok();
    assert_eq!(h.bytes(&format!("second/{}/file", deep(12))), b"deep");
}

#[test]
fn root_itself_may_be_longer_than_260_characters() {
    const ROOT: &str = "aaaaaaaaaabbbbbbbbbbaaaaaaaaaabbbbbbbbbbaaaaaaaaaabbbbbbbbbb/\
        ccccccccccddddddddddccccccccccddddddddddccccccccccddddddddddccccccccccdddddddddd/\
        eeeeeeeeeeffffffffffeeeeeeeeeeffffffffffeeeeeeeeeeffffffffffeeeeeeeeeeffffffffff/\
        gggggggggghhhhhhhhhhgggggggggghhhhhhhhhhgggggggggghhhhhhhhhh/root";
    every_tool_works_in(&open(vec![(None, ROOT, Access::ReadWrite)]), "src");
}

#[test]
fn name_of_more_than_255_characters_is_refused_in_words() {
    let h = open(vec![(None, "root", Access::ReadWrite)]);
    let longest = "n".repeat(255);
    h.call("write", json!({ "path": longest, "content": "one\n" })).ok();
    h.call("write", json!({ "path": longest, "content": "two\n" })).ok();
    assert_eq!(h.bytes(&longest), b"two\n");
    let text = h.call("write", json!({ "path": "n".repeat(256), "content": "x" })).fails("invalid_input");
    assert!(text.contains("too long"), "{text}");
}
