//! What can be done with a workspace: the methods of its handle, most of which pass on to the module that does it.
//!
//! Those of one folder alone are there: `open`, `resolve`, `watch`.

mod confine;
mod suggest;

use std::path::{Path, PathBuf};
use std::{cell::Cell, ops::ControlFlow, sync::Arc};

use beneath::{Dir, FileKind, OpenFor, Stat};

use crate::error::{AccessError, PathError};
use crate::root::{Root, RootSpec};
use crate::roots::{OpenError, Roots};
use crate::shared::{Shared, Workspace, WorkspaceOptions};
use crate::walk::entry::{Entry, EntryOrigin};
use crate::walk::ignores::{Ignores, holds_marker};
use crate::walk::visit::{WalkOptions, WalkReport};
use crate::{disk_rules::DiskRules, disk_rules::worktree::is_left_out, path::WorkspacePath, policy::AgentFile};
use crate::{resolve, walk::ignores_above::rules_above, walk::walker, watch::SystemEvents};
use text_file::escape::escape_name;

pub use suggest::LookAlikes;

/// Longest `HEAD` of a repository that is read, in bytes: one path.
const MAX_HEAD: u64 = 4 << 10;

#[derive(Debug)]
pub struct Opened {
    pub workspace: Workspace,
    /// Roots that could not be used, one sentence each, with host paths: for the log only.
    pub warnings: Vec<String>,
    /// The rule files for agents that were found, as text for a person.
    pub agent_files: Vec<AgentFile>,
}

impl Workspace {
    /// Opens the roots. A missing root is a warning, see [`Workspace::unusable`]; mount names that contradict each other
    /// are an error.
    ///
    /// # Errors
    /// [`OpenError`], with every name that does.
    pub fn open(specs: &[RootSpec], options: WorkspaceOptions) -> Result<Opened, OpenError> {
        let WorkspaceOptions { policy, ignore, force_fallback, server_files, agent_rules } = options;
        let (roots, mut warnings) = Roots::open(specs, &policy, force_fallback)?;
        let (disk_rules, agent_files) = DiskRules::find(&roots, server_files, agent_rules);
        warnings.extend(agent_files.iter().filter_map(|file| {
            let problem = file.problem.as_ref()?;
            Some(format!("the rules for agents in {} are not all in force: {problem}", file.name))
        }));
        let shared = Shared {
            ignores: Ignores::new(&ignore, rules_above(&roots)),
            roots,
            disk_rules,
            system_events: SystemEvents::open(),
        };
        Ok(Opened { workspace: Self { shared: Arc::new(shared) }, warnings, agent_files })
    }

    /// One directory as an unnamed root without rules, for unit tests.
    ///
    /// # Panics
    /// If it does not open.
    #[cfg(any(test, feature = "testing"))]
    pub fn of_directory(path: impl Into<PathBuf>, access: crate::root::Access) -> Self {
        let spec = RootSpec {
            name: None,
            path: path.into(),
            access,
            policy: crate::policy::PolicyRules::default(),
            optional: false,
        };
        Self::open(&[spec], WorkspaceOptions::default()).expect("the directory opens").workspace
    }

    pub fn roots(&self) -> &[Arc<Root>] {
        self.shared.roots.list()
    }

    /// The files outside of a root whose ignore rules count in it, and whether they do, as text for a person.
    pub fn ignore_rules_above(&self, root: &Root) -> Option<String> {
        self.shared.ignores.above_as_text(root)
    }

    /// Why nothing can be done until the next start, as a sentence: none of the roots could be used.
    pub fn unusable(&self) -> Option<String> {
        const NAMED_ROOTS: usize = 3;
        let roots = self.roots();
        if roots.is_empty() || !roots.iter().all(|root| root.is_unusable()) {
            return None;
        }
        let name = |root: &Root| match (root.name(), root.canonical.file_name()) {
            (None, Some(name)) => escape_name(name).into_owned(),
            _ => root.public(),
        };
        let named = roots
            .iter()
            .take(NAMED_ROOTS)
            .map(|root| format!("{}{}", name(root), root.absence_note().replacen(',', "", 1)));
        let more = (roots.len() > NAMED_ROOTS).then(|| format!("and {} more", roots.len() - NAMED_ROOTS));
        let all: Vec<String> = named.chain(more).collect();
        Some(format!("no directory of this server's configuration can be used: {}", all.join("; ")))
    }

