//! The loop of an agent, with a list of calls in place of a model: it looks for a setting, changes it and verifies the change.
//!
//! `cargo run -p rootbound-file-tools --example agent` prints each call with its answer. A real loop sends the tools (name,
//! description, schema) and the answers so far to a model, and takes the next call from its reply.

#![expect(clippy::print_stdout, reason = "a person reads what it prints")]
#![expect(clippy::disallowed_methods, reason = "it makes the project that the tools are confined to")]

use std::{error::Error, fs, path::Path, sync::Arc, time::Duration};

use change_set::{Approval, Workspace};
use confined_fs::{Access, PolicyRules, RootSpec, WorkspaceOptions};
use file_tools::{Answer, CallContext, Content, Plan, Selection, ToolError, Toolbox, session::Session};
use serde_json::{Value, json};

/// Longest time of one call.
const CALL_LIMIT: Duration = Duration::from_secs(30);

/// A model that knows beforehand what it will call.
struct ScriptedModel {
    calls: std::vec::IntoIter<(&'static str, Value)>,
}

impl ScriptedModel {
    fn new() -> Self {
        let calls = vec![
            ("glob", json!({"pattern": "**/*.py"})),
            ("grep", json!({"pattern": "retries", "context": 1})),
            ("read", json!({"path": "src/app.py"})),
            ("edit", json!({"path": "src/app.py", "old_string": "retries = 3", "new_string": "retries = 5"})),
            ("read", json!({"path": "src/app.py"})),
        ];
        Self { calls: calls.into_iter() }
    }

    /// The next call. A real model is sent `tools` once, and `_answer` as the result of its last call.
    fn next_call(&mut self, _answer: Option<&str>) -> Option<(&'static str, Value)> {
        self.calls.next()
    }
}

struct Agent {
    tools: Toolbox,
    /// Of which each call gets its own; the session in it knows which text the model has seen.
    context: CallContext,
}

impl Agent {
    fn new(project: &Path) -> Result<Self, Box<dyn Error>> {
        let path = project.to_owned();
        let root =
            RootSpec { name: None, path, access: Access::ReadWrite, policy: PolicyRules::default(), optional: false };
        let workspace = Arc::new(Workspace::open(&[root], WorkspaceOptions::default())?.workspace);
        let session = Arc::new(Session::new(None));
        let context = CallContext::new(workspace, session, Arc::default(), Arc::default(), CALL_LIMIT);
        Ok(Self { tools: Toolbox::new(&Selection::default()), context })
    }

    fn call(&self, name: &str, arguments: &Value) -> Result<Answer, ToolError> {
        let cx = self.context.next_call();
        let tool = self.tools.get(name).ok_or_else(|| ToolError::invalid(format!("there is no tool {name}")))?;
        match tool.plan(&cx, arguments.as_object().cloned().unwrap_or_default())? {
            Plan::Answer(answer) => Ok(answer),
            // Here a person could be asked about `change.preview()`.
            Plan::Change(change) => change.commit(&cx, Approval::by_policy()),
            Plan::Wait(_) => unreachable!("`wait` is in a group that is not selected"),
        }
    }

    /// The text for the model. An error is one as well: a sentence, and the next step.
    fn answer(&self, name: &str, arguments: &Value) -> String {
        match self.call(name, arguments) {
            Ok(answer) => {
                let texts = answer.content.iter().filter_map(|part| match part {
                    Content::Text(text) => Some(text.as_str()),
                    _ => None,
                });
                texts.collect::<Vec<_>>().join("\n")
            }
            Err(error) => error.text(),
        }
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let project = tempfile::tempdir()?;
    fs::create_dir(project.path().join("src"))?;
    fs::write(project.path().join("src/app.py"), "def main():\n    retries = 3\n    run(retries)\n")?;

    let agent = Agent::new(project.path())?;
    let offered: Vec<&str> = agent.tools.tools().iter().map(|tool| tool.spec.name).collect();
    println!("tools: {}\n", offered.join(" "));

    let (mut model, mut last) = (ScriptedModel::new(), None);
    while let Some((name, arguments)) = model.next_call(last.as_deref()) {
        let answer = agent.answer(name, &arguments);
        println!("> {name} {arguments}\n{answer}\n");
        last = Some(answer);
    }

    assert!(last.is_some_and(|answer| answer.contains("retries = 5")), "the model sees the change");
    let changed = fs::read_to_string(project.path().join("src/app.py"))?;
    assert_eq!(changed, "def main():\n    retries = 5\n    run(retries)\n");
    Ok(())
}

#[test]
fn model_changes_the_file() {
    main().expect("an agent that ends well");
}
