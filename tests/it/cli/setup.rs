//! `rootbound setup` on the files of every client, in a home directory of the test.

use std::{
    fs,
    path::{Path, PathBuf},
};

use crate::harness::program::{Outcome, is_wine, memory_folder, program};

/// A home directory and a project, and the variables that lead to them on every system.
struct Machine {
    folder: tempfile::TempDir,
}

impl Machine {
    fn new() -> Self {
        let folder = memory_folder();
        fs::create_dir_all(folder.path().join("home")).expect("made");
        fs::create_dir_all(folder.path().join("project/sub")).expect("made");
        Self { folder }
    }

    fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    fn project(&self) -> PathBuf {
        self.folder.path().join("project")
    }

    fn run(&self, words: &[&str]) -> Outcome {
        Outcome::of(self.command().args(words))
    }

    /// `rootbound setup` in the project, with this home directory.
    fn command(&self) -> std::process::Command {
        let mut command = program(&self.project());
        for variable in [
            "CLAUDE_CONFIG_DIR",
            "CODEX_HOME",
            "GEMINI_CLI_HOME",
            "MCP_CATALOG_PATH",
            "DEER_FLOW_EXTENSIONS_CONFIG_PATH",
            "DEER_FLOW_PROJECT_ROOT",
            "DEER_FLOW_CONFIG_PATH",
            "COPILOT_HOME",
            "QWEN_HOME",
            "CLINE_MCP_SETTINGS_PATH",
            "GOOSE_PATH_ROOT",
        ] {
            command.env_remove(variable);
        }
        let home = self.home();
        command.env("HOME", &home).env("USERPROFILE", &home).env("XDG_CONFIG_HOME", home.join(".config"));
        command.env("XDG_STATE_HOME", home.join("state")).env("LOCALAPPDATA", home.join("state"));
        command.env("APPDATA", home.join("AppData/Roaming")).arg("setup");
        command
    }

    /// The file that the client's configuration belongs in, as the program prints it.
    fn file(&self, words: &[&str]) -> PathBuf {
        let printed = self.run(words).succeeded();
        let line = printed.lines().find_map(|line| line.strip_prefix("In ")).expect("a file");
        let path = PathBuf::from(line.strip_suffix(':').expect("a colon"));
        assert!(path.starts_with(self.folder.path()), "{}", path.display());
        path
    }

    /// Every file and folder with its content.
    fn everything(&self) -> Vec<(PathBuf, Option<Vec<u8>>)> {
        fn collect(folder: &Path, out: &mut Vec<(PathBuf, Option<Vec<u8>>)>) {
            for entry in fs::read_dir(folder).expect("a folder") {
                let path = entry.expect("an entry").path();
                if path.is_dir() && !path.is_symlink() {
                    out.push((path.clone(), None));
                    collect(&path, out);
                } else {
                    out.push((path.clone(), fs::read(&path).ok()));
                }
            }
        }
        let mut out = Vec::new();
        collect(self.folder.path(), &mut out);
        // On Windows the locks are in the state folder, and their folder stays.
        let state = self.home().join("state");
        out.retain(|(path, content)| !cfg!(windows) || content.is_some() || !path.starts_with(&state));
        out.sort();
        out
    }

    /// As [`Self::everything`], with the content of files without white space.
    fn everything_but_blanks(&self) -> Vec<(PathBuf, Option<Vec<u8>>)> {
        let mut out = self.everything();
        for content in out.iter_mut().filter_map(|(_, content)| content.as_mut()) {
            content.retain(|byte| !byte.is_ascii_whitespace());
        }
        out
    }
}

/// A text without its white space.
fn without_blanks(text: &str) -> String {
    text.split_ascii_whitespace().collect()
}

/// The clients with a scope each, and a file that each reads.
const JSON: &[(&str, &str, &str)] = &[
    ("claude-desktop", "user", "mcpServers"),
    ("claude-code", "user", "mcpServers"),
    ("claude-code", "project", "mcpServers"),
    ("claude-code", "local", "mcpServers"),
    ("vscode", "user", "servers"),
    ("vscode", "project", "servers"),
    ("vscode-insiders", "user", "servers"),
    ("cursor", "user", "mcpServers"),
    ("cursor", "project", "mcpServers"),
    ("zed", "user", "context_servers"),
    ("zed", "project", "context_servers"),
    ("gemini-cli", "user", "mcpServers"),
    ("gemini-cli", "project", "mcpServers"),
    ("deerflow", "user", "mcpServers"),
    ("inspector", "user", "mcpServers"),
    ("inspector", "project", "mcpServers"),
    ("opencode", "user", "mcp"),
    ("opencode", "project", "mcp"),
    ("kilo", "user", "mcp"),
    ("kilo", "project", "mcp"),
    ("copilot-cli", "user", "mcpServers"),
    ("copilot-cli", "project", "mcpServers"),
    ("qwen-code", "user", "mcpServers"),
    ("qwen-code", "project", "mcpServers"),
    ("cline", "user", "mcpServers"),
    ("roo", "user", "mcpServers"),
    ("roo", "project", "mcpServers"),
    ("windsurf", "user", "mcpServers"),
    ("kiro", "user", "mcpServers"),
    ("kiro", "project", "mcpServers"),
    ("jetbrains", "user", "mcpServers"),
    ("lm-studio", "user", "mcpServers"),
    ("amp", "user", "amp.mcpServers"),
    ("amp", "project", "amp.mcpServers"),
];

const TOML: &[(&str, &str)] = &[("codex", "user"), ("codex", "project")];

/// Each client with each of its scopes; with Wine, which takes half a second to start a program, every fourth of these.
fn all() -> impl Iterator<Item = (&'static str, &'static str)> {
    let all = JSON.iter().map(|(client, scope, _)| (*client, *scope)).chain(TOML.iter().copied());
    all.step_by(if cfg!(windows) { 4 } else { 1 })
}

/// The words for a client and a scope, with a directory.
fn words<'w>(client: &'w str, scope: &'w str, more: &[&'w str]) -> Vec<&'w str> {
    let mut words = vec![client, "sub", "--scope", scope];
    words.extend(more);
    words
}

#[test]
fn write_then_remove_leaves_no_file_or_folder_behind() {
    for (client, scope) in all() {
        let machine = Machine::new();
        let before = machine.everything();
        let file = machine.file(&words(client, scope, &[]));
        assert_eq!(machine.everything(), before, "printing changes nothing");
        machine.run(&words(client, scope, &["--write", "--yes"])).succeeded();
        let written = fs::read_to_string(&file).expect("written");
        assert!(written.contains("files") && written.contains("rootbound"), "{client}: {written}");
        let again = machine.run(&words(client, scope, &["--write", "--yes"])).succeeded();
        assert!(again.contains("has it already"), "{client}: {again}");
        machine.run(&words(client, scope, &["--write", "--yes", "--name", "other"])).succeeded();
        machine.run(&[client, "--scope", scope, "--remove", "--yes"]).succeeded();
        let left = fs::read_to_string(&file).expect("the other entry is left");
        assert!(left.contains("other") && !left.contains("files\""), "{client}: {left}");
        machine.run(&[client, "--scope", scope, "--remove", "--yes"]).succeeded();
        assert_eq!(machine.everything(), before, "{client} {scope}");
    }
}

