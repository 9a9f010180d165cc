//! Plain undo, one after the other, gets back to every earlier state, whatever was moved meanwhile; and what people have
//! done since stays.

use std::{collections::BTreeMap, fs};

use file_tools::{Group, ReadBeforeWrite, Selection, Settings};
use serde_json::{Value, json};

use crate::{
    changes::undo_to::tree,
    harness::each::each,
    harness::program::{Outcome, program},
    harness::{Harness, Setup},
};

type Call = (&'static str, Value);

fn open() -> Harness {
    let selection = Selection { groups: vec![Group::Manage, Group::Patch], ..Selection::default() };
    let settings = Settings { read_before_write: ReadBeforeWrite::Off, ..Settings::default() };
    let h = Setup { selection, settings, state: true, ..Setup::default() }.open();
    for (path, content) in [("f", "one\n"), ("g", "other\n"), ("d/a", "a\n"), ("d/e/b", "b\n")] {
        h.write(path, content);
    }
    #[cfg(unix)]
    h.symlink("a", "d/link");
    h
}

fn write(path: &str, content: &str) -> Call {
    ("write", json!({ "path": path, "content": content }))
}

fn append(path: &str) -> Call {
    ("write", json!({ "path": path, "content": "more\n", "mode": "append" }))
}

fn edit(path: &str, old: &str) -> Call {
    ("edit", json!({ "path": path, "old_string": old, "new_string": "two" }))
}

fn make(path: &str) -> Call {
    ("mkdir", json!({ "path": path }))
}

fn delete(path: &str) -> Call {
    ("delete", json!({ "path": path, "recursive": true }))
}

fn move_to(from: &str, to: &str) -> Call {
    ("move", json!({ "source": from, "destination": to, "overwrite": true }))
}

fn copy(from: &str, to: &str) -> Call {
    ("copy", json!({ "source": from, "destination": to, "overwrite": true }))
}

fn patch(text: &str) -> Call {
    ("apply_patch", json!({ "patch": format!("*** Begin Patch\n{text}*** End Patch\n") }))
}

/// Changes that are taken back one by one.
fn sequences() -> Vec<(&'static str, Vec<Call>)> {
    vec![
        ("a directory that was moved and deleted", vec![make("k"), move_to("k", "m"), delete("m")]),
        ("one in one", vec![make("k/l"), move_to("k", "m"), delete("m")]),
        ("with a file", vec![make("k"), write("k/f", "x\n"), move_to("k", "m"), delete("m")]),
        ("with an edit", vec![make("k"), write("k/f", "x\n"), move_to("k", "m"), edit("m/f", "x"), delete("m")]),
        ("moved twice", vec![make("k"), move_to("k", "m"), move_to("m", "n"), delete("n")]),
        ("moved and not deleted", vec![make("k"), move_to("k", "m"), move_to("m", "n")]),
        ("made for a file", vec![write("k/l/f", "x\n"), move_to("k", "m"), delete("m")]),
        ("deleted and made again", vec![make("k"), delete("k"), make("k"), delete("k")]),
        ("deleted, made again and moved", vec![make("k"), delete("k"), make("k"), move_to("k", "m"), delete("m")]),
        ("into another one", vec![make("k"), move_to("d", "k/d"), edit("k/d/a", "a"), delete("k")]),
        ("a file", vec![write("n", "x\n"), move_to("n", "m"), delete("m")]),
        ("a file over another", vec![write("n", "x\n"), move_to("n", "g"), delete("g")]),
        ("a file from a directory that is deleted", vec![move_to("d/a", "a"), delete("d"), edit("a", "a")]),
        ("a copy of a file", vec![copy("f", "c"), move_to("c", "m"), delete("m")]),
        ("a copy over a file", vec![copy("f", "g"), edit("g", "one"), delete("g")]),
        ("a copy of a directory", vec![copy("d", "c"), move_to("c", "m"), delete("m")]),
        ("a copy with an edit", vec![copy("d", "c"), edit("c/a", "a"), move_to("c", "m"), delete("m")]),
        ("a directory that was there", vec![move_to("d", "m"), edit("m/a", "a"), delete("m")]),
        ("a link", vec![move_to("d/link", "l"), delete("l")]),
        ("a link with its directory", vec![move_to("d", "m"), delete("m/link"), delete("m")]),
        ("an append", vec![append("f"), move_to("f", "m"), append("m"), delete("m")]),
        ("a patch that adds", vec![patch("*** Add File: p/q\n+x\n"), move_to("p", "m"), edit("m/q", "x"), delete("m")]),
        (
            "a patch that moves",
            vec![patch("*** Update File: d/a\n*** Move to: p/a\n@@\n-a\n+x\n"), move_to("p", "m"), delete("m")],
        ),
        (
            "a patch within what was moved",
            vec![move_to("d", "m"), patch("*** Delete File: m/a\n*** Update File: m/e/b\n@@\n-b\n+x\n"), delete("m")],
        ),
        (
            "a move of several",
            vec![("move", json!({ "sources": ["f", "d"], "destination": "m/n/" })), edit("m/n/d/a", "a"), delete("m")],
        ),
        (
            "a copy of several",
            vec![("copy", json!({ "sources": ["f", "d"], "destination": "m/n/" })), edit("m/n/d/a", "a"), delete("m")],
        ),
        (
            "an edit of several files",
            vec![
                (
                    "edit",
                    json!({ "edits": [
                    { "path": "f", "old_string": "one", "new_string": "x" },
                    { "path": "d/a", "old_string": "a", "new_string": "x" },
                ] }),
                ),
                move_to("d", "m"),
                delete("m"),
            ],
        ),
    ]
}

/// Takes each change back and looks at the tree after each.
fn take_back(calls: &[Call]) {
    let h = open();
    let mut trees: Vec<BTreeMap<String, String>> = vec![tree(&h)];
    for (tool, arguments) in calls {
        h.call(tool, arguments.clone()).ok();
        trees.push(tree(&h));
    }
    trees.pop();
    while let Some(then) = trees.pop() {
        h.call("undo", json!({})).ok();
        assert_eq!(tree(&h), then);
    }
}

#[test]
fn plain_undo_gets_back_to_each_earlier_state() {
    let has_link = |calls: &[Call]| calls.iter().any(|(_, arguments)| arguments.to_string().contains("link"));
    let all = sequences().into_iter().filter(|(_, calls)| cfg!(unix) || !has_link(calls));
    each(all.map(|(name, calls)| (format!("plain undo of {name}"), move || take_back(&calls))));
}

// What a person has changed elsewhere in a file.

const LINES: usize = 40;

fn lines(changed: &[(usize, &str)]) -> String {
    let line = |at| {
        let found = changed.iter().find(|(line, _)| *line == at);
        found.map_or_else(|| format!("line {at}\n"), |(_, text)| format!("{text}\n"))
    };
    (1..=LINES).map(line).collect()
}

/// A change of line 3, and what takes it back.
type Way = fn(&Harness, undo: bool);

fn change(h: &Harness, (tool, arguments): Call) {
    h.call(tool, arguments).ok();
}

fn undo(h: &Harness, arguments: Value) {
    h.call("undo", arguments).ok();
}

const AROUND: &[(&str, Way)] =
    &[
        ("an edit", |h, is_undo| {
            let edit = ("edit", json!({ "path": "long", "old_string": "line 3\n", "new_string": "changed\n" }));
            if is_undo { undo(h, json!({})) } else { change(h, edit) }
        }),
        ("an overwrite", |h, is_undo| {
            if is_undo { undo(h, json!({})) } else { change(h, write("long", &lines(&[(3, "changed")]))) }
        }),
        ("a patch", |h, is_undo| {
            let text = "*** Update File: long\n@@\n line 2\n-line 3\n+changed\n line 4\n";
            if is_undo { undo(h, json!({})) } else { change(h, patch(text)) }
        }),
        ("an edit of several files", |h, is_undo| {
            let edits = json!({ "edits": [
            { "path": "long", "old_string": "line 3\n", "new_string": "changed\n" },
            { "path": "f", "old_string": "one", "new_string": "two" },
        ] });
            if is_undo { undo(h, json!({})) } else { change(h, ("edit", edits)) }
        }),
        ("to=session", |h, is_undo| {
            let edit = ("edit", json!({ "path": "long", "old_string": "line 3\n", "new_string": "changed\n" }));
            if is_undo { undo(h, json!({ "to": "session" })) } else { change(h, edit) }
        }),
        ("path of another session's edit", |h, is_undo| {
            if is_undo {
                h.restart();
                return undo(h, json!({ "path": "long" }));
            }
            change(h, ("edit", json!({ "path": "long", "old_string": "line 3\n", "new_string": "changed\n" })));
        }),
    ];

#[test]
fn undo_goes_around_what_a_person_changed_elsewhere_in_the_file() {
    each(AROUND.iter().map(|(name, way)| {
        (format!("undo around a person's line: {name}"), || {
            let h = open();
            h.write("long", lines(&[]));
            way(&h, false);
            h.write("long", lines(&[(3, "changed"), (30, "by a person")]));
            way(&h, true);
            assert_eq!(String::from_utf8_lossy(&h.bytes("long")), lines(&[(30, "by a person")]));
        })
    }));
}

#[test]
fn undo_leaves_a_line_alone_that_a_person_changed_as_well() {
    for (name, way) in AROUND {
        let h = open();
        h.write("long", lines(&[]));
        way(&h, false);
        let persons = lines(&[(3, "changed by a person")]);
        h.write("long", &persons);
        // Refused, or left alone in an answer.
        let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| way(&h, true)));
        assert_eq!(String::from_utf8_lossy(&h.bytes("long")), persons, "{name}");
    }
}

