//! File tools for AI agents as a library: `glob`, `grep`, `ls`, `read`, `write`, `edit` and their like, each call confined to
//! configured roots, each answer bounded. It knows no JSON-RPC and no runtime: a tool is synchronous, plans with the
//! arguments as a JSON object, and reaches files only through [`CallContext::workspace`].
//!
//! # Embed these tools
//! ```
//! use change_set::{Approval, Workspace};
//! use confined_fs::{Access, PolicyRules, RootSpec, WorkspaceOptions};
//! use file_tools::{Answer, CallContext, Content, Plan, Selection, ToolError, Toolbox};
//! use serde_json::{Value, json};
//!
//! fn call(tools: &Toolbox, agent: &CallContext, name: &str, arguments: Value) -> Result<Answer, ToolError> {
//!     let cx = agent.next_call();
//!     let arguments = arguments.as_object().cloned().unwrap_or_default();
//!     match tools.get(name).expect("an offered tool").plan(&cx, arguments)? {
//!         Plan::Answer(answer) => Ok(answer),
//!         Plan::Change(change) => change.commit(&cx, Approval::by_policy()), // or ask a person about `change.preview()`
//!         Plan::Wait(_) => unreachable!("`wait` is in a group that is not selected"),
//!     }
//! }
//!
//! # let temp = tempfile::tempdir().unwrap();
//! # let path = temp.path().to_owned();
//! # std::fs::write(path.join("notes.md"), "# Notes\n").unwrap();
//! let root = RootSpec { name: None, path, access: Access::ReadWrite, policy: PolicyRules::default(), optional: false };
//! let agent = CallContext::on(Workspace::open(&[root], WorkspaceOptions::default()).unwrap().workspace);
//! let tools = Toolbox::new(&Selection::default());
//! call(&tools, &agent, "grep", json!({"pattern": "notes", "ignore_case": true})).unwrap();
//! let edit = json!({"path": "notes.md", "old_string": "Notes", "new_string": "Plans"});
//! let Content::Text(text) = &call(&tools, &agent, "edit", edit).unwrap().content[0] else { unreachable!() };
//! assert!(text.contains("+# Plans"), "{text}");
//! ```
//! A session knows which text its caller has seen, so that an `edit` of another one is refused: here it is that of `agent`.
//! [`Group`] has an example for each group of tools; `examples/agent.rs` is the loop of an agent.
//!
//! # Map
//! This file is the registry: a tool is one file and its line in `TOOLS`, and `call` is what all of them work with.
//! [`session`] is what one session has seen, changed and spent, and [`audit`] in it makes a line for each call.
//! `commit` makes the changes of all tools, [`undo`] takes them back.

#![expect(missing_docs, reason = "names and types that say it; units, bounds and errors are documented")]

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmeExamples;

mod apply_patch;
mod call;
mod commit;
mod copy;
mod delete;
mod edit;
mod glob;
mod grep;
mod ls;
mod mkdir;
mod move_path;
mod present;
mod read;
mod resources;
pub mod session;
#[cfg(all(test, unix))]
mod tests;
mod transfer;
pub mod undo;
mod wait;
mod write;

use text_file::nearest_name::{ONE_OF_FEW, nearest_names};

use call::{
    answer, answer_budget, args, context, decode_memory, fence, hidden_note, introduced_problems, match_words,
    omissions, paging, read_before_write, shown_diff, tool,
};

pub use call::answer::{Answer, Content, count, utc};
pub use call::answer_budget::{AnswerBudget, TextUnit};
pub use call::args::{is_cut_json, parse_exact, quote_numbers};
pub use call::context::{
    Blocking, CallContext, LongestWait, ProgressSink, ProgressUpdate, ReadBeforeWrite, References,
};
pub use call::context::{Settings, WaitBound};
pub use call::erased::{CHECKPOINT_VALUE, ErasedTool};
pub use call::error::{Kind, ToolError, UNUSABLE_ROOT};
pub use call::tool::{
    Alias, Change, EndReason, Fingerprint, FlagValue, Group, Plan, PollResult, Preview, Spec, Tool, Wait,
};
pub(crate) use call::{answer::FileLink, context::MAX_SEARCH_FILE_SIZE};
pub use call::{fence::end_of_fence, paths::ExistingKind};
pub use resources::Operation;
pub use session::audit;

