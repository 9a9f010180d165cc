//! The arguments of `grep`, checked and compiled, and the errors for those that cannot be used.

use text_file::{backslash_note, nearest_name::did_you_mean, with_slashes};

use confined_fs::Ignored;
use tree_search::{FileFilter, FilterError, GlobError, Keep, Pattern, PatternError, PatternOptions, SearchMode};

use super::{
    super::{CallContext, ExistingKind, ToolError, paging},
    args::{Args, OutputMode, Sort},
};

/// Results when the call does not say, and at most.
const DEFAULT_RESULTS: usize = 100;
const MAX_RESULTS: usize = 500;
/// Context lines at most, on each side.
const MAX_CONTEXT: usize = 50;

#[derive(Debug)]
pub(super) struct GrepRequest {
    pub(super) pattern: Pattern,
    /// What the name of a definition must match, where the pattern finds only the files.
    pub(super) names: Option<Pattern>,
    /// Whether the definition around each match is named.
    pub(super) scope: bool,
    pub(super) path: Option<String>,
    /// Whether a glob or a type says which files are meant.
    pub(super) names_files: bool,
    pub(super) filter: FileFilter,
    pub(super) mode: OutputMode,
    pub(super) before: usize,
    pub(super) after: usize,
    pub(super) newest: bool,
    pub(super) take: usize,
    pub(super) skip: usize,
    pub(super) no_ignore: bool,
    /// The note on a `max_results` over its maximum.
    pub(super) results_note: Option<String>,
    /// The note on `context`, `before` and `after` over their maximum.
    pub(super) context_notes: Vec<String>,
    /// What to say of `glob` when nothing is found.
    pub(super) backslash_note: Option<String>,
}

impl GrepRequest {
    pub(super) fn read(cx: &CallContext, args: Args) -> Result<Self, ToolError> {
        let limits = cx.settings.patterns;
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
        let glob = args.glob.as_deref().map(with_slashes);
        let filter = FileFilter::new(glob.as_deref(), kind, limits.glob).or_else(|error| {
            let scope = || cx.scope(args.path.as_deref(), ExistingKind::FileOrDirectory);
            let is_name = |glob: &str| scope().is_ok_and(|scope| scope.holds(&cx.workspace, glob));
            match (&error, &glob) {
                (FilterError::Glob { error: GlobError::Syntax(_), .. }, Some(glob)) if is_name(glob) => {
                    FileFilter::literal(glob, kind, limits.glob)
                }
                _ => Err(error),
            }
        });
        let filter = filter.map_err(filter_error)?;
        let mode = args.output_mode.unwrap_or(OutputMode::Content);
        let newest = args.sort == Some(Sort::Modified);
        if newest && mode.is_of_lines() {
            return Err(ToolError::invalid("sort=modified orders files, and lines are ordered by path")
                .hint("add output_mode=files_with_matches, or leave sort out"));
        }
        let (pattern, names) = match mode {
            OutputMode::Definitions => definition_patterns(pattern, options)?,
            _ => (pattern, None),
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
            scope: args.scope.unwrap_or(false),
            path: args.path,
            names_files: args.glob.is_some() || args.kind.is_some(),
            filter,
            mode,
            before,
            after,
            newest,
            take: take.value,
            skip: paging::offset(args.offset)?,
            no_ignore: args.no_ignore.unwrap_or(false),
            results_note: take.note("max_results"),
            context_notes,
            backslash_note: args.glob.as_deref().and_then(backslash_note),
        })
    }

    pub(super) fn ignored(&self) -> Ignored {
        if self.no_ignore { Ignored::Include } else { Ignored::Skip }
    }

    pub(super) fn keep(&self) -> Keep {
        if self.newest {
            Keep::Newest { limit: self.skip + self.take }
        } else {
            Keep::Page { skip: self.skip, take: self.take }
        }
    }

    pub(super) fn search_mode(&self) -> SearchMode {
        match self.mode {
            OutputMode::Content => SearchMode::Lines { before: self.before, after: self.after },
            OutputMode::FilesWithMatches => SearchMode::Files,
            OutputMode::FilesWithoutMatch => SearchMode::FilesWithout,
            OutputMode::Count => SearchMode::Counts,
            OutputMode::Definitions => SearchMode::Definitions { prototypes: false },
        }
    }
}

/// The pattern that finds files, whose lines hold more than names, and the one for the names where it differs.
fn definition_patterns(names: Pattern, options: PatternOptions) -> Result<(Pattern, Option<Pattern>), ToolError> {
    if options.multiline {
        return Err(ToolError::invalid(
            "multiline=true and output_mode=definitions cannot be combined: a name is on one line",
        )
        .hint("leave multiline out"));
    }
    Ok(match names.unanchored() {
        Some(pattern) => (pattern, Some(names)),
        None => (names, None),
    })
}

pub(in crate::tools) fn pattern_error(error: PatternError, options: PatternOptions) -> ToolError {
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
            "the pattern contains a line break, but each line is searched separately",
        )
        .hint(if options.literal {
            "set multiline=true, or search for one line of it"
        } else {
            "set multiline=true, or search for a part within one line"
        }),
        PatternError::Nul => ToolError::invalid("the pattern contains a NUL byte, which no text file has")
            .hint("leave the NUL byte out; binary files are not searched"),
        PatternError::TooBig { limit } => {
            ToolError::invalid(format!("the pattern is too large: compiled, it has more than {limit} bytes"))
                .hint(format!("use smaller repetition counts or fewer alternatives; {AS_TEXT}"))
        }
        PatternError::TooRepetitive { positions, limit } => ToolError::invalid(format!(
            "the pattern is too large: its counted repetitions expand to {positions} positions, more than {limit}"
        ))
        .hint(format!("use smaller repetition counts; {AS_TEXT}")),
    }
}

/// The error for a `glob` or `type` that cannot be used.
pub(in crate::tools) fn filter_error(error: FilterError) -> ToolError {
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
