//! What `read` says of text files: the last line, ranges and revisions.

use serde_json::{Value, json};

use crate::harness::{Harness, Setup, mcp_test};

/// The answer to a read of `arguments`.
fn read(h: &Harness, arguments: Value) -> String {
    h.call("read", arguments).ok()
}

/// The last line of a read of the whole file.
fn footer(h: &Harness, bytes: &[u8]) -> String {
    h.write("f", bytes);
    read(h, json!({ "path": "f" })).lines().last().expect("a last line").to_owned()
}

mcp_test!(footer_names_what_is_not_plain, |h| {
    for (bytes, said) in [
        (&b"a\nb\n"[..], "(2 lines, rev "),
        (b"a\n", "(1 line, rev "),
        (b"a\nb", "(2 lines, no final newline, rev "),
        (b"a\r\nb\r\n", "(2 lines, CRLF, rev "),
        (b"a\r\nb\n", "(2 lines, mixed line endings, rev "),
        (b"a\rb\r", "(1 line, 2 lone CRs, no final newline, rev "),
        (b"a\r\nb\rc\r\n", "(2 lines, CRLF, 1 lone CR, rev "),
        (b"a\rb\n", "(1 line, 1 lone CR, rev "),
        (b"\xef\xbb\xbfa\n", "(1 line, BOM, rev "),
        (b"\xff\xfea\0\r\0\n\0", "(1 line, UTF-16LE, BOM, CRLF, rev "),
        (b"d\xe9j\xe0 vu, caf\xe9\r\nx", "(2 lines, windows-1252, CRLF, no final newline, rev "),
        ("größer größer größer\n".as_bytes(), "(1 line, rev "),
        (
            &["größer größer größer ".as_bytes(), b"\xff\n"].concat(),
            "(1 line, UTF-8 with invalid bytes shown as \u{fffd}, rev ",
        ),
        (b"", "(0 lines, rev e3b0c4)"),
        (b"\xef\xbb\xbf", "(0 lines, BOM, rev "),
    ] {
        let footer = footer(&h, bytes);
        assert!(footer.starts_with(said) && footer.ends_with(')'), "{footer} for {said}");
    }
    h.write("f", "");
    assert!(read(&h, json!({ "path": "f" })).starts_with("(empty file)\n"));
});

mcp_test!(continuation_is_named_in_the_terms_of_the_call_and_only_where_it_is_news, |h| {
    let text = (1..=5312).map(|n| format!("line {n}\n")).collect::<Vec<_>>().concat();
    h.write("f", &text);
    for (arguments, said) in [
        (json!({}), "(lines 1-2000 of 5312, rev {}; continue with offset=2000)"),
        (json!({ "offset": 100 }), "(lines 101-2100 of 5312, rev {}; continue with offset=2100)"),
        (json!({ "start_line": 101 }), "(lines 101-2100 of 5312, rev {}; continue with start_line=2101)"),
        (json!({ "start_line": 101, "end_line": 150 }), "(lines 101-150 of 5312, rev {})"),
        (json!({ "end_line": 50 }), "(lines 1-50 of 5312, rev {})"),
        (json!({ "offset": 100, "limit": 50 }), "(lines 101-150 of 5312, rev {})"),
        (json!({ "start_line": 5300 }), "(lines 5300-5312 of 5312, rev {})"),
        (json!({ "start_line": 5300, "end_line": 9000 }), "(lines 5300-5312 of 5312, rev {})"),
        (json!({ "offset": -3 }), "(lines 5310-5312 of 5312, rev {})"),
        (json!({ "offset": -3, "limit": 2 }), "(lines 5310-5311 of 5312, rev {})"),
        (json!({ "offset": 6000 }), "(offset 6000 is past the end: f has 5312 lines, rev {})"),
        (json!({ "start_line": 6000 }), "(line 6000 is past the end: f has 5312 lines, rev {})"),
    ] {
        let mut call = arguments.clone();
        call["path"] = "f".into();
        let answer = h.call("read", call);
        let rev = answer.facts()["revision"].as_str().expect("a revision")[..6].to_owned();
        assert_eq!(answer.ok().lines().last(), Some(said.replace("{}", &rev).as_str()), "{arguments}");
    }
    // Cut by the budget: the call asked for more than it got.
    h.write("f", text.repeat(20));
    let cut = read(&h, json!({ "path": "f", "start_line": 101, "end_line": 60_000 }));
    let (_, next) = cut.split_once("; continue with start_line=").expect("a continuation");
    let next: usize = next.trim_end_matches(')').parse().expect("a number");
    let go_on = read(&h, json!({ "path": "f", "start_line": next, "end_line": next }));
    assert!(go_on.starts_with(&format!("{next}\t")), "{go_on}");
});

