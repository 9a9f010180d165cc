//! The n-gram filter: which files of a tree cannot hold a match, from bits kept in memory.
//!
//! Only ever leaves files out; whatever it admits is searched for real. Whether a file is still what
//! it was when it was taken in is decided in [`super::path_index`].
//!
//! # Sources
//! The query over n-grams follows Russ Cox, [Regular Expression Matching with a Trigram Index][cox]
//! (2012). Posting lists of every n-gram would take more memory than a server may have for each tree;
//! the bits are laid out as in [BitFunnel][bitfunnel] (2017) instead: hashed columns, one bit for each of
//! 64 segments, so that one word answers for 64 segments and a query costs a few `and`s. Rare
//! 3-grams have several columns each, as rare words of `BitFunnel` have several rows: with two fifths of the bits set,
//! one of them admits a segment by chance about once in twenty times, and a query of `n` grams far more rarely than
//! once in `2^n`, if grams were independent.
//! How a pattern becomes a graph of grams: [`filter_query`]; how the graph is asked: [`gram_query`].
//!
//! [cox]: https://swtch.com/~rsc/regexp/regexp4.html
//! [bitfunnel]: https://dl.acm.org/doi/10.1145/3077136.3080789

mod candidates;
mod filter;
mod filter_query;
mod gram;
mod gram_query;
mod kept_filter;
mod segments;

/// Another number for another meaning of columns and segments: filters that were kept with it are not used.
pub(crate) const FILTER_VERSION: u32 = 4;

pub(crate) use candidates::{Candidates, MayMatch};
pub(crate) use filter::NgramFilter;
pub(crate) use filter_query::FilterQuery;
pub(crate) use gram::COLUMNS;
pub(in crate::ngram_filter) use gram::OVERLAP;
pub(in crate::ngram_filter) use gram_query::GramQuery;
pub(in crate::ngram_filter) use segments::{BLOCK, Columns, SegmentBlock};
pub(crate) use segments::{ContentGrams, FileSegments, SEGMENT, SEGMENTS, SegmentSlice};
