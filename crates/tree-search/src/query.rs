//! The request of a content search: the pattern, which results and in what form, and its bounds; and [`Scope`], where it
//! starts: one path, or every root.

use std::{io, sync::Arc};

use confined_fs::{
    AccessError, AccessErrorKind, FileKind, Workspace, WorkspacePath, stop::StopSignal, walk::IgnoredEntries,
};

use crate::{PathIndex, Pattern, SearchEntry, SearchProgress};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SearchMode {
    Lines {
        before: usize,
        after: usize,
    },
    Files,
    FilesWithout,
    Counts,
    Definitions {
        prototypes: bool,
    },
    /// Lines that neither define nor declare what matches, nor have it in comments alone.
    Uses {
        before: usize,
        after: usize,
    },
}

impl SearchMode {
    pub(super) fn is_of_lines(self) -> bool {
        matches!(self, Self::Definitions { .. }) || self.context().is_some()
    }

    /// The lines before and after a match, where they are shown.
    pub(super) fn context(self) -> Option<(usize, usize)> {
        match self {
            Self::Lines { before, after } | Self::Uses { before, after } => Some((before, after)),
            _ => None,
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Keep {
    /// `take` results after the first `skip`, in path order; the search ends when they and one
    /// more are complete. Results are matches where lines are shown, files otherwise.
    Page {
        skip: usize,
        take: usize,
    },
    Newest {
        limit: usize,
    },
    #[default]
    Nothing,
}

/// A content search: the pattern, the wanted results and the bounds.
#[derive(Clone, Copy)]
pub struct Query<'a> {
    pub pattern: &'a Pattern,
    /// The pattern that the name of a definition must match, where it is another one: `pattern` finds the files.
    pub names: Option<&'a Pattern>,
    pub mode: SearchMode,
    pub keep: Keep,
    /// Bytes of text that can be shown at most; each chunk keeps no more.
    pub text_budget: usize,
    /// Bytes of the largest file that is searched unless it is named.
    pub max_file_size: u64,
    pub threads: usize,
    pub stop: &'a StopSignal,
    pub progress: &'a (dyn Fn(SearchProgress) + Sync),
    pub path_index: Option<&'a Arc<PathIndex>>,
    /// For a search of ignored files alone: what an earlier search left out.
    pub ignored_entries: Option<&'a IgnoredEntries>,
}

impl Query<'_> {
    pub(super) fn is_result(&self, matches: usize) -> bool {
        (matches == 0) == (self.mode == SearchMode::FilesWithout)
    }

    /// Whether a page is counted before its lines are fetched: a later page needs the number of matches
    /// before a file to know which of its lines to keep, and several threads do not know it.
    pub(super) fn counts_first(&self) -> bool {
        self.threads > 1 && self.mode.is_of_lines() && matches!(self.keep, Keep::Page { skip: 1.., .. })
    }
}

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
