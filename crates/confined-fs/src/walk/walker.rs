//! One walk: which entries are met, in what order, and which are visited; [`walk_names`] looks at a few names of a
//! directory alone, at a cost that does not depend on how many names it has.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};
use std::{collections::BTreeSet, io, ops::ControlFlow};

use beneath::{Dir, DirectoryStack, Failure, FileKind, Listed, OpenFor};
use ignore::Match;

use crate::disk_rules::worktree::{GIT_ENTRY, is_left_out};
use crate::error::{AccessError, AccessErrorKind, AtPath as _};
use crate::walk::entry::{Entry, WalkStart};
use crate::walk::ignores::{
    DirectoryIgnores, GITIGNORE_FILE, IGNORE_FILE, LocatedDir, RuleSource, Rules, has, holds_rules, is_file,
    is_ignored_by_marker, is_ignored_by_name, is_marker, is_project_file, is_version_control, position, sorted,
};
use crate::walk::visit::{Ignored, Visitor, WalkOptions, WalkReport};
use crate::{limits::Limit, path::WorkspacePath, policy::reserved_names::is_reserved, shared::Shared};

/// Walks as [`Workspace::walk`](crate::Workspace::walk) does, for any visitor.
pub(crate) fn walk(
    shared: &Arc<Shared>,
    start: &WorkspacePath,
    options: &WalkOptions,
    visit: &mut dyn Visitor,
) -> Result<WalkReport, AccessError> {
    walk_in(shared, start, None, options, visit)
}

/// The part that `child` has in a walk from the directory that holds it: itself, unless ignored, and all below it.
pub(crate) fn walk_child(
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
    asked: &WorkspacePath,
    only: Option<&OsStr>,
    options: &WalkOptions,
    visitor: &mut dyn Visitor,
) -> Result<WalkReport, AccessError> {
    let (what, way) = shared.stat(asked)?;
    let start = Arc::new(WalkStart::new(asked, way, shared));
    let mut report = WalkReport::default();
    match what.kind {
        FileKind::Directory => {
            let mut walk = Walk::new(&start, options, visitor, report, sorted)?;
            match only {
                Some(name) => walk.run_child(name),
                None => walk.run(0),
            }
            report = walk.report;
        }
        FileKind::File if options.ignored != Ignored::Only => {
            let (path, kind) = (start.asked.clone(), what.kind);
            let entry = Entry { start: Arc::clone(&start), path, kind, depth: 0, dir: Weak::new() };
            report.stopped = visitor.visit(entry).is_break();
        }
        FileKind::File => {}
        FileKind::Symlink | FileKind::Other => {
            return Err(AccessError::new(AccessErrorKind::Special(what.special()), asked));
        }
    }
    Ok(report)
}

struct OpenDirectory {
    path: PathBuf,
    /// Its names, sorted by bytes, and the next one to look at.
    names: Vec<Listed>,
    next: usize,
    ignores: Option<Arc<DirectoryIgnores>>,
    /// Whether it is in an ignored directory (then all below it is ignored).
    ignored: bool,
}

pub(super) struct Walk<'w> {
    start: Arc<WalkStart>,
    rules: Rules<'w>,
    options: &'w WalkOptions,
    visitor: &'w mut dyn Visitor,
    pub(super) report: WalkReport,
    /// From the start down to the current directory; `dirs` are their handles.
    frames: Vec<OpenDirectory>,
    dirs: DirectoryStack<Arc<Dir>>,
    path: PathBuf,
}

struct Subdirectory {
    dir: Arc<Dir>,
    names: Vec<Listed>,
    closed: bool,
    /// It is the top of a linked worktree: it is seen, and nothing below it.
    worktree: bool,
}

