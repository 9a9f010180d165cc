//! What a tool is: its texts, its arguments and how it plans a call; and what a plan is: an answer, or a change that waits for
//! its approval.

use std::{
    fmt::{self, Write as _},
    sync::Arc,
    time::Duration,
};

use change_set::{Approval, Base};
use confined_fs::Revision;
use confined_fs::watch::{DiskWatcher, OnEvent};
use schemars::JsonSchema;
use serde::{Serialize, de::DeserializeOwned};

use crate::session::Cost;

use super::{answer::Answer, context::CallContext, error::ToolError};

/// The fixed facts of a tool: its name, and the texts and hints that clients see.
#[derive(Debug)]
pub struct Spec {
    pub name: &'static str,
    pub title: &'static str,
    /// The verb phrase after the name in the server's instructions: "glob finds files by name".
    pub purpose: &'static str,
    pub description: &'static str,
    /// Which `--allow` group offers it; the core tools are always offered.
    pub group: Group,
    /// Spellings of arguments that models bring from other tools; kept out of the schema.
    pub aliases: &'static [&'static [Alias]],
    pub globs: &'static [&'static str],
    pub read_only: bool,
    pub destructive: bool,
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
        globs: &[],
        read_only: true,
        destructive: false,
        idempotent: true,
        heavy: false,
    };

    /// As [`Self::READS`], of one that changes what is there.
    pub(crate) const CHANGES: Self = Self { read_only: false, destructive: true, idempotent: false, ..Self::READS };

    pub fn aliases(&self) -> impl Iterator<Item = &'static Alias> {
        self.aliases.iter().copied().flatten()
    }

    /// The schema's name of the argument that a model sends as `given`; none if that is no spelling of one.
    pub fn renamed(&self, given: &str) -> Option<&'static str> {
        self.aliases().find(|alias| alias.flag.is_none() && alias.given.contains(&given))?.name
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Group {
    /// Always offered (subject to `--tools` and `--read-only`): `glob`, `grep`, `ls`, `read`, `write`, `edit`.
    /// ```
    /// # use change_set::{Approval, Workspace};
    /// # use confined_fs::{Access, PolicyRules, RootSpec, WorkspaceOptions};
    /// use file_tools::{CallContext, Content, Plan, Selection, Toolbox};
    /// use serde_json::json;
    /// # let temp = tempfile::tempdir().unwrap();
    /// # let path = temp.path().to_owned();
    /// # let root = RootSpec { name: None, path, access: Access::ReadWrite, policy: PolicyRules::default(), optional: false };
    /// # let cx = CallContext::on(Workspace::open(&[root], WorkspaceOptions::default()).unwrap().workspace);
    /// let tools = Toolbox::new(&Selection::default());
    /// let call = |name: &str, arguments: serde_json::Value| {
    ///     match tools.get(name).unwrap().plan(&cx, arguments.as_object().cloned().unwrap()).unwrap() {
    ///         Plan::Change(change) => change.commit(&cx, Approval::by_policy()).unwrap(),
    ///         Plan::Answer(answer) => answer,
    ///         Plan::Wait(_) => unreachable!("no tool of this group waits"),
    ///     }
    /// };
    /// call("write", json!({"path": "src/app.py", "content": "retries = 3\n"}));
    /// call("edit", json!({"path": "src/app.py", "old_string": "3", "new_string": "5"}));
    /// for (tool, arguments) in [
    ///     ("ls", json!({})),
    ///     ("glob", json!({"pattern": "**/*.py"})),
    ///     ("grep", json!({"pattern": "retries"})),
    ///     ("read", json!({"path": "src/app.py"})),
    /// ] {
    ///     let answer = call(tool, arguments);
    ///     assert!(matches!(&answer.content[0], Content::Text(text) if text.contains("app.py") || text.contains("retries = 5")));
    /// }
    /// ```
    Core,
    /// Creating, moving, copying, deleting and undoing: offered with `--allow manage`.
    /// ```
    /// # use change_set::{Approval, Workspace};
    /// # use confined_fs::{Access, PolicyRules, RootSpec, WorkspaceOptions};
    /// use file_tools::{CallContext, Group, Plan, Selection, Toolbox};
    /// use serde_json::json;
    /// # let temp = tempfile::tempdir().unwrap();
    /// # let path = temp.path().to_owned();
    /// # std::fs::write(path.join("a.txt"), "one\n").unwrap();
    /// # let root = RootSpec { name: None, path, access: Access::ReadWrite, policy: PolicyRules::default(), optional: false };
    /// # let cx = CallContext::on(Workspace::open(&[root], WorkspaceOptions::default()).unwrap().workspace);
    /// let tools = Toolbox::new(&Selection { groups: vec![Group::Manage], ..Selection::default() });
    /// let make = |name: &str, arguments: serde_json::Value| {
    ///     let plan = tools.get(name).unwrap().plan(&cx, arguments.as_object().cloned().unwrap()).unwrap();
    ///     let Plan::Change(change) = plan else { unreachable!("{name} changes something") };
    ///     let summary = change.preview().summary;
    ///     change.commit(&cx, Approval::by_policy()).unwrap();
    ///     summary
    /// };
    /// assert_eq!(make("mkdir", json!({"path": "old"})), "Make the directory old");
    /// assert_eq!(make("move", json!({"source": "a.txt", "destination": "old/a.txt"})), "Move a.txt to old/a.txt");
    /// make("copy", json!({"source": "old/a.txt", "destination": "b.txt"}));
    /// make("delete", json!({"path": "old/a.txt"}));
    /// make("undo", json!({}));
    /// # assert!(temp.path().join("old/a.txt").exists() && temp.path().join("b.txt").exists());
    /// ```
    Manage,
    /// Patches of several files, all or none: offered with `--allow patch`.
    /// ```
    /// # use change_set::{Approval, Workspace};
    /// # use confined_fs::{Access, PolicyRules, RootSpec, WorkspaceOptions};
    /// use file_tools::{CallContext, Group, Plan, Selection, Toolbox};
    /// use serde_json::json;
    /// # let temp = tempfile::tempdir().unwrap();
    /// # let path = temp.path().to_owned();
    /// # std::fs::write(path.join("a.txt"), "one\ntwo\n").unwrap();
    /// # let root = RootSpec { name: None, path, access: Access::ReadWrite, policy: PolicyRules::default(), optional: false };
    /// # let cx = CallContext::on(Workspace::open(&[root], WorkspaceOptions::default()).unwrap().workspace);
    /// let tools = Toolbox::new(&Selection { groups: vec![Group::Patch], ..Selection::default() });
    /// let path = json!({"path": "a.txt"}).as_object().cloned().unwrap();
    /// tools.get("read").unwrap().plan(&cx, path).unwrap(); // what nobody has seen is not changed
    /// let patch = "--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+three\n";
    /// let arguments = json!({"patch": patch}).as_object().cloned().unwrap();
    /// let Plan::Change(change) = tools.get("apply_patch").unwrap().plan(&cx, arguments).unwrap() else { unreachable!() };
    /// assert!(change.preview().diff.contains("+three"));
    /// change.commit(&cx, Approval::by_policy()).unwrap();
    /// # assert_eq!(std::fs::read_to_string(temp.path().join("a.txt")).unwrap(), "one\nthree\n");
    /// ```
    Patch,
    /// Waiting for a file to change: offered with `--allow watch`.
    /// ```
    /// # use change_set::Workspace;
    /// # use confined_fs::{Access, PolicyRules, RootSpec, WorkspaceOptions};
    /// use file_tools::{CallContext, Content, Group, Plan, PollResult, Selection, Toolbox};
    /// use serde_json::json;
    /// # let temp = tempfile::tempdir().unwrap();
    /// # let path = temp.path().to_owned();
    /// # std::fs::write(path.join("build.log"), "compiling\n").unwrap();
    /// # let root = RootSpec { name: None, path, access: Access::ReadWrite, policy: PolicyRules::default(), optional: false };
    /// # let cx = CallContext::on(Workspace::open(&[root], WorkspaceOptions::default()).unwrap().workspace);
    /// # let log = temp.path().join("build.log");
    /// let tools = Toolbox::new(&Selection { groups: vec![Group::Watch], ..Selection::default() });
    /// let arguments = json!({"path": "build.log", "pattern": "finished", "offset": 0}).as_object().cloned().unwrap();
    /// let Plan::Wait(mut wait) = tools.get("wait").unwrap().plan(&cx, arguments).unwrap() else { unreachable!() };
    /// // The caller decides how to pass the time: `watch` calls it back, or it polls.
    /// assert!(matches!(wait.poll(&cx).unwrap(), PollResult::NotYet(_)));
    /// std::fs::write(log, "compiling\nfinished\n").unwrap();
    /// let PollResult::Happened(answer) = wait.poll(&cx).unwrap() else { unreachable!() };
    /// assert!(matches!(&answer.content[0], Content::Text(text) if text.contains("finished")));
    /// ```
    Watch,
    /// Handing files to the person: offered with `--allow present`.
    /// ```
    /// # use change_set::Workspace;
    /// # use confined_fs::{Access, PolicyRules, RootSpec, WorkspaceOptions};
    /// use file_tools::{CallContext, Content, Group, Plan, Selection, Toolbox};
    /// use serde_json::json;
    /// # let temp = tempfile::tempdir().unwrap();
    /// # let path = temp.path().to_owned();
    /// # std::fs::write(path.join("report.md"), "# Report\n").unwrap();
    /// # let root = RootSpec { name: None, path, access: Access::ReadWrite, policy: PolicyRules::default(), optional: false };
    /// # let cx = CallContext::on(Workspace::open(&[root], WorkspaceOptions::default()).unwrap().workspace);
    /// let tools = Toolbox::new(&Selection { groups: vec![Group::Present], ..Selection::default() });
    /// let arguments = json!({"path": "report.md", "title": "Report"}).as_object().cloned().unwrap();
    /// let Plan::Answer(answer) = tools.get("present").unwrap().plan(&cx, arguments).unwrap() else { unreachable!() };
    /// // Beside the text for the model, a link for the person's client.
    /// assert!(answer.content.iter().any(|part| matches!(part, Content::Link(_))));
    /// ```
    Present,
}

