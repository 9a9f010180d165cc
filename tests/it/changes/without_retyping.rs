//! Changes without retyping: lines by their numbers, text copied from a file, appends that may be repeated, calls that
//! arrive cut.

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::harness::{Answer, Harness, Setup, mcp_test, share};
use file_tools::{Group, Selection};

/// The rev in the last line of a read.
fn rev(h: &Harness, path: &str) -> String {
    let text = h.call("read", json!({ "path": path })).ok();
    text.rsplit_once("rev ").expect("a rev").1[..6].to_owned()
}

/// Edits `path` by lines of its rev now.
fn edit(h: &Harness, path: &str, edits: &[(&str, &str)]) -> String {
    let rev = rev(h, path);
    let edits: Vec<Value> =
        edits.iter().map(|(lines, new)| json!({ "lines": lines, "rev": rev, "new_string": new })).collect();
    h.call("edit", json!({ "path": path, "edits": edits })).ok()
}

mcp_test!(line_edits_keep_line_endings_and_the_end_of_the_file, |h| {
    for (before, lines, new, after) in [
        (&b"a\nb\nc\n"[..], "2", "x\ny", &b"a\nx\ny\nc\n"[..]),
        (b"a\nb\nc\n", "2", "x\ny\n", b"a\nx\ny\nc\n"),
        (b"a\r\nb\r\nc\r\n", "2-3", "x\ny\n", b"a\r\nx\r\ny\r\n"),
        (b"a\r\nb\nc\n", "after 1", "x", b"a\r\nx\r\nb\nc\n"),
        (b"a\r\nb\nc\n", "after 2", "x\ny", b"a\r\nb\nx\ny\nc\n"),
        (b"a\nb", "2", "c\n", b"a\nc"),
        (b"a\nb", "after 2", "c\n", b"a\nb\nc"),
        (b"a\r\nb", "after 2", "c\nd", b"a\r\nb\r\nc\r\nd"),
        (b"a\nb\n", "after 2", "c", b"a\nb\nc\n"),
        (b"a\nb\n", "after 0", "c", b"c\na\nb\n"),
        (b"a", "after 0", "c", b"c\na"),
        (b"a\nb\nc\n", "2", "", b"a\nc\n"),
        (b"a\nb\nc\n", "1-3", "", b""),
        (b"a\nb", "2", "", b"a\n"),
        (b"a\nb\n", "1", "\n", b"\nb\n"),
        (b"a\rb\rc\r", "1", "x\ny\n", b"x\ny"),
        (b"\xef\xbb\xbfa\nb\n", "1", "x", b"\xef\xbb\xbfx\nb\n"),
        (b"\xff\xfea\0\r\0\n\0b\0\r\0\n\0", "after 1", "x\n", b"\xff\xfea\0\r\0\n\0x\0\r\0\n\0b\0\r\0\n\0"),
        (b"", "after 0", "x\n", b"x\n"),
    ] {
        h.write("f.txt", before);
        edit(&h, "f.txt", &[(lines, new)]);
        assert_eq!(h.bytes("f.txt"), after, "{} {lines} {new:?}", String::from_utf8_lossy(before));
    }
});

mcp_test!(numbers_of_several_entries_are_those_of_the_rev, |h| {
    h.write("f.txt", "1\n2\n3\n4\n5\n");
    edit(&h, "f.txt", &[("1", "one\nand\n"), ("after 3", "x"), ("4-5", ""), ("after 0", "top"), ("after 3", "y")]);
    assert_eq!(h.bytes("f.txt"), b"top\none\nand\n2\n3\nx\ny\n");
    let rev = rev(&h, "f.txt");
    let mixed = json!({ "path": "f.txt", "edits": [
        { "old_string": "one\nand\n", "new_string": "1\n" }, { "lines": "5", "rev": rev, "new_string": "three" }] });
    h.call("edit", mixed).ok();
    assert_eq!(h.bytes("f.txt"), b"top\n1\n2\nthree\nx\ny\n");
});

