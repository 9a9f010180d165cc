//! The files that the server starts from (configuration, state, audit log, program), by every name that leads to them.
//!
//! A model that can replace the configuration, or a link that leads to it, has other rights after the next start; a file
//! that does not exist yet counts, too (CVE-2026-25725). So no write is allowed to the real path of such a file, nor to
//! a link on the way to it, when they are below a root. The directories above need no rule: a tree that holds a refused
//! name is neither moved nor deleted.

use std::collections::{HashMap, VecDeque};
use std::path::{Path, PathBuf};
use std::{ffi::OsString, sync::Arc};

use beneath::lexical::{MAX_LINKS, base_of, lexically_normal, push_front, without_verbatim};

use crate::{policy::ProtectedPaths, root::Root};

const SERVER_FILE_RULE: &str = "a file that this server starts from, or a link to one";

/// Device and inode of directories, each asked for once; `None` where the system does not say.
#[derive(Debug, Default)]
pub(super) struct Identities(HashMap<PathBuf, Option<(u64, u64)>>);

impl Identities {
    fn of(&mut self, path: &Path) -> Option<(u64, u64)> {
        *self.0.entry(path.to_owned()).or_insert_with(|| beneath::identity(path).ok())
    }
}

#[derive(Debug, Default)]
pub(super) struct PathChain {
    /// Each link on the way, and what is at the end, by real names.
    steps: Vec<PathBuf>,
    /// Directories that a `..` leaves: a link instead of one leads elsewhere. Their content does not matter.
    left: Vec<PathBuf>,
}

pub(super) fn add(places: &mut ProtectedPaths, root: &Root, chain: &PathChain, identities: &mut Identities) {
    let same = root.dir.stat_beneath(Path::new("")).ok().map(|stat| stat.device_and_inode());
    let same = same.filter(|identity| *identity != (0, 0));
    for (paths, deep) in [(&chain.steps, true), (&chain.left, false)] {
        for below in paths.iter().flat_map(|path| below(root, same, path, identities)) {
            places.add(&below, deep, SERVER_FILE_RULE);
        }
    }
}

/// The path below the root, by its name and by every directory above that is the root itself: one directory has
/// two names where it is mounted twice.
fn below(root: &Root, same: Option<(u64, u64)>, path: &Path, identities: &mut Identities) -> Vec<PathBuf> {
    path.ancestors()
        .skip(1)
        .filter(|above| *above == root.canonical || same.is_some() && identities.of(above) == same)
        .filter_map(|above| path.strip_prefix(above).ok().map(Path::to_path_buf))
        .collect()
}

/// Follows an absolute path: each link on the way, and what is at its end, all by real
/// names. What does not exist keeps the name it would have.
#[expect(clippy::disallowed_methods, reason = "once at start-up, on trusted paths, before any call is served")]
fn chain(path: &Path) -> PathChain {
    let mut todo: VecDeque<OsString> = VecDeque::new();
    push_front(&mut todo, path);
    let mut at = base_of(path);
    let (mut steps, mut left) = (Vec::new(), Vec::new());
    while let Some(name) = todo.pop_front() {
        if name == ".." {
            left.push(at.clone());
            at.pop();
            continue;
        }
        let here = at.join(&name);
        match here.read_link() {
            Ok(target) if steps.len() < MAX_LINKS => {
                steps.push(here);
                push_front(&mut todo, &target);
                let start = base_of(&target);
                if !start.as_os_str().is_empty() {
                    at = start;
                }
            }
            _ => at = here,
        }
    }
    steps.push(at);
    if !cfg!(windows) {
        return PathChain { steps, left };
    }
    // In the form that roots have: Windows has several for one path.
    let real = |place: PathBuf| match (place.parent().map(Path::canonicalize), place.file_name()) {
        (Some(Ok(parent)), Some(name)) => without_verbatim(parent).join(name),
        _ => place,
    };
    let real = |paths: Vec<PathBuf>| paths.into_iter().map(real).collect();
    PathChain { steps: real(steps), left: real(left) }
}

/// The chains of all these files and of the roots themselves: a link to a root decides what the next start offers.
pub(super) fn all(files: &[PathBuf], roots: &[Arc<Root>]) -> PathChain {
    let mut given: Vec<&Path> =
        files.iter().map(PathBuf::as_path).chain(roots.iter().map(|root| root.given.as_path())).collect();
    given.sort_unstable();
    given.dedup();
    let mut all = PathChain::default();
    for chain in given.into_iter().map(chain) {
        all.steps.extend(chain.steps);
        all.left.extend(chain.left);
    }
    // By letters, too: where `..` follows a link, a client may take it out before it opens the path.
    all.steps.extend(files.iter().map(|file| lexically_normal(file)));
    for paths in [&mut all.steps, &mut all.left] {
        paths.sort_unstable();
        paths.dedup();
    }
    all
}

#[cfg(all(test, unix))]
mod tests {
    #![expect(clippy::disallowed_methods, reason = "the test arranges what is looked at")]

    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn chain_holds_every_link_and_the_target() {
        let temp = tempfile::tempdir().unwrap();
        let top = temp.path().canonicalize().unwrap();
        for folder in ["a/b", "c"] {
            fs::create_dir_all(top.join(folder)).unwrap();
        }
        fs::write(top.join("c/file"), "").unwrap();
        symlink("../../c", top.join("a/b/dir")).unwrap();
        symlink("a/b", top.join("ab")).unwrap();
        symlink(top.join("ab/dir/file"), top.join("conf")).unwrap();
        symlink("loop", top.join("loop")).unwrap();
        for (path, expected) in [
            ("c/file", &["c/file"][..]),
            ("conf", &["conf", "ab", "a/b/dir", "c/file"]),
            ("ab/dir/file", &["ab", "a/b/dir", "c/file"]),
            ("ab/../b/./dir/file", &["ab", "a/b/dir", "c/file"]),
            ("ab/dir/missing/x", &["ab", "a/b/dir", "c/missing/x"]),
            ("missing/x", &["missing/x"]),
        ] {
            let expected: Vec<PathBuf> = expected.iter().map(|name| top.join(name)).collect();
            assert_eq!(chain(&top.join(path)).steps, expected, "{path}");
        }
        let left = chain(&top.join("ab/../b/./dir/file")).left;
        assert_eq!(left, ["a/b", "a/b", "a"].map(|name| top.join(name)), "also those that the target of a link leaves");
        assert!(chain(&top.join("loop")).steps.len() <= MAX_LINKS + 1);
    }
}
