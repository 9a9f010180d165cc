//! Waits under attack: what `read` refuses is not waited for, a link that is set meanwhile is not followed, special files
//! are never opened, and neither floods nor patterns take anything from other calls.

use std::{fs, path::Path, time::Duration};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::{Barrier, Case, DENIED, Expect, case, patterns::costly_regexes, world::CANARY};
use crate::{
    harness::process::Process,
    harness::program::{CHECK_OPENS, NO_EVENTS},
};

const BARRIERS: [Barrier; 3] = [Barrier::All, Barrier::Openat2, Barrier::Walk];
const INVALID: Expect = Expect::Fails(&["invalid_input"]);
const REFUSED: Expect = Expect::Fails(&["denied", "not_found", "invalid_input"]);

/// What the server waits for at a path, without any time: lines, the file itself, and whether it is there.
fn each_way(path: &str, expect: &Expect) -> Vec<Case> {
    [
        ("lines", json!({ "path": path, "until": "line", "offset": 0, "timeout": 0 })),
        ("a pattern", json!({ "path": path, "pattern": ".", "offset": 0, "timeout": 0 })),
        ("a rev", json!({ "path": path, "since": "00000", "timeout": 0 })),
        ("changes", json!({ "path": path, "timeout": 0 })),
        ("appears", json!({ "path": path, "until": "appears", "timeout": 0 })),
        ("gone", json!({ "path": path, "until": "gone", "timeout": 0 })),
    ]
    .into_iter()
    .map(|(way, arguments)| case(format!("wait for {way}: {path}"), "wait", arguments, expect.clone()))
    .collect()
}

/// Paths that lead out; it must not show either whether something is there.
pub(super) fn leaving() -> Vec<Case> {
    let paths = [
        "../zebra-beside.txt",
        "../zebra-none.txt",
        "/etc/passwd",
        "/etc/no-such-file",
        "{host}/outside/zebra-secret.txt",
        "{host}/root-evil/zebra-secret.txt",
        "app/../../outside/zebra-secret.txt",
        "app/../../outside",
        "@../outside/zebra-secret.txt",
        "\"/etc/passwd\"",
        "file:///etc/passwd",
        "file:///app/..%2f..%2foutside/zebra-secret.txt",
        "/proc/self/environ",
        "/dev/zero",
        "~root/.ssh/id_rsa",
    ];
    let linked = [
        "app/out_file",
        "app/out_file_absolute",
        "app/out_dir",
        "app/out_dir/zebra-secret.txt",
        "app/out_dir/zebra-none.txt",
        "app/out_chain",
        "app/out_etc",
        "app/out_slash",
        "app/out_dangling",
        "app/magic_root/etc/passwd",
        "app/magic_environ",
        "app/magic_fd",
        "app/device_zero",
        "app/device_random",
        "app/device_tty",
    ];
    paths.iter().chain(&linked).flat_map(|path| each_way(path, &DENIED)).collect()
}

/// Secrets by their names and by links; only their content is secret.
pub(super) fn secrets() -> Vec<Case> {
    let paths = [
        "app/.env",
        "app/id_rsa",
        "app/keys/server.pem",
        "app/.ssh/config",
        "app/alias_env",
        "app/alias_key",
        "app/alias_ssh/config",
        "app/alias_of_alias",
        "app/alias_absolute",
        "app/in_dir/../.env",
        "app/a.agent",
        "app/agent_secret/x",
        "app/vault/any",
    ];
    paths
        .iter()
        .flat_map(|path| each_way(path, &Expect::Harmless))
        .map(|case| {
            let of_content = ["offset", "since"].iter().any(|argument| case.arguments.get(argument).is_some());
            if of_content { Case { expect: REFUSED, ..case } } else { case }
        })
        .collect()
}

