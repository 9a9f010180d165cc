//! `--secrets names`: `read` shows the names in a secret file that is a list of names, and nothing else of it is shown, by
//! any call. All other calls answer as with `deny`.

use std::time::{Duration, SystemTime};

use confined_fs::{PolicyRules, Secrets, WorkspaceOptions};
use file_tools::{Group, ReadBeforeWrite, Selection, Settings};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{Case, Expect, aliases, case, wait};
use crate::harness::{Harness, Setup, share};

/// The names of the secret `.env` by which its names are shown.
const NAMES_OF_ENV: [&str; 6] =
    ["app/.env", "app/./.env", "app/sub/../.env", "app/alias_env", "app/alias_of_alias", "app/alias_absolute"];

/// What is tried with `deny`, where a read of `.env` is answered with its names.
pub(super) fn cases() -> Vec<Case> {
    let families = [aliases::secrets(), wait::secrets()];
    let as_denied = families.into_iter().enumerate().flat_map(|(family, cases)| {
        cases.into_iter().map(move |case| {
            let path = case.arguments["path"].as_str().unwrap_or_default();
            let is_shown = case.tool == "read" && NAMES_OF_ENV.contains(&path);
            let expect = if is_shown { Expect::Answers("(values hidden): TOKEN") } else { case.expect.clone() };
            Case { name: format!("{family}, {}", case.name), expect, ..case }
        })
    });
    let own = [
        case("resource", "ls", json!({ "path": "app/.env", "long": true }), Expect::Answers("[protected]")),
        case(
            "copied",
            "edit",
            json!({ "path": "app/a.txt", "edits": [{ "old_string": "a", "new_from": "app/.env" }] }),
            super::DENIED,
        ),
    ];
    as_denied.chain(own).collect()
}

fn setup(secrets: Secrets) -> Setup {
    let policy = PolicyRules { secrets: Some(secrets), ..PolicyRules::default() };
    Setup {
        workspace: WorkspaceOptions { policy, ..WorkspaceOptions::default() },
        selection: Selection {
            groups: vec![Group::Manage, Group::Patch, Group::Present, Group::Watch],
            ..Selection::default()
        },
        settings: Settings { structured_output: true, read_before_write: ReadBeforeWrite::Off, ..Settings::default() },
        state: true,
        ..Setup::default()
    }
}

