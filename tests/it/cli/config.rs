//! The command line as a person meets it: exit codes, what goes where, and the manifest.

use std::{fs, path::Path};

use file_tools::{Selection, Toolbox};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{
    harness::process::Process,
    harness::program::{Outcome, program},
};

/// A home directory with a project in it.
struct Project {
    home: TempDir,
}

impl Project {
    fn new() -> Self {
        let home = tempfile::tempdir().expect("a folder");
        fs::create_dir(home.path().join("project")).expect("made");
        fs::write(home.path().join("project/a.txt"), "one\ntwo\n").expect("written");
        Self { home }
    }

    fn folder(&self) -> std::path::PathBuf {
        self.home.path().join("project")
    }

    /// Runs the program in `folder` with only the six variables that a bare client passes on, and `variables`.
    fn run_with(&self, folder: &Path, variables: &[(&str, &str)], arguments: &[&str]) -> Outcome {
        let mut command = program(folder);
        command.env_clear().env("HOME", self.home.path());
        // Windows starts nothing without SystemRoot and finds the home directory by USERPROFILE.
        for kept in ["PATH", "LOGNAME", "SHELL", "TERM", "USER", "SystemRoot", "TEMP"] {
            if let Some(value) = std::env::var_os(kept) {
                command.env(kept, value);
            }
        }
        command.env("USERPROFILE", self.home.path());
        Outcome::of(command.envs(variables.iter().copied()).args(arguments))
    }

    fn run(&self, arguments: &[&str]) -> Outcome {
        self.run_with(&self.folder(), &[], arguments)
    }
}

#[test]
fn mask_is_answered_as_any_wrong_value_of_secrets() {
    let project = Project::new();
    let printed = ["mask", "musk"].map(|value| project.run(&["--secrets", value]).failed(2));
    assert_eq!(printed[0].replace("mask", "musk"), printed[1]);
    assert!(printed[1].contains("deny") && printed[1].contains("names"), "{}", printed[1]);
}

#[test]
fn each_configuration_problem_is_one_line_on_stderr() {
    let project = Project::new();
    fs::write(project.folder().join("r.toml"), "read_onyl = true\n").expect("written");
    let variables = [("ROOTBOUND_MAX_FILES_CREATED", "many")];
    let arguments = ["--config", "r.toml", "--log", "loud", "--root", "x y=z"];
    let printed = project.run_with(&project.folder(), &variables, &arguments).failed(2);
    assert_eq!(printed.lines().count(), 4, "{printed}");
    for part in ["r.toml:1: unknown key", "did you mean read_only?", "--log", "ROOTBOUND_MAX_FILES_CREATED", "x y=z"] {
        assert!(printed.contains(part), "{part}: {printed}");
    }
}

#[test]
fn an_invalid_pattern_is_a_configuration_problem() {
    let printed = Project::new().run(&["--deny", "a[", "--log", "loud", "tools"]).failed(2);
    assert!(printed.contains("a[") && printed.contains("--log"), "{printed}");
}

#[test]
fn home_and_file_system_root_are_refused_as_current_directory() {
    let project = Project::new();
    let printed = project.run_with(project.home.path(), &[], &["call", "ls"]).failed(2);
    assert!(printed.contains("home directory") && printed.contains("rootbound DIR"), "{printed}");
    if cfg!(unix) {
        let printed = project.run_with(Path::new("/"), &[], &["tools"]).failed(2);
        assert!(printed.contains("the current one is /"), "{printed}");
        project.run(&["/", "tools"]).failed(2);
    }
}

/// The names of the tools that are offered with this selection.
fn offered(selection: &Selection) -> Vec<&'static str> {
    Toolbox::new(selection).tools().iter().map(|tool| tool.spec.name).collect()
}

/// A server that a client starts in `folder`, with the home directory of `project`.
fn started_in(project: &Project, folder: &Path, variables: &[(&str, &str)], arguments: &[&str]) -> Process {
    let mut command = program(folder);
    command.env_remove("CLAUDE_PROJECT_DIR").env("HOME", project.home.path()).env("USERPROFILE", project.home.path());
    command.envs(variables.iter().copied()).args(arguments);
    Process::spawn(command)
}

