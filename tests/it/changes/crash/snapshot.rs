//! A tree byte for byte: names, kinds, contents, rights, links, and which files were not touched.

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    fs,
    os::unix::fs::{MetadataExt as _, PermissionsExt as _},
    path::Path,
    time::{Duration, SystemTime},
};

/// What is below a directory: each path with all that must not differ.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Snapshot(BTreeMap<String, String>);

/// The time of each file that the test has made, so that one shows whether it was written since.
pub(crate) fn untouched() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000)
}

impl Snapshot {
    pub(crate) fn of(root: &Path) -> Self {
        let mut entries = BTreeMap::new();
        collect(root, "", &mut entries);
        Self(entries)
    }

    /// Without what a killed change of one entry may leave: a temporary file, which a server that writes in the
    /// directory removes when it is old, and empty directories that are not in `kept`.
    pub(crate) fn without_leftovers(mut self, kept: &Self) -> Self {
        self.0.retain(|path, _| !path.split('/').any(|name| name.starts_with(".rootbound-")));
        for path in self.0.keys().rev().cloned().collect::<Vec<_>>() {
            let is_empty = !self.0.keys().any(|other| other.starts_with(&format!("{path}/")));
            if is_empty && self.0[&path].starts_with("directory") && !kept.0.contains_key(&path) {
                self.0.remove(&path);
            }
        }
        self
    }

    /// What differs from `other`, one line for each path.
    pub(crate) fn differences(&self, other: &Self) -> String {
        let mut text = String::new();
        for path in self.0.keys().chain(other.0.keys().filter(|path| !self.0.contains_key(*path))) {
            let (here, there) = (self.0.get(path), other.0.get(path));
            if here != there {
                let _ = writeln!(text, "  {path}: {:.90}, expected {:.90}", format!("{here:?}"), format!("{there:?}"));
            }
        }
        text
    }
}

fn collect(directory: &Path, below: &str, entries: &mut BTreeMap<String, String>) {
    for entry in fs::read_dir(directory).expect("a directory").map(|entry| entry.expect("an entry")) {
        let path = entry.path();
        let name = format!("{below}{}", entry.file_name().to_str().expect("UTF-8"));
        let found = path.symlink_metadata().expect("it is there");
        let mode = found.permissions().mode() & 0o7777;
        let text = if found.is_symlink() {
            format!("link to {}", fs::read_link(&path).expect("a link").display())
        } else if found.is_dir() {
            collect(&path, &format!("{name}/"), entries);
            format!("directory {mode:o}")
        } else {
            let time = if found.modified().expect("a time") == untouched() { "untouched" } else { "written" };
            let content = fs::read(&path).expect("a file");
            format!("{time} file {mode:o}, {} names: {}", found.nlink(), content.escape_ascii())
        };
        entries.insert(name, text);
    }
}