/// All tools, ordered by name, each with the arguments of usual calls: a new tool is a row here.
// With a count, as a static slice cannot hold what is made when it is first used (the schemas).
static TOOLS: [ErasedTool; 14] = [
    ErasedTool::of::<apply_patch::ApplyPatch>(&[
        r#"{"patch": "*** Begin Patch\n*** Update File: src/app.py\n@@ def main():\n-    retries = 3\n+    retries = 5\n*** End Patch"}"#,
    ]),
    ErasedTool::of::<copy::Copy>(&[r#"{"source": "a.txt", "destination": "b.txt"}"#]),
    ErasedTool::of::<delete::Delete>(&[r#"{"path": "old.txt"}"#]),
    ErasedTool::of::<edit::Edit>(&[
        r#"{"path": "src/app.py", "old_string": "retries = 3", "new_string": "retries = 5"}"#,
        r#"{"path": "src/app.py", "edits": [{"old_string": "a", "new_string": "b"}, {"path": "src/db.py", "old_string": "c", "new_string": "d"}]}"#,
        r#"{"edits": [{"glob": "src/**/*.py", "old_string": "old_name", "new_string": "new_name", "replace_all": true}]}"#,
    ]),
    ErasedTool::of::<glob::Glob>(&[r#"{"pattern": "**/*.py"}"#]),
    ErasedTool::of::<grep::Grep>(&[r#"{"pattern": "def main", "glob": "*.py", "context": 2}"#]),
    ErasedTool::of::<ls::Ls>(&[r#"{"path": "src"}"#]),
    ErasedTool::of::<mkdir::Mkdir>(&[r#"{"path": "src/new"}"#]),
    ErasedTool::of::<move_path::Move>(&[
        r#"{"source": "a.txt", "destination": "src/a.txt"}"#,
        r#"{"sources": ["inbox/*.pdf", "scan.png"], "destination": "archive/2026/"}"#,
    ]),
    ErasedTool::of::<present::Present>(&[r#"{"path": "report.md", "title": "Report"}"#]),
    ErasedTool::of::<read::Read>(&[
        r#"{"path": "src/app.py", "start_line": 40, "end_line": 80}"#,
        r#"{"paths": ["src/app.py:def main", "src/db.py:1-60"]}"#,
    ]),
    ErasedTool::of::<undo::Undo>(&["{}"]),
    ErasedTool::of::<wait::WaitFor>(&[r#"{"path": "build.log", "pattern": "error|finished"}"#]),
    ErasedTool::of::<write::Write>(&[r##"{"path": "notes.md", "content": "# Notes\n"}"##]),
];

/// Words in the names of other servers' tools, and what is called that here.
const OTHER_NAMES: &str = "content=grep search=grep rg=grep find=glob list=ls dir=ls tree=ls view=read cat=read open=read get=read \
    replace=edit patch=edit create=write save=write rename=move mv=move cp=copy remove=delete rm=delete";

#[derive(Clone, Debug, Default)]
pub struct Selection {
    /// `--tools`: only these names, when given.
    pub only: Option<Vec<String>>,
    /// `--allow`: optional groups.
    pub groups: Vec<Group>,
    /// `--read-only`: only tools that change nothing.
    pub read_only: bool,
}

/// The tools a session offers, in the order they are listed (by name).
#[derive(Debug)]
pub struct Toolbox {
    tools: Vec<&'static ErasedTool>,
}

impl Toolbox {
    pub fn new(selection: &Selection) -> Self {
        let offered = |spec: &Spec| {
            (spec.group == Group::Core || selection.groups.contains(&spec.group))
                && (spec.read_only || !selection.read_only)
                && selection.only.as_ref().is_none_or(|only| only.iter().any(|name| name == spec.name))
        };
        Self { tools: TOOLS.iter().filter(|tool| offered(tool.spec)).collect() }
    }

    pub fn known() -> Vec<&'static str> {
        TOOLS.iter().map(|tool| tool.spec.name).collect()
    }

    pub fn of(tools: Vec<ErasedTool>) -> Self {
        Self { tools: tools.leak().iter().collect() }
    }

    pub fn tools(&self) -> &[&'static ErasedTool] {
        &self.tools
    }

    /// The offered tool that is most likely meant by the name of none: a misspelled one (`raed`), one with more words
    /// (`read_text_file`), or one of another server (`list_directory`).
    pub fn nearest(&self, given: &str) -> Option<&'static str> {
        let names = || self.tools.iter().map(|tool| tool.spec.name);
        let words = words_of(given);
        let has = |word: &str| words.iter().any(|given| given == word);
        let other_names = || OTHER_NAMES.split_ascii_whitespace().filter_map(|pair| pair.split_once('='));
        let by_other_name = || other_names().filter(|(word, _)| has(word)).map(|(_, name)| name);
        names()
            .find(|name| has(name))
            .or_else(|| nearest_names(given, names(), ONE_OF_FEW).first().copied())
            .or_else(|| by_other_name().find(|name| names().any(|offered| offered == *name)))
    }

    /// Whether files are resources: true where they can be read.
    pub fn has_resources(&self) -> bool {
        self.get("read").is_some()
    }

    pub fn get(&self, name: &str) -> Option<&ErasedTool> {
        self.tools.iter().copied().find(|tool| tool.spec.name == name)
    }
}

/// The words of a name, in lower case: `readTextFile`, `read_text_file` and `files/read-text-file` have the same.
fn words_of(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut is_after_small = false;
    // Tools have short names; a client may send megabytes.
    for letter in name.chars().take(200) {
        if !letter.is_alphanumeric() || (letter.is_uppercase() && is_after_small) {
            words.push(String::new());
        }
        is_after_small = letter.is_lowercase();
        if letter.is_alphanumeric() {
            words.last_mut().expect("never empty").extend(letter.to_lowercase());
        }
    }
    words
}

#[cfg(test)]
mod toolbox_tests {
    use super::*;

    #[test]
    fn nearest_tool_of_a_misspelled_or_foreign_name_is_an_offered_one() {
        let core = Toolbox::new(&Selection::default());
        for (given, expected) in [
            ("raed", Some("read")),
            ("Grep", Some("grep")),
            ("read_text_file", Some("read")),
            ("readFile", Some("read")),
            ("mcp__files__write_file", Some("write")),
            ("list_directory", Some("ls")),
            ("search_file_content", Some("grep")),
            ("str_replace_based_edit_tool", Some("edit")),
            ("str_replace", Some("edit")),
            ("delete", None),
            ("bash", None),
            ("", None),
        ] {
            assert_eq!(core.nearest(given), expected, "{given}");
        }
    }
}
