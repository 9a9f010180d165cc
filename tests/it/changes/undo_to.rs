//! `undo` with `to`: back to a checkpoint or to the start of the session, in one change that can be undone itself.

use std::{collections::BTreeMap, fs, path::Path};

use file_tools::{Group, Selection};
use serde_json::json;

use crate::harness::{Harness, Setup};

fn setup() -> Setup {
    let selection = Selection { groups: vec![Group::Manage], ..Selection::default() };
    Setup { selection, state: true, ..Setup::default() }
}

fn open() -> Harness {
    setup().open()
}

/// Every entry below the first root: a directory with nothing, a file with its content, a link with its target.
pub(crate) fn tree(h: &Harness) -> BTreeMap<String, String> {
    fn collect(dir: &Path, below: &str, out: &mut BTreeMap<String, String>) {
        for entry in fs::read_dir(dir).unwrap() {
            let entry = entry.unwrap();
            let name = format!("{below}{}", entry.file_name().to_str().unwrap());
            let kind = entry.file_type().unwrap();
            if kind.is_dir() {
                out.insert(format!("{name}/"), String::new());
                collect(&entry.path(), &format!("{name}/"), out);
            } else if kind.is_symlink() {
                out.insert(name, format!("-> {}", fs::read_link(entry.path()).unwrap().display()));
            } else {
                out.insert(name, fs::read_to_string(entry.path()).unwrap());
            }
        }
    }
    let mut out = BTreeMap::new();
    collect(&h.path(""), "", &mut out);
    out
}

fn write(h: &Harness, path: &str, content: &str) {
    h.call("write", json!({ "path": path, "content": content })).ok();
}

fn edit(h: &Harness, path: &str, old: &str, new: &str) {
    h.call("read", json!({ "path": path })).ok();
    h.call("edit", json!({ "path": path, "old_string": old, "new_string": new })).ok();
}

/// A bit of everything.
fn change_all(h: &Harness) {
    edit(h, "a.txt", "one", "two");
    write(h, "new/deep/file.txt", "new\n");
    h.call("move", json!({ "source": "dir", "destination": "moved" })).ok();
    edit(h, "moved/x.txt", "x", "changed x");
    h.call("move", json!({ "source": "moved/y.txt", "destination": "y2.txt" })).ok();
    write(h, "dir", "a file where a directory was\n");
    h.call("copy", json!({ "source": "moved", "destination": "copy" })).ok();
    h.call("delete", json!({ "path": "gone", "recursive": true })).ok();
    h.call("mkdir", json!({ "path": "empty/er" })).ok();
    h.call("read", json!({ "path": "b.txt" })).ok();
    h.call("move", json!({ "source": "a.txt", "destination": "b.txt", "overwrite": true })).ok();
}

fn prepared() -> Harness {
    let h = open();
    for (path, content) in [
        ("a.txt", "one\n"),
        ("b.txt", "b\n"),
        ("dir/x.txt", "x\n"),
        ("dir/y.txt", "y\n"),
        ("dir/sub/z.txt", "z\n"),
        ("gone/1", "1\n"),
        ("gone/in/2", "2\n"),
        ("same.txt", "same\n"),
    ] {
        h.write(path, content);
    }
    h
}

#[test]
fn session_goes_back_to_its_start_in_one_change_that_undo_takes_back() {
    let h = prepared();
    let before = tree(&h);
    change_all(&h);
    let after = tree(&h);
    let preview = h.call("undo", json!({ "to": "session", "dry_run": true })).ok();
    assert!(preview.starts_with("Would do: Go back to the start of this session"), "{preview}");
    assert!(preview.contains("\nwould bring back gone/in/2") && preview.contains("-two\n+b"), "{preview}");
    assert_eq!(tree(&h), after, "a dry run changes nothing");
    let text = h.call("undo", json!({ "to": "session" })).ok();
    assert!(!text.contains("left alone") && text.contains("\nbrought back gone/in/2, rev "), "{text}");
    assert!(!text.contains("@@"), "what is known already: {text}");
    assert_eq!(tree(&h), before);
    h.call("undo", json!({})).ok();
    assert_eq!(tree(&h), after, "the undo is itself undoable");
    h.call("undo", json!({ "to": "session" })).ok();
    assert_eq!(tree(&h), before);
}