/// Arguments that cost, contradict each other or are no numbers.
pub(super) fn arguments() -> Vec<Case> {
    let regexes = costly_regexes();
    let patterns = regexes.iter().map(|(name, regex)| {
        let arguments = json!({ "path": "app/long-line.txt", "pattern": regex, "offset": 0, "timeout": 0 });
        case(format!("wait, regex: {name}"), "wait", arguments, Expect::Harmless)
    });
    let wrong = [
        ("timeout", json!(-1)),
        ("timeout", json!("NaN")),
        ("timeout", json!("-1s")),
        ("timeout", json!([0])),
        ("offset", json!(-1)),
        ("offset", json!(i64::MIN)),
        ("since", json!("../../etc")),
        ("until", json!("\u{1b}[31m")),
        ("pattern", json!("a\nb")),
    ]
    .map(|(name, value)| {
        let mut arguments = json!({ "path": "app/a.txt" });
        arguments[name] = value.clone();
        case(format!("wait, {name}: {value}"), "wait", arguments, INVALID)
    });
    let huge = [("timeout", json!(0)), ("offset", json!(i64::MAX))].map(|(name, value)| {
        let mut arguments = json!({ "path": "app/a.txt", "timeout": 0 });
        arguments[name] = value;
        case(format!("wait, huge {name}"), "wait", arguments, Expect::Harmless)
    });
    patterns.chain(wrong).chain(huge).collect()
}

/// FIFOs, sockets and devices are not opened; a terabyte without a line break is not read.
#[cfg(unix)]
pub(super) fn special() -> Vec<Case> {
    ["app/fifo", "app/socket", "app/device"]
        .iter()
        .flat_map(|path| each_way(path, &Expect::Harmless))
        .chain(each_way("app/sparse.bin", &Expect::Harmless))
        .collect()
}

/// A server that waits, with a folder outside of its root.
struct Ground {
    process: Process,
    dir: TempDir,
}

impl Ground {
    fn new(barrier: Barrier, events: bool) -> Self {
        let dir = tempfile::Builder::new().prefix("rootbound-host-").tempdir().expect("a temporary folder");
        for folder in ["app/src", "app/hidden", "outside"] {
            fs::create_dir_all(dir.path().join(folder)).expect("a folder");
        }
        for (file, content) in [
            ("app/a.txt", "one\n"),
            ("app/src/b.txt", "one\n"),
            ("app/hidden/h.txt", "hidden\n"),
            ("outside/b.txt", CANARY),
            ("outside/o.txt", CANARY),
        ] {
            fs::write(dir.path().join(file), content).expect("a file");
        }
        let mut arguments = vec!["--root", "app", "--hide", "hidden/", "--allow", "watch"];
        arguments.extend(barrier.arguments());
        let mut process = Process::start_with(
            if events { &[CHECK_OPENS] } else { &[CHECK_OPENS, NO_EVENTS] },
            dir.path(),
            Path::new("off"),
            &arguments,
        );
        process.initialize();
        Self { process, dir }
    }

    fn write(&self, path: &str, content: &str) {
        fs::write(self.dir.path().join(path), content).expect("a file");
    }

    fn send(&mut self, arguments: &Value) -> u64 {
        self.process.send("tools/call", &json!({ "name": "wait", "arguments": arguments }))
    }

    /// Starts a wait and returns once it has looked for the first time: it reports progress then.
    fn begin(&mut self, arguments: &Value) -> u64 {
        let meta = json!({ "progressToken": "begun" });
        let params = json!({ "name": "wait", "arguments": arguments, "_meta": meta });
        let id = self.process.send("tools/call", &params);
        let message = self.process.next().expect("progress");
        assert_eq!(message["method"], "notifications/progress", "{message}");
        id
    }

    /// The answer of that request, which shows nothing from outside.
    fn answer(&mut self, id: u64) -> Value {
        loop {
            let message = self.process.next().expect("an answer");
            let shown = message.to_string();
            let host = self.dir.path().to_str().expect("a plain name");
            assert!(![CANARY, host].iter().any(|needle| shown.contains(needle)), "{shown}");
            if message["id"] == id {
                return message;
            }
        }
    }

    fn call(&mut self, arguments: &Value) -> Value {
        let id = self.send(arguments);
        self.answer(id)
    }

    fn cancel(&mut self, id: u64) {
        let params = json!({ "requestId": id });
        self.process
            .line(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params }).to_string());
    }
}

fn kind(answer: &Value) -> Option<&str> {
    answer["result"]["_meta"]["rootbound/error"].as_str()
}