/// Files of people, with KEY for the name of the list.
const JSON_FILES: &[&str] = &[
    "",
    "\n",
    "{}",
    "{}\n",
    "{ }",
    "{\n}\n",
    "\u{feff}{\"a\": 1}",
    "{\"a\":1,\"KEY\":{\"x\":{\"command\":\"y\"}}}",
    "{\"a\": 1, \"KEY\": {}}\n",
    "{\r\n\t\"a\": 1,\r\n\t\"KEY\": {}\r\n}\r\n",
    "{\n    \"KEY\": {\n        \"x\": {\"command\": \"y\"} // the first\n        // \"z\": {}\n    },\n    \"a\": [1, 2,],\n}",
    "// settings\n{\n  /* none yet */\n  \"KEY\": { /* none */ },\n  \"b\": {\"ü\": \"\\u00e9\"}, // end\n}\n// after\n",
    "{\n  \"KEY\": {\n    \"x\": {\n      \"command\": \"y\"\n    }, /* with a comma */\n  }\n}\n",
];

const TOML_FILES: &[&str] = &[
    "",
    "\n",
    "# only a comment",
    "model = \"x\"",
    "model = \"x\"\n",
    "model = \"x\"\r\n\r\n[mcp_servers.x]\r\ncommand = \"y\"\r\n",
    "[mcp_servers.x] # first\ncommand = 'y'\nargs = [\n  \"[mcp_servers.files]\", # no heading\n]\n\n# about a\n[a]\nb = \"\"\"\n[c]\n\"\"\"\n\n\n",
];

#[test]
fn write_then_remove_keeps_all_but_white_space() {
    for (client, scope) in all() {
        let key = JSON.iter().find(|row| (row.0, row.1) == (client, scope)).map(|row| row.2);
        let samples = if key.is_some() { JSON_FILES } else { TOML_FILES };
        // All of them where the lists are at different depths, two elsewhere, and one with Wine, which needs minutes for all.
        let is_one_of_all =
            !cfg!(windows) && ["claude-code", "vscode", "codex"].contains(&client) && scope != "project";
        let some = if cfg!(windows) { &[11][..] } else { &[9, 11] };
        for sample in samples.iter().enumerate().filter(|(index, _)| is_one_of_all || some.contains(index)) {
            let sample = sample.1;
            let machine = Machine::new();
            let file = machine.file(&words(client, scope, &[]));
            fs::create_dir_all(file.parent().expect("a folder")).expect("made");
            let sample = sample.replace("KEY", key.unwrap_or_default());
            fs::write(&file, &sample).expect("written");
            let before = machine.everything_but_blanks();
            for more in [&[][..], &["--name", "mine"], &["--read-only"]] {
                machine.run(&words(client, scope, &[&["--write", "--yes"], more].concat())).succeeded();
                let written = fs::read_to_string(&file).expect("written");
                assert!(written.contains("rootbound"), "{client}: {written}");
                let ends = |text: &str| (text.matches('\n').count(), text.matches("\r\n").count());
                let (all, with_return) = ends(&written);
                assert_eq!(with_return, if sample.contains('\r') { all } else { 0 }, "{client}: {written:?}");
                let twice = machine.run(&words(client, scope, &[&["--write", "--yes"], more].concat())).succeeded();
                assert!(twice.contains("has it already"), "{client} {sample:?}: {twice}");
                machine
                    .run(&words(client, scope, &[&["--remove", "--yes"], &more[..more.len() / 2 * 2]].concat()))
                    .succeeded();
                assert_eq!(machine.everything_but_blanks(), before, "{client} {scope} {sample:?}: {written}");
            }
        }
    }
}

#[test]
fn file_that_does_not_parse_is_named_with_the_line_and_left_alone() {
    for (client, text) in [
        ("claude-code", "{\n  \"a\": 1\n  \"b\": 2\n}\n"),
        ("vscode", "{\n\n\"servers\": [\n}"),
        ("zed", "[]\n"),
        ("gemini-cli", "{\"mcpServers\": 5}"),
        ("codex", "a = 1\nb = \n"),
        ("codex", "\n\nmcp_servers = { x = { command = \"y\" } }\n"),
    ] {
        let machine = Machine::new();
        let file = machine.file(&[client, "sub"]);
        fs::create_dir_all(file.parent().expect("a folder")).expect("made");
        fs::write(&file, text).expect("written");
        let before = machine.everything();
        let refused = machine.run(&[client, "sub", "--write", "--yes"]).failed(1);
        assert!(refused.contains(": line ") && refused.contains("nothing was changed"), "{client}: {refused}");
        assert_eq!(machine.everything(), before);
    }
}

#[test]
fn entry_of_claude_code_is_loaded_at_once_and_an_older_one_learns_it() {
    let machine = Machine::new();
    let file = machine.file(&["claude-code", "sub"]);
    let words = ["claude-code", "sub", "--write", "--yes"];
    machine.run(&words).succeeded();
    let written = fs::read_to_string(&file).expect("written");
    assert!(written.contains("\"alwaysLoad\": true"), "{written}");
    // Without the member, and with what a person decided.
    for (kept, expected) in [("", "\"alwaysLoad\": true"), (", \"alwaysLoad\": false", "\"alwaysLoad\": false")] {
        let older = format!("{{\"mcpServers\": {{\"files\": {{\"command\": \"/x/rootbound\", \"args\": []{kept}}}}}}}");
        fs::write(&file, older).expect("written");
        machine.run(&words).succeeded();
        let written = fs::read_to_string(&file).expect("written");
        assert!(written.contains(expected) && written.matches("alwaysLoad").count() == 1, "{written}");
    }
}

#[test]
fn without_a_terminal_nothing_is_changed_unless_yes_is_given() {
    let machine = Machine::new();
    let before = machine.everything();
    let refused = machine.run(&["claude-code", "--write"]).failed(2);
    assert!(refused.contains("--yes"), "{refused}");
    assert_eq!(machine.everything(), before);
}

#[test]
fn shared_file_has_no_path_of_this_machine() {
    for (client, scope) in all().filter(|(_, scope)| *scope == "project") {
        let machine = Machine::new();
        let file = machine.file(&words(client, scope, &[]));
        machine.run(&words(client, scope, &["--write", "--yes"])).succeeded();
        let written = fs::read_to_string(file).expect("written");
        let temp = machine.folder.path().to_str().expect("UTF-8");
        assert!(!written.contains(temp) && !written.contains(env!("CARGO_MANIFEST_DIR")), "{written}");
        assert!(written.contains("\"rootbound\"") && written.contains("/sub\""), "{written}");
        let outside = machine.run(&[client, "--scope", "project", "..", "--write", "--yes"]).failed(2);
        assert!(outside.contains("outside of the project"), "{outside}");
    }
}

