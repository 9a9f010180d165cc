//! The tools a model calls: arguments → plan → (approval →) commit → answer.
//!
//! One file per tool, one line in `TOOLS`. A tool is synchronous, knows nothing of JSON-RPC
//! and reaches files only through [`CallContext::workspace`].

pub mod args;
pub mod context;
pub mod copy;
pub mod delete;
mod destination;
pub mod edit;
pub mod error;
mod freshness;
pub mod glob;
pub mod grep;
pub mod listing;
pub mod ls;
pub mod mkdir;
pub mod move_path;
pub mod output;
pub mod read;
mod recorded;
pub mod restore;
pub mod schema;
pub mod undo;
pub mod write;

use std::{fmt, sync::OnceLock};

use schemars::JsonSchema;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Map, Value};

pub use args::Alias;
pub use context::{Blocking, CallContext, ReadBeforeWrite, Settings};
pub use error::{Kind, ToolError};
pub use output::{Answer, Content};

use crate::{
    session::Cost,
    workspace::{Approval, Base, Revision},
};

/// What is fixed about a tool: its name and what a client is told about it.
#[derive(Debug)]
pub struct Spec {
    /// Name on the wire, `[a-z_]+`.
    pub name: &'static str,
    /// Short title for people.
    pub title: &'static str,
    /// What the model reads when it chooses a tool.
    pub description: &'static str,
    /// Which `--allow` group offers it; the core tools are always offered.
    pub group: Group,
    /// Spellings of arguments that models bring from other tools; kept out of the schema.
    pub aliases: &'static [Alias],
    /// Whether it changes nothing.
    pub read_only: bool,
    /// Whether it may destroy something that was there.
    pub destructive: bool,
    /// Whether a second identical call changes nothing more.
    pub idempotent: bool,
    /// Whether it may hold a searcher's share of processor time and so counts against the bound on
    /// concurrent heavy work.
    pub heavy: bool,
}

/// A set of tools that is offered together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Group {
    /// Always offered (subject to `--tools` and `--read-only`).
    Core,
    /// Creating, moving, copying and deleting: offered with `--allow manage`.
    Manage,
}

/// One tool. `plan` computes without a lock; only a [`Change`] touches the disk.
pub trait Tool: 'static {
    /// The arguments; doc comments are the schema's descriptions. Derive with
    /// `#[serde(deny_unknown_fields)]`, optional arguments as `Option`.
    type Args: DeserializeOwned + JsonSchema;
    /// The complete result as data, for clients that asked for structured output.
    type Output: Serialize + JsonSchema;
    /// Name, texts and hints.
    const SPEC: Spec;

    /// Whether [`Self::plan`] may be tried on the thread that reads the client's requests, with
    /// [`Blocking::Never`]. For tools whose usual call takes less time than handing it to another thread and back.
    const INLINE: bool = false;

    /// Computes the answer, or the change that would be made.
    fn plan(cx: &CallContext, args: Self::Args) -> Result<Plan, ToolError>;
}

/// What a plan came to.
pub enum Plan {
    /// Nothing is to be changed: this is the answer.
    Answer(Answer),
    /// A change, ready to be approved and committed.
    Change(Box<dyn Change>),
}

impl fmt::Debug for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Answer(answer) => f.debug_tuple("Answer").field(answer).finish(),
            Self::Change(change) => f.debug_tuple("Change").field(&change.preview().summary).finish(),
        }
    }
}

/// A change to the disk that has been worked out but not made.
pub trait Change: Send {
    /// What a person is shown before it is made.
    fn preview(&self) -> Preview;
    /// What it will take of the session's quotas; nothing unless it writes.
    fn cost(&self) -> Cost {
        Cost::default()
    }
    /// What exactly would be changed into what. A person's yes holds for this effect alone.
    fn fingerprint(&self) -> Fingerprint;
    /// Takes the lock, re-checks that the file is what the plan saw, and makes the change. With an
    /// approval [for this plan only](Approval::is_for_this_plan_only) it never plans again.
    fn commit(self: Box<Self>, cx: &CallContext, approval: Approval) -> Result<Answer, ToolError>;
}

/// A change in words, for the person who is asked.
#[derive(Clone, Debug)]
pub struct Preview {
    /// One sentence.
    pub summary: String,
    /// The whole unified diff, or empty where there is no text to show. Whoever shows it cuts it, and
    /// says so: a person must know what was not shown.
    pub diff: String,
    /// Whether something that was there would be lost or replaced.
    pub destructive: bool,
}

