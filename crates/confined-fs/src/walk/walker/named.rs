//! A look at a few names of a directory, for one that is known but for these: its cost does not depend on how many
//! names the directory has.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::io;
use std::sync::Arc;

use beneath::{FileKind, Listed};

use crate::walk::entry::WalkStart;
use crate::walk::ignores::{GIT, GITIGNORE, IGNORE, default_ignores, holds_rules, is_marker};
use crate::walk::{Ignored, Visitor, WalkOptions, WalkReport};
use crate::{AccessError, Dir, Shared, WorkspacePath};

use super::Walk;

/// As a walk with a depth of 1 over `directory`, which meets no names but `names`, and files of ignore rules. `None`
/// where that is not enough: one of them is a directory, or decides what becomes of others, or it cannot be told that
/// upper and lower case are different names there, so that the entry may have another name.
pub(crate) fn walk_names(
    shared: &Arc<Shared>,
    directory: &WorkspacePath,
    names: &BTreeSet<OsString>,
    visitor: &mut dyn Visitor,
) -> Result<Option<WalkReport>, AccessError> {
    let decides = |name: &OsString| holds_rules(name) || is_marker(name) || default_ignores::is_project_file(name);
    let (what, way) = shared.stat(directory)?;
    if what.kind != FileKind::Directory || names.iter().any(decides) {
        return Ok(None);
    }
    let start = Arc::new(WalkStart::new(directory, way, shared));
    let options = WalkOptions { ignored: Ignored::Skip, max_depth: Some(1), directories: true, symlinks: true };
    let mut is_enough = false;
    let look = |dir: &Dir| {
        let (listed, exact) = among(dir, names)?;
        is_enough = exact && listed.iter().all(|one| one.kind != FileKind::Directory || one.name == *GIT);
        Ok(listed)
    };
    let mut walk = Walk::new(&start, &options, visitor, WalkReport::default(), look)?;
    if !is_enough {
        return Ok(None);
    }
    walk.run(0);
    Ok(Some(walk.report))
}

/// Which of `names`, and of those that hold ignore rules, a directory has, in byte order; and whether letters of
/// another case name something else there.
fn among(dir: &Dir, names: &BTreeSet<OsString>) -> io::Result<(Vec<Listed>, bool)> {
    let rules: BTreeSet<OsString> = [GIT, IGNORE, GITIGNORE].into_iter().map(OsString::from).collect();
    let (mut listed, mut is_exact) = (Vec::new(), false);
    for name in names.union(&rules) {
        let stat = match dir.child_stat(name) {
            Ok(stat) => stat,
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(error),
        };
        is_exact = is_exact || is_missing(dir, &in_other_case(name), name);
        listed.push(Listed { name: name.clone(), kind: stat.kind });
    }
    Ok((listed, is_exact))
}

/// Whether `other`, another name than `name`, does not exist.
fn is_missing(dir: &Dir, other: &OsStr, name: &OsStr) -> bool {
    other != name && dir.child_stat(other).is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
}

/// The name with the other case of each letter of ASCII; the same where it has none, or is not Unicode.
fn in_other_case(name: &OsStr) -> OsString {
    let Some(name) = name.to_str() else { return name.to_os_string() };
    let other = |letter: char| {
        if letter.is_ascii_lowercase() { letter.to_ascii_uppercase() } else { letter.to_ascii_lowercase() }
    };
    name.chars().map(other).collect::<String>().into()
}
