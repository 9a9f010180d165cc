//! The names that decide what is ignored: one table for the walk, which reads them, and for the watcher, which has to
//! notice when they change.

use std::ffi::OsStr;

/// Ignore rules as ripgrep and fd have them, in or outside of a repository.
pub(super) const IGNORE: &str = ".ignore";
/// git's rules, gitignore(5).
pub(super) const GITIGNORE: &str = ".gitignore";
/// Where it is, a repository begins: git's rules from above end there.
pub(super) const GIT: &str = ".git";
/// The exclude file of a repository, below the directory that the repository is in.
pub(super) const EXCLUDE: &str = ".git/info/exclude";

/// The file that marks a directory as a cache, by the [Cache Directory Tagging Specification](https://bford.info/cachedir/).
pub(super) const CACHE_TAG: &str = "CACHEDIR.TAG";
/// The file that a virtual environment of Python holds ([PEP 405](https://peps.python.org/pep-0405/)).
pub(super) const ENVIRONMENT_MARKER: &str = "pyvenv.cfg";

/// Whether a change of this name changes what is ignored in its directory and below.
pub(crate) fn holds_rules(name: &OsStr) -> bool {
    [IGNORE, GITIGNORE, GIT].iter().any(|known| name == *known)
}

/// Whether the name makes the directory that it is in an ignored one.
pub(crate) fn is_marker(name: &OsStr) -> bool {
    [CACHE_TAG, ENVIRONMENT_MARKER].iter().any(|known| name == *known)
}
