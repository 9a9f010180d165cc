//! `--secrets mask`: files with secrets are shown and edited with a sentinel for each value.

use std::time::Duration;

use confined_fs::{PolicyRules, Secrets, WorkspaceOptions};
use proptest::prelude::*;
use rootbound::{
    session::QuotaLimits,
    tools::{Group, Selection},
};
use serde_json::{Value, json};

use crate::{
    harness::{Harness, Setup, share},
    process::Process,
    program::is_wine,
};

const ENV: &str = "# OLD_KEY=hunter2-old\nDB_HOST=db.internal\nDB_PASSWORD=\"hunter2 and more\"\nPORT=5432\n";
const MASKED: &str =
    "# OLD_KEY=<secret:OLD_KEY>\nDB_HOST=<secret:DB_HOST>\nDB_PASSWORD=<secret:DB_PASSWORD>\nPORT=<secret:PORT>\n";
/// Services of the values in [`ENV`].
const VALUES: [&str; 6] = ["hunter2", "db.internal", "internal", "and more", "5432", "2-old"];

fn setup(rules: PolicyRules) -> Setup {
    let policy = PolicyRules { secrets: Some(Secrets::Mask), ..rules };
    Setup {
        workspace: WorkspaceOptions { policy, ..WorkspaceOptions::default() },
        selection: Selection { groups: vec![Group::Manage], ..Selection::default() },
        state: true,
        ..Setup::default()
    }
}

fn open() -> Harness {
    let h = setup(PolicyRules::default()).open();
    h.write(".env", ENV);
    h
}

/// The text of an answer, with no value of [`ENV`] in it or in its data.
#[track_caller]
#[expect(clippy::needless_pass_by_value, reason = "as Harness::call")]
fn safe(h: &Harness, tool: &str, arguments: Value) -> String {
    let answer = h.call(tool, arguments.clone());
    let all = format!("{answer:?}").replace(&format!("{arguments}"), "");
    for value in VALUES {
        assert!(
            arguments.to_string().contains(value) || !all.contains(value),
            "{tool} {arguments} shows {value}: {all}"
        );
    }
    answer.text()
}

#[test]
fn read_shows_names_and_sentinels() {
    let h = open();
    let text = safe(&h, "read", json!({ "path": ".env" }));
    let lines: Vec<String> = MASKED.lines().enumerate().map(|(at, line)| format!("{}\t{line}", at + 1)).collect();
    assert!(text.starts_with(&(lines.join("\n") + "\n(4 lines, rev ")), "{text}");
    assert!(text.ends_with("(`<secret:NAME>` masks a value: an edit or write that keeps it keeps the value, anything else is a new value)"), "{text}");
    let facts = h.call("read", json!({ "path": ".env" })).facts();
    assert_eq!(facts["size"], MASKED.len());
    for arguments in [
        json!({ "paths": [".env:1-2", ".env"] }),
        json!({ "path": ".env", "offset": -1 }),
        json!({ "path": ".env", "start_line": 2, "end_line": 3 }),
        json!({ "path": ".env", "part": "columns 1-20" }),
        json!({ "path": ".env", "encoding": "latin1" }),
        json!({ "path": ".env:3" }),
    ] {
        assert!(safe(&h, "read", arguments).contains("<sec"));
    }
}

#[test]
fn what_cannot_be_masked_or_is_denied_stays_denied() {
    let h = setup(PolicyRules { deny: vec!["private/**".into()], ..PolicyRules::default() }).open();
    for (path, content) in [
        ("id_rsa", &b"-----BEGIN KEY-----\nabc\n"[..]),
        ("server.pem", b"-----BEGIN KEY-----\n"),
        (".env.pem", b"A=1\n"),
        ("credentials.json", b"{ not json"),
        (".env", b"A=1\0\0\x01"),
        ("private/.env", b"A=1\n"),
        (".ssh/config", b"Host x\n"),
        (".bash_history", b"mysql -psecret\n"),
        ("terraform.tfstate", &[b"[\"", &b"x".repeat(5 << 20)[..], b"\"]"].concat()),
    ] {
        h.write(path, content);
        h.call("read", json!({ "path": path })).denied();
        h.call("edit", json!({ "path": path, "old_string": "A", "new_string": "B" })).denied();
        h.call("write", json!({ "path": path, "content": "A=2\n" })).denied();
        assert_eq!(h.bytes(path), content);
    }
    let denied = Setup { workspace: WorkspaceOptions::default(), ..setup(PolicyRules::default()) }.open();
    denied.write(".env", ENV);
    denied.call("read", json!({ "path": ".env" })).denied();
}