impl<'w> Walk<'w> {
    /// Opens the start, with the ignore rules of all directories from the root down to it. `list` gives its names.
    pub(super) fn new(
        start: &'w Arc<WalkStart>,
        options: &'w WalkOptions,
        visitor: &'w mut dyn Visitor,
        mut report: WalkReport,
        list: impl FnOnce(&Dir) -> io::Result<Vec<Listed>>,
    ) -> Result<Self, AccessError> {
        let (shared, real) = (&start.shared, &start.real);
        let needed = options.ignored != Ignored::Include;
        let above = shared.ignores.above(real.root());
        let rules = Rules { ignores: &shared.ignores, roots: &shared.roots, above, needed };
        // The names were real a moment ago, so a link among them now is not followed.
        let opened = real.root().dir.dir_beneath(real.relative(), OpenFor::List);
        let dir = Arc::new(opened.at(&start.asked)?);
        // Before it is listed: a watch that begins now misses no change of the names.
        let _ = visitor.opened(&dir, real.relative());
        let names = list(&dir).at(&start.asked)?;
        if has(&names, GIT_ENTRY) {
            visitor.repository(&dir, real.relative());
        }
        let above = rules.above(real, &mut report.limits_hit).at(&start.asked)?;
        let mut walk = Self {
            start: Arc::clone(start),
            rules,
            options,
            visitor,
            report,
            frames: Vec::new(),
            dirs: DirectoryStack::new(Arc::clone(&dir), OpenFor::List),
            path: real.relative().to_path_buf(),
        };
        let ignores = walk.ignores(above, &dir, &names).at(&start.asked)?;
        let path = walk.path.clone();
        walk.frames.push(OpenDirectory { path, names, next: 0, ignores, ignored: false });
        Ok(walk)
    }

    /// Goes on with the entry of the start that has this name, and ends after it.
    fn run_child(&mut self, name: &OsStr) {
        let Some(start) = self.frames.last_mut() else { return };
        let Some(at) = position(&start.names, name.as_encoded_bytes()) else { return };
        start.next = at;
        if self.step() {
            self.run(1);
        }
    }

    pub(super) fn run(&mut self, end: usize) {
        while self.frames.len() > end && self.step() {}
    }

    /// Deals with the next entry, or leaves a directory; false when the visitor ended the walk.
    fn step(&mut self) -> bool {
        let depth = self.frames.len();
        let Some(frame) = self.frames.last_mut() else { return true };
        let Some(listed) = frame.names.get(frame.next) else {
            self.frames.pop();
            self.dirs.leave();
            return true;
        };
        frame.next += 1;
        // Not `PathBuf::pop`, which parses the whole path.
        self.path.clear();
        self.path.push(&frame.path);
        self.path.push(&listed.name);
        let kind = listed.kind;
        self.report.stopped = self.current(kind, depth).is_break();
        !self.report.stopped
    }

    fn current(&mut self, kind: FileKind, depth: usize) -> ControlFlow<()> {
        let directory = kind == FileKind::Directory;
        let frame = &self.frames[depth - 1];
        let listed = &frame.names[frame.next - 1];
        if (directory && is_version_control(&listed.name))
            // Left by a killed process until it is swept: no file of a person has such a name.
            || is_reserved(&listed.name)
            || self.is_hidden()
        {
            return ControlFlow::Continue(());
        }
        let mut matched = Match::None;
        if self.rules.needed && !frame.ignored {
            matched = self.rules.matched(frame.ignores.as_deref(), &self.path, directory);
            if matched.is_none() && self.rules.defaults() && is_ignored_by_name(listed, &frame.names) {
                matched = Match::Ignore(());
            }
        }
        let ignored = frame.ignored || matched.is_ignore();
        if ignored && self.options.ignored == Ignored::Skip {
            self.skip_ignored(kind, depth);
            return ControlFlow::Continue(());
        }
        if directory {
            return self.directory(ignored, matched.is_none(), depth);
        }
        if self.is_wanted(ignored) && self.options.visits(kind) {
            self.visit(kind, depth)?;
        }
        ControlFlow::Continue(())
    }

    /// Deals with a directory that is not skipped by its name; `by_marker` where no rule of the user's decided.
    fn directory(&mut self, mut ignored: bool, by_marker: bool, depth: usize) -> ControlFlow<()> {
        let deeper = self.options.max_depth.is_none_or(|most| depth < most);
        let inside = self.open_child(deeper);
        // A rule of the user's that keeps a directory goes before a marker in it.
        if self.rules.needed
            && self.rules.defaults()
            && !ignored
            && by_marker
            && inside.as_ref().is_some_and(|inside| self.has_marker(inside, deeper))
        {
            ignored = true;
            if self.options.ignored == Ignored::Skip {
                self.skip_ignored(FileKind::Directory, depth);
                return ControlFlow::Continue(());
            }
        }
        let (wanted, worktree) = (self.is_wanted(ignored), inside.as_ref().is_some_and(|inside| inside.worktree));
        if worktree {
            self.report.worktrees += usize::from(wanted);
            self.visitor.worktree();
        }
        if self.options.directories && wanted {
            self.visit(FileKind::Directory, depth)?;
        }
        if let Some(Subdirectory { dir, names, .. }) = inside.filter(|inside| deeper && !inside.closed && !worktree) {
            self.enter(dir, names, ignored);
        }
        ControlFlow::Continue(())
    }

