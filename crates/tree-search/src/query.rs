//! The request of a content search: the pattern, which results and in what form, and its bounds; and [`Scope`], where it
//! starts: one path, or every root.

use std::{io, sync::Arc};

use confined_fs::{AccessError, AccessErrorKind, FileKind, IgnoredEntries, Workspace, WorkspacePath, stop::StopSignal};

use crate::{PathIndex, Pattern, SearchEntry, SearchProgress};

/// The purpose of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SearchMode {
    /// The matching lines, with so many lines around them.
    Lines {
        /// Lines before each match.
        before: usize,
        /// Lines after each match.
        after: usize,
    },
    /// Only which files match.
    Files,
    /// Only which files hold no match.
    FilesWithout,
    /// How many matches each file has.
    Counts,
    /// The lines that define a name which the pattern matches.
    Definitions {
        /// Declarations without a body, and no others.
        prototypes: bool,
    },
}

impl SearchMode {
    /// Whether results are lines, not files.
    pub(super) fn is_of_lines(self) -> bool {
        matches!(self, Self::Lines { .. } | Self::Definitions { .. })
    }
}

/// Which results are kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Keep {
    /// `take` results after the first `skip`, in path order; the search ends when they and one
    /// more are complete. Results are matches where lines are shown, files otherwise.
    Page {
        /// Results that earlier pages have shown.
        skip: usize,
        /// Results on this page.
        take: usize,
    },
    /// The `limit` most recently modified files.
    Newest {
        /// How many files are kept.
        limit: usize,
    },
    /// None: only the counts matter.
    #[default]
    Nothing,
}

/// A content search: the pattern, the wanted results and the bounds.
#[derive(Clone, Copy)]
pub struct Query<'a> {
    /// The pattern that a line must match.
    pub pattern: &'a Pattern,
    /// The pattern that the name of a definition must match, where it is another one: `pattern` finds the files.
    pub names: Option<&'a Pattern>,
    /// The form of a result.
    pub mode: SearchMode,
    /// Which results are wanted.
    pub keep: Keep,
    /// Bytes of text that can be shown at most; each chunk keeps no more.
    pub text_budget: usize,
    /// Bytes of the largest file that is searched unless it is named.
    pub max_file_size: u64,
    /// Threads, the calling one included.
    pub threads: usize,
    /// The cancellation and the deadline.
    pub stop: &'a StopSignal,
    /// Called a few times a second with how far the search is.
    pub progress: &'a (dyn Fn(SearchProgress) + Sync),
    /// The index that is kept between calls, where there is one.
    pub path_index: Option<&'a Arc<PathIndex>>,
    /// For a search of ignored files alone: what an earlier search left out.
    pub ignored_entries: Option<&'a IgnoredEntries>,
}

impl Query<'_> {
    /// Whether a file with so many matches is a result.
    pub(super) fn is_result(&self, matches: usize) -> bool {
        (matches == 0) == (self.mode == SearchMode::FilesWithout)
    }

    /// Whether a page is counted before its lines are fetched: a later page needs the number of matches
    /// before a file to know which of its lines to keep, and several threads do not know it.
    pub(super) fn counts_first(&self) -> bool {
        self.threads > 1 && self.mode.is_of_lines() && matches!(self.keep, Keep::Page { skip: 1.., .. })
    }
}

/// The starts of a search, in the order of the roots.
#[derive(Clone, Debug)]
pub struct Scope {
    starts: Vec<WorkspacePath>,
    kind: FileKind,
    /// Roots that may be missing and are, or may not be read, and those that could not be used at the start.
    absent: Vec<WorkspacePath>,
}

impl Scope {
    /// The scope of all roots.
    ///
    /// # Errors
    /// When one of them is gone.
    pub fn of_roots(workspace: &Workspace) -> Result<Self, AccessError> {
        let (mut starts, mut absent, mut last) = (Vec::new(), Vec::new(), None);
        for root in workspace.roots() {
            let start = workspace.root_path(root);
            // What is kept of it between calls would still answer.
            match workspace.stat(&start) {
                _ if root.is_unreadable() => {
                    last = Some(AccessError::from_io(io::ErrorKind::PermissionDenied.into(), &start));
                    absent.push(start);
                }
                Ok(_) => starts.push(start),
                Err(error) if root.is_absent() && matches!(error.kind, AccessErrorKind::RootGone(_)) => {
                    absent.push(start);
                    last = Some(error);
                }
                Err(error) => return Err(error),
            }
        }
        match last {
            Some(error) if starts.is_empty() => Err(error),
            _ => Ok(Self { starts, kind: FileKind::Directory, absent }),
        }
    }

    /// The scope that starts at `start`.
    ///
    /// # Errors
    /// When it is missing or unreadable.
    pub fn at(workspace: &Workspace, start: &WorkspacePath) -> Result<Self, AccessError> {
        let kind = workspace.stat(start)?.kind;
        let start = workspace.spelled(start);
        Ok(Self { starts: vec![start], kind, absent: Vec::new() })
    }

    /// The roots that a search of everything leaves out, because they are not there or may not be read.
    pub fn absent(&self) -> &[WorkspacePath] {
        &self.absent
    }

    /// Where the search starts.
    pub fn starts(&self) -> &[WorkspacePath] {
        &self.starts
    }

    /// Whether a path that a walk from a start meets belongs to another start: one root may lie in another.
    pub fn belongs_to_other_start(&self, workspace: &Workspace, met: &SearchEntry<'_>) -> bool {
        // It would be found twice, by the rules of the outer root and by its own.
        self.starts.len() > 1 && workspace.in_nested_root(met.path())
    }

    /// Whether something with exactly this path, glob characters included, is below a start.
    pub fn holds(&self, workspace: &Workspace, path: &str) -> bool {
        // A glob drops these, too.
        let path = path.trim().trim_start_matches("./").trim_start_matches('/');
        self.starts.iter().any(|start| start.join(path).is_ok_and(|path| workspace.stat(&path).is_ok()))
    }

    /// The file that is the whole scope, where it is not a directory.
    pub fn file(&self) -> Option<&WorkspacePath> {
        self.starts.first().filter(|_| self.kind != FileKind::Directory)
    }

    /// ` under X`, or nothing where there are several starts.
    pub fn under(&self) -> String {
        match self.starts.as_slice() {
            [only] => format!(" under {only}"),
            _ => String::new(),
        }
    }
}