mcp_test!(short_rev_of_the_footer_is_an_expected_revision, |h| {
    h.write("f", "one\ntwo\n");
    let shown = read(&h, json!({ "path": "f" }));
    let (_, rev) = shown.rsplit_once("rev ").expect("a rev");
    let rev = rev.trim_end_matches(')');
    let edit = |rev: &str| {
        let edit =
            json!({ "path": "f", "old_string": "one", "new_string": "1", "dry_run": true, "expected_revision": rev });
        h.call("edit", edit)
    };
    edit(rev).ok();
    edit(&rev[..5]).ok();
    edit(&rev.to_uppercase()).ok();
    edit(&rev[..4]).fails("invalid_input");
    let other = if rev.starts_with('0') { "1" } else { "0" };
    let wrong = format!("{other}{}", &rev[1..]);
    let error = edit(&wrong).fails("stale");
    assert!(error.contains(&wrong) && error.contains(rev), "{error}");
    h.call("write", json!({ "path": "f", "content": "x\n", "expected_revision": wrong })).fails("stale");
    let written = h.call("write", json!({ "path": "f", "content": "x\n", "expected_revision": rev })).ok();
    let now = read(&h, json!({ "path": "f" }));
    let (_, now) = now.rsplit_once("rev ").expect("a rev");
    assert!(written.contains(&format!("1 line, rev {}", now.trim_end_matches(')'))), "{written}");
});

mcp_test!(lines_pasted_with_the_gutter_of_read_and_grep_are_edited, |h| {
    h.write("f.py", "def one():\n    a = 1\n\n    return a\n");
    let shown = read(&h, json!({ "path": "f.py", "start_line": 2, "end_line": 4 }));
    let lines: Vec<&str> = shown.lines().filter(|line| !line.starts_with('(')).collect();
    let edit = |old: String, new: &str| {
        h.call("edit", json!({ "path": "f.py", "old_string": old, "new_string": new, "dry_run": true })).ok()
    };
    let edited = edit(lines.join("\n"), "    return 1");
    assert!(edited.contains("+    return 1") && edited.contains("line numbers taken off"), "{edited}");
    let padded: Vec<String> = lines.iter().map(|line| format!("     {line}")).collect();
    assert!(edit(padded.join("\n"), "    return 1").contains("+    return 1"));
    let edited = edit("2:    a = 1\n3-\n4-    return a".to_owned(), "    return 1");
    assert!(edited.contains("+    return 1"), "{edited}");
});

/// The rev in the last line of an answer.
fn rev(text: &str) -> String {
    let (_, rev) = text.rsplit_once("rev ").expect("a rev");
    rev.split([')', ';']).next().expect("its end").to_owned()
}

fn numbered(lines: usize) -> String {
    (1..=lines).map(|n| format!("line {n}\n")).collect::<Vec<_>>().concat()
}

mcp_test!(file_that_the_caller_has_is_not_sent_again, |h| {
    h.write("f", numbered(212));
    let first = rev(&read(&h, json!({ "path": "f" })));
    for arguments in [json!({}), json!({ "start_line": 3, "end_line": 9 }), json!({ "offset": 1000 })] {
        let mut call = arguments.clone();
        (call["path"], call["since"]) = ("f".into(), first.clone().into());
        let answer = h.call("read", call);
        assert_eq!(answer.facts()["since"], "unchanged");
        assert_eq!(answer.facts()["total_lines"], 212);
        assert_eq!(answer.ok(), format!("unchanged since {first} (212 lines)"));
    }
    // The caller says that it holds the content, so it may change it.
    let h = Harness::new();
    h.write("f", numbered(212));
    read(&h, json!({ "path": "f", "since": first }));
    h.call("edit", json!({ "path": "f", "old_string": "line 7\n", "new_string": "7\n" })).ok();
});

