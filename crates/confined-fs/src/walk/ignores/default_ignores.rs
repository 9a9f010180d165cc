//! The default ignores: names that are never source, some only next to a project file or with a marker inside.
//!
//! To add a name, add it to one of the tables; the tests try every row.

use std::ffi::OsStr;

use beneath::{FileKind, Listed};

use crate::walk::listing::has;

use super::{CACHE_TAG, ENVIRONMENT_MARKER};

/// Directories of version control, never entered from above.
const VERSION_CONTROL: &[&str] = &[".git", ".hg", ".svn", ".bzr", ".jj"];

/// Names that are ignored anywhere: of JavaScript, of Python, and others.
const ANYWHERE: &[&[&str]] = &[
    &["node_modules", ".next", ".nuxt", ".turbo"],
    &["__pycache__", ".venv", ".tox", ".nox", ".mypy_cache", ".pytest_cache", ".ruff_cache"],
    &[".gradle", ".cache", ".DS_Store"],
];

/// Endings of names that are ignored anywhere: the swap files of vim.
const ENDINGS: &[&str] = &[".swp"];

/// Output directories, each with the project files next to which it is one.
const NEXT_TO: &[(&str, &[&str])] = &[
    ("target", &["Cargo.toml", "pom.xml", "build.sbt", "project.clj"]),
    ("build", &["package.json", "pyproject.toml", "setup.py", "CMakeLists.txt"]),
    ("build", &["build.gradle", "build.gradle.kts", "meson.build", "pubspec.yaml"]),
    ("dist", &["package.json", "pyproject.toml", "setup.py"]),
    ("out", &["package.json", "CMakeLists.txt", "build.gradle", "build.gradle.kts", "foundry.toml"]),
];

/// Directories that are virtual environments when [`ENVIRONMENT_MARKER`] is in them.
const ENVIRONMENTS: &[&str] = &["venv", "env"];

/// Whether a directory of this name belongs to version control.
pub(crate) fn is_version_control(name: &OsStr) -> bool {
    VERSION_CONTROL.iter().any(|known| name == *known)
}

/// Whether an entry is ignored because of its name; `siblings` is the sorted listing that it is in. Asked for every
/// name of a tree: comparing with every row takes some 3 ns, as a filter by the first byte did.
pub(crate) fn is_ignored_by_name(listed: &Listed, siblings: &[Listed]) -> bool {
    let name = listed.name.as_os_str();
    let ends = |ending: &&str| name.as_encoded_bytes().ends_with(ending.as_bytes());
    if ANYWHERE.iter().any(|names| names.iter().any(|known| name == *known))
        || is_version_control(name)
        || ENDINGS.iter().any(ends)
    {
        return true;
    }
    listed.kind == FileKind::Directory
        && NEXT_TO.iter().any(|(known, projects)| name == *known && projects.iter().any(|file| has(siblings, file)))
}

/// Whether a name decides whether directories next to it are ignored.
pub(crate) fn is_project_file(name: &OsStr) -> bool {
    NEXT_TO.iter().any(|(_, projects)| projects.iter().any(|file| name == *file))
}

/// Whether a directory is ignored because of a marker in it; `holds` says whether it holds a name.
pub(crate) fn is_ignored_by_marker(name: &OsStr, holds: impl Fn(&str) -> bool) -> bool {
    holds(CACHE_TAG) || (ENVIRONMENTS.iter().any(|known| name == *known) && holds(ENVIRONMENT_MARKER))
}

#[cfg(test)]
mod tests {
    use super::super::is_marker;
    use super::*;

    fn listed(name: &str, kind: FileKind) -> Listed {
        Listed { name: name.into(), kind }
    }

    fn is_ignored(name: &str, kind: FileKind, siblings: &[&str]) -> bool {
        let siblings: Vec<Listed> = siblings.iter().map(|name| listed(name, FileKind::File)).collect();
        is_ignored_by_name(&listed(name, kind), &siblings)
    }

    #[test]
    fn every_row_of_the_tables_counts() {
        for name in ANYWHERE.iter().copied().flatten().chain(VERSION_CONTROL) {
            assert!(is_ignored(name, FileKind::Directory, &[]), "{name}");
            assert!(is_ignored(name, FileKind::File, &[]), "{name}");
            assert!(!is_ignored(&format!("{name}x"), FileKind::Directory, &[]), "{name}x");
        }
        for ending in ENDINGS {
            assert!(is_ignored(&format!(".file{ending}"), FileKind::File, &[]), "{ending}");
        }
        for (name, projects) in NEXT_TO {
            assert!(!is_ignored(name, FileKind::Directory, &["other"]), "{name}");
            for project in *projects {
                assert!(is_ignored(name, FileKind::Directory, &[project]), "{name} next to {project}");
                assert!(!is_ignored(name, FileKind::File, &[project]), "a file {name} next to {project}");
            }
        }
        for name in ["src", "targets", "environment", "main.rs"] {
            assert!(!is_ignored(name, FileKind::Directory, &["Cargo.toml"]), "{name}");
        }
    }

    #[test]
    fn every_marker_counts_and_the_watcher_knows_it() {
        for marker in [CACHE_TAG, ENVIRONMENT_MARKER] {
            assert!(is_marker(OsStr::new(marker)), "{marker}");
        }
        assert!(is_ignored_by_marker(OsStr::new("any"), |name| name == CACHE_TAG));
        for name in ENVIRONMENTS {
            assert!(is_ignored_by_marker(OsStr::new(name), |name| name == ENVIRONMENT_MARKER), "{name}");
        }
        assert!(!is_ignored_by_marker(OsStr::new("src"), |name| name == ENVIRONMENT_MARKER));
        assert!(!is_ignored_by_marker(OsStr::new("venv"), |_| false));
    }
}
