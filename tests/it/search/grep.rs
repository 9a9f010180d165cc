//! grep: lines by content, as a client sees them.

use confined_fs::Access;
use file_tools::Settings;
use serde_json::json;

use crate::harness::{Harness, Setup, mcp_test, share};

fn numbered(lines: usize) -> String {
    (1..=lines).map(|line| format!("hit {line}")).collect::<Vec<_>>().join("\n")
}

fn with_settings(change: impl FnOnce(&mut Settings)) -> Harness {
    let mut setup = Setup::default();
    change(&mut setup.settings);
    setup.open()
}

mcp_test!(matches_are_path_line_text_in_path_order, |h| {
    h.write("backend/tools.py", "x = 1\n\n    \"tool_groups\"\n");
    h.write("backend/config.py", "TOOL_GROUPS = []\nother\ndef load(tool_groups):\n");
    h.write("frontend/a.ts", "tool_groups\n");
    assert_eq!(
        h.call("grep", json!({"pattern": "tool_groups", "path": "backend"})).ok(),
        "Found 3 matches in 2 files under backend\n\
         backend/config.py:1: TOOL_GROUPS = []\n\
         backend/config.py:3: def load(tool_groups):\n\
         backend/tools.py:3:     \"tool_groups\""
    );
});

mcp_test!(one_match_is_in_the_singular, |h| {
    h.write("a.txt", "one\n");
    assert_eq!(h.call("grep", json!({"pattern": "one"})).ok(), "Found 1 match in 1 file under .\na.txt:1: one");
});

mcp_test!(case_matters_only_on_request, |h| {
    h.write("a.txt", "Todo\n");
    assert!(h.call("grep", json!({"pattern": "todo"})).ok().contains("a.txt:1: Todo"));
    assert_eq!(h.call("grep", json!({"pattern": "todo", "case_sensitive": true})).ok(), "No matches found");
    assert!(h.call("grep", json!({"pattern": "todo", "-i": true, "-n": true})).ok().contains("a.txt:1: Todo"));
});

mcp_test!(context_lines_have_dashes_and_groups_are_separated, |h| {
    h.write("a.txt", "1\n2 hit\n3\n4\n5\n6\n7 hit\n8\n");
    h.write("b.txt", "hit\n");
    assert_eq!(
        h.call("grep", json!({"pattern": "hit", "context": 1})).ok(),
        "Found 3 matches in 2 files under .\n\
         ==> a.txt <==\n1-1\n2:2 hit\n3-3\n--\n6-6\n7:7 hit\n8-8\n==> b.txt <==\n1:hit"
    );
});

mcp_test!(lines_of_one_file_are_below_its_path_and_keep_their_indentation, |h| {
    h.write("src/a.rs", "fn a() {\n\tlet hit = 1;\n}\n\n    hit\n");
    assert_eq!(
        h.call("grep", json!({"pattern": "hit", "path": "src/a.rs"})).ok(),
        "Found 2 matches in 1 file\n==> src/a.rs <==\n2:\tlet hit = 1;\n5:    hit\n\n(rev b7d0de)"
    );
    assert_eq!(
        h.call("grep", json!({"pattern": "hit", "path": "src/a.rs", "after": 1})).ok(),
        "Found 2 matches in 1 file\n==> src/a.rs <==\n2:\tlet hit = 1;\n3-}\n--\n5:    hit\n\n(rev b7d0de)"
    );
});

mcp_test!(numbers_over_their_maximum_are_said_where_they_matter, |h| {
    h.write("a.txt", numbered(700));
    let answer = h.call("grep", json!({"pattern": "hit 300$", "context": 75, "before": 10})).ok();
    let lines: Vec<_> = answer.lines().collect();
    assert_eq!(lines[1], "(context=75 is over the maximum of 50)");
    assert_eq!((lines[3], *lines.last().unwrap()), ("290-hit 290", "350-hit 350"));
    let answer = h.call("grep", json!({"pattern": "hit", "max_results": 600, "-A": 51, "output_mode": "count"})).ok();
    assert_eq!(answer, "Found 700 matches in 1 file under .\na.txt:700");
    let answer = h.call("grep", json!({"pattern": "hit", "max_results": 600, "after": -1}));
    assert_eq!(answer.error_kind(), Some("invalid_input"));
    let answer = h.call("grep", json!({"pattern": "hit", "max_results": 600})).ok();
    assert_eq!(answer.lines().nth(1), Some("(max_results=600 is over the maximum of 500)"));
    let all = h.call("grep", json!({"pattern": "hit 1", "max_results": 600})).ok();
    assert!(!all.contains("maximum"), "{all}");
});

#[test]
fn context_that_does_not_fit_is_cut_and_said() {
    let h = with_settings(|settings| settings.max_output = Some(4096));
    let lines: Vec<_> = (1..=99).map(|line| format!("{line} {}\n", "x".repeat(190))).collect();
    h.write("a.txt", lines.concat());
    let answer = h.call("grep", json!({"pattern": "^50 ", "context": 40})).ok();
    assert!(answer.len() <= 4096, "{} bytes", answer.len());
    assert!(answer.contains("(context cut to before=5, after=5 of 40, 40: no match fits with more)"), "{answer}");
    assert!(answer.contains("\n50:50 x") && answer.contains("\n45-45 x") && answer.contains("\n55-55 x"), "{answer}");
    // Where a match fits with its context, as many as do are shown.
    let answer = h.call("grep", json!({"pattern": "^[0-9]*0 ", "context": 3}));
    assert_eq!((answer.facts()["shown"].clone(), answer.facts()["next_offset"].clone()), (json!(2), json!(2)));
    assert!(answer.ok().ends_with(&format!("23-23 {}", "x".repeat(190))), "{}", answer.text());
}

