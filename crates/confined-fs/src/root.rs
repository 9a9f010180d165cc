//! One root: a directory opened once at start-up, with its rights, its rules and the name it is shown by.

mod optional_root;
mod root_dir;

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::{collections::HashSet, fmt, io};

use beneath::lexical::{lexically_normal, without_verbatim};
use beneath::{OpenFor, StableInodes};

use crate::policy::{Policy, PolicyRules, StartupRules};
use crate::revision::Revision;
use optional_root::nearest;
use root_dir::RootDir;
use text_file::escape::{escape_name, is_invisible};

pub use optional_root::RootGone;
pub(super) use optional_root::{OptionalRoot, homes};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// All below it is read and never changed.
    ReadOnly,
    /// All below it is read and changed, as far as policy allows.
    ReadWrite,
}

impl Access {
    /// It as text, with whether the content is untrusted.
    pub fn rights(self, is_untrusted: bool) -> &'static str {
        match (self, is_untrusted) {
            (Self::ReadOnly, false) => "read-only",
            (Self::ReadOnly, true) => "read-only, untrusted",
            (Self::ReadWrite, false) => "read-write",
            (Self::ReadWrite, true) => "read-write, untrusted",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RootSpec {
    /// The mount name: a bare name or a virtual absolute path. None: chosen here.
    pub name: Option<String>,
    /// The directory of the host, absolute or relative to that of the process.
    pub path: PathBuf,
    pub access: Access,
    pub policy: PolicyRules,
    /// Whether it may be missing at the start: it is then served from the moment it exists.
    pub optional: bool,
}

/// A root, opened once. Everything below it is reached through its handle.
pub struct Root {
    pub(super) index: usize,
    name: Option<String>,
    access: Access,
    own_rules: PolicyRules,
    policy: Arc<Policy>,
    startup_policy: OnceLock<Policy>,
    appeared_policy: OnceLock<Policy>,
    key: String,
    pub(super) canonical: PathBuf,
    /// The absolute path as it was configured, which may lead through links.
    pub(super) configured: PathBuf,
    pub(super) given: PathBuf,
    pub(super) dir: RootDir,
    /// A path that led to the held directory at start-up, with its device and inode. None if the system has no such
    /// numbers, or where they change.
    identity: Option<(PathBuf, (u64, u64))>,
    pub(super) optional: Option<OptionalRoot>,
    unusable: Option<RootGone>,
    /// The checkouts of the repository that it is in, as they were at the start.
    pub(super) checkouts: OnceLock<Checkouts>,
}

pub(super) struct OpenedRoot<'s> {
    pub(super) spec: &'s RootSpec,
    pub(super) canonical: PathBuf,
    configured: PathBuf,
    pub(super) dir: RootDir,
    held: PathBuf,
    pub(super) optional: Option<OptionalRoot>,
    unusable: Option<RootGone>,
}

impl<'s> OpenedRoot<'s> {
    /// The one place where a path is made canonical: the configuration is trusted, and everything later goes
    /// through the handle.
    pub(super) fn open(spec: &'s RootSpec, force_component: bool, homes: &[PathBuf]) -> io::Result<Self> {
        let configured = lexically_normal(&std::path::absolute(&spec.path)?);
        if spec.optional {
            let nearest = nearest(&spec.path)?;
            let held = beneath::Dir::open_ambient(&nearest.above, force_component)?;
            let below = nearest.canonical.strip_prefix(&nearest.above).unwrap_or(&nearest.canonical).to_owned();
            let now = held.dir_beneath(&below, OpenFor::Traverse).ok();
            let optional = OptionalRoot::new(&nearest, held.try_clone()?, now, homes);
            let dir = RootDir::beneath(held, below);
            let held = nearest.above;
            let optional = Some(optional);
            return Ok(Self { spec, canonical: nearest.canonical, configured, dir, held, optional, unusable: None });
        }
        let canonical = beneath::canonical(&spec.path)?;
        let dir = RootDir::existing(beneath::Dir::open_ambient(&canonical, force_component)?);
        dir.probe()?;
        let canonical = without_verbatim(canonical);
        Ok(Self { spec, held: canonical.clone(), canonical, configured, dir, optional: None, unusable: None })
    }

    /// One that does not open, because of `error`.
    pub(super) fn unusable(spec: &'s RootSpec, error: &io::Error) -> Self {
        let configured =
            std::path::absolute(&spec.path).map_or_else(|_| spec.path.clone(), |path| lexically_normal(&path));
        let canonical = nearest(&spec.path).map_or_else(|_| configured.clone(), |nearest| nearest.canonical);
        let (dir, unusable) = (RootDir::unusable(), Some(RootGone::since_start(error)));
        Self { spec, held: canonical.clone(), canonical, configured, dir, optional: None, unusable }
    }

