//! Tools that misbehave in one way each, and a server of them.

use std::{
    sync::{Arc, Mutex},
    thread,
    time::{Duration, Instant},
};

use change_set::{Approval, Base, Workspace};
use confined_fs::Access;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use file_tools::{
    Answer, Blocking, CallContext, Change, Content, ErasedTool, Fingerprint, Group, Kind, Plan, Preview, Settings,
    Spec, Tool, ToolError, Toolbox, session::Session,
};

use crate::server::{Server, ServerOptions, Services};

/// A server that offers the tools of this file.
pub(super) fn server(options: ServerOptions, settings: Settings) -> Server {
    let toolbox = Toolbox::of(vec![
        ErasedTool::of::<Echo>(&[]),
        ErasedTool::of::<Nap>(&[]),
        ErasedTool::of::<Search>(&[]),
        ErasedTool::of::<Stubborn>(&[]),
        ErasedTool::of::<Crash>(&[]),
        ErasedTool::of::<Report>(&[]),
        ErasedTool::of::<Commit>(&[]),
        ErasedTool::of::<Queue>(&[]),
        ErasedTool::of::<Flood>(&[]),
        ErasedTool::of::<Picture>(&[]),
        ErasedTool::of::<Inline>(&[]),
    ]);
    let services = Services {
        workspace: Arc::new(workspace()),
        session: Arc::new(Session::new(None)),
        path_index: Arc::default(),
        toolbox,
        settings: Arc::new(settings),
        language_servers: None,
        options,
    };
    Server::with_instructions(services, "for tests".to_owned())
}

fn workspace() -> Workspace {
    Workspace::of_directory(std::env::temp_dir(), Access::ReadOnly)
}

/// Arguments of every tool here.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Args {
    /// What to say.
    text: Option<String>,
    /// How long to take.
    millis: Option<u64>,
}

impl Args {
    fn duration(&self) -> Duration {
        Duration::from_millis(self.millis.unwrap_or(0))
    }
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Output {
    text: String,
}

const fn spec(name: &'static str, heavy: bool) -> Spec {
    Spec {
        name,
        title: "Test tool",
        purpose: "tests",
        description: "A tool for tests.",
        group: Group::Core,
        aliases: &[],
        globs: &[],
        read_only: true,
        destructive: false,
        idempotent: true,
        heavy,
    }
}

/// Waits as a well-behaved tool does.
fn nap(cx: &CallContext, args: &Args) -> Result<(), ToolError> {
    log("begun", args);
    let step = Duration::from_millis(2);
    let mut left = args.duration();
    while !left.is_zero() {
        cx.check()?;
        thread::sleep(step.min(left));
        left = left.saturating_sub(step);
    }
    Ok(())
}

/// Answers inline, except to "slow"; "crash" makes it panic there.
struct Inline;

impl Tool for Inline {
    type Args = Args;
    type Output = Output;
    const SPEC: Spec = spec("inline", false);
    const INLINE: bool = true;

