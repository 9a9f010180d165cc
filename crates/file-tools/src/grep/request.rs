//! The arguments of `grep`, checked and compiled, with the errors for those that cannot be used; its search, and the look at
//! the files that the ignore rules leave out.
//!
//! Definitions, then prototypes, are one list, in pages that go from the one to the other.

use std::cell::LazyCell;
use std::mem;
use std::sync::atomic::{AtomicU64, Ordering};

use confined_fs::FileKind;
use confined_fs::stop::{StopReason, StopSignal};
use confined_fs::walk::{Ignored, IgnoredEntries};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use text_file::{nearest_name::did_you_mean, shorten, with_slashes};
use tree_search::name_glob::{GlobError, split_globs};
use tree_search::{
    ContentHits, FileFilter, FilterError, Keep, LeftOut, LinksNotFollowed, Pattern, PatternError, PatternOptions,
    Query, Reading, Scope, SearchMode, SearchProgress, search,
};

use super::documents::{SearchedDocuments, search_documents};
use crate::{
    CallContext, ExistingKind, MAX_SEARCH_FILE_SIZE, ToolError,
    answer::count,
    omissions::{self, InIgnored},
    paging,
};

/// Results when the call does not say, and at most.
const DEFAULT_RESULTS: usize = 100;
const MAX_RESULTS: usize = 500;
/// Context lines at most, on each side.
const MAX_CONTEXT: usize = 50;

#[derive(Debug)]
pub(super) struct GrepRequest {
    pub(super) args: Args,
    pub(super) pattern: Pattern,
    /// The pattern for the name of a definition, where `pattern` finds only the files.
    pub(super) names: Option<Pattern>,
    pub(super) filter: FileFilter,
    pub(super) mode: OutputMode,
    pub(super) before: usize,
    pub(super) after: usize,
    pub(super) take: usize,
    pub(super) skip: usize,
    pub(super) results_note: Option<String>,
    pub(super) context_notes: Vec<String>,
}

impl GrepRequest {
    pub(super) fn read(cx: &CallContext, args: Args) -> Result<Self, ToolError> {
        let options = PatternOptions {
            literal: args.literal.unwrap_or(false),
            case_sensitive: args.case_sensitive.unwrap_or(false),
            word: args.word.unwrap_or(false),
            multiline: args.multiline.unwrap_or(false),
        };
        if args.pattern.is_empty() {
            return Err(
                ToolError::invalid("the pattern is empty").hint("give the text to search for; to list files, use glob")
            );
        }
        let had_time = cx.stop.stopped().is_none();
        let pattern = cx.stop.while_computing(|| Pattern::compile(&args.pattern, options));
        let pattern = pattern.map_err(|error| pattern_error(error, options))?;
        if had_time && cx.stop.stopped() == Some(StopReason::Deadline) {
            return Err(ToolError::compiled_too_long(cx.stop.limit()));
        }
        let kind = args.kind.as_deref();
        let glob = args.glob.as_deref().map(with_slashes);
        let scope = || cx.scope(args.path.as_deref(), ExistingKind::FileOrDirectory);
        let is_name = |glob: &str| scope().is_ok_and(|scope| scope.holds(&cx.workspace, glob));
        let is_several = |glob: &str| glob.starts_with('!') || split_globs(glob).len() > 1;
        let filter = match (FileFilter::new(glob.as_deref(), kind), &glob) {
            // A file may be called `we[ird.txt` or `a,b.txt`: no glob, but a name to search in.
            (Err(FilterError::Glob { error: GlobError::Syntax(_), .. }), Some(glob)) if is_name(glob) => {
                FileFilter::literal(glob, kind)
            }
            (Ok(_), Some(glob)) if is_several(glob) && is_name(glob) => FileFilter::literal(glob, kind),
            (filter, _) => filter,
        };
        let filter = filter.map_err(filter_error)?;
        let mode = args.output_mode.unwrap_or(OutputMode::Content);
        if args.sort == Some(Sort::Modified) && mode.is_of_lines() {
            return Err(ToolError::invalid("sort=modified orders files, and lines are ordered by path")
                .hint("add output_mode=files_with_matches, or leave sort out"));
        }
        if options.multiline && matches!(mode, OutputMode::Definitions | OutputMode::Uses) {
            let sentence = "multiline=true goes with neither definitions nor uses: a name is on one line";
            return Err(ToolError::invalid(sentence).hint("leave multiline out"));
        }
        // The pattern that finds files, whose lines hold more than names, and the one for the names where it differs.
        let unanchored = if mode == OutputMode::Definitions { pattern.unanchored() } else { None };
        let (pattern, names) = match unanchored {
            Some(unanchored) => (unanchored, Some(pattern)),
            None => (pattern, None),
        };
        let mut context_notes = Vec::new();
        let mut lines = |name, given| -> Result<Option<usize>, ToolError> {
            let lines = paging::bounded(name, given, MAX_CONTEXT)?;
            context_notes.extend(lines.and_then(|lines| lines.note(name)));
            Ok(lines.map(|lines| lines.value))
        };
        let context = lines("context", args.context)?.unwrap_or(0);
        let before = lines("before", args.before)?.unwrap_or(context);
        let after = lines("after", args.after)?.unwrap_or(context);
        let take = paging::max_results(args.max_results, DEFAULT_RESULTS, MAX_RESULTS);
        Ok(Self {
            pattern,
            names,
            filter,
            mode,
            before,
            after,
            take: take.value,
            skip: paging::offset(args.offset)?,
            results_note: take.note("max_results"),
            context_notes,
            args,
        })
    }
}

