//! The arguments of `glob`, checked and compiled, with the errors for those that cannot be used; its walk, and the look at
//! what the ignore rules leave out.

use std::{cell::LazyCell, mem, ops::ControlFlow, path::Path};

use change_set::Workspace;
use confined_fs::stop::{StopReason, StopSignal};
use confined_fs::walk::{Ignored, IgnoredEntries, WalkOptions, WalkReport};
use confined_fs::{FileKind, LookAlikes, WorkspacePath};
use schemars::JsonSchema;
use serde::Deserialize;
use text_file::{backslash_note, shorten, with_slashes};
use tree_search::name_glob::{GlobError, escape_glob, join_globs, literal_prefix, split_globs};
use tree_search::{
    LinksNotFollowed, MetLinks, NameGlob, NewestNames, PathSource, Scope, SearchEntry, Visit, walk_ignored_entries,
};

use crate::{
    CallContext, ExistingKind, Kind, ToolError,
    omissions::{self, InIgnored},
    paging,
};

/// Results when the call does not say, and at most.
const DEFAULT_RESULTS: usize = 200;
const MAX_RESULTS: usize = 1000;

#[derive(Debug)]
pub(super) struct GlobRequest {
    pub(super) args: Args,
    pub(super) glob: NameGlob,
    directories: Option<DirectoryGlobs>,
    pub(super) pattern: String,
    /// Whether only what is directly in `scope` is meant, as by `/mnt/ws/src/*.rs`.
    is_direct: bool,
    pub(super) scope: Scope,
    pub(super) skip: usize,
    pub(super) take: usize,
    pub(super) results_note: Option<String>,
}

impl GlobRequest {
    pub(super) fn read(cx: &CallContext, args: Args) -> Result<Self, ToolError> {
        let workspace = &*cx.workspace;
        let given = args.path.as_deref().filter(|path| !path.trim().is_empty());
        let mut scope = cx.scope(given, ExistingKind::DirectoryOrFile)?;
        let given_pattern = with_slashes(&args.pattern);
        let (mut pattern, mut is_direct) = (given_pattern.into_owned(), false);
        let base = given.is_some().then_some(&scope);
        if split_globs(&pattern).len() > 1 && !scope.holds(workspace, &pattern) {
            if let Some((below, rest)) = below_prefixes(workspace, base, &pattern)? {
                (scope, pattern) = (below, rest);
            }
        } else if let Some((below, rest)) = below_prefix(workspace, base, &pattern)? {
            (scope, pattern) = (below, rest[1..].to_owned());
            let name = pattern.trim_end_matches('/');
            is_direct = !name.contains('/') && name != "**";
        }
        let case_sensitive = args.case_sensitive.unwrap_or(true);
        // A file may be called `un{closed.txt` or `a,b.txt`, which is found by its name as any other.
        let is_name = || scope.holds(workspace, &pattern);
        let several = pattern.starts_with('!') || split_globs(&pattern).len() > 1;
        let mut directories = None;
        let glob = match NameGlob::compile_entries(&pattern, case_sensitive) {
            Ok(_) if several && is_name() => NameGlob::literal(&pattern, case_sensitive),
            Err(GlobError::Syntax(_)) if is_name() => NameGlob::literal(&pattern, case_sensitive),
            Ok(glob) => directories_alone(&pattern, case_sensitive).map(|alone| {
                directories = alone;
                glob
            }),
            error => error,
        };
        let glob = glob.map_err(|error| glob_error(&args.pattern, &error))?;
        if let Some(file) = scope.file() {
            return Err(ToolError::invalid(format!("{file} is not a directory"))
                .hint("pass the directory to search in as path; read shows a file"));
        }
        let take = paging::max_results(args.max_results, DEFAULT_RESULTS, MAX_RESULTS);
        Ok(Self {
            glob,
            directories,
            pattern,
            is_direct,
            scope,
            skip: paging::offset(args.offset)?,
            take: take.value,
            results_note: take.note("max_results"),
            args,
        })
    }