fn in_each_way(test: impl Fn(Ground)) {
    for barrier in BARRIERS {
        if cfg!(windows) && barrier != Barrier::All {
            continue;
        }
        for events in [true, false] {
            test(Ground::new(barrier, events));
        }
    }
}

/// The path, or a folder above it, becomes a link to outside while the server waits.
#[cfg(unix)]
#[test]
fn link_to_outside_that_is_set_during_a_wait_is_not_followed() {
    use std::os::unix::fs::symlink;
    in_each_way(|mut ground| {
        let app = ground.dir.path().join("app");
        let file = ground.begin(&json!({ "path": "a.txt", "pattern": "CANARY", "timeout": 20 }));
        fs::remove_file(app.join("a.txt")).expect("removed");
        symlink("../outside/o.txt", app.join("a.txt")).expect("a link");
        assert_eq!(kind(&ground.answer(file)), Some("denied"));
        let folder = ground.begin(&json!({ "path": "src/b.txt", "timeout": 20 }));
        fs::rename(app.join("src"), app.join("was")).expect("moved");
        symlink("../outside", app.join("src")).expect("a link");
        let answer = ground.answer(folder);
        assert!(matches!(kind(&answer), Some("denied") | None), "{answer}");
        let missing = ground.begin(&json!({ "path": "new.txt", "until": "appears", "timeout": 20 }));
        symlink("../outside/o.txt", app.join("new.txt")).expect("a link");
        assert_eq!(kind(&ground.answer(missing)), Some("denied"));
        // What is outside wakes nobody either.
        ground.write("outside/new.txt", "x");
        assert_eq!(kind(&ground.call(&json!({ "path": "src/new.txt", "timeout": 0 }))), Some("denied"));
    });
}

/// A FIFO takes the place of the file while the server waits for lines: opened, it would block for ever.
#[cfg(unix)]
#[test]
fn fifo_that_takes_the_place_of_a_file_is_not_opened() {
    use rustix::fs::{CWD, FileType, Mode, mknodat};
    in_each_way(|mut ground| {
        let path = ground.dir.path().join("app/a.txt");
        let id = ground.begin(&json!({ "path": "a.txt", "pattern": "x", "timeout": 1 }));
        fs::remove_file(&path).expect("removed");
        mknodat(CWD, &path, FileType::Fifo, Mode::from_raw_mode(0o600), 0).expect("a fifo");
        ground.answer(id);
        let answer = ground.process.ask("tools/call", &json!({ "name": "read", "arguments": { "path": "src/b.txt" } }));
        assert_eq!(answer["result"]["isError"], false, "{answer}");
    });
}

#[test]
fn hidden_names_are_as_if_nothing_were_there() {
    in_each_way(|mut ground| {
        let there = ground.call(&json!({ "path": "hidden/h.txt", "until": "appears", "timeout": 0.1 }));
        let missing = ground.call(&json!({ "path": "hidden/n.txt", "until": "appears", "timeout": 0.1 }));
        let text = |answer: &Value| {
            let text = answer["result"]["content"][0]["text"].as_str().expect("a text");
            text.replace("h.txt", "n.txt").split(" after ").next().map(str::to_owned)
        };
        assert_eq!(text(&there), text(&missing));
        let folder = ground.begin(&json!({ "path": ".", "timeout": 20 }));
        ground.write("app/hidden/new.txt", "x");
        fs::create_dir(ground.dir.path().join("app/more")).expect("a folder");
        let answer = ground.answer(folder);
        assert!(!answer.to_string().contains("hidden"), "{answer}");
        assert!(answer.to_string().contains("new: more"), "{answer}");
    });
}

