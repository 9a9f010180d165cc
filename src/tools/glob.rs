//! glob: files by name.
//!
//! Walks, matches names, orders and numbers them. Never opens a file.

use std::{
    fmt::Write as _,
    ops::ControlFlow,
    time::{Duration, Instant},
};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    search::{GlobError, NameGlob, Newest, PathSource, Scope, SearchEntry, literal_prefix, walk_ignored_entries},
    stop::{StopReason, StopSignal},
    text::shorten,
    workspace::{FileKind, Ignored, IgnoredEntries, WalkOptions, WalkReport, Workspace, WorkspacePath},
};

use super::{
    Alias, Answer, CallContext, Group, Kind, Plan, Spec, Tool, ToolError,
    alias::{LISTING_ALIASES, PATH_ALIASES},
    answer::count,
    omissions::{self, InIgnored, SkippedFiles, stopped_note, with_notes},
    paging::{self, shown_range},
};

/// Results when the call does not say, and at most.
const DEFAULT_RESULTS: usize = 200;
const MAX_RESULTS: usize = 1000;
/// How long ignored files are looked through, where something was found and where nothing was.
const IGNORED_SHORT: Duration = Duration::from_millis(50);
const IGNORED_LONG: Duration = Duration::from_millis(300);
/// Bytes kept free for header and footer.
const RESERVED: usize = 1024;
/// Names between two looks at the clock.
const CHECK_EVERY: usize = 64;
/// Names between two progress reports.
const REPORT_EVERY: usize = 10_000;

/// Which names to look for, and where.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// Glob on the path relative to `path`: "**/*.rs", "src/*.{ts,tsx}". Without a slash it matches names at any depth.
    pattern: String,
    /// Directory to search. Default: the root, or all roots.
    path: Option<String>,
    /// List matching directories too, with a trailing slash. Default: false.
    include_dirs: Option<bool>,
    /// Order: newest first, or by path. Default: modified.
    sort: Option<Sort>,
    /// Most paths to return, at most 1000. Default: 200.
    max_results: Option<i64>,
    /// How many paths to pass over: the next page. Default: 0.
    offset: Option<i64>,
    /// List files that ignore rules leave out too. Default: false.
    no_ignore: Option<bool>,
    /// Match upper and lower case exactly. Default: true.
    case_sensitive: Option<bool>,
}

/// The order of paths.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum Sort {
    /// Newest first, ties by path.
    Modified,
    /// By path.
    Path,
}

/// glob's result as data.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Output {
    /// The paths shown; directories end with a slash.
    paths: Vec<String>,
    /// The numbers.
    #[serde(flatten)]
    facts: Facts,
    /// What the answer leaves out, in words.
    notes: Vec<String>,
}

/// The numbers for programs.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Facts {
    /// Paths found, as far as the walk went.
    found: usize,
    /// Paths shown.
    shown: usize,
    /// Whether there is more than is shown.
    truncated: bool,
    /// The offset of the next page.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_offset: Option<usize>,
    /// Whether the walk went to its end.
    complete: bool,
    /// Files and folders left out.
    skipped: SkippedFiles,
    /// What ignored folders hold.
    #[serde(skip_serializing_if = "Option::is_none")]
    ignored: Option<InIgnored>,
    /// Whether the names came from the path index or from a walk.
    source: PathSource,
    /// Why no path index can be kept, where it cannot.
    #[serde(skip_serializing_if = "Option::is_none")]
    walked_because: Option<String>,
    /// How long it took.
    elapsed_ms: u64,
}

/// The glob tool.
#[derive(Debug)]
pub struct Glob;

impl Tool for Glob {
    type Args = Args;
    type Output = Output;
    const SPEC: Spec = Spec {
        name: "glob",
        title: "Find files",
        purpose: "finds files by name",
        description: "Find files by name pattern (\"**/*.rs\", \"src/*.{ts,tsx}\", \"Makefile\"). Returns paths, \
                      newest first. Finds hidden files; respects .gitignore. Use this instead of shell find or ls -R.",
        group: Group::Core,
        aliases: &[PATH_ALIASES, LISTING_ALIASES, OWN_ALIASES],
        read_only: true,
        destructive: false,
        idempotent: true,
        heavy: true,
    };

