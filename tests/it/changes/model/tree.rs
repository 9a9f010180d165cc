//! The model: paths with contents in a map, and what each change makes of it.

use std::{collections::BTreeMap, fmt::Write as _, fs, path::Path};

/// What a path is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Node {
    Directory,
    File { content: String, mode: u32 },
}

/// All below the root.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Tree(pub(super) BTreeMap<String, Node>);

impl Tree {
    /// What is on the disk.
    pub(super) fn of(root: &Path) -> Self {
        fn collect(directory: &Path, below: &str, tree: &mut Tree) {
            for entry in fs::read_dir(directory).expect("a directory").map(|entry| entry.expect("an entry")) {
                let name = format!("{below}{}", entry.file_name().to_str().expect("UTF-8"));
                let found = entry.metadata().expect("it is there");
                let node = if found.is_dir() {
                    collect(&entry.path(), &format!("{name}/"), tree);
                    Node::Directory
                } else {
                    let bytes = fs::read(entry.path()).expect("a file");
                    Node::File { content: String::from_utf8(bytes).expect("UTF-8"), mode: mode(&found) }
                };
                tree.0.insert(name, node);
            }
        }
        let mut tree = Self::default();
        collect(root, "", &mut tree);
        tree
    }

    /// The files on the disk, without links and what is no file.
    #[cfg(target_os = "linux")]
    pub(super) fn of_files(root: &Path) -> Self {
        let (mut tree, mut left) = (Self::default(), vec![root.to_path_buf()]);
        while let Some(folder) = left.pop() {
            for entry in fs::read_dir(folder).expect("a directory").map(|entry| entry.expect("an entry")) {
                let kind = entry.file_type().expect("it is there");
                if kind.is_dir() {
                    left.push(entry.path());
                } else if kind.is_file() {
                    let path = entry.path().strip_prefix(root).expect("below the root").display().to_string();
                    let content = fs::read_to_string(entry.path()).expect("UTF-8");
                    tree.0.insert(path, Node::File { content, mode: 0 });
                }
            }
        }
        tree
    }

    pub(super) fn file(&self, path: &str) -> Option<(&str, u32)> {
        match self.0.get(path) {
            Some(Node::File { content, mode }) => Some((content, *mode)),
            _ => None,
        }
    }

    pub(super) fn is_directory(&self, path: &str) -> bool {
        matches!(self.0.get(path), Some(Node::Directory))
    }

    /// Whether something can be put at this path: no file is above it.
    pub(super) fn takes(&self, path: &str) -> bool {
        ancestors(path).all(|above| self.file(above).is_none())
    }

    /// Whether all above each path are directories.
    pub(super) fn is_whole(&self) -> bool {
        self.0.keys().all(|path| ancestors(path).all(|above| self.is_directory(above)))
    }

    /// With a file, or other content in a file, and the directories above it.
    pub(super) fn with_file(&self, path: &str, content: &str) -> Self {
        let mode = self.file(path).map_or(NEW, |(_, mode)| mode);
        self.with(path, Node::File { content: content.to_owned(), mode })
    }

    pub(super) fn with_directory(&self, path: &str) -> Self {
        self.with(path, Node::Directory)
    }

    /// With this at a path, and the directories above it.
    pub(super) fn with(&self, path: &str, node: Node) -> Self {
        let mut tree = self.clone();
        for above in ancestors(path) {
            tree.0.insert(above.to_owned(), Node::Directory);
        }
        tree.0.insert(path.to_owned(), node);
        tree
    }

    /// With what is at `from` at `to`, too.
    pub(super) fn with_copy(&self, from: &str, to: &str) -> Self {
        let mut tree = self.clone();
        for (path, node) in &self.0 {
            if path == from || path.starts_with(&format!("{from}/")) {
                tree = tree.with(&format!("{to}{}", &path[from.len()..]), node.clone());
            }
        }
        tree
    }

    pub(super) fn without(&self, path: &str) -> Self {
        let below = format!("{path}/");
        let stays = |(other, _): &(&String, &Node)| *other != path && !other.starts_with(&below);
        Self(self.0.iter().filter(stays).map(|(path, node)| (path.clone(), node.clone())).collect())
    }

    pub(super) fn is_empty_directory(&self, path: &str) -> bool {
        self.is_directory(path) && !self.0.keys().any(|other| other.starts_with(&format!("{path}/")))
    }

    /// Without the empty directories that `other` does not have.
    pub(super) fn without_empty_directories_but_of(&self, other: &Self) -> Self {
        let mut tree = self.clone();
        for path in self.0.keys().rev().filter(|path| !other.0.contains_key(*path)) {
            if tree.is_empty_directory(path) {
                tree = tree.without(path);
            }
        }
        tree
    }

    /// The paths that differ, with what they are here.
    pub(super) fn changes_from(&self, other: &Self) -> BTreeMap<String, Option<Node>> {
        let paths = self.0.keys().chain(other.0.keys());
        let differ = paths.filter(|path| self.0.get(*path) != other.0.get(*path));
        differ.map(|path| (path.clone(), self.0.get(path).cloned())).collect()
    }

    /// What differs from `expected`, for a person.
    pub(super) fn differences(&self, expected: &Self) -> String {
        let mut text = String::new();
        for (path, node) in self.changes_from(expected) {
            let _ = writeln!(text, "  {path}: {node:?}, expected {:?}", expected.0.get(&path));
        }
        text
    }
}

/// Rights of a file that the server makes: 0666 under the usual umask; 0 where the system has none.
const NEW: u32 = if cfg!(unix) { 0o644 } else { 0 };

#[cfg(unix)]
fn mode(found: &fs::Metadata) -> u32 {
    std::os::unix::fs::PermissionsExt::mode(&found.permissions()) & 0o7777
}

#[cfg(not(unix))]
fn mode(_: &fs::Metadata) -> u32 {
    NEW
}

/// The directories above a path, the outermost first.
fn ancestors(path: &str) -> impl Iterator<Item = &str> {
    path.match_indices('/').map(|(at, _)| &path[..at])
}