    pub fn in_nested_root(&self, path: &WorkspacePath) -> bool {
        let nested = self.shared.roots.nested_root(path.root(), path.relative());
        nested.is_some_and(|(_, rest)| !rest.as_os_str().is_empty())
    }

    /// The checkout in the directory of `root` as text, such as `worktree agent-a, branch fix`: as it is now where its
    /// repository is in a root, else as it was at the start. `None` where it is no top directory of a checkout, or nothing
    /// of it may be shown.
    pub fn checkout(&self, root: &Root) -> Option<String> {
        let found = root.checkouts.get().filter(|found| found.top == root.canonical)?;
        match self.shared.roots.containing(&found.git.join("HEAD"), false) {
            Some(file) => found.text(self.read(&file, MAX_HEAD).ok().as_ref().map(|read| &*read.bytes)),
            None => found.text(found.head.as_deref()),
        }
    }

    pub fn entry_origin(&self, root: &WorkspacePath) -> EntryOrigin {
        EntryOrigin::of_root(&self.shared, root)
    }

    pub fn root_path(&self, root: &Arc<Root>) -> WorkspacePath {
        WorkspacePath::new(root, Path::new(""))
    }

    /// Resolves a caller's text: the printed form, a path relative to the first root, a host path
    /// or `file://` URI under a root, `~/…`, each with an optional leading `@` or `#file:` and quotes around it. At most
    /// 4096 bytes below the root.
    ///
    /// Looks at the disk only where the text can be read in two ways.
    pub fn resolve(&self, text: &str) -> Result<WorkspacePath, PathError> {
        resolve::resolve(&self.shared.roots, text, |path| self.shared.stat(path).is_ok())
    }

    /// Resolves a `file://` URI: the printed form ([`WorkspacePath::resource_uri`]), or that of a host path under a
    /// root. Anything else is refused.
    pub fn resolve_uri(&self, uri: &str) -> Result<WorkspacePath, PathError> {
        resolve::resolve_uri(&self.shared.roots, uri, |path| self.shared.stat(path).is_ok())
    }

    /// As [`Self::resolve`], lexically by `text` alone. `None` if it is no path, and where the file system would
    /// have to be asked: for a literal `@` or quote, for a URI that can be read in two ways, or for a home directory,
    /// which may come from the network.
    pub fn resolve_lexically(&self, text: &str) -> Option<WorkspacePath> {
        if text.starts_with('~') || resolve::peel(text).is_some() {
            return None;
        }
        let asked = Cell::new(false);
        let path = resolve::resolve(&self.shared.roots, text, |_| {
            asked.set(true);
            false
        });
        path.ok().filter(|_| !asked.get())
    }

    /// The same path with each name as its directory spells it, links not followed, where the system says it: what a
    /// search finds below is printed as it is called, and ignore rules know it.
    pub fn spelled(&self, path: &WorkspacePath) -> WorkspacePath {
        let root = path.root();
        let Some(mut dir) = root.dir.open().ok().filter(|_| cfg!(windows)) else { return path.clone() };
        let mut spelled = PathBuf::new();
        for name in path.relative() {
            let own = dir.spelling(name);
            spelled.push(own.as_deref().unwrap_or(name));
            match dir.child_dir(name, OpenFor::Traverse) {
                Ok(child) => dir = child,
                // What is missing has no spelling of its own.
                Err(_) => break,
            }
        }
        let rest = path.relative().iter().skip(spelled.iter().count());
        spelled.extend(rest);
        WorkspacePath::new(root, &spelled)
    }

    /// The metadata of a path, after links inside the roots.
    pub fn stat(&self, path: &WorkspacePath) -> Result<Stat, AccessError> {
        self.shared.stat(path).map(|(stat, _)| stat)
    }