/// Reads of a secret file, and all that else is tried with it.
fn calls(path: &str) -> (Vec<Value>, Vec<(&'static str, Value)>) {
    let with = |mut arguments: Value| {
        arguments["path"] = path.into();
        arguments
    };
    let reads = [
        json!({}),
        json!({ "offset": 1 }),
        json!({ "offset": -1 }),
        json!({ "offset": 100_000 }),
        json!({ "limit": 1 }),
        json!({ "start_line": 1, "end_line": 1 }),
        json!({ "start_line": 90_000, "end_line": 90_001 }),
        json!({ "part": "columns 1-20" }),
        json!({ "part": "def KEY" }),
        json!({ "part": "page 1" }),
        json!({ "part": "region 0,0,1,1" }),
        json!({ "since": "0123456789abcdef" }),
        json!({ "encoding": "latin1" }),
        json!({ "encoding": "utf-16le" }),
    ];
    let mut reads: Vec<Value> = reads.into_iter().map(with).collect();
    let (line, lines) = (format!("{path}:1"), format!("{path}:1-2,90-"));
    reads.extend([json!({ "path": line }), json!({ "path": lines }), json!({ "path": format!("./{path}") })]);
    reads.push(json!({ "paths": [path, "a.txt", line] }));
    let mut others = Vec::new();
    for pattern in ["hunter22", "KEY", "^", "h.{7}$"] {
        for mode in ["content", "count", "files_with_matches", "files_without_match"] {
            others.push(("grep", with(json!({ "pattern": pattern, "output_mode": mode }))));
            others.push(("grep", json!({ "pattern": pattern, "output_mode": mode, "multiline": true, "glob": ".*" })));
        }
    }
    others.extend([
        ("glob", json!({ "pattern": "**" })),
        ("edit", with(json!({ "old_string": "KEY", "new_string": "NAME" }))),
        ("edit", with(json!({ "old_string": "hunter22", "new_string": "x", "dry_run": true }))),
        ("edit", with(json!({ "old_string": "", "new_string": "x" }))),
        ("edit", with(json!({ "edits": [{ "lines": "1", "new_string": "x", "rev": "0123456" }] }))),
        ("edit", json!({ "edits": [{ "glob": ".*", "old_string": "KEY", "new_string": "x", "replace_all": true }] })),
        ("edit", json!({ "path": "a.txt", "edits": [{ "old_string": "one", "new_from": path }], "dry_run": true })),
        ("write", with(json!({ "content": "KEY=hunter22\n" }))),
        ("write", with(json!({ "content": "KEY=hunter22\n", "expected_revision": "0123456" }))),
        ("write", with(json!({ "content": "x", "mode": "append", "at": "13" }))),
        ("write", with(json!({ "content": "x", "mode": "create" }))),
        (
            "apply_patch",
            json!({ "patch": format!("--- a/{path}\n+++ b/{path}\n@@ -1 +1 @@\n-KEY=hunter22\n+KEY=1\n") }),
        ),
        ("apply_patch", json!({ "patch": format!("*** Begin Patch\n*** Delete File: {path}\n*** End Patch") })),
        ("apply_patch", json!({ "patch": format!("diff --git a/{path} b/b.txt\ncopy from {path}\ncopy to b.txt\n") })),
        ("copy", json!({ "source": path, "destination": "b.txt" })),
        ("move", json!({ "source": path, "destination": "b.txt" })),
        ("copy", json!({ "source": "a.txt", "destination": path, "overwrite": true })),
        ("delete", with(json!({}))),
        ("mkdir", json!({ "path": format!("{path}/x") })),
        ("present", with(json!({}))),
        ("wait", with(json!({ "pattern": "hunter22", "offset": 0, "timeout": 0 }))),
        ("wait", with(json!({ "until": "changes", "timeout": 0 }))),
        ("undo", with(json!({}))),
        ("undo", json!({ "to": "session", "dry_run": true })),
    ]);
    (reads, others)
}

#[expect(clippy::disallowed_types, reason = "files of the same age")]
fn set_time(path: &std::path::Path) {
    let file = std::fs::File::options().write(true).open(path).expect("it opens");
    file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000)).expect("a time can be set");
}

/// Takes out what differs between two equal calls: the time, and whether an index was there by then.
fn remove_timing(answer: &mut Value) {
    if let Some(object) = answer.as_object_mut() {
        object.retain(|key, _| !matches!(key.as_str(), "elapsed_ms" | "source"));
        object.values_mut().for_each(remove_timing);
    }
}

/// All that is answered about a secret file: to reads, to other calls, and where sizes and times are shown.
fn interrogate(secrets: Secrets, path: &str, content: &[u8]) -> [Vec<String>; 3] {
    let h = setup(secrets).open();
    for (name, content) in [("a.txt", &b"one\n"[..]), (path, content)] {
        h.write(name, content);
        set_time(&h.path(name));
    }
    let ask = |method: &str, params: Value| {
        let mut answer = h.request(method, params.clone()).unwrap_or_else(Value::from);
        remove_timing(&mut answer);
        format!("{method} {params}: {answer}")
    };
    let call = |tool: &str, arguments: &Value| ask("tools/call", json!({ "name": tool, "arguments": arguments }));
    let (reads, others) = calls(path);
    let reads = reads.iter().map(|arguments| call("read", arguments)).collect();
    let uri = format!("file:///{path}");
    let mut others: Vec<String> = others.iter().map(|(tool, arguments)| call(tool, arguments)).collect();
    others.push(ask("resources/read", json!({ "uri": uri })));
    others.push(ask("resources/list", json!({})));
    let template = json!({ "type": "ref/resource", "uri": "file:///{+path}" });
    others.push(ask("completion/complete", json!({ "ref": template, "argument": { "name": "path", "value": "." } })));
    assert!(h.bytes(path) == content && h.bytes("a.txt") == b"one\n" && !h.exists("b.txt"));
    let sizes = [json!({ "path": path, "long": true }), json!({ "sort": "size" }), json!({})];
    [reads, others, sizes.iter().map(|arguments| call("ls", arguments)).collect()]
}

