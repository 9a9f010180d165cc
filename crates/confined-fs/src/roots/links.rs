//! Follows links in user space: where an asked path leads, if that is inside the roots.
//!
//! The kernel's `RESOLVE_BENEATH` refuses every absolute link and every link from one root into another, which
//! repositories and package stores need. So each step here is one name in an open directory. While a link leads outside,
//! only its letters are followed, and the only way back is the exact path of a root; nothing outside is ever touched
//! (CVE-2025-53109: a link inside that leads outside).
//!
//! Limits: the answer is a hint, not a proof. Whoever uses it opens it with links refused.

use std::ffi::{OsStr, OsString};
use std::path::{Component, Path, PathBuf};
use std::{collections::VecDeque, io, sync::Arc};

use beneath::lexical::{MAX_LINKS, base_of, push_front, strip_base};
use beneath::{Dir, FileKind, OpenFor};

use crate::error::{AccessError, AccessErrorKind, AtPath as _};
use crate::{path::WorkspacePath, root::Root, roots::Roots};

#[derive(Clone, Debug)]
pub struct Location {
    pub real: WorkspacePath,
    /// The other names of the same place that the way passed through: for each link, the path with that
    /// link still in it, beginning with the path that was asked for. Empty where there was no link.
    pub aliases: Vec<WorkspacePath>,
}

impl Location {
    pub fn direct(real: WorkspacePath) -> Self {
        Self { real, aliases: Vec::new() }
    }

    /// Every name of the place. Policy is asked about each, and the strictest answer counts: a program that
    /// opens `.vscode/tasks.json` does not mind that `.vscode` is a link.
    pub fn names(&self) -> impl Iterator<Item = &WorkspacePath> {
        std::iter::once(&self.real).chain(&self.aliases)
    }

    /// Whether policy treats it as not there, by any of its names.
    pub fn hidden(&self) -> bool {
        self.names().any(WorkspacePath::hidden)
    }

    /// Whether policy denies its content, by any of its names.
    pub fn secret(&self) -> bool {
        self.names().any(WorkspacePath::secret)
    }

    /// A path below it whose names come from a listing, each as the deepest root has it.
    pub(crate) fn child(&self, roots: &Roots, relative: &Path) -> Self {
        let child = |path: &WorkspacePath| roots.deepest(&path.child(relative));
        Self { real: child(&self.real), aliases: self.aliases.iter().map(child).collect() }
    }
}

/// Where `asked` leads once its links are followed: root and real names, from the deepest root that
/// holds it. Missing last parts are kept, so that what does not exist yet has a location, too.
pub(crate) fn follow(roots: &Roots, asked: &WorkspacePath) -> Result<Location, AccessError> {
    let names = asked.relative().iter().map(OsStr::to_os_string);
    let mut walk = LinkWalk { roots, asked, todo: names.collect(), links: 0, aliases: Vec::new() };
    let real = walk.run()?;
    Ok(Location { real, aliases: walk.aliases })
}

/// Whether a link that says `target` leads, by its letters, to a place inside a root when it is put
/// at the place `link`.
pub(crate) fn stays_inside(roots: &Roots, link: &WorkspacePath, target: &Path) -> bool {
    let start = link.root().canonical.join(link.relative());
    let start = start.parent().unwrap_or(&start).to_path_buf();
    let mut at = if target.has_root() { base_of(target) } else { start };
    for component in target.components() {
        match component {
            Component::Normal(name) => at.push(name),
            // Outside stays outside: what `..` means there is not known.
            Component::ParentDir => {
                at.pop();
                if !target.has_root() && roots.containing(&at, false).is_none() {
                    return false;
                }
            }
            Component::CurDir | Component::Prefix(_) | Component::RootDir => {}
        }
    }
    roots.containing(&at, false).is_some()
}

struct LinkWalk<'w> {
    roots: &'w Roots,
    asked: &'w WorkspacePath,
    todo: VecDeque<OsString>,
    links: usize,
    aliases: Vec<WorkspacePath>,
}

enum Position {
    Inside(Inside),
    /// Outside every root, known by letters only.
    Outside(PathBuf),
}

/// In this root, below its handle; `dir` is the directory named by `names`.
struct Inside {
    root: Arc<Root>,
    names: Vec<OsString>,
    dir: Dir,
}

impl Inside {
    fn located(&self, roots: &Roots, below: impl IntoIterator<Item = OsString>) -> WorkspacePath {
        let below: PathBuf = self.names.iter().cloned().chain(below).collect();
        roots.deepest(&WorkspacePath::new(&self.root, &below))
    }
}

