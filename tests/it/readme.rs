//! The examples of the README and of `docs/`, run on the tree that they use.

use std::{fs, path::Path};

use crate::program::{Outcome, program};

const APP: &str = "import os\n\n\ndef load(path):\n    with open(path) as f:\n        return f.read()\n\n\ndef main():\n    \
                   print(load(os.environ['CONFIG']))\n";

/// The fenced blocks of one language.
fn blocks<'r>(readme: &'r str, language: &str) -> Vec<&'r str> {
    let open = format!("\n```{language}\n");
    readme.split(&open).skip(1).map(|rest| rest.split("\n```").next().expect("a part")).collect()
}

/// The words of a command line, as a shell takes them apart.
fn words(line: &str) -> Vec<String> {
    let (mut words, mut quoted) = (vec![String::new()], false);
    for character in line.chars() {
        match character {
            '\'' => quoted = !quoted,
            ' ' if !quoted => words.push(String::new()),
            other => words.last_mut().expect("one at least").push(other),
        }
    }
    words
}

/// The README and every page of `docs/`, one after another.
fn pages() -> String {
    let top = Path::new(env!("CARGO_MANIFEST_DIR"));
    let docs = fs::read_dir(top.join("docs")).expect("docs").map(|entry| entry.expect("an entry").path());
    let markdown = docs.filter(|path| path.extension().is_some_and(|extension| extension == "md"));
    let mut pages: Vec<_> = markdown.chain([top.join("README.md")]).collect();
    pages.sort();
    let texts = pages.iter().map(|page| fs::read_to_string(page).expect("a page").replace("\r\n", "\n"));
    texts.collect::<Vec<_>>().join("\n")
}

#[test]
fn calls_in_readme_and_docs_answer_as_printed() {
    let readme = pages();
    let dir = tempfile::tempdir().expect("a temporary folder");
    let project = dir.path().join("project");
    let config = blocks(&readme, "toml").into_iter().find(|block| block.starts_with("# rootbound.toml"));
    for (name, content) in [
        ("backend/app.py", APP),
        ("backend/scripts/build.py", ""),
        ("backend/tests/test_app.py", "from app import load\n"),
        ("frontend/index.ts", "export const port = 80\n"),
        ("README.md", "# The sample tree.\n"),
        ("../configured/rootbound.toml", config.expect("a sample")),
        ("../configured/app/a.txt", ""),
        ("../configured/manual/drafts/plan.md", "a plan\n"),
    ] {
        let path = project.join(name);
        fs::create_dir_all(project.join(Path::new(name).parent().expect("a folder"))).expect("made");
        fs::write(path, content).expect("written");
    }
    let mut ran = 0;
    for block in blocks(&readme, "text") {
        let (line, printed) = block.split_once('\n').expect("a command and what it prints");
        let words = words(line.strip_prefix("$ rootbound ").expect("a command"));
        if words[0] == "doctor" {
            continue;
        }
        let folder = if words[0] == "--config" { project.join("../configured") } else { project.clone() };
        let mut command = program(&folder);
        // A refusal is also logged, with the time; the example has only the answer.
        command.env("ROOTBOUND_STATE_DIR", dir.path().join("state")).env("ROOTBOUND_LOG", "off");
        let ended = Outcome::of(command.args(&words));
        assert_eq!((ended.stdout + &ended.stderr).trim_end(), printed.trim_end(), "{line}");
        ran += 1;
    }
    assert!(ran >= 8, "{ran} examples");
}

/// Every tool, as `rootbound tools --json` lists them with all groups.
fn tools() -> Vec<String> {
    let mut command = program(Path::new(env!("CARGO_MANIFEST_DIR")));
    command.args(["--state-dir", "off", "--allow", "manage", "tools", "--json"]);
    let list = Outcome::of(&mut command).succeeded();
    let list: serde_json::Value = serde_json::from_str(&list).expect("JSON");
    let tools = list["tools"].as_array().expect("a list");
    tools.iter().map(|tool| tool["name"].as_str().expect("a name").to_owned()).collect()
}

#[test]
fn readme_lists_every_tool() {
    let readme = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md")).expect("README.md");
    let table: Vec<&str> = readme.lines().filter(|line| line.starts_with("| `")).collect();
    let missing: Vec<String> =
        tools().into_iter().filter(|tool| !table.iter().any(|row| row.contains(&format!("`{tool}`")))).collect();
    assert!(missing.is_empty(), "not in the table of tools: {missing:?}");
}
