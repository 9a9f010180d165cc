//! `.` and `..` taken out of a path by its letters alone, without a look at the disk.

use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};

/// `.` and `..` taken out by name alone.
pub(super) fn lexically_normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                normal.pop();
            }
            other => normal.push(other),
        }
    }
    normal
}

/// A relative path without `.` and `..`; none when it climbs above its start.
pub(super) fn lexically_below(path: &Path) -> Option<PathBuf> {
    let mut names: Vec<&OsStr> = Vec::new();
    for name in path {
        match name.as_encoded_bytes() {
            b"." | b"/" | b"" => {}
            b".." => {
                names.pop()?;
            }
            _ => names.push(name),
        }
    }
    Some(names.iter().collect())
}