impl Group {
    /// The groups that are offered only with `--allow`, by their names.
    pub const NAMED: &[(&str, Self)] =
        &[("manage", Self::Manage), ("patch", Self::Patch), ("watch", Self::Watch), ("present", Self::Present)];
}

/// One tool. `plan` computes without a lock; only a [`Change`] touches the disk.
pub trait Tool: 'static {
    /// The arguments; doc comments are the schema's descriptions. Derive with
    /// `#[serde(deny_unknown_fields)]`, optional arguments as `Option`.
    type Args: DeserializeOwned + JsonSchema;
    type Output: Serialize + JsonSchema;
    const SPEC: Spec;

    /// Whether [`Self::plan`] may be tried on the thread that reads the client's requests, with
    /// [`Blocking::Never`](super::context::Blocking::Never). For tools whose usual call takes less time than handing it to
    /// another thread and back.
    const INLINE: bool = false;

    /// Whether [`Self::plan`] may return [`Plan::Wait`]. Such a call has threads and limits apart from those of others.
    const WAITS: bool = false;

    fn plan(cx: &CallContext, args: Self::Args) -> Result<Plan, ToolError>;
}

/// Other spellings of an argument.
///
/// Models bring them from other tools; they are accepted and kept out of the schema. A tool lists its own in its [`Spec`];
/// the lists here are those that several tools share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Alias {
    pub given: &'static [&'static str],
    /// Name in the schema; `None` for what is accepted and without effect: it asks for what the tool does anyway.
    pub name: Option<&'static str>,
    /// The value of a flag; `None` where the value is sent with the name. `given: true` means `name: value`;
    /// `given: false` means the opposite truth value, or the default of `name` where the value is a word.
    pub flag: Option<FlagValue>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlagValue {
    Bool(bool),
    Text(&'static str),
}

impl Alias {
    pub const fn names(name: &'static str, given: &'static [&'static str]) -> Self {
        Self { given, name: Some(name), flag: None }
    }

    pub const fn ignored(given: &'static [&'static str]) -> Self {
        Self { given, name: None, flag: None }
    }

    pub const fn flags(name: &'static str, value: FlagValue, given: &'static [&'static str]) -> Self {
        Self { given, name: Some(name), flag: Some(value) }
    }
}

pub(crate) const PATH_ALIASES: &[Alias] =
    &[Alias::names("path", &["file_path", "filePath", "filename", "file", "directory", "dir"])];

/// Spellings of what glob, grep and ls have in common.
pub(crate) const LISTING_ALIASES: &[Alias] =
    &[Alias::names("max_results", &["head_limit", "limit", "maxResults"]), Alias::names("no_ignore", &["noIgnore"])];

pub(crate) const LINE_ALIASES: &[Alias] =
    &[Alias::names("start_line", &["startLine"]), Alias::names("end_line", &["endLine"])];

pub enum Plan {
    /// Nothing is to be changed: this is the answer.
    Answer(Answer),
    /// A change, ready to be approved and committed.
    Change(Box<dyn Change>),
    /// The call waits for something that has not happened yet.
    Wait(Box<dyn Wait>),
}

impl fmt::Debug for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Answer(answer) => f.debug_tuple("Answer").field(answer).finish(),
            Self::Change(change) => f.debug_tuple("Change").field(&change.preview().summary).finish(),
            Self::Wait(wait) => f.debug_tuple("Wait").field(&wait.subject()).finish(),
        }
    }
}

