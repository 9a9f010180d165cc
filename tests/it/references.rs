//! Paths given by their end, as people mention files in a conversation: `@index.ts`, `app/index.ts`, `#file:a.ts`.

use rootbound::tools::{Group, Selection};
use serde_json::{Value, json};

use crate::harness::{Answer, Harness, Setup};

fn open() -> Harness {
    let selection = Selection { groups: vec![Group::Manage], ..Selection::default() };
    let h = Setup { selection, state: true, ..Setup::default() }.open();
    h.write("src/app/index.ts", "let one = 1;\nlet two = 2;\n");
    h.write("src/lib/util.ts", "let util;\n");
    h.write("src/other/util.ts", "let other;\n");
    h.write("my docs/read me.txt", "words\n");
    h
}

fn resolved(answer: &Answer) -> Value {
    answer.facts().remove("resolved").unwrap_or_default()
}

#[test]
fn every_tool_takes_the_only_file_of_a_name_and_says_which() {
    for name in
        ["index.ts", "@index.ts", "app/index.ts", "@app/index.ts", "#file:index.ts", "@\"index.ts\"", "'index.ts'"]
    {
        let line = format!("({name} is src/app/index.ts)\n");
        for (tool, arguments) in [
            ("read", json!({ "path": name })),
            ("read", json!({ "paths": [name] })),
            ("ls", json!({ "path": name })),
            ("grep", json!({ "pattern": "one", "path": name })),
            ("edit", json!({ "path": name, "old_string": "1", "new_string": "3", "dry_run": true })),
            ("edit", json!({ "path": name, "old_string": "1", "new_string": "3" })),
            ("undo", json!({ "path": name })),
            ("copy", json!({ "source": name, "destination": "copy.txt" })),
            ("delete", json!({ "path": "copy.txt" })),
            ("move", json!({ "source": name, "destination": "src/app/moved.ts" })),
            ("undo", json!({})),
            ("delete", json!({ "path": name })),
        ] {
            let h = open();
            h.call("read", json!({ "path": "src/app/index.ts" })).ok();
            match tool {
                "undo" => {
                    let args = json!({ "path": "src/app/index.ts", "old_string": "1", "new_string": "3" });
                    h.call("edit", args).ok();
                }
                "delete" => h.write("copy.txt", "x\n"),
                _ => {}
            }
            let answer = h.call(tool, arguments.clone());
            let text = answer.ok();
            if arguments.to_string().contains("index.ts") {
                assert!(text.starts_with(&line), "{tool} {arguments}: {text}");
                assert_eq!(resolved(&answer), json!([{ "given": name, "path": "src/app/index.ts" }]), "{tool}");
            } else {
                assert_eq!(resolved(&answer), Value::Null);
            }
        }
    }
}
