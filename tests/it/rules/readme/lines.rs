//! Every `rootbound` line and every configuration of the README and of `docs/`, run in a clone by an ordinary user.

use std::{
    collections::BTreeSet,
    fs,
    io::Write as _,
    os::unix::{
        fs::{PermissionsExt as _, chown},
        process::CommandExt as _,
    },
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use rustix::process::geteuid;
use serde_json::Value;
use tempfile::TempDir;

use super::pages;
use crate::harness::program::Outcome;

/// `nobody`, if the tests run as root.
const SOMEBODY: u32 = 65534;

/// Lines that are not run here, and why.
const NOT_RUN: &[(&str, &str)] = &[
    ("rootbound call", "the name of a command, not a call"),
    ("rootbound index", "the name of a command, not a call"),
    ("rootbound exec", "the name of a command, not a call"),
    ("rootbound completions", "the name of a command, not a call"),
    (
        "rootbound exec --root ~/code/app -- npm test",
        "needs the project's programs: exec::commands_of_the_page runs it",
    ),
    ("rootbound exec --root . --network --env GITHUB_TOKEN -- gh pr list", "needs the client of GitHub: as above"),
    (
        "rootbound exec --root ~/code/app:ro --root ~/code/app/target --read ~/.cargo/bin --read ~/.cargo/registry \
         --read ~/.rustup -- cargo check",
        "needs a toolchain in the home directory: as above",
    ),
];

/// What a person writes in place of the words that are no text to type.
const WORDS: &[(&str, &str)] = &[
    ("CLIENT", "claude-code"),
    ("NAME", "before-agent"),
    (" [DIR]…", ""),
    (" [PATH]...", ""),
    (" [REVISION]", ""),
    (" PATH", " src/main.rs"),
    ("3f9a1c0b", "$SESSION"),
];

/// A home directory with a clone of this repository, of somebody who is not root.
struct Person {
    top: TempDir,
    user: u32,
}

impl Person {
    fn new() -> Self {
        let user = if geteuid().is_root() { SOMEBODY } else { geteuid().as_raw() };
        let person = Self { top: tempfile::tempdir().expect("a folder"), user };
        fs::set_permissions(person.top.path(), fs::Permissions::from_mode(0o755)).expect("set");
        for folder in [
            "bin",
            "tmp",
            "home/code/try",
            "home/deerflow",
            "srv/app",
            "srv/vault",
            "configured/app",
            "configured/manual",
        ] {
            fs::create_dir_all(person.at(folder)).expect("made");
        }
        // Another process copies it, as a child of another test that inherits the open file would keep it from starting.
        let copied = Command::new("cp").arg(env!("CARGO_BIN_EXE_rootbound")).arg(person.at("bin/rootbound")).status();
        assert!(copied.expect("cp").success());
        let from = format!("file://{}", env!("CARGO_MANIFEST_DIR"));
        let cloned =
            Command::new("git").args(["clone", "-q", "--depth", "1", &from]).arg(person.at("home/code/app")).output();
        let cloned = cloned.expect("git");
        assert!(cloned.status.success(), "{}", String::from_utf8_lossy(&cloned.stderr));
        if geteuid().is_root() {
            let given = Command::new("chown").arg("-R").arg(user.to_string()).arg(person.top.path()).status();
            assert!(given.expect("chown").success());
            chown(person.top.path(), Some(user), Some(user)).expect("given");
        }
        person
    }

    fn at(&self, below: &str) -> PathBuf {
        self.top.path().join(below)
    }

    /// Runs lines of a shell in `folder`, of which nobody answers a question.
    fn run(&self, folder: &Path, script: &str, session: &str) -> Outcome {
        let mut sh = Command::new("/bin/sh");
        sh.args(["-c", script]).current_dir(folder).env_clear().stdin(Stdio::null());
        sh.env("PATH", format!("{}:/usr/bin:/bin", self.at("bin").display())).env("HOME", self.at("home"));
        sh.env("TMPDIR", self.at("tmp")).env("SESSION", session).env("DEER_FLOW_HOME", self.at("home/deerflow"));
        if geteuid().is_root() {
            sh.uid(self.user).gid(self.user);
        }
        Outcome::of(&mut sh)
    }
}

/// The fenced blocks with their languages, and the text without them.
fn fences(page: &str) -> (Vec<(&str, &str)>, String) {
    let (mut blocks, mut text) = (Vec::new(), String::new());
    for (number, part) in page.split("```").enumerate() {
        if number % 2 == 0 {
            text.push_str(part);
        } else {
            blocks.push(part.split_once('\n').expect("a language"));
        }
    }
    (blocks, text)
}

/// The lines to type, in their order, each once; those of `text` blocks are run with what they print by another test.
fn lines(page: &str) -> Vec<String> {
    let (blocks, text) = fences(page);
    let mut found = Vec::new();
    for (language, block) in blocks {
        let is_ours = |line: &&str| line.starts_with("rootbound ") || line.starts_with("mkdir ");
        let of_block = block.lines().map(|line| line.strip_prefix("$ ").unwrap_or(line)).filter(is_ours);
        // What follows two blanks describes the line.
        let of_block = of_block.map(|line| line.split("  ").next().unwrap_or(line).to_owned());
        found.extend(of_block.filter(|_| language != "text"));
    }
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let spans = text.split('`').skip(1).step_by(2).filter(|span| span.starts_with("rootbound "));
    found.extend(spans.map(str::to_owned));
    let mut seen = BTreeSet::new();
    found.retain(|line| seen.insert(line.clone()));
    found
}

#[test]
fn every_line_runs_as_it_is_written() {
    let page = pages();
    let lines = lines(&page);
    let person = Person::new();
    let app = person.at("home/code/app");
    // What the lines of history speak of.
    let made = "rootbound call write path=notes.txt content=x && rootbound history checkpoint before-agent && \
                rootbound history checkpoint last-prompt && rootbound call read path=src/main.rs limit=1 && \
                rootbound call write path=src/main.rs content=x mode=append && rootbound history";
    let history = person.run(&app, made, "").succeeded();
    let change = history.split_whitespace().find_map(|word| word.strip_suffix(".1"));
    let session = change.filter(|session| session.len() == 8).expect("the session before the number of its change");
    let (mut ran, mut complaints) = (0, Vec::new());
    for (line, why) in NOT_RUN {
        assert!(lines.iter().any(|one| one == line), "{line:?} ({why}) is on no page");
        writeln!(std::io::stderr(), "not run: {line}: {why}").expect("stderr");
    }
    for line in lines.iter().filter(|line| NOT_RUN.iter().all(|(one, _)| one != line)) {
        let mut script = WORDS.iter().fold(line.clone(), |line, (word, typed)| line.replace(word, typed));
        // The question before it is for a terminal.
        if script.contains(" --write") {
            script.push_str(" --yes");
        }
        let ended = person.run(&app, &script, session);
        ran += 1;
        if ended.code != Some(0) {
            complaints.push(format!("{script}: {:?}\n{}{}", ended.code, ended.stdout, ended.stderr));
        }
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
    assert!(ran > 50, "{ran} lines");
}

#[test]
fn every_configuration_is_accepted() {
    let page = pages();
    let person = Person::new();
    let (mut tables, mut entries) = (0, 0);
    for (language, block) in fences(&page).0 {
        if language == "toml" {
            let file = person.at("configured/page.toml");
            let here = block.replace("\"/srv/", &format!("\"{}/", person.at("srv").display()));
            fs::write(&file, here).expect("written");
            let roots = if block.contains("[[root]]") { "" } else { "app" };
            let ended =
                person.run(&person.at("configured"), &format!("rootbound --config page.toml {roots} doctor"), "");
            assert!(ended.stdout.contains("verdict"), "{block}\n{}{}", ended.stdout, ended.stderr);
            tables += 1;
        }
        let Ok(entry) = serde_json::from_str::<Value>(block) else { continue };
        for server in entry["mcpServers"].as_object().into_iter().flat_map(|servers| servers.values()) {
            let arguments = server["args"].as_array().expect("a list").iter().map(|one| one.as_str().expect("a text"));
            // `uvx rootbound` fetches a release and runs it.
            let arguments = arguments.filter(|one| *one != "rootbound").map(|one| one.replace("/abs/project", "app"));
            let quoted: Vec<String> = arguments.map(|one| format!("'{one}'")).collect();
            let mut line = format!("rootbound {} tools", quoted.join(" "));
            if server["command"] == "ssh" {
                // A shell of the other machine reads the last word.
                let there = server["args"].as_array().and_then(|words| words.last()?.as_str()).expect("a text");
                line = format!("{} tools", there.replace("/usr/local/bin/", "").replace("/srv/my app", "app"));
            }
            let ended = person.run(&person.at("configured"), &line, "");
            assert!(ended.succeeded().contains("grep"), "{block}");
            entries += 1;
        }
    }
    assert!(tables >= 3 && entries >= 2, "{tables} tables, {entries} entries");
}
