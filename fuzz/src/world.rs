//! Folders on the disk with links of every kind, the workspaces on them, and what a path there means.
//!
//! The meaning is an oracle: it follows a path one component after another through a list of names,
//! and asks the disk nothing.

use std::{
    collections::{HashMap, VecDeque},
    fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use change_set::Workspace;
use confined_fs::{Access, PolicyRules, RootSpec, WorkspaceOptions};
use file_tools::{CallContext, ReadBeforeWrite, Selection, Settings, Toolbox, session::Session};
use tree_search::{IndexMode, PathIndex};

/// What a name is.
#[derive(Clone, Copy, Debug)]
enum Node {
    Folder,
    File(&'static str),
    /// A link; a target that begins with `@` is absolute, below the world.
    Link(&'static str),
}

use Node::{File, Folder, Link};

/// Names below the world, folders before what they hold.
const TREE: &[(&str, Node)] = &[
    ("one", Folder),
    ("one/a", Folder),
    ("one/a/b", Folder),
    ("one/a/b/g", File("fn g() {}\n")),
    ("one/a/b/top", Link("../..")),
    ("one/a/back", Link("../in")),
    ("one/a/f", File("alpha\nbeta\n")),
    ("one/a/l", Link("../out/f")),
    ("one/abs", Link("@/one/a")),
    ("one/around", Link("../out/../one/a")),
    ("one/f", File("one\n")),
    ("one/far", Link("@/two/c")),
    ("one/gone", Link("a/none")),
    ("one/in", Link("a/b")),
    ("one/l", Link("f")),
    ("one/loop", Link("loop")),
    ("one/nil", Link("../out/none")),
    ("one/other", Link("../two")),
    ("one/out", Link("../out")),
    ("one/up", Link("..")),
    ("out", Folder),
    ("out/a", Folder),
    ("out/f", File("outside\n")),
    ("two", Folder),
    ("two/c", Folder),
    ("two/c/f", File("two\n")),
    ("two/f", File("2\n")),
    ("two/home", Link("../one/in")),
    // For the files that single inputs need.
    ("scratch", Folder),
];

/// As many links as Linux follows in one path.
const MAX_LINKS: usize = 40;

/// Where a path leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    /// To this name below the world; whether it is a folder.
    There(String, bool),
    Missing,
    ThroughFile,
    /// Out of the roots, whether or not anything is there.
    Outside,
    /// In a loop of links.
    Loop,
}

/// Workspaces with the same roots, opened in both ways.
#[derive(Debug)]
pub(super) struct RootSet {
    /// With the kernel's own confinement, and one name at a time.
    pub(super) both: [Workspace; 2],
    /// The roots below the world, with the mount name that a path may begin with.
    pub(super) roots: Vec<(Option<&'static str>, &'static str)>,
}

/// The folders and what was opened on them.
#[derive(Debug)]
pub struct World {
    host: PathBuf,
    nodes: HashMap<&'static str, Node>,
    pub(super) root_sets: Vec<RootSet>,
    toolbox: Toolbox,
    scratch: Arc<Workspace>,
    tree: Arc<Workspace>,
}

impl World {
    /// Makes what is missing below `folder` and opens it.
    ///
    /// # Panics
    /// Where that cannot be done.
    pub fn at(folder: &Path) -> Self {
        fs::create_dir_all(folder).expect("the world can be made");
        let host = folder.canonicalize().expect("the world is there");
        for (name, node) in TREE {
            let path = host.join(name);
            if path.symlink_metadata().is_ok() {
                continue;
            }
            match node {
                Folder => fs::create_dir(path),
                File(content) => fs::write(path, content),
                Link(target) => match target.strip_prefix("@/") {
                    Some(absolute) => symlink(host.join(absolute), path),
                    None => symlink(target, path),
                },
            }
            .expect("the world can be made");
        }
        let open = |roots: &[(Option<&'static str>, &'static str)], force_fallback| {
            let specs: Vec<RootSpec> = roots
                .iter()
                .map(|(name, below)| RootSpec {
                    name: name.map(str::to_owned),
                    path: host.join(below),
                    access: Access::ReadWrite,
                    policy: PolicyRules::default(),
                    optional: false,
                })
                .collect();
            Workspace::open(&specs, WorkspaceOptions { force_fallback, ..WorkspaceOptions::default() })
                .expect("the roots open")
                .workspace
        };
        let kinds: [&[(Option<&str>, &str)]; 4] = [
            &[(None, "one")],
            &[(Some("one"), "one"), (Some("two"), "two")],
            &[(Some("/mnt/data"), "one"), (Some("two"), "two")],
            &[(Some("ws"), "one"), (Some("inner"), "one/a")],
        ];
        let root_sets = kinds
            .iter()
            .map(|roots| RootSet { both: [open(roots, false), open(roots, true)], roots: roots.to_vec() })
            .collect();
        let scratch = Arc::new(open(&[(None, "scratch")], false));
        let tree = Arc::new(open(&[(None, "one")], false));
        let toolbox = Toolbox::new(&Selection::default());
        Self { host, nodes: TREE.iter().copied().collect(), root_sets, toolbox, scratch, tree }
    }

    /// The host path that no answer may hold.
    pub(super) fn host(&self) -> &str {
        self.host.to_str().expect("the world has a plain name")
    }

    pub(super) fn toolbox(&self) -> &Toolbox {
        &self.toolbox
    }

    /// The workspace of one root over the links.
    pub(super) fn tree(&self) -> &Arc<Workspace> {
        &self.tree
    }

    /// A file of this name in the scratch folder, which is a root itself.
    pub(super) fn put(&self, name: &str, content: &[u8]) {
        fs::write(self.host.join("scratch").join(name), content).expect("the scratch folder can be written");
    }

    /// The workspace of the scratch folder.
    pub(super) fn scratch(&self) -> &Arc<Workspace> {
        &self.scratch
    }

    /// Where `names` below the root `start` lead, with `roots` to stay in.
    pub(super) fn meaning<'a>(
        &self,
        roots: &[(Option<&'static str>, &'static str)],
        start: &'a str,
        names: impl Iterator<Item = &'a str>,
    ) -> Meaning {
        let mut todo: VecDeque<&str> = names.collect();
        let mut at: Vec<&str> = start.split('/').collect();
        let (mut links, mut above) = (0, false);
        let inside = |at: &[&str], above: bool| {
            let here = at.join("/");
            !above
                && roots.iter().any(|(_, root)| {
                    here.strip_prefix(root).is_some_and(|below| below.is_empty() || below.starts_with('/'))
                })
        };
        while let Some(name) = todo.pop_front() {
            if name == ".." {
                // Above the world nothing leads back but the absolute path.
                above |= at.pop().is_none();
                continue;
            }
            if !inside(&at, above) {
                at.push(name);
                continue;
            }
            let here = format!("{}/{name}", at.join("/"));
            match self.nodes.get(here.as_str()) {
                None => return Meaning::Missing,
                Some(Folder) => at.push(name),
                Some(File(_)) if todo.is_empty() => at.push(name),
                Some(File(_)) => return Meaning::ThroughFile,
                Some(Link(target)) => {
                    links += 1;
                    if links > MAX_LINKS {
                        return Meaning::Loop;
                    }
                    let relative = target.strip_prefix("@/");
                    if relative.is_some() {
                        (at, above) = (Vec::new(), false);
                    }
                    relative.unwrap_or(target).split('/').rev().for_each(|part| todo.push_front(part));
                }
            }
        }
        if !inside(&at, above) {
            return Meaning::Outside;
        }
        let here = at.join("/");
        let folder = matches!(self.nodes.get(here.as_str()), Some(Folder));
        Meaning::There(here, folder)
    }
}

/// The context of a call in a workspace.
pub(super) fn context(workspace: &Arc<Workspace>) -> CallContext {
    let settings = Settings {
        read_before_write: ReadBeforeWrite::Off,
        structured_output: true,
        search_threads: Some(1),
        ..Settings::default()
    };
    let (session, path_index) = (Arc::new(Session::new(None)), Arc::new(PathIndex::new(IndexMode::Off)));
    CallContext::new(Arc::clone(workspace), session, path_index, Arc::new(settings), Duration::from_secs(30))
}