mcp_test!(overlapping_contexts_are_merged, |h| {
    h.write("a.txt", "1\n2 hit\n3\n4 hit\n5\n");
    assert_eq!(
        h.call("grep", json!({"pattern": "hit", "-C": 2})).ok(),
        "Found 2 matches in 1 file under .\n==> a.txt <==\n1-1\n2:2 hit\n3-3\n4:4 hit\n5-5"
    );
    assert!(h.call("grep", json!({"pattern": "hit", "-A": 1})).ok().contains("\n3-3\n4:4 hit"));
});

mcp_test!(a_cut_result_says_so_first_and_pages_join_without_a_gap, |h| {
    for file in 0..10 {
        h.write(&format!("f{file}.txt"), numbered(25));
    }
    let first = h.call("grep", json!({"pattern": "hit"}));
    assert_eq!(
        first.ok().lines().next().unwrap(),
        "Found more than 100 matches, showing first 100. Narrow the path or add a glob filter, or continue with \
         offset=100."
    );
    assert_eq!((first.facts()["next_offset"].clone(), first.facts()["truncated"].clone()), (json!(100), json!(true)));
    let mut lines = Vec::new();
    for offset in [0, 100, 200] {
        let page = h.call("grep", json!({"pattern": "hit", "offset": offset})).ok();
        lines.extend(page.lines().skip(1).map(str::to_owned));
    }
    let expected: Vec<String> =
        (0..10).flat_map(|file| (1..=25).map(move |line| format!("f{file}.txt:{line}: hit {line}"))).collect();
    assert_eq!(lines, expected);
    let last = h.call("grep", json!({"pattern": "hit", "offset": 200}));
    assert_eq!(last.ok().lines().next().unwrap(), "Found 250 matches in 10 files under ., showing 201-250");
    assert!(!last.facts().contains_key("next_offset"));
    assert!(h.call("grep", json!({"pattern": "hit", "offset": 300})).ok().ends_with("offset=300 is past the last"));
});

#[test]
fn a_later_page_is_the_same_from_one_thread_and_from_several() {
    let [one, several] = [1, 4].map(|threads| with_settings(|settings| settings.search_threads = Some(threads)));
    for h in [&one, &several] {
        for file in 0..share(400) {
            let lines = (0..file % 9).map(|line| if line % 2 == 0 { "hit\n" } else { "other\n" });
            h.write(&format!("d{}/f{file:03}.txt", file % 3), lines.collect::<String>());
        }
    }
    let mut shown = 0;
    for offset in [1, 2, 7, 100, 500, 701, 5000] {
        for context in [0, 2] {
            for most in [1, 10, 500] {
                let asked = json!({"pattern": "hit", "offset": offset, "context": context, "max_results": most});
                let [a, b] = [&one, &several].map(|h| h.call("grep", asked.clone()));
                assert_eq!(a.ok(), b.ok(), "{asked}");
                assert_eq!(a.facts()["shown"], b.facts()["shown"]);
                shown += a.ok().matches(":hit").count() + a.ok().matches(": hit").count();
            }
        }
    }
    assert!(shown > 100, "{shown}");
}

mcp_test!(a_page_with_context_shows_the_context_of_its_own_matches, |h| {
    let text: String =
        (1..=30).map(|line| if line % 3 == 0 { format!("hit {line}\n") } else { format!("{line}\n") }).collect();
    h.write("a.txt", text);
    let page = h.call("grep", json!({"pattern": "hit", "before": 1, "after": 2, "max_results": 2, "offset": 3})).ok();
    assert_eq!(
        page.lines().skip(1).collect::<Vec<_>>(),
        ["==> a.txt <==", "11-11", "12:hit 12", "13-13", "14-14", "15:hit 15", "16-16", "17-17"]
    );
});

mcp_test!(the_answer_does_not_depend_on_threads, |h| {
    for file in 0..400 {
        h.write(&format!("d{}/f{file}.txt", file % 7), format!("{}hit {file}\n", "x\n".repeat(file * 3)));
    }
    let once = h.call("grep", json!({"pattern": "hit", "max_results": 150})).ok();
    for _ in 0..10 {
        assert_eq!(h.call("grep", json!({"pattern": "hit", "max_results": 150})).ok(), once);
    }
    let alone = with_settings(|settings| settings.search_threads = Some(1));
    for file in 0..400 {
        alone.write(&format!("d{}/f{file}.txt", file % 7), format!("{}hit {file}\n", "x\n".repeat(file * 3)));
    }
    assert_eq!(alone.call("grep", json!({"pattern": "hit", "max_results": 150})).ok(), once);
});

mcp_test!(files_and_counts_are_output_modes, |h| {
    h.write("a.txt", "hit hit\nhit\n");
    h.write("b.txt", "hit\n");
    h.write("c.txt", "none\n");
    assert_eq!(
        h.call("grep", json!({"pattern": "hit", "output_mode": "files_with_matches"})).ok(),
        "Found 2 files under .\na.txt\nb.txt"
    );
    assert_eq!(
        h.call("grep", json!({"pattern": "hit", "outputMode": "count"})).ok(),
        "Found 3 matches in 2 files under . (4 occurrences)\na.txt:2\nb.txt:1"
    );
    let capped = h.call("grep", json!({"pattern": "hit", "output_mode": "count", "head_limit": 1}));
    assert!(capped.ok().starts_with("Found more than 1 file, showing first 1. Narrow the path"), "{}", capped.text());
});

