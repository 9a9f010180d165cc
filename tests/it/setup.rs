//! `rootbound setup` on the files of every client, in a home directory of the test.

use std::{
    fs,
    path::{Path, PathBuf},
};

use crate::program::{Outcome, program};

/// A home directory and a project, and the variables that lead to them on every system.
struct Machine {
    folder: tempfile::TempDir,
}

impl Machine {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
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
        let mut command = program(&self.project());
        for variable in [
            "CLAUDE_CONFIG_DIR",
            "CODEX_HOME",
            "GEMINI_CLI_HOME",
            "MCP_CATALOG_PATH",
            "DEER_FLOW_EXTENSIONS_CONFIG_PATH",
            "DEER_FLOW_PROJECT_ROOT",
            "DEER_FLOW_CONFIG_PATH",
        ] {
            command.env_remove(variable);
        }
        let home = self.home();
        command.env("HOME", &home).env("USERPROFILE", &home).env("XDG_CONFIG_HOME", home.join(".config"));
        command.env("APPDATA", home.join("AppData/Roaming")).arg("setup");
        Outcome::of(command.args(words))
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
        out.sort();
        out
    }
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
];

const TOML: &[(&str, &str)] = &[("codex", "user"), ("codex", "project")];

fn all() -> impl Iterator<Item = (&'static str, &'static str)> {
    JSON.iter().map(|(client, scope, _)| (*client, *scope)).chain(TOML.iter().copied())
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
fn write_then_remove_restores_every_byte() {
    for (client, scope) in all() {
        let key = JSON.iter().find(|row| (row.0, row.1) == (client, scope)).map(|row| row.2);
        let samples = if key.is_some() { JSON_FILES } else { TOML_FILES };
        // All of them where the lists are at different depths, two elsewhere, and with Wine, which needs minutes for all.
        let is_one_of_all =
            !cfg!(windows) && ["claude-code", "vscode", "codex"].contains(&client) && scope != "project";
        for sample in samples.iter().enumerate().filter(|(index, _)| is_one_of_all || [9, 11].contains(index)) {
            let sample = sample.1;
            let machine = Machine::new();
            let file = machine.file(&words(client, scope, &[]));
            fs::create_dir_all(file.parent().expect("a folder")).expect("made");
            let sample = sample.replace("KEY", key.unwrap_or_default());
            fs::write(&file, &sample).expect("written");
            let before = machine.everything();
            for more in [&[][..], &["--name", "mine"], &["--read-only"]] {
                machine.run(&words(client, scope, &[&["--write", "--yes"], more].concat())).succeeded();
                let written = fs::read_to_string(&file).expect("written");
                assert!(written.contains("rootbound"), "{client}: {written}");
                let twice = machine.run(&words(client, scope, &[&["--write", "--yes"], more].concat())).succeeded();
                assert!(twice.contains("has it already"), "{client} {sample:?}: {twice}");
                machine
                    .run(&words(client, scope, &[&["--remove", "--yes"], &more[..more.len() / 2 * 2]].concat()))
                    .succeeded();
                assert_eq!(machine.everything(), before, "{client} {scope} {sample:?}: {written}");
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
    for (client, scope, tools) in [
        ("claude-code", "user", ".claude/settings.json"),
        ("claude-code", "project", ".claude/settings.json"),
        ("claude-code", "local", ".claude/settings.local.json"),
        ("gemini-cli", "user", ".gemini/settings.json"),
    ] {
        for sample in [
            None,
            Some(""),
            Some("{}"),
            Some("{\n  \"permissions\": {\"deny\": [\"Read\", \"Bash(rm *)\"]},\n  \"tools\": {\"exclude\": []}\n}\n"),
        ] {
            let machine = Machine::new();
            let folder = if scope == "user" { machine.home() } else { machine.project() };
            let file = folder.join(tools);
            if let Some(sample) = sample {
                fs::create_dir_all(file.parent().expect("a folder")).expect("made");
                fs::write(&file, sample).expect("written");
            }
            let before = machine.everything();
            for first in [&["--write", "--yes", "--replace"][..], &["--write", "--yes"]] {
                machine.run(&words(client, scope, first)).succeeded();
                machine.run(&words(client, scope, &["--write", "--yes", "--replace"])).succeeded();
                let written = fs::read_to_string(&file).expect("written");
                let name = if client == "claude-code" { "\"Grep\"" } else { "\"grep_search\"" };
                assert!(written.contains(name), "{written}");
                machine.run(&words(client, scope, &["--remove", "--yes"])).succeeded();
                assert_eq!(machine.everything(), before, "{client} {scope} {sample:?}: {written}");
            }
        }
    }
    let machine = Machine::new();
    let refused = machine.run(&["codex", "--write", "--yes", "--replace"]).failed(2);
    assert!(refused.contains("cannot turn off"), "{refused}");
}

#[test]
fn tools_of_deerflow_become_comments() {
    let machine = Machine::new();
    let yaml = "models: []\ntools:\n  - name: web_search\n    group: web\n  # files\n  - name: read_file\n    group: file:read\n\n  - name: bash\nnext: 1\n";
    fs::write(machine.project().join("config.yaml"), yaml).expect("written");
    fs::write(machine.project().join("extensions_config.json"), "{\"mcpServers\": {}, \"skills\": {}}")
        .expect("written");
    let before = machine.everything();
    machine.run(&["deerflow", "--write", "--yes", "--replace", "--split"]).succeeded();
    let written = fs::read_to_string(machine.project().join("extensions_config.json")).expect("written");
    assert!(written.contains("files-write") && written.contains("--read-only"), "{written}");
    let list = fs::read_to_string(machine.project().join("config.yaml")).expect("written");
    assert!(list.contains("\n# rootbound off:   - name: read_file\n") && list.contains("\n  - name: bash\n"), "{list}");
    machine.run(&["deerflow", "--remove", "--yes"]).succeeded();
    assert_eq!(machine.everything(), before);
}

#[test]
fn entry_of_another_program_comes_back_and_an_old_one_of_ours_is_updated() {
    let machine = Machine::new();
    let file = machine.file(&["cursor", "sub"]);
    fs::create_dir_all(file.parent().expect("a folder")).expect("made");
    let other = "{\"mcpServers\": {\"files\": {\"command\": \"npx\", \"args\": [\"-y\", \"other\"]}, \"z\": {}}}";
    fs::write(&file, other).expect("written");
    let refused = machine.run(&["cursor", "--remove", "--yes"]).failed(1);
    assert!(refused.contains("starts another program"), "{refused}");
    machine.run(&["cursor", "sub", "--write", "--yes"]).succeeded();
    assert!(fs::read_to_string(&file).expect("written").contains("--yes") || file.exists());
    machine.run(&["cursor", "--remove", "--yes"]).succeeded();
    assert_eq!(fs::read_to_string(&file).expect("written"), other);

    let old = "{\n  \"mcpServers\": {\n    \"files\": {\"command\": \"/old/rootbound\", \"args\": [], \"disabled\": true},\n    \"z\": {}\n  }\n}\n";
    fs::write(&file, old).expect("written");
    machine.run(&["cursor", "sub", "--write", "--yes"]).succeeded();
    let written = fs::read_to_string(&file).expect("written");
    assert!(written.contains("\"disabled\": true") && !written.contains("/old/"), "{written}");
    assert_eq!(written.matches("\"files\"").count(), 1, "{written}");
    machine.run(&["cursor", "--remove", "--yes"]).succeeded();
    assert_eq!(fs::read_to_string(&file).expect("written"), "{\n  \"mcpServers\": {\n    \"z\": {}\n  }\n}\n");
}

#[test]
fn former_table_of_codex_comes_back() {
    let machine = Machine::new();
    let file = machine.file(&["codex"]);
    fs::create_dir_all(file.parent().expect("a folder")).expect("made");
    for text in [
        "a = 1\n[mcp_servers.files]\ncommand = \"npx\" # mine\nargs = [\n  \"x\"\n]\n[mcp_servers.files.env]\nA = \"b\"\n\n[b]\nc = 1\n",
        "[mcp_servers.files]\ncommand = \"npx\"",
    ] {
        fs::write(&file, text).expect("written");
        machine.run(&["codex", "--write", "--yes"]).succeeded();
        let written = fs::read_to_string(&file).expect("written");
        assert!(written.contains("\n#| [mcp_servers.files]\n"), "{written}");
        machine.run(&["codex", "--remove", "--yes"]).succeeded();
        assert_eq!(fs::read_to_string(&file).expect("written"), text, "{written}");
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
    let mut command = program(&machine.project().join("sub"));
    command.env("HOME", machine.home()).env("USERPROFILE", machine.home()).env_remove("CLAUDE_CONFIG_DIR");
    command.args(["setup", "claude-code", "--scope", "local", "--write", "--yes"]);
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
    assert_eq!(fs::read_to_string(dotfiles.join("claude.json")).expect("kept"), "{\"a\": 1}\n");

    // A project may come from anyone: its links lead nowhere else.
    symlink("../home/dotfiles/claude.json", machine.project().join(".mcp.json")).expect("linked");
    let refused = machine.run(&["claude-code", "--scope", "project", "--write", "--yes"]).failed(1);
    assert!(refused.contains("out of the project"), "{refused}");
    assert_eq!(fs::read_to_string(dotfiles.join("claude.json")).expect("kept"), "{\"a\": 1}\n");
}

#[test]
fn of_two_entries_of_one_name_the_foreign_one_stays() {
    let machine = Machine::new();
    let file = machine.file(&words("cursor", "user", &[]));
    for text in [
        "{\"mcpServers\": {\"files\": {\"command\": \"x\"}, \"files\": {\"command\": \"y\"}}}",
        "{\"mcpServers\": {\"files-write\": {\"command\": \"rootbound\"}}}",
    ] {
        fs::create_dir_all(file.parent().expect("a folder")).expect("made");
        fs::write(&file, text).expect("written");
        machine.run(&words("cursor", "user", &["--write", "--yes"])).succeeded();
        machine.run(&["cursor", "--remove", "--yes"]).succeeded();
        assert_eq!(fs::read_to_string(&file).expect("read"), text);
    }
}

#[test]
fn changed_notes_of_an_entry_damage_nothing() {
    let machine = Machine::new();
    let file = machine.folder.path().join("c.json");
    let path = file.display().to_string();
    let entry = |note: &str, before: &str| {
        let note = note.replace('"', "\\\"");
        let text = format!(
            "{before}{{\"mcpServers\": {{\"files\": {{\"command\": \"rootbound\", \"env\": {{\"ROOTBOUND_SETUP\": \"{note}\"}}}}}}}}"
        );
        fs::write(&file, &text).expect("written");
        let outcome = machine.run(&["cursor", "--remove", "--yes", "--file", &path]);
        (outcome.code, text, fs::read_to_string(&file).unwrap_or_default())
    };
    for (note, left) in [
        ("document=64", "// \u{e9}\u{e9}"),
        ("document=3", "// \u{e9}\u{e9}"),
        ("document=0", "// \u{e9}\u{e9}\n"),
        ("containers=64", "// \u{e9}\u{e9}\n{}"),
        ("padding=64", "// \u{e9}\u{e9}\n{\"mcpServers\": {}}"),
    ] {
        let (code, _, now) = entry(note, "// \u{e9}\u{e9}\n");
        assert_eq!((code, now.as_str()), (Some(0), left), "{note}");
    }
    for note in ["was=", "was=}", "was={", "was={},\"x\":1", "was=1 // x", "was={}} // "] {
        let (code, before, now) = entry(note, "");
        assert_eq!((code, now), (Some(1), before), "{note}");
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