#[test]
fn search_runs_on_the_masked_text() {
    let h = open();
    h.write("src/main.rs", "fn main() { connect(\"hunter3\") }\n");
    for mode in ["content", "files_with_matches", "count", "files_without_match", "definitions"] {
        for multiline in [false, true] {
            for path in [json!(null), json!(".env")] {
                if multiline && mode == "definitions" {
                    continue;
                }
                let ask = |pattern: &str| {
                    safe(
                        &h,
                        "grep",
                        json!({ "pattern": pattern, "output_mode": mode, "multiline": multiline, "path": path, "context": 2 }),
                    )
                };
                // A right guess is answered as a wrong one of the same length.
                let (right, wrong) = (ask("hunter2"), ask("humter2"));
                assert_eq!(right, wrong, "{mode} {multiline} {path}");
            }
        }
    }
    let text = safe(&h, "grep", json!({ "pattern": "DB_", "path": ".env" }));
    assert!(text.contains("3:DB_PASSWORD=<secret:DB_PASSWORD>"), "{text}");
    assert!(safe(&h, "grep", json!({ "pattern": "secret:PORT" })).contains(".env:4"));
}

#[test]
fn neither_size_nor_revision_depends_on_values() {
    let h = open();
    let seen = |h: &Harness| {
        ["read", "ls"].map(|tool| {
            let arguments = json!({ "path": ".env" });
            let answer = h.call(tool, arguments);
            let text = answer.ok();
            let text: String = text.split(", ").filter(|part| !part.starts_with("modified")).collect();
            (text, answer.facts().get("size").cloned())
        })
    };
    let before = seen(&h);
    h.write(".env", ENV.replace("hunter2", "a much longer secret than it was"));
    assert_eq!(seen(&h), before);
    let listed = |h: &Harness| h.call("ls", json!({})).ok();
    let list = listed(&h);
    assert!(list.contains(".env") && list.contains("[masked]"), "{list}");
    h.write(".env", ENV);
    assert_eq!(listed(&h), list);
    // What a hash of the real bytes would begin with is no revision of the file.
    let real = confined_fs::Revision::of(ENV.as_bytes()).short();
    let text = safe(&h, "read", json!({ "path": ".env", "since": real }));
    assert!(text.contains("is no longer known"), "{text}");
    h.call("write", json!({ "path": ".env", "content": "A=1\n", "expected_revision": real })).fails("stale");
}

#[test]
fn quota_that_an_undo_takes_does_not_depend_on_values() {
    let left = [1, 500].map(|length| {
        let quota = QuotaLimits { bytes: 2000, ..QuotaLimits::default() };
        let h = Setup { quota, ..setup(PolicyRules::default()) }.open();
        h.write(".env", format!("KEY={}\n", "x".repeat(length)));
        h.call("read", json!({ "path": ".env" })).ok();
        h.call("edit", json!({ "path": ".env", "old_string": "KEY=", "new_string": "NAME=" })).ok();
        h.call("undo", json!({})).ok();
        h.call("write", json!({ "path": "a.txt", "content": "x".repeat(2000) })).fails("quota")
    });
    assert_eq!(left[0], left[1]);
}

#[test]
fn edits_around_values_keep_their_bytes() {
    let h = open();
    safe(&h, "read", json!({ "path": ".env" }));
    let edit = json!({ "path": ".env", "old_string": "DB_HOST=<secret:DB_HOST>\n", "new_string": "HOST=<secret:DB_HOST>\nNEW=1\n" });
    let text = safe(&h, "edit", edit);
    assert!(text.contains("+HOST=<secret:HOST>") && text.contains("+NEW=<secret:NEW>"), "{text}");
    assert_eq!(h.bytes(".env"), ENV.replace("DB_HOST=db.internal\n", "HOST=db.internal\nNEW=1\n").into_bytes());
    // A new value, and a moved one.
    let edit = json!({ "path": ".env", "old_string": "PORT=<secret:PORT>", "new_string": "PORT=80" });
    let text = safe(&h, "edit", edit);
    assert!(text.contains("values are masked"), "{text}");
    assert!(h.bytes(".env").ends_with(b"PORT=80\n"));
    let whole = "PORT=<secret:PORT>\r\nDB_PASSWORD=\"<secret:DB_PASSWORD>\"\r\n";
    let refused = safe(&h, "write", json!({ "path": ".env", "content": whole }));
    assert!(refused.contains("repeat the same call to undo it"), "{refused}");
    safe(&h, "write", json!({ "path": ".env", "content": whole }));
    assert_eq!(h.bytes(".env"), b"PORT=80\r\nDB_PASSWORD=\"hunter2 and more\"\r\n");
    safe(&h, "write", json!({ "path": ".env", "content": "COPY=<secret:PORT>\n", "mode": "append" }));
    assert!(h.bytes(".env").ends_with(b"COPY=80\r\n"), "{:?}", String::from_utf8(h.bytes(".env")));
    for _ in 0..4 {
        safe(&h, "undo", json!({}));
    }
    assert_eq!(h.bytes(".env"), ENV.as_bytes());
}

