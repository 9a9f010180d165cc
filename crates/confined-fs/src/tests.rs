//! Tests of the layer as a whole, on real directories, with both ways of opening.

#![expect(clippy::disallowed_methods, reason = "the tests arrange and look from outside the sandbox")]

mod ignores;
mod links;
mod paths;
mod race;
mod startup_rules;
mod transactions;
mod tree_failures;
mod trees;
mod walks;
mod writes;

use std::fs;
use std::ops::ControlFlow;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use super::*;

/// A temporary folder holding `ws` (the root) and `out` (outside all roots).
struct Fixture {
    temp: tempfile::TempDir,
    force_fallback: bool,
    specs: Vec<RootSpec>,
    policy: PolicyRules,
    ignore: IgnoreRules,
}

impl Fixture {
    fn new(force_fallback: bool) -> Self {
        let temp = tempfile::tempdir().unwrap();
        for name in ["ws", "out"] {
            fs::create_dir(temp.path().join(name)).unwrap();
        }
        fs::write(temp.path().join("out/secret.txt"), "outside").unwrap();
        let (policy, ignore) = (PolicyRules::default(), IgnoreRules::default());
        let mut fixture = Self { temp, force_fallback, specs: Vec::new(), policy, ignore };
        fixture.root(None, "ws", Access::ReadWrite);
        fixture
    }

    /// Runs a test both with `openat2` and without.
    fn both(test: impl Fn(Fixture)) {
        for force_fallback in [false, true] {
            test(Self::new(force_fallback));
        }
    }

    fn root(&mut self, name: Option<&str>, below: &str, access: Access) {
        let path = self.temp.path().join(below);
        fs::create_dir_all(&path).unwrap();
        self.specs.push(RootSpec {
            name: name.map(String::from),
            path,
            access,
            policy: PolicyRules::default(),
            optional: false,
        });
    }

    /// A path below the temporary folder.
    fn host(&self, below: &str) -> PathBuf {
        self.temp.path().canonicalize().unwrap().join(below)
    }

    fn file(&self, below: &str, content: impl AsRef<[u8]>) {
        let path = self.host(below);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    fn link(&self, target: impl AsRef<Path>, below: &str) {
        let path = self.host(below);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        symlink(target, path).unwrap();
    }

    /// A repository in `below`, as git makes it.
    fn repository(&self, below: &str) {
        self.file(&format!("{below}/HEAD"), "ref: refs/heads/main\n");
        self.file(&format!("{below}/config"), "[core]\n\tbare = false\n");
        for folder in ["objects/info", "refs/heads"] {
            fs::create_dir_all(self.host(below).join(folder)).unwrap();
        }
    }

    /// A worktree in `at` of the repository in `git`, as git makes it.
    fn worktree(&self, git: &str, id: &str, at: &str) {
        let own = format!("{git}/worktrees/{id}");
        self.file(&format!("{own}/HEAD"), format!("ref: refs/heads/{id}\n"));
        self.file(&format!("{own}/commondir"), "../..\n");
        self.file(&format!("{own}/gitdir"), format!("{}\n", self.host(at).join(".git").display()));
        self.file(&format!("{at}/.git"), format!("gitdir: {}\n", self.host(&own).display()));
    }

    fn content(&self, below: &str) -> String {
        fs::read_to_string(self.host(below)).unwrap()
    }

    fn open(&self) -> Workspace {
        self.open_with(|_| {})
    }

    fn open_with(&self, change: impl FnOnce(&mut WorkspaceOptions)) -> Workspace {
        let mut options = WorkspaceOptions {
            policy: self.policy.clone(),
            ignore: self.ignore.clone(),
            force_fallback: self.force_fallback,
            ..WorkspaceOptions::default()
        };
        change(&mut options);
        Workspace::open(&self.specs, options).unwrap().workspace
    }
}

/// Every file, ignored ones too.
const ALL_FILES: WalkOptions =
    WalkOptions { ignored: Ignored::Include, max_depth: None, directories: false, symlinks: false };

/// The error of a write to `text`, if it is refused.
fn write_error(workspace: &Workspace, text: &str) -> Option<AccessError> {
    workspace.writable(&workspace.resolve(text).unwrap()).err()
}

/// The entry at `text`, to be moved or deleted.
fn entry(workspace: &Workspace, text: &str) -> Result<WritablePath, AccessErrorKind> {
    workspace.writable_entry(&workspace.resolve(text).unwrap()).map_err(|error| error.kind)
}

/// Plans to move an entry; nothing is moved.
fn plan_move(workspace: &Workspace, from: &str, to: &str) -> Result<(), AccessErrorKind> {
    let (from, to) = (entry(workspace, from)?, entry(workspace, to)?);
    workspace.tree(&from, Purpose::Move(&to)).map(drop).map_err(|error| error.kind)
}

fn read(workspace: &Workspace, text: &str) -> Result<String, AccessErrorKind> {
    let path = workspace.resolve(text).unwrap();
    let snapshot = workspace.read(&path, 1 << 20).map_err(|error| error.kind)?;
    Ok(String::from_utf8(snapshot.bytes).unwrap())
}
