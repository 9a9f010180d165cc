//! The default ignore list: what is never source, told by name and by what stands beside it.

use std::ffi::OsStr;

use super::find;
use crate::workspace::stat::FileKind;
use crate::workspace::sys::Listed;

/// The file that marks a directory as a cache, by the Cache Directory Tagging specification.
const CACHE_TAG: &str = "CACHEDIR.TAG";

/// Directories of version control, never entered from above.
const VERSION_CONTROL: &[&str] = &[".git", ".hg", ".svn", ".bzr", ".jj"];

/// Names that are junk wherever they are.
const ALWAYS: &[&str] = &[
    "node_modules",
    "__pycache__",
    ".venv",
    ".tox",
    ".nox",
    ".mypy_cache",
    ".pytest_cache",
    ".ruff_cache",
    ".next",
    ".nuxt",
    ".turbo",
    ".gradle",
    ".cache",
    ".DS_Store",
];

/// Output directories, and the project files of which one beside them makes them that.
const BESIDE: &[(&str, &[&str])] = &[
    ("target", &["Cargo.toml", "pom.xml", "build.sbt", "project.clj"]),
    (
        "build",
        &[
            "package.json",
            "pyproject.toml",
            "setup.py",
            "CMakeLists.txt",
            "build.gradle",
            "build.gradle.kts",
            "meson.build",
            "pubspec.yaml",
        ],
    ),
    ("dist", &["package.json", "pyproject.toml", "setup.py"]),
    ("out", &["package.json", "CMakeLists.txt", "build.gradle", "build.gradle.kts", "foundry.toml"]),
];

/// Directories that are virtual environments when this file lies in them.
const ENVIRONMENTS: &[&str] = &["venv", "env"];
const ENVIRONMENT_MARK: &str = "pyvenv.cfg";

/// Whether a directory of this name belongs to version control.
pub(super) fn is_version_control(name: &OsStr) -> bool {
    VERSION_CONTROL.iter().any(|known| name == *known)
}

/// Whether an entry is junk by its name; `siblings` is the sorted listing it stands in.
pub(super) fn is_default_ignored(listed: &Listed, siblings: &[Listed]) -> bool {
    let name = listed.name.as_encoded_bytes();
    // Most names are none of these, and this is asked for every name of a tree.
    let first = name.first().copied().unwrap_or_default();
    if !matches!(first, b'.' | b'_' | b'n' | b't' | b'b' | b'd' | b'o') {
        return is_swap(name);
    }
    if ALWAYS.iter().chain(VERSION_CONTROL).any(|known| name == known.as_bytes()) || is_swap(name) {
        return true;
    }
    if listed.kind != FileKind::Directory {
        return false;
    }
    BESIDE
        .iter()
        .find(|(known, _)| name == known.as_bytes())
        .is_some_and(|(_, marks)| marks.iter().any(|mark| find(siblings, mark).is_some()))
}

/// Whether a directory is junk by what lies in it; `has` tells whether it holds a name.
pub(super) fn is_default_ignored_by_content(name: &OsStr, has: impl Fn(&str) -> bool) -> bool {
    has(CACHE_TAG) || (ENVIRONMENTS.iter().any(|known| name == *known) && has(ENVIRONMENT_MARK))
}

fn is_swap(name: &[u8]) -> bool {
    name.ends_with(b".swp")
}
