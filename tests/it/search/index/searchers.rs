//! The two that are asked the same: one with an index, one without. Both in this process, or both in others.

use std::{
    cell::{Cell, RefCell},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use file_tools::{CallContext, Content, Plan, Selection, Toolbox};
use rustix::process::Signal;
use serde_json::{Map, Value, json};
use tree_search::IndexMode;

use super::comparison::{Random, Rules};
use crate::{harness::Setup, harness::process::Process, harness::program::program};

/// Text and metadata, where the paths came from, and the answer as data.
pub(super) struct Answered {
    pub(super) text: String,
    pub(super) source: Option<Value>,
    pub(super) data: Value,
    pub(super) took: Duration,
}

impl Answered {
    fn new(text: &str, mut facts: Map<String, Value>, data: Value) -> Self {
        facts.remove("elapsed_ms");
        let source = facts.remove("source");
        if facts.get("complete") == Some(&json!(false)) {
            // Counted as far as the search went, a little beyond the shown part.
            facts.remove("matches");
        }
        Self { text: format!("{text}\n{}", Value::Object(facts)), source, data, took: Duration::ZERO }
    }

    fn error(error: &str) -> Self {
        Self { text: format!("error: {error}"), source: None, data: Value::Null, took: Duration::ZERO }
    }
}

pub(super) enum Searchers {
    InProcess(Box<InProcess>),
    Processes(Box<Processes>),
}

impl Searchers {
    /// The answers with an index and without.
    pub(super) fn answers(&self, tool: &str, arguments: &Map<String, Value>) -> (Answered, Answered) {
        match self {
            Self::InProcess(pair) => (
                timed(|| pair.answer(&pair.with, tool, arguments)),
                timed(|| pair.answer(&pair.without, tool, arguments)),
            ),
            Self::Processes(processes) => processes.answers(tool, arguments),
        }
    }
}

pub(super) struct InProcess {
    pub(super) with: CallContext,
    without: CallContext,
    toolbox: Toolbox,
}

impl InProcess {
    pub(super) fn new(dir: &Path, mode: IndexMode, rules: Rules) -> Self {
        let mut setup = Setup::default();
        setup.settings.search_threads = Some(2);
        setup.settings.structured_output = true;
        if rules == Rules::Rgs {
            setup.settings.max_output = Some(1 << 20);
            setup.workspace.policy.allow_secret = vec!["**".to_owned()];
            setup.workspace.ignore.no_default = true;
        }
        let workspace = Arc::new(setup.workspace(dir));
        let (with, without) = (setup.context(&workspace, mode), setup.context(&workspace, IndexMode::Off));
        Self { with, without, toolbox: Toolbox::new(&Selection::default()) }
    }

    pub(super) fn answer(&self, cx: &CallContext, tool: &str, arguments: &Map<String, Value>) -> Answered {
        let entry = self.toolbox.tools().iter().find(|entry| entry.spec.name == tool).unwrap();
        let answer = match entry.plan(cx, arguments.clone()) {
            Ok(Plan::Answer(answer)) => answer,
            Ok(Plan::Change(_) | Plan::Wait(_)) => panic!("{tool} changes nothing"),
            Err(error) => return Answered::error(&format!("{error:?}")),
        };
        let text = answer.content.into_iter().map(|content| match content {
            Content::Text(text) => text,
            Content::Image { .. } | Content::Link(_) => String::new(),
        });
        Answered::new(&text.collect::<String>(), answer.facts, answer.data.unwrap_or_default())
    }
}

/// How a process ends.
#[derive(Clone, Copy, Debug)]
pub(super) enum End {
    /// Its client closes the input and waits.
    Input,
    /// SIGTERM.
    Terminated,
    /// SIGKILL, so many microseconds after a query was sent or the input was closed.
    Killed(u64),
}

/// Servers that share a state folder, and one without an index.
pub(super) struct Processes {
    dir: PathBuf,
    rules: Rules,
    /// Options of all, which may change what is denied.
    options: RefCell<Vec<&'static str>>,
    random: RefCell<Random>,
    with: RefCell<Vec<Process>>,
    without: RefCell<Option<Process>>,
    /// The one that is asked next.
    next: Cell<usize>,
    /// Files that a stored index answered for, by the logs of the processes that ended.
    pub(super) answered: Cell<usize>,
    pub(super) started: Cell<usize>,
    pub(super) killed: Cell<usize>,
}

impl Processes {
    pub(super) fn new(dir: &Path, seed: u64, rules: Rules) -> Self {
        Self {
            dir: dir.to_path_buf(),
            rules,
            options: RefCell::default(),
            random: RefCell::new(Random::new(seed ^ 0xA5A5)),
            with: RefCell::default(),
            without: RefCell::default(),
            next: Cell::default(),
            answered: Cell::default(),
            started: Cell::default(),
            killed: Cell::default(),
        }
    }

    pub(super) fn state(&self) -> PathBuf {
        self.dir.join("state")
    }

    /// What changes the policy of all that start from now on. All that run are ended.
    pub(super) fn set_options(&self, options: &[&'static str]) {
        self.end_all();
        *self.without.borrow_mut() = None;
        *self.options.borrow_mut() = options.to_vec();
    }

    /// Ends all with an index, and forgets the one without: the directory is another one.
    pub(super) fn forget_root(&self) {
        self.end_all();
        *self.without.borrow_mut() = None;
    }

    fn command(&self, state: &Path) -> Command {
        let mut command = program(&self.dir.join("root"));
        command.arg("--state-dir").arg(state);
        if self.rules == Rules::Rgs {
            command.args(["--allow-secret", "**", "--no-default-ignore", "--max-output", "1048576"]);
        }
        command.args(&*self.options.borrow());
        command
    }

    fn server(&self, state: &Path, index: &str, fault: Option<&str>) -> Process {
        let mut command = self.command(state);
        command.args(["--structured-output", "--log", "debug", "--index", index, "."]);
        if let Some(fault) = fault {
            command.env("_ROOTBOUND_FAULT", fault);
        }
        let mut process = Process::spawn(command);
        if fault.is_none() {
            process.initialize();
        }
        process
    }

    /// Starts one more with an index.
    pub(super) fn start(&self, index: &str) {
        self.started.set(self.started.get() + 1);
        self.with.borrow_mut().push(self.server(&self.state(), index, None));
    }

    pub(super) fn running(&self) -> usize {
        self.with.borrow().len()
    }

    /// Ends one of those that run.
    pub(super) fn end(&self, how: End) {
        let mut with = self.with.borrow_mut();
        if with.is_empty() {
            return;
        }
        let at = self.random.borrow_mut().below(with.len());
        let process = with.swap_remove(at);
        drop(with);
        self.finish(process, how);
    }

    pub(super) fn end_all(&self) {
        while self.running() > 0 {
            let how = self.some_end();
            self.end(how);
        }
    }

    pub(super) fn some_end(&self) -> End {
        let mut random = self.random.borrow_mut();
        match random.below(8) {
            0..4 => End::Input,
            4 => End::Terminated,
            _ => End::Killed(1 << random.below(18)),
        }
    }

    fn finish(&self, mut process: Process, how: End) {
        match how {
            End::Input => process.end_input(),
            End::Terminated => process.signal(Signal::TERM),
            End::Killed(after) => {
                if self.random.borrow_mut().chance(50) {
                    process.end_input();
                } else {
                    process.send("tools/call", &json!({ "name": "grep", "arguments": { "pattern": "needle" } }));
                }
                thread::sleep(Duration::from_micros(after));
                process.signal(Signal::KILL);
                self.killed.set(self.killed.get() + 1);
            }
        }
        let (_, log) = process.exit();
        assert!(!log.contains("panicked"), "{log}");
        let counts = log.split("answered=").skip(1);
        let count = |text: &str| {
            text.split(|c: char| !c.is_ascii_digit()).next().and_then(|digits| digits.parse::<usize>().ok())
        };
        self.answered.set(self.answered.get() + counts.filter_map(count).sum::<usize>());
    }

    /// A server that a fault ends, or whose calls fail, while it builds its index.
    pub(super) fn start_with_fault(&self, fault: &str) {
        let mut process = self.server(&self.state(), "eager", Some(fault));
        let initialize = json!({ "protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": { "name": "test", "version": "1" } });
        let grep = json!({ "name": "grep", "arguments": { "pattern": "needle" } });
        for (id, method, params) in [(1, "initialize", initialize), (2, "tools/call", grep)] {
            let line = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
            if !process.try_bytes(format!("{line}\n").as_bytes()) {
                break;
            }
        }
        // Its answers may be errors, or never come.
        self.finish(process, End::Input);
    }

    /// `rootbound index build`, killed after a while if that is given.
    pub(super) fn build(&self, killed_after: Option<Duration>) {
        let mut command = self.command(&self.state());
        command.args(["index", "build", "."]).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().expect("the program starts");
        if let Some(after) = killed_after {
            thread::sleep(after);
            child.kill().expect("it can be killed");
            self.killed.set(self.killed.get() + 1);
        }
        child.wait().expect("it ends");
    }

    fn answers(&self, tool: &str, arguments: &Map<String, Value>) -> (Answered, Answered) {
        let with = if self.running() == 0 {
            // A process for each call.
            let index = self.random.borrow_mut().pick(&["auto", "auto", "eager", "off"]);
            self.start(index);
            let answered = self.ask_next(tool, arguments);
            let how = self.some_end();
            self.end(how);
            answered
        } else {
            self.ask_next(tool, arguments)
        };
        let mut without = self.without.borrow_mut();
        let process = without.get_or_insert_with(|| self.server(Path::new("off"), "off", None));
        (with, timed(|| answer(process, tool, arguments)))
    }

    fn ask_next(&self, tool: &str, arguments: &Map<String, Value>) -> Answered {
        let mut with = self.with.borrow_mut();
        self.next.set(self.next.get() + 1);
        let count = with.len();
        timed(|| answer(&mut with[self.next.get() % count], tool, arguments))
    }
}

fn timed(ask: impl FnOnce() -> Answered) -> Answered {
    let begun = Instant::now();
    let answered = ask();
    Answered { took: begun.elapsed(), ..answered }
}

fn answer(process: &mut Process, tool: &str, arguments: &Map<String, Value>) -> Answered {
    let answer = process.ask("tools/call", &json!({ "name": tool, "arguments": arguments }));
    let Some(result) = answer["result"].as_object() else { panic!("{tool}: {answer}") };
    let blocks = result["content"].as_array().expect("blocks");
    let text: String = blocks.iter().filter_map(|block| block["text"].as_str()).collect();
    if result["isError"] == true {
        return Answered::error(&text);
    }
    let facts = result["_meta"]["rootbound/result"].as_object().cloned().unwrap_or_default();
    let data = result.get("structuredContent").cloned().unwrap_or_default();
    Answered::new(&text, facts, data)
}
