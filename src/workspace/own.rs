//! What decides about the next start of the server, by every name on the way to it.
//!
//! A model that can exchange the configuration, or a link that leads to it, has other rights tomorrow. So the
//! real path of each such file and each link on the way to it are refused wherever they lie below a root. The
//! directories above need nothing: a tree that holds a refused name is neither moved nor deleted.

use std::collections::{HashMap, VecDeque};
use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use super::lexical::lexically_normal;
use super::policy::Places;
use super::root::Root;
use super::sys;

/// As many links as Linux follows in one path.
const MOST_LINKS: usize = 40;

/// Why a place is refused.
const WHY: &str = "a file that this server starts from, or a link to one";

/// The home directory by each of its names.
#[expect(clippy::disallowed_methods, reason = "once at start-up, on a trusted path, before any call is served")]
pub(super) fn home() -> Vec<PathBuf> {
    let Some(home) = std::env::home_dir().filter(|home| home.is_absolute()) else { return Vec::new() };
    let real = home.canonicalize();
    let mut homes: Vec<PathBuf> = std::iter::once(home).chain(real).collect();
    homes.dedup();
    homes
}

/// Device and inode of directories, each asked for once; `None` where the system does not say.
#[derive(Debug, Default)]
pub(super) struct Identities(HashMap<PathBuf, Option<(u64, u64)>>);

impl Identities {
    fn of(&mut self, path: &Path) -> Option<(u64, u64)> {
        if let Some(known) = self.0.get(path) {
            return *known;
        }
        let identity = sys::identity(path).ok();
        self.0.insert(path.to_owned(), identity);
        identity
    }
}

/// Where the paths of the files that a start reads lead.
#[derive(Debug, Default)]
pub(super) struct Way {
    /// Each link on the way, and what is at the end, by real names.
    places: Vec<PathBuf>,
    /// Directories that a `..` leaves: a link in the place of one leads elsewhere. What lies in them does not matter.
    left: Vec<PathBuf>,
}

/// Adds what lies below `root` of the places that `way` leads through.
pub(super) fn add(places: &mut Places, root: &Root, way: &Way, identities: &mut Identities) {
    let same = root.dir().stat().ok().map(|stat| stat.device_and_inode()).filter(|identity| *identity != (0, 0));
    for path in &way.places {
        for below in below(root, same, path, identities) {
            places.add(&below, WHY.to_owned());
        }
    }
    for path in &way.left {
        for below in below(root, same, path, identities) {
            places.add_entry(&below, WHY.to_owned());
        }
    }
}

/// The path below the root, by its name and by every directory above that is the root itself: one directory has
/// two names where it is mounted twice.
fn below(root: &Root, same: Option<(u64, u64)>, path: &Path, identities: &mut Identities) -> Vec<PathBuf> {
    path.ancestors()
        .skip(1)
        .filter(|above| *above == root.canonical() || same.is_some() && identities.of(above) == same)
        .filter_map(|above| path.strip_prefix(above).ok().map(Path::to_path_buf))
        .collect()
}

/// The places that an absolute path leads through: each link on the way, and what is at its end, all by real
/// names. What does not exist keeps the name it would have.
#[expect(clippy::disallowed_methods, reason = "once at start-up, on trusted paths, before any call is served")]
fn way(path: &Path) -> Way {
    let mut todo: VecDeque<OsString> = VecDeque::new();
    let mut at = push(&mut todo, path);
    let (mut places, mut left) = (Vec::new(), Vec::new());
    while let Some(name) = todo.pop_front() {
        if name == ".." {
            left.push(at.clone());
            at.pop();
            continue;
        }
        let here = at.join(&name);
        match here.read_link() {
            Ok(target) if places.len() < MOST_LINKS => {
                places.push(here);
                let start = push(&mut todo, &target);
                if !start.as_os_str().is_empty() {
                    at = start;
                }
            }
            _ => at = here,
        }
    }
    places.push(at);
    if !cfg!(windows) {
        return Way { places, left };
    }
    // In the form that roots have: Windows has several for one path.
    let real = |place: PathBuf| match (place.parent().map(Path::canonicalize), place.file_name()) {
        (Some(Ok(parent)), Some(name)) => parent.join(name),
        _ => place,
    };
    let real = |paths: Vec<PathBuf>| paths.into_iter().map(real).collect();
    Way { places: real(places), left: real(left) }
}

/// Puts the names of a path in front; returns what comes before them.
fn push(todo: &mut VecDeque<OsString>, path: &Path) -> PathBuf {
    for component in path.components().rev() {
        match component {
            Component::Normal(name) => todo.push_front(name.to_os_string()),
            Component::ParentDir => todo.push_front("..".into()),
            Component::CurDir | Component::Prefix(_) | Component::RootDir => {}
        }
    }
    path.components().take_while(|part| matches!(part, Component::Prefix(_) | Component::RootDir)).collect()
}

/// The places of all these files and of the roots themselves: a link to a root decides what is offered tomorrow.
pub(super) fn all(files: &[PathBuf], roots: &[Arc<Root>]) -> Way {
    let mut given: Vec<&Path> =
        files.iter().map(PathBuf::as_path).chain(roots.iter().map(|root| root.as_given())).collect();
    given.sort_unstable();
    given.dedup();
    let mut all = Way::default();
    for way in given.into_iter().map(way) {
        all.places.extend(way.places);
        all.left.extend(way.left);
    }
    // By letters, too: where `..` follows a link, a client may take it out before it opens the path.
    all.places.extend(files.iter().map(|file| lexically_normal(file)));
    for paths in [&mut all.places, &mut all.left] {
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
    fn places_are_every_link_on_the_way_and_the_end() {
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
            assert_eq!(way(&top.join(path)).places, expected, "{path}");
        }
        let left = way(&top.join("ab/../b/./dir/file")).left;
        assert_eq!(left, ["a/b", "a/b", "a"].map(|name| top.join(name)), "also those that the target of a link leaves");
        assert!(way(&top.join("loop")).places.len() <= MOST_LINKS + 1);
    }
}