/// A change to the disk that is planned but not made.
pub trait Change: Send {
    /// Describes the change for the person who is asked about it.
    fn preview(&self) -> Preview;
    /// Files and bytes that it takes of the session's quotas; nothing unless it writes.
    fn cost(&self) -> Cost {
        Cost::default()
    }
    /// The effect as values. A person's yes holds for this effect alone.
    fn fingerprint(&self) -> Fingerprint;
    /// Takes the lock, re-checks that the file is what the plan saw, and makes the change. With an
    /// approval [for this plan only](Approval::is_for_this_plan_only) it never plans again.
    fn commit(self: Box<Self>, cx: &CallContext, approval: Approval) -> Result<Answer, ToolError>;
}

/// A call that waits. Between two polls it takes no thread.
pub trait Wait: Send {
    fn subject(&self) -> String;
    /// How long it waits, counted from the start of the call.
    fn limit(&self) -> Duration;
    /// How long changes may follow one another before a poll: the first of them often is only half of it.
    fn settle(&self) -> Duration;
    /// Watches what it waits for, before a poll: `wake` is called at each change from then on. Whether no change is
    /// missed, so that polls can be rare besides.
    fn watch(&mut self, cx: &CallContext, watcher: &Arc<DiskWatcher>, wake: &OnEvent) -> bool;
    fn poll(&mut self, cx: &CallContext) -> Result<PollResult, ToolError>;
    fn give_up(self: Box<Self>, cx: &CallContext, why: EndReason) -> Result<Answer, ToolError>;
}