    fn has_marker(&self, inside: &Subdirectory, listed: bool) -> bool {
        let Subdirectory { dir, names, closed, .. } = inside;
        let holds = |name: &str| if listed { has(names, name) } else { dir.child_stat(name.as_ref()).is_ok() };
        !closed && is_ignored_by_marker(self.path.file_name().unwrap_or_default(), holds)
    }

    /// Whether policy hides the current entry: what the root hides that the start was asked for in cannot be opened
    /// through it either.
    fn is_hidden(&self) -> bool {
        self.start.shared.roots.hidden(self.start.real.root(), &self.path)
            || (!self.start.is_direct && (self.asked_path().hidden() || self.start.hides(self.below())))
    }

    fn is_wanted(&self, ignored: bool) -> bool {
        match self.options.ignored {
            Ignored::Skip => !ignored,
            Ignored::Include => true,
            Ignored::Only => ignored,
        }
    }

    fn visit(&mut self, kind: FileKind, depth: usize) -> ControlFlow<()> {
        let entry = self.entry(kind, depth);
        self.visitor.visit(entry)
    }

    fn skip_ignored(&mut self, kind: FileKind, depth: usize) {
        let report = &mut self.report;
        let count = if kind == FileKind::Directory { &mut report.ignored_dirs } else { &mut report.ignored_files };
        *count += 1;
        if self.visitor.wants_ignored() {
            let entry = self.entry(kind, depth);
            self.visitor.ignored(entry);
        } else if self.options.max_depth.is_none() {
            let entry = self.entry(kind, depth);
            self.report.ignored_entries.push(entry);
        }
    }

    fn entry(&self, kind: FileKind, depth: usize) -> Entry {
        let dir = self.dirs.open().map_or_else(Weak::new, Arc::downgrade);
        Entry { start: Arc::clone(&self.start), path: self.asked_path(), kind, depth, dir }
    }

    /// The path of the current entry as it is reached from the start that was asked for.
    fn asked_path(&self) -> WorkspacePath {
        if self.start.is_direct {
            WorkspacePath::new(self.start.real.root(), &self.path)
        } else {
            self.start.asked.child(self.below())
        }
    }

    fn below(&self) -> &Path {
        self.path.strip_prefix(self.start.real.relative()).unwrap_or(&self.path)
    }

    /// Opens the current entry as a directory, and lists it when it is going to be entered. One that cannot be
    /// opened is counted, and visited all the same.
    fn open_child(&mut self, list: bool) -> Option<Subdirectory> {
        let purpose = if list { OpenFor::List } else { OpenFor::Traverse };
        let mut opened = self.open_current(purpose);
        // The walk itself may hold most descriptors: without them one more can be had.
        if opened.as_ref().is_err_and(is_out_of_files) {
            self.dirs.close_below();
            opened = self.open_current(purpose);
        }
        let listed = opened.and_then(|dir| {
            let closed = !self.visitor.opened(&dir, &self.path);
            let names = if list && !closed { sorted(&dir)? } else { Vec::new() };
            let (root, path) = (self.start.real.root(), &self.path);
            let worktree = is_file(&names, GIT_ENTRY) && is_left_out(&self.start.shared.roots, root, path, &dir);
            Ok(Subdirectory { dir: Arc::new(dir), names, closed, worktree })
        });
        match listed {
            Ok(inside) => Some(inside),
            Err(error) if is_out_of_files(&error) => {
                self.out_of_files(&error);
                None
            }
            // Gone, or the way to it is now a link: there is nothing to list.
            Err(error) if !list || error.kind() == io::ErrorKind::NotFound => None,
            Err(_) => {
                self.visitor.unreadable();
                let path = self.asked_path();
                self.report.add_unreadable(path);
                None
            }
        }
    }

    fn open_current(&mut self, purpose: OpenFor) -> io::Result<Dir> {
        let name = self.path.file_name().unwrap_or_default();
        let parent = self.dirs.dir().map_err(|failure| match failure {
            Failure::Link => io::ErrorKind::NotFound.into(),
            Failure::Io(error) => error,
        })?;
        parent.child_dir(name, purpose)
    }

    /// A directory whose content, or whose ignore rules, could not be read as too many files are open.
    fn out_of_files(&mut self, error: &io::Error) {
        self.visitor.unreadable();
        if let Some(limit) = Limit::of(error) {
            self.report.limits_hit.directory(limit);
        }
    }