// Names that a rule hides since.

/// The answer to `undo` after a rule has come for what was changed.
fn answer_under_rule(rule: &str, arguments: &[&str]) -> String {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let root = folder.path().join("root");
    fs::create_dir(&root).expect("a folder");
    let run = |options: &[&str], arguments: &[&str]| {
        let mut command = program(&root);
        command.env("ROOTBOUND_STATE_DIR", folder.path().join("state")).env("ROOTBOUND_ALLOW", "manage");
        Outcome::of(command.args(options).arg("call").args(arguments))
    };
    run(&[], &["write", "path=other", "content=1", "checkpoint=here"]).succeeded();
    run(&[], &["write", "path=kept.key9", "content=1"]).succeeded();
    let ended = run(&[rule, "*.key9"], &[&["undo", "dry_run=true"], arguments].concat());
    ended.stdout + &ended.stderr
}

#[test]
fn undo_names_no_hidden_path_and_the_rule_as_the_reason() {
    let is_rule = |rule: &'static str, arguments: &'static [&str]| {
        let test = move || {
            let text = answer_under_rule(rule, arguments);
            assert!(!text.contains("no longer there") && text.contains("may not be changed"), "{text}");
        };
        (format!("undo {arguments:?} says that a rule is the reason: {rule}"), test)
    };
    let (to, path): (&[&str], &[&str]) = (&["to=here", "include_others=true"], &["path=kept.key9"]);
    each(["--deny", "--hide", "--protect"].into_iter().flat_map(|rule| [is_rule(rule, to), is_rule(rule, path)]));
    let text = answer_under_rule("--hide", to);
    assert!(!text.contains("kept.key9") && text.contains("left alone: a hidden path"), "{text}");
}

