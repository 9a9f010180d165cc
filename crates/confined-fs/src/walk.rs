//! The walk: names below a directory, by descriptor, in path order, ignore rules applied.
//!
//! Supplies names and the authority to open them. Links are never followed below the start, and a bounded number of
//! directories is open at once, however deep the tree. A directory that changes while it is listed may show the
//! changed names or not (readdir(3)); mounts are walked like any other directory.

pub(crate) mod entry;
mod git_pattern;
pub(crate) mod ignores;
pub(crate) mod ignores_above;
pub(crate) mod tree_listing;
pub(crate) mod visit;
pub(crate) mod walker;

use std::fmt;

use crate::{limits::Limit, path::WorkspacePath};

pub use entry::{Entry, EntryOrigin, SiblingCache, StatCache};
pub use ignores::IgnoreRules;
pub use tree_listing::{DirectoryListing, NameInTree, RULE_FILES, TreeListing, VerifiedListing, VerifiedName};
pub use visit::{Ignored, IgnoredEntries, WalkOptions, WalkReport};

const NAMED_IGNORE_FILES: usize = 3;

/// Names and rules that are missing from a walk, and why. Its answers are true but not complete.
#[derive(Clone, Debug, Default)]
pub struct LimitsHit {
    /// Directories that could not be opened as too many files were open.
    pub directories: usize,
    pub limit: Option<Limit>,
    rules: Vec<CutIgnoreFile>,
    rules_count: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct CutIgnoreFile {
    file: WorkspacePath,
    /// The first line that does not count, from 1.
    from_line: usize,
}

impl LimitsHit {
    pub fn is_empty(&self) -> bool {
        self.directories == 0 && self.rules_count == 0 && self.limit.is_none()
    }

    pub fn hides_names(&self) -> bool {
        self.directories > 0
    }

    pub fn lacks_rules(&self) -> bool {
        self.rules_count > 0
    }

    pub fn add(&mut self, one: Self) {
        self.directories += one.directories;
        self.limit = self.limit.or(one.limit);
        // Cannot underflow: each that is named was counted.
        let unnamed = one.rules_count - one.rules.len();
        one.rules.into_iter().for_each(|cut| self.ignore_file(cut));
        self.rules_count += unnamed;
    }

    pub fn directory(&mut self, limit: Limit) {
        self.directories += 1;
        self.limit = Some(limit);
    }

    fn ignore_file(&mut self, cut: CutIgnoreFile) {
        // Several walks of one answer meet the same ones above their starts.
        if self.rules.contains(&cut) {
            return;
        }
        self.rules_count += 1;
        if self.rules.len() < NAMED_IGNORE_FILES {
            self.rules.push(cut);
        }
    }
}

impl fmt::Display for LimitsHit {
    /// Reports the ignore files of which not all rules count; nothing where all do.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, CutIgnoreFile { file, from_line }) in self.rules.iter().enumerate() {
            if at > 0 {
                f.write_str("; ")?;
            }
            write!(f, "the ignore rules of {file} count only up to line {}", from_line - 1)?;
        }
        match self.rules_count.saturating_sub(self.rules.len()) {
            0 => Ok(()),
            more => write!(f, "; {more} other ignore files also count only in part"),
        }
    }
}
