//! `write` with `encoding`: the bytes of new, replaced and appended files, and what reads and edits make of them.

use proptest::prelude::*;
use serde_json::json;

use crate::harness::{Harness, mcp_test};

const LABELS: &[(&str, &str)] = &[
    ("utf-8", "UTF-8"),
    ("utf-8-sig", "UTF-8"),
    ("utf-16", "UTF-16LE"),
    ("utf-16le", "UTF-16LE"),
    ("utf-16be", "UTF-16BE"),
    ("latin-1", "windows-1252"),
    ("windows-1251", "windows-1251"),
    ("iso-8859-15", "ISO-8859-15"),
    ("koi8-r", "KOI8-R"),
    ("ibm866", "IBM866"),
    ("macintosh", "macintosh"),
    ("shift_jis", "Shift_JIS"),
    ("euc-jp", "EUC-JP"),
    ("iso-2022-jp", "ISO-2022-JP"),
    ("gbk", "GBK"),
    ("gb18030", "gb18030"),
    ("big5", "Big5"),
    ("euc-kr", "EUC-KR"),
];

mcp_test!(new_file_has_the_bytes_of_its_encoding, |h| {
    for (label, content, bytes) in [
        ("windows-1252", "caf\u{e9}\n", &b"caf\xe9\n"[..]),
        ("utf-8-sig", "a\n", b"\xef\xbb\xbfa\n"),
        ("utf-8", "\u{e9}", b"\xc3\xa9"),
        ("utf-16", "a\n", b"\xff\xfea\0\n\0"),
        ("UTF-16BE", "\u{1f600}", b"\xfe\xff\xd8\x3d\xde\x00"),
        ("utf-16le", "", b"\xff\xfe"),
        ("shift_jis", "\u{65e5}\r\n", b"\x93\xfa\r\n"),
        ("cp1251", "plain\n", b"plain\n"),
    ] {
        let path = format!("{label}.txt");
        let answer = h.call("write", json!({ "path": path, "content": content, "encoding": label }));
        answer.ok();
        assert_eq!(h.bytes(&path), bytes, "{label}");
        assert_eq!(answer.facts()["bytes"], bytes.len(), "{label}");
    }
    let answer = h.call("write", json!({ "path": "u", "content": "a\nb\n", "encoding": "utf-16" }));
    assert!(answer.ok().starts_with("Created: 10 bytes, 2 lines, rev "), "{}", answer.text());
    assert!(answer.text().ends_with("; encoding UTF-16LE with BOM"), "{}", answer.text());
    let text = h.call("write", json!({ "path": "j", "content": "日本", "encoding": "iso-2022-jp" })).ok();
    assert!(text.ends_with("; its bytes do not show that: read it with encoding=iso-2022-jp"), "{text}");
});

mcp_test!(unknown_label_is_refused_with_the_nearest, |h| {
    for tool in ["write", "read"] {
        let mut arguments = json!({ "path": "a", "encoding": "shift_jsi" });
        if tool == "write" {
            arguments["content"] = "x".into();
        }
        let text = h.call(tool, arguments).fails("invalid_input");
        assert!(text.starts_with("unknown encoding \"shift_jsi\"\n\nhint: did you mean shift_jis? "), "{text}");
    }
    let long = h.call("write", json!({ "path": "a", "content": "x", "encoding": "é".repeat(1 << 20) }));
    assert!(long.fails("invalid_input").len() < 400, "{}", long.text());
    let charset = h.call("write", json!({ "path": "a", "content": "x", "charset": "latin1" })).fails("invalid_input");
    assert!(charset.contains("encoding"), "{charset}");
    assert!(!h.exists("a"));
});

mcp_test!(append_that_would_be_read_as_another_encoding_is_refused, |h| {
    let text = "# -*- coding: windows-1251 -*-\n";
    h.write("a.py", text);
    let append = |content: &str| h.call("write", json!({ "path": "a.py", "mode": "append", "content": content }));
    // C6 88 is valid UTF-8, which beats a declaration.
    assert!(append("Ж€\n").fails("invalid_input").contains("windows-1251"));
    assert_eq!(h.bytes("a.py"), text.as_bytes());
    append("Жук\n").ok();
    assert_eq!(h.bytes("a.py"), [text.as_bytes(), b"\xc6\xf3\xea\n"].concat());
});

mcp_test!(first_character_that_does_not_fit_is_named_with_its_place, |h| {
    let call = |mode: &str, content: &str, label: &str| {
        let arguments = json!({ "path": "a", "content": content, "encoding": label, "mode": mode });
        h.call("write", arguments).fails("invalid_input")
    };
    let text = call("create", "ok\nfür → ☃\n", "latin1");
    assert!(
        text.starts_with("`content` has '→' (U+2192) at line 2, column 5, which windows-1252 cannot represent\n"),
        "{text}"
    );
    assert!(call("overwrite", "\u{feff}x", "windows-1251").contains("(U+FEFF) at line 1, column 1"));
    assert!(call("overwrite", "100¥", "shift_jis").contains("'¥' (U+00A5) at line 1, column 4"));
    for label in ["replacement", "hz-gb-2312"] {
        call("overwrite", "x", label);
    }
    call("overwrite", "\u{1b}[0m", "iso-2022-jp");
    assert!(!h.exists("a"));
});

