//! What a tool is: its texts, its arguments and how it plans a call.

use schemars::JsonSchema;
use serde::{Serialize, de::DeserializeOwned};

use crate::session::Owed;

use super::{Alias, Answer, CallContext, Plan, ToolError};

/// What is fixed about a tool: its name and what a client is told about it.
#[derive(Debug)]
pub struct Spec {
    /// Name on the wire, `[a-z_]+`.
    pub name: &'static str,
    /// Short title for people.
    pub title: &'static str,
    /// The verb phrase behind the name in the server's instructions: "glob finds files by name".
    pub purpose: &'static str,
    /// What the model reads when it chooses a tool.
    pub description: &'static str,
    /// Which `--allow` group offers it; the core tools are always offered.
    pub group: Group,
    /// Spellings of arguments that models bring from other tools; kept out of the schema.
    pub aliases: &'static [&'static [Alias]],
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

impl Spec {
    /// All spellings of arguments, those shared with other tools included.
    pub fn aliases(&self) -> impl Iterator<Item = &'static Alias> {
        self.aliases.iter().copied().flatten()
    }

    /// What the schema calls the argument that a model sends as `given`; none where that is no spelling of one.
    pub fn renamed(&self, given: &str) -> Option<&'static str> {
        self.aliases().find_map(|alias| match alias {
            Alias::Name { given: spelling, name } if *spelling == given => Some(*name),
            _ => None,
        })
    }
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

    /// Whether [`Tool::at_once`] is worth asking.
    const ANSWERS_AT_ONCE: bool = false;

    /// Computes the answer, or the change that would be made.
    fn plan(cx: &CallContext, args: Self::Args) -> Result<Plan, ToolError>;

    /// The answer, where it takes a moment and waits for nothing: no disk, no lock that is held for long, no
    /// other process. `None` says nothing but that [`Tool::plan`] has to be asked. Runs on the thread that
    /// serves the wire, as handing a small read to another thread and back costs more than the read.
    fn at_once(_cx: &CallContext, _args: Self::Args) -> Option<Prompt> {
        None
    }
}

/// An answer that was had at once.
#[derive(Debug)]
pub struct Prompt {
    /// The answer.
    pub answer: Answer,
    /// What is to be written down before it is sent, where waiting is allowed.
    pub owed: Option<Owed>,
}