#[test]
fn server_without_a_directory_answers_each_call_with_the_reason() {
    let project = Project::new();
    let audit = tempfile::tempdir().expect("a folder");
    let file = audit.path().join("calls.jsonl");
    let mut server = started_in(&project, project.home.path(), &[], &["--audit", file.to_str().expect("UTF-8")]);
    let hello = server.initialize();
    assert!(hello["instructions"].as_str().is_some_and(|text| text.contains("is the home directory")), "{hello}");
    let listed = server.ask("tools/list", &json!({}));
    let count = listed["result"]["tools"].as_array().map(Vec::len);
    assert_eq!(count, Some(offered(&Selection::default()).len()), "{listed}");
    for (tool, arguments) in [
        ("ls", json!({})),
        ("read", json!({"path": "project/a.txt"})),
        ("read", json!({"path": project.folder().join("a.txt")})),
        ("grep", json!({"pattern": "two"})),
        ("write", json!({"path": "new.txt", "content": "x"})),
        ("edit", json!({})),
    ] {
        let answer = server.ask("tools/call", &json!({"name": tool, "arguments": arguments}))["result"].clone();
        let text = answer["content"][0]["text"].as_str().expect("text");
        assert!(answer["isError"] == true && text.contains("the current one is the home directory"), "{answer}");
        assert!(text.contains("hint: ") && text.contains("args"), "{answer}");
        assert!(!text.contains(project.home.path().to_str().expect("UTF-8")), "{answer}");
    }
    for (method, params) in [
        ("resources/list", json!({})),
        ("resources/read", json!({"uri": "file:///project/a.txt"})),
        ("resources/templates/list", json!({})),
    ] {
        let answer = server.ask(method, &params).to_string();
        assert!(!answer.contains("one\\n") && !answer.contains("a.txt\",\"name"), "{answer}");
    }
    server.end_input();
    assert!(server.exit().0.success());
    assert!(!project.home.path().join("new.txt").exists());
    assert!(fs::read_to_string(&file).expect("recorded").lines().count() >= 6);
    // Nothing but this reason starts a server that offers nothing.
    for arguments in [&["--log=loud"][..], &["--root", "/"], &["call", "ls"], &["doctor"]] {
        let printed = project.run_with(project.home.path(), &[], arguments);
        assert_eq!(printed.code, Some(2), "{arguments:?}: {}", printed.stderr);
    }
}

#[test]
fn open_project_of_claude_code_takes_the_place_of_the_home_directory() {
    let project = Project::new();
    let open = project.folder();
    let variables = [("CLAUDE_PROJECT_DIR", open.to_str().expect("UTF-8"))];
    let mut server = started_in(&project, project.home.path(), &variables, &[]);
    server.initialize();
    let answer = server.ask("tools/call", &json!({"name": "read", "arguments": {"path": "a.txt"}}));
    assert!(answer["result"]["content"][0]["text"].as_str().is_some_and(|text| text.contains("1\tone")), "{answer}");
    let read = project.run_with(project.home.path(), &variables, &["call", "read", "path=a.txt"]);
    assert!(read.succeeded().contains("1\tone"));
}

