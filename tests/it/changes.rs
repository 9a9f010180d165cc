//! What changes files: write, edit, patches, moves, and the ways back.

#[cfg(all(unix, debug_assertions))]
mod crash;
mod damaged_edits;
mod edit_files;
mod entries;
mod history;
mod manage;
mod model;
mod parallel_processes;
mod patch;
mod purge;
mod repair_from_error;
mod rights;
mod several;
mod shared_files;
mod undo_back;
mod undo_rights;
mod undo_to;
mod without_retyping;
mod write_encoding;
mod written_content;