#[test]
fn a_sentinel_never_reaches_the_disk() {
    let h = open();
    h.write("config.py", "KEY = ''\n");
    h.write("docs.md", "like `<secret:DB_PASSWORD>`\n");
    for path in [".env", "config.py", "docs.md"] {
        safe(&h, "read", json!({ "path": path }));
    }
    for (tool, arguments) in [
        ("edit", json!({ "path": "config.py", "old_string": "''", "new_string": "'<secret:DB_PASSWORD>'" })),
        (
            "edit",
            json!({ "path": "config.py", "old_string": "''", "new_string": "'<secret:DB_PASSWORD>'", "dry_run": true }),
        ),
        ("write", json!({ "path": "config.py", "content": "<secret:PORT>" })),
        ("write", json!({ "path": "config.py", "content": "<secret:PORT>", "mode": "append" })),
        ("write", json!({ "path": "new.txt", "content": "<secret:PORT>" })),
        ("write", json!({ "path": "wide.txt", "content": "<secret:PORT>", "encoding": "utf-16le" })),
        ("write", json!({ "path": ".env.local", "content": "A=<secret:PORT>\n" })),
        ("write", json!({ "path": ".env", "content": "A=<secret:NONE>\n" })),
        ("write", json!({ "path": ".env", "content": "A=<secret:PORT\n" })),
        ("write", json!({ "path": ".env", "content": "A=x<secret:PORT>\n" })),
        ("write", json!({ "path": ".env", "content": "<secret:DB_PASSWORD>=1\n" })),
        ("write", json!({ "path": ".env", "content": "[<secret:DB_PASSWORD>]\n" })),
        ("edit", json!({ "path": ".env", "old_string": "<secret:DB_P", "new_string": "x" })),
        ("edit", json!({ "path": ".env", "old_string": "PORT>", "new_string": "PORT> x" })),
        ("edit", json!({ "path": ".env", "old_string": "secret", "new_string": "SECRET", "replace_all": true })),
        ("edit", json!({ "path": "docs.md", "old_string": "like", "new_string": "<secret:PORT>" })),
    ] {
        let text = safe(&h, tool, arguments.clone());
        assert_eq!(h.call(tool, arguments.clone()).error_kind(), Some("invalid_input"), "{arguments}: {text}");
    }
    assert_eq!(h.bytes(".env"), ENV.as_bytes());
    assert_eq!(h.bytes("config.py"), b"KEY = ''\n");
    assert!(!h.exists("new.txt") && !h.exists("wide.txt") && !h.exists(".env.local"));
    h.call("edit", json!({ "path": "docs.md", "old_string": "like", "new_string": "such as" })).ok();
    // In two parts.
    h.call("write", json!({ "path": "a.txt", "content": "<secret:PO" })).ok();
    h.call("write", json!({ "path": "a.txt", "content": "RT>", "mode": "append" })).fails("invalid_input");
}

#[test]
fn masked_files_are_not_moved_copied_or_deleted() {
    let h = open();
    safe(&h, "read", json!({ "path": ".env" }));
    h.mkdir("d");
    h.write("d/.env", ENV);
    for (tool, arguments) in [
        ("copy", json!({ "path": ".env", "to": "plain.txt" })),
        ("copy", json!({ "path": "d", "to": "e" })),
        ("move", json!({ "path": ".env", "to": "plain.txt" })),
        ("move", json!({ "path": ".env", "to": ".env.local" })),
        ("move", json!({ "path": "d", "to": "e" })),
        ("delete", json!({ "path": ".env" })),
        ("delete", json!({ "path": "d", "recursive": true })),
    ] {
        safe(&h, tool, arguments.clone());
        h.call(tool, arguments).denied();
    }
    assert!(!h.exists("plain.txt") && !h.exists("e") && h.bytes("d/.env") == ENV.as_bytes());
}

