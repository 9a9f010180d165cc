//! The trees and the calls that are interrupted.

use std::{
    fs,
    os::unix::fs::{PermissionsExt as _, symlink},
    path::PathBuf,
    process::Command,
};

use rustix::process::geteuid;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::snapshot::untouched;
use crate::harness::program::memory_folder;

/// Creation in new directories, deletion, a rename with a change, and two changes.
const PATCH: &str = "*** Begin Patch
*** Update File: a.txt
@@
-one
+edited
*** Update File: moved.txt
*** Move to: new/place/moved.txt
@@
-one
+moved
*** Add File: new/inner/made.txt
+made
*** Delete File: gone.txt
*** Update File: dir/c.txt
@@
-three
+3
*** End Patch
";

/// Calls of one server on a fresh tree.
pub(super) struct Scenario {
    pub(super) name: &'static str,
    pub(super) options: &'static [&'static str],
    /// Tools with their arguments.
    pub(super) calls: Vec<(&'static str, Value)>,
    /// Whether a server that is killed may leave a temporary file or an empty directory, for a later one to sweep.
    pub(super) may_leave: bool,
    /// A copy of the program that an ordinary user may run, who serves a tree with a directory where no file can be made.
    pub(super) as_user: Option<TempDir>,
}

/// The user of such a server, if root runs the tests.
pub(super) const SOMEBODY: u32 = 65534;

/// A tree and a state folder.
pub(super) struct World {
    folder: TempDir,
}

impl World {
    /// With files of all rights, a link, an empty directory.
    pub(super) fn of(scenario: &Scenario) -> Self {
        let world = Self { folder: memory_folder() };
        let at = |name: &str| world.root().join(name);
        for name in ["", "dir", "dir/sub", "empty", "tree", "tree/inner"] {
            fs::create_dir(at(name)).expect("a folder");
        }
        for (name, mode) in [
            ("a.txt", 0o644),
            ("b.txt", 0o600),
            ("run.sh", 0o755),
            ("dir/c.txt", 0o664),
            ("dir/sub/d.txt", 0o640),
            ("gone.txt", 0o644),
            ("moved.txt", 0o600),
            ("tree/e.txt", 0o644),
            ("tree/inner/f.txt", 0o444),
        ] {
            fs::write(at(name), format!("one\ntwo of {name}\nthree\n")).expect("a file");
            fs::set_permissions(at(name), fs::Permissions::from_mode(mode)).expect("rights");
            fs::File::open(at(name)).and_then(|file| file.set_modified(untouched())).expect("a time");
        }
        for number in (0..20).filter(|_| scenario.name.starts_with("twenty")) {
            let file = at(&format!("tree/{number:02}.md"));
            fs::write(&file, format!("number {number}\n")).expect("a file");
            fs::File::open(file).and_then(|file| file.set_modified(untouched())).expect("a time");
        }
        for name in ["dir/moved.txt", "dir/run.sh"].iter().filter(|_| scenario.name.starts_with("move of several")) {
            fs::write(at(name), "replaced\n").expect("a file");
        }
        symlink("../a.txt", at("dir/link")).expect("a link");
        if scenario.as_user.is_some() {
            fs::create_dir(at("ro")).expect("a folder");
            // As if it was written already: a time does not come back.
            fs::write(at("ro/f.txt"), "one\ntwo\nthree\n").expect("a file");
            fs::create_dir(world.state()).expect("a folder");
            if geteuid().is_root() {
                let own = Command::new("chown")
                    .args(["-hR", &format!("{SOMEBODY}:{SOMEBODY}")])
                    .arg(world.folder.path())
                    .status();
                assert!(own.expect("chown starts").success());
            }
            fs::set_permissions(at("ro"), fs::Permissions::from_mode(0o555)).expect("rights");
        }
        world
    }

    pub(super) fn root(&self) -> PathBuf {
        self.folder.path().join("root")
    }

    pub(super) fn state(&self) -> PathBuf {
        self.folder.path().join("state")
    }
}

impl Drop for World {
    fn drop(&mut self) {
        let _ = fs::set_permissions(self.root().join("ro"), fs::Permissions::from_mode(0o755));
    }
}

fn edit(path: &str) -> (&'static str, Value) {
    ("edit", json!({ "path": path, "old_string": "one\n", "new_string": "edited\nwith more lines\n" }))
}

