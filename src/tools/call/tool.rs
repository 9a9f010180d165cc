//! What a tool is: its texts, its arguments and how it plans a call.

use schemars::JsonSchema;
use serde::{Serialize, de::DeserializeOwned};

use super::{context::CallContext, error::ToolError, plan::Plan};

/// The fixed facts of a tool: its name, and the texts and hints that clients see.
#[derive(Debug)]
pub struct Spec {
    /// Name on the wire, `[a-z_]+`.
    pub name: &'static str,
    /// Short title for people.
    pub title: &'static str,
    /// The verb phrase after the name in the server's instructions: "glob finds files by name".
    pub purpose: &'static str,
    /// The text by which a model chooses a tool.
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
    /// The base of a tool that changes nothing; its texts are its own.
    pub(crate) const READS: Self = Self {
        name: "",
        title: "",
        purpose: "",
        description: "",
        group: Group::Core,
        aliases: &[],
        read_only: true,
        destructive: false,
        idempotent: true,
        heavy: false,
    };

    /// As [`Self::READS`], of one that changes what is there.
    pub(crate) const CHANGES: Self = Self { read_only: false, destructive: true, idempotent: false, ..Self::READS };

    /// All spellings of arguments, those shared with other tools included.
    pub fn aliases(&self) -> impl Iterator<Item = &'static Alias> {
        self.aliases.iter().copied().flatten()
    }

    /// The schema's name of the argument that a model sends as `given`; none if that is no spelling of one.
    pub fn renamed(&self, given: &str) -> Option<&'static str> {
        self.aliases().find(|alias| alias.flag.is_none() && alias.given.contains(&given))?.name
    }
}

/// A set of tools that is offered together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Group {
    /// Always offered (subject to `--tools` and `--read-only`).
    Core,
    /// Creating, moving, copying and deleting: offered with `--allow manage`.
    Manage,
    /// Applying patches: offered with `--allow patch`.
    Patch,
    /// Waiting for a file to change: offered with `--allow watch`.
    Watch,
    /// Handing files to the person: offered with `--allow present`.
    Present,
}

impl Group {
    /// The groups that are offered only with `--allow`, by their names.
    pub const NAMED: &[(&str, Self)] =
        &[("manage", Self::Manage), ("patch", Self::Patch), ("watch", Self::Watch), ("present", Self::Present)];
}

/// One tool. `plan` computes without a lock; only a [`super::plan::Change`] touches the disk.
pub trait Tool: 'static {
    /// The arguments; doc comments are the schema's descriptions. Derive with
    /// `#[serde(deny_unknown_fields)]`, optional arguments as `Option`.
    type Args: DeserializeOwned + JsonSchema;
    /// The complete result as data, for clients that asked for structured output.
    type Output: Serialize + JsonSchema;
    /// Name, texts and hints.
    const SPEC: Spec;

    /// Whether [`Self::plan`] may be tried on the thread that reads the client's requests, with
    /// [`Blocking::Never`](super::context::Blocking::Never). For tools whose usual call takes less time than handing it to
    /// another thread and back.
    const INLINE: bool = false;

    /// Whether [`Self::plan`] may return [`Plan::Wait`]. Such a call has threads and limits apart from those of others.
    const WAITS: bool = false;

    /// Computes the answer, or the change that would be made.
    fn plan(cx: &CallContext, args: Self::Args) -> Result<Plan, ToolError>;
}

/// Other spellings of an argument.
///
/// Models bring them from other tools; they are accepted and kept out of the schema. A tool lists its own in its [`Spec`];
/// the lists here are those that several tools share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Alias {
    /// Names that a model may send.
    pub given: &'static [&'static str],
    /// Name in the schema; `None` for what is accepted and without effect: it asks for what the tool does anyway.
    pub name: Option<&'static str>,
    /// The value of a flag; `None` where the value is sent with the name. `given: true` means `name: value`;
    /// `given: false` means the opposite truth value, or the default of `name` where the value is a word.
    pub flag: Option<FlagValue>,
}

/// The value that a true flag means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlagValue {
    /// The truth value of a switch.
    Bool(bool),
    /// A word of an enumeration.
    Text(&'static str),
}

impl Alias {
    /// Each of `given` is another name of `name`.
    pub const fn names(name: &'static str, given: &'static [&'static str]) -> Self {
        Self { given, name: Some(name), flag: None }
    }

    /// Each of `given` has no effect.
    pub const fn ignored(given: &'static [&'static str]) -> Self {
        Self { given, name: None, flag: None }
    }

    /// Each of `given` is a flag for a value of `name`.
    pub const fn flags(name: &'static str, value: FlagValue, given: &'static [&'static str]) -> Self {
        Self { given, name: Some(name), flag: Some(value) }
    }
}

/// Spellings of `path`, for every tool that has one.
pub(crate) const PATH_ALIASES: &[Alias] =
    &[Alias::names("path", &["file_path", "filePath", "filename", "file", "directory", "dir"])];

/// Spellings of what glob, grep and ls have in common.
pub(crate) const LISTING_ALIASES: &[Alias] =
    &[Alias::names("max_results", &["head_limit", "limit", "maxResults"]), Alias::names("no_ignore", &["noIgnore"])];

/// Spellings of a range of lines.
pub(crate) const LINE_ALIASES: &[Alias] =
    &[Alias::names("start_line", &["startLine"]), Alias::names("end_line", &["endLine"])];