#[test]
fn own_tools_are_turned_off_and_on_again() {
    const CLAUDE: &[Option<&str>] = &[
        None,
        Some(""),
        Some("{}"),
        Some("{\n  \"permissions\": {\"deny\": [\"Read\", \"Bash(rm *)\"]},\n  \"tools\": {\"exclude\": []}\n}\n"),
    ];
    const GEMINI: &[Option<&str>] =
        &[None, Some(""), Some("# mine\n[[rule]]\ntoolName = \"x\"\ndecision = \"allow\"\npriority = 1")];
    for (client, scope, tools, samples) in [
        ("claude-code", "user", ".claude/settings.json", CLAUDE),
        ("claude-code", "project", ".claude/settings.json", CLAUDE),
        ("claude-code", "local", ".claude/settings.local.json", CLAUDE),
        ("gemini-cli", "user", ".gemini/policies/rootbound.toml", GEMINI),
    ] {
        let step = if cfg!(windows) { 3 } else { 1 };
        for sample in samples.iter().step_by(step) {
            let machine = Machine::new();
            let folder = if scope == "user" { machine.home() } else { machine.project() };
            let file = folder.join(tools);
            if let Some(sample) = sample {
                fs::create_dir_all(file.parent().expect("a folder")).expect("made");
                fs::write(&file, sample).expect("written");
            }
            let before = machine.everything_but_blanks();
            for first in [&["--write", "--yes", "--replace"][..], &["--write", "--yes"]] {
                machine.run(&words(client, scope, first)).succeeded();
                let said = machine.run(&words(client, scope, &["--write", "--yes", "--replace"])).succeeded();
                assert!(said.contains("note  ") && said.contains("stay"), "{said}");
                let written = fs::read_to_string(&file).expect("written");
                let name = if client == "claude-code" { "\"Grep\"" } else { "\"grep_search\"" };
                assert_eq!(written.matches(name).count(), 1, "{written}");
                let again = machine.run(&words(client, scope, &["--write", "--yes", "--replace"])).succeeded();
                assert!(again.contains("has it already"), "{again}");
                machine.run(&words(client, scope, &["--remove", "--yes"])).succeeded();
                assert_eq!(machine.everything_but_blanks(), before, "{client} {scope} {sample:?}: {written}");
            }
        }
    }
    let machine = Machine::new();
    let refused = machine.run(&["codex", "--write", "--yes", "--replace"]).failed(2);
    assert!(refused.contains("cannot turn off"), "{refused}");
    let refused = machine.run(&["gemini-cli", "--scope", "project", "--write", "--yes", "--replace"]).failed(2);
    assert!(refused.contains("--scope user"), "{refused}");
}

#[test]
fn a_part_is_removed_alone() {
    for (client, scope, part) in [
        ("claude-code", "local", "--hooks"),
        ("claude-code", "user", "--replace"),
        ("codex", "user", "--hooks"),
        ("gemini-cli", "user", "--replace"),
        ("deerflow", "user", "--replace"),
    ] {
        // Codex runs hooks with cmd there.
        if cfg!(windows) && client == "codex" {
            continue;
        }
        let machine = Machine::new();
        fs::write(machine.project().join("config.yaml"), "tools:\n  - name: ls\n  - name: web\n").expect("written");
        let clean = machine.everything_but_blanks();
        machine.run(&words(client, scope, &["--write", "--yes"])).succeeded();
        let files = |machine: &Machine| {
            let all = machine.everything_but_blanks().into_iter();
            all.filter(|(path, _)| !path.ends_with("setup.jsonl")).collect::<Vec<_>>()
        };
        let entry = files(&machine);
        machine.run(&words(client, scope, &[part, "--write", "--yes"])).succeeded();
        assert_ne!(files(&machine), entry, "{client} {part}");
        let said = machine.run(&words(client, scope, &[part, "--remove", "--yes"])).succeeded();
        assert!(said.contains("undone; the entry stays in"), "{said}");
        assert_eq!(files(&machine), entry, "{client} {part}");
        let said = machine.run(&words(client, scope, &[part, "--remove", "--yes"])).succeeded();
        assert!(said.contains("nothing of that"), "{said}");
        machine.run(&words(client, scope, &["--remove", "--yes"])).succeeded();
        assert_eq!(machine.everything_but_blanks(), clean, "{client} {part}");
    }
    for (client, part) in [("cursor", "--hooks"), ("cursor", "--replace"), ("vscode", "--hooks")] {
        Machine::new().run(&[client, part, "--remove", "--yes"]).failed(2);
    }
}

#[test]
fn replace_for_claude_code_is_for_one_person_in_one_project_and_says_what_is_lost() {
    let machine = Machine::new();
    let before = machine.everything();
    for words in [&["claude-code", "--replace"][..], &["claude-code", "--replace", "--write", "--yes"]] {
        let said = machine.run(words).succeeded();
        for part in
            ["settings.local.json", "hooks", "Edit|Write", "/rewind", "`cat`, `sed` and `grep`", "--scope local"]
        {
            assert!(said.contains(part) || part == "--scope local" && words.len() > 2, "{part}: {said}");
        }
    }
    let local = fs::read_to_string(machine.project().join(".claude/settings.local.json")).expect("written");
    assert!(local.contains("\"deny\"") && !machine.home().join(".claude").exists(), "{local}");
    let list = fs::read_to_string(machine.home().join(".claude.json")).expect("written");
    assert!(list.contains("projects"), "{list}");
    // Found by its record, though the usual scope is another one.
    machine.run(&["claude-code", "--remove", "--yes"]).succeeded();
    assert_eq!(machine.everything(), before);
}

#[test]
fn file_has_what_a_person_would_write_and_the_record_no_value() {
    for (client, scope) in all() {
        let machine = Machine::new();
        let file = machine.file(&words(client, scope, &[]));
        machine.run(&words(client, scope, &["--write", "--yes"])).succeeded();
        let written = fs::read_to_string(&file).expect("written");
        assert!(!written.contains("# rootbound"), "{client}: {written}");
        // A person adds variables and a time limit.
        let with_values = if scope == "user" && client == "codex" {
            format!("{written}[mcp_servers.files.env]\nTOKEN = \"hunter2\"\n")
        } else if written.contains("\"env\": {}") {
            written.replace("\"env\": {}", "\"env\": {\"TOKEN\": \"hunter2\"}, \"timeout\": 7")
        } else {
            written.replace("\"command\"", "\"env\": {\"TOKEN\": \"hunter2\"}, \"timeout\": 7, \"command\"")
        };
        fs::write(&file, &with_values).expect("written");
        let said = machine.run(&words(client, scope, &["--write", "--yes", "--read-only"])).succeeded();
        assert!(said.contains("written"), "{said}");
        let now = fs::read_to_string(&file).expect("kept");
        assert!(now.contains("--read-only") && (now.contains("hunter2") || client == "codex"), "{client}: {now}");
        let record = fs::read_to_string(machine.home().join("state/rootbound/setup.jsonl")).unwrap_or_default();
        assert!(cfg!(windows) || record.contains("files") && !record.contains("hunter2"), "{record}");
    }
}