#[test]
fn role_without_the_tool_or_the_root_cannot_wait() {
    let dir = tempfile::Builder::new().prefix("rootbound-host-").tempdir().expect("a temporary folder");
    for (path, content) in [("app/a.txt", "apple\n"), ("vault/v.txt", "violet\n")] {
        fs::create_dir_all(dir.path().join(path).parent().expect("a folder")).expect("a folder");
        fs::write(dir.path().join(path), content).expect("a file");
    }
    let at = |name: &str| dir.path().join(name).display().to_string();
    let configuration = format!(
        "allow = [\"watch\"]\n[[root]]\nname = \"app\"\npath = '{}'\n[[root]]\nname = \"vault\"\npath = '{}'\n\
         [[role]]\nname = \"narrow\"\nclient = \"narrow\"\nroots = [\"app\"]\ntools = [\"read\", \"wait\"]\n\
         [[role]]\nname = \"reader\"\nclient = \"reader\"\nroots = [\"app\"]\ntools = [\"read\"]\n",
        at("app"),
        at("vault")
    );
    fs::write(dir.path().join("r.toml"), configuration).expect("a file");
    let client = |name: &str| {
        let mut process = Process::start_checked(dir.path(), &["--config", "r.toml"]);
        let client = json!({ "name": name, "version": "1" });
        process
            .ask("initialize", &json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client }));
        process.line(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
        process
    };
    let wait = |process: &mut Process, path: &str| {
        let arguments = json!({ "path": path, "until": "line", "offset": 0, "timeout": 0 });
        process.ask("tools/call", &json!({ "name": "wait", "arguments": arguments }))
    };
    let refused = wait(&mut client("reader"), "app/a.txt");
    assert!(refused["error"].is_object(), "{refused}");
    let mut narrow = client("narrow");
    assert!(wait(&mut narrow, "app/a.txt").to_string().contains("apple"));
    let host = dir.path().join("vault/v.txt").display().to_string();
    for path in ["vault/v.txt", "app/../vault/v.txt", "../vault/v.txt", "file:///vault/v.txt", &host] {
        let answer = wait(&mut narrow, path);
        assert!(answer["result"]["isError"] == true || answer.to_string().contains("nothing"), "{path}: {answer}");
        assert!(!answer.to_string().contains("violet"), "{path}: {answer}");
    }
    assert!(wait(&mut client("other"), "vault/v.txt").to_string().contains("violet"));
}

#[test]
fn floods_of_waits_are_refused_and_cancelled_ones_give_their_place_back() {
    for events in [true, false] {
        let mut ground = Ground::new(Barrier::All, events);
        let mut waits = Vec::new();
        for _ in 0..4 {
            waits.extend((0..64).map(|_| ground.send(&json!({ "path": "a.txt", "pattern": "end" }))));
            for _ in 0..200 {
                let answer = ground.call(&json!({ "path": "a.txt" }));
                assert_eq!(kind(&answer), Some("quota"), "{answer}");
            }
            // Twice, and with ids that are not known: only the first counts.
            for id in waits.drain(..) {
                ground.cancel(id);
                ground.cancel(id);
                ground.cancel(id + 1_000_000);
            }
            let mut tries = 0;
            while kind(&ground.call(&json!({ "path": "a.txt", "timeout": 0 }))) == Some("quota") {
                tries += 1;
                assert!(tries < 2_000, "the places are not given back");
                std::thread::sleep(Duration::from_millis(10));
            }
        }
    }
}

#[test]
fn thousands_of_waits_in_a_row_leave_nothing_behind() {
    for events in [true, false] {
        let mut ground = Ground::new(Barrier::All, events);
        let open = |ground: &Ground| {
            let process = format!("/proc/{}", ground.process.id());
            let descriptors = fs::read_dir(format!("{process}/fd")).map(Iterator::count);
            let threads = fs::read_dir(format!("{process}/task")).map(Iterator::count);
            descriptors.unwrap_or_default() + threads.unwrap_or_default()
        };
        let paths = ["a.txt", "src", "missing", "src/b.txt"];
        let mut before = 0;
        // Windows has no /proc to count in, and Wine needs minutes for all of them. Without events a call has less to leave.
        let calls = match (cfg!(windows), events) {
            (true, _) => 60,
            (false, true) => 3_000,
            (false, false) => 1_500,
        };
        for number in 0..calls {
            if number == 500 {
                before = open(&ground);
            }
            let answer = ground.call(&json!({ "path": paths[number % 4], "timeout": 0 }));
            assert_eq!(answer["result"]["isError"], false, "{answer}");
        }
        let after = open(&ground);
        assert!(after <= before + 16, "{before} descriptors and threads became {after}");
    }
}
