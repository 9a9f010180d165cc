//! The walk through links in user space: where an asked path truly is, if that is inside the roots.
//!
//! Each step is one name in an open directory. While a link leads outside, only its letters are
//! followed, and the way back in is the exact path of a root; nothing outside is ever touched.
//! The answer is a hint, not a proof: whoever uses it opens it with links refused.

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use super::error::{AccessError, AccessErrorKind};
use super::path::WorkspacePath;
use super::root::Root;
use super::roots::Roots;
use super::stat::FileKind;
use super::sys::{Dir, Failure, Use};

/// As many links as Linux follows in one path.
const MOST_LINKS: usize = 40;

/// The current place of the walk.
enum Place {
    /// In this root, below its handle; `dir` is the directory named by `names`.
    Inside { root: Arc<Root>, names: Vec<OsString>, dir: Dir },
    /// Outside every root, known by letters only.
    Outside(PathBuf),
}

/// Where an asked path leads, and by which names.
#[derive(Clone, Debug)]
pub(super) struct Way {
    /// Real root and real names.
    pub(super) real: WorkspacePath,
    /// The other names of the same place that the way passed through: for each link, the path with that
    /// link still in it, beginning with the path that was asked for. Empty where there was no link.
    pub(super) aliases: Vec<WorkspacePath>,
}

impl Way {
    /// Without any link.
    pub(super) fn direct(real: WorkspacePath) -> Self {
        Self { real, aliases: Vec::new() }
    }

    /// Every name of the place. Policy is asked about each, and the strictest answer counts: a program that
    /// opens `.vscode/tasks.json` does not mind that `.vscode` is a link.
    pub(super) fn names(&self) -> impl Iterator<Item = &WorkspacePath> {
        std::iter::once(&self.real).chain(&self.aliases)
    }

    /// Whether policy treats it as not there, by any of its names.
    pub(super) fn hidden(&self) -> bool {
        self.names().any(WorkspacePath::hidden)
    }

    /// Whether policy denies its content, by any of its names.
    pub(super) fn secret(&self) -> bool {
        self.names().any(WorkspacePath::secret)
    }

    /// A path below it whose names come from a listing, each as the deepest root has it.
    pub(super) fn child(&self, roots: &Roots, relative: &Path) -> Self {
        let child = |path: &WorkspacePath| roots.deepest(&path.child(relative));
        Self { real: child(&self.real), aliases: self.aliases.iter().map(child).collect() }
    }
}

/// Where `asked` leads once its links are followed: root and real names, from the deepest root that
/// holds it. Missing last parts are kept, so that what does not exist yet has a place, too.
pub(super) fn follow(roots: &Roots, asked: &WorkspacePath) -> Result<Way, AccessError> {
    let mut aliases = Vec::new();
    let real = walk(roots, asked, &mut aliases)?;
    Ok(Way { real, aliases })
}

fn walk(roots: &Roots, asked: &WorkspacePath, aliases: &mut Vec<WorkspacePath>) -> Result<WorkspacePath, AccessError> {
    let mut links = 0;
    let mut todo: VecDeque<OsString> = asked.relative().iter().map(OsStr::to_os_string).collect();
    let mut place = enter(asked.root(), Vec::new(), asked)?;
    while let Some(name) = todo.pop_front() {
        place = match place {
            Place::Outside(at) => outside(roots, &at, &name, asked)?,
            Place::Inside { root, names, .. } if name == ".." => climb(roots, &root, names, asked)?,
            Place::Inside { root, mut names, dir } => {
                let stat = match dir.child_stat(&name) {
                    Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                        names.push(name);
                        return missing(roots, &root, names, todo, asked);
                    }
                    answer => answer.map_err(|error| AccessError::from_io(error, asked))?,
                };
                match stat.kind {
                    FileKind::Symlink => {
                        links += 1;
                        if links > MOST_LINKS {
                            return Err(AccessError::new(AccessErrorKind::TooManyLinks, asked));
                        }
                        let Ok(target) = dir.child_link(&name) else {
                            // It was a link a moment ago: somebody is swapping names.
                            return Err(AccessError::new(AccessErrorKind::Changed, asked));
                        };
                        aliases.extend(alias(roots, &root, &names, &name, &todo));
                        push_front(&mut todo, Path::new(&target));
                        if Path::new(&target).has_root() {
                            arrive(roots, base_of(Path::new(&target)), asked)?
                        } else {
                            Place::Inside { root, names, dir }
                        }
                    }
                    FileKind::Directory => {
                        let dir = if todo.is_empty() { Ok(dir) } else { dir.child_dir(&name, Use::Pass) };
                        names.push(name);
                        let dir = dir.map_err(|error| match error.kind() {
                            // It was a directory a moment ago: somebody is swapping names.
                            std::io::ErrorKind::NotADirectory => AccessError::new(AccessErrorKind::Changed, asked),
                            _ => AccessError::from_io(error, asked),
                        })?;
                        Place::Inside { root, names, dir }
                    }
                    FileKind::File | FileKind::Other if todo.is_empty() => {
                        names.push(name);
                        Place::Inside { root, names, dir }
                    }
                    FileKind::File | FileKind::Other => {
                        return Err(AccessError::new(AccessErrorKind::NotADirectory, asked));
                    }
                }
            }
        };
    }
    match place {
        Place::Outside(_) => Err(AccessError::new(AccessErrorKind::Denied, asked)),
        Place::Inside { root, names, .. } => Ok(located(roots, &root, names)),
    }
}

