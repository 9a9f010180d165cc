//! What every tool's call works with: its context, arguments and paths, and the answer, plan or error that it comes to.

pub(crate) mod answer;
pub(crate) mod answer_budget;
pub(crate) mod args;
pub(crate) mod context;
pub(crate) mod decode_memory;
pub(crate) mod erased;
pub(crate) mod error;
pub(crate) mod fence;
pub(crate) mod hidden_note;
pub(crate) mod introduced_problems;
pub(crate) mod match_words;
pub(crate) mod omissions;
pub(crate) mod paging;
pub(crate) mod paths;
pub(crate) mod read_before_write;
pub(crate) mod shown_diff;
pub(crate) mod tool;
mod unknown_argument;