pub(crate) fn pattern_error(error: PatternError, options: PatternOptions) -> ToolError {
    const AS_TEXT: &str = "literal=true searches it as text";
    let refused = ToolError::invalid(error.to_string());
    match error {
        PatternError::TooLong { .. } => refused.hint("search for a short, distinctive part of it"),
        PatternError::Syntax { place, basic, .. } => refused.below(&place).hint(match basic {
            Some(text) => format!("a basic regex of grep is written {} here; {AS_TEXT}", shorten(&text, SHOWN_PATTERN)),
            None => format!("{AS_TEXT}; in a regex, escape it with a backslash"),
        }),
        PatternError::LineBreak if options.literal => refused.hint("set multiline=true, or search for one line of it"),
        PatternError::LineBreak => refused.hint("set multiline=true, or search for a part within one line"),
        PatternError::Nul => refused.hint("leave the NUL byte out; binary files are not searched"),
        PatternError::TooBig { .. } => {
            refused.hint(format!("use smaller repetition counts or fewer alternatives; {AS_TEXT}"))
        }
        PatternError::TooRepetitive { .. } => refused.hint(format!("use smaller repetition counts; {AS_TEXT}")),
    }
}

/// The error for a `glob` or `type` that cannot be used.
pub(crate) fn filter_error(error: FilterError) -> ToolError {
    let refused = ToolError::invalid(error.to_string());
    match error {
        FilterError::Glob { .. } => {
            refused.hint("globs look like \"*.rs\", \"src/**\", \"*.{ts,tsx}\" or \"!*.min.js\"")
        }
        FilterError::Type { name, nearest } => refused.hint(match did_you_mean(nearest) {
            Some(question) => format!("{question} or filter by name with glob"),
            None => format!("filter by name instead: glob=\"*.{name}\""),
        }),
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    /// Regular expression (Rust syntax, as ripgrep), or plain text with literal=true.
    pub(super) pattern: String,
    /// Directory or file to search. Default: all roots.
    pub(super) path: Option<String>,
    /// Only files matching this glob: "*.ts", "src/**/*.py", "!*.min.js"; several by commas or braces. Default: all.
    pub(super) glob: Option<String>,
    /// Only files of this ripgrep type: rust, py, js, ts, go, java … Default: all.
    #[serde(rename = "type")]
    pub(super) kind: Option<String>,
    /// Take pattern as plain text, not as a regex. Default: false.
    pub(super) literal: Option<bool>,
    /// Match upper and lower case exactly. Default: false.
    pub(super) case_sensitive: Option<bool>,
    /// Match whole words only. Default: false.
    pub(super) word: Option<bool>,
    /// Matches may span lines and `.` matches line breaks. Default: false.
    pub(super) multiline: Option<bool>,
    /// Matching lines, files with or without one, matches per file, lines that define a matching name, or its uses: lines
    /// without definition, prototype or comment. Default: content.
    pub(super) output_mode: Option<OutputMode>,
    /// Lines before and after each match, at most 50. Default: 0.
    pub(super) context: Option<i64>,
    /// Lines before each match. Default: context.
    pub(super) before: Option<i64>,
    /// Lines after each match. Default: context.
    pub(super) after: Option<i64>,
    /// Name the function or type around each match. Default: false.
    pub(super) scope: Option<bool>,
    /// Order of files: by path, documents last, or newest first. Default: path.
    pub(super) sort: Option<Sort>,
    /// Most lines (in other modes: files) to return, at most 500. Default: 100.
    pub(super) max_results: Option<i64>,
    /// Results to skip, for the next page. Default: 0.
    pub(super) offset: Option<i64>,
    /// Search ignored files too. Default: false.
    pub(super) no_ignore: Option<bool>,
}

#[derive(Clone, Copy, Debug, Deserialize, Serialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub(crate) enum OutputMode {
    /// Matching lines.
    Content,
    /// File names.
    FilesWithMatches,
    /// Names of files without a match.
    FilesWithoutMatch,
    /// Matches per file.
    Count,
    /// Lines that define what matches.
    Definitions,
    /// Matching lines without definitions, prototypes and comments.
    Uses,
}

