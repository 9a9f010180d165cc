//! Where a search starts: one path, or every root.
//!
//! Also names the start in an answer ("under X"). Does not look below a start.

use confined_fs::{AccessError, AccessErrorKind, FileKind, Workspace, WorkspacePath};

use super::SearchEntry;

/// The starts of a search, in the order of the roots.
#[derive(Clone, Debug)]
pub struct Scope {
    starts: Vec<WorkspacePath>,
    kind: FileKind,
    /// Roots that may be missing, and are.
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
                Ok(_) => starts.push(start),
                Err(error) if root.is_optional() && matches!(error.kind, AccessErrorKind::RootGone(_)) => {
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

    /// The roots that a search of everything leaves out, because they do not exist yet.
    pub fn absent(&self) -> &[WorkspacePath] {
        &self.absent
    }

    /// Where the search starts.
    pub fn starts(&self) -> &[WorkspacePath] {
        &self.starts
    }

    /// Whether a path that a walk from a start meets belongs to another start: one root may lie in another.
    pub fn belongs_to_other_start(&self, workspace: &Workspace, met: &SearchEntry<'_>) -> bool {
        self.starts.len() > 1 && workspace.in_nested_root(met.path())
    }

    /// Whether something with exactly this path, glob characters included, is below a start.
    pub fn holds(&self, workspace: &Workspace, path: &str) -> bool {
        let path = path.trim().trim_start_matches("./").trim_start_matches('/');
        self.starts.iter().any(|start| start.join(path).is_ok_and(|path| workspace.stat(&path).is_ok()))
    }

    /// The file that is the whole scope, where it is not a directory.
    pub fn file(&self) -> Option<&WorkspacePath> {
        match self.kind {
            FileKind::Directory => None,
            _ => self.starts.first(),
        }
    }

    /// ` under X`, or nothing where there are several starts.
    pub fn under(&self) -> String {
        match self.starts.as_slice() {
            [only] => format!(" under {only}"),
            _ => String::new(),
        }
    }
}