#[cfg(unix)]
#[test]
fn links_on_the_way_to_own_folders_are_followed_once() {
    use std::os::unix::fs::symlink;
    let disk = tempfile::tempdir().expect("a folder");
    let at = |name: &str| disk.path().join(name).to_str().expect("UTF-8").to_owned();
    let chain = |project: &Project, link: &Path| {
        // A link to a link, as managers of dotfiles make them.
        fs::create_dir_all(disk.path().join("real")).expect("made");
        let _ = symlink("real", disk.path().join("between"));
        fs::create_dir_all(project.home.path().join(link.parent().expect("a folder"))).expect("made");
        symlink(disk.path().join("between"), project.home.path().join(link)).expect("linked");
    };
    for (link, variables, arguments) in [
        (".local", &[][..], &[][..]),
        (".local/state", &[], &[]),
        (".local/state/rootbound", &[], &[]),
        ("way", &["XDG_STATE_HOME"], &[]),
        ("way", &[], &["--state-dir"]),
    ] {
        let project = Project::new();
        chain(&project, Path::new(link));
        let way = project.home.path().join("way/deep");
        let variables: Vec<(&str, &str)> = variables.iter().map(|name| (*name, way.to_str().expect("UTF-8"))).collect();
        let mut words = arguments.to_vec();
        words.extend(arguments.iter().map(|_| way.to_str().expect("UTF-8")));
        words.push("call");
        let call = |more: &[&str]| project.run_with(&project.folder(), &variables, &[&words, more].concat());
        let read = call(&["read", "path=a.txt"]);
        assert_eq!(read.stderr, "", "{link}");
        read.succeeded();
        call(&["edit", "path=a.txt", "old_string=two", "new_string=2"]).succeeded();
        assert!(project.home.path().join(link).is_symlink());
        assert!(fs::read_dir(disk.path().join("real")).expect("a folder").next().is_some(), "{link}");
        fs::remove_dir_all(disk.path().join("real")).expect("removed");
    }
    let project = Project::new();
    chain(&project, Path::new("logs"));
    let logs = project.home.path().join("logs");
    let (audit, events) = (logs.join("a/calls.jsonl"), logs.join("e/changes.jsonl"));
    let words = ["--audit", audit.to_str().expect("UTF-8"), "--events", events.to_str().expect("UTF-8")];
    project.run(&[&words[..], &["call", "write", "path=n.txt", "content=x"]].concat()).succeeded();
    for file in ["real/a/calls.jsonl", "real/e/changes.jsonl"] {
        assert!(fs::read_to_string(at(file)).expect("written").contains("n.txt"), "{file}");
    }
    // What the link leads to is what is checked.
    symlink(project.folder(), project.home.path().join("inside")).expect("linked");
    let inside = project.home.path().join("inside/own");
    let file = inside.join("x.jsonl");
    for (option, path) in [("--state-dir", &inside), ("--audit", &file), ("--events", &file)] {
        let refused = project.run(&[option, path.to_str().expect("UTF-8"), "tools"]).failed(2);
        assert!(refused.contains("which is offered"), "{refused}");
    }
    assert!(!project.folder().join("own").exists());
    // What leads nowhere is named; only the usual place is done without.
    symlink("loop", project.home.path().join("loop")).expect("linked");
    symlink("gone", project.home.path().join("dangling")).expect("linked");
    for nowhere in ["loop", "dangling"].map(|link| project.home.path().join(link)) {
        let link = format!("{} is a link that leads nowhere", nowhere.display());
        let (folder, file) = (nowhere.join("own"), nowhere.join("own/x.jsonl"));
        for (option, path) in
            [("--state-dir", &nowhere), ("--state-dir", &folder), ("--audit", &file), ("--events", &file)]
        {
            let refused = project.run(&[option, path.to_str().expect("UTF-8"), "--log=loud", "tools"]).failed(2);
            assert!(refused.contains(&link) && refused.contains("--log"), "{refused}");
        }
        let state = [("XDG_STATE_HOME", nowhere.to_str().expect("UTF-8"))];
        let called = project.run_with(&project.folder(), &state, &["call", "read", "path=a.txt"]);
        assert!(called.stderr.starts_with("rootbound: ") && called.stderr.contains(&link), "{}", called.stderr);
        called.succeeded();
    }
    // A link in the place of a log itself may be somebody else's.
    symlink(at("real/target"), at("real/link.jsonl")).expect("linked");
    let refused = project.run(&["--audit", logs.join("link.jsonl").to_str().expect("UTF-8"), "tools"]);
    assert!(refused.failed(2).contains("cannot be written"));
    assert!(!Path::new(&at("real/target")).exists());
}

#[test]
fn one_missing_root_is_a_warning_and_no_usable_root_an_error() {
    let project = Project::new();
    let one = project.run(&["--root", "here=.", "--root", "gone=missing", "call", "read", "path=here/a.txt"]);
    assert!(one.stderr.starts_with("rootbound: root ") && one.stderr.contains("missing"), "{}", one.stderr);
    assert_eq!(one.stderr.lines().count(), 1, "a sentence, no line of the log: {}", one.stderr);
    let words = ["--root", "here=.", "--root", "later=new:optional", "call", "ls", "path=later"];
    let refused = project.run(&words).failed(1);
    assert!(!refused.contains("WARN") && refused.starts_with("the directory later"), "{refused}");
    let logged = project.run(&[&["--log", "warn"], &words[..]].concat()).failed(1);
    assert!(logged.contains("WARN"), "asked for: {logged}");
    assert!(one.succeeded().contains("1\tone"));
    let printed = project.run(&["--root", "gone=missing", "tools"]).failed(2);
    assert!(printed.contains("missing"), "{printed}");
}

