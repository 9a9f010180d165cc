//! Runs each folder of `fixtures/` as a separate test: input tree, calls, expected answer, expected tree.
//!
//! `fixtures/<tool>/NNN_what_it_shows/` holds `call.json` (one call or a list of them, each
//! `{"tool", "arguments"}`), `before/`, optionally `after/` (else nothing may change), `config.toml`,
//! and `result.txt`: the text of the last call, under a line `[error: kind]` where it failed.
//!
//! With `{"base": "NAME", "calls": […]}`, or `"base"` in the one call, `before/` and `after/` are each laid over
//! `fixtures/base/NAME/`; `"gone"` lists the files of the base that `after/` has no more.
//!
//! The test is called `<tool>/NNN_what_it_shows`: `cargo test --test fixtures edit/001` runs one, `edit/`
//! all of a tool. A new folder needs no other line. `BLESS=1` writes `result.txt` and `after/`; read the
//! diff before you commit it.

#![expect(clippy::disallowed_methods, reason = "tests prepare and inspect real files")]

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    fs,
    io::{BufRead as _, BufReader, Write},
    path::{Path, PathBuf},
    process::{Command, ExitCode, Stdio},
};

use libtest_mimic::{Arguments, Trial};
use serde_json::{Value, json};

type Tree = BTreeMap<String, Vec<u8>>;

fn tree(dir: &Path) -> Tree {
    fn collect(dir: &Path, below: &Path, out: &mut Tree) {
        for entry in fs::read_dir(dir).into_iter().flatten() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(below).unwrap().to_str().unwrap().replace('\\', "/");
            if path.is_dir() {
                collect(&path, below, out);
            } else {
                out.insert(name, fs::read(&path).unwrap());
            }
        }
    }
    let mut out = Tree::new();
    collect(dir, dir, &mut out);
    out
}

fn put(tree: &Tree, dir: &Path) {
    fs::create_dir_all(dir).unwrap();
    for (name, bytes) in tree {
        let path = dir.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
}

/// Git cannot track a file called `.git`, and policy refuses some names: `dot-x` means `.x`.
fn dotted(tree: Tree) -> Tree {
    let name = |name: String| {
        name.split('/')
            .map(|part| part.strip_prefix("dot-").map_or(part.to_owned(), |rest| format!(".{rest}")))
            .collect::<Vec<_>>()
            .join("/")
    };
    tree.into_iter().map(|(path, bytes)| (name(path), bytes)).collect()
}

/// Calls the tools one after the other in one process, as a client would.
fn run(root: &Path, config: Option<&Path>, calls: &[Value]) -> Value {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rootbound"));
    command.args(["--state-dir", "off", "--log", "error"]);
    if let Some(config) = config {
        command.arg("--config").arg(config);
    }
    let mut child = command
        .arg(root)
        .env_remove("ROOTBOUND_LOG")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    let mut ask = |id: usize, method: &str, params: Value| -> Value {
        let line = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        Write::write_all(&mut stdin, format!("{line}\n").as_bytes()).unwrap();
        let mut answer = String::new();
        stdout.read_line(&mut answer).unwrap();
        serde_json::from_str(&answer).unwrap_or_else(|error| panic!("{error}: {answer:?}"))
    };
    ask(
        0,
        "initialize",
        json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "fixtures", "version": "1"}}),
    );
    let mut last = Value::Null;
    for (index, call) in calls.iter().enumerate() {
        last = ask(index + 1, "tools/call", json!({"name": call["tool"], "arguments": call["arguments"]}));
    }
    drop(stdin);
    assert!(child.wait().unwrap().success());
    last
}

fn rendered(answer: &Value) -> String {
    let Some(result) = answer.get("result") else {
        return format!("[protocol error]\n{}\n", answer["error"]["message"]);
    };
    let mut out = String::new();
    if result["isError"] == true {
        let _ = writeln!(out, "[error: {}]", result["_meta"]["rootbound/error"].as_str().unwrap_or("?"));
    }
    for block in result["content"].as_array().into_iter().flatten() {
        match block["type"].as_str() {
            Some("text") => out.push_str(block["text"].as_str().unwrap_or_default()),
            other => {
                let _ = write!(out, "[{} {}]", other.unwrap_or("?"), block["mimeType"].as_str().unwrap_or("?"));
            }
        }
        out.push('\n');
    }
    out
}

