//! One root: a directory opened once at start-up, with its rights, its rules and the name it is shown by.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use super::lexical::lexically_normal;
use super::policy::StartupRules;
use super::{Dir, Policy, PolicyRules, Revision, sys};

/// What may be done below a root.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Reading only.
    ReadOnly,
    /// Reading and writing.
    ReadWrite,
}

impl Access {
    /// It in words, with whether the content is untrusted.
    pub fn rights(self, is_untrusted: bool) -> &'static str {
        match (self, is_untrusted) {
            (Self::ReadOnly, false) => "read-only",
            (Self::ReadOnly, true) => "read-only, untrusted",
            (Self::ReadWrite, false) => "read-write",
            (Self::ReadWrite, true) => "read-write, untrusted",
        }
    }
}

/// One configured root, as the configuration validated it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RootSpec {
    /// The mount name: a bare name or a virtual absolute path. None: chosen here.
    pub name: Option<String>,
    /// The host directory.
    pub path: PathBuf,
    /// The rights below it.
    pub access: Access,
    /// Rules below it alone, added to those of all roots.
    pub policy: PolicyRules,
}

/// A root, opened once. Everything below it is reached through its handle.
pub struct Root {
    pub(super) index: usize,
    name: Option<String>,
    /// What is printed before a relative path, "" for a single unnamed root.
    pub(super) prefix: String,
    access: Access,
    own_rules: PolicyRules,
    policy: Arc<Policy>,
    /// The same with what start-up found on the disk.
    startup_policy: OnceLock<Policy>,
    key: String,
    pub(super) canonical: PathBuf,
    /// The absolute path as it was configured, which may lead through links.
    pub(super) configured: PathBuf,
    /// The absolute path as it was given, links and `..` included.
    pub(super) given: PathBuf,
    pub(super) dir: Dir,
    /// A path that led to `dir` at start-up, with the device and inode of `dir`. None if the system has no such
    /// numbers, or where they change.
    identity: Option<(PathBuf, (u64, u64))>,
}

/// How a root disappeared while it was served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RootGone {
    /// It was deleted, and nothing is in its place.
    Deleted,
    /// It was moved away, or a directory above it was.
    Moved,
    /// Another directory is in its place: made or moved there, mounted over it, or a link on the way
    /// leads there now.
    Replaced,
}

impl fmt::Display for RootGone {
    /// As the end of a sentence about the root.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Deleted => "was deleted after the server started",
            Self::Moved => "was moved away or renamed after the server started",
            Self::Replaced => {
                "was replaced after the server started: another directory, or a mounted file system, is in its place"
            }
        })
    }
}

/// A configured directory, open, before it has its number and its name.
pub(super) struct OpenedRoot<'s> {
    pub(super) spec: &'s RootSpec,
    pub(super) canonical: PathBuf,
    configured: PathBuf,
    dir: Dir,
}

impl<'s> OpenedRoot<'s> {
    /// The one place where a path is made canonical: the configuration is trusted, and everything later goes
    /// through the handle.
    #[expect(clippy::disallowed_methods, reason = "once at start-up, on trusted paths, before any call is served")]
    pub(super) fn open(spec: &'s RootSpec, force_component: bool) -> io::Result<Self> {
        let canonical = spec.path.canonicalize()?;
        let configured = lexically_normal(&std::path::absolute(&spec.path)?);
        let dir = Dir::open_ambient(&canonical, force_component)?;
        Ok(Self { spec, canonical, configured, dir })
    }

    pub(super) fn serve(self, index: usize, name: Option<String>, policy: Arc<Policy>) -> Root {
        let Self { spec, canonical, configured, dir } = self;
        Root {
            index,
            prefix: name.clone().unwrap_or_default(),
            name,
            access: spec.access,
            policy,
            own_rules: spec.policy.clone(),
            key: Revision::of(canonical.as_os_str().as_encoded_bytes()).to_string(),
            identity: lasting_identity(&configured, &canonical, &dir),
            canonical,
            configured,
            given: std::path::absolute(&spec.path).unwrap_or_else(|_| spec.path.clone()),
            dir,
            startup_policy: OnceLock::new(),
        }
    }
}

/// A path that leads to the root, and its device and inode: the path as it was configured, where that leads to it.
fn lasting_identity(configured: &Path, canonical: &Path, dir: &Dir) -> Option<(PathBuf, (u64, u64))> {
    let identity = dir.stat().ok()?.device_and_inode();
    let leads_there = |path: &&Path| identity != (0, 0) && sys::identity(path).is_ok_and(|found| found == identity);
    let path = [configured, canonical].into_iter().find(leads_there)?;
    Some((path.to_path_buf(), identity))
}

impl Root {
    /// The mount name, if the root has one.
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// The rights below it.
    pub fn access(&self) -> Access {
        self.access
    }

    /// Whether names and text below it may be written by people who want to mislead a model.
    pub fn is_untrusted(&self) -> bool {
        self.policy().untrusted
    }

    /// What may be done below it, and whether its content is untrusted, in words.
    pub fn rights(&self) -> &'static str {
        self.access.rights(self.is_untrusted())
    }

    /// The rules that count below it alone.
    pub fn own_rules(&self) -> &PolicyRules {
        &self.own_rules
    }

    /// What is printed for the root itself: its mount name, or ".".
    pub fn public(&self) -> String {
        if self.prefix.is_empty() { ".".to_owned() } else { self.prefix.clone() }
    }

    /// A stable id: 32 hexadecimal digits of a hash of the canonical host path.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// Whether the directory that was opened at start-up is still the one at its path. The handle alone does not show
    /// it: through it a deleted directory is an empty one, and a moved one works as before.
    pub(super) fn presence(&self) -> Result<(), RootGone> {
        let Some((path, known)) = &self.identity else { return Ok(()) };
        match sys::identity(path) {
            Ok(now) if now == *known => Ok(()),
            Ok(_) => Err(RootGone::Replaced),
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                let deleted = self.dir.stat().is_ok_and(|stat| stat.links() == 0);
                Err(if deleted { RootGone::Deleted } else { RootGone::Moved })
            }
            // A directory above it may have become unreadable (EACCES): that says nothing about the root.
            Err(_) => Ok(()),
        }
    }

    /// Whether [`Self::presence`] is known without waiting, and the root is there.
    pub(super) fn is_present_cached(&self) -> bool {
        self.identity.as_ref().is_none_or(|(path, known)| sys::identity_cached(path) == Some(*known))
    }

    /// The rules in force below it: those of all roots, its own, and what start-up found.
    pub(super) fn policy(&self) -> &Policy {
        self.startup_policy.get().unwrap_or(&self.policy)
    }

    /// Adds what start-up found. Once, before any call is served.
    pub(super) fn add_startup_rules(&self, rules: StartupRules) {
        let _ = self.startup_policy.set(self.policy.with_startup_rules(rules));
    }
}

impl fmt::Debug for Root {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Root({}, {:?})", self.public(), self.access)
    }
}
