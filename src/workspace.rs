//! The sandbox: roots, paths, policy, opening, walking, writing, and the kernel's second wall.
//!
//! The only layer that touches files. A text becomes a [`WorkspacePath`] at the gate, and what it
//! leads to is opened beneath a root's directory handle, with links followed only inside the
//! roots: check and use are one step, so nothing can be swapped in between. What is read, planned
//! or shown is decided above.

#![expect(clippy::disallowed_types, reason = "this layer is the one that opens files")]

mod agent_files;
mod confine;
mod directory_stack;
mod error;
mod escape;
mod gate;
mod handle;
mod limits;
mod linked;
mod links;
mod open;
mod own;
mod path;
mod policy;
mod repository;
mod revision;
mod root;
mod state;
mod suggest;
mod sys;
#[cfg(all(test, unix))]
mod tests;
mod tree;
mod walk;
mod watch;
mod write;

use std::fmt;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub use confine::{Confine, ConfineReport};
pub use error::{AccessError, AccessErrorKind, PathError};
pub use escape::{escape_controls, escape_name};
pub use handle::{FileKind, OpenFile, Snapshot, Stat};
pub use limits::{Limit, prepare_process};
pub use path::WorkspacePath;
pub use policy::{AgentFile, PolicyRules};
pub use revision::{Revision, RevisionHasher};
pub use root::{Access, Root, RootGone, RootSpec};
pub use state::{Alone, AppendLog, Durable, StateDir, StateFile};
pub use tree::{
    CreatedTree, MovedTree, NewNode, Node, NotRemoved, Purpose, ReplacedFile, Tree, TreeEntry, TreeGuard, TreePosition,
};
pub use walk::{Entry, IgnoreRules, Ignored, IgnoredEntries, LimitsHit, StatCache, WalkOptions, WalkReport};
pub use watch::{Changes, Priority, Unwatchable, WatchedEntry, Watcher, lower_priority, watch_limit};
pub use write::{
    Approval, Base, Committed, Content, FileLock, MOST_WAITING, NewDirectory, PreviousFile, StaleAfter, WaitLimit,
    WritablePath, WriteGuard,
};

use open::Shared;
use policy::Guards;
use root::Roots;

/// What the configuration says about all roots.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Secrets, protected and hidden names, in all roots.
    pub policy: PolicyRules,
    /// What walks leave out.
    pub ignore: IgnoreRules,
    /// Never use `openat2`; open one component at a time instead.
    pub force_fallback: bool,
    /// When a temporary file counts as left behind.
    pub stale_after: StaleAfter,
    /// Files of the host, by absolute paths, that decide about the next start: they and every link on the way to
    /// them are not written, whatever the rules allow.
    pub own: Vec<PathBuf>,
    /// Whether the rules that people wrote for agents bind here, too.
    pub agent_rules: bool,
}

/// The roots and everything that is known about them. All files are reached through it.
#[derive(Clone)]
pub struct Workspace {
    shared: Arc<Shared>,
}

/// What start-up learned about the roots.
#[derive(Debug)]
pub struct Opened {
    /// At least one root, open.
    pub workspace: Workspace,
    /// Roots that could not be used, one sentence each, with host paths: for the log only.
    pub warnings: Vec<String>,
    /// The rule files for agents that were found, in words for a person.
    pub agent_files: Vec<AgentFile>,
}

impl Workspace {
    /// Opens the roots. A missing root is a warning; none usable, or mount names that contradict
    /// each other, is an error. The sentences hold host paths: they are for the log.
    pub fn open(specs: &[RootSpec], options: Options) -> Result<Opened, Vec<String>> {
        let Options { policy, ignore, force_fallback, stale_after, own, agent_rules } = options;
        let (roots, mut warnings) = Roots::open(specs, &policy, force_fallback)?;
        let homes = own::home();
        let agents = if agent_rules { agent_files::read(&roots, &homes) } else { Vec::new() };
        guard(&roots, own, &agents);
        let agent_files: Vec<AgentFile> = agents.into_iter().map(agent_files::Found::into_summary).collect();
        warnings.extend(agent_files.iter().filter_map(|file| {
            let problem = file.problem.as_ref()?;
            Some(format!("the rules for agents in {} are not all in force: {problem}", file.name))
        }));
        let shared = Shared {
            roots,
            ignores: walk::Ignores::new(&ignore),
            locks: Arc::default(),
            directories: Arc::default(),
            stale_temporaries: write::StaleTemporaries::new(stale_after),
            system_events: watch::SystemEvents::open(),
        };
        Ok(Opened { workspace: Self { shared: Arc::new(shared) }, warnings, agent_files })
    }

