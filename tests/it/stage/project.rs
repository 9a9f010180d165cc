//! A project with a state folder, as the tests see both from outside.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    time::SystemTime,
};

use serde_json::Value;
use tempfile::TempDir;

use crate::{
    process::Process,
    program::{Outcome, program},
};

/// What is on the disk: of each entry its content and permission bits.
pub(super) fn tree(top: &Path) -> BTreeMap<String, String> {
    fn add(top: &Path, here: &Path, found: &mut BTreeMap<String, String>) {
        for entry in fs::read_dir(here).unwrap().map(Result::unwrap) {
            let path = entry.path();
            let name = path.strip_prefix(top).unwrap().to_string_lossy().replace('\\', "/");
            let kind = entry.file_type().unwrap();
            let what = if kind.is_symlink() {
                format!("-> {}", fs::read_link(&path).unwrap().display())
            } else if kind.is_dir() {
                add(top, &path, found);
                "directory".to_owned()
            } else {
                format!("{} {:?}", mode(&path), String::from_utf8_lossy(&fs::read(&path).unwrap()))
            };
            found.insert(name, what);
        }
    }
    let mut found = BTreeMap::new();
    add(top, top, &mut found);
    found
}

#[cfg(unix)]
fn mode(path: &Path) -> String {
    use std::os::unix::fs::PermissionsExt as _;
    format!("{:o}", fs::metadata(path).unwrap().permissions().mode() & 0o777)
}

#[cfg(not(unix))]
fn mode(_: &Path) -> String {
    String::new()
}

/// When each entry was last changed.
pub(super) fn times(top: &Path) -> BTreeMap<PathBuf, SystemTime> {
    let names = tree(top).into_keys().map(PathBuf::from).chain([PathBuf::new()]);
    names.map(|name| (name.clone(), fs::symlink_metadata(top.join(&name)).unwrap().modified().unwrap())).collect()
}

/// A project with a state folder next to it.
pub(super) struct Project {
    pub(super) folder: TempDir,
}

impl Project {
    pub(super) fn new(files: &[(&str, &str)]) -> Self {
        let folder = TempDir::new().unwrap();
        fs::create_dir(folder.path().join("root")).unwrap();
        let project = Self { folder };
        for (path, content) in files {
            project.write(path, content);
        }
        project
    }

    pub(super) fn root(&self) -> PathBuf {
        self.folder.path().join("root")
    }

    pub(super) fn path(&self, path: &str) -> PathBuf {
        self.root().join(path)
    }

    pub(super) fn write(&self, path: &str, content: &str) {
        fs::create_dir_all(self.path(path).parent().unwrap()).unwrap();
        fs::write(self.path(path), content).unwrap();
    }

    pub(super) fn content(&self, path: &str) -> String {
        fs::read_to_string(self.path(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    /// Runs the program in the project; its exit code and what it printed.
    pub(super) fn run(&self, arguments: &[&str]) -> (i32, String) {
        let mut command = program(&self.root());
        command.env("ROOTBOUND_STATE_DIR", self.folder.path().join("state")).env("ROOTBOUND_ALLOW", "manage");
        let ended = Outcome::of(command.args(arguments));
        (ended.code.expect("not killed"), ended.stdout + &ended.stderr)
    }

    #[track_caller]
    pub(super) fn ok(&self, arguments: &[&str]) -> String {
        let (code, text) = self.run(arguments);
        assert_eq!(code, 0, "{arguments:?}: {text}");
        text
    }

    #[track_caller]
    pub(super) fn fails(&self, arguments: &[&str]) -> String {
        let (code, text) = self.run(arguments);
        assert_eq!(code, 1, "{arguments:?}: {text}");
        text
    }

    /// One call of a server with `--stage`, in a process of its own.
    #[track_caller]
    pub(super) fn staged(&self, tool: &str, arguments: &Value) -> String {
        self.ok(&["--stage", "--read-before-write", "off", "call", tool, &arguments.to_string()])
    }

    /// The folder of the layer.
    pub(super) fn layer(&self) -> PathBuf {
        let stage = self.folder.path().join("state/stage");
        fs::read_dir(stage).unwrap().next().unwrap().unwrap().path()
    }

    /// A server that runs with `--stage`.
    pub(super) fn serve(&self) -> Process {
        let options = ["--stage", "--allow", "manage", "--allow", "patch", "--read-before-write", "off", "."];
        let mut server = Process::start_remembering(&self.root(), &self.folder.path().join("state"), &options);
        server.initialize();
        server
    }
}
