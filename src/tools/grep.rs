//! grep: lines by content.
//!
//! Reads the arguments, runs the search, notes the shown files as seen. What the search does is
//! `search`'s; how the answer is worded is `render`'s.

mod render;

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::{Duration, Instant},
};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    search::{
        ContentHits, FileFilter, FilterError, GlobError, Keep, Pattern, PatternError, PatternLimits, PatternOptions,
        Query, Scope, SearchMode, SearchProgress, search,
    },
    stop::{StopReason, StopSignal},
    text::nearest_name::did_you_mean,
    workspace::{Ignored, IgnoredEntries, Workspace},
};

use render::Report;
pub use render::{Facts, FileResult, Line, Output};

use super::{
    Alias, CallContext, FlagValue, Group, Plan, Spec, Tool, ToolError,
    alias::{LISTING_ALIASES, PATH_ALIASES},
    glob::is_name,
    omissions::InIgnored,
    paging,
};

/// Results when the call does not say, and at most.
const DEFAULT_RESULTS: usize = 100;
const MAX_RESULTS: usize = 500;
/// Context lines at most, on each side.
const MAX_CONTEXT: usize = 50;
/// How long ignored files are looked through, where something was found and where nothing was.
const IGNORED_SHORT: Duration = Duration::from_millis(50);
const IGNORED_LONG: Duration = Duration::from_millis(300);
/// Kept text may be this many times what is shown: it is counted with its overhead.
const TEXT_FACTOR: usize = 4;

/// What to search for, where, and what to show.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// Regular expression (Rust syntax, as ripgrep), or plain text with literal=true.
    pattern: String,
    /// Directory or file to search. Default: the root, or all roots.
    path: Option<String>,
    /// Only files matching this glob: "*.ts", "src/**/*.py", "!*.min.js"; several by commas or braces. Default: all
    /// files.
    glob: Option<String>,
    /// Only files of this ripgrep type: rust, py, js, ts, go, java … Default: all.
    #[serde(rename = "type")]
    kind: Option<String>,
    /// pattern is plain text, not a regular expression. Default: false.
    literal: Option<bool>,
    /// Match upper and lower case exactly. Default: false.
    case_sensitive: Option<bool>,
    /// Match whole words only. Default: false.
    word: Option<bool>,
    /// Matches may span lines and `.` matches line breaks. Default: false.
    multiline: Option<bool>,
    /// Show matching lines, only file names, or matches per file. Default: content.
    output_mode: Option<OutputMode>,
    /// Lines to show before and after each match, at most 50. Default: 0.
    context: Option<i64>,
    /// Lines to show before each match. Default: context.
    before: Option<i64>,
    /// Lines to show after each match. Default: context.
    after: Option<i64>,
    /// Order of `files_with_matches`: by path, or newest first. Default: path.
    sort: Option<Sort>,
    /// Most matching lines (or files, in the other modes) to return, at most 500. Default: 100.
    max_results: Option<i64>,
    /// How many results to pass over: the next page. Default: 0.
    offset: Option<i64>,
    /// Search files that ignore rules leave out too. Default: false.
    no_ignore: Option<bool>,
}

/// What is shown of a match.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum OutputMode {
    /// Matching lines.
    Content,
    /// File names.
    FilesWithMatches,
    /// Matches per file.
    Count,
}

/// The order of files.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum Sort {
    /// By path.
    Path,
    /// Newest first.
    Modified,
}

/// The grep tool.
#[derive(Debug)]
pub struct Grep;

impl Tool for Grep {
    type Args = Args;
    type Output = Output;
    const SPEC: Spec = Spec {
        name: "grep",
        title: "Search file contents",
        purpose: "finds places by content",
        description: "Search file contents with a regular expression, as ripgrep does. Finds the lines that match \
                      (path:line: text), the files that contain a match, or match counts. Respects .gitignore, \
                      skips binary files, ordered by path. Use this instead of shell grep or rg.",
        group: Group::Core,
        aliases: &[PATH_ALIASES, LISTING_ALIASES, OWN_ALIASES],
        read_only: true,
        destructive: false,
        idempotent: true,
        heavy: true,
    };