    fn plan(cx: &CallContext, args: Args) -> Result<Plan, ToolError> {
        let started = Instant::now();
        let request = Request::read(&cx.workspace, &args, cx.settings.patterns.glob)?;
        let found = request.walk(cx, request.ignored(), &cx.stop, None)?;
        if found.stopped == Some(StopReason::Cancelled) {
            cx.check()?;
        }
        let hidden = request.look_into_ignored(cx, &found);
        Ok(Plan::Answer(request.answer(cx, &found, hidden, started)))
    }
}

const OWN_ALIASES: &[Alias] = &[
    Alias::name("query", "pattern"),
    Alias::name("glob", "pattern"),
    Alias::name("includeDirs", "include_dirs"),
    Alias::name("caseSensitive", "case_sensitive"),
];

/// The arguments, understood.
#[derive(Debug)]
struct Request {
    glob: NameGlob,
    scope: Scope,
    directories: bool,
    newest: bool,
    skip: usize,
    take: usize,
    no_ignore: bool,
}

/// What a walk found.
#[derive(Debug, Default)]
struct Found {
    /// The first `skip + take` paths in order; whether each is a directory.
    paths: Vec<(WorkspacePath, bool)>,
    /// Paths found in all, or up to where the walk ended.
    total: usize,
    /// Matching directories that were not asked for.
    directories: usize,
    /// Files and directories looked at.
    visited: usize,
    /// The walk ended because the page was complete.
    capped: bool,
    stopped: Option<StopReason>,
    walk: WalkReport,
    source: PathSource,
}

impl Request {
    fn read(workspace: &Workspace, args: &Args, longest: usize) -> Result<Self, ToolError> {
        let given = args.path.as_deref().filter(|path| !path.trim().is_empty());
        let mut scope = Scope::of(workspace, given).map_err(|error| ToolError::scope(workspace, error))?;
        let mut pattern = args.pattern.as_str();
        if let Some((below, rest)) = below_prefix(workspace, given.is_some().then_some(&scope), pattern)? {
            (scope, pattern) = (below, rest);
        }
        let case_sensitive = args.case_sensitive.unwrap_or(true);
        let glob = NameGlob::compile(pattern, case_sensitive, longest)
            .or_else(|error| match error {
                GlobError::Syntax(_) if is_name(workspace, &scope, pattern) => {
                    NameGlob::literal(pattern, case_sensitive, longest)
                }
                _ => Err(error),
            })
            .map_err(|error| glob_error(&args.pattern, &error))?;
        if let Some(file) = scope.file() {
            return Err(ToolError::invalid(format!("{file} is not a directory"))
                .hint("pass the directory to search in as path; read shows a file"));
        }
        Ok(Self {
            glob,
            scope,
            directories: args.include_dirs.unwrap_or(false),
            newest: args.sort != Some(Sort::Path),
            skip: paging::offset(args.offset)?,
            take: paging::max_results(args.max_results, DEFAULT_RESULTS, MAX_RESULTS),
            no_ignore: args.no_ignore.unwrap_or(false),
        })
    }

    fn ignored(&self) -> Ignored {
        if self.no_ignore { Ignored::Include } else { Ignored::Skip }
    }

