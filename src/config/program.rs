//! The paths by which the program that runs may be started again.
//!
//! They are never written: a program below a root could otherwise be replaced by another, which then runs unconfined.

use std::{
    ffi::{OsStr, OsString},
    path::{Path, PathBuf},
};

use self_sandbox::STARTED_AS;

use super::host_path;

/// The paths of this process's program: its own file, and what a client typed to start it.
pub(super) fn names() -> Vec<PathBuf> {
    let mut names: Vec<PathBuf> = std::env::current_exe().into_iter().collect();
    if let Ok(directory) = std::env::current_dir() {
        // A restart has replaced what was typed by the path of the program.
        for typed in std::env::args_os().next().into_iter().chain(std::env::var_os(STARTED_AS)) {
            names.extend(typed_names(&typed, &directory, std::env::var_os("PATH").as_deref()));
        }
    }
    names
}

/// Where a shell or a client looks for `typed`. For a bare name these are the folders of `PATH` up to the one that
/// has it: a file created in an earlier folder would be found first.
fn typed_names(typed: &OsStr, directory: &Path, path: Option<&OsStr>) -> Vec<PathBuf> {
    if Path::new(typed).components().count() != 1 {
        return vec![directory.join(typed)];
    }
    let mut names = Vec::new();
    for folder in path.into_iter().flat_map(std::env::split_paths) {
        let folder = directory.join(folder);
        let found = spellings(typed).into_iter().find(|name| host_path::holds(&folder, Path::new(name)));
        let is_found = found.is_some();
        names.extend(spellings(typed).into_iter().map(|name| folder.join(name)));
        if is_found {
            return names;
        }
    }
    // It was started by an unknown name.
    Vec::new()
}

fn spellings(typed: &OsStr) -> Vec<OsString> {
    let mut names = vec![typed.to_os_string()];
    if cfg!(windows) {
        names.extend([".exe", ".cmd", ".bat", ".com"].map(|end| {
            let mut name = typed.to_os_string();
            name.push(end);
            name
        }));
    }
    names
}

#[cfg(test)]
mod tests {
    #![expect(clippy::disallowed_methods, reason = "the test makes what is found")]

    use super::*;

    #[test]
    fn folders_of_path_count_up_to_the_one_with_the_program() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        for name in ["one", "two", "three"] {
            std::fs::create_dir(at(name)).expect("made");
        }
        std::fs::write(at("two/tool"), "").expect("written");
        let path = std::env::join_paths(["one", "two", "three"].map(at)).expect("plain names");
        let names = typed_names(OsStr::new("tool"), folder.path(), Some(&path));
        assert!(names.contains(&at("one/tool")) && names.contains(&at("two/tool")), "{names:?}");
        assert!(!names.contains(&at("three/tool")), "{names:?}");
        assert!(typed_names(OsStr::new("other"), folder.path(), Some(&path)).is_empty());
        assert_eq!(typed_names(OsStr::new("./two/tool"), folder.path(), None), [folder.path().join("./two/tool")]);
    }
}
