//! The roots: directories opened once at start-up, with the names they are shown by.
//!
//! Also answers which root a host path lies in. Nothing here is called with a caller's text.

use std::collections::HashSet;
use std::fmt;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, OnceLock};

use super::escape::escape_name;
use super::path::WorkspacePath;
use super::policy::{Guards, Policy, PolicyRules};
use super::revision::Revision;
use super::sys::{self, Dir};

/// What may be done below a root.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Reading only.
    ReadOnly,
    /// Reading and writing.
    ReadWrite,
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
    index: usize,
    name: Option<String>,
    prefix: String,
    access: Access,
    own_rules: PolicyRules,
    policy: Arc<Policy>,
    /// The same with what start-up found out, once it has.
    guarded: OnceLock<Policy>,
    key: String,
    canonical: PathBuf,
    configured: PathBuf,
    given: PathBuf,
    dir: Dir,
    /// The path that led to `dir` at start-up, and the device and inode that it led to. None where the
    /// system has no such numbers, or they do not last.
    known_by: Option<(PathBuf, (u64, u64))>,
}

/// What became of a root while it was served.
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

impl Root {
    /// The mount name, if the root has one.
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// The rights below it.
    pub fn access(&self) -> Access {
        self.access
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

    pub(super) fn index(&self) -> usize {
        self.index
    }

    /// What stands before a relative path when it is printed, "" for a single unnamed root.
    pub(super) fn prefix(&self) -> &str {
        &self.prefix
    }

    pub(super) fn canonical(&self) -> &Path {
        &self.canonical
    }

    /// The absolute path as it was configured, which may lead through links.
    pub(super) fn configured(&self) -> &Path {
        &self.configured
    }

    /// The absolute path as it was given, links and `..` included.
    pub(super) fn as_given(&self) -> &Path {
        &self.given
    }

    pub(super) fn dir(&self) -> &Dir {
        &self.dir
    }

    /// Whether the directory that was opened at start-up is still the one that a person sees there. Through the
    /// handle alone nobody would notice: a deleted directory is an empty one, a moved one goes on.
    pub(super) fn presence(&self) -> Result<(), RootGone> {
        let Some((path, known)) = &self.known_by else { return Ok(()) };
        match sys::identity(path) {
            Ok(now) if now == *known => Ok(()),
            Ok(_) => Err(RootGone::Replaced),
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                let deleted = self.dir.stat().is_ok_and(|stat| stat.links() == 0);
                Err(if deleted { RootGone::Deleted } else { RootGone::Moved })
            }
            // A directory above it may not be looked into any more: that says nothing of the root.
            Err(_) => Ok(()),
        }
    }

    /// As [`Self::presence`], where that can be known without waiting.
    pub(super) fn is_present_at_hand(&self) -> bool {
        self.known_by.as_ref().is_none_or(|(path, known)| sys::identity_at_hand(path) == Some(*known))
    }

    /// The rules in force below it: those of all roots, its own, and what start-up found out.
    pub(super) fn policy(&self) -> &Policy {
        self.guarded.get().unwrap_or(&self.policy)
    }

    /// Adds what start-up found out. Once, before any call is served.
    pub(super) fn guard(&self, guards: Guards) {
        let _ = self.guarded.set(self.policy.guarded(guards));
    }
}

impl fmt::Debug for Root {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Root({}, {:?})", self.public(), self.access)
    }
}

/// All roots, and which of them lie inside one another.
#[derive(Debug)]
pub(super) struct Roots {
    list: Vec<Arc<Root>>,
    /// (outer root, path of the inner one below it, inner root), deepest first.
    nested: Vec<(usize, PathBuf, usize)>,
}