    /// Walks; or looks through what an earlier walk left out.
    fn walk(
        &self,
        cx: &CallContext,
        ignored: Ignored,
        stop: &StopSignal,
        entries: Option<&IgnoredEntries>,
    ) -> Result<Found, ToolError> {
        let mut found = Found::default();
        let counting = ignored == Ignored::Only;
        let wanted = self.skip + self.take;
        let mut newest = Newest::new(if counting { 0 } else { wanted });
        let options = WalkOptions { ignored, max_depth: None, directories: true, symlinks: false };
        for start in self.scope.starts() {
            let mut visit = |entry: SearchEntry<'_>| {
                found.visited += 1;
                if found.visited % CHECK_EVERY == 0 {
                    found.stopped = stop.stopped();
                    if found.stopped.is_some() {
                        return ControlFlow::Break(());
                    }
                    if found.visited % REPORT_EVERY < CHECK_EVERY && !counting {
                        cx.report(found.visited as u64, None, format!("looked at {} names", found.visited));
                    }
                }
                let directory = entry.kind() == FileKind::Directory;
                if !(directory || entry.kind() == FileKind::File)
                    || !self.glob.matches(entry.path().relative_to(start))
                    || self.scope.belongs_to_other_start(&cx.workspace, entry.path())
                {
                    return ControlFlow::Continue(());
                }
                if directory && !self.directories {
                    found.directories += 1;
                    return ControlFlow::Continue(());
                }
                found.total += 1;
                if counting {
                    return ControlFlow::Continue(());
                }
                if self.newest {
                    newest.push_next(entry.modified(), || (entry.into_path(), directory));
                } else if found.total > wanted {
                    found.capped = true;
                    return ControlFlow::Break(());
                } else {
                    found.paths.push((entry.into_path(), directory));
                }
                ControlFlow::Continue(())
            };
            let walked = match entries.and_then(IgnoredEntries::all) {
                Some(entries) => {
                    Ok((walk_ignored_entries(&cx.workspace, start, entries, &options, &mut visit), PathSource::Walk))
                }
                None => cx.path_index.walk(&cx.workspace, start, &options, &mut visit),
            };
            let (report, source) = walked.map_err(|error| ToolError::access(&cx.workspace, error))?;
            found.source = source;
            found.walk.add(report);
            if found.walk.stopped {
                break;
            }
        }
        if self.newest && !counting {
            found.paths = newest.into_sorted();
        }
        Ok(found)
    }

    /// Counts what ignored folders hold, for a moment, after a walk that left them out.
    fn look_into_ignored(&self, cx: &CallContext, found: &Found) -> Option<InIgnored> {
        let ignored = found.walk.ignored_files + found.walk.ignored_dirs;
        if self.no_ignore || ignored == 0 || found.capped || found.stopped.is_some() {
            return None;
        }
        let stop = cx.stop.with_earlier_deadline(if found.total > 0 { IGNORED_SHORT } else { IGNORED_LONG });
        let below = self.walk(cx, Ignored::Only, &stop, Some(&found.walk.ignored_entries)).ok()?;
        let exact = below.stopped.is_none();
        (below.total > 0 || (!exact && found.total == 0)).then_some(InIgnored { count: below.total, exact })
    }

    fn answer(&self, cx: &CallContext, found: &Found, hidden: Option<InIgnored>, started: Instant) -> Answer {
        let mut body = String::new();
        let mut paths = Vec::new();
        let budget = cx.settings.max_output.saturating_sub(RESERVED).max(RESERVED / 2);
        for (at, (path, directory)) in found.paths.iter().enumerate().skip(self.skip) {
            let path = format!("{path}{}", if *directory { "/" } else { "" });
            if !paths.is_empty() && body.len() + path.len() > budget {
                break;
            }
            let _ = write!(body, "\n{}. {path}", at + 1);
            paths.push(path);
        }
        let shown = paths.len();
        let truncated = found.capped || found.total > self.skip + shown;
        let next_offset = (truncated && shown > 0).then_some(self.skip + shown);

        let mut notes = Vec::new();
        if found.total == 0 && found.directories > 0 {
            let matched = count(found.directories, "directory");
            let verb = if found.directories == 1 { "matches" } else { "match" };
            notes.push(format!("{matched} {verb}; pass include_dirs"));
        }
        notes.extend(hidden.map(InIgnored::note));
        let next = "narrow the path or the pattern";
        notes.extend(stopped_note(&cx.stop, found.stopped, found.visited, "name", next));
        let tally = crate::search::Tally::default();
        notes.extend(omissions::limit_notes(&tally, &found.walk.limits_hit));
        let skipped = SkippedFiles::of(&tally, &found.walk);
        notes.extend(skipped.note(cx.settings.max_search_file_size));

        let facts = Facts {
            found: found.total,
            shown,
            truncated,
            next_offset,
            complete: !found.capped && found.stopped.is_none() && found.walk.limits_hit.is_empty(),
            skipped,
            ignored: hidden,
            source: found.source,
            walked_because: omissions::walked_because(cx, &self.scope),
            elapsed_ms: u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX),
        };
        let text = with_notes(self.header(found, shown, next_offset) + &body, &notes);
        Answer::text(text, &facts).data(cx, &Output { paths, facts, notes })
    }

    fn header(&self, found: &Found, shown: usize, next_offset: Option<usize>) -> String {
        if found.total == 0 {
            return "No files matched".to_owned();
        }
        let head = if found.capped {
            format!("Found more than {}", count(self.skip + self.take, "path"))
        } else {
            format!("Found {}{}", count(found.total, "path"), self.scope.under())
        };
        let range = shown_range(self.skip, shown);
        match next_offset {
            Some(next) => {
                format!("{head}, showing {range}. Narrow the pattern or path, or continue with offset={next}.")
            }
            None if shown == 0 => format!("{head}, but offset={} is past the last", self.skip),
            None if self.skip > 0 => format!("{head}, showing {range}"),
            None => head,
        }
    }
}