mcp_test!(lines_that_overlap_or_are_not_there_are_refused, |h| {
    h.write("f.txt", "1\n2\n3\n");
    h.write("g.txt", "other\n");
    let (rev, other) = (rev(&h, "f.txt"), rev(&h, "g.txt"));
    for (edits, said) in [
        (
            json!([{ "lines": "1-2", "rev": rev, "new_string": "x" }, { "lines": "2-3", "rev": rev, "new_string": "y" }]),
            "overlap",
        ),
        (
            json!([{ "lines": "1-3", "rev": rev, "new_string": "x" }, { "lines": "after 1", "rev": rev, "new_string": "y" }]),
            "overlap",
        ),
        (json!([{ "lines": "3-4", "rev": rev, "new_string": "x" }]), "has 3 lines at rev"),
        (json!([{ "lines": "1-999999999999999999999", "rev": rev, "new_string": "x" }]), "has 3 lines at rev"),
        (json!([{ "lines": "after 4", "rev": rev, "new_string": "x" }]), "has 3 lines at rev"),
        (json!([{ "lines": "-1", "rev": rev, "new_string": "x" }]), "`lines` is not valid"),
        (json!([{ "lines": "٣", "rev": rev, "new_string": "x" }]), "`lines` is not valid"),
        (json!([{ "lines": "1", "rev": "abc", "new_string": "x" }]), "`rev` is not a revision"),
        (json!([{ "lines": "after 1", "rev": rev, "new_string": "" }]), "nothing to insert"),
        (json!([{ "lines": "1", "rev": rev, "new_string": "x", "old_string": "1" }]), "both given"),
        (json!([{ "lines": "1", "rev": rev, "new_string": "x", "new_from": "g.txt" }]), "both given"),
        (
            json!([{ "old_string": "1\n2", "new_string": "x" }, { "lines": "2-3", "rev": rev, "new_string": "y" }]),
            "edits[0] of this call replaces a part of lines 2-3: join both",
        ),
    ] {
        let text = h.call("edit", json!({ "path": "f.txt", "edits": edits })).fails("invalid_input");
        assert!(text.contains(said), "{said}: {text}");
    }
    let foreign = json!({ "path": "f.txt", "edits": [{ "lines": "1", "rev": other, "new_string": "x" }] });
    assert!(h.call("edit", foreign).fails("stale").contains("read it again"));
    assert_eq!(h.bytes("f.txt"), b"1\n2\n3\n");
});

/// Edits lines of `path` by their numbers alone.
fn by_numbers(h: &Harness, path: &str, lines: &str) -> Answer {
    h.call("edit", json!({ "path": path, "edits": [{ "lines": lines, "new_string": "x\n" }] }))
}

mcp_test!(lines_need_no_rev_where_they_were_shown_at_the_present_one_alone, |h| {
    let numbered = |from: usize| (from..=40).fold(String::new(), |text, n| text + &format!("line {n}\n"));
    h.write("f.txt", numbered(1));
    assert!(by_numbers(&h, "f.txt", "3").fails("not_read").contains("has not been read"));
    h.call("read", json!({ "path": "f.txt", "limit": 10 })).ok();
    by_numbers(&h, "f.txt", "3").ok();
    // The diff has numbers of both revisions, and another one has others of the first ten lines.
    for lines in ["1", "3-5", "after 6", "9-12"] {
        assert!(by_numbers(&h, "f.txt", lines).fails("invalid_input").contains("`rev` is missing"), "{lines}");
    }
    let shown = h.call("grep", json!({ "pattern": "line 2[05]", "path": "f.txt" })).ok();
    let rev = rev(&h, "f.txt");
    assert!(shown.ends_with(&format!("\n(rev {rev})")), "{shown}");
    by_numbers(&h, "f.txt", "25").ok();
    assert!(String::from_utf8(h.bytes("f.txt")).unwrap().contains("line 24\nx\nline 26\n"));
    // What another program changed must be seen; lines that were never shown before are certain then.
    h.write("f.txt", numbered(3));
    by_numbers(&h, "f.txt", "30").fails("stale");
    h.call("read", json!({ "path": "f.txt", "start_line": 30, "end_line": 32 })).ok();
    assert!(by_numbers(&h, "f.txt", "30").fails("invalid_input").contains("`rev` is missing"));
});

mcp_test!(lines_of_a_new_file_need_no_rev_and_those_of_a_rewritten_one_do, |h| {
    h.call("write", json!({ "path": "f.txt", "content": "1\n2\n3\n" })).ok();
    by_numbers(&h, "f.txt", "2").ok();
    assert_eq!(h.bytes("f.txt"), b"1\nx\n3\n");
    h.call("write", json!({ "path": "f.txt", "content": "0\n1\n2\n3\n" })).ok();
    assert!(by_numbers(&h, "f.txt", "2").fails("invalid_input").contains("`rev` is missing"));
    // A dry run shows numbers of what may never be.
    h.write("g.txt", "1\n2\n3\n4\n5\n6\n7\n8\n9\n");
    h.call("read", json!({ "path": "g.txt" })).ok();
    h.call("edit", json!({ "path": "g.txt", "old_string": "2", "new_string": "a\nb", "dry_run": true })).ok();
    assert!(by_numbers(&h, "g.txt", "4").fails("invalid_input").contains("`rev` is missing"));
    by_numbers(&h, "g.txt", "8").ok();
});