impl Roots {
    /// Opens what can be opened. A root that cannot is a warning; none at all, or mount names that
    /// contradict each other, is an error. `rules` count below all of them.
    pub(super) fn open(
        specs: &[RootSpec],
        rules: &PolicyRules,
        force_component: bool,
    ) -> Result<(Self, Vec<String>), Vec<String>> {
        let mut warnings = Vec::new();
        let mut opened: Vec<(&RootSpec, PathBuf, PathBuf, Dir)> = Vec::new();
        for spec in specs {
            let shown = spec.path.display();
            match open_one(&spec.path, force_component) {
                Err(error) => warnings.push(format!("root {shown} cannot be used: {error}")),
                Ok((canonical, ..)) if opened.iter().any(|(_, other, ..)| *other == canonical) => {
                    warnings.push(format!("root {shown} is given twice; the first one counts"));
                }
                Ok((canonical, configured, dir)) => {
                    opened.push((spec, canonical, configured, dir));
                }
            }
        }
        if opened.is_empty() {
            warnings.push("no usable root directory".to_owned());
            return Err(warnings);
        }
        let names = mount_names(&opened)?;
        let everywhere = Arc::new(Policy::new(rules));
        let policy = |own: &PolicyRules| {
            if own.is_empty() { Arc::clone(&everywhere) } else { Arc::new(Policy::new(&rules.and(own))) }
        };
        let list: Vec<_> = opened
            .into_iter()
            .zip(names)
            .enumerate()
            .map(|(index, ((spec, canonical, configured, dir), name))| {
                Arc::new(Root {
                    index,
                    prefix: name.clone().unwrap_or_default(),
                    name,
                    access: spec.access,
                    policy: policy(&spec.policy),
                    own_rules: spec.policy.clone(),
                    key: Revision::of(canonical.as_os_str().as_encoded_bytes()).to_string(),
                    known_by: known_by(&configured, &canonical, &dir),
                    canonical,
                    configured,
                    given: std::path::absolute(&spec.path).unwrap_or_else(|_| spec.path.clone()),
                    dir,
                    guarded: OnceLock::new(),
                })
            })
            .collect();
        let nested = nesting(&list);
        Ok((Self { list, nested }, warnings))
    }

    pub(super) fn list(&self) -> &[Arc<Root>] {
        &self.list
    }

    /// The deepest root that holds a lexically normal absolute host path, and the path below it.
    /// `aliases`: roots also count by the path they were configured with.
    pub(super) fn holding(&self, host: &Path, aliases: bool) -> Option<WorkspacePath> {
        let ways = |root: &Arc<Root>| {
            let by = |base: &Path| host.strip_prefix(base).ok().map(Path::to_path_buf);
            by(root.canonical()).or_else(|| by(root.configured()).filter(|_| aliases))
        };
        self.list
            .iter()
            .filter_map(|root| Some((root, ways(root)?)))
            .min_by_key(|(_, rest)| rest.components().count())
            .map(|(root, rest)| WorkspacePath::new(root, &rest))
    }

    /// Whether a real path is treated as not there: by the root it is reached through, or by the deepest
    /// one that holds it.
    pub(super) fn hidden(&self, root: &Root, relative: &Path) -> bool {
        let by_inner = || self.inner(root, relative).is_some_and(|(inner, rest)| inner.policy().hidden(rest));
        root.policy().hidden(relative) || by_inner()
    }

    /// Whether a path lies below a root that is inside its own.
    pub(super) fn is_in_inner(&self, path: &WorkspacePath) -> bool {
        self.inner(path.root(), path.relative()).is_some_and(|(_, rest)| !rest.as_os_str().is_empty())
    }

    /// The deepest root inside `root` that holds the path below it, and the path below that one.
    fn inner<'p>(&self, root: &Root, relative: &'p Path) -> Option<(&Arc<Root>, &'p Path)> {
        self.nested
            .iter()
            .filter(|(outer, ..)| *outer == root.index())
            .find_map(|(_, below, inner)| Some((&self.list[*inner], relative.strip_prefix(below).ok()?)))
    }

    /// The same place, seen from the deepest root that holds it: that one's rights count.
    pub(super) fn deepest(&self, path: &WorkspacePath) -> WorkspacePath {
        match self.inner(path.root(), path.relative()) {
            Some((inner, rest)) => WorkspacePath::new(inner, rest),
            None => path.clone(),
        }
    }
}

