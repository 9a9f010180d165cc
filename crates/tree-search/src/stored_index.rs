//! The stored index: what was known of a root's files, in a file of the state folder, for the processes that follow.
//!
//! It answers two questions: which names a directory in the state that its stat says has, and whether a file in the state
//! that its stat says could hold a match. What does not match is read from the disk, so an answer never differs from that of
//! the walk alone. The format and its
//! rules are described in `docs/internals/index.md`.
//!
//! | part | file |
//! |---|---|
//! | what the file belongs to, how long its parts are, and why it is not used | `header` |
//! | what is added when it is written | `contents` |
//! | one index, open: its answers | `reader` |
//! | names, facts and contents of files, as they are read | `tables`, `stored_file`, `bytes` |
//! | the names of directories | `listing` |
//! | the files of all roots: bounds, lock, removal | `stored_indexes` |
//!
//! # Limits
//! Another program of the same user may write to the file. Each length and place in it is checked before it is used, and
//! no more memory is taken than the file has bytes; but names and facts that such a program wrote with right checksums are
//! believed. It could as well write to the files themselves.

mod bytes;
mod contents;
mod header;
mod listing;
mod reader;
mod stored_file;
mod stored_indexes;
mod tables;
#[cfg(all(test, target_os = "linux"))]
mod testing;

pub(crate) use contents::IndexContents;
pub use header::Unusable;
pub(crate) use reader::{StoredCursor, StoredIndex};
pub(crate) use stored_file::StoredFile;
pub use stored_indexes::{Saved, StoredIndexes, StoredStatus};
