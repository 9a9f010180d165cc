//! `glob`: files by name.
//!
//! Walks, matches names, orders and numbers them. Never opens a file. The answer is a list of paths within the budget, notes
//! and facts.

mod nearest;
mod request;

use std::time::Instant;

use confined_fs::{WorkspacePath, stop::StopReason};
use request::{Args, GlobHits, GlobRequest};
use schemars::JsonSchema;
use serde::Serialize;
use serde_with::skip_serializing_none;
use text_file::backslash_note;
use tree_search::{SkippedPaths, Tally};

use super::{
    Alias, Answer, AnswerBudget, CallContext, Group, Kind, MAX_SEARCH_FILE_SIZE, Plan, Spec, Tool, ToolError,
    answer::{count, fitted},
    context::echo,
    omissions::{
        self, InIgnored, PathSource, SkippedFiles, SkippedPath, headed, is_untrusted_scope, is_zero, listed,
        stopped_note,
    },
    paging::with_page,
    tool::{LISTING_ALIASES, PATH_ALIASES},
};
pub(crate) use request::below_prefix;

pub(crate) struct Glob;

impl Tool for Glob {
    type Args = Args;
    type Output = Output;
    const SPEC: Spec = Spec {
        name: "glob",
        title: "Find files",
        purpose: "finds files by name",
        description: "Use this instead of shell find or ls -R. Find files by name pattern (\"**/*.rs\", \"Makefile\"), or directories \
                      alone (\"**/\"). Returns paths, newest first. Finds hidden files; respects .gitignore.",
        group: Group::Core,
        aliases: &[PATH_ALIASES, LISTING_ALIASES, OWN_ALIASES],
        globs: &["pattern"],
        heavy: true,
        ..Spec::READS
    };

    fn plan(cx: &CallContext, args: Args) -> Result<Plan, ToolError> {
        let started = Instant::now();
        let request = GlobRequest::read(cx, args)?;
        let mut found = request.walk(cx, request.ignored(), &cx.stop, None)?;
        if found.stopped == Some(StopReason::Cancelled) {
            cx.check()?;
        }
        request.look_into_ignored(cx, &mut found);
        found.not_followed = request.links(cx, &found);
        let is_elsewhere = found.directories > 0 || found.hidden.is_some_and(|hidden| hidden.count > 0);
        if found.total == 0 && found.stopped.is_none() && !is_elsewhere {
            found.nearest = request.nearest(cx, &found);
        }
        Ok(Plan::Answer(fitted(cx, |room| request.answer(cx, &found, started, room))))
    }
}

const OWN_ALIASES: &[Alias] = &[
    Alias::names("pattern", &["query", "glob"]),
    Alias::names("include_dirs", &["includeDirs"]),
    Alias::names("case_sensitive", &["caseSensitive"]),
];

/// The entries that a glob in the call of another tool means, directories too, and a note on what it leaves out. Without a slash
/// it means names in the root itself, as a path does; what is in a directory that matches goes with it.
///
/// # Errors
/// Where none matches, and where not all that match are known.
pub(crate) fn entries(cx: &CallContext, pattern: &str) -> Result<(Vec<WorkspacePath>, Option<String>), ToolError> {
    let (request, mut found) = GlobRequest::of_entries(cx, pattern)?;
    cx.check()?;
    request.look_into_ignored(cx, &mut found);
    let given = echo(pattern);
    if found.capped {
        let sentence = format!("the glob {given} matches more than {} entries", request.take);
        return Err(ToolError::new(Kind::TooLarge, sentence)
            .hint("nothing was changed; use a narrower glob, or name the directory that holds them"));
    }
    let limits = omissions::limit_notes(&Tally::default(), &found.walk.limits_hit);
    if found.stopped.is_some() || !limits.is_empty() {
        let error = ToolError::new(Kind::Internal, format!("not all names were compared with the glob {given}"));
        return Err(error.hint("nothing was changed; use a narrower glob").details(limits.join("\n")));
    }
    let ignored = found.hidden.filter(|hidden| hidden.count > 0);
    let ignored =
        ignored.map(|hidden| format!("{} in ignored files left out: name them", count(hidden.count, "match")));
    let mut all: Vec<WorkspacePath> = found.paths.into_iter().map(|(path, _)| path).collect();
    if all.is_empty() {
        let error = ToolError::new(Kind::NotFound, format!("nothing matches the glob {given}"));
        return Err(match ignored {
            Some(ignored) => error.hint(ignored),
            None if pattern.contains('/') => error.hint("glob shows what is there"),
            None => error.hint(format!("it means names in the root itself; **/{given} matches at any depth")),
        });
    }
    all.sort();
    let mut paths: Vec<WorkspacePath> = Vec::new();
    for path in all {
        if !paths.last().is_some_and(|above| path.is_in(above)) {
            paths.push(path);
        }
    }
    Ok((paths, ignored))
}

fn printed(path: &WorkspacePath, is_directory: bool) -> String {
    format!("{path}{}", if is_directory { "/" } else { "" })
}

