//! A workspace in a container: overlayfs over the files of an image, with other devices mounted below it.
//!
//! Mounts need root; if the tests run as root, they must succeed.

#![expect(clippy::print_stderr, reason = "a check says that it was skipped")]

use std::{
    collections::BTreeMap,
    fs,
    os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown, symlink},
    path::Path,
};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::harness::process::{Process, may_mount};

/// An overlay of `lower` (with other device numbers than the upper layer has) and a tmpfs, mounted at `ws`.
const OVERLAY: &str = "mkdir -p layers ws && mount -t tmpfs none layers && mkdir layers/upper layers/work && \
                       mount -t overlay none -o lowerdir=lower,upperdir=layers/upper,workdir=layers/work ws";

/// The files of the image.
const FILES: &[(&str, &str)] = &[
    ("d/a.txt", "a\n"),
    ("d/sub/b.txt", "b\n"),
    ("d/sub/deep/c.txt", "c\n"),
    ("d/z.txt", "z\n"),
    ("file.txt", "one\ntwo\n"),
    ("other.txt", "other\n"),
];

struct Mounted {
    process: Process,
    dir: TempDir,
}

/// Starts a server on an overlay; `None` if this user may not mount.
fn mounted(more: &str) -> Option<Mounted> {
    mounted_after("", more)
}

/// As [`mounted`], with a shell script for before the mount as well.
fn mounted_after(first: &str, more: &str) -> Option<Mounted> {
    if !may_mount() {
        eprintln!("SKIPPED: only the superuser can mount an overlay");
        return None;
    }
    // Not on a tmpfs, so that the layers are on two devices.
    let dir = tempfile::Builder::new().prefix("rootbound-overlay-").tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    for (name, content) in FILES {
        let path = dir.path().join("lower").join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        let long_ago = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1_600_000_000);
        #[expect(clippy::disallowed_types, reason = "sets a time, which no other handle can")]
        fs::File::options().append(true).open(&path).unwrap().set_modified(long_ago).unwrap();
    }
    let lower = dir.path().join("lower");
    symlink("a.txt", lower.join("d/link")).unwrap();
    fs::create_dir(lower.join("empty")).unwrap();
    fs::set_permissions(lower.join("d/sub"), fs::Permissions::from_mode(0o750)).unwrap();
    fs::set_permissions(lower.join("d/z.txt"), fs::Permissions::from_mode(0o755)).unwrap();
    for path in ["d/sub", "d/sub/b.txt"] {
        chown(lower.join(path), Some(4321), Some(4321)).unwrap();
    }
    let mut process =
        Process::start_mounted(dir.path(), &format!("{first}\n{OVERLAY}\n{more}"), &["--allow", "manage", "ws"]);
    process.initialize();
    Some(Mounted { process, dir })
}

impl Mounted {
    fn call(&mut self, tool: &str, arguments: &Value) -> (bool, String) {
        let answer = self.process.ask("tools/call", &json!({ "name": tool, "arguments": arguments }));
        let text = answer["result"]["content"][0]["text"].as_str();
        (answer["result"]["isError"] == false, text.unwrap_or_else(|| panic!("{answer}")).to_owned())
    }

    #[track_caller]
    fn ok(&mut self, tool: &str, arguments: &Value) -> String {
        let (is_ok, text) = self.call(tool, arguments);
        assert!(is_ok, "{tool} {arguments}\n{text}");
        text
    }

    #[track_caller]
    fn fails(&mut self, tool: &str, arguments: &Value) -> String {
        let (is_ok, text) = self.call(tool, arguments);
        assert!(!is_ok, "{tool} {arguments}\n{text}");
        text
    }

