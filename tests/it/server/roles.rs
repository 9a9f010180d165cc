//! `[[role]]`: what a caller has less, over stdio, with clients that are not what they say.

use std::fs;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{
    harness::process::Process,
    harness::program::{Outcome, program},
};

/// Two directories next to each other, one inside the first, and a configuration file.
struct Desk {
    dir: TempDir,
}

impl Desk {
    fn new(roles: &str) -> Self {
        let desk = Self { dir: tempfile::tempdir().expect("a folder") };
        for (path, content) in
            [("app/a.txt", "apple"), ("app/inner/i.txt", "inner pear"), ("vault/v.txt", "violet pear")]
        {
            let path = desk.dir.path().join(path);
            fs::create_dir_all(path.parent().expect("a folder")).expect("made");
            fs::write(path, format!("{content}\n")).expect("written");
        }
        let at = |below: &str| desk.dir.path().join(below).display().to_string();
        let roots = format!(
            "[[root]]\nname = \"app\"\npath = '{}'\n[[root]]\nname = \"inner\"\npath = '{}'\nread_only = true\n\
             [[root]]\nname = \"vault\"\npath = '{}'\n",
            at("app"),
            at("app/inner"),
            at("vault")
        );
        fs::write(desk.dir.path().join("r.toml"), format!("allow = \"manage\"\n{roots}{roles}")).expect("written");
        desk
    }

    fn options(&self) -> [String; 2] {
        ["--config".to_owned(), self.dir.path().join("r.toml").display().to_string()]
    }

    fn open(&self) -> Process {
        let options = self.options();
        Process::start(self.dir.path(), &[&options[0], &options[1]])
    }

    /// A server for a client of that name, after the handshake, and its instructions.
    fn client(&self, name: &str) -> (Process, String) {
        let mut server = self.open();
        let client = json!({ "name": name, "version": "1" });
        let hello = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client });
        let answer = server.ask("initialize", &hello);
        server.line(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
        (server, answer["result"]["instructions"].as_str().expect("instructions").to_owned())
    }
}

/// The parameters of a request of 2026-07-28 by a client of that name.
fn by(name: Option<&str>, mut params: Value) -> Value {
    params["_meta"]["io.modelcontextprotocol/protocolVersion"] = "2026-07-28".into();
    params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json!({});
    if let Some(name) = name {
        params["_meta"]["io.modelcontextprotocol/clientInfo"] = json!({ "name": name, "version": "1" });
    }
    params
}

fn call(server: &mut Process, tool: &str, arguments: &Value) -> Value {
    server.ask("tools/call", &json!({ "name": tool, "arguments": arguments }))
}

fn text(answer: &Value) -> &str {
    answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}"))
}

fn tools(server: &mut Process, params: &Value) -> Vec<String> {
    let listed = server.ask("tools/list", params);
    let listed = listed["result"]["tools"].as_array().unwrap_or_else(|| panic!("{listed}")).clone();
    listed.iter().map(|tool| tool["name"].as_str().expect("a name").to_owned()).collect()
}

const READER: &str = "[[role]]\nname = \"reader\"\nclient = \"reader-*\"\nroots = [\"app\"]\ntools = [\"read\", \"ls\", \"grep\", \"glob\"]\n";

#[test]
fn role_has_its_tools_and_roots_and_names_no_other() {
    let desk = Desk::new(READER);
    let (mut server, instructions) = desk.client("Reader-1");
    assert!(instructions.contains("app"), "{instructions}");
    assert_eq!(tools(&mut server, &json!({})), ["glob", "grep", "ls", "read"]);
    let refused = call(&mut server, "write", &json!({ "path": "app/n", "content": "x" }));
    assert!(refused["error"]["message"].as_str().expect("words").contains("is not offered"), "{refused}");
    let mut said = vec![instructions];
    for (tool, arguments) in [
        ("ls", json!({})),
        ("ls", json!({ "path": "app", "depth": 5, "no_ignore": true })),
        ("glob", json!({ "pattern": "**", "no_ignore": true, "include_dirs": true })),
        ("grep", json!({ "pattern": "pear", "no_ignore": true })),
        ("read", json!({ "path": "app/i.txt" })),
        ("read", json!({ "path": "app/inner/i.txt" })),
        ("read", json!({ "path": "app/v.txt" })),
    ] {
        let answer = call(&mut server, tool, &arguments);
        said.push(text(&answer).replace("app/inner/i.txt", "").replace("app/v.txt", ""));
    }
    for said in &said {
        assert!(!said.contains("vault") && !said.contains("inner") && !said.contains("violet"), "{said}");
    }
    for path in ["vault/v.txt", "app/../vault/v.txt", "inner/i.txt", "app/inner/i.txt"] {
        let answer = call(&mut server, "read", &json!({ "path": path }));
        assert_eq!(answer["result"]["isError"], true, "{path}: {answer}");
    }
    let host = desk.dir.path().join("vault/v.txt");
    let answer = call(&mut server, "read", &json!({ "path": host }));
    assert_eq!(answer["result"]["_meta"]["rootbound/error"], "denied", "{answer}");
    assert_eq!(text(&call(&mut server, "read", &json!({ "path": "app/a.txt" }))).split('\n').next(), Some("1\tapple"));

    let (mut server, instructions) = desk.client("other");
    assert!(instructions.contains("vault") && instructions.contains("inner"), "{instructions}");
    let answer = call(&mut server, "read", &json!({ "path": "vault/v.txt" }));
    assert!(text(&answer).contains("violet"), "{answer}");
}