    /// The entries, by path, that a glob in the call of another tool means.
    pub(super) fn of_entries(cx: &CallContext, pattern: &str) -> Result<(Self, GlobHits), ToolError> {
        let args = Args {
            pattern: pattern.to_owned(),
            path: None,
            include_dirs: Some(true),
            sort: Some(Sort::Path),
            max_results: i64::try_from(MAX_RESULTS).ok(),
            offset: None,
            no_ignore: None,
            case_sensitive: None,
        };
        let mut request = Self::read(cx, args)?;
        request.is_direct |= !pattern.contains('/') && pattern != "**";
        let found = request.walk(cx, Ignored::Skip, &cx.stop, None)?;
        Ok((request, found))
    }

    pub(super) fn ignored(&self) -> Ignored {
        if self.args.no_ignore == Some(true) { Ignored::Include } else { Ignored::Skip }
    }

    /// Whether an entry of this kind is listed, at a path that the glob matches; `None` where it only matches as another kind.
    fn lists(&self, relative: &Path, is_directory: bool) -> Option<bool> {
        let is_listed = !is_directory || self.args.include_dirs == Some(true);
        match &self.directories {
            None => Some(is_listed),
            Some((alone, _)) if is_directory && alone.matches(relative) => Some(true),
            Some((_, others)) => others.as_ref().filter(|others| others.matches(relative)).map(|_| is_listed),
        }
    }

    /// Whether the pattern finds directories and nothing else.
    pub(super) fn is_of_directories(&self) -> bool {
        matches!(self.directories, Some((_, None)))
    }
}

type DirectoryGlobs = (NameGlob, Option<NameGlob>);

/// The patterns that end in `/`, which find directories alone, and the others, where there are some.
fn directories_alone(patterns: &str, case_sensitive: bool) -> Result<Option<DirectoryGlobs>, GlobError> {
    let (left_out, found): (Vec<_>, Vec<_>) = split_globs(patterns).into_iter().partition(|part| part.starts_with('!'));
    let (alone, others): (Vec<_>, Vec<_>) = found.into_iter().partition(|part| part.ends_with('/'));
    let compile =
        |parts: &[&str]| NameGlob::compile_entries(&join_globs(parts.iter().chain(&left_out).copied()), case_sensitive);
    if alone.is_empty() {
        return Ok(None);
    }
    Ok(Some((compile(&alone)?, if others.is_empty() { None } else { Some(compile(&others)?) })))
}

/// Models put the folder into the pattern: `/mnt/ws/src/**/*.rs`, or `mount/src/*.rs`. Where what
/// comes before the first metacharacter is a place inside a root (and inside `path`, when that is
/// given), it is where the search starts; the rest begins with the slash after it.
pub(crate) fn below_prefix<'a>(
    workspace: &Workspace,
    given: Option<&Scope>,
    pattern: &'a str,
) -> Result<Option<(Scope, &'a str)>, ToolError> {
    let Some((prefix, rest)) = literal_prefix(pattern) else { return Ok(None) };
    let has_drive = cfg!(windows) && Path::new(prefix).is_absolute();
    let absolute = pattern.starts_with('/') || pattern.starts_with("~/") || has_drive;
    let is_below = |name: &str| prefix.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    // Next to a `path`, the first name of a pattern is one below it, even where a root is called so.
    let mounted = given.is_none() && workspace.roots().iter().any(|root| root.name().is_some_and(is_below));
    // With `..` in it, the pattern is left to `NameGlob`, which refuses what leaves its start.
    if prefix.split('/').any(|part| part == "..") {
        return Ok(None);
    }
    let base = given.and_then(|scope| scope.starts().first());
    let below_base = base.filter(|_| !absolute).map(|base| format!("{base}/{prefix}"));
    // `/src/*.rs` means the root's own src: not a place outside.
    let Ok(start) = workspace.resolve(below_base.as_deref().unwrap_or(prefix)) else { return Ok(None) };
    let start = if let LookAlikes::One(path) = workspace.look_alikes(&start) { path } else { start };
    // A search of what is above leaves a linked worktree out, so a pattern that leads into one begins there.
    let above = std::iter::successors(Some(start.clone()), WorkspacePath::parent);
    let mut below = above.take_while(|directory| base != Some(directory));
    if !(absolute || mounted || below.any(|directory| workspace.is_linked_worktree(&directory))) {
        return Ok(None);
    }
    if let Some(base) = base {
        let inside = start.root().key() == base.root().key() && start.relative().starts_with(base.relative());
        if !inside {
            return Err(ToolError::new(Kind::InvalidInput, format!("the pattern {pattern:?} is outside path {base}"))
                .hint("give a pattern relative to path, or leave path out"));
        }
    }
    let scope = Scope::at(workspace, &start).map_err(|error| ToolError::access(workspace, error))?;
    Ok(Some((scope, rest)))
}