    /// Every entry: content or target, mode, owner, and of a file when it changed.
    fn tree(&self) -> BTreeMap<String, String> {
        fn collect(dir: &Path, below: &str, out: &mut BTreeMap<String, String>) {
            for entry in fs::read_dir(dir).unwrap() {
                let path = entry.unwrap().path();
                let name = format!("{below}{}", path.file_name().unwrap().to_str().unwrap());
                let stat = fs::symlink_metadata(&path).unwrap();
                let what = if stat.is_symlink() {
                    format!("-> {}", fs::read_link(&path).unwrap().display())
                } else if stat.is_dir() {
                    collect(&path, &format!("{name}/"), out);
                    format!("{:o} {}", stat.mode(), stat.uid())
                } else {
                    let content = fs::read_to_string(&path).unwrap();
                    format!("{:o} {} {} {content:?}", stat.mode(), stat.uid(), stat.mtime())
                };
                out.insert(name, what);
            }
        }
        let mut out = BTreeMap::new();
        collect(&self.process.seen(&self.dir.path().join("ws")), "", &mut out);
        out
    }

    fn below(&self, top: &str) -> BTreeMap<String, String> {
        let inside = |(name, what): (String, String)| {
            let rest = name.strip_prefix(top).filter(|rest| rest.is_empty() || rest.starts_with('/'))?;
            Some((rest.to_owned(), what))
        };
        self.tree().into_iter().filter_map(inside).collect()
    }
}

#[test]
fn files_of_a_lower_layer_are_changed_moved_and_deleted() {
    let Some(mut m) = mounted("") else { return };
    let before = m.tree();
    m.ok("read", &json!({ "path": "file.txt" }));
    m.ok("edit", &json!({ "path": "file.txt", "old_string": "two", "new_string": "three" }));
    m.ok("write", &json!({ "path": "file.txt", "mode": "append", "content": "four\n" }));
    m.ok("write", &json!({ "path": "file.txt", "content": "new\n" }));
    m.ok("read", &json!({ "path": "other.txt" }));
    m.ok("move", &json!({ "source": "file.txt", "destination": "other.txt", "overwrite": true }));
    assert!(!m.tree().contains_key("file.txt"));
    m.ok("delete", &json!({ "path": "d/a.txt" }));
    m.ok("move", &json!({ "source": "d/z.txt", "destination": "new/z.txt" }));
    for _ in 0..6 {
        m.ok("undo", &json!({}));
    }
    let strip = |tree: BTreeMap<String, String>| -> BTreeMap<String, String> {
        // Restored content has a new modification time.
        let words = |what: String| what.split(' ').filter(|word| word.len() < 10).collect::<Vec<_>>().join(" ");
        tree.into_iter().map(|(name, what)| (name, words(what))).collect()
    };
    assert_eq!(strip(m.tree()), strip(before));
}