#[test]
fn role_is_chosen_anew_for_each_request_without_a_handshake() {
    let desk = Desk::new(&format!("{READER}[[role]]\nname = \"rest\"\nroots = \"vault\"\nread_only = true\n"));
    let mut server = desk.open();
    let long = "reader-".to_owned() + &"x".repeat(10 << 10);
    let mut read = |name: Option<&str>, path: &str| {
        let listed = tools(&mut server, &by(name, json!({})));
        let params = by(name, json!({ "name": "read", "arguments": { "path": path } }));
        let answer = server.ask("tools/call", &params);
        (listed, answer["result"]["isError"] == false, answer)
    };
    for _ in 0..2 {
        for (name, app, vault) in [
            (Some("reader-1"), true, false),
            (Some("READER-"), true, false),
            (Some("other"), false, true),
            (Some("r\u{435}ader-1"), false, true),
            (Some("reader-1\u{200b}"), true, false),
            (Some(""), false, true),
            (Some(long.as_str()), false, true),
        ] {
            let (listed, is_app, answer) = read(name, "app/a.txt");
            assert_eq!(is_app, app, "{name:.20?}: {answer}");
            let has = |tool: &&str| listed.iter().any(|one| one == tool);
            assert!(["glob", "grep", "ls", "read"].iter().all(has) && !["edit", "write"].iter().any(has), "{listed:?}");
            let (_, is_vault, answer) = read(name, "vault/v.txt");
            assert_eq!(is_vault, vault, "{name:.20?}: {answer}");
        }
    }
}

#[test]
fn nothing_that_one_role_has_seen_counts_for_another() {
    let roles = "[[role]]\nname = \"a\"\nclient = \"a\"\nroots = [\"app\"]\nmax_files_created = 1\n\
                 [[role]]\nname = \"b\"\nclient = \"b\"\nroots = [\"app\"]\n";
    let desk = Desk::new(roles);
    let state = tempfile::tempdir().expect("a folder");
    let options = desk.options();
    let mut server = Process::start_remembering(desk.dir.path(), state.path(), &[&options[0], &options[1]]);
    let mut call = |name: &str, tool: &str, arguments: Value| {
        let mut params = json!({ "name": tool });
        params["arguments"] = arguments;
        server.ask("tools/call", &by(Some(name), params))["result"].clone()
    };
    let edit = json!({ "path": "app/a.txt", "old_string": "apple", "new_string": "quince" });
    assert_eq!(call("a", "read", json!({ "path": "app/a.txt" }))["isError"], false);
    assert_eq!(call("b", "edit", edit.clone())["_meta"]["rootbound/error"], "not_read");
    assert_eq!(call("a", "edit", edit)["isError"], false);
    assert_eq!(call("b", "undo", json!({}))["_meta"]["rootbound/error"], "not_found");
    let new = |name: &str| json!({ "path": format!("app/{name}"), "content": "x" });
    assert_eq!(call("a", "write", new("1"))["isError"], false);
    assert_eq!(call("a", "write", new("2"))["_meta"]["rootbound/error"], "quota");
    assert_eq!(call("b", "write", new("2"))["isError"], false);
    assert_eq!(call("b", "write", new("inner/2"))["isError"], true, "a nested root that is left out gets no rights");
    assert_eq!(call("a", "undo", json!({}))["isError"], false);
}

#[test]
fn every_problem_of_the_roles_is_reported_with_its_line() {
    let desk = Desk::new(
        "[[role]]\nname = \"one\"\nclient = \"x\"\ntools = [\"raed\"]\nroots = [\"valt\"]\n\
         [[role]]\nname = \"one\"\nclient = \"x\"\nread_onyl = true\nread_only = true\n\
         [[role]]\nname = \"empty\"\nlabel = \"l\"\n\
         [[role]]\nclient = \"z\"\nroots = []\nmax_files_created = 99999999\n",
    );
    let options = desk.options();
    let outcome = Outcome::of(program(desk.dir.path()).args(&options));
    let all = format!("{}{}", outcome.stdout, outcome.stderr);
    for part in [
        "which is not a tool: did you mean read?",
        "which is not offered: did you mean vault?",
        "two roles are called",
        "are for the same callers",
        "did you mean read_only?",
        "takes nothing away",
        "a role without a name",
        "has no root",
        "is more than --max-files-created allows",
        "r.toml:12: the role \"one\" names the root",
    ] {
        assert!(all.contains(part), "{part}: {all}");
    }
}

