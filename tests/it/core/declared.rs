//! Files that declare their encoding: what each tool shows of them and writes into them.

use serde_json::json;

use crate::harness::{Harness, Setup, mcp_test};
use file_tools::{Group, Selection};

/// A declaration, an encoding's name as an answer has it, and a text with the bytes that it is in that encoding.
const FORMS: &[(&str, &str, &str, &[u8])] = &[
    ("# -*- coding: iso-8859-15 -*-", "ISO-8859-15", "5 €", b"5 \xa4"),
    ("#!/bin/sh\n# coding=latin-1", "windows-1252", "é", b"\xe9"),
    ("# vim: set fileencoding=koi8-r :", "KOI8-R", "да", b"\xc4\xc1"),
    ("// -*- mode: c; coding: windows-1251 -*-", "windows-1251", "да", b"\xe4\xe0"),
    ("# coding: euc-jp", "EUC-JP", "日", b"\xc6\xfc"),
    ("# coding: sjis", "Shift_JIS", "日", b"\x93\xfa"),
    ("# coding: big5", "Big5", "日", b"\xa4\xe9"),
    ("# coding: gbk", "GBK", "日", b"\xc8\xd5"),
    ("# coding: euc-kr", "EUC-KR", "한", b"\xc7\xd1"),
    ("# coding: mac-roman", "macintosh", "é", b"\x8e"),
    ("# coding: cp1252", "windows-1252", "€", b"\x80"),
    ("<?xml version=\"1.0\" encoding=\"iso-8859-2\"?>", "ISO-8859-2", "ł", b"\xb3"),
    ("<html><meta charset='windows-1250'>", "windows-1250", "ł", b"\xb3"),
    ("<meta http-equiv=Content-Type content=\"text/html; charset=koi8-u\">", "KOI8-U", "є", b"\xa4"),
    ("@charset \"windows-1253\";", "windows-1253", "α", b"\xe1"),
    ("\\documentclass{x}\n\\usepackage[latin9]{inputenc}", "ISO-8859-15", "€", b"\xa4"),
];

fn file(declaration: &str, lines: &[&[u8]]) -> Vec<u8> {
    let mut bytes = declaration.as_bytes().to_vec();
    for line in lines {
        bytes.extend(b"\n");
        bytes.extend(*line);
    }
    bytes.extend(b"\n");
    bytes
}

fn with_patches() -> Harness {
    let groups = vec![Group::Manage, Group::Patch];
    Setup { selection: Selection { groups, ..Selection::default() }, state: true, ..Setup::default() }.open()
}

#[test]
fn short_file_is_shown_searched_and_changed_in_what_it_declares() {
    for (index, (declaration, name, text, bytes)) in FORMS.iter().enumerate() {
        let h = with_patches();
        h.write("a.txt", file(declaration, &[b"x = 1", bytes, b"end"]));
        let read = h.call("read", json!({ "path": "a.txt" })).ok();
        assert!(read.contains(&format!("\t{text}\n")) && read.contains(name), "{declaration}: {read}");
        let found = h.call("grep", json!({ "pattern": text, "path": "a.txt", "literal": true })).ok();
        assert!(found.contains(&format!(":{text}\n")), "{declaration}: {found}");
        let found = h.call("grep", json!({ "pattern": "x = 1", "context": 2 })).ok();
        assert!(found.contains(&format!("-{text}\n")), "{declaration}: {found}");
        h.call("edit", json!({ "path": "a.txt", "old_string": "x = 1", "new_string": text })).ok();
        assert_eq!(h.bytes("a.txt"), file(declaration, &[bytes, bytes, b"end"]), "{declaration}");
        h.call("write", json!({ "path": "a.txt", "mode": "append", "content": format!("{text}\n") })).ok();
        assert_eq!(h.bytes("a.txt"), file(declaration, &[bytes, bytes, b"end", bytes]), "{declaration}");
        let patch = format!("*** Begin Patch\n*** Update File: a.txt\n@@\n-end\n+{text}{index}\n*** End Patch\n");
        h.call("apply_patch", json!({ "patch": patch })).ok();
        let last = [bytes, index.to_string().as_bytes()].concat();
        assert_eq!(h.bytes("a.txt"), file(declaration, &[bytes, bytes, &last, bytes]), "{declaration}");
        let undone = h.call("undo", json!({ "dry_run": true })).ok();
        assert!(undone.contains(&format!("-{text}{index}\n")), "{declaration}: {undone}");
    }
}