/// Files of each format that differ in values, their length and the layout alone.
const ALIKE: &[(&str, &str, &[&str])] = &[
    (
        ".env",
        "KEY, PORT",
        &[
            "KEY=hunter22\nPORT=1\n",
            "KEY=hunter23\nPORT=hunter23",
            "\u{feff}# hunter22\r\n\r\nexport KEY = 'x # y'\r\nPORT=\r\n",
            "KEY=\"it's a=b\" # PORT\n\n\n\nPORT=-----END\nKEY=KEY\n",
        ],
    ),
    (".env.local", "KEY", &["KEY=hunter22\n", "KEY={\"PORT\": [1]}\n", "; c\nKEY = ${PORT}\n"]),
    (".npmrc", "KEY, a.b-c", &["KEY=hunter22\na.b-c=1\n", "KEY=\n; x=y\na.b-c=KEY\n"]),
    (
        "credentials.json",
        "KEY, PORT",
        &[
            r#"{"KEY": "hunter22", "PORT": 1}"#,
            "{\n  \"KEY\": \"{\\\"PORT\\\": [\",\r\n\t\"PORT\": null,\n\"KEY\": 1e999 }\n",
            "{\"KEY\":\"-----BEGIN KEY-----\\nMC4=\\n-----END KEY-----\\n\",\"PORT\":\"\\ud800\"}",
        ],
    ),
    (
        ".env.toml",
        "KEY, PORT",
        &["KEY = \"hunter22\"\nPORT = 1\n", "# c\nKEY = '''\nPORT = 2\nX = 1'''\n\"PORT\" = 1979-05-27\n"],
    ),
    (
        ".env.yaml",
        "KEY, PORT",
        &[
            "KEY: hunter22\nPORT: 1\n",
            "---\nKEY: |\n  PORT: 1\n  X: 2\n'PORT':\nKEY: x\n...\n",
            "{\"KEY\": 1, \"PORT\": \"x\"}",
        ],
    ),
];

/// Files of which no name is shown, each with what looks like one.
const HOSTILE: &[(&str, &[&str])] = &[
    (
        ".env",
        &[
            "",
            "# KEY=1\n",
            "KEY=\"x\nPART=hunter22\"\n",
            "KEY='x\nPART=hunter22'\n",
            "KEY=x\\\nPART=hunter22\n",
            "KEY=$(x\nPART=hunter22)\n",
            "KEY=x <<E\nPART=hunter22\nE\n",
            "KEY=1\n PART=hunter22\n",
            "KEY=1\rPART=hunter22\n",
            "KEY=-----BEGIN KEY-----\nhunter22=\n-----END KEY-----\n",
            "KEY=1\nhunter22\n",
            "KEY=1\n2hunter=x\n",
            "KEY=1\0\n",
        ],
    ),
    (".aws/credentials", &["[hunter22]\nKEY=1\n"]),
    (".npmrc", &["KEY=1\n//host/:_authToken=hunter22\n"]),
    (".vault-token", &["KEY=hunter22\n"]),
    (".pgpass", &["KEY=hunter22\n"]),
    ("id_rsa", &["KEY=hunter22\n"]),
    (".env.pem", &["KEY=hunter22\n"]),
    (".ssh/.env", &["KEY=hunter22\n"]),
    (".git-credentials", &["KEY=hunter22\n"]),
    (
        "credentials.json",
        &["{\"KEY\": {\"PART\": 1}}", "{\"KEY\": 1, \"hunter22\": [], \"hunter22\": 1}", "[\"KEY\"]", "{\"KEY\": 1,}"],
    ),
    (".env.toml", &["KEY = 1\n[hunter22]\n", "KEY = 1\nKEY = 2\n", "hunter22.KEY = 1\n"]),
    (".env.yaml", &["KEY:\n  hunter22: 1\n", "KEY: &a 1\nPORT: *a\n", "KEY: 1\n---\nhunter22: 1\n", "KEY: !!str 1\n"]),
];

