//! Changes that lose nothing: what a file held is kept and written down before it is touched.
//!
//! Where it cannot be kept, a replacement goes on and says so; a removal is refused, as nothing of the
//! file would be left.

mod commit_files;
mod keep_file;
mod note;
mod record;
mod remove_tree;
mod write_file;

pub(super) use commit_files::{ChangeStep, CommittedFiles, NewState, commit_files, crosses_devices};
pub(super) use keep_file::{changed, former_node, keep_replaced};
pub(super) use note::begin;
pub(super) use record::{
    FormerIs, record_directories, record_former, record_made, record_moved, record_restored, record_unmade,
    record_written,
};
pub(super) use remove_tree::remove;
pub(super) use write_file::{Rewrite, Undoable, commit, rewrite};