#[cfg(unix)]
#[test]
fn links_lead_to_the_masked_text() {
    let h = open();
    h.symlink(".env", "notes.txt");
    h.mkdir("dir");
    h.symlink("..", "dir/up");
    for path in ["notes.txt", "dir/up/.env"] {
        let text = safe(&h, "read", json!({ "path": path }));
        assert!(text.contains("PORT=<secret:PORT>"), "{text}");
        safe(&h, "grep", json!({ "pattern": "hunter2|PORT", "path": path }));
        safe(&h, "ls", json!({ "path": path, "long": true }));
    }
    let edit = json!({ "path": "notes.txt", "old_string": "PORT", "new_string": "PORT_2", "replace_all": true });
    let text = safe(&h, "edit", edit);
    assert!(text.contains("begins or ends within a `<secret:…>`"), "{text}");
    let edit = json!({ "path": "notes.txt", "old_string": "PORT=", "new_string": "PORT_2=" });
    safe(&h, "edit", edit);
    assert_eq!(h.bytes(".env"), ENV.replace("PORT", "PORT_2").as_bytes());
    // A link with a secret name makes what it leads to secret, and that is no file of lines.
    h.write("plain.json", "{\"a\": 1}");
    h.symlink("plain.json", "credentials.json");
    assert!(safe(&h, "read", json!({ "path": "credentials.json" })).contains("<secret:a>"));
}

#[test]
fn a_change_from_outside_keeps_its_value_or_makes_the_edit_stale() {
    let h = open();
    safe(&h, "read", json!({ "path": ".env" }));
    h.write(".env", ENV.replace("5432", "6543"));
    let edit = json!({ "path": ".env", "old_string": "DB_HOST=", "new_string": "HOST=" });
    safe(&h, "edit", edit);
    assert_eq!(h.bytes(".env"), ENV.replace("5432", "6543").replace("DB_HOST", "HOST").as_bytes());
    h.write(".env", format!("NEW=hunter2\n{ENV}"));
    let edit = json!({ "path": ".env", "old_string": "PORT=", "new_string": "P=" });
    let text = safe(&h, "edit", edit.clone());
    assert!(text.contains("has changed since") && text.contains("+NEW=<secret:NEW>"), "{text}");
    safe(&h, "edit", edit);
    assert!(h.bytes(".env").ends_with(b"P=5432\n"));
}

#[test]
fn a_guess_is_answered_as_any_other_value() {
    let h = open();
    let answers = ["PORT=5432", "PORT=5433"].map(|guess| {
        h.write(".env", ENV);
        h.call("read", json!({ "path": ".env" })).ok();
        let edit = h.call("edit", json!({ "path": ".env", "old_string": "PORT=<secret:PORT>", "new_string": guess }));
        let read = h.call("read", json!({ "path": ".env" }));
        let undo = h.call("undo", json!({ "path": ".env" }));
        assert_eq!(h.bytes(".env"), ENV.as_bytes());
        [edit, read, undo].map(|answer| (answer.ok(), answer.facts()))
    });
    assert_eq!(answers[0], answers[1]);
}