impl LinkWalk<'_> {
    fn run(&mut self) -> Result<WorkspacePath, AccessError> {
        let mut position = self.enter(self.asked.root(), Vec::new())?;
        while let Some(name) = self.todo.pop_front() {
            position = match position {
                Position::Outside(mut at) => {
                    if name == ".." {
                        at.pop();
                    } else {
                        at.push(name);
                    }
                    self.arrive(at)?
                }
                Position::Inside(here) if name == ".." => self.climb(here)?,
                Position::Inside(here) => match here.dir.child_stat(&name) {
                    Ok(stat) => {
                        // One file has one name, for rules, locks and what was read, however it was asked for.
                        let name = here.dir.spelling(&name).unwrap_or(name);
                        self.step(here, name, stat.kind)?
                    }
                    Err(error) if error.kind() == io::ErrorKind::NotFound => return self.missing(&here, name),
                    Err(error) => return Err(AccessError::from_io(error, self.asked)),
                },
            };
        }
        match position {
            Position::Outside(_) => Err(self.refused(AccessErrorKind::Denied)),
            Position::Inside(here) => Ok(here.located(self.roots, [])),
        }
    }

    fn step(&mut self, mut here: Inside, name: OsString, kind: FileKind) -> Result<Position, AccessError> {
        match kind {
            FileKind::Symlink => return self.link(here, &name),
            FileKind::Directory if !self.todo.is_empty() => {
                here.dir = here.dir.child_dir(&name, OpenFor::Traverse).map_err(|error| match error.kind() {
                    // It was a directory a moment ago: somebody is swapping names.
                    io::ErrorKind::NotADirectory => self.refused(AccessErrorKind::Changed),
                    _ => AccessError::from_io(error, self.asked),
                })?;
            }
            FileKind::File | FileKind::Other if !self.todo.is_empty() => {
                return Err(self.refused(AccessErrorKind::NotADirectory));
            }
            FileKind::Directory | FileKind::File | FileKind::Other => {}
        }
        here.names.push(name);
        Ok(Position::Inside(here))
    }

    fn link(&mut self, here: Inside, name: &OsStr) -> Result<Position, AccessError> {
        self.links += 1;
        if self.links > MAX_LINKS {
            return Err(self.refused(AccessErrorKind::TooManyLinks));
        }
        // It was a link a moment ago: somebody is swapping names.
        let target = here.dir.child_link(name).map_err(|_| self.refused(AccessErrorKind::Changed))?;
        self.aliases.extend(self.alias(&here, name));
        let target = Path::new(&target);
        push_front(&mut self.todo, target);
        if target.has_root() { self.arrive(base_of(target)) } else { Ok(Position::Inside(here)) }
    }

    /// The path through a link, as if its name were a real one. `None` where the rest climbs out of the root: what
    /// `..` means behind a link is known only once it has been followed, and then the path is met as another alias
    /// or as the real one.
    fn alias(&self, here: &Inside, link: &OsStr) -> Option<WorkspacePath> {
        let mut path: Vec<&OsStr> = here.names.iter().map(OsString::as_os_str).chain([link]).collect();
        for name in &self.todo {
            if name == ".." {
                path.pop()?;
            } else {
                path.push(name);
            }
        }
        Some(self.roots.deepest(&WorkspacePath::new(&here.root, &path.iter().collect::<PathBuf>())))
    }

    /// An absolute place: a root, when it is exactly one, else outside.
    fn arrive(&self, at: PathBuf) -> Result<Position, AccessError> {
        let is_root = |root: &Path| strip_base(&at, root).is_some_and(|rest| rest.as_os_str().is_empty());
        let mut roots = self.roots.list().iter();
        match roots.find(|root| is_root(&root.canonical) || is_root(&root.configured)) {
            Some(root) => self.enter(root, Vec::new()),
            None => Ok(Position::Outside(at)),
        }
    }

    /// One directory up. Above a root's top the canonical path has no links, so its letters are true.
    fn climb(&self, mut here: Inside) -> Result<Position, AccessError> {
        if here.names.pop().is_some() {
            return self.enter(&here.root, here.names);
        }
        let mut above = here.root.canonical.clone();
        above.pop();
        match self.roots.containing(&above, false) {
            Some(path) => self.enter(path.root(), path.relative().iter().map(OsStr::to_os_string).collect()),
            None => Ok(Position::Outside(above)),
        }
    }

    /// Opens a directory of real names; a link there now means that something changed.
    fn enter(&self, root: &Arc<Root>, names: Vec<OsString>) -> Result<Position, AccessError> {
        let below: PathBuf = names.iter().collect();
        let dir = root.dir.dir_beneath(&below, OpenFor::Traverse).at(self.asked)?;
        Ok(Position::Inside(Inside { root: Arc::clone(root), names, dir }))
    }

    /// The end of a walk at a name that is not there. What remains is taken by its letters; a `..`
    /// through nothing leads nowhere.
    fn missing(&mut self, here: &Inside, name: OsString) -> Result<WorkspacePath, AccessError> {
        if self.todo.iter().any(|name| name == "..") {
            return Err(self.refused(AccessErrorKind::NotFound));
        }
        self.todo.push_front(name);
        Ok(here.located(self.roots, self.todo.drain(..)))
    }

    fn refused(&self, kind: AccessErrorKind) -> AccessError {
        AccessError::new(kind, self.asked)
    }
}
