//! grep's definitions and scopes, as a client sees them.

use serde_json::json;

use crate::harness::mcp_test;

const C: &str = "#include <a.h>\nint tcp_undo(int a);\n\nstatic int\ntcp_may_undo(int a)\n{\n\treturn tcp_undo(a);\n}\n\nint tcp_undo(int a) { return a; }\n";

mcp_test!(definitions_come_before_prototypes_and_uses_are_left_out, |h| {
    h.write("a/tcp.c", C);
    h.write("a/tcp.h", "int tcp_may_undo(int a);\n#define UNDO tcp_undo\n");
    h.write("a/notes.txt", "int tcp_undo(int a) {}\n");
    let answer = h.call("grep", json!({"pattern": "tcp_.*undo", "output_mode": "definitions"}));
    assert_eq!(
        answer.ok(),
        "Found 2 definitions and 2 prototypes in 3 files under .\n\
         a/tcp.c:5: tcp_may_undo(int a)\n\
         a/tcp.c:10: int tcp_undo(int a) { return a; }\n\
         prototypes:\n\
         a/tcp.c:2: int tcp_undo(int a);\n\
         a/tcp.h:1: int tcp_may_undo(int a);"
    );
});

mcp_test!(definition_pages_go_from_definitions_to_prototypes, |h| {
    h.write("a.c", C);
    h.write("b.c", C);
    let mut lines = Vec::new();
    for offset in 0..6 {
        let args = json!({"pattern": "undo", "output_mode": "definitions", "offset": offset, "max_results": 1});
        let answer = h.call("grep", args);
        let text = answer.ok();
        lines.extend(text.lines().skip(1).filter(|line| *line != "prototypes:").map(str::to_owned));
        assert_eq!(text.contains("prototypes:"), offset >= 4, "{text}");
        assert_eq!(answer.facts()["truncated"], json!(offset < 5), "{text}");
    }
    let all = h.call("grep", json!({"pattern": "undo", "output_mode": "definitions"}));
    let expected: Vec<String> =
        all.ok().lines().skip(1).filter(|line| *line != "prototypes:").map(str::to_owned).collect();
    assert_eq!(lines, expected);
    assert_eq!(expected.len(), 6);
});

mcp_test!(definition_is_meant_by_its_name_its_line_before_that_or_its_keyword, |h| {
    h.write("a.rs", "pub fn load(saved: Saved) {}\nfn save() {\n    load();\n}\nstruct Loader {\n    load: u8,\n}\n");
    for (pattern, expected) in [
        ("load", "1 5"),
        ("^load$", "1"),
        ("^save", "2"),
        ("fn load", "1"),
        ("^fn save$", "2"),
        ("pub fn", "1"),
        ("struct", "5"),
        ("saved", ""),
        ("\\bLOAD\\b", "1"),
    ] {
        let answer = h.call("grep", json!({"pattern": pattern, "output_mode": "definitions", "path": "a.rs"}));
        let text = answer.ok();
        let lines: Vec<&str> = text
            .lines()
            .skip(2)
            .take_while(|line| !line.is_empty())
            .filter_map(|line| line.split(':').next())
            .collect();
        assert_eq!(lines.join(" "), expected, "{pattern}: {text}");
    }
});

mcp_test!(definitions_of_large_and_foreign_files_are_found, |h| {
    let mut large = "/* filler */\n".repeat(200_000);
    large.push_str("static int\nfar_away(void)\n{\n}\n");
    h.write("large.c", &large);
    h.write("latin.c", b"/* \xe9t\xe9 */\nint far_latin(void) { return '\xe9'; }\n");
    let wide: Vec<u8> = "\u{feff}def far_wide():\r\n    pass\r\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    h.write("wide.py", &wide);
    assert_eq!(
        h.call("grep", json!({"pattern": "far_", "output_mode": "definitions"})).ok(),
        "Found 3 definitions in 3 files under .\n\
         large.c:200002: far_away(void)\n\
         latin.c:2: int far_latin(void) { return 'é'; }\n\
         wide.py:1: def far_wide():\n\n\
         (latin.c: windows-1252; wide.py: UTF-16LE, BOM, CRLF)"
    );
});