    fn plan(cx: &CallContext, args: Args) -> Result<Plan, ToolError> {
        let started = Instant::now();
        let request = Request::read(&cx.workspace, args, cx.settings.patterns)?;
        let scope = Scope::of(&cx.workspace, request.path.as_deref())
            .map_err(|error| ToolError::scope(&cx.workspace, error))?;
        let found = request.run(cx, &scope, &cx.stop, None)?;
        if found.stopped == Some(StopReason::Cancelled) {
            cx.check()?;
        }
        let hidden = request.look_into_ignored(cx, &scope, &found);
        let report = Report { request: &request, scope: &scope, found: &found, hidden };
        let rendered = report.render(cx.settings.max_output);
        for hits in rendered.shown_files(&found) {
            if let Some(revision) = hits.revision(&cx.workspace, cx.settings.max_file_size, &cx.stop) {
                let content = hits.seen.as_ref().and_then(|seen| seen.bytes.as_deref());
                cx.session.ledger.saw(&hits.real, revision, content);
            }
        }
        Ok(Plan::Answer(report.answer(cx, rendered, started.elapsed())))
    }
}

const OWN_ALIASES: &[Alias] = &[
    Alias::name("caseSensitive", "case_sensitive"),
    Alias::name("outputMode", "output_mode"),
    Alias::name("include", "glob"),
    Alias::name("query", "pattern"),
    Alias::name("regex", "pattern"),
    Alias::name("-A", "after"),
    Alias::name("-B", "before"),
    Alias::name("-C", "context"),
    Alias::Flag { given: "-i", name: "case_sensitive", value: FlagValue::Bool(false) },
    Alias::Flag { given: "ignore_case", name: "case_sensitive", value: FlagValue::Bool(false) },
    Alias::name("fixed_strings", "literal"),
    Alias::Ignored { given: "-n" },
];

/// The arguments, understood.
#[derive(Debug)]
struct Request {
    pattern: Pattern,
    path: Option<String>,
    filter: FileFilter,
    mode: OutputMode,
    before: usize,
    after: usize,
    newest: bool,
    take: usize,
    skip: usize,
    no_ignore: bool,
}

impl Request {
    fn read(workspace: &Workspace, args: Args, limits: PatternLimits) -> Result<Self, ToolError> {
        let options = PatternOptions {
            literal: args.literal.unwrap_or(false),
            case_sensitive: args.case_sensitive.unwrap_or(false),
            word: args.word.unwrap_or(false),
            multiline: args.multiline.unwrap_or(false),
            limits,
        };
        if args.pattern.is_empty() {
            return Err(
                ToolError::invalid("the pattern is empty").hint("give the text to search for; to list files, use glob")
            );
        }
        let pattern = Pattern::compile(&args.pattern, options).map_err(|error| pattern_error(error, options))?;
        let kind = args.kind.as_deref();
        let filter = FileFilter::new(args.glob.as_deref(), kind, limits.glob).or_else(|error| {
            let is_name = |glob: &str| {
                Scope::of(workspace, args.path.as_deref()).is_ok_and(|scope| is_name(workspace, &scope, glob))
            };
            match (&error, &args.glob) {
                (FilterError::Glob { error: GlobError::Syntax(_), .. }, Some(glob)) if is_name(glob) => {
                    FileFilter::literal(glob, kind, limits.glob)
                }
                _ => Err(error),
            }
        });
        let filter = filter.map_err(filter_error)?;
        let mode = args.output_mode.unwrap_or(OutputMode::Content);
        let newest = args.sort == Some(Sort::Modified);
        if newest && mode != OutputMode::FilesWithMatches {
            return Err(ToolError::invalid("sort=modified orders files, and this output_mode is ordered by path")
                .hint("add output_mode=files_with_matches, or leave sort out"));
        }
        let context = paging::limited("context", args.context, MAX_CONTEXT)?;
        Ok(Self {
            pattern,
            path: args.path,
            filter,
            mode,
            before: paging::limited("before", args.before, MAX_CONTEXT)?.or(context).unwrap_or(0),
            after: paging::limited("after", args.after, MAX_CONTEXT)?.or(context).unwrap_or(0),
            newest,
            take: paging::max_results(args.max_results, DEFAULT_RESULTS, MAX_RESULTS),
            skip: paging::offset(args.offset)?,
            no_ignore: args.no_ignore.unwrap_or(false),
        })
    }

