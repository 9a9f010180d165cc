//! The line of an append about what others have changed since the caller last saw the whole file.

use std::fmt::Write as _;

use file_tools::{Group, Selection};
use serde_json::{Value, json};

use crate::{
    harness::seeded_random::Random,
    harness::{Answer, Harness, Setup, share},
};

const WHOLE: &str = "since you last saw the whole file";

fn lines(n: usize) -> String {
    (1..=n).fold(String::new(), |mut text, n| {
        let _ = writeln!(text, "line {n}");
        text
    })
}

fn read(h: &Harness, thread: &str) -> Answer {
    h.call_as(thread, "read", json!({ "path": "f" }))
}

fn edit(h: &Harness, thread: &str, old: &str, new: &str) -> String {
    h.call_as(thread, "edit", json!({ "path": "f", "old_string": old, "new_string": new })).ok()
}

fn append(h: &Harness, thread: &str, content: &str) -> String {
    h.call_as(thread, "write", json!({ "path": "f", "content": content, "mode": "append" })).ok()
}

/// The note of an answer; `None` if it has none.
#[track_caller]
fn note(text: &str) -> Option<&str> {
    let notes: Vec<&str> = text.lines().filter(|line| line.contains(WHOLE)).collect();
    assert!(notes.len() < 2, "{text}");
    // Just below the first line, and a line of its own.
    assert!(notes.is_empty() || text.lines().nth(1) == notes.first().copied(), "{text}");
    notes.first().copied()
}

/// A file of 20 lines that both threads have read.
fn shared() -> Harness {
    let selection = Selection { groups: vec![Group::Manage], ..Selection::default() };
    let h = Setup { selection, state: true, ..Setup::default() }.open();
    h.write("f", lines(20));
    read(&h, "a1").ok();
    read(&h, "b2").ok();
    h
}

#[test]
fn an_append_names_the_lines_of_another_caller_next_to_it() {
    let h = shared();
    assert_eq!(note(&edit(&h, "b2", "line 13\n", "line thirteen\n")), None);
    assert_eq!(note(&edit(&h, "b2", "line 19\n", "line nineteen\n")), None);
    // An edit elsewhere is not concerned.
    assert_eq!(note(&edit(&h, "a1", "line 1\n", "line 1\nnew\nnew\n")), None);
    let expected = format!("(changed by thread b2 {WHOLE}: line 21)");
    assert_eq!(note(&append(&h, "a1", "the end\n")), Some(&*expected));
    // Until it sees the whole again; its own changes are never named, wherever the lines have moved to.
    assert_eq!(note(&append(&h, "a1", "the very end\n")), Some(&*expected));
    read(&h, "a1").ok();
    assert_eq!(note(&append(&h, "a1", "no, the end\n")), None);
    // The other one was not shown what this one did.
    let expected = format!("(changed by thread a1 {WHOLE}: lines 23-25)");
    assert_eq!(note(&append(&h, "b2", "really\n")), Some(&*expected));
}

#[test]
fn a_part_of_the_file_is_not_the_whole_file() {
    let h = shared();
    edit(&h, "b2", "line 19\n", "line nineteen\n");
    h.call_as("a1", "read", json!({ "path": "f", "limit": 19 })).ok();
    h.call_as("a1", "grep", json!({ "pattern": "line nineteen" })).ok();
    let expected = format!("(changed by thread b2 {WHOLE}: line 19)");
    assert_eq!(note(&append(&h, "a1", "the end\n")), Some(&*expected));
    // Who was never shown the whole file is told nothing.
    h.call_as("c3", "read", json!({ "path": "f", "limit": 5 })).ok();
    read(&h, "b2").ok();
    edit(&h, "b2", "line 18\n", "line eighteen\n");
    assert_eq!(note(&append(&h, "c3", "more\n")), None);
}

#[test]
fn a_diff_since_an_earlier_rev_is_the_whole_file() {
    let h = shared();
    let rev = read(&h, "a1").facts()["revision"].as_str().unwrap()[..8].to_owned();
    edit(&h, "b2", "line 20\n", "line twenty\n");
    let text = h.call_as("a1", "read", json!({ "path": "f", "since": rev })).ok();
    assert!(text.starts_with("changed since"), "{text}");
    assert_eq!(note(&append(&h, "a1", "the end\n")), None);
}

#[test]
fn what_an_error_has_shown_is_not_named_again() {
    let h = shared();
    h.write("f", lines(20).replace("line 20\n", "line twenty\n"));
    let call = json!({ "path": "f", "old_string": "line 20\n", "new_string": "line XX\n" });
    let text = h.call_as("a1", "edit", call).fails("stale");
    assert!(text.contains("counts as read"), "{text}");
    edit(&h, "a1", "line twenty\n", "line XX\n");
    assert_eq!(note(&append(&h, "a1", "mine\n")), None);
    let call = json!({ "path": "f", "content": lines(20) + "mine\n" });
    let text = h.call_as("b2", "write", call).fails("stale");
    assert!(text.starts_with("f was changed by thread a1 after"), "{text}");
    assert_eq!(note(&append(&h, "b2", "mine\n")), None);
}