impl Scenario {
    fn single_file_calls(name: &'static str, calls: Vec<(&'static str, Value)>) -> Self {
        Self {
            name,
            options: &["--allow", "manage", "--read-before-write", "off"],
            calls,
            may_leave: true,
            as_user: None,
        }
    }

    /// Changes of five files in one call, each with its undo.
    pub(super) fn of_many_files() -> Vec<Self> {
        let all_or_none = |name, calls| Self {
            name,
            options: &["--allow", "manage", "--allow", "patch", "--read-before-write", "off"],
            calls,
            may_leave: false,
            as_user: None,
        };
        let change = |path: &str| json!({ "path": path, "old_string": "one\n", "new_string": "edited\nwith more\n" });
        let five: Vec<Value> = ["a.txt", "b.txt", "run.sh", "dir/c.txt", "dir/sub/d.txt"].map(change).into();
        let undo = || ("undo", json!({}));
        vec![
            all_or_none("edit of five files, undo", vec![("edit", json!({ "edits": five })), undo()]),
            all_or_none("patch of five files, undo", vec![("apply_patch", json!({ "patch": PATCH })), undo()]),
            all_or_none(
                "delete of several, undo",
                vec![
                    ("delete", json!({ "paths": ["moved.txt", "tree", "empty", "gone.txt"], "recursive": true })),
                    undo(),
                ],
            ),
            all_or_none(
                "move over a file, undo, redo",
                vec![
                    ("move", json!({ "source": "moved.txt", "destination": "dir/c.txt", "overwrite": true })),
                    undo(),
                    ("undo", json!({ "to": "redo" })),
                ],
            ),
            all_or_none(
                "move of several, two of them over files, undo",
                vec![
                    (
                        "move",
                        json!({ "sources": ["moved.txt", "tree", "*.sh"], "destination": "dir/", "overwrite": true }),
                    ),
                    undo(),
                    ("undo", json!({ "to": "redo" })),
                ],
            ),
            all_or_none(
                "copy of several, undo",
                vec![("copy", json!({ "sources": ["tree", "b.txt", "dir/sub"], "destination": "empty/" })), undo()],
            ),
        ]
    }

    /// Twenty files by one glob into new directories, and back.
    pub(super) fn of_twenty_files() -> Self {
        Self {
            may_leave: false,
            ..Self::single_file_calls(
                "twenty files, undo",
                vec![("move", json!({ "sources": ["tree/*.md"], "destination": "new/inner/" })), ("undo", json!({}))],
            )
        }
    }

    pub(super) fn appends() -> Self {
        Self::single_file_calls("append", Vec::new())
    }

    /// Files that are written in place, one and with others: longer, shorter, and back.
    pub(super) fn in_place() -> Vec<Self> {
        let scenario = |name, calls| {
            let folder = memory_folder();
            let program = folder.path().join("program");
            // Another process copies it: see `rights.rs`.
            let copied = Command::new("cp").arg(env!("CARGO_BIN_EXE_rootbound")).arg(&program).status();
            assert!(copied.expect("cp starts").success());
            fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).expect("rights");
            Self {
                name,
                options: &["--allow", "manage", "--read-before-write", "off"],
                calls,
                may_leave: false,
                as_user: Some(folder),
            }
        };
        let undo = || ("undo", json!({}));
        let shorter = json!({ "path": "ro/f.txt", "old_string": "one\ntwo\n", "new_string": "1" });
        let two = json!([
            { "path": "ro/f.txt", "old_string": "one\n", "new_string": "edited\nwith more\n" },
            { "path": "a.txt", "old_string": "one\n", "new_string": "edited\nwith more\n" },
        ]);
        vec![
            scenario("one file in place, undo", vec![edit("ro/f.txt"), undo(), ("edit", shorter), undo()]),
            scenario("two files, one in place, undo", vec![("edit", json!({ "edits": two })), undo()]),
        ]
    }

    /// Every change of one entry, and its undo.
    pub(super) fn of_one_entry() -> Vec<Self> {
        let undo = || ("undo", json!({}));
        vec![
            Self::single_file_calls(
                "write and edit",
                vec![
                    ("write", json!({ "path": "a.txt", "content": "new\n" })),
                    ("write", json!({ "path": "new.txt", "content": "new\n" })),
                    ("write", json!({ "path": "b.txt", "content": "more\n" })),
                    edit("run.sh"),
                    undo(),
                    undo(),
                    undo(),
                    undo(),
                ],
            ),
            Self::single_file_calls(
                "new directories",
                vec![
                    ("write", json!({ "path": "n/m/new.txt", "content": "new\n" })),
                    undo(),
                    ("mkdir", json!({ "path": "o/p" })),
                    undo(),
                ],
            ),
            Self::single_file_calls(
                "move, copy and delete",
                vec![
                    ("move", json!({ "source": "moved.txt", "destination": "dir/moved.txt" })),
                    ("copy", json!({ "source": "run.sh", "destination": "dir/c.txt", "overwrite": true })),
                    ("delete", json!({ "path": "gone.txt" })),
                    undo(),
                    undo(),
                    undo(),
                ],
            ),
            Self::single_file_calls(
                "trees",
                vec![
                    ("copy", json!({ "source": "tree", "destination": "dir/tree" })),
                    ("move", json!({ "source": "tree", "destination": "empty/tree" })),
                    undo(),
                    undo(),
                ],
            ),
        ]
    }
}