#[test]
fn files_that_differ_in_values_and_layout_are_answered_alike() {
    for (path, names, contents) in ALIKE {
        let [reads, others, _] = interrogate(Secrets::Names, path, contents[0].as_bytes());
        for read in &reads {
            let shown = format!("names in {path} (values hidden): {names}");
            let has_facts = read.contains("size") && !read.contains("a.txt");
            assert!(read.contains(&shown) && !read.contains("hunter") && !has_facts, "{read}");
        }
        for content in &contents[1..] {
            let [other_reads, other_others, _] = interrogate(Secrets::Names, path, content.as_bytes());
            for (one, other) in reads.iter().zip(&other_reads).chain(others.iter().zip(&other_others)) {
                assert_eq!(one, other, "{content:?}");
            }
        }
        for content in *contents {
            let [_, others, sizes] = interrogate(Secrets::Names, path, content.as_bytes());
            let [_, denied_others, denied_sizes] = interrogate(Secrets::Deny, path, content.as_bytes());
            for (one, other) in others.iter().chain(&sizes).zip(denied_others.iter().chain(&denied_sizes)) {
                assert_eq!(one, other, "{content:?}");
            }
        }
    }
}

#[test]
fn file_that_is_more_than_a_list_of_names_is_answered_as_with_deny() {
    let long = format!("KEY={}\n", "x".repeat(1 << 20));
    let contents = HOSTILE.iter().flat_map(|(path, contents)| contents.iter().map(move |content| (*path, *content)));
    for (path, content) in contents.chain([(".env", long.as_str())]) {
        let shown = interrogate(Secrets::Names, path, content.as_bytes());
        let denied = interrogate(Secrets::Deny, path, content.as_bytes());
        for (one, other) in shown.iter().flatten().zip(denied.iter().flatten()) {
            assert_eq!(one, other, "{:?}", &content[..content.len().min(60)]);
        }
    }
}

/// What was read and written while the file was no secret is neither shown nor counted when it is one.
#[test]
fn former_contents_of_a_secret_are_not_shown() {
    for secrets in [Secrets::Names, Secrets::Deny] {
        let mut allowed = setup(Secrets::Deny);
        allowed.workspace.policy.allow_secret = vec![".env".into()];
        let h = allowed.open();
        h.write(".env", "KEY=hunter22\nPORT=1\n");
        let text = h.call("read", json!({ "path": ".env" })).ok();
        let rev = text.rsplit("rev ").next().expect("a rev")[..6].to_owned();
        let edit = json!({ "path": ".env", "old_string": "hunter22", "new_string": "other33", "checkpoint": "cp" });
        h.call("edit", edit).ok();
        // Another role of one server has the same state folder.
        let mut client = rootbound::server::InProcessClient::open(setup(secrets).server(h.outside("").as_path()))
            .expect("the server starts");
        let mut ask = |tool: &str, arguments: &Value| {
            let Value::Object(arguments) = arguments.clone() else { unreachable!() };
            let answer = format!("{:?}", client.call(tool, arguments).expect("an answer"));
            assert!(!["hunter", "other33"].iter().any(|part| answer.contains(part)), "{answer}");
            answer
        };
        let read = [json!({ "path": ".env", "since": rev }), json!({ "path": ".env" })].map(|one| ask("read", &one));
        assert!(secrets == Secrets::Deny || read.iter().all(|read| read.contains("(values hidden): KEY, PORT")));
        for to in ["cp", "session"] {
            for dry_run in [true, false] {
                ask("undo", &json!({ "to": to, "dry_run": dry_run, "include_others": true }));
            }
        }
        ask("undo", &json!({ "path": ".env" }));
        ask("write", &json!({ "path": ".env", "content": "KEY=1\n" }));
        assert_eq!(h.bytes(".env"), b"KEY=other33\nPORT=1\n");
    }
}

#[test]
fn names_do_not_count_as_read() {
    let strict = |mut setup: Setup| {
        setup.settings.read_before_write = ReadBeforeWrite::Strict;
        setup
    };
    let h = strict(setup(Secrets::Names)).open();
    h.write(".env", "KEY=hunter22\n");
    h.call("read", json!({ "path": ".env" })).ok();
    let mut allowed = strict(setup(Secrets::Deny));
    allowed.workspace.policy.allow_secret = vec![".env".into()];
    let mut client =
        rootbound::server::InProcessClient::open(allowed.server(h.outside("").as_path())).expect("it starts");
    let Value::Object(edit) = json!({ "path": ".env", "old_string": "KEY", "new_string": "NAME" }) else {
        unreachable!()
    };
    let text = client.call("edit", edit).expect("an answer").text();
    assert!(text.contains("has not been read"), "{text}");
}

