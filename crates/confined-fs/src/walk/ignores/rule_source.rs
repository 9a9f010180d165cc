//! Where ignore rules are read from: a file in an open directory, or what a link of that name leads to.
//!
//! Rules are read by policy as any other content: a link counts, as it does for ripgrep, when what it leads to is
//! in a root and no secret, so that a repository cannot make the server read a file outside. git itself follows no
//! link of that name in the work tree since 2.32 (gitignore(5), NOTES).

use std::fs::File;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::{self, Read as _};
use std::path::Path;
use std::sync::Arc;

use beneath::{Failure, FileKind, OpenFor};

use crate::{Dir, Limit, Root, Roots, WorkspacePath, links};

use super::compile_ignores::LONGEST;
use super::{EXCLUDE, GIT};

/// What rules were read from, for a caller that caches what they ignore.
#[derive(Debug)]
pub(crate) enum RuleSource<'f> {
    /// A file of that name, which is open and has not been read yet.
    File(&'f File),
    /// A link, or a name behind one, with a hash of what was read ([`linked_content`]).
    Link(u64),
    /// What was read, after all else; `None` where nothing can be.
    Content(Option<&'f [u8]>),
}

/// Called for each file that rules are read from, with its path below the directory that is looked at.
pub(super) type OnSource<'r> = &'r mut dyn FnMut(&'static str, RuleSource<'_>);

/// A directory that may have ignore files: its path below its root, and its handle.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LocatedDir<'h> {
    pub(crate) root: &'h Arc<Root>,
    pub(crate) relative: &'h Path,
    pub(crate) dir: &'h Dir,
}

impl LocatedDir<'_> {
    /// The content of an ignore file in it; `None` where it cannot be read.
    ///
    /// # Errors
    /// When too many files are open.
    pub(crate) fn read(
        &self,
        name: &'static str,
        roots: &Roots,
        on_source: OnSource<'_>,
    ) -> io::Result<Option<Vec<u8>>> {
        match self.open(name) {
            Ok(file) => {
                on_source(name, RuleSource::File(&file));
                Ok(content(&file).ok())
            }
            Err(error) if Limit::of_open_files(&error).is_some() => Err(error),
            Err(error) if is_link(&error) => {
                let bytes = read_linked(roots, self.root, &self.relative.join(name))?.unwrap_or_default();
                on_source(name, RuleSource::Link(hash(&bytes)));
                Ok(Some(bytes))
            }
            Err(_) => Ok(None),
        }
    }

    /// Opens a file of rules in it, links refused.
    fn open(&self, name: &str) -> io::Result<File> {
        if name != EXCLUDE {
            return self.dir.child_file(name.as_ref());
        }
        let git = self.dir.child_dir(GIT.as_ref(), OpenFor::Traverse).map_err(|error| {
            // Linked worktrees and submodules have a file of that name (gitrepository-layout(5)): nothing is below it.
            let is_file = || self.dir.child_stat(GIT.as_ref()).is_ok_and(|stat| stat.kind == FileKind::File);
            if is_link(&error) && is_file() { io::ErrorKind::NotFound.into() } else { error }
        })?;
        git.child_dir("info".as_ref(), OpenFor::Traverse)?.child_file("exclude".as_ref())
    }
}

/// A hash of the rules that a link leads to, as they are now; that of no rules where it leads to none.
pub(crate) fn linked_content(roots: &Roots, link: &WorkspacePath) -> u64 {
    let bytes = read_linked(roots, link.root(), link.relative());
    hash(&bytes.ok().flatten().unwrap_or_default())
}

/// What a link to a file of rules leads to: only inside the roots, and nothing that policy hides or denies. `None`
/// where that is nothing.
///
/// # Errors
/// When too many files are open for the link to be followed.
fn read_linked(roots: &Roots, root: &Arc<Root>, relative: &Path) -> io::Result<Option<Vec<u8>>> {
    let nothing_or = |error: Option<io::Error>| match error {
        Some(error) if Limit::of_open_files(&error).is_some() => Err(error),
        _ => Ok(None),
    };
    let way = match links::follow(roots, &WorkspacePath::new(root, relative)) {
        Ok(way) => way,
        Err(error) => return nothing_or(error.source),
    };
    if way.hidden() || way.secret() {
        return Ok(None);
    }
    match way.real.root().dir.file_beneath(way.real.relative()) {
        Ok(file) => Ok(content(&file).ok()),
        Err(Failure::Io(error)) => nothing_or(Some(error)),
        Err(Failure::Link) => Ok(None),
    }
}

fn content(file: &File) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    if beneath::file_stat(file)?.kind == FileKind::File {
        file.take(LONGEST + 1).read_to_end(&mut bytes)?;
    }
    Ok(bytes)
}

fn hash(bytes: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    bytes.hash(&mut hasher);
    hasher.finish()
}

/// Whether an open with links refused may have failed because of one: with `O_DIRECTORY` that is `ENOTDIR`.
fn is_link(error: &io::Error) -> bool {
    beneath::met_a_link(error) || error.kind() == io::ErrorKind::NotADirectory
}
