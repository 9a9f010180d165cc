//! Ignore rules from outside of a root: of the directories between it and the top of the repository that it is in, and
//! `info/exclude` of that repository.
//!
//! Read once, before the walls close; what changes later counts from the next start. Up to the nearest `.git`, and only
//! where that and each directory on the way belong to the owner of the root and are on its file system; nothing at or
//! above the home directory; regular files alone, without links on the way to them. So nobody else's files say what is
//! ignored, and none is opened that may hold a secret or never end.
//!
//! Limits: on Windows, where no owner is compared, and on macOS, which starts confined, no rule comes from above a root.
//! A submodule below a root whose repository is outside of all roots has no `info/exclude`.

use std::path::{Path, PathBuf};
use std::{io, sync::Arc};

use beneath::{Dir, FileKind, Stat};
use ignore::gitignore::Gitignore;

use super::ignores::{
    DirectoryIgnores, EXCLUDE_FILE, GITIGNORE_FILE, IGNORE_FILE, IgnoreRules, Ignores, LocatedDir, Rules, RulesAbove,
    STACK_MEMORY, compile, content,
};
use crate::disk_rules::worktree::{GIT_ENTRY, exclude_of, gitdir_of};
use crate::root::{Root, homes};
use crate::roots::Roots;

pub(crate) fn rules_above(roots: &Roots) -> Vec<RulesAbove> {
    let homes = homes();
    roots.list().iter().map(|root| find(roots, root, &homes).unwrap_or_default()).collect()
}

struct Above {
    path: PathBuf,
    dir: Dir,
}

fn find(roots: &Roots, root: &Arc<Root>, homes: &[PathBuf]) -> Option<RulesAbove> {
    let own = root.dir.open().ok().filter(|_| cfg!(unix))?.stat().ok()?;
    let is_ours = |stat: &Stat| {
        (stat.identity.uid, stat.identity.device) == (own.identity.uid, own.identity.device)
            && matches!(stat.kind, FileKind::Directory | FileKind::File)
    };
    let mut directories = Vec::new();
    for path in root.canonical.ancestors() {
        if path != root.canonical && homes.iter().any(|home| home.starts_with(path)) {
            return None;
        }
        let dir = Dir::open_ambient(path, false).ok()?;
        dir.stat().ok().filter(is_ours)?;
        let git = dir.child_stat(GIT_ENTRY.as_ref());
        directories.push(Above { path: path.to_owned(), dir });
        match git {
            Ok(git) => {
                is_ours(&git).then_some(())?;
                break;
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound && path.parent().is_some() => {}
            Err(_) => return None,
        }
    }
    directories.reverse();
    let top = directories.first()?.path.clone();
    let mut found =
        RulesAbove { from_top: root.canonical.strip_prefix(&top).ok()?.to_owned(), ..RulesAbove::default() };
    let exclude = elsewhere(roots, directories.first()?).map(|(path, bytes)| {
        found.files.push((path, bytes.clone()));
        bytes
    });
    if found.from_top.as_os_str().is_empty() {
        found.exclude = exclude;
        return Some(found);
    }
    directories.pop();
    let (mut rules, mut exclude) = (None::<Arc<DirectoryIgnores>>, exclude);
    let none = (Ignores::new(&IgnoreRules::default(), Vec::new()), RulesAbove::default());
    for Above { path, dir } in &directories {
        let relative = path.strip_prefix(&top).ok()?;
        let mut memory = rules.as_ref().map_or(0, |above| above.memory);
        let mut load = |name: &str, elsewhere: Option<Vec<u8>>| {
            let bytes = elsewhere.or_else(|| {
                let file = LocatedDir { root, relative: Path::new(""), dir }.open(name).ok()?;
                let bytes = beneath::file_stat(&file).ok().filter(is_ours).and_then(|_| content(&file).ok())?;
                found.files.push((path.join(name), bytes.clone()));
                Some(bytes)
            });
            let Some(bytes) = bytes else { return Gitignore::empty() };
            let compiled = compile(bytes, relative, STACK_MEMORY.saturating_sub(memory));
            memory += compiled.memory;
            compiled.rules
        };
        let repository = *path == top;
        let exclude = if repository { load(EXCLUDE_FILE, exclude.take()) } else { Gitignore::empty() };
        let (ignore, git) = (load(IGNORE_FILE, None), load(GITIGNORE_FILE, None));
        rules =
            Some(Arc::new(DirectoryIgnores { ignore, git, exclude, repository, outside: true, memory, above: rules }));
        // The next directory on the way to the root.
        let below = found.from_top.iter().take(relative.iter().count() + 1).collect::<PathBuf>();
        let asked = Rules { ignores: &none.0, roots, above: &none.1, needed: true };
        found.ignores_root |= asked.matched(rules.as_deref(), &below, true).is_ignore();
    }
    if found.ignores_root {
        let root = root.canonical.display();
        tracing::warn!("the ignore rules above {root} ignore all of it, so they are left out");
    } else {
        found.rules = rules;
    }
    Some(found)
}

/// `info/exclude` of a repository that a `.git` file names, outside of the roots: what is in one is read there.
fn elsewhere(roots: &Roots, top: &Above) -> Option<(PathBuf, Vec<u8>)> {
    let (_, gitdir) = gitdir_of(&top.dir)?;
    let read = |path: &Path| {
        let (parent, name) = (path.parent()?, path.file_name()?);
        // Without links on the way.
        let is_real =
            beneath::canonical(parent).is_ok_and(|real| real == parent) && roots.containing(path, false).is_none();
        let dir = Dir::open_ambient(parent, false).ok().filter(|_| is_real)?;
        content(&dir.child_file(name).ok()?).ok()
    };
    exclude_of(&top.path, &gitdir, &read).map(|bytes| (top.path.join(EXCLUDE_FILE), bytes))
}

#[cfg(all(test, unix))]
#[expect(clippy::disallowed_methods, reason = "a test makes the repositories of a person")]
mod tests {
    use std::fs;

    use super::*;
    use crate::{root::Access, shared::Workspace};

    #[test]
    fn nothing_at_or_above_the_home_directory_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().canonicalize().unwrap();
        fs::create_dir_all(top.join("home/project/.git")).unwrap();
        fs::create_dir_all(top.join("home/project/root")).unwrap();
        fs::create_dir(top.join(".git")).unwrap();
        fs::write(top.join("home/project/.gitignore"), "*.o\n").unwrap();
        let workspace = Workspace::of_directory(top.join("home/project/root"), Access::ReadOnly);
        let (roots, root) = (&workspace.shared.roots, &workspace.roots()[0]);
        let files = |home: &str| find(roots, root, &[top.join(home)]).map(|found| found.files.len());
        assert_eq!((files("home"), files("else")), (Some(1), Some(1)));
        assert_eq!((files("home/project"), files("home/project/root")), (None, None));
        fs::remove_dir(top.join("home/project/.git")).unwrap();
        assert_eq!((files("home"), files("else"), files("/nowhere")), (None, None, Some(1)));
    }
}