    fn ignored(&self) -> Ignored {
        if self.no_ignore { Ignored::Include } else { Ignored::Skip }
    }

    fn keep(&self) -> Keep {
        if self.newest {
            Keep::Newest { limit: self.skip + self.take }
        } else {
            Keep::Page { skip: self.skip, take: self.take }
        }
    }

    fn search_mode(&self) -> SearchMode {
        match self.mode {
            OutputMode::Content => SearchMode::Lines { before: self.before, after: self.after },
            OutputMode::FilesWithMatches => SearchMode::Files,
            OutputMode::Count => SearchMode::Counts,
        }
    }

    /// Searches; or counts what there is in the files that an earlier search left out.
    fn run(
        &self,
        cx: &CallContext,
        scope: &Scope,
        stop: &StopSignal,
        entries: Option<&IgnoredEntries>,
    ) -> Result<ContentHits, ToolError> {
        let (ignored, keep) =
            if entries.is_some() { (Ignored::Only, Keep::Nothing) } else { (self.ignored(), self.keep()) };
        let last = AtomicU64::new(0);
        let query = Query {
            pattern: &self.pattern,
            mode: if keep == Keep::Nothing && self.mode == OutputMode::Content {
                SearchMode::Counts
            } else {
                self.search_mode()
            },
            keep,
            text_budget: cx.settings.max_output.saturating_mul(TEXT_FACTOR),
            max_file_size: cx.settings.max_search_file_size,
            threads: cx.settings.search_threads(),
            stop,
            progress: &|progress| {
                let (done, total, what) = match progress {
                    SearchProgress::Files(files) => (files as u64, None, format!("searched {files} files")),
                    SearchProgress::Bytes { done, total } => {
                        (done, Some(total), format!("searched {done} of {total} bytes"))
                    }
                };
                // Progress must grow from update to update.
                if last.fetch_max(done, Ordering::Relaxed) < done {
                    cx.report(done, total, what);
                }
            },
            path_index: Some(&cx.path_index),
            ignored_entries: entries,
        };
        search(&cx.workspace, scope, &mut self.filter.clone(), ignored, &query)
            .map_err(|error| ToolError::access(&cx.workspace, error))
    }

    /// Counts what ignored files hold, for a moment, after a search that left them out: an answer
    /// says what it does not show. `None` where there is nothing to say.
    fn look_into_ignored(&self, cx: &CallContext, scope: &Scope, found: &ContentHits) -> Option<InIgnored> {
        let ignored = found.walk.ignored_files + found.walk.ignored_dirs;
        if self.no_ignore || ignored == 0 || !found.complete() || scope.file().is_some() {
            return None;
        }
        let stop = cx.stop.with_earlier_deadline(if found.matches > 0 { IGNORED_SHORT } else { IGNORED_LONG });
        let below = self.run(cx, scope, &stop, Some(&found.walk.ignored_entries)).ok()?;
        let count = match self.mode {
            OutputMode::FilesWithMatches => below.matching_files,
            OutputMode::Content | OutputMode::Count => below.matches,
        };
        let exact = below.stopped.is_none();
        // A pass that was cut and met nothing is worth a word only where nothing else was found.
        (count > 0 || (!exact && found.matches == 0)).then_some(InIgnored { count, exact })
    }
}

