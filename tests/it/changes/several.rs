//! `move` and `copy` of several entries: one change, all or none.

use std::fs;

use confined_fs::{Access, PolicyRules};
use file_tools::{Group, Selection};
use serde_json::{Value, json};

use crate::harness::{Harness, Setup};

fn setup() -> Setup {
    let selection = Selection { groups: vec![Group::Manage], ..Selection::default() };
    Setup { selection, state: true, ..Setup::default() }
}

/// Three scans, a folder and an archive.
fn office() -> Harness {
    let h = setup().open();
    for (name, content) in [
        ("inbox/a.pdf", "a"),
        ("inbox/b.pdf", "bb"),
        ("inbox/note.txt", "n"),
        ("inbox/2025/old.pdf", "old"),
        ("letters/c.pdf", "c"),
        ("top.pdf", "t"),
        ("archive/kept.pdf", "k"),
    ] {
        h.write(name, content);
    }
    h
}

/// All files below the first root.
fn files(h: &Harness) -> Vec<String> {
    let (mut found, mut left) = (Vec::new(), vec![h.path("")]);
    while let Some(folder) = left.pop() {
        for entry in fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()) {
            if entry.is_dir() && !entry.is_symlink() {
                left.push(entry);
            } else {
                let below = entry.strip_prefix(h.path("")).expect("below the root").display().to_string();
                found.push(below.replace('\\', "/"));
            }
        }
    }
    found.sort();
    found
}

#[test]
fn paths_and_globs_are_moved_as_one_change_which_one_undo_takes_back() {
    let h = office();
    let before = files(&h);
    let answer = h.call(
        "move",
        json!({ "sources": ["inbox/*.pdf", "letters/c.pdf", "./inbox/a.pdf"], "destination": "archive/2026/may/" }),
    );
    let expected = "Moved 3 files into archive/2026/may/; created folders archive/2026/, archive/2026/may/\n\
                    inbox/a.pdf\ninbox/b.pdf\nletters/c.pdf";
    assert_eq!(answer.ok(), expected);
    let facts = answer.facts();
    assert_eq!((&facts["files"], &facts["bytes"]), (&json!(3), &json!(4)));
    assert_eq!(facts["directories"], json!(["archive/2026", "archive/2026/may"]));
    let after = files(&h);
    assert!(after.contains(&"archive/2026/may/b.pdf".to_owned()) && !after.contains(&"inbox/b.pdf".to_owned()));
    let text = h.call("undo", json!({ "path": "letters/c.pdf" })).ok();
    assert_eq!(
        text,
        "Reverted the last move of 3 files\nmoved archive/2026/may/a.pdf back to inbox/a.pdf\n\
         moved archive/2026/may/b.pdf back to inbox/b.pdf\nmoved archive/2026/may/c.pdf back to letters/c.pdf\n\
         removed the directory archive/2026/may\nremoved the directory archive/2026"
    );
    assert_eq!((files(&h), h.exists("archive/2026")), (before, false));
    h.call("undo", json!({ "to": "redo" })).ok();
    assert_eq!(files(&h), after);
}

#[test]
fn a_copy_of_several_keeps_the_sources_and_takes_directories_whole() {
    let h = office();
    let before = files(&h);
    let answer = h.call("copy", json!({ "sources": ["inbox", "top.pdf"], "destination": "copies/" }));
    let expected =
        "Copied 2 entries into copies/ with 5 files: 8 bytes; created folder copies/\ninbox with 4 files\ntop.pdf";
    assert_eq!(answer.ok(), expected);
    let after = files(&h);
    assert_eq!(after.len(), before.len() + 5);
    assert_eq!(h.bytes("copies/inbox/2025/old.pdf"), b"old");
    h.call("undo", json!({})).ok();
    assert_eq!((files(&h), h.exists("copies")), (before, false));
}

