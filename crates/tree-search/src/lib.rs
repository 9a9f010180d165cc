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
//! let glob = NameGlob::compile("src/**/*.rs", true, 1000).expect("a glob");
//! assert!(glob.matches(Path::new("src/tools/glob.rs")) && !glob.matches(Path::new("src/glob.py")));
//! ```
//!
//! # Map
//! A content search goes through these files: `query` (what is asked for) → `content_search` (walk and
//! threads) → `producer` (chunks of files) → `pool` (threads) → `worker` (one file) → `collector` (lines of a
//! file) → `merge` (results in order). Which names count is decided in `name_glob` and `file_filter`; what
//! is kept between calls, in `path_index` and `ngram_filter`; what is kept between processes, in `stored_index`, and its
//! part in a search, in `stored_results`.
//!
//! A part of Rootbound, published with it: its interface changes without notice.

mod anchors;
mod collector;
mod completion;
mod content_search;
mod decoded_file;
mod definition_search;
mod excerpt;
mod file_content;
mod file_filter;
mod glob_unicode;
mod hits;
mod interruptible;
mod known_result;
mod literal_glob;
mod merge;
mod name_glob;
mod newest;
mod newest_names;
mod ngram_filter;
mod path_index;
mod pattern;
mod pattern_error;
mod pool;
mod producer;
mod progress;
mod query;
mod read_buffer;
mod required_bytes;
mod scope;
mod search_item;
mod stored_index;
mod stored_results;
mod suffix_search;
mod worker;

pub use completion::{CompletionRequest, Completions};
pub use content_search::{ContentHits, search};
pub use decoded_file::{encoding_of_file, outline_of_file};
pub use file_filter::{FileFilter, FilterError};
pub use hits::{FileHits, HitLine, SeenContent, Skipped, SkippedPaths, Tally};
pub use name_glob::{GlobError, NameGlob, literal_prefix};
pub use newest::Newest;
pub use newest_names::NewestNames;
pub use path_index::{DirectoryNames, IndexMode, PathIndex, PathSource, SearchEntry, Visit, walk_ignored_entries};
pub use pattern::{BeyondAscii, Pattern, PatternLimits, PatternOptions};
pub use pattern_error::PatternError;
pub use progress::SearchProgress;
pub use query::{Keep, Query, SearchMode};
pub use scope::Scope;
pub use stored_index::{Saved, StoredIndexes, StoredStatus, Unusable};
pub use suffix_search::{NearestTop, SuffixHits, search_tail};

pub(crate) use collector::{Collector, FileLimits, FileMatches};
pub(crate) use decoded_file::read_decoded;
pub(crate) use definition_search::DefinitionSearch;
pub(crate) use file_content::FileContent;
pub(crate) use glob_unicode::GlobEncoding;
pub(crate) use interruptible::{InterruptibleMatcher, PieceSize};
pub(crate) use known_result::KnownResult;
pub(crate) use merge::{ChunkHits, Merge};
pub(crate) use ngram_filter::{Candidates, FileSegments, FilterQuery, MayMatch, SEGMENT, SegmentSlice};
pub(crate) use path_index::{IndexSnapshot, IndexedPath, KnownContent, ListedName, Listing, PathSummary};
pub(crate) use pool::{Chunk, SearchPool, WAIT};
pub(crate) use producer::{Producer, StartVisitor};
pub(crate) use progress::ProgressReader;
pub(crate) use read_buffer::SMALL;
pub(crate) use required_bytes::RequiredBytes;
pub(crate) use search_item::{SearchItem, Searched};
pub(crate) use stored_index::{IndexContents, StoredFile, StoredIndex};
pub(crate) use stored_results::{StoredResult, StoredResults, UnmatchedFiles};
pub(crate) use worker::Worker;
