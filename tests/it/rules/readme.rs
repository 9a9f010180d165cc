//! The examples of the README and of `docs/`, run on the tree that they use, and the picture of a session.

#[cfg(target_os = "linux")]
mod lines;

use std::{
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
};

use crate::harness::program::{Outcome, program};

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
        let folder = match words[0].as_str() {
            "--config" => project.join("../configured"),
            // An example to try in a clone.
            _ if line.contains("path=src/") => PathBuf::from(env!("CARGO_MANIFEST_DIR")),
            _ => project.clone(),
        };
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

/// The commands of the picture in the README.
const SESSION: &[&str] = &[
    r"rootbound call grep pattern='load\('",
    "rootbound call edit path=app.py old_string='f.read()' new_string='f.read().strip()'",
    "rootbound call read path=../../etc/passwd",
    "rootbound call read path=ap.py",
];

/// A terminal with these commands and what they print, as an SVG that fetches nothing.
fn session() -> String {
    const HEAD: &str = "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 900 HEIGHT\" font-family=\"monospace\" \
                        font-size=\"15\" fill=\"#c5c8c6\" xml:space=\"preserve\">\n\
                        <rect width=\"900\" height=\"HEIGHT\" rx=\"8\" fill=\"#1d1f21\"/>\n";
    let dir = tempfile::tempdir().expect("a temporary folder");
    let project = dir.path().join("app");
    fs::create_dir(&project).expect("made");
    fs::write(project.join("app.py"), APP).expect("written");
    let mut lines = Vec::new();
    for line in SESSION {
        let mut command = program(&project);
        command.env("ROOTBOUND_STATE_DIR", dir.path().join("state")).env("ROOTBOUND_LOG", "off");
        let ended = Outcome::of(command.args(words(line.strip_prefix("rootbound ").expect("a command"))));
        lines.push(format!("$ {line}"));
        lines.extend((ended.stdout + &ended.stderr).trim_end().lines().map(str::to_owned));
        lines.push(String::new());
    }
    lines.pop();
    let mut svg = HEAD.replace("HEIGHT", &(lines.len() * 20 + 30).to_string());
    for (number, line) in lines.iter().enumerate().filter(|(_, line)| !line.is_empty()) {
        let style = match line {
            line if line.starts_with("$ ") => " font-weight=\"bold\" fill=\"#ffffff\"",
            line if line.starts_with('-') && !line.starts_with("---") => " fill=\"#cc555a\"",
            line if line.starts_with('+') && !line.starts_with("+++") => " fill=\"#98a84b\"",
            line if line.starts_with("hint:") => " fill=\"#d0b344\"",
            _ => "",
        };
        // Blanks as such, which are kept at the beginning of a line wherever the picture is shown.
        let text = line.replace('&', "&amp;").replace('<', "&lt;").replace(' ', "\u{a0}");
        writeln!(svg, "<text x=\"20\" y=\"{}\"{style}>{text}</text>", number * 20 + 30).expect("memory");
    }
    svg + "</svg>\n"
}

#[test]
fn the_picture_of_a_session_is_what_the_program_prints() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/session.svg");
    let picture = session();
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write(&path, picture).expect("written");
    } else {
        let old = fs::read_to_string(&path).expect("docs/session.svg").replace("\r\n", "\n");
        assert_eq!(old, picture, "UPDATE_DOCS=1 cargo test --test it picture rewrites docs/session.svg");
    }
}
