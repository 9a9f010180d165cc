//! A root and what is outside of it, in a temporary folder: also for the tests of `change-set`.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use super::{Access, IgnoreRules, PolicyRules, RootSpec, Workspace, WorkspaceOptions};

/// A temporary folder holding `ws` (the root) and `out` (outside all roots).
pub(super) struct Fixture {
    pub(super) temp: tempfile::TempDir,
    pub(super) force_fallback: bool,
    pub(super) specs: Vec<RootSpec>,
    pub(super) policy: PolicyRules,
    pub(super) ignore: IgnoreRules,
}

impl Fixture {
    pub(super) fn new(force_fallback: bool) -> Self {
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
    pub(super) fn both(test: impl Fn(Fixture)) {
        for force_fallback in [false, true] {
            test(Self::new(force_fallback));
        }
    }

    pub(super) fn root(&mut self, name: Option<&str>, below: &str, access: Access) {
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
    pub(super) fn host(&self, below: &str) -> PathBuf {
        self.temp.path().canonicalize().unwrap().join(below)
    }

    pub(super) fn file(&self, below: &str, content: impl AsRef<[u8]>) {
        let path = self.host(below);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    pub(super) fn link(&self, target: impl AsRef<Path>, below: &str) {
        let path = self.host(below);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        symlink(target, path).unwrap();
    }

    /// A repository in `below`, as git makes it.
    pub(super) fn repository(&self, below: &str) {
        self.file(&format!("{below}/HEAD"), "ref: refs/heads/main\n");
        self.file(&format!("{below}/config"), "[core]\n\tbare = false\n");
        for folder in ["objects/info", "refs/heads"] {
            fs::create_dir_all(self.host(below).join(folder)).unwrap();
        }
    }

    /// A worktree in `at` of the repository in `git`, as git makes it.
    pub(super) fn worktree(&self, git: &str, id: &str, at: &str) {
        let own = format!("{git}/worktrees/{id}");
        self.file(&format!("{own}/HEAD"), format!("ref: refs/heads/{id}\n"));
        self.file(&format!("{own}/commondir"), "../..\n");
        self.file(&format!("{own}/gitdir"), format!("{}\n", self.host(at).join(".git").display()));
        self.file(&format!("{at}/.git"), format!("gitdir: {}\n", self.host(&own).display()));
    }

    pub(super) fn open(&self) -> Workspace {
        self.open_with(|_| {})
    }

    pub(super) fn open_with(&self, change: impl FnOnce(&mut WorkspaceOptions)) -> Workspace {
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
