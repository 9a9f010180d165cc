//! grep's uses of a name, without definitions, prototypes and comments, as a client sees them.

use serde_json::{Value, json};

use crate::harness::{Harness, mcp_test};

/// The numbers of the lines that a search in one file gives, and its note on those that are left out.
fn uses(h: &Harness, path: &str, arguments: &Value) -> (String, String) {
    let mut call = json!({"path": path, "output_mode": "uses"});
    call.as_object_mut().unwrap().extend(arguments.as_object().unwrap().clone());
    let text = h.call("grep", call).ok();
    let number = |line: &str| {
        line.split_once(':').filter(|(number, _)| number.parse::<u64>().is_ok()).map(|(n, _)| n.to_owned())
    };
    let note = text.lines().find(|line| line.starts_with("left out")).unwrap_or_default();
    (text.lines().filter_map(number).collect::<Vec<_>>().join(" "), note.to_owned())
}

mcp_test!(uses_are_what_neither_defines_nor_declares_nor_comments, |h| {
    for (name, text, expected, left_out) in [
        (
            "a.c",
            "#include \"load.h\"\nint load(int a);\nextern int load_all(void);\n/* load\n * load again */\nstatic int\nload(int a)\n{\n\treturn a; // load\n}\n#define LOAD load(1)\nint x = load(1); /* load */\nchar *s = \"http://load\";\nint load_all(void) { return load(0); }\n",
            "1 11 12 13 14",
            "left out: 1 definition, 2 prototypes, 3 in comments",
        ),
        (
            "a.cpp",
            "class Loader;\nvoid Loader::load() {\n}\nLoader *make(Loader *l) { l->load(); return l; } // Loader\nusing ns::load;\n",
            "4 5",
            "left out: 1 definition, 1 prototype",
        ),
        (
            "a.rs",
            "//! load\nuse a::load;\n/// load\npub fn load(s: &str) {}\n/* load /* load */\nload */ fn other() { load(\"//\"); }\nlet t = \"load // x\";\n",
            "2 6 7",
            "left out: 1 definition, 3 in comments",
        ),
        (
            "a.py",
            "from a import load\nclass Loader(Load):\n    \"\"\"Loads. load\n\n    load\n    \"\"\"\n    def load(self):  # load\n        return load(\"# load\")\nload_all = load\nf\"{load()}\"\n",
            "1 2 8 9 10",
            "left out: 1 definition, 2 in comments",
        ),
        (
            "a.ts",
            "import { load } from './load';\n/**\n * load\n */\nexport function load(a: string) {}\nconst b = `// ${load(\"x\")}`;\nload('https://x'); // load\n// load\n",
            "1 6 7",
            "left out: 1 definition, 2 in comments",
        ),
        (
            "a.go",
            "package a\n\n// load\nfunc (l *Loader) load(n int) {}\nfunc b() { load() /* load */ }\ntype s interface {\n\tload(n int) error\n\tio.Reader // load\n}\n",
            "5",
            "left out: 1 definition, 1 prototype, 2 in comments",
        ),
        (
            "A.java",
            "import a.Load;\n/** load */\nclass A {\n    abstract void load();\n    void load(int a) { }\n    void b() { this.load(1); }\n}\n",
            "1 6",
            "left out: 1 definition, 1 prototype, 1 in comments",
        ),
        (
            "a.cs",
            "/// load\nclass A {\n    void Load() { }\n    void B() { Load(); }\n}\n",
            "4",
            "left out: 1 definition, 1 in comments",
        ),
        (
            "a.rb",
            "# load\n=begin\nload\n=end\ndef load\nend\nx \"#{load}\" # load\n",
            "7",
            "left out: 1 definition, 2 in comments",
        ),
        (
            "a.php",
            "<?php\n// load\n# load\nfunction load() {}\n$a = load('#');\n",
            "5",
            "left out: 1 definition, 2 in comments",
        ),
        (
            "a.sh",
            "# load\nload() {\n  :\n}\nload \"# x\" # load\necho ${#load}\n",
            "5 6",
            "left out: 1 definition, 1 in comments",
        ),
        ("a.html", "<!-- load -->\n<a onclick=\"load()\">don't</a>\n", "2", "left out: 1 in comments"),
        ("a.yaml", "# load\nrun: load # load\n", "2", "left out: 1 in comments"),
        ("a.txt", "// load\n# load\n", "1 2", ""),
    ] {
        h.write(name, text);
        let found = uses(&h, name, &json!({"pattern": "load"}));
        assert_eq!((found.0.as_str(), found.1.as_str()), (expected, left_out), "{name}");
    }
});

