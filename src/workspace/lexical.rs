//! Paths taken apart by their components alone, without a look at the disk.

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::path::{Component, Path, PathBuf};

/// Links that are followed in one path: as many as Linux does, see `path_resolution(7)`.
pub(super) const MOST_LINKS: usize = 40;

/// Takes `.` and `..` out.
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

/// The prefix and root of an absolute path, "" of a relative one.
pub(super) fn base_of(target: &Path) -> PathBuf {
    let is_base = |part: &Component<'_>| matches!(part, Component::Prefix(_) | Component::RootDir);
    target.components().take_while(is_base).collect()
}

/// Puts the names of `target`, `..` among them, before those that are still to be walked.
pub(super) fn push_front(todo: &mut VecDeque<OsString>, target: &Path) {
    for component in target.components().rev() {
        match component {
            Component::Normal(name) => todo.push_front(name.to_os_string()),
            Component::ParentDir => todo.push_front("..".into()),
            Component::CurDir | Component::Prefix(_) | Component::RootDir => {}
        }
    }
}