impl GlobRequest {
    fn answer(&self, cx: &CallContext, found: &GlobHits, started: Instant, room: AnswerBudget) -> Answer {
        let (mut body, mut paths, mut gauge) = (String::new(), Vec::new(), room.gauge());
        for (at, (path, directory)) in found.paths.iter().enumerate().skip(self.skip) {
            let path = printed(path, *directory);
            // Numbered across the pages: `offset` is the number of the last one. The first one is shown in any case, or the
            // next page would begin where this one did.
            if !gauge.push(&mut body, &format!("\n{}. {path}", at + 1), paths.is_empty()) {
                break;
            }
            paths.push(path);
        }
        let shown = paths.len();
        let truncated = found.capped || found.total > self.skip + shown;
        let next_offset = (truncated && shown > 0).then_some(self.skip + shown);

        let limit = self.results_note.clone().filter(|_| truncated && shown == self.take);
        let header = headed(self.header(found, shown, next_offset), limit.as_slice());
        let mut notes = Vec::new();
        let on_page = found.paths.iter().skip(self.skip).take(shown).map(|(path, _)| path);
        let alike = omissions::look_alike_line(&self.glob, &self.args.pattern, &self.scope, on_page);
        let header = alike.into_iter().chain([header]).collect::<Vec<_>>().join("\n");
        let near: Vec<String> = found.nearest.iter().map(|(path, directory)| printed(path, *directory)).collect();
        if !near.is_empty() {
            notes.push(format!("nearest names: {}", near.join(", ")));
        }
        if found.total == 0 && found.directories > 0 {
            let matched = count(found.directories, "directory");
            let verb = if found.directories == 1 { "matches" } else { "match" };
            notes.push(format!("{matched} {verb}; pass include_dirs"));
        }
        notes.extend(backslash_note(&self.args.pattern).filter(|_| found.total == 0));
        notes.extend(found.hidden.map(InIgnored::note));
        notes.extend(omissions::worktrees_note(found.walk.worktrees, "searched"));
        notes.extend(omissions::links_note(&found.not_followed));
        let next = "narrow the path or the pattern";
        notes.extend(stopped_note(&cx.stop, found.stopped, found.visited, "name", next));
        let tally = Tally::default();
        notes.extend(omissions::absent_note(&self.scope));
        notes.extend(omissions::limit_notes(&tally, &found.walk.limits_hit));
        let skipped = SkippedFiles::of(&tally, &found.walk, 0);
        let skipped_paths = skipped.named(&SkippedPaths::default(), &found.walk);
        notes.extend(skipped.note(&skipped_paths, MAX_SEARCH_FILE_SIZE));

        let facts = GlobFacts {
            found: found.total,
            shown,
            truncated,
            next_offset,
            complete: !found.capped && found.stopped.is_none() && found.walk.limits_hit.is_empty(),
            skipped,
            skipped_paths,
            worktrees: found.walk.worktrees,
            links_not_followed: found.not_followed.count,
            ignored: found.hidden,
            nearest: near,
            source: found.source,
            walked_because: omissions::walked_because(cx, &self.scope),
            elapsed_ms: u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX),
        };
        let named = found.paths.iter().skip(self.skip).take(shown).chain(&found.nearest).map(|(path, _)| path);
        let mut named = named.chain(found.not_followed.named.iter().map(|(_, target)| target));
        let is_untrusted = is_untrusted_scope(cx, &self.scope) || named.any(|path| cx.workspace.is_untrusted(path));
        let text = listed(is_untrusted, header, &body, &notes);
        notes.extend(limit);
        Answer::text(text, &facts).data(cx, &Output { paths, facts, notes })
    }

    fn header(&self, found: &GlobHits, shown: usize, next_offset: Option<usize>) -> String {
        if found.total == 0 {
            let what = if self.is_of_directories() { "directories" } else { "files" };
            return format!("No {what} matched");
        }
        let head = if found.capped {
            format!("Found more than {}", count(self.skip + self.take, "path"))
        } else {
            format!("Found {}{}", count(found.total, "path"), self.scope.under())
        };
        with_page(head, self.skip, shown, next_offset, "Narrow the pattern or path")
    }
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Output {
    /// The paths shown; directories end with a slash.
    paths: Vec<String>,
    #[serde(flatten)]
    facts: GlobFacts,
    /// What the answer leaves out, as text.
    notes: Vec<String>,
}

#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct GlobFacts {
    /// Paths found, as far as the walk went.
    found: usize,
    /// Paths shown.
    shown: usize,
    /// Whether there is more than is shown.
    truncated: bool,
    /// The offset of the next page.
    next_offset: Option<usize>,
    /// Whether the walk went to its end.
    complete: bool,
    /// Files and folders left out.
    skipped: SkippedFiles,
    /// Each of them, where they are few.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    skipped_paths: Vec<SkippedPath>,
    /// Linked worktrees of git that were not searched.
    #[serde(skip_serializing_if = "is_zero")]
    worktrees: usize,
    /// Links that lead to what was not searched.
    #[serde(skip_serializing_if = "is_zero")]
    links_not_followed: usize,
    /// What ignored folders hold.
    ignored: Option<InIgnored>,
    /// The nearest names, where nothing was found.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    nearest: Vec<String>,
    /// Whether the names came from the path index or from a walk.
    #[serde(with = "PathSource")]
    source: tree_search::PathSource,
    /// Why no path index can be kept, where it cannot.
    walked_because: Option<String>,
    /// How long it took.
    elapsed_ms: u64,
}