#[test]
fn long_list_is_cut_between_names() {
    let h = setup(Secrets::Names).open();
    let names: Vec<String> = (0..500).map(|number| format!("SETTING_WITH_A_LONG_NAME_{number:03}")).collect();
    h.write(".env", format!("{}=1\n", names.join("=1\n")));
    let answer = h.call("read", json!({ "path": ".env" })).ok();
    let (shown, rest) = answer.split_once('\n').expect("two lines");
    let shown = shown.strip_prefix("names in .env (values hidden): ").expect("names").split(", ").collect::<Vec<_>>();
    assert_eq!(shown, names[..shown.len()]);
    let more = names.len() - shown.len();
    assert_eq!(rest, format!("({more} more names in this file do not fit, and cannot be shown)"));
}

#[test]
fn each_name_of_a_file_must_show_its_names() {
    let mut setup = setup(Secrets::Names);
    setup.workspace.policy.deny = vec!["private/**".into(), "*.local".into()];
    let h = setup.open();
    h.write("private/.env", "KEY=hunter22\n");
    h.write(".env.local", "KEY=hunter22\n");
    h.write(".env", "KEY=hunter22\n");
    for path in ["private/.env", ".env.local"] {
        assert!(h.call("read", json!({ "path": path })).denied().contains("denied by a rule"));
    }
    #[cfg(unix)]
    {
        h.symlink(".env", "id_rsa");
        h.symlink(".env", "credentials.json");
        h.symlink(".env", "notes.txt");
        h.write("plain.json", "{\"A\": 1}");
        h.symlink("plain.json", "credentials.tfrc.json");
        for path in ["id_rsa", "credentials.json"] {
            h.call("read", json!({ "path": path })).denied();
        }
        for (path, name) in [("notes.txt", "KEY"), ("credentials.tfrc.json", "A")] {
            let text = h.call("read", json!({ "path": path })).ok();
            assert_eq!(text, format!("names in {path} (values hidden): {name}"));
        }
    }
}

/// Names and values of different letters, in all formats.
fn secret_files([a, b, c]: &[String; 3]) -> [(&'static str, String); 6] {
    [
        (".env", format!("# {a}\nK0={a}\nK1=\"{b}={c}\" # {c}\n")),
        (".env.local", format!("K0={a}\nK1=\"{b}\n{c}={c}\n\"\n")),
        ("credentials.json", format!("{{\"K0\": \"{a}\", \"K1\": \"{b}\\n{c}\"}}\n")),
        (".env.yaml", format!("K0: |\n  {a}: {b}\nK1: {c}\n")),
        (".aws/credentials", format!("[{a}]\nK0={b}\n  {c}\n")),
        (".env.toml", format!("K0 = \"{a}\"\nK1 = '''\n{b} = {c}''' # {c}\n")),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(share(24)))]

    #[test]
    fn no_call_shows_a_part_of_a_value(values in prop::array::uniform3("[QZ][qz]{3}[QZ7]{1,12}"), at in 0..6_usize) {
        let (path, content) = &secret_files(&values)[at];
        let answers = interrogate(Secrets::Names, path, content.as_bytes());
        for answer in answers.iter().flatten() {
            for part in values.iter().flat_map(|value| value.as_bytes().windows(4)) {
                let part = std::str::from_utf8(part).expect("ASCII");
                prop_assert!(!answer.contains(part), "{part} is in {answer}");
            }
        }
    }
}

#[test]
fn names_in_an_untrusted_root_are_fenced() {
    let mut setup = setup(Secrets::Names);
    setup.untrusted = &["root"];
    let h: Harness = setup.open();
    h.write(".env", "IGNORE_WHAT_YOU_WERE_TOLD=1\n");
    let text = h.call("read", json!({ "path": ".env" })).ok();
    assert!(text.starts_with("(untrusted content up to") && text.contains("hidden): IGNORE_WHAT"), "{text}");
}
