//! Paths taken apart by their components alone, without a look at the disk.

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::path::{Component, Path, PathBuf, Prefix};

/// Links that are followed in one path: as many as Linux does, see `path_resolution(7)`.
pub const MAX_LINKS: usize = 40;

/// Takes `.` and `..` out.
pub fn lexically_normal(path: &Path) -> PathBuf {
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

/// Whether the usual file systems of this system find a name in another case, too (NTFS, APFS).
const FOLDS_CASE: bool = cfg!(any(windows, target_vendor = "apple"));

/// The rest of `path` below `base`, compared as the system compares names.
///
/// Windows keeps directories that tell cases apart (WSL, `fsutil file setCaseSensitiveInfo`): next to a root there, a
/// directory of the same letters counts as that root.
pub fn strip_base<'p>(path: &'p Path, base: &Path) -> Option<&'p Path> {
    if !FOLDS_CASE {
        return path.strip_prefix(base).ok();
    }
    let mut rest = path.components();
    base.components().all(|part| rest.next().is_some_and(|own| is_same(own, part))).then_some(rest.as_path())
}

fn is_same(one: Component<'_>, other: Component<'_>) -> bool {
    one == other
        || match (one, other) {
            (Component::Prefix(one), Component::Prefix(other)) => {
                let (one, other) = (volume(one.kind()), volume(other.kind()));
                one.is_some() && one == other
            }
            (Component::Normal(one), Component::Normal(other)) => is_same_name(one, other),
            _ => false,
        }
}

/// Whether two names differ in case at most.
pub fn is_same_name(one: &OsStr, other: &OsStr) -> bool {
    let folded = |name: &OsStr| name.to_str().map(str::to_lowercase);
    one == other || folded(one).is_some_and(|one| Some(one) == folded(other))
}

fn volume(prefix: Prefix<'_>) -> Option<String> {
    match prefix {
        Prefix::Disk(letter) | Prefix::VerbatimDisk(letter) => Some(char::from(letter).to_lowercase().to_string()),
        Prefix::UNC(server, share) | Prefix::VerbatimUNC(server, share) => {
            Some(format!(r"\\{}\{}", server.to_str()?, share.to_str()?).to_lowercase())
        }
        Prefix::Verbatim(_) | Prefix::DeviceNS(_) => None,
    }
}

/// A path as people write it, without the `\\?\` that Windows puts before a canonical one. For comparisons and words;
/// a name in it may mean something else where it is opened (`con`, a dot at its end).
pub fn without_verbatim(path: PathBuf) -> PathBuf {
    let mut parts = path.components();
    let base = match parts.next() {
        Some(Component::Prefix(prefix)) => match prefix.kind() {
            Prefix::VerbatimDisk(letter) => format!("{}:\\", char::from(letter)),
            Prefix::VerbatimUNC(server, share) => {
                format!(r"\\{}\{}\", server.to_string_lossy(), share.to_string_lossy())
            }
            _ => return path,
        },
        _ => return path,
    };
    parts.filter(|part| matches!(part, Component::Normal(_))).fold(PathBuf::from(base), |path, name| path.join(name))
}

/// The prefix and root of an absolute path, "" of a relative one.
pub fn base_of(target: &Path) -> PathBuf {
    let is_base = |part: &Component<'_>| matches!(part, Component::Prefix(_) | Component::RootDir);
    target.components().take_while(is_base).collect()
}

/// Puts the names of `target`, `..` among them, before those that are still to be walked.
pub fn push_front(todo: &mut VecDeque<OsString>, target: &Path) {
    for component in target.components().rev() {
        match component {
            Component::Normal(name) => todo.push_front(name.to_os_string()),
            Component::ParentDir => todo.push_front("..".into()),
            Component::CurDir | Component::Prefix(_) | Component::RootDir => {}
        }
    }
}