#[derive(Debug)]
pub enum PollResult {
    Happened(Answer),
    /// It has not; another poll is due after this time at the latest, if any.
    NotYet(Option<Duration>),
}

/// Why a wait ends without what it was for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndReason {
    Time,
    /// The client sends nothing more: the server is about to end.
    InputEnded,
}

/// A change as text, for the person who is asked.
#[derive(Clone, Debug)]
pub struct Preview {
    pub summary: String,
    /// The whole unified diff, or empty where there is no text to show. Whoever shows it cuts it, and
    /// says so: a person must know what was not shown.
    pub diff: String,
    pub destructive: bool,
}

/// The effect of a change as values: two plans of equal effect make the same change to the same
/// files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fingerprint {
    /// The real path that changes, in its public form; both paths where there are two.
    pub path: String,
    pub base: Base,
    /// The content afterwards; `None` for nothing.
    pub content: Option<Revision>,
}

/// Paths that the fingerprint of several changes names.
const MAX_NAMED: usize = 3;

impl Fingerprint {
    /// The effect of changes that are made together: equal only if those of all of them are, in this order.
    #[must_use]
    pub fn of_several(changes: &[Self]) -> Self {
        let (mut effect, mut names) = (String::new(), Vec::new());
        for Self { path, base, content } in changes {
            // Printed paths hold no line breaks, so no two lists of changes have the same text.
            let _ = writeln!(effect, "{base:?} {content:?} {path}");
            names.extend((names.len() < MAX_NAMED).then_some(path.as_str()));
        }
        let more = changes.len() - names.len();
        let path = names.join(", ") + &if more == 0 { String::new() } else { format!(" and {more} more") };
        Self { path, base: Base::Revision(Revision::of(effect.as_bytes())), content: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fingerprint_of_several_changes_names_the_first_and_depends_on_all() {
        let one = |path: &str, content: &[u8]| Fingerprint {
            path: path.to_owned(),
            base: Base::Absent,
            content: Some(Revision::of(content)),
        };
        let all = ["a", "b", "c", "d", "e"].map(|path| one(path, b"x"));
        let whole = Fingerprint::of_several(&all);
        assert_eq!(whole.path, "a, b, c and 2 more");
        assert_eq!(Fingerprint::of_several(&all[..2]).path, "a, b");
        for index in 0..all.len() {
            let mut other = all.clone();
            other[index] = one(&all[index].path, b"y");
            assert_ne!(Fingerprint::of_several(&other), whole, "{index}");
        }
        assert_ne!(Fingerprint::of_several(&all[..4]), whole);
    }
}