/// Canonical path, configured absolute path and handle of a root. The one place where a path is
/// made canonical: the configuration is trusted, and everything later goes through the handle.
#[expect(clippy::disallowed_methods, reason = "once at start-up, on trusted paths, before any call is served")]
fn open_one(path: &Path, force_component: bool) -> std::io::Result<(PathBuf, PathBuf, Dir)> {
    let canonical = path.canonicalize()?;
    let configured = lexically_normal(&std::path::absolute(path)?);
    let dir = Dir::open_ambient(&canonical, force_component)?;
    Ok((canonical, configured, dir))
}

/// The path by which a root is recognised: as it was configured, where that leads to it.
fn known_by(configured: &Path, canonical: &Path, dir: &Dir) -> Option<(PathBuf, (u64, u64))> {
    let identity = dir.stat().ok()?.identity();
    let leads_there = |path: &&Path| identity != (0, 0) && sys::identity(path).is_ok_and(|found| found == identity);
    let path = [configured, canonical].into_iter().find(leads_there)?;
    Some((path.to_path_buf(), identity))
}

/// `.` and `..` taken out by name alone.
pub(super) fn lexically_normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                normal.pop();
            }
            other => normal.push(other),
        }
    }
    normal
}

/// One mount name for each root; none for a single root without one.
fn mount_names(opened: &[(&RootSpec, PathBuf, PathBuf, Dir)]) -> Result<Vec<Option<String>>, Vec<String>> {
    let given = |spec: &RootSpec| spec.name.as_deref().map(tidy_name);
    let mut problems = Vec::new();
    let mut taken: HashSet<String> = HashSet::new();
    for (spec, ..) in opened {
        let Some(name) = given(spec) else { continue };
        let dots = name.split('/').any(|part| matches!(part, "." | ".."));
        if name.is_empty() || name == "/" || dots {
            problems.push(format!("mount name {name:?} is not a name"));
        }
        for other in &taken {
            if lies_within(&name, other) || lies_within(other, &name) {
                problems.push(format!("mount names {other:?} and {name:?} overlap"));
            }
        }
        taken.insert(name);
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    let alone = opened.len() == 1;
    Ok(opened
        .iter()
        .map(|(spec, canonical, ..)| given(spec).or_else(|| (!alone).then(|| free_name(canonical, &mut taken))))
        .collect())
}

fn tidy_name(name: &str) -> String {
    let parts: Vec<_> = name.split('/').filter(|part| !part.is_empty()).collect();
    let slash = if name.starts_with('/') { "/" } else { "" };
    format!("{slash}{}", parts.join("/"))
}

fn lies_within(inner: &str, outer: &str) -> bool {
    inner.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// The directory's own name, numbered from 2 where another root has it.
fn free_name(canonical: &Path, taken: &mut HashSet<String>) -> String {
    let base = canonical.file_name().map_or("root".into(), escape_name);
    let mut name = base.to_string();
    let mut number = 1;
    while taken.iter().any(|other| lies_within(&name, other) || lies_within(other, &name)) {
        number += 1;
        name = format!("{base}-{number}");
    }
    taken.insert(name.clone());
    name
}

fn nesting(list: &[Arc<Root>]) -> Vec<(usize, PathBuf, usize)> {
    let mut nested = Vec::new();
    for outer in list {
        for inner in list {
            match inner.canonical().strip_prefix(outer.canonical()) {
                Ok(rest) if inner.index() != outer.index() => {
                    nested.push((outer.index(), rest.to_path_buf(), inner.index()));
                }
                _ => {}
            }
        }
    }
    nested.sort_by_key(|(_, rest, _)| std::cmp::Reverse(rest.components().count()));
    nested
}