#[test]
fn call_prints_the_answer_or_exits_with_the_error_of_the_tool() {
    let project = Project::new();
    assert!(project.run(&["call", "grep", "pattern=two", "max_results=1"]).succeeded().contains("a.txt:2: two"));
    assert!(project.run(&["call", "grep", r#"{"pattern":"two","output_mode":"count"}"#]).succeeded().contains("a.txt"));
    assert!(project.run(&["call", "read", "path=b.txt"]).failed(1).contains("b.txt"));
    assert!(project.run(&["call", "raed", "path=a.txt"]).failed(1).contains("read"));
    assert!(project.run(&["call", "read", "a.txt"]).failed(2).contains("key=value"));
}

#[test]
fn a_file_read_by_one_process_can_be_edited_by_the_next() {
    let project = Project::new();
    let mount = ["--root", "/mnt/user-data/workspace=.", "call"];
    let call = |words: &[&str]| project.run(&[&mount[..], words].concat());
    let edit = ["edit", "path=/mnt/user-data/workspace/a.txt", "old_string=two", "new_string=2"];

    let unread = call(&edit).failed(1);
    let read = call(&["read", "path=/mnt/user-data/workspace/a.txt"]).succeeded();
    let edited = call(&edit).succeeded();

    assert_eq!(fs::read(project.folder().join("a.txt")).expect("there"), b"one\n2\n");
    let home = project.home.path().to_str().expect("UTF-8");
    for text in [unread, read, edited] {
        assert!(!text.contains(home), "{text}");
    }
}

#[test]
fn an_unfilled_placeholder_of_a_client_is_reported() {
    let printed = Project::new().run(&["${user_config.roots}"]).failed(2);
    assert!(printed.contains("${user_config.roots}"), "{printed}");
}

#[test]
fn help_and_version_go_to_stdout() {
    let project = Project::new();
    let help = project.run(&["--help"]).succeeded();
    assert!(help.contains("--read-before-write") && help.contains("Examples:"), "{help}");
    assert_eq!(project.run(&["--version"]).succeeded().trim(), concat!("rootbound ", env!("CARGO_PKG_VERSION")));
    assert!(project.run(&["--eval", "x"]).failed(2).contains("--eval"));
    assert_eq!(project.run(&["help"]).succeeded(), help);
    assert!(project.run(&["help", "call"]).succeeded().contains("rootbound call [OPTIONS] TOOL"));
}

#[test]
fn an_unknown_option_is_named_whatever_follows_it() {
    let project = Project::new();
    for words in [&["--unknown", "3", "call", "grep", "pattern=x"][..], &["--unknown=3", "grep", "x"]] {
        let printed = project.run(words).failed(2);
        assert!(printed.contains("--unknown") && !printed.contains("not a directory"), "{printed}");
    }
    assert!(project.run(&["grep", "-i", "x"]).failed(2).contains("rootbound call grep pattern=x"));
}

#[test]
fn a_misspelled_tool_is_answered_with_the_nearest_one() {
    let printed = Project::new().run(&["call", "read_text_file", "path=a.txt"]).failed(1);
    assert!(printed.contains("unknown tool \"read_text_file\"; did you mean read?"), "{printed}");
}

#[test]
fn tools_lists_what_a_client_would_be_offered() {
    let project = Project::new();
    let names = |text: &str| -> Vec<String> {
        text.lines().filter_map(|line| line.split_whitespace().next()).map(str::to_owned).collect()
    };
    assert_eq!(names(&project.run(&["tools"]).succeeded()), offered(&Selection::default()));
    let reading = names(&project.run(&["tools", "--read-only"]).succeeded());
    assert_eq!(reading, offered(&Selection { read_only: true, ..Selection::default() }));
    assert!(["grep", "read"].iter().all(|tool| reading.iter().any(|one| one == tool)), "{reading:?}");
}

#[test]
fn the_manifest_lists_the_tools_that_are_offered() {
    let text = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/mcp-manifest.json")).expect("there");
    let manifest: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(manifest["version"], env!("CARGO_PKG_VERSION"));

    let list = Project::new().run(&["tools", "--json"]).succeeded();
    let list: Value = serde_json::from_str(&list).expect("JSON");
    let offered: Vec<(String, String)> = list["tools"].as_array().expect("a list").iter().map(summary).collect();
    let report: Vec<(String, String)> = manifest["tools"].as_array().expect("a list").iter().map(summary).collect();
    assert_eq!(report, offered);
}

#[test]
fn the_manifest_starts_the_server_with_defaults() {
    let text = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/mcp-manifest.json")).expect("there");
    let manifest: Value = serde_json::from_str(&text).expect("JSON");
    let variables: Vec<(String, String)> = manifest["server"]["mcp_config"]["env"]
        .as_object()
        .expect("an object")
        .iter()
        .map(|(name, value)| {
            let option = value.as_str().and_then(|text| text.strip_prefix("${user_config.")?.strip_suffix('}'));
            let default = &manifest["user_config"][option.expect("a setting")]["default"];
            // As a client writes it: text as it is, the rest as JSON.
            (name.clone(), default.as_str().map_or_else(|| default.to_string(), str::to_owned))
        })
        .collect();
    let variables: Vec<(&str, &str)> = variables.iter().map(|(name, value)| (&**name, &**value)).collect();
    assert!(!variables.is_empty());
    let project = Project::new();
    let folder = project.folder();
    let arguments = [folder.to_str().expect("UTF-8"), "call", "read", "path=a.txt"];
    assert!(project.run_with(project.home.path(), &variables, &arguments).succeeded().contains("1\tone"));
}

/// A tool's name and the first sentence of its description.
fn summary(tool: &Value) -> (String, String) {
    let text = |key: &str| tool[key].as_str().expect("text").to_owned();
    let description = text("description");
    let line = description.lines().next().unwrap_or_default();
    let sentence = line.find(". ").map_or(line, |dot| &line[..=dot]);
    (text("name"), sentence.to_owned())
}

#[test]
fn a_root_table_of_the_file_has_its_own_rules() {
    let project = Project::new();
    for (path, text) in [("a.private", "one"), ("dev.pem", "key"), ("internal/x", "two")] {
        for root in ["docs", "code"] {
            let path = project.folder().join(root).join(path);
            fs::create_dir_all(path.parent().expect("a folder")).expect("made");
            fs::write(path, text).expect("written");
        }
    }
    let rules = "root = [\n  { path = \"docs\", read_only = false, deny = \"*.private\", hide = [\"internal\"],\n    \
                 protect = [\"*.lock\"], allow_secret = [\"dev.pem\"] },\n  \"source=code\",\n]\n";
    fs::write(project.folder().join("r.toml"), rules).expect("written");
    let call = |words: &[&str]| project.run(&[&["--config", "r.toml", "call"], words].concat());

    assert!(call(&["read", "path=docs/a.private"]).failed(1).contains("denied"));
    assert!(call(&["read", "path=source/a.private"]).succeeded().contains("1\tone"));
    assert!(call(&["read", "path=docs/dev.pem"]).succeeded().contains("1\tkey"));
    assert!(call(&["read", "path=source/dev.pem"]).failed(1).contains("denied"));
    assert!(call(&["write", "path=docs/c.lock", "content=x"]).failed(1).contains("*.lock"));
    assert!(!project.folder().join("docs/c.lock").exists());
    call(&["write", "path=source/c.lock", "content=x"]).succeeded();
    assert_eq!(fs::read(project.folder().join("code/c.lock")).expect("there"), b"x");
    let found = call(&["glob", "pattern=**/x"]).succeeded();
    assert!(found.contains("source/internal/x") && !found.contains("docs/internal"), "{found}");

    let report = project.run(&["--config", "r.toml", "--state-dir", "off", "doctor"]).succeeded();
    for line in ["below docs, content also refused: *.private", "below docs, secrets that may be read: dev.pem"] {
        assert!(report.contains(line), "{line}: {report}");
    }
    assert!(!report.contains("below source"), "{report}");

    let warned = project.run(&["--config", "r.toml", "--root", "code", "call", "ls"]);
    assert!(warned.stderr.contains("r.toml:2") && warned.stderr.contains("rules are not used"), "{}", warned.stderr);
}

#[test]
fn files_with_a_denied_ending_are_refused_whatever_their_case() {
    let project = Project::new();
    for name in ["tool.exe", "TOOL.EXE", "a.tar.gz", "b.gz", "x.Drawing", ".drawing"] {
        fs::write(project.folder().join(name), "text").expect("written");
    }
    fs::write(project.folder().join("r.toml"), "[[root]]\npath = \".\"\ndeny = [\"*.drawing\"]\n").expect("written");
    let options = ["--config", "r.toml", "--deny", "*.exe", "--deny", "*.tar.gz", "call"];
    let call = |words: &[&str]| project.run(&[&options[..], words].concat());
    for name in ["tool.exe", "TOOL.EXE", "a.tar.gz", "x.Drawing", ".drawing"] {
        let path = format!("path={name}");
        let printed = call(&["read", &path]).failed(1);
        assert!(
            printed
                .contains(&format!("access denied: {name} is denied by a rule of this server (matches the rule `*.")),
            "{printed}"
        );
        call(&["write", &path, "content=new"]).failed(1);
        assert_eq!(fs::read(project.folder().join(name)).expect("there"), b"text");
    }
    assert!(call(&["read", "path=b.gz"]).succeeded().contains("text"));
    call(&["write", "path=new.exe", "content=x"]).failed(1);
    assert!(!project.folder().join("new.exe").exists());
    let found = call(&["grep", "pattern=text", "output_mode=files_with_matches"]).succeeded();
    assert!(found.contains("b.gz") && !found.to_lowercase().contains("exe"), "{found}");
}

#[test]
fn a_name_hidden_in_the_outer_root_is_not_shown_through_it_in_an_inner_root() {
    let project = Project::new();
    for path in ["in/secret/x.txt", "in/deep/secret", "in/plain.txt"] {
        let path = project.folder().join(path);
        fs::create_dir_all(path.parent().expect("it has one")).expect("made");
        fs::write(path, "words\n").expect("written");
    }
    let rules =
        "[[root]]\npath = \".\"\nname = \"outer\"\nhide = [\"secret\"]\n\n[[root]]\npath = \"in\"\nname = \"inner\"\n";
    fs::write(project.folder().join("r.toml"), rules).expect("written");
    let call = |more: &[&str]| project.run(&[&["--config", "r.toml", "call"], more].concat()).succeeded();
    for path in ["outer", "outer/in"] {
        let path = format!("path={path}");
        for found in [
            call(&["ls", &path, "depth=5"]),
            call(&["glob", "pattern=**/*", &path, "include_dirs=true"]),
            call(&["grep", "pattern=words", &path]),
        ] {
            assert!(
                found.contains("plain.txt") && !found.contains("secret") && !found.contains("unreadable"),
                "{found}"
            );
        }
    }
    for path in ["secret/x.txt", "secret/new.txt", "deep/secret"] {
        let path = format!("path=outer/in/{path}");
        let printed = project.run(&["--config", "r.toml", "call", "write", &path, "content=x"]).failed(1);
        assert!(printed.contains("a name that is reserved"), "there or not: {printed}");
        project.run(&["--config", "r.toml", "--allow", "manage", "call", "delete", &path]).failed(1);
    }
    assert!(project.folder().join("in/deep/secret").exists() && !project.folder().join("in/secret/new.txt").exists());
    // The rules of the inner one count for what is asked of it.
    assert!(call(&["ls", "path=inner", "depth=5"]).contains("secret"));
    assert!(call(&["grep", "pattern=words"]).contains("inner/secret/x.txt"));
}

#[test]
fn a_pattern_that_can_never_match_is_a_configuration_problem() {
    let project = Project::new();
    let (folder, home) = (project.folder(), project.home.path());
    let inside = folder.join("keys/*.pem").display().to_string();
    let outside = home.join(".ssh/**").display().to_string();
    let file = format!("[[root]]\npath = \".\"\nhide = [\"a//b\", {inside:?}]\n");
    fs::write(folder.join("r.toml"), file).expect("written");
    let options = ["--deny", "../x", "--hide", "~/x", "--protect", &inside, "--allow-secret", "!.env"];
    let more = ["--allow-protected", &outside, "--deny", "C:\\keys", "--config", "r.toml", "tools"];
    let printed = project.run(&[options.as_slice(), &more].concat()).failed(2);
    for complaint in [
        "--deny pattern \"../x\" would never match as it is meant: `..` is not a name",
        "--hide pattern \"~/x\" would never match as it is meant: ~ is not a directory here",
        "would never match as it is meant: it is a path of this machine, but a pattern begins at the root: write /keys/*.pem",
        "--allow-secret pattern \"!.env\" would never match as it is meant: a leading ! does not negate a pattern",
        "would never match as it is meant: it is a path of this machine outside of the directories offered",
        "--deny pattern \"C:\\\\keys\" would never match as it is meant: it is an absolute path",
        "r.toml:3: hide pattern \"a//b\" would never match as it is meant: a name between two slashes is missing",
    ] {
        assert!(printed.contains(complaint), "{complaint}\n{printed}");
    }
    assert_eq!(printed.matches("write /keys/*.pem").count(), 2, "the option's and the file's: {printed}");

    // A folder in the root that happens to have the name of one above it. On Windows the drive is wrong in any case.
    if cfg!(unix) {
        fs::remove_file(folder.join("r.toml")).expect("there");
        let first = folder.components().nth(1).expect("not the file system's root");
        fs::create_dir(folder.join(first)).expect("made");
        project.run(&["--protect", &inside, "tools"]).succeeded();
    }
}

#[test]
fn deny_and_hide_match_names_that_fold_to_the_pattern() {
    // No name on Windows ends with a dot or a space or has a colon.
    let odd: &[&str] = if cfg!(windows) { &[] } else { &["secret.", "notes ", "k:$v"] };
    for name in odd.iter().chain(&["a\u{200d}b.dat", "\u{2764}\u{fe0f}.md", "［x］.dat", "é.k2"]).copied() {
        let project = Project::new();
        fs::write(project.folder().join(name), "kept").expect("written");
        let path = format!("path={name}");
        let pattern = if name == "é.k2" { "?.k2" } else { name };
        let printed = project.run(&["--deny", pattern, "call", "read", &path]).failed(1);
        assert!(printed.contains("access denied"), "{name:?}: {printed}");
        project.run(&["--deny", pattern, "call", "write", &path, "content=new"]).failed(1);
        assert_eq!(fs::read(project.folder().join(name)).expect("there"), b"kept", "{name:?}");
        let printed = project.run(&["--hide", pattern, "call", "read", &path]).failed(1);
        assert!(!printed.contains("kept"), "{name:?}: {printed}");
        assert!(
            !project.run(&["--hide", pattern, "call", "grep", "pattern=kept"]).succeeded().contains(":kept"),
            "{name:?}"
        );
    }
}

#[test]
fn the_configuration_file_is_not_written_whatever_its_name() {
    // No name on Windows ends with a dot or a space or has a backslash.
    let odd: &[&str] = if cfg!(windows) { &[] } else { &["rb.toml.", "rb .toml ", "r\\b.toml"] };
    for name in odd.iter().chain(&["rb.toml", "rb\u{ad}.toml", "［x］.toml", "r[b]{,}.toml", "\u{200b}"]).copied() {
        let project = Project::new();
        fs::write(project.folder().join(name), "deny = [\"x\"]\n").expect("written");
        let path = format!("path={}", name.replace('\\', "\\\\"));
        let options = ["--config", name, "--read-before-write", "off", "call", "write", &path, "content=a"];
        let printed = project.run(&options).failed(1);
        assert!(
            printed.contains("is a secret file") || printed.contains("protected from writing"),
            "{name:?}: {printed}"
        );
        assert_eq!(fs::read(project.folder().join(name)).expect("there"), b"deny = [\"x\"]\n", "{name:?}");
    }
}

#[test]
fn agent_rules_are_enforced_unless_switched_off() {
    let project = Project::new();
    fs::write(project.folder().join(".cursorignore"), "a.txt\n").expect("written");
    fs::write(project.home.path().join("rb.toml"), "agent_rules = \"off\"\n").expect("written");
    let read = ["call", "read", "path=a.txt"];
    assert!(
        project
            .run(&read)
            .failed(1)
            .contains("a.txt is denied by a rule of this server (matches the rule `a.txt` in .cursorignore)")
    );
    assert!(
        project.run(&[&["--agent-rules", "auto"][..], &read].concat()).failed(1).contains("`a.txt` in .cursorignore")
    );
    let refused = project.run(&["--protect", "b.*", "call", "write", "path=b.txt", "content=x"]).failed(1);
    assert!(refused.contains("(matches the rule `b.*` of protect)") && refused.contains("a person"), "{refused}");
    for options in [["--agent-rules", "off"], ["--config", "../rb.toml"]] {
        assert!(project.run(&[&options[..], &read].concat()).succeeded().contains("one"), "{options:?}");
    }
    let variables = [("ROOTBOUND_AGENT_RULES", "off")];
    assert!(project.run_with(&project.folder(), &variables, &read).succeeded().contains("one"));
    let printed = project.run(&[&["--agent-rules", "on"][..], &read].concat()).failed(2);
    assert!(printed.contains("--agent-rules \"on\" is unknown: choose one of auto, off"), "{printed}");
}

#[test]
fn every_mistake_in_the_roots_of_the_file_is_reported_at_once() {
    let project = Project::new();
    let text = "[[root]]\npath = \"docs\"\nallow_secrets = [\"x\"]\ndeny = [\"a[\"]\n\n[[root]]\nname = \"a b\"\npath = \"x\"\n\n\
                [[root]]\nhide = [\"y\"]\n";
    fs::write(project.folder().join("r.toml"), text).expect("written");
    let printed = project.run(&["--config", "r.toml", "--deny", "b[", "tools"]).failed(2);
    assert_eq!(printed.lines().count(), 5, "{printed}");
    for part in [
        "r.toml:3: unknown key of a root \"allow_secrets\": did you mean allow_secret?",
        "r.toml:4: deny pattern \"a[\"",
        "--deny pattern \"b[\"",
        "' ' in the NAME \"a b\"",
        "a root without a path",
    ] {
        assert!(printed.contains(part), "{part}: {printed}");
    }
}

#[test]
fn errors_about_large_patterns_name_limit_and_value() {
    let project = Project::new();
    let (glob, regex, compiled) = ("a".repeat(1025), "b".repeat(8193), "[\\w--a]".repeat(1000) + "\\w{2900}");
    for (tool, pattern, printed) in [
        ("glob", glob.as_str(), "it has 1025 bytes, more than 1024"),
        ("grep", regex.as_str(), "the pattern has 8193 bytes, more than 8192"),
        ("grep", "(.{1,100}){1,60}", "expand to 6000 positions, more than 3000"),
        ("grep", compiled.as_str(), "compiled, it has more than 10485760 bytes"),
    ] {
        let text = project.run(&["call", tool, &format!("pattern={pattern}")]).failed(1);
        assert!(text.contains(printed) && text.contains("hint: "), "{pattern}: {text}");
    }
    let text = project.run(&["call", "grep", "pattern=tw[o]", &format!("glob={glob}")]).failed(1);
    assert!(text.contains("it has 1025 bytes, more than 1024"), "{text}");
    assert!(project.run(&["call", "grep", "pattern=tw[o]", "glob=*.txt"]).succeeded().contains("a.txt:2: two"));
}

#[test]
fn unknown_names_are_refused_all_at_once_with_the_nearest_one() {
    let project = Project::new();
    fs::write(project.folder().join("r.toml"), "max_message = 10\n[[root]]\npath = \".\"\ndenny = [\"exe\"]\n")
        .expect("written");
    let variables = [("ROOTBOUND_EVENT", "x"), ("ROOTBOUND_WAIT_LIMIT", "1"), ("ROOTBOUND_INDEX", "memory")];
    let printed = project.run_with(&project.folder(), &variables, &["--config", "r.toml", "--log", "loud"]).failed(2);
    for part in [
        "ROOTBOUND_EVENT is not a variable of rootbound: did you mean ROOTBOUND_EVENTS?\n",
        "ROOTBOUND_WAIT_LIMIT is not a variable of rootbound: unset it; `rootbound --help` lists the options\n",
        "ROOTBOUND_INDEX \"memory\" is unknown: choose one of auto, eager, off\n",
        "r.toml:1: unknown key \"max_message\": ",
        "r.toml:4: unknown key of a root \"denny\": did you mean deny?\n",
        "--log \"loud\"",
    ] {
        assert!(printed.contains(part), "{part}: {printed}");
    }
    assert_eq!(printed.lines().count(), 6, "{printed}");
    let printed = project.run(&["--max-glob", "5"]).failed(2);
    assert!(printed.contains("unexpected argument '--max-glob'"), "{printed}");
    assert!(printed.contains("tip: a similar argument exists: '--"), "{printed}");
}

#[test]
fn a_wrong_value_is_reported_with_its_origin() {
    let project = Project::new();
    for (variables, printed) in [
        ([("ROOTBOUND_ALLOW", "shell")], "ROOTBOUND_ALLOW \"shell\" is not a group of tools"),
        ([("ROOTBOUND_TOOLS", "read,copy")], "ROOTBOUND_TOOLS names copy, which the other options exclude"),
        ([("ROOTBOUND_TOOLS", "read,copy")], "options exclude: add --allow manage"),
        ([("ROOTBOUND_TOOLS", "read,wait")], "options exclude: add --allow watch"),
        ([("ROOTBOUND_TOOLS", "apply_patch")], "options exclude: add --allow patch"),
        ([("ROOTBOUND_TOOLS", "present")], "options exclude: add --allow present"),
        ([("ROOTBOUND_IGNORE", "a{b")], "ROOTBOUND_IGNORE: ignore pattern \"a{b\""),
    ] {
        let complaints = project.run_with(&project.folder(), &variables, &["tools"]).failed(2);
        assert!(complaints.contains(printed), "{printed:?} is not in\n{complaints}");
    }
    for (tools, next) in [("wait", "add --allow watch"), ("write", "remove it, or remove --read-only")] {
        let complaints =
            project.run_with(&project.folder(), &[], &["--read-only", "--tools", tools, "tools"]).failed(2);
        assert!(complaints.contains(next), "{complaints}");
    }
    // Groups are written as freely as every other choice.
    let listed = project.run_with(&project.folder(), &[("ROOTBOUND_ALLOW", "Manage")], &["tools"]).succeeded();
    assert!(listed.contains("mkdir"), "{listed}");
}

#[test]
fn range_errors_show_bounds_with_units() {
    let project = Project::new();
    for (option, value, printed) in [
        ("--max-files-created", "many", "write a whole number of at least 0\n"),
        ("--max-image-size", "0", "choose 1 byte to 256 MiB\n"),
        ("--history-size", "1", "choose at least 1 MiB\n"),
    ] {
        let complaints = project.run_with(&project.folder(), &[], &[option, value, "tools"]).failed(2);
        assert!(complaints.contains(printed), "{printed:?} is not in\n{complaints}");
    }
}

#[test]
fn empty_value_is_one_line_wherever_it_is_given() {
    let project = Project::new();
    let config = ["--config", "r.toml"];
    for (file, variables, arguments) in [
        ("max_output =", &[][..], &config[..]),
        ("max_output = \"\"", &[], &config),
        ("index_size =\nmax_output = 5000", &[], &config),
        ("", &[("ROOTBOUND_MAX_OUTPUT", " ")], &[]),
        ("", &[], &["--max-output="]),
    ] {
        fs::write(project.folder().join("r.toml"), file).expect("written");
        let printed = project.run_with(&project.folder(), variables, &[arguments, &["tools"]].concat()).failed(2);
        assert_eq!(printed.lines().count(), 1, "{file}: {printed}");
    }
    // Clients pass that for what their own configuration leaves out.
    project.run_with(&project.folder(), &[("ROOTBOUND_MAX_OUTPUT", "")], &["tools"]).succeeded();
}