/// As [`below_prefix`], of several patterns: where one begins at a place of the workspace, all are below one root, or below
/// `given`, and each is relative to that.
fn below_prefixes(
    workspace: &Workspace,
    given: Option<&Scope>,
    patterns: &str,
) -> Result<Option<(Scope, String)>, ToolError> {
    let (mut base, mut relative) = (given.and_then(|scope| scope.starts().first().cloned()), Vec::new());
    let parts = split_globs(patterns);
    for part in &parts {
        let (not, plain) = part.split_at(part.len() - part.trim_start_matches('!').len());
        let Some((below, rest)) = below_prefix(workspace, given, plain)? else { continue };
        let Some(start) = below.starts().first() else { continue };
        let base = base.get_or_insert_with(|| workspace.root_path(start.root()));
        if !start.is_in(base) {
            return Err(ToolError::invalid(format!("the pattern {plain:?} is not below {base}, as another one is"))
                .hint("match patterns of several roots one call each"));
        }
        let above = start.relative_to(base).to_string_lossy();
        relative.push(format!("{not}{}{rest}", escape_glob(&with_slashes(&above))));
    }
    match base.filter(|_| !relative.is_empty()) {
        None => Ok(None),
        Some(_) if relative.len() < parts.len() => Err(ToolError::invalid(format!(
            "of the patterns {patterns:?} some name a place of the workspace and some do not"
        ))
        .hint("give all of them relative to path")),
        Some(base) => {
            let scope = Scope::at(workspace, &base).map_err(|error| ToolError::access(workspace, error))?;
            Ok(Some((scope, join_globs(relative.iter().map(String::as_str)))))
        }
    }
}

fn glob_error(pattern: &str, error: &GlobError) -> ToolError {
    let shown = shorten(pattern, 80);
    let hint = match error {
        GlobError::LeavesRoot => "give a pattern relative to path, and the folder to search in as path",
        GlobError::TooLong { .. } => "match several simpler patterns, one call each",
        GlobError::Syntax(_) if backslash_note(pattern).is_some() => {
            "`\\` is an escape here; write / between directories, as in src/**/*.rs"
        }
        GlobError::Empty | GlobError::Syntax(_) => "patterns look like \"**/*.rs\", \"src/*.{ts,tsx}\" or \"Makefile\"",
    };
    ToolError::invalid(format!("invalid pattern {shown:?}: {error}")).hint(hint)
}

/// Which names to look for, and where.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    /// Glob relative to `path`: "**/*.rs", "src/*.{ts,tsx}", several by commas. Without a slash: at any depth.
    pub(super) pattern: String,
    /// Directory to search. Default: all roots.
    pub(super) path: Option<String>,
    /// List matching directories too, with a trailing slash. Default: false.
    pub(super) include_dirs: Option<bool>,
    /// Order: newest first, or by path. Default: modified.
    pub(super) sort: Option<Sort>,
    /// Most paths to return, at most 1000. Default: 200.
    pub(super) max_results: Option<i64>,
    /// Paths to skip, for the next page. Default: 0.
    pub(super) offset: Option<i64>,
    /// List ignored files too. Default: false.
    pub(super) no_ignore: Option<bool>,
    /// Match upper and lower case exactly. Default: true.
    pub(super) case_sensitive: Option<bool>,
}