/// Decodes a tool's arguments and plans the call, whatever its types are.
type Planner = fn(&CallContext, Map<String, Value>, &Entry) -> Result<Plan, ToolError>;

/// What a change comes to, as values: two plans of equal effect make the same change to the same
/// files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fingerprint {
    /// The real path that changes, in its public form; both paths where there are two.
    pub path: String,
    /// What is there now.
    pub base: Base,
    /// What is there afterwards; `None` for nothing.
    pub content: Option<Revision>,
}

/// A tool behind its erased type.
pub struct Entry {
    /// Name, texts and hints.
    pub spec: &'static Spec,
    input_schema: OnceLock<Map<String, Value>>,
    make_input_schema: fn() -> Map<String, Value>,
    output_schema: fn() -> Map<String, Value>,
    /// Whether a call may be answered [inline](Tool::INLINE).
    pub inline: bool,
    plan: Planner,
}

impl fmt::Debug for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Entry").field("name", &self.spec.name).finish_non_exhaustive()
    }
}

impl Entry {
    pub(crate) fn of<T: Tool>() -> Self {
        Self {
            spec: &T::SPEC,
            input_schema: OnceLock::new(),
            make_input_schema: schema::input::<T::Args>,
            output_schema: schema::output::<T::Output>,
            plan: |cx, arguments, entry| T::plan(cx, entry.decoded(cx, arguments)?),
            inline: T::INLINE,
        }
    }

    fn decoded<A: DeserializeOwned>(&self, cx: &CallContext, arguments: Map<String, Value>) -> Result<A, ToolError> {
        args::bounded(&arguments, &cx.settings)?;
        args::decode(args::normalise(arguments, self.input_schema(), self.spec)?)
    }

    /// JSON Schema of the arguments, in the plain form every provider takes. Built at the first use:
    /// a client that starts a process for each call needs one of them, not all.
    pub fn input_schema(&self) -> &Map<String, Value> {
        self.input_schema.get_or_init(self.make_input_schema)
    }

    /// JSON Schema of the structured result; built on demand, as most clients never ask.
    pub fn output_schema(&self) -> Map<String, Value> {
        (self.output_schema)()
    }

    /// Decodes the arguments and plans the call.
    pub fn plan(&self, cx: &CallContext, arguments: Map<String, Value>) -> Result<Plan, ToolError> {
        (self.plan)(cx, arguments, self)
    }
}

/// How a tool is made once it is offered.
struct Known {
    spec: &'static Spec,
    make: fn() -> Entry,
}

impl Known {
    const fn of<T: Tool>() -> Self {
        Self { spec: &T::SPEC, make: Entry::of::<T> }
    }
}

/// Every tool there is, ordered by name: a new tool is one line here.
const TOOLS: &[Known] = &[
    Known::of::<copy::Copy>(),
    Known::of::<delete::Delete>(),
    Known::of::<edit::Edit>(),
    Known::of::<glob::Glob>(),
    Known::of::<grep::Grep>(),
    Known::of::<ls::Ls>(),
    Known::of::<mkdir::Mkdir>(),
    Known::of::<move_path::Move>(),
    Known::of::<read::Read>(),
    Known::of::<undo::Undo>(),
    Known::of::<write::Write>(),
];

/// Which tools are offered.
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
    entries: Vec<Entry>,
}

impl Toolbox {
    /// The tools of `selection`.
    pub fn new(selection: &Selection) -> Self {
        let offered = |spec: &Spec| {
            (spec.group == Group::Core || selection.groups.contains(&spec.group))
                && (spec.read_only || !selection.read_only)
                && selection.only.as_ref().is_none_or(|only| only.iter().any(|name| name == spec.name))
        };
        Self { entries: TOOLS.iter().filter(|tool| offered(tool.spec)).map(|tool| (tool.make)()).collect() }
    }

    /// Names of every tool there is, whatever a selection leaves out.
    pub fn known() -> Vec<&'static str> {
        TOOLS.iter().map(|tool| tool.spec.name).collect()
    }

    /// A toolbox of tools that misbehave, for tests of what must survive them.
    #[cfg(test)]
    pub(crate) fn from_entries(entries: Vec<Entry>) -> Self {
        Self { entries }
    }

    /// The offered tools, ordered by name.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The offered tool called `name`.
    pub fn get(&self, name: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.spec.name == name)
    }
}