mcp_test!(lines_moved_by_another_program_are_found_and_changed_ones_refused, |h| {
    h.write("f.txt", "alpha()\nbeta()\ngamma()\n");
    let old = rev(&h, "f.txt");
    let change = |new: &str| {
        let edits = json!([{ "lines": "2", "rev": old, "new_string": new }]);
        h.call("edit", json!({ "path": "f.txt", "edits": edits }))
    };
    h.write("f.txt", "new()\nalpha()\nbeta()\ngamma()\n");
    let text = change("two()").ok();
    assert!(text.contains(&format!("line 2 moved to 3 since rev {old}")), "{text}");
    assert_eq!(h.bytes("f.txt"), b"new()\nalpha()\ntwo()\ngamma()\n");
    h.write("f.txt", "alpha()\nBETA()\ngamma()\n");
    let text = change("two()").fails("stale");
    assert!(text.contains("line 2 of f.txt changed since rev") && text.contains("+BETA()"), "{text}");
    // What was shown counts as read.
    h.call("edit", json!({ "path": "f.txt", "old_string": "BETA", "new_string": "beta" })).ok();
});

mcp_test!(a_block_moves_to_another_place_byte_for_byte, |h| {
    h.write("a.txt", "one\ntwo\nthree\n");
    h.write("b.txt", b"\xe9t\xe9\r\nfin\r\n");
    let rev = rev(&h, "a.txt");
    let edits = json!([
        { "lines": "after 3", "rev": rev, "new_from": "a.txt:1-2" },
        { "lines": "1-2", "rev": rev, "new_string": "" },
        { "lines": "after 0", "rev": rev, "new_from": "b.txt:1" }]);
    let text = h.call("edit", json!({ "path": "a.txt", "edits": edits })).ok();
    assert_eq!(h.bytes("a.txt"), "été\r\nthree\none\ntwo\n".as_bytes());
    assert!(text.contains("line endings are mixed now: the copied text has CRLF, the file has LF"), "{text}");
    assert!(text.contains("copied a.txt:1-2 at rev "), "{text}");
});

mcp_test!(what_may_not_be_read_is_not_copied, |h| {
    h.write("a.txt", "one\n");
    h.write(".env", "KEY=hunter2\n");
    h.write("bin", b"\x7fELF\0\0");
    h.write("bad.txt", b"caf\xc3\xa9 \xff na\xc3\xafve d\xc3\xa9j\xc3\xa0\nplain\n");
    h.write_outside("secret.txt", "hunter2\n");
    let rev = rev(&h, "a.txt");
    let outside = h.outside("secret.txt").display().to_string();
    for (from, kind) in [
        (".env", "denied"),
        (outside.as_str(), "denied"),
        ("../outside/secret.txt", "denied"),
        ("bin", "binary"),
        ("bad.txt:1", "binary"),
        ("none.txt", "not_found"),
        ("a.txt:2-3", "invalid_input"),
        ("a.txt:1-99999999999999999999999", "invalid_input"),
        ("a.txt:0", "invalid_input"),
        ("a.txt:pages 1-2", "invalid_input"),
        (".", "invalid_input"),
    ] {
        let edits = json!([{ "lines": "1", "rev": rev, "new_from": from }]);
        let text = h.call("edit", json!({ "path": "a.txt", "edits": edits })).fails(kind);
        assert!(!text.contains("hunter2"), "{from}: {text}");
    }
    h.call("edit", json!({ "path": "a.txt", "edits": [{ "lines": "1", "rev": rev, "new_from": "bad.txt:2" }] })).ok();
    assert_eq!(h.bytes("a.txt"), b"plain\n");
});

mcp_test!(a_repeated_append_is_applied_once, |h| {
    let append = |content: &str, at: Value| {
        h.call("write", json!({ "path": "l.txt", "content": content, "mode": "append", "at": at }))
    };
    append("one\n", json!(0)).ok();
    assert!(append("one\n", json!("0")).ok().starts_with("Appended already, nothing was written"));
    let text = append("one\n", json!(4)).ok();
    let rev = text.rsplit_once("rev ").expect("a rev").1[..6].to_owned();
    assert_eq!(h.bytes("l.txt"), b"one\none\n");
    append("two\n", json!(rev)).ok();
    assert!(append("two\n", json!(rev)).ok().starts_with("Appended already"));
    let text = append("three\n", json!(4)).fails("stale");
    assert!(text.contains("has 12 bytes") && text.contains("at=12"), "{text}");
    append("x", json!("abc")).fails("invalid_input");
    h.call("write", json!({ "path": "l.txt", "content": "x", "at": 12 })).fails("invalid_input");
    h.call("write", json!({ "path": "new.txt", "content": "x", "mode": "append", "at": 5 })).fails("stale");
    assert_eq!(h.bytes("l.txt"), b"one\none\ntwo\n");
    h.write("crlf.txt", "a\r\n");
    h.call("read", json!({ "path": "crlf.txt" })).ok();
    let again = json!({ "path": "crlf.txt", "content": "b\nc\n", "mode": "append", "at": 3 });
    h.call("write", again.clone()).ok();
    assert!(h.call("write", again).ok().starts_with("Appended already"));
    assert_eq!(h.bytes("crlf.txt"), b"a\r\nb\r\nc\r\n");
});