#[test]
fn ascii_file_gets_what_it_declares() {
    for (declaration, name, text, bytes) in FORMS {
        let h = with_patches();
        h.write("a.txt", file(declaration, &[b"x"]));
        assert!(h.call("read", json!({ "path": "a.txt" })).ok().contains(name), "{declaration}");
        h.call("edit", json!({ "path": "a.txt", "old_string": "x\n", "new_string": format!("{text}\n") })).ok();
        assert_eq!(h.bytes("a.txt"), file(declaration, &[bytes]), "{declaration}");
        h.write("b.txt", file(declaration, &[]));
        h.call("read", json!({ "path": "b.txt" })).ok();
        h.call("write", json!({ "path": "b.txt", "mode": "append", "content": format!("{text}\n") })).ok();
        assert_eq!(h.bytes("b.txt"), file(declaration, &[bytes]), "{declaration}");
        h.write("c.txt", "one\n");
        h.call("read", json!({ "path": "c.txt" })).ok();
        let copies = json!({ "path": "c.txt", "edits": [{ "old_string": "one\n", "new_from": "b.txt" }] });
        h.call("edit", copies).ok();
        assert_eq!(h.bytes("c.txt"), file(declaration, &[bytes]), "the declaration came with the text: {declaration}");
        let content = format!("{declaration}\n{text}\n");
        h.call("write", json!({ "path": "new.txt", "content": content })).ok();
        h.call("edit", json!({ "path": "new2.txt", "old_string": "", "new_string": content })).ok();
        let added = content.trim_end().replace('\n', "\n+");
        let patch = format!("*** Begin Patch\n*** Add File: new3.txt\n+{added}\n*** End Patch\n");
        h.call("apply_patch", json!({ "patch": patch })).ok();
        for name in ["new.txt", "new2.txt", "new3.txt"] {
            assert_eq!(h.bytes(name), file(declaration, &[bytes]), "{name}: {declaration}");
        }
    }
}

mcp_test!(utf8_beyond_ascii_beats_what_is_declared, |h| {
    for declared in ["latin-1", "koi8-r", "iso-8859-15"] {
        h.write("a.py", format!("# coding: {declared}\né\n"));
        assert!(h.call("read", json!({ "path": "a.py" })).ok().contains("\té\n"), "{declared}");
    }
    // As EUC-KR they are two characters each; from three characters on nobody means that.
    h.write("a.py", "# coding: gbk\néééé\n");
    assert!(h.call("read", json!({ "path": "a.py" })).ok().contains("\téééé\n"));
    h.write("a.py", "# coding: gbk\néé\n");
    let read = h.call("read", json!({ "path": "a.py" })).ok();
    assert!(read.contains("GBK"), "{read}");
    let found = h.call("grep", json!({ "pattern": "coding|茅" })).ok();
    assert!(found.contains("2 matches"), "{found}");
});

mcp_test!(what_does_not_fit_is_found_by_detection, |h| {
    for (declared, bytes, shown) in [
        ("utf-8", &b"d\xe9j\xe0 vu, caf\xe9 cr\xe8me"[..], "déjà vu"),
        ("euc-jp", b"d\xe9j\xe0 vu, caf\xe9 cr\xe8me", "déjà vu"),
        ("klingon", b"d\xe9j\xe0 vu, caf\xe9 cr\xe8me", "déjà vu"),
        ("utf-16", b"plain", "plain"),
        ("utf-32", b"plain", "plain"),
    ] {
        h.write("a.py", file(&format!("# coding: {declared}"), &[bytes]));
        let read = h.call("read", json!({ "path": "a.py" })).ok();
        assert!(read.contains(shown), "{declared}: {read}");
    }
    // A byte that windows-1252 leaves unassigned is no character.
    h.write("a.py", b"# coding: cp1252\n\x81\x8d\n");
    assert!(!h.call("read", json!({ "path": "a.py" })).ok().contains("windows-1252"));
});

