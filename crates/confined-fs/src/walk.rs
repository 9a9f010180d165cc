//! The walk: names below a directory, by descriptor, in path order, ignore rules applied.
//!
//! Supplies names and the authority to open them. Links are never followed below the start, and a bounded number of
//! directories is open at once, however deep the tree. A directory that changes while it is listed may show the
//! changed names or not (readdir(3)); mounts are walked like any other directory.

mod entry;
mod ignores;
mod limits_hit;
mod tree_listing;
mod visit;
mod walker;
mod worktree;

pub use entry::{Entry, EntryOrigin, ShownStats, SiblingCache, StatCache};
pub use ignores::IgnoreRules;
pub(super) use ignores::{GIT, Ignores, RuleSource, holds_marker, holds_rules, is_marker, linked_content};
pub use limits_hit::LimitsHit;
pub use tree_listing::{DirectoryListing, NameInTree, RULE_FILES, TreeListing, VerifiedListing, VerifiedName};
pub(super) use visit::Visitor;
pub use visit::{Ignored, IgnoredEntries, WalkOptions, WalkReport};
pub(super) use walker::{walk, walk_child, walk_names};
pub(super) use worktree::{gitdir_of, is_left_out, names_worktree};