    fn plan(cx: &CallContext, args: Args) -> Result<Plan, ToolError> {
        let text = match (cx.blocking, args.text.as_deref()) {
            (Blocking::Allowed, _) => "on a thread",
            (Blocking::Never, Some("slow")) => return Err(ToolError::would_block()),
            (Blocking::Never, Some("crash")) => panic!("inline"),
            (Blocking::Never, _) => "inline",
        };
        Ok(Plan::Answer(Answer::text(text, &json!({}))))
    }
}

macro_rules! tool {
    ($(#[$doc:meta])* $type:ident, $name:literal, $heavy:literal, |$cx:ident, $args:ident| $body:expr) => {
        $(#[$doc])*
        struct $type;
        impl Tool for $type {
            type Args = Args;
            type Output = Output;
            const SPEC: Spec = spec($name, $heavy);
            fn plan($cx: &CallContext, $args: Args) -> Result<Plan, ToolError> {
                $body
            }
        }
    };
}

tool!(
    /// Answers with its text.
    Echo, "echo", false, |cx, args| {
        let text = args.text.unwrap_or_default();
        Ok(Plan::Answer(Answer::text(text.clone(), &json!({ "length": text.len() })).data(cx, &Output { text })))
    }
);

tool!(
    /// Takes its time, and stops when it is cancelled.
    Nap, "nap", false, |cx, args| {
        nap(cx, &args)?;
        Ok(Plan::Answer(Answer::text("rested", &json!({}))))
    }
);

tool!(
    /// As `nap`, and heavy.
    Search, "search", true, |cx, args| {
        nap(cx, &args)?;
        Ok(Plan::Answer(Answer::text("searched", &json!({}))))
    }
);

/// Waits until the test says so, or for so long.
fn wait(args: &Args) {
    let begun = Instant::now();
    while begun.elapsed() < args.duration() && !args.text.as_deref().is_some_and(is_released) {
        thread::sleep(Duration::from_millis(2));
    }
}

tool!(
    /// Takes its time, and never checks whether to stop.
    Stubborn, "stubborn", true, |cx, args| {
        match args.text.as_deref() {
            Some(text) if text.starts_with("compiles") => cx.stop.while_computing(|| wait(&args)),
            _ => wait(&args),
        }
        Ok(Plan::Answer(Answer::text("done at last", &json!({}))))
    }
);

tool!(
    /// Panics.
    Crash, "crash", false, |_cx, args| {
        panic!("{}", args.text.unwrap_or_default())
    }
);

tool!(
    /// Reports progress every few milliseconds while it takes its time.
    Report, "report", false, |cx, args| {
        let steps = args.millis.unwrap_or(0) / 5;
        for step in 1..=steps {
            thread::sleep(Duration::from_millis(5));
            cx.report(step, Some(steps), "working");
        }
        Ok(Plan::Answer(Answer::text("reported", &json!({}))))
    }
);

tool!(
    /// Answers with as many thousand letters as `millis` says.
    Flood, "flood", false, |_cx, args| {
        Ok(Plan::Answer(Answer::text("x".repeat(usize::try_from(args.millis.unwrap_or(0)).unwrap_or(0) * 1000), &json!({}))))
    }
);

tool!(
    /// Answers with an image.
    Picture, "picture", false, |_cx, _args| {
        let image = Content::Image { bytes: b"pixels".to_vec(), mime: "image/png" };
        Ok(Plan::Answer(Answer { content: vec![image], ..Answer::default() }))
    }
);

tool!(
    /// Plans at once, and takes its time to commit, as `stubborn` does.
    Commit, "commit", false, |_cx, args| {
        Ok(Plan::Change(Box::new(SlowChange(args))))
    }
);

struct SlowChange(Args);

impl Change for SlowChange {
    fn preview(&self) -> Preview {
        Preview { summary: "a slow change".to_owned(), diff: String::new(), destructive: false }
    }

    fn fingerprint(&self) -> Fingerprint {
        Fingerprint { path: "slow".to_owned(), base: Base::Absent, content: None }
    }

    fn commit(self: Box<Self>, _: &CallContext, _: Approval) -> Result<Answer, ToolError> {
        log("begun", &self.0);
        wait(&self.0);
        log("made", &self.0);
        Ok(Answer::text("committed", &json!({})))
    }
}

tool!(
    /// Plans at once, and waits in its commit for a change that never ends, as long as it may.
    Queue, "queue", false, |_cx, args| {
        Ok(Plan::Change(Box::new(EndlessChange(args))))
    }
);

struct EndlessChange(Args);

impl Change for EndlessChange {
    fn preview(&self) -> Preview {
        Preview { summary: "a change that waits".to_owned(), diff: String::new(), destructive: false }
    }

    fn fingerprint(&self) -> Fingerprint {
        Fingerprint { path: "waiting".to_owned(), base: Base::Absent, content: None }
    }

    fn commit(self: Box<Self>, cx: &CallContext, _: Approval) -> Result<Answer, ToolError> {
        if let Some(yields) = &cx.yields {
            yields();
        }
        log("begun", &self.0);
        loop {
            // As the locks answer, which do not know why they must stop waiting.
            cx.check().map_err(|_| ToolError::new(Kind::TimedOut, "the time was used up"))?;
            thread::sleep(Duration::from_millis(2));
        }
    }
}

/// What calls with a text have done, as `begun TEXT` and `made TEXT`.
static STEPS: Mutex<Vec<String>> = Mutex::new(Vec::new());

fn log(what: &str, args: &Args) {
    if let Some(text) = &args.text {
        STEPS.lock().expect("no test panics with the lock held").push(format!("{what} {text}"));
    }
}

/// What the call with `text` has done.
pub(super) fn steps_of(text: &str) -> Vec<String> {
    let steps = STEPS.lock().expect("no test panics with the lock held");
    let done = |step: &&String| step.split_once(' ').is_some_and(|(what, of)| what != "release" && of == text);
    steps.iter().filter(done).cloned().collect()
}

/// Ends the wait of the call with `text`, which nothing else ends.
pub(super) fn release(text: &str) {
    STEPS.lock().expect("no test panics with the lock held").push(format!("release {text}"));
}

fn is_released(text: &str) -> bool {
    let steps = STEPS.lock().expect("no test panics with the lock held");
    steps.iter().any(|step| step.strip_prefix("release ") == Some(text))
}

/// Waits until the call with `text` runs.
pub(super) async fn begun(text: &str) {
    steps(text, 1).await;
}

/// Waits until the change of the call with `text` is made.
pub(super) async fn made(text: &str) {
    steps(text, 2).await;
}

async fn steps(text: &str, count: usize) {
    while steps_of(text).len() < count {
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}