mcp_test!(definitions_in_ignored_files_are_counted, |h| {
    h.write(".gitignore", "gen\n");
    h.write("gen/a.py", "def load():\n    pass\n# load\n");
    h.write("a.py", "load()\n");
    let text = h.call("grep", json!({"pattern": "load", "output_mode": "definitions"}));
    assert_eq!(text.ok(), "No definitions found\n1 more in ignored files; pass no_ignore");
});

mcp_test!(definition_counts_as_read, |h| {
    h.write("a.py", "def load():\n    pass\n");
    h.call("grep", json!({"pattern": "load", "output_mode": "definitions"})).ok();
    h.call("edit", json!({"path": "a.py", "old_string": "load", "new_string": "save"})).ok();
});

mcp_test!(multiline_does_not_go_with_definitions, |h| {
    h.write("a.py", "");
    let answer = h.call("grep", json!({"pattern": "a", "output_mode": "definitions", "multiline": true}));
    assert!(answer.fails("invalid_input").contains("hint: leave multiline out"));
});

mcp_test!(scope_names_the_definition_around_each_match, |h| {
    h.write("src/a.rs", "use hit;\n\nimpl Cache {\n    fn load() {\n        hit();\n        hit();\n    }\n\n    fn save() {\n        hit();\n    }\n}\n");
    h.write("notes.txt", "hit\n");
    assert_eq!(
        h.call("grep", json!({"pattern": "hit", "scope": true})).ok(),
        "Found 5 matches in 2 files under .\n\
         ==> notes.txt <==\n1:hit\n\
         ==> src/a.rs <==\n[top level]\n1:use hit;\n[fn load]\n5:        hit();\n6:        hit();\n[fn save]\n10:        hit();"
    );
    assert_eq!(
        h.call("grep", json!({"pattern": "hit", "scope": true, "path": "src", "context": 1, "offset": 1})).ok(),
        "Found 4 matches in 1 file under src, showing 2-4\n\
         ==> src/a.rs <==\n[fn load]\n4-    fn load() {\n5:        hit();\n6:        hit();\n7-    }\n--\n[fn save]\n9-    fn save() {\n10:        hit();\n11-    }"
    );
});

mcp_test!(scope_of_a_definition_is_what_is_around_it, |h| {
    h.write(
        "a.py",
        "class Outer:\n    class Inner:\n        def load(self):\n            pass\n\ndef load():\n    pass\n",
    );
    assert_eq!(
        h.call("grep", json!({"pattern": "load", "output_mode": "definitions", "scope": true})).ok(),
        "Found 2 definitions in 1 file under .\n\
         ==> a.py <==\n[class Inner]\n3:        def load(self):\n[top level]\n6:def load():"
    );
});

mcp_test!(a_line_that_opens_a_definition_has_the_scope_around_it, |h| {
    h.write("a.c", "#define HIT 1\nint hit(void)\n{\n\treturn HIT;\n}\n");
    h.write("b.rs", "impl Hit {\n    fn hit() {}\n}\n");
    assert_eq!(
        h.call("grep", json!({"pattern": "hit", "scope": true})).ok(),
        "Found 5 matches in 2 files under .\n\
         ==> a.c <==\n[top level]\n1:#define HIT 1\n2:int hit(void)\n[fn hit]\n4:\treturn HIT;\n\
         ==> b.rs <==\n[top level]\n1:impl Hit {\n[impl Hit]\n2:    fn hit() {}"
    );
    assert_eq!(
        h.call("grep", json!({"pattern": "define", "scope": true, "path": "a.c"})).ok().lines().take(3).last(),
        Some("1:#define HIT 1")
    );
});

