//! The walk: names below a directory, by descriptor, in path order, ignore rules applied.
//!
//! Supplies names and the authority to open them. Links are never followed below the start, and a bounded number of
//! directories is open at once, however deep the tree. A directory that changes while it is listed may show the
//! changed names or not (readdir(3)); mounts are walked like any other directory.

mod compile_ignores;
mod default_ignores;
mod entry;
mod ignore_names;
mod ignored_entries;
mod ignores;
mod limits_hit;
mod listing;
mod named;
mod rule_source;
mod rules;
mod sibling_cache;
mod stat_cache;
mod tree_listing;
mod verify_listing;
mod visit;
mod walker;

pub use entry::{Entry, EntryOrigin};
pub(super) use ignore_names::{holds_rules, is_marker};
pub use ignored_entries::IgnoredEntries;
pub use ignores::IgnoreRules;
pub(super) use ignores::Ignores;
pub use limits_hit::LimitsHit;
pub(super) use named::walk_names;
pub(super) use rule_source::{RuleSource, linked_content};
pub use sibling_cache::SiblingCache;
pub use stat_cache::StatCache;
pub use tree_listing::TreeListing;
pub(super) use tree_listing::list_tree;
pub use tree_listing::{DirectoryListing, NameInTree, RULE_FILES};
pub(super) use verify_listing::verify_listing;
pub use verify_listing::{VerifiedListing, VerifiedName};
pub(super) use visit::Visitor;
pub use visit::{Ignored, WalkOptions, WalkReport};
pub(super) use walker::{walk, walk_child};
