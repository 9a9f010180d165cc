//! What holds for the answers of every tool: cuts are announced, and data agrees with the text.

#[cfg(unix)]
use confined_fs::Access;
use file_tools::Settings;
#[cfg(unix)]
use file_tools::{Group, Selection};
use serde_json::json;

#[cfg(unix)]
use crate::harness::Answer;
use crate::harness::{Setup, mcp_test};

mcp_test!(edit_next_to_a_very_long_line_shows_the_change, |h| {
    h.write("a.txt", format!("{}\nb\n", "a".repeat(300_000)));
    h.call("read", json!({ "path": "a.txt" })).ok();
    let answer = h.call("edit", json!({ "path": "a.txt", "old_string": "\nb", "new_string": "\nc" }));
    let text = answer.ok();
    assert!(text.ends_with("… [line of 300000 characters]\n-b\n+c"), "{}", &text[text.len() - 300..]);
    assert_eq!(answer.facts()["diff_cut_lines"], 0);
    assert!(h.bytes("a.txt").ends_with(b"a\nc\n"));
});

#[test]
fn a_diff_fits_the_answer_as_text_and_as_data() {
    let settings = Settings { structured_output: true, ..Settings::default() };
    let h = Setup { settings, ..Setup::default() }.open();
    let long = |end: &str| format!("{}{end}\n", "a".repeat(300_000));
    h.write("a.txt", [long("old"), "line\n".repeat(50_000)].concat());
    h.call("read", json!({ "path": "a.txt", "limit": 1 })).ok();
    for (tool, arguments) in [
        ("edit", json!({ "path": "a.txt", "old_string": "aold", "new_string": "anew" })),
        ("edit", json!({ "path": "a.txt", "old_string": "line\n", "new_string": "word\n", "replace_all": true })),
        ("write", json!({ "path": "a.txt", "content": long("whole") })),
    ] {
        let answer = h.call(tool, arguments);
        let (text, data) = (answer.ok(), answer.structured().clone());
        assert!(text.len() <= 50 * 1024 && data.to_string().len() < 64 * 1024, "{tool}: {} bytes", text.len());
        assert!(!text.contains("ask for a smaller part"), "{tool}: {}", &text[text.len() - 200..]);
        let cut = data["diff_cut_lines"].as_u64().expect("a number");
        assert_eq!(text.contains(&format!("… {cut} more lines of diff")), cut > 0, "{tool}");
        let diff = data["diff"].as_str().expect("text");
        assert!(text.contains(diff.trim_end()), "{tool}");
        assert!(tool != "write" || diff.contains("… [line of 300003 characters]"), "{diff}");
    }
}

/// The text after the first clause of an answer, in the text and in its data.
#[cfg(unix)]
#[track_caller]
fn notes(answer: &Answer) -> Vec<String> {
    let text = answer.ok();
    let in_text: Vec<&str> = text.lines().next().expect("a line").split("; ").skip(1).collect();
    let data = answer.structured()["notes"].as_array().unwrap_or_else(|| panic!("no notes: {answer:?}"));
    let in_data: Vec<String> = data.iter().map(|note| note.as_str().expect("text").to_owned()).collect();
    assert_eq!(in_data.join("; "), in_text.join("; "), "{answer:?}");
    in_data
}

#[cfg(unix)]
#[test]
fn structured_output_has_every_sentence_of_the_text() {
    let settings = Settings { structured_output: true, ..Settings::default() };
    let selection = Selection { groups: vec![Group::Manage], ..Selection::default() };
    let roots = vec![(Some("app"), "root", Access::ReadWrite), (Some("far"), "far", Access::ReadWrite)];
    let h = Setup { roots, selection, settings, ..Setup::default() }.open();
    h.write("crlf.txt", "one\r\ntwo\r\n");
    h.write("open.txt", "no newline");
    h.write("edit.txt", "\tindented\n");
    h.write("dir/a.txt", "a\n");
    h.write_outside("secret.txt", "s");
    h.symlink(h.outside("secret.txt"), "dir/out");
    for name in ["crlf.txt", "open.txt", "edit.txt"] {
        h.call("read", json!({ "path": name })).ok();
    }
    for (tool, arguments, note) in [
        ("write", json!({ "path": "crlf.txt", "content": "three\n" }), "CRLF line endings kept"),
        ("write", json!({ "path": "open.txt", "content": "more", "mode": "append" }), "last line was continued"),
        (
            "edit",
            json!({ "path": "edit.txt", "old_string": "    indented", "new_string": "    in" }),
            "not exactly as given",
        ),
        ("copy", json!({ "source": "dir", "destination": "copy" }), "lead outside of the workspace: app/dir/out"),
        ("delete", json!({ "path": "copy", "recursive": true }), "undo brings it back"),
    ] {
        let notes = notes(&h.call(tool, arguments));
        assert!(notes.iter().any(|in_data| in_data.contains(note)), "{tool}: {notes:?}");
    }
    let dry = h.call("edit", json!({ "path": "edit.txt", "old_string": "\tin", "new_string": "x", "dry_run": true }));
    assert!(dry.ok().starts_with("Dry run, nothing was written") && notes(&dry).is_empty());
    assert_eq!(dry.structured()["dry_run"], true);
    let moved = h.call("move", json!({ "source": "app/dir/a.txt", "destination": "far/a.txt" }));
    assert!(moved.ok().starts_with("Moved app/dir/a.txt to far/a.txt"));
    notes(&moved);
    // The tools that list have their notes below the list.
    h.write(".gitignore", "ignored\n");
    h.write("ignored/b.txt", "needle\n");
    for (tool, arguments) in [
        ("glob", json!({ "pattern": "b.txt", "path": "app" })),
        ("grep", json!({ "pattern": "needle", "path": "app" })),
        ("ls", json!({ "path": "app" })),
    ] {
        let answer = h.call(tool, arguments);
        let notes = answer.structured()["notes"].as_array().expect("notes").clone();
        assert!(!notes.is_empty(), "{answer:?}");
        for note in notes {
            assert!(answer.ok().contains(note.as_str().expect("text")), "{answer:?}");
        }
    }
}