#[test]
fn what_begins_with_an_exclamation_mark_takes_away_from_the_globs() {
    let h = office();
    let before = files(&h);
    for sources in [json!(["inbox/*.pdf", "!inbox/a.pdf"]), json!(["!inbox/a.pdf", "inbox/*.pdf"])] {
        h.call("move", json!({ "sources": sources, "destination": "x/" })).ok();
        let left: Vec<_> = before.iter().filter(|path| !files(&h).contains(path)).cloned().collect();
        assert_eq!(left, ["inbox/b.pdf"]);
        h.call("undo", json!({})).ok();
    }
    for sources in [json!(["!top.pdf"]), json!(["inbox", "!top.pdf"])] {
        let refused = h.call("move", json!({ "sources": sources, "destination": "x/" })).fails("invalid_input");
        assert!(refused.contains("!top.pdf takes away from globs"), "{refused}");
    }
    assert_eq!(files(&h), before);
}

#[test]
fn a_destination_with_a_slash_keeps_the_name_of_one_source_as_well() {
    let h = office();
    assert_eq!(
        h.call("move", json!({ "source": "top.pdf", "destination": "new/" })).ok(),
        "Moved top.pdf to new/top.pdf; created folder new/"
    );
    h.call("copy", json!({ "source": "inbox", "destination": "archive/" })).ok();
    assert_eq!(h.bytes("archive/inbox/a.pdf"), b"a");
    assert_eq!(
        h.call("move", json!({ "sources": ["new/top.pdf"], "destination": "./" })).ok(),
        "Moved new/top.pdf to top.pdf"
    );
    let text = h.call("move", json!({ "source": "top.pdf", "destination": "letters/c.pdf/" })).fails("invalid_input");
    assert!(text.starts_with("letters/c.pdf is a file"), "{text}");
}

#[test]
fn what_cannot_be_done_whole_is_not_done_and_names_why() {
    let h = office();
    h.write("more/a.pdf", "other");
    h.write("own/.env", "SECRET=1");
    h.write("own/x.pdf", "x");
    h.write("other/archive/kept.pdf", "x");
    let before = files(&h);
    let both = |sources: Value, destination: &str| json!({ "sources": sources, "destination": destination });
    for (arguments, kind, names) in [
        (both(json!(["inbox/a.pdf", "more/a.pdf"]), "x/"), "invalid_input", "would both be x/a.pdf"),
        (both(json!(["inbox/a.pdf", "inbox"]), "x/"), "invalid_input", "inbox/a.pdf is in inbox"),
        (both(json!(["inbox", "more"]), "inbox/2025/"), "invalid_input", "inbox/2025/inbox is inside inbox"),
        (both(json!(["top.pdf", "*.docx"]), "x/"), "not_found", "nothing matches the glob *.docx"),
        (both(json!(["top.pdf", "none.pdf"]), "x/"), "not_found", "none.pdf"),
        (both(json!(["top.pdf"]), "x"), "invalid_input", "does not end in /"),
        (both(json!(["archive/*"]), "archive/"), "invalid_input", "is in archive/ already"),
        (both(json!(["top.pdf", "own/.en*"]), "x/"), "denied", "/.env"),
        (both(json!(["top.pdf", "own/*"]), "x/"), "denied", "/.env"),
        (both(json!(["top.pdf", "../*"]), "x/"), "invalid_input", "../*"),
        (both(json!(["top.pdf", "letters/c.pdf"]), "inbox/a.pdf/"), "invalid_input", "inbox/a.pdf is a file"),
        (both(json!(["letters/c.pdf", "other/archive"]), "./"), "invalid_input", "archive is a directory already"),
        (both(json!([]), "x/"), "invalid_input", "`source` is missing"),
        (json!({ "source": "a", "sources": ["b"], "destination": "x/" }), "invalid_input", "both given"),
        // On Windows no name has such a sign.
        if cfg!(windows) {
            (json!({ "source": "*.pdf", "destination": "x/" }), "invalid_input", "*.pdf")
        } else {
            (json!({ "source": "*.pdf", "destination": "x/" }), "not_found", "in sources")
        },
    ] {
        for tool in ["move", "copy"] {
            let text = h.call(tool, arguments.clone()).fails(kind);
            assert!(text.contains(names), "{tool} {arguments}: {text}");
            assert_eq!((files(&h), h.exists("x")), (before.clone(), false), "{tool} {arguments}");
        }
    }
}