#[test]
fn removed_lines_are_named_by_what_stands_there_now() {
    let h = shared();
    edit(&h, "b2", "line 3\nline 4\n", "");
    edit(&h, "b2", "line 19\n", "");
    let expected = format!("(changed by thread b2 {WHOLE}: line 17)");
    assert_eq!(note(&append(&h, "a1", "the end\n")), Some(&*expected));
    // What another one has made and unmade is no change.
    let h = shared();
    edit(&h, "b2", "line 19\n", "line nineteen\n");
    edit(&h, "b2", "line nineteen\n", "line 19\n");
    assert_eq!(note(&append(&h, "a1", "the end\n")), None);
}

#[test]
fn several_callers_are_named() {
    let h = shared();
    for n in [18, 20] {
        let thread = ["b2", "c3", "d4", "e5"][n % 4];
        h.call_as(thread, "read", json!({ "path": "f" })).ok();
        edit(&h, thread, &format!("line {n}\n"), &format!("row {n}\n"));
    }
    let expected = format!("(changed by thread d4 and thread b2 {WHOLE}: lines 18, 20)");
    assert_eq!(note(&append(&h, "a1", "the end\n")), Some(&*expected));
}

#[test]
fn another_program_and_another_process_are_named() {
    let h = shared();
    h.write("f", lines(20).replace("line 19\n", "line nineteen\n"));
    // An append does not look at what is there.
    assert_eq!(note(&edit(&h, "a1", "line 2\n", "line two\n")), None);
    let expected = format!("(changed by another program {WHOLE}: line 19)");
    assert_eq!(note(&append(&h, "a1", "the end\n")), Some(&*expected));
    let h = shared();
    let mut other = h.other();
    h.exchange(&mut other);
    read(&h, "c3").ok();
    edit(&h, "c3", "line 19\n", "line nineteen\n");
    h.exchange(&mut other);
    assert_eq!(note(&edit(&h, "a1", "line 2\n", "line two\n")), None);
    let text = append(&h, "a1", "the end\n");
    let line = note(&text).unwrap();
    assert!(line.starts_with("(changed by thread c3 in session ") && line.ends_with(": line 19)"), "{line}");
    let text = append(&h, "b2", "the end\n");
    let line = note(&text).unwrap();
    assert!(line.contains(" and thread a1 ") && line.ends_with(": lines 19, 21)"), "{line}");
}

#[test]
fn callers_without_a_name_of_their_own_are_one() {
    for client in [None, Some("some-client")] {
        let h = Setup { client, ..Setup::default() }.open();
        h.write("f", lines(20));
        for (old, new) in [("line 1\n", "x\n"), ("line 9\n", "y\n")] {
            for _ in 0..2 {
                h.call("read", json!({ "path": "f" })).ok();
            }
            let text = h.call("edit", json!({ "path": "f", "old_string": old, "new_string": new })).ok();
            assert_eq!(note(&text), None);
        }
        edit(&h, "b2", "line 20\n", "z\n");
        let text = h.call("write", json!({ "path": "f", "content": "v\n", "mode": "append" })).ok();
        assert_eq!(note(&text), Some(&*format!("(changed by thread b2 {WHOLE}: line 20)")));
    }
}

/// A caller alone: it reads, edits, appends, overwrites, moves, deletes, undoes and goes wrong, and hears of nobody else.
#[test]
fn a_caller_alone_sees_no_line_about_others() {
    for seed in 0..u64::from(share(40)) {
        let mut random = Random(seed);
        let selection = Selection { groups: vec![Group::Manage], ..Selection::default() };
        let client = [None, Some("some-client")][random.below(2)];
        let h = Setup { selection, client, state: random.one_in(2), ..Setup::default() }.open();
        h.write("f", lines(12));
        let call = |h: &Harness, tool: &str, arguments: Value| {
            let answer = h.call(tool, arguments);
            assert!(!answer.text().contains("since you last saw"), "{seed}: {}", answer.text());
            answer
        };
        call(&h, "read", json!({ "path": "f" }));
        for n in 0..20 {
            let text = String::from_utf8(h.bytes("f")).unwrap();
            let all: Vec<&str> = text.lines().collect();
            let line = if all.is_empty() { "" } else { all[random.below(all.len())] };
            match random.below(10) {
                0 => call(&h, "read", json!({ "path": "f" })),
                1 => call(&h, "read", json!({ "path": "f", "offset": 2, "limit": 3 })),
                2 => call(&h, "write", json!({ "path": "f", "content": format!("own {n}\n"), "mode": "append" })),
                3 => call(&h, "write", json!({ "path": "f", "content": format!("{text}whole {n}\n") })),
                4 => call(&h, "undo", json!({})),
                5 => call(&h, "undo", json!({ "to": "redo" })),
                6 => call(&h, "edit", json!({ "path": "f", "old_string": "nowhere", "new_string": "x" })),
                7 if !h.exists("g") => {
                    call(&h, "move", json!({ "source": "f", "destination": "g" })).ok();
                    call(&h, "edit", json!({ "path": "g", "old_string": line, "new_string": format!("{line}!") }));
                    call(&h, "move", json!({ "source": "g", "destination": "f" }))
                }
                _ => {
                    let new = [String::new(), format!("{line}\nnew {n}\n"), format!("changed {n}\n")];
                    let new = &new[random.below(3)];
                    let edit = json!({ "path": "f", "old_string": format!("{line}\n"), "new_string": new });
                    call(&h, "edit", edit)
                }
            };
            if !h.exists("f") {
                call(&h, "write", json!({ "path": "f", "content": lines(8) })).ok();
            }
        }
    }
}