#[test]
fn hook_names_the_state_before_each_prompt_and_goes_with_the_entry() {
    const SETTINGS: &[Option<&str>] = &[
        None,
        Some("{}"),
        Some(
            "{\n  \"hooks\": {\"UserPromptSubmit\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"x\"}]}]}, // mine\n  \"a\": 1\n}\n",
        ),
    ];
    for (client, scope, list) in [
        ("claude-code", "user", ".claude/settings.json"),
        ("claude-code", "project", ".claude/settings.json"),
        ("claude-code", "local", ".claude/settings.local.json"),
        ("codex", "user", ".codex/hooks.json"),
        ("codex", "project", ".codex/hooks.json"),
    ] {
        // Codex runs hooks with cmd there. Wine takes ten seconds for each of the others.
        if cfg!(windows) && (client == "codex" || is_wine() && scope != "user") {
            continue;
        }
        let step = if cfg!(windows) { 2 } else { 1 };
        for sample in SETTINGS.iter().step_by(step) {
            let machine = Machine::new();
            let folder = if scope == "user" { machine.home() } else { machine.project() };
            let file = folder.join(list);
            if let Some(sample) = sample {
                fs::create_dir_all(file.parent().expect("a folder")).expect("made");
                fs::write(&file, sample).expect("written");
            }
            let before = machine.everything_but_blanks();
            let replace: &[&str] = if client == "claude-code" { &["--replace"] } else { &[] };
            let first = [&["--hooks"][..], replace].concat();
            for flags in [&[&["--hooks"][..], &first][..], &[&first], &[replace, &["--hooks"]]] {
                for flags in flags.iter().filter(|flags| !flags.is_empty()) {
                    machine.run(&words(client, scope, &[&["--write", "--yes"], *flags].concat())).succeeded();
                    let printed = machine.run(&words(client, scope, flags)).succeeded();
                    assert_eq!(printed.contains("last-prompt"), flags.contains(&"--hooks"), "{printed}");
                    assert!(client != "codex" || printed.contains("trust it with /hooks"), "{printed}");
                    let again =
                        machine.run(&words(client, scope, &[&["--write", "--yes"], *flags].concat())).succeeded();
                    assert!(again.contains("has it already"), "{client} {scope} {sample:?}: {again}");
                }
                let written = fs::read_to_string(&file).expect("written");
                let hook = "history checkpoint last-prompt </dev/null >/dev/null 2>&1 || true\"";
                assert_eq!(
                    (written.matches(hook).count(), written.matches("\"timeout\": 10").count()),
                    (1, 1),
                    "{written}"
                );
                let shared = scope == "project";
                let temp = machine.folder.path().to_str().expect("UTF-8").replace('\\', "\\\\");
                assert!(!shared || !written.contains(&temp), "{written}");
                // Another start of the server: the hook is brought up to date, not added.
                machine.run(&words(client, scope, &["--write", "--yes", "--hooks", "--read-only"])).succeeded();
                let written = fs::read_to_string(&file).expect("written");
                assert_eq!(
                    (written.matches(hook).count(), written.matches("--read-only").count()),
                    (1, 1),
                    "{written}"
                );
                machine.run(&words(client, scope, &["--remove", "--yes"])).succeeded();
                assert_eq!(machine.everything_but_blanks(), before, "{client} {scope} {sample:?} {flags:?}: {written}");
            }
        }
    }
    let refused = Machine::new().run(&["cursor", "sub", "--hooks"]).failed(2);
    assert!(refused.contains("leave it out for cursor"), "{refused}");
}

#[test]
fn hooks_of_others_and_of_another_entry_stay() {
    let machine = Machine::new();
    let file = machine.home().join(".claude/settings.json");
    machine.run(&["claude-code", "--name", "a", "--hooks", "--write", "--yes"]).succeeded();
    machine.run(&["claude-code", "sub", "--name", "b", "--hooks", "--write", "--yes"]).succeeded();
    let hooks = || -> serde_json::Value {
        let settings = fs::read_to_string(&file).expect("written");
        serde_json::from_str::<serde_json::Value>(&settings).expect("JSON")["hooks"]["UserPromptSubmit"].clone()
    };
    let both = hooks();
    assert_eq!(both.as_array().map(Vec::len), Some(2), "{both}");
    machine.run(&["claude-code", "--name", "a", "--remove", "--yes"]).succeeded();
    assert_eq!(hooks(), serde_json::json!([both[1]]));
    // One that a person has added a command to, one for another program, and one that only speaks of it.
    let command = both[1]["hooks"][0]["command"].as_str().expect("a command");
    let gate = serde_json::json!({ "type": "command", "command": "my-policy-gate" });
    let others = serde_json::json!([
        { "hooks": [both[1]["hooks"][0], gate] },
        { "hooks": [{ "type": "command", "command": format!("/usr/bin/other{}", &command[command.find(" history").expect("there")..]) }] },
        { "matcher": command, "hooks": [gate] },
    ]);
    let mut all = others.as_array().expect("a list").clone();
    all.insert(1, both[1].clone());
    fs::write(&file, serde_json::json!({ "hooks": { "UserPromptSubmit": all } }).to_string()).expect("written");
    machine.run(&["claude-code", "--name", "b", "--remove", "--yes"]).succeeded();
    assert_eq!(hooks(), others);
}

#[test]
fn hook_is_refused_where_the_project_may_have_the_program() {
    let machine = Machine::new();
    let file = machine.home().join(".claude.json");
    let entry = r#"{"mcpServers": {"files": {"command": "npx", "args": ["-y", "rootbound@0.0.1", "."]}}}"#;
    fs::write(&file, entry).expect("written");
    let before = machine.everything_but_blanks();
    let mut setup = machine.command();
    setup.env("ROOTBOUND_LAUNCHER", "npx").args(["claude-code", "--hooks", "--write", "--yes"]);
    let refused = Outcome::of(&mut setup).failed(1);
    assert!(refused.contains("--hooks is for an installed program"), "{refused}");
    assert_eq!(machine.everything_but_blanks(), before);
}