mcp_test!(append_never_mixes_encodings, |h| {
    let append = |path: &str, content: &str, label: &str| {
        h.call("read", json!({ "path": path }));
        h.call("write", json!({ "path": path, "content": content, "mode": "append", "encoding": label }))
    };
    let utf16: Vec<u8> = [0xff, 0xfe, b'a', 0, b'\n', 0].to_vec();
    let latin =
        b"Un caf\xe9 cr\xe8me, s'il vous pla\xeet, d\xe9j\xe0 vu \xe0 l'\xe9cole, et les fa\xe7ades o\xf9 na\xeetre\n";
    for (path, before, label, is) in [
        ("utf8", "é\n".as_bytes(), "latin1", "UTF-8"),
        ("utf8", "é\n".as_bytes(), "utf-16", "UTF-8"),
        ("mark", b"\xef\xbb\xbfa\n", "latin1", "UTF-8"),
        ("utf16", &utf16, "utf-8", "UTF-16LE"),
        ("utf16", &utf16, "utf-16be", "UTF-16LE"),
        ("latin", latin, "utf-8", "windows-1252"),
        ("latin", latin, "shift_jis", "windows-1252"),
        ("plain", b"a\n", "utf-16", "UTF-8"),
    ] {
        h.write(path, before);
        let text = append(path, "b\n", label).fails("invalid_input");
        assert!(text.starts_with(&format!("{path} is in {is}; appending text in ")), "{text}");
        assert_eq!(h.bytes(path), before);
    }
    for (path, before, content, label, after) in [
        ("new", None, "é\n", "latin1", &b"\xe9\n"[..]),
        ("new", None, "é\n", "latin1", b"\xe9\n\xe9\n"),
        ("empty", Some(&b""[..]), "a", "utf-16", b"\xff\xfea\0"),
        ("empty", None, "b", "utf-16", b"\xff\xfea\0b\0"),
        ("ascii", Some(b"a\n"), "é\n", "latin1", b"a\n\xe9\n"),
        ("cyrillic", Some(b"\xe4\xe0\n"), "нет\n", "cp1251", b"\xe4\xe0\n\xed\xe5\xf2\n"),
        ("marked", Some(b"\xef\xbb\xbfa\n"), "é\n", "utf-8", b"\xef\xbb\xbfa\n\xc3\xa9\n"),
    ] {
        if let Some(before) = before {
            h.write(path, before);
        }
        append(path, content, label).ok();
        assert_eq!(h.bytes(path), after, "{path}");
    }
});

mcp_test!(replacement_is_in_the_encoding_asked_for, |h| {
    h.write("a.txt", "é\r\nè\r\n");
    h.call("read", json!({ "path": "a.txt" })).ok();
    let write = |content: &str, label: Option<&str>| {
        let mut arguments = json!({ "path": "a.txt", "content": content });
        if let Some(label) = label {
            arguments["encoding"] = label.into();
        }
        h.call("write", arguments).ok()
    };
    let text = write("é\nà\n", Some("windows-1252"));
    assert_eq!(h.bytes("a.txt"), b"\xe9\r\n\xe0\r\n");
    assert!(text.contains("it was UTF-8; CRLF line endings kept") && text.contains("\n+à"), "{text}");
    write("é\n", Some("utf-8-sig"));
    assert_eq!(h.bytes("a.txt"), b"\xef\xbb\xbf\xc3\xa9\r\n");
    write("è\n", Some("utf-8"));
    assert_eq!(h.bytes("a.txt"), b"\xef\xbb\xbf\xc3\xa8\r\n", "its own encoding keeps its mark");
    write("è\n", Some("utf-16be"));
    assert_eq!(h.bytes("a.txt"), b"\xfe\xff\x00\xe8\x00\r\x00\n");
    write("à\n", None);
    assert_eq!(h.bytes("a.txt"), b"\xfe\xff\x00\xe0\x00\r\x00\n");
    h.call("edit", json!({ "path": "a.txt", "old_string": "à", "new_string": "日本" })).ok();
    assert_eq!(h.bytes("a.txt"), b"\xfe\xff\x65\xe5\x67\x2c\x00\r\x00\n");
    h.call("write", json!({ "path": "a.txt", "content": "x", "encoding": "utf-8", "mode": "create" }))
        .fails("invalid_input");
});

mcp_test!(notebook_is_utf8, |h| {
    let write = |label: &str| h.call("write", json!({ "path": "n.ipynb", "content": "{}", "encoding": label }));
    for label in ["utf-16", "latin1", "utf-8-sig"] {
        assert!(write(label).fails("invalid_input").starts_with("n.ipynb is a notebook, which is always UTF-8"));
    }
    write("utf8").ok();
});

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn written_text_reads_back_in_every_encoding(
        which in 0..LABELS.len(),
        content in "[a-z éà日本даŁ€한中\t]{0,12}(\n[a-zéя語☃]{0,8}){0,3}",
        tail in "[a-zéд日]{0,6}",
    ) {
        let h = Harness::new();
        let (label, name) = LABELS[which];
        let answer = h.call("write", json!({ "path": "f", "content": content, "encoding": label }));
        if answer.error_kind().is_some() {
            prop_assert!(!name.starts_with("UTF"), "{}", answer.text());
            prop_assert!(answer.fails("invalid_input").contains("cannot represent"));
            prop_assert!(!h.exists("f"));
            return Ok(());
        }
        prop_assert_eq!(&answer.facts()["encoding"], name);
        let read = |expected: &str| {
            let shown = h.call("read", json!({ "path": "f", "encoding": label })).ok();
            let lines: Vec<&str> = shown.lines().filter_map(|line| Some(line.split_once('\t')?.1)).collect();
            let expected: Vec<&str> = expected.split_terminator('\n').collect();
            assert_eq!(lines, expected, "{label} {shown}");
        };
        read(&content);
        let more = h.call("write", json!({ "path": "f", "content": tail, "mode": "append", "encoding": label }));
        if more.error_kind().is_none() {
            read(&format!("{content}{tail}"));
        }
    }
}
