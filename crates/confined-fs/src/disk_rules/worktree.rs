//! Recognises a linked worktree of git by the `.git` file in its top directory, which names `<common>/worktrees/ID`
//! (gitrepository-layout(5)): another checkout of a repository, with the same files once more.
//!
//! Decided lexically by that path alone, as the repository may be outside of every root. That of a submodule is in
//! `<common>/modules/` and begins no other checkout, even inside a worktree; nor does a repository that was made with
//! `--separate-git-dir`.
//!
//! # Limits
//! Anybody who can write a `.git` file can make a directory look like one: it is left out of searches of what is above
//! it, which they say, and is searched as soon as it is named itself. A submodule at a path such as `a/worktrees/b` is
//! taken for a worktree of the submodule `a`, as git gives both the same directory.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use beneath::{Dir, lexical::lexically_normal};

use crate::{root::Root, roots::Roots};
use text_file::escape::name_of;

/// Where it is, a repository begins: git's rules from above end there.
pub(crate) const GIT_ENTRY: &str = ".git";

/// Longest `.git` file that is read, in bytes: the longest path, and what is before and after it. A longer one is none.
const MAX_BYTES: u64 = 4 << 10;

/// The path of the repository that the `.git` file in `dir` names, as it is written there: absolute, or from `dir`; and
/// the whole content of that file. `None` where there is no such regular file, as for a link.
pub(crate) fn gitdir_of(dir: &Dir) -> Option<(Vec<u8>, PathBuf)> {
    let content = beneath::read_regular(&dir.child_file(GIT_ENTRY.as_ref()).ok()?, MAX_BYTES + 1).ok()??;
    let gitdir = PathBuf::from(named_path(&content).filter(|_| content.len() as u64 <= MAX_BYTES)?);
    Some((content, gitdir))
}

/// The path after `gitdir: `, as git reads it (`read_gitfile_gently` in its `setup.c`).
fn named_path(content: &[u8]) -> Option<&OsStr> {
    let end = content.iter().rposition(|byte| !b"\r\n".contains(byte))? + 1;
    let path = content[..end].strip_prefix(b"gitdir: ").filter(|path| !path.is_empty())?;
    #[cfg(unix)]
    return Some(std::os::unix::ffi::OsStrExt::from_bytes(path));
    #[cfg(not(unix))]
    str::from_utf8(path).ok().map(OsStr::new)
}

/// Whether the path of a repository is that of a linked worktree, by its last three names.
pub(crate) fn names_worktree(gitdir: &Path) -> bool {
    let mut names = gitdir.iter().rev();
    names.next().is_some_and(|id| id != "..")
        && names.next().is_some_and(|name| name == "worktrees")
        && names.next().is_none_or(|above| above != "modules")
}

/// `info/exclude` of the repository that the `.git` file in `checkout` names, where the repository names that directory
/// as its checkout: in `gitdir` of a linked worktree, whose file is that of the repository it belongs to, or as
/// `core.worktree` of a submodule. Both paths are without links; `read` gives the content of a file.
pub(crate) fn exclude_of(checkout: &Path, gitdir: &Path, read: &dyn Fn(&Path) -> Option<Vec<u8>>) -> Option<Vec<u8>> {
    let git = lexically_normal(&checkout.join(gitdir));
    let is_worktree = names_worktree(&git);
    let named = if is_worktree {
        name_of(read(&git.join("gitdir"))?.trim_ascii_end().to_vec()).map(PathBuf::from)
    } else {
        let config = String::from_utf8(read(&git.join("config"))?).ok()?;
        let value = |line: &str| Some(line.trim().strip_prefix("worktree")?.trim_start().strip_prefix('=')?.to_owned());
        config.lines().find_map(value).map(|path| Path::new(path.trim()).join(GIT_ENTRY))
    };
    let is_named_back = lexically_normal(&git.join(named?)) == checkout.join(GIT_ENTRY);
    let common = if is_worktree { git.parent()?.parent()? } else { &git };
    is_named_back.then(|| read(&common.join("info/exclude"))).flatten()
}

pub(crate) fn is_linked(dir: &Dir) -> bool {
    gitdir_of(dir).is_some_and(|(_, gitdir)| names_worktree(&gitdir))
}

/// Whether a walk of what is above it leaves out `dir`, the directory at a real path below `root`: the top of a linked
/// worktree, unless it is a root itself, which a person has named.
pub(crate) fn is_left_out(roots: &Roots, root: &Root, path: &Path, dir: &Dir) -> bool {
    let is_root = || {
        path.as_os_str().is_empty()
            || roots.nested_root(root, path).is_some_and(|(_, rest)| rest.as_os_str().is_empty())
    };
    is_linked(dir) && !is_root()
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "a test makes the repositories of a person")]
mod tests {
    use std::fs;

    use super::*;

