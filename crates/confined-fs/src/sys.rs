//! Directory handles: every system call of the sandbox, one component or one confined path at a time.
//!
//! Knows no roots, no policy and no public paths. A name given here is a single component, a
//! relative path holds only normal components; both come out of `resolve` or out of a listing.

#[cfg(unix)]
mod attributes;
mod beneath;
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
#[cfg(unix)]
mod list;
#[cfg(target_os = "linux")]
mod openat2;
#[cfg(unix)]
mod process;
mod random;
#[cfg(unix)]
mod unix;
#[cfg(not(unix))]
mod windows;

#[cfg(unix)]
pub(crate) use attributes::carry_attributes;
pub(crate) use beneath::met_a_link;
pub(crate) use cached::identity_cached;
pub(crate) use contract::{Failure, Listed, LockAttempt, OpenFor};
#[cfg(unix)]
pub(crate) use entries::set_mode;
pub use file_changes::read_some;
pub(crate) use file_changes::{set_modified, sync_all, sync_data, write_all};
#[cfg(target_os = "linux")]
pub(crate) use file_system::reports_all_changes;
#[cfg(unix)]
pub(crate) use fstat::{canonical, file_stat, identity, next_data, next_hole};
#[cfg(unix)]
pub(crate) use process::{
    file_size_limit, is_in_use, is_process_file_limit, is_system_file_limit, open_files, raise_open_files,
    survive_large_writes,
};
pub use random::random_bytes;
#[cfg(unix)]
pub(crate) use unix::{Dir, try_lock};
#[cfg(not(unix))]
pub(crate) use windows::{
    Dir, canonical, carry_attributes, file_size_limit, file_stat, identity, is_in_use, is_process_file_limit,
    is_system_file_limit, next_data, next_hole, open_files, raise_open_files, set_mode, survive_large_writes, try_lock,
};
