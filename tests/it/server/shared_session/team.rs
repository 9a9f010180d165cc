//! Three scripted callers at once, with these tools alone: in one server, and in three on one folder. Each adds its rows to
//! a table that it rewrites whole, its options at one place of a configuration, and renames its files: nothing is lost.

use std::{collections::BTreeSet, fs, path::Path};

use serde_json::{Value, json};

use crate::harness::process::Process;

const NAMES: [&str; 3] = ["ann", "bob", "cyd"];
/// Calls until a caller has done all; it needs a third of them where nobody is in its way.
const PATIENCE: usize = 200;

/// The tasks of a caller: rows, options and renames, each with a number.
#[derive(Clone, Copy, Debug)]
enum Task {
    Row(usize),
    Option(usize),
    Rename(usize),
}

/// A caller as a model would be: it reads, makes its change of what it was shown, and begins again where that is refused.
struct Caller {
    name: &'static str,
    tasks: Vec<Task>,
    step: usize,
    /// The text that it was shown last.
    shown: String,
    /// Errors that it met.
    refusals: Vec<String>,
}

impl Caller {
    fn new(name: &'static str) -> Self {
        let tasks = (1..=3).flat_map(|n| [Task::Rename(n), Task::Option(n), Task::Row(n)]).collect();
        Self { name, tasks, step: 0, shown: String::new(), refusals: Vec::new() }
    }

    fn call(&self) -> Option<(&'static str, Value)> {
        let (name, task) = (self.name, *self.tasks.last()?);
        Some(match (task, self.step) {
            (Task::Row(_), 0) => ("read", json!({ "path": "table.md" })),
            (Task::Row(n), _) => {
                let row = format!("| {name} {n} |\n| end |");
                ("write", json!({ "path": "table.md", "content": self.shown.replace("| end |", &row) }))
            }
            (Task::Option(_), 0) => ("read", json!({ "path": "config.toml" })),
            (Task::Option(n), _) => {
                let new = format!("# options\n{name}_{n} = true\n");
                ("edit", json!({ "path": "config.toml", "old_string": "# options\n", "new_string": new }))
            }
            (Task::Rename(_), 0) => ("read", json!({ "path": "mod.rs" })),
            (Task::Rename(n), 1) => {
                let edit =
                    json!({ "old_string": format!("mod {name}_{n};"), "new_string": format!("mod new_{name}_{n};") });
                ("edit", json!({ "path": "mod.rs", "edits": [edit] }))
            }
            (Task::Rename(n), _) => {
                let paths = [format!("{name}_{n}.rs"), format!("new_{name}_{n}.rs")];
                ("move", json!({ "source": paths[0], "destination": paths[1] }))
            }
        })
    }

    fn answered(&mut self, result: &Value) {
        let text = result["content"][0]["text"].as_str().expect("a text").to_owned();
        let task = self.tasks[self.tasks.len() - 1];
        if result["isError"] == true {
            self.refusals.push(text);
            self.step = 0;
            return;
        }
        let note = text.lines().find(|line| line.starts_with("(changed by "));
        assert!(note.is_none_or(|line| !line.contains(self.name)), "{}: {text}", self.name);
        let steps = if matches!(task, Task::Rename(_)) { 2 } else { 1 };
        if self.step == 0 {
            let lines = text.lines().filter_map(|line| line.split_once('\t'));
            self.shown = lines.map(|(_, line)| line).collect::<Vec<_>>().join("\n") + "\n";
        }
        if self.step == steps {
            self.tasks.pop();
        }
        self.step = if self.step == steps { 0 } else { self.step + 1 };
    }
}

fn folder() -> tempfile::TempDir {
    let dir = tempfile::Builder::new().prefix("rootbound-host-").tempdir().expect("a temporary folder");
    fs::create_dir(dir.path().join("app")).expect("a folder");
    let write = |path: &str, text: &str| fs::write(dir.path().join("app").join(path), text).expect("a file");
    write("table.md", "| who |\n|---|\n| end |\n");
    write("config.toml", "[all]\n# options\n# the end\n");
    let files: Vec<String> = NAMES.iter().flat_map(|name| (1..=3).map(move |n| format!("{name}_{n}"))).collect();
    write("mod.rs", &("mod ".to_owned() + &files.join(";\nmod ") + ";\n"));
    for file in &files {
        write(&format!("{file}.rs"), &format!("// {file}\n"));
    }
    dir
}