    /// Paths as git writes them after `gitdir: `, and whether each is that of a linked worktree.
    const GITDIR_SHAPES: &[(&str, bool)] = &[
        ("/r/.git/worktrees/a", true),
        ("/bare.git/worktrees/a", true),
        // Of a submodule.
        ("/r/.git/modules/sub/worktrees/a", true),
        ("/r/.git/modules/lib/sub/worktrees/a", true),
        // Of a repository in a directory with a name of git's own.
        ("/modules/r/.git/worktrees/a", true),
        ("/worktrees/.git/worktrees/worktrees", true),
        ("/r/.git/worktrees/modules", true),
        ("/r/.git/worktrees/with space", true),
        ("/r/.git/worktrees/a/", true),
        // As `worktree.useRelativePaths` has them: beside the repository, and in a bare one.
        ("../.git/worktrees/a", true),
        ("../worktrees/a", true),
        // A submodule, one in a worktree, one in a submodule, and those that are called so.
        ("../.git/modules/sub", false),
        ("/r/.git/modules/sub", false),
        ("/r/.git/worktrees/a/modules/sub", false),
        ("/r/.git/modules/sub/modules/inner", false),
        ("/r/.git/modules/worktrees", false),
        ("/r/.git/modules/worktrees/x", false),
        ("../../.git/modules/worktrees/x", false),
        // `--separate-git-dir`, and what is no directory of a worktree.
        ("/elsewhere/r.git", false),
        ("/worktrees/r/.git", false),
        ("/r/.git/worktrees", false),
        ("/r/.git/worktrees/", false),
        ("/r/.git/worktrees/a/..", false),
        ("/r/.git/worktrees/../modules", false),
        ("/r/.git/worktrees/a/b", false),
        ("/r/.git/Worktrees/a", false),
        ("/r/.git/myworktrees/a", false),
        ("worktrees", false),
        ("a", false),
        ("/", false),
        ("..", false),
    ];

    fn opened(path: &Path) -> Dir {
        Dir::open_ambient(path, false).unwrap()
    }

    #[test]
    fn every_shape_of_a_path_is_known_by_its_letters() {
        let folder = tempfile::tempdir().unwrap();
        for (path, is_worktree) in GITDIR_SHAPES {
            assert_eq!(names_worktree(Path::new(path)), *is_worktree, "{path}");
            for end in ["\n", "", "\r\n"] {
                let content = format!("gitdir: {path}{end}");
                fs::write(folder.path().join(".git"), &content).unwrap();
                let dir = opened(folder.path());
                assert_eq!(gitdir_of(&dir), Some((content.into_bytes(), PathBuf::from(path))), "{path}");
                assert_eq!(is_linked(&dir), *is_worktree, "{path}");
            }
        }
    }

    #[test]
    fn what_is_no_file_of_git_names_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let (dir, git) = (opened(folder.path()), folder.path().join(".git"));
        assert_eq!(gitdir_of(&dir), None);
        fs::create_dir(&git).unwrap();
        assert_eq!(gitdir_of(&dir), None);
        fs::remove_dir(&git).unwrap();

        let named = "gitdir: /r/.git/worktrees/a\n";
        let (long, longest) = (format!("{named}{}", "\n".repeat(5000)), format!("{named:\n<4096}"));
        let zebra = format!("gitdir: /{}/.git/worktrees/a\n", "z".repeat(4096));
        let other_case = named.replace("gitdir", "GITDIR");
        for content in
            ["", "\n", "gitdir:", "gitdir: ", "gitdir: \n", &other_case, &format!(" {named}"), "/r/.git/worktrees/a"]
        {
            fs::write(&git, content).unwrap();
            assert_eq!(gitdir_of(&dir), None, "{content:?}");
        }
        for (content, is_worktree) in [(&*long, false), (&zebra, false), (&longest, true)] {
            fs::write(&git, content).unwrap();
            assert_eq!(is_linked(&dir), is_worktree, "{}", content.len());
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_link_a_pipe_and_bytes_that_are_no_text() {
        use std::os::unix::{ffi::OsStrExt as _, fs::symlink};

        let folder = tempfile::tempdir().unwrap();
        let (dir, git) = (opened(folder.path()), folder.path().join(".git"));
        let honest = folder.path().join("honest");
        fs::write(&honest, "gitdir: /r/.git/worktrees/a\n").unwrap();
        symlink(&honest, &git).unwrap();
        assert_eq!(gitdir_of(&dir), None);
        fs::remove_file(&git).unwrap();

        // Nobody writes into it: reading it would never end.
        let made = std::process::Command::new("mkfifo").arg(&git).status();
        if made.is_ok_and(|status| status.success()) {
            assert_eq!(gitdir_of(&dir), None);
            fs::remove_file(&git).unwrap();
        }

        fs::write(&git, b"gitdir: /r\xff/.git/worktrees/a\xfe\n").unwrap();
        let path = OsStr::from_bytes(b"/r\xff/.git/worktrees/a\xfe");
        assert_eq!(gitdir_of(&dir).map(|(_, gitdir)| gitdir), Some(PathBuf::from(path)));
        assert!(is_linked(&dir));
    }
}
