//! Tests of the layer as a whole, on real directories, with both ways of opening.

#![expect(clippy::disallowed_methods, reason = "the tests arrange and look from outside the sandbox")]

#[cfg(target_os = "linux")]
mod confine;
#[path = "../../confined-fs/src/tests/fixture.rs"]
mod fixture;
mod links;
mod race;
mod startup_rules;
mod transactions;
mod tree_failures;
mod trees;
mod writes;

use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use beneath::Dir;
use confined_fs::walk::{Entry, IgnoreRules, Ignored, WalkOptions};
use confined_fs::{
    Access, AccessError, AccessErrorKind, FileKind, PolicyRules, Revision, RootSpec, WorkspaceOptions, WorkspacePath,
};

use super::*;
use fixture::Fixture;

impl Fixture {
    fn content(&self, below: &str) -> String {
        fs::read_to_string(self.host(below)).unwrap()
    }
}

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

/// Every file, ignored ones too.
const ALL_FILES: WalkOptions =
    WalkOptions { ignored: Ignored::Include, max_depth: None, directories: false, symlinks: false };