#[test]
fn a_lost_file_can_be_undone_where_undo_is_offered() {
    let long = "a line of text\n".repeat(100);
    for (groups, back) in [(vec![], false), (vec![Group::Manage], true)] {
        let h = Setup { selection: Selection { groups, ..Selection::default() }, ..Setup::default() }.open();
        h.call("write", json!({ "path": "a.txt", "content": long })).ok();
        let text = h.call("write", json!({ "path": "a.txt", "content": "short\n" })).ok();
        assert!(text.contains("; most of the file is gone: it had 1500 bytes, 100 lines"), "{text}");
        assert_eq!(text.contains("; undo brings it back"), back, "{text}");
    }
}

mcp_test!(cut_calls_say_so_and_what_is_next, |h| {
    for (tool, arguments) in [
        ("write", json!({})),
        ("write", json!({ "path": "a.txt" })),
        ("edit", json!({})),
        ("edit", json!({ "path": "a.txt", "old_string": "x" })),
        ("edit", json!({ "path": "a.txt", "edits": [{ "old_string": "x" }] })),
        ("edit", json!({ "path": "a.txt", "edits": [{}] })),
        ("edit", json!({ "path": "a.txt", "edits": "[{\"old_string\": \"x\", \"new_str" })),
    ] {
        let text = h.call(tool, arguments.clone()).fails("invalid_input");
        assert!(text.contains("may have been cut") && text.contains("hint: "), "{arguments}: {text}");
    }
});

proptest! {
    #![proptest_config(ProptestConfig::with_cases(share(64)))]
    /// A replacement by lines is that of a vector of lines, whatever the line endings are.
    #[test]
    fn line_edits_are_those_of_a_vector_of_lines(
        lines in proptest::collection::vec(("[a-c]{0,2}", prop::sample::select(vec!["\n", "\r\n"])), 1..8),
        final_newline in any::<bool>(),
        new in proptest::collection::vec("[d-f]{1,2}", 0..4),
        new_ends in any::<bool>(),
        first in 0_usize..8,
        count in 0_usize..3,
    ) {
        let mut before: Vec<String> = lines.iter().map(|(text, end)| format!("{text}{end}")).collect();
        if !final_newline {
            before.last_mut().expect("a line").truncate(lines[lines.len() - 1].0.len());
        }
        before.retain(|line| !line.is_empty());
        let (first, total) = (first.min(before.len()), before.len());
        let last = (first + count).min(total);
        prop_assume!(first < last || !new.is_empty());
        let h = Harness::new();
        h.write("f.txt", before.concat());
        let place = if first == last { format!("after {first}") } else { format!("{}-{last}", first + 1) };
        let text = new.join("\n") + if new_ends && !new.is_empty() { "\n" } else { "" };
        edit(&h, "f.txt", &[(&place, &text)]);
        let content = |line: &str| line.trim_end_matches(['\r', '\n']).to_owned();
        let mut model: Vec<String> = before.iter().map(|line| content(line)).collect();
        model.splice(first..last, new.clone());
        let after = String::from_utf8(h.bytes("f.txt")).expect("text");
        let found: Vec<String> = after.split_inclusive('\n').map(content).collect();
        prop_assert_eq!(&found, &model);
        // The lines outside keep their bytes, those inside an ending of the file.
        let now: Vec<&str> = after.split_inclusive('\n').collect();
        let inserted_at_end = first == last && first == total;
        prop_assert_eq!(now[..first.min(now.len())].concat(), if inserted_at_end { now[..first].concat() } else { before[..first].concat() });
        prop_assert_eq!(now[now.len() - (total - last)..].concat(), before[last..].concat());
        if !before.concat().contains("\r\n") {
            prop_assert!(!after.contains('\r'));
        }
        if !before.concat().replace("\r\n", "").contains('\n') && before.concat().contains('\n') {
            prop_assert!(!after.replace("\r\n", "").contains('\n'));
        }
        if total > 0 && !(last == total && new.is_empty()) {
            prop_assert_eq!(after.ends_with('\n'), before[total - 1].ends_with('\n'));
        }
    }
}
