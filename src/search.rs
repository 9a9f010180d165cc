//! Search over a workspace: which files a call asks for, which lines in them match, and when to stop.
//!
//! Names come from the workspace's walk in path order and content only through files it opened;
//! nothing here sees a host path. The tools decide what a model is told of the result.

mod content;
mod excerpt;
mod feed;
mod files;
mod literal;
mod load;
mod merge;
mod ngram_filter;
mod path_index;
mod pattern;
mod progress;
mod reading;
mod scope;
mod sink;
mod watched;
mod wide;
mod worker;

pub use content::{Found, Query, search};
pub use files::{FileFilter, FilterError, GlobError, NameGlob, Newest, literal_prefix};
pub use merge::{FileHits, Keep, Skipped, Tally};
pub use path_index::{IndexMode, PathIndex, PathSource, SearchEntry, Visit};
pub use pattern::{Pattern, PatternError, PatternLimits, PatternOptions};
pub use progress::Progress;
pub use scope::{Scope, ScopeError};
pub use sink::{HitLine, Mode};
pub use worker::SeenContent;