mcp_test!(uses_and_what_is_left_out_are_all_matches, |h| {
    h.write("a.c", "int load(void);\nint load(void) { return 0; }\n/* load */\nint a(void) { return load(); }\n");
    h.write("b.c", "/* load */\n");
    h.write("c.h", "int load(void);\n");
    let answer = h.call("grep", json!({"pattern": "load", "output_mode": "uses"}));
    assert_eq!(
        answer.ok(),
        "Found 1 use in 1 file under .\na.c:4: int a(void) { return load(); }\n\n\
         left out: 1 definition, 2 prototypes, 2 in comments"
    );
    assert_eq!(answer.facts()["left_out"], json!({"definitions": 1, "prototypes": 2, "comments": 2}));
    let content = h.call("grep", json!({"pattern": "load"}));
    assert_eq!(content.facts()["matches"], json!(6));
    assert_eq!(
        h.call("grep", json!({"pattern": "load", "output_mode": "uses", "glob": "*.h"})).ok(),
        "No uses found\nleft out: 1 prototype"
    );
});

mcp_test!(pages_and_context_of_uses_are_those_of_lines, |h| {
    for file in 0..3 {
        h.write(
            &format!("{file}.c"),
            "/* load */\nint load(void) {\n\treturn 1;\n}\nint a(void) {\n\tload();\n\t/* load */\n\tload();\n}\n",
        );
    }
    let mut lines = Vec::new();
    for offset in 0..6 {
        let answer =
            h.call("grep", json!({"pattern": "load", "output_mode": "uses", "offset": offset, "max_results": 1}));
        assert_eq!(answer.facts()["truncated"], json!(offset < 5), "{}", answer.text());
        lines.push(answer.ok().lines().nth(1).unwrap().to_owned());
    }
    let all = h.call("grep", json!({"pattern": "load", "output_mode": "uses"}));
    assert_eq!(lines, all.ok().lines().skip(1).take(6).collect::<Vec<_>>());
    let first = h.call("grep", json!({"pattern": "load", "output_mode": "uses", "max_results": 1})).ok();
    assert!(first.ends_with("\n\nleft out so far: 1 definition, 2 in comments"), "{first}");
    let around = json!({"pattern": "load", "output_mode": "uses", "path": "0.c", "context": 1, "scope": true});
    assert_eq!(
        h.call("grep", around).ok().split("\n\nleft out").next().unwrap(),
        "Found 2 uses in 1 file\n==> 0.c <==\n[fn a]\n5-int a(void) {\n6:\tload();\n7-\t/* load */\n8:\tload();\n9-}"
    );
});

mcp_test!(uses_in_large_and_foreign_files_are_found, |h| {
    let mut large = "/* far */\n".repeat(250_000);
    large.push_str("int far(void)\n{\n\treturn far(); // far\n}\n");
    h.write("large.c", &large);
    h.write("latin.c", b"/* \xe9t\xe9 far */\nint a(void) { return far('\xe9'); }\n");
    let wide: Vec<u8> = "\u{feff}# far\r\nfar()\r\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    h.write("wide.py", &wide);
    let text = h.call("grep", json!({"pattern": "far", "output_mode": "uses"})).ok();
    assert_eq!(
        text.split("\n\n").next().unwrap(),
        "Found 3 uses in 3 files under .\n\
         large.c:250003: \treturn far(); // far\n\
         latin.c:2: int a(void) { return far('é'); }\n\
         wide.py:2: far()"
    );
    assert!(text.contains("left out: 1 definition, 250002 in comments"), "{text}");
});

mcp_test!(uses_in_ignored_files_are_counted_and_a_use_counts_as_read, |h| {
    h.write(".gitignore", "gen\n");
    h.write("gen/a.py", "def load():\n    pass\n# load\nload()\n");
    h.write("a.py", "load()\n");
    let text = h.call("grep", json!({"pattern": "load", "output_mode": "uses"})).ok();
    assert_eq!(text, "Found 1 use in 1 file under .\na.py:1: load()\n\n1 more in ignored files; pass no_ignore");
    h.call("edit", json!({"path": "a.py", "old_string": "load", "new_string": "save"})).ok();
    let refused = h.call("grep", json!({"pattern": "a", "output_mode": "uses", "multiline": true}));
    assert!(refused.fails("invalid_input").contains("hint: leave multiline out"));
});