    /// One directory as an unnamed root without rules of its own, for unit tests.
    #[cfg(test)]
    pub(crate) fn of_directory(path: impl Into<PathBuf>, access: Access) -> Self {
        let spec = RootSpec { name: None, path: path.into(), access, policy: PolicyRules::default() };
        Self::open(&[spec], Options::default()).expect("the directory opens").workspace
    }

    /// The roots, in the order given.
    pub fn roots(&self) -> &[Arc<Root>] {
        self.shared.roots.list()
    }

    /// Whether a path lies in another root that is inside its own.
    pub fn in_inner_root(&self, path: &WorkspacePath) -> bool {
        self.shared.roots.is_in_inner(path)
    }

    /// A root directory itself.
    pub fn root_path(&self, root: &Arc<Root>) -> WorkspacePath {
        WorkspacePath::new(root, Path::new(""))
    }

    /// What a caller's text means: the printed form, a path relative to the first root, a host path
    /// or `file://` URI under a root, `~/…`, each with an optional leading `@`. At most 4096 bytes below the root.
    ///
    /// By letters alone, but for one look whether an entry literally begins with `@`.
    pub fn resolve(&self, text: &str) -> Result<WorkspacePath, PathError> {
        gate::resolve(&self.shared.roots, text, |path| self.shared.stat(path).is_ok())
    }

    /// As [`Self::resolve`], by letters alone: none where it would have to look.
    pub fn resolve_at_once(&self, text: &str) -> Option<WorkspacePath> {
        // A literal `@` is looked for, and a home directory may be asked of the network.
        if text.starts_with(['@', '~']) {
            return None;
        }
        gate::resolve(&self.shared.roots, text, |_| false).ok()
    }

    /// What is at a path, after links inside the roots.
    pub fn stat(&self, path: &WorkspacePath) -> Result<Stat, AccessError> {
        self.shared.stat(path).map(|(stat, _)| stat)
    }

    /// Whether policy denies the content of what is at a path, after links inside the roots.
    pub fn protected(&self, path: &WorkspacePath) -> Result<bool, AccessError> {
        self.shared.stat(path).map(|(_, way)| way.secret())
    }

    /// Opens a regular file for reading; never blocks on a special one.
    pub fn open_file(&self, path: &WorkspacePath) -> Result<OpenFile, AccessError> {
        self.shared.open_file(path)
    }

    /// As [`Self::open_file`], with the whole content, for a file of at most `max_bytes` whose open and read
    /// wait for no disk, no other machine and no other process. `None` where they would, or where that cannot
    /// be told, and for every reason for which the file is not to be had: ask [`Self::open_file`] then.
    pub fn at_hand(&self, path: &WorkspacePath, max_bytes: usize) -> Option<(OpenFile, Vec<u8>)> {
        self.shared.at_hand(path, max_bytes)
    }

    /// The whole content of a file of at most `max_bytes`, unchanged from its first byte to its
    /// last; tried a few times when somebody is writing.
    pub fn read(&self, path: &WorkspacePath, max_bytes: u64) -> Result<Snapshot, AccessError> {
        self.shared.read(path, max_bytes, |_, _| None)
    }

    /// As [`Self::read`], where `known` may tell the revision of what is at a real path from its bytes: what it
    /// returns must be theirs. Hashing is most of the work on a large file.
    pub fn read_known(
        &self,
        path: &WorkspacePath,
        max_bytes: u64,
        known: impl Fn(&WorkspacePath, &[u8]) -> Option<Revision>,
    ) -> Result<Snapshot, AccessError> {
        self.shared.read(path, max_bytes, known)
    }