#[test]
fn checkpoint_is_the_state_before_the_call_that_names_it() {
    let h = prepared();
    edit(&h, "a.txt", "one", "two");
    let at = tree(&h);
    let text = h.call("write", json!({ "path": "c.txt", "content": "c\n", "checkpoint": "before c" })).ok();
    assert!(text.contains("(checkpoint before c: the state before this call)"), "{text}");
    write(&h, "d.txt", "d\n");
    edit(&h, "a.txt", "two", "three");
    h.call("undo", json!({ "to": "before c" })).ok();
    assert_eq!(tree(&h), at);
    let text = h.call("write", json!({ "path": "e.txt", "content": "e\n", "checkpoint": "before c" })).ok();
    assert!(text.contains("was moved"), "{text}");
    let text = h.call("undo", json!({ "to": "nowhere" })).fails("not_found");
    assert!(text.contains("nowhere") && text.contains("before c"), "{text}");
}

#[test]
fn checkpoint_needs_a_usable_name_and_a_change_that_succeeds() {
    let h = prepared();
    for name in [json!(""), json!("a\nb"), json!("session"), json!("redo"), json!("x".repeat(65)), json!(7)] {
        let call = json!({ "path": "c.txt", "content": "c\n", "checkpoint": name });
        h.call("write", call).fails("invalid_input");
    }
    let call = json!({ "path": "a.txt", "old_string": "nothing like it", "new_string": "x", "checkpoint": "x" });
    h.call("read", json!({ "path": "a.txt" })).ok();
    h.call("edit", call).fails("no_match");
    h.call("undo", json!({ "to": "x" })).fails("not_found");
    h.call("read", json!({ "path": "a.txt", "checkpoint": "x" })).fails("invalid_input");
}

