//! Positions in a tree as names and depths, and the path that they add up to.
//!
//! Names and depths, each directory before what it holds, say as much as the path of every entry
//! does. In 5,000 directories in one another those paths are 25 MB; their names are 5,000.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use crate::WorkspacePath;

/// One line of a listing that has each directory before what it holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreePosition {
    /// How far below the top; 0 for the top itself, 1 for what it holds.
    pub depth: usize,
    /// Its name; "" for the top.
    pub name: OsString,
}

impl TreePosition {
    /// That of the top.
    pub fn top() -> Self {
        Self { depth: 0, name: OsString::new() }
    }

    /// The paths of a listing's entries with its top at `top`.
    pub fn paths_at<'p>(
        top: &WorkspacePath,
        listing: impl Iterator<Item = &'p Self>,
    ) -> impl Iterator<Item = WorkspacePath> {
        let mut path = PathStack::default();
        listing.map(move |position| top.child(path.step(position)))
    }
}

/// The path below the top, entry after entry.
#[derive(Debug, Default)]
pub(super) struct PathStack {
    path: PathBuf,
    depth: usize,
}

impl PathStack {
    /// The path of the next entry of a listing.
    pub(super) fn step(&mut self, position: &TreePosition) -> &Path {
        self.up_to(position.depth);
        if position.depth > 0 {
            self.path.push(&position.name);
            self.depth = position.depth;
        }
        &self.path
    }

    /// The path of the current entry.
    pub(super) fn as_path(&self) -> &Path {
        &self.path
    }

    /// The path of an entry in the current directory.
    pub(super) fn join(&self, name: &OsStr) -> PathBuf {
        self.path.join(name)
    }

    /// Takes away what is not above an entry of this depth.
    fn up_to(&mut self, depth: usize) {
        while self.depth > 0 && self.depth >= depth {
            self.path.pop();
            self.depth -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_depths_give_every_path() {
        let listing = [(0, ""), (1, "a"), (2, "b"), (3, "c"), (2, "d"), (1, "e"), (1, "f"), (2, "g")];
        let mut path = PathStack::default();
        let paths: Vec<String> = listing
            .iter()
            .map(|(depth, name)| {
                let position = TreePosition { depth: *depth, name: name.into() };
                path.step(&position).iter().map(|name| name.to_str().unwrap()).collect::<Vec<_>>().join("/")
            })
            .collect();
        assert_eq!(paths, ["", "a", "a/b", "a/b/c", "a/d", "e", "f", "f/g"]);
    }
}
