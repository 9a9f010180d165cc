//! Paths of the host: without links, and what exists.
//!
//! Only to compare paths and to refuse directories at the start; nothing is opened, and no check of a call relies on it.

use std::path::{Component, Path, PathBuf};

/// The path without links, as far as it exists.
#[expect(clippy::disallowed_methods, reason = "only compared with other paths; Workspace::open opens what was given")]
pub(super) fn real(path: &Path) -> PathBuf {
    let existing = path.ancestors().find_map(|part| Some((part, part.canonicalize().ok()?)));
    let Some((part, mut real)) = existing else { return path.to_owned() };
    // Below that nothing is a link, so `..` is resolved by its text.
    for name in path.strip_prefix(part).unwrap_or(Path::new("")).components() {
        match name {
            Component::ParentDir => {
                real.pop();
            }
            Component::Normal(name) => real.push(name),
            Component::CurDir | Component::RootDir | Component::Prefix(_) => {}
        }
    }
    real
}

/// The folder of the program's own without links on the way to it, as it is opened from here on: nobody can lead it
/// elsewhere after the checks at the start. Windows follows them where it is opened.
pub(super) fn lasting(folder: &Path) -> PathBuf {
    if cfg!(windows) { folder.to_owned() } else { real(folder) }
}

/// As [`lasting`], for a file: a link in its own place stays one.
pub(super) fn lasting_file(file: &Path) -> PathBuf {
    match (file.parent(), file.file_name()) {
        (Some(folder), Some(name)) if !cfg!(windows) => lasting(folder).join(name),
        _ => file.to_owned(),
    }
}

/// Why nothing can be kept at `path`: a link on the way to it leads nowhere.
#[expect(clippy::disallowed_methods, reason = "only reports what cannot be used; what is used is opened later")]
pub(super) fn broken_link(path: &Path) -> Option<String> {
    let (last, found) = path.ancestors().find_map(|part| Some((part, part.symlink_metadata().ok()?)))?;
    (found.is_symlink() && last.canonicalize().is_err())
        .then(|| format!("{} is a link that leads nowhere", last.display()))
}

/// The path as it was given, and without links.
pub(super) fn names_of(path: &Path) -> Vec<PathBuf> {
    let mut names = vec![path.to_owned(), real(path)];
    names.dedup();
    names
}

/// Whether the directory has an entry of that name.
pub(super) fn holds(directory: &Path, name: &Path) -> bool {
    directory.join(name).symlink_metadata().is_ok()
}

/// Whether the path leads to a directory; `None` if it leads to nothing.
#[expect(clippy::disallowed_methods, reason = "only reports what is missing; what is used is opened later")]
pub(super) fn is_directory(path: &Path) -> Option<bool> {
    path.metadata().ok().map(|found| found.is_dir())
}

/// Whether the path is `/`, a drive or a share.
pub(super) fn is_file_system_root(path: &Path) -> bool {
    path.has_root() && !path.components().any(|part| matches!(part, Component::Normal(_) | Component::ParentDir))
}