#[test]
fn a_hard_linked_file_of_a_lower_layer_is_changed() {
    let names = ["write", "edit", "append", "delete", "move", "over", "copied"];
    let link = names.map(|name| format!("ln lower/file.txt lower/{name}")).join("\n");
    // Before the mount: a lower layer must not change below it.
    let Some(mut m) = mounted_after(&link, "") else { return };
    for name in names {
        m.ok("read", &json!({ "path": name }));
    }
    m.ok("write", &json!({ "path": "write", "content": "new\n" }));
    m.ok("edit", &json!({ "path": "edit", "old_string": "two", "new_string": "three" }));
    m.ok("write", &json!({ "path": "append", "content": "three\n", "mode": "append" }));
    m.ok("delete", &json!({ "path": "delete" }));
    m.ok("move", &json!({ "source": "move", "destination": "moved" }));
    m.ok("move", &json!({ "source": "moved", "destination": "over", "overwrite": true }));
    m.ok("copy", &json!({ "source": "other.txt", "destination": "copied", "overwrite": true }));
    let tree = m.tree();
    for (name, content) in [
        ("write", r#""new\n""#),
        ("edit", r#""one\nthree\n""#),
        ("append", r#""one\ntwo\nthree\n""#),
        ("over", r#""one\ntwo\n""#),
        ("copied", r#""other\n""#),
        ("file.txt", r#""one\ntwo\n""#),
    ] {
        assert!(tree[name].ends_with(content), "{name}: {}", tree[name]);
    }
    assert!(!tree.contains_key("delete") && !tree.contains_key("moved"));
}

#[test]
fn directories_of_a_lower_layer_are_moved_and_deleted() {
    let Some(mut m) = mounted("") else { return };
    let before = m.below("d");
    let text = m.ok("move", &json!({ "source": "d", "destination": "x/y/d2" }));
    assert!(text.starts_with("Moved d to x/y/d2 with 4 files; created folders x/, x/y/; it was copied"), "{text}");
    assert_eq!(m.below("x/y/d2"), before, "with modes, owners and times");
    assert!(!m.tree().contains_key("d"));
    let text = m.ok("undo", &json!({}));
    assert!(text.ends_with("; removed 2 directories made for it"), "{text}");
    assert_eq!((m.below("d"), m.tree().contains_key("x")), (before, false));

    for path in ["empty", "d/sub"] {
        let held = m.below(path).len();
        m.ok("delete", &json!({ "path": path, "recursive": true }));
        assert!(!m.tree().contains_key(path));
        m.ok("undo", &json!({}));
        assert_eq!(m.below(path).len(), held);
    }
    let names: Vec<String> = m.tree().into_keys().collect();
    assert!(names.iter().all(|name| !name.contains(".rootbound")), "{names:?}");
}

#[test]
fn a_directory_that_cannot_be_removed_stays_whole_without_a_copy() {
    for busy in ["d/a.txt", "d/sub/b.txt", "d/sub/deep/c.txt", "d/z.txt"] {
        let Some(mut m) = mounted(&format!("mount --bind lower/other.txt ws/{busy}")) else { return };
        let before = m.tree();
        let text = m.fails("move", &json!({ "source": "d", "destination": "new/d2" }));
        assert!(text.starts_with(&format!("{busy} is a mount of its own")), "{text}");
        assert_eq!(m.tree(), before, "{busy}");
        let text = m.fails("delete", &json!({ "path": "d", "recursive": true }));
        assert!(text.starts_with(&format!("{busy} is a mount of its own")), "{text}");
        let names = |tree: BTreeMap<String, String>| tree.into_keys().collect::<Vec<_>>();
        assert_eq!(names(m.tree()), names(before), "{busy}");
        m.fails("undo", &json!({}));
    }
}

#[test]
fn entries_are_moved_to_another_device_and_back() {
    let Some(mut m) = mounted("mkdir ws/disk && mount -t tmpfs none ws/disk") else { return };
    let before = m.below("d");
    m.ok("move", &json!({ "source": "d", "destination": "disk/in/d" }));
    assert_eq!((m.below("disk/in/d"), m.tree().contains_key("d")), (before.clone(), false));
    m.ok("move", &json!({ "source": "file.txt", "destination": "disk/file.txt" }));
    m.ok("read", &json!({ "path": "other.txt" }));
    m.ok("move", &json!({ "source": "disk/file.txt", "destination": "other.txt", "overwrite": true }));
    assert!(m.tree()["other.txt"].contains("one"));
    m.ok("undo", &json!({}));
    assert!(m.tree()["other.txt"].contains("other") && m.tree()["disk/file.txt"].contains("one"));
    m.ok("undo", &json!({}));
    m.ok("undo", &json!({}));
    assert_eq!((m.below("d"), m.tree().contains_key("disk/in")), (before, false));
}

#[test]
fn a_file_that_cannot_leave_its_device_is_not_copied_over_another() {
    let busy =
        "mkdir ws/disk && mount -t tmpfs none ws/disk && echo x > ws/disk/x && mount --bind lower/file.txt ws/disk/x";
    let Some(mut m) = mounted(busy) else { return };
    m.ok("read", &json!({ "path": "other.txt" }));
    let before = m.tree();
    m.fails("move", &json!({ "source": "disk/x", "destination": "other.txt", "overwrite": true }));
    m.fails("move", &json!({ "source": "disk/x", "destination": "made/here" }));
    assert_eq!(m.tree(), before);
}
