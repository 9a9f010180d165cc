//! What the configuration asks the host's file system: where a path really leads, and what is there.
//!
//! Only to compare paths and to refuse directories; nothing is opened, and no answer is relied on after the start.

use std::path::{Component, Path, PathBuf};

/// The path without links, as far as it exists.
#[expect(clippy::disallowed_methods, reason = "only compared with other paths; Workspace::open opens what was given")]
pub(super) fn real(path: &Path) -> PathBuf {
    let existing = path.ancestors().find_map(|part| Some((part, part.canonicalize().ok()?)));
    let Some((part, mut real)) = existing else { return path.to_owned() };
    // Of what does not exist, `..` goes by its letters.
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

/// A directory by its name as it was given and as it truly is.
pub(super) fn names_of(path: &Path) -> Vec<PathBuf> {
    let mut names = vec![path.to_owned(), real(path)];
    names.dedup();
    names
}

/// Whether the directory has an entry of that name.
pub(super) fn holds(directory: &Path, name: &Path) -> bool {
    directory.join(name).symlink_metadata().is_ok()
}

/// `/`, a drive or a share by itself.
pub(super) fn is_file_system_root(path: &Path) -> bool {
    path.has_root() && !path.components().any(|part| matches!(part, Component::Normal(_) | Component::ParentDir))
}
