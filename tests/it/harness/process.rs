//! A client of the spawned binary, on real pipes.
//!
//! Every wait has a generous limit, so that a hanging server fails its test.

use std::{
    io::{BufRead, BufReader, Read as _, Write as _},
    path::Path,
    process::{Child, ChildStdin, Command, ExitStatus, Stdio},
    sync::mpsc::{self, Receiver, RecvTimeoutError},
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use crate::harness::program::{program, started};

/// Longer than any call takes, even on a busy machine.
const PATIENCE: Duration = Duration::from_secs(180);

/// Runs the test of that whole name again, in the process that `command` starts. A name that no test has fails: the child
/// would pass with none.
pub(crate) fn run_again(mut command: Command, test: &str) {
    let done = command.args(["--exact", test, "--nocapture"]).stderr(Stdio::inherit()).output().expect("it starts");
    let shown = String::from_utf8_lossy(&done.stdout);
    assert!(done.status.success() && shown.contains("test result: ok. 1 passed"), "{test}: {}\n{shown}", done.status);
}

/// Whether this process may mount: `CAP_SYS_ADMIN` of `linux/capability.h`; never outside of Linux.
#[cfg(unix)]
pub(crate) fn may_mount() -> bool {
    const SYS_ADMIN: u64 = 1 << 21;
    if !cfg!(target_os = "linux") {
        return false;
    }
    let status = std::fs::read_to_string("/proc/self/status").expect("a Linux system");
    let effective = status.lines().find_map(|line| line.strip_prefix("CapEff:")).expect("a line of capabilities");
    u64::from_str_radix(effective.trim(), 16).expect("a number") & SYS_ADMIN != 0
}

/// A running `rootbound`, killed when dropped.
#[derive(Debug)]
pub(crate) struct Process {
    child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
    log: Option<JoinHandle<String>>,
    last_id: u64,
}

impl Process {
    /// Starts the server with `arguments` in the folder `dir`, without configuration from the environment of this
    /// process, and without a state folder.
    pub(crate) fn start(dir: &Path, arguments: &[&str]) -> Self {
        Self::start_remembering(dir, Path::new("off"), arguments)
    }

    /// As [`start`](Self::start), with [`CHECK_OPENS`](crate::harness::program::CHECK_OPENS).
    #[cfg(any(target_os = "linux", windows))]
    pub(crate) fn start_checked(dir: &Path, arguments: &[&str]) -> Self {
        Self::start_with(&[crate::harness::program::CHECK_OPENS], dir, Path::new("off"), arguments)
    }

    /// As [`start`](Self::start), with a state folder.
    pub(crate) fn start_remembering(dir: &Path, state: &Path, arguments: &[&str]) -> Self {
        Self::start_with(&[], dir, state, arguments)
    }

    /// As [`start`](Self::start), with a state folder and variables.
    pub(crate) fn start_with(variables: &[(&str, &str)], dir: &Path, state: &Path, arguments: &[&str]) -> Self {
        let mut command = program(dir);
        command.envs(variables.iter().copied()).arg("--state-dir").arg(state).args(arguments);
        Self::spawn(command)
    }

    /// As [`start`](Self::start), from a copy of the program that `user` may run, as that user if this one is root.
    #[cfg(unix)]
    pub(crate) fn start_as(user: u32, program: &Path, dir: &Path, arguments: &[&str]) -> Self {
        use std::os::unix::process::CommandExt as _;
        let mut command = Command::new(program);
        command.current_dir(dir).env_clear().args(["--state-dir", "off"]).args(arguments);
        if rustix::process::geteuid().is_root() {
            command.uid(user).gid(user);
        }
        Self::spawn(command)
    }

    /// As [`start_remembering`](Self::start_remembering), in a separate mount namespace, after the shell `script`
    /// has run there in `dir`. Its mounts are visible through [`Self::seen`] alone, and end with the server.
    #[cfg(target_os = "linux")]
    pub(crate) fn start_mounted(dir: &Path, script: &str, arguments: &[&str]) -> Self {
        let mut command = Command::new("unshare");
        let script = format!("set -e\n{script}\nexec \"$@\"");
        command.current_dir(dir).args(["-m", "sh", "-c", &script, "sh", env!("CARGO_BIN_EXE_rootbound")]);
        command.arg("--state-dir").arg(dir.join("state")).args(arguments);
        Self::spawn(command)
    }

    /// The path of `path` as the server sees it.
    #[cfg(target_os = "linux")]
    pub(crate) fn seen(&self, path: &Path) -> std::path::PathBuf {
        let below = path.strip_prefix("/").expect("an absolute path");
        Path::new("/proc").join(self.pid().to_string()).join("root").join(below)
    }

    /// Starts a command that is, or becomes, the server, in the folder `dir`.
    #[cfg(target_os = "linux")]
    pub(crate) fn spawn_in(mut command: Command, dir: &Path) -> Self {
        command.current_dir(dir);
        Self::spawn(command)
    }

    /// Starts the command with pipes.
    pub(crate) fn spawn(mut command: Command) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = started(|| command.spawn());
        let input = child.stdin.take();
        let output = child.stdout.take().expect("piped");
        let mut errors = child.stderr.take().expect("piped");
        let (sender, lines) = mpsc::channel();
        thread::spawn(move || {
            let mut output = BufReader::new(output);
            let mut line = String::new();
            // A killed server may leave an incomplete line, which is no message.
            while output.read_line(&mut line).is_ok() && line.ends_with('\n') {
                if sender.send(std::mem::take(&mut line)).is_err() {
                    break;
                }
            }
        });
        let log = thread::spawn(move || {
            let mut log = Vec::new();
            let _ = errors.read_to_end(&mut log);
            String::from_utf8_lossy(&log).into_owned()
        });
        Self { child, input, lines, log: Some(log), last_id: 0 }
    }

    /// Sends one line as it is.
    pub(crate) fn line(&mut self, line: &str) {
        self.bytes(format!("{line}\n").as_bytes());
    }

    /// Sends bytes as they are.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        let input = self.input.as_mut().expect("the input is open");
        input.write_all(bytes).and_then(|()| input.flush()).expect("the server reads");
    }

    /// Sends bytes; false if the server has ended.
    #[cfg(unix)]
    pub(crate) fn try_bytes(&mut self, bytes: &[u8]) -> bool {
        let input = self.input.as_mut().expect("the input is open");
        input.write_all(bytes).and_then(|()| input.flush()).is_ok()
    }

    /// The process id of the server.
    #[cfg(unix)]
    pub(crate) fn pid(&self) -> rustix::process::Pid {
        rustix::process::Pid::from_child(&self.child)
    }

    /// Sends a request and returns its id.
    pub(crate) fn send(&mut self, method: &str, params: &Value) -> u64 {
        self.last_id += 1;
        let id = self.last_id;
        self.line(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string());
        id
    }

    /// The next message; `None` once the output has ended.
    pub(crate) fn next(&mut self) -> Option<Value> {
        match self.lines.recv_timeout(PATIENCE) {
            Ok(line) => Some(serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"))),
            Err(RecvTimeoutError::Disconnected) => None,
            Err(RecvTimeoutError::Timeout) => panic!("no answer within {PATIENCE:?}"),
        }
    }

    /// The process id of the server.
    #[cfg(any(target_os = "linux", windows))]
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Sends a request and returns its answer, skipping notifications.
    pub(crate) fn ask(&mut self, method: &str, params: &Value) -> Value {
        let id = self.send(method, params);
        loop {
            let message = self.next().expect("the server has not ended");
            if message["id"] == id {
                return message;
            }
        }
    }

    /// As [`Self::ask`]; `None` if the server has ended.
    #[cfg(unix)]
    pub(crate) fn try_ask(&mut self, method: &str, params: &Value) -> Option<Value> {
        self.last_id += 1;
        let id = self.last_id;
        let line = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        // What fails is found out by the answer that does not come.
        self.try_bytes(format!("{line}\n").as_bytes());
        loop {
            let message = self.next()?;
            if message["id"] == id {
                return Some(message);
            }
        }
    }

    /// Opens a session with a handshake (2025-11-25).
    pub(crate) fn initialize(&mut self) -> Value {
        let params = json!({
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": { "name": "test", "version": "1" },
        });
        let answer = self.ask("initialize", &params);
        assert_eq!(answer["result"]["protocolVersion"], "2025-11-25", "{answer}");
        self.line(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
        answer["result"].clone()
    }

    /// Opens a session without handshake (2026-07-28), as clients probe for it.
    pub(crate) fn discover(&mut self) -> Value {
        let answer = self.ask("server/discover", &modern(json!({})));
        assert!(answer["result"]["supportedVersions"].is_array(), "{answer}");
        answer["result"].clone()
    }

    /// Closes the input, like a client that ends.
    pub(crate) fn end_input(&mut self) {
        self.input = None;
    }

    /// Sends a signal.
    #[cfg(unix)]
    pub(crate) fn signal(&self, signal: rustix::process::Signal) {
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, signal).expect("the process exists");
    }

    /// Waits for the exit; returns the status and stderr.
    pub(crate) fn exit(mut self) -> (ExitStatus, String) {
        let begun = Instant::now();
        let status = loop {
            if let Some(status) = self.child.try_wait().expect("the child can be waited for") {
                break status;
            }
            assert!(begun.elapsed() < PATIENCE, "the server does not end");
            thread::sleep(Duration::from_millis(2));
        };
        let log = self.log.take().map(|log| log.join().expect("stderr is read")).unwrap_or_default();
        (status, log)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Adds what every request without a handshake (2026-07-28) has.
pub(crate) fn modern(mut params: Value) -> Value {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    params
}