fn pattern_error(error: PatternError, options: PatternOptions) -> ToolError {
    const AS_TEXT: &str = "literal=true searches it as text";
    match error {
        PatternError::TooLong { length, limit } => {
            ToolError::invalid(format!("the pattern has {length} bytes, more than {limit}"))
                .hint("search for a short, distinctive part of it")
        }
        PatternError::Syntax { reason, column, place } => {
            ToolError::invalid(format!("invalid regex at character {column}: {reason}\n{place}"))
                .hint(format!("{AS_TEXT}; in a regex, escape it with a backslash"))
        }
        PatternError::LineBreak => ToolError::invalid(
            "the pattern holds a line break, but lines are searched one by one",
        )
        .hint(if options.literal {
            "set multiline=true, or search for one line of it"
        } else {
            "set multiline=true, or search for a part within one line"
        }),
        PatternError::Nul => ToolError::invalid("the pattern holds a NUL byte, which no text file has")
            .hint("leave the NUL byte out; binary files are not searched"),
        PatternError::TooBig { limit } => {
            ToolError::invalid(format!("the pattern is too large: compiled, it has more than {limit} bytes"))
                .hint(format!("use smaller repetition counts or fewer alternatives; {AS_TEXT}"))
        }
        PatternError::TooRepetitive { positions, limit } => ToolError::invalid(format!(
            "the pattern is too large: its counted repetitions stand for {positions} positions, more than {limit}"
        ))
        .hint(format!("use smaller repetition counts; {AS_TEXT}")),
    }
}

fn filter_error(error: FilterError) -> ToolError {
    match error {
        FilterError::Glob { glob, error } => ToolError::invalid(format!("invalid glob {glob:?}: {error}"))
            .hint("globs look like \"*.rs\", \"src/**\", \"*.{ts,tsx}\" or \"!*.min.js\""),
        FilterError::Type { name, nearest } => {
            let error = ToolError::invalid(format!("unknown file type {name:?}"));
            error.hint(match did_you_mean(nearest) {
                Some(question) => format!("{question} or filter by name with glob"),
                None => format!("filter by name instead: glob=\"*.{name}\""),
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{
        tools::{Content, Kind},
        workspace::{Access, Workspace},
    };

    fn plan(stop: StopSignal) -> Result<String, ToolError> {
        let workspace = Workspace::of_directory(env!("CARGO_MANIFEST_DIR"), Access::ReadOnly);
        let cx = CallContext { stop, ..CallContext::for_tests(workspace) };
        match Grep::plan(&cx, serde_json::from_value(json!({"pattern": "e"})).unwrap())? {
            Plan::Answer(answer) => match answer.content.into_iter().next() {
                Some(Content::Text(text)) => Ok(text),
                _ => panic!("grep answers with text"),
            },
            Plan::Change(_) => panic!("grep changes nothing"),
        }
    }

    #[test]
    fn a_cancelled_search_is_an_error() {
        let stop = StopSignal::after(Duration::from_secs(3600));
        stop.cancel();
        assert!(plan(stop).unwrap_err().text().contains("cancelled"));
    }

    #[test]
    fn a_search_without_time_says_so_and_is_no_error() {
        let text = plan(StopSignal::after(Duration::ZERO)).unwrap();
        assert!(text.contains("time limit of 0ns reached after 0 files; narrow the path"), "{text}");
    }

    #[test]
    fn every_pattern_error_names_the_next_step() {
        for (pattern, multiline) in [("a(", false), ("a\\nb", false), ("(.{1,100}){1,100}", false), ("[z-a]", true)] {
            let options = PatternOptions { multiline, ..Default::default() };
            let error = pattern_error(Pattern::compile(pattern, options).unwrap_err(), options);
            assert_eq!(error.kind(), Kind::InvalidInput);
            assert!(error.text().contains("hint: "), "{}", error.text());
        }
    }
}
