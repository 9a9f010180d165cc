//! The names of a directory, in the order of a walk.

use std::io;

use beneath::Listed;

use crate::Dir;

/// The names of a directory in byte order: getdents(2) gives them in none that means anything.
pub(super) fn sorted(dir: &Dir) -> io::Result<Vec<Listed>> {
    let mut names = dir.list()?;
    names.sort_unstable_by(|one, two| one.name.as_encoded_bytes().cmp(two.name.as_encoded_bytes()));
    Ok(names)
}

/// Where this name is in a sorted listing.
pub(super) fn position(names: &[Listed], name: &[u8]) -> Option<usize> {
    names.binary_search_by(|listed| listed.name.as_encoded_bytes().cmp(name)).ok()
}

/// Whether a sorted listing has this name.
pub(super) fn has(names: &[Listed], name: &str) -> bool {
    position(names, name.as_bytes()).is_some()
}