/// What a hostile model asks, with a right or a wrong guess of `A`, and all that it sees.
fn interrogate(env: &str) -> Vec<String> {
    const GUESS: &str = "hunter22";
    let rules = PolicyRules { secrets: Some(Secrets::Mask), ..PolicyRules::default() };
    let selection = Selection { groups: vec![Group::Manage, Group::Patch], ..Selection::default() };
    let h = Setup { selection, ..setup(rules) }.open();
    h.write(".env", env);
    let shown = h.call("read", json!({ "path": ".env" })).ok();
    let lines = shown.lines().take_while(|line| !line.starts_with('('));
    let shown: String = lines.map(|line| line.split_once('\t').expect("a number").1.to_owned() + "\n").collect();
    let write = |content: String| ("write", json!({ "path": ".env", "content": content }));
    let put = |sentinel: &str, new: &str| write(shown.replace(sentinel, new));
    let undo = ("undo", json!({ "to": "session", "dry_run": true }));
    let back = ("undo", json!({}));
    let mut calls = vec![undo.clone(), put("<secret:A>", GUESS), undo.clone(), back.clone(), undo.clone()];
    // Whether two values are equal.
    let swapped = shown.replace("<secret:A>", "<>").replace("<secret:B>", "<secret:A>").replace("<>", "<secret:B>");
    calls.extend([write(swapped), undo.clone(), back.clone()]);
    for guess in [GUESS, "hunter2.", "=", "#", "\"", "'", "\\\\$"] {
        for mode in ["content", "count"] {
            calls.push(("grep", json!({ "path": ".env", "pattern": guess, "output_mode": mode })));
        }
    }
    // Where a value is put decides, not what it is.
    for line in [
        "# <secret:A>",
        "# OLD=<secret:A>",
        "<secret:A>",
        "  <secret:A>",
        "[<secret:A>]",
        "X=<secret:A>",
        "X='<secret:A>'",
        "X=<secret:A> # x",
        "export X = <secret:A>",
        "X=\"<secret:comment>\"",
        "X=1",
        "X=",
        "X='",
        "X='x'",
        "X=\"x",
        "x\"",
        "x",
    ] {
        calls.extend([write(format!("{line}\n{shown}")), undo.clone(), back.clone()]);
        calls.extend([
            ("write", json!({ "path": ".env", "content": format!("{line}\n"), "mode": "append" })),
            back.clone(),
        ]);
        let edit = json!({ "old_string": "B=", "new_string": format!("{line}\nB=") });
        calls.push(("edit", json!({ "path": ".env", "edits": [edit], "dry_run": true })));
    }
    let patch = "--- a/.env\n+++ b/.env\n@@ -1,1 +1,2 @@\n+X=<secret:A>\n # <secret:comment>\n";
    calls.extend([("apply_patch", json!({ "patch": patch })), undo.clone(), back.clone()]);
    // Growth by copies.
    for copies in [300, 1100] {
        let copied: String = (0..copies).fold(String::new(), |text, at| text + &format!("X{at}=<secret:A>\n"));
        calls.extend([write(format!("{shown}{copied}")), ("ls", json!({}))]);
    }
    calls.extend([("read", json!({ "path": ".env", "limit": 5 })), undo, ("undo", json!({ "to": "session" }))]);
    let end = [("ls", json!({})), ("read", json!({ "path": ".env" })), back];
    let mut seen = Vec::new();
    for (tool, arguments) in calls.into_iter().chain(end) {
        let answer = h.call(tool, arguments.clone());
        let mut text = format!("{answer:?}");
        if let Some(at) = text.find("\"elapsed_ms\"") {
            let end = at + text[at..].find(')').expect("a number in brackets");
            text.replace_range(at..end, "");
        }
        seen.push(format!("{tool} {arguments}: {text}"));
    }
    assert!(h.bytes(".env").starts_with(b"# note\n"));
    seen
}

#[test]
fn no_answer_depends_on_a_value() {
    let long = "q".repeat(20_000);
    let right = interrogate("# note\nA=hunter22\nB=two\nC=3\n");
    let said = |text: &str| right.iter().any(|seen| seen.contains(text));
    assert!(said("restore .env") && said("too many") && said("another kind of place"), "{right:?}");
    let values =
        ["hunter23", "two", "hunt=r22", "=x", "hunt#r22", "hunt\"r22", "it's", "C=1", "'x y'", "x\\", "\\", &long];
    for value in &values[..share(12) as usize] {
        // Both are the same one, and one is the last of the file.
        let env = format!("# note\nA={value}\nB=two\nC={value}\n");
        for (one, other) in right.iter().zip(interrogate(&env)) {
            assert_eq!(*one, other, "{}", &value[..value.len().min(60)]);
        }
    }
}

/// What the servers of a model say when the one after the other was asked: which one, and what.
fn ask_servers(states: [&str; 2], env: &str, calls: &[(usize, &str, Value)]) -> Vec<String> {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let root = dir.path().join("root");
    std::fs::create_dir(&root).expect("a folder");
    for (name, content) in [(".env", env), ("a.txt", "one\n")] {
        std::fs::write(root.join(name), content).expect("a file");
    }
    let start = |state: &str| {
        let options = ["--secrets", "mask", "--allow", "manage", "--allow", "patch", "--read-before-write", "off", "."];
        let mut server = Process::start_remembering(&root, &dir.path().join(state), &options);
        server.initialize();
        server
    };
    let mut servers = states.map(start);
    let mut seen = Vec::new();
    for (server, tool, arguments) in calls {
        if *tool == "restart" {
            servers[*server] = start(states[*server]);
            continue;
        }
        let mut answer = servers[*server].ask("tools/call", &json!({ "name": tool, "arguments": arguments }));
        answer["result"]["_meta"]["rootbound/result"]["elapsed_ms"].take();
        let text = answer["result"].to_string();
        // A journal names each server by a random number.
        let text = text.split("session ").map(|part| part.trim_start_matches(|c: char| c.is_ascii_hexdigit()));
        seen.push(format!("{tool} {arguments}: {}", text.collect::<String>()));
    }
    seen
}