#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Sort {
    /// Newest first, ties by path.
    Modified,
    /// By path.
    Path,
}

/// Names between two looks at the clock.
const CHECK_EVERY: usize = 64;
/// Names between two progress reports.
const REPORT_EVERY: usize = 10_000;

#[derive(Debug, Default)]
pub(super) struct GlobHits {
    /// The first `skip + take` paths in order; whether each is a directory.
    pub(super) paths: Vec<(WorkspacePath, bool)>,
    pub(super) total: usize,
    pub(super) directories: usize,
    pub(super) visited: usize,
    /// The walk ended because the page was complete.
    pub(super) capped: bool,
    pub(super) stopped: Option<StopReason>,
    pub(super) walk: WalkReport,
    pub(super) source: PathSource,
    /// Links that were met and not entered, and those of them that lead to what was not searched.
    pub(super) links: MetLinks,
    pub(super) not_followed: LinksNotFollowed,
    /// The names that were met on the disk, as long as none matched.
    pub(super) seen: SeenNames,
    pub(super) hidden: Option<InIgnored>,
    /// The paths that are most likely meant where nothing matches; whether each is a directory.
    pub(super) nearest: Vec<(WorkspacePath, bool)>,
}

struct GlobWalk<'w> {
    request: &'w GlobRequest,
    cx: &'w CallContext,
    stop: &'w StopSignal,
    options: WalkOptions,
    start: (usize, &'w WorkspacePath),
    is_counting: bool,
    looks_again: bool,
    newest: NewestNames,
    found: GlobHits,
}

impl Visit for GlobWalk<'_> {
    fn visit(&mut self, entry: SearchEntry<'_>) -> ControlFlow<()> {
        self.found.visited += 1;
        let visited = self.found.visited;
        if visited.is_multiple_of(CHECK_EVERY) {
            self.found.stopped = self.stop.stopped();
            if self.found.stopped.is_some() {
                return ControlFlow::Break(());
            }
            if visited % REPORT_EVERY < CHECK_EVERY && !self.is_counting {
                self.cx.report(visited as u64, None, format!("looked at {visited} names"));
            }
        }
        let (request, workspace) = (self.request, &self.cx.workspace);
        let relative = entry.relative_to(self.start.1);
        let is_deeper = request.is_direct && relative.parent().is_some_and(|above| above != Path::new(""));
        let is_match = !is_deeper && request.glob.matches(relative);
        let (mut kind, mut enters, is_walked) = (entry.kind(), None, matches!(entry, SearchEntry::Walked(_)));
        let is_link = kind == FileKind::Symlink;
        // Of a listed name that is of no interest no path is made to ask for that.
        let is_asked = is_match || is_link || self.looks_again && is_walked;
        let is_elsewhere = is_asked && request.scope.belongs_to_other_start(workspace, &entry);
        if is_link && !is_elsewhere {
            enters = request.glob.enters(relative).then(|| entry.path().clone());
            let target = if is_match || enters.is_some() { workspace.link_target(entry.path()) } else { None };
            kind = target.map_or(kind, |(_, kind)| kind);
            if kind != FileKind::File && enters.is_none() && !self.is_counting {
                self.found.links.push(entry.path());
            }
        }
        let (is_entry, is_directory) =
            (matches!(kind, FileKind::Directory | FileKind::File), kind == FileKind::Directory);
        let listed = if is_match && !is_elsewhere && is_entry { request.lists(relative, is_directory) } else { None };
        if let Some(is_listed) = listed {
            self.take(entry, is_directory, is_listed)?;
        } else if self.looks_again && is_walked && !is_link {
            self.found.seen.push(self.start.0, (!is_elsewhere).then_some((entry.kind(), relative)));
        }
        match enters.filter(|_| kind == FileKind::Directory) {
            Some(link) => self.enter(&link),
            None => ControlFlow::Continue(()),
        }
    }
}

