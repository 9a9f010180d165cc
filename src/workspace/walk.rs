//! The walk: names below a directory, by descriptor, in path order, ignore rules applied.
//!
//! Supplies names and the authority to open them. Links are never followed below the start, and at
//! most 64 directories of the current branch are open at once, however deep the tree.

mod compile_ignores;
mod default_ignores;
mod entry;
mod ignore;
mod ignored_entries;
mod limits_hit;
mod visit;

use std::ffi::OsStr;
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::error::{AccessError, AccessErrorKind};
use super::limits::Limit;
use super::path::WorkspacePath;
use super::shared::Shared;
use super::stat::FileKind;
use super::sys::{Dir, Failure, Listed, Use};

use entry::Base;
pub use entry::{Entry, StatCache};
pub use ignore::IgnoreRules;
pub(super) use ignore::Ignores;
use ignore::{Answer, Here, Level, Rules, is_open_files};
pub(super) use ignore::{Origin, linked_content};
pub use ignored_entries::IgnoredEntries;
pub use limits_hit::LimitsHit;
use visit::NAMED;
pub(super) use visit::Visitor;
pub use visit::{Ignored, WalkOptions, WalkReport};

/// How many directories of a branch stay open.
const OPEN_AT_ONCE: usize = 64;
/// As many once the limit of open files was met.
const OPEN_WHEN_SHORT: usize = 2;

/// See [`super::Workspace::walk`].
pub(super) fn walk(
    shared: &Arc<Shared>,
    start: &WorkspacePath,
    options: &WalkOptions,
    visit: &mut dyn Visitor,
) -> Result<WalkReport, AccessError> {
    walk_in(shared, start, None, options, visit)
}

/// The part that `child` has in a walk from the directory it lies in: itself, unless ignored, and all below it.
pub(super) fn walk_child(
    shared: &Arc<Shared>,
    child: &WorkspacePath,
    options: &WalkOptions,
    visit: &mut dyn Visitor,
) -> Result<WalkReport, AccessError> {
    let missing = || AccessError::new(AccessErrorKind::NotFound, child);
    let parent = child.parent().ok_or_else(missing)?;
    walk_in(shared, &parent, child.file_name(), options, visit)
}

fn walk_in(
    shared: &Arc<Shared>,
    start: &WorkspacePath,
    only: Option<&OsStr>,
    options: &WalkOptions,
    visit: &mut dyn Visitor,
) -> Result<WalkReport, AccessError> {
    let (what, way) = shared.stat(start)?;
    let base =
        Arc::new(Base { asked: start.clone(), real: way.real, aliases: way.aliases, shared: Arc::clone(shared) });
    let mut walk = Walk {
        rules: Rules { ignores: &shared.ignores, roots: &shared.roots, needed: options.ignored != Ignored::Include },
        path: base.real.relative().to_path_buf(),
        base,
        options,
        visit,
        report: WalkReport::default(),
        branch: Vec::new(),
        open_at_once: OPEN_AT_ONCE,
    };
    if what.kind == FileKind::Directory {
        walk.start()?;
        match only {
            Some(name) => walk.run_child(name),
            None => walk.run(0),
        }
    } else if what.kind == FileKind::File && options.ignored != Ignored::Only {
        let entry = Entry::start(&walk.base, what.kind);
        walk.report.stopped = walk.visit.visit(entry).is_break();
    } else if what.kind != FileKind::File {
        return Err(AccessError::new(AccessErrorKind::Special(what.special()), start));
    }
    Ok(walk.report)
}

/// One directory of the current branch.
struct Frame {
    /// Its handle; dropped while the walk is far below it.
    dir: Option<Arc<Dir>>,
    /// Its names, sorted by bytes, and the next one to look at.
    names: Vec<Listed>,
    next: usize,
    /// Its ignore rules, with those above it.
    level: Option<Arc<Level>>,
    /// Whether it lies in an ignored directory (then all below it is ignored).
    ignored: bool,
}

struct Walk<'w> {
    base: Arc<Base>,
    rules: Rules<'w>,
    options: &'w WalkOptions,
    visit: &'w mut dyn Visitor,
    report: WalkReport,
    branch: Vec<Frame>,
    /// How many directories of it stay open.
    open_at_once: usize,
    /// The real path below the root of the entry at hand.
    path: PathBuf,
}