#[test]
fn undo_does_not_tell_whether_a_written_guess_is_right() {
    /// Scripts in which something is left as it is.
    const REFUSED: usize = 13;
    // The mark of a state holds the number of the file, which NTFS does not use again, and Wine does.
    if is_wine() {
        return;
    }
    let write = |by, content: &str| (by, "write", json!({ "path": ".env", "content": content }));
    let edit = |old: &str, new: &str| (0, "edit", json!({ "path": ".env", "old_string": old, "new_string": new }));
    let undo = |by, arguments: Value| (by, "undo", arguments);
    let dry = |by| {
        let all = [
            json!({}),
            json!({ "path": ".env" }),
            json!({ "to": "session" }),
            json!({ "to": "cp" }),
            json!({ "to": "session", "include_others": true }),
            json!({ "to": "redo" }),
        ];
        all.map(|mut one| {
            if one["to"] != "redo" || by == 0 {
                one["dry_run"] = true.into();
            }
            (by, "undo", one)
        })
    };
    let named = (0, "edit", json!({ "path": ".env", "old_string": "A=", "new_string": "X=", "checkpoint": "cp" }));
    let guess = |by| write(by, "X=<secret:X>\nC=hunter22\n");
    let back = |by| write(by, "A=<secret:A>\nC=hunter22\n");
    let patch = "--- a/.env\n+++ b/.env\n@@ -1,2 +1,2 @@\n-A=<secret:A>\n+X=<secret:A>\n C=<secret:C>\n\
        --- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-one\n+two\n";
    let both = (0, "apply_patch", json!({ "patch": patch, "checkpoint": "cp" }));
    let restart = |by| (by, "restart", Value::Null);
    let then = |first: &[(usize, &'static str, Value)]| [first, &dry(0), &dry(1)].concat();
    let read = (0, "read", json!({ "path": ".env" }));
    let whole = |first: &[(usize, &'static str, Value)], last: Value| {
        [first, &[undo(0, last), read.clone(), undo(0, json!({})), read.clone()]].concat()
    };
    let scripts = [
        // Another server writes the guess over what one has left.
        then(&[named.clone(), guess(1)]),
        whole(&[named.clone(), guess(1)], json!({})),
        whole(&[named.clone(), guess(1)], json!({ "to": "session" })),
        // Over what an undo, or the undo of that, has left.
        then(&[named.clone(), undo(0, json!({})), back(1)]),
        then(&[named.clone(), undo(0, json!({})), undo(0, json!({ "to": "redo" })), guess(1)]),
        // Between two changes.
        then(&[named.clone(), guess(1), edit("X=", "Y=")]),
        whole(&[named.clone(), guess(1), edit("X=", "Y=")], json!({ "to": "session" })),
        then(&[named.clone(), guess(1), edit("X=", "Y="), undo(0, json!({}))]),
        // In one of the files of a change.
        then(&[both.clone(), guess(1)]),
        then(&[both.clone(), guess(0), undo(0, json!({ "path": "a.txt", "dry_run": true }))]),
        then(&[both.clone(), restart(0), guess(0), undo(0, json!({ "path": "a.txt", "dry_run": true }))]),
        // One server alone.
        then(&[named.clone(), undo(0, json!({})), back(0)]),
        whole(&[named.clone(), undo(0, json!({})), back(0)], json!({ "to": "redo" })),
        // What others changed is taken back as well, or is all that is known.
        whole(&[named.clone(), guess(1)], json!({ "to": "cp", "include_others": true })),
        then(&[named.clone(), restart(0), guess(1)]),
        then(&[named.clone(), guess(1), restart(0), restart(1)]),
        then(&[named.clone(), guess(1), edit("X=", "Y="), restart(0), restart(1)]),
    ];
    let mut told = Vec::new();
    for (at, script) in scripts.iter().enumerate() {
        for states in [["state", "state"], ["state", "other"]] {
            let right = ask_servers(states, "A=1\nC=hunter22\n", script);
            let wrong = ask_servers(states, "A=1\nC=other\n", script);
            let differing = right.iter().zip(&wrong).find(|(one, other)| one != other);
            told.extend(differing.map(|pair| format!("{at} {states:?}: {pair:#?}")));
            let is_refused = |seen: &String| seen.contains("has changed since") || seen.contains("(changed since)");
            assert!(at >= REFUSED || wrong.iter().any(is_refused), "{at} {states:?} {wrong:#?}");
        }
    }
    assert!(told.is_empty(), "{} scripts: {}", told.len(), told.join("\n"));
}

#[test]
fn a_value_that_a_person_changed_is_not_undone() {
    let h = open();
    let edit = |old: &str, new: &str| {
        h.call("edit", json!({ "path": ".env", "old_string": old, "new_string": new })).ok();
    };
    let changed = |name: &str| ENV.replace("5432", "6543").replace("DB_HOST", name);
    safe(&h, "read", json!({ "path": ".env" }));
    edit("DB_HOST=", "HOST=");
    h.write(".env", changed("HOST"));
    h.call("undo", json!({})).fails("stale");
    assert!(safe(&h, "undo", json!({ "to": "session" })).contains("left alone: .env (changed since)"));
    edit("\nHOST=", "\nH=");
    assert!(safe(&h, "undo", json!({ "to": "session" })).contains("left alone: .env (changed since)"));
    assert_eq!(h.bytes(".env"), changed("H").into_bytes());
    safe(&h, "undo", json!({ "to": "session", "include_others": true }));
    assert_eq!(h.bytes(".env"), ENV.as_bytes());
}

#[test]
fn masked_file_goes_back_and_forth_and_after_a_restart() {
    let h = open();
    let states = ["DB_HOST", "HOST", "H", "SERVER"].map(|name| ENV.replace("DB_HOST", name).into_bytes());
    let undo = |arguments: Value, state: usize| {
        h.call("undo", arguments).ok();
        assert!(h.bytes(".env") == states[state], "{state}: {:?}", String::from_utf8(h.bytes(".env")));
    };
    let edit = |state: usize| {
        let names = ["DB_HOST=", "HOST=", "H=", "SERVER="];
        let edit =
            json!({ "old_string": format!("\n{}", names[state - 1]), "new_string": format!("\n{}", names[state]) });
        h.call("edit", json!({ "path": ".env", "edits": [edit], "checkpoint": format!("cp{state}") })).ok();
        assert!(h.bytes(".env") == states[state]);
    };
    safe(&h, "read", json!({ "path": ".env" }));
    for state in 1..=3 {
        edit(state);
    }
    for _ in 0..2 {
        for state in [2, 1, 0] {
            undo(json!({}), state);
        }
        for state in 1..=3 {
            undo(json!({ "to": "redo" }), state);
        }
    }
    undo(json!({ "to": "cp2" }), 1);
    undo(json!({}), 3);
    undo(json!({}), 2);
    undo(json!({ "to": "session" }), 0);
    undo(json!({}), 2);
    edit(3);
    h.restart();
    undo(json!({ "path": ".env" }), 2);
    undo(json!({ "to": "redo" }), 3);
    undo(json!({ "to": "cp1", "include_others": true }), 0);
}

#[test]
fn what_was_open_at_another_time_is_shown_masked() {
    let allowed = setup(PolicyRules { allow_secret: vec![".env".into()], ..PolicyRules::default() });
    let h = allowed.open();
    h.write(".env", ENV);
    let text = h.call("read", json!({ "path": ".env" })).ok();
    let rev = text.rsplit("rev ").next().expect("a rev")[..6].to_owned();
    // Another role of one server has the same state folder.
    let masking = setup(PolicyRules::default());
    let server = masking.server(h.outside("").as_path());
    let mut client = rootbound::server::InProcessClient::open(server).expect("the server starts");
    for arguments in [json!({ "path": ".env", "since": rev }), json!({ "path": ".env" })] {
        let Value::Object(arguments) = arguments else { unreachable!() };
        let text = client.call("read", arguments).expect("an answer").text();
        assert!(VALUES.iter().all(|value| !text.contains(value)) && text.contains("<secret:PORT>"), "{text}");
    }
}

#[test]
fn sentinels_work_after_a_restart() {
    let h = open();
    safe(&h, "read", json!({ "path": ".env" }));
    h.restart();
    let edit =
        json!({ "path": ".env", "old_string": "PORT=<secret:PORT>\n", "new_string": "A=1\nPORT=<secret:PORT>\n" });
    safe(&h, "edit", edit);
    assert!(h.bytes(".env").ends_with(b"A=1\nPORT=5432\n"));
}

#[test]
fn new_secret_file_is_written_and_masked_from_then_on() {
    let h = setup(PolicyRules::default()).open();
    let text = h.call("write", json!({ "path": ".env", "content": "A=first-value\n" })).ok();
    assert!(!text.contains("first-value"), "{text}");
    let text = h.call("edit", json!({ "path": ".env", "old_string": "A=", "new_string": "B=" })).ok();
    assert!(text.contains("+B=<secret:B>"), "{text}");
    assert_eq!(h.bytes(".env"), b"B=first-value\n");
    let text = h.call("write", json!({ "path": "credentials.json", "content": "{\"a\": " })).fails("invalid_input");
    assert!(text.contains("could no longer be shown"), "{text}");
}

#[test]
fn an_index_does_not_answer_on_values() {
    let h = open();
    for _ in 0..3 {
        let right = safe(&h, "grep", json!({ "pattern": "hunter2", "output_mode": "files_without_match" }));
        let wrong = safe(&h, "grep", json!({ "pattern": "humter2", "output_mode": "files_without_match" }));
        assert_eq!(right, wrong);
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// A call with arguments made of the file's names, sentinels and its structure.
fn any_call() -> impl Strategy<Value = (&'static str, Value)> {
    let word = prop::sample::select(vec![
        "K0=",
        "K1=",
        "<secret:K0>",
        "<secret:K1>",
        "<secret:K0",
        "k: ",
        "\"",
        "'",
        "\n",
        "# ",
        "=",
        "{",
        "}",
        "[",
        "]",
        ",",
        "\\",
        "K0",
        " ",
        "x",
        "|",
        ":",
    ]);
    let text = prop::collection::vec(word, 0..6).prop_map(|words| words.concat());
    let path = prop::sample::select(vec![
        ".env",
        "credentials.json",
        ".kube/config",
        ".aws/credentials",
        ".netrc",
        ".cargo/credentials.toml",
    ]);
    (0..9usize, path, text.clone(), text, any::<bool>()).prop_map(|(tool, path, one, two, flag)| match tool {
        0 => ("read", json!({ "path": path })),
        1 => ("grep", json!({ "pattern": if one.is_empty() { "." } else { &one }, "literal": true, "context": 3, "output_mode": if flag { "content" } else { "count" } })),
        2 => ("ls", json!({ "long": flag, "path": if flag { path } else { "." } })),
        3 | 4 => ("edit", json!({ "path": path, "old_string": one, "new_string": two, "replace_all": flag })),
        5 => ("write", json!({ "path": path, "content": one + &two })),
        6 => ("write", json!({ "path": path, "content": one, "mode": "append" })),
        7 => ("undo", json!({})),
        _ => ("glob", json!({ "pattern": "**" })),
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(share(48)))]

    #[test]
    fn no_call_shows_a_part_of_a_value(
        values in prop::array::uniform3("[QZ7][qz]{3}[QZ7]{1,12}"),
        calls in prop::collection::vec(any_call(), 1..25),
    ) {
        let h = setup(PolicyRules::default()).open();
        let [a, b, c] = &values;
        h.write(".env", format!("K0={a}\nK1=\"{b}\n{c}\"\n# K0={a}\n{c}\n"));
        h.write("credentials.json", format!("{{\"K0\": \"{a}\", \"l\": [\"{b}\", {{\"K1\": \"{c}\"}}]}}\n"));
        h.write(".kube/config", format!("users:\n- name: {a}\n  user:\n    K0: |\n      {b}\n    K1: {c}\n"));
        h.write(".aws/credentials", format!("[default]\nK0 = {a}\n  {b}\n; {c}\nK1={c}\n"));
        h.write(".netrc", format!("machine h login {a} password {b} account {c}\n"));
        h.write(".cargo/credentials.toml", format!("[registry]\nK0 = \"{a}\"\nK1 = [\"{b}\"] # {c}\n"));
        let read: Vec<_> = [".env", "credentials.json", ".kube/config", ".aws/credentials", ".netrc", ".cargo/credentials.toml"]
            .iter().map(|path| ("read", json!({ "path": path }))).collect();
        for (tool, arguments) in read.into_iter().chain(calls) {
            let answer = format!("{:?}", h.call(tool, arguments.clone()));
            for value in &values {
                for part in value.as_bytes().windows(4) {
                    let part = std::str::from_utf8(part).unwrap();
                    prop_assert!(!answer.contains(part), "{tool} {arguments} shows {part}: {answer}");
                }
            }
            for path in [".env", "credentials.json", ".kube/config"] {
                prop_assert!(!String::from_utf8_lossy(&h.bytes(path)).contains("<secret:"), "{tool} {arguments}");
            }
        }
    }
}

#[test]
fn masked_file_is_edited_with_others_and_keeps_its_values() {
    let h = open();
    h.write("b.txt", "HOST\n");
    safe(&h, "read", json!({ "paths": [".env", "b.txt"] }));
    let edits = json!([
        { "path": ".env", "old_string": "DB_HOST=", "new_string": "DATABASE_HOST=" },
        { "path": "b.txt", "old_string": "HOST", "new_string": "DATABASE_HOST" },
    ]);
    let text = safe(&h, "edit", json!({ "edits": edits }));
    assert!(text.starts_with("Edited 2 files: 2 replacements\n"), "{text}");
    assert_eq!(h.bytes(".env"), ENV.replace("DB_HOST=", "DATABASE_HOST=").into_bytes());
    safe(&h, "undo", json!({}));
    assert_eq!((h.bytes(".env"), h.bytes("b.txt")), (ENV.as_bytes().to_vec(), b"HOST\n".to_vec()));
}