impl GlobWalk<'_> {
    fn take(&mut self, entry: SearchEntry<'_>, is_directory: bool, is_listed: bool) -> ControlFlow<()> {
        let (request, found) = (self.request, &mut self.found);
        // Names near the pattern are offered only where nothing matches it.
        if mem::take(&mut self.looks_again) {
            found.seen.forget();
        }
        if !is_listed {
            found.directories += 1;
            return ControlFlow::Continue(());
        }
        found.total += 1;
        if self.is_counting {
            return ControlFlow::Continue(());
        }
        if request.is_newest() {
            self.newest.push(entry, is_directory);
        } else if found.total > request.skip + request.take {
            found.capped = true;
            return ControlFlow::Break(());
        } else {
            found.paths.push((entry.into_path(), is_directory));
        }
        ControlFlow::Continue(())
    }

    /// Walks the directory that a link leads to, by the names below the link.
    fn enter(&mut self, link: &WorkspacePath) -> ControlFlow<()> {
        let ignored = if self.is_counting { Ignored::Include } else { self.options.ignored };
        let options = WalkOptions { ignored, ..self.options.clone() };
        let workspace = &self.cx.workspace;
        // One that is gone meanwhile, or may not be listed, is as a directory of which that is so.
        match workspace.walk(link, &options, &mut |entry| self.visit(SearchEntry::Walked(entry))) {
            Ok(report) => self.found.walk.add(report),
            Err(_) => self.found.walk.add_unreadable(link.clone()),
        }
        if self.found.walk.stopped { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

impl GlobRequest {
    fn is_newest(&self) -> bool {
        self.args.sort != Some(Sort::Path)
    }

    /// Walks; or looks through what an earlier walk left out.
    pub(super) fn walk(
        &self,
        cx: &CallContext,
        ignored: Ignored,
        stop: &StopSignal,
        entries: Option<&IgnoredEntries>,
    ) -> Result<GlobHits, ToolError> {
        let is_counting = ignored == Ignored::Only;
        let options = WalkOptions { ignored, max_depth: None, directories: true, symlinks: true };
        let wanted = if is_counting { 0 } else { self.skip + self.take };
        let Some(first) = self.scope.starts().first() else { return Ok(GlobHits::default()) };
        let mut walk = GlobWalk {
            request: self,
            cx,
            stop,
            options: options.clone(),
            start: (0, first),
            is_counting,
            looks_again: !is_counting,
            newest: NewestNames::new(wanted, cx.settings.search_threads()),
            found: GlobHits::default(),
        };
        for start in self.scope.starts().iter().enumerate() {
            walk.start = start;
            let walked = match entries.and_then(IgnoredEntries::all) {
                Some(entries) => {
                    Ok((walk_ignored_entries(&cx.workspace, start.1, entries, &options, &mut walk), PathSource::Walk))
                }
                None => cx.path_index.walk(&cx.workspace, start.1, &options, &mut walk),
            };
            let (report, source) = walked.map_err(|error| ToolError::access(&cx.workspace, error))?;
            if source == PathSource::Index {
                // Met again as fast.
                walk.found.seen.forget();
            }
            walk.found.source = source;
            walk.found.walk.add(report);
            if walk.found.walk.stopped {
                break;
            }
        }
        let GlobWalk { newest, mut found, .. } = walk;
        if self.is_newest() && !is_counting {
            found.paths = newest.into_sorted().collect();
        }
        Ok(found)
    }

    pub(super) fn links(&self, cx: &CallContext, found: &GlobHits) -> LinksNotFollowed {
        if self.is_direct || found.capped || found.stopped.is_some() {
            return LinksNotFollowed::default();
        }
        let reach = LazyCell::new(|| self.glob.reach());
        found.links.not_followed(
            &cx.workspace,
            &self.scope,
            (self.ignored(), found.total > 0),
            &cx.stop,
            // A link to a file is a name.
            &mut |kind, link, target| kind == FileKind::Directory && reach.is_more(link, target),
        )
    }

    /// Counts what ignored folders hold, for a moment, after a walk that left them out.
    pub(super) fn look_into_ignored(&self, cx: &CallContext, found: &mut GlobHits) {
        let ignored = found.walk.ignored_files + found.walk.ignored_dirs;
        if self.ignored() == Ignored::Include || ignored == 0 || found.capped || found.stopped.is_some() {
            return;
        }
        let stop = cx.stop.with_earlier_deadline(omissions::time_for_ignored(found.total > 0));
        // The answer is complete without it, so an error here is none of the call.
        if let Ok(below) = self.walk(cx, Ignored::Only, &stop, Some(&found.walk.ignored_entries)) {
            found.walk.worktrees += below.walk.worktrees;
            found.hidden = InIgnored::of(below.total, below.stopped, found.total > 0);
        }
    }
}

/// Names that are kept: more are not looked at again.
pub(super) const MAX_SEEN_NAMES: usize = 100_000;

#[derive(Debug, Default)]
pub(super) struct SeenNames {
    text: String,
    names: Vec<SeenName>,
    met: usize,
    lacks_some: bool,
}

#[derive(Debug)]
struct SeenName {
    start: usize,
    kind: FileKind,
    end: usize,
}

impl SeenNames {
    /// Adds a name below the start of this number; `None` is one that is not to be looked at.
    pub(super) fn push(&mut self, start: usize, name: Option<(FileKind, &Path)>) {
        self.met += 1;
        let Some((kind, relative)) = name.filter(|_| self.met <= MAX_SEEN_NAMES && !self.lacks_some) else { return };
        match relative.to_str() {
            Some(relative) => {
                self.text.push_str(relative);
                self.names.push(SeenName { start, kind, end: self.text.len() });
            }
            // A path with such a name may end in one that is text.
            None => self.lacks_some = true,
        }
    }

    pub(super) fn forget(&mut self) {
        *self = Self { lacks_some: true, ..Self::default() };
    }

    /// The numbers of the starts, the kinds and the paths; `None` where not all that are to be looked at are here.
    pub(super) fn all(&self) -> Option<impl Iterator<Item = (usize, FileKind, &Path)>> {
        let mut from = 0;
        (!self.lacks_some).then(|| {
            self.names.iter().map(move |name| {
                let path = &self.text[std::mem::replace(&mut from, name.end)..name.end];
                (name.start, name.kind, Path::new(path))
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seen_names_are_all_or_none() {
        let mut seen = SeenNames::default();
        seen.push(0, Some((FileKind::Directory, Path::new("src"))));
        seen.push(0, None);
        seen.push(1, Some((FileKind::File, Path::new("src/a.rs"))));
        let all: Vec<_> = seen.all().unwrap().collect();
        assert_eq!(all, [(0, FileKind::Directory, Path::new("src")), (1, FileKind::File, Path::new("src/a.rs"))]);
        for _ in 3..MAX_SEEN_NAMES + 7 {
            seen.push(0, Some((FileKind::File, Path::new("x"))));
        }
        assert_eq!(seen.all().unwrap().count(), MAX_SEEN_NAMES - 1, "the second one met is none");
        seen.forget();
        seen.push(0, Some((FileKind::File, Path::new("x"))));
        assert!(seen.all().is_none());
    }

    #[cfg(unix)]
    #[test]
    fn a_path_that_is_no_text_needs_another_walk() {
        use std::os::unix::ffi::OsStrExt as _;
        let mut seen = SeenNames::default();
        seen.push(0, Some((FileKind::File, Path::new(std::ffi::OsStr::from_bytes(b"\xff/a.rs")))));
        assert!(seen.all().is_none());
    }
}
