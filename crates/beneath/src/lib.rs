//! Directory handles: every system call of a sandbox for files, one component or one confined path at a time, on Linux,
//! other Unix systems and Windows.
//!
//! Knows no roots, no policy and no public paths. A name given here is a single component, a relative path holds only
//! normal components: the caller has made them of a request, or has them from a listing. No link is followed. On Linux
//! one call of `openat2(2)` opens a path that the kernel confines; elsewhere it is opened name by name.
//!
//! ```
//! use std::{ffi::OsStr, path::Path};
//!
//! use beneath::{Dir, Failure, FileKind, OpenFor};
//!
//! let dir = Dir::open_ambient(Path::new(env!("CARGO_MANIFEST_DIR")), false).expect("this crate");
//! let src = dir.child_dir(OsStr::new("src"), OpenFor::List).expect("its sources");
//! assert!(src.list().expect("names").iter().any(|entry| entry.name == "lib.rs" && entry.kind == FileKind::File));
//! assert!(dir.stat_beneath(Path::new("src/nothing.rs")).is_err_and(|failure| failure.is_missing()));
//! ```
//!
//! # Map
//! `contract` is what each system keeps: what a name is opened for, how that fails. `unix` and `windows` are directory
//! handles; `open` opens a path below one (`openat2` by the kernel), `directory_stack` goes down a tree and up again,
//! `entries` changes names, `fstat` and [`Stat`] say what a file is, `file_changes` writes content. `testing` makes a call fail or ends the process there, and compares
//! each open with the slow way, for tests with debug assertions. [`lexical`] takes paths apart by their text.
//!
//! A part of Rootbound, published with it: its interface changes without notice.

#![expect(clippy::disallowed_types, reason = "this is where files are opened")]

mod attributes;
mod contract;
mod directory_stack;
mod file_changes;
pub mod lexical;
mod open;
mod stat;
#[cfg(unix)]
mod testing;
#[cfg(unix)]
mod unix;
#[cfg(not(unix))]
mod windows;

#[cfg(unix)]
use unix as system;
#[cfg(not(unix))]
use windows as system;

pub use attributes::{Attributes, AttributesError};
pub use contract::{Failure, IfThere, Listed, LockAttempt, OpenFor, StableInodes, is_nothing};
pub use directory_stack::{DirectoryStack, remove_all};
pub use file_changes::{append, read_regular, read_some, set_length, set_modified, sync_all, sync_data, write_all};
pub use open::{identity_cached, is_link_error};
pub use stat::{FileIdentity, FileKind, Stat, StatFacts};
#[cfg(target_os = "linux")]
pub use system::reports_all_changes;
pub use system::{
    Dir, canonical, file_size_limit, file_stat, identity, is_in_use, is_process_file_limit, is_system_file_limit,
    next_data, next_hole, open_files, raise_open_files, random_bytes, refused_opens, set_mode, survive_large_writes,
    try_lock,
};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmeExamples;