#[test]
fn checkpoint_is_in_the_schemas_of_changing_tools_where_undo_is() {
    let properties = |h: &Harness| -> Vec<String> {
        let list = h.request("tools/list", json!({})).unwrap();
        let tools = list["tools"].as_array().unwrap().clone();
        let has = |tool: &&serde_json::Value| tool["inputSchema"]["properties"].get("checkpoint").is_some();
        tools.iter().filter(has).map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(properties(&open()), ["copy", "delete", "edit", "mkdir", "move", "undo", "write"]);
    assert_eq!(properties(&Harness::new()), Vec::<String>::new());
}

#[test]
fn file_that_somebody_else_changed_is_left_alone_unless_asked() {
    let h = prepared();
    edit(&h, "a.txt", "one", "two");
    edit(&h, "b.txt", "b", "bb");
    edit(&h, "b.txt", "bb", "bbb");
    write(&h, "new.txt", "new\n");
    h.call("move", json!({ "source": "dir", "destination": "moved" })).ok();
    h.write("b.txt", "by somebody else\n");
    h.write("new.txt", "by somebody else\n");
    h.write("moved/added.txt", "by somebody else\n");
    let text = h.call("undo", json!({ "to": "session" })).ok();
    for left in ["b.txt (changed since)", "new.txt (changed since)", "include_others=true"] {
        assert!(text.contains(left), "{left}: {text}");
    }
    assert_eq!(text.matches("left alone: b.txt").count(), 1, "{text}");
    let now = tree(&h);
    assert_eq!(
        (now["a.txt"].as_str(), now["b.txt"].as_str(), now["new.txt"].as_str(), now["dir/added.txt"].as_str()),
        ("one\n", "by somebody else\n", "by somebody else\n", "by somebody else\n")
    );
    let text = h.call("undo", json!({ "to": "session", "include_others": true })).ok();
    let all = tree(&h);
    assert_eq!(all["b.txt"], "b\n", "{text}");
    assert!(!all.contains_key("new.txt"));
    h.call("undo", json!({})).ok();
    assert_eq!(tree(&h), now, "what others wrote was kept");
}

#[cfg(unix)]
#[expect(clippy::disallowed_types, reason = "sets a time, which no other handle can")]
#[test]
fn untouched_files_keep_their_times_and_inodes() {
    use std::{
        os::unix::fs::MetadataExt as _,
        time::{Duration, SystemTime},
    };
    let h = prepared();
    let old = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
    for path in ["dir/y.txt", "dir/sub/z.txt", "same.txt"] {
        fs::File::options().write(true).open(h.path(path)).unwrap().set_modified(old).unwrap();
    }
    let seen = |path: &str| {
        let data = fs::metadata(h.path(path)).unwrap();
        (data.ino(), data.modified().unwrap())
    };
    let before = ["dir/y.txt", "dir/sub/z.txt", "same.txt"].map(seen);
    h.call("move", json!({ "source": "dir", "destination": "moved" })).ok();
    edit(&h, "moved/x.txt", "x", "xx");
    edit(&h, "same.txt", "same", "other");
    edit(&h, "same.txt", "other", "same");
    h.call("undo", json!({ "to": "session" })).ok();
    let after = ["dir/y.txt", "dir/sub/z.txt", "same.txt"].map(seen);
    assert_eq!(after[..2], before[..2], "moved there and back");
}

#[test]
fn plain_undo_walks_back_and_redo_takes_it_back() {
    let h = prepared();
    edit(&h, "a.txt", "one", "two");
    edit(&h, "b.txt", "b", "bb");
    let undo = |arguments| h.call("undo", arguments).ok();
    let content = |path| fs::read_to_string(h.path(path)).unwrap();
    undo(json!({}));
    undo(json!({}));
    assert_eq!((content("a.txt"), content("b.txt")), ("one\n".into(), "b\n".into()));
    undo(json!({ "to": "redo" }));
    assert_eq!((content("a.txt"), content("b.txt")), ("two\n".into(), "b\n".into()));
    undo(json!({ "to": "redo" }));
    assert_eq!((content("a.txt"), content("b.txt")), ("two\n".into(), "bb\n".into()));
    h.call("undo", json!({ "to": "redo" })).fails("not_found");
    undo(json!({}));
    assert_eq!(content("b.txt"), "b\n");
    // A change ends it: what was undone before that does not come back over it.
    edit(&h, "same.txt", "same", "other");
    undo(json!({}));
    undo(json!({ "to": "redo" }));
    h.call("undo", json!({ "to": "redo" })).fails("not_found");
    assert_eq!((content("b.txt"), content("same.txt")), ("b\n".into(), "other\n".into()));
}

#[test]
fn checkpoint_counts_a_plain_undo_of_an_older_change() {
    let h = prepared();
    edit(&h, "a.txt", "one", "two");
    h.call("write", json!({ "path": "c.txt", "content": "c\n", "checkpoint": "x" })).ok();
    h.call("undo", json!({ "path": "a.txt" })).ok();
    h.call("undo", json!({ "to": "x" })).ok();
    let now = tree(&h);
    assert_eq!(now["a.txt"], "two\n");
    assert!(!now.contains_key("c.txt"));
}

#[test]
fn path_limits_what_goes_back() {
    let h = prepared();
    edit(&h, "a.txt", "one", "two");
    edit(&h, "dir/x.txt", "x", "xx");
    h.call("undo", json!({ "to": "session", "path": "dir" })).ok();
    let now = tree(&h);
    assert_eq!((now["a.txt"].as_str(), now["dir/x.txt"].as_str()), ("two\n", "x\n"));
}

#[test]
fn nothing_to_go_back_to_is_said() {
    let h = prepared();
    h.call("undo", json!({ "to": "session" })).fails("not_found");
    h.call("undo", json!({ "include_others": true })).fails("invalid_input");
    h.call("undo", json!({ "to": "redo", "path": "a.txt" })).fails("invalid_input");
    h.call("write", json!({ "path": "c.txt", "content": "c\n", "checkpoint": "x" })).ok();
    h.call("undo", json!({})).ok();
    let text = h.call("undo", json!({ "to": "x" })).ok();
    assert!(text.starts_with("Nothing was changed"), "{text}");
}

#[test]
fn undo_to_a_checkpoint_that_changes_nothing_is_no_change() {
    let h = open();
    write(&h, "b/x", "x\n");
    h.call("write", json!({ "path": "x", "content": "x\n", "checkpoint": "two" })).ok();
    h.call("undo", json!({ "to": "session" })).ok();
    let empty = tree(&h);
    h.call("undo", json!({ "to": "two" })).ok();
    let two = tree(&h);
    h.call("undo", json!({ "to": "two" })).ok();
    assert_eq!(tree(&h), two);
    h.call("undo", json!({})).ok();
    assert_eq!(tree(&h), empty);
}

#[test]
fn move_over_a_file_is_undone_and_redone_again_and_again() {
    let h = prepared();
    let before = tree(&h);
    h.call("read", json!({ "path": "b.txt" })).ok();
    h.call("move", json!({ "source": "a.txt", "destination": "b.txt", "overwrite": true })).ok();
    let after = tree(&h);
    for _ in 0..3 {
        h.call("undo", json!({})).ok();
        assert_eq!(tree(&h), before);
        h.call("undo", json!({ "to": "redo" })).ok();
        assert_eq!(tree(&h), after);
    }
}

#[test]
fn path_of_a_directory_takes_back_the_last_change_below_it() {
    let h = open();
    write(&h, "src/a.txt", "one\n");
    write(&h, "src/deep/b.txt", "one\n");
    write(&h, "other.txt", "one\n");
    h.call("undo", json!({ "path": "src" })).ok();
    assert!(!h.exists("src/deep/b.txt") && h.exists("src/a.txt") && h.exists("other.txt"));
    h.call("undo", json!({ "path": "src" })).ok();
    assert!(!h.exists("src/a.txt") && h.exists("other.txt"));
    h.call("undo", json!({ "path": "src" })).fails("not_found");
}

#[test]
fn lost_content_is_named_by_its_own_path_whatever_was_moved_from_there_since() {
    let move_to = |from: &str, to: &str| ("move", json!({ "source": from, "destination": to }));
    let delete = |path: &str| ("delete", json!({ "path": path, "recursive": true }));
    let write = |path: &str| ("write", json!({ "path": path, "content": "later\n" }));
    for later in [
        // A file, a directory with the same name in it, and ones that only passed through.
        vec![write("d"), move_to("d", "q")],
        vec![write("d/x"), move_to("d", "q")],
        vec![write("e/x"), move_to("e", "d"), move_to("d", "q")],
        vec![write("e/x"), ("copy", json!({ "source": "e", "destination": "d" })), move_to("d", "q/r")],
        vec![write("d"), move_to("d", "q"), write("d/x"), move_to("d", "e"), delete("q")],
    ] {
        let h = open();
        h.write("d/x", "lost\n");
        h.write("d/y", "kept\n");
        let mut then = tree(&h);
        h.call("delete", json!({ "path": "d", "recursive": true, "checkpoint": "whole" })).ok();
        for (tool, arguments) in &later {
            h.call(tool, arguments.clone()).ok();
        }
        let lost = confined_fs::Revision::of(b"lost\n");
        fs::remove_file(h.outside(&format!("state/history/{lost}"))).unwrap();
        let text = h.call("undo", json!({ "to": "whole" })).ok();
        let named: Vec<&str> = text.lines().filter(|line| line.starts_with("left alone: ")).collect();
        assert_eq!(named, ["left alone: d/x (its earlier content is no longer kept)"], "{later:?}: {text}");
        then.remove("d/x");
        assert_eq!(tree(&h), then, "{later:?}: {text}");
    }
}