fn start(dir: &Path, client: &str) -> Process {
    let mut process = Process::start_remembering(dir, &dir.join("state"), &["--root", "app", "--allow", "manage"]);
    let info = json!({ "name": client, "version": "1" });
    process.ask("initialize", &json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": info }));
    process.line(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    process
}

/// Runs the callers in rounds, in each of which all of them have sent their calls before one is answered. Each is served by
/// the process of its number, or all by the only one, as a thread.
fn run(dir: &Path, processes: &mut [Process]) -> Vec<Caller> {
    let mut callers: Vec<Caller> = NAMES.into_iter().map(Caller::new).collect();
    for _ in 0..PATIENCE {
        let mut sent = Vec::new();
        for (at, caller) in callers.iter().enumerate() {
            let Some((tool, arguments)) = caller.call() else { continue };
            let mut params = json!({ "name": tool, "arguments": arguments });
            if processes.len() == 1 {
                params["_meta"] = json!({ "thread_id": caller.name });
            }
            let process = at.min(processes.len() - 1);
            sent.push((at, process, processes[process].send("tools/call", &params)));
        }
        while let Some((_, process, _)) = sent.first() {
            let process = *process;
            let answer = processes[process].next().expect("the server has not ended");
            let Some(index) = sent.iter().position(|(_, of, id)| *of == process && answer["id"] == *id) else {
                continue;
            };
            callers[sent.remove(index).0].answered(&answer["result"]);
        }
    }
    assert!(callers.iter().all(|caller| caller.tasks.is_empty()), "somebody is not done");
    check(&dir.join("app"));
    callers
}

/// Nothing is lost, and nothing is there twice.
fn check(app: &Path) {
    let text = |path: &str| fs::read_to_string(app.join(path)).expect("a file");
    let each = |shape: fn(&str, usize) -> String| -> BTreeSet<String> {
        NAMES.iter().flat_map(|name| (1..=3).map(move |n| shape(name, n))).collect()
    };
    let lines = |path: &str, fixed: &[&str]| -> BTreeSet<String> {
        let text = text(path);
        let all: Vec<&str> = text.lines().filter(|line| !fixed.contains(line)).collect();
        let set: BTreeSet<String> = all.iter().map(|line| (*line).to_owned()).collect();
        assert_eq!((set.len(), all.len() + fixed.len()), (all.len(), text.lines().count()), "{path}: {text}");
        set
    };
    assert_eq!(lines("table.md", &["| who |", "|---|", "| end |"]), each(|name, n| format!("| {name} {n} |")));
    assert_eq!(
        lines("config.toml", &["[all]", "# options", "# the end"]),
        each(|name, n| format!("{name}_{n} = true"))
    );
    assert_eq!(lines("mod.rs", &[]), each(|name, n| format!("mod new_{name}_{n};")));
    for name in NAMES {
        for n in 1..=3 {
            assert_eq!(text(&format!("new_{name}_{n}.rs")), format!("// {name}_{n}\n"));
            assert!(!app.join(format!("{name}_{n}.rs")).exists());
        }
    }
}

/// Each refusal says that the file has changed, by which of the others, and what to do.
fn check_refusals(callers: &[Caller], maker: impl Fn(&str) -> String) {
    let total: usize = callers.iter().map(|caller| caller.refusals.len()).sum();
    // Of three that rewrite the same state, two are refused.
    assert!(total >= 2, "{total} refusals");
    for caller in callers {
        for text in &caller.refusals {
            let others = NAMES.into_iter().filter(|name| *name != caller.name);
            assert!(others.into_iter().any(|name| text.contains(&maker(name))), "{}: {text}", caller.name);
            assert!(text.contains("\n\nhint: ") && !text.contains(&maker(caller.name)), "{}: {text}", caller.name);
        }
    }
}

#[test]
fn three_callers_in_one_server_lose_nothing() {
    let dir = folder();
    let mut processes = [start(dir.path(), "a-client")];
    let callers = run(dir.path(), &mut processes);
    check_refusals(&callers, |name| format!("thread {name}"));
}

#[test]
fn three_callers_in_three_servers_lose_nothing() {
    let dir = folder();
    let mut processes = NAMES.map(|name| start(dir.path(), name));
    let callers = run(dir.path(), &mut processes);
    check_refusals(&callers, |name| format!("by {name} in session "));
}