/// A directory that can be entered.
struct Inside {
    dir: Arc<Dir>,
    names: Vec<Listed>,
    /// The visitor wants to see nothing of it.
    closed: bool,
}

impl Walk<'_> {
    /// Opens the start, with the ignore rules of all directories from the root down to it.
    fn start(&mut self) -> Result<(), AccessError> {
        let base = Arc::clone(&self.base);
        let failed = |error| AccessError::from_io(error, &base.asked);
        // The names were real a moment ago, so a link among them now is not followed.
        let opened = base.real.root().dir().dir_beneath(base.real.relative(), Use::List);
        let dir = opened.map_err(|failure| match failure {
            Failure::Link => AccessError::new(AccessErrorKind::Changed, &base.asked),
            Failure::Io(error) => failed(error),
        })?;
        let real = &base.real;
        let _ = self.visit.opened(&dir, real.relative());
        let names = sorted(&dir).map_err(failed)?;
        if find(&names, ".git").is_some() {
            self.visit.repository(&dir, real.relative());
        }
        let above = self.rules.above(real, &mut self.report.limits_hit).map_err(failed)?;
        let here = Here { root: real.root(), relative: real.relative(), dir: &dir };
        let has = |name: &str| find(&names, name).is_some();
        let visit = &mut self.visit;
        let mut note = |name, origin: Origin<'_>| visit.rules(real.relative(), name, &origin);
        let level = self.rules.level(above, here, has, &mut note, &mut self.report.limits_hit).map_err(failed)?;
        self.branch.push(Frame { dir: Some(Arc::new(dir)), names, next: 0, level, ignored: false });
        Ok(())
    }

    /// Goes on with the entry of the start that has this name, and ends behind it.
    fn run_child(&mut self, name: &OsStr) {
        let Some(start) = self.branch.last_mut() else { return };
        let name = name.as_encoded_bytes();
        let Ok(at) = start.names.binary_search_by(|listed| listed.name.as_encoded_bytes().cmp(name)) else { return };
        start.next = at;
        if self.step() {
            self.run(1);
        }
    }

    /// Goes on until only the innermost `end` directories are left.
    fn run(&mut self, end: usize) {
        while self.branch.len() > end && self.step() {}
    }

    /// Deals with the next entry, or leaves a directory; false when the visitor ended the walk.
    fn step(&mut self) -> bool {
        let Some(frame) = self.branch.last_mut() else { return true };
        let Some(listed) = frame.names.get(frame.next) else {
            self.branch.pop();
            self.path.pop();
            return true;
        };
        frame.next += 1;
        self.path.push(&listed.name);
        let kind = listed.kind;
        let depth = self.branch.len();
        let entered = match self.look(kind, depth) {
            ControlFlow::Break(()) => {
                self.report.stopped = true;
                return false;
            }
            ControlFlow::Continue(entered) => entered,
        };
        if !entered {
            self.path.pop();
        }
        true
    }

    /// Deals with the entry at hand. True when it is a directory that was entered.
    fn look(&mut self, kind: FileKind, depth: usize) -> ControlFlow<(), bool> {
        let directory = kind == FileKind::Directory;
        let frame = &self.branch[depth - 1];
        let listed = &frame.names[frame.next - 1];
        if directory && default_ignores::is_version_control(&listed.name) {
            return ControlFlow::Continue(false);
        }
        // What the root hides that the start was asked for in cannot be opened through it either.
        if self.base.shared.roots.hidden(self.base.real.root(), &self.path)
            || (!self.base.is_direct() && (self.asked_path().hidden() || self.base.hides(self.below())))
        {
            return ControlFlow::Continue(false);
        }
        let mut verdict = Answer::Silent;
        if self.rules.needed && !frame.ignored {
            verdict = self.rules.verdict(frame.level.as_deref(), &self.path, directory);
            if verdict == Answer::Silent
                && self.rules.defaults()
                && default_ignores::is_default_ignored(listed, &frame.names)
            {
                verdict = Answer::Ignored;
            }
        }
        let frame = &self.branch[depth - 1];
        let mut ignored = frame.ignored || verdict == Answer::Ignored;
        if !directory {
            self.file(kind, depth, ignored)?;
            return ControlFlow::Continue(false);
        }
        if ignored && self.options.ignored == Ignored::Skip {
            self.report.ignored_dirs += 1;
            self.skip_ignored(kind, depth);
            return ControlFlow::Continue(false);
        }
        let deeper = self.options.max_depth.is_none_or(|most| depth < most);
        let inside = self.open_child(depth, deeper);
        // Some directories say by a file inside that they are no source; a rule of the user's that
        // keeps them wins.
        if self.rules.needed && self.rules.defaults() && !ignored && verdict == Answer::Silent {
            let name = self.path.file_name().unwrap_or_default();
            let tagged =
                inside.as_ref().filter(|inside| !inside.closed).is_some_and(|Inside { dir, names, .. }| {
                    default_ignores::is_default_ignored_by_content(name, |mark| {
                        if deeper { find(names, mark).is_some() } else { dir.child_stat(mark.as_ref()).is_ok() }
                    })
                });
            if tagged {
                ignored = true;
                if self.options.ignored == Ignored::Skip {
                    self.report.ignored_dirs += 1;
                    self.skip_ignored(kind, depth);
                    return ControlFlow::Continue(false);
                }
            }
        }
        if self.options.directories && self.wanted(ignored) {
            self.visit(kind, depth)?;
        }
        let Some(Inside { dir, names, .. }) = inside.filter(|inside| deeper && !inside.closed) else {
            return ControlFlow::Continue(false);
        };
        ControlFlow::Continue(self.enter(dir, names, ignored))
    }

    fn file(&mut self, kind: FileKind, depth: usize, ignored: bool) -> ControlFlow<()> {
        if ignored && self.options.ignored == Ignored::Skip {
            self.report.ignored_files += 1;
            self.skip_ignored(kind, depth);
            return ControlFlow::Continue(());
        }
        if self.wanted(ignored) && (kind == FileKind::File || self.options.symlinks) {
            return self.visit(kind, depth);
        }
        ControlFlow::Continue(())
    }

    fn wanted(&self, ignored: bool) -> bool {
        match self.options.ignored {
            Ignored::Skip => !ignored,
            Ignored::Include => true,
            Ignored::Only => ignored,
        }
    }

    fn visit(&mut self, kind: FileKind, depth: usize) -> ControlFlow<()> {
        let entry = self.entry(kind, depth);
        self.visit.visit(entry)
    }

    fn skip_ignored(&mut self, kind: FileKind, depth: usize) {
        if self.visit.wants_ignored() {
            let entry = self.entry(kind, depth);
            self.visit.ignored(entry);
        } else if self.options.max_depth.is_none() {
            let entry = self.entry(kind, depth);
            self.report.ignored_entries.push(entry);
        }
    }

    fn entry(&self, kind: FileKind, depth: usize) -> Entry {
        let dir = self.branch[depth - 1].dir.as_ref().map(Arc::downgrade).unwrap_or_default();
        Entry::new(&self.base, self.asked_path(), kind, depth, dir)
    }

    /// The path at hand as it is reached from the start that was asked for.
    fn asked_path(&self) -> WorkspacePath {
        if self.base.is_direct() {
            WorkspacePath::new(self.base.real.root(), &self.path)
        } else {
            self.base.asked.child(self.below())
        }
    }

    /// The path at hand below the start.
    fn below(&self) -> &Path {
        self.path.strip_prefix(self.base.real.relative()).unwrap_or(&self.path)
    }

    /// Opens the directory at hand, and lists it when it is going to be entered. One that cannot be
    /// opened is counted, and visited all the same.
    fn open_child(&mut self, depth: usize, list: bool) -> Option<Inside> {
        let purpose = if list { Use::List } else { Use::Pass };
        let name = self.path.file_name().unwrap_or_default();
        let name = name.to_owned();
        let mut opened = self.handle(depth - 1).and_then(|parent| parent.child_dir(&name, purpose));
        if opened.as_ref().is_err_and(is_open_files) {
            self.close_branch();
            opened = self.handle(depth - 1).and_then(|parent| parent.child_dir(&name, purpose));
        }
        let listed = opened.and_then(|dir| {
            let closed = !self.visit.opened(&dir, &self.path);
            let names = if list && !closed { sorted(&dir)? } else { Vec::new() };
            Ok(Inside { dir: Arc::new(dir), names, closed })
        });
        match listed {
            Ok(inside) => Some(inside),
            Err(error) if is_open_files(&error) => {
                self.starved(&error);
                None
            }
            // Gone, or a link by now: there is nothing to list.
            Err(error) if !list || error.kind() == io::ErrorKind::NotFound => None,
            Err(_) => {
                self.report.unreadable_count += 1;
                self.visit.unreadable();
                if self.report.unreadable.len() < NAMED {
                    self.report.unreadable.push(self.asked_path());
                }
                None
            }
        }
    }

    /// Closes what can be opened again, and from now on holds no more than needed.
    fn close_branch(&mut self) {
        self.open_at_once = OPEN_WHEN_SHORT;
        self.branch.iter_mut().skip(1).for_each(|frame| frame.dir = None);
    }

    /// A directory whose content, or whose ignore rules, could not be had for want of open files.
    fn starved(&mut self, error: &io::Error) {
        self.visit.unreadable();
        if let Some(limit) = Limit::of(error) {
            self.report.limits_hit.directory(limit);
        }
    }

    /// The rules in the directory that is entered.
    fn level(
        &mut self,
        above: Option<Arc<Level>>,
        dir: &Dir,
        has: impl Fn(&str) -> bool,
    ) -> io::Result<Option<Arc<Level>>> {
        let here = Here { root: self.base.real.root(), relative: &self.path, dir };
        let visit = &mut self.visit;
        let mut read = |name, origin: Origin<'_>| visit.rules(here.relative, name, &origin);
        self.rules.level(above, here, has, &mut read, &mut self.report.limits_hit)
    }

    /// Goes into a directory; false where its ignore rules cannot be had, so that nobody knows what to show of it.
    fn enter(&mut self, dir: Arc<Dir>, names: Vec<Listed>, ignored: bool) -> bool {
        let above = self.branch.last().and_then(|frame| frame.level.clone());
        if find(&names, ".git").is_some() {
            self.visit.repository(&dir, &self.path);
        }
        let has = |name: &str| find(&names, name).is_some();
        let level = if ignored {
            None
        } else {
            let mut level = self.level(above.clone(), &dir, has);
            if level.as_ref().is_err_and(is_open_files) {
                self.close_branch();
                level = self.level(above, &dir, has);
            }
            match level {
                Ok(level) => level,
                Err(error) => {
                    self.starved(&error);
                    return false;
                }
            }
        };
        self.branch.push(Frame { dir: Some(dir), names, next: 0, level, ignored });
        // The start stays open: all others are found again from it.
        if let Some(far) = self.branch.len().checked_sub(self.open_at_once).filter(|far| *far > 0) {
            self.branch[far].dir = None;
        }
        true
    }

    /// The handle of a directory of the branch, opened again beneath the nearest one that is still
    /// open, together with some of those above it so that climbing back stays cheap.
    fn handle(&mut self, index: usize) -> io::Result<Arc<Dir>> {
        let open = |at: usize| self.branch[at].dir.clone().map(|dir| (at, dir));
        let (nearest, mut dir) = (0..=index).rev().find_map(open).ok_or(io::ErrorKind::NotFound)?;
        if nearest == index {
            return Ok(dir);
        }
        let names: Vec<_> = self.below().iter().map(ToOwned::to_owned).collect();
        let first = (index + 1).saturating_sub(self.open_at_once / 2).max(nearest + 1);
        let skipped: PathBuf = names[nearest..first].iter().collect();
        dir = Arc::new(dir.dir_beneath(&skipped, Use::List).map_err(|failure| match failure {
            Failure::Link => io::ErrorKind::NotFound.into(),
            Failure::Io(error) => error,
        })?);
        self.branch[first].dir = Some(Arc::clone(&dir));
        for at in first + 1..=index {
            dir = Arc::new(dir.child_dir(&names[at - 1], Use::List)?);
            self.branch[at].dir = Some(Arc::clone(&dir));
        }
        Ok(dir)
    }
}

/// The names of a directory in byte order.
fn sorted(dir: &Dir) -> io::Result<Vec<Listed>> {
    let mut names = dir.list()?;
    names.sort_unstable_by(|one, two| one.name.as_encoded_bytes().cmp(two.name.as_encoded_bytes()));
    Ok(names)
}

/// The entry of that name in a sorted listing.
fn find<'l>(names: &'l [Listed], name: &str) -> Option<&'l Listed> {
    let at = names.binary_search_by(|listed| listed.name.as_encoded_bytes().cmp(name.as_bytes())).ok()?;
    names.get(at)
}