    fn ignores(
        &mut self,
        above: Option<Arc<DirectoryIgnores>>,
        dir: &Dir,
        names: &[Listed],
    ) -> io::Result<Option<Arc<DirectoryIgnores>>> {
        let here = LocatedDir { root: self.start.real.root(), relative: &self.path, dir };
        let visitor = &mut self.visitor;
        let mut on_source = |name, source: RuleSource<'_>| visitor.rules(here.relative, name, &source);
        // With another content it may be the top of a linked worktree, or no longer.
        if self.rules.needed && is_file(names, GIT_ENTRY) {
            let content = here.read(GIT_ENTRY, self.rules.roots, &mut |_, _| {})?;
            on_source(GIT_ENTRY, RuleSource::Content(content.as_deref()));
        }
        self.rules.in_directory(above, here, |name| has(names, name), &mut on_source, &mut self.report.limits_hit)
    }

    /// Goes into a directory, unless its ignore rules cannot be read, as ignored files would be shown then.
    fn enter(&mut self, dir: Arc<Dir>, names: Vec<Listed>, ignored: bool) {
        if has(&names, GIT_ENTRY) {
            self.visitor.repository(&dir, &self.path);
        }
        let mut rules = None;
        if !ignored {
            let above = self.frames.last().and_then(|frame| frame.ignores.clone());
            let mut read = self.ignores(above.clone(), &dir, &names);
            if read.as_ref().is_err_and(is_out_of_files) {
                self.dirs.close_below();
                read = self.ignores(above, &dir, &names);
            }
            rules = match read {
                Ok(rules) => rules,
                Err(error) => {
                    self.out_of_files(&error);
                    return;
                }
            };
        }
        self.frames.push(OpenDirectory { path: self.path.clone(), names, next: 0, ignores: rules, ignored });
        self.dirs.push(self.path.file_name().unwrap_or_default(), dir);
    }
}

fn is_out_of_files(error: &io::Error) -> bool {
    Limit::of_open_files(error).is_some()
}

/// As a walk with a depth of 1 over `directory`, which meets no names but `names`, and files of ignore rules. `None`
/// where that is not enough: one of them is a directory, or decides what becomes of others, or it is not known that
/// upper and lower case are different names there, so that the entry may have another name.
pub(crate) fn walk_names(
    shared: &Arc<Shared>,
    directory: &WorkspacePath,
    names: &BTreeSet<OsString>,
    visitor: &mut dyn Visitor,
) -> Result<Option<WalkReport>, AccessError> {
    let decides = |name: &OsString| holds_rules(name) || is_marker(name) || is_project_file(name);
    let (what, way) = shared.stat(directory)?;
    if what.kind != FileKind::Directory || names.iter().any(decides) {
        return Ok(None);
    }
    let start = Arc::new(WalkStart::new(directory, way, shared));
    let options = WalkOptions::all(Some(1));
    let mut is_enough = false;
    let look = |dir: &Dir| {
        let (listed, exact) = among(dir, names)?;
        is_enough = exact && listed.iter().all(|one| one.kind != FileKind::Directory || one.name == *GIT_ENTRY);
        Ok(listed)
    };
    let mut walk = Walk::new(&start, &options, visitor, WalkReport::default(), look)?;
    if !is_enough {
        return Ok(None);
    }
    walk.run(0);
    Ok(Some(walk.report))
}

/// Which of `names`, and of those that hold ignore rules, a directory has, in byte order; and whether letters of
/// another case name something else there.
fn among(dir: &Dir, names: &BTreeSet<OsString>) -> io::Result<(Vec<Listed>, bool)> {
    let rules: BTreeSet<OsString> = [GIT_ENTRY, IGNORE_FILE, GITIGNORE_FILE].into_iter().map(OsString::from).collect();
    let (mut listed, mut is_exact) = (Vec::new(), false);
    for name in names.union(&rules) {
        let stat = match dir.child_stat(name) {
            Ok(stat) => stat,
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(error),
        };
        is_exact = is_exact || is_missing(dir, &in_other_case(name), name);
        listed.push(Listed { name: name.clone(), kind: stat.kind });
    }
    Ok((listed, is_exact))
}

fn is_missing(dir: &Dir, other: &OsStr, name: &OsStr) -> bool {
    other != name && dir.child_stat(other).is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
}

/// The name with the other case of each letter of ASCII; the same where it has none, or is not Unicode.
fn in_other_case(name: &OsStr) -> OsString {
    let Some(name) = name.to_str() else { return name.to_os_string() };
    let other = |letter: char| {
        if letter.is_ascii_lowercase() { letter.to_ascii_uppercase() } else { letter.to_ascii_lowercase() }
    };
    name.chars().map(other).collect::<String>().into()
}