impl OutputMode {
    pub(super) fn is_of_lines(self) -> bool {
        self == Self::Definitions || self.has_context()
    }

    pub(super) fn has_context(self) -> bool {
        matches!(self, Self::Content | Self::Uses)
    }
}

#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Sort {
    /// By path.
    Path,
    /// Newest first.
    Modified,
}

/// Bytes of text that are kept in any case: those of a match with all its context.
const LEAST_TEXT: usize = 256 << 10;
/// Kept text may be this many times what is shown: it is counted with its overhead.
const TEXT_FACTOR: usize = 4;

impl GrepRequest {
    /// Searches; or counts what there is in the files that an earlier search left out.
    pub(super) fn run(
        &self,
        cx: &CallContext,
        scope: &Scope,
        stop: &StopSignal,
        entries: Option<&IgnoredEntries>,
    ) -> Result<(ContentHits, SearchedDocuments), ToolError> {
        let mode = match self.mode {
            OutputMode::Content if entries.is_none() => SearchMode::Lines { before: self.before, after: self.after },
            OutputMode::FilesWithMatches => SearchMode::Files,
            OutputMode::FilesWithoutMatch => SearchMode::FilesWithout,
            OutputMode::Content | OutputMode::Count => SearchMode::Counts,
            OutputMode::Definitions => SearchMode::Definitions { prototypes: false },
            OutputMode::Uses => SearchMode::Uses { before: self.before, after: self.after },
        };
        let keep = match entries {
            Some(_) => Keep::Nothing,
            None if self.args.sort == Some(Sort::Modified) => Keep::Newest { limit: self.skip + self.take },
            None => Keep::Page { skip: self.skip, take: self.take },
        };
        self.search(cx, scope, stop, (mode, keep), entries)
    }

    pub(super) fn search(
        &self,
        cx: &CallContext,
        scope: &Scope,
        stop: &StopSignal,
        (mode, keep): (SearchMode, Keep),
        entries: Option<&IgnoredEntries>,
    ) -> Result<(ContentHits, SearchedDocuments), ToolError> {
        let ignored = match entries {
            Some(_) => Ignored::Only,
            None if self.args.no_ignore == Some(true) => Ignored::Include,
            None => Ignored::Skip,
        };
        let last = AtomicU64::new(0);
        let query = Query {
            pattern: &self.pattern,
            names: self.names.as_ref(),
            mode,
            keep,
            // More than can be shown would only take memory: a pattern may match each line of the tree.
            text_budget: cx.budget.most_bytes().saturating_mul(TEXT_FACTOR).max(LEAST_TEXT),
            max_file_size: MAX_SEARCH_FILE_SIZE,
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
        let mut found = search(&cx.workspace, scope, &mut self.filter.clone(), ignored, &query)
            .map_err(|error| ToolError::access(&cx.workspace, error))?;
        let is_of_documents =
            !matches!(mode, SearchMode::Definitions { .. } | SearchMode::Uses { .. }) && keep != Keep::Nothing;
        let documents =
            if is_of_documents { search_documents(cx, &query, &mut found) } else { SearchedDocuments::default() };
        Ok((found, documents))
    }

    /// Counts what ignored files hold, for a moment, after a search that left them out: an answer
    /// says what it does not show. `None` where there is nothing to say.
    pub(super) fn look_into_ignored(
        &self,
        cx: &CallContext,
        scope: &Scope,
        found: &mut ContentHits,
    ) -> Option<InIgnored> {
        let ignored = found.walk.ignored_files + found.walk.ignored_dirs;
        if self.args.no_ignore == Some(true) || ignored == 0 || !found.complete() || scope.file().is_some() {
            return None;
        }
        let stop = cx.stop.with_earlier_deadline(omissions::time_for_ignored(found.matches > 0));
        // The answer is complete without it, so an error here is none of the call.
        let (below, _) = self.run(cx, scope, &stop, Some(&found.walk.ignored_entries)).ok()?;
        found.walk.worktrees += below.walk.worktrees;
        let is_of_files = matches!(self.mode, OutputMode::FilesWithMatches | OutputMode::FilesWithoutMatch);
        let count = if is_of_files { below.matching_files } else { below.matches };
        InIgnored::of(count, below.stopped, found.matches > 0)
    }
}

/// Characters of the pattern that a note repeats.
const SHOWN_PATTERN: usize = 80;

impl GrepRequest {
    pub(super) fn links(&self, cx: &CallContext, scope: &Scope, found: &ContentHits) -> LinksNotFollowed {
        if found.capped || found.stopped.is_some() || self.skip > 0 {
            return LinksNotFollowed::default();
        }
        let (reach, mut filter) = (LazyCell::new(|| self.filter.reach()), self.filter.clone());
        let ignored = if self.args.no_ignore == Some(true) { Ignored::Include } else { Ignored::Skip };
        let search = (ignored, found.matches > 0);
        found.links.not_followed(&cx.workspace, scope, search, &cx.stop, &mut |kind, link, target| match kind {
            FileKind::Directory => reach.is_more(link, target) && !filter.excludes(link),
            FileKind::File => filter.admits(link) && !target.is_some_and(|target| filter.admits(target)),
            FileKind::Symlink | FileKind::Other => false,
        })
    }