#[test]
fn nothing_is_replaced_unless_asked_and_read_and_then_all_of_it_comes_back() {
    for tool in ["move", "copy"] {
        let h = office();
        h.write("archive/a.pdf", "former");
        let mut arguments = json!({ "sources": ["top.pdf", "inbox/a.pdf"], "destination": "archive/" });
        let text = h.call(tool, arguments.clone()).fails("invalid_input");
        assert!(text.starts_with("archive/a.pdf already exists; none of the files"), "{text}");
        arguments["overwrite"] = json!(true);
        h.call(tool, arguments.clone()).fails("not_read");
        h.call("read", json!({ "path": "archive/a.pdf" })).ok();
        let before = files(&h);
        let text = h.call(tool, arguments).ok();
        assert!(text.contains("replacing 1 file there\ntop.pdf\ninbox/a.pdf, replacing"), "{text}");
        assert_eq!(h.bytes("archive/a.pdf"), b"a");
        h.call("undo", json!({})).ok();
        assert_eq!((files(&h), h.bytes("archive/a.pdf")), (before, b"former".to_vec()));
    }
}

#[test]
fn a_glob_means_what_a_path_does_and_takes_directories_whole() {
    let h = office();
    h.write("sub/[draft] {1}.pdf", "literal");
    h.write(".gitignore", "*.log\n");
    h.write("x.log", "ignored");
    // Without a slash: in the root itself.
    assert_eq!(h.call("move", json!({ "sources": ["*.pdf"], "destination": "a/" })).facts()["files"], 1);
    h.call("move", json!({ "sources": ["sub/[draft] {1}.pdf"], "destination": "b/" })).ok();
    let text = h.call("move", json!({ "sources": ["*.log"], "destination": "c/" })).fails("not_found");
    assert!(text.contains("1 match in ignored files"), "{text}");
    let text = h.call("move", json!({ "sources": ["inbox/**", "**/c.pdf"], "destination": "d/" })).ok();
    assert!(text.starts_with("Moved 5 entries into d/"), "{text}");
    assert!(h.exists("d/2025/old.pdf") && h.exists("d/c.pdf") && h.exists("inbox"));
    // What is there already stays, and that is said.
    let text = h.call("move", json!({ "sources": ["**/*.pdf,!a/**"], "destination": "d/" })).ok();
    assert!(text.contains("3 matches left out: in d/ already"), "{text}");
}

#[test]
fn many_are_named_in_part_and_too_many_are_refused() {
    let h = setup().open();
    for number in 0..1_001 {
        h.write(&format!("many/{number:04}.txt"), "x");
    }
    let text = h.call("move", json!({ "sources": ["many/*"], "destination": "to/" })).fails("too_large");
    assert!(text.contains("matches more than 1000 entries"), "{text}");
    let names: Vec<String> = (0..1_001).map(|number| format!("many/{number:04}.txt")).collect();
    h.call("copy", json!({ "sources": names, "destination": "to/" })).fails("too_large");
    assert!(!h.exists("to"));
    let answer = h.call("move", json!({ "sources": ["many/00[0-4]*"], "destination": "to/" }));
    let text = answer.ok();
    assert!(text.starts_with("Moved 50 files into to/") && text.ends_with("\n… and 30 more"), "{text}");
    assert_eq!(text.lines().count(), 22);
    h.call("undo", json!({})).ok();
    assert_eq!(files(&h).len(), 1_001);
}

