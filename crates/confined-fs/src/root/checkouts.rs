//! The checkouts of the repository that a root is in, as start-up found them (`disk_rules`).
//!
//! Others are known by what was read then, by name alone. Only the branch of one whose repository is in a root is read
//! again.

use std::collections::HashSet;
use std::path::PathBuf;

use crate::escape_name;
use crate::path::is_invisible;

/// Longest branch that is shown, in bytes.
const MAX_BRANCH: usize = 100;

/// The checkout that holds a root, and the others of its repository, all by paths without links.
#[derive(Debug)]
pub(crate) struct Checkouts {
    /// The top directory of the one that holds the root.
    pub(crate) top: PathBuf,
    /// The top directories of the others.
    pub(crate) others: Vec<PathBuf>,
    /// Where worktrees are below the root that are judged from their own top.
    pub(crate) judged_alone: HashSet<PathBuf>,
    /// The git directory of the checkout: that of the repository, or of a worktree in it.
    pub(crate) git: PathBuf,
    /// Whether that is a worktree.
    pub(crate) is_linked: bool,
    /// The content of `HEAD` at the start.
    pub(crate) head: Option<Vec<u8>>,
}

impl Checkouts {
    /// The checkout as text, such as `worktree agent-a, branch fix`; `head` is the content of its `HEAD`. `None` where
    /// nothing of it may be shown.
    pub(crate) fn text(&self, head: Option<&[u8]>) -> Option<String> {
        let name = self.top.file_name().filter(|_| self.is_linked);
        let worktree = name.map(|name| format!("worktree {}", escape_name(name)));
        let parts: Vec<String> = worktree.into_iter().chain(head.map(head_text)).collect();
        (!parts.is_empty()).then(|| parts.join(", "))
    }
}

/// The text for the content of a `HEAD`. A sentence is no name of a branch (git-check-ref-format(1)): it would be an
/// instruction to a model in the words of this server. With reftable the name there is `.invalid`.
fn head_text(content: &[u8]) -> String {
    let head = str::from_utf8(content).unwrap_or_default().trim_end_matches(['\r', '\n']);
    let is_plain = |c: char| !(c.is_whitespace() || c.is_control() || is_invisible(c) || "~^:?*[\\".contains(c));
    let is_part = |part: &str| !part.is_empty() && !part.starts_with('.');
    match head.strip_prefix("ref: refs/heads/") {
        Some(name) if name.len() <= MAX_BRANCH && name.chars().all(is_plain) && name.split('/').all(is_part) => {
            format!("branch {name}")
        }
        None if matches!(head.len(), 40 | 64) && head.bytes().all(|byte| byte.is_ascii_hexdigit()) => {
            format!("detached at {}", &head[..7])
        }
        _ => "branch not shown".to_owned(),
    }
}