#[test]
fn label_of_the_process_chooses_a_role_whatever_the_client_says() {
    let desk = Desk::new(
        "[[role]]\nname = \"bot\"\nlabel = \"bot-*\"\nroots = [\"vault\"]\nread_only = true\n\
         [[role]]\nname = \"named\"\nclient = \"*\"\nroots = [\"app\"]\n",
    );
    let options = desk.options();
    for (label, reads) in [("bot-7", "vault/v.txt"), ("other", "app/a.txt")] {
        let mut server = Process::start(desk.dir.path(), &[&options[0], &options[1], "--audit-label", label]);
        for name in ["bot-7", "other"] {
            for path in ["vault/v.txt", "app/a.txt"] {
                let params = by(Some(name), json!({ "name": "read", "arguments": { "path": path } }));
                let answer = server.ask("tools/call", &params);
                assert_eq!(answer["result"]["isError"] == false, path == reads, "{label} {name} {path}: {answer}");
            }
        }
    }
    let outcome = Outcome::of(program(desk.dir.path()).args(&options).args(["--audit-label", "bot-1", "doctor"]));
    assert!(outcome.stdout.contains("\"bot\", for label \"bot-*\": applies\n"), "{}", outcome.stdout);
    assert!(!outcome.stdout.contains("directories  app"), "{}", outcome.stdout);
}

#[test]
fn doctor_shows_the_roles() {
    let desk = Desk::new(&format!("{READER}[[role]]\nname = \"rest\"\nroots = \"vault\"\nread_only = true\n"));
    let options = desk.options();
    let outcome = Outcome::of(program(desk.dir.path()).args(&options).arg("doctor"));
    let all = format!("{}{}", outcome.stdout, outcome.stderr);
    for part in ["applies to clients of that name", "applies to other clients"] {
        assert!(all.contains(part), "{part}: {all}");
    }
}

#[test]
#[cfg(unix)]
fn directory_with_a_backslash_in_its_name_is_hidden_from_a_role_without_it() {
    let desk = Desk::new("");
    let odd = desk.dir.path().join("app").join("a\\b [c]*{d}");
    fs::create_dir(&odd).expect("made");
    fs::write(odd.join("o.txt"), "odd pear\n").expect("written");
    let config = desk.dir.path().join("r.toml");
    let mut text = fs::read_to_string(&config).expect("read");
    let path = odd.display();
    text = format!("{text}[[root]]\nname = \"odd\"\npath = '{path}'\n[[role]]\nname = \"all\"\nroots = [\"app\"]\n");
    fs::write(&config, text).expect("written");
    let (mut server, _) = desk.client("x");
    let found = call(&mut server, "grep", &json!({ "pattern": "pear", "no_ignore": true }));
    assert!(!self::text(&found).contains("odd"), "{found}");
    let read = call(&mut server, "read", &json!({ "path": "app/a\\b [c]*{d}/o.txt" }));
    assert_eq!(read["result"]["isError"], true, "{read}");
}

#[test]
fn role_lists_completes_and_reads_resources_of_its_roots_alone() {
    let desk = Desk::new(READER);
    let complete = |name: &str, root: &str| {
        let template = json!({ "type": "ref/resource", "uri": format!("file:///{root}/{{+path}}") });
        let params = json!({ "ref": template, "argument": { "name": "path", "value": "" } });
        ("completion/complete", by(Some(name), params))
    };
    let read = |name: &str, uri: &str| ("resources/read", by(Some(name), json!({ "uri": uri })));
    let mut server = desk.open();
    let mut ask = |(method, params): (&str, Value)| server.ask(method, &params).to_string();
    assert!(ask(read("other", "file:///vault/v.txt")).contains("violet"));
    assert!(ask(complete("other", "vault")).contains("v.txt"));
    for request in [
        ("resources/templates/list", by(Some("reader-1"), json!({}))),
        ("resources/list", by(Some("reader-1"), json!({}))),
        complete("reader-1", "app"),
        complete("reader-1", "vault"),
        read("reader-1", "file:///vault/v.txt"),
        read("reader-1", "file:///app/inner/i.txt"),
        read("reader-1", "file:///inner/i.txt"),
    ] {
        let shown = ask(request.clone());
        let asked = request.1.to_string();
        for word in ["vault", "inner", "violet", "pear", "v.txt"] {
            assert!(!shown.contains(word) || asked.contains(word), "{request:?}: {shown}");
        }
    }
    assert!(ask(read("reader-1", "file:///app/a.txt")).contains("apple"));
    assert!(ask(complete("reader-1", "app")).contains("a.txt"));
    assert!(!ask(("resources/list", by(Some("other"), json!({})))).contains("a.txt"), "seen by another role");
}