    /// Where it may be missing and would be below `outer`, which may not: reaches it from there, so that what is made
    /// or removed between them does not matter.
    pub(super) fn reach_from(&mut self, outer: &Self) -> io::Result<()> {
        let (Some(_), None, Ok(below)) =
            (&self.optional, &outer.optional, self.canonical.strip_prefix(&outer.canonical))
        else {
            return Ok(());
        };
        if !below.as_os_str().is_empty() && self.held.starts_with(&outer.canonical) {
            self.dir = RootDir::beneath(outer.dir.held()?.try_clone()?, below.to_owned());
            self.held.clone_from(&outer.canonical);
        }
        Ok(())
    }

    pub(super) fn serve(self, index: usize, name: Option<String>, policy: Arc<Policy>) -> Root {
        let Self { spec, canonical, configured, dir, held, optional, unusable } = self;
        let led_by = if optional.is_some() { &held } else { &configured };
        Root {
            index,
            name,
            access: spec.access,
            policy,
            own_rules: spec.policy.clone(),
            key: Root::key_of(&canonical),
            identity: dir.held().ok().and_then(|dir| lasting_identity(led_by, &held, dir)),
            canonical,
            configured,
            given: std::path::absolute(&spec.path).unwrap_or_else(|_| spec.path.clone()),
            dir,
            startup_policy: OnceLock::new(),
            appeared_policy: OnceLock::new(),
            optional,
            unusable,
            checkouts: OnceLock::new(),
        }
    }
}

/// A path that leads to the root, and its device and inode: the path as it was configured, where that leads to it.
fn lasting_identity(configured: &Path, canonical: &Path, dir: &beneath::Dir) -> Option<(PathBuf, (u64, u64))> {
    let identity = dir.stat().ok()?.device_and_inode();
    let leads_there = |path: &&Path| identity != (0, 0) && beneath::identity(path).is_ok_and(|found| found == identity);
    let path = [configured, canonical].into_iter().find(leads_there)?;
    Some((path.to_path_buf(), identity))
}

impl Root {
    /// The path without links of a root at `path`, as far as that exists: the root may be gone.
    ///
    /// # Errors
    /// Those of the system.
    pub fn canonical_path(path: &Path) -> io::Result<PathBuf> {
        Ok(nearest(path)?.canonical)
    }

    pub fn key_of(canonical: &Path) -> String {
        Revision::of(canonical.as_os_str().as_encoded_bytes()).to_string()
    }

    #[doc(hidden)]
    pub fn dir(&self) -> &RootDir {
        &self.dir
    }

    #[doc(hidden)]
    pub fn index(&self) -> usize {
        self.index
    }

    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    pub fn access(&self) -> Access {
        self.access
    }

    /// Whether names and text below it may be written by people who want to mislead a model.
    pub fn is_untrusted(&self) -> bool {
        self.policy().untrusted
    }

    /// The rights below it, and whether its content is untrusted, as text.
    pub fn rights(&self) -> &'static str {
        self.access.rights(self.is_untrusted())
    }

    pub fn own_rules(&self) -> &PolicyRules {
        &self.own_rules
    }

    /// The printed form of the root itself: its mount name, or ".".
    pub fn public(&self) -> String {
        self.name.clone().unwrap_or_else(|| ".".to_owned())
    }

    /// A stable id: 32 hexadecimal digits of a hash of the canonical host path.
    pub fn key(&self) -> &str {
        &self.key
    }

    pub fn is_optional(&self) -> bool {
        self.optional.is_some()
    }

    /// Whether it could not be used at the start, and so cannot be until the next one.
    pub fn is_unusable(&self) -> bool {
        self.unusable.is_some()
    }

    /// Whether it may be missing, or was at the start, and cannot be used now.
    pub fn is_absent(&self) -> bool {
        self.is_unusable() || self.is_optional() && self.absence().is_some()
    }

    pub fn is_unreadable(&self) -> bool {
        let listed = || self.dir.dir_beneath(Path::new(""), OpenFor::List).map_err(io::Error::from);
        listed().is_err_and(|error| error.kind() == io::ErrorKind::PermissionDenied)
    }

    /// It as a note in a list of roots: `, not there yet`; nothing of one that can be used.
    pub fn absence_note(&self) -> String {
        match &self.unusable {
            Some(why) => format!(", {why}"),
            None if self.is_absent() => ", not there yet".to_owned(),
            None if self.is_unreadable() => ", may not be read (permission denied)".to_owned(),
            None => String::new(),
        }
    }

    /// Whether it was missing, and the rules in it are still to be found.
    pub(super) fn is_unnoticed(&self) -> bool {
        self.optional.as_ref().is_some_and(OptionalRoot::is_unnoticed)
    }