/// The directory of two new files becomes a link before the second of them is made.
#[cfg(unix)]
#[test]
fn nothing_is_left_where_a_directory_becomes_a_link_while_a_change_is_prepared() {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use change_set::{Approval, Base, ChangeSet, NewContent, WaitLimit, Workspace};
    use confined_fs::Access;

    let left_after = |asked_before: usize| {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let root = folder.path().to_path_buf();
        fs::create_dir_all(root.join("d")).expect("a folder");
        fs::create_dir_all(root.join("e")).expect("a folder");
        let workspace = Workspace::of_directory(&root, Access::ReadWrite);
        let paths = ["d/a", "d/b"].map(|path| workspace.writable(&workspace.resolve(path).expect(path)).expect(path));
        let (asked, place) = (AtomicUsize::new(0), root.clone());
        let exchange = move || {
            if asked.fetch_add(1, Ordering::SeqCst) == asked_before {
                fs::rename(place.join("d"), place.join("away")).expect("it is there");
                std::os::unix::fs::symlink("e", place.join("d")).expect("the name is free");
            }
            false
        };
        let entries: Vec<_> = paths.iter().collect();
        let limit = WaitLimit::until(exchange, || ());
        let done = ChangeSet::acquire(&workspace, &entries, &[], limit).and_then(|mut transaction| {
            for path in &paths {
                transaction.write(transaction.guard(path, Base::Absent)?, NewContent::of(b"new").into(), None);
            }
            transaction.commit(Approval::by_policy(), |_| {}).map_err(|error| error.error)
        });
        let names = |folder: &str| {
            let listed = fs::read_dir(root.join(folder)).into_iter().flatten();
            listed.map(|entry| entry.expect("an entry").file_name()).collect::<Vec<_>>()
        };
        (done.is_err(), [names("away"), names("e")].concat())
    };
    // The question is asked before each new entry, and while the locks are waited for.
    let met: Vec<_> = (0..8).map(left_after).filter(|(failed, _)| *failed).collect();
    assert!(!met.is_empty(), "no exchange was in the middle of the change");
    assert!(met.iter().all(|(_, names)| names.is_empty()), "{met:?}");
}