    /// What a pattern that found nothing finds when it is read otherwise; what one that is in every line matches.
    pub(super) fn pattern_notes(&mut self, cx: &CallContext, scope: &Scope, found: &ContentHits) -> Vec<String> {
        if self.pattern.is_everywhere() {
            let note =
                "the pattern matches the empty text, so it is in every line; literal=true searches for it as it is";
            return vec![note.to_owned()];
        }
        let is_found = found.matching_files > 0 || found.tally.left_out != LeftOut::default();
        if is_found || !found.complete() || self.mode == OutputMode::FilesWithoutMatch {
            return Vec::new();
        }
        let mut notes = Vec::new();
        for reading in cx.stop.while_computing(|| self.pattern.other_readings()) {
            let is_first = notes.is_empty();
            notes.extend(self.reading_note(cx, scope, reading, is_first));
        }
        notes
    }

    fn reading_note(&mut self, cx: &CallContext, scope: &Scope, reading: Reading, is_first: bool) -> Option<String> {
        let (Reading::PlainText(pattern)
        | Reading::Regex(pattern)
        | Reading::WithinAnchors { pattern, .. }
        | Reading::Basic { pattern, .. }
        | Reading::Unescaped { pattern, .. }) = &reading;
        let (own, names) = (mem::replace(&mut self.pattern, pattern.clone()), self.names.take());
        let counted = self.search(cx, scope, &cx.stop, (SearchMode::Counts, Keep::Nothing), None);
        (self.pattern, self.names) = (own, names);
        // The answer is complete without it, so an error here is none of the call.
        let (counted, _) = counted.ok()?;
        let lines = match (counted.matches, counted.stopped) {
            (0, Some(_)) => return None,
            (lines, Some(_)) => format!("at least {}", count(lines, "line")),
            (lines, None) => count(lines, "line"),
        };
        let (have, match_it) = if counted.matches == 1 { ("has", "matches") } else { ("have", "match") };
        match reading {
            Reading::Unescaped { text, signs, .. } if counted.matches > 0 || is_first && signs.contains(&'|') => {
                let (need, text) = (if signs.len() == 1 { "needs" } else { "need" }, shorten(&text, SHOWN_PATTERN));
                let signs: Vec<String> = signs.iter().map(char::to_string).collect();
                Some(format!("{} {need} no backslash: {lines} {match_it} {text}", signs.join(" ")))
            }
            Reading::PlainText(_) if counted.matches > 0 => {
                Some(format!("{lines} {have} this as plain text: literal=true"))
            }
            Reading::WithinAnchors { text, .. } if counted.matches > 0 => {
                Some(format!("{lines} {have} {} as plain text: literal=true finds it", shorten(&text, SHOWN_PATTERN)))
            }
            Reading::Basic { text, .. } if counted.matches > 0 => Some(format!(
                "{lines} {match_it} {}, a basic regex of grep as it is written here",
                shorten(&text, SHOWN_PATTERN)
            )),
            Reading::Regex(_) if counted.matches > 0 => {
                Some(format!("{lines} {match_it} this as a regular expression: literal=false"))
            }
            _ => None,
        }
    }

    /// Adds the prototypes that are on the page to the definitions on it; returns how many were found.
    pub(super) fn add_prototypes(
        &self,
        cx: &CallContext,
        scope: &Scope,
        found: &mut ContentHits,
    ) -> Result<usize, ToolError> {
        if self.mode != OutputMode::Definitions || found.capped || found.stopped.is_some() {
            return Ok(0);
        }
        let before = found.matches;
        // An offset past the definitions is one into the prototypes.
        let skip = self.skip.saturating_sub(before);
        let keep = Keep::Page { skip, take: (self.skip + self.take).saturating_sub(before).saturating_sub(skip) };
        let mode = SearchMode::Definitions { prototypes: true };
        let (prototypes, _) = self.search(cx, scope, &cx.stop, (mode, keep), None)?;
        found.files.extend(prototypes.files.into_iter().map(|(at, hits)| (at + before, hits)));
        found.matches += prototypes.matches;
        found.matching_files += prototypes.matching_files;
        found.capped = prototypes.capped;
        found.stopped = prototypes.stopped;
        Ok(prototypes.matches)
    }
}