/// Whether a link that says `target` stays harmless at the place `link`: by its letters, it leads
/// to the same place as anywhere (an absolute one) or nowhere outside its root.
pub(super) fn stays_put(roots: &Roots, link: &WorkspacePath, target: &Path) -> bool {
    target.has_root() || stays_inside(roots, link, target)
}

/// Whether a link that says `target` leads, by its letters, to a place inside a root when it is put
/// at the place `link`.
pub(super) fn stays_inside(roots: &Roots, link: &WorkspacePath, target: &Path) -> bool {
    let start = link.root().canonical().join(link.relative());
    let start = start.parent().unwrap_or(&start).to_path_buf();
    let mut at = if target.has_root() { base_of(target) } else { start };
    for component in target.components() {
        match component {
            Component::Normal(name) => at.push(name),
            // Outside stays outside: what `..` means there is not known.
            Component::ParentDir => {
                at.pop();
                if !target.has_root() && roots.holding(&at, false).is_none() {
                    return false;
                }
            }
            Component::CurDir | Component::Prefix(_) | Component::RootDir => {}
        }
    }
    roots.holding(&at, false).is_some()
}

/// The path through a link, as if its name were a real one. `None` where the rest climbs out of the root: what
/// `..` means behind a link is known only once it has been followed, and then the path is met as another alias
/// or as the real one.
fn alias(
    roots: &Roots,
    root: &Arc<Root>,
    names: &[OsString],
    link: &OsStr,
    rest: &VecDeque<OsString>,
) -> Option<WorkspacePath> {
    let mut path: Vec<&OsStr> = names.iter().map(OsString::as_os_str).chain([link]).collect();
    for name in rest {
        if name == ".." {
            path.pop()?;
        } else {
            path.push(name);
        }
    }
    Some(roots.deepest(&WorkspacePath::new(root, &path.iter().collect::<PathBuf>())))
}

/// One name further outside; back inside when that is exactly a root.
fn outside(roots: &Roots, at: &Path, name: &OsStr, asked: &WorkspacePath) -> Result<Place, AccessError> {
    let mut at = at.to_path_buf();
    if name == ".." {
        at.pop();
    } else {
        at.push(name);
    }
    arrive(roots, at, asked)
}

/// An absolute place: a root, when it is exactly one, else outside.
fn arrive(roots: &Roots, at: PathBuf, asked: &WorkspacePath) -> Result<Place, AccessError> {
    let back = roots.list().iter().find(|root| at == root.canonical() || at == root.configured());
    match back {
        Some(root) => enter(root, Vec::new(), asked),
        None => Ok(Place::Outside(at)),
    }
}

/// One directory up. Above a root's top the canonical path has no links, so its letters are true.
fn climb(
    roots: &Roots,
    root: &Arc<Root>,
    mut names: Vec<OsString>,
    asked: &WorkspacePath,
) -> Result<Place, AccessError> {
    if names.pop().is_some() {
        return enter(root, names, asked);
    }
    let mut above = root.canonical().to_path_buf();
    above.pop();
    match roots.holding(&above, false) {
        Some(path) => {
            let names = path.relative().iter().map(OsStr::to_os_string).collect();
            enter(path.root(), names, asked)
        }
        None => Ok(Place::Outside(above)),
    }
}

/// Opens a directory of real names; a link there by now means that something changed.
fn enter(root: &Arc<Root>, names: Vec<OsString>, asked: &WorkspacePath) -> Result<Place, AccessError> {
    let below: PathBuf = names.iter().collect();
    match root.dir().dir_beneath(&below, Use::Pass) {
        Ok(dir) => Ok(Place::Inside { root: Arc::clone(root), names, dir }),
        Err(Failure::Link) => Err(AccessError::new(AccessErrorKind::Changed, asked)),
        Err(Failure::Io(error)) => Err(AccessError::from_io(error, asked)),
    }
}

/// The end of a walk at a name that is not there. What remains is taken by its letters; a `..`
/// through nothing leads nowhere.
fn missing(
    roots: &Roots,
    root: &Arc<Root>,
    mut names: Vec<OsString>,
    todo: VecDeque<OsString>,
    asked: &WorkspacePath,
) -> Result<WorkspacePath, AccessError> {
    if todo.iter().any(|name| name == "..") {
        return Err(AccessError::new(AccessErrorKind::NotFound, asked));
    }
    names.extend(todo);
    Ok(located(roots, root, names))
}

fn located(roots: &Roots, root: &Arc<Root>, names: Vec<OsString>) -> WorkspacePath {
    let below: PathBuf = names.into_iter().collect();
    roots.deepest(&WorkspacePath::new(root, &below))
}

/// What an absolute target starts from.
fn base_of(target: &Path) -> PathBuf {
    let is_base = |part: &Component<'_>| matches!(part, Component::Prefix(_) | Component::RootDir);
    target.components().take_while(is_base).collect()
}

fn push_front(todo: &mut VecDeque<OsString>, target: &Path) {
    for component in target.components().rev() {
        match component {
            Component::Normal(name) => todo.push_front(name.to_os_string()),
            Component::ParentDir => todo.push_front("..".into()),
            Component::CurDir | Component::Prefix(_) | Component::RootDir => {}
        }
    }
}