    /// Where a link leads, and what is there: `None` outside of the roots, and where policy hides that or denies its content.
    pub fn link_target(&self, link: &WorkspacePath) -> Option<(WorkspacePath, FileKind)> {
        let (stat, way) = self.shared.stat(link).ok()?;
        (!way.hidden() && !way.secret()).then_some((way.real, stat.kind))
    }

    /// Whether policy denies the content at a path, after links inside the roots.
    pub fn is_secret(&self, path: &WorkspacePath) -> Result<bool, AccessError> {
        self.shared.stat(path).map(|(_, location)| location.secret())
    }

    /// Whether names and text at a real path may be written by people who want to mislead a model. Decided by the path
    /// alone: the root that contains it, or one that is nested in that.
    pub fn is_untrusted(&self, path: &WorkspacePath) -> bool {
        path.root().is_untrusted() || self.shared.roots.deepest(path).root().is_untrusted()
    }

    /// Visits the entries below `start` in path order; if `start` is a file, only that.
    pub fn walk(
        &self,
        start: &WorkspacePath,
        options: &WalkOptions,
        visit: &mut dyn FnMut(Entry) -> ControlFlow<()>,
    ) -> Result<WalkReport, AccessError> {
        walker::walk(&self.shared, start, options, &mut |entry: Entry| visit(entry))
    }

    /// As [`Self::walk`] from the directory that holds `child`, without the other entries in it.
    pub fn walk_child(
        &self,
        child: &WorkspacePath,
        options: &WalkOptions,
        visit: &mut dyn FnMut(Entry) -> ControlFlow<()>,
    ) -> Result<WalkReport, AccessError> {
        walker::walk_child(&self.shared, child, options, &mut |entry: Entry| visit(entry))
    }

    /// Whether a directory is the top of a linked worktree of git, which a walk of what is above it does not enter. A root
    /// is none: a person has named it.
    pub fn is_linked_worktree(&self, directory: &WorkspacePath) -> bool {
        self.linked_worktree(directory).is_some()
    }

    /// As [`Self::is_linked_worktree`], without a file in it that makes it an ignored directory by default.
    pub fn is_unmarked_worktree(&self, directory: &WorkspacePath) -> bool {
        self.linked_worktree(directory).is_some_and(|dir| !holds_marker(&dir))
    }

    fn linked_worktree(&self, directory: &WorkspacePath) -> Option<Dir> {
        let (_, way) = self.shared.stat(directory).ok()?;
        let (root, path) = (way.real.root(), way.real.relative());
        let dir = root.dir.dir_beneath(path, OpenFor::Traverse).ok()?;
        is_left_out(&self.shared.roots, root, path, &dir).then_some(dir)
    }

    /// Real root and real names, after links inside the roots; for what is missing, the real
    /// directory and the missing rest.
    pub fn canonical(&self, path: &WorkspacePath) -> Result<WorkspacePath, AccessError> {
        self.shared.locate(path).map(|location| location.real)
    }

    /// Whether a folder of the host, by its canonical path, is in a root or holds one. A log must not be where calls
    /// reach it, and the right to write it must not cover a root.
    pub fn overlaps(&self, folder: &Path) -> bool {
        let roots = &self.shared.roots;
        roots.containing(folder, true).is_some()
            || roots.list().iter().any(|root| beneath::lexical::strip_base(&root.canonical, folder).is_some())
    }

    /// The path that `text` means, as it is printed, and the host path that it leads to: for logs that no model reads.
    pub fn printed_and_host_path(&self, text: &str) -> Option<(String, PathBuf)> {
        let path = self.resolve(text).ok()?;
        let real = self.canonical(&path).ok()?;
        Some((path.to_string(), real.host()))
    }

    /// Where a real path is on the host: for language servers, which know no other paths, and never for text.
    pub fn host_path(&self, path: &WorkspacePath) -> PathBuf {
        if path.is_root() { path.root().canonical.clone() } else { path.host() }
    }

    /// Whether the kernel confines each open beneath a root (`openat2`); else it is opened name by name.
    pub fn confined_opens(&self) -> bool {
        self.roots().iter().all(|root| root.dir.is_confined())
    }
}