#[test]
fn sources_of_several_roots_come_together_and_a_read_only_one_gives_copies() {
    let roots = vec![
        (Some("a"), "a", Access::ReadWrite),
        (Some("b"), "b", Access::ReadOnly),
        (Some("c"), "c", Access::ReadWrite),
    ];
    let h = Setup { roots, ..setup() }.open();
    for name in ["../a/one", "../b/two", "../c/three/four"] {
        h.write(name, name);
    }
    let sources = json!(["a/one", "b/two", "c/three"]);
    h.call("move", json!({ "sources": sources, "destination": "a/all/" })).fails("read_only");
    assert!(!h.exists("all"));
    h.call("copy", json!({ "sources": sources, "destination": "a/all/" })).ok();
    assert!(h.exists("all/one") && h.exists("all/two") && h.exists("all/three/four") && h.exists("one"));
    h.call("undo", json!({})).ok();
    h.call("move", json!({ "sources": ["a/one", "c/three"], "destination": "a/all/" })).ok();
    assert!(h.exists("all/three/four") && !h.exists("../c/three"));
    h.call("undo", json!({})).ok();
    assert!(h.exists("../c/three/four") && h.exists("one") && !h.exists("all"));
    h.call("copy", json!({ "sources": ["a/one"], "destination": "b/new/" })).fails("read_only");
}

#[test]
fn hidden_names_stay_hidden() {
    let policy = PolicyRules { hide: vec!["private".into()], ..PolicyRules::default() };
    let mut setup = setup();
    setup.workspace.policy = policy;
    let h = setup.open();
    h.write("d/private", "x");
    h.write("d/shown", "x");
    let answer = h.call("move", json!({ "sources": ["d/*"], "destination": "e/" }));
    assert!(!answer.ok().contains("private") && h.exists("d/private") && h.exists("e/shown"));
    let text = h.call("copy", json!({ "sources": ["d/p*"], "destination": "f/" })).fails("not_found");
    assert!(!text.contains("private"), "{text}");
    h.call("move", json!({ "sources": ["d", "e/shown"], "destination": "f/" })).denied();
}

#[test]
fn what_was_read_counts_at_the_new_path_of_each() {
    for tool in ["move", "copy"] {
        let h = office();
        h.call("read", json!({ "paths": ["top.pdf", "inbox/note.txt"] })).ok();
        h.call(tool, json!({ "sources": ["top.pdf", "inbox"], "destination": "n/" })).ok();
        h.call("edit", json!({ "path": "n/inbox/note.txt", "old_string": "n", "new_string": "m" })).ok();
        h.call("edit", json!({ "path": "n/inbox/a.pdf", "old_string": "a", "new_string": "m" })).fails("not_read");
    }
}

#[cfg(unix)]
#[test]
fn links_go_themselves_and_names_with_control_characters_go_as_they_are() {
    let h = office();
    h.write_outside("secret", "outside");
    h.write("odd/line\nbreak \u{1b}[2J", "x");
    h.write("odd/back\\slash", "y");
    h.symlink("inbox/a.pdf", "link");
    let answer = h.call("move", json!({ "sources": ["odd/*", "top.pdf"], "destination": "n/" }));
    let text = answer.ok();
    assert!(text.lines().count() == 4 && !text.contains('\u{1b}'), "{text}");
    assert_eq!((h.bytes("n/line\nbreak \u{1b}[2J"), h.bytes("n/back\\slash")), (b"x".to_vec(), b"y".to_vec()));
    // A link is moved itself, and one that leads out is not copied.
    h.call("move", json!({ "sources": ["link", "n/top.pdf"], "destination": "letters/" })).ok();
    assert!(fs::symlink_metadata(h.path("letters/link")).expect("it is there").is_symlink());
    assert_eq!(h.bytes("inbox/a.pdf"), b"a");
    h.symlink("../secret", "out");
    h.symlink(h.outside("secret"), "away");
    for sources in [json!(["out", "letters"]), json!(["away", "letters"])] {
        let before = files(&h);
        let answer = h.call("copy", json!({ "sources": sources, "destination": "deep/er/" }));
        assert!(answer.error_kind().is_some(), "{sources}: {}", answer.text());
        assert_eq!(files(&h), before);
    }
}