mcp_test!(files_without_a_match_are_those_that_were_searched, |h| {
    for (name, content) in [("a.txt", "hit\n"), ("b.txt", "none\n"), ("empty.txt", ""), ("sub/c.txt", "no\n")] {
        h.write(name, content);
    }
    h.write("late.bin", [b"text\n".repeat(40_000), b"\0end\n".to_vec()].concat());
    h.write(".env", "none\n");
    h.write(".gitignore", "*.log\n");
    h.write("x.log", "none\n");
    let asked = json!({"pattern": "hit", "output_mode": "files_without_match"});
    let answer = h.call("grep", asked.clone());
    assert_eq!(
        answer.ok(),
        "Found 4 files without a match under .\n.gitignore\nb.txt\nempty.txt\nsub/c.txt\n\n\
         1 more in ignored files; pass no_ignore\nskipped: .env (protected), late.bin (binary)"
    );
    assert_eq!((answer.facts()["files"].clone(), answer.facts()["searched_files"].clone()), (json!(4), json!(5)));
    let mut page = asked.clone();
    (page["max_results"], page["offset"]) = (json!(2), json!(1));
    let page = h.call("grep", page).ok();
    assert!(page.starts_with("Found more than 3 files without a match, showing 2-3. Narrow"), "{page}");
    assert!(page.contains("\nb.txt\nempty.txt"), "{page}");
    let one = h.call("grep", json!({"pattern": "hit", "output_mode": "files_without_match", "path": "a.txt"})).ok();
    assert_eq!(one, "No files without a match");
});

mcp_test!(
    #[expect(clippy::disallowed_types, reason = "tests age real files")]
    the_newest_files_come_first_on_request,
    |h| {
        for (age, name) in [(30, "old.txt"), (10, "new.txt"), (20, "mid.txt")] {
            h.write(name, "hit\n");
            let file = std::fs::File::options().write(true).open(h.path(name)).unwrap();
            file.set_modified(std::time::SystemTime::now() - std::time::Duration::from_secs(age)).unwrap();
        }
        let arguments =
            json!({"pattern": "hit", "output_mode": "files_with_matches", "sort": "modified", "max_results": 2});
        assert_eq!(
            h.call("grep", arguments).ok(),
            "Found 3 files under ., showing first 2. Narrow the path or add a glob filter, or continue with offset=2.\n\
         new.txt\nmid.txt"
        );
        assert!(h.call("grep", json!({"pattern": "hit", "sort": "modified"})).text().contains("files_with_matches"));
        for (mode, pattern) in [("files_without_match", "miss"), ("count", "hit")] {
            let asked = json!({"pattern": pattern, "output_mode": mode, "sort": "modified"});
            let names = h.call("grep", asked).ok().lines().skip(1).map(|line| line[..3].to_owned()).collect::<Vec<_>>();
            assert_eq!(names, ["new", "mid", "old"], "{mode}");
        }
    }
);

mcp_test!(a_long_line_is_cut_around_its_match, |h| {
    h.write("a.json", format!("{}needle{}\n", "a".repeat(5000), "b".repeat(5000)));
    let answer = h.call("grep", json!({"pattern": "needle"})).ok();
    let line = answer.lines().nth(1).unwrap().strip_prefix("a.json:1: ").unwrap();
    assert_eq!(line.chars().count(), 200);
    assert!(line.starts_with('…') && line.ends_with('…') && line.contains("needle"), "{line}");
    assert!(answer.ends_with("\n\n(more of line 1 of a.json: read part=\"columns 4801-6800\")"), "{answer}");
});

mcp_test!(a_line_of_megabytes_is_searched_and_binary_as_read_decides, |h| {
    let line = "a".repeat(3 << 20);
    h.write("one.json", format!("{line}needle"));
    h.write(
        "utf16.txt",
        [b"\xff\xfe".to_vec(), format!("{line}needle").encode_utf16().flat_map(u16::to_le_bytes).collect()].concat(),
    );
    h.write("late.log", format!("{line}\0needle"));
    h.write("binary.bin", format!("{}\0{line}needle", "a".repeat(1 << 20)));
    let answer = h.call("grep", json!({"pattern": "needle$", "output_mode": "count"})).ok();
    assert_eq!(
        answer,
        "Found 3 matches in 3 files under .\nlate.log:1\none.json:1\nutf16.txt:1\n\nskipped: binary.bin (binary)"
    );
    let named = h.call("grep", json!({"pattern": "needle", "path": "binary.bin"})).text();
    assert!(named.contains("binary"), "{named}");
    assert_eq!(h.call("read", json!({"path": "binary.bin"})).error_kind(), Some("binary"));
    assert_eq!(h.call("read", json!({"path": "late.log"})).error_kind(), None);
});

mcp_test!(a_page_of_multiline_matches_has_each_line_of_context_once, |h| {
    h.write("a.txt", "hit 0\nplain\nhit 1\nhit 2\nplain\nhit 3\n");
    let page = |offset: usize| {
        let call =
            json!({"pattern": "hit", "multiline": true, "before": 6, "after": 2, "max_results": 1, "offset": offset});
        h.call("grep", call).ok()
    };
    let lines = |text: &str| text.lines().filter(|line| line.contains(['-', ':'])).collect::<Vec<_>>().join(" ");
    for (offset, expected) in [
        (0, "1:hit 0 2-plain 3-hit 1"),
        (1, "1-hit 0 2-plain 3:hit 1 4-hit 2 5-plain"),
        (2, "1-hit 0 2-plain 3-hit 1 4:hit 2 5-plain 6-hit 3"),
        (3, "1-hit 0 2-plain 3-hit 1 4-hit 2 5-plain 6:hit 3"),
    ] {
        let text = page(offset);
        let shown = lines(text.split_once("==>").expect("a heading").1);
        assert_eq!(shown, expected, "{offset}: {text}");
    }
});

mcp_test!(a_multiline_match_shows_each_of_its_lines_and_counts_once, |h| {
    h.write("a.rs", "fn one(\n    a: u8,\n) {}\nfn two() {}\n");
    assert_eq!(
        h.call("grep", json!({"pattern": "one\\(.*?\\)", "multiline": true})).ok(),
        "Found 1 match in 1 file under .\na.rs:1: fn one(\na.rs:2:     a: u8,\na.rs:3: ) {}"
    );
    let error = h.call("grep", json!({"pattern": "one\\(\\n"})).text();
    assert!(error.contains("multiline=true"), "{error}");
});