    /// Visits what lies below `start` in path order; a file as start visits just itself.
    pub fn walk(
        &self,
        start: &WorkspacePath,
        options: &WalkOptions,
        visit: &mut dyn FnMut(Entry) -> ControlFlow<()>,
    ) -> Result<WalkReport, AccessError> {
        walk::walk(&self.shared, start, options, &mut |entry: Entry| visit(entry))
    }

    /// As [`Self::walk`] from the directory that holds `child`, without the other entries in it.
    pub fn walk_child(
        &self,
        child: &WorkspacePath,
        options: &WalkOptions,
        visit: &mut dyn FnMut(Entry) -> ControlFlow<()>,
    ) -> Result<WalkReport, AccessError> {
        walk::walk_child(&self.shared, child, options, &mut |entry: Entry| visit(entry))
    }

    /// Begins to watch a root, for [`Watcher::survey`] and [`Watcher::changes`].
    ///
    /// # Errors
    /// Where the system cannot tell of every change.
    pub fn watch(&self, root: &Arc<Root>) -> Result<Watcher, Unwatchable> {
        Watcher::new(&self.shared, root)
    }

    /// Up to three existing paths that `missing` may have meant. Bounded work.
    pub fn suggest(&self, missing: &WorkspacePath) -> Vec<WorkspacePath> {
        suggest::suggest(&self.shared, missing)
    }

    /// The path as one that may be written: its root is read-write, and policy allows its real name.
    /// Neither the file nor its directories need exist.
    pub fn writable(&self, path: &WorkspacePath) -> Result<WritablePath, AccessError> {
        write::writable(&self.shared, path)
    }

    /// Real root and real names, after links inside the roots; for what is missing, the real
    /// directory and the missing rest.
    pub fn canonical(&self, path: &WorkspacePath) -> Result<WorkspacePath, AccessError> {
        self.shared.locate(path).map(|way| way.real)
    }

    /// Puts the kernel's wall around the whole process: the roots with their rights and the folders
    /// for state and audit, nothing else, no TCP; and takes the system calls from it that a file server
    /// never needs. Call it before any other thread starts,
    /// and once those folders exist (see [`StateDir::open`], [`AppendLog::open`]).
    pub fn confine(&self, how: Confine, folders: &[&Path]) -> Result<ConfineReport, String> {
        confine::confine(&self.shared.roots, how, folders)
    }

    /// Whether a folder of the host, by its canonical path, lies in a root or holds one: a log must not
    /// lie where calls can reach it, nor the rights to write it reach into a root.
    pub fn overlaps(&self, folder: &Path) -> bool {
        let roots = &self.shared.roots;
        roots.holding(folder, true).is_some() || roots.list().iter().any(|root| root.canonical().starts_with(folder))
    }

    /// What `text` names, as it is printed and as the host path it truly leads to: for logs that no
    /// model reads.
    pub fn whereabouts(&self, text: &str) -> Option<(String, PathBuf)> {
        let path = self.resolve(text).ok()?;
        let real = self.canonical(&path).ok()?;
        Some((path.to_string(), real.host()))
    }

    /// Whether the kernel confines each open beneath a root, or it is walked name by name.
    pub fn confined_opens(&self) -> bool {
        self.roots().iter().all(|root| root.dir().is_confined())
    }
}

/// Puts what start-up found out into the rules of each root.
fn guard(roots: &Roots, mut own: Vec<PathBuf>, agents: &[agent_files::Found]) {
    // Rules that can be taken away are none.
    own.extend(agents.iter().filter(|found| !found.rules.is_empty()).map(|found| found.host.clone()));
    let way = own::all(&own, roots.list());
    let targets = linked::targets(roots);
    let mut identities = own::Identities::default();
    for root in roots.list() {
        let mut guards = Guards::default();
        own::add(&mut guards.own, root, &way, &mut identities);
        for (below, target) in linked::below(root, &targets) {
            let list = if target.secret { &mut guards.secrets } else { &mut guards.run_later };
            list.add(&below, target.why.clone());
        }
        guards.agents = agents.iter().flat_map(|found| found.rules_below(root)).collect();
        root.guard(guards);
    }
}

impl fmt::Debug for Workspace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Workspace").field(&self.roots()).finish()
    }
}