    /// The directory that the sandbox allows more of than the root, because the root may be missing: with the rights of
    /// the root. For people alone.
    pub fn sandboxed_above(&self) -> Option<&Path> {
        self.optional.as_ref()?.rule_above.as_deref()
    }

    /// The directory that the sandbox's rule for the root is on; `None` where it gets none.
    pub(super) fn sandboxed_dir(&self) -> Option<&beneath::Dir> {
        match &self.optional {
            None => self.dir.held().ok(),
            Some(optional) => optional.rule.as_ref(),
        }
    }

    /// The host path that it has or would have. For people alone.
    pub fn host(&self) -> &Path {
        &self.canonical
    }

    #[doc(hidden)]
    pub fn absence(&self) -> Option<RootGone> {
        let gone = self.presence().err();
        gone.or_else(|| self.optional.as_ref()?.absence(&self.dir))
    }

    /// Whether the directory that was opened at start-up is still the one at its path. The handle alone does not show
    /// it: through it a deleted directory is an empty one, and a moved one works as before. Of a root that may be
    /// missing it is the directory above it.
    pub(super) fn presence(&self) -> Result<(), RootGone> {
        if let Some(why) = &self.unusable {
            return Err(why.clone());
        }
        let Some((path, known)) = &self.identity else { return Ok(()) };
        match beneath::identity(path) {
            Ok(now) if now == *known => Ok(()),
            Ok(_) => Err(RootGone::Replaced),
            Err(error) if beneath::is_nothing(&error) => {
                let deleted = self.dir.held().and_then(beneath::Dir::stat).is_ok_and(|stat| stat.links() == 0);
                Err(if deleted { RootGone::Deleted } else { RootGone::Moved })
            }
            // A directory above it may have become unreadable (EACCES): that says nothing about the root.
            Err(_) => Ok(()),
        }
    }

    /// Whether [`Self::presence`] is known without waiting, and the root is there.
    pub(super) fn is_present_cached(&self) -> bool {
        self.identity.as_ref().is_none_or(|(path, known)| beneath::identity_cached(path) == Some(*known))
    }

    /// The rules in force below it: those of all roots, its own, and what start-up found.
    #[doc(hidden)]
    pub fn policy(&self) -> &Policy {
        self.appeared_policy.get().or_else(|| self.startup_policy.get()).unwrap_or(&self.policy)
    }

    /// Adds what start-up found. Once, before any call is served.
    pub(super) fn add_startup_rules(&self, rules: StartupRules) {
        let _ = self.startup_policy.set(self.policy.with_startup_rules(rules));
    }

    /// Adds what was found when the missing directory first was there, instead of what start-up found.
    pub(super) fn add_appeared_rules(&self, rules: StartupRules) {
        // Two calls may meet the new directory at once: the rules that the first one read stay.
        let _ = self.appeared_policy.set(self.policy.with_startup_rules(rules));
    }

    /// Has all of the file system of this root written to the disk, so that no page of a file stays dirty; false where
    /// that cannot be asked for. An overlay that is mounted `volatile` would do nothing and say nothing.
    pub fn write_back(&self) -> bool {
        #[cfg(target_os = "linux")]
        if let Ok(dir) = self.dir.open() {
            return !dir.is_overlay() && dir.sync_file_system().unwrap_or(false);
        }
        false
    }

    /// Looks up the identity that an index of this root belongs to.
    ///
    /// # Errors
    /// Why nothing may be kept of it.
    pub fn identity_for_index(&self) -> Result<RootIdentity, IdentityError> {
        if !cfg!(target_os = "linux") {
            return Err(IdentityError::Platform);
        }
        if self.absence().is_some() {
            return Err(IdentityError::Absent);
        }
        let Ok(dir) = self.dir.open() else { return Err(IdentityError::Refused) };
        let (file_system, created) = stable_inodes(&dir).ok_or(IdentityError::FileSystem)?;
        let (device, inode) = dir.stat().map_err(|_| IdentityError::Refused)?.device_and_inode();
        let StableInodes { kind: file_system, id: file_system_id } = file_system;
        let (key, policy) = (self.key().to_owned(), self.policy().content_digest());
        Ok(RootIdentity { key, policy, file_system, file_system_id, device, inode, created })
    }
}

impl fmt::Debug for Root {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Root({}, {:?})", self.public(), self.access)
    }
}

/// Longest branch that is shown, in bytes.
const MAX_BRANCH: usize = 100;