mcp_test!(skipped_files_are_counted_by_reason, |h| {
    h.write("a.txt", "hit\n");
    h.write("binary.dat", b"hit\0hit\n");
    h.write(".env", "hit=1\n");
    h.write("huge.log", vec![b'h'; (16 << 20) + 1]);
    let answer = h.call("grep", json!({"pattern": "hit"}));
    assert_eq!(
        answer.ok(),
        "Found 1 match in 1 file under .\na.txt:1: hit\n\n\
         skipped: .env (protected), binary.dat (binary), huge.log (over 16 MiB)"
    );
    assert_eq!(answer.facts()["skipped_paths"][0], json!({"path": ".env", "reason": "protected"}));
    assert_eq!(answer.facts()["skipped"], json!({"binary": 1, "too_large": 1, "protected": 1, "unreadable": 0}));
    assert_eq!(answer.facts()["searched_files"], json!(1));
    assert!(h.call("grep", json!({"pattern": "hit", "path": ".env"})).error_kind() == Some("denied"));
    h.write("other.pem", "hit\n");
    let answer = h.call("grep", json!({"pattern": "hit"}));
    assert!(answer.ok().ends_with("\n(skipped 1 over 16 MiB, 2 protected files)"), "{}", answer.text());
    assert_eq!(answer.facts()["skipped"]["binary"], json!(1));
    // Where nothing is found it may be in those, and a glob may mean them.
    for arguments in [json!({"pattern": "nowhere"}), json!({"pattern": "hit", "glob": "*"})] {
        let answer = h.call("grep", arguments);
        assert!(answer.ok().ends_with("\n(skipped 1 binary, 1 over 16 MiB, 2 protected files)"), "{}", answer.text());
    }
    assert!(!answer.facts().contains_key("skipped_paths"));
});

mcp_test!(a_large_file_is_searched_when_it_is_named, |h| {
    let mut huge = vec![b'\n'; 17 << 20];
    huge.extend(b"needle\n");
    h.write("huge.log", huge);
    let answer = h.call("grep", json!({"pattern": "needle", "path": "huge.log"})).ok();
    assert_eq!(answer, "Found 1 match in 1 file\n==> huge.log <==\n17825793:needle\n\n(rev 6110d2)");
});

mcp_test!(matches_in_ignored_files_are_counted_and_found_on_request, |h| {
    h.write(".gitignore", "*.log\n");
    h.write("a.log", "hit\nhit\n");
    h.write("node_modules/x/index.js", "hit\n");
    assert_eq!(
        h.call("grep", json!({"pattern": "hit"})).ok(),
        "No matches found\n3 more in ignored files; pass no_ignore"
    );
    h.write("a.txt", "hit\n");
    assert!(h.call("grep", json!({"pattern": "hit"})).ok().ends_with("\n\n3 more in ignored files; pass no_ignore"));
    let all = h.call("grep", json!({"pattern": "hit", "no_ignore": true})).ok();
    assert!(all.starts_with("Found 4 matches in 3 files under .\na.log:1: hit"), "{all}");
    assert!(h.call("grep", json!({"pattern": "hit", "path": "a.log"})).ok().starts_with("Found 2 matches"));
});