mcp_test!(changed_file_is_read_again_as_its_hunks, |h| {
    h.write("f", numbered(300));
    let first = rev(&read(&h, json!({ "path": "f" })));
    h.call("edit", json!({ "path": "f", "old_string": "line 10\n", "new_string": "ten\nand more\n" })).ok();
    let text = String::from_utf8(h.bytes("f")).expect("text");
    h.write("f", text.replace("line 200\n", ""));
    let answer = h.call("read", json!({ "path": "f", "since": first }));
    assert_eq!(answer.facts()["since"], "changed");
    let second = answer.facts()["revision"].as_str().expect("a revision")[..6].to_owned();
    let expected = format!(
        "changed since {first}:\n@@ -9,3 +9,4 @@\n line 9\n-line 10\n+ten\n+and more\n line 11\n\
         @@ -199,3 +200,2 @@\n line 199\n-line 200\n line 201\n(300 lines, rev {second})"
    );
    assert_eq!(answer.ok(), expected);
    // A range has its own hunks, or the numbers that its lines had.
    let range =
        |start: u64, end: u64| read(&h, json!({ "path": "f", "since": first, "start_line": start, "end_line": end }));
    let near = range(1, 20);
    assert!(near.contains("+ten\n") && !near.contains("line 200") && near.contains("(1 change outside these lines)"));
    let between = range(50, 60);
    assert!(between.starts_with(&format!("lines 50-60 unchanged since {first}, where they were lines 49-59\n")));
    assert!(range(250, 260).starts_with(&format!("lines 250-260 unchanged since {first}\n")));
    // Older states are known as well.
    assert_eq!(read(&h, json!({ "path": "f", "since": second })), format!("unchanged since {second} (300 lines)"));
    assert!(read(&h, json!({ "path": "f", "since": first })).contains("-line 10\n"));
});

mcp_test!(rev_that_is_not_known_gives_the_whole_file_and_says_so, |h| {
    h.write("f", "one\ntwo\n");
    let answer = h.call("read", json!({ "path": "f", "since": "0123456" }));
    assert_eq!(answer.facts()["since"], "unknown");
    let text = answer.ok();
    assert!(
        text.starts_with("1\tone\n2\ttwo\n(rev 0123456 is no longer known; nothing was compared)\n(2 lines"),
        "{text}"
    );
    h.call("read", json!({ "path": "f", "since": "v1" })).fails("invalid_input");
    h.call("read", json!({ "path": "f", "since": "0123" })).fails("invalid_input");
    assert!(read(&h, json!({ "path": "f", "since": "" })).starts_with("1\tone"));
    h.write("f", "one\r\ntwo\r\n");
    let crlf = rev(&read(&h, json!({ "path": "f" })));
    h.write("f", "one\ntwo\n");
    let text = read(&h, json!({ "path": "f", "since": crlf }));
    assert!(text.starts_with(&format!("only line endings or encoding changed since {crlf}\n(2 lines, rev ")), "{text}");
});

mcp_test!(hunks_beyond_the_answer_are_continued_exactly_once, |h| {
    let line = |n: usize, changed: bool| format!("{}{n} {}\n", if changed { "new " } else { "" }, "x".repeat(90));
    let text = |changed: bool| (1..=4000).map(|n| line(n, changed && n % 20 == 0)).collect::<Vec<_>>().concat();
    h.write("f", text(false));
    let first = rev(&read(&h, json!({ "path": "f" })));
    h.write("f", text(true));
    let mut call = json!({ "path": "f", "since": first });
    let mut added = Vec::new();
    for _ in 0..100 {
        let shown = read(&h, call.clone());
        added.extend(
            shown.lines().filter_map(|line| line.strip_prefix("+new ")?.split(' ').next()?.parse::<usize>().ok()),
        );
        let Some((_, next)) = shown.split_once("; continue with since=") else { break };
        let (since, start) = next.trim_end_matches(')').split_once(", start_line=").expect("both arguments");
        call = json!({ "path": "f", "since": since, "start_line": start });
    }
    assert_eq!(added, (1..=200).map(|n| n * 20).collect::<Vec<_>>());
});

#[test]
fn next_process_knows_what_the_one_before_it_replaced() {
    let h = Setup { state: true, ..Setup::default() }.open();
    h.write("f", numbered(100));
    let first = rev(&read(&h, json!({ "path": "f" })));
    h.restart();
    assert!(read(&h, json!({ "path": "f", "since": first })).starts_with("unchanged since "));
    h.call("edit", json!({ "path": "f", "old_string": "line 50\n", "new_string": "fifty\n" })).ok();
    h.restart();
    let changed = read(&h, json!({ "path": "f", "since": first }));
    assert!(changed.contains("-line 50\n+fifty\n") && changed.starts_with("changed since "), "{changed}");
}

