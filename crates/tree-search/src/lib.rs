//! Search over a workspace: which files a call asks for, which lines in them match, and when to stop.
//!
//! Names come from the workspace's walk in path order and content only through files it opened;
//! nothing here sees a host path. The tools decide what a model reads of the result.
//!
//! ```
//! use std::path::Path;
//!
//! use tree_search::NameGlob;
//!
//! let glob = NameGlob::compile("src/**/*.rs", true).expect("a glob");
//! assert!(glob.matches(Path::new("src/tools/glob.rs")) && !glob.matches(Path::new("src/glob.py")));
//! ```
//!
//! # Map
//! A content search begins with a `query` (what is asked for: a `pattern` and a `scope`), and `content_search` answers it
//! with `hits`; the files below that one are its steps. Which names count is decided in `name_glob` and `file_filter`; what
//! is kept between calls, in `path_index` and `ngram_filter`; what is kept between processes, in `stored_index`. `documents`
//! has the text of PDF and Office files, whose search is a step of `content_search`, too. `links` tells
//! which links that were met lead to what was not searched.
//!
//! Names alone are searched by `completion` (what a person types of a path) and `suffix_search` (the end of a path);
//! `newest` orders them by time. `file_text` reads the text of one file.
//!
//! A part of Rootbound, published with it: its interface changes without notice.

#![expect(missing_docs, reason = "names and types that say it; units, bounds and errors are documented")]

mod completion;
mod content_search;
pub mod documents;
mod file_filter;
mod file_text;
mod hits;
mod links;
pub mod name_glob;
mod newest;
mod ngram_filter;
mod path_index;
mod pattern;
mod query;
mod stored_index;
pub mod suffix_search;

pub use completion::{CompletionRequest, Completions};
pub use content_search::search;
pub use file_filter::{FileFilter, FilterError};
pub(crate) use file_text::{ProgressReader, read_decoded};
pub use file_text::{SearchProgress, encoding_of_file, outline_of_file};
pub use hits::{ContentHits, FileHits, HitLine, LeftOut, SeenContent, Skipped, SkippedPaths, Tally};
pub use links::{LinksNotFollowed, MetLinks};
pub use name_glob::NameGlob;
pub use newest::{Newest, NewestNames};
pub(crate) use ngram_filter::{Candidates, FileSegments, FilterQuery, MayMatch, SEGMENT_BYTES, SegmentSlice};
pub use path_index::{DirectoryNames, IndexMode, PathIndex, PathSource, SearchEntry, Visit, walk_ignored_entries};
pub(crate) use path_index::{IndexedPath, KnownContent, PathList, PathSummary};
pub use pattern::{BeyondAscii, Pattern, PatternError, PatternOptions, Reading};
pub use query::{Keep, Query, Scope, SearchMode};
pub(crate) use stored_index::{IndexContents, StoredFile, StoredIndex};
pub use stored_index::{Saved, StoredIndexes, StoredStatus, Unusable};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmeExamples;
