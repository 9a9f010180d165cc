//! The arguments of `glob`, checked and compiled, and the errors for those that cannot be used.

use std::path::Path;

use text_file::{backslash_note, shorten, with_slashes};

use confined_fs::{Ignored, Workspace};
use tree_search::{GlobError, NameGlob, Scope, literal_prefix};

use super::{
    super::{CallContext, ExistingKind, Kind, ToolError, paging},
    args::{Args, Sort},
};

/// Results when the call does not say, and at most.
const DEFAULT_RESULTS: usize = 200;
const MAX_RESULTS: usize = 1000;

#[derive(Debug)]
pub(super) struct GlobRequest {
    pub(super) glob: NameGlob,
    /// What `glob` was made of.
    pub(super) pattern: String,
    pub(super) scope: Scope,
    pub(super) directories: bool,
    pub(super) newest: bool,
    pub(super) skip: usize,
    pub(super) take: usize,
    /// The note on a `max_results` over its maximum.
    pub(super) results_note: Option<String>,
    pub(super) no_ignore: bool,
    /// What to say of the pattern when nothing matches it.
    pub(super) backslash_note: Option<String>,
}

impl GlobRequest {
    pub(super) fn read(cx: &CallContext, args: &Args) -> Result<Self, ToolError> {
        let (workspace, longest) = (&*cx.workspace, cx.settings.patterns.glob);
        let given = args.path.as_deref().filter(|path| !path.trim().is_empty());
        let mut scope = cx.scope(given, ExistingKind::DirectoryOrFile)?;
        let given_pattern = with_slashes(&args.pattern);
        let mut pattern = &*given_pattern;
        if let Some((below, rest)) = below_prefix(workspace, given.is_some().then_some(&scope), pattern)? {
            (scope, pattern) = (below, rest);
        }
        let case_sensitive = args.case_sensitive.unwrap_or(true);
        let glob = NameGlob::compile(pattern, case_sensitive, longest)
            .or_else(|error| match error {
                GlobError::Syntax(_) if scope.holds(workspace, pattern) => {
                    NameGlob::literal(pattern, case_sensitive, longest)
                }
                _ => Err(error),
            })
            .map_err(|error| glob_error(&args.pattern, &error))?;
        if let Some(file) = scope.file() {
            return Err(ToolError::invalid(format!("{file} is not a directory"))
                .hint("pass the directory to search in as path; read shows a file"));
        }
        let take = paging::max_results(args.max_results, DEFAULT_RESULTS, MAX_RESULTS);
        Ok(Self {
            glob,
            pattern: pattern.to_owned(),
            scope,
            directories: args.include_dirs.unwrap_or(false),
            newest: args.sort != Some(Sort::Path),
            skip: paging::offset(args.offset)?,
            take: take.value,
            results_note: take.note("max_results"),
            no_ignore: args.no_ignore.unwrap_or(false),
            backslash_note: backslash_note(&args.pattern),
        })
    }

    pub(super) fn ignored(&self) -> Ignored {
        if self.no_ignore { Ignored::Include } else { Ignored::Skip }
    }
}

/// Models put the folder into the pattern: `/mnt/ws/src/**/*.rs`, or `mount/src/*.rs`. Where what
/// comes before the first metacharacter is a place inside a root (and inside `path`, when that is
/// given), it is where the search starts.
pub(in crate::tools) fn below_prefix<'a>(
    workspace: &Workspace,
    given: Option<&Scope>,
    pattern: &'a str,
) -> Result<Option<(Scope, &'a str)>, ToolError> {
    let Some((prefix, rest)) = literal_prefix(pattern) else { return Ok(None) };
    let has_drive = cfg!(windows) && Path::new(prefix).is_absolute();
    let absolute = pattern.starts_with('/') || pattern.starts_with("~/") || has_drive;
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
            return Err(ToolError::new(Kind::InvalidInput, format!("the pattern {pattern:?} is outside path {base}"))
                .hint("give a pattern relative to path, or leave path out"));
        }
    }
    match Scope::at(workspace, &start) {
        Ok(scope) => Ok(Some((scope, rest))),
        Err(error) => Err(ToolError::access(workspace, error)),
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