mcp_test!(globs_and_types_narrow_the_search, |h| {
    for name in ["a.ts", "a.test.ts", "b.js", "c.py", "vendor/d.ts"] {
        h.write(name, "hit\n");
    }
    let files = |arguments: serde_json::Value| {
        let mut arguments = arguments;
        arguments["pattern"] = json!("hit");
        arguments["output_mode"] = json!("files_with_matches");
        h.call("grep", arguments).ok().lines().skip(1).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(files(json!({"glob": "*.ts,!*.test.ts"})), ["a.ts", "vendor/d.ts"]);
    assert_eq!(files(json!({"include": "*.{ts,js}", "path": "."})), ["a.test.ts", "a.ts", "b.js", "vendor/d.ts"]);
    assert_eq!(files(json!({"glob": "!vendor", "type": "ts"})), ["a.test.ts", "a.ts"]);
    assert_eq!(files(json!({"type": "py"})), ["c.py"]);
    let error = h.call("grep", json!({"pattern": "hit", "type": "typescrpt"}));
    assert_eq!(error.error_kind(), Some("invalid_input"));
    assert!(error.text().contains("unknown file type \"typescrpt\""), "{}", error.text());
});

mcp_test!(an_invalid_regex_shows_the_place, |h| {
    let error = h.call("grep", json!({"pattern": "foo(bar"}));
    assert_eq!(error.error_kind(), Some("invalid_input"));
    assert_eq!(
        error.text(),
        "invalid regex at character 4: unclosed group\nfoo(bar\n   ^\n\n\
         hint: literal=true searches it as text; in a regex, escape it with a backslash"
    );
    h.write("a.txt", "foo(bar\n");
    assert!(h.call("grep", json!({"pattern": "foo(bar", "literal": true})).ok().contains("a.txt:1"));
});

mcp_test!(a_missing_path_suggests_and_an_outside_path_is_denied, |h| {
    h.write("backend/a.py", "hit\n");
    assert!(h.call("grep", json!({"pattern": "hit", "path": "Backend"})).text().contains("backend"));
    assert_eq!(h.call("grep", json!({"pattern": "hit", "path": "../x"})).error_kind(), Some("denied"));
});

mcp_test!(invalid_utf8_and_utf16_are_searched, |h| {
    h.write("latin1.txt", b"caf\xe9 hit\n");
    let utf16: Vec<u8> = "\u{feff}zwei hit\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    h.write("utf16.txt", utf16);
    h.write("bom.txt", "\u{feff}hit\r\n");
    assert_eq!(
        h.call("grep", json!({"pattern": "hit"})).ok(),
        "Found 3 matches in 3 files under .\nbom.txt:1: hit\nlatin1.txt:1: café hit\nutf16.txt:1: zwei hit\n\n\
         (bom.txt: BOM, CRLF; latin1.txt: windows-1252; utf16.txt: UTF-16LE, BOM)"
    );
});

mcp_test!(a_shown_hit_counts_as_read, |h| {
    h.write("a.txt", "old text\n");
    let edit = json!({"path": "a.txt", "old_string": "old", "new_string": "new"});
    assert_eq!(h.call("edit", edit.clone()).error_kind(), Some("not_read"));
    h.call("grep", json!({"pattern": "nothing like it"})).ok();
    h.call("grep", json!({"pattern": "old", "output_mode": "count"})).ok();
    assert_eq!(h.call("edit", edit.clone()).error_kind(), Some("not_read"));
    h.call("grep", json!({"pattern": "text"})).ok();
    h.call("edit", edit).ok();
    assert_eq!(h.bytes("a.txt"), b"new text\n");
});

mcp_test!(a_hit_in_a_streamed_file_counts_as_read, |h| {
    let mut text = "filler\n".repeat(200_000);
    text.push_str("old\n");
    h.write("a.txt", &text);
    h.call("grep", json!({"pattern": "^old$"})).ok();
    h.call("edit", json!({"path": "a.txt", "old_string": "old", "new_string": "new"})).ok();
});

#[test]
fn text_over_the_budget_is_cut_at_a_whole_match() {
    let h = with_settings(|settings| settings.max_output = Some(4096));
    h.write("a.txt", format!("{}\n", "hit ".repeat(40)).repeat(60));
    let answer = h.call("grep", json!({"pattern": "hit"}));
    let text = answer.ok();
    let shown = text.lines().count() - 1;
    assert!(text.len() <= 4096 && shown > 5, "{} bytes, {shown} lines", text.len());
    assert!(
        text.starts_with(&format!(
            "Found 60 matches in 1 file under . (2400 occurrences), showing first {shown}. Narrow"
        )),
        "{text}"
    );
    assert_eq!(answer.facts()["next_offset"], json!(shown));
    let next = h.call("grep", json!({"pattern": "hit", "offset": shown})).ok();
    assert!(next.lines().nth(1).unwrap().starts_with(&format!("a.txt:{}: ", shown + 1)), "{next}");
}

#[test]
fn several_roots_are_searched_in_their_order() {
    let setup = Setup {
        roots: vec![(Some("zeta"), "one", Access::ReadWrite), (Some("alpha"), "two", Access::ReadOnly)],
        ..Setup::default()
    };
    let h = setup.open();
    h.write("a.txt", "hit\n");
    h.write_outside("two/b.txt", "hit\n");
    assert_eq!(
        h.call("grep", json!({"pattern": "hit"})).ok(),
        "Found 2 matches in 2 files\nzeta/a.txt:1: hit\nalpha/b.txt:1: hit"
    );
    assert_eq!(
        h.call("grep", json!({"pattern": "hit", "path": "alpha"})).ok(),
        "Found 1 match in 1 file under alpha\nalpha/b.txt:1: hit"
    );
}

#[test]
fn a_root_inside_another_is_searched_once() {
    let setup = Setup {
        roots: vec![(Some("outer"), "o", Access::ReadWrite), (Some("inner"), "o/deep/in", Access::ReadOnly)],
        ..Setup::default()
    };
    let h = setup.open();
    for path in ["o/a.txt", "o/deep/b.txt", "o/deep/in/c.txt", "o/deep/in/d/e.txt", "o/deep/inside.txt"] {
        h.write_outside(path, "hit\n");
    }
    let own = "outer/a.txt:1: hit\nouter/deep/b.txt:1: hit\nouter/deep/inside.txt:1: hit";
    assert_eq!(
        h.call("grep", json!({"pattern": "hit"})).ok(),
        format!("Found 5 matches in 5 files\n{own}\ninner/c.txt:1: hit\ninner/d/e.txt:1: hit")
    );
    // A path that is named is reported completely.
    let below = h.call("grep", json!({"pattern": "hit", "path": "outer", "output_mode": "files_with_matches"})).ok();
    assert!(below.starts_with("Found 5 files") && below.contains("outer/deep/in/d/e.txt"), "{below}");
    assert_eq!(
        h.call("glob", json!({"pattern": "*.txt", "sort": "path"})).ok(),
        "Found 5 paths\n1. outer/a.txt\n2. outer/deep/b.txt\n3. outer/deep/inside.txt\n4. inner/c.txt\n5. inner/d/e.txt"
    );
    let below = h.call("glob", json!({"pattern": "**/*.txt", "path": "outer"})).ok();
    assert!(below.starts_with("Found 5 paths under outer"), "{below}");
    let listed = h.call("ls", json!({"path": "outer", "depth": 3})).ok();
    assert!(listed.contains("in/"), "{listed}");
}

#[test]
fn structured_output_agrees_with_the_text() {
    let h = with_settings(|settings| settings.structured_output = true);
    h.write("a.txt", "one\nhit\nthree\n");
    let answer = h.call("grep", json!({"pattern": "hit", "context": 1}));
    let data = answer.structured();
    assert_eq!(data["results"][0]["path"], "a.txt");
    assert_eq!(data["results"][0]["lines"][1], json!({"line": 2, "text": "hit", "context": false}));
    assert_eq!((data["matches"].clone(), data["complete"].clone()), (json!(1), json!(true)));
}

mcp_test!(text_that_is_there_is_said_where_a_pattern_finds_nothing, |h| {
    h.write(
        "a.js",
        "foo(bar)\nlet x = arr[0];\nstatus?.message\ncost \"$5\"\nthe end$ of it\n$VAR\nalpha\nbeta\nif (a || b) {\nfoo(bar)\n",
    );
    h.write("b.txt", "nothing\n");
    let with = |pattern: &str, more: serde_json::Value| {
        let mut arguments = json!({ "pattern": pattern });
        arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        h.call("grep", arguments).ok()
    };
    let one = "No matches found\n1 line has this as plain text: literal=true";
    for pattern in ["arr[0]", "status?.message", "\"$5\"", "end$", "$VAR"] {
        assert_eq!(with(pattern, json!({})), one, "{pattern}");
        for mode in ["files_with_matches", "count"] {
            assert_eq!(with(pattern, json!({ "output_mode": mode })), one, "{pattern} {mode}");
        }
        assert_eq!(with(pattern, json!({ "multiline": true, "glob": "*.js", "context": 2 })), one, "{pattern}");
        assert_eq!(with(pattern, json!({ "path": "a.js" })), one, "{pattern}");
        assert_eq!(with(pattern, json!({ "glob": "*.txt" })), "No matches found", "{pattern}");
        assert!(with(pattern, json!({ "literal": true })).contains("Found 1 match"), "{pattern}");
    }
    assert_eq!(with("foo(bar)", json!({})), "No matches found\n2 lines have this as plain text: literal=true");
    assert_eq!(with("FOO(BAR)", json!({ "case_sensitive": true })), "No matches found");
    let alternatives = "No matches found\n| needs no backslash: 2 lines match alpha|beta";
    assert_eq!(with(r"alpha\|beta", json!({})), alternatives);
    assert_eq!(with(r"gamma\|delta", json!({})), "No matches found\n| needs no backslash: 0 lines match gamma|delta");
    assert_eq!(
        with(r"\(alpha\|beta\)", json!({ "output_mode": "files_with_matches" })),
        "No matches found\n( | ) need no backslash: 2 lines match (alpha|beta)"
    );
    assert_eq!(
        with("al.*ha", json!({ "literal": true })),
        "No matches found\n1 line matches this as a regular expression: literal=false"
    );
    for pattern in ["a || b", "x*"] {
        for mode in ["content", "files_with_matches", "count", "files_without_match"] {
            let text = with(pattern, json!({ "output_mode": mode }));
            let note =
                "the pattern matches the empty text, so it is in every line; literal=true searches for it as it is";
            assert!(text.ends_with(note), "{pattern} {mode}: {text}");
        }
    }
    for pattern in ["^", "$", ".*", "nowhere", "no.where"] {
        let text = with(pattern, json!({}));
        assert!(!text.contains("plain text") && !text.contains("empty text"), "{pattern}: {text}");
    }
});

#[cfg(unix)]
mcp_test!(links_out_of_the_root_are_not_followed, |h| {
    h.write_outside("secret.txt", "hit\n");
    h.symlink(h.outside("secret.txt"), "link.txt");
    h.symlink(h.outside("."), "folder");
    assert_eq!(h.call("grep", json!({"pattern": "hit"})).ok(), "No matches found");
    assert_eq!(h.call("grep", json!({"pattern": "hit", "path": "link.txt"})).error_kind(), Some("denied"));
});

mcp_test!(files_in_other_encodings_are_decoded_for_a_non_ascii_pattern, |h| {
    h.write("large.txt", [b"caf\xe9\n".as_slice(), &b"0123456789abcdef\n".repeat(100_000)].concat());
    h.write("larger.txt", [b"caf\xe9\n".as_slice(), &b"0123456789abcdef\n".repeat(200_000), b"th\xe9\n"].concat());
    h.write("latin.txt", b"un caf\xe9 au lait\n");
    h.write("plain.txt", "un café noir\n");
    h.write("sjis.txt", b"\x93\xfa\x96\x7b\x8c\xea\x82\xcc\x95\xb6\x8f\xcd\x82\xc5\x82\xb7\x81\x42\n");
    let grep = |pattern: &str| h.call("grep", json!({ "pattern": pattern })).ok();
    assert_eq!(
        grep("CAFÉ"),
        "Found 4 matches in 4 files under .\nlarge.txt:1: café\nlarger.txt:1: café\nlatin.txt:1: un café au lait\nplain.txt:1: un café noir\n\n\
         (large.txt: windows-1252; larger.txt: windows-1252; latin.txt: windows-1252)"
    );
    assert_eq!(
        grep("th\\xe9|\\u65e5本"),
        "Found 2 matches in 2 files under .\nlarger.txt:200002: thé\nsjis.txt:1: 日本語の文章です。\n\n\
         (larger.txt: windows-1252; sjis.txt: Shift_JIS)"
    );
    let sjis = "Found 1 match in 1 file under .\nsjis.txt:1: 日本語の文章です。\n\n(sjis.txt: Shift_JIS)";
    assert_eq!(grep("\\p{Hiragana}+"), sjis);
    // Found as bytes, and shown with its context as `read` shows it.
    let latin = "Found 1 match in 1 file under .\nlatin.txt:1: un café au lait\n\n(latin.txt: windows-1252)";
    for pattern in ["au lait", "caf. au", "f\\w+ au", "^[^x]+ lait$", "caf[^\\x00-\\x7f] a"] {
        assert_eq!(grep(pattern), latin, "{pattern}");
    }
    let around = h.call("grep", json!({ "pattern": "^0", "path": "larger.txt", "before": 1, "max_results": 1 })).ok();
    assert!(around.contains("==> larger.txt <==\n1-café\n2:0123"), "{around}");
    let count = h.call("grep", json!({ "pattern": "café", "output_mode": "count" })).ok();
    assert!(count.contains("larger.txt: 1") || count.contains("larger.txt:1"), "{count}");
    assert!(!h.call("grep", json!({ "pattern": "nowhereé" })).facts().contains_key("not_utf8"));
});

/// A word of each encoding in lines of its language, so that the encoding is recognised.
const ENCODED: [(&str, &str, &str); 8] = [
    ("windows-1252", "Der Käse ist groß, schön und größer als über Nacht gelüftete Würste.", "Käse"),
    ("windows-1251", "Это обычный русский текст, в котором есть слово сыр и другие слова.", "сыр"),
    ("Shift_JIS", "日本語の文章です。チーズと表示、ソース、能力のことを書いています。", "チーズ"),
    ("EUC-JP", "日本語の文章です。チーズと表示、ソース、能力のことを書いています。", "チーズ"),
    ("GBK", "这是一个普通的中文句子，里面有奶酪这个词，还有其他的内容。", "奶酪"),
    ("Big5", "這是一個普通的中文句子，裡面有乳酪這個詞，還有其他的內容。", "乳酪"),
    ("EUC-KR", "이것은 치즈라는 단어가 들어 있는 보통의 한국어 문장입니다.", "치즈"),
    ("UTF-16LE", "Der Käse ist groß und schön.", "Käse"),
];

mcp_test!(every_encoding_is_searched_and_shown_as_read_shows_it, |h| {
    for (label, line, _) in ENCODED {
        let text = format!("first line\r\n{line}\r\nlast [line] | end\r\n");
        let bytes = if label == "UTF-16LE" {
            text.encode_utf16().flat_map(u16::to_le_bytes).collect()
        } else {
            encoding_rs::Encoding::for_label(label.as_bytes()).unwrap().encode(&text).0.into_owned()
        };
        h.write(&format!("{label}.txt"), bytes);
    }
    for (label, line, word) in ENCODED {
        let name = format!("{label}.txt");
        let expected = format!("==> {name} <==\n2:{line}\n\n({name}: {label}, CRLF)");
        // By its own characters, by a class that takes them, and by all of the line.
        let dotted: String = word.chars().map(|_| '.').collect();
        for pattern in [word.to_owned(), line.replace(word, &dotted), "^\\w.*\\W\r".to_owned()] {
            let answer = h.call("grep", json!({"pattern": pattern, "path": name, "case_sensitive": true})).ok();
            assert!(answer.contains(&expected), "{label} {pattern}: {answer}");
        }
        let read = h.call("read", json!({"path": name})).ok();
        assert!(read.contains(&format!("2\t{line}\n")) && read.contains(label), "{read}");
        let count = h.call("grep", json!({"pattern": "[\\[|]", "path": name, "output_mode": "count"})).ok();
        assert!(count.ends_with(&format!("{name}:1")), "the second bytes of characters are no ASCII: {count}");
    }
});

mcp_test!(damaged_utf8_loses_no_line, |h| {
    h.write(
        "damaged.log",
        b"caf\xc3\xa9 \xc3\xa9\xc3\xa9\xc3\xa9 one\nd\xc3\xa9j\xc3\xa0 \xff two\nplain \xe2\x82 three\n",
    );
    let answer = h.call("grep", json!({"pattern": "^.+$"})).ok();
    for line in ["1: café ééé one", "2: déjà \u{fffd} two", "3: plain \u{fffd} three"] {
        assert!(answer.contains(&format!("damaged.log:{line}")), "{answer}");
    }
    assert!(answer.ends_with("(damaged.log: UTF-8 with invalid bytes shown as \u{fffd})"), "{answer}");
    let answer = h.call("grep", json!({"pattern": "[^a-z ]+ three", "output_mode": "files_without_match"})).ok();
    assert_eq!(answer, "No files without a match");
});

mcp_test!(more_than_three_files_that_are_not_plain_are_counted, |h| {
    for number in 1..=5 {
        h.write(&format!("{number}.txt"), "hit\r\n");
    }
    h.write("6.txt", "hit\n");
    let answer = h.call("grep", json!({"pattern": "hit"})).ok();
    let note = "\n\n(1.txt: CRLF; 2.txt: CRLF; 3.txt: CRLF; 2 more files are not UTF-8 with LF)";
    assert!(answer.ends_with(note), "{answer}");
    let names = h.call("grep", json!({"pattern": "hit", "output_mode": "files_with_matches"})).ok();
    assert!(!names.contains("CRLF"), "{names}");
});

mcp_test!(files_of_unknown_encoding_are_reported_for_a_non_ascii_pattern, |h| {
    h.write("damaged.txt", "déjà vu été noël \u{1}".bytes().chain([0xFF, b'\n']).collect::<Vec<_>>());
    let answer = h.call("grep", json!({ "pattern": "à la carte" }));
    assert!(answer.ok().contains("(1 file without a match is not UTF-8"), "{}", answer.text());
    assert_eq!(answer.facts()["not_utf8"], json!(1));
    // No note where it makes no difference.
    let answer = h.call("grep", json!({ "pattern": "nowhere" }));
    assert_eq!(answer.ok(), "No matches found");
    assert!(!answer.facts().contains_key("not_utf8"));
});

mcp_test!(a_long_line_in_another_encoding_is_cut_around_its_match, |h| {
    let words = b"d\xe9j\xe0 vu ".repeat(400);
    let line = [&words[..], b"needle ", &words, b"\n"].concat();
    h.write("long.txt", [b"un caf\xe9 fran\xe7ais, tr\xe8s fort\n".repeat(20), line].concat());
    let text = h.call("grep", json!({ "pattern": "needle" })).ok();
    let line = text.lines().nth(1).unwrap();
    assert!(line.contains("déjà vu needle déjà vu") && line.contains(": …") && line.ends_with('…'), "{text}");
    assert_eq!(line.chars().count(), "long.txt:21: ".len() + 200);
    // 400 times eight characters are before the match.
    assert!(text.contains("part=\"columns 3001-5000\")") && text.contains("(long.txt: windows-1252)"), "{text}");
});

/// Text of 5 lines in UTF-16 without a BOM, of about this size.
fn utf16(size: usize, unit: fn(u16) -> [u8; 2]) -> Vec<u8> {
    let filler = "filler line\n".repeat(size / 24);
    let text = format!("first café\nthe needle, naïve\nthird\n{filler}another needle\nend\n");
    text.encode_utf16().flat_map(unit).collect()
}

mcp_test!(utf16_without_bom_is_text_for_grep_and_read, |h| {
    h.write("be.txt", utf16(0, u16::to_be_bytes));
    h.write("le.txt", utf16(0, u16::to_le_bytes));
    h.write("le_1m.txt", utf16(1_200_000, u16::to_le_bytes));
    h.write("le_3m.txt", utf16(3_000_000, u16::to_le_bytes));
    h.write("odd.bin", [utf16(0, u16::to_le_bytes), vec![b'x']].concat());
    h.write("zeros.bin", b"needle\0\0\0\x01\x02\0needle\n");
    for pattern in ["needle", "NAÏVE|another"] {
        let answer = h.call("grep", json!({ "pattern": pattern, "output_mode": "count" }));
        let text = answer.ok();
        for name in ["be.txt", "le.txt", "le_1m.txt", "le_3m.txt"] {
            assert!(text.contains(&format!("{name}:2")) || text.contains(&format!("{name}: 2")), "{text}");
        }
        assert!(!text.contains("odd.bin:") && !text.contains("zeros.bin:"), "{text}");
        assert_eq!(answer.facts()["skipped"]["binary"], 2, "{:?}", answer.facts());
    }
    for name in ["be.txt", "le.txt"] {
        let text = h.call("grep", json!({ "pattern": "the needle", "path": name, "context": 1 })).ok();
        let expected = format!("==> {name} <==\n1-first café\n2:the needle, naïve\n3-third");
        assert!(text.contains(&expected), "{text}");
        let text = h.call("grep", json!({ "pattern": "naïve.third", "path": name, "multiline": true })).ok();
        assert!(text.contains(&format!("==> {name} <==\n2:the needle, naïve\n3:third\n\n({name}: UTF-16")), "{text}");
        // A line that was shown can be edited.
        let edit = json!({ "path": name, "old_string": "the needle", "new_string": "a nail" });
        h.call("edit", edit).ok();
        assert!(h.call("grep", json!({ "pattern": "a nail, na", "path": name })).ok().contains("\n2:a nail, naïve"));
    }
});

/// `read` and `grep` on one content: text for one is found by the other, and shown the same.
fn assert_alike(h: &Harness, name: &str, content: &[u8], line: &str) {
    h.write(name, content);
    let read = h.call("read", json!({ "path": name, "limit": 1 }));
    let is_text = read.error_kind().is_none();
    let found = h.call("grep", json!({ "pattern": "needle", "path": name }));
    let text = found.text();
    assert_eq!(text.contains("is binary"), !is_text, "{name}: {text}\n{}", read.text());
    assert_eq!(text.contains(&format!("<==\n1:{line}")), is_text, "{name}: {text}");
    if is_text {
        assert!(
            read.text().starts_with(&format!("1\t{line}\n")) || read.text().contains(line),
            "{name}: {}",
            read.text()
        );
    }
}

mcp_test!(grep_and_read_agree_on_what_is_text, |h| {
    let late = |zeros: &[u8]| [b"the needle\n".to_vec(), b"0123456789abcde\n".repeat(140_000), zeros.to_vec()].concat();
    for (name, content, line) in [
        ("plain", b"the needle\n".to_vec(), "the needle"),
        ("marked", b"\xef\xbb\xbfthe needle\n".to_vec(), "the needle"),
        ("latin", b"caf\xe9, the needle\n".to_vec(), "café, the needle"),
        (
            "cyrillic",
            b"\xdd\xf2\xee \xee\xe1\xfb\xf7\xed\xfb\xe9 \xf0\xf3\xf1\xf1\xea\xe8\xe9 needle\n".to_vec(),
            "Это обычный русский needle",
        ),
        ("damaged", b"d\xc3\xa9j\xc3\xa0 caf\xc3\xa9 \xff needle\n".to_vec(), "déjà café \u{fffd} needle"),
        ("utf16", b"\xff\xfen\0e\0e\0d\0l\0e\0\n\0".to_vec(), "needle"),
        ("utf16 with a NUL", b"\xff\xfen\0e\0e\0d\0l\0e\0\n\0\0\0".to_vec(), "needle"),
        ("bare le", b"n\0e\0e\0d\0l\0e\0\n\0".to_vec(), "needle"),
        ("bare be", b"\0n\0e\0e\0d\0l\0e\0\n".to_vec(), "needle"),
        ("bare with a control", b"n\0e\0e\0d\0l\0e\0\x01\0".to_vec(), "needle"),
        ("utf32", b"\xff\xfe\0\0n\0\0\0".to_vec(), "needle"),
        ("nul_byte", b"the needle\0\n".to_vec(), "the needle"),
        ("gzip", b"\x1f\x8b\x08\x03\xff\xfe needle \x01\x02\n".to_vec(), "needle"),
        ("long plain", late(b""), "the needle"),
        ("late nul", late(b"\0\n"), "the needle"),
        ("late latin", late(b"caf\xe9\n"), "the needle"),
    ] {
        assert_alike(&h, name, &content, line);
    }
});

mcp_test!(a_named_file_with_a_late_nul_is_reported_as_binary, |h| {
    let late = [b"text\n".repeat(40_000), b"\0end\n".to_vec()].concat();
    h.write("late.bin", &late);
    h.write("later.bin", late.repeat(8));
    // In the larger one a page is full before the NUL byte.
    for (name, pattern) in [("late.bin", "nothing"), ("late.bin", "text"), ("later.bin", "nothing")] {
        let text = h.call("grep", json!({ "pattern": pattern, "path": name })).ok();
        let expected =
            format!("No matches found\n({name} is binary: it contains NUL bytes, and only text is searched)");
        assert_eq!(text, expected, "{pattern}");
    }
});

mcp_test!(hidden_characters_in_lines_are_pointed_out, |h| {
    h.write("a.rs", "if admin\u{202e} {\n");
    let text = h.call("grep", json!({ "pattern": "admin" })).ok();
    assert!(text.ends_with("\n(hidden characters: U+202E at 1:9)"), "{text}");
    h.write("b.rs", format!("admin\u{200b}{}\n", "x".repeat(500)));
    let text = h.call("grep", json!({ "pattern": "admin" })).ok();
    assert!(text.contains("\n(hidden characters: U+202E at a.rs:1:9, U+200B at b.rs:1)"), "{text}");
    let text = h.call("grep", json!({ "pattern": "admin", "output_mode": "count" })).ok();
    assert!(!text.contains("hidden characters"), "{text}");
});