/// The checkout that holds a root, and the others of its repository, all by paths without links, as start-up found them
/// (`disk_rules`).
///
/// Others are known by what was read then, by name alone. Only the branch of one whose repository is in a root is read
/// again.
#[derive(Debug)]
pub(crate) struct Checkouts {
    pub(crate) top: PathBuf,
    pub(crate) others: Vec<PathBuf>,
    pub(crate) judged_alone: HashSet<PathBuf>,
    /// The git directory of the checkout: that of the repository, or of a worktree in it.
    pub(crate) git: PathBuf,
    pub(crate) is_linked: bool,
    pub(crate) head: Option<Vec<u8>>,
}

impl Checkouts {
    /// The checkout as text, such as `worktree agent-a, branch fix`; `head` is the content of its `HEAD`. `None` where
    /// nothing of it may be shown.
    pub(crate) fn text(&self, head: Option<&[u8]>) -> Option<String> {
        let name = self.top.file_name().filter(|_| self.is_linked);
        let worktree = name.map(|name| format!("worktree {}", escape_name(name)));
        let parts: Vec<String> = worktree.into_iter().chain(head.map(head_text)).collect();
        (!parts.is_empty()).then(|| parts.join(", "))
    }
}

/// The text for the content of a `HEAD`. A sentence is no name of a branch (git-check-ref-format(1)): it would be an
/// instruction to a model in the words of this server. With reftable the name there is `.invalid`.
fn head_text(content: &[u8]) -> String {
    let head = str::from_utf8(content).unwrap_or_default().trim_end_matches(['\r', '\n']);
    let is_plain = |c: char| !(c.is_whitespace() || c.is_control() || is_invisible(c) || "~^:?*[\\".contains(c));
    let is_part = |part: &str| !part.is_empty() && !part.starts_with('.');
    match head.strip_prefix("ref: refs/heads/") {
        Some(name) if name.len() <= MAX_BRANCH && name.chars().all(is_plain) && name.split('/').all(is_part) => {
            format!("branch {name}")
        }
        None if matches!(head.len(), 40 | 64) && head.bytes().all(|byte| byte.is_ascii_hexdigit()) => {
            format!("detached at {}", &head[..7])
        }
        _ => "branch not shown".to_owned(),
    }
}

/// What an index of a root that is kept on the disk belongs to: its directory, on this file system, and the rules about
/// content below it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RootIdentity {
    pub key: String,
    pub policy: Revision,
    /// The type of the file system, as `statfs(2)` gives it.
    pub file_system: u64,
    /// The id of the file system, as `statfs(2)` gives it. Of ext4, Btrfs, bcachefs and ZFS it comes from what was written
    /// when the file system was made, and so differs between two that are mounted at one place in turn. Of XFS and F2FS
    /// it is the number of the device: there [`Self::created`] differs.
    pub file_system_id: u64,
    pub device: u64,
    pub inode: u64,
    /// When the directory was made: nanoseconds since 1970 (`stx_btime` of `statx(2)`), 0 where that is not known.
    pub created: i64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum IdentityError {
    /// The platform: elsewhere no stat is known to show every change.
    #[error("an index is stored on Linux only")]
    Platform,
    #[error("the times of files on this file system do not show every change")]
    FileSystem,
    #[error("the directory is missing")]
    Absent,
    #[error("the directory cannot be opened")]
    Refused,
}

/// The file system, where its stats report every change, and when the directory was made.
#[cfg(target_os = "linux")]
fn stable_inodes(dir: &beneath::Dir) -> Option<(StableInodes, i64)> {
    Some((dir.stable_inodes()?, dir.created().unwrap_or_default()))
}

#[cfg(not(target_os = "linux"))]
fn stable_inodes(_: &beneath::Dir) -> Option<(StableInodes, i64)> {
    None
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    #![expect(clippy::disallowed_methods, reason = "the test acts as another program")]

    use crate::policy::PolicyRules;
    use crate::root::{Access, RootSpec};
    use crate::shared::{Workspace, WorkspaceOptions};

    #[test]
    fn directory_that_is_made_again_is_another() {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("root");
        let identity = || {
            let policy = PolicyRules::default();
            let spec = RootSpec { name: None, path: path.clone(), access: Access::ReadWrite, policy, optional: false };
            let workspace = Workspace::open(&[spec], WorkspaceOptions::default()).unwrap().workspace;
            workspace.roots()[0].identity_for_index().ok()
        };
        std::fs::create_dir(&path).unwrap();
        let Some(first) = identity() else { return };
        std::fs::write(path.join("file"), "").unwrap();
        assert_eq!(identity().as_ref(), Some(&first));
        std::fs::remove_dir_all(&path).unwrap();
        std::fs::create_dir(&path).unwrap();
        let second = identity().unwrap();
        assert_eq!(second.file_system_id, first.file_system_id);
        assert!(second.created > first.created || first.created == 0, "the inode may be the same");
    }
}