mcp_test!(scope_is_known_in_large_files, |h| {
    let mut large = "# filler\n".repeat(300_000);
    large.push_str("def far():\n    hit()\n");
    h.write("large.py", &large);
    let text = h.call("grep", json!({"pattern": "hit", "scope": true}));
    assert!(text.ok().ends_with("[def far]\n300002:    hit()"), "{}", text.ok());
});

fn shown(text: &str) -> Vec<&str> {
    text.lines().filter(|line| line.contains('\t')).collect()
}

mcp_test!(part_def_shows_a_definition_whole_with_its_lines, |h| {
    h.write("tcp.c", C);
    assert_eq!(
        h.call("read", json!({"path": "tcp.c", "part": "def tcp_may_undo"})).ok().split(", rev").next().unwrap(),
        "4\tstatic int\n5\ttcp_may_undo(int a)\n6\t{\n7\t\treturn tcp_undo(a);\n8\t}\n(lines 4-8 of 10"
    );
    let undo = h.call("read", json!({"path": "tcp.c", "part": "def tcp_undo"}));
    assert_eq!(shown(&undo.ok()), ["10\tint tcp_undo(int a) { return a; }"]);
    assert_eq!(undo.facts()["returned_lines"], json!(1));
    h.call("edit", json!({"path": "tcp.c", "old_string": "return a;", "new_string": "return 0;"})).ok();
});

mcp_test!(part_def_shows_all_of_a_name_or_the_one_of_an_owner, |h| {
    let text = "struct A;\n\nimpl A {\n    /// Docs.\n    #[must_use]\n    fn load() {}\n}\n\nimpl B for C<A> {\n    fn load() {}\n}\n";
    h.write("a.rs", text);
    let read = |name: &str| {
        let answer = h.call("read", json!({"path": "a.rs", "part": format!("def {name}")}));
        answer.ok().lines().filter_map(|line| line.split('\t').next()).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(read("load")[..5], ["4", "5", "6", "--", "10"]);
    assert_eq!(read("A::load")[..3], ["4", "5", "6"]);
    assert_eq!(read("C::load")[..1], ["10"]);
    assert_eq!(read("impl A")[..5], ["3", "4", "5", "6", "7"]);
    assert_eq!(read("impl B for C<A>")[..3], ["9", "10", "11"]);
    assert_eq!(read("A")[..3], ["1", "--", "3"]);
});

mcp_test!(part_def_of_no_such_name_offers_near_ones, |h| {
    h.write("a.py", "def load():\n    pass\n");
    let text = h.call("read", json!({"path": "a.py", "part": "def laod"})).fails("not_found");
    assert!(
        text.starts_with("no definition of \"laod\" in a.py\n\nhint: did you mean load? grep with pattern"),
        "{text}"
    );
    h.write("a.txt", "def load():\n");
    let text = h.call("read", json!({"path": "a.txt", "part": "def load"})).fails("invalid_input");
    assert!(text.starts_with("definitions are not recognised in files like a.txt"), "{text}");
});

mcp_test!(part_def_of_a_large_file_is_found_and_a_long_one_continues, |h| {
    let mut text = "# filler\n".repeat(300_000);
    text.push_str("\ndef far():\n");
    text.push_str(&"    x = 1  # a line of a long function\n".repeat(3000));
    text.push_str("y = 2\n");
    h.write("large.py", &text);
    let mut next = json!({"path": "large.py", "part": "def far"});
    let mut lines = 0;
    for _ in 0..20 {
        let answer = h.call("read", next.clone());
        let text = answer.ok();
        lines += shown(&text).len();
        let Some(start) = text.split("start_line=").nth(1) else { break };
        let start: usize = start.split(|digit: char| !digit.is_ascii_digit()).next().unwrap().parse().unwrap();
        assert_eq!(start, 300_002 + lines);
        next = json!({"path": "large.py", "start_line": start, "end_line": 303_002});
    }
    assert_eq!(lines, 3001);
});

mcp_test!(part_def_of_binary_content_is_an_error, |h| {
    h.write("a.py", b"def load():\n\0\0\0pass");
    h.call("read", json!({"path": "a.py", "part": "def load"})).fails("binary");
});