/// Models put the folder into the pattern: `/mnt/ws/src/**/*.rs`, or `mount/src/*.rs`. Where what
/// comes before the first metacharacter is a place inside a root (and inside `path`, when that is
/// given), it is where the search starts.
fn below_prefix<'a>(
    workspace: &Workspace,
    given: Option<&Scope>,
    pattern: &'a str,
) -> Result<Option<(Scope, &'a str)>, ToolError> {
    let Some((prefix, rest)) = literal_prefix(pattern) else { return Ok(None) };
    let absolute = pattern.starts_with('/') || pattern.starts_with("~/");
    let mounted = given.is_none()
        && workspace.roots().iter().any(|root| {
            root.name().is_some_and(|name| {
                prefix.strip_prefix(name).is_some_and(|after| after.is_empty() || after.starts_with('/'))
            })
        });
    if !(absolute || mounted) || prefix.split('/').any(|part| part == "..") {
        return Ok(None);
    }
    // `/src/*.rs` means the root's own src: not a place outside.
    let Ok(start) = workspace.resolve(prefix) else { return Ok(None) };
    if let Some(base) = given.and_then(|scope| scope.starts().first()) {
        let inside = start.root().key() == base.root().key() && start.relative().starts_with(base.relative());
        if !inside {
            return Err(ToolError::new(
                Kind::InvalidInput,
                format!("the pattern {pattern:?} lies outside path {base}"),
            )
            .hint("give a pattern relative to path, or leave path out"));
        }
    }
    match Scope::at(workspace, start) {
        Ok(scope) => Ok(Some((scope, rest))),
        Err(error) => Err(ToolError::scope(workspace, error)),
    }
}

/// Whether something of this very name is where the search begins.
pub(super) fn is_name(workspace: &Workspace, scope: &Scope, text: &str) -> bool {
    let name = text.trim().trim_start_matches("./").trim_start_matches('/');
    scope.starts().iter().any(|start| start.join(name).is_ok_and(|path| workspace.stat(&path).is_ok()))
}

fn glob_error(pattern: &str, error: &GlobError) -> ToolError {
    let shown = shorten(pattern, 80);
    let hint = match error {
        GlobError::LeavesRoot => "give a pattern relative to path, and the folder to search in as path",
        GlobError::TooLong { .. } => "match several simpler patterns, one call each",
        GlobError::Empty | GlobError::Syntax(_) => "patterns look like \"**/*.rs\", \"src/*.{ts,tsx}\" or \"Makefile\"",
    };
    ToolError::invalid(format!("invalid pattern {shown:?}: {error}")).hint(hint)
}
