//! The files of a `glob` entry of `edits`: those of the glob that hold its text, up to line endings and indentation.
//!
//! They are found as by `glob` and `grep`: ignored files are left out, and so is what policy denies. The search looks
//! for one plain part of the text, since a file may have it in another layout or encoding; what it finds is read.

use std::ops::ControlFlow;

use text_file::{Document, with_slashes};

use confined_fs::WorkspacePath;
use confined_fs::walk::{Ignored, WalkOptions};
use tree_search::{
    FileFilter, FilterError, Keep, Pattern, PatternOptions, Query, Scope, SearchEntry, SearchMode,
    name_glob::GlobError, search,
};

use super::{
    super::{
        CallContext, ExistingKind, Kind, MAX_SEARCH_FILE_SIZE, ToolError,
        answer::count,
        glob::below_prefix,
        grep::{filter_error, pattern_error},
        omissions::{SkippedFiles, absent_note, limit_notes, worktrees_note},
    },
    cells::notebook,
};

/// Files that are read to see whether they hold the text.
const MAX_CANDIDATES: usize = 2_000;
/// Characters of the text that are searched for.
const NEEDLE_CHARS: usize = 200;
/// Bytes of the paths of candidates that are kept.
const MAX_PATH_BYTES: usize = 8 << 20;

pub(super) struct GlobFiles {
    scope: Scope,
    filter: FileFilter,
}

pub(super) struct FilesWithText {
    pub(super) paths: Vec<WorkspacePath>,
    pub(super) searched: usize,
    pub(super) notes: Vec<String>,
}

impl GlobFiles {
    /// The files of `glob` below the directory `under`; without one, in all roots.
    ///
    /// # Errors
    /// `invalid_input` for what is no glob, and where `under` is a file.
    pub(super) fn read(cx: &CallContext, glob: &str, under: Option<&str>) -> Result<Self, ToolError> {
        let workspace = &*cx.workspace;
        let given = with_slashes(glob);
        let mut pattern = given.trim();
        if pattern.is_empty() {
            return Err(ToolError::invalid("`glob` is empty").hint("pass a glob such as \"src/**/*.rs\", or a path"));
        }
        let mut scope = cx.scope(under, ExistingKind::DirectoryOrFile)?;
        if let Some(file) = scope.file() {
            return Err(ToolError::invalid(format!("{file} is a file, and `path` with a `glob` is a directory"))
                .hint("pass the directory to look in as path, or leave glob out"));
        }
        if let Some((below, rest)) = below_prefix(workspace, under.map(|_| &scope), pattern)? {
            (scope, pattern) = (below, rest);
        }
        let all_below = pattern.ends_with('/').then(|| format!("{pattern}**"));
        let pattern = all_below.as_deref().unwrap_or(pattern);
        let filter = FileFilter::new(Some(pattern), None).or_else(|error| match error {
            FilterError::Glob { error: GlobError::Syntax(_), .. } if scope.holds(workspace, pattern) => {
                FileFilter::literal(pattern, None)
            }
            _ => Err(error),
        });
        Ok(Self { scope, filter: filter.map_err(filter_error)? })
    }

    /// The files that hold `old`.
    ///
    /// # Errors
    /// Where not all files could be searched: a change of all of them would be one of some.
    pub(super) fn holding(&self, cx: &CallContext, old: &str) -> Result<FilesWithText, ToolError> {
        let needle = needle(old);
        let multiline = needle.contains(['\n', '\r']);
        let options = PatternOptions { literal: true, case_sensitive: true, word: false, multiline };
        let pattern = Pattern::compile(needle, options).map_err(|error| pattern_error(error, options))?;
        let query = Query {
            pattern: &pattern,
            names: None,
            mode: SearchMode::Files,
            keep: Keep::Page { skip: 0, take: MAX_CANDIDATES },
            text_budget: MAX_PATH_BYTES,
            max_file_size: MAX_SEARCH_FILE_SIZE,
            threads: cx.settings.search_threads(),
            stop: &cx.stop,
            progress: &|_| {},
            path_index: Some(&cx.path_index),
            ignored_entries: None,
        };
        let found = search(&cx.workspace, &self.scope, &mut self.filter.clone(), Ignored::Skip, &query)
            .map_err(|error| ToolError::access(&cx.workspace, error))?;
        cx.check()?;
        if found.capped {
            let sentence = format!("more than {MAX_CANDIDATES} files of the glob may hold old_string");
            return Err(ToolError::new(Kind::TooLarge, sentence)
                .hint("nothing was changed; use a narrower glob, one call for each part of the tree"));
        }
        let limits = limit_notes(&found.tally, &found.walk.limits_hit);
        if !found.complete() {
            let error = ToolError::new(Kind::Internal, "not all files of the glob could be searched");
            return Err(error.hint("nothing was changed; use a narrower glob").details(limits.join("\n")));
        }
        let documents = found.documents.len();
        let skipped = SkippedFiles::of(&found.tally, &found.walk, documents);
        let named = skipped.named(&found.skipped, &found.walk);
        let notes = skipped.note(&named, MAX_SEARCH_FILE_SIZE).into_iter().chain(absent_note(&self.scope));
        let left = count(documents, "document");
        let left = (documents > 0).then(|| format!("({left} left out: edit changes text, not PDF and Office files)"));
        let notes = notes.chain(worktrees_note(found.walk.worktrees, "searched")).chain(left).collect();
        let mut paths = Vec::new();
        for (_, hits) in found.files {
            cx.check()?;
            let Ok(now) = cx.read_to_change(&hits.path) else {
                // It went, or its rights did, since the search.
                continue;
            };
            if Document::decode(now.bytes, None).is_ok_and(|document| holds(&hits.real, &document, old)) {
                paths.push(hits.path);
            }
        }
        Ok(FilesWithText { paths, searched: found.tally.searched, notes })
    }

