//! A path lexically inside one root: the only kind of path that the rest of the program has.
//!
//! Made by `resolve` and by the walk. It does not prove that anything is there; opening is
//! what finds out.

mod resource_uri;

use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};
use std::{cmp::Ordering, ffi::OsStr, fmt, sync::Arc};

use crate::{policy::Verdict, root::Root};
use text_file::escape::{escape_difference, escape_name};

/// A root and a path below it without `.`, `..` or empty components. Prints its public form, never
/// a host path. Cheap to clone.
///
/// # Examples
/// ```
/// use confined_fs::{Access, WorkspaceOptions, PolicyRules, RootSpec, Workspace};
///
/// let folder = tempfile::tempdir().unwrap();
/// let path = folder.path().to_owned();
/// let root = RootSpec { name: Some("app".into()), path, access: Access::ReadOnly, policy: PolicyRules::default(),
/// optional: false }; let workspace = Workspace::open(&[root], WorkspaceOptions::default()).unwrap().workspace;
///
/// let path = workspace.resolve("src/./lib/../main.rs").unwrap();
/// assert_eq!(path.to_string(), "app/src/main.rs");
/// assert_eq!(workspace.resolve(&path.to_string()).unwrap(), path);
/// assert!(workspace.resolve("../other").is_err());
/// ```
#[derive(Clone)]
pub struct WorkspacePath {
    root: Arc<Root>,
    relative: Arc<Path>,
}

impl WorkspacePath {
    /// `relative` must hold normal components only.
    pub(super) fn new(root: &Arc<Root>, relative: &Path) -> Self {
        Self { root: Arc::clone(root), relative: Arc::from(relative) }
    }

    pub fn root(&self) -> &Arc<Root> {
        &self.root
    }

    pub fn is_root(&self) -> bool {
        self.relative.as_os_str().is_empty()
    }

    pub fn file_name(&self) -> Option<&OsStr> {
        self.relative.file_name()
    }

    pub fn parent(&self) -> Option<Self> {
        Some(Self::new(&self.root, self.relative.parent()?))
    }

    /// The path below the root, "" for the root. For matching and the ledger, never for text.
    pub fn relative(&self) -> &Path {
        &self.relative
    }

    /// The path below `base`, "" when they are equal. The whole relative path when `base` is no
    /// ancestor.
    pub fn relative_to(&self, base: &Self) -> &Path {
        base.rest_of(&self.relative)
    }

    pub fn rest_of<'p>(&self, relative: &'p Path) -> &'p Path {
        if self.is_root() { relative } else { relative.strip_prefix(&self.relative).unwrap_or(relative) }
    }

    pub fn is_in(&self, tree: &Self) -> bool {
        self.root.index == tree.root.index && self.relative.starts_with(&tree.relative)
    }

    pub fn display_name(&self) -> String {
        self.file_name().map_or_else(|| ".".to_owned(), |name| escape_name(name).into_owned())
    }

    #[must_use]
    pub fn child(&self, relative: &Path) -> Self {
        if relative.as_os_str().is_empty() {
            return self.clone();
        }
        Self::new(&self.root, &self.relative.join(relative))
    }

    /// Whether policy treats it as not there.
    #[doc(hidden)]
    pub fn hidden(&self) -> bool {
        self.root.policy().hidden(&self.relative)
    }

    /// Whether policy denies the content there; the path must be a real one.
    pub(super) fn secret(&self) -> bool {
        self.root.policy().content(&self.relative) != Verdict::Allowed
    }

    /// The canonical host path. For keys and comparison inside this crate and `change-set` only.
    #[doc(hidden)]
    pub fn host(&self) -> PathBuf {
        self.root.canonical.join(&self.relative)
    }
}

impl fmt::Display for WorkspacePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let prefix = self.root.name().unwrap_or_default();
        if self.is_root() {
            return f.write_str(if prefix.is_empty() { "." } else { prefix });
        }
        let mut separator = "/";
        if prefix.is_empty() {
            separator = "";
            // A name like `~` or `@x` or `"x"` must come back as a name, not as what it looks like.
            let bytes = self.relative.as_os_str().as_encoded_bytes();
            let is_quoted =
                bytes.len() > 1 && matches!(bytes, [b'"', .., b'"'] | [b'\'', .., b'\''] | [b'`', .., b'`']);
            if matches!(bytes, [b'~' | b'@', ..]) || is_quoted || bytes.starts_with(b"#file:") {
                f.write_str("./")?;
            }
        } else {
            f.write_str(prefix)?;
        }
        for name in self.relative.as_ref() {
            f.write_str(separator)?;
            f.write_str(&if f.alternate() { escape_difference(name) } else { escape_name(name) })?;
            separator = "/";
        }
        Ok(())
    }
}

impl fmt::Debug for WorkspacePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "WorkspacePath({self})")
    }
}

impl PartialEq for WorkspacePath {
    fn eq(&self, other: &Self) -> bool {
        // By bytes: to compare two values of `Path` takes both apart into their names.
        self.root.index == other.root.index && self.relative.as_os_str() == other.relative.as_os_str()
    }
}

impl Eq for WorkspacePath {}

impl Hash for WorkspacePath {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.root.index.hash(state);
        self.relative.as_os_str().hash(state);
    }
}

impl PartialOrd for WorkspacePath {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for WorkspacePath {
    /// By root in the order given, then component by component, by bytes.
    fn cmp(&self, other: &Self) -> Ordering {
        self.root.index.cmp(&other.root.index).then_with(|| path_order(&self.relative, &other.relative))
    }
}

/// A path without its last name, and that name.
///
/// As [`Path::parent`] and [`Path::file_name`] for a path below a root; these each parse the path from its end.
pub fn split_path(path: &Path) -> Option<(&Path, &OsStr)> {
    #[cfg(unix)]
    {
        use std::os::unix::ffi::OsStrExt as _;
        let bytes = path.as_os_str().as_bytes();
        let slash = memchr::memrchr(b'/', bytes);
        let (parent, name) = slash.map_or((&bytes[..0], bytes), |at| (&bytes[..at], &bytes[at + 1..]));
        (!name.is_empty() && slash != Some(0)).then(|| (Path::new(OsStr::from_bytes(parent)), OsStr::from_bytes(name)))
    }
    #[cfg(not(unix))]
    {
        Some((path.parent()?, path.file_name()?))
    }
}

/// The order of two paths below one root: component by component, by bytes.
pub fn path_order(one: &Path, other: &Path) -> Ordering {
    // A separator before every byte of a name: all that is in `a` comes before `a-b`.
    let rank = |byte: &u8| if std::path::is_separator(char::from(*byte)) { 0 } else { *byte };
    let [one, other] = [one, other].map(|path| path.as_os_str().as_encoded_bytes());
    one.iter().map(rank).cmp(other.iter().map(rank))
}