#[cfg(unix)]
#[test]
fn command_of_the_hook_prints_nothing_never_fails_and_makes_the_checkpoint() {
    let machine = Machine::new();
    machine.run(&["claude-code", "--hooks", "--write", "--yes"]).succeeded();
    let settings = fs::read_to_string(machine.home().join(".claude/settings.json")).expect("written");
    let settings: serde_json::Value = serde_json::from_str(&settings).expect("JSON");
    let hook = settings["hooks"]["UserPromptSubmit"][0]["hooks"][0]["command"].as_str().expect("a command").to_owned();
    let run = |command: &str, folder: &Path| {
        let mut shell = std::process::Command::new("sh");
        shell.args(["-c", command]).current_dir(folder).env("HOME", machine.home());
        shell.env("XDG_STATE_HOME", machine.home().join("state")).env("CLAUDE_PROJECT_DIR", machine.project());
        let done = shell.output().expect("a shell");
        assert!(done.status.success() && done.stdout.is_empty() && done.stderr.is_empty(), "{command}: {done:?}");
    };
    let call = |words: &[&str]| {
        let mut command = program(&machine.project());
        command.env("HOME", machine.home()).env("XDG_STATE_HOME", machine.home().join("state"));
        Outcome::of(command.args(words)).succeeded()
    };
    let file = machine.project().join("a.txt");
    // In a folder below the project, as after a `cd` of the session.
    run(&hook, &machine.project().join("sub"));
    call(&["call", "write", r#"{"path": "a.txt", "content": "one\n"}"#]);
    assert!(file.exists() && call(&["history"]).contains("checkpoint last-prompt"));
    call(&["history", "restore", "--to", "last-prompt"]);
    assert!(!file.exists());
    // Where it can do nothing: the home directory, a configuration that is broken, a program that is gone.
    run(&hook, &machine.home());
    run(&hook.replace(" history", " --config /no/such/file history"), &machine.project());
    run(&format!("'/no/such/program'{}", &hook[hook.find(" history").expect("there")..]), &machine.project());
}

#[test]
fn without_its_record_remove_lists_what_it_leaves() {
    for (client, scope, tools, name) in [
        ("claude-code", "user", ".claude/settings.json", "Grep"),
        ("gemini-cli", "user", ".gemini/policies/rootbound.toml", "grep_search"),
    ] {
        let machine = Machine::new();
        machine.run(&words(client, scope, &["--write", "--yes", "--replace"])).succeeded();
        fs::remove_dir_all(machine.home().join("state")).expect("removed");
        let said = machine.run(&words(client, scope, &["--remove", "--yes"])).succeeded();
        let line = said.lines().find(|line| line.starts_with("left ")).expect("a line");
        assert!(line.contains(name) && line.replace('\\', "/").contains(tools), "{said}");
        assert!(fs::read_to_string(machine.home().join(tools)).expect("left").contains(name));
        assert!(!fs::read_to_string(machine.file(&words(client, scope, &[]))).expect("kept").contains("rootbound"));
    }
    // An entry that a person took out by hand still has its record.
    let machine = Machine::new();
    let before = machine.everything();
    machine.run(&words("claude-code", "local", &["--write", "--yes", "--replace"])).succeeded();
    fs::remove_file(machine.home().join(".claude.json")).expect("removed");
    machine.run(&words("claude-code", "local", &["--remove", "--yes"])).succeeded();
    assert_eq!(machine.everything(), before);
}

/// An administrator denies the same tools for everybody.
#[test]
fn page_on_managed_settings_names_the_tools_that_replace_turns_off() {
    let page = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("SECURITY.md")).expect("a page");
    for (client, list) in [("claude-code", "\"deny\": ["), ("gemini-cli", "toolName = [")] {
        let printed = Machine::new().run(&[client, "--replace"]).stdout;
        let line = printed.lines().map(str::trim).find(|line| line.starts_with(list)).expect("a list");
        assert!(page.contains(line), "{client}: {line}");
    }
}

#[test]
fn tools_of_deerflow_become_comments() {
    let machine = Machine::new();
    let yaml = "models: []\ntools:\n  - name: web_search\n    group: web\n  # files\n  - name: read_file\n    group: file:read\n\n  - name: bash\nnext: 1\n";
    fs::write(machine.project().join("config.yaml"), yaml).expect("written");
    fs::write(machine.project().join("extensions_config.json"), "{\"mcpServers\": {}, \"skills\": {}}")
        .expect("written");
    let before = machine.everything_but_blanks();
    machine.run(&["deerflow", "--write", "--yes", "--replace", "--split"]).succeeded();
    let written = fs::read_to_string(machine.project().join("extensions_config.json")).expect("written");
    assert!(written.contains("files-write") && written.contains("--read-only"), "{written}");
    let list = fs::read_to_string(machine.project().join("config.yaml")).expect("written");
    assert!(list.contains("\n# rootbound off:   - name: read_file\n") && list.contains("\n  - name: bash\n"), "{list}");
    machine.run(&["deerflow", "--remove", "--yes"]).succeeded();
    assert_eq!(machine.everything_but_blanks(), before);
}

#[test]
fn what_was_made_for_one_of_two_entries_goes_with_the_other() {
    let machine = Machine::new();
    fs::write(machine.project().join("extensions_config.json"), "{\"skills\": {}}\n").expect("written");
    let before = machine.everything_but_blanks();
    let printed = machine.run(&["deerflow", "--split"]).succeeded();
    assert!(printed.starts_with("DeerFlow (for everyone who uses the DeerFlow of this folder)\n"), "{printed}");
    machine.run(&["deerflow", "--write", "--yes", "--split"]).succeeded();
    machine.run(&["deerflow", "--remove", "--yes", "--split"]).succeeded();
    assert_eq!(machine.everything_but_blanks(), before);
}

#[test]
fn entry_of_another_program_is_refused_with_another_name_and_an_old_one_of_ours_is_updated() {
    let machine = Machine::new();
    let file = machine.file(&["cursor", "sub"]);
    fs::create_dir_all(file.parent().expect("a folder")).expect("made");
    for other in [
        r#"{"command": "npx", "args": ["-y", "other"], "env": {"KEY": "secret"}}"#,
        r#"{"command": "npx", "args": ["-y", "@modelcontextprotocol/server-filesystem", "/code/rootbound"]}"#,
        r#"{"command": "npx", "args": ["-y", "@someone/rootbound"]}"#,
        r#"{"command": "uvx", "args": ["--with", "rootbound", "other"]}"#,
        r#"{"command": "python3", "args": ["server.py", "rootbound"]}"#,
        r#"{"url": "https://example.org/rootbound"}"#,
        "5",
    ] {
        let other = format!("{{\"mcpServers\": {{\"files\": {other}, \"rootbound\": {{}}, \"z\": {{}}}}}}");
        fs::write(&file, &other).expect("written");
        let refused = machine.run(&["cursor", "--remove", "--yes"]).failed(1);
        assert!(refused.contains("starts another program"), "{refused}");
        let refused = machine.run(&["cursor", "sub", "--write", "--yes"]).failed(1);
        assert!(refused.contains("starts another program") && refused.contains("--name rootbound2"), "{refused}");
        assert_eq!(fs::read_to_string(&file).expect("kept"), other);
        machine.run(&["cursor", "sub", "--write", "--yes", "--name", "rootbound2"]).succeeded();
        machine.run(&["cursor", "--remove", "--yes", "--name", "rootbound2"]).succeeded();
        assert_eq!(without_blanks(&fs::read_to_string(&file).expect("kept")), without_blanks(&other));
    }
    for ours in [
        r#""command": "/old/rootbound", "args": []"#,
        r#""command": "npx", "args": ["-y", "rootbound", "/x"]"#,
        r#""command": "uvx", "args": ["--from", "rootbound==0.0.1", "rootbound", "/x"]"#,
        r#""command": "cmd", "args": ["/c", "npx", "-y", "rootbound@0.0.1"]"#,
        r#""command": "python", "args": ["-m", "rootbound", "/x"]"#,
        r#""command": {"path": "/old/rootbound", "args": ["/x"]}"#,
    ] {
        let old = format!(
            "{{\n  \"mcpServers\": {{\n    \"files\": {{{ours}, \"disabled\": true}},\n    \"z\": {{}}\n  }}\n}}\n"
        );
        fs::write(&file, &old).expect("written");
        machine.run(&["cursor", "sub", "--write", "--yes"]).succeeded();
        let written = fs::read_to_string(&file).expect("written");
        assert!(written.contains("\"disabled\": true") && !written.contains("/old/"), "{written}");
        assert_eq!(written.matches("\"files\"").count(), 1, "{written}");
        machine.run(&["cursor", "--remove", "--yes"]).succeeded();
        assert_eq!(fs::read_to_string(&file).expect("written"), "{\n  \"mcpServers\": {\n    \"z\": {}\n  }\n}\n");
    }
    let codex = machine.file(&["codex"]);
    fs::create_dir_all(codex.parent().expect("a folder")).expect("made");
    let text = "a = 1\n[mcp_servers.files]\ncommand = \"npx\" # mine\n[mcp_servers.files.env]\nA = \"b\"\n";
    fs::write(&codex, text).expect("written");
    assert!(machine.run(&["codex", "--write", "--yes"]).failed(1).contains("--name rootbound"));
    assert_eq!(fs::read_to_string(&codex).expect("kept"), text);
}

#[test]
fn version_that_a_person_chose_stays() {
    let machine = Machine::new();
    let file = machine.file(&["cursor", "sub"]);
    fs::create_dir_all(file.parent().expect("a folder")).expect("made");
    for (command, chosen) in [
        ("npx", r#""-y", "rootbound@0.0.1""#),
        ("npx", r#""--package=rootbound@0.0.1", "rootbound""#),
        ("npx", r#""-p", "rootbound@0.0.1", "--", "rootbound""#),
        ("npx", r#""--yes", "--registry", "https://example.org/npm", "rootbound""#),
    ] {
        fs::write(
            &file,
            format!(r#"{{"mcpServers": {{"files": {{"command": "{command}", "args": [{chosen}, "/old"]}}}}}}"#),
        )
        .expect("written");
        let mut setup = machine.command();
        setup.env("ROOTBOUND_LAUNCHER", "npx").args(["cursor", "sub", "--write", "--yes"]);
        Outcome::of(&mut setup).succeeded();
        let written = fs::read_to_string(&file).expect("written");
        let is_kept = written.contains(chosen) && !written.contains("/old") && written.contains("sub");
        assert!(is_kept || cfg!(windows), "{written}");
    }
}

#[test]
fn command_with_its_arguments_in_one_list_is_known_and_brought_up_to_date() {
    let machine = Machine::new();
    let file = machine.file(&["opencode"]);
    machine.run(&["opencode", "--write", "--yes"]).succeeded();
    let read =
        || -> serde_json::Value { serde_json::from_str(&fs::read_to_string(&file).expect("written")).expect("JSON") };
    let entry = read()["mcp"]["files"].take();
    let words = entry["command"].as_array().expect("a list");
    assert!(words.len() == 1 && words[0].as_str().is_some_and(|word| word.contains("rootbound")), "{entry}");
    assert!(entry["type"] == "local" && entry["enabled"] == true && entry.get("args").is_none(), "{entry}");
    machine.run(&["opencode", "--read-only", "--write", "--yes"]).succeeded();
    assert_eq!(read()["mcp"]["files"]["command"][1], "--read-only");
    // A version that a person chose stays, and another program's list is not ours.
    fs::write(&file, r#"{"mcp": {"files": {"type": "local", "command": ["npx", "-y", "rootbound@0.0.1", "/old"]}}}"#)
        .expect("written");
    let mut setup = machine.command();
    setup.env("ROOTBOUND_LAUNCHER", "npx").args(["opencode", "sub", "--write", "--yes"]);
    Outcome::of(&mut setup).succeeded();
    let command = read()["mcp"]["files"]["command"].take();
    let is_kept = command[2] == "rootbound@0.0.1" && command[3].as_str().is_some_and(|last| last.ends_with("sub"));
    assert!(is_kept || cfg!(windows), "{command}");
    fs::write(&file, r#"{"mcp": {"files": {"type": "local", "command": ["npx", "-y", "other", "rootbound"]}}}"#)
        .expect("written");
    assert!(machine.run(&["opencode", "--write", "--yes"]).failed(1).contains("starts another program"));
}

#[test]
fn what_setup_cannot_write_is_printed_and_refused_with_the_next_step() {
    let machine = Machine::new();
    let before = machine.everything();
    let goose = machine.run(&["goose"]).succeeded();
    for part in
        ["\nextensions:\n  files:\n    name: files\n", "\n    cmd: \"", "\n    args: []\n", "\n    type: \"stdio\"\n"]
    {
        assert!(goose.contains(part), "{goose}");
    }
    let other = machine.run(&["other", "sub"]).succeeded();
    let block = &other[other.find('{').expect("JSON")..=other.rfind('}').expect("JSON")];
    let block: serde_json::Value = serde_json::from_str(block).expect("JSON");
    let servers = block["mcpServers"].as_object().expect("servers");
    assert!(servers.len() == 1 && servers["files"]["args"].as_array().is_some_and(|list| list.len() == 1), "{other}");
    for words in
        [&["goose", "--write", "--yes"][..], &["goose", "--remove", "--yes"], &["other", "sub", "--write", "--yes"]]
    {
        let refused = machine.run(words).failed(2);
        let next = if words.contains(&"--remove") { "take the entry out of " } else { "paste what `rootbound setup" };
        assert!(refused.contains(next), "{refused}");
    }
    for words in
        [&["other"][..], &["cline", "--write", "--yes"], &["windsurf"], &["kiro"], &["lm-studio"], &["jetbrains"]]
    {
        let refused = machine.run(words).failed(2);
        assert!(refused.contains("name the directories to offer"), "{refused}");
    }
    assert_eq!(machine.everything(), before);
    let file = machine.home().join("mine.json").display().to_string();
    machine.run(&["other", "sub", "--file", &file, "--write", "--yes"]).succeeded();
    assert!(fs::read_to_string(&file).expect("written").contains("mcpServers"));
    machine.run(&["other", "--file", &file, "--remove", "--yes"]).succeeded();
    assert_eq!(machine.everything(), before);
}

#[test]
fn one_file_of_two_clients_has_one_entry_for_both() {
    let machine = Machine::new();
    let before = machine.everything();
    for client in ["claude-code", "copilot"] {
        machine.run(&[client, "--scope", "project", "--write", "--yes"]).succeeded();
    }
    let written = fs::read_to_string(machine.project().join(".mcp.json")).expect("written");
    for part in ["\"alwaysLoad\": true", "\"deferTools\": \"never\"", "\"tools\": [", "\"type\": \"stdio\""] {
        assert_eq!(written.matches(part).count(), 1, "{written}");
    }
    machine.run(&["copilot-cli", "--scope", "project", "--remove", "--yes"]).succeeded();
    assert_eq!(machine.everything(), before);
}

#[test]
fn vscode_has_the_projects_file_or_an_absolute_folder() {
    for client in ["vscode", "vscode-insiders"] {
        let machine = Machine::new();
        let before = machine.everything();
        machine.run(&[client, "--write", "--yes"]).succeeded();
        let written = fs::read_to_string(machine.project().join(".vscode/mcp.json")).expect("written");
        assert!(written.contains("\"${workspaceFolder}\""), "{written}");
        machine.run(&[client, "--remove", "--yes"]).succeeded();
        assert_eq!(machine.everything(), before);
        // Elsewhere the variable would not be resolved.
        let outside = machine.folder.path().join("other");
        fs::create_dir(&outside).expect("made");
        let before = machine.everything();
        for words in [&["--scope", "user"][..], &["../other"], &["sub", "--scope", "user"]] {
            let file = machine.file(&[&[client], words].concat());
            machine.run(&[&[client, "--write", "--yes"], words].concat()).succeeded();
            let written: serde_json::Value =
                serde_json::from_str(&fs::read_to_string(&file).expect("written")).expect("JSON");
            let directory = written["servers"]["files"]["args"][0].as_str().expect("a directory");
            assert!(file.starts_with(machine.home()) && Path::new(directory).is_absolute(), "{directory}");
            machine.run(&[client, "--remove", "--yes"]).succeeded();
            assert_eq!(machine.everything(), before);
        }
        for words in [&[client, "--write", "--yes"][..], &[client, "--scope", "user", "--write", "--yes"]] {
            let mut setup = machine.command();
            let refused = Outcome::of(setup.current_dir(machine.home()).args(words)).failed(2);
            assert!(refused.contains("name the directories"), "{refused}");
        }
    }
}

#[test]
fn home_directory_is_offered_with_a_word_and_must_be_absolute() {
    let machine = Machine::new();
    let home = machine.home().display().to_string();
    let said = machine.run(&["cursor", &home, "--write", "--yes"]).succeeded();
    assert!(said.contains("caution") && said.contains("keys"), "{said}");
    assert!(!machine.run(&["cursor", "sub"]).succeeded().contains("caution"));
    #[cfg(unix)]
    for (target, word) in
        [(machine.home(), "caution"), (machine.home().join(".."), "caution"), ("/".into(), "whole file")]
    {
        let link = machine.home().join("link");
        std::os::unix::fs::symlink(target, &link).expect("linked");
        let said = machine.run(&["cursor", link.to_str().expect("UTF-8")]);
        assert!(format!("{}{}", said.stdout, said.stderr).contains(word), "{}", said.stderr);
        fs::remove_file(link).expect("removed");
    }
    let again = machine.run(&["cursor", "~", "--write", "--yes"]).succeeded();
    assert!(again.contains("has it already"), "{again}");
    if cfg!(unix) {
        for words in [&["claude-code"][..], &["claude-code", "--write", "--yes"], &["cursor", "sub"]] {
            let mut setup = machine.command();
            let refused = Outcome::of(setup.env("HOME", "relative").args(words)).failed(2);
            assert!(refused.contains("set HOME to an absolute path"), "{refused}");
        }
        assert!(!machine.project().join("relative").exists());
    }
}

#[cfg(unix)]
#[test]
fn linked_folder_of_a_client_is_followed_and_stays_a_link() {
    use std::os::unix::fs::symlink;
    for (client, link, file) in [
        ("cursor", ".cursor", "mcp.json"),
        ("zed", ".config", "zed/settings.json"),
        ("zed", ".config/zed", "settings.json"),
        ("codex", ".codex", "config.toml"),
        ("gemini-cli", ".gemini", "settings.json"),
    ] {
        for sample in [None, Some("")] {
            let machine = Machine::new();
            let dotfiles = machine.home().join("dotfiles/of it");
            fs::create_dir_all(&dotfiles).expect("made");
            fs::create_dir_all(machine.home().join(link).parent().expect("a folder")).expect("made");
            symlink(&dotfiles, machine.home().join(link)).expect("linked");
            if let Some(sample) = sample {
                fs::create_dir_all(dotfiles.join(file).parent().expect("a folder")).expect("made");
                fs::write(dotfiles.join(file), sample).expect("written");
            }
            let before = machine.everything_but_blanks();
            let words = |more: &[&'static str]| [&[client, "sub"], more].concat();
            machine.run(&words(&["--write", "--yes"])).succeeded();
            assert!(fs::read_to_string(dotfiles.join(file)).expect("written").contains("rootbound"));
            assert!(machine.home().join(link).is_symlink());
            assert!(machine.run(&words(&["--write", "--yes"])).succeeded().contains("has it already"));
            machine.run(&[client, "--remove", "--yes"]).succeeded();
            assert_eq!(machine.everything_but_blanks(), before, "{client} {link}");
        }
    }
    let machine = Machine::new();
    symlink(machine.home().join("gone"), machine.home().join(".cursor")).expect("linked");
    let refused = machine.run(&["cursor", "sub", "--write", "--yes"]).failed(1);
    assert!(refused.contains("link to something that does not exist"), "{refused}");
    // The links of a project, which may come from anyone, lead nowhere else.
    fs::create_dir(machine.home().join("mine")).expect("made");
    symlink(machine.home().join("mine"), machine.project().join(".vscode")).expect("linked");
    let refused = machine.run(&["vscode", "--write", "--yes"]).failed(1);
    assert!(refused.contains("out of the project"), "{refused}");
    assert!(fs::read_dir(machine.home().join("mine")).expect("a folder").next().is_none());
}

#[cfg(unix)]
#[test]
fn read_only_file_and_one_with_several_names_are_left_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    for (client, sample) in [("cursor", "{}\n"), ("codex", "a = 1\n")] {
        let machine = Machine::new();
        let file = machine.file(&[client, "sub"]);
        fs::create_dir_all(file.parent().expect("a folder")).expect("made");
        fs::write(&file, sample).expect("written");
        machine.run(&[client, "sub", "--write", "--yes"]).succeeded();
        let written = fs::read_to_string(&file).expect("written");
        for part in ["read-only", "hard links"] {
            let mode = if part == "read-only" { 0o444 } else { 0o644 };
            fs::set_permissions(&file, fs::Permissions::from_mode(mode)).expect("set");
            let other = machine.folder.path().join("other name");
            if part == "hard links" {
                fs::hard_link(&file, &other).expect("linked");
            }
            for words in [&[client, "--remove", "--yes"][..], &[client, "sub", "--read-only", "--write", "--yes"]] {
                let refused = machine.run(words).failed(1);
                assert!(refused.contains(part) && refused.contains("--file"), "{refused}");
                assert_eq!(fs::read_to_string(&file).expect("kept"), written);
            }
            // Nothing is to be changed.
            machine.run(&[client, "sub", "--write", "--yes"]).succeeded();
            let _ = fs::remove_file(other);
        }
        machine.run(&[client, "--remove", "--yes"]).succeeded();
        assert_eq!(fs::read_to_string(&file).expect("kept"), sample);
    }
}

#[test]
fn what_a_person_changed_in_between_stays() {
    let machine = Machine::new();
    let file = machine.file(&["claude-desktop", "sub"]);
    machine.run(&["claude-desktop", "sub", "--write", "--yes"]).succeeded();
    let written = fs::read_to_string(&file).expect("written");
    let changed = written.replacen('{', "{\n  \"theme\": \"dark\",", 1);
    fs::write(&file, changed).expect("written");
    machine.run(&["claude-desktop", "--remove", "--yes"]).succeeded();
    assert_eq!(fs::read_to_string(&file).expect("kept"), "{\n  \"theme\": \"dark\"\n}\n");
}

#[test]
fn local_entry_is_listed_by_the_repository() {
    let machine = Machine::new();
    fs::create_dir(machine.project().join(".git")).expect("made");
    let mut command = machine.command();
    command.current_dir(machine.project().join("sub")).args(["claude-code", "--scope", "local", "--write", "--yes"]);
    Outcome::of(&mut command).succeeded();
    let written = fs::read_to_string(machine.home().join(".claude.json")).expect("written");
    let value: serde_json::Value = serde_json::from_str(&written).expect("JSON");
    let projects = value["projects"].as_object().expect("projects");
    assert_eq!(projects.len(), 1);
    assert!(projects.keys().all(|project| project.ends_with("/project")), "{written}");
}

#[test]
fn clients_are_listed_with_those_that_are_found() {
    let machine = Machine::new();
    fs::create_dir_all(machine.home().join(".codex")).expect("made");
    let list = machine.run(&[]).succeeded();
    let found: Vec<&str> = list.lines().filter(|line| line.ends_with("found here")).collect();
    assert!(found.len() == 1 && found[0].starts_with("codex"), "{list}");
    let refused = machine.run(&["claude"]).failed(2);
    assert!(refused.contains("'claude-code'"), "{refused}");
}

#[test]
fn two_setups_at_once_lose_no_entry() {
    let machine = Machine::new();
    std::thread::scope(|scope| {
        for number in 0..6 {
            let machine = &machine;
            scope.spawn(move || {
                let name = format!("n{number}");
                machine.run(&["claude-code", "sub", "--write", "--yes", "--name", &name]).succeeded();
            });
        }
    });
    let written = fs::read_to_string(machine.home().join(".claude.json")).expect("written");
    for number in 0..6 {
        assert!(written.contains(&format!("\"n{number}\"")), "{written}");
    }
    for number in 0..6 {
        machine.run(&["claude-code", "--remove", "--yes", "--name", &format!("n{number}")]).succeeded();
    }
    assert!(!machine.home().join(".claude.json").exists());
}

#[cfg(unix)]
#[test]
fn linked_file_is_written_in_place_with_its_mode() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    let machine = Machine::new();
    let dotfiles = machine.home().join("dotfiles");
    fs::create_dir_all(&dotfiles).expect("made");
    fs::write(dotfiles.join("claude.json"), "{\"a\": 1}\n").expect("written");
    fs::set_permissions(dotfiles.join("claude.json"), fs::Permissions::from_mode(0o640)).expect("set");
    symlink("dotfiles/claude.json", machine.home().join(".claude.json")).expect("linked");
    machine.run(&["claude-code", "sub", "--write", "--yes"]).succeeded();
    assert!(machine.home().join(".claude.json").is_symlink());
    let mode = fs::metadata(dotfiles.join("claude.json")).expect("there").permissions().mode();
    assert_eq!(mode & 0o777, 0o640);
    machine.run(&["claude-code", "--remove", "--yes"]).succeeded();
    let kept = fs::read_to_string(dotfiles.join("claude.json")).expect("kept");
    assert_eq!(without_blanks(&kept), "{\"a\":1}");

    // A project may come from anyone: its links lead nowhere else.
    symlink("../home/dotfiles/claude.json", machine.project().join(".mcp.json")).expect("linked");
    let refused = machine.run(&["claude-code", "--scope", "project", "--write", "--yes"]).failed(1);
    assert!(refused.contains("out of the project"), "{refused}");
    assert_eq!(fs::read_to_string(dotfiles.join("claude.json")).expect("kept"), kept);
}

#[test]
fn of_two_entries_of_one_name_the_foreign_one_stays() {
    let machine = Machine::new();
    let file = machine.file(&words("cursor", "user", &[]));
    fs::create_dir_all(file.parent().expect("a folder")).expect("made");
    let foreign = "{\"mcpServers\": {\"files\": {\"command\": \"x\"}, \"files\": {\"command\": \"rootbound\"}}}";
    fs::write(&file, foreign).expect("written");
    machine.run(&["cursor", "--remove", "--yes"]).succeeded();
    let left = fs::read_to_string(&file).expect("kept");
    assert_eq!(left, "{\"mcpServers\": {\"files\": {\"command\": \"x\"}}}");
    let other = "{\"mcpServers\": {\"files-write\": {\"command\": \"rootbound\"}}}";
    fs::write(&file, other).expect("written");
    machine.run(&words("cursor", "user", &["--write", "--yes"])).succeeded();
    machine.run(&["cursor", "--remove", "--yes"]).succeeded();
    assert_eq!(without_blanks(&fs::read_to_string(&file).expect("read")), without_blanks(other));
}

#[test]
fn changed_or_damaged_record_damages_nothing() {
    for (note, left) in [
        (r#"{"made": {"containers": 64}}"#, "// \u{e9}\u{e9}\n"),
        (r#"{"made": {"containers": 1}, "more": 5}"#, "// \u{e9}\u{e9}\n{}"),
        (r#"{"made": {"containers": -1}}"#, "// \u{e9}\u{e9}\n{\"mcpServers\": {}}"),
        (r#""containers=1""#, "// \u{e9}\u{e9}\n{\"mcpServers\": {}}"),
        (r#"{"tools": {"names": ["Read", "Edit"]}}"#, "// \u{e9}\u{e9}\n{\"mcpServers\": {}}"),
    ] {
        let machine = Machine::new();
        let file = machine.folder.path().join("c.json");
        let path = file.display().to_string();
        let first = machine.run(&["claude-desktop", "sub", "--write", "--yes", "--file", &path]);
        first.succeeded();
        let before = "// \u{e9}\u{e9}\n{\"mcpServers\": {\"files\": {\"command\": \"rootbound\"}}}";
        fs::write(&file, before).expect("written");
        let record = machine.home().join("state/rootbound/setup.jsonl");
        if cfg!(windows) {
            return;
        }
        let lines = fs::read_to_string(&record).expect("a record");
        let lines: Vec<String> = lines
            .lines()
            .map(|line| match serde_json::from_str::<serde_json::Value>(line).expect("JSON") {
                mut line if line.get("made").is_some() => {
                    line["made"] = serde_json::from_str(note).expect("JSON");
                    line.to_string()
                }
                line => line.to_string(),
            })
            .collect();
        fs::write(&record, format!("no JSON\n{}\n5\n", lines.join("\n"))).expect("written");
        machine.run(&["claude-desktop", "--remove", "--yes", "--file", &path]).succeeded();
        assert_eq!(fs::read_to_string(&file).expect("kept"), left, "{note}");
    }
}

#[test]
fn names_from_a_file_drive_no_terminal() {
    let machine = Machine::new();
    let file = machine.folder.path().join("c.json");
    let text = "{\"mcpServers\": {\"a\\u001b[2J\": {\"command\": \"rootbound\"}, \"b\": {\"command\": \"rootbound\"}}}";
    fs::write(&file, text).expect("written");
    let outcome = machine.run(&["cursor", "--remove", "--yes", "--file", &file.display().to_string()]);
    assert!(outcome.stderr.contains("(a\\u{1b}[2J, b)"), "{}", outcome.stderr);
}
