//! The last names of a path, as a person writes them who does not write the whole: `index.ts`, `app/index.ts`.
//!
//! Says which texts are that and which paths they fit. Does not look for those.

use std::ffi::{OsStr, OsString};

use beneath::lexical::is_same_name;

use super::resolve::{is_mention, peeled, relative_names, without_shell_escapes};
use crate::{AccessErrorKind, Workspace, WorkspacePath};

/// One or more names at the end of a path.
///
/// # Examples
/// ```
/// use confined_fs::{Access, WorkspaceOptions, PolicyRules, RootSpec, Workspace};
///
/// let folder = tempfile::tempdir().unwrap();
/// let path = folder.path().to_owned();
/// let root = RootSpec { name: None, path, access: Access::ReadOnly, policy: PolicyRules::default(), optional: false };
/// let workspace = Workspace::open(&[root], WorkspaceOptions::default()).unwrap().workspace;
///
/// let tail = workspace.tail_of("@app/index.ts").unwrap();
/// assert!(tail.fits(&workspace.resolve("src/app/index.ts").unwrap()));
/// assert!(!tail.fits(&workspace.resolve("src/myapp/index.ts").unwrap()));
/// assert!(workspace.tail_of("./index.ts").is_none());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathSuffix {
    names: Vec<OsString>,
    /// Whether it was written with an `@` or `#file:`: it is the name of something that exists.
    pub is_mention: bool,
    /// Whether it ends with a slash: it is the name of a directory.
    pub is_directory: bool,
}

impl PathSuffix {
    /// Whether it is a single name.
    pub fn is_bare(&self) -> bool {
        self.names.len() == 1
    }

    /// Whether the printed path ends with these names.
    pub fn fits(&self, path: &WorkspacePath) -> bool {
        self.fits_by(path, |own, name| own == name)
    }

    /// As [`Self::fits`], with names that may differ in case.
    pub fn fits_in_other_case(&self, path: &WorkspacePath) -> bool {
        self.fits_by(path, is_same_name)
    }

    fn fits_by(&self, path: &WorkspacePath, is_same: impl Fn(&OsStr, &OsStr) -> bool) -> bool {
        let mount = path.root().name().unwrap_or_default().rsplit('/').filter(|name| !name.is_empty()).map(OsStr::new);
        let mut own = path.relative().iter().rev().chain(mount);
        // The root itself is no file of that name.
        !path.is_root() && self.names.iter().rev().all(|name| own.next().is_some_and(|own| is_same(own, name)))
    }
}

impl Workspace {
    /// `text` as the end of a path: `None` if it says where it begins, by a slash, `~`, a scheme, the name of a root, or a
    /// `.` or `..` in it, and if it is no path at all.
    pub fn tail_of(&self, text: &str) -> Option<PathSuffix> {
        let is_mention = is_mention(text);
        let inner = *peeled(text).last()?;
        let unescaped = is_mention.then(|| without_shell_escapes(inner)).flatten();
        let inner = unescaped.as_deref().unwrap_or(inner);
        let names = relative_names(&self.shared.roots, inner)?;
        Some(PathSuffix { names, is_mention, is_directory: inner.ends_with(std::path::is_separator) })
    }

    /// Whether nothing has this path, not even a link that leads nowhere. What policy hides is not there.
    pub fn is_missing(&self, path: &WorkspacePath) -> bool {
        let is_missing = self.shared.stat(path).is_err_and(|error| error.kind == AccessErrorKind::NotFound);
        is_missing && !self.is_visible_entry(path)
    }

    /// Whether a name is there, links at the end of the path not followed.
    fn is_visible_entry(&self, path: &WorkspacePath) -> bool {
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else { return true };
        let Ok(parent) = self.shared.locate(&parent) else { return false };
        let way = parent.child(&self.shared.roots, name.as_ref());
        !way.hidden() && way.real.root().dir.stat_beneath(way.real.relative()).is_ok()
    }
}