fn check(fixture: &Path, bless: bool) -> Result<(), String> {
    let read = |name: &str| fs::read(fixture.join(name)).ok();
    let call = read("call.json").ok_or("has no call.json")?;
    let calls: Value = serde_json::from_slice(&call).map_err(|error| format!("call.json: {error}"))?;
    let base = match calls["base"].as_str() {
        Some(name) => dotted(tree(&fixtures().join(BASES).join(name))),
        None => Tree::new(),
    };
    let gone: Vec<String> =
        serde_json::from_value(calls.get("gone").cloned().unwrap_or(json!([]))).map_err(|error| error.to_string())?;
    let calls = match calls {
        Value::Array(calls) => calls,
        mut one => match one["calls"].take() {
            Value::Array(calls) => calls,
            _ => vec![one],
        },
    };
    let workspace = tempfile::tempdir().unwrap();
    let root = workspace.path().join("root");
    let over_base =
        |side: &str| -> Tree { base.clone().into_iter().chain(dotted(tree(&fixture.join(side)))).collect() };
    let before = over_base("before");
    put(&before, &root);
    let config = fixture.join("config.toml");
    let answer = rendered(&run(&root, config.exists().then_some(&config), &calls));
    let now = tree(&root);
    if bless {
        fs::write(fixture.join("result.txt"), &answer).unwrap();
        let _ = fs::remove_dir_all(fixture.join("after"));
        if now != before {
            let changed = now.iter().filter(|(name, bytes)| base.get(*name) != Some(bytes));
            put(&changed.map(|(name, bytes)| (name.clone(), bytes.clone())).collect(), &fixture.join("after"));
        }
        let left: Vec<&String> = base.keys().filter(|name| !now.contains_key(*name)).collect();
        return if left.into_iter().eq(&gone) {
            Ok(())
        } else {
            Err("`gone` in call.json lists other files".to_owned())
        };
    }
    let expected =
        String::from_utf8(read("result.txt").ok_or("has no result.txt")?).map_err(|error| error.to_string())?;
    if answer != expected {
        return Err(format!("answered\n{answer}\ninstead of\n{expected}"));
    }
    let mut after = if fixture.join("after").exists() || !gone.is_empty() { over_base("after") } else { before };
    for name in &gone {
        after.remove(name).ok_or_else(|| format!("{name}, which is gone, is not in the base"))?;
    }
    for name in now.keys().chain(after.keys()) {
        let (is, should) = (now.get(name), after.get(name));
        if is != should {
            let show =
                |bytes: Option<&Vec<u8>>| bytes.map(|bytes| String::from_utf8_lossy(bytes).escape_debug().to_string());
            return Err(format!("{name} is {:?} instead of {:?}", show(is), show(should)));
        }
    }
    Ok(())
}

/// The folder of what several fixtures begin with.
const BASES: &str = "base";

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures")
}

/// The folders of all tools, in order.
fn folders(fixtures: &Path) -> Vec<PathBuf> {
    let below = |dir: &Path| -> Vec<PathBuf> {
        fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_dir()).collect()
    };
    let mut folders: Vec<PathBuf> =
        below(fixtures).iter().filter(|tool| !tool.ends_with(BASES)).flat_map(|tool| below(tool)).collect();
    folders.sort();
    assert!(folders.len() >= 30, "{} folders: they are not where this test looks", folders.len());
    folders
}

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let fixtures = fixtures();
    let bless = std::env::var_os("BLESS").is_some();
    let trial = |folder: PathBuf| {
        let name = folder.strip_prefix(&fixtures).unwrap().to_str().unwrap().replace('\\', "/");
        Trial::test(name, move || check(&folder, bless).map_err(Into::into))
    };
    libtest_mimic::run(&arguments, folders(&fixtures).into_iter().map(trial).collect()).exit_code()
}