mcp_test!(several_files_are_read_in_one_call, |h| {
    h.write("a.txt", "one\ntwo\n");
    h.write("b.txt", numbered(400));
    // On Windows, `c:1` is a stream of `c`.
    let literal = if cfg!(windows) { "c_1" } else { "c:1" };
    h.write(literal, "a literal name\n");
    h.write(".env", "SECRET=1\n");
    let paths = ["a.txt", "b.txt:120-121,300", "missing.txt", literal, ".env", "../outside", "a.txt", "b.txt:399-"];
    let answer = h.call("read", json!({ "paths": paths }));
    let facts = answer.facts();
    assert_eq!(
        (&facts["read"], &facts["failed"], &facts["total_returned_lines"]),
        (&json!(5), &json!(3), &json!(10)),
        "{facts:?}"
    );
    let kinds: Vec<_> = facts["files"].as_array().expect("files").iter().map(|file| file["error"].clone()).collect();
    assert_eq!((&kinds[2], &kinds[4]), (&json!("not_found"), &json!("denied")));
    let text = answer.ok();
    for part in [
        "==> a.txt <==\n1\tone\n2\ttwo\n(2 lines, rev ",
        "\n\n==> b.txt <==\n120\tline 120\n121\tline 121\n--\n300\tline 300\n(lines 120-121, 300-300 of 400, rev ",
        "\n\n==> missing.txt <==\nno such file or directory: missing.txt\n",
        &format!("\n\n==> {literal} <==\n1\ta literal name\n(1 line, rev "),
        "\n\n==> b.txt <==\n399\tline 399\n400\tline 400\n(lines 399-400 of 400, rev ",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(!text.contains("SECRET"), "{text}");
    // Each counts as seen.
    h.call("edit", json!({ "path": "a.txt", "old_string": "one", "new_string": "1" })).ok();
    // One text, and a list as text.
    assert!(read(&h, json!({ "paths": "a.txt" })).starts_with("==> a.txt <==\n1\t1\n"));
    assert!(read(&h, json!({ "paths": "[\"a.txt\", \"b.txt:7\"]" })).contains("\n7\tline 7\n"));
    let lines = read(&h, json!({ "path": "b.txt:120-121" }));
    assert!(lines.starts_with("120\tline 120\n121\tline 121\n(lines 120-121 of 400"), "{lines}");
});

mcp_test!(contradictions_with_paths_are_refused, |h| {
    h.write("a", "x\n");
    for arguments in [
        json!({ "path": "a", "paths": ["a"] }),
        json!({ "paths": [] }),
        json!({ "paths": vec!["a"; 51] }),
        json!({ "paths": ["a"], "offset": 1 }),
        json!({ "paths": ["a"], "limit": 1 }),
        json!({ "paths": ["a"], "start_line": 1 }),
        json!({ "paths": ["a"], "since": "abcdef" }),
        json!({ "paths": ["a"], "part": "def a" }),
        json!({ "paths": [{ "path": "a", "limit": 1, "part": "def a" }] }),
        json!({ "paths": ["a:5-2"] }),
        json!({ "path": "a:1", "start_line": 1 }),
        json!({ "path": "a:0" }),
        json!({}),
    ] {
        let error = h.call("read", arguments.clone()).fails("invalid_input");
        assert!(error.contains("hint: "), "{arguments}: {error}");
    }
    assert_eq!(read(&h, json!({ "paths": vec!["a"; 50] })).matches("==> a <==").count(), 50);
    let error = h.call("read", json!({ "paths": ["no", "none"] })).fails("not_found");
    assert!(error.contains("==> no <==\nno such file") && error.contains("==> none <=="), "{error}");
});

mcp_test!(files_share_the_answer_and_each_cut_is_continued, |h| {
    let line = |n: usize| format!("line {n} {}\n", "x".repeat(80));
    let long = (1..=1500).map(line).collect::<Vec<_>>().concat();
    for name in ["long1", "long2"] {
        h.write(name, &long);
    }
    h.write("small", numbered(100));
    let mut seen = [Vec::new(), Vec::new()];
    let mut paths = vec!["long1".to_owned(), "small".to_owned(), "long2".to_owned()];
    for round in 0..20 {
        let text = read(&h, json!({ "paths": paths }));
        assert!(text.len() <= 40_000, "{}", text.len());
        assert!(round > 0 || text.contains("(100 lines, rev "), "{text}");
        paths.clear();
        for section in text.split("==> ").filter(|section| section.starts_with("long")) {
            let of = usize::from(section.starts_with("long2"));
            seen[of].extend(section.lines().filter_map(|line| line.split_once('\t')?.0.parse::<usize>().ok()));
            if let Some((_, next)) = section.split_once("; continue with path=\"") {
                paths.push(next.split('"').next().expect("its end").to_owned());
            }
        }
        if paths.is_empty() {
            break;
        }
    }
    let all: Vec<usize> = (1..=1500).collect();
    assert_eq!(seen, [all.clone(), all]);
});

mcp_test!(end_of_one_long_line_is_reached, |h| {
    let text = format!("{{{}\"end\": true}}", "\"key\": [1, 2, 3], ".repeat(300_000));
    h.write("one.json", &text);
    let total = text.len();
    let shown = read(&h, json!({ "path": "one.json" }));
    let next = format!(
        "[line of {total} characters, cut after 2000; continue with part=\"columns 2001-4000\", start_line=1, end_line=1]"
    );
    assert!(shown.contains(&next), "{}", &shown[1900..]);
    let answer = h.call("read", json!({ "path": "one.json", "part": format!("columns {}-", total - 11) }));
    assert_eq!(answer.facts()["total_columns"], total);
    let end = answer.ok();
    assert!(end.starts_with(&format!("1\t\"end\": true}} [columns {}-{total} of {total}]\n", total - 11)), "{end}");
    let middle = read(&h, json!({ "path": "one.json", "part": "columns 2001-4000", "start_line": 1, "end_line": 1 }));
    assert!(middle.starts_with(&format!("1\t{}… [columns 2001-4000 of {total}; ", &text[2000..4000])), "{middle}");
    // More than fits into an answer is cut, and continued.
    let wide = read(&h, json!({ "path": "one.json", "part": "columns 1-1000000" }));
    assert!(wide.len() <= 40_000 && wide.contains("; continue with part=\"columns "), "{}", wide.len());
    let past = read(&h, json!({ "path": "one.json", "part": format!("columns {}-", total + 1) }));
    assert!(past.contains(&format!("no column {}: the longest of these lines has {total}", total + 1)), "{past}");
});

mcp_test!(directory_is_listed, |h| {
    h.write("d/a.txt", "x\n");
    let listed = read(&h, json!({ "path": "d" }));
    assert_eq!(listed, h.call("ls", json!({ "path": "d" })).ok());
    assert!(read(&h, json!({ "paths": ["d", "d/a.txt"] })).contains("==> d <==\n"));
    h.call("read", json!({ "path": "d", "start_line": 1 })).fails("invalid_input");
});

mcp_test!(cut_of_a_source_names_what_it_left_out, |h| {
    let text = (1..=1500).map(|n| format!("fn f{n}() {{\n    run({n});\n}}\n")).collect::<Vec<_>>().concat();
    h.write("a.rs", &text);
    for arguments in [json!({ "path": "a.rs" }), json!({ "path": "a.rs", "start_line": 10, "end_line": 4500 })] {
        let shown = read(&h, arguments);
        let (before, outline) = shown.split_once("\nnot shown: ").expect("an outline");
        assert!(before.lines().last().is_some_and(|footer| footer.contains("; continue with ")), "{before}");
        assert!(outline.lines().count() <= 5 && shown.len() <= 40_000, "{outline}");
        let last =
            before.lines().rev().find_map(|line| line.split_once('\t')?.0.parse::<usize>().ok()).expect("a line");
        let first = outline.split(' ').next().and_then(|line| line.parse::<usize>().ok()).expect("a line");
        assert!(first > last && first <= last + 3, "{first} {last}");
    }
    assert!(!read(&h, json!({ "path": "a.rs", "start_line": 1, "end_line": 9 })).contains("not shown"));
    h.write("a.txt", &text);
    assert!(!read(&h, json!({ "path": "a.txt" })).contains("not shown"));
});

mcp_test!(nuls_at_the_ends_of_a_log_are_not_shown_and_more_of_them_than_text_are_binary, |h| {
    let log = |lines: usize| (1..=lines).map(|n| format!("line {n}\n").into_bytes()).collect::<Vec<_>>().concat();
    let zeros = |count: usize| vec![0_u8; count];
    // Small, and larger than what is decoded whole.
    for lines in [20, 2_000, 400_000] {
        let text = log(lines);
        let (fewer, more) = (text.len() / 3, text.len() + 1);
        for (name, bytes) in
            [("tail.log", [&text[..], &zeros(fewer)].concat()), ("head.log", [&zeros(fewer)[..], &text].concat())]
        {
            h.write(name, &bytes);
            let last = h.call("read", json!({ "path": name, "offset": -1 })).ok();
            assert!(last.starts_with(&format!("{lines}\tline {lines}\n")), "{name} {lines}: {last:.300}");
            assert!(last.contains(&format!("of {lines}, {fewer} NULs not shown")), "{name} {lines}: {last:.300}");
            let first = h.call("read", json!({ "path": name, "limit": 2 })).ok();
            assert!(first.starts_with("1\tline 1\n2\tline 2\n("), "{name} {lines}: {first:.300}");
            let listed = h.call("ls", json!({ "path": name })).ok();
            assert!(listed.contains(&format!("{lines} lines, UTF-8, {fewer} NULs, LF")), "{listed}");
            for path in [name, "."] {
                let asked = json!({ "pattern": format!("^line {lines}$"), "path": path, "glob": "*.log" });
                let found = h.call("grep", asked).ok();
                let found = found.replace(": line", ":line");
                assert!(found.contains(&format!("{lines}:line {lines}")), "{name} {lines} {path}: {found:.300}");
            }
            if bytes.len() < 1 << 20 {
                let arguments = json!({ "path": name, "old_string": "line 2\n", "new_string": "line two\n" });
                h.call("edit", arguments).ok();
                let changed = String::from_utf8(bytes).unwrap().replacen("line 2\n", "line two\n", 1);
                assert_eq!(h.bytes(name), changed.as_bytes(), "{name}");
            }
            std::fs::remove_file(h.path(name)).unwrap();
        }
        for (name, bytes) in [
            ("tail.bin", [&text[..], &zeros(more)].concat()),
            ("head.bin", [&zeros(more)[..], &text].concat()),
            ("inner.bin", [&text[..], &zeros(more + 9), &text[..9]].concat()),
        ] {
            h.write(name, &bytes);
            let refused = h.call("read", json!({ "path": name }));
            assert_eq!(refused.error_kind(), Some("binary"), "{name} {lines}: {:.300}", refused.text());
            assert!(refused.text().contains(&format!("{} bytes", bytes.len())), "{:.300}", refused.text());
            assert_eq!(h.call("read", json!({ "path": name, "offset": -2 })).error_kind(), Some("binary"), "{name}");
            let listed = h.call("ls", json!({ "path": name })).ok();
            assert!(listed.contains("binary data"), "{listed}");
            // A page may be full before the NULs of a larger one.
            let found = h.call("grep", json!({ "pattern": "nothing", "path": name })).ok();
            assert!(found.contains("is binary"), "{name} {lines}: {found:.300}");
            std::fs::remove_file(h.path(name)).unwrap();
        }
    }
});

#[cfg(any(target_os = "linux", target_os = "macos"))]
mcp_test!(a_sparse_file_is_binary_without_its_holes_being_read, |h| {
    use std::os::unix::fs::FileExt as _;

    // More than can be read within any time limit.
    let size = 1_u64 << 40;
    for (name, at) in [("first.log", 0), ("middle.log", size / 2), ("last.log", size - 9)] {
        h.write(name, "");
        #[expect(clippy::disallowed_types, reason = "a hole is made by a length")]
        let file = std::fs::File::options().write(true).open(h.path(name)).unwrap();
        file.set_len(size).unwrap();
        file.write_all_at(b"one line\n", at).unwrap();
        for arguments in [json!({ "path": name }), json!({ "path": name, "offset": -1 })] {
            let refused = h.call("read", arguments);
            assert_eq!(refused.error_kind(), Some("binary"), "{name}: {:.300}", refused.text());
            assert!(refused.text().contains(&format!("binary data, {size} bytes")), "{:.300}", refused.text());
        }
        let listed = h.call("ls", json!({ "path": name })).ok();
        assert!(listed.contains("binary data"), "{listed}");
        let found = h.call("grep", json!({ "pattern": "line", "path": name })).ok();
        assert!(found.contains("is binary"), "{name}: {found:.300}");
    }
});