#[test]
fn character_that_the_declared_set_lacks_is_refused() {
    let h = with_patches();
    for (declared, name, character) in [
        ("iso-8859-1", "ISO-8859-1", '€'),
        ("latin1", "ISO-8859-1", '“'),
        ("us-ascii", "US-ASCII", 'é'),
        ("iso-8859-9", "ISO-8859-9", '€'),
        ("koi8-r", "KOI8-R", 'é'),
        ("sjis", "Shift_JIS", '한'),
    ] {
        let (head, code) = (format!("# coding: {declared}\nx\n"), format!("U+{:04X}", u32::from(character)));
        h.write("a.py", &head);
        h.call("read", json!({ "path": "a.py" })).ok();
        let edit = json!({ "path": "a.py", "old_string": "x\n", "new_string": format!("{character}\n") });
        let append = json!({ "path": "a.py", "mode": "append", "content": format!("y\n{character}\n") });
        let whole = json!({ "path": "a.py", "content": format!("{head}{character}\n") });
        let new = json!({ "path": "b.py", "content": format!("{head}{character}\n") });
        let patch = format!("*** Begin Patch\n*** Update File: a.py\n@@\n-x\n+{character}\n*** End Patch\n");
        for (tool, arguments) in [
            ("edit", edit),
            ("write", append),
            ("write", whole),
            ("write", new),
            ("apply_patch", json!({ "patch": patch })),
        ] {
            let text = h.call(tool, arguments.clone()).fails("invalid_input");
            assert!(text.contains(&code) && text.contains(name), "{declared} {arguments}: {text}");
        }
        assert_eq!(h.bytes("a.py"), head.as_bytes(), "{declared}");
        assert!(!h.exists("b.py"));
    }
    // What is there already stays, and may be repeated; the declaration may change with the text.
    h.write("w.py", b"# coding: latin-1\n\x93caf\xe9\x94\n");
    h.call("read", json!({ "path": "w.py" })).ok();
    h.call("edit", json!({ "path": "w.py", "old_string": "“café”", "new_string": "“cafe”" })).ok();
    assert_eq!(h.bytes("w.py"), b"# coding: latin-1\n\x93cafe\x94\n");
    h.write("d.py", "# coding: latin-1\nx\n");
    h.call("read", json!({ "path": "d.py" })).ok();
    let edits =
        json!([{ "old_string": "latin-1", "new_string": "utf-8" }, { "old_string": "x\n", "new_string": "€\n" }]);
    h.call("edit", json!({ "path": "d.py", "edits": edits })).ok();
    assert_eq!(h.bytes("d.py"), "# coding: utf-8\n€\n".as_bytes());
}

mcp_test!(overwritten_file_is_in_what_it_declares_now, |h| {
    h.write("a.py", b"# coding: latin-1\ncaf\xe9\n");
    h.call("read", json!({ "path": "a.py" })).ok();
    let text = h.call("write", json!({ "path": "a.py", "content": "# coding: utf-8\ncafé\n" })).ok();
    assert!(text.contains("it was windows-1252"), "{text}");
    assert_eq!(h.bytes("a.py"), "# coding: utf-8\ncafé\n".as_bytes());
    let text = h.call("write", json!({ "path": "a.py", "content": "# coding: koi8-r\nда\n" })).ok();
    assert!(text.contains("encoding KOI8-R; it was UTF-8"), "{text}");
    assert_eq!(h.bytes("a.py"), b"# coding: koi8-r\n\xc4\xc1\n");
    // The call says otherwise.
    h.call("write", json!({ "path": "a.py", "content": "# coding: koi8-r\né\n", "encoding": "utf-8" })).ok();
    assert_eq!(h.bytes("a.py"), "# coding: koi8-r\né\n".as_bytes());
});