    pub(super) fn among(
        &self,
        cx: &CallContext,
        mut files: Vec<&WorkspacePath>,
    ) -> Result<Vec<WorkspacePath>, ToolError> {
        let options = WalkOptions { ignored: Ignored::Skip, max_depth: None, directories: true, symlinks: false };
        let (mut filter, mut found) = (self.filter.clone(), Vec::new());
        for start in self.scope.starts() {
            let mut may_be = |path: &WorkspacePath| path.is_in(start) && filter.admits(path.relative_to(start));
            if !files.iter().any(|path| may_be(path)) {
                continue;
            }
            // The ignore rules decide, too.
            let mut visit = |entry: SearchEntry<'_>| {
                if let Some(at) = files.iter().position(|path| *path == entry.path()).filter(|at| may_be(files[*at])) {
                    found.push(files.swap_remove(at).clone());
                }
                if cx.check().is_err() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            };
            let walked = cx.path_index.walk(&cx.workspace, start, &options, &mut visit);
            walked.map_err(|error| ToolError::access(&cx.workspace, error))?;
            cx.check()?;
        }
        Ok(found)
    }
}

/// Whether the text may be in the file: each of its lines is, whatever is around it.
pub(super) fn holds(path: &WorkspacePath, document: &Document, old: &str) -> bool {
    let is_in = |text: &str| {
        let mut lines = old.split(['\n', '\r']).map(str::trim).filter(|line| !line.is_empty()).peekable();
        text.contains(old) || (lines.peek().is_some() && lines.all(|line| text.contains(line)))
    };
    is_in(document.text())
        || notebook(path, document).is_some_and(|notebook| notebook.cells().iter().any(|cell| is_in(cell.source())))
}

/// A text that every file which holds `old` has on one line, as these bytes: the longest run of ASCII characters that
/// need no escape in the JSON of a notebook.
fn needle(old: &str) -> &str {
    let is_plain = |c: char| (c.is_ascii_graphic() && !matches!(c, '"' | '\\')) || c == ' ';
    let runs = old.split(|c| !is_plain(c)).map(str::trim);
    let lines = old.split(['\n', '\r']).map(str::trim);
    let longest = runs.max_by_key(|run| run.len()).filter(|run| !run.is_empty());
    let longest = longest.or_else(|| lines.max_by_key(|line| line.len()).filter(|line| !line.is_empty()));
    let part = longest.unwrap_or(old).trim_end();
    let part = if part.is_empty() { old } else { part };
    part.char_indices().nth(NEEDLE_CHARS).map_or(part, |(cut, _)| part[..cut].trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn needle_is_the_longest_part_that_no_layout_or_encoding_changes() {
        for (old, expected) in [
            ("old_name", "old_name"),
            ("    one();\r\n\ttwo_three();  \n", "two_three();"),
            ("print(\"hello\")", "print("),
            ("größe_alt", "e_alt"),
            ("äöü\nß", "äöü"),
            ("\n\n", "\n\n"),
            ("\t", "\t"),
        ] {
            assert_eq!(needle(old), expected, "{old:?}");
        }
        assert_eq!(needle(&"x".repeat(5000)).len(), NEEDLE_CHARS);
    }
}
