//! Directory handles: every system call of a sandbox for files, one component or one confined path at a time, on Linux,
//! other Unix systems and Windows.
//!
//! Knows no roots, no policy and no public paths. A name given here is a single component, a relative path holds only
//! normal components: whoever calls has made them of a request, or has them from a listing. No link is followed. On Linux
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
//! handles; `open` opens a path below one (`openat2` by the kernel), `cached` without waiting for a disk, `entries` changes
//! names, `list` lists them, `fstat` and [`Stat`] say what a file is, `file_changes` writes content. `faults` makes a call
//! fail or ends the process there, for tests with debug assertions. [`lexical`] takes paths apart by their text.
//!
//! A part of Rootbound, published with it: its interface changes without notice.

#![expect(clippy::disallowed_types, reason = "this is where files are opened")]

#[cfg(unix)]
mod attributes;
mod cached;
mod contract;
#[cfg(unix)]
mod entries;
#[cfg(unix)]
mod faults;
mod file_changes;
#[cfg(target_os = "linux")]
mod file_system;
#[cfg(unix)]
mod flags;
#[cfg(unix)]
mod fstat;
pub mod lexical;
#[cfg(unix)]
mod list;
mod open;
#[cfg(target_os = "linux")]
mod openat2;
#[cfg(unix)]
mod process;
mod random;
mod stat;
#[cfg(unix)]
mod unix;
#[cfg(not(unix))]
mod windows;

#[cfg(unix)]
pub use attributes::carry_attributes;
pub use cached::identity_cached;
pub use contract::{Failure, Listed, LockAttempt, OpenFor, StableInodes};
#[cfg(unix)]
pub use entries::set_mode;
pub use file_changes::{read_some, set_modified, sync_all, sync_data, write_all};
#[cfg(target_os = "linux")]
pub use file_system::reports_all_changes;
#[cfg(unix)]
pub use fstat::{canonical, file_stat, identity, next_data, next_hole};
pub use open::met_a_link;
#[cfg(unix)]
pub use process::{
    file_size_limit, is_in_use, is_process_file_limit, is_system_file_limit, open_files, raise_open_files,
    survive_large_writes,
};
pub use random::random_bytes;
pub use stat::{FileIdentity, FileKind, Stat, StatFacts};
#[cfg(unix)]
pub use unix::{Dir, try_lock};
#[cfg(not(unix))]
pub use windows::{
    Dir, canonical, carry_attributes, file_size_limit, file_stat, identity, is_in_use, is_process_file_limit,
    is_system_file_limit, next_data, next_hole, open_files, raise_open_files, set_mode, survive_large_writes, try_lock,
};
